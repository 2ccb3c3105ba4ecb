// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Registers whose value is undefined in some lanes, because a shuffle read a lane that did not take part, or because
// nothing was written to them yet. Made by warp_steps.cpp and by the start of a block, followed by run.cpp from then on
// until none is left; the method is told in undefined.cpp. Nothing here is touched by other warps.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/simulator/decode/program.h"

namespace tailor::simulator {

/// UndefinedLanes::site from here on: number of the entry slot (DecodedProgram::entry_slots) that nothing was written
/// to.
inline constexpr std::uint32_t unwritten = 0x80000000u;

/// Lanes in which a register is undefined, and the shuffle that made it so.
struct UndefinedLanes {
  std::uint32_t lanes = 0;
  std::uint32_t site = 0;
};

/// One warp's registers.
class UndefinedRegisters {
 public:
  explicit UndefinedRegisters(std::uint32_t frame_bytes) : slots_(frame_bytes / slot_step + 1) {}
  /// Constants are always defined, and so is no_slot.
  UndefinedLanes of(Slot slot) const { return in_frame(slot) ? slots_[at(slot)] : UndefinedLanes{}; }
  /// In `active` lanes the register is now undefined where `made` says so; other lanes are as they were.
  void set(Slot slot, std::uint32_t active, UndefinedLanes made);
  bool any() const;

 private:
  static constexpr std::uint32_t slot_step = 128;
  static std::size_t at(Slot slot) { return (slot & slot_offset_mask) / slot_step; }
  std::vector<UndefinedLanes> slots_;
};

/// Both; where they differ in site, that of the one with lanes.
UndefinedLanes joined(UndefinedLanes a, UndefinedLanes b);

}  // namespace tailor::simulator
