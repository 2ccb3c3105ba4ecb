// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions that arrive in steps are one in a kernel. For seeded pairs of every reducer, type and place, with views
// between: what is folded is lowered as one reduction in one phase, and every plan of the small groups computes what
// the steps compute one after another, within the reference's own error bounds. Nothing is folded where another start,
// another reader, an output or another reducer stands between; and three steps are one where two of them alone are not.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "explore/plans/walk.h"
#include "ir/graph/split_reduction.h"
#include "reference/error_bound.h"
#include "reference/memory_layout.h"
#include "support/cells.h"
#include "support/interpret.h"
#include "support/split_graph.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits tiny_gpu{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 8192, 15360, 0, 128};

Group as_group(Graph graph) {
  Group group;
  group.graph = std::move(graph);
  group.id = id_of(std::string_view(canonical_text(group.graph)));
  return group;
}

/// Plans that ran; none when the group has no skeleton. Each is held against the graph as it is, steps and all.
int run_plans(const codegen::Prepared& prepared, std::uint64_t one_in) {
  const Graph& graph = prepared.group->graph;
  std::vector<reference::Tensor> inputs;
  std::vector<std::vector<std::byte>> buffers;
  for (const NodeId id : parameters(graph)) {
    inputs.push_back(reference::random_tensor(graph[id].shape, inputs.size() + 1));
    reference::to_memory(inputs.back(), buffers.emplace_back(reference::memory_bytes(graph[id].shape)));
  }
  const std::size_t first = buffers.size();
  for (const NodeId id : graph.outputs)
    buffers.emplace_back(reference::zeros(graph[id].shape).bytes.size(), std::byte{0xab});
  const std::vector<reference::BoundedTensor> expected = reference::evaluate_with_error_bounds(graph, inputs);
  codegen::LowerScratch scratch;
  const explore::Axes axes = explore::default_axes(prepared, tiny_gpu);
  explore::Plans plans(prepared, axes, tiny_gpu);
  int runs = 0;
  std::uint64_t number = 0;
  while (const auto plan = plans.next()) {
    if ((++number * 0x9e3779b97f4a7c15ULL >> 33) % one_in != 0) continue;
    const codegen::Lowered lowered = lower(prepared, *plan, tiny_gpu, scratch);
    const auto* kernel = std::get_if<Kernel>(&lowered);
    if (kernel == nullptr) continue;
    INFO(text(*plan));
    std::vector<std::vector<std::byte>> all = buffers;
    for (const Buffer& own : kernel->buffers)
      if (own.role == BufferRole::workspace || own.role == BufferRole::ticket)
        all.emplace_back(static_cast<std::size_t>(own.elements * row(own.dtype).bits / 8));
    const KernelRun run = interpret(*kernel, std::move(all));
    REQUIRE(run.violations.empty());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const reference::Tensor found = reference::from_memory(expected[i].value.shape, run.buffers[first + i]);
      for (std::int64_t k = 0; k < elements(found.shape); ++k) {
        const double wanted = reference::as_double(expected[i].value, k), value = reference::as_double(found, k);
        const double bound = expected[i].error.empty() ? 0 : expected[i].error[static_cast<std::size_t>(k)];
        REQUIRE((wanted == value || std::fabs(wanted - value) <= bound));
      }
    }
    ++runs;
  }
  return runs;
}

/// Bounds of the steps, which checks use, allow for every order in which the whole may be added up.
void check_bounds(const Graph& steps, const Graph& whole) {
  std::vector<reference::Tensor> inputs;
  for (const NodeId id : parameters(steps)) inputs.push_back(reference::random_tensor(steps[id].shape, 7));
  const auto of_steps = reference::evaluate_with_error_bounds(steps, inputs);
  const auto of_whole = reference::evaluate_with_error_bounds(whole, inputs);
  for (std::size_t i = 0; i < of_whole.size(); ++i) {
    REQUIRE(of_steps[i].error.size() == of_whole[i].error.size());
    for (std::size_t k = 0; k < of_whole[i].error.size(); ++k)
      REQUIRE(of_steps[i].error[k] >= of_whole[i].error[k] * (1 - 1e-9));
  }
}

int reductions(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes) count += node.op == Op::reduce ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("two steps of a reduction are lowered as one and compute what the steps compute") {
  int folded = 0, runs = 0;
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(120, 600); ++seed) {
    const SplitGraph made = split_graph(seed, Apart::none);
    CAPTURE(seed);
    CAPTURE(made.what);
    const Group group = as_group(made.graph);
    const auto prepared = codegen::prepare(group);
    CHECK(ir::folded(group.graph).has_value() == made.folds);
    CHECK(std::holds_alternative<codegen::Prepared>(prepared) == made.folds);
    if (!made.folds || !std::holds_alternative<codegen::Prepared>(prepared)) continue;
    const auto& ready = std::get<codegen::Prepared>(prepared);
    CHECK(reductions(*ready.graph) == 1);
    CHECK(reductions(group.graph) == 2);
    std::size_t in_phases = 0;
    for (const codegen::Phase& phase : ready.phases) in_phases += phase.reductions.size();
    CHECK(in_phases == 1);
    verify(*ready.graph);
    check_bounds(group.graph, *ready.graph);
    ++folded;
    runs += run_plans(ready, testing::effort<std::uint64_t>(29, 3));
  }
  CHECK(folded > 60);
  CHECK(runs > 500);
}

TEST_CASE("steps with another start, another reader, an output or another reducer between stay apart") {
  for (const Apart apart : {Apart::start, Apart::read_twice, Apart::output, Apart::reducer})
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
      const SplitGraph made = split_graph(seed, apart);
      CAPTURE(seed);
      CAPTURE(made.what);
      CHECK(!ir::folded(made.graph));
    }
}

TEST_CASE("three steps are one, and a view that cuts a dimension is no step by itself") {
  const std::string text = R"(graph three {
  %x = parameter 0 : f32[12,5]
  %z = constant 0 : f32[]
  %a = reduce add %x, %z, axes={1} : f32[12]
  %v = bitcast %a : f32[4,3]
  %b = reduce add %v, %z, axes={1} : f32[4]
  %c = reduce add %b, %z, axes={0} : f32[]
  output OUT
})";
  const auto with = [&](const std::string& output) {
    std::string whole = text;
    whole.replace(whole.find("OUT"), 3, output);
    return parse_graph(whole);
  };
  const Group group = as_group(with("%c"));
  const auto prepared = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
  const auto& ready = std::get<codegen::Prepared>(prepared);
  CHECK(ready.rows == 1);
  CHECK(ready.columns == 60);
  CHECK(reductions(*ready.graph) == 1);
  CHECK(run_plans(ready, 7) > 10);
  CHECK(!ir::folded(with("%b")));                       // {1} of [4,3] takes a part of each 12
  CHECK(reductions(*ir::folded(with("%a, %c"))) == 2);  // the last two alone: 4 x 3 of what is written
}
