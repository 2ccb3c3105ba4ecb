// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of a group that somebody else made, for a check on them instead of on drawn ones. In: what the group's
// parameters hold, and what some of its outputs are to be. Made by study/module/evaluate_model.cpp out of files; read
// by the pool of checks, which evaluates the group's reference on them.
#pragma once

#include <optional>
#include <vector>

#include "reference/error_bound.h"

namespace tailor::profiler {

struct GivenArrays {
  std::vector<reference::Tensor> inputs;  ///< by parameter
  /// By output, what it is to be within which bounds, beside what the reference says; nothing: the reference alone
  /// says. No elements at all: none is given.
  std::vector<std::optional<reference::BoundedTensor>> expected;
};

}  // namespace tailor::profiler
