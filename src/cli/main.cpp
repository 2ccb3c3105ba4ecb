// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The front door: the table of commands, how their options are written, help, and the only catch. One parser is made,
// for the command that was named. A row declares its options in a function of its own and says what must be given; the
// rest (format, output, talk, unknown words) is the same for all.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/worker_word.h"
#include "profiler/worker.h"

namespace tailor::cli {

constexpr std::string_view tool_words = "tailor " TAILOR_VERSION;
const std::string_view tool_name = tool_words;

namespace {

/// Options that every command has.
struct Common {
  std::string format = "table", colour = "auto", output, data;
  bool quiet = false, verbose = false, help = false;
};

constexpr std::string_view common_group = "everywhere";

void declare_common(CLI::App& app, Common& common) {
  const std::string group(common_group);
  app.set_help_flag();
  app.add_option("--format", common.format, "table, json, csv or md (default table)")->type_name("FORM")->group(group);
  app.add_option("-o,--output", common.output, "write the answer to FILE instead of stdout")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--data", common.data, "folder with devices/, calibrations/ and models/")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--color,--colour", common.colour, "auto, always or never (default auto)")
      ->type_name("WHEN")
      ->group(group);
  app.add_flag("-q,--quiet", common.quiet, "say nothing but warnings and errors")->group(group);
  app.add_flag("-v,--verbose", common.verbose, "say more")->group(group);
  app.add_flag("-h,--help", common.help, "this page")->group(group);
}

/// A count of which 0 means all.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::int64_t& into, const std::string& what) {
  const auto not_negative = [](const std::string& word) {
    return word.starts_with('-') ? fmt::format("found {}, expected 0 (all) or more", word) : std::string();
  };
  return app.add_option(name, into, what)->type_name("N")->check(not_negative);
}

void declare_gpu(CLI::App& app, GpuOptions& options) {
  app.add_option("--gpu", options.gpu, "which GPU, as the driver counts (default 0)")->type_name("N");
  app.add_option("--driver", options.driver, "CUDA's driver library (default: found)")->type_name("FILE");
  app.add_option("--cupti", options.cupti, "the CUPTI library (default: found)")->type_name("FILE");
  app.add_option("--nvml", options.nvml, "the NVML library (default: found)")->type_name("FILE");
}

void declare(CLI::App& app, ImportOptions& options) {
  app.add_option("MODEL", options.model, "a model: .hlo, .hlo.gz or .graph");
  app.add_flag("--text", options.text, "print the graph's text form, which can be read back");
}

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

void declare(CLI::App& app, FuseOptions& options) {
  app.add_option("MODEL", options.model, "a model: .hlo, .hlo.gz or .graph");
  app.add_option("--strategy", options.strategy, "how to fuse (default stitch-v1; tailor list strategies)")
      ->type_name("NAME");
  app.add_option("--device", options.devices, "add the bound on time on this GPU; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--calibration", options.calibration, "numbers of the models (default uncalibrated)")
      ->type_name("NAME");
  CLI::Option* why = app.add_flag("--why", options.why, "for each edge why it was or was not fused");
  app.add_flag("--compare", options.compare, "all strategies side by side")->excludes(why);
  add_count(app, "--top", options.top, "rows to show, 0 for all (default 20)");
}

void declare_group(CLI::App& app, GroupOptions& options) {
  app.add_option("MODEL", options.model, "a model: .hlo, .hlo.gz or .graph");
  app.add_option("--device", options.device, "the GPU: a name (tailor devices) or a file")->type_name("NAME");
  app.add_option("--group", options.group,
                 "number in tailor fuse, or the beginning of an id (default: moves most; check: every group)")
      ->type_name("N|ID");
  app.add_option("--strategy", options.strategy, "how to fuse (default stitch-v1)")->type_name("NAME");
  app.add_option("--model", options.cost_model, "cost model (default projected; tailor list models)")
      ->type_name("NAME");
  app.add_option("--calibration", options.calibration, "numbers of the models (default uncalibrated)")
      ->type_name("NAME");
  app.add_option("--axis", options.axes, "restrict an axis of the plan space, as threads=128,256; may be repeated")
      ->type_name("AXIS=V,V")
      ->allow_extra_args(false);
}

constexpr const char* plan_words = "a plan's text, or its rank in tailor explore (default: the best)";
constexpr const char* nvrtc_words = "the NVRTC library to load (default: found, see tailor doctor)";

void declare(CLI::App& app, ExploreOptions& options) {
  declare_group(app, options.what);
  add_count(app, "--top", options.top, "plans to show, 0 for all (default 10)");
  add_count(app, "--max-plans", options.max_plans, "score at most so many, spread over the space (default 0: all)");
  app.add_flag("--sound-only", options.sound_only, "drop only what cannot be built, nothing by experience");
}

void declare(CLI::App& app, ExplainOptions& options) {
  declare_group(app, options.what);
  app.add_option("--plan", options.plan, plan_words)->type_name("TEXT|N");
  CLI::Option* simulate = app.add_flag("--simulate", options.simulate,
                                       "compile and execute it: counts beside the model's, level simulated");
  add_count(app, "--blocks", options.blocks, "execute the first, the last and random blocks, about N (default 0: all)")
      ->needs(simulate);
  CLI::Option* measure =
      app.add_option("--profiler", options.profiler, "measure it too, with counters beside the model's: gpu, or replay")
          ->type_name("NAME");
  app.add_option("--recorded", options.recorded, "of replay: a recorded file or a database (default data/recorded)")
      ->type_name("FILE")
      ->needs(measure);
  app.add_option("--counters", options.counters, "highest tier, names, or none (default 0; tailor counters)")
      ->type_name("N|NAME,...")
      ->needs(measure);
  app.add_option("--image", options.image, "load cubin, or ptx that the driver compiles (default cubin)")
      ->type_name("FORM")
      ->needs(measure);
  declare_gpu(app, options.gpu);
  app.add_option("--nvrtc", options.nvrtc, nvrtc_words)->type_name("FILE");
}

void declare(CLI::App& app, EmitOptions& options) {
  declare_group(app, options.what);
  app.add_option("--plan", options.plan, plan_words)->type_name("TEXT|N");
  app.add_flag("--ptx", options.ptx, "compile with NVRTC and print the PTX");
  app.add_option("--arch", options.arch, "architecture to compile for (default: the device's)")->type_name("sm_NN");
  app.add_option("--nvrtc", options.nvrtc, nvrtc_words)->type_name("FILE");
}

void declare(CLI::App& app, CheckCommand& options) {
  declare_group(app, options.what);
  app.add_option("--plan", options.plan, "only this one: a plan's text, or its rank in tailor explore")
      ->type_name("TEXT|N");
  add_count(app, "--top", options.top, "plans of each group, 0 for all (default 4)");
  app.add_flag("--all-plans", options.all_plans, "every plan of each group, as --top 0");
  add_count(app, "--seed", options.seed, "of inputs and schedule (default 1)");
  add_count(app, "--seeds", options.seeds, "execute each kernel so often, with other inputs and schedules (default 1)");
  add_count(app, "--blocks", options.blocks, "execute the first, the last and random blocks, about N (default 0: all)");
  app.add_option("--time-limit", options.time_limit, "give up one execution after so long (default 60)")
      ->type_name("S");
  app.add_option("--shape", options.shape, "small: fewer rows under the same plan, where the group allows it")
      ->type_name("whole|small");
  app.add_flag("--no-sanitizers", options.no_sanitizers, "look for no races and uninitialised reads");
  add_count(app, "--threads", options.threads, "threads (default 0: one per processor)");
  app.add_option("--store", options.database, "also store verdicts and counters in this database")->type_name("DB");
  app.add_option("--cache", options.cache, "folder of compiled kernels (default ~/.cache/tailor)")->type_name("DIR");
  app.add_option("--nvrtc", options.nvrtc, nvrtc_words)->type_name("FILE");
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
      ->type_name("NAME,...");
  add_count(app, "--rounds", options.rounds, "of --module: samples of each strategy (default 30)");
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

template <class Options, void (*Run)(const Options&, const Context&)>
std::function<void(const Context&)> bound(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  declare(app, *options);
  return [options](const Context& context) { Run(*options, context); };
}

constexpr CommandRow command(std::string_view name, std::string_view what, std::string_view examples,
                             std::string_view needs, std::function<void(const Context&)> (*bind)(CLI::App&),
                             bool own_formats = false) {
  return {name, what, examples, needs, bind, own_formats};
}

constexpr std::array command_table = std::to_array({
    command("import", "what a model's file holds, and what normalising it did",
            "import data/models/bert_infer_l12_b1_s128_f16.hlo\n"
            "import model.hlo.gz --text -o model.graph",
            "MODEL", bound<ImportOptions, run_import>),
    command("import-xla", "XLA's own kernels of a model: bound to fusions, executed, compared, counted, timed",
            "import-xla dump\n"
            "import-xla dump --device h200 --compare --store xla.db\n"
            "import-xla dump --module jit_f --kernel input_reduce_fusion\n"
            "import-xla dump --device h200 --profiler gpu --module-times --store xla.db",
            "DIR", bound<ImportXlaOptions, run_import_xla>),
    command("fuse", "how a strategy cuts a model into kernels",
            "fuse model.hlo --strategy stitch-v1 --device h200\n"
            "fuse model.hlo --compare --device h200,a100_80gb\n"
            "fuse model.hlo --why --top 0",
            "MODEL", bound<FuseOptions, run_fuse>),
    command("explore", "the plan space of one group: what was dropped and why, and the best plans",
            "explore data/models/layernorm_fwd_tf_f32_4096x768.hlo --device h200\n"
            "explore model.hlo --device a100_80gb --group 3 --axis threads=128,256 --axis vector=4 --top 5",
            "MODEL --device", bound<ExploreOptions, run_explore>),
    command("explain", "one kernel beside its estimate",
            "explain data/models/layernorm_fwd_tf_f32_4096x768.hlo --device h200\n"
            "explain model.hlo --device h200 --group 3 --plan 2 --simulate",
            "MODEL --device", bound<ExplainOptions, run_explain>),
    command("emit", "the CUDA C++ of one plan, or its PTX",
            "emit data/models/softmax_fwd_f32_4096x1024.hlo --device h200 -o softmax.cu\n"
            "emit model.hlo --device h200 --group 3 --plan 2 --ptx",
            "MODEL --device", bound<EmitOptions, run_emit>),
    command("check", "execute compiled kernels on the simulator and compare what they compute with the reference",
            "check data/models/softmax_fwd_f32_4096x1024.hlo --device h200\n"
            "check model.hlo --device h200 --group 3 --plan 2 --seeds 5\n"
            "check model.hlo --device h200 --group 3 --all-plans --format json",
            "MODEL --device", bound<CheckCommand, run_check>),
    command("profile", "run plans on a GPU: checked against the reference, raced, counted; or replay what was recorded",
            "profile data/models/softmax_fwd_f32_4096x1024.hlo --device h200\n"
            "profile model.hlo --device h200 --group 3 --cache-state cold,produced --store h200.db\n"
            "profile model.hlo --device h200 --module --strategies none,stitch-v1 --xla dump\n"
            "profile model.hlo --device h200 --profiler replay --recorded h200.db",
            "MODEL --device", bound<ProfileCommand, run_profile>),
    command("microbench", "what a GPU's ceilings are: copies, launches, barriers, bytes in flight",
            "microbench --device h200\n"
            "microbench --device h200 --only copy,read,write --store h200.db",
            "--device", bound<MicrobenchCommand, run_microbench>),
    command("sweep", "the main job from a file: import, fuse, explore, compile, check, store; goes on where it stopped",
            "sweep experiments/00-hello.json\n"
            "sweep experiments/00-hello.json --db /tmp/hello.db --no-compile",
            "CONFIG", bound<SweepCommand, run_sweep_command>),
    command("report", "what a sweep found: strategies, groups, plans, what was rejected and why",
            "report out/00-hello.db\n"
            "report out/00-hello.db --model bert_infer_l12_b1_s128_f16 --folder out/00-hello",
            "DB", bound<ReportCommand, run_report_command>),
    command("db", "look into a database, check it, print it, merge others into it; measurements in and out",
            "db info out/00-hello.db\n"
            "db merge all.db shard1.db shard2.db\n"
            "db export --recorded h200.jsonl.gz all.db --device h200\n"
            "db export --format kernel-tuner --out exported all.db\n"
            "db import h200.jsonl.gz mine.db",
            "ACTION DB", bound<DbCommand, run_db_command>, true),
    command("devices", "the GPUs that there is a file for, or every figure of one",
            "devices\n"
            "devices h200 --format md",
            "", bound<DevicesOptions, run_devices>),
    command("counters", "what a GPU can count, by which of CUPTI's metrics, in how many passes",
            "counters --device h200\n"
            "counters --chip GA100 --tier 0 --format csv\n"
            "counters --chip GB202 --counter dram_read_bytes,lts__t_sectors.sum\n"
            "counters --chips",
            "", bound<CountersOptions, run_counters>),
    command("list", "the rows of Tailor's own tables",
            "list strategies\n"
            "list rules --format json",
            "TABLE", bound<ListOptions, run_list>),
    command("doctor", "what was found on this machine, what is missing, what to do",
            "doctor\n"
            "doctor -v",
            "", bound<DoctorOptions, run_doctor>),
});

std::string overview() {
  std::string out =
      "Tailor decides how to fuse a model's memory-bound operations into GPU kernels, writes them,\n"
      "and predicts how fast they run.\n\nexamples\n";
  for (const CommandRow& row : command_table) out += fmt::format("  tailor {}\n", split(row.examples, '\n').front());
  out += "\nusage\n  tailor COMMAND [options]\n\ncommands\n";
  for (const CommandRow& row : command_table) out += fmt::format("  {:<10} {}\n", row.name, row.what);
  return out +
         "\n  tailor COMMAND --help   examples and options of a command\n"
         "  tailor --version        the version\n";
}

std::string help_of(const CLI::App& app, const CommandRow& row) {
  std::string out = fmt::format("tailor {}: {}\n\nexamples\n", row.name, row.what);
  for (const std::string_view line : split(row.examples, '\n')) out += fmt::format("  tailor {}\n", line);
  std::string usage = fmt::format("tailor {}", row.name), options, common;
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::vector<std::string_view> needs = split(row.needs, ' ');
    const bool needed = std::find(needs.begin(), needs.end(), option->get_name()) != needs.end();
    std::string lead = option->get_name(false, true);
    if (!positional && !option->get_type_name().empty()) lead += " " + option->get_type_name();
    if (needed || positional) usage += needed ? " " + lead : fmt::format(" [{}]", lead);
    std::string& part = option->get_group() == common_group ? common : options;
    part += fmt::format("  {:<22} {}\n", lead, option->get_description());
  }
  out += fmt::format("\nusage\n  {} [options]\n", usage);
  if (!options.empty()) out += "\noptions\n" + options;
  return out + fmt::format("\n{}\n{}", common_group, common);
}

const CommandRow& find_command(std::string_view name) {
  std::vector<std::string_view> known;
  for (const CommandRow& row : command_table) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  if (name.starts_with('-'))
    throw Error(Fault::usage, fmt::format("found option '{}', expected a command first", name), "see tailor --help");
  throw Error(Fault::usage, fmt::format("no command is called '{}'", name), suggestion(name, known));
}

/// Words that no option took.
void refuse_strangers(const CLI::App& app, const CommandRow& row) {
  const std::vector<std::string> strangers = app.remaining();
  if (strangers.empty()) return;
  const std::string word = strangers.front().substr(0, strangers.front().find('='));
  if (!word.starts_with('-'))
    throw Error(Fault::usage, fmt::format("tailor {}: found '{}', which is one word too many", row.name, word),
                fmt::format("see tailor {} --help; words with spaces need quotes", row.name));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw Error(Fault::usage, fmt::format("tailor {} has no option '{}'", row.name, word), suggestion(word, known));
}

void refuse_gaps(const CLI::App& app, const CommandRow& row) {
  if (row.needs.empty()) return;
  for (const std::string_view need : split(row.needs, ' ')) {
    const CLI::Option* option = app.get_option(std::string(need));
    if (option->count() == 0)
      throw Error(Fault::usage, fmt::format("tailor {} needs {}: {}", row.name, need, option->get_description()),
                  fmt::format("for example: tailor {}", split(row.examples, '\n').front()));
  }
}

Colour parse_colour(const std::string& word) {
  constexpr std::array names = std::to_array<std::string_view>({"auto", "always", "never"});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) return static_cast<Colour>(i);
  throw Error(Fault::usage, fmt::format("--color: found '{}', expected one of {}", word, fmt::join(names, ", ")),
              suggestion(word, names));
}

/// The command as one could type it again.
std::string typed(std::span<char* const> words) {
  std::string out = "tailor";
  for (const std::string_view word : words.subspan(1)) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|<>;()*?%") == word.npos;
    out += plain ? fmt::format(" {}", word) : fmt::format(" '{}'", word);
  }
  return out;
}

/// -o must not name a file that the command reads.
void refuse_own_input(std::span<char* const> words, const std::string& output) {
  std::error_code absent;
  for (const std::string word : words)
    if (!output.empty() && word != output && std::filesystem::equivalent(word, output, absent))
      throw Error(Fault::usage, Position{output}, "found as input and as output, expected two files");
  if (!output.empty() && std::count(words.begin(), words.end(), std::string_view(output)) > 1)
    throw Error(Fault::usage, Position{output}, "found as input and as output, expected two files");
}

void run_command(std::span<char* const> words, const Terminal& terminal) {
  const CommandRow& row = find_command(words[1]);
  CLI::App app;
  app.allow_extras();
  const auto run = row.bind(app);
  Common common;
  declare_common(app, common);
  app.parse(static_cast<int>(words.size()) - 1, words.data() + 1);
  if (common.help) {
    fmt::print("{}", help_of(app, row));
    return;
  }
  refuse_strangers(app, row);
  refuse_gaps(app, row);
  refuse_own_input(words.subspan(2), common.output);
  const Colour colour = parse_colour(common.colour);
  Verbosity verbosity = common.verbose ? Verbosity::verbose : Verbosity::normal;
  if (common.quiet) verbosity = Verbosity::quiet;
  Talk talk(
      standard_error(),
      {verbosity, coloured_errors(colour, terminal), terminal.errors_is_terminal && !terminal.dumb, terminal.width},
      steady_clock());
  Context context{row.own_formats ? Format::table : parse_format(common.format),
                  common.output,
                  common.data,
                  terminal,
                  coloured_output(colour, terminal),
                  common.verbose,
                  &talk,
                  typed(words),
                  common.format};
  if (context.data.empty()) context.data = usual_data_folder();
  run(context);
}

void open_door(std::span<char* const> words, const Terminal& terminal) {
  const std::string_view first = words.size() > 1 ? words[1] : "";
  if (first.empty()) throw Error(Fault::usage, "no command was given", "see tailor --help");
  if (first == "--version" || first == "-V") {
    fmt::print("{}\n", tool_name);
  } else if (first == "--help" || first == "-h" || first == "help") {
    fmt::print("{}", overview());
  } else if (first == worker_word) {
    if (profiler::serve(profiler::worker_socket) != 0)
      throw Error(Fault::usage, fmt::format("{} is how Tailor starts itself to own a GPU", worker_word),
                  "tailor profile does that");
  } else {
    run_command(words, terminal);
  }
}

int refused(const Error& error, const Terminal& terminal) {
  std::string text = error_text(error);
  if (coloured_errors(Colour::automatic, terminal)) text = "\x1b[1;31merror:\x1b[0m" + text.substr(text.find(':') + 1);
  fmt::print(stderr, "{}", text);
  return static_cast<int>(error.fault);
}

}  // namespace

std::span<const CommandRow> commands() { return command_table; }

}  // namespace tailor::cli

int main(int count, char** words) {
  using namespace tailor;
  const cli::Terminal terminal = cli::current_terminal();
  try {
    cli::open_door({words, static_cast<std::size_t>(count)}, terminal);
    return 0;
  } catch (const Error& error) {
    return cli::refused(error, terminal);
  } catch (const CLI::ParseError& error) {
    return cli::refused(Error(Fault::usage, error.what(), fmt::format("see tailor {} --help", words[1])), terminal);
  } catch (const std::bad_alloc&) {
    return cli::refused(Error(Fault::failed, "out of memory"), terminal);
  } catch (const std::exception& error) {
    return cli::refused(Error(Fault::failed, fmt::format("inside Tailor: {}", error.what()),
                              "this is a bug: please report it with the command and the model"),
                        terminal);
  }
}
