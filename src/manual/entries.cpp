// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The program's own tables as entries, and what is known about values of options. In: the table of commands. Out:
// entries, and for an option the place where its values stand, or that they are files. Called by the writers of the
// page and of completions.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/commands.h"
#include "manual/manual.h"

namespace tailor::manual {

namespace {

constexpr auto sources = std::to_array<ValueSource>({
    {"--format", "table json csv md", ""},
    {"--color", "auto always never", ""},
    {"--device", "", "devices"},
    {"--strategy", "", "list strategies"},
    {"--baseline", "", "list strategies"},
    {"--cost-model", "", "list models"},
});

}  // namespace

std::vector<CommandEntry> entries() {
  std::vector<CommandEntry> all;
  for (const cli::CommandRow& row : cli::commands()) {
    CommandEntry& entry = all.emplace_back(CommandEntry{row.name, row.what, split(row.examples, '\n'), {}, {}});
    if (!row.needs.empty()) entry.needs = split(row.needs, ' ');
    entry.options = cli::shown_options(row).options;
  }
  return all;
}

const ValueSource* value_source(const cli::Option& option) {
  const std::vector<std::string_view> names = split(option.names, ',');
  const auto found = std::find_if(sources.begin(), sources.end(), [&](const ValueSource& source) {
    return std::find(names.begin(), names.end(), source.option) != names.end();
  });
  return found == sources.end() ? nullptr : &*found;
}

bool takes_file(const cli::Option& option) {
  // "FILE", "NAME|FILE", "FILE.partition", "NAME=FILE|DIR,...": some part of the value is one.
  return option.value.find("FILE") != std::string::npos || option.value.find("DIR") != std::string::npos;
}

}  // namespace tailor::manual
