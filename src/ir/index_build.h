// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Building index expressions in canonical form (the rules are in index.h). One IndexBuilder serves one kernel at a
// time; reset() keeps its memory, so lowering many plans does not allocate anew.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/index.h"

namespace tailor::ir {

class IndexBuilder {
 public:
  IndexBuilder() { reset(); }

  /// Empties the pool; expression 0 is the constant 0 again.
  void reset();

  VarId add_var(Var var);
  ExprId constant(std::int64_t value);
  ExprId var(VarId id);
  ExprId term(TermId id) { return term_expr(id); }

  ExprId add(ExprId a, ExprId b) { return combine(a, 1, b, 1); }
  ExprId subtract(ExprId a, ExprId b) { return combine(a, 1, b, -1); }
  ExprId scale(ExprId a, std::int64_t factor) { return combine(a, factor, 0, 0); }
  /// a + factor * b.
  ExprId add_scaled(ExprId a, ExprId b, std::int64_t factor) { return combine(a, 1, b, factor); }
  ExprId add_constant(ExprId a, std::int64_t value);

  /// Precondition: the range of `a` has no negative value, divisor > 0.
  ExprId div(ExprId a, std::int64_t divisor) { return divide(a, divisor).first; }
  ExprId mod(ExprId a, std::int64_t divisor) { return divide(a, divisor).second; }
  /// {a / divisor, a % divisor}.
  std::pair<ExprId, ExprId> divide(ExprId a, std::int64_t divisor);

  /// a < b ? c : d. Folds when the ranges decide.
  ExprId select(ExprId a, ExprId b, ExprId c, ExprId d);

  /// The same value with a narrower range: true where a guard holds.
  ExprId assume(ExprId a, Interval range);

  /// `a` as one opaque term whose range is cut to `range`: what a guard makes true. Keeps a under div and mod, and
  /// hides its terms until expand().
  ExprId narrow(ExprId a, Interval range);
  /// The expression with every narrow term replaced by what it stands for.
  ExprId expand(ExprId a);

  /// Whether every value of `a` is a multiple of `divisor`, as far as coefficients tell.
  bool is_multiple(ExprId a, std::int64_t divisor) const;

  const IndexPool& pool() const { return pool_; }
  /// The finished pool; the builder must be reset before further use.
  IndexPool take() { return std::move(pool_); }

 private:
  using Sum = std::vector<Linear>;

  ExprId combine(ExprId a, std::int64_t fa, ExprId b, std::int64_t fb);
  ExprId intern(std::int64_t constant, Sum& sum);
  ExprId intern_ranged(std::int64_t constant, const Sum& sum, Interval range);
  void fold_remainders(Sum& sum, std::int64_t& constant);
  TermId intern_term(const Term& term);
  ExprId term_expr(TermId term);
  ExprId quotient(ExprId a, std::int64_t divisor);
  ExprId remainder(ExprId a, std::int64_t divisor);
  Interval range_of(std::int64_t constant, const Sum& sum) const;
  const Term* only_term(ExprId a) const;

  IndexPool pool_;
  std::vector<std::uint32_t> expr_slots_, term_slots_;  // open addressing; 0 = empty, else id + 1
  std::vector<ExprId> expanded_;                        // per expression, no_expr = not yet
  std::vector<Sum> spare_;                              // nested calls each need a buffer of their own
};

}  // namespace tailor::ir
