// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// IEEE half and bfloat16, by their bits. In: 16 bits, or a float. Out: the other, with subnormals, infinities and
// NaN as IEEE has them. Compiled once, for the plain machine; the vector forms of the same conversions are in
// lanes_half.h.
#include "profiler/simulator/lanes/half.h"

#include <bit>
#include <cmath>

namespace tailor::simulator {

float float_of_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -24)
                              : std::ldexp(static_cast<float>(mantissa | 0x400), static_cast<int>(exponent) - 25);
  return sign ? -magnitude : magnitude;
}

float float_of_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t f16_of(float value) {
  if (std::isnan(value)) return 0x7fff;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00);  // rounds beyond the largest, 65504
  if (magnitude < 6.103515625e-05f)                                             // subnormal: multiples of 2^-24
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, 24))));
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(magnitude);
  const std::uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

std::uint16_t bf16_of(float value) {
  if (std::isnan(value)) return 0x7fff;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace tailor::simulator
