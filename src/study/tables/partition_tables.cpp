// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a strategy cut a model, as tables: group by group, strategy by strategy, edge by edge. Times are lower bounds
// (level sol), so nothing here depends on a plan. In: partitions and the devices whose bounds stand beside them. Out:
// tables of report/table.h. Called by `tailor fuse`.
#include "study/tables/partition_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "explore/alternatives.h"
#include "explore/price.h"
#include "ir/edge_reason.h"
#include "study/pipeline/question.h"
#include "study/pipeline/xla_beside.h"
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

/// What all runs of each group cost in one run of the model: by the price `group` on the first device, without a device
/// the bytes they move.
std::vector<double> costs_of(const explore::Partition& partition, Devices devices) {
  std::vector<double> costs;
  for (const explore::DistinctGroup& group : partition.groups)
    costs.push_back(group.times *
                    (devices.empty() ? group.bytes : explore::group_price(group.group.graph, devices.front())));
  return costs;
}

/// Numbers of the groups, the dearest first.
std::vector<std::size_t> by_cost(const std::vector<double>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  return order;
}

void add_device_columns(Table& table, Devices devices) {
  for (const costmodel::CalibratedDevice& device : devices)
    table.columns.push_back(
        {fmt::format("{}_bound", device.name), fmt::format("{} bound", device.name), Hint::seconds, 5});
}

void add_xla_columns(Table& table, Devices devices) {
  for (const costmodel::CalibratedDevice& device : devices) {
    if (device.xla == nullptr) continue;
    const std::string where = devices.size() == 1 ? "" : " on " + device.name;
    table.columns.push_back(column(device.name + "_xla_emitter", "XLA's emitter" + where, Hint::text, 6));
    table.columns.push_back(column(device.name + "_xla_launch", "launch as a plan" + where, Hint::text, 6));
    table.columns.push_back(column(device.name + "_xla_note", "but" + where, Hint::text, 7));
  }
}

/// XLA's emitter of the group, whether a plan like it has its launch, and what stands against it.
void add_xla_cells(std::vector<Cell>& row, const explore::DistinctGroup& group, Devices devices) {
  std::optional<std::variant<codegen::Prepared, ir::Rejection>> prepared;
  for (const costmodel::CalibratedDevice& device : devices) {
    if (device.xla == nullptr) continue;
    if (!prepared) prepared = codegen::prepare(group.group);
    const auto found = xla_beside(group.group, *prepared, device, *costmodel::find_model("projected"));
    row.insert(row.end(), {Cell(found->emitter), Cell(std::string(found->agreement())),
                           found->note.empty() ? Cell() : Cell(found->note)});
  }
}

/// What is asked about the edges of a model.
struct EdgeQuestion {
  std::string_view node;                      ///< empty: all edges
  const costmodel::CalibratedDevice* device;  ///< of the prices of the other choices; null: they are not asked for
  std::int64_t top;                           ///< rows whose other choices are priced; 0: all
  const std::stop_token& stop;
};

void append_alternative(std::vector<Cell>& row, const explore::Alternative& other) {
  row.insert(row.end(), {Cell(other.as_is), std::string(other.what), Cell(other.otherwise),
                         other.against.empty() ? Cell() : Cell(other.against)});
}

void collect_edges(const ir::Graph& graph, const ir::Fusion& fusion, const std::string& where, Table& table,
                   const EdgeQuestion& asked) {
  const auto name_of = [&](ir::NodeId id) { return graph[id].name; };
  std::optional<ir::DefUse> wires;
  for (const ir::EdgeNote& edge : fusion.edges) {
    stop_if_asked(asked.stop);
    if (!asked.node.empty() && name_of(edge.producer) != asked.node && name_of(edge.consumer) != asked.node) continue;
    std::vector<Cell> row{name_of(edge.producer),
                          name_of(edge.consumer),
                          std::string(name(edge.decision)),
                          edge.level ? Cell(std::string(name(*edge.level))) : Cell(),
                          edge.seconds ? Cell(*edge.seconds) : Cell(),
                          edge.reason,
                          static_cast<std::int64_t>(edge.group + 1),
                          where};
    if (asked.device != nullptr) {
      if (!wires) wires = ir::def_use(graph);
      if (asked.top == 0 || std::ssize(table.rows) < asked.top)
        append_alternative(row, explore::alternative(graph, *wires, fusion.groups, edge, *asked.device));
      else
        row.resize(row.size() + 4);
    }
    table.rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    collect_edges(graph.bodies[i], fusion.bodies[i], where + "/" + graph.bodies[i].name, table, asked);
}

/// Names of all nodes, those of bodies too.
void collect_names(const ir::Graph& graph, const ir::Fusion& fusion, std::vector<std::string_view>& names) {
  for (const ir::Node& node : graph.nodes) names.emplace_back(node.name);
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    collect_names(graph.bodies[i], fusion.bodies[i], names);
}

/// What keeps a node from having edges, in words; empty where no graph has the node.
std::string why_no_edge(const ir::Graph& graph, const ir::Fusion& fusion, std::string_view node) {
  const auto at =
      std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const ir::Node& one) { return one.name == node; });
  if (at != graph.nodes.end()) {
    const auto id = static_cast<ir::NodeId>(at - graph.nodes.begin());
    switch (ir::def_use(graph).roles[id]) {
      case ir::Role::free:
        return "free operations belong to whoever reads them: ask for one of those";
      case ir::Role::outside:
        return "it runs by itself, outside of groups: ask for what it reads, or what reads it";
      case ir::Role::source:
        return "it lies in memory before anything runs: ask for what reads it";
      case ir::Role::work:
        return "it reads only memory, and no operation of a group reads it";
    }
  }
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    if (std::string words = why_no_edge(graph.bodies[i], fusion.bodies[i], node); !words.empty()) return words;
  return "";
}

[[noreturn]] void refuse_node(const ir::Graph& graph, const ir::Fusion& fusion, std::string_view node) {
  if (const std::string words = why_no_edge(graph, fusion, node); !words.empty())
    throw Error(Fault::usage, fmt::format("--why: %{} has no edge to other work", node), words);
  std::vector<std::string_view> known;
  collect_names(graph, fusion, known);
  throw Error(Fault::usage, fmt::format("--why: found '{}', which {} does not have", node, graph.name),
              suggestion(node, known));
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
  const std::vector<double> costs = costs_of(partition, devices);
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  table.title = devices.empty()
                    ? fmt::format("groups of {}, those that move most first", partition.strategy)
                    : fmt::format("groups of {}, the dearest on {} first", partition.strategy, devices.front().name);
  table.columns = {column("number", "#", Hint::integer),
                   column("group", "group", Hint::text, 3),
                   column("title", "operations"),
                   column("places", "places", Hint::count, 4),
                   column("runs", "runs", Hint::count),
                   column("structure", "kind"),
                   column("traffic", "moved each", Hint::bytes, 1)};
  if (!devices.empty()) table.columns.push_back(column("all_price", "all runs", Hint::seconds));
  table.columns.push_back(column("cost_share", "share", Hint::fraction));
  add_device_columns(table, devices);
  if (reasons) table.columns.push_back(column("reason", "why not planned yet", Hint::text, 5));
  if (reasons) add_xla_columns(table, devices);
  for (const std::size_t i : by_cost(costs)) {
    if (top > 0 && std::ssize(table.rows) >= top) break;
    const explore::DistinctGroup& group = partition.groups[i];
    const auto* refused = std::get_if<ir::Rejection>(&group.needs);
    std::vector<Cell> row{static_cast<std::int64_t>(i + 1),
                          short_hex(group.group.id),
                          codegen::title_of(group.group.graph),
                          static_cast<std::int64_t>(group.occurrences.size()),
                          static_cast<std::int64_t>(group.times),
                          study::needs_text(group.needs),
                          group.bytes};
    if (!devices.empty()) row.emplace_back(costs[i]);
    row.push_back(all > 0 ? Cell(costs[i] / all) : Cell());
    for (const costmodel::CalibratedDevice& device : devices) row.emplace_back(group_time(device, group));
    if (reasons) row.push_back(refused != nullptr ? Cell(refused->reason) : Cell());
    if (reasons) add_xla_cells(row, group, devices);
    table.rows.push_back(std::move(row));
  }
  table.left_out = static_cast<std::int64_t>(partition.groups.size() - table.rows.size());
  table.to_see_all = "--top 0";
  return table;
}

namespace {

/// Edges that were decided alike, for the same reason.
struct ReasonRow {
  std::int64_t edges = 0;
  double bytes = 0;
  std::string example;
};
using Reasons = std::map<std::pair<ir::EdgeDecision, std::string>, ReasonRow>;

void collect_reasons(const ir::Graph& graph, const ir::Fusion& fusion, Reasons& reasons, const std::stop_token& stop) {
  for (const ir::EdgeNote& edge : fusion.edges) {
    stop_if_asked(stop);
    ReasonRow& row = reasons[{edge.decision, ir::general_reason(edge.reason)}];
    if (row.edges == 0) row.example = fmt::format("{} to {}", graph[edge.producer].name, graph[edge.consumer].name);
    ++row.edges;
    row.bytes += static_cast<double>(ir::bytes(graph[edge.producer].shape));
  }
  for (std::size_t i = 0; i < fusion.bodies.size() && i < graph.bodies.size(); ++i)
    collect_reasons(graph.bodies[i], fusion.bodies[i], reasons, stop);
}

}  // namespace

Table reason_table(const ir::Graph& graph, const ir::Fusion& fusion, const std::stop_token& stop) {
  Table table;
  table.title = fmt::format("why {} decided so: edges by reason, those that carry most bytes first", fusion.strategy);
  table.columns = {column("decision", "decision"), column("edges", "edges", Hint::count),
                   column("carried", "carry", Hint::bytes), column("reason", "why"),
                   column("example", "for example", Hint::text, 1)};
  Reasons reasons;
  collect_reasons(graph, fusion, reasons, stop);
  for (const auto& [key, row] : reasons)
    table.rows.push_back({std::string(name(key.first)), row.edges, row.bytes, key.second, row.example});
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return std::get<double>(a[2]) > std::get<double>(b[2]); });
  return table;
}

Table edge_table(const ir::Graph& graph, const ir::Fusion& fusion, std::string_view node,
                 const costmodel::CalibratedDevice* device, std::int64_t top, bool for_person,
                 const std::stop_token& stop) {
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
  const bool priced = !node.empty() && device != nullptr;
  if (priced)
    table.columns.insert(table.columns.end(),
                         {column("as_is", fmt::format("price as it is on {}", device->name), Hint::seconds),
                          column("otherwise", "otherwise"), column("otherwise_price", "price otherwise", Hint::seconds),
                          column("against", "but")});
  collect_edges(graph, fusion, graph.name, table, {node, priced ? device : nullptr, top, stop});
  if (!node.empty() && table.rows.empty()) refuse_node(graph, fusion, node);
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
  const std::size_t gain = report::place_of_column(table, "gain");
  const bool no_gain = std::all_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
    return std::holds_alternative<std::monostate>(row[gain]);
  });
  if (fusion.price.empty() || priced || no_gain) drop_column(table, "gain");
  const auto unopposed = [](const std::vector<Cell>& row) {
    return std::holds_alternative<std::monostate>(row.back());
  };
  if (priced && std::all_of(table.rows.begin(), table.rows.end(), unopposed)) drop_column(table, "against");
  return table;
}

}  // namespace tailor::study
