// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What single kernels of PyTorch 2 do, as far as a model can use it: of an operation on a [rows, columns] tensor of
// f32 its launch, its traffic and its chain of loads. In: the operation's name and the shape, and the launch where a
// profiler recorded it. Out: a foreign kernel. Called by the reader of published tables (read_csv.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/observation.h"

namespace tailor::calibrate {

/// Operations that are known, by their names in NeuSight's tables: add, addu, ..., softmax, ln.
std::span<const std::string_view> pytorch_operations();

/// Nothing for an operation that is not known. `blocks` and `threads` of the launch; 0: those of PyTorch's rules.
std::optional<ir::ForeignKernel> pytorch_kernel(std::string_view operation, std::int64_t rows, std::int64_t columns,
                                                std::int64_t blocks = 0, std::int64_t threads = 0);

}  // namespace tailor::calibrate
