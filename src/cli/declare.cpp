// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of the commands that plan, and the parts that several commands share. In: a list to fill and the struct that
// the words go to. Out: the list. Called by the table of commands for the command that was named. The commands that
// measure and keep are in declare_measure.cpp.
#include "cli/declare.h"

#include <fmt/format.h>

#include "explore/strategy.h"
#include "study/pipeline/question.h"

namespace tailor::cli {

void declare_gpu(OptionList& list, GpuOptions& options) {
  list.add("--gpu", &options.gpu, "which GPU, as the driver counts (default 0)", "N");
  list.add("--driver", &options.driver, "CUDA's driver library (default: found)", "FILE");
  list.add("--cupti", &options.cupti, "the CUPTI library (default: found)", "FILE");
  list.add("--nvml", &options.nvml, "the NVML library (default: found)", "FILE");
}

void declare_compiler(OptionList& list, CompilerOptions& options) {
  list.add("--nvrtc", &options.nvrtc, nvrtc_words, "FILE");
  list.add("--compile-limit", &options.compile_limit,
           "give up a kernel that takes the compiler longer on a processor (default 60)", "S");
}

void declare_group(OptionList& list, GroupOptions& options) {
  list.add("MODEL", &options.model, "a model: .hlo, .hlo.gz or .graph; - is stdin");
  list.add("--device", &options.device, "the GPU: a name (tailor devices) or a file", "NAME");
  list.add("--group", &options.group,
           "its number in tailor fuse, or the beginning of its id (default: moves most; check, profile: every group)",
           "N|ID");
  list.add("--strategy", &options.strategy,
           fmt::format("how to fuse: a name, or FILE.partition (default {})", explore::default_strategy), "NAME");
  list.add("--cost-model", &options.cost_model,
           fmt::format("how plans are ranked: {} (default projected; tailor list models)",
                       fmt::join(study::ranking_models(), " or ")),
           "NAME");
  list.add("--calibration", &options.calibration, "numbers of the models (default uncalibrated)", "NAME|FILE");
  list.add("--axis", &options.axes, "restrict an axis of the plan space, as threads=128,256; may be repeated",
           "AXIS=V,V")
      .keeps_commas = true;
}

void declare(OptionList& list, ImportOptions& options) {
  list.add("MODEL", &options.model, "a model: .hlo, .hlo.gz or .graph; - is stdin");
  list.add("--text", &options.text, "print the graph's text form, which can be read back");
}

void declare(OptionList& list, EvaluateCommand& options) {
  list.add("MODEL", &options.model, "a model: .hlo, .hlo.gz or .graph; - is stdin");
  list.add("--inputs", &options.inputs, inputs_words, "NAME=FILE|DIR,...");
  list.add("--expect", &options.outputs, "hold results against these: NAME=FILE.npy or a folder of them",
           "NAME=FILE|DIR,...");
  list.add("--folder", &options.folder, "write inputs/NAME.npy and outputs/NAME.npy there", "DIR");
  list.add_count("--seed", &options.seed, "of parameters without a file (default 1)");
  list.add("--scale", &options.scale, "multiply drawn floats, which lie in -2 to 2 (default 1)", "X");
  list.add("--memory", &options.memory, "hold at most so much (default 4)", "GB");
  list.add("--time-limit", &options.time_limit, "give up after so long (default: never)", "S");
  list.add("--list-inputs", &options.list_inputs, "list inputs beside results (JSON and CSV do)");
}

void declare(OptionList& list, FuseOptions& options) {
  list.add("MODEL", &options.model, "a model: .hlo, .hlo.gz or .graph; - is stdin");
  list.add("--strategy", &options.strategy,
           fmt::format("how to fuse: a name (default {} for one --device, else {}; tailor list strategies), or "
                       "FILE.partition",
                       explore::default_strategy, explore::default_strategy_for(0)),
           "NAME");
  list.add("--device", &options.devices, "add price and bound on these GPUs", "NAME,...");
  list.add("--calibration", &options.calibration, "numbers of the models (default uncalibrated)", "NAME|FILE");
  list.add("--why", &options.why, "why each edge is fused or not; of NODE also what the other choice would take",
           "[NODE]")
      .word_goes_to = "--node";
  list.add("--node", &options.node, "the same as --why NODE", "NODE");
  list.add("--compare", &options.compare, "all strategies side by side").excludes = "--why,--node,--strategy";
  list.add("--write-partition", &options.write_partition,
           "write the groups by their nodes' names; --strategy reads such a file back", "FILE.partition")
      .excludes = "--compare";
  list.add("--to", &options.to, "write the fused graph as .svg, .dot, .hlo or .partition", "FILE,...").excludes =
      "--compare";
  list.add_count("--top", &options.top, "rows to show, 0 for all (default 20, in JSON and CSV all)");
}

void declare(OptionList& list, ExploreOptions& options) {
  declare_group(list, options.what);
  list.add_count("--top", &options.top, "plans to show, 0 for all (default 10)");
  list.add_count("--max-plans", &options.max_plans,
                 "score at most so many plans, spread over the space (default 0: all)");
  list.add("--sound-only", &options.sound_only, "drop only plans that cannot be built, none by a heuristic");
}

void declare(OptionList& list, ExplainOptions& options) {
  declare_group(list, options.what);
  list.add("PLAN", &options.plans, "as --plan; two say why one beats the other");
  list.add("--plan", &options.plan, plan_words, "TEXT|N|xla");
  list.add_count("--top", &options.top,
                 "rows of a table and lines of the program to show, 0 for all (default 100, in JSON and CSV all)");
  list.section = "executed or measured";
  list.add("--simulate", &options.simulate, "compile and execute it: counts beside the model's, level counted");
  list.add_count("--blocks", &options.blocks,
                 "execute about N blocks: the first, the last and random ones (default 0: all)")
      .needs = "--simulate";
  list.add("--profiler", &options.profiler, "measure it too, with counters beside the model's: gpu, or replay", "NAME");
  list.add("--recorded", &options.recorded, "of replay: a recorded file or a database (default data/recorded)", "FILE")
      .needs = "--profiler";
  list.add_list("--counters", &options.counters, "highest tier, names, or none (default 0; tailor counters)",
                "N|NAME,...")
      .needs = "--profiler";
  list.add("--image", &options.image, "load cubin, or ptx that the driver compiles (default cubin)", "FORM").needs =
      "--profiler";
  declare_gpu(list, options.gpu);
  declare_compiler(list, options.compiler);
}

void declare(OptionList& list, EmitOptions& options) {
  declare_group(list, options.what);
  list.add("--plan", &options.plan, plan_words, "TEXT|N|xla");
  list.add("--ptx", &options.ptx, "compile with NVRTC and print the PTX");
  list.add("--arch", &options.arch, "architecture to compile for (default: the device's)", "sm_NN");
  declare_compiler(list, options.compiler);
}

void declare(OptionList& list, RunCommand& options) {
  list.add("FILE", &options.file, "a kernel: CUDA C++, or PTX where the name ends in .ptx");
  list.add("--entry", &options.entry, "the kernel's name (default: the only one)", "NAME");
  list.add("--grid", &options.grid, "blocks (default: as the file's head says, else 1)", "N[xN[xN]]");
  list.add("--block", &options.block, "threads of a block", "N[xN[xN]]");
  list.add("--cluster", &options.cluster, "blocks of a cluster", "N[xN[xN]]");
  list.add("--shared", &options.shared, "dynamic shared memory of a block", "BYTES").not_negative = true;
  list.add("--cooperative", &options.cooperative, "all blocks are resident together");
  list.add("--arg", &options.arguments,
           "an argument, in the kernel's order: i32:512, x:f32[4,8]:input:random, y:f32[32]:output, x:input:x.npy; may "
           "be repeated",
           "TEXT")
      .keeps_commas = true;
  list.add("--variable", &options.variables,
           "what a __device__ variable holds: n:i32:512, w:f32[5]:random, w:f32[5]:w.npy; may be repeated", "TEXT")
      .keeps_commas = true;
  list.add("--expect", &options.expect, "what buffers must hold afterwards", "NAME=FILE.npy,...");
  list.add("--tolerance", &options.tolerance, "largest |found - expected| / max(1, |expected|) (default: by type)", "X")
      .not_negative = true;
  list.add("--save", &options.save, "write buffers to files afterwards", "NAME=FILE.npy,...");
  list.add("--device", &options.device, "the GPU whose limits and architecture hold (default: no limits, sm_90)",
           "NAME");
  list.add("--arch", &options.arch, "architecture to compile for", "sm_NN");
  list.add("--define", &options.defines, "a macro for the compiler; may be repeated", "NAME=VALUE").keeps_commas = true;
  list.add("--include", &options.includes, "folders of headers", "DIR,...");
  list.add_count("--seed", &options.seed, "of the schedule (default 1)");
  list.add_count("--seeds", &options.seeds, "run under so many different schedules (default 1)").most = most_seeds;
  list.add_count("--blocks", &options.blocks,
                 "run about N blocks: the first, the last and random ones (default 0: all)");
  list.add("--time-limit", &options.time_limit, "give up after so long (default 60)", "S");
  list.add_count("--limit", &options.limit,
                 "instructions of one warp before it counts as endless (default 16,777,216)");
  list.add("--no-sanitizers", &options.no_sanitizers, "do not look for races and uninitialised reads");
  list.add("--counters", &options.counters, "also show what was counted");
  list.add("--lines", &options.lines, "also show memory instructions by line");
  declare_compiler(list, options.compiler);
}

void declare(OptionList& list, CheckCommand& options) {
  declare_group(list, options.what);
  list.section = "which plans";
  list.add("--plan", &options.plan, "only this one: a plan's text, its rank in tailor explore, or xla", "TEXT|N|xla")
      .excludes = "--top,--all-plans";
  list.add_count("--top", &options.top, "plans of each group, 0 for all (default 4)");
  list.add("--all-plans", &options.all_plans, "every plan of each group, as --top 0");
  list.section = "what is executed";
  list.add_count("--seed", &options.seed, "of inputs and schedule (default 1)");
  list.add_count("--seeds", &options.seeds,
                 "execute each kernel so many times, with other inputs and schedules (default 1)")
      .most = most_seeds;
  list.add_count("--blocks", &options.blocks,
                 "execute about N blocks: the first, the last, random ones and those that share results with them; "
                 "0: all (default: all, but a sample where an array has over 33,554,432 elements, where each element "
                 "takes very much, and where all would not fit into the memory)");
  list.add("--time-limit", &options.time_limit,
           "give up one kernel's executions, or its reference, after so long (default 60)", "S");
  list.add("--memory", &options.memory, "hold at most so much; what does not fit is not executed (default 4)", "GB");
  list.add("--shape", &options.shape, "small: fewer rows under the same plan, where the group allows it",
           "whole|small");
  list.add("--inputs", &options.inputs, "run the model on these: NAME=FILE.npy or a folder of them (default: drawn)",
           "NAME=FILE|DIR,...")
      .excludes = "--shape";
  list.add("--expect", &options.outputs, "hold results also against these: NAME=FILE.npy or a folder of them",
           "NAME=FILE|DIR,...")
      .excludes = "--shape";
  list.add("--scale", &options.scale, "of --inputs: multiply what is drawn beside them, in -2 to 2 (default 1)", "X");
  list.add("--no-sanitizers", &options.no_sanitizers, "do not look for races and uninitialised reads");
  list.section = "answer and machine";
  list.add("--passed", &options.passed, "list kernels that passed too (JSON and CSV do)");
  list.add_count("--threads", &options.threads, "threads (default 0: one per processor)").most = most_threads;
  list.add("--store", &options.database, "also store verdicts and counters in this database", "DB");
  list.add("--cache", &options.cache, "folder of compiled kernels (default ~/.cache/tailor)", "DIR");
  declare_compiler(list, options.compiler);
}

}  // namespace tailor::cli
