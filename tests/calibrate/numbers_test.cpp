// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What fits, priors and scores say, said again another way: margins by ranks of what they are taken from, intervals by
// the variance of a sum, lines by their normal equations, priors of a new GPU and works of descriptions by hand. In:
// synthetic samples, devices and calibrations made here. Part of the suite `calibrate`.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/error.h"
#include "calibrate/csv.h"
#include "calibrate/ranges.h"
#include "calibrate/read_csv.h"
#include "calibrate/rivals.h"
#include "calibrate/transfer.h"
#include "calibrate/validate.h"
#include "support/approx.h"
#include "support/thorough.h"
#include "synthetic.h"

namespace tailor::calibrate {

namespace {

std::vector<Sample> side_of(std::span<const Sample> samples, ir::Split split) {
  std::vector<Sample> side;
  for (const Sample& sample : samples)
    if (sample.of.split == split) side.push_back(sample);
  std::sort(side.begin(), side.end(), [](const Sample& a, const Sample& b) { return a.of.id < b.of.id; });
  return side;
}

std::set<Id> ids_in(std::span<const Sample> samples) {
  std::set<Id> ids;
  for (const Sample& sample : samples) ids.insert(sample.of.id);
  return ids;
}

Truth usual_truth() {
  Truth truth;
  truth.set("dram_efficiency", 0.81);
  truth.set("dispatch_floor", 30e-6);
  truth.set("dispatch_floor", 45e-6, "ln f32");
  return truth;
}

ir::Fit fit_of(const std::string& figure, double value, bool fitted = true, const std::string& operation = "") {
  ir::Fit fit{"", figure, value, "", {}, "made here", {}, {}, operation};
  if (fitted) fit.observations = {{1, 1}};
  return fit;
}

Neighbour neighbour_of(const std::string& name, std::vector<ir::Fit> fits, double sms = 1, double clock = 1) {
  Neighbour one{fit_device(), {}};
  one.device.name = one.calibration.device = name;
  one.device.sms.value *= sms;
  one.device.clock.value *= clock;
  one.calibration.fits = std::move(fits);
  return one;
}

const Parameter& parameter_of(std::string_view figure) {
  const auto found = std::find_if(parameters().begin(), parameters().end(),
                                  [&](const Parameter& one) { return one.figure == figure; });
  REQUIRE(found != parameters().end());
  return *found;
}

}  // namespace

TEST_CASE("margins leave out one in twenty on each side of the times that were not fitted to, one rank further out") {
  const std::vector<Sample> samples = timed(usual_truth(), 60, 0.02, 31);
  const std::vector<Sample> validate = side_of(samples, ir::Split::validate);
  REQUIRE(validate.size() >= 40);
  const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
  const Machine machine(fit_device(), fitted.calibration);
  std::vector<double> ratios;
  for (const Sample& one : validate)
    ratios.push_back(one.of.time.value /
                     estimate(*costmodel::find_model("projected"), one, machine.of(one.operation)).total.value);
  std::sort(ratios.begin(), ratios.end());
  // A new time falls below the k-th of n with probability k / (n + 1).
  const auto rank = static_cast<std::size_t>(0.05 * static_cast<double>(ratios.size() + 1));
  REQUIRE(rank >= 1);
  for (const auto& [figure, margin] :
       {std::pair{"projected_low", 1 - ratios[rank - 1]}, {"projected_high", ratios[ratios.size() - rank] - 1}}) {
    CAPTURE(figure);
    const ir::Fit* found = ir::find_fit(fitted.calibration, fit_device().name, figure);
    REQUIRE(found != nullptr);
    CHECK(found->value == approx(margin).epsilon(1e-4));
    CHECK(std::set<Id>(found->observations.begin(), found->observations.end()) == ids_in(validate));
    CHECK(found->source.find("that were not fitted to lie between") != std::string::npos);
  }
  CHECK(fitted.used == static_cast<std::int64_t>(side_of(samples, ir::Split::train).size()));
}

TEST_CASE("with few times apart, margins come from those that were fitted to, and say that they are too narrow") {
  std::vector<Sample> samples = timed(usual_truth(), 45, 0.02, 32);
  int kept = 0;
  std::erase_if(samples, [&](const Sample& one) {
    return one.of.split == ir::Split::validate && ++kept > 18;
  });  // one fewer than is enough
  REQUIRE(kept > 18);
  const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
  const ir::Fit* low = ir::find_fit(fitted.calibration, fit_device().name, "projected_low");
  CHECK(low->source.find("so it is too narrow") != std::string::npos);
  CHECK(std::set<Id>(low->observations.begin(), low->observations.end()) == ids_in(side_of(samples, ir::Split::train)));
}

TEST_CASE("an operation has margins of its own from as many times apart on as have a twentieth on each side" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::vector<Sample> all = timed(usual_truth(), 90, 0.02, 35);
  for (const int enough : {18, 19}) {
    CAPTURE(enough);
    std::vector<Sample> samples = all;
    int kept = 0;
    std::erase_if(samples, [&](const Sample& one) {
      return one.operation == "ln f32" && one.of.split == ir::Split::validate && ++kept > enough;
    });
    REQUIRE(kept > enough);
    const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
    const auto own = std::count_if(
        fitted.calibration.fits.begin(), fitted.calibration.fits.end(),
        [](const ir::Fit& one) { return one.figure.starts_with("projected_") && one.operation == "ln f32"; });
    CHECK(own == (enough == 19 ? 2 : 0));
  }
}

TEST_CASE("an operation's value is a sum, and its interval that of a sum whose parts hang together") {
  const std::vector<Sample> samples = timed(usual_truth(), 15, 0.03, 33);
  const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
  const std::vector<Sample> train = side_of(samples, ir::Split::train);
  std::vector<const Sample*> pointers;
  for (const Sample& one : train) pointers.push_back(&one);
  const Posed posed = pose(pointers, fit_device(), fit_before(), {});
  const Solution solution = solve(posed.unknowns, pointers.size(), posed.residuals, {}, 2e-3, Loss::biweight);
  const std::size_t n = solution.x.size();
  REQUIRE(fitted.moved.size() == n);
  int sums = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> weights(n, 0);  // of the unknowns in the value's scale
    weights[i] = 1;
    for (std::size_t c = 0; c < n; ++c)
      if (!posed.operations[i].empty() && posed.operations[c].empty() && posed.parameters[c] == posed.parameters[i])
        weights[c] = 1, ++sums;
    double x = 0, variance = 0;
    for (std::size_t p = 0; p < n; ++p) {
      x += weights[p] * solution.x[p];
      for (std::size_t q = 0; q < n; ++q) variance += weights[p] * weights[q] * solution.covariance[p * n + q];
    }
    const Parameter& parameter = *posed.parameters[i];
    const double spread = 1.6449 * std::sqrt(std::max(0.0, variance));
    const Moved& moved = fitted.moved[i];
    CAPTURE(moved.figure);
    CAPTURE(moved.operation);
    CHECK(moved.figure == parameter.figure);
    CHECK(moved.operation == posed.operations[i]);
    CHECK(moved.value == approx(unscaled(parameter, x)).epsilon(1e-4));
    CHECK(moved.low == approx(std::max(parameter.low, unscaled(parameter, x - spread))).epsilon(1e-4));
    CHECK(moved.high == approx(std::min(parameter.high, unscaled(parameter, x + spread))).epsilon(1e-4));
    CHECK(moved.shrink == approx(std::sqrt(solution.covariance[i * n + i]) / posed.unknowns[i].width));
  }
  CHECK(sums == 6);  // the floor and the lead of each of three operations
}

TEST_CASE("times of one kernel that differ by ten times contradict each other, either way round") {
  const std::vector<Sample> samples = timed(usual_truth(), 9, 0.02, 34);
  const Sample once = side_of(samples, ir::Split::train).front();
  for (const auto& [times, refused] : {std::pair{9.9, false}, {10.1, true}, {1 / 9.9, false}, {1 / 10.1, true}}) {
    CAPTURE(times);
    std::vector<Sample> both = samples;
    const Seconds other = once.of.time * times;
    both.push_back(foreign_sample(
        ir::make_observation(once.of.device, once.of.regime, other, other, other, "other line 2", once.of.subject)));
    bool said = false;
    try {
      (void)fit(both, fit_device(), fit_before(), {});
    } catch (const Error& error) {
      said = error.message.find("contradict each other") != std::string::npos;
    }
    CHECK(said == refused);
  }
}

TEST_CASE(
    "an unknown that begins at a bound moves inside where the residuals ask for it, and stays where they push out") {
  const auto solved = [](double low, double high, double start) {
    const Residuals line = [](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out) {
      for (std::size_t n = 0; n < which.size(); ++n) {
        const double t = static_cast<double>(which[n]) / 20;
        out[n] = x[0] + x[1] * t - (1 + 2 * t);
      }
    };
    const std::vector<Unknown> unknowns{{0, -10, 10, 0, 100, {}}, {start, low, high, 0, 100, {}}};
    return solve(unknowns, 21, line).x;
  };
  for (const auto& [low, high, start] :
       {std::array{0.0, 5.0, 0.0}, {0.0, 5.0, 5.0}, {-3.0, 3.0, 3.0}, {-3.0, 3.0, -3.0}}) {
    CAPTURE(start);
    const std::vector<double> x = solved(low, high, start);
    CHECK(x[0] == approx(1).epsilon(1e-3));
    CHECK(x[1] == approx(2).epsilon(1e-3));
  }
  // Too steep, too flat: the other unknown takes what is left at the mean of t.
  CHECK(solved(3, 5, 3)[1] == 3);
  CHECK(solved(3, 5, 3)[0] == approx(0.5).epsilon(1e-3));
  CHECK(solved(-5, 1, 1)[1] == 1);
  CHECK(solved(-5, 1, 1)[0] == approx(1.5).epsilon(1e-3));
}

TEST_CASE("a line has the least squares of relative errors, and neither a time below 0 nor a falling one") {
  const std::vector<double> bytes{1, 2, 4, 9}, times{2, 3.5, 5, 12};
  const Line line = fit_line(bytes, times);
  double by_a = 0, by_b = 0;  // the derivatives of the sum of ((a + b x - t) / t)^2
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double error = (line.a + line.b * bytes[i] - times[i]) / (times[i] * times[i]);
    by_a += error;
    by_b += error * bytes[i];
  }
  CHECK(std::abs(by_a) < 1e-12);
  CHECK(std::abs(by_b) < 1e-12);
  const std::vector<double> three{1, 2, 3};
  const Line flat = fit_line(three, std::vector<double>{3, 2, 1});
  CHECK(flat.b == 0);
  CHECK(flat.a == approx((1 / 3.0 + 1 / 2.0 + 1) / (1 / 9.0 + 1 / 4.0 + 1)));
  const Line steep = fit_line(three, std::vector<double>{1, 3, 5});
  CHECK(steep.a == 0);
  CHECK(steep.b == approx((1 + 2 / 3.0 + 3 / 5.0) / (1 + 4 / 9.0 + 9 / 25.0)));
  CHECK(fit_line(std::vector<double>{7}, std::vector<double>{3}).a == approx(3));
}

TEST_CASE("plans are ranked within one shape, one device and one regime, and groups count by their plans") {
  std::vector<Sample> samples;
  const auto add = [&](const std::string& shape, double size, const std::string& device, int plan, double time) {
    const ir::ForeignKernel k{"a f32", shape, 64, 128, 0, 0, size, size, "plan " + std::to_string(plan)};
    samples.push_back(
        foreign_sample(ir::make_observation(device, {}, {time}, {time}, {time}, shape + std::to_string(plan), k)));
  };
  // Three plans ranked the wrong way round, five of a larger shape ranked rightly, and three on a slower GPU.
  for (int i = 0; i < 3; ++i) add("small", 1e5, "h200", i, 1e-6 * (3 - i));
  for (int i = 0; i < 5; ++i) add("large", 1e7, "h200", i, 1e-4 * (1 + i));
  for (int i = 0; i < 3; ++i) add("small", 1e5, "t4", i, 1e-3 * (3 - i));
  const Contender by_number{"by number", [](const Sample& s) {
                              const auto& k = std::get<ir::ForeignKernel>(s.of.subject);
                              Guess guess;
                              guess.time = 1 + static_cast<double>(k.variant.back() - '0') + (k.read > 1e6 ? 100 : 0);
                              return guess;
                            }};
  const Score score = calibrate::score(samples, {&by_number, 1}, By::nothing).front();
  CHECK(*score.plan_tau == approx((5.0 - 3 - 3) / 11));
  CHECK(*score.plan_rank == approx((5.0 - 3 - 3) / 11));
  CHECK(*score.regret_1 == approx((3.0 * 3 + 5 * 1 + 3.0 * 3) / 11));
  CHECK(*score.regret_5 == approx(1.0));
  CHECK_FALSE(score.recall_10.has_value());
}

TEST_CASE("what was observed is the widest of all ranges that hold for the device, to the ends") {
  ir::Calibration calibration;
  calibration.fits = {fit_of("dram_efficiency", 0.8), fit_of("ramp", 1e-6), fit_of("l2_share", 1)};
  calibration.fits[0].ranges = {{"bytes", 150, 400}, {"blocks", 10, 20}, {"threads", 64, 128}};
  calibration.fits[1].ranges = {{"bytes", 100, 200}, {"blocks", 12, 30}};
  calibration.fits[2].device = "t4";
  calibration.fits[2].ranges = {{"bytes", 1, 1000000}};
  const auto said = [&](std::int64_t bytes, std::int64_t blocks, int threads) {
    costmodel::Work work;
    work.buffers.resize(1);
    work.buffers[0].read_bytes = bytes;
    work.virtual_blocks = blocks;
    work.threads = threads;
    return beyond(calibration, "v100_pcie", work);
  };
  using Words = std::vector<std::string>;
  CHECK(said(100, 10, 64).empty());
  CHECK(said(400, 30, 128).empty());
  CHECK(said(99, 10, 64) == Words{"moves 99.0 B, observed were 100 B to 400 B"});
  CHECK(said(401, 31, 63) == Words{"moves 401 B, observed were 100 B to 400 B", "has 31 blocks, observed were 10 to 30",
                                   "has 63 threads per block, observed were 64 to 128"});
  CHECK(beyond({}, "v100_pcie", {}).empty());
  costmodel::Work few, many;
  few.threads = 32, few.virtual_blocks = 700;
  many.threads = 64, many.virtual_blocks = 5;
  const costmodel::Work* works[] = {&few, &many};
  const std::vector<ir::ObservedRange> ranges = ranges_over(works);
  REQUIRE(ranges.size() == 3);
  CHECK(ranges[1] == ir::ObservedRange{"blocks", 5, 700});
  CHECK(ranges[2] == ir::ObservedRange{"threads", 32, 64});
}

TEST_CASE("a prior is the median of what other GPUs were fitted to, as wide as a next one would lie from them") {
  const std::vector<Neighbour> three{
      neighbour_of("a", {fit_of("dram_efficiency", 0.6), fit_of("launch_overhead", 4e-6)}),
      neighbour_of("b", {fit_of("dram_efficiency", 0.9), fit_of("launch_overhead", 4e-6, false)}),
      neighbour_of("c", {fit_of("dram_efficiency", 0.8)})};
  const std::map<std::string, Prior> priors = priors_from(fit_device(), three);
  REQUIRE(priors.contains("dram_efficiency"));
  const double low = std::log(0.6 / 0.8), high = std::log(0.9 / 0.8);
  CHECK(priors.at("dram_efficiency").value == approx(0.8));
  CHECK(priors.at("dram_efficiency").width == approx(std::sqrt((low * low + high * high) / 2 * 4 / 3)));
  CHECK(priors.at("dram_efficiency").source == "3 calibrated GPUs");
  // One GPU says the value, and a tenth of what was believed before is the least width.
  CHECK(priors.at("launch_overhead").value == approx(4e-6));
  CHECK(priors.at("launch_overhead").width == approx(parameter_of("launch_overhead").width / 10));
  CHECK(priors.at("launch_overhead").source == "1 calibrated GPUs");
  CHECK(priors.size() == 2);
  CHECK(priors_from(fit_device(), {}).empty());
}

TEST_CASE("bandwidths go over to another GPU by its SMs and clock, bounds hold, operations keep their ratio") {
  const std::vector<Neighbour> two{
      neighbour_of("a",
                   {fit_of("l2_bandwidth", 2e12), fit_of("dram_efficiency", 5), fit_of("dispatch_floor", 10e-6),
                    fit_of("dispatch_floor", 30e-6, true, "ln f32")},
                   2, 1),
      neighbour_of("b",
                   {fit_of("l2_bandwidth", 6e12), fit_of("dispatch_floor", 40e-6),
                    fit_of("dispatch_floor", 60e-6, true, "ln f32"), fit_of("ramp", 1e-6)},
                   1, 3)};
  const std::map<std::string, Prior> priors = priors_from(fit_device(), two);
  CHECK(priors.at("l2_bandwidth").value == approx(std::sqrt(1e12 * 2e12)));  // 2e12 / 2 and 6e12 / 3
  CHECK(priors.at("dram_efficiency").value == approx(0.97));
  CHECK(priors.at("dispatch_floor").value == approx(20e-6));
  CHECK(priors.at("dispatch_floor of ln f32").value == approx(20e-6 * std::sqrt(3 * 1.5)));
  CHECK(priors.at("ramp").value == approx(1e-6));
}

TEST_CASE("GPUs whose hosts are alike do not say what another host takes, nor its framework") {
  const std::vector<ir::Fit> alike{fit_of("dispatch_floor", 30e-6), fit_of("dispatch_floor", 45e-6, true, "ln f32"),
                                   fit_of("reuse_knee", 4)};
  const std::vector<Neighbour> three{neighbour_of("a", alike), neighbour_of("b", alike), neighbour_of("c", alike)};
  const std::map<std::string, Prior> priors = priors_from(fit_device(), three);
  const double width = parameter_of("dispatch_floor").width;
  CHECK(priors.at("dispatch_floor").width == approx(width));
  CHECK(priors.at("dispatch_floor of ln f32").width == approx(0.4 * width));
  CHECK(priors.at("reuse_knee").width == approx(parameter_of("reuse_knee").width / 10));
}

TEST_CASE("neighbours are near in bandwidth, L2, SMs and clock together, and a GPU is none of its own") {
  const auto at = [](const std::string& name, double dram, double l2, double sms, double clock) {
    Neighbour one = neighbour_of(name, {}, sms, clock);
    one.device.dram_bandwidth.value *= dram;
    one.device.l2_bytes.value *= l2;
    return one;
  };
  // Squares of logarithms: 4 x in one figure is further than 2 x in each of three, and a half as far as a double.
  const std::vector<Neighbour> others{at("four", 1, 4, 1, 1),   at("three", 2, 0.5, 2, 1), at("self", 1, 1, 1, 1),
                                      at("double", 1, 1, 2, 1), at("half", 1, 1, 1, 0.5),  at("near", 1.1, 1, 1, 1),
                                      at("far", 100, 1, 1, 1)};
  std::vector<Neighbour> with_itself = others;
  with_itself[2].device.name = fit_device().name;
  const auto names = [&](std::size_t count) {
    std::string all;
    for (const Neighbour& one : nearest(fit_device(), with_itself, count)) all += one.device.name + " ";
    return all;
  };
  CHECK(names(3) == "near double half ");
  CHECK(names(99) == "near double half three four far ");
  CHECK(names(0).empty());
}

TEST_CASE("each figure is told by the regimes whose times hold it") {
  const auto told = [](const ir::Regime& regime) {
    std::set<std::string_view> figures;
    for (const Parameter& parameter : parameters())
      if (parameter.told_by(regime)) figures.insert(parameter.figure);
    return figures;
  };
  const auto regime = [](ir::CacheState cache, ir::Timer timer, ir::LaunchMode launch) {
    return ir::Regime{cache, timer, launch, ir::includes(timer)};
  };
  using enum ir::Timer;
  const auto cold = ir::CacheState::cold, warm = ir::CacheState::warm;
  const auto plain = ir::LaunchMode::stream;
  const std::set<std::string_view> memory = told(regime(cold, activity, plain));
  std::set<std::string_view> expected = memory;
  CHECK(memory.contains("dram_efficiency"));
  CHECK(memory.contains("ramp"));
  CHECK_FALSE(memory.contains("launch_overhead"));
  CHECK_FALSE(memory.contains("dispatch_floor"));
  CHECK_FALSE(memory.contains("warm_share"));
  expected.insert("launch_overhead");
  CHECK(told(regime(cold, stream, plain)) == expected);
  expected.insert("warm_share");
  CHECK(told(regime(warm, events, plain)) == expected);
  expected.erase("launch_overhead");
  expected.insert("graph_overhead");
  CHECK(told(regime(warm, graph, ir::LaunchMode::graph)) == expected);
  expected.erase("graph_overhead");
  expected.erase("ramp");
  expected.insert({"dispatch_floor", "dispatch_lead"});
  CHECK(told(regime(warm, host, plain)) == expected);
}

TEST_CASE("the work of a description is its numbers in requests, sectors and warps, to the last") {
  const ir::ForeignKernel k{"softmax f32", "64x4096", 64, 256, 1024, 40, 1 << 20, 1 << 19, "",
                            4096,          1 << 21,   3,  6,   10,   4,  100000,  3200};
  const costmodel::Work work = foreign_work(k);
  REQUIRE(work.buffers.size() == 3);
  const costmodel::BufferWork &read = work.buffers[0], &written = work.buffers[1], &common = work.buffers[2];
  CHECK(read.load ==
        costmodel::Traffic{64 * 96, 98176, 3141632});  // own 1,044,480, again 2,097,152: 95.9 requests a block
  CHECK(read.reload_sectors == 65536);
  CHECK(read.read_bytes == 1044480);
  CHECK(read.read_sectors == 32640);
  CHECK(read.block_sectors == 510);
  CHECK(common.load == costmodel::Traffic{512, 8192, 262144});  // 4,096 for each of 64 blocks
  CHECK(common.read_bytes == 4096);
  CHECK(common.read_sectors == 128);
  CHECK(common.block_sectors == 128);
  CHECK(common.reload_sectors == 0);
  CHECK(written.store == costmodel::Traffic{1024, 16384, 524288});
  CHECK(written.written_bytes == 524288);
  CHECK(written.written_sectors == 16384);
  costmodel::Pipes pipes;
  pipes.memory = 6144 + 512 + 1024;
  pipes.xu = 100;
  pipes.shuffle = 10 * 512;
  pipes.barrier = 4 * 512;
  pipes.control = 99900;
  CHECK(work.pipes == pipes);
  CHECK(work.busiest_block == 114840 / 64);
  costmodel::CriticalPath path;
  path.memory = 9;
  path.far = 3;
  path.shuffle = 10;
  path.barrier = 4;
  path.xu = 3200.0 / (256 * 64);
  CHECK(work.critical_path == path);
  CHECK(work.bytes_in_flight == approx(3670016.0 / 16384 / 9));
  CHECK(work.loads_in_flight == 1);
  CHECK(foreign_group(k).bytes_written == 1 << 19);
  CHECK(foreign_sample(ir::make_observation("h200", {}, {1}, {1}, {1}, "a", k)).bytes == (1 << 20) + (1 << 19));
  // What only writes has no trip for data; a warp more for threads that do not fill one.
  CHECK(foreign_work({"init f32", "", 64, 256, 0, 0, 0, 1e6}).critical_path.memory == 0);
  ir::ForeignKernel odd{"a", "", 10, 33, 0, 0, 1e6, 1e6};
  odd.barriers = 3;
  CHECK(foreign_work(odd).barriers == 3 * 2 * 10);
}

TEST_CASE("streams of 2 GiB become times of their bytes, by how many arrays they read and write") {
  const std::vector<ir::Device> devices{ir::find_device("h200", fit_data + "/devices")};
  const auto rows = parse_measurements(
      "gpu,block,blocks_per_sm,init_gbs,read_gbs,scale_gbs,triad_gbs,triad_streams\nH200,256,4,2000,4000,3000,2500,4\n"
      "H200,512,2,,,,2400,3\nH200,,,1,1,1,1,4\n",
      "rows.csv", "", devices);
  REQUIRE(rows.size() == 5);
  constexpr double gib = 2147483648.0;
  struct Row {
    std::string_view operation;
    double read, written, rate;
    std::int64_t threads, blocks;
  };
  const Row expected[] = {{"init f64", 0, gib, 2000e9, 256, 1 << 20},
                          {"read f64", gib, 0, 4000e9, 256, 1 << 20},
                          {"scale f64", gib, gib, 3000e9, 256, 1 << 20},
                          {"triad f64", 3 * gib, gib, 2500e9, 256, 1 << 20},
                          {"triad f64", 2 * gib, gib, 2400e9, 512, 1 << 19}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& k = std::get<ir::ForeignKernel>(rows[i].subject);
    CAPTURE(i);
    CHECK(k.operation == expected[i].operation);
    CHECK(k.read == expected[i].read);
    CHECK(k.written == expected[i].written);
    CHECK(k.threads == expected[i].threads);
    CHECK(k.blocks == expected[i].blocks);
    CHECK(k.shared == (i < 4 ? 233472 / 4 - 1024 : 233472 / 2 - 1024));
    CHECK(rows[i].time.value == approx((k.read + k.written) / expected[i].rate));
    CHECK(rows[i].regime.cache == ir::CacheState::cold);
  }
}

TEST_CASE("bytes are read in bytes, kilobytes, megabytes and gigabytes of a thousand") {
  for (const auto& [column, bytes] :
       {std::pair<std::string, double>{"read_bytes", 7}, {"read_kb", 7e3}, {"read_mb", 7e6}, {"read_gb", 7e9}}) {
    const CsvTable table = parse_csv(column + "\n7\n", "t.csv");
    CHECK(*CsvRow(table, table.rows[0]).quantity("read") == bytes);
  }
  CHECK(size_class(999999) == "under 1 MB");
  CHECK(size_class(1e6) == "1 - 10 MB");
  CHECK(size_class(1e7) == "10 - 100 MB");
  CHECK(size_class(999999999) == "100 MB - 1 GB");
  CHECK(size_class(1e9) == "over 1 GB");
}

}  // namespace tailor::calibrate
