// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic classes: how exactly a kernel computes divisions, roots and transcendental functions. A plan chooses one
// for all of its kernel. In: an operation and a class. Out: its CUDA text, its instructions and its errors, from the
// rows of arithmetic.def and ops.def. Asked by the printer, ids of kernels, counters, models and error bounds.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ir/graph/op.h"
#include "ir/graph/types.h"

namespace tailor::ir {

/// ieee: correctly rounded division and roots, CUDA's accurate functions. xla: what XLA's GPU emitter does. approx: the
/// machine's approximate instructions. Each may do what the one before it does.
enum class Arithmetic : std::uint8_t { ieee, xla, approx };
inline constexpr std::array arithmetic_names = std::to_array<std::string_view>({"ieee", "xla", "approx"});
constexpr std::string_view name(Arithmetic arithmetic) {
  return arithmetic_names[static_cast<std::size_t>(arithmetic)];
}

/// A row of arithmetic.def.
struct ArithmeticRow {
  Op op;
  Arithmetic arithmetic;
  std::string_view real;  ///< CUDA C++ pattern on f32; "": that of the class before
  int fma, alu, xu;
  double ulps, ulps_per_argument, absolute;
  double least, most;  ///< of the last operand's magnitude; 0: any
};

inline constexpr std::array arithmetic_table = std::to_array<ArithmeticRow>({
#define ARITHMETIC(op, arithmetic, text, fma, alu, xu, ulps, per_argument, absolute, least, most) \
  {Op::op, Arithmetic::arithmetic, text, fma, alu, xu, ulps, per_argument, absolute, least, most},
#include "ir/graph/arithmetic.def"
#undef ARITHMETIC
});

enum class BranchesOn : std::uint8_t { real, integer };

/// A row of branches.def.
struct BranchingRow {
  Op op;
  BranchesOn on;
  Arithmetic last;
  int rare;
};

inline constexpr std::array branching_table = std::to_array<BranchingRow>({
#define BRANCHES(op, on, last, rare) {Op::op, BranchesOn::on, Arithmetic::last, rare},
#include "ir/graph/branches.def"
#undef BRANCHES
});

/// Rows by operation, class and BranchesOn: the counters ask for every value of every kernel.
inline constexpr auto branching_rows = [] {
  std::array<std::array<std::array<const BranchingRow*, 2>, arithmetic_names.size()>, op_table.size()> all{};
  for (const BranchingRow& row : branching_table)
    for (std::size_t by = 0; by <= static_cast<std::size_t>(row.last); ++by)
      all[index(row.op)][by][static_cast<std::size_t>(row.on)] = &row;
  return all;
}();

/// Of what is computed in the type by the class; nullptr: its machine code has no branch. Of f64 the rows of f32 are
/// taken, of narrower and wider integers those of 32 bits.
constexpr const BranchingRow* branching(Op op, DType dtype, Arithmetic arithmetic) {
  const BranchesOn on = is_floating(dtype) ? BranchesOn::real : BranchesOn::integer;
  return branching_rows[index(op)][static_cast<std::size_t>(arithmetic)][static_cast<std::size_t>(on)];
}

/// An operation as a class computes it: what is printed and counted.
struct Computed {
  std::string_view real;  ///< CUDA C++ pattern on f32
  int fma = 0, alu = 0, xu = 0;
  Arithmetic by = Arithmetic::ieee;  ///< the class whose text it is: kernels that differ in nothing else are the same
};

/// Of every operation, by class.
inline constexpr auto computed_table = [] {
  std::array<std::array<Computed, op_table.size()>, arithmetic_names.size()> all{};
  for (std::size_t i = 0; i < op_table.size(); ++i)
    all[0][i] = {op_table[i].real, op_table[i].fma, op_table[i].alu, op_table[i].xu, Arithmetic::ieee};
  for (std::size_t at = 1; at < all.size(); ++at) {
    all[at] = all[at - 1];
    for (const ArithmeticRow& row : arithmetic_table)
      if (row.arithmetic == static_cast<Arithmetic>(at) && !row.real.empty())
        all[at][index(row.op)] = {row.real, row.fma, row.alu, row.xu, row.arithmetic};
  }
  return all;
}();
constexpr const Computed& computed(Op op, Arithmetic arithmetic) {
  return computed_table[static_cast<std::size_t>(arithmetic)][index(op)];
}

/// What is computed in f32, f16 and bf16 too, knows classes; f64 and integers do not.
inline bool has_classes(DType dtype) { return is_floating(dtype) && row(dtype).compute == DType::f32; }
inline const Computed& computed(Op op, DType dtype, Arithmetic arithmetic) {
  return computed(op, has_classes(dtype) ? arithmetic : Arithmetic::ieee);
}

/// The row whose errors hold for the operation, that of the class before where it has none; nullptr: those of ieee.
constexpr const ArithmeticRow* error_row(Op op, Arithmetic arithmetic) {
  const ArithmeticRow* last = nullptr;
  for (const ArithmeticRow& row : arithmetic_table)
    if (row.op == op && row.arithmetic <= arithmetic && (last == nullptr || last->arithmetic < row.arithmetic))
      last = &row;
  return last;
}

/// Whether division by a number known when the kernel is made is a product with its reciprocal.
constexpr bool multiplies_by_reciprocal(Arithmetic arithmetic) { return arithmetic != Arithmetic::ieee; }

}  // namespace tailor::ir
