// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of elementwise operations. In: blocks of operands with their bounds, and the
// results. Out: bounds of the results. Called by error_bound.cpp; error_bound.h has the
// model.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ir/graph/arithmetic.h"
#include "reference/evaluate_cells.h"

namespace tailor::reference {

/// The bounds of one value, an f64 array of its dimensions; nullptr: exact.
using Errors = std::shared_ptr<const Tensor>;
inline const double* error_bounds(const Tensor& errors) { return reinterpret_cast<const double*>(errors.bytes.data()); }
inline double* error_bounds(Tensor& errors) { return reinterpret_cast<double*>(errors.bytes.data()); }
/// Bounds for a value of this shape, not yet written.
Tensor unwritten_errors(const ir::Shape& shape);

/// `operands` parallel to call.operands, `result` what the evaluator made of them.
Errors elementwise_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result,
                          ir::Arithmetic arithmetic);

/// Whether a value is a product or a quotient, perhaps negated or moved about. A kernel may add to it before it is
/// rounded, as a fused multiply-add does, so where it overflows an infinity of the other sign meets a finite number
/// there.
bool is_product(const ir::Graph& graph, ir::NodeId id);

/// The smallest positive normal number of f32 and wider: what flushing to zero may lose.
double flushed_to_zero(ir::DType dtype);
/// Largest rounding error of a result: see `rounding` in error_bound.h. Made once for a type, asked for each element.
class Rounding {
 public:
  explicit Rounding(ir::DType dtype);
  double operator()(double value) const { return relative_ * (value < 0 ? -value : value) + absolute_; }

 private:
  double relative_, absolute_;
};

}  // namespace tailor::reference
