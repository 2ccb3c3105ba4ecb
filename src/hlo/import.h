// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From HLO text to a normalised Graph. In: a text or a file. Out: the graph and a report of the import, or an Error
// with line and column. Called by the commands and by study. parse_hlo() is one pass over the text and keeps
// everything; normalise() runs the passes of a table, and each reports how much it rewrote; import_hlo() does both.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "hlo/hlo_module.h"
#include "ir/graph/graph.h"
#include "ir/import_report.h"

namespace tailor::hlo {

struct Imported {
  ir::Graph graph;
  ir::ImportReport report;
};

/// Throws Error(failed) with file, line, column, what was found and what was expected; Error(interrupted).
Imported import_hlo(std::string_view text, std::string_view file, const std::stop_token& stop = {});

/// One computation of a module as a normalised graph of its own: parameter i of the graph is the i-th array of its
/// parameters, outputs are the arrays of its root. Throws as import_hlo() does.
ir::Graph import_computation(const HloModule& module, const HloComputation& computation);

/// The same as its text stands: calls and tuples are resolved, loops and branches have their bodies, but no pass runs,
/// so every other instruction is a node under its own name;
/// what runs asynchronously is a given group of kind "async". For graphs that are set beside what XLA made of them.
ir::Graph import_as_written(const HloModule& module, const HloComputation& computation);

/// Reads .hlo, .txt or gzip-compressed HLO (.gz), or our own text form (.graph).
Imported import_file(const std::string& path, const std::stop_token& stop = {});

}  // namespace tailor::hlo
