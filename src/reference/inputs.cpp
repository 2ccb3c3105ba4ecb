// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that say something about a graph. In: a graph and a seed. Out: a range for each parameter, and tensors drawn
// in these ranges. Called by every check and measurement, and by sequences that fill what library calls would have
// written.
//
// Random numbers alone are useless for some operations: an index must lie inside what it indexes, a root wants a
// positive number, a slice's start must leave room. One walk from the outputs back to the parameters finds what is
// wanted. A node asks something of its operands for its own sake, and hands on what was asked of itself where its
// operation keeps the meaning: moves and conversions, sums, products, the larger of two. Where several uses ask, the
// narrowest range holds.
//
// Where every index should come once, as in a scatter, indices are multiples of a factor that has no divisor in common
// with the range, which meet every residue once while there is room; elsewhere they are hashes of their position.
// Everything is decided by the seed and by positions, so equal graphs get equal inputs on every machine.
#include "reference/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "reference/blame.h"
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
        // Whatever is added in any order may meet; of what takes another's place any may stay.
        const ir::Reducer known = ir::reducer(node);
        const bool meets = known != ir::Reducer::none && known != ir::Reducer::custom &&
                           ir::attribute(hlo_text(node), "unique_indices") != "true";
        return ask(node, arrays, {places_in(node, 0, "scatter_dims_to_operand_dims"), !meets, false});
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

/// Random numbers in order.
struct Drawing {
  std::uint64_t seed, drawn = 0;
  std::uint64_t operator()(std::uint64_t below) { return mixed(seed ^ mixed(++drawn)) % below; }
};

/// Values at which sums stay numbers, whatever they meet.
std::vector<double> mild_edges(ir::DType dtype, const InputRange& range) {
  if (range.positive) return {0.5, 1, 1.5, 2};
  const ir::FloatFormat format = float_format(dtype);
  const double least_normal = std::ldexp(1.0, 1 - format.bias);
  const double least = std::ldexp(least_normal, -format.mantissa_bits);
  return {0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, -2.5, 3 * least, -least_normal};
}

/// Values at which something overflows, loses all digits or changes its method.
std::vector<double> finite_edges(ir::DType dtype, const InputRange& range) {
  const ir::FloatFormat format = float_format(dtype);
  const double most = ir::largest_number(dtype);
  const double least_normal = std::ldexp(1.0, 1 - format.bias), ulp = std::ldexp(1.0, -format.mantissa_bits);
  if (range.positive) return {most, least_normal, 1 + ulp, std::ldexp(1.0, format.bias / 2)};
  const double whole = std::ldexp(1.0, format.mantissa_bits + 1);  // above it every number is even
  std::vector<double> values{most,   -most,  most / 2,   -most / 2,   std::ldexp(1.0, format.bias / 2 + 1),
                             ulp,    -ulp,   1 + ulp,    1 - ulp / 2, -1 - ulp,
                             whole,  -whole, whole + 2., 88.75,       -87.5,
                             -104,   11.125, -17.5,      0x1p31,      -0x1p31,
                             0x1p32, 255.5,  -128.5,     1e4,         -1e5};
  values.erase(std::remove_if(values.begin(), values.end(), [most](double v) { return std::fabs(v) > most; }),
               values.end());
  return values;
}

std::vector<double> infinite_edges(const InputRange& range) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (range.positive) return {0.0, -1, infinite};
  return {infinite, -infinite, std::numeric_limits<double>::quiet_NaN()};
}

/// Ends of the type, widths, powers of two and their neighbours; of an index what lies just and far outside.
std::vector<std::int64_t> integer_edges(ir::DType dtype, const InputRange& range) {
  const int bits = row(dtype).bits;
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  const auto high = static_cast<std::int64_t>(top);  // of 64 bits: the least signed number
  const std::int64_t most = wrap_to(dtype, static_cast<std::int64_t>(top - 1));
  if (range.limit > 0 && range.distinct) {
    // None comes twice, nor where programs count negative indices from the end: -1 is the last place there.
    const std::int64_t before = std::max(-range.limit - 1, wrap_to(dtype, high));
    return {range.limit, range.limit + 1, before, most, high};
  }
  if (range.limit > 0) return {0, range.limit - 1, range.limit, range.limit + 1, -1, most, high};
  return {0, 1, -1, most, most - 1, high, high + 1, bits - 1, bits, bits + 1, high / 2, high / 2 - 1, 2, -2, 7, -128};
}

/// Whether elements of a row or a column meet, so that one decides over all of their results.
bool mixes_elements(const ir::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const ir::Node& node) {
    const ir::OpClass kind = class_of(node.op);
    return kind == ir::OpClass::reduction || kind == ir::OpClass::window || kind == ir::OpClass::library ||
           kind == ir::OpClass::control;
  });
}

/// The fewest results that a reduction of the graph has: so many rows or columns are not decided by one edge.
std::int64_t rows_apart(const ir::Graph& graph) {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const ir::Node& node : graph.nodes)
    if (class_of(node.op) == ir::OpClass::reduction)
      fewest = std::min(fewest, elements(node.results.empty() ? node.shape : node.results.front()));
  return fewest;
}

/// How many elements are edges that may take others with them. `rows`: of rows_apart(); where they are few an edge
/// decides most of the results, so that a wrong sum would not be seen, and every other seed does without.
std::int64_t count_of_edges(const ir::Shape& shape, bool mixes, std::int64_t rows, std::uint64_t seed) {
  const std::int64_t total = elements(shape);
  constexpr std::int64_t enough = 32, one_of = 1024, rows_per_edge = 32, most_rows = 16, few_rows = 8;
  if (!mixes) return std::max(total / one_of, std::min(total / 8, enough));
  if (total < rows_per_edge || (rows < few_rows && seed % 2 == 1)) return 0;
  for (int d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] > 1) rows = std::min(rows, shape.dims[d]);
  return std::clamp<std::int64_t>(rows / rows_per_edge, 1, most_rows);
}

void put(Tensor& tensor, std::int64_t place, Cell cell) { store_cells(tensor, place, {&cell, 1}); }

bool is_same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool holds_number(const std::vector<double>& values, double value) {
  return std::any_of(values.begin(), values.end(), [value](double v) { return is_same_number(v, value); });
}

std::vector<double> without(std::vector<double> values, const std::vector<double>& left_out) {
  std::erase_if(values, [&](double value) { return holds_number(left_out, value); });
  return values;
}

void add_float_edges(Tensor& tensor, const InputRange& range, Edges edges, const std::vector<double>& left_out,
                     std::int64_t count, Drawing draw, const std::stop_token& stop) {
  const ir::DType dtype = tensor.shape.dtype;
  const auto total = static_cast<std::uint64_t>(elements(tensor.shape));
  constexpr std::uint64_t one_of = 16;
  const std::vector<double> mild = mild_edges(dtype, range);
  for (std::uint64_t i = 0; i < total / one_of; ++i) {
    stop_if_asked(stop);
    put(tensor, static_cast<std::int64_t>(draw(total)), Cell{.real = mild[draw(mild.size())]});
  }
  if (edges < Edges::finite) return;
  // In turn, from a random one on, so that many edges are all of them.
  std::vector<double> finite = finite_edges(dtype, range);
  for (double& edge : finite) edge = ir::round_to(dtype, edge);
  finite = without(std::move(finite), left_out);
  const std::vector<double> infinite = without(infinite_edges(range), left_out);
  const std::uint64_t from = draw(std::max<std::size_t>(finite.size() * infinite.size(), 1));
  for (std::int64_t i = 0; i < count; ++i) {
    const bool third = edges == Edges::not_finite && i % 3 == 0;
    const std::vector<double>& values = third ? infinite : finite;
    if (values.empty()) continue;
    const std::uint64_t which = from + static_cast<std::uint64_t>(third ? i / 3 : i);
    put(tensor, static_cast<std::int64_t>(draw(total)), Cell{.real = values[which % values.size()]});
  }
}

/// Integers do not spoil what they meet: a quarter of them are edges or of any size; of indices, which have to find
/// something, one in sixteen. A single one is an edge for one seed in three.
void add_integer_edges(Tensor& tensor, const InputRange& range, Drawing draw, const std::stop_token& stop) {
  const ir::DType dtype = tensor.shape.dtype;
  const std::vector<std::int64_t> values = integer_edges(dtype, range);
  const std::uint64_t one_of = elements(tensor.shape) == 1 ? 3 : range.limit > 0 ? 16 : 4;
  const auto set = [&](std::int64_t, Cell& cell) {
    if (draw(one_of) != 0) return;
    const bool any = range.limit == 0 && draw(2) == 0;
    cell.integer = any ? static_cast<std::int64_t>(mixed(draw(~std::uint64_t{0}))) : values[draw(values.size())];
  };
  each_cell(tensor, set, stop);
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

Tensor input_tensor(const ir::Shape& shape, const InputRange& range, std::uint64_t seed, const std::stop_token& stop) {
  Tensor tensor = random_tensor(shape, seed, stop);
  if (is_integer(shape.dtype) && range.limit > 0) {
    const int value_bits = row(shape.dtype).bits - (is_signed(shape.dtype) ? 1 : 0);
    const std::uint64_t most = value_bits >= 63 ? ~std::uint64_t{0} : std::uint64_t{1} << value_bits;
    const std::uint64_t limit = std::min(static_cast<std::uint64_t>(range.limit), most);
    const std::uint64_t step = stride_over(limit, seed);
    const auto set = [&](std::int64_t i, Cell& cell) {
      const auto place = static_cast<std::uint64_t>(i);
      const std::uint64_t value =
          range.distinct ? (place % limit * step + mixed(seed)) % limit : mixed(seed ^ mixed(place)) % limit;
      cell.integer = static_cast<std::int64_t>(value);
    };
    each_cell_apart(tensor, set, stop);
  }
  if (is_floating(shape.dtype) && range.positive)
    each_cell_apart(
        tensor,
        [](std::int64_t, Cell& cell) {
          cell.real = 0.5 + 0.75 * std::min(std::abs(cell.real), 1.99);  // from [-2, 2)
        },
        stop);
  return tensor;
}

std::vector<Tensor> sensible_inputs(const ir::Graph& graph, std::uint64_t seed, Edges edges, const LeftOut& left_out,
                                    const std::stop_token& stop) {
  const std::vector<InputRange> ranges = input_ranges(graph);
  const std::vector<ir::NodeId> nodes = parameters(graph);
  const bool mixes = mixes_elements(graph);
  const std::int64_t rows = rows_apart(graph);
  std::int64_t largest = 1;
  for (const ir::NodeId node : nodes) largest = std::max(largest, elements(graph[node].shape));
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ir::Shape& shape = graph[nodes[i]].shape;
    const std::uint64_t own = mixed(seed + i);
    Tensor input = input_tensor(shape, ranges[i], own, stop);
    // What is spread over rows, a scale or a bias, would take all of them along.
    const bool own_rows = 2 * elements(shape) > largest;
    const std::int64_t count = mixes && !own_rows ? 0 : count_of_edges(shape, mixes, rows, seed);
    if (edges != Edges::none && is_floating(shape.dtype) && elements(shape) > 1)
      add_float_edges(input, ranges[i], edges, i < left_out.size() ? left_out[i] : std::vector<double>(), count,
                      {mixed(own)}, stop);
    if (edges >= Edges::finite && is_integer(shape.dtype)) add_integer_edges(input, ranges[i], {mixed(own)}, stop);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

LeftOut edges_without_bound(const ir::Graph& graph, std::span<const Tensor> inputs,
                            std::span<const BoundedTensor> outputs, const std::stop_token& stop) {
  std::vector<Marks> marks;
  for (const BoundedTensor& output : outputs) {
    Marks& one = marks.emplace_back(output.error.size());
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = std::isfinite(output.error[i]) ? 0 : 1;
  }
  const std::optional<std::vector<Marks>> sources = sources_of(graph, std::move(marks), stop);
  if (!sources) return {};
  const std::vector<InputRange> ranges = input_ranges(graph);
  LeftOut found(inputs.size());
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::DType dtype = inputs[i].shape.dtype;
    if (!is_floating(dtype)) continue;
    std::vector<double> edges;  // as the type holds them
    for (const double edge : finite_edges(dtype, ranges[i])) edges.push_back(ir::round_to(dtype, edge));
    for (const double edge : infinite_edges(ranges[i])) edges.push_back(edge);
    each_real(
        inputs[i],
        [&](std::int64_t at, double value) {
          if ((*sources)[i][static_cast<std::size_t>(at)] == 0 || !holds_number(edges, value)) return;
          any = true;
          if (!holds_number(found[i], value)) found[i].push_back(value);
        },
        stop);
  }
  return any ? found : LeftOut();
}

}  // namespace tailor::reference
