// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading the text form of a graph when somebody may ask to stop. In: text that a person may have written, of any
// length. Out: the graph, or an Error with its place in the text. Called by the import of files; short texts, such as
// those of a database, are read by parse_graph() of graph.h, which is the same without a token.
#pragma once

#include <stop_token>
#include <string_view>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// As parse_graph(text, file); Error(interrupted) when asked to stop.
Graph parse_graph(std::string_view text, std::string_view file, const std::stop_token& stop);

}  // namespace tailor::ir
