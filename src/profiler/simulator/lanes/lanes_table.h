// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files compiled once per instruction set hand to the rest of the program: plain pointers, nothing that could
// be emitted twice. In: nothing. Out: a table per instruction set, of which decode/opcode.cpp chooses the fastest that
// this machine can run.
#pragma once

#include "profiler/simulator/lanes/micro.h"

namespace tailor::simulator {

struct TierHandlers {
  const Step (*lane)[2];  ///< in the order of opcodes.def: full, some
  std::uint32_t count;
  std::uint32_t (*mask_of)(const std::uint32_t* predicate);
  const AccessTable* access;
  const ShuffleStep* shuffle;  ///< idx, up, down, bfly; of warps in which all 32 lanes take part
};

namespace portable {
extern const TierHandlers tier;
}
namespace avx2 {
extern const TierHandlers tier;
}
namespace avx512 {
extern const TierHandlers tier;
}

}  // namespace tailor::simulator
