// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is looked at after a run, and in which order. Guard zones are looked at before inputs: a kernel that leaves a
// buffer often ends up in the next one, and where it left says more. Inputs are not read back; their digests are
// compared with those taken when they were loaded.
#include "profiler/gpu/session/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/gpu/session/kernels.h"
#include "profiler/gpu/session/queue.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;

CudaStatus queue_poison(OpenedGpu& gpu, LoadedSequence& loaded, std::uint64_t seed) {
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (buffer.role != BufferRole::output) continue;
    if (CudaStatus status = queue_fill(gpu, loaded.address(i), buffer.bytes, poison_word(seed)); !status.ok())
      return status;
  }
  return {};
}

/// Whether each input still has the contents it was loaded with.
CudaStatus inspect_inputs(OpenedGpu& gpu, LoadedSequence& loaded) {
  IndexedVector<std::uint64_t> now;
  if (CudaStatus status = digest_inputs(gpu, loaded, now); !status.ok()) return status;
  std::int64_t taken = 0;
  for (const Buffer& buffer : loaded.sequence.buffers) {
    if (buffer.role != BufferRole::input) continue;
    for (std::int64_t i = 0; i < digests_of(buffer.bytes); ++i, ++taken) {
      if (now[taken] == loaded.digests[taken]) continue;
      const std::int64_t from = i * digest_words * 8, to = std::min(from + digest_words * 8, buffer.bytes);
      return {Outcome::overrun, fmt::format("input '{}' was written between bytes {} and {}", buffer.name, from, to),
              false};
    }
  }
  return {};
}

CudaStatus fetch(OpenedGpu& gpu, LoadedSequence& loaded, std::vector<std::byte>& blob) {
  const auto fetched = [](const Buffer& buffer) { return is_written(buffer.role) && buffer.pattern == Pattern::none; };
  std::size_t bytes = 0;
  for (const Buffer& buffer : loaded.sequence.buffers)
    bytes += fetched(buffer) ? static_cast<std::size_t>(buffer.bytes) : 0;
  blob.resize(bytes);
  std::span<std::byte> rest = blob;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (!fetched(buffer)) continue;
    const auto size = static_cast<std::size_t>(buffer.bytes);
    if (CudaStatus status = copy_out(gpu, rest.first(size), loaded.address(i)); !status.ok()) return status;
    rest = rest.subspan(size);
  }
  return {};
}

CudaStatus run_once(OpenedGpu& gpu, LoadedSequence& loaded, std::uint64_t seed) {
  // What lies there too may have its outputs where the guards of this one are.
  if (loaded.shared)
    if (CudaStatus status = write_guards(gpu, loaded); !status.ok()) return status;
  if (CudaStatus status = queue_reset(gpu, loaded); !status.ok()) return status;
  if (CudaStatus status = queue_poison(gpu, loaded, seed); !status.ok()) return status;
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after resetting buffers"); !status.ok()) return status;
  if (CudaStatus status = queue_launches(gpu, loaded); !status.ok()) return status;
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after the launches"); !status.ok()) return status;
  loaded.ran = true;
  return {};
}

}  // namespace

CudaStatus inspect_guards(OpenedGpu& gpu, LoadedSequence& loaded) {
  std::vector<std::byte> found;
  for (const Zone& zone : loaded.arena.zones) {
    found.resize(static_cast<std::size_t>(zone.bytes));
    const CUdeviceptr place = *loaded.memory->memory + static_cast<CUdeviceptr>(zone.begin);
    if (CudaStatus status = copy_out(gpu, found, place); !status.ok()) return status;
    if (std::string reason = overrun(zone, found, loaded.memory->guard_seed, loaded.sequence.buffers); !reason.empty())
      return {Outcome::overrun, std::move(reason), false};
  }
  return {};
}

CudaStatus inspect_tickets(OpenedGpu& gpu, LoadedSequence& loaded) {
  std::vector<std::byte> found;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (buffer.role != BufferRole::ticket) continue;
    found.resize(static_cast<std::size_t>(buffer.bytes));
    if (CudaStatus status = copy_out(gpu, found, loaded.address(i)); !status.ok()) return status;
    if (std::any_of(found.begin(), found.end(), [](std::byte one) { return one != std::byte{0}; }))
      return {Outcome::overrun, fmt::format("ticket '{}' was not left at zero", buffer.name), false};
  }
  return {};
}

/// Whether each output that has a pattern holds it.
CudaStatus inspect_patterns(OpenedGpu& gpu, LoadedSequence& loaded) {
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (!is_written(buffer.role) || buffer.pattern == Pattern::none) continue;
    std::uint64_t differ = 0;
    if (CudaStatus status = count_differences(gpu, loaded, i, differ); !status.ok()) return status;
    if (differ != 0)
      return {Outcome::wrong,
              fmt::format("{} of {} words of '{}' are not what they must be", differ, buffer.bytes / 4, buffer.name),
              false};
  }
  return {};
}

Response run(OpenedGpu& gpu, LoadedSequence& loaded, const RunRequest& request) {
  if (CudaStatus status = run_once(gpu, loaded, request.seed); !status.ok()) return to_response(status);
  if (CudaStatus status = inspect_guards(gpu, loaded); !status.ok()) return to_response(status);
  if (CudaStatus status = inspect_tickets(gpu, loaded); !status.ok()) return to_response(status);
  if (CudaStatus status = inspect_inputs(gpu, loaded); !status.ok()) return to_response(status);
  if (CudaStatus status = inspect_patterns(gpu, loaded); !status.ok()) return to_response(status);
  Response response;
  if (!request.fetch) return response;
  if (CudaStatus status = fetch(gpu, loaded, response.blob); !status.ok()) return to_response(status);
  return response;
}

}  // namespace tailor::gpu
