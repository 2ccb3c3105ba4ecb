// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor db: what is in a database, joining several, its whole contents as text, and whether it is sound.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/report.h"
#include "cli/terminal.h"

namespace tailor::cli {

struct DbOptions {
  std::filesystem::path database;
  Format format = Format::table;  ///< of info
  int width = 100;
  bool colour = false;
  Sink out = standard_output();
};

/// Rows of every table, and the runs that wrote them. Returns 0.
int run_db_info(const DbOptions& options, Talk& talk);
/// Copies everything of `from` into the database, which is made when absent. Returns 0. Throws Error(usage) when a
/// source is the target itself.
int run_db_merge(const DbOptions& options, const std::vector<std::filesystem::path>& from, Talk& talk);
/// Every row as text: equal contents, equal text. Returns 0.
int run_db_dump(const DbOptions& options, Talk& talk);
/// Returns 0 for a sound file; says what is wrong and returns 1 otherwise.
int run_db_check(const DbOptions& options, Talk& talk);

}  // namespace tailor::cli
