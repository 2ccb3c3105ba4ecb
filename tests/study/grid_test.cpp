// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Grids of sweep files: each point comes to what a sweep of its own would, though all share one database; what was done
// is found again; a dry run announces what is then done; rows are grouped by values. The model is small: rows over
// their sums. What the cases take is the disk's, since each commits to databases of its own. Part of the suite `study`.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "folder.h"
#include "report/overview.h"
#include "store/store.h"
#include "study/summary/load_summary.h"
#include "study/sweep/dry_run.h"
#include "study/sweep/grid_table.h"
#include "study/sweep/sweep.h"
#include "study/sweep/sweep_tables.h"
#include "support/approx.h"
#include "support/listener.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::study;

namespace {

constexpr std::string_view small_model = R"(HloModule small
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[512,256] parameter(0)
  z = f32[] constant(0)
  s = f32[512] reduce(x, z), dimensions={1}, to_apply=add
  w = f32[512,256] broadcast(s), dimensions={0}
  ROOT y = f32[512,256] divide(x, w)
}
)";

std::string config_with(const std::string& more) {
  return "{\"models\": [\"small.hlo\"], \"devices\": [\"h200\"], \"strategies\": [\"unfused\", \"stitch-v1\"], "
         "\"compile\": false, " +
         more + "}";
}

/// Calls `run` with the options of a sweep of this text into the folder's database of this name.
template <class Run>
auto with_sweep(const Folder& folder, const std::string& config, const std::string& database, Run&& run) {
  write_file(folder.path / "sweep.json", config);
  write_file(folder.path / "small.hlo", small_model);
  std::string wide(small_model);
  for (std::size_t at = 0; (at = wide.find("512,256", at)) != std::string::npos;) wide.replace(at, 7, "512,512");
  write_file(folder.path / "wide.hlo", wide);
  Listener listener;
  SweepOptions options;
  options.config = folder.path / "sweep.json";
  options.data = source / "data";
  options.cache = folder.path / "cache";
  options.database = folder.path / database;
  options.workers = 2;
  options.command = "test";
  return run(options, Watch{listener, {}});
}

SweepOutcome sweep(const Folder& folder, const std::string& config, const std::string& database = "a.db") {
  return with_sweep(folder, config, database, run_sweep);
}

std::int64_t plans_announced(const Folder& folder, const std::string& config, std::string_view exactly = "exact") {
  const DryRun run = with_sweep(folder, config, "a.db", dry_run);
  for (const ExpectedStep& step : run.steps)
    if (step.step == "score") {
      CHECK(step.exactly == exactly);
      return step.amount.value();
    }
  return -1;
}

const std::string four = R"("grid": {"cost_model": ["sol", "projected"], "plans.max_per_group": [3, 30]})";

/// Kernel times by strategy.
std::map<std::string, double> times(const SweepOutcome& outcome) {
  std::map<std::string, double> all;
  for (const store::StrategyTotals& one : outcome.strategies) all[one.strategy] = one.kernel_time.value;
  return all;
}

}  // namespace

TEST_CASE("each point of a grid comes to what a sweep of it alone does, though all points share a database") {
  const Folder folder;
  const SweepOutcome grid = sweep(folder, config_with(four));
  REQUIRE(grid.points.size() == 4);
  std::size_t i = 0;
  std::int64_t plans = 0;
  for (const char* model : {"sol", "projected"})
    for (const int most : {3, 30}) {
      const std::string own = fmt::format(R"("cost_model": "{}", "plans": {{"max_per_group": {}}})", model, most);
      const SweepOutcome alone = sweep(folder, config_with(own), fmt::format("{}.db", i));
      const SweepOutcome& point = grid.points[i++];
      INFO(point.setting);
      CHECK(point.setting == fmt::format("cost_model={}, max_per_group={}", model, most));
      CHECK(point.plans_scored == alone.plans_scored);
      plans += alone.plans_scored;
      for (const auto& [strategy, time] : times(alone)) CHECK(times(point).at(strategy) == approx(time));
    }
  CHECK(grid.plans_scored == plans);
  CHECK(times(grid.points[2]) != times(grid.points[3]));
  CHECK(store::Store::open_read_only(folder.path / "a.db").damage().empty());
}

TEST_CASE("a grid that was swept is found again, point by point, and says the same") {
  const Folder folder;
  const SweepOutcome first = sweep(folder, config_with(four));
  const auto results = [&] {
    const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
    std::string rows;
    for (const store::PointRow& point : opened.points()) {
      rows += fmt::format("{} {} {} {}\n", hex(point.grid), hex(point.id), point.number, point.setting);
      for (const store::PointResultRow& row : opened.point_results(point.id))
        rows += fmt::format("{} {} {} {}\n", row.strategy, row.launches, row.kernel_time.value, row.dram.value);
    }
    return rows;
  };
  const std::string before = results();
  CHECK(split(before, '\n').size() == 4 * 3 + 1);
  const SweepOutcome again = sweep(folder, config_with(four));
  CHECK(again.plans_scored == 0);
  CHECK(again.groups_resumed == 4 * first.distinct_groups);
  CHECK(results() == before);
}

TEST_CASE(
    "a grid that is told to stop at any point exits 130, and the next run comes to what one without a stop does") {
  const Folder folder;
  const SweepOutcome whole = sweep(folder, config_with(four), "whole.db");
  /// Stops at the note that a point begins with, or, with "scoring", in the middle of one.
  struct Stopping final : Observer {
    std::stop_source& stop;
    std::string at;
    Stopping(std::stop_source& source, std::string word) : stop(source), at(std::move(word)) {}
    void warning(std::string_view) override {}
    void note(std::string_view words) override {
      if (words.starts_with(at)) stop.request_stop();
    }
    void detail(std::string_view) override {}
    void progress(const Progress& progress) override {
      if (progress.what.starts_with(at)) stop.request_stop();
    }
    void finish() override {}
  };
  for (const char* at : {"point 3", "scoring"}) {
    INFO(at);
    const std::string database = fmt::format("{}.db", at);
    std::stop_source stop;
    Stopping observer(stop, at);
    const SweepOutcome stopped =
        with_sweep(folder, config_with(four), database, [&](const SweepOptions& options, const Watch&) {
          return run_sweep(options, {observer, stop.get_token()});
        });
    CHECK(stopped.exit_code == 130);
    CHECK_FALSE(stopped.reason.empty());
    const SweepOutcome resumed = sweep(folder, config_with(four), database);
    CHECK(resumed.exit_code == 0);
    REQUIRE(resumed.points.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(times(resumed.points[i]) == times(whole.points[i]));
  }
}

TEST_CASE("a dry run announces what the sweep then does, and what points share is announced once" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  for (const std::string& more :
       {four, std::string(R"("grid": {"check.top": [1, 2], "plans.axes.threads": [[64], [65]]})")}) {
    INFO(more);
    const Folder folder;
    const std::int64_t announced = plans_announced(folder, config_with(more));
    CHECK(announced > 10);
    CHECK(sweep(folder, config_with(more)).plans_scored == announced);
    CHECK(plans_announced(folder, config_with(more)) == 0);
  }
}

TEST_CASE("where axes leave no plan times are bounds, which the answer says, and no speed-up is made of them") {
  const Folder folder;
  const SweepOutcome grid = sweep(folder, config_with(R"("grid": {"plans.axes.threads": [[256], [65]]})"));
  CHECK(grid.exit_code == 1);
  CHECK(grid.reason.starts_with("threads=65: the sweep's axes leave no group a plan"));
  const report::Table table = strategies_table(grid);
  REQUIRE(table.rows.size() == 4);
  for (const std::vector<report::Cell>& row : table.rows) {
    const bool planned = std::get<std::string>(row[0]) == "threads=256";
    const auto at = [&](std::string_view key) { return row[report::place_of_column(table, key)]; };
    CHECK(std::get<std::string>(at("time_is")) == (planned ? "predicted" : "a bound"));
    CHECK(std::holds_alternative<std::monostate>(at("speedup_of_kernels")) == !planned);
  }
  CHECK(table.columns[report::place_of_column(table, "time_is")].sacrifice == 0);
}

TEST_CASE("a grid's claim holds where it holds at every point, and is shown where it comes out least") {
  const Folder folder;
  const std::string claim =
      R"("claim": {"metric": "predicted_speedup_of_kernels", "threshold": 1.0}, "grid": {"plans.axes.threads": [[64], [512]]})";
  const SweepOutcome grid = sweep(folder, config_with(claim));
  REQUIRE(grid.claim.has_value());
  const double a = grid.points[0].claim->value, b = grid.points[1].claim->value;
  CHECK(a != b);
  CHECK(grid.claim->value == std::min(a, b));
  CHECK(grid.exit_code == 0);
  std::string strict = claim;
  strict.replace(strict.find("1.0"), 3, fmt::format("{:.6f}", (a + b) / 2));
  CHECK(sweep(folder, config_with(strict)).exit_code == 4);
}

TEST_CASE("results are added up by the keys that are asked for, strategies apart") {
  const Folder folder;
  const SweepOutcome grid = sweep(folder, config_with(four));
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  const report::Table table = grid_table(opened, {"cost_model"}).table;
  REQUIRE(table.rows.size() == 4);
  double expected = 0, base = 0;
  for (const std::size_t i : {2U, 3U}) {
    expected += times(grid.points[i]).at("stitch-v1");
    base += times(grid.points[i]).at("unfused");
  }
  bool seen = false;
  for (const std::vector<report::Cell>& row : table.rows) {
    if (std::get<std::string>(row[0]) != "projected" || std::get<std::string>(row[1]) != "stitch-v1") continue;
    seen = true;
    CHECK(std::get<std::string>(row[report::place_of_column(table, "level")]) == "projected");
    CHECK(std::get<double>(row[report::place_of_column(table, "kernel_time")]) == approx(expected));
    CHECK(std::get<double>(row[report::place_of_column(table, "speedup_of_kernels")]) == approx(base / expected));
  }
  CHECK(seen);
  CHECK(grid_table(opened, {"max_per_group", "model"}).table.rows.size() == 4);
  CHECK(grid_table(opened, {"point"}).table.rows.size() == 8);
  CHECK_THROWS_AS(grid_table(opened, {"max_per_group", "plans.max_per_group"}), Error);  // the same key twice
  CHECK_THROWS_AS(grid_table(opened, {"seed"}), Error);
  sweep(folder, config_with("\"seed\": 1"), "plain.db");
  CHECK_THROWS_AS(grid_table(store::Store::open_read_only(folder.path / "plain.db"), {"point"}), Error);
}

TEST_CASE("rows of a grid add up the same runs: what some row lacks is left out and named, and bounds stand apart") {
  const Folder folder;
  std::string config = config_with(
      R"("grid": {"models": [["small.hlo"], ["small.hlo", "wide.hlo"]], "plans.axes.threads": [[256], [65]]})");
  config.replace(config.find("\"models\": [\"small.hlo\"], "), 25, "");
  const SweepOutcome grid = sweep(folder, config);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  /// By the row's keys and strategy: runs, what the times are, time.
  const auto rows = [](const GridAnswer& answer) {
    std::map<std::string, std::string> all;
    for (const std::vector<report::Cell>& row : answer.table.rows) {
      const auto at = [&](std::string_view key) { return row[report::place_of_column(answer.table, key)]; };
      std::string key;
      for (std::size_t i = 0; answer.table.columns[i].key != "time_is"; ++i) key += std::get<std::string>(row[i]) + " ";
      all[key] += fmt::format("{} {}", std::get<std::int64_t>(at("results")), std::get<std::string>(at("time_is")));
    }
    return all;
  };
  const GridAnswer threads = grid_table(opened, {"threads"});
  for (const char* strategy : {"unfused ", "stitch-v1 "}) {
    CHECK(rows(threads)[std::string("256 ") + strategy] == "3 predicted, beside bounds");
    CHECK(rows(threads)[std::string("65 ") + strategy] == "3 a bound");
  }
  CHECK(threads.left_out.columns.empty());
  CHECK(threads.words.find("Times are predicted") != std::string::npos);
  CHECK(threads.words.find("less than any time") != std::string::npos);

  const GridAnswer models = grid_table(opened, {"models"});  // each value has runs of `small` with both block sizes
  for (const char* key : {"small.hlo unfused ", "small.hlo+wide.hlo unfused "})
    CHECK(rows(models)[key] == "1 predicted1 a bound");
  REQUIRE(models.left_out.rows.size() == 1);
  CHECK(std::get<std::string>(models.left_out.rows[0][0]) == "wide");
  CHECK(std::get<std::int64_t>(models.left_out.rows[0][2]) == 4);  // two strategies at two points
  CHECK(models.words.find("4 runs are left out") != std::string::npos);

  const GridAnswer both = grid_table(opened, {"model", "models"});
  CHECK(both.left_out.columns.empty());  // models are compared as they are asked for
  CHECK(both.table.rows.size() == 3 * 2 * 2);
}

TEST_CASE("strategies that only some points have are compared where all rows have them, or each with its baseline") {
  const Folder folder;
  std::string config = config_with(R"("grid": {"strategies": [["unfused", "stitch-v1"], ["unfused", "tailor"]]})");
  const std::string own = "\"strategies\": [\"unfused\", \"stitch-v1\"], ";
  config.replace(config.find(own), own.size(), "");
  sweep(folder, config);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  const GridAnswer answer = grid_table(opened, {"model"});
  CHECK(answer.words.find("Rows add up different runs") != std::string::npos);
  REQUIRE(answer.table.rows.size() == 3);
  for (const std::vector<report::Cell>& row : answer.table.rows) {
    const bool is_baseline = std::get<std::string>(row[1]) == "unfused";
    CHECK(std::get<std::int64_t>(row[report::place_of_column(answer.table, "results")]) == (is_baseline ? 2 : 1));
    CHECK(std::holds_alternative<double>(row[report::place_of_column(answer.table, "speedup_of_kernels")]));
  }
}

TEST_CASE(
    "a report's verdict on a grid is that of its worst point, which it names, and none where points are missing") {
  const Folder folder;
  const std::string claim =
      R"("claim": {"text": "t", "metric": "predicted_speedup_of_kernels", "threshold": 1.0}, "grid": {"plans.axes.threads": [[64], [512]]})";
  const SweepOutcome grid = sweep(folder, config_with(claim));
  const auto told = [&](const char* database) {
    const store::Store store = store::Store::open_read_only(folder.path / database);
    return load_summary(store, subjects(store, "", "").front(), {});
  };
  const report::Summary whole = told("a.db");
  REQUIRE(whole.claim.has_value());
  CHECK(whole.claim->holds());
  CHECK(whole.claim->value == approx(grid.claim->value));
  CHECK(whole.claim->points == 2);
  CHECK(whole.claim->point == least_claim(grid)->setting);
  CHECK(report::verdict(*whole.claim).words.find("comes out least at " + least_claim(grid)->setting) !=
        std::string::npos);
  CHECK(whole.scope.find("best plans of all points") != std::string::npos);

  std::string strict = claim;  // between the two: one point fails, so the claim does
  strict.replace(strict.find("1.0"), 3, "1e9");
  sweep(folder, config_with(strict));
  CHECK_FALSE(told("a.db").claim->holds());
  CHECK(told("a.db").claim->not_judged.empty());

  std::stop_source stop;
  struct Stopping final : Observer {
    std::stop_source& stop;
    explicit Stopping(std::stop_source& source) : stop(source) {}
    void warning(std::string_view) override {}
    void note(std::string_view words) override {
      if (words.starts_with("point 2")) stop.request_stop();
    }
    void detail(std::string_view) override {}
    void progress(const Progress&) override {}
    void finish() override {}
  } observer(stop);
  with_sweep(folder, config_with(claim), "part.db", [&](const SweepOptions& options, const Watch&) {
    return run_sweep(options, {observer, stop.get_token()});
  });
  CHECK_FALSE(told("part.db").claim->not_judged.empty());
}
