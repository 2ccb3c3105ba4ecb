// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Index expressions for many lanes at once. In: a pool of expressions, and the value of each variable in each lane.
// Out: the value of an expression in each lane. Called by who walks a program statement by statement: exact counting,
// the counting of many warps at once (costmodel/flat/evaluated.h), and the interpreter that tests hold kernels against.
//
// Between two statements few variables change, and expressions share most of their parts: the quotient and the
// remainder of one sum, the same sum in each guard. So the column of an expression is kept until a variable that it
// reads is set again. A clock that ticks with each variable that is set tells how old a column is; most questions are
// answered by one comparison. Of what is one number in all lanes, as trips of loops and blocks mostly are, that number
// is kept alone, and sums add it up once.
//
// Cells are numbers of 64 bits, or of 32 where all expressions that are asked for are known to fit: half the memory,
// and more of them in one machine instruction. Sums wrap on the way, which the last one undoes.
//
// A quotient of numbers below 2^50 is a product with the reciprocal: half of one more keeps it away from whole numbers
// by more than its error, in a fifth of the time of a division. What a term means is in index.cpp, which is what this
// is tested against. All is in the header, so that who counts many warps compiles it for speed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/kernel/index.h"

namespace tailor::ir {

namespace index_columns {

/// What a term with a divisor makes of a number, which is never negative: see index.h.
template <class Cell>
Cell divided(const Term& term, Cell a) {
  const auto divisor = static_cast<Cell>(term.divisor);
  return term.kind == TermKind::narrow ? a : term.kind == TermKind::div ? a / divisor : a % divisor;
}

/// The same of a product with 1 / divisor.
template <class Cell>
Cell multiples(Cell a, double reciprocal) {
  return static_cast<Cell>((static_cast<double>(a) + 0.5) * reciprocal);
}
inline constexpr std::int64_t most_by_reciprocal = std::int64_t{1} << 50;

/// Sums that may leave the cell on their way.
template <class Cell>
Cell sum_of(Cell sum, std::int64_t coefficient, Cell value) {
  using Bits = std::make_unsigned_t<Cell>;
  return static_cast<Cell>(static_cast<Bits>(sum) + static_cast<Bits>(coefficient) * static_cast<Bits>(value));
}

inline bool reads_two(const Term& term) { return term.kind == TermKind::sel || term.kind == TermKind::xor_; }

}  // namespace index_columns

template <class Cell>
class IndexColumnsOf {
 public:
  /// All variables are 0, and picked terms what counters take them for until their variable is set. `pool` must live as
  /// long and not grow.
  IndexColumnsOf(const IndexPool& pool, int lanes);

  /// Gives the variable this value in every lane.
  void set(VarId var, Cell value);
  /// One value for each lane.
  void set(VarId var, std::span<const Cell> values);

  /// The expression in one lane, below `lanes`.
  Cell value(ExprId expr, int lane) {
    const Column& kept = current(expr);
    return kept.one ? *kept.one : kept.values[static_cast<std::size_t>(lane)];
  }
  /// Its number where it is known to be one in all lanes. Where columns differ it may be one all the same.
  std::optional<Cell> one(ExprId expr) { return current(expr).one; }
  /// The expression in each lane. The reference lives as long as this does; its values change when the expression is
  /// asked about after a variable it reads was set.
  const std::vector<Cell>& column(ExprId expr) { return filled(current(expr)); }

 private:
  struct Column {
    std::int64_t computed_at = -1;
    std::optional<Cell> one;   ///< in all lanes
    bool is_filled = false;    ///< whether `values` holds it
    std::vector<Cell> values;  ///< by lane
  };
  Column& current(ExprId expr) {
    Column& kept = columns_[expr];
    if (kept.computed_at < clock_) refresh(expr, kept);
    return kept;
  }
  const std::vector<Cell>& filled(Column& kept) {
    if (kept.one && !std::exchange(kept.is_filled, true)) kept.values.assign(lanes_, *kept.one);
    return kept.values;
  }
  void refresh(ExprId expr, Column& kept);
  std::optional<Cell> one_of(const Term& term);
  template <class Each>
  void for_lanes(const Term& term, Each&& each);
  bool is_variable(const Term& term) const {
    return term.kind == TermKind::var || (term.kind == TermKind::picked && changed_at_[term.var] > 0);
  }

  const IndexPool* pool_;
  std::size_t lanes_;
  std::vector<Column> variables_;
  std::vector<Column> columns_;
  std::array<std::int64_t, max_vars> changed_at_{};
  std::int64_t clock_ = 0;
};

template <class Cell>
IndexColumnsOf<Cell>::IndexColumnsOf(const IndexPool& pool, int lanes)
    : pool_(&pool), lanes_(static_cast<std::size_t>(lanes)), variables_(pool.vars.size()), columns_(pool.exprs.size()) {
  for (Column& variable : variables_) variable.one = 0;
}

template <class Cell>
void IndexColumnsOf<Cell>::set(VarId var, Cell value) {
  variables_[var].one = value;
  variables_[var].is_filled = false;
  changed_at_[var] = ++clock_;
}

template <class Cell>
void IndexColumnsOf<Cell>::set(VarId var, std::span<const Cell> values) {
  if (std::all_of(values.begin(), values.end(), [&](Cell value) { return value == values.front(); }))
    return set(var, values.front());
  variables_[var].one.reset();
  variables_[var].values.assign(values.begin(), values.end());
  changed_at_[var] = ++clock_;
}

template <class Cell>
void IndexColumnsOf<Cell>::refresh(ExprId expr, Column& kept) {
  bool stale = kept.computed_at < 0;
  for (VarSet vars = (*pool_)[expr].vars; !vars.empty() && !stale; vars.drop_first())
    stale = changed_at_[vars.first()] > kept.computed_at;
  kept.computed_at = clock_;
  if (!stale) return;
  auto sum = static_cast<Cell>((*pool_)[expr].constant);  // with what is one number in all lanes
  bool differs = false;
  for (const Linear& part : pool_->linear(expr)) {
    const std::optional<Cell> one = one_of(pool_->terms[part.term]);
    if (one) sum = index_columns::sum_of(sum, part.coefficient, *one);
    differs |= !one;
  }
  kept.is_filled = false;
  kept.one = sum;
  if (!differs) return;
  kept.one.reset();
  kept.values.resize(lanes_);
  bool first = true;
  for (const Linear& part : pool_->linear(expr)) {
    const Term& term = pool_->terms[part.term];
    if (one_of(term)) continue;
    // What the loop over lanes reads stands in locals: the compiler would load members again after each sum.
    const auto each = [&, out = kept.values.data(), lanes = lanes_, coefficient = part.coefficient](auto&& of_lane) {
      if (std::exchange(first, false))
        for (std::size_t lane = 0; lane < lanes; ++lane)
          out[lane] = index_columns::sum_of(sum, coefficient, of_lane(lane));
      else
        for (std::size_t lane = 0; lane < lanes; ++lane)
          out[lane] = index_columns::sum_of(out[lane], coefficient, of_lane(lane));
    };
    for_lanes(term, each);
  }
}

/// The term's number where it is one in all lanes. A term reads other expressions, never its own.
template <class Cell>
std::optional<Cell> IndexColumnsOf<Cell>::one_of(const Term& term) {
  if (is_variable(term)) return variables_[term.var].one;
  const std::optional<Cell> a = current(term.a).one;
  if (!a) return {};
  if (!index_columns::reads_two(term)) return index_columns::divided(term, *a);
  const std::optional<Cell> b = current(term.b).one;
  if (!b) return {};
  return term.kind == TermKind::xor_ ? *a ^ *b : current(*a < *b ? term.c : term.d).one;
}

/// Calls each(function from a lane to the term there).
template <class Cell>
template <class Each>
void IndexColumnsOf<Cell>::for_lanes(const Term& term, Each&& each) {
  if (is_variable(term))
    return each([values = filled(variables_[term.var]).data()](std::size_t lane) { return values[lane]; });
  const Cell* a = column(term.a).data();
  if (index_columns::reads_two(term)) {
    const Cell* b = column(term.b).data();
    if (term.kind == TermKind::xor_) return each([=](std::size_t lane) { return a[lane] ^ b[lane]; });
    const Cell *c = column(term.c).data(), *d = column(term.d).data();
    return each([=](std::size_t lane) { return a[lane] < b[lane] ? c[lane] : d[lane]; });
  }
  if (term.kind == TermKind::narrow) return each([=](std::size_t lane) { return a[lane]; });
  const auto divisor = static_cast<Cell>(term.divisor);
  if (std::has_single_bit(static_cast<std::uint64_t>(term.divisor))) {
    const int shift = std::countr_zero(static_cast<std::uint64_t>(term.divisor));
    if (term.kind == TermKind::div) return each([=](std::size_t lane) { return a[lane] >> shift; });
    return each([=](std::size_t lane) { return a[lane] & (divisor - 1); });
  }
  if ((*pool_)[term.a].range.high >= index_columns::most_by_reciprocal)
    return each([&](std::size_t lane) { return index_columns::divided(term, a[lane]); });
  const double reciprocal = 1.0 / static_cast<double>(divisor);
  if (term.kind == TermKind::div)
    return each([=](std::size_t lane) { return index_columns::multiples(a[lane], reciprocal); });
  each([=](std::size_t lane) { return a[lane] - index_columns::multiples(a[lane], reciprocal) * divisor; });
}

using IndexColumns = IndexColumnsOf<std::int64_t>;
extern template class IndexColumnsOf<std::int64_t>;

}  // namespace tailor::ir
