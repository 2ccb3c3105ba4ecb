// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor import-xla --profiler gpu: every kernel checked and timed alone, then, when asked, all of them in the
// module's order. Whatever a kernel does costs that kernel only. In: a module read from a dump. Out: tables on stdout,
// rows where a database was named. Called by import_xla.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/error.h"
#include "base/stop.h"
#include "cli/import_xla.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/pipeline/gpu_access.h"
#include "study/pipeline/measurer.h"

namespace tailor::cli {

namespace {

using study::MeasuredXla;
using study::MeasuredXlaModule;

profiler::MeasureOptions make_options(const ImportXlaOptions& options, const ir::Device& device,
                                      const study::Watch& watch) {
  study::MeasureWords words;
  words.cache_states = options.cache_states;
  words.timed_by = options.timed_by;
  words.stop_rule = options.stop_rule;
  words.counters = "none";
  words.seed = options.seed;
  words.time_limit = options.time_limit;
  return study::measure_options(words, device, watch);
}

MeasuredXlaModule measure_all(profiler::Worker& worker, const profiler::XlaModule& module,
                              const ImportXlaOptions& options, const profiler::MeasureOptions& how,
                              const Context& context) {
  MeasuredXlaModule all;
  const auto kernels = chosen_kernels(module, options.kernel);
  for (const profiler::XlaKernel* kernel : kernels) {
    if (context.stop().stop_requested()) break;
    context.console->progress({"measuring " + kernel->entry,
                               static_cast<std::int64_t>(all.kernels.size()),
                               static_cast<std::int64_t>(kernels.size()),
                               {}});
    all.kernels.push_back({kernel, profiler::measure_xla(worker, module, *kernel, options.most_elements, how)});
  }
  if (options.module_times && !context.stop().stop_requested()) {
    context.console->progress({"timing the whole module", 0, 0, {}});
    all.sequence = profiler::module_sequence(module, how.seed);
    profiler::Worker untraced(study::worker_setup(options.gpu, gpu::Use::events, context.stop()));
    all.times = profiler::measure_xla_module(untraced, *all.sequence, how);
  }
  context.console->finish();
  return all;
}

/// After all is shown.
void refuse_bad(const MeasuredXlaModule& all) {
  const auto is_refuted = [](const MeasuredXla& row) {
    return !row.found.left_out && ir::is_refuted(row.found.result.outcome);
  };
  const auto refuted = std::count_if(all.kernels.begin(), all.kernels.end(), is_refuted);
  if (refuted > 0)
    throw Error(Fault::failed,
                fmt::format("{} of {} did what no right kernel does", refuted, counted(all.kernels.size(), "kernel")),
                "their rows say what");
  const auto timed = std::count_if(all.kernels.begin(), all.kernels.end(), [](const MeasuredXla& row) {
    return !row.found.left_out && row.found.result.outcome == ir::Outcome::ok;
  });
  if (timed < std::ssize(all.kernels))
    throw Error(
        Fault::missing,
        fmt::format("{} of {} {} timed", timed, counted(all.kernels.size(), "kernel"), timed == 1 ? "was" : "were"),
        "their rows say why the others were not");
  for (const ir::Measurement& measured : all.times)
    if (measured.outcome != ir::Outcome::ok)
      throw Error(ir::is_refuted(measured.outcome) ? Fault::failed : Fault::missing,
                  "the whole module was not timed: " + measured.reason);
}

}  // namespace

void import_xla_on_gpu(const profiler::XlaModule& module, const ImportXlaOptions& options, const Context& context) {
  const study::Watch watch = context.watch();
  profiler::Worker worker(study::worker_setup(options.gpu, study::use_for(options.timed_by), watch.stop));
  const std::string name = options.device.empty() ? study::device_of_gpu(worker, context.data) : options.device;
  const study::Target target = study::load_target(context.data, name, load_calibration(context, "uncalibrated"));
  const profiler::MeasureOptions how = make_options(options, target.device, watch);
  study::require_gpu(worker, target.device);
  const MeasuredXlaModule all = measure_all(worker, module, options, how, context);
  CommandOutput answer{"tailor.import-xla/1", target.device.name, {}, ""};
  answer.sections.push_back({"kernels", study::xla_measured_table(all.kernels, how)});
  answer.sections.push_back({"outcomes", study::xla_outcome_table(all.kernels)});
  answer.sections.push_back({"sum", study::xla_sum_table(module, all.kernels, how)});
  if (!module.others.empty()) answer.sections.push_back({"others", study::xla_other_table(module)});
  if (all.sequence) answer.sections.push_back({"module", study::xla_module_table(all)});
  context.interrupts->let_store();
  if (!options.database.empty())
    note_stored(study::store_xla(module, all, target, {options.database, context.command, options.seed}), module,
                options, context);
  show(context, answer);
  stop_if_asked(watch.stop);
  refuse_bad(all);
}

}  // namespace tailor::cli
