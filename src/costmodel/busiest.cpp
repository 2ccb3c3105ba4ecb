// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The busiest block. In: spans of blocks with what each of their blocks issues. Out: the most that one block issues
// over all spans that hold it. Called by fast counting when a kernel has been walked.
//
// A block that runs every guard with every warp, or that every span holds, is the busiest, and mostly there is one: the
// middle, or the beginning of a span. Otherwise block numbers are written with digits: the steps of all spans are the
// places, each a multiple of the next, and a span is an interval for each digit. From the first digit on, a digit's
// values fall into few classes that the same intervals hold; each class is followed, unless all its spans together
// issue no more than what was found. Where steps are no such places, each block's sum is made if there are few, else
// the spans' first blocks stand for all.
//
// Which warps run a scope is found when the loop is counted, whose blocks are one warp each. A domain's blocks are all
// sums of one value of each of its ranges over block variables. Taken by falling step, a range that goes on where the
// one inside it ends makes one with it, so that as a rule few long runs are left. Where all of a scope's
// domains begin again after as many blocks, as rows of a tensor do, only the runs of one such period are summed up.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

constexpr std::int64_t most_span_looks = 200'000;  ///< at a span
constexpr std::int64_t most_summed = 200'000;      ///< blocks, each as often as a span holds it

bool holds(const BlockSpan& span, std::int64_t block) {
  std::int64_t rest = block - span.low;
  if (rest < 0) return false;
  for (int k = 0; k < span.depth; ++k) {
    const Progression& range = span.ranges[k];
    rest -= std::min(rest / range.step, range.count - 1) * range.step;
  }
  return rest == 0;
}

/// The most of all sums, made block by block; nothing where that would be too much work.
std::optional<std::int64_t> sum_over_blocks(Scratch::Body& scratch, std::int64_t blocks) {
  std::int64_t held = blocks;
  for (const BlockSpan& span : scratch.spans) {
    std::int64_t points = 1;
    for (int k = 0; k < span.depth; ++k) points *= span.ranges[k].count;
    held += points;
    if (held > most_summed) return std::nullopt;
  }
  std::vector<std::int64_t>& sums = scratch.numbers;
  sums.assign(static_cast<std::size_t>(blocks) + 1, 0);
  const auto is_run = [](const BlockSpan& span) { return span.depth == 1 && span.ranges[0].step == 1; };
  for (const BlockSpan& span : scratch.spans) {
    if (!is_run(span)) continue;
    sums[static_cast<std::size_t>(span.low)] += span.each;
    sums[static_cast<std::size_t>(span.low + span.ranges[0].count)] -= span.each;
  }
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  for (const BlockSpan& span : scratch.spans) {
    if (is_run(span)) continue;
    std::array<std::int64_t, IterationDomain::most> at{};
    for (std::int64_t block = span.low;;) {
      sums[static_cast<std::size_t>(block)] += span.each;
      int k = span.depth - 1;
      for (; k >= 0 && at[k] + 1 == span.ranges[k].count; --k) {
        block -= span.ranges[k].step * at[k];
        at[k] = 0;
      }
      if (k < 0) break;
      ++at[k];
      block += span.ranges[k].step;
    }
  }
  return *std::max_element(sums.begin(), sums.end());
}

/// The search over digits.
class Digits {
 public:
  /// `usable` is false afterwards when the steps are no places.
  explicit Digits(const std::vector<BlockSpan>& spans) {
    for (const BlockSpan& span : spans)
      for (int k = 0; k < span.depth; ++k) places_.push_back(span.ranges[k].step);
    places_.push_back(1);
    std::sort(places_.begin(), places_.end(), std::greater<>());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    usable = places_.size() <= most;
    for (std::size_t p = 1; p < places_.size(); ++p) usable &= places_[p - 1] % places_[p] == 0;
    for (std::size_t s = 0; s < spans.size() && usable; ++s) usable = add(spans[s]);
  }

  bool usable = true;

  /// Nothing when it takes too long.
  std::optional<std::int64_t> most_issued() {
    std::vector<int> all(boxes_.size());
    std::iota(all.begin(), all.end(), 0);
    search(0, all);
    return left_ > 0 ? std::optional(found_) : std::nullopt;
  }

 private:
  static constexpr std::size_t most = 8;
  struct Interval {
    std::int64_t from = 0, to = 0;  ///< inclusive
  };
  struct Box {
    std::int64_t each = 0;
    std::array<Interval, most> digits;
  };

  /// Values of a digit; the first place has as many as there are.
  std::int64_t radix(std::size_t place) const {
    return place == 0 ? std::int64_t{1} << 62 : places_[place - 1] / places_[place];
  }

  bool add(const BlockSpan& span) {
    Box box;
    box.each = span.each;
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const std::int64_t digit = span.low / places_[p] % radix(p);
      box.digits[p] = {digit, digit};
    }
    int carries = 0;
    std::size_t carrying = 0;
    for (int k = 0; k < span.depth; ++k) {
      const auto place =
          static_cast<std::size_t>(std::find(places_.begin(), places_.end(), span.ranges[k].step) - places_.begin());
      Interval& interval = box.digits[place];
      if (interval.to > interval.from) return false;
      interval.to += span.ranges[k].count - 1;
      if (interval.to < radix(place)) continue;
      ++carries;
      carrying = place;
    }
    if (carries == 0) {
      boxes_.push_back(box);
      return true;
    }
    return carries == 1 && carry(box, carrying);
  }

  /// Cuts a box whose digit at `place` runs beyond its radix into one up to the radix, one of whole turns and the rest.
  bool carry(Box box, std::size_t place) {
    Interval& digit = box.digits[place];
    Interval& next = box.digits[place - 1];
    if (next.to > next.from) return false;
    const std::int64_t end = digit.to, turn = radix(place), turns = (end + 1) / turn, rest = (end + 1) % turn;
    const std::int64_t first = next.from;
    const bool begins_inside = digit.from > 0;
    if (begins_inside) {
      digit.to = turn - 1;
      boxes_.push_back(box);
    }
    const std::int64_t whole = turns - (begins_inside ? 1 : 0);
    if (rest > 0) {
      Box last = box;
      last.digits[place] = {0, rest - 1};
      last.digits[place - 1] = {first + turns, first + turns};
      if (!place_or_carry(last, place - 1)) return false;
    }
    if (whole == 0) return true;
    digit = {0, turn - 1};
    next = {first + turns - whole, first + turns - 1};
    return place_or_carry(box, place - 1);
  }

  bool place_or_carry(const Box& box, std::size_t place) {
    const Interval& digit = box.digits[place];
    if (digit.to < radix(place)) {
      boxes_.push_back(box);
      return true;
    }
    if (digit.from < radix(place)) return carry(box, place);
    Box moved = box;  // all of it lies beyond: one more of the next place
    moved.digits[place] = {digit.from - radix(place), digit.to - radix(place)};
    Interval& next = moved.digits[place - 1];
    if (next.to > next.from) return false;
    next = {next.from + 1, next.to + 1};
    return place_or_carry(moved, place - 1);
  }

  void search(std::size_t place, const std::vector<int>& held) {
    std::int64_t sum = 0;
    for (const int b : held) sum += boxes_[static_cast<std::size_t>(b)].each;
    left_ -= static_cast<std::int64_t>(held.size()) + 1;
    if (sum <= found_ || left_ <= 0) return;
    if (place == places_.size()) {
      found_ = sum;
      return;
    }
    std::vector<std::int64_t> starts;  // a class begins where an interval does; what ends one only takes away
    for (const int b : held) starts.push_back(boxes_[static_cast<std::size_t>(b)].digits[place].from);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    for (const std::int64_t start : starts) {
      std::vector<int> inside;
      for (const int b : held) {
        const Interval& digit = boxes_[static_cast<std::size_t>(b)].digits[place];
        if (digit.from <= start && start <= digit.to) inside.push_back(b);
      }
      left_ -= static_cast<std::int64_t>(held.size());
      search(place + 1, inside);
    }
  }

  std::vector<std::int64_t> places_;
  std::vector<Box> boxes_;
  std::int64_t found_ = 0, left_ = most_span_looks;
};

/// Joins spans of the same blocks.
void merge_spans(std::vector<BlockSpan>& spans) {
  const auto key_less = [](const BlockSpan& a, const BlockSpan& b) {
    if (a.low != b.low) return a.low < b.low;
    if (a.depth != b.depth) return a.depth < b.depth;
    for (int k = 0; k < a.depth; ++k) {
      if (a.ranges[k].step != b.ranges[k].step) return a.ranges[k].step < b.ranges[k].step;
      if (a.ranges[k].count != b.ranges[k].count) return a.ranges[k].count < b.ranges[k].count;
    }
    return false;
  };
  std::sort(spans.begin(), spans.end(), key_less);
  std::size_t kept = 0;
  for (const BlockSpan& span : spans) {
    if (kept > 0 && !key_less(spans[kept - 1], span))
      spans[kept - 1].each += span.each;
    else
      spans[kept++] = span;
  }
  spans.resize(kept);
}

}  // namespace

std::int64_t busiest_block(Scratch::Body& scratch, std::int64_t blocks, bool& proven) {
  std::vector<BlockSpan>& spans = scratch.spans;
  proven = true;
  std::int64_t most = 0, all_spans = 0;
  for (const BlockSpan& span : spans) all_spans += span.each;
  const std::int64_t bound = std::min(scratch.every_guard, all_spans);
  const auto look_at = [&](std::int64_t block) {
    std::int64_t sum = 0;
    for (const BlockSpan& span : spans) sum += holds(span, block) ? span.each : 0;
    most = std::max(most, sum);
    return most == bound;
  };
  if (look_at(blocks / 2) || look_at(0)) return most;
  constexpr std::size_t few_spans = 64;
  if (blocks <= static_cast<std::int64_t>(std::min(spans.size(), few_spans) * spans.size()))  // no longer than a few
    if (const auto sum = sum_over_blocks(scratch, blocks)) return *sum;
  merge_spans(spans);
  const std::size_t few = std::min(spans.size(), few_spans);
  for (std::size_t i = 0; i < few; ++i)
    if (look_at(spans[i * spans.size() / few].low)) return most;
  if (const auto sum = sum_over_blocks(scratch, blocks)) return *sum;
  if (Digits digits(spans); digits.usable)
    if (const auto found = digits.most_issued()) return *found;
  proven = false;
  return most;
}

namespace {

/// Behind all others; nothing if the number stays as it was.
void add_step(std::vector<WarpStep>& steps, std::int64_t at, std::int64_t times) {
  WarpStep step{at, times, 0};
  if (!steps.empty()) {
    const WarpStep& last = steps.back();
    if (last.times == times) return;
    step.before = last.before + last.times * (at - last.from);
  }
  steps.push_back(step);
}

}  // namespace

std::vector<WarpStep> steps_of(std::span<const std::uint16_t> times) {
  std::vector<WarpStep> steps;
  for (std::size_t w = 0; w < times.size(); ++w)
    if (w == 0 || times[w] != times[w - 1]) add_step(steps, static_cast<std::int64_t>(w), times[w]);
  return steps;
}

std::vector<WarpStep> steps_of(WarpChanges& changes) {
  std::sort(changes.begin(), changes.end());
  std::vector<WarpStep> steps;
  if (changes.empty() || changes.front().first > 0) steps.push_back({});
  std::int64_t sum = 0;
  for (auto change = changes.begin(); change != changes.end();) {
    const std::int64_t at = change->first;
    for (; change != changes.end() && change->first == at; ++change) sum += change->second;
    add_step(steps, at, sum);
  }
  return steps;
}

std::int64_t runs_before(const std::vector<WarpStep>& steps, std::int64_t warps) {
  const auto beyond = [](std::int64_t at, const WarpStep& one) { return at < one.from; };
  const WarpStep& step = *std::prev(std::upper_bound(steps.begin(), steps.end(), warps, beyond));
  return step.before + step.times * (warps - step.from);
}

std::int64_t runs_before(const WarpSteps& steps, std::int64_t warps) {
  if (steps.period == 0) return runs_before(steps.steps, warps);
  return warps / steps.period * runs_before(steps.steps, steps.period) + runs_before(steps.steps, warps % steps.period);
}

namespace {

/// Fills the last of the seen scopes.
class Seeing {
 public:
  Seeing(const ir::Kernel& kernel, Scratch::Body& scratch)
      : kernel_(kernel), scratch_(scratch), seen_(scratch.seen_scopes.back()) {}

  void look_at(std::span<const IterationDomain> domains) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = -1;
    for (const IterationDomain& domain : domains) {
      if (domain.masks[0] == 0) continue;
      BlockRun run{block_ranges(domain), 1};
      for (int k = 0; k < domain.depth; ++k)
        if (!is_block(domain, k)) run.times *= domain.ranges[k].count;
      low = std::min(low, run.blocks.low);
      high = std::max(high, run.blocks.low + reach(run.blocks, 0));
      scratch_.block_runs.push_back(run);
    }
    if (high < 0) return;
    for (BlockRun& run : scratch_.block_runs) run.blocks.low -= low;
    seen_.from = low;
    seen_.warps = high - low + 1;
    const std::int64_t period = take_out_period();
    std::int64_t runs = 0;
    for (const BlockRun& run : scratch_.block_runs) runs += runs_of(run.blocks);
    const std::int64_t places = period > 0 ? period : seen_.warps;
    seen_.steps.period = period;
    seen_.steps.steps = runs > places / places_a_run ? sum_by_place(places) : sum_by_change(places);
  }

  /// Where the domain begins, and where it ends.
  void add_places(const IterationDomain& domain) {
    for (const bool last : {false, true}) {
      std::vector<std::int64_t> place(kernel_.indices.vars.size(), 0);
      for (int k = 0; k < domain.depth; ++k) {
        const Progression& range = domain.ranges[k];
        place[domain.vars[k]] += range.low + (last ? range.step * (range.count - 1) : 0);
      }
      const int lane = last ? warp_lanes - 1 - std::countl_zero(domain.masks[0]) : std::countr_zero(domain.masks[0]);
      for (std::size_t v = 0; v < place.size(); ++v)
        if (kernel_.indices.vars[v].kind == ir::VarKind::thread)
          place[v] = thread_value(kernel_.indices.vars[v], 0, lane);
      seen_.places.insert(seen_.places.end(), place.begin(), place.end());
    }
  }

 private:
  /// With fewer places to a run of them, going through all is faster than sorting where runs begin.
  static constexpr std::int64_t places_a_run = 16;

  /// From the first to the last block of the ranges from `k` on.
  static std::int64_t reach(const BlockRanges& blocks, int k) {
    std::int64_t sum = 0;
    for (; k < blocks.depth; ++k) sum += blocks.ranges[k].step * (blocks.ranges[k].count - 1);
    return sum;
  }

  /// How often add_blocks() adds a run.
  static std::int64_t runs_of(const BlockRanges& blocks) {
    std::int64_t runs = 1;
    for (int k = 0; k < blocks.depth; ++k)
      if (k + 1 < blocks.depth || blocks.ranges[k].step != 1) runs *= blocks.ranges[k].count;
    return runs;
  }

  /// Blocks of all runs that begin again after so many, as often for each: their first period is left of them. 0: they
  /// do not, and stay as they are.
  std::int64_t take_out_period() {
    Progression outer{0, 1, 1};
    for (const BlockRun& run : scratch_.block_runs)
      if (run.blocks.depth > 0 && run.blocks.ranges[0].step > outer.step) outer = run.blocks.ranges[0];
    if (outer.step == 1) return 0;
    for (const BlockRun& run : scratch_.block_runs) {
      if (run.blocks.depth == 0) return 0;
      const Progression& first = run.blocks.ranges[0];
      const bool is_outer = first.step == outer.step && first.count == outer.count;
      if (!is_outer && (first.step == outer.step || outer.step % first.step != 0 ||
                        first.step * first.count != outer.step * outer.count))
        return 0;
      const std::int64_t along = is_outer ? 0 : outer.step - first.step;
      if (run.blocks.low + along + reach(run.blocks, 1) >= outer.step) return 0;
    }
    for (BlockRun& run : scratch_.block_runs) {
      Progression& first = run.blocks.ranges[0];
      first.count = first.step == outer.step ? 1 : outer.step / first.step;
    }
    return outer.step;
  }

  std::vector<WarpStep> sum_by_place(std::int64_t places) {
    scratch_.run_times.assign(static_cast<std::size_t>(places + 1), 0);  // and where the last run ends
    const auto add = [&](std::int64_t place, std::int64_t times) {
      std::uint16_t& change = scratch_.run_times[static_cast<std::size_t>(place)];
      change = static_cast<std::uint16_t>(change + times);
    };
    for (const BlockRun& run : scratch_.block_runs) add_blocks(run, 0, run.blocks.low, add);
    std::uint16_t sum = 0;
    for (std::uint16_t& times : scratch_.run_times) times = sum = static_cast<std::uint16_t>(sum + times);
    return steps_of(std::span(scratch_.run_times).first(static_cast<std::size_t>(places)));
  }

  std::vector<WarpStep> sum_by_change(std::int64_t places) {
    auto& changes = scratch_.run_changes;
    changes.clear();
    const auto add = [&](std::int64_t place, std::int64_t times) { changes.emplace_back(place, times); };
    for (const BlockRun& run : scratch_.block_runs) add_blocks(run, 0, run.blocks.low, add);
    std::vector<WarpStep> steps = steps_of(changes);
    if (steps.back().from >= places) steps.pop_back();  // where the last run ends
    return steps;
  }

  bool is_block(const IterationDomain& domain, int k) const {
    return kernel_.indices.vars[domain.vars[k]].kind == ir::VarKind::block;
  }

  BlockRanges block_ranges(const IterationDomain& domain) const {
    BlockRanges blocks;
    for (int k = 0; k < domain.depth; ++k) {
      if (!is_block(domain, k)) continue;
      const Progression& range = domain.ranges[k];
      blocks.low += range.low;
      if (range.count == 1) continue;
      int at = blocks.depth++;
      for (; at > 0 && blocks.ranges[at - 1].step < range.step; --at) blocks.ranges[at] = blocks.ranges[at - 1];
      blocks.ranges[at] = {0, range.step, range.count};
    }
    for (int k = blocks.depth - 1; k > 0; --k) {
      Progression &outer = blocks.ranges[k - 1], &inner = blocks.ranges[k];
      if (outer.step != inner.step * inner.count) continue;
      outer = {0, inner.step, inner.count * outer.count};
      std::copy(blocks.ranges.begin() + k + 1, blocks.ranges.begin() + blocks.depth, blocks.ranges.begin() + k);
      --blocks.depth;
    }
    return blocks;
  }

  /// Where a run of blocks begins and ends, for each of them.
  template <class Add>
  static void add_blocks(const BlockRun& run, int k, std::int64_t block, const Add& add) {
    const auto add_run = [&](std::int64_t count) {
      add(block, run.times);
      add(block + count, -run.times);
    };
    if (k == run.blocks.depth) return add_run(1);
    const Progression& range = run.blocks.ranges[k];
    if (k + 1 == run.blocks.depth && range.step == 1) return add_run(range.count);
    for (std::int64_t i = 0; i < range.count; ++i) add_blocks(run, k + 1, block + i * range.step, add);
  }

  const ir::Kernel& kernel_;
  Scratch::Body& scratch_;
  SeenScope& seen_;
};

}  // namespace

void see_scope(const ir::Kernel& kernel, std::span<const IterationDomain> domains, Scratch::Body& scratch) {
  scratch.block_runs.clear();
  Seeing seeing(kernel, scratch);
  seeing.look_at(domains);
  for (std::size_t b = 0; b < domains.size(); ++b)
    if (domains[b].masks[0] != 0 && (b == 0 || b + 1 == domains.size())) seeing.add_places(domains[b]);
}

}  // namespace tailor::costmodel
