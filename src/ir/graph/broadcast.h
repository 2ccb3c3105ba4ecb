// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a broadcast does to the order of elements: rows stay rows only where a number's repeats are neighbours. In: a
// broadcast node and the shape of what it repeats. Out: whether that is so. Called by the price of groups
// (costmodel).
#pragma once

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Whether the source's dimensions, those of size 1 left out, are the leading ones of the broadcast: each of its
/// numbers is repeated along the last dimensions alone. Layouts are not looked at.
bool repeats_along_last(const Node& broadcast, const Shape& source);

}  // namespace tailor::ir
