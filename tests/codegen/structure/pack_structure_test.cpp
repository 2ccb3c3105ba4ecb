// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which groups fall into parts that share nothing, what their bodies are, and what is doubted of them. Groups are
// written out, one sentence of structure_pack.cpp each; that packs compute what they should is pack_test.cpp's
// question. Part of the suite `codegen structure`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "codegen/structure/structure.h"
#include "ir/graph/graph_parse.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

Graph pack_graph(const std::string& lines) {
  Graph graph = parse_graph("graph g {\n  %z = constant 0 : f32[]\n" + lines + "}\n");
  verify(graph);
  return graph;
}

/// The layout of the whole with what is doubted of it, or the rule that refuses it.
std::string whole_of(const Graph& graph) {
  const Boundary border = codegen::whole_border(graph);
  const codegen::Classified found = codegen::analyse(graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&found);
  if (layout == nullptr) return std::get<Rejection>(found).rule;
  const auto doubt = codegen::find_doubt(graph, border, *layout);
  CHECK((codegen::judge(graph, border).doubt == doubt));
  return codegen::text(*layout) + (doubt ? ", " + doubt->rule : "");
}
std::string whole_of(const std::string& lines) { return whole_of(pack_graph(lines)); }

/// The bodies, or the rule that refuses them.
std::string bodies_of(const std::string& lines) {
  const Graph graph = pack_graph(lines);
  const auto found = codegen::find_bodies(graph, codegen::whole_border(graph));
  if (const auto* refused = std::get_if<Rejection>(&found)) return refused->rule;
  std::string out;
  for (const codegen::BodyBorder& body : std::get<std::vector<codegen::BodyBorder>>(found))
    out += (out.empty() ? "" : " | ") + codegen::text(body.layout);
  return out;
}

std::string map_of(int number, std::string_view shape) {
  return fmt::format("  %p{0} = parameter {0} : f32{1}\n  %n{0} = negate %p{0} : f32{1}\n", number, shape);
}

/// Sums of the rows of an array, in f32.
std::string sums_of(int number, int rows, int columns) {
  return fmt::format("  %x{0} = parameter {0} : f32[{1},{2}]\n  %s{0} = reduce add %x{0}, %z, axes={{1}} : f32[{1}]\n",
                     number, rows, columns);
}

}  // namespace

TEST_CASE("parts that share nothing are the bodies of a pack, the largest first; equal ones are one body") {
  CHECK(whole_of(sums_of(0, 4, 6) + sums_of(1, 4, 8) + "  output %s0, %s1\n") == "pack of 2");
  CHECK(bodies_of(sums_of(0, 4, 6) + sums_of(1, 4, 8) + "  output %s0, %s1\n") == "row 4 x 8 | row 4 x 6");
  CHECK(bodies_of(sums_of(0, 4, 6) + sums_of(1, 4, 8) + sums_of(2, 4, 6) + "  output %s0, %s1, %s2\n") ==
        "row 4 x 8 | row 4 x 6");
  CHECK(whole_of(map_of(0, "[7]") + map_of(1, "[50]") + "  output %n0, %n1\n") == "pack of 2");
  // One loop over both does well, so there is nothing to part.
  CHECK(whole_of(sums_of(0, 4, 6) + sums_of(1, 4, 6) + "  output %s0, %s1\n") == "row 4 x 6");
  CHECK(bodies_of(sums_of(0, 4, 6) + sums_of(1, 4, 6) + "  output %s0, %s1\n") == "bodies");
  CHECK(whole_of(map_of(0, "[50]") + map_of(1, "[5,10]") + "  output %n0, %n1\n") == "map 50");
  CHECK(whole_of(map_of(0, "[50]") + map_of(1, "[]") + "  output %n0, %n1\n") == "map 50");
}

TEST_CASE("what is computed binds parts together; constants and what is read do not") {
  const std::string both = sums_of(0, 4, 6) + sums_of(1, 4, 8);
  CHECK(whole_of(both + "  %a = add %s0, %s1 : f32[4]\n  output %a\n") == "rows-differ");
  CHECK(whole_of(both + "  %a = add %s0, %s1 : f32[4]\n  output %s0, %a\n") == "rows-differ");
  const std::string read =
      "  %v = parameter 2 : f32[]\n  %v6 = broadcast %v : f32[4]\n  %a = add %s0, %v6 : f32[4]\n"
      "  %b = subtract %s1, %v6 : f32[4]\n  output %a, %b\n";
  CHECK(whole_of(both + read) == "pack of 2");
  const std::string computed =
      "  %v = parameter 2 : f32[]\n  %w = exp %v : f32[]\n  %v6 = broadcast %w : f32[4]\n"
      "  %a = add %s0, %v6 : f32[4]\n  %b = subtract %s1, %v6 : f32[4]\n  output %a, %b\n";
  CHECK(whole_of(both + computed) == "rows-differ");
  const std::string known =
      "  %v = constant 3 : f32[]\n  %v6 = broadcast %v : f32[4]\n  %a = add %s0, %v6 : f32[4]\n"
      "  %b = subtract %s1, %v6 : f32[4]\n  output %a, %b\n";
  CHECK(whole_of(both + known) == "pack of 2");
}

TEST_CASE("a short loop may write a smaller array of what it computes, if it is no small part of it") {
  const auto beside = [](int rows, int columns, int kept) {
    return whole_of(
        fmt::format("  %x = parameter 0 : f32[{0},{1}]\n  %e = exp %x : f32[{0},{1}]\n"
                    "  %t = slice %e, ranges={{0:{2}:1,0:{1}:1}} : f32[{2},{1}]\n  %n = negate %t : f32[{2},{1}]\n"
                    "  output %e, %n\n",
                    rows, columns, kept));
  };
  CHECK(beside(64, 100, 32) == "map 6400");
  CHECK(beside(64, 100, 16) == "map 6400");
  CHECK(beside(64, 100, 15) == "map 6400, skeleton-shapes");
  CHECK(beside(16384, 64, 8192) == "map 1048576, skeleton-shapes");  // 4 MiB: memory's time counts
  CHECK(beside(16383, 64, 8192) == "map 1048512");
  // Parts that share nothing are two bodies all the same.
  CHECK(whole_of(map_of(0, "[40]") + map_of(1, "[50]") + "  output %n0, %n1\n") == "pack of 2");
}

TEST_CASE("a pack is refused for a part without a kernel, and for more bodies than a launch has") {
  CHECK(bodies_of(map_of(0, "[7]") + "  %c = parameter 1 : c64[8]\n  %d = negate %c : c64[8]\n  output %n0, %d\n") ==
        "dtype-c64");
  const auto many = [](int parts) {
    std::string lines, outputs;
    for (int i = 0; i < parts; ++i) {
      lines += map_of(i, fmt::format("[{}]", 10 + i));
      outputs += fmt::format("{}%n{}", i == 0 ? "  output " : ", ", i);
    }
    return lines + outputs + "\n";
  };
  CHECK(whole_of(many(16)) == "pack of 16");
  CHECK(bodies_of(many(17)) == "bodies");
  CHECK(whole_of(many(17)) == "map 26, skeleton-shapes");
}

TEST_CASE("bodies that read much in common are doubted, and long rows that blocks share and meet for are not") {
  const auto common = [](int shared) {
    return whole_of(
        fmt::format("  %x = parameter 0 : f32[{0}]\n  %y = parameter 1 : f32[{1}]\n  %n = negate %x : f32[{0}]\n"
                    "  %j = concatenate %x, %y, axes={{0}} : f32[8000]\n  %m = exp %j : f32[8000]\n  output %n, %m\n",
                    shared, 8000 - shared));
  };
  CHECK(common(1000) == "pack of 2");  // of 9,000 that are read
  CHECK(common(1200) == "map 8000, skeleton-shapes");
  CHECK(bodies_of("  %x = parameter 0 : f32[40,30]\n  %s = reduce add %x, %z, axes={1} : f32[40]\n"
                  "  %t = transpose %x, axes={1,0} : f32[30,40]\n  output %s, %t\n") == "bodies");  // one loop
  const auto norm = [](int columns) {
    return whole_of(
        fmt::format("  %x = parameter 0 : f32[2,{0}]\n  %s = reduce add %x, %z, axes={{1}} : f32[2]\n"
                    "  %b = broadcast %s, axes={{0}} : f32[2,{0}]\n  %y = subtract %x, %b : f32[2,{0}]\n"
                    "  %w = parameter 1 : f32[70000]\n  %n = negate %w : f32[70000]\n  output %y, %n\n",
                    columns));
  };
  CHECK(norm(1 << 14) == "pack of 2");
  CHECK(norm((1 << 14) + 2) == "pack of 2");
}

TEST_CASE("parts that go over one array are one body where a loop over it holds both") {
  const std::string both =
      "  %x = parameter 0 : f32[384,37]\n  %c = reduce add %x, %z, axes={0} : f32[37]\n"
      "  %r = reduce add %x, %z, axes={1} : f32[384]\n";
  CHECK(whole_of(both + "  output %c, %r\n") == "row 384 x 37");
  CHECK(bodies_of(both + sums_of(1, 97, 100) + "  output %c, %r, %s1\n") == "row 384 x 37 | row 97 x 100");
  CHECK(whole_of(both + sums_of(1, 97, 100) + "  output %c, %r, %s1\n") == "pack of 2");
}

TEST_CASE("what one part writes over another may not read") {
  const auto updated = [](std::string_view read) {
    Graph graph = pack_graph(
        "  %x = parameter 0 : f32[64,8]\n  %u = parameter 1 : f32[1,8]\n  %at = parameter 2 : s32[]\n"
        "  %zero = constant 0 : s32[]\n  %n = dynamic_update_slice %x, %u, %at, %zero : f32[64,8]\n"
        "  %w = parameter 3 : f32[5,8]\n" +
        fmt::format("  %s = slice {}, ranges={{0:5:1,0:8:1}} : f32[5,8]\n", read) +
        "  %y = negate %s : f32[5,8]\n  %t = exp %w : f32[5,8]\n  output %n, %y, %t\n");
    graph.in_place = {{0, 0}};
    const auto found = codegen::find_bodies(graph, codegen::whole_border(graph));
    if (const auto* refused = std::get_if<Rejection>(&found)) return refused->reason;
    std::string pairs;
    for (const codegen::BodyBorder& body : std::get<std::vector<codegen::BodyBorder>>(found))
      for (const InPlace& pair : body.border.in_place)
        pairs += fmt::format("{} over {}", graph[body.border.writes[static_cast<std::size_t>(pair.output)]].name,
                             graph[body.border.reads[static_cast<std::size_t>(pair.parameter)]].name);
    return pairs;
  };
  CHECK(updated("%w") == "n over x");
  CHECK(updated("%x") == "one body writes over %x, which another one reads");
}
