// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading index expressions: their value for given variables, how a variable enters them, and their text. The text is
// valid C++ and needs no parentheses around products and quotients, since * / % associate to the left; sums inside a
// quotient, selections and exclusive ors get them. Building lives elsewhere; nothing here adds to a pool.
#include "ir/index.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdlib>

namespace tailor::ir {

namespace {

std::int64_t evaluate_term(const IndexPool& pool, const Term& term, std::span<const std::int64_t> values) {
  switch (term.kind) {
    case TermKind::var: return values[term.var];
    case TermKind::div: return evaluate(pool, term.a, values) / term.divisor;
    case TermKind::mod: return evaluate(pool, term.a, values) % term.divisor;
    case TermKind::sel:
      return evaluate(pool, term.a, values) < evaluate(pool, term.b, values) ? evaluate(pool, term.c, values)
                                                                             : evaluate(pool, term.d, values);
    case TermKind::xor_: return evaluate(pool, term.a, values) ^ evaluate(pool, term.b, values);
  }
  assert(false && "unknown term");
  return 0;
}

/// Whether the expression prints as one factor: safe to the left of / and % and to the right of *.
bool is_factor(const IndexPool& pool, ExprId expr) {
  const auto linear = pool.linear(expr);
  if (linear.empty()) return pool[expr].constant >= 0;
  return linear.size() == 1 && linear[0].coefficient == 1 && pool[expr].constant == 0;
}

std::string numerator(const IndexPool& pool, ExprId expr) {
  return is_factor(pool, expr) ? text(pool, expr) : "(" + text(pool, expr) + ")";
}

std::string term_text(const IndexPool& pool, const Term& term) {
  switch (term.kind) {
    case TermKind::var: return pool.vars[term.var].name;
    case TermKind::div: return fmt::format("{} / {}", numerator(pool, term.a), term.divisor);
    case TermKind::mod: return fmt::format("{} % {}", numerator(pool, term.a), term.divisor);
    case TermKind::sel:
      return fmt::format("({} < {} ? {} : {})", text(pool, term.a), text(pool, term.b), text(pool, term.c),
                         text(pool, term.d));
    case TermKind::xor_: return fmt::format("({} ^ {})", numerator(pool, term.a), numerator(pool, term.b));
  }
  assert(false && "unknown term");
  return {};
}

}  // namespace

std::int64_t evaluate(const IndexPool& pool, ExprId expr, std::span<const std::int64_t> values) {
  std::int64_t sum = pool[expr].constant;
  for (const Linear& part : pool.linear(expr))
    sum += part.coefficient * evaluate_term(pool, pool.terms[part.term], values);
  return sum;
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
    if (term.kind != TermKind::var && (term.vars >> var & 1) != 0) return true;
  }
  return false;
}

std::string text(const IndexPool& pool, ExprId expr) {
  std::string out;
  for (const Linear& part : pool.linear(expr)) {
    const bool negative = part.coefficient < 0;
    if (!out.empty()) out += negative ? " - " : " + ";
    else if (negative) out += "-";
    out += term_text(pool, pool.terms[part.term]);
    if (std::llabs(part.coefficient) != 1) out += fmt::format(" * {}", std::llabs(part.coefficient));
  }
  const std::int64_t constant = pool[expr].constant;
  if (out.empty()) return fmt::format("{}", constant);
  if (constant != 0) out += fmt::format(" {} {}", constant < 0 ? "-" : "+", std::llabs(constant));
  return out;
}

}  // namespace tailor::ir
