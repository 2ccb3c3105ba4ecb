// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequence: machine code, buffers and launches in order, as plain data. It is one kernel of a plan, another compiler's
// kernel, or all memory-bound kernels of a model over the buffers they share. Where another compiler lets the driver
// copy or fill memory between its kernels, a step of the list does that. Made by the rooms that measure
// (measure/sequence_of, microbench, xla_sequence), sent with a LoadRequest, and bound to a GPU's memory by
// session/loaded.cpp. It knows nothing of plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel/launch.h"

namespace tailor::gpu {

using ir::BufferRole;
using ir::Extent3;

/// Contents that are made on the GPU, where bringing them would take longer than what is measured. mixed: word i is
/// mixed_word(i). counted: word i is i.
enum class Pattern : std::uint8_t { none, mixed, counted };

/// Word `at` of a mixed pattern: as random to a memory as data of a model.
constexpr std::uint32_t mixed_word(std::uint64_t at) {
  auto x = static_cast<std::uint32_t>(at * 2654435761U);  // Knuth's multiplicative hash, then mixed downwards
  x ^= x >> 15;
  return x * 2246822519U ^ x >> 13;
}

/// Device memory, 256-byte aligned, between guard zones that no launch may touch.
struct Buffer {
  std::string name;
  std::int64_t bytes = 0;
  BufferRole role = BufferRole::input;
  Pattern pattern =
      Pattern::none;  ///< of an input: what it holds; of an output: what a run must leave, looked at there
  bool operator==(const Buffer&) const = default;
};

/// Whether contents of it come with a request to load.
inline bool brings_contents(const Buffer& buffer) {
  return has_contents(buffer.role) && buffer.pattern == Pattern::none;
}

/// A kernel argument: a buffer's address plus an offset, or plain bytes.
struct Argument {
  int buffer = -1;               ///< -1: `value`
  std::int64_t offset = 0;       ///< bytes
  std::vector<std::byte> value;  ///< by value, exactly the parameter's size
  bool operator==(const Argument&) const = default;
};

/// What a step of a sequence does: launches a kernel, or has the driver copy memory of the GPU or fill it.
enum class StepKind : std::uint8_t { kernel, copy, fill };

/// A launch is its shape, and what is launched with which arguments. A copy or a fill stands in the same list, since
/// all keep one order, and has neither shape nor image.
struct Launch : ir::LaunchShape {
  int image = 0;                    ///< index into Sequence::images
  std::string entry;                ///< name of the kernel in it; of a copy or fill a name for messages
  std::vector<Argument> arguments;  ///< of a copy: to where, from where; of a fill: where
  StepKind kind = StepKind::kernel;
  std::int64_t bytes = 0;  ///< that a copy or fill writes
  std::uint32_t word = 0;  ///< that a fill repeats
  bool operator==(const Launch&) const = default;
};

inline bool is_kernel(const Launch& launch) { return launch.kind == StepKind::kernel; }
/// `bytes` bytes of the second place to the first.
Launch copy_step(std::string name, Argument to, Argument from, std::int64_t bytes);
Launch fill_step(std::string name, Argument to, std::int64_t bytes, std::uint32_t word);

/// A cubin, or PTX as text (the driver then compiles it).
struct Image {
  std::string name;  ///< for messages
  std::vector<std::byte> code;
  bool operator==(const Image&) const = default;
};

struct Sequence {
  std::vector<Image> images;
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
  bool operator==(const Sequence&) const = default;
};

/// How many steps of it are no kernels.
std::int64_t transfers(const Sequence& sequence);

}  // namespace tailor::gpu
