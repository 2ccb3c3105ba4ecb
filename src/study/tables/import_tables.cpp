// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What an import found, as tables: the module in one row, its nodes by class, what each pass changed, and what was not
// understood. In: a graph with the report of its import. Out: tables. Called by tailor import. Bodies of loops are
// counted with the rest.
#include "study/tables/import_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "hlo/normalise.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

struct ClassCount {
  std::int64_t nodes = 0;
  double bytes = 0, flops = 0;
  std::map<std::string_view, std::int64_t> operations;
};

void count_classes(const ir::Graph& graph, std::map<ir::OpClass, ClassCount>& classes) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    ClassCount& count = classes[ir::class_of(node.op)];
    ++count.nodes;
    count.bytes += ir::bytes_touched(graph, static_cast<ir::NodeId>(i));
    count.flops += ir::flops(node);
    ++count.operations[ir::name(node.op)];
  }
  for (const ir::Graph& body : graph.bodies) count_classes(body, classes);
}

std::string most_frequent(const std::map<std::string_view, std::int64_t>& operations) {
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  for (const auto& [name, count] : operations) order.emplace_back(-count, name);
  std::sort(order.begin(), order.end());
  std::string out;
  constexpr std::size_t named = 4;
  for (std::size_t i = 0; i < std::min(order.size(), named); ++i)
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", -order[i].first, order[i].second);
  if (order.size() > named) out += fmt::format(", {} more", order.size() - named);
  return out;
}

std::int64_t given_groups(const ir::Graph& graph) {
  auto count = static_cast<std::int64_t>(graph.given.size());
  for (const ir::Graph& body : graph.bodies) count += given_groups(body);
  return count;
}

}  // namespace

Table import_class_table(const ir::Graph& graph) {
  Table table;
  table.title = "nodes by class";
  table.columns = {column("class", "class"), column("nodes", "nodes", Hint::count),
                   column("touched", "touched", Hint::bytes), column("library", "flops", Hint::flops, 2),
                   column("operations", "operations", Hint::text, 1)};
  std::map<ir::OpClass, ClassCount> classes;
  count_classes(graph, classes);
  for (const auto& [kind, count] : classes)
    table.rows.push_back({std::string(ir::name(kind)), count.nodes, count.bytes,
                          count.flops > 0 ? Cell(count.flops) : Cell(), most_frequent(count.operations)});
  return table;
}

Table import_pass_table(const ir::ImportReport& report) {
  Table table;
  table.title = "passes that changed something";
  table.columns = {column("pass", "pass"), column("rewrites", "rewrites", Hint::count),
                   column("added", "added", Hint::count), column("removed", "removed", Hint::count),
                   column("meaning", "what it does", Hint::text, 1)};
  for (const ir::PassReport& pass : report.passes) {
    if (pass.rewrites == 0 && pass.added == 0 && pass.removed == 0) continue;
    std::string what;
    for (const hlo::PassRow& row : hlo::pass_table)
      if (row.name == pass.pass) what = row.what;
    if (!pass.moved.empty()) what += fmt::format(": {}", fmt::join(pass.moved, ", "));
    table.rows.push_back({pass.pass, pass.rewrites, pass.added, pass.removed, std::move(what)});
  }
  return table;
}

Table import_summary_table(const hlo::Imported& imported, Seconds spent) {
  const ir::ImportReport& report = imported.report;
  std::int64_t opaque = 0;
  for (const auto& [name, count] : report.opaque) opaque += count;
  Table table;
  table.title = "summary";
  table.columns = {column("module", "module"),
                   column("text", "text", Hint::bytes),
                   column("speed", "import speed", Hint::rate, 1),
                   column("instructions", "instructions", Hint::count),
                   column("computations", "computations", Hint::count, 2),
                   column("nodes", "nodes", Hint::count),
                   column("given_groups", "given groups", Hint::count),
                   column("opaque", "opaque", Hint::count),
                   column("warnings", "warnings", Hint::count)};
  table.rows.push_back({report.module, static_cast<double>(report.text_bytes),
                        static_cast<double>(report.text_bytes) / spent.value, report.instructions, report.computations,
                        hlo::nodes_in_all(imported.graph), given_groups(imported.graph), opaque,
                        static_cast<std::int64_t>(report.warnings.size())});
  return table;
}

Table import_opaque_table(const ir::ImportReport& report) {
  Table table;
  table.title = "not understood, kept as opaque nodes";
  table.columns = {column("what", "what"), column("nodes", "nodes", Hint::count)};
  for (const auto& [name, count] : report.opaque) table.rows.push_back({name, count});
  return table;
}

Table import_warning_table(const ir::ImportReport& report) {
  Table table;
  table.title = "warnings";
  table.columns = {column("warning", "warning")};
  for (const std::string& warning : report.warnings) table.rows.push_back({warning});
  return table;
}

}  // namespace tailor::study
