// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Alignment of offsets, and memory for slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tailor::simulator {

/// A slot of 32 words; 64-bit ones take two.
inline constexpr std::size_t slot_bytes = 128;

/// The least multiple of `to` that is not below `offset`.
constexpr std::int64_t aligned(std::int64_t offset, std::int64_t to) {
  return to <= 1 ? offset : (offset + to - 1) / to * to;
}

/// Bytes that start at a multiple of slot_bytes; zero at first.
struct AlignedBytes {
  std::vector<std::byte> storage;
  std::byte* data = nullptr;
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t bytes) : storage(bytes + slot_bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(storage.data());
    data = storage.data() + (slot_bytes - at % slot_bytes) % slot_bytes;
  }
  AlignedBytes(AlignedBytes&&) noexcept = default;
  AlignedBytes& operator=(AlignedBytes&&) noexcept = default;
};

}  // namespace tailor::simulator
