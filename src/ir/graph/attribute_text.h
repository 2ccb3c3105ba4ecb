// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading single attributes from the text HLO prints after an instruction's operands, such as
// "offset_dims={1}, index_vector_dim=1, window={size=3x3 pad=1_1x1_1}". Only what the evaluator needs; an attribute
// that is absent has its default.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/indexed.h"
#include "ir/graph/types.h"

namespace tailor::ir {

/// The text after "key=" up to the comma that ends it (braces, brackets and quotes are followed); nothing when absent.
std::optional<std::string_view> attribute(std::string_view text, std::string_view key);
/// "{1,2}" or "1" as numbers; empty when absent.
Dims attribute_numbers(std::string_view text, std::string_view key);
std::int64_t attribute_number(std::string_view text, std::string_view key, std::int64_t otherwise);

/// One dimension of window={...}. Padding may be negative.
struct WindowDim {
  std::int64_t size = 1, stride = 1, pad_low = 0, pad_high = 0, base_dilation = 1, window_dilation = 1;
  bool reversed = false;
};
/// Of how many dimensions a printed window gives the size.
int window_rank(std::string_view text);
/// The window attribute; `rank` dimensions of the default when absent.
IndexedVector<WindowDim> parse_window(std::string_view text, int rank);
/// How many elements such a window has.
std::int64_t window_elements(std::string_view text, int rank);

}  // namespace tailor::ir
