// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sequence in the memory of an opened GPU: modules, buffers between guard zones, launches with their arguments bound
// to addresses. What is queued goes to the GPU's one stream; only functions that say so wait for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/gpu/arena.h"
#include "profiler/gpu/open.h"
#include "profiler/gpu/sequence.h"

namespace tailor::gpu {

/// A launch as the driver wants it: parameters points into values.
struct BoundLaunch {
  CUfunction function = nullptr;
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> parameters;
};

struct LoadedSequence {
  Sequence sequence;  ///< its images without code
  std::vector<Module> modules;
  Arena arena;
  std::uint64_t guard_seed = 0;
  DeviceMemory memory;                    ///< the arena
  DeviceMemory pristine;                  ///< contents of buffers of role both, one after the other
  std::vector<std::int64_t> pristine_at;  ///< by buffer; -1: has none
  DeviceMemory sums;                      ///< room for the digests of all inputs
  std::vector<std::uint64_t> digests;     ///< of all inputs, as loaded
  std::vector<BoundLaunch> launches;      ///< parallel to sequence.launches
  std::vector<KernelAttributes> entries;  ///< parallel to sequence.launches
  Replay replay;                          ///< of all launches, made when first asked for
  bool replay_traced = false;             ///< it was made while CUPTI recorded kernels
  std::uint32_t primed = 0;               ///< one bit for each way of timing that has taken a sample
  bool ran = false;                       ///< every launch has run once, so the driver has loaded all it needs

  CUdeviceptr address(std::size_t buffer) const;
};

/// Loads, allocates, fills, binds. Waits. `blob`: see LoadRequest.
CudaStatus load(OpenedGpu& gpu, const Sequence& sequence, std::span<const std::byte> blob, LoadedSequence& loaded);

/// Fills `bytes` bytes with a 32-bit word.
CudaStatus queue_fill(OpenedGpu& gpu, CUdeviceptr address, std::int64_t bytes, std::uint32_t word);
/// Fills buffers of role both again and zeroes scratch.
CudaStatus queue_reset(OpenedGpu& gpu, LoadedSequence& loaded);
/// Overwrites L2.
CudaStatus queue_flush(OpenedGpu& gpu);
/// Brings L2 into this state: overwrites it, then (produced) rewrites every input. Nothing for warm.
CudaStatus queue_cache_state(OpenedGpu& gpu, LoadedSequence& loaded, ir::CacheState cache);
/// How many kernels of our own that takes.
std::size_t own_launches(const LoadedSequence& loaded, ir::CacheState cache);
/// All launches, in order.
CudaStatus queue_launches(OpenedGpu& gpu, LoadedSequence& loaded);
/// All launches as one graph, captured first if need be. `traced`: CUPTI records kernels now.
CudaStatus queue_replay(OpenedGpu& gpu, LoadedSequence& loaded, bool traced);
/// One of our own kernels.
CudaStatus queue_own(OpenedGpu& gpu, CUfunction kernel, unsigned blocks, unsigned threads, std::span<void*> parameters);
CudaStatus finish(OpenedGpu& gpu, std::string_view doing);  ///< waits for the stream

/// Digests of all inputs now, one after the other. Waits.
CudaStatus digest_inputs(OpenedGpu& gpu, LoadedSequence& loaded, std::vector<std::uint64_t>& digests);

}  // namespace tailor::gpu
