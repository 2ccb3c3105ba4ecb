// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reference with a bound on what a right kernel may differ from it: a running error analysis (N. J. Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.3) beside the reference evaluation, element by element, in
// double. With u the unit roundoff of a type (2^-24 for f32) and e(x) the bound of an operand:
//
//   rounding     2 u |y| for each result: the reference and the kernel each round once. A 16-bit type adds its own
//                2 u |y| on top of f32's, since HLO lets a kernel keep f32 between operations. A product that is
//                fused into an addition is rounded once less, which is inside this. Nothing for a sum or a product
//                of exact operands but that one rounding of the product.
//   operands     first order, with the second order where it can matter: e(a)+e(b) for sums, |a|e(b)+|b|e(a)+e(a)e(b)
//                for products, f(a)(exp(e)-1) for exp, ... ; for the rest the function's values at the ends of a +-
//                e(a)
//   functions    the maximum errors NVIDIA states (CUDA C++ Programming Guide, mathematical functions; PTX ISA for the
//                instructions that less exact classes of arithmetic use, ir/graph/arithmetic.def), in ulps; exp's
//                grows with its argument where that is multiplied by log2(e) in f32 first
//   sums         any order of additions: 6 sqrt(n) u sum|x|, the probabilistic bound of N. J. Higham and T. Mary
//                (SIAM J. Sci. Comput. 41, 2019) at six deviations; the worst case would be n u sum|x|
//   choices      a comparison closer than its operands' bounds may go either way; what it selects between counts then.
//                Of operands without a bound it has none, nor has what it selects
//   bodies       loops and branches by the bounds of what goes round in them
//
// Data that is only moved, integers and predicates are exact. Where a bound cannot be had (near a pole, an overflow
// that a wider type escapes, operations not covered) it is infinite: such an element cannot be judged, and is counted.
#pragma once

#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "ir/graph/arithmetic.h"
#include "reference/evaluate.h"

namespace tailor::reference {

struct BoundedTensor {
  Tensor value;
  std::vector<double> error;  ///< per element, absolute; infinite: cannot be judged. Empty: every element is exact
  /// The operation, "%sort.3 (sort)", without a rule for its bound that infinite bounds come from; empty: there is
  /// none.
  std::string unknown = {};
  /// The first operation on the way to it, "%reduce.7 (reduce)", of whose results some have no bound though all that
  /// it reads has; empty: there is none.
  std::string lost_at = {};
};

/// Why elements of it have no bound, as the end of a sentence: "there is no rule for that of %sort.3 (sort)".
std::string why_unbounded(const BoundedTensor& tensor);

struct ErrorBoundOptions {
  /// How exactly the kernel computes its functions.
  ir::Arithmetic arithmetic = ir::Arithmetic::xla;
  /// Partial sums of a 16-bit reduction may be rounded to 16 bits at every step, as HLO allows and XLA's kernels do:
  /// 6 u sqrt(sum of squared partial sums) on top, for terms in no particular order (n x^2 / 2 + n y^2 / 3 of them).
  bool narrow_sums = false;
  /// What a product of a dot may be off by, relative, because its factors were rounded to a narrower type: tf32 keeps
  /// 10 bits of each and drops the rest, so 2 * 2^-10.
  double product_error = 0;
};

/// As evaluate(), with the bounds of every output.
std::vector<BoundedTensor> evaluate_with_error_bounds(const ir::Graph& graph, std::span<const Tensor> inputs,
                                                      const ErrorBoundOptions& options = {},
                                                      const std::stop_token& stop = {});

/// Bytes that evaluate_with_error_bounds() holds at most at once, beside the inputs: values and bounds that are still
/// needed, what an operation works with, the outputs. An upper estimate from shapes alone; nothing is evaluated.
std::int64_t bytes_to_evaluate(const ir::Graph& graph);
/// Of these, what is left when it has returned: outputs with their bounds.
std::int64_t bytes_of_outputs(const ir::Graph& graph);

/// Half the distance from 1 to the next value of a floating type.
double unit_roundoff(ir::DType dtype);

// ---- shared by the rules of the operations
/// Deviations of the probabilistic bound on sums: exceeded by one element in 10^8 (Higham and Mary, theorem 2.4).
inline constexpr double deviations = 6;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace tailor::reference
