// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is left of a node that a rewritten graph has no use for: it stays in its place, for node numbers do not change
// where a kernel computes another graph than the one that is checked, since plans name nodes. In: a node. Out: a
// constant that nobody reads. Called by every rewriting of a graph.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/graph/number.h"

namespace tailor::ir {

inline void swallow(Node& node) {
  node = {Op::constant, make_shape(node.shape.dtype, {}), {}, {}, node.name};
  node.attributes = Literal{true, std::vector<std::byte>(static_cast<std::size_t>(element_bytes(node.shape.dtype)))};
}

}  // namespace tailor::ir
