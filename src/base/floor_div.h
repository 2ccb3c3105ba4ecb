// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Division that rounds down, where C++ rounds towards 0.
// In: two whole numbers. Out: their quotient.
// Called wherever places before the beginning of an array are divided by a step.
#pragma once

#include <cstdint>

namespace tailor {

/// a / b rounded down, for b > 0.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace tailor
