// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the GPU is, that results are right, that guards see what leaves a buffer, and the launches that only newer GPUs
// can do. Bounds of facts are those of any GPU that one could want to measure on. Part of the program gpu_self_test,
// which suite.h describes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "profiler/gpu/self_test/kernels.h"
#include "profiler/gpu/self_test/suite.h"

namespace tailor::tests {

namespace {

using gpu::BufferRole;
using gpu::Response;
using ir::Outcome;

constexpr int hopper = 90;

Observed facts_are_plausible(Subject& subject) {
  const Response& opened = subject.opened();
  if (opened.outcome != Outcome::ok) return unexpected(opened);
  const gpu::GpuProperties& properties = opened.properties;
  const bool plausible = !properties.name.empty() && !properties.uuid.empty() && properties.compute_capability >= 70 &&
                         properties.compute_capability < 200 && properties.sms >= 1 && properties.sms <= 1000 &&
                         properties.memory_bytes > 1'000'000'000 && properties.l2_bytes > 500'000 &&
                         properties.l2_bytes < properties.memory_bytes && properties.shared_per_block_optin >= 49'152 &&
                         properties.shared_per_sm >= properties.shared_per_block_optin &&
                         properties.registers_per_sm >= 32'768 && properties.threads_per_sm >= 1024 &&
                         properties.driver_api >= 11'000 && properties.sm_clock_max > 5e8 &&
                         properties.sm_clock_max < 5e9;
  return seen(plausible,
              fmt::format("{}, sm_{}, {} SMs, {}, L2 {}, {:.0f} MHz, driver {} (API {}), CUPTI {}{}{}", properties.name,
                          properties.compute_capability, properties.sms,
                          humane_bytes(static_cast<double>(properties.memory_bytes)),
                          humane_bytes(static_cast<double>(properties.l2_bytes)), properties.sm_clock_max / 1e6,
                          properties.driver, properties.driver_api, properties.cupti_api, properties.ecc ? ", ECC" : "",
                          properties.mig ? ", MIG" : ""));
}

Observed sums_are_right(Subject& subject) { return seen(subject.still_adds(), "1000 sums"); }

/// A byte is turned over at `offset` of a buffer of 4096.
Response poked(Subject& subject, BufferRole role, std::int64_t offset) {
  return subject.run(on_x(role, plain_launch("poke", {buffer_argument(0), plain_argument(offset)})));
}

Observed overrun_with(const Response& response, std::string_view words) {
  const bool found = response.outcome == Outcome::overrun && response.reason.find(words) != response.reason.npos;
  return seen(found && !response.context_lost, fmt::format("{}: {}", ir::name(response.outcome), response.reason));
}

Observed end_is_guarded(Subject& subject) {
  return overrun_with(poked(subject, BufferRole::output, 4096), "1 byte written past the end of 'x'");
}

Observed start_is_guarded(Subject& subject) {
  return overrun_with(poked(subject, BufferRole::output, -1), "1 byte written before the start of 'x'");
}

Observed last_byte_is_ones_own(Subject& subject) {
  const Response response = poked(subject, BufferRole::output, 4095);
  return response.outcome == Outcome::ok ? seen(true, "ok") : unexpected(response);
}

Observed inputs_are_guarded(Subject& subject) {
  return overrun_with(poked(subject, BufferRole::input, 100), "input 'x' was written");
}

Observed large_copy_is_right(Subject& subject) {
  const gpu::Sequence sequence = copying(subject.copy_bytes);
  const std::vector<std::byte> contents = contents_of(sequence);
  const Response ran = subject.run(sequence);
  if (ran.outcome != Outcome::ok) return unexpected(ran);
  return seen(ran.blob == contents, humane_bytes(static_cast<double>(subject.copy_bytes)));
}

Observed all_shared_memory(Subject& subject) {
  const std::int64_t bytes = subject.properties().shared_per_block_optin;
  const Response ran = subject.run(with_shared(bytes));
  if (ran.outcome != Outcome::ok) return unexpected(ran);
  return seen(words_of(ran.blob).front() == static_cast<std::uint32_t>(bytes) + 7, fmt::format("{} bytes", bytes));
}

Observed exchanged(Subject& subject, std::uint32_t blocks) {
  if (subject.properties().compute_capability < hopper) return skipped("clusters need sm_90");
  const Response ran = subject.run(exchanging(blocks));
  if (ran.outcome != Outcome::ok) return unexpected(ran);
  const std::vector<std::uint32_t> out = words_of(ran.blob);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < out.size(); ++i)
    wrong += out[i] != 3 * (i / blocks * blocks + (i + 1) % blocks) + 5 ? 1 : 0;
  return seen(wrong == 0 && out.size() == std::size_t{2} * blocks, fmt::format("{} of {} wrong", wrong, out.size()));
}

Observed cluster_of_8(Subject& subject) { return exchanged(subject, 8); }
Observed cluster_of_16(Subject& subject) { return exchanged(subject, 16); }

constexpr std::uint32_t meeting_threads = 1024;

/// As many blocks as are resident together, by the driver's word.
std::uint32_t resident_blocks(Subject& subject) {
  const Response loaded = subject.load(meeting(1, meeting_threads));
  if (loaded.outcome != Outcome::ok || loaded.entries.empty()) return 0;
  return static_cast<std::uint32_t>(loaded.entries[0].blocks_per_sm * subject.properties().sms);
}

Observed all_blocks_meet(Subject& subject) {
  const std::uint32_t blocks = resident_blocks(subject);
  if (blocks == 0) return seen(false, "no block is resident");
  const Response ran = subject.run(meeting(blocks, meeting_threads));
  if (ran.outcome != Outcome::ok) return unexpected(ran);
  const std::vector<std::uint32_t> all = words_of(ran.blob);  // cells, counter, out
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < blocks; ++i) wrong += all[blocks + 1 + i] != (i + 1) % blocks * 7 + 1 ? 1 : 0;
  return seen(wrong == 0 && all[blocks] == blocks, fmt::format("{} blocks, {} wrong", blocks, wrong));
}

Observed one_block_more_is_refused(Subject& subject) {
  const std::uint32_t blocks = resident_blocks(subject) + 1;
  const Response ran = subject.run(meeting(blocks, meeting_threads));
  return seen(ran.outcome == Outcome::refused && subject.still_adds(),
              fmt::format("{} blocks: {}: {}", blocks, ir::name(ran.outcome), ran.reason));
}

constexpr SelfTest right_rows[] = {
    {"facts", "the GPU opens and its numbers are those of a GPU", facts_are_plausible},
    {"addition", "1000 sums of f32 equal the host's", sums_are_right},
    {"large copy", "every byte arrives", large_copy_is_right},
    {"last byte", "a store to a buffer's last byte is no overrun", last_byte_is_ones_own},
    {"guard behind", "one byte past the end is found, on that side", end_is_guarded},
    {"guard before", "one byte before the start is found, on that side", start_is_guarded},
    {"guard of inputs", "a store into an input is found", inputs_are_guarded},
    {"shared memory", "all that a block may opt into is there to its last word", all_shared_memory},
    {"cluster of 8", "each block reads its neighbour's shared memory", cluster_of_8},
    {"cluster of 16", "the same in a cluster of more than the portable size", cluster_of_16},
    {"grid barrier", "all resident blocks of a cooperative launch meet", all_blocks_meet},
    {"grid too large", "one block more than is resident is refused", one_block_more_is_refused},
};

}  // namespace

std::span<const SelfTest> right_tests() { return right_rows; }

}  // namespace tailor::tests
