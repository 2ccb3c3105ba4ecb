// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// docs/simulator.md is true: its table of counters is machine/counters.def, row by row with unit and meaning and in
// the same order, and it explains every kind of finding in a row of its own. The page is read as text. Part of the
// suite `simulator`.
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/text.h"
#include "doctest/doctest.h"
#include "profiler/simulator/machine/counters.h"
#include "profiler/simulator/machine/launch.h"
#include "support/paths.h"

namespace tailor::simulator {
namespace {

std::string documentation() { return read_file(std::filesystem::path(source_folder()) / "docs" / "simulator.md"); }

TEST_CASE("the documentation has every counter with its unit and meaning, in order, and no other") {
  const std::string page = documentation();
  std::string table = "| counter | unit | meaning |\n|---|---|---|\n";
  for (const CounterRow& row : counter_table())
    table += row.meaning.empty() ? fmt::format("| `{}` | {} | |\n", row.name, row.unit)
                                 : fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.meaning);
  INFO("the table should be\n" << table);
  CHECK(page.find("\n" + table + "\n") != page.npos);
}

TEST_CASE("the documentation explains every kind of finding in a row") {
  const std::string page = documentation();
  for (int kind = 0; kind <= static_cast<int>(FindingKind::unwritten_output); ++kind) {
    const std::string row = fmt::format("\n| {} |", name(static_cast<FindingKind>(kind)));
    INFO(row);
    CHECK(page.find(row) != page.npos);
  }
}

}  // namespace
}  // namespace tailor::simulator
