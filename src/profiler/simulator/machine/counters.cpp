// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The counters' rows as a table.
#include "profiler/simulator/machine/counters.h"

#include <array>

namespace tailor::simulator {

std::span<const CounterRow> counter_table() {
  static constexpr auto table = std::to_array<CounterRow>({
#define COUNTER(name, unit, meaning) {#name, unit, meaning, &Counters::name},
#include "profiler/simulator/machine/counters.def"
#undef COUNTER
  });
  return table;
}

void add(RequestCounts& to, const RequestCounts& more) {
  to.requests += more.requests;
  to.sectors += more.sectors;
  to.bytes += more.bytes;
}

void add(BufferCounters& to, const BufferCounters& more) {
  add(to.load, more.load);
  add(to.store, more.store);
  add(to.atomic, more.atomic);
}

}  // namespace tailor::simulator
