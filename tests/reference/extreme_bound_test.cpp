// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of values with the greatest, or the least, of their own row, and of the row without it. Values have
// bounds of several sizes. The oracle draws numbers inside them and does what the graph says: a comparison that is said
// to be certain never comes out otherwise (sound), and where no other value may be the greatest it is certain (sharp).
// Of another row's greatest, of a reduction that starts within the numbers and in types that may be rounded on one side
// alone nothing is certain. Part of the suite `reference`.
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

constexpr std::int64_t side = 24;

/// Numbers that are close to each other, or far, as they and their bounds happen to be.
std::vector<Tensor> drawn_inputs(std::mt19937_64& random, DType dtype = DType::f32) {
  constexpr auto numbers = std::to_array<double>({-2, 0, 0.5, 1, 1.0001, 1.001, 1.01, 1.1, 3});
  constexpr auto sizes = std::to_array<double>({0, 1, 10, 100});
  std::vector<Tensor> inputs(2, zeros(make_shape(dtype, {side, side})));
  for (std::int64_t i = 0; i < side * side; ++i) {
    const double number = numbers[random() % numbers.size()];
    store(inputs[0], i, random() % 2 == 0 ? number : number + 1e-4 * static_cast<double>(random() % 1000));
    store(inputs[1], i, sizes[random() % sizes.size()]);
  }
  return inputs;
}

/// Lines that make %v of two inputs: off by about 2^-22 of the second one squared.
const std::string uncertain =
    "%x = parameter 0 : f32[24,24] %w = parameter 1 : f32[24,24] %q = multiply %w, %w : f32[24,24] "
    "%s = add %x, %q : f32[24,24] %v = subtract %s, %q : f32[24,24]\n";

/// Two comparisons with the extreme of a row, the second of the row without what the first one took.
struct Gate {
  std::string compare;  ///< "ge"
  bool greatest;
  int axis;

  std::string lines() const {
    const std::string text = R"(
      %i = constant {1} : f32[] %n = constant {2} : f32[] %nn = broadcast %n, axes={{}} : f32[24,24]
      %m = reduce {3} %v, %i, axes={{{4}}} : f32[24] %k = reshape %m : f32[{5}] %j = reshape %k : f32[24]
      %b = broadcast %j, axes={{{6}}} : f32[24,24] %g = compare {0} %v, %b : pred[24,24]
      %u = select %f, %nn, %v : f32[24,24]
      %o = reduce {3} %u, %i, axes={{{4}}} : f32[24] %c = broadcast %o, axes={{{6}}} : f32[24,24]
      %h = compare {0} %v, %c : pred[24,24])";
    // What the second row is without: the values that are the extreme, however the gate itself compares.
    const std::string first = fmt::format("%f = compare {} %v, %b : pred[24,24] %u", greatest ? "ge" : "le");
    std::string all = fmt::format(fmt::runtime(text), compare, greatest ? "-inf" : "inf", greatest ? "-1e9" : "1e9",
                                  greatest ? "maximum" : "minimum", axis, axis == 1 ? "24,1" : "1,24", 1 - axis);
    all.replace(all.find("%u"), 2, first);
    return all;
  }
  std::int64_t place(std::int64_t row, std::int64_t i) const { return axis == 1 ? row * side + i : i * side + row; }
  bool holds(double value, double extreme) const {
    if (compare == "eq") return value == extreme;
    if (compare == "ne") return value != extreme;
    if (compare == "ge") return value >= extreme;
    if (compare == "le") return value <= extreme;
    return compare == "gt" ? value > extreme : value < extreme;
  }
};

struct Counts {
  int certain = 0, open = 0, at_extreme = 0, needlessly_open = 0, wrong = 0;
};

/// Whether the place is an extreme that no other number of the row reaches.
bool is_alone(const Gate& gate, const std::array<double, side>& value, const std::array<double, side>& error,
              std::int64_t at, const std::array<bool, side>& gone) {
  const double sign = gate.greatest ? 1 : -1;
  const auto k = static_cast<std::size_t>(at);
  for (std::size_t i = 0; i < value.size(); ++i)
    if (i != k && !gone[i] && sign * value[i] + error[i] >= sign * value[k] - error[k]) return false;
  return true;
}

void look_at_row(const Gate& gate, const std::vector<BoundedTensor>& found, std::int64_t row, std::mt19937_64& random,
                 Counts& counts) {
  std::array<double, side> value{}, error{};
  for (std::int64_t i = 0; i < side; ++i) {
    value[static_cast<std::size_t>(i)] = as_double(found[2].value, gate.place(row, i));
    error[static_cast<std::size_t>(i)] = error_of(found[2], gate.place(row, i));
  }
  const auto extreme_of = [&](const std::array<double, side>& of, const std::array<bool, side>& gone) {
    double most = gate.greatest ? -1e9 : 1e9;
    for (std::size_t i = 0; i < of.size(); ++i)
      if (!gone[i]) most = gate.greatest ? std::max(most, of[i]) : std::min(most, of[i]);
    return most;
  };
  std::uniform_real_distribution<double> inside(-1, 1);
  for (int draw = 0; draw < 60; ++draw) {
    std::array<double, side> moved{};
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i] = value[i] + error[i] * (draw % 2 == 0 ? inside(random) : random() % 2 == 0 ? 1 : -1);
    const double first = extreme_of(moved, {});
    std::array<bool, side> gone{};
    for (std::size_t i = 0; i < gone.size(); ++i) gone[i] = moved[i] == first;
    const double second = extreme_of(moved, gone);
    for (std::int64_t i = 0; i < side; ++i)
      for (const std::size_t output : {0, 1}) {
        if (error_of(found[output], gate.place(row, i)) != 0) continue;
        const bool right = gate.holds(moved[static_cast<std::size_t>(i)], output == 0 ? first : second);
        counts.wrong += right == (as_integer(found[output].value, gate.place(row, i)) != 0) ? 0 : 1;
      }
  }
  std::array<bool, side> gone{};
  bool first_alone = false;
  for (const std::size_t output : {0, 1}) {
    const double extreme = extreme_of(value, gone);
    for (std::int64_t i = 0; i < side; ++i) {
      const bool certain = error_of(found[output], gate.place(row, i)) == 0;
      ++(certain ? counts.certain : counts.open);
      if (value[static_cast<std::size_t>(i)] != extreme || gone[static_cast<std::size_t>(i)]) continue;
      const bool alone = is_alone(gate, value, error, i, gone) && (output == 0 || first_alone);
      if (output == 0) first_alone = alone;
      if (!alone || error[static_cast<std::size_t>(i)] == 0) continue;
      ++counts.at_extreme;
      counts.needlessly_open += certain ? 0 : 1;
    }
    for (std::size_t i = 0; i < gone.size(); ++i) gone[i] = value[i] == extreme;
  }
}

}  // namespace

TEST_CASE("a value that alone may be the greatest of its row is that for certain, and the next one without it") {
  for (const std::string compare : {"ge", "eq", "gt", "le", "ne", "lt"})
    for (const bool greatest : {true, false})
      for (const int axis : {0, 1}) {
        const Gate gate{compare, greatest, axis};
        CAPTURE(gate.lines());
        const Graph graph = parse_graph(fmt::format("graph g {{ {} {} output %g, %h, %v }}", uncertain, gate.lines()));
        std::mt19937_64 random(11);
        Counts counts;
        for (int turn = 0; turn < 4; ++turn) {
          const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, drawn_inputs(random));
          for (std::int64_t row = 0; row < side; ++row) look_at_row(gate, found, row, random, counts);
        }
        CHECK(counts.wrong == 0);
        CHECK(counts.needlessly_open == 0);
        CHECK(counts.at_extreme > 40);
        CHECK(counts.certain > 1000);
        CHECK(counts.open > 40);
      }
}

TEST_CASE("of the greatest of another row, or of more than the row, a comparison is not certain") {
  // Equal rows and columns, so that another row's greatest is equal in the reference too.
  std::vector<Tensor> inputs(2, zeros(make_shape(DType::f32, {side, side})));
  for (std::int64_t i = 0; i < side; ++i) {
    for (std::int64_t j = 0; j < side; ++j) store(inputs[1], i * side + j, 10);
    store(inputs[0], i * side + (i + 1) % side, 3);
  }
  const auto open_with = [&](const std::string& start, const std::string& axes) {
    const std::vector<double> found = bounds_of(
        fmt::format("{} %i = constant {} : f32[] %m = reduce maximum %v, %i, axes={{1}} : f32[24] "
                    "%b = broadcast %m, axes={{{}}} : f32[24,24] %g = compare ge %v, %b : pred[24,24] output %g",
                    uncertain, start, axes),
        inputs);
    return std::count_if(found.begin(), found.end(), [](double bound) { return bound > 0; });
  };
  CHECK(open_with("-inf", "0") == 0);
  CHECK(open_with("-inf", "1") == side);
  CHECK(open_with("3", "0") == side);
}

TEST_CASE("a greatest that a constant may have replaced is not certain, nor one in a type that may be rounded once") {
  std::mt19937_64 random(3);
  std::vector<Tensor> inputs(2, zeros(make_shape(DType::f32, {side, side})));
  for (std::int64_t i = 0; i < side * side; ++i) store(inputs[0], i, i % side == 5 ? 3 : 0), store(inputs[1], i, 10);
  const std::string greatest =
      " %i = constant -inf : f32[] %m = reduce maximum %u, %i, axes={1} : f32[24] %b = broadcast %m, axes={0} : "
      "f32[24,24] %g = compare ge %v, %b : pred[24,24] output %g";
  const auto open = [&](const std::string& limit, const std::string& constant) {
    // Where the value is above a limit a constant stands for it.
    const std::vector<double> found = bounds_of(
        fmt::format("{} %l = constant {} : f32[] %ll = broadcast %l, axes={{}} : f32[24,24] %c = compare gt %v, %ll : "
                    "pred[24,24] %n = constant {} : f32[] %nn = broadcast %n, axes={{}} : f32[24,24] "
                    "%u = select %c, %nn, %v : f32[24,24] {}",
                    uncertain, limit, constant, greatest),
        inputs);
    return std::count_if(found.begin(), found.end(), [](double bound) { return bound > 0; });
  };
  CHECK(open("10", "3") == 0);           // never
  CHECK(open("2", "3") == side);         // always: the extreme is the constant, the value is not
  CHECK(open("3", "2.999999") == side);  // perhaps
  const std::vector<double> narrow = bounds_of(
      "%x = parameter 0 : bf16[24,24] %w = parameter 1 : bf16[24,24] %v = multiply %x, %w : bf16[24,24] "
      "%i = constant -inf : bf16[] %m = reduce maximum %v, %i, axes={1} : bf16[24] %b = broadcast %m, axes={0} : "
      "bf16[24,24] %g = compare ge %v, %b : pred[24,24] output %g",
      drawn_inputs(random, DType::bf16));
  CHECK(std::count_if(narrow.begin(), narrow.end(), [](double bound) { return bound > 0; }) >= side);
}
