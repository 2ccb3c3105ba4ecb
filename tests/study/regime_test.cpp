// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands beside a measured time is predicted for a time taken in that way. A plan with made-up times under every
// protocol comes in; the view of the database, the table of tailor profile, the table of tailor explain and the cost
// model itself must say the same of each. Times by a host's clock, which no profiler of ours takes, follow too.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "folder.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/question.h"
#include "study/pipeline/recorder.h"
#include "study/tables/profile_tables.h"
#include "support/approx.h"
#include "support/listener.h"

using namespace tailor;
using namespace tailor::study;

namespace {

std::vector<ir::Protocol> protocols() {
  std::vector<ir::Protocol> all;
  for (const ir::CacheState cache : {ir::CacheState::cold, ir::CacheState::produced, ir::CacheState::warm})
    for (const ir::TimedBy timed_by : {ir::TimedBy::activity, ir::TimedBy::events})
      for (const ir::LaunchMode launch : {ir::LaunchMode::stream, ir::LaunchMode::graph})
        all.push_back({cache, timed_by, launch, "quick"});
  return all;
}

/// The best plan of the softmax, as if it was compiled, executed and measured under every protocol.
class Measured {
 public:
  explicit Measured(const std::filesystem::path& database)
      : model_(question(), source / "data", {listener_}),
        candidate_(choose_plan(model_, model_.chosen_group(), "", {listener_})),
        recorder(database, begun_run("test", "none", 1, "{}")) {
    candidate_.binary.emplace();
    candidate_.binary->outcome = ir::CompileOutcome::ok;
    candidate_.binary->source = id_of(std::string_view("made up"));
    candidate_.binary->registers = 48;
    estimate({&candidate_, 1}, ir::Level::compiled);
    candidate_.measured.emplace();
    double microseconds = 20;
    for (const ir::Protocol& protocol : protocols()) {
      ir::Measurement& one = candidate_.measured->times.emplace_back();
      one.outcome = ir::Outcome::ok;
      one.protocol = protocol;
      for (int i = 0; i < 9; ++i) one.samples.push_back({{(microseconds + 0.01 * i) * 1e-6}, 0, 0});
      one.measured_at = time_now();
      microseconds += 1;
    }
    recorder.save(model_.target);
    recorder.save_chosen(candidate_);
    for (const ir::Estimate& one : candidate_.standing.estimates)
      recorder.save_estimate(candidate_, one.level, costmodel::estimate_name(ir::name(one.level), "uncalibrated"));
    recorder.save_measured(candidate_, "gpu");
  }

  const Candidate& candidate() const { return candidate_; }
  const costmodel::CalibratedDevice& device() const { return model_.target.calibrated; }

 private:
  static Question question() {
    Question one;
    one.model = (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string();
    one.device = "h200";
    one.axes = {"threads=128,256"};
    return one;
  }

  Listener listener_;
  FusedModel model_;
  Candidate candidate_;

 public:
  Recorder recorder;
};

/// The number in a table's column.
double cell(const report::Table& table, std::size_t row, const std::string& key) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].key == key) return std::get<double>(table.rows.at(row).at(i));
  FAIL("no column ", key);
  return 0;
}

}  // namespace

TEST_CASE("the view, profile's table, explain's table and the model predict the same for a time under each protocol") {
  const Folder folder;
  Measured of(folder.path / "a.db");
  const Candidate& one = of.candidate();
  const report::Table explained = measured_plan_table(one);
  RacedGroup raced{0, 1, {}, {}, {}};
  for (const ir::Protocol& protocol : protocols()) {
    raced.rankings.emplace_back();
    raced.rankings.back().cache = protocol.cache;
  }
  const report::Table profiled = time_table({&one, 1}, {&raced, 1});
  const std::vector<store::PredictedPlan> view = of.recorder.store().measured_vs_predicted(one.on->id);
  CHECK(view.size() == 2 * protocols().size());
  std::set<double> totals;
  std::size_t row = 0;
  for (const ir::Protocol& protocol : protocols()) {
    CAPTURE(ir::text(protocol));
    const ir::Regime regime = ir::make_regime(protocol);
    const double projected = costmodel::projected(one.work, of.device(), regime).total.value;
    const double compiled = costmodel::compiled(one.work, *one.binary, of.device(), regime).total.value;
    totals.insert(projected);
    CHECK(predicted_for(one, protocol) == Seconds{projected});
    CHECK(cell(explained, row, "predicted") == projected);
    CHECK(cell(profiled, row, "predicted") == projected);
    CHECK(cell(profiled, row, "predicted_to_measured") == projected / cell(profiled, row, "median"));
    int levels = 0;
    for (const store::PredictedPlan& said : view) {
      if (said.cache != ir::name(protocol.cache) || said.timed_by != ir::name(protocol.timed_by) ||
          said.launch_mode != ir::name(protocol.launch))
        continue;
      ++levels;
      CHECK(said.predicted.value == (said.level == "projected" ? projected : compiled));
      CHECK(said.model == said.level + "@uncalibrated");
      CHECK(said.measured.value == cell(explained, row, "median"));
    }
    CHECK(levels == 2);
    ++row;
  }
  // Cache and clock count, and that a graph leaves less between two kernels.
  CHECK(totals.size() == 9);
}

TEST_CASE("a time by activity has no launch gap, one by events has it, and warm caches are predicted as such") {
  const Folder folder;
  const Measured of(folder.path / "a.db");
  const auto predicted = [&](ir::CacheState cache, ir::TimedBy timed_by, ir::LaunchMode launch) {
    return predicted_for(of.candidate(), {cache, timed_by, launch, "quick"})->value;
  };
  using enum ir::TimedBy;
  using enum ir::LaunchMode;
  const double gap = of.device().launch_overhead;
  REQUIRE(gap > 0);
  for (const ir::CacheState cache : {ir::CacheState::cold, ir::CacheState::produced, ir::CacheState::warm})
    CHECK(predicted(cache, events, stream) - predicted(cache, activity, stream) == approx(gap));
  CHECK(predicted(ir::CacheState::warm, activity, graph) < predicted(ir::CacheState::cold, activity, graph));
  // What ranks plans is a row of launches that finds nothing in L2.
  CHECK(predicted(ir::CacheState::cold, events, stream) == of.candidate().standing.estimates.front().total.value);
}

TEST_CASE("a time by a host's clock is predicted with the dispatch floor, and stored as its own") {
  const Folder folder;
  Measured of(folder.path / "a.db");
  Target slow = *of.candidate().on;
  slow.calibrated.dispatch_floor = 4e-4;
  Candidate one = of.candidate();
  one.on = &slow;
  ir::Regime host;
  host.timer = ir::Timer::host;
  host.includes = ir::includes(ir::Timer::host);
  CHECK(predict(one, ir::Level::projected, host)->total.value == approx(4e-4));
  CHECK(predict(one, ir::Level::projected, {})->total < Seconds{4e-4});
  CHECK(predict(of.candidate(), ir::Level::projected, host)->total ==
        predict(of.candidate(), ir::Level::projected, {})->total);  // no floor is known
  of.recorder.save_prediction(one, ir::Level::projected, host);
  int found = 0;
  for (const store::PredictionRow& row : of.recorder.store().predictions(one.plan_id(), slow.id))
    if (row.timed_by == "host") {
      CHECK(row.total.value == approx(4e-4));
      CHECK(row.low < row.total);
      ++found;
    }
  CHECK(found == 1);
}

TEST_CASE("a level that lacks what it looks at predicts nothing") {
  const Folder folder;
  const Measured of(folder.path / "a.db");
  Candidate one = of.candidate();
  CHECK_FALSE(predict(one, ir::Level::counted, {}).has_value());
  CHECK_FALSE(predict(one, ir::Level::profiled, {}).has_value());
  CHECK(predict(one, ir::Level::sol, {})->total <= predict(one, ir::Level::projected, {})->total);
  one.verdict.emplace();
  one.verdict->counts.blocks_run = one.verdict->counts.blocks_total = 1;
  one.verdict->counts.buffers.resize(one.work.buffers.size());
  CHECK(predict(one, ir::Level::counted, {}).has_value());
  one.verdict_is_of_other = true;  // counts of other rows are not this kernel's
  CHECK_FALSE(predict(one, ir::Level::counted, {}).has_value());
  one.binary->outcome = ir::CompileOutcome::failed;
  CHECK_FALSE(predict(one, ir::Level::compiled, {}).has_value());
  one.lowered = false;
  CHECK_FALSE(predict(one, ir::Level::projected, {}).has_value());
}
