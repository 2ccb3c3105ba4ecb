// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The few greatest elements of each row, found one after another: reductions that each find the greatest pair of a
// value and its place among those not found before. In: a group's graph. Out: the graph in which a pair is one integer,
// and they are maxima of integers. Called by prepare, for what a kernel computes, and by sol.
#pragma once

#include <optional>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Whether a region puts a value and its place together with another such pair so that the one that comes first stays:
/// the greater value (`largest`) or the less, and of equal ones that with the lower place. Floats are in the order of
/// their patterns. A place of `behind` or more is no element, whatever the value.
struct FirstOfPairs {
  bool largest = true;
  std::int64_t behind = 0;
  bool operator==(const FirstOfPairs&) const = default;
};
/// Nothing for a region that does anything else. O(1).
std::optional<FirstOfPairs> first_of_pairs(const Graph& region);

/// The integers that hold such pairs; nothing for values of types that none holds, or whose order is not that of their
/// patterns.
std::optional<DType> packed_type(DType value, const FirstOfPairs& order);
/// Instructions on integers that an element of such a reduction takes: a subtraction, a comparison and a selection of
/// each of two registers; of one register a subtraction and a maximum.
constexpr int packed_instructions(DType packed) { return row(packed).bits > 32 ? 6 : 2; }

/// The graph with such reductions as maxima, and the same node numbers: what was swallowed is a constant that nobody
/// reads, or has become something else. The same values, to the last bit. Nothing when there is no such reduction, or
/// others read what lies between them. O(nodes).
std::optional<Graph> with_pairs_packed(const Graph& group);

}  // namespace tailor::ir
