// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions in a domain to coordinates. In: a shape, its reduced dimensions, index expressions of positions. Out:
// coordinates, or the position in memory. Called by the skeletons.
//
// Method. A position is a number written in mixed radix whose digits are the coordinates of its own dimensions, the
// fastest in memory first: dividing takes them off one by one. So a row in the last dimensions, a column in the first,
// a channel between batch and image, and a group of channels that lie fastest are the same two numbers, and index
// expressions fold to what each of them would be by hand.
#include "codegen/structure/domain.h"

#include <array>
#include <tuple>

namespace tailor::codegen {

Coordinates coordinates_at(IndexBuilder& build, const ir::Shape& shape, const ir::Dims& reduced, ir::ExprId kept,
                           ir::ExprId along) {
  Coordinates coordinates;
  coordinates.rank = shape.rank();
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    if (shape.dims[dim] == 1) {
      coordinates[dim] = build.constant(0);
      continue;
    }
    ir::ExprId& rest = reduced.contains(dim) ? along : kept;
    const auto [quotient, index] = build.divide(rest, shape.dims[dim]);
    coordinates[dim] = index;
    rest = quotient;
  }
  return coordinates;
}

ir::Dims reduced_of_bundles(const ir::Shape& shape, const ir::Dims& reduced) {
  if (domain_of(shape, reduced).bundle() == 1) return reduced;
  ir::Dims left = reduced;
  for (const int dim : ir::wide_dimensions(shape)) {
    if (!reduced.contains(dim)) break;
    ir::Dims others;
    for (const std::int64_t other : left)
      if (other != dim) others.push_back(other);
    left = others;
  }
  return left;
}

Coordinates kept_coordinates(const Coordinates& coordinates, const ir::Dims& reduced) {
  Coordinates kept;
  for (int dim = 0; dim < coordinates.rank; ++dim)
    if (!reduced.contains(dim)) kept[kept.rank++] = coordinates[dim];
  return kept;
}

Coordinates result_at(IndexBuilder& build, const ir::Graph& graph, const ir::Node& reduce, ir::ExprId kept) {
  const ir::Shape& source = graph[reduce.operands[0]].shape;
  return kept_coordinates(coordinates_at(build, source, axes(reduce), kept, build.constant(0)), axes(reduce));
}

ir::ExprId position_in(IndexBuilder& build, const Domain& domain, ir::ExprId kept, ir::ExprId along) {
  std::array<ir::ExprId, 2> rest = {kept, along};
  std::array<std::int64_t, 2> left = {domain.kept(), domain.reduced()};
  ir::ExprId position = build.constant(0);
  std::int64_t stride = 1;
  for (int i = 0; i < domain.runs.size(); ++i) {
    const std::size_t of = domain.is_reduced(i) ? 1 : 0;
    ir::ExprId digit = rest[of];
    if (left[of] > domain.runs[i]) std::tie(rest[of], digit) = build.divide(rest[of], domain.runs[i]);
    left[of] /= domain.runs[i];
    position = build.add_scaled(position, digit, stride);
    stride *= domain.runs[i];
  }
  return position;
}

}  // namespace tailor::codegen
