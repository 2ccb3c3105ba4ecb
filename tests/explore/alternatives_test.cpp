// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The other choice for an edge: its price is that of the fusion that it would make, whatever the graph, and what stands
// against it is said. The oracle is price_of() over the whole of both fusions, that which was made and that which could
// have been. Part of the suite `explore`.
#include "explore/alternatives.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "explore/price.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "support/approx.h"
#include "support/random_graph.h"
#include "support/search_setting.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;

namespace {

struct Fused {
  Graph graph;
  DefUse wires;
  Fusion fusion;
};

Fused fused(std::string_view text, std::string_view strategy) {
  Fused made{hlo::import_hlo(text, "test.hlo").graph, {}, {}};
  made.wires = def_use(made.graph);
  made.fusion = fuse(find_strategy(strategy), made.graph, search_setting());
  return made;
}

Alternative of(const Fused& made, std::size_t edge) {
  return alternative(made.graph, made.wires, made.fusion.groups, made.fusion.edges[edge], search_gpu());
}

double price(const Fused& made, std::string_view strategy) {
  const Fusion other = fuse(find_strategy(strategy), made.graph, search_setting());
  return price_of(made.graph, made.wires, other.groups, search_gpu());
}

constexpr std::string_view chain =
    "HloModule m\nENTRY e {\n x = f32[65536] parameter(0)\n a = f32[65536] sine(x)\n ROOT b = f32[65536] "
    "cosine(a)\n}\n";

}  // namespace

TEST_CASE("two kernels of a chain cost what they cost, one kernel what the stitched fusion does, and the other way") {
  const Fused apart = fused(chain, "unfused"), together = fused(chain, "stitch-v1");
  REQUIRE(apart.fusion.edges.size() == 1);
  const Alternative join = of(apart, 0), cut = of(together, 0);
  CHECK(join.what == "one kernel");
  CHECK(join.as_is == approx(price(apart, "unfused")));
  CHECK(join.otherwise == approx(price(apart, "stitch-v1")));
  CHECK(join.against.empty());
  CHECK(cut.what == "two kernels");
  CHECK(cut.as_is == approx(join.otherwise));
  CHECK(cut.otherwise == approx(join.as_is));
}

TEST_CASE("one kernel that would wait for a library call of its own is said to close a circle") {
  const Fused made = fused(
      "HloModule m\nENTRY e {\n x = f32[64] parameter(0)\n a = f32[64] sine(x)\n"
      " l = f32[64] custom-call(a), custom_call_target=\"lib\"\n ROOT b = f32[64] add(a, l)\n}\n",
      "unfused");
  REQUIRE(made.fusion.edges.size() == 1);
  CHECK(of(made, 0).against == "kernels would wait for each other in a circle");
}

TEST_CASE("a value that is computed again could be read: one kernel writes it and the other does less") {
  Fused made = fused(
      "HloModule m\nENTRY e {\n x = f32[65536] parameter(0)\n a = f32[65536] sine(x)\n b = f32[65536] cosine(a)\n"
      " c = f32[65536] tanh(a)\n ROOT t = (f32[65536], f32[65536]) tuple(b, c)\n}\n",
      "unfused");
  const auto node = [&](std::string_view name) {
    const auto at =
        std::find_if(made.graph.nodes.begin(), made.graph.nodes.end(), [&](const Node& n) { return n.name == name; });
    return static_cast<NodeId>(at - made.graph.nodes.begin());
  };
  made.fusion.groups = {{node("a"), node("b")}, {node("a"), node("c")}};
  EdgeNote note;
  note.producer = node("a");
  note.consumer = node("c");
  note.group = 1;
  note.decision = EdgeDecision::recomputed;
  const Alternative other = alternative(made.graph, made.wires, made.fusion.groups, note, search_gpu());
  CHECK(other.what == "read from memory");
  CHECK(other.as_is == approx(price_of(made.graph, made.wires, made.fusion.groups, search_gpu())));
  CHECK(other.otherwise ==
        approx(price_of(made.graph, made.wires, {{node("a"), node("b")}, {node("c")}}, search_gpu())));
}

TEST_CASE("both prices differ by what whole fusions differ by, on random graphs") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Fused made{well_formed_graph(seed, 25), {}, {}};
    made.wires = def_use(made.graph);
    made.fusion = fuse(find_strategy("unfused"), made.graph);
    const double whole = price_of(made.graph, made.wires, made.fusion.groups, search_gpu());
    for (const EdgeNote& note : made.fusion.edges) {
      const Alternative other = alternative(made.graph, made.wires, made.fusion.groups, note, search_gpu());
      std::vector<std::vector<NodeId>> joined;
      for (const std::vector<NodeId>& group : made.fusion.groups)
        if (group.front() != note.producer && group.front() != note.consumer) joined.push_back(group);
      joined.push_back({std::min(note.producer, note.consumer), std::max(note.producer, note.consumer)});
      const double difference = price_of(made.graph, made.wires, joined, search_gpu()) - whole;
      REQUIRE(std::abs(other.otherwise - other.as_is - difference) <= 1e-9 * whole);
    }
  }
}
