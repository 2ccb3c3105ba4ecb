// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One group's part of a Summary: its best plans with what every level, the compiler and checks say of them, the times
// of all plans, why others were rejected, and the best plan's program. In: a database and the id of a group. Out: its
// section of the page. Called by load_summary().
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/counted.h"
#include "base/error.h"
#include "ir/estimate.h"
#include "ir/graph/graph.h"
#include "ir/measurement.h"
#include "ir/regime.h"
#include "study/summary/summary_rows.h"

namespace tailor::study {

namespace {

constexpr std::size_t shapes_shown = 3;

/// The shapes a group writes: "f32[4096,768]", several joined.
std::string shapes_of(const store::GroupRow& row) {
  const ir::Graph graph = doing(fmt::format("reading the text of group {}", short_hex(row.id)),
                                [&] { return ir::parse_graph(row.text, row.title); });
  std::string out;
  for (std::size_t i = 0; i < std::min(shapes_shown, graph.outputs.size()); ++i)
    out += (i > 0 ? ", " : "") + ir::text(graph[graph.outputs[i]].shape);
  if (graph.outputs.size() > shapes_shown) out += fmt::format(" and {} more", graph.outputs.size() - shapes_shown);
  return out;
}

report::EstimateSummary shown(const store::EstimateRow& row) {
  report::EstimateSummary out;
  out.level = row.level;
  out.total = row.total;
  out.low = row.low;
  out.high = row.high;
  for (std::size_t part = 0; part < row.parts.size(); ++part)
    if (row.parts[part].value > 0)
      out.parts.push_back({std::string(ir::name(static_cast<ir::Part>(part))), row.parts[part]});
  out.bottleneck = row.bottleneck;
  out.occupancy = row.occupancy;
  out.waves = row.waves;
  return out;
}

/// What the timer of a measured plan leaves out of every time: a model predicted the plan as it was measured too, and
/// says by how much less. None where nothing was measured, or caches were warm, which changes more than the timer does.
Seconds left_out(const store::Store& store, const Subject& subject, const store::EstimateRow& measured) {
  constexpr std::string_view lead = "measured, ";
  if (measured.level != ir::name(ir::Level::profiled) || !measured.model.starts_with(lead)) return {};
  const auto protocol = ir::parse_protocol(std::string_view(measured.model).substr(lead.size()));
  if (!protocol || protocol->cache != ir::CacheState::cold || ir::make_regime(*protocol).includes.launch_gap) return {};
  const std::vector<store::EstimateRow> all = store.estimates(measured.plan, subject.device.id);
  for (const store::PredictionRow& row : store.predictions(measured.plan, subject.device.id)) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const store::EstimateRow& one) {
      return one.level == row.level && one.model == row.model;
    });
    if (same != all.end() && row.cache == ir::name(protocol->cache) && row.timed_by == ir::name(protocol->timed_by) &&
        row.launch_mode == ir::name(protocol->launch))
      return std::max(Seconds{}, same->total - row.total);
  }
  return {};
}

/// Lowest level first; of several models at a level the one that counts in the database's views.
std::vector<report::EstimateSummary> load_estimates(const store::Store& store, const Subject& subject, Id plan,
                                                    const store::GroupBoundRow* bound) {
  std::vector<report::EstimateSummary> out;
  for (const store::EstimateRow& row : store.estimates(plan, subject.device.id))
    if (out.empty() || out.back().level != row.level) out.push_back(shown(row));
  if (bound != nullptr && !out.empty() && out.front().level != "sol")
    out.insert(out.begin(), {"sol", bound->total, bound->total, bound->total, {}, bound->bottleneck, 0, 0});
  return out;
}

/// Only compilations for the device's own architecture speak; one that went well before a failed one.
void add_binary(const store::Store& store, const Subject& subject, Id kernel, report::PlanSummary& plan) {
  int best = 0;
  for (const store::BinaryRow& binary : store.binaries(kernel)) {
    const int rank = binary.ok ? 2 : 1;
    if (binary.arch != subject.device.arch || rank <= best) continue;
    best = rank;
    plan.binary = binary.ok ? report::BinaryState::ok : report::BinaryState::failed;
    plan.compile_log = binary.ok ? "" : binary.log;
    if (!binary.ok) continue;
    plan.registers = binary.registers;
    plan.spill_bytes = binary.spill_stores + binary.spill_loads;
  }
}

report::CheckState check_state(std::string_view stored) {
  if (stored == "passed") return report::CheckState::passed;
  if (stored == "not judged") return report::CheckState::not_judged;
  return stored == "not executed" ? report::CheckState::unchecked : report::CheckState::failed;
}

/// Which of two checks of a kernel is told: the heavier.
int weight(report::CheckState state) {
  switch (state) {
    case report::CheckState::unchecked:
      return 0;
    case report::CheckState::not_judged:
      return 1;
    case report::CheckState::passed:
      return 2;
    case report::CheckState::failed:
      break;
  }
  return 3;
}

/// One failed check outweighs all that passed; one that could not be made says why.
void add_checks(const store::Store& store, Id kernel, report::PlanSummary& plan) {
  for (const store::CheckRow& check : store.checks(kernel)) {
    if (plan.check == report::CheckState::failed) return;
    const report::CheckState state = check_state(check.state);
    if (weight(state) < weight(plan.check)) continue;
    plan.check = state;
    const bool passed = state == report::CheckState::passed;
    std::string said = passed ? "" : ": " + check.state;
    if (passed && check.worst > 0) said += fmt::format(", worst error {:.2g} of its tolerance", check.worst);
    if (passed && check.judged < 1) said += fmt::format(", {:.4g} % of the results judged", 100 * check.judged);
    plan.check_note = fmt::format("{}{}{}{}", check.method, said, check.reason.empty() ? "" : ", ", check.reason);
  }
}

/// How far the group has come, in the space in which most plans were looked at.
std::string add_progress(const store::Store& store, const Subject& subject, report::GroupSummary& group, Id id) {
  std::string space;
  bool found = false;
  for (const store::ProgressRow& row : store.progress_of(id, subject.device.id))
    if (row.stage.starts_with("score") && (!found || row.legal + row.rejected > group.enumerated)) {
      found = true;
      space = row.space;
      group.enumerated = row.legal + row.rejected;
      group.rejected = row.rejected;
      group.lowered = row.legal;
    }
  if (!found) group.status = report::GroupStatus::not_tuned;
  return space;
}

/// What speaks against the group as a whole comes first, else the rule that rejected most plans.
void add_rejections(const store::Store& store, const Subject& subject, const std::string& space, Id id,
                    report::GroupSummary& group) {
  bool whole = false;
  for (const store::RejectionRow& row : store.rejections(id, subject.device.id)) {
    if (row.space != space) continue;
    group.rejections.push_back({row.rule, row.plans, row.sound, row.reason});
    if (!group.best.empty() || whole) continue;
    if (row.plans == 0 || group.status_reason.empty()) group.status_reason = row.reason;
    whole = row.plans == 0;
    const bool skeleton = whole && row.rule.starts_with("skeleton");
    group.status = skeleton ? report::GroupStatus::needs_skeleton : report::GroupStatus::rejected;
  }
  // Plans whose kernels were executed and are wrong.
  std::map<std::string, report::RejectionCount> refuted;
  for (const store::PlanRejectionRow& row : store.plan_rejections_of(id, subject.device.id)) {
    report::RejectionCount& one = refuted[row.rule];
    if (one.count++ == 0) one = {row.rule, 1, true, row.reason};
  }
  for (auto& [rule, one] : refuted) group.rejections.push_back(std::move(one));
}

}  // namespace

report::GroupSummary load_group(const store::Store& store, const Subject& subject, const Gathered& gathered,
                                const store::FusionGroupRow& row, int plans) {
  const store::GroupRow& stored = gathered.groups.at(row.group);
  report::GroupSummary group;
  group.id = hex(row.group);
  group.name = stored.title.empty() ? "group " + short_hex(row.group) : stored.title;
  group.occurrences = whole_count(row.times);
  group.shape = shapes_of(stored);
  group.traffic = stored.read + stored.written;
  group.flops = stored.flops;
  const std::vector<store::GroupBoundRow> bounds = store.group_bounds(row.group, subject.device.id);
  const auto bound =
      std::max_element(bounds.begin(), bounds.end(), [](const auto& a, const auto& b) { return a.total < b.total; });
  if (bound != bounds.end()) group.lower_bound = bound->total;
  if (const auto xla = gathered.xla.find(row.group); xla != gathered.xla.end()) group.xla = xla->second;

  const std::string space = add_progress(store, subject, group, row.group);
  constexpr int everything = 1 << 30;
  for (const store::BestPlan& best : store.best_plans(row.group, subject.device.id, plans > 0 ? plans : everything)) {
    report::PlanSummary plan;
    plan.id = hex(best.estimate.plan);
    plan.plan = best.plan;
    std::optional<store::GroupBoundRow> least;
    if (bound != bounds.end()) {
      least = *bound;
      least->total = bound->total - std::min(bound->total, left_out(store, subject, best.estimate));
      if (group.best.empty()) group.lower_bound = least->total;
    }
    plan.estimates = load_estimates(store, subject, best.estimate.plan, least ? &*least : nullptr);
    const auto kernel = best.kernel ? store.kernel(*best.kernel) : std::nullopt;
    if (kernel) {
      plan.shared_bytes = kernel->shared;
      add_binary(store, subject, kernel->id, plan);
      add_checks(store, kernel->id, plan);
      if (group.best.empty()) group.kernel_text = kernel->text, group.cuda = kernel->cuda;
    }
    group.best.push_back(std::move(plan));
  }
  if (!group.best.empty()) group.status = report::GroupStatus::ok;
  add_rejections(store, subject, space, row.group, group);
  if (const auto bests = gathered.bests.find(row.group); bests != gathered.bests.end()) {
    // The lowest level of all has seen every plan that was lowered.
    group.times_level = bests->second.front().level;
    group.all_times = store.plan_times(row.group, subject.device.id, group.times_level);
    group.compiled =
        static_cast<std::int64_t>(store.plan_times(row.group, subject.device.id, ir::name(ir::Level::compiled)).size());
    if (group.lowered == 0) group.lowered = static_cast<std::int64_t>(group.all_times.size());
    if (group.enumerated == 0) group.enumerated = group.lowered;
  }
  return group;
}

}  // namespace tailor::study
