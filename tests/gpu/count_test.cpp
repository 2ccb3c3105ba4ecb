// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Collecting counters against a Range Profiler that a test can make fail at any call: what must be ended is ended, what
// went wrong is told with what to do, and nothing but the launches lies in the counted range.
#include "gpu/count.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gpu/metrics.h"
#include "gpu/stub_cupti.h"

namespace {

using namespace tailor;
using gpu::Answer;
using ir::Outcome;

/// A task whose callbacks leave their mark in the log; `sour` of them, counted from 1, answers with a trap.
gpu::CountTask task_on(StubCupti& stub, int sour = 0) {
  gpu::CountTask task;
  task.chip = "GH100";
  task.metrics = {"dram__bytes_read.sum", "smsp__inst_executed.sum"};
  const auto mark = [&stub, sour, turn = std::make_shared<int>(0)](const char* what) {
    return [&stub, sour, turn, what] {
      stub.log.emplace_back(what);
      Answer answer;
      if (++*turn == sour) {
        answer.outcome = Outcome::trapped;
        answer.reason = "the kernel trapped";
        answer.context_lost = true;
      }
      return answer;
    };
  };
  task.prepare = mark("prepare");
  task.launch = mark("launch");
  return task;
}

void check_missing(const Answer& answer) {
  CHECK(answer.outcome == Outcome::unavailable);
  CHECK_FALSE(answer.reason.empty());
  REQUIRE(answer.layers.size() == 1);
  CHECK(answer.layers[0].name == "counters");
  CHECK(answer.layers[0].state == "missing");
  CHECK(answer.layers[0].detail == answer.reason);
  CHECK_FALSE(answer.layers[0].remedy.empty());
  CHECK(answer.values.empty());
}

void check_order(const StubCupti& stub) {
  CHECK(stub.wrong == std::vector<std::string>());
  CHECK(stub.all_ended());
}

}  // namespace

TEST_CASE("values and passes come back, and everything that was begun is ended in reverse order") {
  StubCupti stub;
  const Answer answer = gpu::counted(stub.api, task_on(stub));
  CHECK(answer.outcome == Outcome::ok);
  CHECK(answer.reason.empty());
  CHECK(answer.passes == 3);
  CHECK(answer.values == std::vector<double>{100, 101});
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
      const Answer answer = gpu::counted(stub.api, task_on(stub));
      check_order(stub);
      // What fails while it ends after the values are there costs nothing.
      const bool only_ends =
          calls[at].ends_with("Disable") || calls[at].ends_with("einitialize") || calls[at].ends_with("DeInitialize");
      if (only_ends) {
        CHECK(answer.outcome == Outcome::ok);
        continue;
      }
      check_missing(answer);
      CHECK(answer.reason.find("cupti" + calls[at] + ": ") != std::string::npos);
      if (failure == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES && calls[at] != "ProfilerHostInitialize")
        CHECK(answer.layers[0].remedy.find("CAP_PERFMON") != std::string::npos);
    }
}

TEST_CASE("a launch or a reset that fails in any pass is passed on, and everything begun is ended") {
  for (int sour = 1; sour <= 6; ++sour) {
    CAPTURE(sour);
    StubCupti stub;
    const Answer answer = gpu::counted(stub.api, task_on(stub, sour));
    CHECK(answer.outcome == Outcome::trapped);
    CHECK(answer.reason == "the kernel trapped");
    CHECK(answer.context_lost);
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
    const Answer answer = gpu::counted(stub.api, task_on(stub));
    check_missing(answer);
    check_order(stub);
  }
}

TEST_CASE("passes that never end are given up") {
  StubCupti stub;
  stub.needed = 1000;
  const Answer answer = gpu::counted(stub.api, task_on(stub));
  check_missing(answer);
  CHECK(stub.submitted < 10);
  CHECK(stub.all_ended());
}

TEST_CASE("fewer passes than planned are enough when CUPTI says so") {
  StubCupti stub;
  stub.needed = 1;
  const Answer answer = gpu::counted(stub.api, task_on(stub));
  CHECK(answer.outcome == Outcome::ok);
  CHECK(answer.passes == 1);
}

TEST_CASE("a library without the Range Profiler is told by the first function it lacks, and none is called") {
  StubCupti stub;
  stub.api.cuptiRangeProfilerEnable = nullptr;
  note_missing(stub.api);
  const Answer answer = gpu::counted(stub.api, task_on(stub));
  check_missing(answer);
  CHECK(answer.reason == "CUPTI has no cuptiRangeProfilerEnable");
  CHECK(stub.log.empty());
  CHECK(gpu::counter_layer(stub.api, 0, nullptr).detail == answer.reason);
}

TEST_CASE("a metric that the chip does not have is named, and nothing is launched") {
  StubCupti stub;
  gpu::CountTask task = task_on(stub);
  task.metrics.push_back("stranger__of_this_chip.sum");
  const Answer answer = gpu::counted(stub.api, task);
  check_missing(answer);
  CHECK(answer.reason == "GH100 has no metric 'stranger__of_this_chip.sum'");
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
    const gpu::Layer layer = gpu::counter_layer(stub.api, 0, nullptr);
    CHECK(layer.state == "missing");
    CHECK(layer.detail.find(words) != std::string::npos);
    CHECK_FALSE(layer.remedy.empty());
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
    const gpu::Layer layer = gpu::counter_layer(stub.api, 0, context);
    CHECK(layer.state == "ok");
    CHECK(layer.remedy.empty());
    check_order(stub);
    calls = stub.log;
  }
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (calls[at].ends_with("Disable") || calls[at].ends_with("DeInitialize")) continue;
    CAPTURE(calls[at]);
    StubCupti stub;
    stub.fail_at = static_cast<int>(at);
    stub.failure = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    const gpu::Layer layer = gpu::counter_layer(stub.api, 0, context);
    CHECK(layer.state == "missing");
    CHECK(layer.remedy.find("CAP_PERFMON") != std::string::npos);
    check_order(stub);
  }
}

TEST_CASE("values become logical counters in their units; a ratio of nothing is dropped") {
  gpu::CountPlan plan;
  plan.counters = {{"l2_read_bytes", "x.sum", "bytes", 32},
                   {"l1_hit_rate", "y.pct", "fraction", 0.01},
                   {"time", "z.sum", "s", 1e-9}};
  const std::vector<double> values = {10, std::numeric_limits<double>::quiet_NaN(), 2000};
  const std::vector<ir::CounterValue> counters = gpu::counter_values(plan, values);
  REQUIRE(counters.size() == 2);
  CHECK(counters[0] == ir::CounterValue{"l2_read_bytes", 320, "bytes"});
  CHECK(counters[1].name == "time");
  CHECK(counters[1].value == doctest::Approx(2e-6));
}
