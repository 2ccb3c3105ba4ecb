// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The manual page, and completion for shells. In: the commands with their options, as --help shows them. Out: texts in
// the language of man, bash, zsh and fish. A program of the build (write_manual.cpp) calls this once and Meson installs
// what it writes, so neither a page nor a completion can say anything else than the program does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"

namespace tailor::manual {

/// One command, as its help shows it.
struct CommandEntry {
  std::string_view name, what;
  std::vector<std::string_view> examples;  ///< without "tailor"
  std::vector<std::string_view> needs;     ///< names of options that must be given
  std::vector<cli::Option> options;        ///< only their words mean anything: their targets are gone
};
/// Those of the program, in the order of its help.
std::vector<CommandEntry> entries();

/// tailor(1), with all commands.
std::string man_page(std::span<const CommandEntry> entries, std::string_view version);

// Completion of commands, of options, and of values where value_source() knows them; else of files.
std::string bash_completion(std::span<const CommandEntry> entries);
std::string zsh_completion(std::span<const CommandEntry> entries);
std::string fish_completion(std::span<const CommandEntry> entries);

/// Where the values of an option come from.
struct ValueSource {
  std::string_view option;   ///< "--device"
  std::string_view words;    ///< all of them; empty: the program is asked
  std::string_view command;  ///< answers with a table whose first column has them
};
/// Null for an option whose value is a file, a number, or anything.
const ValueSource* value_source(const cli::Option& option);
/// Whether the value is a file or a folder.
bool takes_file(const cli::Option& option);

}  // namespace tailor::manual
