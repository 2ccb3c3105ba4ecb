// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Collecting counters against a Range Profiler that a test can make fail at any call: what must be ended is ended,
// what went wrong is told with what to do, and nothing but the launches lies in the counted range. The stand-in is
// stub_cupti.h, whose log shows the order of calls. Part of the suite `gpu`.
#include "profiler/gpu/cupti/count.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "profiler/gpu/cupti/metrics.h"
#include "profiler/gpu/stub_cupti.h"
#include "support/approx.h"

namespace {

using namespace tailor;
using gpu::Response;
using ir::Outcome;

/// A task whose callbacks leave their mark in the log; `sour` of them, counted from 1, answers with a trap.
gpu::CountTask task_on(StubCupti& stub, int sour = 0) {
  gpu::CountTask task;
  task.chip = "GH100";
  task.metrics = {"dram__bytes_read.sum", "smsp__inst_executed.sum"};
  const auto mark = [&stub, sour, turn = std::make_shared<int>(0)](const char* what) {
    return [&stub, sour, turn, what] {
      stub.log.emplace_back(what);
      Response response;
      if (++*turn == sour) {
        response.outcome = Outcome::trapped;
        response.reason = "the kernel trapped";
        response.context_lost = true;
      }
      return response;
    };
  };
  task.prepare = mark("prepare");
  task.launch = mark("launch");
  return task;
}

void check_missing(const Response& response) {
  CHECK(response.outcome == Outcome::unavailable);
  CHECK_FALSE(response.reason.empty());
  REQUIRE(response.capabilities.size() == 1);
  CHECK(response.capabilities[0].name == "counters");
  CHECK(response.capabilities[0].state == "missing");
  CHECK(response.capabilities[0].detail == response.reason);
  CHECK_FALSE(response.capabilities[0].remedy.empty());
  CHECK(response.values.empty());
}

void check_order(const StubCupti& stub) {
  CHECK(stub.wrong == std::vector<std::string>());
  CHECK(stub.all_ended());
}

}  // namespace

TEST_CASE("values and passes come back, and everything that was begun is ended in reverse order") {
  StubCupti stub;
  const Response response = gpu::counted(stub.api, task_on(stub));
  CHECK(response.outcome == Outcome::ok);
  CHECK(response.reason.empty());
  CHECK(response.passes == 3);
  CHECK(response.values == std::vector<double>{100, 101});
  check_order(stub);
  const std::vector<std::string> tail(stub.log.end() - 3, stub.log.end());
  CHECK(tail == std::vector<std::string>{"RangeProfilerDisable", "ProfilerHostDeinitialize", "ProfilerDeInitialize"});
}

TEST_CASE("in every pass buffers are prepared before the range and only the launch is in it") {
  StubCupti stub;
  static_cast<void>(gpu::counted(stub.api, task_on(stub)));
  const std::vector<std::string> pass = {"RangeProfilerStart",     "prepare",
                                         "RangeProfilerPushRange", "launch",
                                         "RangeProfilerPopRange",  "RangeProfilerStop"};
  auto at = std::find(stub.log.begin(), stub.log.end(), pass.front());
  for (std::size_t turn = 0; turn < stub.needed; ++turn)
    for (const std::string& step : pass) {
      REQUIRE(at != stub.log.end());
      CHECK(*at++ == step);
    }
  CHECK(*at == "RangeProfilerDecodeData");
}

TEST_CASE("whichever call fails, the answer names it with a remedy and everything begun is ended") {
  std::vector<std::string> calls;
  {
    StubCupti whole;
    static_cast<void>(gpu::counted(whole.api, task_on(whole)));
    calls = whole.log;
  }
  REQUIRE(calls.size() > 30);
  for (const CUptiResult failure : {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_UNKNOWN})
    for (std::size_t at = 0; at < calls.size(); ++at) {
      if (calls[at] == "prepare" || calls[at] == "launch") continue;
      CAPTURE(calls[at]);
      CAPTURE(at);
      StubCupti stub;
      stub.fail_at = static_cast<int>(at);
      stub.failure = failure;
      const Response response = gpu::counted(stub.api, task_on(stub));
      check_order(stub);
      // What fails while it ends after the values are there costs nothing.
      const bool only_ends =
          calls[at].ends_with("Disable") || calls[at].ends_with("einitialize") || calls[at].ends_with("DeInitialize");
      if (only_ends) {
        CHECK(response.outcome == Outcome::ok);
        continue;
      }
      check_missing(response);
      CHECK(response.reason.find("cupti" + calls[at] + ": ") != std::string::npos);
      if (failure == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES && calls[at] != "ProfilerHostInitialize")
        CHECK(response.capabilities[0].remedy.find("CAP_PERFMON") != std::string::npos);
    }
}

TEST_CASE("a launch or a reset that fails in any pass is passed on, and everything begun is ended") {
  for (int sour = 1; sour <= 6; ++sour) {
    CAPTURE(sour);
    StubCupti stub;
    const Response response = gpu::counted(stub.api, task_on(stub, sour));
    CHECK(response.outcome == Outcome::trapped);
    CHECK(response.reason == "the kernel trapped");
    CHECK(response.context_lost);
    check_order(stub);
  }
}

TEST_CASE("a dropped range, no range and two ranges are no values") {
  for (const auto& [dropped, ranges] : {std::pair{1, 1}, std::pair{1, 0}, std::pair{0, 0}, std::pair{0, 2}}) {
    CAPTURE(dropped);
    CAPTURE(ranges);
    StubCupti stub;
    stub.dropped = static_cast<std::size_t>(dropped);
    stub.ranges = static_cast<std::size_t>(ranges);
    const Response response = gpu::counted(stub.api, task_on(stub));
    check_missing(response);
    check_order(stub);
  }
}

TEST_CASE("passes that never end are given up") {
  StubCupti stub;
  stub.needed = 1000;
  const Response response = gpu::counted(stub.api, task_on(stub));
  check_missing(response);
  CHECK(stub.submitted < 10);
  CHECK(stub.all_ended());
}

TEST_CASE("fewer passes than planned are enough when CUPTI says so") {
  StubCupti stub;
  stub.needed = 1;
  const Response response = gpu::counted(stub.api, task_on(stub));
  CHECK(response.outcome == Outcome::ok);
  CHECK(response.passes == 1);
}

TEST_CASE("a library without the Range Profiler is told by the first function it lacks, and none is called") {
  StubCupti stub;
  stub.api.cuptiRangeProfilerEnable = nullptr;
  note_missing(stub.api);
  const Response response = gpu::counted(stub.api, task_on(stub));
  check_missing(response);
  CHECK(response.reason == "CUPTI has no cuptiRangeProfilerEnable");
  CHECK(stub.log.empty());
  CHECK(gpu::counter_capability(stub.api, 0, nullptr).detail == response.reason);
}

TEST_CASE("a metric that the chip does not have is named, and nothing is launched") {
  StubCupti stub;
  gpu::CountTask task = task_on(stub);
  task.metrics.push_back("stranger__of_this_chip.sum");
  const Response response = gpu::counted(stub.api, task);
  check_missing(response);
  CHECK(response.reason == "GH100 has no metric 'stranger__of_this_chip.sum'");
  CHECK(std::find(stub.log.begin(), stub.log.end(), "launch") == stub.log.end());
  check_order(stub);
}

TEST_CASE("each configuration that forbids counting is named with its own remedy") {
  using Params = CUpti_Profiler_DeviceSupported_Params;
  const std::pair<CUpti_Profiler_Support_Level Params::*, std::string> rows[] = {
      {&Params::architecture, "architecture"},
      {&Params::sli, "SLI"},
      {&Params::vGpu, "virtual GPU"},
      {&Params::confidentialCompute, "confidential computing"},
      {&Params::cmp, "mining"},
      {&Params::wsl, "WSL"},
  };
  for (const auto& [level, words] : rows) {
    CAPTURE(words);
    StubCupti stub;
    stub.support.isSupported = stub.support.*level = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    const gpu::Capability capability = gpu::counter_capability(stub.api, 0, nullptr);
    CHECK(capability.state == "missing");
    CHECK(capability.detail.find(words) != std::string::npos);
    CHECK_FALSE(capability.remedy.empty());
    check_missing(gpu::counted(stub.api, task_on(stub)));
    check_order(stub);
  }
}

TEST_CASE("the layer is ok where the context may be profiled, and says what to do where it may not") {
  int place = 0;
  const auto context = reinterpret_cast<CUcontext>(&place);
  std::vector<std::string> calls;
  {
    StubCupti stub;
    const gpu::Capability capability = gpu::counter_capability(stub.api, 0, context);
    CHECK(capability.state == "ok");
    CHECK(capability.remedy.empty());
    check_order(stub);
    calls = stub.log;
  }
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (calls[at].ends_with("Disable") || calls[at].ends_with("DeInitialize")) continue;
    CAPTURE(calls[at]);
    StubCupti stub;
    stub.fail_at = static_cast<int>(at);
    stub.failure = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    const gpu::Capability capability = gpu::counter_capability(stub.api, 0, context);
    CHECK(capability.state == "missing");
    CHECK(capability.remedy.find("CAP_PERFMON") != std::string::npos);
    check_order(stub);
  }
}

TEST_CASE("values become logical counters in their units; a ratio of nothing is dropped") {
  gpu::CountPlan plan;
  plan.counters = {{"l2_read_bytes", "x.sum", "bytes", 32},
                   {"l1_hit_rate", "y.pct", "fraction", 0.01},
                   {"busy", "z.sum", "s", 1e-9}};
  const std::vector<double> values = {10, std::numeric_limits<double>::quiet_NaN(), 2000};
  const std::vector<ir::CounterValue> counters = gpu::counter_values(plan, values);
  REQUIRE(counters.size() == 2);
  CHECK(counters[0] == ir::CounterValue{"l2_read_bytes", 320, "bytes"});
  CHECK(counters[1].name == "busy");
  CHECK(counters[1].value == approx(2e-6));
}
