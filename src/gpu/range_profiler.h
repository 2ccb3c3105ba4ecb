// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Owners of what CUPTI's Range Profiler begins: the profiler of the process, and range profiling of one context with
// its passes and ranges. Each ends what it began when it goes, in whatever state a failure left it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/chip_host.h"

namespace tailor::gpu {

/// The profiler's switch of the whole process.
class Profiling {
 public:
  explicit Profiling(const Cupti& api);
  ~Profiling();
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;
  const Called& made() const { return made_; }

 private:
  const Cupti& api_;
  Called made_;
};

/// Range profiling of a context: one range that we name, replayed by us. When it was not made nothing may be called.
class RangeProfiler {
 public:
  RangeProfiler(const Cupti& api, CUcontext context);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  const Called& made() const { return made_; }

  /// An empty image for the counters of one range.
  Called size_counters(std::span<const char*> metrics, std::vector<std::uint8_t>& image) const;
  /// Both must stay where they are until decode().
  Called configure(std::span<const std::uint8_t> schedule, std::span<std::uint8_t> counters) const;
  Called start();
  Called push();
  Called pop();
  Called stop(bool& all_submitted);
  Called decode(std::size_t& dropped) const;

 private:
  const Cupti& api_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  Called made_;
  bool started_ = false, pushed_ = false;
};

}  // namespace tailor::gpu
