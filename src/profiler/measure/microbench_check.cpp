// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs made, outputs checked, samples turned into the answer. In: a family and the bytes that a run left. Out:
// empty, or one sentence that names the first wrong word. Called by whoever runs microbenchmarks, before any of them
// is timed.
#include "profiler/measure/microbench_check.h"

#include <fmt/format.h>

#include <cassert>
#include <cstring>

#include "base/statistics.h"
#include "profiler/measure/stop.h"

namespace tailor::profiler {

namespace bench_checks {

namespace {

/// Word by word against `expected(place)`.
template <class Expected>
std::string compared(Words words, std::size_t count, Expected expected) {
  if (words.size() != count) return fmt::format("{} words came back, expected {}", words.size(), count);
  for (std::size_t at = 0; at < count; ++at) {
    const std::uint32_t right = expected(at);
    if (words[at] != right) return fmt::format("word {} is {:#x}, expected {:#x}", at, words[at], right);
  }
  return {};
}

std::size_t words_of(const Microbench& bench, std::size_t buffer) {
  return static_cast<std::size_t>(bench.sequence.buffers[buffer].bytes / 4);
}
std::size_t blocks_of(const Microbench& bench) { return bench.sequence.launches[0].grid[0]; }

}  // namespace

std::string copied(const Microbench& bench, Words outputs) {
  if (bench.sequence.buffers[1].pattern != gpu::Pattern::none) return nothing(bench, outputs);  // the GPU looked
  return compared(outputs, words_of(bench, 1), [](std::size_t at) { return input_word(at); });
}

std::string read(const Microbench& bench, Words outputs) {
  if (outputs.size() != blocks_of(bench)) return compared(outputs, blocks_of(bench), [](std::size_t) { return 0U; });
  std::uint32_t all = 0, seen = 0;
  for (std::size_t at = 0; at < words_of(bench, 0); ++at) all ^= input_word(at);
  for (const std::uint32_t word : outputs) seen ^= word;
  return seen == all ? "" : fmt::format("the exclusive or of all words is {:#x}, expected {:#x}", seen, all);
}

std::string written(const Microbench& bench, Words outputs) {
  if (bench.sequence.buffers[0].pattern != gpu::Pattern::none) return nothing(bench, outputs);  // the GPU looked
  return compared(outputs, words_of(bench, 0), [](std::size_t at) { return static_cast<std::uint32_t>(at); });
}

std::string nothing(const Microbench&, Words outputs) {
  return compared(outputs, 0, [](std::size_t) { return 0U; });
}

std::string met(const Microbench& bench, Words outputs) {
  // The neighbours' words of the first four rounds: 1 + 2 + 3 + 4. Outputs come last among what came back.
  const std::size_t blocks = blocks_of(bench);
  if (outputs.size() < blocks) return compared(outputs, blocks, [](std::size_t) { return 0U; });
  const auto checked = static_cast<std::uint32_t>(std::min<std::int64_t>(bench.shape.rounds, 4));
  return compared(outputs.last(blocks), blocks, [&](std::size_t) { return checked * (checked + 1) / 2; });
}

std::string exchanged(const Microbench& bench, Words outputs) {
  const std::size_t cluster = bench.sequence.launches[0].cluster[0];
  const auto rounds = static_cast<std::size_t>(bench.shape.rounds);
  return compared(outputs, blocks_of(bench), [&](std::size_t block) {
    const std::size_t rank = block % cluster, from = (rank + cluster - rounds % cluster) % cluster;
    return static_cast<std::uint32_t>(block - rank + from + rounds);
  });
}

std::string added_in_shared(const Microbench& bench, Words outputs) {
  const auto threads = static_cast<std::size_t>(bench.shape.threads);
  const auto rounds = static_cast<std::uint32_t>(bench.shape.rounds);
  return compared(outputs, blocks_of(bench) * threads, [&](std::size_t at) {
    if (bench.shape.spread > 0) return rounds;
    return at % threads == 0 ? static_cast<std::uint32_t>(threads) * rounds : 0U;
  });
}

std::string added_in_global(const Microbench& bench, Words outputs) {
  const auto threads = static_cast<std::uint32_t>(static_cast<std::int64_t>(blocks_of(bench)) * bench.shape.threads);
  const auto rounds = static_cast<std::uint32_t>(bench.shape.rounds);
  const auto spread = static_cast<std::size_t>(bench.shape.spread);
  return compared(outputs, words_of(bench, 0), [&](std::size_t at) {
    if (spread == 0) return threads * rounds;
    return at % spread == 0 ? rounds : 0U;
  });
}

std::string read_again(const Microbench& bench, Words outputs) {
  // The sums of all passes of all blocks together are as many times the sum of all words.
  std::uint32_t all = 0, seen = 0;
  for (std::size_t at = 0; at < words_of(bench, 0); ++at) all += input_word(at);
  for (const std::uint32_t word : outputs) seen += word;
  all *= static_cast<std::uint32_t>(bench.shape.rounds);
  if (outputs.size() != blocks_of(bench)) return compared(outputs, blocks_of(bench), [](std::size_t) { return 0U; });
  return seen == all ? "" : fmt::format("the sum of all words is {:#x}, expected {:#x}", seen, all);
}

std::string chased(const Microbench& bench, Words outputs) {
  const auto mask = static_cast<std::uint32_t>(words_of(bench, 0) - 1);
  std::uint32_t at = 1;
  for (std::int64_t hop = 0; hop < bench.shape.rounds; ++hop) at = input_word(at) & mask;
  return compared(outputs, 1, [&](std::size_t) { return at; });
}

std::string shuffled(const Microbench& bench, Words outputs) {
  // Each round a lane takes its neighbour's word and adds 1, so after an even number of rounds it has its own again.
  const auto rounds = static_cast<std::uint32_t>(bench.shape.rounds);
  const auto threads = static_cast<std::size_t>(bench.shape.threads);
  return compared(outputs, blocks_of(bench) * threads, [&](std::size_t at) {
    return 4 * ((static_cast<std::uint32_t>(at % threads) ^ rounds % 2) + rounds) + 6;
  });
}

std::string kept(const Microbench& bench, Words outputs) {
  return compared(outputs, blocks_of(bench) * static_cast<std::size_t>(bench.shape.threads),
                  [](std::size_t) { return 4U; });
}

std::string counted(const Microbench& bench, Words outputs) {
  const auto rounds = static_cast<std::uint32_t>(bench.shape.rounds);
  return compared(outputs, blocks_of(bench), [&](std::size_t) { return rounds; });
}

}  // namespace bench_checks

std::vector<std::byte> inputs_of(const Microbench& bench) {
  std::vector<std::byte> bytes;
  for (const gpu::Buffer& buffer : bench.sequence.buffers) {
    if (buffer.role != gpu::BufferRole::input || buffer.pattern != gpu::Pattern::none) continue;
    const std::size_t start = bytes.size();
    bytes.resize(start + static_cast<std::size_t>(buffer.bytes));
    for (std::size_t at = 0; at < static_cast<std::size_t>(buffer.bytes) / 4; ++at) {
      const std::uint32_t word = bench_checks::input_word(at);
      std::memcpy(bytes.data() + start + 4 * at, &word, 4);
    }
  }
  return bytes;
}

std::string complaint(const Microbench& bench, std::span<const std::byte> outputs) {
  std::vector<std::uint32_t> words(outputs.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), outputs.data(), words.size() * 4);
  return bench.family->complaint(bench, words);
}

BenchResult evaluate(const Microbench& bench, std::span<const ir::Sample> samples, double confidence) {
  assert(!samples.empty());
  const Spread time = spread_of(durations(samples), confidence);
  const auto answer = [&](double seconds) {
    return bench.family->answer == BenchAnswer::rate ? bench.work / seconds : seconds / bench.work;
  };
  const bool turned = bench.family->answer == BenchAnswer::rate;
  return {bench.name,
          std::string(bench.family->name),
          bench.size,
          answer(time.median),
          answer(turned ? time.high : time.low),
          answer(turned ? time.low : time.high),
          std::string(bench.family->unit),
          time.n};
}

}  // namespace tailor::profiler
