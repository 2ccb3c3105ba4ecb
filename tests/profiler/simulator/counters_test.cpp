// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of the simulator's counters: every row has a name and a unit, and no two rows share a name or a field. One
// is written into each row's field in turn, which must still be zero when its turn comes. Part of the suite
// `simulator`; docs/simulator.md is held against the same table by documentation_test.cpp.
#include "profiler/simulator/machine/counters.h"

#include <set>

#include "doctest/doctest.h"

namespace tailor::simulator {
namespace {

TEST_CASE("every counter has its own name, unit and field") {
  std::set<std::string_view> names;
  Counters counters;
  for (const CounterRow& row : counter_table()) {
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.unit.empty());
    CHECK(counters.*row.value == 0);  // no earlier row shares the field
    counters.*row.value = 1;
  }
}

}  // namespace
}  // namespace tailor::simulator
