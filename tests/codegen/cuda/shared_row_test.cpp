// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that blocks share, as people see them: the CUDA text of one kernel is golden, what sharing costs and saves is
// written down, the rules leave few plans of full and of few-row sums, the usual plan shares where a person would, and
// plans that do not fit are refused in words. Part of the suite `codegen`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <variant>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/plans/rules.h"
#include "explore/plans/space.h"
#include "explore/plans/usual.h"
#include "ir/device.h"
#include "support/golden.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;

namespace {

ir::Limits h200_limits() { return ir::limits(ir::find_device("h200", source_folder() + "/data/devices")); }

ir::Kernel lowered_row(const ir::Group& group, const std::string& words, ir::Plan* plan = nullptr) {
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  ir::Plan made = ir::parse_plan("row " + words);
  made.dominant = prepared.dominants.front();
  made.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  if (plan != nullptr) *plan = made;
  const codegen::Lowered lowered = codegen::lower(group, made, h200_limits());
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  REQUIRE_MESSAGE(refused == nullptr, refused->reason);
  return std::get<ir::Kernel>(lowered);
}

/// What lower() says of a plan of a member's group with these words.
std::string row_refusal(std::string_view member, std::int64_t count, std::int64_t length, const std::string& words) {
  const ir::Group group = ir::make_group(ir::family_member(member), count, length);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  ir::Plan plan = ir::parse_plan("row " + words);
  plan.dominant = prepared.dominants.front();
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  const codegen::Lowered lowered = codegen::lower(group, plan, h200_limits());
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  return refused == nullptr ? "lowered" : refused->rule + ": " + refused->reason;
}

}  // namespace

TEST_CASE("a kernel whose blocks share rows prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("row_statistics_f16"), 3, 200001);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_row(group, "threads=256 threads_per_row=256 vector=8 in_flight=2 split=44 grid=tile", &plan);
  check_golden("row_shared.cu", codegen::cuda(kernel, &plan));
}

TEST_CASE("a kernel that adds up across its rows prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("across_columns"), 8192, 1024);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_row(group, "threads=256 threads_per_row=128 vector=4 in_flight=1 grid=persistent blocks_per_sm=2", &plan);
  check_golden("row_across.cu", codegen::cuda(kernel, &plan));
}

TEST_CASE("sharing a row costs two fences, a number and the parts, and saves trips") {
  const ir::Group group = ir::make_group(ir::family_member("row_sum"), 1, 1 << 20);
  const auto work_of = [&](int split) {
    return costmodel::count(
        lowered_row(group, fmt::format("threads=256 threads_per_row=256 vector=4 in_flight=4 split={}", split)),
        costmodel::Mode::exact);
  };
  const costmodel::Work alone = work_of(1), shared = work_of(64);
  // 2^20 elements, 1024 at a time, 4 in flight: 256 waits. A 64th of them, two fences, the ticket, the parts.
  CHECK(alone.critical_path.memory == 256);
  CHECK(shared.critical_path.memory == 256 / 64 + 4);
  REQUIRE(shared.buffers.size() == alone.buffers.size() + 2);
  CHECK(shared.buffers[0].load.bytes == alone.buffers[0].load.bytes);
  CHECK(shared.buffers[0].load.requests == alone.buffers[0].load.requests);
  CHECK(shared.buffers[1].store.bytes == alone.buffers[1].store.bytes);
  CHECK(shared.buffers[2].store.bytes == 64 * 4);  // the parts, written by all and read by the last
  CHECK(shared.buffers[2].load.bytes == 64 * 4);
  CHECK(shared.buffers[2].load.requests == 2);  // by neighbouring lanes
  CHECK(shared.buffers[3].atomic.requests == 64 + 1);
}

TEST_CASE("rules leave 20 to 150 plans of few long rows, and those that can be shared are") {
  const ir::Limits limits = h200_limits();
  struct Size {
    std::string_view member;
    std::int64_t rows, columns;
  };
  for (const auto& [member, rows, columns] :
       {Size{"row_sum", 1, 10'000'000}, Size{"row_sum", 4, 1'000'000}, Size{"row_sum", 64, 30000},
        Size{"row_sum", 1, 65537}, Size{"row_sum", 12, 999'999}, Size{"full_loss", 4096, 768},
        Size{"row_statistics_f16", 3, 1'000'001}, Size{"row_statistics_f16", 32, 50000},
        Size{"integer_extremes", 2, 700'000}}) {
    CAPTURE(member);
    CAPTURE(rows);
    CAPTURE(columns);
    const ir::Group group = ir::make_group(ir::family_member(member), rows, columns);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    REQUIRE(prepared.skeleton == ir::Skeleton::row);
    const explore::Axes axes = explore::default_axes(prepared, limits);
    explore::Plans plans(prepared, axes, limits);
    codegen::LowerScratch scratch;
    int left = 0, shared = 0;
    while (const auto plan = plans.next())
      if (!explore::dropped_by(prepared, *plan, limits)) {
        const bool is_legal = std::holds_alternative<ir::Kernel>(codegen::lower(prepared, *plan, limits, scratch));
        left += is_legal ? 1 : 0;
        shared += is_legal && plan->split > 1 ? 1 : 0;
      }
    CHECK(left >= 20);
    CHECK(left <= 150);
    CHECK(shared >= 10);
    const ir::Plan usual = explore::usual_plan(prepared);
    CHECK(usual.split > 1);
    CHECK(usual.split * prepared.rows <= 128);
    CHECK(usual.threads_per_row == usual.threads);
  }
}

TEST_CASE("rows that fill the device, or are walked twice, have no plan that shares them") {
  const ir::Limits limits = h200_limits();
  const ir::Group many = ir::make_group(ir::family_member("row_sum"), 4096, 1024);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(many));
  CHECK(explore::default_axes(prepared, limits)[ir::PlanField::split] == std::vector<int>{1});
  CHECK(explore::usual_plan(prepared).split == 1);
  const ir::Group twice = ir::make_group(ir::family_member("softmax"), 1, 1'000'000);
  CHECK(explore::usual_plan(std::get<codegen::Prepared>(codegen::prepare(twice))).split == 1);
}

TEST_CASE("a row plan that blocks cannot share is refused in words") {
  const std::string words = "threads=256 threads_per_row=256 vector=4 in_flight=1 ";
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=8") == "lowered");
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=9") ==
        "split: rows of 2048 vectors, 256 for a block at once, leave some of 9 blocks that share them without any");
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=2000000000").starts_with("split: rows of 2048 vectors"));
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=0") == "split: 0 blocks share a row");
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=8 grid=persistent blocks_per_sm=4") ==
        "split: blocks that share rows do not loop over others");
  CHECK(row_refusal("softmax", 2, 8192, words + "split=8") ==
        "split: rows are walked 3 times, so 8 blocks cannot share them");
  CHECK(row_refusal("row_sum", 2, 8192, "threads=256 threads_per_row=256 vector=4 in_flight=2 split=8") ==
        "in-flight: rows take 1 vectors per thread, fewer than 2 in flight");
}
