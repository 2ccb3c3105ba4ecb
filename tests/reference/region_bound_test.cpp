// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of reductions by regions. What only chooses is exact where it is the same in every order that a
// compiler may choose, and not judged where it is not; several known operations at once are bounded as each of them is
// alone. Steps that round have a test of their own, fold_bound_test.cpp. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "reference/error_bound.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

Tensor row_of(const std::vector<double>& values) {
  Tensor tensor = zeros(make_shape(DType::f32, {1, static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) store(tensor, static_cast<std::int64_t>(i), values[i]);
  return tensor;
}

bool is_judged(const BoundedTensor& result) { return result.error.empty() || result.error[0] != infinity; }

/// One array by a region of %a and %b with result %r.
BoundedTensor one(const std::string& region, const std::string& start, const std::vector<double>& values) {
  const Graph graph = parse_graph(
      fmt::format("graph g {{ graph region {{ %a = parameter 0 : f32[] %b = parameter 1 : f32[] {} output %r }}\n"
                  "%x = parameter 0 : f32[1,{}] %z = constant {} : f32[]\n"
                  "%f = reduce custom %x, %z, axes={{1}}, bodies={{0}} : f32[1] output %f }}",
                  region, values.size(), start));
  const std::vector<Tensor> inputs{row_of(values)};
  return evaluate_with_error_bounds(graph, inputs)[0];
}

/// JAX's argmax, of the values as they are or of what comes of them.
std::vector<BoundedTensor> argmax(const std::vector<double>& values, const std::string& step = "copy %x") {
  const Graph graph = parse_graph(fmt::format(R"(graph g {{
    graph greatest {{
      %v = parameter 0 : f32[] %i = parameter 1 : s32[] %w = parameter 2 : f32[] %j = parameter 3 : s32[]
      %m = compare gt %v, %w : pred[] %n = compare ne %v, %v : pred[] %f = bit_or %m, %n : pred[]
      %s = compare eq %v, %w : pred[] %l = compare lt %i, %j : pred[] %t = bit_and %s, %l : pred[]
      %p = bit_or %f, %t : pred[] %x = select %f, %v, %w : f32[] %k = select %p, %i, %j : s32[] output %x, %k }}
    %x = parameter 0 : f32[1,{0}] %y = {1} : f32[1,{0}] %p = iota, axes={{1}} : s32[1,{0}] %l = constant -inf : f32[] %z = constant 0 : s32[]
    %r = reduce custom %y, %p, %l, %z, axes={{1}}, bodies={{0}}, results={{f32[1], s32[1]}} : tuple
    %v = get_tuple_element %r, number=0 : f32[1] %i = get_tuple_element %r, number=1 : s32[1]
    output %v, %i }})",
                                              values.size(), step));
  const std::vector<Tensor> inputs{row_of(values)};
  return evaluate_with_error_bounds(graph, inputs);
}

}  // namespace

TEST_CASE("the greatest and its place are exact, ties too, and of two NaN the place is anybody's") {
  for (const std::vector<double>& values :
       {std::vector<double>{1, 5, 5, 2}, {7}, {-infinity, -infinity}, {3, NAN, 1}}) {
    const auto found = argmax(values);
    CHECK(is_judged(found[0]));
    CHECK(is_judged(found[1]));
  }
  CHECK(as_integer(argmax({1, 5, 5, 2})[1].value, 0) == 1);
  const auto two = argmax({3, NAN, 1, 2, NAN});
  CHECK(is_judged(two[0]));
  CHECK_FALSE(is_judged(two[1]));
}

TEST_CASE("of values that have bounds the greatest has one too, and its place is judged where no other may be it") {
  for (const std::string step : {"exp %x", "log %x"}) {
    const auto apart = argmax({1, 5, 3, 4}, step);
    CHECK(is_judged(apart[0]));
    CHECK(apart[0].error[0] > 0);
    CHECK(is_judged(apart[1]));
    CHECK(as_integer(apart[1].value, 0) == 1);
    const auto close = argmax({1, 5, 3, std::nextafter(5.0F, 0.0F)}, step);
    CHECK(is_judged(close[0]));
    CHECK_FALSE(is_judged(close[1]));
  }
}

namespace {

/// The greatest and the next of the values that `step` makes, as an import writes a search for the two: a place of n is
/// that of nothing.
std::vector<BoundedTensor> first_two(const std::vector<double>& values, const std::string& step, bool greatest = true,
                                     std::string_view bound = "{0}") {
  constexpr std::string_view text = R"(graph g {{
    graph region {{ %a = parameter 0 : f32[] %i = parameter 1 : s32[] %b = parameter 2 : f32[] %j = parameter 3 : s32[]
      %n = constant {3} : s32[] %alone = compare ge %j, %n : pred[] %there = compare lt %i, %n : pred[]
      %before = compare {2} %a, %b, total_order : pred[] %equal = compare eq %a, %b, total_order : pred[]
      %left = compare lt %i, %j : pred[] %first = bit_and %equal, %left : pred[]
      %either = bit_or %before, %first : pred[] %both = bit_and %there, %either : pred[]
      %keeps = bit_or %alone, %both : pred[] %value = select %keeps, %a, %b : f32[]
      %place = select %keeps, %i, %j : s32[] output %value, %place }}
    %x = parameter 0 : f32[1,{0}] %y = {1} : f32[1,{0}] %p = iota, axes={{1}} : s32[1,{0}]
    %z = constant 0 : f32[] %n = constant {0} : s32[] %all = broadcast %n, axes={{}} : s32[1,{0}]
    %r = reduce custom %y, %p, %z, %n, axes={{1}}, bodies={{0}}, results={{f32[1], s32[1]}} : tuple
    %v = get_tuple_element %r, number=0 : f32[1] %i = get_tuple_element %r, number=1 : s32[1]
    %spread = broadcast %i, axes={{0}} : s32[1,{0}] %found = compare eq %p, %spread : pred[1,{0}]
    %q = select %found, %all, %p : s32[1,{0}]
    %s = reduce custom %y, %q, %z, %n, axes={{1}}, bodies={{0}}, results={{f32[1], s32[1]}} : tuple
    %w = get_tuple_element %s, number=0 : f32[1] %j = get_tuple_element %s, number=1 : s32[1]
    output %v, %i, %w, %j }})";
  const std::size_t n = values.size();
  const Graph graph =
      parse_graph(fmt::format(text, n, step, greatest ? "gt" : "lt", fmt::format(fmt::runtime(bound), n)));
  const std::vector<Tensor> inputs{row_of(values)};
  return evaluate_with_error_bounds(graph, inputs);
}

}  // namespace

TEST_CASE("the next greatest is bounded, and its place judged, where the greatest is known and no other may be it") {
  for (const bool greatest : {true, false}) {
    const double sign = greatest ? 1 : -1;
    const auto judged = [&](const std::vector<double>& sizes, const std::string& step) {
      std::vector<double> values;
      for (const double size : sizes) values.push_back(sign * size);
      std::vector<bool> all;
      for (const BoundedTensor& one : first_two(values, step, greatest)) all.push_back(is_judged(one));
      return all;
    };
    using Each = std::vector<bool>;
    for (const std::string step : {"exp %x", "copy %x"}) {
      CHECK(judged({1, 5, 3, 4}, step) == Each{true, true, true, true});
      CHECK(judged({4, 3}, step) == Each{true, true, true, true});
    }
    const double below = std::nextafter(5.0F, 0.0F), third = std::nextafter(3.0F, 0.0F);
    CHECK(judged({1, 5, 3, third}, "exp %x") == Each{true, true, true, false});
    // Which of two is the greatest is open, and so is what the search without it finds.
    CHECK(judged({1, 5, 3, below}, "exp %x") == Each{true, false, false, false});
    CHECK(judged({1, 5, 3, below}, "copy %x") == Each{true, true, true, true});
  }
  const auto found = first_two({1, 5, 3, 4}, "exp %x");
  CHECK(as_integer(found[3].value, 0) == 3);
  CHECK(found[2].error[0] > 0);
  CHECK(found[2].error[0] < 1e-4);
  // Where the bound makes nothing of all elements each order takes another one of them.
  for (const BoundedTensor& one : first_two({1, 5, 3, 4}, "exp %x", true, "0")) CHECK_FALSE(is_judged(one));
}

TEST_CASE("a region that depends on the order is judged only where it makes no difference") {
  const std::string farther =
      "%c = abs %a : f32[] %d = abs %b : f32[] %m = compare ge %c, %d : pred[] %r = select %m, %a, %b : f32[]";
  CHECK(is_judged(one(farther, "0", {1, -5, 2})));
  for (std::size_t first = 0; first < 6; ++first)
    for (std::size_t second = 0; second < 6; ++second) {
      std::vector<double> values{1, 2, -3, 1, 2, -3};
      values[first] = -5;
      if (first == second) {
        CHECK(is_judged(one(farther, "0", values)));
        continue;
      }
      CAPTURE(first);
      CAPTURE(second);
      values[second] = 5;
      CHECK_FALSE(is_judged(one(farther, "0", values)));
    }
  // An initial value that is no neutral one may come in any number of times.
  const std::string least = "%m = compare lt %a, %b : pred[] %r = select %m, %a, %b : f32[]";
  CHECK(is_judged(one(least, "inf", {3, 2})));
}

TEST_CASE("known operations side by side are bounded as each is alone") {
  const std::vector<double> values{1, 0x1p-30, -1, 3};
  const BoundedTensor pair = [&] {
    const Graph graph = parse_graph(R"(graph g {
      graph both { %a = parameter 0 : f32[] %b = parameter 1 : f32[] %c = parameter 2 : f32[] %d = parameter 3 : f32[]
        %s = add %c, %a : f32[] %m = maximum %b, %d : f32[] output %s, %m }
      %x = parameter 0 : f32[1,4] %z = constant 0 : f32[] %l = constant -inf : f32[]
      %r = reduce custom %x, %x, %z, %l, axes={1}, bodies={0}, results={f32[1], f32[1]} : tuple
      %s = get_tuple_element %r, number=0 : f32[1] output %s })");
    const std::vector<Tensor> inputs{row_of(values)};
    return evaluate_with_error_bounds(graph, inputs)[0];
  }();
  const BoundedTensor alone = [&] {
    const Graph graph = parse_graph(
        "graph g { %x = parameter 0 : f32[1,4] %z = constant 0 : f32[] %s = reduce add %x, %z, axes={1} : f32[1] "
        "output %s }");
    const std::vector<Tensor> inputs{row_of(values)};
    return evaluate_with_error_bounds(graph, inputs)[0];
  }();
  CHECK(pair.value.bytes == alone.value.bytes);
  CHECK(pair.error == alone.error);
}

TEST_CASE("a sum of zeros is zero for certain, so what it decides is judged, infinities too") {
  const Graph graph = parse_graph(R"(graph g {
    %x = parameter 0 : f32[1,4] %z = constant 0 : f32[] %s = reduce add %x, %z, axes={1} : f32[1]
    %q = broadcast %z, axes={} : f32[1] %m = compare gt %s, %q : pred[1]
    %l = constant -inf : f32[] %i = broadcast %l, axes={} : f32[1] %o = select %m, %q, %i : f32[1] output %o })");
  for (const std::vector<double>& values : {std::vector<double>{0, 0, -0.0, 0}, {0, 1, 0, 1}}) {
    const std::vector<Tensor> inputs{row_of(values)};
    CHECK(is_judged(evaluate_with_error_bounds(graph, inputs)[0]));
  }
  // The same of marks that are certain though they were computed.
  const Graph marks = parse_graph(R"(graph g {
    %x = parameter 0 : f32[1,4] %e = exp %x : f32[1,4] %t = constant 2 : f32[] %b = broadcast %t, axes={} : f32[1,4]
    %p = compare gt %e, %b : pred[1,4] %f = convert %p : f32[1,4] %z = constant 0 : f32[]
    %s = reduce add %f, %z, axes={1} : f32[1] %q = broadcast %z, axes={} : f32[1] %m = compare gt %s, %q : pred[1]
    %l = constant -inf : f32[] %i = broadcast %l, axes={} : f32[1] %o = select %m, %q, %i : f32[1] output %o })");
  for (const std::vector<double>& values : {std::vector<double>{0, -1, 0.5, 0}, {0, 1, 0, 1}}) {
    const std::vector<Tensor> inputs{row_of(values)};
    CHECK(is_judged(evaluate_with_error_bounds(marks, inputs)[0]));
  }
  const std::vector<Tensor> close{row_of({1, 0x1p-30, -1, 0})};  // any order may give zero
  CHECK_FALSE(is_judged(evaluate_with_error_bounds(graph, close)[0]));
}
