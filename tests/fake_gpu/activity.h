// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's activity records of kernels. In: kernels that ran, and the buffers that a user of CUPTI gives. Out: records
// in those buffers. As with the real library a record may reach the user only after its kernel ended and somebody
// waited for it; whoever flushes too early gets nothing. Buffers are asked of the user, filled and given back within
// the flush. Other kinds of records can be enabled and never come.
#pragma once

#include <cupti.h>

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "fake_gpu/config.h"

namespace tailor::fake {

/// ns; timestamps look like those of a real day.
inline constexpr std::int64_t epoch = 1'700'000'000'000'000'000;

struct KernelRecord {
  std::string name;
  std::int64_t start = 0, end = 0;  ///< ns
  int registers = 0;
  std::array<std::uint32_t, 3> grid{}, block{}, cluster{};
  std::int64_t static_shared = 0, dynamic_shared = 0;
  std::uint32_t stream = 0, correlation = 0, graph = 0;
  std::uint64_t graph_node = 0;
};

class Activity {
 public:
  explicit Activity(const Config& config) : config_(config) {}

  CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
  CUptiResult enable(CUpti_ActivityKind kind, bool on);
  bool records_kernels() const;
  void add(KernelRecord record);
  /// Somebody waited for all kernels of a stream; without one: of all streams.
  void waited_for(std::uint32_t stream);
  void waited_for_all();
  CUptiResult flush();
  static CUptiResult next(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record);
  std::size_t take_dropped();

 private:
  bool deliver_one_buffer();
  CUpti_ActivityKernel10 made_of(const KernelRecord& record);

  const Config& config_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::set<CUpti_ActivityKind> enabled_;
  std::deque<KernelRecord> running_, finished_;
  std::set<std::string> names_;  ///< records point into it
  std::size_t dropped_ = 0;
  std::int64_t seen_ = 0;
};

}  // namespace tailor::fake
