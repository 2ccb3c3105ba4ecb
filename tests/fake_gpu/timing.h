// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How long things take on the fake GPU. In: what moved and what L2 held before. Out: nanoseconds. Called by run.cpp.
// Not a model of any GPU: it only puts cold, warm and produced in the right order, grows with bytes and instructions,
// and never looks at the host's clock, so equal calls give equal times on every machine.
#pragma once

#include <cstdint>
#include <regex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fake_gpu/cache.h"
#include "fake_gpu/config.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::fake {

/// What one kernel did: the simulator's counters, and its traffic with DRAM as L2 left it.
struct Work {
  simulator::Counters counters;
  std::int64_t dram_read = 0;   ///< bytes
  std::int64_t dram_write = 0;  ///< bytes written back meanwhile, whoever had written them
  std::int64_t blocks = 0, threads_per_block = 0;
  double seconds = 0;  ///< of the GPU
  double elapsed = 0;  ///< of the range: of one that the caller names, from its push to its pop by the host's clock
};

class Timing {
 public:
  explicit Timing(const Config& config);

  /// Fills in traffic and time of a launch that ran over these segments, and lets it pass through L2.
  void settle(Work& work, const simulator::Simulation& ran, std::span<const Segment> given, std::string_view kernel);
  /// Seconds of reading or writing memory: at the speed of L2, and of DRAM for what must come from there or go there.
  double moved(std::uint64_t begin, std::int64_t bytes, bool written);
  Cache& cache() { return cache_; }

  const ThrottleStep& throttle() const;
  double sm_clock() const;  ///< Hz
  /// The SMs' cycles at a time; time only goes on.
  std::uint64_t cycles(std::int64_t nanoseconds);
  bool profiled = false;  ///< counters are collected, which slows

 private:
  double modelled(const Work& work, std::int64_t missed) const;
  double noise();

  const Config& config_;
  Cache cache_;
  std::vector<std::pair<std::regex, double>> planted_;
  std::int64_t launches_ = 0;
  double cycles_ = 0;
  std::int64_t cycles_at_ = 0;  ///< ns
};

}  // namespace tailor::fake
