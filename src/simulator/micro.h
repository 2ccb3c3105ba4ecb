// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the interpreter executes: micro-operations over slots. A slot is a register of all 32 lanes side by side: 32
// words for predicates (0 or all ones) and for 8, 16 and 32-bit registers, 32 double words for 64-bit ones. A narrow
// value occupies the low bits of its word; readers cut it to their width, writers may leave anything above.
//
// An operand is a slot in one of four banks, so that immediates, parameters and special registers are operands like
// any other and handlers have only one kind: a warp's own frame, constants of the launch (immediates, parameters,
// %ntid), of the block (%ctaid) and of the warp's place in its block (%tid, %laneid).
//
// This header is included by files compiled for several instruction sets and linked into one program. It therefore
// holds plain data only: an inline function here could be kept in the version for a machine that is not this one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tailor::simulator {

inline constexpr int lanes_per_warp = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffffu;

enum class Bank : std::uint32_t { frame, launch, block, thread };

/// A slot: bank in the top two bits, byte offset in the bank below them. Offsets are multiples of 128.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = 0xffffffffu;
inline constexpr int slot_bank_shift = 30;
inline constexpr std::uint32_t slot_offset_mask = (1u << slot_bank_shift) - 1;

struct Warp;
struct Micro;
using Step = void (*)(Warp&, const Micro&);

struct Micro {
  Step full = nullptr;                         ///< when all 32 lanes are active
  Step some = nullptr;                         ///< must leave slots of inactive lanes as they are
  Slot d = no_slot;                            ///< written
  Slot a = no_slot, b = no_slot, c = no_slot;  ///< read
  std::int64_t immediate = 0;                  ///< offset of an address, or what the handler says
  std::uint32_t list = 0;                      ///< first of further slots in Warp::lists: elements of a vector
  std::uint32_t site = 0;                      ///< the PTX instruction this belongs to
  std::uint32_t extra = 0;                     ///< what the handler says
  std::uint8_t writes = 0;                     ///< of the list: bit k set: slot k is written, else read
  std::uint8_t count = 0;                      ///< slots in the list
};

struct Machine;  // the interpreter's own, seen by handlers that touch memory or report

struct Warp {
  std::byte* bank[4] = {};  ///< each aligned to 128 bytes
  const Slot* lists = nullptr;
  std::uint32_t active = 0;                              ///< lanes that execute now
  alignas(64) std::uint32_t lanes[lanes_per_warp] = {};  ///< the same, one word for each: 0 or all ones
  Machine* machine = nullptr;
};

}  // namespace tailor::simulator
