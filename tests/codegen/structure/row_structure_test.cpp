// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which groups are rows, of how many and how long, and what makes one doubtful or refused: a case on each side of each
// rule, as groups of a few lines with the layout and the rule written down here. The cases of columns are in
// codegen/cuda/column_test.cpp. Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <variant>

#include "codegen/lower/lower.h"
#include "codegen/structure/structure.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

/// The layout, with the rule by which it is doubted where there is one; or the rule that refuses it.
std::string structure_of(const std::string& lines) {
  Graph graph = parse_graph("graph g {\n  %z = constant 0 : f32[]\n" + lines + "}\n");
  verify(graph);
  const Boundary border = codegen::whole_border(graph);
  const codegen::Classified found = codegen::analyse_loop(graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&found);
  if (layout == nullptr) return std::get<Rejection>(found).rule;
  const auto doubt = codegen::find_doubt(graph, border, *layout);
  return codegen::text(*layout) + (doubt ? ", " + doubt->rule : "");
}

/// Of x f32[4,6] and its sums %s f32[4], with these lines behind.
std::string after_sum(const std::string& lines) {
  return structure_of("  %x = parameter 0 : f32[4,6]\n  %s = reduce add %x, %z, axes={1} : f32[4]\n" + lines);
}

}  // namespace

TEST_CASE("rows are what is left of the dimensions when the fastest is reduced, those of one element aside") {
  const auto sum = [](std::string_view in, std::string_view axes, std::string_view out) {
    return structure_of(fmt::format(
        "  %x = parameter 0 : f32{}\n  %s = reduce add %x, %z, axes={} : f32{}\n  output %s\n", in, axes, out));
  };
  CHECK(sum("[4,6]", "{1}", "[4]") == "row 4 x 6");
  CHECK(sum("[2,3,6]", "{2}", "[2,3]") == "row 6 x 6");
  CHECK(sum("[2,3,6]", "{1,2}", "[2]") == "row 2 x 18");
  CHECK(sum("[2,3,6]", "{0,1,2}", "[]") == "row 1 x 36");
  CHECK(sum("[4,1,6]", "{2}", "[4,1]") == "row 4 x 6");
  CHECK(sum("[4,1,6]", "{1,2}", "[4]") == "row 4 x 6");
  CHECK(sum("[1,6]", "{0,1}", "[]") == "row 1 x 6");
  CHECK(sum("[1,4,6]", "{0,2}", "[4]") == "row 4 x 6");
  CHECK(sum("[4,6,1]", "{1}", "[4,1]") == "row 4 x 6");
  CHECK(sum("[4,3,6]", "{0,2}", "[3]") == "row 3 x 24 in [4] x 3 x [6]");
  CHECK(sum("[4,3,3]", "{0,2}", "[3]") == "row 3 x 12 in [4] x 3 x [3]");  // 12 bytes at a time, or columns in bundles
  // Rows that are added up across have no bundles.
  CHECK(structure_of("  %x = parameter 0 : f32[4,3,3]\n  %s = reduce add %x, %z, axes={0,2} : f32[3]\n"
                     "  %t = reduce add %x, %z, axes={0,1,2} : f32[]\n  output %s, %t\n") ==
        "row 3 x 12 in [4] x 3 x [3], short-runs");
  CHECK(sum("[4,3,1]", "{0,2}", "[3]") == "column 4 x 3");
}

TEST_CASE("reductions of one group are of equally many rows of one length") {
  const auto two = [](std::string_view second, std::string_view axes, std::string_view result) {
    return structure_of(
        fmt::format("  %x = parameter 0 : f32[4,6]\n  %y = parameter 1 : f32{0}\n"
                    "  %s = reduce add %x, %z, axes={{1}} : f32[4]\n"
                    "  %t = reduce add %y, %z, axes={1} : f32{2}\n  output %s, %t\n",
                    second, axes, result));
  };
  CHECK(two("[4,6]", "{1}", "[4]") == "row 4 x 6");
  CHECK(two("[2,2,6]", "{2}", "[2,2]") == "row 4 x 6");
  CHECK(two("[4,2,3]", "{1,2}", "[4]") == "row 4 x 6");
  CHECK(two("[4,8]", "{1}", "[4]") == "rows-differ");
  CHECK(two("[5,6]", "{1}", "[5]") == "rows-differ");
  CHECK(two("[6,4]", "{1}", "[6]") == "rows-differ");
  CHECK(two("[2,4,3]", "{0,2}", "[4]") == "rows-differ");  // 4 rows of 6 as well, but they lie elsewhere
  CHECK(after_sum("  %t = reduce add %s, %z, axes={0} : f32[]\n  output %t\n") != "row 4 x 6, skeleton-row-shapes");
}

TEST_CASE(
    "what depends on rows of a turned array is not seen through a reshape, and few long rows may be gone through "
    "again") {
  const auto turned = [](std::string_view layout) {
    return structure_of(
        fmt::format("  %x = parameter 0 : f32[16,4]{0}\n  %s = reduce add %x, %z, axes={{0}} : f32[4]\n"
                    "  %b = broadcast %s, axes={{1}} : f32[16,4]{0}\n"
                    "  %y = subtract %x, %b : f32[16,4]{0}\n  %f = reshape %y : f32[64]\n"
                    "  output %f\n",
                    layout));
  };
  CHECK(turned("{0,1}") == "row 4 x 16, skeleton-transpose");
  CHECK(structure_of("  %x = parameter 0 : f32[2,1000000]\n  %s = reduce add %x, %z, axes={1} : f32[2]\n"
                     "  %b = broadcast %s, axes={0} : f32[2,1000000]\n"
                     "  %y = subtract %x, %b : f32[2,1000000]\n  output %y\n") == "row 2 x 1000000");
}

TEST_CASE("what depends on no sum may be turned, but of rows that are long and few and take time to read") {
  const auto turned = [](int rows, int columns) {
    return structure_of(
        fmt::format("  %x = parameter 0 : f32[{1},{0}]\n  %t = transpose %x, axes={{1,0}} : f32[{0},{1}]\n"
                    "  %s = reduce add %t, %z, axes={{1}} : f32[{0}]\n  output %s, %t\n",
                    rows, columns));
  };
  CHECK(turned(4096, 4096) == "row 4096 x 4096");
  CHECK(turned(1024, 8192) == "row 1024 x 8192");
  CHECK(turned(1024, 8193) == "row 1024 x 8193, skeleton-transpose");
  CHECK(turned(128, 8192) == "row 128 x 8192, skeleton-transpose");  // 4 MiB
  CHECK(turned(128, 8191) == "row 128 x 8191");
}

TEST_CASE("what depends on a sum stays in its row, or the group is doubted by what moves it") {
  CHECK(after_sum("  %b = broadcast %s, axes={0} : f32[4,6]\n  %y = subtract %x, %b : f32[4,6]\n  output %y\n") ==
        "row 4 x 6");
  CHECK(after_sum("  %b = broadcast %s, axes={1} : f32[6,4]\n  output %b\n") == "row 4 x 6, skeleton-row-broadcast");
  CHECK(after_sum("  %b = broadcast %s, axes={0} : f32[4,6]\n  %t = transpose %b, axes={1,0} : f32[6,4]\n"
                  "  output %t\n") == "row 4 x 6, skeleton-transpose");
  CHECK(after_sum("  %t = transpose %x, axes={1,0} : f32[6,4]\n  output %s, %t\n") == "row 4 x 6");
  CHECK(after_sum("  %r = reverse %s, axes={0} : f32[4]\n  output %r\n") == "row 4 x 6, skeleton-row-reverse");
  CHECK(after_sum("  %e = reshape %s : f32[2,2]\n  %n = negate %e : f32[2,2]\n  output %n\n") == "row 4 x 6");
  CHECK(after_sum("  %r = reverse %x, axes={0} : f32[4,6]\n  output %s, %r\n") == "row 4 x 6");
  CHECK(structure_of("  %x = parameter 0 : f32[4,1,6]\n  %s = reduce add %x, %z, axes={2} : f32[4,1]\n"
                     "  %b = broadcast %s, axes={0,1} : f32[4,1,6]\n  %t = transpose %b, axes={1,0,2} : f32[1,4,6]\n"
                     "  output %t\n") == "row 4 x 6");
}

TEST_CASE("a row group writes one number a row, one an element, or aside what needs no row") {
  CHECK(after_sum("  %w = parameter 1 : f32[4]\n  %n = negate %w : f32[4]\n  output %s, %n\n") == "row 4 x 6");
  CHECK(after_sum("  %w = parameter 1 : f32[24]\n  %n = negate %w : f32[24]\n  output %s, %n\n") == "row 4 x 6");
  for (const int other : {1, 2, 5, 6, 7, 12, 23, 25, 48})
    CHECK(after_sum(fmt::format("  %w = parameter 1 : f32[{0}]\n  %n = negate %w : f32[{0}]\n  output %s, %n\n",
                                other)) == (other <= 6 ? "row 4 x 6" : "row 4 x 6, output-aside"));
  CHECK(after_sum("  %b = broadcast %s, axes={0} : f32[4,2]\n  %n = negate %b : f32[4,2]\n  output %n\n") ==
        "output-shape");
  CHECK(structure_of("  %x = parameter 0 : f32[1,60]\n  %s = reduce add %x, %z, axes={1} : f32[1]\n"
                     "  %b = broadcast %s, axes={0} : f32[1,7]\n  %n = negate %b : f32[1,7]\n  output %n\n") !=
        "output-shape");
}
