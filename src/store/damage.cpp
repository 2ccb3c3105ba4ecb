// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a database. In: an open store. Out: each kind of damage once, with how often it was found and up
// to three rows by their keys. Called by tailor db check, and by tests after everything that writes.
//
// Four questions are asked. SQLite's own: is the file whole, do rows keep the constraints of their tables. Then whether
// each row that is referred to is there; damage of that kind comes in thousands of equal sentences, so they are
// counted. Then whether the indexes are there. Last, whether numbers are possible at all: no time, size or clock is
// below zero or without end, no share above one, and a time lies within its own interval. What such a column is can be
// told by the unit in its name, so a new one is asked about from the day it exists.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/record_sql.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/stored.h"

namespace tailor::store {

namespace {

constexpr std::size_t examples_told = 3;

/// SQL for the key of a row `t` of the table as one text; its rowid where it has none.
std::string key_text(Connection& connection, const std::string& table) {
  std::string key;
  connection.each(fmt::format("SELECT name FROM pragma_table_info('{}') WHERE pk > 0 ORDER BY pk", table),
                  [&](Columns& columns) {
                    std::string name;
                    columns.read(name);
                    key += fmt::format("{}quote(t.{})", key.empty() ? "" : " || ', ' || ", name);
                  });
  return key.empty() ? "t.rowid" : key;
}
/// The same by the list of a record: of a view too.
std::string key_text(const RecordTable& table) {
  std::string key;
  for (const Column& column : table.columns)
    if ((column.marks & mark::key) != 0)
      key += fmt::format("{}quote(t.{})", key.empty() ? "" : " || ', ' || ", column.name);
  return key;
}

/// The name by which people ask a table: of plans, not of stored_plans.
std::string name_of(const std::string& table) {
  for (const RecordTable& one : record_tables())
    if (const StoredTable* stored = stored_behind(one.name); stored != nullptr && stored->table == table)
      return std::string(one.name);
  return table;
}

/// The keys of the first rows of a table that refer to a row which is not there, by the reference of this number.
std::vector<std::string> dangling(Connection& connection, const std::string& table, const std::string& parent,
                                  std::int64_t reference) {
  std::vector<std::string> parent_keys, from, to;
  connection.each(fmt::format("SELECT name FROM pragma_table_info('{}') WHERE pk > 0 ORDER BY pk", parent),
                  [&](Columns& columns) { columns.read(parent_keys.emplace_back()); });
  connection.each(fmt::format("SELECT \"from\", \"to\" FROM pragma_foreign_key_list('{}') WHERE id = {} ORDER BY seq",
                              table, reference),
                  [&](Columns& columns) {
                    std::optional<std::string> other;
                    columns.into(from.emplace_back(), other);
                    to.push_back(other.value_or(to.size() < parent_keys.size() ? parent_keys[to.size()] : ""));
                  });
  std::string there, equal;
  for (std::size_t i = 0; i < from.size(); ++i) {
    there += fmt::format("{}t.{} IS NOT NULL", there.empty() ? "" : " AND ", from[i]);
    equal += fmt::format("{}p.{} = t.{}", equal.empty() ? "" : " AND ", to[i], from[i]);
  }
  std::vector<std::string> examples;
  connection.each(fmt::format("SELECT {} FROM {} t WHERE {} AND NOT EXISTS (SELECT 1 FROM {} p WHERE {}) LIMIT {}",
                              key_text(connection, table), table, there, parent, equal, examples_told),
                  [&](Columns& columns) { columns.read(examples.emplace_back()); });
  return examples;
}

/// A line of SQLite's with its numbers left out: lines that say the same of different pages are one finding.
std::string without_numbers(std::string_view line) {
  std::string out;
  for (const char c : line) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && !out.ends_with('N')) out += 'N';
  }
  return out;
}

/// A column of real numbers, by its name: `_s` are seconds, `_bytes` and `_hz` speak for themselves.
struct BoundedColumn {
  std::string name;
  bool share = false;  ///< from 0 to 1
};

/// What of a table cannot be below zero or without end. A gain may be a loss, so it is not among them.
std::vector<BoundedColumn> bounded_columns(const RecordTable& table) {
  std::vector<BoundedColumn> found;
  for (const Column& column : table.columns) {
    const std::string& name = column.name;
    const bool share = name == "judged" || name == "occupancy";
    const bool unit = name.ends_with("_s") || name.ends_with("_bytes") || name.ends_with("_hz");
    if (column.type == "REAL" && (share || (unit && name != "gain_s"))) found.push_back({name, share});
  }
  return found;
}

struct Impossible {
  std::string what, condition;
};

/// Conditions that no row of the table may meet, with their words.
std::vector<Impossible> impossible(const RecordTable& table) {
  const std::vector<BoundedColumn> columns = bounded_columns(table);
  std::vector<Impossible> all;
  for (const BoundedColumn& column : columns) {
    all.push_back({fmt::format("a row of {} has {} below zero", table.name, column.name), column.name + " < 0"});
    all.push_back(
        {fmt::format("a row of {} has {} above {}", table.name, column.name, column.share ? "1" : "every number"),
         fmt::format("{} > {}", column.name, column.share ? "1" : "1.7976931348623157e308")});
  }
  const auto has = [&](std::string_view name) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const BoundedColumn& column) { return column.name == name; });
  };
  if (has("low_s") && has("high_s"))
    for (const std::string_view middle : {"median_s", "total_s", "time_s"})
      if (has(middle))
        all.push_back({fmt::format("a row of {} has {} outside of its interval", table.name, middle),
                       fmt::format("{0} < low_s OR {0} > high_s", middle)});
  return all;
}

/// One walk over each table: rows that hold a value that nothing can have, by condition.
void find_impossible(Connection& connection, std::vector<Damage>& all) {
  std::vector<RecordTable> tables = record_tables();
  std::sort(tables.begin(), tables.end(), [](const Table& a, const Table& b) { return a.name < b.name; });
  for (const RecordTable& table : tables) {
    const std::vector<Impossible> conditions = impossible(table);
    std::string any;
    for (const Impossible& one : conditions) any += fmt::format("{}({})", any.empty() ? "" : " OR ", one.condition);
    if (any.empty() ||
        connection.number(fmt::format("SELECT EXISTS (SELECT 1 FROM {} WHERE {})", table.name, any)) == 0)
      continue;
    const std::string key = key_text(table);
    for (const Impossible& one : conditions) {
      Damage damage{one.what, 0, {}};
      damage.times = connection.number(fmt::format("SELECT count(*) FROM {} t WHERE {}", table.name, one.condition));
      if (damage.times == 0) continue;
      connection.each(
          fmt::format("SELECT {} FROM {} t WHERE {} LIMIT {}", key, table.name, one.condition, examples_told),
          [&](Columns& columns) { columns.read(damage.examples.emplace_back()); });
      all.push_back(std::move(damage));
    }
  }
}

}  // namespace

std::vector<Damage> Store::damages() const {
  std::vector<Damage> all;
  connection_->each("PRAGMA integrity_check", [&](Columns& columns) {
    std::string line;
    columns.read(line);
    if (line == "ok") return;
    const std::string what = without_numbers(line);
    auto found = std::find_if(all.begin(), all.end(), [&](const Damage& one) { return one.what == what; });
    if (found == all.end()) found = all.insert(all.end(), {what, 0, {}});
    if (found->times++ == 0 || found->examples.size() < examples_told) found->examples.push_back(line);
  });
  for (Damage& one : all)  // a sentence without numbers, or said once, is its own example
    if (one.times == 1) one.what = std::exchange(one.examples, {}).front();
  struct Reference {
    std::string table, parent;
    std::int64_t number = 0, rows = 0;
  };
  std::vector<Reference> broken;
  connection_->each(
      "SELECT \"table\", parent, fkid, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
      [&](Columns& columns) {
        Reference& one = broken.emplace_back();
        columns.into(one.table, one.parent, one.number, one.rows);
      });
  for (const Reference& one : broken)
    all.push_back(
        {fmt::format("a row of {} refers to a row of {} that is not there", name_of(one.table), name_of(one.parent)),
         one.rows, dangling(*connection_, one.table, one.parent, one.number)});
  for (const std::string& index : missing_indexes(*connection_, current_schema))
    all.push_back({fmt::format("the index {} is missing: answers are right, and slow", index), 1, {}});
  find_impossible(*connection_, all);
  return all;
}

}  // namespace tailor::store
