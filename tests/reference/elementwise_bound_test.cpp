// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far each operation of the table carries the errors of its operands. The oracle moves every operand to both ends
// of its own bound and evaluates the operation in f64 there: no result may move further than the bound says (sound),
// and the bound is not much more than the furthest of them (sharp), but for steps and turning points. Operands are
// uncertain by known amounts of several sizes. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ir/graph/op.h"
#include "reference/bounds.h"
#include "reference/error_bound.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

constexpr std::int64_t operand_count = 96;

/// Numbers from `low` to `high`, as f32 has them.
Tensor spread_between(double low, double high, std::int64_t turn) {
  Tensor made = zeros(make_shape(DType::f32, {operand_count}));
  for (std::int64_t i = 0; i < operand_count; ++i)
    store(made, i, low + (high - low) * static_cast<double>(i * turn % operand_count) / operand_count);
  return made;
}

struct OperandsOf {
  Op op;
  double low, high;  ///< where the first operand lies
  /// How many times the furthest movement the bound may be; 0: any, where steps, turning points or a slope that is
  /// taken at its steepest stand between.
  double most;
};

/// Operations whose operands must lie in a range of their own; all others take numbers from 0.2 to 0.9.
constexpr auto domains = std::to_array<OperandsOf>({
    {Op::acosh, 1.5, 4, 2.1},
    {Op::sign, 0.2, 0.9, 0},
    {Op::ceil, 0.2, 0.9, 0},
    {Op::floor, 0.2, 0.9, 0},
    {Op::round_even, 0.2, 0.9, 0},
    {Op::round_away, 0.2, 0.9, 0},
    {Op::remainder, 0.2, 0.9, 0},
    {Op::sin, 0.2, 0.9, 0},  // the bound takes the steepest slope for all: 1
    {Op::cos, 0.2, 0.9, 0},
    {Op::tanh, 0.2, 0.9, 0},
    {Op::erf, 0.2, 0.9, 0},
    {Op::logistic, 0.2, 0.9, 2.1},
    {Op::sqrt, 0.2, 0.9, 1.01},  // of the halves of hypot's squares, say, a factor here is one for each step
    {Op::rsqrt, 0.2, 0.9, 1.01},
    {Op::cbrt, 0.2, 0.9, 1.01},
});

OperandsOf operands_of(Op op) {
  for (const OperandsOf& row : domains)
    if (row.op == op) return row;
  return {op, 0.2, 0.9, 2.1};
}

/// The operation of f64 operands.
std::vector<double> computed_in_f64(const OpRow& entry, const std::vector<std::vector<double>>& operands) {
  std::string text = "graph g { ", arguments;
  std::vector<Tensor> inputs;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    text += fmt::format("%p{0} = parameter {0} : f64[{1}] ", k, operand_count);
    arguments += fmt::format("{}%p{}", k == 0 ? "" : ", ", k);
    inputs.push_back(zeros(make_shape(DType::f64, {operand_count})));
    for (std::int64_t i = 0; i < operand_count; ++i) store(inputs.back(), i, operands[k][static_cast<std::size_t>(i)]);
  }
  const Graph graph =
      parse_graph(fmt::format("{}%r = {} {} : f64[{}] output %r }}", text, name(entry.op), arguments, operand_count));
  const Tensor result = evaluate(graph, inputs).front();
  std::vector<double> all;
  for (std::int64_t i = 0; i < operand_count; ++i) all.push_back(as_double(result, i));
  return all;
}

struct Judged {
  int elements = 0;
  double worst_low = 0;    ///< movement over bound; more than 1 is unsound
  double least_sharp = 0;  ///< bound over movement
};

/// The operation on operands that are off by about `uncertain`: v + big - big, of which v comes out of an exponential.
Judged judged(const OpRow& entry, double uncertain) {
  const OperandsOf domain = operands_of(entry.op);
  const double big = uncertain * 0x1p22;
  std::string text =
      fmt::format("graph g {{ %b = constant {} : f32[] %bb = broadcast %b : f32[{}]\n", big, operand_count);
  std::string arguments;
  std::vector<Tensor> inputs;
  for (int k = 0; k < entry.arity; ++k) {
    text += fmt::format(
        "%x{0} = parameter {0} : f32[{1}] %e{0} = exp %x{0} : f32[{1}] %l{0} = log %e{0} : f32[{1}]\n"
        "%s{0} = add %l{0}, %bb : f32[{1}] %v{0} = subtract %s{0}, %bb : f32[{1}]\n",
        k, operand_count);
    arguments += fmt::format("{}%v{}", k == 0 ? "" : ", ", k);
    const std::array<std::int64_t, 3> turns{1, 5, 7};
    inputs.push_back(spread_between(domain.low, domain.high, turns[static_cast<std::size_t>(k)]));
  }
  text += fmt::format("%r = {} {} : f32[{}]\noutput {}, %r }}", name(entry.op), arguments, operand_count, arguments);
  const std::vector<BoundedTensor> found =
      evaluate_with_error_bounds(parse_graph(text), inputs, {.arithmetic = Arithmetic::ieee});
  const BoundedTensor& result = found.back();
  Judged seen;
  std::vector<double> furthest(operand_count, 0);
  for (unsigned corner = 0; corner < 1U << entry.arity; ++corner) {
    std::vector<std::vector<double>> moved;
    for (std::size_t k = 0; k < static_cast<std::size_t>(entry.arity); ++k) {
      std::vector<double>& one = moved.emplace_back();
      for (std::int64_t i = 0; i < operand_count; ++i)
        one.push_back(as_double(found[k].value, i) +
                      ((corner >> k & 1) != 0 ? 1 : -1) * found[k].error[static_cast<std::size_t>(i)]);
    }
    const std::vector<double> there = computed_in_f64(entry, moved);
    for (std::size_t i = 0; i < furthest.size(); ++i)
      furthest[i] = std::max(furthest[i], std::fabs(there[i] - as_double(result.value, static_cast<std::int64_t>(i))));
  }
  for (std::size_t i = 0; i < furthest.size(); ++i) {
    const double bound = result.error.empty() ? 0 : result.error[i];
    if (std::isnan(furthest[i]) || std::isinf(bound)) continue;
    ++seen.elements;
    const double size = std::fabs(as_double(result.value, static_cast<std::int64_t>(i)));
    const double rounding = 20 * 0x1p-24 * (size + 1);  // of the operation itself
    seen.worst_low = std::max(seen.worst_low, (furthest[i] - 0x1p-24 * size) / std::max(bound, 1e-300));
    seen.least_sharp = std::max(seen.least_sharp, (bound - rounding) / (furthest[i] + 1e-300));
  }
  return seen;
}

}  // namespace

TEST_CASE("the bound of every operation holds all that its operands may be, and little more") {
  int operations = 0;
  for (const OpRow& entry : op_table) {
    if (entry.kind != OpClass::elementwise || entry.real.empty() || entry.op == Op::select || entry.op == Op::is_finite)
      continue;
    ++operations;
    for (const double uncertain : {1e-6, 1e-4, 1e-2}) {
      CAPTURE(name(entry.op));
      CAPTURE(uncertain);
      const Judged seen = judged(entry, uncertain);
      CHECK(seen.elements > 20);
      CHECK(seen.worst_low <= 1 + 1e-6);
      if (const double most = operands_of(entry.op).most; most > 0) CHECK(seen.least_sharp <= most);
    }
  }
  CHECK(operations > 30);
}

TEST_CASE("there is no bound where a pole or a jump lies between what the operands may be, and one beside it") {
  // Operands that are off by 1e-4 or a little more, at a pole or a jump, and a thousandth beside it.
  const auto bounds = [](std::string_view operation, const std::vector<double>& a, const std::vector<double>& b) {
    const double big = 1e-4 * 0x1p22;
    const std::string text = fmt::format(
        "graph g {{ %b = constant {} : f32[] %bb = broadcast %b : f32[{}]\n%x = parameter 0 : f32[{}]\n"
        "%y = parameter 1 : f32[{}]\n%e = exp %x : f32[{}] %l = log %e : f32[{}] %s = add %l, %bb : f32[{}]\n"
        "%v = subtract %s, %bb : f32[{}]\n%r = {} : f32[{}]\noutput %r, %y }}",
        big, a.size(), a.size(), a.size(), a.size(), a.size(), a.size(), a.size(), operation, a.size());
    std::vector<Tensor> inputs;
    for (const std::vector<double>& values : {a, b}) {
      inputs.push_back(zeros(make_shape(DType::f32, {static_cast<std::int64_t>(values.size())})));
      for (std::size_t i = 0; i < values.size(); ++i) store(inputs.back(), static_cast<std::int64_t>(i), values[i]);
    }
    return evaluate_with_error_bounds(parse_graph(text), inputs).front().error;
  };
  const double pole = std::acos(0.0);
  const std::vector<double> tan =
      bounds("tan %v", {pole, pole + 0.01, -pole, pole - 0.01, 3 * pole, 0, 2 * pole}, {0, 0, 0, 0, 0, 0, 0});
  const std::vector<double> rest =
      bounds("remainder %v, %y", {1.5, 1.51, -1.5, 0.74, 0.75, 0, 0.25}, {0.75, 0.75, 0.75, 0.75, 0.75, 0.75, -0.25});
  for (std::size_t i = 0; i < tan.size(); ++i) {
    CAPTURE(i);
    CHECK(std::isinf(tan[i]) == (i == 0 || i == 2 || i == 4));
    CHECK(std::isinf(rest[i]) == (i == 0 || i == 2 || i == 4 || i == 6));
  }
}

TEST_CASE("a power beyond f16 is not judged, for kernels may hold it in f32; one of 0 is infinite for certain") {
  const Graph graph = parse_graph(
      "graph g { %x = parameter 0 : f16[3] %y = parameter 1 : f16[3] %p = power %x, %y : f16[3] output %p }");
  std::vector<Tensor> inputs{zeros(make_shape(DType::f16, {3})), zeros(make_shape(DType::f16, {3}))};
  for (std::int64_t i = 0; i < 3; ++i)
    store(inputs[0], i, i == 1 ? 0 : 8), store(inputs[1], i, i == 1 ? -1 : static_cast<double>(2 + 4 * i));
  const BoundedTensor found = evaluate_with_error_bounds(graph, inputs).front();
  CHECK(std::isfinite(found.error[0]));
  CHECK(found.error[1] == 0);
  CHECK(std::isinf(found.error[2]));
}

TEST_CASE("a selection between uncertain values is off by the one that was chosen, and open where the choice is") {
  const Graph graph = parse_graph(
      "graph g { %p = parameter 0 : pred[2] %x = parameter 1 : f32[2] %e = exp %x : f32[2] %y = parameter 2 : f32[2]\n"
      "%s = select %p, %e, %y : f32[2] %c = compare lt %e, %y : pred[2] %t = select %c, %x, %y : f32[2]\n"
      "output %e, %s, %t }");
  const auto tensor = [](DType dtype, double a, double b) {
    Tensor made = zeros(make_shape(dtype, {2}));
    if (is_floating(dtype))
      store(made, 0, a), store(made, 1, b);
    else
      store_integer(made, 0, static_cast<std::int64_t>(a)), store_integer(made, 1, static_cast<std::int64_t>(b));
    return made;
  };
  const std::vector<BoundedTensor> found = evaluate_with_error_bounds(
      graph, std::vector{tensor(DType::pred, 1, 0), tensor(DType::f32, 0, 0), tensor(DType::f32, 1, 5)});
  CHECK(found[1].error[0] == approx(found[0].error[0]));
  CHECK(found[1].error[1] == 0);
  CHECK(found[2].error[0] >= 1);  // x or y: 0 or 1
  CHECK(found[2].error[1] == 0);
}

namespace {

Tensor tensor_with(DType dtype, const std::vector<double>& values) {
  Tensor made = zeros(make_shape(dtype, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) store(made, static_cast<std::int64_t>(i), values[i]);
  return made;
}

}  // namespace

TEST_CASE("bits are certain as they lie in memory; of a computed NaN or zero they are not") {
  const std::vector<Tensor> inputs{tensor_with(DType::f32, {1, 0, -0.0, std::nan("")})};
  const std::vector<double> sure{0, 0, 0, 0}, open{0, infinity, infinity, infinity};
  CHECK(bounds_of("%x = parameter 0 : f32[4] %r = reverse %x, axes={0} : f32[4] %s = reverse %r, axes={0} : f32[4] "
                  "%b = bitcast_convert %s : s32[4] output %b",
                  inputs) == sure);
  CHECK(bounds_of("%x = parameter 0 : f32[4] %m = negate %x : f32[4] %b = bitcast_convert %m : s32[4] output %b",
                  inputs) == open);
  CHECK(bounds_of("%x = parameter 0 : f32[4] %o = constant 0 : f32[] %z = broadcast %o, axes={} : f32[4] "
                  "%c = compare lt %x, %z, total_order : pred[4] output %c",
                  inputs) == sure);
  CHECK(
      bounds_of(
          "%x = parameter 0 : f32[4] %m = abs %x : f32[4] %o = constant 0 : f32[] %z = broadcast %o, axes={} : f32[4] "
          "%c = compare lt %m, %z, total_order : pred[4] output %c",
          inputs) == std::vector<double>{0, 1, 1, 1});
  CHECK(bounds_of("%x = parameter 0 : f32[4] %c = compare lt %x, %x, total_order : pred[4] output %c", inputs) ==
        std::vector<double>{0, 0, 0, 1});
}

TEST_CASE("a type without infinity has no bound where one kernel may give NaN and another one not") {
  // 463.99 is 448, 464.01 NaN; the first operand may be off by a few units of f32.
  const std::vector<Tensor> inputs{tensor_with(DType::f32, {std::log(463.0), std::log(464.0), std::log(465.0), 0})};
  const std::vector<double> found =
      bounds_of("%x = parameter 0 : f32[4] %e = exp %x : f32[4] %q = convert %e : f8e4m3fn[4] output %q", inputs);
  CHECK(found[0] < infinity);
  CHECK(found[1] == infinity);
  CHECK(found[2] < infinity);
  CHECK(bounds_of("%x = parameter 0 : f32[4] %q = convert %x : f8e4m3fn[4] output %q", inputs) ==
        std::vector<double>{0, 0, 0, 0});
}
