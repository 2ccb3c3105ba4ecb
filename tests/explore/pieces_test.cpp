// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The pieces that strategies are made of, each against an oracle of its own: merging without circles against a search
// for paths, who writes what in a cover, who waits for whom, prices of covers, launches of loops, and the two things
// that the search by price may give up: barriers and values in memory. In: random graphs and graphs written here. Part
// of the suite `explore`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "explore/borders.h"
#include "explore/contraction.h"
#include "explore/merge_search.h"
#include "explore/partition.h"
#include "explore/partition_file.h"
#include "explore/price.h"
#include "explore/runnable.h"
#include "explore/strategy.h"
#include "support/approx.h"
#include "support/random_graph.h"
#include "support/search_setting.h"

namespace tailor::explore {

namespace {

using ir::Fusion;
using ir::Graph;
using ir::NodeId;
using Sets = std::vector<std::vector<NodeId>>;

Graph graph_g(std::string_view lines) { return ir::parse_graph(fmt::format("graph g {{\n{}}}\n", lines)); }

NodeId id_in(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].name == name) return static_cast<NodeId>(i);
  FAIL("no node " << name);
  return ir::no_node;
}

std::vector<NodeId> ids_in(const Graph& graph, std::initializer_list<std::string_view> names) {
  std::vector<NodeId> ids;
  for (const std::string_view name : names) ids.push_back(id_in(graph, name));
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::set<std::string> names_of(const Graph& graph, const std::vector<NodeId>& ids) {
  std::set<std::string> names;
  for (const NodeId id : ids) names.insert(graph[id].name);
  return names;
}

/// Units of nodes and what each needs of others, looked at edge by edge.
struct PlainUnits {
  const Graph& graph;
  const ir::DefUse& def_use;
  std::vector<int> unit;

  /// Whether a way of two steps or more leads from one unit to another.
  bool leads(int from, int to) const {
    std::set<int> seen;
    std::vector<int> pending;
    const auto next_of = [&](int one) {
      std::set<int> next;
      for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (unit[i] >= 0 && unit[i] != one)
          for (const NodeId producer : ir::suppliers(graph, def_use, static_cast<NodeId>(i)))
            if (unit[ir::index(producer)] == one) next.insert(unit[i]);
      return next;
    };
    for (const int next : next_of(from))
      if (next != to && seen.insert(next).second) pending.push_back(next);
    while (!pending.empty()) {
      const int at = pending.back();
      pending.pop_back();
      for (const int next : next_of(at)) {
        if (next == to) return true;
        if (seen.insert(next).second) pending.push_back(next);
      }
    }
    return false;
  }
};

}  // namespace

TEST_CASE("two units may merge exactly when no way leads from one through others to the other") {
  int refused = 0, merged = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = well_formed_graph(seed, 24);
    const ir::DefUse def_use = ir::def_use(graph);
    Contraction units(graph, def_use);
    PlainUnits plain{graph, def_use, std::vector<int>(graph.nodes.size(), -1)};
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (def_use.roles[i] == ir::Role::work || def_use.roles[i] == ir::Role::outside) {
        plain.unit[i] = static_cast<int>(i);
        nodes.push_back(static_cast<NodeId>(i));
      }
    if (nodes.size() < 3) continue;
    std::mt19937_64 random(seed);
    for (int turn = 0; turn < 60; ++turn) {
      const NodeId a = nodes[random() % nodes.size()], b = nodes[random() % nodes.size()];
      const int of_a = plain.unit[ir::index(a)], of_b = plain.unit[ir::index(b)];
      if (of_a == of_b) {
        REQUIRE(units.unit(a) == units.unit(b));
        continue;
      }
      const bool may = !plain.leads(of_a, of_b) && !plain.leads(of_b, of_a);
      REQUIRE((units.blocker(units.unit(a), units.unit(b)) == ir::no_node) == may);
      (may ? merged : refused) += 1;
      if (!may) continue;
      const NodeId one = units.merge(units.unit(a), units.unit(b));
      std::vector<NodeId> members;
      for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (plain.unit[i] == of_a || plain.unit[i] == of_b) {
          plain.unit[i] = of_a;
          members.push_back(static_cast<NodeId>(i));
        }
      REQUIRE(units.nodes(one) == members);
      REQUIRE(units.version(one) == static_cast<int>(members.size()));
    }
  }
  CHECK(refused > 100);
  CHECK(merged > 300);
}

TEST_CASE("a value that several groups compute is written by the first of them, where anybody else reads it") {
  struct Row {
    std::string_view what, lines;
    bool third;  ///< a group that reads %a and does not compute it
    std::set<std::string> first;
  };
  for (const Row& row :
       {Row{"nobody else", "  output %b, %c\n", false, {"b"}},
        {"a library call",
         "  %l = custom_call %a, target=\"lib\" : f32[1000]\n  output %b, %c, %l\n",
         false,
         {"a", "b"}},
        {"a library call of a view",
         "  %r = reshape %a : f32[10,100]\n  %l = custom_call %r, target=\"lib\" : f32[10,100]\n"
         "  output %b, %c, %l\n",
         false,
         {"a", "b"}},
        {"the graph", "  output %b, %c, %a\n", false, {"a", "b"}},
        {"the graph, a view", "  %r = reshape %a : f32[10,100]\n  output %b, %c, %r\n", false, {"a", "b"}},
        {"the graph, a view of a view",
         "  %r = reshape %a : f32[10,100]\n  %s = reshape %r : f32[1000]\n  output %b, %c, %s\n",
         false,
         {"a", "b"}},
        {"a third group", "  %d = exp %a : f32[1000]\n  output %b, %c, %d\n", true, {"a", "b"}}}) {
    CAPTURE(row.what);
    const Graph graph = graph_g(
        "  %x = parameter 0 : f32[1000]\n  %a = exp %x : f32[1000]\n  %b = negate %a : f32[1000]\n"
        "  %c = tanh %a : f32[1000]\n" +
        std::string(row.lines));
    const ir::DefUse def_use = ir::def_use(graph);
    Sets groups{ids_in(graph, {"a", "b"}), ids_in(graph, {"a", "c"})};
    if (row.third) groups.push_back(ids_in(graph, {"d"}));
    const Borders borders(graph, def_use, groups);
    CHECK(names_of(graph, borders.of(0).writes) == row.first);
    CHECK(names_of(graph, borders.of(1).writes) == std::set<std::string>{"c"});
    if (row.third) CHECK(names_of(graph, borders.of(2).reads) == std::set<std::string>{"a"});
    // A cover is priced group by group, each with what it reads and writes; nothing that two compute is for free.
    double sum = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::vector<NodeId> writes;
      for (const std::string& name : g == 0 ? row.first : std::set<std::string>{g == 1 ? "c" : "d"})
        writes.push_back(id_in(graph, name));
      sum += group_price(outline(graph, ir::boundary(graph, def_use, groups[g], writes)).graph, search_gpu());
    }
    CHECK(price_of(graph, def_use, groups, search_gpu()) == approx(sum));
  }
}

TEST_CASE("a group that computes a value for itself waits for nobody who computes it too") {
  const Graph graph = graph_g(
      "  %x = parameter 0 : f32[64]\n  %a = exp %x : f32[64]\n  %c = tanh %a : f32[64]\n  %d = add %a, %c : f32[64]\n"
      "  %e = negate %d : f32[64]\n  output %d, %e\n");
  const ir::DefUse def_use = ir::def_use(graph);
  const auto circle = [&](const Sets& groups) { return find_circle(graph, def_use, groups).size(); };
  const auto ids = [&](std::initializer_list<std::string_view> names) { return ids_in(graph, names); };
  CHECK(circle({ids({"a", "d"}), ids({"a", "c"}), ids({"e"})}) == 0);  // the first waits for %c of the second
  CHECK(circle({ids({"a", "d"}), ids({"c"}), ids({"e"})}) == 2);       // which reads %a of the first
  CHECK(circle({ids({"d"}), ids({"a", "c"}), ids({"e"})}) == 0);
  CHECK(circle({ids({"a", "e"}), ids({"c"}), ids({"d"})}) == 2);
  CHECK(circle({ids({"e", "d", "c", "a"})}) == 0);
  CHECK(find_left_out(def_use, {ids({"a", "d"}), ids({"c"})}) == ids({"e"}));
}

TEST_CASE("kernels that no partition can save stand between library calls") {
  const auto least = [](std::string_view lines) {
    const Graph graph = graph_g(lines);
    return least_kernels(graph, ir::def_use(graph));
  };
  const auto call = [](std::string_view to, std::string_view from) {
    return fmt::format("  %{} = custom_call %{}, target=\"lib\" : f32[64]\n", to, from);
  };
  const auto work = [](std::string_view to, std::string_view from) {
    return fmt::format("  %{} = exp %{} : f32[64]\n", to, from);
  };
  const std::string x = "  %x = parameter 0 : f32[64]\n";
  CHECK(least(x + work("a", "x") + work("b", "a") + "  output %b\n") == 1);
  CHECK(least(x + call("l", "x") + call("m", "l") + "  output %m\n") == 0);
  CHECK(least(x + call("l", "x") + work("a", "l") + "  output %a\n") == 1);
  CHECK(least(x + work("a", "x") + call("l", "a") + call("m", "l") + work("b", "m") + "  output %b\n") == 2);
  CHECK(least(x + work("a", "x") + call("l", "a") + work("b", "l") + call("m", "b") + work("c", "m") +
              "  output %c\n") == 3);
  CHECK(least(x + work("a", "x") + call("l", "a") + work("b", "l") + work("c", "x") + "  output %b, %c\n") == 2);
}

TEST_CASE("what stands in a loop is launched, moved and called as often as it turns, loops in loops too") {
  const auto text = [](std::string_view outer_trips, std::string_view inner_trips) {
    return fmt::format(R"(graph g {{
  graph condition {{
    %i = parameter 0 : f32[64]
    %zero = constant 0 : f32[]
    %sum = reduce add %i, %zero, axes={{0}} : f32[]
    %go = compare lt %sum, %zero : pred[]
    output %go
  }}
  graph body {{
    graph inner_condition {{
      %i = parameter 0 : f32[64]
      %zero = constant 0 : f32[]
      %sum = reduce add %i, %zero, axes={{0}} : f32[]
      %go = compare lt %sum, %zero : pred[]
      output %go
    }}
    graph inner_body {{
      %i = parameter 0 : f32[64]
      %next = exp %i : f32[64]
      output %next
    }}
    %i = parameter 0 : f32[64]
    %l = custom_call %i, target="lib" : f32[64]
    %w = while_loop %l, {}bodies={{0,1}} : f32[64]
    %n = negate %w : f32[64]
    output %n
  }}
  %x = parameter 0 : f32[64]
  %w = while_loop %x, {}bodies={{0,1}} : f32[64]
  %y = negate %w : f32[64]
  output %y
}}
)",
                       inner_trips, outer_trips);
  };
  const Graph known = ir::parse_graph(text("number=5, ", "number=3, "));
  const Partition counted = partition(known, fuse(find_strategy("unfused"), known));
  CHECK(counted.kernels == 3);
  CHECK(counted.launches == 1 + 5 + 15);
  CHECK(counted.bytes == 512.0 * (1 + 5 + 15));
  CHECK(counted.library_launches == 5);
  CHECK(counted.library_bytes == 5 * 512);
  CHECK(counted.least_launches == 1 + 5 + 15);
  CHECK(counted.unknown_trips == 0);
  std::set<std::string> places;
  for (const DistinctGroup& group : counted.groups)
    for (const Occurrence& one : group.occurrences) places.insert(fmt::format("{} {}", one.where, one.times));
  CHECK(places == std::set<std::string>{"g 1", "g/w.body 5", "g/w.body/w.body 15"});
  // Nobody knows how often the inner one turns: once, and each turn asks.
  const Graph unknown = ir::parse_graph(text("number=5, ", ""));
  const Partition once = partition(unknown, fuse(find_strategy("unfused"), unknown));
  CHECK(once.launches == 1 + 5 + 5 * (1 + 2));
  CHECK(once.unknown_trips == 1);
}

TEST_CASE("partitions of loops in loops are written under the paths of their bodies and read back") {
  const Graph graph = ir::parse_graph(R"(graph g {
  graph first {
    graph inner {
      %i = parameter 0 : f32[64]
      %a = exp %i : f32[64]
      %b = negate %a : f32[64]
      output %b
    }
    graph other {
      %i = parameter 0 : f32[64]
      %a = tanh %i : f32[64]
      output %a
    }
    %i = parameter 0 : f32[64]
    %p = constant 1 : s32[]
    %c = conditional %p, %i, %i, bodies={0,1} : f32[64]
    %n = negate %c : f32[64]
    output %n
  }
  graph second {
    %i = parameter 0 : f32[64]
    %a = exp %i : f32[64]
    output %a
  }
  %x = parameter 0 : f32[64]
  %p = constant 1 : s32[]
  %c = conditional %p, %x, %x, bodies={0,1} : f32[64]
  %y = negate %c : f32[64]
  output %y
}
)");
  for (const char* name : {"unfused", "stitch-v1"}) {
    const Fusion fusion = fuse(find_strategy(name), graph);
    const std::string written = partition_text(graph, fusion);
    CHECK(written.find("\nbody 0/0") != written.npos);
    CHECK(written.find("\nbody 0/1") != written.npos);
    const Fusion found = read_fusion(parse_partition(written, "a.partition"), graph);
    CHECK(found.bodies[0].bodies[0].groups == fusion.bodies[0].bodies[0].groups);
    CHECK(found.bodies[0].bodies[1].groups == fusion.bodies[0].bodies[1].groups);
    CHECK(found.bodies[1].groups == fusion.bodies[1].groups);
  }
}

TEST_CASE("a name of any bytes is written so that it reads back") {
  Graph graph = graph_g("  %x = parameter 0 : f32[4]\n  %a = exp %x : f32[4]\n  output %a\n");
  for (int first = 1; first < 256; ++first)
    for (const char second : {'\0', 'a', '0', '"', '\\'}) {
      CAPTURE(first);
      std::string& name = graph.nodes[1].name;
      name.assign(1, static_cast<char>(first));
      if (second != '\0') name += second;
      const Fusion fusion = fuse(find_strategy("unfused"), graph);
      const PartitionFile file = parse_partition(partition_text(graph, fusion), "a.partition");
      REQUIRE(file.sections.size() == 1);
      REQUIRE(file.sections[0].groups.size() == 1);
      REQUIRE(file.sections[0].groups[0].nodes[0].name == name);
    }
}

TEST_CASE("groups that would need more barriers than are allowed stay apart, at whatever price") {
  const Graph graph = graph_g(
      "  %x = parameter 0 : f32[64,32]\n  %zero = constant 0 : f32[]\n  %c = reduce add %x, %zero, axes={0,1} : f32[]\n"
      "  %b = broadcast %c, axes={} : f32[64,32]\n  %y = add %x, %b : f32[64,32]\n  output %y\n");
  const ir::DefUse def_use = ir::def_use(graph);
  const costmodel::GroupFacts facts = costmodel::group_facts(graph, def_use);
  const FusionTask task{search_setting(), graph, def_use};
  for (const std::int64_t barriers : {0, 1}) {
    CAPTURE(barriers);
    MergeLimits limits;
    limits.lowerable = false;
    limits.barriers = barriers;
    Spending spending(task);
    MergeSearch search(task, facts, limits, {}, spending);
    CHECK((search.gain(id_in(graph, "c"), id_in(graph, "y")) > 0) == (barriers > 0));
    search.run();
    CHECK(search.groups().size() == (barriers > 0 ? 1 : 2));
    CHECK(search.has_barriers() == (barriers > 0));
    CHECK(search.total() == approx(price_of(graph, def_use, search.groups(), search_gpu())));
  }
}

TEST_CASE("what a merge would save is asked again when one of the two has grown meanwhile") {
  // %a and %c go together well, and so do %a and %b, which read one array; all three would need a barrier, and here it
  // takes longer than a launch.
  const Graph graph = graph_g(
      "  %y = parameter 0 : f32[4096,512]\n  %zero = constant 0 : f32[]\n"
      "  %a = reduce add %y, %zero, axes={1} : f32[4096]\n  %b = reduce add %y, %zero, axes={0,1} : f32[]\n"
      "  %s = broadcast %b, axes={} : f32[4096]\n  %c = multiply %a, %s : f32[4096]\n  output %c\n");
  const ir::DefUse def_use = ir::def_use(graph);
  costmodel::CalibratedDevice slow = search_gpu();
  slow.dram_latency = 40e-6;
  FusionSetting setting = search_setting();
  setting.device = &slow;
  const costmodel::GroupFacts facts = costmodel::group_facts(graph, def_use);
  const FusionTask task{setting, graph, def_use};
  MergeLimits limits;
  limits.lowerable = false;
  Spending spending(task);
  MergeSearch search(task, facts, limits, {}, spending);
  const auto gain = [&](std::string_view one, std::string_view other) {
    return search.gain(id_in(graph, one), id_in(graph, other));
  };
  REQUIRE(gain("a", "b") > gain("a", "c"));
  REQUIRE(gain("a", "c") > 0);
  search.run();
  CHECK(search.groups() == Sets{ids_in(graph, {"a", "b"}), ids_in(graph, {"c"})});
  CHECK_FALSE(search.has_barriers());
  CHECK(gain("a", "c") < 0);
}

TEST_CASE("what a search asks of structures grows with the graph, however many merges have too many arguments") {
  // Steps of an optimiser, each of other arrays: kernels of many fill up, and then each is offered more in vain.
  const auto asked_nodes = [](int steps) {
    std::string lines = "  %r = parameter 0 : f32[]\n", outputs;
    for (int i = 0; i < steps; ++i) {
      const std::string shape = fmt::format("f32[{},{}]", 64 + i % 5, 32 + i % 3);
      for (int k = 0; k < 4; ++k)
        lines += fmt::format("  %p{0}_{1} = parameter {2} : {3}\n", i, k, 1 + 4 * i + k, shape);
      lines += fmt::format(
          "  %s{0} = broadcast %r, axes={{}} : {1}\n  %g{0} = multiply %p{0}_1, %s{0} : {1}\n"
          "  %m{0} = add %p{0}_2, %g{0} : {1}\n  %h{0} = multiply %g{0}, %g{0} : {1}\n"
          "  %v{0} = add %p{0}_3, %h{0} : {1}\n  %d{0} = divide %m{0}, %v{0} : {1}\n"
          "  %n{0} = subtract %p{0}_0, %d{0} : {1}\n",
          i, shape);
      outputs += fmt::format("{}%n{}, %m{}, %v{}", i == 0 ? "" : ", ", i, i, i);
    }
    const Graph graph = graph_g(lines + "  output " + outputs + "\n");
    const ir::DefUse def_use = ir::def_use(graph);
    const FusionTask task{search_setting(), graph, def_use};
    const costmodel::GroupFacts facts = costmodel::group_facts(graph, def_use);
    Spending spending(task);
    MergeSearch search(task, facts, {}, {}, spending);
    search.run(true);
    CHECK(search.groups().size() > static_cast<std::size_t>(steps / 10));
    return spending.asked_nodes;
  };
  const std::int64_t few = asked_nodes(40), many = asked_nodes(160);
  INFO(few, " nodes, ", many, " nodes");
  CHECK(many < 6 * few);
}

TEST_CASE("what a search prices grows with the graph where each value comes back over two ways") {
  const auto priced = [](int diamonds) {
    const std::string shape = "f32[256,256]";
    std::string lines = "  %x0 = parameter 0 : f32[256,256]\n";
    for (int i = 0; i < diamonds; ++i)
      lines += fmt::format(
          "  %s{0} = sin %x{0} : {2}\n  %c{0} = cos %x{0} : {2}\n"
          "  %x{1} = multiply %s{0}, %c{0} : {2}\n",
          i, i + 1, shape);
    const Graph graph = graph_g(lines + fmt::format("  output %x{}\n", diamonds));
    const ir::DefUse def_use = ir::def_use(graph);
    const FusionTask task{search_setting(), graph, def_use};
    const costmodel::GroupFacts facts = costmodel::group_facts(graph, def_use);
    Spending spending(task);
    MergeSearch search(task, facts, {}, {}, spending);
    search.run();
    CHECK(search.groups().size() <= static_cast<std::size_t>(1 + diamonds / 100));
    return spending.evaluations;
  };
  const std::int64_t few = priced(50), many = priced(200);
  INFO(few, " prices, ", many, " prices");
  CHECK(many < 6 * few);
}

TEST_CASE("blocks that add up columns write what they add up; those of one long row write only what needs its sum") {
  const auto groups_of = [](std::string_view shape, std::string_view axes, std::string_view sums,
                            const MergeLimits& limits = {}) {
    const Graph graph =
        graph_g(fmt::format("  %x = parameter 0 : {0}\n  %zero = constant 0 : f32[]\n  %e = exp %x : {0}\n"
                            "  %s = reduce add %e, %zero, axes={{{1}}} : {2}\n  output %e, %s\n",
                            shape, axes, sums));
    const ir::DefUse def_use = ir::def_use(graph);
    const FusionTask task{search_setting(), graph, def_use};
    const costmodel::GroupFacts facts = costmodel::group_facts(graph, def_use);
    Spending spending(task);
    MergeSearch search(task, facts, limits, {}, spending);
    search.run();
    return search.groups().size();
  };
  CHECK(groups_of("f32[4096,3072]", "0", "f32[3072]") == 1);
  CHECK(groups_of("f32[1,4194304]", "1", "f32[1]") == 2);
  MergeLimits few;  // one of the searches does without
  few.beside_columns = false;
  CHECK(groups_of("f32[4096,3072]", "0", "f32[3072]", few) == 2);
}

TEST_CASE("a value of full size that two column sums need is computed in each rather than written for both") {
  const Graph graph = graph_g(R"(  %x = parameter 0 : f32[4096,3072]
  %zero = constant 0 : f32[]
  %e = tanh %x : f32[4096,3072]
  %s = reduce add %e, %zero, axes={0} : f32[3072]
  %l = custom_call %s, target="lib" : f32[3072]
  %lb = broadcast %l, axes={1} : f32[4096,3072]
  %m = multiply %e, %lb : f32[4096,3072]
  %t = reduce add %m, %zero, axes={0} : f32[3072]
  output %t
)");
  // No rival of the search repeats so dear an operation: XLA's rules of old do not, and today's are not asked.
  costmodel::CalibratedDevice device = search_gpu();
  device.xla = nullptr;
  FusionSetting setting = search_setting();
  setting.device = &device;
  const Fusion fusion = fuse(find_strategy("tailor"), graph, setting);
  std::set<std::set<std::string>> groups;
  for (const std::vector<NodeId>& group : fusion.groups) {
    std::set<std::string> names;
    for (const NodeId id : group)
      if (ir::class_of(graph[id].op) != ir::OpClass::leaf && graph[id].op != ir::Op::broadcast)
        names.insert(graph[id].name);
    groups.insert(names);
  }
  CHECK(groups == std::set<std::set<std::string>>{{"e", "s"}, {"e", "m", "t"}});
  const ir::DefUse def_use = ir::def_use(graph);
  CHECK(
      price_of(graph, def_use, fusion.groups, search_gpu()) <
      price_of(graph, def_use, {ids_in(graph, {"e"}), ids_in(graph, {"s"}), ids_in(graph, {"m", "t"})}, search_gpu()));
}

TEST_CASE(
    "stitch-v1 keeps to 64 arrays, to 16,384 columns of a row that is alone, and to values that are cheap again") {
  const auto groups = [](const Graph& graph) { return fuse(find_strategy("stitch-v1"), graph).groups.size(); };
  const auto sum_of = [&](int inputs) {
    std::string lines = "  %p0 = parameter 0 : f32[64,64]\n  %s0 = negate %p0 : f32[64,64]\n";
    for (int i = 1; i < inputs; ++i)
      lines += fmt::format("  %p{0} = parameter {0} : f32[64,64]\n  %s{0} = add %s{1}, %p{0} : f32[64,64]\n", i, i - 1);
    return groups(graph_g(lines + fmt::format("  output %s{}\n", inputs - 1)));
  };
  CHECK(sum_of(63) == 1);  // and the result
  CHECK(sum_of(64) == 2);
  const auto softmax_of = [&](int rows, int columns) {
    return groups(graph_g(fmt::format(
        "  %x = parameter 0 : f32[{0},{1}]\n  %lowest = constant -inf : f32[]\n  %zero = constant 0 : f32[]\n"
        "  %m = reduce max %x, %lowest, axes={{1}} : f32[{0}]\n  %mb = broadcast %m, axes={{0}} : f32[{0},{1}]\n"
        "  %d = subtract %x, %mb : f32[{0},{1}]\n  %e = exp %d : f32[{0},{1}]\n"
        "  %s = reduce add %e, %zero, axes={{1}} : f32[{0}]\n  %sb = broadcast %s, axes={{0}} : f32[{0},{1}]\n"
        "  %y = divide %e, %sb : f32[{0},{1}]\n  output %y\n",
        rows, columns)));
  };
  CHECK(softmax_of(1, 16384) == 1);
  CHECK(softmax_of(1, 16385) > 1);
  CHECK(softmax_of(2, 16385) == 1);
  const auto shared_by_two = [&](std::string_view operation, std::string_view from) {
    return groups(graph_g(fmt::format(
        "  %w = parameter 0 : {1}[768]\n  %x = parameter 1 : f32[64,768]\n  %y = parameter 2 : f32[32,768]\n"
        "  %c = {0} %w : f32[768]\n  %cx = broadcast %c, axes={{1}} : f32[64,768]\n"
        "  %cy = broadcast %c, axes={{1}} : f32[32,768]\n  %a = multiply %x, %cx : f32[64,768]\n"
        "  %b = multiply %y, %cy : f32[32,768]\n  output %a, %b\n",
        operation, from)));
  };
  CHECK(shared_by_two("convert", "f16") == 2);
  CHECK(shared_by_two("negate", "f32") == 2);  // reads just what it writes
  CHECK(shared_by_two("convert", "f64") == 3);
  CHECK(shared_by_two("tanh", "f32") == 3);
}

}  // namespace tailor::explore
