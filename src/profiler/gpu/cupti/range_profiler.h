// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Owners of what CUPTI's Range Profiler begins: the profiler of the process, and range profiling of one context with
// its passes and ranges. Used by count.cpp, and by open.cpp to ask for a chip's name. Each ends what it began when it
// goes, in whatever state a failure left it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/gpu/cupti/chip_host.h"

namespace tailor::gpu {

/// The profiler's switch of the whole process.
class Profiling {
 public:
  explicit Profiling(const Cupti& api);
  ~Profiling();
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;
  const CuptiStatus& status() const { return status_; }

 private:
  const Cupti& api_;
  CuptiStatus status_;
};

/// Range profiling of a context: one range that we name, replayed by us. When it was not made nothing may be called.
class RangeProfiler {
 public:
  RangeProfiler(const Cupti& api, CUcontext context);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  const CuptiStatus& status() const { return status_; }

  /// An empty image for the counters of one range.
  CuptiStatus size_counters(std::span<const char*> metrics, std::vector<std::uint8_t>& image) const;
  /// Both must stay where they are until decode().
  CuptiStatus configure(std::span<const std::uint8_t> schedule, std::span<std::uint8_t> counters) const;
  CuptiStatus start();
  CuptiStatus push();
  CuptiStatus pop();
  CuptiStatus stop(bool& all_submitted);
  CuptiStatus decode(std::size_t& dropped) const;

 private:
  const Cupti& api_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  CuptiStatus status_;
  bool started_ = false, pushed_ = false;
};

}  // namespace tailor::gpu
