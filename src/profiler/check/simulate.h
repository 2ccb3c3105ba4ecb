// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A compiled kernel on the simulator. In: a plan's kernel and its PTX. Out: what an execution wrote and found, and its
// counters. Given to check.h as the one who executes. The PTX is parsed and decoded once, each execution gets memory of
// its own.
#pragma once

#include "ir/binary.h"
#include "profiler/check/check.h"

namespace tailor::profiler {

/// Runs the binary's PTX, all launches of a program one behind the other. What cannot be parsed or decoded comes back
/// as a simulation that is `unsupported`. The kernel must outlive the executor; executors of different kernels may run
/// at the same time.
Executor make_simulator(const ir::Kernel& kernel, const ir::Binary& binary);
/// The same for kernels that are launched in other shapes than ours are, of which only the buffers are known: a shape
/// for each entry of the binary.
Executor make_simulator_of(const ir::Kernel& kernel, const ir::Binary& binary, std::vector<ir::LaunchShape> shapes);

}  // namespace tailor::profiler
