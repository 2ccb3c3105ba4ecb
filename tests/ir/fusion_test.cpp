// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Borders of sets of nodes: what each is to a fusion, what a set reads and writes, seen through views, spread numbers
// and elements of tuples, and when an update may be written in place. The oracle of the border asks every node of
// random graphs who needs it, by plain search; the rest are graphs of a few lines whose answer is written down here.
// Part of the suite `ir`.
#include "ir/fusion.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>

#include "support/random_graph.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

Graph graph_of_lines(std::string_view lines) {
  Graph graph = parse_graph(fmt::format("graph g {{\n{}\n}}\n", lines));
  verify(graph);
  return graph;
}

NodeId node_named(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].name == name) return static_cast<NodeId>(i);
  FAIL("no node ", name);
  return no_node;
}

std::string names_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string out;
  for (const NodeId id : nodes) out += (out.empty() ? "" : " ") + graph[id].name;
  return out;
}

/// "reads -> writes" of the set, and what of it is in place.
std::string border_of(const Graph& graph, std::initializer_list<std::string_view> members) {
  std::vector<NodeId> nodes;
  for (const std::string_view name : members) nodes.push_back(node_named(graph, name));
  const Boundary border = boundary(graph, def_use(graph), nodes);
  std::string out = names_of(graph, border.reads) + " -> " + names_of(graph, border.writes);
  for (const InPlace& pair : border.in_place)
    out += fmt::format(", {} over {}", graph[border.writes[index(pair.output)]].name,
                       graph[border.reads[index(pair.parameter)]].name);
  return out;
}

/// What a set of working nodes writes, asked node by node: a member is written when a walk along users that passes
/// only free nodes meets an output of the graph or a working node that is no member.
std::vector<NodeId> written(const Graph& graph, const DefUse& wires, const std::set<NodeId>& members) {
  const auto is_output = [&](NodeId id) {
    return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
  };
  const std::function<bool(NodeId)> leaves = [&](NodeId id) {
    if (is_output(id)) return true;
    for (std::size_t u = 0; u < graph.nodes.size(); ++u) {
      const IndexedVector<NodeId>& operands = graph.nodes[u].operands;
      const auto user = static_cast<NodeId>(u);
      if (std::find(operands.begin(), operands.end(), id) == operands.end()) continue;
      if (wires.roles[user] == Role::free ? leaves(user) : !members.contains(user)) return true;
    }
    return false;
  };
  std::vector<NodeId> found;
  for (const NodeId id : members)
    if (leaves(id)) found.push_back(id);
  return found;
}

/// What computing the writes needs, walked back from them: the members that are met, and what is read from outside.
struct Needed {
  std::set<NodeId> members, reads;
};

Needed needed(const Graph& graph, const DefUse& wires, const std::set<NodeId>& members,
              const std::vector<NodeId>& writes) {
  Needed found;
  const std::function<void(NodeId)> look = [&](NodeId id) {
    if (members.contains(id) && !found.members.insert(id).second) return;
    for (const NodeId operand : graph[id].operands) {
      const bool picked = graph[operand].op == Op::get_tuple_element && !members.contains(graph[operand].operands[0]);
      if (members.contains(operand) || (wires.roles[operand] == Role::free && !picked))
        look(operand);
      else
        found.reads.insert(operand);
    }
  };
  for (const NodeId id : writes) look(id);
  return found;
}

constexpr std::string_view halves =
    "  %x = parameter 0 : f32[8,4]\n  %t = custom_call %x, results={f32[8,4], f32[8,4]} : tuple\n"
    "  %n = parameter 1 : f32[1,4]\n  %i = parameter 2 : s32[]\n";

}  // namespace

TEST_CASE("what any set of a random graph reads and writes is what a search from each node finds") {
  int sets = 0, views = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = well_formed_graph(seed, 30);
    const DefUse wires = def_use(graph);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 6; ++round) {
      std::set<NodeId> members;
      for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (wires.roles[i] == Role::work && graph.nodes[i].shape.dtype != DType::tuple && random() % 3 == 0)
          members.insert(static_cast<NodeId>(i));
      const std::vector<NodeId> expected = written(graph, wires, members);
      if (expected.empty()) continue;
      const Boundary border = boundary(graph, wires, {members.rbegin(), members.rend()});
      CHECK(border.writes == expected);
      const Needed walked = needed(graph, wires, members, expected);
      CHECK(std::set<NodeId>(border.reads.begin(), border.reads.end()) == walked.reads);
      CHECK(border.reads.size() == walked.reads.size());
      for (const NodeId id : walked.members) CHECK(std::count(border.inside.begin(), border.inside.end(), id) == 1);
      for (const NodeId id : border.inside) views += members.contains(id) ? 0 : 1;
      const Group group = outline(graph, border);
      CHECK_NOTHROW(verify(group.graph));
      ++sets;
    }
  }
  CHECK(sets > 200);
  CHECK(views > 40);
}

TEST_CASE("a member whose view is stored, or read elsewhere behind a view, is written") {
  const Graph graph = graph_of_lines(
      "  %x = parameter 0 : f32[8,4]\n  %a = exp %x : f32[8,4]\n  %flat = reshape %a : f32[32]\n"
      "  %b = negate %a : f32[8,4]\n  %c = tanh %x : f32[8,4]\n  %wide = reshape %c : f32[4,8]\n"
      "  %d = negate %wide : f32[4,8]\n  %e = negate %c : f32[8,4]\n  output %flat, %b, %d, %e");
  CHECK(border_of(graph, {"a", "b"}) == "x -> a b");
  CHECK(border_of(graph, {"c", "e"}) == "x -> c e");
  CHECK(border_of(graph, {"c", "d", "e"}) == "x -> d e");
  CHECK(border_of(graph, {"d"}) == "c -> d");
  // Two views on the way, the second of which is stored.
  const Graph longer = graph_of_lines(
      "  %x = parameter 0 : f32[8,4]\n  %a = exp %x : f32[8,4]\n  %flat = reshape %a : f32[32]\n"
      "  %other = reshape %flat : f32[4,8]\n  %b = negate %a : f32[8,4]\n  output %b, %other");
  CHECK(border_of(longer, {"a", "b"}) == "x -> a b");
}

TEST_CASE("an element of a tuple from outside is read by itself, one of a member is inside") {
  const Graph graph = graph_of_lines(
      "  graph both {\n    %v = parameter 0 : f32[]\n    %w = parameter 1 : f32[]\n    %i = parameter 2 : f32[]\n"
      "    %j = parameter 3 : f32[]\n    %m = maximum %v, %w : f32[]\n    %s = add %i, %j : f32[]\n    output %m, %s\n"
      "  }\n  %x = parameter 0 : f32[8,4]\n  %t = custom_call %x, results={f32[8,4], f32[8,4]} : tuple\n"
      "  %p = get_tuple_element %t, number=0 : f32[8,4]\n  %q = get_tuple_element %t, number=1 : f32[8,4]\n"
      "  %s = add %p, %q : f32[8,4]\n  %z = constant 0 : f32[]\n"
      "  %r = reduce custom %s, %p, %z, %z, axes={1}, bodies={0}, results={f32[8], f32[8]} : tuple\n"
      "  %u = get_tuple_element %r, number=0 : f32[8]\n  %v = get_tuple_element %r, number=1 : f32[8]\n"
      "  %w = add %u, %v : f32[8]\n  output %w, %u");
  CHECK(border_of(graph, {"s"}) == "p q -> s");
  CHECK(border_of(graph, {"r"}) == "s p -> u v");
  CHECK(border_of(graph, {"r", "w"}) == "s p -> u w");
  CHECK(border_of(graph, {"s", "r", "w"}) == "p q -> u w");
  CHECK(border_of(graph, {"w"}) == "u v -> w");
}

TEST_CASE("an update writes over an element of a tuple that has no other name and no other reader") {
  const auto of = [](std::string_view rest) {
    return border_of(graph_of_lines(std::string(halves) + std::string(rest)), {"u"});
  };
  const std::string first = "  %a = get_tuple_element %t, number=0 : f32[8,4]\n";
  const std::string update = "  %u = dynamic_update_slice %a, %n, %i, %i : f32[8,4]\n";
  CHECK(of(first + update + "  output %u") == "a n i -> u, u over a");
  CHECK(of(first + "  %b = get_tuple_element %t, number=1 : f32[8,4]\n  %y = negate %b : f32[8,4]\n" + update +
           "  output %u, %y") == "a n i -> u, u over a");
  // The same element under a second name, the tuple itself read or stored, and the element read again.
  CHECK(of(first + "  %b = get_tuple_element %t, number=0 : f32[8,4]\n  %y = negate %b : f32[8,4]\n" + update +
           "  output %u, %y") == "a n i -> u");
  CHECK(of(first + "  %k = custom_call %t : f32[8,4]\n" + update + "  output %u, %k") == "a n i -> u");
  CHECK(of(first + "  %y = negate %a : f32[8,4]\n" + update + "  output %u, %y") == "a n i -> u");
  CHECK(of(first + update + "  output %u, %a") == "a n i -> u");
}

TEST_CASE("an update of a computed array is in place unless the array has another reader, of any kind") {
  const std::string lines =
      "  %x = parameter 0 : f32[8,4]\n  %n = parameter 1 : f32[1,4]\n  %i = parameter 2 : s32[]\n"
      "  %a = exp %x : f32[8,4]\n";
  const std::string update = "  %u = dynamic_update_slice %a, %n, %i, %i : f32[8,4]\n";
  const auto of = [&](const std::string& between, const std::string& outputs) {
    return border_of(graph_of_lines(lines + between + update + "  output " + outputs), {"u"});
  };
  CHECK(of("", "%u") == "a n i -> u, u over a");
  CHECK(of("", "%u, %a") == "a n i -> u");
  CHECK(of("  %y = negate %a : f32[8,4]\n", "%u, %y") == "a n i -> u");
  CHECK(of("  %y = reshape %a : f32[32]\n", "%u, %y") == "a n i -> u");
  CHECK(of("  %y = custom_call %a : f32[3]\n", "%u, %y") == "a n i -> u");
}

TEST_CASE("an update is in place where all that reads the array is the window that it writes, element by element") {
  const std::string lines =
      "  %x = parameter 0 : f32[8,4]\n  %n = parameter 1 : f32[2,4]\n  %i = parameter 2 : s32[]\n"
      "  %j = parameter 3 : s32[]\n  %a = exp %x : f32[8,4]\n";
  const auto of = [&](const std::string& between, const std::string& new_part, const std::string& outputs,
                      std::initializer_list<std::string_view> members) {
    const std::string update = fmt::format("  %u = dynamic_update_slice %a, {}, %i, %j : f32[8,4]\n", new_part);
    return border_of(graph_of_lines(lines + between + update + "  output " + outputs), members);
  };
  const std::string old = "  %o = dynamic_slice %a, %i, %j : f32[2,4]\n", sum = "  %s = add %o, %n : f32[2,4]\n";
  CHECK(of(old + sum, "%s", "%u", {"o", "s", "u"}) == "a i j n -> u, u over a");
  // Read by another kernel, or kept for another one.
  CHECK(of(old + sum, "%s", "%u", {"s", "u"}) == "a o n i j -> u");
  CHECK(of(old + sum, "%s", "%u, %s", {"o", "s", "u"}) == "a i j n -> s u");
  // Another place, another extent, other elements of the window than the one that is written.
  CHECK(of("  %o = dynamic_slice %a, %j, %i : f32[2,4]\n" + sum, "%s", "%u", {"o", "s", "u"}) == "a j i n -> u");
  CHECK(of("  %w = dynamic_slice %a, %i, %j : f32[3,4]\n  %o = slice %w, ranges={0:2:1, 0:4:1} : f32[2,4]\n" + sum,
           "%s", "%u", {"w", "o", "s", "u"}) == "a i j n -> u");
  CHECK(of(old + "  %r = reverse %o, axes={0} : f32[2,4]\n  %s = add %r, %n : f32[2,4]\n", "%s", "%u",
           {"o", "r", "s", "u"}) == "a i j n -> u");
  // The whole array beside it.
  CHECK(of(old + sum + "  %y = negate %a : f32[8,4]\n", "%s", "%u, %y", {"o", "s", "u", "y"}).find("over") ==
        std::string::npos);
}

TEST_CASE("free nodes are absorbed, but an output or an operand of a call that is spread is work") {
  const Graph graph = graph_of_lines(
      "  %x = parameter 0 : f32[8,4]\n  %one = constant 1 : f32[]\n  %table = constant {1,2,3,4} : f32[4]\n"
      "  %ones = broadcast %one : f32[8,4]\n  %rows = broadcast %table, axes={1} : f32[8,4]\n"
      "  %stored = broadcast %one : f32[3]\n  %given = broadcast %one : f32[5]\n  %seen = reshape %given : f32[5,1]\n"
      "  %l = custom_call %seen : f32[2]\n  %nothing = slice %x, ranges={0:0:1, 0:4:1} : f32[0,4]\n"
      "  %a = add %x, %ones : f32[8,4]\n  %b = add %a, %rows : f32[8,4]\n  output %b, %stored, %l, %nothing");
  const DefUse wires = def_use(graph);
  const auto role = [&](std::string_view name) { return wires.roles[node_named(graph, name)]; };
  for (const std::string_view name : {"one", "ones", "rows", "seen"}) CHECK_MESSAGE(role(name) == Role::free, name);
  for (const std::string_view name : {"x", "table", "nothing"}) CHECK_MESSAGE(role(name) == Role::source, name);
  for (const std::string_view name : {"a", "b", "stored", "given"}) CHECK_MESSAGE(role(name) == Role::work, name);
  CHECK(role("l") == Role::outside);
  CHECK(border_of(graph, {"a", "b"}) == "x table -> b");
  CHECK(names_of(graph, suppliers(graph, wires, node_named(graph, "b"))) == "a");
  CHECK(names_of(graph, suppliers(graph, wires, node_named(graph, "l"))) == "given");
  for (const EdgeDecision decision : {EdgeDecision::stitched, EdgeDecision::recomputed, EdgeDecision::cut})
    CHECK(edge_decision_named(name(decision)) == decision);
  CHECK_FALSE(edge_decision_named("kept").has_value());
}
