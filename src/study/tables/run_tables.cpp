// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of a run of anybody's kernel. In: what the run left, and the kernel's text. Out: tables, and how a command
// ends that ran it. What a reader looks for first stands first: whether it is clean, then what was found, then what the
// buffers hold. Called through run_tables.h.
#include "study/tables/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/counted.h"
#include "base/text.h"
#include "study/tables/check_tables.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;
using simulator::SimulationOutcome;

std::int64_t wrong_elements(const profiler::KernelRun& run) {
  return std::accumulate(
      run.buffers.begin(), run.buffers.end(), std::int64_t{0},
      [](std::int64_t sum, const auto& one) { return sum + (one.compared ? one.compared->wrong : 0); });
}

bool took_too_long(const profiler::KernelRun& run) {
  return std::any_of(run.simulation.findings.begin(), run.simulation.findings.end(),
                     [](const simulator::Finding& one) { return one.kind == simulator::FindingKind::too_long; });
}

}  // namespace

std::string_view outcome_word(const profiler::KernelRun& run) {
  switch (run.simulation.outcome) {
    case SimulationOutcome::unsupported:
      return "not executed";
    case SimulationOutcome::refused:
      return "refused";
    case SimulationOutcome::stopped:
    case SimulationOutcome::out_of_memory:
      return took_too_long(run) ? "too long" : errors(run.simulation.findings) == 0 ? "stopped" : "findings";
    case SimulationOutcome::finished:
      break;
  }
  if (errors(run.simulation.findings) != 0) return "findings";
  return wrong_elements(run) > 0 ? "wrong" : "clean";
}

report::Table run_table(const profiler::KernelRun& run, std::string_view kernel) {
  report::Table table;
  table.columns = {column("kernel", "kernel"),
                   column("outcome", "outcome"),
                   column("findings", "findings", Hint::integer),
                   column("schedules", "schedules", Hint::integer, 2),
                   column("blocks_run", "blocks run", Hint::count),
                   column("blocks", "of blocks", Hint::count, 3),
                   column("lane_instructions", "lane instructions", Hint::count, 1),
                   column("elapsed", "took", Hint::seconds, 4),
                   sentence("reason", "reason")};
  const simulator::Simulation& one = run.simulation;
  table.rows.push_back({std::string(kernel), std::string(outcome_word(run)), errors(one.findings), run.schedules,
                        one.blocks_run, one.blocks_total, one.counters.lane_instructions, one.time.value, one.reason});
  return table;
}

report::Table run_buffer_table(const profiler::KernelRun& run, const profiler::RunSpec& spec) {
  report::Table table;
  table.title = "buffers";
  table.columns = {column("buffer", "buffer"),
                   column("type", "type"),
                   column("buffer_use", "use"),
                   column("read", "read", Hint::bytes, 2),
                   column("written", "written", Hint::bytes, 2),
                   column("load_sectors", "sectors read", Hint::count, 3),
                   column("store_sectors", "sectors written", Hint::count, 3),
                   column("compared", "compared", Hint::count, 1),
                   column("wrong", "wrong", Hint::count),
                   column("worst", "worst error", Hint::number),
                   column("differs", "same in all schedules", Hint::text, 4),
                   sentence("reason", "reason")};
  for (std::size_t b = 0; b < run.buffers.size(); ++b) {
    const profiler::RunBuffer& buffer = spec.buffers[b];
    const profiler::BufferAfter& after = run.buffers[b];
    const auto& compared = after.compared;
    table.rows.push_back({buffer.name, fmt::format("{}[{}]", name(buffer.dtype), fmt::join(buffer.dims, ",")),
                          std::string(profiler::use_word(buffer.use)), static_cast<double>(after.counters.load.bytes),
                          static_cast<double>(after.counters.store.bytes + after.counters.atomic.bytes),
                          after.counters.load.sectors, after.counters.store.sectors + after.counters.atomic.sectors,
                          compared ? Cell(compared->elements) : Cell(), compared ? Cell(compared->wrong) : Cell(),
                          compared ? Cell(compared->worst) : Cell(),
                          run.schedules > 1 ? Cell(std::string(after.differs ? "no" : "yes")) : Cell(),
                          compared ? compared->reason : std::string()});
  }
  return table;
}

report::Table run_finding_table(const profiler::KernelRun& run, const std::string& text) {
  report::Table table;
  table.title = "findings";
  table.columns = {column("finding", "kind"),
                   column("severity", "severity"),
                   column("text", "what"),
                   column("seen", "times", Hint::count),
                   column("ptx_line", "PTX line", Hint::integer, 2),
                   column("cuda_line", "CUDA line", Hint::integer),
                   column("source_file", "file", Hint::text, 3),
                   column("cuda_text", "source", Hint::text, 1)};
  const std::vector<std::string_view> lines = split(text, '\n');
  for (const simulator::Finding& one : run.simulation.findings)
    table.rows.push_back({std::string(name(one.kind)), std::string(name(one.severity)), one.text, one.times,
                          line_number(one.ptx_line), line_number(one.source_line), one.source_file,
                          line_text(lines, one.source_line)});
  return table;
}

report::Table run_printed_table(const profiler::KernelRun& run) {
  report::Table table;
  table.title = run.simulation.printed_all ? "printed" : "printed: the beginning, of more than is kept";
  table.columns = {column("printed_text", "text")};
  std::string_view text = run.simulation.printed;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return table;
  for (const std::string_view line : split(text, '\n')) table.rows.push_back({std::string(line)});
  return table;
}

report::Table run_counter_table(const profiler::KernelRun& run) {
  report::Table table;
  table.title = "counters of the blocks that ran";
  table.columns = {column("counter", "counter"), column("value", "value", Hint::count), column("unit", "unit"),
                   column("what", "what", Hint::text, 1)};
  for (const simulator::CounterRow& row : simulator::counter_table())
    if (const std::int64_t value = run.simulation.counters.*row.value; value != 0)
      table.rows.push_back({std::string(row.name), value, std::string(row.unit), std::string(row.meaning)});
  return table;
}

report::Table run_line_table(const profiler::KernelRun& run, const std::string& text) {
  report::Table table;
  table.title = "memory instructions by line";
  table.columns = {column("cuda_line", "CUDA line", Hint::integer),
                   column("ptx_line", "PTX line", Hint::integer, 2),
                   column("opcode", "opcode"),
                   column("requests", "requests", Hint::count),
                   column("sectors", "sectors or passes", Hint::count),
                   column("requested", "bytes", Hint::bytes),
                   column("cuda_text", "source", Hint::text, 1)};
  const std::vector<std::string_view> lines = split(text, '\n');
  for (const simulator::SiteCounters& one : run.simulation.sites)
    table.rows.push_back({line_number(one.source_line), line_number(one.ptx_line), std::string(one.opcode),
                          one.counts.requests, one.counts.sectors, static_cast<double>(one.counts.bytes),
                          line_text(lines, one.source_line)});
  return table;
}

std::optional<Error> fault_of(const profiler::KernelRun& run, const profiler::RunSpec& spec) {
  const simulator::Simulation& one = run.simulation;
  switch (one.outcome) {
    case SimulationOutcome::unsupported:
      return Error(Fault::missing, fmt::format("the simulator cannot execute {}", one.reason),
                   "docs/simulator.md says what it executes");
    case SimulationOutcome::refused:
      return Error(Fault::failed, fmt::format("the launch is refused: {}", one.reason));
    case SimulationOutcome::stopped:
    case SimulationOutcome::out_of_memory:
      if (errors(one.findings) == 0)
        return Error(Fault::missing, one.reason, "a larger --time-limit, or --blocks for less to execute");
      break;
    case SimulationOutcome::finished:
      break;
  }
  if (const simulator::Finding* error = first_error(one.findings); error != nullptr) {
    const std::int64_t more = errors(one.findings) - 1;
    return Error(Fault::failed, describe(*error) + (more > 0 ? fmt::format("; {} more", more) : ""));
  }
  for (std::size_t b = 0; b < run.buffers.size(); ++b)
    if (const auto& compared = run.buffers[b].compared; compared && compared->wrong > 0)
      return Error(Fault::failed,
                   fmt::format("{} of {} of {} are wrong: {}", compared->wrong, counted(compared->elements, "element"),
                               spec.buffers[b].name, compared->reason));
  return std::nullopt;
}

}  // namespace tailor::study
