// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// When XLA made the instructions of a module, as far as a text before fusion tells it. In: a graph. Out: a number for
// each node, later ones larger. Called by XlaInstructions: of equal gains the youngest goes first, and users of a value
// stand in the order they came.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::explore {

struct MadeOrder {
  std::vector<std::int64_t> number;  ///< by node, below `next`
  std::vector<bool> appended;        ///< by node: it came to its operands after all that is not
  std::int64_t next = 0;             ///< of what the fusion passes make
};

/// One step over the graph, in time and memory linear in its edges.
MadeOrder made_order(const ir::Graph& graph);

}  // namespace tailor::explore
