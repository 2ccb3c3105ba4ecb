// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor microbench: what a GPU's ceilings are: how fast it copies, what a launch and a barrier cost, how much must be
// under way to fill its memory. Measured like any kernel: in a worker, outputs checked, raw samples stored. In:
// families, sizes, a device. Out: a table on stdout, rows where a database was named.
#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/error.h"
#include "base/stop.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/pipeline/gpu_access.h"
#include "study/pipeline/microbench_run.h"
#include "study/tables/bench_table.h"

namespace tailor::cli {

namespace {

using study::BenchItem;

/// Throws when some gave no answer: that a record lacks one is no failure, but something is missing.
void refuse_unanswered(const std::vector<BenchItem>& items) {
  std::int64_t failed = 0, missing = 0;
  const BenchItem* first = nullptr;
  for (const BenchItem& item : items) {
    if (item.measured.outcome == ir::Outcome::ok) continue;
    ++(item.measured.outcome == ir::Outcome::not_recorded ? missing : failed);
    if (first == nullptr) first = &item;
  }
  if (failed > 0)
    throw Error(Fault::failed, fmt::format("{} of {} microbenchmarks gave no answer", failed, items.size()),
                "the answer says which and why");
  if (missing > 0)
    throw Error(Fault::missing,
                fmt::format("{} of {} {} not recorded; the answer has the others. {}: {}", missing,
                            counted(items.size(), "microbenchmark"), missing == 1 ? "is" : "are", first->bench.name,
                            first->measured.reason),
                "--profiler gpu measures it");
}

study::MeasureWords measure_words(const MicrobenchCommand& options) {
  study::MeasureWords words;
  words.recorded = options.recorded;
  words.timed_by = options.timed_by;
  words.stop_rule = options.stop_rule;
  words.counters = "none";
  words.image = options.image;
  words.time_limit = options.time_limit;
  return words;
}

}  // namespace

void run_microbench(const MicrobenchCommand& options, const Context& context) {
  const study::Target target =
      study::load_target(context.data, options.device, load_calibration(context, "uncalibrated"));
  const ir::Device& device = target.device;
  std::vector<BenchItem> items = study::wanted_benches(options.families, options.most_bytes, device);
  if (options.profiler != "gpu" && options.profiler != "replay")
    throw Error(Fault::usage, fmt::format("--profiler: found '{}', expected gpu or replay", options.profiler));
  const study::MeasureWords words = measure_words(options);
  if (options.profiler == "replay") {
    study::replay_benches(items, words, context.data, device);
    show(context, {"tailor.microbench/1", device.name, {{"microbenchmarks", study::bench_table(items)}}, ""});
    return refuse_unanswered(items);
  }
  const profiler::FoundNvrtc nvrtc = study::find_compiler(options.compiler.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "microbench needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  const study::Watch watch = context.watch();
  const profiler::MeasureOptions how = study::measure_options(words, device, watch);
  const auto worker_for = [&](gpu::Use use) { return study::worker_setup(options.gpu, use, watch.stop); };
  profiler::Worker worker(worker_for(study::use_for(options.timed_by))), untraced(worker_for(gpu::Use::events));
  if (!options.compile_only) study::require_gpu(worker, device);
  study::compile_benches(items, device.arch,
                         {.api = nvrtc.api.get(),
                          .cache = cache_folder(options.cache),
                          .compiler = study::compiler_setup(options.compiler)},
                         watch);
  if (options.compile_only) {
    context.console->finish();
    stop_if_asked(watch.stop);
    const auto failed = std::count_if(items.begin(), items.end(), [](const BenchItem& item) {
      return !item.binary || item.binary->outcome != ir::CompileOutcome::ok;
    });
    const std::string verdict =
        fmt::format("{} of {} texts compiled for {}", std::ssize(items) - failed, items.size(), device.arch);
    context.console->note(verdict);
    if (failed > 0 || context.format != Format::table)
      show(context, {"tailor.microbench/1", device.name, {{"compiled", study::compiled_bench_table(items)}}, ""});
    if (failed > 0) throw Error(Fault::failed, verdict, "the answer says which do not, and why");
    return;
  }
  study::run_benches(items, worker, untraced, how, watch);
  context.console->finish();
  context.interrupts->let_store();
  if (!options.database.empty()) {
    study::store_benches(options.database, context.command, target, items, worker.opened());
    context.console->note(fmt::format("stored in {}", options.database));
  }
  show(context, {"tailor.microbench/1", device.name, {{"microbenchmarks", study::bench_table(items)}}, ""});
  stop_if_asked(watch.stop);
  refuse_unanswered(items);
}

}  // namespace tailor::cli
