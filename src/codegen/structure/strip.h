// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the results of a strip stand: a thread makes a few of them, one below the other along a dimension, and the loop
// goes over strips. In: a shape, a dimension, a length. Out: the loop's shape, coordinates of a result. Called by who
// finds what results share (shared_reads.h) and by the lowering (lower_window.cpp).
#pragma once

#include <cstdint>

#include "codegen/structure/index_map.h"

namespace tailor::codegen {

/// Where a loop over `piece` has its position, as the place of result `number` in a strip of `rows` along `dim`. The
/// place may lie behind the end of the last strip.
Coordinates strip_coordinates(IndexBuilder& build, const ir::Shape& piece, ir::ExprId position, int dim, int rows,
                              std::int32_t number);

/// The shape of strips: `shape` with as many places along `dim` as there are strips of `rows`.
ir::Shape strip_shape(const ir::Shape& shape, int dim, int rows);

}  // namespace tailor::codegen
