// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the lists of records.h need that is no template: SQL from columns, the words of a protocol, the names of an
// estimate's parts, and the tables in the order of their references. In: a table and its columns. Out: statements.
// Called by the templates of record_sql.h and by merging.
#include "store/record_sql.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/stored.h"

namespace tailor::store {

namespace {

/// What follows ON CONFLICT.
std::string conflict_clause(const Table& table, const std::vector<Column>& columns) {
  if (table.known == Known::stays) return "DO NOTHING";
  std::vector<std::string> keys, assignments;
  for (const Column& column : columns) {
    const bool key = (column.marks & mark::key) != 0;
    if (key) keys.push_back(column.name);
    const bool later = (column.marks & mark::later) != 0;
    if (table.known == Known::replaced ? !key : later)
      assignments.push_back(fmt::format("{0} = excluded.{0}", column.name));
  }
  return fmt::format("({}) DO UPDATE SET {}{}{}", fmt::join(keys, ", "), fmt::join(assignments, ", "),
                     table.only_if.empty() ? "" : " WHERE ", table.only_if);
}

/// A word of one of ir's enumerations, as the database and recorded files hold it.
template <class Enum>
Enum meant(std::optional<Enum> value, const std::string& word) {
  if (value) return *value;
  throw Error(Fault::failed, fmt::format("found '{}' in a measurement, which is no word of this program", word),
              "was the file changed by hand?");
}

template <class Owner>
struct TablesVisitor {
  static constexpr bool reads = false;
  std::vector<RecordTable>& tables;
  template <class Value>
  void operator()(const char*, const Value&, unsigned = 0) {}
  template <class Row>
  void list(const std::vector<Row>&) {
    tables.push_back({Record<Row>::table, list_columns<Owner, Row>()});
  }
};

template <class... Rows>
void add_tables(std::vector<RecordTable>& tables, std::tuple<Rows...>*) {
  const auto add = [&]<class Row>(const Row& row) {
    tables.push_back({Record<Row>::table, columns_of<Row>()});
    TablesVisitor<Row> lists{tables};
    Record<Row>::walk(lists, row);
  };
  (add(Rows{}), ...);
}

}  // namespace

std::string names_of(const std::vector<Column>& columns, std::string_view prefix) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(fmt::format("{}{}", prefix, column.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string equal_to(const std::vector<Column>& keys) {
  std::vector<std::string> terms;
  for (const Column& key : keys) terms.push_back(fmt::format("{} = ?", key.name));
  return fmt::format("{}", fmt::join(terms, " AND "));
}

std::string next_number(std::string_view table) {
  return fmt::format("(SELECT coalesce(max(number), 0) + 1 FROM {})", table);
}

std::vector<std::string> insert_sql(const Table& table, const std::vector<Column>& columns) {
  const std::vector<std::string_view> marks(columns.size(), "?");
  const std::string values = fmt::format("VALUES ({})", fmt::join(marks, ", "));
  if (const StoredTable* stored = stored_behind(table.name); stored != nullptr)
    return stored_insertions(
        *stored, names_of(columns), values,
        table.only_if.empty() ? "NOTHING" : fmt::format("{} WHERE {}", stored_update(*stored), table.only_if));
  return {fmt::format("INSERT INTO {} ({}{}) VALUES ({}{}) ON CONFLICT {}", table.name, names_of(columns),
                      table.numbered ? ", number" : "", fmt::join(marks, ", "),
                      table.numbered ? ", " + next_number(table.name) : "", conflict_clause(table, columns))};
}

std::string removal_sql(const Table& table, const std::vector<Column>& keys) {
  if (const StoredTable* stored = stored_behind(table.name); stored != nullptr)
    return fmt::format(fmt::runtime(stored->removal), equal_to(keys));
  return fmt::format("DELETE FROM {} WHERE {}", table.name, equal_to(keys));
}

std::string select_sql(std::string_view table, const std::vector<Column>& columns, std::string_view rest) {
  return fmt::format("SELECT {} FROM {} {}", names_of(columns), table, rest);
}

const std::vector<RecordTable>& record_tables() {
  static const std::vector<RecordTable> tables = [] {
    std::vector<RecordTable> all;
    add_tables(all, static_cast<Records*>(nullptr));
    return all;
  }();
  return tables;
}

const std::array<std::string, ir::part_count>& part_columns() {
  static const std::array<std::string, ir::part_count> columns = [] {
    std::array<std::string, ir::part_count> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = fmt::format("{}_s", ir::name(static_cast<ir::Part>(i)));
    return all;
  }();
  return columns;
}

ProtocolWords to_words(const std::optional<ir::Protocol>& protocol) {
  if (!protocol) return {};
  return {std::string(name(protocol->cache)), std::string(name(protocol->timed_by)),
          std::string(name(protocol->launch)), protocol->stop};
}

void take_words(const ProtocolWords& words, std::optional<ir::Protocol>& protocol) {
  protocol.reset();
  if (!words.cache.empty()) take_words(words, protocol.emplace());
}

void take_words(const ProtocolWords& words, ir::Protocol& protocol) {
  protocol = {meant(ir::cache_state_named(words.cache), words.cache),
              meant(ir::timed_by_named(words.timed_by), words.timed_by),
              meant(ir::launch_mode_named(words.launch_mode), words.launch_mode), words.stop_rule};
}

}  // namespace tailor::store
