// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The prelude's rows for floating types of 8 bits. In: the formats of ir/graph/number.h, so that a type needs no line
// here. Out: for each type what holds it, float_of() and TYPE_of(). Called by the prelude's table, once.
//
// HLO's rules: to the nearest number, ties to even; what is too large becomes infinite, or NaN where the type has no
// infinity. The machine's conversions (since sm_89, of two of the types) give the largest number instead, so what is
// too large is sorted out beside them.
#include <fmt/format.h>

#include <deque>

#include "codegen/cuda/prelude.h"
#include "ir/graph/number.h"

namespace tailor::codegen {

namespace {

using ir::DType;
using ir::Specials;

/// A type's codes without its sign.
struct Codes {
  DType dtype;
  ir::FloatFormat format;
  unsigned largest, beyond, nan;  ///< of the largest number, of what is too large, of NaN
};

Codes codes_of(DType dtype) {
  constexpr unsigned all = 127;
  const ir::FloatFormat f = float_format(dtype);
  const unsigned infinity = all >> f.mantissa_bits << f.mantissa_bits;
  if (f.specials == Specials::ieee) return {dtype, f, infinity - 1, infinity, all};
  if (f.specials == Specials::nan_only) return {dtype, f, all - 1, all, all};
  return {dtype, f, all, all + 1, all + 1};
}

/// Arguments of widened() and narrowed().
std::string digits(const Codes& c) { return fmt::format("{}, {}", c.format.mantissa_bits, c.format.bias); }

std::string holder_text(const Codes& c) {
  return fmt::format(
      "/// {} bits of exponent, {} of mantissa as stored; arithmetic is done in float.\nstruct {} {{\n"
      "  unsigned char bits;\n}};\n",
      c.format.exponent_bits, c.format.mantissa_bits, name(c.dtype));
}

std::string in_function(std::string_view to, std::string_view function, std::string_view from, std::string_view body) {
  return fmt::format("__device__ __forceinline__ {} {}({} a) {{\n{}}}\n", to, function, from, body);
}

/// Around what the machine of a GPU since sm_89 does.
std::string where_machine_can(std::string_view machine, std::string_view otherwise) {
  return fmt::format("#if __CUDA_ARCH__ >= 890\n{}#else\n{}#endif\n", machine, otherwise);
}

std::string widening_text(const Codes& c, bool portable) {
  const std::string_view type = name(c.dtype);
  // The upper half of an f16 is one of these.
  if (c.dtype == DType::f8e5m2)
    return in_function("float", "float_of", type,
                       "  return float_of(f16{static_cast<unsigned short>(a.bits << 8)});\n");
  std::string body;
  if (c.format.specials == Specials::ieee)
    body = fmt::format(
        "  const unsigned int rest = a.bits & 127u;\n"
        "  if (rest > {0}u) return __uint_as_float((a.bits & 128u) << 24 | 0x7f800000u | (rest & {1}u) << {2});\n",
        c.largest, (1 << c.format.mantissa_bits) - 1, 23 - c.format.mantissa_bits);
  else if (c.format.specials == Specials::nan_only)
    body = fmt::format("  if ((a.bits & 127u) == {}u) return __uint_as_float((a.bits & 128u) << 24 | 0x7fffffffu);\n",
                       c.nan);
  else
    body = fmt::format("  if (a.bits == {}u) return __uint_as_float(0x7fffffffu);\n", c.nan);
  body += fmt::format("  return widened<{}>(a.bits);\n", digits(c));
  if (portable || c.dtype != DType::f8e4m3fn) return in_function("float", "float_of", type, body);
  return in_function("float", "float_of", type,
                     where_machine_can("  unsigned int two;\n"
                                       "  asm(\"cvt.rn.f16x2.e4m3x2 %0, %1;\" : \"=r\"(two) : "
                                       "\"h\"(static_cast<unsigned short>(a.bits)));\n"
                                       "  return float_of(f16{static_cast<unsigned short>(two)});\n",
                                       body));
}

/// Below which number, or up to which, a number is not too large: half a step above the largest one, itself one of them
/// where that one is even.
std::string too_large(const Codes& c) {
  const double largest = ir::largest_number(c.dtype);
  const double below = ir::decode(c.dtype, c.largest - 1);
  return fmt::format("fabsf(a) {} {:.1f}f", c.largest % 2 == 0 ? ">" : ">=", largest + (largest - below) / 2);
}

/// NaN for what is too large where NaN stands for it, infinity where the type has one.
std::string machine_narrowing(const Codes& c) {
  const bool has_infinity = c.format.specials == Specials::ieee;
  std::string body = "  unsigned short two;\n";
  body += fmt::format("  asm(\"cvt.rn.satfinite.{}x2.f32 %0, %1, %2;\" : \"=h\"(two) : \"f\"(0.0f), \"f\"({}));\n",
                      c.dtype == DType::f8e5m2 ? "e5m2" : "e4m3",
                      has_infinity ? "a" : too_large(c) + " ? __uint_as_float(0x7fffffffu) : a");
  if (has_infinity)
    body += fmt::format("  if ({}) two = static_cast<unsigned short>((__float_as_uint(a) >> 24 & 128u) | {}u);\n",
                        too_large(c), c.beyond);
  return body + fmt::format("  return {}{{static_cast<unsigned char>(two)}};\n", name(c.dtype));
}

std::string narrowing_text(const Codes& c, bool portable) {
  const std::string type(name(c.dtype)), function = type + "_of";
  std::string body =
      fmt::format("  const unsigned int sign = __float_as_uint(a) >> 24 & 128u, rest = narrowed<{}, {}u, {}u>(a);\n",
                  digits(c), c.largest, c.beyond);
  std::string code = "sign | rest";
  if (c.format.specials == Specials::ieee) code = fmt::format("a != a ? {}u : sign | rest", c.nan);
  if (c.format.specials == Specials::fnuz) code = "rest == 0u ? 0u : sign | rest";  // no negative zero
  body += fmt::format("  return {}{{static_cast<unsigned char>({})}};\n", type, code);
  const bool by_machine = c.dtype == DType::f8e4m3fn || c.dtype == DType::f8e5m2;
  return in_function(type, function, "float",
                     portable || !by_machine ? body : where_machine_can(machine_narrowing(c), body));
}

constexpr std::string_view widened =
    R"(/// A finite number of 8 bits: its digits are moved to where a float has them, and a product puts its exponent right,
/// of subnormals too.
template <int Mantissa, int Bias>
__device__ __forceinline__ float widened(unsigned int a) {
  const float size = __uint_as_float((a & 127u) << (23 - Mantissa)) * __uint_as_float((254u - Bias) << 23);
  return __uint_as_float(__float_as_uint(size) | (a & 128u) << 24);
}
)";

constexpr std::string_view narrowed =
    R"(/// A number as 8 bits without its sign: to nearest, ties to even; `Beyond` what is above `Largest`, and NaN. Subnormals
/// are counted in steps: the last digit of what they are added to is one.
template <int Mantissa, int Bias, unsigned int Largest, unsigned int Beyond>
__device__ __forceinline__ unsigned int narrowed(float a) {
  const unsigned int size = __float_as_uint(a) & 0x7fffffffu, cut = 23 - Mantissa;
  const unsigned int steps = (151u - Bias - Mantissa) << 23;
  const unsigned int code = size < (128u - Bias) << 23
                                ? __float_as_uint(__uint_as_float(size) + __uint_as_float(steps)) - steps
                                : ((size + ((1u << (cut - 1)) - 1u) + (size >> cut & 1u)) >> cut) -
                                      ((127u - Bias) << Mantissa);
  return code > Largest ? Beyond : code;
}
)";

}  // namespace

std::vector<PreludeRow> narrow_float_rows() {
  static std::deque<std::string> texts;  // what the rows look at stays
  const auto kept = [](std::string text) -> std::string_view { return texts.emplace_back(std::move(text)); };
  std::vector<PreludeRow> rows{{"widened", widened, false}, {"narrowed", narrowed, false}};
  for (const ir::DTypeRow& type : ir::dtype_table) {
    if (!is_held_as_bits(type.dtype) || type.bits != 8 || type.cuda.empty()) continue;
    const Codes codes = codes_of(type.dtype);
    rows.push_back({type.name, kept(holder_text(codes)), true});
    rows.push_back({"float_of", kept(widening_text(codes, false)), false, type.name, kept(widening_text(codes, true))});
    rows.push_back({kept(fmt::format("{}_of", type.name)),
                    kept(narrowing_text(codes, false)),
                    false,
                    {},
                    kept(narrowing_text(codes, true))});
    if (codes.format.specials != Specials::ieee) continue;
    rows.push_back({"reduced",
                    kept(fmt::format("template <int Exponent, int Mantissa>\n"
                                     "__device__ __forceinline__ {0} reduced({0} a) {{\n"
                                     "  const unsigned int bits = a.bits;\n"
                                     "  return {0}{{static_cast<unsigned char>(reduced_bits<{1}, {2}, Exponent, "
                                     "Mantissa>(bits))}};\n}}\n",
                                     type.name, codes.format.exponent_bits, codes.format.mantissa_bits)),
                    true, type.name});
  }
  return rows;
}

}  // namespace tailor::codegen
