// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One candidate through the stages that compile, execute and measure. In: the candidate and the options of explain.
// Out: the candidate with binary, verdict, estimates or measurement. Called by tailor explain. What each stage does is
// study's; here is how the options name it.
#include "cli/execution.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "study/pipeline/gpu_access.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/stages.h"

namespace tailor::cli {

namespace {

/// Throws when there is no binary to be had. `for_device`: it will run there; else it may be compiled for an
/// architecture like the device's, which the machine code's note says.
void compile_plan(const study::CompilerOptions& compiler, std::string_view asked, study::Candidate& one,
                  const study::Watch& watch, bool for_device) {
  if (one.binary) return;
  const profiler::FoundNvrtc nvrtc = study::find_compiler(compiler.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, fmt::format("{} needs NVRTC: {}", asked, nvrtc.reason), nvrtc.remedy);
  study::compile(
      {&one, 1},
      {.api = nvrtc.api.get(), .for_device = for_device, .compiler = study::compiler_setup(compiler), .workers = 1},
      {study::silent(), watch.stop});
  if (!one.binary) throw Error(Fault::interrupted, "interrupted");
  if (one.refused)
    throw Error(Fault::failed,
                fmt::format("the plan is refused as compiled: {} ({})", one.refused->reason, one.refused->rule));
  if (one.binary->outcome == ir::CompileOutcome::too_long)
    throw Error(Fault::failed, std::string(trim(one.binary->log)));
  if (!one.compiled())
    throw Error(Fault::failed, fmt::format("{} refused the kernel: {}", one.binary->compiler, trim(one.binary->log)));
}

}  // namespace

void execute_plan(const ExplainOptions& options, study::Candidate& one, const study::Watch& watch) {
  compile_plan(options.compiler, "--simulate", one, watch, !options.profiler.empty());
  study::Checking how;
  how.each.sample_blocks = options.blocks;
  // All blocks however large the launch is, unless they do not fit into memory.
  if (options.blocks == 0) how.each.most_elements = std::numeric_limits<std::int64_t>::max();
  how.each.count_cache = true;
  how.each.may_shrink = how.each.has_limits = false;
  how.workers = 1;
  watch.observer.progress({"executing the kernel", 0, 0, {}});
  study::check({&one, 1}, how, {study::silent(), watch.stop});
  watch.observer.finish();
  if (!one.verdict) throw Error(Fault::interrupted, "interrupted");
  study::estimate({&one, 1}, ir::Level::compiled);
  study::estimate({&one, 1}, ir::Level::counted);
}

void measure_plan(const ExplainOptions& options, const Context& context, study::Candidate& one,
                  const study::Watch& watch) {
  study::MeasureWords words;
  words.profiler = options.profiler;
  words.recorded = options.recorded;
  words.counters = options.counters;
  words.image = options.image;
  words.gpu = options.gpu;
  const ir::Device& device = one.on->device;
  const profiler::MeasureOptions how = study::measure_options(words, device, watch);
  const study::Measurer measurer = study::make_measurer(words, context.data, device, watch);
  // Records are known by the program, not by what a compiler made of it.
  if (measurer.worker) compile_plan(options.compiler, "--profiler gpu", one, watch, true);
  watch.observer.progress({"measuring the kernel", 0, 0, {}});
  study::measure({&one, 1}, {measurer.measure, measurer.worker != nullptr, how}, [](const study::RacedGroup&) {});
  watch.observer.finish();
  if (watch.stopped() || !one.measured) throw Error(Fault::interrupted, "interrupted");
}

}  // namespace tailor::cli
