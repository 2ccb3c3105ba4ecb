// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening, transactions, and what is asked of the file as a whole. In: a path. Out: a Store, the sizes of its tables,
// its dump, its damage. Called by sweeps, by commands that take a database, and by reports. What rows are is in
// save.cpp and load.cpp, and what may be wrong with them in damage.cpp.
#include "store/store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <utility>

#include "store/connection.h"
#include "store/record_sql.h"
#include "store/schema.h"
#include "store/stored.h"

namespace tailor::store {

namespace {

// Pages kept in memory, in KiB: random keys touch all of an index of a few hundred thousand plans.
constexpr std::string_view cache_pragma = "PRAGMA cache_size = -65536";

/// What holds the rows, by name, with the columns that mean the same in every database: numbers that stand for things
/// in this file alone are left out.
const std::map<std::string_view, std::vector<std::string>>& contents() {
  static const std::map<std::string_view, std::vector<std::string>> all = [] {
    std::map<std::string_view, std::vector<std::string>> found;
    for (const RecordTable& table : record_tables())
      for (const Column& column : table.columns) found[table.name].push_back(column.name);
    found["levels"] = {"level", "precision", "meaning"};
    return found;
  }();
  return all;
}

Error none_at(const std::filesystem::path& path) {
  return {Fault::missing, Position{path.string(), 0, 0}, "there is no such database",
          "make one with 'tailor sweep CONFIG.json'"};
}

Error nothing_in(const std::filesystem::path& path) {
  return {Fault::failed, Position{path.string(), 0, 0},
          fmt::format("found an empty file, expected a database of schema version {}", current_schema.version),
          "a command that writes to it, such as 'tailor sweep', makes one of it"};
}

}  // namespace

Migrated migrate(const std::filesystem::path& path, const Opening& opening) {
  return doing("migrating the database", [&] {
    if (!std::filesystem::exists(path)) throw none_at(path);
    if (inspect(path, current_schema) == FileKind::empty) throw nothing_in(path);
    const auto bytes = [&] { return static_cast<std::int64_t>(std::filesystem::file_size(path)); };
    Migrated done{.to = current_schema.version, .bytes_before = bytes()};
    done.from = Connection(path, SQLite::OPEN_READONLY, opening.patience, opening.stop).number("PRAGMA user_version");
    done.from == done.to ? Store::open_read_only(path, opening) : Store::open(path, opening);
    done.bytes_after = bytes();
    return done;
  });
}

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
    if (!std::filesystem::exists(path)) throw none_at(path);
    const FileKind kind = inspect(path, current_schema);
    auto connection = std::make_unique<Connection>(path, SQLite::OPEN_READONLY, opening.patience, opening.stop);
    const std::int64_t version = connection->number("PRAGMA user_version");
    if (kind == FileKind::empty) throw nothing_in(path);
    if (version != current_schema.version)
      throw Error(Fault::failed, Position{path.string(), 0, 0},
                  fmt::format("found schema version {}, expected {}", version, current_schema.version),
                  fmt::format("'tailor db migrate {}' brings it there", path.string()));
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
  for (const auto& [table, columns] : contents()) {
    const StoredTable* stored = stored_behind(table);
    result.push_back({std::string(table), connection_->number(fmt::format("SELECT count(*) FROM {}",
                                                                          stored != nullptr ? stored->table : table))});
  }
  return result;
}

std::vector<TableSize> Store::executions() const {
  std::vector<TableSize> result;
  connection_->each("SELECT profiler, count(*) FROM measurements GROUP BY profiler ORDER BY profiler",
                    [&](Columns& columns) {
                      TableSize& one = result.emplace_back();
                      columns.read(one.table);
                      columns.read(one.rows);
                    });
  return result;
}

void Store::dump(const std::function<void(std::string_view, std::string_view)>& visit) const {
  for (const auto& [table, names] : contents()) {
    std::string row;
    for (const std::string& name : names) row += fmt::format("{}quote({})", row.empty() ? "" : " || ', ' || ", name);
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

std::string Store::damage() const {
  std::string text;
  for (const Damage& one : damages())
    text += fmt::format("{}{}{}\n", one.what, one.times > 1 ? fmt::format(" ({} times)", one.times) : "",
                        one.examples.empty() ? "" : fmt::format(", for example {}", fmt::join(one.examples, "; ")));
  return text;
}

std::string sqlite_version() { return SQLite::getLibVersion(); }

}  // namespace tailor::store
