// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From a compiled kernel to what a GPU is asked to run. In: a kernel, its machine code and inputs. Out: a sequence: one
// image, buffers in the order of the kernel's arguments, one launch, or as many as its program has. Called by
// measure.cpp and by whoever runs a whole model.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/binary.h"
#include "ir/kernel/kernel.h"
#include "profiler/gpu/request/sequence.h"
#include "reference/evaluate.h"

namespace tailor::profiler {

/// What is loaded: machine code, or PTX that the driver compiles. A driver older than the compiler may refuse PTX;
/// machine code runs on one architecture only.
enum class ImageForm : std::uint8_t { cubin, ptx };
std::optional<ImageForm> image_form_named(std::string_view name);

gpu::Sequence sequence_of(const ir::Kernel& kernel, const ir::Binary& binary, ImageForm form);
gpu::Image image_of(const ir::Binary& binary, ImageForm form);
/// The inputs one after the other, as they lie in memory: what LoadRequest wants beside such a sequence.
std::vector<std::byte> contents_of(const ir::Kernel& kernel, std::span<const reference::Tensor> inputs);
/// The buffers that RunRequest fetched, one by one: the kernel's outputs in order.
std::vector<std::span<const std::byte>> outputs_in(const ir::Kernel& kernel, std::span<const std::byte> blob);

}  // namespace tailor::profiler
