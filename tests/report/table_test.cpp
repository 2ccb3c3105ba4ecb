// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables in all their formats: JSON and CSV read back to the same values, no line on a terminal is wider than the
// screen, and one small table is golden in four views. The CSV reader is written here. Random tables come from fixed
// seeds. Part of the suite `report`.
#include "report/table.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "base/text.h"
#include "golden.h"
#include "report/width.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::report;

namespace {

Table plans() {
  Table table;
  table.title = "best plans of layer_norm";
  table.columns = {
      {"plan", "plan", Hint::text},
      {"time", "time", Hint::seconds},
      {"traffic", "traffic", Hint::bytes, 1},
      {"registers", "registers", Hint::integer, 3},
      {"dram", "of DRAM peak", Hint::fraction, 2},
      {"launches", "launches", Hint::count, 4},
  };
  const std::string nothing = "row threads=64 vector=2 | needs \"quotes\", commas";
  table.rows = {
      {std::string("row threads=128 threads_per_row=32 vector=4 homes=%0@register"), 6.8123e-6, 25165824.0,
       std::int64_t{40}, 0.8723, std::int64_t{1}},
      {std::string("map threads=256"), 12.94e-6, 50331648.0, std::int64_t{128}, 0.07, std::int64_t{12345}},
      {nothing, 123.4e-6, std::monostate{}, std::monostate{}, std::numeric_limits<double>::quiet_NaN(),
       std::int64_t{2}},
  };
  table.best = 0;
  table.left_out = 17;
  table.to_see_all = "--top 0";
  return table;
}

/// Rows of fields; `quoted` tells "" from an absent value.
struct Field {
  std::string text;
  bool quoted = false;
};

std::vector<std::vector<Field>> parsed_csv(const std::string& text) {
  std::vector<std::vector<Field>> rows(1);
  rows.back().emplace_back();
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    Field& field = rows.back().back();
    if (inside) {
      if (text[i] != '"')
        field.text += text[i];
      else if (i + 1 < text.size() && text[i + 1] == '"')
        field.text += text[i++];
      else
        inside = false;
    } else if (text[i] == '"') {
      inside = field.quoted = true;
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\n') {
      if (i + 1 == text.size()) break;
      rows.emplace_back();
      rows.back().emplace_back();
    } else {
      field.text += text[i];
    }
  }
  return rows;
}

std::string random_words(std::mt19937& random) {
  static const std::vector<std::string> pieces{"add", "é", "漢", "字", "🙂", "a\u0301",
                                               " ",   ",", "\"", "\n", "|",    "x"};
  std::string out;
  for (auto n = random() % 14; n > 0; --n) out += pieces[random() % pieces.size()];
  return out;
}

Cell random_cell(std::mt19937& random, Hint hint) {
  if (random() % 8 == 0) return std::monostate{};
  if (hint == Hint::text) return random_words(random);
  if (hint == Hint::integer || hint == Hint::count)
    return static_cast<std::int64_t>(random()) * static_cast<std::int64_t>(random() % 3) - 5;
  return std::exp(std::uniform_real_distribution(-40.0, 40.0)(random)) * (random() % 2 == 0 ? 1 : -1);
}

Table random_table(std::mt19937& random) {
  Table table;
  for (auto n = 1 + random() % 6; n > 0; --n) {
    const auto hint = static_cast<Hint>(random() % 10);
    table.columns.push_back({fmt::format("column_{}", n), random_words(random), hint, static_cast<int>(random() % 4)});
  }
  for (auto n = random() % 8; n > 0; --n) {
    table.rows.emplace_back();
    for (const Column& column : table.columns) table.rows.back().push_back(random_cell(random, column.hint));
  }
  if (random() % 2 == 0 && !table.rows.empty()) table.best = random() % table.rows.size();
  table.left_out = random() % 3;
  table.title = random_words(random);
  table.to_see_all = "--top 0";
  return table;
}

std::vector<std::string_view> lines(const std::string& text) {
  auto all = split(text, '\n');
  if (!all.empty() && all.back().empty()) all.pop_back();
  return all;
}

}  // namespace

TEST_CASE("one table, four golden views") {
  check_golden("table_wide.txt", terminal(plans(), {.width = 140}));
  check_golden("table_narrow.txt", terminal(plans(), {.width = 60}));
  check_golden("table.md", markdown(plans()));
  check_golden("table.csv", csv(plans()));
  check_golden("table.json", document({"tailor.plans/1", "tailor 0.1.0", "tailor explore x.hlo", ""}, plans()));
  check_golden("table.html", html(plans(), true));
}

TEST_CASE("no terminal line is wider than the screen, whatever the table") {
  constexpr unsigned seed = 7;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < testing::effort(100, 400, 400); ++i) {
    const Table table = random_table(random);
    for (const int width : {1, 2, 3, 7, 20, 40, 80, 200})
      for (const std::size_t max_rows : {0, 3}) {
        const std::string text = terminal(table, {.width = width, .max_rows = max_rows});
        for (const auto line : lines(text)) {
          CAPTURE(line);
          CAPTURE(width);
          REQUIRE(display_width(line) <= width);
        }
      }
  }
}

TEST_CASE("JSON reads back to the same values") {
  constexpr unsigned seed = 11;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    const Table table = random_table(random);
    const auto document_read = nlohmann::json::parse(document({"s", "t", "c", "d"}, table));
    REQUIRE(document_read["results"].size() == table.rows.size());
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& value = document_read["results"][r].at(full_key(table.columns[c]));
        const Cell& cell = table.rows[r][c];
        if (std::holds_alternative<std::monostate>(cell)) CHECK(value.is_null());
        if (const auto* words = std::get_if<std::string>(&cell)) CHECK(value.get<std::string>() == *words);
        if (const auto* whole = std::get_if<std::int64_t>(&cell)) CHECK(value.get<std::int64_t>() == *whole);
        if (const auto* real = std::get_if<double>(&cell)) CHECK(value.get<double>() == *real);
      }
  }
}

TEST_CASE("CSV reads back to the same values and tells null from empty") {
  constexpr unsigned seed = 13;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    const Table table = random_table(random);
    const auto rows = parsed_csv(csv(table));
    REQUIRE(rows.size() == table.rows.size() + 1);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      REQUIRE(rows[r + 1].size() == table.columns.size());
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Field& field = rows[r + 1][c];
        const Cell& cell = table.rows[r][c];
        if (std::holds_alternative<std::monostate>(cell)) CHECK((field.text.empty() && !field.quoted));
        if (const auto* words = std::get_if<std::string>(&cell)) {
          CHECK(field.text == *words);
          CHECK((!words->empty() || field.quoted));
        }
        if (const auto* whole = std::get_if<std::int64_t>(&cell)) CHECK(std::stoll(field.text) == *whole);
        if (const auto* real = std::get_if<double>(&cell)) CHECK(std::stod(field.text) == *real);
      }
    }
  }
}

TEST_CASE("values that are not finite are null in every format") {
  Table table;
  table.columns = {{"time", "time", Hint::seconds}};
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    table.rows = {{value}};
    CHECK(csv(table) == "time_s\n\n");
    CHECK(nlohmann::json::parse(json(table))[0]["time_s"].is_null());
    CHECK(terminal(table, {}).find("nan") == std::string::npos);
    CHECK(html(table).find("inf") == std::string::npos);
    CHECK(html(table).find("nan") == std::string::npos);
  }
}

TEST_CASE("the unit stands in the heading and decimal points under one another") {
  Table table;
  table.columns = {{"time", "time", Hint::seconds}};
  table.rows = {{1.5e-6}, {12.25e-6}, {123.0e-6}};
  const std::string text = terminal(table, {.width = 40});
  CHECK(text.find("time (us)") == 0);
  const auto all = lines(text);
  REQUIRE(all.size() == 5);
  CHECK(all[2].find('.') == all[3].find('.'));
  CHECK(all[4].find("123") + 3 == all[3].find('.'));
}

TEST_CASE("the best row is shown even when it lies behind the last row of the screen") {
  Table table;
  table.columns = {{"name", "name", Hint::text}};
  for (int i = 0; i < 30; ++i) table.rows.push_back({fmt::format("row {}", i)});
  table.best = 20;
  table.to_see_all = "--top 0";
  const std::string text = terminal(table, {.width = 60, .max_rows = 5});
  CHECK(text.find("▸ row 20") != std::string::npos);
  CHECK(text.find("row 4\n") == std::string::npos);
  CHECK(text.find("30 rows, 25 not shown: --top 0 shows all") != std::string::npos);
}

TEST_CASE("widths of text count columns, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("a\u0301") == 1);
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("🙂") == 2);
  CHECK(printable("a\tb\x1b[0m\xff") == "a b [0m\xef\xbf\xbd");
  CHECK(elided("abcdefghij", 5) == "ab…ij");
  CHECK(elided("漢字漢字", 4) == "漢…");
  CHECK(elided("abc", 3) == "abc");
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrapped("a /path/to/it b c", 4, true) == std::vector<std::string>{"a", "/path/to/it", "b c"});
}

TEST_CASE("texts go on below instead of being cut, and columns that qualify others never go") {
  Table table;
  table.columns = {{"plan", "plan", Hint::text}, {"time", "time", Hint::seconds}, {"note", "note", Hint::text, 1}};
  for (const char* homes : {"%0@register", "%0@block", "%2@register", "%1@block"})
    table.rows.push_back({fmt::format("row threads=128 homes={} lanes=32 vector=4 rows=2", homes), 1e-6,
                          std::string("what may go when there is no room for it")});
  for (const int width : {30, 50, 60, 80, 200}) {
    CAPTURE(width);
    const std::string text = terminal(table, {.width = width});
    CAPTURE(text);
    for (const auto line : lines(text)) CHECK(display_width(line) <= width);
    CHECK(text.find("…") == text.npos);
    for (const char* word : {"homes=%0@register", "homes=%0@block", "homes=%2@register", "homes=%1@block"})
      CHECK(text.find(word) != text.npos);
    CHECK(text.find("(us)") != text.npos);
    CHECK((text.find("not shown for lack") != text.npos || text.find("what") != text.npos));
  }
}

TEST_CASE("a heading of several words takes no more room than the numbers below it") {
  Table table;
  table.columns = {{"name", "name", Hint::text},
                   {"one", "lane instructions of one run", Hint::count},
                   {"two", "blocks", Hint::count},
                   {"detail", "detail", Hint::count, 1}};
  table.rows = {{std::string("softmax"), std::int64_t{1234567}, std::int64_t{12}, std::int64_t{9}}};
  const std::string text = terminal(table, {.width = 40});
  CAPTURE(text);
  CHECK(text.find("not shown") == text.npos);
  CHECK(text.find("1,234,567") != text.npos);
  const auto all = lines(text);
  CHECK(all[0].find("lane") != all[0].npos);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].starts_with("name")) CHECK(all[i + 1].starts_with("─"));  // short headings stand just above the rule
}

TEST_CASE("what does not fit as columns is shown as records, whole") {
  constexpr unsigned seed = 11;
  CAPTURE(seed);
  std::mt19937 random(seed);
  Table table;
  for (int i = 0; i < 12; ++i)
    table.columns.push_back({fmt::format("key_{}", i), fmt::format("head {}", i), Hint::count});
  for (int r = 0; r < 3; ++r) {
    table.rows.emplace_back();
    for (int i = 0; i < 12; ++i)
      table.rows.back().push_back(std::int64_t{100'000} + static_cast<std::int64_t>(random() % 900'000));
  }
  table.best = 1;
  const std::string text = terminal(table, {.width = 40});
  CAPTURE(text);
  CHECK(text.find("not shown") == text.npos);
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string line = fmt::format("head {:<3} {}", i, with_commas(std::get<std::int64_t>(row[i])));
      CHECK(text.find(line) != text.npos);
    }
  CHECK(text.find("▸ head 0") != text.npos);
  CHECK(terminal(table, {.width = 200}).find("─") != std::string::npos);
}

TEST_CASE("a share that is nearly all is not shown as all") {
  Table table;
  table.columns = {{"judged", "judged", Hint::fraction}};
  table.rows = {{1.0}, {0.99995}, {0.9991}, {0.5}, {0.0}};
  CHECK(shown(table, 0).cells == std::vector<std::string>{"100", "99.9", "99.9", "50.0", "0"});
}

TEST_CASE("a column of zeros is in the base unit") {
  Table table;
  table.columns = {{"spill", "spills", Hint::bytes}, {"time", "time", Hint::seconds}};
  table.rows = {{0.0, 0.0}, {0.0, {}}};
  const std::string text = terminal(table, {.width = 80});
  CHECK(text.find("spills (B)") != text.npos);
  CHECK(text.find("time (s)") != text.npos);
}

TEST_CASE("a sentence is shown whole, and a column without one goes first") {
  Table table;
  table.columns = {{"plan", "plan", Hint::text}, {"time", "time", Hint::seconds}, {"reason", "reason", Hint::text, 99}};
  table.columns.back().whole = true;
  table.rows = {{std::string("row threads=128"), 1e-6, std::string()},
                {std::string("row threads=256"), 2e-6, std::string()}};
  CHECK(terminal(table, {.width = 40}).find("reason") != std::string::npos);
  CHECK(terminal(table, {.width = 22}).find("not shown for lack of") != std::string::npos);
  table.rows[1][2] = std::string("not executed: needs 23 GB, 4 GB free; --blocks or --shape small takes less");
  for (const int width : {40, 60, 80, 200}) {
    std::string text = terminal(table, {.width = width});
    CAPTURE(text);
    std::string words;
    for (const auto line : lines(text)) words += std::string(trim(line)) + " ";
    CHECK(words.find("--shape small takes less") != std::string::npos);
    CHECK(text.find("…") == std::string::npos);
  }
}
