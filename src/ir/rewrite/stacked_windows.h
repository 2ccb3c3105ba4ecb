// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A loop over windows of one array that was unrolled: a concatenation of dynamic slices that differ only in where they
// begin, and whose starts are computed alike from neighbouring numbers. That is a gather whose indices are an array.
// In: a group's graph. Out: the graph with gathers. Called by prepare, for what a kernel computes.
#pragma once

#include <optional>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Windows that a stack must have to be taken for a gather.
inline constexpr std::size_t least_stacked_windows = 3;

/// The graph with its stacks of windows as gathers, and the same node numbers: what was swallowed is a constant that
/// nobody reads, or stands for an index array. The same values: a slice and a gather clamp a start alike. Nothing when
/// there is no such stack. O(nodes).
std::optional<Graph> with_windows_gathered(const Graph& group);

}  // namespace tailor::ir
