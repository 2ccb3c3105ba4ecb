// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What an instruction that acts lane by lane gives, from its PTX text alone: the text is taken apart and computed one
// value at a time with 128-bit integers and 128-bit floats, by the formulas of the PTX manual. Nothing is shared with
// the handlers under test, neither code nor the opcode table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/simulator/lane_harness.h"

namespace tailor::simulator {

__extension__ using Int128 = __int128;
__extension__ using Real128 = __float128;

/// A type's name taken apart: kind 'u', 's', 'b', 'p', 'f' (IEEE), 'g' (bf16), 't' (tf32); lanes 2 for pairs.
struct OracleType {
  char kind = 'b';
  int bits = 32;
  int lanes = 1;
  bool real() const { return kind == 'f' || kind == 'g' || kind == 't'; }
};
std::optional<OracleType> oracle_type(std::string_view name);

/// The least and the greatest value of an integer type.
inline Int128 least_of(OracleType type) { return type.kind == 's' ? -(Int128{1} << (type.bits - 1)) : 0; }
inline Int128 most_of(OracleType type) { return (Int128{1} << (type.bits - (type.kind == 's' ? 1 : 0))) - 1; }

struct OracleText {
  std::string op;                      ///< "add"
  std::vector<std::string> modifiers;  ///< neither op nor types
  std::vector<OracleType> types;
  bool has(std::string_view modifier) const;
};
OracleText taken_apart(std::string_view text);

struct OracleAnswer {
  std::uint64_t bits = 0;
  bool nan = false;     ///< of a floating result: any NaN will do
  bool carry = false;   ///< carry-out
  double relative = 0;  ///< bounds of an approximation; 0: exact
  double absolute = 0;
};

/// nothing: the text is not known here.
std::optional<OracleAnswer> oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t extra);

// The parts: integers and bits, floating values, conversions.
std::optional<OracleAnswer> integer_oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t extra);
std::optional<OracleAnswer> bits_oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t extra);
std::optional<OracleAnswer> real_oracle(const OracleText& text, const LaneOperands& operands);
std::optional<OracleAnswer> compare_oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t extra);
std::optional<OracleAnswer> convert_oracle(const OracleText& text, const LaneOperands& operands);

// Tools of the parts.
Int128 integer_value(OracleType type, std::uint64_t bits);
Real128 real_value(OracleType type, std::uint64_t bits);
bool is_nan(Real128 value);
/// Rounded once: "rn", "rz", "rm", "rp", "rna". NaN gives the canonical one.
std::uint64_t rounded_bits(OracleType type, Real128 value, std::string_view mode);
/// a + b with a sticky last bit.
Real128 sticky_sum(Real128 a, Real128 b);
bool compared(std::string_view op, Real128 a, Real128 b);

}  // namespace tailor::simulator
