// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How much of each value of a group its outputs need. In: a group as a graph of its own. Out: for each node the number
// of elements that any kernel has to read or compute, however it is written: a slice, or a pad that cuts, asks for less
// of what stands before it, through any number of operations. Called for the bytes and the operations of a group (sol).
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace tailor::costmodel {

/// For each node of `group` the elements that the outputs need, at most all of them; all of a tuple's when any is. An
/// array that an output updates in place is not read for it. The places that a look-up touches are not known: each
/// look-up counts what it touches, as if no two touched the same. O(nodes), some 64 boxes at most for each.
std::vector<double> needed_elements(const ir::Graph& group);

}  // namespace tailor::costmodel
