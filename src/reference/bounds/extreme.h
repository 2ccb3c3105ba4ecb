// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of a value with the greatest, or the least, of the very row that it stands in. In: a graph; then the
// bounds of what is reduced, and those of the comparison. Out: the comparison's bounds, where it is certain. Called by
// the walk of error_bound.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/bounds/elementwise.h"

namespace tailor::reference {

/// One such comparison.
struct OwnExtreme {
  ir::NodeId compare = ir::no_node, reduce = ir::no_node;
  std::size_t value = 0;  ///< which operand of `compare` stands in the row; the other one is the extreme
  /// Of selections that put constants in the place of some values before the row is reduced.
  std::vector<ir::NodeId> masks;
  /// By row of `reduce`: where the value stands that alone may be the extreme; -1: there is none.
  std::vector<std::int64_t> places = {};
};

/// All of a graph. O(nodes), and O(distance) for each that is one.
std::vector<OwnExtreme> own_extremes(const ir::Graph& graph);

/// Fills in `places`. `call`: of the reduction, with the bounds of what it reduces; `masks`: bounds, parallel to those
/// of `one`.
void find_places(OwnExtreme& one, const Call& call, const Errors& operand, const std::vector<Errors>& masks);

/// Makes the comparison certain at these places. `call`: of the comparison; `errors`: its bounds.
void settle(const OwnExtreme& one, const Call& call, Tensor& errors);

}  // namespace tailor::reference
