// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding reductions that arrive in steps. In: a graph and the nodes of a group. Out: which reductions are one, and of
// what. Called by the structural analysis for every group that a search thinks of, by prepare(), sol and the price.
//
// Method. From the last reduction the walk goes up through views to the one before. A view (a reshape, or a bitcast
// between row-major arrays) is followed in segments: the shortest runs of dimensions on both sides with as many
// elements. A segment is reduced as a whole or not at all, else the walk ends. Then the earlier reduction's own
// dimensions join: dimension k of its result is the k-th one that stays of its operand. Sums of sums are sums when
// nothing is added in between, so the earlier step must start from the neutral element; the last one may start from
// anything.
//
// Rounding. A step of a type that is narrower than the one kernels compute in (f16, bf16) is not rounded between the
// steps any more: inside a kernel no value of such a type is, unless it is kept for a later phase (decision 2). Error
// bounds of the reference allow for the rounding and for its absence; and they take the order of additions to be that
// of the whole (reference/error_bound.cpp). Integers wrap, and the greatest, the least, and, or do not care.
#include "ir/graph/split_reduction.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include "ir/graph/number.h"
#include "ir/graph/reducer.h"

namespace tailor::ir {

namespace {

bool is_known_reduction(const Node& node) {
  return node.op == Op::reduce && node.operands.size() == 2 && reducer(node) != Reducer::none &&
         reducer(node) != Reducer::custom;
}

/// Dimensions above 1.
std::vector<int> long_dims(const Shape& shape) {
  std::vector<int> result;
  for (int d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] != 1) result.push_back(d);
  return result;
}

/// Long dimensions of `from` that are left out when the dimensions `gone` of a view of it are; nothing where one would
/// be left out in part.
std::optional<Dims> through_view(const Shape& from, const Shape& to, const Dims& gone) {
  const std::vector<int> sources = long_dims(from), results = long_dims(to);
  Dims dims;
  std::size_t i = 0, k = 0;
  while (i < sources.size() && k < results.size()) {
    std::int64_t before = from.dims[sources[i]], after = to.dims[results[k]];
    const bool goes = gone.contains(results[k]);
    if (goes) dims.push_back(sources[i]);
    ++i, ++k;
    while (before != after) {
      if (before < after) {
        if (i == sources.size()) return std::nullopt;
        if (goes) dims.push_back(sources[i]);
        before *= from.dims[sources[i++]];
      } else {
        if (k == results.size() || gone.contains(results[k]) != goes) return std::nullopt;
        after *= to.dims[results[k++]];
      }
    }
  }
  return i == sources.size() && k == results.size() ? std::optional(dims) : std::nullopt;
}

bool is_view(const Graph& graph, const Node& node) {
  if (node.op == Op::reshape) return true;
  if (node.op != Op::bitcast) return false;
  const Shape& from = graph[node.operands[0]].shape;
  return from.dtype == node.shape.dtype && lies_row_major(from) && lies_row_major(node.shape);
}

/// `gone` (long ones alone count) with those dimensions of size 1 that a result of shape `result` has not either;
/// nothing where no choice of them gives that result.
std::optional<Dims> with_short_dims(const Shape& source, const Dims& gone, const Shape& result) {
  Dims dims;
  int k = 0;
  for (int d = 0; d < source.rank(); ++d) {
    const std::int64_t size = source.dims[d];
    const bool stays = size == 1 ? k < result.rank() && result.dims[k] == 1 : !gone.contains(d);
    if (!stays) {
      dims.push_back(d);
    } else if (k == result.rank() || result.dims[k++] != size) {
      return std::nullopt;
    }
  }
  return k == result.rank() ? std::optional(dims) : std::nullopt;
}

/// The dimensions of the earlier reduction's operand that go in both.
Dims joined(const Graph& graph, const Node& earlier, const Dims& later) {
  const Dims& own = axes(earlier);
  const int rank = graph[earlier.operands[0]].shape.rank();
  Dims all;
  for (int d = 0, k = 0; d < rank; ++d) {
    const bool first = own.contains(d);
    if (first || later.contains(k)) all.push_back(d);
    if (!first) ++k;
  }
  return all;
}

}  // namespace

bool lies_row_major(const Shape& shape) {
  int last = -1;
  for (int i = shape.rank(); i-- > 0;) {  // from the slowest dimension in memory on
    const int dim = shape.minor_to_major[static_cast<std::size_t>(i)];
    if (shape.dims[dim] == 1) continue;
    if (dim < last) return false;
    last = dim;
  }
  return true;
}

std::vector<EarlierStep> earlier_steps(const Graph& graph, NodeId last) {
  std::vector<EarlierStep> steps;
  const Node& end = graph[last];
  if (!is_known_reduction(end)) return steps;
  NodeId source = end.operands[0];
  Dims gone = axes(end);
  while (elements(graph[source].shape) > 0) {
    EarlierStep step;
    while (is_view(graph, graph[source])) {
      const NodeId from = graph[source].operands[0];
      const std::optional<Dims> before = through_view(graph[from].shape, graph[source].shape, gone);
      if (!before) return steps;
      step.views.push_back(source);
      gone = *before;
      source = from;
    }
    const Node& earlier = graph[source];
    if (!is_known_reduction(earlier) || reducer(earlier) != reducer(end) || earlier.shape.dtype != end.shape.dtype ||
        graph[earlier.operands[0]].shape.dtype != end.shape.dtype ||
        !is_neutral(graph[earlier.operands[1]], reducer(end)))
      break;
    step.reduce = source;
    step.source = earlier.operands[0];
    gone = joined(graph, earlier, gone);
    const Shape& whole = graph[step.source].shape;
    const std::optional<Dims> fitting = with_short_dims(whole, gone, end.shape);
    if (!fitting) break;
    step.axes = *fitting;
    source = step.source;
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<FoldedReduction> folded_reductions(const Graph& graph, std::span<const NodeId> inside,
                                               std::span<const NodeId> writes) {
  std::vector<FoldedReduction> result;
  std::vector<std::pair<NodeId, std::vector<EarlierStep>>> chains;  // the last reductions first
  for (std::size_t i = inside.size(); i-- > 0;)
    if (graph[inside[i]].op == Op::reduce)
      if (std::vector<EarlierStep> steps = earlier_steps(graph, inside[i]); !steps.empty())
        chains.emplace_back(inside[i], std::move(steps));
  if (chains.empty()) return result;
  struct Use {
    NodeId id;
    bool inside = false;
    int reads = 0;  ///< by nodes inside, and by who else needs it
  };
  std::vector<Use> uses;  // of what may be swallowed, ascending
  for (const auto& [last, steps] : chains)
    for (const EarlierStep& step : steps) {
      uses.push_back({step.reduce});
      for (const NodeId view : step.views) uses.push_back({view});
    }
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.id < b.id; });
  uses.erase(std::unique(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.id == b.id; }),
             uses.end());
  const auto use_of = [&](NodeId id) -> Use* {
    const auto found =
        std::lower_bound(uses.begin(), uses.end(), id, [](const Use& use, NodeId at) { return use.id < at; });
    return found != uses.end() && found->id == id ? &*found : nullptr;
  };
  for (const NodeId id : inside) {
    if (Use* const use = use_of(id)) use->inside = true;
    for (const NodeId operand : graph[id].operands)
      if (Use* const use = use_of(operand)) ++use->reads;
  }
  for (const NodeId id : writes)
    if (Use* const use = use_of(id)) ++use->reads;
  const auto is_between = [&](NodeId id) { return use_of(id)->inside && use_of(id)->reads == 1; };
  std::unordered_set<NodeId> swallowed;
  for (const auto& [last, steps] : chains) {
    if (swallowed.contains(last)) continue;
    FoldedReduction folded{last, no_node, {}, {}};
    for (const EarlierStep& step : steps) {
      if (!is_between(step.reduce) || !std::all_of(step.views.begin(), step.views.end(), is_between)) break;
      folded.source = step.source;
      folded.axes = step.axes;
      folded.swallowed.insert(folded.swallowed.end(), step.views.begin(), step.views.end());
      folded.swallowed.push_back(step.reduce);
    }
    swallowed.insert(folded.swallowed.begin(), folded.swallowed.end());
    if (folded.source != no_node) result.push_back(std::move(folded));
  }
  return result;
}

Node folded_node(const Graph& graph, const FoldedReduction& folded) {
  Node node = graph[folded.last];
  node.operands[0] = folded.source;
  attributes_as<Reduction>(node).axes = folded.axes;
  return node;
}

std::optional<Graph> folded(const Graph& group) {
  std::vector<NodeId> inside;
  for (std::size_t i = 0; i < group.nodes.size(); ++i)
    if (group.nodes[i].op != Op::parameter) inside.push_back(static_cast<NodeId>(i));
  const std::vector<NodeId> writes(group.outputs.begin(), group.outputs.end());
  const std::vector<FoldedReduction> all = folded_reductions(group, inside, writes);
  if (all.empty()) return std::nullopt;
  Graph result = group;
  for (const FoldedReduction& one : all) {
    result[one.last] = folded_node(group, one);
    for (const NodeId id : one.swallowed) {
      Node& node = result[id];
      node.op = Op::constant;
      node.shape = make_shape(node.shape.dtype, {});
      node.operands.clear();
      node.bodies.clear();
      node.attributes =
          Literal{true, std::vector<std::byte>(static_cast<std::size_t>(element_bytes(node.shape.dtype)))};
    }
  }
  return result;
}

}  // namespace tailor::ir
