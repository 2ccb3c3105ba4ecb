// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The prelude's table: vectors, waits, floats of 16 bits, what arithmetic classes compute, bits. In: the text that was
// printed. Out: what it calls. The functions of integers are in prelude_integer.cpp, floats of 8 bits in
// prelude_narrow.cpp. Called by the printer once a kernel is written.
#include "codegen/cuda/prelude.h"

#include <set>

namespace tailor::codegen {

namespace {

/// A function of one float that is one instruction of PTX, after its remark; `plain` is the same in C++.
#define ONE_INSTRUCTION(remark, name, instruction, plain)                                               \
  PreludeRow {                                                                                          \
    name,                                                                                               \
        remark "__device__ __forceinline__ float " name "(float a) {\n  float b;\n  asm(\"" instruction \
               " %0, %1;\" : \"=f\"(b) : \"f\"(a));\n  return b;\n}\n",                                 \
        false, {}, "__device__ __forceinline__ float " name "(float a) {\n  return " plain ";\n}\n"     \
  }

const std::vector<PreludeRow> wide_rows = {
    {"Vec", R"(/// A vector of registers: what one wide access moves.
template <class T, int V>
struct Vec {
  T v[V];
};
)",
     true},
    {"ORDERED_LOAD", R"(/// A load that the assembler leaves where it stands, before or after others of its kind.
#if __CUDA_ARCH__ >= 700
#define ORDERED_LOAD "ld.relaxed.cta.global"
#else
#define ORDERED_LOAD "ld.volatile.global"
#endif
)",
     false},
    {"LOAD_BESIDE", R"(/// A load from where other threads may write meanwhile.
#if __CUDA_ARCH__ >= 700
#define LOAD_BESIDE "ld.relaxed.gpu.global"
#else
#define LOAD_BESIDE "ld.volatile.global"
#endif
)",
     false},
    {"STORE_BESIDE", R"(/// A store to where other threads may store meanwhile: that of one of them stays.
#if __CUDA_ARCH__ >= 700
#define STORE_BESIDE "st.relaxed.gpu.global"
#else
#define STORE_BESIDE "st.volatile.global"
#endif
)",
     false},
    {"ISSUE_LOADS",
     R"(/// Never true, which the assembler does not know: no size of a launch is 0. It moves nothing across the branch, so
/// all ordered loads above are on their way before the first of them is used. Each asks another size: once one was
/// asked, the assembler knows that it is not 0.
#define ISSUE_LOADS(size) \
  do { \
    unsigned n; \
    asm volatile("mov.u32 %0, %%" #size ";" : "=r"(n)); \
    if (n == 0) return; \
  } while (0)
)",
     false,
     {},
     "#define ISSUE_LOADS(size)\n"},
    {"meet",
     R"(/// Waits for all blocks that count at `ticket`, and sees what they wrote. This one adds `arrive`, and the others are
/// missing while the number there is one of `count` from `first` on. Between two looks it leaves the way to the others,
/// for much less than a look takes.
__device__ __forceinline__ void meet(unsigned int* ticket, unsigned int arrive, unsigned int first,
                                     unsigned int count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned int now;
#if __CUDA_ARCH__ >= 700
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(ticket), "r"(arrive) : "memory");
    for (;;) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(ticket) : "memory");
      if (now - first >= count) break;
      __nanosleep(20);
    }
#else
    __threadfence();
    atomicAdd(ticket, arrive);
    do {
      now = *static_cast<volatile unsigned int*>(ticket);
    } while (now - first < count);
    __threadfence();
#endif
  }
  __syncthreads();
}
)",
     false,
     {},
     "#error blocks of the host run one after the other and cannot meet\n"},
    {"wait_for_launches_before",
     R"(/// What the launches before this one wrote is seen below. Before sm_90 nothing begins while they run.
__device__ __forceinline__ void wait_for_launches_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
)",
     false,
     {},
     "void wait_for_launches_before() {}\n"},
    {"held",
     R"(/// A pointer that the compiler keeps as it is and does not compute again.
template <class T>
__device__ __forceinline__ T* held(T* a) {
  asm("" : "+l"(a));
  return a;
}
)",
     false,
     {},
     "template <class T>\nT* held(T* a) {\n  return a;\n}\n"},
    {"renew",
     R"(/// A number that the compiler takes for another one from here on, so that it computes again what was made of it.
__device__ __forceinline__ void renew(int& a) {
  asm("" : "+r"(a));
}
)",
     false,
     {},
     "inline void renew(int&) {}\n"},
    {"f16", R"(/// IEEE half precision as stored; arithmetic is done in float.
struct f16 {
  unsigned short bits;
};
)",
     true},
    {"bf16", R"(/// bfloat16 as stored; arithmetic is done in float.
struct bf16 {
  unsigned short bits;
};
)",
     true},
    {"float_of", R"(__device__ __forceinline__ float float_of(f16 a) {
  float b;
  asm("cvt.f32.f16 %0, %1;" : "=f"(b) : "h"(a.bits));
  return b;
}
)",
     false, "f16", R"(__device__ __forceinline__ float float_of(f16 a) {
  const unsigned int sign = (a.bits & 0x8000u) << 16, rest = a.bits & 0x7fffu;
  if (rest >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  return __uint_as_float(sign | __float_as_uint(__uint_as_float(rest << 13) * 0x1p112f));
}
)"},
    {"float_of", R"(__device__ __forceinline__ float float_of(bf16 a) {
  return __uint_as_float(static_cast<unsigned int>(a.bits) << 16);
}
)",
     false, "bf16"},
    {"float_of_narrow",
     R"(/// An integer of up to 16 bits, exactly: added to the bits of 3 * 2^22, whose last digit is one. The instruction that
/// converts it has a quarter of the rate of these two (CUDA's table of throughputs).
__device__ __forceinline__ float float_of_narrow(int a) {
  return __uint_as_float(0x4b400000u + static_cast<unsigned int>(a)) - 12582912.0f;
}
)",
     false},
    {"f16_of",
     R"(/// Rounds to nearest even.
__device__ __forceinline__ f16 f16_of(float a) {
  f16 b;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b.bits) : "f"(a));
  return b;
}
__device__ __forceinline__ f16 f16_of(double a) {
  f16 b;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(b.bits) : "d"(a));
  return b;
}
)",
     false,
     {},
     R"(/// Rounds to nearest even.
__device__ __forceinline__ f16 f16_of(double a) {
  const unsigned short sign = signbit(a) ? 0x8000u : 0u;
  if (a != a) return f16{0x7fffu};
  if (isinf(a)) return f16{static_cast<unsigned short>(sign | 0x7c00u)};
  int exponent = -13;
  frexp(a, &exponent);
  if (exponent < -13 || a == 0.0) exponent = -13;
  const double steps = rint(ldexp(fabs(a), 11 - exponent)) + (exponent + 13) * 1024.0;
  return f16{static_cast<unsigned short>(sign | (steps < 31744.0 ? static_cast<unsigned short>(steps) : 0x7c00u))};
}
__device__ __forceinline__ f16 f16_of(float a) {
  return f16_of(static_cast<double>(a));
}
)"},
    {"bf16_of", R"(/// Rounds to nearest even.
__device__ __forceinline__ bf16 bf16_of(float a) {
  bf16 b;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(a));
#else
  const unsigned int bits = __float_as_uint(a);
  b.bits = static_cast<unsigned short>(a != a ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
  return b;
}
)",
     false},
    {"rounded_bf16",
     R"(/// The same where it is widened again, for nothing: the upper half of a register, of which the lower one is zero.
__device__ __forceinline__ bf16 rounded_bf16(float a) {
#if __CUDA_ARCH__ >= 800
  unsigned int both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(a), "f"(0.0f));
  __builtin_assume((both & 0xffffu) == 0);
  return bf16{static_cast<unsigned short>(both >> 16)};
#else
  return bf16_of(a);
#endif
}
)",
     false,
     {},
     "/// The same where it is widened again.\n__device__ __forceinline__ bf16 rounded_bf16(float a) {\n  return "
     "bf16_of(a);\n}\n"},
    {"maximum", R"(/// NaN when either is.
template <class T>
__device__ __forceinline__ T maximum(T a, T b) {
  return a != a || a > b ? a : b;
}
)",
     true},
    {"maximum", R"(__device__ __forceinline__ float maximum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#else
  return a != a || a > b ? a : b;
#endif
}
)",
     false, "float"},
    {"minimum", R"(/// NaN when either is.
template <class T>
__device__ __forceinline__ T minimum(T a, T b) {
  return a != a || a < b ? a : b;
}
)",
     true},
    {"minimum", R"(__device__ __forceinline__ float minimum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float c;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#else
  return a != a || a < b ? a : b;
#endif
}
)",
     false, "float"},
    {"clamp", R"(template <class T>
__device__ __forceinline__ T clamp(T low, T a, T high) {
  return minimum(maximum(low, a), high);
}
)",
     true},
    {"sign", R"(/// -1, 1, or the zero or NaN it was given.
template <class T>
__device__ __forceinline__ T sign(T a) {
  return a > T(0) ? T(1) : a == T(0) || a != a ? a : T(-1);
}
)",
     true},
    {"logistic", R"(template <class T>
__device__ __forceinline__ T logistic(T a) {
  return T(1) / (T(1) + exp(-a));
}
)",
     false},
    {"full_divide",
     R"(/// Over the whole range, within 2 units in the last place: a scale that is a power of two, 1 for normal numbers up to
/// 2^126, keeps the reciprocal normal. Elements with one divisor share scale and reciprocal.
__device__ __forceinline__ float full_divide(float a, float b) {
  const float size = fabsf(b);
  const float scale = size > 8.50705917e+37f ? 0.25f : size < 1.17549435e-38f ? 16777216.0f : 1.0f;
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b * scale));
  return a * scale * reciprocal;
}
)",
     false,
     {},
     "__device__ __forceinline__ float full_divide(float a, float b) {\n  return a / b;\n}\n"},
    ONE_INSTRUCTION("", "quick_sqrt", "sqrt.approx.f32", "sqrt(a)"),
    {"quick_exp",
     R"(/// 2^(a log2(e) / 2) squared: so subnormal results are whole, which the instruction alone gives as 0.
__device__ __forceinline__ float quick_exp(float a) {
  float b;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a * 0.72134752f));
  return b * b;
}
)",
     false,
     {},
     "__device__ __forceinline__ float quick_exp(float a) {\n  return exp(a);\n}\n"},
    {"quick_logistic",
     R"(__device__ __forceinline__ float quick_logistic(float a) {
  float b;
  asm("rcp.approx.f32 %0, %1;" : "=f"(b) : "f"(1.0f + quick_exp(-a)));
  return b;
}
)",
     false,
     {},
     "__device__ __forceinline__ float quick_logistic(float a) {\n  return 1.0f / (1.0f + exp(-a));\n}\n"},
    ONE_INSTRUCTION("/// Of normal numbers up to 2^126.\n", "approx_reciprocal", "rcp.approx.ftz.f32", "1.0f / a"),
    {"approx_divide", R"(__device__ __forceinline__ float approx_divide(float a, float b) {
  return a * approx_reciprocal(b);
}
)",
     false},
    {"approx_exp",
     R"(/// 2^(a log2(e)).
__device__ __forceinline__ float approx_exp(float a) {
  float b;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a * 1.44269504f));
  return b;
}
)",
     false,
     {},
     "__device__ __forceinline__ float approx_exp(float a) {\n  return exp(a);\n}\n"},
    {"approx_log",
     R"(__device__ __forceinline__ float approx_log(float a) {
  float b;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a));
  return b * 0.693147181f;
}
)",
     false,
     {},
     "__device__ __forceinline__ float approx_log(float a) {\n  return log(a);\n}\n"},
    ONE_INSTRUCTION("", "approx_sqrt", "sqrt.approx.ftz.f32", "sqrt(a)"),
    ONE_INSTRUCTION("", "approx_rsqrt", "rsqrt.approx.ftz.f32", "rsqrt(a)"),
    {"approx_tanh",
     R"(/// The machine's own where it has one.
__device__ __forceinline__ float approx_tanh(float a) {
#if __CUDA_ARCH__ >= 750
  float b;
  asm("tanh.approx.f32 %0, %1;" : "=f"(b) : "f"(a));
  return b;
#else
  return tanh(a);
#endif
}
)",
     false,
     {},
     "__device__ __forceinline__ float approx_tanh(float a) {\n  return tanh(a);\n}\n"},
    {"approx_erf", R"(/// A fit of the inverse hyperbolic tangent of erf(a).
__device__ __forceinline__ float approx_erf(float a) {
  return approx_tanh(a * (1.12877632f + 0.100709558f * (a * a)));
}
)",
     false},
    {"approx_logistic", R"(__device__ __forceinline__ float approx_logistic(float a) {
  return approx_reciprocal(1.0f + approx_exp(-a));
}
)",
     false},
    {"bits_as", R"(/// The same bits as another type.
template <class To, class From>
__device__ __forceinline__ To bits_as(From a) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To b;
  memcpy(&b, &a, sizeof(b));
  return b;
}
)",
     true},
    {"reduced_bits",
     R"(/// The bits of a number with fewer digits: its mantissa is rounded to nearest, ties to even. What then has too large an
/// exponent is infinite, what has too small a one is zero: there are no subnormals. NaN stays.
template <int OwnExponent, int OwnMantissa, int Exponent, int Mantissa, class Bits>
__device__ __forceinline__ Bits reduced_bits(Bits a) {
  const Bits one = 1, sign = one << (OwnExponent + OwnMantissa), infinity = sign - (one << OwnMantissa);
  const int cut = Mantissa < OwnMantissa ? OwnMantissa - Mantissa : 0;
  Bits b = a;
  if (cut > 0) b = (a + ((one << cut >> 1) - one) + (a >> cut & one)) >> cut << cut;
  if (Exponent < OwnExponent) {
    const Bits bias = (one << (OwnExponent - 1)) - one, reach = (one << (Exponent - 1)) - one;
    const Bits exponent = b & infinity, zero = a & sign;
    const bool is_small = exponent <= (bias - reach) << OwnMantissa;
    b = exponent > (bias + reach) << OwnMantissa ? zero | infinity : is_small ? zero : b;
  }
  return (a & (sign - one)) > infinity ? a : b;
}
)",
     true},
    {"reduced", R"(template <int Exponent, int Mantissa>
__device__ __forceinline__ float reduced(float a) {
  return bits_as<float>(reduced_bits<8, 23, Exponent, Mantissa>(bits_as<unsigned int>(a)));
}
template <int Exponent, int Mantissa>
__device__ __forceinline__ double reduced(double a) {
  return bits_as<double>(reduced_bits<11, 52, Exponent, Mantissa>(bits_as<unsigned long long>(a)));
}
)",
     true},
    {"reduced", R"(template <int Exponent, int Mantissa>
__device__ __forceinline__ f16 reduced(f16 a) {
  const unsigned int bits = a.bits;
  return f16{static_cast<unsigned short>(reduced_bits<5, 10, Exponent, Mantissa>(bits))};
}
)",
     true, "f16"},
    {"reduced", R"(template <int Exponent, int Mantissa>
__device__ __forceinline__ bf16 reduced(bf16 a) {
  const unsigned int bits = a.bits;
  return bf16{static_cast<unsigned short>(reduced_bits<8, 7, Exponent, Mantissa>(bits))};
}
)",
     true, "bf16"},
};

#undef ONE_INSTRUCTION

bool is_used(const PreludeRow& row, const std::set<std::string_view>& used) {
  return used.contains(row.name) && (row.only_with.empty() || used.contains(row.only_with));
}

}  // namespace

const std::vector<PreludeRow>& prelude_table() {
  static const std::vector<PreludeRow> rows = [] {
    std::vector<PreludeRow> all = wide_rows;
    for (const std::vector<PreludeRow>& more : {integer_rows(), narrow_float_rows()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return rows;
}

std::string prelude_for(std::string_view body, bool portable) {
  const auto text = [&](const PreludeRow& row) { return portable && !row.portable.empty() ? row.portable : row.text; };
  const std::vector<PreludeRow>& rows = prelude_table();
  std::set<std::string_view> used = identifiers(body);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    if (is_used(*row, used)) used.merge(identifiers(text(*row)));
  std::string out;
  for (const PreludeRow& row : rows)
    if (is_used(row, used)) out += std::string(text(row)) + "\n";
  return out;
}

}  // namespace tailor::codegen
