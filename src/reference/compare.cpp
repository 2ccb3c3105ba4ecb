// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparing what a kernel wrote with the reference. In: a tensor with the bound of each element, and bytes. Out: how
// many elements differ by more than their bound, the worst of them, how many could not be judged. Called by the checks
// of the profiler and by tests.
//
// Equal bytes where no error is allowed are the usual case and need one comparison. Else it is one pass over the
// elements in blocks of cells. An element with an infinite bound is not judged. NaN must be NaN and infinity that
// infinity, except that a result whose bound reaches past the largest finite number may have been rounded up to it.
// Integers and predicates must be equal where no bound is given. Errors are in units of the tolerance, so 1 is the
// limit whatever the type.
#include "reference/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/indexed.h"
#include "base/text.h"
#include "ir/graph/number.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

/// Of the formats that have infinities; the others never give one.
double largest_finite(ir::DType dtype) {
  const ir::FloatFormat format = float_format(dtype);
  return std::ldexp(2 - std::ldexp(1.0, -format.mantissa_bits), format.bias);
}

/// Error over tolerance of one floating element.
double ratio(double expected, double found, double tolerance, double most) {
  if (expected == found || (std::isnan(expected) && std::isnan(found))) return 0;
  if (!std::isfinite(expected)) return infinity;
  if (std::isnan(found)) return infinity;
  // A result that may round up to infinity.
  if (std::isinf(found)) return std::fabs(expected) + tolerance >= most && (found > 0) == (expected > 0) ? 1 : infinity;
  return std::fabs(found - expected) / tolerance;  // infinite where nothing is allowed
}

void note(Difference& difference, std::int64_t index, double error, double expected, double found, double tolerance) {
  if (error > 1) {
    if (difference.wrong++ == 0) difference.first_wrong = index;
  }
  if (error > difference.worst || (difference.index < 0 && error > 0)) {
    difference.worst = error;
    difference.index = index;
    difference.expected = expected;
    difference.found = found;
    difference.tolerance = tolerance;
  }
}

}  // namespace

Difference compare(const BoundedTensor& expected, std::span<const std::byte> found, std::span<const std::byte> before,
                   const std::stop_token& stop) {
  const ir::DType dtype = expected.value.shape.dtype;
  assert(found.size() == expected.value.bytes.size());
  assert(before.empty() || before.size() == found.size());
  Difference difference;
  const std::int64_t total = elements(expected.value.shape);
  const auto width = static_cast<std::size_t>(element_bytes(dtype));
  if (!is_floating(dtype) && before.empty() && expected.error.empty() &&
      std::memcmp(found.data(), expected.value.bytes.data(), found.size()) == 0) {
    difference.elements = difference.telling = total;
    return difference;
  }
  const double most = is_floating(dtype) ? largest_finite(dtype) : 0;
  std::vector<Cell> right(block_cells), seen(block_cells);
  Tensor block{expected.value.shape, {}};  // of what was found: cells are loaded from tensors
  for (std::int64_t first = 0; first < total; first += block_cells) {
    stop_if_asked(stop);
    const std::int64_t count = std::min(block_cells, total - first);
    const std::span<const std::byte> here =
        found.subspan(static_cast<std::size_t>(first) * width, static_cast<std::size_t>(count) * width);
    block.bytes.assign(here.begin(), here.end());
    load_cells(expected.value, first, 1, prefix(right, count));
    load_cells(block, 0, 1, prefix(seen, count));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i), place = static_cast<std::size_t>(first + i);
      if (!before.empty() && std::memcmp(here.data() + at * width, before.data() + place * width, width) == 0) continue;
      ++difference.elements;
      const double tolerance = expected.error.empty() ? 0 : expected.error[place];
      if (std::isinf(tolerance)) {
        ++difference.unjudged;
      } else if (is_floating(dtype)) {
        const double value = right[at].real;
        difference.telling += std::isfinite(value) || (std::isinf(value) && tolerance == 0) ? 1 : 0;
        const double error = ratio(value, seen[at].real, tolerance, most);
        if (error > 0) note(difference, first + i, error, value, seen[at].real, tolerance);
      } else {
        ++difference.telling;
        if (right[at].integer == seen[at].integer) continue;
        const auto number = [&](std::int64_t bits) {
          return dtype == ir::DType::u64 ? static_cast<double>(static_cast<std::uint64_t>(bits))
                                         : static_cast<double>(bits);
        };
        const double a = number(right[at].integer), b = number(seen[at].integer);
        // Numbers too far apart for double to tell them apart are still unequal.
        const double error = tolerance > 0 ? std::fabs(b - a) / tolerance : infinity;
        note(difference, first + i, error, a, b, tolerance);
      }
    }
  }
  return difference;
}

std::string describe(const Difference& difference, const ir::Shape& shape) {
  if (difference.wrong == 0) return {};
  std::vector<std::int64_t> place;
  const ir::Dims strides = row_major(shape.dims);
  for (int i = 0; i < shape.rank(); ++i) place.push_back(difference.index / strides[i] % shape.dims[i]);
  return fmt::format("{} of {} elements {} wrong; [{}] is {:.9g}, expected {:.9g}{}", with_commas(difference.wrong),
                     with_commas(difference.elements), difference.wrong == 1 ? "is" : "are", fmt::join(place, ","),
                     difference.found, difference.expected,
                     difference.tolerance > 0 ? fmt::format(" +- {:.2g} ({:.2g} times the tolerance)",
                                                            difference.tolerance, difference.worst)
                                              : std::string(" exactly"));
}

}  // namespace tailor::reference
