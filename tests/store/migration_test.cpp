// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Databases of older schema versions. version_2.sql.gz is what a tailor of version 2 wrote, as SQL: sweeps of a small
// model at two points of a grid, on two devices, one with two calibrations, and the made-up campaign (campaign.h). What
// anybody could read in it is read before and after the migration and compared. Part of the suite `store`.
#include <doctest/doctest.h>

#include <sqlite3.h>

#include <map>
#include <set>
#include <stop_token>

#include "base/compressed.h"
#include "base/text.h"
#include "sample.h"
#include "store/connection.h"
#include "store/schema.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::store;

namespace {

Connection connect(const std::filesystem::path& path) {
  return Connection(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, {1});
}

void make_version_2(const std::filesystem::path& path) {
  Connection connection = connect(path);
  connection.script(read_unpacked(source_folder() + "/tests/store/version_2.sql.gz"));
}

/// SQL to make version 1 of a database of version 2.
constexpr std::string_view back_to_1 =
    "DROP VIEW point_values; DROP VIEW point_strategies; DROP TABLE short_lists; DROP TABLE points; "
    "DROP TABLE point_results; PRAGMA user_version = 1";

/// One of today's without the column and the views that version 3 did not have.
void make_version_3(const std::filesystem::path& path) {
  make_version_2(path);
  migrate(path);
  Connection connection = connect(path);
  std::string drops;
  connection.each("SELECT name FROM sqlite_master WHERE type = 'view'", [&](Columns& columns) {
    std::string name;
    columns.read(name);
    drops += fmt::format("DROP VIEW {}; ", name);
  });
  connection.script(drops + "ALTER TABLE stored_estimates DROP COLUMN code_s; PRAGMA user_version = 3");
}

using Columns_of = std::map<std::string, std::vector<std::string>>;

/// Every table and view with its columns.
Columns_of columns_in(const std::filesystem::path& path) {
  Connection connection = connect(path);
  Columns_of all;
  connection.each(
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type IN ('table', 'view')",
      [&](Columns& row) {
        std::string name, column;
        row.into(name, column);
        all[name].push_back(column);
      });
  return all;
}

/// The rows of all of them, sorted, by name; numbers as SQLite writes them, texts that are packed as they were.
std::map<std::string, std::vector<std::string>> rows_in(const std::filesystem::path& path, const Columns_of& asked) {
  Connection connection = connect(path);
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [name, columns] : asked) {
    std::string row;
    for (const std::string& column : columns) {
      const bool packed = column == "text" && (name == "graphs" || name == "groups");
      const std::string value = packed ? fmt::format("iif(typeof({0}) = 'blob', {0}, packed({0}))", column) : column;
      row += fmt::format("{}quote({})", row.empty() ? "" : " || ' ' || ", value);
    }
    connection.each(fmt::format("SELECT {} FROM {} ORDER BY 1", row, name),
                    [&, &name = name](Columns& found) { found.read(all[name].emplace_back()); });
  }
  return all;
}

std::set<std::string> words_of(const std::filesystem::path& path) {
  Connection connection = connect(path);
  std::set<std::string> all;
  connection.each("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL", [&](Columns& columns) {
    std::string sql;
    columns.read(sql);
    all.insert(sql);
  });
  return all;
}

}  // namespace

TEST_CASE("a database of version 2 says the same after its migration, in every table and view, and is one of today's") {
  const Folder folder;
  make_version_2(folder / "a.db");
  const Columns_of asked = columns_in(folder / "a.db");
  const auto before = rows_in(folder / "a.db", asked);
  CHECK(before.size() > 45);
  CHECK(before.at("plans").size() == 45);
  CHECK(before.at("level_times").size() < before.at("estimates").size());
  const auto size = std::filesystem::file_size(folder / "a.db");
  CHECK_THROWS_AS(Store::open_read_only(folder / "a.db"), Error);
  CHECK(Store::open(folder / "a.db").damage() == "");
  const auto after = rows_in(folder / "a.db", asked);
  for (const auto& [name, rows] : before) {
    INFO(name);
    CHECK(after.at(name) == rows);
  }
  CHECK(std::filesystem::file_size(folder / "a.db") < size);
  Store::open(folder / "fresh.db");
  CHECK(words_of(folder / "a.db") == words_of(folder / "fresh.db"));
}

TEST_CASE(
    "a migrated database is gone on with: what is known is known, and a merge of both ways of making it changes "
    "nothing") {
  const Folder folder;
  make_version_2(folder / "a.db");
  make_version_2(folder / "b.db");
  Store store = Store::open(folder / "a.db");
  const std::string before = store.dump();
  for (const GroupRow& group : store.groups())
    for (const PlanRow& plan : store.plans(group.id)) {
      store.save(plan);
      for (const DeviceRow& device : store.devices())
        for (const EstimateRow& estimate : store.estimates(plan.id, device.id)) store.save(estimate);
    }
  CHECK(store.dump() == before);
  Store::open(folder / "b.db");
  CHECK(store.merge(folder / "b.db") == 0);
  Store empty = Store::open(folder / "c.db");
  CHECK(empty.merge(folder / "b.db") > 0);
  CHECK(empty.dump() == before);
}

TEST_CASE("a database of version 1 gains the tables of today, keeps its rows, and is one of today's then") {
  const Folder folder;
  make_version_2(folder / "a.db");
  connect(folder / "a.db").script(std::string(back_to_1));
  const Columns_of asked = columns_in(folder / "a.db");
  const auto before = rows_in(folder / "a.db", asked);
  CHECK(Store::open(folder / "a.db").damage() == "");
  CHECK(rows_in(folder / "a.db", asked) == before);
  Store::open(folder / "fresh.db");
  CHECK(words_of(folder / "a.db") == words_of(folder / "fresh.db"));
}

TEST_CASE("a database of version 3 says what it said, in no part the time for code, and is one of today's then") {
  const Folder folder;
  make_version_2(folder / "whole.db");
  migrate(folder / "whole.db");
  make_version_3(folder / "a.db");
  Columns_of asked = columns_in(folder / "whole.db");
  CHECK(Store::open(folder / "a.db").damage() == "");
  CHECK(rows_in(folder / "a.db", asked) == rows_in(folder / "whole.db", asked));
  CHECK(connect(folder / "a.db").number("SELECT count(*) FROM estimates WHERE code_s <> 0") == 0);
  CHECK(connect(folder / "a.db").number("SELECT count(*) FROM estimates WHERE launch_s > 0") > 0);
  CHECK(words_of(folder / "a.db") == words_of(folder / "whole.db"));
}

TEST_CASE("an older database in which a row refers to nothing is refused and left as it is, byte for byte") {
  for (const char* sql :
       {"DELETE FROM plans WHERE rowid = 3", "DELETE FROM groups WHERE rowid = 2",
        "DELETE FROM fusions WHERE strategy = 'tailor'", "UPDATE plans SET plan_id = 'p' WHERE rowid = 1"}) {
    INFO(sql);
    const Folder folder;
    make_version_2(folder / "a.db");
    connect(folder / "a.db").script(sql);
    const std::string before = read_file(folder / "a.db");
    CHECK_THROWS_WITH_AS(Store::open(folder / "a.db"), doctest::Contains("a row does not fit the schema"), Error);
    CHECK(read_file(folder / "a.db") == before);
  }
}

TEST_CASE(
    "migrate says what it did: each older version once, today's not at all, and nothing is made of what is none") {
  const Folder folder;
  for (const int from : {1, 2, 3}) {
    CAPTURE(from);
    const std::filesystem::path path = folder / fmt::format("{}.db", from);
    from == 3 ? make_version_3(path) : make_version_2(path);
    if (from == 1) connect(path).script(std::string(back_to_1));
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
    const Migrated first = migrate(path);
    CHECK(first.from == from);
    CHECK(first.to == current_schema.version);
    CHECK(first.bytes_before == size);
    CHECK(first.bytes_after == static_cast<std::int64_t>(std::filesystem::file_size(path)));
    const std::string whole = read_file(path);
    const Migrated again = migrate(path);
    CHECK(again.from == again.to);
    CHECK(again.bytes_before == again.bytes_after);
    CHECK(read_file(path) == whole);
    CHECK(Store::open_read_only(path).damage() == "");
  }
  CHECK_THROWS_WITH_AS(migrate(folder / "none.db"), doctest::Contains("there is no such database"), Error);
  CHECK_FALSE(std::filesystem::exists(folder / "none.db"));
  write_file(folder / "empty.db", "");
  CHECK_THROWS_WITH_AS(migrate(folder / "empty.db"), doctest::Contains("an empty file"), Error);
  CHECK(std::filesystem::file_size(folder / "empty.db") == 0);
}

TEST_CASE("an older database that was damaged since is not migrated by half: it stays as it was, byte for byte") {
  const Folder folder;
  make_version_2(folder / "a.db");
  connect(folder / "a.db").script("DELETE FROM groups WHERE rowid = 2");
  const std::string before = read_file(folder / "a.db");
  CHECK_THROWS_AS(migrate(folder / "a.db"), Error);
  CHECK(read_file(folder / "a.db") == before);
}

TEST_CASE("a migration that is asked to stop, whenever it is, says so and leaves the file as it was, byte for byte") {
  struct Moment {
    std::stop_source stop;
    int now = 0, asked = 0;
  };
  const auto count = [](void* of) {
    auto& moment = *static_cast<Moment*>(of);
    if (++moment.now == moment.asked) moment.stop.request_stop();
    return 0;
  };
  constexpr int instructions = 50;  // of SQLite's machine between two moments
  const Folder folder;
  make_version_2(folder / "a.db");
  const std::string before = read_file(folder / "a.db");
  const auto migrate_within = [&](Moment& moment) {
    write_file(folder / "a.db", before);
    Connection connection(folder / "a.db", SQLite::OPEN_READWRITE, {1}, moment.stop.get_token());
    sqlite3_progress_handler(connection.database().getHandle(), instructions, count, &moment);
    prepare(connection, current_schema);
  };
  Moment whole;
  migrate_within(whole);
  REQUIRE(whole.now > 100);
  int stopped = 0;
  const int moments = testing::effort(6, 16, 40);
  for (int asked = 1; asked < whole.now; asked += asked < moments ? 1 : whole.now / moments) {
    CAPTURE(asked);
    Moment moment;
    moment.asked = asked;
    try {
      migrate_within(moment);
    } catch (const Error& error) {
      CHECK_MESSAGE(error.fault == Fault::interrupted, std::string(error.what()));
      CHECK(read_file(folder / "a.db") == before);
      ++stopped;
    }
  }
  CHECK(stopped > moments);
}

TEST_CASE("a database that says it is older than its tables are is refused in words, and stays as it was") {
  const Folder folder;
  make_version_2(folder / "a.db");
  migrate(folder / "a.db");
  for (const int said : {1, 2, 3}) {
    CAPTURE(said);
    connect(folder / "a.db").script(fmt::format("PRAGMA user_version = {}", said));
    const std::string before = read_file(folder / "a.db");
    CHECK_THROWS_WITH_AS(
        migrate(folder / "a.db"),
        doctest::Contains(fmt::format("it has schema version {}, and its tables are others: ", said).c_str()), Error);
    CHECK(read_file(folder / "a.db") == before);
  }
}
