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

}  // namespace tailor::profiler
