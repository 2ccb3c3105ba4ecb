// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The shape rule of each operation: what HLO's semantics say the result must be, from the operands and attributes.
// Layouts are free. Convolutions, library calls and communication are not checked beyond their counts; a dot and
// windows are, from the attributes' text.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/counted.h"
#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/gather_numbers.h"
#include "ir/graph/graph_verify.h"

namespace tailor::ir {

namespace {

using Rule = void (*)(const Checked&);

void expect_shape(const Checked& c, const Shape& found, DType dtype, const Dims& dims) {
  if (found.dtype != dtype || found.dims != dims) refuse(c, text(found), text(make_shape(dtype, dims)));
}

void expect_result(const Checked& c, DType dtype, const Dims& dims) { expect_shape(c, c.node.shape, dtype, dims); }

void expect_operands(const Checked& c, std::size_t least) {
  if (c.count() < least) refuse(c, fmt::format("{} operands", c.count()), fmt::format("at least {}", least));
}

void expect_bodies(const Checked& c, std::size_t least) {
  const std::size_t found = c.node.bodies.size();
  if (found < least) refuse(c, fmt::format("{} bodies", found), fmt::format("at least {}", least));
}

/// "(f32[], s32[])", or "two f32[]".
std::string numbers(const std::vector<DType>& types) {
  if (types.size() == 2 && types[0] == types[1]) return fmt::format("two {}[]", name(types[0]));
  std::string all;
  for (const DType dtype : types) all += fmt::format("{}{}[]", all.empty() ? "" : ", ", name(dtype));
  return fmt::format("({})", all);
}

/// The body takes single numbers of these types and gives those.
void expect_region(const Checked& c, std::size_t number, const std::vector<DType>& takes,
                   const std::vector<DType>& gives) {
  const Graph& region = body(c.graph, c.node, number);
  const auto are = [&](const std::vector<NodeId>& nodes, const std::vector<DType>& types) {
    return std::equal(nodes.begin(), nodes.end(), types.begin(), types.end(), [&](NodeId id, DType dtype) {
      return region[id].shape.rank() == 0 && region[id].shape.dtype == dtype;
    });
  };
  const auto texts = [&](const std::vector<NodeId>& nodes) {
    std::vector<std::string> all;
    for (const NodeId id : nodes) all.push_back(text(region[id].shape));
    return fmt::format("({})", fmt::join(all, ", "));
  };
  const std::vector<NodeId> given = parameters(region);
  if (are(given, takes) && are(region.outputs, gives)) return;
  refuse(c, fmt::format("region {}", region.name),
         fmt::format("one of {} that gives {}, not of {} that gives {}", numbers(takes),
                     gives.size() == 1 ? fmt::format("a {}[]", name(gives[0])) : numbers(gives), texts(given),
                     texts(region.outputs)));
}

/// Two numbers of each of the first so many operands become one, those that were put together before come first.
void expect_pairs_region(const Checked& c, std::size_t number, std::size_t arrays) {
  std::vector<DType> gives, takes;
  for (std::size_t k = 0; k < arrays; ++k) gives.push_back(c.operand(k).dtype);
  takes = gives;
  takes.insert(takes.end(), gives.begin(), gives.end());
  expect_region(c, number, takes, gives);
}

/// Distinct and below `rank`.
void expect_axes(const Checked& c, int rank) {
  const Dims& axes = ir::axes(c.node);
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || axes[i] >= rank || std::count(axes.begin(), axes.end(), axes[i]) != 1)
      refuse(c, fmt::format("axes {{{}}}", fmt::join(axes.begin(), axes.end(), ",")),
             fmt::format("distinct dimensions below {}", rank));
}

/// One, and below `rank`.
void expect_axis(const Checked& c, int rank) {
  const int axis = ir::axis(c.node);
  if (axis < 0) refuse(c, "no dimension", fmt::format("one below {}", rank));
  if (axis >= rank) refuse(c, fmt::format("dimension {}", axis), fmt::format("one below {}", rank));
}

void expect_axis_count(const Checked& c, int count) {
  const int found = axes(c.node).size();
  if (found != count) refuse(c, fmt::format("{} axes", found), fmt::format("{}", count));
}

void expect_ranges(const Checked& c, std::size_t found) {
  const int rank = c.operand(0).rank();
  if (std::cmp_not_equal(found, rank))
    refuse(c, fmt::format("{} ranges", found), fmt::format("{}, one per dimension", rank));
}

/// Result k as the node declares it.
const Shape& result(const Checked& c, std::size_t k, std::size_t count) {
  if (c.node.shape.dtype != DType::tuple) {
    if (count != 1) refuse(c, text(c.node.shape), fmt::format("a tuple of {} results", count));
    return c.node.shape;
  }
  if (c.node.results.size() != count)
    refuse(c, fmt::format("{} results", c.node.results.size()), fmt::format("{}", count));
  return c.node.results[k];
}

void rule_select(const Checked& c) {
  const Shape& predicate = c.operand(0);
  if (predicate.dtype != DType::pred || (predicate.rank() != 0 && predicate.dims != c.node.shape.dims))
    refuse(c, text(predicate), "a predicate, scalar or of the result's dimensions");
  for (std::size_t i = 1; i < 3; ++i) expect_shape(c, c.operand(i), c.node.shape.dtype, c.node.shape.dims);
}

void rule_clamp(const Checked& c) {
  expect_shape(c, c.operand(1), c.node.shape.dtype, c.node.shape.dims);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}})
    expect_shape(c, c.operand(i), c.node.shape.dtype, c.operand(i).rank() == 0 ? Dims{} : c.node.shape.dims);
}

void rule_bitcast_convert(const Checked& c) {
  const auto bits = [](const Shape& shape) { return elements(shape) * row(shape.dtype).bits; };
  if (bits(c.operand(0)) != bits(c.node.shape))
    refuse(c, fmt::format("{} bits", bits(c.node.shape)), fmt::format("{}", bits(c.operand(0))));
}

/// Operands of one type and the result's dimensions; `to` says how the result's type follows.
void same_dims(const Checked& c) {
  for (std::size_t i = 0; i < c.count(); ++i) expect_shape(c, c.operand(i), c.operand(0).dtype, c.node.shape.dims);
}

void rule_predicate(const Checked& c) {
  same_dims(c);
  expect_result(c, DType::pred, c.node.shape.dims);
}

void rule_elementwise(const Checked& c) {
  same_dims(c);
  const bool changes_type = c.node.op == Op::convert || c.node.op == Op::real || c.node.op == Op::imag ||
                            c.node.op == Op::complex ||
                            (c.node.op == Op::abs && row(c.operand(0).dtype).kind == DTypeKind::complex);
  if (!changes_type && c.count() > 0) expect_result(c, c.operand(0).dtype, c.node.shape.dims);
}

void rule_stochastic_convert(const Checked& c) {
  for (std::size_t i = 0; i < c.count(); ++i) expect_shape(c, c.operand(i), c.operand(i).dtype, c.node.shape.dims);
}

void rule_map(const Checked& c) {
  expect_bodies(c, 1);
  std::vector<DType> takes;
  for (std::size_t i = 0; i < c.count(); ++i) takes.push_back(c.operand(i).dtype);
  expect_region(c, 0, takes, {c.node.shape.dtype});
  for (std::size_t i = 0; i < c.count(); ++i) expect_shape(c, c.operand(i), c.operand(i).dtype, c.node.shape.dims);
}

void rule_iota(const Checked& c) {
  if (c.node.shape.rank() != 0 || axis(c.node) != -1) expect_axis(c, std::max(c.node.shape.rank(), 1));
}

void rule_broadcast(const Checked& c) {
  expect_axis_count(c, c.operand(0).rank());
  expect_axes(c, c.node.shape.rank());
  Dims dims;
  for (const std::int64_t axis : axes(c.node)) dims.push_back(c.node.shape.dims[static_cast<int>(axis)]);
  expect_shape(c, c.operand(0), c.node.shape.dtype, dims);
}

void rule_reshape(const Checked& c) {
  if (c.operand(0).dtype != c.node.shape.dtype || elements(c.operand(0)) != elements(c.node.shape))
    refuse(c, text(c.node.shape), fmt::format("as many elements of the same type as {}", text(c.operand(0))));
}

void rule_bitcast(const Checked& c) {
  if (bytes(c.operand(0)) != bytes(c.node.shape))
    refuse(c, text(c.node.shape), fmt::format("as many bytes as {}", text(c.operand(0))));
}

void rule_transpose(const Checked& c) {
  expect_axis_count(c, c.operand(0).rank());
  expect_axes(c, c.operand(0).rank());
  Dims dims;
  for (const std::int64_t axis : axes(c.node)) dims.push_back(c.operand(0).dims[static_cast<int>(axis)]);
  expect_result(c, c.operand(0).dtype, dims);
}

void rule_slice(const Checked& c) {
  expect_ranges(c, attributes_as<SliceRanges>(c.node).ranges.size());
  Dims dims;
  for (int i = 0; i < c.operand(0).rank(); ++i) {
    const auto& [start, limit, stride] = slice_range(c.node, i);
    if (start < 0 || limit < start || limit > c.operand(0).dims[i] || stride < 1)
      refuse(c, fmt::format("range {}:{}:{}", start, limit, stride),
             fmt::format("0 <= start <= limit <= {} and a positive stride", c.operand(0).dims[i]));
    dims.push_back((limit - start + stride - 1) / stride);
  }
  expect_result(c, c.operand(0).dtype, dims);
}

void rule_reverse(const Checked& c) {
  expect_axes(c, c.operand(0).rank());
  expect_result(c, c.operand(0).dtype, c.operand(0).dims);
}

void rule_pad(const Checked& c) {
  expect_ranges(c, attributes_as<PadRanges>(c.node).ranges.size());
  expect_shape(c, c.operand(1), c.operand(0).dtype, {});
  Dims dims;
  for (int i = 0; i < c.operand(0).rank(); ++i) {
    const auto& [low, high, interior] = pad_range(c.node, i);
    const std::int64_t dim = c.operand(0).dims[i];
    if (interior < 0) refuse(c, fmt::format("interior padding {}", interior), "none below 0");
    dims.push_back(low + high + dim + std::max<std::int64_t>(dim - 1, 0) * interior);
  }
  expect_result(c, c.operand(0).dtype, dims);
}

void rule_concatenate(const Checked& c) {
  expect_operands(c, 1);
  expect_axis(c, c.operand(0).rank());
  const int axis = ir::axis(c.node);
  Dims dims = c.operand(0).dims;
  for (std::size_t i = 1; i < c.count(); ++i) {
    Dims wanted = c.operand(0).dims;
    if (c.operand(i).rank() == wanted.size()) wanted[axis] = c.operand(i).dims[axis];
    expect_shape(c, c.operand(i), c.operand(0).dtype, wanted);
    dims[axis] += c.operand(i).dims[axis];
  }
  expect_result(c, c.operand(0).dtype, dims);
}

/// One start per dimension, or one vector of them.
void expect_starts(const Checked& c, std::size_t first) {
  const std::size_t found = c.count() - first;
  const auto rank = static_cast<std::size_t>(c.operand(0).rank());
  const bool vector = found == 1 && c.operand(first).rank() == 1;
  if (!vector && found != rank) refuse(c, fmt::format("{} start indices", found), fmt::format("{}", rank));
  for (std::size_t i = first; i < c.count(); ++i)
    if (!is_integer(c.operand(i).dtype)) refuse(c, text(c.operand(i)), "integer start indices");
}

void expect_inside(const Checked& c, const Shape& window) {
  bool fits = window.dtype == c.operand(0).dtype && window.rank() == c.operand(0).rank();
  for (int i = 0; fits && i < window.rank(); ++i) fits = window.dims[i] <= c.operand(0).dims[i];
  if (!fits) refuse(c, text(window), fmt::format("a part of {}", text(c.operand(0))));
}

void rule_dynamic_slice(const Checked& c) {
  expect_operands(c, 1);
  expect_starts(c, 1);
  expect_inside(c, c.node.shape);
}

void rule_dynamic_update_slice(const Checked& c) {
  expect_operands(c, 2);
  expect_starts(c, 2);
  expect_inside(c, c.operand(1));
  expect_result(c, c.operand(0).dtype, c.operand(0).dims);
}

void rule_gather(const Checked& c) {
  if (!is_integer(c.operand(1).dtype)) refuse(c, text(c.operand(1)), "integer indices");
  const Dims window = attribute_numbers(hlo_text(c.node), "slice_sizes");
  if (window.size() != c.operand(0).rank())
    refuse(c, fmt::format("{} slice sizes", window.size()), fmt::format("{}", c.operand(0).rank()));
  for (int i = 0; i < window.size(); ++i)
    if (window[i] < 0 || window[i] > c.operand(0).dims[i])
      refuse(c, fmt::format("a slice of {}", window[i]), fmt::format("at most {}", c.operand(0).dims[i]));
  expect_result(c, c.operand(0).dtype, c.node.shape.dims);
  const auto numbers = read_gather(c.graph, c.node);
  if (const auto* misfit = std::get_if<GatherMisfit>(&numbers)) refuse(c, misfit->found, misfit->expected);
}

void rule_scatter(const Checked& c) {
  expect_operands(c, 3);
  const std::size_t arrays = (c.count() - 1) / 2;
  if (c.count() != 2 * arrays + 1) refuse(c, fmt::format("{} operands", c.count()), "an odd number");
  if (!is_integer(c.operand(arrays).dtype)) refuse(c, text(c.operand(arrays)), "integer indices");
  for (std::size_t k = 0; k < arrays; ++k) expect_shape(c, result(c, k, arrays), c.operand(k).dtype, c.operand(k).dims);
  if (!c.node.bodies.empty()) expect_pairs_region(c, 0, arrays);
  if (arrays != 1) return;
  const auto numbers = read_scatter(c.graph, c.node);
  if (const auto* misfit = std::get_if<GatherMisfit>(&numbers)) refuse(c, misfit->found, misfit->expected);
}

/// Arrays of equal dimensions, then as many scalars; a known reducer has one of each.
std::size_t expect_reduction(const Checked& c) {
  expect_operands(c, 2);
  const std::size_t arrays = c.count() / 2;
  if (c.count() % 2 != 0) refuse(c, fmt::format("{} operands", c.count()), "an even number");
  const Reducer reducer = ir::reducer(c.node);
  if (reducer == Reducer::none || reducer == Reducer::custom)
    expect_bodies(c, 1);
  else if (arrays != 1)
    refuse(c, fmt::format("reducer {} of {} arrays", name(reducer), arrays), "one array, or a custom body");
  else if (c.node.shape.dtype == DType::tuple)
    refuse(c, fmt::format("reducer {} that gives a tuple", name(reducer)), "an array, or a custom body");
  for (std::size_t k = 0; k < arrays; ++k) {
    expect_shape(c, c.operand(k), c.operand(k).dtype, c.operand(0).dims);
    expect_shape(c, c.operand(arrays + k), c.operand(k).dtype, {});
  }
  if (!c.node.bodies.empty()) expect_pairs_region(c, 0, arrays);
  return arrays;
}

void rule_reduce(const Checked& c) {
  const std::size_t arrays = expect_reduction(c);
  expect_axes(c, c.operand(0).rank());
  Dims kept;
  for (int i = 0; i < c.operand(0).rank(); ++i)
    if (!axes(c.node).contains(i)) kept.push_back(c.operand(0).dims[i]);
  for (std::size_t k = 0; k < arrays; ++k) expect_shape(c, result(c, k, arrays), c.operand(k).dtype, kept);
}

Dims windowed(const Checked& c, const Dims& dims) {
  if (const int rank = window_rank(hlo_text(c.node)); rank != dims.size())
    refuse(c, fmt::format("a window of {}", counted(rank, "dimension")), fmt::format("{}", dims.size()));
  const IndexedVector<WindowDim> window = parse_window(hlo_text(c.node), dims.size());
  const auto dilated = [](std::int64_t extent, std::int64_t by) { return extent == 0 ? 0 : (extent - 1) * by + 1; };
  Dims result;
  for (int i = 0; i < dims.size(); ++i) {
    const WindowDim& d = window[i];
    if (d.size < 1 || d.stride < 1 || d.base_dilation < 1 || d.window_dilation < 1)
      refuse(c, "a window's size, stride or dilation below 1", "positive ones");
    const std::int64_t room =
        dilated(dims[i], d.base_dilation) + d.pad_low + d.pad_high - dilated(d.size, d.window_dilation);
    result.push_back(room < 0 ? 0 : room / d.stride + 1);
  }
  return result;
}

void rule_reduce_window(const Checked& c) {
  const std::size_t arrays = expect_reduction(c);
  const Dims dims = windowed(c, c.operand(0).dims);
  for (std::size_t k = 0; k < arrays; ++k) expect_shape(c, result(c, k, arrays), c.operand(k).dtype, dims);
}

void rule_select_and_scatter(const Checked& c) {
  expect_operands(c, 3);
  expect_bodies(c, 1);
  const DType dtype = c.operand(0).dtype;
  expect_region(c, 0, {dtype, dtype}, {DType::pred});
  if (c.node.bodies.size() > 1) expect_region(c, 1, {dtype, dtype}, {dtype});
  expect_shape(c, c.operand(1), c.operand(0).dtype, windowed(c, c.operand(0).dims));
  expect_shape(c, c.operand(2), c.operand(0).dtype, {});
  expect_result(c, c.operand(0).dtype, c.operand(0).dims);
}

void rule_sort(const Checked& c) {
  expect_operands(c, 1);
  expect_bodies(c, 1);
  if (axis(c.node) != -1) expect_axis(c, c.operand(0).rank());
  std::vector<DType> takes;
  for (std::size_t k = 0; k < c.count(); ++k) takes.insert(takes.end(), 2, c.operand(k).dtype);
  expect_region(c, 0, takes, {DType::pred});
  for (std::size_t k = 0; k < c.count(); ++k) {
    expect_shape(c, c.operand(k), c.operand(k).dtype, c.operand(0).dims);
    expect_shape(c, result(c, k, c.count()), c.operand(k).dtype, c.operand(0).dims);
  }
}

void rule_topk(const Checked& c) {
  if (c.count() != 1) refuse(c, fmt::format("{} operands", c.count()), "one");
  const Shape& array = c.operand(0);
  if (array.rank() == 0) refuse(c, ir::text(array), "an array with rows");
  const std::string_view text = hlo_text(c.node);
  const auto asked = attribute(text, "k");
  const std::string_view largest = attribute(text, "largest").value_or("true");
  const int last = array.rank() - 1;
  Dims dims = array.dims;
  dims[last] = attribute_number(text, "k", -1);
  if (dims[last] < 0 || dims[last] > array.dims[last])
    refuse(c, asked ? fmt::format("k={}", *asked) : "no k",
           fmt::format("a number up to {}, the length of its rows", array.dims[last]));
  if (largest != "true" && largest != "false") refuse(c, fmt::format("largest={}", largest), "true or false");
  expect_shape(c, result(c, 0, 2), array.dtype, dims);
  expect_shape(c, result(c, 1, 2), DType::s32, dims);
}

void rule_dot(const Checked& c) {
  expect_operands(c, 2);
  const std::string_view text = hlo_text(c.node);
  Dims expected;
  std::array<Dims, 2> batch{attribute_numbers(text, "lhs_batch_dims"), attribute_numbers(text, "rhs_batch_dims")};
  std::array<Dims, 2> sum{attribute_numbers(text, "lhs_contracting_dims"),
                          attribute_numbers(text, "rhs_contracting_dims")};
  if (batch[0].size() != batch[1].size() || sum[0].size() != sum[1].size())
    refuse(c, "dimension lists of different lengths", "as many on the left as on the right");
  for (std::size_t side = 0; side < 2; ++side)
    for (const Dims& list : {batch[side], sum[side]})
      for (const std::int64_t dim : list)
        if (dim < 0 || dim >= c.operand(side).rank())
          refuse(c, fmt::format("dimension {}", dim), fmt::format("one of {}", ir::text(c.operand(side))));
  for (const auto& lists : {batch, sum})
    for (int i = 0; i < lists[0].size(); ++i) {
      const std::int64_t left = c.operand(0).dims[static_cast<int>(lists[0][i])];
      const std::int64_t right = c.operand(1).dims[static_cast<int>(lists[1][i])];
      if (left != right) refuse(c, fmt::format("{} against {}", left, right), "paired dimensions of one length");
    }
  for (const std::int64_t dim : batch[0]) expected.push_back(c.operand(0).dims[static_cast<int>(dim)]);
  for (std::size_t side = 0; side < 2; ++side)
    for (int i = 0; i < c.operand(side).rank(); ++i)
      if (!batch[side].contains(i) && !sum[side].contains(i)) expected.push_back(c.operand(side).dims[i]);
  expect_result(c, c.node.shape.dtype, expected);
}

void rule_get_tuple_element(const Checked& c) {
  expect_operands(c, 1);
  const Node& source = c.graph[c.node.operands[0]];
  const std::int64_t wanted = attributes_as<TupleIndex>(c.node).index;
  if (source.shape.dtype != DType::tuple || wanted < 0 || std::cmp_greater_equal(wanted, source.results.size()))
    refuse(c, fmt::format("element {} of {}", wanted, source.name),
           fmt::format("one of its {} results", source.results.size()));
  const Shape& shape = source.results[tuple_index(c.node)];
  expect_result(c, shape.dtype, shape.dims);
}

/// What a body gives, in order, has the types and dimensions of `wanted`.
void expect_outputs(const Checked& c, std::size_t number, std::span<const Shape> wanted) {
  const Graph& graph = body(c.graph, c.node, number);
  if (graph.outputs.size() != wanted.size())
    refuse(c, fmt::format("{} with {} results", graph.name, graph.outputs.size()), fmt::format("{}", wanted.size()));
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const Shape& found = graph[graph.outputs[k]].shape;
    if (found.dtype != wanted[k].dtype || found.dims != wanted[k].dims)
      refuse(c, fmt::format("{} that gives {}", graph.name, text(found)), text(wanted[k]));
  }
}

void rule_while(const Checked& c) {
  expect_bodies(c, 2);
  std::vector<Shape> state;
  for (std::size_t k = 0; k < c.count(); ++k) {
    expect_shape(c, result(c, k, c.count()), c.operand(k).dtype, c.operand(k).dims);
    state.push_back(c.operand(k));
  }
  const Shape truth = make_shape(DType::pred, {});
  expect_outputs(c, 0, {&truth, 1});
  expect_outputs(c, 1, state);
}

void rule_conditional(const Checked& c) {
  expect_operands(c, 1);
  expect_bodies(c, 1);
  for (std::size_t k = 0; k < c.node.bodies.size(); ++k)
    if (c.node.shape.dtype == DType::tuple)
      expect_outputs(c, k, c.node.results);
    else
      expect_outputs(c, k, {&c.node.shape, 1});
}

void rule_reduce_precision(const Checked& c) {
  rule_elementwise(c);
  for (const auto& [key, least] : {std::pair{"exponent_bits", 1}, std::pair{"mantissa_bits", 0}})
    if (const std::optional<std::string_view> found = attribute(hlo_text(c.node), key);
        !found || attribute_number(hlo_text(c.node), key, -1) < least)
      refuse(c, found ? fmt::format("{}={}", key, *found) : fmt::format("no {}", key),
             fmt::format("{} or more", least));
}

struct RuleRow {
  Op op;
  Rule rule;
};

constexpr auto rule_table = std::to_array<RuleRow>({
    {Op::iota, rule_iota},
    {Op::select, rule_select},
    {Op::clamp, rule_clamp},
    {Op::compare, rule_predicate},
    {Op::is_finite, rule_predicate},
    {Op::reduce_precision, rule_reduce_precision},
    {Op::bitcast_convert, rule_bitcast_convert},
    {Op::stochastic_convert, rule_stochastic_convert},
    {Op::map, rule_map},
    {Op::broadcast, rule_broadcast},
    {Op::reshape, rule_reshape},
    {Op::bitcast, rule_bitcast},
    {Op::transpose, rule_transpose},
    {Op::slice, rule_slice},
    {Op::reverse, rule_reverse},
    {Op::pad, rule_pad},
    {Op::concatenate, rule_concatenate},
    {Op::dynamic_slice, rule_dynamic_slice},
    {Op::dynamic_update_slice, rule_dynamic_update_slice},
    {Op::gather, rule_gather},
    {Op::scatter, rule_scatter},
    {Op::reduce, rule_reduce},
    {Op::reduce_window, rule_reduce_window},
    {Op::select_and_scatter, rule_select_and_scatter},
    {Op::sort, rule_sort},
    {Op::topk, rule_topk},
    {Op::dot, rule_dot},
    {Op::get_tuple_element, rule_get_tuple_element},
    {Op::while_loop, rule_while},
    {Op::conditional, rule_conditional},
});

/// Rules by operation; what has no row is elementwise or free.
constexpr auto rules = [] {
  std::array<Rule, op_table.size()> by_op{};
  for (const OpRow& entry : op_table)
    if (entry.kind == OpClass::elementwise) by_op[index(entry.op)] = rule_elementwise;
  for (const RuleRow& entry : rule_table) by_op[index(entry.op)] = entry.rule;
  return by_op;
}();

}  // namespace

void verify_shapes(const Checked& checked) {
  const Rule rule = rules[index(checked.node.op)];
  if (rule != nullptr) rule(checked);
}

}  // namespace tailor::ir
