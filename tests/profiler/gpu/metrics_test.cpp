// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of counters, and what CUPTI's own host library says of it on every chip it knows: no GPU is needed. The
// golden table holds for one release of the library; with another the counters must still be found. Part of the suite
// `gpu`; cases that ask CUPTI are skipped without it.
#include "profiler/gpu/cupti/metrics.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "profiler/gpu/request/library_paths.h"
#include "support/golden.h"
#include "support/paths.h"
#include "support/skip.h"
#include "support/thorough.h"

namespace {

using namespace tailor;
using gpu::CountPlan;
using gpu::MetricHost;

constexpr int last_tier = 3;
constexpr int recorded_version = 130001;  ///< of the golden table

/// CUPTI as this machine has it; skips the case when there is none.
std::optional<MetricHost> host_or_skip() {
  auto found = MetricHost::open(gpu::default_library_paths({source_folder() + "/.venv"}));
  if (MetricHost* host = std::get_if<MetricHost>(&found)) return std::move(*host);
  skip(std::get<gpu::Capability>(found).detail);
  return std::nullopt;
}

/// Plans of every chip and tier, made once: the library takes some 20 ms for each. A quick run takes every third chip.
const std::vector<std::vector<CountPlan>>& all_plans(const MetricHost& host) {
  static const std::vector<std::vector<CountPlan>> plans = [&] {
    std::vector<std::vector<CountPlan>> made;
    const std::vector<std::string> chips = host.chips();
    for (std::size_t i = 0; i < chips.size(); i += testing::effort<std::size_t>(3, 1)) {
      const std::string& chip = chips[i];
      made.emplace_back();
      for (int tier = 0; tier <= last_tier; ++tier) made.back().push_back(host.plan(chip, tier));
    }
    return made;
  }();
  return plans;
}

std::string fault_of(const MetricHost& host, const std::string& chip, const std::vector<std::string>& names) {
  try {
    static_cast<void>(host.plan(chip, names));
  } catch (const Error& error) {
    CHECK(error.fault == Fault::usage);
    return error.message + "; " + error.hint;
  }
  return "";
}

std::string line_of(const CountPlan& plan, int tier) {
  return fmt::format("{} tier {}: {} counters in {} passes, left out: {}\n", plan.chip, tier, plan.counters.size(),
                     plan.passes, plan.left_out.empty() ? "none" : fmt::format("{}", fmt::join(plan.left_out, " ")));
}

}  // namespace

TEST_CASE("every counter of the table has a name of its own, a tier, a unit, a metric with its roll-up and a scale") {
  std::set<std::string_view> names;
  for (const gpu::CounterRow& row : gpu::counter_table()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.tier >= 0);
    CHECK(row.tier <= last_tier);
    CHECK_FALSE(row.unit.empty());
    CHECK(row.metric.find('.') != row.metric.npos);
    CHECK(row.scale > 0);
  }
}

TEST_CASE("counters stand in the order of their tiers") {
  const auto by_tier = [](const gpu::CounterRow& a, const gpu::CounterRow& b) { return a.tier < b.tier; };
  CHECK(std::is_sorted(gpu::counter_table().begin(), gpu::counter_table().end(), by_tier));
}

TEST_CASE("no metric is counted under two names") {
  std::set<std::string_view> metrics;
  for (const gpu::CounterRow& row : gpu::counter_table()) {
    CAPTURE(row.name);
    CHECK(metrics.insert(row.metric).second);
  }
}

TEST_CASE("every row of a chip names a counter and another metric than the table's, once") {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const gpu::ChipRow& row : gpu::chip_table()) {
    CAPTURE(row.counter);
    CAPTURE(row.chip);
    const auto named = [&](const gpu::CounterRow& counter) { return counter.name == row.counter; };
    const auto counter = std::find_if(gpu::counter_table().begin(), gpu::counter_table().end(), named);
    REQUIRE(counter != gpu::counter_table().end());
    CHECK(counter->metric != row.metric);
    CHECK(gpu::metric_on(*counter, row.chip) == row.metric);
    CHECK(gpu::metric_on(*counter, "GH100") == counter->metric);
    CHECK(seen.insert({row.counter, row.chip}).second);
  }
}

TEST_CASE("a CUPTI file that is not there is a layer that is missing, with the reason and what to do") {
  gpu::LibraryPaths paths;
  paths.cupti = "/nonexistent/libcupti.so";
  const auto found = MetricHost::open(paths);
  REQUIRE(std::holds_alternative<gpu::Capability>(found));
  const gpu::Capability& capability = std::get<gpu::Capability>(found);
  CHECK(capability.state == "missing");
  CHECK_FALSE(capability.detail.empty());
  CHECK_FALSE(capability.remedy.empty());
}

TEST_CASE("a CUPTI that crashes without a driver is not asked where there is none") {
  gpu::LibraryPaths paths;
  paths.cupti = built("tests/profiler/gpu/libdriver_bound_cupti.so");
  paths.driver = "/nonexistent/libcuda.so.1";
  const auto found = MetricHost::open(paths);
  REQUIRE(std::holds_alternative<gpu::Capability>(found));
  if (std::get<gpu::Capability>(found).detail.find("built without") != std::string::npos)
    return skip("built without CUDA's headers");
  CHECK(std::get<gpu::Capability>(found).detail.find("answers only beside a driver") != std::string::npos);
}

TEST_CASE("every counter is found on GH100, and on GA100 all but what came with Hopper") {
  const auto host = host_or_skip();
  if (!host) return;
  CHECK(host->plan("GH100", last_tier).left_out.empty());
  const std::vector<std::string> of_hopper = {"remote_shared_requests", "bulk_copies", "stall_matrix"};
  CHECK(host->plan("GA100", last_tier).left_out == of_hopper);
}

TEST_CASE("tier 0 needs one pass on every chip from GA100 on" * doctest::test_suite(tailor::testing::in_broad_runs)) {
  const auto host = host_or_skip();
  if (!host) return;
  for (const std::vector<CountPlan>& of_chip : all_plans(*host)) {
    const CountPlan& plan = of_chip.front();
    if (plan.chip.starts_with("GV") || plan.chip.starts_with("TU")) continue;
    CAPTURE(plan.chip);
    CHECK(plan.passes == 1);
  }
}

TEST_CASE("a higher tier holds all of the lower and needs no fewer passes, on every chip" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const auto host = host_or_skip();
  if (!host) return;
  for (const std::vector<CountPlan>& of_chip : all_plans(*host)) {
    CAPTURE(of_chip.front().chip);
    CHECK(of_chip.front().passes >= 1);
    for (std::size_t tier = 1; tier < of_chip.size(); ++tier) {
      const CountPlan &lower = of_chip[tier - 1], &higher = of_chip[tier];
      CHECK(higher.passes >= lower.passes);
      REQUIRE(higher.counters.size() > lower.counters.size());
      for (std::size_t i = 0; i < lower.counters.size(); ++i) CHECK(higher.counters[i].name == lower.counters[i].name);
    }
    CHECK(of_chip.back().counters.size() + of_chip.back().left_out.size() == gpu::counter_table().size());
  }
}

TEST_CASE("rows of a chip are planned with the metric of the chip") {
  const auto host = host_or_skip();
  if (!host) return;
  const std::vector<std::string> chips = host->chips();
  for (const gpu::ChipRow& row : gpu::chip_table()) {
    if (std::find(chips.begin(), chips.end(), row.chip) == chips.end()) continue;  // of another release
    CAPTURE(row.counter);
    CAPTURE(row.chip);
    const std::vector<std::string> names = {std::string(row.counter)};
    const CountPlan plan = host->plan(row.chip, names);
    REQUIRE(plan.counters.size() == 1);
    CHECK(plan.counters[0].metric == row.metric);
  }
}

TEST_CASE("a counter that a chip has no metric for is left out, not an error") {
  const auto host = host_or_skip();
  if (!host) return;
  const std::vector<std::string> names = {"remote_shared_requests", "blocks"};
  const CountPlan plan = host->plan("GA100", names);
  CHECK(plan.left_out == std::vector<std::string>{"remote_shared_requests"});
  REQUIRE(plan.counters.size() == 1);
  CHECK(plan.counters[0].name == "blocks");
  CHECK(plan.passes == 1);
}

TEST_CASE("a metric of CUPTI's is planned under its own name with its own unit; a name given twice once") {
  const auto host = host_or_skip();
  if (!host) return;
  const std::vector<std::string> names = {"lts__t_sectors_op_read.sum", "lts__t_sectors_op_read.sum",
                                          "l1tex__t_sector_hit_rate.pct"};
  const CountPlan plan = host->plan("GH100", names);
  REQUIRE(plan.counters.size() == 2);
  CHECK(plan.counters[0].metric == "lts__t_sectors_op_read.sum");
  CHECK(plan.counters[0].unit == "l2_sector");
  CHECK(plan.counters[0].scale == 1);
  CHECK(plan.counters[1].unit == "percent");
}

TEST_CASE("no counters need no passes") {
  const auto host = host_or_skip();
  if (!host) return;
  const CountPlan plan = host->plan("GH100", std::vector<std::string>());
  CHECK(plan.passes == 0);
  CHECK(plan.counters.empty());
}

TEST_CASE("an unknown chip, counter or metric is an error that names what is near, and never another chip") {
  const auto host = host_or_skip();
  if (!host) return;
  CHECK(fault_of(*host, "GH101", {"blocks"}).find("did you mean 'GH100'?") != std::string::npos);
  CHECK(fault_of(*host, "", {"blocks"}).find("known: G") != std::string::npos);
  CHECK(fault_of(*host, "GH100", {"dram_reed_bytes"}).find("did you mean 'dram_read_bytes'?") != std::string::npos);
  CHECK(fault_of(*host, "GH100", {"dram__bytes_reed.sum"}).find("did you mean 'dram__bytes_read.sum'?") !=
        std::string::npos);
  CHECK(fault_of(*host, "GH100", {"dram__bytes_read.summ"}).find("did you mean 'dram__bytes_read.sum'?") !=
        std::string::npos);
  CHECK(fault_of(*host, "GH100", {"dram__bytes_read"}).find("needs a roll-up") != std::string::npos);
  CHECK(fault_of(*host, "GH100", {"sparkling"}).find("tailor counters") != std::string::npos);
  CHECK(fault_of(*host, "GB202", {"dram__bytes_read.sum"}).find("dram__bytes_") != std::string::npos);
}

TEST_CASE("counters, passes and what is left out on every chip are as recorded") {
  const auto host = host_or_skip();
  if (!host) return;
  std::string found = fmt::format("CUPTI {}\n", recorded_version);
  for (const std::vector<CountPlan>& of_chip : all_plans(*host))
    for (int tier = 0; tier <= last_tier; ++tier) found += line_of(of_chip[static_cast<std::size_t>(tier)], tier);
  const bool same_release = host->api_version() == recorded_version;
  if (same_release && testing::thorough()) return check_golden("counters.txt", found);
  // Another release may schedule otherwise and know other chips, but what was found on a chip is still there.
  const std::string golden = read_file(source_folder() + "/tests/golden/counters.txt");
  if (same_release)
    for (const std::string_view line : split(found, '\n')) CHECK(golden.find(line) != golden.npos);
  for (const std::string_view line : split(golden, '\n')) {
    const std::string_view place = line.substr(0, line.find(':') + 1), counted = line.substr(0, line.find(" in "));
    if (place.empty() || found.find(place) == found.npos) continue;
    CAPTURE(line);
    CHECK(found.find(counted) != found.npos);
  }
}
