// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The page: well-formed, self-contained, honest, and escaping whatever a model calls itself. The golden page can be
// opened in a browser as it is. Input is the example run (example_summary.h), and the same with hostile names. Part of
// the suite `report`.
#include "report/page.h"

#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "example_summary.h"
#include "golden.h"
#include "ir/most_moved.h"
#include "report/advice.h"
#include "report/overview.h"
#include "report/width.h"
#include "support/approx.h"
#include "well_formed.h"

using namespace tailor;
using namespace tailor::report;

namespace {

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t start = text.find(from);
  REQUIRE(start != text.npos);
  const std::size_t end = text.find(to, start + from.size());
  REQUIRE(end != text.npos);
  return text.substr(start + from.size(), end - start - from.size());
}

}  // namespace

TEST_CASE("the page of the example run is the golden one") { check_golden("page.html", page(example_summary())); }

TEST_CASE("the terminal overview and the Markdown file of the example run are the golden ones") {
  check_golden("overview.txt", overview(example_summary(), {.width = 110, .max_rows = 20}));
  check_golden("overview_narrow.txt", overview(example_summary(), {.width = 60, .max_rows = 20}));
  check_golden("summary.md", markdown(example_summary()));
}

TEST_CASE("no line of the overview is wider than the screen") {
  for (int width = 1; width < 160; ++width) {
    const std::string text = overview(example_summary(), {.width = width});
    for (const auto line : split(text, '\n')) {
      CAPTURE(line);
      REQUIRE(display_width(line) <= width);
    }
  }
}

TEST_CASE("every element of the page is closed, also for an empty summary") {
  CHECK(well_formed(page(example_summary())) == "");
  CHECK(well_formed(page({})) == "");
  CHECK(well_formed("<p><b>x</p></b>") != "");
  CHECK(well_formed("<p>a & b</p>") != "");
  CHECK(well_formed("<p id=\"a\"></p><p id=\"a\"></p>") != "");
}

TEST_CASE("the page asks for nothing outside itself") {
  const std::string text = page(example_summary());
  for (const char* forbidden : {"src=", "href=", "@import", "url(", "https://", "fetch("}) {
    CAPTURE(forbidden);
    CHECK(text.find(forbidden) == text.npos);
  }
}

TEST_CASE("hostile names stay text in every place of the page") {
  const std::string evil = "</script><script>alert(1)</script>\"'&<x y=\x01";
  Summary s = example_summary();
  s.question = s.chosen = s.baseline = evil;
  s.manifest.model = s.manifest.command = s.manifest.device_title = evil;
  s.manifest.more = {{evil, evil}};
  s.warnings = {evil};
  s.roofs[0].device = evil;
  s.strategies[0].name = s.strategies[2].name = evil;
  s.import.module = evil;
  s.import.opaque = {{evil, 1}};
  s.library[0].op = s.library[0].shape = evil;
  s.measured = {{evil, {1e-6}, {2e-6}}};
  for (GroupSummary& group : s.groups) {
    group.name = group.shape = group.status_reason = group.kernel_text = group.cuda = evil;
    for (RejectionCount& one : group.rejections) one.rule = one.example = evil;
    for (PlanSummary& plan : group.best) {
      plan.plan = plan.check_note = plan.compile_log = evil;
      for (EstimateSummary& estimate : plan.estimates)
        estimate.level = estimate.bottleneck = estimate.parts[0].name = evil;
    }
  }
  const std::string text = page(s);
  CHECK(well_formed(text) == "");
  CHECK(text.find("<script>alert") == text.npos);
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = text.find("<script", at)) != text.npos; ++at) ++scripts;
  CHECK(scripts == 2);
}

TEST_CASE("the embedded data is JSON with raw values") {
  const auto data = nlohmann::json::parse(
      between(page(example_summary()), "<script type=\"application/json\" id=\"data\">", "</script>"));
  CHECK(data["schema"] == "tailor.report/1");
  CHECK(data["results"][2]["kernels"] == 74);
  CHECK(data["results"][2]["projected_s"] == 0.561e-3);
  CHECK(data["groups"].size() == 4);
  CHECK(data["plans"][0]["all_times_s"].size() == 640);
}

TEST_CASE("what was not measured or not checked is said so") {
  Summary s = example_summary();
  CHECK(answer(s).find("nothing was measured") != std::string::npos);
  CHECK(page(s).find("Not measured.") != std::string::npos);
  CHECK(page(s).find("no measurements: nothing of this run was timed on a GPU") != std::string::npos);
  CHECK(page(s).find("badge unchecked") != std::string::npos);
  s.measured = {{"a", {1e-6}, {1.1e-6}}};
  CHECK(answer(s).find("1 kernel was measured") != std::string::npos);
  CHECK(page(s).find("Not measured.") == std::string::npos);
}

TEST_CASE("the answer names both strategies, the ratio and the level it rests on") {
  const std::string text = answer(example_summary());
  CHECK(
      text ==
      "tailor needs 74 kernels where xla-priority needs 198 (2.68 × fewer) and is predicted 2.62 × faster "
      "in its fused kernels alone (561 us instead of 1.47 ms, level projected); the 97 library calls, equal for both, "
      "have no time; nothing was measured. xla-priority makes 99.8 % of the real XLA's kernels (jaxlib 0.10.2, 11 "
      "modules).");
  Summary unscored = example_summary();
  unscored.xla_scores = {};
  CHECK(answer(unscored).ends_with("nothing was measured. xla-priority is not scored against the real XLA."));
  CHECK(answer({}) == "No strategy was run, so there is no answer yet.");
}

TEST_CASE("the answer names the level that all of a time has, else how much of it is of which level") {
  Summary s = example_summary();
  const auto says = [&](std::string_view words) {
    INFO(answer(s));
    return answer(s).find(words) != std::string::npos;
  };
  StrategyTotals &chosen = s.strategies[2], &baseline = s.strategies[1];
  for (StrategyTotals* one : {&chosen, &baseline}) one->time.back().level = "counted";
  CHECK(says("(561 us instead of 1.47 ms, level counted)"));
  chosen.time.back().made_of = {{"projected", {505e-6}}, {"counted", {56e-6}}};
  CHECK(says("(561 us: 90.0 % level projected, 9.98 % level counted; instead of 1.47 ms: level counted)"));
  baseline.time.back().made_of = {{"projected", {1.47e-3}}};  // no group of it was executed
  CHECK(says("9.98 % level counted; instead of 1.47 ms: level projected)"));
  chosen.time.back().made_of = baseline.time.back().made_of;
  CHECK(says("(561 us instead of 1.47 ms, level projected)"));
  for (StrategyTotals* one : {&chosen, &baseline}) one->time.back().level = "profiled";
  CHECK(says("is predicted"));  // not one of them was measured
  chosen.time.back().made_of.clear();
  baseline.time.back().made_of.clear();
  CHECK(says("is, by kernels measured one by one,"));
  chosen.time.back().made_of = {{"profiled", {400e-6}}, {"bound", {161e-6}}};
  s.baseline.clear();
  CHECK(says("predicted to take 561 us (71.3 % level profiled, 28.7 % a bound)"));
}

TEST_CASE("a speed-up says what it is of: the fused kernels alone, and the same run with its library calls") {
  Summary s = example_summary();
  const auto says = [&](std::string_view words) {
    INFO(answer(s));
    return answer(s).find(words) != std::string::npos;
  };
  CHECK(
      says("2.62 × faster in its fused kernels alone (561 us instead of 1.47 ms, level projected); the 97 library "
           "calls, equal for both, have no time"));
  for (StrategyTotals& strategy : s.strategies) strategy.library_time = Seconds{1e-3};
  CHECK(
      says("2.62 × faster in its fused kernels alone (561 us instead of 1.47 ms, level projected), 1.58 × faster with "
           "the library calls (1.00 ms for both)"));
  const Speedup both = speedup(s.strategies[2], s.strategies[1]).value();
  CHECK(both.of_kernels() == approx(1.47 / 0.561));
  CHECK(both.with_library().value() == approx(2.47 / 1.561));
  for (StrategyTotals& strategy : s.strategies) {
    strategy.library_calls = 0;
    strategy.library_time.reset();
  }
  CHECK(says("which is all: the model makes no library calls"));
  // Slower strategies are said to be slower, by both.
  std::swap(s.chosen, s.baseline);
  CHECK(says("2.62 × slower in its fused kernels alone"));
}

TEST_CASE("the table of strategies has both speed-ups over the baseline, and the second one only with library times") {
  Summary s = example_summary();
  const auto keys = [&] {
    std::string all;
    for (const Column& column : strategy_table(s).columns) all += column.key + " ";
    return all;
  };
  CHECK(keys().find("speedup_of_kernels") != std::string::npos);
  CHECK(keys().find("speedup_with_library") == std::string::npos);
  for (StrategyTotals& strategy : s.strategies) strategy.library_time = Seconds{1e-3};
  CHECK(keys().find("speedup_with_library") != std::string::npos);
  const Table table = strategy_table(s);
  CHECK(std::get<double>(table.rows[2].back()) == approx(2.47 / 1.561));
  CHECK(std::get<double>(table.rows[1].back()) == approx(1));
}

TEST_CASE("how far plans were from themselves stands in overview, Markdown and page, and nowhere without races") {
  Summary summary = example_summary();
  const auto texts = [&] { return std::array{overview(summary, {.width = 110}), markdown(summary), page(summary)}; };
  for (const std::string& text : texts()) CHECK(text.find("apart, at most") == text.npos);
  summary.twins = {{"cold", "activity", "stream", 12, 1, 0.0031, 0.0214}};
  for (const std::string& text : texts()) {
    CHECK(text.find("he same plan twice in its race") != text.npos);
    CHECK(text.find("2.14") != text.npos);
    CHECK(text.find("0.31") != text.npos);
  }
  CHECK(well_formed(page(summary)) == "");
}

TEST_CASE("plans that a model cannot tell apart share a place in the table of plans") {
  Summary s = example_summary();
  GroupSummary& group = s.groups[0];
  REQUIRE(group.best.size() >= 3);
  group.best[1].estimates.back().total = group.best[0].estimates.back().total * 1.0004;
  const Table table = plan_table(group);
  REQUIRE(table.columns[1].key == "predicted_place");
  CHECK(std::get<std::string>(table.rows[0][1]) == "1=");
  CHECK(std::get<std::string>(table.rows[1][1]) == "1=");
  CHECK(std::get<std::string>(table.rows[2][1]) == "3");
}

TEST_CASE("the report's first advice names the group that explain shows, by the bytes of a run") {
  Summary summary = example_summary();
  std::vector<std::string> lines = advice(summary);
  REQUIRE_FALSE(lines.empty());
  std::vector<ir::GroupTraffic> moved;
  for (const GroupSummary& group : summary.groups)
    moved.push_back({group.status == GroupStatus::ok, group.traffic.value * static_cast<double>(group.occurrences)});
  GroupSummary& other = summary.groups[*ir::most_moved(moved) == 0 ? 1 : 0];
  CHECK(lines.front().starts_with(summary.groups[*ir::most_moved(moved)].name + " moves most in a run: "));
  other.traffic = {1e12};
  other.status = GroupStatus::ok;
  lines = advice(summary);
  CHECK(lines.front().starts_with(other.name + " moves most in a run: "));
  for (const std::string& line : lines) CHECK(line.find("look there first") == std::string::npos);
}

TEST_CASE("on a narrow screen rows of one name keep what tells them apart, and times what they are not of") {
  Summary summary = example_summary();
  REQUIRE(summary.groups.size() >= 2);
  const Screen narrow{.width = 60, .max_rows = 20};
  const std::string id = summary.groups[0].id.substr(0, 10);
  CHECK(overview(summary, narrow).find(id) == std::string::npos);
  summary.groups[1].name = summary.groups[0].name;
  summary.groups[1].id = "0123456789" + summary.groups[1].id;
  summary.library.push_back(summary.library[0]);
  summary.library.back().shape = "f32[1,2] x f32[2,3]";
  REQUIRE_FALSE(summary.strategies.empty());
  summary.strategies.back().groups_at_lower_bound = 7;
  const std::string shown = overview(summary, narrow);
  CHECK(shown.find(id) != std::string::npos);
  CHECK(shown.find("0123456789") != std::string::npos);
  CHECK(shown.find("f32[1,2] x") != std::string::npos);
  CHECK(shown.find(" bounds") != std::string::npos);  // the end of a heading on several lines
  for (const char* qualifying : {"groups at bound", "faster, kernels alone", "id"})  // not among those left out
    CHECK(shown.find(fmt::format("{},", qualifying)) == std::string::npos);
}

TEST_CASE("each line of advice names a number, and a run without findings gets none") {
  const auto lines = advice(example_summary());
  CHECK(lines.size() >= 5);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(line.find_first_of("0123456789") != line.npos);
  }
  CHECK(advice({}).empty());
}

TEST_CASE("plans listed together show their shared words once, and no word is lost") {
  const GroupSummary group = example_summary().groups[0];
  const PlanWords words = plan_words(group);
  REQUIRE(words.own.size() == group.best.size());
  for (std::size_t i = 0; i < group.best.size(); ++i)
    for (const auto word : split(group.best[i].plan, ' ')) {
      const std::string both = " " + words.shared + " " + words.own[i] + " ";
      CHECK(both.find(" " + std::string(word) + " ") != both.npos);
    }
  CHECK(words.shared.find("residence=registers") != std::string::npos);
  CHECK(words.own[0] == "threads_per_row=32 vector=8 in_flight=1");
  GroupSummary single = group;
  single.best.resize(1);
  CHECK(plan_words(single).own[0] == group.best[0].plan);
  CHECK(plan_words(single).shared.empty());
}

TEST_CASE("the page's table of plans has each plan's own words in the column of plans, and all else as it is") {
  const Summary summary = example_summary();
  const std::string text = page(summary);
  int tables = 0;
  for (const GroupSummary& group : summary.groups) {
    if (group.best.empty()) continue;
    Table expected = plan_table(group);
    for (std::size_t c = 0; c < expected.columns.size(); ++c)
      for (std::size_t r = 0; r < expected.rows.size(); ++r)
        if (expected.columns[c].key == "plan") expected.rows[r][c] = plan_words(group).own[r];
    CHECK(text.find(html(expected, true)) != text.npos);
    ++tables;
  }
  CHECK(tables == 3);
}

TEST_CASE("rejections add up by rule over the groups") {
  const Table table = rejection_table(example_summary());
  REQUIRE(table.rows.size() == 3);
  CHECK(std::get<std::string>(table.rows[0][0]) == "registers");
  CHECK(std::get<std::int64_t>(table.rows[0][1]) == 3 * 812);
  CHECK(std::get<std::string>(table.rows[1][2]) == "heuristic");
}

TEST_CASE("groups stand heaviest first and a group without a plan keeps empty cells") {
  const Table table = group_table(example_summary());
  REQUIRE(table.rows.size() == 4);
  CHECK(std::get<std::string>(table.rows[0][0]) == "softmax<f32>");
  CHECK(std::get<std::string>(table.rows[3][0]) == "reduce_bias_grad");
  CHECK(std::holds_alternative<std::monostate>(table.rows[3][6]));
}
