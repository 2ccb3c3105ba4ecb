// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A compiler that takes too long, waits, dies, talks nonsense or is stopped: each is an answer about the one text, and
// the next text is compiled as if nothing had been. Compilers that go wrong are the shell's, and NVRTC is only needed
// where one is right. Part of the suite `profiler`.
#include "profiler/compile/compiler.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "profiler/compile/pool.h"
#include "profiler/kernels.h"
#include "profiler/measure/test_worker.h"

using namespace tailor;
using namespace tailor::profiler;
using ir::CompileOutcome;

namespace {

using Timer = std::chrono::steady_clock;

double since(Timer::time_point start) { return std::chrono::duration<double>(Timer::now() - start).count(); }

/// What is known of NVRTC without loading it.
Nvrtc unloaded() {
  Nvrtc api;
  api.major = 13;
  api.archs = {90};
  return api;
}

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }
std::vector<std::string> endless() { return shell("while :; do :; done"); }
std::vector<std::string> right() { return {tests::test_worker(), "--compiler"}; }

ir::Binary asked(const CompilerSetup& setup, const CompileRequest& request = {.cuda = kernels::scaled(1)}) {
  const Nvrtc api = unloaded();
  Compiler compiler(api, setup);
  ir::Binary binary = compiler.compile(request, {});
  CHECK(binary.source == source_id(api, request));
  CHECK(binary.arch == "sm_90");
  CHECK(binary.cubin.empty());
  return binary;
}

}  // namespace

TEST_CASE("a text that takes too long on a processor is given up, for good") {
  const ir::Binary binary = asked({endless(), {0.05}});
  CHECK(binary.outcome == CompileOutcome::too_long);
  CHECK(binary.compile_time.value == 0.05);
  CHECK(binary.log == "compiling takes over 50.0 ms of processor time: given up (--compile-limit)\n");
  CHECK(is_final(binary));
  CHECK(ir::has_no_kernel(binary.outcome));
}

TEST_CASE("one that waits is given up for now") {
  const Timer::time_point start = Timer::now();
  const ir::Binary binary = asked({shell("sleep 100"), {10}, {0.1}});
  CHECK(since(start) >= 0.1);
  CHECK(binary.outcome == CompileOutcome::too_long);
  CHECK(binary.log.starts_with("compiling did not end while over 100 ms passed"));
  CHECK_FALSE(is_final(binary));
}

TEST_CASE("a compiler that dies or talks nonsense says nothing final of the text") {
  const ir::Binary died = asked({shell("echo out of memory >&2; kill -SEGV $$"), {10}});
  CHECK(died.outcome == CompileOutcome::failed);
  CHECK(died.log == "the compiler died: it was ended by signal 11 (Segmentation fault); it said: out of memory\n");
  CHECK_FALSE(is_final(died));
  const ir::Binary nonsense = asked({{tests::test_worker(), "nonsense"}, {10}});
  CHECK(nonsense.outcome == CompileOutcome::failed);
  CHECK(nonsense.log == "the compiler died: its answer cannot be read\n");
  CHECK_FALSE(is_final(nonsense));
}

TEST_CASE("a process that cannot be started says nothing of a text at all") {
  const Nvrtc api = unloaded();
  Compiler compiler(api, {{"/no/such/program"}, {10}});
  CHECK_THROWS_WITH_AS(compiler.compile({.cuda = "x"}, {}),
                       doctest::Contains("no process to compile in: /no/such/program cannot be started"), Error);
}

TEST_CASE("a stop ends a compile at once") {
  const Nvrtc api = unloaded();
  Compiler compiler(api, {endless(), {100}});
  std::stop_source source;
  std::jthread asking([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    source.request_stop();
  });
  const Timer::time_point start = Timer::now();
  const ir::Binary binary = compiler.compile({.cuda = "x"}, source.get_token());
  CHECK(since(start) < 5);
  CHECK(binary.outcome == CompileOutcome::failed);
  CHECK_FALSE(is_final(binary));
}

TEST_CASE("what a process compiles is what this one does") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  Compiler compiler(*api, {right(), {60}});
  for (const CompileRequest& request :
       {CompileRequest{.cuda = kernels::scaled(1)}, CompileRequest{.cuda = "this is no CUDA", .file = "other.cu"},
        CompileRequest{.cuda = kernels::scaled(2), .arch = "sm_20"},
        CompileRequest{.cuda = kernels::scaled(3), .line_info = false, .options = {"--define-macro=A=1"}}}) {
    const ir::Binary here = profiler::compile(*api, request), there = compiler.compile(request, {});
    CHECK(here.outcome == there.outcome);
    CHECK(here.source == there.source);
    CHECK(here.log == there.log);
    CHECK(here.ptx == there.ptx);
    CHECK(here.cubin == there.cubin);
    CHECK(here.registers == there.registers);
  }
}

TEST_CASE("a stage goes on behind what took too long, and asks again only where it may take longer") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const kernels::OwnFolder folder("limit");
  const BinaryCache cache{folder.path};
  const std::vector<CompileRequest> requests{{.cuda = kernels::scaled(1)}, {.cuda = kernels::scaled(2)}};
  const auto stage = [&](std::vector<std::string> command, double limit) {
    return compile_all(*api, requests, {.workers = 1, .cache = &cache, .compiler = {std::move(command), {limit}}});
  };
  const CompiledAll first = stage(endless(), 0.04);
  for (const auto& binary : first.binaries) CHECK(binary.value().outcome == CompileOutcome::too_long);
  CHECK(first.account.compiled == 2);
  const CompiledAll again = stage(right(), 0.04), less = stage(right(), 0.02);
  for (const auto& binary : again.binaries) CHECK(binary.value().outcome == CompileOutcome::too_long);
  CHECK(again.account.cached == 2);
  CHECK(less.account.cached == 2);
  const CompiledAll more = stage(right(), 60);
  for (const auto& binary : more.binaries) CHECK(binary.value().outcome == CompileOutcome::ok);
  CHECK(more.account.cached == 0);
  CHECK(stage(right(), 0.04).account.cached == 2);
}
