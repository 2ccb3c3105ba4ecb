// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants are read where they stand. Much of compiled PTX copies things that never change into registers: parameters,
// immediates, %ctaid, what cvta makes of them. Here such registers fall away. In: a program with virtual registers.
// Out: the same program, where operands name the constant's slot and the copies are gone.
//
// A register stands for a constant when it has exactly one definition in the whole program, that definition is a copy,
// and what it copies is a slot of another bank or a register that itself stands for a constant. Blocks are in no order,
// so the search is repeated until nothing new turns up. Instructions are counted by block and not by micro-operation,
// so the counters do not see that a copy is gone.
#include "profiler/simulator/decode/forward_constants.h"

#include <vector>

#include "profiler/simulator/decode/opcode.h"

namespace tailor::simulator {
namespace {

bool is_copy(const Micro& micro, const LaneTable& lanes) {
  return micro.full == lanes.copy32[0] || micro.full == lanes.copy64[0];
}

void count_definitions(const DecodedProgram& program, std::vector<std::uint32_t>& definitions) {
  for (const std::vector<Micro>* all : {&program.micros, &program.guarded, &program.ops})
    for (const Micro& micro : *all) {
      if (in_frame(micro.d)) ++definitions[micro.d];
      for (std::uint32_t k = 0; k < micro.count; ++k)
        if (const Slot slot = program.lists[micro.list + k]; (micro.writes >> k & 1) && in_frame(slot))
          ++definitions[slot];
    }
}

}  // namespace

void forward_constants(DecodedProgram& program, std::size_t registers) {
  std::vector<std::uint32_t> definitions(registers, 0);
  count_definitions(program, definitions);
  std::vector<Slot> stands_for(registers, no_slot);
  const auto followed = [&](Slot slot) {
    return in_frame(slot) && stands_for[slot] != no_slot ? stands_for[slot] : slot;
  };
  for (bool changed = true; changed;) {  // blocks are in no order, so once more while copies of copies turn up
    changed = false;
    for (const Micro& micro : program.micros) {
      if (!is_copy(micro, *program.lanes) || !in_frame(micro.d) || definitions[micro.d] != 1) continue;
      const Slot from = followed(micro.a);
      if (in_frame(from) || stands_for[micro.d] != no_slot) continue;
      stands_for[micro.d] = from;
      changed = true;
    }
  }
  std::vector<Micro> kept;
  for (CodeBlock& block : program.code) {
    const auto first = static_cast<std::uint32_t>(kept.size());
    for (std::uint32_t i = block.first; i < block.last; ++i)
      if (const Micro& micro = program.micros[i];
          !(is_copy(micro, *program.lanes) && in_frame(micro.d) && stands_for[micro.d] != no_slot))
        kept.push_back(micro);
    block.first = first;
    block.last = static_cast<std::uint32_t>(kept.size());
    block.predicate = followed(block.predicate);
  }
  program.micros = std::move(kept);
  for (std::vector<Micro>* all : {&program.micros, &program.guarded, &program.ops})
    for (Micro& micro : *all) {
      micro.a = followed(micro.a);
      micro.b = followed(micro.b);
      micro.c = followed(micro.c);
    }
  for (Slot& slot : program.lists) slot = followed(slot);
}

}  // namespace tailor::simulator
