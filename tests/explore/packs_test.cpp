// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The search over plans of a pack: what it scores is what lowering and counting say of the same plan, its best is no
// worse than any plan put together of the bodies' own best, axes hold for every body that has them. And what a launch
// of several bodies is estimated at. Part of the suite `explore`.
#include "explore/plans/packs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/hash.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/lower_pack.h"
#include "costmodel/count.h"
#include "explore/plans/space.h"
#include "ir/device.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::explore;

namespace {

const costmodel::CalibratedDevice& gpu() {
  static const costmodel::CalibratedDevice device =
      costmodel::calibrated(ir::find_device("h200", source_folder() + "/data/devices"),
                            ir::read_calibration(source_folder() + "/data/calibrations/uncalibrated.json"));
  return device;
}

struct Part {
  std::string_view member;
  std::int64_t rows, columns;
};

ir::Group pack_of(const std::vector<Part>& parts) {
  std::vector<ir::Group> groups;
  for (const Part& part : parts)
    groups.push_back(ir::make_group(ir::family_member(part.member), part.rows, part.columns));
  return ir::side_by_side(groups);
}

/// A column group that blocks share, rows, and a flat loop.
const ir::Group& mixed() {
  static const ir::Group group = pack_of({{"column_sum", 4096, 96}, {"softmax", 50, 768}, {"bias_gelu_f16", 90, 64}});
  return group;
}

Tuned tuned(const codegen::Prepared& pack, std::initializer_list<AxisLimit> limits = {}) {
  Axes axes = default_axes(pack, gpu().limits);
  for (const AxisLimit& limit : limits) restrict_axis(axes, limit);
  TuneOptions options;
  options.keep = keep_all;
  return tune(pack, axes, gpu(), options);
}

}  // namespace

TEST_CASE("what is scored of a pack is what lowering and counting say of the same plan") {
  const auto pack = std::get<codegen::Prepared>(codegen::prepare(mixed()));
  const Tuned found = tuned(pack);
  REQUIRE(found.ranked.size() >= 20);
  CHECK(found.ranked.size() <= 150);
  CHECK(found.best.size() > 10);
  std::set<Id> ids;
  for (const Scored& one : found.ranked) CHECK(ids.insert(one.plan_id).second);
  for (const Listed& one : found.best) {
    CAPTURE(text(one.plan));
    CHECK((ir::parse_plan(text(one.plan)) == one.plan));
    const codegen::Lowered lowered = codegen::lower(mixed(), one.plan, gpu().limits);
    REQUIRE(std::holds_alternative<ir::Kernel>(lowered));
    const ir::Kernel& kernel = std::get<ir::Kernel>(lowered);
    verify(kernel);
    CHECK(id_of(kernel) == one.kernel_id);
    CHECK(id_of(one.kernel) == one.kernel_id);
    const costmodel::Work work = costmodel::count(kernel, costmodel::Mode::fast);
    CHECK((work == one.work));
    CHECK(costmodel::projected(work, gpu()).total.value == one.estimate.total.value);
  }
}

TEST_CASE("no plan made of the bodies' own best beats the pack's, whatever the number of threads") {
  const auto pack = std::get<codegen::Prepared>(codegen::prepare(mixed()));
  double best = 1;      // of all that were scored: the ranking is in whole nanoseconds
  std::set<int> asked;  // at other numbers rules leave some body no plan
  for (const Scored& one : tuned(pack).ranked) {
    best = std::min(best, one.estimate.total.value);
    asked.insert(one.plan.threads);
  }
  int tried = 0;
  for (const int threads : asked) {
    ir::Plan plan;
    plan.skeleton = ir::Skeleton::pack;
    plan.threads = threads;
    for (const codegen::Body& body : pack.bodies) {
      Axes axes = axes_of_body(pack, body, {}, gpu().limits);
      restrict_axis(axes, {"threads", {fmt::format("{}", threads)}});
      const Tuned own = tune(*body.prepared, axes, gpu(), {});
      if (!own.ranked.empty()) plan.bodies.push_back(codegen::plan_in_whole(body, own.ranked.front().plan));
    }
    if (plan.bodies.size() != pack.bodies.size()) continue;
    const codegen::Lowered lowered = codegen::lower(mixed(), plan, gpu().limits);
    REQUIRE(std::holds_alternative<ir::Kernel>(lowered));
    ++tried;
    CHECK(best <= costmodel::projected(costmodel::count(std::get<ir::Kernel>(lowered), costmodel::Mode::fast), gpu())
                      .total.value);
  }
  CHECK(tried >= 2);
}

TEST_CASE("axes hold for every body whose skeleton has them, and leave the others alone") {
  const auto pack = std::get<codegen::Prepared>(codegen::prepare(mixed()));
  for (const Scored& one : tuned(pack, {{"threads", {"128"}}, {"threads_per_row", {"32"}}}).ranked)
    for (const ir::Plan& body : one.plan.bodies) {
      CHECK(body.threads == 128);
      if (row(body.skeleton).has(ir::PlanField::threads_per_row)) CHECK(body.threads_per_row == 32);
    }
  // A node is asked of the body that has it.
  const ir::NodeId node = pack.bodies[1].nodes[ir::index(pack.bodies[1].prepared->dominants.front())];
  const Tuned by_node = tuned(pack, {{"dominant", {fmt::format("%{}", node)}}});
  REQUIRE(!by_node.ranked.empty());
  for (const Scored& one : by_node.ranked) CHECK(one.plan.bodies[1].dominant == node);
  // What needs a launch of its own is never offered.
  for (const Scored& one : tuned(pack, {{"meet", {"last", "kernel"}}}).ranked)
    for (const ir::Plan& body : one.plan.bodies) CHECK(body.meet == ir::Meeting::last);
  CHECK(size_of_space(pack, default_axes(pack, gpu().limits), gpu().limits) > 100);
}

TEST_CASE("heuristics that leave each body other numbers of threads give way, and never empty a pack") {
  const ir::Group group = pack_of({{"column_sum", 128, 61}, {"column_sum", 5, 100}});
  const auto prepared = codegen::prepare(group);
  const auto& pack = std::get<codegen::Prepared>(prepared);
  REQUIRE(pack.bodies.size() == 2);
  const Tuned found = tuned(pack);
  CHECK(!found.ranked.empty());
  std::int64_t dropped = 0;
  for (const RejectedPlans& one : found.rejections) dropped += one.plans;
  CHECK(found.enumerated == dropped + std::ssize(found.ranked));
}

TEST_CASE("an axis that asks for a launch of a body's own is refused by name") {
  const auto pack = std::get<codegen::Prepared>(codegen::prepare(mixed()));
  for (const AxisLimit& limit : {AxisLimit{"meet", {"kernel"}}}) {
    const Tuned none = tuned(pack, {limit});
    CHECK(none.ranked.empty());
    REQUIRE(none.rejections.size() == 1);
    CHECK(none.rejections.front().reason.starts_with("axis " + limit.axis));
  }
}

namespace {

/// Long rows that are gone through again, beside a flat loop with more blocks than are resident.
const ir::Group& long_rows() {
  static const ir::Group group = pack_of({{"softmax", 1, 128000}, {"softmax", 2, 60000}, {"bias_gelu_f16", 9000, 640}});
  return group;
}

double best_of(const codegen::Prepared& pack, std::initializer_list<AxisLimit> limits) {
  const Tuned found = tuned(pack, limits);
  REQUIRE(!found.ranked.empty());
  return found.ranked.front().estimate.total.value;
}

}  // namespace

TEST_CASE("blocks of bodies share long rows by meetings or by clusters, and leave the others blocks that loop") {
  const auto pack = std::get<codegen::Prepared>(codegen::prepare(long_rows()));
  const Tuned found = tuned(pack);
  int met = 0, looping = 0, clustered = 0;
  for (const Listed& one : found.best) {
    const ir::LaunchShape shape = launch_shape(ir::launches_of(one.kernel)[0]);
    met += shape.cooperative ? 1 : 0;
    clustered += shape.cluster[0] > 1 ? 1 : 0;
    for (const ir::Kernel& body : kernels_of(one.kernel)) looping += body.persistent ? 1 : 0;
    CHECK((!shape.cooperative || shape.cluster[0] == 1));
    CAPTURE(text(one.plan));
    const codegen::Lowered lowered = codegen::lower(long_rows(), one.plan, gpu().limits);
    if (const auto* refused = std::get_if<ir::Rejection>(&lowered)) FAIL(refused->reason);
    CHECK(id_of(std::get<ir::Kernel>(lowered)) == one.kernel_id);
    CHECK((costmodel::count(std::get<ir::Kernel>(lowered), costmodel::Mode::fast) == one.work));
  }
  CHECK(met > 10);
  CHECK(clustered > 10);
  CHECK(looping > 10);
  const double alone = best_of(pack, {{"meet", {"last"}}, {"cluster", {"0"}}});
  CHECK(found.ranked.front().estimate.total.value < 0.8 * alone);
  CHECK(best_of(pack, {{"meet", {"last"}}}) < alone);
  CHECK(best_of(pack, {{"cluster", {"0"}}}) < alone);
}

TEST_CASE("a body that no plan fits leaves the pack none, and says which") {
  const auto pack = std::get<codegen::Prepared>(codegen::prepare(mixed()));
  const Tuned none = tuned(pack, {{"vector", {"64"}}});
  CHECK(none.ranked.empty());
  REQUIRE(!none.rejections.empty());
  CHECK(none.rejections.front().reason.starts_with("body 1: "));
}

TEST_CASE("a launch of several bodies takes as long as its longest alone, and less than their launches") {
  const auto pack = std::get<codegen::Prepared>(codegen::prepare(mixed()));
  for (const Listed& one : tuned(pack).best) {
    CAPTURE(text(one.plan));
    double longest = 0, sum = 0;
    for (const costmodel::Work& body : costmodel::works_of(one.work)) {
      costmodel::Work alone = body;
      alone.followers.clear();
      alone.begins = ir::Begins::launch;
      const double time = costmodel::projected(alone, gpu()).total.value;
      longest = std::max(longest, time);
      sum += time;
    }
    CHECK(one.estimate.total.value >= longest * (1 - 1e-9));
    CHECK(one.estimate.total.value < sum);
  }
  // Twice the blocks of one kernel are as good as the kernel with twice the blocks.
  const ir::Group twice = pack_of({{"softmax", 3000, 768}});
  ir::Plan plan = ir::parse_plan("row dominant=%3 threads=128 threads_per_row=32 vector=4 homes=%6@register");
  const codegen::Lowered lowered = codegen::lower(twice, plan, gpu().limits);
  if (const auto* refused = std::get_if<ir::Rejection>(&lowered)) FAIL(refused->reason);
  const costmodel::Work half = costmodel::count(std::get<ir::Kernel>(lowered), costmodel::Mode::fast);
  costmodel::Work both = half;
  both.followers = {half};
  both.followers[0].begins = ir::Begins::beside;
  const costmodel::Work one = costmodel::by_launch(both);
  CHECK(one.followers.empty());
  CHECK(one.virtual_blocks == 2 * half.virtual_blocks);
  CHECK(one.critical_path == half.critical_path);
  CHECK(one.live_registers == half.live_registers);
  CHECK(costmodel::instructions(one.pipes) == 2 * costmodel::instructions(half.pipes));
  CHECK(costmodel::compulsory_bytes(one) == 2 * costmodel::compulsory_bytes(half));
  // Every block is given what the body takes that takes most, whichever it is.
  for (const bool first : {true, false}) {
    costmodel::Work unequal = both;
    costmodel::Work& greedy = first ? unequal : unequal.followers[0];
    greedy.live_registers = half.live_registers + 7;
    greedy.shared_bytes = half.shared_bytes + 64;
    greedy.busiest_block = half.busiest_block + 100;
    const costmodel::Work launch = costmodel::by_launch(unequal);
    CHECK(launch.live_registers == half.live_registers + 7);
    CHECK(launch.shared_bytes == half.shared_bytes + 64);
    CHECK(launch.busiest_block == half.busiest_block + 100);
  }
}
