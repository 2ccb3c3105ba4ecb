// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the simulator counted, in the vocabulary of ir/counters.def: takes a Simulation, gives LaunchCounts. The one
// place where the two are paired; used by checks and by whoever stores an execution of another compiler's kernel. A
// test holds the two tables against each other, so no counter is lost on the way.
#pragma once

#include "ir/counters.h"
#include "ir/kernel/kernel.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::profiler {

/// `buffers` of the simulation's buffers, in their order.
ir::LaunchCounts launch_counts(const simulator::Simulation& run, std::size_t buffers);

/// Of one of our kernels, parallel to its buffers. What is written in place is one memory with the input that it
/// covers: loads are the input's, stores and atomics the result's.
ir::LaunchCounts launch_counts(const simulator::Simulation& run, const ir::Kernel& kernel);

}  // namespace tailor::profiler
