// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor fuse: how a strategy cuts a model into kernels, what that moves and the least it could take, edge by edge why,
// or all strategies side by side. Times are bounds (level sol), so nothing here depends on a plan.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "costmodel/model.h"
#include "explore/strategy.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

struct LowerBounds {
  std::vector<ir::Device> devices;
  costmodel::Calibration calibration;
};

double group_time(const LowerBounds& bounds, std::size_t device, const explore::DistinctGroup& group) {
  return costmodel::sol(explore::needed_work(group), bounds.devices[device], bounds.calibration).total.value;
}

double all_groups_time(const LowerBounds& bounds, std::size_t device, const explore::Partition& partition) {
  double sum = 0;
  for (const explore::DistinctGroup& group : partition.groups) sum += group.times * group_time(bounds, device, group);
  return sum;
}

void add_device_columns(Table& table, const LowerBounds& bounds) {
  for (const ir::Device& device : bounds.devices)
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
  const auto name_of = [&](ir::NodeId id) { return graph.nodes[static_cast<std::size_t>(id)].name; };
  for (const ir::EdgeNote& edge : fusion.edges)
    table.rows.push_back(
        {name_of(edge.producer), name_of(edge.consumer), std::string(edge.fused ? "yes" : "no"), edge.reason, where});
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    collect_edges(graph.bodies[i], fusion.bodies[i], where + "/" + graph.bodies[i].name, table);
}

Table edge_table(const ir::Graph& graph, const ir::Fusion& fusion, std::int64_t top) {
  Table table;
  table.title = fmt::format("edges of {}", fusion.strategy);
  table.columns = {column("producer", "producer"), column("consumer", "consumer"), column("fused", "fused"),
                   column("why", "why"), column("where", "where", Hint::text, 1)};
  collect_edges(graph, fusion, graph.name, table);
  if (top > 0 && table.rows.size() > static_cast<std::size_t>(top)) {
    table.left_out = static_cast<std::int64_t>(table.rows.size()) - top;
    table.rows.resize(static_cast<std::size_t>(top));
    table.to_see_all = "--top 0";
  }
  return table;
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
  bounds.calibration = load_calibration(context, options.calibration);
  for (const std::string& name : options.devices) bounds.devices.push_back(load_device(context, name));
  const explore::Strategy& strategy = explore::find_strategy(options.strategy);
  const hlo::Imported imported = load_model(context, options.model);

  CommandOutput answer{"tailor.fuse/1", "", {}, ""};
  for (const ir::Device& device : bounds.devices) answer.device += (answer.device.empty() ? "" : ", ") + device.name;
  if (options.compare) {
    std::vector<explore::Partition> partitions;
    for (const explore::Strategy& row : explore::strategies())
      partitions.push_back(explore::partition(imported.graph, explore::fuse(row, imported.graph)));
    mention(context, partitions.front());
    answer.sections.push_back({"strategies", totals_table(partitions, bounds)});
    return show(context, answer);
  }
  const ir::Fusion fusion = explore::fuse(strategy, imported.graph);
  if (options.why) {
    answer.sections.push_back({"edges", edge_table(imported.graph, fusion, options.top)});
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
