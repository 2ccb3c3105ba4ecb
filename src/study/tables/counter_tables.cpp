// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What can be counted on a GPU, as tables: counters with CUPTI's metric for each, how often a kernel must run for a set
// of them, and the chips that there are metrics of. In: the table of counters, CUPTI's host library and its plan. Out:
// tables. Called by tailor counters.
#include "study/tables/counter_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "study/pipeline/question.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

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

}  // namespace

int last_counter_tier() {
  int last = 0;
  for (const gpu::CounterRow& row : gpu::counter_table()) last = std::max(last, row.tier);
  return last;
}

Table planned_counter_table(const gpu::CountPlan& plan, const std::string& library) {
  Table table = counter_columns(fmt::format("counters on {} ({})", plan.chip, library));
  for (const gpu::PlannedCounter& counter : plan.counters)
    add_counter(table, counter.name, counter.unit, counter.metric);
  for (const std::string& name : plan.left_out) add_counter(table, name, std::string(row_named(name)->unit), {});
  return table;
}

Table known_counter_table(int tier) {
  Table table = counter_columns("counters and their metrics on most chips");
  for (const gpu::CounterRow& row : gpu::counter_table())
    if (row.tier <= tier) add_counter(table, std::string(row.name), std::string(row.unit), std::string(row.metric));
  return table;
}

Table counter_pass_table() {
  Table table;
  table.title = "passes: a kernel runs once for each";
  table.columns = {column("set", "set"), column("counters", "counters", Hint::integer),
                   column("passes", "passes", Hint::integer), column("not_on_chip", "not on this chip", Hint::text, 1)};
  return table;
}

void add_counter_passes(Table& table, std::string set, const gpu::CountPlan& plan) {
  table.rows.push_back({std::move(set), static_cast<std::int64_t>(plan.counters.size()),
                        static_cast<std::int64_t>(plan.passes), fmt::format("{}", fmt::join(plan.left_out, ", "))});
}

Table chip_table(const gpu::MetricHost& host, const std::filesystem::path& data) {
  Table table;
  table.title = fmt::format("chips of {}", host.name());
  table.columns = {column("chip", "chip"), column("devices", "devices that there is a file for")};
  std::vector<ir::Device> devices;
  for (const std::string& name : ir::device_names((data / "devices").string()))
    devices.push_back(load_device(data, name));
  for (const std::string& chip : host.chips()) {
    std::vector<std::string> names;
    for (const ir::Device& device : devices)
      if (device.chip == chip) names.push_back(device.name);
    table.rows.push_back({chip, fmt::format("{}", fmt::join(names, ", "))});
  }
  return table;
}

}  // namespace tailor::study
