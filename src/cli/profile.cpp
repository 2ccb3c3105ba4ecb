// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor profile: the best plans of a group or of a whole model, measured: checked, raced, counted; or the same from
// records. With --module the whole model under several strategies (study/module/module_times.h). In: a model, a
// device, plans, and who measures. Out: tables on stdout, rows where a database was named.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "profiler/compile/compile.h"
#include "study/module/module_times.h"
#include "study/pipeline/gpu_access.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/recorder.h"
#include "study/tables/profile_tables.h"

namespace tailor::cli {

namespace {

using study::Candidate;

/// Nothing when every plan was measured and right.
void refuse_bad(const std::vector<Candidate>& candidates) {
  std::int64_t refuted = 0, unmeasured = 0;
  std::string reason;
  for (const Candidate& candidate : candidates) {
    if (candidate.measured && candidate.measured->outcome == ir::Outcome::ok) continue;
    ++(candidate.measured && ir::is_refuted(candidate.measured->outcome) ? refuted : unmeasured);
    if (reason.empty() && candidate.measured) reason = candidate.measured->reason;
  }
  if (refuted > 0)
    throw Error(Fault::failed,
                fmt::format("{} of {} {} not right", refuted, counted(candidates.size(), "kernel"),
                            refuted == 1 ? "is" : "are"),
                "the answer says which and why; tailor check executes them on the simulator");
  if (unmeasured > 0)
    throw Error(Fault::missing,
                fmt::format("{} of {} {} not measured", unmeasured, counted(candidates.size(), "kernel"),
                            unmeasured == 1 ? "was" : "were"),
                reason);
}

void print_summary(const Context& context, const std::vector<Candidate>& candidates,
                   const std::vector<study::RacedGroup>& groups, const std::string& database) {
  for (const study::RacedGroup& group : groups)
    if (group.floor.samples > 0) {
      context.console->note(fmt::format("a launch that does nothing takes {} (half of {} within {})",
                                        humane_seconds(group.floor.time.value), counted(group.floor.samples, "sample"),
                                        humane_seconds(group.floor.noise.value)));
      break;
    }
  for (const Candidate& candidate : candidates)
    if (candidate.measured && !candidate.measured->uncounted.empty()) {
      context.console->warning(
          fmt::format("no counters: {}; tailor doctor says what to do", candidate.measured->uncounted));
      break;
    }
  std::int64_t measured = 0, samples = 0;
  for (const Candidate& candidate : candidates) {
    if (!candidate.measured) continue;
    measured += candidate.measured->outcome == ir::Outcome::ok ? 1 : 0;
    for (const ir::Measurement& one : candidate.measured->times)
      samples += static_cast<std::int64_t>(one.samples.size());
  }
  context.console->note(fmt::format("{} of {} measured, {}{}", measured, counted(candidates.size(), "kernel"),
                                    counted(samples, "sample"), database.empty() ? "" : "; stored in " + database));
}

/// Measures, and stores each group as it finishes when a database was named.
std::vector<study::RacedGroup> measure_all(const ProfileCommand& options, const Context& context,
                                           const study::FusedModel& model, const study::Measurer& measurer,
                                           profiler::MeasureOptions how, std::vector<Candidate>& candidates) {
  const std::string toolchain = candidates.empty() || !candidates[0].binary ? "none" : candidates[0].binary->compiler;
  store::RunRow run = study::begun_run(context.command, toolchain, options.seed, "");
  study::name_gpu(run, measurer.opened());
  study::Recorder recorder =
      options.database.empty() ? study::Recorder() : study::Recorder(options.database, std::move(run));
  recorder.save(model.target);
  std::int64_t done = 0;
  how.progress = [&](std::string_view doing) {
    context.console->progress({std::string(doing), done, static_cast<std::int64_t>(candidates.size()), {}});
  };
  const auto finished = [&](const study::RacedGroup& group) {
    if (how.stop.stop_requested()) context.interrupts->let_store();
    done += static_cast<std::int64_t>(group.count);
    recorder.unit([&] {
      for (const Candidate& candidate : std::span(candidates).subspan(group.first, group.count)) {
        recorder.save_chosen(candidate);
        if (candidate.measured)
          recorder.save_measured(candidate, measurer.name);
        else
          recorder.save_compiled(candidate);
      }
    });
  };
  std::vector<study::RacedGroup> groups =
      study::measure(candidates, {measurer.measure, measurer.worker != nullptr, how}, finished);
  context.console->finish();
  recorder.close(how.stop.stop_requested() ? "interrupted" : "done");
  return groups;
}

void profile_plans(const ProfileCommand& options, const Context& context, const profiler::FoundNvrtc& nvrtc) {
  const study::Watch watch = context.watch();
  study::Question what = options.what;
  if (what.strategy.empty()) what.strategy = explore::default_strategy;
  study::FusedModel model(what, context.data, watch);
  const ir::Device& device = model.target.device;
  const profiler::MeasureOptions how = study::measure_options(options, device, watch);
  // Before anything that takes time: is there somebody who can measure?
  study::Measurer measurer;
  if (!options.compile_only) measurer = study::make_measurer(options, context.data, device, watch);
  const bool whole = options.plan.empty() && options.what.group.empty();
  const bool compiles = measurer.worker != nullptr || options.compile_only;
  const std::int64_t top = options.all_plans ? 0 : options.top, considered = compiles ? options.consider : 0;
  std::vector<Candidate> candidates = study::choose_plans(
      model, {options.plan, study::plans_to_consider(considered, top), whole, options.random, options.seed}, watch);
  stop_if_asked(watch.stop);
  const study::Compiling compiling{.api = nvrtc.api.get(),
                                   .for_device = !options.compile_only,
                                   .cache = cache_folder(options.cache),
                                   .compiler = study::compiler_setup(options.compiler),
                                   .workers = static_cast<int>(options.threads)};
  study::keep_best_compiled(candidates, considered, top, compiling, watch);
  if (compiles && !options.no_odd_shape) study::add_shapes(candidates, study::ShapeKind::odd);
  if (compiles) study::compile(candidates, compiling, watch);
  stop_if_asked(watch.stop);
  if (options.compile_only) {
    show(context, {"tailor.profile/1", device.name, {{"compiled", study::compiled_table(candidates)}}, ""});
    const std::string arch = profiler::nearest_arch(*nvrtc.api, device.arch);
    return context.console->note(
        fmt::format("{} compiled for {}{}", counted(candidates.size(), "kernel"), arch,
                    arch == device.arch ? "" : fmt::format(" in the place of {}", device.arch)));
  }
  const std::vector<study::RacedGroup> groups = measure_all(options, context, model, measurer, how, candidates);
  CommandOutput answer{"tailor.profile/1", device.name, {}, ""};
  answer.sections.push_back({"times", study::time_table(candidates, groups)});
  answer.sections.push_back({"races", study::race_table(candidates, groups)});
  report::Table counters = study::counter_table(candidates);
  if (!counters.rows.empty() || context.format == Format::json)
    answer.sections.push_back({"counters", std::move(counters)});
  show(context, answer);
  print_summary(context, candidates, groups, options.database);
  stop_if_asked(watch.stop);
  refuse_bad(candidates);
}

/// The whole model under several strategies.
void profile_module(const ProfileCommand& options, const Context& context, const profiler::FoundNvrtc& nvrtc) {
  const study::Watch watch = context.watch();
  study::ModuleQuestion question{
      options.what, {}, options.top, options.consider, options.rounds, !options.no_odd_shape, options.xla, options, {}};
  question.strategies = study::named_strategies(options.what.strategy);
  question.compiling = {.api = nvrtc.api.get(),
                        .for_device = true,
                        .cache = cache_folder(options.cache),
                        .compiler = study::compiler_setup(options.compiler),
                        .workers = static_cast<int>(options.threads)};
  if (options.profiler == "replay") {
    const study::ReplayedModule found = study::replay_module(question, context.data, watch);
    show(context, {"tailor.profile_module/1", found.device, {{"strategies", found.table}}, ""});
    if (found.missing.empty()) return;
    throw Error(Fault::missing,
                fmt::format("no times of {} are recorded for {}", fmt::join(found.missing, ", "), found.device),
                "--strategy names others; tailor db info FILE says what a database holds");
  }
  study::ModuleComparison comparison(question, context.data, watch);
  comparison.measure();
  context.console->finish();
  context.interrupts->let_store();
  if (!options.database.empty()) {
    comparison.save(options.database, context.command);
    context.console->note(fmt::format("stored in {}", options.database));
  }
  show(context, {"tailor.profile_module/1", comparison.device().name, {{"strategies", comparison.table()}}, ""});
  stop_if_asked(watch.stop);
  comparison.refuse_bad();
}

}  // namespace

void run_profile(const ProfileCommand& options, const Context& context) {
  const ThreadLimit limit(static_cast<int>(options.threads));
  if (options.module && options.profiler == "replay") return profile_module(options, context, {});
  const profiler::FoundNvrtc nvrtc = study::find_compiler(options.compiler.nvrtc);
  if (!nvrtc && options.profiler != "replay")
    throw Error(Fault::missing, "profile needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  if (options.module)
    profile_module(options, context, nvrtc);
  else
    profile_plans(options, context, nvrtc);
}

}  // namespace tailor::cli
