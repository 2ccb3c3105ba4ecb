// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Division that rounds down, where C++ rounds towards 0, and division that rounds up.
// In: two whole numbers. Out: their quotient.
// Called where places before the beginning of an array are divided by a step, and where things are put into boxes.
#pragma once

#include <cstdint>

namespace tailor {

/// a / b rounded down, for b > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// a / b rounded up, for a >= 0 and b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace tailor
