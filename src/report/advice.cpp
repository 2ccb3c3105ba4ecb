// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of advice. In: a Summary. Out: sentences, the most useful first.
// Called by the overview and the page. Each rule is a function that returns ""
// when it has nothing to say.
#include "report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/counted.h"
#include "base/text.h"
#include "ir/most_moved.h"
#include "report/overview.h"

namespace tailor::report {

namespace {

/// The group that explain shows when none is named.
std::string where_to_look(const Summary& summary) {
  std::vector<ir::GroupTraffic> moved;
  double bytes = 0, time = 0;
  for (const GroupSummary& group : summary.groups) {
    moved.push_back({group.status == GroupStatus::ok, group.traffic.value * static_cast<double>(group.occurrences)});
    bytes += moved.back().bytes;
    time += whole_time(group).value;
  }
  const std::optional<std::size_t> most = ir::most_moved(moved);
  if (!most || bytes <= 0 || summary.groups.size() < 2) return {};  // of one group it is plain
  const GroupSummary& group = summary.groups[*most];
  const std::string share =
      fmt::format("{} % of the bytes of all fused kernels ({} of {})", three_figures(100 * moved[*most].bytes / bytes),
                  humane_bytes(moved[*most].bytes), humane_bytes(bytes));
  if (!best_time(group) || time <= 0) return fmt::format("{} moves most in a run: {}.", group.name, share);
  return fmt::format("{} moves most in a run: {}, in {} % of their predicted time.", group.name, share,
                     three_figures(100 * whole_time(group).value / time));
}

std::string far_from_bound(const Summary& summary) {
  const GroupSummary* worst = nullptr;
  double worst_loss = 0;
  double worst_floor = 0;
  for (const GroupSummary& group : summary.groups) {
    if (group.best.empty() || group.best[0].estimates.size() < 2 || group.best[0].estimates[0].level != "sol") continue;
    const double floor = group.best[0].estimates[0].total.value;
    const double loss = (best_time(group)->value - floor) * static_cast<double>(group.occurrences);
    if (floor <= 0 || loss <= worst_loss) continue;
    worst = &group;
    worst_loss = loss;
    worst_floor = floor;
  }
  if (worst == nullptr) return {};
  const EstimateSummary& top = worst->best[0].estimates.back();
  const bool measured = is_measured(*worst);
  return fmt::format("The best plan of {} {} {}, {} × its speed of light of {}{}.", worst->name,
                     measured ? "was measured at" : "is predicted at", humane_seconds(top.total.value),
                     three_figures(top.total.value / worst_floor), humane_seconds(worst_floor),
                     measured ? "" : fmt::format("; {} binds", top.bottleneck));
}

std::string without_skeleton(const Summary& summary) {
  double missing = 0, all = 0;
  std::int64_t groups = 0;
  for (const GroupSummary& group : summary.groups) {
    const double bytes = group.traffic.value * static_cast<double>(group.occurrences);
    all += bytes;
    if (group.status != GroupStatus::needs_skeleton) continue;
    ++groups;
    missing += bytes;
  }
  if (groups == 0) return {};
  return fmt::format("{} of {}, {} % of the bytes of all groups ({}), {} no plan because no skeleton fits.", groups,
                     counted(summary.groups.size(), "group"), three_figures(all > 0 ? 100 * missing / all : 0),
                     humane_bytes(missing), groups == 1 ? "has" : "have");
}

std::string spills(const Summary& summary) {
  for (const GroupSummary& group : summary.groups)
    if (!group.best.empty() && group.best[0].spill_bytes.value_or(0) > 0)
      return fmt::format(
          "The best plan of {} spills {} per thread at {}: a plan with fewer values in "
          "flight may win.",
          group.name, counted(*group.best[0].spill_bytes, "byte"),
          counted(group.best[0].registers.value_or(0), "register"));
  return {};
}

std::string failed_compiles(const Summary& summary) {
  std::int64_t failed = 0, all = 0;
  for (const GroupSummary& group : summary.groups)
    for (const PlanSummary& plan : group.best) {
      all += plan.binary != BinaryState::none ? 1 : 0;
      failed += plan.binary == BinaryState::failed ? 1 : 0;
    }
  if (failed == 0) return {};
  return fmt::format("{} of {} did not compile: the compiler's words are kept with each plan.", failed,
                     counted(all, "listed kernel"));
}

std::string kernels_over_floor(const Summary& summary) {
  const StrategyTotals* chosen = find_strategy(summary, summary.chosen);
  if (chosen == nullptr || !chosen->kernel_floor || *chosen->kernel_floor <= 0) return {};
  if (chosen->kernels <= *chosen->kernel_floor)
    return fmt::format("{} makes {}; no partition has fewer.", chosen->name, counted(chosen->kernels, "kernel"));
  return fmt::format("{} makes {}; no partition has fewer than {}, so at most {} left to save.", chosen->name,
                     counted(chosen->kernels, "kernel"), with_commas(*chosen->kernel_floor),
                     with_commas(chosen->kernels - *chosen->kernel_floor) +
                         (chosen->kernels - *chosen->kernel_floor == 1 ? " is" : " are"));
}

std::string unchecked_kernels(const Summary& summary) {
  std::int64_t unchecked = 0, not_judged = 0, with_plan = 0;
  for (const GroupSummary& group : summary.groups) {
    if (group.best.empty()) continue;
    ++with_plan;
    unchecked += group.best[0].check == CheckState::unchecked ? 1 : 0;
    not_judged += group.best[0].check == CheckState::not_judged ? 1 : 0;
  }
  const auto is = [](std::int64_t count) {
    return fmt::format("{} {}", with_commas(count), count == 1 ? "is" : "are");
  };
  std::string out;
  if (unchecked > 0)
    out = fmt::format("Of {} {} unchecked: not executed and compared with the reference.",
                      counted(with_plan, "best kernel"), is(unchecked));
  if (not_judged > 0)
    out += fmt::format("{}Of {} {} not judged: executed, and no result says whether it is right.",
                       out.empty() ? "" : " ", counted(with_plan, "best kernel"), is(not_judged));
  return out;
}

constexpr auto rules = std::to_array<std::string (*)(const Summary&)>({
    where_to_look,
    far_from_bound,
    without_skeleton,
    spills,
    failed_compiles,
    kernels_over_floor,
    unchecked_kernels,
});

}  // namespace

std::vector<std::string> advice(const Summary& summary) {
  std::vector<std::string> out;
  for (const auto rule : rules)
    if (std::string line = rule(summary); !line.empty()) out.push_back(std::move(line));
  return out;
}

}  // namespace tailor::report
