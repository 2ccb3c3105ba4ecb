// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a machine is said to be able to do: a machine with everything, one with nothing, and those in between, each
// made of the fake driver, NVML and CUPTI with something missing or refused. Every capability that is not there must
// come with its reason and a remedy. The machine the test runs on is asked as well and must get some answer. Part of
// the suite `gpu`.
#include "profiler/gpu/session/capabilities.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/request/library_paths.h"
#include "profiler/gpu/session/gpu.h"
#include "support/paths.h"

namespace {

using namespace tailor;
using namespace tailor::tests;
using gpu::Capability;

std::vector<Capability> layers(std::string_view configuration, const std::vector<std::string>& without = {},
                               gpu::Use use = gpu::Use::trace) {
  const FakeMachine machine(configuration, without);
  return gpu::Gpu().answer(gpu::CapabilitiesRequest{machine.library_paths(), 0, use}).capabilities;
}

/// "state: detail" of a capability; empty when there is none of the name.
std::string found(const std::vector<Capability>& all, std::string_view name) {
  const auto one =
      std::find_if(all.begin(), all.end(), [&](const Capability& capability) { return capability.name == name; });
  return one == all.end() ? "" : one->state + ": " + one->detail;
}

/// A folder like /proc with these two lines.
Capability permission(std::string_view parameter, std::string_view capabilities) {
  const auto proc = std::filesystem::temp_directory_path() / fmt::format("tailor_proc_{}", getpid());
  std::filesystem::create_directories(proc / "driver/nvidia");
  std::filesystem::create_directories(proc / "self");
  std::ofstream(proc / "driver/nvidia/params") << "EnableMSI: 1\n" << parameter << "\nOther: 2\n";
  std::ofstream(proc / "self/status") << "Name:\ttailor\nCapEff:\t" << capabilities << "\n";
  const Capability capability = gpu::permission_capability(proc);
  std::filesystem::remove_all(proc);
  return capability;
}

}  // namespace

TEST_CASE("a machine with everything has all layers, in order, and a remedy for each that is not ok") {
  const std::vector<std::string> first = {"driver", "GPU", "NVML"};
  const std::vector<std::string> last = {"MIG", "ECC", "clocks", "power cap", "persistence", "other processes"};
  const std::pair<gpu::Use, std::vector<std::string>> rows[] = {
      {gpu::Use::trace, {"CUPTI", "kernel timestamps", "other profilers"}},
      {gpu::Use::events, {}},
      {gpu::Use::count, {"CUPTI", "counter permission", "counters"}}};
  for (const auto& [use, own] : rows) {
    std::vector<std::string> wanted = first;
    wanted.insert(wanted.end(), own.begin(), own.end());
    wanted.insert(wanted.end(), last.begin(), last.end());
    const std::vector<Capability> all = layers("{}", {}, use);
    REQUIRE(all.size() == wanted.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].name == wanted[i]);
      CHECK((all[i].state == "ok") == all[i].remedy.empty());
      if (all[i].name != "clocks" && all[i].name != "counter permission")
        CHECK_MESSAGE(all[i].state == "ok", all[i].detail);
      CHECK_FALSE(all[i].detail.empty());
    }
  }
  const std::vector<Capability> all = layers("{}");
  CHECK(found(all, "driver").starts_with("ok: CUDA 13.0, "));
  CHECK(found(all, "GPU") ==
        "ok: Stand-in for an NVIDIA H200, GPU-0123abcd-4567-89ef-0123-456789abcdef, number 0 of 1, sm_90");
}

TEST_CASE("a machine without a driver, or with one that finds no GPU, says that and no more") {
  const auto nothing =
      gpu::Gpu().answer(gpu::CapabilitiesRequest{{"/nowhere/libcuda.so", {}, {}, {}, {}}, 0}).capabilities;
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].name == "driver");
  CHECK(nothing[0].state == "missing");
  CHECK_FALSE(nothing[0].remedy.empty());
  const std::vector<Capability> none = layers(R"({"chip": {"count": 0}})");
  REQUIRE(none.size() == 2);
  CHECK(found(none, "GPU") == "missing: cuInit: CUDA_ERROR_NO_DEVICE, no CUDA-capable device is detected");
}

TEST_CASE("this machine, whatever it is, gets an answer") {
  const auto response =
      gpu::Gpu().answer(gpu::CapabilitiesRequest{gpu::default_library_paths({source_folder() + "/.venv"}), 0});
  CHECK(response.outcome == ir::Outcome::ok);
  CHECK_FALSE(response.capabilities.empty());
}

TEST_CASE("each limit of a GPU's state is told") {
  CHECK(found(layers(R"({"mig": true})"), "MIG").starts_with("limited: on"));
  CHECK(found(layers(R"({"ecc": false})"), "ECC") == "ok: off");
  CHECK(found(layers(R"({"persistence": false})"), "persistence").starts_with("limited: off"));
  CHECK(found(layers(R"({"power_limit": 500})"), "power cap") == "limited: 120 W now, 500 W allowed, 700 W by default");
  CHECK(found(layers(R"({"other_processes": 2})"), "other processes").starts_with("limited: on the GPU: "));
  CHECK(found(layers(R"({"other_processes": 100})"), "other processes").empty());
  CHECK(found(layers(R"({"throttle": [{"launches": 0, "reasons": 4}]})"), "clocks").find("held back: power cap") !=
        std::string::npos);
  CHECK(found(layers(R"({"nvml_clocks": false})"), "clocks").empty());
}

TEST_CASE("another profiler and a missing permission are told with their remedies") {
  const std::vector<Capability> held = layers(R"({"other_subscriber": true})");
  CHECK(found(held, "kernel timestamps").find("held by 'Nsight Systems'") != std::string::npos);
  CHECK(found(held, "other profilers").starts_with("limited: "));
  CHECK(permission("RmProfilingAdminOnly: 0", "0000000000000000").state == "ok");
  CHECK(permission("RmProfilingAdminOnly: 1", "0000000000000000").state == "missing");
  CHECK(permission("RmProfilingAdminOnly: 1", "0000000000200000").detail.ends_with("CAP_SYS_ADMIN"));
  CHECK(permission("RmProfilingAdminOnly: 1", "0000004000000000").detail.ends_with("CAP_PERFMON"));
  CHECK(permission("", "000001ffffffffff").detail == "the driver does not tell who may read counters");
  CHECK(gpu::permission_capability("/nowhere").state == "ok");
}

TEST_CASE("an older CUPTI serves what it has, and an older NVML only tells less") {
  const std::vector<std::string> lacking = {"cuptiRangeProfilerEnable", "cuptiSubscribe_v2"};
  CHECK(found(layers("{}", lacking), "kernel timestamps").starts_with("ok"));
  CHECK(found(layers("{}", lacking, gpu::Use::count), "counters") == "missing: CUPTI has no cuptiRangeProfilerEnable");
  CHECK(found(layers("{}", {"cuptiActivityEnable"}), "kernel timestamps") ==
        "missing: CUPTI has no cuptiActivityEnable");
  CHECK(found(layers("{}", {"nvmlDeviceGetMigMode"}), "MIG").empty());
  CHECK(found(layers("{}", {"nvmlInit_v2"}), "NVML").starts_with("missing: "));
}
