// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of code blocks. In: blocks with their endings. Out: which blocks may follow each, and the priority by which
// the machine chooses among diverged lanes. Called by decode.cpp once the blocks are made, and by slots.cpp, which
// places registers along the same order. The method is told in order.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/simulator/decode/program.h"

namespace tailor::simulator {

using BlockLists = std::vector<std::vector<std::uint32_t>>;

/// Blocks that may run after each. `targets`: DecodedProgram::targets.
BlockLists find_successors(const std::vector<CodeBlock>& code, const std::vector<std::uint32_t>& targets);
/// Fills CodeBlock::priority.
void order_blocks(std::vector<CodeBlock>& code, const std::vector<std::uint32_t>& targets);

}  // namespace tailor::simulator
