// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups from text and every plan of a small space lowered: the kernels that counting and the models are tested on.
// Comes in: a template's name, a size, a type, a device's limits; goes out: a group, or each of its kernels in turn.
// Called by count_test.cpp and model_test.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "codegen/lower/lower.h"
#include "ir/kernel/kernel.h"

namespace tailor::costmodel {

/// bias + GELU-like map, softmax, LayerNorm, RMSNorm with residual and a sum, with {R} and {N} put in.
inline constexpr std::string_view graph_names[] = {"map", "softmax", "layernorm", "rmsnorm"};
std::string graph_text(std::string_view name, std::int64_t rows, std::int64_t columns, std::string_view dtype);
ir::Group group_of(const std::string& text);

/// Lowers the plans of a small space and hands over each kernel that is legal. Returns how many there were.
int for_each_kernel(const ir::Group& group, const ir::Limits& limits,
                    const std::function<void(const ir::Plan&, const ir::Kernel&)>& visit);

ir::Limits limits_of(const std::string& device);

}  // namespace tailor::costmodel
