// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The compile stage over many texts: the responses stand in the order of the requests whatever the number of workers,
// equal texts are compiled once, a stop keeps what was done, and a worker's error reaches the caller. Requests are
// good, equal, broken and unsupported ones mixed. Part of the suite `profiler`; skipped without NVRTC.
#include "profiler/compile/pool.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// Good, equal, broken and unsupported requests mixed.
std::vector<CompileRequest> mixture() {
  std::vector<CompileRequest> requests;
  for (int i = 0; i < 8; ++i) {
    CompileRequest request{.cuda = kernels::scaled(i % 5)};
    if (i == 3) request.cuda = "this is no CUDA";
    if (i == 6) request.arch = "sm_20";
    requests.push_back(request);
  }
  return requests;
}

}  // namespace

TEST_CASE("answers do not depend on the number of workers, and stand in the order of the requests") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const std::vector<CompileRequest> requests = mixture();
  const CompiledAll one = compile_all(*api, requests, {.workers = 1});
  const CompiledAll four = compile_all(*api, requests, {.workers = 4});
  REQUIRE(one.binaries.size() == requests.size());
  REQUIRE(four.binaries.size() == requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CAPTURE(i);
    REQUIRE(one.binaries[i]);
    REQUIRE(four.binaries[i]);
    CHECK(one.binaries[i]->source == source_id(*api, requests[i]));
    CHECK(one.binaries[i]->outcome == four.binaries[i]->outcome);
    CHECK(one.binaries[i]->ptx == four.binaries[i]->ptx);
    CHECK(one.binaries[i]->cubin == four.binaries[i]->cubin);
    CHECK(one.binaries[i]->log == four.binaries[i]->log);
  }
  CHECK(one.binaries[3]->outcome == ir::CompileOutcome::failed);
  CHECK(one.binaries[6]->outcome == ir::CompileOutcome::unsupported);
  // Requests 0 and 5, 2 and 7 are equal.
  CHECK(one.account.requests == 8);
  CHECK(one.account.distinct == 6);
  CHECK(one.account.compiled == 6);
}

TEST_CASE("a second run compiles nothing and answers the same") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const kernels::OwnFolder folder("pool");
  const BinaryCache cache{folder.path};
  const std::vector<CompileRequest> requests = mixture();
  const CompiledAll first = compile_all(*api, requests, {.workers = 2, .cache = &cache});
  const CompiledAll second = compile_all(*api, requests, {.workers = 2, .cache = &cache});
  CHECK(first.account.compiled == 6);
  CHECK(second.account.compiled == 0);
  CHECK(second.account.cached == 6);
  CHECK(second.account.in_compiler.value == 0);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CHECK(second.binaries[i]->cached);
    CHECK(packed(*first.binaries[i]) == packed(*second.binaries[i]));
  }
}

TEST_CASE("progress begins at nothing and counts up to the end, one call at a time") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  std::vector<std::size_t> seen;
  const auto note = [&](const CompileProgress& progress) {
    CHECK(progress.total == 6);
    seen.push_back(progress.done);
  };
  compile_all(*api, mixture(), {.workers = 3, .progress = note});
  CHECK(seen == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a stop leaves what was not begun empty and keeps what was done") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  std::stop_source stop;
  const auto stop_after_two = [&](const CompileProgress& progress) {
    if (progress.done == 2) stop.request_stop();
  };
  const CompiledAll all =
      compile_all(*api, mixture(), {.workers = 1, .stop = stop.get_token(), .progress = stop_after_two});
  CHECK(all.binaries[0].has_value());
  CHECK(all.binaries[1].has_value());
  CHECK_FALSE(all.binaries[2].has_value());
  CHECK_FALSE(all.binaries[4].has_value());
  CHECK(all.account.compiled == 2);
}

TEST_CASE("a compilation that was stopped says so, and is not kept as a failed one") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr || api->nvrtcSetFlowCallback == nullptr) return;
  std::stop_source stop;
  stop.request_stop();
  const ir::Binary binary = compile(*api, {.cuda = kernels::scaled(1)}, stop.get_token());
  if (binary.outcome == ir::CompileOutcome::ok) return;  // it was faster than the first question
  CHECK(binary.log == "interrupted while it was compiled\n");
  CHECK_FALSE(is_final(binary));
}

TEST_CASE("a worker's error reaches the caller") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const std::vector<CompileRequest> requests = {{.cuda = kernels::scaled(1)}, {.cuda = "", .arch = "ninety"}};
  CHECK_THROWS_AS(compile_all(*api, requests, {.workers = 2}), Error);
}

TEST_CASE("no requests are no work") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const CompiledAll all = compile_all(*api, {}, {});
  CHECK(all.binaries.empty());
  CHECK(all.account.compiled == 0);
}
