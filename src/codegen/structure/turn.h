// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a group without reductions is turned: which dimensions lie next to one another in what it writes, which in what
// it reads, and which values have to change from the one order to the other. In: nodes of a graph with their border.
// Out: a Turn, or why there is none. Asked by prepare() once per group that a flat loop can hold; the skeleton
// `transpose` is lowered from it (codegen/lower/lower_turn.cpp).
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/structure/index_map.h"
#include "codegen/structure/structure.h"
#include "ir/fusion.h"

namespace tailor::codegen {

/// Dimensions of the dominant array that are numbered together, fastest first, and how many elements they have.
struct TileRun {
  ir::Dims dims;
  std::int64_t size = 1;
  bool operator==(const TileRun&) const = default;
};

/// The dominant array as three numbers: along what is written together, along what is read together, and the others.
struct Turn {
  ir::NodeId dominant = ir::no_node;  ///< elements of it are what a tile is made of
  std::vector<ir::NodeId> upwards;    ///< from it, each the next one's operand, to the first output; it may be that one
  TileRun written, read, others;
  std::vector<ir::NodeId> values;  ///< that go through the tile, ascending: computed as read, used as written
  bool operator==(const Turn&) const = default;
};

/// The coordinates in an array of the dominant's dimensions of the element with these three numbers.
Coordinates turned_coordinates(IndexBuilder& build, const ir::Shape& shape, const Turn& turn, ir::ExprId written,
                               ir::ExprId read, ir::ExprId others);

/// The same of the first output, and of all others.
Coordinates written_coordinates(IndexBuilder& build, const ir::Graph& graph, const Turn& turn, ir::ExprId written,
                                ir::ExprId read, ir::ExprId others);

/// Whether the walk from results to operands may go through the node: it reads one element of each operand for one of
/// its own, wherever it stands.
bool is_passed(const ir::Node& node);

std::variant<Turn, ir::Rejection> find_turn(const ir::Graph& graph, const ir::Boundary& border);

}  // namespace tailor::codegen
