// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor import-xla: XLA's own kernels of a model, out of a dump folder: tied to their fusions, executed on the
// simulator, compared with the reference, counted, stored, and set beside our strategies. What stops one kernel is told
// in its row; the exit code says whether every kernel that was executed is right. On a GPU: import_xla_gpu.cpp.
#include "cli/import_xla.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/counted.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "profiler/check/check.h"
#include "study/module/xla_agreement.h"

namespace tailor::cli {

namespace {

using profiler::XlaOutcome;
using study::CheckedXla;

profiler::XlaCheckOptions check_options(const ImportXlaOptions& options, const std::optional<ir::Device>& device) {
  profiler::XlaCheckOptions how;
  how.seed = static_cast<std::uint64_t>(options.seed);
  how.seeds = options.seeds;
  how.most_elements = options.most_elements;
  how.sample_blocks = options.blocks;
  how.simulation.threads = options.threads > 0 ? static_cast<int>(options.threads)
                                               : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  how.simulation.sanitize = !options.no_sanitizers;
  how.simulation.count_cache = true;
  how.simulation.time_limit = {options.time_limit};
  if (device) how.simulation.machine = profiler::machine_limits(*device, 0);
  return how;
}

std::vector<CheckedXla> check_all(const profiler::XlaModule& module, const ImportXlaOptions& options,
                                  const std::optional<ir::Device>& device, const Context& context) {
  profiler::XlaCheckOptions how = check_options(options, device);
  how.simulation.stop = context.stop();
  const auto kernels = chosen_kernels(module, options.kernel);
  std::vector<CheckedXla> all;
  for (const profiler::XlaKernel* kernel : kernels) {
    if (!options.list)
      context.console->progress({"executing " + kernel->entry, std::ssize(all), std::ssize(kernels), {}});
    if (options.list)
      all.push_back({kernel, {}});
    else if (!done_unless_stopped([&] { all.push_back({kernel, profiler::check(module, *kernel, how)}); }))
      break;
  }
  context.console->finish();
  return all;
}

void show_agreement(const ImportXlaOptions& options, const Context& context) {
  const auto all =
      study::agreements(options.folder, options.module, options.device, context.data / "xla", context.stop());
  if (!options.save.empty()) write_whole(context, options.save, report::text(study::published(all, context.command)));
  CommandOutput answer{"tailor.import-xla/1", options.device, {{"agreement", study::agreement_table(all)}}, ""};
  answer.sections.push_back({"disagreements", study::disagreement_table(all)});
  if (context.format != Format::json && answer.sections.back().table.rows.empty()) answer.sections.pop_back();
  show(context, answer);
  if (const std::string failure = study::what_failed(all); !failure.empty()) throw Error(Fault::failed, failure);
}

/// What goes with what.
void refuse_options(const ImportXlaOptions& options) {
  if (!options.profiler.empty() && options.profiler != "gpu")
    throw Error(Fault::usage, fmt::format("--profiler: found '{}', expected gpu", options.profiler),
                "leave it out to execute on the simulator");
  if (!options.profiler.empty() && (options.list || options.compare))
    throw Error(Fault::usage, "--profiler gpu goes with neither --list nor --compare: they count on the simulator",
                "tailor profile --module --xla DIR sets times of strategies beside XLA's");
  if (options.profiler.empty() && !options.database.empty() && options.device.empty())
    throw Error(Fault::usage, "tailor import-xla --store needs --device: counters belong to a machine",
                "name the GPU the dump was made for, as --device h200");
  if (!options.database.empty() && options.list)
    throw Error(Fault::usage, "--list executes nothing, so there is nothing to --store", "leave one of them out");
  refuse_not_above_zero("--time-limit", options.time_limit, "seconds");
}

}  // namespace

std::vector<const profiler::XlaKernel*> chosen_kernels(const profiler::XlaModule& module, const std::string& name) {
  std::vector<const profiler::XlaKernel*> chosen;
  std::vector<std::string_view> known;
  for (const profiler::XlaKernel& kernel : module.kernels) {
    known.push_back(kernel.entry);
    if (name.empty() || kernel.entry == name) chosen.push_back(&kernel);
  }
  if (chosen.empty() && !name.empty())
    throw Error(Fault::usage, fmt::format("no kernel is called '{}'", name), suggestion(name, known));
  return chosen;
}

void note_stored(std::int64_t kernels, const profiler::XlaModule& module, const ImportXlaOptions& options,
                 const Context& context) {
  context.console->note(
      fmt::format("stored {} of {} in {}", counted(kernels, "kernel"), module.source.name, options.database));
}

void run_import_xla(const ImportXlaOptions& options, const Context& context) {
  const ThreadLimit limit(static_cast<int>(options.threads));
  if (options.agreement) return show_agreement(options, context);
  refuse_options(options);
  std::optional<study::Target> target;
  if (!options.device.empty())
    target = study::load_target(context.data, options.device, load_calibration(context, options.calibration));
  const std::vector<profiler::XlaSource> modules = profiler::xla_modules(options.folder);
  const profiler::XlaModule module =
      profiler::read_xla(profiler::choose_module(modules, options.module), context.stop());
  if (!module.unused_entries.empty())
    context.console->note(fmt::format("{} PTX entries are launched by nothing: {}{}", module.unused_entries.size(),
                                      module.unused_entries.front(), module.unused_entries.size() > 1 ? ", ..." : ""));
  if (!options.profiler.empty()) return import_xla_on_gpu(module, options, context);
  if (target)
    if (const std::string words = study::other_gpu_words(module.source, target->device); !words.empty())
      context.console->warning(words);
  const std::vector<CheckedXla> all =
      check_all(module, options, target ? std::optional(target->device) : std::nullopt, context);

  CommandOutput answer{"tailor.import-xla/1", options.device, {}, ""};
  answer.sections.push_back({"kernels", study::xla_kernel_table(all, !options.list)});
  if (!options.list) answer.sections.push_back({"outcomes", study::xla_outcome_table(all)});
  if (!module.others.empty()) answer.sections.push_back({"others", study::xla_other_table(module)});
  const bool stopped = context.stop().stop_requested();
  if (options.compare && !stopped)
    answer.sections.push_back(
        {"comparison", study::xla_comparison(module, all, target, !options.list, context.watch())});
  if (stopped) context.interrupts->let_store();
  if (!options.database.empty())
    note_stored(study::store_xla(module, all, *target, {options.database, context.command, options.seed}), module,
                options, context);
  show(context, answer);
  if (stopped) stop_if_asked(context.stop());
  if (options.list) return;
  const auto came_out = [&all](XlaOutcome as) {
    return std::ranges::count(all, as, [](const CheckedXla& row) { return row.check.outcome; });
  };
  if (const auto wrong = came_out(XlaOutcome::differs) + came_out(XlaOutcome::findings); wrong > 0)
    throw Error(Fault::failed,
                fmt::format("{} of {} {} not what the reference says", wrong, counted(all.size(), "kernel"),
                            wrong == 1 ? "is" : "are"),
                "see their rows");
  if (all.empty()) throw Error(Fault::missing, "the module launches no kernel, so nothing was judged");
  if (const auto matched = came_out(XlaOutcome::matched); matched < std::ssize(all))
    throw Error(Fault::missing,
                fmt::format("{} of {} matched, {} were not executed or not compared", matched,
                            counted(all.size(), "kernel"), std::ssize(all) - matched),
                "their rows say why");
}

}  // namespace tailor::cli
