// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What an execution of a kernel was counted to do, as data: whoever executed it (the simulator) fills this, and the
// cost model's level `counted` and the reports read it. Names, units and meanings are rows of counters.def, one
// vocabulary for all who count. Totals over the whole grid, scaled up when only some blocks ran.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/measurement.h"

namespace tailor::ir {

/// Requests are warp instructions with an active lane, sectors the distinct 32-byte ones each touches, bytes those of
/// the active lanes.
struct AccessCounts {
  double requests = 0, sectors = 0, bytes = 0;
  bool operator==(const AccessCounts&) const = default;
};

struct BufferCounts {
  AccessCounts load, store, atomic;
  bool operator==(const BufferCounts&) const = default;
};

struct LaunchCounts {
#define LAUNCH_COUNTER(name, unit, model, gpu, meaning) double name = 0;
#include "ir/counters.def"
  std::vector<BufferCounts> buffers;  ///< parallel to Kernel::buffers
  std::int64_t blocks_run = 0, blocks_total = 0;
  /// Of the instructions, when not all blocks ran: standard error as a fraction.
  double standard_error = 0;
  bool operator==(const LaunchCounts&) const = default;
};

/// One row of counters.def. Executions count it when `launch` is set (a total) or `direction` and `part` are (for each
/// buffer); otherwise only a GPU does.
struct CounterRow {
  std::string_view name, unit, meaning;
  double LaunchCounts::*launch = nullptr;
  AccessCounts BufferCounts::*direction = nullptr;
  double AccessCounts::*part = nullptr;
  /// Counters of a GPU whose sum stands beside it; none: a GPU does not count it.
  std::array<std::string_view, 2> on_gpu{};
};
std::span<const CounterRow> counter_table();

/// What an execution counted, summed over buffers; 0 for what only a GPU counts.
double value_of(const CounterRow& row, const LaunchCounts& counts);

/// "global[x]_load_requests": the name of a counter of one buffer.
std::string buffer_counter(const CounterRow& row, std::string_view buffer);

/// Everything an execution counted, by name and not 0: totals, then buffer by buffer (`buffers` are their names), then
/// `standard_error`. This is what databases hold.
std::vector<CounterValue> counter_values(const LaunchCounts& counts, std::span<const std::string> buffers);

}  // namespace tailor::ir
