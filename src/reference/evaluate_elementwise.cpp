// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations on blocks of cells. In: blocks of operands and an operation. Out: a block of results. Called
// through the table of evaluate.cpp, by regions and by the error bounds. The reference expressions of the operation
// table are expanded into one loop per operation for doubles and two for integers (signed, unsigned). What a row cannot
// say (compare, convert, bitcast-convert, reduce-precision) is a case here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_integer.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

namespace {

using RealLoop = void (*)(const Cell*, const Cell*, const Cell*, Cell*, std::int64_t);
using IntegerLoop = void (*)(const Cell*, const Cell*, const Cell*, Cell*, std::int64_t, int);

constexpr std::array real_loops = std::to_array<RealLoop>({
#define X(id, hlo, kind, attributes, arity, fma, alu, xu, on_reals, on_integers, real_ref, integer_ref) \
  [](const Cell* pa, const Cell* pb, const Cell* pc, Cell* out, std::int64_t count) {                   \
    for (std::int64_t i = 0; i < count; ++i) {                                                          \
      [[maybe_unused]] const double a = pa[i].real;                                                     \
      [[maybe_unused]] const double b = pb[i].real;                                                     \
      [[maybe_unused]] const double c = pc[i].real;                                                     \
      out[i].real = real_ref;                                                                           \
    }                                                                                                   \
  },
#include "ir/graph/ops.def"
#undef X
});

template <class T>
constexpr std::array integer_loops = std::to_array<IntegerLoop>({
#define X(id, hlo, kind, attributes, arity, fma, alu, xu, on_reals, on_integers, real_ref, integer_ref)          \
  [](const Cell* pa, const Cell* pb, const Cell* pc, Cell* out, std::int64_t count, [[maybe_unused]] int bits) { \
    for (std::int64_t i = 0; i < count; ++i) {                                                                   \
      [[maybe_unused]] const T a = static_cast<T>(pa[i].integer);                                                \
      [[maybe_unused]] const T b = static_cast<T>(pb[i].integer);                                                \
      [[maybe_unused]] const T c = static_cast<T>(pc[i].integer);                                                \
      out[i].integer = static_cast<std::int64_t>(integer_ref);                                                   \
    }                                                                                                            \
  },
#include "ir/graph/ops.def"
#undef X
});

int width(ir::DType dtype) { return dtype == ir::DType::pred ? 1 : row(dtype).bits; }

/// out[i] = a[i] comparison b[i], of what `number` makes of cells.
template <class Number>
void compare_as(ir::Comparison comparison, const Cell* a, const Cell* b, Cell* out, std::int64_t count,
                Number&& number) {
  const auto each = [&](auto&& holds) {
    for (std::int64_t i = 0; i < count; ++i) out[i].integer = holds(number(a[i]), number(b[i]));
  };
  switch (comparison) {
    case ir::Comparison::eq:
      return each([](auto x, auto y) { return x == y; });
    case ir::Comparison::ne:
      return each([](auto x, auto y) { return x != y; });
    case ir::Comparison::ge:
      return each([](auto x, auto y) { return x >= y; });
    case ir::Comparison::gt:
      return each([](auto x, auto y) { return x > y; });
    case ir::Comparison::le:
      return each([](auto x, auto y) { return x <= y; });
    case ir::Comparison::lt:
      return each([](auto x, auto y) { return x < y; });
  }
}

/// -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN.
std::int64_t total_order_key(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits - 1 : bits;
}

void compare_cells(const ElementStep& step, const Cell* a, const Cell* b, Cell* out, std::int64_t count) {
  const auto with = [&](auto&& number) { compare_as(step.comparison, a, b, out, count, number); };
  if (is_floating(step.from) && step.total_order)
    with([](Cell cell) { return total_order_key(cell.real); });
  else if (is_floating(step.from))
    with([](Cell cell) { return cell.real; });
  else if (is_signed(step.from))
    with([](Cell cell) { return cell.integer; });
  else
    with([](Cell cell) { return static_cast<std::uint64_t>(cell.integer); });
}

/// Truncates, saturates; NaN gives 0.
std::int64_t saturated(ir::DType to, double value) {
  if (std::isnan(value)) return 0;
  const int bits = row(to).bits;
  const double above = std::ldexp(1.0, is_signed(to) ? bits - 1 : bits);
  if (is_signed(to)) {
    const std::int64_t largest = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    if (value >= above) return largest;
    return value < -above ? -largest - 1 : static_cast<std::int64_t>(value);
  }
  if (value <= 0) return 0;
  if (value >= above) return static_cast<std::int64_t>(low_bits(~std::uint64_t{0}, bits));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
}

Cell converted(ir::DType from, ir::DType to, Cell value) {
  if (is_floating(from)) {
    if (is_floating(to)) return value;
    if (to == ir::DType::pred) return Cell{.integer = value.real != 0};
    return Cell{.integer = saturated(to, value.real)};
  }
  if (!is_floating(to)) return value;
  if (from == ir::DType::u64) return Cell{.real = round_integer_to(to, static_cast<std::uint64_t>(value.integer))};
  return Cell{.real = round_integer_to(to, value.integer)};
}

std::uint64_t to_bits(ir::DType dtype, Cell value) {
  if (is_floating(dtype)) return encode(dtype, value.real);
  return low_bits(static_cast<std::uint64_t>(value.integer), row(dtype).bits);
}

Cell from_bits(ir::DType dtype, std::uint64_t bits) {
  if (is_floating(dtype)) return Cell{.real = decode(dtype, bits)};
  return Cell{.integer = wrap_to(dtype, static_cast<std::int64_t>(bits))};
}

ir::DType dtype_of(const ir::Graph& graph, ir::NodeId id) { return graph[id].shape.dtype; }

/// Operations whose meaning is written here and not in the table.
bool is_case(ir::Op op) {
  return op == ir::Op::compare || op == ir::Op::convert || op == ir::Op::bitcast_convert ||
         op == ir::Op::reduce_precision || op == ir::Op::select || op == ir::Op::copy;
}

}  // namespace

bool has_element_step(const ir::Graph& graph, const ir::Node& node) {
  if (class_of(node.op) != ir::OpClass::elementwise || node.operands.empty()) return false;
  const ir::DType from = dtype_of(graph, node.operands[node.op == ir::Op::select ? 1 : 0]);
  if (!has_cells(from) || !has_cells(node.shape.dtype)) return false;
  if (node.op == ir::Op::bitcast_convert) return row(from).bits == row(node.shape.dtype).bits;
  if (node.op == ir::Op::reduce_precision) return is_floating(from);
  if (is_case(node.op)) return true;
  return is_floating(from) ? !row(node.op).real.empty() : !row(node.op).integer.empty();
}

ElementStep element_step(const ir::Graph& graph, const ir::Node& node) {
  ElementStep step;
  step.op = node.op;
  if (const auto* compare = std::get_if<ir::CompareOptions>(&node.attributes)) {
    step.comparison = compare->comparison;
    step.total_order = compare->total_order;
  }
  step.from = dtype_of(graph, node.operands[node.op == ir::Op::select ? 1 : 0]);
  step.to = node.shape.dtype;
  if (node.op == ir::Op::reduce_precision) {
    step.exponent_bits = static_cast<int>(ir::attribute_number(hlo_text(node), "exponent_bits", 8));
    step.mantissa_bits = static_cast<int>(ir::attribute_number(hlo_text(node), "mantissa_bits", 23));
  }
  return step;
}

void apply(const ElementStep& step, const Cell* a, const Cell* b, const Cell* c, Cell* out, std::int64_t count) {
  const auto each = [&](auto&& of) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = of(i);
  };
  if (step.op == ir::Op::copy) return each([a](std::int64_t i) { return a[i]; });
  if (step.op == ir::Op::compare) return compare_cells(step, a, b, out, count);
  if (step.op == ir::Op::select) return each([=](std::int64_t i) { return a[i].integer != 0 ? b[i] : c[i]; });
  if (step.op == ir::Op::convert) {
    if (is_floating(step.from) && is_floating(step.to)) return each([a](std::int64_t i) { return a[i]; });
    // Up to 32 bits double holds them as they are.
    if (!is_floating(step.from) && is_floating(step.to) && row(step.from).bits <= 32)
      return each([a](std::int64_t i) { return Cell{.real = static_cast<double>(a[i].integer)}; });
    return each([&](std::int64_t i) { return converted(step.from, step.to, a[i]); });
  }
  if (step.op == ir::Op::bitcast_convert)
    return each([&](std::int64_t i) { return from_bits(step.to, to_bits(step.from, a[i])); });
  if (step.op == ir::Op::reduce_precision)
    return each([&](std::int64_t i) {
      return Cell{.real = reduce_precision(step.from, a[i].real, step.exponent_bits, step.mantissa_bits)};
    });
  const std::size_t at = ir::index(step.op);
  if (is_floating(step.from)) {
    real_loops[at](a, b, c, out, count);
    if (!is_floating(step.to)) each([out](std::int64_t i) { return Cell{.integer = out[i].real != 0}; });
  } else if (is_signed(step.from)) {
    integer_loops<std::int64_t>[at](a, b, c, out, count, width(step.from));
  } else {
    integer_loops<std::uint64_t>[at](a, b, c, out, count, width(step.from));
  }
}

void combine(ir::Reducer reducer, ir::DType dtype, Cell* accumulator, const Cell* value, std::int64_t count) {
  const ElementStep step{op_of(reducer), ir::Comparison::eq, false, dtype, dtype, 0, 0};
  apply(step, accumulator, value, value, accumulator, count);
}

namespace {

/// Elements begin .. end-1 of the result.
void elements_between(const Call& call, const ElementStep& step, std::int64_t begin, std::int64_t end, Tensor& result) {
  std::array<std::vector<Cell>, 3> blocks;
  std::array<const Cell*, 3> places{};
  for (std::vector<Cell>& block : blocks) block.resize(block_cells);
  std::vector<Cell> out(block_cells);
  // A scalar (a predicate of select, a bound of clamp, what a broadcast would spread) serves every element.
  std::array<bool, 3> arrays{};
  for (std::size_t k = 0; k < 3; ++k) {
    places[k] = blocks[k < call.operands.size() ? k : 0].data();
    if (k >= call.operands.size()) continue;
    arrays[k] = call.operand(k).shape.rank() != 0;
    if (!arrays[k]) load_cells(call.operand(k), 0, 0, blocks[k]);
  }
  for (std::int64_t first = begin; first < end; first += block_cells) {
    call.may_stop();
    const std::int64_t count = std::min(block_cells, end - first);
    for (std::size_t k = 0; k < 3; ++k)
      if (arrays[k]) load_cells(call.operand(k), first, 1, prefix(blocks[k], count));
    apply(step, places[0], places[1], places[2], out.data(), count);
    store_cells(result, first, prefix(out, count));
  }
}

}  // namespace

std::vector<Tensor> evaluate_elementwise(const Call& call) {
  const ElementStep step = element_step(call.graph, call.node);
  Tensor result = unwritten(call.node.shape);
  in_parallel(elements(result.shape), parallel_cells,
              [&](std::int64_t first, std::int64_t last) { elements_between(call, step, first, last, result); });
  return results_of(std::move(result));
}

/// An index becomes a number of the type that arithmetic of `dtype` is done in, and then one of `dtype`, as XLA makes
/// it (bf16 by way of f32).
std::vector<Tensor> evaluate_iota(const Call& call) {
  Tensor result = unwritten(call.node.shape);
  const ir::DType compute = row(result.shape.dtype).compute;
  const ir::Dims strides = ir::strides(make_shape(ir::DType::s64, result.shape.dims));
  const int axis = std::max(ir::axis(call.node), 0);
  const std::int64_t stride = result.shape.rank() == 0 ? 1 : strides[axis];
  const std::int64_t extent = result.shape.rank() == 0 ? 1 : result.shape.dims[axis];
  const auto between = [&](std::int64_t begin, std::int64_t end) {
    std::vector<Cell> out(block_cells);
    for (std::int64_t first = begin; first < end; first += block_cells) {
      call.may_stop();
      const std::int64_t count = std::min(block_cells, end - first);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t value = (first + i) / stride % extent;
        out[static_cast<std::size_t>(i)] =
            converted(compute, result.shape.dtype, converted(ir::DType::s64, compute, Cell{.integer = value}));
      }
      store_cells(result, first, prefix(out, count));
    }
  };
  in_parallel(elements(result.shape), parallel_cells, between);
  return results_of(std::move(result));
}

}  // namespace tailor::reference
