// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a command hands to the person or program that asked: tables, and for some commands a text made for reading. The
// form is the caller's choice (--format) and never changes by itself. Data goes to stdout or to the file named with -o,
// whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "report/table.h"
#include "study/tables/column.h"

namespace tailor::cli {

/// One table of an answer; `key` names it in JSON. The first section of an answer is its "results".
struct Section {
  std::string key;
  report::Table table;
  bool for_programs = false;  ///< a person reads it elsewhere
};

using study::column;

struct CommandOutput {
  std::string schema;  ///< "tailor.fuse/1"
  std::string device;  ///< empty: none was asked about
  std::vector<Section> sections;
  std::string text;          ///< when not empty: what --format table shows instead of the sections, md in a fence
  bool cut_short = false;    ///< what was finished before somebody asked to stop: shown all the same
  std::string verdict = {};  ///< when not empty: stands above all where a person reads
};

/// Throws Error(usage) naming the nearest.
Format parse_format(std::string_view word);

/// Renders the answer and writes it; sections of no columns are none. csv holds the first section only; a note says
/// which tables it leaves out. Throws Error(failed) when it cannot be written.
void show(const Context& context, CommandOutput answer);

/// A file and the note that says so. The last resort of Ctrl-C waits for it. Throws Error(failed) when it cannot be
/// written.
void write_whole(const Context& context, const std::filesystem::path& path, std::string_view text);

/// To stdout, now. Throws Error(failed) when that cannot be written.
void write_stdout(std::string_view text);

/// Writes a rendered answer where the command line says. Throws Error(failed) when it cannot be written.
void write_output(const Context& context, const std::string& out);

}  // namespace tailor::cli
