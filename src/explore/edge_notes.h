// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What groups alone say about edges: which of them stay inside a kernel, by which stitch level at most, which values
// are computed again and which cross from kernel to kernel. Comes in: a graph and its groups. Goes out: one note per
// edge and group, without a reason. Called by every strategy that finds its groups first and explains them afterwards.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace tailor::explore {

/// The widest level that a reader of `producer` in the same kernel can need, judged by the producer alone: an
/// element-wise or index operation can be computed by the thread that reads it (register); a row reduction is made by
/// the threads of one row (block: at most a block, the plan may choose a warp); all else is made by the whole grid.
ir::StitchLevel widest_level(const ir::Graph& graph, ir::NodeId producer);

/// The notes of every edge between working nodes, by consumer, then by its groups, then by producer. `groups` as in
/// Fusion. A value that several groups compute belongs to the first of them; in the others it is recomputed.
std::vector<ir::EdgeNote> edge_notes(const ir::Graph& graph, const ir::DefUse& def_use,
                                     const std::vector<std::vector<ir::NodeId>>& groups);

}  // namespace tailor::explore
