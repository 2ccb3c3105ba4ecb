// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From records to rows, one function for each kind. In: records of ir and results of the profiler. Out: rows of the
// store. Nothing is looked up and nothing is saved here. Called by the recorder, by sweeps and by the commands that
// store.
#include "study/pipeline/to_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "explore/plans/usual.h"
#include "study/pipeline/import_summary.h"
#include "study/pipeline/manifest.h"

namespace tailor::study {

store::DeviceRow device_row(const ir::Device& device, const std::string& file_text) {
  return {id_of(std::string_view(device.name)), device.name, device.title, device.arch, file_text};
}

Id graph_id(const ir::Graph& graph, const std::stop_token& stop) { return id_of(std::string_view(text(graph, stop))); }

store::GraphRow graph_row(const hlo::Imported& imported, const std::string& name, const std::string& source,
                          const std::stop_token& stop) {
  store::GraphRow row;
  row.text = text(imported.graph, stop);
  row.id = id_of(std::string_view(row.text));
  row.structure = id_of(std::string_view(canonical_text(imported.graph, stop)));
  row.name = name;
  row.source = source;
  row.nodes = static_cast<std::int64_t>(imported.graph.nodes.size());
  for (const auto& [what, count] : imported.report.opaque) row.opaque_nodes += count;
  row.summary = import_summary_json(imported.report);
  return row;
}

store::GroupRow group_row(const ir::Group& group, const costmodel::GroupWork& work, const std::string& title) {
  store::GroupRow row;
  row.id = group.id;
  row.title = title;
  row.text = text(group.graph);
  for (const ir::Node& node : group.graph.nodes) {
    row.nodes += ir::class_of(node.op) == ir::OpClass::leaf ? 0 : 1;
    row.reductions += node.op == ir::Op::reduce ? 1 : 0;
  }
  row.read = {work.bytes_read};
  row.written = {work.bytes_written};
  row.flops = work.fma + work.alu + work.xu + work.f64;
  return row;
}

namespace {

void add_edges(const ir::Graph& graph, const ir::Fusion& fusion, const std::string& path, store::FusionRow& row) {
  for (const ir::EdgeNote& edge : fusion.edges) {
    store::EdgeRow& note = row.edges.emplace_back();
    note.body = path;
    note.producer = graph[edge.producer].name;
    note.consumer = graph[edge.consumer].name;
    note.part = edge.group;
    note.decision = name(edge.decision);
    if (edge.level) note.level = std::string(name(*edge.level));
    if (edge.seconds) note.gain = Seconds{*edge.seconds};
    note.reason = edge.reason;
  }
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    add_edges(graph.bodies[i], fusion.bodies[i], path.empty() ? std::to_string(i) : fmt::format("{}/{}", path, i), row);
}

}  // namespace

store::FusionRow fusion_row(Id graph, const ir::Graph& nodes, const ir::Fusion& fusion,
                            const explore::Partition& partition) {
  store::FusionRow row;
  row.graph = graph;
  row.strategy = partition.strategy;
  row.device = fusion.device;
  row.price = fusion.price;
  row.least_kernels = partition.least_kernels;
  row.unknown_trips = partition.unknown_trips;
  row.branches = partition.branches;
  for (const explore::DistinctGroup& group : partition.groups) {
    store::FusionGroupRow item;
    item.group = group.group.id;
    item.occurrences = static_cast<std::int64_t>(group.occurrences.size());
    item.times = group.times;
    item.example = group.group.graph[group.group.graph.outputs.front()].name;
    row.groups.push_back(std::move(item));
  }
  add_edges(nodes, fusion, "", row);
  return row;
}

store::PlanRow plan_row(const ir::Plan& plan, const codegen::Prepared& prepared) {
  store::PlanRow row;
  row.group = prepared.group->id;
  row.id = id_of(plan, row.group);
  row.from_usual = explore::steps_between(plan, explore::usual_plan(prepared));
  row.text = text(plan);
  row.skeleton = name(plan.skeleton);
  return row;
}

store::EstimateRow estimate_row(Id plan, Id device, const ir::Estimate& estimate, std::string_view model) {
  store::EstimateRow row;
  row.plan = plan;
  row.device = device;
  row.level = name(estimate.level);
  row.model = model;
  row.total = estimate.total;
  row.low = estimate.low;
  row.high = estimate.high;
  row.bottleneck = name(estimate.bottleneck);
  row.parts = estimate.parts;
  row.occupancy = estimate.occupancy;
  row.waves = estimate.waves;
  row.registers = estimate.registers;
  return row;
}

store::PredictionRow prediction_row(Id plan, Id device, const ir::Estimate& estimate, std::string_view model,
                                    const ir::Regime& regime) {
  store::PredictionRow row;
  row.plan = plan;
  row.device = device;
  row.level = name(estimate.level);
  row.model = model;
  row.cache = name(regime.cache);
  row.timed_by = name(regime.timer);
  row.launch_mode = name(regime.launch);
  row.total = estimate.total;
  row.low = estimate.low;
  row.high = estimate.high;
  return row;
}

store::KernelRow kernel_row(const ir::Kernel& kernel, Id id, std::string cuda) {
  store::KernelRow row;
  row.id = id;
  row.name = kernel.name;
  row.text = text(kernel);
  row.cuda = std::move(cuda);
  for (const ir::Kernel& one : kernels_of(kernel)) {  // of a program the largest block, and the blocks of all launches
    row.threads = std::max(row.threads, one.threads);
    row.blocks += one.grid;
    row.shared = std::max(row.shared, one.shared_bytes);
  }
  row.idempotent = is_idempotent(kernel);
  return row;
}

store::BinaryRow binary_row(const ir::Binary& binary, Id kernel) {
  store::BinaryRow row;
  row.id = binary.source;
  row.kernel = kernel;
  row.arch = binary.arch;
  row.compiler = binary.compiler;
  row.ok = binary.outcome == ir::CompileOutcome::ok;
  row.log = binary.log;
  using Entry = ir::CompiledEntry;  // of a program the entry that takes most, and the instructions of all
  row.registers = most_of(binary, &Entry::registers);
  row.spill_stores = most_of(binary, &Entry::spill_stores);
  row.spill_loads = most_of(binary, &Entry::spill_loads);
  row.local = most_of(binary, &Entry::local_bytes);
  row.static_shared = most_of(binary, &Entry::static_shared);
  for (const Entry& entry : entries_of(binary)) row.machine_instructions += entry.machine_instructions;
  row.loads_outstanding = most_of(binary, &Entry::loads_outstanding);
  row.cubin_bytes = static_cast<std::int64_t>(binary.cubin.size());
  row.compile_time = binary.compile_time;
  return row;
}

std::string check_method(const profiler::CheckOptions& options, int seeds) {
  const std::uint64_t last = options.seed + static_cast<std::uint64_t>(seeds) - 1;
  return fmt::format("simulator, seed{}{}{}",
                     seeds > 1 ? fmt::format("s {} to {}", options.seed, last) : fmt::format(" {}", options.seed),
                     options.sample_blocks > 0 ? fmt::format(", {} blocks sampled", options.sample_blocks) : "",
                     options.sanitize ? "" : ", without sanitizers");
}

std::string check_method(profiler::CheckOptions options, int seeds, const Candidate& executed) {
  options.sample_blocks = profiler::blocks_to_run(executed.executed_kernel(), options);
  if (executed.sampled() && !executed.verdict->sampled_for.empty())
    options.sample_blocks = executed.verdict->counts.blocks_run;
  return check_method(options, seeds);
}

store::CheckRow check_row(const profiler::Checked& checked, Id kernel, const std::string& method) {
  store::CheckRow row;
  row.kernel = kernel;
  row.method = method;
  row.state = profiler::name(checked.state);
  row.worst = checked.worst;
  row.judged = checked.judged;
  row.reason = checked.reason;
  row.findings = errors(checked.findings);
  return row;
}

store::MeasurementRow measurement_row(const profiler::Checked& checked, const ir::Kernel& kernel, Id run, Id binary,
                                      Id device, const std::string& method) {
  store::MeasurementRow row;
  row.run = run;
  row.binary = binary;
  row.device = device;
  row.profiler = "simulator";
  row.protocol =
      checked.counts.blocks_run < checked.counts.blocks_total
          ? fmt::format("{}; {} of {} blocks, scaled", method, checked.counts.blocks_run, checked.counts.blocks_total)
          : fmt::format("{}; all {} blocks", method, checked.counts.blocks_total);
  // A result that nobody can judge is no fault of the execution: its counts are good.
  const bool ran = checked.state == profiler::Verdict::passed || checked.state == profiler::Verdict::not_judged;
  row.outcome = ran ? "ok" : profiler::name(checked.state);
  row.reason = checked.reason;
  row.measured_at = time_now();
  std::vector<std::string> buffers;
  for (const ir::Buffer& buffer : kernel.buffers) buffers.push_back(buffer.name);
  row.counts = ir::counter_values(checked.counts, buffers);
  row.id = store::measurement_id(row);
  return row;
}

store::XlaPlanRow xla_plan_row(const XlaBeside& xla, Id group, Id device) {
  store::XlaPlanRow row{group, device, xla.emitter, "", xla.launch.block, {}, std::string(xla.agreement()), xla.note};
  row.grid = fmt::format("{}x{}x{}", xla.launch.grid[0], xla.launch.grid[1], xla.launch.grid[2]);
  if (xla.made) row.plan = id_of(xla.made->plan, group);
  return row;
}

store::PlanRejectionRow plan_rejection_row(const profiler::Checked& checked, Id plan, Id device) {
  return {plan, device,
          fmt::format("check-{}",
                      checked.state == profiler::Verdict::timed_out ? "timed-out" : profiler::name(checked.state)),
          checked.reason};
}

}  // namespace tailor::study
