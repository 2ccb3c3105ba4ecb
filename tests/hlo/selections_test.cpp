// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of maxima over windows, at import: what each window selects goes where it should, for windows that overlap,
// leave gaps, reach over the border or see only what stands around it. The oracle is the reference on the one
// instruction, bit for bit. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"
#include "hlo/import.h"
#include "hlo/normalise.h"
#include "ir/graph/number.h"
#include "reference/evaluate.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

struct SelectionAlong {
  std::int64_t length = 1, size = 1, stride = 1, low = 0, high = 0;
  std::int64_t windows() const { return (length + low + high - size) / stride + 1; }
};

struct SelectionCase {
  std::string type = "f32";
  std::string_view direction = "GE", hlo_combine = "add", combine = "add";
  bool swapped = false;
  std::vector<SelectionAlong> along;

  std::string dims(bool of_windows) const {
    std::vector<std::int64_t> all;
    for (const SelectionAlong& one : along) all.push_back(of_windows ? one.windows() : one.length);
    return fmt::format("{}[{}]", type, fmt::join(all, ","));
  }
  std::string window() const {
    std::vector<std::string> sizes, strides, pads;
    for (const SelectionAlong& one : along) {
      sizes.push_back(fmt::format("{}", one.size));
      strides.push_back(fmt::format("{}", one.stride));
      pads.push_back(fmt::format("{}_{}", one.low, one.high));
    }
    return fmt::format("{{size={} stride={} pad={}}}", fmt::join(sizes, "x"), fmt::join(strides, "x"),
                       fmt::join(pads, "x"));
  }
  std::string hlo() const {
    return fmt::format(
        "HloModule m\n\nk {{\n  p = {0}[] parameter(0)\n  q = {0}[] parameter(1)\n  ROOT c = pred[] compare({1}), "
        "direction={2}\n}}\n\nc {{\n  p = {0}[] parameter(0)\n  q = {0}[] parameter(1)\n  ROOT s = {0}[] {3}(p, "
        "q)\n}}\n\nENTRY e {{\n  x = {4} parameter(0)\n  w = {5} parameter(1)\n  i = {0}[] parameter(2)\n  ROOT y = "
        "{4} "
        "select-and-scatter(x, w, i), window={6}, select=k, scatter=c\n}}\n",
        type, swapped ? "q, p" : "p, q", direction, hlo_combine, dims(false), dims(true), window());
  }
  std::string graph() const {
    std::string word(direction);
    for (char& letter : word) letter = static_cast<char>(letter + ('a' - 'A'));
    return fmt::format(
        "graph m {{\n  graph k {{\n    %p = parameter 0 : {0}[]\n    %q = parameter 1 : {0}[]\n    %c = compare {1} "
        "{2} "
        ": pred[]\n    output %c\n  }}\n  %x = parameter 0 : {4}\n  %w = parameter 1 : {5}\n  %i = parameter 2 : "
        "{0}[]\n"
        "  %y = select_and_scatter {3} %x, %w, %i, text=\"window={6}\", bodies={{0}} : {4}\n  output %y\n}}\n",
        type, word, swapped ? "%q, %p" : "%p, %q", combine, dims(false), dims(true), window());
  }
};

/// Small numbers, so that many are equal; of floats also what compares in its own way.
Tensor drawn_tensor(const Shape& shape, std::mt19937_64& random) {
  Tensor tensor = zeros(shape);
  const std::size_t bytes = static_cast<std::size_t>(row(shape.dtype).bits) / 8;
  const double odd[] = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN(), -0.0};
  for (std::size_t k = 0; (k + 1) * bytes <= tensor.bytes.size(); ++k) {
    const std::int64_t small = static_cast<std::int64_t>(random() % 7) - 3;
    std::uint64_t bits = static_cast<std::uint64_t>(small);
    if (is_floating(shape.dtype))
      bits = encode(shape.dtype, random() % 8 == 0 ? odd[random() % 4] : static_cast<double>(small) / 2);
    std::memcpy(tensor.bytes.data() + k * bytes, &bits, bytes);
  }
  return tensor;
}

/// Where windows add nothing a NaN that stands there is still added to, which may change its bits.
bool same_but_nans(const Tensor& a, const Tensor& b) {
  const DType dtype = a.shape.dtype;
  const std::size_t bytes = static_cast<std::size_t>(row(dtype).bits) / 8;
  for (std::size_t k = 0; k < a.bytes.size(); k += bytes) {
    std::uint64_t left = 0, right = 0;
    std::memcpy(&left, a.bytes.data() + k, bytes);
    std::memcpy(&right, b.bytes.data() + k, bytes);
    const bool both_nan = is_floating(dtype) && std::isnan(decode(dtype, left)) && std::isnan(decode(dtype, right));
    if (left != right && !both_nan) return false;
  }
  return a.bytes.size() == b.bytes.size();
}

SelectionAlong drawn_along(std::mt19937_64& random) {
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  SelectionAlong one{1 + below(7), 1 + below(4), 1 + below(4), 0, 0};
  if (random() % 2 == 0) one.low = below(4), one.high = below(4);
  one.high += std::max<std::int64_t>(0, one.size - one.length - one.low - one.high);
  return one;
}

struct CombineWords {
  std::string_view hlo, graph;
};

}  // namespace

TEST_CASE("what windows select gets what they are worth, as one instruction gives it") {
  std::mt19937_64 random(11);
  int overlapping = 0, reaching = 0, apart = 0;
  for (int round = 0; round < 600; ++round) {
    SelectionCase one;
    one.type = std::array{"f32", "bf16", "s32", "u8", "f64"}[random() % 5];
    one.direction = std::array<std::string_view, 4>{"GE", "GT", "LE", "LT"}[random() % 4];
    CombineWords words = std::array<CombineWords, 4>{
        {{"add", "add"}, {"add", "add"}, {"maximum", "max"}, {"multiply", "multiply"}}}[random() % 4];
    // The reference rounds a sum of several windows to bf16 once, where additions of bf16 round each time.
    if (one.type == "bf16") words = {"maximum", "max"};
    one.hlo_combine = words.hlo;
    one.combine = words.graph;
    one.swapped = random() % 4 == 0;
    const std::size_t rank = 1 + random() % 4;
    std::int64_t taps = 1;
    while (one.along.size() < rank) {
      one.along.push_back(random() % 4 == 0 ? SelectionAlong{3} : drawn_along(random));
      taps *= one.along.back().size;
    }
    if (taps > 64) continue;
    CAPTURE(one.hlo());
    const hlo::Imported imported = hlo::import_hlo(one.hlo(), "test.hlo");
    verify(imported.graph);
    CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
    for (const Node& node : imported.graph.nodes) REQUIRE(node.op != Op::select_and_scatter);
    CHECK(imported.graph[imported.graph.outputs[0]].name == "y");
    std::vector<Tensor> given;
    for (const NodeId id : parameters(imported.graph)) given.push_back(drawn_tensor(imported.graph[id].shape, random));
    const Graph plain = parse_graph(one.graph());
    verify(plain);
    CHECK(same_but_nans(evaluate(imported.graph, given)[0], evaluate(plain, given)[0]));
    for (const SelectionAlong& along : one.along) {
      overlapping += along.size > along.stride;
      reaching += along.low + along.high > 0;
      apart += along.size < along.stride;
    }
  }
  MESSAGE(overlapping, " dimensions with windows that overlap, ", apart, " apart, ", reaching, " over the border");
  CHECK(std::min({overlapping, apart, reaching}) > 100);
}

TEST_CASE("gradients of windows that are no comparison, too large or dilated stay as they are") {
  SelectionCase plain;
  plain.along = {{9, 3, 2, 1, 1}};
  SelectionCase large = plain;
  large.along = {{90, 65, 2, 0, 0}};
  std::string other = plain.hlo(), dilated = plain.hlo();
  other.replace(other.find("add(p, q)"), 9, "power(p, q)");
  dilated.replace(dilated.find("pad=1_1"), 7, "pad=1_1 rhs_dilate=1 lhs_dilate=1 rhs_reversal=1");
  for (const std::string& text : {large.hlo(), other, dilated}) {
    CAPTURE(text);
    const hlo::Imported imported = hlo::import_hlo(text, "test.hlo");
    CHECK(std::count_if(imported.graph.nodes.begin(), imported.graph.nodes.end(),
                        [](const Node& node) { return node.op == Op::select_and_scatter; }) == 1);
  }
}

TEST_CASE("regions that do not select, or do not combine, are refused by name") {
  SelectionCase plain;
  plain.along = {{9, 3, 2, 1, 1}};
  std::string turned = plain.hlo();
  turned.replace(turned.find("select=k, scatter=c"), 19, "select=c, scatter=k");
  CHECK_THROWS_WITH_AS(hlo::import_hlo(turned, "test.hlo"),
                       doctest::Contains("region c, expected one of two f32[] that gives a pred[]"), Error);
}
