// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From a kernel of XLA's to the records that profiler/check works on, and back. In: a kernel of a module. Out: an
// XlaCheck whose counters stand for all blocks. The kernel becomes one of ours of which only buffers and launch are
// known; what check() says of it is told in XLA's words. Refused by name: blocks that talk to one another, results that
// need all rows of their inputs, operands that share memory.
#include "profiler/xla/xla_sample.h"

#include <fmt/format.h>

#include <cmath>

#include "base/memory.h"
#include "base/text.h"
#include "ir/graph/number.h"
#include "profiler/check/check.h"
#include "profiler/check/simulate.h"
#include "profiler/xla/xla_case.h"

namespace tailor::profiler {

namespace {

XlaCheck refused(XlaOutcome outcome, std::string reason) {
  XlaCheck found;
  found.outcome = outcome;
  found.reason = std::move(reason);
  return found;
}

std::int64_t blocks_of(const ir::LaunchShape& shape) {
  return std::int64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
}

/// A kernel with the buffers of the case, each argument one, and nothing inside. `reason` says why there is none.
ir::Kernel shell_of(const XlaCase& one, const XlaKernel& kernel, std::string& reason) {
  ir::Kernel shell;
  shell.name = kernel.entry;
  shell.grid = shell.virtual_blocks = blocks_of(kernel.launch);
  for (std::size_t i = 0; i < one.arguments.size(); ++i) {
    const XlaArgument& argument = one.arguments[i];
    const bool operand = i < static_cast<std::size_t>(one.operands);
    // Vectors may be loaded whole where an array ends within one; there is room behind it.
    const std::int64_t width = ir::element_bytes(argument.shape.dtype),
                       vector = operand ? 16 / std::min<std::int64_t>(width, 16) : 1;
    ir::Buffer buffer{argument.name, argument.shape.dtype, 0, operand ? ir::BufferRole::input : ir::BufferRole::output,
                      ir::no_id};
    buffer.elements = (ir::elements(argument.shape) + vector - 1) / vector * vector;
    if (argument.shares >= 0) {
      std::int32_t root = argument.shares;
      while (one.arguments[static_cast<std::size_t>(root)].shares >= 0)
        root = one.arguments[static_cast<std::size_t>(root)].shares;
      const XlaArgument& under = one.arguments[static_cast<std::size_t>(root)];
      if (operand || root >= one.operands || ir::bytes(under.shape) != ir::bytes(argument.shape))
        reason = fmt::format("'{}' and '{}' share memory", argument.name, under.name);
      buffer.role = ir::BufferRole::in_place;
      buffer.of = static_cast<ir::BufferId>(root);
    }
    shell.buffers.push_back(std::move(buffer));
  }
  return shell;
}

/// Whether arrays lie as the graph says that they do.
bool has_layouts_of_graph(const XlaCase& one) {
  const std::vector<ir::NodeId> inputs = parameters(one.graph);
  const auto same = [](const ir::Shape& a, const ir::Shape& b) {
    return a.dims == b.dims && a.dtype == b.dtype && ir::strides(a) == ir::strides(b);
  };
  for (std::size_t i = 0; i < one.arguments.size(); ++i) {
    const auto operands = static_cast<std::size_t>(one.operands);
    const ir::NodeId node = i < operands ? inputs[i] : one.graph.outputs[i - operands];
    if (!same(one.graph[node].shape, one.arguments[i].shape)) return false;
  }
  return true;
}

/// What was counted, as if all blocks had run.
simulator::Simulation counted(const Checked& checked, const ir::Kernel& shell) {
  simulator::Simulation run;
  run.findings = checked.findings;
  run.time = checked.time;
  run.blocks_run = checked.counts.blocks_run;
  run.blocks_total = checked.counts.blocks_total;
  const auto whole = [](double count) { return static_cast<std::int64_t>(std::llround(count)); };
#define LAUNCH_COUNTER(name, unit, model, gpu, meaning) run.counters.name = whole(checked.counts.name);
#include "ir/counters.def"
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < shell.buffers.size(); ++i) {
    const auto id = static_cast<ir::BufferId>(i);
    const bool own = ir::owner(shell, id) == id;
    place.push_back(own ? run.buffers.size() : place[static_cast<std::size_t>(ir::owner(shell, id))]);
    if (own) run.buffers.emplace_back();
    if (i >= checked.counts.buffers.size()) continue;
    const ir::BufferCounts& of = checked.counts.buffers[i];
    simulator::BufferCounters& to = run.buffers[place.back()];
    const auto add = [&](simulator::RequestCounts& sum, const ir::AccessCounts& more) {
      sum.requests += whole(more.requests), sum.sectors += whole(more.sectors), sum.bytes += whole(more.bytes);
    };
    add(to.load, of.load), add(to.store, of.store), add(to.atomic, of.atomic);
    run.counters.global_load_requests += whole(of.load.requests);
    run.counters.global_load_sectors += whole(of.load.sectors);
    run.counters.global_load_bytes += whole(of.load.bytes);
    run.counters.global_store_requests += whole(of.store.requests);
    run.counters.global_store_sectors += whole(of.store.sectors);
    run.counters.global_store_bytes += whole(of.store.bytes);
  }
  return run;
}

XlaOutcome outcome_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return XlaOutcome::matched;
    case Verdict::wrong:
      return XlaOutcome::differs;
    case Verdict::unsound:
      return XlaOutcome::findings;
    case Verdict::not_judged:
      return XlaOutcome::cannot_evaluate;
    default:
      return XlaOutcome::cannot_simulate;
  }
}

CheckOptions options_of(const XlaCheckOptions& options) {
  CheckOptions how;
  how.seed = options.seed;
  how.threads = options.simulation.threads;
  how.sanitize = options.simulation.sanitize;
  how.count_cache = options.simulation.count_cache;
  how.sample_blocks = options.sample_blocks;
  how.time_limit = options.simulation.time_limit;
  how.most_memory = free_memory() / 2;
  how.machine = options.simulation.machine;
  how.stop = options.simulation.stop;
  return how;
}

XlaCheck sampled(const XlaCase& one, const XlaKernel& kernel, const XlaCheckOptions& options) {
  if (!one.unjudged.empty()) return refused(XlaOutcome::cannot_evaluate, one.unjudged);
  const std::string size = fmt::format("computes {} elements, the limit is {}; ", with_commas(one.elements),
                                       with_commas(options.most_elements));
  const simulator::Program program(one.ptx, simulator::entry_of(one.ptx, kernel.entry));
  if (!program.unsupported().empty()) return refused(XlaOutcome::cannot_simulate, program.unsupported());
  if (program.blocks_may_talk())
    return refused(XlaOutcome::too_large, size +
                                              "its blocks put results together by atomics or wait for one another, "
                                              "so a sample of them says nothing");
  std::string reason;
  const ir::Kernel shell = shell_of(one, kernel, reason);
  if (reason.empty() && !has_layouts_of_graph(one)) reason = "its arrays lie otherwise than its computation says";
  const std::shared_ptr<const Repeats> repeats = reason.empty() ? repeats_of(one.graph) : nullptr;
  if (reason.empty() && repeats == nullptr)
    reason = "it has few rows, or each result needs all of them, so the reference has no parts";
  if (!reason.empty()) return refused(XlaOutcome::too_large, size + reason);
  ir::Group group;
  group.graph = one.graph;
  const Reference reference = evaluate_reference(group, options.seed, repeats, options.simulation.stop, bounds_of(one));
  if (!reference.reason.empty()) return refused(XlaOutcome::cannot_evaluate, reference.reason);
  ir::Binary binary;
  binary.entry = kernel.entry;
  binary.ptx = *one.ptx.text;
  const Checked checked =
      check(shell, reference, make_simulator_of(shell, binary, {kernel.launch}), options_of(options));
  XlaCheck found = refused(outcome_of(checked.state), checked.reason);
  found.worst = checked.worst;
  found.results = checked.results;
  found.unjudged = checked.results - std::llround(checked.judged * static_cast<double>(checked.results));
  found.simulation = counted(checked, shell);
  found.executed = checked.counts.blocks_run > 0;
  std::int64_t all = 0;
  for (std::size_t i = static_cast<std::size_t>(one.operands); i < one.arguments.size(); ++i)
    all += ir::elements(one.arguments[i].shape);
  if (found.outcome == XlaOutcome::matched)
    found.reason = fmt::format("a sample: {} of {} blocks ran, {:.2g} % of the results were judged",
                               with_commas(found.simulation.blocks_run), with_commas(found.simulation.blocks_total),
                               100.0 * static_cast<double>(found.results - found.unjudged) /
                                   static_cast<double>(std::max<std::int64_t>(all, 1)));
  return found;
}

}  // namespace

XlaCheck check_sample(const XlaModule& module, const XlaKernel& kernel, const XlaCheckOptions& options) {
  const auto made = xla_case_without_inputs(module, kernel, options.simulation.stop);
  if (const XlaRefusal* refusal = std::get_if<XlaRefusal>(&made)) return refused(refusal->outcome, refusal->reason);
  const XlaCase& one = std::get<XlaCase>(made);
  XlaCheck found = sampled(one, kernel, options);
  found.elements = one.elements;
  return found;
}

}  // namespace tailor::profiler
