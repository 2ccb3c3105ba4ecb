// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sequence in the memory of an opened GPU: modules, buffers between guard zones, launches with their arguments bound
// to addresses. In: a Sequence and the contents of its buffers. Out: a LoadedSequence, which gpu.cpp keeps by number
// and hands to run, sampling and collect. Work on it is queued by queue.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/indexed.h"
#include "profiler/gpu/request/sequence.h"
#include "profiler/gpu/session/arena.h"
#include "profiler/gpu/session/open.h"

namespace tailor::gpu {

/// A launch as the driver wants it: parameters points into values. Of a copy or fill it is empty.
struct BoundLaunch {
  CUfunction function = nullptr;
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> parameters;
};

/// Memory that a sequence lies in, alone or, one at a time, with others.
struct ArenaMemory {
  DeviceMemory memory;
  std::int64_t bytes = 0;
  std::uint64_t guard_seed = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> filled;  ///< where contents lie, when it is shared
};

struct LoadedSequence {
  Sequence sequence;  ///< its images without code
  IndexedVector<Module> modules;
  Arena arena;
  std::shared_ptr<ArenaMemory> memory;
  bool shared = false;                    ///< others lie there too: guards are written before they are looked at
  DeviceMemory pristine;                  ///< contents of buffers of role both, one after the other
  std::vector<std::int64_t> pristine_at;  ///< by buffer; -1: has none
  DeviceMemory sums;                      ///< room for the digests of all inputs
  IndexedVector<std::uint64_t> digests;   ///< of all inputs, as loaded
  std::vector<BoundLaunch> launches;      ///< parallel to sequence.launches
  std::vector<KernelAttributes> entries;  ///< parallel to sequence.launches
  Replay replay;                          ///< of all launches, made when first asked for
  bool replay_traced = false;             ///< it was made while CUPTI recorded kernels
  std::uint32_t primed = 0;               ///< one bit for each way of timing that has taken a sample
  bool ran = false;                       ///< every launch has run once, so the driver has loaded all it needs

  CUdeviceptr address(std::size_t buffer) const;
};

/// Loads, allocates, fills, binds. Waits. `blob`: see LoadRequest. `shared`: the memory of its arena, null for memory
/// of its own; empty memory is allocated.
CudaStatus load(OpenedGpu& gpu, const LoadRequest& request, std::span<const std::byte> blob,
                std::shared_ptr<ArenaMemory> shared, LoadedSequence& loaded);

/// Writes what belongs into every guard zone. Waits.
CudaStatus write_guards(OpenedGpu& gpu, const LoadedSequence& loaded);

}  // namespace tailor::gpu
