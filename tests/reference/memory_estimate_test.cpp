// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation with bounds is said to hold, before it is begun: outputs of random graphs never hold more, and of
// small ones as much as is worked out here. And how far the arrays of a longer chain that nobody needs any more count.
// Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "reference/error_bound.h"
#include "support/random_graph.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

Graph graph_of_output(const std::string& lines) {
  Graph graph = parse_graph("graph g {\n  %x = parameter 0 : f32[1000]\n" + lines + "}\n");
  verify(graph);
  return graph;
}

std::int64_t outputs_of_lines(const std::string& lines) { return bytes_of_outputs(graph_of_output(lines)); }

/// exp of exp of ... of x.
Graph chain_of(int length, std::string_view outputs = "") {
  std::string lines;
  for (int i = 0; i < length; ++i)
    lines += fmt::format("  %e{} = exp {} : f32[1000]\n", i, i == 0 ? "%x" : fmt::format("%e{}", i - 1));
  return graph_of_output(
      lines + (outputs.empty() ? fmt::format("  output %e{}\n", length - 1) : fmt::format("  output {}\n", outputs)));
}

}  // namespace

TEST_CASE("outputs hold no more than is said of them, for random graphs") {
  std::int64_t held_in_all = 0, said_in_all = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = well_formed_graph(seed, 30);
    std::vector<Tensor> inputs;
    for (const NodeId id : parameters(graph)) inputs.push_back(random_tensor(graph[id].shape, seed + inputs.size()));
    std::int64_t held = 0;
    const std::vector<BoundedTensor> outputs = evaluate_with_error_bounds(graph, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (graph[graph.outputs[static_cast<int>(i)]].op == Op::parameter) continue;  // the caller's
      held += static_cast<std::int64_t>(outputs[i].value.bytes.size() + 8 * outputs[i].error.size());
    }
    CHECK(held <= bytes_of_outputs(graph));
    CHECK(bytes_of_outputs(graph) <= bytes_to_evaluate(graph));
    held_in_all += held;
    said_in_all += bytes_of_outputs(graph);
  }
  CHECK(2 * held_in_all > said_in_all);
}

TEST_CASE("an output holds its elements, and a bound for each where it is not exact") {
  CHECK(outputs_of_lines("  %y = negate %x : f32[1000]\n  output %y\n") == 4000);
  CHECK(outputs_of_lines("  %y = exp %x : f32[1000]\n  output %y\n") == 4000 + 8000);
  CHECK(outputs_of_lines("  %e = exp %x : f32[1000]\n  %y = negate %e : f32[1000]\n  output %y\n") == 4000 + 8000);
  CHECK(outputs_of_lines("  %e = exp %x : f32[1000]\n  %y = convert %e : s8[1000]\n  output %y\n") == 1000 + 8000);
  CHECK(outputs_of_lines("  %y = reshape %x : f32[10,100]\n  output %y\n") == 4000);
  CHECK(outputs_of_lines("  %y = convert %x : s64[1000]\n  output %y, %x\n") == 8000);
  CHECK(outputs_of_lines("  %z = constant 0 : f32[]\n  %y = reduce add %x, %z, axes={0} : f32[]\n  output %y\n") ==
        4 + 8);
}

TEST_CASE("arrays count while somebody needs them, and no longer") {
  const std::int64_t two = bytes_to_evaluate(chain_of(2));
  for (const int length : {3, 5, 20}) CHECK(bytes_to_evaluate(chain_of(length)) == two);
  CHECK(bytes_to_evaluate(chain_of(1)) < two);
  // All of them are outputs: each holds its own.
  CHECK(bytes_to_evaluate(chain_of(5, "%e0, %e1, %e2, %e3, %e4")) > 2 * two);
  CHECK(bytes_of_outputs(chain_of(5, "%e0, %e1, %e2, %e3, %e4")) == 5 * 12000);
  CHECK(bytes_of_outputs(chain_of(5)) == 12000);
}
