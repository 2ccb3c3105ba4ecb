// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a machine instruction is, by its lowest 12 bits: its name, the pipe that executes it, what it writes. In: the
// number of an architecture. Out: its operations, from the rows of operations.def. Called by whoever reads machine code
// (machine_flow.cpp, warp_run.cpp, machine_work.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "ir/machine_work.h"

namespace tailor::profiler {

inline constexpr std::size_t instruction_bytes = 16;
inline constexpr int first_decoded_arch = 70;  ///< with instructions of 128 bits
inline constexpr int wide_uniform_arch = 100;  ///< from here on 255 uniform registers, before 63; other constants

/// Bits 0 to 8 of the operations that readers of machine code treat by name. Of some the uniform path has a twin, 0x80
/// above.
namespace bases {
inline constexpr unsigned mov = 0x02, r2p = 0x04, cs2r = 0x05, vote = 0x06, sel = 0x07, isetp = 0x0c, iadd3 = 0x10,
                          lea = 0x11, lop3 = 0x12, iabs = 0x13, prmt = 0x16, imnmx = 0x17, shf = 0x19, plop3 = 0x1c,
                          imad = 0x24, imad_wide = 0x25, imad_high = 0x27, half_add = 0x30, hfma2 = 0x31,
                          hfma2_or_iadd = 0x35, viadd = 0x36, vimnmx = 0x48;
inline constexpr unsigned uniform = 0x80, uldc = 0xb9, uldc_too = 0xbb, uflo = 0xbd, upopc = 0xbf, r2ur_new = 0xca,
                          credux = 0xcc, last_uniform = 0xff;
inline constexpr unsigned flo = 0x100, popc = 0x109, nop = 0x118, s2r = 0x119, bar = 0x11d;
inline constexpr unsigned first_control = 0x140, bsync = 0x141, break_lanes = 0x142, call_absolute = 0x143,
                          call = 0x144, bssy = 0x145, bra = 0x147, brx = 0x149, jmp = 0x14a, jmx = 0x14c, exit = 0x14d,
                          ret = 0x150, brxu = 0x158, jmxu = 0x159, kill = 0x15b, last_control = 0x15f;
inline constexpr unsigned ld = 0x180, ldg = 0x181, ldc = 0x182, lds = 0x184, st = 0x185, stg = 0x186, sts = 0x188,
                          shfl = 0x189, atom = 0x18a, atom_cas = 0x18b, red = 0x18e, redg = 0x1a6, atomg = 0x1a8,
                          atomg_cas = 0x1a9, ldcu = 0x1ac, r2ur = 0x1c2, s2ur = 0x1c3, redux = 0x1c4;
}  // namespace bases

/// What an instruction writes besides predicates. `sized`: as many registers as its bits 73 to 75 say.
enum class Writes : std::uint8_t { none, one, two, four, sized, uniform };

struct Operation {
  unsigned base = 0;   ///< bits 0 to 8
  unsigned forms = 0;  ///< bit n: an instruction whose bits 9 to 11 are n
  int first_arch = 0, last_arch = 0;
  std::string_view name;
  ir::MachinePipe pipe = ir::MachinePipe::other;
  Writes writes = Writes::none;
  int predicates = 0;  ///< written: at bits 81 to 83, and at 84 to 86
};
std::span<const Operation> operation_table();

/// The operations of one architecture by the 12 bits of an instruction.
struct Operations {
  std::array<std::uint8_t, 4096> rows{};  ///< of the table, from 1; 0: none
  std::array<ir::MachinePipe, 4096> pipes;
  /// As many lowest bits as registers are written at most, where nothing else is and the way is not chosen; 0:
  /// something else is, or none.
  std::array<std::uint8_t, 4096> only_registers{};
  const Operation* table = operation_table().data();
  int arch = 0;

  explicit Operations(int arch);
  /// nullptr: no row has it.
  const Operation* find(unsigned operation) const {
    return rows[operation] == 0 ? nullptr : table + (rows[operation] - 1u);
  }
};

/// An instruction as it stands in the code; bits are numbered from 0 to 127.
struct Instruction {
  std::uint64_t low = 0, high = 0;

  unsigned operation() const { return static_cast<unsigned>(low & 0xfff); }
  unsigned base() const { return static_cast<unsigned>(low & 0x1ff); }
  unsigned form() const { return static_cast<unsigned>(low >> 9 & 7); }
  /// Up to 32 bits that lie within one of both halves.
  unsigned bits(int first, int count) const {
    const std::uint64_t half = first < 64 ? low >> first : high >> (first - 64);
    return static_cast<unsigned>(half & ((std::uint64_t{1} << count) - 1));
  }
  bool bit(int at) const { return bits(at, 1) != 0; }
};
inline Instruction instruction_at(std::span<const std::byte> code, std::size_t number) {
  Instruction one;
  std::memcpy(&one.low, code.data() + number * instruction_bytes, sizeof one.low);
  std::memcpy(&one.high, code.data() + number * instruction_bytes + sizeof one.low, sizeof one.high);
  return one;
}

/// Its lowest 32 bits: what it is, its guard, and the first register that it writes.
inline std::uint32_t first_word(std::span<const std::byte> code, std::size_t number) {
  std::uint32_t word = 0;
  std::memcpy(&word, code.data() + number * instruction_bytes, sizeof word);
  return word;
}

/// A branch of the uniform kind has its condition in bits 24 to 27, another one in 87 to 90. One that asks whether the
/// lanes of the warp have parted has bit 91.
inline bool is_uniform_branch(const Instruction& one) { return one.base() == bases::bra && one.form() == 2; }
inline bool is_division_branch(const Instruction& one) {
  return one.base() == bases::bra && one.form() != 2 && one.bit(91);
}

/// Its pipe; f16 to f32 is an addition to zero of the 16-bit unit with a result of 32 bits, so it is told by bit 78.
inline ir::MachinePipe pipe_of(const Instruction& one, const Operations& operations) {
  const ir::MachinePipe pipe = operations.pipes[one.operation()];
  const bool widens = one.base() == bases::half_add && one.bit(78) && operations.rows[one.operation()] != 0;
  return widens ? ir::MachinePipe::widen : pipe;
}

}  // namespace tailor::profiler
