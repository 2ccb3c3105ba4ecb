// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor report: what a database says, on stdout and as files. One model on one device gives report.md and
// report.html; several give a pair of files each and an index.html that compares them. In: a database, and which
// models and devices. Out: text or tables on stdout, files where a folder is named.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/format.h"
#include "cli/terminal.h"

namespace tailor::cli {

/// Writes to stdout.
Sink standard_output();

struct ReportOptions {
  std::filesystem::path database, data;  ///< `data`: the folder that ships, for scores
  std::string model = {}, device = {};   ///< empty: all
  bool each_device = false;              ///< pages alone: of several GPUs that were measured each has its own
  std::string strategy = {};             ///< whose groups are shown; empty: the one of least predicted time
  std::string baseline = {};             ///< empty: the sweep's
  int top = 10;                   ///< rows of a table on the terminal, best plans of a group in the files; 0: all
  Format format = Format::table;  ///< of stdout
  std::filesystem::path folder;   ///< for the files; made when absent; empty: none are written
  int width = 100;                ///< of the terminal
  bool colour = false;
  Sink out = standard_output();
  std::stop_token stop = {};
};

/// table: the overviews. md: the Markdown files one after the other. json: {"schema", "reports": [one document per
/// model and device]}. csv: one table of all strategies. Returns 0. Throws Error as Store::open_read_only, subjects and
/// load_summary do; Error(usage) when no device is named, several were measured and they are not asked for one by one:
/// measured times are never put together.
int run_report(const ReportOptions& options, Console& console);

}  // namespace tailor::cli
