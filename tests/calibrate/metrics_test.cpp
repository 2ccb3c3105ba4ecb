// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What makes a prediction good: ranks, regret and recall against values worked out by hand, rivals against lines they
// must find, and scores of predictors whose errors are known. Inputs are lists made here. Part of the suite
// `calibrate`.
#include "calibrate/metrics.h"

#include <doctest/doctest.h>

#include <random>

#include "calibrate/rivals.h"
#include "calibrate/validate.h"
#include "support/approx.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::calibrate;

namespace {

/// Pairs looked at one by one: tau-b by its definition.
double tau_by_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  double same = 0, other = 0, only_a = 0, only_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const double x = a[i] - a[j], y = b[i] - b[j];
      if (x == 0 && y == 0) continue;
      if (x == 0)
        ++only_b;
      else if (y == 0)
        ++only_a;
      else
        ++(x * y > 0 ? same : other);
    }
  return (same - other) / std::sqrt((same + other + only_a) * (same + other + only_b));
}

Sample sample_of(const std::string& operation, const std::string& shape, double bytes, double time,
                 const std::string& variant = "", const std::string& device = "h200") {
  ir::ForeignKernel k{operation, shape, 64, 128, 0, 0, bytes / 2, bytes / 2, variant};
  return foreign_sample(ir::make_observation(device, {}, {time}, {time}, {time}, shape + variant, k));
}

}  // namespace

TEST_CASE("Kendall's tau is what counting all pairs gives, ties included") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < 40; ++i) {
      a.push_back(static_cast<double>(random() % 12));
      b.push_back(static_cast<double>(random() % 12));
    }
    CHECK(*kendall(a, b) == approx(tau_by_pairs(a, b)));
  }
  const std::vector<double> up{1, 2, 3, 4}, down{4, 3, 2, 1}, flat{1, 1, 1, 1};
  CHECK(*kendall(up, up) == 1);
  CHECK(*kendall(up, down) == -1);
  CHECK_FALSE(kendall(up, flat).has_value());
  CHECK_FALSE(kendall(std::vector<double>{1, 2}, std::vector<double>{1, 2}).has_value());
}

TEST_CASE("regret assumes the slower of plans that a model cannot tell apart") {
  const std::vector<double> measured{3, 1, 2, 8};
  CHECK(*regret(std::vector<double>{1, 2, 3, 4}, measured, 1) == 3);
  CHECK(*regret(std::vector<double>{1, 2, 3, 4}, measured, 2) == 1);
  CHECK(*regret(std::vector<double>{1, 1, 1, 1}, measured, 1) == 8);
  CHECK(*recall(std::vector<double>{3, 1, 2, 8}, measured, 2) == 1);
  CHECK(*recall(std::vector<double>{8, 2, 3, 1}, measured, 2) == 0.5);
  CHECK_FALSE(recall(measured, measured, 3).has_value());
  CHECK(relative_error(3, 2) == 0.5);
}

TEST_CASE("rivals find the line and the floor that times were made of, and nothing below 0") {
  std::vector<Sample> samples;
  for (int i = 1; i <= 40; ++i) {
    const double bytes = 1e5 * i * i;
    samples.push_back(sample_of("a f32", std::to_string(i), bytes, std::max(4e-5, 1e-5 + bytes / 1e12)));
  }
  const std::vector<ir::Device> devices{ir::find_device("h200", source_folder() + "/data/devices")};
  for (const Rival& rival : rivals()) {
    CAPTURE(rival.name);
    const Predictor predict = fitted_rival(rival, samples, devices);
    if (rival.name == "the same launch") continue;
    double worst = 0;
    for (const Sample& sample : samples) worst = std::max(worst, relative_error(predict(sample), sample.of.time.value));
    if (rival.name == "max(f, a + b bytes)")
      CHECK(worst < 0.02);
    else
      CHECK(worst > 0.05);
    CHECK(predict(sample_of("b f32", "1", 1e6, 1e-5)) < 0);  // it was fitted to no such operation
  }
  const std::vector<double> bytes{1, 2, 3}, falling{3, 2, 1}, rising{1, 3, 5};
  CHECK(fit_line(bytes, falling).b >= 0);
  CHECK(fit_line(bytes, rising).a >= 0);
}

TEST_CASE("the rival that knows the same launch says another one's time, the nearest, and nothing of itself") {
  std::vector<Sample> train;
  for (const auto& [shape, bytes, time] : {std::tuple("1", 1e6, 10e-6), std::tuple("2", 1.002e6, 12e-6),
                                           std::tuple("3", 1.02e6, 14e-6), std::tuple("4", 1.004e6, 13e-6)})
    train.push_back(sample_of("a f32", shape, bytes, time));
  train[3].work.grid += 1;  // as many bytes in other blocks
  const std::vector<ir::Device> devices{ir::find_device("h200", source_folder() + "/data/devices")};
  const Rival& rival = rivals().back();
  REQUIRE(rival.name == "the same launch");
  const Predictor predict = fitted_rival(rival, train, devices);
  CHECK(predict(sample_of("a f32", "5", 1.0005e6, 1e-6)) == 10e-6);
  CHECK(predict(sample_of("a f32", "5", 1.004e6, 1e-6)) == 12e-6);
  CHECK(predict(train[0]) == 12e-6);
  CHECK(predict(train[2]) < 0);
  CHECK(predict(sample_of("a f32", "5", 2e6, 1e-6)) < 0);
}

TEST_CASE("scores say the errors, ranks and coverage that a predictor has, in cells") {
  std::vector<Sample> samples;
  for (int i = 1; i <= 20; ++i) {
    samples.push_back(sample_of("a f32", std::to_string(i), 1e5 * i, 1e-6 * i * i));
    samples.push_back(sample_of("b f32", "one", 2e6, 1e-6 * i, "plan " + std::to_string(i)));
  }
  const std::vector<Contender> contenders{
      {"right",
       [](const Sample& s) {
         return Guess{s.of.time.value, s.of.time.value * 0.9, s.of.time.value * 1.1, "dram"};
       }},
      {"a tenth too long",
       [](const Sample& s) {
         return Guess{s.of.time.value * 1.1, s.of.time.value * 1.05, s.of.time.value * 1.2, ""};
       }},
      {"only a",
       [](const Sample& s) {
         return Guess{s.operation == "a f32" ? 1e-6 : -1, 0, 0, ""};
       }},
      {"upside down",
       [](const Sample& s) {
         return Guess{1 / s.of.time.value, 0, 0, ""};
       }},
      {"sure of a alone",
       [](const Sample& s) {
         const double sure = s.operation == "a f32" ? s.of.time.value : 0;
         return Guess{s.of.time.value, sure * 0.9, sure * 1.1, ""};
       }},
  };
  const std::vector<Score> all = score(samples, contenders, By::nothing);
  REQUIRE(all.size() == 5);
  CHECK(all[0].median_error == 0);
  CHECK(*all[0].coverage == 1);
  CHECK(*all[0].plan_rank == approx(1.0));
  CHECK(*all[0].regret_1 == 1);
  CHECK(*all[0].bandwidth_rank == approx(1.0));
  CHECK(all[1].mean_error == approx(0.1));
  CHECK(*all[1].coverage == 0);
  CHECK(all[2].samples == 20);
  CHECK_FALSE(all[2].coverage.has_value());
  CHECK(*all[3].plan_tau == approx(-1.0));
  CHECK(*all[3].regret_1 == 20);
  CHECK(*all[3].regret_5 == 16);
  CHECK(*all[3].recall_10 == 0);
  CHECK(*all[4].coverage == 1);  // of those for which it claims an interval
  const std::vector<Score> cells = score(samples, contenders, By::operation);
  REQUIRE(cells.size() == 10);
  CHECK(cells[0].cell == "a f32");
  CHECK_FALSE(cells[0].plan_rank.has_value());
  CHECK(cells[5].cell == "b f32");
  CHECK(cells[7].samples == 0);
  CHECK(score(samples, contenders, By::limiter)[0].cell == "dram");
  CHECK(score(samples, contenders, By::size)[0].cell == "1 - 10 MB");
  CHECK(size_class(999e6) == "100 MB - 1 GB");
  CHECK(size_class(12) == "under 1 MB");
  CHECK(size_class(1e12) == "over 1 GB");
}
