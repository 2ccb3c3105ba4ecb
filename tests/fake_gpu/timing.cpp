// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Times from bytes, instructions and launches, with noise. In: the work of a launch. Out:
// nanoseconds. Noise is a function of the seed and the number of the launch, so a run is repeated
// exactly.
#include "fake_gpu/timing.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tailor::fake {
namespace {

constexpr double profiling_slows = 1.4;

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double uniform(std::uint64_t seed) { return static_cast<double>(mixed(seed) >> 11) * 0x1p-53; }

/// One over all pieces of memory, from -1 to 1: where they lie decides which channels and sets they meet in.
double placed(std::span<const Segment> given) {
  std::uint64_t all = 0;
  for (const Segment& one : given) all = mixed(all ^ one.begin);
  return 2 * uniform(all) - 1;
}

/// How a kernel's bytes spread over the memory it was given: only totals are known, so segments that seem to be meant
/// (read: those that it does not write) take theirs first.
struct Spread {
  std::vector<std::int64_t> bytes;  ///< by segment
  std::int64_t hits = 0;
};

Spread spread(std::int64_t total, std::span<const Segment> given, bool written_first, const Cache& cache) {
  Spread made{std::vector<std::int64_t>(given.size()), 0};
  for (const bool pass : {true, false})
    for (std::size_t k = 0; k < given.size(); ++k) {
      if ((given[k].written == written_first) != pass) continue;
      made.bytes[k] = std::min(total, given[k].bytes);
      made.hits += std::min(made.bytes[k], cache.held(given[k]));
      total -= made.bytes[k];
    }
  return made;
}

}  // namespace

Timing::Timing(const Config& config) : config_(config), cache_(config.chip.l2_bytes) {
  for (const PlantedTime& one : config.times) planted_.emplace_back(std::regex(one.kernel), one.seconds);
}

const ThrottleStep& Timing::throttle() const {
  static const ThrottleStep none;
  const ThrottleStep* now = &none;
  for (const ThrottleStep& one : config_.throttle)
    if (one.launches <= launches_) now = &one;
  return *now;
}

double Timing::sm_clock() const { return throttle().sm_clock > 0 ? throttle().sm_clock : config_.chip.sm_clock; }

double Timing::noise() {
  const std::uint64_t at = mixed(config_.seed) ^ static_cast<std::uint64_t>(launches_) * 16;
  double sum = -6;  // twelve uniforms: normal enough
  for (std::uint64_t k = 0; k < 12; ++k) sum += uniform(at + k);
  const double rare = uniform(at + 12) < config_.outliers ? config_.outlier : 1;
  return std::max(0.1, 1 + config_.noise * sum) * rare;
}

double Timing::modelled(const Work& work, std::int64_t missed) const {
  const Chip& chip = config_.chip;
  const double dram = static_cast<double>(missed) / chip.dram_bandwidth;
  const double l2 = static_cast<double>(work.counters.l2_read_bytes + work.counters.l2_write_bytes) / chip.l2_bandwidth;
  const double issue = static_cast<double>(work.counters.instructions) / (chip.issue_rate * chip.sms * chip.sm_clock);
  const double dispatch = static_cast<double>(work.blocks) / chip.dispatch_rate;
  return chip.kernel_floor + dram + l2 + issue + dispatch;  // as if nothing overlapped: each byte and instruction shows
}

void Timing::settle(Work& work, const simulator::Simulation& ran, std::span<const Segment> given,
                    std::string_view kernel) {
  work.counters = ran.counters;
  work.blocks = ran.blocks_total;
  const Spread read = spread(ran.counters.dram_read_bytes, given, false, cache_);
  const Spread written = spread(ran.counters.dram_write_bytes, given, true, cache_);
  work.dram_read = ran.counters.dram_read_bytes - read.hits;
  work.dram_write = 0;
  for (std::size_t k = 0; k < given.size(); ++k)
    work.dram_write += cache_.touch(given[k], std::max(read.bytes[k], written.bytes[k]));
  double seconds = modelled(work, work.dram_read + work.dram_write);
  for (const auto& [pattern, planted] : planted_)
    if (std::regex_search(kernel.begin(), kernel.end(), pattern)) seconds = planted;
  if (config_.placement > 0) seconds *= 1 + config_.placement * placed(given);
  work.seconds = seconds * noise() * config_.chip.sm_clock / sm_clock() * (profiled ? profiling_slows : 1);
  work.elapsed = work.seconds;
  ++launches_;
}

double Timing::moved(std::uint64_t begin, std::int64_t bytes, bool written) {
  const std::uint64_t end = begin + static_cast<std::uint64_t>(bytes);
  cache_.mark(begin);
  cache_.mark(end);
  Segment segment = cache_.segment(begin, end);
  segment.written = written;
  const std::int64_t missed = written ? 0 : bytes - cache_.held(segment);
  const std::int64_t back = cache_.touch(segment, bytes);
  return static_cast<double>(missed + back) / config_.chip.dram_bandwidth +
         static_cast<double>(bytes) / config_.chip.l2_bandwidth;
}

std::uint64_t Timing::cycles(std::int64_t nanoseconds) {
  cycles_ += static_cast<double>(std::max<std::int64_t>(0, nanoseconds - cycles_at_)) * 1e-9 * sm_clock();
  cycles_at_ = std::max(cycles_at_, nanoseconds);
  return static_cast<std::uint64_t>(cycles_);
}

}  // namespace tailor::fake
