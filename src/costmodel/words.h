// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations on the bits of integers, register by register: which of them take no instruction, since a number of 64
// bits is two registers that can be put together freely, and since LOP3 does two operations on bits at once. In: a
// value, and what is known of those that make it. Out: the registers for which it takes an instruction. Called where
// statements are charged (cost.cpp). Counted in sm_90 machine code, as the rows there are.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

inline int registers_of(ir::DType dtype) { return std::max(1, ir::row(dtype).bits / 32); }

/// An operation of logic on one register.
inline bool is_logic(const ir::Value& v) {
  const bool on_bits =
      v.op == ir::Op::bit_and || v.op == ir::Op::bit_or || v.op == ir::Op::bit_xor || v.op == ir::Op::bit_not;
  return v.kind == ir::ValueKind::op && on_bits && registers_of(v.dtype) == 1 && v.dtype != ir::DType::pred;
}

/// Whether it is one instruction with the one that makes an operand: LOP3 has three operands. What others read too is
/// there by itself, and what has taken one in has three already.
inline bool takes_logic_in(const ir::Kernel& kernel, const ValueWalk& walk, const ir::Value& v) {
  return is_logic(v) && std::any_of(v.operands.begin(), v.operands.end(), [&](ir::ValueId id) {
           return id != ir::no_value && kernel.values[id].kind == ir::ValueKind::let &&
                  walk.may_be_taken(kernel.values[id].let) && is_logic(walk.made(id));
         });
}

/// Whether it hands one of a number's two registers on in the other's place.
inline bool moves_words(const ir::Kernel& kernel, const ir::Value& v) {
  return v.kind == ir::ValueKind::op && (v.op == ir::Op::shift_left || v.op == ir::Op::shift_right_logical) &&
         registers_of(v.dtype) == 2 && kernel.values[v.operands[1]].kind == ir::ValueKind::constant &&
         kernel.values[v.operands[1]].integer == 32;
}

/// Registers of an integer of 64 bits that are known to be 0: bit 0 the lower one.
inline unsigned zero_words(const ir::Kernel& kernel, const ir::Value& v) {
  if (moves_words(kernel, v)) return v.op == ir::Op::shift_left ? 1 : 2;
  if (v.kind != ir::ValueKind::convert) return 0;
  const ir::DType from = kernel.values[v.operands[0]].dtype;
  return registers_of(from) == 1 && ir::is_unsigned(from) ? 2 : 0;
}

/// Registers that an operation on integers computes, where these are fewer than it gives.
inline std::optional<int> words_computed(const ir::Kernel& kernel, const ValueWalk& walk, const ir::Value& v) {
  if (takes_logic_in(kernel, walk, v) || moves_words(kernel, v)) return 0;
  if (ir::is_floating(v.dtype) || registers_of(v.dtype) != 2) return std::nullopt;
  if (v.op != ir::Op::bit_or && v.op != ir::Op::bit_xor) return std::nullopt;
  return 2 - std::popcount(zero_words(kernel, walk.made(v.operands[0])) | zero_words(kernel, walk.made(v.operands[1])));
}

}  // namespace tailor::costmodel
