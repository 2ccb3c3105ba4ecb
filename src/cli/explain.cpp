// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor explain: one kernel beside its estimate, in the order a person reads a profile: what it is, how long each
// part would take alone, the bottleneck, what was counted (with --simulate what an execution counted beside it, with
// --profiler a GPU's time and counters), a sentence of advice, the program itself. Called by main's table of commands.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/execution.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "costmodel/occupancy.h"
#include "report/width.h"
#include "study/tables/count_table.h"
#include "study/tables/plan_words.h"
#include "study/tables/profile_tables.h"
#include "study/tables/work_tables.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

constexpr int bar_width = 40;

struct Explained {
  ChosenGroup& chosen;
  study::Candidate one;  ///< with its verdict and measurement, where they were asked for
  ir::Estimate estimate;
  costmodel::Occupancy occupancy;
  std::vector<std::string> advice;

  const ir::Device& device() const { return one.on->device; }
};

std::span<const ir::CounterValue> gpu_counters(const Explained& all) {
  if (!all.one.measured || all.one.measured->times.empty()) return {};
  return all.one.measured->times.front().counters;
}

/// The model's counts beside those of whoever else counted; nothing when nobody did.
std::optional<Table> make_count_table(const Explained& all) {
  const study::Candidate& one = all.one;
  const bool executed = one.verdict && one.verdict->counts.blocks_run > 0;
  if (!executed && gpu_counters(all).empty()) return {};
  return study::count_table(one.kernel, {&one.work, executed ? &one.verdict->counts : nullptr, gpu_counters(all)});
}

/// "unchecked", or what the execution found.
std::string state_of(const Explained& all) {
  const study::Candidate& one = all.one;
  if (one.verdict) return std::string(profiler::name(one.verdict->state));
  if (!one.measured || !one.measured->judged) return "unchecked";
  return one.measured->outcome == ir::Outcome::ok ? "passed" : std::string(ir::name(one.measured->outcome));
}

double seconds_of(const ir::Estimate& estimate, std::size_t part) { return estimate.parts[part].value; }

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
  const ir::Estimate& e = all.estimate;
  const ir::Kernel& k = all.one.kernel;
  const int width = context.terminal.width;
  const bool colour = context.colour && context.output.empty();
  std::string out = paragraph("device", fmt::format("{} ({})", all.device().title, all.device().arch), width);
  out += paragraph("kernel", k.name, width);
  out += paragraph("of", all.chosen.model.title(all.chosen.number), width);
  out += paragraph("plan", ir::text(all.one.plan), width);
  out +=
      fmt::format("\npredicted   {} ({} to {}), level {}, bound by {}{}\n", humane_seconds(e.total.value),
                  humane_seconds(e.low.value), humane_seconds(e.high.value), ir::name(e.level), ir::name(e.bottleneck),
                  state_of(all) != "unchecked" ? "" : "; unchecked: it has not been executed (--simulate does)");
  if (all.one.verdict) out += study::execution_words(all.one);
  if (all.one.measured) out += study::measured_words(all.one);
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
  out += paragraph("issued", pipes_line(all.one.work.pipes) + " (warp instructions)", width);
  const costmodel::Work& work = all.one.work;
  if (work.shared_load.requests + work.shared_store.requests > 0)
    out += paragraph(
        "shared",
        fmt::format("{} requests in {} passes", with_commas(work.shared_load.requests + work.shared_store.requests),
                    with_commas(work.shared_load.wavefronts + work.shared_store.wavefronts)),
        width);
  out += "\n" + report::terminal(study::buffer_table(all.one), {width, colour, 0});
  if (const std::optional<Table> counts = make_count_table(all))
    out += "\n" + report::terminal(*counts, {width, colour, 0}) + "\n";
  if (!gpu_counters(all).empty())
    out += "\n" + report::terminal(study::gpu_counter_table(gpu_counters(all)), {width, colour, 0}) + "\n";
  if (work.sampled) out += "  some counts are from a sample: its indices fall into too many cases\n";
  for (const std::string& line : all.advice) out += "\n" + paragraph("advice", line, width);
  return out + "\n" + ir::text(k);
}

}  // namespace

void run_explain(const ExplainOptions& options, const Context& context) {
  ChosenGroup chosen(context, options.what);
  const study::Watch watch = context.watch();
  Explained all{chosen, study::choose_plan(chosen.model, chosen.number, options.plan, watch), {}, {}, {}};
  study::Candidate& one = all.one;
  all.estimate = one.standing.estimates.front();
  all.occupancy =
      costmodel::occupancy(one.on->limits, one.kernel.threads, all.estimate.registers, one.kernel.shared_bytes);
  all.advice = costmodel::advice(all.estimate, one.work, one.on->device);
  study::print({&one, 1});
  if (options.simulate) execute_plan(options, one, watch);
  if (!options.profiler.empty()) measure_plan(options, context, one, watch);
  CommandOutput answer{"tailor.explain/1", all.device().name, {}, explanation(all, context)};
  answer.sections.push_back(
      {"estimate", study::estimate_table(all.one, all.estimate, all.occupancy, all.advice, state_of(all))});
  answer.sections.push_back({"parts", study::part_table(all.estimate)});
  answer.sections.push_back({"buffers", study::buffer_table(one)});
  if (one.measured) answer.sections.push_back({"measured", study::measured_plan_table(one)});
  if (std::optional<Table> counts = make_count_table(all)) answer.sections.push_back({"executed", std::move(*counts)});
  if (!gpu_counters(all).empty())
    answer.sections.push_back({"gpu_counters", study::gpu_counter_table(gpu_counters(all))});
  show(context, answer);
  if (one.measured && one.measured->outcome != ir::Outcome::ok)
    throw Error(ir::is_refuted(one.measured->outcome) ? Fault::failed : Fault::missing,
                fmt::format("the plan was not measured: {}{}", ir::name(one.measured->outcome),
                            one.measured->reason.empty() ? "" : ": " + one.measured->reason));
}

}  // namespace tailor::cli
