// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the map skeleton recognises, and what it doubts. In: a group with its border. Out: how many elements its largest
// output has; for a doubt, which output would be stored badly. Called through the table of skeletons.
//
// Of a scatter the loop goes over the updates: they are what is stored, and where they go is data's to say.
//
// Recognising: a group without reductions. One flat loop runs over the elements of the dominant node, an input or
// output as large as the largest output, in the order of its memory: neighbouring threads then touch neighbouring
// elements of that node, and the plan chooses for which node this shall hold. From an element of the dominant a route
// of one-to-one operations (prepare.cpp) leads to the coordinates of each output; an output without a route is walked
// by the same position in its own memory.
//
// Doubts: outputs of fewer elements are stored under a guard by the first threads, which leaves the others idle; where
// that is for more than three quarters of a short loop, or for any part of a long one, it takes longer than it saves.
// Single numbers cost one thread a store.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/structure/recognise.h"

namespace tailor::codegen {

std::optional<Classified> recognise_map(const Region& region) {
  const ir::Graph& graph = region.graph;
  const ir::Boundary& border = region.border;
  Layout layout;
  for (const ir::NodeId id : border.inside)
    if (walks_along(graph[id])) return std::nullopt;
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
  // One number costs one thread a store.
  const auto is_small = [&](ir::NodeId id, std::int64_t large) { return count(id) < large && count(id) != 1; };
  if (std::none_of(stored.begin(), stored.end(), [&](ir::NodeId id) { return is_small(id, layout.columns); }))
    return std::nullopt;
  // Beside a launch little is lost; parts that share nothing are better off apart all the same.
  const bool matters = takes_time(layout.columns, row(graph[*largest].shape.dtype).bits) || falls_apart(graph, border);
  const std::int64_t large = matters ? layout.columns : (layout.columns + 3) / 4;
  for (const ir::NodeId id : stored) {
    if (!is_small(id, large)) continue;
    return ir::Rejection{"skeleton-shapes",
                         fmt::format("%{} {} is written beside %{} {}", graph[id].name, text(graph[id].shape),
                                     graph[*largest].name, text(graph[*largest].shape)),
                         true};
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
