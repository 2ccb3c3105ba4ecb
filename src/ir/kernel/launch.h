// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a kernel is started: the shape of its launch and what each of its buffers is to it. In comes a lowered Kernel
// (launch_shape in kernel.h) or another compiler's launch list; the printer of CUDA, the simulator's adapter, the
// sequences that a GPU runs and XLA's kernels all hold these records, so none of them has its own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tailor::ir {

/// What a buffer is to a kernel, or to a sequence of kernels, and what whoever runs it owes it.
enum class BufferRole : std::uint8_t {
  input,      ///< filled before the first run; a run must leave it as it was
  output,     ///< a run writes all of it; poisoned before a checked run
  in_place,   ///< a result that is written over an input's memory; filled again before every run
  workspace,  ///< zeroed before every run but where holds_anything(); afterwards it means nothing
  ticket,     ///< zero before the first run; a run must leave it zero (counters that elect a last block)
};

/// "input", "output", "in_place", "workspace", "ticket".
std::string_view name(BufferRole role);
/// Filled by the caller before a run.
constexpr bool has_contents(BufferRole role) { return role == BufferRole::input || role == BufferRole::in_place; }
/// A run may store to it.
constexpr bool is_written(BufferRole role) { return role != BufferRole::input; }
/// The caller reads it after a run.
constexpr bool is_result(BufferRole role) { return role == BufferRole::output || role == BufferRole::in_place; }

using Extent3 = std::array<std::uint32_t, 3>;

struct LaunchShape {
  Extent3 grid{1, 1, 1};            ///< blocks
  Extent3 block{1, 1, 1};           ///< threads
  Extent3 cluster{1, 1, 1};         ///< blocks; all ones: none, or as the entry says
  std::int64_t static_shared = 0;   ///< bytes per block that the machine code declares; 0 where only the code knows
  std::int64_t dynamic_shared = 0;  ///< bytes per block that the launch adds
  int min_blocks = 0;               ///< resident per SM that the code was compiled for; 0: not said
  bool cooperative = false;         ///< all blocks are resident together, so that a grid barrier can end
  bool dependent = false;           ///< may begin while the launch before it still runs: its code waits for that one
  bool operator==(const LaunchShape&) const = default;
};

/// "grid=128 block=256" and, where they say something, " cluster=4 static_shared=512 dynamic_shared=65536
/// min_blocks=2 cooperative dependent". Extents are written up to the last that is not 1: "grid=8,2".
std::string text(const LaunchShape& shape);
/// Throws Error(usage) naming the word that does not fit.
LaunchShape parse_launch_shape(std::string_view text);

}  // namespace tailor::ir
