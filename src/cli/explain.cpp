// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor explain: one kernel beside its estimate, in the order a person reads a profile. What it is and where; how much
// of the time each part would take alone; what binds; what was counted, and with --simulate what an
// execution counted beside it; with --profiler the time
// and the counters of a GPU; a sentence of advice; the program itself.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/execution.h"
#include "cli/output.h"
#include "cli/planned.h"
#include "costmodel/occupancy.h"
#include "report/width.h"
#include "study/tables/count_table.h"

namespace tailor::cli {

using namespace study;

namespace {

using report::Cell;
using report::Hint;
using report::Table;

constexpr int bar_width = 40;

struct Explained {
  const Chosen& chosen;
  const Planned& planned;
  costmodel::Occupancy occupancy;
  std::vector<std::string> advice;
  std::optional<Execution> execution;                 ///< where it was asked for and could be had
  std::optional<profiler::CandidateResult> measured;  ///< likewise
};

std::span<const ir::CounterValue> gpu_counters(const Explained& all) {
  if (!all.measured || all.measured->times.empty()) return {};
  return all.measured->times.front().counters;
}

/// The model's counts beside those of whoever else counted; nothing when nobody did.
std::optional<Table> make_count_table(const Explained& all) {
  const bool executed = all.execution && all.execution->checked.counts.blocks_run > 0;
  if (!executed && gpu_counters(all).empty()) return {};
  return count_table(all.planned.kernel,
                     {&all.planned.work, executed ? &all.execution->checked.counts : nullptr, gpu_counters(all)});
}

/// "unchecked", or what the execution found.
std::string state_of(const Explained& all) {
  if (all.execution) return std::string(profiler::name(all.execution->checked.state));
  if (!all.measured || !all.measured->judged) return "unchecked";
  return all.measured->outcome == ir::Outcome::ok ? "passed" : std::string(ir::name(all.measured->outcome));
}

double seconds_of(const ir::Estimate& estimate, std::size_t part) { return estimate.parts[part].value; }

Table estimate_table(const Explained& all) {
  const ir::Estimate& e = all.planned.estimate;
  const ir::Kernel& k = all.planned.kernel;
  Table table;
  table.columns = {column("kernel", "kernel"),
                   column("group", "group"),
                   column("time", "time", Hint::seconds),
                   column("low", "at least", Hint::seconds),
                   column("high", "at most", Hint::seconds),
                   column("level", "level"),
                   column("bound", "binds"),
                   column("state", "state"),
                   column("occupancy", "occupancy", Hint::fraction),
                   column("blocks_per_sm", "blocks per SM", Hint::integer),
                   column("limiter", "limited by"),
                   column("waves", "waves", Hint::number),
                   column("registers", "registers", Hint::integer),
                   column("threads", "threads", Hint::integer),
                   column("grid", "grid", Hint::count),
                   column("shared", "shared", Hint::bytes),
                   column("advice", "advice"),
                   column("plan", "plan"),
                   column("program", "program")};
  std::string advice;
  for (const std::string& line : all.advice) advice += (advice.empty() ? "" : "; ") + line;
  table.rows.push_back({k.name, short_hex(all.chosen.group().group.id), e.total.value, e.low.value, e.high.value,
                        std::string(ir::name(e.level)), std::string(ir::name(e.bottleneck)), state_of(all), e.occupancy,
                        std::int64_t{all.occupancy.blocks_per_sm}, std::string(costmodel::name(all.occupancy.limiter)),
                        e.waves, std::int64_t{e.registers}, std::int64_t{k.threads}, k.grid,
                        static_cast<double>(k.shared_bytes), advice, ir::text(all.planned.plan), ir::text(k)});
  return table;
}

Table part_table(const ir::Estimate& estimate) {
  Table table;
  table.title = "parts";
  table.columns = {
      column("part", "part"), {"time", "time", Hint::seconds}, {"share", "share of the total", Hint::fraction}};
  for (std::size_t i = 0; i < ir::part_count; ++i)
    table.rows.push_back({std::string(ir::name(static_cast<ir::Part>(i))), seconds_of(estimate, i),
                          seconds_of(estimate, i) / estimate.total.value});
  return table;
}

Table buffer_table(const Planned& planned) {
  Table table;
  table.title = "counted work: sectors are of 32 bytes";
  table.columns = {column("buffer", "buffer"),
                   {"dtype", "dtype"},
                   {"elements", "elements", Hint::count, 2},
                   {"direction", "direction"},
                   {"requests", "requests", Hint::count},
                   {"sectors", "sectors", Hint::count},
                   {"accessed", "accessed", Hint::bytes},
                   {"once", "moved once", Hint::bytes},
                   {"used", "used", Hint::fraction}};
  const auto add = [&](const ir::Buffer& buffer, std::string_view direction, const costmodel::Traffic& traffic,
                       std::int64_t once) {
    if (traffic.requests == 0) return;
    const auto bytes = static_cast<double>(traffic.bytes);
    table.rows.push_back({buffer.name, std::string(ir::name(buffer.dtype)), buffer.elements, std::string(direction),
                          traffic.requests, traffic.sectors, bytes, static_cast<double>(once),
                          bytes / (32.0 * static_cast<double>(traffic.sectors))});
  };
  for (std::size_t i = 0; i < planned.work.buffers.size(); ++i) {
    const costmodel::BufferWork& work = planned.work.buffers[i];
    const ir::Buffer& buffer = planned.kernel.buffers[i];
    add(buffer, "load", work.load, work.read_bytes);
    add(buffer, "store", work.store, work.written_bytes);
    add(buffer, "atomic", work.atomic, work.written_bytes);
  }
  return table;
}

std::string bars(const ir::Estimate& estimate, bool colour) {
  std::string out;
  for (std::size_t i = 0; i < ir::part_count; ++i) {
    const double seconds = seconds_of(estimate, i);
    const double share = seconds / estimate.total.value;
    if (seconds <= 0) continue;
    const auto which = static_cast<ir::Part>(i);
    const int filled = std::clamp(static_cast<int>(share * bar_width + 0.5), 0, bar_width);
    std::string bar;
    for (int cell = 0; cell < bar_width; ++cell) bar += cell < filled ? "█" : "·";
    const bool binds = which == estimate.bottleneck;
    if (colour && binds) bar = "\x1b[1;33m" + bar + "\x1b[0m";
    out += fmt::format("  {:<8} {} {:>5.1f} %  {:>9}{}\n", ir::name(which), bar, 100 * share, humane_seconds(seconds),
                       binds ? "  binds" : "");
  }
  return out;
}

std::string pipes_line(const costmodel::Pipes& pipes) {
  std::string out;
  const auto add = [&](std::string_view what, std::int64_t count) {
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", with_commas(count), what);
  };
  add("fma", pipes.fma);
  add("alu", pipes.alu);
  add("xu", pipes.xu);
  add("f64", pipes.f64);
  add("conversions", pipes.widen + pipes.narrow);
  add("memory", pipes.memory);
  add("shuffle", pipes.shuffle);
  add("barrier", pipes.barrier);
  add("control", pipes.control);
  add("address", pipes.address);
  return out;
}

/// `words` after a lead of two columns and `label`, broken at the screen's edge.
std::string paragraph(std::string_view label, std::string_view words, int width) {
  std::string out;
  for (const std::string& line : report::wrapped(words, std::max(20, width - 12))) {
    out += fmt::format("{:<11} {}\n", label, line);
    label = "";
  }
  return out;
}

std::string explanation(const Explained& all, const Context& context) {
  const ir::Estimate& e = all.planned.estimate;
  const ir::Kernel& k = all.planned.kernel;
  const int width = context.terminal.width;
  const bool colour = context.colour && context.output.empty();
  std::string out = paragraph("device", fmt::format("{} ({})", all.chosen.device.title, all.chosen.device.arch), width);
  out += paragraph("kernel", k.name, width);
  out += paragraph("of", all.chosen.title(), width);
  out += paragraph("plan", ir::text(all.planned.plan), width);
  out +=
      fmt::format("\npredicted   {} ({} to {}), level {}, bound by {}{}\n", humane_seconds(e.total.value),
                  humane_seconds(e.low.value), humane_seconds(e.high.value), ir::name(e.level), ir::name(e.bottleneck),
                  state_of(all) != "unchecked" ? "" : "; unchecked: it has not been executed (--simulate does)");
  if (all.execution) out += execution_words(*all.execution);
  if (all.measured) out += measured_words(*all.measured, e.total);
  out += "\n";
  out += "each part alone, as a share of the predicted time (parts overlap)\n" + bars(e, colour) + "\n";
  out += paragraph("launch",
                   fmt::format("{} blocks of {} threads{}, {} shared per block", with_commas(k.grid), k.threads,
                               k.persistent ? fmt::format(" looping over {} tiles", with_commas(k.virtual_blocks)) : "",
                               humane_bytes(static_cast<double>(k.shared_bytes))),
                   width);
  out += paragraph(
      "occupancy",
      fmt::format("{:.0f} %: {} blocks per SM, limited by {}; {} wave{}; about {} registers per thread",
                  100 * all.occupancy.fraction, all.occupancy.blocks_per_sm, costmodel::name(all.occupancy.limiter),
                  three_figures(e.waves), e.waves == 1 ? "" : "s", e.registers),
      width);
  out += paragraph("issued", pipes_line(all.planned.work.pipes) + " (warp instructions)", width);
  const costmodel::Work& work = all.planned.work;
  if (work.shared_load.requests + work.shared_store.requests > 0)
    out += paragraph(
        "shared",
        fmt::format("{} requests in {} passes", with_commas(work.shared_load.requests + work.shared_store.requests),
                    with_commas(work.shared_load.wavefronts + work.shared_store.wavefronts)),
        width);
  out += "\n" + report::terminal(buffer_table(all.planned), {width, colour, 0});
  if (const std::optional<Table> counts = make_count_table(all))
    out += "\n" + report::terminal(*counts, {width, colour, 0}) + "\n";
  if (!gpu_counters(all).empty())
    out += "\n" + report::terminal(gpu_counter_table(gpu_counters(all)), {width, colour, 0}) + "\n";
  if (work.sampled) out += "  sectors are from a sample: an index is not periodic\n";
  for (const std::string& line : all.advice) out += "\n" + paragraph("advice", line, width);
  return out + "\n" + ir::text(k);
}

}  // namespace

void run_explain(const ExplainOptions& options, const Context& context) {
  const Chosen chosen(context, options.what);
  const Planned one = planned(context, chosen, options.plan);
  const Explained all{
      chosen,
      one,
      costmodel::occupancy(chosen.limits, one.kernel.threads, one.estimate.registers, one.kernel.shared_bytes),
      costmodel::advice(one.estimate, one.work, chosen.device),
      options.simulate ? std::optional(execute_plan(options, context, chosen, one)) : std::nullopt,
      options.profiler.empty() ? std::nullopt : std::optional(measured_plan(options, context, chosen, one))};
  CommandOutput answer{"tailor.explain/1", chosen.device.name, {}, explanation(all, context)};
  answer.sections.push_back({"estimate", estimate_table(all)});
  answer.sections.push_back({"parts", part_table(one.estimate)});
  answer.sections.push_back({"buffers", buffer_table(one)});
  if (all.measured) answer.sections.push_back({"measured", measured_plan_table(*all.measured, one.estimate.total)});
  if (std::optional<Table> counts = make_count_table(all)) answer.sections.push_back({"executed", std::move(*counts)});
  if (!gpu_counters(all).empty()) answer.sections.push_back({"gpu_counters", gpu_counter_table(gpu_counters(all))});
  show(context, answer);
  if (all.measured && all.measured->outcome != ir::Outcome::ok)
    throw Error(ir::is_refuted(all.measured->outcome) ? Fault::failed : Fault::missing,
                fmt::format("the plan was not measured: {}{}", ir::name(all.measured->outcome),
                            all.measured->reason.empty() ? "" : ": " + all.measured->reason));
}

}  // namespace tailor::cli
