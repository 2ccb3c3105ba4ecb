// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a graph as a graph of their own, without the id that a group of them has. In: a graph and a boundary of
// fusion.h. Out: the graph. Called by searches, which price thousands of groups that nobody names: an id is a hash of
// the group's whole text, a third of the time that outlining takes.
#pragma once

#include "ir/fusion.h"

namespace tailor::ir {

/// As outline() says.
Graph outlined(const Graph& graph, const Boundary& border);

}  // namespace tailor::ir
