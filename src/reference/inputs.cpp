// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One walk from the outputs back to the parameters. A node asks something of its operands for its own sake (an index, a
// root) and hands on what was asked of itself where its operation keeps the meaning: moves and conversions, sums,
// products, the larger of two.
#include "reference/inputs.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "reference/evaluate_cells.h"

namespace tailor::reference {

namespace {

/// Operations whose result is in range, or positive, when the operands from `first` to `last` are.
struct Forwarding {
  ir::Op op;
  std::size_t first, last;
};
constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
constexpr auto hands_on = std::to_array<Forwarding>({
    {ir::Op::convert, 0, all},
    {ir::Op::bitcast, 0, all},
    {ir::Op::reshape, 0, all},
    {ir::Op::broadcast, 0, all},
    {ir::Op::transpose, 0, all},
    {ir::Op::copy, 0, all},
    {ir::Op::slice, 0, all},
    {ir::Op::concatenate, 0, all},
    {ir::Op::reverse, 0, all},
    {ir::Op::pad, 0, 0},
    {ir::Op::gather, 0, 0},
    {ir::Op::dynamic_slice, 0, 0},
    {ir::Op::dynamic_update_slice, 0, 1},
    {ir::Op::select, 1, 2},
    {ir::Op::clamp, 1, 1},
    {ir::Op::maximum, 0, all},
    {ir::Op::minimum, 0, all},
    {ir::Op::add, 0, all},
    {ir::Op::multiply, 0, all},
    {ir::Op::reduce, 0, all},
    {ir::Op::divide, 0, 0},
    {ir::Op::sqrt, 0, 0},
    {ir::Op::rsqrt, 0, 0},
    {ir::Op::reduce_precision, 0, 0},
    {ir::Op::get_tuple_element, 0, 0},
});

class InputRanges {
 public:
  explicit InputRanges(const ir::Graph& graph) : graph_(graph), ranges_(graph.nodes.size()) {
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
      ask_operands(graph.nodes[i]);
      hand_on(graph.nodes[i], ranges_[i]);
    }
  }
  const InputRange& of(ir::NodeId node) const { return ranges_[node]; }

 private:
  const ir::Shape& shape(const ir::Node& node, std::size_t operand) const {
    return graph_[node.operands[operand]].shape;
  }

  void ask(const ir::Node& node, std::size_t operand, const InputRange& wish) {
    if (operand >= node.operands.size()) return;
    InputRange& range = ranges_[node.operands[operand]];
    if (wish.limit > 0) range.limit = range.limit == 0 ? wish.limit : std::min(range.limit, wish.limit);
    range.distinct = range.distinct || wish.distinct;
    range.positive = range.positive || wish.positive;
  }

  void ask_operands(const ir::Node& node) {
    if (node.operands.empty()) return;
    switch (node.op) {
      case ir::Op::sqrt:
      case ir::Op::rsqrt:
      case ir::Op::log:
      case ir::Op::log1p:
      case ir::Op::power:
        return ask(node, 0, {0, false, true});
      case ir::Op::divide:
      case ir::Op::remainder:
        return ask(node, 1, {0, false, true});
      case ir::Op::dynamic_slice:
        return ask_starts(node, 1, node.shape.dims);
      case ir::Op::dynamic_update_slice:
        return ask_starts(node, 2, shape(node, 1).dims);
      case ir::Op::gather:
        return ask(node, 1, {places_in(node, 0, "start_index_map"), false, false});
      case ir::Op::scatter: {
        const std::size_t arrays = (node.operands.size() - 1) / 2;
        return ask(node, arrays, {places_in(node, 0, "scatter_dims_to_operand_dims"), true, false});
      }
      default:
        return;
    }
  }

  /// Start indices are scalars from operand `first` on, or one vector.
  void ask_starts(const ir::Node& node, std::size_t first, const ir::Dims& window) {
    const ir::Dims& dims = shape(node, 0).dims;
    const bool vector = node.operands.size() == first + 1 && dims.size() > 1;
    for (int i = 0; i < dims.size(); ++i)
      ask(node, vector ? first : first + static_cast<std::size_t>(i),
          {std::max<std::int64_t>(dims[i] - window[i] + 1, 1), false, false});
  }

  /// Indices that are inside along every dimension that is indexed, the slice's own extent left out of account.
  std::int64_t places_in(const ir::Node& node, std::size_t array, std::string_view map) const {
    const ir::Dims& dims = shape(node, array).dims;
    std::int64_t limit = 0;
    for (const std::int64_t dim : ir::attribute_numbers(hlo_text(node), map))
      if (dim >= 0 && dim < dims.size()) {
        const std::int64_t extent = dims[static_cast<int>(dim)];
        limit = limit == 0 ? extent : std::min(limit, extent);
      }
    return limit;
  }

  void hand_on(const ir::Node& node, const InputRange& wish) {
    const auto* row =
        std::find_if(hands_on.begin(), hands_on.end(), [&](const Forwarding& r) { return r.op == node.op; });
    if (row == hands_on.end() || (wish.limit == 0 && !wish.positive)) return;
    for (std::size_t k = row->first; k < node.operands.size() && k <= row->last; ++k) ask(node, k, wish);
  }

  const ir::Graph& graph_;
  IndexedVector<InputRange> ranges_;
};

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// A factor without a divisor in common with `limit`: multiples of it meet every residue once.
std::uint64_t stride_over(std::uint64_t limit, std::uint64_t seed) {
  std::uint64_t factor = mixed(seed) % limit | 1;
  while (std::gcd(factor, limit) != 1) factor += 2;
  return factor % limit;
}

}  // namespace

std::vector<InputRange> input_ranges(const ir::Graph& graph) {
  const InputRanges wanted(graph);
  std::vector<InputRange> ranges;
  for (const ir::NodeId parameter : parameters(graph)) ranges.push_back(wanted.of(parameter));
  return ranges;
}

Tensor input_tensor(const ir::Shape& shape, const InputRange& range, std::uint64_t seed) {
  Tensor tensor = random_tensor(shape, seed);
  if (is_integer(shape.dtype) && range.limit > 0) {
    const int value_bits = row(shape.dtype).bits - (is_signed(shape.dtype) ? 1 : 0);
    const std::uint64_t most = value_bits >= 63 ? ~std::uint64_t{0} : std::uint64_t{1} << value_bits;
    const std::uint64_t limit = std::min(static_cast<std::uint64_t>(range.limit), most);
    const std::uint64_t step = stride_over(limit, seed);
    each_cell(tensor, [&](std::int64_t i, Cell& cell) {
      const auto place = static_cast<std::uint64_t>(i);
      const std::uint64_t value =
          range.distinct ? (place % limit * step + mixed(seed)) % limit : mixed(seed ^ mixed(place)) % limit;
      cell.integer = static_cast<std::int64_t>(value);
    });
  }
  if (is_floating(shape.dtype) && range.positive)
    each_cell(tensor, [](std::int64_t, Cell& cell) {
      cell.real = 0.5 + 0.75 * std::min(std::abs(cell.real), 1.99);  // from [-2, 2)
    });
  return tensor;
}

std::vector<Tensor> sensible_inputs(const ir::Graph& graph, std::uint64_t seed) {
  const std::vector<InputRange> ranges = input_ranges(graph);
  const std::vector<ir::NodeId> nodes = parameters(graph);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    inputs.push_back(input_tensor(graph[nodes[i]].shape, ranges[i], mixed(seed + i)));
  return inputs;
}

}  // namespace tailor::reference
