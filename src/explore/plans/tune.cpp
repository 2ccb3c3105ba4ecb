// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Enumerate, drop, lower, count, score, rank. In: a prepared group, axes, a device with its calibration. Out: every
// scored plan in order, the best with their kernels, and how many plans each rule or rejection took. Called by study's
// choose stage and by tests. Plans come one at a time, so that only the kernels of the best plans are in memory.
//
// Thinning. When only N plans may be scored, the plans that survive the rules are counted first, and N of them spread
// evenly over the enumeration are taken; so the sample is the same every time and reaches all values of the axes.
//
// Structures. A group that is turned has plans of a flat loop and of tiles (codegen/lower/prepare.h): the spaces of
// both are gone over, one after the other, and all plans are ranked together. Where no plan is left the flat loop's
// space says why.
//
// What decides. A plan is noted under the first rule that was asked and drops it (walk.h), so of a space without a plan
// the rule with most plans need not be the reason: at 65 threads many plans also have lanes that read too little at
// once. Where one rule, or what the lowering says, holds against every plan of such a space, all are noted under it.
//
// Heuristics never empty a group. Where no plan is left, the rules at the end of the table give way, as few as let a
// plan pass that lowers; soundness is not theirs to give.
//
// Known refusals. Under each set of rules, and again for the reason, the same plans come by. What the lowering has
// refused is known (refused_plans.h), and is not lowered again.
//
// Who is best, and whose kernels are kept, ranking.h says. A pack's plans are put together out of those of its bodies
// (packs.h), each of which is tuned here as a group of its own.
#include "explore/plans/tune.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/indexed.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/plans/packs.h"
#include "explore/plans/plan_counter.h"
#include "explore/plans/ranking.h"
#include "explore/plans/refused_plans.h"
#include "explore/plans/rules.h"
#include "explore/plans/usual.h"
#include "explore/plans/walk.h"

namespace tailor::explore {

namespace {

void note(std::vector<RejectedPlans>& rejections, const ir::Rejection& why, const ir::Plan& first, std::int64_t plans) {
  for (RejectedPlans& known : rejections)
    if (known.rule == why.rule) {
      known.plans += plans;
      return;
    }
  rejections.push_back({why.rule, why.sound, plans, text(first), why.reason});
}

/// Those that rules dropped, in the order in which they were met, then those that the lowering refused, most first.
std::vector<RejectedPlans> together(const std::vector<Dropped>& dropped, std::span<const RejectedPlans> refused) {
  std::vector<RejectedPlans> all;
  for (const Dropped& one : dropped)
    note(all, {ir::Refusal::of_rule(one.rule->name), std::string(one.rule->reason), one.rule->sound}, one.example,
         one.plans);
  for (const RejectedPlans& one : refused) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const RejectedPlans& r) { return r.rule == one.rule; });
    if (same == all.end())
      all.push_back(one);
    else
      same->plans += one.plans;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const RejectedPlans& a, const RejectedPlans& b) { return a.plans > b.plans; });
  return all;
}

/// Whether number `i` of `count` is among `wanted` spread evenly.
bool is_picked(std::int64_t i, std::int64_t count, std::int64_t wanted) {
  return i * wanted / count != (i + 1) * wanted / count;
}

/// Which of the plans that are picked are lowered, so that about so many looks are enough for all.
class Patience {
 public:
  /// `most`: 0 for no end. `plans`: that are picked.
  Patience(std::int64_t most, std::int64_t plans) : most_(most), left_(plans) {}

  bool takes_next(std::int64_t looks) {
    const std::int64_t left = left_--;
    if (most_ == 0 || looks == 0) return ++taken_ > 0;
    const double each = static_cast<double>(looks) / static_cast<double>(taken_);
    const double more = static_cast<double>(most_ - looks) / each;
    share_ += std::clamp(more / static_cast<double>(std::max<std::int64_t>(1, left)), 0.0, 1.0);
    if (share_ < 1) return false;
    share_ -= 1;
    return ++taken_ > 0;
  }

 private:
  std::int64_t most_, left_, taken_ = 0;
  double share_ = 0;  ///< of a plan that is not lowered yet
};

std::int64_t count_survivors(Plans plans) {
  std::int64_t survivors = 0;
  while (plans.next()) ++survivors;  // when stopped, what is scored sees it too
  return survivors;
}

/// The walks over the plans of each skeleton that the group has plans of.
std::vector<Plans> walks_over(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits,
                              std::span<const Rule> in_force, const std::stop_token& stop) {
  std::vector<Plans> walks;
  for (const codegen::Prepared* one : codegen::structures_of(prepared))
    walks.emplace_back(*one, axes_of_structure(prepared, *one, axes, limits), limits, in_force, stop);
  return walks;
}

Tuned tune_under(std::size_t in_force, const codegen::Prepared& prepared, const Axes& axes,
                 const costmodel::CalibratedDevice& device, const TuneOptions& options, RefusedPlans& refused_plans) {
  const costmodel::Model& model = options.model ? *options.model : *costmodel::find_model("projected");
  const ir::Limits& limits = device.limits;
  const costmodel::GroupWork group = costmodel::group_work(*prepared.group);
  codegen::LowerScratch lower_scratch;
  costmodel::Work work;
  const costmodel::ModelInputs inputs{.group = &group, .work = &work, .device = &device};

  Tuned tuned;
  Keeping keeping(options, prepared.group->id);
  const std::vector<const codegen::Prepared*> structures = codegen::structures_of(prepared);
  std::vector<Plans> walks = walks_over(prepared, axes, limits, rules().first(in_force), options.stop);
  std::int64_t survivors = 0, survivor = 0;
  for (const Plans& plans : walks) {
    tuned.space += plans.size();
    if (options.max_plans) survivors += count_survivors(plans);
  }
  const bool thinned = options.max_plans && survivors > *options.max_plans;
  std::vector<Dropped> dropped;
  Patience patience(options.max_plans ? options.most_looks : 0, thinned ? *options.max_plans : survivors);
  std::int64_t looks = 0;  // of the structures before
  for (std::size_t structure = 0; structure < structures.size(); ++structure) {
    const codegen::Prepared& of = *structures[structure];
    Plans& plans = walks[structure];
    const ir::Plan usual = usual_plan(of);
    PlanCounter counter(of, limits);
    while (const auto plan = plans.next()) {
      const bool picked = !thinned || is_picked(survivor++, survivors, *options.max_plans);
      if (!picked || !patience.takes_next(looks + counter.looks())) {
        ++tuned.left_out;
        continue;
      }
      if (const ir::Rejection* known = refused_plans.find(*plan)) {
        note(tuned.rejections, *known, *plan, 1);
        continue;
      }
      codegen::Lowered lowered = lower(of, *plan, limits, lower_scratch);
      if (const ir::Rejection* refused = std::get_if<ir::Rejection>(&lowered)) {
        note(tuned.rejections, *refused, *plan, 1);
        refused_plans.add(*plan, *refused, tuned.ranked.empty());
        continue;
      }
      counter.count(*plan, std::get<ir::Kernel>(lowered), work);
      tuned.ranked.push_back(
          {*plan, model.estimate(inputs), steps_between(*plan, usual), id_of(*plan, prepared.group->id)});
      keeping.offer(tuned.ranked.back(), std::get<ir::Kernel>(lowered), work);
    }
    looks += counter.looks();
    tuned.enumerated += plans.passed();
    tuned.stopped = tuned.stopped || plans.stopped();
    dropped.insert(dropped.end(), plans.dropped().begin(), plans.dropped().end());
  }
  sort_by_place(tuned.ranked);
  for (const RejectedPlans& one : tuned.rejections) tuned.refused += one.plans;
  tuned.rejections = together(dropped, tuned.rejections);
  tuned.best = keeping.take();
  tuned.lowerings = lower_scratch.lowerings;
  return tuned;
}

/// What the lowering says of every plan, under one rule; nothing where it says several things, or nothing of one.
std::optional<RejectedPlans> lowering_refuses_all(Plans plans, const codegen::Prepared& prepared,
                                                  const ir::Limits& limits, RefusedPlans& refused_plans,
                                                  codegen::LowerScratch& scratch) {
  std::optional<RejectedPlans> all;
  while (const auto plan = plans.next()) {
    codegen::Lowered lowered;
    const ir::Rejection* refused = refused_plans.find(*plan);
    if (refused == nullptr) {
      lowered = lower(prepared, *plan, limits, scratch);
      refused = std::get_if<ir::Rejection>(&lowered);
      if (refused != nullptr) refused_plans.add(*plan, *refused, false);
    }
    if (refused == nullptr || (all && all->rule != refused->rule)) return std::nullopt;
    if (!all) all = {refused->rule, refused->sound, 0, text(*plan), refused->reason};
    ++all->plans;
  }
  return plans.stopped() ? std::nullopt : all;
}

/// What holds against every plan of a space that has no legal one, whoever is asked first: what the lowering says, else
/// a sound rule. Nothing where no single rule does, or when stopped.
std::optional<RejectedPlans> refuses_all(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits,
                                         const std::stop_token& stop, RefusedPlans& refused_plans,
                                         codegen::LowerScratch& scratch) {
  if (auto lowering =
          lowering_refuses_all({prepared, axes, limits, {}, stop}, prepared, limits, refused_plans, scratch))
    return lowering;
  for (std::size_t i = 0; i < sound_rules(); ++i) {
    Plans plans(prepared, axes, limits, rules().subspan(i, 1), stop);
    if (plans.next() || plans.dropped().empty() || plans.stopped()) continue;
    return together(plans.dropped(), {}).front();
  }
  return std::nullopt;
}

/// The most rules, fewer than were in force, that leave a plan of those which were all dropped; nothing where the sound
/// ones alone leave none. What the lowering refused passed them all, so one rule less brings others.
std::optional<std::size_t> rules_that_leave_a_plan(const codegen::Prepared& prepared, const Axes& axes,
                                                   const ir::Limits& limits, const Tuned& tuned, std::size_t in_force,
                                                   const std::stop_token& stop) {
  const auto leave_a_plan = [&](std::size_t count) {
    return Plans(prepared, axes, limits, rules().first(count), stop).next().has_value();
  };
  std::size_t fewest = sound_rules(), beyond = in_force;
  if (fewest == beyond) return std::nullopt;
  if (tuned.refused > 0) return in_force - 1;
  if (!leave_a_plan(fewest)) return std::nullopt;
  while (beyond - fewest > 1) {
    const std::size_t middle = (fewest + beyond) / 2;
    (leave_a_plan(middle) ? fewest : beyond) = middle;
  }
  return fewest;
}

}  // namespace

TuneOptions in_passing(std::int64_t plans, const std::stop_token& stop) {
  TuneOptions options;
  constexpr std::int64_t looks_of_a_plan = 2000;
  options.max_plans = plans;
  options.most_looks = looks_of_a_plan * plans;
  options.keep = 1;
  options.reasons = false;
  options.stop = stop;
  return options;
}

std::int64_t size_of_space(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits) {
  std::int64_t sum = 0;
  if (prepared.bodies.empty())
    for (const Plans& plans : walks_over(prepared, axes, limits, {}, {})) sum += plans.size();
  for (const codegen::Body& body : prepared.bodies)
    sum += size_of_space(*body.prepared, axes_of_body(prepared, body, axes, limits), limits);
  return sum;
}

Tuned tune(const codegen::Prepared& prepared, const Axes& axes, const costmodel::CalibratedDevice& device,
           const TuneOptions& options) {
  if (!prepared.bodies.empty()) return tune_pack(prepared, axes, device, options);
  std::size_t in_force = options.heuristics ? rules().size() : sound_rules();
  RefusedPlans refused_plans(prepared.group->id);
  std::int64_t lowerings = 0;  // under rules that left no plan
  for (;;) {
    Tuned tuned = tune_under(in_force, prepared, axes, device, options, refused_plans);
    tuned.lowerings = lowerings += tuned.lowerings;
    if (!tuned.ranked.empty() || tuned.stopped) return tuned;
    const auto fewer = rules_that_leave_a_plan(prepared, axes, device.limits, tuned, in_force, options.stop);
    if (!fewer) {
      codegen::LowerScratch scratch;
      const auto decider = options.reasons
                               ? refuses_all(prepared, axes, device.limits, options.stop, refused_plans, scratch)
                               : std::nullopt;
      if (decider) tuned.rejections = {*decider};
      tuned.lowerings += scratch.lowerings;
      tuned.stopped = options.stop.stop_requested();
      return tuned;
    }
    in_force = *fewer;
  }
}

}  // namespace tailor::explore
