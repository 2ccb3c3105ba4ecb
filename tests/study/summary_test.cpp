// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a report's summary makes of a database. In: a database of one model with three groups, written row by row so
// that no two figures are equal and places, runs and levels can be told from one another. Out: the summary's figures,
// added up by hand. The page's own tests begin where this ends. Part of the suite `study`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "ir/device.h"
#include "store/observations.h"
#include "store/store.h"
#include "study/folder.h"
#include "study/summary/load_summary.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::study;

namespace {

Id named(const std::string& name) { return id_of(std::string_view(name)); }

store::EstimateRow estimate_of(const std::string& plan, Id device, const std::string& level, double total) {
  store::EstimateRow row{named(plan), device, level, level + "@c", {total}, {total * 0.5}, {total * 2}, "l2"};
  row.parts[static_cast<std::size_t>(ir::Part::dram)] = {total / 4};
  row.parts[static_cast<std::size_t>(ir::Part::l2)] = {total / 2};
  row.occupancy = 0.75;
  row.waves = 3;
  return row;
}

/// alpha has a plan that two levels looked at and one as XLA's, beta one of one level alone, gamma has none.
struct SmallDatabase {
  Folder folder;
  store::Store store = store::Store::open(folder.path / "a.db");
  Id device, graph = named("graph");

  SmallDatabase() {
    store::Store::Transaction unit(store);  // each row alone would wait for the disk
    fill();
    unit.commit();
  }

  void fill() {
    const std::string file = read_file((source / "data/devices/h200.json").string());
    const ir::Device read = ir::parse_device(file, "h200");
    device = named("h200");
    store.save(store::DeviceRow{device, "h200", read.title, read.arch, file});
    store.save(store::GraphRow{
        graph, named("structure"), "model", "model.hlo",
        "graph model {\n  %x = parameter 0 : f32[8]\n  %node = exp %x : f32[8]\n  output %node\n}\n", 9, 0, ""});
    save_group("alpha", "f32[2,3]", 100, 20, 7, {1e-6});
    save_group("beta", "f16[5]", 1000, 300, 8, {2e-6});
    save_group("gamma", "f32[7]", 5, 6, 9, {0.5e-6, 0.25e-6});
    store.save(fusion("tailor", {{"alpha", 2, 20}, {"beta", 1, 3}, {"gamma", 4, 50}}));
    store.save(fusion("unfused", {{"alpha", 12, 70}}));
    save_plan("alpha", "alpha best", {{"projected", 4e-6}, {"counted", 6e-6}});
    save_plan("alpha", "alpha as XLA", {{"projected", 5e-6}, {"counted", 9e-6}});
    save_plan("beta", "beta best", {{"projected", 8e-6}});
    store.save(store::XlaPlanRow{named("alpha"), device, "loop", "8x1x1", 128, named("alpha as XLA"), "equal", "note"});
    store.save(store::XlaPlanRow{named("beta"), device, "row", "9x1x1", 64, named("beta best"), "same warps", ""});
    store.save(store::ProgressRow{named("alpha"), device, "", "score", 11, 5});
    store.save(store::RejectionRow{named("gamma"), device, "", "registers", true, 3, "p", "too many"});
    store.save(store::RejectionRow{named("gamma"), device, "", "skeleton-column", true, 0, "", "a column"});
    store.save(store::ProgressRow{named("gamma"), device, "", "score", 0, 0});
    for (const auto& [node, times] : std::vector<std::pair<std::string, double>>{{"n1", 2}, {"n2", 5}})
      store.save(store::LibraryCallRow{graph, node, "dot", "f32[8]", times, 1000, {64}});
    store.save(store::LibraryCallRow{graph, "n3", "conv", "f32[9]", 1, 300, {4096}});
    for (const char* node : {"n1", "n2"}) store.save(store::LibraryTimeRow{graph, node, device, "bytes", {3e-6}});
    store.save(store::LibraryTimeRow{graph, "n3", device, "bytes", {11e-6}});
  }

  void save_group(const std::string& name, const std::string& shape, double read, double written, double flops,
                  const std::vector<double>& bounds) {
    const std::string text =
        fmt::format("graph g {{\n  %x = parameter 0 : {0}\n  %y = exp %x : {0}\n  output %y\n}}\n", shape);
    store.save(store::GroupRow{named(name), name, text, 3, 1, {read}, {written}, flops});
    for (std::size_t i = 0; i < bounds.size(); ++i)
      store.save(store::GroupBoundRow{named(name), device, fmt::format("bound {}", i), {bounds[i]}, "dram"});
  }
  store::FusionRow fusion(const std::string& strategy,
                          const std::vector<std::tuple<std::string, std::int64_t, double>>& groups) const {
    store::FusionRow row{graph, strategy, "", "", {}, {}, 5, 0, 0};
    for (const auto& [name, places, times] : groups) row.groups.push_back({named(name), places, times, "node"});
    return row;
  }
  void save_plan(const std::string& group, const std::string& name,
                 const std::vector<std::pair<std::string, double>>& levels) {
    store.save(store::PlanRow{named(name), named(group), name, "row"});
    for (const auto& [level, total] : levels) store.save(estimate_of(name, device, level, total));
    store.save(
        store::KernelRow{named("kernel of " + name), "k", "text of " + name, "cuda of " + name, 32, 4, 96, true});
    store.save(store::LoweringRow{named(name), device, named("kernel of " + name)});
  }
  report::Summary load(const std::string& strategy = "tailor") const {
    return load_summary(store, subjects(store, "", "").at(0), {strategy, "unfused", 5, {}});
  }
  const report::GroupSummary& group(const report::Summary& summary, const std::string& name) const {
    return *std::find_if(summary.groups.begin(), summary.groups.end(),
                         [&](const auto& one) { return one.name == name; });
  }
};

}  // namespace

TEST_CASE("a strategy's figures count runs where a run counts and places where the text counts") {
  SmallDatabase database;
  const report::Summary summary = database.load();
  const report::StrategyTotals totals = *std::find_if(summary.strategies.begin(), summary.strategies.end(),
                                                      [](const auto& one) { return one.name == "tailor"; });
  CHECK(totals.kernels == 2 + 1 + 4);
  CHECK(totals.distinct_groups == 3);
  CHECK(totals.launches == 20 + 3 + 50);
  CHECK(totals.kernel_floor == 5);
  CHECK(totals.traffic.value == 120 * 20 + 1300 * 3 + 11 * 50);
  REQUIRE(totals.time.size() == 3);
  // A level takes what it did not look at from the next below, and the larger bound where there is no plan.
  const double gamma = 0.5e-6 * 50, beta = 8e-6 * 3;
  const std::vector<std::tuple<std::string, double, std::vector<report::NamedTime>>> expected{
      {"sol", 1e-6 * 20 + 2e-6 * 3 + gamma, {}},
      {"projected", 4e-6 * 20 + beta + gamma, {{"projected", {104e-6}}, {"bound", {gamma}}}},
      {"counted", 6e-6 * 20 + beta + gamma, {{"counted", {120e-6}}, {"bound", {gamma}}, {"projected", {beta}}}}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [level, time, parts] = expected[i];
    CHECK(totals.time[i].level == level);
    CHECK(totals.time[i].time.value == approx(time));
    REQUIRE(totals.time[i].made_of.size() == parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      CHECK(totals.time[i].made_of[k].name == parts[k].name);
      CHECK(totals.time[i].made_of[k].time.value == approx(parts[k].time.value));
    }
  }
  CHECK(totals.groups_at_lower_bound == 1);
  CHECK(totals.launches_at_lower_bound == 50);
  CHECK(totals.time_at_lower_bound.value == approx(gamma));
  CHECK(totals.xla_kernels == 3);
  CHECK(totals.xla_same_launch == 2);
  CHECK(totals.as_xla.value == approx(9e-6 * 20 + beta));
  CHECK(totals.best_of_xla.value == approx(6e-6 * 20 + beta));
  CHECK(totals.library_calls == 8);
  CHECK(totals.library_traffic.value == 64 * 7 + 4096);
  CHECK(totals.library_flops == 1000 * 7 + 300);
  CHECK(totals.library_time->value == approx(3e-6 * 7 + 11e-6));
  REQUIRE(summary.library.size() == 2);  // equal calls once, most bytes first
  CHECK(summary.library[0].op == "conv");
  CHECK(summary.library[1].occurrences == 7);
  // A call without a time leaves the sum without one.
  database.store.save(store::LibraryCallRow{database.graph, "n4", "sort", "f32[9]", 1, 300, {1}});
  CHECK_FALSE(database.load().strategies[0].library_time.has_value());
}

TEST_CASE("a group has its own figures: what it moves, its plans by all levels, what dropped the others") {
  const SmallDatabase database;
  const report::Summary summary = database.load();
  REQUIRE(summary.groups.size() == 3);
  const report::GroupSummary& alpha = database.group(summary, "alpha");
  CHECK(alpha.id == hex(named("alpha")));
  CHECK(alpha.occurrences == 20);
  CHECK(alpha.shape == "f32[2,3]");
  CHECK(alpha.traffic.value == 120);
  CHECK(alpha.flops == 7);
  CHECK(alpha.enumerated == 16);
  CHECK(alpha.rejected == 5);
  CHECK(alpha.lowered == 11);
  CHECK(alpha.times_level == "projected");
  CHECK(alpha.all_times.size() == 2);
  CHECK(alpha.lower_bound->value == 1e-6);
  CHECK(alpha.kernel_text == "text of alpha best");
  CHECK(alpha.cuda == "cuda of alpha best");
  CHECK(alpha.status == report::GroupStatus::ok);
  REQUIRE(alpha.xla.has_value());
  CHECK(alpha.xla->emitter == "loop");
  CHECK(alpha.xla->launch == "equal");
  CHECK(alpha.xla->note == "note");
  CHECK(alpha.xla->level == "counted");
  CHECK(alpha.xla->as_xla->value == 9e-6);
  CHECK(alpha.xla->best->value == 6e-6);
  REQUIRE(alpha.best.size() == 2);
  CHECK(alpha.best[0].plan == "alpha best");
  CHECK(alpha.best[0].shared_bytes == 96);
  REQUIRE(alpha.best[0].estimates.size() == 3);
  CHECK(alpha.best[0].estimates[0].level == "sol");
  CHECK(alpha.best[0].estimates[0].total.value == 1e-6);
  const report::EstimateSummary& top = alpha.best[0].estimates[2];
  CHECK(top.level == "counted");
  CHECK(top.total.value == 6e-6);
  CHECK(top.low.value == 3e-6);
  CHECK(top.high.value == 12e-6);
  CHECK(top.parts == std::vector<report::NamedTime>{{"dram", {1.5e-6}}, {"l2", {3e-6}}});
  CHECK(top.bottleneck == "l2");
  CHECK(top.occupancy == 0.75);
  CHECK(top.waves == 3);
  const report::GroupSummary& gamma = database.group(summary, "gamma");
  CHECK(gamma.status == report::GroupStatus::needs_skeleton);
  CHECK(gamma.status_reason == "a column");
  CHECK(gamma.lower_bound->value == 0.5e-6);
  REQUIRE(gamma.rejections.size() == 2);
  CHECK(database.group(summary, "beta").status == report::GroupStatus::ok);
}

TEST_CASE("a measured time stands beside a bound that leaves out what its timer does") {
  struct Row {
    ir::CacheState cache;
    ir::TimedBy by;
    double bound;
  };
  // The model says 4 us of the plan, and 3.4 us as it was measured: the launch between is 0.6 us of a bound of 1 us.
  for (const Row& row : {Row{ir::CacheState::cold, ir::TimedBy::activity, 0.4e-6},
                         {ir::CacheState::cold, ir::TimedBy::events, 1e-6},
                         {ir::CacheState::warm, ir::TimedBy::activity, 1e-6}}) {
    const ir::Protocol protocol{row.cache, row.by, ir::LaunchMode::stream, "standard"};
    INFO(text(protocol));
    SmallDatabase database;
    database.store.save(store::PredictionRow{named("alpha best"),
                                             database.device,
                                             "projected",
                                             "projected@c",
                                             std::string(name(row.cache)),
                                             std::string(name(row.by)),
                                             "stream",
                                             {3.4e-6},
                                             {},
                                             {}});
    database.store.save(store::EstimateRow{
        named("alpha best"), database.device, "profiled", "measured, " + text(protocol), {3.3e-6}, {}, {}, "measured"});
    const report::Summary summary = database.load();
    const report::GroupSummary& alpha = database.group(summary, "alpha");
    CHECK(alpha.lower_bound->value == approx(row.bound));
    CHECK(alpha.best[0].estimates[0].total.value == approx(row.bound));
    CHECK(alpha.best[0].estimates.back().total.value == 3.3e-6);
    CHECK(alpha.best[1].estimates[0].total.value == 1e-6);
  }
}

TEST_CASE("a model has a page for a device on which all its groups were looked at, not some that others have too") {
  SmallDatabase database;
  const Id other = named("other");
  database.store.save(
      store::DeviceRow{other, "l4", "L4", "sm_89", read_file((source / "data/devices/l4.json").string())});
  const auto pages = [&] { return subjects(database.store, "", "").size(); };
  CHECK(pages() == 1);
  for (const char* group : {"beta", "gamma"})
    database.store.save(store::GroupBoundRow{named(group), other, "bound", {1e-6}, "dram"});
  CHECK(pages() == 1);
  database.store.save(store::GroupBoundRow{named("alpha"), other, "bound", {1e-6}, "dram"});
  CHECK(pages() == 2);
}

TEST_CASE(
    "a page says where several sweeps looked for plans of its groups, and of a grid's points those of its model") {
  SmallDatabase database;
  CHECK(database.load().scope.empty());
  store::PointRow point;
  point.id = named("point");
  point.setting = "{}";
  database.store.save(point);
  database.store.save(
      store::GraphRow{named("another model"), named("s"), "other", "o.hlo", "graph other {\n}\n", 0, 0, ""});
  store::PointResultRow result;
  result.point = point.id;
  result.graph = named("another model");
  result.device = database.device;
  result.strategy = "tailor";
  database.store.save(result);
  CHECK(database.load().scope.empty());
  database.store.save(store::ProgressRow{named("alpha"), database.device, "narrow", "score", 1, 5});
  CHECK(database.load().scope.find("2 sweeps looked for plans of these groups") == 0);
  result.graph = database.graph;
  database.store.save(result);
  CHECK(database.load().scope.find("A grid of 1 point was swept") == 0);
}

TEST_CASE("a compiled kernel shows its own registers and both kinds of spills, of the device's architecture") {
  SmallDatabase database;
  const auto save = [&](const std::string& arch, bool ok, int registers, int stores, int loads) {
    store::BinaryRow row;
    row.id = named(fmt::format("binary {} {}", arch, ok));
    row.kernel = named("kernel of alpha best");
    row.arch = arch;
    row.compiler = "c";
    row.ok = ok;
    row.log = ok ? "a warning" : "an error";
    row.registers = registers;
    row.spill_stores = stores;
    row.spill_loads = loads;
    database.store.save(row);
  };
  const auto best = [&] { return database.group(database.load(), "alpha").best[0]; };
  save("sm_80", true, 99, 1, 2);  // another architecture says nothing
  CHECK(best().binary == report::BinaryState::none);
  CHECK_FALSE(best().registers.has_value());
  save("sm_90", false, 98, 3, 4);
  CHECK(best().binary == report::BinaryState::failed);
  CHECK(best().compile_log == "an error");
  save("sm_90", true, 40, 12, 30);
  CHECK(best().binary == report::BinaryState::ok);
  CHECK(best().registers == 40);
  CHECK(best().spill_bytes == 42);
  CHECK(best().compile_log.empty());
}

TEST_CASE("of several checks of a kernel the one that says most against it is told") {
  using report::CheckState;
  struct Row {
    std::vector<std::string> states;  ///< of methods in this order
    CheckState state;
    std::string note;
  };
  const std::vector<Row> rows{
      {{"passed"}, CheckState::passed, "0, worst error 0.25 of its tolerance, 50 % of the results judged, why"},
      {{"not executed"}, CheckState::unchecked, "0: not executed, why"},
      {{"not judged"}, CheckState::not_judged, "0: not judged, why"},
      {{"wrong"}, CheckState::failed, "0: wrong, why"},
      {{"unsound"}, CheckState::failed, "0: unsound, why"},
      {{"crashed"}, CheckState::failed, "0: crashed, why"},
      {{"timed out"}, CheckState::failed, "0: timed out, why"},
      {{"wrong", "passed"}, CheckState::failed, "0: wrong, why"},
      {{"passed", "wrong"}, CheckState::failed, "1: wrong, why"},
      {{"passed", "not executed"}, CheckState::passed, ""},
      {{"not executed", "passed"}, CheckState::passed, ""},
      {{"not judged", "passed"}, CheckState::passed, ""},
      {{"passed", "not judged"}, CheckState::passed, ""},
      {{"not judged", "not executed"}, CheckState::not_judged, ""},
      {{"passed", "timed out", "passed"}, CheckState::failed, "1: timed out, why"}};
  SmallDatabase database;
  const auto name_of = [](std::size_t i) { return fmt::format("plan {}", i); };
  {
    store::Store::Transaction unit(database.store);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      database.save_plan("alpha", name_of(i), {{"projected", 1e-3}});
      for (std::size_t k = 0; k < rows[i].states.size(); ++k)
        database.store.save(store::CheckRow{named("kernel of " + name_of(i)), std::to_string(k), rows[i].states[k],
                                            0.25, "why", 0, 0.5});
    }
    unit.commit();
  }
  constexpr int every = 0;
  const report::Summary summary =
      load_summary(database.store, subjects(database.store, "", "").at(0), {"tailor", "unfused", every, {}});
  std::size_t seen = 0;
  for (const report::PlanSummary& plan : database.group(summary, "alpha").best)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (plan.plan != name_of(i)) continue;
      ++seen;
      CAPTURE(i);
      CHECK(plan.check == rows[i].state);
      if (!rows[i].note.empty()) CHECK(plan.check_note == rows[i].note);
    }
  CHECK(seen == rows.size());
}

TEST_CASE("the roof is what the device's makers say: two operations of every lane in every cycle") {
  const report::Summary summary = SmallDatabase().load();
  REQUIRE(summary.roofs.size() == 1);
  CHECK(summary.roofs[0].flops == approx(66.9e12).epsilon(0.005));  // FP32 of the H200 SXM data sheet
  CHECK(summary.roofs[0].bandwidth.value == approx(4.8e12).epsilon(0.005));
}

TEST_CASE("predicted stands over measured for plain launches with cold caches alone; all times are told") {
  SmallDatabase database;
  store::RunRow run;
  run.id = named("run");
  database.store.save(run);
  const auto time = [&](const std::string& plan, ir::CacheState cache, ir::LaunchMode launch, double median,
                        double predicted) {
    store::BinaryRow binary;
    binary.id = named("binary of " + plan);
    binary.kernel = named("kernel of " + plan);
    binary.arch = "sm_90";
    binary.ok = true;
    database.store.save(binary);
    ir::Measurement measured;
    measured.outcome = ir::Outcome::ok;
    measured.protocol = {cache, ir::TimedBy::events, launch, "standard"};
    measured.samples = {{{median}, 0, 0}};
    measured.measured_at = "2026-01-01T00:00:02Z";
    database.store.save(store::measurement_row(measured, run.id, binary.id, database.device, Seconds{0.9 * median},
                                               Seconds{1.1 * median}));
    database.store.save(store::PredictionRow{named(plan),
                                             database.device,
                                             "projected",
                                             "projected",
                                             std::string(name(cache)),
                                             "events",
                                             std::string(name(launch)),
                                             {predicted},
                                             {},
                                             {}});
  };
  store::Store::Transaction unit(database.store);
  time("alpha best", ir::CacheState::cold, ir::LaunchMode::stream, 10e-6, 11e-6);
  time("alpha as XLA", ir::CacheState::cold, ir::LaunchMode::stream, 12e-6, 13e-6);  // 10.8 to 13.2, the other to 11
  time("alpha best", ir::CacheState::cold, ir::LaunchMode::graph, 20e-6, 21e-6);
  time("alpha as XLA", ir::CacheState::cold, ir::LaunchMode::graph, 30e-6, 31e-6);
  time("beta best", ir::CacheState::warm, ir::LaunchMode::stream, 40e-6, 41e-6);
  unit.commit();
  const report::Summary summary = database.load();
  std::vector<report::Compared> compared = summary.measured;
  std::sort(compared.begin(), compared.end(), [](const auto& a, const auto& b) { return a.measured < b.measured; });
  CHECK(compared == std::vector<report::Compared>{{"alpha, alpha best", {11e-6}, {10e-6}},
                                                  {"alpha, alpha as XLA", {13e-6}, {12e-6}}});
  REQUIRE(summary.times.size() == 5);
  for (const report::MeasuredTime& one : summary.times) {
    CAPTURE(one.median.value);
    CHECK(one.low->value == approx(0.9 * one.median.value));
    CHECK(one.high->value == approx(1.1 * one.median.value));
    CHECK(one.predicted->value == approx(one.median.value + 1e-6));
    CHECK(one.samples == 1);
    CHECK(one.level == "projected");
    CHECK(one.group == (one.median.value > 35e-6 ? "beta" : "alpha"));
    CHECK(one.tied == (one.median.value < 15e-6));
    const bool second = one.plan == "alpha as XLA" && !one.tied;
    if (!one.tied) CHECK(one.place == (second ? 2 : 1));
  }
}
