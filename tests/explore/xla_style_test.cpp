// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's emitters as plans. In: small groups written by hand, an H200 as it ships (132 SMs of 2,048 threads, so a loop
// is unrolled from 270,336 elements on). Out: for each row of the table a plan and a launch derived by hand from the
// rules of XLA's emitters (emitters/loop.cc, reduction.cc, optimize_loops.cc at the commit that docs/xla.md names), and
// for each what is just on the other side of where it applies. Over all dumps: a plan lowers or there is a reason, and
// where nothing is said to differ the launch is XLA's.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "codegen/lower/lower.h"
#include "explore/partition.h"
#include "explore/plans/xla_style.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "support/group_family.h"
#include "support/paths.h"
#include "support/search_setting.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::explore;

namespace {

namespace xla = costmodel::xla;
using xla::Form;
using xla::Launch;

/// What became of a group.
struct Found {
  XlaStyle style;
  std::optional<ir::Kernel> kernel;  ///< of the plan, where it lowers
  SameLaunch launches = SameLaunch::differs;
  std::string refused;  ///< by the lowering
};

Found found_in(const ir::Group& group) {
  const costmodel::CalibratedDevice& gpu = search_gpu();
  const auto prepared = codegen::prepare(group);
  Found found;
  if (const auto* why = std::get_if<ir::Rejection>(&prepared)) {
    found.style = xla_style(group.graph, *why, *gpu.xla);
    return found;
  }
  const auto& ready = std::get<codegen::Prepared>(prepared);
  found.style = xla_style(ready, gpu.limits, *gpu.xla);
  if (!found.style.plan) return found;
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(ready, *found.style.plan, gpu.limits, scratch);
  if (auto* no = std::get_if<ir::Rejection>(&lowered)) {
    found.refused = no->rule + ": " + no->reason;
    return found;
  }
  found.kernel = std::get<ir::Kernel>(std::move(lowered));
  found.launches = compare_launch(*found.kernel, found.style.launch, gpu.limits);
  return found;
}

Found found_of(std::string_view lines) {
  const std::string text = fmt::format("graph g {{\n{}}}\n", lines);
  return found_in(ir::make_group({"g", text}, 1, 1));
}

std::string loop(std::string_view shape) {
  return fmt::format("  %a = parameter 0 : {0}\n  %b = negate %a : {0}\n  output %b\n", shape);
}

std::string sum(std::string_view from, std::string_view to, std::string_view axes) {
  return fmt::format(
      "  %a = parameter 0 : {0}\n  %zero = constant 0 : f32[]\n"
      "  %b = reduce add %a, %zero, axes={{{2}}} : {1}\n  output %b\n",
      from, to, axes);
}

/// The axes of a plan that XLA's emitter decides.
std::string axes_of(const Found& found) {
  REQUIRE(found.style.plan.has_value());
  CHECK(found.refused == "");
  const ir::Plan& plan = *found.style.plan;
  CHECK(plan.grid == ir::GridShape::tile);
  CHECK(plan.split == 1);
  CHECK(plan.index_cache);
  CHECK(plan.value_cache);
  std::string text = fmt::format("{} {} threads", name(plan.skeleton), plan.threads);
  if (ir::row(plan.skeleton).has(ir::PlanField::threads_per_row)) text += fmt::format(" / {}", plan.threads_per_row);
  text += fmt::format(", vector {}", plan.vector);
  return text + fmt::format(", {} at once", std::max(plan.in_flight, plan.unroll));
}

/// A group that has a plan with XLA's launch.
void check_equal(const Found& found, Form form, const Launch& launch, std::string_view axes) {
  CHECK(found.style.form == form);
  CHECK(found.style.launch == launch);
  CHECK(axes_of(found) == axes);
  CHECK(found.style.note == "");
  CHECK((found.launches == SameLaunch::equal));
}

void check_none(const Found& found, Form form, std::string_view why) {
  CHECK(found.style.form == form);
  CHECK_FALSE(found.style.plan.has_value());
  CHECK(found.style.note == why);
}

}  // namespace

TEST_CASE("XLA's loop is a map with four warps a block and four neighbours a thread where the GPU is full") {
  const Found full = found_of(loop("f32[4096,768]"));
  check_equal(full, Form::loop, {{6144, 1, 1}, 128}, "map 128 threads, vector 4, 1 at once");
  CHECK(text(*full.style.plan) ==
        "map dominant=%1 threads=128 vector=4 unroll=1 grid=tile index_cache=on value_cache=on arithmetic=xla");
  // 2048 x 131 elements are 2,096 blocks of 128, fewer threads than the GPU has.
  check_equal(found_of(loop("f32[2048,131]")), Form::loop, {{2096, 1, 1}, 128}, "map 128 threads, vector 1, 1 at once");
  // A multiple of two and no more.
  check_equal(found_of(loop("f32[524290]")), Form::loop, {{2049, 1, 1}, 128}, "map 128 threads, vector 2, 1 at once");
}

TEST_CASE("a block of XLA's that is no whole number of warps becomes one of as many warps") {
  const Found small = found_of(loop("f32[100]"));
  CHECK(small.style.launch == Launch{{1, 1, 1}, 100});
  CHECK(axes_of(small) == "map 128 threads, vector 1, 1 at once");
  CHECK(small.style.note == "100 threads are no whole number of warps");
  CHECK((small.launches == SameLaunch::same_warps));
  check_equal(found_of(loop("f32[96]")), Form::loop, {{1, 1, 1}, 96}, "map 96 threads, vector 1, 1 at once");
}

TEST_CASE("results of several sizes are no loop of XLA's") {
  check_none(found_of("  %a = parameter 0 : f32[4096]\n  %b = negate %a : f32[4096]\n"
                      "  %c = slice %a, ranges={0:7:1} : f32[7]\n  output %b, %c\n"),
             Form::loop, "a loop of XLA's writes results of one size");
}

TEST_CASE("a part that is written in place is looped over alone") {
  const auto update = [](std::string_view in_place) {
    return fmt::format(
        "  %x = parameter 0 : f32[4096,768]\n  %new = parameter 1 : f32[2,768]\n  %at = parameter 2 : s32[]\n"
        "  %none = constant 0 : s32[]\n  %part = negate %new : f32[2,768]\n"
        "  %up = dynamic_update_slice %x, %part, %at, %none : f32[4096,768]\n  output %up\n{}",
        in_place);
  };
  check_equal(found_of(update("  in_place 0 of 0\n")), Form::in_place, {{12, 1, 1}, 128},
              "map 128 threads, vector 1, 1 at once");
  check_none(found_of(update("")), Form::in_place, "the whole array is written, and not the part in place");
}

TEST_CASE("a loop that holds a small sum gives a thread a row, or a column, of its own") {
  // Rows of three: neither 32 or more nor a part of 32. Columns of eight: fewer than 32.
  check_equal(found_of(sum("f32[4096,3]", "f32[4096]", "1")), Form::loop, {{32, 1, 1}, 128},
              "row 128 threads / 1, vector 1, 3 at once");
  check_equal(found_of(sum("f32[8,4096]", "f32[4096]", "0")), Form::loop, {{32, 1, 1}, 128},
              "column 128 threads / 128, vector 1, 8 at once");
  const Found unrolled = found_of(sum("f32[8,524288]", "f32[524288]", "0"));
  check_equal(unrolled, Form::loop, {{1024, 1, 1}, 128}, "column 128 threads / 128, vector 4, 8 at once");
  const Found rows = found_of(sum("f32[524288,3]", "f32[524288]", "1"));
  CHECK(rows.style.note == "a thread has one row, in XLA 4");
  CHECK((rows.launches == SameLaunch::differs));
  check_none(found_in(ir::make_group(ir::family_member("softmax"), 64, 3)), Form::loop,
             "XLA would add up anew for each element of a result");
  check_none(found_in(ir::make_group(ir::family_member("softmax"), 64, 512)), Form::loop,
             "XLA ends a kernel with so large a reduction and writes no loop around it");
}

TEST_CASE("XLA takes a scan apart, and has no kernel that a plan could be like") {
  check_none(
      found_of("  %a = parameter 0 : f32[64,96]\n  %zero = constant 0 : f32[]\n  %b = reduce_window add %a, %zero, "
               "text=\"window={size=1x96 pad=0_0x95_0}\" : f32[64,96]\n  output %b\n"),
      Form::loop, "XLA takes a scan apart into windows of windows, several kernels");
}

TEST_CASE("rows have a lane for sixteen elements in whole warps, several a block while it has up to 256 threads") {
  // 768 / 16 = 48, so 64 lanes; 4 rows a block; vectors of two f32; 768 / 64 / 2 = 6 vectors a lane.
  check_equal(found_of(sum("f32[4096,768]", "f32[4096]", "1")), Form::row, {{1024, 1, 1}, 256},
              "row 256 threads / 64, vector 2, 6 at once");
  // 1152 / 16 = 72, so 96 lanes and 2 rows a block; 1152 / 96 / 2 = 6.
  check_equal(found_of(sum("f32[1024,1152]", "f32[1024]", "1")), Form::row, {{512, 1, 1}, 192},
              "row 192 threads / 96, vector 2, 6 at once");
  // An odd row has no vectors; 15001 / 16 = 938, so 960 lanes, and 16 elements for each of them.
  check_equal(found_of(sum("f32[64,15001]", "f32[64]", "1")), Form::row, {{64, 1, 1}, 960},
              "row 960 threads / 960, vector 1, 16 at once");
  check_none(found_of(sum("f32[64,16385]", "f32[64]", "1")), Form::row,
             "so long a reduction XLA cuts in two kernels before it fuses");
  check_none(found_of(R"(  %x = parameter 0 : f32[64,4096]
  %zero = constant 0 : f32[]
  %m = reduce add %x, %zero, axes={1} : f32[64]
  %mb = broadcast %m, axes={0} : f32[64,4096]
  %d = subtract %x, %mb : f32[64,4096]
  %s = reduce add %d, %zero, axes={1} : f32[64]
  output %s
)"),
             Form::row,
             "after the reduction its input is gone over again, for which XLA would add up anew for each "
             "element");
}

TEST_CASE("short rows that are a power of two share a warp") {
  check_equal(found_of(sum("f32[750000,32]", "f32[750000]", "1")), Form::multi_row, {{46875, 1, 1}, 256},
              "row 256 threads / 16, vector 2, 1 at once");
  // Fewer than 132 blocks with vectors of two, so single elements: 8 rows a block.
  check_equal(found_of(sum("f32[1024,32]", "f32[1024]", "1")), Form::multi_row, {{128, 1, 1}, 256},
              "row 256 threads / 32, vector 1, 1 at once");
  const Found few = found_of(sum("f32[3,8]", "f32[3]", "1"));
  CHECK(few.style.launch == Launch{{1, 1, 1}, 24});
  CHECK((few.launches == SameLaunch::same_warps));
  // 33 is no power of two: a warp for each row.
  check_equal(found_of(sum("f32[1024,33]", "f32[1024]", "1")), Form::row, {{128, 1, 1}, 256},
              "row 256 threads / 32, vector 1, 2 at once");
}

TEST_CASE("columns have blocks of 32 x 32 threads, each over 32 vectors of columns") {
  // 512 / 32 = 16 rows a thread, all unrolled: 2 x (1 + 6) = 14 is less than 400 / 16.
  check_equal(found_of(sum("f32[512,256]", "f32[256]", "0")), Form::column, {{4, 1, 1}, 1024},
              "column 1024 threads / 32, vector 2, 16 at once");
  // 4096 / 32 = 128: the most that divides it below 400 / 14.
  check_equal(found_of(sum("f32[4096,256]", "f32[256]", "0")), Form::column, {{4, 1, 1}, 1024},
              "column 1024 threads / 32, vector 2, 16 at once");
  check_none(found_of(sum("f32[4128,256]", "f32[256]", "0")), Form::column,
             "so long a reduction XLA cuts in two kernels before it fuses");
  // Strips of 64 columns end with each batch of 96 in XLA, and not here.
  const Found batched = found_of(sum("f32[4,512,96]", "f32[4,96]", "1"));
  CHECK(batched.style.launch == Launch{{8, 1, 1}, 1024});
  CHECK(batched.style.note == "blocks of 64 columns go on from one batch of 96 to the next");
  CHECK((batched.launches == SameLaunch::differs));
}

TEST_CASE("up to 32 columns that divide a warp are one block") {
  check_equal(found_of(sum("f32[512,8]", "f32[8]", "0")), Form::small_column, {{1, 1, 1}, 128},
              "column 128 threads / 4, vector 2, 16 at once");
  // 64 rows at once of two columns would be too many for a warp: half the threads.
  check_equal(found_of(sum("f32[3,512,2]", "f32[3,2]", "1")), Form::small_column, {{3, 1, 1}, 64},
              "column 64 threads / 2, vector 1, 16 at once");
  // 24 does not divide 32.
  check_equal(found_of(sum("f32[512,24]", "f32[24]", "0")), Form::column, {{1, 1, 1}, 1024},
              "column 1024 threads / 32, vector 1, 16 at once");
}

TEST_CASE("results that share no input have blocks of their own in XLA, and not in a plan") {
  const auto two = [](std::string_view second) {
    return fmt::format(R"(  %x = parameter 0 : f32[1024,1024]
  %y = parameter 1 : f32[1024,1024]
  %zero = constant 0 : f32[]
  %a = reduce add %x, %zero, axes={{1}} : f32[1024]
  %b = reduce max {}, %zero, axes={{1}} : f32[1024]
  output %a, %b
)",
                       second);
  };
  const Found apart = found_of(two("%y"));
  CHECK(apart.style.launch == Launch{{256, 1, 2}, 256});
  CHECK(apart.style.note == "2 sets of results that share no input have blocks of their own in XLA");
  CHECK((apart.launches == SameLaunch::differs));
}

TEST_CASE("a concatenation is gone over as its result, and a small transpose as a loop") {
  const Found joined = found_of(
      "  %a = parameter 0 : f32[4096]\n  %b = parameter 1 : f32[1024]\n"
      "  %c = concatenate %a, %b, axes={0} : f32[5120]\n  output %c\n");
  CHECK(joined.style.form == Form::concatenate);
  CHECK(joined.style.launch == Launch{{32, 1, 1}, 128});
  CHECK(axes_of(joined) == "map 128 threads, vector 1, 1 at once");
  CHECK(joined.style.note ==
        "the loop goes over the result; XLA's goes over the largest operand and does all operands there");
  CHECK(joined.kernel->grid == 40);
  check_equal(found_of("  %a = parameter 0 : f32[32,4]\n  %t = transpose %a, axes={1,0} : f32[4,32]\n  output %t\n"),
              Form::loop, {{1, 1, 1}, 128}, "map 128 threads, vector 1, 1 at once");
}

TEST_CASE("XLA's transposes are square tiles of 32 lanes, with vectors where the GPU is full or a bank holds several") {
  const auto turned = [](std::string_view from, std::string_view axes, std::string_view to) {
    return found_of(
        fmt::format("  %a = parameter 0 : {}\n  %t = transpose %a, axes={{{}}} : {}\n  output %t\n", from, axes, to));
  };
  check_equal(turned("f32[64,512]", "1,0", "f32[512,64]"), Form::transpose, {{32, 1, 1}, 128},
              "transpose 128 threads / 32, vector 1, 8 at once");
  check_equal(turned("f16[64,512]", "1,0", "f16[512,64]"), Form::packed_transpose, {{8, 1, 1}, 128},
              "transpose 128 threads / 32, vector 2, 16 at once");
  // Runs that break XLA's packs are turned by vectors of two where there are enough.
  check_equal(turned("u8[8190,8190]", "1,0", "u8[8190,8190]"), Form::transpose, {{16384, 1, 1}, 128},
              "transpose 128 threads / 32, vector 2, 16 at once");
  check_equal(turned("f32[3,70,41]", "0,2,1", "f32[3,41,70]"), Form::transpose, {{18, 1, 1}, 128},
              "transpose 128 threads / 32, vector 1, 8 at once");
  // A tile of XLA's hangs over short runs; here it is cut to them.
  const Found narrow = turned("f32[16,512]", "1,0", "f32[512,16]");
  CHECK(narrow.style.note == "tiles are 16 x 32, in XLA 32 x 32");
  CHECK(axes_of(narrow) == "transpose 128 threads / 16, vector 1, 4 at once");
  check_none(turned("f32[64,96,2]", "1,0,2", "f32[96,64,2]"), Form::transpose,
             "XLA turns rows of neighbours that stay together; a flat loop reads these as they lie");
}

TEST_CASE("a scatter has its emitter, and a plan over as many updates") {
  const ir::Graph graph = hlo::import_hlo(R"(HloModule scattered

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[512,64]{1,0} parameter(0)
  at = s32[100,1]{1,0} parameter(1)
  new = f32[100,64]{1,0} parameter(2)
  ROOT y = f32[512,64]{1,0} scatter(x, at, new), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
}
)",
                                          "scattered.hlo")
                              .graph;
  const Partition alone = partition(graph, fuse(find_strategy("unfused"), graph, search_setting()));
  REQUIRE(alone.groups.size() == 1);
  const Found found = found_in(alone.groups[0].group);
  CHECK(found.style.form == Form::scatter);
  CHECK(found.style.launch == Launch{{50, 1, 1}, 128});  // 6,400 updates, the GPU is not full
  REQUIRE(found.style.plan.has_value());
  CHECK(found.style.plan->threads == 128);
  CHECK(found.style.plan->vector == 1);
}

TEST_CASE("the table has a row for each form, in order, and those without a plan say so") {
  CHECK(xla_emitters().size() == xla::form_count);
  for (std::size_t i = 0; i < xla_emitters().size(); ++i) {
    const XlaEmitter& emitter = xla_emitters()[i];
    CHECK(static_cast<std::size_t>(emitter.form) == i);
    CHECK(emitter.deals.size() > 10);
    CHECK((emitter.plan == nullptr) == emitter.as.starts_with("no structure "));
  }
}

TEST_CASE("iterations are unrolled as in kernels of XLA's: all of a short row, divisors of long columns") {
  // Columns of 4,096 in 128 iterations: counted in PTX of a plain f32 sum, an f16 one, of layer norm's gradients.
  CHECK(xla_unrolled(128, 1, 1, 2) == 16);
  CHECK(xla_unrolled(128, 1, 1, 4) == 8);
  CHECK(xla_unrolled(128, 12, 7, 4) == 2);
  CHECK(xla_unrolled(128, 24, 7, 2) == 4);
  CHECK(xla_unrolled(6, 4, 2, 2) == 6);
  CHECK(xla_unrolled(7, 1, 1, 1) == 7);
  CHECK(xla_unrolled(59, 1, 1, 1) == 1);  // a prime above the limit
  CHECK(xla_unrolled(1, 1000, 90, 4) == 1);
}

TEST_CASE("in every dump a group's plan lowers or there is a reason, and the launch is XLA's where nothing differs") {
  const std::filesystem::path root = std::filesystem::path(third_party_folder());
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"hlo", "workloads/hlo", "xla_reference"})
    if (!root.empty() && std::filesystem::exists(root / folder))
      for (const auto& entry : std::filesystem::directory_iterator(root / folder))
        if (const std::string path = entry.path().string();
            path.ends_with(".hlo") || path.ends_with(".h200.notriton.prefusion.hlo.gz"))
          files.push_back(entry.path());
  if (files.empty()) return skip("no dumps configured");
  std::sort(files.begin(), files.end());
  int plans = 0, equal = 0, groups = 0;
  for (std::size_t at = 0; at < files.size(); at += testing::effort<std::size_t>(17, 5, 1)) {
    const ir::Graph graph = hlo::import_file(files[at].string()).graph;
    for (const char* strategy : {"xla-priority", "stitch-v1"})
      for (const DistinctGroup& distinct :
           partition(graph, fuse(find_strategy(strategy), graph, search_setting())).groups) {
        INFO(files[at].string(), " ", strategy, " ", ir::text(distinct.group.graph));
        const Found found = found_in(distinct.group);
        ++groups;
        if (!found.style.plan || !found.kernel) {
          CHECK((found.style.note + found.refused) != "");
          continue;
        }
        ++plans;
        if (found.style.note.empty()) {
          ++equal;
          CHECK((found.launches == SameLaunch::equal));
        }
      }
  }
  MESSAGE(fmt::format("{} of {} groups have a plan as XLA's, {} with its launch", plans, groups, equal));
  CHECK(2 * plans > groups);
}
