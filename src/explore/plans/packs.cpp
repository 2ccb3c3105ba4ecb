// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Putting plans of bodies together to plans of a pack. In: a prepared pack, axes, a device. Out: ranked plans with
// their kernels. Called by tune().
//
// Method. The product of the bodies' spaces is out of reach: four bodies with a hundred plans each have 10⁸. But bodies
// hardly see one another: they share the blocks of the machine, registers and shared memory of a block, and what holds
// for the whole launch (threads, arithmetic). So each body is tuned as a group of its own first. Its plans fall into
// lists, one for each value of what a launch has once, best first; of each list the first few go on. A plan of the pack
// begins with the best of each body and is bettered body by body: every plan of a body that goes on is tried beside
// what the others have, and stays where the whole got faster. All that were tried are plans of the space.
//
// The order within a list is that of the bodies alone, on an empty machine, where few blocks are worse than they are
// beside others. That is why several go on.
//
// Stages are put together the same way, for each number of blocks that an SM may hold at once. Those share the SM's
// registers and shared memory in every stage, so what does not fit is left out before it is scored.
//
// Kernels and work of bodies are made once. A plan of the pack is scored by their work, put side by side; its kernel is
// made where it is kept.
#include "explore/plans/packs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/indexed.h"
#include "codegen/lower/lower_pack.h"
#include "codegen/lower/lower_stages.h"
#include "costmodel/count.h"
#include "explore/plans/ranking.h"
#include "explore/plans/usual.h"

namespace tailor::explore {

namespace {

/// So many plans of each body go on, in each list: more where bodies are few.
std::size_t going_on(std::size_t bodies) {
  constexpr std::size_t most_tried = 24, fewest = 2, most = 8;
  return std::clamp(1 + most_tried / bodies, fewest, most);
}

bool is_stages(const codegen::Prepared& whole) { return whole.skeleton == ir::Skeleton::stages; }

/// What a plan of a pack says for all of its bodies, as one of them has it. Of stages without the blocks on an SM.
ir::Plan head_of(const codegen::Prepared& whole, const ir::Plan& body) {
  ir::Plan head;
  head.skeleton = whole.skeleton;
  copy_fields(head, body, head.skeleton);
  if (is_stages(whole)) {
    head.homes = codegen::homes_between(whole);
    head.grid = ir::GridShape::persistent;
    head.blocks_per_sm = head.min_blocks = 0;
  }
  return head;
}

/// Plans of one body that agree in what a launch has once, best first.
using Going = std::vector<const Listed*>;

/// One plan of each body.
using Choice = std::vector<const Listed*>;

class PackSearch {
 public:
  PackSearch(const codegen::Prepared& pack, const costmodel::CalibratedDevice& device, const TuneOptions& options)
      : pack_(pack),
        device_(device),
        model_(options.model ? *options.model : *costmodel::find_model("projected")),
        group_(costmodel::group_work(*pack.group)),
        usual_(usual_plan(pack)),
        keeping_(options, pack.group->id) {}

  /// All plans that are tried under this head.
  void better(const ir::Plan& head, const std::vector<Going>& lists) {
    Choice best;
    for (const Going& list : lists) best.push_back(list.front());
    if (!fits(head, best)) return;
    double least = score(head, best);
    for (std::size_t body = 0; body < lists.size(); ++body)
      for (const Listed* other : lists[body]) {
        Choice tried = best;
        tried[body] = other;
        if (other == best[body] || !fits(head, tried)) continue;
        const double time = score(head, tried);
        if (time < least) least = time, best = std::move(tried);
      }
  }

  void finish(Tuned& tuned) {
    sort_by_place(scored_);
    tuned.ranked = std::move(scored_);
    tuned.best = keeping_.take();
  }

 private:
  /// Whether the SMs hold the blocks that meet.
  bool fits(const ir::Plan& head, const Choice& choice) const {
    if (!is_stages(pack_)) return true;
    std::vector<const ir::Kernel*> stages;
    for (const Listed* body : choice) stages.push_back(&body->kernel);
    return !codegen::refuse_residents(stages, head.blocks_per_sm, device_.limits);
  }

  double score(const ir::Plan& head, const Choice& choice) {
    Scored one;
    one.plan = head;
    for (std::size_t body = 0; body < choice.size(); ++body)
      one.plan.bodies.push_back(codegen::plan_in_whole(pack_.bodies[body], choice[body]->plan));
    copy_fields(one.plan, head, head.skeleton);
    one.plan_id = id_of(one.plan, pack_.group->id);
    const costmodel::Work work = work_of(head, choice);
    one.estimate = model_.estimate({.group = &group_, .work = &work, .device = &device_});
    one.from_usual = steps_between(one.plan, usual_);
    const double time = one.estimate.total.value;
    if (!known_.insert(one.plan_id).second) return time;
    if (keeping_.wants(one)) keeping_.offer(one, kernel_of(head, choice), work);
    scored_.push_back(std::move(one));
    return time;
  }

  ir::Kernel kernel_of(const ir::Plan& head, const Choice& choice) const {
    std::vector<ir::Kernel> bodies;
    for (const Listed* body : choice) bodies.push_back(body->kernel);
    return is_stages(pack_) ? codegen::behind_one_another(pack_, std::move(bodies), head.blocks_per_sm, device_.limits)
                            : codegen::beside_one_another(pack_, std::move(bodies));
  }

  /// Blocks of stages loop and meet, so they are counted together; bodies side by side are as they are alone.
  costmodel::Work work_of(const ir::Plan& head, const Choice& choice) {
    if (!is_stages(pack_)) return side_by_side(choice);
    costmodel::Work work;
    count(kernel_of(head, choice), costmodel::Mode::fast, scratch_, work);
    return work;
  }

  /// As count() would have it of the launch.
  costmodel::Work side_by_side(const Choice& choice) const {
    std::vector<const ir::Kernel*> kernels;
    for (const Listed* body : choice) kernels.push_back(&body->kernel);
    const std::vector<std::vector<ir::BufferId>> places = codegen::buffers_in_whole(pack_, kernels);
    std::size_t buffers = 0;
    for (const std::vector<ir::BufferId>& of_body : places)
      for (const ir::BufferId place : of_body) buffers = std::max<std::size_t>(buffers, std::size_t{place} + 1);
    costmodel::Work all;
    for (std::size_t body = 0; body < choice.size(); ++body) {
      costmodel::Work work = choice[body]->work;
      Sparse<costmodel::BufferWork> moved(buffers);
      work.buffers.each([&](std::size_t b, const costmodel::BufferWork& own) { moved[places[body][b]] = own; });
      work.buffers = std::move(moved);
      work.begins = body > 0 ? ir::Begins::beside : ir::Begins::launch;
      if (body == 0)
        all = std::move(work);
      else
        all.followers.push_back(std::move(work));
    }
    return all;
  }

  const codegen::Prepared& pack_;
  const costmodel::CalibratedDevice& device_;
  const costmodel::Model& model_;
  const costmodel::GroupWork group_;
  const ir::Plan usual_;
  Keeping keeping_;
  costmodel::Scratch scratch_;
  std::vector<Scored> scored_;
  std::set<Id> known_;
};

void add(std::vector<RejectedPlans>& all, std::vector<RejectedPlans> more, ir::Skeleton whole, std::size_t body) {
  for (RejectedPlans& one : more) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const RejectedPlans& r) { return r.rule == one.rule; });
    if (same != all.end()) {
      same->plans += one.plans;
    } else {
      one.reason = fmt::format("{}: {}", codegen::body_words(whole, body), one.reason);
      all.push_back(std::move(one));
    }
  }
}

/// Blocks on an SM that stages are asked about; a pack has none of its own.
std::vector<int> residents_of(const codegen::Prepared& whole, const Axes& axes) {
  if (!is_stages(whole)) return {0};
  const std::vector<int>& asked = axes[ir::PlanField::blocks_per_sm];
  return asked.empty() ? std::vector<int>{1, 2, 4, 8} : asked;
}

}  // namespace

Axes axes_of_body(const codegen::Prepared& whole, const codegen::Body& body, const Axes& axes,
                  const ir::Limits& limits) {
  Axes own = default_axes(*body.prepared, limits);
  // A stage that is a pack hands on what it has no axis for itself.
  const bool is_pack = !body.prepared->bodies.empty();
  for (const ir::PlanField field : axes_of(is_pack ? std::nullopt : std::optional(body.prepared->skeleton))) {
    if (axes[field].empty()) continue;
    own[field] = axes[field];
    if (field != ir::PlanField::dominant) continue;
    std::vector<int> inside;  // a node of another body says nothing of this one
    for (const int node : axes[field]) {
      const auto at = std::find(body.nodes.begin(), body.nodes.end(), node);
      if (at != body.nodes.end()) inside.push_back(static_cast<int>(at - body.nodes.begin()));
    }
    own.names_dominants = axes.names_dominants && !inside.empty();
    own[field] = inside.empty() ? body.prepared->dominants : inside;
  }
  const auto keep = [&](ir::PlanField field, int value) {
    std::erase_if(own[field], [&](int other) { return other != value; });
    if (own[field].empty()) own[field].push_back(value);
  };
  keep(ir::PlanField::meet, static_cast<int>(ir::Meeting::last));
  keep(ir::PlanField::cluster, 0);
  // Where sums go across rows the loop over blocks is one of the body itself. Stages have one of their own.
  if (!body.prepared->sums_across || is_stages(whole)) keep(ir::PlanField::grid, static_cast<int>(ir::GridShape::tile));
  if (is_stages(whole)) keep(ir::PlanField::min_blocks, 0);
  return own;
}

namespace {

/// Plans of bodies by what a launch has once.
struct Heads {
  const codegen::Prepared& whole;
  std::map<std::string, std::pair<ir::Plan, std::vector<Going>>> lists;  ///< by its text
  std::size_t most;                                                      ///< plans of one list

  void add(const Tuned& found, std::size_t body, std::size_t bodies) {
    for (const Listed& one : found.best) {
      const ir::Plan head = head_of(whole, one.plan);
      auto& [plan, lists_of_head] = lists.try_emplace(text(head), head, std::vector<Going>(bodies)).first->second;
      Going& list = lists_of_head[body];
      if (list.size() < most) list.push_back(&one);
    }
  }
  static bool is_whole(const std::vector<Going>& of_bodies) {
    return std::none_of(of_bodies.begin(), of_bodies.end(), [](const Going& list) { return list.empty(); });
  }
  bool any_whole() const {
    return std::any_of(lists.begin(), lists.end(), [](const auto& head) { return is_whole(head.second.second); });
  }
};

/// Every plan of a body by itself with its kernel: which of them go together is the pack's to say.
Tuned all_plans_of(const codegen::Body& body, const Axes& own, const costmodel::CalibratedDevice& device,
                   TuneOptions options) {
  options.keep = keep_all;
  options.short_list = 0;
  return tune(*body.prepared, own, device, options);
}

/// Heuristics may leave each body other numbers of threads. They never empty a group: bodies that have no plan for one
/// that others have are asked about it alone, where rules give way.
void ask_for_common_threads(const codegen::Prepared& pack, const Axes& axes, const costmodel::CalibratedDevice& device,
                            const TuneOptions& options, Heads& heads, std::vector<Tuned>& asked) {
  std::set<int> threads;
  for (const auto& [words, of_head] : heads.lists) threads.insert(of_head.first.threads);
  asked.reserve(threads.size() * pack.bodies.size());
  for (const int each : threads)
    for (std::size_t body = 0; body < pack.bodies.size() && !options.stop.stop_requested(); ++body) {
      const bool has = std::any_of(heads.lists.begin(), heads.lists.end(), [&](const auto& head) {
        return head.second.first.threads == each && !head.second.second[body].empty();
      });
      if (has) continue;
      Axes own = axes_of_body(pack, pack.bodies[body], axes, device.limits);
      own[ir::PlanField::threads] = {each};
      asked.push_back(all_plans_of(pack.bodies[body], own, device, options));
      heads.add(asked.back(), body, pack.bodies.size());
    }
}

/// Why no plan has a value that is asked for on some axis: it needs a launch of a body's own, or blocks that are not
/// resident. Nothing where each axis has a value left.
std::optional<std::string> none_has_it(const codegen::Prepared& whole, const Axes& axes) {
  const auto lacks = [&](ir::PlanField field, int value) {
    return !axes[field].empty() && std::find(axes[field].begin(), axes[field].end(), value) == axes[field].end();
  };
  const auto needs_a_launch = [&](ir::PlanField field) {
    return fmt::format("axis {}: every value asked for needs a launch of its own, which no {} has", row(field).name,
                       codegen::body_word(whole.skeleton));
  };
  if (lacks(ir::PlanField::meet, static_cast<int>(ir::Meeting::last))) return needs_a_launch(ir::PlanField::meet);
  if (lacks(ir::PlanField::cluster, 0)) return needs_a_launch(ir::PlanField::cluster);
  if (is_stages(whole)) {
    if (!lacks(ir::PlanField::grid, static_cast<int>(ir::GridShape::persistent))) return std::nullopt;
    return "axis grid: blocks that meet between stages are resident, so every plan has grid=persistent";
  }
  const bool across = std::any_of(whole.bodies.begin(), whole.bodies.end(),
                                  [](const codegen::Body& body) { return body.prepared->sums_across; });
  if (across || !lacks(ir::PlanField::grid, static_cast<int>(ir::GridShape::tile))) return std::nullopt;
  return needs_a_launch(ir::PlanField::grid);
}

/// No plan of the space, for one reason.
Tuned none_of(std::int64_t space, std::string reason) {
  Tuned tuned;
  tuned.space = tuned.enumerated = space;
  tuned.rejections = {{"bodies", true, space, "", std::move(reason)}};
  return tuned;
}

}  // namespace

Tuned tune_pack(const codegen::Prepared& pack, const Axes& axes, const costmodel::CalibratedDevice& device,
                const TuneOptions& options) {
  const std::size_t bodies = pack.bodies.size();
  Tuned tuned;
  if (std::optional<std::string> why = none_has_it(pack, axes))
    return none_of(size_of_space(pack, axes, device.limits), *std::move(why));
  std::vector<Tuned> alone;  // lists point into them
  alone.reserve(bodies);
  Heads heads{pack, {}, going_on(is_stages(pack) ? bodies * residents_of(pack, axes).size() : bodies)};
  for (std::size_t body = 0; body < bodies; ++body) {
    const codegen::Body& of = pack.bodies[body];
    alone.push_back(all_plans_of(of, axes_of_body(pack, of, axes, device.limits), device, options));
    Tuned& found = alone.back();
    tuned.space += found.space;
    tuned.enumerated += found.enumerated;
    tuned.left_out += found.left_out;
    tuned.lowerings += found.lowerings;
    add(tuned.rejections, found.rejections, pack.skeleton, body);
    if (found.stopped || found.ranked.empty()) {
      // A body without a plan leaves none to the pack: what refused it is the reason.
      if (!found.stopped)
        tuned.rejections.clear(), add(tuned.rejections, std::move(found.rejections), pack.skeleton, body);
      tuned.stopped = found.stopped;
      return tuned;
    }
    heads.add(found, body, bodies);
  }
  std::vector<Tuned> asked;  // lists point into these too
  if (!heads.any_whole()) ask_for_common_threads(pack, axes, device, options, heads, asked);
  PackSearch search(pack, device, options);
  for (const auto& [words, of_head] : heads.lists) {
    const auto& [head, lists] = of_head;
    if (options.stop.stop_requested()) break;
    if (!Heads::is_whole(lists)) continue;
    for (const int blocks : residents_of(pack, axes)) {
      ir::Plan with_blocks = head;
      with_blocks.blocks_per_sm = blocks;
      search.better(with_blocks, lists);
    }
  }
  search.finish(tuned);
  tuned.stopped = options.stop.stop_requested();
  if (tuned.ranked.empty() && !tuned.stopped)
    tuned.rejections = {
        {"bodies", false, tuned.enumerated, "",
         fmt::format("no number of threads has a plan of every {}", codegen::body_word(pack.skeleton))}};
  // Of the plans of bodies those count that were dropped; what goes on counts as the plans that it became part of.
  tuned.enumerated = std::ssize(tuned.ranked);
  for (const RejectedPlans& one : tuned.rejections) tuned.enumerated += one.plans;
  std::stable_sort(tuned.rejections.begin(), tuned.rejections.end(),
                   [](const RejectedPlans& a, const RejectedPlans& b) { return a.plans > b.plans; });
  return tuned;
}

}  // namespace tailor::explore
