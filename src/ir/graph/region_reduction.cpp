// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions by regions: what they are made of. In: a graph. Out: their arrays, their results, and the graph in which
// they are arrays. Called by the analysis of structures and by the lowering (region_reduction.h), by the reference and
// by the price.
#include "ir/graph/region_reduction.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tailor::ir {

bool runs_region(const Node& reduce) {
  return reduced_count(reduce) != 1 || reducer(reduce) == Reducer::custom || reducer(reduce) == Reducer::none;
}

bool is_region_of(const Graph& region, std::size_t arrays) {
  return region.outputs.size() == arrays &&
         std::none_of(region.nodes.begin(), region.nodes.end(), [&](const Node& node) {
           return node.op == Op::parameter && std::cmp_greater_equal(parameter_number(node), 2 * arrays);
         });
}

std::vector<Reducer> known_reducers(const Graph& graph, const Node& reduce) {
  constexpr std::array known = {Reducer::add,     Reducer::multiply, Reducer::maximum, Reducer::minimum,
                                Reducer::bit_and, Reducer::bit_or,   Reducer::bit_xor};
  std::vector<Reducer> all;
  if (!runs_region(reduce)) return {reducer(reduce)};
  if (reduce.bodies.empty()) return all;
  const Graph& region = body(graph, reduce, 0);
  const auto count = static_cast<std::int64_t>(reduced_count(reduce));
  if (!is_region_of(region, reduced_count(reduce))) return all;
  const auto joins = [&](const Node& made, std::int64_t one, std::int64_t other) {
    return is_parameter(region, made.operands[0], one) && is_parameter(region, made.operands[1], other);
  };
  for (std::int64_t k = 0; k < count; ++k) {
    const Node& made = region[region.outputs[static_cast<std::size_t>(k)]];
    const auto* const found =
        std::find_if(known.begin(), known.end(), [&](Reducer one) { return op_of(one) == made.op; });
    if (found == known.end()) return {};
    if (!joins(made, k, count + k) && !joins(made, count + k, k)) return {};
    all.push_back(*found);
  }
  return all;
}

Node one_of_several(const Node& reduce, Reducer reducer, std::size_t number) {
  Node node = reduce;
  node.operands = std::vector<NodeId>{reduce.operands[number], reduce.operands[reduced_count(reduce) + number]};
  if (!reduce.results.empty()) node.shape = reduce.results[number];
  node.results.clear();
  node.bodies.clear();
  attributes_as<Reduction>(node).reducer = reducer;
  return node;
}

std::optional<ReducedValue> reduced_value(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.op == Op::reduce) return ReducedValue{id, 0};
  if (node.op != Op::get_tuple_element || graph[node.operands[0]].op != Op::reduce) return std::nullopt;
  return ReducedValue{node.operands[0], tuple_index(node)};
}

Node seen_as_array(const Node& reduce) {
  Node node = reduce;
  if (!node.results.empty()) node.shape = node.results[0];
  return node;
}

std::optional<Graph> with_reductions_as_arrays(const Graph& graph) {
  std::optional<Graph> seen;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op != Op::reduce || graph.nodes[i].results.empty()) continue;
    if (!seen) seen = graph;
    seen->nodes[i] = seen_as_array(graph.nodes[i]);
  }
  return seen;
}

}  // namespace tailor::ir
