// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Saving: one function per table. Columns stand beside the values they get; the SQL around them is made once.
#include <fmt/format.h>

#include "store/connection.h"
#include "store/insert.h"
#include "store/store.h"

namespace tailor::store {

void Store::save(const RunRow& row) {
  static const std::string sql = insert(
      "runs",
      {"run_id", "tool", "command", "config_id", "config", "toolchain", "device", "driver", "clocks", "host",
       "host_cores", "seed", "started_at", "finished_at", "outcome"},
      "(run_id) DO UPDATE SET toolchain = excluded.toolchain, device = excluded.device, driver = excluded.driver, "
      "clocks = excluded.clocks, finished_at = excluded.finished_at, "
      "outcome = excluded.outcome");
  const std::string config_id = row.config.empty() ? "" : hex(row.config_id);
  connection_->execute(sql, row.id, row.tool, row.command, config_id, row.config, row.toolchain, row.device, row.driver,
                       row.clocks, row.host, row.host_cores, row.seed, row.started_at, row.finished_at, row.outcome);
}

void Store::save(const DeviceRow& row) {
  static const std::string sql = insert("devices", {"device_id", "name", "title", "arch", "file"});
  connection_->execute(sql, row.id, row.name, row.title, row.arch, row.file);
}

void Store::save(const GraphRow& row) {
  static const std::string sql =
      insert("graphs", {"graph_id", "structure_id", "name", "source", "text", "nodes", "opaque_nodes", "summary"},
             "(graph_id) DO UPDATE SET text = excluded.text, summary = excluded.summary WHERE graphs.text = ''");
  connection_->execute(sql, row.id, row.structure, row.name, row.source, row.text, row.nodes, row.opaque_nodes,
                       row.summary);
}

void Store::save(const GroupRow& row) {
  static const std::string sql =
      insert("groups", {"group_id", "title", "text", "nodes", "reductions", "read_bytes", "written_bytes", "flops"});
  connection_->execute(sql, row.id, row.title, row.text, row.nodes, row.reductions, row.read, row.written, row.flops);
}

void Store::save(const FusionRow& row) {
  static const std::string fusion =
      insert("fusions", {"graph_id", "strategy", "kernels", "least_kernels", "unknown_trips", "branches"},
             "(graph_id, strategy) DO UPDATE SET kernels = excluded.kernels, least_kernels = excluded.least_kernels, "
             "unknown_trips = excluded.unknown_trips, branches = excluded.branches");
  static const std::string group =
      insert("fusion_groups", {"graph_id", "strategy", "group_id", "occurrences", "times", "example"});
  static const std::string edge =
      insert("fusion_edges", {"graph_id", "strategy", "body", "producer", "consumer", "fused", "why"});
  std::int64_t kernels = 0;
  for (const FusionGroupRow& g : row.groups) kernels += g.occurrences;
  Savepoint together(*connection_);
  connection_->execute(fusion, row.graph, row.strategy, kernels, row.least_kernels, row.unknown_trips, row.branches);
  connection_->execute("DELETE FROM fusion_groups WHERE graph_id = ? AND strategy = ?", row.graph, row.strategy);
  connection_->execute("DELETE FROM fusion_edges WHERE graph_id = ? AND strategy = ?", row.graph, row.strategy);
  for (const FusionGroupRow& g : row.groups)
    connection_->execute(group, row.graph, row.strategy, g.group, g.occurrences, g.times, g.example);
  for (const EdgeRow& e : row.edges)
    connection_->execute(edge, row.graph, row.strategy, e.body, e.producer, e.consumer, e.fused, e.reason);
  together.release();
}

void Store::save(const LibraryCallRow& row) {
  static const std::string sql =
      insert("library_calls", {"graph_id", "node", "kind", "shape", "times", "flops", "bytes"});
  connection_->execute(sql, row.graph, row.node, row.kind, row.shape, row.times, row.flops, row.bytes);
}

void Store::save(const LibraryTimeRow& row) {
  static const std::string sql = insert("library_times", {"graph_id", "node", "device_id", "model", "total_s"});
  connection_->execute(sql, row.graph, row.node, row.device, row.model, row.total);
}

void Store::save(const PlanRow& row) {
  static const std::string sql =
      insert("plans", {"plan_id", "group_id", "text", "skeleton", "threads", "threads_per_row", "vector", "in_flight",
                       "residence", "grid", "blocks_per_sm", "index_cache", "value_cache"});
  connection_->execute(sql, row.id, row.group, row.text, row.skeleton, row.threads, row.threads_per_row, row.vector,
                       row.in_flight, row.residence, row.grid, row.blocks_per_sm, row.index_cache, row.value_cache);
}

void Store::save(const KernelRow& row) {
  static const std::string sql =
      insert("kernels", {"kernel_id", "name", "text", "cuda", "threads", "blocks", "shared_bytes", "idempotent"},
             "(kernel_id) DO UPDATE SET text = excluded.text, cuda = excluded.cuda WHERE kernels.text = ''");
  connection_->execute(sql, row.id, row.name, row.text, row.cuda, row.threads, row.blocks, row.shared, row.idempotent);
}

void Store::save(const LoweringRow& row) {
  static const std::string sql = insert("lowerings", {"plan_id", "device_id", "kernel_id"});
  connection_->execute(sql, row.plan, row.device, row.kernel);
}

void Store::save(const GivenKernelRow& row) {
  static const std::string sql = insert(
      "given_kernels", {"graph_id", "kernel_id", "group_id", "origin", "example", "places", "times", "arrays_bytes"});
  connection_->execute(sql, row.graph, row.kernel, row.group, row.origin, row.example, row.places, row.times,
                       row.arrays);
}

void Store::save(const RejectionRow& row) {
  static const std::string sql =
      insert("rejections", {"group_id", "device_id", "space", "rule", "sound", "plans", "example", "reason"});
  connection_->execute(sql, row.group, row.device, row.space, row.rule, row.sound, row.plans, row.example, row.reason);
}

void Store::save(const PlanRejectionRow& row) {
  static const std::string sql = insert("plan_rejections", {"plan_id", "device_id", "rule", "reason"});
  connection_->execute(sql, row.plan, row.device, row.rule, row.reason);
}

void Store::save(const BinaryRow& row) {
  static const std::string sql = insert(
      "binaries", {"binary_id", "kernel_id", "arch", "compiler", "outcome", "log", "registers", "spill_store_bytes",
                   "spill_load_bytes", "local_bytes", "static_shared_bytes", "cubin_bytes", "compile_s", "cubin"});
  connection_->execute(sql, row.id, row.kernel, row.arch, row.compiler, std::string_view(row.ok ? "ok" : "failed"),
                       row.log, row.registers, row.spill_stores, row.spill_loads, row.local, row.static_shared,
                       row.cubin_bytes, row.compile_time, row.cubin);
}

void Store::save(const EstimateRow& row) {
  static_assert(ir::part_count == 12, "a new part is a new column: a new schema version");
  static const std::vector<std::string_view> columns = {
      "plan_id",   "device_id", "level",     "model",     "total_s",   "low_s",    "high_s",   "bound",
      "occupancy", "waves",     "registers", "launch_s",  "dram_s",    "l2_s",     "shared_s", "issue_s",
      "fma_s",     "alu_s",     "xu_s",      "latency_s", "barrier_s", "atomic_s", "spill_s"};
  static const std::string sql =
      insert("estimates", columns, replacing(columns, 4) + " WHERE excluded.level = 'profiled'");
  const auto& p = row.parts;
  connection_->execute(sql, row.plan, row.device, row.level, row.model, row.total, row.low, row.high, row.bottleneck,
                       row.occupancy, row.waves, row.registers, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8],
                       p[9], p[10], p[11]);
}

void Store::save(const GroupBoundRow& row) {
  static const std::string sql = insert("group_bounds", {"group_id", "device_id", "model", "total_s", "bound"});
  connection_->execute(sql, row.group, row.device, row.model, row.total, row.bottleneck);
}

void Store::save(const CheckRow& row) {
  static const std::string sql =
      insert("checks", {"kernel_id", "method", "state", "worst", "findings", "detail"},
             "(kernel_id, method) DO UPDATE SET state = excluded.state, worst = excluded.worst, "
             "findings = excluded.findings, detail = excluded.detail");
  connection_->execute(sql, row.kernel, row.method, row.state, row.worst, row.findings, row.reason);
}

void Store::save(const ProgressRow& row) {
  static const std::string sql =
      insert("progress", {"group_id", "device_id", "space", "stage", "legal", "rejected"},
             "(group_id, device_id, space, stage) DO UPDATE SET legal = excluded.legal, rejected = excluded.rejected");
  connection_->execute(sql, row.group, row.device, row.space, row.stage, row.legal, row.rejected);
}

}  // namespace tailor::store
