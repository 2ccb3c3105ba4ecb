// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The strongest test of the lowering: for a family of small groups at awkward sizes, every plan of the space, heuristics
// off, is lowered, verified, executed by the interpreter and compared with the reference evaluator. No access may leave
// its buffer, nothing uninitialised may be read, no race or divergent barrier may show.
// And the rules: what a sound rule drops, lower refuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "explore/rules.h"
#include "explore/space.h"
#include "ir/evaluate.h"
#include "ir/lower.h"
#include "support/group_family.h"
#include "support/interpret.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

/// A made-up GPU, small enough that persistent grids and shared-memory limits are met by small shapes.
constexpr Limits small_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 16384, 8192, 15360, 0, 128};

struct Case {
  std::string_view member;
  std::int64_t rows, columns;
};

std::vector<std::vector<std::byte>> buffers_of(const Graph& graph, std::vector<Tensor>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  std::uint64_t seed = 1;
  for (const NodeId id : parameters(graph)) {
    inputs.push_back(random_tensor(graph.nodes[static_cast<std::size_t>(id)].shape, seed++));
    buffers.push_back(inputs.back().bytes);
  }
  for (const NodeId id : graph.outputs)
    buffers.emplace_back(zeros(graph.nodes[static_cast<std::size_t>(id)].shape).bytes.size(), std::byte{0xab});
  return buffers;
}

/// Largest error over its tolerance: half the digits of the type, relative to the row's magnitude.
double worst_error(const Tensor& expected, const std::vector<std::byte>& found) {
  const Tensor result{expected.shape, found};
  const DType dtype = expected.shape.dtype;
  const double step = dtype == DType::f16 ? 1e-3 : dtype == DType::bf16 ? 8e-3 : is_floating(dtype) ? 2e-5 : 0;
  double worst = 0;
  for (std::int64_t i = 0; i < elements(expected.shape); ++i) {
    const double a = as_double(expected, i), b = as_double(result, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    worst = std::max(worst, step == 0 ? 1e9 : std::abs(a - b) / (step * (1 + std::abs(a))));
    if (std::isnan(b)) worst = 1e9;
  }
  return worst;
}

/// Lowers and runs every plan; returns how many were legal.
int check_all_plans(const Case& which, const explore::Axes* given = nullptr) {
  const Group group = make_group(family_member(which.member), which.rows, which.columns);
  const auto prepared = prepare(group);
  if (const Rejection* no = std::get_if<Rejection>(&prepared)) FAIL(no->reason);
  const Prepared& ready = std::get<Prepared>(prepared);
  std::vector<Tensor> inputs;
  const auto buffers = buffers_of(group.graph, inputs);
  const std::vector<Tensor> expected = evaluate(group.graph, inputs);
  explore::Axes axes = given ? *given : explore::default_axes(ready, small_limits);
  if (!given) {
    axes.value_cache = {true, false};
    axes.threads = {64, 256};
  }
  explore::Plans plans(ready, axes, small_limits);
  LowerScratch scratch;
  int legal = 0;
  std::map<Id, bool> seen;
  while (const auto plan = plans.next()) {
    const Lowered lowered = lower(ready, *plan, small_limits, scratch);
    const explore::Rule* rule = explore::dropped_by(ready, *plan, small_limits);
    if (rule && rule->sound && std::holds_alternative<Kernel>(lowered))
      FAIL_CHECK(fmt::format("sound rule {} drops a legal plan: {}", rule->name, text(*plan)));
    if (!std::holds_alternative<Kernel>(lowered)) continue;
    const Kernel& kernel = std::get<Kernel>(lowered);
    ++legal;
    if (!seen.emplace(id_of(kernel), true).second) continue;
    verify(kernel);
    const KernelRun run = interpret(kernel, buffers);
    CAPTURE(text(*plan));
    if (!run.problems.empty()) {
      FAIL_CHECK(run.problems[0]);
      MESSAGE(text(kernel));
      return legal;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double error = worst_error(expected[i], run.buffers[inputs.size() + i]);
      if (error > 1) {
        FAIL_CHECK(fmt::format("{} {}x{} output {}: error {} x tolerance", which.member, which.rows, which.columns, i, error));
        MESSAGE(text(kernel));
        return legal;
      }
    }
  }
  return legal;
}

}  // namespace

TEST_CASE("every plan of every row group computes what the evaluator computes") {
  for (const Case which : {Case{"softmax", 37, 77}, Case{"softmax", 5, 64}, Case{"softmax", 1, 130},
                           Case{"layernorm_f16", 9, 70}, Case{"layernorm_f16", 6, 128}, Case{"rms_residual_bf16", 7, 72},
                           Case{"rms_residual_bf16", 5, 33}, Case{"cross_entropy", 11, 50}, Case{"row_sum", 66, 32},
                           Case{"row_sum", 3, 301}, Case{"attention", 3, 20}, Case{"integer_reductions", 10, 36}}) {
    CAPTURE(which.member);
    CHECK(check_all_plans(which) > 20);
  }
}

TEST_CASE("every plan of every map group computes what the evaluator computes") {
  for (const Case which : {Case{"bias_gelu_f16", 13, 70}, Case{"bias_gelu_f16", 8, 64}, Case{"transpose_scale", 21, 34},
                           Case{"slice_reverse", 9, 40}, Case{"concatenate_pad", 5, 12}, Case{"concatenate_pad", 4, 16},
                           Case{"two_outputs", 17, 24}, Case{"two_outputs", 3, 31}}) {
    CAPTURE(which.member);
    CHECK(check_all_plans(which) > 8);
  }
}
