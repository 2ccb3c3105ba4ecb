// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Settling: cuts a domain into parts in which an index expression moves evenly along every range. In: a form
// (lane_affine.h) and a domain. Out: the parts, handed on one by one. Called by fast counting for guards and accesses.
//
// Quotients are looked at from the inside out. A range along which the dividend drifts, and that is longer than the
// period of the drift, becomes two: whole periods, along which nothing drifts, and the steps within one period. What is
// left of a range is cut where some lane's dividend crosses a multiple of the divisor. So a row of 114 cells in a
// tensor of a million rows gives a few parts, and as many in one of ten rows. Two ranges that drift together are looked
// at value by value of the shorter one. `left` falls by one with each part; nothing more is handed on when it is used
// up. Along a part the addresses of a request are known by how often each residue occurs among the sums of its growths.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "costmodel/lane_affine.h"

namespace tailor::costmodel {

inline IterationDomain with_range(const IterationDomain& domain, int k, std::int64_t first, std::int64_t count,
                                  std::int64_t stride = 1) {
  IterationDomain part = domain;
  part.ranges[k] = {domain.ranges[k].low + domain.ranges[k].step * first, domain.ranges[k].step * stride, count};
  return part;
}

/// The ranges of a domain along which a quotient drifts.
struct Drifting {
  int count = 0, widest = -1;
  std::int64_t drift = 0, reach = 0;  ///< along the widest: of one step, and of all
  std::int64_t up = 0, down = 0;      ///< how far the others reach together, both at least 0
};
inline Drifting drifting_ranges(const LaneAffine& form, const IterationDomain& domain, int i) {
  Drifting found;
  for (int k = 0; k < domain.depth; ++k) {
    if (domain.ranges[k].count == 1 || form.is_opaque(domain.vars[k])) continue;
    const std::int64_t drift = form.drift(i, domain.vars[k], domain.ranges[k].step);
    if (drift == 0) continue;
    const std::int64_t reach = drift * (domain.ranges[k].count - 1);
    (reach > 0 ? found.up : found.down) += std::abs(reach);
    if (found.count++ > 0 && std::abs(reach) <= std::abs(found.reach)) continue;
    found.widest = k;
    found.drift = drift;
    found.reach = reach;
  }
  (found.reach > 0 ? found.up : found.down) -= std::abs(found.reach);
  return found;
}

/// Quotients before `from` do not break in the domain. Opaque ranges are left as they are.
template <class Found>
void settle(const LaneAffine& form, const IterationDomain& domain, int from, std::int64_t& left, const Found& found) {
  for (int i = from; i < form.quotient_count(); ++i) {
    const Drifting drifting = drifting_ranges(form, domain, i);
    if (drifting.count == 0) continue;
    for (int k = 0; k < domain.depth && domain.depth < IterationDomain::most; ++k) {
      const Progression range = domain.ranges[k];
      if (range.count == 1 || form.is_opaque(domain.vars[k])) continue;
      const std::int64_t drift = form.drift(i, domain.vars[k], range.step);
      const std::int64_t period = drift == 0 ? range.count : form.turns(i, drift);
      if (range.count / 2 < period) continue;
      const std::int64_t whole = range.count / period;
      IterationDomain periods = with_range(domain, k, 0, whole, period);
      periods.vars[periods.depth] = domain.vars[k];
      periods.ranges[periods.depth++] = {0, range.step, period};
      settle(form, periods, i, left, found);
      if (const std::int64_t rest = range.count - whole * period; rest > 0 && left > 0)
        settle(form, with_range(domain, k, whole * period, rest), i, left, found);
      return;
    }
    const int k = drifting.widest;
    const std::int64_t count = domain.ranges[k].count;
    for (std::int64_t at = 0, run = 1; at < count && left > 0; at += run) {
      IterationDomain part = with_range(domain, k, at, 1);
      const std::int64_t steps = form.steps_before_break(i, drifting.drift, part, drifting.up, drifting.down);
      run = std::clamp<std::int64_t>(steps + 1, 1, count - at);
      part.ranges[k].count = run;
      settle(form, part, steps < 0 ? i : i + 1, left, found);
    }
    return;
  }
  if (left-- > 0) found(domain);
}

/// About how many parts settle() would make, or a number above `most`. The breaks of an outer quotient are mostly among
/// those of an inner one, so only that which breaks most often counts along each range.
inline std::int64_t expected_parts(const LaneAffine& form, const IterationDomain& domain, std::int64_t most) {
  std::int64_t parts = 1;
  for (int k = 0; k < domain.depth && parts <= most; ++k) {
    if (domain.ranges[k].count == 1 || form.is_opaque(domain.vars[k])) continue;
    std::int64_t along = 1;
    for (int i = 0; i < form.quotient_count(); ++i) {
      const std::int64_t drift = form.drift(i, domain.vars[k], domain.ranges[k].step);
      if (drift == 0) continue;
      const std::int64_t steps = std::min(domain.ranges[k].count, form.turns(i, drift));
      along = std::max(along, std::min(steps, 2 * form.breaks(i, drift, steps) - 1));
    }
    parts *= along;
  }
  return parts;
}

/// How often each residue modulo `modulus` occurs among the sums of a domain's growths.
struct Residues {
  std::array<std::int64_t, sector_bytes> counts{};
  bool single = true;  ///< only residue 0
  std::int64_t times = 1;

  void add(std::int64_t growth, std::int64_t count, std::int64_t modulus) {
    const std::int64_t step = ((growth % modulus) + modulus) % modulus;
    if (step == 0 || count == 1) {
      times *= count;
      return;
    }
    if (single) counts[0] = 1;
    single = false;
    const std::int64_t period = modulus / std::gcd(step, modulus);
    std::array<std::int64_t, sector_bytes> next{};
    for (std::int64_t r = 0; r < modulus; ++r)
      if (counts[r] != 0)
        for (std::int64_t i = 0; i < std::min(period, count); ++i)
          next[(r + i * step) % modulus] += counts[r] * (count / period + (i < count % period ? 1 : 0));
    counts = next;
  }
};

}  // namespace tailor::costmodel
