// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiling and executing.
#include "cli/execution.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/profile_options.h"
#include "codegen/cuda/cuda.h"
#include "costmodel/model.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/compile.h"
#include "profiler/measure/sampled.h"

namespace tailor::cli {

using report::Cell;
using report::Hint;

Execution execute_plan(const ExplainOptions& options, const Context& context, const Chosen& chosen,
                       const Planned& one) {
  const profiler::FoundNvrtc nvrtc = find_compiler(options.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "--simulate needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  Execution execution;
  const std::string cuda = codegen::cuda(one.kernel, &one.plan);
  execution.binary = profiler::compile(*nvrtc.api, {.cuda = cuda, .arch = chosen.device.arch});
  if (execution.binary.outcome != ir::CompileOutcome::ok)
    throw Error(Fault::failed,
                fmt::format("{} refused the kernel: {}", execution.binary.compiler, trim(execution.binary.log)));
  const InterruptWatch interrupts;
  profiler::CheckOptions how;
  how.sample_blocks = options.blocks;
  how.stop = interrupts.token();
  how.count_cache = true;
  how.machine = profiler::machine_limits(chosen.device, one.plan.blocks_per_sm);
  context.console->progress({"executing the kernel", 0, 0, {}});
  const profiler::Reference reference = profiler::evaluate_reference(chosen.group().group, how.seed);
  execution.checked =
      profiler::check(one.kernel, reference, profiler::make_simulator(one.kernel, execution.binary), how);
  context.console->finish();
  stop_if_asked(interrupts);
  execution.compiled = costmodel::compiled(one.work, execution.binary, chosen.calibrated);
  if (execution.checked.counts.blocks_run > 0)
    execution.simulated = costmodel::simulated(one.work, execution.binary, execution.checked.counts, chosen.calibrated);
  return execution;
}

profiler::CandidateResult measured_plan(const ExplainOptions& options, const Context& context, const Chosen& chosen,
                                        const Planned& one) {
  const InterruptWatch interrupts;
  ProfileCommand words;
  words.what = options.what;
  words.profiler = options.profiler;
  words.recorded = options.recorded;
  words.counters = options.counters;
  words.image = options.image;
  words.gpu = options.gpu;
  const profiler::MeasureOptions how = measure_options(words, context, chosen.device, interrupts.token());
  const Measurer measurer = make_measurer(words, context, chosen.device, interrupts.token());
  ir::Binary binary;
  if (measurer.worker) {  // records are known by the program, not by what a compiler made of it
    const profiler::FoundNvrtc nvrtc = find_compiler(options.nvrtc);
    if (!nvrtc) throw Error(Fault::missing, "--profiler gpu needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
    const std::string cuda = codegen::cuda(one.kernel, &one.plan);
    binary = profiler::compile(*nvrtc.api, {.cuda = cuda, .arch = chosen.device.arch});
    if (binary.outcome != ir::CompileOutcome::ok)
      throw Error(Fault::failed, fmt::format("{} refused the kernel: {}", binary.compiler, trim(binary.log)));
  }
  profiler::Candidate candidate;
  candidate.name = ir::text(one.plan);
  candidate.kernel_id = ir::id_of(one.kernel);
  candidate.own = {&chosen.group().group, &one.kernel, &binary};
  context.console->progress({"measuring the kernel", 0, 0, {}});
  profiler::MeasuredGroup measured = measurer.measure({&candidate, 1}, how);
  context.console->finish();
  stop_if_asked(interrupts);
  return std::move(measured.plans.front());
}

namespace {

/// What the model says a time under this protocol should be.
Seconds predicted_for(const Chosen& chosen, const Planned& one, const ir::Protocol& protocol) {
  const costmodel::GroupWork group = costmodel::group_work(chosen.group().group);
  return chosen.model
      ->estimate(
          {.group = &group, .work = &one.work, .device = &chosen.calibrated, .regime = ir::make_regime(protocol)})
      .total;
}

}  // namespace

report::Table measured_plan_table(const profiler::CandidateResult& result, const Chosen& chosen, const Planned& one) {
  report::Table table;
  table.title = "measured";
  table.columns = {column("outcome", "outcome"),
                   column("median", "time", Hint::seconds),
                   column("low", "from", Hint::seconds),
                   column("high", "to", Hint::seconds),
                   column("samples", "samples", Hint::integer),
                   column("predicted", "predicted for that", Hint::seconds),
                   column("predicted_to_measured", "predicted / measured", Hint::ratio),
                   column("protocol", "protocol"),
                   column("gpu", "GPU"),
                   column("driver", "driver"),
                   column("reason", "reason")};
  for (const ir::Measurement& measured : result.times) {
    const Spread time = profiler::time_of(measured);
    const bool timed = time.n > 0;
    const Seconds predicted = predicted_for(chosen, one, measured.protocol);
    table.rows.push_back({std::string(ir::name(measured.outcome)), timed ? Cell(time.median) : Cell(),
                          timed ? Cell(time.low) : Cell(), timed ? Cell(time.high) : Cell(),
                          static_cast<std::int64_t>(time.n), predicted.value,
                          timed ? Cell(predicted.value / time.median) : Cell(), text(measured.protocol), measured.gpu,
                          measured.driver, measured.reason.empty() ? result.reason : measured.reason});
  }
  return table;
}

std::string measured_words(const profiler::CandidateResult& result, const Chosen& chosen, const Planned& one) {
  if (result.outcome != ir::Outcome::ok || result.times.empty() || result.times.front().samples.empty())
    return fmt::format("measured    {}{}\n", ir::name(result.outcome),
                       result.reason.empty() ? "" : ": " + result.reason);
  const ir::Measurement& measured = result.times.front();
  const Spread time = profiler::time_of(measured);
  const Seconds predicted = predicted_for(chosen, one, measured.protocol);
  std::string out = fmt::format(
      "measured    {} ({} to {}), {}, {} samples on {}; predicted for that {}, predicted / measured {:.2f}\n",
      humane_seconds(time.median), humane_seconds(time.low), humane_seconds(time.high), text(measured.protocol), time.n,
      measured.gpu, humane_seconds(predicted.value), predicted.value / time.median);
  if (!result.uncounted.empty()) out += fmt::format("counters    none: {}\n", result.uncounted);
  return out;
}

std::string execution_words(const Execution& execution) {
  const profiler::Checked& checked = execution.checked;
  std::string out = fmt::format("executed    {}", profiler::name(checked.state));
  if (checked.state == profiler::Verdict::passed)
    out += fmt::format(": worst error {:.2g} of its tolerance", checked.worst);
  if (!checked.reason.empty()) out += ": " + checked.reason;
  out += "\n";
  if (checked.counts.blocks_run == 0) return out;
  if (checked.counts.blocks_run < checked.counts.blocks_total)
    out += fmt::format("sampled     {} of {} blocks; instructions known to {:.2g} %\n",
                       with_commas(checked.counts.blocks_run), with_commas(checked.counts.blocks_total),
                       100 * checked.counts.standard_error);
  return out +
         fmt::format("estimates   {} with the compiler's registers, {} with the counts of the execution, bound by {}\n",
                     humane_seconds(execution.compiled.total.value), humane_seconds(execution.simulated.total.value),
                     ir::name(execution.simulated.bottleneck));
}

}  // namespace tailor::cli
