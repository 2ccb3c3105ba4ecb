// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Least squares: the minimum of problems whose minimum is known, bounds that hold, priors that decide where residuals
// say nothing, wild points that do not decide, intervals that hold the truth as often as they say, and proposals that
// look where something is to be learned. Inputs are lines with seeded noise. Part of the suite `calibrate`.
#include "calibrate/least_squares.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "support/approx.h"

using namespace tailor::calibrate;

namespace {

/// r_i = a + b t_i - y_i, t from 0 to 1.
struct LineProblem {
  std::vector<double> y;
  double at(std::size_t i) const { return static_cast<double>(i) / static_cast<double>(y.size() - 1); }
  Residuals residuals() const {
    return [this](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out) {
      for (std::size_t n = 0; n < which.size(); ++n) out[n] = x[0] + x[1] * at(which[n]) - y[which[n]];
    };
  }
};

LineProblem noisy_line(double a, double b, std::size_t count, double noise, unsigned seed) {
  std::mt19937_64 random(seed);
  LineProblem line{std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    double normal = -6;  // twelve uniform ones: the same on every machine
    for (int k = 0; k < 12; ++k) normal += static_cast<double>(random() >> 11) * 0x1p-53;
    line.y[i] = a + b * line.at(i) + noise * normal;
  }
  return line;
}

std::vector<Unknown> wide() { return {{0, -10, 10, 0, 100, {}}, {0, -10, 10, 0, 100, {}}}; }

}  // namespace

TEST_CASE("a line is found, and its interval holds the truth in nine cases of ten") {
  int inside_a = 0, inside_b = 0;
  constexpr int trials = 400;
  for (unsigned seed = 1; seed <= trials; ++seed) {
    const LineProblem line = noisy_line(1, 2, 60, 0.05, seed);
    const Solution found = solve(wide(), line.y.size(), line.residuals());
    CHECK(std::abs(found.x[0] - 1) < 0.1);
    inside_a += std::abs(found.x[0] - 1) < 1.6449 * found.deviation(0) ? 1 : 0;
    inside_b += std::abs(found.x[1] - 2) < 1.6449 * found.deviation(1) ? 1 : 0;
  }
  CHECK(inside_a > 0.84 * trials);
  CHECK(inside_a < 0.95 * trials);
  CHECK(inside_b > 0.84 * trials);
  CHECK(inside_b < 0.95 * trials);
}

TEST_CASE("bounds hold, and what they cut off goes to the others") {
  const LineProblem line = noisy_line(1, 2, 60, 0.01, 3);
  std::vector<Unknown> unknowns = wide();
  unknowns[1].high = 1.5;
  const Solution found = solve(unknowns, line.y.size(), line.residuals());
  CHECK(found.x[1] == 1.5);
  CHECK(found.x[0] == approx(1.25).epsilon(0.02));
}

TEST_CASE("where residuals say nothing of an unknown, it stays at its prior, as wide as before") {
  const LineProblem line = noisy_line(1, 2, 60, 0.01, 4);
  std::vector<Unknown> unknowns = wide();
  unknowns.push_back({0.5, 0, 1, 0.3, 0.2, {}});
  const Solution found = solve(unknowns, line.y.size(), line.residuals());
  CHECK(found.x[2] == approx(0.3));
  CHECK(found.deviation(2) == approx(0.2));
  CHECK(found.x[0] == approx(1).epsilon(0.02));
}

TEST_CASE("a tenth of wild points does not move the line") {
  LineProblem line = noisy_line(1, 2, 100, 0.01, 5);
  for (std::size_t i = 0; i < line.y.size(); i += 10) line.y[i] += 5;
  const Solution found = solve(wide(), line.y.size(), line.residuals());
  CHECK(found.x[0] == approx(1).epsilon(0.03));
  CHECK(found.x[1] == approx(2).epsilon(0.03));
}

TEST_CASE("of two levels the one with more points is found, where a loss that rises for ever stands between") {
  // A quarter of the points are of the first unknown, which has two levels; the others, of the second, say how far
  // points of one level spread.
  double of_huber = 0, of_biweight = 0;
  for (const double share : {0.2, 0.3, 0.4}) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      LineProblem points = noisy_line(0, 0, 400, 0.02, seed);
      std::mt19937_64 random(seed);
      std::size_t slow = 0;
      for (std::size_t i = 0; i < 100; ++i)
        if (static_cast<double>(random() >> 11) * 0x1p-53 < share) {
          points.y[i] += 0.25;
          ++slow;
        }
      const Residuals two = [&](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out) {
        for (std::size_t n = 0; n < which.size(); ++n) out[n] = x[which[n] < 100 ? 0 : 1] - points.y[which[n]];
      };
      const Solution between = solve(wide(), 400, two), found = solve(wide(), 400, two, {}, 2e-3, Loss::biweight);
      CAPTURE(share);
      CAPTURE(seed);
      if (slow > 45) continue;  // hardly more of one than of the other
      CHECK(std::abs(found.x[0]) < 0.01);
      of_huber += std::abs(between.x[0]);
      of_biweight += std::abs(found.x[0]);
      CHECK(found.weightless >= slow);
      CHECK(found.weightless < slow + 3);
    }
  }
  CHECK(of_biweight < of_huber / 5);
}

TEST_CASE("without a second level the biweight says what Huber's loss says, and its interval holds as often") {
  int inside = 0;
  double apart = 0;
  constexpr int trials = 200;
  for (unsigned seed = 1; seed <= trials; ++seed) {
    const LineProblem line = noisy_line(1, 2, 60, 0.05, seed);
    const Solution one = solve(wide(), line.y.size(), line.residuals());
    const Solution other = solve(wide(), line.y.size(), line.residuals(), {}, 2e-3, Loss::biweight);
    apart = std::max(apart, std::abs(one.x[1] - other.x[1]) / one.deviation(1));
    inside += std::abs(other.x[1] - 2) < 1.6449 * other.deviation(1) ? 1 : 0;
  }
  CHECK(apart < 0.8);
  CHECK(inside > 0.84 * trials);
  CHECK(inside < 0.95 * trials);
}

TEST_CASE("an unknown that moves few residuals is asked of those alone, and the answer is the same") {
  const LineProblem line = noisy_line(1, 2, 40, 0.02, 6);
  std::vector<Unknown> some = wide();
  for (std::size_t i = 1; i < 40; ++i) some[1].moves.push_back(i);  // at t = 0 the slope says nothing
  const Solution whole = solve(wide(), 40, line.residuals()), part = solve(some, 40, line.residuals());
  CHECK(whole.x == part.x);
  CHECK(solve(wide(), 40, line.residuals()).x == whole.x);
}

TEST_CASE("the first row that is chosen leaves the least error of all predictions, against each row by itself") {
  const double noise = 0.3, first = 2, second = 0.7;  // and widths of the priors
  const std::vector<Unknown> unknowns = {{0, -10, 10, 0, first, {}}, {0, -10, 10, 0, second, {}}};
  std::mt19937_64 random(5);
  for (int round = 0; round < 30; ++round) {
    std::vector<double> rows;
    for (int i = 0; i < 2 * 12; ++i) rows.push_back(static_cast<double>(random() % 1000) / 500 - 1);
    double least = 1e9;
    std::size_t best = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      // The covariance is the inverse of the information, two by two.
      const double a = rows[2 * i], b = rows[2 * i + 1], weight = 1 / (noise * noise);
      const double p = 1 / (first * first) + a * a * weight, q = a * b * weight,
                   r = 1 / (second * second) + b * b * weight;
      double variance = 0;
      for (std::size_t k = 0; k < 12; ++k) {
        const double c = rows[2 * k], d = rows[2 * k + 1];
        variance += (r * c * c - 2 * q * c * d + p * d * d) / (p * r - q * q) / 12;
      }
      if (variance < least) least = variance, best = i;
    }
    const Order order = most_informative(rows, unknowns, noise, 0, 1);
    CHECK(order.chosen[0].row == best);
    CHECK(order.chosen[0].expected_deviation == approx(std::sqrt(least)));
  }
}

TEST_CASE("what is most informative is where unknowns differ most, then what is left to learn") {
  // Rows are (1, t): the middle of a line says most about all of it, then an end about its slope.
  std::vector<double> rows;
  for (int i = 0; i <= 10; ++i) {
    rows.push_back(1);
    rows.push_back(i / 10.0);
  }
  const Order order = most_informative(rows, wide(), 0.05, 0, 4);
  const std::vector<Choice>& chosen = order.chosen;
  REQUIRE(chosen.size() == 4);
  CHECK(chosen[0].row == 5);
  CHECK(chosen[1].row == 10);
  CHECK(chosen[1].expected_deviation < chosen[0].expected_deviation);
  CHECK(chosen[3].expected_deviation < 0.1);
  CHECK(order.deviation_before > chosen[0].expected_deviation);
  CHECK(most_informative(rows, wide(), 0.05, 0, 99).chosen.size() == 11);
  // What is known already is never proposed, and the other end is worth most then: rows 0 and 1 are t = 0 and 0.1.
  const Order after = most_informative(rows, wide(), 0.05, 2, 99);
  CHECK(after.chosen.size() == 9);
  CHECK(after.chosen[0].row == 10);
  CHECK(after.deviation_before < order.deviation_before);
}
