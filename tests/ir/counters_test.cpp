// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of counts: names are unique, every row has a unit and somebody who counts it, and named values are
// those of an execution. Every row of counters.def is looked at, and an execution in which each count is another
// number. Part of the suite `ir`.
#include "ir/counters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tailor;
using namespace tailor::ir;

TEST_CASE("every counter has a name of its own, a unit, and somebody who counts it") {
  std::set<std::string_view> names;
  for (const CounterRow& row : counter_table()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.unit.empty());
    CHECK((row.launch != nullptr || row.direction != nullptr || !row.on_gpu[0].empty()));
    CHECK((row.direction != nullptr) == (row.part != nullptr));
    CHECK_FALSE((row.direction != nullptr && row.launch != nullptr));
  }
  for (const CounterRow& row : counter_table())
    for (const std::string_view other : row.on_gpu) CHECK((other.empty() || names.contains(other)));
}

TEST_CASE("no two counters are the same number of an execution") {
  LaunchCounts counts;
  counts.buffers.resize(1);
  double next = 0;
  for (const CounterRow& row : counter_table()) {
    CAPTURE(row.name);
    CHECK(value_of(row, counts) == 0);  // no earlier row wrote it
    if (row.launch != nullptr) counts.*row.launch = ++next;
    if (row.direction != nullptr) counts.buffers[0].*row.direction.*row.part = ++next;
  }
  std::set<double> seen;
  const std::vector<std::string> buffers = {"x"};
  for (const CounterValue& value : counter_values(counts, {})) CHECK(seen.insert(value.value).second);
  CHECK(static_cast<double>(seen.size()) == next);
  CHECK(counter_values(counts, buffers).size() == seen.size() + 9);
}

TEST_CASE("what was not counted has no value, a sample's error is told") {
  LaunchCounts counts;
  CHECK(counter_values(counts, {}).empty());
  counts.standard_error = 0.25;
  CHECK(counter_values(counts, {}) ==
        std::vector<CounterValue>{{"standard_error", 0.25, "fraction of the instructions"}});
}
