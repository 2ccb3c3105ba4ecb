// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One warp's way through code blocks, until it has to wait, its slice is over or its lanes are done. In: a warp and how
// many instructions it may run. Out: its slots, memory and the counts of the blocks it ran. Called by resident_set.cpp.
// Without divergence this is a loop over handlers and nothing else.
//
// How lanes part and meet again. A warp is a set of fragments: a mask of lanes and the code block they stand at. One of
// them is current; the others are in a list. A branch whose lanes disagree puts those that jump into the list and goes
// on with the rest. Before each block, while there is more than one fragment, the machine looks again who should run
// (next_fragment):
//
//   - candidates are fragments that neither wait for other warps nor are parked for other lanes of their own warp;
//   - among them the one at the block with the least priority number runs (decode/order.cpp), because it is behind the
//     others and can catch up with them;
//   - all fragments that stand at the same block as it join it.
//
// A fragment that waits for other lanes (parked) stands at the ending of its block, whose body has run. Those that come
// to the block later run the body themselves and join it at the ending (join_parked), so a lane runs nothing twice.
//
// So lanes meet at the first block that all their paths have in common, as with a reconvergence stack, but without one:
// no branch needs to be properly nested, and a fragment that waits at a barrier does not keep the others from running.
//
// Priority alone would starve some programs. Lanes that spin on a lock which other lanes of their warp hold may stand
// before the holders in the order, and would keep them from ever releasing it. So in programs that can wait for memory,
// a fragment that ran for long while others could have steps back until each of the others has had its turn
// (take_turns). That gives the forward progress that GPUs promise since Volta.
#include <algorithm>
#include <bit>

#include "profiler/simulator/machine/machine.h"

namespace tailor::simulator {

namespace {

/// Instructions that lanes may run while others of their warp are held back, in programs that can wait for memory.
constexpr std::int64_t turn = 4096;

}  // namespace

bool WarpState::can_run() const {
  const auto runs = [](const Fragment& one) { return one.mask != 0 && !one.parked && !one.waiting; };
  return live != 0 && (runs(now) || std::any_of(others.begin(), others.end(), runs));
}

void Machine::set_active(WarpState& warp, std::uint32_t mask) {
  warp.active = mask;
  warp.active_count = static_cast<std::uint32_t>(std::popcount(mask));
  warp.now.mask = mask;
  for (std::size_t lane = 0; lane < lanes_per_warp; ++lane)
    warp.lanes[lane] = (mask & lane_bits[lane]) != 0 ? all_lanes : 0;
}

/// Makes the fragment that should run next the current one; those at its block join it. false: every fragment waits.
bool Machine::next_fragment(WarpState& warp) {
  const auto& code = state.program.code;
  std::vector<Fragment>& others = warp.others;
  const auto runs = [](const Fragment& one) { return one.mask != 0 && !one.waiting && !one.parked; };
  const bool current_runs = runs(warp.now);
  if ((!current_runs || warp.now.yielded) &&
      std::none_of(others.begin(), others.end(), [&](const Fragment& one) { return runs(one) && !one.yielded; })) {
    warp.now.yielded = false;  // each had its turn
    for (Fragment& one : others) one.yielded = false;
  }
  std::size_t best = others.size();
  std::uint32_t least = current_runs && !warp.now.yielded ? code[warp.now.block].priority : 0xffffffffu;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (!runs(others[i]) || others[i].yielded || code[others[i].block].priority >= least) continue;
    least = code[others[i].block].priority;
    best = i;
  }
  if (best != others.size()) {
    if (warp.now.mask != 0) {
      std::swap(warp.now, others[best]);
    } else {
      warp.now = others[best];
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(best));
    }
  } else if (!current_runs) {
    return false;
  }
  std::uint32_t mask = warp.now.mask;
  for (std::size_t i = 0; i < others.size();) {
    if (others[i].block == warp.now.block && others[i].at_end == warp.now.at_end && !others[i].waiting) {
      mask |= others[i].mask;
      others[i] = others.back();
      others.pop_back();
    } else {
      ++i;
    }
  }
  if (mask != warp.active) set_active(warp, mask);
  warp.now.mask = mask;
  return true;
}

/// Lanes in `taken` go to `target`, the other active ones to `other`.
void Machine::split(WarpState& warp, std::uint32_t taken, std::uint32_t target, std::uint32_t other) {
  const std::uint32_t rest = warp.active & ~taken;
  if (rest == 0) {
    warp.now.block = target;
    return;
  }
  warp.now.block = other;
  if (taken == 0) return;
  ++memory_counters.divergent_branches;
  warp.others.push_back({taken, target});
  set_active(warp, rest);
}

/// Lanes that spin on a lock which other lanes of their warp hold stand before them in program order, and would keep
/// them from ever letting go. Who ran for long while others could have therefore steps back.
void Machine::take_turns(WarpState& warp, std::int64_t executed) {
  if (warp.others.empty() || warp.active != warp.stale_mask) {
    warp.stale_mask = warp.active;
    warp.stale = 0;
  } else if ((warp.stale += executed) > turn) {
    warp.now.yielded = true;
    warp.stale = 0;
  }
}

void Machine::exit_lanes(WarpState& warp) {
  if (warp.has_parked) report_passed_by(warp);
  warp.live &= ~warp.active;
  set_active(warp, 0);
  // Lanes that wait for these need not wait any more.
  for (Fragment& one : warp.others) one.parked = false;
  if (warp.live == 0) {
    --warp.home->live_warps;
    ++progress;
  }
  if (state.program.has_barriers) check_barriers(*warp.home);
}

/// Each lane goes where its own index says.
void Machine::scatter(WarpState& warp, const CodeBlock& block) {
  const DecodedProgram& program = state.program;
  const std::uint32_t* index = words(warp, block.predicate);
  const std::uint32_t count = program.targets[block.op];
  for (std::uint32_t left = warp.active & (warp.active - 1); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    warp.others.push_back({1u << lane, program.targets[block.op + 1 + std::min(index[lane], count - 1)]});
  }
  const int first = std::countr_zero(warp.active);
  warp.now.block = program.targets[block.op + 1 + std::min(index[first], count - 1)];
  set_active(warp, 1u << first);
}

/// What a block's ending does. false: the current fragment waits.
bool Machine::follow(WarpState& warp, const CodeBlock& block) {
  const DecodedProgram& program = state.program;
  switch (block.ending) {
    case Ending::next:
      warp.now.block = block.next;
      break;
    case Ending::jump:
      warp.now.block = block.target;
      break;
    case Ending::branch: {
      const std::uint32_t set = program.lanes->mask_of(words(warp, block.predicate));
      split(warp, (block.negated ? ~set : set) & warp.active, block.target, block.next);
      break;
    }
    case Ending::indirect:
      scatter(warp, block);
      break;
    case Ending::exit:
      exit_lanes(warp);
      break;
    case Ending::warp:
      return warp_operation(warp, block);
    case Ending::barrier:
      return block_barrier(warp, block);
    case Ending::cluster:
      return cluster_barrier(warp, block);
    case Ending::pause:
      if (const Micro& op = program.ops[block.op]; op.full != nullptr) op.full(warp, op);
      warp.now.block = block.next;
      break;
    case Ending::trap:
      report(FindingKind::trap, warp, block.site, std::countr_zero(warp.active), "the kernel trapped");
      exit_lanes(warp);
      break;
  }
  return true;
}

void Machine::run_warp(WarpState& warp, std::int64_t budget) {
  const DecodedProgram& program = state.program;
  const Micro* const micros = program.micros.data();
  const std::int64_t before = warp.executed;
  const std::int64_t slice = may_spin ? std::min(budget, turn) : budget;
  const std::int64_t until = std::min(before + slice, state.options.warp_instructions);
  bool goes_on = next_fragment(warp);
  while (goes_on) {
    const std::uint32_t at = warp.now.block;
    const CodeBlock& block = program.code[at];
    if (!warp.now.at_end) [[likely]] {
      const Micro* const end = micros + block.last;
      ++block_runs[at];
      block_lanes[at] += warp.active_count;
      if (warp.has_parked) [[unlikely]]
        note_passed_by(warp, at);
      if (warp.undefined != nullptr) [[unlikely]] {
        run_watching(warp, block);
      } else if (warp.active == all_lanes) {
        for (const Micro* micro = micros + block.first; micro != end; ++micro) micro->full(warp, *micro);
      } else {
        for (const Micro* micro = micros + block.first; micro != end; ++micro) micro->some(warp, *micro);
      }
      warp.executed += block.instructions;
    } else {
      warp.now.at_end = false;  // it waited for the ending: what comes before has run
    }
    if ((until_look -= block.instructions + 1) < 0) [[unlikely]]
      look_up();
    bool pause = block.ending == Ending::pause;
    goes_on = follow(warp, block);
    if (!warp.others.empty() || warp.active == 0 || !goes_on) goes_on = warp.live != 0 && next_fragment(warp);
    if (!goes_on && warp.live != 0) goes_on = unstick(warp);
    if (pause || warp.executed >= until || stopped) break;
  }
  clock += warp.executed - before;
  if (may_spin) take_turns(warp, warp.executed - before);
  if (warp.executed >= state.options.warp_instructions && warp.live != 0 && !stopped) {
    report(FindingKind::too_long, warp, program.code[warp.now.block].site, -1,
           "a warp ran " + std::to_string(warp.executed) + " instructions without an end");
    stopped = true;
    stop_reason = "a warp ran too long";
  }
}

}  // namespace tailor::simulator
