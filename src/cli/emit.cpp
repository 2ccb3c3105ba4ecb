// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor emit: the CUDA text of one plan, ready to be read or compiled; with --ptx what NVRTC makes of it. In: a
// model, a device, a group and a plan. Out: text on stdout, or the file named with -o. Without a plan it is the best
// one by the cost model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "study/pipeline/gpu_access.h"
#include "study/tables/machine_table.h"

namespace tailor::cli {

namespace {

/// Fills the candidate's binary. Throws when there is none to be had.
void compile_ptx(const EmitOptions& options, const ir::Device& device, study::Candidate& one,
                 const study::Watch& watch) {
  const profiler::FoundNvrtc nvrtc = study::find_compiler(options.compiler.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "--ptx needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  study::compile(
      {&one, 1},
      {.api = nvrtc.api.get(), .arch = options.arch, .compiler = study::compiler_setup(options.compiler), .workers = 1},
      {study::silent(), watch.stop});
  if (!one.binary) throw Error(Fault::interrupted, "interrupted");
  const ir::Binary& binary = *one.binary;
  if (binary.outcome == ir::CompileOutcome::unsupported)
    throw Error(Fault::missing, std::string(trim(binary.log)), "tailor doctor lists those it knows");
  if (binary.outcome == ir::CompileOutcome::too_long) throw Error(Fault::failed, std::string(trim(binary.log)));
  if (binary.outcome == ir::CompileOutcome::failed)
    throw Error(
        Fault::failed, fmt::format("{} refused the kernel:\n{}", binary.compiler, trim(binary.log)),
        options.arch.empty() || options.arch == device.arch
            ? "this is a bug of the printer or the lowering: please report it with the model and the plan"
            : fmt::format("the plan is one for {}, and {} may lack what it uses: --device names a GPU to plan for",
                          device.arch, options.arch));
}

}  // namespace

void run_emit(const EmitOptions& options, const Context& context) {
  context.interrupts->holds_nothing();
  if (!options.arch.empty() && !options.ptx)
    throw Error(Fault::usage, "--arch is the architecture that --ptx compiles for", "add --ptx");
  ChosenGroup chosen(context, options.what);
  const study::Watch watch = context.watch();
  study::Candidate one = study::choose_plan(chosen.model, chosen.number, options.plan, watch);
  study::print({&one, 1});
  const ir::Device& device = chosen.model.target.device;
  CommandOutput answer{"tailor.emit/1", device.name, {}, one.cuda};
  report::Table table;
  table.columns = {column("kernel", "kernel"), column("group", "group"), column("plan", "plan"),
                   column("state", "state"), column("cuda", "cuda")};
  table.rows.push_back(
      {one.kernel.name, short_hex(one.of->group.id), ir::text(one.plan), std::string("unchecked"), one.cuda});
  if (options.ptx) {
    compile_ptx(options, device, one, watch);
    const ir::Binary& binary = *one.binary;
    answer.text = binary.ptx;
    table.columns.insert(table.columns.end(),
                         {column("ptx", "ptx"), column("registers", "registers", report::Hint::integer),
                          column("compiler", "compiler")});
    table.rows.front().insert(
        table.rows.front().end(),
        {report::Cell(binary.ptx), report::Cell(std::int64_t{most_of(binary, &ir::CompiledEntry::registers)}),
         report::Cell(binary.compiler)});
    std::vector<std::string> entries;
    for (const ir::CompiledEntry& entry : entries_of(binary))
      entries.push_back(fmt::format("{}, {} B spilled, {}, {} loads at once", counted(entry.registers, "register"),
                                    entry.spill_stores + entry.spill_loads,
                                    counted(entry.machine_instructions, "instruction"), entry.loads_outstanding));
    if (options.arch.empty() && binary.arch != device.arch)
      context.console->warning(fmt::format("compiled for {} in the place of {}, which {} does not compile for",
                                           binary.arch, device.arch, binary.compiler));
    context.console->note(fmt::format("{} for {}: {}, in {}", binary.compiler, binary.arch,
                                      fmt::join(entries, "; then "), humane_seconds(binary.compile_time.value)));
  }
  answer.sections.push_back({"kernel", std::move(table)});
  if (one.machine) {
    answer.sections.push_back({"machine", study::machine_pipe_table(*one.machine, one.work)});
    answer.sections.push_back({"machine_operations", study::machine_operation_table(*one.machine)});
  }
  show(context, answer);
}

}  // namespace tailor::cli
