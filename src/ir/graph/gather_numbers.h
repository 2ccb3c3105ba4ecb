// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a gather reads where, and what a scatter writes where. In: a gather or scatter of a graph, whose dimension
// numbers stand in its attributes as text. Out: the same as numbers, or why they do not fit the shapes around it.
// Called by the verifier, which refuses a graph with such a gather, by the structural analysis, which refuses such a
// scatter, by prepare(), which keeps the numbers for all plans of a group, and by the lowering.
//
// The operation (StableHLO's and XLA's definition): the result's dimensions are those of the slices (offset_dims, in
// order) and those of the places they are read at (all others, in order, which are the dimensions of the indices but
// one). The indices at a place say where its slice begins, along the operand's dimensions that start_index_map names,
// each clamped so that the slice stays inside. Dimensions of the operand that are collapsed or batching are not in the
// result: their slice is one element long, and along a batching one it begins at the place's own number.
//
// A scatter is the same the other way round, under other names: its updates are what a gather's result is. What it does
// to an element that is there already is said by its region. It drops a window that does not lie inside as a whole,
// where a gather moves it there.
#pragma once

#include <string>
#include <variant>

#include "ir/graph/graph.h"

namespace tailor::ir {

struct GatherNumbers {
  /// Of one dimension of the operand.
  struct Along {
    int offset = -1;        ///< the result's dimension that counts within the slice; -1: the slice is one element long
    int place = -1;         ///< batching: the result's dimension that says where
    int index = -1;         ///< which number of the indices says where the slice begins; -1: none
    std::int64_t last = 0;  ///< the last place where a slice can begin
  };
  IndexedArray<Along, max_rank> along;  ///< by dimension of the operand
  Dims places;         ///< dimensions of the result that count places, in order: the indices' but vector_dim
  int vector_dim = 0;  ///< of the indices; their rank: each holds one number

  /// Indices that memory must be asked for: those that leave the slice more than one place.
  int open(int operand_rank) const;
};

/// Numbers that do not fit: what was found, and what was expected instead.
struct GatherMisfit {
  std::string found, expected;
};
/// Precondition: two arrays as operands, and slice sizes that fit the first of them.
std::variant<GatherNumbers, GatherMisfit> read_gather(const Graph& graph, const Node& gather);

/// The same of a scatter of one array, whatever its region computes.
std::variant<GatherNumbers, GatherMisfit> read_scatter(const Graph& graph, const Node& scatter);

/// Of a gather that the verifier has seen.
GatherNumbers gather_numbers(const Graph& graph, const Node& gather);

/// What a scatter of one array does, and where: `result` and `operand` of the numbers are its updates and its array.
struct ScatterForm {
  GatherNumbers numbers;
  Reducer reducer = Reducer::none;  ///< what it makes of an element and an update; none: the update takes its place
  bool unique = false;              ///< no two windows overlap
};
/// Or why no kernel writes it, in words that follow the scatter's name.
std::variant<ScatterForm, std::string> scatter_form(const Graph& graph, const Node& scatter);

/// The shape whose dimensions GatherNumbers calls the result's: a scatter's updates, a gather's result.
inline const Shape& picked_shape(const Graph& graph, const Node& node) {
  return node.op == Op::scatter ? graph[node.operands[2]].shape : node.shape;
}

}  // namespace tailor::ir
