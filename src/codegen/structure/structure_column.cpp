// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the column skeleton recognises, and what it doubts. In: a group with its border. Out: how many columns stay and
// how long they are, or a rejection; for a doubt, what of the structure would be lowered badly. Called through the
// table of skeletons.
//
// Recognising: in the order of memory, not of the dimensions, the fastest dimension of what each reduction reads stays
// (dimensions of size 1 aside). Then neighbouring threads read neighbouring columns, whatever else is reduced: the
// first dimensions, a middle one, several with others between. All reductions have equally many results of equally many
// elements; outputs are those that structure.cpp tells. A group with any other reduction is not of this kind.
//
// Doubts: a result that is spread over its column's elements makes the block walk its columns a second time, and the
// columns are few where a flat loop would have a thread for every element. A result stands with the thread that has its
// column, so an operation that moves it to another one is impossible. What depends on no result may be turned: of
// neighbouring columns a block reads neighbours either way.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/counted.h"
#include "codegen/structure/recognise.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

using namespace ir;

namespace {

/// Whether the elements of a transpose lie in memory as those of its source do.
bool stays_in_place(const Node& transpose, const Shape& source) {
  std::vector<int> to = wide_dimensions(transpose.shape);
  for (int& dim : to) dim = static_cast<int>(axes(transpose)[dim]);
  return to == wide_dimensions(source);
}

/// Whether a broadcast repeats each result along the column that it is of.
bool goes_down_its_column(const Node& broadcast, const Layout& layout) {
  Dims repeated;
  for (int d = 0; d < broadcast.shape.rank(); ++d)
    if (!axes(broadcast).contains(d)) repeated.push_back(d);
  return domain_of(broadcast.shape, repeated) == layout.domain;
}

/// Columns that break accesses of eight bytes, where that takes time: a flat loop goes over the same elements in whole
/// vectors.
bool are_short(const Layout& layout, int bits) {
  constexpr std::int64_t least = 64;  // bits
  return layout.domain.fastest() * bits % least != 0 && takes_time(layout.rows * layout.columns, bits);
}

}  // namespace

std::optional<Classified> recognise_column(const Region& region) {
  const Graph& graph = region.graph;
  NodeId first = no_node;
  Layout layout;
  for (const NodeId id : region.inside()) {
    const Node& node = region[id];
    if (!walks_along(node)) continue;
    const Layout own = row_layout(graph, node);
    if (own.domain.runs.empty() || own.domain.reduces_fastest) return std::nullopt;
    if (first == no_node) {
      first = id;
      layout = own;
      layout.skeleton = Skeleton::column;
    } else if (own.rows != layout.rows || own.columns != layout.columns) {
      return refuse("columns-differ", fmt::format("%{} reduces {} of {}, %{} reduces {} of {}", graph[first].name,
                                                  counted(layout.rows, "column"), layout.columns, node.name,
                                                  counted(own.rows, "column"), own.columns));
    }
  }
  if (first == no_node) return std::nullopt;
  if (std::optional<Rejection> refused = refuse_scans(region, layout)) return *refused;
  if (std::optional<Rejection> refused = refuse_outputs(region, layout, {})) return *refused;
  return layout;
}

bool has_bundles(const Region& region, const Layout& layout) {
  constexpr std::int64_t sector_bits = 256;  // what memory gives at a time
  if (layout.skeleton != Skeleton::row || layout.domain.bundle() == 1) return false;
  for (const NodeId id : region.inside()) {
    const Node& node = region[id];
    if (!walks_along(node)) continue;
    if (node.op != Op::reduce) return false;
    if (domain_of(region.graph, node) != layout.domain || known_reducers(region.graph, node).empty()) return false;
  }
  const auto breaks_sectors = [&](NodeId id) {
    const Shape& shape = region.graph[id].shape;
    const std::int64_t bits = layout.domain.fastest() * row(shape.dtype).bits;
    return elements(shape) == layout.rows * layout.columns && bits % sector_bits != 0 && bits < 2 * sector_bits;
  };
  return std::any_of(region.border.reads.begin(), region.border.reads.end(), breaks_sectors);
}

std::optional<Rejection> doubt_column(const Region& region, const Layout& layout) {
  const Graph& graph = region.graph;
  if (std::optional<Rejection> doubted = doubt_outputs(region, layout, {})) return doubted;
  std::unordered_set<NodeId> reduced;  // values that depend on a reduction
  for (const NodeId id : region.inside()) {
    const Node& node = region[id];
    if (is_written_in_place(region.border, id)) continue;
    bool depends = false;
    for (const NodeId operand : node.operands) depends = depends || reduced.contains(operand);
    const auto doubt = [&](const ir::Refusal& rule, std::string_view what) {
      return refuse(rule, fmt::format("%{} {} {}", node.name, text(node.shape), what));
    };
    if (scan_of(node)) {
      reduced.insert(id);
      continue;
    }
    if (depends && node.op == Op::transpose && elements(node.shape) >= layout.rows * layout.columns &&
        !stays_in_place(node, graph[node.operands[0]].shape))
      return doubt("skeleton-transpose", "turns columns inside a column group");
    if (depends && reads_elsewhere(class_of(node.op))) {
      const Node& source = graph[node.operands[0]];
      const bool same = elements(node.shape) == elements(source.shape), spreads = node.op == Op::broadcast && !same;
      if (spreads && are_short(layout, row(node.shape.dtype).bits))
        return doubt("short-columns", fmt::format("goes over {} side by side in accesses that are too short",
                                                  counted(layout.domain.fastest(), "column")));
      if (spreads && !goes_down_its_column(node, layout))
        return doubt("skeleton-column-broadcast", "spreads results over other columns");
      const bool keeps = spreads || node.op == Op::broadcast || node.op == Op::reshape || node.op == Op::bitcast ||
                         node.op == Op::transpose;
      if (!keeps || (!same && !spreads))
        return doubt(ir::Refusal("skeleton-column-OP").of(name(node.op)), "moves values that depend on a reduction");
    }
    if (depends || node.op == Op::reduce) reduced.insert(id);
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
