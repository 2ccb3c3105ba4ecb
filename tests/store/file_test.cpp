// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Database files as such: which may be opened, what is left untouched, what survives when the process is killed, and
// how an older version is migrated. Files that are refused are compared byte for byte afterwards. Databases of other
// programs, of newer versions and damaged ones are made here. Part of the suite `store`.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <set>
#include <stop_token>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "sample.h"
#include "store/connection.h"
#include "store/schema.h"
#include "store/store.h"

using namespace tailor;
using namespace tailor::store;

namespace {

/// The message of the Error that `work` throws, with its hint; empty when it throws none.
template <class Work>
std::string complaint(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK_FALSE(error.hint.empty());
    CHECK_FALSE(error.at.file.empty());
    return error.message + " / " + error.hint;
  }
  return "";
}

bool says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

void make_database(const std::filesystem::path& path, const std::string& sql) {
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

/// Opening for writing, for reading and merging all refuse the file, and none of them changes a byte or leaves another
/// file beside it.
void check_refused(const Folder& folder, const std::filesystem::path& path, std::string_view part) {
  const std::string before = read_file(path);
  CHECK(says(complaint([&] { Store::open(path); }), part));
  CHECK(says(complaint([&] { Store::open_read_only(path); }), part));
  Store other = Store::open(folder / "other.db");
  CHECK(says(complaint([&] { other.merge(path); }), part));
  CHECK(read_file(path) == before);
  for (const char* suffix : {"-journal", "-wal", "-shm"}) CHECK_FALSE(std::filesystem::exists(path.string() + suffix));
}

}  // namespace

TEST_CASE("a file that is not a database is refused and left as it is") {
  const Folder folder;
  write_file(folder / "a.db", "hello, this is a letter and no database");
  check_refused(folder, folder / "a.db", "not a database");
  write_file(folder / "b.db", std::string(4096, 'x'));
  check_refused(folder, folder / "b.db", "not a database");
  write_file(folder / "c.db", std::string("SQLite format 3\0", 16));
  check_refused(folder, folder / "c.db", "not a database");
}

TEST_CASE("a database of another program is refused and left as it is, byte for byte") {
  const Folder folder;
  make_database(folder / "a.db", "CREATE TABLE plans (plan_id TEXT)");
  check_refused(folder, folder / "a.db", "another program");
  make_database(folder / "b.db", "PRAGMA application_id = 42; CREATE TABLE t (x); PRAGMA user_version = 1");
  check_refused(folder, folder / "b.db", "another program");
}

TEST_CASE("a newer database is refused and left as it is, byte for byte") {
  const Folder folder;
  Store::open(folder / "a.db");
  make_database(folder / "a.db", "PRAGMA user_version = 99");
  check_refused(folder, folder / "a.db", "schema version 99");
}

TEST_CASE("a database of a version that there never was is refused by readers and writers alike, byte for byte") {
  for (const int version : {0, -3}) {
    const Folder folder;
    Store::open(folder / "a.db");
    make_database(folder / "a.db", fmt::format("PRAGMA user_version = {}", version));
    check_refused(folder, folder / "a.db", fmt::format("found schema version {}, expected 5", version));
  }
}

TEST_CASE("a database that lacks a table, a view or a column is refused, byte for byte, and what is missing is named") {
  const std::pair<const char*, const char*> all[] = {
      {"DROP TABLE predictions", "found no table 'predictions', expected it in a database of schema version 5"},
      {"DROP TABLE stored_estimates", "found no table 'stored_estimates'"},
      {"DROP VIEW estimates", "found no view 'estimates'"},
      {"DROP VIEW best_plans", "found no view 'best_plans'"},
      {"DROP VIEW strategies; CREATE VIEW strategies (model) AS SELECT name FROM graphs", "of view 'strategies'"},
      {"ALTER TABLE runs RENAME COLUMN seed TO luck", "found no column 'seed' of table 'runs'"},
  };
  for (const auto& [sql, part] : all) {
    const Folder folder;
    {
      Store store = Store::open(folder / "a.db");
      save_model(store, 3);
    }
    make_database(folder / "a.db", sql);
    INFO(sql);
    check_refused(folder, folder / "a.db", part);
  }
}

TEST_CASE("tables that others added to a database of ours do not matter") {
  const Folder folder;
  Store::open(folder / "a.db");
  make_database(folder / "a.db", "CREATE TABLE notes (text TEXT); CREATE INDEX notes_by_text ON notes (text)");
  Store::open(folder / "a.db").save(a_run());
  CHECK(Store::open_read_only(folder / "a.db").damage() == "");
}

TEST_CASE("a damaged database of ours is an error, not a crash") {
  const Folder folder;
  {
    Store store = Store::open(folder / "a.db");
    save_model(store, 3);
  }
  std::string bytes = read_file(folder / "a.db");
  for (std::size_t i = 200; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  write_file(folder / "a.db", bytes);
  CHECK(says(complaint([&] { Store::open(folder / "a.db").dump(); }), "damaged"));
}

TEST_CASE("a merge says of a damaged shard that it is the shard, and changes nothing") {
  const Folder folder;
  {
    Store store = Store::open(folder / "shard.db");
    save_model(store, 3);
    Store::open(folder / "into.db").save(a_run());
  }
  std::string bytes = read_file(folder / "shard.db");
  constexpr std::size_t page = 4096;
  for (std::size_t i = bytes.size() - 8 * page; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  write_file(folder / "shard.db", bytes);
  const std::string before = read_file(folder / "into.db");
  std::string said;
  try {
    Store::open(folder / "into.db").merge(folder / "shard.db");
  } catch (const Error& error) {
    said = error_text(error);
  }
  CAPTURE(said);
  CHECK(says(said, "shard.db: the database is damaged"));
  CHECK(read_file(folder / "into.db") == before);
}

TEST_CASE("a path that cannot hold a database is an error with a hint") {
  const Folder folder;
  CHECK(says(complaint([&] { Store::open(folder / "no/such/a.db"); }), "does not exist"));
  CHECK(says(complaint([&] { Store::open("/proc/a.db"); }), "cannot be opened"));
  std::filesystem::create_directory(folder / "folder.db");
  CHECK(says(complaint([&] { Store::open(folder / "folder.db"); }), "something else"));
  CHECK(says(complaint([&] { Store::open_read_only(folder / "a.db"); }), "no such database"));
  CHECK_FALSE(std::filesystem::exists(folder / "a.db"));
}

TEST_CASE("an empty file becomes a database, and a reader says that it is none yet") {
  const Folder folder;
  write_file(folder / "a.db", "");
  CHECK(says(complaint([&] { Store::open_read_only(folder / "a.db"); }), "empty"));
  Store::open(folder / "a.db").save(a_run());
  CHECK(Store::open_read_only(folder / "a.db").runs().size() == 1);
}

TEST_CASE("a reader cannot write") {
  const Folder folder;
  Store::open(folder / "a.db");
  Store reader = Store::open_read_only(folder / "a.db");
  CHECK(says(complaint([&] { reader.save(a_run()); }), "cannot be written"));
}

TEST_CASE("a stop gives up the statement that runs, begins no other and undoes what is open") {
  const Folder folder;
  Store::open(folder / "a.db").save(a_run());
  const std::string before = Store::open_read_only(folder / "a.db").dump();
  std::stop_source source;
  const auto is_interrupted = [](auto&& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.fault == Fault::interrupted;
    }
    return false;
  };
  {
    Connection endless(folder / "a.db", SQLite::OPEN_READWRITE, {1}, source.get_token());
    std::jthread asking([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      source.request_stop();
    });
    CHECK(is_interrupted([&] {
      endless.number("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
    }));
    CHECK(is_interrupted([&] { endless.number("SELECT 1"); }));
  }
  std::stop_source later;
  Store store = Store::open(folder / "a.db", {.stop = later.get_token()});
  CHECK(is_interrupted([&] {
    Store::Transaction transaction(store);
    RunRow other = a_run();
    other.id = id_of(std::string_view("other"));
    store.save(other);
    later.request_stop();
    transaction.commit();
  }));
  CHECK(Store::open_read_only(folder / "a.db").dump() == before);
}

TEST_CASE("a locked database is waited for, then an error names the lock") {
  const Folder folder;
  Store first = Store::open(folder / "a.db");
  Store second = Store::open(folder / "a.db", {.patience = {0.05}});
  Store::Transaction transaction(first);
  CHECK(says(complaint([&] { second.save(a_run()); }), "locked"));
  transaction.commit();
  second.save(a_run());
  CHECK(first.runs().size() == 1);
}

TEST_CASE("a transaction that is not committed leaves nothing") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  const std::string before = store.dump();
  {
    Store::Transaction transaction(store);
    store.save(a_run());
  }
  CHECK(store.dump() == before);
}

TEST_CASE("killing a writer loses at most the unit in flight") {
  const Folder folder;
  for (int round = 0; round < 3; ++round) {
    const std::filesystem::path path = folder / fmt::format("{}.db", round);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      Store store = Store::open(path);
      save_model(store, 0);
      for (int group = 1;; ++group) save_group(store, group, 50);
    }
    // Kill at some moment after work has begun; where exactly differs by round.
    for (int i = 0; i < 1000 && (!std::filesystem::exists(path) || std::filesystem::file_size(path) < 400000); ++i)
      usleep(5000);
    usleep(static_cast<useconds_t>(3777 * (round + 1)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    Store store = Store::open(path);
    CHECK(store.damage() == "");
    const std::vector<GroupRow> groups = store.groups();
    CHECK(groups.size() > 0);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const int group = static_cast<int>(i) + 1;
      CHECK(store.is_done(a_group(group).id, a_device().id, "", "scored"));
      CHECK(store.plans(a_group(group).id).size() == 50);
      CHECK(store.best_plans(a_group(group).id, a_device().id, 100).size() == 50);
    }
  }
}

TEST_CASE("an older database is migrated step by step, in one transaction") {
  const Folder folder;
  constexpr auto steps = std::to_array<Migration>({
      {0, "ALTER TABLE notes ADD COLUMN author TEXT NOT NULL DEFAULT 'unknown'"},
      {1, "CREATE INDEX notes_by_author ON notes (author)"},
  });
  const Schema newest{
      "CREATE TABLE notes (text TEXT, author TEXT NOT NULL DEFAULT 'unknown');"
      "CREATE INDEX notes_by_author ON notes (author)",
      2, steps};
  const auto connect = [&](const std::filesystem::path& path) {
    return Connection(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, {1});
  };
  const std::string ours = fmt::format("PRAGMA application_id = {};", application_id);
  make_database(folder / "old.db", ours + "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('kept')");
  CHECK(inspect(folder / "old.db", newest) == FileKind::ours);
  Connection old = connect(folder / "old.db");
  prepare(old, newest);
  Connection fresh = connect(folder / "fresh.db");
  prepare(fresh, newest);
  for (Connection* connection : {&old, &fresh}) {
    CHECK(connection->number("PRAGMA user_version") == 2);
    CHECK(connection->number("SELECT count(*) FROM pragma_table_info('notes')") == 2);
    CHECK(connection->number("SELECT count(*) FROM sqlite_master WHERE name = 'notes_by_author'") == 1);
  }
  CHECK(old.number("SELECT count(*) FROM notes WHERE text = 'kept' AND author = 'unknown'") == 1);

  // A step that fails undoes the steps before it.
  constexpr auto broken = std::to_array<Migration>({
      {0, "ALTER TABLE notes ADD COLUMN author TEXT"},
      {1, "CREATE INDEX notes_by_nobody ON nobody (author)"},
  });
  make_database(folder / "stuck.db", ours + "CREATE TABLE notes (text TEXT)");
  const std::string before = read_file(folder / "stuck.db");
  {
    Connection stuck = connect(folder / "stuck.db");
    CHECK_THROWS_AS(prepare(stuck, Schema{"", 2, broken}), Error);
  }
  CHECK(read_file(folder / "stuck.db") == before);

  // No way from here to there.
  Connection lost = connect(folder / "stuck.db");
  CHECK(says(complaint([&] { prepare(lost, Schema{"", 2, {}}); }), "no step leads"));
}
