// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers: the views of the schema as rows.
#include "store/connection.h"
#include "store/store.h"

namespace tailor::store {

std::vector<StrategyTotals> Store::strategies() const {
  std::vector<StrategyTotals> result;
  connection_->each(
      "SELECT graph_id, model, strategy, device_id, device, kernels, distinct_groups, launches, dram_bytes, kernel_s, "
      "groups_without_plan, groups_without_time, library_calls, library_s FROM strategies "
      "ORDER BY model, graph_id, device, device_id, kernel_s, strategy",
      [&](Columns& columns) {
        StrategyTotals& row = result.emplace_back();
        columns.into(row.graph, row.model, row.strategy, row.device, row.device_name, row.kernels, row.distinct_groups,
                     row.launches, row.dram, row.kernel_time, row.groups_without_plan, row.groups_without_time,
                     row.library_calls, row.library_time);
      });
  return result;
}

std::vector<GroupTime> Store::groups_by_time(Id graph, std::string_view strategy, Id device) const {
  std::vector<GroupTime> result;
  connection_->each(
      "SELECT place, group_id, title, example, occurrences, times, read_bytes, written_bytes, plan_id, level, "
      "total_s, all_times_s FROM groups_by_time WHERE graph_id = ? AND strategy = ? AND device_id = ? ORDER BY place",
      [&](Columns& columns) {
        GroupTime& row = result.emplace_back();
        columns.into(row.place, row.group, row.title, row.example, row.occurrences, row.times, row.read, row.written,
                     row.plan, row.level, row.total, row.all_times);
      },
      graph, strategy, device);
  return result;
}

std::vector<BestPlan> Store::best_plans(Id group, Id device, int limit) const {
  std::vector<BestPlan> result;
  connection_->each(
      "SELECT b.place, b.plan, k.kernel_id, e.plan_id, e.device_id, e.level, e.model, e.total_s, e.low_s, e.high_s, "
      "e.bound, launch_s, dram_s, l2_s, shared_s, issue_s, fma_s, alu_s, xu_s, latency_s, barrier_s, atomic_s, "
      "spill_s, occupancy, waves, registers FROM best_plans b "
      "JOIN estimates e USING (plan_id, device_id, level, model) LEFT JOIN lowerings k USING (plan_id, device_id) "
      "WHERE b.group_id = ? AND b.device_id = ? AND b.place <= ? ORDER BY b.place",
      [&](Columns& columns) {
        BestPlan& row = result.emplace_back();
        EstimateRow& e = row.estimate;
        columns.into(row.place, row.plan, row.kernel, e.plan, e.device, e.level, e.model, e.total, e.low, e.high,
                     e.bottleneck);
        for (Seconds& part : e.parts) columns.read(part);
        columns.into(e.occupancy, e.waves, e.registers);
      },
      group, device, limit);
  return result;
}

// Where several models speak at one level, the first by name counts, as in the views.
std::vector<LevelBest> Store::level_bests(Id graph, Id device) const {
  std::vector<LevelBest> result;
  connection_->each(
      "SELECT p.group_id, e.level, min(e.total_s) "
      "FROM (SELECT DISTINCT group_id FROM fusion_groups WHERE graph_id = ?) used "
      "JOIN plans p USING (group_id) JOIN estimates e ON e.plan_id = p.plan_id AND e.device_id = ? "
      "JOIN levels l USING (level) "
      "WHERE NOT EXISTS (SELECT 1 FROM estimates e2 WHERE e2.plan_id = e.plan_id AND e2.device_id = e.device_id "
      "AND e2.level = e.level AND e2.model < e.model) "
      "AND NOT EXISTS (SELECT 1 FROM plan_rejections r WHERE r.plan_id = e.plan_id AND r.device_id = e.device_id) "
      "AND NOT EXISTS (SELECT 1 FROM lowerings k JOIN refuted_kernels r USING (kernel_id, device_id) "
      "WHERE k.plan_id = e.plan_id AND k.device_id = e.device_id) "
      "GROUP BY p.group_id, e.level ORDER BY p.group_id, l.precision",
      [&](Columns& columns) {
        LevelBest& row = result.emplace_back();
        columns.into(row.group, row.level, row.total);
      },
      graph, device);
  return result;
}

std::vector<Seconds> Store::plan_times(Id group, Id device, std::string_view level) const {
  std::vector<Seconds> result;
  connection_->each(
      "SELECT e.total_s FROM plans p JOIN estimates e ON e.plan_id = p.plan_id "
      "WHERE p.group_id = ? AND e.device_id = ? AND e.level = ? "
      "AND NOT EXISTS (SELECT 1 FROM estimates e2 WHERE e2.plan_id = e.plan_id AND e2.device_id = e.device_id "
      "AND e2.level = e.level AND e2.model < e.model) ORDER BY e.total_s",
      [&](Columns& columns) { columns.read(result.emplace_back()); }, group, device, level);
  return result;
}

std::vector<RejectedRule> Store::rejected_why() const {
  std::vector<RejectedRule> result;
  connection_->each(
      "SELECT device, rule, sound, groups, plans, groups_without_plan, example FROM rejected_why "
      "ORDER BY plans DESC, groups DESC, device, rule",
      [&](Columns& columns) {
        RejectedRule& row = result.emplace_back();
        columns.into(row.device, row.rule, row.sound, row.groups, row.plans, row.groups_without_plan, row.example);
      });
  return result;
}

std::vector<KernelState> Store::kernel_states() const {
  std::vector<KernelState> result;
  connection_->each("SELECT kernel_id, name, state FROM kernel_states ORDER BY state, name, kernel_id",
                    [&](Columns& columns) {
                      KernelState& row = result.emplace_back();
                      columns.into(row.kernel, row.name, row.state);
                    });
  return result;
}

}  // namespace tailor::store
