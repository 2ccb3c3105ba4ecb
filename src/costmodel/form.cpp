// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Periods of index expressions, and forms. A thread variable (tid / d) % e splits into a lane's and a warp's share when
// its steps fall on warp boundaries; all that lowering makes do, others are evaluated lane by lane.
#include "costmodel/form.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tailor::costmodel {

namespace {

constexpr std::int64_t longest_period = std::int64_t{1} << 40;

/// The same movement seen over a multiple of the period.
std::int64_t over(const Period& p, std::int64_t period) { return p.increment * (period / p.period); }

std::int64_t common(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  const std::int64_t scaled = a / std::gcd(a, b);
  return scaled > longest_period / b ? 0 : scaled * b;
}

Period period_of_term(const ir::IndexPool& pool, const ir::Term& term, ir::VarId var) {
  if ((term.vars >> var & 1) == 0) return {};
  switch (term.kind) {
    case ir::TermKind::var:
      return {1, 1};
    case ir::TermKind::narrow:
      return period_of(pool, term.a, var);
    case ir::TermKind::div:
    case ir::TermKind::mod: {
      const Period inner = period_of(pool, term.a, var);
      if (inner.period == 0) return {0, 0};
      const std::int64_t turns = term.divisor / std::gcd(std::abs(inner.increment), term.divisor);
      const std::int64_t period = inner.increment == 0 ? inner.period : inner.period * turns;
      if (term.kind == ir::TermKind::mod) return {period, 0};
      return {period, over(inner, period) / term.divisor};
    }
    case ir::TermKind::sel:
    case ir::TermKind::xor_: {
      const Period a = period_of(pool, term.a, var), b = period_of(pool, term.b, var);
      std::int64_t period = common(a.period, b.period);
      if (term.kind == ir::TermKind::xor_)
        return period == 0 || a.increment != 0 || b.increment != 0 ? Period{0, 0} : Period{period, 0};
      const Period c = period_of(pool, term.c, var), d = period_of(pool, term.d, var);
      period = common(period, common(c.period, d.period));
      if (period == 0 || over(a, period) != over(b, period) || over(c, period) != over(d, period)) return {0, 0};
      return {period, over(c, period)};
    }
  }
  return {0, 0};
}

using Lanes = std::array<std::int64_t, warp_lanes>;

Lanes lanes_of(const ir::IndexPool& pool, ir::ExprId expr, const std::array<std::int64_t, ir::max_vars>& at, int w);

/// The term in all lanes of warp `w`, outer variables as in `at`.
Lanes lanes_of(const ir::IndexPool& pool, const ir::Term& term, const std::array<std::int64_t, ir::max_vars>& at,
               int w) {
  Lanes out;
  if (term.kind == ir::TermKind::var) {
    const ir::Var& var = pool.vars[term.var];
    for (int lane = 0; lane < warp_lanes; ++lane)
      out[lane] = var.kind == ir::VarKind::thread ? thread_value(var, w, lane) : at[term.var];
    return out;
  }
  out = lanes_of(pool, term.a, at, w);
  if (term.kind == ir::TermKind::narrow) return out;
  if (term.kind == ir::TermKind::div || term.kind == ir::TermKind::mod) {
    for (std::int64_t& value : out)
      value = term.kind == ir::TermKind::div ? value / term.divisor : value % term.divisor;
    return out;
  }
  const Lanes b = lanes_of(pool, term.b, at, w);
  if (term.kind == ir::TermKind::xor_) {
    for (int lane = 0; lane < warp_lanes; ++lane) out[lane] ^= b[lane];
    return out;
  }
  const Lanes c = lanes_of(pool, term.c, at, w), d = lanes_of(pool, term.d, at, w);
  for (int lane = 0; lane < warp_lanes; ++lane) out[lane] = out[lane] < b[lane] ? c[lane] : d[lane];
  return out;
}

Lanes lanes_of(const ir::IndexPool& pool, ir::ExprId expr, const std::array<std::int64_t, ir::max_vars>& at, int w) {
  Lanes out;
  out.fill(pool[expr].constant);
  for (const ir::Linear& part : pool.linear(expr)) {
    const Lanes term = lanes_of(pool, pool.terms[part.term], at, w);
    for (int lane = 0; lane < warp_lanes; ++lane) out[lane] += part.coefficient * term[lane];
  }
  return out;
}

}  // namespace

Period period_of(const ir::IndexPool& pool, ir::ExprId expr, ir::VarId var) {
  Period sum;
  for (const ir::Linear& part : pool.linear(expr)) {
    const Period one = period_of_term(pool, pool.terms[part.term], var);
    const std::int64_t period = common(sum.period, one.period);
    if (period == 0) return {0, 0};
    sum = {period, over(sum, period) + part.coefficient * over(one, period)};
  }
  return sum;
}

Form::Form(const ir::Kernel& kernel, ir::ExprId a, ir::ExprId b, std::int64_t scale)
    : kernel_(kernel), a_(a), b_(b), scale_(scale) {
  add(a, scale);
  if (b != ir::no_expr) add(b, -scale);
}

void Form::add(ir::ExprId expr, std::int64_t scale) {
  const ir::IndexPool& pool = kernel_.indices;
  sum_.constant += scale * pool[expr].constant;
  for (const ir::Linear& part : pool.linear(expr)) {
    const ir::Term& term = pool.terms[part.term];
    const std::int64_t coefficient = scale * part.coefficient;
    if (term.kind == ir::TermKind::var) {
      if (!add_variable(sum_, term.var, coefficient)) affine_ = split_ = false;
      continue;
    }
    nested_ |= term.vars;
    affine_ = false;
    if (!add_quotient(term, coefficient)) split_ = false;
  }
}

bool Form::add_variable(Sum& sum, ir::VarId id, std::int64_t coefficient) const {
  const ir::Var& var = kernel_.indices.vars[id];
  const bool is_thread = var.kind == ir::VarKind::thread;
  int& count = is_thread ? sum.thread_count : sum.outer_count;
  auto& shares = is_thread ? sum.thread : sum.outer;
  assert(is_thread || count < static_cast<int>(shares.size()));
  if (count == static_cast<int>(shares.size())) return false;
  shares[count++] = {id, coefficient};
  if (!is_thread) return true;
  const std::int64_t d = var.divisor, span = var.divisor * var.extent;
  for (int lane = 0; lane < warp_lanes; ++lane) sum.lanes[lane] += coefficient * thread_value(var, 0, lane);
  const bool within = warp_lanes % d == 0 && warp_lanes % span == 0;
  const bool across = warp_lanes % d == 0 && span % warp_lanes == 0;
  const bool beyond = d % warp_lanes == 0;
  return within || across || beyond || kernel_.threads <= warp_lanes;
}

bool Form::add_quotient(const ir::Term& term, std::int64_t coefficient) {
  const bool is_quotient = term.kind == ir::TermKind::div || term.kind == ir::TermKind::mod;
  if (!is_quotient || quotient_count_ == static_cast<int>(quotients_.size())) return false;
  const ir::IndexPool& pool = kernel_.indices;
  if (pool[term.a].range.low < 0 || pool[term.a].range.high >= std::int64_t{1} << 32) return false;
  if (term.divisor >= std::int64_t{1} << 32) return false;
  Quotient& quotient = quotients_[quotient_count_];
  quotient = {term.kind == ir::TermKind::mod, term.divisor, coefficient, {}};
  quotient.inner.constant = pool[term.a].constant;
  for (const ir::Linear& part : pool.linear(term.a)) {
    const ir::Term& one = pool.terms[part.term];
    if (one.kind != ir::TermKind::var || !add_variable(quotient.inner, one.var, part.coefficient)) return false;
  }
  ++quotient_count_;
  return true;
}

std::int64_t Form::even_step(ir::VarId var) const {
  if ((nested_ >> var & 1) == 0) return 1;
  const Period a = period_of(kernel_.indices, a_, var);
  return b_ == ir::no_expr ? a.period : common(a.period, period_of(kernel_.indices, b_, var).period);
}

std::int64_t Form::growth(ir::VarId var, std::int64_t step) const {
  if ((nested_ >> var & 1) != 0) {
    std::int64_t sum = scale_ * over(period_of(kernel_.indices, a_, var), step);
    if (b_ != ir::no_expr) sum -= scale_ * over(period_of(kernel_.indices, b_, var), step);
    return sum;
  }
  std::int64_t sum = 0;
  for (int i = 0; i < sum_.outer_count; ++i)
    if (sum_.outer[i].var == var) sum += sum_.outer[i].coefficient * step;
  return sum;
}

std::int64_t Form::Sum::base(const Box& box) const {
  std::int64_t sum = constant;
  for (int i = 0; i < outer_count; ++i)
    for (int k = 0; k < box.depth; ++k)
      if (box.vars[k] == outer[i].var) sum += outer[i].coefficient * box.ranges[k].low;
  return sum;
}

std::int64_t Form::Sum::warp_offset(const ir::Kernel& kernel, int w) const {
  std::int64_t sum = 0;
  for (int i = 0; i < thread_count; ++i)
    sum += thread[i].coefficient * thread_value(kernel.indices.vars[thread[i].var], w, 0);
  return sum;
}

std::int64_t Form::base(const Box& box) const { return sum_.base(box); }

std::int64_t Form::warp_offset(int w) const { return sum_.warp_offset(kernel_, w); }

void Form::values(const Box& box, int w, std::array<std::int64_t, warp_lanes>& out) const {
  if (split_) {
    const std::int64_t start = base(box) + warp_offset(w);
    for (int lane = 0; lane < warp_lanes; ++lane) out[lane] = start + sum_.lanes[lane];
    for (int i = 0; i < quotient_count_; ++i) {
      const Quotient& q = quotients_[i];
      const std::int64_t inner = q.inner.base(box) + q.inner.warp_offset(kernel_, w);
      const auto divisor = static_cast<std::uint32_t>(q.divisor);
      for (int lane = 0; lane < warp_lanes; ++lane) {
        const auto value = static_cast<std::uint32_t>(inner + q.inner.lanes[lane]);
        out[lane] += q.coefficient * (q.remainder ? value % divisor : value / divisor);
      }
    }
    return;
  }
  std::array<std::int64_t, ir::max_vars> at{};
  for (int k = 0; k < box.depth; ++k) at[box.vars[k]] = box.ranges[k].low;
  const Lanes first = lanes_of(kernel_.indices, a_, at, w);
  Lanes second{};
  if (b_ != ir::no_expr) second = lanes_of(kernel_.indices, b_, at, w);
  for (int lane = 0; lane < warp_lanes; ++lane) out[lane] = scale_ * (first[lane] - second[lane]);
}

}  // namespace tailor::costmodel
