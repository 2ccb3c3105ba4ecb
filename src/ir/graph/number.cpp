// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounding, encoding and decoding of all floating types. In: a double and a type, or bits and a type. Out: the other,
// or the double rounded to the type. Called by the evaluator, the checks and the reader of literals.
//
// The method works on the bits of a double. In the normal range the mantissa is cut, with a carry into the exponent;
// this is what rounding to nearest, ties to even, means on bits. Below the normal range the value is scaled to an
// integer and rounded there. A type is one row: widths of exponent and mantissa, bias, and what it does beyond its
// largest value (infinity, NaN, or its largest value again). Integers of 64 bits are first rounded to odd, so that the
// second rounding cannot be wrong.
#include "ir/graph/number.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/indexed.h"

namespace tailor::ir {

namespace {

struct FormatRow {
  DType dtype;
  FloatFormat format;
};

constexpr auto format_table = std::to_array<FormatRow>({
    {DType::f16, {5, 10, 15, Specials::ieee}},
    {DType::bf16, {8, 7, 127, Specials::ieee}},
    {DType::f32, {8, 23, 127, Specials::ieee}},
    {DType::f64, {11, 52, 1023, Specials::ieee}},
    {DType::f8e5m2, {5, 2, 15, Specials::ieee}},
    {DType::f8e4m3, {4, 3, 7, Specials::ieee}},
    {DType::f8e4m3fn, {4, 3, 7, Specials::nan_only}},
    {DType::f8e4m3b11fnuz, {4, 3, 11, Specials::fnuz}},
    {DType::f8e3m4, {3, 4, 3, Specials::ieee}},
    {DType::f8e5m2fnuz, {5, 2, 16, Specials::fnuz}},
    {DType::f8e4m3fnuz, {4, 3, 8, Specials::fnuz}},
    {DType::f8e8m0fnu, {8, 0, 127, Specials::scale}},
    {DType::f4e2m1fn, {2, 1, 1, Specials::finite}},
    {DType::f6e3m2fn, {3, 2, 3, Specials::finite}},
    {DType::f6e2m3fn, {2, 3, 1, Specials::finite}},
});

/// Formats by dtype, so a look-up in a loop is one load.
constexpr auto formats = [] {
  std::array<FloatFormat, dtype_table.size()> by_dtype{};
  for (const FormatRow& entry : format_table) row_for(by_dtype, entry.dtype) = entry.format;
  return by_dtype;
}();

/// The largest finite value: its biased exponent and mantissa.
constexpr double largest(const FloatFormat& f) {
  const int all_exponents = (1 << f.exponent_bits) - 1;
  const bool top_is_special = f.specials == Specials::ieee || f.specials == Specials::scale;
  const int exponent = (top_is_special ? all_exponents - 1 : all_exponents) - f.bias;
  const double ulp = 1.0 / static_cast<double>(std::uint64_t{1} << f.mantissa_bits);
  double mantissa = 2.0 - ulp;
  if (f.specials == Specials::scale) mantissa = 1.0;
  if (f.specials == Specials::nan_only) mantissa -= ulp;
  double scale = 1.0;
  for (int i = 0; i < exponent; ++i) scale *= 2.0;
  return mantissa * scale;
}

constexpr auto largest_values = [] {
  std::array<double, dtype_table.size()> by_dtype{};
  for (const FormatRow& entry : format_table) row_for(by_dtype, entry.dtype) = largest(entry.format);
  return by_dtype;
}();

double beyond_largest(const FloatFormat& f, double value, double limit) {
  if (f.specials == Specials::ieee) return std::copysign(std::numeric_limits<double>::infinity(), value);
  if (f.specials == Specials::finite) return std::copysign(limit, value);
  return std::numeric_limits<double>::quiet_NaN();
}

double special(const FloatFormat& f, double value, double limit) {
  if (!std::isnan(value)) return beyond_largest(f, value, limit);
  return f.specials == Specials::finite ? -0.0 : value;
}

/// |value| is below the smallest normal number or zero.
double round_small(const FloatFormat& f, double value) {
  if (f.specials == Specials::scale) return std::ldexp(1.0, -f.bias);
  const double quantum = std::ldexp(1.0, 1 - f.bias - f.mantissa_bits);
  const double rounded = std::copysign(std::nearbyint(std::fabs(value) / quantum) * quantum, value);
  return f.specials == Specials::fnuz && rounded == 0 ? 0.0 : rounded;
}

double round_narrow(DType dtype, double value) {
  const FloatFormat& f = row_for(formats, dtype);
  const double limit = row_for(largest_values, dtype);
  if (!std::isfinite(value)) {
    if (f.specials == Specials::scale) return std::numeric_limits<double>::quiet_NaN();
    return special(f, value, limit);
  }
  if (f.specials == Specials::scale && value < 0) return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  const int least = f.specials == Specials::scale ? -f.bias : 1 - f.bias;
  if (exponent < least) return round_small(f, value);
  const int cut = 52 - f.mantissa_bits;
  const std::uint64_t odd = (bits >> cut) & 1;
  const std::uint64_t rounded = (bits + (std::uint64_t{1} << (cut - 1)) - 1 + odd) & ~((std::uint64_t{1} << cut) - 1);
  const double result = std::bit_cast<double>(rounded);
  return std::fabs(result) > limit ? beyond_largest(f, value, limit) : result;
}

std::uint64_t encode_nan(const FloatFormat& f, bool negative) {
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint64_t sign = std::uint64_t{negative} << width;
  const std::uint64_t below = (std::uint64_t{1} << width) - 1;
  if (f.specials == Specials::fnuz) return std::uint64_t{1} << width;
  if (f.specials == Specials::scale) return below;
  if (f.specials == Specials::nan_only) return sign | below;
  const std::uint64_t quiet = std::uint64_t{1} << (f.mantissa_bits - 1);
  return sign | (((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits) | quiet;
}

/// Rounds so that a second rounding to at most 51 bits is right: inexact values get an odd last bit.
template <class Integer>
double to_odd_double(Integer value) {
  const auto magnitude =
      value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const int spare = static_cast<int>(std::bit_width(magnitude)) - 53;
  std::uint64_t kept = magnitude;
  if (spare > 0) {
    const std::uint64_t lost = magnitude & ((std::uint64_t{1} << spare) - 1);
    kept = (magnitude >> spare) | std::uint64_t{lost != 0};
    const double scaled = std::ldexp(static_cast<double>(kept), spare);
    return value < 0 ? -scaled : scaled;
  }
  return value < 0 ? -static_cast<double>(kept) : static_cast<double>(kept);
}

}  // namespace

FloatFormat float_format(DType dtype) {
  assert(is_floating(dtype));
  return row_for(formats, dtype);
}

Digits digits_of(DType dtype) {
  const FloatFormat format = float_format(dtype);
  return {static_cast<std::uint8_t>(format.exponent_bits), static_cast<std::uint8_t>(format.mantissa_bits)};
}

double largest_number(DType dtype) {
  assert(is_floating(dtype));
  return row_for(largest_values, dtype);
}

bool has_all_of(DType to, DType from) {
  if (!is_floating(to)) return to == from;
  const FloatFormat wide = float_format(to);
  if (from == DType::pred) return largest_number(to) >= 1;
  if (is_integer(from)) {
    const int digits = row(from).bits - (is_signed(from) ? 1 : 0);  // the least of a signed type is a power of two
    return digits <= wide.mantissa_bits + 1 && std::ldexp(1.0, digits) <= largest_number(to);
  }
  if (!is_floating(from)) return false;
  const FloatFormat narrow = float_format(from);
  const auto least = [](const FloatFormat& format) { return 1 - format.bias - format.mantissa_bits; };
  return to == from || (wide.specials == Specials::ieee && narrow.mantissa_bits <= wide.mantissa_bits &&
                        largest_number(from) <= largest_number(to) && least(wide) <= least(narrow));
}

double round_to(DType dtype, double value) {
  if (dtype == DType::f64) return value;
  if (dtype == DType::f32) return static_cast<double>(static_cast<float>(value));
  return round_narrow(dtype, value);
}

std::uint64_t encode(DType dtype, double value) {
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const FloatFormat& f = row_for(formats, dtype);
  const double rounded = round_narrow(dtype, value);
  if (std::isnan(rounded)) return encode_nan(f, std::signbit(value));
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(rounded);
  const std::uint64_t sign = f.specials == Specials::scale ? 0 : (bits >> 63) << (f.exponent_bits + f.mantissa_bits);
  if (std::isinf(rounded)) return sign | (((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (f.specials == Specials::scale) return static_cast<std::uint64_t>(exponent + f.bias);
  if (exponent < 1 - f.bias)
    return sign | static_cast<std::uint64_t>(std::ldexp(std::fabs(rounded), f.bias - 1 + f.mantissa_bits));
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) >> (52 - f.mantissa_bits);
  return sign | (static_cast<std::uint64_t>(exponent + f.bias) << f.mantissa_bits) | mantissa;
}

double decode(DType dtype, std::uint64_t bits) {
  if (dtype == DType::f64) return std::bit_cast<double>(bits);
  if (dtype == DType::f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const FloatFormat& f = row_for(formats, dtype);
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint64_t below = (std::uint64_t{1} << width) - 1;
  const std::uint64_t top = (std::uint64_t{1} << f.exponent_bits) - 1;
  const bool negative = f.specials != Specials::scale && ((bits >> width) & 1) != 0;
  const std::uint64_t exponent = (bits & below) >> f.mantissa_bits;
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
  if (f.specials == Specials::ieee && exponent == top)
    return mantissa != 0 ? nan : std::copysign(std::numeric_limits<double>::infinity(), negative ? -1.0 : 1.0);
  if ((f.specials == Specials::nan_only || f.specials == Specials::scale) && (bits & below) == below) return nan;
  if (f.specials == Specials::fnuz && negative && (bits & below) == 0) return std::fabs(nan);
  const bool normal = exponent != 0 || f.specials == Specials::scale;
  const double fraction = static_cast<double>(mantissa | (std::uint64_t{normal} << f.mantissa_bits));
  const int scale = static_cast<int>(normal ? exponent : 1) - f.bias - f.mantissa_bits;
  const double value = std::ldexp(fraction, scale);
  return negative ? -value : value;
}

double round_integer_to(DType dtype, std::int64_t value) {
  return dtype == DType::f64 ? static_cast<double>(value) : round_to(dtype, to_odd_double(value));
}

double round_integer_to(DType dtype, std::uint64_t value) {
  return dtype == DType::f64 ? static_cast<double>(value) : round_to(dtype, to_odd_double(value));
}

double reduce_precision(DType dtype, double value, int exponent_bits, int mantissa_bits) {
  if (std::isnan(value)) return value;
  const FloatFormat& f = row_for(formats, dtype);
  const int width = f.exponent_bits + f.mantissa_bits;
  std::uint64_t bits = encode(dtype, value);
  const std::uint64_t sign = bits >> width << width;
  if (mantissa_bits < f.mantissa_bits) {
    const int cut = f.mantissa_bits - mantissa_bits;
    bits += (std::uint64_t{1} << (cut - 1)) - 1 + ((bits >> cut) & 1);
    bits = bits >> cut << cut;
  }
  if (exponent_bits < f.exponent_bits) {
    const int reach = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>((bits & ~sign) >> f.mantissa_bits);
    if (exponent > f.bias + reach)
      return decode(dtype, sign | (((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits));
    if (exponent <= f.bias - reach) return decode(dtype, sign);
  }
  return decode(dtype, bits);
}

std::int64_t wrap_to(DType dtype, std::int64_t value) {
  if (dtype == DType::pred) return value != 0 ? 1 : 0;
  const int spare = 64 - row(dtype).bits;
  const std::uint64_t high = static_cast<std::uint64_t>(value) << spare;
  if (is_signed(dtype)) return static_cast<std::int64_t>(high) >> spare;
  return static_cast<std::int64_t>(high >> spare);
}

}  // namespace tailor::ir
