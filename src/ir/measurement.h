// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Measurement: what came of running compiled code on a GPU: how it ended, raw samples of its time, counters, and under
// which protocol. A protocol is part of what a time means: a cold and a warm time of one kernel are two measurements,
// never two samples of one. Records only; who measures is a profiler, who keeps them the store.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tailor::ir {

/// How a run of compiled code ended. Everything but ok has a reason in words beside it.
enum class Outcome : std::uint8_t {
  ok,
  wrong,           ///< a result differs from the reference beyond its tolerance
  overrun,         ///< a guard zone around a buffer was overwritten
  unloadable,      ///< the image is for another architecture, damaged, or has no such entry
  refused,         ///< the driver refused the launch: its shape, shared memory, cooperative residency
  no_memory,       ///< of the device
  illegal_access,  ///< an address that no allocation holds, or a misaligned one
  trapped,         ///< trap, failed assertion, illegal instruction
  timed_out,       ///< the time limit passed; the worker was killed
  crashed,         ///< the worker ended by itself
  unavailable,     ///< no driver, no permission, a library without that function
  not_recorded,    ///< replay has no such measurement
  stopped,         ///< the user asked to stop
};
std::string_view name(Outcome outcome);  ///< "ok", "wrong", "guard zone overwritten", ... : as stored
std::optional<Outcome> outcome_named(std::string_view name);
/// Whether a plan with this outcome may be nobody's best: it ran and did what no right kernel does.
bool is_refuted(Outcome outcome);

/// What the caches hold when a sample begins. cold: L2 holds other data, none of which must be written back; models
/// predict it. warm: the same launch ran just before. produced: as cold, then all inputs were written by another
/// kernel, as inside a model. dirty: L2 is full of other data that was just written, and whoever takes its place pays
/// for writing it back: what most benchmarks call cold.
enum class CacheState : std::uint8_t { cold, warm, produced, dirty };
std::string_view name(CacheState state);  ///< "cold", "warm", "produced", "dirty"
std::span<const std::string_view> cache_state_names();
std::optional<CacheState> cache_state_named(std::string_view name);

/// Who took the time. activity: CUPTI's timestamps of the kernel itself. events: two events around it in the stream, so
/// a part of the launch is in it.
enum class TimedBy : std::uint8_t { activity, events };
std::string_view name(TimedBy by);
std::optional<TimedBy> timed_by_named(std::string_view name);

/// stream: launches one by one. graph: the whole sequence captured once and launched as one CUDA graph.
enum class LaunchMode : std::uint8_t { stream, graph };
std::string_view name(LaunchMode mode);
std::optional<LaunchMode> launch_mode_named(std::string_view name);

/// How time was taken; part of a measurement's key.
struct Protocol {
  CacheState cache = CacheState::cold;
  TimedBy timed_by = TimedBy::activity;
  LaunchMode launch = LaunchMode::stream;
  std::string stop = "standard";  ///< row of the stop rules (profiler/measure/stop.h)
  bool operator==(const Protocol&) const = default;
};
/// "cold, activity, stream, stop standard"; parse_protocol reads it back.
std::string text(const Protocol& protocol);
std::optional<Protocol> parse_protocol(std::string_view text);

/// Why a GPU may run slower than it could, as bits (the driver's clock event reasons).
enum Throttle : std::uint32_t {
  throttle_power = 1,     ///< software power cap
  throttle_thermal = 2,   ///< software or hardware thermal slowdown
  throttle_hardware = 4,  ///< hardware slowdown, power brake
  throttle_sync = 8,      ///< sync boost, or clocks set by an application
};
std::string throttle_text(std::uint32_t bits);  ///< "power cap, thermal"; empty for none

/// One timed run.
struct Sample {
  Seconds duration;
  double sm_clock = 0;         ///< Hz during it; 0: not known
  std::uint32_t throttle = 0;  ///< bits of Throttle
  bool operator==(const Sample&) const = default;
};

/// One counter: the name in counters.def, its value over the whole launch.
struct CounterValue {
  std::string name;
  double value = 0;
  std::string unit;
  bool operator==(const CounterValue&) const = default;
};

/// A second run of a plan in its race, loaded apart from the first: what separates the two is nothing of the plan's, so
/// it says what the race could not tell apart.
struct TwinTime {
  Seconds median, low, high;  ///< of its samples, and the interval of the median
  std::int64_t samples = 0;
  bool told_apart = false;  ///< the race called one of the two slower: a false winner
  bool operator==(const TwinTime&) const = default;
};

struct Measurement {
  Outcome outcome = Outcome::unavailable;
  std::string reason;  ///< empty when ok
  Protocol protocol;
  std::vector<Sample> samples;          ///< in the order taken; none is dropped
  std::vector<CounterValue> counters;   ///< collected in runs of their own, never the timed ones
  double sm_clock = 0, dram_clock = 0;  ///< Hz, as the driver told before the samples; 0: not known
  std::string gpu;                      ///< "NVIDIA H200, GPU-1234…": name and UUID
  std::string driver;                   ///< "580.159, CUPTI 13.0"
  std::string measured_at;              ///< UTC, ISO 8601
  std::optional<TwinTime> twin;         ///< of one plan of a race
  bool operator==(const Measurement&) const = default;
};

}  // namespace tailor::ir
