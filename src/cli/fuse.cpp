// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor fuse: how a strategy cuts a model into kernels, what that moves and the least it could take, edge by edge
// why, or all strategies side by side. Times are bounds (level sol), so nothing here depends on a plan. In: a model,
// strategies, devices for the bounds. Out: tables and, when asked, a partition file.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/strategy.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

struct LowerBounds {
  std::vector<costmodel::CalibratedDevice> devices;
};

double group_time(const LowerBounds& bounds, std::size_t device, const explore::DistinctGroup& group) {
  return costmodel::sol(explore::needed_work(group), bounds.devices[device]).total.value;
}

double all_groups_time(const LowerBounds& bounds, std::size_t device, const explore::Partition& partition) {
  double sum = 0;
  for (const explore::DistinctGroup& group : partition.groups) sum += group.times * group_time(bounds, device, group);
  return sum;
}

void add_device_columns(Table& table, const LowerBounds& bounds) {
  for (const costmodel::CalibratedDevice& device : bounds.devices)
    table.columns.push_back(
        {fmt::format("{}_bound", device.name), fmt::format("{} bound", device.name), Hint::seconds});
}

Table group_table(const explore::Partition& partition, const LowerBounds& bounds, std::int64_t top, bool reasons) {
  Table table;
  table.title = fmt::format("groups of {}", partition.strategy);
  table.columns = {column("number", "#", Hint::integer),   column("group", "group", Hint::text, 3),
                   column("title", "operations"),          column("places", "places", Hint::count),
                   column("runs", "runs", Hint::count, 4), column("needs", "kind"),
                   column("moved", "moved", Hint::bytes)};
  add_device_columns(table, bounds);
  if (reasons) table.columns.push_back(column("reason", "why not planned yet", Hint::text, 5));
  for (std::size_t i = 0; i < partition.groups.size(); ++i) {
    if (top > 0 && static_cast<std::int64_t>(i) >= top) break;
    const explore::DistinctGroup& group = partition.groups[i];
    const auto* refused = std::get_if<ir::Rejection>(&group.needs);
    std::vector<Cell> row{static_cast<std::int64_t>(i + 1),
                          short_hex(group.group.id),
                          codegen::title_of(group.group.graph),
                          static_cast<std::int64_t>(group.occurrences.size()),
                          static_cast<std::int64_t>(group.times),
                          study::needs_text(group.needs),
                          group.bytes};
    for (std::size_t d = 0; d < bounds.devices.size(); ++d) row.emplace_back(group_time(bounds, d, group));
    if (reasons) row.push_back(refused != nullptr ? Cell(refused->reason) : Cell());
    table.rows.push_back(std::move(row));
  }
  table.left_out = static_cast<std::int64_t>(partition.groups.size() - table.rows.size());
  table.to_see_all = "--top 0";
  return table;
}

/// One row per strategy.
Table totals_table(const std::vector<explore::Partition>& partitions, const LowerBounds& bounds) {
  Table table;
  table.title = "one run of the model";
  table.columns = {column("strategy", "strategy"),
                   column("kernels", "kernels", Hint::count),
                   column("least_kernels", "least possible", Hint::count, 2),
                   column("distinct", "distinct", Hint::count),
                   column("planned", "planned", Hint::count, 1),
                   column("launches", "launches", Hint::count),
                   column("moved", "moved", Hint::bytes),
                   column("library_launches", "library calls", Hint::count, 3),
                   column("library_moved", "library moves", Hint::bytes, 4)};
  add_device_columns(table, bounds);
  for (const explore::Partition& partition : partitions) {
    const auto planned = std::count_if(partition.groups.begin(), partition.groups.end(), [](const auto& group) {
      return std::holds_alternative<codegen::Layout>(group.needs);
    });
    std::vector<Cell> row{partition.strategy,
                          partition.kernels,
                          partition.least_kernels,
                          static_cast<std::int64_t>(partition.groups.size()),
                          static_cast<std::int64_t>(planned),
                          static_cast<std::int64_t>(partition.launches),
                          partition.bytes,
                          static_cast<std::int64_t>(partition.library_launches),
                          partition.library_bytes};
    for (std::size_t d = 0; d < bounds.devices.size(); ++d) row.emplace_back(all_groups_time(bounds, d, partition));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void collect_edges(const ir::Graph& graph, const ir::Fusion& fusion, const std::string& where, Table& table) {
  const auto name_of = [&](ir::NodeId id) { return graph[id].name; };
  for (const ir::EdgeNote& edge : fusion.edges)
    table.rows.push_back({name_of(edge.producer), name_of(edge.consumer), std::string(name(edge.decision)),
                          edge.level ? Cell(std::string(name(*edge.level))) : Cell(),
                          edge.seconds ? Cell(*edge.seconds) : Cell(), edge.reason,
                          static_cast<std::int64_t>(edge.group + 1), where});
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    collect_edges(graph.bodies[i], fusion.bodies[i], where + "/" + graph.bodies[i].name, table);
}

/// Drops a column that a person gains nothing from; programs always see all columns.
void drop_column(Table& table, std::string_view key) {
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [&](const report::Column& one) { return one.key == key; });
  const auto at = column - table.columns.begin();
  table.columns.erase(column);
  for (std::vector<Cell>& row : table.rows) row.erase(row.begin() + at);
}

Table edge_table(const ir::Graph& graph, const ir::Fusion& fusion, std::int64_t top, bool for_person) {
  Table table;
  table.title = fmt::format("edges of {}", fusion.strategy);
  table.columns = {column("producer", "producer"),
                   column("consumer", "consumer"),
                   column("decision", "decision"),
                   column("level", "at most by"),
                   column("gain", "gains", Hint::seconds, 3),
                   column("reason", "why"),
                   column("part", "group there", Hint::integer, 2),
                   column("where", "where", Hint::text, 1)};
  collect_edges(graph, fusion, graph.name, table);
  if (top > 0 && table.rows.size() > static_cast<std::size_t>(top)) {
    table.left_out = static_cast<std::int64_t>(table.rows.size()) - top;
    table.rows.resize(static_cast<std::size_t>(top));
    table.to_see_all = "--top 0";
  }
  if (!for_person) return table;
  const auto same = [&](std::size_t column) {
    return std::all_of(table.rows.begin(), table.rows.end(),
                       [&](const std::vector<Cell>& row) { return row[column] == table.rows.front()[column]; });
  };
  if (same(7)) drop_column(table, "where");
  drop_column(table, "part");
  if (fusion.price.empty()) drop_column(table, "gain");
  return table;
}

/// One partition per strategy; for a strategy that decides for a GPU, one per device.
std::vector<explore::Partition> all_partitions(const ir::Graph& graph, const LowerBounds& bounds,
                                               const Context& context) {
  std::vector<explore::Partition> partitions;
  for (const explore::Strategy& row : explore::strategies()) {
    if (!row.needs.device && !row.needs.price) {
      partitions.push_back(explore::partition(graph, explore::fuse(row, graph)));
      continue;
    }
    if (bounds.devices.empty())
      context.console->note(fmt::format("{} is left out: it needs a {}", row.name, text(row.needs)));
    for (const costmodel::CalibratedDevice& device : bounds.devices) {
      explore::FusionSetting setting;
      setting.device = &device;
      partitions.push_back(explore::partition(graph, explore::fuse(row, graph, setting)));
      partitions.back().strategy += " on " + device.name;
    }
  }
  return partitions;
}

void mention(const Context& context, const explore::Partition& partition) {
  if (partition.unknown_trips > 0)
    context.console->note(
        fmt::format("{} loop(s) of unknown trip count are counted as one trip", partition.unknown_trips));
  if (partition.branches > 0)
    context.console->note(fmt::format("{} branch(es) of conditionals are all counted as taken", partition.branches));
}

}  // namespace

void run_fuse(const FuseOptions& options, const Context& context) {
  LowerBounds bounds;
  const ir::Calibration calibration = load_calibration(context, options.calibration);
  for (const std::string& name : options.devices)
    bounds.devices.push_back(costmodel::calibrated(load_device(context, name), calibration));
  const explore::ChosenStrategy strategy = explore::find_strategy(options.strategy);
  if (!options.write_partition.empty() && !options.write_partition.ends_with(explore::partition_file_ending))
    throw Error(Fault::usage,
                fmt::format("--write-partition: found '{}', expected a name that ends in {}", options.write_partition,
                            explore::partition_file_ending),
                "--strategy knows such a file by its ending");
  const hlo::Imported imported = load_model(context, options.model);

  CommandOutput answer{"tailor.fuse/1", "", {}, ""};
  for (const costmodel::CalibratedDevice& device : bounds.devices)
    answer.device += (answer.device.empty() ? "" : ", ") + device.name;
  if (options.compare) {
    const std::vector<explore::Partition> partitions = all_partitions(imported.graph, bounds, context);
    mention(context, partitions.front());
    answer.sections.push_back({"strategies", totals_table(partitions, bounds)});
    return show(context, answer);
  }
  if (strategy.needs().device && bounds.devices.size() > 1)
    throw Error(
        Fault::usage,
        fmt::format("strategy '{}' decides for one GPU, found {} with --device", strategy.name, bounds.devices.size()),
        "name one, or compare with --compare");
  explore::FusionSetting setting;
  if (!bounds.devices.empty()) setting.device = &bounds.devices.front();
  const ir::Fusion fusion = explore::fuse(strategy, imported.graph, setting);
  if (!options.write_partition.empty()) {
    write_file(options.write_partition, explore::partition_text(imported.graph, fusion));
    context.console->note(fmt::format("wrote {}", options.write_partition));
  }
  if (options.why) {
    answer.sections.push_back(
        {"edges", edge_table(imported.graph, fusion, options.top, context.format == Format::table)});
    return show(context, answer);
  }
  const explore::Partition partition = explore::partition(imported.graph, fusion);
  mention(context, partition);
  answer.sections.push_back(
      {"groups", group_table(partition, bounds, options.top, context.format == Format::json || context.verbose)});
  answer.sections.push_back({"totals", totals_table({partition}, bounds)});
  show(context, answer);
}

}  // namespace tailor::cli
