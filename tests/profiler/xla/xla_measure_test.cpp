// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels on the fake GPU, through a worker process: each is matched and timed, and what one does wrong, or what
// befalls its worker, is the outcome of that one alone. The dump is the small one of tests/data. Part of the suite
// `profiler`; skipped where the fake GPU was not built.
#include "profiler/xla/xla_measure.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "profiler/measure/stop.h"
#include "profiler/xla/shipped.h"
#include "support/fake_gpu.h"
#include "support/paths.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

/// A small L2, so that overwriting it takes no time of the test.
std::string machine_with(const std::string& failures) {
  return fmt::format(R"({{"chip": {{"l2_bytes": 1048576}}, "failures": [{}]}})", failures);
}

/// A fake GPU, a worker that owns it, and the shipped module; gone with the test.
class Fixture {
 public:
  explicit Fixture(const std::string& machine)
      : folder_(fs::temp_directory_path() / fmt::format("tailor_xla_measure_{}", ::getpid())),
        gpu_(fake_gpu(folder_, machine)),
        worker_(setup(gpu_.library)),
        module_(read_xla(choose_module(xla_modules(shipped), ""))) {}
  ~Fixture() {
    std::error_code none;
    fs::remove_all(folder_, none);
  }

  XlaModule& module() { return module_; }
  Worker& worker() { return worker_; }

  /// The module's kernel `number` with `from` replaced by `to` once in its PTX.
  void tamper(std::size_t number, const std::string& from, const std::string& to) {
    XlaKernel& kernel = module_.kernels[number];
    std::string ptx = read_file(kernel.ptx);
    const std::size_t at = ptx.find(from);
    REQUIRE(at != ptx.npos);
    ptx.replace(at, from.size(), to);
    kernel.ptx = folder_ / fmt::format("tampered_{}.ptx", number);
    write_file(kernel.ptx, ptx);
  }

  std::vector<XlaMeasured> measured(const MeasureOptions& how) {
    std::vector<XlaMeasured> all;
    for (const XlaKernel& kernel : module_.kernels) all.push_back(measure_xla(worker_, module_, kernel, 0, how));
    return all;
  }

 private:
  static WorkerSetup setup(const fs::path& library) {
    WorkerSetup setup;
    setup.command = {built("src/cli/tailor"), "--worker"};
    setup.paths = {library, library, library, {}, {}};
    return setup;
  }

  fs::path folder_;
  FakeGpu gpu_;
  Worker worker_;
  XlaModule module_;
};

MeasureOptions quick() {
  MeasureOptions how;
  how.stop_rule = "quick";
  return how;
}

void is_matched(const XlaMeasured& one, std::size_t caches) {
  CHECK(outcome_word(one) == "matched");
  CHECK_MESSAGE(one.result.outcome == ir::Outcome::ok, one.result.reason);
  CHECK(one.result.judged);
  CHECK(one.result.worst <= 1);
  REQUIRE(one.result.times.size() == caches);
  for (const ir::Measurement& measured : one.result.times) {
    CHECK(measured.outcome == ir::Outcome::ok);
    CHECK(static_cast<int>(measured.samples.size()) >= stop_rule("quick").min_samples);
    for (const double seconds : durations(measured.samples)) CHECK(seconds > 0);
    CHECK(measured.gpu.find("H200") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("every kernel of XLA's that ships is matched and timed on the fake GPU under every cache state") {
  if (!has_fake_gpu()) return skip("no fake GPU: built without CUDA's headers");
  Fixture fixture(machine_with(""));
  MeasureOptions how = quick();
  how.caches = {ir::CacheState::cold, ir::CacheState::warm, ir::CacheState::produced};
  const std::vector<XlaMeasured> all = fixture.measured(how);
  CHECK(all.size() == 8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(fixture.module().kernels[i].entry);
    is_matched(all[i], 3);
    CHECK(all[i].result.times[1].protocol.cache == ir::CacheState::warm);
    CHECK(all[i].result.entry.registers > 0);
  }
}

TEST_CASE("a kernel that is wrong, traps or hangs is its own outcome, and the others are timed") {
  if (!has_fake_gpu()) return skip("no fake GPU: built without CUDA's headers");
  Fixture fixture(machine_with(""));
  fixture.tamper(0, "ret;", "FOREVER:\n\tbra FOREVER;\n\tret;");
  fixture.tamper(2, "sub.rn.f32", "add.rn.f32");
  fixture.tamper(4, "ret;", "trap;");
  fixture.tamper(5, ".entry loop_reduce_fusion(", ".entry loop_other(");
  fixture.tamper(6, "st.global", "st.global.nonsense");
  MeasureOptions how = quick();
  how.time_limit = {1};
  const std::vector<XlaMeasured> all = fixture.measured(how);
  REQUIRE(all.size() == 8);
  CHECK(all[0].result.outcome == ir::Outcome::timed_out);
  CHECK(outcome_word(all[2]) == "differs");
  CHECK(all[2].result.outcome == ir::Outcome::wrong);
  CHECK(all[2].result.reason.find("wrong") != std::string::npos);
  CHECK(all[4].result.outcome == ir::Outcome::trapped);
  CHECK(all[5].left_out.has_value());
  CHECK(outcome_word(all[6]) != "matched");
  for (const std::size_t bad : {0, 2, 4}) {
    REQUIRE(all[bad].result.times.size() == 1);
    CHECK(all[bad].result.times[0].samples.empty());
    CHECK(all[bad].result.times[0].outcome == all[bad].result.outcome);
  }
  for (const std::size_t good : {1, 3, 7}) {
    CAPTURE(good);
    is_matched(all[good], 1);
  }
}

TEST_CASE("whichever call ends the worker, one kernel has that outcome and all others are matched") {
  if (!has_fake_gpu()) return skip("no fake GPU: built without CUDA's headers");
  struct Ending {
    const char* call;
    int nth;
  };
  for (const Ending& ending :
       {Ending{"cuLaunchKernelEx", 4}, Ending{"cuLaunchKernelEx", 50}, Ending{"cuModuleLoadDataEx", 4},
        Ending{"cuMemcpyDtoH", 4}, Ending{"cuMemcpyDtoH", 20}}) {
    CAPTURE(std::string(ending.call));
    CAPTURE(ending.nth);
    Fixture fixture(machine_with(
        fmt::format(R"({{"call": "{}", "act": "abort", "nth": {}, "once": true}})", ending.call, ending.nth)));
    const std::vector<XlaMeasured> all = fixture.measured(quick());
    std::size_t ended = 0;
    for (const XlaMeasured& one : all) {
      if (one.result.outcome == ir::Outcome::ok) {
        is_matched(one, 1);
        continue;
      }
      ++ended;
      CHECK_MESSAGE(one.result.outcome == ir::Outcome::crashed, one.result.reason);
    }
    CHECK(ended == 1);
  }
}

TEST_CASE("a kernel beyond the limit, or not bound, is left out and says so") {
  if (!has_fake_gpu()) return skip("no fake GPU: built without CUDA's headers");
  Fixture fixture(machine_with(""));
  const XlaMeasured large = measure_xla(fixture.worker(), fixture.module(), fixture.module().kernels[0], 100, quick());
  REQUIRE(large.left_out);
  CHECK(outcome_word(large) == "too large");
  CHECK(large.left_out->reason.find("the limit is 100") != std::string::npos);
  fixture.module().kernels[0].reason = "not found: PTX";
  const XlaMeasured missing = measure_xla(fixture.worker(), fixture.module(), fixture.module().kernels[0], 0, quick());
  CHECK(outcome_word(missing) == "not bound");
  CHECK_FALSE(fixture.worker().is_running());
}

TEST_CASE(
    "a kernel whose inputs or reference are still made when somebody asks to stop is stopped, and nothing is run") {
  if (!has_fake_gpu()) return skip("no fake GPU: built without CUDA's headers");
  Fixture fixture(machine_with(""));
  std::stop_source asked;
  asked.request_stop();
  MeasureOptions how = quick();
  how.stop = asked.get_token();
  const XlaMeasured stopped = measure_xla(fixture.worker(), fixture.module(), fixture.module().kernels[0], 0, how);
  CHECK(outcome_word(stopped) == "stopped");
  CHECK_FALSE(stopped.left_out);
  CHECK_FALSE(fixture.worker().is_running());
}

TEST_CASE(
    "the whole module is timed as a stream and as a graph; the stream takes longer than its kernels, and copies take "
    "time") {
  if (!has_fake_gpu()) return skip("no fake GPU: built without CUDA's headers");
  Fixture fixture(machine_with(""));
  const std::vector<XlaMeasured> alone = fixture.measured(quick());
  double sum = 0;
  for (const XlaMeasured& one : alone) sum += median_of(durations(one.result.times[0].samples));
  const std::vector<ir::Measurement> times =
      measure_xla_module(fixture.worker(), module_sequence(fixture.module(), 1), quick());
  REQUIRE(times.size() == 2);
  for (const ir::Measurement& measured : times) {
    CHECK_MESSAGE(measured.outcome == ir::Outcome::ok, measured.reason);
    CHECK(measured.protocol.timed_by == ir::TimedBy::events);
    REQUIRE_FALSE(measured.samples.empty());
    CHECK(median_of(durations(measured.samples)) > sum);
  }
  CHECK(times[0].protocol.launch == ir::LaunchMode::stream);
  CHECK(times[1].protocol.launch == ir::LaunchMode::graph);
  CHECK(median_of(durations(times[1].samples)) < median_of(durations(times[0].samples)));

  XlaModuleSequence copying = module_sequence(shipped_copy(), 1);
  std::vector<double> medians;
  for (const bool whole : {true, false}) {
    if (!whole) std::erase_if(copying.sequence.launches, [](const gpu::Launch& one) { return !gpu::is_kernel(one); });
    for (const ir::Measurement& measured : measure_xla_module(fixture.worker(), copying, quick())) {
      REQUIRE_MESSAGE(measured.outcome == ir::Outcome::ok, measured.reason);
      medians.push_back(median_of(durations(measured.samples)));
    }
  }
  CHECK(medians[0] > medians[2] + 1e-6);  // as a stream
  CHECK(medians[1] > medians[3] + 1e-6);  // as a graph

  fixture.tamper(4, "ret;", "trap;");
  const std::vector<ir::Measurement> trapped =
      measure_xla_module(fixture.worker(), module_sequence(fixture.module(), 1), quick());
  REQUIRE(trapped.size() == 2);
  for (const ir::Measurement& measured : trapped) CHECK(measured.outcome == ir::Outcome::trapped);
}
