// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep measured on the fake GPU, its measurements written to a recorded file, and the same sweep answered from that
// file: the same estimates, the same best plans, the same refuted plan. What was measured is not measured again. Part
// of the suite `study`; skipped without NVRTC or where the fake GPU was not built.
#include "study/pipeline/replay.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "folder.h"
#include "profiler/gpu/fake_machine.h"
#include "store/observations.h"
#include "store/recorded.h"
#include "store/store.h"
#include "study/summary/load_summary.h"
#include "study/sweep/sweep.h"
#include "support/approx.h"
#include "support/kernel_cache.h"
#include "support/listener.h"
#include "support/paths.h"
#include "support/thorough.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::study;

namespace {

constexpr const char* replay_model = R"(HloModule softmax_40x96

largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[40,96]{1,0} parameter(0)
  lowest = f32[] constant(-inf)
  m = f32[40]{0} reduce(x, lowest), dimensions={1}, to_apply=largest
  mb = f32[40,96]{1,0} broadcast(m), dimensions={0}
  d = f32[40,96]{1,0} subtract(x, mb)
  e = f32[40,96]{1,0} exponential(d)
  zero = f32[] constant(0)
  s = f32[40]{0} reduce(e, zero), dimensions={1}, to_apply=sum
  sb = f32[40,96]{1,0} broadcast(s), dimensions={0}
  ROOT y = f32[40,96]{1,0} divide(e, sb)
}
)";

constexpr const char* replay_config = R"({"question": "how long?", "models": ["model.hlo"], "devices": ["h200"],
  "strategies": ["stitch-v1"], "shortlist": 3, "profile": {"stop": "quick", "counters": "none"},
  "plans": {"axes": {"threads": [128]}}})";

/// The first plan of a group with another function in the place of its exponential.
struct Spoiled {
  explicit Spoiled(std::span<const profiler::MeasureRequest> all) : candidates(all.begin(), all.end()) {
    binary = *candidates.front().own.binary;
    const std::size_t at = binary.ptx.find("ex2.approx");
    REQUIRE(at != std::string::npos);
    binary.ptx.replace(at, 10, "rcp.approx");
    candidates.front().own.binary = &binary;
  }
  Spoiled(const Spoiled&) = delete;
  std::vector<profiler::MeasureRequest> candidates;
  ir::Binary binary;
};

/// Groups that were asked about.
struct Asked {
  int groups = 0;
};

SweepMeasurer on_fake(const tests::FakeMachine& machine, Asked& asked, const ProfileConfig& how) {
  profiler::WorkerSetup setup;
  setup.command = {built("tests/profiler/test_worker")};
  setup.paths = machine.library_paths();
  auto worker = std::make_shared<profiler::Worker>(setup);
  SweepMeasurer by{{"gpu", worker, worker, {}}, {}};
  by.how.stop_rule = how.stop;
  by.how.image = profiler::ImageForm::ptx;
  by.who.measure = [worker, &asked](std::span<const profiler::MeasureRequest> all,
                                    const profiler::MeasureOptions& options) {
    ++asked.groups;
    const Spoiled spoiled(all);
    return profiler::measure_group(*worker, *worker, spoiled.candidates, options);
  };
  return by;
}

SweepMeasurer from_records(const std::filesystem::path& recorded, const ir::Device& device, Asked& asked,
                           const ProfileConfig& how) {
  SweepMeasurer by{{"replay", nullptr, nullptr, {}}, {}};
  by.how.stop_rule = how.stop;
  by.who.measure = [lookup = recorded_lookup(recorded, {}, device), &asked](
                       std::span<const profiler::MeasureRequest> all, const profiler::MeasureOptions& options) {
    ++asked.groups;
    return profiler::replayed_group(lookup, all, options);
  };
  return by;
}

using Make = std::function<SweepMeasurer(const ir::Device&, const ProfileConfig&, const Watch&)>;

SweepOutcome sweep(const std::filesystem::path& folder, const char* database, const Make& measurer,
                   const char* config = replay_config) {
  write_file(folder / "model.hlo", replay_model);
  write_file(folder / "sweep.json", config);
  Listener listener;
  SweepOptions options;
  options.config = folder / "sweep.json";
  options.data = source / "data";
  options.cache = kernels::cache().folder;
  options.nvrtc = profiler::default_nvrtc_paths({source_folder() + "/.venv"});
  options.database = folder / database;
  options.check = false;
  options.workers = 2;
  options.command = "test";
  options.measurer = measurer;
  return run_sweep(options, {listener});
}

/// What a database says of its plans, times in picoseconds.
struct Said {
  std::string best, measured, rejected;
  bool operator==(const Said&) const = default;
};

Said said_by(const std::filesystem::path& database) {
  const store::Store store = store::Store::open_read_only(database);
  Said said;
  const Id device = store.devices().front().id;
  for (const store::GroupRow& group : store.groups()) {
    for (const store::BestPlan& best : store.best_plans(group.id, device, 100))
      said.best += fmt::format("{} {} {} {:.0f}\n", best.place, best.plan, best.estimate.level,
                               best.estimate.total.value * 1e12);
    for (const store::PlanRow& plan : store.plans(group.id))
      for (const store::EstimateRow& one : store.estimates(plan.id, device))
        if (one.level == "profiled")
          said.measured += fmt::format("{} {} {:.0f} [{:.0f}, {:.0f}]\n", plan.text, one.model, one.total.value * 1e12,
                                       one.low.value * 1e12, one.high.value * 1e12);
    for (const store::PlanRejectionRow& one : store.plan_rejections_of(group.id, device))
      if (one.rule == "kernel is wrong") said.rejected += store.plan(one.plan)->text + ": " + one.reason + "\n";
  }
  return said;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a sweep measures random plans of its ranking beside the best, the same when it goes on from its database") {
  if (kernels::nvrtc_or_skip() == nullptr) return;
  const kernels::OwnFolder folder("random");
  constexpr const char* config = R"({"models": ["model.hlo"], "devices": ["h200"], "strategies": ["stitch-v1"],
    "shortlist": 3, "profile": {"top": 2, "random": 4, "counters": "none"}, "plans": {"axes": {"threads": [128]}}})";
  std::vector<std::vector<std::string>> asked;
  const Make nobody = [&](const ir::Device&, const ProfileConfig&, const Watch&) {
    SweepMeasurer by{{"replay", nullptr, nullptr, {}}, {}};
    by.who.measure = [&](std::span<const profiler::MeasureRequest> all, const profiler::MeasureOptions&) {
      profiler::MeasuredGroup none;
      asked.emplace_back();
      for (const profiler::MeasureRequest& one : all) {
        asked.back().push_back(one.name);
        none.plans.emplace_back().outcome = ir::Outcome::unavailable;  // so the next sweep asks again
      }
      return none;
    };
    return by;
  };
  REQUIRE(sweep(folder.path, "random.db", nobody, config).exit_code == 0);
  const SweepOutcome again = sweep(folder.path, "random.db", nobody, config);
  CHECK(again.groups_resumed == 1);
  REQUIRE(asked.size() == 2);
  CHECK(asked[0] == asked[1]);
  REQUIRE(asked[0].size() == 2 + 4);

  // Two of the three best, and four that lie behind these, the last of them in the last quarter.
  const store::Store store = store::Store::open_read_only(folder.path / "random.db");
  const Id device = store.devices().front().id;
  std::vector<double> all, of_asked;
  for (const store::GroupRow& group : store.groups())
    for (const store::PlanRow& plan : store.plans(group.id))
      for (const store::EstimateRow& one : store.estimates(plan.id, device)) {
        if (one.level != "projected") continue;
        all.push_back(one.total.value);
        for (const std::string& name : asked[0])
          if (name.ends_with(" " + plan.text)) of_asked.push_back(one.total.value);
      }
  std::sort(all.begin(), all.end());
  std::sort(of_asked.begin(), of_asked.end());
  REQUIRE(of_asked.size() == 6);
  REQUIRE(all.size() > 30);
  CHECK(of_asked[1] <= all[2]);
  CHECK(of_asked[2] >= all[2]);
  CHECK(of_asked[5] >= all[all.size() * 6 / 10]);
}

TEST_CASE("a sweep answered from its own recorded file equals the one that was measured" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  if (!has_fake_gpu()) return skip("this build has no fake GPU: it was made without CUDA's headers");
  if (kernels::nvrtc_or_skip() == nullptr) return;
  const kernels::OwnFolder folder("replay");
  const tests::FakeMachine machine(R"({"chip": {"l2_bytes": 1048576}})");
  Asked asked;
  const Make measuring = [&](const ir::Device&, const ProfileConfig& how, const Watch&) {
    return on_fake(machine, asked, how);
  };
  const SweepOutcome first = sweep(folder.path, "measured.db", measuring);
  CHECK(first.exit_code == 0);
  CHECK(first.kernels_measured == 2);
  CHECK(first.kernels_failed_on_gpu == 1);
  CHECK(asked.groups == 1);
  const Said measured = said_by(folder.path / "measured.db");
  CHECK(lines(measured.measured) == 2);
  REQUIRE(lines(measured.rejected) == 1);
  const std::string refuted = measured.rejected.substr(0, measured.rejected.find(": "));
  CHECK(measured.best.find(refuted + " ") == std::string::npos);
  CHECK(measured.best.find(" profiled ") != std::string::npos);

  SUBCASE("each time stands beside what its levels predict for a time taken like that") {
    const store::Store stored = store::Store::open_read_only(folder.path / "measured.db");
    const Id device = stored.devices().front().id;
    std::map<std::string, int> levels;
    for (const store::PredictedPlan& one : stored.measured_vs_predicted(device)) {
      ++levels[one.level];
      CHECK(one.cache == "cold");
      const std::vector<store::EstimateRow> estimates = stored.estimates(one.plan, device);
      const auto ranked = std::find_if(estimates.begin(), estimates.end(),
                                       [&](const store::EstimateRow& row) { return row.level == one.level; });
      REQUIRE(ranked != estimates.end());
      // The launch gap is in an estimate, and in a time by events.
      CHECK((one.predicted < ranked->total) == (one.timed_by == "activity"));
    }
    CHECK(levels == std::map<std::string, int>{{"compiled", 2}, {"projected", 2}});
    REQUIRE(stored.runs().size() == 1);
    CHECK(stored.runs().front().calibration == "uncalibrated");
    CHECK(stored.device_files(stored.runs().front()) ==
          ", h200.json " + short_hex(id_of(std::string_view(read_file(source / "data/devices/h200.json")))));
  }
  SUBCASE("a plan that ran twice is stored with its race, and travels") {
    const store::Store stored = store::Store::open_read_only(folder.path / "measured.db");
    const std::vector<store::TwinRace> races = stored.twin_races(stored.devices().front().id);
    REQUIRE(races.size() == 1);
    CHECK(races[0].cache == "cold");
    CHECK(std::abs(races[0].ratio - 1) < 0.05);
    CHECK_FALSE(races[0].told_apart);
    store::write_recorded(folder.path / "twins.jsonl", store::recorded_rows(stored));
    store::Store other = store::Store::open(folder.path / "twins.db");
    store::save_recorded(other, store::read_recorded(folder.path / "twins.jsonl"));
    const std::vector<store::TwinRace> arrived = other.twin_races(stored.devices().front().id);
    REQUIRE(arrived.size() == 1);
    CHECK(arrived[0].ratio == races[0].ratio);
    const report::Summary summary = load_summary(stored, subjects(stored, "", "").front(), {});
    REQUIRE(summary.twins.size() == 1);
    CHECK(summary.twins[0].cache == "cold");
    CHECK(summary.twins[0].races == 1);
    CHECK(summary.twins[0].told_apart == 0);
    CHECK(summary.twins[0].most == approx(std::abs(races[0].ratio - 1)));
  }
  SUBCASE("what went well becomes observations, which travel and come back equal") {
    store::Store stored = store::Store::open(folder.path / "measured.db");
    CHECK(store::add_observations(stored) == 2);
    CHECK(store::add_observations(stored) == 0);
    const std::vector<store::ObservationRow> rows = stored.observations();
    for (const store::ObservationRow& row : rows) {
      const ir::Observation one = to_observation(row);
      CHECK(ir::parse_observation(ir::text(one)) == one);
      CHECK(row.plan.has_value());
      CHECK(row.registers > 0);
      CHECK(row.split == rows.front().split);  // plans of one group stand on one side
    }
    store::write_recorded(folder.path / "observed.jsonl", store::recorded_rows(stored));
    store::Store other = store::Store::open(folder.path / "other.db");
    store::save_recorded(other, store::read_recorded(folder.path / "observed.jsonl"));
    CHECK(other.observations() == rows);
    CHECK(store::add_observations(other) == 0);
    store::Store merged = store::Store::open(folder.path / "merged.db");
    merged.merge(folder.path / "measured.db");
    CHECK(merged.observations() == rows);
  }
  SUBCASE("measuring again does nothing twice") {
    const SweepOutcome again = sweep(folder.path, "measured.db", measuring);
    CHECK(again.exit_code == 0);
    CHECK(asked.groups == 1);
    CHECK(again.kernels_measured == 0);
    CHECK((said_by(folder.path / "measured.db") == measured));
  }
  SUBCASE("the recorded file answers the same, packed or not, and so does the database itself") {
    const store::RecordedRows rows = store::recorded_rows(store::Store::open_read_only(folder.path / "measured.db"));
    CHECK(rows.measurements.size() == 3);
    store::write_recorded(folder.path / "h200.jsonl.gz", rows);
    for (const char* records : {"h200.jsonl.gz", "measured.db"}) {
      const std::string database = fmt::format("replayed from {}.db", records);
      CAPTURE(database);
      const SweepOutcome outcome =
          sweep(folder.path, database.c_str(), [&](const ir::Device& device, const ProfileConfig& how, const Watch&) {
            return from_records(folder.path / records, device, asked, how);
          });
      CHECK(outcome.exit_code == 0);
      CHECK(outcome.kernels_measured == 2);
      const Said replayed = said_by(folder.path / database);
      CHECK(replayed.measured == measured.measured);
      CHECK(replayed.best == measured.best);
      CHECK(replayed.rejected == measured.rejected);
    }
  }
  SUBCASE("records that lack a group are asked again when there are more") {
    store::RecordedRows rows = store::recorded_rows(store::Store::open_read_only(folder.path / "measured.db"));
    const std::vector<store::MeasurementRow> all = std::exchange(rows.measurements, {});
    const auto replay = [&](const char* file) {
      store::write_recorded(folder.path / file, rows);
      sweep(folder.path, "later.db", [&](const ir::Device& device, const ProfileConfig& how, const Watch&) {
        return from_records(folder.path / file, device, asked, how);
      });
    };
    replay("none.jsonl");
    CHECK(said_by(folder.path / "later.db").measured.empty());
    rows.measurements = all;
    replay("all.jsonl");
    CHECK(said_by(folder.path / "later.db").measured == measured.measured);
  }
}

namespace {

/// Records of kernels of these names, each with a program of its own that ran cold.
store::Recorded records_of(std::string_view file, std::initializer_list<const char*> names) {
  store::RecordedRows rows;
  for (const std::string name : names) {
    store::KernelRow kernel;
    kernel.id = id_of(std::string_view(fmt::format("{} of {}", name, file)));
    kernel.name = name;
    store::BinaryRow binary;
    binary.id = id_of(std::string_view("binary of " + hex(kernel.id)));
    binary.kernel = kernel.id;
    store::MeasurementRow row;
    row.id = id_of(std::string_view("run of " + hex(kernel.id)));
    row.binary = binary.id;
    row.timing = ir::Protocol{};
    row.outcome = "ok";
    rows.kernels.push_back(kernel);
    rows.binaries.push_back(binary);
    rows.measurements.push_back(row);
  }
  return store::Recorded(std::move(rows));
}

}  // namespace

TEST_CASE("what no record answers is told of all records together, each kernel counted once") {
  const std::vector<store::Recorded> records = {records_of("a", {"copy", "read"}), records_of("b", {"write"}),
                                                records_of("a", {"copy"})};
  const auto id = [](const char* words) { return id_of(std::string_view(words)); };
  const ir::Protocol cold;
  CHECK(ask(records, id("write of b"), cold).outcome == ir::Outcome::ok);
  const ir::Measurement none = ask(records, id("nobody"), cold);
  CHECK(none.outcome == ir::Outcome::not_recorded);
  CHECK(none.reason == fmt::format("kernel {} was not measured, 3 other kernels were", short_hex(id("nobody"))));
  // A name whose program is another one today is told from one that nobody has run.
  CHECK(ask(records, id("write of c"), cold, "write").reason ==
        fmt::format("kernel {} was not measured, an older one of this name was ({}): its program has changed",
                    short_hex(id("write of c")), short_hex(id("write of b"))));
  CHECK(ask(records, id("launch of c"), cold, "launch").reason.ends_with("3 other kernels were"));
  // One that was measured in another way is known, in whichever record.
  ir::Protocol warm;
  warm.cache = ir::CacheState::warm;
  CHECK(ask(records, id("write of b"), warm, "write").reason.find("was not measured as 'warm") != std::string::npos);
}
