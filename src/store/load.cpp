// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading rows as they were saved.
#include <fmt/format.h>

#include "store/connection.h"
#include "store/query.h"
#include "store/store.h"

namespace tailor::store {

namespace {

template <class Row>
std::optional<Row> only(std::vector<Row> found) {
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

void read_group(Columns& columns, GroupRow& row) {
  columns.into(row.id, row.title, row.text, row.nodes, row.reductions, row.read, row.written, row.flops);
}

constexpr std::string_view group_columns = "group_id, title, text, nodes, reductions, read_bytes, written_bytes, flops";

void read_plan(Columns& columns, PlanRow& row) {
  columns.into(row.id, row.group, row.text, row.skeleton, row.threads, row.threads_per_row, row.vector, row.in_flight,
               row.residence, row.grid, row.blocks_per_sm, row.index_cache, row.value_cache);
}

constexpr std::string_view plan_columns =
    "plan_id, group_id, text, skeleton, threads, threads_per_row, vector, in_flight, residence, grid, blocks_per_sm, "
    "index_cache, value_cache";

void read_binary(Columns& columns, BinaryRow& row) {
  columns.into(row.id, row.kernel, row.arch, row.compiler, row.ok, row.log, row.registers, row.spill_stores,
               row.spill_loads, row.local, row.static_shared, row.cubin_bytes, row.compile_time);
}

constexpr std::string_view binary_columns =
    "binary_id, kernel_id, arch, compiler, outcome = 'ok', log, registers, spill_store_bytes, spill_load_bytes, "
    "local_bytes, static_shared_bytes, cubin_bytes, compile_s";

void read_given(Columns& columns, GivenKernelRow& row) {
  columns.into(row.graph, row.kernel, row.group, row.origin, row.example, row.places, row.times, row.arrays);
}

constexpr std::string_view given_columns =
    "graph_id, kernel_id, group_id, origin, example, places, times, arrays_bytes";

}  // namespace

std::vector<RunRow> Store::runs() const {
  return rows<RunRow>(*connection_,
                      "SELECT run_id, tool, command, config_id, config, toolchain, device, driver, clocks, host, "
                      "host_cores, seed, started_at, finished_at, outcome FROM runs ORDER BY started_at, run_id",
                      [](Columns& columns, RunRow& row) {
                        std::string config_id;
                        columns.into(row.id, row.tool, row.command, config_id, row.config, row.toolchain, row.device,
                                     row.driver, row.clocks, row.host, row.host_cores, row.seed, row.started_at,
                                     row.finished_at, row.outcome);
                        if (!config_id.empty()) row.config_id = id_from_hex(config_id);
                      });
}

std::vector<DeviceRow> Store::devices() const {
  return rows<DeviceRow>(
      *connection_, "SELECT device_id, name, title, arch, file FROM devices ORDER BY name, 1",
      [](Columns& columns, DeviceRow& row) { columns.into(row.id, row.name, row.title, row.arch, row.file); });
}

std::vector<GraphRow> Store::graphs() const {
  return rows<GraphRow>(*connection_,
                        "SELECT graph_id, structure_id, name, source, text, nodes, opaque_nodes, summary FROM graphs "
                        "ORDER BY name, graph_id",
                        [](Columns& columns, GraphRow& row) {
                          columns.into(row.id, row.structure, row.name, row.source, row.text, row.nodes,
                                       row.opaque_nodes, row.summary);
                        });
}

std::vector<GroupRow> Store::groups() const {
  return rows<GroupRow>(*connection_, fmt::format("SELECT {} FROM groups ORDER BY group_id", group_columns),
                        read_group);
}

std::optional<GroupRow> Store::group(Id id) const {
  return only(rows<GroupRow>(*connection_, fmt::format("SELECT {} FROM groups WHERE group_id = ?", group_columns),
                             read_group, id));
}

std::vector<std::string> Store::strategies_of(Id graph) const {
  return rows<std::string>(
      *connection_, "SELECT strategy FROM fusions WHERE graph_id = ? ORDER BY strategy",
      [](Columns& columns, std::string& row) { columns.read(row); }, graph);
}

std::optional<FusionRow> Store::fusion(Id graph, std::string_view strategy) const {
  FusionRow fusion;
  bool found = false;
  connection_->each(
      "SELECT least_kernels, unknown_trips, branches FROM fusions WHERE graph_id = ? AND strategy = ?",
      [&](Columns& columns) {
        columns.into(fusion.least_kernels, fusion.unknown_trips, fusion.branches);
        found = true;
      },
      graph, strategy);
  if (!found) return std::nullopt;
  fusion.graph = graph;
  fusion.strategy = strategy;
  fusion.groups = rows<FusionGroupRow>(
      *connection_,
      "SELECT group_id, occurrences, times, example FROM fusion_groups WHERE graph_id = ? AND strategy = ? "
      "ORDER BY group_id",
      [](Columns& columns, FusionGroupRow& row) { columns.into(row.group, row.occurrences, row.times, row.example); },
      graph, strategy);
  fusion.edges = rows<EdgeRow>(
      *connection_,
      "SELECT body, producer, consumer, fused, why FROM fusion_edges WHERE graph_id = ? AND strategy = ? "
      "ORDER BY body, producer, consumer",
      [](Columns& columns, EdgeRow& row) { columns.into(row.body, row.producer, row.consumer, row.fused, row.reason); },
      graph, strategy);
  return fusion;
}

std::vector<LibraryCallRow> Store::library_calls(Id graph) const {
  return rows<LibraryCallRow>(
      *connection_,
      "SELECT graph_id, node, kind, shape, times, flops, bytes FROM library_calls WHERE graph_id = ? ORDER BY node",
      [](Columns& columns, LibraryCallRow& row) {
        columns.into(row.graph, row.node, row.kind, row.shape, row.times, row.flops, row.bytes);
      },
      graph);
}

std::vector<LibraryTimeRow> Store::library_times(Id graph, Id device) const {
  return rows<LibraryTimeRow>(
      *connection_,
      "SELECT graph_id, node, device_id, model, total_s FROM library_times WHERE graph_id = ? AND device_id = ? "
      "ORDER BY node, model",
      [](Columns& columns, LibraryTimeRow& row) {
        columns.into(row.graph, row.node, row.device, row.model, row.total);
      },
      graph, device);
}

std::vector<PlanRow> Store::plans(Id group) const {
  return rows<PlanRow>(*connection_,
                       fmt::format("SELECT {} FROM plans WHERE group_id = ? ORDER BY plan_id", plan_columns), read_plan,
                       group);
}

std::optional<PlanRow> Store::plan(Id id) const {
  return only(
      rows<PlanRow>(*connection_, fmt::format("SELECT {} FROM plans WHERE plan_id = ?", plan_columns), read_plan, id));
}

std::optional<KernelRow> Store::kernel(Id id) const {
  return only(rows<KernelRow>(
      *connection_,
      "SELECT kernel_id, name, text, cuda, threads, blocks, shared_bytes, idempotent FROM kernels WHERE kernel_id = ?",
      [](Columns& columns, KernelRow& row) {
        columns.into(row.id, row.name, row.text, row.cuda, row.threads, row.blocks, row.shared, row.idempotent);
      },
      id));
}

std::optional<Id> Store::lowering(Id plan, Id device) const {
  std::optional<Id> kernel;
  connection_->each(
      "SELECT kernel_id FROM lowerings WHERE plan_id = ? AND device_id = ?",
      [&](Columns& columns) { columns.read(kernel); }, plan, device);
  return kernel;
}

std::vector<LoweringRow> Store::lowerings_to(Id kernel, Id device) const {
  return rows<LoweringRow>(
      *connection_,
      "SELECT plan_id, device_id, kernel_id FROM lowerings WHERE kernel_id = ? AND device_id = ? ORDER BY plan_id",
      [](Columns& columns, LoweringRow& row) { columns.into(row.plan, row.device, row.kernel); }, kernel, device);
}

std::vector<RejectionRow> Store::rejections(Id group, Id device) const {
  return rows<RejectionRow>(
      *connection_,
      "SELECT group_id, device_id, space, rule, sound, plans, example, reason FROM rejections "
      "WHERE group_id = ? AND device_id = ? ORDER BY plans DESC, space, rule",
      [](Columns& columns, RejectionRow& row) {
        columns.into(row.group, row.device, row.space, row.rule, row.sound, row.plans, row.example, row.reason);
      },
      group, device);
}

std::vector<BinaryRow> Store::binaries(Id kernel) const {
  return rows<BinaryRow>(
      *connection_, fmt::format("SELECT {} FROM binaries WHERE kernel_id = ? ORDER BY arch, binary_id", binary_columns),
      read_binary, kernel);
}

std::optional<BinaryRow> Store::binary(Id id) const {
  return only(rows<BinaryRow>(*connection_, fmt::format("SELECT {} FROM binaries WHERE binary_id = ?", binary_columns),
                              read_binary, id));
}

std::vector<EstimateRow> Store::estimates(Id plan, Id device) const {
  return rows<EstimateRow>(
      *connection_,
      "SELECT plan_id, device_id, level, model, total_s, low_s, high_s, bound, launch_s, dram_s, l2_s, shared_s, "
      "issue_s, fma_s, alu_s, xu_s, latency_s, barrier_s, atomic_s, spill_s, occupancy, waves, registers "
      "FROM estimates JOIN levels USING (level) WHERE plan_id = ? AND device_id = ? ORDER BY precision, model",
      [](Columns& columns, EstimateRow& row) {
        columns.into(row.plan, row.device, row.level, row.model, row.total, row.low, row.high, row.bottleneck);
        for (Seconds& part : row.parts) columns.read(part);
        columns.into(row.occupancy, row.waves, row.registers);
      },
      plan, device);
}

std::vector<GroupBoundRow> Store::group_bounds(Id group, Id device) const {
  return rows<GroupBoundRow>(
      *connection_,
      "SELECT group_id, device_id, model, total_s, bound FROM group_bounds WHERE group_id = ? AND device_id = ? "
      "ORDER BY model",
      [](Columns& columns, GroupBoundRow& row) {
        columns.into(row.group, row.device, row.model, row.total, row.bottleneck);
      },
      group, device);
}

std::vector<GivenKernelRow> Store::given_kernels(Id graph) const {
  return rows<GivenKernelRow>(
      *connection_, fmt::format("SELECT {} FROM given_kernels WHERE graph_id = ? ORDER BY kernel_id", given_columns),
      read_given, graph);
}

std::vector<GivenKernelRow> Store::given_as(Id kernel) const {
  return rows<GivenKernelRow>(
      *connection_, fmt::format("SELECT {} FROM given_kernels WHERE kernel_id = ? ORDER BY graph_id", given_columns),
      read_given, kernel);
}

std::vector<CheckRow> Store::checks(Id kernel) const {
  return rows<CheckRow>(
      *connection_,
      "SELECT kernel_id, method, state, worst, detail, findings FROM checks WHERE kernel_id = ? ORDER BY method",
      [](Columns& columns, CheckRow& row) {
        columns.into(row.kernel, row.method, row.state, row.worst, row.reason, row.findings);
      },
      kernel);
}

std::vector<PlanRejectionRow> Store::plan_rejections(Id plan, Id device) const {
  return rows<PlanRejectionRow>(
      *connection_,
      "SELECT plan_id, device_id, rule, reason FROM plan_rejections WHERE plan_id = ? AND device_id = ? ORDER BY rule",
      [](Columns& columns, PlanRejectionRow& row) { columns.into(row.plan, row.device, row.rule, row.reason); }, plan,
      device);
}

std::vector<PlanRejectionRow> Store::plan_rejections_of(Id group, Id device) const {
  return rows<PlanRejectionRow>(
      *connection_,
      "SELECT r.plan_id, r.device_id, r.rule, r.reason FROM plan_rejections r JOIN plans p USING (plan_id) "
      "WHERE p.group_id = ? AND r.device_id = ? ORDER BY r.plan_id, r.rule",
      [](Columns& columns, PlanRejectionRow& row) { columns.into(row.plan, row.device, row.rule, row.reason); }, group,
      device);
}

std::vector<ProgressRow> Store::progress_of(Id group, Id device) const {
  return rows<ProgressRow>(
      *connection_,
      "SELECT group_id, device_id, space, stage, legal, rejected FROM progress WHERE group_id = ? AND device_id = ? "
      "ORDER BY space, stage",
      [](Columns& columns, ProgressRow& row) {
        columns.into(row.group, row.device, row.space, row.stage, row.legal, row.rejected);
      },
      group, device);
}

std::vector<ProgressRow> Store::progress(Id device, std::string_view space) const {
  return rows<ProgressRow>(
      *connection_,
      "SELECT group_id, device_id, space, stage, legal, rejected FROM progress WHERE device_id = ? AND space = ? "
      "ORDER BY group_id, stage",
      [](Columns& columns, ProgressRow& row) {
        columns.into(row.group, row.device, row.space, row.stage, row.legal, row.rejected);
      },
      device, space);
}

bool Store::is_done(Id group, Id device, std::string_view space, std::string_view stage) const {
  bool done = false;
  connection_->each(
      "SELECT 1 FROM progress WHERE group_id = ? AND device_id = ? AND space = ? AND stage = ?",
      [&](Columns&) { done = true; }, group, device, space, stage);
  return done;
}

}  // namespace tailor::store
