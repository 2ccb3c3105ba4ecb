// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Building index expressions in canonical form. In: variables with their ranges, and sums, products, quotients,
// remainders and selections of expressions. Out: expressions of a pool. Called by all of lowering. Equal expressions
// get equal ids, which is what the value cache compares, and what the index cache names.
//
// An expression is a constant and a sum of integer x term, sorted by term, without zeros. A term is a variable, a
// quotient, a remainder, a selection or an exclusive or. Terms and expressions are interned in hash tables, and each
// has a range that follows from the ranges of its variables.
//
// Everything rests on four rewrites:
//   (c*Q + R) / c      = Q + R / c              multiples of the divisor split off
//   (g*G + r) / (g*c)  = G / c  with 0 <= r < g common factors split off, the small rest vanishes
//   (E / a) / b        = E / (a*b);  (E % ab) / b = (E / b) % a;  (Q + E / a) / b = (a*Q + E) / (a*b)
//   c*(E / c) + E % c  = E                      also one level up: b*((K + E/b) % c) + E % b = (bK + E) % (bc)
// A quotient or remainder whose value follows from the range is a constant, or the expression itself. So linearising a
// delinearised index gives back what one started from, and reshapes leave no arithmetic behind. That is the whole
// point: two ways to one element give one expression, and a load is made once.
#include "codegen/structure/index_build.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "base/division.h"

namespace tailor::codegen {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

/// Products carry upwards, so the low bits of a hash know little of what went into it; the high ones know all.
std::size_t slot_of(std::uint64_t hash, std::size_t slots) { return (hash ^ hash >> 32) & (slots - 1); }

constexpr std::size_t first_slots = 512, divided_slots = 256, small_constants = 256;

/// Without the range, which follows from the sum but where it was narrowed.
std::uint64_t hash_of(std::int64_t constant, std::span<const ir::Linear> sum) {
  auto hash = static_cast<std::uint64_t>(constant);
  for (const ir::Linear& item : sum)
    hash = mix(hash, static_cast<std::uint64_t>(item.coefficient) ^ std::uint64_t{item.term} << 32);
  return mix(hash, sum.size());
}

}  // namespace

IndexBuilder::Buffer::Buffer(IndexBuilder& of) : builder(of) {
  if (builder.spare_.empty()) return;
  sum = std::move(builder.spare_.back());
  builder.spare_.pop_back();
  sum.clear();
}

IndexBuilder::Buffer::~Buffer() { builder.spare_.push_back(std::move(sum)); }

void IndexBuilder::reset() {
  pool_.vars.clear();
  pool_.terms.clear();
  pool_.linears.clear();
  pool_.exprs.clear();
  pool_.terms.reserve(last_terms_);
  pool_.linears.reserve(last_linears_);
  pool_.exprs.reserve(last_exprs_);
  divided_.resize(divided_slots);
  ++serial_;
  expanded_.clear();
  term_exprs_.clear();
  small_constants_.assign(small_constants, ir::no_expr);
  if (expr_slots_.size() < first_slots) expr_slots_.resize(first_slots);
  if (term_slots_.size() < first_slots) term_slots_.resize(first_slots);
  std::fill(expr_slots_.begin(), expr_slots_.end(), 0);
  std::fill(term_slots_.begin(), term_slots_.end(), 0);
  constant(0);
}

ir::IndexPool IndexBuilder::take() {
  last_terms_ = pool_.terms.size();
  last_linears_ = pool_.linears.size();
  last_exprs_ = pool_.exprs.size();
  return std::move(pool_);
}

ir::VarId IndexBuilder::add_var(ir::Var var) {
  assert(pool_.vars.size() < ir::max_vars && var.extent >= 1);
  pool_.vars.push_back(std::move(var));
  return static_cast<ir::VarId>(pool_.vars.size() - 1);
}

ir::Interval IndexBuilder::range_of(std::int64_t constant, Parts sum) const {
  ir::Interval range{constant, constant};
  for (const ir::Linear& item : sum) {
    const ir::Interval term = pool_.terms[item.term].range;
    const std::int64_t a = item.coefficient * term.low;
    const std::int64_t b = item.coefficient * term.high;
    range.low += std::min(a, b);
    range.high += std::max(a, b);
  }
  return range;
}

ir::ExprId IndexBuilder::intern(std::int64_t constant, Parts sum) {
  return intern_ranged(constant, sum, range_of(constant, sum));
}

ir::ExprId IndexBuilder::intern_ranged(std::int64_t constant, Parts sum, const ir::Interval& range) {
  if ((pool_.exprs.size() + 1) * 2 > expr_slots_.size()) {
    std::vector<std::uint32_t> old(expr_slots_.size() * 2, 0);
    old.swap(expr_slots_);
    for (std::uint32_t id = 0; id < pool_.exprs.size(); ++id) {
      std::size_t at = slot_of(hash_of(pool_.exprs[id].constant, pool_.linear(id)), expr_slots_.size());
      while (expr_slots_[at] != 0) at = (at + 1) & (expr_slots_.size() - 1);
      expr_slots_[at] = id + 1;
    }
  }
  std::size_t at = slot_of(hash_of(constant, sum), expr_slots_.size());
  for (; expr_slots_[at] != 0; at = (at + 1) & (expr_slots_.size() - 1)) {
    const ir::ExprId id = expr_slots_[at] - 1;
    const ir::Expr& expr = pool_.exprs[id];
    if (expr.constant == constant && expr.range == range && expr.count == sum.size() &&
        std::equal(sum.begin(), sum.end(), pool_.linears.begin() + expr.first))
      return id;
  }
  ir::Expr expr{
      constant, static_cast<std::uint32_t>(pool_.linears.size()), static_cast<std::uint32_t>(sum.size()), range, {}};
  for (const ir::Linear& item : sum) expr.vars |= pool_.terms[item.term].vars;
  pool_.linears.insert(pool_.linears.end(), sum.begin(), sum.end());
  pool_.exprs.push_back(expr);
  expr_slots_[at] = static_cast<std::uint32_t>(pool_.exprs.size());
  return static_cast<ir::ExprId>(pool_.exprs.size() - 1);
}

ir::TermId IndexBuilder::intern_term(const ir::Term& term) {
  const auto hash_of = [](const ir::Term& t) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(t.kind), t.var);
    hash = mix(hash, static_cast<std::uint64_t>(t.divisor));
    return mix(mix(mix(mix(hash, t.a), t.b), t.c), t.d);
  };
  if ((pool_.terms.size() + 1) * 2 > term_slots_.size()) {
    term_slots_.assign(term_slots_.size() * 2, 0);
    for (std::uint32_t id = 0; id < pool_.terms.size(); ++id) {
      std::size_t at = slot_of(hash_of(pool_.terms[id]), term_slots_.size());
      while (term_slots_[at] != 0) at = (at + 1) & (term_slots_.size() - 1);
      term_slots_[at] = id + 1;
    }
  }
  std::size_t at = slot_of(hash_of(term), term_slots_.size());
  for (; term_slots_[at] != 0; at = (at + 1) & (term_slots_.size() - 1)) {
    const ir::Term& old = pool_.terms[term_slots_[at] - 1];
    if (old.kind == term.kind && old.var == term.var && old.divisor == term.divisor && old.a == term.a &&
        old.b == term.b && old.c == term.c && old.d == term.d)
      return term_slots_[at] - 1;
  }
  pool_.terms.push_back(term);
  term_slots_[at] = static_cast<std::uint32_t>(pool_.terms.size());
  return static_cast<ir::TermId>(pool_.terms.size() - 1);
}

ir::ExprId IndexBuilder::term_expr(ir::TermId term) {
  if (term >= term_exprs_.size()) term_exprs_.resize(pool_.terms.size() + 64, ir::no_expr);
  if (term_exprs_[term] != ir::no_expr) return term_exprs_[term];
  const ir::Linear alone{term, 1};
  return term_exprs_[term] = intern(0, {&alone, 1});
}

const ir::Term* IndexBuilder::only_term(ir::ExprId a) const {
  const ir::Expr& expr = pool_.exprs[a];
  if (expr.count != 1 || expr.constant != 0 || pool_.linears[expr.first].coefficient != 1) return nullptr;
  return &pool_.terms[pool_.linears[expr.first].term];
}

ir::ExprId IndexBuilder::constant(std::int64_t value) {
  if (value < 0 || value >= std::ssize(small_constants_)) return intern(value, {});
  ir::ExprId& known = small_constants_[static_cast<std::size_t>(value)];
  if (known == ir::no_expr) known = intern(value, {});
  return known;
}

ir::ExprId IndexBuilder::var(ir::VarId id) {
  const ir::Var& var = pool_.vars[id];
  if (var.extent == 1) return constant(0);
  ir::Term term;
  term.kind = ir::TermKind::var;
  term.var = id;
  term.range = {0, var.extent - 1};
  term.vars = ir::VarSet::only(id);
  return term_expr(intern_term(term));
}

ir::ExprId IndexBuilder::add_constant(ir::ExprId a, std::int64_t value) {
  if (value == 0) return a;
  const auto terms = pool_.linear(a);
  Buffer buffer(*this);
  buffer.sum.assign(terms.begin(), terms.end());
  // A narrowed range moves along with the value.
  const ir::Interval range = pool_.exprs[a].range;
  return intern_ranged(pool_.exprs[a].constant + value, buffer.sum, {range.low + value, range.high + value});
}

ir::ExprId IndexBuilder::combine(ir::ExprId a, std::int64_t fa, ir::ExprId b, std::int64_t fb) {
  if (fa == 1 && (fb == 0 || (pool_.exprs[b].count == 0 && pool_.exprs[b].constant == 0))) return a;
  if (fa == 1 && pool_.exprs[b].count == 0) return add_constant(a, pool_.exprs[b].constant * fb);
  if (fb == 1 && fa == 1 && pool_.exprs[a].count == 0) return add_constant(b, pool_.exprs[a].constant);
  Buffer buffer(*this);
  Sum& sum = buffer.sum;
  const ir::Expr& ea = pool_.exprs[a];
  const ir::Expr& eb = pool_.exprs[b];
  std::int64_t constant = ea.constant * fa + eb.constant * fb;
  const ir::Linear* x = pool_.linears.data() + ea.first;
  const ir::Linear* const x_end = x + (fa == 0 ? 0 : ea.count);
  const ir::Linear* y = pool_.linears.data() + eb.first;
  const ir::Linear* const y_end = y + (fb == 0 ? 0 : eb.count);
  bool remainders = false;
  while (x != x_end || y != y_end) {
    ir::Linear item;
    if (y == y_end || (x != x_end && x->term < y->term)) {
      item = {x->term, x->coefficient * fa};
      ++x;
    } else if (x == x_end || y->term < x->term) {
      item = {y->term, y->coefficient * fb};
      ++y;
    } else {
      item = {x->term, x->coefficient * fa + y->coefficient * fb};
      ++x, ++y;
    }
    if (item.coefficient == 0) continue;
    remainders = remainders || pool_.terms[item.term].kind == ir::TermKind::mod;
    sum.push_back(item);
  }
  if (remainders && sum.size() > 1) fold_remainders(sum, constant);
  return intern(constant, sum);
}

/// What is left of a sum without the quotient, in whichever steps it was made, 0 or more; no_expr: it is none.
ir::ExprId IndexBuilder::without_quotient(ir::ExprId sum, ir::ExprId dividend, std::int64_t divisor) {
  for (std::uint32_t i = 0; i < pool_.exprs[sum].count; ++i) {
    const ir::Linear item = pool_.linear(sum)[i];
    if (item.coefficient != 1 || pool_.terms[item.term].kind != ir::TermKind::div) continue;
    ir::Term term = pool_.terms[item.term];
    for (std::uint32_t k = 0; k < pool_.exprs[term.a].count && term.divisor < divisor;) {  // (Q + E / a) / b
      const ir::Linear inner = pool_.linear(term.a)[k++];
      const ir::Term made = pool_.terms[inner.term];
      if (inner.coefficient != 1 || made.kind != ir::TermKind::div) continue;
      term.a = add(made.a, scale(subtract(term.a, term_expr(inner.term)), made.divisor));
      term.divisor *= made.divisor;
      k = 0;
    }
    if (term.divisor != divisor || term.a != dividend) continue;
    const ir::ExprId left = subtract(sum, term_expr(item.term));
    return pool_.exprs[left].range.low < 0 ? ir::no_expr : left;
  }
  return ir::no_expr;
}

void IndexBuilder::fold_remainders(Sum& sum, std::int64_t& constant) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const ir::Term term = pool_.terms[sum[i].term];
    if (term.kind != ir::TermKind::mod) continue;
    const std::int64_t factor = sum[i].coefficient;
    const bool may_fold = std::any_of(
        sum.begin(), sum.end(), [&](const ir::Linear& other) { return other.coefficient == factor * term.divisor; });
    if (!may_fold) continue;
    const ir::ExprId whole = quotient(term.a, term.divisor);
    ir::ExprId replacement = ir::no_expr;
    std::size_t partner = 0;
    for (std::size_t j = 0; j < sum.size() && replacement == ir::no_expr; ++j) {
      if (j == i || sum[j].coefficient != factor * term.divisor) continue;
      partner = j;
      const ir::Term other = pool_.terms[sum[j].term];
      if (term_expr(sum[j].term) == whole)
        replacement = term.a;
      else if (other.kind == ir::TermKind::mod)
        if (const ir::ExprId before =
                other.a == whole ? this->constant(0) : without_quotient(other.a, term.a, term.divisor);
            before != ir::no_expr)
          replacement = divide(add_scaled(term.a, before, term.divisor), term.divisor * other.divisor).second;
    }
    if (replacement == ir::no_expr) continue;
    sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(std::max(i, partner)));
    sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(std::min(i, partner)));
    const ir::Expr& back = pool_.exprs[replacement];
    constant += factor * back.constant;
    for (const ir::Linear& item :
         std::vector<ir::Linear>(pool_.linear(replacement).begin(), pool_.linear(replacement).end())) {
      const auto at = std::lower_bound(sum.begin(), sum.end(), item.term,
                                       [](const ir::Linear& l, ir::TermId id) { return l.term < id; });
      if (at != sum.end() && at->term == item.term) {
        at->coefficient += factor * item.coefficient;
        if (at->coefficient == 0) sum.erase(at);
      } else {
        sum.insert(at, {item.term, factor * item.coefficient});
      }
    }
    i = static_cast<std::size_t>(-1);  // start again: a fold may enable the next
  }
}

std::pair<ir::ExprId, ir::ExprId> IndexBuilder::divide(ir::ExprId a, std::int64_t divisor) {
  assert(divisor > 0 && pool_.exprs[a].range.low >= 0);
  if (divisor == 1) return {a, constant(0)};
  if (pool_.exprs[a].range.high < divisor) return {constant(0), a};
  const std::size_t slot = slot_of(mix(a, static_cast<std::uint64_t>(divisor)), divided_slots);
  if (const Divided& known = divided_[slot]; known.serial == serial_ && known.of == a && known.divisor == divisor)
    return {known.quotient, known.remainder};
  const auto made = divide_anew(a, divisor);
  divided_[slot] = {serial_, divisor, a, made.first, made.second};
  return made;
}

std::pair<ir::ExprId, ir::ExprId> IndexBuilder::divide_anew(ir::ExprId a, std::int64_t divisor) {
  // a = divisor * multiple + rest, every coefficient of rest in [0, divisor).
  const ir::Interval range = pool_.exprs[a].range;
  Buffer multiple_buffer(*this), rest_buffer(*this);
  Sum &multiple = multiple_buffer.sum, &rest = rest_buffer.sum;
  const std::int64_t c0 = pool_.exprs[a].constant;
  const std::int64_t multiple0 = floor_div(c0, divisor);
  const std::int64_t rest0 = c0 - multiple0 * divisor;
  for (const ir::Linear& item : pool_.linear(a)) {
    const std::int64_t whole = floor_div(item.coefficient, divisor);
    const std::int64_t part = item.coefficient - whole * divisor;
    if (whole != 0) multiple.push_back({item.term, whole});
    if (part != 0) rest.push_back({item.term, part});
  }
  if (!multiple.empty() || multiple0 != 0) {
    const ir::ExprId whole = intern(multiple0, multiple);
    ir::ExprId part = intern(rest0, rest);
    if (pool_.exprs[part].range.low >= 0) {
      // What a narrowed range of `a` says about the rest still holds when the multiple is a constant.
      if (multiple.empty()) part = assume(part, {range.low - multiple0 * divisor, range.high - multiple0 * divisor});
      const auto [quotient_rest, remainder_rest] = divide(part, divisor);
      ir::ExprId result = add(whole, quotient_rest);
      // A narrowed range (inside a guard) proves what the terms alone do not.
      if (pool_.exprs[result].range.low < 0) result = assume(result, {range.low / divisor, range.high / divisor});
      return {result, remainder_rest};
    }
  }
  return {quotient(a, divisor), remainder(a, divisor)};
}

namespace {

/// The largest g > 1 dividing `divisor` such that the terms not multiples of g stay within [0, g).
template <class RangeOf>
std::int64_t common_factor(std::span<const ir::Linear> terms, std::int64_t constant, std::int64_t divisor,
                           const RangeOf& range_of) {
  std::int64_t best = 1;
  for (const ir::Linear& candidate : terms) {
    const std::int64_t g = std::gcd(candidate.coefficient, divisor);
    if (g <= best) continue;
    ir::Interval rest{((constant % g) + g) % g, ((constant % g) + g) % g};
    for (const ir::Linear& item : terms) {
      if (item.coefficient % g == 0) continue;
      const ir::Interval range = range_of(item.term);
      rest.low += std::min(item.coefficient * range.low, item.coefficient * range.high);
      rest.high += std::max(item.coefficient * range.low, item.coefficient * range.high);
    }
    if (rest.low >= 0 && rest.high < g) best = g;
  }
  return best;
}

}  // namespace

/// Of a sum with a quotient in it, where what its dividend adds up to shares a factor with both divisors.
ir::ExprId IndexBuilder::joined_quotient(ir::ExprId a, std::int64_t divisor) {
  const std::span<const ir::Linear> parts = pool_.linear(a);
  const auto split = std::find_if(parts.begin(), parts.end(), [&](const ir::Linear& item) {
    return item.coefficient == 1 && pool_.terms[item.term].kind == ir::TermKind::div;
  });
  if (split == parts.end() || parts.size() == 1) return ir::no_expr;
  const ir::Term inner = pool_.terms[split->term];
  const ir::ExprId dividend = add(inner.a, scale(subtract(a, term_expr(split->term)), inner.divisor));
  const ir::Expr& whole = pool_.exprs[dividend];
  const auto range_of_term = [&](ir::TermId term) { return pool_.terms[term].range; };
  if (whole.range.low < 0 ||
      common_factor(pool_.linear(dividend), whole.constant, inner.divisor * divisor, range_of_term) == 1)
    return ir::no_expr;
  return divide(dividend, inner.divisor * divisor).first;
}

ir::ExprId IndexBuilder::quotient(ir::ExprId a, std::int64_t divisor) {
  const ir::Expr expr = pool_.exprs[a];
  if (divisor == 1) return a;
  if (expr.range.low >= 0 && expr.range.high < divisor) return constant(0);
  const auto range_of_term = [&](ir::TermId term) { return pool_.terms[term].range; };
  const std::int64_t g = common_factor(pool_.linear(a), expr.constant, divisor, range_of_term);
  if (g > 1) {
    Buffer reduced(*this);
    for (const ir::Linear& item : pool_.linear(a))
      if (item.coefficient % g == 0) reduced.sum.push_back({item.term, item.coefficient / g});
    const std::int64_t constant_part = (expr.constant - ((expr.constant % g) + g) % g) / g;
    const ir::ExprId inner = assume(intern(constant_part, reduced.sum), {expr.range.low / g, expr.range.high / g});
    return divide(inner, divisor / g).first;
  }
  if (const ir::Term* term = only_term(a)) {
    const ir::Term inner = *term;
    if (inner.kind == ir::TermKind::div) return quotient(inner.a, inner.divisor * divisor);
    if (inner.kind == ir::TermKind::mod && inner.divisor % divisor == 0)
      return divide(divide(inner.a, divisor).first, inner.divisor / divisor).second;
  }
  if (const ir::ExprId joined = joined_quotient(a, divisor); joined != ir::no_expr) return joined;
  ir::Term term;
  term.kind = ir::TermKind::div;
  term.a = a;
  term.divisor = divisor;
  term.range = {expr.range.low / divisor, expr.range.high / divisor};
  term.vars = expr.vars;
  return term_expr(intern_term(term));
}

ir::ExprId IndexBuilder::remainder(ir::ExprId a, std::int64_t divisor) {
  const ir::Expr expr = pool_.exprs[a];
  if (divisor == 1) return constant(0);
  if (expr.range.low >= 0 && expr.range.high < divisor) return a;
  const auto range_of_term = [&](ir::TermId term) { return pool_.terms[term].range; };
  const std::int64_t g = common_factor(pool_.linear(a), expr.constant, divisor, range_of_term);
  if (g > 1) {
    Buffer reduced_buffer(*this), rest_buffer(*this);
    Sum &reduced = reduced_buffer.sum, &rest = rest_buffer.sum;
    for (const ir::Linear& item : pool_.linear(a))
      if (item.coefficient % g == 0)
        reduced.push_back({item.term, item.coefficient / g});
      else
        rest.push_back(item);
    const std::int64_t rest_constant = ((expr.constant % g) + g) % g;
    const ir::ExprId inner =
        assume(intern((expr.constant - rest_constant) / g, reduced), {expr.range.low / g, expr.range.high / g});
    const ir::ExprId small = intern(rest_constant, rest);
    return add(scale(divide(inner, divisor / g).second, g), small);
  }
  if (const ir::Term* term = only_term(a)) {
    const ir::Term inner = *term;
    if (inner.kind == ir::TermKind::mod && inner.divisor % divisor == 0) return divide(inner.a, divisor).second;
  }
  ir::Term term;
  term.kind = ir::TermKind::mod;
  term.a = a;
  term.divisor = divisor;
  term.range = {0, std::min(divisor - 1, expr.range.high)};
  term.vars = expr.vars;
  return term_expr(intern_term(term));
}

ir::ExprId IndexBuilder::select(ir::ExprId a, ir::ExprId b, ir::ExprId c, ir::ExprId d) {
  const ir::Interval ra = pool_.exprs[a].range, rb = pool_.exprs[b].range;
  if (ra.high < rb.low || c == d) return c;
  if (ra.low >= rb.high) return d;
  ir::Term term;
  term.kind = ir::TermKind::sel;
  term.a = a;
  term.b = b;
  term.c = c;
  term.d = d;
  term.range = {std::min(pool_.exprs[c].range.low, pool_.exprs[d].range.low),
                std::max(pool_.exprs[c].range.high, pool_.exprs[d].range.high)};
  term.vars = pool_.exprs[a].vars | pool_.exprs[b].vars | pool_.exprs[c].vars | pool_.exprs[d].vars;
  return term_expr(intern_term(term));
}

std::int64_t picked_count(std::int64_t extent) {
  constexpr std::int64_t largest = 32, share = 32;
  std::int64_t multiple = 1;
  while (multiple < largest && 2 * multiple * share <= extent) multiple *= 2;
  return extent / multiple * multiple;
}

std::int64_t picked_step(std::int64_t count, std::int64_t places) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - 1;
  std::int64_t step = std::min(count * 618 / 1000, most / std::max<std::int64_t>(places - 1, 1));
  while (step > 1 && std::gcd(step, count) != 1) --step;
  return std::max<std::int64_t>(step, 1);
}

ir::ExprId IndexBuilder::picked(ir::VarId var, ir::ExprId place, std::int64_t places, std::int64_t slice,
                                ir::VarSet also, std::int64_t outside) {
  ir::Term term;
  term.kind = ir::TermKind::picked;
  term.var = var;
  term.divisor = picked_count(pool_.vars[var].extent - outside);
  term.a = scale(expand(place), picked_step(term.divisor, places));
  term.b = constant(places);
  term.c = constant(slice);
  term.range = {0, pool_.vars[var].extent - 1};
  term.vars = pool_.exprs[term.a].vars | also | ir::VarSet::only(var);
  return term_expr(intern_term(term));
}

ir::ExprId IndexBuilder::assume(ir::ExprId a, ir::Interval range) {
  const ir::Expr& expr = pool_.exprs[a];
  if (expr.count == 0) return a;
  const ir::Interval narrowed{std::max(range.low, expr.range.low), std::min(range.high, expr.range.high)};
  if (narrowed == expr.range || narrowed.low > narrowed.high) return a;
  const auto terms = pool_.linear(a);
  const std::int64_t constant = expr.constant;
  Buffer buffer(*this);
  buffer.sum.assign(terms.begin(), terms.end());
  return intern_ranged(constant, buffer.sum, narrowed);
}

ir::ExprId IndexBuilder::narrow(ir::ExprId a, ir::Interval range) {
  const ir::Expr expr = pool_.exprs[a];
  if (expr.count == 0) return a;
  const ir::Interval cut{std::max(range.low, expr.range.low), std::min(range.high, expr.range.high)};
  if (cut.low > cut.high) return a;
  if (cut.low == cut.high) return constant(cut.low);
  if (cut == expr.range) {
    // A range that the whole has by a guard or by what it is the rest of is lost in a sum, where its terms stand alone.
    if (range_of(expr.constant, pool_.linear(a)) == cut) return a;
  }
  ir::Term term;
  term.kind = ir::TermKind::narrow;
  term.a = a;
  term.b = constant(cut.low);  // the range is part of the identity
  term.c = constant(cut.high);
  term.range = cut;
  term.vars = expr.vars;
  return term_expr(intern_term(term));
}

ir::ExprId IndexBuilder::expand(ir::ExprId a) {
  if (a >= expanded_.size()) expanded_.resize(pool_.exprs.size() + 64, ir::no_expr);
  if (expanded_[a] != ir::no_expr) return expanded_[a];
  ir::ExprId sum = constant(pool_.exprs[a].constant);
  const std::uint32_t first = pool_.exprs[a].first, count = pool_.exprs[a].count;
  for (std::uint32_t i = first; i < first + count; ++i) {
    const ir::Linear item = pool_.linears[i];
    const ir::Term term = pool_.terms[item.term];
    ir::ExprId part = ir::no_expr;
    switch (term.kind) {
      case ir::TermKind::var:
      case ir::TermKind::xor_:
      case ir::TermKind::picked:
        part = term_expr(item.term);
        break;
      case ir::TermKind::narrow:
        part = expand(term.a);
        break;
      case ir::TermKind::div:
      case ir::TermKind::mod: {
        const ir::Interval range = pool_.exprs[term.a].range;  // a copy: expanding may move the pool
        const ir::ExprId inner = assume(expand(term.a), range);
        part = term.kind == ir::TermKind::div ? div(inner, term.divisor) : mod(inner, term.divisor);
        break;
      }
      case ir::TermKind::sel:
        part = select(expand(term.a), expand(term.b), expand(term.c), expand(term.d));
        break;
    }
    sum = add_scaled(sum, part, item.coefficient);
  }
  if (a >= expanded_.size()) expanded_.resize(pool_.exprs.size() + 64, ir::no_expr);
  expanded_[a] = sum;
  return sum;
}

bool IndexBuilder::is_multiple(ir::ExprId a, std::int64_t divisor) const {
  if (pool_.exprs[a].constant % divisor != 0) return false;
  for (const ir::Linear& item : pool_.linear(a))
    if (item.coefficient % divisor != 0) return false;
  return true;
}

}  // namespace tailor::codegen
