// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Error bounds of products, scatters and sums kept in 16 bits: computations in other orders stay inside the bound, and
// wrong ones (a term left out, an update lost, half a sum) do not. The other orders are plain loops over shuffled
// indices with fixed seeds. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "hlo/import.h"
#include "ir/graph/number.h"
#include "reference/compare.h"
#include "reference/inputs.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::hlo;

namespace {

Graph entry(const std::string& body) {
  return import_hlo(
             "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
             "count { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }\n"
             "half_add { a = f16[] parameter(0) b = f16[] parameter(1) ROOT c = f16[] add(a, b) }\n"
             "second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\n"
             "times { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] multiply(a, b) }\n"
             "larger { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }\n"
             "ENTRY e {\n" +
                 body + "}\n",
             "test")
      .graph;
}

/// 0 .. count - 1 in a random order.
std::vector<std::int64_t> order_of(std::int64_t count, std::mt19937_64& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace

TEST_CASE("a product summed in f32 in any order is inside its bound, one without a term is not") {
  const Graph graph = entry(
      "  a = f32[7,200]{1,0} parameter(0)\n  b = f32[200,9]{1,0} parameter(1)\n"
      "  ROOT c = f32[7,9]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::vector<Tensor> inputs = sensible_inputs(graph, seed);
    const BoundedTensor expected = evaluate_with_error_bounds(graph, inputs).front();
    Tensor right = expected.value, wrong = expected.value;
    for (std::int64_t i = 0; i < 7; ++i)
      for (std::int64_t j = 0; j < 9; ++j) {
        float sum = 0, short_sum = 0;
        for (const std::int64_t k : order_of(200, random)) {
          const auto term = static_cast<float>(as_double(inputs[0], i * 200 + k) * as_double(inputs[1], k * 9 + j));
          sum += term;
          short_sum += k == 100 ? 0 : term;
        }
        store(right, i * 9 + j, sum);
        store(wrong, i * 9 + j, short_sum);
      }
    CHECK(compare(expected, right.bytes).wrong == 0);
    CHECK(compare(expected, right.bytes).unjudged == 0);
    CHECK(compare(expected, wrong.bytes).wrong > 50);
  }
}

TEST_CASE("a convolution summed in f32 in any order is inside its bound, one without a tap is not") {
  // Nine taps of sixteen features at stride 2, of two groups; the first column of windows begins in the padding.
  const Graph graph = entry(
      "  a = f32[2,9,9,32]{3,2,1,0} parameter(0)\n  k = f32[3,3,16,6]{3,2,1,0} parameter(1)\n"
      "  ROOT c = f32[2,5,4,6]{3,2,1,0} convolution(a, k), window={size=3x3 stride=2x2 pad=1_1x0_0}, "
      "dim_labels=b01f_01io->b01f, feature_group_count=2\n");
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::vector<Tensor> inputs = sensible_inputs(graph, seed);
    const BoundedTensor expected = evaluate_with_error_bounds(graph, inputs).front();
    Tensor right = expected.value, wrong = expected.value;
    for (std::int64_t at = 0; at < 2 * 5 * 4 * 6; ++at) {
      const std::int64_t f = at % 6, x = at / 6 % 4, y = at / 24 % 5, n = at / 120;
      float sum = 0, short_sum = 0;
      for (const std::int64_t term : order_of(3 * 3 * 16, random)) {
        const std::int64_t i = term % 16, q = term / 16 % 3, p = term / 48, row = 2 * y + p - 1, column = 2 * x + q;
        if (row < 0 || row >= 9) continue;
        const double input = as_double(inputs[0], ((n * 9 + row) * 9 + column) * 32 + f / 3 * 16 + i);
        const auto product = static_cast<float>(input * as_double(inputs[1], ((p * 3 + q) * 16 + i) * 6 + f));
        sum += product;
        short_sum += p == 1 && q == 1 && i == 5 ? 0 : product;
      }
      store(right, at, sum);
      store(wrong, at, short_sum);
    }
    CHECK(compare(expected, right.bytes).wrong == 0);
    CHECK(compare(expected, right.bytes).unjudged == 0);
    CHECK(compare(expected, wrong.bytes).wrong > 200);
  }
}

TEST_CASE("a scatter that adds is inside its bound in any order, one that loses an update is not") {
  const Graph graph = entry(
      "  array = f32[10]{0} parameter(0)\n  places = s32[300,1]{1,0} parameter(1)\n  updates = f32[300]{0} "
      "parameter(2)\n"
      "  ROOT written = f32[10]{0} scatter(array, places, updates), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::vector<Tensor> inputs = sensible_inputs(graph, seed);
    const BoundedTensor expected = evaluate_with_error_bounds(graph, inputs).front();
    Tensor right = inputs[0], wrong = inputs[0];
    for (const std::int64_t k : order_of(300, random)) {
      const std::int64_t place = as_integer(inputs[1], k);
      store(right, place, as_double(right, place) + as_double(inputs[2], k));
      if (k != 7) store(wrong, place, as_double(wrong, place) + as_double(inputs[2], k));
    }
    CHECK(compare(expected, right.bytes).wrong == 0);
    CHECK(compare(expected, wrong.bytes).wrong == 1);
  }
}

TEST_CASE("places that are rounded down from numbers are known where these are far enough from the next") {
  const Graph graph = entry(
      "  array = f32[10]{0} parameter(0)\n  numbers = f32[40]{0} parameter(1)\n  updates = f32[40]{0} parameter(2)\n"
      "  third = f32[] constant(0.333333343)\n  thirds = f32[40]{0} broadcast(third), dimensions={}\n"
      "  parts = f32[40]{0} divide(numbers, thirds)\n  down = f32[40]{0} floor(parts)\n"
      "  whole = s32[40]{0} convert(down)\n  places = s32[40,1]{1,0} reshape(whole)\n"
      "  ROOT written = f32[10]{0} scatter(array, places, updates), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n");
  std::vector<Tensor> inputs = sensible_inputs(graph, 3);
  for (std::int64_t i = 0; i < 40; ++i) store(inputs[1], i, (static_cast<double>(i % 8) + 0.4) / 3);
  BoundedTensor found = evaluate_with_error_bounds(graph, inputs).front();
  for (const double error : found.error) CHECK(std::isfinite(error));
  const std::vector<double> certain = found.error;
  store(inputs[1], 5, 1.0 / 3);  // 1 or a little less: either place
  found = evaluate_with_error_bounds(graph, inputs).front();
  for (std::size_t i = 0; i < certain.size(); ++i) {
    CHECK(std::isfinite(found.error[i]));
    CHECK((found.error[i] >= std::fabs(as_double(inputs[2], 5))) == (i < 3));
  }
  store(inputs[1], 6, 1e7);  // off by more than one
  found = evaluate_with_error_bounds(graph, inputs).front();
  for (const double error : found.error) CHECK(std::isinf(error));
}

TEST_CASE("an update whose place is open may be in each place that it may have, and in no other") {
  // Pairs of coordinates in squares of a quarter; those of whole numbers are open.
  for (const std::string type : {"f32", "s32"}) {
    const Graph graph = entry(fmt::format(
        "  array = {0}[6,7]{{1,0}} parameter(0)\n  numbers = f32[50,2]{{1,0}} parameter(1)\n"
        "  updates = {0}[50]{{0}} parameter(2)\n  size = f32[] constant(0.25)\n"
        "  sizes = f32[50,2]{{1,0}} broadcast(size), dimensions={{}}\n  parts = f32[50,2]{{1,0}} divide(numbers, "
        "sizes)\n"
        "  down = f32[50,2]{{1,0}} floor(parts)\n  places = s32[50,2]{{1,0}} convert(down)\n"
        "  ROOT written = {0}[6,7]{{1,0}} scatter(array, places, updates), update_window_dims={{}}, "
        "inserted_window_dims={{0,1}}, scatter_dims_to_operand_dims={{0,1}}, index_vector_dim=1, to_apply={1}\n",
        type, type == "s32" ? "count" : "add"));
    std::mt19937_64 random(20261130);
    std::vector<Tensor> inputs = sensible_inputs(graph, 5);
    std::vector<std::array<std::int64_t, 2>> at(50);
    std::vector<std::array<bool, 2>> open(50);
    for (std::int64_t k = 0; k < 50; ++k) {
      store(inputs[2], k, static_cast<double>(1 + k));
      for (const std::size_t c : {0, 1}) {
        const auto where = static_cast<double>(at[k][c] = static_cast<std::int64_t>(1 + random() % 4));
        open[k][c] = random() % 8 == 0;
        store(inputs[1], 2 * k + static_cast<std::int64_t>(c), (where + (open[k][c] ? 0 : 0.5)) / 4);
      }
    }
    const BoundedTensor found = evaluate_with_error_bounds(graph, inputs).front();
    int inside = 0, outside = 0;
    for (std::size_t k = 0; k < 50; ++k)
      for (const std::size_t c : {0, 1})
        for (const int by : {-1, 1}) {
          std::array<std::int64_t, 2> there = at[k];
          there[c] += by;
          Tensor moved = found.value;
          const auto add = [&](const std::array<std::int64_t, 2>& place, double update) {
            const std::int64_t i = 7 * place[0] + place[1];
            store(moved, i, as_double(moved, i) + update);
          };
          add(at[k], -static_cast<double>(1 + k));
          add(there, static_cast<double>(1 + k));
          const bool passes = compare(found, moved.bytes).wrong == 0;
          if (open[k][c]) {
            CAPTURE(k);
            CAPTURE(c);
            CAPTURE(by);
            CAPTURE(at[k][0]);
            CAPTURE(at[k][1]);
            CHECK(passes);
            ++inside;
          } else if (!open[k][1 - c]) {
            outside += passes ? 0 : 1;  // open updates beside it may hide it
          }
        }
    CHECK(inside > 10);
    CHECK(outside > 40);
  }
}

TEST_CASE("of an element that several updates replace nothing is known, of all others all") {
  const Graph graph = entry(
      "  array = f32[9]{0} parameter(0)\n  places = s32[6,1]{1,0} parameter(1)\n  updates = f32[6]{0} parameter(2)\n"
      "  ROOT written = f32[9]{0} scatter(array, places, updates), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second\n");
  std::vector<Tensor> inputs = sensible_inputs(graph, 1);
  const std::array<double, 6> places{4, 7, 4, 0, 9, -1};
  for (std::size_t i = 0; i < places.size(); ++i) store(inputs[1], static_cast<std::int64_t>(i), places[i]);
  const BoundedTensor found = evaluate_with_error_bounds(graph, inputs).front();
  REQUIRE(found.error.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) CHECK(std::isinf(found.error[i]) == (i == 4));
}

TEST_CASE("a scatter that multiplies is inside its bound in any order") {
  const Graph graph = entry(
      "  array = f32[10]{0} parameter(0)\n  places = s32[60,1]{1,0} parameter(1)\n  updates = f32[60]{0} parameter(2)\n"
      "  ROOT written = f32[10]{0} scatter(array, places, updates), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=times\n");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::vector<Tensor> inputs = sensible_inputs(graph, seed);
    const BoundedTensor expected = evaluate_with_error_bounds(graph, inputs).front();
    Tensor right = inputs[0], wrong = inputs[0];
    for (const std::int64_t k : order_of(60, random)) {
      const std::int64_t place = as_integer(inputs[1], k);
      store(right, place, as_double(right, place) * as_double(inputs[2], k));
      if (k != 7) store(wrong, place, as_double(wrong, place) * as_double(inputs[2], k));
    }
    CHECK(compare(expected, right.bytes).wrong == 0);
    CHECK(compare(expected, right.bytes).unjudged == 0);
    CHECK(compare(expected, wrong.bytes).wrong == 1);
  }
}

TEST_CASE("what a scatter replaces and a window's largest are exact") {
  const Graph replaced = entry(
      "  array = f32[90]{0} parameter(0)\n  places = s32[60,1]{1,0} parameter(1)\n  updates = f32[60]{0} parameter(2)\n"
      "  ROOT written = f32[90]{0} scatter(array, places, updates), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second\n");
  CHECK(evaluate_with_error_bounds(replaced, sensible_inputs(replaced, 1)).front().error.empty());
  const Graph pooled = entry(
      "  x = f32[8,8]{1,0} parameter(0)\n  low = f32[] constant(-inf)\n"
      "  ROOT y = f32[4,4]{1,0} reduce-window(x, low), window={size=2x2 stride=2x2}, to_apply=larger\n");
  CHECK(evaluate_with_error_bounds(pooled, sensible_inputs(pooled, 1)).front().error.empty());
}

TEST_CASE("a sum whose order decides whether it overflows is not judged, one that is infinite in any order is") {
  const Graph graph = entry(
      "  x = f32[4,3]{1,0} parameter(0)\n  zero = f32[] constant(0)\n"
      "  ROOT y = f32[4]{0} reduce(x, zero), dimensions={1}, to_apply=add\n");
  constexpr double most = 3.4028234663852886e38, infinite = std::numeric_limits<double>::infinity();
  Tensor x = zeros(graph[parameters(graph)[0]].shape);
  const std::array<double, 12> values{most, most, -most, infinite, 1, -2, 1, 2, 3, std::nan(""), 1, 2};
  for (std::size_t i = 0; i < values.size(); ++i) store(x, static_cast<std::int64_t>(i), values[i]);
  const BoundedTensor sums = evaluate_with_error_bounds(graph, {&x, 1}).front();
  REQUIRE(sums.error.size() == 4);
  CHECK(std::isinf(sums.error[0]));     // f32 adds most + most first, or last
  CHECK(std::isfinite(sums.error[1]));  // infinite however it is added
  CHECK(as_double(sums.value, 1) == infinite);
  CHECK(sums.error[2] < 1e-5);
  CHECK(std::isfinite(sums.error[3]));
}

TEST_CASE("a sum rounded to f16 at every step is inside the narrow bound, half a sum is not") {
  const Graph graph = entry(
      "  x = f16[4096,16]{1,0} parameter(0)\n  zero = f16[] constant(0)\n"
      "  ROOT y = f16[16]{0} reduce(x, zero), dimensions={0}, to_apply=half_add\n");
  std::int64_t beyond_wide = 0, half_wrong = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::vector<Tensor> inputs = sensible_inputs(graph, seed);
    const BoundedTensor narrow = evaluate_with_error_bounds(graph, inputs, {.narrow_sums = true}).front();
    const BoundedTensor wide = evaluate_with_error_bounds(graph, inputs).front();
    Tensor sums = narrow.value, halves = narrow.value;
    for (std::int64_t j = 0; j < 16; ++j) {
      double sum = 0, half = 0;
      for (const std::int64_t k : order_of(4096, random)) {
        sum = round_to(DType::f16, sum + as_double(inputs[0], k * 16 + j));
        half += k % 2 == 0 ? as_double(inputs[0], k * 16 + j) : 0;
      }
      store(sums, j, sum);
      store(halves, j, half);
    }
    CHECK(compare(narrow, sums.bytes).wrong == 0);
    beyond_wide += compare(wide, sums.bytes).wrong;
    half_wrong += compare(narrow, halves.bytes).wrong;
  }
  CHECK(beyond_wide > 20);  // that is why there are two
  CHECK(half_wrong > 100);  // of 160
}
