// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Both sides of where the reference changes its answer: the ends of types in conversions, branches out of range, equal
// keys of long sorts, infinities that a result may and may not round to, bounds that only one side has, indices that
// two uses ask for. Expected numbers are worked out by hand. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "reference/compare.h"
#include "reference/inputs.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Tensor tensor_of(DType dtype, const std::vector<double>& values) {
  Tensor made = zeros(make_shape(dtype, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) store(made, static_cast<std::int64_t>(i), values[i]);
  return made;
}

std::vector<double> reals_of(const Tensor& tensor) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < elements(tensor.shape); ++i) all.push_back(as_double(tensor, i));
  return all;
}

std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < elements(tensor.shape); ++i) all.push_back(as_integer(tensor, i));
  return all;
}

Tensor converted(const Tensor& from, DType to) {
  const Graph graph = parse_graph(fmt::format("graph g {{ %x = parameter 0 : {} %y = convert %x : {}[{}] output %y }}",
                                              text(from.shape), name(to), elements(from.shape)));
  return evaluate(graph, {&from, 1}).front();
}

Tensor whole_numbers(DType dtype, const std::vector<std::int64_t>& values) {
  Tensor made = zeros(make_shape(dtype, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) store_integer(made, static_cast<std::int64_t>(i), values[i]);
  return made;
}

/// What is said of one f32 number in the place of another with this tolerance.
std::int64_t wrong(double expected, double tolerance, double found) {
  const BoundedTensor right{tensor_of(DType::f32, {expected}), {tolerance}};
  return compare(right, tensor_of(DType::f32, {found}).bytes).wrong;
}

}  // namespace

TEST_CASE("a number is cut to an integer inside its type and the end of the type from the end on") {
  struct Ends {
    DType to;
    double above;  ///< the first power of two that the type lacks
    bool with_sign;
  };
  for (const auto& [to, above, with_sign] :
       {Ends{DType::s8, 0x1p7, true}, Ends{DType::u8, 0x1p8, false}, Ends{DType::s16, 0x1p15, true},
        Ends{DType::u16, 0x1p16, false}, Ends{DType::s32, 0x1p31, true}, Ends{DType::u32, 0x1p32, false},
        Ends{DType::s64, 0x1p63, true}, Ends{DType::u64, 0x1p64, false}}) {
    CAPTURE(name(to));
    const double just_below = std::nextafter(above, 0), most = above - 1;  // most: above itself from 54 bits on
    const auto greatest =
        static_cast<std::int64_t>(with_sign ? std::numeric_limits<std::uint64_t>::max() >> (65 - row(to).bits)
                                            : std::numeric_limits<std::uint64_t>::max() >> (64 - row(to).bits));
    const std::int64_t least = with_sign ? -greatest - 1 : 0;
    const std::vector<std::int64_t> found =
        integers_of(converted(tensor_of(DType::f64, {above, just_below, most, 2 * above, infinite, -above, -2 * above,
                                                     -infinite, -0.9, 0.9, -1.9, std::nan("")}),
                              to));
    const std::int64_t cut =
        row(to).bits < 64 ? greatest : static_cast<std::int64_t>(static_cast<std::uint64_t>(just_below));
    CHECK(found == std::vector<std::int64_t>{greatest, cut, greatest, greatest, greatest, least, least, least, 0, 0,
                                             with_sign ? -1 : 0, 0});
    if (with_sign && row(to).bits <= 32)
      CHECK(integers_of(converted(tensor_of(DType::f64, {-above - 0.5, -above - 1, -above + 1}), to)) ==
            std::vector<std::int64_t>{least, least, least + 1});
  }
}

TEST_CASE("unsigned numbers from the half of their range on are positive in every floating type") {
  const auto top = std::numeric_limits<std::int64_t>::min();  // 2^63 as unsigned
  for (const DType to : {DType::f64, DType::f32, DType::bf16}) {
    CAPTURE(name(to));
    CHECK(reals_of(converted(whole_numbers(DType::u64, {top, -1, 1}), to)) == std::vector<double>{0x1p63, 0x1p64, 1});
    CHECK(reals_of(converted(whole_numbers(DType::s64, {top, -1, 1}), to)) == std::vector<double>{-0x1p63, -1, 1});
  }
  CHECK(reals_of(converted(whole_numbers(DType::u32, {0x80000000LL, 0xffffffffLL}), DType::f64)) ==
        std::vector<double>{0x1p31, 0x1p32 - 1});
  CHECK(reals_of(converted(whole_numbers(DType::u8, {128, 255}), DType::f32)) == std::vector<double>{128, 255});
  CHECK(reals_of(converted(whole_numbers(DType::s8, {-128, 127}), DType::f32)) == std::vector<double>{-128, 127});
}

TEST_CASE("a branch is that of its index, the last one for an index below the first or behind the last") {
  const auto taken = [](std::int64_t index) {
    const Graph graph = parse_graph(
        "graph g { graph a { %x = parameter 0 : f32[] output %x } graph b { %x = parameter 0 : f32[] %n = negate %x : "
        "f32[] output %n } graph c { %x = parameter 0 : f32[] %n = add %x, %x : f32[] output %n }\n"
        "%i = parameter 0 : s32[1] %j = reshape %i : s32[] %x = constant 3 : f32[]\n"
        "%r = conditional %j, %x, %x, %x, bodies={0,1,2} : f32[] output %r }");
    return as_double(evaluate(graph, std::vector{whole_numbers(DType::s32, {index})}).front(), 0);
  };
  CHECK(taken(0) == 3);
  CHECK(taken(1) == -3);
  CHECK(taken(2) == 6);
  for (const std::int64_t outside : {-1, 3, -2000000000, 2000000000}) CHECK(taken(outside) == 6);
}

TEST_CASE("long lines with few different keys keep their order where keys are equal, along any dimension") {
  constexpr std::int64_t length = 200;
  for (const bool columns : {false, true}) {
    const std::string dims = columns ? "200,2" : "2,200";
    const int axis = columns ? 0 : 1;
    const Graph graph = parse_graph(fmt::format(
        "graph g {{ graph less {{ %a = parameter 0 : s32[] %b = parameter 1 : s32[] %i = parameter 2 : s32[] %j = "
        "parameter 3 : s32[] %r = compare lt %a, %b : pred[] output %r }}\n%x = parameter 0 : s32[{0}] %i = iota, "
        "axes={{{1}}} : s32[{0}]\n%s = sort %x, %i, axes={{{1}}}, bodies={{0}}, results={{s32[{0}], s32[{0}]}} : "
        "tuple\n"
        "%k = get_tuple_element %s : s32[{0}] %p = get_tuple_element %s, number=1 : s32[{0}] output %k, %p }}",
        dims, axis));
    Tensor x = zeros(graph[0].shape);
    const auto at = [&](std::int64_t line, std::int64_t i) { return columns ? i * 2 + line : line * length + i; };
    for (std::int64_t line = 0; line < 2; ++line)
      for (std::int64_t i = 0; i < length; ++i) store_integer(x, at(line, i), (i * 7 + line) % 3);
    const std::vector<Tensor> out = evaluate(graph, std::vector{x});
    for (std::int64_t line = 0; line < 2; ++line)
      for (std::int64_t i = 1; i < length; ++i) {
        const std::int64_t before = as_integer(out[0], at(line, i - 1)), here = as_integer(out[0], at(line, i));
        const std::int64_t from = as_integer(out[1], at(line, i - 1)), to = as_integer(out[1], at(line, i));
        REQUIRE((before < here || (before == here && from < to)));
        REQUIRE(as_integer(x, at(line, to)) == here);
      }
  }
}

TEST_CASE("an infinity passes where the result may round up to it, of its own sign alone") {
  constexpr double most = 3.4028234663852886e38;
  CHECK(wrong(most, 1e32, infinite) == 0);
  CHECK(wrong(most, 1e32, -infinite) == 1);
  CHECK(wrong(-most, 1e32, -infinite) == 0);
  CHECK(wrong(-most, 1e32, infinite) == 1);
  CHECK(wrong(3.4e38, 1e36, infinite) == 0);
  CHECK(wrong(3.4e38, 1e35, infinite) == 1);  // 3.4001e38 is no infinity
  CHECK(wrong(1, 0.5, infinite) == 1);
  CHECK(wrong(1, 0.5, 1.5) == 0);
  CHECK(wrong(1, 0.5, 0.5) == 0);
  CHECK(wrong(1, 0.5, 1.5000001) == 1);
  CHECK(wrong(1, 0.5, 0.4999999) == 1);
  CHECK(wrong(1, 0, 1.0000001) == 1);
}

TEST_CASE("integers are equal or wrong, whatever their distance, and a predicate that may be either passes") {
  for (const DType dtype : {DType::s8, DType::u16, DType::s32, DType::u64}) {
    const BoundedTensor right{whole_numbers(dtype, {5, 7}), {}};
    CHECK(compare(right, whole_numbers(dtype, {5, 7}).bytes).wrong == 0);
    CHECK(compare(right, whole_numbers(dtype, {6, 7}).bytes).wrong == 1);
    CHECK(compare(right, whole_numbers(dtype, {4, 8}).bytes).wrong == 2);
    CHECK(compare(right, whole_numbers(dtype, {4, 8}).bytes).first_wrong == 0);
  }
  const BoundedTensor either{whole_numbers(DType::pred, {1, 1}), {1, 0}};
  CHECK(compare(either, whole_numbers(DType::pred, {0, 1}).bytes).wrong == 0);
  CHECK(compare(either, whole_numbers(DType::pred, {1, 0}).bytes).wrong == 1);
}

TEST_CASE("a comparison is open where the errors of its sides, of either or of both together, reach its distance") {
  // %e is 1 with an error; %f too. What is compared with it lies beside it at a distance.
  const Graph graph = parse_graph(
      "graph g { %x = parameter 0 : f32[2] %e = exp %x : f32[2] %y = parameter 1 : f32[2] %f = exp %x : f32[2]\n"
      "%p = compare lt %e, %y : pred[2] %q = compare lt %y, %e : pred[2] %r = compare lt %y, %y : pred[2]\n"
      "%s = compare lt %e, %f : pred[2] output %p, %q, %r, %s }");
  const Tensor x = tensor_of(DType::f32, {0, 0}), y = tensor_of(DType::f32, {1 + 0x1p-23, 1.001});
  const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, std::vector{x, y});
  const auto open = [&](std::size_t output, std::size_t element) {
    return !found[output].error.empty() && found[output].error[element] > 0;
  };
  CHECK(open(0, 0));
  CHECK_FALSE(open(0, 1));
  CHECK(open(1, 0));
  CHECK_FALSE(open(1, 1));
  CHECK_FALSE(open(2, 0));
  CHECK(open(3, 0));
}

TEST_CASE("the least and the greatest of values of which one is uncertain may lie on either side of it") {
  // 1 by way of 1000001, whose last digits depend on those of an exponential; the other lies near and is sure.
  const Graph graph = parse_graph(
      "graph g { %x = parameter 0 : f32[2] %c = parameter 1 : f32[2] %e = exp %x : f32[2] %s = add %e, %c : f32[2]\n"
      "%t = subtract %s, %c : f32[2] %low = constant -inf : f32[] %high = constant inf : f32[]\n"
      "%least = reduce min %t, %high, axes={0} : f32[] %most = reduce max %t, %low, axes={0} : f32[]\n"
      "output %t, %least, %most }");
  const auto bounds = [&](double beside) {
    return evaluate_with_error_bounds(
        graph, std::vector{tensor_of(DType::f32, {0, std::log(beside)}), tensor_of(DType::f32, {1e6, 0})});
  };
  const std::vector<BoundedTensor> above = bounds(1.001), below = bounds(0.999);
  for (const std::vector<BoundedTensor>* found : {&above, &below})
    for (const BoundedTensor& output : *found) REQUIRE_FALSE(output.error.empty());
  const double uncertain = above[0].error[0];
  REQUIRE(uncertain > 0.01);
  CHECK(above[1].error[0] == approx(uncertain).epsilon(1e-5));          // the least is the uncertain one
  CHECK(above[2].error[0] == approx(uncertain - 0.001).epsilon(1e-4));  // which may pass the greatest
  CHECK(below[2].error[0] == approx(uncertain).epsilon(1e-5));
  CHECK(below[1].error[0] == approx(uncertain - 0.001).epsilon(1e-4));
}

TEST_CASE("an approximate quotient is judged where the divisor lies in the range that is promised, ends included") {
  const Graph graph = parse_graph(
      "graph g { %x = parameter 0 : f32[6] %y = parameter 1 : f32[6] %q = divide %x, %y : f32[6] output %q }");
  const Tensor x = tensor_of(DType::f32, std::vector<double>(6, 2));
  const Tensor y = tensor_of(DType::f32, {1, 0x1p126, 0x1.8p126, -0x1p127, 0x1p-126, 0x1p-127});
  const auto judged = [&](Arithmetic arithmetic) {
    const BoundedTensor found =
        evaluate_with_error_bounds(graph, std::vector{x, y}, {.arithmetic = arithmetic}).front();
    std::vector<bool> all;
    for (const double error : found.error) all.push_back(std::isfinite(error));
    return all;
  };
  CHECK(judged(Arithmetic::approx) == std::vector<bool>{true, true, false, false, true, false});
  CHECK(judged(Arithmetic::ieee)[3]);
}

TEST_CASE("an index that two uses ask for lies inside both, whichever stands first, and reaches the last place") {
  for (const bool turned : {false, true}) {
    const auto look_up = [](std::string_view name, std::string_view table) {
      return fmt::format(
          "  %{0} = gather %{1}, %i, text=\"offset_dims={{}}, collapsed_slice_dims={{0}}, "
          "start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}\" : f32[400]\n",
          name, table);
    };
    const Graph graph = parse_graph(
        "graph g {\n  %few = parameter 0 : f32[20]\n  %many = parameter 1 : f32[50]\n  %i = parameter 2 : "
        "s32[400,1]\n" +
        (turned ? look_up("b", "many") + look_up("a", "few") : look_up("a", "few") + look_up("b", "many")) +
        "  output %a, %b\n}\n");
    CHECK(input_ranges(graph)[2].limit == 20);
    const std::vector<std::int64_t> drawn = integers_of(sensible_inputs(graph, 3)[2]);
    const std::set<std::int64_t> places(drawn.begin(), drawn.end());
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == 19);
  }
  const Graph starts = parse_graph(
      "graph g { %x = parameter 0 : f32[10,8] %i = parameter 1 : s32[] %j = parameter 2 : s32[]\n"
      "%y = dynamic_slice %x, %i, %j : f32[3,8] output %y }");
  CHECK(input_ranges(starts)[1].limit == 8);  // 0 .. 7: the last place at which three of ten fit
  CHECK(input_ranges(starts)[2].limit == 1);  // there is one
}
