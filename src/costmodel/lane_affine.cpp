// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How index expressions move. In: the difference of two index expressions. Out: whether, and by how much, it moves
// evenly with each outer variable (block, loops), and its values over the lanes of a warp. Called by fast counting for
// every guard and every address.
//
// An expression with quotients and remainders is not affine, but it moves evenly in steps of a period: e(x + period) =
// e(x) + increment, whatever the other variables are. Periods are found from the inside out.
//   variable     period 1, increment 1
//   sum          the common multiple of the periods of its terms
//   quotient     the period after which the dividend has grown by a multiple of the divisor
//   remainder    the same period, increment 0
//   selection    the common multiple, if both branches grow alike; else there is no period
// A term without a period (or with one over 2^40) makes the caller fall back to one look at each value.
//
// Between two breaks an expression moves evenly in shorter steps too. A quotient breaks where its dividend crosses a
// multiple of the divisor. What is whole of the divisor in the dividend's growth never makes it cross, so only the rest
// counts, its drift, taken as the value nearest to 0. Quotients are numbered from the inside out; while the inner ones
// do not break, the dividend of an outer one moves evenly, and its next break is found from where each lane stands.
// That is how settle.h cuts a range with few looks, however long it is.
//
// Where a lane does cross a multiple, its warp's lanes depend on where each dividend stands beyond one: the phases.
// A grid that walks through rows of 37 elements has 37 of them, however many warps it has, so lanes, sectors and breaks
// are worked out once for each and remembered (WarpPattern, WarpRests).
//
// A thread variable (tid / d) % e splits into a lane's share and a warp's share when its steps fall on warp boundaries.
// All that the lowering makes do. Others are evaluated lane by lane.
#include "costmodel/lane_affine.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <limits>
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

/// The value nearest to 0 that equals `value` modulo `divisor`.
std::int64_t nearest_residue(std::int64_t value, std::int64_t divisor) {
  std::int64_t rest = value % divisor;
  if (2 * rest > divisor) rest -= divisor;
  if (2 * rest < -divisor) rest += divisor;
  return rest;
}

/// What memory holds is counted as the remainder that index.h says.
bool is_remainder(const ir::Term& term) { return term.kind == ir::TermKind::mod || term.kind == ir::TermKind::picked; }

/// Multiples of `divisor` in each value, rounded down. Half of one more keeps a product with the reciprocal away from
/// whole numbers by more than its error, for values below 2^50: a fifth of the time of a division.
void count_multiples(const LaneAffine::Lanes& values, std::int64_t divisor, LaneAffine::Lanes& out) {
  const double reciprocal = 1.0 / static_cast<double>(divisor);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const double quotient = (static_cast<double>(values[lane]) + 0.5) * reciprocal;
    out[lane] = static_cast<std::int64_t>(quotient) - (quotient < 0 ? 1 : 0);
  }
}

Period period_of_term(const ir::IndexPool& pool, const ir::Term& term, ir::VarId var) {
  if (!term.vars.has(var)) return {};
  switch (term.kind) {
    case ir::TermKind::var:
      return {1, 1};
    case ir::TermKind::narrow:
      return find_period(pool, term.a, var);
    case ir::TermKind::div:
    case ir::TermKind::mod:
    case ir::TermKind::picked: {
      const Period inner = find_period(pool, term.a, var);
      if (inner.period == 0) return {0, 0};
      const std::int64_t turns = term.divisor / std::gcd(std::abs(inner.increment), term.divisor);
      const std::int64_t period = inner.increment == 0 ? inner.period : inner.period * turns;
      if (term.kind != ir::TermKind::div) return {period, 0};
      return {period, over(inner, period) / term.divisor};
    }
    case ir::TermKind::sel:
    case ir::TermKind::xor_: {
      const Period a = find_period(pool, term.a, var), b = find_period(pool, term.b, var);
      std::int64_t period = common(a.period, b.period);
      if (term.kind == ir::TermKind::xor_)
        return period == 0 || a.increment != 0 || b.increment != 0 ? Period{0, 0} : Period{period, 0};
      const Period c = find_period(pool, term.c, var), d = find_period(pool, term.d, var);
      period = common(period, common(c.period, d.period));
      if (period == 0 || over(a, period) != over(b, period) || over(c, period) != over(d, period)) return {0, 0};
      return {period, over(c, period)};
    }
  }
  return {0, 0};
}

using Lanes = std::array<std::int64_t, warp_lanes>;
using Numbers = std::array<std::int64_t, most_quotients>;  ///< one of each quotient

/// Of a table whose slots are found by the form, what is asked of it, and where its first `count` quotients stand.
std::size_t pattern_slot(std::uint64_t serial, std::uint64_t asked, const Numbers& phases, int count) {
  std::uint64_t hash = serial * 0x9e3779b97f4a7c15ULL + asked;
  for (int i = 0; i < count; ++i) hash = mixed(hash, static_cast<std::uint64_t>(phases[i]));
  return (hash >> 32) % pattern_slots;
}

bool are_equal(const Numbers& a, const Numbers& b, int count) {
  for (int i = 0; i < count; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

/// What lanes are evaluated with: outer variables as in `at`, the threads of warp `w`.
struct Spot {
  const ir::IndexPool& pool;
  const std::vector<ThreadShares>& threads;
  std::array<std::int64_t, ir::max_vars> at{};
  int w = 0;

  Spot(const ir::IndexPool& p, const std::vector<ThreadShares>& t, const IterationDomain& domain, int warp)
      : pool(p), threads(t), w(warp) {
    for (int k = 0; k < domain.depth; ++k) at[domain.vars[k]] += domain.ranges[k].low;
  }
};

void divide(Lanes& lanes, std::int64_t divisor, bool remainder) {
  if (std::has_single_bit(static_cast<std::uint64_t>(divisor))) {  // lanes beyond a guard may be negative
    const int bits = std::countr_zero(static_cast<std::uint64_t>(divisor));
    for (std::int64_t& value : lanes) value = remainder ? value & (divisor - 1) : value >> bits;
    return;
  }
  for (std::int64_t& value : lanes) value = remainder ? value % divisor : value / divisor;
}

Lanes evaluate_lanes(const Spot& spot, ir::ExprId expr);

/// The term in all lanes of the warp.
Lanes evaluate_lanes(const Spot& spot, const ir::Term& term) {
  Lanes out;
  if (term.kind == ir::TermKind::var) {
    const ir::Var& var = spot.pool.vars[term.var];
    if (var.kind != ir::VarKind::thread) {
      out.fill(spot.at[term.var]);
      return out;
    }
    const ThreadShares& shares = spot.threads[term.var];
    for (int lane = 0; lane < warp_lanes; ++lane)
      out[lane] = shares.splits ? shares.warps[spot.w] + shares.lanes[lane] : thread_value(var, spot.w, lane);
    return out;
  }
  out = evaluate_lanes(spot, term.a);
  if (term.kind == ir::TermKind::narrow) return out;
  if (term.kind == ir::TermKind::div || is_remainder(term)) {
    divide(out, term.divisor, is_remainder(term));
    return out;
  }
  const Lanes b = evaluate_lanes(spot, term.b);
  if (term.kind == ir::TermKind::xor_) {
    for (int lane = 0; lane < warp_lanes; ++lane) out[lane] ^= b[lane];
    return out;
  }
  const Lanes c = evaluate_lanes(spot, term.c), d = evaluate_lanes(spot, term.d);
  for (int lane = 0; lane < warp_lanes; ++lane) out[lane] = out[lane] < b[lane] ? c[lane] : d[lane];
  return out;
}

Lanes evaluate_lanes(const Spot& spot, ir::ExprId expr) {
  Lanes out;
  out.fill(spot.pool[expr].constant);
  for (const ir::Linear& part : spot.pool.linear(expr)) {
    const Lanes term = evaluate_lanes(spot, spot.pool.terms[part.term]);
    for (int lane = 0; lane < warp_lanes; ++lane) out[lane] += part.coefficient * term[lane];
  }
  return out;
}

}  // namespace

Period find_period(const ir::IndexPool& pool, ir::ExprId expr, ir::VarId var) {
  Period sum;
  for (const ir::Linear& part : pool.linear(expr)) {
    const Period one = period_of_term(pool, pool.terms[part.term], var);
    const std::int64_t period = common(sum.period, one.period);
    if (period == 0) return {0, 0};
    sum = {period, over(sum, period) + part.coefficient * over(one, period)};
  }
  return sum;
}

void find_thread_shares(const ir::Kernel& kernel, std::vector<ThreadShares>& shares) {
  shares.resize(kernel.indices.vars.size());
  for (std::size_t v = 0; v < shares.size(); ++v) {
    const ir::Var& var = kernel.indices.vars[v];
    if (var.kind != ir::VarKind::thread) continue;
    for (int lane = 0; lane < warp_lanes; ++lane) shares[v].lanes[lane] = thread_value(var, 0, lane);
    for (int w = 0; w < warps_of(kernel); ++w) shares[v].warps[w] = thread_value(var, w, 0);
    const std::int64_t d = var.divisor, span = var.divisor * var.extent;
    const bool within = warp_lanes % d == 0 && warp_lanes % span == 0;
    const bool across = warp_lanes % d == 0 && span % warp_lanes == 0;
    const bool beyond = d % warp_lanes == 0;
    shares[v].splits = within || across || beyond || kernel.threads <= warp_lanes;
  }
}

LaneAffine::LaneAffine(const ir::Kernel& kernel, Scratch::Body& scratch, ir::ExprId a, ir::ExprId b, std::int64_t scale)
    : kernel_(kernel), scratch_(scratch), serial_(++scratch.forms), a_(a), b_(b), scale_(scale) {
  sum_.clear(0);
  add(a, scale);
  if (b != ir::no_expr) add(b, -scale);
  if (!split_) return;
  find_even_lanes(sum_);
  const std::int64_t stride = sum_.even_lanes[1] - sum_.even_lanes[0];
  bool constant = true;
  for (int lane = 2; lane < warp_lanes; ++lane) constant &= sum_.even_lanes[lane] - sum_.even_lanes[lane - 1] == stride;
  if (constant) even_stride_ = stride;
}

void LaneAffine::Sum::clear(std::int64_t value) {
  constant = value;
  outer_count = thread_count = part_count = 0;
  lanes.fill(0);
}

void LaneAffine::add(ir::ExprId expr, std::int64_t scale) {
  const ir::IndexPool& pool = kernel_.indices;
  sum_.constant += scale * pool[expr].constant;
  for (const ir::Linear& part : pool.linear(expr)) {
    const ir::Term& term = pool.terms[part.term];
    const std::int64_t coefficient = scale * part.coefficient;
    if (term.kind == ir::TermKind::var) {
      if (!add_variable(sum_, term.var, coefficient)) split_ = false;
      continue;
    }
    nested_ |= term.vars;
    if (const int quotient = quotient_of(part.term); quotient >= 0) {
      add_part(sum_, quotient, coefficient);
      continue;
    }
    opaque_vars_ |= term.vars;
    if (opaque_count_ == static_cast<int>(opaque_.size()))
      split_ = false;
    else
      opaque_[opaque_count_++] = {part.term, coefficient};
  }
}

bool LaneAffine::add_variable(Sum& sum, ir::VarId id, std::int64_t coefficient) const {
  const bool is_thread = kernel_.indices.vars[id].kind == ir::VarKind::thread;
  int& count = is_thread ? sum.thread_count : sum.outer_count;
  auto& shares = is_thread ? sum.thread : sum.outer;
  assert(is_thread || count < static_cast<int>(shares.size()));
  if (count == static_cast<int>(shares.size())) return false;
  shares[count++] = {id, coefficient};
  if (!is_thread) return true;
  for (int lane = 0; lane < warp_lanes; ++lane) sum.lanes[lane] += coefficient * scratch_.threads[id].lanes[lane];
  return scratch_.threads[id].splits;
}

void LaneAffine::add_part(Sum& sum, int quotient, std::int64_t coefficient) {
  for (int p = 0; p < sum.part_count; ++p)
    if (sum.parts[p].quotient == quotient) {
      sum.parts[p].coefficient += coefficient;
      return;
    }
  sum.parts[sum.part_count++] = {quotient, coefficient};
}

int LaneAffine::quotient_of(ir::TermId id) {
  for (int i = 0; i < quotient_count_; ++i)
    if (quotients_[i].term == id) return i;
  const ir::IndexPool& pool = kernel_.indices;
  const ir::Term& term = pool.terms[id];
  if (term.kind != ir::TermKind::div && !is_remainder(term)) return -1;
  if (pool[term.a].range.low < 0 || pool[term.a].range.high >= std::int64_t{1} << 32) return -1;
  if (term.divisor >= std::int64_t{1} << 32) return -1;
  for (const ir::Linear& part : pool.linear(term.a))
    if (pool.terms[part.term].kind != ir::TermKind::var && quotient_of(part.term) < 0) return -1;
  if (quotient_count_ == most_quotients) return -1;
  Quotient& quotient = quotients_[quotient_count_];
  quotient.term = id;
  quotient.remainder = is_remainder(term);
  quotient.divisor = term.divisor;
  quotient.inner.clear(pool[term.a].constant);
  for (const ir::Linear& part : pool.linear(term.a)) {
    const ir::Term& one = pool.terms[part.term];
    if (one.kind != ir::TermKind::var)
      add_part(quotient.inner, quotient_of(part.term), part.coefficient);
    else if (!add_variable(quotient.inner, one.var, part.coefficient))
      return -1;
  }
  find_even_lanes(quotient.inner);
  find_reach(quotient);
  crosses_ |= quotient.inner.greatest_lane - quotient.inner.least_lane >= quotient.divisor;
  return quotient_count_++;
}

void LaneAffine::find_reach(Quotient& quotient) const {
  const auto [least, greatest] = std::minmax_element(quotient.inner.lanes.begin(), quotient.inner.lanes.end());
  quotient.low = *least;
  quotient.high = *greatest;
  for (int p = 0; p < quotient.inner.part_count; ++p) {
    const auto [inner, coefficient] = quotient.inner.parts[p];
    const Quotient& q = quotients_[inner];
    const std::int64_t low = q.remainder ? 0 : floor_div(q.low, q.divisor);
    const std::int64_t high = q.remainder ? q.divisor - 1 : floor_div(q.divisor - 1 + q.high, q.divisor);
    quotient.low += std::min(coefficient * low, coefficient * high);
    quotient.high += std::max(coefficient * low, coefficient * high);
  }
}

void LaneAffine::find_even_lanes(Sum& sum) const {
  sum.even_lanes = sum.lanes;
  for (int p = 0; p < sum.part_count; ++p) {
    const Quotient& quotient = quotients_[sum.parts[p].quotient];
    if (!quotient.remainder) continue;
    for (int lane = 0; lane < warp_lanes; ++lane)
      sum.even_lanes[lane] += sum.parts[p].coefficient * quotient.inner.even_lanes[lane];
  }
  const auto [least, greatest] = std::minmax_element(sum.even_lanes.begin(), sum.even_lanes.end());
  sum.least_lane = *least;
  sum.greatest_lane = *greatest;
}

Period LaneAffine::period(ir::VarId var) const {
  for (int i = 0; i < known_count_; ++i)
    if (known_[i].var == var) return known_[i].period;
  Period sum = find_period(kernel_.indices, a_, var);
  if (b_ != ir::no_expr) {
    const Period b = find_period(kernel_.indices, b_, var);
    const std::int64_t both = common(sum.period, b.period);
    sum = both == 0 ? Period{0, 0} : Period{both, over(sum, both) - over(b, both)};
  }
  if (known_count_ < static_cast<int>(known_.size())) known_[known_count_++] = {var, sum};
  return sum;
}

std::int64_t LaneAffine::even_step(ir::VarId var) const { return !nested_.has(var) ? 1 : period(var).period; }

std::int64_t LaneAffine::growth(ir::VarId var, std::int64_t step) const {
  if (is_opaque(var)) return nested_.has(var) ? scale_ * over(period(var), step) : linear_growth(sum_, var, step);
  return growth_of(sum_, var, step);
}

std::int64_t LaneAffine::linear_growth(const Sum& sum, ir::VarId var, std::int64_t step) {
  std::int64_t growth = 0;
  for (int i = 0; i < sum.outer_count; ++i)
    if (sum.outer[i].var == var) growth += sum.outer[i].coefficient * step;
  return growth;
}

std::int64_t LaneAffine::growth_of(const Sum& sum, ir::VarId var, std::int64_t step) const {
  std::int64_t growth = linear_growth(sum, var, step);
  for (int p = 0; p < sum.part_count; ++p)
    growth += sum.parts[p].coefficient * quotient_growth(sum.parts[p].quotient, var, step);
  return growth;
}

std::int64_t LaneAffine::quotient_growth(int i, ir::VarId var, std::int64_t step) const {
  const Quotient& quotient = quotients_[i];
  const std::int64_t inner = growth_of(quotient.inner, var, step);
  const std::int64_t drift = nearest_residue(inner, quotient.divisor);
  return quotient.remainder ? drift : (inner - drift) / quotient.divisor;
}

std::int64_t LaneAffine::drift(int i, ir::VarId var, std::int64_t step) const {
  return nearest_residue(growth_of(quotients_[i].inner, var, step), quotients_[i].divisor);
}

std::int64_t LaneAffine::turns(int i, std::int64_t drift) const {
  return quotients_[i].divisor / std::gcd(std::abs(drift), quotients_[i].divisor);
}

std::int64_t LaneAffine::breaks(int i, std::int64_t drift, std::int64_t steps) const {
  return (std::abs(drift) * steps + quotients_[i].divisor - 1) / quotients_[i].divisor;
}

std::int64_t LaneAffine::steps_before_break(int i, std::int64_t drift, const IterationDomain& domain, std::int64_t up,
                                            std::int64_t down) const {
  const Start from = start(domain);
  std::int64_t above = std::numeric_limits<std::int64_t>::max(), below = above;  // that any lane can drift
  for (int w = 0; w < warps_of(kernel_); ++w) {
    if (domain.masks[w] == 0) continue;
    std::int64_t least = 0, greatest = 0;
    rests(from, w, i, domain.masks[w], least, greatest);
    above = std::min(above, quotients_[i].divisor - 1 - up - greatest);
    below = std::min(below, least - down);
    if (above < 0 || below < 0) return -1;
  }
  return drift > 0 ? above / drift : below / -drift;
}

void LaneAffine::rests(const Start& start, int w, int i, std::uint32_t mask, std::int64_t& least,
                       std::int64_t& greatest) const {
  const Phases phases = phases_of(start, w, i + 1);
  const std::uint64_t asked = static_cast<std::uint64_t>(i) + mask;
  WarpRests& slot = scratch_.rests[pattern_slot(serial_, asked, phases.phase, i + 1)];
  if (slot.serial != serial_ || slot.quotient != i || slot.mask != mask ||
      !are_equal(phases.phase, slot.phases, i + 1)) {
    const std::int64_t divisor = quotients_[i].divisor;
    std::array<Lanes, most_quotients> lanes;
    quotient_lanes(phases, i, lanes);
    Lanes values, multiples;
    dividends(i, phases, lanes, values);
    count_multiples(values, divisor, multiples);
    slot = {serial_, i, mask, phases.phase, divisor, -1};
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::int64_t beyond = values[lane] - multiples[lane] * divisor;
      slot.least = std::min(slot.least, beyond);
      slot.greatest = std::max(slot.greatest, beyond);
    }
  }
  least = slot.least + phases.moved[i];
  greatest = slot.greatest + phases.moved[i];
}

std::int64_t LaneAffine::Sum::base(const IterationDomain& domain) const {
  std::int64_t sum = constant;
  for (int i = 0; i < outer_count; ++i)
    for (int k = 0; k < domain.depth; ++k)
      if (domain.vars[k] == outer[i].var) sum += outer[i].coefficient * domain.ranges[k].low;
  return sum;
}

std::int64_t LaneAffine::Sum::warp_offset(std::span<const ThreadShares> threads, int w) const {
  std::int64_t sum = 0;
  for (int i = 0; i < thread_count; ++i) sum += thread[i].coefficient * threads[thread[i].var].warps[w];
  return sum;
}

LaneAffine::Start LaneAffine::start(const IterationDomain& domain) const {
  Start start;
  start.domain = &domain;
  if (!split_) return start;
  start.base = sum_.base(domain);
  for (int i = 0; i < quotient_count_; ++i) start.inner[i] = quotients_[i].inner.base(domain);
  return start;
}

bool LaneAffine::even_quotients(const Start& start, int w, int count,
                                std::array<std::int64_t, most_quotients>& worth) const {
  for (int i = 0; i < count; ++i) {
    const Quotient& q = quotients_[i];
    std::int64_t inner = start.inner[i] + q.inner.warp_offset(scratch_.threads, w);
    for (int p = 0; p < q.inner.part_count; ++p)
      inner += q.inner.parts[p].coefficient * worth[q.inner.parts[p].quotient];
    const std::int64_t least = inner + q.inner.least_lane, greatest = inner + q.inner.greatest_lane;
    // A guard may keep lanes out whose values are below 0 or beyond the range: those warps are seen lane by lane.
    if (least < 0 || greatest >= std::int64_t{1} << 32) return false;
    const auto divisor = static_cast<std::uint32_t>(q.divisor);
    const std::uint32_t whole = static_cast<std::uint32_t>(least) / divisor;
    if (least != greatest && whole != static_cast<std::uint32_t>(greatest) / divisor) return false;
    worth[i] = q.remainder ? inner - std::int64_t{whole} * q.divisor : std::int64_t{whole};
  }
  return true;
}

bool LaneAffine::is_even(const Start& start, int w, std::int64_t& shift) const {
  if (!split_ || crosses_ || opaque_count_ > 0) return false;
  shift = start.base + sum_.warp_offset(scratch_.threads, w);
  std::array<std::int64_t, most_quotients> worth;
  if (!even_quotients(start, w, quotient_count_, worth)) return false;
  for (int p = 0; p < sum_.part_count; ++p) shift += sum_.parts[p].coefficient * worth[sum_.parts[p].quotient];
  return true;
}

LaneAffine::Phases LaneAffine::phases_of(const Start& start, int w, int count) const {
  Phases phases;
  for (int i = 0; i < count; ++i) {
    const Quotient& q = quotients_[i];
    std::int64_t inner = start.inner[i] + q.inner.warp_offset(scratch_.threads, w);
    for (int p = 0; p < q.inner.part_count; ++p)
      inner += q.inner.parts[p].coefficient * phases.worth[q.inner.parts[p].quotient];
    const std::int64_t multiple = floor_div(inner, q.divisor), phase = inner - multiple * q.divisor;
    const bool may_cross = phase + q.low < 0 || phase + q.high >= q.divisor;
    phases.moved[i] = may_cross ? 0 : phase + q.low;
    phases.phase[i] = phase - phases.moved[i];
    phases.worth[i] = q.remainder ? phases.moved[i] : multiple;
  }
  return phases;
}

void LaneAffine::dividends(int i, const Phases& phases, const std::array<Lanes, most_quotients>& lanes,
                           Lanes& out) const {
  const Sum& inner = quotients_[i].inner;
  for (int lane = 0; lane < warp_lanes; ++lane) out[lane] = phases.phase[i] + inner.lanes[lane];
  for (int p = 0; p < inner.part_count; ++p) {
    const Lanes& part = lanes[inner.parts[p].quotient];
    for (int lane = 0; lane < warp_lanes; ++lane) out[lane] += inner.parts[p].coefficient * part[lane];
  }
}

void LaneAffine::quotient_lanes(const Phases& phases, int count, std::array<Lanes, most_quotients>& lanes) const {
  Lanes values;
  for (int i = 0; i < count; ++i) {
    const std::int64_t divisor = quotients_[i].divisor;
    dividends(i, phases, lanes, values);
    count_multiples(values, divisor, lanes[i]);
    if (!quotients_[i].remainder) continue;
    for (int lane = 0; lane < warp_lanes; ++lane) lanes[i][lane] = values[lane] - lanes[i][lane] * divisor;
  }
}

WarpPattern* LaneAffine::pattern(const Start& start, int w, std::int64_t& shift) const {
  if (!split_ || opaque_count_ > 0) return nullptr;
  const Phases phases = phases_of(start, w, quotient_count_);
  shift = start.base + sum_.warp_offset(scratch_.threads, w);
  for (int p = 0; p < sum_.part_count; ++p) shift += sum_.parts[p].coefficient * phases.worth[sum_.parts[p].quotient];
  WarpPattern& slot = scratch_.patterns[pattern_slot(serial_, 0, phases.phase, quotient_count_)];
  if (slot.serial == serial_ && are_equal(phases.phase, slot.phases, quotient_count_)) return &slot;
  slot.serial = serial_;
  std::copy_n(phases.phase.begin(), quotient_count_, slot.phases.begin());
  slot.mask = 0;
  slot.lanes = sum_.lanes;
  std::array<Lanes, most_quotients> quotients;
  quotient_lanes(phases, quotient_count_, quotients);
  for (int p = 0; p < sum_.part_count; ++p)
    for (int lane = 0; lane < warp_lanes; ++lane)
      slot.lanes[lane] += sum_.parts[p].coefficient * quotients[sum_.parts[p].quotient][lane];
  return &slot;
}

const LaneAffine::Lanes& LaneAffine::lanes(const Start& start, int w, std::int64_t& shift) const {
  if (is_even(start, w, shift)) return even_lanes();
  if (const WarpPattern* shared = pattern(start, w, shift)) return shared->lanes;
  shift = 0;
  Lanes& out = scratch_.lanes;
  if (split_) {
    const std::int64_t base = start.base + sum_.warp_offset(scratch_.threads, w);
    for (int lane = 0; lane < warp_lanes; ++lane) out[lane] = base + sum_.lanes[lane];
    const Phases phases = phases_of(start, w, quotient_count_);
    std::array<Lanes, most_quotients> quotients;
    quotient_lanes(phases, quotient_count_, quotients);
    for (int p = 0; p < sum_.part_count; ++p) {
      const Part& part = sum_.parts[p];
      for (int lane = 0; lane < warp_lanes; ++lane)
        out[lane] += part.coefficient * (phases.worth[part.quotient] + quotients[part.quotient][lane]);
    }
    for (int i = 0; i < opaque_count_; ++i) {
      const Lanes& term = term_lanes(opaque_[i].term, *start.domain, w);
      for (int lane = 0; lane < warp_lanes; ++lane) out[lane] += opaque_[i].coefficient * term[lane];
    }
    return out;
  }
  const Spot spot(kernel_.indices, scratch_.threads, *start.domain, w);
  const Lanes first = evaluate_lanes(spot, a_);
  Lanes second{};
  if (b_ != ir::no_expr) second = evaluate_lanes(spot, b_);
  for (int lane = 0; lane < warp_lanes; ++lane) out[lane] = scale_ * (first[lane] - second[lane]);
  return out;
}

const LaneAffine::Lanes& LaneAffine::term_lanes(ir::TermId id, const IterationDomain& domain, int w) const {
  const ir::Term& term = kernel_.indices.terms[id];
  TermLanes key;
  key.serial = scratch_.serial;
  key.term = id;
  key.warp = w;
  std::size_t outer = 0;
  std::uint64_t hash = id * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(w);
  for (int k = 0; k < domain.depth; ++k) {
    if (!term.vars.has(domain.vars[k])) continue;
    if (outer < key.outer.size()) key.outer[outer] = domain.ranges[k].low;
    hash = mixed(hash, static_cast<std::uint64_t>(domain.ranges[k].low));
    ++outer;
  }
  TermLanes& slot = scratch_.terms[(hash >> 32) % scratch_.terms.size()];
  const bool known = outer <= key.outer.size() && slot.serial == key.serial && slot.term == id && slot.warp == w &&
                     slot.outer == key.outer;
  if (known) return slot.lanes;
  slot.serial = outer <= key.outer.size() ? key.serial : 0;
  slot.term = id;
  slot.warp = w;
  slot.outer = key.outer;
  slot.lanes = evaluate_lanes(Spot(kernel_.indices, scratch_.threads, domain, w), term);
  return slot.lanes;
}

}  // namespace tailor::costmodel
