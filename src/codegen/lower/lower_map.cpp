// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The map skeleton. In: a group without reductions, and a plan. Out: the kernel's statements. Called by lower()
// through the table of skeletons.
//
// One flat loop runs over the elements of the dominant node, an input or output as large as the largest output, in the
// order of its memory: neighbouring threads then touch neighbouring elements of that node, and the plan chooses for
// which node this shall hold. From an element of the dominant a route of one-to-one operations (prepare.cpp) leads to
// the coordinates of each output; an output without a route is walked by the same position in its own memory.
//
// A thread handles vectors of `vector` neighbouring elements, `unroll` of them a block apart. With more than one at
// once all inputs are read first, in a loop of their own: the loads then travel together, which is what the axis is
// for. Elements behind the last whole vector are handled one per thread by the last block. Outputs of fewer elements
// are stored under a guard by the first threads, which leaves the others idle; doubt_map() warns strategies of that,
// but for single numbers.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/lower/lower_build.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

namespace {

struct MapShape {
  std::int64_t elements = 0, vectors = 0, rest = 0, blocks = 0;
  ir::ExprId block = 0, thread = 0;
  ir::VarId flight = 0;
  std::size_t dominant = 0;  ///< index into Prepared::dominants
};

/// Where output `i` stands when the dominant stands at element `column` of its memory.
Coordinates output_coordinates(ProgramBuilder& builder, const Prepared& prepared, const MapShape& map, std::size_t i,
                               ir::ExprId column) {
  const ir::Graph& graph = builder.graph();
  const ir::Shape& shape = graph[prepared.stored[i]].shape;
  const Route& route = prepared.routes[map.dominant][i];
  if (!route.found) return delinearize_memory(builder.build(), shape, column);
  const ir::Shape& from = graph[prepared.dominants[map.dominant]].shape;
  return follow(builder.build(), graph, route, delinearize_memory(builder.build(), from, column));
}

void open_segment(ProgramBuilder& builder, const Segment& segment, bool guards_only) {
  if (segment.guard_count > 0) builder.open_guard(prefix(segment.guards, segment.guard_count));
  if (segment.vector > 1 && !guards_only) builder.open_loop(segment.element, true);
}

void close_segment(ProgramBuilder& builder, const Segment& segment) {
  if (segment.vector > 1) builder.close();
  if (segment.guard_count > 0) builder.close();
}

void store_equal_outputs(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, const MapShape& map,
                         const Segment& segment) {
  const ir::Graph& graph = builder.graph();
  for (std::size_t i = 0; i < graph.outputs.size() && !builder.refusal(); ++i) {
    if (elements(graph[prepared.stored[i]].shape) != map.elements) continue;
    if (!plan.value_cache) builder.forget_values();
    builder.store_output(static_cast<std::int32_t>(i), output_coordinates(builder, prepared, map, i, segment.column));
  }
}

void store_smaller_outputs(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, const MapShape& map,
                           const Segment& segment) {
  const ir::Graph& graph = builder.graph();
  IndexBuilder& build = builder.build();
  for (std::size_t i = 0; i < graph.outputs.size() && !builder.refusal(); ++i) {
    const ir::Shape& shape = graph[prepared.stored[i]].shape;
    const std::int64_t count = elements(shape);
    if (count == map.elements || build.pool()[segment.column].range.low >= count) continue;  // none of it lies here
    if (!plan.value_cache) builder.forget_values();
    const ir::Condition inside{build.expand(segment.column), build.constant(count), false};
    builder.open_guard({&inside, 1});
    builder.store_output(static_cast<std::int32_t>(i),
                         delinearize_memory(build, shape, build.narrow(segment.column, {0, count - 1})));
    builder.close();
  }
}

void emit_segment(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, const MapShape& map,
                  const Segment& segment) {
  builder.enter_segment(&segment);
  open_segment(builder, segment, false);
  store_equal_outputs(builder, prepared, plan, map, segment);
  store_smaller_outputs(builder, prepared, plan, map, segment);
  close_segment(builder, segment);
  builder.enter_segment(nullptr);
}

void load_segment_ahead(ProgramBuilder& builder, const Prepared& prepared, const MapShape& map,
                        const Segment& segment) {
  const ir::Graph& graph = builder.graph();
  ProgramBuilder::Flight flight;
  flight.stay = Stay::kernel;
  flight.all = true;
  flight.places = !prepared.gathers.empty();
  builder.enter_segment(&segment);
  for (;; flight.places = false) {  // the places that gathers read at come first
    if (map.flight != 0) builder.open_loop(map.flight, true);
    open_segment(builder, segment, false);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
      if (elements(graph[prepared.stored[i]].shape) == map.elements)
        builder.load_ahead(prepared.stored[i], output_coordinates(builder, prepared, map, i, segment.column), flight);
    close_segment(builder, segment);
    if (map.flight != 0) builder.close();
    if (!flight.places) break;
  }
  builder.enter_segment(nullptr);
  builder.issue(0);
}

/// The segment of whole vectors; adds the variables.
Segment make_body(ProgramBuilder& builder, const ir::Plan& plan, MapShape& map) {
  IndexBuilder& build = builder.build();
  Segment body;
  body.vector = plan.vector;
  body.section_trip = build.constant(0);
  ir::ExprId chunk = build.scale(map.block, plan.unroll);
  if (plan.unroll > 1) {
    map.flight = build.add_var({"q", ir::VarKind::loop, plan.unroll, 1});
    builder.in_flight_rows = plan.unroll;
    builder.row_in_flight = build.var(map.flight);
    chunk = build.add(chunk, builder.row_in_flight);
  }
  chunk = build.add_scaled(map.thread, chunk, plan.threads);
  if (map.vectors % (std::int64_t{plan.threads} * plan.unroll) != 0) {
    body.guards[0] = {chunk, build.constant(map.vectors), false};
    body.guard_count = 1;
    chunk = build.narrow(chunk, {0, map.vectors - 1});
  }
  body.column = build.scale(chunk, plan.vector);
  if (plan.vector > 1) {
    body.element = build.add_var({"e", ir::VarKind::loop, plan.vector, 1});
    body.column = build.add(body.column, build.var(body.element));
  }
  return body;
}

/// The elements after the last whole vector, one per thread of the last block.
Segment make_edge(ProgramBuilder& builder, const ir::Plan& plan, const MapShape& map) {
  IndexBuilder& build = builder.build();
  Segment edge;
  edge.number = 1;
  edge.section_trip = build.constant(0);
  edge.guards = {ir::Condition{map.block, build.constant(map.blocks - 1), true},
                 ir::Condition{map.thread, build.constant(map.rest), false}};
  edge.guard_count = 2;
  edge.column = build.add_constant(build.narrow(map.thread, {0, map.rest - 1}), map.vectors * plan.vector);
  return edge;
}

void emit_body(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, const MapShape& map,
               const Segment& body) {
  load_segment_ahead(builder, prepared, map, body);
  if (plan.unroll == 1) return emit_segment(builder, prepared, plan, map, body);
  builder.open_loop(map.flight, true);
  emit_segment(builder, prepared, plan, map, body);
  builder.close();
}

}  // namespace

std::optional<Classified> recognise_map(const Region& region) {
  const ir::Graph& graph = region.graph;
  const ir::Boundary& border = region.border;
  Layout layout;
  for (const ir::NodeId id : border.inside)
    if (graph[id].op == ir::Op::reduce) return std::nullopt;
  for (std::size_t i = 0; i < border.writes.size(); ++i)
    layout.columns = std::max(layout.columns, elements(graph[stored_node(graph, border, i)].shape));
  return layout;
}

/// Smaller outputs ride along under a guard, which leaves most threads idle there.
std::optional<ir::Rejection> doubt_map(const Region& region, const Layout& layout) {
  const ir::Graph& graph = region.graph;
  const ir::Boundary& border = region.border;
  const auto count = [&](ir::NodeId id) { return elements(graph[id].shape); };
  std::vector<ir::NodeId> stored;
  for (std::size_t i = 0; i < border.writes.size(); ++i) stored.push_back(stored_node(graph, border, i));
  const auto largest =
      std::find_if(stored.begin(), stored.end(), [&](ir::NodeId id) { return count(id) == layout.columns; });
  for (const ir::NodeId id : stored) {
    // One number costs one thread a store.
    if (count(id) == layout.columns || count(id) == 1) continue;
    return ir::Rejection{"skeleton-shapes",
                         fmt::format("%{} {} is written beside %{} {}", graph[id].name, text(graph[id].shape),
                                     graph[*largest].name, text(graph[*largest].shape)),
                         true};
  }
  return std::nullopt;
}

/// Outputs and parameters as large as the largest output, one of each shape and layout.
void dominants_map(const ir::Graph& graph, Prepared& prepared) {
  const auto offer = [&](ir::NodeId id) {
    const ir::Node& node = graph[id];
    if (elements(node.shape) != prepared.columns) return;
    const bool known = std::any_of(prepared.dominants.begin(), prepared.dominants.end(), [&](ir::NodeId other) {
      return graph[other].shape.dims == node.shape.dims && graph[other].shape.same_layout(node.shape);
    });
    if (!known) prepared.dominants.push_back(id);
  };
  for (const ir::NodeId id : prepared.stored) offer(id);
  for (const ir::NodeId id : parameters(graph)) offer(id);
}

Tiling tiling_map(const Prepared& prepared, const ir::Plan& plan) {
  Tiling tiling;
  tiling.vectors = tiling.items = prepared.columns / plan.vector;
  tiling.at_once = plan.unroll;
  tiling.items_per_block = std::int64_t{plan.threads} * plan.unroll;
  return tiling;
}

std::optional<ir::Rejection> refuse_map(const Prepared&, const ir::Plan&, const ir::Limits&) { return std::nullopt; }

std::optional<ir::Rejection> lower_map(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                       const ir::Limits&) {
  IndexBuilder& build = builder.build();
  MapShape map;
  map.dominant = static_cast<std::size_t>(
      std::find(prepared.dominants.begin(), prepared.dominants.end(), plan.dominant) - prepared.dominants.begin());
  map.elements = prepared.columns;
  map.vectors = map.elements / plan.vector;
  map.rest = map.elements % plan.vector;
  if (map.vectors == 0)
    return ir::Rejection{"vector", fmt::format("{} elements do not fill a vector of {}", map.elements, plan.vector),
                         true};
  const std::int64_t per_block = std::int64_t{plan.threads} * plan.unroll;
  map.blocks = (map.vectors + per_block - 1) / per_block;
  if (plan.unroll > 1 && map.vectors <= std::int64_t{plan.threads} * (plan.unroll - 1))
    return ir::Rejection{
        "unroll", fmt::format("{} vectors give {} threads fewer than {} each", map.vectors, plan.threads, plan.unroll),
        true};
  builder.kernel().virtual_blocks = map.blocks;
  map.block = build.var(build.add_var({"vb", ir::VarKind::block, map.blocks, 1}));
  map.thread = build.var(build.add_var({"tid", ir::VarKind::thread, plan.threads, 1}));
  emit_body(builder, prepared, plan, map, make_body(builder, plan, map));
  if (map.rest > 0 && !builder.refusal()) {
    builder.in_flight_rows = 1;
    emit_segment(builder, prepared, plan, map, make_edge(builder, plan, map));
  }
  return builder.refusal();
}

}  // namespace tailor::codegen
