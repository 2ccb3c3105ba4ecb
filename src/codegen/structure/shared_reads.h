// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What results next to each other read in common. In: nodes of one shape, a dimension of it. Out: bytes that a few of
// their elements, one below the other, read apart and together. Called by the lowering, which makes loops in strips
// where that is less (lower_window.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "codegen/structure/index_map.h"

namespace tailor::codegen {

struct SharedReads {
  std::int64_t apart = 0;     ///< bytes that so many results load, each for itself
  std::int64_t together = 0;  ///< and where each place is loaded once
  /// An array is read at several places for a result, and neighbours read some of the same: a shift, not just what is
  /// broadcast along the dimension.
  bool overlaps = false;
};

/// Of `rows` neighbouring elements of each result along `dim`, however far from the edges. Values whose places follow
/// from data, and results of reductions, count as arrays. Nothing where there are too many values to go through.
/// Precondition: the results have the same dimensions.
std::optional<SharedReads> shared_reads(const ir::Graph& graph, std::span<const ir::NodeId> results, int dim, int rows);

}  // namespace tailor::codegen
