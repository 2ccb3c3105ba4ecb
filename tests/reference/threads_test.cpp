// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reference is the same bits for any number of threads: inputs, values, bounds, and what a comparison counts and
// names. Arrays are large enough to be taken apart. Oracles: one thread; of a comparison also a loop over elements that
// says what compare.h says. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>
#include <stop_token>

#include "base/parallel.h"
#include "ir/graph/graph_parse.h"
#include "ir/graph/number.h"
#include "reference/compare.h"
#include "reference/evaluate_cells.h"
#include "reference/inputs.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Of one element, as compare.h says: above 1 is wrong.
double error_of(DType dtype, double expected, double found, double tolerance) {
  if (expected == found || (std::isnan(expected) && std::isnan(found))) return 0;
  const double most = dtype == DType::f32 ? static_cast<double>(std::numeric_limits<float>::max()) : 65504;
  if (!std::isfinite(expected) || std::isnan(found)) return infinite;
  if (std::isinf(found))
    return std::fabs(expected) + tolerance >= most && std::signbit(found) == std::signbit(expected) ? 1 : infinite;
  return std::fabs(found - expected) / tolerance;
}

Difference by_element(const BoundedTensor& expected, const Tensor& found, const Tensor* before) {
  Difference all;
  for (std::int64_t i = 0; i < elements(found.shape); ++i) {
    if (before != nullptr &&
        encode(found.shape.dtype, as_double(*before, i)) == encode(found.shape.dtype, as_double(found, i)))
      continue;
    ++all.elements;
    const double tolerance = expected.error.empty() ? 0 : expected.error[static_cast<std::size_t>(i)];
    const double right = as_double(expected.value, i), seen = as_double(found, i);
    if (std::isinf(tolerance)) {
      ++all.unjudged;
      continue;
    }
    all.telling += std::isfinite(right) || (std::isinf(right) && tolerance == 0) ? 1 : 0;
    const double error = error_of(found.shape.dtype, right, seen, tolerance);
    if (error > 1 && all.wrong++ == 0) all.first_wrong = i;
    if (error > all.worst) {
      all.worst = error;
      all.index = i;
      all.expected = right;
      all.found = seen;
      all.tolerance = tolerance;
    }
  }
  return all;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_same(const Difference& a, const Difference& b) {
  CHECK(is_same(a.worst, b.worst));
  CHECK(a.index == b.index);
  CHECK(is_same(a.expected, b.expected));
  CHECK(is_same(a.found, b.found));
  CHECK(is_same(a.tolerance, b.tolerance));
  CHECK(a.elements == b.elements);
  CHECK(a.wrong == b.wrong);
  CHECK(a.first_wrong == b.first_wrong);
  CHECK(a.unjudged == b.unjudged);
  CHECK(a.telling == b.telling);
}

/// Right results off by some of their bounds, with what is rare among them: `odd` in a thousand elements are NaN,
/// infinite, without a bound, exact, next to no bound, or equally wrong as others.
struct Held {
  BoundedTensor expected;
  Tensor found, before;
};

Held held(DType dtype, std::uint64_t seed, int odd) {
  const Shape shape = make_shape(dtype, {70'001, 5});
  Held one{{random_tensor(shape, seed), {}}, zeros(shape), random_tensor(shape, seed + 1)};
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  const std::array<double, 7> strange = {infinite, -infinite, std::nan(""), 0, -0.0, 65504, 3e38};
  constexpr std::array<double, 6> bounds = {infinite, 0, 5e-324, 0x1p-1000, 1e-300, 0.25};
  for (std::int64_t i = 0; i < elements(shape); ++i) {
    double value = as_double(one.expected.value, i), error = 0.01 * std::fabs(value) + 1e-3, off = 0;
    off = error * (static_cast<double>(below(1000)) / 1010.0);
    if (std::cmp_less(below(1000), odd)) {
      value = strange[below(strange.size())];
      error = bounds[below(bounds.size())];
      off = below(2) == 0 ? 0 : 0.5;
    }
    store(one.expected.value, i, value);
    store(one.found, i, std::cmp_less(below(4000), odd) ? strange[below(strange.size())] : value + off);
    one.expected.error.push_back(error);
    if (below(3) == 0) store(one.before, i, as_double(one.found, i));
  }
  return one;
}

constexpr auto models = std::to_array<const char*>({
    "  %e = exp %x : {T}[96,64,64]\n  %d = divide %e, %y : {T}[96,64,64]\n  %t = tanh %d : {T}[96,64,64]\n"
    "  %p = compare gt %t, %x : pred[96,64,64]\n  %s = select %p, %d, %t : {T}[96,64,64]\n  output %s\n",
    "  %z = constant 0 : {T}[]\n  %a = reduce add %x, %z, axes={2} : {T}[96,64]\n"
    "  %b = reduce add %y, %z, axes={0} : {T}[64,64]\n  %c = reduce add %x, %z, axes={1} : {T}[96,64]\n"
    "  %d = reduce add %y, %z, axes={0,2} : {T}[64]\n  %e = reduce add %x, %z, axes={0,1,2} : {T}[]\n"
    "  %f = exp %y : {T}[96,64,64]\n  %g = reduce maximum %f, %z, axes={0,1} : {T}[64]\n"
    "  %h = reduce multiply %y, %z, axes={1,2} : {T}[96]\n"
    "  output %a\n  output %b\n  output %c\n  output %d\n  output %e\n  output %g\n  output %h\n",
    "  %e = exp %x : {T}[96,64,64]\n  %t = transpose %e, axes={2,0,1} : {T}[64,96,64]\n"
    "  %r = reverse %t, axes={0,2} : {T}[64,96,64]\n  %i = iota, axes={1} : {T}[64,96,64]\n"
    "  %m = multiply %r, %i : {T}[64,96,64]\n  output %m\n",
});

}  // namespace

TEST_CASE("a comparison says the same for any number of threads, and what a loop over elements says") {
  for (const DType dtype : {DType::f32, DType::f16})
    for (const int odd : {0, 1, 60, 900}) {
      if (!testing::broad() && (odd == 1 || odd == 60) != (dtype == DType::f16)) continue;
      const Held one = held(dtype, 11 + static_cast<std::uint64_t>(odd), odd);
      BoundedTensor exact{one.expected.value, {}};
      const Difference all = by_element(one.expected, one.found, nullptr);
      const Difference changed = by_element(one.expected, one.found, &one.before);
      const Difference strict = by_element(exact, one.found, nullptr);
      for (const int threads : {1, 2, 3, 8}) {
        CAPTURE(name(dtype));
        CAPTURE(odd);
        CAPTURE(threads);
        const ThreadLimit limit(threads);
        check_same(compare(one.expected, one.found.bytes), all);
        check_same(compare(one.expected, one.found.bytes, one.before.bytes), changed);
        check_same(compare(exact, one.found.bytes), strict);
        check_same(compare(exact, exact.value.bytes), by_element(exact, exact.value, nullptr));
      }
    }
}

TEST_CASE("of integers that are equally wrong the first is named, for any number of threads") {
  const Shape shape = make_shape(DType::s32, {300'000});
  const BoundedTensor expected{random_tensor(shape, 3), {}};
  Tensor found = expected.value;
  for (const std::int64_t i : {299'999, 170'000, 70'003, 70'004}) store_integer(found, i, 1000);
  for (const int threads : {1, 2, 3, 8}) {
    const ThreadLimit limit(threads);
    const Difference one = compare(expected, found.bytes);
    CHECK(one.index == 70'003);
    CHECK(one.first_wrong == 70'003);
    CHECK(one.wrong == 4);
    CHECK(one.elements == 300'000);
    CHECK(one.telling == 300'000);
  }
}

TEST_CASE("inputs, values and bounds are the same bits for any number of threads") {
  int number = 0;
  for (const char* lines : models)
    for (const char* type : {"f32", "bf16"}) {
      if (!testing::broad() && (number++ % 2) != 0) continue;
      std::string text = fmt::format(
          "graph g {{\n  %x = parameter 0 : {{T}}[96,64,64]\n"
          "  %y = parameter 1 : {{T}}[96,64,64]\n{}}}\n",
          lines);
      for (std::size_t at = text.find("{T}"); at != text.npos; at = text.find("{T}")) text.replace(at, 3, type);
      CAPTURE(text);
      const Graph graph = parse_graph(text);
      std::vector<Tensor> inputs;
      std::vector<BoundedTensor> results;
      for (const int threads : {1, 2, 3, 8}) {
        CAPTURE(threads);
        const ThreadLimit limit(threads);
        const std::vector<Tensor> drawn = sensible_inputs(graph, 5, Edges::not_finite);
        const std::vector<BoundedTensor> made = evaluate_with_error_bounds(graph, drawn);
        if (threads == 1) {
          inputs = drawn;
          results = made;
        }
        for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(drawn[i].bytes == inputs[i].bytes);
        for (std::size_t i = 0; i < made.size(); ++i) {
          CHECK(made[i].value.bytes == results[i].value.bytes);
          CHECK(made[i].error == results[i].error);
        }
      }
    }
}

TEST_CASE("asking to stop ends an evaluation by several threads") {
  const Graph graph =
      parse_graph("graph g {\n  %x = parameter 0 : f32[1024,1024]\n  %y = exp %x : f32[1024,1024]\n  output %y\n}\n");
  const std::vector<Tensor> inputs = sensible_inputs(graph, 1);
  std::stop_source source;
  source.request_stop();
  const ThreadLimit limit(3);
  CHECK_THROWS_AS(evaluate_with_error_bounds(graph, inputs, {}, source.get_token()), Error);
  CHECK_THROWS_AS(compare({inputs[0], {}}, inputs[0].bytes, {}, source.get_token()), Error);
}
