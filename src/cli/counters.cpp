// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor counters: what can be counted on a GPU, by which of CUPTI's metrics on a chip, and how often a kernel must
// run for it. Asked of CUPTI's host library, so no GPU is needed; without a chip not even the library. In: a chip or a
// device, names of counters, a tier. Out: tables on stdout.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "profiler/gpu/cupti/metrics.h"
#include "study/pipeline/gpu_access.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

int last_tier() {
  int last = 0;
  for (const gpu::CounterRow& row : gpu::counter_table()) last = std::max(last, row.tier);
  return last;
}

gpu::MetricHost open_metrics(const std::string& cupti) {
  auto found = gpu::MetricHost::open(study::gpu_libraries({.driver = {}, .cupti = cupti, .nvml = {}}));
  if (gpu::MetricHost* host = std::get_if<gpu::MetricHost>(&found)) return std::move(*host);
  const gpu::Capability& capability = std::get<gpu::Capability>(found);
  throw Error(Fault::missing, "metrics are planned with CUPTI: " + capability.detail, capability.remedy);
}

/// The chip that was asked about; empty for none.
std::string find_chip(const CountersOptions& options, const Context& context) {
  if (options.device.empty()) return options.chip;
  const ir::Device device = load_device(context, options.device);
  if (device.chip.empty())
    throw Error(Fault::usage, fmt::format("the file of device '{}' names no chip", device.name),
                "--chip names one; tailor counters --chips lists them");
  return device.chip;
}

Table counter_columns(std::string title) {
  Table table;
  table.title = std::move(title);
  table.columns = {column("counter", "counter"), column("tier", "tier", Hint::integer, 1),
                   column("unit", "unit", Hint::text, 2), column("metric", "metric", Hint::text, 3),
                   column("meaning", "meaning", Hint::text, 4)};
  return table;
}

const gpu::CounterRow* row_named(const std::string& name) {
  const auto rows = gpu::counter_table();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const gpu::CounterRow& r) { return r.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

void add_counter(Table& table, const std::string& name, const std::string& unit, Cell metric) {
  const gpu::CounterRow* row = row_named(name);
  table.rows.push_back({name, row ? Cell(std::int64_t{row->tier}) : Cell(), unit, std::move(metric),
                        row ? std::string(row->meaning) : std::string("CUPTI's own")});
}

/// Planned counters, then those the chip has no metric for.
Table planned_counters(const gpu::CountPlan& plan, const std::string& library) {
  Table table = counter_columns(fmt::format("counters on {} ({})", plan.chip, library));
  for (const gpu::PlannedCounter& counter : plan.counters)
    add_counter(table, counter.name, counter.unit, counter.metric);
  for (const std::string& name : plan.left_out) add_counter(table, name, std::string(row_named(name)->unit), {});
  return table;
}

Table all_counters(int tier) {
  Table table = counter_columns("counters and their metrics on most chips");
  for (const gpu::CounterRow& row : gpu::counter_table())
    if (row.tier <= tier) add_counter(table, std::string(row.name), std::string(row.unit), std::string(row.metric));
  return table;
}

Table pass_columns() {
  Table table;
  table.title = "passes: a kernel runs once for each";
  table.columns = {column("set", "set"), column("counters", "counters", Hint::integer),
                   column("passes", "passes", Hint::integer), column("not_on_chip", "not on this chip", Hint::text, 1)};
  return table;
}

void add_passes(Table& table, std::string set, const gpu::CountPlan& plan) {
  table.rows.push_back({std::move(set), static_cast<std::int64_t>(plan.counters.size()),
                        static_cast<std::int64_t>(plan.passes), fmt::format("{}", fmt::join(plan.left_out, ", "))});
}

/// The chips that the library has metrics of, and the devices with each.
Table all_chips(const gpu::MetricHost& host, const Context& context) {
  Table table;
  table.title = fmt::format("chips of {}", host.name());
  table.columns = {column("chip", "chip"), column("devices", "devices that there is a file for")};
  std::vector<ir::Device> devices;
  for (const std::string& name : ir::device_names((context.data / "devices").string()))
    devices.push_back(load_device(context, name));
  for (const std::string& chip : host.chips()) {
    std::vector<std::string> names;
    for (const ir::Device& device : devices)
      if (device.chip == chip) names.push_back(device.name);
    table.rows.push_back({chip, fmt::format("{}", fmt::join(names, ", "))});
  }
  return table;
}

}  // namespace

void run_counters(const CountersOptions& options, const Context& context) {
  const int last = last_tier();
  if (options.tier > last)
    throw Error(Fault::usage, fmt::format("--tier: found {}, expected 0 to {}", options.tier, last));
  const int tier = options.tier < 0 ? last : static_cast<int>(options.tier);
  const std::string chip = find_chip(options, context);
  CommandOutput answer{"tailor.counters/1", options.device, {}, ""};
  if (options.chips) {
    answer.sections.push_back({"chips", all_chips(open_metrics(options.cupti), context)});
  } else if (chip.empty()) {
    if (!options.counters.empty())
      throw Error(Fault::usage, "--counter needs a chip", "--chip GH100 for one, or --device");
    answer.sections.push_back({"counters", all_counters(tier)});
  } else {
    const gpu::MetricHost host = open_metrics(options.cupti);
    if (const auto all = host.chips(); options.chip.empty() && std::find(all.begin(), all.end(), chip) == all.end())
      throw Error(Fault::missing,
                  fmt::format("{} has no metrics of {}, the chip of {}", host.name(), chip, options.device),
                  "CUPTI counts on compute capability 7.0 and later; tailor counters --chips lists the chips it has");
    Table passes = pass_columns();
    gpu::CountPlan plan;
    if (options.counters.empty()) {
      for (int up_to = 0; up_to <= tier; ++up_to) {
        plan = host.plan(chip, up_to);
        add_passes(passes, up_to == 0 ? "tier 0" : fmt::format("tiers 0 to {}", up_to), plan);
      }
    } else {
      plan = host.plan(chip, options.counters);
      add_passes(passes, "those named", plan);
    }
    answer.sections.push_back({"counters", planned_counters(plan, host.name())});
    answer.sections.push_back({"passes", std::move(passes)});
  }
  show(context, answer);
}

}  // namespace tailor::cli
