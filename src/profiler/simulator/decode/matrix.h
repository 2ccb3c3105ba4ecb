// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix instructions of one warp, as records: D = A * B + C with the matrices spread over the warp's lanes. In: the
// parts of an mma opcode. Out: its shape and types, and how many registers of a lane hold each matrix. The decoder
// writes the record into the micro-operation, the machine's step (matrix_steps.cpp) reads it.
//
// All shapes that `mma.sync` knows spread their elements by one rule (PTX ISA, Warp Level Matrix Multiply-Accumulate
// Instructions): in words of e elements, lane l stands at row g = l / 4 and column t = l % 4 of words. Word r of A
// holds row g + 8 * (r % 2), columns ((r / 2) * 4 + t) * e and on; word r of B holds column g, the same rows; element j
// of C and D is row g + 8 * (j / 2), column 2 * t + j % 2. The one shape with another rule (m8n8k4 of halves) is
// refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tailor::simulator {

enum class MatrixElement : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4, b1, f64, f32, s32 };
int element_bits(MatrixElement element);

/// A product: m rows of A (8 or 16), 8 columns of B, k between them. `flags`: matrix_clamps and the rest.
struct MatrixForm {
  std::uint8_t m = 0;
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16, sum = MatrixElement::f32;
  std::uint16_t k = 0;
  std::uint16_t flags = 0;
};
inline constexpr std::uint16_t matrix_clamps = 1;  ///< sums beyond 32 bits stay at the end of the range
inline constexpr std::uint16_t matrix_ands = 2;    ///< single bits: and instead of exclusive or
/// Registers of a lane that hold a part.
struct MatrixRegisters {
  int a = 0, b = 0, sum = 0;
};
MatrixRegisters registers_of(const MatrixForm& form);

/// What the parts of an opcode from "mma" on say; nothing: no such product is known.
std::optional<MatrixForm> matrix_form(const std::vector<std::string_view>& parts);

}  // namespace tailor::simulator
