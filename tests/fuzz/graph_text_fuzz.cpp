// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Feeds any bytes to parse_graph: it reads a graph or throws Error, and what it read survives its text. verify() and
// the canonical text must take whatever parses. Run by libFuzzer as graph_text_fuzz, and over corpus/graph_text with
// mutants in the suite `fuzz` (replay.cpp).
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "ir/graph/graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  try {
    const tailor::ir::Graph graph = tailor::ir::parse_graph(input);
    if (tailor::ir::parse_graph(tailor::ir::text(graph)) != graph) std::abort();
    (void)tailor::ir::canonical_text(graph);
    tailor::ir::verify(graph);
  } catch (const tailor::Error&) {
    return 0;
  }
  return 0;
}
