// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Records in and out of a database. The SQL is made from the record's list (records.h), and the same list binds the
// values and reads them back. Called by save.cpp and load.cpp; takes an open Connection. Lists inside a record are
// saved and loaded with it, each in a table of its own under the key of the record. Private to this folder and its
// tests.
#pragma once

#include <concepts>
#include <type_traits>

#include "store/connection.h"
#include "store/records.h"

namespace tailor::store {

/// A column as SQLite describes it.
struct Column {
  std::string name;
  std::string_view type;  ///< "TEXT", "INTEGER", "REAL", "BLOB"
  bool nullable = false;
  unsigned marks = 0;
  bool operator==(const Column&) const = default;
};

/// "INSERT INTO table (columns) VALUES (?, ...) ON CONFLICT ...", as the table says what happens to a known row. Not
/// INSERT OR IGNORE: that would also hide a value that the schema forbids. Several statements, each with all question
/// marks, where the rows are kept short (stored.h); the last one tells whether anything changed.
std::vector<std::string> insert_sql(const Table& table, const std::vector<Column>& columns);
/// SQL for the next free number of a table whose rows are numbered.
std::string next_number(std::string_view table);
/// Takes out the rows of a list's table that belong to the record with these keys.
std::string removal_sql(const Table& table, const std::vector<Column>& keys);
/// "SELECT a, b FROM table rest".
std::string select_sql(std::string_view table, const std::vector<Column>& columns, std::string_view rest);
/// "a, b, c", with `prefix` before each.
std::string names_of(const std::vector<Column>& columns, std::string_view prefix = {});
/// "a = ? AND b = ?".
std::string equal_to(const std::vector<Column>& keys);

// ---- the columns of a record ----

template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;
template <class Value>
inline constexpr bool is_quantity = false;
template <class Dimension>
inline constexpr bool is_quantity<Quantity<Dimension>> = true;
template <class Value>
inline constexpr bool is_zero_null = false;
template <class Number>
inline constexpr bool is_zero_null<ZeroIsNull<Number>> = true;
template <class Value>
inline constexpr bool is_throttle = false;
template <class Bits>
inline constexpr bool is_throttle<ThrottleBits<Bits>> = true;

/// The column that holds a value of this type.
template <class Value>
Column column_for(const char* name, unsigned marks) {
  if constexpr (is_optional<Value>) {
    Column column = column_for<typename Value::value_type>(name, marks);
    column.nullable = true;
    return column;
  } else if constexpr (is_zero_null<Value>) {
    return {name, "REAL", true, marks};
  } else if constexpr (std::same_as<Value, std::string> || std::same_as<Value, Id>) {
    if ((marks & mark::packed) != 0) return {name, "BLOB", true, marks};
    return {name, "TEXT", false, marks};
  } else if constexpr (std::same_as<Value, std::vector<std::byte>>) {
    return {name, "BLOB", true, marks};
  } else if constexpr (std::same_as<Value, double> || is_quantity<Value>) {
    return {name, "REAL", false, marks};
  } else {
    static_assert(std::integral<Value> || is_throttle<Value>, "a type that no column holds");
    return {name, "INTEGER", false, marks};
  }
}

/// Gathers columns; lists are counted.
struct ColumnsVisitor {
  static constexpr bool reads = false;
  std::vector<Column> columns;
  int lists = 0;
  template <class Value>
  void operator()(const char* name, const Value&, unsigned marks = 0) {
    columns.push_back(column_for<Value>(name, marks));
  }
  template <class Rows>
  void list(const Rows&) {
    ++lists;
  }
};

template <class Row>
const ColumnsVisitor& shape_of() {
  static const ColumnsVisitor shape = [] {
    ColumnsVisitor visitor;
    const Row row{};
    Record<Row>::walk(visitor, row);
    return visitor;
  }();
  return shape;
}
template <class Row>
const std::vector<Column>& columns_of() {
  return shape_of<Row>().columns;
}
/// Those of the primary key.
template <class Row>
std::vector<Column> keys_of() {
  std::vector<Column> keys;
  for (const Column& column : columns_of<Row>())
    if ((column.marks & mark::key) != 0) keys.push_back(column);
  return keys;
}
/// The columns of a list's table: the key of the record it belongs to, a number where its rows have none, their own.
template <class Owner, class Row>
std::vector<Column> list_columns() {
  std::vector<Column> columns = keys_of<Owner>();
  if (!Record<Row>::table.number.empty())
    columns.push_back({std::string(Record<Row>::table.number), "INTEGER", false, mark::key});
  columns.insert(columns.end(), columns_of<Row>().begin(), columns_of<Row>().end());
  return columns;
}

// ---- saving ----

/// Binds a record's fields to question marks, left to right.
class Binder {
 public:
  static constexpr bool reads = false;
  explicit Binder(SQLite::Statement& statement) : statement_(statement) {}
  template <class Value>
  void operator()(const char*, const Value& value, [[maybe_unused]] unsigned marks = 0) {
    if constexpr (std::same_as<Value, std::string>) {
      if ((marks & mark::packed) == 0) return bind(statement_, ++at_, value);
      const std::vector<std::byte> bytes = packed_bytes(value);
      bind(statement_, ++at_, bytes);
    } else if constexpr (is_zero_null<Value>) {
      bind(statement_, ++at_, value.value > 0 ? std::optional<double>(value.value) : std::nullopt);
    } else if constexpr (is_throttle<Value>) {
      bind(statement_, ++at_, static_cast<std::int64_t>(value.bits));
    } else {
      bind(statement_, ++at_, value);
    }
  }
  template <class Rows>
  void list(const Rows&) {}
  int bound() const { return at_; }

 private:
  SQLite::Statement& statement_;
  int at_ = 0;
};

/// What Connection wants for values that `fill(Binder&)` binds.
template <class Fill>
auto bound_by(const Fill& fill) {
  return [&fill](SQLite::Statement& statement) {
    Binder binder(statement);
    fill(binder);
    return binder.bound();
  };
}

/// Binds the key of a record alone.
template <class Row>
void bind_keys(Binder& binder, const Row& row) {
  OnlyMarked<Binder, mark::key> keys{binder};
  Record<Row>::walk(keys, row);
}

/// Runs what insert_sql() gave for one row. Most rows find all that they need numbers of: only one that does not waits
/// for the statements before the last.
template <class Fill>
int insert_row(Connection& connection, const std::vector<std::string>& statements, const Fill& fill) {
  if (statements.size() > 1)
    if (const std::optional<int> changed = connection.execute_if_it_fits(statements.back(), fill)) return *changed;
  int changed = 0;
  for (const std::string& statement : statements) changed = connection.execute_bound(statement, fill);
  return changed;
}

/// Writes the lists of a record; removes what was there before when `keeps` is false.
template <class Owner>
struct ListSaver {
  static constexpr bool reads = false;
  Connection& connection;
  const Owner& owner;
  bool keeps;
  template <class Value>
  void operator()(const char*, const Value&, unsigned = 0) {}
  template <class Row>
  void list(const std::vector<Row>& rows) {
    constexpr Table table = Record<Row>::table;
    static const std::string removal = removal_sql(table, keys_of<Owner>());
    static const std::vector<std::string> insertions = insert_sql(table, list_columns<Owner, Row>());
    if (!keeps) connection.execute_bound(removal, bound_by([&](Binder& binder) { bind_keys(binder, owner); }));
    std::int64_t number = 0;
    for (const Row& row : rows) {
      insert_row(connection, insertions, bound_by([&](Binder& binder) {
                   bind_keys(binder, owner);
                   if (!table.number.empty()) binder("", number);
                   Record<Row>::walk(binder, row);
                 }));
      ++number;
    }
  }
};

/// Saves a record with its lists, all or nothing.
template <class Row>
void save_record(Connection& connection, const Row& row) {
  constexpr Table table = Record<Row>::table;
  static const std::vector<std::string> insertions = insert_sql(table, columns_of<Row>());
  const auto insert = [&] {
    return insert_row(connection, insertions, bound_by([&](Binder& binder) { Record<Row>::walk(binder, row); }));
  };
  if (shape_of<Row>().lists == 0) {
    insert();
    return;
  }
  Savepoint together(connection);
  if (insert() > 0) {
    ListSaver<Row> lists{connection, row, table.known != Known::replaced};
    Record<Row>::walk(lists, row);
  }
  together.release();
}

// ---- loading ----

/// Fills a record from a row of a query, left to right.
class Loader {
 public:
  static constexpr bool reads = true;
  explicit Loader(Columns& columns) : columns_(columns) {}
  template <class Value>
  void operator()(const char*, Value&& value, [[maybe_unused]] unsigned marks = 0) {
    using Plain = std::remove_cvref_t<Value>;
    if constexpr (std::same_as<Plain, std::string>) {
      if ((marks & mark::packed) == 0) return columns_.read(value);
      std::vector<std::byte> bytes;
      columns_.read(bytes);
      value = unpacked_text(bytes);
    } else if constexpr (is_zero_null<Plain>) {
      std::optional<double> number;
      columns_.read(number);
      value.value = number.value_or(0);
    } else if constexpr (is_throttle<Plain>) {
      std::int64_t bits = 0;
      columns_.read(bits);
      value.bits = static_cast<std::remove_reference_t<decltype(value.bits)>>(bits);
    } else {
      columns_.read(value);
    }
  }
  template <class Rows>
  void list(Rows&) {}

 private:
  Columns& columns_;
};

/// Reads the lists of a record, in the order of their keys.
template <class Owner>
struct ListLoader {
  static constexpr bool reads = false;
  Connection& connection;
  const Owner& owner;
  template <class Value>
  void operator()(const char*, const Value&, unsigned = 0) {}
  template <class Row>
  void list(std::vector<Row>& rows) {
    constexpr Table table = Record<Row>::table;
    static const std::string selection =
        select_sql(table.name, columns_of<Row>(),
                   "WHERE " + equal_to(keys_of<Owner>()) + " ORDER BY " +
                       (table.number.empty() ? names_of(keys_of<Row>()) : std::string(table.number)));
    connection.each_bound(selection, bound_by([&](Binder& binder) { bind_keys(binder, owner); }),
                          [&](Columns& columns) {
                            Loader loader(columns);
                            Record<Row>::walk(loader, rows.emplace_back());
                          });
  }
};

/// The records that "SELECT columns FROM table `rest`" finds, with their lists.
template <class Row, class... Values>
std::vector<Row> load_records(Connection& connection, std::string_view rest, const Values&... values) {
  const auto place = [&] { return Position{connection.path().string(), 0, 0}; };
  return with_position(place, [&] {
    std::vector<Row> rows;
    connection.each(
        select_sql(Record<Row>::table.name, columns_of<Row>(), rest),
        [&](Columns& columns) {
          Loader loader(columns);
          Record<Row>::walk(loader, rows.emplace_back());
        },
        values...);
    if (shape_of<Row>().lists > 0)
      for (Row& row : rows) {
        ListLoader<Row> lists{connection, row};
        Record<Row>::walk(lists, row);
      }
    return rows;
  });
}

// ---- all tables ----

/// A table or, where its rows are kept short, the view of them, with its columns.
struct RecordTable : Table {
  std::vector<Column> columns;
};
/// Each that holds a record or a list of one, parents before those that refer to them.
const std::vector<RecordTable>& record_tables();

}  // namespace tailor::store
