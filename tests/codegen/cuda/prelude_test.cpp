// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The prelude's arithmetic, compiled by the host compiler and compared with the interpreter's, which was written
// apart: every pair of 8-bit numbers, and the edges of the wider types. The text of the prelude comes from
// print_prelude.cpp as the build runs it. Part of the suite `codegen`; needs no NVRTC.
#include <doctest/doctest.h>

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
        const LaneValue expected = applied(op, Comparison::eq, dtype, {0, static_cast<std::int64_t>(a), true},
                                           {0, static_cast<std::int64_t>(b), true}, {});
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
    CHECK(static_cast<std::int64_t>(prelude::saturated<T>(x)) == converted_cell(to, from, {x, 0, true}).integer);
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
