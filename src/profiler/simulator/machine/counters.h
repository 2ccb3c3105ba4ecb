// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a launch is counted in: one field per row of counters.def, totals per buffer and per instruction. Filled by the
// machine, handed out with a Simulation, compared with what costmodel counts and with a GPU's counters. Plain numbers
// that add up: blocks that ran on different host threads are summed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tailor::simulator {

struct Counters {
#define COUNTER(name, unit, meaning) std::int64_t name = 0;
#include "profiler/simulator/machine/counters.def"
#undef COUNTER
  bool operator==(const Counters&) const = default;
};

struct CounterRow {
  std::string_view name, unit, meaning;
  std::int64_t Counters::*value;
};
std::span<const CounterRow> counter_table();

/// Requests are warp instructions with an active lane, sectors the distinct 32-byte ones each touches, bytes those of
/// the active lanes. For shared memory `sectors` counts wavefronts.
struct RequestCounts {
  std::int64_t requests = 0, sectors = 0, bytes = 0;
  bool operator==(const RequestCounts&) const = default;
};

struct BufferCounters {
  RequestCounts load, store, atomic;
  bool operator==(const BufferCounters&) const = default;
};
void add(RequestCounts& to, const RequestCounts& more);
void add(BufferCounters& to, const BufferCounters& more);

/// One instruction that touches memory.
struct SiteCounters {
  std::int64_t ptx_line = 0, source_line = 0;
  std::string_view opcode;  ///< views the program
  RequestCounts counts;
  bool operator==(const SiteCounters&) const = default;
};

}  // namespace tailor::simulator
