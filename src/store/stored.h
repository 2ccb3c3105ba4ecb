// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows that are kept short. Of plans, estimates, rejections and edges a database holds many, so their ids and words
// stand as numbers in tables called stored_*, and a view of each with ids and words has the name that everybody asks
// (schema.sql). Reading needs nothing of this; here is how rows of such a view get into the tables behind it. Called by
// record_sql.h for one row and by merging for all of another database. Private to this folder and its tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tailor::store {

struct StoredTable {
  std::string_view view, table;
  /// Statements that come first: words, and what else a row needs a number of. They read the rows from `new`, which has
  /// the columns of the view.
  std::vector<std::string> first;
  std::string columns, values;          ///< "INSERT INTO table (columns) SELECT values"
  std::string key;                      ///< columns of the table that tell two rows apart
  std::vector<std::string> others;      ///< its other columns
  std::vector<std::string_view> shows;  ///< columns of the view that are not of its key, in order
  std::vector<std::string> shown;       ///< each of these as SQL; "{0}" stands for the row of the table
  /// SQL that takes out all rows of one owner, "{}" stands for the condition that names it; empty without an owner.
  std::string removal = {};
};

/// Of this view; null for a name that is a table itself.
const StoredTable* stored_behind(std::string_view view);

/// Statements to be run in order: they put what `source` gives ("VALUES (?, ?)", "SELECT a, b FROM ..."), which has the
/// view's columns called `names` ("a, b"), into the tables. `then` is what is done about a row that is known:
/// "NOTHING", "UPDATE SET ... WHERE ...". The last statement changes the rows. None reports a row that refers to
/// nothing before it is stored: SQLite refuses it.
std::vector<std::string> stored_insertions(const StoredTable& stored, std::string_view names, std::string_view source,
                                           std::string_view then);

/// "UPDATE SET a = excluded.a, ...": all but the key.
std::string stored_update(const StoredTable& stored);

}  // namespace tailor::store
