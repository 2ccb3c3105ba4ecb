// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything is asked of a fake GPU while one call goes wrong, for every call there is: whatever fails, there is an
// answer with a reason that names the call, and no crash. The calls are the rows of driver.def. Part of the suite
// `gpu`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>

#include "profiler/gpu/driver/cuda_status.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/session/gpu.h"
#include "support/thorough.h"

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

/// What every kind of question comes to, in order.
std::vector<Response> all_answers(const FakeMachine& machine, gpu::Use use = gpu::Use::trace) {
  Gpu gpu;
  gpu::Sequence sequence = doubling(300);
  sequence.buffers.push_back({"scratch", 90, gpu::BufferRole::workspace});
  sequence.buffers.push_back({"both", 400, gpu::BufferRole::in_place});
  sequence.launches.push_back(launch_of("plus_one", {of_buffer(3), of_value<std::uint32_t>(100)}, 2, 128));
  sequence.launches.back().cluster = {2, 1, 1};
  sequence.launches.push_back(launch_of("much_shared", {of_buffer(2)}));
  sequence.launches.back().dynamic_shared = 100'000;
  std::vector<std::byte> contents = counting(400);
  std::vector<Response> answers;
  const auto ask = [&](const gpu::Request& question, std::span<const std::byte> blob = {}) {
    answers.push_back(gpu.answer(question, blob));
  };
  ask(gpu::OpenRequest{machine.library_paths(), 0, use});
  ask(gpu::CapabilitiesRequest{machine.library_paths(), 0, use});
  ask(gpu::LoadRequest{1, sequence}, contents);
  ask(gpu::RunRequest{1, 1, true});
  for (TimedBy by : {TimedBy::activity, TimedBy::events}) {
    if (by == TimedBy::activity && use != gpu::Use::trace) continue;
    for (LaunchMode mode : {LaunchMode::stream, LaunchMode::graph})
      ask(TimeRequest{1, by == TimedBy::events ? CacheState::produced : CacheState::cold, by, mode, 3, 1, true});
  }
  if (use == gpu::Use::count)
    ask(gpu::CountRequest{1, CacheState::warm, {"dram__bytes_read.sum", "lts__t_sectors_op_read.sum"}});
  ask(gpu::StateRequest{});
  ask(gpu::UnloadRequest{1});
  return answers;
}

/// The plain names of all functions of the driver.
std::vector<std::string> driver_calls() {
  std::vector<std::string> names;
#define SPELT(name) #name
#define DRIVER_FUNCTION(name, needed) names.push_back(SPELT(name));
#include "profiler/gpu/driver/driver.def"
#undef DRIVER_FUNCTION
#undef SPELT
  for (std::string& name : names)
    if (const std::size_t suffix = name.rfind("_v"); suffix != name.npos) name.resize(suffix);
  return names;
}

/// Calls whose failure costs no answer: they only help to tell something, or come where nobody can be told.
const std::set<std::string>& quiet() {
  static const std::set<std::string> names = {"cuGetErrorName",
                                              "cuGetErrorString",
                                              "cuDriverGetVersion",
                                              "cuDeviceGetName",
                                              "cuDeviceGetUuid",
                                              "cuDeviceGetPCIBusId",
                                              "cuDeviceGetAttribute",
                                              "cuDeviceTotalMem",
                                              "cuDevicePrimaryCtxRelease",
                                              "cuModuleUnload",
                                              "cuFuncGetAttribute",
                                              "cuFuncGetParamInfo",
                                              "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                              "cuOccupancyMaxActiveClusters",
                                              "cuMemFree",
                                              "cuMemGetInfo",
                                              "cuMemHostAlloc",
                                              "cuMemFreeHost",
                                              "cuMemHostGetDevicePointer",
                                              "cuStreamDestroy",
                                              "cuEventDestroy",
                                              "cuEventSynchronize",
                                              "cuGraphExecDestroy",
                                              "cuGraphDestroy"};
  return names;
}

bool is_told(const std::string& text, const std::string& call) {
  return text.find(call) != std::string::npos &&
         (text.find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos || call.starts_with("cuGetError"));
}

}  // namespace

TEST_CASE("without a failure every question is answered") {
  const FakeMachine machine;
  for (const gpu::Use use : {gpu::Use::trace, gpu::Use::events, gpu::Use::count})
    for (const Response& response : all_answers(machine, use))
      CHECK_MESSAGE(response.outcome == Outcome::ok, response.reason);
}

TEST_CASE("a call that fails once is told by its name and error, and leaves a context that survives") {
  std::size_t number = 0;
  for (const std::string& call : driver_calls()) {
    ++number;
    for (int nth : {1, 3}) {
      if (!testing::broad() && nth == 3 && number % 3 != 0) continue;  // later calls of each third function
      CAPTURE(call);
      CAPTURE(nth);
      const FakeMachine machine(failing(call, CUDA_ERROR_OUT_OF_MEMORY, nth));
      bool told = false, lost = false;
      for (const Response& response : all_answers(machine)) {
        CHECK((response.outcome == Outcome::ok) == response.reason.empty());
        const bool names = is_told(response.reason, call);
        told |= names;
        for (const gpu::Capability& capability : response.capabilities) told |= is_told(capability.detail, call);
        lost |= response.context_lost;
        CHECK((response.outcome != Outcome::no_memory || names));
      }
      CHECK_FALSE(lost);
      if (nth == 1 && !quiet().contains(call)) CHECK(told);
    }
  }
}

TEST_CASE("a call that fails for ever crashes nothing") {
  std::size_t number = 0;
  for (const std::string& call : driver_calls()) {
    ++number;
    for (const int error : {700, 12345}) {
      if (!testing::thorough() && (number % 2 == 0) != (error == 700)) continue;  // one error a call, by turns
      if (!testing::broad() && number % 3 == 0) continue;
      CAPTURE(call);
      CAPTURE(error);
      const FakeMachine machine(failing(call, error, 0));
      for (const Response& response : all_answers(machine))
        CHECK((response.outcome == Outcome::ok) == response.reason.empty());
    }
  }
}

TEST_CASE("a driver without a function that is needed is told as old, and without another one goes on") {
#define SPELT(name) #name
#define DRIVER_FUNCTION(name, needed) {SPELT(name), needed},
  const std::vector<std::pair<std::string, bool>> functions = {
#include "profiler/gpu/driver/driver.def"
  };
#undef DRIVER_FUNCTION
#undef SPELT
  for (const auto& [symbol, needed] : functions) {
    CAPTURE(symbol);
    const FakeMachine machine("{}", {symbol});
    const std::vector<Response> answers = all_answers(machine);
    CHECK((answers[0].outcome == Outcome::unavailable) == needed);
    if (needed) CHECK(answers[0].reason.find(symbol) != std::string::npos);
    REQUIRE_FALSE(answers[1].capabilities.empty());
  }
}

TEST_CASE("each error of the table is an outcome of its own kind, once") {
  std::set<int> seen;
  for (const gpu::ErrorRow& row : gpu::error_table()) {
    CHECK(seen.insert(row.error).second);
    CHECK(row.outcome != Outcome::ok);
    if (ir::is_refuted(row.outcome)) CHECK(row.context_lost);
    if (row.outcome == Outcome::no_memory || row.outcome == Outcome::unloadable) CHECK_FALSE(row.context_lost);
  }
}
