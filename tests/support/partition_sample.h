// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph for partition files, with what a file can get wrong: a library call that makes a circle possible, a loop with
// two bodies, a free node, a name that needs quotes. In: nothing. Out: the graph, parsed once. Used by the tests of
// partition files and by their fuzz target; the files of tests/fuzz/corpus/partition are about it.
#pragma once

#include "ir/graph/graph.h"

namespace tailor::ir {

inline const Graph& partition_sample() {
  static const Graph graph = parse_graph(R"(graph sample {
  graph condition {
    %i = parameter 0 : f32[4]
    %limit = constant 3 : f32[]
    %zero = constant 0 : f32[]
    %sum = reduce add %i, %zero, axes={0} : f32[]
    %go = compare lt %sum, %limit : pred[]
    output %go
  }
  graph step {
    %i = parameter 0 : f32[4]
    %next = exp %i : f32[4]
    output %next
  }
  %x = parameter 0 : f32[4]
  %a = exp %x : f32[4]
  %l = custom_call %a, target="lib" : f32[4]
  %b = add %a, %l : f32[4]
  %"c d" = negate %b : f32[4]
  %w = while_loop %"c d", bodies={0,1} : f32[4]
  %flat = reshape %w : f32[2,2]
  %y = negate %flat : f32[2,2]
  output %y
}
)");
  return graph;
}

}  // namespace tailor::ir
