// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of choices among uncertain numbers: of maximum, minimum and clamp, of comparisons of a value with
// itself and with the greatest of its row. Operands have bounds of many sizes, from none to far beyond the numbers. The
// oracle draws numbers inside them, as right kernels may have them: the choice is never further off than its bound
// (sound), and at the ends it is as far off as that (sharp). Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "reference/bounds.h"
#include "reference/error_bound.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

constexpr std::int64_t count = 600;

Tensor f32_of(const std::vector<double>& values) {
  Tensor made = zeros(make_shape(DType::f32, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) store(made, static_cast<std::int64_t>(i), values[i]);
  return made;
}

/// Lines that make %v0, %v1, ...: numbers off by about 2^-22 of their %w squared, or exact where that is 0.
std::string uncertain_lines(int values) {
  std::string text;
  for (int k = 0; k < values; ++k)
    text += fmt::format(
        "%x{0} = parameter {1} : f32[{4}] %w{0} = parameter {2} : f32[{4}] %m{0} = multiply %w{0}, %w{0} : f32[{4}]\n"
        "%s{0} = add %x{0}, %m{0} : f32[{4}] %d{0} = subtract %s{0}, %m{0} : f32[{4}] %z{0} = parameter {3} : "
        "pred[{4}] "
        "%v{0} = select %z{0}, %d{0}, %x{0} : f32[{4}]\n",
        k, 3 * k, 3 * k + 1, 3 * k + 2, count);
  return text;
}

/// Numbers near each other and far apart, exact ones and such as are off by 1e-7 to 1e23.
std::vector<Tensor> uncertain_inputs(int values, std::mt19937_64& random) {
  constexpr auto numbers = std::to_array<double>({-1e30, -3, 0, 0.5, 1, 1, 1.0001, 7, 1e25});
  constexpr auto sizes = std::to_array<double>({1, 10, 300, 1e4, 1e15});
  std::vector<Tensor> inputs;
  for (int k = 0; k < values; ++k) {
    std::vector<double> x, w;
    Tensor uncertain = zeros(make_shape(DType::pred, {count}));
    for (std::int64_t i = 0; i < count; ++i) {
      x.push_back(numbers[random() % numbers.size()]);
      w.push_back(sizes[random() % sizes.size()]);
      store_integer(uncertain, i, random() % 4 == 0 ? 0 : 1);
    }
    inputs.insert(inputs.end(), {f32_of(x), f32_of(w), uncertain});
  }
  return inputs;
}

double chosen(const std::string& operation, const std::array<double, 3>& of) {
  if (operation == "maximum") return std::max(of[0], of[1]);
  if (operation == "minimum") return std::min(of[0], of[1]);
  return std::min(std::max(of[0], of[1]), of[2]);
}

}  // namespace

TEST_CASE("the larger of two numbers lies as far off as the ends of their intervals say, and no further") {
  for (const std::string operation : {"maximum", "minimum", "clamp"}) {
    CAPTURE(operation);
    const int values = operation == "clamp" ? 3 : 2;
    std::mt19937_64 random(5);
    const Graph graph =
        parse_graph(fmt::format("graph g {{ {} %r = {} %v0, %v1{} : f32[{}] output %r, %v0, %v1, %v{} }}",
                                uncertain_lines(values), operation, values == 3 ? ", %v2" : "", count, values - 1));
    const std::vector<BoundedTensor> found =
        evaluate_with_error_bounds(graph, uncertain_inputs(values, random), {.arithmetic = Arithmetic::ieee});
    std::uniform_real_distribution<double> inside(-1, 1);
    int chosen_exact = 0, uncertain = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      CAPTURE(i);
      const double y = as_double(found[0].value, i), bound = error_of(found[0], i);
      double furthest = 0, largest = 0;
      for (int draw = 0; draw < 40; ++draw) {
        std::array<double, 3> of{}, at{};
        for (std::size_t k = 0; k < 3; ++k) {
          // First the corners, then any.
          const double e = error_of(found[k + 1], i);
          at[k] = draw < 8 ? ((draw >> k & 1) != 0 ? 1 : -1) : inside(random);
          of[k] = as_double(found[k + 1].value, i) + at[k] * e;
          largest = std::max({largest, std::fabs(of[k]), e});
        }
        if (values == 2) of[2] = of[1];
        furthest = std::max(furthest, std::fabs(chosen(operation, of) - y));
      }
      const double rounding = 1e-15 * largest;  // of f64, in which this test adds
      CHECK(furthest <= bound + rounding);
      // Between two bounds of clamp that overlap the middle may be stopped on either side.
      if (values == 2) CHECK(bound <= furthest + rounding);
      chosen_exact += bound == 0 ? 1 : 0;
      uncertain += bound > 0 ? 1 : 0;
    }
    CHECK(uncertain > 200);
    CHECK(chosen_exact > 50);  // with an uncertain number, far from it, that was not chosen
  }
}

TEST_CASE("a mask of -1e30 that is off by 1e23 leaves what is chosen before it exact") {
  const Graph graph = parse_graph(
      "graph g { %w = parameter 0 : f32[3] %k = parameter 1 : f32[3] %c = constant -1e30 : f32[] "
      "%b = broadcast %c, axes={} : f32[3] %e = exp %w : f32[3] %s = subtract %b, %e : f32[3] "
      "%m = maximum %s, %k : f32[3] %n = negate %s : f32[3] %j = minimum %n, %k : f32[3] "
      "%l = clamp %s, %k, %n : f32[3] output %m, %j, %l, %s }");
  const std::vector<Tensor> inputs{f32_of({0, 1, -1}), f32_of({0, 2, -3})};
  const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, inputs);
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) CHECK(error_of(found[k], i) == 0);
    CHECK(error_of(found[3], i) > 1e22);
  }
}

TEST_CASE("the logarithm of a sum of exponentials is judged where both are a mask of -1e30, off by 1e23") {
  // As jnp.logaddexp has it: the larger one, and what the distance of both adds, which is 0 to log 2 whatever it is.
  const Graph graph = parse_graph(
      "graph g { %w = parameter 0 : f32[3] %c = constant -1e30 : f32[] "
      "%b = broadcast %c, axes={} : f32[3] %e = exp %w : f32[3] %s = subtract %b, %e : f32[3] "
      "%t = multiply %s, %e : f32[3] %d = subtract %s, %t : f32[3] %a = abs %d : f32[3] %n = negate %a : f32[3] "
      "%x = exp %n : f32[3] %l = log1p %x : f32[3] %m = maximum %s, %t : f32[3] %y = add %m, %l : f32[3] "
      "output %x, %l, %y, %s }");
  const std::vector<BoundedTensor> found =
      evaluate_with_error_bounds(graph, std::vector<Tensor>{f32_of({0, 0.5, -0.5})});
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(error_of(found[0], i) <= 1.001);
    CHECK(error_of(found[1], i) <= 1.001);
    CHECK(error_of(found[2], i) < 1e25);
  }
  CHECK(error_of(found[0], 0) > 0.999);  // the distance may be 0 or 1e23
}

TEST_CASE("an exponential of what is never positive lies between 0 and 1, as far as its argument may be off") {
  int beyond = 0;
  for (const double big : {1e3, 1e6, 1e7, 3e7, 1e8}) {
    CAPTURE(big);
    const Graph graph = parse_graph(fmt::format(
        "graph g {{ %w = parameter 0 : f32[6] %c = constant {} : f32[] %b = broadcast %c, axes={{}} : f32[6] "
        "%u = exp %w : f32[6] %v = log %u : f32[6] %p = add %v, %b : f32[6] %x = subtract %p, %b : f32[6] "
        "%q = multiply %x, %x : f32[6] %a = abs %x : f32[6] "
        "%m = negate %a : f32[6] %y = exp %m : f32[6] %l = log1p %y : f32[6] %n = negate %q : f32[6] "
        "%z = exp %n : f32[6] output %x, %y, %l, %z }}",
        big));
    const std::vector<BoundedTensor> found =
        evaluate_with_error_bounds(graph, std::vector<Tensor>{f32_of({0, 0.25, -0.5, 1, -3, 20})});
    for (std::int64_t i = 0; i < 6; ++i) {
      const double x = std::fabs(as_double(found[0].value, i)), e = error_of(found[0], i);
      const double near = std::max(0.0, x - e), far = x + e;
      const auto off = [&](std::size_t which, double at_near, double at_far) {
        const double value = as_double(found[which].value, i);
        const double most = std::max(std::fabs(at_near - value), std::fabs(at_far - value));
        CHECK(error_of(found[which], i) >= most * (1 - 1e-6) - 1e-7);
        CHECK(error_of(found[which], i) <= 1.001);
      };
      off(1, std::exp(-near), std::exp(-far));
      off(2, std::log1p(std::exp(-near)), std::log1p(std::exp(-far)));
      off(3, std::exp(-near * near), std::exp(-far * far));
      beyond += e > x ? 1 : 0;
    }
  }
  CHECK(beyond > 10);
}

TEST_CASE("whether a value is equal to itself hangs on nothing but whether it is a NaN") {
  std::string text = fmt::format("graph g {{ {}", uncertain_lines(1)), outputs;
  for (const std::string one : {"eq", "ne", "ge", "le", "gt", "lt"}) {
    text += fmt::format("%{0} = compare {0} %v0, %v0 : pred[{1}]\n", one, count);
    outputs += fmt::format("%{}, ", one);
  }
  const Graph graph =
      parse_graph(fmt::format("{} %t = select %ne, %x0, %v0 : f32[{}] output {}%t, %v0 }}", text, count, outputs));
  std::mt19937_64 random(7);
  std::vector<Tensor> inputs = uncertain_inputs(1, random);
  store(inputs[0], 0, std::nan(""));
  store(inputs[0], 1, INFINITY);
  const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, inputs);
  for (std::int64_t i = 0; i < count; ++i) {
    CAPTURE(i);
    const bool is_nan = std::isnan(as_double(found.back().value, i));
    for (std::size_t k = 0; k < 6; ++k) {
      CHECK(error_of(found[k], i) == 0);
      CHECK((as_integer(found[k].value, i) != 0) == (k == 1 ? is_nan : k < 4 && !is_nan));
    }
    CHECK(error_of(found[6], i) == (is_nan ? 0 : error_of(found.back(), i)));
  }
  // Of a number of which nothing is known it is not certain: a quotient by what may be 0.
  const Graph open = parse_graph(
      fmt::format("graph g {{ {} %q = divide %x0, %v0 : f32[{}] %n = compare ne %q, %q : pred[{}] output %n, %q }}",
                  uncertain_lines(1), count, count));
  const std::vector<BoundedTensor> unknown = evaluate_with_error_bounds(open, inputs);
  int without = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (error_of(unknown[1], i) != infinity) continue;
    ++without;
    CHECK(error_of(unknown[0], i) == infinity);
  }
  CHECK(without > 20);
}
