// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Index expressions for many lanes at once. In: a pool of expressions, and the value of each variable in each lane.
// Out: the value of an expression in each lane. Called by exact counting and by the interpreter that tests hold
// kernels against, which walk a program statement by statement.
//
// Between two statements few variables change, and expressions share most of their parts: the quotient and the
// remainder of one sum, the same sum in each guard. So the column of an expression is kept until a variable that it
// reads is set again. A clock that ticks with each variable that is set tells how old a column is; most questions are
// answered by one comparison. Of what is one number in all lanes, as trips of loops and blocks mostly are, that number
// is kept alone, and sums add it up once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/kernel/index.h"

namespace tailor::ir {

class IndexColumns {
 public:
  /// All variables are 0, and picked terms what counters take them for until their variable is set. `pool` must live as
  /// long and not grow.
  IndexColumns(const IndexPool& pool, int lanes);

  /// Gives the variable this value in every lane.
  void set(VarId var, std::int64_t value);
  /// One value for each lane.
  void set(VarId var, std::span<const std::int64_t> values);

  /// The expression in one lane, below `lanes`.
  std::int64_t value(ExprId expr, int lane) {
    const Column& kept = current(expr);
    return kept.one ? *kept.one : kept.values[static_cast<std::size_t>(lane)];
  }
  /// Its number where it is known to be one in all lanes. Where columns differ it may be one all the same.
  std::optional<std::int64_t> one(ExprId expr) { return current(expr).one; }
  /// The expression in each lane. The reference lives as long as this does; its values change when the expression is
  /// asked about after a variable it reads was set.
  const std::vector<std::int64_t>& column(ExprId expr) { return filled(current(expr)); }

 private:
  struct Column {
    std::int64_t computed_at = -1;
    std::optional<std::int64_t> one;   ///< in all lanes
    bool is_filled = false;            ///< whether `values` holds it
    std::vector<std::int64_t> values;  ///< by lane
  };
  Column& current(ExprId expr) {
    Column& kept = columns_[expr];
    if (kept.computed_at < clock_) refresh(expr, kept);
    return kept;
  }
  const std::vector<std::int64_t>& filled(Column& kept) {
    if (kept.one && !std::exchange(kept.is_filled, true)) kept.values.assign(lanes_, *kept.one);
    return kept.values;
  }
  void refresh(ExprId expr, Column& kept);
  std::optional<std::int64_t> one_of(const Term& term);
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

}  // namespace tailor::ir
