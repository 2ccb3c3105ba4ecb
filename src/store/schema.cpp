// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Recognising, creating, migrating and checking database files. In: a path. Out: whether the file is ours, and a
// database of this version. Called when a store is opened. An older version is migrated step by step in one
// transaction: either the whole file is new afterwards, or nothing was changed.
#include "store/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

namespace tailor::store {

namespace {

// The file format's header: 16 bytes of magic, big-endian fields after them.
constexpr std::size_t header_bytes = 100;
constexpr std::size_t user_version_at = 60;
constexpr std::size_t application_id_at = 68;
constexpr std::string_view magic{"SQLite format 3\0", 16};

std::int32_t big_endian(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int32_t>(value);
}

std::vector<std::string> names_in(Connection& connection, const std::string& sql) {
  std::vector<std::string> names;
  connection.each(sql, [&](Columns& columns) { columns.read(names.emplace_back()); });
  return names;
}

std::vector<std::string> names_of(Connection& connection, std::string_view type) {
  return names_in(connection, fmt::format("SELECT name FROM sqlite_master WHERE type = '{}' AND name NOT LIKE "
                                          "'sqlite_%' ORDER BY rowid",
                                          type));
}

std::vector<std::string> columns_of(Connection& connection, const std::string& name) {
  return names_in(connection, fmt::format("SELECT name FROM pragma_table_info('{}')", name));
}

/// The first of `expected` that is not among `found`; "" when all are.
std::string first_missing(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
  for (const std::string& name : expected)
    if (std::find(found.begin(), found.end(), name) == found.end()) return name;
  return {};
}

Error refusal(const std::filesystem::path& path, std::string message, std::string hint) {
  return {Fault::failed, Position{path.string(), 0, 0}, std::move(message), std::move(hint)};
}

void check_version(const std::filesystem::path& path, std::int64_t version, const Schema& schema) {
  if (version > schema.version)
    throw refusal(path,
                  fmt::format("the database has schema version {}, this program knows versions up to {}", version,
                              schema.version),
                  "use a newer tailor; the file was not changed");
  const bool reached =
      version == schema.version || std::any_of(schema.steps.begin(), schema.steps.end(),
                                               [&](const Migration& step) { return step.from == version; });
  if (!reached)
    throw refusal(path,
                  fmt::format("found schema version {}, expected {}: no step leads from the one to the other", version,
                              schema.version),
                  "the file was not made by a tailor that was released, or was changed since; start a new database");
}

/// Views hold nothing: a migration drops them, so that tables may change, and makes today's.
void drop_views(Connection& connection) {
  for (const std::string& name : names_of(connection, "view")) connection.script(fmt::format("DROP VIEW \"{}\"", name));
}

std::string views_of(const Schema& schema) {
  const std::size_t at = schema.sql.find("-- ---- views");
  return at == schema.sql.npos ? std::string() : std::string(schema.sql.substr(at));
}

}  // namespace

// SQLite cannot change a column's constraints: such a table is copied, dropped and made anew. Version 1 is the first
// that was released.
const Schema current_schema{schema_sql, 5, current_steps};

bool is_database(const std::filesystem::path& path) {
  std::error_code absent;
  if (!std::filesystem::is_regular_file(path, absent)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string head(magic.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return file && head == magic;
}

FileKind inspect(const std::filesystem::path& path, const Schema& schema) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    if (!std::filesystem::is_directory(folder, error))
      throw refusal(path, fmt::format("the folder '{}' does not exist", folder.string()), "create it first");
    return FileKind::absent;
  }
  if (!std::filesystem::is_regular_file(status))
    throw refusal(path, "a database file was expected, this is something else", "give the path of a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw refusal(path, "the database cannot be read", "check the permissions of the file");
  std::array<char, header_bytes> header{};
  file.read(header.data(), header.size());
  if (file.gcount() == 0) return FileKind::empty;
  if (file.gcount() < static_cast<std::streamsize>(header_bytes) ||
      std::memcmp(header.data(), magic.data(), magic.size()) != 0)
    throw refusal(path, "the file is not a database", "give another path; the file was not changed");
  if (big_endian(header.data() + application_id_at) != application_id)
    throw refusal(path, "the database belongs to another program", "give another path; the file was not changed");
  check_version(path, big_endian(header.data() + user_version_at), schema);
  return FileKind::ours;
}

void prepare(Connection& connection, const Schema& schema) {
  const bool fresh =
      connection.number("PRAGMA application_id") == 0 && connection.number("SELECT count(*) FROM sqlite_master") == 0;
  if (!fresh && connection.number("PRAGMA user_version") == schema.version) return;
  bool migrated = false;
  guarded(connection.path(), connection.stop(), [&] {
    SQLite::Transaction transaction(connection.database(), SQLite::TransactionBehavior::IMMEDIATE);
    // Another process may have been faster: look again, now that nobody else writes.
    const bool empty = connection.number("SELECT count(*) FROM sqlite_master") == 0;
    std::int64_t version = connection.number("PRAGMA user_version");
    if (!empty) check_version(connection.path(), version, schema);
    if (empty) {
      connection.script(std::string(schema.sql));
      connection.script(fmt::format("PRAGMA application_id = {}", application_id));
      version = schema.version;
    }
    migrated = version < schema.version;
    if (migrated) drop_views(connection);
    for (const Migration& step : schema.steps) {
      if (step.from != version) continue;
      SQLite::Database& database = connection.database();
      const int code = database.tryExec(std::string(step.sql));
      if (code != SQLITE_OK) stop_if_asked(connection.stop());
      if (code == SQLITE_ERROR)
        throw refusal(connection.path(),
                      fmt::format("the database says that it has schema version {}, and its tables are others: {}",
                                  version, database.getErrorMsg()),
                      "the file was not changed; 'sqlite3 FILE \"PRAGMA user_version\"' shows what it says");
      if (code != SQLITE_OK) throw SQLite::Exception(database.getHandle(), code);
      ++version;
    }
    if (version != schema.version)
      throw refusal(
          connection.path(),
          fmt::format("the database has schema version {}, from which no step leads to {}", version, schema.version),
          "start a new database; the file was not changed");
    if (migrated) connection.script(views_of(schema));
    connection.script(fmt::format("PRAGMA user_version = {}", schema.version));
    transaction.commit();
  });
  // What the old tables took is given back. Without room for that, the file stays as large as it was, and as right.
  if (migrated) connection.database().tryExec("VACUUM");
}

namespace {

/// Whether every table, view and index stands in the database in the very words of the schema: SQLite keeps the text of
/// each. What a migration changed does not; its columns are compared.
bool has_words_of(Connection& connection, const Schema& schema) {
  std::size_t expected = 0, found = 0;
  for (std::size_t at = 0; (at = schema.sql.find("\nCREATE ", at)) != schema.sql.npos; ++at) ++expected;
  connection.each("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL", [&](Columns& columns) {
    std::string sql;
    columns.read(sql);
    found += schema.sql.find("\n" + sql + ";") != schema.sql.npos ? 1u : 0u;
  });
  return expected > 0 && found == expected;
}

}  // namespace

std::vector<std::string> missing_indexes(Connection& connection, const Schema& schema) {
  Connection whole(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, {});
  whole.script(std::string(schema.sql));
  std::vector<std::string> missing = names_of(whole, "index");
  const std::vector<std::string> found = names_of(connection, "index");
  std::erase_if(missing, [&](const auto& name) { return std::find(found.begin(), found.end(), name) != found.end(); });
  return missing;
}

void check_structure(Connection& connection, const Schema& schema) {
  if (has_words_of(connection, schema)) return;
  Connection whole(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, {});
  whole.script(std::string(schema.sql));
  const auto refuse = [&](const std::string& part) {
    throw refusal(connection.path(),
                  fmt::format("found no {}, expected it in a database of schema version {}", part, schema.version),
                  "the file was changed by something else: go on with a copy from before, or start a new database");
  };
  // All names before any column: SQLite does not tell the columns of a view over something that is not there.
  for (const std::string_view type : {"table", "view"})
    if (const std::string name = first_missing(names_of(whole, type), names_of(connection, type)); !name.empty())
      refuse(fmt::format("{} '{}'", type, name));
  for (const std::string_view type : {"table", "view"})
    for (const std::string& name : names_of(whole, type))
      if (const std::string column = first_missing(columns_of(whole, name), columns_of(connection, name));
          !column.empty())
        refuse(fmt::format("column '{}' of {} '{}'", column, type, name));
}

}  // namespace tailor::store
