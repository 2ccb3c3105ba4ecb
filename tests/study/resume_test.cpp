// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep that goes on from its database takes from it what is this sweep's, and nothing else: which plans were found
// wrong, which estimates were made with its numbers, and which work is really done. In: one small model, swept in two
// runs with rows put into the database between them, or with the first run stopped. Part of the suite `study`; needs a
// compiler.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "profiler/compile/nvrtc.h"
#include "store/store.h"
#include "study/folder.h"
#include "study/sweep/sweep.h"
#include "support/kernel_cache.h"
#include "support/listener.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::study;

namespace {

/// A softmax as one kernel, six plans on its short list, the best of them checked.
struct Resumed {
  Folder folder;
  Listener listener;
  profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  std::string threads = "[128, 256]";

  SweepOutcome sweep(bool compile, std::stop_token stop = {}) {
    write_file(folder.path / "sweep.json",
               "{\"question\": \"how long?\", \"models\": [\"" +
                   (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string() +
                   "\"], \"devices\": [\"h200\"], \"strategies\": [\"stitch-v1\"], \"shortlist\": 6, "
                   "\"check\": {\"top\": 1, \"shape\": \"small\"}, \"plans\": {\"axes\": {\"threads\": " +
                   threads + "}}}");
    SweepOptions options;
    options.config = folder.path / "sweep.json";
    options.data = source / "data";
    options.cache = kernels::cache().folder;
    options.nvrtc = profiler::default_nvrtc_paths({source / ".venv"});
    options.compile = compile;
    options.workers = 1;
    options.command = "test";
    return run_sweep(options, {listener, stop});
  }
  store::Store open() const { return store::Store::open(folder.path / "sweep.db"); }
};

/// Plans of the only group by place, and whether the kernel of each was checked.
struct Listed {
  std::vector<store::BestPlan> plans;
  std::set<Id> checked;
  Id group, device;

  explicit Listed(const store::Store& store) : group(store.groups().at(0).id), device(store.devices().at(0).id) {
    plans = store.best_plans(group, device, 1000);
    for (const store::PlanRow& plan : store.plans(group))
      if (const std::optional<Id> kernel = store.lowering(plan.id, device); kernel && !store.checks(*kernel).empty())
        checked.insert(plan.id);
  }
};

}  // namespace

TEST_CASE("a plan that the database says is wrong is not looked at again, the next one is") {
  Resumed first, resumed;
  if (!resumed.compiler) return skip(resumed.compiler.reason);
  REQUIRE(first.sweep(true).kernels_passed == 1);
  const Listed usual(first.open());
  REQUIRE(usual.checked.size() == 1);  // what a run checks that nobody told anything
  const Id wrong = *usual.checked.begin();
  resumed.sweep(false);
  {
    store::Store store = resumed.open();
    const Listed before(store);
    REQUIRE(before.plans.size() > 2);
    store.save(store::PlanRejectionRow{wrong, before.device, "check-wrong", "by an earlier run"});
  }
  CHECK(resumed.sweep(true).kernels_passed == 1);
  const Listed after(resumed.open());
  CHECK(after.checked.size() == 1);
  CHECK_FALSE(after.checked.contains(wrong));
}

TEST_CASE("plans that an older version wrote stay as they are, and a sweep goes on beside them") {
  Resumed resumed;
  if (!resumed.compiler) return skip(resumed.compiler.reason);
  resumed.sweep(false);
  Id older;
  std::string text;
  {
    // As an older version left it: the best plan of the short list in its words, and nothing of today.
    store::Store store = resumed.open();
    const Listed before(store);
    const std::string space = store.progress_of(before.group, before.device).at(0).space;
    const std::vector<Id> listed = store.short_list(before.group, before.device, space);
    REQUIRE(listed.size() > 2);
    store::PlanRow plan = *store.plan(listed.front());
    const Id kernel = *store.lowering(plan.id, before.device);
    store::EstimateRow estimate = store.estimates(plan.id, before.device).front();
    const std::size_t at = plan.text.find(" homes=");
    REQUIRE(at != plan.text.npos);
    plan.text.replace(at, plan.text.find(' ', at + 1) - at, " residence=registers");
    text = plan.text;
    plan.id = estimate.plan = older = id_of(std::string_view(text));
    estimate.total = estimate.low = estimate.high = {1e-9};  // it would be looked at first
    store::Store::Transaction unit(store);
    store.save(plan);
    store.save(store::LoweringRow{older, before.device, kernel});
    store.save(estimate);
    store.save(store::ShortListRow{space, before.device, older});
    unit.commit();
  }
  const SweepOutcome outcome = resumed.sweep(true);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.kernels_passed == 1);
  const store::Store store = resumed.open();
  REQUIRE(store.plan(older));
  CHECK(store.plan(older)->text == text);
  const Listed after(store);
  CHECK(after.plans.size() > 2);
  for (const store::EstimateRow& one : store.estimates(older, after.device)) CHECK(one.level == "projected");
}

TEST_CASE("a group that an older version scored is scored again, and that is said") {
  Resumed resumed;
  resumed.sweep(false);
  {
    store::Store store = resumed.open();
    store::PlanRow plan = store.plans(store.groups().at(0).id).front();
    plan.text = "row dominant=%2 sub_roots=%2@warp,%7@warp threads=128 residence=registers";
    plan.id = id_of(std::string_view(plan.text));
    store.save(plan);
  }
  CHECK(resumed.sweep(false).groups_resumed == 1);  // what is asked today was done
  const auto said = [&] {
    return resumed.listener.notes.find("plans of an older version of 1 group") != std::string::npos;
  };
  CHECK_FALSE(said());
  resumed.threads = "[256]";
  const SweepOutcome again = resumed.sweep(false);
  CHECK(again.groups_resumed == 0);
  CHECK(again.plans_scored > 0);
  CHECK(said());
}

TEST_CASE("estimates that were made with other numbers decide nothing in a sweep that goes on") {
  Resumed resumed;
  if (!resumed.compiler) return skip(resumed.compiler.reason);
  resumed.sweep(false);
  {
    store::Store store = resumed.open();
    const Listed before(store);
    store::Store::Transaction unit(store);
    for (const store::PlanRow& plan : store.plans(before.group)) {
      const std::vector<store::EstimateRow> known = store.estimates(plan.id, before.device);
      if (known.empty()) continue;
      for (const char* level : {"projected", "compiled"}) {
        store::EstimateRow foreign = known.front();  // the longer it is, the better another calibration finds it
        foreign.level = level;
        foreign.model = std::string(level) + "@another";
        foreign.total = foreign.low = foreign.high = {1e-12 / known.front().total.value};
        store.save(foreign);
      }
    }
    unit.commit();
  }
  CHECK(resumed.sweep(true).kernels_passed == 1);
  const store::Store store = resumed.open();
  const Listed after(store);
  REQUIRE(after.checked.size() == 1);
  // It is the one that the sweep's own numbers call fastest, of those that were compiled.
  Seconds least{1}, of_checked{2};
  for (const store::PlanRow& plan : store.plans(after.group))
    for (const store::EstimateRow& one : store.estimates(plan.id, after.device)) {
      if (one.level != "compiled" || one.model.ends_with("@another")) continue;
      least = std::min(least, one.total);
      if (after.checked.contains(plan.id)) of_checked = one.total;
    }
  CHECK(of_checked == least);
}

TEST_CASE("a batch that was stopped half way is compiled to its end by the next run") {
  Resumed resumed;
  if (!resumed.compiler) return skip(resumed.compiler.reason);
  resumed.sweep(false);
  std::stop_source source_of_stop;
  resumed.listener.on_progress = [&](const Progress& progress) {
    if (progress.what == "compiling kernels" && progress.done > 0) source_of_stop.request_stop();
  };
  CHECK(resumed.sweep(true, source_of_stop.get_token()).exit_code == 130);
  resumed.listener.on_progress = {};
  const auto binaries = [&] {
    const store::Store store = resumed.open();
    std::size_t listed = 0, compiled = 0;
    for (const store::PlanRow& plan : store.plans(store.groups().at(0).id))
      if (const std::optional<Id> kernel = store.lowering(plan.id, store.devices().at(0).id)) {
        ++listed;
        compiled += store.binaries(*kernel).empty() ? 0 : 1;
      }
    return std::pair(compiled, listed);
  };
  const auto [half, all] = binaries();
  CHECK(half < all);
  CHECK(resumed.sweep(true).exit_code == 0);
  CHECK(binaries() == std::pair(all, all));
  CHECK(all >= 6);
}
