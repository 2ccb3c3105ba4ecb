// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the skeleton `transpose`: tiles that are read along one run of dimensions and written along another. In: a
// group prepared for it (Prepared::turn), a plan. Out: how large a tile is; the kernel's statements. The size is asked
// by the mapping, by refusals and by rules, the statements by lower_phases().
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/lower/lower_build.h"
#include "codegen/lower/prepare.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::codegen {

/// What a block turns at once: so many elements along what is written together, and along what is read together.
struct Tile {
  std::int64_t written = 1, read = 1;
  std::int64_t across = 1, down = 1;  ///< tiles along each
  std::int64_t all = 1;               ///< tiles of the group
};

/// Plans too that are refused later: numbers may not fit one another.
Tile tile_of(const Turn& turn, const ir::Plan& plan);

/// Whether an edge of a tile, so many elements long, lies mostly behind the end of the run that it is cut out of.
inline bool is_mostly_behind(std::int64_t edge, const TileRun& run) { return edge > 1 && edge >= 2 * run.size; }

/// Writes the kernel, or refuses.
std::optional<ir::Rejection> lower_turn(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                        const ir::Limits& limits);

}  // namespace tailor::codegen
