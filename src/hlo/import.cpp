// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Import from end to end. In: a file of HLO, which may be gzip-compressed under any name. Out: a normalised graph and a
// report of what was read and rewritten. Called by every command that takes a model. It reads the module, walks it into
// a graph, runs the passes, and verifies what came out.
#include "hlo/import.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/compressed.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "hlo/formats.h"
#include "hlo/graph_builder.h"
#include "hlo/hlo_module.h"
#include "hlo/in_place.h"
#include "hlo/normalise.h"
#include "ir/graph/graph_parse.h"

namespace tailor::hlo {

namespace {

/// Places in the text are kept as 32 bits.
constexpr std::size_t max_text_bytes = std::size_t{1} << 31;

using Counts = std::vector<std::pair<std::string, std::int64_t>>;

/// What is carried along without being understood, in one sentence.
std::string unknown_warning(std::string_view what, const Counts& unknown) {
  constexpr std::size_t most_named = 5;
  std::int64_t sum = 0;
  std::string names;
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    sum += unknown[i].second;
    if (i < most_named) names += fmt::format("{}{} {}", i == 0 ? "" : ", ", unknown[i].second, unknown[i].first);
  }
  if (unknown.size() > most_named) names += fmt::format(", {} more kinds", unknown.size() - most_named);
  return fmt::format(
      "{} {} not understood ({}): counted as library calls by the bytes of their arrays, without their work",
      counted(sum, what), sum == 1 ? "is" : "are", names);
}

}  // namespace

Imported import_hlo(std::string_view text, std::string_view file, const std::stop_token& stop) {
  if (text.size() > max_text_bytes)
    throw Error(Fault::failed, Position{std::string(file)},
                fmt::format("found {} of text, expected at most {}", humane_bytes(static_cast<double>(text.size())),
                            humane_bytes(static_cast<double>(max_text_bytes))));
  const HloModule module = parse_module(text, file, stop);
  GraphBuilderContext context(module);
  const HloComputation& entry = module.computations[module.entry];
  GraphBuilder builder(context, module.name);
  const auto instructions = static_cast<std::int64_t>(module.instructions.size());
  context.ledger.add(Pass::set_aside, static_cast<std::int64_t>(module.computations.size()) - 1, 0,
                     instructions - entry.count);
  builder.walk_graph(entry);
  Imported imported;
  imported.graph = std::move(builder).graph();
  run_passes(imported.graph, context.ledger, stop);
  ir::ImportReport& report = imported.report;
  report.module = module.name;
  report.text_bytes = static_cast<std::int64_t>(text.size());
  report.instructions = instructions;
  report.computations = static_cast<std::int64_t>(module.computations.size());
  for (const PassRow& row : pass_table) {
    const PassCount& count = context.ledger.of(row.pass);
    report.passes.push_back({std::string(row.name), count.rewrites, count.added, count.removed, count.moved});
  }
  report.opaque = std::move(context.opaque);
  report.warnings = module.warnings;
  find_in_place(imported.graph, module, report.warnings);
  if (!report.opaque.empty()) report.warnings.push_back(unknown_warning("operation", report.opaque));
  if (!context.unknown_calls.empty()) report.warnings.push_back(unknown_warning("custom call", context.unknown_calls));
  return imported;
}

ir::Graph import_as_written(const HloModule& module, const HloComputation& computation) {
  GraphBuilderContext context(module);
  context.keep_async = true;
  GraphBuilder builder(context, computation.name);
  builder.walk_graph(computation);
  return std::move(builder).graph();
}

ir::Graph import_computation(const HloModule& module, const HloComputation& computation) {
  GraphBuilderContext context(module);
  GraphBuilder builder(context, computation.name);
  builder.walk_graph(computation);
  ir::Graph graph = std::move(builder).graph();
  run_passes(graph, context.ledger, module.stop);
  return graph;
}

Imported import_file(const std::string& path, const std::stop_token& stop) {
  const std::string content = read_unpacked(path);
  refuse_other_forms(content, path);
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (!name.ends_with(".graph")) return import_hlo(content, path, stop);
  Imported imported;
  imported.graph = ir::parse_graph(content, path, stop);
  stop_if_asked(stop);
  verify(imported.graph);
  imported.report.module = imported.graph.name;
  imported.report.text_bytes = static_cast<std::int64_t>(content.size());
  imported.report.instructions = nodes_in_all(imported.graph);
  imported.report.computations = 1;
  return imported;
}

}  // namespace tailor::hlo
