// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of XLA's emitters writes a kernel, and how it deals out the work to blocks and threads. In: a kernel and XLA's
// view of a GPU. Out: the operations that decide (heroes), the emitter, its schedule and launch. Called by the price,
// which needs blocks and threads, by the strategy xla-priority, which asks for the emitter, by the table that sets
// launches beside XLA's, and by explore/plans, which makes plans of schedules.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/xla/kernel.h"
#include "costmodel/xla/shapes.h"
#include "costmodel/xla/target.h"

namespace tailor::costmodel::xla {

enum class Emitter : std::uint8_t { loop, reduction, transpose, concatenate, scatter, sort };
std::string_view name(Emitter emitter);

struct Analysis {
  Emitter emitter = Emitter::loop;
  std::vector<std::int32_t> heroes;                 ///< one per result of the kernel, as items
  std::int32_t reduction = -1;                      ///< the first result's hero that the reduction emitter follows
  std::optional<Transposed> transposed;             ///< what the transpose emitter follows
  int least_input_bits = 0, least_output_bits = 0;  ///< of one element; the largest int where there is none
};
Analysis analyse(const Kernel& kernel);

/// The item that decides how a result is computed: a reduction, tiled transpose or concatenation that leads to it
/// through elementwise operations, else the item itself.
std::int32_t hero_of(const Kernel& kernel, const Users& users, std::int32_t result);
/// A tiled reduction that the emitter can write: `hero` is the result itself, or done in one pass.
bool is_reduction_hero(const Kernel& kernel, std::int32_t result, std::int32_t hero);
/// Whether a loop of one element per operand may be written over one of them, a part being updated.
bool updates_in_place(const Kernel& kernel);

struct Launch {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::int64_t block = 1;  ///< threads, in x
  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  bool operator==(const Launch&) const = default;
};

/// How an emitter deals out work: it may have several ways, and each has a launch rule of its own.
enum class Form : std::uint8_t {
  loop,              ///< a thread for neighbours of the first result
  in_place,          ///< a thread for neighbours of the part that a dynamic-update-slice writes
  row,               ///< warps share a row
  multi_row,         ///< lanes of a warp share a short row, several rows a warp
  column,            ///< a square of threads over a strip of columns
  small_column,      ///< a block over all of a few columns
  transpose,         ///< square tiles through shared memory
  packed_transpose,  ///< the same with several narrow elements to a bank
  concatenate,       ///< a thread for neighbours of the largest operand, at the same place of all operands
  scatter,           ///< a thread for neighbours of the updates
  sorted_scatter,    ///< a warp for a run of sorted updates
  sort,
};
inline constexpr std::size_t form_count = static_cast<std::size_t>(Form::sort) + 1;
/// "multi-row", "in-place dynamic-update-slice".
std::string_view name(Form form);

struct Schedule {
  Form form = Form::loop;
  Launch launch;
  std::int64_t vector = 1;          ///< neighbouring elements that a thread has at once
  std::int64_t lanes = 1;           ///< threads side by side: along a row or a tile's edge, or across columns
  std::int64_t trips = 1;           ///< vectors that a thread of a reduction adds up, one after the other
  const ir::Shape* over = nullptr;  ///< of a loop: the array whose elements are dealt out, not owned
};
Schedule schedule_of(const Kernel& kernel, const Analysis& analysis, const Target& target);
inline Launch launch_of(const Kernel& kernel, const Analysis& analysis, const Target& target) {
  return schedule_of(kernel, analysis, target).launch;
}

/// "grid 24x1x1, block 128".
std::string text(const Launch& launch);

}  // namespace tailor::costmodel::xla
