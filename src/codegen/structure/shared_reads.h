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

#include "base/indexed.h"
#include "codegen/structure/index_map.h"

namespace tailor::codegen {

struct SharedReads {
  std::int64_t apart = 0;     ///< bytes that so many results load, each for itself
  std::int64_t together = 0;  ///< and where each place is loaded once
  /// An array is read at several places for a result, and neighbours read some of the same: places that move with the
  /// results, or all those of an array that is as large as they are. Not what is just broadcast along the dimension.
  bool overlaps = false;
};

/// Of `rows` neighbouring elements of each result along `dim`, however far from the edges. Values whose places follow
/// from data, and results of reductions, count as arrays. Nothing where there are too many values to go through.
/// Precondition: the results have the same dimensions.
std::optional<SharedReads> shared_reads(const ir::Graph& graph, std::span<const ir::NodeId> results, int dim, int rows);

/// Per node: the most places of it that one element of the results reads within four neighbouring elements which begin
/// at a multiple of four: the sides of a box. 0 of what is not read from memory, and where there is too much to go
/// through. Precondition: as above.
IndexedVector<int> places_side_by_side(const ir::Graph& graph, std::span<const ir::NodeId> results);

}  // namespace tailor::codegen
