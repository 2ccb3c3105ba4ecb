// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which value stands in which column. In: summaries in which no two fields have one value. Out: every table's rows as
// the JSON that programs read, by hand, null where a field is not known; and the words that rest on the same fields.
// Part of the suite `report`.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/index_page.h"
#include "report/overview.h"
#include "report/xla_score.h"

using namespace tailor;
using namespace tailor::report;

namespace {

/// The rows of `table` are those of the array `expected`, each with exactly these keys. Keys stand once in it.
void check_rows(const Table& table, const std::string& expected) {
  const nlohmann::json found = nlohmann::json::parse(json(table)), rows = nlohmann::json::parse(expected);
  REQUIRE_MESSAGE(found.size() == rows.size(), found.dump());
  for (std::size_t i = 0; i < rows.size(); ++i)
    CHECK_MESSAGE(found[i] == rows[i], found[i].dump(), " for ", rows[i].dump());
}

StrategyTotals baseline() {
  StrategyTotals s{"xla-2022", 11, 7, 13, {4096}, {{"sol", {2}}, {"projected", {5}}}, 6, 17, {41}, 43};
  s.library_time = Seconds{4};
  return s;
}

StrategyTotals chosen() {
  StrategyTotals s{"tailor", 5, 2, 37, {1700}, {{"sol", {1}}, {"counted", {1.5}}}, 3, 19, {53}, 59};
  s.library_time = Seconds{8};
  s.groups_at_lower_bound = 31;
  s.time_at_lower_bound = {0.375};
  s.launches_at_lower_bound = 12;
  s.xla_kernels = 23;
  s.xla_same_launch = 29;
  s.as_xla = {0.75};
  s.best_of_xla = {0.25};
  return s;
}

/// Counts 1, 2 and 3, 4 bytes, and nothing that needs a column of its own but times.
StrategyTotals counted(const std::string& name, std::vector<LevelTime> time) {
  StrategyTotals s;
  s.name = name;
  s.kernels = 1, s.distinct_groups = 2, s.launches = 3;
  s.traffic = {4};
  s.time = std::move(time);
  return s;
}

PlanSummary plan(const std::string& words, std::vector<EstimateSummary> estimates) {
  PlanSummary made;
  made.id = "id of " + words;
  made.plan = words;
  made.estimates = std::move(estimates);
  return made;
}

/// Of two levels, of the lower one alone, and of none.
GroupSummary group_of_three() {
  GroupSummary group;
  group.id = "0123456789abcdef";
  group.name = "add_reduce";
  group.occurrences = 3;
  group.shape = "f32[4,5]";
  group.traffic = {1024};
  group.enumerated = 77, group.rejected = 66, group.lowered = 5, group.compiled = 4;
  group.best = {plan("row a", {{"sol", {0.25}, {0.125}, {0.3125}, {{"dram", {0.2}}}, "l2", 0.1, 2},
                               {"projected", {0.5}, {0.375}, {0.75}, {{"fma", {0.4}}, {"xu", {0.3}}}, "xu", 0.625, 3}}),
                plan("row b", {{"sol", {0.0625}, {0.03125}, {0.09375}, {}, "dram", 0, 0}}), plan("row c", {})};
  group.best[0].check = CheckState::passed;
  group.best[0].check_note = "largest error 2";
  group.best[0].binary = BinaryState::ok;
  group.best[0].registers = 40, group.best[0].spill_bytes = 24, group.best[0].shared_bytes = 512;
  group.best[1].binary = BinaryState::failed;
  group.best[2].check = CheckState::not_judged;
  group.all_times = {{0.5}, {0.75}, {0.5}};
  group.lower_bound = Seconds{0.125};
  group.xla = XlaSummary{"row emitter", "same warps", "note", "projected", Seconds{0.75}, Seconds{0.5}};
  return group;
}

}  // namespace

TEST_CASE("a strategy's row: each figure under its own key, both speed-ups of the highest level that both have") {
  Summary s;
  s.chosen = "tailor", s.baseline = "xla-2022";
  s.strategies = {baseline(), chosen()};
  const Table table = strategy_table(s);
  CHECK(table.best == 1);
  check_rows(table, R"([
    {"strategy": "xla-2022", "kernels": 11, "kernel_floor": 6, "distinct_groups": 7, "launches": 13,
     "traffic_bytes": 4096, "sol_s": 2, "projected_s": 5, "counted_s": null, "groups_at_lower_bound": 0,
     "time_at_lower_bound_s": 0, "library_calls": 17, "library_traffic_bytes": 41, "library_flops": 43,
     "library_time_s": 4, "xla_plans": 0, "xla_same_launch": 0, "as_xla_s": 0, "search_adds_s": 0,
     "speedup_of_kernels_ratio": 1, "speedup_with_library_ratio": 1},
    {"strategy": "tailor", "kernels": 5, "kernel_floor": 3, "distinct_groups": 2, "launches": 37,
     "traffic_bytes": 1700, "sol_s": 1, "projected_s": null, "counted_s": 1.5, "groups_at_lower_bound": 31,
     "time_at_lower_bound_s": 0.375, "library_calls": 19, "library_traffic_bytes": 53, "library_flops": 59,
     "library_time_s": 8, "xla_plans": 23, "xla_same_launch": 29, "as_xla_s": 0.75, "search_adds_s": 0.5,
     "speedup_of_kernels_ratio": 2, "speedup_with_library_ratio": 1.1111111111111112}])");
  // Both have the library's time: (2 + 8) / (1 + 8). The answer says what of the time is a bound, and of how many.
  const std::string words = answer(s).text();
  CHECK(
      words.find(
          "With groups without a plan at their bound, strategy tailor is predicted 2.00 × faster than xla-2022 in its "
          "fused kernels alone: 1.00 s instead of 2.00 s. With the library calls, which take 8.00 s under both, it is "
          "predicted 1.11 × faster. It needs 5 kernels, xla-2022 needs 11 (2.20 × fewer). Both times come from level "
          "sol.") == 0);
  CHECK(
      words.ends_with(" 25.0 % of the time of strategy tailor is no prediction: 12 launches without a plan count with "
                      "their bound."));
}

TEST_CASE("columns of strategies that nobody fills are not there") {
  Summary s;
  s.chosen = "a";
  s.strategies = {counted("a", {{"compiled", {5}}, {"own", {6}}, {"sol", {7}}})};
  check_rows(strategy_table(s), R"([{"strategy": "a", "kernels": 1, "kernel_floor": null, "distinct_groups": 2,
    "launches": 3, "traffic_bytes": 4, "sol_s": 7, "compiled_s": 5, "own_s": 6}])");
  std::vector<std::string> levels;
  for (const Column& column : strategy_table(s).columns)
    if (column.hint == Hint::seconds) levels.push_back(column.key);
  CHECK(levels == std::vector<std::string>{"sol", "compiled", "own"});  // unknown ones behind
}

TEST_CASE("the index has every strategy of every report with its model and device, under the union of their columns") {
  Summary one, two;
  one.manifest.model = "m1", one.manifest.device = "d1", two.manifest.model = "m2", two.manifest.device = "d2";
  one.chosen = two.chosen = "tailor";
  one.strategies = {baseline(), chosen()};
  two.strategies = {counted("tailor", {{"compiled", {5}}})};
  const nlohmann::json all = nlohmann::json::parse(json(all_strategies({one, two})));
  REQUIRE(all.size() == 3);
  const std::vector<std::pair<const Summary*, std::size_t>> rows{{&one, 0}, {&one, 1}, {&two, 0}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    nlohmann::json own = nlohmann::json::parse(json(strategy_table(*rows[i].first)))[rows[i].second];
    own["model"] = rows[i].first->manifest.model;
    own["device"] = rows[i].first->manifest.device;
    for (const auto& [key, value] : all[i].items()) CHECK(value == (own.contains(key) ? own[key] : nlohmann::json()));
    for (const auto& [key, value] : own.items()) CHECK_MESSAGE(all[i].contains(key), key);
  }
}

TEST_CASE("groups by the time of all their places, with bounds where there is no plan") {
  Summary s;
  GroupSummary bound, bare, untuned;
  bound.id = "bound567890123", bound.name = "column_sum", bound.occurrences = 5, bound.shape = "f16[7]";
  bound.status = GroupStatus::needs_skeleton;
  bound.traffic = {2048}, bound.lower_bound = Seconds{0.5}, bound.enumerated = 0;
  bare.id = "bare", bare.name = "bare";
  untuned.id = "untuned", untuned.name = "untuned", untuned.status = GroupStatus::not_tuned;
  s.groups = {bare, group_of_three(), untuned, bound};
  const std::string tail = R"(, "best_time_s": null, "best_time_all_s": null, "bound": null, "plans_enumerated": 0,
    "tied_plans": null, "xla_emitter": null, "xla_launch": null, "search_adds_s": null,
    "bandwidth_bytes_per_s": null)";
  const std::string nothing = R"(, "places": 1, "shape": "", "traffic_bytes": 0, "time_share_fraction": null,
    "bound_time_s": null)";
  check_rows(group_table(s), R"([
    {"title": "column_sum", "state": "needs skeleton", "group": "bound56789", "places": 5, "shape": "f16[7]",
     "traffic_bytes": 2048, "time_share_fraction": 0.625, "bound_time_s": 0.5)" +
                                 tail + R"(},
    {"title": "add_reduce", "state": "passed", "group": "0123456789", "places": 3, "shape": "f32[4,5]",
     "traffic_bytes": 1024, "best_time_s": 0.5, "best_time_all_s": 1.5, "time_share_fraction": 0.375, "bound": "xu",
     "plans_enumerated": 77, "tied_plans": 2, "bound_time_s": 0.125, "xla_emitter": "row emitter",
     "xla_launch": "same warps", "search_adds_s": 0.25, "bandwidth_bytes_per_s": 2048},
    {"title": "bare", "state": "no plan", "group": "bare")" +
                                 tail + nothing + R"(},
    {"title": "untuned", "state": "not tuned", "group": "untuned")" +
                                 tail + nothing + "}]");
}

TEST_CASE("plans: every level's time, all else of the level that ranks, places going on from level to level") {
  const GroupSummary group = group_of_three();
  const Table table = plan_table(group);
  check_rows(table, R"([
    {"rank": 1, "predicted_place": "1", "plan": "row a", "check": "passed: largest error 2", "sol_s": 0.25,
     "projected_s": 0.5, "predicted_low_s": 0.375, "predicted_high_s": 0.75, "bound": "xu",
     "occupancy_fraction": 0.625, "registers": 40, "spill_bytes": 24, "shared_bytes": 512, "binary": "compiled"},
    {"rank": 2, "predicted_place": "2", "plan": "row b", "check": "unchecked", "sol_s": 0.0625,
     "projected_s": null, "predicted_low_s": 0.03125, "predicted_high_s": 0.09375, "bound": "dram",
     "occupancy_fraction": null, "registers": null, "spill_bytes": null, "shared_bytes": null, "binary": "failed"},
    {"rank": 3, "predicted_place": "", "plan": "row c", "check": "not judged", "sol_s": null,
     "projected_s": null, "predicted_low_s": null, "predicted_high_s": null, "bound": null,
     "occupancy_fraction": null, "registers": null, "spill_bytes": null, "shared_bytes": null,
     "binary": "not compiled"}])");
  CHECK(table.best == 0);
  CHECK(footer(table, 3) == "5 rows, 2 not shown: --top 0 shows all");
}

TEST_CASE("plans of a lower level keep their order behind those of a higher one, tied or not") {
  GroupSummary group = group_of_three();
  group.best[2].estimates = group.best[1].estimates;
  group.best.push_back(group.best[1]);
  group.best[3].estimates[0].total = {0.125};
  std::vector<std::string> places;
  for (const auto& row : plan_table(group).rows) places.push_back(std::get<std::string>(row[1]));
  CHECK(places == std::vector<std::string>{"1", "2=", "2=", "4"});
}

TEST_CASE("a table says how many of its rows are not there, one as well as many, and nothing where all are") {
  Table table;
  table.columns = {{"a", "a"}};
  table.rows.assign(3, {std::string("x")});
  for (const auto& [left_out, shown, words] :
       std::vector<std::tuple<std::int64_t, std::size_t, std::string>>{{0, 3, ""},
                                                                       {0, 2, "3 rows, 1 not shown"},
                                                                       {1, 3, "4 rows, 1 not shown"},
                                                                       {1, 2, "4 rows, 2 not shown"},
                                                                       {2000, 3, "2,003 rows, 2,000 not shown"}}) {
    table.left_out = left_out;
    CHECK(footer(table, shown) == words);
  }
  table.to_see_all = "--top 0";
  CHECK(footer(table, 3) == "2,003 rows, 2,000 not shown: --top 0 shows all");
}

TEST_CASE("rejections: most first, sound and heuristic ones of a rule apart, with the first example of each") {
  Summary s;
  GroupSummary one, two;
  one.rejections = {{"tail", 2, true, "first"}, {"tail", 4, false, "second"}, {"none", 0, true, "nothing counted"}};
  two.rejections = {{"tail", 9, true, "third"}, {"width", 5, false, "fourth"}};
  s.groups = {one, two};
  check_rows(rejection_table(s), R"([
    {"rule": "tail", "plans": 11, "soundness": "sound", "example": "first"},
    {"rule": "width", "plans": 5, "soundness": "heuristic", "example": "fourth"},
    {"rule": "tail", "plans": 4, "soundness": "heuristic", "example": "second"},
    {"rule": "none", "plans": null, "soundness": "sound", "example": "nothing counted"}])");
}

TEST_CASE("what a GPU said: plans, plans beside themselves, whole models, each figure under its own key") {
  Summary s;
  s.times = {{"g1",
              "row x",
              "cold",
              "stream",
              {0.5},
              Seconds{0.375},
              Seconds{0.625},
              true,
              30,
              1,
              Seconds{0.75},
              "projected",
              0.875},
             {"g2",
              "row y",
              "warm",
              "graph",
              {0.25},
              std::nullopt,
              std::nullopt,
              false,
              20,
              2,
              std::nullopt,
              "",
              std::nullopt}};
  check_rows(measured_table(s), R"([
    {"title": "g1", "place": "1=", "cache": "cold", "launch_mode": "stream", "median_s": 0.5, "low_s": 0.375,
     "high_s": 0.625, "samples": 30, "predicted_s": 0.75, "level": "projected", "predicted_to_measured_ratio": 1.5,
     "dram_fraction": 0.875, "plan": "row x"},
    {"title": "g2", "place": "2", "cache": "warm", "launch_mode": "graph", "median_s": 0.25, "low_s": null,
     "high_s": null, "samples": 20, "predicted_s": null, "level": "", "predicted_to_measured_ratio": null,
     "dram_fraction": null, "plan": "row y"}])");
  s.twins = {{"cold", "activity", "stream", 12, 1, 0.25, 0.5}};
  check_rows(twin_table(s), R"([{"cache": "cold", "timed_by": "activity", "launch_mode": "stream", "races": 12,
    "apart_middle_fraction": 0.25, "apart_most_fraction": 0.5, "told_apart": 1}])");
  s.modules = {{"tailor", "xla", "cold", "graph", {2}, {3}, 1.5, 74, 198, 5, 6, true}};
  const std::string head = R"([{"strategy": "tailor", "launches": 74, "cache": "cold", "launch_mode": "graph",
    "median_s": 2, "baseline": "xla", "baseline_launches": 198, "baseline_median_s": 3, "groups_left_out": 5,
    "baseline_groups_left_out": 6, "speedup_ratio": )";
  check_rows(module_table(s), head + "1.5}]");
  s.modules[0].same_work = false;  // then it is no speed-up of the fusion
  check_rows(module_table(s), head + "null}]");
  const auto may_go = [&] {
    const Table table = module_table(s);
    return table.columns[place_of_column(table, "groups_left_out")].sacrifice > 0;
  };
  CHECK_FALSE(may_go());
  s.modules[0].left_out = 0;
  CHECK_FALSE(may_go());
  s.modules[0].baseline_left_out = 0;
  CHECK(may_go());
}

TEST_CASE("library calls, the import and the manifest have each figure under its own key") {
  Summary s;
  s.library = {{"dot", "f32[2,3]", 48, {1024}, 2048, Seconds{0.5}}, {"conv", "f32[4]", 1, {512}, 256, std::nullopt}};
  check_rows(library_table(s), R"([
    {"operation": "dot", "shape": "f32[2,3]", "runs": 48, "traffic_bytes": 1024, "library_flops": 2048,
     "call_time_s": 0.5},
    {"operation": "conv", "shape": "f32[4]", "runs": 1, "traffic_bytes": 512, "library_flops": 256,
     "call_time_s": null}])");
  s.import.passes = {{"inline calls", 41, 7, 8}, {"dead", 3}};
  s.import.opaque = {{"topk", 2}};
  check_rows(import_table(s), R"([{"pass": "inline calls", "rewrites": 41}, {"pass": "dead", "rewrites": 3},
    {"pass": "kept as opaque: topk", "rewrites": 2}])");
  s.manifest = {"tool",  "rev",    "command", "started", Seconds{2}, "model", "file",
                "graph", "config", "device",  "title",   "chain",    7,       {{"host", "cores"}}};
  check_rows(manifest_table(s), R"rows([{"what": "model", "text": "model (file)"},
    {"what": "device", "text": "title (device)"}, {"what": "tool", "text": "tool, revision rev"},
    {"what": "command", "text": "command"}, {"what": "toolchain", "text": "chain"},
    {"what": "started", "text": "started"}, {"what": "took", "text": "2.00 s"}, {"what": "seed", "text": "7"},
    {"what": "graph id", "text": "graph"}, {"what": "config id", "text": "config"},
    {"what": "host", "text": "cores"}])rows");
}

TEST_CASE("published scores: each key of the file is its own figure, and none may be more than there is") {
  const XlaScores scores{"how", "command", {{"xla-2022", "t4", "release", 2, 9, 10, 0.5, 7, 8, 3, 4}}};
  const nlohmann::json file = nlohmann::json::parse(text(scores));
  CHECK(file["how"] == "how");
  CHECK(file["command"] == "command");
  CHECK(file["scores"][0] == nlohmann::json::parse(R"({"strategy": "xla-2022", "device": "t4", "release": "release",
    "modules": 2, "same_kernels": 9, "xla_kernels": 10, "same_kernel_bytes_fraction": 0.5, "same_launches": 7,
    "xla_launches": 8, "same_prices": 3, "xla_prices": 4})"));
  for (const auto& [same, all] : {std::pair("same_kernels", "xla_kernels"), std::pair("same_launches", "xla_launches"),
                                  std::pair("same_prices", "xla_prices")}) {
    nlohmann::json changed = file;
    changed["scores"][0][same] = changed["scores"][0][all];
    CHECK_NOTHROW((void)parse_xla_scores(changed.dump(), "f"));
    changed["scores"][0][same] = changed["scores"][0][all].get<int>() + 1;
    CHECK_THROWS((void)parse_xla_scores(changed.dump(), "f"));
  }
  const std::vector<std::string> strategy{"xla-2022"}, device{"t4"};
  check_rows(xla_score_table({"h", "c", scores.scores}, strategy, device, 0),
             R"([{"strategy": "xla-2022", "device": "t4", "same_kernels": 9, "xla_kernels": 10,
    "same_kernels_fraction": 0.9, "same_kernel_bytes_fraction": 0.5, "same_launches_fraction": 0.875,
    "same_prices_fraction": 0.75, "note": "XLA of release, 2 modules"}])");
  CHECK(agreement_words(scores, "xla-2022", "t4", 0) ==
        " xla-2022 makes 90.0 % of the real XLA's kernels (release, 2 modules).");
  CHECK(
      agreement_words(scores, "xla-2022", "t4", 2) ==
      " xla-2022 makes 90.0 % of the real XLA's kernels (release, 2 modules; does not hold here: 2 reshapes show that "
      "this text is from before XLA's other passes).");
  for (const auto& [name, on] : {std::pair("xla-2022", "h200"), std::pair("xla-2020", "t4")})
    CHECK(agreement_words(scores, name, on, 1) == std::string(" ") + name + " is not scored against the real XLA.");
}
