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

#include "gpu/arena.h"
#include "gpu/open.h"
#include "gpu/sequence.h"

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
  std::vector<EntryFacts> entries;        ///< parallel to sequence.launches
  Replay replay;                          ///< of all launches, made when first asked for
  bool replay_traced = false;             ///< it was made while CUPTI recorded kernels
  std::uint32_t primed = 0;               ///< one bit for each way of timing that has taken a sample
  bool ran = false;                       ///< every launch has run once, so the driver has loaded all it needs

  CUdeviceptr address(std::size_t buffer) const;
};

/// Loads, allocates, fills, binds. Waits. `blob`: see AskLoad.
Trouble load(Opened& gpu, const Sequence& sequence, std::span<const std::byte> blob, LoadedSequence& loaded);

/// Fills `bytes` bytes with a 32-bit word.
Trouble queue_fill(Opened& gpu, CUdeviceptr address, std::int64_t bytes, std::uint32_t word);
/// Fills buffers of role both again and zeroes scratch.
Trouble queue_reset(Opened& gpu, LoadedSequence& loaded);
/// Overwrites L2.
Trouble queue_flush(Opened& gpu);
/// Brings L2 into this state: overwrites it, then (produced) rewrites every input. Nothing for warm.
Trouble queue_cache_state(Opened& gpu, LoadedSequence& loaded, ir::CacheState cache);
/// How many kernels of our own that takes.
std::size_t own_launches(const LoadedSequence& loaded, ir::CacheState cache);
/// All launches, in order.
Trouble queue_launches(Opened& gpu, LoadedSequence& loaded);
/// All launches as one graph, captured first if need be. `traced`: CUPTI records kernels now.
Trouble queue_replay(Opened& gpu, LoadedSequence& loaded, bool traced);
/// One of our own kernels.
Trouble queue_own(Opened& gpu, CUfunction kernel, unsigned blocks, unsigned threads, std::span<void*> parameters);
Trouble finish(Opened& gpu, std::string_view doing);  ///< waits for the stream

/// Digests of all inputs now, one after the other. Waits.
Trouble digest_inputs(Opened& gpu, LoadedSequence& loaded, std::vector<std::uint64_t>& digests);

}  // namespace tailor::gpu
