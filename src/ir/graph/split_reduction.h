// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions that arrive in steps. Compilers split a long reduction into two: the second one reduces what the first one
// left, and blocks of a GPU share the work. A kernel of ours shares a row or a column among blocks by itself, so inside
// one group the steps are one reduction again. Comes in: a graph and what of it is in the group. Goes out: what each
// reduction reduces when its earlier steps are folded into it. The graph itself stays as it was imported.
//
// The analysis of structures, the lowering, sol and the price all ask here, so they fold the same. Which steps may be
// folded is a property of the nodes around them (earlier_steps); whether a group folds them depends on who else needs
// the results between (folded_reductions).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Whether the elements lie in memory in row-major order, dimensions of size 1 aside, whatever the layout says of them.
bool lies_row_major(const Shape& shape);

/// One step before a reduction `last`, and what `last` reduces when it and all steps behind it are folded.
struct EarlierStep {
  NodeId reduce = no_node;
  std::vector<NodeId> views;  ///< between this step and the one behind it
  NodeId source = no_node;    ///< what the whole then reads
  Dims axes;                  ///< of `source`, ascending
};

/// The steps that may be folded into the reduction `last`, the nearest first. They have its reducer and its type, and
/// start from the reducer's neutral element. O(steps).
std::vector<EarlierStep> earlier_steps(const Graph& graph, NodeId last);

struct FoldedReduction {
  NodeId last = no_node;
  NodeId source = no_node;
  Dims axes;                      ///< of `source`, ascending
  std::vector<NodeId> swallowed;  ///< earlier reductions and views between, which no kernel computes any more
};

/// What is folded in a group that computes `inside` (operands before users) and writes `writes`: steps whose results
/// nobody but the next step reads. Almost always empty; O(nodes inside) when two reductions follow one another.
std::vector<FoldedReduction> folded_reductions(const Graph& graph, std::span<const NodeId> inside,
                                               std::span<const NodeId> writes);

/// A reduction as it stands after folding: the same initial value and result, another operand.
Node folded_node(const Graph& graph, const FoldedReduction& folded);

/// A group's graph with its reductions folded and the same node numbers: what was swallowed is a constant that nobody
/// reads. Nothing when there is nothing to fold. For kernels; who checks them evaluates the graph itself.
std::optional<Graph> folded(const Graph& group);

}  // namespace tailor::ir
