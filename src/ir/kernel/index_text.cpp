// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Spelling index expressions. In: an expression, and names for some of them. Out: text that is valid C++. Called by the
// kernel's text and by the CUDA printer. Products and quotients need no parentheses, since * / % associate to the left;
// sums inside a quotient, selections and exclusive ors get them.
#include "ir/kernel/index_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace tailor::ir {

namespace {

struct Speller {
  const IndexSpelling& spelling;
  const IndexPool& pool;
  bool wide;

  std::string atom(const std::string& name, bool is_wide_name) const {
    return wide && !is_wide_name ? "(long long)" + name : name;
  }

  /// The visible name that covers most of what is left of a sum; nullptr when none covers anything worth a name.
  const NamedIndex* best_name(const std::vector<Linear>& rest) const {
    const NamedIndex* best = nullptr;
    for (const NamedIndex& candidate : spelling.named) {
      const auto parts = pool.linear(candidate.expr);
      const bool covers = !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const Linear& part) {
        return std::find(rest.begin(), rest.end(), part) != rest.end();
      });
      if (covers && (best == nullptr || parts.size() >= pool[best->expr].count)) best = &candidate;
    }
    return best;
  }

  /// The expression as one factor, safe to the left of / and %: a sum gets parentheses.
  std::string factor(ExprId expr) const {
    const std::string out = sum(expr);
    int depth = 0;
    for (const char c : out) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth == 0 && (c == '+' || c == '-')) return "(" + out + ")";
    }
    return out;
  }

  std::string term(const Term& t) const {
    switch (t.kind) {
      case TermKind::var:
      case TermKind::picked:
        return atom(spelling.vars[t.var], false);
      case TermKind::div:
        return fmt::format("{} / {}", factor(t.a), t.divisor);
      case TermKind::mod:
        return fmt::format("{} % {}", factor(t.a), t.divisor);
      case TermKind::sel:
        return fmt::format("({} < {} ? {} : {})", sum(t.a), sum(t.b), sum(t.c), sum(t.d));
      case TermKind::xor_:
        return fmt::format("({} ^ {})", factor(t.a), factor(t.b));
      case TermKind::narrow:
        return factor(t.a);
    }
    assert(false && "unknown term");
    return {};
  }

  std::string sum(ExprId expr) const {
    const auto linear = pool.linear(expr);
    std::vector<Linear> rest(linear.begin(), linear.end());
    std::int64_t constant = pool[expr].constant;
    std::string out;
    while (const NamedIndex* name = best_name(rest)) {
      for (const Linear& part : pool.linear(name->expr)) rest.erase(std::find(rest.begin(), rest.end(), part));
      constant -= pool[name->expr].constant;
      out += (out.empty() ? "" : " + ") + atom(name->name, name->wide);
    }
    for (const Linear& part : rest) {
      const bool negative = part.coefficient < 0;
      out += out.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
      out += term(pool.terms[part.term]);
      if (std::llabs(part.coefficient) != 1) out += fmt::format(" * {}", std::llabs(part.coefficient));
    }
    if (out.empty()) return fmt::format("{}", constant);
    if (constant != 0) out += fmt::format(" {} {}", constant < 0 ? "-" : "+", std::llabs(constant));
    return out;
  }
};

std::int64_t largest(Interval range) { return std::max(std::llabs(range.low), std::llabs(range.high)); }

constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();

bool is_wide_term(const IndexPool& pool, const Term& term) {
  if (largest(term.range) > limit || term.divisor > limit) return true;
  if (term.kind == TermKind::picked) return false;  // what it is counted as is never computed
  const auto parts = {term.a, term.b, term.c, term.d};
  return std::any_of(parts.begin(), parts.end(), [&](ExprId e) { return e != no_expr && is_wide(pool, e); });
}

}  // namespace

bool is_wide(const IndexPool& pool, ExprId expr) {
  // A bound on every partial sum, whatever the order of the parts and the names taken out of it.
  double bound = static_cast<double>(std::llabs(pool[expr].constant));
  for (const Linear& part : pool.linear(expr)) {
    const Term& term = pool.terms[part.term];
    if (is_wide_term(pool, term)) return true;
    bound += static_cast<double>(largest(term.range)) * static_cast<double>(std::llabs(part.coefficient));
  }
  return bound > static_cast<double>(limit);
}

std::string text(const IndexSpelling& spelling, ExprId expr, bool wide) {
  return Speller{spelling, *spelling.pool, wide}.sum(expr);
}

IndexSpelling plain_spelling(const IndexPool& pool) {
  IndexSpelling spelling{&pool, {}, {}};
  for (const Var& var : pool.vars) spelling.vars.push_back(var.name);
  return spelling;
}

std::string text(const IndexPool& pool, ExprId expr) { return text(plain_spelling(pool), expr); }

}  // namespace tailor::ir
