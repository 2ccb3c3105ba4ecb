// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Timing as arithmetic. In: timestamps of kernels as CUPTI recorded them, and readings of the GPU's clocks. Out: the
// times of samples and of their launches, and the frequency the GPU ran at. Called by session/sampling.cpp. No CUDA
// here, so all of it is tested with invented numbers.
#pragma once

#include <cstdint>
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

/// The times of `samples` samples, each queued between two kernels `marker`: before the second of them the launches,
/// named `launches`, and before those whatever prepared them. The spans may come in any order. Or, in words, how they
/// differ from what was queued.
std::variant<std::vector<SampleTime>, std::string> sample_times(std::vector<KernelSpan> spans, std::string_view marker,
                                                                std::span<const std::string> launches,
                                                                std::size_t samples);

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
