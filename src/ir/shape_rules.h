// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The shape rules that an import needs while it still knows where each instruction stands, and that the normalisation
// passes rely on: elementwise operations, index movement, reductions. verify() covers the whole graph.
#pragma once

#include <string>

#include "ir/graph.h"

namespace tailor::ir {

/// What is wrong with a node's shape, attributes and operands ("found ..., expected ..."), or "". The node need not be in
/// the graph yet; its operands must be.
std::string shape_problem(const Graph& graph, const Node& node);

}  // namespace tailor::ir
