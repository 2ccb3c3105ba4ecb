// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor check: choose plans, compile them, execute them on the simulator, say what was found. In: a model, a device,
// a group and how many plans. Out: tables on stdout, rows where a database was named. Verdicts are an answer like any
// other; the exit code says whether all of them are good. Called by main's table of commands.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/pipeline/gpu_access.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/recorder.h"
#include "study/pipeline/to_rows.h"
#include "study/tables/check_tables.h"

namespace tailor::cli {

namespace {

using study::Candidate;

study::Checking make_checking(const CheckCommand& options) {
  study::Checking how;
  how.each.seed = static_cast<std::uint64_t>(options.seed);
  how.each.sanitize = !options.no_sanitizers;
  how.each.sample_blocks = std::max<std::int64_t>(options.blocks, 0);
  how.each.most_elements = options.blocks < 0 ? profiler::default_most_elements : 0;
  how.each.time_limit = {options.time_limit};
  how.seeds = static_cast<int>(options.seeds);
  how.workers = static_cast<int>(options.threads);
  how.memory = static_cast<std::int64_t>(options.memory * 1e9);
  return how;
}

/// What explore and the compiler know is stored with the verdicts, so that the database stands for itself.
void store_all(const CheckCommand& options, const Context& context, const study::FusedModel& model,
               const std::vector<Candidate>& candidates) {
  const std::string toolchain =
      candidates.empty() || !candidates[0].executed_binary() ? "none" : candidates[0].executed_binary()->compiler;
  study::Recorder recorder(options.database, study::begun_run(context.command, toolchain, options.seed, ""));
  const study::Checking how = make_checking(options);
  recorder.unit([&] {
    recorder.save(model.target);
    for (const Candidate& candidate : candidates) {
      recorder.save_chosen(candidate);
      if (!candidate.other) recorder.save_compiled(candidate);
      recorder.save_checked(candidate, study::check_method(how.each, how.seeds, candidate.executed_kernel()));
    }
    recorder.close("done");
  });
  context.console->note(fmt::format("stored in {}", options.database));
}

void print_summary(const Context& context, const study::VerdictCounts& counts, const profiler::CheckAccount& account) {
  context.console->note(fmt::format(
      "{}; {} lane instructions executed in {} ({}/s of one thread), {} references in {}", study::text(counts),
      with_commas(static_cast<std::int64_t>(account.lane_instructions)), humane_seconds(account.wall.value),
      three_figures(account.executing.value > 0 ? account.lane_instructions / account.executing.value : 0),
      account.references, humane_seconds(account.reference.value)));
}

/// Nothing when all passed.
void refuse_bad(const study::VerdictCounts& counts, std::size_t all) {
  if (counts.refuted > 0)
    throw Error(Fault::failed,
                counts.late == counts.refuted
                    ? fmt::format("{} of {} kernels took longer than --time-limit", counts.late, all)
                    : fmt::format("{} of {} kernels are not right", counts.refuted, all),
                "the answer says which and why; tailor emit prints the CUDA text of one");
  if (counts.not_executed > 0)
    throw Error(Fault::missing, fmt::format("{} of {} kernels could not be executed", counts.not_executed, all),
                "the answer says why");
  if (counts.not_judged > 0)
    throw Error(Fault::missing, fmt::format("{} of {} kernels ran and are not judged", counts.not_judged, all),
                "the answer says why");
}

void refuse_options(const CheckCommand& options) {
  if (options.shape != "whole" && options.shape != "small")
    throw Error(Fault::usage, fmt::format("--shape: found '{}', expected whole or small", options.shape));
  if (options.seeds < 1) throw Error(Fault::usage, "--seeds: found 0, expected at least one execution");
  if (!(options.time_limit > 0))
    throw Error(Fault::usage, fmt::format("--time-limit: found {}, expected seconds above 0", options.time_limit));
  if (!(options.memory > 0))
    throw Error(Fault::usage, fmt::format("--memory: found {}, expected GB above 0", options.memory));
  if (!options.plan.empty() && options.all_plans)
    throw Error(Fault::usage, "--plan names one plan, --all-plans asks for all", "leave one of them out");
}

}  // namespace

void run_check(const CheckCommand& options, const Context& context) {
  refuse_options(options);
  const profiler::FoundNvrtc nvrtc = study::find_compiler(options.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "check needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  const study::Watch watch = context.watch();
  study::FusedModel model(options.what, context.data, watch);
  const bool whole = options.plan.empty() && options.what.group.empty();
  std::vector<Candidate> candidates =
      study::choose_plans(model, {options.plan, options.all_plans ? 0 : options.top, whole}, watch);
  stop_if_asked(watch.stop);
  if (options.shape == "small") study::add_shapes(candidates, study::ShapeKind::small);
  study::compile(candidates,
                 {.api = nvrtc.api.get(),
                  .cache = cache_folder(options.cache),
                  .workers = static_cast<int>(options.threads),
                  .shapes = study::Shapes::executed},
                 watch);
  stop_if_asked(watch.stop);
  const profiler::CheckAccount account = study::check(candidates, make_checking(options), watch);
  context.console->finish();
  context.interrupts->let_store();
  if (!options.database.empty()) store_all(options, context, model, candidates);
  CommandOutput answer{"tailor.check/1", model.target.device.name, {}, ""};
  answer.sections.push_back({"kernels", study::verdict_table(candidates)});
  report::Table findings = study::finding_table(candidates);
  if (!findings.rows.empty() || context.format == Format::json)
    answer.sections.push_back({"findings", std::move(findings)});
  show(context, answer);
  const study::VerdictCounts counts = study::count_verdicts(candidates);
  print_summary(context, counts, account);
  stop_if_asked(watch.stop);
  refuse_bad(counts, candidates.size());
}

}  // namespace tailor::cli
