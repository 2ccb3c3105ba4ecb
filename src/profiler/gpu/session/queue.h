// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work for the GPU's one stream: buffers put back, caches brought into a state, launches one by one or as a graph, and
// Tailor's own kernels. In: an opened GPU and a loaded sequence. Out: work that is queued, in the order of the calls;
// only functions that say so wait for it. Called by whoever runs, times or counts a sequence (run, sampling, collect)
// and by the loading itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/gpu/session/loaded.h"

namespace tailor::gpu {

/// Fills `bytes` bytes with a 32-bit word.
CudaStatus queue_fill(OpenedGpu& gpu, CUdeviceptr address, std::int64_t bytes, std::uint32_t word);
/// Fills buffers of role both again and zeroes scratch.
CudaStatus queue_reset(OpenedGpu& gpu, LoadedSequence& loaded);
/// Overwrites L2, which is then full of what must be written back.
CudaStatus queue_flush(OpenedGpu& gpu);
/// Brings L2 into this state: overwrites it, then (all but dirty) reads as much of other memory, so that nothing in it
/// must be written back, then (produced) rewrites every input. Nothing for warm.
CudaStatus queue_cache_state(OpenedGpu& gpu, LoadedSequence& loaded, ir::CacheState cache);
/// How many kernels of our own that takes.
std::size_t own_launches(const LoadedSequence& loaded, ir::CacheState cache);
using LaunchAttributes = std::array<CUlaunchAttribute, 3>;
/// A launch's shape as the driver wants it, on our stream; the config points to `attributes`.
CUlaunchConfig launch_config(OpenedGpu& gpu, const Launch& launch, LaunchAttributes& attributes);
/// All launches, in order, and the copies and fills between them.
CudaStatus queue_launches(OpenedGpu& gpu, LoadedSequence& loaded);
/// All launches as one graph, captured first if need be. `traced`: CUPTI records kernels now.
CudaStatus queue_replay(OpenedGpu& gpu, LoadedSequence& loaded, bool traced);
/// Makes a buffer's pattern.
CudaStatus queue_generate(OpenedGpu& gpu, LoadedSequence& loaded, std::size_t buffer);
/// How many words of a buffer are not its pattern. Waits.
CudaStatus count_differences(OpenedGpu& gpu, LoadedSequence& loaded, std::size_t buffer, std::uint64_t& words);
/// One of our own kernels.
CudaStatus queue_own(OpenedGpu& gpu, CUfunction kernel, unsigned blocks, unsigned threads, std::span<void*> parameters);
CudaStatus finish(OpenedGpu& gpu, std::string_view doing);  ///< waits for the stream

/// Digests of all inputs now, one after the other. Waits.
CudaStatus digest_inputs(OpenedGpu& gpu, LoadedSequence& loaded, std::vector<std::uint64_t>& digests);
/// Copies from the GPU; nothing for no bytes. Waits.
CudaStatus copy_out(OpenedGpu& gpu, std::span<std::byte> to, CUdeviceptr from);

}  // namespace tailor::gpu
