// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Blame: which elements of the inputs decide over given elements of the results. In: a graph and marked elements of its
// outputs. Out: marked elements of its parameters. Called by the checks, which leave out edges (inputs.h) that would
// make results impossible to judge.
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::reference {

/// Per element of an array, row-major: not 0 where it is marked.
using Marks = std::vector<char>;

/// One per parameter, in order of number: its elements that a marked one is computed from. `outputs`: one per output,
/// empty for one without marks. Nothing where an operation moves elements in a way that is not followed (a look-up, a
/// window, a sort, a library call). Throws Error(interrupted) when asked to stop.
std::optional<std::vector<Marks>> sources_of(const ir::Graph& graph, std::vector<Marks> outputs,
                                             const std::stop_token& stop = {});

}  // namespace tailor::reference
