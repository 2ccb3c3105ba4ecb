// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places in a domain (ir/graph/domain.h). In: index expressions of two positions, among what stays and among what is
// reduced. Out: the coordinates of an element or of a result, or the position in memory. Called by every skeleton with
// reductions.
#pragma once

#include "codegen/structure/index_map.h"
#include "ir/graph/domain.h"

namespace tailor::codegen {

using ir::Domain;
using ir::domain_of;

/// The element of an array with these dimensions at (kept, along), which are numbered in the order of memory of
/// `shape`.
Coordinates coordinates_at(IndexBuilder& build, const ir::Shape& shape, const ir::Dims& reduced, ir::ExprId kept,
                           ir::ExprId along);
/// Of reduced dimensions those that are none of a bundle (ir::Domain::bundle); of a domain without bundles all.
ir::Dims reduced_of_bundles(const ir::Shape& shape, const ir::Dims& reduced);
/// The coordinates of the dimensions that stay.
Coordinates kept_coordinates(const Coordinates& coordinates, const ir::Dims& reduced);
/// Where a reduction holds its result number `kept`.
Coordinates result_at(IndexBuilder& build, const ir::Graph& graph, const ir::Node& reduce, ir::ExprId kept);
/// The position in memory, in elements, of (kept, along) in an array that lies as the domain does.
ir::ExprId position_in(IndexBuilder& build, const Domain& domain, ir::ExprId kept, ir::ExprId along);

}  // namespace tailor::codegen
