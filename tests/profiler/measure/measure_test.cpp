// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of one group from the real lowering and the real compiler, measured on the fake GPU, whose times are planted:
// who is right, who is fastest and what was counted is known beforehand. A plan that is wrong in any way never wins,
// however fast it claims to be.
#include "profiler/measure/measure.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"
#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "ir/graph/number.h"
#include "profiler/check/check.h"
#include "profiler/check/simulate.h"
#include "profiler/check/small_shape.h"
#include "profiler/compile/compile.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/measure/gpu_match.h"
#include "profiler/measure/test_worker.h"
#include "support/approx.h"
#include "support/group_family.h"
#include "support/kernel_cache.h"
#include "support/paths.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;
using ir::CacheState;
using ir::Outcome;
using tests::FakeMachine;

namespace {

constexpr std::int64_t rows = 40, columns = 96;

const ir::Device& h200() {
  static const ir::Device device = ir::find_device("h200", source_folder() + "/data/devices");
  return device;
}

/// A change of a kernel's text, {} in it the number of rows; nothing when `from` is empty.
struct Spoiling {
  std::string from, to;
};
const Spoiling near_value{"0.001", "0.002"};
const Spoiling lost_guard{" < {})", " < 1000000)"};

/// One plan of the layer norm, compiled at both shapes under a kernel name of its own.
struct Built {
  std::string name;
  ir::Kernel kernel;
  ir::Binary binary;
  std::optional<SmallShape> odd;
  ir::Binary odd_binary;
};

const ir::Group& group() {
  static const ir::Group made = ir::make_group(ir::family_member("layernorm_f16"), rows, columns);
  return made;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
}

ir::Binary compiled(const Nvrtc& api, const ir::Kernel& kernel, const ir::Plan& plan, const std::string& suffix,
                    const Spoiling& spoiling) {
  std::string text = codegen::cuda(kernel, &plan);
  if (!spoiling.from.empty()) {
    INFO(text);
    REQUIRE(text.find(spoiling.from) != text.npos);
    replace_all(text, spoiling.from, spoiling.to);
  }
  replace_all(text, kernel.name, kernel.name + suffix);
  ir::Binary binary = kernels::compiled(api, {.cuda = text});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  return binary;
}

Built built(const Nvrtc& api, const std::string& suffix, int lanes, const Spoiling& own = {},
            const Spoiling& odd = {}) {
  const auto ready = codegen::prepare(group());
  const auto& prepared = std::get<codegen::Prepared>(ready);
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.dominant = prepared.dominants.front();
  plan.vector = 1;
  plan.threads_per_row = lanes;
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  codegen::LowerScratch scratch;
  const ir::Limits limits = ir::limits(h200());
  Built made;
  made.name = "plan" + suffix;
  made.kernel = std::get<ir::Kernel>(codegen::lower(prepared, plan, limits, scratch));
  auto small = odd_shape(group(), plan, made.kernel, limits);
  REQUIRE(std::holds_alternative<SmallShape>(small));
  made.odd = std::get<SmallShape>(std::move(small));
  made.binary = compiled(api, made.kernel, plan, suffix, own);
  made.odd_binary =
      compiled(api, made.odd->kernel, plan, suffix, {fmt::format(fmt::runtime(odd.from), made.odd->kept), odd.to});
  return made;
}

const ir::Buffer& first_of(const ir::Kernel& kernel, bool (*wanted)(const ir::Buffer&)) {
  const auto found = std::find_if(kernel.buffers.begin(), kernel.buffers.end(), wanted);
  REQUIRE(found != kernel.buffers.end());
  return *found;
}

/// Right while its output is poisoned, as in a checked run; for ever once it holds results, as when it is timed, and
/// `condition` holds.
Built hanging(const Nvrtc& api, const std::string& suffix, const std::string& condition = "true") {
  Built made = built(api, suffix, 32);
  std::string text = codegen::cuda(made.kernel);
  replace_all(text, made.kernel.name, made.kernel.name + suffix);
  const ir::Buffer& output =
      first_of(made.kernel, [](const ir::Buffer& one) { return is_result(one.role) && one.dtype == ir::DType::f32; });
  const std::size_t kernel = text.rfind("__global__");
  REQUIRE(kernel != text.npos);
  text.insert(text.find('{', kernel) + 1,
              fmt::format("\n  const float seen = *static_cast<const volatile float*>({});\n"
                          "  if (threadIdx.x == 0 && blockIdx.x == 0 && seen == seen && ({}))\n"
                          "    while (true) asm volatile(\"\");\n",
                          output.name, condition));
  made.binary = kernels::compiled(api, {.cuda = text});
  REQUIRE_MESSAGE(made.binary.outcome == ir::CompileOutcome::ok, made.binary.log);
  return made;
}

/// Hangs when it is timed on the inputs of its check: where one element of the first input differs from plain ones.
Built hanging_on_an_edge(const Nvrtc& api, const std::string& suffix) {
  const Reference reference = evaluate_reference(group(), MeasureOptions().seed);
  const std::vector<reference::Tensor> plain = plain_inputs(group(), reference);
  const std::vector<std::byte>&checked = reference.inputs.front().bytes, &timed = plain.front().bytes;
  REQUIRE(checked.size() == timed.size());
  const auto differs = std::mismatch(checked.begin(), checked.end(), timed.begin()).first;
  REQUIRE(differs != checked.end());
  const Built right = built(api, suffix, 32);
  const std::string input = first_of(right.kernel, [](const ir::Buffer& one) {
                              return one.role == ir::BufferRole::input && one.dtype == ir::DType::f16;
                            }).name;
  return hanging(api, suffix,
                 fmt::format("reinterpret_cast<const volatile unsigned char*>({})[{}] == {}", input,
                             differs - checked.begin(), static_cast<int>(*differs)));
}

MeasureRequest candidate(const Built& one) {
  MeasureRequest made;
  made.name = one.name;
  made.kernel_id = id_of(std::string_view(one.name));
  made.own = {&group(), &one.kernel, &one.binary};
  made.odd = ShapedKernel{&one.odd->group, &one.odd->kernel, &one.odd_binary};
  made.odd_is = one.odd->text();
  return made;
}

/// The kernels of all cases, compiled once.
struct Plans {
  explicit Plans(const Nvrtc& api)
      : a(built(api, "_a", 32)),
        b(built(api, "_b", 16)),
        c(built(api, "_c", 8)),
        wrong(built(api, "_wrong", 32, near_value, near_value)),
        wrong_at_odd(built(api, "_odd", 32, {}, near_value)),
        overrun_at_odd(built(api, "_past", 32, {}, lost_guard)),
        hangs(hanging(api, "_hangs")),
        hangs_on_an_edge(hanging_on_an_edge(api, "_edge")) {}
  Built a, b, c, wrong, wrong_at_odd, overrun_at_odd, hangs, hangs_on_an_edge;
};

const Plans* plans_or_skip() {
  if (!has_fake_gpu()) {
    skip("this build has no fake GPU: it was made without CUDA's headers");
    return nullptr;
  }
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return nullptr;
  static const Plans plans(*api);
  return &plans;
}

/// A machine with planted times: pairs of a kernel's suffix and microseconds. `more` are further members.
std::string planted(const std::vector<std::pair<std::string, double>>& times, const std::string& more = "") {
  std::string rows_of_times;
  for (const auto& [suffix, microseconds] : times)
    rows_of_times += fmt::format(R"({}{{"kernel": "{}$", "seconds": {}}})", rows_of_times.empty() ? "" : ", ", suffix,
                                 microseconds * 1e-6);
  return fmt::format(
      R"({{"chip": {{"l2_bytes": 1048576}}, "warp_instructions": 20000, "noise": 0.02, "times": [{}]{}}})",
      rows_of_times, more);
}

MeasureOptions quick() {
  MeasureOptions options;
  options.stop_rule = "quick";
  options.image = ImageForm::ptx;
  return options;
}

MeasuredGroup measured(const FakeMachine& machine, const std::vector<const Built*>& plans,
                       const MeasureOptions& options) {
  WorkerSetup setup;
  setup.command = {tests::test_worker()};
  setup.paths = machine.library_paths();
  Worker worker(setup);
  setup.use = gpu::Use::count;
  Worker counting(setup);
  std::vector<MeasureRequest> candidates;
  for (const Built* one : plans) candidates.push_back(candidate(*one));
  return measure_group(worker, counting, candidates, options);
}

double median(const ir::Measurement& one) { return spread_of(durations(one.samples), 0.95).median; }

gpu::CountPlan counters(const FakeMachine& machine, const std::vector<std::string>& names) {
  auto host = gpu::MetricHost::open(machine.library_paths());
  REQUIRE(std::holds_alternative<gpu::MetricHost>(host));
  return std::get<gpu::MetricHost>(host).plan("GH100", names);
}

}  // namespace

TEST_CASE("right plans are checked at both shapes, judged, and the one planted as fastest wins") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 20}, {"_b", 10}, {"_c", 15}}));
  const MeasuredGroup all = measured(machine, {&plans->a, &plans->b, &plans->c}, quick());
  CHECK(all.unjudged.empty());
  REQUIRE(all.plans.size() == 3);
  const double wanted[] = {20e-6, 10e-6, 15e-6};
  for (std::size_t i = 0; i < 3; ++i) {
    const CandidateResult& plan = all.plans[i];
    CAPTURE(i);
    CHECK_MESSAGE(plan.outcome == Outcome::ok, plan.reason);
    CHECK(plan.judged);
    CHECK(plan.worst > 0);
    CHECK(plan.worst <= 1);
    CHECK(plan.checked_on.starts_with("its own shape and "));
    CHECK(plan.checked_on.ends_with(" of 40 rows"));
    CHECK(plan.entry.blocks_per_sm > 0);
    REQUIRE(plan.times.size() == 1);
    CHECK(median(plan.times[0]) / wanted[i] == approx(1).epsilon(0.03));
    CHECK(plan.times[0].gpu.starts_with("Stand-in for an NVIDIA H200, GPU-"));
    CHECK(plan.times[0].samples.size() >= 10);
  }
  REQUIRE(all.rankings.size() == 1);
  CHECK(all.rankings[0].order == std::vector<int>{1, 2, 0});
  CHECK(all.rankings[0].tie == std::vector<int>{1});
}

TEST_CASE("plans that are equally fast tie") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 10}, {"_b", 10}, {"_c", 16}}));
  const MeasuredGroup all = measured(machine, {&plans->a, &plans->b, &plans->c}, quick());
  std::vector<int> tie = all.rankings.at(0).tie;
  std::sort(tie.begin(), tie.end());
  CHECK(tie == std::vector<int>{0, 1});
  CHECK(all.rankings[0].order.back() == 2);
}

TEST_CASE("where memory lies decides no race: equal plans tie, and a plan that runs twice is not told apart") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 10}, {"_b", 10}, {"_c", 16}}, R"(, "placement": 0.2)"));
  const MeasuredGroup all = measured(machine, {&plans->a, &plans->b, &plans->c}, quick());
  const Ranking& ranking = all.rankings.at(0);
  std::vector<int> tie = ranking.tie;
  std::sort(tie.begin(), tie.end());
  CHECK(tie == std::vector<int>{0, 1});
  CHECK(ranking.order.size() == 3);
  CHECK(ranking.twin.plan == 0);
  CHECK(ranking.twin.samples >= 10);
  CHECK(ranking.twin.ratio == approx(1).epsilon(0.03));
  CHECK_FALSE(ranking.twin.told_apart);
  const ir::Measurement& first = all.plans[0].times.at(0);
  REQUIRE(first.twin);
  CHECK(first.twin->median.value / median(first) == approx(ranking.twin.ratio));
  CHECK(first.twin->low <= first.twin->median);
  CHECK(first.twin->high >= first.twin->median);
  CHECK(first.twin->samples == ranking.twin.samples);
  CHECK_FALSE(all.plans[1].times.at(0).twin);
}

TEST_CASE("a wrong plan never wins, however fast it is, wherever it is wrong") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 20}, {"_wrong", 1}, {"_odd", 2}, {"_past", 3}}));
  MeasureOptions options = quick();
  options.caches = {CacheState::cold, CacheState::warm};
  const MeasuredGroup all =
      measured(machine, {&plans->wrong, &plans->wrong_at_odd, &plans->a, &plans->overrun_at_odd}, options);
  CHECK(all.plans[0].outcome == Outcome::wrong);
  CHECK(all.plans[0].worst > 1);
  CHECK(all.plans[1].outcome == Outcome::wrong);
  CHECK_MESSAGE(all.plans[1].reason.ends_with(" of 40 rows)"), all.plans[1].reason);
  CHECK(all.plans[2].outcome == Outcome::ok);
  CHECK(ir::name(all.plans[3].outcome) == ir::name(Outcome::overrun));
  CHECK_MESSAGE(all.plans[3].reason.find("past the end of") != std::string::npos, all.plans[3].reason);
  REQUIRE(all.rankings.size() == 2);
  for (const Ranking& ranking : all.rankings) {
    CHECK(ranking.order == std::vector<int>{2});
    CHECK(ranking.tie == std::vector<int>{2});
  }
  for (const std::size_t i : {0, 1, 3})
    for (const ir::Measurement& one : all.plans[i].times) {
      CHECK(ir::is_refuted(one.outcome));
      CHECK(one.samples.empty());
    }
}

TEST_CASE("without the odd shape a plan that is wrong only there is not found out, so the odd shape does it") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_odd", 2}}));
  WorkerSetup setup;
  setup.command = {tests::test_worker()};
  setup.paths = machine.library_paths();
  Worker worker(setup);
  MeasureRequest one = candidate(plans->wrong_at_odd);
  one.odd.reset();
  one.odd_is = "no odd shape";
  const MeasuredGroup all = measure_group(worker, worker, {&one, 1}, quick());
  CHECK(all.plans[0].outcome == Outcome::ok);
  CHECK(all.plans[0].checked_on == "its own shape");
}

TEST_CASE("a plan that hangs while it is timed is dropped, and the others finish") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 20}, {"_hangs", 1}, {"_b", 10}}));
  MeasureOptions options = quick();
  options.time_limit = {0.6};
  const MeasuredGroup all = measured(machine, {&plans->a, &plans->hangs, &plans->b}, options);
  CHECK(ir::name(all.plans[1].outcome) == ir::name(Outcome::timed_out));
  CHECK(all.plans[1].times.at(0).outcome == Outcome::timed_out);
  CHECK(all.rankings.at(0).order == std::vector<int>{2, 0});
  CHECK(all.rankings[0].tie == std::vector<int>{2});
  for (const std::size_t i : {0, 2}) {
    CHECK_MESSAGE(all.plans[i].outcome == Outcome::ok, all.plans[i].reason);
    CHECK(all.plans[i].times.at(0).samples.size() >= 10);
  }
}

TEST_CASE("times are taken on inputs without the edges of the check's") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 20}, {"_edge", 10}}));
  MeasureOptions options = quick();
  options.time_limit = {0.6};
  const MeasuredGroup all = measured(machine, {&plans->a, &plans->hangs_on_an_edge}, options);
  CHECK_MESSAGE(all.plans[1].outcome == Outcome::ok, all.plans[1].reason);
  CHECK(all.plans[1].judged);
  CHECK(all.rankings.at(0).order == std::vector<int>{1, 0});
}

TEST_CASE("cold is slower than produced, and produced no faster than warm, under every protocol") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  constexpr double one_tick = 33e-9;  // of the stand-in's clock: equal times may fall on either side of one
  const FakeMachine machine(R"({"chip": {"l2_bytes": 1048576, "dram_bandwidth": 1e9, "l2_bandwidth": 1e10},
    "noise": 0.001})");
  MeasureOptions options = quick();
  options.caches = {CacheState::cold, CacheState::produced, CacheState::warm};
  for (const ir::TimedBy by : {ir::TimedBy::activity, ir::TimedBy::events})
    for (const ir::LaunchMode mode : {ir::LaunchMode::stream, ir::LaunchMode::graph}) {
      options.timed_by = by;
      options.launch = mode;
      const MeasuredGroup all = measured(machine, {&plans->a}, options);
      const CandidateResult& plan = all.plans[0];
      REQUIRE_MESSAGE(plan.outcome == Outcome::ok, plan.reason);
      REQUIRE(plan.times.size() == 3);
      CHECK(median(plan.times[0]) > 1.2 * median(plan.times[1]));
      CHECK(median(plan.times[1]) >= median(plan.times[2]) - one_tick);
      for (std::size_t i = 0; i < 3; ++i)
        CHECK(plan.times[i].protocol == ir::Protocol{options.caches[i], by, mode, "quick"});
    }
}

TEST_CASE("counters equal what the simulator counts, for the fastest plans only, and no time is taken with them") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 20}, {"_b", 10}}));
  MeasureOptions options = quick();
  options.counters = counters(machine, {"dram_read_bytes", "dram_write_bytes", "global_load_requests",
                                        "global_load_sectors", "global_store_requests", "instructions"});
  options.count_top = 1;
  const MeasuredGroup all = measured(machine, {&plans->a, &plans->b}, options);
  CHECK(all.plans[0].times.at(0).counters.empty());
  CHECK_MESSAGE(all.plans[1].uncounted.empty(), all.plans[1].uncounted);
  CHECK(median(all.plans[1].times.at(0)) / 10e-6 == approx(1).epsilon(0.03));

  const Checked checked = check(plans->b.kernel, evaluate_reference(group(), 1),
                                make_simulator(plans->b.kernel, plans->b.binary), CheckOptions{});
  REQUIRE_MESSAGE(checked.state == Verdict::passed, checked.reason);
  double bytes_in = 0, bytes_out = 0, loads = 0, sectors = 0, stores = 0;
  for (std::size_t i = 0; i < plans->b.kernel.buffers.size(); ++i) {
    const ir::Buffer& buffer = plans->b.kernel.buffers[i];
    (is_result(buffer.role) ? bytes_out : bytes_in) +=
        static_cast<double>(buffer.elements * ir::element_bytes(buffer.dtype));
    loads += checked.counts.buffers[i].load.requests;
    sectors += checked.counts.buffers[i].load.sectors;
    stores += checked.counts.buffers[i].store.requests;
  }
  std::vector<double> found;
  for (const ir::CounterValue& one : all.plans[1].times[0].counters) found.push_back(one.value);
  // What it writes stays in L2, which is clean and large enough: nothing is written back meanwhile.
  REQUIRE(bytes_in + bytes_out < 1 << 20);
  CHECK(found == std::vector<double>{bytes_in, 0, loads, sectors, stores, checked.counts.instructions});
}

TEST_CASE("where counters are denied the times are there, and why the counters are not") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 10}}, R"(, "counters_permitted": false)"));
  MeasureOptions options = quick();
  options.counters = counters(machine, {"dram_read_bytes"});
  const MeasuredGroup all = measured(machine, {&plans->a}, options);
  CHECK(all.plans[0].outcome == Outcome::ok);
  CHECK(all.plans[0].times.at(0).samples.size() >= 10);
  CHECK(all.plans[0].times[0].counters.empty());
  CHECK_MESSAGE(!all.plans[0].uncounted.empty(), "no reason");
}

TEST_CASE("clocks that are held down are told with each sample") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  constexpr std::uint32_t power_cap = 4;  // NVML's bit
  const FakeMachine machine(planted(
      {{"_a", 10}}, fmt::format(R"(, "throttle": [{{"launches": 0, "reasons": {}, "sm_clock": 1.2e9}}])", power_cap)));
  const MeasuredGroup all = measured(machine, {&plans->a}, quick());
  REQUIRE(all.plans[0].times.at(0).samples.size() >= 10);
  for (const ir::Sample& sample : all.plans[0].times[0].samples) {
    CHECK((sample.throttle & ir::throttle_power) != 0);
    CHECK(sample.sm_clock == approx(1.2e9).epsilon(0.01));
  }
}

TEST_CASE("a measurement's clocks are those before its first sample, each sample's are its own") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(
      planted({{"_a", 10}}, R"(, "throttle": [{"launches": 200, "reasons": 4, "sm_clock": 1.2e9}])"));
  MeasureOptions options = quick();
  options.stop_rule = "thorough";
  const MeasuredGroup all = measured(machine, {&plans->a}, options);
  const ir::Measurement& one = all.plans[0].times.at(0);
  REQUIRE(one.samples.size() >= 10);
  CHECK(one.samples.front().sm_clock == approx(1.98e9).epsilon(0.01));
  CHECK(one.samples.back().sm_clock == approx(1.2e9).epsilon(0.01));
  CHECK(one.sm_clock == approx(1.98e9).epsilon(0.01));
}

TEST_CASE("every round of checks has inputs of its own, and a stop ends between questions") {
  const Plans* plans = plans_or_skip();
  if (plans == nullptr) return;
  const FakeMachine machine(planted({{"_a", 10}}));
  MeasureOptions options = quick();
  options.checks = 3;
  CHECK(measured(machine, {&plans->a}, options).plans[0].outcome == Outcome::ok);
  std::stop_source stopped;
  stopped.request_stop();
  options.stop = stopped.get_token();
  const MeasuredGroup none = measured(machine, {&plans->a}, options);
  CHECK(none.plans[0].times.at(0).samples.empty());
}

TEST_CASE("a replay asks for the timer that the records have, for all plans of a group the same") {
  std::vector<MeasureRequest> candidates(3);
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].kernel_id = id_of(fmt::format("kernel {}", i));
  const auto replayed = [&](std::vector<ir::TimedBy> known, std::optional<ir::TimedBy> wished) {
    MeasureOptions options = quick();
    options.timed_by = wished;
    const Lookup lookup = [&](Id kernel, const ir::Protocol& protocol) {
      ir::Measurement found;
      found.outcome = Outcome::not_recorded;
      found.protocol = protocol;
      for (std::size_t i = 0; i < known.size(); ++i) {
        if (kernel != candidates[i].kernel_id || protocol.timed_by != known[i]) continue;
        found.outcome = Outcome::ok;
        found.samples.assign(20, ir::Sample{{1e-6 * static_cast<double>(known.size() - i)}});
      }
      return found;
    };
    return replayed_group(lookup, candidates, options).rankings.at(0).order;
  };
  constexpr ir::TimedBy activity = ir::TimedBy::activity, events = ir::TimedBy::events;
  CHECK(replayed({activity, activity, activity}, {}) == std::vector<int>{2, 1, 0});
  CHECK(replayed({events, events, events}, {}) == std::vector<int>{2, 1, 0});
  CHECK(replayed({events, events, activity}, {}) == std::vector<int>{2});
  CHECK(replayed({events, events, activity}, events) == std::vector<int>{1, 0});
  CHECK(replayed({events, events, events}, activity).empty());
}

TEST_CASE("a replay ties the plans whose intervals reach the best plan's, be it only its upper end") {
  std::vector<MeasureRequest> candidates(3);
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].kernel_id = id_of(fmt::format("kernel {}", i));
  const double begins[] = {1.20, 1.00, 1.06};  // us; twenty samples from there, 0.01 apart
  const Lookup lookup = [&](Id kernel, const ir::Protocol& protocol) {
    ir::Measurement found;
    found.outcome = Outcome::ok;
    found.protocol = protocol;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      for (int k = 0; kernel == candidates[i].kernel_id && k < 20; ++k) {
        const int shuffled = k * 7 % 20;  // in no order, or samples would resemble their predecessors
        found.samples.push_back({{1e-6 * (begins[i] + 0.01 * shuffled)}});
      }
    return found;
  };
  // Intervals go from the 6th to the 15th of 20: the best 1.05 to 1.14 about 1.095, the next from 1.11, the last
  // from 1.25.
  const Ranking ranking = replayed_group(lookup, candidates, quick()).rankings.at(0);
  CHECK(ranking.order == std::vector<int>{1, 2, 0});
  CHECK(ranking.tie == std::vector<int>{1, 2});
}

TEST_CASE("a GPU of another kind than its file says differs in every figure that differs") {
  if (!has_fake_gpu()) return skip("this build has no fake GPU: it was made without CUDA's headers");
  const auto differ = [](const std::string& chip) {
    const FakeMachine machine(R"({"chip": )" + chip + "}");
    WorkerSetup setup;
    setup.command = {tests::test_worker()};
    setup.paths = machine.library_paths();
    Worker worker(setup);
    REQUIRE_MESSAGE(worker.opened().outcome == Outcome::ok, worker.opened().reason);
    return mismatches(h200(), worker.opened().properties);
  };
  CHECK(differ("{}").empty());
  struct Figure {
    std::string chip, words;
  };
  for (const Figure& one : {Figure{R"({"sms": 114})", "SMs: the file says 132, the GPU has 114"},
                            Figure{R"({"compute_capability": 80})", "compute capability: the file says 90"},
                            Figure{R"({"threads_per_sm": 1536})", "threads per SM"},
                            Figure{R"({"registers_per_sm": 32768})", "registers per SM"},
                            Figure{R"({"shared_per_sm": 102400})", "shared memory per SM"},
                            Figure{R"({"memory_bytes": 85000000000})", "memory in bytes"},
                            Figure{R"({"l2_bytes": 4194304})", "L2 in bytes"}}) {
    const std::vector<std::string> words = differ(one.chip);
    REQUIRE(words.size() == 1);
    CHECK_MESSAGE(words[0].starts_with(one.words), words[0]);
  }
  CHECK(differ(R"({"sms": 108, "compute_capability": 80, "memory_bytes": 85000000000})").size() == 3);
}
