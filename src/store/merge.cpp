// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Merging shards. In: a database and others of the same version. Out: the first with everything that the others hold.
// Called by `tailor db merge`.
//
// One rule for all tables makes it commutative and idempotent: of two rows with the same key the greater stays,
// compared by the table's deciding column first and then by all columns in order, with NULL below everything. So
// shards may be merged in any order, twice, or through one another, with the same result. For most tables rows of one
// key are equal and the rule decides nothing; it matters for runs and progress, which are brought up to date while a
// sweep goes on.
//
// Each table is one SQL statement, an insert that updates on conflict when the other row is greater. The tables and
// what decides are those of records.h, parents before children, so that references hold at every step; `levels` is the
// same in all databases of a version. A shard is checked before it is attached and anything is written.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/record_sql.h"
#include "store/schema.h"
#include "store/store.h"

namespace tailor::store {

namespace {

struct TableColumns {
  std::vector<std::string> keys, others;
};

TableColumns columns_in(Connection& connection, std::string_view table) {
  TableColumns result;
  connection.each(fmt::format("SELECT name, pk FROM pragma_table_info('{}') ORDER BY pk = 0, pk, cid", table),
                  [&](Columns& columns) {
                    std::string name;
                    int key = 0;
                    columns.into(name, key);
                    (key > 0 ? result.keys : result.others).push_back(std::move(name));
                  });
  return result;
}

/// "(coalesce(prefix.a, -9e999), ...)": a row value that compares without NULLs; the number is minus infinity.
std::string comparable(std::string_view prefix, const std::vector<std::string>& names) {
  std::vector<std::string> terms;
  for (const std::string& name : names) terms.push_back(fmt::format("coalesce({}.{}, -9e999)", prefix, name));
  return fmt::format("({})", fmt::join(terms, ", "));
}

std::string merge_sql(const Table& merged, const TableColumns& columns) {
  std::vector<std::string> all = columns.keys, assignments, compared;
  if (!merged.decider.empty()) compared.emplace_back(merged.decider);
  for (const std::string& name : columns.others) {
    all.push_back(name);
    assignments.push_back(fmt::format("{0} = excluded.{0}", name));
    if (name != merged.decider) compared.push_back(name);
  }
  std::string then = "NOTHING";
  if (!compared.empty())
    then = fmt::format("UPDATE SET {} WHERE {} > {}", fmt::join(assignments, ", "), comparable("excluded", compared),
                       comparable("main." + std::string(merged.name), compared));
  return fmt::format("INSERT INTO main.{0} ({1}) SELECT {1} FROM shard.{0} WHERE true ON CONFLICT ({2}) DO {3}",
                     merged.name, fmt::join(all, ", "), fmt::join(columns.keys, ", "), then);
}

void check_shard(const std::filesystem::path& from, const std::filesystem::path& into) {
  const Position place{from.string(), 0, 0};
  if (!std::filesystem::exists(from))
    throw Error(Fault::missing, place, "there is no such database", "give the path of a shard");
  if (std::filesystem::equivalent(from, into))
    throw Error(Fault::usage, place, "a database cannot be merged into itself", "name another file");
  if (inspect(from, current_schema) != FileKind::ours)
    throw Error(Fault::failed, place, "the database is empty", "give the path of a shard");
}

/// Another file beside the main one, for as long as this lives.
class Attached {
 public:
  Attached(Connection& connection, const std::filesystem::path& path) : connection_(connection) {
    connection.execute("ATTACH ? AS shard", path.string());
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { connection_.database().tryExec("DETACH shard"); }

 private:
  Connection& connection_;
};

}  // namespace

std::int64_t Store::merge(const std::filesystem::path& from) {
  return doing(fmt::format("merging '{}'", from.string()), [&] {
    check_shard(from, connection_->path());
    const Attached shard(*connection_, from);
    if (connection_->number("PRAGMA shard.user_version") != current_schema.version)
      throw Error(Fault::failed, Position{from.string(), 0, 0}, "the shard has an older schema",
                  "open it once with a command that writes: that migrates it");
    Transaction transaction(*this);
    std::int64_t changed = 0;
    for (const Table& table : record_tables())
      changed += connection_->execute(merge_sql(table, columns_in(*connection_, table.name)));
    transaction.commit();
    return changed;
  });
}

}  // namespace tailor::store
