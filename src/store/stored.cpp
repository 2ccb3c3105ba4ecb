// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How the rows that are kept short get into their tables. In: the name of a view and where its rows come from. Out:
// SQL. One text serves a single row and a whole database, so that merging cannot store a row in another way than saving
// does. Called by record_sql.h and merge.cpp.
//
// Nothing is lost on the way. A plan's text is cut at two places and put together again; wherever it is cut, the parts
// give the text. The interval of an estimate becomes two factors of its time only where multiplying gives back the very
// numbers, as it does for models that claim one interval for all plans; measured intervals stand as they are.
#include "store/stored.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tailor::store {

namespace {

std::string number_of_word(std::string_view word) {
  return fmt::format("(SELECT number FROM words WHERE word = {})", word);
}

/// SQL for the text that a number stands for; "{0}" as in StoredTable.
std::string word_of(std::string_view column) {
  return fmt::format("(SELECT word FROM words WHERE number = {{0}}.{})", column);
}

std::string number_of(std::string_view table, std::string_view key) {
  return fmt::format("(SELECT number FROM {0} WHERE {1} = n.{1})", table, key);
}

/// The three parts of a plan's text. Where a mark is not in it, what follows is empty.
struct Parts {
  std::string head, middle, tail;
};
Parts parts_of(std::string_view text) {
  const auto before = [](std::string_view whole, std::string_view mark) {
    return fmt::format("substr({0}, 1, instr({0} || '{1}', '{1}') - 1)", whole, mark);
  };
  const auto from = [](std::string_view whole, std::string_view mark) {
    return fmt::format("substr({0}, instr({0} || '{1}', '{1}'))", whole, mark);
  };
  constexpr std::string_view first = " threads=", second = " vector=";
  const std::string rest = from(text, first);
  return {before(text, first), before(rest, second), from(rest, second)};
}
std::string text_of_parts() { return word_of("head") + " || " + word_of("middle") + " || " + word_of("tail"); }

std::string insert_words(const std::vector<std::string>& words) {
  std::vector<std::string> each;
  for (const std::string& word : words) each.push_back(fmt::format("SELECT {} FROM new n", word));
  return fmt::format("INSERT INTO words (word) {} WHERE true ON CONFLICT DO NOTHING", fmt::join(each, " UNION ALL "));
}

/// "{0}.a" for each of the names.
std::vector<std::string> as_they_are(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back("{0}." + name);
  return shown;
}

StoredTable plans() {
  const Parts parts = parts_of("n.text");
  return {.view = "plans",
          .table = "stored_plans",
          .first = {insert_words({parts.head, parts.middle, parts.tail, "n.skeleton"})},
          .columns = "hash, in_group, head, middle, tail, skeleton, from_usual",
          .values = fmt::format("id_bytes(n.plan_id), {}, {}, {}, {}, {}, n.from_usual",
                                number_of("groups", "group_id"), number_of_word(parts.head),
                                number_of_word(parts.middle), number_of_word(parts.tail), number_of_word("n.skeleton")),
          .key = "plan_id",
          .others = {"in_group", "head", "middle", "tail", "skeleton", "from_usual"},
          .shows = {"group_id", "text", "skeleton", "from_usual"},
          .shown = {"(SELECT group_id FROM groups WHERE number = {0}.in_group)", text_of_parts(), word_of("skeleton"),
                    "{0}.from_usual"}};
}

StoredTable estimates() {
  const std::vector<std::string> parts = {"launch_s", "code_s",    "dram_s", "l2_s",      "shared_s",  "issue_s",
                                          "fma_s",    "alu_s",     "xu_s",   "latency_s", "barrier_s", "atomic_s",
                                          "spill_s",  "occupancy", "waves",  "registers"};
  StoredTable stored{
      .view = "estimates",
      .table = "stored_estimates",
      .first =
          {insert_words({"n.bottleneck"}),
           "INSERT INTO estimators (device_id, level, model) SELECT DISTINCT device_id, level, model FROM new "
           "WHERE true ON CONFLICT DO NOTHING",
           "INSERT INTO intervals (below, above) SELECT DISTINCT below, above FROM (SELECT total_s, low_s, high_s, "
           "round(1 - low_s / total_s, 12) AS below, round(high_s / total_s - 1, 12) AS above FROM new "
           "WHERE total_s > 0) WHERE total_s * (1 - below) = low_s AND total_s * (1 + above) = high_s "
           "ON CONFLICT DO NOTHING"},
      .columns = "number, total_s, interval, low_s, high_s, bottleneck",
      // A row without a plan must not take the next free number: a word is none.
      .values = fmt::format("coalesce({} << 16 | (SELECT number FROM estimators e WHERE e.device_id = n.device_id AND "
                            "e.level = n.level AND e.model = n.model), 'no such plan'), n.total_s, n.interval, "
                            "iif(n.interval IS NULL, n.low_s, NULL), iif(n.interval IS NULL, n.high_s, NULL), {}",
                            number_of("stored_plans", "plan_id"), number_of_word("n.bottleneck")),
      .key = "number",
      .others = {"total_s", "interval", "low_s", "high_s", "bottleneck"},
      .shows = {"total_s",   "low_s",    "high_s",  "bottleneck", "launch_s", "code_s",   "dram_s",
                "l2_s",      "shared_s", "issue_s", "fma_s",      "alu_s",    "xu_s",     "latency_s",
                "barrier_s", "atomic_s", "spill_s", "occupancy",  "waves",    "registers"},
      .shown = {"{0}.total_s",
                "iif({0}.interval IS NULL, {0}.low_s, {0}.total_s * (1 - (SELECT below FROM intervals "
                "WHERE number = {0}.interval)))",
                "iif({0}.interval IS NULL, {0}.high_s, {0}.total_s * (1 + (SELECT above FROM intervals "
                "WHERE number = {0}.interval)))",
                word_of("bottleneck")}};
  for (const std::string& part : parts) {
    stored.columns += ", " + part;
    stored.values += ", n." + part;
  }
  stored.others.insert(stored.others.end(), parts.begin(), parts.end());
  for (const std::string& part : as_they_are(parts)) stored.shown.push_back(part);
  return stored;
}

StoredTable rejections() {
  const Parts parts = parts_of("n.example");
  return {.view = "rejections",
          .table = "stored_rejections",
          .first = {insert_words({parts.head, parts.middle, parts.tail, "n.space", "n.rule", "n.reason"})},
          .columns = "in_group, device, space, rule, sound, plans, head, middle, tail, reason",
          .values = fmt::format("{}, {}, {}, {}, n.sound, n.plans, {}, {}, {}, {}", number_of("groups", "group_id"),
                                number_of("devices", "device_id"), number_of_word("n.space"), number_of_word("n.rule"),
                                number_of_word(parts.head), number_of_word(parts.middle), number_of_word(parts.tail),
                                number_of_word("n.reason")),
          .key = "in_group, device, space, rule",
          .others = {"sound", "plans", "head", "middle", "tail", "reason"},
          .shows = {"sound", "plans", "example", "reason"},
          .shown = {"{0}.sound", "{0}.plans", text_of_parts(), word_of("reason")}};
}

StoredTable edges() {
  return {.view = "fusion_edges",
          .table = "stored_edges",
          .first = {insert_words({"n.body", "n.producer", "n.consumer", "n.reason"})},
          .columns = "fusion, body, producer, consumer, part, decision, level, gain_s, reason",
          .values = fmt::format(
              "(SELECT number FROM fusions f WHERE f.graph_id = n.graph_id AND f.strategy = n.strategy AND "
              "f.device = n.device AND f.price = n.price), {}, {}, {}, n.part, "
              "CASE n.decision WHEN 'stitched' THEN 0 WHEN 'recomputed' THEN 1 WHEN 'cut' THEN 2 END, "
              "CASE n.level WHEN 'register' THEN 0 WHEN 'warp' THEN 1 WHEN 'block' THEN 2 WHEN 'cluster' THEN 3 "
              "WHEN 'grid' THEN 4 END, n.gain_s, {}",
              number_of_word("n.body"), number_of_word("n.producer"), number_of_word("n.consumer"),
              number_of_word("n.reason")),
          .key = "fusion, body, producer, consumer, part",
          .others = {"decision", "level", "gain_s", "reason"},
          .shows = {"decision", "level", "gain_s", "reason"},
          .shown = {"{0}.decision", "{0}.level", "{0}.gain_s", word_of("reason")},
          .removal = "DELETE FROM stored_edges WHERE fusion = (SELECT number FROM fusions WHERE {})"};
}

}  // namespace

const StoredTable* stored_behind(std::string_view view) {
  static const std::vector<StoredTable> all = {plans(), estimates(), rejections(), edges()};
  const auto found = std::find_if(all.begin(), all.end(), [&](const StoredTable& one) { return one.view == view; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> stored_insertions(const StoredTable& stored, std::string_view names, std::string_view source,
                                           std::string_view then) {
  const std::string rows = fmt::format("WITH new ({}) AS ({}) ", names, source);
  std::vector<std::string> statements;
  for (const std::string& statement : stored.first) statements.push_back(rows + statement);
  // Where the interval is two factors, their row has to be there: a word in its place is refused. The limits keep
  // SQLite from working the factors out in each place where the interval is named.
  const bool with_interval = stored.table == "stored_estimates";
  const std::string_view from =
      with_interval
          ? "(SELECT *, iif(total_s * (1 - below) = low_s AND total_s * (1 + above) = high_s, coalesce((SELECT "
            "i.number FROM intervals i WHERE i.below = f.below AND i.above = f.above), "
            "'no such interval'), NULL) AS interval "
            "FROM (SELECT *, round(1 - low_s / total_s, 12) AS below, round(high_s / total_s - 1, 12) AS above "
            "FROM new LIMIT -1) f LIMIT -1)"
          : "new";
  statements.push_back(fmt::format("{}INSERT INTO {} ({}) SELECT {} FROM {} n WHERE true ON CONFLICT ({}) DO {}", rows,
                                   stored.table, stored.columns, stored.values, from, stored.key, then));
  return statements;
}

std::string stored_update(const StoredTable& stored) {
  std::vector<std::string> assignments;
  for (const std::string& column : stored.others) assignments.push_back(fmt::format("{0} = excluded.{0}", column));
  return fmt::format("UPDATE SET {}", fmt::join(assignments, ", "));
}

}  // namespace tailor::store
