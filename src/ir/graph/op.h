// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation table. Every operation of HLO is one row of ops.def: its opcode, class, attributes, operand
// count, cost in instructions, how it is written at one element in CUDA C++, and its reference function. This is PAI's
// "Implementation" abstraction: the row is the only place that knows how an operation is written.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tailor::ir {

enum class Op : std::uint8_t {
#define X(id, hlo, kind, attributes, arity, fma, alu, xu, real, integer, real_ref, integer_ref) id,
#include "ir/graph/ops.def"
#undef X
};

enum class OpClass : std::uint8_t {
  leaf,           ///< parameter, constant, iota
  elementwise,    ///< result element i needs operand elements i only
  mapped,         ///< elementwise through a body graph
  index,          ///< moves elements; the source place is known before the data
  lookup,         ///< moves elements; the place depends on data
  reduction,      ///< reduce
  window,         ///< reduce-window, sort and their kin
  library,        ///< dot, convolution, custom-call: a call with a cost
  composite,      ///< batch-norm-*: import expands them
  random,         ///< random numbers
  structure,      ///< tuples, calls, barriers: import resolves them
  control,        ///< while, conditional: nodes with bodies
  communication,  ///< collectives and side effects
  opaque,         ///< an opcode we do not know, kept by name
};

struct OpRow {
  Op op;
  std::string_view id;   ///< our name: the text form of graphs
  std::string_view hlo;  ///< HLO's name
  OpClass kind;
  std::string_view attributes;  ///< the struct of attributes.h that its nodes hold
  int arity;
  int fma, alu, xu;                ///< instructions per element and pipe, f32
  std::string_view real, integer;  ///< CUDA C++ pattern
};

inline constexpr std::array op_table = std::to_array<OpRow>({
#define X(id, hlo, kind, attributes, arity, fma, alu, xu, real, integer, real_ref, integer_ref) \
  {Op::id, #id, hlo, OpClass::kind, #attributes, arity, fma, alu, xu, real, integer},
#include "ir/graph/ops.def"
#undef X
});

/// As an index into a table with one element per operation.
constexpr std::size_t index(Op op) { return static_cast<std::size_t>(op); }
constexpr const OpRow& row(Op op) { return op_table[index(op)]; }
constexpr std::string_view name(Op op) { return row(op).id; }
constexpr OpClass class_of(Op op) { return row(op).kind; }
/// Whether each element is computed of its operands' elements at the same place alone: by an operation, or by a body.
constexpr bool is_elementwise(Op op) {
  return class_of(op) == OpClass::elementwise || class_of(op) == OpClass::mapped;
}
/// The row of an HLO opcode ("round-nearest-even"), or nullptr.
const OpRow* find_hlo_op(std::string_view hlo);
/// The row of our name ("round_even"), or nullptr.
const OpRow* find_op(std::string_view id);
std::string_view name(OpClass kind);

}  // namespace tailor::ir
