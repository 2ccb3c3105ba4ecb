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
// same in all databases of a version. Numbers that stand for things hold in one file alone: a row gets those of this
// one, from the ids and words that the shard's views show. A shard is checked before it is attached and anything is
// written.
//
// Rows that mean something only together cannot be merged by that rule: of two versions of a fusion it would make a
// third that no strategy decided. Such a pair is looked for before anything is written, and refused by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "store/record_sql.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/stored.h"

namespace tailor::store {

namespace {

/// "(coalesce(a, -9e999), ...)": a row value that compares without NULLs; the number is minus infinity. `terms` are SQL
/// in which "{0}" stands for the row.
std::string comparable(std::string_view row, const std::vector<std::string>& terms) {
  std::vector<std::string> values;
  for (const std::string& term : terms)
    values.push_back(fmt::format("coalesce({}, -9e999)", fmt::format(fmt::runtime(term), row)));
  return fmt::format("({})", fmt::join(values, ", "));
}

/// The columns that are not of the key, with the one that decides in front.
template <class Names>
std::vector<std::string> in_order_of_weight(const Names& names, std::string_view decider) {
  std::vector<std::string> all;
  for (const auto& name : names) all.emplace_back(name);
  std::stable_partition(all.begin(), all.end(), [&](const std::string& name) { return name == decider; });
  return all;
}

/// What rows that are kept short have numbers of, before any of them.
constexpr std::array copies_of_words = std::to_array<const char*>({
    "INSERT INTO main.words (word) SELECT word FROM shard.words WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO main.intervals (below, above) SELECT below, above FROM shard.intervals WHERE true "
    "ON CONFLICT DO NOTHING",
    "INSERT INTO main.estimators (device_id, level, model) SELECT device_id, level, model FROM shard.estimators "
    "WHERE true ON CONFLICT DO NOTHING",
});

std::string merge_sql(const RecordTable& merged, const StoredTable& stored) {
  std::vector<std::string> terms;
  for (const std::string& name : in_order_of_weight(stored.shows, merged.decider))
    for (std::size_t i = 0; i < stored.shows.size(); ++i)
      if (stored.shows[i] == name) terms.push_back(stored.shown[i]);
  const std::string names = names_of(merged.columns);
  // With a limit SQLite makes each row of the view once. Without, it writes the view's own words into every place where
  // a column is named, and a plan's text is put together anew in each of the dozen places where it is cut.
  return stored_insertions(stored, names, fmt::format("SELECT {} FROM shard.{} LIMIT -1", names, merged.name),
                           fmt::format("{} WHERE {} > {}", stored_update(stored), comparable("excluded", terms),
                                       comparable(stored.table, terms)))
      .back();
}

std::string merge_sql(const RecordTable& merged) {
  if (const StoredTable* stored = stored_behind(merged.name); stored != nullptr) return merge_sql(merged, *stored);
  std::vector<std::string> keys, others, assignments, compared;
  for (const Column& column : merged.columns) ((column.marks & mark::key) != 0 ? keys : others).push_back(column.name);
  for (const std::string& name : others) assignments.push_back(fmt::format("{0} = excluded.{0}", name));
  for (const std::string& name : in_order_of_weight(others, merged.decider)) compared.push_back("{0}." + name);
  const std::string then = compared.empty() ? "NOTHING"
                                            : fmt::format("UPDATE SET {} WHERE {} > {}", fmt::join(assignments, ", "),
                                                          comparable("excluded", compared),
                                                          comparable("main." + std::string(merged.name), compared));
  const std::string number =
      merged.numbered ? ", " + next_number("main." + std::string(merged.name)) + " + row_number() OVER () - 1"
                      : std::string();
  const std::string names = names_of(merged.columns);
  return fmt::format("INSERT INTO main.{0} ({1}{2}) SELECT {1}{3} FROM shard.{0} WHERE true ON CONFLICT ({4}) DO {5}",
                     merged.name, names, merged.numbered ? ", number" : "", number, fmt::join(keys, ", "), then);
}

void check_shard(const std::filesystem::path& from, const std::filesystem::path& into) {
  const Position place{from.string(), 0, 0};
  if (!std::filesystem::exists(from))
    throw Error(Fault::missing, place, "there is no such database", "give the path of a shard");
  if (std::filesystem::equivalent(from, into))
    throw Error(Fault::usage, place, "a database cannot be merged into itself", "name another file");
  if (inspect(from, current_schema) != FileKind::ours)
    throw Error(Fault::failed, place, "the database is empty", "give the path of a shard");
  Connection shard(from, SQLite::OPEN_READONLY, {10});
  if (shard.number("PRAGMA user_version") == current_schema.version) check_structure(shard, current_schema);
  // All of it is read anyway; what is damaged would otherwise be found halfway, in the name of the other database.
  std::string found;
  shard.each("PRAGMA quick_check(1)", [&](Columns& columns) { columns.read(found); });
  if (found != "ok")
    throw Error(Fault::failed, place, fmt::format("the database is damaged: {}", found.substr(found.rfind('\n') + 1)),
                "try 'sqlite3 FILE .recover', or make the shard anew; nothing of it was merged");
}

/// What two databases must not both have: `sql` finds such pairs, each with words for what it is.
struct Conflict {
  std::string_view what, hint, sql;
};

// Examples and reasons are words, and gains are what a version of a model says: they may differ.
constexpr std::array conflicts = std::to_array<Conflict>({
    {"both have this fusion, but not with the same groups and decisions",
     "two versions of a strategy made them: run the sweep again into one of them, or keep the databases apart",
     "WITH both AS (SELECT f.graph_id, f.strategy, f.device, f.price FROM main.fusions f "
     "  JOIN shard.fusions USING (graph_id, strategy, device, price)), "
     "a AS (SELECT g.graph_id, g.strategy, g.device, g.price, g.group_id AS one, g.occurrences AS two, g.times AS "
     "three, "
     "    '' AS four, '' AS five, '' AS six FROM main.fusion_groups g JOIN both USING (graph_id, strategy, device, "
     "price) "
     "  UNION ALL SELECT e.graph_id, e.strategy, e.device, e.price, e.body, e.producer, e.consumer, e.part, "
     "e.decision, "
     "    e.level FROM main.fusion_edges e JOIN both USING (graph_id, strategy, device, price)), "
     "b AS (SELECT g.graph_id, g.strategy, g.device, g.price, g.group_id, g.occurrences, g.times, '', '', '' "
     "    FROM shard.fusion_groups g JOIN both USING (graph_id, strategy, device, price) "
     "  UNION ALL SELECT e.graph_id, e.strategy, e.device, e.price, e.body, e.producer, e.consumer, e.part, "
     "e.decision, "
     "    e.level FROM shard.fusion_edges e JOIN both USING (graph_id, strategy, device, price)) "
     "SELECT DISTINCT 'strategy ' || d.strategy || ' on model ' || g.name || iif(d.device = '', '', ', for ' || "
     "d.device) "
     "  || iif(d.price = '', '', ', by price ' || d.price) "
     "FROM (SELECT * FROM (SELECT * FROM a EXCEPT SELECT * FROM b) "
     "  UNION ALL SELECT * FROM (SELECT * FROM b EXCEPT SELECT * FROM a)) d "
     "JOIN main.graphs g USING (graph_id) ORDER BY 1"},
    {"both have estimates of this group, but the calibration or the device file said other numbers to each",
     "run the sweep with today's files again into both of them, or keep the databases apart",
     "SELECT b.model || ' on ' || d.name || ', group ' || g.title FROM main.group_bounds b "
     "JOIN shard.group_bounds o USING (group_id, device_id, model) JOIN main.devices d USING (device_id) "
     "JOIN main.groups g USING (group_id) WHERE b.figures <> o.figures ORDER BY 1"},
    {"both have a time of this library call, but the calibration or the device file said other numbers to each",
     "run the sweep with today's files again into both of them, or keep the databases apart",
     "SELECT t.model || ' on ' || d.name || ', call ' || t.node FROM main.library_times t "
     "JOIN shard.library_times o USING (graph_id, node, device_id, model) JOIN main.devices d USING (device_id) "
     "WHERE t.figures <> o.figures ORDER BY 1"},
    {"both have this observation, but on different sides of the split",
     "the side is given once and never changes: keep the databases apart",
     "SELECT 'observation ' || a.observation_id || ', ' || a.split || ' and ' || b.split FROM main.observations a "
     "JOIN shard.observations b USING (observation_id) WHERE a.split <> b.split ORDER BY 1"},
});

void refuse_conflicts(Connection& connection, const std::filesystem::path& from) {
  for (const Conflict& conflict : conflicts) {
    std::vector<std::string> found;
    connection.each(std::string(conflict.sql), [&](Columns& columns) { columns.read(found.emplace_back()); });
    if (found.empty()) continue;
    const std::string more = found.size() > 1 ? fmt::format(" ({} more like it)", found.size() - 1) : "";
    throw Error(Fault::failed, Position{from.string(), 0, 0},
                fmt::format("{}{}: {}; nothing of it was merged", found.front(), more, conflict.what),
                std::string(conflict.hint));
  }
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
                  fmt::format("'tailor db migrate {}' brings it to today's", from.string()));
    Transaction transaction(*this);
    refuse_conflicts(*connection_, from);
    std::int64_t changed = 0;
    bool has_words = false;
    for (const RecordTable& table : record_tables()) {
      if (!has_words && stored_behind(table.name) != nullptr) {
        for (const char* copy : copies_of_words) connection_->execute(copy);
        has_words = true;
      }
      changed += connection_->execute(merge_sql(table));
    }
    transaction.commit();
    return changed;
  });
}

}  // namespace tailor::store
