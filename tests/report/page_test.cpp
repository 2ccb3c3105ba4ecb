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
#include "report/chart_map.h"
#include "report/index_page.h"
#include "report/overview.h"
#include "report/svg.h"
#include "report/width.h"
#include "support/approx.h"
#include "support/thorough.h"
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

std::vector<std::string> link_targets(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(" href=\"", at)) != text.npos;) {
    at += 7;
    found.push_back(text.substr(at, text.find('"', at) - at));
  }
  return found;
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
  for (const char* forbidden : {"src=", "@import", "url(", "https://", "fetch("}) {
    CAPTURE(forbidden);
    CHECK(text.find(forbidden) == text.npos);
  }
  for (const std::string& target : link_targets(text)) CHECK(target.starts_with("#"));
}

TEST_CASE("every link of a page leads to a place of it, every group's row to its section, and a repeated id to one") {
  Summary s = example_summary();
  s.groups.push_back(s.groups[0]);
  for (const Summary& one : {example_summary(), s, Summary{}}) {
    const std::string text = page(one);
    for (const std::string& target : link_targets(text)) {
      CAPTURE(target);
      CHECK(text.find("id=\"" + target.substr(1) + "\"") != text.npos);
    }
    for (const GroupSummary& group : one.groups)
      CHECK(text.find(fmt::format("><a href=\"#group-{}\">{}</a></td>", group.id.substr(0, 10), escaped(group.name))) !=
            text.npos);
  }
}

TEST_CASE("sections stand in reading order: question, verdict, answer, bars, time, groups; the device comes last") {
  const std::string text = page(example_summary());
  std::size_t before = 0;
  for (const char* mark :
       {"<h1>How should bert_base", "Does fusing by price pay", "The claim holds.", "Strategy tailor is predicted",
        "It needs 74", "aria-label=\"how many times faster", "<nav ", "id=\"time\"", "id=\"groups\"", "id=\"fusion\"",
        "id=\"strategies\"", "id=\"roofline\"", "id=\"measured\"", "id=\"refused\"", "id=\"library\"", "id=\"method\"",
        "id=\"run\"", "</main>"}) {
    CAPTURE(mark);
    const std::size_t at = text.find(mark, before);
    REQUIRE(at != text.npos);
    before = at;
  }
}

TEST_CASE("groups stand most time first, unfolded where they take at least 5 % of it and are among the first three") {
  Summary s = example_summary();
  GroupSummary small = s.groups[0];
  small.id = "5ma11" + small.id;
  small.name = "small_one";
  small.occurrences = 1;
  s.groups.insert(s.groups.begin(), small);
  const auto is_open = [](const std::string& text, const GroupSummary& group) {
    const std::string head = "<details class=\"group\" id=\"group-" + group.id.substr(0, 10) + "\"";
    REQUIRE(text.find(head) != text.npos);
    return text.find(head + " open>") != text.npos;
  };
  const std::string text = page(s);
  std::size_t before = 0;
  std::size_t place = 0;
  double all = 0;
  for (const GroupSummary& group : s.groups) all += whole_time(group).value;
  for (const GroupSummary* group : heaviest_first(s)) {
    const std::size_t at = text.find("<details class=\"group\" id=\"group-" + group->id.substr(0, 10));
    REQUIRE(at != text.npos);
    CHECK(at > before);
    before = at;
    CHECK(is_open(text, *group) == (++place <= 3 && whole_time(*group).value >= 0.05 * all));
  }
  CHECK_FALSE(is_open(text, small));
}

TEST_CASE("a page of very many groups stays bounded, and says what it leaves out" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  Summary s = example_summary();
  const GroupSummary one = s.groups[0];
  s.groups.clear();
  for (int i = 0; i < 3000; ++i) {
    s.groups.push_back(one);
    s.groups.back().id = fmt::format("{:010x}", i);
    s.groups.back().occurrences = 3000 - i;
  }
  const std::string text = page(s);
  const auto count = [&](const char* what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++found;
    return found;
  };
  CHECK(count("<details class=\"group\"") == 400);
  CHECK(count("CUDA of the best plan") == 40);
  CHECK(text.find("2,600 more groups have no section") != text.npos);
  CHECK(text.find("2,000 not shown: the raw data of this page shows all") != text.npos);
  const auto data = nlohmann::json::parse(between(text, "<script type=\"application/json\" id=\"data\">", "</script>"));
  CHECK(data["groups"].size() == 3000);
}

TEST_CASE("a claim is told by its verdict, its figure, its threshold and what it counts, each at its place") {
  const auto says = [](const ClaimSummary& claim) {
    const Verdict said = verdict(claim);
    return said.head + " " + said.words;
  };
  ClaimSummary claim = *example_summary().claim;
  CHECK(
      says(claim) ==
      "The claim holds. It says: the search saves two thirds of the launches. It counts launches of fused kernels "
      "alone, over all models and devices. Strategy none has 3.25 × as much as the best other one, and the claim asks "
      "for 3.00 × or more. Not compared: stitch-v1, of which too many launches have no plan.");
  claim.threshold = 3.26;
  CHECK(says(claim).starts_with("The claim does not hold."));
  claim.threshold = 3.25;  // reached is enough
  CHECK(says(claim).starts_with("The claim holds."));
  claim.not_judged = "the sweep has not ended";
  CHECK(says(claim) ==
        "The claim is not judged. It says: the search saves two thirds of the launches. It has no verdict: the sweep "
        "has not ended.");
  Summary s = example_summary();
  s.claim = claim;
  CHECK(page(s).find("class=\"verdict open\"") != std::string::npos);
  s.claim.reset();
  CHECK(page(s).find("verdict") == page(s).find("verdict {"));  // the style alone
}

TEST_CASE("what has no kernel is summed up by reason, most bytes of a run first") {
  Summary s = example_summary();
  GroupSummary column = s.groups.back();  // 4 times 12.6 MB
  column.id = "77" + column.id;
  column.name = "second_column";
  column.occurrences = 2;
  column.status_reason = "another sentence";
  s.groups.push_back(column);
  GroupSummary sort = column;
  sort.name = "sort_of_much";
  sort.traffic = {1e9};
  sort.rejections = {{"skeleton-sort", 0, true, "a sort"}, {"registers", 9000, true, "many"}};
  sort.status_reason = "sorting needs a skeleton of its own";
  s.groups.push_back(sort);
  const Table table = unplanned_table(s);
  REQUIRE(table.rows.size() == 2);
  const auto text = [&](std::size_t row, const char* key) {
    return std::get<std::string>(table.rows[row][place_of_column(table, key)]);
  };
  const auto number = [&](std::size_t row, const char* key) {
    return std::get<std::int64_t>(table.rows[row][place_of_column(table, key)]);
  };
  const auto real = [&](std::size_t row, const char* key) {
    return std::get<double>(table.rows[row][place_of_column(table, key)]);
  };
  CHECK(text(0, "reason") == "needs skeleton: skeleton-sort");  // the rule against the group, not against most plans
  CHECK(text(1, "reason") == "needs skeleton: skeleton-column");
  CHECK(real(0, "traffic") == approx(2e9));
  CHECK(real(1, "traffic") == approx(6 * 12.6e6));
  CHECK(number(1, "groups") == 2);
  CHECK(number(1, "runs") == 6);
  CHECK(text(1, "title") == "reduce_bias_grad");
  CHECK(text(1, "example").starts_with("the reduction runs along"));
  double all = 0;
  for (const GroupSummary& group : s.groups) all += group.traffic.value * static_cast<double>(group.occurrences);
  CHECK(real(0, "traffic_share") == approx(2e9 / all));
}

TEST_CASE("the picture has a linked box for each group, a plain one for what is outside, and the reasons' numbers") {
  const Summary s = example_summary();
  const DrawnMap drawn = map_chart(s.map, {0.5, -1, 0.25});
  CHECK(well_formed(drawn.svg) == "");
  CHECK(link_targets(drawn.svg).size() == 2);
  CHECK(drawn.boxes_left_out == 0);
  CHECK(drawn.svg.find("12 ×, 50.0 % of the time") != drawn.svg.npos);
  CHECK(drawn.svg.find("48 ×, not fused") != drawn.svg.npos);
  CHECK(drawn.svg.find("way again") != drawn.svg.npos);  // the one line back
  CHECK(drawn.svg.find("softmax&lt;f32&gt; -&gt; multiply_add_reduce_rsqrt: 5 edges, 503 MB in a run; gather") !=
        drawn.svg.npos);
  const Table table = refused_table(s);
  REQUIRE(table.rows.size() == 2);
  CHECK(std::get<std::int64_t>(table.rows[1][0]) == 2);
  CHECK(std::get<std::int64_t>(table.rows[0][2]) == 36);
  CHECK(std::get<double>(table.rows[1][3]) == 503e6);
  CHECK(std::get<std::string>(table.rows[0][4]) == "add.4 -> subtract.9");
  CHECK(map_chart({}, {}).svg.empty());
  FusionMap large;
  std::vector<double> shares;
  for (int i = 0; i < 500; ++i) {
    large.boxes.push_back({fmt::format("{:012x}", i), "g", 1});
    shares.push_back(0.001 * i);
    if (i > 0) large.links.push_back({std::size_t(i - 1), std::size_t(i), 1, {1}, std::nullopt});
  }
  CHECK(map_chart(large, shares).boxes_left_out == 476);
  CHECK(map_chart(large, shares).svg.find("group-" + large.boxes[499].group.substr(0, 10)) != std::string::npos);
}

TEST_CASE("achieved bandwidth is of one run of a group, and a share of the first roof") {
  const Summary s = example_summary();
  const GroupSummary& group = s.groups[0];
  const double achieved = 25.2e6 / group.best[0].estimates.back().total.value;
  CHECK(achieved_bandwidth(group).value().value == approx(achieved));
  CHECK_FALSE(achieved_bandwidth(s.groups[3]).has_value());
  const std::string section = between(page(s), "achieved DRAM bandwidth", "</figure>");
  CHECK(section.find(fmt::format("{} {}/s", percent(achieved / 4.8e12), humane_bytes(achieved))) != section.npos);
  CHECK_FALSE(is_measured(group));
}

TEST_CASE("the bars of a strategy say how many times faster than the baseline it is, in each way of looking") {
  Summary s = example_summary();
  s.strategies[2].library_time = s.strategies[1].library_time = Seconds{1e-3};
  s.modules = {{"xla-priority", "tailor", "cold", "stream", {2e-3}, {5e-3}, 2.5, 1, 1}};
  const SpeedupPanel panel = speedup_panel(s);
  REQUIRE(panel.bars.size() == 3);
  CHECK(panel.bars[0].name == "tailor");  // the fastest first
  CHECK(panel.bars[0].chosen);
  CHECK(panel.bars[0].kernels.value() == approx(1.47 / 0.561));
  CHECK(panel.bars[0].with_library.value() == approx(2.47 / 1.561));
  CHECK(panel.bars[0].measured.value() == approx(1 / 2.5));  // the race says it is slower than the baseline
  CHECK(panel.bars[0].note == "predicted");
  CHECK(panel.bars[2].name == "unfused");
  CHECK_FALSE(panel.bars[2].measured.has_value());
  s.strategies[2].time.back().level = s.strategies[1].time.back().level = "profiled";
  CHECK(speedup_panel(s).bars[0].note == "measured");
  s.strategies[2].time.back().made_of = {{"profiled", {0.3e-3}}, {"bound", {0.261e-3}}};
  s.strategies[2].groups_at_lower_bound = 1;
  CHECK(speedup_panel(s).bars[0].note == "partly measured, with bounds");
  s.modules[0].same_work = false;
  CHECK_FALSE(speedup_panel(s).bars[0].measured.has_value());
}

TEST_CASE("the index leads with the question and the verdict, then has bars under a link to each page") {
  Summary other = example_summary();
  other.manifest.model = "lstm <x>";
  const Summary one = example_summary();
  const std::string text = index_page({{"a.html", &one}, {"b.html", &other}});
  CHECK(well_formed(text) == "");
  std::size_t before = 0;
  for (const char* mark : {"<h1>Does fusing by price pay on encoders?</h1>", "The claim holds.", "<a href=\"a.html\">",
                           "bert_base on h200, against xla-priority", "<a href=\"b.html\">", "lstm &lt;x&gt; on h200",
                           "id=\"pages\"", "All strategies"}) {
    CAPTURE(mark);
    before = text.find(mark, before);
    REQUIRE(before != text.npos);
  }
  CHECK(text.find("getElementById('save')") != text.npos);
  CHECK(well_formed(index_page({})) == "");
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
  s.asked = s.claim->text = s.claim->meaning = s.claim->baseline = evil;
  s.claim->left_out = {evil};
  s.map.boxes[0].name = s.map.boxes[1].name = s.map.refused[0].reason = s.map.refused[1].example = evil;
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
  CHECK(answer(s).text().find("Nothing was measured.") != std::string::npos);
  CHECK(page(s).find("Not measured.") != std::string::npos);
  CHECK(page(s).find("Nothing of this run was timed on a GPU.") != std::string::npos);
  CHECK(page(s).find("badge unchecked") != std::string::npos);
  s.measured = {{"a", {1e-6}, {1.1e-6}}};
  CHECK(answer(s).text().find("1 kernel was measured") != std::string::npos);
  CHECK(page(s).find("Not measured.") == std::string::npos);
}

TEST_CASE("a page of a model without kernels has no heading with nothing under it") {
  Summary s = example_summary();
  s.groups.clear();
  const std::string text = page(s);
  for (const char* id : {"time", "groups", "roofline", "refused"}) {
    CAPTURE(id);
    CHECK(text.find(fmt::format("id=\"{}\"", id)) == std::string::npos);
    CHECK(text.find(fmt::format("href=\"#{}\"", id)) == std::string::npos);
  }
  for (const char* id : {"strategies", "library", "run"})
    CHECK(text.find(fmt::format("href=\"#{}\"", id)) != std::string::npos);
  CHECK(well_formed(text) == "");
}

TEST_CASE("the answer names both strategies, the ratio and the level it rests on") {
  const std::string text = answer(example_summary()).text();
  CHECK(
      text ==
      "Strategy tailor is predicted 2.62 × faster than xla-priority in its fused kernels alone: 561 us instead of 1.47 "
      "ms. The 97 library calls, equal for both, have no time. It needs 74 kernels, xla-priority needs 198 (2.68 × "
      "fewer). Both times come from level projected. Nothing was measured. xla-priority makes 99.8 % of the real XLA's "
      "kernels (jaxlib 0.10.2, 11 modules).");
  Summary unscored = example_summary();
  unscored.xla_scores = {};
  CHECK(answer(unscored).text().ends_with("Nothing was measured. xla-priority is not scored against the real XLA."));
  Summary calls = example_summary();
  for (StrategyTotals& strategy : calls.strategies) strategy.kernels = 0;
  for (StrategyTotals& strategy : calls.strategies) strategy.library_time = Seconds{1e-3};
  CHECK(answer(calls).text() ==
        "There is nothing to fuse in this model: no strategy makes a kernel. It makes 97 library calls, which take "
        "1.00 ms "
        "under all of them.");
  calls.strategies[0].kernels = 1;  // one strategy has something
  CHECK(answer(calls).text().find("nothing to fuse") == std::string::npos);
  CHECK(answer({}).text() == "No strategy was run, so there is no answer yet.");
}

TEST_CASE("the answer names the level that all of a time has, else how much of it is of which level") {
  Summary s = example_summary();
  const auto says = [&](std::string_view words) {
    INFO(answer(s).text());
    return answer(s).text().find(words) != std::string::npos;
  };
  StrategyTotals &chosen = s.strategies[2], &baseline = s.strategies[1];
  for (StrategyTotals* one : {&chosen, &baseline}) one->time.back().level = "counted";
  CHECK(says(": 561 us instead of 1.47 ms."));
  CHECK(says("Both times come from level counted."));
  chosen.time.back().made_of = {{"projected", {505e-6}}, {"counted", {56e-6}}};
  CHECK(says(
      " The time of tailor comes from 90.0 % level projected, 9.98 % level counted, that of xla-priority from level "
      "counted."));
  baseline.time.back().made_of = {{"projected", {1.47e-3}}};  // no group of it was executed
  CHECK(says("9.98 % level counted, that of xla-priority from level projected."));
  chosen.time.back().made_of = baseline.time.back().made_of;
  CHECK(says("Both times come from level projected."));
  for (StrategyTotals* one : {&chosen, &baseline}) one->time.back().level = "profiled";
  CHECK(says("is predicted"));  // not one of them was measured
  chosen.time.back().made_of.clear();
  baseline.time.back().made_of.clear();
  CHECK(says("By kernels measured one by one, strategy tailor is 2.62"));
  chosen.time.back().made_of = {{"profiled", {400e-6}}, {"bound", {161e-6}}};
  s.baseline.clear();
  CHECK(says("predicted to take 561 us (71.3 % level profiled, 28.7 % a bound)"));
}

TEST_CASE("measured times and predicted ones are not set beside each other: the level below speaks of both") {
  Summary s = example_summary();
  StrategyTotals &chosen = s.strategies[2], &baseline = s.strategies[1];
  for (StrategyTotals* one : {&chosen, &baseline}) {
    one->time.back().level = "compiled";
    one->time.push_back({"profiled", one->time.back().time});
  }
  chosen.time.back().time = Seconds{chosen.time.back().time.value / 2};  // a timer leaves a launch out
  CHECK(speedup(chosen, baseline)->level == "profiled");
  CHECK(speedup(chosen, baseline)->of_kernels() == approx(2 * 1.47 / 0.561));
  for (StrategyTotals* one : {&chosen, &baseline}) {
    one->time.back().made_of = {{"profiled", {1e-4}}, {"compiled", {2e-4}}};
    CHECK(speedup(chosen, baseline)->level == "compiled");
    CHECK(speedup(chosen, baseline)->of_kernels() == approx(1.47 / 0.561));
    one->time.back().made_of = {{"profiled", {1e-4}}, {"bound", {2e-4}}};
  }
  CHECK(speedup(chosen, baseline)->level == "profiled");
}

TEST_CASE("a speed-up says what it is of: the fused kernels alone, and the same run with its library calls") {
  Summary s = example_summary();
  const auto says = [&](std::string_view words) {
    INFO(answer(s).text());
    return answer(s).text().find(words) != std::string::npos;
  };
  CHECK(says(
      "2.62 × faster than xla-priority in its fused kernels alone: 561 us instead of 1.47 ms. The 97 library calls, "
      "equal for both, have no time."));
  for (StrategyTotals& strategy : s.strategies) strategy.library_time = Seconds{1e-3};
  CHECK(says(
      "2.62 × faster than xla-priority in its fused kernels alone: 561 us instead of 1.47 ms. With the library calls, "
      "which take 1.00 ms under both, it is predicted 1.58 × faster."));
  const Speedup both = speedup(s.strategies[2], s.strategies[1]).value();
  CHECK(both.of_kernels() == approx(1.47 / 0.561));
  CHECK(both.with_library().value() == approx(2.47 / 1.561));
  for (StrategyTotals& strategy : s.strategies) {
    strategy.library_calls = 0;
    strategy.library_time.reset();
  }
  CHECK(says("The model makes no library calls."));
  // Slower strategies are said to be slower, by both.
  std::swap(s.chosen, s.baseline);
  CHECK(says("2.62 × slower than tailor in its fused kernels alone"));
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
  const std::size_t place = place_of_column(table, "speedup_with_library");
  CHECK(std::get<double>(table.rows[2][place]) == approx(2.47 / 1.561));
  CHECK(std::get<double>(table.rows[1][place]) == approx(1));
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

TEST_CASE("advice does not call a measured time predicted, and names no part that binds it") {
  Summary s = example_summary();
  const auto said = [&] {
    std::string all;
    for (const std::string& line : advice(s)) all += line + "\n";
    return all;
  };
  CHECK(said().find(" is predicted at ") != std::string::npos);
  CHECK(said().find(" binds.") != std::string::npos);
  for (GroupSummary& group : s.groups)
    for (PlanSummary& plan : group.best) plan.estimates.back().level = "profiled";
  CHECK(said().find(" was measured at ") != std::string::npos);
  CHECK(said().find(" is predicted at ") == std::string::npos);
  CHECK(said().find(" binds.") == std::string::npos);
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
  CHECK(words.shared.find("homes=%0@register") != std::string::npos);
  CHECK(words.own[0] == "threads_per_row=32 vector=8 in_flight=1");
  GroupSummary single = group;
  single.best.resize(1);
  CHECK(plan_words(single).own[0] == group.best[0].plan);
  CHECK(plan_words(single).shared.empty());
}

TEST_CASE("the page shows the best plans by their own words, the next folded, and once what is equal for all") {
  const Summary summary = example_summary();
  const std::string text = page(summary);
  int sections = 0;
  for (const GroupSummary& group : summary.groups) {
    if (group.best.empty()) continue;
    const std::string section =
        between(text, "<details class=\"group\" id=\"group-" + group.id.substr(0, 10), "<div class=\"more\">");
    const PlanWords words = plan_words(group);
    for (std::size_t i = 0; i < words.own.size(); ++i)
      CHECK((section.find("\">" + words.own[i] + "</td>") != section.npos || i >= 3));
    CHECK(section.find("<code>" + words.shared + "</code>") != section.npos);
    CHECK(text.find("<summary>2 of 637 more plans</summary>") != text.npos);
    ++sections;
  }
  CHECK(sections == 3);
}

TEST_CASE("columns that say the same in all rows become words, and no other column changes") {
  Table table;
  table.columns = {{"a", "name"}, {"b", "size", Hint::bytes}, {"c", "empty"}, {"d", "time", Hint::seconds}};
  table.rows = {{std::string("x"), 2e6, Cell(), 1e-6}, {std::string("x"), 2e6, Cell(), 3e-6}};
  CHECK(take_equal_columns(table) == "size (MB) 2.00");
  REQUIRE(table.columns.size() == 2);
  CHECK(table.columns[1].key == "d");
  CHECK(std::get<double>(table.rows[1][1]) == 3e-6);
  table.rows.pop_back();
  CHECK(take_equal_columns(table) == "");  // of a single row everything is equal
  CHECK(table.columns.size() == 2);
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
  CHECK(std::holds_alternative<std::monostate>(table.rows[3][place_of_column(table, "best_time")]));
}
