// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the simulator counted, in the vocabulary of ir/counters.def: takes a Simulation, gives LaunchCounts. The one
// place where the two are paired; used by checks and by whoever stores an execution of another compiler's kernel. A
// test holds the two tables against each other, so no counter is lost on the way.
#pragma once

#include "ir/counters.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::profiler {

/// `buffers` of the simulation's buffers, in their order.
ir::LaunchCounts launch_counts(const simulator::Simulation& run, std::size_t buffers);

}  // namespace tailor::profiler
