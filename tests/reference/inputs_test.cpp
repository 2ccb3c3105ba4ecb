// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs for checks say something: indices are inside what they index, roots are of positive numbers, starts leave
// room for their slices, and the seed decides all. Graphs are written here, the draws are looked at directly. Part of
// the suite `reference`.
#include "reference/inputs.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "hlo/import.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::hlo;

namespace {

Graph graph_of(const std::string& entry) {
  return import_hlo(
             "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
             "ENTRY e {\n" +
                 entry + "}\n",
             "test")
      .graph;
}

std::set<std::int64_t> integers(const Tensor& tensor) {
  std::set<std::int64_t> values;
  for (std::int64_t i = 0; i < elements(tensor.shape); ++i) values.insert(as_integer(tensor, i));
  return values;
}

}  // namespace

TEST_CASE("indices of a gather lie inside the table, through conversions and moves") {
  const Graph graph = graph_of(
      "  table = f32[50,8]{1,0} parameter(0)\n"
      "  tokens = u16[4,100]{1,0} parameter(1)\n"
      "  wide = s32[4,100]{1,0} convert(tokens)\n"
      "  column = s32[400,1]{1,0} reshape(wide)\n"
      "  ROOT rows = f32[400,8]{1,0} gather(table, column), offset_dims={1}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}\n");
  const std::vector<InputRange> ranges = input_ranges(graph);
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].limit == 0);
  CHECK(ranges[1].limit == 50);
  const std::set<std::int64_t> values = integers(sensible_inputs(graph, 7)[1]);
  CHECK(*values.begin() == 0);
  CHECK(*values.rbegin() == 49);
}

TEST_CASE("indices of a scatter come once while there is room") {
  const Graph graph = graph_of(
      "  array = f32[90]{0} parameter(0)\n"
      "  places = s32[60,1]{1,0} parameter(1)\n"
      "  updates = f32[60]{0} parameter(2)\n"
      "  ROOT written = f32[90]{0} scatter(array, places, updates), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n");
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    CAPTURE(seed);
    const std::set<std::int64_t> values = integers(sensible_inputs(graph, seed)[1]);
    CHECK(values.size() == 60);
    CHECK(*values.begin() >= 0);
    CHECK(*values.rbegin() < 90);
  }
}

TEST_CASE("a start leaves room for the slice") {
  const Graph graph = graph_of(
      "  array = f32[32,64]{1,0} parameter(0)\n"
      "  update = f32[8,64]{1,0} parameter(1)\n"
      "  place = s32[] parameter(2)\n"
      "  zero = s32[] constant(0)\n"
      "  ROOT kept = f32[32,64]{1,0} dynamic-update-slice(array, update, place, zero)\n");
  CHECK(input_ranges(graph)[2].limit == 25);
}

TEST_CASE("what ends under a root or a bar is positive") {
  const Graph graph = graph_of(
      "  sums = f32[16]{0} parameter(0)\n"
      "  x = f32[16]{0} parameter(1)\n"
      "  small = f32[] constant(1e-5)\n"
      "  wide = f32[16]{0} broadcast(small), dimensions={}\n"
      "  padded = f32[16]{0} add(sums, wide)\n"
      "  root = f32[16]{0} rsqrt(padded)\n"
      "  ROOT y = f32[16]{0} multiply(x, root)\n");
  const std::vector<InputRange> ranges = input_ranges(graph);
  CHECK(ranges[0].positive);
  CHECK_FALSE(ranges[1].positive);
  const std::vector<Tensor> inputs = sensible_inputs(graph, 3);
  for (std::int64_t i = 0; i < 16; ++i) CHECK(as_double(inputs[0], i) >= 0.5);
  CHECK(inputs[0].bytes == sensible_inputs(graph, 3)[0].bytes);
  CHECK(inputs[0].bytes != sensible_inputs(graph, 4)[0].bytes);
}

TEST_CASE("a computation inside a module is a graph of its own") {
  const std::string text =
      "HloModule m\nf { p = f32[4]{0} parameter(0) q = f32[4]{0} parameter(1) ROOT s = f32[4]{0} add(q, p) }\n"
      "ENTRY e { a = f32[4]{0} parameter(0) ROOT r = f32[4]{0} fusion(a, a), kind=kLoop, calls=f }\n";
  const HloModule module = parse_module(text, "test");
  const Graph graph =
      import_computation(module, module.computations[static_cast<std::size_t>(module.computation_named("f"))]);
  CHECK(graph.name == "f");
  CHECK(parameters(graph).size() == 2);
  CHECK(graph.nodes.size() == 3);
}
