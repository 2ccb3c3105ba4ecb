// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of strategies side by side: counts of a loop against what its trips make of them, what is computed again
// against covers written by hand, both sides of every time. The oracles are small models whose figures are worked out
// in the test. Part of the suite `study`.
#include "study/tables/strategy_table.h"
#include "report/xla_score.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "explore/price.h"
#include "hlo/import.h"
#include "study/tables/partition_tables.h"
#include "support/approx.h"
#include "support/paths.h"
#include "support/search_setting.h"

using namespace tailor;
using namespace tailor::study;

namespace {

ir::Graph graph_of(std::string_view text) { return hlo::import_hlo(text, "test.hlo").graph; }

StrategyFigures figures_of(const ir::Graph& graph, const ir::Fusion& fusion, BestPlans* plans = nullptr) {
  return strategy_figures(graph, fusion, explore::partition(graph, fusion), {&search_gpu(), 1}, plans);
}

StrategyFigures figures_of(const ir::Graph& graph, std::string_view strategy, BestPlans* plans = nullptr) {
  return figures_of(graph, explore::fuse(explore::find_strategy(strategy), graph, search_setting()), plans);
}

std::size_t column_named(const report::Table& table, std::string_view key) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                               [&](const report::Column& column) { return column.key == key; });
  REQUIRE_MESSAGE(at != table.columns.end(), key);
  return static_cast<std::size_t>(at - table.columns.begin());
}

constexpr std::string_view loop = R"(HloModule m
c { s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT l = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[1024] get-tuple-element(s), index=1
  y = f32[1024] tanh(x)
  d = f32[1024] custom-call(y), custom_call_target="lib"
  z = f32[1024] sine(d)
  ROOT t = (s32[], f32[1024]) tuple(j, z) }
ENTRY e { x = f32[1024] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[1024]) tuple(zero, x)
  w = (s32[], f32[1024]) while(s), condition=c, body=b
  o = f32[1024] get-tuple-element(w), index=1
  ROOT q = f32[1024] cosine(o) }
)";

}  // namespace

TEST_CASE("the floor of launches counts trips where the floor of kernels counts the text") {
  const StrategyFigures figures = figures_of(graph_of(loop), "stitch-v1");
  // A call between two kernels in the loop, seven times; one kernel behind it.
  CHECK(figures.partition.least_kernels == 3);
  CHECK(figures.partition.least_launches == approx(15));
  CHECK(figures.partition.launches == approx(15));
  const report::Table table = strategy_table({&figures, 1}, {&search_gpu(), 1});
  CHECK(table.rows[0][column_named(table, "kernel_floor")] == report::Cell(std::int64_t{3}));
  CHECK(table.rows[0][column_named(table, "launch_floor")] == report::Cell(std::int64_t{15}));
}

TEST_CASE("what several kernels compute is counted as often as it is done again, with its elements") {
  const ir::Graph graph = graph_of(
      "HloModule m\nENTRY e {\n x = f32[100] parameter(0)\n a = f32[100] sine(x)\n b = f32[100] cosine(a)\n"
      " c = f32[100] tanh(a)\n d = f32[100] negate(a)\n ROOT t = (f32[100], f32[100], f32[100]) tuple(b, c, d)\n}\n");
  ir::Fusion fusion = explore::fuse(explore::find_strategy("unfused"), graph);
  const auto node = [&](std::string_view name) {
    const auto at = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& n) { return n.name == name; });
    return static_cast<ir::NodeId>(at - graph.nodes.begin());
  };
  CHECK(figures_of(graph, fusion).again == 0);
  CHECK(figures_of(graph, fusion).between_bytes == approx(400));
  fusion.groups = {{node("a"), node("b")}, {node("a"), node("c")}, {node("a"), node("d")}};
  const StrategyFigures figures = figures_of(graph, fusion);
  CHECK(figures.again == approx(2));
  CHECK(figures.again_elements == approx(200));
  CHECK(figures.between_bytes == 0);
}

TEST_CASE("what a loop's body computes again counts once for each of its trips") {
  const ir::Graph graph = graph_of(R"(HloModule m
c { s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT l = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[1024] get-tuple-element(s), index=1
  y = f32[1024] tanh(x)
  z = f32[1024] sine(y)
  u = f32[1024] cosine(y)
  v = f32[1024] add(z, u)
  ROOT t = (s32[], f32[1024]) tuple(j, v) }
ENTRY e { x = f32[1024] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[1024]) tuple(zero, x)
  w = (s32[], f32[1024]) while(s), condition=c, body=b, backend_config={"known_trip_count":{"n":"7"}}
  ROOT o = f32[1024] get-tuple-element(w), index=1 }
)");
  ir::Fusion fusion = explore::fuse(explore::find_strategy("unfused"), graph);
  for (std::size_t body = 0; body < graph.bodies.size(); ++body) {
    const auto node = [&](std::string_view name) -> std::optional<ir::NodeId> {
      const auto& nodes = graph.bodies[body].nodes;
      const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const ir::Node& n) { return n.name == name; });
      if (at == nodes.end()) return std::nullopt;
      return static_cast<ir::NodeId>(at - nodes.begin());
    };
    if (node("y")) fusion.bodies[body].groups = {{*node("y"), *node("z")}, {*node("y"), *node("u")}, {*node("v")}};
  }
  const StrategyFigures figures = figures_of(graph, fusion);
  CHECK(figures.again == approx(7));
  CHECK(figures.again_elements == approx(7 * 1024));
}

TEST_CASE("each figure of a strategy stands in its own column") {
  StrategyFigures one;
  one.partition.strategy = "s";
  one.partition.kernels = 11, one.partition.least_kernels = 12, one.partition.launches = 13;
  one.partition.least_launches = 14, one.partition.bytes = 15;
  one.partition.library_launches = 16, one.partition.library_bytes = 17;
  one.kernels_without_plan = 18, one.launches_without_plan = 19, one.planned_bytes = 20;
  one.again = 21, one.again_elements = 22, one.between_bytes = 23;
  TimesOnDevice& on = one.on.emplace_back();
  on.bound = 24, on.planned_bound = 25, on.price = 26, on.planned_price = 27, on.projected = 28;
  on.workspace_bytes = 29, on.xla_kernels = 30, on.xla_same_launch = 31, on.xla_same_warps = 32;
  on.as_xla = 43, on.best_of_xla = 33;
  const report::Table table = strategy_table({&one, 1}, {&search_gpu(), 1});
  const auto check = [&](const std::string& key, double value) {
    CAPTURE(key);
    const report::Cell& cell = table.rows[0][column_named(table, key)];
    const auto* whole = std::get_if<std::int64_t>(&cell);
    CHECK((whole != nullptr ? static_cast<double>(*whole) : std::get<double>(cell)) == value);
  };
  const std::vector<std::pair<std::string, double>> whole_model{{"kernels", 11},
                                                                {"kernel_floor", 12},
                                                                {"launches", 13},
                                                                {"launch_floor", 14},
                                                                {"traffic", 15},
                                                                {"library_calls", 16},
                                                                {"library_traffic", 17},
                                                                {"kernels_without_plan", 18},
                                                                {"launches_without_plan", 19},
                                                                {"planned_traffic", 20},
                                                                {"again", 21},
                                                                {"again_elements", 22},
                                                                {"between", 23},
                                                                {"distinct_groups", 0},
                                                                {"planned", 0}};
  for (const auto& [key, value] : whole_model) check(key, value);
  const std::vector<std::pair<std::string, double>> times{
      {"bound", 24},          {"planned_bound", 25}, {"price", 26},      {"planned_price", 27},
      {"projected", 28},      {"workspace", 29},     {"xla_plans", 30},  {"xla_same_launch", 31},
      {"xla_same_warps", 32}, {"as_xla", 43},        {"search_adds", 10}};
  for (const auto& [key, value] : times) check(search_gpu().name + "_" + key, value);
}

TEST_CASE("a table of groups says how many it leaves out, and shows runs where runs are asked for") {
  const ir::Graph graph = graph_of(loop);
  const explore::Partition partition =
      explore::partition(graph, explore::fuse(explore::find_strategy("unfused"), graph));
  const auto all = std::ssize(partition.groups);
  REQUIRE(all >= 3);
  for (const std::int64_t top : {std::int64_t{0}, std::int64_t{1}, all - 1, all, all + 1}) {
    const report::Table table = group_table(partition, {&search_gpu(), 1}, top, false);
    CHECK(std::ssize(table.rows) == (top > 0 ? std::min<std::int64_t>(top, all) : all));
    CHECK(std::ssize(table.rows) + table.left_out == all);
  }
  const report::Table table = group_table(partition, {&search_gpu(), 1}, 0, true);
  std::set<std::int64_t> numbers;
  double dearer = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto cell = [&](std::string_view key) { return table.rows[i][column_named(table, key)]; };
    const auto number = std::get<std::int64_t>(cell("number"));
    numbers.insert(number);
    REQUIRE((number >= 1 && number <= all));
    const explore::DistinctGroup& group = partition.groups[static_cast<std::size_t>(number - 1)];
    CHECK(cell("places") == report::Cell(std::ssize(group.occurrences)));
    CHECK(cell("runs") == report::Cell(static_cast<std::int64_t>(group.times)));
    CHECK(cell("traffic") == report::Cell(group.bytes));
    CHECK(cell("reason") != report::Cell(std::string()));
    const auto price = std::get<double>(cell("all_price"));
    CHECK(price <= dearer);
    dearer = price;
  }
  CHECK(std::ssize(numbers) == all);
}

TEST_CASE("every time has two sides: all groups, and those that a kernel can be written for") {
  const ir::Graph graph = graph_of(
      "HloModule m\nf { a = f32[] parameter(0)\n c = c64[] complex(a, a)\n ROOT b = f32[] real(c) }\nENTRY e {\n"
      " x = f32[4096] parameter(0)\n"
      " y = f32[4096] map(x), dimensions={0}, to_apply=f\n ROOT z = f32[4096] sine(y)\n}\n");
  BestPlans plans;
  const StrategyFigures figures = figures_of(graph, "unfused", &plans);
  CHECK(figures.partition.kernels == 2);
  CHECK(figures.kernels_without_plan == 1);
  CHECK(figures.launches_without_plan == approx(1));
  REQUIRE(figures.on.size() == 1);
  const TimesOnDevice& on = figures.on[0];
  CHECK(on.planned_price < on.price);
  CHECK(on.planned_bound < on.bound);
  CHECK(figures.planned_bytes < figures.partition.bytes);
  double planned = 0;
  for (const explore::DistinctGroup& group : figures.partition.groups)
    if (std::holds_alternative<codegen::Layout>(group.needs))
      planned += explore::group_price(group.group.graph, search_gpu());
  CHECK(on.planned_price == approx(planned));
  REQUIRE(on.projected.has_value());
  CHECK(*on.projected >= on.planned_bound);
  CHECK_FALSE(figures_of(graph, "unfused").on[0].projected.has_value());
}

TEST_CASE("whoever says that its rules are XLA's is named so, and stands in the table of agreement") {
  const ir::Graph graph =
      graph_of("HloModule m\nENTRY e {\n x = f32[4096] parameter(0)\n ROOT z = f32[4096] sine(x)\n}\n");
  std::vector<std::string> left_out;
  const std::vector<StrategyFigures> all = all_strategies(graph, {&search_gpu(), 1}, left_out, {silent()});
  const report::Table table =
      agreement_table(graph, all, {&search_gpu(), 1}, std::filesystem::path(source_folder()) / "data");
  std::size_t imitating = 0;
  for (const explore::Strategy& row : explore::strategies()) {
    CHECK(row.source.starts_with("openxla/xla") == report::imitates_xla(row.name));
    imitating += report::imitates_xla(row.name) ? 1 : 0;
  }
  CHECK(table.rows.size() == imitating);
  CHECK(agreement_table(graph, {all.data(), 1}, {&search_gpu(), 1}, "there is none").columns.empty());
  const ir::Graph before = graph_of(
      "HloModule m\nENTRY e {\n x = f32[64,64] parameter(0)\n y = f32[4096] reshape(x)\n ROOT z = f32[4096] "
      "sine(y)\n}\n");
  const report::Table warned =
      agreement_table(before, all, {&search_gpu(), 1}, std::filesystem::path(source_folder()) / "data");
  int warnings = 0;
  for (const std::vector<report::Cell>& row : warned.rows) {
    const std::string note = std::get<std::string>(row.back());
    warnings += note.find("does not hold here: 1 reshape shows") != note.npos ? 1 : 0;
    CHECK((note == "not scored" || warnings == 1));
  }
  CHECK(warnings == 1);
  for (const std::vector<report::Cell>& row : table.rows)
    CHECK(std::get<std::string>(row.back()).find("reshapes") == std::string::npos);
}

TEST_CASE("strategies share the best plans of equal groups, and one that needs a device is named without") {
  const ir::Graph graph =
      graph_of("HloModule m\nENTRY e {\n x = f32[4096] parameter(0)\n ROOT z = f32[4096] sine(x)\n}\n");
  std::vector<std::string> left_out;
  const std::vector<StrategyFigures> all = all_strategies(graph, {&search_gpu(), 1}, left_out, {silent()});
  CHECK(left_out.empty());
  CHECK(all.size() == explore::strategies().size());
  for (const StrategyFigures& one : all) CHECK(*one.on[0].projected == approx(*all[0].on[0].projected));
  const std::vector<StrategyFigures> without = all_strategies(graph, {}, left_out, {silent()});
  CHECK(without.size() + left_out.size() == explore::strategies().size());
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(all_strategies(graph, {&search_gpu(), 1}, left_out, {silent(), source.get_token()}), Error);
}

TEST_CASE("a row that is cheaper than the search by the price alone is told with what both take by plans") {
  const auto row = [](const std::string& name, double price, std::optional<double> projected) {
    StrategyFigures figures;
    figures.partition.strategy = name;
    figures.on.push_back({});
    figures.on[0].price = price;
    figures.on[0].projected = projected;
    return figures;
  };
  const auto told = [&](const std::vector<StrategyFigures>& rows) {
    return decided_by_plans(rows, {&search_gpu(), 1});
  };
  const StrategyFigures ours = row("tailor", 5e-6, 6e-6), any = row("tailor-any", 1e-6, 9e-6);
  CHECK(told({row("unfused", 9e-6, 9e-6), ours, any}).empty());
  CHECK(told({row("stitch-v1", 5e-6, 9e-6), ours}).empty());
  CHECK(told({row("stitch-v1", 1e-6, 9e-6)}).empty());
  const std::vector<std::string> words =
      told({row("stitch-v1", 4e-6, 9e-6), row("xla-2020", 3e-6, std::nullopt), ours, any});
  REQUIRE(words.size() == 1);
  // Of one whose groups have no plan, plans say nothing.
  CHECK(words[0].find("not the price that stitch-v1 is cheaper by: by the price 4.00 us for 5.00, by plans 9.00 us for "
                      "6.00") != std::string::npos);
  StrategyFigures planless = row("xla-2022", 1e-6, 1e-6);
  planless.launches_without_plan = 1;
  CHECK(told({planless, ours}).empty());
  const std::vector<std::string> missed = told({row("xla-2020", 3e-6, 4e-6), planless, ours});
  REQUIRE(missed.size() == 1);
  CHECK(
      missed[0].find("the search of tailor missed what xla-2020 found: by the price 3.00 us for 5.00, by plans 4.00 us "
                     "for 6.00") != std::string::npos);
}

TEST_CASE("a model without groups has figures of nothing") {
  const StrategyFigures figures =
      figures_of(graph_of("HloModule m\nENTRY e {\n ROOT x = f32[4] parameter(0)\n}\n"), "stitch-v1");
  CHECK(figures.partition.kernels == 0);
  CHECK(figures.on[0].price == 0);
  CHECK(strategy_table({&figures, 1}, {&search_gpu(), 1}).rows.size() == 1);
}
