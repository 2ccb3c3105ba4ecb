// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that are kept short come back as they were: texts of plans wherever they are cut, times and their intervals to
// the last bit. What refers to nothing is refused, and a plan with an estimate stays as small as is promised. Part of
// the suite `store`.
#include "store/stored.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "sample.h"
#include "store/connection.h"

using namespace tailor;
using namespace tailor::store;

namespace {

/// A store with a device and the first group.
Store store_with_group(const std::filesystem::path& path) {
  Store store = Store::open(path);
  store.save(a_device());
  store.save(a_group(1));
  return store;
}

std::int64_t rows_of(const std::filesystem::path& path, const std::string& table) {
  return Connection(path, SQLite::OPEN_READONLY, {1}).number("SELECT count(*) FROM " + table);
}

}  // namespace

TEST_CASE("a plan's text comes back wherever its marks stand, and the example of a rejection too") {
  const Folder folder;
  Store store = store_with_group(folder / "a.db");
  const std::vector<std::string> texts = {
      "",
      "row",
      "row dominant=%1 threads=32 threads_per_row=8 vector=4 grid=tile",
      "row threads=32",
      "row vector=4 threads=32 grid=tile",
      " threads= vector=",
      "threads=1 vector=2",
      "row threads=1 threads=2 vector=3 vector=4",
      "row vector=1",
      "row threads",
      "row thread threads=1 vecto vector",
      "  row  threads=1  vector=2  ",
  };
  for (const std::string& text : texts) {
    const PlanRow plan{named("plan " + text), a_group(1).id, text, text.substr(0, text.find(' ')), 3};
    store.save(plan);
    CHECK(store.plan(plan.id) == plan);
    RejectionRow rejection{a_group(1).id, a_device().id, "", "rule of " + text, true, 2, text, "because"};
    store.save(rejection);
  }
  CHECK(store.plans(a_group(1).id).size() == texts.size());
  std::set<std::string> examples;
  for (const RejectionRow& row : store.rejections(a_group(1).id, a_device().id)) {
    CHECK(row.rule == "rule of " + row.example);
    examples.insert(row.example);
  }
  CHECK(examples == std::set<std::string>(texts.begin(), texts.end()));
  CHECK(store.damage() == "");
}

TEST_CASE("times and intervals of estimates come back to the last bit, and one interval of a model is stored once") {
  const Folder folder;
  Store store = store_with_group(folder / "a.db");
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-8, -2), share(0, 1);
  std::vector<EstimateRow> saved;
  const auto save = [&](double total, double low, double high, const std::string& level) {
    const PlanRow plan = a_plan(1, static_cast<int>(saved.size()));
    store.save(plan);
    EstimateRow row = an_estimate(plan, level, total);
    row.low = {low};
    row.high = {high};
    store.save(row);
    saved.push_back(row);
  };
  for (int i = 0; i < 60; ++i) {
    const double total = std::pow(10, exponent(random));
    const double below = i % 2 == 0 ? 0.3 : 0.1234, above = i % 2 == 0 ? 0.5 : 0.0721;
    save(total, total * (1 - below), total * (1 + above), "projected");
  }
  CHECK(rows_of(folder / "a.db", "intervals") == 2);
  CHECK(rows_of(folder / "a.db", "stored_estimates WHERE interval IS NULL") == 0);
  for (int i = 0; i < 30; ++i) {
    const double total = std::pow(10, exponent(random));
    save(total, total * share(random), total * (1 + share(random)), "profiled");
  }
  CHECK(rows_of(folder / "a.db", "intervals") == 2);
  save(0, 0, 0, "projected");
  save(0, 0, 1e-6, "projected");
  save(2e-6, 2e-6, 2e-6, "profiled");
  save(std::nextafter(1e-6, 1), 1e-6, std::numeric_limits<double>::max(), "profiled");
  for (const EstimateRow& row : saved) CHECK(store.estimates(row.plan, row.device) == std::vector{row});
}

TEST_CASE("of an estimate that is known the first stays, and of a measured time the last") {
  const Folder folder;
  Store store = store_with_group(folder / "a.db");
  const PlanRow plan = a_plan(1, 0);
  store.save(plan);
  for (const double total : {2e-6, 1e-6}) {
    store.save(an_estimate(plan, "projected", total));
    store.save(an_estimate(plan, "profiled", total));
  }
  const std::vector<EstimateRow> found = store.estimates(plan.id, a_device().id);
  REQUIRE(found.size() == 2);
  CHECK(found[0] == an_estimate(plan, "projected", 2e-6));
  CHECK(found[1] == an_estimate(plan, "profiled", 1e-6));
}

TEST_CASE("rows that refer to nothing are refused, and nothing of them is stored") {
  const Folder folder;
  Store store = store_with_group(folder / "a.db");
  const PlanRow known = a_plan(1, 0), unknown = a_plan(1, 1);
  store.save(known);
  store.save(an_estimate(known, "projected", 1e-6));
  const std::string before = store.dump();
  const auto refused = [&](const auto& row) {
    CHECK_THROWS_WITH_AS(store.save(row), doctest::Contains("a row does not fit the schema"), Error);
  };
  refused(an_estimate(unknown, "projected", 1e-6));
  EstimateRow elsewhere = an_estimate(known, "projected", 1e-6);
  elsewhere.device = named("no device");
  refused(elsewhere);
  refused(an_estimate(known, "guessed", 1e-6));
  refused(a_plan(2, 0));
  refused(RejectionRow{a_group(2).id, a_device().id, "", "rule", true, 1, "", ""});
  refused(RejectionRow{a_group(1).id, named("no device"), "", "rule", true, 1, "", ""});
  CHECK(store.dump() == before);
}

TEST_CASE("a plan with its estimate takes a quarter of what its words and ids would") {
  const Folder folder;
  Store store = store_with_group(folder / "a.db");
  const auto size_with = [&](int from, int to) {
    Store::Transaction transaction(store);
    for (int i = from; i < to; ++i) {
      PlanRow plan = a_plan(1, i % 20);
      plan.id = named(fmt::format("plan {}", i));
      store.save(plan);
      store.save(an_estimate(plan, "projected", 1e-6 * (i + 0.1)));
    }
    transaction.commit();
    return static_cast<double>(std::filesystem::file_size(folder / "a.db"));
  };
  const double some = size_with(0, 500), more = size_with(500, 1500);
  CHECK((more - some) / 1000 < 260);
}
