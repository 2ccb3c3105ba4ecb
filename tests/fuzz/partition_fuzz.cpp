// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: whatever bytes a partition file holds, reading it ends in a fusion of the graph below or in one Error
// that points at a line of the text. What it accepts must be a fusion that can run: every working node in a group, no
// parameter in one, no circle; and its own text must read back to the same groups. Anything else (a crash, another
// exception, a leak) is a bug.
//
// The graph has what a file can get wrong: a library call that makes a circle possible, a loop with two bodies, a free
// node, names that need quotes. Run by libFuzzer as partition_fuzz, and over corpus/partition with mutants in the suite
// `fuzz` (replay.cpp).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "explore/partition_file.h"
#include "explore/runnable.h"
#include "ir/graph/graph.h"

namespace {

using namespace tailor;

const ir::Graph& sample() {
  static const ir::Graph graph = ir::parse_graph(R"(graph sample {
  graph keep_going {
    %i = parameter 0 : f32[4]
    %zero = constant 0 : f32[]
    %sum = reduce add %i, %zero, axes={0} : f32[]
    %go = compare lt %sum, %zero : pred[]
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

void require(bool holds) {
  if (!holds) std::abort();
}

/// Of the graph and of the bodies that run.
void check_fusion(const ir::Graph& graph, const ir::Fusion& fusion) {
  const ir::DefUse facts = ir::def_use(graph);
  for (const std::vector<ir::NodeId>& group : fusion.groups) {
    require(!group.empty() && std::is_sorted(group.begin(), group.end()));
    require(group.front() >= 0 && ir::index(group.back()) < graph.nodes.size());
    for (const ir::NodeId id : group) require(graph[id].op != ir::Op::parameter);
  }
  require(explore::find_left_out(facts, fusion.groups).empty());
  require(explore::find_circle(graph, facts, fusion.groups).empty());
  for (std::size_t i = 0; i < fusion.bodies.size(); ++i) check_fusion(graph.bodies[i], fusion.bodies[i]);
}

bool same_groups(const ir::Fusion& a, const ir::Fusion& b) {
  return a.groups == b.groups && std::equal(a.bodies.begin(), a.bodies.end(), b.bodies.begin(), b.bodies.end(),
                                            [](const ir::Fusion& x, const ir::Fusion& y) { return same_groups(x, y); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  ir::Fusion fusion;
  try {
    fusion = explore::read_fusion(explore::parse_partition(input, "fuzz.partition"), sample());
  } catch (const Error& error) {
    const auto lines = 1 + std::count(input.begin(), input.end(), '\n');
    require(error.at.file == "fuzz.partition" && error.at.line >= 0 && error.at.line <= lines);
    return 0;
  }
  check_fusion(sample(), fusion);
  const std::string written = explore::partition_text(sample(), fusion);
  require(same_groups(explore::read_fusion(explore::parse_partition(written, "again.partition"), sample()), fusion));
  return 0;
}
