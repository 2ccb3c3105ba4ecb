// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a strategy cut a model, as tables: group by group, strategy by strategy, edge by edge. Times are lower bounds
// (level sol), so nothing here depends on a plan. In: partitions and the devices whose bounds stand beside them. Out:
// tables of report/table.h. Called by `tailor fuse`.
#include "study/tables/partition_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "explore/price.h"
#include "study/pipeline/question.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;
using report::Table;
using Devices = std::span<const costmodel::CalibratedDevice>;

double group_time(const costmodel::CalibratedDevice& device, const explore::DistinctGroup& group) {
  return costmodel::sol(explore::needed_work(group), device).total.value;
}

double all_groups_time(const costmodel::CalibratedDevice& device, const explore::Partition& partition) {
  double sum = 0;
  for (const explore::DistinctGroup& group : partition.groups) sum += group.times * group_time(device, group);
  return sum;
}

double all_groups_price(const costmodel::CalibratedDevice& device, const explore::Partition& partition) {
  double sum = 0;
  for (const explore::DistinctGroup& group : partition.groups)
    sum += group.times * explore::group_price(group.group.graph, device);
  return sum;
}

void add_device_columns(Table& table, Devices devices) {
  for (const costmodel::CalibratedDevice& device : devices)
    table.columns.push_back(
        {fmt::format("{}_bound", device.name), fmt::format("{} bound", device.name), Hint::seconds});
}

void collect_edges(const ir::Graph& graph, const ir::Fusion& fusion, const std::string& where, Table& table,
                   std::string_view node, const std::stop_token& stop) {
  const auto name_of = [&](ir::NodeId id) { return graph[id].name; };
  for (const ir::EdgeNote& edge : fusion.edges) {
    stop_if_asked(stop);
    if (!node.empty() && name_of(edge.producer) != node && name_of(edge.consumer) != node) continue;
    table.rows.push_back({name_of(edge.producer), name_of(edge.consumer), std::string(name(edge.decision)),
                          edge.level ? Cell(std::string(name(*edge.level))) : Cell(),
                          edge.seconds ? Cell(*edge.seconds) : Cell(), edge.reason,
                          static_cast<std::int64_t>(edge.group + 1), where});
  }
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    collect_edges(graph.bodies[i], fusion.bodies[i], where + "/" + graph.bodies[i].name, table, node, stop);
}

/// Names of all nodes, those of bodies too.
void collect_names(const ir::Graph& graph, const ir::Fusion& fusion, std::vector<std::string_view>& names) {
  for (const ir::Node& node : graph.nodes) names.emplace_back(node.name);
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    collect_names(graph.bodies[i], fusion.bodies[i], names);
}

/// Drops a column that a person gains nothing from; programs always see all columns.
void drop_column(Table& table, std::string_view key) {
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [&](const report::Column& one) { return one.key == key; });
  const auto at = column - table.columns.begin();
  table.columns.erase(column);
  for (std::vector<Cell>& row : table.rows) row.erase(row.begin() + at);
}

}  // namespace

Table group_table(const explore::Partition& partition, Devices devices, std::int64_t top, bool reasons) {
  Table table;
  table.title = fmt::format("groups of {}", partition.strategy);
  table.columns = {column("number", "#", Hint::integer),   column("group", "group", Hint::text, 3),
                   column("title", "operations"),          column("places", "places", Hint::count),
                   column("runs", "runs", Hint::count, 4), column("structure", "kind"),
                   column("traffic", "moved", Hint::bytes)};
  add_device_columns(table, devices);
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
    for (const costmodel::CalibratedDevice& device : devices) row.emplace_back(group_time(device, group));
    if (reasons) row.push_back(refused != nullptr ? Cell(refused->reason) : Cell());
    table.rows.push_back(std::move(row));
  }
  table.left_out = static_cast<std::int64_t>(partition.groups.size() - table.rows.size());
  table.to_see_all = "--top 0";
  return table;
}

Table strategy_table(std::span<const explore::Partition> partitions, Devices devices) {
  Table table;
  table.title = "one run of the model";
  table.columns = {column("strategy", "strategy"),
                   column("kernels", "kernels", Hint::count),
                   column("kernels_without_plan", "without a plan", Hint::count),
                   column("kernel_floor", "least possible", Hint::count),
                   column("distinct_groups", "distinct", Hint::count, 1),
                   column("planned", "distinct with a plan", Hint::count, 2),
                   column("launches", "launches", Hint::count),
                   column("traffic", "moved", Hint::bytes),
                   column("library_calls", "library calls", Hint::count, 3),
                   column("library_traffic", "library moves", Hint::bytes, 4)};
  add_device_columns(table, devices);
  for (auto at = table.columns.end() - static_cast<std::ptrdiff_t>(devices.size()); at != table.columns.end(); ++at)
    at->sacrifice = 1;  // where there is no room the price is what strategies are compared by
  for (const costmodel::CalibratedDevice& device : devices)
    table.columns.push_back(
        {fmt::format("{}_price", device.name), fmt::format("{} price", device.name), Hint::seconds});
  for (const explore::Partition& partition : partitions) {
    const auto planned = std::count_if(partition.groups.begin(), partition.groups.end(), [](const auto& group) {
      return std::holds_alternative<codegen::Layout>(group.needs);
    });
    std::int64_t without_plan = 0;
    for (const explore::DistinctGroup& group : partition.groups)
      if (std::holds_alternative<ir::Rejection>(group.needs))
        without_plan += static_cast<std::int64_t>(group.occurrences.size());
    std::vector<Cell> row{partition.strategy,
                          partition.kernels,
                          without_plan,
                          partition.least_kernels,
                          static_cast<std::int64_t>(partition.groups.size()),
                          static_cast<std::int64_t>(planned),
                          static_cast<std::int64_t>(partition.launches),
                          partition.bytes,
                          static_cast<std::int64_t>(partition.library_launches),
                          partition.library_bytes};
    for (const costmodel::CalibratedDevice& device : devices) row.emplace_back(all_groups_time(device, partition));
    for (const costmodel::CalibratedDevice& device : devices) row.emplace_back(all_groups_price(device, partition));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table edge_table(const ir::Graph& graph, const ir::Fusion& fusion, std::string_view node, std::int64_t top,
                 bool for_person, const std::stop_token& stop) {
  Table table;
  table.title = fmt::format("edges of {}", fusion.strategy);
  table.columns = {column("producer", "producer"),
                   column("consumer", "consumer"),
                   column("decision", "decision"),
                   column("stitch_level", "at most by"),
                   column("gain", "gains", Hint::seconds, 3),
                   column("reason", "why"),
                   column("group_there", "group there", Hint::integer, 2),
                   column("where", "where", Hint::text, 1)};
  collect_edges(graph, fusion, graph.name, table, node, stop);
  if (!node.empty() && table.rows.empty()) {
    std::vector<std::string_view> known;
    collect_names(graph, fusion, known);
    const bool stands = std::find(known.begin(), known.end(), node) != known.end();
    throw Error(
        Fault::usage,
        stands ? fmt::format("--node: %{} has no edge to other work", node)
               : fmt::format("--node: found '{}', which {} does not have", node, graph.name),
        stands ? "free operations belong to whoever reads them: ask for one of those" : suggestion(node, known));
  }
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
  drop_column(table, "group_there");
  if (fusion.price.empty()) drop_column(table, "gain");
  return table;
}

}  // namespace tailor::study
