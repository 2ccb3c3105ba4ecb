// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of up to four elements at import: which are written out, that they give what going through the elements
// one by one gives, and that the others stay. Every shape of up to three dimensions of one to five, every choice of
// dimensions, types, reducers, beginnings, layouts, and a region of two arrays. Numbers are small whole ones, so that
// sums are exact. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/import.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

struct Kind {
  std::string_view type, op;
  int start = 0;
  bool is_written_out = true;
};

struct Asked {
  std::vector<std::int64_t> dims;
  std::uint32_t reduced = 1;  ///< by bit, dimension 0 lowest
  Kind kind;
  bool turned = false;  ///< the array lies in the order of its dimensions, the first next to one another
  bool gone(std::size_t d) const { return (reduced >> d & 1U) != 0; }
};

std::int64_t reduced_elements(const Asked& asked) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < asked.dims.size(); ++d) count *= asked.gone(d) ? asked.dims[d] : 1;
  return count;
}

std::string text_of(const Asked& asked) {
  std::vector<std::int64_t> kept, axes, order;
  for (std::size_t d = 0; d < asked.dims.size(); ++d) {
    asked.gone(d) ? axes.push_back(static_cast<std::int64_t>(d)) : kept.push_back(asked.dims[d]);
    order.push_back(asked.turned ? std::ssize(order) : std::ssize(asked.dims) - 1 - std::ssize(order));
  }
  const auto& [type, op, start, is_written_out] = asked.kind;
  const std::string array = fmt::format("[{}]{{{}}}", fmt::join(asked.dims, ","), fmt::join(order, ","));
  return fmt::format(
      "HloModule m\nregion {{\n a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = {0}[] {1}(a, b)\n}}\n"
      "ENTRY e {{\n p = f32{2} parameter(0)\n x = {0}{2} convert(p)\n z = {0}[] constant({3})\n"
      " r = {0}[{4}] reduce(x, z), dimensions={{{5}}}, to_apply=region\n ROOT f = f32[{4}] convert(r)\n}}\n",
      type, op, array, start, fmt::join(kept, ","), fmt::join(axes, ","));
}

double combined(std::string_view op, double a, double b) {
  if (op == "add") return a + b;
  if (op == "multiply") return a * b;
  return op == "maximum" ? std::max(a, b) : std::min(a, b);
}

reference::Tensor whole_numbers(const Shape& shape, std::mt19937_64& random) {
  reference::Tensor made{shape, std::vector<std::byte>(static_cast<std::size_t>(elements(shape)) * sizeof(float))};
  for (std::size_t i = 0; i < made.bytes.size(); i += sizeof(float)) {
    const auto number = random() % 6 == 0 ? 2.F : 1.F;
    std::memcpy(&made.bytes[i], &number, sizeof number);
  }
  return made;
}

/// Going through all elements in order.
std::vector<double> expected(const Asked& asked, const reference::Tensor& array) {
  std::int64_t results = 1;
  for (std::size_t d = 0; d < asked.dims.size(); ++d) results *= asked.gone(d) ? 1 : asked.dims[d];
  std::vector<double> sums(static_cast<std::size_t>(results), asked.kind.start);
  for (std::int64_t i = 0; i < elements(array.shape); ++i) {
    std::int64_t left = i, place = 0, stride = 1;
    for (std::size_t d = asked.dims.size(); d-- > 0;) {
      if (!asked.gone(d)) place += left % asked.dims[d] * stride, stride *= asked.dims[d];
      left /= asked.dims[d];
    }
    double& sum = sums[static_cast<std::size_t>(place)];
    sum = combined(asked.kind.op, sum, as_double(array, i));
  }
  return sums;
}

bool has_reduce(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return node.op == Op::reduce; });
}

/// Whether it was written out.
bool check(const Asked& asked, std::mt19937_64& random) {
  const std::string text = text_of(asked);
  CAPTURE(text);
  const Graph graph = hlo::import_hlo(text, "test.hlo").graph;
  const reference::Tensor array = whole_numbers(graph[parameters(graph)[0]].shape, random);
  const std::vector<reference::Tensor> found = reference::evaluate(graph, std::vector<reference::Tensor>{array});
  const std::vector<double> wanted = expected(asked, array);
  REQUIRE(elements(found[0].shape) == std::ssize(wanted));
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(as_double(found[0], static_cast<std::int64_t>(i)) == wanted[i]);
  return !has_reduce(graph);
}

constexpr Kind kinds[] = {{"f32", "add", 0, false},      {"f32", "add", 5, false},
                          {"f32", "multiply", 1, false}, {"f32", "maximum", -9},
                          {"f64", "minimum", 7},         {"s32", "add", 2},
                          {"s32", "minimum", 100},       {"u8", "maximum"},
                          {"f16", "maximum", -100},      {"bf16", "minimum", 99},
                          {"bf16", "add", 0, false},     {"f16", "multiply", 1, false},
                          {"s32", "multiply", 1},        {"u32", "add"}};

}  // namespace

TEST_CASE("reductions of up to four elements are written out, and give what their elements give one by one") {
  std::mt19937_64 random(11);
  int written_out = 0, stayed = 0;
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{3}, {2, 5}, {5, 4}, {1, 3}, {2, 3, 4}, {2, 2, 7}, {4, 1, 5}, {3, 6, 2}, {6, 2, 2}})
    for (std::uint32_t reduced = 1; reduced < 1U << dims.size(); ++reduced)
      for (const Kind& kind : kinds)
        for (const bool turned : {false, true}) {
          const Asked asked{dims, reduced, kind, turned};
          const std::int64_t count = reduced_elements(asked);
          if (count == 1) continue;  // a reshape, whatever it is
          const bool is_short = check(asked, random);
          CAPTURE(text_of(asked));
          CHECK(is_short == (count <= 4 && kind.is_written_out));
          ++(is_short ? written_out : stayed);
        }
  CHECK(written_out > 300);
  CHECK(stayed > 300);
}

TEST_CASE("a region of two arrays is applied in the order of the elements, from what the text begins with") {
  std::mt19937_64 random(5);
  for (const std::int64_t columns : {2, 3, 4, 5}) {
    const std::string text = fmt::format(
        "HloModule m\nfirst {{\n a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n"
        " j = s32[] parameter(3)\n g = pred[] compare(a, b), direction=GE\n v = f32[] select(g, a, b)\n"
        " k = s32[] select(g, i, j)\n ROOT t = (f32[], s32[]) tuple(v, k)\n}}\n"
        "ENTRY e {{\n x = f32[7,{0}] parameter(0)\n n = s32[7,{0}] iota(), iota_dimension=1\n"
        " low = f32[] constant(-inf)\n none = s32[] constant(0)\n"
        " r = (f32[7], s32[7]) reduce(x, n, low, none), dimensions={{1}}, to_apply=first\n"
        " v = f32[7] get-tuple-element(r), index=0\n i = s32[7] get-tuple-element(r), index=1\n"
        " ROOT both = (f32[7], s32[7]) tuple(v, i)\n}}\n",
        columns);
    const Graph graph = hlo::import_hlo(text, "test.hlo").graph;
    CHECK(has_reduce(graph) == (columns > 4));
    const reference::Tensor array = whole_numbers(graph[parameters(graph)[0]].shape, random);
    const std::vector<reference::Tensor> found = reference::evaluate(graph, std::vector<reference::Tensor>{array});
    for (std::int64_t row = 0; row < 7; ++row) {
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < columns; ++i)
        if (as_double(array, row * columns + i) > as_double(array, row * columns + best)) best = i;
      CHECK(as_double(found[0], row) == as_double(array, row * columns + best));
      CHECK(as_double(found[1], row) == static_cast<double>(best));
    }
  }
}

TEST_CASE("a reduction of nothing, and one of an empty array, stay as they are") {
  for (const char* dims : {"[0,3]", "[3,0]"}) {
    const std::string text = fmt::format(
        "HloModule m\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}}\n"
        "ENTRY e {{\n x = f32{} parameter(0)\n z = f32[] constant(2)\n"
        " ROOT r = f32[{}] reduce(x, z), dimensions={{1}}, to_apply=sum\n}}\n",
        dims, dims[1]);
    const Graph graph = hlo::import_hlo(text, "test.hlo").graph;
    const reference::Tensor empty{graph[parameters(graph)[0]].shape, {}};
    const std::vector<reference::Tensor> found = reference::evaluate(graph, std::vector<reference::Tensor>{empty});
    CHECK(elements(found[0].shape) == dims[1] - '0');
    for (std::int64_t i = 0; i < elements(found[0].shape); ++i) CHECK(as_double(found[0], i) == 2);
  }
}

TEST_CASE("the greatest of rows that are summed too stays with their sum, and other rows do not ask for it") {
  const auto reduces = [](std::string_view dims, std::string_view along, std::string_view kept) {
    const std::string text = fmt::format(
        "HloModule m\nlarger {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b)\n}}\n"
        "sum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}}\n"
        "ENTRY e {{\n x = f32[6,3] parameter(0)\n y = f32{0} parameter(1)\n z = f32[] constant(0)\n low = f32[] "
        "constant(-inf)\n g = f32[6] reduce(x, low), dimensions={{1}}, to_apply=larger\n"
        " s = f32{2} reduce(y, z), dimensions={1}, to_apply=sum\n ROOT t = (f32[6], f32{2}) tuple(g, s)\n}}\n",
        dims, along, kept);
    const Graph graph = hlo::import_hlo(text, "test.hlo").graph;
    return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                         [](const Node& node) { return node.op == Op::reduce; });
  };
  CHECK(reduces("[6,3]", "{1}", "[6]") == 2);
  CHECK(reduces("[6,3]", "{0}", "[3]") == 1);
  CHECK(reduces("[7,3]", "{1}", "[7]") == 1);
}

TEST_CASE("a sum of products over pairs is written out, one over an array that is there stays") {
  const auto imported = [](std::string_view terms, std::string_view sums) {
    return hlo::import_hlo(
               fmt::format("HloModule m\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] "
                           "add(a, b)\n}}\nENTRY e {{\n p = f32[6,3] parameter(0)\n q = f32[5,3] parameter(1)\n"
                           " w = f32[6,5,3] parameter(2)\n z = f32[] constant(2)\n"
                           " pp = f32[6,5,3] broadcast(p), dimensions={{0,2}}\n"
                           " qq = f32[6,5,3] broadcast(q), dimensions={{1,2}}\n{}"
                           " ROOT r = f32[6,5] reduce({}, z), dimensions={{2}}, to_apply=sum\n}}\n",
                           terms, sums),
               "test.hlo")
        .graph;
  };
  const auto reduces = [](const Graph& graph) {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                         [](const Node& node) { return node.op == Op::reduce; });
  };
  const std::string difference = " d = f32[6,5,3] subtract(pp, qq)\n";
  const std::string square = difference + " s = f32[6,5,3] multiply(d, d)\n";
  const Graph distances = imported(square, "s");
  CHECK(reduces(distances) == 0);
  CHECK(reduces(imported(" s = f32[6,5,3] multiply(pp, qq)\n", "s")) == 0);
  CHECK(reduces(imported(difference, "d")) == 1);  // exact terms, whose order of additions shows
  CHECK(reduces(imported(" s = f32[6,5,3] multiply(pp, w)\n", "s")) == 1);
  CHECK(reduces(imported(difference + " v = f32[6,5,3] multiply(d, w)\n s = f32[6,5,3] multiply(v, d)\n", "s")) == 1);
  std::vector<reference::Tensor> inputs;
  for (const NodeId id : parameters(distances)) {
    inputs.push_back(reference::zeros(distances[id].shape));
    for (std::int64_t i = 0; i < elements(distances[id].shape); ++i)
      store(inputs.back(), i, static_cast<double>((7 * i + 3 * std::ssize(inputs)) % 11));
  }
  const reference::Tensor found = reference::evaluate(distances, inputs).front();
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t j = 0; j < 5; ++j) {
      double sum = 2;
      for (std::int64_t k = 0; k < 3; ++k) {
        const double apart = as_double(inputs[0], 3 * i + k) - as_double(inputs[1], 3 * j + k);
        sum += apart * apart;
      }
      CHECK(as_double(found, 5 * i + j) == sum);
    }
}
