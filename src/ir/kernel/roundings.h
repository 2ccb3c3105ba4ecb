// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of f32 to bf16 that are widened again. In: a kernel. Out: which of its values are such conversions, and
// which arrays hold nothing else. Asked by the printer, which writes them so that widening costs nothing, and by the
// counter, which charges what is printed.
//
// A bf16 is the upper half of a float. The machine converts two floats at a time into the halves of a register; a
// single conversion to 16 bits goes to the XU, at a quarter of the rate, and a shift widens its result. Converted into
// the upper half, over a zero, it is the widened number at once.
#pragma once

#include <vector>

#include "ir/kernel/kernel.h"

namespace tailor::ir {

/// All empty where a kernel has no such conversion.
struct Roundings {
  std::vector<bool> values;  ///< by ValueId: conversions from f32 to bf16, widened again somewhere
  std::vector<bool> lets;    ///< by LetId: named by such a conversion
  std::vector<bool> arrays;  ///< by ArrayId: register arrays whose every element is such a conversion

  bool is_rounding(ValueId id) const { return !values.empty() && values[id]; }
  /// Whether widening it costs nothing: a conversion that rounds, or what has its result.
  bool is_rounded(const Kernel& kernel, ValueId id) const {
    if (values.empty()) return false;
    const Value& value = kernel.values[id];
    if (value.kind == ValueKind::let) return lets[value.let];
    return value.kind == ValueKind::element ? arrays[value.element.array] : values[id];
  }
};

Roundings roundings(const Kernel& kernel);

}  // namespace tailor::ir
