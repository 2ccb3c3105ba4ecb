// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Why an edge was cut or kept, without what tells one edge from another. In: the reason of an edge (ir/fusion.h), which
// names nodes, extents and numbers. Out: the text that edges of the same reason share. Called by those who count edges
// by reason: the tables of `fuse --why` and the map of a report.
#pragma once

#include <string>
#include <string_view>

namespace tailor::ir {

/// "refused: would make a cycle through %..." of "refused: would make a cycle through %dot.7".
std::string general_reason(std::string_view reason);

}  // namespace tailor::ir
