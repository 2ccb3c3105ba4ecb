// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of the commands that plan, and the parts that several commands share.
#include "cli/declare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace tailor::cli {

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
      ->type_name("NAME|FILE");
  app.add_option("--axis", options.axes, "restrict an axis of the plan space, as threads=128,256; may be repeated")
      ->type_name("AXIS=V,V")
      ->allow_extra_args(false);
}

void declare(CLI::App& app, ImportOptions& options) {
  app.add_option("MODEL", options.model, "a model: .hlo, .hlo.gz or .graph");
  app.add_flag("--text", options.text, "print the graph's text form, which can be read back");
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
      ->type_name("NAME|FILE");
  CLI::Option* why = app.add_flag("--why", options.why, "for each edge why it was or was not fused");
  app.add_flag("--compare", options.compare, "all strategies side by side")->excludes(why);
  add_count(app, "--top", options.top, "rows to show, 0 for all (default 20)");
}

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

}  // namespace tailor::cli
