// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategies: the two groups stitching was made for, and laws every partition keeps.
#include "explore/strategy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <queue>

#include "explore/partition.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;

namespace {

constexpr std::string_view softmax = R"(graph softmax {
  %x = parameter 0 : f32[64,1000]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes={1} : f32[64]
  %mb = broadcast %m, axes={0} : f32[64,1000]
  %d = subtract %x, %mb : f32[64,1000]
  %e = exp %d : f32[64,1000]
  %s = reduce add %e, %zero, axes={1} : f32[64]
  %sb = broadcast %s, axes={0} : f32[64,1000]
  %y = divide %e, %sb : f32[64,1000]
  given fusion.1 kLoop { %mb, %d, %e }
  output %y
}
)";

constexpr std::string_view layernorm = R"(graph layernorm {
  %x = parameter 0 : f32[4096,768]
  %scale = parameter 1 : f32[768]
  %zero = constant 0 : f32[]
  %n = constant 768 : f32[]
  %ns = broadcast %n, axes={} : f32[4096,1]
  %sum = reduce add %x, %zero, axes={1} : f32[4096]
  %sum1 = reshape %sum : f32[4096,1]
  %mean = divide %sum1, %ns : f32[4096,1]
  %mean1 = reshape %mean : f32[4096]
  %meanb = broadcast %mean1, axes={0} : f32[4096,768]
  %d = subtract %x, %meanb : f32[4096,768]
  %q = multiply %d, %d : f32[4096,768]
  %var = reduce add %q, %zero, axes={1} : f32[4096]
  %inv = rsqrt %var : f32[4096]
  %invb = broadcast %inv, axes={0} : f32[4096,768]
  %o = multiply %d, %invb : f32[4096,768]
  %sb = broadcast %scale, axes={1} : f32[4096,768]
  %y = multiply %o, %sb : f32[4096,768]
  output %y
}
)";

/// a feeds b directly and through a library call: {a, b} would wait for itself.
constexpr std::string_view hazard = R"(graph hazard {
  %x = parameter 0 : f32[64,64]
  %a = exp %x : f32[64,64]
  %l = custom_call %a, target="lib" : f32[64,64]
  %b = add %a, %l : f32[64,64]
  output %b
}
)";

constexpr std::string_view columns = R"(graph columns {
  %x = parameter 0 : f32[64,32]
  %zero = constant 0 : f32[]
  %a = exp %x : f32[64,32]
  %c = reduce add %a, %zero, axes={0} : f32[32]
  %y = negate %c : f32[32]
  output %y
}
)";

/// Kahn's algorithm over groups and outside nodes, free nodes seen through: independent of the strategy's own check.
bool can_run(const Graph& graph, const Fusion& fusion) {
  const DefUse wires = def_use(graph);
  std::vector<int> unit(graph.nodes.size(), -1);
  int count = 0;
  for (const auto& group : fusion.groups) {
    for (const NodeId id : group) unit[static_cast<std::size_t>(id)] = count;
    ++count;
  }
  for (int& u : unit)
    if (u < 0) u = count++;
  std::vector<std::vector<int>> after(static_cast<std::size_t>(count));
  std::vector<int> waits(static_cast<std::size_t>(count), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const NodeId producer : suppliers(graph, wires, static_cast<NodeId>(i))) {
      const int from = unit[static_cast<std::size_t>(producer)];
      if (from == unit[i]) continue;
      after[static_cast<std::size_t>(from)].push_back(unit[i]);
      ++waits[static_cast<std::size_t>(unit[i])];
    }
  std::queue<int> ready;
  for (int u = 0; u < count; ++u)
    if (waits[static_cast<std::size_t>(u)] == 0) ready.push(u);
  int done = 0;
  for (; !ready.empty(); ready.pop(), ++done)
    for (const int next : after[static_cast<std::size_t>(ready.front())])
      if (--waits[static_cast<std::size_t>(next)] == 0) ready.push(next);
  return done == count;
}

}  // namespace

TEST_CASE("softmax and LayerNorm become one row group each") {
  for (const std::string_view source : {softmax, layernorm}) {
    const Graph graph = parse_graph(source);
    const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
    REQUIRE(fusion.groups.size() == 1);
    const Partition counted = partition(graph, fusion);
    const auto* layout = std::get_if<codegen::Layout>(&counted.groups[0].needs);
    REQUIRE(layout != nullptr);
    CHECK(layout->skeleton == Skeleton::row);
    CHECK(counted.least_kernels == 1);
  }
}

TEST_CASE("a LayerNorm reads each input once and writes its output once") {
  const Graph graph = parse_graph(layernorm);
  const Partition counted = partition(graph, fuse(find_strategy("stitch-v1"), graph));
  CHECK(counted.bytes == 2.0 * 4096 * 768 * 4 + 768 * 4);
}

TEST_CASE("a group that would wait for a library call of its own is refused with the call's name") {
  const Graph graph = parse_graph(hazard);
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  CHECK(fusion.groups.size() == 2);
  REQUIRE(fusion.edges.size() == 1);
  CHECK(fusion.edges[0].reason == "refused: would make a cycle through %l");
  CHECK(partition(graph, fusion).least_kernels == 2);
}

TEST_CASE("a column reduction takes its producer and is not consumed inside") {
  const Graph graph = parse_graph(columns);
  const Fusion fusion = fuse(find_strategy("stitch-v1"), graph);
  REQUIRE(fusion.groups.size() == 2);
  CHECK(fusion.groups[0].size() == 2);
  const Partition counted = partition(graph, fusion);
  const auto* missing = std::get_if<Rejection>(&counted.groups[0].needs);
  REQUIRE(missing != nullptr);
  CHECK(missing->rule == "skeleton-column");
}

TEST_CASE("every partition can run and covers every working node") {
  for (const std::string_view source : {softmax, layernorm, hazard, columns}) {
    const Graph graph = parse_graph(source);
    for (const Strategy& strategy : strategies()) {
      const Fusion fusion = fuse(strategy, graph);
      INFO(graph.name, " ", strategy.name);
      CHECK(can_run(graph, fusion));
      const DefUse wires = def_use(graph);
      for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (wires.roles[i] != Role::work) continue;
        bool found = false;
        for (const auto& group : fusion.groups)
          found |= std::find(group.begin(), group.end(), static_cast<NodeId>(i)) != group.end();
        CHECK(found);
      }
    }
  }
}
