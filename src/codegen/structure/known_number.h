// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers that follow from where an element stands. In: a node of a graph and coordinates of its result. Out: its
// value as an index expression, where it is made of iotas and constants alone. Called by lower_gather.cpp: what such
// numbers place is read as by a slice, not as data says.
#pragma once

#include <optional>

#include "codegen/structure/index_map.h"

namespace tailor::codegen {

/// The number at `coordinates`; nothing where memory is read for it, where it may leave its type, or where an operation
/// has no index expression. O(nodes between).
std::optional<ir::ExprId> known_number(IndexBuilder& build, const ir::Graph& graph, ir::NodeId id,
                                       const Coordinates& coordinates);

}  // namespace tailor::codegen
