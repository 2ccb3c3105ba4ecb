// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of stages: what is scored is what lowering and counting say, axes hold for every stage, blocks on an SM are
// asked about, and a launch in steps is priced as its steps without launches. The strategy forms stages where a launch
// saved is worth it. Part of the suite `explore`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>

#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/plans/packs.h"
#include "explore/plans/space.h"
#include "explore/plans/usual.h"
#include "ir/device.h"
#include "ir/graph/graph_parse.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::explore;

namespace {

const costmodel::CalibratedDevice& stages_device() {
  static const costmodel::CalibratedDevice device =
      costmodel::calibrated(ir::find_device("h200", source_folder() + "/data/devices"),
                            ir::read_calibration(source_folder() + "/data/calibrations/uncalibrated.json"));
  return device;
}

/// Two arrays divided by the norm of both: a pack of two sums, then a map.
const ir::Group& clipped() {
  static const ir::Group group = [] {
    ir::Group made;
    made.graph = ir::parse_graph(R"(graph clipped {
  %a = parameter 0 : f32[512,300]
  %b = parameter 1 : f32[5000]
  %z = constant 0 : f32[]
  %qa = multiply %a, %a : f32[512,300]
  %qb = multiply %b, %b : f32[5000]
  %sa = reduce add %qa, %z, axes={0,1} : f32[]
  %sb = reduce add %qb, %z, axes={0} : f32[]
  %s = add %sa, %sb : f32[]
  %n = sqrt %s : f32[]
  %na = broadcast %n : f32[512,300]
  %ya = divide %a, %na : f32[512,300]
  output %ya
}
)");
    verify(made.graph);
    made.id = id_of(std::string_view(canonical_text(made.graph)));
    return made;
  }();
  return group;
}

Tuned tuned_stages(std::initializer_list<AxisLimit> limits = {}) {
  static const codegen::Prepared stages = std::get<codegen::Prepared>(codegen::prepare(clipped()));
  Axes axes = default_axes(stages, stages_device().limits);
  for (const AxisLimit& limit : limits) restrict_axis(axes, limit);
  TuneOptions options;
  options.keep = keep_all;
  return tune(stages, axes, stages_device(), options);
}

}  // namespace

TEST_CASE("what is scored of stages is what lowering and counting say of the same plan") {
  const Tuned found = tuned_stages();
  REQUIRE(found.ranked.size() >= 20);
  CHECK(found.best.size() > 10);
  std::set<Id> ids;
  std::set<int> residents;
  for (const Scored& one : found.ranked) {
    CHECK(ids.insert(one.plan_id).second);
    residents.insert(one.plan.blocks_per_sm);
  }
  CHECK(residents.size() >= 3);
  for (const Listed& one : found.best) {
    CAPTURE(text(one.plan));
    CHECK((ir::parse_plan(text(one.plan)) == one.plan));
    const codegen::Lowered lowered = codegen::lower(clipped(), one.plan, stages_device().limits);
    if (const auto* refused = std::get_if<ir::Rejection>(&lowered)) FAIL(refused->reason);
    const ir::Kernel& kernel = std::get<ir::Kernel>(lowered);
    verify(kernel);
    CHECK(id_of(kernel) == one.kernel_id);
    const costmodel::Work work = costmodel::count(kernel, costmodel::Mode::fast);
    CHECK((work == one.work));
    CHECK(costmodel::projected(work, stages_device()).total.value == one.estimate.total.value);
  }
}

TEST_CASE("axes hold for every stage, and what needs a launch of its own is never offered") {
  for (const Scored& one : tuned_stages({{"threads", {"256"}}, {"blocks_per_sm", {"2"}}}).ranked) {
    CHECK(one.plan.threads == 256);
    CHECK(one.plan.blocks_per_sm == 2);
    CHECK(one.plan.grid == ir::GridShape::persistent);
    CHECK(one.plan.homes.size() == 2);
  }
  CHECK(!tuned_stages({{"grid", {"persistent"}}}).ranked.empty());
  const Tuned none = tuned_stages({{"meet", {"grid"}}});
  CHECK(none.ranked.empty());
  REQUIRE(!none.rejections.empty());
  CHECK(none.rejections.front().reason.starts_with("axis meet"));
  const Tuned tiles = tuned_stages({{"grid", {"tile"}}});
  CHECK(tiles.ranked.empty());
  REQUIRE(tiles.rejections.size() == 1);
  CHECK(tiles.rejections.front().reason.starts_with("axis grid: blocks that meet between stages are resident"));
  // A value that is named twice is asked about once; a block alone is no cluster, by whichever number.
  CHECK(tuned_stages({{"threads", {"256", "256"}}}).space == tuned_stages({{"threads", {"256"}}}).space);
  CHECK(tuned_stages({{"cluster", {"1"}}}).ranked.size() == tuned_stages().ranked.size());
  // More blocks than an SM has room for leave no plan.
  CHECK(tuned_stages({{"threads", {"256"}}, {"blocks_per_sm", {"16"}}}).ranked.empty());
}

TEST_CASE("axes reach the bodies of a stage that is a pack") {
  const codegen::Prepared stages = std::get<codegen::Prepared>(codegen::prepare(clipped()));
  const Tuned narrow = tuned_stages({{"vector", {"1"}}, {"threads_per_row", {"32"}}});
  REQUIRE(!narrow.ranked.empty());
  for (const Scored& one : narrow.ranked) {
    REQUIRE(one.plan.bodies.front().bodies.size() == 2);
    for (const ir::Plan& body : one.plan.bodies.front().bodies) {
      CHECK(body.vector == 1);
      CHECK(body.threads_per_row == 32);
    }
  }
  for (const ir::PlanField axis : {ir::PlanField::vector, ir::PlanField::blocks_per_sm}) CHECK(has_axis(stages, axis));
  // What waits between stages is no matter of the axis, and the rows in the first one are gone through once.
  CHECK(!has_axis(stages, ir::PlanField::homes));
  const codegen::Prepared softmax =
      std::get<codegen::Prepared>(codegen::prepare(ir::make_group(ir::family_member("softmax"), 8, 64)));
  CHECK(has_axis(softmax, ir::PlanField::homes));
}

TEST_CASE("the usual plan of stages is one of theirs") {
  const codegen::Prepared stages = std::get<codegen::Prepared>(codegen::prepare(clipped()));
  const ir::Plan plan = usual_plan(stages);
  CHECK(text(ir::parse_plan(text(plan))) == text(plan));
  const codegen::Lowered lowered = codegen::lower(clipped(), plan, stages_device().limits);
  if (const auto* refused = std::get_if<ir::Rejection>(&lowered)) FAIL(refused->rule << ": " << refused->reason);
}

TEST_CASE("a launch in steps takes what its steps take, and one launch") {
  const Tuned found = tuned_stages();
  const ir::Kernel& kernel = found.best.front().kernel;
  const costmodel::Work work = costmodel::count(kernel, costmodel::Mode::fast);
  const costmodel::Work steps = costmodel::by_step(work);
  CHECK(costmodel::works_of(steps).size() == 3);
  CHECK(costmodel::by_launch(work).followers.empty());
  for (const costmodel::Work& step : costmodel::works_of(steps)) {
    CHECK(step.shared_bytes == steps.shared_bytes);
    CHECK(step.live_registers == steps.live_registers);
    CHECK(step.grid == steps.grid);
  }
  std::int64_t instructions = 0;
  for (const costmodel::Work& body : costmodel::works_of(work)) instructions += costmodel::instructions(body.pipes);
  CHECK(costmodel::instructions(costmodel::by_launch(work).pipes) == instructions);
  // The same kernels with launches of their own wait longer: for the launch, not for the meeting.
  costmodel::Work apart = work;
  std::erase_if(apart.followers, [](const costmodel::Work& one) {
    return one.virtual_blocks == one.grid && one.buffers[one.buffers.size() - 1].atomic.requests > 0;
  });
  REQUIRE(apart.followers.size() + 1 == work.followers.size());
  for (costmodel::Work& one : apart.followers)
    if (one.begins == ir::Begins::behind) one.begins = ir::Begins::launch;
  const double in_steps = costmodel::projected(work, stages_device()).total.value,
               launched = costmodel::projected(apart, stages_device()).total.value;
  CHECK(in_steps < launched);
  CHECK(launched - in_steps < 3e-6);
}

TEST_CASE("what machine code executes is parted in the proportion of the steps' own counts") {
  const costmodel::Pipes all{.fma = 30, .alu = 8, .memory = 4}, part{.fma = 10, .alu = 8, .memory = 0};
  const costmodel::Pipes made{.fma = 60, .alu = 9, .integer = 12, .memory = 4};
  const costmodel::Pipes share = costmodel::shared_out(part, all, made, 3);
  CHECK(share.fma == 20);
  CHECK(share.alu == 9);
  CHECK(share.memory == 0);
  CHECK(share.integer == 4);  // nobody asked for any
}
