// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of neutral elements. In: a reducer and a type. Out: the number that changes nothing when
// it is combined. Called by passes and by the lowering. Minimum and maximum start from the ends of the
// type's range, or from infinity.
#include "ir/graph/reducer.h"

#include <algorithm>
#include <limits>

#include "ir/graph/number.h"

namespace tailor::ir {

Neutral neutral(Reducer reducer, DType dtype) {
  const bool floating = is_floating(dtype);
  const int bits = row(dtype).bits;
  const std::int64_t lowest = is_signed(dtype) ? static_cast<std::int64_t>(~std::uint64_t{0} << (bits - 1)) : 0;
  const std::int64_t highest = dtype == DType::pred ? 1
                               : is_signed(dtype)
                                   ? ~lowest
                                   : static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - std::min(bits, 64)));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (reducer) {
    case Reducer::multiply:
      return {1, 1};
    case Reducer::maximum:
      return {floating ? -infinity : 0, lowest};
    case Reducer::minimum:
      return {floating ? infinity : 0, highest};
    case Reducer::bit_and:
      return {0, dtype == DType::pred ? 1 : -1};
    case Reducer::none:
    case Reducer::custom:
    case Reducer::add:
    case Reducer::bit_or:
    case Reducer::bit_xor:
      break;
  }
  return {0, 0};
}

bool is_neutral(const Node& initial, Reducer reducer) {
  const Literal* const literal = known_literal(initial);
  const DType dtype = initial.shape.dtype;
  if (literal == nullptr || literal->bytes.size() != static_cast<std::size_t>(element_bytes(dtype))) return false;
  std::uint64_t bits = 0;
  if (literal->bytes.size() > sizeof bits) return false;
  for (std::size_t i = 0; i < literal->bytes.size(); ++i)
    bits |= std::to_integer<std::uint64_t>(literal->bytes[i]) << (8 * i);
  const Neutral zero = neutral(reducer, dtype);
  if (is_floating(dtype)) return decode(dtype, bits) == zero.real;  // either zero for a sum
  if (dtype == DType::pred) return (bits != 0) == (zero.integer != 0);
  return is_integer(dtype) && wrap_to(dtype, static_cast<std::int64_t>(bits)) == wrap_to(dtype, zero.integer);
}

}  // namespace tailor::ir
