// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Binding, reading and the words for SQLite's errors. In: values of our types. Out: SQLite's columns, and back; an
// absent value is NULL in both directions, an id its hexadecimal text. Called by the store's save and load functions
// alone.
#include "store/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>

#include "base/compressed.h"

namespace tailor::store {

namespace {

struct Advice {
  int code;
  const char* message;
  const char* hint;
};

constexpr auto advice_table = std::to_array<Advice>({
    {SQLITE_BUSY, "the database is locked by another process",
     "wait for the other command, or write to a database of its own and merge"},
    {SQLITE_LOCKED, "the database is locked by another connection", "wait for the other command"},
    {SQLITE_READONLY, "the database cannot be written", "check the permissions of the file and its folder"},
    {SQLITE_CANTOPEN, "the database cannot be opened", "check that its folder exists and may be written"},
    {SQLITE_NOTADB, "the file is not a database", "give another path"},
    {SQLITE_CORRUPT, "the database is damaged", "try 'sqlite3 FILE .recover', or start a new one"},
    {SQLITE_FULL, "the disk is full", "free some space; everything committed so far is safe"},
    {SQLITE_IOERR, "reading or writing the database failed", "check the disk; everything committed so far is safe"},
    {SQLITE_CONSTRAINT, "a row does not fit the schema", ""},
    {SQLITE_MISMATCH, "a row does not fit the schema", ""},
});

int digit_of(unsigned char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// id_bytes(text); NULL for what is no id, which no column takes.
void id_bytes(sqlite3_context* context, int, sqlite3_value** values) noexcept {
  const unsigned char* text = sqlite3_value_text(values[0]);
  std::array<unsigned char, 16> bytes{};
  if (text == nullptr || sqlite3_value_bytes(values[0]) != 2 * static_cast<int>(bytes.size())) return;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return;
    bytes[i] = static_cast<unsigned char>(16 * high + low);
  }
  sqlite3_result_blob(context, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
}

/// packed(text). Packing fails without memory alone; SQLite cannot be told, so the program ends.
void packed_text(sqlite3_context* context, int, sqlite3_value** values) noexcept {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  if (text == nullptr) return;
  const std::vector<std::byte> bytes = packed_bytes({text, static_cast<std::size_t>(sqlite3_value_bytes(values[0]))});
  if (!bytes.empty()) sqlite3_result_blob(context, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
}

}  // namespace

std::vector<std::byte> packed_bytes(std::string_view text) {
  if (text.empty()) return {};
  const std::string bytes = packed(text, {});
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

std::string unpacked_text(const std::vector<std::byte>& bytes) {
  if (bytes.empty()) return {};
  return unpacked({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "a text in the database");
}

bool is_misfit(const SQLite::Exception& exception) {
  return exception.getErrorCode() == SQLITE_CONSTRAINT || exception.getErrorCode() == SQLITE_MISMATCH;
}

Error to_error(const SQLite::Exception& exception, const std::filesystem::path& path) {
  const Position place{path.string(), 0, 0};
  if (exception.getErrorCode() == SQLITE_INTERRUPT) return {Fault::interrupted, "interrupted"};
  for (const Advice& advice : advice_table)
    if (advice.code == exception.getErrorCode())
      return {Fault::failed, place, fmt::format("{} ({})", advice.message, exception.what()), advice.hint};
  return {Fault::failed, place, fmt::format("the database refused: {}", exception.what())};
}

void bind(SQLite::Statement& statement, int at, const std::string& value) { statement.bind(at, value); }
void bind(SQLite::Statement& statement, int at, std::string_view value) { statement.bind(at, std::string(value)); }
void bind(SQLite::Statement& statement, int at, Id value) { statement.bind(at, hex(value)); }
void bind(SQLite::Statement& statement, int at, std::int64_t value) { statement.bind(at, value); }
void bind(SQLite::Statement& statement, int at, int value) { statement.bind(at, value); }
void bind(SQLite::Statement& statement, int at, bool value) { statement.bind(at, value ? 1 : 0); }
void bind(SQLite::Statement& statement, int at, double value) { statement.bind(at, value); }

void bind(SQLite::Statement& statement, int at, std::optional<double> value) {
  value ? statement.bind(at, *value) : statement.bind(at);
}

void bind(SQLite::Statement& statement, int at, const std::vector<std::byte>& value) {
  if (value.empty()) return statement.bind(at);
  statement.bind(at, static_cast<const void*>(value.data()), static_cast<int>(value.size()));
}

void bind(SQLite::Statement& statement, int at, std::optional<Id> value) {
  value ? bind(statement, at, *value) : statement.bind(at);
}
void bind(SQLite::Statement& statement, int at, const std::optional<std::string>& value) {
  if (value)
    bind(statement, at, *value);
  else
    statement.bind(at);
}

void Columns::read(std::string& value) { value = statement_.getColumn(at_++).getString(); }
void Columns::read(Id& value) { value = id_from_hex(statement_.getColumn(at_++).getString()); }
void Columns::read(std::int64_t& value) { value = statement_.getColumn(at_++).getInt64(); }
void Columns::read(int& value) { value = statement_.getColumn(at_++).getInt(); }
void Columns::read(bool& value) { value = statement_.getColumn(at_++).getInt() != 0; }
void Columns::read(double& value) { value = statement_.getColumn(at_++).getDouble(); }

void Columns::read(std::optional<double>& value) {
  value.reset();
  if (!statement_.isColumnNull(at_)) value = statement_.getColumn(at_).getDouble();
  ++at_;
}

void Columns::read(std::vector<std::byte>& value) {
  const SQLite::Column column = statement_.getColumn(at_++);
  const auto* bytes = static_cast<const std::byte*>(column.getBlob());
  value.assign(bytes, bytes + column.getBytes());
}

void Columns::read(std::optional<Id>& value) {
  value.reset();
  if (statement_.isColumnNull(at_)) {
    ++at_;
  } else {
    read(value.emplace());
  }
}
void Columns::read(std::optional<std::string>& value) {
  value.reset();
  if (statement_.getColumn(at_).isNull())
    ++at_;
  else
    read(value.emplace());
}

Connection::Connection(const std::filesystem::path& path, int flags, Seconds patience, std::stop_token stop)
    : path_(path),
      database_(guarded(
          path, stop, [&] { return SQLite::Database(path.string(), flags, static_cast<int>(patience.value * 1e3)); })),
      stop_(std::move(stop)),
      give_up_(stop_, GiveUp{database_.getHandle()}) {
  constexpr int flags_of_functions = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  for (const auto& [name, function] : {std::pair{"id_bytes", &id_bytes}, {"packed", &packed_text}})
    sqlite3_create_function_v2(database_.getHandle(), name, 1, flags_of_functions, nullptr, function, nullptr, nullptr,
                               nullptr);
}

void Connection::GiveUp::operator()() const { sqlite3_interrupt(handle); }

void Connection::script(const std::string& sql) {
  stop_if_asked(stop_);
  guarded(path_, stop_, [&] { database_.exec(sql); });
}

std::int64_t Connection::number(const std::string& sql) {
  stop_if_asked(stop_);
  return guarded(path_, stop_, [&] {
    SQLite::Statement statement(database_, sql);
    return statement.executeStep() ? statement.getColumn(0).getInt64() : 0;
  });
}

SQLite::Statement& Connection::prepared(const std::string& sql) {
  std::unique_ptr<SQLite::Statement>& slot = statements_[sql];
  if (!slot) slot = std::make_unique<SQLite::Statement>(database_, sql);
  return *slot;
}

}  // namespace tailor::store
