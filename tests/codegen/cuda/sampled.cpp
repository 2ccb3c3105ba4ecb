// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A greedy cover of pairs. 40 plans of the space are drawn for each that is wanted; each is lowered in turn and taken
// when it shows a pair of axis values that no plan taken before had. Besides the plan's own axes a pair may use what
// lowering made of it: dynamic shared memory, and whether the kernel may be launched twice.
#include "codegen/cuda/sampled.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "codegen/lower/prepare.h"
#include "explore/plans/walk.h"

namespace tailor::ir {

using namespace codegen;

namespace {

std::array<int, 13> axis_values(const Prepared& prepared, const Plan& plan, const Kernel& kernel) {
  return {plan.dominant,
          plan.threads,
          plan.threads_per_row,
          plan.vector,
          plan.in_flight * plan.unroll,
          plan.split,
          static_cast<int>(codegen::word_for(prepared, plan.homes).value_or(HomesWord{})),
          static_cast<int>(plan.grid),
          plan.index_cache ? 1 : 0,
          plan.value_cache ? 1 : 0,
          static_cast<int>(plan.arithmetic),
          kernel.dynamic_shared ? 1 : 0,
          is_idempotent(kernel) ? 1 : 0};
}

/// At most `count` plans of the space, each as likely as any other and in random order. Spaces have a million plans and
/// a plan is large, so those that are not drawn are not kept (a reservoir).
std::vector<Plan> drawn(const Prepared& prepared, const explore::Axes& axes, const Limits& limits, std::size_t count,
                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Plan> plans;
  explore::Plans walk(prepared, axes, limits);
  std::size_t walked = 0;
  while (const std::optional<Plan> plan = walk.next()) {
    const std::size_t place = std::uniform_int_distribution<std::size_t>(0, walked++)(random);
    if (plans.size() < count)
      plans.push_back(*plan);
    else if (place < count)
      plans[place] = *plan;
  }
  std::shuffle(plans.begin(), plans.end(), random);
  return plans;
}

}  // namespace

std::vector<Sampled> sampled_plans(const Prepared& prepared, const Limits& limits, int count, std::uint64_t seed) {
  explore::Axes axes = explore::default_axes(prepared, limits);
  axes[PlanField::index_cache] = {1, 0};
  axes[PlanField::value_cache] = {1, 0};
  axes[PlanField::arithmetic] = {1, 2, 0};
  const std::vector<Plan> plans = drawn(prepared, axes, limits, 40 * static_cast<std::size_t>(count), seed);
  std::vector<Sampled> taken;
  std::set<std::array<int, 4>> seen;
  codegen::LowerScratch scratch;
  for (std::size_t i = 0; i < plans.size() && static_cast<int>(taken.size()) < count; ++i) {
    codegen::Lowered lowered = lower(prepared, plans[i], limits, scratch);
    if (!std::holds_alternative<Kernel>(lowered)) continue;
    Kernel& kernel = std::get<Kernel>(lowered);
    const auto values = axis_values(prepared, plans[i], kernel);
    const std::size_t before = seen.size();
    for (int a = 0; a < static_cast<int>(values.size()); ++a)
      for (int b = 0; b < a; ++b)
        seen.insert({a, values[static_cast<std::size_t>(a)], b, values[static_cast<std::size_t>(b)]});
    if (seen.size() > before) taken.push_back({plans[i], std::move(kernel)});
  }
  return taken;
}

const std::vector<Sized>& small_sizes() {
  static const std::vector<Sized> sizes = {
      {"softmax", 37, 77},
      {"layernorm_f16", 9, 70},
      {"rms_residual_bf16", 7, 72},
      {"cross_entropy", 11, 50},
      {"row_sum", 3, 301},
      {"full_loss", 9, 140},
      {"row_statistics_f16", 3, 301},
      {"integer_extremes", 2, 150},
      {"attention", 3, 20},
      {"integer_reductions", 10, 36},
      {"bias_gelu_f16", 13, 70},
      {"transpose_scale", 21, 34},
      {"slice_reverse", 9, 40},
      {"concatenate_pad", 5, 12},
      {"two_outputs", 17, 24},
      {"softmax", 5, 64},
      {"layernorm_f16", 6, 128},
      {"bias_gelu_f16", 8, 64},
      {"concatenate_pad", 4, 16},
      {"pad_between", 5, 13},
      {"column_sum", 37, 77},
      {"bias_gradient_bf16", 19, 40},
      {"column_statistics_f16", 13, 8},
      {"batched_columns", 23, 20},
      {"turned_columns", 11, 12},
      {"columns_between", 9, 24},
      {"two_runs", 6, 20},
      {"column_softmax", 21, 36},
  };
  return sizes;
}

const std::vector<Sized>& model_sizes() {
  static const std::vector<Sized> sizes = {
      {"softmax", 4096, 768},
      {"layernorm_f16", 4096, 768},
      {"layernorm_f16", 8192, 3072},
      {"rms_residual_bf16", 8192, 3072},
      {"cross_entropy", 64, 30000},
      {"row_sum", 750000, 32},
      {"full_loss", 4096, 2500},
      {"row_statistics_f16", 4, 1000001},
      {"softmax", 64, 30000},
      {"attention", 512, 128},
      {"integer_reductions", 4096, 768},
      {"bias_gelu_f16", 8192, 3072},
      {"bias_gelu_f16", 750000, 4096},
      {"transpose_scale", 4096, 768},
      {"slice_reverse", 4096, 768},
      {"concatenate_pad", 4096, 768},
      {"pad_between", 4096, 768},
      {"two_outputs", 70000, 32768},
      {"column_sum", 65536, 128},
      {"bias_gradient_bf16", 16384, 3072},
      {"column_statistics_f16", 32768, 256},
      {"batched_columns", 128, 4096},
      {"column_softmax", 512, 4096},
  };
  return sizes;
}

}  // namespace tailor::ir
