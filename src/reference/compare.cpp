// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparing what a kernel wrote with the reference. In: a tensor with the bound of each element, and bytes. Out: how
// many elements differ by more than their bound, the worst of them, how many could not be judged. Called by the checks
// of the profiler and by tests.
//
// It is one pass over the elements in blocks of cells, several threads each with its own part of them; what the parts
// say is added up in their order, so that the answer does not depend on the threads. Equal bytes of integers need one
// comparison for a block. A block of numbers is first asked only whether any error in it is above the worst so far,
// which is seldom; then its elements are looked at one by one. An element with an infinite bound is not judged. NaN
// must be NaN and infinity that infinity, except that a result whose bound reaches past the largest finite number may
// have been rounded up to it. Integers and predicates must be equal where no bound is given. Errors are in units of the
// tolerance, so 1 is the limit whatever the type.
#include "reference/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/indexed.h"
#include "base/parallel.h"
#include "base/text.h"
#include "ir/graph/number.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

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

/// How many elements of a block have a bound, tell something, and may be above the share of their bound.
struct Glance {
  double judged = 0, telling = 0, above = 0;
};

/// Numbers are counted in doubles, and from arrays of doubles: so GCC makes vectors of it, of members of a union or of
/// 64-bit integers that hang on a comparison it does not. Where a bound is so small that digits of its share are lost,
/// any error may be above.
[[gnu::noinline]] Glance glance(const double* values, const double* found, const double* errors, std::int64_t count,
                                double share) {
  constexpr double small = 0x1p-900, most = std::numeric_limits<double>::max();
  Glance all;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = values[i], tolerance = errors[i];
    const double size = std::fabs(value), off = std::fabs(found[i] - value);
    const double limit = share * (tolerance > small ? tolerance : 0.0);
    const double has_bound = std::fabs(tolerance) == infinity ? 0.0 : 1.0;
    const double tells = tolerance == 0 ? infinity : most;  // up to this size
    all.judged += has_bound;
    all.telling += size <= tells ? has_bound : 0.0;
    // Infinities that are equal and two NaN have no distance: edges among the inputs make some in every block.
    const double beyond = off <= limit ? 0.0 : has_bound;
    const double of_numbers = found[i] == value ? 0.0 : beyond;
    const double of_no_number = found[i] == found[i] ? beyond : 0.0;
    all.above += value == value ? of_numbers : of_no_number;
  }
  return all;
}

/// What is held against the reference, a range of elements at a time.
class Comparing {
 public:
  Comparing(const BoundedTensor& expected, std::span<const std::byte> found, std::span<const std::byte> before,
            const std::stop_token& stop)
      : expected_(expected),
        found_(found),
        before_(before),
        stop_(stop),
        dtype_(expected.value.shape.dtype),
        width_(static_cast<std::size_t>(element_bytes(dtype_))),
        most_(is_floating(dtype_) ? ir::largest_number(dtype_) : 0) {}

  /// Of elements begin .. end-1.
  Difference between(std::int64_t begin, std::int64_t end) const {
    Difference difference;
    std::array<Cell, block_cells> right, seen;
    for (std::int64_t first = begin; first < end; first += block_cells) {
      stop_if_asked(stop_);
      const std::int64_t count = std::min(block_cells, end - first);
      if (is_equal(first, count)) {
        difference.elements += count;
        difference.telling += count;
        continue;
      }
      load_cells(expected_.value, first, 1, prefix(right, count));
      load_cells(dtype_, found_.data(), first, 1, prefix(seen, count));
      if (before_.empty() && is_floating(dtype_) && passes(first, count, right.data(), seen.data(), difference))
        continue;
      look_closely(first, count, right.data(), seen.data(), difference);
    }
    return difference;
  }

 private:
  const std::byte* place(std::span<const std::byte> bytes, std::int64_t element) const {
    return bytes.data() + static_cast<std::size_t>(element) * width_;
  }

  /// Whether equal bytes say all there is to say, and the bytes are equal.
  bool is_equal(std::int64_t first, std::int64_t count) const {
    return !is_floating(dtype_) && before_.empty() && expected_.error.empty() &&
           std::memcmp(place(found_, first), place(expected_.value.bytes, first),
                       static_cast<std::size_t>(count) * width_) == 0;
  }

  /// Counts a block in which no error is above those before it, which most are; without a division or a branch for an
  /// element. False, and nothing counted, where one may be, or is no number.
  bool passes(std::int64_t first, std::int64_t count, const Cell* right, const Cell* seen,
              Difference& difference) const {
    // Safely below the quotient that would be taken.
    const double share = std::min(difference.worst, 1.0) * (1 - 0x1p-40);
    const double* const errors = expected_.error.empty() ? exact_.data() : expected_.error.data() + first;
    const Glance seen_so =
        glance(reinterpret_cast<const double*>(right), reinterpret_cast<const double*>(seen), errors, count, share);
    if (seen_so.above != 0) return false;
    difference.elements += count;
    difference.unjudged += count - static_cast<std::int64_t>(seen_so.judged);
    difference.telling += static_cast<std::int64_t>(seen_so.telling);
    return true;
  }

  void look_closely(std::int64_t first, std::int64_t count, const Cell* right, const Cell* seen,
                    Difference& difference) const {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = first + i;
      if (!before_.empty() && std::memcmp(place(found_, at), place(before_, at), width_) == 0) continue;
      ++difference.elements;
      const double tolerance = expected_.error.empty() ? 0 : expected_.error[static_cast<std::size_t>(at)];
      if (std::isinf(tolerance)) {
        ++difference.unjudged;
      } else if (is_floating(dtype_)) {
        const double value = right[i].real;
        difference.telling += std::isfinite(value) || (std::isinf(value) && tolerance == 0) ? 1 : 0;
        const double error = ratio(value, seen[i].real, tolerance, most_);
        if (error > 0) note(difference, at, error, value, seen[i].real, tolerance);
      } else {
        ++difference.telling;
        if (right[i].integer == seen[i].integer) continue;
        const double a = number(right[i]), b = number(seen[i]);
        // Numbers too far apart for double to tell them apart are still unequal.
        const double error = tolerance > 0 ? std::fabs(b - a) / tolerance : infinity;
        note(difference, at, error, a, b, tolerance);
      }
    }
  }

  double number(Cell cell) const {
    return dtype_ == ir::DType::u64 ? static_cast<double>(static_cast<std::uint64_t>(cell.integer))
                                    : static_cast<double>(cell.integer);
  }

  const BoundedTensor& expected_;
  std::span<const std::byte> found_, before_;
  const std::stop_token& stop_;
  ir::DType dtype_;
  std::size_t width_;
  double most_;
  std::array<double, block_cells> exact_{};  ///< bounds where none is given
};

/// Adds what the elements behind those of `to` say: of equal errors the first stays.
void add(Difference& to, const Difference& next) {
  if (next.index >= 0 && (to.index < 0 || next.worst > to.worst)) {
    to.worst = next.worst;
    to.index = next.index;
    to.expected = next.expected;
    to.found = next.found;
    to.tolerance = next.tolerance;
  }
  if (to.first_wrong < 0) to.first_wrong = next.first_wrong;
  to.elements += next.elements;
  to.wrong += next.wrong;
  to.unjudged += next.unjudged;
  to.telling += next.telling;
}

}  // namespace

Difference compare(const BoundedTensor& expected, std::span<const std::byte> found, std::span<const std::byte> before,
                   const std::stop_token& stop) {
  assert(found.size() == expected.value.bytes.size());
  assert(before.empty() || before.size() == found.size());
  const Comparing comparing(expected, found, before, stop);
  const std::int64_t total = elements(expected.value.shape);
  std::vector<Difference> parts(static_cast<std::size_t>((total + parallel_cells - 1) / parallel_cells));
  in_parallel(std::ssize(parts), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      parts[static_cast<std::size_t>(i)] =
          comparing.between(i * parallel_cells, std::min((i + 1) * parallel_cells, total));
  });
  Difference difference;
  for (const Difference& part : parts) add(difference, part);
  return difference;
}

namespace {

/// A NaN has a sign, which means nothing.
std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value); }

}  // namespace

std::string describe(const Difference& difference, const ir::Shape& shape) {
  if (difference.wrong == 0) return {};
  std::vector<std::int64_t> place;
  const ir::Dims strides = row_major(shape.dims);
  for (int i = 0; i < shape.rank(); ++i) place.push_back(difference.index / strides[i] % shape.dims[i]);
  return fmt::format("{} of {} elements {} wrong; [{}] is {}, expected {}{}", with_commas(difference.wrong),
                     with_commas(difference.elements), difference.wrong == 1 ? "is" : "are", fmt::join(place, ","),
                     number_text(difference.found), number_text(difference.expected),
                     difference.tolerance > 0 ? fmt::format(" +- {:.2g} ({:.2g} times the tolerance)",
                                                            difference.tolerance, difference.worst)
                                              : std::string(" exactly"));
}

}  // namespace tailor::reference
