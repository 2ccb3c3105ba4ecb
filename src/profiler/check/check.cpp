// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From executions to a verdict. In: a kernel, the reference of its group, and somebody who executes. Out: right or
// wrong, with the worst error or what was found, and what was counted. Called by check_pool.cpp, by the commands that
// check one kernel, and (the judging alone) by measurements on a GPU.
//
// A sample of a large launch consists of runs on the same inputs: the first and the last block, which may be ragged,
// then batches of random others. What a run wrote is judged; elements that it left alone take the reference's place.
// The batches' counts are scaled to all blocks between the ends, and the spread of their instructions gives the
// standard error. Kernels whose blocks wait for one another are run whole.
//
// What decides. A run that ended early decides by how it ended. Findings count before results, because a kernel with a
// race may compute the right values today. Then every result must lie within its bound. A kernel of which no element
// can be judged counts as not executed.
#include "profiler/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "base/indexed.h"
#include "base/stop.h"
#include "ir/graph/number.h"
#include "profiler/check/launch_counts.h"
#include "reference/compare.h"
#include "reference/evaluate_cells.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

using simulator::Simulation;
using simulator::SimulationOutcome;

/// Batches of a sample: their spread gives its standard error.
constexpr int batches = 4;

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

/// Which blocks each run executes: none named means all.
struct Sample {
  std::vector<std::vector<std::int64_t>> runs{{}};
  std::int64_t interior = 0;  ///< blocks that the random batches stand for
};

/// The first and the last block, which may be ragged, then batches of random others.
Sample sample_of(const ir::Kernel& kernel, const CheckOptions& options) {
  Sample sample;
  const std::int64_t wanted = blocks_to_run(kernel, options), grid = kernel.grid;
  if (wanted == 0) return sample;
  const auto each = std::max<std::int64_t>((wanted - 2) / batches, 1);
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

std::vector<std::span<const std::byte>> spans(const std::vector<std::vector<std::byte>>& arrays) {
  return {arrays.begin(), arrays.end()};
}

/// The first output that nothing was stored to, though it has elements; empty when there is none. What is written in
/// place may stay as it was. `told`: results were found right.
std::string left_alone(const ir::Kernel& kernel, const Executed& run, bool told) {
  std::size_t k = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!is_result(buffer.role)) continue;
    // A few bytes may be stored and be what was there.
    const bool same = k < run.before.size() && (!told || run.after[k].size() >= 8) && run.after[k] == run.before[k];
    ++k;
    if (same && buffer.role == ir::BufferRole::output && buffer.elements > 0)
      return fmt::format("{}: nothing was stored there", buffer.name);
  }
  return {};
}

/// Adds what one run's outputs say; a sample is judged where it wrote.
void add_judgement(const ir::Kernel& kernel, const Reference& reference, const Executed& run, bool whole,
                   const std::stop_token& stop, Judgement& all, Checked& verdict) {
  const auto before = whole ? std::vector<std::span<const std::byte>>() : spans(run.before);
  Judgement judgement = judge(kernel, reference, spans(run.after), before, stop);
  if (whole && judgement.reason.empty()) judgement.reason = left_alone(kernel, run, judgement.telling > 0);
  all.elements += judgement.elements;
  all.judged += judgement.judged;
  all.telling += judgement.telling;
  verdict.worst = std::max(verdict.worst, judgement.worst);
  verdict.judged = all.fraction();
  if (judgement.reason.empty() || verdict.state == Verdict::wrong) return;
  verdict.state = Verdict::wrong;
  verdict.reason = std::move(judgement.reason);
}

/// Why results that nothing speaks against still say nothing; empty when they say something.
std::string nothing_judged(const Judgement& all) {
  if (all.telling > 0) return {};
  if (all.elements == 0) return "the blocks that ran stored no result; more --blocks may";
  if (all.judged == 0) return "no element of the results has a bound";
  return "every result is NaN, as it has to be on these inputs";
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
  constexpr std::array names = {"passed", "wrong", "unsound", "timed out", "not judged", "not executed", "stopped"};
  return row_for(names, state);
}

std::int64_t blocks_to_run(const ir::Kernel& kernel, const CheckOptions& options) {
  // Blocks that wait for one another run all or none.
  if (kernel.cooperative || kernel.grid < 2 * batches + 2) return 0;
  std::int64_t wanted = options.sample_blocks, largest = 1;
  for (const ir::Buffer& buffer : kernel.buffers) {
    largest = std::max(largest, buffer.elements);
    const bool adds_up = buffer.role == ir::BufferRole::ticket || buffer.role == ir::BufferRole::workspace;
    if (wanted == 0 && adds_up) return 0;
  }
  if (wanted == 0 && options.most_elements > 0 && largest > options.most_elements) {
    const double share = static_cast<double>(sampled_elements) / static_cast<double>(largest);
    constexpr std::int64_t fewest = 64;
    wanted = std::max(fewest, static_cast<std::int64_t>(share * static_cast<double>(kernel.grid)));
  }
  return wanted >= kernel.grid ? 0 : wanted;
}

simulator::MachineLimits machine_limits(const ir::Device& device, int blocks_per_sm) {
  simulator::MachineLimits machine;
  machine.sms = static_cast<int>(device.sms.value);
  machine.blocks_per_sm = blocks_per_sm;
  machine.shared_per_block = static_cast<std::int64_t>(device.shared_per_block_optin.value);
  machine.l2_bytes = static_cast<std::int64_t>(device.l2_bytes.value);
  return machine;
}

namespace {

/// What was stored to one output, and what was there before (empty: it does not matter), row-major.
struct Stored {
  std::string_view name;
  reference::Tensor found, before;
};

void add_difference(const reference::Difference& difference, const std::string& description, const Stored& stored,
                    Judgement& to) {
  to.elements += difference.elements;
  to.judged += difference.elements - difference.unjudged;
  to.telling += difference.telling;
  to.worst = std::max(to.worst, difference.worst);
  if (difference.wrong > 0 && to.reason.empty()) to.reason = fmt::format("{}: {}", stored.name, description);
}

void judge_whole(const Reference& reference, const std::vector<Stored>& outputs, const std::stop_token& stop,
                 Judgement& to) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const reference::BoundedTensor& expected = reference.outputs[k];
    const reference::Difference difference =
        reference::compare(expected, outputs[k].found.bytes, outputs[k].before.bytes, stop);
    add_difference(difference, reference::describe(difference, expected.value.shape), outputs[k], to);
  }
}

/// Steps in which an output changed; all of them when it does not matter what was there before.
std::vector<std::int64_t> stored_steps(const Parts& parts, const std::vector<Stored>& outputs,
                                       const std::stop_token& stop) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step < parts.extent.steps; ++step) {
    stop_if_asked(stop);
    bool changed = false;
    for (std::size_t k = 0; k < outputs.size() && !changed; ++k) {
      const Stored& one = outputs[k];
      const auto of = [&](const reference::Tensor& tensor) {
        return part_of(tensor, parts.output_dims[k], parts.extent.steps, {&step, 1}).bytes;
      };
      changed = one.before.bytes.empty() || of(one.found) != of(one.before);
    }
    if (changed) steps.push_back(step);
  }
  return steps;
}

void judge_parts(const Reference& reference, const std::vector<Stored>& outputs, const std::stop_token& stop,
                 Judgement& to) {
  const Parts& parts = *reference.parts;
  const std::vector<std::int64_t> steps = stored_steps(parts, outputs, stop);
  const std::int64_t all = parts.extent.steps;
  PartEvaluator evaluate(parts, reference.inputs, stop);
  for (std::size_t first = 0; first < steps.size(); first += static_cast<std::size_t>(parts.steps_at_once)) {
    const std::size_t count = std::min(static_cast<std::size_t>(parts.steps_at_once), steps.size() - first);
    const std::span<const std::int64_t> wanted = std::span(steps).subspan(first, count);
    const std::vector<reference::BoundedTensor> expected = evaluate(wanted);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const int dim = parts.output_dims[k];
      const reference::Tensor found = part_of(outputs[k].found, dim, all, wanted);
      const reference::Tensor before =
          outputs[k].before.bytes.empty() ? reference::Tensor() : part_of(outputs[k].before, dim, all, wanted);
      reference::Difference difference = reference::compare(expected[k], found.bytes, before.bytes, stop);
      const ir::Shape& whole = outputs[k].found.shape;
      if (difference.index >= 0) difference.index = place_in_whole(whole, dim, all, wanted, difference.index);
      add_difference(difference, reference::describe(difference, whole), outputs[k], to);
    }
  }
}

}  // namespace

Judgement judge(const ir::Kernel& kernel, const Reference& reference,
                std::span<const std::span<const std::byte>> outputs, std::span<const std::span<const std::byte>> before,
                const std::stop_token& stop) {
  std::vector<Stored> stored;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!is_result(buffer.role)) continue;
    stop_if_asked(stop);
    const std::size_t k = stored.size();
    const ir::Shape& shape = reference.parts ? reference.parts->graph[reference.parts->graph.outputs[k]].shape
                                             : reference.outputs[k].value.shape;
    stored.push_back({buffer.name, reference::from_memory(shape, outputs[k]), {}});
    stop_if_asked(stop);
    if (!before.empty()) stored.back().before = reference::from_memory(shape, before[k]);
  }
  Judgement judgement;
  if (reference.parts)
    judge_parts(reference, stored, stop, judgement);
  else
    judge_whole(reference, stored, stop, judgement);
  return judgement;
}

Checked check(const ir::Kernel& kernel, const Reference& reference, const Executor& execute,
              const CheckOptions& options) {
  Checked verdict;
  if (!reference.reason.empty()) {
    verdict.reason = reference.reason;
    return verdict;
  }
  const Sample sample = sample_of(kernel, options);
  std::vector<ir::LaunchCounts> counts;
  Judgement all;
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
    add_judgement(kernel, reference, run, blocks.empty(), options.stop, all, verdict);
  }
  verdict.counts = scaled(counts, sample);
  if (!verdict.findings.empty()) {
    const std::string also = verdict.state == Verdict::wrong ? "; " + verdict.reason : "";
    verdict.state = Verdict::unsound;
    verdict.reason = describe(verdict.findings.front()) + also;
  } else if (verdict.state == Verdict::passed) {
    verdict.reason = nothing_judged(all);
    if (!verdict.reason.empty()) verdict.state = Verdict::not_judged;
  }
  return verdict;
}

}  // namespace tailor::profiler
