// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Between the two halves of verify(): the invariants of a graph (graph_verify.cpp) and the shape rule
// of each operation (graph_verify_shapes.cpp). In: a node. Out: what is wrong with its shape, or
// nothing. Private to this room.
#pragma once

#include <string_view>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// A node under check.
struct Checked {
  const Graph& graph;
  const Node& node;
  const Shape& operand(std::size_t i) const { return graph[node.operands[i]].shape; }
  std::size_t count() const { return node.operands.size(); }
};

/// Throws Error(failed): "node %x (slice): found F, expected E".
[[noreturn]] void refuse(const Checked& checked, std::string_view found, std::string_view expected);

/// The rule of the node's operation. Precondition: operands and bodies in range, operand count right.
void verify_shapes(const Checked& checked);

}  // namespace tailor::ir
