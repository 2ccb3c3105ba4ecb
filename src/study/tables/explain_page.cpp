// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One plan as a page for people, in the order in which a profile is read. In: a candidate with its estimate, what
// executing and measuring it found, and how wide the screen is. Out: text. Called by tailor explain, which shows the
// same as tables where somebody asks for them.
#include "study/tables/explain_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/text.h"
#include "ir/regime.h"
#include "profiler/measure/sampled.h"
#include "report/width.h"
#include "study/tables/count_table.h"
#include "study/tables/machine_table.h"
#include "study/tables/plan_words.h"
#include "study/tables/profile_tables.h"
#include "study/tables/work_tables.h"
#include "study/tables/xla_beside_table.h"

namespace tailor::study {

std::span<const ir::CounterValue> gpu_counters(const Explained& all) {
  if (!all.one.measured || all.one.measured->times.empty()) return {};
  return all.one.measured->times.front().counters;
}

std::optional<report::Table> counted_beside(const Explained& all) {
  const Candidate& one = all.one;
  const bool executed = one.verdict && one.verdict->counts.blocks_run > 0;
  if (!executed && gpu_counters(all).empty()) return {};
  return count_table(one.kernel, {&one.work, executed ? &one.verdict->counts : nullptr, gpu_counters(all)});
}

std::string state_of(const Explained& all) {
  const Candidate& one = all.one;
  if (one.verdict) return std::string(profiler::name(one.verdict->state));
  if (!one.measured || !one.measured->judged) return "unchecked";
  return one.measured->outcome == ir::Outcome::ok ? "passed" : std::string(ir::name(one.measured->outcome));
}

namespace {

double seconds_of(const ir::Estimate& estimate, std::size_t part) { return estimate.parts[part].value; }

std::string bars(const ir::Estimate& estimate, int width, bool colour) {
  const int bar_width = std::clamp(width - 40, 10, 40);
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
  add("conversions", conversions(pipes));
  add("memory", pipes.memory);
  add("shuffle", pipes.shuffle);
  add("barrier", pipes.barrier);
  add("control", pipes.control);
  add("address", pipes.address);
  return out;
}

/// Lines that have a label in their first columns, broken as a paragraph is.
std::string labelled(std::string_view lines, int width) {
  constexpr std::size_t lead = 12;
  std::string out;
  for (const std::string_view line : split(lines, '\n'))
    if (line.size() > lead) out += paragraph(trim(line.substr(0, lead)), line.substr(lead), width);
  return out;
}

/// "63 % of the bound: 8.93 us predicted, 5.64 us at least by the data sheet".
std::string bound_words(const Explained& all) {
  const double bound = all.bound.value, predicted = all.estimate.total.value;
  std::string out = fmt::format("{:.0f} % of the bound: {} predicted, {} at least by the data sheet",
                                100 * bound / predicted, humane_seconds(predicted), humane_seconds(bound));
  if (!all.one.measured || all.one.measured->times.empty() || all.one.measured->times.front().samples.empty())
    return out;
  const ir::Measurement& measured = all.one.measured->times.front();
  const double median = profiler::time_of(measured).median;
  // A timer that leaves the launch out is held against a bound that leaves it out.
  const ir::Regime regime = ir::make_regime(measured.protocol);
  const bool has_launch = regime.includes.launch_gap;
  const double least = costmodel::sol(all.one.of->work, all.one.on->calibrated, regime).total.value;
  return out + fmt::format("; {:.0f} % as measured ({}{})", 100 * least / median, humane_seconds(median),
                           has_launch ? "" : fmt::format(" without the launch, as {} takes it", name(regime.timer)));
}

/// What its machine code says of the time, where that is another one than the program's counts say; else empty.
std::string compiled_words(const Explained& all) {
  constexpr double worth_saying = 0.1;
  if (!all.compiled) return {};
  const ir::Estimate& e = *all.compiled;
  if (std::abs(e.total.value / all.estimate.total.value - 1) < worth_saying) return {};
  return fmt::format("{} ({} to {}), level {}, bound by {}: with the instructions of the machine code and {}",
                     humane_seconds(e.total.value), humane_seconds(e.low.value), humane_seconds(e.high.value),
                     ir::name(e.level), ir::name(e.bottleneck), counted(e.registers, "register"));
}

/// What a kernel whose plan has resident blocks lets the compiler do; empty where it may choose.
std::string resident_words(const ir::Kernel& kernel, const ir::Limits& limits) {
  if (kernel.min_blocks == 0) return {};
  return fmt::format("; {} must be resident, which leaves the compiler {} per thread",
                     counted(kernel.min_blocks, "block"),
                     counted(costmodel::most_registers(limits, kernel.threads, kernel.min_blocks), "register"));
}

}  // namespace

std::string paragraph(std::string_view label, std::string_view words, int width) {
  std::string out;
  for (const std::string& line : report::wrapped(words, std::max(20, width - 12))) {
    out += fmt::format("{:<11} {}\n", label, line);
    label = "";
  }
  return out;
}

namespace {

std::string launch_words(const Chain<ir::Kernel>& launch) {
  const ir::Kernel& k = launch[0];
  const ir::LaunchShape shape = launch_shape(launch);
  std::string words = fmt::format(
      "{} of {}{}, {} shared per block", counted(static_cast<std::int64_t>(shape.grid[0]), "block"),
      counted(k.threads, "thread"),
      k.persistent && launch.size() == 1 ? fmt::format(" looping over {} tiles", with_commas(k.virtual_blocks)) : "",
      humane_bytes(static_cast<double>(shape.static_shared + shape.dynamic_shared)));
  if (launch.size() == 1) return words;
  std::string each;
  for (const Chain<ir::Kernel>& step : steps_of(launch)) {
    std::string beside;
    for (const ir::Kernel& body : step) {
      beside += (beside.empty() ? "" : ", ") + with_commas(body.virtual_blocks);
      if (body.persistent && !has_steps(launch)) beside += fmt::format(" by {}", with_commas(body.grid));
    }
    each += (each.empty() ? "" : ", then ") + (is_meeting(step[0]) ? "all meet" : beside);
  }
  if (!has_steps(launch)) return words + fmt::format("; blocks side by side: {}", each);
  return words + fmt::format("; virtual blocks in steps: {}", each);
}

/// At most so many lines of a text, 0 for all, and how many were left out.
std::string first_lines(const std::string& text, std::size_t most) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (most == 0 || lines <= most) return text;
  std::size_t end = 0;
  for (std::size_t i = 0; i < most; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end) +
         fmt::format("{} of {} are left out: --top 0 shows all\n", with_commas(lines - most), counted(lines, "line"));
}

std::string tables_and_program(const Explained& all, const report::Screen& screen) {
  const auto shown = [&](report::Table table) {
    table.to_see_all = "--top 0";
    return "\n" + report::terminal(table, screen);
  };
  std::string out = shown(buffer_table(all.one));
  if (std::optional<report::Table> counts = counted_beside(all)) out += shown(std::move(*counts)) + "\n";
  if (all.one.machine) out += shown(machine_pipe_table(*all.one.machine, all.one.work)) + "\n";
  if (!gpu_counters(all).empty()) out += shown(gpu_counter_table(gpu_counters(all))) + "\n";
  if (costmodel::together(all.one.work).sampled)
    out += "  some counts are from a sample: its indices fall into too many cases\n";
  return out + "\n" + first_lines(ir::text(all.one.kernel), screen.max_rows);
}

}  // namespace

std::string explanation(const Explained& all, const report::Screen& screen) {
  const int width = screen.width;
  const ir::Estimate& e = all.estimate;
  const ir::Kernel& k = all.one.kernel;
  std::string out = paragraph("reaches", bound_words(all), width);
  for (const std::string& line : all.advice) out += paragraph("advice", line, width);
  out += "\n" + paragraph("device", fmt::format("{} ({})", all.one.on->device.title, all.one.on->device.arch), width);
  for (const ir::Kernel& one : kernels_of(k))
    out += paragraph(&one == &k ? "kernel" : ir::name(one.begins), one.name, width);
  out += paragraph("of", all.title, width);
  out += paragraph("plan", ir::text(all.one.plan), width);
  if (const std::string pieces = pieces_words(all.one); !pieces.empty()) out += paragraph("loop", pieces, width);
  if (const std::string stitches = stitch_words(all.one); !stitches.empty())
    out += paragraph("reductions", stitches, width);
  out += "\n" +
         paragraph(
             "predicted",
             fmt::format("{} ({} to {}), level {}, bound by {}{}", humane_seconds(e.total.value),
                         humane_seconds(e.low.value), humane_seconds(e.high.value), ir::name(e.level),
                         ir::name(e.bottleneck),
                         state_of(all) != "unchecked" ? "" : "; unchecked: it has not been executed (--simulate does)"),
             width);
  if (const std::string words = compiled_words(all); !words.empty()) out += paragraph("compiled", words, width);
  if (all.xla) out += paragraph("XLA", xla_beside_words(*all.xla, e), width);
  if (all.one.verdict) out += labelled(execution_words(all.one), width);
  if (all.one.measured) out += labelled(measured_words(all.one), width);
  out += "\n";
  for (const std::string& line :
       report::wrapped("each part alone, as a share of the predicted time (parts overlap)", width))
    out += line + "\n";
  out += bars(e, width, screen.colour) + "\n";
  for (const Chain<ir::Kernel>& launch : launches_of(k)) out += paragraph("launch", launch_words(launch), width);
  out += paragraph(
      "occupancy",
      fmt::format("{:.0f} %: {} per SM, limited by {}; {} {}; about {} per thread{}", 100 * all.occupancy.fraction,
                  counted(all.occupancy.blocks_per_sm, "block"), costmodel::name(all.occupancy.limiter),
                  three_figures(e.waves), e.waves == 1 ? "wave" : "waves", counted(e.registers, "register"),
                  resident_words(k, all.one.on->limits)),
      width);
  const costmodel::Work work = costmodel::together(all.one.work);
  out += paragraph("issued", pipes_line(work.pipes) + " (warp instructions)", width);
  if (all.one.machine) out += paragraph("machine", machine_words(*all.one.machine), width);
  if (work.shared_load.requests + work.shared_store.requests > 0)
    out +=
        paragraph("shared",
                  fmt::format("{} requests in {}", with_commas(work.shared_load.requests + work.shared_store.requests),
                              counted(work.shared_load.wavefronts + work.shared_store.wavefronts, "pass")),
                  width);
  return out + tables_and_program(all, screen);
}

}  // namespace tailor::study
