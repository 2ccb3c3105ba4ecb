// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan space and the choice in it by numbers that paper gives: values of the axes, the usual plan on each rung,
// steps between plans, which plans a limit leaves, in which order plans of equal time stand, and who climbs to the next
// level. In: groups of the family and plans made here. Part of the suite `explore`.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "codegen/lower/prepare.h"
#include "explore/plans/climb.h"
#include "explore/plans/rules.h"
#include "explore/plans/tune.h"
#include "explore/plans/usual.h"
#include "explore/plans/walk.h"
#include "support/group_family.h"
#include "support/search_setting.h"

namespace tailor::explore {

namespace {

/// A group and its preparation, which points into it.
struct Ready {
  ir::Group group;
  codegen::Prepared prepared;

  Ready(const char* member, std::int64_t rows, std::int64_t columns)
      : group(ir::make_group(ir::family_member(member), rows, columns)),
        prepared(std::get<codegen::Prepared>(codegen::prepare(group))) {}
  Ready(const Ready&) = delete;
};

const ir::Limits& gpu_limits() { return search_gpu().limits; }

}  // namespace

TEST_CASE("rows are shared by as many blocks as fill an eighth of the SMs to four times, evenly where that can be") {
  struct Row {
    std::int64_t rows, columns;
    std::vector<int> shares;
  };
  // 132 SMs over 3 rows are 5, 11, 22, 44, 88, 176 blocks each, or the power of two below where it divides the row.
  for (const Row& row : {Row{3, 1024, {1, 4, 8, 16, 32, 64, 128}},
                         {3, 1001, {1, 5, 11, 22, 44, 88, 176}},
                         {3, 1004, {1, 4, 11, 22, 44, 88, 176}},
                         {1, 1 << 20, {1, 16, 32, 64, 128, 256, 512}},
                         {264, 1024, {1, 2}},
                         {265, 1024, {1}}}) {
    CAPTURE(row.rows);
    CAPTURE(row.columns);
    const Ready ready("row_sum", row.rows, row.columns);
    CHECK(default_axes(ready.prepared, gpu_limits())[ir::PlanField::split] == row.shares);
  }
  const Ready columns("column_sum", 4096, 64);
  CHECK(default_axes(columns.prepared, gpu_limits())[ir::PlanField::split] ==
        std::vector<int>{1, 2, 4, 8, 16, 32, 64, 128, 256});
  // Gone through again, 12 columns side by side in 1, 2, 3, 6 or 12 blocks leave each of them so many of 132 SMs; for 1
  // and 2 there is a power of two that does.
  const Ready norm("column_softmax", 4096, 12);
  CHECK(default_axes(norm.prepared, gpu_limits())[ir::PlanField::split] ==
        std::vector<int>{1, 2, 4, 8, 11, 16, 22, 32, 44, 64, 128, 256});
}

TEST_CASE("columns that no power of two of lanes shares out have lanes that do, in blocks of them doubled") {
  const auto axes_of_sum = [](std::int64_t columns) {
    const Ready ready("column_sum", 4096, columns);
    return default_axes(ready.prepared, gpu_limits());
  };
  const auto odd = [](const std::vector<int>& values) {
    std::vector<int> left;
    for (const int value : values)
      if (!std::has_single_bit(static_cast<unsigned>(value))) left.push_back(value);
    return left;
  };
  // 65 floats are 65 lanes, or 33, 22 or 13 in 2, 3 or 5 tiles; 8 in 9 tiles leave less than an eighth idle.
  const Axes wide = axes_of_sum(65);
  CHECK(odd(wide[ir::PlanField::threads_per_row]) == std::vector<int>{13, 22, 33, 65});
  const std::vector<int> blocks = odd(wide[ir::PlanField::threads]);
  for (const int lanes : odd(wide[ir::PlanField::threads_per_row]))
    for (int threads = 64; threads <= 1024; ++threads) {
      const bool doubled = threads % lanes == 0 && std::has_single_bit(static_cast<unsigned>(threads / lanes));
      CHECK((!doubled || std::count(blocks.begin(), blocks.end(), threads) == 1));
    }
  CHECK(wide[ir::PlanField::in_flight] == std::vector<int>{1, 2, 4, 8, 16});
  // Ten are five lanes of two each, whose eight rows are 64 bytes.
  const Axes narrow = axes_of_sum(10);
  CHECK(odd(narrow[ir::PlanField::threads_per_row]) == std::vector<int>{3, 5, 10});
  CHECK(narrow[ir::PlanField::in_flight] == std::vector<int>{1, 2, 4, 8});
  // Powers of two and their neighbours have none: an eighth of the lanes or more would have to be idle.
  CHECK(odd(axes_of_sum(64)[ir::PlanField::threads_per_row]).empty());
  CHECK(odd(axes_of_sum(127)[ir::PlanField::threads_per_row]).empty());
}

TEST_CASE("narrow columns that are gone through again have a plan in which nearly all SMs have a block") {
  costmodel::CalibratedDevice device = search_gpu();
  device.sms = device.limits.sms = 40;
  const Ready norm("column_softmax", 8192, 12);
  Plans plans(norm.prepared, default_axes(norm.prepared, device.limits), device.limits);
  std::int64_t most = 0;
  while (const auto plan = plans.next()) {
    const std::int64_t beside = std::int64_t{plan->threads_per_row} * plan->vector;
    const std::int64_t blocks = (norm.prepared.rows + beside - 1) / beside * plan->split;
    if (blocks <= 40) most = std::max(most, blocks);
  }
  CHECK(most >= 36);
}

TEST_CASE("the axes ask about two warps to whole blocks, one lane to all, and each list of homes once") {
  const Ready ready("softmax", 64, 1000), sum("row_sum", 64, 1000);
  const Axes axes = default_axes(ready.prepared, gpu_limits());
  const std::vector<int> lanes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  CHECK(axes[ir::PlanField::threads] == std::vector<int>(lanes.begin() + 6, lanes.end()));
  CHECK(axes[ir::PlanField::threads_per_row] == lanes);
  CHECK(axes[ir::PlanField::vector] == std::vector<int>{1, 2, 4});
  CHECK(axes[ir::PlanField::in_flight] == std::vector<int>{1, 2, 4, 8});
  using enum ir::HomesWord;
  const auto words = [](std::initializer_list<ir::HomesWord> list) {
    std::vector<int> numbers;
    for (const ir::HomesWord word : list) numbers.push_back(static_cast<int>(word));
    return numbers;
  };
  CHECK(axes[ir::PlanField::homes] ==
        words({registers, shared, reload, recompute, widest_shared, widest_reload, recompute_shared}));
  CHECK(axes[ir::PlanField::grid].size() == 2);
  CHECK(axes[ir::PlanField::index_cache] == std::vector<int>{1});
  CHECK(default_axes(sum.prepared, gpu_limits())[ir::PlanField::homes] == words({registers}));
  // What is read at other places waits in shared memory; here that is the widest value, and of a block the same list.
  const Ready moved("softmax_reversed", 64, 1000);
  ir::Limits in_clusters = gpu_limits(), alone = gpu_limits();
  in_clusters.blocks_per_cluster = 8;
  alone.blocks_per_cluster = 1;
  std::vector<int> lists =
      words({registers, shared, reload, recompute, widest_shared, widest_reload, recompute_shared});
  CHECK(default_axes(moved.prepared, alone)[ir::PlanField::homes] == lists);
  lists.push_back(static_cast<int>(moved_cluster));
  CHECK(default_axes(moved.prepared, in_clusters)[ir::PlanField::homes] == lists);
  // Of 5 x 11 pairs those with no more lanes than threads, in the order of the axes, each once.
  Plans plans(ready.prepared, axes, gpu_limits());
  std::int64_t count = 0, pairs = 0;
  for (const int threads : axes[ir::PlanField::threads])
    for (const int per_row : lanes) pairs += per_row <= threads ? 1 : 0;
  std::vector<ir::Plan> seen;
  while (const auto plan = plans.next()) {
    ++count;
    CHECK(plan->threads_per_row <= plan->threads);
    if (count <= 100) seen.push_back(*plan);
  }
  CHECK(pairs == 7 + 8 + 9 + 10 + 11);
  // One block has nobody to meet.
  const auto splits = std::ssize(axes[ir::PlanField::split]), meets = std::ssize(axes[ir::PlanField::meet]);
  CHECK(plans.size() % (5 * 11 * splits * meets) == 0);
  CHECK(count == plans.size() / (5 * 11 * splits * meets) * pairs * ((splits - 1) * meets + 1));
  for (std::size_t a = 0; a < seen.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) CHECK_FALSE(seen[a] == seen[b]);
}

TEST_CASE("a persistent grid has blocks for half of the threads of an SM, at least one and no more than it holds") {
  const Ready ready("softmax", 4096, 1024);
  Axes axes = default_axes(ready.prepared, gpu_limits());
  ir::Limits small = gpu_limits();
  small.threads_per_sm = 1024;
  struct Row {
    const ir::Limits& limits;
    int threads, blocks_per_sm;
  };
  for (const Row& row : {Row{gpu_limits(), 32, 32},
                         {gpu_limits(), 64, 16},
                         {gpu_limits(), 96, 10},
                         {gpu_limits(), 1024, 1},
                         {small, 1024, 1},
                         {small, 256, 2}}) {
    CAPTURE(row.threads);
    axes[ir::PlanField::threads] = {row.threads};
    Plans plans(ready.prepared, axes, row.limits);
    int persistent = 0;
    while (const auto plan = plans.next()) {
      const bool loops = plan->grid == ir::GridShape::persistent;
      persistent += loops ? 1 : 0;
      if (persistent < 20) CHECK(plan->blocks_per_sm == (loops ? row.blocks_per_sm : 0));
    }
    CHECK(persistent > 0);
  }
}

TEST_CASE("the usual plan of a row stands on the rung of its bytes, to the byte") {
  struct Row {
    std::int64_t columns;
    int threads, lanes, in_flight;
    bool shared = false;
  };
  for (const Row& row : {Row{5, 128, 2, 4},
                         {33, 128, 16, 4},
                         {64, 128, 16, 4},
                         {65, 128, 32, 2},
                         {512, 128, 32, 2},
                         {513, 128, 32, 1},
                         {1536, 128, 32, 1},
                         {1537, 128, 64, 1},
                         {2048, 128, 64, 1},
                         {2049, 256, 128, 1},
                         {4096, 256, 128, 1},
                         {4097, 256, 256, 1},
                         {8192, 256, 256, 1},
                         {8193, 256, 256, 1, true}}) {
    CAPTURE(row.columns);
    const Ready ready("softmax", 4096, row.columns);
    const ir::Plan plan = usual_plan(ready.prepared);
    CHECK(plan.threads == row.threads);
    CHECK(plan.threads_per_row == row.lanes);
    CHECK(plan.in_flight == row.in_flight);
    CHECK(plan.homes ==
          codegen::homes_of(ready.prepared, row.shared ? ir::HomesWord::shared : ir::HomesWord::registers));
    CHECK(plan.split == 1);
  }
}

TEST_CASE("few long rows and few columns are shared by 128 blocks, of 32 KiB each at least") {
  struct Row {
    const char* member;
    std::int64_t rows, columns;
    int split;
  };
  for (const Row& row : {Row{"row_sum", 1, 1 << 20, 128},
                         {"row_sum", 3, 1 << 20, 32},
                         {"row_sum", 128, 1 << 20, 1},
                         {"row_sum", 64, 1 << 20, 2},
                         {"row_sum", 1, 3 * 8192, 2},
                         {"row_sum", 1, 2 * 8192 - 1, 1},
                         {"softmax", 1, 1 << 20, 1},  // walked three times
                         {"column_sum", 8192, 256, 16},
                         {"column_sum", 511, 256, 1},
                         {"column_sum", 512, 256, 2},
                         {"column_sum", 1 << 20, 64, 64}}) {
    CAPTURE(row.member);
    CAPTURE(row.rows);
    const Ready ready(row.member, row.rows, row.columns);
    const ir::Plan plan = usual_plan(ready.prepared);
    CHECK(plan.split == row.split);
    if (plan.skeleton == ir::Skeleton::row && row.split > 1) {
      CHECK(plan.threads == 512);
      CHECK(plan.threads_per_row == 512);
      CHECK(plan.in_flight == 4);
    }
    if (plan.skeleton == ir::Skeleton::column) {
      CHECK(plan.threads == 256);
      CHECK(plan.threads_per_row == 8);
      CHECK(plan.in_flight == 4);
    }
  }
}

TEST_CASE("steps between plans are doublings either way and other words, added up") {
  const Ready ready("softmax", 4096, 1024);
  const ir::Plan usual = usual_plan(ready.prepared);
  const auto steps = [&](auto change) {
    ir::Plan other = usual;
    change(other);
    const int there = steps_between(other, usual);
    CHECK(there == steps_between(usual, other));
    return there;
  };
  CHECK(steps([](ir::Plan& p) { p.threads *= 4; }) == 2);
  CHECK(steps([](ir::Plan& p) { p.threads /= 2; }) == 1);
  CHECK(steps([](ir::Plan& p) { p.threads /= 2, p.in_flight *= 2; }) == 2);
  CHECK(steps([](ir::Plan& p) { p.threads *= 2, p.threads_per_row /= 2, p.vector = 1; }) == 4);
  CHECK(steps([](ir::Plan& p) { p.homes.clear(); }) == 1);
  CHECK(steps([](ir::Plan& p) { p.homes[0].level = ir::StitchLevel::block, p.grid = ir::GridShape::persistent; }) == 2);
  CHECK(steps([](ir::Plan& p) { p.split = 8; }) == 3);
  CHECK(steps([](ir::Plan& p) { p.unroll = 8; }) == 0);  // rows have none
}

TEST_CASE("a limit on plans leaves a sample that is spread evenly over those that rules let pass") {
  const Ready ready("row_sum", 4096, 1024);
  const Axes axes = default_axes(ready.prepared, gpu_limits());
  std::vector<ir::Plan> survivors;
  Plans plans(ready.prepared, axes, gpu_limits());
  while (const auto plan = plans.next())
    if (dropped_by(ready.prepared, *plan, gpu_limits()) == nullptr) survivors.push_back(*plan);
  const auto count = static_cast<std::int64_t>(survivors.size());
  REQUIRE(count > 30);
  for (const std::int64_t wanted : {std::int64_t{1}, std::int64_t{7}, count / 2, count - 1, count, count + 1}) {
    CAPTURE(wanted);
    const Tuned tuned = tune(ready.prepared, axes, search_gpu(), {.max_plans = wanted});
    const std::int64_t kept = std::min(wanted, count);
    CHECK(tuned.left_out == count - kept);
    CHECK(tuned.lowerings == kept);
    std::vector<std::int64_t> places;
    for (const Scored& one : tuned.ranked)
      places.push_back(std::find(survivors.begin(), survivors.end(), one.plan) - survivors.begin());
    std::sort(places.begin(), places.end());
    REQUIRE(static_cast<std::int64_t>(places.size()) == kept);  // all of these lower
    CHECK(places.back() == count - 1);
    std::int64_t before = -1;
    for (const std::int64_t place : places) {
      CHECK(place - before >= count / kept);
      CHECK(place - before <= (count + kept - 1) / kept);
      before = place;
    }
  }
}

TEST_CASE("plans are ranked by whole nanoseconds, then instructions, then steps from the usual plan, then ids") {
  // A model that knows but few times: half of the plans differ by less than a nanosecond, in no order of the rest.
  static constexpr auto uncertain = [](const costmodel::ModelInputs& inputs) {
    ir::Estimate e;
    const auto draw = static_cast<std::uint64_t>(inputs.work->threads * 31 + inputs.work->busiest_block * 17 +
                                                 inputs.work->live_registers * 13);
    e.total = {1e-6 + static_cast<double>(draw % 3) * 1e-9 + static_cast<double>(draw % 7) * 0.05e-9};
    e.parts[static_cast<std::size_t>(ir::Part::issue)] = {static_cast<double>(draw % 5)};
    return e;
  };
  const costmodel::Model model{"uncertain", ir::Level::projected, "", "", true, uncertain};
  const Ready ready("softmax", 4096, 1024);
  const Tuned tuned = tune(ready.prepared, default_axes(ready.prepared, gpu_limits()), search_gpu(),
                           {.model = &model, .keep = keep_all});
  REQUIRE(tuned.ranked.size() > 40);
  const auto nanoseconds = [](const auto& one) { return std::llround(one.estimate.total.value * 1e9); };
  const auto issue = [](const auto& one) {
    return one.estimate.parts[static_cast<std::size_t>(ir::Part::issue)].value;
  };
  int by_issue = 0, by_steps = 0;
  for (std::size_t i = 1; i < tuned.ranked.size(); ++i) {
    const Scored &a = tuned.ranked[i - 1], &b = tuned.ranked[i];
    REQUIRE(nanoseconds(a) <= nanoseconds(b));
    if (nanoseconds(a) != nanoseconds(b)) continue;
    REQUIRE(issue(a) <= issue(b));
    by_issue += issue(a) < issue(b) ? 1 : 0;
    if (issue(a) != issue(b)) continue;
    REQUIRE(a.from_usual <= b.from_usual);
    by_steps += a.from_usual < b.from_usual ? 1 : 0;
    if (a.from_usual == b.from_usual) REQUIRE(a.plan_id < b.plan_id);
  }
  CHECK(by_issue > 4);
  CHECK(by_steps > 4);
  // What is kept are the different kernels in the same order, each under the first plan that makes it.
  std::set<Id> kernels;
  std::size_t at = 0;
  for (const Listed& listed : tuned.best) {
    CHECK(kernels.insert(listed.kernel_id).second);
    while (at < tuned.ranked.size() && !(tuned.ranked[at].plan == listed.plan)) ++at;
    CHECK(at < tuned.ranked.size());
  }
}

TEST_CASE("plans that differ in the size of their blocks alone have one shape, persistent ones too") {
  const Ready ready("softmax", 1 << 20, 1024);
  Axes axes = default_axes(ready.prepared, gpu_limits());
  axes[ir::PlanField::grid] = {static_cast<int>(ir::GridShape::persistent)};
  axes[ir::PlanField::threads] = {128, 256};
  axes[ir::PlanField::threads_per_row] = {32};
  axes[ir::PlanField::vector] = {4};
  axes[ir::PlanField::in_flight] = {1, 2};
  axes[ir::PlanField::homes] = {static_cast<int>(ir::HomesWord::registers)};
  const Tuned tuned = tune(ready.prepared, axes, search_gpu(), {.keep = 10, .short_list = 2, .heuristics = false});
  REQUIRE(tuned.ranked.size() == 4);
  REQUIRE(tuned.best.size() == 4);
  CHECK(tuned.best[0].plan.in_flight != tuned.best[1].plan.in_flight);
}

TEST_CASE("the best of each group and device climb, refuted ones and those that nobody looked at do not") {
  const auto standing = [](std::uint64_t group, std::uint64_t device, double seconds, ir::Level level) {
    Standing s;
    s.group = {group, 0};
    s.device = {device, 0};
    ir::Estimate e;
    e.level = level;
    e.total = {seconds};
    s.estimates.push_back(e);
    return s;
  };
  using enum ir::Level;
  std::vector<Standing> all = {standing(1, 1, 5, projected), standing(1, 1, 3, projected), standing(2, 1, 9, projected),
                               standing(1, 1, 4, projected), standing(1, 2, 7, projected), standing(1, 1, 1, compiled),
                               standing(2, 1, 8, projected), standing(1, 1, 2, projected)};
  all[7].refuted = true;
  std::vector<const Standing*> plans;
  for (const Standing& one : all) plans.push_back(&one);
  const auto best = [&](std::int64_t top) { return best_by(plans, projected, top); };
  CHECK(best(2) == std::vector<std::size_t>{1, 3, 6, 2, 4});
  CHECK(best(1) == std::vector<std::size_t>{1, 6, 4});
  CHECK(best(0).empty());
  CHECK(best(100) == std::vector<std::size_t>{1, 3, 0, 6, 2, 4});
  CHECK(best_by(plans, compiled, 9) == std::vector<std::size_t>{5});
  // Each rung looks at what the one before has found; equal times keep their order.
  std::vector<std::vector<std::size_t>> asked;
  const Rung first{projected, 2, [&](std::span<const std::size_t> chosen) {
                     asked.emplace_back(chosen.begin(), chosen.end());
                     for (const std::size_t i : chosen) {
                       ir::Estimate e;
                       e.level = compiled;
                       e.total = {6};
                       all[i].estimates.push_back(e);
                     }
                     all[3].refuted = true;
                   }};
  const Rung second{compiled, 2,
                    [&](std::span<const std::size_t> chosen) { asked.emplace_back(chosen.begin(), chosen.end()); }};
  const Rung rungs[] = {first, second};
  climb(plans, rungs);
  REQUIRE(asked.size() == 2);
  CHECK(asked[0] == std::vector<std::size_t>{1, 3, 6, 2, 4});
  CHECK(asked[1] == std::vector<std::size_t>{5, 1, 2, 6, 4});
}

}  // namespace tailor::explore
