// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What choosing plans promises: every softmax of a small width has plans, ties are broken in one order, and a short
// list is diverse. Row widths just beyond a power of two leave lanes idle and accesses narrow whatever the plan, so
// these are the widths at which heuristics agree to drop everything.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/lower/lower.h"
#include "codegen/lower/prepare.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "explore/plans/refused_plans.h"
#include "explore/plans/rule_terms.h"
#include "explore/plans/rules.h"
#include "explore/plans/tiling.h"
#include "explore/plans/tune.h"
#include "explore/plans/usual.h"
#include "explore/plans/walk.h"
#include "support/group_family.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

costmodel::CalibratedDevice example_device() {
  const std::string data = source_folder() + "/data";
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

/// Windows of 32 over a row and `taps` more of them, 32 apart: an element of the result needs 32 times as many of %x.
ir::Group windows_over_windows(std::int64_t taps, std::string_view pad, std::string_view also) {
  const std::int64_t once = 2048 - 31, twice = once - 32 * (taps - 1) + (pad.empty() ? 0 : 512);
  const std::string text = fmt::format(R"(graph g {{
  %x = parameter 0 : f32[4,2048]
  %z = constant 0 : f32[]
  %t = tanh %x : f32[4,2048]
  %w = reduce_window add %t, %z, text="window={{size=1x32}}" : f32[4,{0}]
  %e = exp %w : f32[4,{0}]
  %y = reduce_window add %e, %z, text="window={{size=1x{1}{2} rhs_dilate=1x32}}" : f32[4,{3}]
  %s = multiply %y, %y : f32[4,{3}]
{4}}}
)",
                                       once, taps, pad, twice,
                                       also.empty() ? "  output %s\n"
                                                    : fmt::format("  %r = reduce add %s, %z, axes={{1}} : f32[4]\n"
                                                                  "  output %r{}\n",
                                                                  also));
  return ir::make_group({"windows", text}, 1, 1);
}

}  // namespace

TEST_CASE("plans that differ in how a loop is dealt out are too large together" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const ir::Limits limits = example_device().limits;
  int large = 0, fits = 0;
  for (const std::int64_t taps : {16, 17})
    for (const char* pad : {"", " pad=0_0x256_256"})
      for (const char* also : {"", ", %s"}) {
        const ir::Group group = windows_over_windows(taps, pad, also);
        const auto ready = codegen::prepare(group);
        const auto* prepared = std::get_if<codegen::Prepared>(&ready);
        if (prepared == nullptr || !prepared->bodies.empty()) continue;
        CAPTURE(taps);
        CAPTURE(pad);
        CAPTURE(also);
        codegen::LowerScratch scratch;
        // Whether it is too large; nothing where something else is said, before the expression is written.
        const auto is_large = [&](const ir::Plan& plan) -> std::optional<bool> {
          const codegen::Lowered lowered = codegen::lower(*prepared, plan, limits, scratch);
          const auto* refused = std::get_if<ir::Rejection>(&lowered);
          if (refused != nullptr && refused->rule != "size") return std::nullopt;
          return refused != nullptr;
        };
        explore::Plans plans(*prepared, explore::default_axes(*prepared, limits), limits, {});
        const std::int64_t apart = 1 + plans.size() / testing::effort(11, 211);
        for (std::int64_t i = 0; const auto plan = plans.next(); ++i) {
          if (i % apart != 0) continue;
          const std::optional<bool> one = is_large(*plan), other = is_large(explore::without_dealing(*plan));
          if (!one || !other) continue;
          (*one ? large : fits) += 1;
          CHECK_MESSAGE(*one == *other, text(*plan));
        }
      }
  CHECK(large > 5);
  CHECK(fits > 5);
}

TEST_CASE("what is too large for a kernel is lowered a few times, however many plans and rules there are") {
  const costmodel::CalibratedDevice device = example_device();
  const ir::Group group = windows_over_windows(17, "", "");
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  const explore::Axes axes = explore::default_axes(prepared, device.limits);
  const explore::Tuned tuned = explore::tune(prepared, axes, device, {});
  CHECK(tuned.ranked.empty());
  REQUIRE(tuned.rejections.size() == 1);
  CHECK(tuned.rejections[0].rule == "size");
  CHECK(tuned.rejections[0].plans == tuned.enumerated);
  CHECK(tuned.enumerated > 50);
  const std::size_t ways = axes[ir::PlanField::dominant].size() * axes[ir::PlanField::vector].size();
  CHECK(tuned.lowerings <= static_cast<std::int64_t>(ways));
  explore::TuneOptions in_passing = explore::in_passing(explore::plans_in_passing, {});
  CHECK(explore::tune(prepared, axes, device, in_passing).lowerings <= static_cast<std::int64_t>(ways));
  in_passing.max_plans = 8;
  CHECK(explore::tune(prepared, axes, device, in_passing).lowerings <= 8);
}

TEST_CASE("heuristics leave a plan of every width, and give way only where they would not") {
  const costmodel::CalibratedDevice device = example_device();
  int gave_way = 0;
  for (const char* member : {"softmax", "rms_residual_bf16"})
    for (std::int64_t columns = 1; columns <= 100; columns += testing::effort(13, 5, 1)) {
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

namespace {

/// So many arrays side by side, and the cosine of each or of all.
ir::Group joined_cosines(int pieces, bool of_each) {
  std::string nodes, names;
  for (int i = 0; i < pieces; ++i) {
    nodes += fmt::format("  %p{0} = parameter {0} : f32[64,256]\n", i);
    if (of_each) nodes += fmt::format("  %c{0} = cos %p{0} : f32[64,256]\n", i);
    names += fmt::format("{}%{}{}", i == 0 ? "" : ", ", of_each ? 'c' : 'p', i);
  }
  const std::string type = fmt::format("f32[64,{}]", 256 * pieces);
  nodes += fmt::format("  %all = concatenate {}, axes={{1}} : {}\n", names, type);
  if (!of_each) nodes += fmt::format("  %c = cos %all : {}\n", type);
  return {ir::parse_graph(fmt::format("graph g {{\n{}  output {}\n}}\n", nodes, of_each ? "%all" : "%c"))};
}

/// Kernels of a group by what they hold, in instructions.
struct CodeSeen {
  std::int64_t kept = 0, dropped = 0;  ///< plans
  std::int64_t longest_kept = 0, longest = 0;
};

/// Of all plans of blocks of 64 threads; others have the same code. What is long is held against what rules take it
/// for.
CodeSeen code_of_plans(const ir::Group& group) {
  const costmodel::CalibratedDevice device = example_device();
  const auto prepared = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
  const auto& ready = std::get<codegen::Prepared>(prepared);
  const explore::Axes axes = explore::default_axes(ready, device.limits);
  codegen::LowerScratch scratch;
  CodeSeen seen;
  for (const codegen::Prepared* one : codegen::structures_of(ready)) {
    explore::Plans plans(*one, explore::axes_of_structure(ready, *one, axes, device.limits), device.limits,
                         explore::rules().first(explore::sound_rules()));
    while (const auto plan = plans.next()) {
      if (plan->threads != 64) continue;
      const codegen::Lowered lowered = codegen::lower(*one, *plan, device.limits, scratch);
      if (!std::holds_alternative<ir::Kernel>(lowered)) continue;
      const std::int64_t held =
          costmodel::count(std::get<ir::Kernel>(lowered), costmodel::Mode::fast).code_instructions;
      const explore::Candidate candidate{*one, *plan, device.limits, explore::tiling_of(*one, *plan, device.limits)};
      CAPTURE(ir::text(*plan));
      CAPTURE(held);
      if (held > 2000) CHECK(explore::unrolled_code(candidate) > held / 2);
      if (held > 2000) CHECK(explore::unrolled_code(candidate) < 2 * held);
      const explore::Rule* rule = explore::dropped_by(*one, *plan, device.limits);
      const bool is_long = rule != nullptr && rule->name == "long-code";
      ++(is_long ? seen.dropped : seen.kept);
      seen.longest = std::max(seen.longest, held);
      if (!is_long) seen.longest_kept = std::max(seen.longest_kept, held);
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("what a rule takes for a thread's code is near what the kernel holds, and the longest code is dropped") {
  const CodeSeen each = code_of_plans(joined_cosines(16, true));
  CHECK(each.kept > 10);
  CHECK(each.dropped >= 3);  // of a loop over the result, 4 x 8, 4 x 4 and 2 x 8 elements at once
  CHECK(each.longest > 40000);
  CHECK(each.longest_kept < 25000);
  const CodeSeen all = code_of_plans(joined_cosines(16, false));  // one an element, but sixteen of a loop over pieces
  CHECK(all.longest > 10000);
  CHECK(all.dropped == 3);  // of it eight at once, as vectors of 1, 2 and 4
}

namespace {

struct Shaped {
  const char* member;
  std::int64_t rows, columns;
  int threads, lanes;  ///< of the usual plan; lanes 0: it has none
};

const std::vector<Shaped>& shaped_groups() {
  static const std::vector<Shaped> all = {
      {"softmax", 4096, 1024, 128, 32},      {"softmax", 512, 8192, 256, 256},
      {"softmax", 30000, 32, 128, 8},        {"layernorm_f16", 4096, 768, 128, 32},
      {"bias_gelu_f16", 4096, 3072, 256, 0}, {"rms_residual_bf16", 4096, 2048, 128, 64},
  };
  return all;
}

explore::Tuned tuned_as(const ir::Group& group, const explore::TuneOptions& options, ir::Plan* usual = nullptr) {
  costmodel::CalibratedDevice device = example_device();
  device.overlap_knee = 1000;  // where pipes hide behind memory many plans tie
  device.lone_share = device.first_wave = 0;
  const auto prepared = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
  const auto& ready = std::get<codegen::Prepared>(prepared);
  if (usual != nullptr) *usual = explore::usual_plan(ready);
  return explore::tune(ready, explore::default_axes(ready, device.limits), device, options);
}

/// Whether the plans differ in their blocks alone.
bool is_same_shape(ir::Plan a, const ir::Plan& b) {
  a.threads = b.threads;
  a.blocks_per_sm = b.blocks_per_sm;
  return a == b;
}

}  // namespace

TEST_CASE("plans that the model cannot tell apart come nearest to the usual plan first, then by id") {
  const auto key = [](const explore::Scored& one) {
    return std::tuple(std::llround(one.estimate.total.value * 1e9), row_for(one.estimate.parts, ir::Part::issue).value,
                      one.from_usual, one.plan_id);
  };
  int decided = 0, decided_by_id = 0;
  for (const Shaped& row : shaped_groups()) {
    CAPTURE(row.member);
    CAPTURE(row.columns);
    const ir::Group group = ir::make_group(ir::family_member(row.member), row.rows, row.columns);
    ir::Plan usual;
    const explore::Tuned tuned = tuned_as(group, {}, &usual);
    CHECK(usual.threads == row.threads);
    if (row.lanes > 0) CHECK(usual.threads_per_row == row.lanes);
    CHECK(explore::steps_between(usual, usual) == 0);
    for (std::size_t i = 1; i < tuned.ranked.size(); ++i) {
      const auto before = key(tuned.ranked[i - 1]), here = key(tuned.ranked[i]);
      CHECK(before < here);
      const bool tied = std::get<0>(before) == std::get<0>(here) && std::get<1>(before) == std::get<1>(here);
      decided += tied && std::get<2>(before) < std::get<2>(here) ? 1 : 0;
      decided_by_id += tied && std::get<2>(before) == std::get<2>(here) ? 1 : 0;
      CHECK((tuned.ranked[i].plan_id == id_of(tuned.ranked[i].plan, group.id)));
      CHECK(tuned.ranked[i].from_usual == explore::steps_between(tuned.ranked[i].plan, usual));
    }
  }
  CHECK(decided > 20);
  CHECK(decided_by_id > 0);
}

TEST_CASE("a short list has the best plan, the nearest to the usual one, and no two that differ in blocks alone") {
  constexpr std::int64_t wanted = 4;
  int plain_lists_alike = 0;
  for (const Shaped& row : shaped_groups()) {
    CAPTURE(row.member);
    CAPTURE(row.columns);
    const ir::Group group = ir::make_group(ir::family_member(row.member), row.rows, row.columns);
    const explore::Tuned tuned = tuned_as(group, {.keep = wanted + 1, .short_list = wanted});
    const explore::Tuned plain = tuned_as(group, {.keep = wanted});
    REQUIRE(tuned.best.size() == wanted + 1);
    CHECK(tuned.best.front().plan == tuned.ranked.front().plan);
    int nearest = tuned.ranked.front().from_usual;
    for (const explore::Scored& one : tuned.ranked) nearest = std::min(nearest, one.from_usual);
    const std::span<const explore::Listed> list(tuned.best.data(), wanted);
    CHECK(std::any_of(list.begin(), list.end(), [&](const explore::Listed& one) { return one.from_usual == nearest; }));
    int alike = 0;
    for (std::size_t a = 0; a < list.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        CHECK((list[a].kernel_id != list[b].kernel_id));
        const bool with_usual = list[a].from_usual == nearest || list[b].from_usual == nearest;
        alike += is_same_shape(list[a].plan, list[b].plan) ? 1 : 0;
        if (is_same_shape(list[a].plan, list[b].plan)) CHECK((b == 0 && with_usual));
        plain_lists_alike += is_same_shape(plain.best[a].plan, plain.best[b].plan) ? 1 : 0;
      }
    CHECK(alike <= 1);
    // In the order of the ranking; the others follow it.
    for (std::size_t i = 1; i < list.size(); ++i)
      CHECK(std::llround(list[i - 1].estimate.total.value * 1e9) <= std::llround(list[i].estimate.total.value * 1e9));
  }
  CHECK(plain_lists_alike > 4);  // so the list is worth making
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

TEST_CASE("plans of tiles and of the flat loop are ranked together, and large transposes are near the time of a copy") {
  const costmodel::CalibratedDevice device = example_device();
  struct Turned {
    const char *from, *axes, *to;
    std::int64_t bytes;  ///< moved at least
  };
  for (const Turned& one : {Turned{"f32[8192,4096]", "1,0", "f32[4096,8192]", 2ll * 8192 * 4096 * 4},
                            Turned{"f16[8192,4096]", "1,0", "f16[4096,8192]", 2ll * 8192 * 4096 * 2},
                            Turned{"f16[64,56,56,256]", "0,3,1,2", "f16[64,256,56,56]", 2ll * 64 * 56 * 56 * 256 * 2},
                            Turned{"s8[8192,8192]", "1,0", "s8[8192,8192]", 2ll * 8192 * 8192}}) {
    CAPTURE(one.from);
    const std::string text =
        fmt::format("graph g {{\n  %x = parameter 0 : {}\n  %t = transpose %x, axes={{{}}} : {}\n  output %t\n}}\n",
                    one.from, one.axes, one.to);
    const ir::Group group = ir::make_group({"g", text}, 1, 1);
    const auto ready = codegen::prepare(group);
    const auto& prepared = std::get<codegen::Prepared>(ready);
    REQUIRE(prepared.turned != nullptr);
    const explore::Axes axes = explore::default_axes(prepared, device.limits);
    const explore::Tuned tuned = explore::tune(prepared, axes, device, {.keep = 4});
    const auto flat = std::find_if(tuned.ranked.begin(), tuned.ranked.end(), [](const explore::Scored& scored) {
      return scored.plan.skeleton == ir::Skeleton::map;
    });
    REQUIRE(flat != tuned.ranked.end());
    CHECK((tuned.ranked.front().plan.skeleton == ir::Skeleton::transpose));
    CHECK(flat->estimate.total.value > 1.2 * tuned.ranked.front().estimate.total.value);
    // 84 % of what a copy reaches.
    const double copy = static_cast<double>(one.bytes) / (device.dram_bandwidth * device.dram_efficiency);
    CHECK(tuned.ranked.front().estimate.total.value < copy / 0.84);
    const std::size_t walks[] = {static_cast<std::size_t>(explore::size_of_space(prepared, axes, device.limits)),
                                 static_cast<std::size_t>(tuned.space)};
    CHECK(walks[0] == walks[1]);
    // Of the plans that are as good as the first one has both walks of its tile meet each bank of shared memory once.
    const auto meets_once = [](const costmodel::SharedWork& walk) {
      return static_cast<double>(walk.wavefronts) < 1.1 * static_cast<double>(walk.bytes) / 128;  // of a wavefront
    };
    CHECK(std::any_of(tuned.best.begin(), tuned.best.end(), [&](const explore::Listed& listed) {
      return listed.estimate.total.value <= 1.005 * tuned.best.front().estimate.total.value &&
             meets_once(listed.work.shared_store) && meets_once(listed.work.shared_load);
    }));
  }
}

TEST_CASE("tiles follow a node of their own, unless somebody names one that they cannot follow") {
  const costmodel::CalibratedDevice device = example_device();
  const ir::Group group = ir::make_group(ir::family_member("turned_batches"), 96, 256);
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  REQUIRE(prepared.turned != nullptr);
  const ir::NodeId own = prepared.turned->dominants.front();
  CHECK(std::find(prepared.dominants.begin(), prepared.dominants.end(), own) == prepared.dominants.end());
  explore::Axes axes = explore::default_axes(prepared, device.limits);
  const auto tiles_of = [&] {
    const explore::Tuned tuned = explore::tune(prepared, axes, device, {});
    CHECK(!tuned.ranked.empty());
    return std::count_if(tuned.ranked.begin(), tuned.ranked.end(), [&](const explore::Scored& one) {
      return one.plan.skeleton == ir::Skeleton::transpose && one.plan.dominant == own;
    });
  };
  CHECK(tiles_of() > 20);
  axes[ir::PlanField::dominant] = {prepared.dominants.front()};
  axes[ir::PlanField::unroll] = {1, 2};
  CHECK(tiles_of() == 0);
}
