// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From HLO text to a normalised Graph. parse_hlo() is one pass over the text and keeps everything; normalise() runs the
// passes of a table, each reporting how much it rewrote. import_hlo() does both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/hlo_module.h"

namespace tailor::ir {

/// What one normalisation pass did. Over a whole import: instructions in the text + added - removed = nodes of the
/// graph and its bodies.
struct PassReport {
  std::string pass;
  std::int64_t rewrites = 0;
  std::int64_t added = 0;    ///< nodes and instructions it made or copied
  std::int64_t removed = 0;  ///< those it dissolved or dropped
};

struct ImportReport {
  std::string module;  ///< HloModule name
  std::int64_t text_bytes = 0;
  std::int64_t instructions = 0;  ///< in the text, all computations
  std::int64_t computations = 0;
  std::vector<PassReport> passes;  ///< in running order
  /// Opcodes and dtypes kept as opaque nodes, with their number: nothing is dropped silently.
  std::vector<std::pair<std::string, std::int64_t>> opaque;
  std::vector<std::string> warnings;  ///< unknown header attributes, values left out ...
};

struct Imported {
  Graph graph;
  ImportReport report;
};

/// Throws Error(failed) with file, line, column, what was found and what was expected.
Imported import_hlo(std::string_view text, std::string_view file);

/// One computation of a module as a normalised graph of its own: parameter i of the graph is the i-th array of its
/// parameters, outputs are the arrays of its root. Throws as import_hlo() does.
Graph import_computation(const HloModule& module, const HloComputation& computation);

/// The text of a file, unpacked when it is gzip-compressed. Throws Error(failed).
std::string read_unpacked(const std::string& path);

/// Reads .hlo, .txt or gzip-compressed HLO (.gz), or our own text form (.graph).
Imported import_file(const std::string& path);

}  // namespace tailor::ir
