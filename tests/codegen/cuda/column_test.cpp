// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The column skeleton as people see it: the CUDA text of two kernels and the plans that the rules leave of one group
// are golden, and groups that it refuses or doubts are refused in words. The expected words and numbers are written
// down here. Part of the suite `codegen`.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>
#include <variant>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "codegen/structure/structure.h"
#include "costmodel/count.h"
#include "explore/plans/rules.h"
#include "explore/plans/walk.h"
#include "ir/device.h"
#include "support/golden.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;

namespace {

ir::Limits h200() { return ir::limits(ir::find_device("h200", source_folder() + "/data/devices")); }

ir::Group group_of(const std::string& lines) {
  ir::Group group;
  group.graph = ir::parse_graph("graph g {\n" + lines + "}\n");
  ir::verify(group.graph);
  return group;
}

std::string doubt_of(const ir::Group& group) {
  const ir::Boundary border = codegen::whole_border(group.graph);
  const codegen::Classified found = codegen::analyse_loop(group.graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&found);
  if (layout == nullptr) return std::get<ir::Rejection>(found).rule;
  const auto doubt = codegen::find_doubt(group.graph, border, *layout);
  return codegen::text(*layout) + (doubt ? ", " + doubt->rule : "");
}

/// What lower() says of the plan of a column sum of 64 x 24 elements with these words.
std::string refusal_of(const std::string& words) {
  const ir::Group group = ir::make_group(ir::family_member("column_sum"), 64, 24);
  const codegen::Lowered lowered = codegen::lower(group, ir::parse_plan("column dominant=%2 " + words), h200());
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  return refused == nullptr ? "lowered" : refused->rule + ": " + refused->reason;
}

}  // namespace

TEST_CASE("a column kernel prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("bias_gradient_bf16"), 1000, 96);
  const ir::Plan plan =
      ir::parse_plan("column dominant=%14 threads=256 threads_per_row=8 vector=8 in_flight=2 grid=tile");
  const codegen::Lowered lowered = codegen::lower(group, plan, h200());
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  REQUIRE_MESSAGE(refused == nullptr, refused->reason);
  check_golden("column_bias_gradient.cu", codegen::cuda(std::get<ir::Kernel>(lowered), &plan));
}

TEST_CASE("the plans that the rules leave of a column sum are its golden list") {
  const ir::Group group = ir::make_group(ir::family_member("column_sum"), 6272, 192);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  const ir::Limits limits = h200();
  const explore::Axes axes = explore::default_axes(prepared, limits);
  explore::Plans plans(prepared, axes, limits);
  codegen::LowerScratch scratch;
  std::string list;
  while (const auto plan = plans.next()) {
    if (explore::dropped_by(prepared, *plan, limits)) continue;
    CHECK(std::holds_alternative<ir::Kernel>(codegen::lower(prepared, *plan, limits, scratch)));
    list += text(*plan) + "\n";
  }
  check_golden("column_plans.txt", list);
}

TEST_CASE("rules leave 20 to 150 plans of column groups of 64 KB and more, and some of small ones") {
  const ir::Limits limits = h200();
  struct Size {
    std::int64_t rows, columns;
    bool small = false;
  };
  for (const auto& [rows, columns, small] :
       {Size{65536, 64}, Size{65536, 128}, Size{6272, 192}, Size{6272, 8}, Size{49, 2048}, Size{512, 65536},
        Size{1 << 20, 32}, Size{1 << 20, 3}, Size{8192, 4099}, Size{128, 262144}, Size{16, 4096}, Size{37, 7, true},
        Size{301, 2, true}, Size{1, 4096, true}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const ir::Group group = ir::make_group(ir::family_member("column_sum"), rows, columns);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    REQUIRE(prepared.skeleton == ir::Skeleton::column);
    const explore::Axes axes = explore::default_axes(prepared, limits);
    explore::Plans plans(prepared, axes, limits);
    codegen::LowerScratch scratch;
    int left = 0;
    while (const auto plan = plans.next())
      if (!explore::dropped_by(prepared, *plan, limits))
        left += std::holds_alternative<ir::Kernel>(codegen::lower(prepared, *plan, limits, scratch)) ? 1 : 0;
    CHECK(left >= (small ? 1 : 20));
    CHECK(left <= 150);
  }
}

TEST_CASE("columns are what leaves the fastest dimension in memory, however the dimensions are named") {
  const std::string zero = "  %z = constant 0 : f32[]\n";
  const auto sum = [&](const std::string& in, const std::string& axes, const std::string& out) {
    return doubt_of(group_of("  %x = parameter 0 : " + in + "\n" + zero + "  %s = reduce add %x, %z, axes={" + axes +
                             "} : " + out + "\n  output %s\n"));
  };
  CHECK(sum("f32[64,24]", "0", "f32[24]") == "column 64 x 24");
  CHECK(sum("f32[64,24]{0,1}", "1", "f32[64]") == "column 24 x 64");
  CHECK(sum("f32[1,8,16,1,24]", "1,2", "f32[1,1,24]") == "column 128 x 24");
  CHECK(sum("f32[2,8,16,24]", "0,2", "f32[8,24]") == "column 32 x 192");
  CHECK(sum("f32[64,24]", "1", "f32[64]") == "row 64 x 24");
  CHECK(sum("f32[64,24]{0,1}", "0", "f32[24]") == "row 24 x 64");
  CHECK(sum("f32[2,8,16,24]", "1,3", "f32[2,16]") == "row 32 x 192 in 2 x [8] x 16 x [24]");
  CHECK(sum("f32[2,8,16,4]", "1,3", "f32[2,16]") == "row 32 x 32 in 2 x [8] x 16 x [4]");
  CHECK(sum("f32[2,8,16,3]", "1,3", "f32[2,16]") == "row 32 x 24 in 2 x [8] x 16 x [3]");
  CHECK(sum("f32[64,0]", "0", "f32[0]") == "empty");
}

TEST_CASE("a column group is doubted where it would move results, turn columns or go over odd ones in short accesses") {
  const std::string head =
      "  %x = parameter 0 : f32[64,24]\n  %z = constant 0 : f32[]\n"
      "  %s = reduce add %x, %z, axes={0} : f32[24]\n";
  CHECK(doubt_of(group_of(head + "  %b = broadcast %s, axes={1} : f32[64,24]\n  %y = add %x, %b : f32[64,24]\n"
                                 "  output %y\n")) == "column 64 x 24");
  const auto spread = [](int rows, int columns) {
    return doubt_of(group_of(
        fmt::format("  %x = parameter 0 : f32[{0},{1}]\n  %z = constant 0 : f32[]\n"
                    "  %s = reduce add %x, %z, axes={{0}} : f32[{1}]\n  %b = broadcast %s, axes={{1}} : f32[{0},{1}]\n"
                    "  %y = add %x, %b : f32[{0},{1}]\n  output %y\n",
                    rows, columns)));
  };
  // Turned, a result would be needed for the elements of another column.
  CHECK(doubt_of(group_of(head + "  %b = broadcast %s, axes={0} : f32[24,64]\n  %w = parameter 1 : f32[24,64]\n"
                                 "  %y = add %w, %b : f32[24,64]\n  output %y\n")) ==
        "column 64 x 24, skeleton-column-broadcast");
  CHECK(spread(1048576, 2) == "column 1048576 x 2");
  CHECK(spread(349526, 3) == "column 349526 x 3, short-columns");  // 4 MiB
  CHECK(spread(349525, 3) == "column 349525 x 3");
  CHECK(doubt_of(group_of(head + "  %y = reverse %s, axes={0} : f32[24]\n  output %y\n")) ==
        "column 64 x 24, skeleton-column-reverse");
  CHECK(doubt_of(group_of(head + "  %y = reshape %s : f32[4,6]\n  output %y\n")) == "column 64 x 24");
  CHECK(doubt_of(group_of("  %x = parameter 0 : f32[24,64]\n  %z = constant 0 : f32[]\n"
                          "  %t = transpose %x, axes={1,0} : f32[64,24]\n"
                          "  %s = reduce add %t, %z, axes={0} : f32[24]\n  output %s\n")) == "column 64 x 24");
  CHECK(doubt_of(group_of(head + "  %b = broadcast %s, axes={1} : f32[64,24]\n  %y = add %x, %b : f32[64,24]\n"
                                 "  %t = transpose %y, axes={1,0} : f32[24,64]\n  output %t\n")) ==
        "column 64 x 24, skeleton-transpose");
  CHECK(doubt_of(group_of("  %x = parameter 0 : f32[24,64]{0,1}\n  %z = constant 0 : f32[]\n"
                          "  %t = transpose %x, axes={1,0} : f32[64,24]\n"
                          "  %s = reduce add %t, %z, axes={0} : f32[24]\n  output %s\n")) == "column 64 x 24");
  const auto aside = [&](int count) {
    return doubt_of(group_of(
        head + fmt::format("  %w = parameter 1 : f32[{0}]\n  %y = negate %w : f32[{0}]\n  output %s, %y\n", count)));
  };
  CHECK(aside(12) == "column 64 x 24");
  CHECK(aside(384) == "column 64 x 24");
  CHECK(aside(385) == "column 64 x 24, output-aside");  // more than a quarter of the elements
  CHECK(doubt_of(group_of(head + "  %y = slice %s, ranges={0:12:1} : f32[12]\n  output %y\n")) == "output-shape");
}

TEST_CASE("a kernel whose blocks share columns prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("column_statistics_f16"), 65536, 64);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  ir::Plan plan;
  plan.skeleton = ir::Skeleton::column;
  plan.dominant = prepared.dominants.front();
  plan.threads = 256;
  plan.threads_per_row = plan.vector = 8;
  plan.in_flight = 4;
  plan.split = 100;
  const codegen::Lowered lowered = codegen::lower(group, plan, h200());
  const auto* refused = std::get_if<ir::Rejection>(&lowered);
  REQUIRE_MESSAGE(refused == nullptr, refused->reason);
  check_golden("column_shared.cu", codegen::cuda(std::get<ir::Kernel>(lowered), &plan));
}

TEST_CASE("sharing columns costs two fences, a number and the parts, and saves trips") {
  const ir::Group group = ir::make_group(ir::family_member("column_sum"), 65536, 64);
  const auto work_of = [&](int split) {
    const std::string text =
        fmt::format("column dominant=%2 threads=256 threads_per_row=16 vector=4 in_flight=8 split={} grid=tile", split);
    return costmodel::count(std::get<ir::Kernel>(codegen::lower(group, ir::parse_plan(text), h200())),
                            costmodel::Mode::exact);
  };
  const costmodel::Work alone = work_of(1), shared = work_of(64);
  // 65536 rows, 16 at a time, 8 in flight: 512 waits. A 64th of them, two fences, the ticket, the parts.
  CHECK(alone.critical_path.memory == 512);
  CHECK(shared.critical_path.memory == 512 / 64 + 4);
  REQUIRE(shared.buffers.size() == alone.buffers.size() + 2);
  CHECK(shared.buffers[0].load.bytes == alone.buffers[0].load.bytes);
  CHECK(shared.buffers[1].store.bytes == alone.buffers[1].store.bytes);
  CHECK(shared.buffers[2].store.bytes == 64 * 64 * 4);  // the parts, written by all and read by the last
  CHECK(shared.buffers[2].load.bytes == 64 * 64 * 4);
  CHECK(shared.buffers[3].atomic.requests == 64 + 1);
}

TEST_CASE("a column plan that does not fit its group is refused in words") {
  const std::string rest = " threads=128 grid=tile";
  CHECK(refusal_of("threads_per_row=8 vector=4 in_flight=4" + rest) == "lowered");
  CHECK(refusal_of("threads_per_row=8 vector=16 in_flight=1" + rest) ==
        "vector: 24 neighbouring columns are no whole number of vectors of 16");
  CHECK(refusal_of("threads_per_row=8 vector=4 in_flight=8" + rest) ==
        "in-flight: columns take 4 rows per thread, fewer than 8 in flight");
  CHECK(refusal_of("threads_per_row=8 vector=4 in_flight=1 split=4" + rest) == "lowered");
  CHECK(refusal_of("threads_per_row=8 vector=4 in_flight=2 split=4" + rest) ==
        "in-flight: columns take 1 row per thread, fewer than 2 in flight");
  CHECK(refusal_of("threads_per_row=8 vector=4 in_flight=1 split=5" + rest) ==
        "split: columns of 64 rows, 16 for a block at once, leave some of 5 blocks that share them without any");
  CHECK(refusal_of("threads_per_row=8 vector=4 in_flight=1 split=2000000000" + rest).starts_with("split: columns of"));
  CHECK_THROWS_WITH(refusal_of("threads_per_row=8 vector=4 in_flight=1 split=0" + rest),
                    doctest::Contains("found split='0'"));
  CHECK(refusal_of("threads_per_row=8 vector=4 in_flight=1 split=2 threads=128 grid=persistent "
                   "blocks_per_sm=4") == "split: blocks that share columns do not loop over others");
  CHECK(refusal_of("threads_per_row=12 vector=4 in_flight=1" + rest) ==
        "threads-per-row: 12 threads per row do not divide 128 threads");
}
