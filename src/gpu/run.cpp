// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Guard zones are looked at before inputs: whoever leaves a buffer often ends up in the next one, and where it left
// says more.
#include "gpu/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu/kernels.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;

constexpr unsigned digest_threads = 256;

Trouble queue_poison(Opened& gpu, LoadedSequence& loaded, std::uint64_t seed) {
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (buffer.role != BufferRole::output) continue;
    if (Trouble trouble = queue_fill(gpu, loaded.address(i), buffer.bytes, poison_word(seed))) return trouble;
  }
  return {};
}

Trouble copy_out(Opened& gpu, std::span<std::byte> to, CUdeviceptr from) {
  if (to.empty()) return {};
  return told(gpu.driver, gpu.driver.cuMemcpyDtoH(to.data(), from, to.size()), "cuMemcpyDtoH");
}

/// Whether each input still has the contents it was loaded with.
Trouble inspect_inputs(Opened& gpu, LoadedSequence& loaded) {
  std::vector<std::uint64_t> now;
  if (Trouble trouble = digest_inputs(gpu, loaded, now)) return trouble;
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

Trouble fetch(Opened& gpu, LoadedSequence& loaded, std::vector<std::byte>& blob) {
  const auto fetched = [](const Buffer& buffer) { return buffer.role != BufferRole::input; };
  std::size_t bytes = 0;
  for (const Buffer& buffer : loaded.sequence.buffers)
    bytes += fetched(buffer) ? static_cast<std::size_t>(buffer.bytes) : 0;
  blob.resize(bytes);
  std::span<std::byte> rest = blob;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    if (!fetched(buffer)) continue;
    const auto size = static_cast<std::size_t>(buffer.bytes);
    if (Trouble trouble = copy_out(gpu, rest.first(size), loaded.address(i))) return trouble;
    rest = rest.subspan(size);
  }
  return {};
}

Trouble run_once(Opened& gpu, LoadedSequence& loaded, std::uint64_t seed) {
  if (Trouble trouble = queue_reset(gpu, loaded)) return trouble;
  if (Trouble trouble = queue_poison(gpu, loaded, seed)) return trouble;
  if (Trouble trouble = finish(gpu, "cuStreamSynchronize after resetting buffers")) return trouble;
  if (Trouble trouble = queue_launches(gpu, loaded)) return trouble;
  if (Trouble trouble = finish(gpu, "cuStreamSynchronize after the launches")) return trouble;
  loaded.ran = true;
  return {};
}

}  // namespace

Trouble digest_inputs(Opened& gpu, LoadedSequence& loaded, std::vector<std::uint64_t>& digests) {
  digests.assign(loaded.digests.size(), 0);
  if (digests.empty()) return {};
  const auto bytes = static_cast<std::int64_t>(digests.size() * sizeof(std::uint64_t));
  if (Trouble trouble = queue_fill(gpu, *loaded.sums, bytes, 0)) return trouble;
  CUdeviceptr sums = *loaded.sums;
  for (std::size_t i = 0; i < loaded.sequence.buffers.size(); ++i) {
    const Buffer& buffer = loaded.sequence.buffers[i];
    const std::int64_t count = buffer.role == BufferRole::input ? digests_of(buffer.bytes) : 0;
    if (count == 0) continue;
    CUdeviceptr address = loaded.address(i);
    std::uint64_t words = static_cast<std::uint64_t>((buffer.bytes + 7) / 8);  // the last reaches into the guard zone
    std::array<void*, 3> parameters = {&address, &words, &sums};
    if (Trouble trouble = queue_own(gpu, gpu.own.digest, static_cast<unsigned>(count), digest_threads, parameters))
      return trouble;
    sums += static_cast<CUdeviceptr>(count) * sizeof(std::uint64_t);
  }
  if (Trouble trouble = finish(gpu, "cuStreamSynchronize after digesting inputs")) return trouble;
  return copy_out(gpu, std::as_writable_bytes(std::span(digests)), *loaded.sums);
}

Trouble inspect_guards(Opened& gpu, LoadedSequence& loaded) {
  std::vector<std::byte> found;
  for (const Zone& zone : loaded.arena.zones) {
    found.resize(static_cast<std::size_t>(zone.bytes));
    const CUdeviceptr place = *loaded.memory + static_cast<CUdeviceptr>(zone.begin);
    if (Trouble trouble = copy_out(gpu, found, place)) return trouble;
    if (std::string why = overrun(zone, found, loaded.guard_seed, loaded.sequence.buffers); !why.empty())
      return {Outcome::overrun, std::move(why), false};
  }
  return {};
}

Answer run(Opened& gpu, LoadedSequence& loaded, const AskRun& ask) {
  if (Trouble trouble = run_once(gpu, loaded, ask.seed)) return answer_of(trouble);
  if (Trouble trouble = inspect_guards(gpu, loaded)) return answer_of(trouble);
  if (Trouble trouble = inspect_inputs(gpu, loaded)) return answer_of(trouble);
  Answer answer;
  if (!ask.fetch) return answer;
  if (Trouble trouble = fetch(gpu, loaded, answer.blob)) return answer_of(trouble);
  return answer;
}

}  // namespace tailor::gpu
