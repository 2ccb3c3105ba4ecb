// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code as rows of tables. In: what was read of it, and what following its control flow counted; the work
// counted from the program, which has coarser pipes: address arithmetic is the ALU's. Out: tables, and the words above
// them. Of a program they say what all its launches hold and execute. Called by tailor explain and tailor emit.
#include "study/tables/machine_table.h"

#include <fmt/format.h>

#include <optional>

#include "base/counted.h"
#include "base/indexed.h"
#include "base/text.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using ir::MachinePipe;
using report::Cell;
using report::Hint;

/// What the program's counting has for a pipe; nothing where it does not tell it apart.
std::optional<std::int64_t> in_program(const costmodel::Pipes& pipes, MachinePipe pipe) {
  switch (pipe) {
    case MachinePipe::fma:
      return pipes.fma;
    case MachinePipe::alu:  // machine code converts to 16 bits and from integers there
      return pipes.alu + pipes.pack + pipes.number + pipes.address;
    case MachinePipe::f64:
      return pipes.f64;
    case MachinePipe::xu:
      return pipes.xu;
    case MachinePipe::widen:
      return pipes.widen;
    case MachinePipe::narrow:
      return pipes.narrow;
    case MachinePipe::memory:
      return pipes.memory;
    case MachinePipe::shuffle:
      return pipes.shuffle;
    case MachinePipe::barrier:
      return pipes.barrier;
    case MachinePipe::control:
      return pipes.control;
    default:
      return {};
  }
}

Cell followed_cell(const ir::MachineWork& machine, std::int64_t count) {
  return machine.counted ? Cell(count) : Cell();
}

}  // namespace

report::Table machine_pipe_table(const ir::MachineWork& of, const costmodel::Work& counted) {
  const ir::MachineWork machine = together(of);
  const costmodel::Work work = costmodel::together(counted);
  report::Table table;
  table.title = fmt::format(
      "{} machine code by pipe, warp instructions of a launch: as the program has them, as they were followed",
      machine.arch);
  table.columns = {column("pipe", "pipe"), column("program_instructions", "program", Hint::count),
                   column("executed_instructions", "followed", Hint::count),
                   column("code_instructions", "in the code", Hint::count),
                   column("pipe_executes", "what", Hint::text, 1)};
  for (std::size_t i = 0; i < ir::machine_pipe_count; ++i) {
    const auto pipe = static_cast<MachinePipe>(i);
    const std::optional<std::int64_t> program = in_program(work.pipes, pipe);
    if (machine.instructions[i] == 0 && program.value_or(0) == 0) continue;
    table.rows.push_back({std::string(name(pipe)), program ? Cell(*program) : Cell(),
                          followed_cell(machine, machine.executed[i]), machine.instructions[i],
                          std::string(words(pipe))});
  }
  return table;
}

report::Table machine_operation_table(const ir::MachineWork& of) {
  const ir::MachineWork machine = together(of);
  report::Table table;
  table.title = fmt::format("operations of {} machine code", machine.arch);
  table.columns = {column("machine_operation", "operation"), column("pipe", "pipe"),
                   column("executed_instructions", "followed", Hint::count),
                   column("code_instructions", "in the code", Hint::count)};
  for (const ir::MachineOperation& row : machine.operations)
    table.rows.push_back(
        {row.name, std::string(name(row.pipe)), followed_cell(machine, row.executed), row.instructions});
  return table;
}

std::string machine_words(const ir::MachineWork& of) {
  const ir::MachineWork machine = together(of);
  const std::string note = machine.note.empty() ? "" : "; " + machine.note;
  if (!machine.counted) return fmt::format("not counted, so the program's instructions stand{}", note);
  return fmt::format("{} warp instructions of machine code, followed in {} of {}; written down are {}{}",
                     with_commas(ir::total(machine.executed)), with_commas(machine.warps_run),
                     counted(machine.warps_total, "warp"), with_commas(ir::total(machine.instructions)), note);
}

}  // namespace tailor::study
