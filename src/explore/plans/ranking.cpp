// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranking plans and keeping kernels. In: scored plans with what they lower to. Out: their order, and the best as
// kernels. Called through ranking.h.
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
#include "explore/plans/ranking.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/indexed.h"

namespace tailor::explore {

namespace {

template <class Ranked>
Place place(const Ranked& one) {
  constexpr double nanosecond = 1e-9;
  return {std::round(one.estimate.total.value / nanosecond), row_for(one.estimate.parts, ir::Part::issue).value,
          one.from_usual, one.plan_id};
}

void forget_blocks(ir::Plan& plan) {
  plan.threads = 0;
  plan.blocks_per_sm = 0;
  for (ir::Plan& body : plan.bodies) forget_blocks(body);
}

/// What is left of a plan when its block does not count.
Id shape_of(ir::Plan plan, Id group) {
  forget_blocks(plan);
  return id_of(plan, group);
}

}  // namespace

Place place_of(const Scored& one) { return place(one); }
Place place_of(const Listed& one) { return place(one); }

void sort_by_place(std::vector<Scored>& ranked) {
  std::vector<std::pair<Place, std::size_t>> places;
  for (const Scored& scored : ranked) places.emplace_back(place_of(scored), places.size());
  std::sort(places.begin(), places.end());
  std::vector<Scored> sorted;
  sorted.reserve(ranked.size());
  for (const auto& [place, at] : places) sorted.push_back(std::move(ranked[at]));
  ranked = std::move(sorted);
}

Keeping::Keeping(const TuneOptions& options, Id group)
    : most_(options.keep),
      short_list_(std::min(options.short_list, options.keep)),
      group_(group),
      kernels_(options.keep),
      shapes_(short_list_),
      usual_(short_list_ > 0 ? 1 : 0) {}

bool Keeping::wants(const Scored& scored) const {
  const Place at = place(scored);
  return kernels_.wants(at) || shapes_.wants(at) || usual_.wants({scored.from_usual, at});
}

void Keeping::offer(const Scored& scored, const ir::Kernel& kernel, const costmodel::Work& work) {
  const Place at = place(scored);
  const std::pair near(scored.from_usual, at);
  const bool as_kernel = kernels_.wants(at), as_shape = shapes_.wants(at), as_usual = usual_.wants(near);
  if (!as_kernel && !as_shape && !as_usual) return;
  const auto listed = std::make_shared<Listed>(
      Listed{scored.plan, scored.estimate, scored.from_usual, scored.plan_id, kernel, id_of(kernel), work});
  if (as_kernel) kernels_.offer(at, listed->kernel_id, listed);
  if (as_shape) shapes_.offer(at, shape_of(scored.plan, group_), listed);
  if (as_usual) usual_.offer(near, {}, listed);
}

std::vector<Listed> Keeping::take() {
  using Shared = std::shared_ptr<Listed>;
  std::vector<Shared> kernels = kernels_.take(), chosen;
  std::set<Id> taken;
  const auto add = [&](const std::vector<Shared>& from, std::int64_t most) {
    for (const Shared& listed : from)
      if (std::ssize(chosen) < most && taken.insert(listed->kernel_id).second) chosen.push_back(listed);
  };
  if (short_list_ > 0) {
    std::vector<Shared> usual = usual_.take(), shapes = shapes_.take();
    add(shapes, 1);
    add(usual, short_list_);
    std::erase_if(shapes, [&](const Shared& one) {
      return std::any_of(chosen.begin(), chosen.end(), [&](const Shared& other) {
        return shape_of(one->plan, group_) == shape_of(other->plan, group_);
      });
    });
    add(shapes, short_list_);
    add(kernels, short_list_);
    std::sort(chosen.begin(), chosen.end(), [](const Shared& a, const Shared& b) { return place(*a) < place(*b); });
  }
  add(kernels, most_);
  std::vector<Listed> list;
  list.reserve(chosen.size());
  for (const Shared& one : chosen) list.push_back(std::move(*one));
  return list;
}

}  // namespace tailor::explore
