// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways to count that look right and mislead on a GPU, done on purpose beside the way that is used: counting where
// kernels are recorded, and counters of elapsed time. A stand-in that let them pass could not tell the two apart.
// Its planted times are the oracle. The ways to time are in measure/old_ways_test.cpp. Part of the suite `gpu`.
#include <doctest/doctest.h>

#include "profiler/gpu/cupti/count.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/session/gpu.h"
#include "profiler/gpu/session/open.h"
#include "support/approx.h"

namespace {

using namespace tailor;
using namespace tailor::tests;
using gpu::Response;
using ir::CacheState;
using ir::Outcome;

}  // namespace

TEST_CASE("counting where kernels are recorded gets no counters, and gets them once nobody records") {
  const FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576}})");
  gpu::OpenedGpu tracing;
  REQUIRE(gpu::open({machine.library_paths(), 0, gpu::Use::trace}, tracing).ok());
  REQUIRE(tracing.trace.on());
  gpu::CountTask task{tracing.current, tracing.device, "GH100", {"dram__bytes_read.sum"}, {}, {}};
  task.prepare = task.launch = [] { return Response{}; };
  const Response beside = gpu::counted(*tracing.cupti, task);
  CHECK(beside.outcome == Outcome::unavailable);
  CHECK_MESSAGE(beside.reason.find("CUPTI_ERROR_NOT_COMPATIBLE") != std::string::npos, beside.reason);
  tracing.trace.end();
  const Response alone = gpu::counted(*tracing.cupti, task);
  CHECK_MESSAGE(alone.outcome == Outcome::ok, alone.reason);
}

TEST_CASE("a counter of elapsed time holds the host's launch and waiting, which a timestamp does not") {
  constexpr double seconds = 5e-6, profiled = 1.4 * seconds, launch = 2e-6;  // of the stand-in
  constexpr const char* chip = R"({"noise": 0, "chip": {"l2_bytes": 1048576, "launch_time": 2e-6},
                                   "times": [{"kernel": "twice", "seconds": 5e-6}]})";
  const FakeMachine of_counts(chip), of_times(chip);  // two, as they stand for two processes
  const auto loaded = [&](const FakeMachine& machine, gpu::Gpu& gpu, gpu::Use use) {
    REQUIRE(gpu.answer(gpu::OpenRequest{machine.library_paths(), 0, use}).outcome == Outcome::ok);
    REQUIRE(gpu.answer(gpu::LoadRequest{1, doubling(256)}, counting(256)).outcome == Outcome::ok);
  };
  gpu::Gpu counts, times;
  loaded(of_counts, counts, gpu::Use::count);
  loaded(of_times, times, gpu::Use::trace);
  const Response counted = counts.answer(
      gpu::CountRequest{1, CacheState::warm, {"gpu__time_duration.sum", "smsp__sass_data_bytes_mem_global_op_ld.sum"}});
  REQUIRE_MESSAGE(counted.outcome == Outcome::ok, counted.reason);
  CHECK(counted.values[0] * 1e-9 > profiled + launch);
  CHECK(counted.values[1] == 4 * 256);  // what has no time in it is the kernel's own
  const Response timed =
      times.answer(gpu::TimeRequest{1, CacheState::warm, ir::TimedBy::activity, ir::LaunchMode::stream, 5, 1, false});
  REQUIRE_MESSAGE(timed.outcome == Outcome::ok, timed.reason);
  for (const ir::Sample& sample : timed.samples) CHECK(sample.duration.value / seconds == approx(1).epsilon(0.02));
}
