// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The opcode table. A row of opcodes.def is one instruction that acts lane by lane: its texts, the pipe it takes, the
// types of its operands and what it computes. Instructions that touch memory, other lanes or control have their rows
// in the same file with the family that decodes them. What has no row cannot be simulated.
//
// Modifiers that only wrap an instruction (.ftz, .sat) are not rows of their own: the decoder puts micro-operations
// around the plain one, so each semantics is written once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/simulator/lanes/micro.h"

namespace tailor::simulator {

/// What an instruction is counted as: the fields of Counters of these names. `memory`, `shuffle` and the rest have
/// counters of their own.
enum class Pipe : std::uint8_t {
  fma,
  alu,
  xu,
  f64,
  convert,
  move,
  control,
  memory,
  shuffle,
  vote,
  barrier,
  fence,
  matrix
};

/// How a lane type lies in a slot and reads from it.
enum class LaneType : std::uint8_t { pred, u8, s8, u16, s16, u32, s32, f32, f16, bf16, u64, s64, f64, f16x2, bf16x2 };
/// 1: predicate, 32: one word per lane, 64: two.
int slot_bits(LaneType type);

/// An instruction that acts on each lane alone. Sources travel in Micro::a, b, c in the order of the text, the fourth
/// in the first slot of the list. Slots of one instruction are the same or apart; d of another width than a source
/// overlaps it nowhere. `setp` on pairs compares the lower halves where Micro::extra is 0, the upper ones where it is
/// 1: one micro-operation for each predicate. Narrow results of `cvt` fill the word, extended by the result's own sign.
struct LaneOpcode {
  std::string_view key;  ///< "add.s32 add.u32": its texts, without .ftz and the floating .sat; "": only wraps others
  Pipe pipe = Pipe::alu;
  LaneType d = LaneType::u32;
  std::array<LaneType, 4> sources{};
  int source_count = 0;
  bool carry = false;  ///< the first slot of the list is the carry, 0 or 1 per lane; read and written as the text says
  bool literal = false;       ///< the last PTX operand is a constant and travels in Micro::extra
  std::uint32_t handler = 0;  ///< index into a LaneTable
};

/// What a lane instruction's text says: its row and the modifiers that wrap it.
struct LaneMatch {
  const LaneOpcode* row = nullptr;
  bool flush = false;     ///< .ftz: f32, f16 and f16x2 subnormals in sources and result become zero, sign kept
  bool saturate = false;  ///< .sat on a floating result: clamped to 0..1, NaN becomes 0
};

/// Splits "ld.global.nc.v4.f32" at its dots ("::" stays inside a part).
std::vector<std::string_view> split_opcode(std::string_view opcode);

/// nothing: no row has this text.
std::optional<LaneMatch> find_lane_opcode(std::string_view text);
std::span<const LaneOpcode> lane_opcodes();

/// `mov` between a vector and a register: 16 bits in 2 parts, 32 in 2 or 4, 64 in 2 or 4; nullptr: not such. The list
/// holds the parts, low first. pack reads them and writes d; unpack reads a and writes those that are not no_slot.
const LaneOpcode* find_pack(int whole_bits, int parts);
const LaneOpcode* find_unpack(int whole_bits, int parts);

/// Handlers of all lane opcodes and of the memory accesses for one instruction set. Fast paths differ, results do not.
struct LaneTable {
  std::string_view name;  ///< "avx512", "avx2", "portable"
  const Step (*lane)[2];  ///< by LaneOpcode::handler: full, some
  std::uint32_t lane_count;
  Step flush_f32[2];     ///< d <- a with subnormals as zero
  Step saturate_f32[2];  ///< d <- a clamped to 0..1
  Step flush_f16[2], flush_f16x2[2];
  Step saturate_f16[2], saturate_bf16[2], saturate_f16x2[2], saturate_bf16x2[2], saturate_f64[2];
  Step copy32[2], copy64[2];  ///< d <- a
  Step negate_predicate[2];   ///< d <- !a
  /// Lanes whose predicate word is set, as a mask.
  std::uint32_t (*mask_of)(const std::uint32_t* predicate);
  const AccessTable* access = nullptr;   ///< loads and stores
  const ShuffleStep* shuffle = nullptr;  ///< idx, up, down, bfly of whole warps
};

/// The fastest table this machine can run, or the one of that name ("" for the fastest). nullptr: none of that name,
/// or this machine cannot run it.
const LaneTable* lane_table(std::string_view name = {});
std::vector<std::string_view> lane_table_names();  ///< that this machine can run, fastest first

}  // namespace tailor::simulator
