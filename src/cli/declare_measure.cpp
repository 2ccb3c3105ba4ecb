// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of the commands that measure, keep and tell; those of the commands that plan are in declare.cpp. In: a list
// to fill and the struct that the words go to. Out: the list, with a sentence of help for each option. Called by the
// table of commands for the command that was named.
#include "cli/declare.h"

#include <algorithm>

namespace tailor::cli {

void declare(OptionList& list, ImportXlaOptions& options) {
  list.add("DIR", &options.folder, "a folder with XLA's dump (tools/xla-dump makes one), or one of its files");
  list.add("--module", &options.module, "which module, when there are several", "NAME");
  list.add("--kernel", &options.kernel, "only the kernel with this entry", "ENTRY");
  list.add("--device", &options.device, "the GPU that is simulated, or that measures (default then: found)", "NAME");
  list.add("--list", &options.list, "say which kernel belongs to which fusion, execute none");
  list.add("--compare", &options.compare, "also what our strategies launch and move; with --device also counts");
  list.add("--agreement", &options.agreement, "how far xla-priority and xla-model agree with what XLA did").excludes =
      "--compare,--list,--profiler,--store,--kernel";
  list.add("--save", &options.save, "also write these scores to a file, which comparisons show", "FILE").needs =
      "--agreement";
  list.add("--calibration", &options.calibration, "of --compare: numbers that choose our plans (default uncalibrated)",
           "NAME|FILE")
      .needs = "--compare";
  list.add("--store", &options.database, "also store verdicts and counters in this database", "DB");
  list.add_count("--seed", &options.seed, "of inputs and schedule (default 1)");
  list.add_count("--seeds", &options.seeds, "so many of each, up to the first that does not match (default 1)").most =
      most_seeds;
  list.add_count("--max-elements", &options.most_elements,
                 "leave out kernels that compute more elements, 0 for none (default 268435456)");
  list.add_count("--blocks", &options.blocks, "of such kernels execute a sample of about so many blocks (default 0)");
  list.add("--time-limit", &options.time_limit, "give up one execution after so long (default 60)", "S");
  list.add("--no-sanitizers", &options.no_sanitizers, "do not look for races and uninitialised reads");
  list.add_count("--threads", &options.threads, "threads (default 0: one per processor)").most = most_threads;
  list.add("--profiler", &options.profiler, "gpu: run, check and time them there (default: the simulator)", "NAME");
  list.add_list("--cache-state", &options.cache_states, "cold, warm, produced, dirty (default cold)", "STATE,...")
      .needs = "--profiler";
  list.add("--timed-by", &options.timed_by, "who times: activity (CUPTI's records), events, or auto (default auto)",
           "WHO")
      .needs = "--profiler";
  list.add("--stop", &options.stop_rule, "when to stop sampling: a rule of tailor list stop-rules (default standard)",
           "RULE")
      .needs = "--profiler";
  list.add("--module-times", &options.module_times, "also time all kernels in order, as a stream and as a graph")
      .needs = "--profiler";
  declare_gpu(list, options.gpu);
}

void declare(OptionList& list, ProfileCommand& options) {
  declare_group(list, options.what);
  const auto strategy = std::find_if(list.options.begin(), list.options.end(),
                                     [](const Option& option) { return option.names == "--strategy"; });
  strategy->is_list = true;
  strategy->value = "NAME,...";
  strategy->what += "; with --module several, the baseline first (default then all), NAME:xla with XLA's plans";
  options.what.strategy.clear();
  list.section = "which plans";
  list.add("--plan", &options.plan, "only this one: a plan's text, its rank in tailor explore, or xla", "TEXT|N|xla")
      .excludes = "--top,--all-plans,--random,--consider,--module";
  list.add_count("--top", &options.top, "plans of each group, 0 for all (default 4)");
  list.add("--all-plans", &options.all_plans, "every plan of each group, as --top 0");
  list.add_count("--consider", &options.consider,
                 "compile so many of each group, run the --top that are best by their machine code (default: --top)");
  list.add_count("--random", &options.random, "more of each group, from equal stretches of the ranking (default 0)");
  list.section = "who measures";
  list.add("--profiler", &options.profiler, "gpu, or replay: answer from records (tailor list profilers)", "NAME");
  list.add("--recorded", &options.recorded, "of replay: a recorded file or a database (default data/recorded)", "FILE");
  declare_gpu(list, options.gpu);
  list.section = "how plans are measured";
  list.add_list("--cache-state", &options.cache_states, "cold, warm, produced, dirty (default cold)", "STATE,...");
  list.add("--timed-by", &options.timed_by, "who times: activity (CUPTI's records), events, or auto (default auto)",
           "WHO");
  list.add("--graph", &options.graph, "launch as a CUDA graph");
  list.add("--stop", &options.stop_rule, "when to stop sampling: a rule of tailor list stop-rules (default standard)",
           "RULE");
  list.add_list("--counters", &options.counters, "highest tier, names, or none (default 0; tailor counters)",
                "N|NAME,...");
  list.add_count("--seed", &options.seed, "of inputs and orders (default 1)");
  list.add("--time-limit", &options.time_limit, "kill a kernel after so long (default 10)", "S");
  list.section = "how plans are checked";
  list.add_count("--checks", &options.checks, "runs that are compared with the reference (default 1)");
  list.add("--no-odd-shape", &options.no_odd_shape, "do not check each plan at an odd shape too");
  list.section = "whole models";
  list.add("--module", &options.module, "time the whole model under several strategies, in turns");
  list.add_count("--rounds", &options.rounds, "of --module: samples of each strategy (default 30)").needs = "--module";
  list.add("--xla", &options.xla, "of --module: XLA's own kernels, out of its dump of the model, in turn with ours",
           "DIR")
      .needs = "--module";
  list.section = "compiling and storing";
  list.add("--image", &options.image, "load cubin, or ptx that the driver compiles (default cubin)", "FORM");
  list.add("--compile-only", &options.compile_only, "only fill the cache of compiled kernels").excludes = "--module";
  list.add("--store", &options.database, "also store in this database, group by group", "DB");
  list.add_count("--threads", &options.threads,
                 "that compile, and check results on the host (default 0: one per processor)")
      .most = most_threads;
  list.add("--cache", &options.cache, "folder of compiled kernels (default ~/.cache/tailor)", "DIR");
  declare_compiler(list, options.compiler);
}

void declare(OptionList& list, MicrobenchCommand& options) {
  list.add("--device", &options.device, "the GPU: a name (tailor devices) or a file", "NAME");
  list.add_list("--only", &options.families, "these families (default all)", "NAME,...");
  list.add_count("--max-bytes", &options.most_bytes, "leave out larger arrays (default 0: none)");
  list.add("--profiler", &options.profiler, "gpu, or replay: answer from records", "NAME");
  list.add("--recorded", &options.recorded, "of replay: a recorded file or a database (default data/recorded)", "FILE");
  list.add("--compile-only", &options.compile_only, "fill the cache of compiled kernels, measure nothing");
  list.add("--timed-by", &options.timed_by, "who times: activity (CUPTI's records), events, or auto (default auto)",
           "WHO");
  list.add("--stop", &options.stop_rule, "when to stop sampling: a rule of tailor list stop-rules (default standard)",
           "RULE");
  list.add("--image", &options.image, "load cubin, or ptx that the driver compiles (default cubin)", "FORM");
  list.add("--time-limit", &options.time_limit, "kill a kernel after so long (default 20)", "S");
  list.add("--store", &options.database, "also store in this database", "DB");
  declare_gpu(list, options.gpu);
  list.add("--cache", &options.cache, "folder of compiled kernels (default ~/.cache/tailor)", "DIR");
  declare_compiler(list, options.compiler);
}

void declare(OptionList& list, CalibrateCommand& options) {
  list.add("OBSERVATIONS", &options.sources, "databases, recorded files, lines of observations or CSV");
  list.add("--device", &options.device, "the GPU: a name (tailor devices) or a file", "NAME");
  list.add("--calibration", &options.calibration, "what is believed before (default uncalibrated)", "NAME|FILE");
  list.add("--write", &options.write, "write the calibration to this file", "FILE");
  list.add("--few", &options.few, "start from what other calibrated GPUs have, so that few observations are enough");
  list.add("--residual", &options.residual, "learn what figures leave over, where cross-validation gains (XGBoost)");
  list.add_count("--shots", &options.shots, "fit to so many observations, drawn at random by --seed (default 0: all)");
  list.add_count("--seed", &options.seed, "of the draw (default 1)").needs = "--shots";
  list.add("--informative", &options.informative, "of half of all, drawn, the shots that say most").needs = "--shots";
  list.add_count("--budget", &options.budget, "propose so many measurements instead, those that tell most first")
      .excludes = "--write";
  list.add("--model", &options.models, "of --budget: models whose plans may be proposed (default those that ship)",
           "FILE,...")
      .needs = "--budget";
}

void declare(OptionList& list, ValidateCommand& options) {
  list.add("OBSERVATIONS", &options.sources, "databases, recorded files, lines of observations or CSV");
  list.add("--device", &options.device, "only of this GPU: a name (tailor devices) or a file", "NAME");
  list.add("--cost-model", &options.models, "cost models (default projected,sol)", "NAME,...");
  list.add("--calibration", &options.calibrations,
           "numbers of the models; own: the file named as the GPU (default uncalibrated,own)", "NAME|FILE,...");
  list.add("--ablate", &options.ablate, "each part of the models switched off, in the place of rivals");
  list.add("--split", &options.split, "held-out, train, validate or test (default held-out)", "SIDE");
  list.add("--by", &options.by, "tables by operation, size, device, limiter or nothing (default operation)",
           "WHAT,...");
}

void declare(OptionList& list, ReplayCommand& options) {
  list.add("TABLE", &options.table, "a CSV file: parameters, status, time_ms; a row for each configuration");
  list.add("--tries", &options.tries, "after how many tries (default 10,20,50,100,200)", "N,...");
  list.add("--searcher", &options.searchers, "random, neighbours, learned (default all)", "NAME,...");
  list.add("--learn-from", &options.learn_from,
           "ask models learned from so many (default: as many as tries, where a searcher learns)", "N,...");
  list.add("--runs", &options.runs, "runs of each searcher, with other random numbers (default 10)", "N").not_negative =
      true;
  list.add("--seed", &options.seed, "of the random numbers (default 1)", "N").not_negative = true;
  list.add("--time", &options.time, "the column of times, without its unit (default time)", "NAME");
  list.add("--parameters", &options.parameters, "columns of parameters (default all in front of status and time)",
           "NAME,...");
}

void declare(OptionList& list, DevicesOptions& options) {
  list.add("NAME", &options.words,
           "show every figure of this one, with unit and source; new NAME writes a file for it");
  list.add("--from", &options.from, "of new: the GPU of the same architecture whose figures it takes over", "NAME");
  list.add("--calibration", &options.calibration, "whose figures of its behaviour (default uncalibrated)", "NAME|FILE");
}

void declare(OptionList& list, CountersOptions& options) {
  list.add("--chip", &options.chip, "as CUPTI calls it: GH100", "NAME").excludes = "--device,--chips";
  list.add("--device", &options.device, "the chip of this GPU", "NAME");
  Option& counters = list.add("--counters", &options.counters, "only these, also CUPTI's own metrics", "NAME,...");
  counters.excludes = "--tier,--chips";
  list.add_count("--tier", &options.tier, "only up to this tier, from 0 (cheap) to 3 (default 3)");
  list.add("--chips", &options.chips, "list the chips that CUPTI knows").excludes = "--device,--tier";
  list.add("--cupti", &options.cupti, "the CUPTI library to load (default: found, see tailor doctor)", "FILE");
}

void declare(OptionList& list, ListOptions& options) {
  list.add("TABLE", &options.what,
           "ops, dtypes, strategies, models, rules, axes, emitters, passes, profilers, stop-rules, devices, commands");
}

void declare(OptionList& list, SweepCommand& options) {
  list.add("CONFIG", &options.config, "the sweep's file: what to compare, on what (experiments/README.md)");
  list.add("--store", &options.database, "store in this database instead of the file's", "DB");
  list.add("--calibration", &options.calibration, "numbers of the models instead of the file's", "NAME|FILE");
  list.add("--no-compile", &options.no_compile, "stop after scoring");
  list.add("--no-check", &options.no_check, "execute nothing on the simulator");
  list.add("--dry-run", &options.dry_run, "write no database: say what is to be done, and how long a sample says");
  list.add("--show-effective", &options.show_effective, "print the file as it is taken, defaults spelled out");
  list.add("--profiler", &options.profiler, "also measure: gpu, or replay from records (default: do not)", "NAME");
  list.add("--recorded", &options.recorded, "of replay: a recorded file or a database (default data/recorded)", "FILE");
  list.add("--image", &options.image, "load cubin, or ptx that the driver compiles (default cubin)", "FORM");
  list.add("--time-limit", &options.time_limit, "kill a kernel on the GPU after so long (default 10)", "S");
  declare_gpu(list, options.gpu);
  list.add("--cache", &options.cache, "folder of compiled kernels (default ~/.cache/tailor)", "DIR");
  declare_compiler(list, options.compiler);
  list.add_count("--threads", &options.threads, "threads (default 0: one per processor)").most = most_threads;
}

void declare(OptionList& list, ReportCommand& options) {
  list.add("DB", &options.database, "the database of a sweep");
  list.add("--model", &options.model, "only this model", "NAME");
  list.add("--device", &options.device, "only this GPU", "NAME");
  list.add("--strategy", &options.strategy, "show this one's groups (default: the fastest)", "NAME");
  list.add("--baseline", &options.baseline, "compare with this one (default: the sweep's)", "NAME");
  list.add("--folder", &options.folder, "write report.md and report.html there", "DIR");
  list.add("--by", &options.by,
           "of a grid: add its points up by these of its keys, model, device or point, for each strategy", "KEY,...")
      .excludes = "--folder,--model,--device,--strategy,--baseline,--top";
  list.add_count("--top", &options.top, "rows and plans to show, 0 for all (default 10)");
}

void declare(OptionList& list, DbCommand& options) {
  list.add("ACTION", &options.action, "info, check, dump, migrate, merge, export, import or observations");
  list.add("DB", &options.database, "the database; of import a file of records or observations, its database after it");
  list.add("FROM", &options.from, "databases to merge into it");
  list.add("--recorded", &options.recorded, "of export: write measurements to a file that import reads", "FILE");
  list.add("--folder", &options.folder, "of export: write --format kernel-tuner, t4, nvbench or csv files there", "DIR")
      .excludes = "--recorded";
  list.add("--device", &options.device, "of export: only this GPU's measurements", "NAME");
  list.add("--group", &options.group, "of export --folder: only this group, by the beginning of its id", "ID");
}

void declare(OptionList& list, DoctorOptions& options) {
  declare_gpu(list, options.gpu);
  list.add("--nvrtc", &options.nvrtc, nvrtc_words, "FILE");
}

}  // namespace tailor::cli
