// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What makes a file ours: its application id, its schema version, and the steps from one version to the next. Private
// to this folder and its tests. In: a path or a connection. Out: what kind of file it is, or a database of today's
// schema. Called by Store::open.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/connection.h"

namespace tailor::store {

/// "Tail", in SQLite's header field for the program a file belongs to.
inline constexpr std::int32_t application_id = 0x5461696c;

/// One step of a migration: SQL that turns version `from` into `from + 1`.
struct Migration {
  int from;
  std::string_view sql;
};

struct Schema {
  std::string_view sql;  ///< creates `version` from nothing
  int version;
  std::span<const Migration> steps;  ///< ascending, none left out
};

/// schema.sql, embedded by the build.
extern const std::string_view schema_sql;
/// The steps to this program's schema (steps.cpp).
extern const std::array<Migration, 4> current_steps;
/// The schema of this program.
extern const Schema current_schema;

enum class FileKind { absent, empty, ours };

/// Reads the file's header without SQLite, so that nothing is written. Throws Error(failed) for a file that is not a
/// database, belongs to another program, or is newer than `schema`.
FileKind inspect(const std::filesystem::path& path, const Schema& schema);

/// Whether the path is a regular file that begins like a database of SQLite, ours or not.
bool is_database(const std::filesystem::path& path);

/// Creates the schema in an empty database or migrates an older one, in one transaction.
void prepare(Connection& connection, const Schema& schema);

/// Names of the schema's indexes that the database does not have. Without them it answers the same, only slowly.
std::vector<std::string> missing_indexes(Connection& connection, const Schema& schema);

/// Holds the tables, views and columns of a database of `schema.version` against those of `schema`. Throws
/// Error(failed) naming the first that is missing or is another: nothing may be read from or written to such a file.
void check_structure(Connection& connection, const Schema& schema);

}  // namespace tailor::store
