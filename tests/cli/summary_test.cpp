// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From database to report. The databases hold real graphs and groups, partitioned by real strategies, with invented
// times: sums are added up here a second time, plainly, and compared; so are the database's own views. One small
// Markdown report is golden. Part of the suite `cli`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cli/db.h"
#include "cli/report.h"
#include "explore/partition.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "ir/device.h"
#include "report/golden.h"
#include "report/overview.h"
#include "report/page.h"
#include "study/pipeline/import_summary.h"
#include "study/pipeline/to_rows.h"
#include "study/summary/load_summary.h"
#include "support/approx.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::cli;
using namespace tailor::study;
using tailor::store::Store;

namespace {

class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tailor_summary_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

const std::filesystem::path data = std::filesystem::path(source_folder()) / "data";

store::DeviceRow device(const std::string& name) {
  const std::string file = read_file(data / "devices" / (name + ".json"));
  const ir::Device read = ir::parse_device(file, name);
  return {id_of(file), name, read.title, read.arch, file};
}

store::EstimateRow estimate(Id plan, Id on, const std::string& level, double total) {
  store::EstimateRow row{plan, on, level, level, {total}, {total * 0.7}, {total * 1.5}, "dram"};
  row.parts[0] = {1e-6};
  row.parts[1] = {total - 1e-6};
  row.occupancy = 0.5;
  row.waves = 2;
  row.registers = 32;
  return row;
}

/// Invented plans of a group: `plans` of them projected, the first two compiled when asked. None when `plans` is 0.
void save_plans(Store& store, Id group, Id on, int plans, bool compile, std::mt19937& random) {
  for (int i = 0; i < plans; ++i) {
    const int threads = 32 * (i + 1);
    const store::PlanRow plan{id_of(fmt::format("{} {}", hex(group), i)), group, fmt::format("row threads={}", threads),
                              "row"};
    const double total = 2e-6 + 1e-9 * static_cast<double>(random() % 5000);
    store.save(plan);
    store.save(estimate(plan.id, on, "projected", total));
    if (i >= 2 || !compile) continue;
    const store::KernelRow kernel{
        id_of(plan.text + hex(group)), "kernel", "program text", "__global__ text", threads, 64, 128, true};
    store.save(kernel);
    store.save(store::LoweringRow{plan.id, on, kernel.id});
    store::BinaryRow binary;
    binary.id = id_of("binary" + hex(kernel.id));
    binary.kernel = kernel.id;
    binary.arch = "sm_90";
    binary.compiler = "NVRTC 13.0";
    binary.ok = i == 0;
    binary.log = i == 0 ? "" : "expected a ';'";
    binary.registers = 40;
    binary.spill_loads = 8;
    store.save(binary);
    if (binary.ok) store.save(estimate(plan.id, on, "compiled", total * 1.25));
  }
  if (plans > 0) {
    store.save(
        store::RejectionRow{group, on, "", "registers", true, 7, "row threads=1024", "needs 300, 255 are there"});
    store.save(store::ProgressRow{group, on, "", "score", plans, 7});
  } else {
    store.save(store::RejectionRow{group, on, "", "skeleton-column", true, 0, "", "reduces along dimension 0"});
    store.save(store::ProgressRow{group, on, "", "score", 0, 0});
  }
}

/// A model under data/models with its real partitions on the devices. Every third distinct group has no plan.
void save_model(Store& store, const std::string& model, const std::vector<std::string>& devices, bool compile,
                const std::vector<std::string>& strategies = {"unfused", "imported", "stitch-v1"}) {
  const hlo::Imported imported = hlo::import_file((data / "models" / (model + ".hlo")).string());
  Store::Transaction unit(store);
  const std::string text = ir::text(imported.graph);
  const store::GraphRow graph{id_of(text), id_of(ir::canonical_text(imported.graph)),
                              model,       model + ".hlo",
                              text,        static_cast<std::int64_t>(imported.graph.nodes.size()),
                              0,           import_summary_json(imported.report)};
  store.save(graph);
  std::mt19937 random(7);
  std::set<Id> known;
  for (const std::string& name : devices) store.save(device(name));
  for (const std::string& strategy : strategies) {
    const ir::Fusion fusion = fuse(explore::find_strategy(strategy), imported.graph);
    const explore::Partition parts = explore::partition(imported.graph, fusion);
    store::FusionRow row{graph.id, strategy, "", "", {}, {}, parts.least_kernels, parts.unknown_trips, parts.branches};
    for (const explore::DistinctGroup& group : parts.groups) {
      const auto places = static_cast<std::int64_t>(group.occurrences.size());
      row.groups.push_back({group.group.id, places, group.times, "node"});
      if (!known.insert(group.group.id).second) continue;
      const double half = group.bytes / 2;
      store.save(store::GroupRow{group.group.id, "title", ir::text(group.group.graph), 3, 1, {half}, {half}, 1e6});
      for (const std::string& name : devices) {
        const Id on = device(name).id;
        store.save(store::GroupBoundRow{group.group.id, on, "sol", {1e-6 + group.bytes / 4.8e12}, "dram"});
        save_plans(store, group.group.id, on, known.size() % 3 == 0 ? 0 : 5, compile, random);
      }
    }
    store.save(row);
    for (const explore::LibraryCall& call : parts.library) {
      store.save(
          store::LibraryCallRow{graph.id, call.where + call.name, call.what, "", call.times, call.flops, {call.bytes}});
      for (const std::string& name : devices)
        store.save(store::LibraryTimeRow{graph.id, call.where + call.name, device(name).id, "bytes", {1e-6}});
    }
  }
  unit.commit();
}

struct Heard {
  std::string notes;
  Console console{[this](std::string_view text) { notes += text; }, {}, [] { return Seconds{}; }};
};

constexpr const char* softmax = "softmax_fwd_f32_4096x1024";
constexpr const char* bert = "bert_infer_l12_b1_s128_f16";

Fault fault_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.fault;
  }
  FAIL("nothing was thrown");
  return Fault::failed;
}

}  // namespace

TEST_CASE("what import said survives the database, and other texts are absent") {
  ir::ImportReport report = hlo::import_file((data / "models" / (std::string(softmax) + ".hlo")).string()).report;
  report.opaque = {{"custom \"quoted\"", 3}};
  report.warnings = {"a\nb"};
  const std::string json = import_summary_json(report);
  const auto read = import_summary(json);
  REQUIRE(read.has_value());
  CHECK(import_summary_json(*read) == json);
  CHECK(read->instructions == report.instructions);
  CHECK(read->passes.size() == report.passes.size());
  CHECK(read->opaque == report.opaque);
  for (const char* other : {"", "one opaque", "[]", "{}", "{\"passes\"", "3"}) CHECK_FALSE(import_summary(other));
  CHECK(sweep_words("{\"question\": \"why?\", \"baseline\": 3}").question == "why?");
  CHECK(sweep_words("config").baseline.empty());
}

namespace {

/// A finished sweep over the models, with a claim.
void save_sweep(Store& store, const std::string& models, double threshold, const std::string& outcome = "done") {
  store::RunRow run;
  run.id = id_of(models + std::to_string(threshold) + outcome);
  run.tool = "tailor";
  run.config = fmt::format(
      R"({{"question": "Is it worth it?", "claim": {{"text": "fewer launches", "metric": "launch_reduction_of_kernels",
      "threshold": {}}}, "models": [{}], "devices": ["h200"], "strategies": ["unfused", "stitch-v1"],
      "baseline": "unfused"}})",
      threshold, models);
  run.started_at = fmt::format("2026-01-0{}T00:00:00Z", 1 + store.runs().size());
  run.outcome = outcome;
  store.save(run);
}

}  // namespace

TEST_CASE("a report judges the claim of the newest sweep by what is stored of all its models, or says why not") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, bert, {"h200"}, false);
  save_model(store, softmax, {"h200"}, false);
  const Subject subject = subjects(store, softmax, "").at(0);
  const auto claim = [&] { return load_summary(store, subject, {}).claim; };
  CHECK_FALSE(claim().has_value());
  double none = 0, stitched = 0;
  for (const store::StrategyTotals& one : store.strategies()) {
    none += one.strategy == "unfused" ? one.launches : 0;
    stitched += one.strategy == "stitch-v1" ? one.launches : 0;
  }
  const std::string both = R"("/elsewhere/bert_infer_l12_b1_s128_f16.hlo", "softmax_fwd_f32_4096x1024.hlo")";
  save_sweep(store, both, 2);
  REQUIRE(claim().has_value());
  CHECK(claim()->holds());
  CHECK(claim()->value == approx(none / stitched));
  CHECK(claim()->text == "fewer launches");
  CHECK(claim()->meaning == "launches of fused kernels alone");
  CHECK(claim()->baseline == "unfused");
  CHECK(load_summary(store, subject, {}).asked == "Is it worth it?");
  save_sweep(store, both, 1000);
  CHECK(claim()->threshold == 1000);
  CHECK_FALSE(claim()->holds());
  save_sweep(store, R"("bert_infer_l12_b1_s128_f16.hlo", "lstm.hlo")", 2);
  CHECK(claim()->not_judged == "it is about all models, and lstm.hlo is not in the database");
  CHECK_FALSE(claim()->holds());
  save_sweep(store, both, 2, "interrupted");
  CHECK(claim()->not_judged == "the sweep has not ended");
}

TEST_CASE("the map of a fusion has every group of the strategy as often as it runs, and every edge that was cut") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, bert, {"h200"}, false, {"unfused", "stitch-v1"});
  const Subject subject = subjects(store, "", "").at(0);
  const hlo::Imported imported = hlo::import_file((data / "models" / (std::string(bert) + ".hlo")).string());
  for (const std::string strategy : {"unfused", "stitch-v1"}) {
    CAPTURE(strategy);
    // The partitions of save_model have no edges: these are the ones that a sweep stores.
    const ir::Fusion fusion = fuse(explore::find_strategy(strategy), imported.graph);
    store.save(fusion_row(subject.graph.id, imported.graph, fusion, explore::partition(imported.graph, fusion)));
    const report::FusionMap map = load_summary(store, subject, {strategy, "", 5}).map;
    std::map<std::string, double> places;
    for (const report::FusionBox& box : map.boxes)
      if (!box.group.empty()) places[box.group] += box.places;
    const store::FusionRow stored = store.fusion(subject.graph.id, strategy).value();
    CHECK(places.size() == stored.groups.size());
    for (const store::FusionGroupRow& row : stored.groups) CHECK(places[hex(row.group)] == row.times);
    std::int64_t cut = 0, refused = 0;
    for (const store::EdgeRow& edge : stored.edges) cut += edge.decision == "cut" ? 1 : 0;
    for (const report::RefusedEdges& one : map.refused) refused += one.edges;
    CHECK(cut == refused);
    for (const report::FusionLink& link : map.links) {
      REQUIRE(link.from < map.boxes.size());
      REQUIRE(link.to < map.boxes.size());
      if (link.reason) CHECK(*link.reason < map.refused.size());
    }
  }
}

TEST_CASE("a strategy's time is the sum over its groups of the best plan's time, or the bound without a plan") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  const bool compile = true;
  save_model(store, bert, {"h200"}, compile);
  const Subject subject = subjects(store, "", "").at(0);
  const report::Summary summary = load_summary(store, subject, {});
  REQUIRE(summary.strategies.size() == 3);
  for (const report::StrategyTotals& totals : summary.strategies) {
    CAPTURE(totals.name);
    std::map<std::string, double> sums;
    double launches = 0, bytes = 0, at_bound = 0, launches_without = 0;
    std::int64_t without = 0, kernels = 0;
    const std::optional<store::FusionRow> fusion = store.fusion(subject.graph.id, totals.name);
    REQUIRE(fusion.has_value());
    for (const store::FusionGroupRow& row : fusion->groups) {
      double projected = 1e9, compiled = 1e9;
      for (const store::PlanRow& plan : store.plans(row.group))
        for (const store::EstimateRow& one : store.estimates(plan.id, subject.device.id))
          (one.level == "projected" ? projected : compiled) =
              std::min(one.level == "projected" ? projected : compiled, one.total.value);
      const double bound = store.group_bounds(row.group, subject.device.id).at(0).total.value;
      if (projected > 1) launches_without += row.times;
      if (projected > 1) ++without, at_bound += row.times * bound, projected = compiled = bound;
      sums["sol"] += row.times * bound;
      sums["projected"] += row.times * projected;
      sums["compiled"] += row.times * (compiled < 1 ? compiled : projected);
      launches += row.times;
      kernels += row.occurrences;
      bytes += row.times * (store.group(row.group)->read.value + store.group(row.group)->written.value);
    }
    REQUIRE(totals.time.size() == 3);
    for (const report::LevelTime& time : totals.time) {
      CHECK(time.time.value == approx(sums[time.level]));
      double all = 0;  // a part is named by the level that looked at it, and parts are the whole
      for (const report::NamedTime& part : time.made_of) {
        all += part.time.value;
        if (part.name == "bound") CHECK(part.time.value == approx(at_bound));
        if (part.name == "compiled") CHECK(part.time.value == approx(sums["compiled"] - at_bound));
      }
      CHECK(time.made_of.size() == (time.level == "sol" || without == 0 ? 0 : 2));
      if (!time.made_of.empty()) CHECK(all == approx(time.time.value));
    }
    CHECK(totals.kernels == kernels);
    CHECK(totals.groups_at_lower_bound == without);
    CHECK(totals.time_at_lower_bound.value == approx(at_bound));
    CHECK(totals.traffic.value == approx(bytes));
    CHECK(static_cast<double>(totals.launches) == approx(launches));  // library calls are apart
    CHECK(totals.kernel_floor.value_or(0) > 0);
    CHECK(totals.kernel_floor.value_or(0) <= totals.kernels);
    CHECK(totals.library_time->value == approx(1e-6 * static_cast<double>(totals.library_calls)));
    bool seen = false;  // the view applies the same rule
    for (const store::StrategyTotals& view : store.strategies()) {
      if (view.strategy != totals.name) continue;
      seen = true;
      CHECK(view.kernel_time.value == approx(totals.time.back().time.value));
      CHECK(view.groups_without_plan == totals.groups_at_lower_bound);
      CHECK(view.launches_without_plan == approx(static_cast<double>(totals.launches_at_lower_bound)));
      CHECK(view.launches_without_plan == approx(launches_without));
      CHECK(view.library_time.value == approx(totals.library_time->value));
      CHECK(view.dram.value == approx(totals.traffic.value));
    }
    CHECK(seen);
  }
}

TEST_CASE("the groups of the chosen strategy add up to its total and name what has no plan") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, bert, {"h200"}, true);
  const Subject subject = subjects(store, bert, "h200").at(0);
  const report::Summary summary = load_summary(store, subject, {"unfused", "stitch-v1", 2});
  CHECK(summary.chosen == "unfused");
  CHECK(summary.baseline == "stitch-v1");
  double sum = 0;
  int without = 0;
  for (const report::GroupSummary& group : summary.groups) {
    sum += whole_time(group).value;
    CHECK(group.shape.find('[') != std::string::npos);
    CHECK(group.lower_bound.has_value());
    if (group.best.empty()) {
      ++without;
      CHECK(group.status == report::GroupStatus::needs_skeleton);
      CHECK(group.status_reason == "reduces along dimension 0");
      continue;
    }
    CHECK(group.status == report::GroupStatus::ok);
    CHECK(group.best.size() == 2);
    CHECK(group.enumerated == 12);
    CHECK(group.lowered == 5);
    CHECK(group.rejected == 7);
    CHECK(group.compiled == 1);
    CHECK(group.all_times.size() == 5);
    CHECK(group.times_level == "projected");
    CHECK(group.cuda == "__global__ text");
    const report::PlanSummary& best = group.best[0];
    REQUIRE(best.estimates.size() == 3);
    CHECK(best.estimates[0].level == "sol");
    CHECK(best.estimates[2].level == "compiled");
    CHECK(best.binary == report::BinaryState::ok);
    CHECK(best.registers == 40);
    CHECK(best.check == report::CheckState::unchecked);
  }
  CHECK(without > 0);
  const report::StrategyTotals* totals = find_strategy(summary, "unfused");
  CHECK(sum == approx(totals->time.back().time.value));
  const std::string words = answer(summary).text();
  CHECK(words.find("Nothing was measured") != std::string::npos);
  CHECK(words.find("is no prediction:") != std::string::npos);
  const std::string page = report::page(summary);
  CHECK(page.find("needs a skeleton that does not exist yet") != std::string::npos);
  CHECK(page.find("unchecked") != std::string::npos);
}

TEST_CASE("a dump without fusions of its own is said to be one") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, softmax, {"h200"}, false);
  const report::Summary summary = load_summary(store, subjects(store, "", "").at(0), {});
  bool said = false;
  for (const std::string& line : summary.warnings) said = said || line.find("same as unfused") != line.npos;
  CHECK(said);
}

TEST_CASE("a measured time stands beside the most precise prediction for its plan and its protocol, or beside none") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, bert, {"h200"}, true, {"unfused"});
  const Subject subject = subjects(store, "", "").at(0);
  store::RunRow run;
  run.id = id_of(std::string_view("run"));
  store.save(run);
  std::mt19937 random(5);
  for (const store::GroupRow& group : store.groups())
    for (const store::PlanRow& plan : store.plans(group.id)) {
      const std::optional<Id> kernel = store.lowering(plan.id, subject.device.id);
      if (!kernel) continue;
      for (const ir::CacheState cache : {ir::CacheState::cold, ir::CacheState::warm})
        for (const ir::TimedBy timed_by : {ir::TimedBy::activity, ir::TimedBy::events}) {
          for (const std::string level : {"projected", "compiled", "counted"})
            if (random() % 2 == 0)
              store.save(store::PredictionRow{plan.id,
                                              subject.device.id,
                                              level,
                                              level,
                                              std::string(name(cache)),
                                              std::string(name(timed_by)),
                                              "stream",
                                              {1e-9 * static_cast<double>(1 + random() % 1000)},
                                              {},
                                              {}});
          ir::Measurement measured;
          measured.outcome = ir::Outcome::ok;
          measured.protocol = {cache, timed_by, ir::LaunchMode::stream, "standard"};
          measured.samples = {{{1e-9 * static_cast<double>(1 + random() % 1000)}, 0, 0}};
          measured.measured_at = "2026-01-01T00:00:02Z";
          for (const store::BinaryRow& binary : store.binaries(*kernel))
            store.save(store::measurement_row(measured, run.id, binary.id, subject.device.id, {}, {}));
        }
    }
  const std::vector<store::MeasuredPlan> plans = store.measured_plans(subject.device.id);
  const std::vector<store::PredictedPlan> predictions = store.measured_vs_predicted(subject.device.id);
  const report::Summary summary = load_summary(store, subject, {"unfused", "", 4});
  REQUIRE(summary.times.size() == plans.size());
  std::size_t with = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::optional<Seconds> expected;
    for (const store::PredictedPlan& one : predictions)  // the last of them is the most precise
      if (one.plan == plans[i].plan && one.cache == plans[i].cache && one.timed_by == plans[i].timed_by &&
          one.launch_mode == plans[i].launch_mode)
        expected = one.predicted;
    CHECK(summary.times[i].predicted == expected);
    with += expected ? 1 : 0;
  }
  CHECK(with > 10);
  CHECK(with < plans.size());
}

TEST_CASE("whole models are compared where they left out the same work, not where they left out as many groups") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, softmax, {"h200"}, false);
  const Subject subject = subjects(store, "", "").at(0);
  struct Pair {
    std::vector<store::LeftOutRow> one, other;
    bool compared;
  };
  const std::vector<Pair> pairs{{{}, {}, true},
                                {{{"work 1", 2}}, {{"work 1", 2}}, true},
                                {{{"work 1", 2}}, {{"work 2", 2}}, false},
                                {{{"work 1", 2}}, {{"work 1", 1}, {"work 2", 1}}, false},
                                {{{"work 1", 2}}, {}, false}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    store::RunRow run;
    run.id = id_of(fmt::format("run {}", i));
    store.save(run);
    for (const bool one : {true, false}) {
      store::ModuleTimeRow row;
      row.run = run.id;
      row.graph = subject.graph.id;
      row.strategy = one ? fmt::format("strategy {}", i) : "unfused";
      row.device = subject.device.id;
      row.protocol = {ir::CacheState::produced, ir::TimedBy::events, ir::LaunchMode::graph, "3 rounds"};
      row.outcome = "ok";
      row.left_out = one ? pairs[i].one : pairs[i].other;
      row.median = Seconds{one ? 1e-3 : 2e-3};
      row.measured_at = fmt::format("2026-01-01T00:00:0{}Z", i);
      row.id = store::module_time_id(row);
      store.save(row);
    }
  }
  const report::Table table = report::module_table(load_summary(store, subject, {}));
  REQUIRE(table.rows.size() == pairs.size());
  const std::size_t strategy = place_of_column(table, "strategy"), speedup = place_of_column(table, "speedup");
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (const auto& row : table.rows)
      if (std::get<std::string>(row[strategy]) == fmt::format("strategy {}", i))
        CHECK((row[speedup] == report::Cell(2.0)) == pairs[i].compared);
}

TEST_CASE("the Markdown report of a small database stays as it is") {
  const TestFolder folder;
  {
    Store store = Store::open(folder / "a.db");
    save_model(store, softmax, {"h200"}, true, {"unfused", "stitch-v1"});
    store.save(store::RunRow{id_of(std::string_view("run")),
                             "tailor 0.1.0",
                             "tailor sweep a.json",
                             id_of(std::string_view("c")),
                             "{\"question\": \"Is it worth it?\", \"baseline\": \"none\"}",
                             "uncalibrated",
                             "NVRTC 13.0",
                             "",
                             "",
                             "",
                             "host",
                             2,
                             1,
                             "2026-01-31T23:59:50Z",
                             "2026-02-01T00:00:01Z",
                             "done",
                             {}});
  }
  std::string out;
  Heard heard;
  ReportOptions options;
  options.database = folder / "a.db";
  options.format = Format::md;
  options.top = 3;
  options.out = [&](std::string_view text) { out += text; };
  CHECK(run_report(options, heard.console) == 0);
  CHECK(out.find("11.0 s") != std::string::npos);
  check_golden("report_small.md", out);
}

TEST_CASE("several models and devices get a page each and an index that links them") {
  const TestFolder folder;
  {
    Store store = Store::open(folder / "a.db");
    save_model(store, softmax, {"h200", "l4"}, true);
    save_model(store, "layernorm_fwd_tf_f32_4096x768", {"h200", "l4"}, false);
  }
  std::string out;
  Heard heard;
  ReportOptions options;
  options.database = folder / "a.db";
  options.folder = folder / "deep/report";
  options.format = Format::csv;
  options.out = [&](std::string_view text) { out += text; };
  CHECK(run_report(options, heard.console) == 0);
  CHECK(split(out, '\n').size() == 1 + 4 * 3 + 1);
  const std::string index = read_file(folder / "deep/report/index.html");
  int pages = 0;
  for (const std::string model : {softmax, "layernorm_fwd_tf_f32_4096x768"})
    for (const std::string on : {"h200", "l4"}) {
      const std::string stem = model + "-" + on;
      CHECK(index.find("href=\"" + stem + ".html\"") != std::string::npos);
      CHECK(read_file(folder / ("deep/report/" + stem + ".html")).find("<!DOCTYPE html>") == 0);
      CHECK(read_file(folder / ("deep/report/" + stem + ".md")).find("# How should") == 0);
      ++pages;
    }
  CHECK(pages == 4);
  options.device = "l4";
  options.model = softmax;
  options.folder = folder / "one";
  CHECK(run_report(options, heard.console) == 0);
  CHECK(std::filesystem::exists(folder / "one/report.html"));
  CHECK(std::filesystem::exists(folder / "one/report.md"));
  CHECK_FALSE(std::filesystem::exists(folder / "one/index.html"));
}

TEST_CASE("top limits the plans of a group and the rows of a table") {
  const TestFolder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, softmax, {"h200"}, true);
  const Subject subject = subjects(store, "", "").at(0);
  const auto most = [&](int plans) {
    std::size_t found = 0;
    for (const auto& group : load_summary(store, subject, {"unfused", "", plans}).groups)
      found = std::max(found, group.best.size());
    return found;
  };
  CHECK(most(1) == 1);
  CHECK(most(3) == 3);
  CHECK(most(0) == 5);
}

TEST_CASE("names that are not there and databases that say nothing are told apart") {
  const TestFolder folder;
  Heard heard;
  ReportOptions options;
  options.out = [](std::string_view) {};
  options.database = folder / "absent.db";
  CHECK(fault_of([&] { run_report(options, heard.console); }) == Fault::missing);
  options.database = folder / "empty.db";
  { Store::open(folder / "empty.db"); }
  CHECK(fault_of([&] { run_report(options, heard.console); }) == Fault::failed);
  write_file(folder / "foreign.db", "not a database at all, but long enough to be looked at");
  options.database = folder / "foreign.db";
  CHECK(fault_of([&] { run_report(options, heard.console); }) == Fault::failed);
  options.database = folder / "a.db";
  {
    Store store = Store::open(folder / "a.db");
    save_model(store, softmax, {"h200"}, false);
  }
  options.model = "softmax";
  CHECK(fault_of([&] { run_report(options, heard.console); }) == Fault::usage);
  options.model = softmax;
  options.device = "h100";
  CHECK(fault_of([&] { run_report(options, heard.console); }) == Fault::usage);
  options.device = "h200";
  options.strategy = "stitch-v2";
  CHECK(fault_of([&] { run_report(options, heard.console); }) == Fault::usage);
  options.strategy = "stitch-v1";
  CHECK(run_report(options, heard.console) == 0);
  std::string file = read_file(folder / "a.db");
  file[63] = 9;  // the schema version stands at byte 60 of the header, most significant byte first
  write_file(folder / "newer.db", file);
  options.database = folder / "newer.db";
  CHECK(fault_of([&] { run_report(options, heard.console); }) == Fault::failed);
}

TEST_CASE("databases are told about, merged, dumped and checked") {
  const TestFolder folder;
  {
    Store a = Store::open(folder / "a.db");
    save_model(a, softmax, {"h200"}, false);
    Store b = Store::open(folder / "b.db");
    save_model(b, "layernorm_fwd_tf_f32_4096x768", {"h200"}, false);
  }
  Heard heard;
  std::string out;
  DbOptions options;
  options.out = [&](std::string_view text) { out += text; };
  options.database = folder / "both.db";
  CHECK(run_db_merge(options, {folder / "a.db", folder / "b.db"}, heard.console) == 0);
  CHECK(run_db_check(options, heard.console) == 0);
  CHECK(heard.notes.find("is sound") != std::string::npos);
  options.format = Format::csv;
  CHECK(run_db_info(options, heard.console) == 0);
  CHECK(out.find("graphs,2,\n") != std::string::npos);
  out.clear();
  CHECK(run_db_dump(options, heard.console) == 0);
  const std::string whole = out;
  CHECK(run_db_merge(options, {folder / "a.db"}, heard.console) == 0);
  out.clear();
  CHECK(run_db_dump(options, heard.console) == 0);
  CHECK(out == whole);
  CHECK(fault_of([&] { run_db_merge(options, {folder / "both.db"}, heard.console); }) == Fault::usage);
  CHECK(fault_of([&] { run_db_merge(options, {folder / "none.db"}, heard.console); }) == Fault::missing);
}
