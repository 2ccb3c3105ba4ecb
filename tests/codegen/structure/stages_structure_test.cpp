// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which groups are cut into stages, where, and what waits between them; what is doubted and what is refused. Groups are
// written out, one sentence of structure_stages.cpp each; that stages compute what they should is stages_test.cpp's
// question. Part of the suite `codegen structure`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "codegen/structure/structure.h"
#include "ir/graph/graph_parse.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

Graph stages_graph(const std::string& lines) {
  Graph graph = parse_graph("graph g {\n  %z = constant 0 : f32[]\n" + lines + "}\n");
  verify(graph);
  return graph;
}

std::string cut_text(const Graph& graph, const std::variant<codegen::Stages, Rejection>& found) {
  if (const auto* refused = std::get_if<Rejection>(&found)) return refused->rule + ": " + refused->reason;
  std::string out;
  for (const codegen::BodyBorder& body : std::get<codegen::Stages>(found).bodies)
    out += (out.empty() ? "" : " || ") + codegen::text(body.layout);
  out += ", waits";
  for (const NodeId id : std::get<codegen::Stages>(found).waits) out += " " + graph[id].name;
  return out;
}

/// The stages with what waits between them, or why there are none.
std::string stages_of(const std::string& lines) {
  const Graph graph = stages_graph(lines);
  return cut_text(graph, codegen::find_stages(graph, codegen::whole_border(graph)));
}

/// The same of a cut at these nodes.
std::string cut_at(const std::string& lines, const std::vector<NodeId>& waits) {
  const Graph graph = stages_graph(lines);
  return cut_text(graph, codegen::cut_at(graph, codegen::whole_border(graph), waits));
}

/// The layout of the whole, or the rule that refuses it.
std::string whole_of_stages(const std::string& lines) {
  const Graph graph = stages_graph(lines);
  const codegen::Classified found = codegen::analyse_stages(graph, codegen::whole_border(graph));
  const auto* layout = std::get_if<codegen::Layout>(&found);
  return layout == nullptr ? std::get<Rejection>(found).rule : codegen::text(*layout);
}

/// Two arrays divided by the norm of both.
std::string clipped(int columns) {
  return fmt::format(R"(  %a = parameter 0 : f32[8,{0}]
  %b = parameter 1 : f32[50]
  %qa = multiply %a, %a : f32[8,{0}]
  %qb = multiply %b, %b : f32[50]
  %sa = reduce add %qa, %z, axes={{0,1}} : f32[]
  %sb = reduce add %qb, %z, axes={{0}} : f32[]
  %s = add %sa, %sb : f32[]
  %n = sqrt %s : f32[]
  %na = broadcast %n : f32[8,{0}]
  %nb = broadcast %n : f32[50]
  %ya = divide %a, %na : f32[8,{0}]
  %yb = divide %b, %nb : f32[50]
  output %ya, %yb
)",
                     columns);
}

std::string with_words(std::string lines, std::string_view from, std::string_view to) {
  return lines.replace(lines.find(from), from.size(), to);
}

constexpr std::string_view both_ways = R"(  %x = parameter 0 : f32[64,96]
  %s = reduce add %x, %z, axes={1} : f32[64]
  %sb = broadcast %s, axes={0} : f32[64,96]
  %y = divide %x, %sb : f32[64,96]
  %c = reduce max %y, %z, axes={0} : f32[96]
  %cb = broadcast %c, axes={1} : f32[64,96]
  %w = subtract %y, %cb : f32[64,96]
)";

}  // namespace

TEST_CASE("a group that no loop holds is cut at reductions, and a loop takes as many levels as it holds") {
  // Rows are added up across them as they go, so the sums of columns are of the first loop.
  CHECK(stages_of(std::string(both_ways) + "  output %w\n") == "row 64 x 96 || map 6144, waits s c");
  CHECK(whole_of_stages(std::string(both_ways) + "  output %w\n") == "stages of 2");
  // What shares nothing is side by side in a stage.
  CHECK(stages_of(clipped(10)) == "pack of 2 || map 80, waits sa sb");
  // A loop that holds the whole needs no stages.
  CHECK(whole_of_stages("  %x = parameter 0 : f32[4,6]\n  %s = reduce add %x, %z, axes={1} : f32[4]\n  output %s\n") ==
        "row 4 x 6");
  // What is no number of rows waits too: the second reduction has rows of another length.
  CHECK(stages_of("  %x = parameter 0 : f32[12,6]\n  %s = reduce add %x, %z, axes={1} : f32[12]\n"
                  "  %r = reshape %s : f32[3,4]\n  %e = exp %r : f32[3,4]\n"
                  "  %t = reduce max %e, %z, axes={1} : f32[3]\n  output %t\n") == "row 12 x 6 || row 3 x 4, waits s");
}

TEST_CASE("what is written anyway is read by later stages and not computed again") {
  const std::string lines = std::string(both_ways) + "  output %y, %w\n";
  const Graph graph = stages_graph(lines);
  const auto found = codegen::find_stages(graph, codegen::whole_border(graph));
  REQUIRE(std::holds_alternative<codegen::Stages>(found));
  const codegen::Stages& cut = std::get<codegen::Stages>(found);
  REQUIRE(cut.bodies.size() == 2);
  // Buffers: x, then y and w, then the sums of columns. The sums of rows wait for nobody.
  CHECK(cut.bodies[0].reads == std::vector<std::int32_t>{0});
  CHECK(cut.bodies[0].writes == std::vector<std::int32_t>{1, 3});
  CHECK(cut.bodies[1].reads == std::vector<std::int32_t>{1, 3});
  CHECK(cut.bodies[1].writes == std::vector<std::int32_t>{2});
  CHECK(cut.waits.size() == 1);
  CHECK(graph[cut.waits.front()].name == "c");
}

TEST_CASE("a plan may say what waits; a value that no later stage needs, or that nobody computes, does not") {
  const std::string lines = std::string(both_ways) + "  output %w\n";  // 0: z, 1: x, 2: s, 4: y, 5: c, 7: w
  CHECK(cut_at(lines, {2, 5}) == "row 64 x 96 || map 6144, waits s c");
  CHECK(cut_at(lines, {4, 5}) == "row 64 x 96 || map 6144, waits y c");
  CHECK(cut_at(lines, {2, 4, 5}) == "homes: %2 waits for no later stage: the loop that makes it holds what needs it");
  CHECK(cut_at(lines, {7}) == "one-stage: nothing waits, so there is one stage");
  CHECK(cut_at(lines, {0, 5}) == "homes: %0 is no value that the group computes, so it waits nowhere");
  CHECK(cut_at(lines, {1, 5}) == "homes: %1 is no value that the group computes, so it waits nowhere");
}

TEST_CASE("no cut helps where a stage has no loop, nothing is reduced, or reductions wait for too many others") {
  CHECK(whole_of_stages("  %x = parameter 0 : c64[4]\n  %n = negate %x : c64[4]\n  output %n\n") == "dtype-c64");
  CHECK(stages_of("  %x = parameter 0 : f32[4]\n  %n = negate %x : f32[4]\n  output %n\n") ==
        "one-stage: nothing waits, so there is one stage");
  std::string lines = "  %x0 = parameter 0 : f32[8,8]\n";
  for (int i = 0; i < 17; ++i)  // rows and columns in turns
    lines += fmt::format(
        "  %s{0} = reduce add %x{0}, %z, axes={{{2}}} : f32[8]\n  %b{0} = broadcast %s{0}, axes={{{3}}} : f32[8,8]\n"
        "  %x{1} = subtract %x{0}, %b{0} : f32[8,8]\n",
        i, i + 1, i % 2, 1 - i % 2);
  CHECK(stages_of(lines + "  output %x17\n") == "stages: 17 values wait for one another, at most 15");
  const Graph graph = stages_graph(lines + "  output %x17\n");
  const codegen::Classified found = codegen::analyse_stages(graph, codegen::whole_border(graph));
  REQUIRE(std::holds_alternative<Rejection>(found));
  const std::string& reason = std::get<Rejection>(found).reason;
  CHECK(reason.find("; cut into stages: 17 values wait for one another, at most 15") != reason.npos);
}

TEST_CASE("a level whose roots no loop holds together is several stages, each with as many as one holds") {
  // Of the numbers of rows a sum, and sums along rows of another size. The third root goes with the first.
  const std::string lines = R"(  %x = parameter 0 : f32[300,64]
  %y = parameter 1 : f32[40,200]
  %s = reduce add %x, %z, axes={1} : f32[300]
  %m = negate %s : f32[300]
  %a = reduce min %m, %z, axes={0} : f32[]
  %c = reduce max %m, %z, axes={0} : f32[]
  %f = slice %m, ranges={0:200:1} : f32[200]
  %mb = broadcast %f, axes={1} : f32[40,200]
  %p = add %y, %mb : f32[40,200]
  %r = reduce add %p, %z, axes={1} : f32[40]
  %q = divide %a, %c : f32[]
  %ab = broadcast %q : f32[40]
  %o = add %r, %ab : f32[40]
  output %o
)";
  CHECK(stages_of(lines) == "row 300 x 64 || row 1 x 300 || row 40 x 200 || map 40, waits s a c r");
  // What one of them writes the next one may read.
  CHECK(stages_of(with_words(lines, "output %o", "output %o, %a")) ==
        "row 300 x 64 || row 1 x 300 || row 40 x 200 || map 40, waits s a c r");
}

TEST_CASE("sums that are more than a launch has bodies are stages in which nothing waits, up to so many") {
  const auto sums = [](int count) {
    std::string lines, outputs;
    for (int i = 0; i < count; ++i) {
      lines += fmt::format("  %x{0} = parameter {0} : f32[{1}]\n  %s{0} = reduce add %x{0}, %z, axes={{0}} : f32[]\n",
                           i, 5 + i);
      outputs += fmt::format("{}%s{}", i == 0 ? "" : ", ", i);
    }
    return lines + "  output " + outputs + "\n";
  };
  CHECK(whole_of_stages(sums(16)) == "pack of 16");
  CHECK(whole_of_stages(sums(40)) == "stages of 3");
  CHECK(stages_of(sums(17)) == "pack of 16 || row 1 x 21, waits");
  CHECK(stages_of(sums(64)) == "pack of 16 || pack of 16 || pack of 16 || pack of 16, waits");
  CHECK(stages_of(sums(65)) == "stages: they would have 65 loops, a launch holds at most 64");
}

TEST_CASE("levels stay apart where blocks would share the rows of their loop and meet") {
  const auto doubt_of = [](int columns) -> std::string {
    const Graph graph = stages_graph(fmt::format(R"(  %x = parameter 0 : f32[2,{0}]
  %s = reduce add %x, %z, axes={{1}} : f32[2]
  %b = broadcast %s, axes={{0}} : f32[2,{0}]
  %y = subtract %x, %b : f32[2,{0}]
  %t = reduce max %y, %z, axes={{1}} : f32[2]
  %q = parameter 1 : f32[2,30,7]
  %qb = broadcast %t, axes={{0}} : f32[2,30,7]
  %d = divide %q, %qb : f32[2,30,7]
  %u = reduce add %d, %z, axes={{1}} : f32[2,7]
  output %u
)",
                                                 columns));
    const Boundary border = codegen::whole_border(graph);
    const codegen::Classified found = codegen::analyse_stages(graph, border);
    if (const auto* refused = std::get_if<Rejection>(&found)) return refused->rule;
    const auto doubt = codegen::find_doubt(graph, border, std::get<codegen::Layout>(found));
    CHECK((codegen::judge_stages(graph, border).doubt == doubt));
    return codegen::text(std::get<codegen::Layout>(found)) + (doubt ? ", " + doubt->rule : "");
  };
  CHECK(doubt_of(1000) == "stages of 2");
  CHECK(doubt_of(16384) == "stages of 2");
  CHECK(doubt_of(16385) == "stages of 3");
}

TEST_CASE("what one stage writes over no later one reads") {
  const auto stages = [](std::string_view late) {
    Graph graph = stages_graph(fmt::format(R"(  %p = parameter 0 : f32[8,16]
  %g = parameter 1 : f32[4,16]
  %at = constant 0 : s32[]
  %n = negate %g : f32[4,16]
  %u = dynamic_update_slice %p, %n, %at, %at : f32[8,16]
  %s = reduce add %g, %z, axes={{1}} : f32[4]
  %t = reduce max %s, %z, axes={{0}} : f32[]
  %r = parameter 2 : f32[8,16]
  %tb = broadcast %t : f32[8,16]
  %d = divide %{}, %tb : f32[8,16]
  output %u, %d
)",
                                           late));
    graph.in_place = {{0, 0}};
    return cut_text(graph, codegen::find_stages(graph, codegen::whole_border(graph)));
  };
  CHECK(stages("r").ends_with("waits t"));
  CHECK(stages("p") == "stages: one stage writes over %p, which another one reads then");
}
