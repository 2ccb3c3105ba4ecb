// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who may write over what: the pairs that a header's alias list and a loop's state give, and which of them the border
// of a group keeps. In: modules and graphs of a few lines. Out: pairs of an output and a parameter, which are written
// down here. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "hlo/import.h"
#include "ir/fusion.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

using Pairs = std::vector<InPlace>;

/// A step of decoding: two caches in a tuple are extended, a third array is computed.
std::string decoding(std::string_view alias) {
  return fmt::format(
      "HloModule m{}{}\n\nENTRY e {{\n"
      "  i = s32[] parameter(0)\n  c = (f32[8,4], f32[8,4]) parameter(1)\n  n = f32[1,4] parameter(2)\n"
      "  k = f32[8,4] get-tuple-element(c), index=0\n  v = f32[8,4] get-tuple-element(c), index=1\n"
      "  zero = s32[] constant(0)\n  m = f32[1,4] negate(n)\n"
      "  ku = f32[8,4] dynamic-update-slice(k, n, i, zero)\n  vu = f32[8,4] dynamic-update-slice(v, m, i, zero)\n"
      "  u = (f32[8,4], f32[8,4]) tuple(ku, vu)\n"
      "  ROOT t = (f32[1,4], (f32[8,4], f32[8,4])) tuple(m, u)\n}}\n",
      alias.empty() ? "" : ", input_output_alias=", alias);
}

Pairs pairs_of(std::string_view alias) { return hlo::import_hlo(decoding(alias), "test.hlo").graph.in_place; }

/// The pairs of the group of one node, in numbers of its outputs and parameters.
Pairs kept(const std::string& lines, std::string_view node = "u") {
  const Graph graph = parse_graph("graph g {\n" + lines + "}\n");
  verify(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].name == node) {
      const Group group = outline(graph, {static_cast<NodeId>(i)});
      CHECK_NOTHROW(verify(group.graph));
      CHECK(parse_graph(text(group.graph)) == group.graph);
      return group.graph.in_place;
    }
  FAIL("no such node");
  return {};
}

constexpr std::string_view update =
    "  %a = parameter 0 : f32[8,4]\n  %n = parameter 1 : f32[1,4]\n  %i = parameter 2 : s32[]\n"
    "  %zero = constant 0 : s32[]\n  %u = dynamic_update_slice %a, %n, %i, %zero : f32[8,4]\n";
constexpr std::string_view computed =
    "  %x = parameter 0 : f32[8,4]\n  %n = parameter 1 : f32[1,4]\n  %i = parameter 2 : s32[]\n"
    "  %zero = constant 0 : s32[]\n  %a = exp %x : f32[8,4]\n"
    "  %u = dynamic_update_slice %a, %n, %i, %zero : f32[8,4]\n";

}  // namespace

TEST_CASE("a header's alias list is read by its paths") {
  CHECK(pairs_of("").empty());
  CHECK(pairs_of("{ {1,0}: (1, {0}, may-alias), {1,1}: (1, {1}, must-alias) }") == Pairs{{1, 1}, {2, 2}});
  CHECK(pairs_of("{ {1,1}: (1, {0}, may-alias) }") == Pairs{{2, 1}});
  CHECK(pairs_of("{ {0}: (2, {}, may-alias) }").empty());  // no update: nothing would follow from it
  CHECK(pairs_of("{ {1,0}: (1, {0}, may-alias), {1,1}: (1, {0}, may-alias) }") == Pairs{{1, 1}});
  CHECK(pairs_of("{ {1,5}: (1, {0}, may-alias), {1,0}: (9, {}, may-alias), {1}: (1, {}, may-alias) }").empty());
}

TEST_CASE("an alias list that does not read is a warning") {
  for (const std::string_view bad : {"{ {1,0}: 1 }", "{ {x}: (1, {0}, may-alias) }"}) {
    const hlo::Imported imported = hlo::import_hlo(decoding(bad), "test.hlo");
    CHECK(imported.graph.in_place.empty());
    CHECK(imported.report.warnings.size() == 1);
  }
}

TEST_CASE("pairs that lead nowhere are counted in one warning that names the first") {
  const auto said = [](std::string_view pairs) {
    const hlo::Imported imported = hlo::import_hlo(decoding(pairs), "test.hlo");
    REQUIRE(imported.report.warnings.size() == 1);
    CHECK(imported.graph.in_place.size() == 1);
    return imported.report.warnings[0];
  };
  CHECK(
      said("{ {1,5}: (1, {0}, may-alias), {1,0}: (1, {0}, may-alias) }") ==
      "input_output_alias: 1 of 2 pairs cannot be, first {1,5}: (1, {0}) leads to no array of the result; the results "
      "get memory of their own");
  CHECK(said("{ {1,0}: (1, {0}, may-alias), {0}: (9, {}, may-alias), {1}: (1, {}, may-alias) }")
            .find("2 of 3 pairs cannot be, first {0}: (9, {}) names a parameter of 3") != std::string::npos);
  CHECK(said("{ {1,0}: (1, {0}, may-alias), {0}: (1, {1}, may-alias) }").find("shares memory of ") !=
        std::string::npos);
}

TEST_CASE("what a loop updates lies where it lay") {
  const Graph graph =
      hlo::import_hlo(
          "HloModule m\n\ngo {\n  s = (s32[], f32[8,4], f32[8,4]) parameter(0)\n"
          "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(8)\n"
          "  ROOT c = pred[] compare(i, n), direction=LT\n}\n\n"
          "turn {\n  s = (s32[], f32[8,4], f32[8,4]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
          "  a = f32[8,4] get-tuple-element(s), index=1\n  b = f32[8,4] get-tuple-element(s), index=2\n"
          "  one = s32[] constant(1)\n  zero = s32[] constant(0)\n  next = s32[] add(i, one)\n"
          "  row = f32[1,4] dynamic-slice(b, i, zero), dynamic_slice_sizes={1,4}\n"
          "  u = f32[8,4] dynamic-update-slice(a, row, i, zero)\n"
          "  ROOT t = (s32[], f32[8,4], f32[8,4]) tuple(next, u, b)\n}\n\n"
          "ENTRY e {\n  x = f32[8,4] parameter(0)\n  y = f32[8,4] parameter(1)\n  zero = s32[] constant(0)\n"
          "  s = (s32[], f32[8,4], f32[8,4]) tuple(zero, x, y)\n"
          "  w = (s32[], f32[8,4], f32[8,4]) while(s), condition=go, body=turn\n"
          "  ROOT r = f32[8,4] get-tuple-element(w), index=1\n}\n",
          "test.hlo")
          .graph;
  int bodies = 0;
  for (const Graph& body : graph.bodies)
    if (body.outputs.size() == 3) {
      ++bodies;
      CHECK(body.in_place == Pairs{{1, 1}});
    }
  CHECK(bodies == 1);
}

TEST_CASE("an update is in place where nobody else reads the array") {
  const auto of = [](std::string_view lines, const std::string& rest) { return kept(std::string(lines) + rest); };
  CHECK(of(computed, "  output %u\n").size() == 1);
  CHECK(of(computed, "  output %u, %a\n").empty());
  CHECK(of(computed, "  %other = negate %a : f32[8,4]\n  output %u, %other\n").empty());
  CHECK(of(update, "  output %u\n").empty());  // a parameter is the caller's
  CHECK(of(update, "  output %u\n  in_place 0 of 0\n").size() == 1);
  CHECK(of(update, "  output %i, %u\n  in_place 1 of 0\n").size() == 1);
  CHECK(of(update, "  %other = negate %a : f32[8,4]\n  output %u, %other\n  in_place 0 of 0\n").empty());
}

TEST_CASE("an array that updates itself is copied, and so is one whose update is read inside the group") {
  CHECK(kept("  %x = parameter 0 : f32[8,4]\n  %i = parameter 1 : s32[]\n  %a = exp %x : f32[8,4]\n"
             "  %u = dynamic_update_slice %a, %a, %i, %i : f32[8,4]\n  output %u\n")
            .empty());
  const Graph graph =
      parse_graph("graph g {\n" + std::string(computed) + "  %y = negate %u : f32[8,4]\n  output %u, %y\n}\n");
  const DefUse wires = def_use(graph);
  const auto last = static_cast<NodeId>(graph.nodes.size()) - 1;
  CHECK(boundary(graph, wires, {last - 1}).kept_from_place == no_node);
  const Boundary both = boundary(graph, wires, {last - 1, last});
  CHECK(both.in_place.empty());
  CHECK(both.kept_from_place == last - 1);
}

TEST_CASE("pairs that fit no output, no parameter or no shape are refused") {
  for (const std::string_view bad : {"  in_place 1 of 0\n", "  in_place 0 of 3\n", "  in_place 0 of 1\n",
                                     "  in_place 0 of 0\n  in_place 0 of 0\n"}) {
    CAPTURE(bad);
    const Graph graph = parse_graph("graph g {\n" + std::string(update) + "  output %u\n" + std::string(bad) + "}\n");
    CHECK_THROWS_AS(verify(graph), Error);
  }
  CHECK_THROWS_AS(parse_graph("graph g {\n  in_place 0 and 0\n}\n"), Error);
  CHECK_THROWS_AS(parse_graph("graph g {\n  in_place x of 0\n}\n"), Error);
}
