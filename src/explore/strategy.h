// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fusion strategies: one row each. A strategy reads a graph and answers with a partition of its working nodes, and for
// every edge between two of them why it was or was not fused. Bodies of loops and branches are partitioned likewise.
// Every partition can be run: its groups and the library calls between them wait for each other in no circle.
#pragma once

#include <span>
#include <string_view>

#include "ir/fusion.h"

namespace tailor::explore {

struct Strategy {
  std::string_view name;
  std::string_view what;    ///< one line
  std::string_view source;  ///< where its rules are described
  /// The partition of this graph alone; `bodies` is left empty.
  ir::Fusion (*partition)(const ir::Graph&);
};

std::span<const Strategy> strategies();
/// Throws Error(usage) naming the nearest.
const Strategy& find_strategy(std::string_view name);

/// The fusion of a graph and of the bodies of its loops and branches.
ir::Fusion fuse(const Strategy& strategy, const ir::Graph& graph);

/// The rows' functions.
ir::Fusion fuse_none(const ir::Graph& graph);
ir::Fusion fuse_imported(const ir::Graph& graph);
ir::Fusion fuse_stitch_v1(const ir::Graph& graph);

/// What V1 may put into one kernel.
struct StitchV1Rules {
  int arguments = 64;     ///< of one kernel: BladeDISC's limit (XLA's is 96)
  std::int64_t rows = 2;  ///< least rows of a group that stitches through shared memory: "stays above one block"
};
ir::Fusion fuse_stitch_v1(const ir::Graph& graph, const StitchV1Rules& rules);

}  // namespace tailor::explore
