// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Every time of a campaign becomes an observation, with the regime it was taken in and the plan it is of; what was
// refuted does not; repeats and devices stay on one side of the split. Input is the made-up campaign. Part of the
// suite `store`.
#include "store/observations.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "store/campaign.h"
#include "store/sample.h"
#include "store/store.h"

using namespace tailor;
using namespace tailor::store;

namespace {

std::vector<ObservationRow> rows_of(const std::vector<ir::Observation>& all) {
  std::vector<ObservationRow> rows;
  for (const ir::Observation& one : all) rows.push_back(observation_row(one));
  return rows;
}

/// As a person sees the Error of reading `text`: place, message, and that there is a hint.
std::string observation_complaint(const std::string& text) {
  try {
    parse_observations(text, "rows.txt");
  } catch (const Error& error) {
    CHECK_FALSE(error.hint.empty());
    return fmt::format("{}:{}: {}", error.at.file, error.at.line, error.message);
  }
  return "";
}

/// The line of a foreign observation as people write it down: without id and split.
std::string bare(const ir::Observation& one) {
  const std::string line = ir::text(one);
  return "observation " + line.substr(line.find("device="));
}

}  // namespace

TEST_CASE("every measurement of a campaign that went well becomes an observation, and nothing else does") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_campaign(store, "{}");
  const RecordedRows rows = recorded_rows(store);
  const std::vector<ir::Observation> all = make_observations(rows);
  std::map<std::string, const MeasurementRow*> timed;
  for (const MeasurementRow& row : rows.measurements)
    if (row.outcome == "ok" && row.median) timed[hex(row.id)] = &row;
  REQUIRE(timed.size() > 15);
  CHECK(all.size() == timed.size());
  CHECK(rows.measurements.size() > timed.size());
  std::set<Id> ids;
  for (const ir::Observation& one : all) {
    CAPTURE(ir::text(one));
    CHECK(ir::parse_observation(ir::text(one)) == one);
    CHECK(ids.insert(one.id).second);
    const MeasurementRow* of = timed.at(one.source.substr(std::string("measurement ").size(), 32));
    CHECK(one.time == *of->median);
    CHECK(one.low <= one.time);
    CHECK(one.time <= one.high);
    CHECK(one.regime == ir::make_regime(*of->timing));
    CHECK(one.device == "h200");
    CHECK(one.split == ir::split_of(one.subject));
  }
}

TEST_CASE("our plans, other compilers' kernels and microbenchmarks are told apart") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_campaign(store, "{}");
  std::set<ir::Split> sides;
  int own = 0, given = 0, alone = 0;
  for (const ir::Observation& one : make_observations(recorded_rows(store))) {
    if (const auto* kernel = std::get_if<ir::OwnKernel>(&one.subject)) {
      CHECK(kernel->group == a_group(1).id);
      sides.insert(one.split);
      ++own;
      continue;
    }
    const auto& kernel = std::get<ir::ForeignKernel>(one.subject);
    (kernel.shape.empty() ? given : alone) += 1;
    CHECK(kernel.threads > 0);
    if (kernel.shape.empty()) CHECK(kernel.operation == hex(a_given_kernel().group));
  }
  CHECK(own > 10);
  CHECK(given == 1);
  CHECK(alone == 1);
  CHECK(sides.size() == 1);
}

TEST_CASE("the same kernel measured again, or on another device, falls on the same side") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_campaign(store, "{}");
  save_other_device(store);
  std::map<std::string, std::set<ir::Split>> sides;
  std::map<std::string, std::set<std::string>> devices;
  for (const ir::Observation& one : make_observations(recorded_rows(store)))
    if (const auto* kernel = std::get_if<ir::ForeignKernel>(&one.subject)) {
      sides[kernel->operation].insert(one.split);
      devices[kernel->operation].insert(one.device);
    }
  for (const auto& [operation, found] : sides) CHECK(found.size() == 1);
  CHECK(devices["copy_16B"] == std::set<std::string>{"h200", "l4"});
}

TEST_CASE("a campaign's observations are stored once, come back equal, and stand in the database as columns") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_campaign(store, "{}");
  const std::vector<ir::Observation> made = make_observations(recorded_rows(store));
  CHECK(add_observations(store) == static_cast<std::int64_t>(made.size()));
  CHECK(store.observations() == rows_of(made));
  CHECK(store.observations("h200").size() == made.size());
  CHECK(store.observations("l4").empty());
  std::vector<ir::Observation> back;
  for (const ObservationRow& row : store.observations()) back.push_back(to_observation(row));
  CHECK(back == made);
  const std::string once = store.dump();
  CHECK(add_observations(store) == 0);
  CHECK(store.dump() == once);
  CHECK(store.damage() == "");
  save_other_device(store);
  CHECK(add_observations(store) == 1);
  CHECK(store.observations("l4").size() == 1);
}

TEST_CASE("the side of the split that an observation was given first stays, whatever is said later") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_campaign(store, "{}");
  // As a program with another split would have stored them.
  std::vector<ObservationRow> first = rows_of(make_observations(recorded_rows(store)));
  for (ObservationRow& row : first) row.split = row.split == "test" ? "train" : "test";
  for (const ObservationRow& row : first) store.save(row);
  CHECK(add_observations(store) == 0);
  CHECK(store.observations() == first);
  for (const ObservationRow& row : first) CHECK(name(to_observation(row).split) == row.split);
  save_recorded(store, recorded_rows(store));
  CHECK(store.observations() == first);
  SUBCASE("a database that holds another side is not merged into it") {
    {
      Store other = Store::open(folder / "b.db");
      save_campaign(other, "{}");
      add_observations(other);
    }
    const std::string before = store.dump();
    std::string message;
    try {
      store.merge(folder / "b.db");
    } catch (const Error& error) {
      message = error.message;
    }
    CHECK(message.find("on different sides of the split; nothing of it was merged") != message.npos);
    CHECK(store.dump() == before);
  }
}

TEST_CASE("databases with observations merge in either order to the same, and recorded files carry them") {
  const Folder folder;
  const auto make = [&](const char* file, std::initializer_list<const char*> shapes, bool campaign) {
    Store store = Store::open(folder / file);
    if (campaign) {
      save_campaign(store, "{}");
      add_observations(store);
    }
    for (const char* shape : shapes) store.save(an_observation(shape));
  };
  make("a.db", {"1x2", "3x4"}, true);
  make("b.db", {"3x4", "5x6"}, false);
  Store one = Store::open(folder / "one.db"), two = Store::open(folder / "two.db");
  for (const char* file : {"a.db", "b.db", "a.db"}) one.merge(folder / file);
  for (const char* file : {"b.db", "a.db"}) two.merge(folder / file);
  CHECK(one.dump() == two.dump());
  CHECK(one.observations().size() == Store::open(folder / "a.db").observations().size() + 1);
  write_recorded(folder / "all.jsonl", recorded_rows(one));
  CHECK(read_recorded(folder / "all.jsonl") == recorded_rows(one));
  Store three = Store::open(folder / "three.db");
  save_recorded(three, read_recorded(folder / "all.jsonl"));
  CHECK(three.observations() == one.observations());
  RecordedRows changed = recorded_rows(one);
  changed.observations.front().time.value *= 1.0009765625;
  const std::string before = three.dump();
  CHECK_THROWS_AS(save_recorded(three, changed), Error);
  CHECK(three.dump() == before);
}

TEST_CASE("lines of published times are read with or without id and split, among comments, packed or not") {
  const ir::Observation one = a_foreign("512x1024", "v100"), two = a_foreign("7x9", "t4");
  const std::string text = "# published times\n\n" + bare(one) + "\n  " + ir::text(two) + "  \r\n";
  CHECK(holds_observations(text));
  std::vector<ObservationRow> expected = rows_of({one, two});
  std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  CHECK(parse_observations(text, "rows.txt") == expected);
  CHECK_FALSE(holds_observations(recorded_text({})));
  CHECK_FALSE(holds_observations("# nothing\n"));
  const Folder folder;
  write_file(folder / "rows.txt", text);
  const RecordedRows rows = read_recorded_or_observations(folder / "rows.txt");
  CHECK(rows.observations == expected);
  CHECK(rows.measurements.empty());
  Store store = Store::open(folder / "a.db");
  for (int i = 0; i < 2; ++i) save_recorded(store, rows);
  CHECK(store.observations() == expected);
  CHECK(store.observations("v100") == rows_of({one}));
  write_recorded(folder / "a.jsonl.gz", recorded_rows(store));
  CHECK(read_recorded_or_observations(folder / "a.jsonl.gz").observations == expected);
}

TEST_CASE("a garbled line is refused with file, line, what was found and what was expected") {
  const std::string good = bare(a_foreign("1x1"));
  const auto with = [&](std::string_view old, std::string_view fresh) {
    std::string line = bare(a_foreign("2x2"));
    const std::size_t at = line.find(old);
    REQUIRE(at != line.npos);
    return good + "\n" + line.replace(at, old.size(), fresh) + "\n";
  };
  CHECK(observation_complaint(good + "\n") == "");
  const std::pair<std::string, std::string> rows[] = {
      {with("time=3e-05", "time=fast"), "rows.txt:2: observation: found 'fast' for time, expected a number"},
      {with("time=3e-05", "time=1"),
       "rows.txt:2: observation: found '1' for time, expected one in its interval, 2.5e-05 to 3.5e-05"},
      {with("time=", "latency="), "rows.txt:2: observation: found 'latency' for the next field, expected 'time='"},
      {with("cold, host", "cold, wall"), "rows.txt:2: regime: found timer 'wall'"},
      {with("foreign", "theirs"), "rows.txt:2: observation: found 'theirs' for the subject, expected own or foreign"},
      {with(" written=524288.5", ""), "rows.txt:2: observation: found '' for the next field, expected 'written='"},
      {with("observation ", "measured "),
       "rows.txt:2: observation: found 'measured' for the line, expected 'observation'"},
      {good + "\n# the same again\n" + good, "rows.txt:3: observation: found what line 1 says already"},
  };
  for (const auto& [text, message] : rows) CHECK(observation_complaint(text) == message);
  for (std::size_t cut = 12; cut < good.find("written=") + 8; ++cut)
    CHECK_FALSE(observation_complaint(good.substr(0, cut)).empty());
}
