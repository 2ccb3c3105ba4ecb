// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowering a pack. In: a prepared group that falls into bodies, a plan with a plan for each of them, limits. Out: one
// launch that has them side by side, or the body that is refused and why. Called by lower(); searches that have lowered
// the bodies by themselves only join them.
//
// A body is lowered as the group of its own that it is, by whatever its skeleton does, and knows nothing of the others:
// its statements see its own virtual blocks, indices and arrays. Joining gives all of them the buffers of the whole
// group, in its order, and behind these the workspaces and tickets of each; the only thing that changes in a statement
// is which buffer it names. A launch has one size of shared memory for whatever body a block runs, so arrays lie in
// memory that the launch is told of.
//
// What a launch has once, bodies share. Clusters are of one size: a body without any has whole clusters all the same,
// so that the next body begins with one, and blocks that are left over end at once. Where blocks of a body wait for one
// another all blocks of the launch are resident, those of the other bodies too: each body has blocks for its share of
// the machine, and loops over its virtual ones where those are more. Clusters and meetings are not in one launch, for
// how many clusters are resident a driver alone knows. A launch behind it no body has: it would have to wait for all.
//
// Stages share their blocks, so a stage has none of that for itself, nor has a body of it.
#include "codegen/lower/lower_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "codegen/lower/lower_stages.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

namespace {

ir::Rejection no(std::string reason) { return {"bodies", std::move(reason)}; }

/// The node of the body that is this one of the whole group; no_node: it is not of the body.
ir::NodeId node_in(const Body& body, ir::NodeId id) {
  const auto found = std::find(body.nodes.begin(), body.nodes.end(), id);
  return found == body.nodes.end() ? ir::no_node : static_cast<ir::NodeId>(found - body.nodes.begin());
}

/// What a body needs a launch of its own for under its plan, or as a stage; empty where it can be one of several.
std::string_view needs_a_launch(const ir::Plan& plan, bool is_stage) {
  if (plan.meet == ir::Meeting::kernel) return "goes on in another launch";
  if (is_stage && plan.meet == ir::Meeting::grid) return "has blocks that wait for one another";
  if (is_stage && plan.cluster > 1) return "has clusters of blocks";
  return "";
}

/// The buffers of the whole group: its inputs and results, and what waits between stages.
std::vector<ir::Buffer> buffers_of(const Prepared& whole) {
  const ir::Graph& graph = *whole.graph;
  std::vector<ir::Buffer> buffers;
  const auto add = [&](ir::NodeId id, ir::BufferRole role) {
    buffers.push_back({whole.names[id], graph[id].shape.dtype, elements(graph[id].shape), role});
  };
  for (const ir::NodeId id : parameters(graph)) add(id, ir::BufferRole::input);
  for (const ir::NodeId id : graph.outputs) add(id, ir::BufferRole::output);
  for (const ir::NodeId id : workspaces_of(whole)) add(id, ir::BufferRole::workspace);
  return buffers;
}

/// Changes the numbers of the nodes that a plan and its bodies name; the first for which `number` has none is left.
template <class Number>
std::optional<ir::NodeId> renumber(ir::Plan& plan, const Number& number) {
  const auto change = [&](ir::NodeId& id) {
    const ir::NodeId other = number(id);
    if (other == ir::no_node) return false;
    id = other;
    return true;
  };
  if (plan.dominant != ir::no_node && !change(plan.dominant)) return plan.dominant;
  for (ir::Home& home : plan.homes)
    if (!change(home.node)) return home.node;
  std::sort(plan.homes.begin(), plan.homes.end(), [](const ir::Home& a, const ir::Home& b) { return a.node < b.node; });
  for (ir::Plan& body : plan.bodies)
    if (const auto left = renumber(body, number)) return left;
  return std::nullopt;
}

}  // namespace

std::string in_numbers_of_whole(std::string_view words, const Body& body) {
  std::string out;
  for (std::size_t at = 0; at < words.size();) {
    out += words[at];
    if (words[at++] != '%') continue;
    std::size_t number = 0, end = at;
    while (end < words.size() && words[end] >= '0' && words[end] <= '9')
      number = 10 * number + static_cast<std::size_t>(words[end++] - '0');
    if (end == at || number >= body.nodes.size()) continue;
    out += fmt::format("{}", body.nodes[number]);
    at = end;
  }
  return out;
}

std::string_view body_word(ir::Skeleton whole) { return whole == ir::Skeleton::stages ? "stage" : "body"; }

std::string body_words(ir::Skeleton whole, std::size_t number) {
  return fmt::format("{} {}", body_word(whole), number + 1);
}

std::variant<ir::Plan, ir::Rejection> plan_of_body(const Prepared& whole, const ir::Plan& plan, std::size_t number) {
  const Body& body = whole.bodies[number];
  ir::Plan own = plan.bodies[number];
  const std::uint32_t shared = ir::shared_fields(plan.skeleton);
  for (const ir::PlanFieldRow& field : ir::plan_fields())
    if (ir::has_field(shared, field.field) && row(own.skeleton).has(field.field) && !agree(own, plan, field.field))
      return no(fmt::format("{} has {}={}, the {} {}", body_words(plan.skeleton, number), field.name,
                            field_text(own, field.field), name(plan.skeleton), field_text(plan, field.field)));
  if (const auto left = renumber(own, [&](ir::NodeId id) { return node_in(body, id); }))
    return no(fmt::format("%{} is not of {}", *left, body_words(plan.skeleton, number)));
  return own;
}

ir::Plan plan_in_whole(const Body& body, ir::Plan own) {
  renumber(own, [&](ir::NodeId id) { return body.nodes[ir::index(id)]; });
  return own;
}

std::optional<ir::Rejection> refuse_beside(const Prepared& whole, const ir::Plan& own, std::size_t number) {
  const Prepared& body = *whole.bodies[number].prepared;
  const bool is_stage = whole.skeleton == ir::Skeleton::stages;
  const auto refuse_for = [](const std::string& who, std::string_view needs) {
    return no(fmt::format("{} {}, which needs a launch of its own", who, needs));
  };
  if (const std::string_view needs = needs_a_launch(own, is_stage); !needs.empty())
    return refuse_for(body_words(whole.skeleton, number), needs);
  for (std::size_t inner = 0; is_stage && inner < std::min(own.bodies.size(), body.bodies.size()); ++inner) {
    const std::string_view needs = needs_a_launch(own.bodies[inner], is_stage);
    if (!needs.empty())
      return refuse_for(body_words(whole.skeleton, number) + ": " + body_words(body.skeleton, inner), needs);
  }
  return std::nullopt;
}

std::vector<std::vector<ir::BufferId>> buffers_in_whole(const Prepared& whole,
                                                        std::span<const ir::Kernel* const> bodies) {
  std::size_t all = parameters(*whole.graph).size() + whole.graph->outputs.size() + workspaces_of(whole).size();
  std::vector<std::vector<ir::BufferId>> places;
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    const Body& body = whole.bodies[number];
    std::vector<ir::BufferId>& of_body = places.emplace_back();
    for (const std::int32_t input : body.inputs) of_body.push_back(static_cast<ir::BufferId>(input));
    for (const std::int32_t output : body.outputs) of_body.push_back(static_cast<ir::BufferId>(output));
    while (of_body.size() < bodies[number]->buffers.size()) of_body.push_back(static_cast<ir::BufferId>(all++));
  }
  return places;
}

void join_buffers(const Prepared& whole, std::vector<ir::Kernel>& bodies) {
  std::vector<const ir::Kernel*> each;
  for (const ir::Kernel& body : bodies) each.push_back(&body);
  const std::vector<std::vector<ir::BufferId>> places = buffers_in_whole(whole, each);
  std::vector<ir::Buffer> all = buffers_of(whole);
  const std::size_t of_group = all.size() - workspaces_of(whole).size();
  const auto name_places = [](ir::Kernel& kernel, const std::vector<ir::BufferId>& place) {
    for (ir::Stmt& stmt : kernel.body)
      if (stmt.memory != ir::no_id && !is_array(stmt.space)) stmt.memory = place[stmt.memory];
  };
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    ir::Kernel& kernel = bodies[number];
    const std::vector<ir::BufferId>& place = places[number];
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
      const ir::Buffer& own = kernel.buffers[b];
      if (place[b] == all.size()) all.push_back(own);
      // What one stage writes is a result of the launch though another one reads it.
      if (place[b] < of_group && own.role != ir::BufferRole::input) all[place[b]].role = own.role;
      if (own.of != ir::no_id) all[place[b]].of = place[own.of];
    }
    name_places(kernel, place);
    for (ir::Kernel& beside : kernel.followers) name_places(beside, place);
  }
  for (ir::Kernel& kernel : bodies) {
    kernel.buffers = all;
    for (ir::Kernel& beside : kernel.followers) beside.buffers = all;
  }
}

namespace {

std::vector<const ir::Kernel*> pointers(const std::vector<ir::Kernel>& bodies) {
  std::vector<const ir::Kernel*> each;
  for (const ir::Kernel& body : bodies) each.push_back(&body);
  return each;
}

/// The first bodies whose clusters do not go together, or that have clusters where others meet.
std::optional<ir::Rejection> refuse_clusters(std::span<const ir::Kernel* const> bodies) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t with_cluster = none, that_meets = none;
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    if (bodies[number]->cooperative) that_meets = number;
    if (bodies[number]->cluster == 1) continue;
    if (with_cluster != none && bodies[with_cluster]->cluster != bodies[number]->cluster)
      return no(fmt::format("body {} has clusters of {} blocks, body {} of {}: those of a launch have one size",
                            with_cluster + 1, bodies[with_cluster]->cluster, number + 1, bodies[number]->cluster));
    with_cluster = number;
  }
  if (with_cluster == none || that_meets == none) return std::nullopt;
  return no(
      fmt::format("body {} has clusters of blocks, and blocks of body {} wait for one another: a launch has one "
                  "or the other",
                  with_cluster + 1, that_meets + 1));
}

}  // namespace

SharedLaunch launch_of(std::span<const ir::Kernel* const> bodies, const ir::Limits& limits) {
  SharedLaunch launch;
  std::int64_t blocks = 0;
  for (const ir::Kernel* body : bodies) {
    launch.cluster = std::max(launch.cluster, body->cluster);
    launch.min_blocks = std::max(launch.min_blocks, body->min_blocks);
    launch.meets = launch.meets || body->cooperative;
    blocks += body->grid;
  }
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (launch.meets)
    launch.min_blocks =
        std::max(launch.min_blocks, static_cast<int>(std::min(most, (blocks + limits.sms - 1) / limits.sms)));
  return launch;
}

std::int64_t blocks_in(const SharedLaunch& launch, const ir::Kernel& body) {
  return (body.grid + launch.cluster - 1) / launch.cluster * launch.cluster;
}

std::optional<ir::Rejection> refuse_together(std::span<const ir::Kernel* const> bodies, const ir::Limits& limits) {
  if (auto refused = refuse_clusters(bodies)) return refused;
  const SharedLaunch launch = launch_of(bodies, limits);
  std::int64_t blocks = 0;
  for (const ir::Kernel* body : bodies) blocks += blocks_in(launch, *body);
  if (blocks > std::numeric_limits<std::int32_t>::max())
    return ir::Rejection{"grid", fmt::format("{} blocks exceed the largest grid", blocks)};
  return launch.meets ? refuse_residents(bodies, launch.min_blocks, limits) : std::nullopt;
}

std::optional<ir::Rejection> refuse_kept(const Prepared& pack, const ir::Plan& own, std::size_t number, int min_blocks,
                                         const ir::Limits& limits, LowerScratch& scratch) {
  ir::Plan bound = own;
  bound.min_blocks = min_blocks;
  Lowered lowered = lower_body(pack, bound, number, limits, scratch);
  if (auto* refused = std::get_if<ir::Rejection>(&lowered)) return std::move(*refused);
  return std::nullopt;
}

ir::Kernel beside_one_another(const Prepared& pack, std::vector<ir::Kernel> bodies, const ir::Limits& limits) {
  const SharedLaunch shared = launch_of(pointers(bodies), limits);
  join_buffers(pack, bodies);
  const bool shares =
      std::any_of(bodies.begin(), bodies.end(), [](const ir::Kernel& one) { return one.shared_bytes > 0; });
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    ir::Kernel& kernel = bodies[number];
    kernel.begins = ir::Begins::beside;
    kernel.dynamic_shared = shares;
    kernel.cooperative = shared.meets;
    kernel.min_blocks = shared.min_blocks;
    kernel.grid = blocks_in(shared, kernel);
    kernel.name = number == 0 ? pack.title : fmt::format("{}_{}", kernel.name, number + 1);
  }
  ir::Kernel launch = std::move(bodies.front());
  launch.begins = ir::Begins::launch;
  launch.followers.assign(std::make_move_iterator(bodies.begin() + 1), std::make_move_iterator(bodies.end()));
  return launch;
}

Lowered lower_body(const Prepared& whole, const ir::Plan& own, std::size_t number, const ir::Limits& limits,
                   LowerScratch& scratch) {
  // Before anything else that the plan is refused for: nothing else is worth mending then.
  if (auto refused = refuse_beside(whole, own, number)) return *std::move(refused);
  Lowered lowered = lower(*whole.bodies[number].prepared, own, limits, scratch);
  if (auto* refused = std::get_if<ir::Rejection>(&lowered))
    return ir::Rejection{*refused,
                         fmt::format("{}: {}", body_words(whole.skeleton, number),
                                     in_numbers_of_whole(refused->reason, whole.bodies[number])),
                         refused->sound};
  return lowered;
}

Lowered lower_pack(const Prepared& pack, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch) {
  if (plan.bodies.size() != pack.bodies.size())
    return no(fmt::format("the plan has {}, the group {}", counted(plan.bodies.size(), "body"), pack.bodies.size()));
  std::vector<ir::Plan> plans;
  std::vector<ir::Kernel> bodies;
  for (std::size_t number = 0; number < pack.bodies.size(); ++number) {
    std::variant<ir::Plan, ir::Rejection> own = plan_of_body(pack, plan, number);
    if (auto* refused = std::get_if<ir::Rejection>(&own)) return std::move(*refused);
    plans.push_back(std::get<ir::Plan>(std::move(own)));
    Lowered lowered = lower_body(pack, plans.back(), number, limits, scratch);
    if (auto* refused = std::get_if<ir::Rejection>(&lowered)) return std::move(*refused);
    bodies.push_back(std::get<ir::Kernel>(std::move(lowered)));
  }
  const std::vector<const ir::Kernel*> each = pointers(bodies);
  if (auto refused = refuse_together(each, limits)) return *std::move(refused);
  const int residents = launch_of(each, limits).min_blocks;
  for (std::size_t number = 0; number < bodies.size(); ++number)
    if (bodies[number].min_blocks < residents)
      if (auto refused = refuse_kept(pack, plans[number], number, residents, limits, scratch))
        return *std::move(refused);
  return beside_one_another(pack, std::move(bodies), limits);
}

// ---- the pack's row in the table of skeletons: its bodies have mappings of their own

Mapping mapping_pack(const Prepared& prepared, const ir::Plan&, const ir::Limits&) {
  Mapping made{ir::Skeleton::pack};
  made[Side::kept].size = made[Side::kept].units = prepared.rows;
  return made;
}

std::optional<ir::Rejection> refuse_pack(const Prepared&, const ir::Plan&, const ir::Limits&) { return std::nullopt; }

}  // namespace tailor::codegen
