// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counters from plan to logical value on the fake GPU, whose counters are the simulator's: what is counted is the
// launches of the sequence and nothing that was done to reset buffers and caches around them. The simulator's own
// counts are the oracle. Part of the suite `gpu`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "profiler/gpu/cupti/metrics.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/session/gpu.h"
#include "support/approx.h"

namespace {

using namespace tailor;
using namespace tailor::tests;
using gpu::Gpu;
using gpu::Response;
using ir::CacheState;
using ir::Outcome;

// A small L2, so that overwriting it takes no time of the test.
constexpr std::string_view small_l2 = R"({"chip": {"l2_bytes": 1048576}, "metrics_per_pass": 5})";
constexpr std::uint32_t elements = 300;  ///< ten warps, the last with twelve lanes

struct Counting {
  Gpu gpu;
  gpu::CountPlan plan;

  explicit Counting(const FakeMachine& machine, int tier) {
    auto host = gpu::MetricHost::open(machine.library_paths());
    REQUIRE(std::holds_alternative<gpu::MetricHost>(host));
    const Response opened = gpu.answer(gpu::OpenRequest{machine.library_paths(), 0, gpu::Use::count});
    REQUIRE_MESSAGE(opened.outcome == Outcome::ok, opened.reason);
    plan = std::get<gpu::MetricHost>(host).plan(opened.properties.chip, tier);
    REQUIRE(gpu.answer(gpu::LoadRequest{1, doubling(elements)}, counting(elements)).outcome == Outcome::ok);
  }

  Response call(CacheState cache) {
    gpu::CountRequest question{1, cache, {}};
    for (const gpu::PlannedCounter& counter : plan.counters) question.metrics.push_back(counter.metric);
    return gpu.answer(question);
  }
};

double value(const gpu::CountPlan& plan, const Response& response, std::string_view name) {
  for (const ir::CounterValue& counter : gpu::counter_values(plan, response.values))
    if (counter.name == name) return counter.value;
  FAIL("not collected: ", name);
  return 0;
}

}  // namespace

TEST_CASE("counters of a launch are those of its lanes, whatever the caches were made to hold before") {
  const FakeMachine machine(small_l2);
  Counting counting(machine, 3);
  for (const CacheState cache : {CacheState::cold, CacheState::warm, CacheState::produced}) {
    CAPTURE(ir::name(cache));
    const Response response = counting.call(cache);
    REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
    REQUIRE(response.values.size() == counting.plan.counters.size());
    const auto of = [&](std::string_view name) { return value(counting.plan, response, name); };
    CHECK(of("global_load_requests") == 10);
    CHECK(of("global_store_requests") == 10);
    CHECK(of("global_load_sectors") == 38);  // nine warps of 128 bytes, one of 48
    CHECK(of("global_store_sectors") == 38);
    CHECK(of("global_load_bytes") == 4 * elements);
    CHECK(of("global_store_bytes") == 4 * elements);
    CHECK(of("blocks") == approx(doubling(elements).launches[0].grid[0]));
    CHECK(of("global_red_requests") == 0);
    CHECK(of("local_load_requests") == 0);
  }
}

TEST_CASE("a launch on cold caches reads all its input from DRAM, on warm ones nothing") {
  const FakeMachine machine(small_l2);
  Counting counting(machine, 0);
  CHECK(value(counting.plan, counting.call(CacheState::cold), "dram_read_bytes") >= 4 * elements);
  CHECK(value(counting.plan, counting.call(CacheState::warm), "dram_read_bytes") == 0);
}

TEST_CASE("no counter divides by elapsed time or counts it: a named range holds the launch and the waiting") {
  for (const gpu::CounterRow& row : gpu::counter_table())
    for (const std::string_view word : {"elapsed", "per_second", "time_duration"})
      CHECK_MESSAGE(row.metric.find(word) == row.metric.npos, row.name << ": " << row.metric);
  for (const gpu::ChipRow& row : gpu::chip_table()) CHECK(row.metric.find("elapsed") == row.metric.npos);
}

TEST_CASE("what is planned for a process is planned once, and the counters are held only while more is to come") {
  const FakeMachine machine(R"({"chip": {"l2_bytes": 1048576}, "log": true})");
  Counting counting(machine, 0);
  gpu::CountRequest question{1, CacheState::warm, {"dram__bytes_read.sum"}, true};
  REQUIRE(counting.gpu.answer(question).outcome == Outcome::ok);
  const auto calls = [&](std::string_view name) {
    const std::vector<std::string> all = machine.calls();
    return std::count(all.begin(), all.end(), name);
  };
  const auto planned = calls("cuptiProfilerHostInitialize"), enabled = calls("cuptiRangeProfilerEnable");
  const auto disabled = calls("cuptiRangeProfilerDisable");
  REQUIRE(counting.gpu.answer(question).outcome == Outcome::ok);
  CHECK(calls("cuptiRangeProfilerDisable") == disabled);
  question.more = false;
  REQUIRE(counting.gpu.answer(question).outcome == Outcome::ok);
  CHECK(calls("cuptiRangeProfilerEnable") == enabled);
  CHECK(calls("cuptiRangeProfilerDisable") == disabled + 1);
  REQUIRE(counting.gpu.answer(question).outcome == Outcome::ok);
  CHECK(calls("cuptiRangeProfilerEnable") == enabled + 1);
  CHECK(calls("cuptiProfilerHostInitialize") == planned);
  question.metrics = {"smsp__inst_executed.sum"};
  REQUIRE(counting.gpu.answer(question).outcome == Outcome::ok);
  CHECK(calls("cuptiProfilerHostInitialize") == planned + 1);
}

TEST_CASE("as many passes are run as were planned") {
  const FakeMachine machine(small_l2);
  for (int tier = 0; tier <= 3; ++tier) {
    CAPTURE(tier);
    Counting counting(machine, tier);
    CHECK(counting.plan.passes >= 3);  // the fake has five counters to a pass
    CHECK(counting.call(CacheState::warm).passes == counting.plan.passes);
  }
}

TEST_CASE("a sequence computes the same after it was counted") {
  const FakeMachine machine(small_l2);
  Counting counting(machine, 1);
  const Response before = counting.gpu.answer(gpu::RunRequest{1, 1, true});
  CHECK(counting.call(CacheState::cold).outcome == Outcome::ok);
  const Response after = counting.gpu.answer(gpu::RunRequest{1, 1, true});
  CHECK(before.outcome == Outcome::ok);
  CHECK(after.outcome == Outcome::ok);
  CHECK(before.blob == after.blob);
}

TEST_CASE("without permission counters are unavailable with the remedy, and the rest goes on") {
  const FakeMachine machine(R"({"chip": {"l2_bytes": 1048576}, "counters_permitted": false})");
  Counting counting(machine, 0);
  const Response response = counting.call(CacheState::cold);
  CHECK(response.outcome == Outcome::unavailable);
  CHECK(response.reason.find("INSUFFICIENT_PRIVILEGES") != std::string::npos);
  REQUIRE(response.capabilities.size() == 1);
  CHECK(response.capabilities[0].remedy.find("CAP_PERFMON") != std::string::npos);
  CHECK_FALSE(response.context_lost);
  CHECK(counting.gpu.answer(gpu::RunRequest{1, 1, true}).outcome == Outcome::ok);
}
