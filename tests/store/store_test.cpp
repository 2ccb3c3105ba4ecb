// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The store's rows: what is saved is loaded equal, saving twice is saving once, the views answer with numbers that
// were worked out by hand, and shards that are merged in either order give the same content. Rows come from sample.h.
// Part of the suite `store`.
#include "store/store.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "sample.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::store;

TEST_CASE("every row that is saved comes back equal") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 3);
  save_group(store, 1, 4);
  store.save(a_run());
  CHECK(store.runs() == std::vector{a_run()});
  CHECK(store.devices() == std::vector{a_device()});
  CHECK(store.graphs() == std::vector{a_graph()});
  CHECK(store.group(a_group(2).id) == a_group(2));
  CHECK(store.groups().size() == 3);
  CHECK_FALSE(store.group(named("nobody")).has_value());
  const std::optional<FusionRow> fusion = store.fusion(a_graph().id, "stitch-v1");
  REQUIRE(fusion.has_value());
  CHECK(fusion->groups == std::vector<FusionGroupRow>{{a_group(1).id, 1, 12, "fusion.1"}});
  CHECK(fusion->edges == two_edges());
  CHECK_FALSE(store.fusion(a_graph().id, "tvm").has_value());
  CHECK(store.library_calls(a_graph().id).at(0).bytes.value == 768);
  CHECK(store.library_times(a_graph().id, a_device().id).at(0).total.value == 1e-6);
  CHECK(store.plans(a_group(1).id).size() == 4);
  const PlanRow plan = a_plan(1, 0);
  CHECK(store.estimates(plan.id, a_device().id) == std::vector{an_estimate(plan, "projected", 1e-6 * 10)});
  CHECK(store.kernel(a_kernel(plan).id) == a_kernel(plan));
  CHECK(store.lowering(plan.id, a_device().id) == a_kernel(plan).id);
  CHECK(store.binaries(a_kernel(plan).id) == std::vector{a_binary(a_kernel(plan), true)});
  CHECK(store.rejections(a_group(1).id, a_device().id).at(0).plans == 7);
  CHECK(store.group_bounds(a_group(1).id, a_device().id).at(0).total.value == 1e-6);
  CHECK(store.is_done(a_group(1).id, a_device().id, "", "scored"));
  CHECK_FALSE(store.is_done(a_group(1).id, a_device().id, "", "compiled"));
  CHECK_FALSE(store.is_done(a_group(2).id, a_device().id, "", "scored"));
  CHECK(store.progress(a_device().id, "").size() == 1);
  CHECK(store.damage() == "");
}

TEST_CASE("numbers survive exactly, whatever their bits") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 1);
  constexpr int seed = 7;
  INFO("seed ", seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    const PlanRow plan = a_plan(1, i);
    store.save(plan);
    EstimateRow row =
        an_estimate(plan, "sol", std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 128)));
    row.model = "a 'quoted' \"model\"; --";
    store.save(row);
    CHECK(store.estimates(plan.id, a_device().id) == std::vector{row});
  }
}

TEST_CASE("saving the same work twice changes nothing") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 2);
  save_group(store, 1, 3);
  const std::string once = store.dump();
  save_model(store, 2);
  save_group(store, 1, 3);
  CHECK(store.dump() == once);
}

TEST_CASE("a run's outcome is brought up to date") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  RunRow run = a_run();
  store.save(run);
  run.outcome = "done";
  run.finished_at = "2026-01-01T00:01:00Z";
  store.save(run);
  CHECK(store.runs() == std::vector{run});
}

TEST_CASE(
    "a strategy's partitions for two devices and two prices are rows of their own, and a new one replaces its own") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 2);
  const Id graph = a_graph().id;
  const std::string here = a_device().name;
  const auto priced = [&](const std::string& device, const std::string& price, std::vector<EdgeRow> edges) {
    return FusionRow{graph, "tailor", device, price, {{a_group(1).id, 1, 1, "x"}}, std::move(edges)};
  };
  for (const char* price : {"group", "sol"})
    for (const std::string& device : {here, std::string("elsewhere")}) store.save(priced(device, price, two_edges()));
  const std::vector<EdgeRow> fewer{{"", "a", "b", 0, "recomputed", "block", {}, "cheaper"}};
  store.save(priced(here, "group", fewer));
  CHECK(store.fusion(graph, "tailor", here, "group")->edges == fewer);
  CHECK(store.fusion(graph, "tailor", "elsewhere", "group")->edges == two_edges());
  CHECK(store.fusion(graph, "tailor", here, "sol")->edges == two_edges());
  CHECK_FALSE(store.fusion(graph, "tailor").has_value());
  // "unfused" and "stitch-v1" hold for every device.
  CHECK(store.fusions(graph, here).size() == 4);
  CHECK(store.fusions(graph, "a third").size() == 2);
  std::vector<std::string> prices;
  for (const StrategyTotals& totals : store.strategies())
    if (totals.strategy == "tailor") prices.push_back(totals.price);
  std::sort(prices.begin(), prices.end());
  CHECK(prices == std::vector<std::string>{"group", "sol"});
  CHECK(store.groups_by_time(graph, "tailor", a_device().id, "group").size() <= 1);
}

TEST_CASE("an edge without a level is one that is cut") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 1);
  FusionRow row{a_graph().id, "tvm", "", "", {}, {{"", "a", "b", 0, "stitched", {}, {}, "odd"}}};
  CHECK_THROWS_AS(store.save(row), Error);
  row.edges[0] = {"", "a", "b", 0, "cut", "block", {}, "odd"};
  CHECK_THROWS_AS(store.save(row), Error);
}

TEST_CASE("the strategies view adds up launches, bytes and times over a run of the model") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 3);
  save_group(store, 1, 4);  // best plan 10 us
  save_group(store, 2, 0);  // no plan: the bound, 2 us
  const std::vector<StrategyTotals> totals = store.strategies();
  REQUIRE(totals.size() == 2);
  CHECK(totals[0].strategy == "stitch-v1");
  CHECK(totals[0].kernels == 1);
  CHECK(totals[0].launches == 12);
  CHECK(totals[0].kernel_time.value == approx(12 * 10e-6));
  CHECK(totals[0].predicted_time == totals[0].kernel_time);
  CHECK(totals[0].launches_measured == 0);
  CHECK(totals[0].library_time.value == approx(2e-6));
  CHECK(totals[1].strategy == "unfused");
  CHECK(totals[1].kernels == 6);
  CHECK(totals[1].distinct_groups == 3);
  CHECK(totals[1].launches == 72);
  CHECK(totals[1].dram.value == approx(24.0 * (1500 + 2500 + 3500)));
  CHECK(totals[1].kernel_time.value == approx(24 * (10e-6 + 2e-6)));
  CHECK(totals[1].groups_without_plan == 2);
  CHECK(totals[1].groups_without_time == 1);
  const std::vector<GroupTime> groups = store.groups_by_time(a_graph().id, "unfused", a_device().id);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].group == a_group(1).id);
  CHECK(groups[0].plan == a_plan(1, 0).id);
  CHECK(groups[0].all_times.value == approx(240e-6));
  CHECK(groups[1].level == "bound");
  CHECK_FALSE(groups[1].plan.has_value());
}

TEST_CASE("the best plan is the fastest of the most precise level, never one of a level that saw less") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 1);
  save_group(store, 1, 4);  // projected: 10, 11, 12, 13 us
  store.save(an_estimate(a_plan(1, 2), "compiled", 30e-6));
  store.save(an_estimate(a_plan(1, 3), "compiled", 20e-6));
  const std::vector<BestPlan> best = store.best_plans(a_group(1).id, a_device().id, 3);
  REQUIRE(best.size() == 3);
  CHECK(best[0].estimate == an_estimate(a_plan(1, 3), "compiled", 20e-6));
  CHECK(best[1].estimate == an_estimate(a_plan(1, 2), "compiled", 30e-6));
  CHECK(best[2].estimate == an_estimate(a_plan(1, 0), "projected", 1e-6 * 10));
  CHECK(best[2].kernel == a_kernel(a_plan(1, 0)).id);
  CHECK_FALSE(best[0].kernel.has_value());
}

TEST_CASE("rejections are summed by rule and a kernel is unchecked until a check was stored") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 3);
  save_group(store, 1, 2);
  save_group(store, 2, 2);
  save_group(store, 3, 0);
  const std::vector<RejectedRule> rules = store.rejected_why();
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].rule == "registers");
  CHECK(rules[0].groups == 2);
  CHECK(rules[0].plans == 14);
  CHECK(rules[1].groups_without_plan == 1);
  store.save(CheckRow{a_kernel(a_plan(1, 0)).id, "simulator", "passed", 0.5, ""});
  const std::vector<KernelState> states = store.kernel_states();
  REQUIRE(states.size() == 2);
  CHECK(states[0].state == "passed");
  CHECK(states[1].state == "unchecked");
  store.save(CheckRow{a_kernel(a_plan(1, 0)).id, "gpu", "wrong", 9, "element 3"});
  CHECK(store.kernel_states().back().state == "wrong");
}

TEST_CASE("a row that refers to nothing is an error and leaves nothing behind") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  const std::string before = store.dump();
  CHECK_THROWS_AS(store.save(a_plan(1, 0)), Error);
  save_model(store, 0);
  const std::string model = store.dump();
  CHECK(before != model);
  CHECK_THROWS_AS(store.save(FusionRow{a_graph().id, "tvm", "", "", {{named("nobody"), 1, 1, ""}}, {}}), Error);
  CHECK(store.dump() == model);
}

TEST_CASE("merging two shards in either order, once or twice, gives the same content") {
  const Folder folder;
  {
    Store left = Store::open(folder / "left.db");
    save_model(left, 3);
    save_group(left, 1, 3);
    RunRow run = a_run();
    left.save(run);
    BinaryRow failed = a_binary(a_kernel(a_plan(1, 0)), false);
    failed.id = named("contested");
    left.save(failed);
    Store right = Store::open(folder / "right.db");
    save_model(right, 3);
    save_group(right, 1, 3);
    save_group(right, 2, 5);
    run.outcome = "done";
    run.finished_at = "2026-01-01T00:01:00Z";
    right.save(run);
    BinaryRow fine = a_binary(a_kernel(a_plan(1, 0)), true);
    fine.id = named("contested");
    fine.compile_time = {0.07};
    right.save(fine);
  }
  Store one = Store::open(folder / "one.db");
  CHECK(one.merge(folder / "left.db") > 0);
  CHECK(one.merge(folder / "right.db") > 0);
  const std::string content = one.dump();
  CHECK(one.merge(folder / "left.db") == 0);
  CHECK(one.merge(folder / "right.db") == 0);
  CHECK(one.dump() == content);
  Store two = Store::open(folder / "two.db");
  two.merge(folder / "right.db");
  two.merge(folder / "left.db");
  CHECK(two.dump() == content);
  CHECK(one.runs().at(0).outcome == "done");
  CHECK(one.damage() == "");
  CHECK(Store::open(folder / "left.db").merge(folder / "right.db") > 0);
  CHECK(Store::open(folder / "left.db").dump() == content);
}

TEST_CASE("merge reaches every table of the schema") {
  const Folder folder;
  Store shard = Store::open(folder / "shard.db");
  save_model(shard, 2);
  save_group(shard, 1, 2);
  RunRow run = a_run();
  run.devices = {{a_device().id, named("file")}};
  shard.save(run);
  shard.save(a_prediction(a_plan(1, 0), "cold", "activity", 9e-6));
  shard.save(an_observation("512x1024"));
  shard.save(PlanRejectionRow{a_plan(1, 0).id, a_device().id, "registers", "why"});
  shard.save(XlaPlanRow{a_group(1).id, a_device().id, "row", "512x1x1", 256, a_plan(1, 0).id, "equal", ""});
  shard.save(KernelRow{a_given_kernel().kernel, "loop_add_fusion", "text", "", 128, 4, 0, true});
  shard.save(a_given_kernel());
  shard.save(CheckRow{a_kernel(a_plan(1, 0)).id, "simulator", "passed", 0.5, ""});
  const MeasurementRow timed = a_timing(a_binary(a_kernel(a_plan(1, 0)), true), 6.8e-6);
  shard.save(timed);
  CHECK(shard.measurements(timed.binary) == std::vector{timed});
  shard.save(ShortListRow{"0123", a_device().id, a_plan(1, 0).id});
  shard.save(a_point());
  shard.save(a_point_result("unfused", 2e-5));
  shard.save(a_module_time("unfused", 1e-5, 0));
  shard.save(CalibrationRow{"h200", "dram_efficiency", a_device().id, 0.9, 0.88, 0.91, "fraction", hex(timed.id), ""});
  const std::string filled = shard.dump();
  for (const TableSize& size : shard.sizes()) {
    INFO(size.table);
    CHECK(size.rows > 0);
  }
  Store whole = Store::open(folder / "whole.db");
  whole.merge(folder / "shard.db");
  CHECK(whole.dump() == filled);
}

TEST_CASE(
    "what a search adds is XLA's plan less the best one, at a level that looked at both, per group and per model") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 2);
  save_group(store, 1, 3);
  const Id device = a_device().id, group = a_group(1).id;
  const BestPlan best = store.best_plans(group, device, 1).at(0);
  const BestPlan last = store.best_plans(group, device, 3).at(2);
  CHECK_FALSE(store.search_added(group, device).has_value());
  store.save(XlaPlanRow{group, device, "row", "512x1x1", 256, {}, "no plan", "why"});
  CHECK_FALSE(store.search_added(group, device).has_value());
  CHECK(store.strategy_search_added().empty());
  store.save(XlaPlanRow{group, device, "row", "512x1x1", 256, last.estimate.plan, "equal", ""});
  CHECK(store.xla_plan(group, device)->launch == "equal");
  const std::optional<SearchAdded> added = store.search_added(group, device);
  REQUIRE(added.has_value());
  CHECK(added->emitter == "row");
  CHECK(added->as_xla.value == last.estimate.total.value);
  CHECK(added->best.value == best.estimate.total.value);
  const std::vector<StrategySearchAdded> sums = store.strategy_search_added();
  REQUIRE(!sums.empty());
  for (const StrategySearchAdded& sum : sums) {
    const std::optional<FusionRow> fusion = store.fusion(sum.graph, sum.strategy, "", sum.price);
    REQUIRE(fusion);
    for (const FusionGroupRow& row : fusion->groups)
      if (row.group == group) {
        CHECK(sum.kernels == row.occurrences);
        CHECK(sum.same_launch == row.occurrences);
        CHECK(sum.as_xla.value == row.times * added->as_xla.value);
        CHECK(sum.best.value == row.times * added->best.value);
      }
  }
  // A closer look at the best plan alone leaves nothing to compare.
  EstimateRow closer = best.estimate;
  closer.level = "compiled";
  store.save(closer);
  CHECK_FALSE(store.search_added(group, device).has_value());
}

TEST_CASE("a plan whose kernel is wrong is nobody's best") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 1);
  save_group(store, 1, 3);
  const PlanRow best = a_plan(1, 0);
  REQUIRE(store.best_plans(a_group(1).id, a_device().id, 1).at(0).estimate.plan == best.id);
  store.save(CheckRow{a_kernel(best).id, "simulator, seed 1", "wrong", 1e9, "y: all wrong", 0});
  store.save(PlanRejectionRow{best.id, a_device().id, "check", "y: all wrong"});
  CHECK(store.plan_rejections(best.id, a_device().id).size() == 1);
  const std::vector<BestPlan> left = store.best_plans(a_group(1).id, a_device().id, 9);
  CHECK(left.size() == 2);
  for (const BestPlan& plan : left) CHECK(plan.estimate.plan != best.id);
}

TEST_CASE("a kernel's state is the worst that was found; not executed is unchecked") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 1);
  save_group(store, 1, 1);
  const Id kernel = a_kernel(a_plan(1, 0)).id;
  const auto state = [&] { return store.kernel_states().at(0).state; };
  CHECK(state() == "unchecked");
  store.save(CheckRow{kernel, "a", "not executed", 0, "cannot simulate wgmma"});
  CHECK(state() == "unchecked");
  store.save(CheckRow{kernel, "b", "passed", 0.5, ""});
  CHECK(state() == "passed");
  store.save(CheckRow{kernel, "c", "unsound", 0.5, "a race", 2});
  CHECK(state() == "unsound");
  CHECK(store.checks(kernel).at(2) == CheckRow{kernel, "c", "unsound", 0.5, "a race", 2});
}

TEST_CASE("kernels of another compiler stand beside ours, once however often they are stored") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_model(store, 1);
  store.save(KernelRow{a_given_kernel().kernel, "loop_add_fusion", "text", "", 128, 4, 0, true});
  for (int i = 0; i < 2; ++i) store.save(a_given_kernel());
  CHECK(store.given_kernels(a_graph().id) == std::vector{a_given_kernel()});
  CHECK(store.given_kernels(named("another graph")).empty());
}

TEST_CASE("two versions of one fusion are not merged, and what tells them apart is said") {
  const Folder folder;
  const auto make = [&](const char* file, const auto& change) {
    Store store = Store::open(folder / file);
    save_model(store, 3);
    FusionRow row = *store.fusion(a_graph().id, "stitch-v1");
    change(row);
    store.save(row);
  };
  make("a.db", [](FusionRow&) {});
  struct Version {
    const char* file;
    void (*change)(FusionRow&);
    bool refused;
  };
  const Version versions[] = {
      {"more.db",
       [](FusionRow& row) {
         row.groups.push_back({a_group(2).id, 1, 12, "fusion.2"});
       },
       true},
      {"other.db",
       [](FusionRow& row) {
         row.groups = {{a_group(2).id, 1, 12, "fusion.2"}};
       },
       true},
      {"often.db", [](FusionRow& row) { row.groups[0].times = 13; }, true},
      {"cut.db", [](FusionRow& row) { row.edges[0] = {"", "a", "b", 0, "cut", {}, {}, "fits"}; }, true},
      {"fewer.db", [](FusionRow& row) { row.edges.pop_back(); }, true},
      {"words.db", [](FusionRow& row) { row.edges[0].reason = "it fits"; }, false},
      {"gain.db", [](FusionRow& row) { row.edges[0].gain = Seconds{3e-6}; }, false},
      {"price.db",
       [](FusionRow& row) {
         row.price = "sol";
         row.groups.clear();
       },
       false},
  };
  for (const Version& version : versions) {
    INFO(version.file);
    make(version.file, version.change);
    for (const bool forth : {true, false}) {
      Store into = Store::open(folder / (std::string("into ") + (forth ? "a " : "b ") + version.file));
      into.merge(folder / (forth ? "a.db" : version.file));
      const std::string before = into.dump();
      std::string message;
      try {
        into.merge(folder / (forth ? version.file : "a.db"));
      } catch (const Error& error) {
        CHECK(error.fault == Fault::failed);
        CHECK_FALSE(error.hint.empty());
        message = error.message;
      }
      CHECK(message.empty() != version.refused);
      if (!version.refused) continue;
      CHECK(message.find("strategy stitch-v1 on model layernorm") == 0);
      CHECK(message.find("nothing of it was merged") != message.npos);
      CHECK(into.dump() == before);
    }
  }
}
