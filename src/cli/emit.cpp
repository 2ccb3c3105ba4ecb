// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor emit: the CUDA C++ of one plan, or the PTX that NVRTC makes of it.
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/planned.h"
#include "codegen/cuda/cuda.h"
#include "profiler/compile/compile.h"

namespace tailor::cli {

namespace {

ir::Binary compiled(const EmitOptions& options, const std::string& arch, const std::string& cuda) {
  const profiler::FoundNvrtc nvrtc = find_compiler(options.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "--ptx needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  ir::Binary binary = profiler::compile(*nvrtc.api, {.cuda = cuda, .arch = arch});
  if (binary.outcome == ir::CompileOutcome::unsupported)
    throw Error(Fault::missing, fmt::format("{} cannot compile for {}: {}", binary.compiler, arch, trim(binary.log)),
                "--arch names another architecture; tailor doctor lists those it knows");
  if (binary.outcome == ir::CompileOutcome::failed)
    throw Error(Fault::failed, fmt::format("{} refused the kernel:\n{}", binary.compiler, trim(binary.log)),
                "this is a bug of the printer or the lowering: please report it with the model and the plan");
  return binary;
}

}  // namespace

void run_emit(const EmitOptions& options, const Context& context) {
  if (!options.arch.empty() && !options.ptx)
    throw Error(Fault::usage, "--arch is the architecture that --ptx compiles for", "add --ptx");
  const Chosen chosen(context, options.what);
  const Planned one = planned(context, chosen, options.plan);
  const std::string cuda = codegen::cuda(one.kernel, &one.plan);
  const std::string arch = options.arch.empty() ? chosen.device.arch : options.arch;
  CommandOutput answer{"tailor.emit/1", chosen.device.name, {}, cuda};
  report::Table table;
  table.columns = {column("kernel", "kernel"), column("group", "group"), column("plan", "plan"),
                   column("state", "state"), column("cuda", "cuda")};
  table.rows.push_back(
      {one.kernel.name, short_hex(chosen.group().group.id), ir::text(one.plan), std::string("unchecked"), cuda});
  if (options.ptx) {
    const ir::Binary binary = compiled(options, arch, cuda);
    answer.text = binary.ptx;
    table.columns.insert(table.columns.end(),
                         {column("ptx", "ptx"), column("registers", "registers", report::Hint::integer),
                          column("compiler", "compiler")});
    table.rows.front().insert(
        table.rows.front().end(),
        {report::Cell(binary.ptx), report::Cell(std::int64_t{binary.registers}), report::Cell(binary.compiler)});
    context.console->note(fmt::format("{} for {}: {} registers, {} B spilled, in {}", binary.compiler, arch,
                                      binary.registers, binary.spill_stores,
                                      humane_seconds(binary.compile_time.value)));
  }
  answer.sections.push_back({"kernel", std::move(table)});
  show(context, answer);
}

}  // namespace tailor::cli
