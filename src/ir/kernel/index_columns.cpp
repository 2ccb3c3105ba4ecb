// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of index expressions. In: variables as they are set. Out: columns, computed when they are asked for and
// older than a variable they read. Called through index_columns.h; what a term means is in index.cpp, which is what
// this is tested against.
#include "ir/kernel/index_columns.h"

#include <algorithm>
#include <bit>

namespace tailor::ir {

IndexColumns::IndexColumns(const IndexPool& pool, int lanes)
    : pool_(&pool),
      lanes_(static_cast<std::size_t>(lanes)),
      variables_(pool.vars.size(), std::vector<std::int64_t>(lanes_)),
      columns_(pool.exprs.size()) {}

void IndexColumns::set(VarId var, std::int64_t value) {
  std::fill(variables_[var].begin(), variables_[var].end(), value);
  changed_at_[var] = ++clock_;
}

void IndexColumns::set(VarId var, std::span<const std::int64_t> values) {
  std::copy(values.begin(), values.end(), variables_[var].begin());
  changed_at_[var] = ++clock_;
}

void IndexColumns::refresh(ExprId expr, Column& kept) {
  bool stale = kept.computed_at < 0;
  for (VarSet vars = (*pool_)[expr].vars; !vars.empty() && !stale; vars.drop_first())
    stale = changed_at_[vars.first()] > kept.computed_at;
  kept.computed_at = clock_;
  if (!stale) return;
  kept.values.assign(lanes_, (*pool_)[expr].constant);
  for (const Linear& part : pool_->linear(expr)) add(part, kept.values);
}

/// The term in each lane times its coefficient. A term reads other expressions, never its own. What the loop over lanes
/// reads stands in locals: the compiler would load members again after each sum that is stored.
void IndexColumns::add(const Linear& part, std::vector<std::int64_t>& sums) {
  const Term& term = pool_->terms[part.term];
  const auto each = [&, out = sums.data(), lanes = lanes_, coefficient = part.coefficient](auto&& of_lane) {
    for (std::size_t lane = 0; lane < lanes; ++lane) out[lane] += coefficient * of_lane(lane);
  };
  if (term.kind == TermKind::var || (term.kind == TermKind::picked && changed_at_[term.var] > 0))
    return each([values = variables_[term.var].data()](std::size_t lane) { return values[lane]; });
  const std::int64_t* a = column(term.a).data();
  if (term.kind == TermKind::narrow) return each([=](std::size_t lane) { return a[lane]; });
  const std::int64_t divisor = term.divisor;
  const bool power = std::has_single_bit(static_cast<std::uint64_t>(divisor));  // a is never negative: see index.h
  if (term.kind == TermKind::div) {
    if (!power) return each([=](std::size_t lane) { return a[lane] / divisor; });
    const int shift = std::countr_zero(static_cast<std::uint64_t>(divisor));
    return each([=](std::size_t lane) { return a[lane] >> shift; });
  }
  if (term.kind == TermKind::mod || term.kind == TermKind::picked) {
    if (!power) return each([=](std::size_t lane) { return a[lane] % divisor; });
    return each([=](std::size_t lane) { return a[lane] & (divisor - 1); });
  }
  const std::int64_t* b = column(term.b).data();
  if (term.kind == TermKind::xor_) return each([=](std::size_t lane) { return a[lane] ^ b[lane]; });
  const std::int64_t *c = column(term.c).data(), *d = column(term.d).data();
  each([=](std::size_t lane) { return a[lane] < b[lane] ? c[lane] : d[lane]; });
}

}  // namespace tailor::ir
