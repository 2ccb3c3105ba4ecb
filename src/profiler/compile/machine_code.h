// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the assembler made of a kernel's loads. In: the machine code of one kernel. Out: how many instructions it has
// and how many loads from global memory are on their way at once, at most. Called by compile.cpp for every binary.
//
// A program may ask for eight loads before the first use, and the assembler may still move each of them next to its
// use: nothing in PTX forbids it. Only the machine code says what travels together, so that is where it is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tailor::profiler {

struct MachineCode {
  std::int64_t instructions = 0;       ///< without those that only fill up the last line
  std::int64_t global_loads = 0;       ///< instructions that read global memory
  std::int64_t loads_outstanding = 0;  ///< most of them on their way before one is waited for; loops are passed once
  bool operator==(const MachineCode&) const = default;
};

/// `arch` is the number of sm_NN. The code of architectures before sm_70 is encoded otherwise: all zero for these, and
/// for bytes that are no whole number of instructions.
MachineCode read_machine_code(std::span<const std::byte> code, int arch);

}  // namespace tailor::profiler
