// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of a launch around its virtual blocks. In: the bodies of a launch, names that were given.
// Out: the function that is launched, and what a function of a virtual block begins with.
// Called by the printer (cuda.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/kernel/kernel.h"

namespace tailor::codegen {

/// The type of a number of blocks or of an index.
std::string_view integer_type(bool wide);

/// Adds a statement. Broken at a space when it is too long; what follows is indented by four more. A text of several
/// lines is taken as it is.
void add_line(std::string& out, int depth, std::string_view content);

/// The name of the function that is one virtual block.
std::string block_function(const ir::Kernel& kernel);

/// `opening(first, const float* __restrict__ x, ...) {`, broken after each parameter when it gets long.
std::string signature(const ir::Kernel& kernel, std::span<const std::string> buffers, const std::string& opening,
                      const std::string& first);

/// The function that is launched for all bodies and steps of a launch; `block` is free for the number of a block.
std::string wrapper(const Chain<ir::Kernel>& launch, std::span<const std::string> buffers, const std::string& block);

}  // namespace tailor::codegen
