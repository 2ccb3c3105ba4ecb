// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle for integer arithmetic and for bits: one value at a time, by the formulas and loops of the PTX manual, in
// 128-bit integers so that nothing overflows before it is cut to its type. Shares no code with the handlers it judges.
// Called by oracle() in lane_oracle.cpp.
#include <algorithm>
#include <bit>
#include <map>

#include "profiler/simulator/lane_oracle.h"

namespace tailor::simulator {

namespace {

__extension__ using Unsigned128 = unsigned __int128;

std::uint64_t low_bits(Int128 value, int bits) {
  const auto low = static_cast<std::uint64_t>(value);
  return bits == 64 ? low : low & ((std::uint64_t{1} << bits) - 1);
}

std::optional<Int128> dot(const OracleText& text, const LaneOperands& operands) {
  const OracleType ta{text.types[0].kind, text.op == "dp4a" ? 8 : 16}, tb{text.types[1].kind, 8};
  const OracleType tc{ta.kind == 's' || tb.kind == 's' ? 's' : 'u', 32};
  Int128 sum = integer_value(tc, operands[2]);
  const int terms = text.op == "dp4a" ? 4 : 2, skipped = text.has("hi") ? 2 : 0;
  for (int k = 0; k < terms; ++k) {
    sum += integer_value(ta, operands[0] >> (ta.bits * k)) * integer_value(tb, operands[1] >> (8 * (k + skipped)));
  }
  return sum;
}

/// Sum or product, before it is cut; subtraction's carry is a borrow.
std::optional<Int128> extended(const OracleText& text, const LaneOperands& operands, Int128& carried) {
  const OracleType type = text.types.back(), plain{'u', type.bits};
  const Int128 k = text.op.ends_with("c") ? Int128{operands[3] & 1} : 0;
  const Int128 a = integer_value(plain, operands[0]), b = integer_value(plain, operands[1]);
  if (text.op == "add" || text.op == "addc") return carried = a + b + k;
  if (text.op == "sub" || text.op == "subc") return carried = a - b - k;
  const Int128 product = integer_value(type, operands[0]) * integer_value(type, operands[1]);
  const Int128 half = text.has("hi") ? product >> type.bits : product;
  const Int128 cut_half = static_cast<Int128>(low_bits(half, type.bits));
  return carried = cut_half + integer_value(plain, operands[2]) + k;
}

std::optional<Int128> arithmetic(const OracleText& text, const LaneOperands& operands) {
  const OracleType type = text.types.back();
  const Int128 a = integer_value(type, operands[0]), b = integer_value(type, operands[1]);
  const Int128 c = integer_value(text.has("wide") ? OracleType{type.kind, 2 * type.bits} : type, operands[2]);
  const auto clamp = [&](Int128 v) { return text.has("sat") ? std::clamp(v, least_of(type), most_of(type)) : v; };
  const auto relu = [&](Int128 v) { return text.has("relu") ? std::max(v, Int128{0}) : v; };
  const OracleType low24{type.kind, 24};
  const Int128 product =
      text.op.ends_with("24") ? integer_value(low24, operands[0]) * integer_value(low24, operands[1]) : a * b;
  const int shift = !text.has("hi") ? 0 : text.op.ends_with("24") ? 16 : type.bits;
  if (text.op == "add") return clamp(a + b);
  if (text.op == "sub") return clamp(a - b);
  if (text.op == "mul" || text.op == "mul24") return product >> shift;
  if (text.op == "mad" || text.op == "mad24") return clamp((product >> shift) + c);
  if (text.op == "div") return b == 0 ? -1 : a / b;
  if (text.op == "rem") return b == 0 ? a : a % b;
  if (text.op == "min") return relu(std::min(a, b));
  if (text.op == "max") return relu(std::max(a, b));
  if (text.op == "neg") return -a;
  if (text.op == "abs") return a < 0 ? -a : a;
  if (text.op == "sad") return c + (a < b ? b - a : a - b);
  if (text.op == "mov") return a;
  return std::nullopt;
}

}  // namespace

std::optional<OracleAnswer> integer_oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t) {
  const OracleType type = text.types.back();
  if (text.op == "dp4a" || text.op == "dp2a") return OracleAnswer{low_bits(*dot(text, operands), 32)};
  if (type.lanes == 2) {
    OracleText half = text;
    half.types.back() = {type.kind, 16, 1};
    std::uint64_t bits = 0;
    for (int k = 0; k < 2; ++k) {
      bits |= low_bits(*arithmetic(half, {operands[0] >> (16 * k), operands[1] >> (16 * k)}), 16) << (16 * k);
    }
    return OracleAnswer{bits};
  }
  if (text.has("cc") || text.op == "addc" || text.op == "subc" || text.op == "madc") {
    Int128 whole = 0;
    extended(text, operands, whole);
    OracleAnswer answer{low_bits(whole, type.bits)};
    answer.carry = text.has("cc") ? ((whole >> type.bits) & 1) != 0 : (operands[3] & 1) != 0;
    return answer;
  }
  const std::optional<Int128> value = arithmetic(text, operands);
  if (!value) return std::nullopt;
  return OracleAnswer{low_bits(*value, text.has("wide") ? 2 * type.bits : type.bits)};
}

namespace {

/// Bit i of a register of `bits`.
bool bit(std::uint64_t value, int i) { return (value >> i) & 1; }

std::uint64_t field(const OracleType& type, std::uint64_t a, int position, int length) {
  const int top = type.bits - 1;
  const bool sign = type.kind == 's' && length != 0 && bit(a, std::min(position + length - 1, top));
  std::uint64_t d = 0;
  for (int i = 0; i <= top; ++i) {
    if (i < length && position + i <= top ? bit(a, position + i) : sign) d |= std::uint64_t{1} << i;
  }
  return d;
}

std::uint64_t found_bit(const OracleType& type, std::uint64_t a, bool shift_amount) {
  const bool wanted = !(type.kind == 's' && bit(a, type.bits - 1));
  for (int i = type.bits - 1; i >= 0; --i) {
    if (bit(a, i) == wanted) return static_cast<std::uint64_t>(shift_amount ? type.bits - 1 - i : i);
  }
  return 0xffffffffu;
}

std::uint64_t permuted_bytes(const OracleText& text, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const std::uint64_t bytes = b << 32 | a;
  const int s = static_cast<int>(c & 3);
  std::array<int, 4> from{};
  bool replicate[4] = {};
  for (int k = 0; k < 4; ++k) {
    const auto nibble = static_cast<int>((c >> (4 * k)) & 15);
    from[static_cast<std::size_t>(k)] = nibble & 7;
    replicate[k] = nibble >= 8;
  }
  // Rows of the manual's table, most significant byte first.
  static const std::map<std::string, std::array<std::string, 4>> modes = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const std::string& modifier : text.modifiers) {
    const std::string& row = modes.at(modifier)[static_cast<std::size_t>(s)];
    for (std::size_t k = 0; k < 4; ++k) from[k] = row[3 - k] - '0', replicate[k] = false;
  }
  std::uint64_t d = 0;
  for (int k = 0; k < 4; ++k) {
    std::uint64_t byte = (bytes >> (8 * from[static_cast<std::size_t>(k)])) & 0xff;
    if (replicate[k]) byte = byte >= 0x80 ? 0xff : 0;
    d |= byte << (8 * k);
  }
  return d;
}

std::uint64_t nth(std::uint64_t mask, std::uint64_t base, std::int32_t offset) {
  if (offset == 0) return bit(mask, static_cast<int>(base & 31)) ? base & 31 : 0xffffffffu;
  std::int32_t seen = 0;
  for (int i = static_cast<int>(base & 31); i >= 0 && i < 32; i += offset < 0 ? -1 : 1) {
    if (bit(mask, i) && ++seen == std::abs(offset)) return static_cast<std::uint64_t>(i);
  }
  return 0xffffffffu;
}

std::optional<std::uint64_t> rare_bits(const OracleText& text, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const OracleType type = text.types.back();
  if (text.op == "shf") {
    const int n = static_cast<int>(text.has("wrap") ? c & 31 : std::min<std::uint64_t>(c, 32));
    const Unsigned128 both = (Unsigned128{b} << 32) | a;
    return static_cast<std::uint32_t>(text.has("l") ? (both << n) >> 32 : both >> n);
  }
  const auto amount = static_cast<int>(text.has("wrap") ? b & 31 : std::min<std::uint64_t>(b, 32));
  if (text.op == "szext") return field({type.kind, 32}, a, 0, amount);
  if (text.op == "bmsk") {
    std::uint64_t d = 0;
    const auto first = static_cast<int>(text.has("wrap") ? a & 31 : std::min<std::uint64_t>(a, 32));
    for (int i = first; i < std::min(first + amount, 32); ++i) d |= std::uint64_t{1} << i;
    return d;
  }
  if (text.op == "fns") return nth(a, b, static_cast<std::int32_t>(c));
  if (text.op == "prmt") return permuted_bytes(text, a, b, c);
  if (text.op == "copysign") {
    const std::uint64_t sign = std::uint64_t{1} << (type.bits - 1);
    return (a & sign) | (b & (sign - 1));
  }
  if (text.op == "testp") {
    const int width = type.bits == 64 ? 52 : 23;
    const std::uint64_t fraction = a & ((std::uint64_t{1} << width) - 1);
    const std::uint64_t full = type.bits == 64 ? 0x7ff : 0xff, exponent = (a >> width) & full;
    const bool nan = exponent == full && fraction != 0;
    const std::map<std::string, bool> answers = {{"finite", exponent != full},
                                                 {"infinite", exponent == full && fraction == 0},
                                                 {"number", !nan},
                                                 {"notanumber", nan},
                                                 {"normal", exponent != 0 && exponent != full},
                                                 {"subnormal", exponent == 0 && fraction != 0}};
    return answers.at(text.modifiers.at(0)) ? 0xffffffffu : 0;
  }
  return std::nullopt;
}

}  // namespace

std::optional<OracleAnswer> bits_oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t extra) {
  const OracleType type = text.types.back();
  const std::uint64_t ones = type.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.bits) - 1;
  const std::uint64_t a = operands[0] & ones, b = operands[1] & ones;
  const std::uint64_t c = operands[2] & 0xffffffffu, amount = operands[1] & 0xffffffffu;
  const auto answer = [&](std::uint64_t bits) { return OracleAnswer{bits}; };
  if (text.op == "and") return answer(a & b);
  if (text.op == "or") return answer(a | b);
  if (text.op == "xor") return answer(a ^ b);
  if (text.op == "not") return answer(~a & ones);
  if (text.op == "cnot") return answer(a == 0);
  if (text.op == "mov") return answer(a);
  if (text.op == "selp") return answer(operands[2] != 0 ? a : b);
  if (text.op == "slct") {
    const std::uint64_t whole = text.types[0].bits == 64   ? ~std::uint64_t{0}
                                : text.types[0].bits == 16 ? 0xffff
                                                           : 0xffffffffu;
    const bool first = type.real() ? real_value(type, c) >= 0 : static_cast<std::int32_t>(c) >= 0;
    return answer((first ? operands[0] : operands[1]) & whole);
  }
  if (text.op == "lop3") {
    std::uint64_t d = 0;
    for (int i = 0; i < 32; ++i) {
      const int row = 4 * bit(a, i) + 2 * bit(b, i) + bit(c, i);
      if (bit(extra, row)) d |= std::uint64_t{1} << i;
    }
    return answer(d);
  }
  if (text.op == "shl") return answer(amount >= static_cast<unsigned>(type.bits) ? 0 : (a << amount) & ones);
  if (text.op == "shr") {
    const Int128 value = integer_value(type, a);
    return answer(static_cast<std::uint64_t>(value >> std::min<std::uint64_t>(amount, 64)) & ones);
  }
  if (text.op == "bfe") return answer(field(type, a, static_cast<int>(amount & 255), static_cast<int>(c & 255)));
  if (text.op == "bfi") {
    std::uint64_t d = b;
    for (int i = 0; i < static_cast<int>(operands[3] & 255) && static_cast<int>(c & 255) + i < type.bits; ++i) {
      const int place = static_cast<int>(c & 255) + i;
      d = (d & ~(std::uint64_t{1} << place)) | (std::uint64_t{bit(a, i)} << place);
    }
    return answer(d);
  }
  if (text.op == "brev") {
    std::uint64_t d = 0;
    for (int i = 0; i < type.bits; ++i) d |= std::uint64_t{bit(a, i)} << (type.bits - 1 - i);
    return answer(d);
  }
  if (text.op == "popc") return answer(static_cast<std::uint64_t>(std::popcount(a)));
  if (text.op == "clz") return answer(static_cast<std::uint64_t>(std::countl_zero(a) - (64 - type.bits)));
  if (text.op == "bfind") return answer(found_bit(type, a, text.has("shiftamt")));
  if (const auto rare =
          rare_bits(text, operands[0] & ones, operands[1] & (text.op == "copysign" ? ones : 0xffffffffu), c))
    return answer(*rare);
  return std::nullopt;
}

}  // namespace tailor::simulator
