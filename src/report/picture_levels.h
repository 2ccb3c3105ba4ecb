// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The ways a value may take in a picture of a fused graph, with colour and meaning, narrowest first.
// In: the level's word. Out: its row. Read by the writers of DOT and SVG, which so agree, and by the
// legend. Adding a level is a row here; its colour in SVG is a class of chart.css.
#pragma once

#include <array>
#include <string_view>

namespace tailor::report {

struct LevelRow {
  std::string_view level;
  std::string_view css;     ///< class of chart.css for its line
  std::string_view colour;  ///< the same as a number, for DOT
  std::string_view meaning;
};

inline constexpr std::array level_rows = std::to_array<LevelRow>({
    {"register", "l0", "#0072b2", "register: the same thread"},
    {"warp", "l5", "#3a9fd6", "warp: shuffles"},
    {"block", "l2", "#009e73", "block: shared memory"},
    {"cluster", "l4", "#b8860b", "cluster of blocks"},
    {"grid", "l1", "#d55e00", "grid: a barrier of all blocks"},
    {"again", "l3", "#cc79a7", "computed again here"},
    {"memory", "l7", "#6b7177", "memory, between kernels"},
});

/// The row of a level; of an unknown word that of memory.
constexpr const LevelRow& level_row(std::string_view level) {
  for (const LevelRow& row : level_rows)
    if (row.level == level) return row;
  return level_rows.back();
}

}  // namespace tailor::report
