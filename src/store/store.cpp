// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening, transactions, and what is asked of the file as a whole. In: a path. Out: a Store, the sizes of its tables,
// its dump, its damage. Called by sweeps, by commands that take a database, and by reports. What rows are is in
// save.cpp and load.cpp.
//
// Damage comes in thousands of equal sentences: SQLite says one for each row whose parent is missing. They are counted,
// and the first few are named by the key of the row.
#include "store/store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "store/connection.h"
#include "store/schema.h"

namespace tailor::store {

namespace {

// Pages kept in memory, in KiB: random keys touch all of an index of a few hundred thousand plans.
constexpr std::string_view cache_pragma = "PRAGMA cache_size = -65536";

std::vector<std::string> tables(Connection& connection) {
  std::vector<std::string> names;
  connection.each("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
                  [&](Columns& columns) { columns.read(names.emplace_back()); });
  return names;
}

}  // namespace

Store::Store(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const std::filesystem::path& path, const Opening& opening) {
  return doing("opening the database", [&] {
    inspect(path, current_schema);
    auto connection = std::make_unique<Connection>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, opening.patience,
                                                   opening.stop);
    if (sqlite3_db_readonly(connection->database().getHandle(), "main") != 0)
      throw Error(Fault::failed, Position{path.string(), 0, 0}, "the database cannot be written",
                  "check the permissions of the file and its folder");
    prepare(*connection, current_schema);
    check_structure(*connection, current_schema);
    connection->script("PRAGMA foreign_keys = ON");
    connection->script(std::string(cache_pragma));
    return Store(std::move(connection));
  });
}

Store Store::open_read_only(const std::filesystem::path& path, const Opening& opening) {
  return doing("opening the database", [&] {
    if (!std::filesystem::exists(path))
      throw Error(Fault::missing, Position{path.string(), 0, 0}, "there is no such database",
                  "make one with 'tailor sweep CONFIG.json'");
    const FileKind kind = inspect(path, current_schema);
    auto connection = std::make_unique<Connection>(path, SQLite::OPEN_READONLY, opening.patience, opening.stop);
    const std::int64_t version = connection->number("PRAGMA user_version");
    if (version != current_schema.version)
      throw Error(Fault::failed, Position{path.string(), 0, 0},
                  fmt::format("found {}, expected a database of schema version {}",
                              kind == FileKind::empty ? "an empty file" : fmt::format("schema version {}", version),
                              current_schema.version),
                  "a command that writes to it, such as 'tailor sweep', creates or migrates it");
    check_structure(*connection, current_schema);
    connection->script(std::string(cache_pragma));
    return Store(std::move(connection));
  });
}

// IMMEDIATE takes the write lock at once: waiting happens here, and never after work was done.
Store::Transaction::Transaction(Store& store) : connection_(*store.connection_) {
  connection_.execute("BEGIN IMMEDIATE");
}

Store::Transaction::~Transaction() {
  if (open_) connection_.database().tryExec("ROLLBACK");
}

void Store::Transaction::commit() {
  connection_.execute("COMMIT");
  open_ = false;
}

std::vector<TableSize> Store::sizes() const {
  std::vector<TableSize> result;
  for (const std::string& table : tables(*connection_))
    result.push_back({table, connection_->number(fmt::format("SELECT count(*) FROM {}", table))});
  return result;
}

void Store::dump(const std::function<void(std::string_view, std::string_view)>& visit) const {
  for (const std::string& table : tables(*connection_)) {
    std::string row;
    connection_->each(fmt::format("SELECT name FROM pragma_table_info('{}')", table), [&](Columns& columns) {
      std::string name;
      columns.read(name);
      row += fmt::format("{}quote({})", row.empty() ? "" : " || ', ' || ", name);
    });
    connection_->each(fmt::format("SELECT {} FROM {} ORDER BY 1", row, table), [&](Columns& columns) {
      std::string values;
      columns.read(values);
      visit(table, values);
    });
  }
}

std::string Store::dump() const {
  std::string text;
  dump([&](std::string_view table, std::string_view values) { text += fmt::format("{}: {}\n", table, values); });
  return text;
}

namespace {

constexpr std::size_t examples_told = 3;

/// The keys of the first rows of a table that refer to a row which is not there, by the reference of this number.
std::vector<std::string> dangling(Connection& connection, const std::string& table, const std::string& parent,
                                  std::int64_t reference) {
  std::vector<std::string> keys, parent_keys, from, to;
  const auto names = [&](const std::string& of, std::vector<std::string>& into) {
    connection.each(fmt::format("SELECT name FROM pragma_table_info('{}') WHERE pk > 0 ORDER BY pk", of),
                    [&](Columns& columns) { columns.read(into.emplace_back()); });
  };
  names(table, keys);
  names(parent, parent_keys);
  connection.each(fmt::format("SELECT \"from\", \"to\" FROM pragma_foreign_key_list('{}') WHERE id = {} ORDER BY seq",
                              table, reference),
                  [&](Columns& columns) {
                    std::optional<std::string> other;
                    columns.into(from.emplace_back(), other);
                    to.push_back(other.value_or(to.size() < parent_keys.size() ? parent_keys[to.size()] : ""));
                  });
  std::string key, there, equal;
  for (const std::string& name : keys) key += fmt::format("{}quote({})", key.empty() ? "" : " || ', ' || ", name);
  for (std::size_t i = 0; i < from.size(); ++i) {
    there += fmt::format("{}t.{} IS NOT NULL", there.empty() ? "" : " AND ", from[i]);
    equal += fmt::format("{}p.{} = t.{}", equal.empty() ? "" : " AND ", to[i], from[i]);
  }
  std::vector<std::string> examples;
  connection.each(fmt::format("SELECT {} FROM {} t WHERE {} AND NOT EXISTS (SELECT 1 FROM {} p WHERE {}) LIMIT {}", key,
                              table, there, parent, equal, examples_told),
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
    all.push_back({fmt::format("a row of {} refers to a row of {} that is not there", one.table, one.parent), one.rows,
                   dangling(*connection_, one.table, one.parent, one.number)});
  return all;
}

std::string Store::damage() const {
  std::string text;
  for (const Damage& one : damages())
    text += fmt::format("{}{}{}\n", one.what, one.times > 1 ? fmt::format(" ({} times)", one.times) : "",
                        one.examples.empty() ? "" : fmt::format(", for example {}", fmt::join(one.examples, "; ")));
  return text;
}

std::string sqlite_version() { return SQLite::getLibVersion(); }

}  // namespace tailor::store
