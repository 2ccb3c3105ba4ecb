// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Guard zones are looked at before inputs: whoever leaves a buffer often ends up in the next one, and where it left
// says more.
#include "profiler/gpu/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profiler/gpu/kernels.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;

constexpr unsigned digest_threads = 256;

CudaStatus queue_poison(OpenedGpu& gpu, LoadedSequence& loaded, std::uint64_t seed) {
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (buffer.role != BufferRole::output) continue;
    if (CudaStatus status = queue_fill(gpu, loaded.address(i), buffer.bytes, poison_word(seed))) return status;
  }
  return {};
}

CudaStatus copy_out(OpenedGpu& gpu, std::span<std::byte> to, CUdeviceptr from) {
  if (to.empty()) return {};
  return to_status(gpu.driver, gpu.driver.cuMemcpyDtoH(to.data(), from, to.size()), "cuMemcpyDtoH");
}

/// Whether each input still has the contents it was loaded with.
CudaStatus inspect_inputs(OpenedGpu& gpu, LoadedSequence& loaded) {
  std::vector<std::uint64_t> now;
  if (CudaStatus status = digest_inputs(gpu, loaded, now)) return status;
  std::int64_t taken = 0;
  for (const Buffer& buffer : loaded.sequence.buffers) {
    if (buffer.role != BufferRole::input) continue;
    for (std::int64_t i = 0; i < digests_of(buffer.bytes); ++i, ++taken) {
      if (now[static_cast<std::size_t>(taken)] == loaded.digests[static_cast<std::size_t>(taken)]) continue;
      const std::int64_t from = i * digest_words * 8, to = std::min(from + digest_words * 8, buffer.bytes);
      return {Outcome::overrun, fmt::format("input '{}' was written between bytes {} and {}", buffer.name, from, to),
              false};
    }
  }
  return {};
}

CudaStatus fetch(OpenedGpu& gpu, LoadedSequence& loaded, std::vector<std::byte>& blob) {
  const auto fetched = [](const Buffer& buffer) { return is_written(buffer.role); };
  std::size_t bytes = 0;
  for (const Buffer& buffer : loaded.sequence.buffers)
    bytes += fetched(buffer) ? static_cast<std::size_t>(buffer.bytes) : 0;
  blob.resize(bytes);
  std::span<std::byte> rest = blob;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (!fetched(buffer)) continue;
    const auto size = static_cast<std::size_t>(buffer.bytes);
    if (CudaStatus status = copy_out(gpu, rest.first(size), loaded.address(i))) return status;
    rest = rest.subspan(size);
  }
  return {};
}

CudaStatus run_once(OpenedGpu& gpu, LoadedSequence& loaded, std::uint64_t seed) {
  if (CudaStatus status = queue_reset(gpu, loaded)) return status;
  if (CudaStatus status = queue_poison(gpu, loaded, seed)) return status;
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after resetting buffers")) return status;
  if (CudaStatus status = queue_launches(gpu, loaded)) return status;
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after the launches")) return status;
  loaded.ran = true;
  return {};
}

}  // namespace

CudaStatus digest_inputs(OpenedGpu& gpu, LoadedSequence& loaded, std::vector<std::uint64_t>& digests) {
  digests.assign(loaded.digests.size(), 0);
  if (digests.empty()) return {};
  const auto bytes = static_cast<std::int64_t>(digests.size() * sizeof(std::uint64_t));
  if (CudaStatus status = queue_fill(gpu, *loaded.sums, bytes, 0)) return status;
  CUdeviceptr sums = *loaded.sums;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    const std::int64_t count = buffer.role == BufferRole::input ? digests_of(buffer.bytes) : 0;
    if (count == 0) continue;
    CUdeviceptr address = loaded.address(i);
    std::uint64_t words = static_cast<std::uint64_t>((buffer.bytes + 7) / 8);  // the last reaches into the guard zone
    std::array<void*, 3> parameters = {&address, &words, &sums};
    if (CudaStatus status = queue_own(gpu, gpu.own.digest, static_cast<unsigned>(count), digest_threads, parameters))
      return status;
    sums += static_cast<CUdeviceptr>(count) * sizeof(std::uint64_t);
  }
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after digesting inputs")) return status;
  return copy_out(gpu, std::as_writable_bytes(std::span(digests)), *loaded.sums);
}

CudaStatus inspect_guards(OpenedGpu& gpu, LoadedSequence& loaded) {
  std::vector<std::byte> found;
  for (const Zone& zone : loaded.arena.zones) {
    found.resize(static_cast<std::size_t>(zone.bytes));
    const CUdeviceptr place = *loaded.memory + static_cast<CUdeviceptr>(zone.begin);
    if (CudaStatus status = copy_out(gpu, found, place)) return status;
    if (std::string why = overrun(zone, found, loaded.guard_seed, loaded.sequence.buffers); !why.empty())
      return {Outcome::overrun, std::move(why), false};
  }
  return {};
}

CudaStatus inspect_tickets(OpenedGpu& gpu, LoadedSequence& loaded) {
  std::vector<std::byte> found;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (buffer.role != BufferRole::ticket) continue;
    found.resize(static_cast<std::size_t>(buffer.bytes));
    if (CudaStatus status = copy_out(gpu, found, loaded.address(i))) return status;
    if (std::any_of(found.begin(), found.end(), [](std::byte one) { return one != std::byte{0}; }))
      return {Outcome::overrun, fmt::format("ticket '{}' was not left at zero", buffer.name), false};
  }
  return {};
}

Response run(OpenedGpu& gpu, LoadedSequence& loaded, const RunRequest& request) {
  if (CudaStatus status = run_once(gpu, loaded, request.seed)) return to_response(status);
  if (CudaStatus status = inspect_guards(gpu, loaded)) return to_response(status);
  if (CudaStatus status = inspect_tickets(gpu, loaded)) return to_response(status);
  if (CudaStatus status = inspect_inputs(gpu, loaded)) return to_response(status);
  Response response;
  if (!request.fetch) return response;
  if (CudaStatus status = fetch(gpu, loaded, response.blob)) return to_response(status);
  return response;
}

}  // namespace tailor::gpu
