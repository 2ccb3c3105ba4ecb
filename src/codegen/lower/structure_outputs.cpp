// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which outputs a row or a column kernel can write. In: a group with its border, the layout of its rows or columns,
// what is late. Out: the refusal of an output, or a doubt about it. Called by the analysis of both skeletons.
//
// A kernel's threads are dealt out over rows and columns, so an output of one element per row (or column), or of one
// per element, is written where its thread is. A counter beside a norm, a small array beside a large one are of
// another size. They are stored aside, by all threads in a loop of their own (lower_aside.cpp). Where they need no
// reduction any thread can make any element. Where there is one row alone, every lane of it has every number of it, so
// they may need reductions too. All others would need numbers of rows that their thread does not have.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/lower/structure.h"

namespace tailor::codegen {

using namespace ir;

namespace {

bool contains_node(const std::vector<NodeId>& nodes, NodeId id) {
  return std::binary_search(nodes.begin(), nodes.end(), id);
}

bool is_reduction(const Node& node) { return node.op == Op::reduce; }

}  // namespace

std::optional<Rejection> refuse_outputs(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  const Graph& graph = region.graph;
  const bool of_columns = row(layout.skeleton).unit == WorkUnit::columns;
  std::optional<std::vector<NodeId>> reduced;  // asked for where it matters
  for (std::size_t i = 0; i < region.border.writes.size(); ++i) {
    const NodeId id = stored_node(graph, region.border, i);
    if (!is_aside(layout, elements(graph[id].shape)) || contains_node(late, id)) continue;
    if (!of_columns && layout.rows == 1) continue;
    if (!reduced) reduced = values_from(region, is_reduction, [](const Node&) { return true; });
    if (!contains_node(*reduced, id)) continue;
    const std::string_view unit = of_columns ? "column" : "row";
    return refuse("output-shape",
                  fmt::format("output %{} {} is neither one per {} ({}) nor one per element ({} x {}), and needs a "
                              "reduction",
                              graph[id].name, text(graph[id].shape), unit, layout.rows,
                              of_columns ? layout.columns : layout.rows, of_columns ? layout.rows : layout.columns));
  }
  return std::nullopt;
}

std::optional<Rejection> doubt_outputs(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  constexpr std::int64_t large = 4;  // a quarter of the elements, written one by one
  for (std::size_t i = 0; i < region.border.writes.size(); ++i) {
    const NodeId id = stored_node(region.graph, region.border, i);
    const std::int64_t count = elements(region.graph[id].shape);
    if (!is_aside(layout, count) || contains_node(late, id)) continue;
    if (large * count > layout.rows * layout.columns && count > 1)
      return refuse("output-aside", fmt::format("output %{} {} beside {} would be written one element at a time",
                                                region.graph[id].name, text(region.graph[id].shape), text(layout)));
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
