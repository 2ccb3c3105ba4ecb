// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fast counting. In: a kernel. Out: the same numbers as exact counting (exact.cpp), without walking its threads. Called
// by count() in mode fast, for every plan of a search.
//
// A scope is the statements under the same loops and guards. It is counted over a list of domains. A domain is a range
// for each outer variable (block and loops: first value, step, count) and a mask of active lanes for each warp. All
// statements of a scope share its domains, so how often they are executed, and by how many lanes, is a sum over
// domains.
//
// A loop adds its variable's range to each domain. A guard cuts each domain: its condition is a difference of two index
// expressions, and lane_affine.h says how that moves with each variable. Quotients and remainders break the movement,
// so the domain is first cut into parts without a break (settle.h), of which there are as many in a large tensor as in
// a small one. If the least and the greatest value over a part agree on the condition, the part is kept whole or
// dropped. Else it is cut along the variable that moves the difference most: the part where the condition holds for
// all, the part where it holds for none, and single values between them, each of which is looked at again. When no
// variable is left the mask is found lane by lane. A term that is no quotient is known by its period alone: its ranges
// are first split into one for each start of the period. Cuts are exact.
//
// Requests: the sectors of a request depend on its address modulo 32 bytes only. So the addresses of a part are grouped
// by residue, each residue is looked at once by the rules of requests.cpp, and weighted by how often it occurs. Where
// the parts are too many, sectors come from a sample of the starts of a period.
//
// Time is bounded. Extents that share no factor with a block's elements can make hundreds of thousands of parts. When
// `most_looks` are used up, counting begins anew with blocks from all over the grid that stand for the others, and if
// that is still too much, with some trips of each loop too. Work::sampled says so in each of these cases.
#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>

#include "costmodel/lane_affine.h"
#include "costmodel/scratch.h"
#include "costmodel/settle.h"

namespace tailor::costmodel {

namespace {

using ir::StmtKind;

/// More starts of a period, or more parts of a domain, than this are sampled for sectors; and more of all ranges
/// together. Then so many of one range are looked at, and so many warps in all.
constexpr std::int64_t most_starts = 64, most_together = 256, sampled_starts = 32, sampled_warps = 256;
/// At warps, while a kernel is counted without samples. A start of a period is looked at in about a quarter of the time
/// that a part takes, which must be settled first.
constexpr std::int64_t most_looks = 30'000, starts_per_look = 4;

/// How much of the grid is looked at: all of it, or so many blocks, and so many trips of each loop.
struct Sampling {
  std::int64_t blocks, trips, most_looks;
};
constexpr std::int64_t all_of_them = std::numeric_limits<std::int64_t>::max();
constexpr Sampling samplings[] = {
    {all_of_them, all_of_them, most_looks}, {128, all_of_them, 4 * most_looks}, {32, 8, all_of_them}};

std::int64_t points(const IterationDomain& domain) {
  std::int64_t product = domain.blocks * domain.trips;
  for (int k = 0; k < domain.depth; ++k) product *= domain.ranges[k].count;
  return product;
}

class FastWalk {
 public:
  FastWalk(const ir::Kernel& kernel, Scratch::Body& scratch)
      : kernel_(kernel), scratch_(scratch), warps_(warps_of(kernel)) {}

  void run(Work& work) {
    find_thread_shares(kernel_, scratch_.threads);
    scratch_.gave_up = false;
    for (Sampling sampling : samplings) {
      if (scratch_.most_looks > 0) sampling.most_looks = std::min(sampling.most_looks, scratch_.most_looks);
      sampling_ = sampling;
      looks_left_ = sampling.most_looks;
      scratch_.counts.assign(kernel_.body.size(), {});
      scratch_.sampled = sampling.blocks != all_of_them;
      scratch_.seen_scopes.clear();
      walk();
      scratch_.looks += sampling.most_looks - looks_left_;
      if (looks_left_ > 0) break;
      scratch_.gave_up = scratch_.most_looks > 0;
      if (scratch_.gave_up) return;
    }
    if (scratch_.sees_scopes) return;  // warps are told apart there, and blocks are made of them later
    bool proven = true;
    work.busiest_block = busiest_block(scratch_, kernel_.virtual_blocks, proven);
    if (!proven) scratch_.sampled = true;
  }

 private:
  void walk() {
    scratch_.domains.clear();
    scratch_.kept_domains.clear();
    known_guards_.clear();
    scratch_.spans.clear();
    scratch_.every_guard = 0;
    ++scratch_.serial;
    IterationDomain all;
    all.masks.fill(0);
    for (int w = 0; w < warps_; ++w) all.masks[w] = full_mask(kernel_, w);
    int block = -1;
    std::int64_t blocks = 1;  // of the outermost digit of their number
    for (std::size_t v = 0; v < kernel_.indices.vars.size(); ++v)
      if (const ir::Var& var = kernel_.indices.vars[v]; var.kind == ir::VarKind::block) {
        if (var.extent * var.divisor == kernel_.virtual_blocks) {
          block = all.depth;
          blocks = var.extent;
        }
        push_range(all, static_cast<ir::VarId>(v), var.extent);
      }
    if (block < 0 || blocks <= sampling_.blocks)
      scratch_.domains.push_back(all);
    else
      for (std::int64_t i = 0; i < sampling_.blocks; ++i) {
        std::int64_t stands_for = 1;
        const std::int64_t at = scattered(i, sampling_.blocks, blocks, stands_for);
        scratch_.domains.push_back(with_range(all, block, at, 1));
        scratch_.domains.back().blocks = stands_for;
      }
    scope(0, static_cast<std::int32_t>(kernel_.body.size()), 0, scratch_.domains.size(), 1);
  }

  static void push_range(IterationDomain& domain, ir::VarId var, std::int64_t count) {
    assert(domain.depth < IterationDomain::most);
    domain.vars[domain.depth] = var;
    domain.ranges[domain.depth++] = {0, 1, count};
  }

  /// Statements from .. to with the domains from `first` on; a warp that every guard lets in runs them `trips` times.
  /// `is_known`: a scope before it has the same domains, and tells what is seen of them.
  void scope(std::int32_t from, std::int32_t to, std::size_t first, std::size_t count, std::int64_t trips,
             bool is_known = false) {
    if (looks_left_ <= 0) return;
    std::int64_t executions = 0, lanes = 0;
    for (std::size_t b = first; b < first + count; ++b) {
      std::int64_t warps = 0, active = 0;
      for (int w = 0; w < warps_; ++w) {
        warps += scratch_.domains[b].masks[w] != 0;
        active += std::popcount(scratch_.domains[b].masks[w]);
      }
      const std::int64_t times = points(scratch_.domains[b]);
      executions += warps * times;
      lanes += active * times;
    }
    if (scratch_.sees_scopes) {
      scratch_.seen_scopes.push_back({from, executions, lanes, 0, 0, {}, {}});
      if (!is_known) see_scope(kernel_, {scratch_.domains.data() + first, count}, scratch_);
    }
    std::int64_t issue = 0;
    const std::size_t guards = known_guards_.size(), kept = scratch_.kept_domains.size();
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[at];
      StmtCount& total = scratch_.counts[at];
      total.executions = executions;
      total.lanes = lanes;
      issue += scratch_.costs[at].issue;
      if (ir::is_memory(stmt)) access(stmt, total, first, count);
      if (stmt.kind == StmtKind::loop) loop(at, stmt, first, count, trips);
      if (stmt.kind == StmtKind::guard) guard(at, to, first, count, trips);
      if (stmt.kind == StmtKind::loop || stmt.kind == StmtKind::guard) at = stmt.end - 1;
    }
    known_guards_.resize(guards);
    scratch_.kept_domains.resize(kept);
    scratch_.every_guard += issue * warps_ * trips;
    if (!scratch_.sees_scopes) record(first, count, issue);
  }

  void loop(std::int32_t at, const ir::Stmt& stmt, std::size_t first, std::size_t count, std::int64_t trips) {
    const std::size_t inner = scratch_.domains.size();
    const std::int64_t extent = kernel_.indices.vars[stmt.var].extent;
    for (std::size_t b = first; b < first + count; ++b) {
      IterationDomain domain = scratch_.domains[b];
      push_range(domain, stmt.var, extent);
      if (extent <= sampling_.trips) {
        scratch_.domains.push_back(domain);
        continue;
      }
      for (std::int64_t i = 0; i < sampling_.trips; ++i) {
        std::int64_t stands_for = 1;
        const std::int64_t trip = scattered(i, sampling_.trips, extent, stands_for);
        scratch_.domains.push_back(with_range(domain, domain.depth - 1, trip, 1));
        scratch_.domains.back().trips *= stands_for;
      }
    }
    scope(at + 1, stmt.end, inner, scratch_.domains.size() - inner, trips * extent);
    scratch_.domains.resize(inner);
  }

  /// A guard of the scope at hand whose parts are kept, for another one there asks the same.
  struct KnownGuard {
    std::int32_t at;
    std::size_t scope, first, count;  ///< where the scope's domains begin, and the parts in `kept_domains`
  };

  bool ask_the_same(std::int32_t a, std::int32_t b) const {
    return same_question(kernel_.body[static_cast<std::size_t>(a)], kernel_.body[static_cast<std::size_t>(b)]);
  }

  /// In a scope that ends at `to`.
  void guard(std::int32_t at, std::int32_t to, std::size_t first, std::size_t count, std::int64_t trips) {
    const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
    const std::size_t base = scratch_.domains.size();
    std::vector<IterationDomain>& kept = scratch_.kept_domains;
    const auto known = std::find_if(known_guards_.begin(), known_guards_.end(), [&](const KnownGuard& one) {
      return one.scope == first && ask_the_same(one.at, at);
    });
    const bool is_known = known != known_guards_.end();
    std::size_t from = first, parts = count;
    if (is_known) {
      from = base;
      parts = known->count;
      for (std::size_t i = 0; i < parts; ++i) scratch_.domains.push_back(kept[known->first + i]);
    } else {
      cut_by(stmt, from, parts);
      if (is_asked_again(at, to) && looks_left_ > 0) {
        known_guards_.push_back({at, first, kept.size(), parts});
        for (std::size_t i = 0; i < parts; ++i) kept.push_back(scratch_.domains[from + i]);
      }
    }
    if (parts > 0) scope(at + 1, stmt.end, from, parts, trips, is_known);
    scratch_.domains.resize(base);
  }

  bool is_asked_again(std::int32_t at, std::int32_t to) const {
    for (std::int32_t next = kernel_.body[static_cast<std::size_t>(at)].end; next < to; ++next) {
      const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(next)];
      if (stmt.kind == StmtKind::guard && ask_the_same(at, next)) return true;
      if (stmt.kind == StmtKind::guard || stmt.kind == StmtKind::loop) next = stmt.end - 1;
    }
    return false;
  }

  /// Appends the parts of `count` domains from `from` on where all conditions hold for some lane, and says where they
  /// are.
  void cut_by(const ir::Stmt& stmt, std::size_t& from, std::size_t& count) {
    for (const ir::Condition& condition : stmt.conditions) {
      if (condition.a == ir::no_expr) continue;
      if (!condition.equal && counts_below(kernel_.indices, condition.a, condition.b)) continue;
      const LaneAffine form(kernel_, scratch_, condition.a, condition.b, 1);
      const std::size_t cut = scratch_.domains.size();
      for (std::size_t b = from; b < from + count; ++b) {
        const IterationDomain domain = scratch_.domains[b];
        if (!is_decided(form, condition.equal, domain)) refine(form, condition.equal, domain);
      }
      from = cut;
      count = scratch_.domains.size() - cut;
    }
  }

  /// Whether the condition holds in all of the domain, which is appended then, or nowhere.
  bool is_decided(const LaneAffine& form, bool equal, const IterationDomain& domain) {
    const std::optional<ir::Interval> bounds = form.bounds(domain);
    if (!bounds) return false;
    const bool nowhere = equal ? bounds->low > 0 || bounds->high < 0 : bounds->low >= 0;
    const bool everywhere = equal ? bounds->low == 0 && bounds->high == 0 : bounds->high < 0;
    if (everywhere) scratch_.domains.push_back(domain);
    return nowhere || everywhere;
  }

  /// Appends the parts of `domain` where the condition holds for some lane.
  void refine(const LaneAffine& form, bool equal, const IterationDomain& domain) {
    for (int k = 0; k < domain.depth; ++k) {
      if (!form.is_opaque(domain.vars[k])) continue;
      const std::int64_t starts = count_starts(form, domain, k);
      if (starts == 1) continue;
      for (std::int64_t i = 0; i < starts && looks_left_ > 0; ++i)
        refine(form, equal, with_range(domain, k, i, (domain.ranges[k].count - i + starts - 1) / starts, starts));
      return;
    }
    settle(form, domain, 0, looks_left_, [&](const IterationDomain& part) { cut(form, equal, part); });
  }

  /// The same for a domain along which the form moves evenly.
  void cut(const LaneAffine& form, bool equal, const IterationDomain& domain) {
    looks_left_ -= warps_;
    if (looks_left_ <= 0) return;
    std::array<std::int64_t, IterationDomain::most> growth;
    for (int k = 0; k < domain.depth; ++k)
      growth[k] = domain.ranges[k].count == 1 ? 0 : form.growth(domain.vars[k], domain.ranges[k].step);
    std::int64_t low = 0, high = 0;
    lane_range(form, domain, low, high);
    int widest = -1;
    std::int64_t width = 0;
    for (int k = 0; k < domain.depth; ++k) {
      const std::int64_t reach = growth[k] * (domain.ranges[k].count - 1);
      (reach < 0 ? low : high) += reach;
      if (std::abs(reach) > width) {
        width = std::abs(reach);
        widest = k;
      }
    }
    if (equal ? low == 0 && high == 0 : high < 0) return scratch_.domains.push_back(domain);
    if (equal ? low > 0 || high < 0 : low >= 0) return;
    if (widest < 0) return mask(form, equal, domain);
    const std::int64_t reach = growth[widest] * (domain.ranges[widest].count - 1);
    split_domain(form, equal, domain, widest, growth[widest], low - std::min<std::int64_t>(reach, 0),
                 high - std::max<std::int64_t>(reach, 0));
  }

  /// The form is c * k + r with r in low .. high: whole where it must hold, one by one where it may, nothing elsewhere.
  void split_domain(const LaneAffine& form, bool equal, const IterationDomain& domain, int k, std::int64_t c,
                    std::int64_t low, std::int64_t high) {
    const std::int64_t last = domain.ranges[k].count - 1;
    std::int64_t from = 0, to = last;  // where it may hold without having to
    if (equal) {
      from = c > 0 ? -floor_div(high, c) : -floor_div(-low, -c);
      to = c > 0 ? floor_div(-low, c) : floor_div(high, -c);
    } else if (c > 0) {
      from = floor_div(-high - 1, c) + 1;
      to = floor_div(-low - 1, c);
    } else {
      from = floor_div(low, -c) + 1;
      to = floor_div(high, -c);
    }
    from = std::clamp<std::int64_t>(from, 0, last + 1);
    to = std::clamp<std::int64_t>(to, -1, last);
    if (!equal && c > 0 && from > 0) scratch_.domains.push_back(with_range(domain, k, 0, from));
    if (!equal && c < 0 && to < last) scratch_.domains.push_back(with_range(domain, k, to + 1, last - to));
    for (std::int64_t i = from; i <= to && looks_left_ > 0; ++i) cut(form, equal, with_range(domain, k, i, 1));
  }

  /// Of the lanes in the domain; of whole warps where the form is even there: mask() looks at lanes.
  void lane_range(const LaneAffine& form, const IterationDomain& domain, std::int64_t& low, std::int64_t& high) const {
    low = std::numeric_limits<std::int64_t>::max();
    high = std::numeric_limits<std::int64_t>::min();
    const LaneAffine::Start start = form.start(domain);
    std::int64_t shift = 0;
    for (int w = 0; w < warps_; ++w) {
      if (domain.masks[w] == 0) continue;
      if (form.is_even(start, w, shift)) {
        low = std::min(low, shift + form.least_lane());
        high = std::max(high, shift + form.greatest_lane());
        continue;
      }
      const LaneAffine::Lanes& lanes = form.lanes(start, w, shift);
      for (std::uint32_t rest = domain.masks[w]; rest != 0; rest &= rest - 1) {
        low = std::min(low, shift + lanes[std::countr_zero(rest)]);
        high = std::max(high, shift + lanes[std::countr_zero(rest)]);
      }
    }
  }

  void mask(const LaneAffine& form, bool equal, const IterationDomain& domain) {
    IterationDomain part = domain;
    std::uint32_t any = 0;
    const LaneAffine::Start start = form.start(domain);
    for (int w = 0; w < warps_; ++w) {
      if (domain.masks[w] == 0) continue;
      std::int64_t shift = 0;
      const LaneAffine::Lanes& lanes = form.lanes(start, w, shift);
      std::uint32_t holds = 0;
      for (int lane = 0; lane < warp_lanes; ++lane)
        holds |= static_cast<std::uint32_t>(equal ? lanes[lane] == -shift : lanes[lane] < -shift) << lane;
      part.masks[w] = domain.masks[w] & holds;
      any |= part.masks[w];
    }
    if (any != 0) scratch_.domains.push_back(part);
  }

  /// Into how many progressions range k must fall apart so that the form moves evenly along each.
  static std::int64_t count_starts(const LaneAffine& form, const IterationDomain& domain, int k) {
    const std::int64_t step = form.even_step(domain.vars[k]), count = domain.ranges[k].count;
    if (step == 1 || count == 1) return 1;
    if (step == 0) return count;
    return std::min(count, step / std::gcd(step, domain.ranges[k].step));
  }

  /// One statement's requests; remembers what a warp moves by residue of its address and active lanes.
  struct Request {
    const LaneAffine& form;
    int bytes;
    bool global;
    std::array<std::uint32_t, sector_bytes> masks{};
    std::array<std::int64_t, sector_bytes> known;

    std::int64_t modulus() const { return global ? sector_bytes : std::int64_t{4}; }
    std::int64_t units(const LaneAffine::Lanes& lanes, std::int64_t shift, std::uint32_t mask) const {
      return global ? count_sectors(lanes, shift, mask, bytes) : count_wavefronts(lanes, shift, mask, bytes);
    }
    /// Of an even warp.
    std::int64_t even_units(std::int64_t residue, std::uint32_t mask) {
      if (global && mask == ~0u && form.even_stride() >= 0 && form.even_stride() <= sector_bytes) {
        // Neighbours at most a sector apart leave no sector between them untouched.
        const std::int64_t low = residue + form.even_lanes()[0] % sector_bytes + sector_bytes;
        return (low + form.even_stride() * (warp_lanes - 1) + bytes - 1) / sector_bytes - low / sector_bytes + 1;
      }
      if (masks[residue] != mask) {
        masks[residue] = mask;
        known[residue] = units(form.even_lanes(), residue, mask);
      }
      return known[residue];
    }
    /// Of a warp that shares its lanes with others.
    std::int64_t pattern_units(WarpPattern& pattern, std::int64_t residue, std::uint32_t mask) const {
      if (pattern.mask != mask) {
        pattern.mask = mask;
        pattern.units.fill(-1);
      }
      std::int64_t& known_there = pattern.units[residue];
      if (known_there < 0) known_there = units(pattern.lanes, residue, mask);
      return known_there;
    }
  };

  void access(const ir::Stmt& stmt, StmtCount& total, std::size_t first, std::size_t count) {
    const int bytes = element_bytes(kernel_, stmt);
    const LaneAffine form(kernel_, scratch_, stmt.expr, ir::no_expr, bytes);
    Request request{form, bytes * stmt.width, stmt.space == ir::Space::global, {}, {}};
    for (std::size_t b = first; b < first + count && looks_left_ > 0; ++b) {
      const IterationDomain& domain = scratch_.domains[b];
      total.units += units(request, domain) * domain.blocks * domain.trips;
    }
  }

  /// Sectors or wavefronts of a domain.
  std::int64_t units(Request& request, const IterationDomain& domain) {
    if (request.form.quotient_count() == 0) return units_by_starts(request, domain);
    bool opaque = false;
    for (int k = 0; k < domain.depth; ++k)
      opaque |= domain.ranges[k].count > 1 && request.form.is_opaque(domain.vars[k]);
    if (!opaque && expected_parts(request.form, domain, most_starts) <= most_starts) {
      std::int64_t sum = 0, left = 4 * most_starts;
      settle(request.form, domain, 0, left, [&](const IterationDomain& part) {
        looks_left_ -= warps_;
        sum += even_units(request, part);
      });
      if (left > 0) return sum;
    }
    return units_by_starts(request, domain);
  }

  /// All starts of the form's period, or some of them, where these are fewer warps by much.
  std::int64_t units_by_starts(Request& request, const IterationDomain& domain) {
    std::int64_t together = 1, most = 1;
    for (int k = 0; k < domain.depth && together <= most_together; ++k) {
      const std::int64_t starts = count_starts(request.form, domain, k);
      most = std::max(most, starts);
      together *= starts;
    }
    const bool are_few =
        (most <= most_starts && together <= most_together) || points(domain) * warps_ <= 2 * sampled_warps;
    return units_by_starts(request, domain, 0, are_few ? all_of_them : sampled_warps / warps_, 0);
  }

  /// Range after range. `most`: starts to look at. Samples of an inner range differ from `turn` to turn of the outer.
  std::int64_t units_by_starts(Request& request, const IterationDomain& domain, int from, std::int64_t most,
                               std::int64_t turn) {
    const LaneAffine& form = request.form;
    for (int k = from; k < domain.depth; ++k) {
      const std::int64_t starts = count_starts(form, domain, k), count = domain.ranges[k].count;
      if (starts == 1) continue;
      const std::int64_t looked_at =
          most == all_of_them ? starts : std::min({starts, sampled_starts, std::max<std::int64_t>(most, 1)});
      std::int64_t sum = 0, seen = 0;
      for (std::int64_t i = 0; i < looked_at; ++i) {
        std::int64_t stands_for = 1;
        const std::int64_t start = scattered(i, looked_at, starts, stands_for, turn);
        const std::int64_t members = (count - start + starts - 1) / starts;
        sum += units_by_starts(request, with_range(domain, k, start, members, starts), k + 1,
                               most == all_of_them ? most : most / looked_at, turn * looked_at + i);
        seen += members;
      }
      if (seen == count) return sum;
      scratch_.sampled = true;
      return static_cast<std::int64_t>(
          static_cast<double>(sum) * static_cast<double>(count) / static_cast<double>(seen) + 0.5);
    }
    looks_left_ -= (warps_ + starts_per_look - 1) / starts_per_look;
    return even_units(request, domain);
  }

  /// Of a domain along which the form moves evenly.
  std::int64_t even_units(Request& request, const IterationDomain& domain) const {
    Residues residues;
    for (int k = 0; k < domain.depth; ++k)
      if (domain.ranges[k].count > 1)
        residues.add(request.form.growth(domain.vars[k], domain.ranges[k].step), domain.ranges[k].count,
                     request.modulus());
    return units_at_start(request, domain, residues) * residues.times;
  }

  /// Over all warps and residues.
  std::int64_t units_at_start(Request& request, const IterationDomain& domain, const Residues& residues) const {
    const LaneAffine& form = request.form;
    const std::int64_t modulus = request.modulus();
    const LaneAffine::Start start = form.start(domain);
    std::int64_t sum = 0;
    for (int w = 0; w < warps_; ++w) {
      const std::uint32_t mask = domain.masks[w];
      if (mask == 0) continue;
      std::int64_t shift = 0;
      const bool even = form.is_even(start, w, shift);
      WarpPattern* pattern = even ? nullptr : form.pattern(start, w, shift);
      const LaneAffine::Lanes* lanes = even || pattern != nullptr ? nullptr : &form.lanes(start, w, shift);
      for (std::int64_t r = 0; r < (residues.single ? 1 : modulus); ++r) {
        const std::int64_t times = residues.single ? 1 : residues.counts[r];
        if (times == 0) continue;
        const std::int64_t residue = (shift + r) & (modulus - 1);
        sum += times * (even                 ? request.even_units(residue, mask)
                        : pattern != nullptr ? request.pattern_units(*pattern, residue, mask)
                                             : request.units(*lanes, residue, mask));
      }
    }
    return sum;
  }

  /// Remembers which blocks issue what in this scope.
  void record(std::size_t first, std::size_t count, std::int64_t issue) {
    for (std::size_t b = first; b < first + count; ++b) {
      const IterationDomain& domain = scratch_.domains[b];
      BlockSpan span;
      span.each = issue * domain.trips;
      for (int k = 0; k < domain.depth; ++k) {
        const Progression& range = domain.ranges[k];
        const ir::Var& var = kernel_.indices.vars[domain.vars[k]];
        if (var.kind != ir::VarKind::block) {
          span.each *= range.count;
          continue;
        }
        const std::int64_t step = range.step * var.divisor;
        span.low += range.low * var.divisor;
        if (range.count == 1) continue;
        int at = span.depth++;
        for (; at > 0 && span.ranges[at - 1].step < step; --at) span.ranges[at] = span.ranges[at - 1];
        span.ranges[at] = {0, step, range.count};
      }
      std::int64_t warps = 0;
      for (int w = 0; w < warps_; ++w) warps += domain.masks[w] != 0;
      span.each *= warps;
      if (span.each != 0) add_span(span);
    }
  }

  /// Many scopes are run by the same blocks; busiest_block() joins what is beyond the first few.
  void add_span(const BlockSpan& span) {
    constexpr std::size_t few = 16;
    for (std::size_t s = 0; s < std::min(few, scratch_.spans.size()); ++s)
      if (same_blocks(scratch_.spans[s], span)) {
        scratch_.spans[s].each += span.each;
        return;
      }
    scratch_.spans.push_back(span);
  }

  static bool same_blocks(const BlockSpan& a, const BlockSpan& b) {
    if (a.low != b.low || a.depth != b.depth) return false;
    for (int k = 0; k < a.depth; ++k)
      if (a.ranges[k].step != b.ranges[k].step || a.ranges[k].count != b.ranges[k].count) return false;
    return true;
  }

  const ir::Kernel& kernel_;
  Scratch::Body& scratch_;
  int warps_;
  Sampling sampling_ = samplings[0];
  std::int64_t looks_left_ = 0;
  std::vector<KnownGuard> known_guards_;
};

}  // namespace

void count_fast(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  const bool picks = std::any_of(kernel.indices.vars.begin(), kernel.indices.vars.end(),
                                 [](const ir::Var& var) { return var.kind == ir::VarKind::picked; });
  const std::optional<ir::Kernel> in_order = picks ? with_rows_in_order(kernel) : std::nullopt;
  FastWalk(in_order ? *in_order : kernel, scratch).run(work);
}

}  // namespace tailor::costmodel
