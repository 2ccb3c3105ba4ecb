// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: whatever bytes a partition file holds, reading it ends in a fusion of the sample graph or in one Error
// that points at a line of the text. What it accepts must be a fusion that can run: every working node in a group, no
// parameter in one, no circle; and its own text must read back to the same groups. Anything else (a crash, another
// exception, a leak) is a bug.
//
// The graph is support/partition_sample.h. Run by libFuzzer as partition_fuzz, and over corpus/partition with mutants
// in the suite `fuzz` (replay.cpp).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "explore/partition_file.h"
#include "explore/runnable.h"
#include "ir/graph/graph.h"
#include "support/partition_sample.h"

namespace {

using namespace tailor;

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
    fusion = explore::read_fusion(explore::parse_partition(input, "fuzz.partition"), ir::partition_sample());
  } catch (const Error& error) {
    const auto lines = 1 + std::count(input.begin(), input.end(), '\n');
    require(error.at.file == "fuzz.partition" && error.at.line >= 0 && error.at.line <= lines);
    return 0;
  }
  check_fusion(ir::partition_sample(), fusion);
  const std::string written = explore::partition_text(ir::partition_sample(), fusion);
  require(same_groups(
      explore::read_fusion(explore::parse_partition(written, "again.partition"), ir::partition_sample()), fusion));
  return 0;
}
