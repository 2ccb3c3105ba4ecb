// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle for floating arithmetic, comparisons and conversions: exact results in 128-bit reals, rounded once by
// rounded_bits(). Instructions that the manual calls approximate have a bound on their error instead of one right
// answer. Shares no code with the handlers it judges. Called by oracle() in lane_oracle.cpp.
#include <bit>
#include <cmath>

#include "profiler/simulator/lane_oracle.h"

extern "C" __float128 sqrtf128(__float128);  // of the C library; no header declares it for C++

namespace tailor::simulator {

namespace {

bool negative(Real128 value) { return __builtin_signbit(static_cast<double>(value)) != 0; }
Real128 magnitude(Real128 value) { return negative(value) ? -value : value; }
const Real128 infinity = static_cast<Real128>(__builtin_inf());
const Real128 not_a_number = static_cast<Real128>(__builtin_nan(""));

std::string rounding_of(const OracleText& text) {
  for (const char* mode : {"rz", "rm", "rp", "rna", "rn"}) {
    if (text.has(mode)) return mode;
  }
  return "rn";
}

Real128 directed_sum(Real128 a, Real128 b, const std::string& mode) {
  const Real128 sum = sticky_sum(a, b);
  if (sum != 0 || negative(a) == negative(b)) return sum == 0 ? a + b : sum;
  return mode == "rm" ? -static_cast<Real128>(0) : static_cast<Real128>(0);
}

/// -0 below +0.
bool below(Real128 a, Real128 b) { return a < b || (a == b && negative(a) && !negative(b)); }

Real128 extreme(const OracleText& text, Real128 a, Real128 b) {
  const Real128 x = text.has("abs") ? magnitude(a) : a, y = text.has("abs") ? magnitude(b) : b;
  Real128 best = below(x, y) == (text.op == "min") ? x : y;
  if (is_nan(x) || is_nan(y))
    best = text.has("NaN") || is_nan(x) ? (is_nan(x) && !text.has("NaN") ? y : not_a_number) : x;
  const bool flips = text.has("xorsign") && !is_nan(best) && negative(a) != negative(b);
  return flips ? -best : best;
}

Real128 gross(Real128 value) {
  const OracleType type{'f', 64};
  const std::uint64_t bits = rounded_bits(type, value, "rn") & 0xffffffff00000000u;
  if (is_nan(value)) return value;
  if ((bits & 0x7ff0000000000000u) == 0) return negative(value) ? -static_cast<Real128>(0) : static_cast<Real128>(0);
  return real_value(type, bits);
}

/// A double's nearest reciprocal (root), which the gross forms cut.
Real128 nearest_double(Real128 value) {
  const OracleType type{'f', 64};
  return real_value(type, rounded_bits(type, value, "rn"));
}

std::optional<OracleAnswer> approximation(const OracleText& text, OracleType type, Real128 a) {
  const auto x = static_cast<long double>(a);
  OracleAnswer answer;
  long double value = 0;
  answer.relative = 2.5e-7;
  if (text.op == "ex2") {
    value = std::exp2(x);
  } else if (text.op == "lg2") {
    value = std::log2(x);
    answer.absolute = 4e-7;
  } else if (text.op == "sin" || text.op == "cos") {
    value = text.op == "sin" ? std::sin(x) : std::cos(x);
    answer.relative = 0;
    answer.absolute = std::fabs(x) < 0x1p31L ? 2.5e-7 : 2;
  } else if (text.op == "tanh") {
    value = std::tanh(x);
    answer.relative = 4e-7;
  } else if (text.op == "rsqrt" && !text.has("ftz")) {
    value = 1 / std::sqrt(x);
  } else {
    return std::nullopt;
  }
  if (type.bits == 64) answer.relative = 5e-16;
  if (type.bits == 16) answer.relative = type.kind == 'g' ? 0x1p-7 : 0x1p-10;
  answer.absolute += type.bits == 32 || type.kind == 'g' ? 3e-45 : type.bits == 16 ? 0x1p-24 : 0;
  answer.nan = std::isnan(value);
  if (text.has("ftz") && type.kind == 'g') {
    if (std::fabs(value) < 0x1p-126L) value = 0;
    answer.absolute = 0x1p-126;
  }
  answer.bits = rounded_bits(type, static_cast<Real128>(value), "rn");
  return answer;
}

std::optional<Real128> exact(const OracleText& text, Real128 a, Real128 b, Real128 c) {
  const std::string mode = rounding_of(text);
  if (text.op == "add") return directed_sum(a, b, mode);
  if (text.op == "sub") return directed_sum(a, -b, mode);
  if (text.op == "mul") return a * b;
  if (text.op == "fma" || text.op == "mad") return directed_sum(a * b, c, mode);
  if (text.op == "neg") return -a;
  if (text.op == "abs") return magnitude(a);
  if (text.op == "min" || text.op == "max") return extreme(text, a, b);
  if (text.op == "rcp" && text.has("ftz")) return gross(nearest_double(1 / gross(a)));
  if (text.op == "rsqrt" && text.has("ftz")) return gross(nearest_double(1 / nearest_double(sqrtf128(gross(a)))));
  if (text.op == "rcp") return 1 / a;
  if (text.op == "sqrt") return sqrtf128(a);
  if (text.op == "div") {
    if (text.has("approx") && magnitude(b) > 0x1p126 && magnitude(b) < infinity) {
      return magnitude(a) < infinity ? (negative(a) != negative(b) ? -static_cast<Real128>(0) : static_cast<Real128>(0))
                                     : not_a_number;
    }
    return a / b;
  }
  return std::nullopt;
}

Real128 with_relu(const OracleText& text, Real128 value) {
  return text.has("relu") && !is_nan(value) && (value <= 0 || negative(value)) ? static_cast<Real128>(0) : value;
}

}  // namespace

std::optional<OracleAnswer> real_oracle(const OracleText& text, const LaneOperands& operands) {
  const OracleType type = text.types.back();
  const Real128 a = real_value(type, operands[0]), b = real_value(type, operands[1]), c = real_value(type, operands[2]);
  if (const auto answer = approximation(text, type, a)) return answer;
  const std::optional<Real128> value = exact(text, a, b, c);
  if (!value) return std::nullopt;
  OracleAnswer answer;
  answer.nan = is_nan(*value);
  answer.bits = rounded_bits(type, with_relu(text, *value), rounding_of(text));
  return answer;
}

std::optional<OracleAnswer> compare_oracle(const OracleText& text, const LaneOperands& operands, std::uint32_t extra) {
  if (text.op != "setp" && text.op != "set") return std::nullopt;
  OracleType type = text.types.back();
  const int shift = type.lanes == 2 ? 16 * static_cast<int>(extra) : 0;
  Real128 a, b;
  if (type.real()) {
    a = real_value(type, operands[0] >> shift), b = real_value(type, operands[1] >> shift);
  } else {
    a = static_cast<Real128>(integer_value(type, operands[0])),
    b = static_cast<Real128>(integer_value(type, operands[1]));
  }
  const bool holds = compared(text.modifiers.at(0), a, b);
  if (text.op == "setp" || !text.types[0].real()) return OracleAnswer{holds ? 0xffffffffu : 0};
  return OracleAnswer{rounded_bits(type, static_cast<Real128>(holds ? 1 : 0), "rn")};
}

namespace {

Real128 integral(Real128 value, std::string_view mode) {
  if (is_nan(value) || magnitude(value) >= 0x1p112) return value;
  const auto whole = static_cast<Int128>(value);  // towards zero
  const Real128 rest = magnitude(value - static_cast<Real128>(whole));
  const bool odd = (whole & 1) != 0;
  bool away = false;
  if (mode == "rni") away = rest > 0.5 || (rest == 0.5 && odd);
  if (mode == "rmi") away = rest > 0 && negative(value);
  if (mode == "rpi") away = rest > 0 && !negative(value);
  const Real128 size = magnitude(static_cast<Real128>(whole)) + (away ? 1 : 0);
  return negative(value) ? -size : size;
}

std::uint64_t integer_bits(OracleType to, Int128 value) {
  const auto low = static_cast<std::uint64_t>(value);
  return to.bits == 64 ? low : low & ((std::uint64_t{1} << to.bits) - 1);
}

std::uint64_t to_integer(OracleType to, OracleType from, Real128 value) {
  if (is_nan(value)) return from.bits == 64 || to.bits == 64 ? std::uint64_t{1} << (to.bits - 1) : 0;
  if (value <= static_cast<Real128>(least_of(to))) return integer_bits(to, least_of(to));
  if (value >= static_cast<Real128>(most_of(to))) return integer_bits(to, most_of(to));
  return integer_bits(to, static_cast<Int128>(value));
}

/// The nearest of the finite eight-bit values, found by looking at all of them.
std::uint64_t nearest_byte(bool e4m3, Real128 value) {
  if (is_nan(value)) return 0x7f;
  std::uint64_t best = 0;
  Real128 best_distance = infinity;
  const Real128 size = magnitude(value) > 1e6 ? static_cast<Real128>(1e6) : magnitude(value);
  const auto of = [&](std::uint64_t code) {
    const int fraction = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    const auto field = static_cast<int>(code >> fraction);
    const auto rest = static_cast<double>(code & ((1u << fraction) - 1));
    return static_cast<Real128>(
        std::ldexp(field == 0 ? rest : rest + (1 << fraction), std::max(field, 1) - bias - fraction));
  };
  for (std::uint64_t code = 0; code <= (e4m3 ? 0x7eu : 0x7bu); ++code) {
    const Real128 distance = magnitude(of(code) - size);
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) best = code, best_distance = distance;
  }
  return best | (negative(value) ? 0x80 : 0);
}

Real128 byte_value(bool e4m3, std::uint64_t code) {
  const Real128 sign = (code & 0x80) != 0 ? -1 : 1;
  const std::uint64_t size = code & 0x7f;
  if (e4m3 ? size == 0x7f : size > 0x7c) return not_a_number;
  if (!e4m3 && size == 0x7c) return sign * infinity;
  const int fraction = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, field = static_cast<int>(size >> fraction);
  const auto rest = static_cast<double>(size & ((1u << fraction) - 1));
  return sign * static_cast<Real128>(
                    std::ldexp(field == 0 ? rest : rest + (1 << fraction), std::max(field, 1) - bias - fraction));
}

OracleAnswer convert_bytes(const OracleText& text, const LaneOperands& operands) {
  const bool e4m3 = text.has("e4m3x2");
  const OracleType half{'f', 16}, from = text.types.back();
  if (text.has("satfinite")) {
    const bool packed = from.lanes == 2;
    const Real128 upper = packed ? real_value(half, operands[0] >> 16) : real_value(from, operands[0]);
    const Real128 lower = packed ? real_value(half, operands[0]) : real_value(from, operands[1]);
    return {nearest_byte(e4m3, with_relu(text, upper)) << 8 | nearest_byte(e4m3, with_relu(text, lower))};
  }
  const auto widened = [&](std::uint64_t code) {
    return rounded_bits(half, with_relu(text, byte_value(e4m3, code)), "rn");
  };
  return {widened((operands[0] >> 8) & 0xff) << 16 | widened(operands[0] & 0xff)};
}

/// Formats of four and six bits: every code below the sign is a number.
struct NarrowFormat {
  const char* name;
  int fraction, bias, bits, apart;  ///< `apart`: bits from one of a pair to the other
};
constexpr NarrowFormat narrow_formats[] = {{"e2m1x2", 1, 1, 4, 4}, {"e2m3x2", 3, 1, 6, 8}, {"e3m2x2", 2, 3, 6, 8}};

Real128 narrow_size(const NarrowFormat& format, std::uint64_t code) {
  const auto field = static_cast<int>(code >> format.fraction);
  const auto rest = static_cast<double>(code & ((1u << format.fraction) - 1));
  return static_cast<Real128>(std::ldexp(field == 0 ? rest : rest + (1 << format.fraction),
                                         std::max(field, 1) - format.bias - format.fraction));
}

std::uint64_t nearest_narrow(const NarrowFormat& format, Real128 value) {
  const std::uint64_t sign = std::uint64_t{1} << (format.bits - 1);
  if (is_nan(value)) return sign - 1;
  const Real128 size = magnitude(value) > 1e6 ? static_cast<Real128>(1e6) : magnitude(value);
  std::uint64_t best = 0;
  for (std::uint64_t code = 1; code < sign; ++code) {
    const Real128 distance = magnitude(narrow_size(format, code) - size),
                  least = magnitude(narrow_size(format, best) - size);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return best | (negative(value) ? sign : 0);
}

OracleAnswer convert_narrow(const OracleText& text, const NarrowFormat& format, const LaneOperands& operands) {
  const OracleType half{'f', 16}, from = text.types.back();
  if (text.has("satfinite")) {
    const bool packed = from.lanes == 2;
    const Real128 upper = packed ? real_value(half, operands[0] >> 16) : real_value(from, operands[0]);
    const Real128 lower = packed ? real_value(half, operands[0]) : real_value(from, operands[1]);
    return {nearest_narrow(format, with_relu(text, upper)) << format.apart |
            nearest_narrow(format, with_relu(text, lower))};
  }
  const auto widened = [&](std::uint64_t code) {
    const std::uint64_t sign = std::uint64_t{1} << (format.bits - 1);
    const Real128 size = narrow_size(format, code & (sign - 1));
    return rounded_bits(half, with_relu(text, (code & sign) != 0 ? -size : size), "rn");
  };
  return {widened(operands[0] >> format.apart) << 16 | widened(operands[0])};
}

/// Powers of two from 2^-127 on, by their number; 255 is NaN.
OracleAnswer convert_powers(const OracleText& text, const LaneOperands& operands) {
  if (!text.has("satfinite")) {
    const auto widened = [&](std::uint64_t code) {
      code &= 0xff;
      if (code == 0xff) return std::uint64_t{0x7fff};
      return rounded_bits({'g', 16}, static_cast<Real128>(std::ldexp(1.0, static_cast<int>(code) - 127)), "rn");
    };
    return {widened(operands[0] >> 8) << 16 | widened(operands[0])};
  }
  const auto power = [&](std::uint64_t bits) -> std::uint64_t {
    const Real128 value = real_value({'f', 32}, bits);
    if (is_nan(value)) return 0xff;
    std::uint64_t code = 0;  // the largest power that is not above, or the least that is not below
    while (code < 0xfe && static_cast<Real128>(std::ldexp(1.0, static_cast<int>(code) - 127)) < magnitude(value))
      ++code;
    const bool above = static_cast<Real128>(std::ldexp(1.0, static_cast<int>(code) - 127)) > magnitude(value);
    return above && code > 0 && rounding_of(text) == "rz" ? code - 1 : code;
  };
  return {power(operands[0]) << 8 | power(operands[1])};
}

OracleAnswer packed_integers(const OracleText& text, const LaneOperands& operands) {
  const OracleType to = text.types[0];
  const auto part = [&](std::uint64_t v) {
    const Int128 value = integer_value({'s', 32}, v);
    return integer_bits(to, value < least_of(to) ? least_of(to) : value > most_of(to) ? most_of(to) : value);
  };
  const std::uint64_t pair = part(operands[0]) << to.bits | part(operands[1]);
  return {to.bits == 8 ? ((operands[2] & 0xffff) << 16 | pair) : pair};
}

std::uint64_t to_real(const OracleText& text, OracleType to, Real128 value) {
  to.lanes = 1;
  Real128 result = value;
  for (const char* mode : {"rni", "rzi", "rmi", "rpi"}) {
    if (text.has(mode)) result = integral(value, mode);
  }
  result = with_relu(text, result);
  std::uint64_t bits = rounded_bits(to, result, rounding_of(text));
  if (text.has("satfinite") && magnitude(real_value(to, bits)) == infinity) bits -= to.kind == 't' ? 0x2000 : 1;
  return bits;
}

}  // namespace

std::optional<OracleAnswer> convert_oracle(const OracleText& text, const LaneOperands& operands) {
  if (text.has("e4m3x2") || text.has("e5m2x2")) return convert_bytes(text, operands);
  for (const NarrowFormat& format : narrow_formats)
    if (text.has(format.name)) return convert_narrow(text, format, operands);
  if (text.has("ue8m0x2")) return convert_powers(text, operands);
  if (text.has("pack")) return packed_integers(text, operands);
  const OracleType to = text.types[0], from = text.types.back();
  if (from.lanes == 2) return std::nullopt;
  if (to.lanes == 2) {
    const auto half = [&](std::uint64_t v) { return to_real(text, to, real_value(from, v)); };
    return OracleAnswer{half(operands[0]) << 16 | half(operands[1])};
  }
  if (from.real() && !to.real()) {
    for (const char* mode : {"rni", "rzi", "rmi", "rpi"}) {
      if (text.has(mode)) return OracleAnswer{to_integer(to, from, integral(real_value(from, operands[0]), mode))};
    }
    return std::nullopt;
  }
  if (!from.real() && !to.real()) {
    const Int128 value = integer_value(from, operands[0]);
    if (!text.has("sat")) return OracleAnswer{integer_bits(to, value)};
    return OracleAnswer{integer_bits(to, value < least_of(to)  ? least_of(to)
                                         : value > most_of(to) ? most_of(to)
                                                               : value)};
  }
  const Real128 value =
      from.real() ? real_value(from, operands[0]) : static_cast<Real128>(integer_value(from, operands[0]));
  OracleAnswer answer{to_real(text, to, value)};
  answer.nan = is_nan(value);
  return answer;
}

}  // namespace tailor::simulator
