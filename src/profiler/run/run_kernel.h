// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Anybody's kernel on the simulator: a parsed PTX module, an entry, a RunSpec; out come the findings, the counters,
// what the buffers hold afterwards and how far that is from what was expected. Several seeds run it under as many
// schedules. Called by tailor run and by the tests' corpus of kernels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/npy.h"
#include "profiler/run/run_text.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::profiler {

/// What a buffer is to hold afterwards.
struct ExpectedBuffer {
  std::string buffer;
  NpyArray array;
};

struct RunOptions {
  simulator::SimulationOptions simulation;  ///< its seed is the first schedule's; machine and limit are the spec's
  std::int64_t seeds = 1;
  std::int64_t sample_blocks = 0;  ///< run the first, the last and others at random, about so many; 0: all
  std::vector<ExpectedBuffer> expected;
  double tolerance = -1;  ///< largest |found - expected| / max(1, |expected|); negative or NaN: by the buffer's type
};

/// Found against expected, element by element. NaN equals NaN.
struct BufferComparison {
  std::int64_t elements = 0, wrong = 0;
  double worst = 0;    ///< of |found - expected| / max(1, |expected|)
  std::string reason;  ///< the first wrong element; empty when none is
};

struct BufferAfter {
  std::vector<std::byte> bytes;  ///< after the first schedule
  simulator::BufferCounters counters;
  std::optional<BufferComparison> compared;  ///< the worst of all schedules
  bool differs = false;                      ///< another schedule left other bytes
};

struct KernelRun {
  simulator::Simulation simulation;  ///< of the first schedule; findings of all, each once
  std::vector<BufferAfter> buffers;  ///< as in the spec
  std::int64_t schedules = 0;        ///< that were run
};

/// Difference that a type allows where nobody says otherwise: two units in the last place of 16 bits, 2e-5 of f32,
/// 1e-12 of f64, none of integers.
double default_tolerance(ir::DType dtype);

/// The function's arguments against the spec's, in words; nothing when they fit. PTX knows sizes and no types.
std::optional<std::string> refuse_arguments(const simulator::PtxFunction& entry, const RunSpec& spec);

/// The entry that is meant: its name, a part "add" of a mangled name "_Z3addPf", or the only one when `name` is empty.
/// Throws Error(usage) naming those there are.
const simulator::PtxFunction& find_entry(const simulator::PtxModule& module, std::string_view name);

/// Throws Error(usage) where the arguments do not fit the entry or an expected buffer none of the spec's, Error(failed)
/// without the memory. What the kernel does is in the answer.
KernelRun run_kernel(const simulator::PtxModule& module, const simulator::PtxFunction& entry, const RunSpec& spec,
                     const RunOptions& options);

}  // namespace tailor::profiler
