// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The structural reading of a group is one pass over its nodes, operands first, that says of each value whether it
// depends on a reduction and, if so, how it lies over rows and columns. The last word is a trial: the plainest plan,
// one thread per row and nothing kept, lowered where no limit binds, so only the structure can be refused.
#include "codegen/lower/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include "codegen/lower/lower.h"
#include "codegen/lower/prepare.h"

namespace tailor::codegen {

using namespace ir;

namespace {

const Node& at(const Graph& graph, NodeId id) { return graph.nodes[static_cast<std::size_t>(id)]; }

/// Threads of the trial's blocks: enough that no array has more blocks than a grid may.
constexpr int plain_threads = 1 << 10;

Limits without_limits() {
  constexpr int any = std::numeric_limits<int>::max();
  Limits limits;
  limits.sms = limits.warp_size = 1;
  limits.threads_per_block = limits.threads_per_sm = limits.blocks_per_sm = any;
  limits.registers_per_sm = limits.registers_per_block = limits.registers_per_thread = any;
  limits.shared_per_sm = limits.shared_per_block = limits.shared_per_block_optin = any;
  return limits;
}

Rejection reject(std::string_view rule, std::string reason) { return {std::string(rule), std::move(reason), true}; }

std::string label(const Graph& graph, NodeId id) {
  return fmt::format("%{} {}", at(graph, id).name, text(at(graph, id).shape));
}

/// How a value that depends on a reduction lies. none: it does not depend on one.
enum class RowDependence : std::uint8_t { none, row, full };

/// Whether a broadcast repeats each of R numbers over N neighbours: its source's dimensions are the leading ones.
bool leads(const Node& broadcast, const Shape& source) {
  int next = 0;
  for (int i = 0; i < source.rank(); ++i) {
    if (source.dims[i] == 1) continue;
    const auto axis = static_cast<int>(broadcast.attributes.axes[i]);
    for (; next < axis; ++next)
      if (broadcast.shape.dims[next] != 1) return false;
    if (next != axis) return false;
    ++next;
  }
  return true;
}

/// Whether a transpose only moves dimensions of size 1.
bool keeps_order(const Node& transpose, const Shape& source) {
  std::int64_t last = -1;
  for (int i = 0; i < transpose.shape.rank(); ++i) {
    const std::int64_t from = transpose.attributes.axes[i];
    if (source.dims[static_cast<int>(from)] == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

/// The pass over a group that contains row reductions.
class RowReading {
 public:
  RowReading(const Graph& graph, Layout layout) : graph_(graph), layout_(layout) {}

  std::optional<Rejection> read(NodeId id) {
    const Node& node = at(graph_, id);
    RowDependence dependence = RowDependence::none;
    for (const NodeId operand : node.operands) {
      const RowDependence of_operand = row_dependence(operand);
      if (of_operand == RowDependence::none) continue;
      if (dependence != RowDependence::none && dependence != of_operand)
        return reject("skeleton-row-mix", fmt::format("{} reads values of rows and of elements", label(graph_, id)));
      dependence = of_operand;
    }
    if (node.op == Op::reduce) return read_reduce(id, dependence);
    if (node.op == Op::transpose && !keeps_order(node, at(graph_, node.operands[0]).shape) &&
        (dependence != RowDependence::none || elements(node.shape) >= layout_.rows * layout_.columns))
      return reject("skeleton-transpose", fmt::format("{} turns rows inside a row group", label(graph_, id)));
    if (dependence == RowDependence::none) return std::nullopt;
    if (node.op == Op::broadcast) return read_broadcast(id, dependence);
    if (node.op == Op::bitcast && !(is_row_major(node.shape) && is_row_major(at(graph_, node.operands[0]).shape)))
      return reject("skeleton-transpose", fmt::format("{} changes the layout of row data", label(graph_, id)));
    const bool moves = class_of(node.op) == OpClass::index && node.op != Op::reshape && node.op != Op::bitcast &&
                       node.op != Op::transpose;
    if (moves)
      return reject(fmt::format("skeleton-row-{}", name(node.op)),
                    fmt::format("{} moves values that depend on a row reduction", label(graph_, id)));
    row_dependences_[id] = dependence;
    return std::nullopt;
  }

  std::optional<Rejection> write(NodeId id) const {
    const std::int64_t count = elements(at(graph_, id).shape);
    if (count == layout_.rows * layout_.columns || count == layout_.rows) return std::nullopt;
    return reject("skeleton-shapes", fmt::format("{} is written by a group of {} rows and {} columns",
                                                 label(graph_, id), layout_.rows, layout_.columns));
  }

 private:
  RowDependence row_dependence(NodeId id) const {
    const auto found = row_dependences_.find(id);
    return found == row_dependences_.end() ? RowDependence::none : found->second;
  }

  std::optional<Rejection> read_reduce(NodeId id, RowDependence dependence) {
    const Layout own = row_layout(graph_, id);
    if (own.rows != layout_.rows || own.columns != layout_.columns || dependence == RowDependence::row)
      return reject("skeleton-row-shapes",
                    fmt::format("%{} reduces {} rows of {}, the group has {} rows of {}", at(graph_, id).name, own.rows,
                                own.columns, layout_.rows, layout_.columns));
    row_dependences_[id] = RowDependence::row;
    return std::nullopt;
  }

  std::optional<Rejection> read_broadcast(NodeId id, RowDependence dependence) {
    const Node& node = at(graph_, id);
    const Shape& source = at(graph_, node.operands[0]).shape;
    const std::int64_t count = elements(node.shape);
    const bool spreads = dependence == RowDependence::row && count == layout_.rows * layout_.columns;
    if (!leads(node, source) || (!spreads && count != elements(source)))
      return reject("skeleton-row-broadcast",
                    fmt::format("{} spreads values of rows over other rows", label(graph_, id)));
    row_dependences_[id] = spreads ? RowDependence::full : dependence;
    return std::nullopt;
  }

  const Graph& graph_;
  Layout layout_;
  std::unordered_map<NodeId, RowDependence> row_dependences_;
};

/// What a node needs whatever group it is in: the lowering's refusals, and reductions that run along no row.
std::optional<Rejection> unfit(const Graph& graph, NodeId id) {
  if (std::optional<Rejection> refused = refused_alone(graph, id)) return refused;
  const Node& node = at(graph, id);
  if (node.op != Op::reduce) return std::nullopt;
  const ReduceKind kind = reduce_kind(graph, id);
  if (kind == ReduceKind::row || kind == ReduceKind::full) return std::nullopt;
  return reject(
      kind == ReduceKind::column ? "skeleton-column" : "skeleton-mixed",
      fmt::format("{} reduction {} of {}", name(kind), label(graph, id), text(at(graph, node.operands[0]).shape)));
}

/// A value read from memory that kernels cannot hold. Whatever operation made it, here it is a parameter.
std::optional<Rejection> unheld(const Graph& graph, NodeId id) {
  const Shape& shape = at(graph, id).shape;
  if (row(shape.dtype).cuda.empty())
    return reject("dtype", fmt::format("{} is of a type that kernels cannot hold", label(graph, id)));
  if (elements(shape) == 0) return reject("empty", fmt::format("{} has no elements", label(graph, id)));
  return std::nullopt;
}

Classified read_map(const Graph& graph, const Boundary& border) {
  Layout layout;
  if (border.writes.empty()) return layout;
  layout.rows = elements(at(graph, border.writes.front()).shape);
  for (const NodeId id : border.writes)
    if (elements(at(graph, id).shape) != layout.rows)
      return reject("skeleton-shapes",
                    fmt::format("{} is written beside {}", label(graph, id), label(graph, border.writes.front())));
  return layout;
}

}  // namespace

std::string_view name(ReduceKind kind) {
  constexpr auto names = std::to_array<std::string_view>({"row", "column", "full", "mixed"});
  return names[static_cast<std::size_t>(kind)];
}

ReduceKind reduce_kind(const Graph& graph, NodeId reduce) {
  const Node& node = at(graph, reduce);
  const Shape& shape = at(graph, node.operands[0]).shape;
  // Walk from the slowest to the fastest dimension in memory: kept dimensions, then reduced ones, make a row reduction.
  int changes = 0;
  std::optional<bool> first, last;
  for (int i = shape.rank(); i-- > 0;) {
    const int dim = shape.minor_to_major[static_cast<std::size_t>(i)];
    if (shape.dims[dim] == 1) continue;
    const bool gone = node.attributes.axes.contains(dim);
    if (!first) first = gone;
    if (last && *last != gone) ++changes;
    last = gone;
  }
  if (!first) return ReduceKind::full;
  if (changes == 0) return *first ? ReduceKind::full : ReduceKind::row;
  if (!*last) return ReduceKind::column;
  return changes == 1 && is_row_major(shape) ? ReduceKind::row : ReduceKind::mixed;
}

Layout row_layout(const Graph& graph, NodeId reduce) {
  const Node& node = at(graph, reduce);
  const Shape& shape = at(graph, node.operands[0]).shape;
  Layout layout{Skeleton::row, 1, 1};
  for (int i = 0; i < shape.rank(); ++i)
    (node.attributes.axes.contains(i) ? layout.columns : layout.rows) *= shape.dims[i];
  return layout;
}

Classified read_structure(const Graph& graph, const Boundary& border) {
  std::optional<Layout> layout;
  for (const NodeId id : border.reads)
    if (std::optional<Rejection> refused = unheld(graph, id)) return *refused;
  for (const NodeId id : border.inside) {
    if (std::optional<Rejection> refused = unfit(graph, id)) return *refused;
    if (!layout && at(graph, id).op == Op::reduce) layout = row_layout(graph, id);
  }
  if (!layout) return read_map(graph, border);
  RowReading reading(graph, *layout);
  for (const NodeId id : border.inside)
    if (std::optional<Rejection> refused = reading.read(id)) return *refused;
  for (const NodeId id : border.writes)
    if (std::optional<Rejection> refused = reading.write(id)) return *refused;
  return *layout;
}

Classified read_structure(const Group& group) {
  Boundary border{parameters(group.graph), {}, group.graph.outputs};
  for (std::size_t i = 0; i < group.graph.nodes.size(); ++i)
    if (group.graph.nodes[i].op != Op::parameter) border.inside.push_back(static_cast<NodeId>(i));
  return read_structure(group.graph, border);
}

Classified classify(const Group& group) {
  std::variant<Prepared, Rejection> answer = prepare(group);
  if (const auto* refused = std::get_if<Rejection>(&answer)) return *refused;
  const Prepared& prepared = std::get<Prepared>(answer);
  Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.threads = plain_threads;
  plan.threads_per_row = plan.vector = 1;
  plan.residence = Residence::reload;
  if (prepared.skeleton == Skeleton::row)
    for (const Phase& phase : prepared.phases)
      for (const NodeId id : phase.reductions) plan.sub_roots.push_back({id, Stitch::thread});
  std::sort(plan.sub_roots.begin(), plan.sub_roots.end(),
            [](const SubRoot& a, const SubRoot& b) { return a.node < b.node; });
  LowerScratch scratch;
  std::optional<Rejection> first;
  for (const NodeId dominant : prepared.dominants) {
    plan.dominant = dominant;
    const Lowered lowered = lower(prepared, plan, without_limits(), scratch);
    if (std::holds_alternative<Kernel>(lowered))
      return prepared.skeleton == Skeleton::map ? Layout{Skeleton::map, prepared.columns, 1}
                                                : Layout{Skeleton::row, prepared.rows, prepared.columns};
    if (!first) first = std::get<Rejection>(lowered);
  }
  return *first;
}

}  // namespace tailor::codegen
