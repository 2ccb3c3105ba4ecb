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

#include "store/campaign.h"
#include "store/sample.h"
#include "store/store.h"

using namespace tailor;
using namespace tailor::store;

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
