// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Nouns to rows.
#include "cli/rows_of.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/import_summary.h"
#include "ir/kernel.h"

namespace tailor::cli {

store::DeviceRow device_row(const ir::Device& device, const std::string& file_text) {
  return {id_of(std::string_view(file_text)), device.name, device.title, device.arch, file_text};
}

store::GraphRow graph_row(const ir::Imported& imported, const std::string& name, const std::string& source) {
  store::GraphRow row;
  row.text = text(imported.graph);
  row.id = id_of(std::string_view(row.text));
  row.structure = id_of(std::string_view(canonical_text(imported.graph)));
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
  for (const ir::EdgeNote& edge : fusion.edges)
    row.edges.push_back({path, graph.nodes[static_cast<std::size_t>(edge.producer)].name,
                         graph.nodes[static_cast<std::size_t>(edge.consumer)].name, edge.fused, edge.why});
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    add_edges(graph.bodies[i], fusion.bodies[i], path.empty() ? std::to_string(i) : fmt::format("{}/{}", path, i), row);
}

}  // namespace

store::FusionRow fusion_row(Id graph, const ir::Graph& nodes, const ir::Fusion& fusion,
                            const explore::Partition& partition) {
  store::FusionRow row;
  row.graph = graph;
  row.strategy = partition.strategy;
  row.least_kernels = partition.least_kernels;
  row.unknown_trips = partition.unknown_trips;
  row.branches = partition.branches;
  for (const explore::DistinctGroup& group : partition.groups) {
    store::FusionGroupRow item;
    item.group = group.group.id;
    item.occurrences = static_cast<std::int64_t>(group.places.size());
    item.times = group.times;
    item.example = group.group.graph.nodes[static_cast<std::size_t>(group.group.graph.outputs.front())].name;
    row.groups.push_back(std::move(item));
  }
  add_edges(nodes, fusion, "", row);
  return row;
}

store::PlanRow plan_row(const ir::Plan& plan, Id group) {
  store::PlanRow row;
  row.id = id_of(plan, group);
  row.group = group;
  row.text = text(plan);
  row.skeleton = name(plan.skeleton);
  row.threads = plan.threads;
  row.threads_per_row = plan.skeleton == ir::Skeleton::row ? plan.threads_per_row : 0;
  row.vector = plan.vector;
  row.in_flight = plan.in_flight;
  row.residence = plan.skeleton == ir::Skeleton::row ? name(plan.residence) : "";
  row.grid = name(plan.grid);
  row.blocks_per_sm = plan.grid == ir::GridShape::persistent ? plan.blocks_per_sm : 0;
  row.index_cache = plan.index_cache;
  row.value_cache = plan.value_cache;
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
  row.bound = name(estimate.bound);
  row.parts = estimate.parts;
  row.occupancy = estimate.occupancy;
  row.waves = estimate.waves;
  row.registers = estimate.registers;
  return row;
}

store::KernelRow kernel_row(const ir::Kernel& kernel, Id id, std::string cuda) {
  store::KernelRow row;
  row.id = id;
  row.name = kernel.name;
  row.text = text(kernel);
  row.cuda = std::move(cuda);
  row.threads = kernel.threads;
  row.blocks = kernel.grid;
  row.shared = kernel.shared_bytes;
  row.idempotent = kernel.idempotent;
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
  row.registers = binary.registers;
  row.spill_stores = binary.spill_stores;
  row.spill_loads = binary.spill_loads;
  row.local = binary.local_bytes;
  row.static_shared = binary.static_shared;
  row.cubin_bytes = static_cast<std::int64_t>(binary.cubin.size());
  row.compile_time = binary.compile_time;
  return row;
}

}  // namespace tailor::cli
