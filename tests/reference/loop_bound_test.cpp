// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of loops and branches, and of what hangs on operations that have none: right results in f32 lie inside, those
// with a round too few do not; integers are exact; what nothing is known of is not judged, and says whose fault it is.
// Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reference/compare.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

constexpr std::string_view rounds = R"(
    graph cond { %i = parameter 0 : s32[] %x = parameter 1 : f32[64] %n = constant 12 : s32[]
      %r = compare lt %i, %n : pred[] output %r }
    graph step { %i = parameter 0 : s32[] %x = parameter 1 : f32[64] %one = constant 1 : s32[] %j = add %i, %one : s32[]
      %e = exp %x : f32[64] %h = constant 0.25 : f32[] %b = broadcast %h, axes={} : f32[64]
      %y = multiply %e, %b : f32[64] output %j, %y }
    graph whole { %i = parameter 0 : s32[] %u = parameter 1 : u32[64] %one = constant 1 : s32[] %j = add %i, %one : s32[]
      %f = constant 1664525 : u32[] %b = broadcast %f, axes={} : u32[64] %v = multiply %u, %b : u32[64] output %j, %v }
    graph while_whole { %i = parameter 0 : s32[] %u = parameter 1 : u32[64] %n = constant 12 : s32[]
      %r = compare lt %i, %n : pred[] output %r }
    graph far { %s = parameter 0 : f32[] %n = constant 100 : f32[] %r = compare lt %s, %n : pred[] output %r }
    graph grow { %s = parameter 0 : f32[] %e = exp %s : f32[] %t = add %s, %e : f32[] output %t }
    graph yes { %a = parameter 0 : f32[64] %e = exp %a : f32[64] output %e }
    graph no { %a = parameter 0 : f32[64] output %a }
)";

std::vector<BoundedTensor> bounded(const std::string& body, const std::vector<Tensor>& inputs) {
  return evaluate_with_error_bounds(parse_graph(fmt::format("graph g {{ {} {} }}", rounds, body)), inputs);
}

std::int64_t without_bound(const BoundedTensor& one) {
  std::int64_t count = 0;
  for (const double error : one.error) count += std::isinf(error) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a loop over integers is exact, and so is what is chosen by it") {
  const std::vector<BoundedTensor> out =
      bounded(R"(%u = parameter 0 : u32[64] %x = parameter 1 : f32[64]
    %z = constant 0 : s32[] %w = while_loop %z, %u, bodies={3,2}, results={s32[], u32[64]} : tuple
    %v = get_tuple_element %w, number=1 : u32[64]
    %k = constant 2147483648 : u32[] %b = broadcast %k, axes={} : u32[64] %p = compare lt %v, %b : pred[64]
    %o = constant 0 : f32[] %q = broadcast %o, axes={} : f32[64] %y = select %p, %x, %q : f32[64] output %v, %y)",
              {random_tensor(make_shape(DType::u32, {64}), 1), random_tensor(make_shape(DType::f32, {64}), 2)});
  CHECK(out[0].error.empty());
  CHECK(out[1].error.empty());
  CHECK(out[1].unknown.empty());
  CHECK(compare(out[1], zeros(out[1].value.shape).bytes).wrong > 10);
}

TEST_CASE("bounds grow with the rounds of a loop: as many in f32 pass, one fewer does not") {
  const Tensor x = random_tensor(make_shape(DType::f32, {64}), 4);
  const std::vector<BoundedTensor> out = bounded(R"(%x = parameter 0 : f32[64] %z = constant 0 : s32[]
    %w = while_loop %z, %x, bodies={0,1}, results={s32[], f32[64]} : tuple
    %v = get_tuple_element %w, number=1 : f32[64] output %v)",
                                                 {x});
  Tensor right = x, early = x;
  for (std::int64_t i = 0; i < 64; ++i) {
    auto value = static_cast<float>(as_double(x, i));
    for (int k = 0; k < 12; ++k) {
      store(early, i, value);
      value = 0.25F * std::exp(value);
    }
    store(right, i, value);
  }
  CHECK(compare(out[0], right.bytes).wrong == 0);
  CHECK(compare(out[0], right.bytes).unjudged == 0);
  CHECK(compare(out[0], early.bytes).wrong > 10);
  // Of exact operands one round would have a bound of its own roundings alone.
  const std::vector<BoundedTensor> once = bounded(
      "%x = parameter 0 : f32[64] %e = exp %x : f32[64] %h = constant 0.25 : f32[] %b = broadcast %h, axes={} : "
      "f32[64]\n"
      "%y = multiply %e, %b : f32[64] output %y",
      {right});
  for (std::size_t i = 0; i < 64; ++i) CHECK(out[0].error[i] > 1.2 * once[0].error[i]);
}

TEST_CASE("a branch has the bounds of what it computes, and none where a rounded number picks it") {
  const std::string branch = R"(%x = parameter 0 : f32[64] %c = parameter 1 : pred[]
    %y = conditional %c, %x, %x, bodies={6,7} : f32[64] output %y)";
  const Tensor x = random_tensor(make_shape(DType::f32, {64}), 4);
  Tensor condition = zeros(make_shape(DType::pred, {}));
  CHECK(bounded(branch, {x, condition}).front().error.empty());
  store(condition, 0, 1);
  const BoundedTensor taken = bounded(branch, {x, condition}).front();
  CHECK(taken.error.size() == 64);
  CHECK(without_bound(taken) == 0);
  // The loop ends when a rounded sum is large enough: after how many rounds no two kernels need agree.
  const BoundedTensor open = bounded(R"(%s = parameter 0 : f32[] %e = exp %s : f32[]
    %w = while_loop %e, bodies={4,5}, results={f32[]} : tuple %v = get_tuple_element %w, number=0 : f32[] output %v)",
                                     {random_tensor(make_shape(DType::f32, {}), 1)})
                                 .front();
  CHECK((without_bound(open) == 0 || open.unknown == "%w (while)"));
}

TEST_CASE("where bounds are lost is the first operation that has none for some of its results, and is handed on") {
  // 1 / (x - x rounded) is near a pole wherever the difference may be zero.
  const Tensor x = random_tensor(make_shape(DType::f32, {64}), 4);
  const std::string pole = R"(%x = parameter 0 : f32[64] %e = exp %x : f32[64] %d = subtract %e, %e : f32[64]
    %q = divide %x, %d : f32[64] )";
  for (const std::string_view line :
       {"%y = tanh %q : f32[64]", "%a = add %x, %e : f32[64] %y = multiply %a, %q : f32[64]",
        "%z = constant 0 : f32[] %y = reduce add %q, %z, axes={0} : f32[]"}) {
    CAPTURE(line);
    const BoundedTensor out = bounded(pole + std::string(line) + " output %y", {x}).front();
    if (without_bound(out) == 0) continue;  // what is limited has a bound again
    CHECK(out.lost_at == "%q (divide)");
    CHECK(out.unknown.empty());
    CHECK(why_unbounded(out) ==
          "from %q (divide) on something overflows, is near a pole, or hangs on numbers too "
          "close to tell apart");
  }
  CHECK(without_bound(bounded(pole + "output %q", {x}).front()) == 64);
  const BoundedTensor fine = bounded("%x = parameter 0 : f32[64] %y = exp %x : f32[64] output %y", {x}).front();
  CHECK(fine.lost_at.empty());
}

TEST_CASE("what hangs on an operation without a rule is not judged, whatever limits it, and says which one it is") {
  const std::string sorted = R"(graph less { %a = parameter 0 : f32[] %b = parameter 1 : f32[]
      %r = compare lt %a, %b : pred[] output %r }
    %x = parameter 0 : f32[64] %e = exp %x : f32[64] %s = sort %e, axes={0}, bodies={8} : f32[64] )";
  const Tensor x = random_tensor(make_shape(DType::f32, {64}), 4);
  for (const std::string_view line :
       {"%y = logistic %s : f32[64]", "%y = tanh %s : f32[64]", "%y = erf %s : f32[64]", "%y = sin %s : f32[64]",
        "%p = compare lt %s, %x : pred[64] %y = select %p, %x, %e : f32[64]",
        "%p = compare lt %s, %x : pred[64] %n = bit_not %p : pred[64] %y = convert %n : f32[64]",
        "%m = maximum %s, %x : f32[64] %y = clamp %x, %m, %e : f32[64]"}) {
    CAPTURE(line);
    const BoundedTensor out = bounded(sorted + std::string(line) + " output %y", {x}).front();
    CHECK(without_bound(out) == 64);
    CHECK(out.unknown == "%s (sort)");
  }
}

TEST_CASE("the place of the greatest is exact where no other may be it, and open where two may") {
  const Graph graph = parse_graph(R"(graph g {
    graph pick { %a = parameter 0 : f32[] %i = parameter 1 : s32[] %b = parameter 2 : f32[] %j = parameter 3 : s32[]
      %p = compare ge %a, %b : pred[] %v = select %p, %a, %b : f32[] %k = select %p, %i, %j : s32[] output %v, %k }
    %x = parameter 0 : f32[3,4] %e = exp %x : f32[3,4] %n = iota, axes={1} : s32[3,4]
    %low = constant -inf : f32[] %z = constant 0 : s32[]
    %r = reduce custom %e, %n, %low, %z, axes={1}, bodies={0}, results={f32[3], s32[3]} : tuple
    %v = get_tuple_element %r, number=0 : f32[3] %k = get_tuple_element %r, number=1 : s32[3] output %v, %k })");
  Tensor x = zeros(make_shape(DType::f32, {3, 4}));
  const double values[] = {1, 2, 3, 2.5, 1, 1 + 1e-7, -4, 0, 2, -1, 2, 1};
  for (std::int64_t i = 0; i < 12; ++i) store(x, i, values[i]);
  const std::vector<BoundedTensor> out = evaluate_with_error_bounds(graph, std::vector{x});
  CHECK(out[1].error == std::vector{0.0, infinity, infinity});
  for (std::size_t i = 0; i < 3; ++i) {
    const double y = as_double(out[0].value, static_cast<std::int64_t>(i));
    CHECK(out[0].error[i] > 1e-7 * y);
    CHECK(out[0].error[i] < 1e-6 * y);
  }
}

TEST_CASE("a scatter that keeps the larger is off by what its winners are") {
  const Graph graph = parse_graph(R"(graph g {
    graph larger { %a = parameter 0 : f32[] %b = parameter 1 : f32[] %m = maximum %a, %b : f32[] output %m }
    %x = parameter 0 : f32[4] %i = parameter 1 : s32[4,1] %e = exp %x : f32[4]
    %o = constant 2 : f32[] %b = broadcast %o, axes={} : f32[3]
    %y = scatter max %b, %i, %e, bodies={0}, text="update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f32[3]
    output %y })");
  Tensor x = zeros(make_shape(DType::f32, {4})), places = zeros(make_shape(DType::s32, {4, 1}));
  const double values[] = {-3, 1, 4, 3};
  const std::int64_t at[] = {0, 1, 1, 1};
  for (std::int64_t i = 0; i < 4; ++i) {
    store(x, i, values[i]);
    store_integer(places, i, at[i]);
  }
  const BoundedTensor out = evaluate_with_error_bounds(graph, std::vector{x, places}).front();
  REQUIRE(out.error.size() == 3);
  CHECK((out.error[0] == 0 && out.error[2] == 0));
  const double greatest = std::exp(4.0);
  CHECK((out.error[1] > 1e-7 * greatest && out.error[1] < 1e-6 * greatest));
}

TEST_CASE(
    "a count of close comparisons is off by as many as are close, and what a scatter puts in place keeps its bound") {
  const Graph graph = parse_graph(R"(graph g {
    graph second { %a = parameter 0 : f32[] %b = parameter 1 : f32[] output %b }
    %x = parameter 0 : f32[5] %i = parameter 1 : s32[5,1] %e = exp %x : f32[5]
    %o = constant 1 : f32[] %b = broadcast %o, axes={} : f32[5] %p = compare gt %e, %b : pred[5]
    %n = convert %p : s32[5] %z = constant 0 : s32[] %c = reduce add %n, %z, axes={0} : s32[]
    %y = scatter custom %b, %i, %e, bodies={0}, text="update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f32[5]
    output %c, %e, %y })");
  Tensor x = zeros(make_shape(DType::f32, {5})), places = zeros(make_shape(DType::s32, {5, 1}));
  const double values[] = {-1, 0, 2, 1e-9, 1};
  const std::int64_t at[] = {4, 0, 9, 2, 1};  // the third one falls outside
  for (std::int64_t i = 0; i < 5; ++i) {
    store(x, i, values[i]);
    store_integer(places, i, at[i]);
  }
  const std::vector<BoundedTensor> out = evaluate_with_error_bounds(graph, std::vector{x, places});
  CHECK(out[0].error == std::vector{2.0});
  const std::vector<double>& e = out[1].error;
  CHECK(out[2].error == std::vector{e[1], e[4], e[3], 0.0, e[0]});
}
