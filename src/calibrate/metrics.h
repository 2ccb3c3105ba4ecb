// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What makes a prediction good, as numbers: errors, ranks, regret, recall, coverage. In: predicted and measured times,
// in one order. Out: plain numbers; nothing where there are too few to say. Called by validation; each function is
// tested against values worked out by hand.
#pragma once

#include <optional>
#include <span>

namespace tailor::calibrate {

/// |predicted - measured| / measured. Precondition: measured > 0.
double relative_error(double predicted, double measured);

/// Kendall's tau-b of two lists, from -1 to 1; pairs tied in either count for neither. Nothing for fewer than three,
/// for lists of different length, and where one list is all the same. In time n log n.
std::optional<double> kendall(std::span<const double> a, std::span<const double> b);

/// The best measured time among the `k` of least predicted time, over the best of all: 1 is perfect. Ties of the
/// prediction count as their mean place: the worst of tied ones is assumed. Nothing for no times.
std::optional<double> regret(std::span<const double> predicted, std::span<const double> measured, std::size_t k);
/// Of the `k` fastest measured, the share that is among the `k` of least predicted time. Nothing for fewer than 2k.
std::optional<double> recall(std::span<const double> predicted, std::span<const double> measured, std::size_t k);

}  // namespace tailor::calibrate
