// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of counters.def as a table, and sums of requests. In: counts of several machines or sites. Out: their sum.
// Called by Machine when it adds up what its sites counted, by simulate.cpp at the end of a launch, and by whoever
// prints counters by name.
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
