// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether what a kernel wrote is what the reference says, element by element, within the bounds of error_bound.h.
// Integers, predicates and moved data must be equal. A NaN must be a NaN, whatever its payload, an infinity that
// infinity; the sign of zero does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <string>

#include "reference/error_bound.h"

namespace tailor::reference {

struct Difference {
  /// Largest error over its tolerance; above 1 is wrong. Infinite where no error was allowed.
  double worst = 0;
  std::int64_t index = -1;         ///< of the worst element, row-major; -1: all are equal
  double expected = 0, found = 0;  ///< there
  double tolerance = 0;            ///< there
  std::int64_t elements = 0;       ///< that were looked at
  std::int64_t wrong = 0;          ///< elements beyond their tolerance
  std::int64_t first_wrong = -1;   ///< the first of them
  std::int64_t unjudged = 0;       ///< elements without a bound
  std::int64_t telling = 0;        ///< elements with a bound that are numbers, or infinite for certain
};

/// `found` holds the elements as the kernel wrote them, row-major. Precondition: as many bytes as expected.value has.
/// `before`, when given, is what was there before: elements that have not changed are not looked at. Error(interrupted)
/// when asked to stop.
Difference compare(const BoundedTensor& expected, std::span<const std::byte> found,
                   std::span<const std::byte> before = {}, const std::stop_token& stop = {});

/// "3 of 4,096 elements are wrong; [1,17] is 2.25, expected 2.5 ± 3e-07 (8e+05 x the tolerance)", or "" when none is.
std::string describe(const Difference& difference, const ir::Shape& shape);

}  // namespace tailor::reference
