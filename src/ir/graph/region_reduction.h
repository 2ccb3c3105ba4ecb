// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of several arrays at once, and by a function that stands in the node's body: argmax, Welford's variance,
// pairs of a greatest value and a sum. Comes in: a graph. Goes out: what they reduce, which value of the graph is which
// of their results, and the same graph with such a reduction as an array like any other. Called by the analysis of
// structures and by the lowering, so that both see the same.
//
// A reduction of k arrays has k arrays, then k initial values as operands, and k results of one shape, which
// get_tuple_element nodes pick. Its body has 2k parameters: k values so far, then k more; its k outputs are both put
// together. XLA may call it in any order, with the initial values as often as it likes, so they must leave each value
// as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Arrays that a reduce reduces.
inline std::size_t reduced_count(const Node& reduce) { return reduce.operands.size() / 2; }
inline std::span<const NodeId> reduced_arrays(const Node& reduce) {
  return std::span<const NodeId>(reduce.operands.begin(), reduce.operands.end()).first(reduced_count(reduce));
}

/// Whether a body says how it puts values together, and not one known operation of its own. Precondition: a reduce.
bool runs_region(const Node& reduce);

/// Whether a line of a region is its parameter of that number.
inline bool is_parameter(const Graph& region, NodeId id, std::int64_t number) {
  return region[id].op == Op::parameter && parameter_number(region[id]) == number;
}

/// Whether a region takes two numbers of each of so many arrays, and gives one.
bool is_region_of(const Graph& region, std::size_t arrays);

/// The known operation that puts each of its arrays together: a reduction's own, or what its region does, where that is
/// nothing else. Then a reduction of several arrays is as many reductions of one. Empty where it is not so.
std::vector<Reducer> known_reducers(const Graph& graph, const Node& reduce);
/// One of these as a node of its own: it has the array, and its initial value.
Node one_of_several(const Node& reduce, Reducer reducer, std::size_t number);

/// Which of the results of which reduction a value of the graph is.
struct ReducedValue {
  NodeId reduce = no_node;
  std::size_t number = 0;
};
/// Nothing for a value that is no result of a reduction.
std::optional<ReducedValue> reduced_value(const Graph& graph, NodeId id);

/// A reduce with several results as if the first of them were its own: they have the same dimensions.
Node seen_as_array(const Node& reduce);

/// The graph with each reduction of several results seen that way, with the same node numbers. Nothing where there is
/// none.
std::optional<Graph> with_reductions_as_arrays(const Graph& graph);

}  // namespace tailor::ir
