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
// What decides. A plan is noted under the first rule that was asked and drops it (walk.h), so of a space without a plan
// the rule with most plans need not be the reason: at 65 threads many plans also have lanes that read too little at
// once. Where one rule, or what the lowering says, holds against every plan of such a space, all are noted under it.
//
// Heuristics never empty a group. Where no plan is left, the rules at the end of the table give way, as few as let a
// plan pass that lowers; soundness is not theirs to give.
//
// Ranking. Estimates are compared in whole nanoseconds, since less is noise of the arithmetic and no prediction; among
// equals the plan that issues fewer instructions comes first, because it leaves more room for what the model does not
// see; then the one nearer to the usual plan of such a group (usual.h), then the smaller id. The database ranks by the
// same key.
//
// Method of the short list. It is wanted as the first K different kernels of the ranking, where a kernel stands at its
// best plan's place. The ranking is known at the end, the kernels are known on the way; so K kernels are kept, each at
// the best place seen so far, and the worst of them is the bar for the next. A kernel that was pushed out and comes
// back under a better plan is simply taken again: what pushed it out still stands above its old place.
//
// A short list for people who compile and measure is another matter: four plans that differ in the block size alone
// tell as much as one. So besides the K best kernels the K best shapes are kept, where plans that differ in nothing but
// threads are one shape, and the plan that is nearest to the usual one. The short list takes that plan and then the
// best shapes; where there are fewer than K, the best of the other kernels.
#include "explore/plans/tune.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/indexed.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/plans/plan_counter.h"
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
    note(all, {std::string(one.rule->name), std::string(one.rule->reason), one.rule->sound}, one.example, one.plans);
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

/// Where a plan stands; the least is the best. Whole nanoseconds first: less than that is noise of the arithmetic, not
/// a prediction. Among equals the plan that issues fewer instructions leaves more room for what the model does not see.
/// The database ranks by the same key.
struct Place {
  double nanoseconds = 0, issue = 0;
  int from_usual = 0;
  Id plan;
  auto operator<=>(const Place&) const = default;
};

template <class Ranked>
Place place_of(const Ranked& one) {
  constexpr double nanosecond = 1e-9;
  return {std::round(one.estimate.total.value / nanosecond), row_for(one.estimate.parts, ir::Part::issue).value,
          one.from_usual, one.plan_id};
}

/// What is left of a plan when its block does not count.
Id shape_of(ir::Plan plan, Id group) {
  plan.threads = 0;
  plan.blocks_per_sm = 0;
  return id_of(plan, group);
}

/// The best plans so far of different keys.
template <class Order>
class Best {
 public:
  explicit Best(std::int64_t most) : most_(most) {}

  /// Whether a plan there would be taken, if its key is new.
  bool wants(const Order& place) const {
    return most_ > 0 && (static_cast<std::int64_t>(best_.size()) < most_ || place < best_.rbegin()->first);
  }

  void offer(const Order& place, Id key, const Listed& listed) {
    const auto [known, fresh] = places_.try_emplace(key, place);
    if (!fresh && known->second < place) return;
    if (!fresh) best_.erase(std::exchange(known->second, place));
    best_.emplace(place, std::pair(key, listed));
    if (static_cast<std::int64_t>(best_.size()) <= most_) return;
    places_.erase(best_.rbegin()->second.first);
    best_.erase(std::prev(best_.end()));
  }

  /// Best first.
  std::vector<Listed> take() {
    std::vector<Listed> list;
    for (auto& [place, entry] : best_) list.push_back(std::move(entry.second));
    return list;
  }

 private:
  std::int64_t most_;
  std::map<Order, std::pair<Id, Listed>> best_;
  std::map<Id, Order> places_;  ///< of the keys in best_
};

/// What is kept on the way: the best kernels, and for a short list the best shapes and the plan nearest to the usual.
class Keeping {
 public:
  Keeping(const TuneOptions& options, Id group)
      : most_(options.keep),
        short_list_(std::min(options.short_list, options.keep)),
        group_(group),
        kernels_(options.keep),
        shapes_(short_list_),
        usual_(short_list_ > 0 ? 1 : 0) {}

  void offer(const Scored& scored, const ir::Kernel& kernel, const costmodel::Work& work) {
    const Place place = place_of(scored);
    const std::pair near(scored.from_usual, place);
    const bool as_kernel = kernels_.wants(place), as_shape = shapes_.wants(place), as_usual = usual_.wants(near);
    if (!as_kernel && !as_shape && !as_usual) return;
    const Listed listed{scored.plan, scored.estimate, scored.from_usual, scored.plan_id, kernel, id_of(kernel), work};
    if (as_kernel) kernels_.offer(place, listed.kernel_id, listed);
    if (as_shape) shapes_.offer(place, shape_of(scored.plan, group_), listed);
    if (as_usual) usual_.offer(near, {}, listed);
  }

  /// The short list in the order of the ranking, then the other kernels.
  std::vector<Listed> take() {
    std::vector<Listed> kernels = kernels_.take(), chosen;
    std::set<Id> taken;
    const auto add = [&](std::vector<Listed>& from, std::int64_t most) {
      for (Listed& listed : from)
        if (std::ssize(chosen) < most && taken.insert(listed.kernel_id).second) chosen.push_back(std::move(listed));
    };
    if (short_list_ > 0) {
      std::vector<Listed> usual = usual_.take(), shapes = shapes_.take();
      add(shapes, 1);
      add(usual, short_list_);
      std::erase_if(shapes, [&](const Listed& one) {
        return std::any_of(chosen.begin(), chosen.end(), [&](const Listed& other) {
          return shape_of(one.plan, group_) == shape_of(other.plan, group_);
        });
      });
      add(shapes, short_list_);
      add(kernels, short_list_);
      std::sort(chosen.begin(), chosen.end(),
                [](const Listed& a, const Listed& b) { return place_of(a) < place_of(b); });
    }
    add(kernels, most_);
    return chosen;
  }

 private:
  std::int64_t most_, short_list_;
  Id group_;
  Best<Place> kernels_, shapes_;
  Best<std::pair<int, Place>> usual_;
};

void sort_by_place(std::vector<Scored>& ranked) {
  std::vector<std::pair<Place, std::size_t>> places;
  for (const Scored& scored : ranked) places.emplace_back(place_of(scored), places.size());
  std::sort(places.begin(), places.end());
  std::vector<Scored> sorted;
  sorted.reserve(ranked.size());
  for (const auto& [place, at] : places) sorted.push_back(std::move(ranked[at]));
  ranked = std::move(sorted);
}

/// Whether number `i` of `count` is among `wanted` spread evenly.
bool is_picked(std::int64_t i, std::int64_t count, std::int64_t wanted) {
  return i * wanted / count != (i + 1) * wanted / count;
}

std::int64_t count_survivors(Plans plans) {
  std::int64_t survivors = 0;
  while (plans.next()) ++survivors;  // when stopped, what is scored sees it too
  return survivors;
}

Tuned tune_under(std::size_t in_force, const codegen::Prepared& prepared, const Axes& axes,
                 const costmodel::CalibratedDevice& device, const TuneOptions& options) {
  const costmodel::Model& model = options.model ? *options.model : *costmodel::find_model("projected");
  const ir::Limits& limits = device.limits;
  const costmodel::GroupWork group = costmodel::group_work(*prepared.group);
  codegen::LowerScratch lower_scratch;
  PlanCounter counter(prepared, limits);
  costmodel::Work work;
  const costmodel::ModelInputs inputs{.group = &group, .work = &work, .device = &device};

  Tuned tuned;
  const ir::Plan usual = usual_plan(prepared);
  Keeping keeping(options, prepared.group->id);
  Plans plans(prepared, axes, limits, rules().first(in_force), options.stop);
  tuned.space = plans.size();
  const std::int64_t survivors = options.max_plans ? count_survivors(plans) : 0;
  const bool thinned = options.max_plans && survivors > *options.max_plans;
  std::int64_t survivor = 0;
  while (const auto plan = plans.next()) {
    if (thinned && !is_picked(survivor++, survivors, *options.max_plans)) {
      ++tuned.left_out;
      continue;
    }
    codegen::Lowered lowered = lower(prepared, *plan, limits, lower_scratch);
    if (const ir::Rejection* refused = std::get_if<ir::Rejection>(&lowered)) {
      note(tuned.rejections, *refused, *plan, 1);
      continue;
    }
    counter.count(*plan, std::get<ir::Kernel>(lowered), work);
    tuned.ranked.push_back(
        {*plan, model.estimate(inputs), steps_between(*plan, usual), id_of(*plan, prepared.group->id)});
    keeping.offer(tuned.ranked.back(), std::get<ir::Kernel>(lowered), work);
  }
  tuned.enumerated = plans.passed();
  tuned.stopped = plans.stopped();
  sort_by_place(tuned.ranked);
  tuned.rejections = together(plans.dropped(), tuned.rejections);
  tuned.best = keeping.take();
  tuned.lowerings = lower_scratch.lowerings;
  return tuned;
}

/// What the lowering says of every plan, under one rule; nothing where it says several things, or nothing of one.
std::optional<RejectedPlans> lowering_refuses_all(Plans plans, const codegen::Prepared& prepared,
                                                  const ir::Limits& limits) {
  codegen::LowerScratch scratch;
  std::optional<RejectedPlans> all;
  while (const auto plan = plans.next()) {
    const codegen::Lowered lowered = lower(prepared, *plan, limits, scratch);
    const ir::Rejection* refused = std::get_if<ir::Rejection>(&lowered);
    if (refused == nullptr || (all && all->rule != refused->rule)) return std::nullopt;
    if (!all) all = {refused->rule, refused->sound, 0, text(*plan), refused->reason};
    ++all->plans;
  }
  return plans.stopped() ? std::nullopt : all;
}

/// What holds against every plan of a space that has no legal one, whoever is asked first: what the lowering says, else
/// a sound rule. Nothing where no single rule does, or when stopped.
std::optional<RejectedPlans> refuses_all(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits,
                                         const std::stop_token& stop) {
  if (auto lowering = lowering_refuses_all({prepared, axes, limits, {}, stop}, prepared, limits)) return lowering;
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
  if (tuned.lowerings > 0) return in_force - 1;
  if (!leave_a_plan(fewest)) return std::nullopt;
  while (beyond - fewest > 1) {
    const std::size_t middle = (fewest + beyond) / 2;
    (leave_a_plan(middle) ? fewest : beyond) = middle;
  }
  return fewest;
}

}  // namespace

Tuned tune(const codegen::Prepared& prepared, const Axes& axes, const costmodel::CalibratedDevice& device,
           const TuneOptions& options) {
  std::size_t in_force = options.heuristics ? rules().size() : sound_rules();
  for (;;) {
    Tuned tuned = tune_under(in_force, prepared, axes, device, options);
    if (!tuned.ranked.empty() || tuned.stopped) return tuned;
    const auto fewer = rules_that_leave_a_plan(prepared, axes, device.limits, tuned, in_force, options.stop);
    if (!fewer) {
      if (const auto decider = refuses_all(prepared, axes, device.limits, options.stop)) tuned.rejections = {*decider};
      tuned.stopped = options.stop.stop_requested();
      return tuned;
    }
    in_force = *fewer;
  }
}

}  // namespace tailor::explore
