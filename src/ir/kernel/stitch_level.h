// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stitch level: by which memory a value gets from the node that makes it to a node that reads it in the same kernel.
// One vocabulary for all that speak of it: what a strategy says of an edge, the home that a plan gives a kept value,
// the scope of a barrier. The levels are ordered: a wider one serves more threads and costs more. An edge that no level
// serves is cut: the value is written by one kernel and read by a later one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tailor::ir {

enum class StitchLevel : std::uint8_t {
  registers,  ///< "register": the thread that makes the value reads it
  warp,       ///< shuffles between the lanes of one warp
  block,      ///< shared memory of one block, with a block barrier
  cluster,    ///< distributed shared memory of a cluster of blocks, with a cluster barrier
  grid,       ///< global memory inside one kernel, with a grid barrier
};

/// All levels, narrowest first.
std::span<const StitchLevel> stitch_levels();

/// "register", "warp", "block", "cluster", "grid".
std::string_view name(StitchLevel level);
/// The level with this name, or nothing.
std::optional<StitchLevel> stitch_level_named(std::string_view name);

}  // namespace tailor::ir
