// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp's way through machine code. In: prepared code and a place. Out: how often each block runs. Called by
// machine_work.cpp.
//
// What is executed is a slice: the instructions that write a place (a register, a predicate) which is read below,
// before it is written anew, by a branch, an exit, a guarded request or by another instruction of the slice. It is the
// usual analysis of live variables (Aho, Lam, Sethi, Ullman, "Compilers", 9.2.5), started at what decides the way and
// not at all uses. An instruction that cannot be computed asks for nothing: what it writes becomes unknown.
//
// With each place goes what it may depend on: on the block, on the warp of the block. Where no decision of a warp does,
// all blocks, or all warps, go the same way, and one stands for all.
//
// Lanes of a warp part at a branch whose condition differs and meet again as the machine does it since Volta: BSSY
// notes in a barrier register which lanes are to meet, BSYNC waits for all of them. A part of the warp is a block and a
// mask; one part runs until it waits or ends, then the next one. Counts do not depend on that order.
//
// Trips. Lanes that come back to the head of a loop all together, with nobody waiting elsewhere, made a trip. From the
// seventh on it is looked at how a trip depends on which one it is (trip.h); those that go the same way are left out
// but the last, which is executed, so that registers hold what it leaves there. One loop is looked at at a time; loops
// inside of it are then followed trip by trip.
//
// A branch on what memory holds: a loop is left, a call is not made (compilers call the exact division and the like for
// rare operands), and over other code the caller says what is assumed.
#include "profiler/compile/warp_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <utility>

namespace tailor::profiler {

namespace {

struct Counted {
  unsigned base;
  std::int64_t ir::MachineRequests::*counter;
};
constexpr auto counted = std::to_array<Counted>({
    {bases::ld, &ir::MachineRequests::global_loads},
    {bases::ldg, &ir::MachineRequests::global_loads},
    {bases::st, &ir::MachineRequests::global_stores},
    {bases::stg, &ir::MachineRequests::global_stores},
    {bases::atom, &ir::MachineRequests::global_atomics},
    {bases::atom_cas, &ir::MachineRequests::global_atomics},
    {bases::red, &ir::MachineRequests::global_atomics},
    {bases::redg, &ir::MachineRequests::global_atomics},
    {bases::atomg, &ir::MachineRequests::global_atomics},
    {bases::atomg_cas, &ir::MachineRequests::global_atomics},
    {bases::lds, &ir::MachineRequests::shared_loads},
    {bases::sts, &ir::MachineRequests::shared_stores},
    {bases::shfl, &ir::MachineRequests::shuffles},
    {bases::bar, &ir::MachineRequests::barriers},
});

/// Of each operation by its lowest nine bits, one more than its row; 0: none.
constexpr auto counted_rows = [] {
  std::array<std::uint8_t, 512> rows{};
  for (std::size_t i = 0; i < counted.size(); ++i) rows[counted[i].base] = static_cast<std::uint8_t>(i + 1);
  return rows;
}();

/// Whether an operation by its lowest nine bits is looked at though nobody asks for what it writes.
constexpr auto looked_at = [] {
  std::array<bool, 512> those{};
  for (const Counted& one : counted) those[one.base] = true;
  those[bases::bssy] = those[bases::break_lanes] = true;
  return those;
}();

std::int64_t ir::MachineRequests::*counter_of(unsigned base) {
  return counted_rows[base] == 0 ? nullptr : counted[counted_rows[base] - 1u].counter;
}

bool moves_control(const Instruction& one) {
  return one.base() >= bases::first_control && one.base() <= bases::last_control;
}
/// Barrier registers are not among the places, so what sets them is always executed.
bool sets_meeting(const Instruction& one) { return one.base() == bases::bssy || one.base() == bases::break_lanes; }

using Live = std::bitset<place_count>;

/// The code, and of each of its instructions whether it is of the slice.
struct Slice {
  std::span<const std::byte> code;
  const Operations& operations;
  std::vector<char> chosen;

  Places writes_of(const Instruction& one) const {
    Places places;
    add_written(places, one, operations.find(one.operation()), operations.arch);
    return places;
  }
};

/// Goes through a block from its end: marks what writes a place that is read below before it is written anew.
void choose(Slice& slice, const CodeBlock& block, Live& live) {
  for (int i = block.end; i-- > block.first;) {
    // Most instructions write a few registers, which nobody asks for. That is seen without reading them whole.
    const std::uint32_t word = first_word(slice.code, static_cast<std::size_t>(i));
    const bool guarded = (word >> 12 & 15) != 7;
    if (const unsigned count = slice.operations.only_registers[word & 0xfff]; count != 0 && !guarded) {
      const unsigned first = word >> 16 & 255;
      bool asked = live[first];
      for (unsigned k = 1; k < count; ++k) asked = asked || live[first + k];
      if (!asked) continue;
    }
    const Instruction instruction = instruction_at(slice.code, static_cast<std::size_t>(i));
    const Places writes = slice.writes_of(instruction);
    bool wanted = false;
    for (const unsigned place : writes) wanted = wanted || live[place];
    if (wanted) {
      slice.chosen[static_cast<std::size_t>(i)] = 1;
      // Uniform registers belong to all lanes: another part of the warp may still want what this one writes over.
      for (const unsigned place : writes)
        if (!guarded && !is_uniform_place(place)) live.reset(place);
      if (is_computed(instruction, slice.operations.arch))
        for (const unsigned place : read_by(instruction, slice.operations.arch)) live.set(place);
    }
    const bool control = moves_control(instruction);
    if (control || (guarded && (wanted || counter_of(instruction.base()) != nullptr)))
      for (const unsigned place : conditions_of(instruction)) live.set(place);
  }
}

/// The slice, block by block from the last to the first, until what is live at the heads stays.
Slice slice_of(std::span<const std::byte> code, const Operations& operations, const MachineFlow& flow) {
  Slice slice{code, operations, std::vector<char>(static_cast<std::size_t>(flow.instructions), 0)};
  IndexedVector<Live> heads(flow.blocks.size()), ends(flow.blocks.size());
  IndexedVector<char> seen(flow.blocks.size(), 0);
  // A return goes where a call stood, and a BSYNC joins lanes that came another way; both are below some block.
  Live anywhere;
  for (bool grew = true; grew;) {
    grew = false;
    for (int b = static_cast<int>(std::ssize(flow.blocks)) - 1; b >= 0; --b) {
      const CodeBlock& block = flow.blocks[b];
      Live live = block.how == BlockEnd::returns ? anywhere : Live{};
      if (block.next >= 0) live |= heads[block.next];
      if (block.target >= 0) live |= heads[block.target];
      if (seen[b] != 0 && live == ends[b]) continue;
      seen[b] = 1;
      ends[b] = live;
      choose(slice, block, live);
      if (block.how == BlockEnd::call && block.next >= 0) anywhere |= heads[block.next];
      grew = grew || live != heads[b];
      heads[b] = live;
    }
  }
  return slice;
}

/// What a value may depend on, besides the lane.
constexpr std::uint8_t of_block = 1, of_warp = 2;

/// Whether an instruction brings in what differs between blocks, or between warps of a block.
std::uint8_t source_of(const Instruction& one) {
  if (one.base() != bases::s2r && one.base() != bases::s2ur) return 0;
  const unsigned which = one.bits(72, 8);
  return which >= 0x25 && which < 0x28 ? of_block : which >= 0x21 && which < 0x24 ? of_warp : 0;
}

constexpr int no_block = -1, no_loop = -1;
constexpr int most_in_vain = 4;  ///< times that a loop is looked at before it is left alone

/// Lanes that are at the same place.
struct Part {
  int block = 0;
  std::uint32_t mask = 0;
  std::vector<int> calls;    ///< blocks to come back to
  std::uint64_t number = 0;  ///< no two have the same
};

/// A barrier register: lanes that are to meet.
struct Meeting {
  std::uint32_t expected = 0, waiting = 0;
  Part after;  ///< where they go on
  bool operator==(const Meeting& other) const {
    return expected == other.expected && waiting == other.waiting && after.block == other.after.block &&
           after.calls == other.after.calls;
  }
};

/// How a part came to the head of a loop the last time.
struct Arrival {
  std::uint32_t mask = 0;
  std::size_t open = 0;       ///< parts that wait for their turn
  std::uint64_t beneath = 0;  ///< the number of the last of them
  std::vector<int> calls;
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
  void decide(const Places& places) {
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
    const Meeting met = std::exchange(meeting, {});
    go(met.after, met.after.block, met.waiting);
  }

  void leave(std::uint32_t lanes) {
    for (Meeting& meeting : meetings) {
      meeting.expected &= ~lanes;
      meet(meeting);
    }
  }

  void step(const ControlCode::Step& step, std::uint32_t mask) {
    const Instruction& one = step.instruction;
    const TripStep seen{one, step.reads, step.writes, step.computed, step.counter != nullptr || sets_meeting(one)};
    if (how.asked) scratch.reaching.step(state, seen, step.conditions, mask, in_trip ? trip : nullptr);
    if (in_trip) trip->step(state, seen, mask);
    const LaneBits guard = guard_of(state, one);
    const std::uint32_t on = mask & guard.known & guard.value, perhaps = mask & ~guard.known;
    if (step.counter != nullptr) {
      if (on == 0 && perhaps != 0) assume(block_now);
      if (on != 0 || (perhaps != 0 && how.unknown == Unknown::enter)) ++(counts.requests.*step.counter);
    }
    if (one.base() == bases::bssy) {
      meetings[one.bits(16, 4)] = {on | perhaps, 0, {}};
      return;
    }
    if (one.base() == bases::break_lanes) {
      meetings[one.bits(16, 4)].expected &= ~on;
      return;
    }
    const bool guarded = one.bits(12, 4) != 7;
    if (guarded) decide(step.conditions);
    const std::uint8_t on_which = on_what(step.reads) | source_of(one);
    for (const unsigned place : step.writes)
      depends[place] = static_cast<std::uint8_t>(on_which | (mask == all_lanes && !guarded ? 0 : depends[place]));
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

  void end(Part part) {
    const CodeBlock& at = block(part.block);
    const Instruction& one = code.last[part.block];
    const LaneBits holds = condition(one);
    decide(code.conditions[part.block]);
    if (in_trip && at.how != BlockEnd::falls) trip->decide(code.conditions[part.block], part.mask);
    if (how.asked && at.how != BlockEnd::falls) scratch.reaching.decide(code.conditions[part.block], part.mask);
    const std::uint32_t on = part.mask & holds.known & holds.value, off = part.mask & holds.known & ~holds.value;
    const std::uint32_t perhaps = part.mask & ~holds.known;
    switch (at.how) {
      case BlockEnd::falls:
        return go(part, at.next, part.mask);
      case BlockEnd::branch:
        if (is_division_branch(one)) return go(part, at.next, part.mask);
        go(part, at.next, off);
        go(part, at.target, on);
        return guess(part, at, perhaps);
      case BlockEnd::exit: {
        if (perhaps != 0) assume(part.block);
        const bool leaves = how.unknown == Unknown::skip;
        go(part, at.next, off | (leaves ? 0 : perhaps));
        return leave(on | (leaves ? perhaps : 0));
      }
      case BlockEnd::sync: {
        Meeting& meeting = meetings[one.bits(16, 4)];
        if (meeting.expected == 0) return go(part, at.next, part.mask);
        meeting.waiting |= part.mask;
        meeting.after = {at.next, 0, part.calls, 0};
        return meet(meeting);
      }
      case BlockEnd::call: {
        go(part, at.next, off | perhaps);
        if (on == 0) return;
        if (at.target == no_block) return refuse("a function that is called is not in the code of the kernel");
        if (part.calls.size() > 8) return refuse("functions call each other more than 8 deep");
        part.calls.push_back(at.next);
        return go(part, at.target, on);
      }
      case BlockEnd::returns: {
        if (part.calls.empty()) return refuse("a return without a call");
        const int back = part.calls.back();
        part.calls.pop_back();
        return go(part, back, part.mask);
      }
      case BlockEnd::jump:
        return refuse("a branch goes where a register says");
    }
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
    constexpr std::int64_t worth_it = 8;
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
    constexpr int first = 5, long_inside = 64;
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
      Part part = std::move(parts.back());
      parts.pop_back();
      if (++counts.followed > how.most_runs) return refuse("a loop runs too often to be followed");
      look(part);
      ++counts.runs[part.block];
      block_now = part.block;
      counts.requests += code.always[part.block];
      for (int i = code.first_step[part.block]; i < code.first_step[part.block + 1]; ++i)
        step(code.steps[static_cast<std::size_t>(i)], part.mask);
      end(std::move(part));
    }
  }
};

/// What loops read, write and depend on, as far as it is executed.
void put_loop_places(ControlCode& made, const MachineFlow& flow) {
  made.headed.assign(flow.blocks.size(), no_loop);
  for (int loop = 0; loop < std::ssize(flow.loops); ++loop) {
    const CodeLoop& one = flow.loops[static_cast<std::size_t>(loop)];
    made.headed[one.head] = loop;
    Live all;
    const auto add = [&](const Places& places) {
      for (const unsigned place : places) all.set(place);
    };
    for (const int block : one.blocks) {
      for (int i = made.first_step[block]; i < made.first_step[block + 1]; ++i) {
        const ControlCode::Step& step = made.steps[static_cast<std::size_t>(i)];
        add(step.reads);
        add(step.writes);
        add(step.conditions);
      }
      add(made.conditions[block]);
    }
    std::vector<int>& inner = made.inner_loops.emplace_back();
    for (int other = 0; other < std::ssize(flow.loops); ++other)
      if (other != loop &&
          std::binary_search(one.blocks.begin(), one.blocks.end(), flow.loops[static_cast<std::size_t>(other)].head))
        inner.push_back(other);
    std::vector<std::uint16_t>& places = made.loop_places.emplace_back();
    for (unsigned place = 0; place < place_count; ++place)
      if (all.test(place)) places.push_back(static_cast<std::uint16_t>(place));
  }
}

/// The innermost loop around each block: the one with fewest blocks.
IndexedVector<int> innermost(const MachineFlow& flow) {
  IndexedVector<int> loop(flow.blocks.size(), -1);
  for (int i = 0; i < std::ssize(flow.loops); ++i) {
    const std::vector<int>& blocks = flow.loops[static_cast<std::size_t>(i)].blocks;
    for (const int block : blocks)
      if (loop[block] < 0 || flow.loops[static_cast<std::size_t>(loop[block])].blocks.size() > blocks.size())
        loop[block] = i;
  }
  return loop;
}

}  // namespace

ControlCode control_code(std::span<const std::byte> code, const Operations& operations, const MachineFlow& flow) {
  ControlCode made;
  made.flow = &flow;
  made.loop = innermost(flow);
  const Slice slice = slice_of(code, operations, flow);
  for (const CodeBlock& block : flow.blocks) {
    made.first_step.push_back(static_cast<int>(made.steps.size()));
    ir::MachineRequests& always = made.always.emplace_back();
    for (int i = block.first; i < block.end; ++i) {
      const bool chosen = slice.chosen[static_cast<std::size_t>(i)] != 0;
      if (!chosen && !looked_at[first_word(code, static_cast<std::size_t>(i)) & 0x1ff]) continue;
      const Instruction one = instruction_at(code, static_cast<std::size_t>(i));
      const auto counter = counter_of(one.base());
      const bool guarded = one.bits(12, 4) != 7;
      if (counter != nullptr && !guarded) ++(always.*counter);
      if (!chosen && (counter == nullptr || !guarded) && !sets_meeting(one)) continue;
      const bool computed = is_computed(one, operations.arch);
      made.steps.push_back({one, computed, computed ? read_by(one, operations.arch) : Places{},
                            chosen ? slice.writes_of(one) : Places{}, conditions_of(one), guarded ? counter : nullptr});
    }
    made.last.push_back(instruction_at(code, static_cast<std::size_t>(block.end - 1)));
    made.conditions.push_back(conditions_of(made.last.back()));
  }
  made.first_step.push_back(static_cast<int>(made.steps.size()));
  put_loop_places(made, flow);
  return made;
}

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
