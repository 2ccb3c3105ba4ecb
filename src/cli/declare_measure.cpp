// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of the commands that measure, keep and tell.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/declare.h"

namespace tailor::cli {

void declare(CLI::App& app, ImportXlaOptions& options) {
  app.add_option("DIR", options.folder, "a folder with XLA's dump (tools/xla-dump makes one), or one of its files");
  app.add_option("--module", options.module, "which module, when there are several")->type_name("NAME");
  app.add_option("--kernel", options.kernel, "only the kernel with this entry")->type_name("ENTRY");
  app.add_option("--device", options.device, "the GPU that is simulated, or that measures (default then: found)")
      ->type_name("NAME");
  app.add_flag("--list", options.list, "tie kernels to fusions, execute none");
  app.add_flag("--compare", options.compare, "beside it what our strategies launch and move; counts with --device");
  app.add_option("--store", options.database, "also store verdicts and counters in this database")->type_name("DB");
  add_count(app, "--seed", options.seed, "of inputs and schedule (default 1)");
  add_count(app, "--max-elements", options.most_elements,
            "leave out kernels that compute more elements, 0 for none (default 268435456)");
  app.add_option("--time-limit", options.time_limit, "give up one execution after so long (default 60)")
      ->type_name("S");
  app.add_flag("--no-sanitizers", options.no_sanitizers, "look for no races and uninitialised reads");
  add_count(app, "--threads", options.threads, "threads (default 0: one per processor)");
  CLI::Option* measure =
      app.add_option("--profiler", options.profiler, "gpu: run, check and time them there (default: the simulator)")
          ->type_name("NAME");
  app.add_option("--cache-state", options.cache_states, "cold, warm, produced; several with commas (default cold)")
      ->type_name("STATE,...")
      ->needs(measure);
  app.add_option("--timed-by", options.timed_by, "auto, activity or events (default auto)")
      ->type_name("WHO")
      ->needs(measure);
  app.add_option("--stop", options.stop_rule, "when a time is known well enough (default standard)")
      ->type_name("RULE")
      ->needs(measure);
  app.add_flag("--module-times", options.module_times, "also time all kernels in order, as a stream and as a graph")
      ->needs(measure);
  declare_gpu(app, options.gpu);
}

void declare(CLI::App& app, ProfileCommand& options) {
  declare_group(app, options.what);
  app.add_option("--plan", options.plan, "only this one: a plan's text, or its rank in tailor explore")
      ->type_name("TEXT|N");
  add_count(app, "--top", options.top, "plans of each group, 0 for all (default 4)");
  app.add_flag("--all-plans", options.all_plans, "every plan of each group, as --top 0");
  app.add_option("--profiler", options.profiler, "gpu, or replay: answer from records (tailor list profilers)")
      ->type_name("NAME");
  app.add_option("--recorded", options.recorded, "of replay: a recorded file or a database (default data/recorded)")
      ->type_name("FILE");
  app.add_option("--cache-state", options.cache_states, "cold, warm, produced; several with commas (default cold)")
      ->type_name("STATE,...");
  app.add_option("--timed-by", options.timed_by, "auto, activity or events (default auto)")->type_name("WHO");
  app.add_flag("--graph", options.graph, "launch as a CUDA graph");
  app.add_option("--stop", options.stop_rule, "when a time is known well enough (default standard)")->type_name("RULE");
  app.add_option("--counters", options.counters, "highest tier, names, or none (default 0; tailor counters)")
      ->type_name("N|NAME,...");
  add_count(app, "--seed", options.seed, "of inputs and orders (default 1)");
  add_count(app, "--checks", options.checks, "runs that are compared with the reference (default 1)");
  app.add_flag("--no-odd-shape", options.no_odd_shape, "do not check each plan at an odd shape too");
  app.add_option("--time-limit", options.time_limit, "kill a kernel after so long (default 10)")->type_name("S");
  app.add_option("--image", options.image, "load cubin, or ptx that the driver compiles (default cubin)")
      ->type_name("FORM");
  CLI::Option* module =
      app.add_flag("--module", options.module, "time the whole model under several strategies, in turns");
  app.add_option("--strategies", options.strategies, "of --module, the first is the baseline (default all)")
      ->type_name("NAME,...")
      ->needs(module);
  add_count(app, "--rounds", options.rounds, "of --module: samples of each strategy (default 30)")->needs(module);
  app.add_option("--xla", options.xla,
                 "of --module: XLA's own kernels, out of its dump of the model, in turn with ours")
      ->type_name("DIR")
      ->needs(module);
  app.add_option("--store", options.database, "also store in this database, group by group")->type_name("DB");
  declare_gpu(app, options.gpu);
  add_count(app, "--threads", options.threads, "of compiling (default 0: one per processor)");
  app.add_option("--cache", options.cache, "folder of compiled kernels (default ~/.cache/tailor)")->type_name("DIR");
  app.add_option("--nvrtc", options.nvrtc, nvrtc_words)->type_name("FILE");
}

void declare(CLI::App& app, MicrobenchCommand& options) {
  app.add_option("--device", options.device, "the GPU: a name (tailor devices) or a file")->type_name("NAME");
  app.add_option("--only", options.families, "these families; several with commas (default all)")
      ->type_name("NAME,...");
  add_count(app, "--max-bytes", options.most_bytes, "leave out larger arrays (default 0: none)");
  app.add_option("--profiler", options.profiler, "gpu, or replay: answer from records")->type_name("NAME");
  app.add_option("--recorded", options.recorded, "of replay: a recorded file or a database (default data/recorded)")
      ->type_name("FILE");
  app.add_flag("--compile-only", options.compile_only, "fill the cache of compiled kernels, measure nothing");
  app.add_option("--timed-by", options.timed_by, "auto, activity or events (default auto)")->type_name("WHO");
  app.add_option("--stop", options.stop_rule, "when a time is known well enough (default standard)")->type_name("RULE");
  app.add_option("--image", options.image, "load cubin, or ptx that the driver compiles (default cubin)")
      ->type_name("FORM");
  app.add_option("--time-limit", options.time_limit, "kill a kernel after so long (default 20)")->type_name("S");
  app.add_option("--store", options.database, "also store in this database")->type_name("DB");
  declare_gpu(app, options.gpu);
  app.add_option("--cache", options.cache, "folder of compiled kernels (default ~/.cache/tailor)")->type_name("DIR");
  app.add_option("--nvrtc", options.nvrtc, nvrtc_words)->type_name("FILE");
}

void declare(CLI::App& app, DevicesOptions& options) {
  app.add_option("NAME", options.name, "show every figure of this one, with unit and source");
  app.add_option("--calibration", options.calibration, "whose figures of its behaviour (default uncalibrated)")
      ->type_name("NAME|FILE");
}

void declare(CLI::App& app, CountersOptions& options) {
  CLI::Option* chip = app.add_option("--chip", options.chip, "as CUPTI calls it: GH100")->type_name("NAME");
  CLI::Option* device = app.add_option("--device", options.device, "the chip of this GPU")->type_name("NAME");
  CLI::Option* counters =
      app.add_option("--counter", options.counters, "only these, also CUPTI's own metrics; may be repeated")
          ->type_name("NAME,NAME")
          ->allow_extra_args(false)
          ->delimiter(',');
  CLI::Option* tier = add_count(app, "--tier", options.tier, "only up to this tier, from 0 (cheap) to 3 (default 3)");
  CLI::Option* chips = app.add_flag("--chips", options.chips, "list the chips that CUPTI knows");
  app.add_option("--cupti", options.cupti, "the CUPTI library to load (default: found, see tailor doctor)")
      ->type_name("FILE");
  chip->excludes(device)->excludes(chips);
  counters->excludes(tier)->excludes(chips);
  chips->excludes(device)->excludes(tier);
}

void declare(CLI::App& app, ListOptions& options) {
  app.add_option("TABLE", options.what,
                 "ops, dtypes, strategies, models, rules, axes, passes, profilers, stop-rules, devices or commands");
}

void declare(CLI::App& app, SweepCommand& options) {
  app.add_option("CONFIG", options.config, "the sweep's file: what to compare, on what (experiments/README.md)");
  app.add_option("--db", options.database, "store in this database instead of the file's")->type_name("FILE");
  app.add_option("--calibration", options.calibration, "numbers of the models instead of the file's")
      ->type_name("NAME|FILE");
  app.add_flag("--no-compile", options.no_compile, "stop after scoring");
  app.add_flag("--no-check", options.no_check, "execute nothing on the simulator");
  app.add_option("--profiler", options.profiler, "also measure: gpu, or replay from records (default: do not)")
      ->type_name("NAME");
  app.add_option("--recorded", options.recorded, "of replay: a recorded file or a database (default data/recorded)")
      ->type_name("FILE");
  app.add_option("--image", options.image, "load cubin, or ptx that the driver compiles (default cubin)")
      ->type_name("FORM");
  app.add_option("--time-limit", options.time_limit, "kill a kernel on the GPU after so long (default 10)")
      ->type_name("S");
  declare_gpu(app, options.gpu);
  app.add_option("--cache", options.cache, "folder of compiled kernels (default ~/.cache/tailor)")->type_name("DIR");
  app.add_option("--nvrtc", options.nvrtc, nvrtc_words)->type_name("FILE");
  add_count(app, "--workers", options.workers, "threads (default 0: one per processor)");
}

void declare(CLI::App& app, ReportCommand& options) {
  app.add_option("DB", options.database, "the database of a sweep");
  app.add_option("--model", options.model, "only this model")->type_name("NAME");
  app.add_option("--device", options.device, "only this GPU")->type_name("NAME");
  app.add_option("--strategy", options.strategy, "show this one's groups (default: the fastest)")->type_name("NAME");
  app.add_option("--baseline", options.baseline, "compare with this one (default: the sweep's)")->type_name("NAME");
  app.add_option("--folder", options.folder, "write report.md and report.html there")->type_name("DIR");
  add_count(app, "--top", options.top, "rows and plans to show, 0 for all (default 10)");
}

void declare(CLI::App& app, DbCommand& options) {
  app.add_option("ACTION", options.action, "info, check, dump, merge, export or import");
  app.add_option("DB", options.database, "the database; of import the recorded file, its database after it");
  app.add_option("FROM", options.from, "databases to merge into it");
  CLI::Option* recorded =
      app.add_option("--recorded", options.recorded, "of export: write measurements to a file that import reads")
          ->type_name("FILE");
  app.add_option("--out", options.folder, "of export: write --format kernel-tuner, t4, nvbench or csv files there")
      ->type_name("DIR")
      ->excludes(recorded);
  app.add_option("--device", options.device, "of export: only this GPU's measurements")->type_name("NAME");
  app.add_option("--group", options.group, "of export --out: only this group, by the beginning of its id")
      ->type_name("ID");
}

void declare(CLI::App& app, DoctorOptions& options) {
  declare_gpu(app, options.gpu);
  app.add_option("--nvrtc", options.nvrtc, nvrtc_words)->type_name("FILE");
}

}  // namespace tailor::cli
