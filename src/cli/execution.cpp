// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiling, executing, and the table of counts.
#include "cli/execution.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cli/output.h"
#include "codegen/cuda.h"
#include "costmodel/model.h"
#include "profiler/compile.h"
#include "profiler/simulate.h"

namespace tailor::cli {

namespace {

using costmodel::Work;
using ir::LaunchCounts;
using report::Cell;
using report::Hint;

/// One counter that both sides have.
struct CountPair {
  std::string_view name;
  double (*model)(const Work&);
  double (*executed)(const LaunchCounts&);
};

double number(std::int64_t count) { return static_cast<double>(count); }

constexpr auto pair_table = std::to_array<CountPair>({
    {"instructions", [](const Work& w) { return number(costmodel::instructions(w.pipes)); },
     [](const LaunchCounts& c) { return c.instructions; }},
    {"fma", [](const Work& w) { return number(w.pipes.fma); }, [](const LaunchCounts& c) { return c.fma; }},
    {"alu and addresses", [](const Work& w) { return number(w.pipes.alu + w.pipes.address); },
     [](const LaunchCounts& c) { return c.alu; }},
    {"xu", [](const Work& w) { return number(w.pipes.xu); }, [](const LaunchCounts& c) { return c.xu; }},
    {"f64", [](const Work& w) { return number(w.pipes.f64); }, [](const LaunchCounts& c) { return c.f64; }},
    {"conversions", [](const Work& w) { return number(w.pipes.widen + w.pipes.narrow); },
     [](const LaunchCounts& c) { return c.convert; }},
    {"moves", [](const Work&) { return 0.0; }, [](const LaunchCounts& c) { return c.move; }},
    {"control", [](const Work& w) { return number(w.pipes.control); }, [](const LaunchCounts& c) { return c.control; }},
    {"shuffles", [](const Work& w) { return number(w.shuffles); }, [](const LaunchCounts& c) { return c.shuffles; }},
    {"barriers", [](const Work& w) { return number(w.barriers); }, [](const LaunchCounts& c) { return c.barriers; }},
    {"shared load requests", [](const Work& w) { return number(w.shared_load.requests); },
     [](const LaunchCounts& c) { return c.shared_load.requests; }},
    {"shared load wavefronts", [](const Work& w) { return number(w.shared_load.wavefronts); },
     [](const LaunchCounts& c) { return c.shared_load.sectors; }},
    {"shared store requests", [](const Work& w) { return number(w.shared_store.requests); },
     [](const LaunchCounts& c) { return c.shared_store.requests; }},
    {"shared store wavefronts", [](const Work& w) { return number(w.shared_store.wavefronts); },
     [](const LaunchCounts& c) { return c.shared_store.sectors; }},
    {"local requests", [](const Work&) { return 0.0; },
     [](const LaunchCounts& c) { return c.local_loads + c.local_stores; }},
});

}  // namespace

Execution execution_of(const ExplainOptions& options, const Context& context, const Chosen& chosen,
                       const Planned& one) {
  const profiler::FoundNvrtc nvrtc = find_compiler(options.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "--simulate needs NVRTC: " + nvrtc.why, nvrtc.remedy);
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
  context.talk->progress({"executing the kernel", 0, 0, {}});
  const profiler::Reference reference = profiler::reference_of(chosen.group().group, how.seed);
  execution.checked = profiler::check(one.kernel, reference, profiler::simulator_of(one.kernel, execution.binary), how);
  context.talk->finish();
  stop_if_asked(interrupts);
  execution.compiled = costmodel::compiled(one.work, execution.binary, chosen.device, chosen.calibration);
  if (execution.checked.counts.blocks_run > 0)
    execution.simulated =
        costmodel::simulated(one.work, execution.binary, execution.checked.counts, chosen.device, chosen.calibration);
  return execution;
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
                     ir::name(execution.simulated.bound));
}

report::Table count_table(const Planned& one, const Execution& execution) {
  report::Table table;
  table.title = "counted by the model and by executing the PTX (warp instructions, sectors of 32 bytes)";
  table.columns = {column("counter", "counter"), column("model", "model", Hint::count),
                   column("executed", "executed", Hint::count), column("ratio", "model / executed", Hint::ratio)};
  const LaunchCounts& counts = execution.checked.counts;
  if (counts.blocks_run == 0) return table;
  const auto add = [&](std::string name, double model, double executed) {
    if (model == 0 && executed == 0) return;
    table.rows.push_back({std::move(name), static_cast<std::int64_t>(model + 0.5),
                          static_cast<std::int64_t>(executed + 0.5), executed > 0 ? Cell(model / executed) : Cell()});
  };
  for (const CountPair& pair : pair_table) add(std::string(pair.name), pair.model(one.work), pair.executed(counts));
  const auto add_traffic = [&](const std::string& what, const costmodel::Traffic& model, const ir::AccessCounts& seen) {
    add(what + " requests", number(model.requests), seen.requests);
    add(what + " sectors", number(model.sectors), seen.sectors);
    add(what + " bytes", number(model.bytes), seen.bytes);
  };
  for (std::size_t i = 0; i < one.work.buffers.size() && i < counts.buffers.size(); ++i) {
    const std::string& buffer = one.kernel.buffers[i].name;
    add_traffic(buffer + " load", one.work.buffers[i].load, counts.buffers[i].load);
    add_traffic(buffer + " store", one.work.buffers[i].store, counts.buffers[i].store);
    add_traffic(buffer + " atomic", one.work.buffers[i].atomic, counts.buffers[i].atomic);
  }
  return table;
}

}  // namespace tailor::cli
