// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor import: what a file holds, what normalising it did, and what was not understood. In: a model's file. Out:
// tables on stdout, or with --text the graph's text form. How long reading took, and at which rate, stands in the
// summary.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "hlo/normalise.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;

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

report::Table class_table(const ir::Graph& graph) {
  report::Table table;
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

report::Table pass_table(const ir::ImportReport& report) {
  report::Table table;
  table.title = "passes that changed something";
  table.columns = {column("pass", "pass"), column("rewrites", "rewrites", Hint::count),
                   column("added", "added", Hint::count), column("removed", "removed", Hint::count),
                   column("meaning", "what it does", Hint::text, 1)};
  for (const ir::PassReport& pass : report.passes) {
    if (pass.rewrites == 0 && pass.added == 0 && pass.removed == 0) continue;
    std::string_view what;
    for (const hlo::PassRow& row : hlo::pass_table)
      if (row.name == pass.pass) what = row.what;
    table.rows.push_back({pass.pass, pass.rewrites, pass.added, pass.removed, std::string(what)});
  }
  return table;
}

std::int64_t given_groups(const ir::Graph& graph) {
  auto count = static_cast<std::int64_t>(graph.given.size());
  for (const ir::Graph& body : graph.bodies) count += given_groups(body);
  return count;
}

report::Table summary_table(const hlo::Imported& imported, double seconds) {
  const ir::ImportReport& report = imported.report;
  std::int64_t opaque = 0;
  for (const auto& [name, count] : report.opaque) opaque += count;
  report::Table table;
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
                        static_cast<double>(report.text_bytes) / seconds, report.instructions, report.computations,
                        hlo::nodes_in_all(imported.graph), given_groups(imported.graph), opaque,
                        static_cast<std::int64_t>(report.warnings.size())});
  return table;
}

}  // namespace

void run_import(const ImportOptions& options, const Context& context) {
  if (context.output.empty()) context.interrupts->holds_nothing();
  const Clock clock = steady_clock();
  const Seconds started = clock();
  const hlo::Imported imported = load_model(context, options.model);
  const Seconds spent = clock() - started;
  CommandOutput answer{"tailor.import/1", "", {}, ""};
  if (options.text) {
    answer.text = ir::text(imported.graph);
    report::Table table{
        "", {column("module", "module"), column("graph", "graph")}, {{imported.report.module, answer.text}}, {}, 0, ""};
    answer.sections.push_back({"graph", std::move(table)});
    return show(context, answer);
  }
  answer.sections.push_back({"summary", summary_table(imported, spent.value)});
  answer.sections.push_back({"classes", class_table(imported.graph)});
  answer.sections.push_back({"passes", pass_table(imported.report)});
  report::Table opaque{"not understood, kept as opaque nodes",
                       {column("what", "what"), column("nodes", "nodes", Hint::count)},
                       {},
                       {},
                       0,
                       ""};
  for (const auto& [name, count] : imported.report.opaque) opaque.rows.push_back({name, count});
  if (!opaque.rows.empty()) answer.sections.push_back({"opaque", std::move(opaque)});
  report::Table warnings{"warnings", {column("warning", "warning")}, {}, {}, 0, ""};
  for (const std::string& warning : imported.report.warnings) warnings.rows.push_back({warning});
  if (!warnings.rows.empty()) answer.sections.push_back({"warnings", std::move(warnings)});
  show(context, answer);
}

}  // namespace tailor::cli
