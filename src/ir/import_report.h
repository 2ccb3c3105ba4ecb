// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// ImportReport: what reading and normalising a model's file did, as a record: how much text, which passes, what was
// not understood. The importer fills it; the database, the report and `tailor import` show it. It is a plain record of
// ir, so that store and report need not know the importer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tailor::ir {

/// What one normalisation pass did. Over a whole import: instructions in the text + added - removed = nodes of the
/// graph and its bodies.
struct PassReport {
  std::string pass;
  std::int64_t rewrites = 0;
  std::int64_t added = 0;               ///< nodes and instructions it made or copied
  std::int64_t removed = 0;             ///< those it dissolved or dropped
  std::vector<std::string> moved = {};  ///< values that it moved, as LOOP/VALUE
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

}  // namespace tailor::ir
