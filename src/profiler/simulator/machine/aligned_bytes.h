// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for slots: a warp's frame, the banks of constants, a block's shared memory. In: how many bytes. Out: that many
// zero bytes that begin at a multiple of a slot, so that the lanes' vector code may load them aligned. Used by
// machine.h for everything a resident block owns, and by launch_memory for the banks of a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tailor::simulator {

/// A slot of 32 words; 64-bit ones take two.
inline constexpr std::size_t slot_bytes = 128;

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
