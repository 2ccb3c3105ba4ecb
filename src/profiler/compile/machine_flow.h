// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The control flow of a kernel's machine code: basic blocks, where each goes on, loops, and what each block holds. In:
// the bytes of a .text section. Out: a graph of blocks. Called by machine_work.cpp, which weights the blocks by how
// often a launch runs them, and by tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/indexed.h"
#include "ir/machine_work.h"
#include "profiler/compile/operation.h"

namespace tailor::profiler {

/// How a block ends. `branch` has a target; with a condition, or inside a divergent warp, it also goes on below. `sync`
/// waits for the lanes that a BSSY named. `jump` goes where a register says.
enum class BlockEnd : std::uint8_t { falls, branch, exit, call, returns, sync, jump };

struct CodeBlock {
  int first = 0, end = 0;  ///< instructions of the code: first .. end - 1
  BlockEnd how = BlockEnd::falls;
  int next = -1;    ///< the block below; -1: none
  int target = -1;  ///< of a branch or a call; -1: none, or outside of the code
  ir::PipeCounts pipes{};
  int stalls = 0;          ///< cycles that its instructions ask for before the next one
  int waits = 0;           ///< instructions that wait for a scoreboard
  int loop_depth = 0;      ///< natural loops around it
  bool reachable = false;  ///< from the first block
};

/// A natural loop: the blocks from which its end is reached without passing its head, which dominates them.
struct CodeLoop {
  int head = 0;
  std::vector<int> blocks;  ///< ascending, the head among them
};

struct MachineFlow {
  int arch = 0;
  IndexedVector<CodeBlock> blocks;  ///< by address
  std::vector<CodeLoop> loops;      ///< by address of their heads
  int instructions = 0;             ///< without the filling of the last line
  /// Of each instruction the lowest 32 bits, which say what it is: whoever goes through all of them reads a quarter.
  std::vector<std::uint32_t> words;
  /// The block that holds an instruction.
  int block_at(int instruction) const;
};

/// Whether blocks say what they hold (pipes, stalls, waits), which takes a pass over the code, or only where they go
/// on.
enum class FlowContents : std::uint8_t { counted, left_out };

/// Throws Error(failed) for an architecture before sm_70, whose encoding is another, and for half an instruction. A
/// branch to outside of the code has no target.
MachineFlow read_flow(std::span<const std::byte> code, const Operations& operations,
                      FlowContents contents = FlowContents::counted);

/// The instruction that a branch, a BSSY or a call names, relative to its own number; false where it is no whole
/// instruction. Which bits hold the distance depends on the architecture.
bool relative_target(const Instruction& instruction, int arch, int& distance);

}  // namespace tailor::profiler
