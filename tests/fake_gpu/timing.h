// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How long things take on the fake GPU, from what moved and what L2 held before. Not a model of any GPU: it only puts
// cold, warm and produced in the right order, grows with bytes and instructions, and never looks at the host's clock,
// so equal calls give equal times on every machine.
#pragma once

#include <cstdint>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "fake_gpu/config.h"
#include "simulator/launch.h"

namespace tailor::fake {

/// Which allocations have how many bytes in L2, the last used first.
class L2 {
 public:
  explicit L2(std::int64_t capacity) : capacity_(capacity) {}
  std::int64_t holds(int allocation) const;
  /// `bytes` of the allocation were read or written.
  void touch(int allocation, std::int64_t bytes);
  void forget(int allocation);

 private:
  std::int64_t capacity_;
  std::vector<std::pair<int, std::int64_t>> lines_;
};

/// What one kernel did: the simulator's counters, and its traffic with DRAM as L2 left it.
struct Work {
  simulator::Counters counters;
  std::int64_t dram_read = 0, dram_write = 0;  ///< bytes
  std::int64_t blocks = 0, threads_per_block = 0;
  double seconds = 0;
};

class Timing {
 public:
  explicit Timing(const Config& config);

  /// Fills in traffic and time of a launch that ran, and lets it pass through L2.
  void settle(Work& work, const simulator::Simulation& ran, std::string_view kernel);
  /// Seconds of writing (and reading, for a copy) bytes of allocations.
  double filled(int allocation, std::int64_t bytes);
  double copied(int from, int to, std::int64_t bytes);
  void forget(int allocation) { l2_.forget(allocation); }

  const ThrottleStep& throttle() const;
  double sm_clock() const;  ///< Hz
  bool profiled = false;    ///< counters are collected, which slows

 private:
  double modelled(const Work& work, std::int64_t missed) const;
  double noise();

  const Config& config_;
  L2 l2_;
  std::vector<std::pair<std::regex, double>> planted_;
  std::int64_t launches_ = 0;
};

}  // namespace tailor::fake
