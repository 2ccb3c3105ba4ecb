// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs for checks say something: indices are inside what they index, roots are of positive numbers, starts leave
// room for their slices, and the seed decides all. Graphs are written here, the draws are looked at directly. Part of
// the suite `reference`.
#include "reference/inputs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

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
             "second { d = f32[] parameter(0) ROOT e = f32[] parameter(1) }\n"
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

TEST_CASE("indices of a scatter come once while there is room, where it replaces, and meet where it adds") {
  const auto scatter = [](std::string_view region, std::string_view more) {
    return graph_of(fmt::format(
        "  array = f32[90]{{0}} parameter(0)\n"
        "  places = s32[60,1]{{1,0}} parameter(1)\n"
        "  updates = f32[60]{{0}} parameter(2)\n"
        "  ROOT written = f32[90]{{0}} scatter(array, places, updates), update_window_dims={{}}, "
        "inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1{}, to_apply={}\n",
        more, region));
  };
  const Graph replaces = scatter("second", ""), apart = scatter("add", ", unique_indices=true"),
              adds = scatter("add", "");
  int outside = 0;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    CAPTURE(seed);
    for (const Graph* graph : {&replaces, &apart, &adds}) {
      const std::set<std::int64_t> values = integers(sensible_inputs(*graph, seed)[1]);
      CHECK((values.size() == 60) == (graph != &adds));
      CHECK(*values.begin() >= 0);
      CHECK(*values.rbegin() < 90);
    }
    // With edges some are outside, and still none inside comes twice.
    std::multiset<std::int64_t> inside;
    const Tensor places = sensible_inputs(replaces, seed, Edges::finite)[1];
    for (std::int64_t i = 0; i < 60; ++i)
      if (std::int64_t place = as_integer(places, i); place < 90) {
        if (place < 0) place += 90;  // as programs count from the end before they scatter
        if (place >= 0) inside.insert(place);
      }
    outside += 60 - static_cast<int>(inside.size());
    CHECK(inside.size() == std::set<std::int64_t>(inside.begin(), inside.end()).size());
  }
  CHECK(outside > 20);
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

TEST_CASE("with edges integers reach the ends of their types, and indices lie outside too") {
  const Graph graph = graph_of(
      "  table = f32[50,8]{1,0} parameter(0)\n"
      "  places = s32[400,1]{1,0} parameter(1)\n"
      "  small = s8[4000]{0} parameter(2)\n"
      "  wide = u32[4000]{0} parameter(3)\n"
      "  rows = f32[400,8]{1,0} gather(table, places), offset_dims={1}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}\n"
      "  twice = s8[4000]{0} add(small, small)\n"
      "  shifted = u32[4000]{0} shift-left(wide, wide)\n"
      "  ROOT all = (f32[400,8]{1,0}, s8[4000]{0}, u32[4000]{0}) tuple(rows, twice, shifted)\n");
  const std::vector<Tensor> tame = sensible_inputs(graph, 5), wild = sensible_inputs(graph, 5, Edges::finite);
  CHECK(*integers(tame[2]).rbegin() < 16);
  const std::set<std::int64_t> small = integers(wild[2]), wide = integers(wild[3]), places = integers(wild[1]);
  for (const std::int64_t value : {-128, 127, -1, 0, 8, 126}) CHECK(small.contains(value));
  for (const std::int64_t value : {0LL, 31LL, 32LL, 33LL, 0x7fffffffLL, 0x80000000LL, 0xffffffffLL})
    CHECK(wide.contains(value));
  for (const std::int64_t value : {-1, 50, 0, 49}) CHECK(places.contains(value));
  std::int64_t inside = 0;
  for (std::int64_t i = 0; i < 400; ++i) {
    const std::int64_t place = as_integer(wild[1], i);
    inside += place >= 0 && place < 50 ? 1 : 0;
  }
  CHECK(inside > 350);
  CHECK(wild[2].bytes == sensible_inputs(graph, 5, Edges::finite)[2].bytes);
}

TEST_CASE("the ends of the widest integers are edges too") {
  const Graph graph = graph_of(
      "  a = s64[4000]{0} parameter(0)\n  b = u64[4000]{0} parameter(1)\n  c = s64[4000]{0} add(a, a)\n"
      "  d = u64[4000]{0} add(b, b)\n  ROOT all = (s64[4000]{0}, u64[4000]{0}) tuple(c, d)\n");
  const std::vector<Tensor> wild = sensible_inputs(graph, 5, Edges::finite);
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  for (const Tensor& input : wild)
    for (const std::int64_t value : {least, most, most - 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{64}})
      CHECK(integers(input).contains(value));
}

TEST_CASE("with edges floats are zeros of both signs, ties, the smallest, the largest, infinite and no number") {
  for (const char* type : {"f32", "f16", "bf16"}) {
    CAPTURE(type);
    const Graph graph =
        graph_of(fmt::format("  x = {0}[4000]{{0}} parameter(0)\n  ROOT y = {0}[4000]{{0}} exponential(x)\n", type));
    const auto count = [&](Edges edges, auto&& is) {
      const Tensor x = sensible_inputs(graph, 2, edges)[0];
      int all = 0;
      for (std::int64_t i = 0; i < 4000; ++i) all += is(as_double(x, i)) ? 1 : 0;
      return all;
    };
    const auto is_nan = [](double x) { return std::isnan(x); };
    const auto is_infinite = [](double x) { return std::isinf(x); };
    const auto is_huge = [](double x) { return std::isfinite(x) && std::fabs(x) > 1000; };
    const auto is_tiny = [](double x) { return x != 0 && std::fabs(x) < 1e-7; };
    const auto is_negative_zero = [](double x) { return x == 0 && std::signbit(x); };
    CHECK(count(Edges::none, is_huge) + count(Edges::none, is_negative_zero) == 0);
    CHECK(count(Edges::mild, is_negative_zero) > 0);
    CHECK(count(Edges::mild, is_tiny) > (std::string(type) == "f16" ? -1 : 0));
    CHECK(count(Edges::mild, is_huge) == 0);
    CHECK(count(Edges::finite, is_huge) > 0);
    CHECK(count(Edges::finite, is_nan) + count(Edges::finite, is_infinite) == 0);
    CHECK(count(Edges::not_finite, is_nan) > 0);
    CHECK(count(Edges::not_finite, is_infinite) > 0);
  }
}

TEST_CASE("where rows are summed few of them meet an edge, and a scale that all of them share has none") {
  const Graph graph = graph_of(
      "  x = f32[640,256]{1,0} parameter(0)\n"
      "  scale = f32[256]{0} parameter(1)\n"
      "  wide = f32[640,256]{1,0} broadcast(scale), dimensions={1}\n"
      "  scaled = f32[640,256]{1,0} multiply(x, wide)\n"
      "  zero = f32[] constant(0)\n"
      "  ROOT sums = f32[640]{0} reduce(scaled, zero), dimensions={1}, to_apply=add\n");
  const std::vector<Tensor> inputs = sensible_inputs(graph, 4, Edges::not_finite);
  std::set<std::int64_t> spoilt;
  for (std::int64_t i = 0; i < 640 * 256; ++i)
    if (!(std::fabs(as_double(inputs[0], i)) < 100)) spoilt.insert(i / 256);
  CHECK(spoilt.size() >= 1);
  CHECK(spoilt.size() <= 64);
  for (std::int64_t i = 0; i < 256; ++i) CHECK(std::fabs(as_double(inputs[1], i)) < 100);
}

TEST_CASE("a single row of a sum meets edges for every other seed only, since one decides all that comes out") {
  const auto spoiled = [](int rows, int columns, std::uint64_t seed) {
    const Graph graph =
        graph_of(fmt::format("  x = f32[{0},{1}]{{1,0}} parameter(0)\n  zero = f32[] constant(0)\n"
                             "  ROOT s = f32[{0}]{{0}} reduce(x, zero), dimensions={{1}}, to_apply=add\n",
                             rows, columns));
    const Tensor x = sensible_inputs(graph, seed, Edges::not_finite)[0];
    int count = 0;
    for (std::int64_t i = 0; i < elements(x.shape); ++i) count += !(std::fabs(as_double(x, i)) < 1e6) ? 1 : 0;
    return count;
  };
  int even = 0;
  for (std::uint64_t seed = 1; seed <= 19; seed += 2) {
    CHECK(spoiled(1, 4096, seed) == 0);
    CHECK(spoiled(7, 512, seed) == 0);
    even += spoiled(1, 4096, seed + 1);
  }
  CHECK(even > 0);
  CHECK(even <= 10);  // one a row, where there is one row
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
