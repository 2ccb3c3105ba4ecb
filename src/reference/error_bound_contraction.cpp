// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of matrix products and scatters. In: operands with their bounds, and the node. Out: the bound of each element
// of the result, or nothing for a form that is not covered, whose elements then count as not judged. Called by
// error_bound.cpp.
//
// With |a| the magnitudes of a and e its bounds, a product of sums is off by at most (|a| + ea)(|b| + eb) - |a||b|. A
// sum of n terms in any order adds 6 sqrt(n) u of the sum of magnitudes, the probabilistic bound that error_bound.h
// names. A product whose factors lose digits on their way (tf32) adds that share of each product. The result is
// rounded once more to its type.
//
// Both sums are computed by the evaluator's own contraction on f64 arrays of magnitudes, so dimension numbers and
// scatter rules are read in one place and cannot be read differently here.
#include "reference/error_bound_contraction.h"

#include <algorithm>
#include <cmath>

#include "ir/graph/attribute_text.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

namespace {

/// |x| + e as an f64 tensor; without `errors` |x| alone.
Tensor magnitudes(const Tensor& tensor, const Errors& errors) {
  ir::Shape wide = tensor.shape;
  wide.dtype = ir::DType::f64;
  Tensor result = zeros(wide);
  auto* const values = reinterpret_cast<double*>(result.bytes.data());
  each_real(tensor, [&](std::int64_t i, double value) {
    values[i] = std::fabs(value) + (errors != nullptr ? error_bounds(*errors)[i] : 0);
  });
  return result;
}

/// The call's operation in f64 on other operands; a scatter adds.
Tensor evaluated(const Call& call, const std::vector<const Tensor*>& operands) {
  ir::Node wide = call.node;
  wide.shape.dtype = ir::DType::f64;
  for (ir::Shape& shape : wide.results) shape.dtype = ir::DType::f64;
  const Call other{call.graph, wide, operands, call.stop};
  return wide.op == ir::Op::dot ? evaluate_dot(other).front() : evaluate_lookup(other).front();
}

/// Terms of one sum, at most.
double terms_of(const Call& call) {
  if (call.node.op == ir::Op::scatter)
    return static_cast<double>(std::max<std::int64_t>(elements(call.operand(1).shape), 1));
  std::int64_t terms = 1;
  for (const std::int64_t dim : ir::attribute_numbers(hlo_text(call.node), "lhs_contracting_dims"))
    terms *= call.operand(0).shape.dims[static_cast<int>(dim)];
  return static_cast<double>(std::max<std::int64_t>(terms, 1));
}

bool is_covered(const Call& call, const std::vector<Errors>& operands, const Tensor& result) {
  if (!is_floating(result.shape.dtype)) return false;
  if (call.node.op == ir::Op::dot) return call.operands.size() == 2;
  return call.node.op == ir::Op::scatter && call.operands.size() == 3 && reducer(call.node) == ir::Reducer::add &&
         operands[1] == nullptr;
}

/// Whether a scatter puts updates in the place of what is there.
bool replaces(const Call& call) {
  if (call.node.op != ir::Op::scatter || call.node.bodies.empty()) return false;
  const ir::Graph& body = ir::body(call.graph, call.node, 0);
  return std::all_of(body.nodes.begin(), body.nodes.end(),
                     [](const ir::Node& node) { return node.op == ir::Op::parameter; });
}

}  // namespace

Errors contraction_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result,
                          double product_error) {
  if (!is_covered(call, operands, result)) return nullptr;
  const std::size_t second = call.node.op == ir::Op::dot ? 1 : 2;
  const Tensor a = magnitudes(call.operand(0), nullptr), b = magnitudes(call.operand(second), nullptr);
  const Tensor a_most = magnitudes(call.operand(0), operands[0]),
               b_most = magnitudes(call.operand(second), operands[second]);
  const Tensor* const places = &call.operand(1);
  const auto of = [&](const Tensor& left, const Tensor& right) {
    return evaluated(call, second == 1 ? std::vector{&left, &right} : std::vector{&left, places, &right});
  };
  const Tensor sums = of(a, b);
  const Tensor most = operands[0] == nullptr && operands[second] == nullptr ? sums : of(a_most, b_most);
  const ir::DType dtype = result.shape.dtype;
  const double each = deviations * std::sqrt(terms_of(call)) * unit_roundoff(row(dtype).compute) +
                      (call.node.op == ir::Op::dot ? product_error : 0);
  const ir::FloatFormat format = float_format(row(dtype).compute);
  const double most_of_type = std::ldexp(2 - std::ldexp(1.0, -format.mantissa_bits), format.bias);
  Tensor errors = unwritten_errors(result.shape);
  const Rounding rounding(dtype);
  for (std::int64_t at = 0; at < elements(result.shape); ++at) {
    const double size = as_double(most, at);
    // As of sums: in another order a partial sum may overflow, and with an infinity among the terms nothing is known.
    error_bounds(errors)[at] =
        size <= most_of_type ? size - as_double(sums, at) + each * size + rounding(as_double(result, at)) : infinity;
  }
  return shared(std::move(errors));
}

bool moves_exactly(const Call& call) {
  if (call.node.op != ir::Op::scatter && call.node.op != ir::Op::reduce_window) return false;
  const ir::Reducer reducer = ir::reducer(call.node);
  return reducer == ir::Reducer::maximum || reducer == ir::Reducer::minimum || replaces(call);
}

Errors replaced_errors(const Call& call, const std::vector<Errors>& operands) {
  if (!replaces(call) || call.operands.size() != 3 || operands[1] != nullptr) return nullptr;
  const auto of = [&](std::size_t k) {
    Tensor errors = unwritten_errors(call.operand(k).shape);
    if (operands[k] == nullptr) return zeros(errors.shape);
    errors.bytes = operands[k]->bytes;
    return errors;
  };
  const Tensor array = of(0), updates = of(2);
  return shared(evaluated(call, {&array, &call.operand(1), &updates}));
}

}  // namespace tailor::reference
