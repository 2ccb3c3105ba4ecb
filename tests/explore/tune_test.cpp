// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What choosing plans promises. In: softmaxes of every small width. Out: whether each has plans, and whether rules that
// gave way were needed. Row widths just beyond a power of two leave lanes idle and accesses narrow whatever the plan,
// so these are the widths at which heuristics agree to drop everything.
#include <doctest/doctest.h>

#include <cmath>

#include "codegen/lower/prepare.h"
#include "costmodel/model.h"
#include "explore/rules.h"
#include "explore/space.h"
#include "explore/tune.h"
#include "support/group_family.h"

using namespace tailor;

namespace {

costmodel::CalibratedDevice example_device() {
  const std::string data = TAILOR_SOURCE_DIR "/data";
  return costmodel::calibrated(ir::find_device("h200", data + "/devices"),
                               ir::read_calibration(data + "/calibrations/uncalibrated.json"));
}

/// Whether all rules together leave a plan.
bool heuristics_agree(const codegen::Prepared& prepared, const explore::Axes& axes, const ir::Limits& limits) {
  explore::Plans plans(prepared, axes, limits);
  while (const auto plan = plans.next())
    if (explore::dropped_by(prepared, *plan, limits) == nullptr) return true;
  return false;
}

}  // namespace

TEST_CASE("heuristics leave a plan of every width, and give way only where they would not") {
  const costmodel::CalibratedDevice device = example_device();
  int gave_way = 0;
  for (const char* member : {"softmax", "rms_residual_bf16"})
    for (std::int64_t columns = 1; columns <= 100; ++columns) {
      CAPTURE(member);
      CAPTURE(columns);
      const ir::Group group = ir::make_group(ir::family_member(member), 64, columns);
      const auto prepared = codegen::prepare(group);
      REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
      const auto& ready = std::get<codegen::Prepared>(prepared);
      const explore::Axes axes = explore::default_axes(ready, device.limits);
      explore::TuneOptions options;
      options.max_plans = 20;
      const explore::Tuned tuned = explore::tune(ready, axes, device, options);
      CHECK(!tuned.ranked.empty());
      if (heuristics_agree(ready, axes, device.limits)) {
        for (const explore::Scored& one : tuned.ranked)
          CHECK(explore::dropped_by(ready, one.plan, device.limits) == nullptr);
        continue;
      }
      ++gave_way;
      for (const explore::Scored& one : tuned.ranked) {
        const explore::Rule* rule = explore::dropped_by(ready, one.plan, device.limits);
        CHECK((rule != nullptr && !rule->sound));
      }
    }
  CHECK(gave_way > 0);
}

TEST_CASE("of plans that the model cannot tell apart the one with the usual block comes first") {
  const costmodel::CalibratedDevice device = example_device();
  const auto nanoseconds = [](const explore::Scored& one) { return std::llround(one.estimate.total.value * 1e9); };
  const auto issue = [](const explore::Scored& one) { return row_for(one.estimate.parts, ir::Part::issue).value; };
  struct Row {
    const char* member;
    std::int64_t rows, columns;
    int usual;
  };
  int decided = 0;  // plans with other blocks that tie with the first
  for (const Row& row :
       {Row{"softmax", 4096, 1024, 128}, Row{"softmax", 512, 8192, 256}, Row{"layernorm_f16", 4096, 768, 128},
        Row{"bias_gelu_f16", 4096, 3072, 256}, Row{"rms_residual_bf16", 4096, 2048, 128}}) {
    CAPTURE(row.member);
    CAPTURE(row.columns);
    const ir::Group group = ir::make_group(ir::family_member(row.member), row.rows, row.columns);
    const auto prepared = codegen::prepare(group);
    REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
    const auto& ready = std::get<codegen::Prepared>(prepared);
    const explore::Axes axes = explore::default_axes(ready, device.limits);
    CHECK(axes[ir::PlanField::threads].front() == row.usual);
    const explore::Tuned tuned = explore::tune(ready, axes, device, {});
    REQUIRE(!tuned.ranked.empty());
    const explore::Scored& best = tuned.ranked.front();
    for (const explore::Scored& one : tuned.ranked) {
      if (nanoseconds(one) != nanoseconds(best) || issue(one) != issue(best)) break;
      if (one.plan.threads == row.usual) CHECK(best.plan.threads == row.usual);
      decided += best.plan.threads == row.usual && one.plan.threads != row.usual ? 1 : 0;
    }
  }
  CHECK(decided > 0);
}

TEST_CASE(
    "of a space without a plan the rule is named that holds against all of it, not the one that was asked first") {
  const costmodel::CalibratedDevice device = example_device();
  for (const char* member : {"softmax", "layernorm_f16", "bias_gelu_f16"}) {
    CAPTURE(member);
    const ir::Group group = ir::make_group(ir::family_member(member), 4096, 1024);
    const auto prepared = codegen::prepare(group);
    REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
    const auto& ready = std::get<codegen::Prepared>(prepared);
    explore::Axes axes = explore::default_axes(ready, device.limits);
    axes[ir::PlanField::threads] = {65};
    explore::Tuned tuned = explore::tune(ready, axes, device, {});
    CHECK(tuned.ranked.empty());
    REQUIRE(tuned.rejections.size() == 1);
    CHECK(tuned.rejections[0].rule == "threads");
    CHECK(tuned.rejections[0].plans == tuned.enumerated);
    CHECK(tuned.rejections[0].reason == "65 threads are no whole number of warps of 32");
    // Two axes that each rule out a part: no rule holds against all.
    axes[ir::PlanField::threads] = {128, 2048};
    axes[ir::PlanField::vector] = {3};
    tuned = explore::tune(ready, axes, device, {});
    CHECK(tuned.ranked.empty());
    std::int64_t plans = 0;
    for (const explore::RejectedPlans& one : tuned.rejections) plans += one.plans;
    CHECK(plans == tuned.enumerated);
    axes[ir::PlanField::threads] = {128};
    axes[ir::PlanField::vector] = {1};
    CHECK_FALSE(explore::tune(ready, axes, device, {}).ranked.empty());
  }
}
