// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Special registers of PTX (%tid.x, %clock): which there are and where each lies. In: a name from the PTX text. Out:
// its bank and slot. Registers that are the same for every lane of a launch or a block, and those that depend only on a
// lane's index in its block, are slots that are filled once; clocks and timers are read when the program asks. Used by
// the decoder, and by the machine where it fills the banks.
#pragma once

#include <cstdint>
#include <string_view>

namespace tailor::simulator {

enum class SpecialKind : std::uint8_t { launch, block, thread, live };

enum class SpecialId : std::uint8_t {
#define SPECIAL(id, name, kind, bits) id,
#include "profiler/simulator/decode/special.def"
#undef SPECIAL
};

struct SpecialRegister {
  std::string_view name;
  SpecialKind kind = SpecialKind::launch;
  std::uint8_t bits = 32;
  std::uint32_t index = 0;  ///< block and thread banks: its slot, at 128 bytes each; otherwise its SpecialId
  SpecialId id = SpecialId::ntid_x;
};

/// nullptr: not known.
const SpecialRegister* find_special(std::string_view name);
const SpecialRegister& special_row(SpecialId id);

/// Slots of the two banks; all their registers are 32 bits wide.
inline constexpr std::uint32_t block_bank_slots = 16, thread_bank_slots = 16;

}  // namespace tailor::simulator
