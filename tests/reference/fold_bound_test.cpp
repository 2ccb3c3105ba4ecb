// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of reductions by functions of one's own that round. In: a table of functions that give the same in each order
// but for rounding, and of some that do not. What any order of steps gives lies within the bounds, what a term left out
// gives does not, and the bounds are not far wider than what orders differ by. What hangs on the order has no bound.
// Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bounds.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

/// A function of so many arrays of f32; what each starts from, and what an array's terms are drawn between.
struct Function {
  std::string name, lines;
  std::vector<std::string> starts;
  std::vector<std::array<double, 2>> between;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {"logaddexp",
       R"(%m = maximum %a0, %b0 : f32[] %d = subtract %a0, %b0 : f32[] %n = abs %d : f32[] %o = negate %n : f32[]
          %e = exp %o : f32[] %l = log1p %e : f32[] %s = add %m, %l : f32[]
          %q = compare ne %d, %d : pred[] %t = add %a0, %b0 : f32[] %r0 = select %q, %t, %s : f32[])",
       {"-inf"},
       {{-2, 2}}},
      {"hypot",
       "%p = multiply %a0, %a0 : f32[] %q = multiply %b0, %b0 : f32[] %s = add %p, %q : f32[] %r0 = sqrt %s : f32[]",
       {"0"},
       {{0, 9}}},
      {"rates",
       "%s = add %a0, %b0 : f32[] %t = multiply %a0, %b0 : f32[] %r0 = add %s, %t : f32[]",
       {"0"},
       {{-0.1, 0.1}}},
      {"welford",
       R"(%r0 = add %a0, %b0 : f32[] %d = subtract %b1, %a1 : f32[] %l = constant 1 : f32[] %n = maximum %r0, %l : f32[]
          %w = divide %b0, %n : f32[] %g = multiply %d, %w : f32[] %r1 = add %a1, %g : f32[] %h = multiply %d, %g : f32[]
          %k = multiply %h, %a0 : f32[] %m = add %a2, %b2 : f32[] %r2 = add %m, %k : f32[])",
       {"0", "0", "0"},
       {{1, 1}, {50, 53}, {0, 0}}},
      {"softmax",
       R"(%r0 = maximum %a0, %b0 : f32[] %c = subtract %a0, %r0 : f32[] %d = subtract %b0, %r0 : f32[]
          %e = exp %c : f32[] %f = exp %d : f32[] %p = multiply %a1, %e : f32[] %q = multiply %b1, %f : f32[]
          %r1 = add %p, %q : f32[])",
       {"-1e30", "0"},
       {{-2, 2}, {1, 1}}}};
  return all;
}

std::string listed(std::size_t count, std::string_view form) {
  std::string all;
  for (std::size_t k = 0; k < count; ++k)
    all += fmt::format("{}{}", k == 0 ? "" : ", ", fmt::format(fmt::runtime(form), k));
  return all;
}

/// Rows of terms, reduced; `lines` make %y0 of a first array %x0 before, of {0} terms.
Graph graph_of(const Function& f, std::int64_t rows, std::int64_t terms, const std::string& lines = "") {
  const std::size_t arrays = f.starts.size();
  std::string region, before, gets;
  for (std::size_t k = 0; k < arrays; ++k)
    region += fmt::format("%a{0} = parameter {0} : f32[] %b{0} = parameter {1} : f32[] ", k, arrays + k);
  for (std::size_t k = 0; k < arrays; ++k) {
    before +=
        fmt::format("%x{0} = parameter {0} : f32[{1},{2}] %z{0} = constant {3} : f32[]\n", k, rows, terms, f.starts[k]);
    gets += fmt::format("%g{0} = get_tuple_element %r, number={0} : f32[{1}] ", k, rows);
  }
  before += fmt::format(fmt::runtime(lines), terms);
  const std::string reduce = fmt::format("%r = reduce custom {}, {}, axes={{1}}, bodies={{0}}",
                                         lines.empty() ? listed(arrays, "%x{}") : "%y0", listed(arrays, "%z{}"));
  const std::string row = fmt::format("f32[{}]", rows);
  const std::string result = arrays == 1
                                 ? fmt::format("{} : {} output %r", reduce, row)
                                 : fmt::format("{}, results={{{}}} : tuple {} output {}", reduce,
                                               listed(arrays, row + std::string()), gets, listed(arrays, "%g{}"));
  return parse_graph(fmt::format("graph g {{ graph region {{ {} {} output {} }}\n{}{} }}", region, f.lines,
                                 listed(arrays, "%r{}"), before, result));
}

std::vector<Tensor> terms_of(const Function& f, std::int64_t rows, std::int64_t terms, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> all;
  for (const auto& [low, high] : f.between) {
    Tensor one = zeros(make_shape(DType::f32, {rows, terms}));
    std::uniform_real_distribution<double> draw(low, high);
    for (std::int64_t i = 0; i < rows * terms; ++i) store(one, i, low == high ? low : draw(random));
    all.push_back(std::move(one));
  }
  return all;
}

using OfEach = std::vector<Tensor>;  ///< one of each array

/// The terms of a row, those of `left_out` passed over, put together in an order drawn at random: chains and trees of
/// them, the initial value among them once or more.
OfEach in_some_order(const Graph& graph, const Function& f, const std::vector<Tensor>& terms, std::int64_t row,
                     std::int64_t left_out, std::mt19937_64& random) {
  const std::int64_t count = terms[0].shape.dims[1];
  std::vector<OfEach> left;
  const auto number = [](double value) {
    Tensor one = zeros(make_shape(DType::f32, {}));
    store(one, 0, value);
    return one;
  };
  for (std::int64_t i = 0; i < count; ++i) {
    if (i == left_out) continue;
    OfEach one;
    for (const Tensor& array : terms) one.push_back(number(as_double(array, row * count + i)));
    left.push_back(std::move(one));
  }
  for (std::uint64_t starts = 1 + random() % 3; starts > 0; --starts) {
    OfEach one;
    for (const std::string& start : f.starts) one.push_back(number(start == "-inf" ? -infinity : std::stod(start)));
    left.push_back(std::move(one));
  }
  std::shuffle(left.begin(), left.end(), random);
  const bool chain = random() % 2 == 0;
  while (left.size() > 1) {
    const std::size_t from = chain ? 0 : random() % (left.size() - 1);
    OfEach both = std::move(left[from]);
    OfEach second = std::move(left.back());
    left.pop_back();
    if (random() % 2 == 0) std::swap(both, second);
    both.insert(both.end(), second.begin(), second.end());
    left[from < left.size() ? from : left.size() - 1] = evaluate(graph.bodies[0], both);
  }
  return std::move(left[0]);
}

}  // namespace

TEST_CASE("what any order of steps gives lies within the bounds of a function of one's own, a term left out does not") {
  constexpr std::uint64_t seed = 20261130;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  constexpr std::int64_t rows = 3;
  int judged = 0, left_out = 0, seen = 0;
  for (const Function& f : functions()) {
    CAPTURE(f.name);
    std::vector<double> wider;
    for (const std::int64_t count : {1, 2, 3, 7, 64, 300}) {
      CAPTURE(count);
      const Graph graph = graph_of(f, rows, count);
      const std::vector<Tensor> terms = terms_of(f, rows, count, seed + static_cast<std::uint64_t>(count));
      const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, terms);
      for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<double> farthest(found.size(), 0);
        for (int order = 0; order < 12; ++order) {
          const OfEach other = in_some_order(graph, f, terms, row, -1, random);
          for (std::size_t k = 0; k < found.size(); ++k) {
            const double apart = std::fabs(as_double(other[k], 0) - as_double(found[k].value, row));
            CHECK(apart <= error_of(found[k], row));
            farthest[k] = std::max(farthest[k], apart);
            ++judged;
          }
        }
        for (std::size_t k = 0; k < found.size(); ++k)
          if (farthest[k] > 0) wider.push_back(error_of(found[k], row) / farthest[k]);
        const OfEach less = in_some_order(
            graph, f, terms, row, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count)), random);
        bool outside = false;
        for (std::size_t k = 0; k < found.size(); ++k)
          outside = outside ||
                    !(std::fabs(as_double(less[k], 0) - as_double(found[k].value, row)) <= error_of(found[k], row));
        ++left_out;
        seen += outside ? 1 : 0;
      }
    }
    REQUIRE(wider.size() >= 8);
    std::nth_element(wider.begin(), wider.begin() + static_cast<std::ptrdiff_t>(wider.size() / 2), wider.end());
    MESSAGE(f.name << ": bounds are " << wider[wider.size() / 2] << " times what orders differ by");
    CHECK(wider[wider.size() / 2] < 400);  // 15 for sums and products, which have a rule of their own
  }
  MESSAGE(judged << " results judged; " << seen << " of " << left_out << " rows without a term seen");
  CHECK(judged > 1000);
  CHECK(100 * seen >= 98 * left_out);
}

TEST_CASE("bounds grow with the root of the terms") {
  const Function& f = functions()[1];
  const auto relative = [&](std::int64_t count) {
    const BoundedTensor found = evaluate_with_error_bounds(graph_of(f, 1, count), terms_of(f, 1, count, 7))[0];
    return error_of(found, 0) / as_double(found.value, 0);
  };
  CHECK(relative(1) < 0x1p-20);
  CHECK(relative(4096) > 6 * relative(64));
  CHECK(relative(4096) < 10 * relative(64));
  CHECK(relative(300'000) > 50 * relative(64));  // in two parts
  CHECK(relative(300'000) < 80 * relative(64));
}

TEST_CASE("bounds of the terms count once, not once for each step") {
  const Function& f = functions()[1];
  // Rounded at a hundred thousand, and so off by 1e-2 where a step of hypot rounds by 1e-7.
  const std::string vague =
      "%t = constant 100000 : f32[] %u = broadcast %t, axes={{}} : f32[1,{0}] %e = exp %x0 : f32[1,{0}] "
      "%s = add %e, %u : f32[1,{0}] %y0 = subtract %s, %u : f32[1,{0}]";
  const auto error = [&](std::int64_t count) {
    std::vector<Tensor> terms{zeros(make_shape(DType::f32, {1, count}))};
    for (std::int64_t i = 0; i < count; ++i) store(terms[0], i, 0.5 + static_cast<double>(i % 7) / 7);
    return error_of(evaluate_with_error_bounds(graph_of(f, 1, count, vague), terms)[0], 0);
  };
  CHECK(error(1) > 1e-2);
  CHECK(error(256) > 8 * error(1));
  CHECK(error(256) < 1.2 * 16 * error(1));
}

TEST_CASE("what hangs on the order of steps, or on the initial value, has no bound") {
  const auto is_judged = [](const std::string& lines, const std::string& start, std::int64_t count) {
    const Function f{"", lines, {start}, {{1, 2}}};
    return std::isfinite(error_of(evaluate_with_error_bounds(graph_of(f, 1, count), terms_of(f, 1, count, 3))[0], 0));
  };
  CHECK(is_judged(functions()[1].lines, "0", 9));
  CHECK_FALSE(is_judged(functions()[1].lines, "1", 9));
  CHECK_FALSE(is_judged("%r0 = subtract %a0, %b0 : f32[]", "0", 9));
  CHECK_FALSE(is_judged("%s = add %a0, %b0 : f32[] %h = constant 0.5 : f32[] %r0 = multiply %s, %h : f32[]", "0", 9));
  CHECK_FALSE(is_judged("%s = add %b0, %b0 : f32[] %r0 = add %a0, %s : f32[]", "0", 9));
  CHECK_FALSE(is_judged("%t = tanh %b0 : f32[] %r0 = add %a0, %t : f32[]", "0", 9));
  // The last one: each order has another.
  CHECK_FALSE(is_judged("%z = constant 0 : f32[] %t = multiply %a0, %z : f32[] %r0 = add %t, %b0 : f32[]", "0", 9));
}
