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
// What a launch has once, no body may have for itself: a cluster, a meeting of the grid, a loop over blocks that are
// resident, a launch behind it.
#include "codegen/lower/lower_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

namespace {

ir::Rejection no(std::string reason) { return {"bodies", std::move(reason), true}; }

/// The node of the body that is this one of the pack's group; no_node: it is not of the body.
ir::NodeId node_in(const Body& body, ir::NodeId id) {
  const auto found = std::find(body.nodes.begin(), body.nodes.end(), id);
  return found == body.nodes.end() ? ir::no_node : static_cast<ir::NodeId>(found - body.nodes.begin());
}

/// What a body needs a launch of its own for; empty where it can stand beside others.
std::string_view needs_a_launch(const ir::Kernel& kernel) {
  if (!kernel.followers.empty()) return "goes on in another launch";
  if (kernel.cooperative) return "has blocks that wait for one another";
  if (kernel.cluster != 1) return "has clusters of blocks";
  if (kernel.persistent) return "loops over its blocks";
  return "";
}

/// The buffers of the pack's group: its inputs and results.
std::vector<ir::Buffer> buffers_of(const Prepared& pack) {
  const ir::Graph& graph = *pack.graph;
  std::vector<ir::Buffer> buffers;
  const auto add = [&](ir::NodeId id, ir::BufferRole role) {
    buffers.push_back({pack.names[id], graph[id].shape.dtype, elements(graph[id].shape), role});
  };
  for (const ir::NodeId id : parameters(graph)) add(id, ir::BufferRole::input);
  for (const ir::NodeId id : graph.outputs) add(id, ir::BufferRole::output);
  return buffers;
}

/// What is said of a body, with its nodes numbered as in the pack.
std::string in_numbers_of_pack(std::string_view words, const Body& body) {
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

}  // namespace

std::variant<ir::Plan, ir::Rejection> plan_of_body(const Prepared& pack, const ir::Plan& plan, std::size_t number) {
  const Body& body = pack.bodies[number];
  ir::Plan own = plan.bodies[number];
  for (const ir::PlanFieldRow& field : ir::plan_fields())
    if (row(plan.skeleton).has(field.field) && !agree(own, plan, field.field))
      return no(fmt::format("body {} has {}={}, the pack {}", number + 1, field.name, field_text(own, field.field),
                            field_text(plan, field.field)));
  const auto own_node = [&](ir::NodeId& id) {
    if (id == ir::no_node) return true;
    id = node_in(body, id);
    return id != ir::no_node;
  };
  const ir::NodeId dominant = own.dominant;
  if (!own_node(own.dominant)) return no(fmt::format("%{} is not of body {}", dominant, number + 1));
  for (ir::Home& home : own.homes) {
    const ir::NodeId node = home.node;
    if (!own_node(home.node)) return no(fmt::format("%{} is not of body {}", node, number + 1));
  }
  std::sort(own.homes.begin(), own.homes.end(), [](const ir::Home& a, const ir::Home& b) { return a.node < b.node; });
  return own;
}

ir::Plan plan_in_pack(const Body& body, ir::Plan own) {
  if (own.dominant != ir::no_node) own.dominant = body.nodes[ir::index(own.dominant)];
  for (ir::Home& home : own.homes) home.node = body.nodes[ir::index(home.node)];
  std::sort(own.homes.begin(), own.homes.end(), [](const ir::Home& a, const ir::Home& b) { return a.node < b.node; });
  return own;
}

std::optional<ir::Rejection> refuse_beside(const ir::Kernel& body, std::size_t number) {
  const std::string_view needs = needs_a_launch(body);
  if (needs.empty()) return std::nullopt;
  return no(fmt::format("body {} {}, which needs a launch of its own", number + 1, needs));
}

std::vector<std::vector<ir::BufferId>> buffers_in_pack(const Prepared& pack,
                                                       std::span<const ir::Kernel* const> bodies) {
  const std::size_t inputs = parameters(*pack.graph).size();
  std::size_t all = inputs + pack.graph->outputs.size();
  std::vector<std::vector<ir::BufferId>> places;
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    const Body& body = pack.bodies[number];
    std::vector<ir::BufferId>& of_body = places.emplace_back();
    for (const std::int32_t input : body.inputs) of_body.push_back(static_cast<ir::BufferId>(input));
    for (const std::int32_t output : body.outputs)
      of_body.push_back(static_cast<ir::BufferId>(inputs + static_cast<std::size_t>(output)));
    while (of_body.size() < bodies[number]->buffers.size()) of_body.push_back(static_cast<ir::BufferId>(all++));
  }
  return places;
}

ir::Kernel beside_one_another(const Prepared& pack, std::vector<ir::Kernel> bodies) {
  std::vector<const ir::Kernel*> each;
  for (const ir::Kernel& body : bodies) each.push_back(&body);
  const std::vector<std::vector<ir::BufferId>> places = buffers_in_pack(pack, each);
  std::vector<ir::Buffer> all = buffers_of(pack);
  const bool shares =
      std::any_of(bodies.begin(), bodies.end(), [](const ir::Kernel& one) { return one.shared_bytes > 0; });
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    ir::Kernel& kernel = bodies[number];
    const std::vector<ir::BufferId>& place = places[number];
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
      const ir::Buffer& own = kernel.buffers[b];
      if (place[b] == all.size()) all.push_back(own);
      all[place[b]].role = own.role;
      if (own.of != ir::no_id) all[place[b]].of = place[own.of];
    }
    for (ir::Stmt& stmt : kernel.body)
      if (stmt.memory != ir::no_id && !is_array(stmt.space)) stmt.memory = place[stmt.memory];
    kernel.begins = ir::Begins::beside;
    kernel.dynamic_shared = shares;
    kernel.name = number == 0 ? pack.title : fmt::format("{}_{}", kernel.name, number + 1);
  }
  for (ir::Kernel& kernel : bodies) kernel.buffers = all;
  ir::Kernel launch = std::move(bodies.front());
  launch.begins = ir::Begins::launch;
  launch.followers.assign(std::make_move_iterator(bodies.begin() + 1), std::make_move_iterator(bodies.end()));
  return launch;
}

Lowered lower_pack(const Prepared& pack, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch) {
  if (plan.bodies.size() != pack.bodies.size())
    return no(fmt::format("the plan has {}, the group {}", counted(plan.bodies.size(), "body"), pack.bodies.size()));
  std::vector<ir::Kernel> bodies;
  std::int64_t blocks = 0;
  for (std::size_t number = 0; number < pack.bodies.size(); ++number) {
    std::variant<ir::Plan, ir::Rejection> own = plan_of_body(pack, plan, number);
    if (auto* refused = std::get_if<ir::Rejection>(&own)) return std::move(*refused);
    Lowered lowered = lower(*pack.bodies[number].prepared, std::get<ir::Plan>(own), limits, scratch);
    if (auto* refused = std::get_if<ir::Rejection>(&lowered))
      return ir::Rejection{
          refused->rule,
          fmt::format("body {}: {}", number + 1, in_numbers_of_pack(refused->reason, pack.bodies[number])),
          refused->sound};
    bodies.push_back(std::get<ir::Kernel>(std::move(lowered)));
    if (auto refused = refuse_beside(bodies.back(), number)) return *std::move(refused);
    blocks += bodies.back().grid;
  }
  if (blocks > std::numeric_limits<std::int32_t>::max())
    return ir::Rejection{"grid", fmt::format("{} blocks exceed the largest grid", blocks), true};
  return beside_one_another(pack, std::move(bodies));
}

// ---- the pack's row in the table of skeletons: its bodies have mappings of their own

Mapping mapping_pack(const Prepared& prepared, const ir::Plan&, const ir::Limits&) {
  Mapping made{ir::Skeleton::pack};
  made[Side::kept].size = made[Side::kept].units = prepared.rows;
  return made;
}

std::optional<ir::Rejection> refuse_pack(const Prepared&, const ir::Plan&, const ir::Limits&) { return std::nullopt; }

}  // namespace tailor::codegen
