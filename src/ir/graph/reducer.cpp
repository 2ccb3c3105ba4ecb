// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of neutral elements. In: a reducer and a type. Out: the number that changes nothing when
// it is combined. Called by passes and by the lowering. Minimum and maximum start from the ends of the
// type's range, or from infinity.
#include "ir/graph/reducer.h"

#include <algorithm>
#include <limits>

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

}  // namespace tailor::ir
