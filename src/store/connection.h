// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// An open SQLite database: cached statements, values bound and read by type, errors as Error. In: SQL and values.
// Out: rows. Called by the files of this folder and its tests; private to them.
//
// SQLiteCpp reports through exceptions of its own; guarded() is the one place where they turn into Error.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cassert>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/stop.h"
#include "base/units.h"

namespace tailor::store {

/// A text by gzip, and back; nothing for an empty one. Throws Error(failed) for bytes that are damaged.
std::vector<std::byte> packed_bytes(std::string_view text);
std::string unpacked_text(const std::vector<std::byte>& bytes);

/// What SQLite said, as an Error with a hint that fits its code.
Error to_error(const SQLite::Exception& exception, const std::filesystem::path& path);
/// Whether it says that a row does not fit the schema.
bool is_misfit(const SQLite::Exception& exception);

/// Where `stop` was asked for, what failed was given up: SQLite says so by a code of its own only where it was not in
/// the middle of reading a schema again, as ALTER TABLE does.
template <class Work>
decltype(auto) guarded(const std::filesystem::path& path, const std::stop_token& stop, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const SQLite::Exception& exception) {
    stop_if_asked(stop);
    throw to_error(exception, path);
  }
}

void bind(SQLite::Statement& statement, int at, const std::string& value);
void bind(SQLite::Statement& statement, int at, std::string_view value);
void bind(SQLite::Statement& statement, int at, Id value);
void bind(SQLite::Statement& statement, int at, std::int64_t value);
void bind(SQLite::Statement& statement, int at, int value);
void bind(SQLite::Statement& statement, int at, bool value);
void bind(SQLite::Statement& statement, int at, double value);
void bind(SQLite::Statement& statement, int at, std::optional<double> value);              ///< NULL when empty
void bind(SQLite::Statement& statement, int at, const std::vector<std::byte>& value);      ///< NULL when empty
void bind(SQLite::Statement& statement, int at, std::optional<Id> value);                  ///< NULL when empty
void bind(SQLite::Statement& statement, int at, const std::optional<std::string>& value);  ///< NULL when empty
template <class Dimension>
void bind(SQLite::Statement& statement, int at, Quantity<Dimension> value) {
  bind(statement, at, value.value);
}
template <class Dimension>
void bind(SQLite::Statement& statement, int at, std::optional<Quantity<Dimension>> value) {
  bind(statement, at, value ? std::optional(value->value) : std::nullopt);
}

/// Reads a row's columns from left to right into variables of the types above.
class Columns {
 public:
  explicit Columns(SQLite::Statement& statement) : statement_(statement) {}
  template <class... Values>
  void into(Values&... values) {
    (read(values), ...);
  }
  void read(std::string& value);
  void read(Id& value);
  void read(std::optional<Id>& value);
  void read(std::optional<std::string>& value);
  void read(std::int64_t& value);
  void read(int& value);
  void read(bool& value);
  void read(double& value);
  void read(std::optional<double>& value);
  void read(std::vector<std::byte>& value);
  template <class Dimension>
  void read(Quantity<Dimension>& value) {
    read(value.value);
  }
  template <class Dimension>
  void read(std::optional<Quantity<Dimension>>& value) {
    std::optional<double> number;
    read(number);
    value.reset();
    if (number) value = Quantity<Dimension>{*number};
  }

 private:
  SQLite::Statement& statement_;
  int at_ = 0;
};

/// SQL has two functions more here: id_bytes(text), the 16 bytes of an id, and packed(text), the text as packed_bytes()
/// gives it. No view needs them, so other programs read the file without.
class Connection {
 public:
  /// Work that runs when `stop` is asked for ends with Error(interrupted), and so does all that begins later.
  Connection(const std::filesystem::path& path, int flags, Seconds patience, std::stop_token stop = {});

  const std::filesystem::path& path() const { return path_; }
  const std::stop_token& stop() const { return stop_; }
  SQLite::Database& database() { return database_; }

  /// Runs statements that return nothing.
  void script(const std::string& sql);
  std::int64_t number(const std::string& sql);

  /// Runs one statement with `values` for its question marks; returns the number of rows changed. The statement is
  /// prepared once; `sql` is its key.
  template <class... Values>
  int execute(const std::string& sql, const Values&... values) {
    return execute_bound(sql, [&](SQLite::Statement& statement) { return bind_all(statement, values...); });
  }
  /// The same with `fill(SQLite::Statement&)` to bind the values; it returns how many it bound.
  template <class Fill>
  int execute_bound(const std::string& sql, Fill&& fill) {
    stop_if_asked(stop_);
    return guarded(path_, stop_, [&] {
      const Use use(filled(sql, fill));
      return use.statement.exec();
    });
  }
  /// The same, or nothing where a row does not fit the schema; then nothing was changed.
  template <class Fill>
  std::optional<int> execute_if_it_fits(const std::string& sql, Fill&& fill) {
    stop_if_asked(stop_);
    return guarded(path_, stop_, [&]() -> std::optional<int> {
      const Use use(filled(sql, fill));
      try {
        return use.statement.exec();
      } catch (const SQLite::Exception& exception) {
        if (!is_misfit(exception)) throw;
        return std::nullopt;
      }
    });
  }

  /// Calls `visit(Columns&)` for each row of a query.
  template <class Visit, class... Values>
  void each(const std::string& sql, Visit&& visit, const Values&... values) {
    each_bound(
        sql, [&](SQLite::Statement& statement) { return bind_all(statement, values...); }, visit);
  }
  /// The same with `fill` as in execute_bound.
  template <class Fill, class Visit>
  void each_bound(const std::string& sql, Fill&& fill, Visit&& visit) {
    stop_if_asked(stop_);
    guarded(path_, stop_, [&] {
      const Use use(filled(sql, fill));
      while (use.statement.executeStep()) {
        Columns columns(use.statement);
        visit(columns);
        stop_if_asked(stop_);
      }
    });
  }

 private:
  /// Puts a statement back in its place, also when something throws: a forgotten one would hold a lock.
  struct Use {
    explicit Use(SQLite::Statement& used) : statement(used) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { statement.tryReset(); }
    SQLite::Statement& statement;
  };
  template <class... Values>
  static int bind_all(SQLite::Statement& statement, const Values&... values) {
    int at = 0;
    (bind(statement, ++at, values), ...);
    return at;
  }
  template <class Fill>
  SQLite::Statement& filled(const std::string& sql, Fill&& fill) {
    SQLite::Statement& statement = prepared(sql);
    [[maybe_unused]] const int bound = fill(statement);
    assert(bound == statement.getBindParameterCount());
    return statement;
  }
  SQLite::Statement& prepared(const std::string& sql);

  std::filesystem::path path_;
  SQLite::Database database_;
  std::unordered_map<std::string, std::unique_ptr<SQLite::Statement>> statements_;
  std::stop_token stop_;
  /// Gives up the statement that runs, from the thread that asks.
  struct GiveUp {
    sqlite3* handle;
    void operator()() const;
  };
  std::stop_callback<GiveUp> give_up_;  ///< goes before the database
};

/// Several statements that hold together, inside a transaction or alone. Undone unless released.
class Savepoint {
 public:
  explicit Savepoint(Connection& connection) : connection_(connection) { connection.execute("SAVEPOINT several"); }
  Savepoint(const Savepoint&) = delete;
  Savepoint& operator=(const Savepoint&) = delete;
  ~Savepoint() {
    if (open_) connection_.database().tryExec("ROLLBACK TO several; RELEASE several");
  }
  void release() {
    connection_.execute("RELEASE several");
    open_ = false;
  }

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace tailor::store
