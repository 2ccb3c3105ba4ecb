// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Queueing: resetting buffers, cache states, launches one by one or as a graph. Dirty means that twice as much as L2
// holds was written; cold that after it as much of other memory was read, so that the dirty lines are gone from L2
// before the launch and not during it; produced means that after that every input was read and written back, as if a
// kernel had just made it; warm means that nothing is done. Whatever overwrites L2 takes code out of it too, so the
// first blocks of a kernel fetch theirs from DRAM in all states but warm. A graph is captured once and replayed; it is
// captured again when CUPTI's recording was switched on or off in between.
#include "profiler/gpu/session/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profiler/gpu/session/kernels.h"

namespace tailor::gpu {
namespace {

constexpr std::int64_t touch_bytes = 16;
constexpr unsigned digest_threads = 256;
constexpr unsigned touch_threads = 256, touch_blocks_per_sm = 8;
/// PTX ISA: griddepcontrol, by which a kernel waits for the launches before it.
constexpr int waits_from = 90;
/// Where the driver does not tell the size of L2.
constexpr std::int64_t flush_otherwise = std::int64_t{1} << 28;

/// Blocks of a kernel of our own that walks over so many words with all threads.
unsigned blocks_for(const OpenedGpu& gpu, std::uint64_t words) {
  const std::uint64_t needed = (words + touch_threads - 1) / touch_threads;
  const auto most = static_cast<std::uint64_t>(std::max(gpu.properties.sms, 1)) * touch_blocks_per_sm;
  return static_cast<unsigned>(std::min(needed, most));
}

/// A kernel of our own that walks over memory in 16-byte words.
CudaStatus queue_walk(OpenedGpu& gpu, CUfunction kernel, CUdeviceptr address, std::int64_t bytes) {
  std::uint64_t words = static_cast<std::uint64_t>((bytes + touch_bytes - 1) / touch_bytes);
  std::array<void*, 2> parameters = {&address, &words};
  return queue_own(gpu, kernel, blocks_for(gpu, words), touch_threads, parameters);
}

bool is_touched(const Buffer& buffer) { return buffer.bytes > 0 && has_contents(buffer.role); }

CudaStatus queue_touch(OpenedGpu& gpu, LoadedSequence& loaded) {
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (!is_touched(buffer)) continue;
    if (CudaStatus status = queue_walk(gpu, gpu.own.touch, loaded.address(i), buffer.bytes); !status.ok())
      return status;
  }
  return {};
}

CudaStatus queue_launch(OpenedGpu& gpu, const Launch& launch, BoundLaunch& bound) {
  LaunchAttributes attributes = {};
  const CUlaunchConfig config = launch_config(gpu, launch, attributes);
  return to_status(gpu.driver, gpu.driver.cuLaunchKernelEx(&config, bound.function, bound.parameters.data(), nullptr),
                   fmt::format("cuLaunchKernelEx of '{}'", launch.entry));
}

/// The driver's own copy or fill, as a framework asks for it.
CudaStatus queue_transfer(OpenedGpu& gpu, const LoadedSequence& loaded, const Launch& step) {
  const auto address = [&](const Argument& place) {
    return loaded.address(static_cast<std::size_t>(place.buffer)) + static_cast<CUdeviceptr>(place.offset);
  };
  if (step.bytes == 0) return {};
  const CUdeviceptr to = address(step.arguments.front());
  if (step.kind == StepKind::fill) return queue_fill(gpu, to, step.bytes, step.word);
  return to_status(gpu.driver,
                   gpu.driver.cuMemcpyDtoDAsync(to, address(step.arguments.back()),
                                                static_cast<std::size_t>(step.bytes), *gpu.stream),
                   fmt::format("cuMemcpyDtoDAsync of '{}'", step.entry));
}

/// Reads twice as much as L2 holds, of memory that nobody writes.
CudaStatus queue_sweep(OpenedGpu& gpu) {
  if (!gpu.sweep_buffer) {
    if (CudaStatus status = allocate(gpu.driver, gpu.flush_bytes, gpu.sweep_buffer); !status.ok()) return status;
    if (CudaStatus status = queue_fill(gpu, *gpu.sweep_buffer, gpu.flush_bytes, 0); !status.ok()) return status;
  }
  return queue_walk(gpu, gpu.own.sweep, *gpu.sweep_buffer, gpu.flush_bytes);
}

CudaStatus capture(OpenedGpu& gpu, LoadedSequence& loaded) {
  const Driver& driver = gpu.driver;
  const bool known = driver.cuStreamBeginCapture != nullptr && driver.cuStreamEndCapture != nullptr &&
                     driver.cuGraphInstantiateWithFlags != nullptr && driver.cuGraphLaunch != nullptr &&
                     driver.cuGraphExecDestroy != nullptr && driver.cuGraphDestroy != nullptr;
  if (!known) return {ir::Outcome::unavailable, "the driver has no CUDA graphs", false};
  if (CudaStatus status = to_status(driver, driver.cuStreamBeginCapture(*gpu.stream, CU_STREAM_CAPTURE_MODE_RELAXED),
                                    "cuStreamBeginCapture");
      !status.ok())
    return status;
  CudaStatus launched = queue_launches(gpu, loaded);
  CUgraph graph = nullptr;  // the capture ends whatever came of the launches
  CudaStatus ended = to_status(driver, driver.cuStreamEndCapture(*gpu.stream, &graph), "cuStreamEndCapture");
  const Recording recording = graph == nullptr ? Recording() : Recording(driver, graph);
  if (!launched.ok()) return launched;
  if (!ended.ok()) return ended;
  CUgraphExec replay = nullptr;
  CudaStatus made =
      to_status(driver, driver.cuGraphInstantiateWithFlags(&replay, graph, 0), "cuGraphInstantiateWithFlags");
  if (made.ok()) loaded.replay = Replay(driver, replay);
  return made;
}

}  // namespace

CUlaunchConfig launch_config(OpenedGpu& gpu, const Launch& launch, LaunchAttributes& attributes) {
  CUlaunchConfig config = {};
  config.gridDimX = launch.grid[0], config.gridDimY = launch.grid[1], config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.block[0], config.blockDimY = launch.block[1], config.blockDimZ = launch.block[2];
  config.sharedMemBytes = static_cast<unsigned>(launch.dynamic_shared);
  config.hStream = *gpu.stream;
  config.attrs = attributes.data();
  if (launch.cluster != Extent3{1, 1, 1}) {
    CUlaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = launch.cluster[0];
    cluster.value.clusterDim.y = launch.cluster[1];
    cluster.value.clusterDim.z = launch.cluster[2];
  }
  if (launch.cooperative) {
    CUlaunchAttribute& cooperative = attributes[config.numAttrs++];
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  // Elsewhere, and where all its blocks must find room at once, it begins when the launch before it has ended: what its
  // code waits for is there.
  if (launch.dependent && !launch.cooperative && gpu.properties.compute_capability >= waits_from) {
    CUlaunchAttribute& early = attributes[config.numAttrs++];
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
  }
  return config;
}

CudaStatus queue_own(OpenedGpu& gpu, CUfunction kernel, unsigned blocks, unsigned threads,
                     std::span<void*> parameters) {
  CUlaunchConfig config = {};
  config.gridDimX = blocks, config.gridDimY = 1, config.gridDimZ = 1;
  config.blockDimX = threads, config.blockDimY = 1, config.blockDimZ = 1;
  config.hStream = *gpu.stream;
  return to_status(gpu.driver, gpu.driver.cuLaunchKernelEx(&config, kernel, parameters.data(), nullptr),
                   "cuLaunchKernelEx of Tailor's own kernel");
}

CudaStatus queue_fill(OpenedGpu& gpu, CUdeviceptr address, std::int64_t bytes, std::uint32_t word) {
  constexpr std::int64_t word_bytes = 4;
  const std::int64_t words = bytes / word_bytes, rest = bytes % word_bytes;
  if (words > 0) {
    if (CudaStatus status = to_status(
            gpu.driver, gpu.driver.cuMemsetD32Async(address, word, static_cast<std::size_t>(words), *gpu.stream),
            "cuMemsetD32Async");
        !status.ok())
      return status;
  }
  if (rest == 0) return {};
  const CUdeviceptr end = address + static_cast<CUdeviceptr>(words * word_bytes);
  return to_status(
      gpu.driver,
      gpu.driver.cuMemsetD8Async(end, static_cast<unsigned char>(word), static_cast<std::size_t>(rest), *gpu.stream),
      "cuMemsetD8Async");
}

CudaStatus queue_reset(OpenedGpu& gpu, LoadedSequence& loaded) {
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (buffer.bytes == 0) continue;
    CudaStatus status;
    if (buffer.role == BufferRole::in_place) {
      const CUdeviceptr from = *loaded.pristine + static_cast<CUdeviceptr>(loaded.pristine_at[i]);
      status = to_status(
          gpu.driver,
          gpu.driver.cuMemcpyDtoDAsync(loaded.address(i), from, static_cast<std::size_t>(buffer.bytes), *gpu.stream),
          "cuMemcpyDtoDAsync");
    } else if (buffer.role == BufferRole::workspace || buffer.role == BufferRole::ticket) {
      status = queue_fill(gpu, loaded.address(i), buffer.bytes, 0);
    }
    if (!status.ok()) return status;
  }
  return {};
}

CudaStatus queue_flush(OpenedGpu& gpu) {
  if (!gpu.flush_buffer) {
    gpu.flush_bytes = gpu.properties.l2_bytes > 0 ? 2 * gpu.properties.l2_bytes : flush_otherwise;
    if (CudaStatus status = allocate(gpu.driver, gpu.flush_bytes, gpu.flush_buffer); !status.ok()) return status;
  }
  return queue_fill(gpu, *gpu.flush_buffer, gpu.flush_bytes, 0);
}

CudaStatus queue_cache_state(OpenedGpu& gpu, LoadedSequence& loaded, ir::CacheState cache) {
  if (cache == ir::CacheState::warm) return {};
  if (CudaStatus status = queue_flush(gpu); !status.ok() || cache == ir::CacheState::dirty) return status;
  if (CudaStatus status = queue_sweep(gpu); !status.ok()) return status;
  return cache == ir::CacheState::produced ? queue_touch(gpu, loaded) : CudaStatus{};
}

std::size_t own_launches(const LoadedSequence& loaded, ir::CacheState cache) {
  if (cache == ir::CacheState::warm || cache == ir::CacheState::dirty) return 0;
  if (cache == ir::CacheState::cold) return 1;
  const std::vector<Buffer>& buffers = loaded.sequence.buffers;
  return 1 + static_cast<std::size_t>(std::count_if(buffers.begin(), buffers.end(), is_touched));
}

CudaStatus queue_launches(OpenedGpu& gpu, LoadedSequence& loaded) {
  for (std::size_t i = 0; i < loaded.launches.size(); ++i) {
    const Launch& launch = loaded.sequence.launches[i];
    if (CudaStatus status =
            is_kernel(launch) ? queue_launch(gpu, launch, loaded.launches[i]) : queue_transfer(gpu, loaded, launch);
        !status.ok())
      return status;
  }
  return {};
}

CudaStatus queue_replay(OpenedGpu& gpu, LoadedSequence& loaded, bool traced) {
  if (loaded.launches.empty()) return {};
  if (!loaded.replay || loaded.replay_traced != traced) {
    if (CudaStatus status = capture(gpu, loaded); !status.ok()) return status;
    loaded.replay_traced = traced;
  }
  return to_status(gpu.driver, gpu.driver.cuGraphLaunch(*loaded.replay, *gpu.stream), "cuGraphLaunch");
}

CudaStatus finish(OpenedGpu& gpu, std::string_view doing) {
  return to_status(gpu.driver, gpu.driver.cuStreamSynchronize(*gpu.stream), doing);
}

CudaStatus copy_out(OpenedGpu& gpu, std::span<std::byte> to, CUdeviceptr from) {
  if (to.empty()) return {};
  return to_status(gpu.driver, gpu.driver.cuMemcpyDtoH(to.data(), from, to.size()), "cuMemcpyDtoH");
}

CudaStatus queue_generate(OpenedGpu& gpu, LoadedSequence& loaded, std::size_t buffer) {
  const Buffer& made = loaded.sequence.buffers[buffer];
  CUdeviceptr address = loaded.address(buffer);
  std::uint64_t words = static_cast<std::uint64_t>(made.bytes) / sizeof(std::uint32_t);
  std::uint32_t counted = made.pattern == Pattern::counted ? 1 : 0;
  std::array<void*, 3> parameters = {&address, &words, &counted};
  return words == 0 ? CudaStatus{}
                    : queue_own(gpu, gpu.own.generate, blocks_for(gpu, words), touch_threads, parameters);
}

CudaStatus count_differences(OpenedGpu& gpu, LoadedSequence& loaded, std::size_t buffer, std::uint64_t& differ) {
  const Buffer& made = loaded.sequence.buffers[buffer];
  CUdeviceptr address = loaded.address(buffer), count = *loaded.sums;
  std::uint64_t words = static_cast<std::uint64_t>(made.bytes) / sizeof(std::uint32_t);
  std::uint32_t counted = made.pattern == Pattern::counted ? 1 : 0;
  std::array<void*, 4> parameters = {&address, &words, &counted, &count};
  differ = 0;
  if (words == 0) return {};
  if (CudaStatus status = queue_fill(gpu, count, sizeof differ, 0); !status.ok()) return status;
  if (CudaStatus status = queue_own(gpu, gpu.own.differ, blocks_for(gpu, words), touch_threads, parameters);
      !status.ok())
    return status;
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after comparing a pattern"); !status.ok()) return status;
  return copy_out(gpu, std::as_writable_bytes(std::span(&differ, 1)), count);
}

CudaStatus digest_inputs(OpenedGpu& gpu, LoadedSequence& loaded, std::vector<std::uint64_t>& digests) {
  digests.assign(loaded.digests.size(), 0);
  if (digests.empty()) return {};
  const auto bytes = static_cast<std::int64_t>(digests.size() * sizeof(std::uint64_t));
  if (CudaStatus status = queue_fill(gpu, *loaded.sums, bytes, 0); !status.ok()) return status;
  CUdeviceptr sums = *loaded.sums;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    const std::int64_t count = buffer.role == BufferRole::input ? digests_of(buffer.bytes) : 0;
    if (count == 0) continue;
    CUdeviceptr address = loaded.address(i);
    std::uint64_t words = static_cast<std::uint64_t>((buffer.bytes + 7) / 8);  // the last reaches into the guard zone
    std::array<void*, 3> parameters = {&address, &words, &sums};
    if (CudaStatus status = queue_own(gpu, gpu.own.digest, static_cast<unsigned>(count), digest_threads, parameters);
        !status.ok())
      return status;
    sums += static_cast<CUdeviceptr>(count) * sizeof(std::uint64_t);
  }
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after digesting inputs"); !status.ok()) return status;
  return copy_out(gpu, std::as_writable_bytes(std::span(digests)), *loaded.sums);
}

}  // namespace tailor::gpu
