// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading: code, then memory with guards and contents, then arguments. In: a LoadRequest's sequence and blob. Out: a
// LoadedSequence or a status. What is plainly wrong with a sequence (a buffer or image that it does not have, contents
// that do not fit) is said before the driver is asked, because its numbers come from files and other processes.
#include "profiler/gpu/session/loaded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "profiler/gpu/driver/image.h"
#include "profiler/gpu/session/kernels.h"
#include "profiler/gpu/session/queue.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;

CudaStatus refused(std::string reason) { return {Outcome::refused, std::move(reason), false}; }

/// Whether a place in a buffer is one.
CudaStatus inspect_argument(const Sequence& sequence, const Launch& launch, const Argument& argument) {
  if (argument.buffer < 0) return {};
  if (argument.buffer >= static_cast<int>(sequence.buffers.size()))
    return refused(
        fmt::format("launch of '{}' names buffer {} of {}", launch.entry, argument.buffer, sequence.buffers.size()));
  const Buffer& buffer = sequence.buffers[static_cast<std::size_t>(argument.buffer)];
  if (argument.offset >= 0 && argument.offset <= buffer.bytes) return {};
  return refused(fmt::format("launch of '{}' begins at byte {} of '{}', which has {}", launch.entry, argument.offset,
                             buffer.name, buffer.bytes));
}

/// Whether a copy or a fill stays within its buffers, all of which the driver takes as it is: a buffer's guard zone
/// lies in the same allocation. Precondition: its arguments are places.
CudaStatus inspect_transfer(const Sequence& sequence, const Launch& step) {
  const bool copies = step.kind == StepKind::copy;
  const auto wrong = [&](std::string_view why) {
    return refused(fmt::format("{} '{}' {}", copies ? "copy" : "fill", step.entry, why));
  };
  if (!copies && step.kind != StepKind::fill) return wrong("is of a kind that is not known");
  if (step.arguments.size() != (copies ? 2 : 1)) return wrong("has another number of places than it needs");
  for (const Argument& place : step.arguments) {
    if (place.buffer < 0) return wrong("has a number where a place is needed");
    const Buffer& buffer = sequence.buffers[static_cast<std::size_t>(place.buffer)];
    if (step.bytes < 0 || step.bytes > buffer.bytes - place.offset)
      return wrong(fmt::format("takes {} bytes from byte {} of '{}', which has {}", step.bytes, place.offset,
                               buffer.name, buffer.bytes));
  }
  const Argument& to = step.arguments.front();
  const Buffer& written = sequence.buffers[static_cast<std::size_t>(to.buffer)];
  if (!is_written(written.role)) return wrong(fmt::format("writes '{}', which is an input", written.name));
  if (copies) {
    const Argument& from = step.arguments.back();
    const bool meet =
        from.buffer == to.buffer && from.offset < to.offset + step.bytes && to.offset < from.offset + step.bytes;
    return meet ? wrong("reads what it writes") : CudaStatus{};
  }
  // By words of four bytes, and what is behind the last one by bytes.
  const bool of_one_byte = step.word == (step.word & 0xffU) * 0x01010101U;
  if (to.offset % 4 != 0) return wrong(fmt::format("begins at byte {}, within a word", to.offset));
  return of_one_byte || step.bytes % 4 == 0 ? CudaStatus{} : wrong("ends within a word");
}

CudaStatus inspect_step(const Sequence& sequence, std::size_t number) {
  const Launch& launch = sequence.launches[number];
  for (const Argument& argument : launch.arguments)
    if (CudaStatus status = inspect_argument(sequence, launch, argument); !status.ok()) return status;
  if (!is_kernel(launch)) return inspect_transfer(sequence, launch);
  if (launch.image < 0 || launch.image >= static_cast<int>(sequence.images.size()))
    return refused(
        fmt::format("launch of '{}' names image {} of {}", launch.entry, launch.image, sequence.images.size()));
  // Early is before the end of a kernel that says so, and the driver's copies and fills say nothing.
  if (launch.dependent && number > 0 && !is_kernel(sequence.launches[number - 1]))
    return refused(fmt::format("launch of '{}' may begin early, behind what is no kernel", launch.entry));
  return {};
}

/// Whether a sequence hangs together; its numbers come from files and other processes.
CudaStatus inspect(const Sequence& sequence, std::span<const std::byte> blob, bool filled) {
  std::int64_t contents = 0;
  for (const Buffer& buffer : sequence.buffers) {
    if (buffer.role == BufferRole::in_place && buffer.pattern != Pattern::none)
      return refused(fmt::format("buffer '{}' is written in place, so its contents must be brought", buffer.name));
    if (buffer.bytes < 0) return refused(fmt::format("buffer '{}' has {} bytes", buffer.name, buffer.bytes));
    contents += brings_contents(buffer) && !filled ? buffer.bytes : 0;
  }
  if (contents != static_cast<std::int64_t>(blob.size()))
    return refused(fmt::format("contents of {} bytes came with buffers that want {}", blob.size(), contents));
  for (std::size_t i = 0; i < sequence.launches.size(); ++i)
    if (CudaStatus status = inspect_step(sequence, i); !status.ok()) return status;
  return {};
}

CudaStatus load_image(OpenedGpu& gpu, const Image& image, LoadedSequence& loaded) {
  if (const std::string reason = damage(image.code); !reason.empty())
    return {Outcome::unloadable, fmt::format("image '{}' {}", image.name, reason), false};
  std::vector<std::byte> code = image.code;
  code.push_back(std::byte{0});  // PTX is a string
  std::array<char, 4096> log = {};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const CUresult result = gpu.driver.cuModuleLoadDataEx(&module, code.data(), static_cast<unsigned>(options.size()),
                                                        options.data(), values.data());
  CudaStatus status = to_status(gpu.driver, result, fmt::format("cuModuleLoadDataEx of '{}'", image.name));
  if (status.ok()) {
    loaded.modules.push_back(Module(gpu.driver, module));
    return status;
  }
  if (status.outcome == Outcome::refused) status.outcome = Outcome::unloadable;
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
    status.reason += fmt::format("; this GPU is sm_{}", gpu.properties.compute_capability);
  if (log[0] != 0) status.reason += fmt::format("; the assembler says: {}", log.data());
  return status;
}

/// Sizes of the kernel's parameters against those of the launch, where the driver tells them: it copies as many bytes
/// as the kernel wants, whatever there is.
CudaStatus compare_parameters(OpenedGpu& gpu, const Launch& launch, const BoundLaunch& bound) {
  if (gpu.driver.cuFuncGetParamInfo == nullptr) return {};
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; i < bound.values.size(); ++i) {
    if (gpu.driver.cuFuncGetParamInfo(bound.function, i, &offset, &size) != CUDA_SUCCESS)
      return refused(fmt::format("kernel '{}' takes {} arguments, not {}", launch.entry, i, bound.values.size()));
    if (size != bound.values[i].size())
      return refused(fmt::format("argument {} of kernel '{}' has {} bytes, not {}", i, launch.entry, size,
                                 bound.values[i].size()));
  }
  if (gpu.driver.cuFuncGetParamInfo(bound.function, bound.values.size(), &offset, &size) == CUDA_SUCCESS)
    return refused(fmt::format("kernel '{}' takes more than {} arguments", launch.entry, bound.values.size()));
  return {};
}

CudaStatus allow(OpenedGpu& gpu, const Launch& launch, CUfunction function, CUfunction_attribute attribute, int value) {
  return to_status(gpu.driver, gpu.driver.cuFuncSetAttribute(function, attribute, value),
                   fmt::format("cuFuncSetAttribute of '{}' to {}", launch.entry, value));
}

/// What a kernel must be allowed before it is launched so: much shared memory, large clusters.
CudaStatus allow_shape(OpenedGpu& gpu, const Launch& launch, CUfunction function, std::int64_t dynamic_shared,
                       const KernelAttributes& attributes) {
  const int usual = attribute(gpu.driver, gpu.device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  if (dynamic_shared > 0 && attributes.static_shared + dynamic_shared > usual) {
    if (CudaStatus status = allow(gpu, launch, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(dynamic_shared));
        !status.ok()) {
      status.reason += fmt::format("; {} bytes of shared memory wanted, {} possible",
                                   attributes.static_shared + dynamic_shared, gpu.properties.shared_per_block_optin);
      return status;
    }
  }
  constexpr std::uint32_t portable_cluster = 8;
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] <= portable_cluster) return {};
  return allow(gpu, launch, function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}

KernelAttributes kernel_attributes(OpenedGpu& gpu, const Launch& launch, CUfunction function) {
  const auto number = [&](CUfunction_attribute which) {
    int value = 0;
    return gpu.driver.cuFuncGetAttribute(&value, which, function) == CUDA_SUCCESS ? value : 0;
  };
  KernelAttributes attributes;
  attributes.registers = number(CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes.local_bytes = number(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes.static_shared = number(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes.dynamic_shared = launch.dynamic_shared;
  return attributes;
}

void bind_arguments(const Launch& launch, const LoadedSequence& loaded, BoundLaunch& bound) {
  for (const Argument& argument : launch.arguments) {
    std::vector<std::byte> value = argument.value;
    if (argument.buffer >= 0) {
      const CUdeviceptr address =
          loaded.address(static_cast<std::size_t>(argument.buffer)) + static_cast<CUdeviceptr>(argument.offset);
      value.resize(sizeof address);
      std::memcpy(value.data(), &address, sizeof address);
    }
    bound.values.push_back(std::move(value));
  }
  for (std::vector<std::byte>& value : bound.values) bound.parameters.push_back(value.data());
}

/// How many of its clusters run at once; none where the driver says that no GPU of this kind takes such a cluster.
int clusters_at_once(OpenedGpu& gpu, const Launch& launch, CUfunction function) {
  if (launch.cluster == Extent3{1, 1, 1} || gpu.driver.cuOccupancyMaxActiveClusters == nullptr) return -1;
  LaunchAttributes attributes = {};
  const CUlaunchConfig config = launch_config(gpu, launch, attributes);
  int clusters = 0;
  const CUresult result = gpu.driver.cuOccupancyMaxActiveClusters(&clusters, function, &config);
  if (result == CUDA_ERROR_INVALID_CLUSTER_SIZE) return 0;
  return result == CUDA_SUCCESS ? clusters : -1;
}

/// The most shared memory that a launch of each kernel wants: the driver keeps one number.
using SharedByKernel = std::map<CUfunction, std::int64_t>;

CudaStatus bind_kernel(OpenedGpu& gpu, const LoadedSequence& loaded, const Launch& launch, SharedByKernel& shared,
                       BoundLaunch& bound, KernelAttributes& attributes) {
  const CUresult found =
      gpu.driver.cuModuleGetFunction(&bound.function, *loaded.modules[launch.image], launch.entry.c_str());
  if (CudaStatus status = to_status(gpu.driver, found, fmt::format("cuModuleGetFunction of '{}'", launch.entry));
      !status.ok())
    return status;
  gpu.entries.insert(launch.entry);
  bind_arguments(launch, loaded, bound);
  if (CudaStatus status = compare_parameters(gpu, launch, bound); !status.ok()) return status;
  attributes = kernel_attributes(gpu, launch, bound.function);
  std::int64_t& most = shared[bound.function];
  most = std::max(most, launch.dynamic_shared);
  if (CudaStatus status = allow_shape(gpu, launch, bound.function, most, attributes); !status.ok()) return status;
  const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  // Of a shape that no launch can have it says an error, and the launch will say it again.
  static_cast<void>(gpu.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &attributes.blocks_per_sm, bound.function, threads, static_cast<std::size_t>(launch.dynamic_shared)));
  attributes.clusters = clusters_at_once(gpu, launch, bound.function);
  return {};
}

CudaStatus bind(OpenedGpu& gpu, LoadedSequence& loaded) {
  SharedByKernel shared;
  for (const Launch& launch : loaded.sequence.launches) {
    BoundLaunch bound;
    KernelAttributes attributes;
    if (is_kernel(launch))
      if (CudaStatus status = bind_kernel(gpu, loaded, launch, shared, bound, attributes); !status.ok()) return status;
    loaded.entries.push_back(attributes);
    loaded.launches.push_back(std::move(bound));
  }
  return {};
}

CudaStatus copy_in(OpenedGpu& gpu, CUdeviceptr to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  return to_status(gpu.driver, gpu.driver.cuMemcpyHtoD(to, bytes.data(), bytes.size()), "cuMemcpyHtoD");
}

CudaStatus fill_buffers(OpenedGpu& gpu, LoadedSequence& loaded, std::span<const std::byte> blob, bool filled) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (has_contents(buffer.role) && buffer.pattern != Pattern::none)
      if (CudaStatus status = queue_generate(gpu, loaded, i); !status.ok()) return status;
    if (filled || !brings_contents(buffer)) continue;
    const auto bytes = blob.subspan(taken, static_cast<std::size_t>(buffer.bytes));
    taken += bytes.size();
    if (CudaStatus status = copy_in(gpu, loaded.address(i), bytes); !status.ok()) return status;
    if (loaded.pristine_at[i] < 0) continue;
    const CUdeviceptr copy = *loaded.pristine + static_cast<CUdeviceptr>(loaded.pristine_at[i]);
    if (CudaStatus status = copy_in(gpu, copy, bytes); !status.ok()) return status;
  }
  return write_guards(gpu, loaded);
}

/// Memory of its own, or its place in that of an arena.
CudaStatus find_memory(OpenedGpu& gpu, const LoadRequest& request, std::shared_ptr<ArenaMemory> shared,
                       LoadedSequence& loaded) {
  loaded.shared = shared != nullptr;
  loaded.memory = loaded.shared ? std::move(shared) : std::make_shared<ArenaMemory>();
  ArenaMemory& memory = *loaded.memory;
  if (loaded.shared) {
    const auto places = input_places(request.sequence.buffers);
    if (!places) return refused("what is written in place cannot lie in shared memory");
    if (request.filled && (!memory.memory || memory.filled != *places))
      return refused("the shared memory does not hold the contents of this sequence");
    memory.filled = *places;
  }
  if (!memory.memory) {
    memory.bytes = std::max(loaded.arena.bytes, loaded.shared ? request.arena_bytes : 0);
    memory.guard_seed = gpu.next_seed++;
    return allocate(gpu.driver, memory.bytes, memory.memory);
  }
  if (loaded.arena.bytes <= memory.bytes) return {};
  return refused(fmt::format("its buffers take {} bytes, the shared memory has {}", loaded.arena.bytes, memory.bytes));
}

CudaStatus make_memory(OpenedGpu& gpu, const LoadRequest& request, std::shared_ptr<ArenaMemory> shared,
                       LoadedSequence& loaded) {
  constexpr std::int64_t alignment = 256;
  std::int64_t pristine = 0, sums = 0;
  for (const Buffer& buffer : loaded.sequence.buffers) {
    const bool kept = buffer.role == BufferRole::in_place;
    loaded.pristine_at.push_back(kept ? pristine : -1);
    pristine += kept ? (buffer.bytes + alignment - 1) / alignment * alignment : 0;
    sums += buffer.role == BufferRole::input ? digests_of(buffer.bytes) : 0;
  }
  loaded.arena = lay_out_arena(loaded.sequence.buffers);
  loaded.digests.resize(static_cast<std::size_t>(sums));
  if (CudaStatus status = find_memory(gpu, request, std::move(shared), loaded); !status.ok()) return status;
  if (CudaStatus status = allocate(gpu.driver, pristine, loaded.pristine); !status.ok()) return status;
  return allocate(gpu.driver, std::max<std::int64_t>(sums, 1) * static_cast<std::int64_t>(sizeof(std::uint64_t)),
                  loaded.sums);
}

}  // namespace

CUdeviceptr LoadedSequence::address(std::size_t buffer) const {
  return *memory->memory + static_cast<CUdeviceptr>(arena.offsets[buffer]);
}

CudaStatus write_guards(OpenedGpu& gpu, const LoadedSequence& loaded) {
  for (const Zone& zone : loaded.arena.zones) {
    const CUdeviceptr place = *loaded.memory->memory + static_cast<CUdeviceptr>(zone.begin);
    if (CudaStatus status = copy_in(gpu, place, guard_pattern(zone, loaded.memory->guard_seed)); !status.ok())
      return status;
  }
  // A copy from ordinary memory may still be under way when its call returns, and our stream does not wait for it.
  return to_status(gpu.driver, gpu.driver.cuCtxSynchronize(), "cuCtxSynchronize after filling buffers");
}

CudaStatus load(OpenedGpu& gpu, const LoadRequest& request, std::span<const std::byte> blob,
                std::shared_ptr<ArenaMemory> shared, LoadedSequence& loaded) {
  const Sequence& sequence = request.sequence;
  const bool filled = request.filled && shared != nullptr;
  if (CudaStatus status = inspect(sequence, blob, filled); !status.ok()) return status;
  for (const Image& image : sequence.images) {
    loaded.sequence.images.push_back({image.name, {}});
    if (CudaStatus status = load_image(gpu, image, loaded); !status.ok()) return status;
  }
  loaded.sequence.buffers = sequence.buffers;
  loaded.sequence.launches = sequence.launches;
  if (CudaStatus status = make_memory(gpu, request, std::move(shared), loaded); !status.ok()) return status;
  if (CudaStatus status = bind(gpu, loaded); !status.ok()) return status;
  if (CudaStatus status = fill_buffers(gpu, loaded, blob, filled); !status.ok()) return status;
  return digest_inputs(gpu, loaded, loaded.digests);
}

}  // namespace tailor::gpu
