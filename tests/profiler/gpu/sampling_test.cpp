// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Times, clocks and counters of the fake GPU, whose kernels last as long as its rules say; and CUPTI in every state of
// disrepair. The configured durations are the oracle: each way of timing must come near them, and say so where it
// cannot. Part of the suite `gpu`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/session/arena.h"
#include "profiler/gpu/session/gpu.h"
#include "support/approx.h"

namespace {

using namespace tailor;
using namespace tailor::tests;
using gpu::Gpu;
using gpu::Response;
using gpu::TimeRequest;
using ir::CacheState;
using ir::LaunchMode;
using ir::Outcome;
using ir::TimedBy;

constexpr std::uint32_t n = 1 << 16;

/// An opened GPU with the doubling of `n` numbers loaded as 1 and a sequence of three launches as 2.
Gpu ready(const FakeMachine& machine, gpu::Use use = gpu::Use::trace, Clock clock = steady_clock()) {
  Gpu gpu(std::move(clock));
  const Response open = gpu.answer(gpu::OpenRequest{machine.library_paths(), 0, use});
  REQUIRE_MESSAGE(open.outcome == Outcome::ok, open.reason);
  REQUIRE(gpu.answer(gpu::LoadRequest{1, doubling(n)}, counting(n)).outcome == Outcome::ok);
  gpu::Sequence three = doubling(n);
  three.buffers.push_back({"both", 4000, gpu::BufferRole::in_place});
  three.launches.push_back(launch_of("plus_one", {of_buffer(2), of_value<std::uint32_t>(1000)}, 8, 128));
  three.launches.push_back(three.launches[0]);
  std::vector<std::byte> contents = counting(n);
  contents.resize(contents.size() + 4000);
  REQUIRE(gpu.answer(gpu::LoadRequest{2, three}, contents).outcome == Outcome::ok);
  return gpu;
}

double median(std::vector<ir::Sample> samples) {
  REQUIRE_FALSE(samples.empty());
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.duration.value < b.duration.value; });
  return samples[samples.size() / 2].duration.value;
}

std::string planted(double seconds) {
  return fmt::format(R"({{"noise": 0, "chip": {{"l2_bytes": 1048576}}, "times": [{{"kernel": "twice", "seconds": {}}},
                                               {{"kernel": "plus_one", "seconds": {}}}]}})",
                     seconds, 2 * seconds);
}

}  // namespace

TEST_CASE("every way of timing gives as many samples as were asked for, of about the time that the kernel takes") {
  constexpr double seconds = 50e-6;
  const FakeMachine machine(planted(seconds));
  Gpu gpu = ready(machine);
  for (CacheState cache : {CacheState::cold, CacheState::warm, CacheState::produced}) {
    for (TimedBy by : {TimedBy::activity, TimedBy::events, TimedBy::activity}) {
      for (LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
        for (int samples : {1, 40}) {  // one, and more than a batch
          CAPTURE(ir::text(ir::Protocol{cache, by, mode, ""}));
          const Response response = gpu.answer(TimeRequest{1, cache, by, mode, samples, 0, true});
          REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
          REQUIRE(response.samples.size() == static_cast<std::size_t>(samples));
          for (const ir::Sample& sample : response.samples) {
            CHECK(sample.duration.value >= 0.99 * seconds);
            CHECK(sample.duration.value <= seconds + 5e-6);
          }
          CHECK(response.launches.size() == (by == TimedBy::activity ? response.samples.size() : 0));
        }
      }
    }
  }
}

TEST_CASE("a sequence lasts from its first launch to its last, and each launch has its own time") {
  constexpr double seconds = 20e-6;
  const FakeMachine machine(planted(seconds));
  Gpu gpu = ready(machine);
  for (LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
    const Response response = gpu.answer(TimeRequest{2, CacheState::produced, TimedBy::activity, mode, 40, 1, true});
    REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
    REQUIRE(response.launches.size() == 40);
    for (std::size_t i = 0; i < response.launches.size(); ++i) {
      REQUIRE(response.launches[i].size() == 3);
      CHECK(response.launches[i][0].value / seconds == approx(1).epsilon(0.01));
      CHECK(response.launches[i][1].value / seconds == approx(2).epsilon(0.01));
      CHECK(response.launches[i][2].value / seconds == approx(1).epsilon(0.01));
      // Launches were queued while the stream was held: between them is the GPU's gap, not the host's pace.
      CHECK(response.samples[i].duration.value >= 4 * seconds);
      CHECK(response.samples[i].duration.value <= 4 * seconds + 5e-6);
    }
  }
  const Response events =
      gpu.answer(TimeRequest{2, CacheState::cold, TimedBy::events, LaunchMode::stream, 40, 0, false});
  REQUIRE(events.outcome == Outcome::ok);
  CHECK(events.capabilities.empty());
  CHECK(median(events.samples) <= 4 * seconds + 6e-6);
}

TEST_CASE("a kernel pays for what others left to be written back after a dirty flush, and not after a clean one") {
  // Three quarters of L2 are read and as much is written: together they take the place of all that was in L2.
  constexpr std::int64_t l2 = 1 << 20, read = 3 << 18;
  const FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576, "dram_bandwidth": 1e10}})");
  Gpu gpu;
  REQUIRE(gpu.answer(gpu::OpenRequest{machine.library_paths(), 0}).outcome == Outcome::ok);
  gpu::Sequence reading = doubling(read / 4);
  static_assert(read < l2);
  REQUIRE(gpu.answer(gpu::LoadRequest{1, reading}, counting(read / 4)).outcome == Outcome::ok);
  const auto time = [&](CacheState cache) {
    const Response taken = gpu.answer(TimeRequest{1, cache, TimedBy::activity, LaunchMode::stream, 5, 0, false});
    REQUIRE_MESSAGE(taken.outcome == Outcome::ok, taken.reason);
    return median(taken.samples);
  };
  const double clean = time(CacheState::cold), dirty = time(CacheState::dirty);
  const double of_input = static_cast<double>(read) / 1e10, of_others = static_cast<double>(l2) / 1e10;
  CHECK(clean / of_input == approx(1).epsilon(0.1));
  CHECK(dirty / (of_input + of_others) == approx(1).epsilon(0.1));
}

TEST_CASE(
    "sequences of one arena lie at the same places, each is checked all the same, and apart they differ in time") {
  const FakeMachine machine(R"({"noise": 0, "placement": 0.3, "chip": {"l2_bytes": 1048576}})");
  Gpu gpu;
  REQUIRE(gpu.answer(gpu::OpenRequest{machine.library_paths(), 0}).outcome == Outcome::ok);
  const gpu::Sequence one = doubling(n);
  gpu::Sequence larger = one;
  larger.buffers.push_back({"more", 4000, gpu::BufferRole::workspace});
  const std::int64_t bytes = gpu::lay_out_arena(larger.buffers).bytes;
  const auto loaded = [&](const gpu::LoadRequest& request, std::span<const std::byte> contents) {
    const Response response = gpu.answer(request, contents);
    CHECK_MESSAGE(response.outcome == Outcome::ok, response.reason);
  };
  loaded({1, one, 7, bytes, false}, counting(n));
  loaded({2, larger, 7, bytes, true}, {});
  loaded({3, one}, counting(n));
  loaded({4, one}, counting(n));
  const auto time = [&](int id) {
    return median(
        gpu.answer(TimeRequest{id, CacheState::cold, TimedBy::activity, LaunchMode::stream, 5, 0, false}).samples);
  };
  CHECK(time(1) / time(2) == approx(1).epsilon(0.03));  // a tick of the timestamps
  CHECK(time(3) / time(4) != approx(1).epsilon(0.05));
  for (const int id : {1, 2, 1, 2}) {
    const Response ran = gpu.answer(gpu::RunRequest{id, 1, true});
    CHECK_MESSAGE(ran.outcome == Outcome::ok, ran.reason);
  }
  // What does not fit, lies elsewhere or is written in place is refused.
  gpu::Sequence huge = one, moved = doubling(n / 2), in_place = one;
  huge.buffers.push_back({"more", 1 << 24, gpu::BufferRole::workspace});
  in_place.buffers[0].role = gpu::BufferRole::in_place;
  for (const gpu::Sequence& wrong : {huge, moved, in_place}) {
    const Response response = gpu.answer(gpu::LoadRequest{5, wrong, 7, bytes, true});
    CHECK(response.outcome == Outcome::refused);
    CHECK_FALSE(response.context_lost);
  }
  CHECK(gpu.answer(gpu::LoadRequest{6, one, 8, bytes, true}).outcome == Outcome::refused);  // nobody filled that one
}

TEST_CASE("a plan that writes into the inputs of an arena is told, and the next load brings them again") {
  const FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576}})");
  Gpu gpu;
  REQUIRE(gpu.answer(gpu::OpenRequest{machine.library_paths(), 0}).outcome == Outcome::ok);
  const gpu::Sequence one = doubling(n);
  gpu::Sequence wild = one;
  wild.launches = {launch_of("poke", {of_buffer(0), of_value<std::uint64_t>(17)})};
  const std::int64_t bytes = gpu::lay_out_arena(one.buffers).bytes;
  REQUIRE(gpu.answer(gpu::LoadRequest{1, one, 0, bytes, false}, counting(n)).outcome == Outcome::ok);
  REQUIRE(gpu.answer(gpu::LoadRequest{2, wild, 0, bytes, true}).outcome == Outcome::ok);
  CHECK(gpu.answer(gpu::RunRequest{2, 1, false}).outcome == Outcome::overrun);
  CHECK(gpu.answer(gpu::RunRequest{1, 1, false}).outcome == Outcome::overrun);
  REQUIRE(gpu.answer(gpu::LoadRequest{3, one, 0, bytes, false}, counting(n)).outcome == Outcome::ok);
  CHECK(gpu.answer(gpu::RunRequest{1, 1, false}).outcome == Outcome::ok);
}

TEST_CASE("cold takes longer than warm, and the state of the GPU goes with the samples") {
  const FakeMachine machine(R"({"noise": 0})");
  Gpu gpu = ready(machine);
  const auto time = [&](CacheState cache) {
    const Response response = gpu.answer(TimeRequest{1, cache, TimedBy::activity, LaunchMode::stream, 11, 0, false});
    REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
    CHECK(response.state.sm_clock == approx(1.98e9));
    CHECK(response.state.temperature == 35);
    CHECK(response.state.power_limit == 700);
    return median(response.samples);
  };
  const double cold = time(CacheState::cold), warm = time(CacheState::warm), produced = time(CacheState::produced);
  CHECK(cold > warm);
  CHECK(produced <= cold);
}

TEST_CASE("each sample has the clock that the SM ran at, whatever NVML tells") {
  for (double clock : {1.98e9, 0.9e9}) {
    const FakeMachine machine(fmt::format(R"({{"nvml_clocks": false, "chip": {{"sm_clock": {}}}}})", clock));
    Gpu gpu = ready(machine);
    for (CacheState cache : {CacheState::cold, CacheState::warm}) {
      const Response response = gpu.answer(TimeRequest{1, cache, TimedBy::activity, LaunchMode::stream, 40, 0, false});
      REQUIRE(response.samples.size() == 40);
      CHECK(response.state.sm_clock == 0);
      for (const ir::Sample& sample : response.samples) CHECK(sample.sm_clock == approx(clock).epsilon(0.02));
    }
  }
}

TEST_CASE("without waiting on memory times by events are taken all the same, and the answer says so") {
  for (const std::vector<std::string>& without :
       {std::vector<std::string>{}, std::vector<std::string>{"cuStreamWaitValue32_v2"}}) {
    const FakeMachine machine(without.empty() ? failing("cuStreamWaitValue32", 801, 0) : planted(20e-6), without);
    Gpu gpu = ready(machine);
    for (int id : {1, 2}) {
      const Response response =
          gpu.answer(TimeRequest{id, CacheState::cold, TimedBy::events, LaunchMode::stream, 5, 0, false});
      REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
      CHECK(response.samples.size() == 5);
      REQUIRE(response.capabilities.size() == 1);
      CHECK(response.capabilities[0].name == "held stream");
      CHECK(response.capabilities[0].detail.find("cuStreamWaitValue32") != std::string::npos);
    }
  }
}

TEST_CASE("when the driver stops taking launches while the stream is held, the samples are taken again without") {
  // The launch in the first held sample, after those of opening (1), loading (1), the sample for nothing (4) and what
  // comes before it in its own (2).
  const FakeMachine machine(R"({"log": true, "chip": {"l2_bytes": 1048576},
                                "failures": [{"call": "cuLaunchKernelEx", "act": "slow", "seconds": 2.2, "nth": 9}]})");
  Gpu gpu;
  REQUIRE(gpu.answer(gpu::OpenRequest{machine.library_paths(), 0}).outcome == Outcome::ok);
  REQUIRE(gpu.answer(gpu::LoadRequest{1, doubling(n)}, counting(n)).outcome == Outcome::ok);
  const Response response =
      gpu.answer(TimeRequest{1, CacheState::cold, TimedBy::events, LaunchMode::stream, 5, 0, false});
  REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
  CHECK(response.samples.size() == 5);
  // Five of the first batch, which are not kept, and five of the next.
  const std::vector<std::string> calls = machine.calls();
  CHECK(std::count(calls.begin(), calls.end(), "cuEventElapsedTime") == 2 * 5);
  REQUIRE(response.capabilities.size() == 1);
  CHECK(response.capabilities[0].detail == "the driver stopped taking launches while the stream waited");
}

/// A GPU whose clock stands until somebody moves it, and how often it asked NVML for something.
struct Watched {
  FakeMachine machine{R"({"log": true, "noise": 0, "chip": {"l2_bytes": 1048576}})"};
  double now = 1000;
  Gpu gpu = ready(machine, gpu::Use::trace, [this] { return Seconds{now}; });

  /// Calls of that name while one sample was taken `later` seconds after the last one.
  std::ptrdiff_t asked(const char* call, double later) {
    now += later;
    const auto calls = [&] {
      const std::vector<std::string> all = machine.calls();
      return std::count(all.begin(), all.end(), call);
    };
    const auto before = calls();
    REQUIRE(gpu.answer(TimeRequest{1, CacheState::warm, TimedBy::events, LaunchMode::stream, 1, 0, false}).outcome ==
            Outcome::ok);
    return calls() - before;
  }
};

TEST_CASE("NVML is asked for its state ten times a second at most, and every tenth when questions come in") {
  Watched watched;
  CHECK(watched.asked("nvmlDeviceGetPowerUsage", 0) == 1);
  for (int i = 0; i < 20; ++i) CHECK(watched.asked("nvmlDeviceGetPowerUsage", i < 10 ? 0 : 0.009) == 0);
  CHECK(watched.asked("nvmlDeviceGetPowerUsage", 0.02) == 1);
  CHECK(watched.asked("nvmlDeviceGetPowerUsage", 0.09) == 0);
  CHECK(watched.asked("nvmlDeviceGetPowerUsage", 60) == 1);
}

TEST_CASE("a GPU that took times less than a fifth of a second ago is awake, any other is looked at") {
  Watched watched;
  watched.asked("nvmlDeviceGetClockInfo", 0);
  const auto awake = watched.asked("nvmlDeviceGetClockInfo", 0.19);  // its state alone
  CHECK(watched.asked("nvmlDeviceGetClockInfo", 0.19) == awake);
  CHECK(watched.asked("nvmlDeviceGetClockInfo", 0.21) == awake + 1);
  CHECK(watched.asked("nvmlDeviceGetClockInfo", 0) == 0);
}

TEST_CASE("samples taken while the GPU was held back are marked, and none is dropped") {
  const FakeMachine machine(R"({"throttle": [{"launches": 0, "reasons": 4, "sm_clock": 1.98e9}]})");
  Gpu gpu = ready(machine);
  const Response response =
      gpu.answer(TimeRequest{1, CacheState::cold, TimedBy::activity, LaunchMode::stream, 8, 0, false});
  REQUIRE(response.samples.size() == 8);
  for (const ir::Sample& sample : response.samples) CHECK(sample.throttle == ir::throttle_power);
  CHECK(gpu.answer(gpu::StateRequest{}).state.throttle == ir::throttle_power);
}

TEST_CASE("where CUPTI does not deliver, times by activity say why and times by events still come") {
  struct Row {
    std::string configuration, said;
    bool opens;  ///< it is only found out when times are taken
  };
  const std::vector<Row> rows = {
      {R"({"other_subscriber": true})", "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, held by 'Nsight Systems'",
       false},
      {R"({"activity_without_times": true})", "without times", false},
      {R"({"drop_activity": 5})", "dropped", true},
      {failing("cuptiActivityEnable", 999, 0), "cuptiActivityEnable: CUPTI_ERROR_UNKNOWN", false},
      {failing("cuptiActivityRegisterCallbacks", 1, 0), "cuptiActivityRegisterCallbacks", false},
      {failing("cuptiActivityFlushAll", 999, 0), "cuptiActivityFlushAll", false},
      {failing("cuptiActivityGetNextRecord", 1, 0), "cuptiActivityGetNextRecord", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.configuration);
    const FakeMachine machine(row.configuration);
    Gpu gpu;
    const Response open = gpu.answer(gpu::OpenRequest{machine.library_paths(), 0});
    REQUIRE_MESSAGE(open.outcome == Outcome::ok, open.reason);
    CHECK(open.properties.can_time_activity == row.opens);
    REQUIRE(gpu.answer(gpu::LoadRequest{1, doubling(n)}, counting(n)).outcome == Outcome::ok);
    const Response activity =
        gpu.answer(TimeRequest{1, CacheState::cold, TimedBy::activity, LaunchMode::stream, 9, 0, false});
    CHECK(activity.outcome == Outcome::unavailable);
    CHECK_MESSAGE(activity.reason.find(row.said) != std::string::npos, activity.reason);
    CHECK_FALSE(activity.context_lost);
    const Response events =
        gpu.answer(TimeRequest{1, CacheState::cold, TimedBy::events, LaunchMode::stream, 9, 0, false});
    REQUIRE_MESSAGE(events.outcome == Outcome::ok, events.reason);
    CHECK(events.samples.size() == 9);
  }
}

TEST_CASE("a process has one use: one that traces does not count, one that counts times by events alone") {
  const FakeMachine machine(planted(20e-6));
  const TimeRequest by_activity{1, CacheState::warm, TimedBy::activity, LaunchMode::stream, 3, 0, false};
  const TimeRequest by_events{1, CacheState::warm, TimedBy::events, LaunchMode::stream, 3, 0, false};
  const gpu::CountRequest counting{1, CacheState::warm, {"dram__bytes_read.sum"}};
  for (const gpu::Use use : {gpu::Use::trace, gpu::Use::events, gpu::Use::count}) {
    CAPTURE(static_cast<int>(use));
    Gpu gpu = ready(machine, use);
    const auto allowed = [&](const gpu::Request& request, bool wanted) {
      const Response response = gpu.answer(request);
      CHECK_MESSAGE((response.outcome == Outcome::ok) == wanted, response.reason);
      CHECK_FALSE(response.context_lost);
    };
    for (int turn = 0; turn < 2; ++turn) {  // what one question began must not stop the next
      allowed(by_activity, use == gpu::Use::trace);
      allowed(counting, use == gpu::Use::count);
      allowed(by_events, true);
    }
  }
}

TEST_CASE("a process for times by events never calls CUPTI") {
  const FakeMachine machine(R"({"log": true, "noise": 0, "chip": {"l2_bytes": 1048576}})");
  {
    Gpu gpu = ready(machine, gpu::Use::events);
    const Response timed =
        gpu.answer(TimeRequest{1, CacheState::cold, TimedBy::events, LaunchMode::graph, 3, 0, false});
    CHECK_MESSAGE(timed.outcome == Outcome::ok, timed.reason);
  }
  for (const std::string& call : machine.calls()) CHECK_FALSE(call.starts_with("cupti"));
}

TEST_CASE("launches are slower where kernels are recorded, so what launches cost is asked where they never were") {
  const FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576}})");
  const auto row_of_launches = [&](gpu::Use use, TimedBy by) {
    Gpu gpu = ready(machine, use);
    gpu::Sequence row = doubling(32);
    row.launches.resize(64, row.launches[0]);
    REQUIRE(gpu.answer(gpu::LoadRequest{3, row}, counting(32)).outcome == Outcome::ok);
    return median(gpu.answer(TimeRequest{3, CacheState::warm, by, LaunchMode::stream, 5, 1, false}).samples) / 64;
  };
  const double bare = row_of_launches(gpu::Use::events, TimedBy::events);
  CHECK(bare / 2.4e-6 == approx(1).epsilon(0.1));  // the stand-in's kernel and gap
  CHECK(row_of_launches(gpu::Use::trace, TimedBy::activity) > bare + 0.5e-6);
}

TEST_CASE("counters come from runs of their own, with buffers put back and caches as asked for") {
  const FakeMachine machine(R"({"noise": 0})");
  Gpu gpu = ready(machine, gpu::Use::count);
  const std::vector<std::string> metrics = {"dram__bytes_read.sum", "dram__bytes_write.sum",
                                            "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum",
                                            "smsp__inst_executed.sum"};
  const auto count = [&](int id, CacheState cache) {
    Response response = gpu.answer(gpu::CountRequest{id, cache, metrics});
    REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
    REQUIRE(response.values.size() == metrics.size());
    CHECK(response.passes == 2);
    return response.values;
  };
  const std::vector<double> cold = count(1, CacheState::cold), warm = count(1, CacheState::warm);
  CHECK(cold[0] >= 4.0 * n);
  CHECK(warm[0] < cold[0]);
  CHECK(cold[2] == approx(4.0 * n / 32));
  CHECK(cold[3] == approx(4.0 * n / 32));
  CHECK(count(2, CacheState::cold)[3] == approx(2 * 4.0 * n / 32 + 4000.0 / 32));
}

TEST_CASE("counters that nobody may read are unavailable with a remedy, and all else goes on") {
  for (const char* configuration : {R"({"counters_permitted": false})", R"({"other_profiler": true})"}) {
    const FakeMachine machine(configuration);
    Gpu gpu;
    const Response open = gpu.answer(gpu::OpenRequest{machine.library_paths(), 0, gpu::Use::count});
    REQUIRE_MESSAGE(open.outcome == Outcome::ok, open.reason);
    // Another profiler is only met when counting begins.
    CHECK(open.properties.can_count == (std::string_view(configuration).find("other") != std::string_view::npos));
    REQUIRE(gpu.answer(gpu::LoadRequest{1, doubling(n)}, counting(n)).outcome == Outcome::ok);
    const Response counted = gpu.answer(gpu::CountRequest{1, CacheState::cold, {"dram__bytes_read.sum"}});
    CHECK(counted.outcome == Outcome::unavailable);
    REQUIRE_FALSE(counted.capabilities.empty());
    CHECK_FALSE(counted.capabilities[0].remedy.empty());
    CHECK(
        gpu.answer(TimeRequest{1, CacheState::cold, TimedBy::events, LaunchMode::stream, 3, 0, false}).samples.size() ==
        3);
  }
}
