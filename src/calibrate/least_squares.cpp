// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Levenberg and Marquardt's method on residuals r(x), with Huber's weights, priors and bounds. In: a function and
// unknowns. Out: the minimum with its covariance. Called for every calibration.
//
// The cost is the sum of rho(r / s) and of ((x - prior) / width)^2. rho is square up to 1.345 and linear beyond, so
// that a few wild times do not decide; s is the residuals' spread (1.4826 times the median of |r|), taken anew after
// each accepted step until it settles. A step solves (A + lambda diag A) d = g, with A = J' W J / s^2 + 1 / width^2 and
// g the negative gradient. An unknown that stands on its bound and would leave it is held; others are cut at theirs. A
// step is taken when the cost falls; lambda falls with it and rises otherwise.
//
// Some hosts have two speeds: one call in two or three takes a fifth longer, in sizes that nothing tells apart. Between
// two such levels a loss that rises for ever has its minimum in the middle, where no call is. With Loss::biweight the
// minimum of Huber's loss is where a second descent begins: rho is Tukey's biweight, which is flat beyond 4.685
// deviations (Yohai, "High breakdown-point and high efficiency robust estimates for regression", 1987). It goes to the
// level with more observations near by, and those of the other one weigh nothing in the end. s is held during a descent
// and taken anew after it, until it settles; it never grows, or the levels would be one again.
//
// Models are not smooth: whole waves and maxima make steps and kinks. So J is a central difference over a few parts in
// a thousand, wide enough to see over a small step, and no cleverer one would be right.
//
// The covariance is the inverse of A at the minimum. It says how far the observations pin the unknowns down if the
// model is right and errors are independent.
#include "calibrate/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"
#include "base/stop.h"

namespace tailor::calibrate {

namespace {

constexpr double huber = 1.345;      // 95 % as good as squares on normal errors
constexpr double difference = 4e-3;  // half of the step of a central difference
constexpr int most_steps = 80;
constexpr double settled = 1e-7;  // relative fall of the cost that ends it

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

std::vector<std::size_t> every(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

double spread_of_residuals(std::span<const double> residuals, double least_scale) {
  if (residuals.empty()) return least_scale;
  std::vector<double> sizes;
  for (const double r : residuals) sizes.push_back(std::abs(r));
  return std::max(least_scale, 1.4826 * median_of(sizes));
}

constexpr double biweight = 4.685;  // the same of Tukey's
constexpr int most_descents = 8;

/// What a residual costs that is r deviations long, and what it weighs.
double rho(double r, Loss loss) {
  const double size = std::abs(r);
  if (loss == Loss::huber) return size <= huber ? r * r : 2 * huber * size - huber * huber;
  const double near = 1 - std::min(1.0, r * r / (biweight * biweight));
  return biweight * biweight / 3 * (1 - near * near * near);
}
double weight(double r, Loss loss) {
  const double size = std::abs(r);
  if (loss == Loss::huber) return size <= huber ? 1 : huber / size;
  const double near = 1 - std::min(1.0, r * r / (biweight * biweight));
  return near * near;
}

double cost(std::span<const Unknown> unknowns, std::span<const double> x, std::span<const double> residuals,
            double scale, Loss loss) {
  double sum = 0;
  for (const double r : residuals) sum += rho(r / scale, loss);
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    const double d = (x[k] - unknowns[k].prior) / unknowns[k].width;
    sum += d * d;
  }
  return sum;
}

/// A and g at a place; unknowns that are held at a bound by the gradient have no part in a step.
struct Normal {
  Matrix a;
  Vector g;
};
Normal normal_equations(std::span<const Unknown> unknowns, std::span<const double> x, std::span<const double> residuals,
                        std::span<const double> j, double scale, Loss loss) {
  const auto n = static_cast<Eigen::Index>(unknowns.size());
  Normal out{Matrix::Zero(n, n), Vector::Zero(n)};
  std::vector<Eigen::Index> there;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const double* row = &j[i * unknowns.size()];
    const double w = weight(residuals[i] / scale, loss) / (scale * scale);
    there.clear();  // an operation's own unknowns leave most of a row empty
    for (Eigen::Index p = 0; p < n; ++p)
      if (row[p] != 0) there.push_back(p);
    for (const Eigen::Index p : there) {
      out.g(p) -= w * row[p] * residuals[i];
      for (const Eigen::Index q : there) out.a(p, q) += w * row[p] * row[q];
    }
  }
  for (Eigen::Index p = 0; p < n; ++p) {
    const Unknown& u = unknowns[static_cast<std::size_t>(p)];
    out.a(p, p) += 1 / (u.width * u.width);
    out.g(p) -= (x[static_cast<std::size_t>(p)] - u.prior) / (u.width * u.width);
  }
  return out;
}

std::vector<double> stepped(std::span<const Unknown> unknowns, std::span<const double> x, Normal normal,
                            double lambda) {
  const auto n = static_cast<Eigen::Index>(unknowns.size());
  for (Eigen::Index p = 0; p < n; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const bool held = (x[at] <= unknowns[at].low && normal.g(p) < 0) || (x[at] >= unknowns[at].high && normal.g(p) > 0);
    if (held) {
      normal.a.row(p).setZero();
      normal.a.col(p).setZero();
      normal.a(p, p) = 1;
      normal.g(p) = 0;
    }
  }
  normal.a.diagonal() *= 1 + lambda;
  const Vector d = normal.a.ldlt().solve(normal.g);
  std::vector<double> next(x.begin(), x.end());
  for (std::size_t k = 0; k < next.size(); ++k)
    next[k] = std::clamp(x[k] + d(static_cast<Eigen::Index>(k)), unknowns[k].low, unknowns[k].high);
  return next;
}

std::vector<double> flat(const Matrix& matrix) {
  std::vector<double> out;
  for (Eigen::Index p = 0; p < matrix.rows(); ++p)
    for (Eigen::Index q = 0; q < matrix.cols(); ++q) out.push_back(matrix(p, q));
  return out;
}

}  // namespace

double Solution::deviation(std::size_t i) const { return std::sqrt(std::max(0.0, covariance[i * x.size() + i])); }

std::vector<double> jacobian(std::span<const Unknown> unknowns, std::size_t residuals, const Residuals& evaluate,
                             std::span<const double> x, const std::stop_token& stop) {
  std::vector<double> out(residuals * unknowns.size(), 0.0);
  const std::vector<std::size_t> all = every(residuals);
  std::vector<double> at(x.begin(), x.end()), above(residuals), below(residuals);
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    stop_if_asked(stop);
    const std::span<const std::size_t> which = unknowns[k].moves.empty() ? std::span(all) : unknowns[k].moves;
    const double high = std::min(unknowns[k].high, x[k] + difference);
    const double low = std::max(unknowns[k].low, x[k] - difference);
    if (high <= low) continue;
    at[k] = high;
    evaluate(at, which, std::span(above).first(which.size()));
    at[k] = low;
    evaluate(at, which, std::span(below).first(which.size()));
    at[k] = x[k];
    for (std::size_t i = 0; i < which.size(); ++i)
      out[which[i] * unknowns.size() + k] = (above[i] - below[i]) / (high - low);
  }
  return out;
}

namespace {

struct Descent {
  std::span<const Unknown> unknowns;
  const Residuals& evaluate;
  const std::stop_token& stop;
  double least_scale;
  std::vector<double> r;  ///< at the best place

  /// Steps until the cost settles. Of Huber's loss the scale goes with it.
  void run(Solution& best, Loss loss) {
    const std::vector<std::size_t> all = every(r.size());
    std::vector<double> next_r(r.size());
    double lambda = 1e-3;
    std::vector<double> j = jacobian(unknowns, r.size(), evaluate, best.x, stop);
    for (int step = 0; step < most_steps; ++step, ++best.steps) {
      const double now = cost(unknowns, best.x, r, best.scale, loss);
      const Normal normal = normal_equations(unknowns, best.x, r, j, best.scale, loss);
      bool fell = false;
      double fall = 0;
      for (; !fell && lambda < 1e9; lambda *= 4) {
        stop_if_asked(stop);
        const std::vector<double> next = stepped(unknowns, best.x, normal, lambda);
        evaluate(next, all, next_r);
        const double then = cost(unknowns, next, next_r, best.scale, loss);
        if (!(then < now)) continue;
        fell = true;
        fall = (now - then) / now;
        best.x = next;
        r = next_r;
      }
      if (!fell) return;
      lambda = std::max(1e-9, lambda / 12);  // the loop has multiplied once more
      const double scale = loss == Loss::huber ? spread_of_residuals(r, least_scale) : best.scale;
      const bool steady = std::abs(scale - best.scale) < 1e-6 * best.scale;
      best.scale = scale;
      if (fall < settled && steady) return;
      j = jacobian(unknowns, r.size(), evaluate, best.x, stop);
    }
  }
};

}  // namespace

Solution solve(std::span<const Unknown> unknowns, std::size_t residuals, const Residuals& evaluate,
               const std::stop_token& stop, double least_scale, Loss loss) {
  Solution best;
  for (const Unknown& unknown : unknowns) best.x.push_back(unknown.start);
  Descent descent{unknowns, evaluate, stop, least_scale, std::vector<double>(residuals)};
  evaluate(best.x, every(residuals), descent.r);
  best.scale = spread_of_residuals(descent.r, least_scale);
  descent.run(best, Loss::huber);
  for (int turn = 0; loss == Loss::biweight && turn < most_descents; ++turn) {
    descent.run(best, loss);
    const double scale = std::min(best.scale, spread_of_residuals(descent.r, least_scale));
    constexpr double enough = 0.01;
    const bool steady = best.scale - scale < enough * best.scale;
    best.scale = scale;
    if (steady) break;
  }
  for (const double r : descent.r) best.weightless += weight(r / best.scale, loss) == 0 ? 1 : 0;
  const std::vector<double> j = jacobian(unknowns, residuals, evaluate, best.x, stop);
  const Normal normal = normal_equations(unknowns, best.x, descent.r, j, best.scale, loss);
  best.covariance = flat(normal.a.ldlt().solve(Matrix::Identity(normal.a.rows(), normal.a.cols())));
  return best;
}

Order most_informative(std::span<const double> rows, std::span<const Unknown> unknowns, double noise, std::size_t known,
                       std::size_t count) {
  const auto n = static_cast<Eigen::Index>(unknowns.size());
  const std::size_t all = rows.size() / unknowns.size();
  const auto row = [&](std::size_t i) -> Vector {
    return Eigen::Map<const Vector>(rows.data() + i * unknowns.size(), n);
  };
  Matrix covariance = Matrix::Zero(n, n);
  for (Eigen::Index p = 0; p < n; ++p) {
    const double width = unknowns[static_cast<std::size_t>(p)].width;
    covariance(p, p) = width * width;
  }
  const auto observe = [&](std::size_t i) {  // what one more observation leaves (Sherman and Morrison)
    const Vector j = row(i), cj = covariance * j;
    covariance -= cj * cj.transpose() / (noise * noise + j.dot(cj));
  };
  const auto deviation = [&] {
    double variance = 0;
    for (std::size_t i = known; i < all; ++i) variance += row(i).dot(covariance * row(i));
    return std::sqrt(std::max(0.0, variance) / static_cast<double>(std::max<std::size_t>(1, all - known)));
  };
  Matrix asked = Matrix::Zero(n, n);
  for (std::size_t i = known; i < all; ++i) asked += row(i) * row(i).transpose();
  const auto lowers_by = [&](std::size_t i) {  // variance, summed over what may be chosen
    const Vector j = row(i), cj = covariance * j;
    return cj.dot(asked * cj) / (noise * noise + j.dot(cj));
  };
  for (std::size_t i = 0; i < known; ++i) observe(i);
  Order order;
  order.deviation_before = deviation();
  std::vector<bool> taken(all, false);
  while (order.chosen.size() < std::min(count, all - known)) {
    std::size_t best = all;
    double most = -1;
    for (std::size_t i = known; i < all; ++i)
      if (const double gain = taken[i] ? -1 : lowers_by(i); gain > most) {
        most = gain;
        best = i;
      }
    if (best == all) break;
    taken[best] = true;
    observe(best);
    order.chosen.push_back({best, deviation()});
  }
  return order;
}

}  // namespace tailor::calibrate
