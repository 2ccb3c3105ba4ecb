// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What XLA asks of shapes and their layouts when it chooses an emitter: whether an operation moves anything, which
// dimensions a reduction keeps, and how a transpose looks once dimensions that stay together are merged. In: nodes of a
// graph with the layouts their text gave them. Out: plain numbers. Called by all of costmodel/xla and by the strategy
// xla-priority.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::costmodel::xla {

/// Of an array, or of all results of a node with several.
std::int64_t elements_of(const ir::Node& node);
std::int64_t bytes_of(const ir::Node& node);
/// The array itself; of a node with several results the first.
const ir::Shape& first_shape(const ir::Node& node);
bool is_scalar_like(const ir::Shape& shape);  ///< one element, whatever the rank
/// Bits of one stored element; predicates take a byte.
int storage_bits(ir::DType dtype);

/// Dimensions and layout agree; types may differ.
bool same_array(const ir::Shape& a, const ir::Shape& b);
/// Reading `from` as `to` leaves every element where it is.
bool reshape_keeps_place(const ir::Shape& from, const ir::Shape& to);
bool transpose_keeps_place(const ir::Shape& from, const ir::Shape& to, const ir::Dims& axes);
/// Either of the two, with the axes worked out.
bool same_place(const ir::Shape& a, const ir::Shape& b);

/// A bitcast, or an operation that is one in all but name (a reshape or a reading as another type that moves nothing).
bool is_bitcast(const ir::Node& node, const ir::Shape& operand);
/// As XLA says it: an element of the result needs those of the operands at the same place.
bool is_elementwise(const ir::Node& node);
/// A copy or transpose whose innermost dimension with more than one element is another one than the operand's.
bool moves_minor_dimension(const ir::Node& node, const ir::Shape& operand);
/// A copy, or a transpose that moves something.
bool moves_elements(const ir::Node& node, const ir::Shape& operand);

/// A reduction as three merged dimensions. Row: {major reduced, kept, minor reduced}; column: {major kept, reduced,
/// minor kept}.
struct Reduced {
  bool row = true;
  std::array<std::int64_t, 3> dims{1, 1, 1};
  bool operator==(const Reduced&) const = default;
};
Reduced reduced(const ir::Shape& operand, const ir::Dims& axes);
/// Whose rules are asked: XLA's of mid 2020, of the end of 2021, or today's. docs/xla_eras.md names the commits.
enum class Year : std::uint8_t { y2020, y2022, today };
/// Whether XLA's reduction emitter takes the node: what is kept or what is reduced is one run of dimensions, and a loop
/// per element would be slower. In 2020 that was asked of the reduced length alone; short rows are today's.
bool is_tiled_reduction(const ir::Node& node, const ir::Shape& operand, Year year = Year::today);
/// Whether one pass is enough: no two blocks add to one result.
bool is_race_free(const Reduced& reduced);

/// A transpose that XLA's tiled emitter takes, degenerate dimensions dropped and neighbours merged.
struct Transposed {
  std::vector<std::int64_t> dims;         ///< of the result
  std::vector<std::int64_t> permutation;  ///< result dimension i is operand dimension permutation[i]
  std::int64_t shared_bytes = 0;
  bool packed = false;              ///< elements narrower than a bank, several at a time
  std::int64_t vector = 1;          ///< of a packed one: so many
  std::vector<std::int64_t> tiles;  ///< of a packed one, per canonical result dimension
  std::vector<std::int64_t> canonical;
  bool operator==(const Transposed& other) const { return dims == other.dims && permutation == other.permutation; }
};
std::optional<Transposed> tiled_transpose(const ir::Node& node, const ir::Shape& operand);
/// Sizes of the operand's merged dimensions.
std::vector<std::int64_t> operand_dims(const Transposed& transposed);

std::int64_t ceil_of_ratio(std::int64_t a, std::int64_t b);
std::int64_t product(std::span<const std::int64_t> numbers);

}  // namespace tailor::costmodel::xla
