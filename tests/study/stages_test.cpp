// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What stages hand on: rows of a database from a binary, a verdict and a GPU's answers, places of a race as those of
// the candidates, counts of verdicts and how a command ends by them. In: candidates of one small model whose results
// are made up, no two figures equal. Part of the suite `study`; compiles and measures nothing.
#include "study/pipeline/stages.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "profiler/simulator/machine/launch.h"
#include "report/table.h"
#include "store/store.h"
#include "study/folder.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/recorder.h"
#include "study/pipeline/to_rows.h"
#include "study/run_row.h"
#include "study/tables/check_tables.h"
#include "support/approx.h"
#include "support/listener.h"

using namespace tailor;
using namespace tailor::study;

namespace {

/// The best plans of a softmax, each with a binary that compiled.
struct RankedPlans {
  Listener listener;
  std::unique_ptr<FusedModel> model;
  std::vector<Candidate> plans;

  explicit RankedPlans(std::size_t count = 4) {
    Question question;
    question.model = (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string();
    question.device = "h200";
    question.axes = {"threads=128,256"};
    model = std::make_unique<FusedModel>(question, source / "data", Watch{listener});
    plans = choose(model->group(model->chosen_group()), model->target,
                   model->choosing(static_cast<std::int64_t>(count)), {})
                .candidates;
    REQUIRE(plans.size() == count);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      ir::Binary& binary = plans[i].binary.emplace();
      binary.outcome = ir::CompileOutcome::ok;
      binary.source = id_of(fmt::format("binary {}", i));
      binary.arch = "sm_90";
    }
  }
};

}  // namespace

TEST_CASE("a binary's row has every figure of the binary at its own place") {
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.source = {1, 2};
  binary.arch = "arch";
  binary.compiler = "compiler";
  binary.log = "log";
  binary.registers = 31;
  binary.spill_stores = 32;
  binary.spill_loads = 33;
  binary.local_bytes = 34;
  binary.static_shared = 35;
  binary.machine_instructions = 36;
  binary.loads_outstanding = 37;
  binary.cubin.resize(38);
  binary.compile_time = {39};
  const Id kernel{3, 4};
  const store::BinaryRow row = binary_row(binary, kernel);
  CHECK(row == store::BinaryRow{
                   binary.source, kernel, "arch", "compiler", true, "log", 31, 32, 33, 34, 35, 36, 37, 38, {39}, {}});
  binary.outcome = ir::CompileOutcome::failed;
  CHECK_FALSE(binary_row(binary, kernel).ok);
}

TEST_CASE("a binary that leaves no room for the blocks that must be resident is told with its figures") {
  const ir::Limits limits = ir::limits(ir::find_device("h200", (source / "data/devices").string()));
  ir::Kernel kernel;
  kernel.threads = 256;
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 65;
  CHECK_FALSE(too_few_residents(kernel, binary, limits));  // none is demanded
  kernel.min_blocks = 4;
  const std::optional<ir::Rejection> refused = too_few_residents(kernel, binary, limits);
  REQUIRE(refused);
  CHECK(refused->rule == "min-blocks");
  CHECK(
      refused->reason ==
      "compiled to 65 registers per thread and 0 bytes of shared memory, of which an SM holds 3 blocks of 256 threads, "
      "limited by registers; 4 must be resident");
  binary.registers = 64;
  CHECK_FALSE(too_few_residents(kernel, binary, limits));
  kernel.shared_bytes = 57 << 10;  // with the kilobyte that the system has of each block more than a quarter of 228
  const auto by_shared = [&] {
    const std::optional<ir::Rejection> why = too_few_residents(kernel, binary, limits);
    return why ? why->reason : std::string();
  };
  CHECK(
      by_shared().find("58368 bytes of shared memory, of which an SM holds 3 blocks of 256 threads, limited by shared "
                       "memory") != std::string::npos);
  kernel.shared_bytes = 56 << 10;
  CHECK(by_shared().empty());
  binary.static_shared = 57 << 10;  // the compiler needs more than the program says
  CHECK_FALSE(by_shared().empty());
  binary.static_shared = 1 << 10;
  kernel.dynamic_shared = true;  // what the launch asks for comes on top
  CHECK_FALSE(by_shared().empty());
  binary.static_shared = 0;
  CHECK(by_shared().empty());
  binary.outcome = ir::CompileOutcome::failed;
  binary.registers = 255;
  CHECK_FALSE(too_few_residents(kernel, binary, limits));
}

TEST_CASE(
    "a candidate whose binary is refused has no estimate of it, is not executed, and its plan is rejected for good") {
  const Folder folder;
  RankedPlans best(2);
  best.plans[0].kernel.threads = 128;  // two blocks with 255 registers per thread
  best.plans[1].kernel.threads = 256;  // one
  for (Candidate& one : best.plans) {
    one.kernel.min_blocks = 2;
    one.binary->registers = 255;
    one.refused = too_few_residents(one.kernel, *one.binary, one.on->limits);
    one.cuda = "text";
  }
  CHECK(best.plans[0].compiled());
  CHECK_FALSE(best.plans[1].compiled());
  Listener listener;
  Checking how;
  how.executor = [](const ir::Kernel&, const ir::Binary&) -> profiler::Executor {
    return [](std::span<const reference::Tensor>, const simulator::SimulationOptions&) { return profiler::Executed{}; };
  };
  check(std::span(best.plans).last(1), how, {listener, {}});
  CHECK_FALSE(best.plans[1].verdict);
  estimate(best.plans, ir::Level::compiled);
  {
    Recorder recorder(folder.path / "a.db", run_row());
    recorder.save(best.model->target);
    for (const Candidate& one : best.plans) {
      recorder.save_chosen(one);
      recorder.save_compiled(one);
    }
  }
  const store::Store stored = store::Store::open_read_only(folder.path / "a.db");
  for (const Candidate& one : best.plans) {
    CHECK((one.standing.at(ir::Level::compiled) != nullptr) == !one.refused);
    const auto why = stored.plan_rejections(one.plan_id(), one.on->id);
    REQUIRE(why.size() == (one.refused ? 1 : 0));
    if (!one.refused) continue;
    CHECK(why[0].rule == "min-blocks");
    CHECK(why[0].reason == one.refused->reason);
  }
}

TEST_CASE("what takes the compiler too long rejects its own plan under a rule of its own, and is no bug") {
  const Folder folder;
  RankedPlans best(3);
  for (Candidate& one : best.plans) one.cuda = "text";
  best.plans[0].binary->outcome = ir::CompileOutcome::too_long;
  best.plans[0].binary->log = "takes long\nmore";
  best.plans[1].binary->outcome = ir::CompileOutcome::failed;
  best.plans[1].binary->log = "refused\nmore";
  {
    Recorder recorder(folder.path / "a.db", run_row());
    recorder.save(best.model->target);
    for (const Candidate& one : best.plans) {
      recorder.save_chosen(one);
      recorder.save_compiled(one);
    }
  }
  const store::Store stored = store::Store::open_read_only(folder.path / "a.db");
  const auto why = [&](const Candidate& one) {
    std::string all;
    for (const store::PlanRejectionRow& row : stored.plan_rejections(one.plan_id(), one.on->id))
      all += row.rule + ": " + row.reason;
    return all;
  };
  CHECK(why(best.plans[0]) == "compile-limit: takes long");
  CHECK(why(best.plans[1]) == "compile: refused");
  CHECK(why(best.plans[2]).empty());
}

TEST_CASE("rows of estimates, predictions, kernels and checks have every figure at its own place") {
  ir::Estimate estimate;
  estimate.level = ir::Level::compiled;
  estimate.total = {1}, estimate.low = {2}, estimate.high = {3};
  for (std::size_t i = 0; i < ir::part_count; ++i) estimate.parts[i] = {10.0 + static_cast<double>(i)};
  estimate.bottleneck = ir::Part::xu;
  estimate.occupancy = 4, estimate.waves = 5, estimate.registers = 6;
  const Id plan{1, 1}, device{2, 2};
  CHECK(estimate_row(plan, device, estimate, "model") ==
        store::EstimateRow{plan, device, "compiled", "model", {1}, {2}, {3}, "xu", estimate.parts, 4, 5, 6});
  const ir::Regime regime =
      ir::make_regime({ir::CacheState::warm, ir::TimedBy::events, ir::LaunchMode::graph, "standard"});
  CHECK(prediction_row(plan, device, estimate, "model", regime) ==
        store::PredictionRow{
            plan, device, "compiled", "model", "warm", std::string(ir::name(regime.timer)), "graph", {1}, {2}, {3}});
  ir::Kernel kernel;
  kernel.name = "name";
  kernel.threads = 64, kernel.grid = 65, kernel.shared_bytes = 66;
  const store::KernelRow row = kernel_row(kernel, {5, 5}, "cuda");
  CHECK(row.name == "name");
  CHECK(row.cuda == "cuda");
  CHECK(row.threads == 64);
  CHECK(row.blocks == 65);
  CHECK(row.shared == 66);
  profiler::Checked checked;
  checked.state = profiler::Verdict::wrong;
  checked.worst = 7, checked.judged = 0.5, checked.reason = "reason";
  checked.findings.resize(3);
  checked.findings[1].severity = simulator::Severity::advice;
  CHECK(check_row(checked, {6, 6}, "method") == store::CheckRow{{6, 6}, "method", "wrong", 7, "reason", 2, 0.5});
}

TEST_CASE("how a check was done is said: its seeds, its blocks, and what was not looked for") {
  profiler::CheckOptions options;
  options.seed = 5;
  CHECK(check_method(options, 1) == "simulator, seed 5");
  CHECK(check_method(options, 3) == "simulator, seeds 5 to 7");
  options.sample_blocks = 9;
  options.sanitize = false;
  CHECK(check_method(options, 1) == "simulator, seed 5, 9 blocks sampled, without sanitizers");
}

TEST_CASE("the row of an execution says how much of the launch ran, and what cannot be judged still counted") {
  const ir::Kernel kernel;
  profiler::Checked checked;
  checked.reason = "reason";
  checked.counts.blocks_run = 8, checked.counts.blocks_total = 64;
  using profiler::Verdict;
  for (const auto& [state, outcome] :
       {std::pair(Verdict::passed, "ok"), std::pair(Verdict::not_judged, "ok"), std::pair(Verdict::wrong, "wrong"),
        std::pair(Verdict::unsound, "unsound"), std::pair(Verdict::timed_out, "timed out")}) {
    checked.state = state;
    const store::MeasurementRow row = measurement_row(checked, kernel, {1, 1}, {2, 2}, {3, 3}, "method");
    CHECK(row.outcome == outcome);
    CHECK(row.protocol == "method; 8 of 64 blocks, scaled");
    CHECK(row.run == Id{1, 1});
    CHECK(row.binary == Id{2, 2});
    CHECK(row.device == Id{3, 3});
  }
  checked.counts.blocks_run = 64;
  CHECK(measurement_row(checked, kernel, {1, 1}, {2, 2}, {3, 3}, "method").protocol == "method; all 64 blocks");
}

TEST_CASE("what a GPU's answer is stored as: a state for every outcome, and passed only where results were judged") {
  using ir::Outcome;
  struct Row {
    Outcome outcome;
    bool judged;
    std::string state;
    bool refuted;
  };
  const std::vector<Row> rows{{Outcome::ok, true, "passed", false},
                              {Outcome::ok, false, "not judged", false},
                              {Outcome::wrong, true, "wrong", true},
                              {Outcome::timed_out, false, "timed out", true},
                              {Outcome::overrun, true, "unsound", true},
                              {Outcome::illegal_access, false, "crashed", true},
                              {Outcome::trapped, false, "crashed", true},
                              {Outcome::refused, false, "not executed", false},
                              {Outcome::no_memory, false, "not executed", false},
                              {Outcome::unavailable, false, "not executed", false}};
  RankedPlans all(rows.size());
  const Folder folder;
  Recorder recorder(folder.path / "a.db", run_row());
  recorder.unit([&] {
    recorder.save(all.model->target);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      recorder.save_chosen(all.plans[i]);
      profiler::CandidateResult& result = all.plans[i].measured.emplace();
      result.outcome = rows[i].outcome;
      result.judged = rows[i].judged;
      result.worst = 0.25;
      result.judged_share = 0.5;
      result.reason = "reason";
      result.checked_on = "9 of 4,096 rows";
      recorder.save_measured(all.plans[i], "gpu");
    }
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(ir::name(rows[i].outcome));
    const Candidate& plan = all.plans[i];
    const std::vector<store::CheckRow> checks = recorder.store().checks(plan.kernel_id);
    REQUIRE(checks.size() == 1);
    CHECK(checks[0] == store::CheckRow{plan.kernel_id, "gpu, 9 of 4,096 rows", rows[i].state, 0.25, "reason", 0, 0.5});
    CHECK(recorder.store().plan_rejections(plan.plan_id(), plan.on->id).size() == (rows[i].refuted ? 1 : 0));
  }
}

TEST_CASE("a measured time is stored with its interval and as an estimate of its own protocol; lost ones are not") {
  RankedPlans all;
  const Folder folder;
  Recorder recorder(folder.path / "a.db", run_row());
  Candidate& plan = all.plans[0];
  profiler::CandidateResult& result = plan.measured.emplace();
  result.judged = true;
  result.entry.registers = 55;
  ir::Measurement measured;
  measured.outcome = ir::Outcome::ok;
  measured.protocol = {ir::CacheState::warm, ir::TimedBy::events, ir::LaunchMode::graph, "standard"};
  for (int i = 0; i < 31; ++i) measured.samples.push_back({{(100.0 + i) * 1e-7}, 0, 0});
  measured.measured_at = "2026-01-01T00:00:00Z";
  result.times = {measured};
  for (const ir::Outcome lost : {ir::Outcome::stopped, ir::Outcome::not_recorded}) {
    measured.outcome = lost;
    result.times.push_back(measured);
  }
  recorder.unit([&] {
    recorder.save(all.model->target);
    recorder.save_chosen(plan);
    recorder.save_measured(plan, "gpu");
  });
  int profiled = 0;
  for (const store::EstimateRow& row : recorder.store().estimates(plan.plan_id(), plan.on->id)) {
    if (row.level != "profiled") continue;
    ++profiled;
    CHECK(row.model == "measured, " + ir::text(result.times[0].protocol));
    CHECK(row.total.value == approx(115e-7));
    CHECK(row.low < row.total);
    CHECK(row.high > row.total);
    CHECK(row.registers == 55);
  }
  CHECK(profiled == 1);
}

TEST_CASE("places of a race are those of all candidates, though some had no binary to race with") {
  RankedPlans all;
  all.plans[1].binary->outcome = ir::CompileOutcome::failed;
  std::vector<Id> asked;
  Measuring how;
  how.by = [&](std::span<const profiler::MeasureRequest> requests, const profiler::MeasureOptions&) {
    profiler::MeasuredGroup group;
    asked.clear();
    for (const profiler::MeasureRequest& one : requests) {
      asked.push_back(one.kernel_id);
      group.plans.emplace_back().worst = static_cast<double>(asked.size());
    }
    group.plans[1].outcome = ir::Outcome::wrong;
    group.unjudged = "unjudged";
    group.floor = {{1e-6}, {2e-6}, 40};
    profiler::Ranking ranking;
    ranking.order = {2, 0, 1};
    ranking.tie = {2, 1};
    ranking.twin.plan = 1;
    group.rankings = {ranking, ranking};
    group.rankings[1].twin.plan = -1;
    return group;
  };
  for (const bool needs_binary : {true, false}) {
    how.needs_binary = needs_binary;
    for (Candidate& plan : all.plans) plan.measured.reset(), plan.standing.refuted = false;
    const std::vector<RacedGroup> groups = measure(all.plans, how, [](const RacedGroup&) {});
    REQUIRE(groups.size() == 1);
    CHECK(groups[0].first == 0);
    CHECK(groups[0].count == 4);
    CHECK(groups[0].unjudged == "unjudged");
    CHECK(groups[0].floor.noise.value == 2e-6);
    // Requests 0, 1 and 2 are candidates 0, 2 and 3, or else themselves.
    const std::vector<std::size_t> of =
        needs_binary ? std::vector<std::size_t>{0, 2, 3} : std::vector<std::size_t>{0, 1, 2};
    for (std::size_t k = 0; k < of.size(); ++k) {
      CHECK(asked[k] == all.plans[of[k]].kernel_id);
      REQUIRE(all.plans[of[k]].measured.has_value());
      CHECK(all.plans[of[k]].measured->worst == static_cast<double>(k + 1));
      CHECK(all.plans[of[k]].standing.refuted == (k == 1));
    }
    if (needs_binary) CHECK_FALSE(all.plans[1].measured.has_value());
    const auto places = [&](std::initializer_list<std::size_t> requests) {
      std::vector<int> all_places;
      for (const std::size_t k : requests) all_places.push_back(static_cast<int>(of[k]));
      return all_places;
    };
    for (const profiler::Ranking& ranking : groups[0].rankings) {
      CHECK(ranking.order == places({2, 0, 1}));
      CHECK(ranking.tie == places({2, 1}));
    }
    CHECK(groups[0].rankings[0].twin.plan == static_cast<int>(of[1]));
    CHECK(groups[0].rankings[1].twin.plan == -1);
  }
}

TEST_CASE("how a check ends: wrong before late, late before not executed, not executed before not judged") {
  struct Row {
    VerdictCounts counts;
    std::optional<Fault> fault;
    std::string words;
  };
  const auto counts = [](std::int64_t refuted, std::int64_t late, std::int64_t not_executed, std::int64_t not_judged) {
    VerdictCounts made;
    made.all = 5;
    made.refuted = refuted, made.late = late, made.not_executed = not_executed, made.not_judged = not_judged;
    made.passed = 5 - refuted - not_executed - not_judged;
    return made;
  };
  const auto late_compiles = [&](std::int64_t not_executed, std::int64_t late) {
    VerdictCounts made = counts(0, 0, not_executed, 0);
    made.compile_late = late;
    return made;
  };
  for (const Row& row :
       {Row{counts(0, 0, 0, 0), {}, ""}, Row{counts(1, 0, 1, 1), Fault::failed, "1 of 5 kernels is not right"},
        Row{counts(3, 1, 0, 0), Fault::failed, "2 of 5 kernels are not right"},
        Row{counts(2, 2, 1, 1), Fault::missing, "2 of 5 kernels took longer than --time-limit and are not judged"},
        Row{counts(0, 0, 2, 1), Fault::missing, "2 of 5 kernels could not be executed"},
        Row{counts(0, 0, 0, 1), Fault::missing, "1 of 5 kernels ran and is not judged"},
        Row{late_compiles(2, 2), Fault::missing, "2 of 5 kernels took the compiler longer than --compile-limit"},
        Row{late_compiles(2, 1), Fault::missing, "2 of 5 kernels could not be executed"},
        Row{VerdictCounts{}, Fault::missing, "nothing to check: none of 3 groups has a plan"}}) {
    const std::optional<Error> found = fault_of(row.counts, 3);
    REQUIRE(found.has_value() == row.fault.has_value());
    if (!found) continue;
    CHECK(found->fault == *row.fault);
    CHECK(found->message == row.words);
  }
}

TEST_CASE("verdicts are counted one by one, and a row shows each figure of its own") {
  RankedPlans all;
  using profiler::Verdict;
  const auto verdict = [&](std::size_t i, Verdict state, double judged) -> profiler::Checked& {
    profiler::Checked& made = all.plans[i].verdict.emplace();
    made.state = state;
    made.judged = judged;
    made.counts.blocks_run = made.counts.blocks_total = 64;
    return made;
  };
  profiler::Checked& first = verdict(0, Verdict::passed, 0.75);
  first.worst = 0.5;
  first.findings.resize(1);
  first.findings[0].severity = simulator::Severity::advice;
  first.lane_instructions = 1234;
  first.counts.blocks_run = 8;
  first.time = {0.25};
  verdict(1, Verdict::timed_out, 0);
  verdict(2, Verdict::not_judged, 0);
  const VerdictCounts counts = count_verdicts(all.plans);
  CHECK(counts.all == 4);
  CHECK(counts.passed == 1);
  CHECK(counts.not_all == 1);
  CHECK(counts.least_judged == 0.75);
  CHECK(counts.refuted == 1);
  CHECK(counts.late == 1);
  CHECK(counts.late_may_shrink == 1);
  CHECK(counts.late_may_be_sampled == 1);
  CHECK(counts.not_judged == 1);
  CHECK(counts.not_executed == 1);
  CHECK(counts.sampled == 1);
  CHECK(counts.finished == 3);
  CHECK(counts.elsewhere == 0);
  CHECK(text(counts, 2) ==
        "1 of 4 kernels passed, 1 executed in a sample of its blocks, 1 of them judged in part (75 % of what it "
        "stored), 1 not judged, 1 not executed; 2 groups have no plan");
  const report::Table table = verdict_table(all.plans, {}, {});
  REQUIRE(table.rows.size() == 4);
  const auto cell = [&](std::size_t row, std::string_view key) { return table.rows[row][place_of_column(table, key)]; };
  CHECK(cell(0, "rank") == report::Cell(std::int64_t{1}));
  CHECK(cell(0, "state") == report::Cell(std::string("passed")));
  CHECK(cell(0, "executed_shape") == report::Cell(std::string("8 of 64 blocks")));
  CHECK(cell(0, "worst") == report::Cell(0.5));
  CHECK(cell(0, "judged") == report::Cell(0.75));
  CHECK(cell(0, "findings") == report::Cell(std::int64_t{0}));
  CHECK(cell(0, "lane_instructions") == report::Cell(std::int64_t{1234}));
  CHECK(cell(0, "blocks_run") == report::Cell(std::int64_t{8}));
  CHECK(cell(0, "blocks") == report::Cell(std::int64_t{64}));
  CHECK(cell(0, "elapsed") == report::Cell(0.25));
  CHECK(cell(1, "worst") == report::Cell());
  CHECK(cell(3, "state") == report::Cell(std::string("interrupted")));
  CHECK(verdict_table(all.plans, {}, {.finished_only = true}).rows.size() == 3);
}
