// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations that take no instruction of their own: a number of 64 bits is two registers that can be put together
// freely, LOP3 does two operations on bits at once, SHF turns bits round, a comparison joins its result with another
// one, and an instruction under a predicate leaves its result as it was where that is false. In: a value, and what is
// known of those that make it. Out: the registers for which it takes an instruction. Called where statements are
// charged (cost.cpp). Seen in sm_90 machine code, as the rows there are.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

inline int registers_of(ir::DType dtype) { return std::max(1, ir::row(dtype).bits / 32); }
inline std::int64_t elements_of(const ir::Array& array) {
  return std::max<std::int64_t>(1, array.dims[0]) * std::max<std::int64_t>(1, array.dims[1]) * array.vector;
}
/// Of a thread, packed; none of an array in shared memory.
inline std::int64_t registers_of(const ir::Array& array) {
  if (array.space != ir::Space::registers) return 0;
  return (elements_of(array) * ir::row(array.dtype).bits + 31) / 32;
}

/// An operation of logic on one register.
inline bool is_logic(const ir::Value& v) {
  const bool on_bits =
      v.op == ir::Op::bit_and || v.op == ir::Op::bit_or || v.op == ir::Op::bit_xor || v.op == ir::Op::bit_not;
  return v.kind == ir::ValueKind::op && on_bits && registers_of(v.dtype) == 1 && v.dtype != ir::DType::pred;
}

/// Whether two values are one: the same let or element.
inline bool is_same(const ir::Kernel& kernel, ir::ValueId a, ir::ValueId b) {
  if (a == b) return true;
  const ir::Value &one = kernel.values[a], &other = kernel.values[b];
  return one.kind == ir::ValueKind::let && other.kind == ir::ValueKind::let && one.let == other.let;
}

/// Whether it turns the bits of one register round: both shifts and what puts them together are one instruction.
inline bool is_rotation(const ir::Kernel& kernel, const ValueWalk& walk, const ir::Value& v) {
  const bool joins = v.op == ir::Op::bit_or || v.op == ir::Op::bit_xor || v.op == ir::Op::add;
  if (v.kind != ir::ValueKind::op || !joins || !ir::is_integer(v.dtype) || ir::row(v.dtype).bits != 32) return false;
  const auto shift = [&](ir::ValueId id) -> const ir::Value* {
    if (kernel.values[id].kind == ir::ValueKind::let && !walk.is_read_once(kernel.values[id].let)) return nullptr;
    const ir::Value& made = walk.made(id);
    const bool shifts = made.op == ir::Op::shift_left || made.op == ir::Op::shift_right_logical;
    return made.kind == ir::ValueKind::op && shifts && kernel.values[made.operands[1]].kind == ir::ValueKind::constant
               ? &made
               : nullptr;
  };
  const ir::Value *one = shift(v.operands[0]), *other = shift(v.operands[1]);
  return one != nullptr && other != nullptr && one->op != other->op &&
         is_same(kernel, one->operands[0], other->operands[0]) &&
         kernel.values[one->operands[1]].integer + kernel.values[other->operands[1]].integer == 32;
}

/// Whether it is one instruction with the one that makes an operand: LOP3 has three operands. What others read too is
/// there by itself, and what has taken one in has three already.
inline bool takes_logic_in(const ir::Kernel& kernel, const ValueWalk& walk, const ir::Value& v) {
  const auto is_alone = [&](const ir::Value& one) { return is_logic(one) && !is_rotation(kernel, walk, one); };
  return is_alone(v) && std::any_of(v.operands.begin(), v.operands.end(), [&](ir::ValueId id) {
           return id != ir::no_value && kernel.values[id].kind == ir::ValueKind::let &&
                  walk.may_be_taken(kernel.values[id].let) && is_alone(walk.made(id));
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

/// Whether a selection between what an instruction makes of a value and that value is the instruction under a
/// predicate.
inline bool is_predicate(const ir::Kernel& kernel, const ValueWalk& walk, const ir::Value& v) {
  if (v.kind != ir::ValueKind::op || v.op != ir::Op::select) return false;
  const auto [test, yes, no] = v.operands;
  if (kernel.values[yes].kind != ir::ValueKind::let || !walk.is_read_once(kernel.values[yes].let)) return false;
  const ir::Value& made = walk.made(yes);
  const bool is_one = made.op == ir::Op::add || made.op == ir::Op::subtract || made.op == ir::Op::multiply ||
                      made.op == ir::Op::maximum || made.op == ir::Op::minimum;
  return made.kind == ir::ValueKind::op && is_one && (made.operands[0] == no || made.operands[1] == no);
}

/// Whether an operation on truth values is part of the comparison that makes one of them: ISETP and FSETP join their
/// result with a predicate. A selection between a known truth value and another one is such an operation.
inline bool joins_comparison(const ir::Kernel& kernel, const ValueWalk& walk, const ir::Value& v) {
  if (v.kind != ir::ValueKind::op || v.dtype != ir::DType::pred) return false;
  const auto compares = [&](ir::ValueId id) {
    if (id == ir::no_value) return false;
    const bool is_let = kernel.values[id].kind == ir::ValueKind::let;
    if (is_let && !walk.is_read_once(kernel.values[id].let)) return false;
    const ir::Value& made = walk.made(id);
    return made.kind == ir::ValueKind::op && made.op == ir::Op::compare;
  };
  const auto is_known = [&](ir::ValueId id) { return kernel.values[id].kind == ir::ValueKind::constant; };
  if (v.op == ir::Op::select) return compares(v.operands[0]) && (is_known(v.operands[1]) || is_known(v.operands[2]));
  return (v.op == ir::Op::bit_and || v.op == ir::Op::bit_or) && (compares(v.operands[0]) || compares(v.operands[1]));
}

/// Registers that an operation computes by instructions of its own, where these are fewer than it gives.
inline std::optional<int> words_computed(const ir::Kernel& kernel, const ValueWalk& walk, const ir::Value& v) {
  if (takes_logic_in(kernel, walk, v) || moves_words(kernel, v) || is_predicate(kernel, walk, v)) return 0;
  if (joins_comparison(kernel, walk, v)) return 0;
  if (ir::is_floating(v.dtype) || registers_of(v.dtype) != 2) return std::nullopt;
  if (v.op != ir::Op::bit_or && v.op != ir::Op::bit_xor) return std::nullopt;
  return 2 - std::popcount(zero_words(kernel, walk.made(v.operands[0])) | zero_words(kernel, walk.made(v.operands[1])));
}

}  // namespace tailor::costmodel
