// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator's counters and the vocabulary of counts say the same, in both directions, and every count arrives
// under its own name. Each of the simulator's counters is set to another number, so that an exchange of two would
// show. Part of the suite `profiler`.
#include "profiler/check/launch_counts.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace tailor;

namespace {

std::map<std::string, std::string> units_of_executions() {
  std::map<std::string, std::string> units;
  for (const ir::CounterRow& row : ir::counter_table())
    if (row.launch != nullptr || row.direction != nullptr) units[std::string(row.name)] = row.unit;
  return units;
}

}  // namespace

TEST_CASE("every counter of the simulator is one of the vocabulary and the other way round, in the same unit") {
  std::map<std::string, std::string> simulated;
  for (const simulator::CounterRow& row : simulator::counter_table()) simulated[std::string(row.name)] = row.unit;
  CHECK(simulated == units_of_executions());
}

TEST_CASE("each of the simulator's counters arrives under its own name") {
  for (const simulator::CounterRow& counter : simulator::counter_table()) {
    simulator::Simulation run;
    run.counters.*counter.value = 7;
    const ir::LaunchCounts counts = profiler::launch_counts(run, 0);
    for (const ir::CounterRow& row : ir::counter_table())
      if (row.launch != nullptr) CHECK(counts.*row.launch == (row.name == counter.name ? 7 : 0));
  }
}

TEST_CASE("the counts of each buffer arrive in their direction and part, and add up under the counter's name") {
  simulator::Simulation run;
  run.buffers = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}}, {{1, 1, 1}, {}, {}}};
  const ir::LaunchCounts counts = profiler::launch_counts(run, 2);
  std::map<std::string, double> values;
  const std::vector<std::string> buffers = {"x", "y"};
  for (const ir::CounterValue& value : ir::counter_values(counts, buffers)) values[value.name] = value.value;
  CHECK(values.size() == 9 + 18);
  CHECK(values["global_load_requests"] == 11);
  CHECK(values["global_atomic_bytes"] == 99);
  CHECK(values["global[x]_load_sectors"] == 2);
  CHECK(values["global[y]_store_bytes"] == 60);
  CHECK(values["global[y]_atomic_requests"] == 70);
}

TEST_CASE("of a memory that is written in place the input has the loads and the result the stores") {
  ir::Kernel kernel;
  kernel.buffers = {{"x", ir::DType::f32, 8, ir::BufferRole::input},
                    {"cache", ir::DType::f32, 8, ir::BufferRole::input},
                    {"out", ir::DType::f32, 8, ir::BufferRole::in_place, 1},
                    {"sum", ir::DType::f32, 8, ir::BufferRole::output}};
  simulator::Simulation run;
  run.buffers = {{{1, 2, 3}, {}, {}}, {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}}, {{}, {5, 6, 7}, {}}};
  const ir::LaunchCounts counts = profiler::launch_counts(run, kernel);
  REQUIRE(counts.buffers.size() == 4);
  CHECK(counts.buffers[0].load.bytes == 3);
  CHECK(counts.buffers[1] == ir::BufferCounts{{10, 20, 30}, {}, {}});
  CHECK(counts.buffers[2] == ir::BufferCounts{{}, {40, 50, 60}, {70, 80, 90}});
  CHECK(counts.buffers[3].store.sectors == 6);
}
