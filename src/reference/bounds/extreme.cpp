// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of a value with the greatest of its own row. In: a graph; reductions and comparisons with their bounds.
// Out: where such a comparison is certain. Called by error_bound.cpp.
//
// p >= max(p) marks the greatest of a row: gates of experts without a sort, one-hot samples, gradients of a maximum.
// Where the value is the greatest both sides are the same number, whatever it is off by, and two bounds that are taken
// for independent leave that open. Where the intervals of a row say which element the greatest is, it is the greatest
// in every right kernel, and the comparison is that of a number with itself.
//
// The second greatest is found in the row without the greatest: p >= max(select(p >= max(p), -1, p)). What such a
// selection took of p for certain is p still, so the walk from the extreme back to the value goes through selections
// with constants. A constant is exact; so an element with a bound behind a predicate without one is the value itself.
//
// A node has one value: a kernel that computes p twice must get the same p. In types narrower than the one that kernels
// compute in it need not, for HLO lets it round one of the two only; of these nothing is said here.
#include "reference/bounds/extreme.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/indexed.h"
#include "ir/graph/number.h"
#include "ir/graph/reducer.h"
#include "reference/error_bound.h"

namespace tailor::reference {

namespace {

constexpr int any_place = -1;  ///< a dimension along which all elements are meant

/// Of each dimension of a node the dimension of the comparison that says where along it an element is.
using DimMap = std::vector<int>;

/// Dimensions before a view that adds or drops some of size 1, or nothing.
std::optional<DimMap> before_view(const ir::Shape& from, const ir::Shape& to, const DimMap& map) {
  DimMap before;
  int d = 0;
  for (const std::int64_t size : from.dims) {
    if (size == 1) {
      before.push_back(any_place);
      continue;
    }
    while (d < to.rank() && to.dims[d] == 1) ++d;
    if (d == to.rank() || to.dims[d] != size) return {};
    before.push_back(map[static_cast<std::size_t>(d++)]);
  }
  return elements(from) == elements(to) ? std::optional(before) : std::nullopt;
}

bool is_constant(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph[id];
  return node.op == ir::Op::broadcast ? is_constant(graph, node.operands[0]) : ir::known_literal(node) != nullptr;
}

/// Whether the row alone decides: the reduction starts from what is beyond every number.
bool starts_beyond(const ir::Graph& graph, const ir::Node& reduce) {
  const ir::NodeId start = reduce.operands[1];
  const ir::Literal* const literal = ir::known_literal(graph[start]);
  const ir::DType dtype = graph[start].shape.dtype;
  if (literal == nullptr || literal->bytes.size() != static_cast<std::size_t>(element_bytes(dtype))) return false;
  Cell cell{};
  load_cells(dtype, literal->bytes.data(), 0, 1, {&cell, 1});
  return cell.real == ir::neutral(ir::reducer(reduce), dtype).real;
}

/// The reduction whose result an operand of a comparison is, element by element; `map` becomes that of what it reduces.
ir::NodeId extreme_behind(const ir::Graph& graph, ir::NodeId id, DimMap& map) {
  for (;; id = graph[id].operands[0]) {
    const ir::Node& node = graph[id];
    if (node.op == ir::Op::copy) continue;
    if (node.op == ir::Op::broadcast) {
      DimMap before;
      const ir::Shape& from = graph[node.operands[0]].shape;
      for (int d = 0; d < from.rank(); ++d)
        before.push_back(from.dims[d] == 1 ? any_place : map[static_cast<std::size_t>(axes(node)[d])]);
      map = std::move(before);
    } else if (node.op == ir::Op::reshape) {
      const std::optional<DimMap> before = before_view(graph[node.operands[0]].shape, node.shape, map);
      if (!before) return ir::no_node;
      map = *before;
    } else {
      const bool extreme = node.op == ir::Op::reduce && node.operands.size() == 2 &&
                           (reducer(node) == ir::Reducer::maximum || reducer(node) == ir::Reducer::minimum);
      if (!extreme || !starts_beyond(graph, node)) return ir::no_node;
      DimMap before;
      int kept = 0;
      for (int d = 0; d < graph[node.operands[0]].shape.rank(); ++d)
        before.push_back(axes(node).contains(d) ? any_place : map[static_cast<std::size_t>(kept++)]);
      map = std::move(before);
      return id;
    }
  }
}

/// Whether `id` is `value` with constants in some places; notes the predicates.
bool is_masked(const ir::Graph& graph, ir::NodeId id, ir::NodeId value, std::vector<ir::NodeId>& masks) {
  while (id != value) {
    const ir::Node& node = graph[id];
    if (node.op != ir::Op::select || graph[node.operands[0]].shape.rank() != node.shape.rank()) return false;
    const std::size_t constant = is_constant(graph, node.operands[1]) ? 1 : 2;
    if (!is_constant(graph, node.operands[constant])) return false;
    masks.push_back(node.operands[0]);
    id = node.operands[3 - constant];
  }
  return true;
}

std::optional<OwnExtreme> own_extreme(const ir::Graph& graph, ir::NodeId id, std::size_t value) {
  const ir::Node& compare = graph[id];
  const ir::Node& stands = graph[compare.operands[value]];
  const ir::Shape& shape = stands.shape;
  if (graph[compare.operands[1 - value]].shape.dtype != shape.dtype || shape.rank() == 0) return {};
  DimMap map;
  for (int d = 0; d < shape.rank(); ++d) map.push_back(d);
  OwnExtreme one{id, extreme_behind(graph, compare.operands[1 - value], map), value, {}};
  if (one.reduce == ir::no_node) return {};
  const ir::NodeId reduced = graph[one.reduce].operands[0];
  if (graph[reduced].shape.dtype != shape.dtype || graph[reduced].shape.dims != shape.dims) return {};
  for (int d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] != 1 && map[static_cast<std::size_t>(d)] != any_place && map[static_cast<std::size_t>(d)] != d)
      return {};
  if (!is_masked(graph, reduced, compare.operands[value], one.masks)) return {};
  return one;
}

/// Of each dimension of what is reduced, how far apart its rows are among the results; 0: it is reduced.
std::vector<std::int64_t> row_steps(const Call& call) {
  const ir::Shape& shape = call.operand(0).shape;
  std::vector<std::int64_t> steps(static_cast<std::size_t>(shape.rank()), 0);
  std::int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (axes(call.node).contains(d)) continue;
    steps[static_cast<std::size_t>(d)] = step;
    step *= shape.dims[d];
  }
  return steps;
}

/// of(i, row, value) of every element of what is reduced.
template <class Of>
void each_of_rows(const Call& call, Of&& of) {
  const ir::Shape& shape = call.operand(0).shape;
  const std::vector<std::int64_t> steps = row_steps(call);
  std::vector<std::int64_t> at(steps.size(), 0);
  std::int64_t row = 0;
  each_real(
      call.operand(0),
      [&](std::int64_t i, double value) {
        of(i, row, value);
        for (auto d = static_cast<int>(steps.size()) - 1; d >= 0; --d) {
          const auto k = static_cast<std::size_t>(d);
          row += steps[k];
          if (++at[k] < shape.dims[d]) break;
          row -= steps[k] * shape.dims[d];
          at[k] = 0;
        }
      },
      call.stop);
}

}  // namespace

std::vector<OwnExtreme> own_extremes(const ir::Graph& graph) {
  std::vector<OwnExtreme> all;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    if (node.op != ir::Op::compare) continue;
    const ir::DType dtype = graph[node.operands[0]].shape.dtype;
    if (!is_floating(dtype) || ir::row(dtype).compute != dtype) continue;
    for (const std::size_t value : {0, 1})
      if (std::optional<OwnExtreme> one = own_extreme(graph, static_cast<ir::NodeId>(i), value); one)
        all.push_back(std::move(*one));
  }
  return all;
}

void find_places(OwnExtreme& one, const Call& call, const Errors& operand, const std::vector<Errors>& masks) {
  if (operand == nullptr) return;  // nor has the comparison a bound
  const double side = ir::reducer(call.node) == ir::Reducer::maximum ? 1 : -1;
  const double* const error = error_bounds(*operand);
  std::int64_t rows = 1;
  for (int d = 0; d < call.operand(0).shape.rank(); ++d)
    if (!axes(call.node).contains(d)) rows *= call.operand(0).shape.dims[d];
  std::vector<double> least(static_cast<std::size_t>(rows), -infinity);
  each_of_rows(call, [&](std::int64_t i, std::int64_t row, double value) {
    double& most = least[static_cast<std::size_t>(row)];
    most = std::max(most, side * value - error[i]);
  });
  constexpr std::int64_t none = -1, several = -2;
  one.places.assign(static_cast<std::size_t>(rows), none);
  each_of_rows(call, [&](std::int64_t i, std::int64_t row, double value) {
    std::int64_t& place = one.places[static_cast<std::size_t>(row)];
    // A NaN is beyond all, and so is a number of which nothing is known.
    if (side * value + error[i] < least[static_cast<std::size_t>(row)]) return;
    place = place == none ? i : several;
  });
  for (std::int64_t& place : one.places) {
    if (place < 0) continue;
    bool is_value = one.masks.empty() || error[place] > 0;  // a constant has no bound
    for (const Errors& mask : masks) is_value = is_value && (mask == nullptr || error_bounds(*mask)[place] == 0);
    if (!is_value || !(error[place] < infinity)) place = none;
  }
}

void settle(const OwnExtreme& one, const Call& call, Tensor& errors) {
  const Tensor &value = call.operand(one.value), &extreme = call.operand(1 - one.value);
  for (const std::int64_t place : one.places)
    if (place >= 0 && as_double(value, place) == as_double(extreme, place)) error_bounds(errors)[place] = 0;
}

}  // namespace tailor::reference
