// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a text says before any pass of the table has run. In: a module's text. Out: the graph of its entry, as the
// instructions are walked: calls and tuples are resolved, everything else is there. Called by tests that hold what is
// left after all passes against it.
#pragma once

#include <string_view>
#include <utility>

#include "hlo/graph_builder.h"
#include "hlo/hlo_parser.h"

namespace tailor::testing {

inline ir::Graph as_written(std::string_view text) {
  const hlo::HloModule module = hlo::parse_module(text, "test.hlo");
  hlo::GraphBuilderContext context(module);
  hlo::GraphBuilder builder(context, module.name);
  builder.walk_graph(module.computations[static_cast<std::size_t>(module.entry)]);
  return std::move(builder).graph();
}

}  // namespace tailor::testing
