// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Executes a kernel of XLA's own on the simulator and holds its results against the reference: the fusion's computation
// becomes a graph, seeded inputs go into memory in the layouts XLA chose, results that share an operand's bytes share
// them here too. Nothing is measured in time; the counters say what the kernel asked of memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/simulator/machine/launch.h"
#include "profiler/xla/xla_dump.h"
#include "reference/evaluate.h"

namespace tailor::profiler {

enum class XlaOutcome : std::uint8_t {
  matched,          ///< every result within its tolerance, no finding
  differs,          ///< a result is wrong
  findings,         ///< results are right, but the simulator found an error in the kernel
  cannot_simulate,  ///< an instruction, or a launch, the simulator refuses
  cannot_evaluate,  ///< an operation without semantics in the reference
  not_bound,        ///< parts of the kernel are missing from the dump
  too_large,        ///< beyond XlaCheckOptions::most_elements, and nothing to be sampled
};
std::string_view name(XlaOutcome outcome);  ///< "matched", "cannot simulate"

struct XlaCheckOptions {
  std::uint64_t seed = 1;
  std::int64_t seeds =
      1;  ///< as many sets of inputs and schedules, from `seed` on, up to the first that does not match
  /// Kernels whose graph computes more elements than this, all nodes together, are left out; 0: none is.
  std::int64_t most_elements = 0;
  /// Of kernels beyond `most_elements`, run about so many blocks spread over the grid, and judge what these wrote; 0:
  /// they are left out. Counters then stand for all blocks.
  std::int64_t sample_blocks = 0;
  simulator::SimulationOptions simulation;
};

struct XlaCheck {
  XlaOutcome outcome = XlaOutcome::not_bound;
  std::string reason;         ///< why not matched, or what of it was run: one sentence
  double worst = 0;           ///< largest error over its tolerance
  std::int64_t elements = 0;  ///< computed by the graph, all nodes together
  std::int64_t results = 0;   ///< elements compared
  std::int64_t unjudged = 0;  ///< of them, those without a bound
  bool executed = false;      ///< `simulation` is of a whole run, or scaled from a sample to one
  simulator::Simulation simulation;
  Seconds evaluation{0};  ///< time of the reference
};

/// The computation of a kernel's fusion as a graph: parameter i is its operand i, output i its result i. Throws
/// Error(failed) when there is none.
ir::Graph graph_of(const XlaModule& module, const XlaKernel& kernel);

/// Elements all nodes of the graph compute: what the reference costs.
std::int64_t elements_computed(const ir::Graph& graph);

/// Never throws for what is wrong with one kernel; Error(interrupted) when its simulation is asked to stop.
XlaCheck check(const XlaModule& module, const XlaKernel& kernel, const XlaCheckOptions& options = {});

}  // namespace tailor::profiler
