// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The first step of decoding: every call is replaced by a copy of the function it names. In: a module and one of its
// entries. Out: one list of instructions, and for each inlined copy where its registers, parameters and local variables
// lie. Called by decode.cpp; the method is told in flatten.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/simulator/decode/program.h"
#include "profiler/simulator/ptx/ptx.h"

namespace tailor::simulator {

/// One inlined copy of a function.
struct CallInstance {
  const PtxFunction* function = nullptr;
  std::uint32_t first_register = 0;     ///< virtual number of its register 0
  std::vector<std::int64_t> params;     ///< local memory offsets of params, then results; entry: unused
  std::vector<std::int64_t> variables;  ///< local memory offsets of its local and param variables; -1: shared ones
};

struct FlatInstruction {
  const PtxInstruction* ptx = nullptr;  ///< nullptr: an end of an inlined call, a place to jump to; or a jump
  std::uint32_t instance = 0;
  std::uint32_t target = no_block;  ///< branches, returns of inlined calls: a flat index
  /// brx.idx: into Flat::targets. A call through a pointer too: by function of the module, and one more for what is no
  /// function that could be meant.
  std::uint32_t targets = 0;
};

struct Flat {
  std::vector<CallInstance> instances;  ///< the entry first
  std::vector<FlatInstruction> instructions;
  std::vector<std::vector<std::uint32_t>> targets;
  std::uint32_t registers = 0;   ///< of all instances together
  std::int64_t local_bytes = 0;  ///< per lane
  std::string unsupported;       ///< empty, or the first call that cannot be inlined and why
};
Flat flatten(const PtxModule& module, const PtxFunction& entry);

}  // namespace tailor::simulator
