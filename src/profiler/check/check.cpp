// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From executions to a verdict. In: a group, its plan and kernel, and somebody who executes. Out: right or wrong, with
// the worst error or what was found. Findings count before results: a kernel with a race may compute the right values
// today. Called by check_pool.cpp and by the commands that check one kernel.
#include "profiler/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

#include "base/indexed.h"
#include "base/text.h"
#include "codegen/lower/shrink.h"
#include "ir/graph/number.h"
#include "profiler/check/launch_counts.h"
#include "reference/compare.h"
#include "reference/evaluate_cells.h"
#include "reference/inputs.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

using simulator::Simulation;
using simulator::SimulationOutcome;

/// Below this fraction of elements that can be judged, other inputs are tried.
constexpr double enough_judged = 0.9;
/// Batches of a sample: their spread gives its standard error.
constexpr int batches = 4;

double judged_fraction(const std::vector<reference::BoundedTensor>& outputs) {
  std::int64_t all = 0, judged = 0;
  for (const reference::BoundedTensor& output : outputs) {
    all += ir::elements(output.value.shape);
    const bool exact = output.error.empty();
    reference::each_real(output.value, [&](std::int64_t i, double value) {
      const bool bounded = exact || std::isfinite(output.error[static_cast<std::size_t>(i)]);
      judged += bounded && std::isfinite(value) ? 1 : 0;
    });
  }
  return all == 0 ? 1 : static_cast<double>(judged) / static_cast<double>(all);
}

/// Roots and logarithms of positive numbers are numbers.
void make_positive(reference::Tensor& tensor) {
  if (!ir::is_floating(tensor.shape.dtype)) return;
  reference::each_cell(tensor, [](std::int64_t, reference::Cell& cell) { cell.real = std::fabs(cell.real) + 0.25; });
}

/// Integers that are masks are 0 or 1; so are indices that fit everywhere.
void make_mask(reference::Tensor& tensor) {
  if (!ir::is_integer(tensor.shape.dtype)) return;
  reference::each_cell(tensor, [](std::int64_t, reference::Cell& cell) { cell.integer &= 1; });
}

/// Inputs, in the order they are tried.
struct Variant {
  std::string_view name;
  bool positive, masks;
};
constexpr auto variants = std::to_array<Variant>({
    {"as their uses ask", false, false},
    {"positive", true, false},
    {"as their uses ask, integers 0 or 1", false, true},
    {"positive, integers 0 or 1", true, true},
});

/// Groups of fewer elements are evaluated under one variant after the other; larger ones are tried on a part first.
constexpr std::int64_t large_group = 1 << 17;

Reference evaluated(const ir::Graph& graph, std::uint64_t seed, const Variant& variant) {
  Reference reference;
  reference.seed = seed;
  reference.inputs = reference::sensible_inputs(graph, seed);
  for (reference::Tensor& input : reference.inputs) {
    if (variant.positive) make_positive(input);
    if (variant.masks) make_mask(input);
  }
  reference.outputs = reference::evaluate_with_error_bounds(graph, reference.inputs);
  reference.judged = judged_fraction(reference.outputs);
  reference.inputs_are = variant.name;
  return reference;
}

/// The first variant under which enough can be judged, else the one under which most can.
std::pair<Reference, const Variant*> best_of(const ir::Graph& graph, std::uint64_t seed) {
  Reference best;
  const Variant* chosen = nullptr;
  for (const Variant& variant : variants) {
    Reference one = evaluated(graph, seed, variant);
    if (chosen == nullptr || one.judged > best.judged) {
      best = std::move(one);
      chosen = &variant;
    }
    if (best.judged >= enough_judged) break;
  }
  return {std::move(best), chosen};
}

/// A large group under the variant that is best for a part of its rows. Nothing when there is no such part, or when the
/// whole turns out to be another matter.
std::optional<Reference> guided(const ir::Graph& graph, std::uint64_t seed) {
  std::int64_t largest = 0;
  for (const ir::Node& node : graph.nodes) largest = std::max(largest, ir::elements(node.shape));
  if (largest < large_group) return {};
  const std::optional<codegen::OuterExtent> extent = codegen::outer_extent(graph);
  if (!extent || extent->steps < 8) return {};
  const auto [part, variant] = best_of(codegen::shrunk(graph, *extent, 1).graph, seed);
  Reference whole = evaluated(graph, seed, *variant);
  if (whole.judged >= std::min(enough_judged, part.judged)) return whole;
  return {};
}

/// The first node that the evaluator has no semantics for, in words; empty when there is none.
std::string without_semantics(const ir::Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!reference::can_evaluate(graph, static_cast<ir::NodeId>(i)))
      return fmt::format("the reference has no semantics for {} (%{})", ir::name(graph.nodes[i].op),
                         graph.nodes[i].name);
  return {};
}

simulator::SimulationOptions simulation_options(const CheckOptions& options) {
  simulator::SimulationOptions to;
  to.seed = options.seed;
  to.threads = options.threads;
  to.sanitize = options.sanitize;
  to.count_cache = options.count_cache;
  to.time_limit = options.time_limit;
  to.machine = options.machine;
  to.stop = options.stop;
  return to;
}

/// Adds what another run of the same launch counted, times `weight`.
void add(ir::LaunchCounts& sum, const ir::LaunchCounts& more, double weight) {
  if (sum.buffers.size() < more.buffers.size()) sum.buffers.resize(more.buffers.size());
  for (const ir::CounterRow& row : ir::counter_table()) {
    if (row.launch != nullptr) sum.*row.launch += more.*row.launch * weight;
    if (row.direction != nullptr)
      for (std::size_t i = 0; i < more.buffers.size(); ++i)
        sum.buffers[i].*row.direction.*row.part += more.buffers[i].*row.direction.*row.part * weight;
  }
  sum.blocks_run += more.blocks_run;
  sum.blocks_total = more.blocks_total;
}

/// A sample's output where some blocks did not run: elements that were left alone take the reference's place.
std::vector<std::byte> completed(const reference::BoundedTensor& expected, const std::vector<std::byte>& before,
                                 const std::vector<std::byte>& after) {
  const ir::Shape& shape = expected.value.shape;
  std::vector<std::byte> reference(after.size());
  reference::to_memory(expected.value, reference);
  std::vector<std::byte> result = after;
  const auto size = static_cast<std::ptrdiff_t>(ir::element_bytes(shape.dtype));
  for (std::ptrdiff_t at = 0; at + size <= std::ssize(result); at += size)
    if (std::equal(after.begin() + at, after.begin() + at + size, before.begin() + at))
      std::copy_n(reference.begin() + at, size, result.begin() + at);
  return result;
}

/// Which blocks each run executes: none named means all.
struct Sample {
  std::vector<std::vector<std::int64_t>> runs{{}};
  std::int64_t interior = 0;  ///< blocks that the random batches stand for
};

/// The first and the last block, which may be ragged, then batches of random others.
Sample sample_of(std::int64_t grid, const CheckOptions& options) {
  Sample sample;
  if (options.sample_blocks == 0 || options.sample_blocks >= grid || grid < 2 * batches + 2) return sample;
  const auto each = std::max<std::int64_t>((options.sample_blocks - 2) / batches, 1);
  std::mt19937_64 random(options.seed);
  sample.interior = grid - 2;
  sample.runs = {{0, grid - 1}};
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<std::int64_t> blocks;
    for (std::int64_t i = 0; i < each; ++i)
      blocks.push_back(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(sample.interior)));
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    sample.runs.push_back(std::move(blocks));
  }
  return sample;
}

/// Scales batches to the whole grid; the ends count once.
ir::LaunchCounts scaled(const std::vector<ir::LaunchCounts>& runs, const Sample& sample) {
  if (runs.size() < 2) return runs.empty() ? ir::LaunchCounts{} : runs.front();
  ir::LaunchCounts sum = runs.front();
  std::vector<double> guesses;
  const auto share = static_cast<double>(sample.interior) / static_cast<double>(runs.size() - 1);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const auto blocks = static_cast<double>(std::max<std::int64_t>(runs[i].blocks_run, 1));
    add(sum, runs[i], share / blocks);
    guesses.push_back(runs[i].instructions / blocks);
  }
  double mean = 0, spread = 0;
  for (const double guess : guesses) mean += guess / static_cast<double>(guesses.size());
  for (const double guess : guesses) spread += (guess - mean) * (guess - mean);
  const auto n = static_cast<double>(guesses.size());
  if (n > 1 && mean > 0) sum.standard_error = std::sqrt(spread / (n * (n - 1))) / mean;
  return sum;
}

/// Adds what one run's outputs say; a sample is judged where it wrote.
void add_judgement(const ir::Kernel& kernel, const Reference& reference, const Executed& run, bool whole,
                   Checked& verdict) {
  std::vector<std::vector<std::byte>> patched;
  if (!whole)
    for (std::size_t k = 0; k < run.after.size(); ++k)
      patched.push_back(completed(reference.outputs[k], run.before[k], run.after[k]));
  std::vector<std::span<const std::byte>> outputs;
  for (const std::vector<std::byte>& one : whole ? run.after : patched) outputs.emplace_back(one);
  Judgement judgement = judge(kernel, reference, outputs);
  verdict.worst = std::max(verdict.worst, judgement.worst);
  if (judgement.reason.empty() || verdict.state == Verdict::wrong) return;
  verdict.state = Verdict::wrong;
  verdict.reason = std::move(judgement.reason);
}

/// Whether the simulation ended in a way that leaves nothing to compare.
bool ended_early(const Simulation& run, const CheckOptions& options, Checked& verdict) {
  const auto end = [&](Verdict state, std::string reason) {
    verdict.state = state;
    verdict.reason = std::move(reason);
    return true;
  };
  switch (run.outcome) {
    case SimulationOutcome::finished:
      return false;
    case SimulationOutcome::stopped:
      if (options.stop.stop_requested()) return end(Verdict::stopped, run.reason);
      if (std::any_of(run.findings.begin(), run.findings.end(),
                      [](const simulator::Finding& one) { return one.kind != simulator::FindingKind::too_long; }))
        return end(Verdict::unsound, describe(run.findings.front()));
      return end(Verdict::timed_out, run.reason);
    case SimulationOutcome::refused:
      return end(Verdict::unsound, run.reason);
    case SimulationOutcome::unsupported:
      return end(Verdict::not_executed, fmt::format("cannot simulate {}", run.reason));
  }
  return false;
}

}  // namespace

std::string_view name(Verdict state) {
  constexpr std::array names = {"passed", "wrong", "unsound", "timed out", "not executed", "stopped"};
  return row_for(names, state);
}

namespace {

/// Elements of all values of a group that the reference takes on: some ten bytes each, not all at once.
constexpr std::int64_t most_elements = std::int64_t{1} << 31;

std::string too_large(const ir::Graph& graph) {
  std::int64_t elements = 0;
  for (const ir::Node& node : graph.nodes) {
    if (ir::element_bytes(node.shape.dtype) != 0) elements += ir::elements(node.shape);
    if (elements > most_elements)
      return fmt::format("the reference would compute more than {} elements; --shape small or a smaller model may do",
                         with_commas(most_elements));
  }
  return {};
}

}  // namespace

Reference evaluate_reference(const ir::Group& group, std::uint64_t seed) {
  Reference reference;
  reference.seed = seed;
  reference.reason = without_semantics(group.graph);
  if (reference.reason.empty()) reference.reason = too_large(group.graph);
  if (!reference.reason.empty()) return reference;
  if (std::optional<Reference> whole = guided(group.graph, seed)) return std::move(*whole);
  return best_of(group.graph, seed).first;
}

simulator::MachineLimits machine_limits(const ir::Device& device, int blocks_per_sm) {
  simulator::MachineLimits machine;
  machine.sms = static_cast<int>(device.sms.value);
  machine.blocks_per_sm = blocks_per_sm;
  machine.shared_per_block = static_cast<std::int64_t>(device.shared_per_block_optin.value);
  machine.l2_bytes = static_cast<std::int64_t>(device.l2_bytes.value);
  return machine;
}

Judgement judge(const ir::Kernel& kernel, const Reference& reference,
                std::span<const std::span<const std::byte>> outputs) {
  Judgement judgement;
  std::size_t k = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!is_result(buffer.role)) continue;
    const reference::BoundedTensor& expected = reference.outputs[k];
    const std::vector<std::byte> found = reference::from_memory(expected.value.shape, outputs[k]).bytes;
    ++k;
    const reference::Difference difference = reference::compare(expected, found);
    judgement.worst = std::max(judgement.worst, difference.worst);
    if (difference.wrong > 0 && judgement.reason.empty())
      judgement.reason = fmt::format("{}: {}", buffer.name, reference::describe(difference, expected.value.shape));
  }
  return judgement;
}

Checked check(const ir::Kernel& kernel, const Reference& reference, const Executor& execute,
              const CheckOptions& options) {
  Checked verdict;
  if (!reference.reason.empty()) {
    verdict.reason = reference.reason;
    return verdict;
  }
  // Blocks that wait for one another run all or none.
  const Sample sample = kernel.cooperative ? Sample{} : sample_of(kernel.grid, options);
  std::vector<ir::LaunchCounts> counts;
  verdict.state = Verdict::passed;
  for (const std::vector<std::int64_t>& blocks : sample.runs) {
    simulator::SimulationOptions how = simulation_options(options);
    how.blocks = blocks;
    const Executed run = execute(reference.inputs, how);
    verdict.time += run.simulation.time;
    verdict.lane_instructions += run.simulation.counters.lane_instructions;
    verdict.findings.insert(verdict.findings.end(), run.simulation.findings.begin(), run.simulation.findings.end());
    counts.push_back(launch_counts(run.simulation, kernel.buffers.size()));
    if (ended_early(run.simulation, options, verdict)) return verdict;
    add_judgement(kernel, reference, run, blocks.empty(), verdict);
  }
  verdict.counts = scaled(counts, sample);
  if (!verdict.findings.empty()) {
    const std::string also = verdict.state == Verdict::wrong ? "; " + verdict.reason : "";
    verdict.state = Verdict::unsound;
    verdict.reason = describe(verdict.findings.front()) + also;
  } else if (verdict.state == Verdict::passed && reference.judged == 0) {
    verdict.state = Verdict::not_executed;
    verdict.reason = "no element of the results can be judged";
  }
  return verdict;
}

}  // namespace tailor::profiler
