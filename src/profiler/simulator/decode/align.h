// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Alignment of offsets: where the next parameter, variable or buffer begins. In: an offset and a power of two. Out: the
// least multiple of it that is not below. Called by the decoder, which lays out parameters, shared and local variables,
// and by the machine's memory, which lays out buffers.
#pragma once

#include <cstdint>

namespace tailor::simulator {

/// The least multiple of `to` that is not below `offset`.
constexpr std::int64_t aligned(std::int64_t offset, std::int64_t to) {
  return to <= 1 ? offset : (offset + to - 1) / to * to;
}

}  // namespace tailor::simulator
