// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The lists of records.h. Each says what schema.sql says, in the same order; names stand beside the members they mean;
// and a record whose fields all hold different values comes back equal from a database and from a recorded file. What
// the tests do to a field follows from the list, so a new field is tested once it is in it.
#include "store/records.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "sample.h"
#include "store/record_sql.h"
#include "store/recorded.h"
#include "store/schema.h"
#include "store/stored.h"
#include "store/view_records.h"

using namespace tailor;
using namespace tailor::store;

namespace {

/// A database without rows; what rows refer to need not be there.
struct EmptyDatabase : Connection {
  explicit EmptyDatabase(const std::filesystem::path& path)
      : Connection(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, {1}) {
    prepare(*this, current_schema);
    script("PRAGMA foreign_keys = OFF");
  }
};

struct Described {
  std::string name, type;
  bool nullable = false, key = false;
  bool operator==(const Described&) const = default;
};

std::string line_of(const Described& column) {
  if (column.type.empty()) return column.name;
  return column.name + " " + column.type + (column.nullable ? " or NULL" : "") + (column.key ? " key" : "");
}

/// The columns of a table that a list has to have: a number that stands for its rows is in none. Of a view the names.
std::vector<std::string> described(Connection& connection, const Table& table) {
  std::vector<std::string> columns;
  const bool view = stored_behind(table.name) != nullptr;
  connection.each(fmt::format("SELECT name, iif({}, '', type), \"notnull\", pk FROM pragma_table_info('{}') "
                              "WHERE NOT {} OR name <> 'number' ORDER BY cid",
                              view, table.name, table.numbered),
                  [&](Columns& row) {
                    Described column;
                    bool not_null = false;
                    int key = 0;
                    row.into(column.name, column.type, not_null, key);
                    column.nullable = !not_null;
                    column.key = key > 0;
                    columns.push_back(line_of(column));
                  });
  return columns;
}

std::vector<std::string> described(const std::vector<Column>& columns, const Table& table) {
  std::vector<std::string> lines;
  const bool view = stored_behind(table.name) != nullptr;
  for (const Column& column : columns)
    lines.push_back(
        line_of({column.name, view ? "" : std::string(column.type), column.nullable, (column.marks & mark::key) != 0}));
  return lines;
}

/// Calls `visit(row)` with an empty row of each type of a tuple.
template <class... Rows, class Visit>
void each_type(std::tuple<Rows...>*, Visit&& visit) {
  (visit(Rows{}), ...);
}
template <class Tuple, class Visit>
void each_record(Visit&& visit) {
  each_type(static_cast<Tuple*>(nullptr), visit);
}

/// Checks the tables of a record's lists.
template <class Owner>
struct ListTables {
  static constexpr bool reads = false;
  Connection& connection;
  template <class Value>
  void operator()(const char*, const Value&, unsigned = 0) {}
  template <class Row>
  void list(const std::vector<Row>&) {
    constexpr Table table = Record<Row>::table;
    CHECK(described(list_columns<Owner, Row>(), table) == described(connection, table));
  }
};

/// The places of a record's fields in memory, in the order of the list. Words that stand for a protocol have none.
struct Places {
  static constexpr bool reads = false;
  const char *from, *to;
  std::vector<std::pair<std::string, const char*>> found;
  void add(const std::string& name, const void* at) {
    const char* place = static_cast<const char*>(at);
    if (place >= from && place < to) found.emplace_back(name, place);
  }
  template <class Value>
  void operator()(const char* name, const Value& value, unsigned = 0) {
    if constexpr (is_zero_null<Value>) {
      add(name, &value.value);
    } else if constexpr (is_throttle<Value>) {
      add(name, &value.bits);
    } else {
      add(name, &value);
    }
  }
  template <class Row>
  void list(const std::vector<Row>& rows) {
    add(std::string(Record<Row>::table.name), &rows);
  }
};

template <class Row>
void check_order(const Row& row) {
  const char* from = reinterpret_cast<const char*>(&row);
  Places places{from, from + sizeof(Row), {}};
  Record<Row>::walk(places, row);
  CHECK(places.found.size() >= 2);
  for (std::size_t i = 1; i < places.found.size(); ++i) {
    INFO(std::string(Record<Row>::table.name), ": ", places.found[i - 1].first, " before ", places.found[i].first);
    CHECK(places.found[i - 1].second < places.found[i].second);
  }
}

/// Gives every field another value: the n-th is made of n. Words that the schema restricts are among those it allows.
class Filler {
 public:
  static constexpr bool reads = true;
  template <class Value>
  void operator()(const char* name, Value&& value, unsigned = 0) {
    fill(name, value);
  }
  template <class Row>
  void list(std::vector<Row>& rows) {
    for (int i = 0; i < 3; ++i) Record<Row>::walk(*this, rows.emplace_back());
  }

 private:
  static const std::string* allowed(const std::string& name) {
    static const std::map<std::string, std::string> words = {
        {"outcome", "done"},      {"state", "passed"}, {"cache", "warm"},
        {"timed_by", "events"},   {"split", "train"},  {"launch_mode", "graph"},
        {"decision", "stitched"}, {"level", "block"},  {"launch", "equal"}};
    const auto found = words.find(name);
    return found == words.end() ? nullptr : &found->second;
  }
  void fill(const std::string& name, std::string& value) {
    const std::string* word = allowed(name);
    value = word != nullptr ? *word : fmt::format("{} {:06}", name, ++next_);
  }
  void fill(const std::string&, Id& value) {
    ++next_;
    value = {next_, next_};
  }
  void fill(const std::string&, bool& value) { value = !value; }
  void fill(const std::string&, int& value) { value = static_cast<int>(++next_); }
  void fill(const std::string&, std::int64_t& value) { value = static_cast<std::int64_t>(++next_) << 33; }
  void fill(const std::string&, double& value) { value = static_cast<double>(++next_) + 0.1; }
  void fill(const std::string&, std::vector<std::byte>& value) {
    ++next_;
    value.assign(next_, static_cast<std::byte>(next_));
  }
  template <class Dimension>
  void fill(const std::string& name, Quantity<Dimension>& value) {
    fill(name, value.value);
  }
  template <class Value>
  void fill(const std::string& name, std::optional<Value>& value) {
    fill(name, value.emplace());
  }
  void fill(const std::string& name, ZeroIsNull<double> value) { fill(name, value.value); }
  void fill(const std::string&, ThrottleBits<std::uint32_t> value) { value.bits = static_cast<std::uint32_t>(++next_); }

  std::uint64_t next_ = 0;
};

template <class Row>
Row filled() {
  Row row{};
  Filler filler;
  Record<Row>::walk(filler, row);
  return row;
}

GroupRow a_group_with(Id id) {
  GroupRow group;
  group.id = id;
  return group;
}
/// What a row of a view must find in the database: it is stored with the numbers of these.
template <class Row>
void save_parents(Connection&, const Row&) {}
void save_parents(Connection& connection, const PlanRow& row) { save_record(connection, a_group_with(row.group)); }
void save_parents(Connection& connection, const RejectionRow& row) {
  save_record(connection, a_group_with(row.group));
  DeviceRow device;
  device.id = row.device;
  save_record(connection, device);
}
void save_parents(Connection& connection, const EstimateRow& row) {
  PlanRow plan;
  plan.id = row.plan;
  plan.group = named("group of a plan");
  save_record(connection, a_group_with(plan.group));
  save_record(connection, plan);
}

template <class Row>
Row filled_to_travel() {
  Row row = filled<Row>();
  ForgetLocal forget;
  Record<Row>::walk(forget, row);
  return row;
}

}  // namespace

TEST_CASE("each record's list is its table: names, types, NULL, keys and order") {
  const Folder folder;
  EmptyDatabase connection(folder / "a.db");
  each_record<Records>([&]<class Row>(const Row& row) {
    INFO(std::string(Record<Row>::table.name));
    constexpr Table table = Record<Row>::table;
    CHECK(described(columns_of<Row>(), table) == described(connection, table));
    ListTables<Row> lists{connection};
    Record<Row>::walk(lists, row);
  });
}

TEST_CASE("every table but those of words and numbers holds a record or a list of one") {
  const Folder folder;
  EmptyDatabase connection(folder / "a.db");
  std::set<std::string> stored = {"levels", "words", "estimators", "intervals"}, there;
  for (const Table& table : record_tables()) {
    const StoredTable* behind = stored_behind(table.name);
    CHECK(stored.insert(std::string(behind != nullptr ? behind->table : table.name)).second);
  }
  connection.each("SELECT name FROM sqlite_master WHERE type = 'table'", [&](Columns& row) {
    std::string name;
    row.read(name);
    there.insert(name);
  });
  CHECK(stored == there);
}

TEST_CASE("every field of a view's row is a column of the view") {
  const Folder folder;
  EmptyDatabase connection(folder / "a.db");
  each_record<ViewRows>([&]<class Row>(const Row&) {
    INFO(std::string(Record<Row>::table.name));
    CHECK(load_records<Row>(connection, "").empty());
  });
}

TEST_CASE("fields stand in the order of their struct, so no name is beside the wrong member") {
  each_record<Records>([]<class Row>(const Row& row) { check_order(row); });
  each_record<ViewRows>([]<class Row>(const Row& row) { check_order(row); });
  check_order(RunDeviceRow{});
  check_order(FusionGroupRow{});
  check_order(EdgeRow{});
  check_order(ir::CounterValue{});
  check_order(LeftOutRow{});
  check_order(ModuleSampleRow{});
  check_order(ir::Sample{});
  check_order(ir::TwinTime{});
}

TEST_CASE("a record whose fields all differ comes back equal, saved once or twice") {
  const Folder folder;
  EmptyDatabase connection(folder / "a.db");
  each_record<Records>([&]<class Row>(const Row& empty) {
    INFO(std::string(Record<Row>::table.name));
    const Row row = filled<Row>();
    CHECK_FALSE(row == empty);
    save_parents(connection, row);
    save_record(connection, row);
    save_record(connection, row);
    CHECK(load_records<Row>(connection, "") == std::vector{row});
  });
}

TEST_CASE("a record that travels comes back equal from the text of a recorded file") {
  RecordedRows rows;
  rows.devices = {filled_to_travel<DeviceRow>()};
  rows.runs = {filled_to_travel<RunRow>()};
  rows.graphs = {filled_to_travel<GraphRow>()};
  rows.groups = {filled_to_travel<GroupRow>()};
  rows.plans = {filled_to_travel<PlanRow>()};
  rows.kernels = {filled_to_travel<KernelRow>()};
  rows.lowerings = {filled_to_travel<LoweringRow>()};
  rows.given = {filled_to_travel<GivenKernelRow>()};
  rows.binaries = {filled_to_travel<BinaryRow>()};
  rows.measurements = {filled_to_travel<MeasurementRow>(), MeasurementRow{}};
  rows.module_times = {filled_to_travel<ModuleTimeRow>(), ModuleTimeRow{}};
  rows.observations = {filled_to_travel<ObservationRow>(), ObservationRow{}};
  CHECK(parse_recorded(recorded_text(rows), "x") == rows);
  CHECK(recorded_text(rows).find("\"spill_load_bytes\":") != std::string::npos);
  CHECK(recorded_text(rows).find("\"host\":") == std::string::npos);
}

TEST_CASE("the schema that a database shows has a comment on each table, view and column") {
  const Folder folder;
  EmptyDatabase connection(folder / "a.db");
  std::map<std::string, std::string> statements;
  connection.each("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')", [&](Columns& row) {
    std::string name, sql;
    row.into(name, sql);
    statements[name] = sql;
  });
  CHECK(statements.size() > 40);
  for (const auto& [name, sql] : statements) {
    INFO(sql);
    CHECK(std::regex_search(sql, std::regex("^CREATE (TABLE|VIEW) " + name + " \\(\n  -- \\S.+")));
    connection.each(fmt::format("SELECT name FROM pragma_table_xinfo('{}')", name), [&](Columns& row) {
      std::string column;
      row.read(column);
      INFO(column);
      CHECK(std::regex_search(sql, std::regex("\n  " + column + "[ ,][^\n]*-- \\S[^\n]+")));
    });
  }
}

TEST_CASE("damage that was found many times is one finding with its count, and names three rows") {
  const Folder folder;
  {
    EmptyDatabase connection(folder / "a.db");
    connection.script("BEGIN");
    for (int i = 0; i < 4000; ++i)
      connection.execute("INSERT INTO counters VALUES (?, ?, 1.0, 'B')", fmt::format("{:032x}", i),
                         std::string("reads"));
    connection.execute("INSERT INTO lowerings VALUES (?, ?, ?)", std::string(32, '1'), std::string(32, '2'),
                       std::string(32, '3'));
    connection.script("COMMIT");
  }
  const Store store = Store::open_read_only(folder / "a.db");
  const std::vector<Damage> damages = store.damages();
  REQUIRE(damages.size() == 4);
  CHECK(damages[0].what == "a row of counters refers to a row of measurements that is not there");
  CHECK(damages[0].times == 4000);
  REQUIRE(damages[0].examples.size() == 3);
  CHECK(damages[0].examples[0] == fmt::format("'{:032x}', 'reads'", 0));
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(damages[i].what.starts_with("a row of lowerings refers to a row of "));
    CHECK(damages[i].times == 1);
    CHECK(damages[i].examples.size() == 1);
  }
  const std::string words = store.damage();
  CHECK(std::count(words.begin(), words.end(), '\n') == 4);
  CHECK(store.damage().find("that is not there (4000 times), for example '") != std::string::npos);
  CHECK(Store::open(folder / "b.db").damages().empty());
}

TEST_CASE("indexes that are gone and numbers that nothing can have are damage") {
  const Folder folder;
  const auto seconds = [](double low, double time, double high) {
    return fmt::format(
        "INSERT INTO group_bounds VALUES ('g{0}{1}{2}', 'd', 'sol', {1}, 'dram', 'f');"
        "INSERT INTO predictions VALUES ('p{0}{1}{2}', 'd', 'sol', 'm', 'cold', 'events', 'stream', "
        "{1}, {0}, {2});",
        low, time, high);
  };
  const auto found = [&](const std::string& sql) {
    std::filesystem::remove(folder / "a.db");
    {
      EmptyDatabase connection(folder / "a.db");
      connection.script(sql);
    }
    std::vector<std::string> words;
    for (const Damage& one : Store::open_read_only(folder / "a.db").damages())
      if (one.what.find("refers to") == std::string::npos) words.push_back(fmt::format("{} {}", one.what, one.times));
    return words;
  };
  using Words = std::vector<std::string>;
  CHECK(found(seconds(1e-6, 2e-6, 3e-6)) == Words{});
  CHECK(found(seconds(0, 0, 0)) == Words{});
  CHECK(found("DROP INDEX plans_by_group; DROP INDEX runs_by_calibration") ==
        Words{"the index runs_by_calibration is missing: answers are right, and slow 1",
              "the index plans_by_group is missing: answers are right, and slow 1"});
  CHECK(found(seconds(-2e-6, -1e-6, 1e-6)) == Words{"a row of group_bounds has total_s below zero 1",
                                                    "a row of predictions has total_s below zero 1",
                                                    "a row of predictions has low_s below zero 1"});
  CHECK(found(seconds(1e-6, 2e-6, 3e-6) + seconds(1e-6, 4e-6, 3e-6) + seconds(3e-6, 2e-6, 4e-6)) ==
        Words{"a row of predictions has total_s outside of its interval 2"});
  CHECK(found("INSERT INTO predictions VALUES ('p', 'd', 'sol', 'm', 'cold', 'events', 'stream', 1, 1, 9e999)") ==
        Words{"a row of predictions has high_s above every number 1"});
  CHECK(found("INSERT INTO checks VALUES ('k', 'm', 'passed', 9e999, '', 0, 1.5)") ==
        Words{"a row of checks has judged above 1 1"});  // `worst` may be without end
}
