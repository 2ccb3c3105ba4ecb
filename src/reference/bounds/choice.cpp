// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of a scatter that keeps the larger or the smaller. In: operands with their bounds, and the result. Out: its
// bounds, or nothing for another form. Called by error_bound.cpp.
//
// The greatest of numbers v that are off by up to e lies between the greatest v - e and the greatest v + e. Both are
// what the scatter itself makes of numbers that are moved.
#include "reference/bounds/choice.h"

#include <algorithm>
#include <cmath>

#include "base/indexed.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

double apart(double a, double b) {
  const double distance = std::fabs(a - b);
  return a == b ? 0 : std::isnan(distance) ? infinity : distance;
}

}  // namespace

Errors scattered_extreme_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result) {
  const ir::Reducer reducer = ir::reducer(call.node);
  const bool extreme = reducer == ir::Reducer::maximum || reducer == ir::Reducer::minimum;
  if (call.node.op != ir::Op::scatter || !extreme || call.operands.size() != 3 || operands[1] != nullptr)
    return nullptr;
  ir::Node wide = call.node;
  wide.shape.dtype = ir::DType::f64;
  for (ir::Shape& shape : wide.results) shape.dtype = ir::DType::f64;
  const auto at_end = [&](std::size_t k, double side) {
    Tensor moved = unwritten_errors(call.operand(k).shape);
    each_real(call.operand(k), [&](std::int64_t i, double value) {
      const double e = operands[k] == nullptr ? 0 : error_bounds(*operands[k])[i];
      error_bounds(moved)[i] = e == 0 ? value : value + side * e;
    });
    return moved;
  };
  Tensor errors = unwritten_errors(result.shape);
  std::fill_n(error_bounds(errors), elements(result.shape), 0.0);
  for (const double side : {-1.0, 1.0}) {
    const Tensor array = at_end(0, side), updates = at_end(2, side);
    const Tensor end = evaluate_lookup(Call{call.graph, wide, {&array, &call.operand(1), &updates}, call.stop}).front();
    each_real(result, [&](std::int64_t i, double y) {
      double& error = error_bounds(errors)[i];
      error = std::max(error, std::isnan(y) && std::isnan(error_bounds(end)[i]) ? 0 : apart(error_bounds(end)[i], y));
    });
  }
  return shared(std::move(errors));
}

}  // namespace tailor::reference
