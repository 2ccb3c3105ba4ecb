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
#include "explore/plans/usual.h"
#include "explore/plans/walk.h"
#include "ir/device.h"
#include "support/golden.h"
#include "support/group_family.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

ir::Limits h200_limits() { return ir::limits(ir::find_device("h200", source_folder() + "/data/devices")); }

ir::Kernel lowered_row(const ir::Group& group, const std::string& words, ir::Plan* plan = nullptr) {
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  ir::Plan made = ir::parse_plan("row " + words);
  made.dominant = prepared.dominants.front();
  if (made.meet != ir::Meeting::kernel) made.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
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
  if (words.find("meet=kernel") == words.npos || words.find("homes") != words.npos)
    plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  const codegen::Lowered lowered = codegen::lower(group, plan, h200_limits());
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  return refused == nullptr ? "lowered" : refused->rule + ": " + refused->reason;
}

}  // namespace

TEST_CASE("a kernel whose lanes and warps put values and their places together prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("argmax"), 512, 4096);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_row(group, "threads=128 threads_per_row=128 vector=4 in_flight=1 split=1 grid=tile", &plan);
  check_golden("row_argmax.cu", codegen::cuda(kernel, &plan));
}

TEST_CASE("a kernel whose blocks share rows prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("row_statistics_f16"), 3, 200001);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_row(group, "threads=256 threads_per_row=256 vector=8 in_flight=2 split=44 grid=tile", &plan);
  check_golden("row_shared.cu", codegen::cuda(kernel, &plan));
}

TEST_CASE("a kernel whose rows are shared by blocks of a cluster prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 64, 30001);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_row(group, "threads=256 threads_per_row=256 vector=4 in_flight=1 cluster=4 grid=tile", &plan);
  CHECK(kernel.cluster == 4);
  CHECK(kernel.grid == 4 * 64);
  check_golden("row_cluster.cu", codegen::cuda(kernel, &plan));
}

TEST_CASE("a kernel whose blocks of a cluster read values of one another prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("softmax_reversed"), 64, 49152);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  ir::Plan plan = ir::parse_plan("row threads=512 threads_per_row=512 vector=4 in_flight=2 cluster=2 grid=tile");
  plan.dominant = prepared.dominants.front();
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::moved_cluster);
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered = codegen::lower(prepared, plan, h200_limits(), scratch);
  REQUIRE(std::holds_alternative<ir::Kernel>(lowered));
  check_golden("row_moved.cu", codegen::cuda(std::get<ir::Kernel>(lowered), &plan));
}

TEST_CASE("a kernel whose rows are shared by blocks that meet in the grid prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 3, 100001);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_row(group, "threads=256 threads_per_row=256 vector=4 in_flight=1 split=40 meet=grid grid=tile", &plan);
  CHECK(kernel.cooperative);
  CHECK(kernel.grid == 40 * 3);
  CHECK(kernel.min_blocks == 1);
  check_golden("row_grid.cu", codegen::cuda(kernel, &plan));
}

TEST_CASE("a program whose launches end where blocks meet prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 3, 100001);
  ir::Plan plan;
  const ir::Kernel kernel =
      lowered_row(group, "threads=256 threads_per_row=256 vector=4 in_flight=2 split=20 meet=kernel grid=tile", &plan);
  REQUIRE(kernel.followers.size() == 2);  // the maximum, the sum, the results
  for (const ir::Kernel& one : kernels_of(kernel)) CHECK(one.grid == 20 * 3);
  check_golden("row_launches.cu", codegen::cuda(kernel, &plan));
  const ir::Group sum = ir::make_group(ir::family_member("row_sum"), 3, 100001);
  const ir::Kernel two =
      lowered_row(sum, "threads=256 threads_per_row=256 vector=4 in_flight=2 split=20 meet=kernel grid=tile", &plan);
  REQUIRE(two.followers.size() == 1);
  CHECK(two.grid == 20 * 3);
  CHECK(two.followers[0].grid == 3);  // a block for each row puts its parts together
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

TEST_CASE("a cluster reads a row once, between two meetings, where blocks alone would read it again") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 4, 131072);
  const std::string words = "threads=1024 threads_per_row=1024 vector=4 in_flight=1";
  const costmodel::Work work = costmodel::count(lowered_row(group, words + " cluster=8"), costmodel::Mode::exact);
  CHECK(work.cluster == 8);
  CHECK(work.buffers[0].load.bytes == std::int64_t{4} * 131072 * 4);
  CHECK(work.critical_path.memory == 1);
  CHECK(work.critical_path.cluster == 2);  // of the maximum and of the sum
  CHECK(work.critical_path.distributed == 2);
  CHECK(work.barriers == 0);
  CHECK(work.cluster_barriers ==
        3 * 2 * 32 * 32);  // both, and the parting: arrivals and waits of 32 blocks of 32 warps
  CHECK(row_refusal("softmax", 4, 131072, words) != "lowered");  // registers of one block
}

TEST_CASE("blocks of the grid read a row once, between two meetings, and leave one part of each sum") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 4, 131072);
  const std::string words = "threads=512 threads_per_row=512 vector=4 in_flight=1 split=16 meet=grid";
  const costmodel::Work work = costmodel::count(lowered_row(group, words), costmodel::Mode::exact);
  CHECK(work.buffers[0].load.bytes == std::int64_t{4} * 131072 * 4);
  CHECK(work.critical_path.memory == 1 + 2 * (3 + 1));  // the row; at each meeting three trips, and the parts
  CHECK(work.critical_path.coherent == 2 * 3);
  REQUIRE(work.buffers.size() == 5);
  CHECK(work.buffers[2].store.bytes == 4 * 16 * 4);             // parts of the maximum
  CHECK(work.buffers[2].load.bytes == 4 * 16 * (16 * 16) * 4);  // each warp of each block reads those of its row
  CHECK(work.buffers[3].atomic.requests == 2 * 64);             // the ticket: 64 blocks count twice
  CHECK(work.barriers == 64 * 16 * 2 * 3);                      // one in a block, two around the count, for each sum
  CHECK(row_refusal("softmax", 4, 131072, "threads=512 threads_per_row=512 vector=4 in_flight=1 split=16") ==
        "split: rows are walked 3 times, so 16 blocks that do not meet cannot share them");
}

TEST_CASE("few long rows have plans whose blocks meet, on every GPU, and 20 to 150 plans in all" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  for (const char* device : {"h200", "v100_pcie", "t4"}) {
    const ir::Limits limits = ir::limits(ir::find_device(device, source_folder() + "/data/devices"));
    for (const auto& [rows, columns] :
         {std::pair{4, 500'000}, std::pair{1, 65536}, std::pair{12, 131072}, std::pair{3, 100'001}}) {
      CAPTURE(device);
      CAPTURE(columns);
      const ir::Group group = ir::make_group(ir::family_member("softmax"), rows, columns);
      const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
      explore::Plans plans(prepared, explore::default_axes(prepared, limits), limits);
      codegen::LowerScratch scratch;
      int left = 0, met = 0;
      while (const auto plan = plans.next())
        if (!explore::dropped_by(prepared, *plan, limits)) {
          const codegen::Lowered lowered = codegen::lower(prepared, *plan, limits, scratch);
          const auto* kernel = std::get_if<ir::Kernel>(&lowered);
          left += kernel != nullptr ? 1 : 0;
          if (kernel == nullptr || plan->meet != ir::Meeting::grid) continue;
          ++met;
          CHECK(kernel->grid <= std::int64_t{kernel->min_blocks} * limits.sms);
          CHECK(kernel->min_blocks * kernel->threads <= limits.threads_per_sm);
        }
      CHECK(left >= 20);
      CHECK(left <= 150);
      CHECK(met >= 4);
    }
  }
}

TEST_CASE("few long rows and rows that no block holds are asked about clusters, on GPUs that have some" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const ir::Limits limits = h200_limits(), older = ir::limits(ir::find_device("t4", source_folder() + "/data/devices"));
  const auto sizes = [&](std::int64_t rows, std::int64_t columns, const ir::Limits& of) {
    const ir::Group group = ir::make_group(ir::family_member("softmax"), rows, columns);
    return explore::default_axes(std::get<codegen::Prepared>(codegen::prepare(group)), of)[ir::PlanField::cluster];
  };
  const std::vector<int> none{0}, all{0, 2, 4, 8};
  CHECK(sizes(66, 4096, limits) == all);  // of 132 SMs
  CHECK(sizes(67, 4096, limits) == none);
  CHECK(sizes(4096, 57345, limits) == all);  // over seven eighths of 256 KiB
  CHECK(sizes(4096, 57344, limits) == none);
  CHECK(sizes(4, 131072, older) == none);
  for (const auto& [rows, columns] : {std::pair{4, 500'000}, std::pair{64, 30000}, std::pair{4096, 131072},
                                      std::pair{1, 8192}, std::pair{16, 131072}}) {
    CAPTURE(columns);
    const ir::Group group = ir::make_group(ir::family_member("softmax"), rows, columns);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    explore::Plans plans(prepared, explore::default_axes(prepared, limits), limits);
    codegen::LowerScratch scratch;
    int left = 0, met = 0;
    while (const auto plan = plans.next())
      if (!explore::dropped_by(prepared, *plan, limits)) {
        const bool is_legal = std::holds_alternative<ir::Kernel>(codegen::lower(prepared, *plan, limits, scratch));
        left += is_legal ? 1 : 0;
        met += is_legal && plan->cluster > 0 ? 1 : 0;
      }
    CHECK(left >= 20);
    CHECK(left <= 150);
    CHECK(met >= 4);
    CHECK(met <= 60);  // blocks of 128 threads among them
  }
}

TEST_CASE("a plan whose blocks cannot meet is refused in words") {
  const auto asked = [](const std::string& words) {
    return row_refusal("softmax", 64, 30000, "threads=256 vector=4 in_flight=1 " + words);
  };
  CHECK(asked("threads_per_row=256 cluster=8") == "lowered");
  CHECK(asked("threads_per_row=256 cluster=3") == "lowered");
  CHECK(asked("threads_per_row=256 cluster=9") == "cluster: 9 blocks exceed 8 of a cluster");
  CHECK(asked("threads_per_row=256 cluster=1") == "lowered");  // a block alone
  CHECK(asked("threads_per_row=256 cluster=2 split=2") == "cluster: rows are shared by 2 blocks and by clusters of 2");
  CHECK(asked("threads_per_row=256 meet=grid") == "meet: one block has nobody to meet: split says how many share");
  CHECK(asked("threads_per_row=256 split=4 meet=grid") == "lowered");
  CHECK(asked("threads_per_row=256 split=4 meet=kernel") == "lowered");
  CHECK(asked("threads_per_row=256 split=4 meet=kernel homes=%0@register") ==
        "homes: %0 does not wait from one launch to the next");
  CHECK(asked("threads_per_row=256 split=4 meet=grid grid=persistent blocks_per_sm=1") ==
        "split: blocks that share rows do not loop over others");
  CHECK(row_refusal("softmax", 64, 120000, "threads=256 vector=4 in_flight=1 threads_per_row=256 split=28 meet=grid") ==
        "resident: 14 blocks meet on each SM, which has room for 32 blocks and 2048 threads, 3584 needed");
  CHECK(asked("threads_per_row=256 cluster=2 grid=persistent blocks_per_sm=2") ==
        "cluster: clusters that share rows do not loop over others");
  CHECK(asked("threads_per_row=1 cluster=2") == "cluster: rows that a thread has alone are not shared by blocks");
  CHECK(row_refusal("softmax", 64, 1000, "threads=128 threads_per_row=128 vector=4 in_flight=1 cluster=3") ==
        "cluster: rows of 250 vectors, 128 for a block at once, leave some of a cluster's 3 blocks without any");
  CHECK(row_refusal("across_columns", 64, 4096, "threads=128 threads_per_row=128 vector=4 in_flight=1 cluster=2") ==
        "cluster: rows that are added up across are not shared by blocks of a cluster");
  const ir::Group group = ir::make_group(ir::family_member("row_sum"), 4, 4096);
  ir::Plan plan = ir::parse_plan("row threads=128 threads_per_row=128 cluster=2");
  plan.dominant = std::get<codegen::Prepared>(codegen::prepare(group)).dominants.front();
  const codegen::Lowered on_t4 =
      codegen::lower(group, plan, ir::limits(ir::find_device("t4", source_folder() + "/data/devices")));
  CHECK(std::get<ir::Rejection>(on_t4).reason == "2 blocks cannot meet: this GPU has no clusters");
}

TEST_CASE("a row plan that blocks cannot share is refused in words") {
  const std::string words = "threads=256 threads_per_row=256 vector=4 in_flight=1 ";
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=8") == "lowered");
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=9") ==
        "split: rows of 2,048 vectors, 256 for a block at once, leave some of 9 blocks that share them without any");
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=2000000000").starts_with("split: rows of 2,048 vectors"));
  CHECK_THROWS_WITH(row_refusal("row_sum", 2, 8192, words + "split=0"), doctest::Contains("found split='0'"));
  CHECK(row_refusal("row_sum", 2, 8192, words + "split=8 grid=persistent blocks_per_sm=4") ==
        "split: blocks that share rows do not loop over others");
  CHECK(row_refusal("softmax", 2, 8192, words + "split=8") ==
        "split: rows are walked 3 times, so 8 blocks that do not meet cannot share them");
  CHECK(row_refusal("row_sum", 2, 8192, "threads=256 threads_per_row=256 vector=4 in_flight=2 split=8") ==
        "in-flight: rows take 1 vector per thread, fewer than 2 in flight");
}
