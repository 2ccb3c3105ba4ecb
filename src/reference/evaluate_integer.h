// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reference functions named by the integer column of the operation table. They see values widened to 64 bits (T is
// std::int64_t or std::uint64_t by the type's sign) and the type's true width in `bits`; the caller wraps the result.
// HLO's rules for what C++ leaves undefined: division by zero gives all ones, the remainder by zero gives the dividend,
// the most negative number over -1 is itself, a shift by the width or more gives zero or the sign.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tailor::reference {

constexpr std::uint64_t low_bits(std::uint64_t value, int bits) {
  return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

template <class T>
T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T wrap_subtract(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
template <class T>
T wrap_multiply(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <class T>
T wrap_negate(T a) {
  return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
}
template <class T>
T wrap_abs(T a) {
  return a < T{0} ? wrap_negate(a) : a;
}
template <class T>
T integer_sign(T a) {
  return static_cast<T>(static_cast<int>(a > T{0}) - static_cast<int>(a < T{0}));
}
template <class T>
T integer_divide(T a, T b) {
  if (b == 0) return static_cast<T>(~std::uint64_t{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return wrap_negate(a);
  return a / b;
}
template <class T>
T integer_remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return a % b;
}
template <class T>
T integer_power(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  }
  T result = 1;
  for (auto left = static_cast<std::uint64_t>(b); left != 0; left >>= 1) {
    if ((left & 1) != 0) result = wrap_multiply(result, a);
    a = wrap_multiply(a, a);
  }
  return result;
}
template <class T>
T bit_not(T a, int bits) {
  return static_cast<T>(low_bits(~static_cast<std::uint64_t>(a), bits));
}
template <class T>
T population_count(T a, int bits) {
  return static_cast<T>(std::popcount(low_bits(static_cast<std::uint64_t>(a), bits)));
}
template <class T>
T leading_zeros(T a, int bits) {
  return static_cast<T>(std::countl_zero(low_bits(static_cast<std::uint64_t>(a), bits)) - (64 - bits));
}
/// Whether a shift amount is at least the width; a negative one is a large unsigned one.
template <class T>
bool shifts_out(T b, int bits) {
  return low_bits(static_cast<std::uint64_t>(b), bits) >= static_cast<std::uint64_t>(bits);
}
template <class T>
T shift_left(T a, T b, int bits) {
  return shifts_out(b, bits) ? T{0} : static_cast<T>(static_cast<std::uint64_t>(a) << b);
}
template <class T>
T shift_right_logical(T a, T b, int bits) {
  return shifts_out(b, bits) ? T{0} : static_cast<T>(low_bits(static_cast<std::uint64_t>(a), bits) >> b);
}
/// The top bit of the type is the sign, of unsigned types too.
template <class T>
T shift_right_arithmetic(T a, T b, int bits) {
  const int spare = 64 - bits;
  const std::int64_t extended = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << spare) >> spare;
  return static_cast<T>(extended >> (shifts_out(b, bits) ? 63 : static_cast<int>(b)));
}
template <class T>
T high_multiply(T a, T b, int bits) {
  __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> bits);
}
/// min(max(low, value), high).
template <class T>
T integer_clamp(T low, T value, T high) {
  const T raised = value < low ? low : value;
  return raised < high ? raised : high;
}

/// NaN wins, and -0 is less than +0.
inline double real_maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
inline double real_minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
inline double real_clamp(double low, double value, double high) { return real_minimum(real_maximum(low, value), high); }
/// -1, 0 of the same sign, 1, or NaN.
inline double real_sign(double a) {
  if (std::isnan(a) || a == 0) return a;
  return a < 0 ? -1.0 : 1.0;
}

}  // namespace tailor::reference
