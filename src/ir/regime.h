// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Regime: what a time contains. The same kernel takes different times by CUPTI's timestamps, in a row of launches or in
// a call of a framework, and none of them is wrong: a prediction answers for one regime, and only times of one regime
// are compared. Models are asked with a regime, measurements and observations carry theirs.
#pragma once

#include <string>
#include <string_view>

#include "ir/measurement.h"

namespace tailor::ir {

/// Who took the time, and around what. activity: timestamps of the kernel itself. events: two events around one launch
/// in a stream. stream: a row of launches one behind the other, divided by their number. graph: the same in a CUDA
/// graph. host: a clock of the host, or events, around a call of a framework on an idle device.
enum class Timer : std::uint8_t { activity, events, stream, graph, host };
std::string_view name(Timer timer);
std::optional<Timer> timer_named(std::string_view name);

/// What a time contains beside the work of the kernel's blocks.
struct Includes {
  bool launch_gap = false;      ///< from the end of one kernel to the start of the next
  bool ramp = false;            ///< start of the first blocks and drain of the last: inside an empty kernel too
  bool dispatch_floor = false;  ///< no call returns sooner than the host can dispatch one
  bool operator==(const Includes&) const = default;
};
/// What a time by `timer` contains, as a table.
Includes includes(Timer timer);

/// The default is what predictions mean: a kernel in a row of launches, its inputs in memory.
struct Regime {
  CacheState cache = CacheState::cold;
  Timer timer = Timer::stream;
  LaunchMode launch = LaunchMode::stream;
  Includes includes{true, true, false};
  bool operator==(const Regime&) const = default;
};

/// "cold, stream, stream, with launch gap and ramp"; "warm, host, stream, with launch gap and ramp and dispatch floor";
/// "cold, activity, stream, with nothing". parse_regime reads it back and throws Error(failed) naming the field it does
/// not know.
std::string text(const Regime& regime);
Regime parse_regime(std::string_view text);

/// The regime of what a profiler measured under `protocol`.
Regime make_regime(const Protocol& protocol);

}  // namespace tailor::ir
