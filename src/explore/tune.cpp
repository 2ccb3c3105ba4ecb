// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Enumerate, drop, lower, count, score, rank.
#include "explore/tune.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/rules.h"

namespace tailor::explore {

namespace {

const Rule* drops(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits, bool heuristics) {
  const Rule* rule = dropped_by(prepared, plan, limits);
  return rule && (rule->sound || heuristics) ? rule : nullptr;
}

void note(std::vector<RejectedPlans>& rejections, std::string_view rule, bool sound, const ir::Plan& plan,
          std::string_view reason) {
  for (RejectedPlans& known : rejections)
    if (known.rule == rule) {
      ++known.plans;
      return;
    }
  rejections.push_back({std::string(rule), sound, 1, text(plan), std::string(reason)});
}

/// Whole nanoseconds first: less than that is noise of the arithmetic, not a prediction. Among equals the plan that
/// issues fewer instructions leaves more room for what the model does not see. The database ranks by the same key.
std::pair<double, double> rank_key(const ir::Estimate& estimate) {
  constexpr double nanosecond = 1e-9;
  return {std::round(estimate.total.value / nanosecond),
          estimate.parts[static_cast<std::size_t>(ir::Part::issue)].value};
}

/// Whether number `i` of `count` is among `wanted` spread evenly.
bool is_picked(std::int64_t i, std::int64_t count, std::int64_t wanted) {
  return i * wanted / count != (i + 1) * wanted / count;
}

std::int64_t count_survivors(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits,
                             bool heuristics) {
  Plans plans(prepared, axes, limits);
  std::int64_t survivors = 0;
  while (const auto plan = plans.next()) survivors += drops(prepared, *plan, limits, heuristics) ? 0 : 1;
  return survivors;
}

}  // namespace

Tuned tune(const codegen::Prepared& prepared, const Axes& axes, const costmodel::CalibratedDevice& device,
           const TuneOptions& options) {
  const costmodel::Model& model = options.model ? *options.model : *costmodel::find_model("projected");
  const ir::Limits& limits = device.limits;
  const costmodel::GroupWork group = costmodel::group_work(*prepared.group);
  codegen::LowerScratch lower_scratch;
  costmodel::Scratch count_scratch;
  costmodel::Work work;
  const costmodel::ModelInputs inputs{.group = &group, .work = &work, .device = &device};

  Tuned tuned;
  Plans plans(prepared, axes, limits);
  tuned.space = plans.size();
  const std::int64_t survivors = options.max_plans ? count_survivors(prepared, axes, limits, options.heuristics) : 0;
  const bool thinned = options.max_plans && survivors > *options.max_plans;
  std::int64_t survivor = 0;
  while (const auto plan = plans.next()) {
    if (options.stop.stop_requested()) {
      tuned.stopped = true;
      break;
    }
    ++tuned.enumerated;
    if (const Rule* rule = drops(prepared, *plan, limits, options.heuristics)) {
      note(tuned.rejections, rule->name, rule->sound, *plan, rule->reason);
      continue;
    }
    if (thinned && !is_picked(survivor++, survivors, *options.max_plans)) {
      ++tuned.left_out;
      continue;
    }
    const codegen::Lowered lowered = lower(prepared, *plan, limits, lower_scratch);
    if (const ir::Rejection* refused = std::get_if<ir::Rejection>(&lowered)) {
      note(tuned.rejections, refused->rule, refused->sound, *plan, refused->reason);
      continue;
    }
    costmodel::count(std::get<ir::Kernel>(lowered), costmodel::Mode::fast, count_scratch, work);
    tuned.ranked.push_back({*plan, model.estimate(inputs)});
  }
  std::stable_sort(tuned.ranked.begin(), tuned.ranked.end(),
                   [](const Scored& a, const Scored& b) { return rank_key(a.estimate) < rank_key(b.estimate); });
  std::stable_sort(tuned.rejections.begin(), tuned.rejections.end(),
                   [](const RejectedPlans& a, const RejectedPlans& b) { return a.plans > b.plans; });
  return tuned;
}

std::vector<Listed> shortlist(const codegen::Prepared& prepared, const Tuned& tuned, const ir::Limits& limits,
                              std::int64_t count) {
  std::vector<Listed> list;
  std::set<Id> seen;
  codegen::LowerScratch scratch;
  for (const Scored& scored : tuned.ranked) {
    if (static_cast<std::int64_t>(list.size()) >= count) break;
    codegen::Lowered lowered = lower(prepared, scored.plan, limits, scratch);
    assert(std::holds_alternative<ir::Kernel>(lowered));
    ir::Kernel& kernel = std::get<ir::Kernel>(lowered);
    const Id id = id_of(kernel);
    if (!seen.insert(id).second) continue;
    costmodel::Work work = costmodel::count(kernel, costmodel::Mode::fast);
    list.push_back({scored.plan, scored.estimate, std::move(kernel), id, std::move(work)});
  }
  return list;
}

}  // namespace tailor::explore
