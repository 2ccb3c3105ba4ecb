// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check stage of a sweep, with the tests' interpreter of kernels in the simulator's place: right kernels pass, a
// wrong one is rejected with its reason and is nobody's best, a second run executes nothing again. Part of the suite
// `study`; skipped without NVRTC, because only compiled kernels are checked.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>

#include "base/text.h"
#include "folder.h"
#include "ir/graph/number.h"
#include "ir/plan.h"
#include "report/width.h"
#include "store/store.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/question.h"
#include "study/pipeline/recorder.h"
#include "study/sweep/sweep.h"
#include "study/tables/bench_table.h"
#include "study/tables/check_tables.h"
#include "study/tables/explain_page.h"
#include "support/approx.h"
#include "support/group_family.h"
#include "support/interpret.h"
#include "support/kernel_cache.h"
#include "support/listener.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::study;

namespace {

struct Bench {
  explicit Bench(std::int64_t rows = 6, const std::string& check = "{}")
      : path(std::filesystem::temp_directory_path() / ("tailor_check_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    write_file(path / "model.graph", text(ir::make_group(ir::family_member("softmax"), rows, 64).graph));
    write_file(path / "sweep.json",
               "{\"question\": \"?\", \"models\": [\"model.graph\"], \"devices\": [\"h200\"], \"strategies\": "
               "[\"stitch-v1\"], \"plans\": {\"axes\": {\"threads\": [128, 256]}}, \"shortlist\": 3, \"check\": " +
                   check + "}");
  }
  ~Bench() { std::filesystem::remove_all(path); }

  SweepOutcome sweep(const std::function<profiler::Executor(const ir::Kernel&, const ir::Binary&)>& executor) {
    Listener listener;
    SweepOptions options;
    options.config = path / "sweep.json";
    options.data = source / "data";
    options.cache = kernels::cache().folder;
    options.nvrtc = profiler::default_nvrtc_paths({source / ".venv"});
    options.executor = executor;
    options.workers = 2;
    options.command = "test";
    const SweepOutcome outcome = run_sweep(options, {listener});
    said += listener.warnings + listener.notes;
    return outcome;
  }
  store::Store opened() const { return store::Store::open_read_only(path / "sweep.db"); }

  std::filesystem::path path;
  std::string said;
};

/// Executes the lowered program itself; `spoil` may change what it wrote.
profiler::Executor interpreter_of(const ir::Kernel& kernel,
                                  const std::function<void(std::vector<std::byte>&)>& spoil = {}) {
  return [&kernel, spoil](std::span<const reference::Tensor> inputs, const simulator::SimulationOptions&) {
    std::vector<std::vector<std::byte>> buffers;
    for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
    profiler::Executed run;
    for (const ir::Buffer& buffer : kernel.buffers)
      if (is_result(buffer.role))
        run.before.emplace_back(static_cast<std::size_t>(buffer.elements * ir::element_bytes(buffer.dtype)));
    buffers.insert(buffers.end(), run.before.begin(), run.before.end());
    const ir::KernelRun after = interpret(kernel, std::move(buffers));
    run.after.assign(after.buffers.begin() + static_cast<std::ptrdiff_t>(inputs.size()), after.buffers.end());
    if (spoil) spoil(run.after.front());
    run.simulation.counters.instructions = 1000;
    run.simulation.blocks_run = run.simulation.blocks_total = kernel.grid;
    run.simulation.buffers.resize(kernel.buffers.size());
    return run;
  };
}

bool no_compiler() {
  const profiler::FoundNvrtc found = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  if (!found) skip(found.reason);
  return !found;
}

}  // namespace

TEST_CASE("a sweep executes its short list, and a second one does not again") {
  if (no_compiler()) return;
  Bench bench;
  std::atomic<int> made = 0;
  const auto executor = [&](const ir::Kernel& kernel, const ir::Binary& binary) {
    ++made;
    CHECK(binary.ptx.find(".loc") != std::string::npos);
    return interpreter_of(kernel);
  };
  const SweepOutcome first = bench.sweep(executor);
  CHECK(first.exit_code == 0);
  CHECK(first.kernels_passed == 3);
  CHECK(first.kernels_refuted == 0);
  CHECK(made == 3);
  const store::Store stored = bench.opened();
  int passed = 0;
  for (const store::KernelState& kernel : stored.kernel_states()) passed += kernel.state == "passed" ? 1 : 0;
  CHECK(passed == 3);
  const store::GroupRow group = stored.groups().at(0);
  const store::BestPlan best = stored.best_plans(group.id, stored.devices().at(0).id, 1).at(0);
  CHECK(best.estimate.level == "counted");
  // A run that measures later has no counts: what they predict for its clock, whichever that is, is there already.
  std::map<std::string, Seconds> predicted;
  for (const store::PredictionRow& row : stored.predictions(best.estimate.plan, stored.devices().at(0).id)) {
    CHECK(row.level == "counted");
    CHECK(row.cache == "cold");
    predicted[row.timed_by] = row.total;
  }
  REQUIRE(predicted.size() == 2);
  CHECK(predicted["activity"] < predicted["events"]);
  CHECK(predicted["events"] == best.estimate.total);
  const Id binary = stored.binaries(*best.kernel).at(0).id;
  const std::vector<store::MeasurementRow> executions = stored.measurements(binary);
  REQUIRE(executions.size() == 1);
  CHECK(executions[0].profiler == "simulator");
  CHECK(executions[0].counts == std::vector<ir::CounterValue>{{"instructions", 1000, "warp instructions"}});
  CHECK(bench.sweep(executor).kernels_passed == 0);
  CHECK(made == 3);
}

TEST_CASE("a sweep that asks for all blocks executes what it executed in samples before, and the other way round") {
  if (no_compiler()) return;
  Bench bench;
  const auto sweep_with = [&](const std::string& check) {
    std::string config = read_file(bench.path / "sweep.json");
    const std::size_t at = config.find("\"check\": ");
    write_file(bench.path / "sweep.json", config.substr(0, at) + "\"check\": " + check + "}");
    std::atomic<int> executed = 0;
    bench.sweep([&](const ir::Kernel& kernel, const ir::Binary&) {
      ++executed;
      return interpreter_of(kernel);
    });
    return executed.load();
  };
  CHECK(sweep_with("{}") == 3);
  CHECK(sweep_with(R"({"blocks": 0})") == 3);
  CHECK(sweep_with(R"({"blocks": 0})") == 0);
  CHECK(sweep_with(R"({"blocks": 8})") == 3);
  CHECK(sweep_with("{}") == 0);
}

TEST_CASE("a sweep at small shapes executes fewer rows, says so, and stores no counters of them") {
  if (no_compiler()) return;
  Bench bench(4000, R"({"shape": "small"})");
  std::atomic<std::int64_t> rows = 0;
  const SweepOutcome outcome = bench.sweep([&](const ir::Kernel& kernel, const ir::Binary&) {
    rows = std::max<std::int64_t>(rows, kernel.buffers.front().elements / 64);
    return interpreter_of(kernel);
  });
  CHECK(outcome.kernels_passed == 3);
  CHECK(rows <= 2000);
  const store::Store stored = bench.opened();
  const store::BestPlan best = stored.best_plans(stored.groups().at(0).id, stored.devices().at(0).id, 1).at(0);
  CHECK(best.estimate.level != "counted");
  CHECK(stored.predictions(best.estimate.plan, stored.devices().at(0).id).empty());
  const std::vector<store::CheckRow> checks = stored.checks(*best.kernel);
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].method.ends_with(" of 4,000 rows"));
  for (const store::BinaryRow& binary : stored.binaries(*best.kernel)) CHECK(stored.measurements(binary.id).empty());
}

TEST_CASE("a wrong kernel is rejected with its reason and is nobody's best") {
  if (no_compiler()) return;
  Bench bench;
  bench.sweep([](const ir::Kernel& kernel, const ir::Binary&) { return interpreter_of(kernel); });
  std::string best;
  {
    const store::Store stored = bench.opened();
    best = stored.best_plans(stored.groups().at(0).id, stored.devices().at(0).id, 1).at(0).plan;
  }
  std::filesystem::remove(bench.path / "sweep.db");
  const ir::Plan wrong = ir::parse_plan(best);
  const SweepOutcome outcome = bench.sweep([&](const ir::Kernel& kernel, const ir::Binary&) {
    if (kernel.threads != wrong.threads) return interpreter_of(kernel);
    return interpreter_of(kernel, [](std::vector<std::byte>& bytes) { bytes[64 * 4 + 3] ^= std::byte{0x10}; });
  });
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.kernels_refuted >= 1);
  CHECK(bench.said.find("1 of 384 elements is wrong; [1,0] is") != std::string::npos);
  const store::Store stored = bench.opened();
  const store::GroupRow group = stored.groups().at(0);
  const Id device = stored.devices().at(0).id;
  const std::vector<store::PlanRejectionRow> why = stored.plan_rejections(id_of(wrong, group.id), device);
  REQUIRE(why.size() == 1);
  CHECK(why[0].rule == "check-wrong");
  CHECK(why[0].reason.find("elements is wrong") != std::string::npos);
  for (const store::BestPlan& plan : stored.best_plans(group.id, device, 1000)) CHECK(plan.plan != best);
}

TEST_CASE("a kernel that nobody can execute stays unchecked and in its place") {
  if (no_compiler()) return;
  Bench bench;
  const SweepOutcome outcome = bench.sweep([](const ir::Kernel&, const ir::Binary&) {
    return [](std::span<const reference::Tensor>, const simulator::SimulationOptions&) {
      profiler::Executed run;
      run.simulation.outcome = simulator::SimulationOutcome::unsupported;
      run.simulation.reason = "wgmma (line 9)";
      return run;
    };
  });
  CHECK(outcome.kernels_not_executed == 3);
  for (const store::KernelState& kernel : bench.opened().kernel_states()) CHECK(kernel.state == "unchecked");
}

TEST_CASE("verdicts are handed over part by part, and a stop loses none that was reached") {
  if (no_compiler()) return;
  const Bench bench;
  Listener listener;
  Question question;
  question.model = (bench.path / "model.graph").string();
  question.device = "h200";
  question.strategy = "unfused";
  FusedModel model(question, source / "data", {listener});
  std::vector<Unplanned> unplanned;
  std::vector<Candidate> candidates = choose_plans(model, {"", 2, true}, {listener}, &unplanned);
  REQUIRE(candidates.size() > 6);
  CHECK(unplanned.empty());
  std::stop_source stop;
  std::mutex reading;
  int begun = 0;
  Checking how;
  how.workers = 1;
  how.reading = &reading;
  how.executor = [&](const ir::Kernel& kernel, const ir::Binary&) {
    CHECK(reading.try_lock());
    reading.unlock();
    if (++begun == 6) stop.request_stop();
    return interpreter_of(kernel);
  };
  const profiler::FoundNvrtc nvrtc = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  std::vector<std::size_t> parts;
  {
    Recorder recorder(bench.path / "parts.db", begun_run("test", "none", 1, ""));
    recorder.save(model.target);
    check_in_parts(
        candidates, {.api = nvrtc.api.get(), .cache = kernels::cache().folder, .workers = 1, .shapes = Shapes::own},
        how,
        [&](std::span<Candidate> part) {
          CHECK((part.data() + part.size() == candidates.data() + candidates.size() ||
                 part.back().of != (&part.back())[1].of));
          recorder.save_checks(part, how);
          parts.push_back(part.size());
        },
        {listener, stop.get_token()}, 3);
  }
  CHECK(parts == std::vector<std::size_t>{4, 4});  // whole groups of two
  const VerdictCounts counts = count_verdicts(candidates);
  CHECK(counts.finished == 5);
  CHECK(counts.passed == 5);
  int stored = 0;
  for (const store::KernelState& kernel : store::Store::open_read_only(bench.path / "parts.db").kernel_states())
    stored += kernel.state == "passed" ? 1 : 0;
  CHECK(stored == 5);
  // The table of an interrupted command has what was reached, that of a finished one a row for each.
  CHECK(verdict_table(candidates, {}, {.finished_only = true}).rows.size() == 5);
  CHECK(verdict_table(candidates, {}, {}).rows.size() == candidates.size());
}

TEST_CASE("a sweep says of how many of its kernels a sample of the blocks was executed") {
  if (no_compiler()) return;
  for (const bool sampled : {false, true}) {
    CAPTURE(sampled);
    Bench bench(64);
    const SweepOutcome outcome = bench.sweep([&](const ir::Kernel& kernel, const ir::Binary&) {
      return [&kernel, sampled](std::span<const reference::Tensor> inputs, const simulator::SimulationOptions& how) {
        profiler::Executed run = interpreter_of(kernel)(inputs, how);
        REQUIRE(run.simulation.blocks_total > 1);
        if (sampled) run.simulation.blocks_run = 1;
        return run;
      };
    });
    CHECK(outcome.kernels_passed == 3);
    CHECK(outcome.kernels_sampled == (sampled ? 3 : 0));
    CHECK((bench.said.find("3 kernels executed and right (3 in a sample of their blocks), 0 rejected") !=
           std::string::npos) == sampled);
  }
}

TEST_CASE("a kernel of which some blocks were executed is not called whole, in no table and no summary") {
  const Bench bench;
  Listener listener;
  Question question;
  question.model = (bench.path / "model.graph").string();
  question.device = "h200";
  question.strategy = "stitch-v1";
  FusedModel model(question, source / "data", {listener});
  std::vector<Candidate> candidates = choose_plans(model, {"", 4, true}, {listener}, nullptr);
  REQUIRE(candidates.size() == 4);
  for (Candidate& one : candidates) {
    one.verdict.emplace().state = profiler::Verdict::passed;
    one.verdict->judged = 1;
    one.verdict->counts.blocks_run = one.verdict->counts.blocks_total = 4096;
  }
  candidates[1].verdict->counts.blocks_run = 8;
  candidates[2].other_is = "it has two rows";
  candidates[3] = candidates[1];
  candidates[3].other.emplace();
  candidates[3].other_is = "64 of 4,096 rows";
  const report::Table table = verdict_table(candidates, {}, {});
  const auto at = [&](std::size_t row, std::string_view key) {
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (table.columns[c].key == key) return table.rows[row][c];
    FAIL("no such column");
    return report::Cell();
  };
  CHECK(std::get<std::string>(at(0, "executed_shape")) == "whole");
  CHECK(std::get<std::string>(at(1, "executed_shape")) == "8 of 4,096 blocks");
  CHECK(std::get<std::string>(at(2, "executed_shape")) == "whole: it has two rows");
  CHECK(std::get<std::string>(at(3, "executed_shape")) == "64 of 4,096 rows, 8 of 4,096 blocks");
  CHECK(std::get<std::int64_t>(at(1, "blocks_run")) == 8);
  CHECK(std::get<std::int64_t>(at(1, "blocks")) == 4096);
  CHECK(text(count_verdicts(candidates), 0) ==
        "4 of 4 kernels passed, 1 executed at a smaller shape, 2 executed in a sample of their blocks");
}

TEST_CASE("the clock beside a microbenchmark is that of its samples, and that before them where they tell none") {
  const ir::Device device = ir::find_device("h200", source / "data/devices");
  std::vector<BenchItem> items = wanted_benches("", 0, device);
  REQUIRE(items.size() > 3);
  items.resize(3);
  for (BenchItem& item : items) item.measured.sm_clock = 1.98e9;
  items[0].measured.samples = {{{1e-6}, 1.98e9, 0}, {{1e-6}, 1.2e9, 0}, {{1e-6}, 1.1e9, 0}};
  items[1].measured.samples = {{{1e-6}, 0, 0}};
  items[2].measured.sm_clock = 0;
  const report::Table table = bench_table(items);
  const std::size_t clock = place_of_column(table, "sm_clock_mhz");
  CHECK(std::get<double>(table.rows[0][clock]) == approx(1200));
  CHECK(std::get<double>(table.rows[1][clock]) == approx(1980));
  CHECK(std::holds_alternative<std::monostate>(table.rows[2][clock]));
}

TEST_CASE("groups without a plan have their rows, and decide how a command ends where there is nothing else") {
  const std::vector<Unplanned> some{{3, Id{}, "sort", "skeleton-sort", "skeleton-sort: why"},
                                    {7, Id{}, "gather", "skeleton-gather", "skeleton-gather: one"}};
  const auto texts = [](const report::Table& table, std::string_view key) {
    std::vector<std::string> all;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      for (const auto& row : table.rows)
        if (table.columns[c].key == key) all.push_back(std::get<std::string>(row[c]));
    return all;
  };
  report::Table table = verdict_table({}, some, {.grouped = true});
  CHECK(texts(table, "state") == std::vector<std::string>{"no plan", "no plan"});
  CHECK(texts(table, "reason") == std::vector<std::string>{"skeleton-sort: why", "skeleton-gather: one"});
  std::vector<Unplanned> many(30, some[1]);
  many.push_back(some[0]);
  table = verdict_table({}, many, {.grouped = true});
  CHECK(texts(table, "title") == std::vector<std::string>{"gather and 29 more", "sort"});
  CHECK(texts(table, "reason") == std::vector<std::string>{"skeleton-gather", "skeleton-sort: why"});
  CHECK(verdict_table({}, many, {}).rows.size() == 31);
  VerdictCounts counts;
  CHECK(fault_of(counts, 31)->fault == Fault::missing);
  CHECK(fault_of(counts, 31)->message == "nothing to check: none of 31 groups has a plan");
  counts.all = counts.passed = 2;
  CHECK_FALSE(fault_of(counts, 31));
  CHECK(text(counts, 31) == "2 of 2 kernels passed; 31 groups have no plan");
  counts.refuted = counts.not_executed = 1;
  CHECK(fault_of(counts, 31)->fault == Fault::failed);
  // Nobody knows of a kernel that took too long whether it is right.
  counts.late = 1;
  CHECK(fault_of(counts, 31)->fault == Fault::missing);
  CHECK(fault_of(counts, 31)->message == "1 of 2 kernels took longer than --time-limit and is not judged");
  // Offered is what makes less to execute of such a kernel.
  CHECK(fault_of(counts, 31)->hint == "a larger --time-limit");
  counts.late_may_be_sampled = 1;
  CHECK(fault_of(counts, 31)->hint == "a larger --time-limit, or --blocks for less to execute");
  counts.late_may_shrink = 1;
  CHECK(fault_of(counts, 31)->hint == "a larger --time-limit, or --shape small or --blocks for less to execute");
  counts.refuted = 2;
  CHECK(fault_of(counts, 31)->message == "1 of 2 kernels is not right");
}

TEST_CASE("sentences count in the right form, one or many") {
  VerdictCounts counts;
  counts.all = counts.passed = 1;
  CHECK(text(counts, 0) == "1 of 1 kernel passed");
  CHECK(text(counts, 1) == "1 of 1 kernel passed; 1 group has no plan");
  CHECK(fault_of({}, 1)->message == "nothing to check: none of 1 group has a plan");
  profiler::CheckAccount account;
  account.references = 1;
  CHECK(text(account).find("; 1 reference computed in ") != std::string::npos);
  account.references = 2;
  CHECK(text(account).find("; 2 references computed in ") != std::string::npos);
}

TEST_CASE("the page of an explanation keeps to the width of the screen, down to its program") {
  const Bench bench;
  Listener listener;
  Question question;
  question.model = (bench.path / "model.graph").string();
  question.device = "h200";
  FusedModel model(question, source / "data", {listener});
  Explained all{choose_plan(model, 0, "", {listener}), model.title(0)};
  all.estimate = all.one.standing.estimates.front();
  all.one.verdict.emplace().state = profiler::Verdict::not_executed;
  all.one.verdict->reason = "needs 880 GB of memory, 3.92 GB are free for it; --blocks or --shape small takes less";
  all.advice = {std::string(30, 'a') +
                " of bytes that are loaded are not needed, because rows are shorter than a warp"};
  for (const int width : {60, 80, 200}) {
    CAPTURE(width);
    const std::string page = explanation(all, {.width = width});
    const std::string words = page.substr(0, page.rfind(text(all.one.kernel)));
    REQUIRE(words.size() < page.size());
    for (const std::string_view line : split(words, '\n')) {
      CAPTURE(line);
      CHECK(report::display_width(line) <= width);
    }
    CHECK(words.find("executed    not executed: needs 880 GB") != words.npos);
  }
  // Three lines of the program, and how many there are beyond; a program as long as the limit is whole.
  const std::string program = text(all.one.kernel);
  const auto lines = static_cast<std::size_t>(std::count(program.begin(), program.end(), '\n'));
  REQUIRE(lines > 4);
  const std::string three = explanation(all, {.width = 80, .max_rows = 3});
  const std::string left = fmt::format("\n{} of {} lines are left out: --top 0 shows all\n", lines - 3, lines);
  CHECK(three.ends_with(left));
  CHECK(three.find(split(program, '\n')[2]) != three.npos);
  CHECK(three.find(split(program, '\n')[3]) == three.npos);
  CHECK(explanation(all, {.width = 80, .max_rows = lines}).ends_with(program));
}
