// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The main job, end to end and in its parts: what it stores, that it goes on where it stopped, that the same file
// gives the same rows, and that its errors are one message each. Models are those that ship in data/models. Part of
// the suite `study`.
#include "study/summary/load_summary.h"
#include "study/sweep/sweep.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "folder.h"
#include "store/store.h"
#include "study/pipeline/gpu_access.h"
#include "study/sweep/sweep_tables.h"
#include "support/approx.h"
#include "support/listener.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::study;

namespace {

std::string softmax_config(const std::string& more = "") {
  return "{\"question\": \"how long?\", \"models\": [\"" +
         (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string() +
         "\"], \"devices\": [\"h200\"], \"strategies\": [\"unfused\", \"stitch-v1\"], \"compile\": false, " +
         "\"plans\": {\"axes\": {\"threads\": [128, 256]}}" + more + "}";
}

SweepOutcome sweep(const Folder& folder, const std::string& config, const std::string& database,
                   std::stop_token stop = {}, const std::filesystem::path& data = source / "data",
                   std::string* notes = nullptr) {
  write_file(folder.path / "sweep.json", config);
  Listener listener;
  SweepOptions options;
  options.config = folder.path / "sweep.json";
  options.data = data;
  options.database = folder.path / database;
  options.workers = 2;
  options.command = "test";
  SweepOutcome outcome = run_sweep(options, {listener, stop});
  if (notes != nullptr) *notes = listener.notes;
  return outcome;
}

int fault_of(const Folder& folder, const std::string& config, const std::string& expected_words) {
  try {
    sweep(folder, config, "bad.db");
  } catch (const Error& error) {
    CHECK_MESSAGE(error_text(error).find(expected_words) != std::string::npos, error_text(error));
    return static_cast<int>(error.fault);
  }
  return 0;
}

}  // namespace

TEST_CASE("a sweep stores every strategy, one softmax kernel among them, and its plans") {
  const Folder folder;
  const SweepOutcome outcome = sweep(folder, softmax_config(), "a.db");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.models == 1);
  CHECK(outcome.plans_scored > 100);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  std::int64_t stitched = 0, alone = 0;
  for (const store::StrategyTotals& totals : opened.strategies()) {
    (totals.strategy == "stitch-v1" ? stitched : alone) = totals.kernels;
    CHECK(totals.groups_without_time == 0);
    CHECK(totals.kernel_time.value > 0);
  }
  CHECK(stitched == 1);
  CHECK(alone > 3);
  CHECK(opened.damage().empty());
}

TEST_CASE("the plan that XLA would write is on every short list, and what the search adds is never below nothing") {
  const Folder folder;
  sweep(folder, softmax_config(", \"shortlist\": 2"), "a.db");
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  const Id device = opened.devices().at(0).id;
  int with = 0, without = 0;
  for (const store::GroupRow& group : opened.groups()) {
    const std::optional<store::XlaPlanRow> xla = opened.xla_plan(group.id, device);
    REQUIRE(xla.has_value());
    CHECK(xla->plan.has_value() == (xla->launch != "no plan"));
    if (!xla->plan) {
      CHECK(xla->note != "");
      ++without;
      continue;
    }
    ++with;
    CHECK(opened.lowering(*xla->plan, device).has_value());
    const std::optional<store::SearchAdded> added = opened.search_added(group.id, device);
    REQUIRE(added.has_value());
    CHECK(added->as_xla.value >= added->best.value);
  }
  CHECK(with >= 4);
  CHECK(without == 1);  // the whole softmax as one kernel, which XLA would not write
  for (const store::StrategySearchAdded& sum : opened.strategy_search_added()) {
    CHECK(sum.strategy == "unfused");
    CHECK(sum.kernels == with);
    CHECK(sum.as_xla.value >= sum.best.value);
  }
}

TEST_CASE("a model that cannot be read is left out by name and reason, the others are swept, and no claim is judged") {
  const Folder folder;
  write_file(folder.path / "cut.hlo", "HloModule cut\n\nENTRY e {\n  a = f32[4]{0} parameter(0)\n");
  const std::string good = (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string();
  const SweepOutcome outcome =
      sweep(folder,
            fmt::format(R"({{"models": ["cut.hlo", "{}"], "devices": ["h200"], "strategies": ["unfused", "stitch-v1"],
              "compile": false, "plans": {{"axes": {{"threads": [128]}}}},
              "claim": {{"metric": "launch_reduction_of_kernels", "threshold": 2}}}})",
                        good),
            "a.db");
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.models == 1);
  REQUIRE(outcome.left_out.size() == 1);
  CHECK(outcome.left_out[0].model.filename() == "cut.hlo");
  CHECK(outcome.left_out[0].reason.find("cut.hlo:5:") != std::string::npos);
  CHECK(outcome.reason.starts_with("1 of 2 models was left out: "));
  CHECK(outcome.reason.find("cut.hlo:5:") != std::string::npos);
  CHECK_FALSE(outcome.claim.has_value());
  CHECK(outcome.strategies.size() == 2);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  CHECK(opened.runs().at(0).outcome == "failed");
  CHECK(opened.damage().empty());
}

TEST_CASE("a second run finds everything there; two runs of one file store the same rows") {
  const Folder folder;
  const SweepOutcome first = sweep(folder, softmax_config(), "a.db");
  const SweepOutcome again = sweep(folder, softmax_config(), "a.db");
  CHECK(again.plans_scored == 0);
  CHECK(again.groups_resumed == first.distinct_groups);
  sweep(folder, softmax_config(), "b.db");
  const auto plans = [&](const char* name) {
    const store::Store opened = store::Store::open_read_only(folder.path / name);
    std::string rows;
    for (const store::GroupRow& group : opened.groups())
      for (const store::DeviceRow& device : opened.devices())
        for (const store::BestPlan& plan : opened.best_plans(group.id, device.id, 1000))
          rows += plan.plan + " " + std::to_string(plan.estimate.total.value * 1e9) + "\n";
    return rows;
  };
  CHECK(plans("a.db") == plans("b.db"));
  CHECK(plans("a.db").size() > 1000);
}

TEST_CASE("estimates carry the name of their calibration, and another calibration is another sweep beside it") {
  const Folder folder;
  std::string fitted = read_file(source / "data/calibrations/uncalibrated.json");
  const std::string knee = "\"dram_knee\": {\"value\": 2.4,";
  for (std::size_t at = fitted.find(knee); at != fitted.npos; at = fitted.find(knee, at + 1))
    fitted.replace(at, knee.size(), "\"dram_knee\": {\"value\": 3,");
  write_file(folder.path / "fitted.json", fitted);
  const std::string calibrated =
      softmax_config(", \"calibration\": \"" + (folder.path / "fitted.json").string() + "\"");
  const SweepOutcome first = sweep(folder, softmax_config(), "a.db");
  const SweepOutcome second = sweep(folder, calibrated, "a.db");
  CHECK(second.plans_scored == first.plans_scored);
  CHECK(second.groups_resumed == 0);
  CHECK(sweep(folder, calibrated, "a.db").groups_resumed == first.distinct_groups);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  REQUIRE(opened.devices().size() == 1);
  const Id device = opened.devices().front().id;
  CHECK(device == id_of(std::string_view("h200")));
  std::set<std::string> models;
  std::int64_t differ = 0;
  for (const store::GroupRow& group : opened.groups())
    for (const store::BestPlan& plan : opened.best_plans(group.id, device, 1000)) {
      const std::vector<store::EstimateRow> both = opened.estimates(plan.estimate.plan, device);
      for (const store::EstimateRow& one : both) models.insert(one.model);
      if (both.size() == 2) differ += both[0].total != both[1].total ? 1 : 0;
    }
  CHECK(models == std::set<std::string>{"projected@fitted", "projected@uncalibrated"});
  CHECK(differ > 100);
}

namespace {

/// All that models say in a database, as text: of every group its bound, its best plans and their estimates, why others
/// were rejected, and the totals.
std::string said(const std::filesystem::path& database) {
  const store::Store opened = store::Store::open_read_only(database);
  std::string rows;
  for (const store::DeviceRow& device : opened.devices())
    for (const store::GroupRow& group : opened.groups()) {
      for (const store::GroupBoundRow& row : opened.group_bounds(group.id, device.id))
        rows += fmt::format("{} {} {}\n", hex(group.id), row.model, row.total.value);
      for (const store::BestPlan& plan : opened.best_plans(group.id, device.id, 1 << 30)) {
        rows += fmt::format("{}: {} {}\n", plan.place, plan.plan, plan.kernel.has_value());
        for (const store::EstimateRow& row : opened.estimates(plan.estimate.plan, device.id))
          rows += fmt::format("{} {} {} {}\n", row.level, row.model, row.total.value, row.bottleneck);
      }
    }
  for (const store::StrategyTotals& row : opened.strategies())
    rows += fmt::format("{} {} {}\n", row.strategy, row.kernel_time.value, row.library_time.value);
  for (const store::RejectedRule& row : opened.rejected_why())
    rows += fmt::format("{} {} {} {}\n", row.rule, row.groups, row.plans, row.example);
  return rows;
}

/// Device files and calibrations of their own, so that a test may change them.
std::filesystem::path own_data(const Folder& folder) {
  const std::filesystem::path data = folder.path / "data";
  std::filesystem::create_directories(data);
  for (const char* part : {"devices", "calibrations"})
    std::filesystem::copy(source / "data" / part, data / part, std::filesystem::copy_options::recursive);
  return data;
}

void change(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  std::string text = read_file(file);
  REQUIRE(text.find(from) != text.npos);
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  write_file(file, text);
}

}  // namespace

TEST_CASE(
    "a calibration or a device file that says other numbers under the same name is scored again, and no row of "
    "the old one is left" *
    doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Folder folder;
  const std::filesystem::path data = own_data(folder);
  const std::filesystem::path calibration = data / "calibrations/uncalibrated.json",
                              device = data / "devices/h200.json";
  const std::string config = softmax_config();
  std::string notes;
  const SweepOutcome first = sweep(folder, config, "a.db", {}, data, &notes);
  CHECK(notes.find("other numbers") == notes.npos);
  const std::string before = said(folder.path / "a.db");

  struct Changed {
    const char* what;
    std::filesystem::path file;
    std::string from, to;
  };
  int fresh = 0;
  for (const Changed& changed :
       {Changed{"a figure of the calibration", calibration, "\"dram_knee\": {\"value\": 2.4,",
                "\"dram_knee\": {\"value\": 3,"},
        Changed{"a fact of the device", device, "\"value\": 62914560", "\"value\": 41943040"},
        Changed{"a limit of the device", device, "\"shared_per_block_optin\": {\"value\": 232448",
                "\"shared_per_block_optin\": {\"value\": 49152"},
        Changed{"the limit again as it was", device, "\"shared_per_block_optin\": {\"value\": 49152",
                "\"shared_per_block_optin\": {\"value\": 232448"}}) {
    CAPTURE(changed.what);
    change(changed.file, changed.from, changed.to);
    const SweepOutcome again = sweep(folder, config, "a.db", {}, data, &notes);
    CHECK(again.groups_resumed == 0);
    CHECK(notes.find(fmt::format("h200: its file or calibration 'uncalibrated' says other numbers than when {0} of {0} "
                                 "groups were estimated",
                                 first.distinct_groups)) != notes.npos);
    const std::string name = fmt::format("fresh{}.db", fresh++);
    sweep(folder, config, name, {}, data, &notes);
    CHECK(notes.find("other numbers") == notes.npos);
    CHECK(said(folder.path / "a.db") == said(folder.path / name));
    CHECK(said(folder.path / "a.db") != before);
    CHECK(sweep(folder, config, "a.db", {}, data, &notes).groups_resumed == first.distinct_groups);
    CHECK(notes.find("other numbers") == notes.npos);
  }
  // Words are no numbers.
  change(device, "NVIDIA H200 datasheet", "the data sheet");
  CHECK(sweep(folder, config, "a.db", {}, data, &notes).groups_resumed == first.distinct_groups);
  CHECK(notes.find("other numbers") == notes.npos);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  CHECK(opened.devices().at(0).file == read_file(device));
  CHECK(opened.damage().empty());
}

TEST_CASE("what was known of another calibration, or by another sweep of the same numbers, stays when a file changes" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Folder folder;
  const std::filesystem::path data = own_data(folder);
  std::filesystem::copy(data / "calibrations/uncalibrated.json", data / "calibrations/other.json");
  const std::string other = softmax_config(", \"calibration\": \"other\"");
  const SweepOutcome first = sweep(folder, softmax_config(), "a.db", {}, data);
  sweep(folder, other, "a.db", {}, data);
  change(data / "calibrations/uncalibrated.json", "\"dram_knee\": {\"value\": 2.4,", "\"dram_knee\": {\"value\": 3,");
  CHECK(sweep(folder, softmax_config(), "a.db", {}, data).groups_resumed == 0);
  CHECK(sweep(folder, other, "a.db", {}, data).groups_resumed == first.distinct_groups);
  sweep(folder, other, "b.db", {}, data);
  const auto totals = [&](const char* name) {
    std::string rows;
    for (const store::StrategyTotals& row : store::Store::open_read_only(folder.path / name).strategies())
      rows += fmt::format("{} {}\n", row.strategy, row.kernel_time.value);
    return rows;
  };
  CHECK(totals("a.db") == totals("b.db"));
  // Its short lists are still there.
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  for (const store::GroupRow& group : opened.groups())
    for (const store::BestPlan& best : opened.best_plans(group.id, opened.devices().at(0).id, 1))
      CHECK(best.kernel.has_value());
}

TEST_CASE("a sweep that is told to stop exits 130 and the next one finishes the work") {
  const Folder folder;
  std::stop_source source_of_stop;
  source_of_stop.request_stop();
  CHECK(sweep(folder, softmax_config(), "a.db", source_of_stop.get_token()).exit_code == 130);
  CHECK(sweep(folder, softmax_config(), "a.db").exit_code == 0);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  std::multiset<std::string> outcomes;  // both may have begun within one second: no order between them
  for (const store::RunRow& run : opened.runs()) outcomes.insert(run.outcome);
  CHECK(outcomes == std::multiset<std::string>{"done", "interrupted"});
}

TEST_CASE("a claim is judged by the models, strategies and devices of its own file, whatever else the database holds") {
  const Folder folder;
  // Six launches become one; the softmax's own figure is another.
  write_file(folder.path / "chain.hlo",
             "HloModule chain\n\nENTRY e {\n  x = f32[512]{0} parameter(0)\n  a = f32[512]{0} sine(x)\n"
             "  b = f32[512]{0} cosine(a)\n  c = f32[512]{0} tanh(b)\n  d = f32[512]{0} negate(c)\n"
             "  g = f32[512]{0} abs(d)\n  ROOT y = f32[512]{0} exponential(g)\n}\n");
  const auto config = [](const std::string& model, const std::string& device) {
    return fmt::format(
        R"({{"models": ["{}"], "devices": ["{}"], "strategies": ["unfused", "stitch-v1"], "compile": false,
      "baseline": "unfused", "plans": {{"axes": {{"threads": [128]}}, "max_per_group": 20}},
      "claim": {{"metric": "launch_reduction_of_kernels", "threshold": 1}}}})",
        model, device);
  };
  const std::string softmax = (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string();
  const auto value = [&](const std::string& model, const std::string& device, const char* database) {
    const SweepOutcome outcome = sweep(folder, config(model, device), database);
    REQUIRE(outcome.claim.has_value());
    return outcome.claim->value;
  };
  CHECK(value("chain.hlo", "h200", "a.db") == approx(6));
  const double alone = value(softmax, "h200", "b.db");
  CHECK(alone != approx(6));
  CHECK(value(softmax, "h200", "a.db") == approx(alone));
  CHECK(value("chain.hlo", "h200", "a.db") == approx(6));
  CHECK(value("chain.hlo", "l4", "a.db") == approx(6));
}

TEST_CASE("a sweep comes to the same by its own plans, whether its database holds better ones or worse ones") {
  const Folder folder;
  const auto config = [&](std::string_view threads) {
    std::string all = softmax_config(R"(, "baseline": "unfused", "claim": {"metric": "predicted_speedup_of_kernels",
                                       "threshold": 1})");
    const std::string_view axis = "[128, 256]";
    return all.replace(all.find(axis), axis.size(), threads);
  };
  const auto times = [&](std::string_view threads, const char* database) {
    const SweepOutcome outcome = sweep(folder, config(threads), database);
    REQUIRE(outcome.strategies.size() == 2);
    REQUIRE(outcome.claim.has_value());
    CHECK(outcome.strategies[0].kernel_time.value > 0);
    std::vector<double> all{outcome.strategies[0].kernel_time.value, outcome.strategies[1].kernel_time.value,
                            outcome.claim->value, static_cast<double>(outcome.search_added.size())};
    for (const store::StrategySearchAdded& one : outcome.search_added) {
      all.push_back(one.as_xla.value);
      all.push_back(one.best.value);
    }
    return all;
  };
  const std::vector<double> fast = times("[256]", "fast.db"), slow = times("[1024]", "slow.db");
  CHECK(fast != slow);
  CHECK(times("[1024]", "fast.db") == slow);
  CHECK(times("[256]", "fast.db") == fast);
  CHECK(times("[256]", "slow.db") == fast);
  CHECK(times("[1024]", "slow.db") == slow);
}

TEST_CASE("the picture of a fusion has a box for each group, also where parts of one share nothing") {
  const Folder folder;
  // Two chains that nothing joins: plans put what is small side by side.
  write_file(folder.path / "apart.hlo",
             "HloModule apart\n\nENTRY e {\n  x = f32[512]{0} parameter(0)\n  y = f32[300]{0} parameter(1)\n"
             "  a = f32[512]{0} sine(x)\n  b = f32[512]{0} tanh(a)\n  c = f32[300]{0} cosine(y)\n"
             "  ROOT t = (f32[512]{0}, f32[300]{0}) tuple(b, c)\n}\n");
  const SweepOutcome outcome = sweep(folder,
                                     R"({"models": ["apart.hlo"], "devices": ["h200"], "strategies": ["tailor"],
                                         "compile": false, "plans": {"max_per_group": 4}})",
                                     "a.db");
  REQUIRE(outcome.exit_code == 0);
  const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
  const report::Summary summary = load_summary(opened, subjects(opened, "", "").at(0), {"tailor", "", 1, {}});
  REQUIRE(summary.groups.size() == 1);
  REQUIRE(summary.map.boxes.size() == 1);
  CHECK(summary.map.boxes[0].group == summary.groups[0].id);
  CHECK(summary.map.boxes[0].name == summary.groups[0].name);
}

TEST_CASE("a claim that does not hold exits 4, one that holds exits 0, one without a verdict 3") {
  const Folder folder;
  const auto claim = [](const char* threshold) {
    return std::string(
               ", \"claim\": {\"text\": \"fewer launches\", \"metric\": \"launch_reduction_of_kernels\", "
               "\"threshold\": ") +
           threshold + "}";
  };
  CHECK(sweep(folder, softmax_config(claim("2")), "a.db").exit_code == 0);
  CHECK(sweep(folder, softmax_config(claim("1000")), "a.db").exit_code == 4);
  // Axes that leave a baseline's groups without a plan leave nothing to judge by.
  std::string narrow =
      softmax_config(R"(, "claim": {"text": "t", "metric": "predicted_speedup_of_kernels", "threshold": 1})");
  const std::string_view axes = "\"threads\": [128, 256]";
  narrow.replace(narrow.find(axes), axes.size(), "\"threads\": [64], \"threads_per_row\": [1024]");
  const SweepOutcome open = sweep(folder, narrow, "b.db");
  CHECK(open.exit_code == 3);
  CHECK(open.reason.starts_with("the claim is not judged"));
}

TEST_CASE("a sweep file that asks for what does not exist gets the nearest name and touches no database") {
  const Folder folder;
  CHECK(fault_of(folder, "{\"question\": \"?\", \"modles\": []}", "models") == 2);
  const std::string good = softmax_config();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  CHECK(fault_of(folder, with("h200", "h2000"), "h200") == 3);
  CHECK(fault_of(folder, with("stitch-v1", "stitch-v11"), "stitch-v1") == 2);
  CHECK(fault_of(folder, with("\"threads\"", "\"thread\""), "threads") == 2);
  CHECK(fault_of(folder, softmax_config(", \"cost_model\": \"compiled\""), "projected") == 2);
  CHECK(fault_of(folder, softmax_config(", \"claim\": {\"metric\": \"launch_reduction\", \"threshold\": 5}"),
                 "launch_reduction_of_kernels or launch_reduction_with_library") == 2);
  CHECK(fault_of(folder, softmax_config(", \"arch\": \"sm_9\""), "sm_9") == 2);
  CHECK(!std::filesystem::exists(folder.path / "bad.db"));
}

TEST_CASE("a group none of whose kernels compiled has no plan, and the sweep says so each time") {
  const Folder folder;
  std::string config = softmax_config(", \"shortlist\": 3");
  config.replace(config.find("\"compile\": false"), 16, "\"compile\": true");
  write_file(folder.path / "sweep.json", config);
  for (int run = 0; run < 2; ++run) {
    CAPTURE(run);
    Listener listener;
    SweepOptions options;
    options.config = folder.path / "sweep.json";
    options.data = source / "data";
    options.database = folder.path / "a.db";
    options.nvrtc = nvrtc_paths(built("tests/study/librefusing_nvrtc.so"));
    options.workers = 2;
    options.command = "test";
    const SweepOutcome outcome = run_sweep(options, {listener, {}});
    CHECK(outcome.exit_code == static_cast<int>(Fault::failed));
    CHECK(outcome.reason.find("did not compile") != outcome.reason.npos);
    CHECK(outcome.reason.find("left without a plan") != outcome.reason.npos);
    const store::Store opened = store::Store::open_read_only(folder.path / "a.db");
    for (const store::StrategyTotals& totals : opened.strategies()) {
      CHECK(totals.groups_without_plan == totals.distinct_groups);
      CHECK(totals.groups_without_time == 0);  // the bound stands for them
    }
  }
}

TEST_CASE("pages follow the database: those of the file's own database are not overwritten by another one's") {
  const Folder folder;
  const std::string config = softmax_config(", \"database\": \"own.db\", \"report\": \"pages\"");
  CHECK(sweep(folder, config, "own.db").report == folder.path / "pages");
  CHECK(sweep(folder, config, "other.db").report == folder.path / "other");
  CHECK(sweep(folder, config, "plain").report == folder.path / "plain.report");
  CHECK(sweep(folder, softmax_config(), "other.db").report.empty());
}

TEST_CASE("axes that leave no plan end a sweep with 1 and the rule; also when everything was searched before") {
  const Folder folder;
  std::string config = softmax_config();
  const std::string axis = "\"threads\": [128, 256]";
  config.replace(config.find(axis), axis.size(), "\"threads\": [65]");
  for (int run = 0; run < 2; ++run) {
    const SweepOutcome outcome = sweep(folder, config, "a.db");
    CHECK(outcome.exit_code == 1);
    CHECK(outcome.reason.find("the sweep's axes leave no group a plan; for ") == 0);
    CHECK(outcome.reason.find("rule threads refuses ") != std::string::npos);
    CHECK(outcome.reason.find("65 threads are no whole number of warps of 32") != std::string::npos);
    CHECK_FALSE(outcome.hint.empty());
  }
  // Beside a sweep that has plans, in one database.
  CHECK(sweep(folder, softmax_config(), "a.db").exit_code == 0);
  CHECK(sweep(folder, config, "a.db").exit_code == 1);
}

TEST_CASE("a sweep's answer has a row per strategy with both speed-ups, which are the proportions of its times") {
  const Folder folder;
  const SweepOutcome outcome = sweep(folder, softmax_config(), "a.db");
  REQUIRE(outcome.strategies.size() == 2);
  const report::Table table = strategies_table(outcome);
  REQUIRE(table.rows.size() == 2);
  const auto at = [&](std::size_t row, std::string_view key) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].key == key) return table.rows[row][i];
    FAIL("no such column");
    return report::Cell();
  };
  for (std::size_t row = 0; row < 2; ++row) {
    const bool base = std::get<std::string>(at(row, "strategy")) == "unfused";
    const double expected =
        base ? 1 : std::get<double>(at(1 - row, "kernel_time")) / std::get<double>(at(row, "kernel_time"));
    CHECK(std::get<double>(at(row, "speedup_of_kernels")) == approx(expected));
    CHECK(std::holds_alternative<std::monostate>(at(row, "speedup_with_library")));  // it makes no library calls
    CHECK(std::get<std::int64_t>(at(row, "library_calls")) == 0);
  }
  CHECK(done_table(outcome).rows.size() == 1);
}
