// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor check: choose plans, compile them, execute them on the simulator, say what was found. In: a model, a device,
// a group and how many plans. Out: tables on stdout, rows where a database was named, as groups finish. Verdicts are an
// answer like any other; the exit code says whether all of them are good. An interrupt shows those that were reached.
// Called by main's table of commands.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/counted.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/module/evaluate_model.h"
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
  how.each.may_shrink = options.shape == "whole";
  how.each.time_limit = {options.time_limit};
  how.seeds = static_cast<int>(options.seeds);
  how.workers = static_cast<int>(options.threads);
  how.memory = whole_count(options.memory * 1e9);
  return how;
}

/// What explore and the compiler know is stored with the verdicts, so that the database stands for itself.
void store_part(const CheckCommand& options, const Context& context, const study::FusedModel& model,
                std::span<const Candidate> part, bool finished_only, std::optional<study::Recorder>& recorder) {
  const auto first =
      std::find_if(part.begin(), part.end(), [](const Candidate& one) { return one.verdict.has_value(); });
  if (options.database.empty() || (finished_only && first == part.end())) return;
  context.interrupts->let_store();
  if (!recorder) {
    const std::string toolchain = first == part.end() ? "none" : first->executed_binary()->compiler;
    recorder.emplace(options.database, study::begun_run(context.command, toolchain, options.seed, ""));
    recorder->save(model.target);
  }
  recorder->save_checks(part, make_checking(options), finished_only);
  context.interrupts->stored();
}

std::string interrupted_text(std::span<const Candidate> candidates) {
  const study::VerdictCounts counts = study::count_verdicts(candidates);
  return fmt::format("interrupted: {} of {} checked", counts.finished, counts.all);
}

/// What was asked, and what is there to answer with.
struct Checked {
  const CheckCommand& options;
  const study::FusedModel& model;
  std::vector<Candidate> candidates;
  std::vector<study::Unplanned> unplanned;
  std::optional<study::EvaluatedModel> evaluated;  ///< on the arrays that were given
};

/// What the command ends with: what is wrong comes before what could not be judged, of kernels before arrays.
std::optional<Error> fault_of(const Checked& all) {
  std::optional<Error> fault = study::fault_of(study::count_verdicts(all.candidates), all.unplanned.size());
  if (fault && all.candidates.empty() && all.unplanned.size() == 1) {
    const std::string& why = all.unplanned.front().why;
    if (!all.options.plan.empty()) return Error(Fault::failed, "no kernel has the plan that was asked for: " + why);
    fault->hint = why;
  }
  if ((fault && fault->fault == Fault::failed) || !all.evaluated) return fault;
  std::optional<Error> of_arrays = study::fault_of(*all.evaluated);
  return !fault || (of_arrays && of_arrays->fault == Fault::failed) ? of_arrays : fault;
}

/// What is known so far; `finished_only` while candidates are still worked on, or never will be.
CommandOutput answer_of(const Context& context, const Checked& all, bool finished_only) {
  CommandOutput answer{"tailor.check/1", all.model.target.device.name, {}, "", finished_only};
  const bool for_person = context.format == Format::table || context.format == Format::md;
  const study::VerdictCounts counts = study::count_verdicts(all.candidates);
  answer.verdict = finished_only ? interrupted_text(all.candidates) : study::verdict_text(counts, all.unplanned.size());
  if (all.evaluated && !study::text_of_held(*all.evaluated).empty())
    answer.verdict += "; " + study::text_of_held(*all.evaluated);
  const study::VerdictRows rows{finished_only, for_person, !for_person || all.options.passed,
                                all.evaluated ? &all.evaluated->groups : nullptr};
  const std::span<const Candidate> candidates = all.candidates;
  answer.sections.push_back({"kernels", study::verdict_table(candidates, all.unplanned, rows)});
  report::Table findings = study::finding_table(candidates);
  if (!findings.rows.empty() || context.format == Format::json)
    answer.sections.push_back({"findings", std::move(findings)});
  if (all.evaluated && (!for_person || study::fault_of(*all.evaluated)))
    answer.sections.push_back({"arrays", study::array_table(*all.evaluated, {})});
  answer.sections.push_back({"verdict", study::verdict_count_table(counts, all.unplanned.size(), fault_of(all)), true});
  return answer;
}

void refuse_options(const CheckCommand& options) {
  if (options.shape != "whole" && options.shape != "small")
    throw Error(Fault::usage, fmt::format("--shape: found '{}', expected whole or small", options.shape));
  if (options.seeds < 1) throw Error(Fault::usage, "--seeds: found 0, expected at least one execution");
  refuse_not_above_zero("--time-limit", options.time_limit, "seconds");
  refuse_not_above_zero("--memory", options.memory, "GB");
  refuse_not_above_zero("--scale", options.scale, "a number");
  if (options.scale != 1 && options.inputs.empty() && options.outputs.empty())
    throw Error(Fault::usage, "found --scale without --inputs or --expect, expected both or neither",
                "it multiplies what is drawn beside the given arrays");
}

study::EvaluatedModel evaluated_as_given(const CheckCommand& options, const study::FusedModel& model,
                                         const study::Watch& watch) {
  return study::evaluate_model(model.graph,
                               {options.inputs, options.outputs, static_cast<std::uint64_t>(options.seed),
                                whole_count(options.memory * 1e9), options.scale},
                               watch.stop, &model.partition);
}

}  // namespace

void run_check(const CheckCommand& options, const Context& context) {
  const ThreadLimit limit(static_cast<int>(options.threads));
  refuse_options(options);
  const profiler::FoundNvrtc nvrtc = study::find_compiler(options.compiler.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "check needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  const profiler::CompilerSetup compiler = study::compiler_setup(options.compiler);
  const study::Watch watch = context.watch();
  study::FusedModel model(options.what, context.data, watch);
  Checked all{options, model, {}, {}, {}};
  if (!options.inputs.empty() || !options.outputs.empty()) all.evaluated = evaluated_as_given(options, model, watch);
  const bool whole = options.plan.empty() && options.what.group.empty();
  all.candidates =
      study::choose_plans(model, {options.plan, options.all_plans ? 0 : options.top, whole}, watch, &all.unplanned);
  stop_if_asked(watch.stop);
  if (options.shape == "small") study::add_shapes(all.candidates, study::ShapeKind::small);
  for (const std::string& words : study::executed_whole(all.candidates, options.shape == "small", options.blocks))
    context.console->note(words);
  std::mutex reading, storing;
  std::size_t stored = 0;
  std::optional<study::Recorder> recorder;
  study::Checking how = make_checking(options);
  how.reading = &reading;
  if (all.evaluated) how.given = &all.evaluated->groups;
  context.interrupts->set_last_words([&] {
    const std::scoped_lock lock(reading);
    show(context, answer_of(context, all, true));
    if (const std::unique_lock mine(storing, std::try_to_lock); mine) {
      store_part(options, context, model, std::span(all.candidates).subspan(stored), true, recorder);
      if (recorder) recorder->close("interrupted");
    }
    return interrupted_text(all.candidates);
  });
  const profiler::CheckAccount account = study::check_in_parts(
      all.candidates,
      {.api = nvrtc.api.get(),
       .cache = cache_folder(options.cache),
       .compiler = compiler,
       .workers = static_cast<int>(options.threads),
       .shapes = study::Shapes::executed},
      how,
      [&](std::span<Candidate> part) {
        const std::scoped_lock lock(storing);
        store_part(options, context, model, part, false, recorder);
        stored += part.size();
      },
      watch);
  context.interrupts->let_store();
  context.interrupts->set_last_words({});
  context.console->finish();
  if (recorder) recorder->close(watch.stopped() ? "interrupted" : "done");
  if (recorder) context.console->note(fmt::format("stored in {}", options.database));
  show(context, answer_of(context, all, watch.stopped()));
  if (watch.stopped()) throw Error(Fault::interrupted, interrupted_text(all.candidates));
  if (!all.candidates.empty()) context.console->note(study::text(account));
  if (const std::optional<Error> fault = fault_of(all)) throw *fault;
}

}  // namespace tailor::cli
