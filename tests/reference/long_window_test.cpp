// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over long windows, cumulative sums among them, and sums and products of complex numbers, against loops
// that go through each window tap by tap. Numbers are drawn so that every order of additions gives the same bits.
// Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/graph/graph.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

struct Line {
  std::int64_t size = 1, stride = 1, low = 0, high = 0;
};

struct Fold {
  std::string_view reducer;
  double start;
  std::vector<double> numbers;  ///< that are drawn
  std::function<double(double, double)> of;
};

const std::vector<Fold>& folds() {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  static const std::vector<Fold> all = {
      {"add", 3, {-4, -1, 0, 2, 7}, [](double a, double b) { return a + b; }},
      {"multiply", 2, {-1, 1, 1, -1, 0.5, 2}, [](double a, double b) { return a * b; }},
      {"max", -infinite, {-4, -1, 0, 2, 7}, [](double a, double b) { return b > a ? b : a; }},
      {"min", infinite, {-4, -1, 0, 2, 7}, [](double a, double b) { return b < a ? b : a; }},
  };
  return all;
}

Graph graph_of(const Shape& in, const Shape& out, const Fold& fold, int along, const Line& line) {
  std::string sizes, strides, pads;
  for (int d = 0; d < in.rank(); ++d) {
    const Line one = d == along ? line : Line{};
    sizes += fmt::format("{}{}", d == 0 ? "" : "x", one.size);
    strides += fmt::format("{}{}", d == 0 ? "" : "x", one.stride);
    pads += fmt::format("{}{}_{}", d == 0 ? "" : "x", one.low, one.high);
  }
  return parse_graph(
      fmt::format("graph g {{ %x = parameter 0 : {} %z = parameter 1 : {}\n"
                  "%y = reduce_window {} %x, %z, text=\"window={{size={} stride={} pad={}}}\" : {} output %y }}",
                  text(in), text(make_shape(in.dtype, {})), fold.reducer, sizes, strides, pads, text(out)));
}

}  // namespace

TEST_CASE("a long window along any dimension, whatever its steps and its padding, is what its taps come to") {
  std::mt19937_64 random(11);
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % most); };
  for (int round = 0; round < 240; ++round) {
    CAPTURE(round);
    const Fold& fold = folds()[round % folds().size()];
    const bool cumulative = round % 5 == 0;
    const int rank = 1 + static_cast<int>(below(3)), along = static_cast<int>(below(rank));
    Dims dims;
    for (int d = 0; d < rank; ++d) dims.push_back(d == along ? 1 + below(90) : 1 + below(4));
    const Shape in = make_shape(fold.reducer == "add" && round % 3 == 0 ? DType::s32 : DType::f32, dims);
    const std::int64_t n = dims[along];
    Line line{17 + below(40), 1 + below(3), below(40), below(40)};
    if (cumulative) line = {n, 1, n - 1, 0};
    if (cumulative && round % 2 == 0) std::swap(line.low, line.high);
    const std::int64_t padded = n + line.low + line.high;
    if (padded < line.size) continue;
    dims[along] = (padded - line.size) / line.stride + 1;
    const Shape out = make_shape(in.dtype, dims);
    Tensor x = zeros(in), start = zeros(make_shape(in.dtype, {}));
    for (std::int64_t i = 0; i < elements(in); ++i) store(x, i, fold.numbers[random() % fold.numbers.size()]);
    if (in.dtype == DType::f32 && round % 4 == 2) store(x, below(elements(in)), std::nan(""));
    store(start, 0, fold.start);
    Tensor expected = zeros(out);
    std::int64_t inner = 1;
    for (int d = along + 1; d < rank; ++d) inner *= in.dims[d];
    for (std::int64_t at = 0; at < elements(out); ++at) {
      const std::int64_t place = at / inner % out.dims[along], outer = at / inner / out.dims[along];
      double sum = fold.start;
      for (std::int64_t tap = 0; tap < line.size; ++tap) {
        const std::int64_t from = place * line.stride + tap - line.low;
        if (from < 0 || from >= n) continue;
        const double value = as_double(x, (outer * n + from) * inner + at % inner);
        sum = std::isnan(value) || std::isnan(sum) ? std::nan("") : fold.of(sum, value);
      }
      store(expected, at, sum);
    }
    const Graph graph = graph_of(in, out, fold, along, line);
    const Tensor found = evaluate(graph, std::vector{x, start}).front();
    REQUIRE(found.shape.dims == out.dims);
    for (std::int64_t at = 0; at < elements(out); ++at) {
      const double a = as_double(found, at), b = as_double(expected, at);
      CHECK((a == b || (std::isnan(a) && std::isnan(b))));
    }
  }
}

TEST_CASE("a cumulative sum adds from its first element on, and an infinity is gone behind its window") {
  const Fold& add = folds().front();
  const Shape in = make_shape(DType::f64, {400});
  const Tensor x = random_tensor(in, 5), zero = zeros(make_shape(DType::f64, {}));
  const Tensor sums = evaluate(graph_of(in, in, add, 0, {400, 1, 399, 0}), std::vector{x, zero}).front();
  double sum = 0;
  for (std::int64_t i = 0; i < 400; ++i) CHECK(as_double(sums, i) == (sum += as_double(x, i)));
  Tensor mixed = x;
  store(mixed, 100, std::numeric_limits<double>::infinity());
  const Tensor means =
      evaluate(graph_of(in, make_shape(DType::f64, {381}), add, 0, {20, 1, 0, 0}), std::vector{mixed, zero}).front();
  for (std::int64_t i = 0; i < 381; ++i) CHECK(std::isinf(as_double(means, i)) == (i >= 81 && i <= 100));
}

TEST_CASE("sums and products of complex numbers, over axes and over windows, are not those of their parts") {
  std::mt19937_64 random(3);
  const std::complex<double> units[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}};
  for (const std::string_view reducer : {"add", "multiply"}) {
    const Graph graph = parse_graph(fmt::format(
        "graph g {{ %a = parameter 0 : f32[3,6] %b = parameter 1 : f32[3,6] %x = complex %a, %b : c64[3,6]\n"
        "%p = constant 1 : f32[] %q = constant 2 : f32[] %z = complex %p, %q : c64[]\n"
        "%s = reduce {0} %x, %z, axes={{0}} : c64[6]\n"
        "%w = reduce_window {0} %x, %z, text=\"window={{size=1x6 pad=0_0x5_0}}\" : c64[3,6]\n"
        "%sr = real %s : f32[6] %si = imag %s : f32[6] %wr = real %w : f32[3,6] %wi = imag %w : f32[3,6]\n"
        "output %sr, %si, %wr, %wi }}",
        reducer));
    std::vector<std::complex<double>> x;
    std::vector<Tensor> inputs(2, zeros(make_shape(DType::f32, {3, 6})));
    for (std::int64_t i = 0; i < 18; ++i) {
      x.push_back(units[random() % std::size(units)]);
      store(inputs[0], i, x.back().real());
      store(inputs[1], i, x.back().imag());
    }
    const auto fold = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
      std::complex<double> sum{1, 2};
      for (std::int64_t k = 0; k < count; ++k) {
        const std::complex<double> value = x[static_cast<std::size_t>(first + k * step)];
        sum = reducer == "add" ? sum + value : sum * value;
      }
      return sum;
    };
    const std::vector<Tensor> out = evaluate(graph, inputs);
    for (std::int64_t i = 0; i < 6; ++i)
      CHECK(std::complex(as_double(out[0], i), as_double(out[1], i)) == fold(i, 6, 3));
    for (std::int64_t i = 0; i < 18; ++i)
      CHECK(std::complex(as_double(out[2], i), as_double(out[3], i)) == fold(i / 6 * 6, 1, i % 6 + 1));
  }
}

TEST_CASE("what is not a sum or a product of complex numbers is refused by name") {
  for (const std::string_view line : {"%y = reduce max %x, %z, axes={0} : c64[]",
                                      "%y = reduce_window max %x, %z, text=\"window={size=2}\" : c64[3]"}) {
    CAPTURE(line);
    const Graph graph =
        parse_graph(fmt::format("graph g {{ %x = parameter 0 : c64[4] %z = parameter 1 : c64[] {} output %y }}", line));
    CHECK_FALSE(can_evaluate(graph, 2));
    const std::vector inputs{zeros(make_shape(DType::c64, {4})), zeros(make_shape(DType::c64, {}))};
    CHECK_THROWS_WITH_AS(evaluate(graph, inputs), doctest::Contains("has no semantics"), Error);
  }
}
