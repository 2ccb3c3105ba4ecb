// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which plans are legal, which an oracle that runs legal plans cannot see: how many of a scattered share of each
// group's space are lowered and how many each rule refuses is golden. And laws that need no list: whether a plan fits
// does not depend on whether the last block is full, since guards cut it off; and plans at both sides of each limit of
// the machine. Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "explore/plans/walk.h"
#include "support/golden.h"
#include "support/group_family.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits legal_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 8192, 15360, 0, 128};

std::uint64_t scatter(std::uint64_t number) { return number * 0x9e3779b97f4a7c15ULL >> 33; }

/// The rule that refuses the plan; "legal".
std::string ruling_on(const codegen::Prepared& prepared, const Plan& plan, codegen::LowerScratch& scratch) {
  const codegen::Lowered lowered = codegen::lower(prepared, plan, legal_limits, scratch);
  const auto* refused = std::get_if<Rejection>(&lowered);
  return refused == nullptr ? "legal" : refused->rule;
}

/// Calls visit(plan) for one plan in `one_in` of the space that the oracle of lowering runs.
template <class Visit>
void each_plan(const codegen::Prepared& prepared, std::uint64_t one_in, Visit&& visit) {
  explore::Axes axes = explore::default_axes(prepared, legal_limits);
  axes[PlanField::threads] = {64, 192, 256};
  axes[PlanField::threads_per_row].push_back(3 * legal_limits.warp_size);
  axes[PlanField::split] = {1, 3};
  explore::Plans plans(prepared, axes, legal_limits);
  std::uint64_t number = 0;
  while (auto plan = plans.next()) {
    if (scatter(++number) % one_in != 0) continue;
    // As many resident blocks as the enumeration asks for, and now and then more than fit.
    if (scatter(number + 1) % 8 == 0) plan->blocks_per_sm *= 4;
    visit(*plan);
  }
}

codegen::Prepared prepared_member(std::string_view member, std::int64_t rows, std::int64_t columns, Group& group) {
  group = make_group(family_member(member), rows, columns);
  return std::get<codegen::Prepared>(codegen::prepare(group));
}

/// Whether every plan without a loop over tiles is ruled on alike for both sizes; how many were legal.
int same_rulings(std::string_view member, std::array<std::int64_t, 2> full, std::array<std::int64_t, 2> ragged) {
  Group first_group, second_group;
  const codegen::Prepared first = prepared_member(member, full[0], full[1], first_group),
                          second = prepared_member(member, ragged[0], ragged[1], second_group);
  codegen::LowerScratch scratch;
  int legal = 0;
  each_plan(first, 11, [&](const Plan& plan) {
    if (plan.grid == GridShape::persistent || plan.split > 1) return;
    const std::string fits = ruling_on(first, plan, scratch), ragged_fits = ruling_on(second, plan, scratch);
    CHECK_MESSAGE(fits == ragged_fits, fmt::format("{} {}x{}: {}; {}x{}: {}; {}", member, full[0], full[1], fits,
                                                   ragged[0], ragged[1], ragged_fits, text(plan)));
    legal += fits == "legal" ? 1 : 0;
  });
  return legal;
}

std::string refusal_by(std::string_view member, std::int64_t rows, std::int64_t columns, Plan plan) {
  Group group;
  const codegen::Prepared prepared = prepared_member(member, rows, columns, group);
  plan.skeleton = prepared.skeleton;
  plan.dominant = prepared.dominants.front();
  plan.homes = codegen::homes_of(prepared, HomesWord::registers);
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered = codegen::lower(prepared, plan, legal_limits, scratch);
  const auto* refused = std::get_if<Rejection>(&lowered);
  return refused == nullptr ? "legal" : fmt::format("{}: {}", refused->rule, refused->reason);
}

}  // namespace

TEST_CASE("as many plans of each group are legal, and as many are refused by each rule, as its golden list says") {
  std::string list;
  codegen::LowerScratch scratch;
  for (const auto* cases :
       {&explore::row_cases(), &explore::column_cases(), &explore::map_cases(), &explore::turned_cases(),
        &explore::pieces_cases(), &explore::strips_cases(), &explore::bundles_cases()})
    for (const explore::SpaceCase& which : *cases) {
      Group group;
      const codegen::Prepared whole = prepared_member(which.member, which.rows, which.columns, group);
      const codegen::Prepared& prepared = explore::structure_of(which, whole);
      std::map<std::string, int> rulings;
      // Of small spaces more: a map has a hundredth of the plans of a row.
      each_plan(prepared, prepared.skeleton == Skeleton::map ? 2 : 5,
                [&](const Plan& plan) { ++rulings[ruling_on(prepared, plan, scratch)]; });
      constexpr std::array loops =
          std::to_array<std::string_view>({"", " in tiles", " in pieces", " in bundles", " in strips of 2",
                                           " in strips of 3", " in strips of 4", " in strips of 8"});
      list += fmt::format("{} {}x{}{}:", which.member, which.rows, which.columns, row_for(loops, which.loop));
      for (const auto& [rule, count] : rulings) list += fmt::format(" {} {}", rule, count);
      list += "\n";
    }
  check_golden("legal_plans.txt", list);
}

TEST_CASE("a plan fits a group whose last block is full where it fits one whose last block is not") {
  int legal = 0;
  for (const std::string_view member :
       {"softmax", "layernorm_f16", "rms_residual_bf16", "cross_entropy", "row_sum", "row_statistics_f16",
        "integer_extremes", "split_rows", "attention", "integer_reductions", "stacked_row", "softmax_update"}) {
    CAPTURE(member);
    const int some = same_rulings(member, {512, 96}, {509, 96});
    CHECK(some > 0);
    legal += some;
  }
  for (const std::string_view member : {"column_sum", "bias_gradient_bf16", "column_statistics_f16", "batched_columns",
                                        "columns_between", "two_runs", "column_softmax", "split_columns"}) {
    CAPTURE(member);
    const int rows = same_rulings(member, {512, 96}, {509, 96}), columns = same_rulings(member, {64, 512}, {64, 496});
    CHECK(rows > 0);
    CHECK(columns > 0);
    legal += rows + columns;
  }
  for (const std::string_view member : {"bias_gelu_f16", "transpose_scale", "two_outputs", "window_read"}) {
    CAPTURE(member);
    legal += same_rulings(member, {512, 64}, {509, 64});
  }
  CHECK(legal > 1000);
}

TEST_CASE("a plan is legal up to each limit of the machine and refused from there on") {
  // An SM of 512 threads and 4 blocks; blocks of at most 256 threads.
  const auto persistent = [](int threads, int blocks) {
    Plan plan;
    plan.threads = threads;
    plan.threads_per_row = 32;
    plan.vector = 1;
    plan.grid = GridShape::persistent;
    plan.blocks_per_sm = blocks;
    return refusal_by("row_sum", 4096, 64, plan);
  };
  CHECK(persistent(128, 4) == "legal");
  CHECK(persistent(256, 2) == "legal");
  CHECK(persistent(256, 3) == "persistent: 3 blocks of 256 threads do not fit an SM with 4 blocks and 512 threads");
  CHECK(persistent(160, 4) == "persistent: 4 blocks of 160 threads do not fit an SM with 4 blocks and 512 threads");
  CHECK(persistent(64, 4) == "legal");
  CHECK(persistent(64, 5) == "persistent: 5 blocks of 64 threads do not fit an SM with 4 blocks and 512 threads");
  CHECK(persistent(64, 0) ==
        "persistent: a persistent grid has blocks_per_sm blocks for each SM, and the plan says none");
  const auto tiles = [](std::int64_t rows) {
    Plan plan;
    plan.threads = 64;
    plan.threads_per_row = 64;
    plan.vector = 1;
    plan.grid = GridShape::persistent;
    plan.blocks_per_sm = 2;
    return refusal_by("row_sum", rows, 64, plan);
  };
  CHECK(tiles(5) == "legal");  // two SMs with two blocks each
  CHECK(tiles(4) == "persistent: 4 tiles for 4 resident blocks: nothing to loop over");
  const auto block = [](int threads) {
    Plan plan;
    plan.threads = threads;
    plan.threads_per_row = 32;
    plan.vector = 1;
    return refusal_by("row_sum", 4096, 64, plan);
  };
  CHECK(block(256) == "legal");
  CHECK(block(288) == "threads: 288 threads exceed 256 per block");
  CHECK(block(80) == "threads: 80 threads are no whole number of warps of 32");
  CHECK(block(0) == "threads: 0 threads are no whole number of warps of 32");
}

TEST_CASE("blocks that must be resident are legal up to what an SM holds of them, and bind the program") {
  Limits limits = legal_limits;
  const auto resident = [&](int threads, int blocks, std::int64_t columns = 64, bool shared = false) {
    Group group;
    const codegen::Prepared prepared = prepared_member("softmax", 512, columns, group);
    Plan plan;
    plan.skeleton = Skeleton::row;
    plan.dominant = prepared.dominants.front();
    plan.threads = threads;
    plan.threads_per_row = 32;
    plan.vector = 1;
    plan.homes = codegen::homes_of(prepared, shared ? HomesWord::shared : HomesWord::registers);
    plan.min_blocks = blocks;
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, limits, scratch);
    if (const auto* refused = std::get_if<Rejection>(&lowered)) return refused->rule + ": " + refused->reason;
    CHECK(std::get<Kernel>(lowered).min_blocks == blocks);
    return std::string("legal");
  };
  for (const int blocks : {0, 1, 2, 4}) CHECK(resident(128, blocks) == "legal");
  CHECK(resident(64, 5) ==
        "min-blocks: 5 resident blocks of 64 threads do not fit an SM with 4 blocks and 512 threads");
  CHECK(resident(160, 3) == "legal");
  CHECK(resident(160, 4) ==
        "min-blocks: 4 resident blocks of 160 threads do not fit an SM with 4 blocks and 512 threads");
  CHECK(resident(256, 1 << 30).starts_with("min-blocks: 1073741824 resident blocks"));
  // Two blocks of 256 threads leave a thread 128 of an SM's 65,536 registers, one leaves it 255; an element takes two.
  CHECK(resident(256, 2, 64 * 32) == "legal");
  CHECK(resident(256, 2, 65 * 32) ==
        "min-blocks: values loaded together and kept need 130 registers per thread, of which 2 resident blocks of 256 "
        "threads leave 128");
  CHECK(resident(256, 1, 65 * 32) == "legal");
  // Two values of two rows of 512 at once are 8 KiB of an SM's 16.
  CHECK(resident(64, 2, 512, true) == "legal");
  CHECK(resident(64, 3, 512, true) ==
        "min-blocks: 3 resident blocks with 8192 bytes of shared memory each exceed 16384 of an SM");
  limits.shared_reserved_per_block = 128;  // the system has a part of each block's
  CHECK(resident(64, 2, 512, true) ==
        "min-blocks: 2 resident blocks with 8320 bytes of shared memory each exceed 16384 of an SM");
  Plan silent = parse_plan("map dominant=%1 threads=64 vector=1 unroll=1 grid=tile index_cache=on value_cache=on");
  CHECK(text(silent).find("min_blocks") == std::string::npos);
  silent.min_blocks = 2;
  CHECK(text(silent).ends_with(" arithmetic=xla min_blocks=2"));
  CHECK(parse_plan(text(silent)) == silent);
}

TEST_CASE("rows and columns that are walked twice are not shared by blocks, those walked once are") {
  const auto shared = [](const std::string& lines, int split) {
    Group group;
    group.graph =
        parse_graph("graph g {\n  %x = parameter 0 : f32[64,64]\n  %z = constant 0 : f32[]\n" + lines + "}\n");
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    Plan plan;
    plan.skeleton = prepared.skeleton;
    plan.dominant = prepared.dominants.front();
    plan.threads = 64;
    plan.threads_per_row = prepared.skeleton == Skeleton::row ? 64 : 8;
    plan.vector = 1;
    plan.split = split;
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, legal_limits, scratch);
    const auto* refused = std::get_if<Rejection>(&lowered);
    return refused == nullptr ? "legal" : refused->reason;
  };
  for (const int axis : {0, 1}) {
    CAPTURE(axis);
    const std::string sum = fmt::format("  %s = reduce add %x, %z, axes={{{}}} : f32[64]\n", axis);
    const std::string spread =
        fmt::format("  %b = broadcast %s, axes={{{}}} : f32[64,64]\n  %y = subtract %x, %b : f32[64,64]\n", 1 - axis);
    const std::string_view what = axis == 1 ? "rows" : "columns";
    CHECK(shared(sum + "  output %s\n", 1) == "legal");
    CHECK(shared(sum + spread + "  output %y\n", 1) == "legal");
    if (axis == 0) CHECK(shared(sum + "  output %s\n", 2) == "legal");
    CHECK(shared(sum + spread + "  output %y\n", 2) ==
          fmt::format("{} are walked 2 times, so 2 blocks that do not meet cannot share them", what));
  }
}
