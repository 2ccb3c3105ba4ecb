// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading: code, then memory with guards and contents, then arguments. What is plainly wrong with a sequence is said
// before the driver is asked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "gpu/image.h"
#include "gpu/kernels.h"
#include "gpu/loaded.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;

Trouble refused(std::string why) { return {Outcome::refused, std::move(why), false}; }

bool has_contents(const Buffer& buffer) { return buffer.role == BufferRole::input || buffer.role == BufferRole::both; }

/// Whether a sequence hangs together; its numbers come from files and other processes.
Trouble inspect(const Sequence& sequence, std::span<const std::byte> blob) {
  std::int64_t contents = 0;
  for (const Buffer& buffer : sequence.buffers) {
    if (buffer.bytes < 0) return refused(fmt::format("buffer '{}' has {} bytes", buffer.name, buffer.bytes));
    contents += has_contents(buffer) ? buffer.bytes : 0;
  }
  if (contents != static_cast<std::int64_t>(blob.size()))
    return refused(fmt::format("contents of {} bytes came with buffers that want {}", blob.size(), contents));
  for (const Launch& launch : sequence.launches) {
    if (launch.image < 0 || launch.image >= static_cast<int>(sequence.images.size()))
      return refused(
          fmt::format("launch of '{}' names image {} of {}", launch.entry, launch.image, sequence.images.size()));
    for (const Argument& argument : launch.arguments) {
      if (argument.buffer < 0) continue;
      if (argument.buffer >= static_cast<int>(sequence.buffers.size()))
        return refused(fmt::format("launch of '{}' names buffer {} of {}", launch.entry, argument.buffer,
                                   sequence.buffers.size()));
      const Buffer& buffer = sequence.buffers[static_cast<std::size_t>(argument.buffer)];
      if (argument.offset < 0 || argument.offset > buffer.bytes)
        return refused(fmt::format("launch of '{}' begins at byte {} of '{}', which has {}", launch.entry,
                                   argument.offset, buffer.name, buffer.bytes));
    }
  }
  return {};
}

Trouble load_image(Opened& gpu, const Image& image, LoadedSequence& loaded) {
  if (const std::string why = damage(image.code); !why.empty())
    return {Outcome::unloadable, fmt::format("image '{}' {}", image.name, why), false};
  std::vector<std::byte> code = image.code;
  code.push_back(std::byte{0});  // PTX is a string
  std::array<char, 4096> log = {};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const CUresult result = gpu.driver.cuModuleLoadDataEx(&module, code.data(), static_cast<unsigned>(options.size()),
                                                        options.data(), values.data());
  Trouble trouble = told(gpu.driver, result, fmt::format("cuModuleLoadDataEx of '{}'", image.name));
  if (!trouble) {
    loaded.modules.push_back(Module(gpu.driver, module));
    return trouble;
  }
  if (trouble.outcome == Outcome::refused) trouble.outcome = Outcome::unloadable;
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
    trouble.reason += fmt::format("; this GPU is sm_{}", gpu.facts.compute_capability);
  if (log[0] != 0) trouble.reason += fmt::format("; the assembler says: {}", log.data());
  return trouble;
}

/// Sizes of the kernel's parameters against those of the launch, where the driver tells them: it copies as many bytes
/// as the kernel wants, whatever there is.
Trouble compare_parameters(Opened& gpu, const Launch& launch, const BoundLaunch& bound) {
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

Trouble allow(Opened& gpu, const Launch& launch, CUfunction function, CUfunction_attribute attribute, int value) {
  return told(gpu.driver, gpu.driver.cuFuncSetAttribute(function, attribute, value),
              fmt::format("cuFuncSetAttribute of '{}' to {}", launch.entry, value));
}

/// What a kernel must be allowed before it is launched so: much shared memory, large clusters.
Trouble allow_shape(Opened& gpu, const Launch& launch, CUfunction function, std::int64_t dynamic_shared,
                    const EntryFacts& facts) {
  const int usual = attribute(gpu.driver, gpu.device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  if (dynamic_shared > 0 && facts.static_shared + dynamic_shared > usual) {
    if (Trouble trouble = allow(gpu, launch, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(dynamic_shared))) {
      trouble.reason += fmt::format("; {} bytes of shared memory wanted, {} possible",
                                    facts.static_shared + dynamic_shared, gpu.facts.shared_per_block_optin);
      return trouble;
    }
  }
  constexpr std::uint32_t portable_cluster = 8;
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] <= portable_cluster) return {};
  return allow(gpu, launch, function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}

EntryFacts facts_of(Opened& gpu, const Launch& launch, CUfunction function) {
  const auto number = [&](CUfunction_attribute which) {
    int value = 0;
    return gpu.driver.cuFuncGetAttribute(&value, which, function) == CUDA_SUCCESS ? value : 0;
  };
  EntryFacts facts;
  facts.registers = number(CU_FUNC_ATTRIBUTE_NUM_REGS);
  facts.local_bytes = number(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  facts.static_shared = number(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  facts.dynamic_shared = launch.dynamic_shared;
  return facts;
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

Trouble bind(Opened& gpu, LoadedSequence& loaded) {
  std::map<CUfunction, std::int64_t> shared;  // the most that a launch of the kernel wants: the driver keeps one number
  for (const Launch& launch : loaded.sequence.launches) {
    BoundLaunch bound;
    const CUresult found = gpu.driver.cuModuleGetFunction(
        &bound.function, *loaded.modules[static_cast<std::size_t>(launch.image)], launch.entry.c_str());
    if (Trouble trouble = told(gpu.driver, found, fmt::format("cuModuleGetFunction of '{}'", launch.entry)))
      return trouble;
    bind_arguments(launch, loaded, bound);
    if (Trouble trouble = compare_parameters(gpu, launch, bound)) return trouble;
    EntryFacts facts = facts_of(gpu, launch, bound.function);
    std::int64_t& most = shared[bound.function];
    most = std::max(most, launch.dynamic_shared);
    if (Trouble trouble = allow_shape(gpu, launch, bound.function, most, facts)) return trouble;
    const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
    // Of a shape that no launch can have it says an error, and the launch will say it again.
    static_cast<void>(gpu.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &facts.blocks_per_sm, bound.function, threads, static_cast<std::size_t>(launch.dynamic_shared)));
    loaded.entries.push_back(facts);
    loaded.launches.push_back(std::move(bound));
  }
  return {};
}

Trouble copy_in(Opened& gpu, CUdeviceptr to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  return told(gpu.driver, gpu.driver.cuMemcpyHtoD(to, bytes.data(), bytes.size()), "cuMemcpyHtoD");
}

Trouble fill_buffers(Opened& gpu, LoadedSequence& loaded, std::span<const std::byte> blob) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (!has_contents(buffer)) continue;
    const auto bytes = blob.subspan(taken, static_cast<std::size_t>(buffer.bytes));
    taken += bytes.size();
    if (Trouble trouble = copy_in(gpu, loaded.address(i), bytes)) return trouble;
    if (loaded.pristine_at[i] < 0) continue;
    const CUdeviceptr copy = *loaded.pristine + static_cast<CUdeviceptr>(loaded.pristine_at[i]);
    if (Trouble trouble = copy_in(gpu, copy, bytes)) return trouble;
  }
  for (const Zone& zone : loaded.arena.zones) {
    const CUdeviceptr place = *loaded.memory + static_cast<CUdeviceptr>(zone.begin);
    if (Trouble trouble = copy_in(gpu, place, guard_pattern(zone, loaded.guard_seed))) return trouble;
  }
  // A copy from ordinary memory may still be under way when its call returns, and our stream does not wait for it.
  return told(gpu.driver, gpu.driver.cuCtxSynchronize(), "cuCtxSynchronize after filling buffers");
}

Trouble make_memory(Opened& gpu, LoadedSequence& loaded) {
  constexpr std::int64_t alignment = 256;
  std::int64_t pristine = 0, sums = 0;
  for (const Buffer& buffer : loaded.sequence.buffers) {
    const bool kept = buffer.role == BufferRole::both;
    loaded.pristine_at.push_back(kept ? pristine : -1);
    pristine += kept ? (buffer.bytes + alignment - 1) / alignment * alignment : 0;
    sums += buffer.role == BufferRole::input ? digests_of(buffer.bytes) : 0;
  }
  loaded.arena = arena_of(loaded.sequence.buffers);
  loaded.digests.resize(static_cast<std::size_t>(sums));
  if (Trouble trouble = allocate(gpu.driver, loaded.arena.bytes, loaded.memory)) return trouble;
  if (Trouble trouble = allocate(gpu.driver, pristine, loaded.pristine)) return trouble;
  return allocate(gpu.driver, sums * static_cast<std::int64_t>(sizeof(std::uint64_t)), loaded.sums);
}

}  // namespace

Trouble load(Opened& gpu, const Sequence& sequence, std::span<const std::byte> blob, LoadedSequence& loaded) {
  if (Trouble trouble = inspect(sequence, blob)) return trouble;
  for (const Image& image : sequence.images) {
    loaded.sequence.images.push_back({image.name, {}});
    if (Trouble trouble = load_image(gpu, image, loaded)) return trouble;
  }
  loaded.sequence.buffers = sequence.buffers;
  loaded.sequence.launches = sequence.launches;
  loaded.guard_seed = gpu.next_seed++;
  if (Trouble trouble = make_memory(gpu, loaded)) return trouble;
  if (Trouble trouble = bind(gpu, loaded)) return trouble;
  if (Trouble trouble = fill_buffers(gpu, loaded, blob)) return trouble;
  return digest_inputs(gpu, loaded, loaded.digests);
}

}  // namespace tailor::gpu
