// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Noise is a function of the seed and the number of the launch.
#include "fake_gpu/timing.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tailor::fake {
namespace {

constexpr int sector_bytes = 32;
constexpr double profiling_slows = 1.4;

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double uniform(std::uint64_t seed) { return static_cast<double>(mixed(seed) >> 11) * 0x1p-53; }

}  // namespace

std::int64_t L2::holds(int allocation) const {
  for (const auto& [one, bytes] : lines_)
    if (one == allocation) return bytes;
  return 0;
}

void L2::touch(int allocation, std::int64_t bytes) {
  if (bytes <= 0) return;
  const std::int64_t before = holds(allocation);
  forget(allocation);
  lines_.insert(lines_.begin(), {allocation, std::min(capacity_, std::max(before, bytes))});
  std::int64_t room = capacity_;
  for (auto& [one, held] : lines_) {
    held = std::min(held, room);
    room -= held;
  }
  std::erase_if(lines_, [](const auto& line) { return line.second == 0; });
}

void L2::forget(int allocation) {
  std::erase_if(lines_, [&](const auto& line) { return line.first == allocation; });
}

Timing::Timing(const Config& config) : config_(config), l2_(config.chip.l2_bytes) {
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
  return chip.kernel_floor + std::max({dram, l2, issue});
}

void Timing::settle(Work& work, const simulator::Simulation& ran, std::string_view kernel) {
  work.counters = ran.counters;
  work.blocks = ran.blocks_total;
  std::int64_t read_hits = 0, write_hits = 0;
  for (std::size_t b = 0; b < ran.buffers.size(); ++b) {
    const simulator::BufferCounters& one = ran.buffers[b];
    const std::int64_t held = l2_.holds(static_cast<int>(b));
    read_hits += std::min(held, (one.load.sectors + one.atomic.sectors) * sector_bytes);
    write_hits += std::min(held, one.store.sectors * sector_bytes);
  }
  work.dram_read = std::max<std::int64_t>(0, ran.counters.dram_read_bytes - read_hits);
  work.dram_write = ran.counters.dram_write_bytes;
  const std::int64_t missed = work.dram_read + std::max<std::int64_t>(0, work.dram_write - write_hits);
  for (std::size_t b = 0; b < ran.buffers.size(); ++b) {
    const simulator::BufferCounters& one = ran.buffers[b];
    l2_.touch(static_cast<int>(b), (one.load.sectors + one.store.sectors + one.atomic.sectors) * sector_bytes);
  }
  ++launches_;
  double seconds = modelled(work, missed);
  for (const auto& [pattern, planted] : planted_)
    if (std::regex_search(kernel.begin(), kernel.end(), pattern)) seconds = planted;
  work.seconds = seconds * noise() * config_.chip.sm_clock / sm_clock() * (profiled ? profiling_slows : 1);
}

double Timing::filled(int allocation, std::int64_t bytes) {
  l2_.touch(allocation, bytes);
  return config_.chip.kernel_floor + static_cast<double>(bytes) / config_.chip.dram_bandwidth;
}

double Timing::copied(int from, int to, std::int64_t bytes) {
  l2_.touch(from, bytes);
  l2_.touch(to, bytes);
  return config_.chip.kernel_floor + 2 * static_cast<double>(bytes) / config_.chip.dram_bandwidth;
}

}  // namespace tailor::fake
