// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// docs/database.md is true: every query that it shows runs and finds rows, and it names every table of the schema. The
// queries are taken from the page's SQL blocks and asked of a small database made by sample.h. Part of the suite
// `store`.
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include "base/text.h"
#include "sample.h"
#include "store/store.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::store;

TEST_CASE("every query of the documentation runs and finds something") {
  const Folder folder;
  const std::filesystem::path path = folder / "a.db";
  {
    Store store = Store::open(path);
    save_model(store, 3);
    save_group(store, 1, 4);
    save_group(store, 2, 2);
    save_group(store, 3, 0);
    save_wrong_plan(store, 2);
    save_timings(store, 1);
    RunRow run = a_run();
    run.devices = {{a_device().id, named("file")}};
    store.save(run);
    store.save(a_prediction(a_plan(1, 0), "cold", "activity", 9e-6));
    store.save(an_observation("512x1024"));
    store.save(a_point());
    store.save(a_point_result("unfused", 2e-5));
    store.save(a_point_result("stitch-v1", 1e-5));
    const Id best = store.best_plans(a_group(1).id, a_device().id, 1).at(0).estimate.plan;
    store.save(XlaPlanRow{a_group(1).id, a_device().id, "row", "512x1x1", 256, best, "equal", ""});
  }
  const SQLite::Database database(path.string(), SQLite::OPEN_READONLY);
  const std::string page = read_file(std::filesystem::path(source_folder()) / "docs" / "database.md");
  int queries = 0;
  for (std::size_t at = 0; (at = page.find("```sql\n", at)) != page.npos;) {
    const std::size_t start = at + 7;
    at = page.find("```", start);
    REQUIRE(at != page.npos);
    for (const std::string_view query : split(std::string_view(page).substr(start, at - start), ';')) {
      if (trim(query).empty()) continue;
      INFO(std::string(query));
      SQLite::Statement statement(database, std::string(query));
      CHECK(statement.executeStep());
      ++queries;
    }
    at += 3;
  }
  CHECK(queries >= 10);
}

TEST_CASE("the documentation names every table") {
  const Folder folder;
  const std::string page = read_file(std::filesystem::path(source_folder()) / "docs" / "database.md");
  for (const TableSize& size : Store::open(folder / "a.db").sizes()) {
    INFO(size.table);
    CHECK(page.find("`" + size.table + "`") != page.npos);
  }
}
