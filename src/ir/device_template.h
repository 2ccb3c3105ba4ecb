// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A device file for a GPU that nobody described yet, from one that somebody did. In: a device. Out: the text of a file
// whose figures of the architecture are that device's, and which figures are still to be found. Called by `tailor
// devices new`; a file with figures still to be found is refused with all of their names (figures.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/device.h"

namespace tailor::ir {

/// The figures in which GPUs of one architecture differ: SMs, clock, memory, second-level cache. They are to be found
/// on the GPU's own data sheet.
std::span<const std::string_view> product_figures();

/// The text of a device file titled `title`: figures of the architecture as `from` has them, with its sources and where
/// they were taken from, product figures with null for a value.
std::string device_template(const Device& from, std::string_view title);

}  // namespace tailor::ir
