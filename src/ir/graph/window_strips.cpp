// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strips of windows. In: the shape of a result, its window. Out: strips. Called through window_strips.h.
//
// Result r of a strip reads line l at r * stride + l * dilation: how many of these differ is counted, since strides and
// dilations make gaps. A long strip reads fewer lines for each result, and holds what it reads in more registers.
#include "ir/graph/window_strips.h"

#include <bit>
#include <set>

namespace tailor::ir {

namespace {

/// Longer strips share little more, and hold the lines of all their results in registers.
constexpr std::int32_t longest_strip = 8;
/// The last strip may go on behind the end: by a quarter of all results at most.
constexpr std::int64_t most_idle = 4;
/// For an element of a scan: within its thread, then with what stands before it; threads put together a vector's share.
constexpr double operations_of_scan = 4;

std::int64_t lines_read(const WindowDim& dim, std::int32_t results) {
  std::set<std::int64_t> places;
  for (std::int64_t result = 0; result < results; ++result)
    for (std::int64_t line = 0; line < dim.size; ++line)
      places.insert(result * dim.stride + line * dim.window_dilation);
  return std::ssize(places);
}

}  // namespace

int line_dimension(const Shape& result, const IndexedVector<WindowDim>& window) {
  if (static_cast<int>(window.size()) != result.rank()) return -1;
  for (int i = result.rank(); i-- > 0;)
    if (const int dim = result.minor_to_major[i]; window[dim].size > 1) return dim;
  return -1;
}

std::vector<std::int32_t> strip_lengths(const Shape& result, int dim) {
  std::vector<std::int32_t> lengths;
  std::int64_t inner = 1;
  for (int i = 0; result.minor_to_major[i] != dim; ++i) inner *= result.dims[result.minor_to_major[i]];
  if (inner < least_inside_strip) return lengths;
  const std::int64_t all = result.dims[dim];
  for (std::int32_t results = 2; results <= longest_strip; ++results) {
    const std::int64_t idle = (results - all % results) % results;
    if (results == all || (std::has_single_bit(static_cast<std::uint32_t>(results)) && most_idle * idle <= all))
      lengths.push_back(results);
  }
  constexpr std::size_t asked = 2;  // shorter ones share less, and each has a loop with plans of its own
  if (lengths.size() > asked) lengths.erase(lengths.begin(), lengths.end() - asked);
  return lengths;
}

std::vector<WindowStrip> strips_of(const Shape& result, const IndexedVector<WindowDim>& window) {
  std::vector<WindowStrip> strips;
  const int dim = line_dimension(result, window);
  if (dim < 0 || window[dim].base_dilation != 1) return strips;
  for (const std::int32_t results : strip_lengths(result, dim)) {
    const std::int64_t lines = lines_read(window[dim], results);
    if (lines < results * window[dim].size) strips.push_back({results, lines});
  }
  return strips;
}

std::optional<ScanDirection> scan_direction(const WindowDim& one, std::int64_t length) {
  if (one.stride != 1 || one.base_dilation != 1 || one.window_dilation != 1 || one.reversed || one.size != length)
    return std::nullopt;
  if (one.pad_low == length - 1 && one.pad_high == 0) return ScanDirection::forward;
  if (one.pad_low == 0 && one.pad_high == length - 1) return ScanDirection::backward;
  return std::nullopt;
}

namespace {

/// Of a window over an array with the dimensions of its result.
std::optional<Scan> scan_in(const Dims& dims, const IndexedVector<WindowDim>& window) {
  std::optional<Scan> scan;
  for (int i = 0; i < static_cast<int>(window.size()); ++i) {
    if (window[i].size == 1 && window[i].stride == 1 && window[i].pad_low == 0 && window[i].pad_high == 0 &&
        window[i].base_dilation == 1)
      continue;
    const std::optional<ScanDirection> direction = scan_direction(window[i], dims[i]);
    if (scan || !direction || dims[i] <= most_taps) return std::nullopt;
    scan = Scan{i, *direction};
  }
  return scan;
}

}  // namespace

std::optional<Scan> scan_of(const Node& node) {
  if (node.op != Op::reduce_window || node.operands.size() != 2) return std::nullopt;
  return scan_in(node.shape.dims, parse_window(hlo_text(node), node.shape.rank()));
}

WindowCost cost_of(const Shape& result, const IndexedVector<WindowDim>& window) {
  if (scan_in(result.dims, window)) return {1, operations_of_scan};
  double taps = 1;
  for (const WindowDim& dim : window) taps *= static_cast<double>(dim.size);
  const std::vector<WindowStrip> strips = strips_of(result, window);
  if (strips.empty()) return {taps, taps};
  const double lines = static_cast<double>(window[line_dimension(result, window)].size);
  const double each = static_cast<double>(strips.back().lines) / strips.back().results;
  return {taps / lines * each, (taps / lines - 1) * each + lines};
}

}  // namespace tailor::ir
