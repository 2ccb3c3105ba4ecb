// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Registers that only ever hold a constant of the launch, the block or the thread's place (parameters, immediates,
// %ctaid, what cvta makes of them) are read where the constant stands: the copies fall away. Instructions are counted
// by block, so the counters do not see it.
#include "profiler/simulator/decode/decode.h"

namespace tailor::simulator {
namespace {

bool is_copy(const Micro& micro, const LaneTable& lanes) {
  return micro.full == lanes.copy32[0] || micro.full == lanes.copy64[0];
}

void count_definitions(const Program::Body& body, std::vector<std::uint32_t>& definitions) {
  for (const std::vector<Micro>* all : {&body.micros, &body.guarded, &body.ops})
    for (const Micro& micro : *all) {
      if (in_frame(micro.d)) ++definitions[micro.d];
      for (std::uint32_t k = 0; k < micro.count; ++k)
        if (const Slot slot = body.lists[micro.list + k]; (micro.writes >> k & 1) && in_frame(slot))
          ++definitions[slot];
    }
}

}  // namespace

void forward_constants(Program::Body& body, std::size_t registers) {
  std::vector<std::uint32_t> definitions(registers, 0);
  count_definitions(body, definitions);
  std::vector<Slot> stands_for(registers, no_slot);
  const auto followed = [&](Slot slot) {
    return in_frame(slot) && stands_for[slot] != no_slot ? stands_for[slot] : slot;
  };
  for (bool changed = true; changed;) {  // blocks are in no order, so once more while copies of copies turn up
    changed = false;
    for (const Micro& micro : body.micros) {
      if (!is_copy(micro, *body.lanes) || !in_frame(micro.d) || definitions[micro.d] != 1) continue;
      const Slot from = followed(micro.a);
      if (in_frame(from) || stands_for[micro.d] != no_slot) continue;
      stands_for[micro.d] = from;
      changed = true;
    }
  }
  std::vector<Micro> kept;
  for (CodeBlock& block : body.code) {
    const auto first = static_cast<std::uint32_t>(kept.size());
    for (std::uint32_t i = block.first; i < block.last; ++i)
      if (const Micro& micro = body.micros[i];
          !(is_copy(micro, *body.lanes) && in_frame(micro.d) && stands_for[micro.d] != no_slot))
        kept.push_back(micro);
    block.first = first;
    block.last = static_cast<std::uint32_t>(kept.size());
    block.predicate = followed(block.predicate);
  }
  body.micros = std::move(kept);
  for (std::vector<Micro>* all : {&body.micros, &body.guarded, &body.ops})
    for (Micro& micro : *all) {
      micro.a = followed(micro.a);
      micro.b = followed(micro.b);
      micro.c = followed(micro.c);
    }
  for (Slot& slot : body.lists) slot = followed(slot);
}

}  // namespace tailor::simulator
