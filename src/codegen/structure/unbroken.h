// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where operations that turn, cut or join arrays leave neighbours side by side. In: a node of a graph. Out: how long
// the runs of memory are that stay whole. Called by prepare.cpp: vectors that divide these runs are as good as in
// arrays that nothing breaks.
#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

namespace tailor::codegen {

/// Whether the operation may turn, cut or join arrays, or make them up: it does more than rename or repeat elements.
bool turns_or_cuts(const ir::Node& node);

/// Elements of a run: the node's result and what it reads fall into runs of so many, each aligned to as many in both,
/// that lie in one as in the other; of a broadcast, they may also be one element. 0 where nothing is broken at all, 1
/// where nothing is known to stay together.
std::int64_t unbroken_run(const ir::Graph& graph, const ir::Node& node);

}  // namespace tailor::codegen
