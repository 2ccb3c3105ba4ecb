// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of index expressions. In: variables as they are set. Out: columns, computed when they are asked for and
// older than a variable they read. Called through index_columns.h; what a term means is in index.cpp, which is what
// this is tested against.
#include "ir/kernel/index_columns.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tailor::ir {

namespace {

/// What a term with a divisor makes of a number, which is never negative: see index.h.
std::int64_t divided(const Term& term, std::int64_t a) {
  return term.kind == TermKind::narrow ? a : term.kind == TermKind::div ? a / term.divisor : a % term.divisor;
}

bool reads_two(const Term& term) { return term.kind == TermKind::sel || term.kind == TermKind::xor_; }

}  // namespace

IndexColumns::IndexColumns(const IndexPool& pool, int lanes)
    : pool_(&pool), lanes_(static_cast<std::size_t>(lanes)), variables_(pool.vars.size()), columns_(pool.exprs.size()) {
  for (Column& variable : variables_) variable.one = 0;
}

void IndexColumns::set(VarId var, std::int64_t value) {
  variables_[var].one = value;
  variables_[var].is_filled = false;
  changed_at_[var] = ++clock_;
}

void IndexColumns::set(VarId var, std::span<const std::int64_t> values) {
  if (std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return value == values.front(); }))
    return set(var, values.front());
  variables_[var].one.reset();
  variables_[var].values.assign(values.begin(), values.end());
  changed_at_[var] = ++clock_;
}

void IndexColumns::refresh(ExprId expr, Column& kept) {
  bool stale = kept.computed_at < 0;
  for (VarSet vars = (*pool_)[expr].vars; !vars.empty() && !stale; vars.drop_first())
    stale = changed_at_[vars.first()] > kept.computed_at;
  kept.computed_at = clock_;
  if (!stale) return;
  std::int64_t sum = (*pool_)[expr].constant;  // with what is one number in all lanes
  bool differs = false;
  for (const Linear& part : pool_->linear(expr)) {
    const std::optional<std::int64_t> one = one_of(pool_->terms[part.term]);
    if (one) sum += part.coefficient * *one;
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
        for (std::size_t lane = 0; lane < lanes; ++lane) out[lane] = sum + coefficient * of_lane(lane);
      else
        for (std::size_t lane = 0; lane < lanes; ++lane) out[lane] += coefficient * of_lane(lane);
    };
    for_lanes(term, each);
  }
}

/// The term's number where it is one in all lanes. A term reads other expressions, never its own.
std::optional<std::int64_t> IndexColumns::one_of(const Term& term) {
  if (is_variable(term)) return variables_[term.var].one;
  const std::optional<std::int64_t> a = current(term.a).one;
  if (!a) return {};
  if (!reads_two(term)) return divided(term, *a);
  const std::optional<std::int64_t> b = current(term.b).one;
  if (!b) return {};
  return term.kind == TermKind::xor_ ? *a ^ *b : current(*a < *b ? term.c : term.d).one;
}

/// Calls each(function from a lane to the term there).
template <class Each>
void IndexColumns::for_lanes(const Term& term, Each&& each) {
  if (is_variable(term))
    return each([values = filled(variables_[term.var]).data()](std::size_t lane) { return values[lane]; });
  const std::int64_t* a = column(term.a).data();
  if (reads_two(term)) {
    const std::int64_t* b = column(term.b).data();
    if (term.kind == TermKind::xor_) return each([=](std::size_t lane) { return a[lane] ^ b[lane]; });
    const std::int64_t *c = column(term.c).data(), *d = column(term.d).data();
    return each([=](std::size_t lane) { return a[lane] < b[lane] ? c[lane] : d[lane]; });
  }
  const std::int64_t divisor = term.divisor;
  if (term.kind == TermKind::narrow || !std::has_single_bit(static_cast<std::uint64_t>(divisor)))
    return each([&](std::size_t lane) { return divided(term, a[lane]); });
  const int shift = std::countr_zero(static_cast<std::uint64_t>(divisor));
  if (term.kind == TermKind::div) return each([=](std::size_t lane) { return a[lane] >> shift; });
  each([=](std::size_t lane) { return a[lane] & (divisor - 1); });
}

}  // namespace tailor::ir
