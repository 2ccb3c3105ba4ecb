// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep from its file to its closing notes. In: the path of a sweep file and what the command line overrides. Out: a
// database, notes through the observer, an exit code with its reason. Called by tailor sweep and by tests.
//
// Everything that the file names is looked up before anything is opened or written: strategies, axes, the metric of
// the claim, models, devices, calibration. Then the steps run one after the other: load and fuse, score, compile,
// check, measure. Each goes over all groups in batches that are committed as they finish, and asks the database first
// what is done.
//
// Done work is found again by a key that is a hash of all that decides it: the plan space, the length of the short
// list, the architecture, the calibration. A sweep under another of these stands beside the first one in the same
// database.
//
// At the end the claim is judged by what is stored, not by what this run did, so a resumed sweep judges the same. A
// stop leaves what is finished and says how to go on.
#include "study/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "explore/strategy.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/question.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

std::vector<Target> find_devices(const SweepConfig& config, const std::filesystem::path& data,
                                 const ir::Calibration& calibration) {
  std::vector<Target> devices;
  for (const std::string& name : config.devices) devices.push_back(load_target(data, name, calibration));
  return devices;
}

const costmodel::Model& ranking_model(const std::string& name) {
  const costmodel::Model* model = costmodel::find_model(name);
  if (model && model->ranks_plans) return *model;
  std::vector<std::string_view> known;
  for (const costmodel::Model& row : costmodel::models())
    if (row.ranks_plans) known.push_back(row.name);
  throw Error(Fault::usage,
              fmt::format("found cost_model '{}', expected a model that ranks plans before they are compiled", name),
              suggestion(name, known));
}

/// What a claim may be about: a proportion of the baseline strategy to the best other one, summed over all models.
struct Metric {
  std::string_view name;
  double (*of)(const store::StrategyTotals&);
};

constexpr std::array metric_table = std::to_array<Metric>({
    {"predicted_speedup", [](const store::StrategyTotals& t) { return t.kernel_time.value; }},
    {"launch_reduction", [](const store::StrategyTotals& t) { return t.launches; }},
    {"traffic_reduction", [](const store::StrategyTotals& t) { return t.dram.value; }},
});

const Metric& find_metric(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Metric& metric : metric_table) {
    if (metric.name == name) return metric;
    known.push_back(metric.name);
  }
  throw Error(Fault::usage, fmt::format("found claim metric '{}', expected a known one", name),
              suggestion(name, known));
}

bool claim_holds(Sweep& sweep) {
  const Metric& metric = find_metric(sweep.config.claim->metric);
  std::map<std::string, double> sums;
  const auto asked_about = [&](const store::StrategyTotals& totals) {
    const auto& wanted = sweep.config.strategies;
    return sweep.graphs.contains(totals.graph) &&
           std::find(wanted.begin(), wanted.end(), totals.strategy) != wanted.end() &&
           std::any_of(sweep.devices.begin(), sweep.devices.end(),
                       [&](const Target& device) { return device.id == totals.device; });
  };
  for (const store::StrategyTotals& totals : sweep.store().strategies())
    if (asked_about(totals)) sums[totals.strategy] += metric.of(totals);
  double best = 0;
  for (const auto& [strategy, sum] : sums)
    if (strategy != sweep.config.baseline && sum > 0) best = std::max(best, sums[sweep.config.baseline] / sum);
  const bool holds = best >= sweep.config.claim->threshold;
  sweep.watch.observer.note(fmt::format("claim {}: {} is {}, threshold {}", holds ? "met" : "not met", metric.name,
                                        three_figures(best), three_figures(sweep.config.claim->threshold)));
  return holds;
}

store::RunRow manifest(const SweepOptions& options, const SweepConfig& config, const ir::Calibration& calibration,
                       const std::string& toolchain) {
  store::RunRow run = begun_run(options.command, toolchain, config.seed, canonical_text(config));
  run.config_id = id_of(config);
  run.calibration = calibration.name;
  return run;
}

void print_summary(const Sweep& sweep) {
  const SweepOutcome& o = sweep.outcome;
  sweep.watch.observer.finish();
  sweep.watch.observer.note(
      fmt::format("{} models, {} distinct groups; {} plans scored and {} rejected in {}{}", o.models, o.distinct_groups,
                  with_commas(o.plans_scored), with_commas(o.plans_rejected), humane_seconds(o.scoring.value),
                  o.groups_resumed > 0 ? fmt::format("; {} groups were there already", o.groups_resumed) : ""));
  if (o.kernels_compiled + o.kernels_cached + o.kernels_failed > 0)
    sweep.watch.observer.note(fmt::format(
        "{} kernels compiled, {} from the cache, {} failed in {}{}", o.kernels_compiled, o.kernels_cached,
        o.kernels_failed, humane_seconds(o.compiling.value),
        o.kernels_compiled > 0 ? fmt::format(" ({:.1f} % inside the compiler)", 100 * o.compiler_share) : ""));
  if (o.kernels_passed + o.kernels_refuted + o.kernels_not_judged + o.kernels_not_executed > 0)
    sweep.watch.observer.note(fmt::format(
        "{} kernels executed and right, {} rejected, {}{} not executed in {}", o.kernels_passed, o.kernels_refuted,
        o.kernels_not_judged > 0 ? fmt::format("{} not judged, ", o.kernels_not_judged) : "", o.kernels_not_executed,
        humane_seconds(o.checking.value)));
  if (o.kernels_measured + o.kernels_failed_on_gpu + o.kernels_unmeasured > 0)
    sweep.watch.observer.note(fmt::format("{} kernels measured, {} rejected, {} without a measurement in {}",
                                          o.kernels_measured, o.kernels_failed_on_gpu, o.kernels_unmeasured,
                                          humane_seconds(o.measuring.value)));
  sweep.watch.observer.note(
      fmt::format("stored in {}; next: tailor report {}", o.database.string(), o.database.string()));
}

void make_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault)
    throw Error(Fault::failed, Position{folder.string()}, fmt::format("cannot make the folder: {}", fault.message()));
}

/// Plans whose kernels did not compile, in this run or before, and groups that have no plan left for that reason.
struct Uncompiled {
  std::int64_t plans = 0, groups = 0;
};
Uncompiled count_uncompiled(Sweep& sweep) {
  Uncompiled found;
  for (const Target& target : sweep.devices)
    for (const auto& group : sweep.groups) {
      std::int64_t plans = 0;
      for (const store::PlanRejectionRow& row : sweep.store().plan_rejections_of(group->group.id, target.id))
        plans += row.rule == rule_compiles ? 1 : 0;
      found.plans += plans;
      if (plans > 0 && sweep.store().best_plans(group->group.id, target.id, 1).empty()) ++found.groups;
    }
  return found;
}

/// What must be equal for stored work to count as done: the plan space, the length of the short list, the architecture
/// and the models' numbers.
std::string work_space(const SweepConfig& config, const ir::Calibration& calibration) {
  const std::string key =
      fmt::format("{} {} {} {}", hex(plan_space_id(config)), config.shortlist, config.arch, hex(id_of(calibration)));
  return hex(tailor::id_of(std::string_view(key)));
}

/// Refuses what the file's reader cannot know to be wrong, before anything is opened or written.
void check_names(const SweepConfig& config, const std::filesystem::path& file) {
  with_position(
      [&] { return Position{file.string()}; },
      [&] {
        for (const std::string& strategy : config.strategies) explore::find_strategy(strategy);
        if (config.claim) find_metric(config.claim->metric);
        explore::Axes axes;
        for (const AxisRestriction& limit : config.axes) explore::restrict_axis(axes, {limit.axis, limit.values});
        const bool names_arch =
            config.arch.starts_with("sm_") && config.arch.size() > 3 &&
            std::all_of(config.arch.begin() + 3, config.arch.begin() + 5, [](char c) { return c >= '0' && c <= '9'; });
        if (config.arch != "auto" && !names_arch)
          throw Error(Fault::usage, fmt::format("found arch '{}', expected auto or one such as sm_90", config.arch));
      });
}

}  // namespace

SweepOutcome run_sweep(const SweepOptions& options, const Watch& watch) {
  SweepConfig config = read_config(options.config);
  if (options.database) config.database = *options.database;
  if (options.calibration) config.calibration = *options.calibration;
  check_names(config, options.config);
  const costmodel::Model& model = ranking_model(config.cost_model);
  const ir::Calibration calibration = load_calibration(options.data, config.calibration);
  std::vector<Target> devices = find_devices(config, options.data, calibration);
  make_folder(config.database.parent_path());
  const std::string space = work_space(config, calibration);
  const bool compiles = options.compile && config.compile;
  const profiler::FoundNvrtc nvrtc = compiles ? profiler::find_nvrtc(options.nvrtc) : profiler::FoundNvrtc{};
  const store::RunRow run = manifest(options, config, calibration, nvrtc ? profiler::version(*nvrtc.api) : "none");
  const std::filesystem::path database = config.database;
  Sweep sweep{options, std::move(config), space, &model, calibration, std::move(devices), {database, run}, watch};
  for (const Target& device : sweep.devices) sweep.recorder.save(device);
  sweep.outcome.database = sweep.config.database;
  sweep.outcome.report = sweep.config.report;

  load_and_fuse(sweep);
  score_groups(sweep);
  if (nvrtc) compile_short_lists(sweep, *nvrtc.api);
  if (nvrtc && options.check) check_short_lists(sweep, *nvrtc.api);
  if (nvrtc && (options.measure || options.measurer)) profile_short_lists(sweep, *nvrtc.api);
  print_summary(sweep);

  SweepOutcome& outcome = sweep.outcome;
  const auto end_with = [&](Fault fault, std::string reason, std::string hint) {
    outcome.exit_code = static_cast<int>(fault);
    outcome.reason = std::move(reason);
    outcome.hint = std::move(hint);
  };
  if (watch.stopped())
    end_with(Fault::interrupted, "interrupted; everything finished is stored", "the same command goes on from here");
  else if (compiles && !nvrtc)
    end_with(Fault::missing, fmt::format("nothing was compiled: {}", nvrtc.reason), nvrtc.remedy);
  else if (const Uncompiled lost = count_uncompiled(sweep); lost.plans > 0)
    end_with(Fault::failed,
             fmt::format("kernels did not compile: {} plans count as rejected, {} groups are left without a plan",
                         lost.plans, lost.groups),
             "tailor report shows what the compiler said; a kernel that does not compile is a bug of Tailor");
  else if (sweep.config.claim && !claim_holds(sweep))
    end_with(Fault::claim, fmt::format("the claim does not hold: {}", sweep.config.claim->text), "");
  if (outcome.opened_gpu) sweep.recorder.name_gpu(*outcome.opened_gpu);
  sweep.recorder.close(watch.stopped() ? "interrupted" : "done");
  return outcome;
}

}  // namespace tailor::study
