// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What operations on integers of up to 32 bits take of which unit, where a graph tells more than the operation table.
// In: a node. Out: its instructions, none where it is part of another one, or nothing where the table says it.
// Called where groups are summed up (sol.cpp, group_facts.cpp); of kernels cost.cpp knows more, and has the rows too.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "ir/graph/arithmetic.h"
#include "ir/graph/graph.h"

namespace tailor::ir {

/// What an operation on integers takes by what is known of its last operand.
enum class LastOperand : std::uint8_t { any, constant, power_of_two };
struct IntegerRow {
  Op op;
  LastOperand last;
  bool is_signed;
  int fma, alu, xu, narrow;
};
/// Counted in the sm_90 machine code of eight elements of 32 bits: the texts of codegen/cuda/prelude.cpp, a division by
/// a variable as a reciprocal in f32 and two steps of correction. Multiply-adds of integers are on the FMA pipe.
inline constexpr auto integer_rows = std::to_array<IntegerRow>({
    {Op::divide, LastOperand::any, true, 10, 18, 1, 2},
    {Op::divide, LastOperand::any, false, 7, 11, 1, 2},
    {Op::divide, LastOperand::constant, true, 2, 2, 0, 0},
    {Op::divide, LastOperand::constant, false, 2, 2, 0, 0},
    {Op::divide, LastOperand::power_of_two, true, 0, 3, 0, 0},
    {Op::divide, LastOperand::power_of_two, false, 0, 1, 0, 0},
    {Op::remainder, LastOperand::any, true, 10, 14, 1, 2},
    {Op::remainder, LastOperand::any, false, 7, 9, 1, 2},
    {Op::remainder, LastOperand::constant, true, 3, 2, 0, 0},
    {Op::remainder, LastOperand::constant, false, 3, 2, 0, 0},
    {Op::remainder, LastOperand::power_of_two, true, 1, 3, 0, 0},
    {Op::remainder, LastOperand::power_of_two, false, 0, 1, 0, 0},
    {Op::shift_left, LastOperand::constant, true, 1, 0, 0, 0},  // IMAD.SHL
    {Op::shift_left, LastOperand::constant, false, 1, 0, 0, 0},
    {Op::shift_right_logical, LastOperand::constant, true, 0, 1, 0, 0},
    {Op::shift_right_logical, LastOperand::constant, false, 0, 1, 0, 0},
    {Op::shift_right_arithmetic, LastOperand::constant, true, 0, 1, 0, 0},
    {Op::shift_right_arithmetic, LastOperand::constant, false, 0, 1, 0, 0},
});

inline const IntegerRow* integer_row(Op op, LastOperand last, bool is_signed) {
  const auto row = std::find_if(integer_rows.begin(), integer_rows.end(), [&](const IntegerRow& one) {
    return one.op == op && one.is_signed == is_signed && one.last == last;
  });
  return row == integer_rows.end() ? nullptr : &*row;
}

/// What of a division, or another operation, its last operand alone decides: elements that share it share that.
struct OperandPart {
  Op op;
  Arithmetic by;  ///< the class whose text it is
  int fma, alu, xu, narrow;
};
/// Of integers: the reciprocal in f32, made a number again, and its correction.
struct IntegerPart {
  bool is_signed;
  OperandPart part;
};
inline constexpr std::array integer_parts = std::to_array<IntegerPart>({
    {true, {Op::divide, Arithmetic::ieee, 6, 8, 1, 2}},
    {false, {Op::divide, Arithmetic::ieee, 3, 4, 1, 2}},
    {true, {Op::remainder, Arithmetic::ieee, 7, 7, 1, 2}},
    {false, {Op::remainder, Arithmetic::ieee, 3, 5, 1, 2}},
});

inline const OperandPart* integer_part(Op op, bool is_signed) {
  const auto found = std::find_if(integer_parts.begin(), integer_parts.end(), [&](const IntegerPart& one) {
    return one.part.op == op && one.is_signed == is_signed;
  });
  return found == integer_parts.end() ? nullptr : &found->part;
}

/// Instructions for an element; fewer than none where it takes those of another node away.
struct IntegerWork {
  double fma = 0, alu = 0;
};

/// The bits of the number of up to 32 bits in all places of an array; 0 where it is not known.
inline std::uint32_t number_everywhere(const Graph& graph, NodeId id) {
  while (graph[id].op == Op::broadcast || graph[id].op == Op::reshape) id = graph[id].operands[0];
  const Literal* literal = known_literal(graph[id]);
  std::uint32_t number = 0;
  if (literal != nullptr && elements(graph[id].shape) == 1 && literal->bytes.size() <= sizeof number)
    std::memcpy(&number, literal->bytes.data(), literal->bytes.size());
  return number;
}

/// Whether bits are turned round: x << n | x >> (32 - n), one instruction.
inline bool is_rotation(const Graph& graph, const Node& node) {
  const bool joins = node.op == Op::bit_or || node.op == Op::bit_xor || node.op == Op::add;
  if (!joins || node.operands.size() != 2) return false;
  const Node &one = graph[node.operands[0]], &other = graph[node.operands[1]];
  const bool shifts = (one.op == Op::shift_left && other.op == Op::shift_right_logical) ||
                      (one.op == Op::shift_right_logical && other.op == Op::shift_left);
  if (!shifts || one.operands[0] != other.operands[0]) return false;
  const std::uint32_t a = number_everywhere(graph, one.operands[1]), b = number_everywhere(graph, other.operands[1]);
  return a > 0 && b > 0 && std::uint64_t{a} + b == 32;
}

/// Of an elementwise node. The assembler gives sums and shifts to the left to the multiply-adds (IMAD), which are free
/// where integers are computed: seen in sm_90 machine code of generators of random numbers. Elements that one number
/// divides share what it alone decides.
inline std::optional<IntegerWork> integer_work(const Graph& graph, const Node& node) {
  if (!is_integer(node.shape.dtype) || row(node.shape.dtype).bits > 32) return std::nullopt;
  const bool divides = node.op == Op::divide || node.op == Op::remainder;
  if (!divides && row(node.shape.dtype).bits != 32) return std::nullopt;
  if (is_rotation(graph, node)) return IntegerWork{.fma = -1};  // its shift to the right stands for all three
  if (node.op == Op::add || node.op == Op::subtract) return IntegerWork{.fma = 1};
  if (node.operands.size() != 2) return std::nullopt;
  const std::uint32_t by = number_everywhere(graph, node.operands[1]);
  const LastOperand last = by == 0                              ? LastOperand::any
                           : divides && std::has_single_bit(by) ? LastOperand::power_of_two
                                                                : LastOperand::constant;
  const IntegerRow* all = integer_row(node.op, last, is_signed(node.shape.dtype));
  if (all == nullptr) return std::nullopt;  // a shift by a number that may be beyond 31 among others
  if (last != LastOperand::any) return IntegerWork{static_cast<double>(all->fma), static_cast<double>(all->alu)};
  if (graph[node.operands[1]].op != Op::broadcast) return std::nullopt;
  const OperandPart* shared = integer_part(node.op, is_signed(node.shape.dtype));
  return IntegerWork{static_cast<double>(all->fma - shared->fma), static_cast<double>(all->alu - shared->alu)};
}

}  // namespace tailor::ir
