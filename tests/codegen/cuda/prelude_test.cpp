// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The prelude's arithmetic, compiled by the host compiler and compared with the interpreter's, which was written
// apart: every pair of 8-bit numbers, and the edges of the wider types; every number of the floating types of 8 and 16
// bits, and of f32 what lies around every number of theirs. The text of the prelude comes from print_prelude.cpp as the
// build runs it. Part of the suite `codegen`; needs no NVRTC.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/cells.h"

namespace prelude {

#define __device__
#define __forceinline__ inline

[[maybe_unused]] inline int __popcll(unsigned long long a) { return std::popcount(a); }
[[maybe_unused]] inline int __clzll(long long a) { return std::countl_zero(static_cast<unsigned long long>(a)); }
__extension__ typedef __int128 Wide;
inline long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<Wide>(a) * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<Wide>(a) * static_cast<Wide>(b) >> 64);
}
using std::memcpy;
inline float __uint_as_float(unsigned int a) { return std::bit_cast<float>(a); }
inline unsigned int __float_as_uint(float a) { return std::bit_cast<unsigned int>(a); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wbool-compare"
#include "prelude_mirror.h"

#undef __device__
#undef __forceinline__

/// What operation_text would print, called.
template <class T>
T called(tailor::ir::Op op, T a, T b) {
  switch (op) {
    case tailor::ir::Op::add:
      return wrap_add(a, b);
    case tailor::ir::Op::subtract:
      return wrap_subtract(a, b);
    case tailor::ir::Op::multiply:
      return wrap_multiply(a, b);
    case tailor::ir::Op::divide:
      return integer_divide(a, b);
    case tailor::ir::Op::remainder:
      return integer_remainder(a, b);
    case tailor::ir::Op::power:
      return integer_power(a, b);
    case tailor::ir::Op::maximum:
      return maximum(a, b);
    case tailor::ir::Op::minimum:
      return minimum(a, b);
    case tailor::ir::Op::bit_and:
      return bit_and(a, b);
    case tailor::ir::Op::bit_or:
      return bit_or(a, b);
    case tailor::ir::Op::bit_xor:
      return bit_xor(a, b);
    case tailor::ir::Op::shift_left:
      return shift_left(a, b);
    case tailor::ir::Op::shift_right_logical:
      return shift_right_logical(a, b);
    case tailor::ir::Op::shift_right_arithmetic:
      return shift_right_arithmetic(a, b);
    case tailor::ir::Op::mulhi:
      return high_multiply(a, b);
    case tailor::ir::Op::abs:
      return absolute(a);
    case tailor::ir::Op::negate:
      return wrap_negate(a);
    case tailor::ir::Op::sign:
      return sign(a);
    case tailor::ir::Op::bit_not:
      return bit_not(a);
    case tailor::ir::Op::popcnt:
      return population_count(a);
    default:
      return leading_zeros(a);
  }
}

#pragma GCC diagnostic pop

}  // namespace prelude

using namespace tailor::ir;

namespace {

constexpr auto operations = std::to_array<Op>({Op::add,
                                               Op::subtract,
                                               Op::multiply,
                                               Op::divide,
                                               Op::remainder,
                                               Op::power,
                                               Op::maximum,
                                               Op::minimum,
                                               Op::bit_and,
                                               Op::bit_or,
                                               Op::bit_xor,
                                               Op::shift_left,
                                               Op::shift_right_logical,
                                               Op::shift_right_arithmetic,
                                               Op::mulhi,
                                               Op::abs,
                                               Op::negate,
                                               Op::sign,
                                               Op::bit_not,
                                               Op::popcnt,
                                               Op::clz});

template <class T>
void check_pairs(DType dtype, const std::vector<T>& numbers) {
  for (const Op op : operations) {
    int wrong = 0;
    for (const T a : numbers)
      for (const T b : numbers) {
        const T found = prelude::called(op, a, b);
        const LaneValue expected = applied(op, Comparison::eq, dtype, integer_cell(static_cast<std::int64_t>(a)),
                                           integer_cell(static_cast<std::int64_t>(b)), {});
        if (static_cast<std::int64_t>(found) == expected.integer || ++wrong > 3) continue;
        CAPTURE(name(op));
        CAPTURE(name(dtype));
        CAPTURE(static_cast<std::int64_t>(a));
        CAPTURE(static_cast<std::int64_t>(b));
        CHECK(static_cast<std::int64_t>(found) == expected.integer);
      }
    CHECK(wrong == 0);
  }
}

template <class T>
std::vector<T> all() {
  std::vector<T> numbers;
  for (int i = std::numeric_limits<T>::min(); i <= std::numeric_limits<T>::max(); ++i)
    numbers.push_back(static_cast<T>(i));
  return numbers;
}

template <class T>
std::vector<T> edges() {
  std::vector<T> numbers;
  for (const int bit : {0, 1, 4, 7, 8, 15, 16, 31, 32, 63}) {
    if (bit >= std::numeric_limits<std::make_unsigned_t<T>>::digits) continue;
    const auto power = static_cast<std::make_unsigned_t<T>>(std::make_unsigned_t<T>{1} << bit);
    for (const int step : {-1, 0, 1}) {
      numbers.push_back(static_cast<T>(power + static_cast<std::make_unsigned_t<T>>(step)));
      numbers.push_back(static_cast<T>(0 - numbers.back()));
    }
  }
  return numbers;
}

template <class T, class F>
void check_conversions(DType to, DType from) {
  const F high = std::ldexp(F(1), std::numeric_limits<T>::digits);
  const F inf = std::numeric_limits<F>::infinity();
  for (const F x : {F(0), F(-0.0), F(0.9), F(-0.9), F(1.5), F(-1.5), F(100.7), F(-128), F(-129), high, -high,
                    std::nextafter(high, F(0)), std::nextafter(-high, F(0)), std::nextafter(high, inf),
                    std::nextafter(-high, -inf), inf, -inf, std::numeric_limits<F>::quiet_NaN()}) {
    CAPTURE(x);
    CHECK(static_cast<std::int64_t>(prelude::saturated<T>(x)) == converted_cell(to, from, real_cell(x)).integer);
  }
}

}  // namespace

TEST_CASE("every 8-bit operation on every pair of operands follows HLO") {
  check_pairs(DType::s8, all<signed char>());
  check_pairs(DType::u8, all<unsigned char>());
}

TEST_CASE("wider integer operations follow HLO on edge values") {
  check_pairs(DType::s16, edges<short>());
  check_pairs(DType::u16, edges<unsigned short>());
  check_pairs(DType::s32, edges<int>());
  check_pairs(DType::u32, edges<unsigned int>());
  check_pairs(DType::s64, edges<long long>());
  check_pairs(DType::u64, edges<unsigned long long>());
}

TEST_CASE("conversions to integers saturate and make NaN zero") {
  check_conversions<signed char, float>(DType::s8, DType::f32);
  check_conversions<unsigned char, float>(DType::u8, DType::f32);
  check_conversions<int, float>(DType::s32, DType::f32);
  check_conversions<unsigned int, double>(DType::u32, DType::f64);
  check_conversions<long long, float>(DType::s64, DType::f32);
  check_conversions<unsigned long long, double>(DType::u64, DType::f64);
}

TEST_CASE("maximum, minimum and clamp pass NaN on from either side") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(prelude::maximum(nan, 1.0f)));
  CHECK(std::isnan(prelude::maximum(1.0f, nan)));
  CHECK(std::isnan(prelude::minimum(nan, 1.0f)));
  CHECK(std::isnan(prelude::minimum(1.0f, nan)));
  CHECK(std::isnan(prelude::clamp(0.0f, nan, 1.0f)));
  CHECK(prelude::clamp(0.0f, 2.0f, 1.0f) == 1.0f);
  CHECK(prelude::maximum(-1, 3) == 3);
  CHECK(std::isnan(prelude::sign(nan)));
}

TEST_CASE("predicates: not is logical, add is or") {
  CHECK(prelude::bit_not(true) == false);
  CHECK(prelude::bit_not(false) == true);
  CHECK(prelude::wrap_add(true, true) == true);
  CHECK(prelude::bit_xor(true, true) == false);
}

namespace {

/// The interpreter's number of these bits.
LaneValue cell_of(DType dtype, std::uint64_t bits) {
  std::array<std::byte, 8> bytes{};
  std::memcpy(bytes.data(), &bits, sizeof bits);
  return read_cell(dtype, bytes.data());
}
std::uint64_t bits_of(DType dtype, const LaneValue& cell) {
  std::array<std::byte, 8> bytes{};
  write_cell(dtype, bytes.data(), cell);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

/// How many numbers of a type the two sides see differently; NaN is NaN whatever its bits.
template <int Exponent, int Mantissa, class Held, class Bits>
int reduced_otherwise(DType dtype, const std::vector<Bits>& all) {
  int wrong = 0;
  for (const Bits bits : all) {
    const LaneValue before = cell_of(dtype, bits), expected = reduced_cell(dtype, {Exponent, Mantissa}, before);
    const Bits found = std::bit_cast<Bits>(prelude::reduced<Exponent, Mantissa>(std::bit_cast<Held>(bits)));
    const bool same = std::isnan(before.real) ? found == bits : found == bits_of(dtype, expected);
    if (!same && wrong++ < 3) {
      CAPTURE(before.real);
      CHECK(cell_of(dtype, found).real == expected.real);
    }
  }
  return wrong;
}

template <class Held>
void check_reduced_halves(DType dtype) {
  std::vector<unsigned short> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<unsigned short>(i);
  CHECK(reduced_otherwise<5, 10, Held>(dtype, all) == 0);
  CHECK(reduced_otherwise<5, 3, Held>(dtype, all) == 0);
  CHECK(reduced_otherwise<4, 3, Held>(dtype, all) == 0);
  CHECK(reduced_otherwise<8, 0, Held>(dtype, all) == 0);
  CHECK(reduced_otherwise<1, 2, Held>(dtype, all) == 0);
}

/// Numbers with every exponent, and mantissas that end in a tie or beside one at any digit.
template <class Bits, int mantissa_bits>
std::vector<Bits> with_ties() {
  std::vector<Bits> mantissas{0};
  for (int at = 0; at < mantissa_bits; ++at)
    for (const Bits digits : {Bits{1}, Bits{3}})
      for (const Bits step : {Bits{0}, Bits{1}})
        mantissas.push_back(((digits << at) - step) & ((Bits{1} << mantissa_bits) - 1));
  std::vector<Bits> all;
  const Bits exponents = Bits{1} << (8 * sizeof(Bits) - mantissa_bits);  // the sign among them
  const Bits step = exponents / 512, top = exponents / 2 - 1;
  const auto add = [&](Bits exponent) {
    for (const Bits mantissa : mantissas) all.push_back(exponent << mantissa_bits | mantissa);
  };
  for (Bits exponent = 0; exponent < exponents; exponent += step) add(exponent);
  for (const Bits near : {Bits{1}, top, top - 1}) add(near);
  return all;
}

/// What lies around every number of a type of 8 bits, and around the middle of every two.
std::vector<float> around_numbers(DType dtype) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::vector<float> all{inf,
                         std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::denorm_min(),
                         std::numeric_limits<float>::min(),
                         std::numeric_limits<float>::max(),
                         465,
                         463,
                         61439,
                         61441};
  for (int code = 0; code < 127; ++code) {
    const double low = cell_of(dtype, static_cast<std::uint64_t>(code)).real;
    const double high = cell_of(dtype, static_cast<std::uint64_t>(code) + 1).real;
    const double above =
        std::isfinite(high) ? high : 2 * low - cell_of(dtype, static_cast<std::uint64_t>(code) - 1).real;
    if (!std::isfinite(low)) break;
    for (const double x : {low, (low + above) / 2, above})
      for (const float to : {-inf, static_cast<float>(x), inf})
        all.push_back(std::nextafter(static_cast<float>(x), to));
  }
  const std::size_t positive = all.size();
  for (std::size_t i = 0; i < positive; ++i) all.push_back(-all[i]);
  return all;
}

template <class Held>
void check_bytes(DType dtype, Held (*narrow)(float)) {
  CAPTURE(name(dtype));
  int wrong = 0;
  for (unsigned code = 0; code < 256; ++code) {
    const double expected = cell_of(dtype, code).real;
    const float found = prelude::float_of(Held{static_cast<unsigned char>(code)});
    const bool same =
        std::isnan(expected) ? std::isnan(found) : found == expected && std::signbit(found) == std::signbit(expected);
    if (!same && wrong++ < 3) CHECK(found == expected);
  }
  CHECK(wrong == 0);
  for (const float x : around_numbers(dtype)) {
    const double expected = cell_of(dtype, bits_of(dtype, real_cell(x))).real;
    const double found = cell_of(dtype, narrow(x).bits).real;
    const bool same =
        std::isnan(expected) ? std::isnan(found) : found == expected && std::signbit(found) == std::signbit(expected);
    if (same || wrong++ > 3) continue;
    CAPTURE(x);
    CHECK(found == expected);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("fewer digits: every number of 16 bits, and of wider types every exponent with every tie") {
  check_reduced_halves<prelude::f16>(DType::f16);
  check_reduced_halves<prelude::bf16>(DType::bf16);
  const std::vector<unsigned int> single = with_ties<unsigned int, 23>();
  CHECK(reduced_otherwise<5, 10, float>(DType::f32, single) == 0);
  CHECK(reduced_otherwise<8, 10, float>(DType::f32, single) == 0);
  CHECK(reduced_otherwise<4, 3, float>(DType::f32, single) == 0);
  CHECK(reduced_otherwise<7, 23, float>(DType::f32, single) == 0);
  CHECK(reduced_otherwise<8, 0, float>(DType::f32, single) == 0);
  CHECK(reduced_otherwise<1, 0, float>(DType::f32, single) == 0);
  const std::vector<unsigned long long> twice = with_ties<unsigned long long, 52>();
  CHECK(reduced_otherwise<8, 23, double>(DType::f64, twice) == 0);
  CHECK(reduced_otherwise<11, 20, double>(DType::f64, twice) == 0);
  CHECK(reduced_otherwise<10, 0, double>(DType::f64, twice) == 0);
}

TEST_CASE("types of 8 bits: every number of theirs, and what lies around it") {
  check_bytes<prelude::f8e5m2>(DType::f8e5m2, prelude::f8e5m2_of);
  check_bytes<prelude::f8e4m3>(DType::f8e4m3, prelude::f8e4m3_of);
  check_bytes<prelude::f8e4m3fn>(DType::f8e4m3fn, prelude::f8e4m3fn_of);
  check_bytes<prelude::f8e4m3b11fnuz>(DType::f8e4m3b11fnuz, prelude::f8e4m3b11fnuz_of);
  check_bytes<prelude::f8e3m4>(DType::f8e3m4, prelude::f8e3m4_of);
  check_bytes<prelude::f8e5m2fnuz>(DType::f8e5m2fnuz, prelude::f8e5m2fnuz_of);
  check_bytes<prelude::f8e4m3fnuz>(DType::f8e4m3fnuz, prelude::f8e4m3fnuz_of);
}
