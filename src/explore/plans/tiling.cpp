// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers that rules ask, out of a mapping (codegen/lower/mapping.h), and the table of the fields behind them. In:
// a prepared group, a plan, limits; plans too that the lowering refuses, whose fields may not fit one another. Out: a
// tiling. Called by walk.cpp, rules.cpp and whoever needs one of the numbers.
#include "explore/plans/tiling.h"

#include <array>

#include "base/indexed.h"
#include "codegen/lower/lower_turn.h"

namespace tailor::explore {

Tiling tiling_of(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  using enum codegen::Level;
  using codegen::Side;
  const codegen::Mapping of = codegen::mapping(prepared, plan, limits);
  Tiling tiling;
  tiling.vectors = vectors(of);
  tiling.rest = rest(of);
  tiling.run = of.run;
  tiling.trips = trips(of);
  tiling.streamed = of.in_parts;
  tiling.together = taken_together(of);
  if (!of.is_flat()) tiling.lanes = static_cast<int>(threads_on(of, of.fast));
  if (!of.is_flat() && !of.turns() && of.fast == Side::kept)
    tiling.groups = static_cast<int>(threads_on(of, Side::along));
  tiling.at_once = static_cast<int>(extent(of, of.in_parts ? Side::along : Side::kept, of.in_parts ? section : flight));
  tiling.items = units(of, Side::kept);
  tiling.items_per_block = stride_of(of, Side::kept, block) / extent(of, Side::kept, vector);
  tiling.split = static_cast<int>(extent(of, Side::along, grid) * extent(of, Side::along, block));
  tiling.leaves_blocks_idle = leaves_blocks_idle(of);
  if (const auto& turn = codegen::prepared_for(prepared, plan).turn; turn && of.turns()) {
    const codegen::Tile tile = codegen::tile_of(*turn, plan);
    tiling.tile_written = tile.written;
    tiling.tile_read = tile.read;
  }
  return tiling;
}

std::uint32_t fields_behind(TilingPart part, ir::Skeleton skeleton) {
  using enum ir::PlanField;
  using Row = std::array<std::uint32_t, 6>;  // in the order of skeletons.def; what has bodies has no mapping of its own
#define FIELDS(...) ir::field_bits({__VA_ARGS__})
#define TILING(name, type, start, map, transpose, column, row) \
  Row{FIELDS map, FIELDS transpose, FIELDS column, FIELDS row, 0, 0},
  static constexpr std::array table{
#include "explore/plans/tiling.def"
  };
#undef TILING
#undef FIELDS
  static_assert(table.size() == tiling_parts);
  return row_for(row_for(table, part), skeleton);
}

}  // namespace tailor::explore
