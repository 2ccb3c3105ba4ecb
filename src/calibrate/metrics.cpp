// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks and what a wrong one costs. Two lists of times come in, a number goes out. Called by validation for every cell
// of its tables.
//
// Kendall's tau counts pairs that two lists order alike, less those that they order differently. Sorted by the first
// list, pairs in different order are the inversions of the second, which a merge sort counts on its way (Knight 1966);
// ties of either list are taken out of what could be ordered (tau-b).
//
// Where a model cannot tell two plans apart, a tuner that trusts it may get either: regret assumes the slower one.
#include "calibrate/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tailor::calibrate {

namespace {

/// Inversions of `values`, which are sorted on the way.
std::int64_t sort_counting(std::vector<double>& values, std::vector<double>& room, std::size_t from, std::size_t to) {
  if (to - from < 2) return 0;
  const std::size_t middle = (from + to) / 2;
  std::int64_t inversions = sort_counting(values, room, from, middle) + sort_counting(values, room, middle, to);
  std::size_t left = from, right = middle;
  for (std::size_t at = from; at < to; ++at) {
    if (left < middle && (right == to || values[left] <= values[right])) {
      room[at] = values[left++];
    } else {
      inversions += static_cast<std::int64_t>(middle - left);
      room[at] = values[right++];
    }
  }
  std::copy(room.begin() + static_cast<std::ptrdiff_t>(from), room.begin() + static_cast<std::ptrdiff_t>(to),
            values.begin() + static_cast<std::ptrdiff_t>(from));
  return inversions;
}

double pairs(double n) { return n * (n - 1) / 2; }

/// Pairs of equal neighbours' runs in a sorted list.
template <class Same>
double tied_pairs(std::size_t count, Same&& same) {
  double tied = 0;
  for (std::size_t from = 0; from < count;) {
    std::size_t to = from + 1;
    while (to < count && same(from, to)) ++to;
    tied += pairs(static_cast<double>(to - from));
    from = to;
  }
  return tied;
}

/// Indices by ascending predicted time; of equal ones the slower measured first.
std::vector<std::size_t> by_prediction(std::span<const double> predicted, std::span<const double> measured) {
  std::vector<std::size_t> order(predicted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (predicted[a] != predicted[b]) return predicted[a] < predicted[b];
    return measured[a] != measured[b] ? measured[a] > measured[b] : a < b;
  });
  return order;
}

}  // namespace

double relative_error(double predicted, double measured) { return std::abs(predicted - measured) / measured; }

std::optional<double> kendall(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 3) return std::nullopt;
  const std::size_t n = a.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  std::vector<double> second(n), room(n);
  for (std::size_t i = 0; i < n; ++i) second[i] = b[order[i]];
  const double tied_a = tied_pairs(n, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]]; });
  const double tied_both = tied_pairs(
      n, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]] && b[order[i]] == b[order[j]]; });
  const auto inversions = static_cast<double>(sort_counting(second, room, 0, n));
  const double tied_b = tied_pairs(n, [&](std::size_t i, std::size_t j) { return second[i] == second[j]; });
  const double all = pairs(static_cast<double>(n));
  const double possible = std::sqrt((all - tied_a) * (all - tied_b));
  if (possible == 0) return std::nullopt;
  return (all - tied_a - tied_b + tied_both - 2 * inversions) / possible;
}

std::optional<double> regret(std::span<const double> predicted, std::span<const double> measured, std::size_t k) {
  if (predicted.empty() || predicted.size() != measured.size() || k == 0) return std::nullopt;
  const std::vector<std::size_t> order = by_prediction(predicted, measured);
  double best = measured[order[0]];
  for (std::size_t i = 0; i < std::min(k, order.size()); ++i) best = std::min(best, measured[order[i]]);
  return best / *std::min_element(measured.begin(), measured.end());
}

std::optional<double> recall(std::span<const double> predicted, std::span<const double> measured, std::size_t k) {
  if (predicted.size() != measured.size() || k == 0 || predicted.size() < 2 * k) return std::nullopt;
  std::vector<double> sorted(measured.begin(), measured.end());
  std::sort(sorted.begin(), sorted.end());
  const double slowest_of_best = sorted[k - 1];
  const std::vector<std::size_t> order = by_prediction(predicted, measured);
  std::size_t found = 0;
  for (std::size_t i = 0; i < k; ++i) found += measured[order[i]] <= slowest_of_best ? 1U : 0U;
  return static_cast<double>(found) / static_cast<double>(k);
}

}  // namespace tailor::calibrate
