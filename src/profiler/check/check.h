// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Is a compiled kernel right? It is executed on seeded inputs, what it wrote is compared with the reference within the
// reference's own bounds (reference/error_bound.h), and what the execution found (out of bounds, races, ...) is part of
// the verdict. The reference of a group is evaluated once and serves all of its plans.
//
// Who executes is a parameter: the simulator (simulate.h), or a stand-in of the tests.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ir/counters.h"
#include "ir/device.h"
#include "ir/fusion.h"
#include "ir/kernel/kernel.h"
#include "profiler/check/given.h"
#include "profiler/check/repeats.h"
#include "profiler/simulator/machine/launch.h"
#include "reference/error_bound.h"

namespace tailor::profiler {

/// unsound: something was found that no right kernel does, whatever the results. not_judged: it ran and nothing was
/// found, but no result says whether it is right. not_executed: the simulator cannot, there is not the memory, or the
/// reference has no semantics for an operation; `reason` says which.
enum class Verdict : std::uint8_t { passed, wrong, unsound, timed_out, not_judged, not_executed, stopped };
std::string_view name(Verdict state);

/// Inputs of a group and what it makes of them; with `repeats` of as many steps as are kept, which the others repeat.
struct Reference {
  std::uint64_t seed = 1;
  ir::Arithmetic arithmetic = ir::Arithmetic::xla;  ///< of the kernels that the bounds are for
  std::vector<reference::Tensor> inputs;
  std::vector<reference::BoundedTensor> outputs;
  std::shared_ptr<const Repeats> repeats;  ///< null: inputs and outputs are those of the whole group
  std::string
      inputs_are;  ///< "as their uses ask" (reference/inputs.h), or another variant where that leaves little to judge
  double judged = 1;   ///< fraction of output elements that have a bound
  std::string reason;  ///< when not empty: there is no reference, for this reason
  bool late = false;   ///< which is that it takes longer than the time limit
};

/// Bytes that evaluating all of a group takes at most at once, outputs with their bounds among them, inputs not.
/// `parts` is parts_of() it.
std::int64_t bytes_to_evaluate(const ir::Graph& graph, const std::optional<Parts>& parts);

/// Evaluates a group on seeded inputs. Where much of the result would still be NaN, infinite or without a bound it
/// tries positive inputs and masks and keeps the best; of a large group it tries that on a part of the rows. With
/// `repeats`, which are of this group, a few steps are all that is made. A group that the evaluator has no semantics
/// for, or that takes more memory than the machine has free, gets a reason. Error(interrupted) when asked to stop.
Reference evaluate_reference(const ir::Group& group, std::uint64_t seed,
                             std::shared_ptr<const Repeats> repeats = nullptr, const std::stop_token& stop = {},
                             const reference::ErrorBoundOptions& bounds = {});
/// Inputs of the same kind without edges, as times are taken on: among edges a warp takes ways that it hardly ever
/// takes on numbers (the long reduction of a sine's argument), and where all warps read one of them they all do.
/// `reference` is one of evaluate_reference() without repeats, of this group. Error(interrupted) when asked to stop.
std::vector<reference::Tensor> plain_inputs(const ir::Group& group, const Reference& reference,
                                            const std::stop_token& stop = {});

/// The same on given inputs, with the seed of schedules. Where somebody says what outputs are to be, a second reference
/// follows that says so, within its own bounds and the first one's together.
std::vector<Reference> evaluate_given(const ir::Group& group, const GivenArrays& given, std::uint64_t seed,
                                      const std::stop_token& stop = {},
                                      const reference::ErrorBoundOptions& bounds = {});
/// How a large group may repeat: along its outermost dimension, or one further in where there are few outer steps or
/// they are large; null where it cannot because steps depend on one another.
std::shared_ptr<const Repeats> repeats_of(const ir::Graph& graph);

struct CheckOptions {
  std::uint64_t seed = 1;  ///< of the schedule and of the sample
  int threads = 1;         ///< of the host
  bool sanitize = true;
  bool count_cache = false;  ///< DRAM and L2 bytes too
  /// Run about so many blocks only, spread at random; 0: all. Blocks that put a result together run all or none, so of
  /// a kernel with few such results all run.
  std::int64_t sample_blocks = 0;
  /// Of a launch with a larger array, or with more than four times as much in all arrays together, a sample of blocks
  /// runs that touches about sampled_elements of the largest; 0: no launch is too large. The same of one that executes
  /// more than steps_of_element statements for each element of so large an array. Not of one whose blocks add up what
  /// others wrote.
  std::int64_t most_elements = 0;
  bool may_shrink = true;        ///< --shape small is there to be asked for, and was not
  bool has_limits = true;        ///< so are --memory and --time-limit; else tailor check has them
  Seconds time_limit{60};        ///< of all executions of one kernel together
  std::int64_t most_memory = 0;  ///< bytes that a sample of the blocks may touch; 0: no limit
  simulator::MachineLimits machine;
  std::stop_token stop;
};
/// Above this, unless somebody asks for another number, executing all of a launch takes minutes.
inline constexpr std::int64_t default_most_elements = std::int64_t{1} << 25, sampled_elements = std::int64_t{1} << 22;
inline constexpr double steps_of_element = 128;
/// Why a check runs all blocks of a kernel, however few are asked for; empty where a sample of them will do.
std::string_view runs_whole(const ir::Kernel& kernel);
/// Blocks of a launch that a check runs, about; 0: all, as of every program of several launches.
std::int64_t blocks_to_run(const ir::Kernel& kernel, const CheckOptions& options);
/// Of the device, for a kernel of so many blocks per SM (0: not known).
simulator::MachineLimits machine_limits(const ir::Device& device, int blocks_per_sm);

/// What came of one execution; outputs in order, as they lie in memory, before (poison) and after. Of a run of some
/// blocks the two may hold the pieces alone that were touched, one after the other.
struct Executed {
  simulator::Simulation simulation;
  std::vector<std::vector<std::byte>> before, after;
  std::vector<std::vector<simulator::ByteRange>> pieces;  ///< by output, ascending; empty: all of each
};
/// Inputs as they are for the whole, or the steps of them that repeat.
struct GivenInputs {
  std::span<const reference::Tensor> tensors;
  const Repeats* repeats = nullptr;

  GivenInputs() = default;
  GivenInputs(std::span<const reference::Tensor> whole, const Repeats* how = nullptr) : tensors(whole), repeats(how) {}
  operator std::span<const reference::Tensor>() const { return tensors; }
};
using Executor = std::function<Executed(const GivenInputs& inputs, const simulator::SimulationOptions&)>;

struct Checked {
  Verdict state = Verdict::not_executed;
  std::string reason;           ///< one sentence; empty when passed
  bool reference_late = false;  ///< not executed because making the reference takes longer than the time limit
  std::string sampled_for;   ///< why a sample of the blocks ran that nobody asked for and no size demands; else empty
  double worst = 0;          ///< largest error over its tolerance
  double judged = 0;         ///< fraction of the results that were held against a bound: of those that the blocks wrote
  std::int64_t results = 0;  ///< elements that were looked at
  std::int64_t of_results = 0;  ///< elements of all results of the launch, also those of blocks that did not run
  std::vector<simulator::Finding> findings;
  ir::LaunchCounts counts;
  std::int64_t lane_instructions = 0;  ///< that were executed, not scaled
  Seconds time;                        ///< of the executions

  /// Fraction of all results of the launch that were held against a bound. A sample of the blocks stores few of them.
  /// Where nobody counted them all, of those that were looked at.
  double judged_of_all() const {
    return of_results == 0 ? judged
                           : std::min(1.0, judged * static_cast<double>(results) / static_cast<double>(of_results));
  }
};

/// What results say: one per output, as they lie in memory, held against the reference's.
struct Judgement {
  double worst = 0;           ///< largest error over its tolerance; above 1 is wrong
  std::string reason;         ///< the most wrong element of the first output that is wrong; empty when all are right
  std::int64_t elements = 0;  ///< that were looked at
  std::int64_t judged = 0;    ///< of these: have a bound
  std::int64_t telling = 0;   ///< of these: numbers, or infinite for certain; a NaN may come from anywhere

  /// Nothing is judged where nothing tells.
  double fraction() const {
    return elements == 0 || telling == 0 ? 0 : static_cast<double>(judged) / static_cast<double>(elements);
  }
};
/// `before`, when given, is what the outputs held before: elements that have not changed are not looked at. Both are of
/// the whole group.
/// Error(interrupted) when asked to stop.
Judgement judge(const ir::Kernel& kernel, const Reference& reference,
                std::span<const std::span<const std::byte>> outputs,
                std::span<const std::span<const std::byte>> before = {}, const std::stop_token& stop = {});

Checked check(const ir::Kernel& kernel, const Reference& reference, const Executor& execute,
              const CheckOptions& options);

/// Whether a verdict forbids the plan to be anybody's best.
inline bool is_refuted(Verdict state) {
  return state == Verdict::wrong || state == Verdict::unsound || state == Verdict::timed_out;
}

}  // namespace tailor::profiler
