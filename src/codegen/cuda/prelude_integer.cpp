// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The prelude's rows for integers. Out: arithmetic, bits, and conversions of floats. Called by the prelude's table,
// once.
//
// They compute in unsigned 64-bit numbers, where C++ wraps by definition, and cut back to their type: the compiler
// narrows them again. HLO's rules: division by zero gives -1 (all bits), remainder by zero the dividend, shifts by the
// width or more shift everything out, the smallest integer over -1 is itself. Nothing branches on what an element is:
// elements of a thread are computed side by side.
#include "codegen/cuda/prelude.h"

namespace tailor::codegen {

namespace {

/// A conversion of a float that is one instruction of PTX, which keeps to the range of the integer and knows NaN.
#define INTEGER_OF(name, type, number)                                                                                 \
  PreludeRow {                                                                                                         \
    name "_of",                                                                                                        \
        "/// Towards zero; outside the range of the integer its nearest end, NaN: 0.\n"                                \
        "__device__ __forceinline__ " type " " name "_of(float a) {\n  " number " b;\n  asm(\"cvt.rzi." name           \
        ".f32 %0, %1;\" : \"=r\"(b) : \"f\"(a));\n  return static_cast<" type ">(b);\n}\n",                            \
        false, {}, "__device__ __forceinline__ " type " " name "_of(float a) {\n  return saturated<" type ">(a);\n}\n" \
  }

const std::vector<PreludeRow> integer_table = {
    {"wide_bits", R"(/// The number modulo 2^64.
template <class T>
__device__ __forceinline__ unsigned long long wide_bits(T a) {
  return static_cast<unsigned long long>(a);
}
)",
     true},
    {"own_bits", R"(/// The number's own bits, zero above them.
template <class T>
__device__ __forceinline__ unsigned long long own_bits(T a) {
  return wide_bits(a) & (~0ull >> (64 - 8 * sizeof(T)));
}
)",
     true},
    {"wrap_add", R"(template <class T>
__device__ __forceinline__ T wrap_add(T a, T b) {
  return static_cast<T>(wide_bits(a) + wide_bits(b));
}
)",
     true},
    {"wrap_subtract", R"(template <class T>
__device__ __forceinline__ T wrap_subtract(T a, T b) {
  return static_cast<T>(wide_bits(a) - wide_bits(b));
}
)",
     true},
    {"wrap_multiply", R"(template <class T>
__device__ __forceinline__ T wrap_multiply(T a, T b) {
  return static_cast<T>(wide_bits(a) * wide_bits(b));
}
)",
     true},
    {"wrap_negate", R"(template <class T>
__device__ __forceinline__ T wrap_negate(T a) {
  return static_cast<T>(0ull - wide_bits(a));
}
)",
     true},
    {"is_negative", R"(/// Without comparing an unsigned number with zero.
template <class T>
__device__ __forceinline__ bool is_negative(T a) {
  return !(a > T(0) || a == T(0));
}
)",
     true},
    {"absolute", R"(template <class T>
__device__ __forceinline__ T absolute(T a) {
  return is_negative(a) ? wrap_negate(a) : a;
}
)",
     true},
    {"integer_divide",
     R"(/// Towards zero; by zero: all bits set. No branch, so that elements are divided side by side. What is
/// narrower than int is divided as one, which wraps when it is cut back.
template <class T>
__device__ __forceinline__ T integer_divide(T a, T b) {
  const bool reverses = sizeof(T) >= sizeof(int) && T(-1) < T(0) && b == T(-1);
  T quotient = static_cast<T>(a / (b == T(0) || reverses ? T(1) : b));
  if (reverses) quotient = wrap_negate(quotient);
  return b == T(0) ? static_cast<T>(~0ull) : quotient;
}
)",
     true},
    {"integer_remainder", R"(/// With the sign of a; by zero: a.
template <class T>
__device__ __forceinline__ T integer_remainder(T a, T b) {
  const bool is_whole = sizeof(T) >= sizeof(int) && T(-1) < T(0) && b == T(-1);
  const T rest = static_cast<T>(a % (b == T(0) || is_whole ? T(1) : b));
  return b == T(0) ? a : rest;
}
)",
     true},
    {"integer_power", R"(/// Wraps; a negative exponent gives 0 unless the base is 1 or -1.
template <class T>
__device__ __forceinline__ T integer_power(T a, T b) {
  if (is_negative(b)) return a == T(1) ? T(1) : a != T(-1) ? T(0) : (wide_bits(b) & 1ull) != 0 ? T(-1) : T(1);
  unsigned long long result = 1, base = wide_bits(a);
  for (unsigned long long rest = own_bits(b); rest != 0; rest >>= 1) {
    if ((rest & 1ull) != 0) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}
)",
     true},
    {"bit_and", R"(template <class T>
__device__ __forceinline__ T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
)",
     true},
    {"bit_or", R"(template <class T>
__device__ __forceinline__ T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
)",
     true},
    {"bit_xor", R"(template <class T>
__device__ __forceinline__ T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
)",
     true},
    {"bit_not", R"(template <class T>
__device__ __forceinline__ T bit_not(T a) {
  return static_cast<T>(~a);
}
__device__ __forceinline__ bool bit_not(bool a) {
  return !a;
}
)",
     true},
    {"shift_left", R"(template <class T>
__device__ __forceinline__ T shift_left(T a, T b) {
  return own_bits(b) >= 8 * sizeof(T) ? T(0) : static_cast<T>(wide_bits(a) << own_bits(b));
}
)",
     true},
    {"shift_right_logical", R"(template <class T>
__device__ __forceinline__ T shift_right_logical(T a, T b) {
  return own_bits(b) >= 8 * sizeof(T) ? T(0) : static_cast<T>(own_bits(a) >> own_bits(b));
}
)",
     true},
    {"shift_right_arithmetic", R"(/// Fills with the sign bit, for unsigned types too.
template <class T>
__device__ __forceinline__ T shift_right_arithmetic(T a, T b) {
  const int unused = 64 - 8 * static_cast<int>(sizeof(T));
  const long long extended = static_cast<long long>(wide_bits(a) << unused) >> unused;
  return static_cast<T>(extended >> (own_bits(b) >= 8 * sizeof(T) ? 63ull : own_bits(b)));
}
)",
     true},
    {"population_count", R"(template <class T>
__device__ __forceinline__ T population_count(T a) {
  return static_cast<T>(__popcll(own_bits(a)));
}
)",
     true},
    {"leading_zeros", R"(template <class T>
__device__ __forceinline__ T leading_zeros(T a) {
  return static_cast<T>(__clzll(static_cast<long long>(own_bits(a))) - (64 - 8 * static_cast<int>(sizeof(T))));
}
)",
     true},
    {"high_multiply", R"(/// The upper half of the product of twice the width.
template <class T>
__device__ __forceinline__ T high_multiply(T a, T b) {
  if (sizeof(T) == 8)
    return static_cast<T>(T(-1) < T(0) ? static_cast<unsigned long long>(__mul64hi(a, b)) : __umul64hi(a, b));
  return static_cast<T>((wide_bits(a) * wide_bits(b)) >> (8 * sizeof(T) & 63));
}
)",
     true},
    {"saturated", R"(/// To an integer towards zero; outside its range the nearest end, NaN: 0.
template <class T, class F>
__device__ __forceinline__ T saturated(F a) {
  const bool is_signed = T(-1) < T(0);
  const int digits = 8 * static_cast<int>(sizeof(T)) - (is_signed ? 1 : 0);
  const unsigned long long most = ~0ull >> (64 - digits);
  const F above = static_cast<F>(1ull << (digits - 1)) * F(2);
  if (a != a) return T(0);
  if (a >= above) return static_cast<T>(most);
  if (a <= (is_signed ? -above : F(0))) return is_signed ? static_cast<T>(~most) : T(0);
  return static_cast<T>(a);
}
)",
     true},
    INTEGER_OF("s8", "signed char", "int"),
    INTEGER_OF("u8", "unsigned char", "unsigned int"),
    INTEGER_OF("s16", "short", "int"),
    INTEGER_OF("u16", "unsigned short", "unsigned int"),
    INTEGER_OF("s32", "int", "int"),
    INTEGER_OF("u32", "unsigned int", "unsigned int"),
};

#undef INTEGER_OF

}  // namespace

std::vector<PreludeRow> integer_rows() { return integer_table; }

}  // namespace tailor::codegen
