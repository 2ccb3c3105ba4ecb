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
// Clusters are of one size in a launch, and meetings of blocks want all blocks resident. So plans go together by what
// the launch would be: without either, with clusters of each size, with meetings. In one with meetings those go on of
// a body whose blocks meet, many or few of them, that have a block for each tile, and that loop with so many blocks on
// an SM, some of each: few blocks and loops are never best alone, and are what leaves others room. Its first plan has
// the best of each body; while the blocks are more than the SMs hold, the body that has most gets the best of its plans
// with fewer.
//
// Stages are put together the same way, for each number of blocks that an SM may hold at once. Those share the SM's
// registers and shared memory in every stage, so what does not fit is left out before it is scored.
//
// Kernels and work of bodies are made once. A plan of the pack is scored by their work, put side by side; its kernel is
// made where it is kept.
#include "explore/plans/packs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
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
#include "explore/plans/orders.h"
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

bool meets(const ir::Plan& plan) { return plan.meet == ir::Meeting::grid; }
bool loops(const codegen::Body& body, const ir::Plan& plan) {
  return plan.grid == ir::GridShape::persistent && !body.prepared->sums_across;
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
    while (!fits(head, best))
      if (is_stages(pack_) || !with_fewer_blocks(lists, best)) return;
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
  static std::vector<const ir::Kernel*> kernels_of(const Choice& choice) {
    std::vector<const ir::Kernel*> kernels;
    for (const Listed* body : choice) kernels.push_back(&body->kernel);
    return kernels;
  }

  /// Whether one launch holds them, and the SMs its blocks where they meet.
  bool fits(const ir::Plan& head, const Choice& choice) {
    const std::vector<const ir::Kernel*> kernels = kernels_of(choice);
    if (is_stages(pack_)) return !codegen::refuse_residents(kernels, head.blocks_per_sm, device_.limits);
    if (codegen::refuse_together(kernels, device_.limits)) return false;
    const int residents = codegen::launch_of(kernels, device_.limits).min_blocks;
    for (std::size_t body = 0; body < choice.size(); ++body)
      if (choice[body]->kernel.min_blocks < residents && !leaves_room(body, *choice[body], residents)) return false;
    return true;
  }

  /// Whether what the body keeps in registers lets so many blocks be resident.
  bool leaves_room(std::size_t body, const Listed& plan, int residents) {
    const auto [known, fresh] = room_.try_emplace({&plan, residents}, false);
    if (fresh) known->second = !codegen::refuse_kept(pack_, plan.plan, body, residents, device_.limits, lower_scratch_);
    return known->second;
  }

  /// Gives one body a plan with fewer blocks: that which costs it least time by itself for each block less.
  static bool with_fewer_blocks(const std::vector<Going>& lists, Choice& choice) {
    const Listed* fewer = nullptr;
    std::size_t of = 0;
    double least = 0;
    for (std::size_t body = 0; body < choice.size(); ++body)
      for (const Listed* other : lists[body]) {
        const std::int64_t saved = choice[body]->kernel.grid - other->kernel.grid;
        if (saved <= 0) continue;
        const double each = (other->estimate.total - choice[body]->estimate.total).value / static_cast<double>(saved);
        if (fewer == nullptr || each < least) fewer = other, of = body, least = each;
      }
    if (fewer != nullptr) choice[of] = fewer;
    return fewer != nullptr;
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
                            : codegen::beside_one_another(pack_, std::move(bodies), device_.limits);
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
    const std::vector<const ir::Kernel*> kernels = kernels_of(choice);
    const codegen::SharedLaunch launch = codegen::launch_of(kernels, device_.limits);
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
      work.grid = blocks_in(launch, *kernels[body]);
      work.min_blocks = launch.min_blocks;
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
  codegen::LowerScratch lower_scratch_;
  std::map<std::pair<const Listed*, int>, bool> room_;
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

namespace {

bool has(const std::vector<int>& values, ir::Meeting meet) {
  return std::find(values.begin(), values.end(), static_cast<int>(meet)) != values.end();
}

/// Whether blocks of some body are asked to wait for one another.
bool may_meet(const codegen::Prepared& pack, const Axes& axes, const ir::Limits& limits) {
  const std::vector<int>& asked = axes[ir::PlanField::meet];
  if (!asked.empty()) return has(asked, ir::Meeting::grid);
  return std::any_of(pack.bodies.begin(), pack.bodies.end(), [&](const codegen::Body& body) {
    return has(default_axes(*body.prepared, limits)[ir::PlanField::meet], ir::Meeting::grid);
  });
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
    own[field] = inside.empty() ? different_orders(*body.prepared) : inside;
  }
  const auto keep = [&](ir::PlanField field, int value) {
    std::erase_if(own[field], [&](int other) { return other != value; });
    if (own[field].empty()) own[field].push_back(value);
  };
  if (is_stages(whole)) {
    // Stages share the blocks of the launch, which loop. Where sums go across rows the loop is one of the stage itself.
    keep(ir::PlanField::meet, static_cast<int>(ir::Meeting::last));
    keep(ir::PlanField::cluster, 0);
    keep(ir::PlanField::grid, static_cast<int>(ir::GridShape::tile));
    keep(ir::PlanField::min_blocks, 0);
    return own;
  }
  std::erase(own[ir::PlanField::meet], static_cast<int>(ir::Meeting::kernel));
  if (own[ir::PlanField::meet].empty()) own[ir::PlanField::meet].push_back(static_cast<int>(ir::Meeting::last));
  if (body.prepared->sums_across) return own;
  // A body that loops gains nothing but room for blocks that are resident.
  if (axes[ir::PlanField::grid].empty() && !may_meet(whole, axes, limits))
    keep(ir::PlanField::grid, static_cast<int>(ir::GridShape::tile));
  if (axes[ir::PlanField::blocks_per_sm].empty()) own[ir::PlanField::blocks_per_sm] = {1, 2, 4};
  return own;
}

namespace {

/// Plans of bodies by what a launch has once, of each body best first.
struct Heads {
  const codegen::Prepared& whole;
  std::map<std::string, std::pair<ir::Plan, std::vector<Going>>> lists;  ///< by its text

  void add(const Tuned& found, std::size_t body, std::size_t bodies) {
    for (const Listed& one : found.best) {
      const ir::Plan head = head_of(whole, one.plan);
      auto& [plan, lists_of_head] = lists.try_emplace(text(head), head, std::vector<Going>(bodies)).first->second;
      lists_of_head[body].push_back(&one);
    }
  }
  static bool is_whole(const std::vector<Going>& of_bodies) {
    return std::none_of(of_bodies.begin(), of_bodies.end(), [](const Going& list) { return list.empty(); });
  }
  bool any_whole() const {
    return std::any_of(lists.begin(), lists.end(), [](const auto& head) { return is_whole(head.second.second); });
  }
};

/// Kinds of plans that go on for one launch: 0 goes nowhere, from `special` on it is what the launch is tried for.
constexpr int plain = 1, looping = 2, special = 32;

/// The first so many plans of each kind, in their order.
template <class Kind>
Going first_of_each(const Going& list, std::size_t most, const Kind& kind_of) {
  std::map<int, std::size_t> taken;
  Going first;
  for (const Listed* one : list)
    if (const int kind = kind_of(*one); kind != 0 && taken[kind]++ < most) first.push_back(one);
  return first;
}

/// The plans of each body that go on, for each kind of launch that has some of every body.
std::vector<std::vector<Going>> kinds_of_launch(const codegen::Prepared& whole, const std::vector<Going>& lists,
                                                std::size_t most) {
  std::vector<std::vector<Going>> launches;
  const auto add = [&](const auto& kind_of, bool always) {
    std::vector<Going>& going = launches.emplace_back();
    bool is_special = always;
    for (std::size_t body = 0; body < lists.size(); ++body) {
      const auto kind = [&](const Listed& one) { return kind_of(whole.bodies[body], one); };
      going.push_back(first_of_each(lists[body], most, kind));
      for (const Listed* one : going.back()) is_special = is_special || kind(*one) >= special;
    }
    if (!is_special || !Heads::is_whole(going)) launches.pop_back();
  };
  if (is_stages(whole)) {
    add([](const codegen::Body&, const Listed&) { return plain; }, true);
    return launches;
  }
  std::set<int> clusters{0};
  for (const Going& list : lists)
    for (const Listed* one : list) clusters.insert(one->plan.cluster);
  for (const int cluster : clusters) {
    const auto kind = [&](const codegen::Body& body, const Listed& one) {
      if (meets(one.plan) || loops(body, one.plan)) return 0;
      return one.plan.cluster == 0 ? plain : one.plan.cluster == cluster ? special : 0;
    };
    add(kind, cluster == 0);
  }
  // Of blocks that meet those go on that are many and those that are few.
  const auto kind = [](const codegen::Body& body, const Listed& one) {
    if (one.plan.cluster != 0) return 0;
    if (meets(one.plan)) return special + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(one.kernel.grid)));
    return loops(body, one.plan) ? looping + one.plan.blocks_per_sm : plain;
  };
  add(kind, false);
  return launches;
}

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
  const bool no_last = lacks(ir::PlanField::meet, static_cast<int>(ir::Meeting::last));
  if (no_last && (is_stages(whole) || lacks(ir::PlanField::meet, static_cast<int>(ir::Meeting::grid))))
    return needs_a_launch(ir::PlanField::meet);
  if (!is_stages(whole)) return std::nullopt;
  if (lacks(ir::PlanField::cluster, 0)) return needs_a_launch(ir::PlanField::cluster);
  if (!lacks(ir::PlanField::grid, static_cast<int>(ir::GridShape::persistent))) return std::nullopt;
  return "axis grid: blocks that meet between stages are resident, so every plan has grid=persistent";
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
  Heads heads{pack, {}};
  const std::size_t most = going_on(is_stages(pack) ? bodies * residents_of(pack, axes).size() : bodies);
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
    for (const std::vector<Going>& going : kinds_of_launch(pack, lists, most))
      for (const int blocks : residents_of(pack, axes)) {
        ir::Plan with_blocks = head;
        with_blocks.blocks_per_sm = blocks;
        search.better(with_blocks, going);
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
