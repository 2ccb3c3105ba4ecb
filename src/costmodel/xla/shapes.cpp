// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes as XLA's emitters see them. In: nodes and layouts. Out: answers about places in memory. Called by heroes.cpp,
// launch.cpp, work.cpp and the strategy.
//
// Everything is about physical order. A reduction is looked at along the layout, from the innermost dimension outwards,
// and merged into three numbers; a transpose is merged the other way, over row-major arrays, by joining dimensions that
// keep their neighbour. A reshape keeps every element in its place exactly when unit steps along each dimension, of
// either side, lead to the same place on both: larger indices are sums of such steps between two wraps.
#include "costmodel/xla/shapes.h"

#include <algorithm>
#include <numeric>

namespace tailor::costmodel::xla {

using ir::Dims;
using ir::DType;
using ir::Node;
using ir::Op;
using ir::Shape;

namespace {

// The rules of XLA's emitters (ir_emission_utils.h, reduction_utils.cc). They bound tiles, not machines.
constexpr std::int64_t warp = 32;
constexpr std::int64_t least_tiled = 16;       // of both dimensions that a tiled transpose swaps
constexpr std::int64_t least_tiled_large = 8;  // where their product is large
constexpr std::int64_t large_product = 64 * 128;
constexpr std::int64_t most_minor_bits = 64;  // of an innermost dimension that stays
constexpr std::int64_t banks = 32, bank_bits = 32;
constexpr std::int64_t race_free_batch = 8, row_threads = 1024, row_tile = 16, column_tile = 128;

/// Place of the element at `index` in memory, in elements.
std::int64_t place(const Shape& shape, const Dims& index) {
  std::int64_t at = 0, step = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    at += index[dim] * step;
    step *= shape.dims[dim];
  }
  return at;
}

bool unit_steps_agree(const Shape& from, const Shape& to) {
  std::int64_t step = ir::elements(from);
  for (int dim = 0; dim < from.rank(); ++dim) {
    step /= from.dims[dim];
    if (from.dims[dim] <= 1) continue;
    Dims unit, other;
    for (int i = 0; i < from.rank(); ++i) unit.push_back(i == dim ? 1 : 0);
    for (int i = 0; i < to.rank(); ++i) other.push_back(0);
    std::int64_t rest = step;
    for (int i = to.rank() - 1; i >= 0; --i) {
      other[i] = rest % to.dims[i];
      rest /= to.dims[i];
    }
    if (place(from, unit) != place(to, other)) return false;
  }
  return true;
}

/// Position in the layout of the innermost dimension with more than one element; rank when there is none.
int first_wide(const Shape& shape) {
  for (int i = 0; i < shape.rank(); ++i)
    if (shape.dims[shape.minor_to_major[i]] > 1) return i;
  return shape.rank();
}

bool are_consecutive(const Shape& shape, const Dims& dims) {
  if (dims.empty()) return true;
  int low = shape.rank(), high = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!dims.contains(shape.minor_to_major[i])) continue;
    low = std::min(low, i);
    high = std::max(high, i);
  }
  return high - low + 1 == dims.size();
}

Dims others(const Shape& shape, const Dims& dims) {
  Dims rest;
  for (int dim = 0; dim < shape.rank(); ++dim)
    if (!dims.contains(dim)) rest.push_back(dim);
  return rest;
}

/// {outside of, in, inside of} the run of dimensions.
std::array<std::int64_t, 3> split_around(const Shape& shape, const Dims& middle) {
  std::array<std::int64_t, 3> sizes{1, 1, 1};
  std::size_t segment = 2;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    const bool inside = middle.contains(dim);
    if (segment == 2 && inside)
      segment = 1;
    else if (segment == 1 && !inside)
      segment = 0;
    sizes[segment] *= shape.dims[dim];
  }
  return sizes;
}

using Numbers = std::vector<std::int64_t>;

Numbers inverse(const Numbers& permutation) {
  Numbers result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    result[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return result;
}

Numbers permuted(const Numbers& numbers, const Numbers& permutation) {
  Numbers result;
  for (const std::int64_t from : permutation) result.push_back(numbers[static_cast<std::size_t>(from)]);
  return result;
}

/// Dimensions of one element dropped, those that keep their neighbour merged.
void normalise(const Node& node, const Shape& operand, Transposed& out) {
  const Dims& axes = ir::axes(node);
  Numbers from, sizes, dropped(static_cast<std::size_t>(operand.rank()) + 1, 0);
  for (int i = 0; i < operand.rank(); ++i)
    dropped[static_cast<std::size_t>(i) + 1] = dropped[static_cast<std::size_t>(i)] + (operand.dims[i] == 1 ? 1 : 0);
  for (int i = 0; i < axes.size(); ++i) {
    if (node.shape.dims[i] == 1) continue;
    from.push_back(axes[i] - dropped[static_cast<std::size_t>(axes[i])]);
    sizes.push_back(node.shape.dims[i]);
  }
  Numbers starts;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i > 0 && from[i] == from[i - 1] + 1) {
      out.dims.back() *= sizes[i];
      continue;
    }
    starts.push_back(from[i]);
    out.dims.push_back(sizes[i]);
  }
  Numbers sorted = starts;
  std::sort(sorted.begin(), sorted.end());
  for (const std::int64_t start : starts)
    out.permutation.push_back(std::lower_bound(sorted.begin(), sorted.end(), start) - sorted.begin());
}

/// Fills the tile of a packed transpose when there is one: [T2, A, T1, B] of the canonical form.
bool pack(Transposed& out, std::int64_t bits) {
  if (bits >= bank_bits) return false;
  Numbers shape = out.dims, permutation = out.permutation;
  if (permutation.back() != static_cast<std::int64_t>(shape.size()) - 1) {
    permutation.push_back(static_cast<std::int64_t>(shape.size()));
    shape.push_back(1);
  }
  std::size_t rank = shape.size();
  if (rank < 3 || permutation[rank - 3] != static_cast<std::int64_t>(rank) - 3) {
    const auto at = static_cast<std::int64_t>(rank) - 2;
    shape.insert(shape.begin() + at, 1);
    for (std::int64_t& p : permutation)
      if (p > at - 1) ++p;
    permutation.insert(permutation.begin() + at, at);
    rank = shape.size();
  }
  const Numbers back = inverse(permutation), input = permuted(shape, back);
  const auto at = [](auto i) { return static_cast<std::size_t>(i); };
  const std::int64_t vector = bank_bits / bits, square = banks * vector;
  const std::int64_t t1 = input[rank - 2], a = input[rank - 3], t2 = input[at(permutation[rank - 2])];
  const std::int64_t tile_t1 = std::min(t1, square), tile_a = std::min(a, square / tile_t1),
                     tile_t2 = std::min(t2, square);
  const std::int64_t columns = tile_a * tile_t1, least = 10 * vector;
  if (columns < least || tile_t2 < least) return false;
  if (input.back() != 1 || tile_t2 % vector != 0 || columns % vector != 0 || t2 % tile_t2 % vector != 0) return false;
  out.tiles.assign(rank, 1);
  out.tiles[at(back[rank - 2])] = tile_t1;
  out.tiles[rank - 2] = tile_t2;
  out.tiles[rank - 3] = tile_a;
  out.canonical = shape;
  out.packed = true;
  out.vector = vector;
  out.shared_bytes = banks * (bank_bits / 8) * banks * vector;
  return true;
}

}  // namespace

std::int64_t ceil_of_ratio(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t product(std::span<const std::int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{1}, std::multiplies<>());
}

const Shape& first_shape(const Node& node) { return node.results.empty() ? node.shape : node.results.front(); }

std::int64_t elements_of(const Node& node) {
  if (node.results.empty()) return ir::elements(node.shape);
  std::int64_t sum = 0;
  for (const Shape& shape : node.results) sum += ir::elements(shape);
  return sum;
}

std::int64_t bytes_of(const Node& node) {
  if (node.results.empty()) return ir::bytes(node.shape);
  std::int64_t sum = 0;
  for (const Shape& shape : node.results) sum += ir::bytes(shape);
  return sum;
}

bool is_scalar_like(const Shape& shape) {
  return std::all_of(shape.dims.begin(), shape.dims.end(), [](std::int64_t size) { return size == 1; });
}

int storage_bits(DType dtype) { return ir::row(dtype).bits; }

bool same_array(const Shape& a, const Shape& b) { return a.dims == b.dims && a.same_layout(b); }

bool reshape_keeps_place(const Shape& from, const Shape& to) {
  if (ir::elements(from) != ir::elements(to)) return false;
  if (ir::elements(from) == 0) return true;
  return unit_steps_agree(from, to) && unit_steps_agree(to, from);
}

bool transpose_keeps_place(const Shape& from, const Shape& to, const Dims& axes) {
  for (int i = 0; i < to.rank(); ++i)
    if (axes[to.minor_to_major[i]] != from.minor_to_major[i]) return false;
  return true;
}

bool same_place(const Shape& a, const Shape& b) {
  if (same_array(a, b) || reshape_keeps_place(a, b)) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (a.dims[a.minor_to_major[i]] != b.dims[b.minor_to_major[i]]) return false;
  return true;
}

bool is_bitcast(const Node& node, const Shape& operand) {
  switch (node.op) {
    case Op::bitcast:
    case Op::bitcast_convert:
      return storage_bits(node.shape.dtype) == storage_bits(operand.dtype);
    case Op::reshape:
      return reshape_keeps_place(operand, node.shape);
    default:
      return false;
  }
}

bool is_elementwise(const Node& node) {
  return ir::class_of(node.op) == ir::OpClass::elementwise && node.op != Op::bitcast_convert;
}

bool moves_minor_dimension(const Node& node, const Shape& operand) {
  if (node.op == Op::copy) {
    const int a = first_wide(operand), b = first_wide(node.shape);
    const int from = a < operand.rank() ? operand.minor_to_major[a] : -1;
    const int to = b < node.shape.rank() ? node.shape.minor_to_major[b] : -1;
    return from != to;
  }
  if (node.op != Op::transpose) return false;
  const int wide = first_wide(operand);
  for (int i = 0; i < node.shape.rank(); ++i) {
    const int dim = node.shape.minor_to_major[i];
    if (node.shape.dims[dim] == 1) continue;
    const auto from = ir::axes(node)[dim];
    for (int position = 0; position < operand.rank(); ++position)
      if (operand.minor_to_major[position] == from) return position > wide;
  }
  return false;
}

bool moves_elements(const Node& node, const Shape& operand) {
  return node.op == Op::copy ||
         (node.op == Op::transpose && !transpose_keeps_place(operand, node.shape, ir::axes(node)));
}

Reduced reduced(const Shape& operand, const Dims& axes) {
  const Dims kept = others(operand, axes);
  if (kept.empty()) return {true, {1, 1, ir::elements(operand)}};
  if (are_consecutive(operand, kept)) {
    const auto [major, middle, minor] = split_around(operand, kept);
    if (middle == 1) return {true, {1, 1, major * minor}};
    if (minor == 1) return {false, {1, major, middle}};
    return {true, {major, middle, minor}};
  }
  const auto [major, middle, minor] = split_around(operand, axes);
  if (minor == 1) return {true, {1, major, middle}};
  return {false, {major, middle, minor}};
}

bool is_tiled_reduction(const Node& node, const Shape& operand, Year year) {
  if (node.op != Op::reduce) return false;
  if (year == Year::y2020 && first_shape(node).dtype == DType::c128) return false;
  const Dims& axes = ir::axes(node);
  if (!are_consecutive(operand, others(operand, axes)) && !are_consecutive(operand, axes)) return false;
  const Reduced seen = reduced(operand, axes);
  if (seen.row) return seen.dims[2] >= warp || (year == Year::today && seen.dims[2] > 0 && warp % seen.dims[2] == 0);
  const std::int64_t major = seen.dims[1], minor = seen.dims[2];
  if (year == Year::y2020) return major >= warp;
  return major >= warp && (major >= 2 * warp || minor >= warp) && (major >= 4 * warp || minor >= 8) &&
         (major >= 8 * warp || minor >= 3);
}

bool is_race_free(const Reduced& reduced) {
  if (reduced.row) return reduced.dims[2] <= row_threads * row_tile && reduced.dims[0] <= race_free_batch;
  return reduced.dims[1] <= warp * column_tile;
}

std::vector<std::int64_t> operand_dims(const Transposed& transposed) {
  return permuted(transposed.dims, inverse(transposed.permutation));
}

std::optional<Transposed> tiled_transpose(const Node& node, const Shape& operand) {
  if (node.op != Op::transpose || !is_row_major(operand) || !is_row_major(node.shape)) return std::nullopt;
  Transposed found;
  normalise(node, operand, found);
  if (found.permutation.size() < 2) return std::nullopt;
  const std::int64_t bits = storage_bits(node.shape.dtype);
  if (pack(found, bits)) return found;
  const Numbers from = operand_dims(found);
  const std::int64_t last = found.dims.back();
  const auto tile_bytes = [&](std::int64_t width) { return ceil_of_ratio(banks * (banks + 1) * bits * width, 8); };
  if (found.permutation.back() == static_cast<std::int64_t>(found.dims.size()) - 1) {
    const std::int64_t least = std::min(from[from.size() - 2], found.dims[found.dims.size() - 2]);
    if (bits * last > most_minor_bits || bits * last * least < 8 * least_tiled) return std::nullopt;
    found.shared_bytes = tile_bytes(last);
    return found;
  }
  const bool both = from.back() >= least_tiled && last >= least_tiled;
  const bool large =
      from.back() >= least_tiled_large && last >= least_tiled_large && from.back() * last >= large_product;
  if ((!both && !large) || bits == 4) return std::nullopt;
  found.shared_bytes = tile_bytes(1);
  return found;
}

}  // namespace tailor::costmodel::xla
