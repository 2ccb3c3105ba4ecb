// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation at import: it becomes plain operations whose results are those of its definition. The oracles
// are loops in double over the definition, and for gradients its differences, which know nothing of the formulas that
// the expansion uses. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "hlo/import.h"
#include "hlo/normalise.h"
#include "reference/evaluate.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

constexpr double epsilon = 0.0625;  // a number of every type
constexpr int outer = 3, features = 4, inner = 2, each = outer * inner;

using Numbers = std::vector<double>;

int feature_of(int i) { return i / inner % features; }

/// Unlike each other, and numbers of every type that is tested.
Numbers numbers(int count, int seed) {
  Numbers found;
  for (int i = 0; i < count; ++i) found.push_back(((i * 37 + seed * 11) % 29 - 14) / 8.0 + (seed % 3) * 0.5);
  return found;
}

struct Moments {
  Numbers mean = Numbers(features), variance = Numbers(features);
};

Moments moments(const Numbers& x) {
  Moments found;
  for (int i = 0; i < outer * features * inner; ++i) found.mean[feature_of(i)] += x[i] / each;
  for (int i = 0; i < outer * features * inner; ++i)
    found.variance[feature_of(i)] += (x[i] - found.mean[feature_of(i)]) * (x[i] - found.mean[feature_of(i)]) / each;
  return found;
}

Numbers normalised(const Numbers& x, const Numbers& scale, const Numbers& offset, const Moments& with) {
  Numbers y;
  for (int i = 0; i < outer * features * inner; ++i) {
    const int f = feature_of(i);
    y.push_back((x[i] - with.mean[f]) / std::sqrt(with.variance[f] + epsilon) * scale[f] + offset[f]);
  }
  return y;
}

Tensor tensor(const Shape& shape, const Numbers& values) {
  Tensor made = zeros(shape);
  for (std::size_t i = 0; i < values.size(); ++i) store(made, static_cast<std::int64_t>(i), values[i]);
  return made;
}

/// What a module of one batch normalisation gives for these inputs.
std::vector<Numbers> results(const std::string& instruction, std::string_view type,
                             const std::vector<Numbers>& inputs) {
  std::string text = "HloModule m\n\nENTRY e {\n", operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += fmt::format("  p{} = {}[{}] parameter({})\n", i, type, inputs[i].size() > features ? "3,4,2" : "4", i);
    operands += fmt::format("{}p{}", i == 0 ? "" : ", ", i);
  }
  text += fmt::format("  ROOT n = {}({}), epsilon={}, feature_index=1\n}}\n", instruction, operands, epsilon);
  const hlo::Imported imported = hlo::import_hlo(text, "test.hlo");
  verify(imported.graph);
  CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
  for (const Node& node : imported.graph.nodes) CHECK(class_of(node.op) != OpClass::composite);
  std::vector<Tensor> given;
  for (const NodeId id : parameters(imported.graph))
    given.push_back(tensor(imported.graph[id].shape, inputs[static_cast<std::size_t>(given.size())]));
  std::vector<Numbers> found;
  for (const Tensor& one : evaluate(imported.graph, given)) {
    Numbers& values = found.emplace_back();
    for (std::int64_t i = 0; i < elements(one.shape); ++i) values.push_back(as_double(one, i));
  }
  return found;
}

void check_near(const Numbers& found, const Numbers& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])));
  }
}

const Numbers x = numbers(outer * features * inner, 1), scale = numbers(features, 2), offset = numbers(features, 3);

}  // namespace

TEST_CASE("a batch normalisation becomes plain operations that give what it stands for") {
  const Moments own = moments(x), others{numbers(features, 4), {0.5, 1, 2, 0.25}};
  for (const auto& [type, tolerance] : {std::pair{"f64", 1e-12}, {"f32", 1e-6}, {"f16", 1e-3}, {"bf16", 8e-3}}) {
    CAPTURE(type);
    const std::string whole = fmt::format("{}[3,4,2]", type), vector = fmt::format("{}[4]", type);
    const auto inference =
        results(whole + " batch-norm-inference", type, {x, scale, offset, others.mean, others.variance});
    REQUIRE(inference.size() == 1);
    check_near(inference[0], normalised(x, scale, offset, others), tolerance);
    const auto training =
        results(fmt::format("({}, {}, {}) batch-norm-training", whole, vector, vector), type, {x, scale, offset});
    REQUIRE(training.size() == 3);
    check_near(training[0], normalised(x, scale, offset, own), tolerance);
    check_near(training[1], own.mean, tolerance);
    check_near(training[2], own.variance, tolerance);
  }
}

TEST_CASE("the gradient of a batch normalisation is that of its definition") {
  const Numbers slope = numbers(outer * features * inner, 5);
  const auto weighed = [&](const Numbers& at, const Numbers& by, const Numbers& plus) {
    const Numbers y = normalised(at, by, plus, moments(at));
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += slope[i] * y[i];
    return sum;
  };
  // What the sum changes by when one number does, from both sides.
  const auto difference = [&](auto&& sum_with, Numbers values) {
    Numbers found;
    for (double& value : values) {
      const double kept = value, step = 1e-5;
      value = kept + step;
      const double above = sum_with(values);
      value = kept - step;
      found.push_back((above - sum_with(values)) / (2 * step));
      value = kept;
    }
    return found;
  };
  const Moments own = moments(x);
  const auto found =
      results("(f64[3,4,2], f64[4], f64[4]) batch-norm-grad", "f64", {x, scale, own.mean, own.variance, slope});
  REQUIRE(found.size() == 3);
  check_near(found[0], difference([&](const Numbers& at) { return weighed(at, scale, offset); }, x), 1e-6);
  check_near(found[1], difference([&](const Numbers& by) { return weighed(x, by, offset); }, scale), 1e-6);
  check_near(found[2], difference([&](const Numbers& plus) { return weighed(x, scale, plus); }, offset), 1e-6);
}

TEST_CASE("a batch normalisation that does not fit is refused with what was expected") {
  const auto refused = [](std::string_view operands, std::string_view attributes) {
    try {
      (void)hlo::import_hlo(fmt::format("HloModule m\n\nENTRY e {{\n  x = f32[3,4,2] parameter(0)\n"
                                        "  v = f32[4] parameter(1)\n  w = f32[5] parameter(2)\n"
                                        "  i = s32[3,4,2] parameter(3)\n"
                                        "  ROOT n = f32[3,4,2] batch-norm-inference({}){}\n}}\n",
                                        operands, attributes),
                            "test.hlo");
    } catch (const Error& error) {
      CHECK(error.at.line == 8);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string_view sound = ", epsilon=0.001, feature_index=1";
  CHECK(refused("x, v, v, v, v", sound) == "nothing");
  CHECK(refused("x, v, w, v, v", sound)
            .find("found 'batch-norm-inference' with f32[5], expected the dimensions of "
                  "f32[4]") != std::string::npos);
  CHECK(refused("i, v, v, v, v", sound).find("expected an array of a floating type") != std::string::npos);
  CHECK(refused("x, v, v", sound).find("with 3 operands and 1 results, expected 5 and 1") != std::string::npos);
  CHECK(refused("x, v, v, v, v", ", epsilon=0.001, feature_index=3").find("expected a dimension of f32[3,4,2]") !=
        std::string::npos);
  CHECK(refused("x, v, v, v, v", ", feature_index=1").find("with epsilon='', expected a number") != std::string::npos);
}
