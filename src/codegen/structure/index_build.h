// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Building index expressions in canonical form (the rules are in index.h). One IndexBuilder serves one kernel at a
// time; reset() keeps its memory, so lowering many plans does not allocate anew. In: variables with their ranges,
// sums, products, quotients. Out: ids into the kernel's pool; equal expressions have equal ids. Used by the whole
// lowering.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/kernel/index.h"

namespace tailor::codegen {

/// Of numbers below `extent`, those that counters take to be there: up to the last multiple of a power of two, which is
/// at most 32 and loses no more than a thirtieth. So neighbouring places meet the places in a sector in turn, and need
/// not be looked at one by one (costmodel/requests.cpp).
std::int64_t picked_count(std::int64_t extent);
/// How far apart counters take the numbers at neighbouring places to be, of so many places, each number below `count`:
/// about 0.6 of it, without a factor in common with it, so that numbers differ until all were there; less where the
/// number of the last place would leave 32 bits.
std::int64_t picked_step(std::int64_t count, std::int64_t places);

class IndexBuilder {
 public:
  IndexBuilder() { reset(); }

  /// Empties the pool; expression 0 is the constant 0 again.
  void reset();

  ir::VarId add_var(ir::Var var);
  ir::ExprId constant(std::int64_t value);
  ir::ExprId var(ir::VarId id);
  ir::ExprId term(ir::TermId id) { return term_expr(id); }

  ir::ExprId add(ir::ExprId a, ir::ExprId b) { return combine(a, 1, b, 1); }
  ir::ExprId subtract(ir::ExprId a, ir::ExprId b) { return combine(a, 1, b, -1); }
  ir::ExprId scale(ir::ExprId a, std::int64_t factor) { return combine(a, factor, 0, 0); }
  /// a + factor * b.
  ir::ExprId add_scaled(ir::ExprId a, ir::ExprId b, std::int64_t factor) { return combine(a, 1, b, factor); }
  ir::ExprId add_constant(ir::ExprId a, std::int64_t value);

  /// Precondition: the range of `a` has no negative value, divisor > 0.
  ir::ExprId div(ir::ExprId a, std::int64_t divisor) { return divide(a, divisor).first; }
  ir::ExprId mod(ir::ExprId a, std::int64_t divisor) { return divide(a, divisor).second; }
  /// {a / divisor, a % divisor}.
  std::pair<ir::ExprId, ir::ExprId> divide(ir::ExprId a, std::int64_t divisor);

  /// a < b ? c : d. Folds when the ranges decide.
  ir::ExprId select(ir::ExprId a, ir::ExprId b, ir::ExprId c, ir::ExprId d);

  /// The variable, of kind picked, that is bound to the number at place `place` of `places` in memory, and says where
  /// `slice` elements are. `also` are variables that it depends on beside those of the place. Counters do not take it
  /// for one of its last `outside` values.
  ir::ExprId picked(ir::VarId var, ir::ExprId place, std::int64_t places, std::int64_t slice, ir::VarSet also,
                    std::int64_t outside = 0);

  /// The same value with a narrower range: true where a guard holds.
  ir::ExprId assume(ir::ExprId a, ir::Interval range);

  /// `a` as one opaque term whose range is cut to `range`: what a guard makes true. Keeps a under div and mod, and
  /// hides its terms until expand().
  ir::ExprId narrow(ir::ExprId a, ir::Interval range);
  /// The expression with every narrow term replaced by what it stands for.
  ir::ExprId expand(ir::ExprId a);

  /// Whether every value of `a` is a multiple of `divisor`, as far as coefficients tell.
  bool is_multiple(ir::ExprId a, std::int64_t divisor) const;

  const ir::IndexPool& pool() const { return pool_; }
  /// The finished pool; the builder must be reset before further use.
  ir::IndexPool take();

 private:
  using Sum = std::vector<ir::Linear>;
  using Parts = std::span<const ir::Linear>;

  /// A buffer that goes back to the spare ones: sums are many and short.
  struct Buffer {
    explicit Buffer(IndexBuilder& of);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    IndexBuilder& builder;
    Sum sum;
  };
  /// What divide() gave for an expression: the axes that an index is taken apart into are the same in copy after copy.
  struct Divided {
    std::uint64_t serial = 0;  ///< of the kernel
    std::int64_t divisor = 0;
    ir::ExprId of = 0, quotient = 0, remainder = 0;
  };

  ir::ExprId combine(ir::ExprId a, std::int64_t fa, ir::ExprId b, std::int64_t fb);
  ir::ExprId intern(std::int64_t constant, Parts sum);
  ir::ExprId intern_ranged(std::int64_t constant, Parts sum, const ir::Interval& range);
  void fold_remainders(Sum& sum, std::int64_t& constant);
  ir::TermId intern_term(const ir::Term& term);
  ir::ExprId term_expr(ir::TermId term);
  std::pair<ir::ExprId, ir::ExprId> divide_anew(ir::ExprId a, std::int64_t divisor);
  ir::ExprId quotient(ir::ExprId a, std::int64_t divisor);
  ir::ExprId without_quotient(ir::ExprId sum, ir::ExprId dividend, std::int64_t divisor);
  ir::ExprId joined_quotient(ir::ExprId a, std::int64_t divisor);  // no_expr: there is nothing to join
  ir::ExprId remainder(ir::ExprId a, std::int64_t divisor);
  ir::Interval range_of(std::int64_t constant, Parts sum) const;
  const ir::Term* only_term(ir::ExprId a) const;

  ir::IndexPool pool_;
  std::vector<std::uint32_t> expr_slots_, term_slots_;  // open addressing; 0 = empty, else id + 1
  std::vector<ir::ExprId> expanded_;                    // per expression, no_expr = not yet
  std::vector<ir::ExprId> term_exprs_;                  // per term, the same
  std::vector<ir::ExprId> small_constants_;             // by value, the same
  std::vector<Sum> spare_;                              // nested calls each need a buffer of their own
  std::vector<Divided> divided_;
  std::uint64_t serial_ = 0;
  std::size_t last_terms_ = 0, last_linears_ = 0, last_exprs_ = 0;  // of the kernel before: this one is much like it
};

}  // namespace tailor::codegen
