// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator's counters under the names of the vocabulary. Both are lists: a counter of an execution that the
// simulator lacks does not compile here, and a test finds one of the simulator's that the vocabulary lacks. Called
// after every simulated launch.
#include "profiler/check/launch_counts.h"

namespace tailor::profiler {

namespace {

ir::AccessCounts access(const simulator::RequestCounts& counts) {
  return {static_cast<double>(counts.requests), static_cast<double>(counts.sectors), static_cast<double>(counts.bytes)};
}

}  // namespace

ir::LaunchCounts launch_counts(const simulator::Simulation& run, std::size_t buffers) {
  ir::LaunchCounts to;
#define LAUNCH_COUNTER(name, unit, model, gpu, meaning) to.name = static_cast<double>(run.counters.name);
#include "ir/counters.def"
  for (std::size_t i = 0; i < buffers && i < run.buffers.size(); ++i)
    to.buffers.push_back({access(run.buffers[i].load), access(run.buffers[i].store), access(run.buffers[i].atomic)});
  to.blocks_run = run.blocks_run;
  to.blocks_total = run.blocks_total;
  return to;
}

ir::LaunchCounts launch_counts(const simulator::Simulation& run, const ir::Kernel& kernel) {
  ir::LaunchCounts to = launch_counts(run, std::size_t{0});
  std::vector<std::size_t> place;  // of each memory in the simulation
  for (std::size_t i = 0, next = 0; i < kernel.buffers.size(); ++i) {
    const auto id = static_cast<ir::BufferId>(i);
    const ir::BufferId memory = ir::owner(kernel, id);
    place.push_back(memory == id ? next++ : place[memory]);
    if (place.back() >= run.buffers.size()) break;
    const auto& seen = run.buffers[place.back()];
    ir::BufferCounts counts{access(seen.load), access(seen.store), access(seen.atomic)};
    if (memory != id) counts.load = {};
    if (memory == id && ir::memory_role(kernel, id) == ir::BufferRole::in_place) counts.store = counts.atomic = {};
    to.buffers.push_back(counts);
  }
  return to;
}

}  // namespace tailor::profiler
