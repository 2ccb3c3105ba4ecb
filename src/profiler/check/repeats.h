// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A large group on inputs that repeat. In: a group whose steps along a dimension do not depend on one another
// (parts.h), and how many of these rows are made. Out: what a buffer of the whole holds at any place, from those rows
// alone; so it is with the results, because equal rows give equal rows. Called by make_reference.cpp, which makes the
// rows, by simulate.cpp, which fills memory with them, and by check.cpp, which looks up what a result has to be.
//
// A reference, inputs and outputs, then takes the memory and the time of a few thousand rows, however large the group
// is. A kernel that reads the wrong row is seen unless it is off by a multiple of the rows that are made. Their number
// is odd, and most wrong strides are not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "profiler/check/parts.h"
#include "reference/evaluate.h"

namespace tailor::profiler {

struct Repeats {
  Parts parts;
  std::int64_t kept = 1;  ///< steps of the dimension that are made; step s is as step s modulo kept
};

/// The group at the steps that are made.
ir::Graph kept_graph(const Repeats& repeats);

/// How many of `steps` steps to make where at least `wanted` are: odd, at least 3; all of them where that is not less.
std::int64_t steps_to_keep(std::int64_t steps, std::int64_t wanted);

/// Where the elements of an array, in the order of its memory, stand among those that are kept of it.
struct RepeatedPlaces {
  std::int64_t elements = 1;          ///< of the whole
  std::int64_t inner = 1;             ///< elements between neighbours along the dimension that repeats
  std::int64_t extent = 1, kept = 1;  ///< of that dimension: of the whole, and of what is kept
  std::int64_t place(std::int64_t of_whole) const {
    const std::int64_t along = of_whole / inner;
    return (along / extent * kept + along % extent % kept) * inner + of_whole % inner;
  }
  /// Calls visit(place among `count` elements from `first` on, place among the kept, how many) for runs of elements
  /// that are neighbours in both.
  template <class Visit>
  void each_run(std::int64_t first, std::int64_t count, Visit&& visit) const {
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t here = first + done, along = here / inner % extent;
      const std::int64_t to_end = std::min(kept - along % kept, extent - along) * inner - here % inner;
      const std::int64_t run = std::min(to_end, count - done);
      visit(done, place(here), run);
      done += run;
    }
  }
};
/// `dim` of `whole` has `steps` steps of which `kept` are kept; -1: nothing repeats.
RepeatedPlaces repeated_places(const ir::Shape& whole, int dim, std::int64_t steps, std::int64_t kept);

/// The bytes that an array of elements of `width` bytes holds in memory from byte `first` on, from those that are kept.
/// Precondition: whole elements.
void copy_repeated(const RepeatedPlaces& places, std::span<const std::byte> kept, std::int64_t width,
                   std::int64_t first, std::span<std::byte> to);

}  // namespace tailor::profiler
