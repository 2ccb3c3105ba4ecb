// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels as rows. The module is a graph whose fusion is the one it brings along; each kernel is a kernel with
// its PTX as text, a binary whose compiler is XLA, a verdict, and an execution with its counters, named as ours are.
// All rows of a run are stored in one transaction. Called by tailor import-xla --store.
#include "study/module/xla_rows.h"

#include <fmt/format.h>

#include <functional>

#include "base/statistics.h"
#include "base/text.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "profiler/check/launch_counts.h"
#include "profiler/measure/sampled.h"
#include "store/store.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/recorder.h"
#include "study/pipeline/to_rows.h"

namespace tailor::study {

namespace {

using profiler::XlaOutcome;

constexpr std::string_view origin = "XLA";

/// How a verdict is called in the database.
std::string_view state_of(XlaOutcome outcome) {
  switch (outcome) {
    case XlaOutcome::matched:
      return "passed";
    case XlaOutcome::differs:
      return "wrong";
    case XlaOutcome::findings:
      return "unsound";
    default:
      return "not executed";
  }
}

std::vector<ir::CounterValue> counts_of(const profiler::XlaKernel& kernel, const simulator::Simulation& run) {
  std::vector<std::string> buffers;
  for (const profiler::XlaArgument& argument : kernel.arguments)
    if (argument.shares < 0) buffers.push_back(argument.name);  // those that share memory have one buffer
  return ir::counter_values(profiler::launch_counts(run, buffers.size()), buffers);
}

/// What everything stored of a module hangs on.
struct StoreTarget {
  store::Store& store;
  Id graph, device, run;
  std::string arch, method;
};

Id store_group(store::Store& to, const profiler::XlaModule& module, const profiler::XlaKernel& kernel) {
  const ir::Graph graph = profiler::graph_of(module, kernel);
  std::vector<ir::NodeId> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].op != ir::Op::parameter) nodes.push_back(static_cast<ir::NodeId>(i));
  explore::DistinctGroup distinct;
  distinct.group = ir::outline(graph, nodes);
  to.save(group_row(distinct.group, explore::needed_work(distinct), codegen::title_of(distinct.group.graph)));
  return distinct.group.id;
}

/// The kernel's text and what it is to the module.
Id store_given(const StoreTarget& shelf, const profiler::XlaModule& module, const profiler::XlaKernel& kernel) {
  const std::string ptx = read_file(kernel.ptx);
  const auto& launch = kernel.launch;
  const Id id =
      id_of(fmt::format("{}\n{}\n{} {} {} x {} {} {}, {} bytes", ptx, kernel.entry, launch.grid[0], launch.grid[1],
                        launch.grid[2], launch.block[0], launch.block[1], launch.block[2], launch.dynamic_shared));
  store::KernelRow made;
  made.id = id;
  made.name = kernel.entry;
  made.text = ptx;
  made.threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  made.blocks = std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  made.shared = launch.dynamic_shared;
  shelf.store.save(made);
  shelf.store.save(store::GivenKernelRow{shelf.graph,
                                         id,
                                         store_group(shelf.store, module, kernel),
                                         std::string(origin),
                                         kernel.call_sites.front(),
                                         static_cast<std::int64_t>(kernel.call_sites.size()),
                                         kernel.times,
                                         {array_bytes(kernel)}});
  return id;
}

/// What runs: PTX that whoever runs it translates, so each translator has a binary of its own.
store::BinaryRow make_binary_row(const StoreTarget& shelf, Id kernel, std::string_view translator) {
  store::BinaryRow binary;
  binary.id = id_of(fmt::format("{} {}{}", origin, hex(kernel), translator));
  binary.kernel = kernel;
  binary.arch = shelf.arch;
  binary.compiler = origin;
  binary.ok = true;
  return binary;
}

double judged_share(std::int64_t results, std::int64_t unjudged) {
  return results == 0 ? 0 : static_cast<double>(results - unjudged) / static_cast<double>(results);
}

void store_executed(const StoreTarget& shelf, const profiler::XlaModule& module, const CheckedXla& row) {
  const profiler::XlaKernel& kernel = *row.kernel;
  const Id id = store_given(shelf, module, kernel);
  const store::BinaryRow binary = make_binary_row(shelf, id, "");
  shelf.store.save(binary);
  store::CheckRow verdict;
  verdict.kernel = id;
  verdict.method = shelf.method;
  verdict.state = state_of(row.check.outcome);
  verdict.worst = row.check.worst;
  verdict.reason = row.check.reason;
  verdict.findings = errors(row.check.simulation.findings);
  verdict.judged = judged_share(row.check.results, row.check.unjudged);
  shelf.store.save(verdict);
  if (!row.check.executed) return;
  store::MeasurementRow execution;
  execution.run = shelf.run;
  execution.binary = binary.id;
  execution.device = shelf.device;
  execution.profiler = "simulator";
  const simulator::Simulation& ran = row.check.simulation;
  execution.protocol = shelf.method + (ran.blocks_run < ran.blocks_total ? "; a sample of the blocks" : "; all blocks");
  execution.outcome = row.check.outcome == XlaOutcome::matched ? "ok" : state_of(row.check.outcome);
  execution.reason = row.check.reason;
  execution.measured_at = time_now();
  execution.counts = counts_of(kernel, row.check.simulation);
  execution.id = store::measurement_id(execution);
  shelf.store.save(execution);
}

std::string_view state_of(const profiler::CandidateResult& result) {
  if (result.outcome == ir::Outcome::ok) return result.judged ? "passed" : "not judged";
  if (result.outcome == ir::Outcome::wrong) return "wrong";
  if (result.outcome == ir::Outcome::timed_out) return "timed out";
  if (result.outcome == ir::Outcome::overrun) return "unsound";
  return ir::is_refuted(result.outcome) ? "crashed" : "not executed";
}

void store_measured(const StoreTarget& shelf, const profiler::XlaModule& module, const MeasuredXla& row) {
  const profiler::CandidateResult& result = row.found.result;
  if (result.outcome == ir::Outcome::stopped) return;  // says nothing of the kernel, and an earlier verdict may stand
  const Id id = store_given(shelf, module, *row.kernel);
  store::CheckRow verdict;
  verdict.kernel = id;
  verdict.method = shelf.method;
  verdict.state = row.found.left_out ? "not executed" : state_of(result);
  verdict.worst = result.worst;
  verdict.reason = row.found.left_out ? row.found.left_out->reason : result.reason;
  verdict.judged = row.found.left_out ? 0 : result.judged_share;
  shelf.store.save(verdict);
  if (result.times.empty()) return;
  store::BinaryRow binary = make_binary_row(shelf, id, " " + result.times.front().driver);
  binary.registers = result.entry.registers;
  binary.local = static_cast<int>(result.entry.local_bytes);
  binary.static_shared = static_cast<int>(result.entry.static_shared);
  shelf.store.save(binary);
  for (const ir::Measurement& measured : result.times) {
    if (measured.outcome == ir::Outcome::stopped) continue;
    std::optional<Seconds> low, high;
    if (!measured.samples.empty()) {
      const Spread time = profiler::time_of(measured);
      low = Seconds{time.low};
      high = Seconds{time.high};
    }
    shelf.store.save(store::measurement_row(measured, shelf.run, binary.id, shelf.device, low, high));
  }
}

void store_times(const StoreTarget& shelf, const profiler::XlaModuleSequence& all, const ir::Measurement& measured) {
  store::ModuleTimeRow row;
  row.run = shelf.run;
  row.graph = shelf.graph;
  row.strategy = xla_strategy;
  row.device = shelf.device;
  row.protocol = measured.protocol;
  row.gpu = measured.gpu;
  row.driver = measured.driver;
  row.outcome = ir::name(measured.outcome);
  row.reason = measured.reason;
  row.groups_timed = all.launches;
  for (const profiler::XlaLeftOut& left : all.left_out) row.left_out.push_back({left.reason, left.launches});
  if (all.library_launches > 0) row.left_out.push_back({"no kernel of XLA's own", all.library_launches});
  row.launches = static_cast<std::int64_t>(all.sequence.launches.size());
  row.buffers = {static_cast<double>(all.buffer_bytes)};
  std::int64_t round = 0;
  for (const ir::Sample& sample : measured.samples) row.samples.push_back({round++, 0, sample});
  if (!measured.samples.empty()) {
    const Spread time = profiler::time_of(measured);
    row.median = Seconds{time.median};
    row.low = Seconds{time.low};
    row.high = Seconds{time.high};
  }
  row.measured_at = measured.measured_at;
  row.id = store::module_time_id(row);
  shelf.store.save(row);
}

Id store_module(store::Store& to, const profiler::XlaModule& module) {
  const std::string file = module.source.hlo.string();
  const hlo::Imported imported = hlo::import_hlo(*module.text, file);
  const store::GraphRow graph = graph_row(imported, module.source.name, module.source.hlo.filename().string());
  to.save(graph);
  const ir::Fusion fusion = explore::fuse(explore::find_strategy("imported"), imported.graph);
  const explore::Partition partition = explore::partition(imported.graph, fusion);
  for (const explore::DistinctGroup& group : partition.groups)
    to.save(group_row(group.group, explore::needed_work(group), codegen::title_of(group.group.graph)));
  to.save(fusion_row(graph.id, imported.graph, fusion, partition));
  return graph.id;
}

/// One run's rows in one transaction: `rows` stores what came of each kernel and says of how many.
std::int64_t store_run(const profiler::XlaModule& module, const Target& target, const XlaRun& on,
                       std::string_view method, const std::function<std::int64_t(const StoreTarget&)>& rows) {
  store::RunRow run = begun_run(on.command, std::string(origin), on.seed, "");
  run.config_id = id_of(std::string_view(run.config));
  Recorder recorder(on.database, std::move(run));
  std::int64_t stored = 0;
  recorder.unit([&] {
    recorder.save(target);
    stored = rows({recorder.store(), store_module(recorder.store(), module), target.id, recorder.run(),
                   target.device.arch, fmt::format("{}, seed {}", method, on.seed)});
    recorder.close("done");
  });
  return stored;
}

}  // namespace

std::int64_t store_xla(const profiler::XlaModule& module, const std::vector<CheckedXla>& all, const Target& target,
                       const XlaRun& run) {
  return store_run(module, target, run, "simulator", [&](const StoreTarget& to) {
    std::int64_t stored = 0;
    for (const CheckedXla& checked : all) {
      if (!checked.kernel->reason.empty()) continue;
      store_executed(to, module, checked);
      ++stored;
    }
    return stored;
  });
}

std::int64_t store_xla(const profiler::XlaModule& module, const MeasuredXlaModule& all, const Target& target,
                       const XlaRun& run) {
  return store_run(module, target, run, "gpu", [&](const StoreTarget& to) {
    std::int64_t stored = 0;
    for (const MeasuredXla& measured : all.kernels) {
      if (!measured.kernel->reason.empty()) continue;
      store_measured(to, module, measured);
      ++stored;
    }
    for (const ir::Measurement& times : all.times) store_times(to, *all.sequence, times);
    return stored;
  });
}

}  // namespace tailor::study
