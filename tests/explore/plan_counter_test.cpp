// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts that plans share: of pads and concatenations as large as models have them each plan gets what it gets alone,
// and a kernel of another loop, however like it looks, gets nothing. Small spaces are in lower_oracle_test.cpp. The
// expected counts are those of the plain way. Part of the suite `explore`.
#include "explore/plans/plan_counter.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <tuple>

#include "codegen/lower/skeletons.h"
#include "costmodel/scratch.h"
#include "explore/plans/rules.h"
#include "explore/plans/walk.h"
#include "support/thorough.h"

namespace tailor::explore {

namespace {

constexpr ir::Limits counting_limits{90,  132, 32, 1024,   2048,  32,     65536, 65536, 255,
                                     256, 4,   4,  233472, 49152, 232448, 1024,  128};

ir::Group group_of_lines(const std::string& lines) {
  ir::Group group;
  group.graph = ir::parse_graph("graph g {\n" + lines + "}\n");
  ir::verify(group.graph);
  return group;
}

/// Rows of `columns` with so many elements of padding in front and behind, of rows and of columns alike.
std::string pad_lines(int rows, int columns, int front, int behind) {
  return fmt::format(
      "  %x = parameter 0 : f32[{},{},3]\n  %z = constant 0 : f32[]\n"
      "  %y = pad %x, %z, ranges={{{}:{}:0, {}:{}:0, 0:0:0}} : f32[{},{},3]\n  output %y\n",
      rows, columns, front, behind, front, behind, rows + front + behind, columns + front + behind);
}

ir::Plan map_plan(const codegen::Prepared& prepared, int threads, int vector, int unroll) {
  ir::Plan plan;
  plan.skeleton = ir::Skeleton::map;
  plan.dominant = prepared.dominants.front();
  plan.threads = threads;
  plan.vector = vector;
  plan.unroll = unroll;
  return plan;
}

}  // namespace

/// Rows that data picks from three tables, side by side: each source has several accesses under the same guard, and
/// plans with several vectors at once repeat one of them.
std::string picked_lines(int rows, int columns) {
  std::string lines;
  for (const char* name : {"a", "b", "c"})
    lines += fmt::format(
        "  %{0}t = parameter {1} : f32[{2},{4}]\n  %{0}p = parameter {3} : s32[311,1]\n"
        "  %{0} = gather %{0}t, %{0}p, text=\"offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
        "index_vector_dim=1, slice_sizes={{1,{4}}}\" : f32[311,{4}]\n",
        name, 2 * (name[0] - 'a'), rows + 13 * (name[0] - 'a'), 2 * (name[0] - 'a') + 1, columns);
  return lines + fmt::format("  %y = concatenate %a, %b, %c, axes={{1}} : f32[311,{}]\n  output %y\n", 3 * columns);
}

/// The greatest of each window in images of so many channels: edges on all sides, and corners where two meet.
std::string window_lines(int window, int stride, int channels) {
  const int pad = window / 2, places = (23 + 2 * pad - window) / stride + 1;
  return fmt::format(
      "  %x = parameter 0 : f32[4,23,23,{3}]\n  %z = constant 0 : f32[]\n"
      "  %y = reduce_window maximum %x, %z, text=\"window={{size=1x{0}x{0}x1 stride=1x{1}x{1}x1 "
      "pad=0_0x{2}_{2}x{2}_{2}x0_0}}\" : f32[4,{4},{4},{3}]\n  output %y\n",
      window, stride, pad, channels, places);
}

/// Sums of neighbours at every other place, taken apart and put together as a scan does it, level by level.
std::string scan_lines(int rows, int columns, int levels) {
  std::string lines = fmt::format("  %x0 = parameter 0 : f32[{},{}]\n", rows, columns);
  for (int level = 0; level < levels; ++level)
    lines += fmt::format(
        "  %e{0} = slice %x{0}, ranges={{0:{1}:1, 0:{2}:2}} : f32[{1},{3}]\n"
        "  %o{0} = slice %x{0}, ranges={{0:{1}:1, 1:{2}:2}} : f32[{1},{3}]\n"
        "  %x{4} = add %e{0}, %o{0} : f32[{1},{3}]\n",
        level, rows, columns >> level, columns >> (level + 1), level + 1);
  lines += fmt::format("  %z = constant 0 : f32[]\n  %y{} = negate %x{} : f32[{},{}]\n", levels, levels, rows,
                       columns >> levels);
  for (int level = levels - 1; level >= 0; --level)
    lines += fmt::format(
        "  %p{0} = pad %y{1}, %z, ranges={{0:0:0, 0:1:1}} : f32[{2},{3}]\n"
        "  %q{0} = pad %e{0}, %z, ranges={{0:0:0, 1:0:1}} : f32[{2},{3}]\n"
        "  %y{0} = add %p{0}, %q{0} : f32[{2},{3}]\n",
        level, level + 1, rows, columns >> level);
  return lines + "  output %y0\n";
}

TEST_CASE("plans of large loops with edges inside share their counts, which are what each has alone" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::string joined =
      "  %a = parameter 0 : f16[31,200]\n  %b = parameter 1 : f16[31,57]\n  %c = parameter 2 : f16[31,7]\n"
      "  %y = concatenate %a, %b, %c, axes={1} : f16[31,264]\n  output %y\n";
  for (const std::string& lines :
       {pad_lines(24, 50, 3, 3), pad_lines(17, 33, 0, 1), pad_lines(40, 25, 1, 2), joined, scan_lines(16, 1024, 2),
        scan_lines(3, 4096, 3), picked_lines(50, 8), picked_lines(900, 18), window_lines(3, 2, 16),
        window_lines(2, 3, 18), window_lines(5, 2, 4), window_lines(3, 1, 13), window_lines(3, 2, 13)}) {
    INFO(lines);
    const ir::Group group = group_of_lines(lines);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    const Axes axes = default_axes(prepared, counting_limits);
    Plans plans(prepared, axes, counting_limits);
    PlanCounter counter(prepared, counting_limits, true);
    codegen::LowerScratch lower_scratch;
    costmodel::Scratch scratch;
    costmodel::Work shared, alone;
    int legal = 0;
    while (const auto plan = plans.next()) {
      if (dropped_by(prepared, *plan, counting_limits)) continue;
      const codegen::Lowered lowered = codegen::lower(prepared, *plan, counting_limits, lower_scratch);
      if (!std::holds_alternative<ir::Kernel>(lowered)) continue;
      ++legal;
      counter.count(*plan, std::get<ir::Kernel>(lowered), shared);
      count(std::get<ir::Kernel>(lowered), costmodel::Mode::fast, scratch, alone);
      INFO(text(*plan));
      CHECK((alone.sampled || shared == alone));
    }
    CHECK(legal > 8);
    CHECK(2 * counter.shared > legal);
  }
}

TEST_CASE("a loop evaluated warp by warp has the counts that exact counting finds, and so have plans of it") {
  // Conditions of edges, of elements inside a vector, and none; addresses in 32 bits, and beyond them.
  const std::string far =
      "  %x = parameter 0 : f32[613,1048583]\n  %y = slice %x, ranges={1:613:4, 5:1048583:131001} : f32[153,9]\n"
      "  output %y\n";
  int scopes = 0, loops = 0;
  for (const std::string& lines : {pad_lines(24, 50, 3, 3), pad_lines(17, 33, 0, 1), picked_lines(50, 8),
                                   window_lines(3, 2, 16), window_lines(3, 1, 13), window_lines(5, 2, 6), far}) {
    INFO(lines);
    const ir::Group group = group_of_lines(lines);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    for (const int vector : {1, 2, 4}) {
      if (prepared.columns % vector != 0) continue;
      CAPTURE(vector);
      const auto lowered = [&](int threads, int unroll) {
        codegen::LowerScratch lower_scratch;
        return std::get<ir::Kernel>(
            codegen::lower(prepared, map_plan(prepared, threads, vector, unroll), counting_limits, lower_scratch));
      };
      const ir::Kernel one_warp = lowered(32, 1);
      costmodel::Scratch scratch;
      costmodel::Work exact, found;
      count(one_warp, costmodel::Mode::exact, scratch, exact);
      const std::vector<costmodel::StmtCount> counts = scratch.body().counts;
      auto loop = costmodel::evaluate_flat(one_warp, prepared.columns / vector, scratch);
      REQUIRE(loop.has_value());
      CHECK_FALSE(loop->sampled);
      ++loops;
      for (const costmodel::FlatCounts::Scope& scope : loop->scopes) {
        CAPTURE(scope.at);
        for (const costmodel::FlatCounts::Access& access : scope.accesses) {
          const costmodel::StmtCount& wanted = counts[static_cast<std::size_t>(access.at)];
          CHECK(std::tie(scope.executions, scope.lanes) == std::tie(wanted.executions, wanted.lanes));
          CHECK(access.units == wanted.units);
        }
        if (scope.at < 0) continue;
        CHECK(costmodel::runs_before(scope, scope.first + scope.warps) == scope.executions);
        ++scopes;
      }
      const ir::Kernel kernel = lowered(128, 2);
      REQUIRE(count_like(*loop, kernel, scratch, found));
      count(kernel, costmodel::Mode::exact, scratch, exact);
      CHECK(found.pipes == exact.pipes);
      CHECK(found.busiest_block == exact.busiest_block);
      CHECK(costmodel::sectors(found) == costmodel::sectors(exact));
    }
  }
  CHECK(loops > 12);
  CHECK(scopes > 60);
}

TEST_CASE("steps of warps say how often those before any warp run a scope, over all periods") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<std::uint16_t> times(1 + random() % 12);
    for (std::uint16_t& one : times) one = static_cast<std::uint16_t>(random() % 3);
    const auto period = static_cast<std::int64_t>(times.size());
    for (const bool repeats : {false, true}) {
      const costmodel::WarpSteps steps{repeats ? period : 0, costmodel::steps_of(times)};
      for (std::int64_t warps = 0, sum = 0; warps <= (repeats ? 4 : 1) * period; ++warps) {
        CHECK(costmodel::runs_before(steps, warps) == sum);
        sum += times[static_cast<std::size_t>(warps % period)];
      }
    }
  }
}

TEST_CASE("how often each warp runs a scope is the same by walking domains and by evaluating warps") {
  int scopes = 0, uneven = 0, periods = 0;
  for (const std::string& lines : {pad_lines(24, 50, 3, 3), pad_lines(17, 33, 0, 1), pad_lines(64, 253, 2, 1),
                                   scan_lines(16, 256, 2), scan_lines(16, 1024, 3), scan_lines(3, 4096, 5),
                                   scan_lines(5, 192, 4), scan_lines(1, 8192, 6), window_lines(3, 2, 16)}) {
    INFO(lines);
    const ir::Group group = group_of_lines(lines);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    codegen::LowerScratch lower_scratch;
    costmodel::Scratch scratch;
    for (const int vector : {1, 2, 4}) {
      if (prepared.columns % vector != 0) continue;
      CAPTURE(vector);
      const auto one_warp = std::get<ir::Kernel>(
          codegen::lower(prepared, map_plan(prepared, 32, vector, 1), counting_limits, lower_scratch));
      const auto walked = costmodel::count_flat(one_warp, prepared.columns / vector, scratch, 1'000'000);
      const auto evaluated = costmodel::evaluate_flat(one_warp, prepared.columns / vector, scratch);
      REQUIRE((walked.has_value() && evaluated.has_value()));
      REQUIRE(walked->scopes.size() == evaluated->scopes.size());
      for (std::size_t i = 1; i < walked->scopes.size(); ++i) {
        const costmodel::FlatCounts::Scope &one = walked->scopes[i], &other = evaluated->scopes[i];
        CAPTURE(one.at);
        CHECK(std::tie(one.executions, one.lanes, one.most) == std::tie(other.executions, other.lanes, other.most));
        CHECK(std::tie(one.first, one.warps) == std::tie(other.first, other.warps));
        int differing = 0;
        for (std::int64_t warp = 0; warp <= one.first + one.warps + 1; ++warp)
          differing += costmodel::runs_before(one, warp) != costmodel::runs_before(other, warp);
        CHECK(differing == 0);
        ++scopes;
        uneven += !one.steps.steps.empty();
        periods += one.steps.period > 0;
      }
    }
  }
  CHECK(scopes > 200);
  CHECK(uneven > 25);
  CHECK(periods > 20);
}

/// Rows that are added, or otherwise put together, where numbers say.
std::string scatter_lines(const char* by, int updates, int columns, int rows, const char* dtype = "f32") {
  return fmt::format(
      "  %i = parameter 0 : s32[{1},1]\n  %x = parameter 1 : {4}[{1},1,{2}]\n  %s = constant 0 : {4}[]\n"
      "  %z = broadcast %s : {4}[{3},{2}]\n"
      "  %y = scatter {0} %z, %i, %x, text=\"update_window_dims={{1,2}}, inserted_window_dims={{}}, "
      "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1\" : {4}[{3},{2}]\n  output %y\n",
      by, updates, columns, rows, dtype);
}

TEST_CASE("programs of several kernels share the counts of each, which are what exact counting says") {
  // Rows of whole vectors and sectors, of neither, and single numbers; added by vectors, by words, by exchange.
  for (const std::string& lines :
       {scatter_lines("add", 600, 64, 40), scatter_lines("add", 512, 37, 64), scatter_lines("multiply", 300, 24, 33),
        scatter_lines("add", 4096, 1, 64, "s32"), scatter_lines("maximum", 256, 18, 96)}) {
    INFO(lines);
    const ir::Group group = group_of_lines(lines);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    const Axes axes = default_axes(prepared, counting_limits);
    Plans plans(prepared, axes, counting_limits);
    PlanCounter counter(prepared, counting_limits, true);
    codegen::LowerScratch lower_scratch;
    costmodel::Scratch scratch;
    costmodel::Work shared, alone;
    int legal = 0;
    while (const auto plan = plans.next()) {
      if (dropped_by(prepared, *plan, counting_limits)) continue;
      const codegen::Lowered lowered = codegen::lower(prepared, *plan, counting_limits, lower_scratch);
      if (!std::holds_alternative<ir::Kernel>(lowered)) continue;
      const ir::Kernel& kernel = std::get<ir::Kernel>(lowered);
      REQUIRE(!kernel.followers.empty());
      ++legal;
      INFO(text(*plan));
      const std::int64_t before = counter.shared;
      counter.count(*plan, kernel, shared);
      count(kernel, costmodel::Mode::fast, scratch, alone);
      const bool sampled = alone.sampled || alone.followers.front().sampled;
      CHECK((sampled || shared == alone));
      if (legal % 8 != 1 || (sampled && counter.shared == before)) continue;  // a sample of its own
      const costmodel::Work exact = costmodel::count(kernel, costmodel::Mode::exact);
      const auto& [found, wanted] = std::pair(shared.followers.front(), exact.followers.front());
      CHECK(found.busiest_block == wanted.busiest_block);
      CHECK(found.pipes == wanted.pipes);
      CHECK(costmodel::sectors(shared) == costmodel::sectors(exact));
    }
    CHECK(legal > 8);
    CHECK(2 * counter.shared > legal);
  }
}

TEST_CASE("a loop too large to look at every warp is sampled once for all plans of a vector, near the true counts" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  // Dilated, odd, cut at an edge and padded at the other; the second with elements that fill no vector.
  const std::string dilated =
      "  %x = parameter 0 : f32[61,113,57]\n  %z = constant 0 : f32[]\n"
      "  %y = pad %x, %z, ranges={0:0:0, 3:2:1, -1:-3:2} : f32[61,230,165]\n  output %y\n";
  const std::string ragged =
      "  %x = parameter 0 : f32[29,501,77]\n  %z = constant 0 : f32[]\n"
      "  %y = pad %x, %z, ranges={1:0:1, 1:-2:0, 0:3:1} : f32[58,500,156]\n"
      "  %t = slice %y, ranges={0:57:1, 1:500:1, 0:155:1} : f32[57,499,155]\n  output %t\n";
  for (const std::string& lines : {dilated, ragged}) {
    INFO(lines);
    const ir::Group group = group_of_lines(lines);
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    const auto lowered = [&](int threads, int vector, int unroll) {
      codegen::LowerScratch lower_scratch;
      return std::get<ir::Kernel>(
          codegen::lower(prepared, map_plan(prepared, threads, vector, unroll), counting_limits, lower_scratch));
    };
    costmodel::Scratch scratch;
    costmodel::Work sampled;
    for (const int vector : {1, 4}) {
      if (!testing::broad() && (vector == 1) != (lines == dilated)) continue;  // by turns
      auto sample = costmodel::sample_flat(lowered(32, vector, 1), prepared.columns / vector, scratch);
      REQUIRE(sample.has_value());
      for (const auto& [threads, unroll] : {std::pair{256, 4}, {128, 1}, {64, 8}}) {
        if (threads != 256 && !testing::thorough()) continue;
        INFO("threads ", threads, " vector ", vector, " unroll ", unroll);
        const ir::Kernel kernel = lowered(threads, vector, unroll);
        REQUIRE(count_like(*sample, kernel, scratch, sampled));
        CHECK(sampled.sampled);
        const costmodel::Work exact = count(kernel, costmodel::Mode::exact);
        const auto near = [](std::int64_t found, std::int64_t wanted, double share) {
          return std::abs(static_cast<double>(found - wanted)) <= share * static_cast<double>(wanted);
        };
        CHECK(near(costmodel::sectors(sampled), costmodel::sectors(exact), 0.02));
        CHECK(near(sampled.pipes.alu, exact.pipes.alu, 0.02));
        CHECK(near(sampled.busiest_block, exact.busiest_block, 0.1));
        CHECK(near(costmodel::compulsory_bytes(sampled), costmodel::compulsory_bytes(exact), 0.02));
      }
    }
    // A kernel of another number of vectors is no such loop.
    CHECK_FALSE(costmodel::sample_flat(lowered(32, 4, 1), 4096, scratch).has_value());
  }
}

TEST_CASE("a small loop with elements that fill no vector is counted once for all plans where each would take long" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  // 21 x 21 x 127 elements: an odd number. Edges everywhere, and each element of a vector has 49 places of its own.
  const ir::Group group = group_of_lines(
      "  %x = parameter 0 : f16[41,41,127]\n  %z = constant 0 : f16[]\n"
      "  %y = reduce_window maximum %x, %z, text=\"window={size=7x7x1 stride=2x2x1 pad=3_3x3_3x0_0}\" : "
      "f16[21,21,127]\n"
      "  output %y\n");
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  PlanCounter counter(prepared, counting_limits, true);
  codegen::LowerScratch lower_scratch;
  costmodel::Work work;
  int plans = 0;
  for (const auto& [threads, unroll] : {std::pair{64, 1}, {128, 1}, {256, 1}, {128, 2}}) {
    const ir::Plan plan = map_plan(prepared, threads, 8, unroll);
    CAPTURE(threads);
    CAPTURE(unroll);
    const auto kernel = std::get<ir::Kernel>(codegen::lower(prepared, plan, counting_limits, lower_scratch));
    counter.count(plan, kernel, work);
    const costmodel::Work exact = costmodel::count(kernel, costmodel::Mode::exact);
    const auto near = [](std::int64_t found, std::int64_t wanted, double share) {
      return std::abs(static_cast<double>(found - wanted)) <= share * static_cast<double>(wanted);
    };
    CHECK(near(costmodel::sectors(work), costmodel::sectors(exact), 0.002));
    CHECK(near(work.pipes.alu, exact.pipes.alu, 0.002));
    CHECK(near(work.busiest_block, exact.busiest_block, 0.1));
    ++plans;
  }
  CHECK(counter.shared == plans);
}

TEST_CASE("plans of a large odd pad take their counts from one another") {
  const ir::Group group = group_of_lines(
      "  %x = parameter 0 : f32[997,13,1009,7]\n  %z = constant 0 : f32[]\n"
      "  %y = pad %x, %z, ranges={3:3:1, 2:2:0, 5:7:1, 0:0:1} : f32[1999,17,2029,13]\n  output %y\n");
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  const Axes axes = default_axes(prepared, counting_limits);
  Plans plans(prepared, axes, counting_limits);
  PlanCounter counter(prepared, counting_limits);
  codegen::LowerScratch lower_scratch;
  costmodel::Work work;
  int legal = 0;
  while (const auto plan = plans.next()) {
    if (dropped_by(prepared, *plan, counting_limits)) continue;
    const codegen::Lowered lowered = codegen::lower(prepared, *plan, counting_limits, lower_scratch);
    if (!std::holds_alternative<ir::Kernel>(lowered)) continue;
    ++legal;
    counter.count(*plan, std::get<ir::Kernel>(lowered), work);
  }
  CHECK(legal > 20);
  CHECK(counter.shared == legal);
}

TEST_CASE("a kernel of another loop is not counted like this one") {
  const ir::Group group = group_of_lines(pad_lines(24, 50, 2, 3));
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  costmodel::Scratch scratch;
  costmodel::Work work;
  const auto kernel_of = [&](const std::string& lines, int threads, int vector, int unroll) {
    const ir::Group other = group_of_lines(lines);
    const auto ready = std::get<codegen::Prepared>(codegen::prepare(other));
    codegen::LowerScratch lower_scratch;
    return std::get<ir::Kernel>(
        codegen::lower(ready, map_plan(ready, threads, vector, unroll), counting_limits, lower_scratch));
  };
  const ir::Kernel one_warp = kernel_of(pad_lines(24, 50, 2, 3), 32, 1, 1);
  auto flat = costmodel::count_flat(one_warp, 29 * 55 * 3, scratch);
  REQUIRE(flat.has_value());
  CHECK(count_like(*flat, kernel_of(pad_lines(24, 50, 2, 3), 128, 1, 2), scratch, work));
  // As large, but one element further; other rows and columns; another vector.
  CHECK_FALSE(count_like(*flat, kernel_of(pad_lines(24, 50, 3, 2), 128, 1, 2), scratch, work));
  CHECK_FALSE(count_like(*flat, kernel_of(pad_lines(50, 24, 2, 3), 128, 1, 1), scratch, work));
  CHECK_FALSE(count_like(*flat, kernel_of(pad_lines(24, 50, 2, 3), 128, 4, 1), scratch, work));
  // A loop of other blocks cannot be learned from.
  CHECK_FALSE(costmodel::count_flat(kernel_of(pad_lines(24, 50, 2, 3), 64, 1, 1), 29 * 55 * 3, scratch).has_value());
}

}  // namespace tailor::explore
