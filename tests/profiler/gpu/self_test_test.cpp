// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The GPU's self-test is itself tested: on a fake GPU that is healthy nothing fails, and on one with a planted fault
// the test that should see it fails. Real GPUs have none of these faults, one hopes; that is why they are planted. The
// program is started as a person would start it. Part of the suite `gpu`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "profiler/gpu/fake_machine.h"
#include "support/paths.h"
#include "support/thorough.h"

namespace {

using namespace tailor;
using namespace tailor::tests;

/// A run of the program: its exit code, and verdict and figure by test.
struct SelfTested {
  int code = -1;
  std::map<std::string, std::pair<std::string, std::string>> found;
  std::string verdict(const std::string& test) const {
    const auto at = found.find(test);
    return at == found.end() ? "not run" : at->second.first;
  }
};

int code_of(const std::string& options) {
  const int status =
      std::system(fmt::format("'{}' {} >/dev/null 2>&1", built("tests/profiler/gpu/gpu_self_test"), options).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

SelfTested self_tested(const gpu::LibraryPaths& paths, const std::string& only = {}) {
  const std::filesystem::path json =
      std::filesystem::temp_directory_path() / fmt::format("tailor_self_test_{}.json", getpid());
  std::string options = fmt::format("--driver '{0}' --cupti '{0}' --nvml '{0}' --json '{1}' --bytes 1048576 --hang 0.5",
                                    paths.driver.string(), json.string());
  if (!only.empty()) options += fmt::format(" --only '{}'", only);
  SelfTested made;
  made.code = code_of(options);
  REQUIRE(std::filesystem::exists(json));
  const nlohmann::json all = nlohmann::json::parse(read_file(json));
  std::filesystem::remove(json);
  CHECK(all["schema"] == "tailor.self-test/1");
  for (const nlohmann::json& one : all["tests"]) {
    CHECK_FALSE(one["expectation"].get<std::string>().empty());
    made.found[one["name"].get<std::string>()] = {one["verdict"].get<std::string>(), one["figure"].get<std::string>()};
  }
  return made;
}

/// A chip with a small L2, so that overwriting it takes no time of the test, and no noise; with these members too.
std::string chip(const std::string& members = {}, const std::string& beside = {}) {
  return fmt::format(R"({{"chip": {{"l2_bytes": 4194304{}}}, "noise": 0{}}})", members.empty() ? "" : ", " + members,
                     beside.empty() ? "" : ", " + beside);
}

}  // namespace

TEST_CASE("on a healthy GPU no self-test fails and none is left out" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const FakeMachine machine(chip());
  const SelfTested made = self_tested(machine.library_paths());
  CHECK(made.code == 0);
  CHECK(made.found.size() >= 35);
  for (const auto& [test, what] : made.found) CHECK_MESSAGE(what.first == "ok", test << ": " << what.second);
}

TEST_CASE("a planted fault fails the self-test that should see it, and the exit code says so") {
  struct Row {
    const char* test;
    std::string configuration;
  };
  const auto metric = [](const char* name) { return chip({}, fmt::format(R"("metrics": {{"{}": 100000}})", name)); };
  const auto sour = [](const char* call, int nth) {
    return chip({},
                fmt::format(R"("failures": [{{"call": "{}", "nth": {}, "error": 1, "times": 1000000}}])", call, nth));
  };
  const std::vector<Row> rows = {
      {"facts", chip(R"("sm_clock": 1e11)")},
      {"facts", chip(R"("sms": 0)")},
      {"addition", sour("cuLaunchKernelEx", 1)},
      {"cluster of 16", sour("cuFuncSetAttribute", 1)},
      {"grid barrier", sour("cuOccupancyMaxActiveBlocksPerMultiprocessor", 1)},
      {"shared memory", sour("cuFuncSetAttribute", 1)},
      {"cold and warm", chip({}, R"("times": [{"kernel": "copy16", "seconds": 1e-5}])")},
      {"events and activity", chip({}, R"("failures": [{"call": "cuEventElapsedTime", "nth": 0, "error": 1}])")},
      {"empty kernel", chip({}, R"("times": [{"kernel": "empty", "seconds": 1e-3}])")},
      {"graph and stream", chip(R"("graph_gap": 3e-6)")},
      {"SM clock", chip({}, R"("throttle": [{"launches": 0, "reasons": 4, "sm_clock": 3e8}])")},
      {"state", chip({}, R"("temperature": 150)")},
      {"state", chip({}, R"("power": 5000)")},
      {"bytes read from DRAM", metric("dram__bytes_read.sum")},
      {"bytes written to DRAM", chip({}, R"("metrics": {"dram__bytes_write.sum": 1e9})")},
      {"load requests", metric("smsp__inst_executed_op_global_ld_pred_on_any.sum")},
      {"load sectors", metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")},
      {"store requests", metric("smsp__inst_executed_op_global_st_pred_on_any.sum")},
      {"store sectors", metric("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")},
      {"instructions", metric("smsp__inst_executed.sum")},
      {"endless loop", sour("cuStreamSynchronize", 1)},
      {"too much memory", sour("cuMemAlloc", 1)},
      {"trap", sour("cuStreamSynchronize", 1)},
  };
  for (const Row& row : rows) {
    CAPTURE(row.test);
    CAPTURE(row.configuration);
    const FakeMachine machine(row.configuration);
    const SelfTested made = self_tested(machine.library_paths(), row.test);
    CHECK(made.code == 1);
    CHECK_MESSAGE(made.verdict(row.test) == "failed", made.found.begin()->second.second);
  }
}

TEST_CASE("where nobody may count, the tests of counters are skipped with the reason and nothing fails") {
  const FakeMachine machine(chip({}, R"("counters_permitted": false)"));
  const SelfTested made = self_tested(machine.library_paths(), "load requests,store sectors,addition");
  CHECK(made.code == 0);
  CHECK(made.verdict("addition") == "ok");
  for (const char* test : {"load requests", "store sectors"}) {
    CHECK(made.verdict(test) == "skipped");
    CHECK(made.found.at(test).second.size() > 20);
  }
}

TEST_CASE("a GPU before clusters skips their tests") {
  const FakeMachine machine(chip(R"("compute_capability": 80)"));
  const SelfTested made = self_tested(machine.library_paths(), "cluster of 8,cluster of 16,grid barrier");
  CHECK(made.code == 0);
  CHECK(made.verdict("cluster of 8") == "skipped");
  CHECK(made.verdict("cluster of 16") == "skipped");
  CHECK(made.verdict("grid barrier") == "ok");
}

TEST_CASE("without a driver the first test fails with the reason and the rest is skipped") {
  const SelfTested made = self_tested({"/nowhere/libcuda.so", {}, {}, {}, {}});
  CHECK(made.code == 1);
  for (const auto& [test, what] : made.found) {
    CHECK(what.first == (test == "facts" ? "failed" : "skipped"));
    CHECK(what.second.find("/nowhere/libcuda.so") != std::string::npos);
  }
}

TEST_CASE("arguments that the self-test does not know are exit code 2") {
  for (const char* words : {"--wat 1", "--gpu", "--gpu one", "--bytes 7", "--bytes 0", "--only nothing", "--hang x"}) {
    CAPTURE(words);
    CHECK(code_of(words) == 2);
  }
}
