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
  how.each.may_shrink = options.shape == "whole";
  how.each.time_limit = {options.time_limit};
  how.seeds = static_cast<int>(options.seeds);
  how.workers = static_cast<int>(options.threads);
  how.memory = static_cast<std::int64_t>(options.memory * 1e9);
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

/// What is known so far; `finished_only` while candidates are still worked on, or never will be.
CommandOutput answer_of(const Context& context, const study::FusedModel& model, std::span<const Candidate> candidates,
                        std::span<const study::Unplanned> unplanned, bool finished_only) {
  CommandOutput answer{"tailor.check/1", model.target.device.name, {}, "", finished_only};
  const study::VerdictRows rows{finished_only, context.format == Format::table};
  answer.sections.push_back({"kernels", study::verdict_table(candidates, unplanned, rows)});
  report::Table findings = study::finding_table(candidates);
  if (!findings.rows.empty() || context.format == Format::json)
    answer.sections.push_back({"findings", std::move(findings)});
  return answer;
}

std::string interrupted_text(std::span<const Candidate> candidates) {
  const study::VerdictCounts counts = study::count_verdicts(candidates);
  return fmt::format("interrupted: {} of {} checked", counts.finished, counts.all);
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
  std::vector<study::Unplanned> unplanned;
  std::vector<Candidate> candidates =
      study::choose_plans(model, {options.plan, options.all_plans ? 0 : options.top, whole}, watch, &unplanned);
  stop_if_asked(watch.stop);
  if (options.shape == "small") study::add_shapes(candidates, study::ShapeKind::small);
  std::mutex reading, storing;
  std::size_t stored = 0;
  std::optional<study::Recorder> recorder;
  study::Checking how = make_checking(options);
  how.reading = &reading;
  context.interrupts->set_last_words([&] {
    const std::scoped_lock lock(reading);
    show(context, answer_of(context, model, candidates, unplanned, true));
    if (const std::unique_lock mine(storing, std::try_to_lock); mine) {
      store_part(options, context, model, std::span(candidates).subspan(stored), true, recorder);
      if (recorder) recorder->close("interrupted");
    }
    return interrupted_text(candidates);
  });
  const profiler::CheckAccount account = study::check_in_parts(
      candidates,
      {.api = nvrtc.api.get(),
       .cache = cache_folder(options.cache),
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
  show(context, answer_of(context, model, candidates, unplanned, watch.stopped()));
  if (watch.stopped()) throw Error(Fault::interrupted, interrupted_text(candidates));
  const study::VerdictCounts counts = study::count_verdicts(candidates);
  if (!candidates.empty())
    context.console->note(fmt::format("{}; {}", study::text(counts, unplanned.size()), study::text(account)));
  if (const std::optional<Error> fault = study::fault_of(counts, unplanned.size())) throw *fault;
}

}  // namespace tailor::cli
