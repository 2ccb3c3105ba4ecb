// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the row skeleton recognises, and what it doubts. In: a group with its border. Out: rows and columns, or a
// rejection; for a doubt, what of the structure would be lowered badly. Called through the table of skeletons.
//
// Recognising: reductions run along the last dimensions, all of them over the same number of rows and columns, or
// across these rows (structure_across.cpp); outputs are those that structure_outputs.cpp tells. This is what lower()
// must be able to rely on.
//
// Doubts: one pass over the group, operands first, says of each value whether it depends on a reduction and, if so,
// how it lies: one number per row, or one per element of a row. A lane has only its own row at hand. So a broadcast
// may spread a row's number over its own elements and over nothing else; a transpose or a change of layout would turn
// rows; a slice, a reverse or a concatenation would move a value to another row or column; a reduction of numbers per
// row would cross rows. Values that depend on no reduction are free: they are read or computed at whatever index is
// asked for. Names of rules are stable, because databases group rejections by them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "codegen/lower/skeletons.h"
#include "ir/graph/broadcast.h"

namespace tailor::codegen {

using namespace ir;

namespace {

struct RowShape {
  std::int64_t rows = 1, columns = 1;
};

/// {rows, columns} when the reduced dimensions are the last ones (dimensions of size 1 aside).
std::optional<RowShape> row_shape(const Graph& graph, const Node& reduce) {
  const Shape& source = graph[reduce.operands[0]].shape;
  RowShape shape;
  bool reduced_seen = false;
  for (int i = 0; i < source.rank(); ++i) {
    if (source.dims[i] == 1) continue;
    if (axes(reduce).contains(i)) {
      reduced_seen = true;
      shape.columns *= source.dims[i];
    } else {
      if (reduced_seen) return std::nullopt;
      shape.rows *= source.dims[i];
    }
  }
  return shape;
}

/// Whether the reduced dimensions lie fastest in memory, wherever they stand among the dimensions.
bool reduces_fastest(const Graph& graph, const Node& reduce) {
  const Shape& source = graph[reduce.operands[0]].shape;
  bool stays = false;
  for (int i = 0; i < source.rank(); ++i) {
    const int dim = source.minor_to_major[static_cast<std::size_t>(i)];
    if (source.dims[dim] == 1) continue;
    const bool reduced = axes(reduce).contains(dim);
    if (reduced && stays) return false;
    stays = stays || !reduced;
  }
  return true;
}

/// Why no skeleton takes a reduction that is not along the last dimensions.
Rejection refuse_reduction(const Graph& graph, const Node& reduce) {
  const std::string what =
      fmt::format("reduce %{} {{{}}} of {}", reduce.name, fmt::join(axes(reduce).begin(), axes(reduce).end(), ","),
                  text(graph[reduce.operands[0]].shape));
  if (reduces_fastest(graph, reduce))
    return refuse("skeleton-mixed",
                  fmt::format("{} runs along rows in memory, but of an array whose dimensions are not "
                              "in the order of memory: such rows are only lowered where they are",
                              what));
  return refuse("skeleton-mixed", fmt::format("{} runs neither along the last dimensions nor, like all others, along "
                                              "columns: a skeleton for this is still to come",
                                              what));
}

std::string label(const Graph& graph, NodeId id) {
  return fmt::format("%{} {}", graph[id].name, text(graph[id].shape));
}

/// How a value that depends on a reduction lies. none: it does not depend on one.
enum class RowDependence : std::uint8_t { none, row, full };

/// Whether a transpose only moves dimensions of size 1.
bool keeps_order(const Node& transpose, const Shape& source) {
  std::int64_t last = -1;
  for (int i = 0; i < transpose.shape.rank(); ++i) {
    const std::int64_t from = axes(transpose)[i];
    if (source.dims[static_cast<int>(from)] == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

/// The pass over a group that contains row reductions.
class RowReading {
 public:
  RowReading(const Region& region, Layout layout) : region_(region), graph_(region.graph), layout_(layout) {}

  std::optional<Rejection> read(NodeId id) {
    const Node& node = region_[id];
    RowDependence dependence = RowDependence::none;
    for (const NodeId operand : node.operands) {
      const RowDependence of_operand = row_dependence(operand);
      if (of_operand == RowDependence::none) continue;
      if (dependence != RowDependence::none && dependence != of_operand)
        return refuse("skeleton-row-mix", fmt::format("{} reads values of rows and of elements", label(graph_, id)));
      dependence = of_operand;
    }
    if (node.op == Op::reduce)
      return is_across(row_reduction(graph_, node, layout_)) ? std::nullopt : read_reduce(id, dependence);
    if (node.op == Op::transpose && !keeps_order(node, graph_[node.operands[0]].shape) &&
        (dependence != RowDependence::none || elements(node.shape) >= layout_.rows * layout_.columns))
      return refuse("skeleton-transpose", fmt::format("{} turns rows inside a row group", label(graph_, id)));
    if (dependence == RowDependence::none) return std::nullopt;
    if (node.op == Op::broadcast) return read_broadcast(id, dependence);
    if (node.op == Op::bitcast && !(lies_row_major(node.shape) && lies_row_major(graph_[node.operands[0]].shape)))
      return refuse("skeleton-transpose", fmt::format("{} changes the layout of row data", label(graph_, id)));
    const bool moves = (class_of(node.op) == OpClass::index && node.op != Op::reshape && node.op != Op::bitcast &&
                        node.op != Op::transpose) ||
                       class_of(node.op) == OpClass::lookup;
    if (moves)
      return refuse(fmt::format("skeleton-row-{}", name(node.op)),
                    fmt::format("{} moves values that depend on a row reduction", label(graph_, id)));
    row_dependences_[id] = dependence;
    return std::nullopt;
  }

 private:
  RowDependence row_dependence(NodeId id) const {
    const auto found = row_dependences_.find(id);
    return found == row_dependences_.end() ? RowDependence::none : found->second;
  }

  std::optional<Rejection> read_reduce(NodeId id, RowDependence dependence) {
    const Layout own = row_layout(graph_, region_[id]);
    if (own.rows != layout_.rows || own.columns != layout_.columns || dependence == RowDependence::row)
      return refuse("skeleton-row-shapes",
                    fmt::format("%{} reduces {} rows of {}, the group has {} rows of {}", graph_[id].name, own.rows,
                                own.columns, layout_.rows, layout_.columns));
    row_dependences_[id] = RowDependence::row;
    return std::nullopt;
  }

  std::optional<Rejection> read_broadcast(NodeId id, RowDependence dependence) {
    const Node& node = graph_[id];
    const Shape& source = graph_[node.operands[0]].shape;
    const std::int64_t count = elements(node.shape);
    const bool spreads = dependence == RowDependence::row && count == layout_.rows * layout_.columns;
    if (!repeats_along_last(node, source) || (!spreads && count != elements(source)))
      return refuse("skeleton-row-broadcast",
                    fmt::format("{} spreads values of rows over other rows", label(graph_, id)));
    row_dependences_[id] = spreads ? RowDependence::full : dependence;
    return std::nullopt;
  }

  const Region& region_;
  const Graph& graph_;
  Layout layout_;
  std::unordered_map<NodeId, RowDependence> row_dependences_;
};

}  // namespace

namespace {

/// The rows and columns that the group's rows have: those of the reduction along the most elements, or the most rows.
std::optional<Layout> rows_of(const Region& region) {
  std::optional<Layout> layout;
  for (const NodeId id : region.inside()) {
    if (region[id].op != Op::reduce) continue;
    const std::optional<RowShape> shape = row_shape(region.graph, region[id]);
    if (!shape) continue;
    const std::int64_t count = shape->rows * shape->columns, known = layout ? layout->rows * layout->columns : 0;
    if (count > known || (count == known && shape->rows > layout->rows))
      layout = Layout{Skeleton::row, shape->rows, shape->columns};
  }
  return layout;
}

/// The first reduction that is none of such rows, nor across them.
std::optional<Rejection> refuse_reductions(const Region& region, const Layout& layout) {
  const Graph& graph = region.graph;
  NodeId first = no_node;
  for (const NodeId id : region.inside()) {
    const Node& node = region[id];
    if (node.op != Op::reduce) continue;
    const std::optional<RowShape> shape = row_shape(graph, node);
    if (row_reduction(graph, node, layout) != RowReduction::none) {
      if (shape && first == no_node) first = id;
      continue;
    }
    if (!shape) return refuse_reduction(graph, node);
    NodeId other = first;  // one of the group's rows, to be named beside it
    for (const NodeId next : region.inside())
      if (other == no_node && region[next].op == Op::reduce &&
          row_reduction(graph, region[next], layout) == RowReduction::row)
        other = next;
    const Layout a = row_layout(graph, region[std::min(id, other)]), b = row_layout(graph, region[std::max(id, other)]);
    return refuse("rows-differ",
                  fmt::format("%{} reduces {} rows of {}, %{} reduces {} rows of {}", graph[std::min(id, other)].name,
                              a.rows, a.columns, graph[std::max(id, other)].name, b.rows, b.columns));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Classified> recognise_row(const Region& region) {
  const auto is_sum = [&](NodeId id) { return region[id].op == Op::reduce; };
  const auto first = std::find_if(region.inside().begin(), region.inside().end(), is_sum);
  if (first == region.inside().end()) return std::nullopt;
  const std::optional<Layout> layout = rows_of(region);
  if (!layout) return refuse_reduction(region.graph, region[*first]);
  const std::vector<NodeId> late = late_values(region, *layout);
  if (!late.empty())
    if (std::optional<Rejection> refused = refuse_late(region, *layout, late)) return *refused;
  if (std::optional<Rejection> refused = refuse_reductions(region, *layout)) return *refused;
  if (std::optional<Rejection> refused = refuse_outputs(region, *layout, late)) return *refused;
  return *layout;
}

std::optional<Rejection> doubt_row(const Region& region, const Layout& layout) {
  const Graph& graph = region.graph;
  const std::vector<NodeId> late = late_values(region, layout);
  if (!late.empty())
    if (std::optional<Rejection> doubted = doubt_late(region, layout)) return doubted;
  if (std::optional<Rejection> doubted = doubt_outputs(region, layout, late)) return doubted;
  for (const NodeId id : region.inside()) {
    if (graph[id].op != Op::reduce || std::binary_search(late.begin(), late.end(), id)) continue;
    const ReduceKind kind = reduce_kind(graph, region[id]);
    if (kind == ReduceKind::row || kind == ReduceKind::full) continue;
    return refuse(
        kind == ReduceKind::column ? "skeleton-column" : "skeleton-mixed",
        fmt::format("{} reduction {} of {}", name(kind), label(graph, id), text(graph[region[id].operands[0]].shape)));
  }
  RowReading reading(region, layout);
  for (const NodeId id : region.inside()) {
    const bool ends = graph[id].op != Op::reduce && std::binary_search(late.begin(), late.end(), id);
    if (ends || is_written_in_place(region.border, id)) continue;
    if (std::optional<Rejection> refused = reading.read(id)) return *refused;
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
