// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading index expressions. In: an expression of a pool. Out: its value for given variables, or how a variable enters
// it. Called by the counters, the verifier and the interpreter. Building expressions is the builder's work and their
// text is index_text's; nothing here adds to a pool.
#include "ir/kernel/index.h"

#include <cassert>

namespace tailor::ir {

namespace {

std::int64_t evaluate_term(const IndexPool& pool, const Term& term, std::span<const std::int64_t> values) {
  switch (term.kind) {
    case TermKind::var:
      return values[term.var];
    case TermKind::div:
      return evaluate(pool, term.a, values) / term.divisor;
    case TermKind::mod:
    case TermKind::picked:
      return evaluate(pool, term.a, values) % term.divisor;
    case TermKind::sel:
      return evaluate(pool, term.a, values) < evaluate(pool, term.b, values) ? evaluate(pool, term.c, values)
                                                                             : evaluate(pool, term.d, values);
    case TermKind::xor_:
      return evaluate(pool, term.a, values) ^ evaluate(pool, term.b, values);
    case TermKind::narrow:
      return evaluate(pool, term.a, values);
  }
  assert(false && "unknown term");
  return 0;
}

}  // namespace

std::int64_t evaluate(const IndexPool& pool, ExprId expr, std::span<const std::int64_t> values) {
  std::int64_t sum = pool[expr].constant;
  for (const Linear& part : pool.linear(expr))
    sum += part.coefficient * evaluate_term(pool, pool.terms[part.term], values);
  return sum;
}

bool counts_below(const IndexPool& pool, ExprId a, ExprId b) {
  if (!is_constant(pool, b) || pool[a].count != 1) return false;
  const Linear& only = pool.linear(a).front();
  const Term& term = pool.terms[only.term];
  return term.kind == TermKind::picked && only.coefficient == 1 &&
         pool[a].constant + term.divisor - 1 < pool[b].constant;
}

std::int64_t coefficient(const IndexPool& pool, ExprId expr, VarId var) {
  for (const Linear& part : pool.linear(expr)) {
    const Term& term = pool.terms[part.term];
    if (term.kind == TermKind::var && term.var == var) return part.coefficient;
  }
  return 0;
}

bool is_nested(const IndexPool& pool, ExprId expr, VarId var) {
  for (const Linear& part : pool.linear(expr)) {
    const Term& term = pool.terms[part.term];
    if (term.kind != TermKind::var && term.vars.has(var)) return true;
  }
  return false;
}

}  // namespace tailor::ir
