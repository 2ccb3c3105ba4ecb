// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp's way through machine code. In: prepared code and a place. Out: how often each block runs. Called by
// machine_work.cpp.
//
// With each place goes what it may depend on: on the block, on the warp of the block. Where no decision of a warp does,
// all blocks, or all warps, go the same way, and one stands for all.
//
// Lanes of a warp part at a branch whose condition differs and meet again as the machine does it since Volta: BSSY
// notes in a barrier register which lanes are to meet, BSYNC waits for all of them. A part of the warp is a block and a
// mask; one part runs until it waits or ends, then the next one. Counts do not depend on that order.
//
// Trips. Lanes that come back to the head of a loop all together, with nobody waiting elsewhere, made a trip. From the
// second on, of short loops from the fourth on, it is looked at how a trip depends on which one it is (trip.h); those
// that go the same way are left out but the last, which is executed, so that registers hold what it leaves there. One
// loop is looked at at a time; loops inside of it are then followed trip by trip.
//
// A branch on what memory holds: a loop is left, a call is not made (compilers call the exact division and the like for
// rare operands), and over other code the caller says what is assumed.
#include "profiler/compile/warp_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace tailor::profiler {

namespace {

/// What a value may depend on, besides the lane.
constexpr std::uint8_t of_block = 1, of_warp = 2;

/// Whether an instruction brings in what differs between blocks, or between warps of a block.
std::uint8_t source_of(const Instruction& one) {
  if (one.base() != bases::s2r && one.base() != bases::s2ur) return 0;
  const unsigned which = one.bits(72, 8);
  return which >= 0x25 && which < 0x28 ? of_block : which >= 0x21 && which < 0x24 ? of_warp : 0;
}

constexpr int no_block = -1;
constexpr int most_in_vain = 4;  ///< times that a loop is looked at before it is left alone

/// Blocks to come back to. Few are open at once, and they are copied with every step to another block.
struct Calls {
  static constexpr std::size_t most = 9;
  std::array<int, most> blocks{};
  std::size_t open = 0;

  bool operator==(const Calls& other) const {
    return open == other.open && std::equal(blocks.begin(), blocks.begin() + open, other.blocks.begin());
  }
};

/// Lanes that are at the same place.
struct Part {
  int block = 0;
  std::uint32_t mask = 0;
  Calls calls;
  std::uint64_t number = 0;  ///< no two have the same
};

/// A barrier register: lanes that are to meet.
struct Meeting {
  std::uint32_t expected = 0, waiting = 0;
  int block = 0;  ///< where they go on
  Calls calls;
  bool operator==(const Meeting&) const = default;
};

/// How a part came to the head of a loop the last time.
struct Arrival {
  std::uint32_t mask = 0;
  std::size_t open = 0;       ///< parts that wait for their turn
  std::uint64_t beneath = 0;  ///< the number of the last of them
  Calls calls;
  int trips = 0;  ///< one behind the other in which all lanes came back and no other part had its turn
  bool operator==(const Arrival& other) const {
    return mask == other.mask && open == other.open && beneath == other.beneath && calls == other.calls;
  }
};

/// All that a warp knows at the head of a loop, and what it had counted there.
struct Head {
  AtHead places;
  std::array<Meeting, 16> meetings;
  std::array<std::uint8_t, place_count> depends;
  std::vector<PlaceForm> forms;  ///< where others are asked about
  IndexedVector<std::int64_t> runs;
  ir::MachineRequests requests;
};

struct Runner {
  const ControlCode& code;
  WarpScratch& scratch;
  Following how;
  WarpState& state = scratch.state;
  WarpCounts counts{};
  std::vector<Part> parts{};
  std::array<Meeting, 16> meetings{};
  std::array<std::uint8_t, place_count> depends{};
  int block_now = 0;
  std::uint64_t part_numbers = 0;
  IndexedVector<Arrival> arrivals{};  ///< of each loop
  int watched = no_loop;              ///< the loop that is looked at
  bool in_trip = false;               ///< from its head on with the slopes of its registers
  Head head{};                        ///< of the watched loop
  Trip* trip = nullptr;

  std::uint8_t on_what(const Places& places) const {
    std::uint8_t all = 0;
    for (const unsigned place : places) all |= depends[place];
    return all;
  }
  /// Where it is asked how far a way holds, forms say more than what places depend on.
  void decide(const Places& places) {
    if (how.asked) return;
    const std::uint8_t on = on_what(places);
    counts.by_block = counts.by_block || (on & of_block) != 0;
    counts.by_warp = counts.by_warp || (on & of_warp) != 0;
  }

  const CodeBlock& block(int number) const { return code.flow->blocks[number]; }

  void assume(int at) {
    if (counts.assumed.empty() || counts.assumed.back() != at) counts.assumed.push_back(at);
  }

  void refuse(std::string why) {
    if (counts.refused.empty()) counts.refused = std::move(why);
  }

  void go(const Part& from, int to, std::uint32_t mask) {
    if (mask == 0) return;
    if (to == no_block) return refuse("a branch leaves the code of the kernel");
    parts.push_back({to, mask, from.calls, ++part_numbers});
  }

  /// Lanes that all have arrived go on together.
  void meet(Meeting& meeting) {
    if (meeting.waiting == 0 || (meeting.waiting & meeting.expected) != meeting.expected) return;
    const std::uint32_t waiting = std::exchange(meeting.waiting, 0);
    meeting.expected = 0;
    const Part met{meeting.block, waiting, meeting.calls, 0};
    go(met, met.block, waiting);
  }

  void leave(std::uint32_t lanes) {
    for (Meeting& meeting : meetings) {
      meeting.expected &= ~lanes;
      meet(meeting);
    }
  }

  void note_dependence(const ControlCode::Step& step, std::uint32_t mask) {
    const bool guarded = step.conditions.count != 0;
    if (guarded) decide(step.conditions);
    const std::uint8_t on_which = on_what(step.reads) | source_of(step.instruction);
    for (const unsigned place : step.writes)
      depends[place] = static_cast<std::uint8_t>(on_which | (mask == all_lanes && !guarded ? 0 : depends[place]));
  }

  void step(const ControlCode::Step& step, std::uint32_t mask) {
    const Instruction& one = step.instruction;
    const TripStep seen{one, step.reads, step.writes, step.computed, step.counter != nullptr || step.meets};
    if (how.asked) scratch.reaching.step(state, seen, step.conditions, mask, in_trip ? trip : nullptr);
    if (in_trip) trip->step(state, seen, mask);
    const LaneBits guard = step.always ? LaneBits{all_lanes, all_lanes} : guard_of(state, one);
    const std::uint32_t on = mask & guard.known & guard.value, perhaps = mask & ~guard.known;
    if (step.counter != nullptr) {
      if (on == 0 && perhaps != 0) assume(block_now);
      if (on != 0 || (perhaps != 0 && how.unknown == Unknown::enter)) ++(counts.requests.*step.counter);
    }
    if (step.meets && one.base() == bases::bssy) {
      meetings[one.bits(16, 4)] = {on | perhaps, 0, 0, {}};
      return;
    }
    if (step.meets) {
      meetings[one.bits(16, 4)].expected &= ~on;
      return;
    }
    if (!how.asked) note_dependence(step, mask);
    if (!step.computed) return forget(state, step.writes, on | perhaps);
    if (on != 0) execute(state, one, on);
    // Where it is not known whether it happens, neither is what it leaves.
    if (perhaps != 0) forget(state, step.writes, perhaps);
  }

  /// The way of lanes whose condition is not known.
  void guess(const Part& part, const CodeBlock& at, std::uint32_t lanes) {
    if (lanes == 0) return;
    assume(part.block);
    const int loop = code.loop[part.block];
    const auto inside = [&](int to) { return loop == no_loop || is_in(loop, to); };
    const auto calls = [&](int to) { return to >= 0 && block(to).how == BlockEnd::call; };
    const bool target_stays = inside(at.target), next_stays = inside(at.next);
    if (target_stays != next_stays) return go(part, target_stays ? at.next : at.target, lanes);
    if (calls(at.next) != calls(at.target)) return go(part, calls(at.next) ? at.target : at.next, lanes);
    if (how.unknown == Unknown::skip) return go(part, std::max(at.target, at.next), lanes);
    // Every second lane, so that both ways are run.
    const std::uint32_t half = std::popcount(lanes) < 2 ? lanes : lanes & 0x55555555u;
    go(part, at.next, half == 0 ? lanes : half);
    go(part, at.target, half == 0 ? 0 : lanes & ~half);
  }

  /// Where all of an instruction's conditions hold: guard, condition in 87 to 90, or uniform one in 24 to 27.
  LaneBits condition(const Instruction& one) const {
    LaneBits guard = guard_of(state, one);
    const LaneBits own =
        is_uniform_branch(one) ? predicate_at(state, one, 24, 27, true) : predicate_at(state, one, 87, 90, false);
    const std::uint32_t fails = (guard.known & ~guard.value) | (own.known & ~own.value);
    return {guard.value & own.value & ~fails, (guard.known & own.known) | fails};
  }

  /// The one way on that all lanes of a part go, which most of them have; false where there are more or none.
  bool goes_on(Part& part, int to) {
    if (to == no_block) return false;
    part.block = to;
    return true;
  }

  /// What lanes do behind a block. True where the part goes on as a whole, at the block that it then names.
  bool end(Part& part) {
    const CodeBlock& at = block(part.block);
    if (at.how == BlockEnd::falls) return goes_on(part, at.next) || leaves_code();
    const Instruction& one = code.last[part.block];
    const Places& conditions = code.conditions[part.block];
    const LaneBits holds = conditions.count == 0 ? LaneBits{all_lanes, all_lanes} : condition(one);
    decide(conditions);
    if (in_trip) trip->decide(conditions, part.mask);
    if (how.asked) scratch.reaching.decide(conditions, part.mask);
    const std::uint32_t on = part.mask & holds.known & holds.value, off = part.mask & holds.known & ~holds.value;
    const std::uint32_t perhaps = part.mask & ~holds.known;
    switch (at.how) {
      case BlockEnd::falls:
        break;
      case BlockEnd::branch: {
        const bool stays = is_division_branch(one) || off == part.mask;
        if (stays || on == part.mask) return goes_on(part, stays ? at.next : at.target) || leaves_code();
        go(part, at.next, off);
        go(part, at.target, on);
        guess(part, at, perhaps);
        break;
      }
      case BlockEnd::exit: {
        if (perhaps != 0) assume(part.block);
        const bool leaves = how.unknown == Unknown::skip;
        go(part, at.next, off | (leaves ? 0 : perhaps));
        leave(on | (leaves ? perhaps : 0));
        break;
      }
      case BlockEnd::sync: {
        Meeting& meeting = meetings[one.bits(16, 4)];
        if (meeting.expected == 0) return goes_on(part, at.next) || leaves_code();
        meeting.waiting |= part.mask;
        meeting.block = at.next;
        meeting.calls = part.calls;
        meet(meeting);
        break;
      }
      case BlockEnd::call:
        call(part, at, on, off | perhaps);
        break;
      case BlockEnd::returns:
        if (part.calls.open == 0) {
          refuse("a return without a call");
          break;
        }
        return goes_on(part, part.calls.blocks[--part.calls.open]) || leaves_code();
      case BlockEnd::jump:
        refuse("a branch goes where a register says");
        break;
    }
    return false;
  }

  bool leaves_code() {
    refuse("a branch leaves the code of the kernel");
    return false;
  }

  void call(Part part, const CodeBlock& at, std::uint32_t on, std::uint32_t off) {
    go(part, at.next, off);
    if (on == 0) return;
    if (at.target == no_block) return refuse("a function that is called is not in the code of the kernel");
    if (part.calls.open == Calls::most) return refuse("functions call each other more than 8 deep");
    part.calls.blocks[part.calls.open++] = at.next;
    go(part, at.target, on);
  }

  bool is_in(int loop, int block) const {
    const std::vector<int>& blocks = code.flow->loops[static_cast<std::size_t>(loop)].blocks;
    return std::binary_search(blocks.begin(), blocks.end(), block);
  }

  std::vector<PlaceForm> forms_of(int loop) const {
    return how.asked ? scratch.reaching.at_head(code.loop_places[loop]) : std::vector<PlaceForm>{};
  }
  Head head_of(int loop) const {
    return {at_head(state, code.loop_places[loop]), meetings, depends, forms_of(loop), counts.runs, counts.requests};
  }

  /// After a trip: the ones that go the same way are counted and left out.
  void skip(int loop, Head now) {
    const Trip::End end = trip->end(state);
    const bool stays = !how.asked || scratch.reaching.stays(code.loop_places[loop], head.forms);
    const bool same_around = now.meetings == head.meetings && now.depends == head.depends && stays;
    now.forms = forms_of(loop);
    if (end == Trip::End::lost || trip->is_endless()) return in_vain(loop, most_in_vain);
    if (end == Trip::End::other || !same_around) {
      trip->again(now.places);
      head = std::move(now);
      return in_vain(loop, 1);
    }
    // The last one is executed, and this one was.
    const std::int64_t left_out = trip->trips() - 2;
    constexpr std::int64_t worth_it = 2;
    if (left_out < worth_it) in_vain(loop, 1);
    if (left_out > 0) {
      trip->advance(state, left_out);
      for (int i = 0; i < std::ssize(counts.runs); ++i) counts.runs[i] += (now.runs[i] - head.runs[i]) * left_out;
      for (const ir::RequestKind& kind : ir::request_kinds())
        counts.requests.*kind.count += (now.requests.*kind.count - head.requests.*kind.count) * left_out;
    }
    leave_loop();
    arrivals[loop].trips = 0;
  }

  bool is_left_alone(int loop) const { return scratch.in_vain[static_cast<std::size_t>(loop)] >= most_in_vain; }
  void in_vain(int loop, int times) {
    scratch.in_vain[static_cast<std::size_t>(loop)] += times;
    if (is_left_alone(loop)) leave_loop();
  }

  void leave_loop() {
    watched = no_loop;
    in_trip = false;
  }

  /// At the head of a loop.
  void arrive(const Part& part, int loop) {
    Arrival now{part.mask, parts.size(), parts.empty() ? 0 : parts.back().number, part.calls, 0};
    Arrival& before = arrivals[loop];
    const bool whole = now == before;
    now.trips = whole ? before.trips + 1 : 0;
    before = std::move(now);
    // A way around through an outer loop is no trip of an inner one.
    for (const int inner : code.inner_loops[loop]) arrivals[inner].trips = 0;
    // To look at a trip costs about as much as to follow two. Trips with loops in them are long, so none is waited for.
    constexpr int short_trips = 2, long_inside = 64;
    const int first = code.inner_loops[loop].empty() ? short_trips : 0;
    // Better many short ways around the outer loop than one long one.
    if (watched != no_loop && watched != loop && before.trips >= long_inside) in_vain(watched, most_in_vain);
    if (watched == loop && !whole) leave_loop();
    if (watched == loop && in_trip) return skip(loop, head_of(loop));
    if (watched == loop) {
      if (scratch.trip == nullptr) scratch.trip = std::make_unique_for_overwrite<Trip>();
      trip = scratch.trip.get();
      Head here = head_of(loop);
      trip->begin(head.places, here.places, code.loop_places[loop], part.mask);
      head = std::move(here);
      in_trip = true;
    } else if (watched == no_loop && before.trips >= first) {
      watched = loop;
      head = head_of(loop);
    }
  }

  /// Before a block is executed.
  void look(const Part& part) {
    if (how.every_trip) return;
    if (watched != no_loop && (parts.size() < arrivals[watched].open || !is_in(watched, part.block))) {
      arrivals[watched].trips = 0;
      in_vain(watched, 1);
      leave_loop();
    }
    if (const int loop = code.headed[part.block]; loop != no_loop && !is_left_alone(loop)) arrive(part, loop);
  }

  /// The blocks of a part until it ends, waits or divides.
  void follow(Part part) {
    do {
      if (++counts.followed > how.most_runs) return refuse("a loop runs too often to be followed");
      look(part);
      ++counts.runs[part.block];
      block_now = part.block;
      if (code.requests[part.block] != 0) counts.requests += code.always[part.block];
      for (int i = code.first_step[part.block]; i < code.first_step[part.block + 1]; ++i)
        step(code.steps[static_cast<std::size_t>(i)], part.mask);
      if (how.only_to_period && scratch.reaching.reach().period > 0) return;
    } while (end(part));
  }

  void run(std::uint32_t lanes) {
    parts.push_back({0, lanes, {}, 0});
    arrivals.resize(code.flow->loops.size());
    while (counts.refused.empty()) {
      if (parts.empty()) {
        // Lanes that wait for others that never come: the machine would wait for ever, and so the count is off.
        for (Meeting& meeting : meetings) {
          meeting.expected &= meeting.waiting;
          meet(meeting);
        }
        if (parts.empty()) return;
      }
      const Part part = parts.back();
      parts.pop_back();
      follow(part);
      if (how.only_to_period && scratch.reaching.reach().period > 0) return;
    }
  }
};

}  // namespace

WarpCounts run_warp(const ControlCode& code, const WarpPlace& place, const Following& how, WarpScratch& scratch) {
  scratch.state.start(place, code.flow->arch);
  if (how.asked) scratch.reaching.begin(place, *how.asked);
  scratch.in_vain.resize(code.flow->loops.size());
  Runner runner{code, scratch, how};
  runner.counts.runs.assign(code.flow->blocks.size(), 0);
  const std::uint64_t threads = std::uint64_t{place.block[0]} * place.block[1] * place.block[2];
  const std::uint64_t first = std::uint64_t{place.warp} * 32;
  const std::uint64_t lanes = first >= threads ? 0 : std::min<std::uint64_t>(32, threads - first);
  if (threads % 32 != 0) runner.counts.by_warp = true;
  if (lanes > 0 && !code.flow->blocks.empty()) runner.run(lanes == 32 ? all_lanes : (std::uint32_t{1} << lanes) - 1);
  if (how.asked) runner.counts.reach = scratch.reaching.reach();
  std::vector<int>& assumed = runner.counts.assumed;
  std::sort(assumed.begin(), assumed.end());
  assumed.erase(std::unique(assumed.begin(), assumed.end()), assumed.end());
  return std::move(runner.counts);
}

}  // namespace tailor::profiler
