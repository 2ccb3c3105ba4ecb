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
// Done work is found again by a key that is a hash of all that decides it (step_keys.h): the plan space, the length of
// the short list, the architecture, the calibration. A sweep under another of these stands beside the first one in the
// same database.
//
// At the end the claim is judged by what is stored, not by what this run did, so a resumed sweep judges the same. A
// stop leaves what is finished and says how to go on.
#include "study/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/counted.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "explore/strategy.h"
#include "profiler/compile/compile.h"
#include "profiler/measure/stop.h"
#include "report/owner.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/question.h"
#include "study/sweep/claim.h"
#include "study/sweep/points.h"
#include "study/sweep/step_keys.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

std::vector<Target> find_devices(const SweepConfig& config, const SweepOptions& options,
                                 const ir::Calibration& calibration) {
  std::vector<Target> devices;
  for (const std::string& name : config.devices) {
    devices.push_back(load_target(options.data, name, calibration));
    for (std::size_t i = 0; i + 1 < devices.size(); ++i)
      if (devices[i].id == devices.back().id)
        throw Error(Fault::usage, Position{options.config.string()},
                    fmt::format("'devices' names {} twice: as '{}' and as '{}'", devices[i].device.name,
                                config.devices[i], name),
                    "remove one");
  }
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

/// What strategies came to on the models and devices of this sweep by its own plans; another sweep's may stand beside
/// them.
void sum_up(Sweep& sweep) {
  Bytes library;
  for (const Id graph : sweep.graphs)
    for (const store::LibraryCallRow& call : sweep.store().library_calls(graph)) library += call.bytes * call.times;
  done_unless_stopped([&] {
    OwnTotals own = own_totals(sweep);
    sweep.outcome.strategies = std::move(own.strategies);
    if (sweep.config.setting.empty()) sweep.outcome.search_added = std::move(own.search_added);
  });
  sweep.outcome.baseline = sweep.config.baseline;
  if (!sweep.config.claim || sweep.watch.stopped()) return;
  if (!sweep.outcome.left_out.empty())
    return sweep.watch.observer.warning("the claim is not judged: it is about all models, and some were left out");
  const JudgedClaim claim = judge(*sweep.config.claim, sweep.outcome.strategies,
                                  library * static_cast<double>(sweep.devices.size()), sweep.config.baseline);
  sweep.outcome.claim_not_judged = claim.not_judged;
  if (!claim.not_judged.empty()) return;  // the error at the end says it
  sweep.outcome.claim = claim;
  sweep.watch.observer.note(fmt::format(
      "claim {}: {} is {}, threshold {}; it is about {}", claim.holds() ? "met" : "not met", claim.metric->name,
      three_figures(claim.value), three_figures(claim.threshold), claim.metric->meaning));
  if (!claim.left_out.empty())
    sweep.watch.observer.warning(
        fmt::format("the claim leaves out {}: over a tenth of its launches have no plan, or more than of {}'s; a bound "
                    "is no prediction",
                    fmt::join(claim.left_out, " and "), sweep.config.baseline));
}

/// Groups that could be planned and have no plan under the sweep's axes: in words when all of them are, else a warning.
/// Empty where some group has one.
std::string without_plans(Sweep& sweep) {
  if (sweep.config.axes.empty()) return {};
  std::int64_t with = 0, without = 0;
  std::string why;
  for (const Target& device : sweep.devices) {
    std::map<Id, std::int64_t> legal;
    for (const store::ProgressRow& row : sweep.store().progress(device.id, space_on(sweep, device)))
      if (row.stage == "score") legal[row.group] = row.legal;
    for (const auto& group : sweep.groups) {
      if (group->ready() == nullptr || !legal.contains(group->group.id)) continue;
      ++(legal[group->group.id] > 0 ? with : without);
      if (legal[group->group.id] > 0 || !why.empty()) continue;
      for (const store::RejectionRow& row : sweep.store().rejections(group->group.id, device.id))
        if (row.space == space_on(sweep, device) && why.empty())
          why = fmt::format("; for {} on {} rule {} refuses {}: {}", group->title(), device.device.name, row.rule,
                            counted(row.plans, "plan"), row.reason);
    }
  }
  if (without == 0) return {};
  if (with == 0) return fmt::format("the sweep's axes leave no group a plan{}", why);
  sweep.watch.observer.warning(
      fmt::format("the sweep's axes leave {} of {} without a plan{}", without, counted(with + without, "group"), why));
  return {};
}

store::RunRow manifest(const SweepOptions& options, const SweepConfig& config, const ir::Calibration& calibration,
                       const std::string& toolchain) {
  store::RunRow run = begun_run(options.command, toolchain, config.seed, canonical_text(config));
  run.config_id = id_of(config);
  run.calibration = calibration.name;
  return run;
}

std::string left_out_words(const Sweep& sweep) {
  const std::vector<LeftOutModel>& left_out = sweep.outcome.left_out;
  return fmt::format("{} of {} {} left out{} {}", left_out.size(), counted(sweep.config.models.size(), "model"),
                     left_out.size() == 1 ? "was" : "were", left_out.size() == 1 ? ":" : ", the first is",
                     left_out.front().reason);
}

void print_summary(const Sweep& sweep) {
  const SweepOutcome& o = sweep.outcome;
  sweep.watch.observer.finish();
  sweep.watch.observer.note(fmt::format(
      "{}, {}; {} scored and {} rejected in {}{}", counted(o.models, "model"),
      counted(o.distinct_groups, "distinct group"), counted(o.plans_scored, "plan"), with_commas(o.plans_rejected),
      humane_seconds(o.scoring.value),
      o.groups_resumed > 0 ? fmt::format("; {} there already", counted(o.groups_resumed, "group", "was", "were"))
                           : ""));
  if (o.kernels_compiled + o.kernels_cached + o.kernels_failed > 0)
    sweep.watch.observer.note(fmt::format(
        "{} compiled, {} from the cache, {} failed in {}{}", counted(o.kernels_compiled, "kernel"), o.kernels_cached,
        o.kernels_failed, humane_seconds(o.compiling.value),
        o.kernels_compiled > 0 ? fmt::format(" ({:.1f} % inside the compiler)", 100 * o.compiler_share) : ""));
  if (o.kernels_passed + o.kernels_refuted + o.kernels_not_judged + o.kernels_not_executed > 0)
    sweep.watch.observer.note(fmt::format(
        "{} executed and right{}{}, {} rejected, {}{} not executed in {}", counted(o.kernels_passed, "kernel"),
        o.kernels_sampled > 0 ? fmt::format(" ({} in a sample of their blocks)", o.kernels_sampled) : "",
        o.kernels_judged_in_part > 0 ? fmt::format(" ({} judged in part)", o.kernels_judged_in_part) : "",
        o.kernels_refuted, o.kernels_not_judged > 0 ? fmt::format("{} not judged, ", o.kernels_not_judged) : "",
        o.kernels_not_executed, humane_seconds(o.checking.value)));
  if (o.kernels_measured + o.kernels_failed_on_gpu + o.kernels_unmeasured > 0)
    sweep.watch.observer.note(fmt::format("{} measured, {} rejected, {} without a measurement in {}",
                                          counted(o.kernels_measured, "kernel"), o.kernels_failed_on_gpu,
                                          o.kernels_unmeasured, humane_seconds(o.measuring.value)));
  if (sweep.config.setting.empty())  // of a grid its last word says where to go on
    sweep.watch.observer.note(
        fmt::format("stored in {}; next: tailor report {}", o.database.string(), shell_word(o.database.string())));
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

/// Rows go to another database than the file says, and the pages with them: those of the file's database stay.
void use_database(SweepConfig& config, const std::filesystem::path& database) {
  const std::filesystem::path own = config.database.lexically_normal();
  config.database = database;
  if (config.report.empty() || database.lexically_normal() == own) return;
  std::error_code absent;
  if (std::filesystem::equivalent(database, own, absent)) return;
  config.report = std::filesystem::path(database).replace_extension(database.has_extension() ? "" : ".report");
}

/// Pages of this database do not go where those of another one are.
void keep_apart(SweepConfig& config, const Watch& watch) {
  if (config.report.empty()) return;
  const std::filesystem::path other = report::owned_by_another(config.report, config.database);
  if (other.empty()) return;
  std::filesystem::path apart = config.database;
  apart += ".report";
  watch.observer.warning(fmt::format("'{}' holds the report of '{}': this one goes to '{}'", config.report.string(),
                                     other.string(), apart.string()));
  config.report = std::move(apart);
}

/// Refuses what hours of work would find at their end: a file where the folder of pages should be.
void check_report(const SweepConfig& config, const std::filesystem::path& file) {
  if (config.report.empty()) return;
  std::error_code fault;
  const bool is_database = config.report.lexically_normal() == config.database.lexically_normal();
  if (!is_database && (!std::filesystem::exists(config.report, fault) || std::filesystem::is_directory(config.report)))
    return;
  throw Error(Fault::usage, Position{file.string()},
              fmt::format("'report': found {} '{}', expected a folder for the pages",
                          is_database ? "the database" : "the file", config.report.string()));
}

/// Refuses a file that names an architecture that the compiler does not know.
void check_architecture(const SweepConfig& config, const profiler::Nvrtc& api, const std::filesystem::path& file) {
  if (config.arch == "auto") return;
  if (const auto unsupported = profiler::unsupported(api, config.arch))
    throw Error(Fault::usage, Position{file.string()}, fmt::format("'arch': {}", unsupported->words),
                unsupported->hint);
}

/// What kernels for a device are compiled for, as stages that compile decide.
std::string arch_for(const Sweep& sweep, const profiler::Nvrtc& api, const ir::Device& device) {
  if (sweep.config.arch != "auto") return sweep.config.arch;
  return runs_on_device(sweep) ? device.arch : profiler::nearest_arch(api, device.arch);
}

/// Says of which devices the figures of level compiled are those of another architecture.
void say_other_architectures(const Sweep& sweep, const profiler::Nvrtc& api) {
  for (const Target& target : sweep.devices)
    if (const std::string arch = arch_for(sweep, api, target.device); arch != target.device.arch)
      sweep.watch.observer.warning(
          fmt::format("kernels for {} are compiled for {} in the place of {}: level compiled has the registers and "
                      "instructions of that",
                      target.device.name, arch, target.device.arch));
}

/// Why no kernel of any device can be compiled; nothing where one can.
std::optional<profiler::Unsupported> nothing_compiles(const Sweep& sweep, const profiler::Nvrtc& api) {
  std::optional<profiler::Unsupported> why;
  for (const Target& target : sweep.devices) {
    why = profiler::unsupported(api, arch_for(sweep, api, target.device));
    if (!why) return {};
  }
  return why;
}

/// Refuses what the file's reader cannot know to be wrong, before anything is opened or written.
void check_names(const SweepConfig& config, const std::filesystem::path& file) {
  with_position(
      [&] { return Position{file.string()}; },
      [&] {
        for (const std::string& strategy : config.strategies) explore::find_strategy(strategy);
        ranking_model(config.cost_model);
        explore::Axes axes;
        for (const AxisRestriction& limit : config.axes) explore::restrict_axis(axes, {limit.axis, limit.values});
        const bool names_arch =
            config.arch.starts_with("sm_") && config.arch.size() > 4 &&
            std::all_of(config.arch.begin() + 3, config.arch.begin() + 5, [](char c) { return c >= '0' && c <= '9'; });
        if (config.arch != "auto" && !names_arch)
          throw Error(Fault::usage, fmt::format("found arch '{}', expected auto or one such as sm_90", config.arch));
        parse_cache_states(fmt::format("{}", fmt::join(config.profile.cache, ",")), "profile.cache");
        profiler::stop_rule(config.profile.stop);
        check_counters(config.profile.counters, "profile.counters");
      });
}

}  // namespace

SweepConfig effective_config(const SweepOptions& options, const Watch& watch) {
  SweepConfig config = read_config(options.config);
  if (options.database) use_database(config, *options.database);
  if (options.calibration) config.calibration = *options.calibration;
  check_names(config, options.config);
  check_report(config, options.config);
  keep_apart(config, watch);
  for (const GridKey& key : config.grid)
    if (options.calibration && key.key == "calibration")
      throw Error(Fault::usage, "--calibration names one, and the file's grid several", "leave one of them out");
  for (SweepConfig& point : config.points) {
    point.database = config.database;
    point.report = config.report;
    if (options.calibration) point.calibration = *options.calibration;
    check_names(point, options.config);
  }
  return config;
}

SweepSetup sweep_setup(const SweepOptions& options, SweepConfig config) {
  SweepSetup setup;
  setup.config = std::move(config);
  setup.model = &ranking_model(setup.config.cost_model);
  setup.calibration = load_calibration(options.data, setup.config.calibration);
  setup.devices = find_devices(setup.config, options, setup.calibration);
  setup.compiles = options.compile && setup.config.compile;
  if (!setup.compiles && (options.measure || options.measurer))
    throw Error(Fault::usage, Position{options.config.string()}, "kernels are to be measured, and none is compiled",
                "set 'compile' to true and leave --no-compile out, or leave --profiler out");
  if (setup.compiles) setup.nvrtc = profiler::find_nvrtc(options.nvrtc);
  if (setup.nvrtc) check_architecture(setup.config, *setup.nvrtc.api, options.config);
  return setup;
}

Sweep begun_sweep(const SweepOptions& options, SweepSetup setup, const std::filesystem::path& database,
                  const Watch& watch) {
  const std::string space = work_space(setup.config);
  const store::RunRow run =
      manifest(options, setup.config, setup.calibration, setup.nvrtc ? profiler::version(*setup.nvrtc.api) : "none");
  return Sweep{options,           std::move(setup.config),  space,           setup.model,
               setup.calibration, std::move(setup.devices), {database, run}, watch};
}

namespace {

constexpr const char* interrupted_words = "interrupted; everything finished is stored";
constexpr const char* go_on_words = "the same command goes on from here";

/// One sweep: a file without a grid, or a point of one, whose whole has this id.
SweepOutcome run_one(const SweepOptions& options, SweepSetup setup, Id grid, std::int64_t number, const Watch& watch) {
  const bool compiles = setup.compiles;
  const profiler::FoundNvrtc nvrtc = setup.nvrtc;
  const std::filesystem::path database = setup.config.database;
  make_folder(database.parent_path());
  Sweep sweep = begun_sweep(options, std::move(setup), database, watch);
  for (const Target& device : sweep.devices) sweep.recorder.save(device);
  if (nvrtc) say_other_architectures(sweep, *nvrtc.api);
  sweep.outcome.database = sweep.config.database;
  sweep.outcome.report = sweep.config.report;

  // A step that is stopped has committed the batches that it finished.
  done_unless_stopped([&] {
    load_and_fuse(sweep);
    score_groups(sweep);
    if (nvrtc) compile_short_lists(sweep, *nvrtc.api);
    if (nvrtc && options.check) check_short_lists(sweep, *nvrtc.api);
    if (nvrtc && (options.measure || options.measurer)) profile_short_lists(sweep, *nvrtc.api);
  });
  if (sweep.outcome.opened_gpu) sweep.recorder.name_gpu(*sweep.outcome.opened_gpu);
  sweep.recorder.close(watch.stopped() ? "interrupted" : sweep.outcome.left_out.empty() ? "done" : "failed");
  sweep.outcome.setting = label(sweep.config);
  sum_up(sweep);
  if (!sweep.config.setting.empty() && !watch.stopped()) save_point(sweep, grid, number, sweep.outcome.strategies);
  print_summary(sweep);

  SweepOutcome& outcome = sweep.outcome;
  const auto end_with = [&](Fault fault, std::string reason, std::string hint) {
    outcome.exit_code = static_cast<int>(fault);
    outcome.reason = std::move(reason);
    outcome.hint = std::move(hint);
  };
  if (watch.stopped())
    end_with(Fault::interrupted, interrupted_words, go_on_words);
  else if (!outcome.left_out.empty())
    end_with(Fault::failed, left_out_words(sweep),
             "the answer lists them; what is stored of the others stays, and the same command goes on from here");
  else if (const std::string none = without_plans(sweep); !none.empty())
    end_with(Fault::failed, none, "widen 'axes' of 'plans', or leave them out");
  else if (compiles && !nvrtc)
    end_with(Fault::missing, fmt::format("nothing was compiled: {}", nvrtc.reason), nvrtc.remedy);
  else if (const std::optional<profiler::Unsupported> all = nvrtc ? nothing_compiles(sweep, *nvrtc.api) : std::nullopt)
    end_with(Fault::missing, "nothing was compiled: " + all->words, all->hint);
  else if (const Uncompiled lost = count_uncompiled(sweep); lost.plans > 0)
    end_with(Fault::failed,
             fmt::format("kernels did not compile: {} as rejected, {} left without a plan",
                         counted(lost.plans, "plan", "counts", "count"), counted(lost.groups, "group", "is", "are")),
             "tailor report shows what the compiler said; a kernel that does not compile is a bug of Tailor");
  else if (!outcome.claim_not_judged.empty())
    end_with(Fault::missing, fmt::format("the claim is not judged: {}", outcome.claim_not_judged), "");
  else if (outcome.claim && !outcome.claim->holds())
    end_with(Fault::claim, fmt::format("the claim does not hold: {}", sweep.config.claim->text), "");
  return outcome;
}

/// Adds what a point did to what the grid did.
void add_point(SweepOutcome& all, SweepOutcome one) {
  constexpr auto sums = std::to_array<std::int64_t SweepOutcome::*>(
      {&SweepOutcome::plans_scored, &SweepOutcome::plans_rejected, &SweepOutcome::groups_resumed,
       &SweepOutcome::plans_lowered, &SweepOutcome::kernels_compiled, &SweepOutcome::kernels_cached,
       &SweepOutcome::kernels_failed, &SweepOutcome::kernels_passed, &SweepOutcome::kernels_refuted,
       &SweepOutcome::kernels_not_judged, &SweepOutcome::kernels_not_executed, &SweepOutcome::kernels_judged_in_part,
       &SweepOutcome::kernels_sampled, &SweepOutcome::kernels_measured, &SweepOutcome::kernels_failed_on_gpu,
       &SweepOutcome::kernels_unmeasured});
  for (const auto member : sums) all.*member += one.*member;
  all.models = std::max(all.models, one.models);
  all.distinct_groups = std::max(all.distinct_groups, one.distinct_groups);
  if (all.left_out.empty()) all.left_out = one.left_out;
  // What stops a command says more than a claim that does not hold, and the first of each says why.
  const auto grave = [](int code) { return code == static_cast<int>(Fault::claim) ? 1 : code == 0 ? 0 : 2; };
  if (grave(one.exit_code) > grave(all.exit_code)) {
    all.exit_code = one.exit_code;
    all.reason = one.exit_code == static_cast<int>(Fault::interrupted) ? one.reason
                                                                       : fmt::format("{}: {}", one.setting, one.reason);
    all.hint = one.hint;
  }
  all.points.push_back(std::move(one));
}

}  // namespace

const SweepOutcome* least_claim(const SweepOutcome& grid) {
  const SweepOutcome* least = nullptr;
  for (const SweepOutcome& one : grid.points)
    if (one.claim && (least == nullptr || one.claim->value < least->claim->value)) least = &one;
  return least;
}

SweepOutcome run_sweep(const SweepOptions& options, const Watch& watch) {
  const SweepConfig config = effective_config(options, watch);
  if (config.points.empty()) return run_one(options, sweep_setup(options, config), {}, 0, watch);
  std::vector<SweepSetup> setups;  // all, before anything is written
  for (const SweepConfig& point : config.points) setups.push_back(sweep_setup(options, point));
  const Id grid = id_of(config);
  SweepOutcome all;
  for (std::size_t i = 0; i < setups.size() && !watch.stopped(); ++i) {
    watch.observer.note(fmt::format("point {} of {}: {}", i + 1, setups.size(), label(config.points[i])));
    add_point(all, run_one(options, std::move(setups[i]), grid, static_cast<std::int64_t>(i + 1), watch));
  }
  all.database = config.database;
  all.report = config.report;
  if (watch.stopped() && all.exit_code != static_cast<int>(Fault::interrupted)) {  // between two points
    all.exit_code = static_cast<int>(Fault::interrupted);
    all.reason = interrupted_words;
    all.hint = go_on_words;
  }
  std::string keys;
  for (const GridKey& key : config.grid) keys += (keys.empty() ? "" : ",") + key.key;
  const auto swept = std::count_if(all.points.begin(), all.points.end(), [](const SweepOutcome& point) {
    return point.exit_code != static_cast<int>(Fault::interrupted);
  });
  const std::string next = fmt::format("; next: tailor report {} --by {}", shell_word(config.database.string()), keys);
  watch.observer.note(
      fmt::format("{} of {} swept{}", swept, counted(setups.size(), "point"), swept > 0 ? next : std::string()));
  all.baseline = config.baseline;
  const bool judged = std::all_of(all.points.begin(), all.points.end(), [](const auto& one) { return one.claim; });
  if (const SweepOutcome* least = least_claim(all);
      least != nullptr && judged && all.points.size() == config.points.size())
    all.claim = least->claim;
  return all;
}

}  // namespace tailor::study
