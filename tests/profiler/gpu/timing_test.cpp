// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From timestamps to times, and from readings of counters to a clock, by arithmetic that can be checked on paper.
// Timestamps and readings are invented here, among them records that do not fit what was queued, which must give a
// reason and no time. Part of the suite `gpu`; needs no GPU.
#include "profiler/gpu/cupti/timing.h"
#include "support/approx.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace {

using namespace tailor;
using gpu::ClockReading;
using gpu::KernelSpan;
using gpu::SampleTime;

constexpr std::string_view marker = "clock";
const std::vector<std::string> two = {"first", "second"};

/// One sample of the two launches after `own` kernels of ours, from `start` on: 100 and 250 ns, 40 ns apart.
void add_sample(std::vector<KernelSpan>& spans, std::uint64_t start, int own) {
  spans.push_back({"fill", start + 1, start + 2});  // before the sample: what resets buffers
  spans.push_back({"clock", start + 10, start + 12});
  for (int i = 0; i < own; ++i) spans.push_back({"touch", start + 100 + 10 * i, start + 105 + 10 * i});
  spans.push_back({"first", start + 500, start + 600});
  spans.push_back({"second", start + 640, start + 890});
  spans.push_back({"clock", start + 900, start + 902});
}

std::string reason(std::vector<KernelSpan> spans, std::size_t samples = 1) {
  const auto times = gpu::sample_times(std::move(spans), {marker, two}, samples);
  const std::string* text = std::get_if<std::string>(&times);
  return text == nullptr ? "" : *text;
}

}  // namespace

TEST_CASE("a sample lasts from the start of its first launch to the end of its last, whatever came before") {
  std::mt19937 random(7);
  for (int own : {0, 1, 5}) {
    std::vector<KernelSpan> spans;
    for (std::uint64_t i = 0; i < 20; ++i) add_sample(spans, 5000 * (i + 1), own);
    std::shuffle(spans.begin(), spans.end(), random);
    const auto found = gpu::sample_times(spans, {marker, two}, 20);
    REQUIRE(std::holds_alternative<std::vector<SampleTime>>(found));
    for (const SampleTime& time : std::get<std::vector<SampleTime>>(found)) {
      CHECK(time.whole.value == approx(390e-9));
      REQUIRE(time.launches.size() == 2);
      CHECK(time.launches[0].value == approx(100e-9));
      CHECK(time.launches[1].value == approx(250e-9));
    }
  }
}

TEST_CASE("records that do not fit what was queued give a reason and no time") {
  std::vector<KernelSpan> good;
  add_sample(good, 1000, 1);
  CHECK(reason(good).empty());
  for (std::size_t i = 1; i < good.size(); ++i) {
    if (good[i].name == "touch") continue;  // one of ours more or less changes nothing
    std::vector<KernelSpan> fewer = good;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_FALSE(reason(fewer).empty());
  }
  CHECK(reason(good, 2) == "of 4 kernels that mark samples 2 were recorded");
  std::vector<KernelSpan> other = good;
  other[3].name = "stranger";
  CHECK(reason(other) == "kernel stranger was recorded where first was queued");
  std::vector<KernelSpan> untimed = good;
  untimed[3].end = 0;
  CHECK(reason(untimed) == "kernel first was recorded without times");
}

TEST_CASE("a name of an earlier kernel with the same handle is believed where the number of records is exact") {
  const std::set<std::string, std::less<>> loaded = {"first", "second", "earlier"};
  std::vector<KernelSpan> renamed;
  add_sample(renamed, 1000, 1);
  renamed[3].name = "earlier";
  const auto judged = [&](std::vector<KernelSpan> spans, std::size_t prepared) {
    const auto times = gpu::sample_times(std::move(spans), {marker, two, prepared, &loaded}, 1);
    const std::string* text = std::get_if<std::string>(&times);
    return text == nullptr ? "" : *text;
  };
  CHECK(judged(renamed, 1).empty());
  for (const std::size_t other : {0, 2})
    CHECK(judged(renamed, other) == "kernel earlier was recorded where first was queued");
  CHECK(reason(renamed) == "kernel earlier was recorded where first was queued");  // nobody knows of an earlier one
  std::vector<KernelSpan> stranger = renamed;
  stranger[3].name = "stranger";
  CHECK(judged(stranger, 1) == "kernel stranger was recorded where first was queued");
  std::vector<KernelSpan> fewer = renamed;
  fewer.erase(fewer.begin() + 3);
  CHECK_FALSE(judged(fewer, 1).empty());
}

TEST_CASE("a sequence without launches takes no time") {
  const auto found = gpu::sample_times({{"clock", 5, 6}, {"clock", 8, 9}}, {marker, {}}, 1);
  REQUIRE(std::holds_alternative<std::vector<SampleTime>>(found));
  CHECK(std::get<std::vector<SampleTime>>(found).at(0).whole.value == 0);
}

TEST_CASE("the clock is cycles over time between two readings of one SM") {
  const std::vector<ClockReading> readings = {{1000, 5'000'000, 0, 0}, {199'000, 5'100'000, 0, 0}};
  CHECK(gpu::clock_between(readings, 0, 1) == approx(1.98e9));
  std::vector<ClockReading> other_sm = readings;
  other_sm[1].sm = 1;
  CHECK(gpu::clock_between(other_sm, 0, 1) == 0);
  std::vector<ClockReading> backwards = {readings[1], readings[0]};
  CHECK(gpu::clock_between(backwards, 0, 1) == 0);
  std::vector<ClockReading> stopped = readings;
  stopped[1].cycles = stopped[0].cycles;
  CHECK(gpu::clock_between(stopped, 0, 1) == 0);
}

TEST_CASE("readings too close for the timer's steps are widened to their neighbours") {
  // A timer that ticks every microsecond, readings every 3 us, a clock of 1.5 GHz.
  std::vector<ClockReading> readings;
  for (std::uint64_t i = 0; i < 64; ++i) readings.push_back({4500 * i + 77, 3000 * i / 1000 * 1000 + 1000, 3, 0});
  for (std::size_t i = 0; i + 1 < readings.size(); ++i)
    CHECK(gpu::clock_between(readings, i, i + 1) == approx(1.5e9).epsilon(0.03));
  CHECK(gpu::clock_between(std::span(readings).first(2), 0, 1) == 0);
  for (ClockReading& reading : readings) reading.nanoseconds = 0, reading.cycles = 0;  // no clock at all
  CHECK(gpu::clock_between(readings, 5, 6) == 0);
}
