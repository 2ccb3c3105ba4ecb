// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What operations on integers of up to 32 bits take of which unit, where a graph tells more than the operation table.
// In: a node. Out: its instructions, none where it is part of another one, or nothing where the table says it.
// Called where groups are summed up (sol.cpp, group_facts.cpp); of kernels cost.cpp knows more.
#pragma once

#include <bit>
#include <cstring>
#include <optional>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Instructions for an element; fewer than none where it takes those of another node away.
struct IntegerWork {
  double fma = 0, alu = 0;
};

/// The bits of the number of up to 32 bits in all places of an array; 0 where it is not known.
inline std::uint32_t number_everywhere(const Graph& graph, NodeId id) {
  while (graph[id].op == Op::broadcast) id = graph[id].operands[0];
  const auto* literal = std::get_if<Literal>(&graph[id].attributes);
  std::uint32_t number = 0;
  if (literal != nullptr && literal->known && literal->bytes.size() <= sizeof number)
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

/// Quotient and remainder, each without sign and with it, where elements share their divisor's reciprocal.
inline constexpr IntegerWork shared_division[2][2] = {{{4, 7}, {4, 10}}, {{4, 4}, {3, 7}}};

/// Of a division by a known number, or by one that others share: by a known one it is a multiplication whose upper half
/// is shifted, by a power of two a shift alone: as costmodel/cost.cpp counts both.
inline std::optional<IntegerWork> division_work(const Graph& graph, const Node& node) {
  const std::uint32_t by = number_everywhere(graph, node.operands[1]);
  const bool leaves = node.op == Op::remainder, is_rounded = is_signed(node.shape.dtype);
  if (by == 0 && graph[node.operands[1]].op != Op::broadcast) return std::nullopt;
  if (by == 0) return shared_division[leaves ? 1 : 0][is_rounded ? 1 : 0];
  if (std::has_single_bit(by)) return IntegerWork{leaves && is_rounded ? 1.0 : 0.0, is_rounded ? 3.0 : 1.0};
  return IntegerWork{leaves ? 3.0 : 2.0, 2};
}

/// Of an elementwise node. The assembler gives sums and shifts to the left to the multiply-adds (IMAD), which are free
/// where integers are computed: seen in sm_90 machine code of generators of random numbers.
inline std::optional<IntegerWork> integer_work(const Graph& graph, const Node& node) {
  if (!is_integer(node.shape.dtype) || row(node.shape.dtype).bits > 32) return std::nullopt;
  if (node.op == Op::divide || node.op == Op::remainder) return division_work(graph, node);
  if (row(node.shape.dtype).bits != 32) return std::nullopt;
  if (is_rotation(graph, node)) return IntegerWork{.fma = -1};  // its shift to the right stands for all three
  const bool shifts =
      node.op == Op::shift_left || node.op == Op::shift_right_logical || node.op == Op::shift_right_arithmetic;
  if (shifts && number_everywhere(graph, node.operands[1]) == 0) return std::nullopt;  // it may be beyond 31
  if (node.op == Op::add || node.op == Op::subtract || node.op == Op::shift_left) return IntegerWork{.fma = 1};
  return shifts ? std::optional(IntegerWork{.alu = 1}) : std::nullopt;
}

}  // namespace tailor::ir
