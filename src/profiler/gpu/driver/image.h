// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a driver is about to be given as code. In: bytes. Out: whether they are PTX, a cubin or neither, and what is
// plainly wrong with them. Called before anything is loaded. Drivers trust the tables of a cubin, so a damaged one is
// reported here and does not crash the process. No CUDA here: only bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tailor::gpu {

enum class ImageKind : std::uint8_t { ptx, cubin, fat, unknown };

ImageKind kind_of(std::span<const std::byte> code);

/// Why this cannot be machine code or PTX whatever the GPU, as half a sentence ("is cut off: ..."); empty when it may
/// be.
std::string damage(std::span<const std::byte> code);

}  // namespace tailor::gpu
