// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle's common tools: types by their names in PTX, opcode texts taken apart, exact values of floating formats,
// and rounding by integer arithmetic on fractions of 113 bits, so that no floating unit of the host decides a
// rounding. oracle() sends a text to the integer, bit, real or conversion part that knows it.
#include "profiler/simulator/lane_oracle.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

namespace tailor::simulator {

namespace {

__extension__ using Unsigned128 = unsigned __int128;

struct Format {
  int fraction;  ///< bits after the point
  int least;     ///< exponent of the smallest normal
  int most;      ///< of the largest finite
};

Format format_of(OracleType type) {
  if (type.kind == 'g') return {7, -126, 127};
  if (type.kind == 't') return {10, -126, 127};
  if (type.bits == 16) return {10, -14, 15};
  return type.bits == 32 ? Format{23, -126, 127} : Format{52, -1022, 1023};
}

int stored_fraction(OracleType type) { return type.kind == 't' ? 23 : format_of(type).fraction; }
int sign_place(OracleType type) { return type.kind == 't' ? 31 : type.bits - 1; }

}  // namespace

std::optional<OracleType> oracle_type(std::string_view name) {
  if (name == "pred") return OracleType{'p', 32, 1};
  if (name == "tf32") return OracleType{'t', 32, 1};
  OracleType type;
  if (name.starts_with("bf16")) {
    type = {'g', 16, 1};
    name.remove_prefix(4);
  } else {
    if (name.size() < 2 || std::string_view("usbf").find(name[0]) == std::string_view::npos) return std::nullopt;
    type.kind = name[0];
    const std::size_t digits = std::min(name.find_first_not_of("0123456789", 1), name.size());
    if (digits == 1) return std::nullopt;
    type.bits = std::stoi(std::string(name.substr(1, digits - 1)));
    name.remove_prefix(digits);
  }
  if (name == "x2") type.lanes = 2;
  if (!name.empty() && name != "x2") return std::nullopt;
  return type;
}

OracleText taken_apart(std::string_view text) {
  OracleText apart;
  for (bool first = true; !text.empty(); first = false) {
    const std::string part(text.substr(0, text.find('.')));
    const std::optional<OracleType> type = oracle_type(part);
    if (first) {
      apart.op = part;
    } else if (type) {
      apart.types.push_back(*type);
    } else {
      apart.modifiers.push_back(part);
    }
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return apart;
}

bool OracleText::has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

Int128 integer_value(OracleType type, std::uint64_t bits) {
  const Unsigned128 cut = type.bits == 64 ? bits : bits & ((std::uint64_t{1} << type.bits) - 1);
  const bool negative = type.kind == 's' && ((cut >> (type.bits - 1)) & 1) != 0;
  return static_cast<Int128>(cut) - (negative ? static_cast<Int128>(Unsigned128{1} << type.bits) : 0);
}

bool is_nan(Real128 value) { return value != value; }

Real128 real_value(OracleType type, std::uint64_t bits) {
  if (type.kind == 'f' && type.bits == 64) return static_cast<Real128>(std::bit_cast<double>(bits));
  if (type.bits == 32) return static_cast<Real128>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const Format format = format_of(type);
  const auto fraction = static_cast<int>(bits & ((1u << format.fraction) - 1));
  const auto field = static_cast<int>((bits & 0x7fff) >> format.fraction);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (field == format.most - format.least + 2)
    return static_cast<Real128>(std::copysign(fraction != 0 ? NAN : INFINITY, sign));
  const int whole = fraction + (field == 0 ? 0 : 1 << format.fraction);
  return static_cast<Real128>(sign * std::ldexp(whole, format.least + std::max(field, 1) - 1 - format.fraction));
}

std::uint64_t rounded_bits(OracleType type, Real128 value, std::string_view mode) {
  const Format format = format_of(type);
  const int width = stored_fraction(type), extra = width - format.fraction;
  const std::uint64_t infinity = ((std::uint64_t{1} << (sign_place(type) - width)) - 1) << width;
  if (is_nan(value)) return infinity | ((std::uint64_t{1} << width) - 1);
  const Unsigned128 raw = std::bit_cast<Unsigned128>(value);
  const bool negative = (raw >> 127) != 0;
  const std::uint64_t sign = negative ? std::uint64_t{1} << sign_place(type) : 0;
  const auto field = static_cast<int>((raw >> 112) & 0x7fff);
  if (field == 0x7fff) return sign | infinity;
  const Unsigned128 fraction = (raw & ((Unsigned128{1} << 112) - 1)) | (field == 0 ? 0 : Unsigned128{1} << 112);
  const int exponent = field - 16383;
  const int dropped = std::min(112 - format.fraction + std::max(0, format.least - exponent), 127);
  const Unsigned128 kept = fraction >> dropped, rest = fraction & ((Unsigned128{1} << dropped) - 1);
  const Unsigned128 half = Unsigned128{1} << (dropped - 1);
  bool up = false;
  if (mode == "rn") up = rest > half || (rest == half && (kept & 1) != 0);
  if (mode == "rna") up = rest >= half;
  if (mode == "rm") up = negative && rest != 0;
  if (mode == "rp") up = !negative && rest != 0;
  const std::uint64_t whole = static_cast<std::uint64_t>(kept) + (up ? 1 : 0);
  const int place = std::max(exponent - format.least, 0);  // a normal's fraction carries one into the exponent's field
  const std::uint64_t size = (static_cast<std::uint64_t>(place) << format.fraction) + whole;
  const std::uint64_t most = ((static_cast<std::uint64_t>(format.most - format.least + 1) << format.fraction)) +
                             ((std::uint64_t{1} << format.fraction) - 1);
  if (exponent > format.most || size > most) {
    const bool stays = mode == "rz" || (mode == "rm" && !negative) || (mode == "rp" && negative);
    return sign | (stays ? most << extra : infinity);
  }
  return sign | size << extra;
}

Real128 sticky_sum(Real128 a, Real128 b) {
  const volatile Real128 x = a, y = b;
  const int before = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  const volatile Real128 below = x + y;
  std::fesetround(FE_UPWARD);
  const volatile Real128 above = x + y;
  std::fesetround(before);
  const Real128 low = below, high = above;
  const bool low_is_odd = (std::bit_cast<Unsigned128>(low) & 1) != 0;
  if (low == 0 && high == 0) return x + y;
  return low != high && low_is_odd ? low : high;
}

bool compared(std::string_view op, Real128 a, Real128 b) {
  const bool unordered = is_nan(a) || is_nan(b);
  if (op == "num") return !unordered;
  if (op == "nan") return unordered;
  if (op == "lo") op = "lt";
  if (op == "ls") op = "le";
  if (op == "hi") op = "gt";
  if (op == "hs") op = "ge";
  if (unordered) return op.size() == 3;
  const std::string_view plain = op.substr(0, 2);
  if (plain == "eq") return a == b;
  if (plain == "ne") return a != b;
  if (plain == "lt") return a < b;
  if (plain == "le") return a <= b;
  return plain == "gt" ? a > b : a >= b;
}

std::optional<OracleAnswer> oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t extra) {
  if (text.types.empty()) return std::nullopt;
  if (text.op == "cvt") return convert_oracle(text, operands);
  const OracleType type = text.types.back();
  if (type.real() && type.lanes == 2 && text.op != "setp") {
    OracleText half = text;
    for (OracleType& t : half.types) t.lanes = 1;
    OracleAnswer whole;
    for (int k = 0; k < 2; ++k) {
      LaneOperands part;
      std::ranges::transform(operands, part.begin(), [k](std::uint64_t v) { return (v >> (16 * k)) & 0xffff; });
      const std::optional<OracleAnswer> answer = oracle(half, part, extra);
      if (!answer) return std::nullopt;
      whole.bits |= (answer->bits & 0xffff) << (16 * k);
      whole.relative = std::max(whole.relative, answer->relative);
      whole.absolute = std::max(whole.absolute, answer->absolute);
    }
    return whole;
  }
  if (const auto answer = compare_oracle(text, operands, extra)) return answer;
  if (const auto answer = bits_oracle(text, operands, extra)) return answer;
  return type.real() ? real_oracle(text, operands) : integer_oracle(text, operands, extra);
}

}  // namespace tailor::simulator
