// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the results of a strip stand. In: a shape, a dimension of it, a length. Out: the shape of strips, the place of
// a result. Called through strip.h. Strips are counted in the order of memory, so a loop's threads lie side by side
// along what is contiguous, as in a loop over single results.
#include "codegen/structure/strip.h"

namespace tailor::codegen {

ir::Shape strip_shape(const ir::Shape& shape, int dim, int rows) {
  ir::Shape piece = shape;
  piece.dims[dim] = (shape.dims[dim] + rows - 1) / rows;
  return piece;
}

Coordinates strip_coordinates(IndexBuilder& build, const ir::Shape& piece, ir::ExprId position, int dim, int rows,
                              std::int32_t number) {
  Coordinates at = delinearize_memory(build, piece, position);
  at[dim] = build.add_constant(build.scale(at[dim], rows), number);
  return at;
}

}  // namespace tailor::codegen
