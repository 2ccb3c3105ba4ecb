// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of machine code that says which way a warp goes. In: code, its flow. Out: steps of each block, what loops
// depend on. Called through control_code.h.
//
// What is executed is a slice: the instructions that write a place (a register, a predicate) which is read below,
// before it is written anew, by a branch, an exit, a guarded request or by another instruction of the slice. It is the
// usual analysis of live variables (Aho, Lam, Sethi, Ullman, "Compilers", 9.2.5), started at what decides the way and
// not at all uses. An instruction that cannot be computed asks for nothing: what it writes becomes unknown.
//
// Uniform registers are those of the warp and not of a lane. Of code that does not race, each way finds what it wrote
// itself, for parts of a warp run in any order; so they are wanted, and no longer wanted, as the others are.
#include "profiler/compile/control_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
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

/// A set of places.
class Live {
 public:
  bool operator[](unsigned place) const { return (words_[place / 64] >> place % 64 & 1) != 0; }
  void set(unsigned place) { words_[place / 64] |= std::uint64_t{1} << place % 64; }
  void reset(unsigned place) { words_[place / 64] &= ~(std::uint64_t{1} << place % 64); }
  /// Whether one of some places is in it: those from `first` on that the lowest 25 bits of `which` name. They are read
  /// as the bytes they lie in, wherever a word ends.
  bool any_of(unsigned first, unsigned which) const {
    static_assert(std::endian::native == std::endian::little);
    std::uint32_t bits = 0;
    std::memcpy(&bits, std::as_bytes(std::span(words_)).data() + first / 8, sizeof bits);
    return (bits >> first % 8 & which) != 0;
  }
  Live& operator|=(const Live& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  bool operator==(const Live&) const = default;

 private:
  std::array<std::uint64_t, place_count / 64 + 1> words_{};
};

/// The code, and of each of its instructions whether it is of the slice.
struct Slice {
  std::span<const std::byte> code;
  const std::vector<std::uint32_t>& words;
  const Operations& operations;
  std::vector<char> chosen;
  IndexedVector<Live> heads;  ///< what is live where a block begins

  Places writes_of(const Instruction& one) const {
    Places places;
    add_written(places, one, operations.find(one.operation()), operations.arch);
    return places;
  }
};

/// Goes through a block from its end: marks what writes a place that is read below before it is written anew.
void choose(Slice& slice, const CodeBlock& block, Live& live) {
  const std::span<const std::uint32_t> words = slice.words;
  const std::array<std::uint8_t, 4096>& only_registers = slice.operations.only_registers;
  for (int i = block.end; i-- > block.first;) {
    // Most instructions write a few registers, which nobody asks for. That is seen without reading them whole.
    const std::uint32_t word = words[static_cast<std::size_t>(i)];
    const bool guarded = (word >> 12 & 15) != 7;
    const unsigned registers = only_registers[word & 0xfff];
    if (registers != 0 && !guarded && !live.any_of(word >> 16 & 255, registers)) continue;
    const Instruction instruction = instruction_at(slice.code, static_cast<std::size_t>(i));
    const Places writes = slice.writes_of(instruction);
    bool wanted = false;
    for (const unsigned place : writes) wanted = wanted || live[place];
    if (wanted) {
      slice.chosen[static_cast<std::size_t>(i)] = 1;
      for (const unsigned place : writes)
        if (!guarded) live.reset(place);
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
  Slice slice{code, flow.words, operations, std::vector<char>(static_cast<std::size_t>(flow.instructions), 0), {}};
  IndexedVector<Live> ends(flow.blocks.size());
  IndexedVector<Live>& heads = slice.heads;
  heads.resize(flow.blocks.size());
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

/// What loops read, write and depend on, as far as it is executed and a trip may find what was there before: what is
/// set anew before it is read tells nothing.
void put_loop_places(ControlCode& made, const MachineFlow& flow, const Slice& slice) {
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
      if (all[place] && slice.heads[one.head][place]) places.push_back(static_cast<std::uint16_t>(place));
  }
}

/// The innermost loop around each block: the one with fewest blocks.
IndexedVector<int> innermost(const MachineFlow& flow) {
  IndexedVector<int> loop(flow.blocks.size(), no_loop);
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
      if (!chosen && !looked_at[flow.words[static_cast<std::size_t>(i)] & 0x1ff]) continue;
      const Instruction one = instruction_at(code, static_cast<std::size_t>(i));
      const auto counter = counter_of(one.base());
      const bool guarded = one.bits(12, 4) != 7;
      if (counter != nullptr && !guarded) ++(always.*counter);
      if (!chosen && (counter == nullptr || !guarded) && !sets_meeting(one)) continue;
      const bool computed = is_computed(one, operations.arch);
      made.steps.push_back({one, computed, !guarded, sets_meeting(one),
                            computed ? read_by(one, operations.arch) : Places{},
                            chosen ? slice.writes_of(one) : Places{}, conditions_of(one), guarded ? counter : nullptr});
    }
    made.last.push_back(instruction_at(code, static_cast<std::size_t>(block.end - 1)));
    made.conditions.push_back(conditions_of(made.last.back()));
    made.requests.push_back(always == ir::MachineRequests{} ? 0 : 1);
  }
  made.first_step.push_back(static_cast<int>(made.steps.size()));
  put_loop_places(made, flow, slice);
  return made;
}

}  // namespace tailor::profiler
