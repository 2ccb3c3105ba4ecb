// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of strategies and the descent into bodies.
#include "explore/strategy.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tailor::explore {

namespace {

constexpr auto strategy_table = std::to_array<Strategy>({
    {"none", "every working node is a kernel of its own", "the unfused baseline", &fuse_none},
    {"imported", "the fusion instructions the file itself carries", "the dump: XLA's own partition", &fuse_imported},
    {"stitch-v1", "stitches rows through shared memory while more than one block remains",
     "FusionStitching, arXiv 1811.05213; PAI's article on memory-bound operations", &fuse_stitch_v1},
});

}  // namespace

std::span<const Strategy> strategies() { return strategy_table; }

const Strategy& find_strategy(std::string_view name) {
  for (const Strategy& strategy : strategy_table)
    if (strategy.name == name) return strategy;
  std::vector<std::string_view> known;
  for (const Strategy& strategy : strategy_table) known.push_back(strategy.name);
  throw Error(Fault::usage, "no fusion strategy is called '" + std::string(name) + "'", suggestion(name, known));
}

ir::Fusion fuse(const Strategy& strategy, const ir::Graph& graph) {
  ir::Fusion fusion = strategy.partition(graph);
  fusion.strategy = strategy.name;
  fusion.bodies.resize(graph.bodies.size());
  for (const ir::Node& node : graph.nodes) {
    if (ir::class_of(node.op) != ir::OpClass::control) continue;
    for (const std::int32_t body : node.attributes.bodies) {
      const auto at = static_cast<std::size_t>(body);
      fusion.bodies[at] = fuse(strategy, graph.bodies[at]);
    }
  }
  return fusion;
}

}  // namespace tailor::explore
