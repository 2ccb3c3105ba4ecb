// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Timing as arithmetic. In: timestamps of kernels as CUPTI recorded them, and readings of the GPU's clocks. Out: the
// times of samples and of their launches, and the frequency the GPU ran at. Called by session/sampling.cpp. No CUDA
// here, so all of it is tested with invented numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"

namespace tailor::gpu {

/// One kernel that ran, as CUPTI tells: nanoseconds of one clock. Both 0: not told.
struct KernelSpan {
  std::string name;
  std::uint64_t start = 0, end = 0;
};

struct SampleTime {
  Seconds whole;                  ///< from the start of the first launch to the end of the last
  std::vector<Seconds> launches;  ///< of each launch
};

/// What was queued for one sample.
struct QueuedSample {
  std::string_view marker;                ///< the kernel before and behind it
  std::span<const std::string> launches;  ///< what is timed
  std::size_t prepared = 0;               ///< kernels between the first marker and the launches
  /// Names of all kernels that this process ever loaded; nullptr: of none. CUPTI knows kernels by their handles, and a
  /// handle that the driver gives to a new kernel is recorded under the old one's name (seen with CUPTI 13.0, driver
  /// 580). So such a name says nothing, and the number of records must then be exactly what was queued.
  const std::set<std::string, std::less<>>* loaded = nullptr;
};

/// The times of `samples` samples. The spans may come in any order. Or, in words, how they differ from what was queued.
std::variant<std::vector<SampleTime>, std::string> sample_times(std::vector<KernelSpan> spans,
                                                                const QueuedSample& queued, std::size_t samples);

/// What the kernel tailor_clock writes.
struct ClockReading {
  std::uint64_t cycles = 0;       ///< of the SM's clock
  std::uint64_t nanoseconds = 0;  ///< of the GPU's global timer, which ticks in steps of up to a microsecond
  std::uint32_t sm = 0, unused = 0;
};

/// Hz between readings `first` and `last`, widened to their neighbours where they are too close for the timer's steps;
/// 0 when the readings are of different SMs, run backwards, or are too close together even when all are used.
double clock_between(std::span<const ClockReading> readings, std::size_t first, std::size_t last);

}  // namespace tailor::gpu
