// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What windows of neighbouring results have in common. In: a reduction over windows. Out: along which dimension a
// thread makes several of its results one below the other, how many, and what they read then; whether it is a scan.
// Called by the import and by prepare, which makes loops of it, and by prices, which charge a kernel what such a loop
// reads.
//
// Lines. The taps of a window that lie at one place of the outermost dimension in memory that it moves in are a line.
// Windows of results next to each other along that dimension share lines where they overlap: of 8 results of a window
// of 7 x 7 there are 14 lines and not 56.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/attribute_text.h"
#include "ir/graph/graph.h"

namespace tailor::ir {

/// Elements of a window that a thread goes through one after the other, written out: an 8 x 8 pooling. A longer window
/// is a sum along rows or a scan, which loads each element once and not for each of its windows.
inline constexpr std::int64_t most_taps = 64;

/// Of windows along one dimension: all begin at its beginning, or all end at its end.
enum class ScanDirection : std::uint8_t { forward, backward };
/// Of such windows over a dimension of `length`, so that there is one for each element; nothing of any other.
std::optional<ScanDirection> scan_direction(const WindowDim& window, std::int64_t length);

/// A cumulative reduction along a dimension: each element of the result is what all up to it make together.
struct Scan {
  int dim = 0;
  ScanDirection direction = ScanDirection::forward;
};
/// Of a reduce-window of one array that is a scan of more elements than go tap by tap; nothing of any other node. What
/// it starts from and what it combines by may be anything.
std::optional<Scan> scan_of(const Node& node);

/// The outermost dimension in memory of the result in which the window has several taps; -1: there is none.
int line_dimension(const Shape& result, const IndexedVector<WindowDim>& window);

/// Elements that lie inside of a strip's dimension in memory, at least: else lanes side by side would each lie in a
/// sector of their own.
inline constexpr std::int64_t least_inside_strip = 8;

/// So many results one below the other, and the different lines that they read.
struct WindowStrip {
  std::int32_t results = 0;
  std::int64_t lines = 0;
};

/// How many results along a dimension a strip may have, the shortest first: the two longest of 2, 4 and 8, where at
/// most a quarter of the results would lie behind the end, and of all where these are no more than 8. None unless eight
/// elements or more lie side by side in memory inside of them.
std::vector<std::int32_t> strip_lengths(const Shape& result, int dim);

/// Strips worth a loop: of these lengths, those where some results read the same line.
std::vector<WindowStrip> strips_of(const Shape& result, const IndexedVector<WindowDim>& window);

/// Elements that a loop in the longest such strips reads for one result, and operations that it takes to put them
/// together; as many as the window has taps where there are no strips.
struct WindowCost {
  double reads = 0, operations = 0;
};
WindowCost cost_of(const Shape& result, const IndexedVector<WindowDim>& window);

}  // namespace tailor::ir
