// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which inputs an output element comes from. The oracle changes inputs one by one: an element that is not a source of a
// marked output element may be anything without changing it, and of the sources at least one changes it. Edges that
// leave results without a bound are found and left out; the others stay. Part of the suite `reference`.
#include "reference/blame.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "reference/evaluate_cells.h"
#include "reference/inputs.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

constexpr const char* moves = R"(graph moves {
  %x = parameter 0 : f32[4,6]
  %v = parameter 1 : f32[6]
  %zero = constant 0 : f32[]
  %three = constant 3 : f32[]
  %t = transpose %x, axes={1,0} : f32[6,4]
  %p = pad %t, %three, ranges={-1:1:1, 0:2:0} : f32[11,6]
  %s = slice %p, ranges={0:10:2, 1:5:1} : f32[5,4]
  %r = reverse %s, axes={0} : f32[5,4]
  %l = slice %v, ranges={1:6:1} : f32[5]
  %b = broadcast %l, axes={0} : f32[5,4]
  %m = multiply %r, %b : f32[5,4]
  %c = concatenate %m, %b, axes={1} : f32[5,8]
  %sum = reduce add %c, %zero, axes={1} : f32[5]
  output %c, %sum
}
)";

/// Reductions that keep one, two and three dimensions, no two of one length.
constexpr const char* sums = R"(graph sums {
  %x = parameter 0 : f32[2,3,4,2]
  %y = parameter 1 : f32[3,5]
  %zero = constant 0 : f32[]
  %a = reduce add %x, %zero, axes={1} : f32[2,4,2]
  %b = reduce add %x, %zero, axes={2,3} : f32[2,3]
  %c = reduce add %x, %zero, axes={3} : f32[2,3,4]
  %d = reduce add %y, %zero, axes={0} : f32[5]
  output %a, %b, %c, %d
}
)";

std::vector<double> reals(const Tensor& tensor) {
  std::vector<double> all;
  each_real(tensor, [&](std::int64_t, double value) { all.push_back(value); });
  return all;
}

struct Seen {
  int marked = 0;   ///< elements of results
  int telling = 0;  ///< of them, those that some input changes
};

/// Marks each element of each result in turn and holds its sources against the inputs that change it.
Seen check_sources(const Graph& graph) {
  const std::vector<Tensor> inputs = sensible_inputs(graph, 3);
  const std::vector<Tensor> before = evaluate(graph, inputs);
  Seen seen;
  for (std::size_t k = 0; k < before.size(); ++k)
    for (std::size_t place = 0; place < element_count(before[k].shape); ++place) {
      CAPTURE(k);
      CAPTURE(place);
      std::vector<Marks> marks(before.size());
      marks[k].assign(element_count(before[k].shape), 0);
      marks[k][place] = 1;
      const auto sources = sources_of(graph, marks);
      REQUIRE(sources.has_value());
      REQUIRE(sources->size() == inputs.size());
      int changing = 0, of_sources = 0;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t at = 0; at < element_count(inputs[i].shape); ++at) {
          std::vector<Tensor> changed = inputs;
          store(changed[i], static_cast<std::int64_t>(at), as_double(inputs[i], static_cast<std::int64_t>(at)) + 64);
          const bool differs = reals(evaluate(graph, changed)[k])[place] != reals(before[k])[place];
          const bool source = (*sources)[i][at] != 0;
          CHECK((source || !differs));
          changing += differs ? 1 : 0;
          of_sources += source ? 1 : 0;
        }
      CHECK(changing == of_sources);
      ++seen.marked;
      seen.telling += changing > 0 ? 1 : 0;
    }
  return seen;
}

}  // namespace

TEST_CASE("sources are the inputs that change a result, and no others do") {
  const Seen moved = check_sources(parse_graph(moves));
  CHECK(moved.marked == 45);
  CHECK(moved.telling > 30);
  const Seen summed = check_sources(parse_graph(sums));
  CHECK(summed.marked == 16 + 6 + 24 + 5);
  CHECK(summed.telling == summed.marked);
}

TEST_CASE("a look-up is not followed, and says so") {
  const Graph graph = parse_graph(
      "graph g {\n  %x = parameter 0 : f32[8]\n  %i = parameter 1 : s32[]\n"
      "  %y = dynamic_slice %x, %i : f32[2]\n  output %y\n}\n");
  CHECK_FALSE(sources_of(graph, {{1, 0}}).has_value());
  CHECK(sources_of(graph, {{0, 0}}).has_value());
}

TEST_CASE("edges whose results have no bound are found, others stay among the inputs") {
  // x * x in f16 overflows there, but not in the f32 that a kernel computes in.
  const Graph graph = parse_graph(
      "graph g {\n  %x = parameter 0 : f16[8192]\n  %s = multiply %x, %x : f16[8192]\n"
      "  %c = multiply %s, %x : f16[8192]\n  %t = tanh %c : f16[8192]\n  output %t\n}\n");
  const auto unbounded = [](const BoundedTensor& one) {
    return std::count_if(one.error.begin(), one.error.end(), [](double e) { return !std::isfinite(e); });
  };
  std::vector<Tensor> inputs = sensible_inputs(graph, 1, Edges::not_finite);
  std::vector<BoundedTensor> outputs = evaluate_with_error_bounds(graph, inputs);
  REQUIRE(unbounded(outputs[0]) > 0);
  LeftOut left_out(1);
  int rounds = 0;
  while (unbounded(outputs[0]) > 0) {  // edges that were not among the inputs take the place of those left out
    REQUIRE(++rounds < 4);
    const LeftOut more = edges_without_bound(graph, inputs, outputs);
    REQUIRE(more.size() == 1);
    for (const double edge : more[0]) CHECK(std::fabs(edge) > 40);  // those of which the cube is too large
    left_out[0].insert(left_out[0].end(), more[0].begin(), more[0].end());
    inputs = sensible_inputs(graph, 1, Edges::not_finite, left_out);
    outputs = evaluate_with_error_bounds(graph, inputs);
  }
  CHECK(std::find(left_out[0].begin(), left_out[0].end(), 65504) != left_out[0].end());
  const std::vector<double> left = reals(inputs[0]);
  CHECK(std::any_of(left.begin(), left.end(), [](double x) { return std::isnan(x); }));
  CHECK(std::any_of(left.begin(), left.end(), [](double x) { return std::isinf(x); }));
  CHECK(std::any_of(left.begin(), left.end(), [](double x) { return x == 11.125; }));
  CHECK(edges_without_bound(graph, inputs, outputs).empty());
}
