// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Several reports side by side. In: their summaries and links. Out: one HTML page
// that links them and has one table of all their strategies. Called by the command
// that writes reports.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"
#include "report/table.h"

namespace tailor::report {

/// A report and the file it stands in, relative to the index.
struct IndexEntry {
  std::string file;
  const Summary* summary = nullptr;
};

/// Self-contained like page(); deterministic.
std::string index_page(const std::vector<IndexEntry>& entries);

/// One row per model, device and strategy.
Table all_strategies(const std::vector<Summary>& summaries);

}  // namespace tailor::report
