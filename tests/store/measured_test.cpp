// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What was measured: rows come back equal, names tell executions apart, and the views say what a person would say by
// hand: what was measured speaks before what was predicted, and what a GPU refuted is nobody's best. Rows come from
// sample.h. Part of the suite `store`.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "sample.h"
#include "store/store.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::store;

namespace {

/// The model with two groups of four plans, the first plan of each lowered and compiled.
Store two_groups(const std::filesystem::path& path) {
  Store store = Store::open(path);
  save_model(store, 2);
  save_group(store, 1, 4);
  save_group(store, 2, 4);
  store.save(a_run());
  return store;
}

BinaryRow binary_of(int group) { return a_binary(a_kernel(a_plan(group, 0)), true); }

void lower_and_compile(Store& store, const PlanRow& plan) {
  store.save(a_kernel(plan));
  store.save(LoweringRow{plan.id, a_device().id, a_kernel(plan).id});
  store.save(a_binary(a_kernel(plan), true));
}

}  // namespace

TEST_CASE("a measurement, a model's time and a fitted number come back equal, saved once or twice") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  const MeasurementRow timing = a_timing(binary_of(1), 8e-6);
  const ModuleTimeRow time = a_module_time("unfused", 20e-6, 0);
  const CalibrationRow fitted{"h200", "dram_efficiency", a_device().id, 0.9, 0.8, 1, "fraction", hex(timing.id), "now"};
  for (int i = 0; i < 2; ++i) {
    store.save(timing);
    store.save(time);
    store.save(fitted);
    CHECK(store.measurements(binary_of(1).id) == std::vector{timing});
    CHECK(store.module_times(a_graph().id) == std::vector{time});
    CHECK(store.calibrations(a_device().id) == std::vector{fitted});
  }
  CHECK(store.damage() == "");
}

TEST_CASE("a noun becomes a row and a noun again, whatever its outcome and protocol") {
  ir::Measurement measured = to_measurement(a_timing(binary_of(1), 3e-6));
  CHECK(measured.samples.size() == 3);
  for (int outcome = 0; outcome <= static_cast<int>(ir::Outcome::stopped); ++outcome)
    for (const ir::CacheState cache :
         {ir::CacheState::cold, ir::CacheState::warm, ir::CacheState::produced, ir::CacheState::dirty}) {
      measured.outcome = static_cast<ir::Outcome>(outcome);
      measured.protocol = {cache, ir::TimedBy::events, ir::LaunchMode::graph, "quick"};
      const MeasurementRow row = measurement_row(measured, a_run().id, binary_of(1).id, a_device().id);
      CHECK(row.protocol == text(measured.protocol));
      CHECK(row.median == Seconds{3e-6});
      CHECK(to_measurement(row) == measured);
    }
}

TEST_CASE("a fitted number is replaced by a later fit, and an execution without samples has no interval") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  CalibrationRow fitted{"h200", "dram_efficiency", a_device().id, 0.9, 0.8, 1, "fraction", "", "2026-01-01"};
  store.save(fitted);
  fitted.value = 0.95;
  fitted.fitted_at = "2026-02-01";
  store.save(fitted);
  CHECK(store.calibrations(a_device().id) == std::vector{fitted});
  ir::Measurement hung;
  hung.outcome = ir::Outcome::timed_out;
  const MeasurementRow row = measurement_row(hung, a_run().id, binary_of(1).id, a_device().id, Seconds{0}, Seconds{0});
  CHECK_FALSE(row.median.has_value());
  CHECK_FALSE(row.low.has_value());
  CHECK_FALSE(row.high.has_value());
}

TEST_CASE("the median is the middle sample, or the mean of the two in the middle") {
  const auto of = [](std::vector<double> durations) {
    std::vector<ir::Sample> samples;
    for (const double one : durations) samples.push_back({{one}, 0, 0});
    return median_of(samples);
  };
  CHECK_FALSE(of({}).has_value());
  CHECK(of({3}) == Seconds{3});
  CHECK(of({9, 1, 2}) == Seconds{2});
  CHECK(of({9, 1, 2, 4}) == Seconds{3});
}

TEST_CASE("on the simulator an execution is known by what was executed, on a GPU every one is another") {
  MeasurementRow row = a_measurement(binary_of(1));
  const Id simulated = row.id;
  CHECK(simulated == id_of(fmt::format("simulator\nfull shape, seed 1\n{}\n{}\n", hex(row.binary), hex(row.device))));
  row.run = named("another run");
  row.measured_at = "later";
  CHECK(measurement_id(row) == simulated);
  MeasurementRow timed = a_timing(binary_of(1), 8e-6);
  for (const auto change :
       {+[](MeasurementRow& r) { r.run = named("another run"); }, +[](MeasurementRow& r) { r.measured_at = "later"; },
        +[](MeasurementRow& r) { r.samples[1].duration.value *= 1.5; },
        +[](MeasurementRow& r) { r.protocol = "warm, activity, stream, stop standard"; }}) {
    MeasurementRow other = timed;
    change(other);
    CHECK(measurement_id(other) != timed.id);
  }
}

TEST_CASE("time without a protocol, or half of one, does not fit the schema") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  MeasurementRow row = a_timing(binary_of(1), 8e-6);
  row.timing->stop = "";
  CHECK_THROWS_AS(store.save(row), Error);
  CHECK(store.measurements(binary_of(1).id).empty());
}

TEST_CASE("a plan that was measured comes before all that were only predicted, by the last measurement") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");  // projected: 10, 11, 12, 13 us
  store.save(an_estimate(a_plan(1, 2), "profiled", 40e-6));
  store.save(an_estimate(a_plan(1, 3), "profiled", 30e-6));
  std::vector<BestPlan> best = store.best_plans(a_group(1).id, a_device().id, 9);
  REQUIRE(best.size() == 4);
  CHECK(best[0].estimate == an_estimate(a_plan(1, 3), "profiled", 30e-6));
  CHECK(best[1].estimate == an_estimate(a_plan(1, 2), "profiled", 40e-6));
  CHECK(best[2].estimate.plan == a_plan(1, 0).id);
  store.save(an_estimate(a_plan(1, 2), "profiled", 20e-6));
  store.save(an_estimate(a_plan(1, 0), "projected", 1e-9));
  best = store.best_plans(a_group(1).id, a_device().id, 9);
  CHECK(best[0].estimate == an_estimate(a_plan(1, 2), "profiled", 20e-6));
  CHECK(best[2].estimate == an_estimate(a_plan(1, 0), "projected", 1e-6 * 10));
  // A strategy's time is the measured one, and what was predicted stands beside it: of the best plan by predictions.
  for (const StrategyTotals& totals : store.strategies()) {
    if (totals.strategy != "stitch-v1") continue;
    CHECK(totals.kernel_time.value == approx(12 * 20e-6));
    CHECK(totals.predicted_time.value == approx(12 * 10e-6));
    CHECK(totals.launches_measured == 12);
  }
}

TEST_CASE("of plans with equal times the one nearest to the usual plan is the best, then the one with the smaller id") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  std::vector<PlanRow> plans;
  for (int i = 0; i < 6; ++i) {
    PlanRow plan = a_plan(1, 10 + i);
    plan.from_usual = (i * 5 + 3) % 3;
    store.save(plan);
    store.save(an_estimate(plan, "projected", 1e-6));
    plans.push_back(plan);
  }
  std::sort(plans.begin(), plans.end(), [](const PlanRow& a, const PlanRow& b) {
    return std::pair(a.from_usual, hex(a.id)) < std::pair(b.from_usual, hex(b.id));
  });
  const std::vector<BestPlan> best = store.best_plans(a_group(1).id, a_device().id, 6);
  REQUIRE(best.size() == 6);
  for (std::size_t i = 0; i < best.size(); ++i) CHECK(best[i].estimate.plan == plans[i].id);
}

TEST_CASE("a plan whose kernel a GPU refuted is nobody's best, and no other outcome refutes") {
  const Folder folder;
  for (int outcome = 0; outcome <= static_cast<int>(ir::Outcome::stopped); ++outcome) {
    const ir::Outcome ended = static_cast<ir::Outcome>(outcome);
    INFO(std::string(name(ended)));
    Store store = two_groups(folder / fmt::format("{}.db", outcome));
    const PlanRow plan = a_plan(1, 0);
    store.save(an_estimate(plan, "profiled", 1e-6));
    store.save(a_timing(binary_of(1), 1e-6));
    MeasurementRow row = a_timing(binary_of(1), 2e-6);
    row.outcome = name(ended);
    row.id = named("another");
    store.save(row);
    const BestPlan best = store.best_plans(a_group(1).id, a_device().id, 1).at(0);
    CHECK((best.estimate.plan != plan.id) == is_refuted(ended));
    CHECK(store.measured_plans(a_device().id).empty() == is_refuted(ended));
    bool profiled = false;
    for (const LevelBest& level : store.level_bests(a_graph().id, a_device().id)) profiled |= level.level == "profiled";
    CHECK(profiled == !is_refuted(ended));
  }
}

TEST_CASE("a plan that ran twice is one race, however many plans share its kernel, and none where it ran once") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  const BinaryRow binary = binary_of(1);
  store.save(a_timing(binary, 8e-6));
  MeasurementRow once = a_timing(binary, 2e-6);
  once.twins.clear();
  once.id = named("once");
  store.save(once);
  store.save(LoweringRow{a_plan(1, 1).id, a_device().id, binary.kernel});
  const std::vector<TwinRace> races = store.twin_races(a_device().id);
  REQUIRE(races.size() == 1);
  CHECK(races[0].group == a_group(1).id);
  CHECK(races[0].measurement == a_timing(binary, 8e-6).id);
  CHECK(races[0].cache == "cold");
  CHECK(races[0].ratio == approx(1.02));
  CHECK(races[0].told_apart);
  CHECK(store.measurements(binary.id).size() == 2);
  CHECK(to_measurement(store.measurements(binary.id).at(0)).twin.has_value() !=
        to_measurement(store.measurements(binary.id).at(1)).twin.has_value());
}

TEST_CASE("what the simulator found does not refute by itself, a stored rejection does") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  MeasurementRow row = a_measurement(binary_of(1));
  row.outcome = "timed out";
  store.save(row);
  CHECK(store.best_plans(a_group(1).id, a_device().id, 1).at(0).estimate.plan == a_plan(1, 0).id);
  store.save(a_timing(binary_of(1), 8e-6));
  CHECK(store.measured_plans(a_device().id).size() == 1);
  store.save(PlanRejectionRow{a_plan(1, 0).id, a_device().id, "check-wrong", "y"});
  CHECK(store.best_plans(a_group(1).id, a_device().id, 1).at(0).estimate.plan == a_plan(1, 1).id);
  CHECK(store.measured_plans(a_device().id).empty());
  for (const LevelBest& best : store.level_bests(a_graph().id, a_device().id))
    if (best.group == a_group(1).id) CHECK(best.total.value == approx(11e-6));
}

TEST_CASE("measured plans are ranked within a protocol, with the share of the bandwidth where it is known") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 0);
  DeviceRow device = a_device();
  device.id = named("with figures");
  device.name = "h100";
  device.file = R"({"figures": {"dram_bandwidth": {"value": 1e9, "unit": "B/s", "source": "-"}}})";
  store.save(device);
  save_group(store, 1, 4);  // 1500 bytes
  store.save(a_run());
  lower_and_compile(store, a_plan(1, 1));
  for (const int plan : {0, 1}) {
    store.save(LoweringRow{a_plan(1, plan).id, device.id, a_kernel(a_plan(1, plan)).id});
    for (const ir::CacheState cache : {ir::CacheState::cold, ir::CacheState::warm}) {
      MeasurementRow row = a_timing(a_binary(a_kernel(a_plan(1, plan)), true),
                                    cache == ir::CacheState::cold ? 8e-6 - 1e-6 * plan : 2e-6 + 1e-6 * plan,
                                    {cache, ir::TimedBy::activity, ir::LaunchMode::stream, "standard"});
      row.device = device.id;
      if (plan == 1) row.counts.clear();
      row.id = measurement_id(row);
      store.save(row);
      row.measured_at = "2025";  // an older one does not count
      row.median = Seconds{1e-9};
      row.id = measurement_id(row);
      store.save(row);
    }
  }
  const std::vector<MeasuredPlan> plans = store.measured_plans(device.id);
  REQUIRE(plans.size() == 4);
  CHECK(plans[0].cache == "cold");
  CHECK(plans[0].plan == a_plan(1, 1).id);
  CHECK(plans[0].place == 1);
  CHECK(plans[0].median.value == approx(7e-6));
  CHECK(plans[0].samples == 3);
  CHECK(plans[0].useful_fraction.value() == approx(1500 / 7e-6 / 1e9));
  CHECK_FALSE(plans[0].dram_fraction.has_value());
  CHECK(plans[1].plan == a_plan(1, 0).id);
  CHECK(plans[1].dram_fraction.value() == approx(1500 / 8e-6 / 1e9));
  CHECK(plans[2].cache == "warm");
  CHECK(plans[2].plan == a_plan(1, 0).id);
  CHECK(store.measured_plans(a_device().id).empty());
  CHECK(store.measured_devices() == std::vector<std::string>{"h100"});
}

TEST_CASE("what a level predicts for a time stands beside that time, not beside one that was taken otherwise") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  save_timings(store, 1);
  store.save(an_estimate(a_plan(1, 0), "compiled", 9e-6));
  store.save(an_estimate(a_plan(1, 0), "profiled", 8e-6));
  CHECK(store.measured_vs_predicted(a_device().id).empty());  // an estimate is of a row of launches from memory
  for (const std::string level : {"projected", "compiled"}) {
    PredictionRow row = a_prediction(a_plan(1, 0), "cold", "activity", level == "projected" ? 7.5e-6 : 6.5e-6);
    row.level = row.model = level;
    store.save(row);
    row.cache = "warm";
    row.total = {3e-6};
    store.save(row);
    row.timed_by = "events";
    row.total = {1};
    store.save(row);
  }
  CHECK(store.predictions(a_plan(1, 0).id, a_device().id).size() == 6);
  const std::vector<PredictedPlan> both = store.measured_vs_predicted(a_device().id);
  REQUIRE(both.size() == 4);
  CHECK(both[0].cache == "cold");
  CHECK(both[0].level == "projected");
  CHECK(both[0].predicted == Seconds{7.5e-6});
  CHECK(both[0].measured == Seconds{8e-6});
  CHECK(both[1].level == "compiled");
  CHECK(both[2].cache == "warm");
  CHECK(both[2].measured == Seconds{4e-6});
  CHECK(both[2].predicted == Seconds{3e-6});
  CHECK_FALSE(store.measured_plans(a_device().id).at(0).useful_fraction.has_value());
}

TEST_CASE("strategies that were timed in turns are compared, others are not") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  save_timings(store, 1);
  ModuleTimeRow failed = a_module_time("tvm", 1e-6, 0);
  failed.outcome = "wrong";
  failed.id = module_time_id(failed);
  store.save(failed);
  RunRow later = a_run();
  later.id = named("later");
  store.save(later);
  ModuleTimeRow alone = a_module_time("xla-priority", 1e-6, 0);
  alone.run = later.id;
  alone.id = module_time_id(alone);
  store.save(alone);
  const std::vector<ModuleSpeedup> pairs = store.module_speedups(a_graph().id, a_device().id);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].strategy == "stitch-v1");
  CHECK(pairs[0].baseline == "unfused");
  CHECK(pairs[0].speedup == approx(2.5));
  CHECK(pairs[0].baseline_left_out == 3);
  CHECK(pairs[1].speedup == approx(0.4));
}

TEST_CASE("a kernel or a model that came without its text gains it, and keeps it") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  KernelRow lean = a_kernel(a_plan(1, 0));
  lean.text = lean.cuda = "";
  GraphRow bare = a_graph();
  bare.text = bare.summary = "";
  store.save(lean);
  store.save(bare);
  CHECK(store.kernel(lean.id) == lean);
  store.save(a_kernel(a_plan(1, 0)));
  store.save(a_graph());
  store.save(lean);
  store.save(bare);
  CHECK(store.kernel(lean.id) == a_kernel(a_plan(1, 0)));
  CHECK(store.graphs() == std::vector{a_graph()});
}

namespace {

/// A sweep that took the numbers of `calibration`.
RunRow a_sweep(const std::string& calibration, const std::string& started_at) {
  RunRow run = a_run();
  run.id = named(calibration + started_at);
  run.calibration = calibration;
  run.started_at = started_at;
  return run;
}

EstimateRow an_estimate_by(const std::string& calibration, int plan, double total) {
  EstimateRow row = an_estimate(a_plan(1, plan), "projected", total);
  row.model = "projected@" + calibration;
  return row;
}

}  // namespace

TEST_CASE("of two calibrations at one level the one counts that a sweep took last, not the first by name") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 1);
  for (const int plan : {0, 1}) {
    store.save(a_plan(1, plan));
    // "aged" likes the second plan, "fresh" the first.
    store.save(an_estimate_by("aged", plan, plan == 0 ? 20e-6 : 10e-6));
    store.save(an_estimate_by("fresh", plan, plan == 0 ? 30e-6 : 40e-6));
  }
  store.save(an_estimate_by("fresh", 0, 30e-6));
  const auto check = [&](const std::string& calibration, int plan, std::vector<Seconds> times) {
    INFO(calibration);
    const BestPlan best = store.best_plans(a_group(1).id, a_device().id, 1).at(0);
    CHECK(best.estimate.model == "projected@" + calibration);
    CHECK(best.estimate.plan == a_plan(1, plan).id);
    CHECK(store.estimates(best.estimate.plan, a_device().id).front() == best.estimate);
    CHECK(store.plan_times(a_group(1).id, a_device().id, "projected") == times);
    CHECK(store.level_bests(a_graph().id, a_device().id) ==
          std::vector<LevelBest>{{a_group(1).id, "projected", times.front()}});
    for (const StrategyTotals& totals : store.strategies())
      if (totals.strategy == "stitch-v1") CHECK(totals.kernel_time.value == approx(12 * times.front().value));
  };
  const std::vector<Seconds> aged{{10e-6}, {20e-6}}, fresh{{30e-6}, {40e-6}};
  check("aged", 1, aged);  // no sweep took either: by name
  store.save(a_sweep("aged", "2026-01-01T00:00:00Z"));
  check("aged", 1, aged);
  store.save(a_sweep("fresh", "2026-02-01T00:00:00Z"));
  check("fresh", 0, fresh);
  RunRow other = a_sweep("aged", "2026-03-01T00:00:00Z");  // a command that is no sweep
  other.config = "";
  store.save(other);
  check("fresh", 0, fresh);
  store.save(a_sweep("aged", "2026-04-01T00:00:00Z"));
  check("aged", 1, aged);

  SUBCASE("a calibration that says nothing of a plan leaves it to the other") {
    store.save(a_plan(1, 2));
    store.save(an_estimate_by("fresh", 2, 5e-6));
    CHECK(store.plan_times(a_group(1).id, a_device().id, "projected") ==
          std::vector<Seconds>{{5e-6}, {10e-6}, {20e-6}});
  }
  SUBCASE("library calls follow the same rule") {
    store.save(LibraryTimeRow{a_graph().id, "dot.1", a_device().id, "library@fresh", {7e-6}});
    store.save(LibraryTimeRow{a_graph().id, "dot.1", a_device().id, "library@aged", {3e-6}});
    CHECK(store.library_times(a_graph().id, a_device().id).front().model == "library@aged");
    CHECK(store.strategies().front().library_time.value == approx(2 * 3e-6));
    store.save(a_sweep("fresh", "2026-05-01T00:00:00Z"));
    CHECK(store.library_times(a_graph().id, a_device().id).front().model == "library@fresh");
    CHECK(store.strategies().front().library_time.value == approx(2 * 7e-6));
  }
}

TEST_CASE("what models said with other numbers goes, what was measured stays, and another calibration is not touched") {
  const Folder folder;
  Store store = two_groups(folder / "a.db");
  save_timings(store, 1);
  const PlanRow plan = a_plan(1, 0);
  const GroupBoundRow bound{a_group(1).id, a_device().id, "sol@aged", {1e-6}, "dram", named("figures")};
  store.save(bound);
  for (const char* calibration : {"aged", "fresh"}) {
    store.save(an_estimate_by(calibration, 0, 10e-6));
    PredictionRow predicted = a_prediction(plan, "cold", "activity", 7e-6);
    predicted.model = fmt::format("projected@{}", calibration);
    store.save(predicted);
  }
  store.save(an_estimate(plan, "profiled", 8e-6));
  save_wrong_plan(store, 1);  // executed on the simulator alone
  store.save(RejectionRow{a_group(1).id, a_device().id, "space", "registers", true, 3, "row", "too many"});
  store.save(ProgressRow{a_group(1).id, a_device().id, "space", "score", 4, 3, bound.figures});
  store.save(ProgressRow{a_group(2).id, a_device().id, "space", "score", 4, 3, bound.figures});
  const std::size_t measured = store.measured_plans(a_device().id).size(),
                    timings = store.timings(a_device().id).size();
  REQUIRE(measured > 0);
  const std::string before = store.dump();
  CHECK_FALSE(store.forget_other_figures(bound));
  GroupBoundRow never = bound;
  never.model = "sol@never";
  CHECK_FALSE(store.forget_other_figures(never));
  CHECK(store.dump() == before);

  GroupBoundRow other = bound;
  other.figures = named("other figures");
  CHECK(store.forget_other_figures(other));
  for (const EstimateRow& row : store.estimates(plan.id, a_device().id)) CHECK(row.model != "projected@aged");
  CHECK(store.estimates(plan.id, a_device().id).size() == 3);  // by no calibration, by the fresh one, measured
  REQUIRE(store.predictions(plan.id, a_device().id).size() == 1);
  CHECK(store.predictions(plan.id, a_device().id).at(0).model == "projected@fresh");
  CHECK_FALSE(store.is_done(a_group(1).id, a_device().id, "space", "score"));
  CHECK(store.is_done(a_group(2).id, a_device().id, "space", "score"));
  for (const RejectionRow& row : store.rejections(a_group(1).id, a_device().id)) CHECK(row.space != "space");
  CHECK(store.measured_plans(a_device().id).size() == measured);
  CHECK(store.timings(a_device().id).size() == timings);
  CHECK(store.lowering(plan.id, a_device().id).has_value());
  // save_group left progress of another sweep; without it the short list begins anew, but for what a GPU measured.
  CHECK(store.lowering(a_plan(1, 1).id, a_device().id).has_value());
  store.save(other);
  for (const ProgressRow& row : store.progress_of(a_group(1).id, a_device().id))
    store.save(ProgressRow{row.group, row.device, row.space, row.stage, row.legal, row.rejected, other.figures});
  CHECK(store.forget_other_figures(bound));
  CHECK(store.progress_of(a_group(1).id, a_device().id).empty());
  CHECK_FALSE(store.lowering(a_plan(1, 1).id, a_device().id).has_value());
  CHECK(store.lowering(plan.id, a_device().id).has_value());
  CHECK(store.measured_plans(a_device().id).size() == measured);
  CHECK(store.best_plans(a_group(1).id, a_device().id, 1).at(0).estimate.level == "profiled");
  CHECK(store.damage().empty());
}

TEST_CASE("databases that estimated one group with other numbers under one name are not merged") {
  const Folder folder;
  for (const char* file : {"a.db", "b.db"}) {
    Store store = Store::open(folder / file);
    save_model(store, 1);
    store.save(GroupBoundRow{a_group(1).id, a_device().id, "sol@aged", {1e-6}, "dram", named(file)});
  }
  Store store = Store::open(folder / "a.db");
  const std::string before = store.dump();
  try {
    store.merge(folder / "b.db");
    FAIL("merged");
  } catch (const Error& error) {
    const std::string words = error_text(error);
    CHECK(words.find("sol@aged on h200, group add_rsqrt: both have estimates of this group, but the calibration or the "
                     "device file said other numbers to each; nothing of it was merged") != words.npos);
  }
  CHECK(store.dump() == before);
}

TEST_CASE("a run tells the version of each device file it read, and a later one another version") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 0);
  RunRow first = a_run(), second = a_run();
  first.devices = {{a_device().id, named("one text")}};
  second.id = named("second");
  second.started_at = "2026-01-02T00:00:00Z";
  second.devices = {{a_device().id, named("another text")}};
  for (int i = 0; i < 2; ++i) {
    store.save(first);
    store.save(second);
  }
  CHECK(store.runs() == std::vector{first, second});
  CHECK(store.device_files(store.runs().at(0)) == ", h200.json " + short_hex(named("one text")));
  CHECK(store.devices() == std::vector{a_device()});
  first.devices.clear();  // a file that was cut down to other devices takes nothing away
  store.save(first);
  CHECK(store.runs().at(0).devices.size() == 1);
}
