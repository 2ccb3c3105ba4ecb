// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Slots for registers, by liveness. In: a program whose operands are virtual registers, and the order of its blocks.
// Out: a byte offset in the warp's frame for each register that is used, the frame's size, and which slots may be read
// before they are written.
//
// A register is 128 bytes for 32 lanes, or 256 for 64-bit values, and compiled PTX names hundreds of them. A frame that
// holds each of them apart falls out of the first-level cache. So registers that are never needed at the same time
// share a slot:
//
//   1. number the micro-operations in the order of blocks (order.h);
//   2. find which registers are live into each block: the usual backward data flow, repeated until nothing changes; a
//      write under a guard keeps the old value in some lanes, so it counts as a read too;
//   3. a register's stretch goes from its first to its last position, and covers every block that it is live through;
//   4. go through the stretches by their beginning and give each the slot of one that has ended, or a new one (linear
//      scan).
//
// Lanes of a warp need no slots of their own: a lane that waits elsewhere keeps its values, because writes are masked.
// What is live into the first block may be read before it was written; such slots are poisoned when a block of threads
// starts, so that results never depend on what ran before.
#include "profiler/simulator/decode/slots.h"

#include <algorithm>
#include <queue>

#include "profiler/simulator/decode/order.h"

namespace tailor::simulator {
namespace {

struct Stretch {
  std::uint32_t first = no_block, last = 0;
  void add(std::uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

/// Calls use(register) and define(register, conditional) for a micro-operation, uses first.
template <class Use, class Define>
void visit(const DecodedProgram& program, const Micro& micro, bool conditional, const Use& use, const Define& define) {
  for (const Slot slot : {micro.a, micro.b, micro.c})
    if (in_frame(slot)) use(slot);
  for (std::uint32_t k = 0; k < micro.count; ++k)
    if (const Slot slot = program.lists[micro.list + k]; in_frame(slot) && !(micro.writes >> k & 1)) use(slot);
  for (std::uint32_t k = 0; k < micro.count; ++k)
    if (const Slot slot = program.lists[micro.list + k]; in_frame(slot) && (micro.writes >> k & 1))
      define(slot, conditional);
  if (in_frame(micro.d)) define(micro.d, conditional);
}

struct Allocator {
  DecodedProgram& program;
  const std::vector<std::uint8_t>& bits;
  std::vector<std::uint32_t> order;       ///< blocks by priority
  std::vector<std::uint32_t> start, end;  ///< places of a block's first and one past its last micro
  std::vector<std::vector<std::uint64_t>> live_in;
  BlockLists next;  ///< successors
  std::vector<Stretch> stretches;

  template <class Use, class Define>
  void visit_block(const CodeBlock& block, const Use& use, const Define& define) const {
    std::uint32_t position = start[static_cast<std::size_t>(&block - program.code.data())];
    const auto one = [&](const Micro& micro, bool conditional) {
      visit(
          program, micro, conditional, [&](Slot r) { use(r, position); },
          [&](Slot r, bool c) { define(r, c, position); });
    };
    for (std::uint32_t i = block.first; i < block.last; ++i, ++position) {
      const Micro& micro = program.micros[i];
      if (micro.full == nullptr) {  // a guard: its predicate, then what it guards
        if (in_frame(micro.a)) use(micro.a, position);
        for (std::uint32_t k = 0; k < micro.extra; ++k) one(program.guarded[micro.list + k], true);
      } else {
        one(micro, false);
      }
    }
    if (in_frame(block.predicate)) use(block.predicate, position);
    if (block.ending == Ending::warp || block.ending == Ending::barrier || block.ending == Ending::cluster ||
        (block.ending == Ending::pause && program.ops[block.op].full != nullptr))
      one(program.ops[block.op], false);
  }

  void number_positions() {
    order.resize(program.code.size());
    for (std::uint32_t b = 0; b < order.size(); ++b) order[b] = b;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      return program.code[x].priority < program.code[y].priority;
    });
    start.resize(order.size());
    end.resize(order.size());
    std::uint32_t position = 0;
    for (const std::uint32_t b : order) {
      start[b] = position;
      position += program.code[b].last - program.code[b].first + 1;
      end[b] = position - 1;
    }
  }

  void find_live() {
    const std::size_t words = (bits.size() + 63) / 64;
    std::vector<std::vector<std::uint64_t>> reads(order.size(), std::vector<std::uint64_t>(words)), kills = reads;
    live_in = reads;
    for (std::size_t b = 0; b < order.size(); ++b)
      visit_block(
          program.code[b],
          [&](Slot r, std::uint32_t) {
            if (!(kills[b][r / 64] >> r % 64 & 1)) reads[b][r / 64] |= std::uint64_t{1} << r % 64;
          },
          [&](Slot r, bool conditional, std::uint32_t) {
            if (!conditional) {
              kills[b][r / 64] |= std::uint64_t{1} << r % 64;
            } else if (!(kills[b][r / 64] >> r % 64 & 1)) {
              reads[b][r / 64] |= std::uint64_t{1} << r % 64;
            }
          });
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = order.size(); i-- > 0;) {
        const std::uint32_t b = order[i];
        for (std::size_t w = 0; w < words; ++w) {
          std::uint64_t out = 0;
          for (const std::uint32_t to : next[b]) out |= live_in[to][w];
          const std::uint64_t in = reads[b][w] | (out & ~kills[b][w]);
          if (in == live_in[b][w]) continue;
          live_in[b][w] = in;
          changed = true;
        }
      }
    }
  }

  void find_stretches() {
    stretches.resize(bits.size());
    for (std::size_t b = 0; b < order.size(); ++b) {
      visit_block(
          program.code[b], [&](Slot r, std::uint32_t at) { stretches[r].add(at); },
          [&](Slot r, bool, std::uint32_t at) { stretches[r].add(at); });
      const auto through = [&](const std::vector<std::uint64_t>& set, std::uint32_t at) {
        for (std::size_t w = 0; w < set.size(); ++w)
          for (std::uint64_t left = set[w]; left != 0; left &= left - 1)
            stretches[w * 64 + static_cast<unsigned>(__builtin_ctzll(left))].add(at);
      };
      through(live_in[b], start[b]);
      for (const std::uint32_t to : next[b]) through(live_in[to], end[b]);
    }
  }

  /// Offsets in the frame, by register.
  std::vector<std::uint32_t> frame_offsets() {
    std::vector<std::uint32_t> by_start, offset(bits.size(), 0);
    for (std::uint32_t r = 0; r < bits.size(); ++r)
      if (stretches[r].first != no_block) by_start.push_back(r);
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return stretches[x].first < stretches[y].first; });
    using Held = std::pair<std::uint32_t, std::uint32_t>;  // last place, register
    std::priority_queue<Held, std::vector<Held>, std::greater<>> held;
    std::vector<std::uint32_t> free[2];
    for (const std::uint32_t r : by_start) {
      // A register may not take the slot of one read at the same place: a vector's parts are written one by one.
      while (!held.empty() && held.top().first < stretches[r].first) {
        const std::uint32_t done = held.top().second;
        held.pop();
        free[bits[done] == 64].push_back(offset[done]);
      }
      std::vector<std::uint32_t>& mine = free[bits[r] == 64];
      if (mine.empty()) {
        offset[r] = program.frame_bytes;
        program.frame_bytes += bits[r] == 64 ? 256 : 128;
      } else {
        offset[r] = mine.back();
        mine.pop_back();
      }
      held.emplace(stretches[r].last, r);
    }
    return offset;
  }
};

}  // namespace

void give_slots(DecodedProgram& program, const std::vector<std::uint8_t>& register_slot_bits) {
  Allocator work{program, register_slot_bits, {}, {}, {}, {}, find_successors(program.code, program.targets), {}};
  work.number_positions();
  work.find_live();
  work.find_stretches();
  const std::vector<std::uint32_t> offset = work.frame_offsets();
  for (std::uint32_t r = 0; r < register_slot_bits.size(); ++r)
    if (!work.live_in.empty() && (work.live_in[0][r / 64] >> r % 64 & 1))
      program.entry_slots.push_back({offset[r], register_slot_bits[r] == 64 ? 256u : 128u, r, {}});
  const auto replace = [&](Slot& slot) {
    if (in_frame(slot)) slot = offset[slot];
  };
  for (std::vector<Micro>* all : {&program.micros, &program.guarded, &program.ops})
    for (Micro& micro : *all) {
      replace(micro.d);
      replace(micro.a);
      replace(micro.b);
      replace(micro.c);
    }
  for (Slot& slot : program.lists) replace(slot);
  for (CodeBlock& block : program.code) replace(block.predicate);
}

}  // namespace tailor::simulator
