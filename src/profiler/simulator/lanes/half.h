// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One 16-bit float at a time, for what is not done lane by lane. In: the bits of an f16 or bf16. Out: a
// float, and back, rounded to nearest even. Called by the machine's atomics and matrix instructions, and by
// tests.
#pragma once

#include <cstdint>

namespace tailor::simulator {

float float_of_f16(std::uint16_t bits);
float float_of_bf16(std::uint16_t bits);
/// Rounded to nearest, ties to even; NaN becomes 0x7fff.
std::uint16_t f16_of(float value);
std::uint16_t bf16_of(float value);

}  // namespace tailor::simulator
