// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Seeded reductions that arrive in two steps, as compilers split them: any reducer, type and dimensions, with and
// without views between, and each way in which the steps must not be folded. Used by tests of the lowering and of the
// price.
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// What keeps the two steps apart. none: nothing, so they are folded where they reduce rows, columns or everything.
enum class Apart : std::uint8_t { none, start, read_twice, output, reducer };

struct SplitGraph {
  Graph graph;
  std::string what;     ///< reducer, type, dimensions, for messages
  bool folds = false;   ///< known from the dimensions kept, without asking for the kind of reduction
  bool narrow = false;  ///< of 16 bits
};

/// `copies` such reductions beside one another, of one array each. The same seed gives the same graph everywhere.
SplitGraph split_graph(std::uint64_t seed, Apart apart, int copies = 1);

}  // namespace tailor::ir
