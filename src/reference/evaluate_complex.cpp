// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations on complex numbers, and their sums and products. In: complex operands. Out: complex or real
// results. Called through the table of evaluate.cpp, and by the evaluators of reductions. Only those operations are
// here that models use: building and splitting, arithmetic, and the functions that the C++ library has. Everything else
// on complex types is refused by name.
#include <algorithm>
#include <complex>
#include <cstring>

#include "ir/graph/number.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"
#include "reference/evaluate_window.h"

namespace tailor::reference {

namespace {

using Complex = std::complex<double>;
using ComplexFunction = Complex (*)(Complex a, Complex b);

struct ComplexRow {
  ir::Op op;
  ComplexFunction function;
};

constexpr auto complex_table = std::to_array<ComplexRow>({
    {ir::Op::copy, [](Complex a, Complex) { return a; }},
    {ir::Op::convert, [](Complex a, Complex) { return a; }},
    {ir::Op::real, [](Complex a, Complex) { return Complex(a.real()); }},
    {ir::Op::imag, [](Complex a, Complex) { return Complex(a.imag()); }},
    {ir::Op::complex, [](Complex a, Complex b) { return Complex(a.real(), b.real()); }},
    {ir::Op::negate, [](Complex a, Complex) { return -a; }},
    {ir::Op::abs, [](Complex a, Complex) { return Complex(std::abs(a)); }},
    {ir::Op::exp, [](Complex a, Complex) { return std::exp(a); }},
    {ir::Op::log, [](Complex a, Complex) { return std::log(a); }},
    {ir::Op::sqrt, [](Complex a, Complex) { return std::sqrt(a); }},
    {ir::Op::rsqrt, [](Complex a, Complex) { return 1.0 / std::sqrt(a); }},
    {ir::Op::tanh, [](Complex a, Complex) { return std::tanh(a); }},
    {ir::Op::sin, [](Complex a, Complex) { return std::sin(a); }},
    {ir::Op::cos, [](Complex a, Complex) { return std::cos(a); }},
    {ir::Op::add, [](Complex a, Complex b) { return a + b; }},
    {ir::Op::subtract, [](Complex a, Complex b) { return a - b; }},
    {ir::Op::multiply, [](Complex a, Complex b) { return a * b; }},
    {ir::Op::divide, [](Complex a, Complex b) { return a / b; }},
    {ir::Op::power, [](Complex a, Complex b) { return a == 0.0 ? Complex(b == 0.0) : std::pow(a, b); }},
});

ComplexFunction find_function(ir::Op op) {
  for (const ComplexRow& entry : complex_table)
    if (entry.op == op) return entry.function;
  return nullptr;
}

ir::DType part_of(ir::DType dtype) {
  return dtype == ir::DType::c64 ? ir::DType::f32 : dtype == ir::DType::c128 ? ir::DType::f64 : dtype;
}
bool is_complex(ir::DType dtype) { return row(dtype).kind == ir::DTypeKind::complex; }

/// The tensor as an array of its parts.
Tensor parts(Tensor tensor) {
  tensor.shape.dtype = part_of(tensor.shape.dtype);
  return tensor;
}

Complex element(const Tensor& values, bool complex, std::int64_t i) {
  if (!complex) return as_double(values, i);
  return {as_double(values, 2 * i), as_double(values, 2 * i + 1)};
}

}  // namespace

bool has_complex_step(const ir::Graph& graph, const ir::Node& node) {
  if (node.operands.empty()) return false;
  for (const ir::NodeId operand : node.operands) {
    const ir::DType dtype = graph[operand].shape.dtype;
    if (!has_cells(dtype) && !is_complex(dtype)) return false;
  }
  if (const auto* compare = std::get_if<ir::CompareOptions>(&node.attributes))
    return compare->comparison == ir::Comparison::eq || compare->comparison == ir::Comparison::ne;
  return node.op == ir::Op::select || find_function(node.op) != nullptr;
}

std::vector<Tensor> evaluate_complex(const Call& call) {
  std::vector<Tensor> values;
  std::vector<char> complex;
  for (const Tensor* operand : call.operands) {
    values.push_back(parts(*operand));
    complex.push_back(is_complex(operand->shape.dtype));
  }
  const std::int64_t total = elements(call.node.shape);
  Tensor result = parts(zeros(call.node.shape));
  const bool complex_result = is_complex(call.node.shape.dtype);
  const ComplexFunction function = find_function(call.node.op);
  const auto operand = [&](std::size_t k, std::int64_t i) {
    return element(values[k], complex[k] != 0, values[k].shape.rank() == 0 ? 0 : i);
  };
  const auto* compare = std::get_if<ir::CompareOptions>(&call.node.attributes);
  const bool is_equality = compare != nullptr && compare->comparison == ir::Comparison::eq;
  for (std::int64_t i = 0; i < total; ++i) {
    Complex value;
    if (call.node.op == ir::Op::select)
      value = operand(operand(0, i) != 0.0 ? 1 : 2, i);
    else if (compare != nullptr)
      value = (operand(0, i) == operand(1, i)) == is_equality ? 1.0 : 0.0;
    else
      value = function(operand(0, i), operand(call.operands.size() > 1 ? 1 : 0, i));
    store(result, complex_result ? 2 * i : i, value.real());
    if (complex_result) store(result, 2 * i + 1, value.imag());
  }
  result.shape = call.node.shape;
  return results_of(std::move(result));
}

bool has_complex_fold(const ir::Graph& graph, const ir::Node& node) {
  const ir::Reducer reducer = ir::reducer(node);
  return node.operands.size() == 2 && is_complex(graph[node.operands[0]].shape.dtype) &&
         (reducer == ir::Reducer::add || reducer == ir::Reducer::multiply);
}

Tensor fold_complex(const Call& call) {
  const ir::Shape& in = call.operand(0).shape;
  // A reduction over axes is one over windows that fill them: one window along each.
  ir::Dims out = call.node.shape.dims;
  Window window;
  if (call.node.op == ir::Op::reduce_window) {
    window = ir::parse_window(hlo_text(call.node), in.rank());
  } else {
    out = in.dims;
    for (int d = 0; d < in.rank(); ++d) {
      const bool folded = axes(call.node).contains(d);
      window.push_back({.size = folded ? in.dims[d] : 1});
      if (folded) out[d] = 1;
    }
  }
  const Tensor values = parts(call.operand(0));
  const Complex start = element(parts(call.operand(1)), true, 0);
  Tensor result = parts(zeros(call.node.shape));
  const ir::Dims strides = row_major(in.dims);
  const bool adds = ir::reducer(call.node) == ir::Reducer::add;
  ir::Dims at = zero_index(in.rank());
  std::int64_t next = 0;
  if (elements(call.node.shape) > 0) do {
      call.may_stop();
      Complex sum = start;
      visit_taps(call, window, at, in.dims, strides, [&](std::int64_t from) {
        const Complex value = element(values, true, from);
        sum = adds ? sum + value : sum * value;
      });
      store(result, next++, sum.real());
      store(result, next++, sum.imag());
    } while (next_index(at, out));
  result.shape = call.node.shape;
  return result;
}

}  // namespace tailor::reference
