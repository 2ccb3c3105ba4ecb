// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What modules compute once they are imported and normalised: texts of a few lines, evaluated, against numbers worked
// out by hand from the specification of HLO. Where other tests compare a graph before and after a pass, these also see
// an attribute that was read wrongly. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "hlo/import.h"
#include "hlo/normalise.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

using Values = std::vector<double>;

/// 0, 1, 2, ... in each parameter.
Tensor counted_up(const Shape& shape) {
  Tensor made = zeros(shape);
  for (std::int64_t i = 0; i < elements(shape); ++i)
    is_floating(shape.dtype) ? store(made, i, static_cast<double>(i)) : store_integer(made, i, i);
  return made;
}

/// All outputs of a module, one behind the other, for parameters that count up.
Values values_of_module(const std::string& module) {
  const Graph graph = hlo::import_hlo(module, "test.hlo").graph;
  verify(graph);
  std::vector<Tensor> inputs;
  for (const NodeId id : parameters(graph)) inputs.push_back(counted_up(graph[id].shape));
  Values found;
  for (const Tensor& output : evaluate(graph, inputs))
    for (std::int64_t i = 0; i < elements(output.shape); ++i) found.push_back(as_double(output, i));
  return found;
}

Values of_lines(std::string_view lines) {
  return values_of_module(fmt::format(
      "HloModule m\n\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}}\n\n"
      "less {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT\n}}\n\n"
      "more {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GT\n}}\n\n"
      "ENTRY e {{\n{}\n}}\n",
      lines));
}

struct Row {
  std::string_view lines;
  Values expected;
};

}  // namespace

TEST_CASE("comparisons are what their direction says, of values and of a value with itself") {
  struct Direction {
    std::string_view word;
    Values of_three;  ///< 0, 1, 2 against 1
    double of_equal;
  };
  for (const auto& [word, of_three, of_equal] :
       {Direction{"EQ", {0, 1, 0}, 1}, Direction{"NE", {1, 0, 1}, 0}, Direction{"GE", {0, 1, 1}, 1},
        Direction{"GT", {0, 0, 1}, 0}, Direction{"LE", {1, 1, 0}, 1}, Direction{"LT", {1, 0, 0}, 0}}) {
    CAPTURE(word);
    for (const std::string_view type : {"s32", "u8", "f32", "bf16"}) {
      CAPTURE(type);
      CHECK(of_lines(fmt::format("x = {0}[3] parameter(0)\none = {0}[] constant(1)\n"
                                 "o = {0}[3] broadcast(one), dimensions={{}}\n"
                                 "ROOT c = pred[3] compare(x, o), direction={1}",
                                 type, word)) == of_three);
      CHECK(of_lines(fmt::format("x = {0}[2] parameter(0)\nROOT c = pred[2] compare(x, x), direction={1}", type,
                                 word)) == Values{of_equal, of_equal});
    }
    // Known on both sides, so it is folded.
    CHECK(of_lines(fmt::format("x = s32[3] constant({{0,1,2}})\no = s32[3] constant({{1,1,1}})\n"
                               "ROOT c = pred[3] compare(x, o), direction={}",
                               word)) == of_three);
  }
}

TEST_CASE("moves put elements where HLO says, alone and one behind the other") {
  const Row rows[] = {
      {"x = f32[2,3] parameter(0)\nROOT y = f32[3,2] broadcast(x), dimensions={1,0}", {0, 3, 1, 4, 2, 5}},
      {"x = f32[2,3] parameter(0)\nROOT y = f32[3,1,2] broadcast(x), dimensions={2,0}", {0, 3, 1, 4, 2, 5}},
      {"x = f32[2,3] parameter(0)\nROOT y = f32[2,1,3] broadcast(x), dimensions={0,2}", {0, 1, 2, 3, 4, 5}},
      {"x = f32[1,2,3] parameter(0)\na = f32[2,1,3] transpose(x), dimensions={1,0,2}\n"
       "ROOT y = f32[3,2,1] transpose(a), dimensions={2,0,1}",
       {0, 3, 1, 4, 2, 5}},
      {"x = f32[2,3,1] parameter(0)\na = f32[3,1,2] transpose(x), dimensions={1,2,0}\n"
       "ROOT y = f32[1,3,2] transpose(a), dimensions={1,0,2}",
       {0, 3, 1, 4, 2, 5}},
      {"x = f32[2,2,2] parameter(0)\na = f32[2,2,2] transpose(x), dimensions={1,0,2}\n"
       "ROOT y = f32[2,2,2] transpose(a), dimensions={0,2,1}",
       {0, 4, 1, 5, 2, 6, 3, 7}},
      {"x = f32[2,2,2] parameter(0)\na = f32[2,2,2] transpose(x), dimensions={0,2,1}\n"
       "ROOT y = f32[2,2,2] transpose(a), dimensions={1,0,2}",
       {0, 2, 4, 6, 1, 3, 5, 7}},
      {"x = f32[2] parameter(0)\na = f32[2,2] broadcast(x), dimensions={1}\n"
       "ROOT y = f32[2,3,2] broadcast(a), dimensions={0,2}",
       {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}},
      {"x = f32[2] parameter(0)\na = f32[2,2] broadcast(x), dimensions={0}\n"
       "ROOT y = f32[2,3,2] broadcast(a), dimensions={0,2}",
       {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}},
      {"x = f32[7] parameter(0)\nROOT y = f32[3] slice(x), slice={[1:7:2]}", {1, 3, 5}},
      {"x = f32[2,4] parameter(0)\nROOT y = f32[1,2] slice(x), slice={[1:2], [1:4:2]}", {5, 7}},
      {"x = f32[3] parameter(0)\nk = f32[] constant(9)\nROOT y = f32[8] pad(x, k), padding=1_2_1",
       {9, 0, 9, 1, 9, 2, 9, 9}},
      {"x = f32[4] parameter(0)\nk = f32[] constant(9)\nROOT y = f32[4] pad(x, k), padding=-1_1", {1, 2, 3, 9}},
      {"x = f32[4] parameter(0)\nk = f32[] constant(9)\nROOT y = f32[4] pad(x, k), padding=1_-1", {9, 0, 1, 2}},
      {"x = f32[1,2] parameter(0)\ny = f32[1,2] parameter(1)\nn = f32[1,2] negate(y)\n"
       "ROOT z = f32[2,2] concatenate(n, x), dimensions={0}",
       {0, -1, 0, 1}},
      {"x = f32[2,1] parameter(0)\nn = f32[2,1] negate(x)\nROOT z = f32[2,2] concatenate(n, x), dimensions={1}",
       {0, 0, -1, 1}},
      {"ROOT i = s32[2,3] iota(), iota_dimension=0", {0, 0, 0, 1, 1, 1}},
      {"ROOT i = s32[2,3] iota(), iota_dimension=1", {0, 1, 2, 0, 1, 2}},
      {"x = f32[2,3] parameter(0)\nROOT r = f32[2,3] reverse(x), dimensions={0}", {3, 4, 5, 0, 1, 2}},
      {"x = f32[2,3]{0,1} parameter(0)\nROOT b = f32[3,2]{1,0} bitcast(x)", {0, 3, 1, 4, 2, 5}},
      {"x = f32[2,3,4]{0,2,1} parameter(0)\nROOT b = f32[3,4,2]{2,1,0} bitcast(x)",
       {0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.lines);
    CHECK(of_lines(row.lines) == row.expected);
  }
}

TEST_CASE("reductions, windows, sorts and look-ups are of the dimensions and with the regions that they name") {
  const Row rows[] = {
      {"x = f32[2,3] parameter(0)\nz = f32[] constant(10)\n"
       "ROOT y = f32[3] reduce(x, z), dimensions={0}, to_apply=sum",
       {13, 15, 17}},
      {"x = f32[2,3] parameter(0)\nz = f32[] constant(10)\n"
       "ROOT y = f32[2] reduce(x, z), dimensions={1}, to_apply=sum",
       {13, 22}},
      // Of one term: nothing is added up but what it starts from.
      {"x = f32[3,1] parameter(0)\nz = f32[] constant(10)\n"
       "ROOT y = f32[3] reduce(x, z), dimensions={1}, to_apply=sum",
       {10, 11, 12}},
      {"x = f32[3,1] parameter(0)\nz = f32[] constant(0)\n"
       "ROOT y = f32[3] reduce(x, z), dimensions={1}, to_apply=sum",
       {0, 1, 2}},
      {"x = f32[1,3]{0,1} parameter(0)\nz = f32[] constant(0)\n"
       "ROOT y = f32[3] reduce(x, z), dimensions={0}, to_apply=sum",
       {0, 1, 2}},
      {"x = f32[2,3] parameter(0)\ns = s32[] get-dimension-size(x), dimensions={1}\n"
       "t = s32[] get-dimension-size(x), dimensions={0}\nROOT p = (s32[], s32[]) tuple(s, t)",
       {3, 2}},
      {"x = f32[5] parameter(0)\nz = f32[] constant(0)\n"
       "ROOT y = f32[5] reduce-window(x, z), window={size=3 pad=2_0}, to_apply=sum",
       {0, 1, 3, 6, 9}},
      {"x = f32[5] parameter(0)\nz = f32[] constant(0)\n"
       "ROOT y = f32[5] reduce-window(x, z), window={size=3 pad=0_2}, to_apply=sum",
       {3, 6, 9, 7, 4}},
      {"x = f32[5] parameter(0)\nz = f32[] constant(0)\n"
       "ROOT y = f32[3] reduce-window(x, z), window={size=2 rhs_dilate=2}, to_apply=sum",
       {2, 4, 6}},
      {"x = f32[3] parameter(0)\nz = f32[] constant(0)\n"
       "ROOT y = f32[4] reduce-window(x, z), window={size=2 lhs_dilate=2}, to_apply=sum",
       {0, 1, 1, 2}},
      // Two sorts that differ in their regions alone are two.
      {"x = f32[3] parameter(0)\na = f32[3] sort(x), dimensions={0}, to_apply=less\n"
       "b = f32[3] sort(x), dimensions={0}, to_apply=more\nROOT t = (f32[3], f32[3]) tuple(a, b)",
       {0, 1, 2, 2, 1, 0}},
      {"x = f32[5] parameter(0)\ni = s32[] constant(4)\n"
       "ROOT y = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}",
       {3, 4}},
      {"x = f32[5] parameter(0)\nu = f32[2] constant({7,8})\ni = s32[] constant(1)\n"
       "ROOT y = f32[5] dynamic-update-slice(x, u, i)",
       {0, 7, 8, 3, 4}},
      {"x = f32[3,2] parameter(0)\ni = s32[2] constant({2,0})\nROOT y = f32[2,2] gather(x, i), offset_dims={1}, "
       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}",
       {4, 5, 0, 1}},
      {"x = f32[2,3] parameter(0)\ny = f32[3,2] parameter(1)\nROOT d = f32[2,2] dot(x, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       {10, 13, 28, 40}},
      {"x = f32[2,3] parameter(0)\ny = f32[3,2] parameter(1)\nROOT d = f32[3,3] dot(x, y), lhs_contracting_dims={0}, "
       "rhs_contracting_dims={1}",
       {3, 9, 15, 4, 14, 24, 5, 19, 33}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.lines);
    CHECK(of_lines(row.lines) == row.expected);
  }
}

TEST_CASE("an f32 literal is rounded once: digits just beside the middle of two floats decide") {
  // 1 + 2^-24 is the middle of 1 and 1 + 2^-23; a double cannot tell its 30th digit.
  const float next = std::nextafter(1.0F, 2.0F);
  CHECK(of_lines("ROOT c = f32[3] constant({1.000000059604644775390625, 1.0000000596046447753906250000001, "
                 "1.0000000596046447753906249999999})") == Values{1, static_cast<double>(next), 1});
  CHECK(of_lines("ROOT c = f64[1] constant({1.0000000596046447753906250000001})") == Values{1 + 0x1p-24});
}

TEST_CASE("a value that is its own computation on the way keeps what the text says") {
  // Without ENTRY the last computation is what runs; what stands before it is called.
  CHECK(values_of_module(
            "HloModule m\n\nf {\n p = f32[2] parameter(0)\n ROOT n = f32[2] negate(p)\n}\n\n"
            "g {\n p = f32[2] parameter(0)\n a = f32[2] add(p, p)\n ROOT c = f32[2] call(a), to_apply=f\n}\n") ==
        Values{0, -2});
  // With it, it may stand anywhere.
  CHECK(values_of_module("HloModule m\n\nENTRY g {\n p = f32[2] parameter(0)\n a = f32[2] add(p, p)\n"
                         " ROOT c = f32[2] call(a), to_apply=f\n}\n\nf {\n p = f32[2] parameter(0)\n"
                         " ROOT n = f32[2] negate(p)\n}\n") == Values{0, -2});
  // A ROOT in the middle, and one that others read.
  CHECK(of_lines("x = f32[2] parameter(0)\nROOT y = f32[2] negate(x)\nz = f32[2] add(y, y)") == Values{0, -1});
}

TEST_CASE("a conditional takes the branch of its predicate or index, the last one for an index out of range") {
  const auto taken = [](std::string_view selector) {
    return values_of_module(fmt::format(
        "HloModule m\n\na {{\n p = f32[] parameter(0)\n one = f32[] constant(1)\n ROOT r = f32[] add(p, one)\n}}\n\n"
        "b {{\n p = f32[] parameter(0)\n two = f32[] constant(2)\n ROOT r = f32[] add(p, two)\n}}\n\n"
        "c {{\n p = f32[] parameter(0)\n three = f32[] constant(3)\n ROOT r = f32[] add(p, three)\n}}\n\n"
        "ENTRY e {{\n x = f32[] parameter(0)\n {}\n}}\n",
        selector))[0];
  };
  const auto by_index = [&](int index) {
    return taken(
        fmt::format("i = s32[] constant({})\n ROOT r = f32[] conditional(i, x, x, x), "
                    "branch_computations={{a, b, c}}",
                    index));
  };
  const std::pair<int, double> branches[] = {{-1, 3}, {0, 1}, {1, 2}, {2, 3}, {3, 3}};
  for (const auto& [index, branch] : branches) {
    CAPTURE(index);
    CHECK(by_index(index) == branch);
  }
  for (const bool yes : {false, true})
    CHECK(taken(fmt::format("i = pred[] constant({})\n ROOT r = f32[] conditional(i, x, x), true_computation=a, "
                            "false_computation=b",
                            yes)) == (yes ? 1 : 2));
}
