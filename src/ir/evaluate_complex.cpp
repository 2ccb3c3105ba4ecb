// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The elementwise operations on complex numbers that models use: building and splitting, arithmetic, and the functions
// the C++ library has. Plain and slow; everything else on complex types is refused by name.
#include <complex>
#include <cstring>

#include "ir/evaluate_cells.h"
#include "ir/number.h"

namespace tailor::ir {

namespace {

using Complex = std::complex<double>;
using ComplexFunction = Complex (*)(Complex a, Complex b);

struct ComplexRow {
  Op op;
  ComplexFunction function;
};

constexpr auto complex_table = std::to_array<ComplexRow>({
    {Op::copy, [](Complex a, Complex) { return a; }},
    {Op::convert, [](Complex a, Complex) { return a; }},
    {Op::real, [](Complex a, Complex) { return Complex(a.real()); }},
    {Op::imag, [](Complex a, Complex) { return Complex(a.imag()); }},
    {Op::complex, [](Complex a, Complex b) { return Complex(a.real(), b.real()); }},
    {Op::negate, [](Complex a, Complex) { return -a; }},
    {Op::abs, [](Complex a, Complex) { return Complex(std::abs(a)); }},
    {Op::exp, [](Complex a, Complex) { return std::exp(a); }},
    {Op::log, [](Complex a, Complex) { return std::log(a); }},
    {Op::sqrt, [](Complex a, Complex) { return std::sqrt(a); }},
    {Op::rsqrt, [](Complex a, Complex) { return 1.0 / std::sqrt(a); }},
    {Op::tanh, [](Complex a, Complex) { return std::tanh(a); }},
    {Op::sin, [](Complex a, Complex) { return std::sin(a); }},
    {Op::cos, [](Complex a, Complex) { return std::cos(a); }},
    {Op::add, [](Complex a, Complex b) { return a + b; }},
    {Op::subtract, [](Complex a, Complex b) { return a - b; }},
    {Op::multiply, [](Complex a, Complex b) { return a * b; }},
    {Op::divide, [](Complex a, Complex b) { return a / b; }},
    {Op::power, [](Complex a, Complex b) { return a == 0.0 ? Complex(b == 0.0) : std::pow(a, b); }},
});

ComplexFunction function_of(Op op) {
  for (const ComplexRow& entry : complex_table)
    if (entry.op == op) return entry.function;
  return nullptr;
}

DType part_of(DType dtype) { return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype; }
bool is_complex(DType dtype) { return row(dtype).kind == DTypeKind::complex; }

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

bool has_complex_step(const Graph& graph, const Node& node) {
  if (node.operands.empty()) return false;
  for (const NodeId operand : node.operands) {
    const DType dtype = graph.nodes[static_cast<std::size_t>(operand)].shape.dtype;
    if (!has_cells(dtype) && !is_complex(dtype)) return false;
  }
  if (node.op == Op::compare)
    return node.attributes.comparison == Comparison::eq || node.attributes.comparison == Comparison::ne;
  return node.op == Op::select || function_of(node.op) != nullptr;
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
  const ComplexFunction function = function_of(call.node.op);
  const auto operand = [&](std::size_t k, std::int64_t i) {
    return element(values[k], complex[k] != 0, values[k].shape.rank() == 0 ? 0 : i);
  };
  for (std::int64_t i = 0; i < total; ++i) {
    Complex value;
    if (call.node.op == Op::select)
      value = operand(operand(0, i) != 0.0 ? 1 : 2, i);
    else if (call.node.op == Op::compare)
      value = (operand(0, i) == operand(1, i)) == (call.node.attributes.comparison == Comparison::eq) ? 1.0 : 0.0;
    else
      value = function(operand(0, i), operand(call.operands.size() > 1 ? 1 : 0, i));
    store(result, complex_result ? 2 * i : i, value.real());
    if (complex_result) store(result, 2 * i + 1, value.imag());
  }
  result.shape = call.node.shape;
  return {std::move(result)};
}

}  // namespace tailor::ir
