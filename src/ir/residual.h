// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A learned residual as plain numbers: trees whose sum is the logarithm of a factor on the time of a kernel's body.
// Made by calibrate/residual.cpp, kept in a calibration's file, evaluated by costmodel/residual.cpp. Who made the trees
// does not matter here: a build without that library reads and predicts the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace tailor::ir {

/// A node of a tree. A leaf has no feature.
struct TreeNode {
  std::int32_t feature = -1;         ///< place among the features; -1: a leaf
  double value = 0;                  ///< of a leaf what it adds; else: below it the left child decides
  std::int32_t left = 0, right = 0;  ///< places among the tree's nodes, behind this one
  bool operator==(const TreeNode&) const = default;
};
using Tree = std::vector<TreeNode>;  ///< the root first

/// "(2<1.5 -0.01 (0<3 0.02 0.04))": the feature's place, the threshold, both children; a leaf is a number.
std::string text(const Tree& tree);
/// Reads that back. Throws Error(failed) with the place in `text` where it is none, for a feature from `features` up,
/// for numbers that are not finite and for trees deeper than 16.
Tree parse_tree(std::string_view text, std::int32_t features);
/// The sum of the leaves that `values` lead to, as a mean over the first feature from values[0] - width / 2 to
/// values[0] + width / 2. Precondition: a value for each feature that the trees name; width from 0 up.
double sum_of(std::span<const Tree> trees, std::span<const double> values, double width);
/// A bound of how far the sum over the trees falls while the first feature grows and the others stay.
double fall_of(std::span<const Tree> trees);

/// What one feature was over the observations.
struct FeatureRange {
  std::string feature;  ///< a row of costmodel/residual.cpp
  double low = 0, high = 0;
  bool operator==(const FeatureRange&) const = default;
};

/// The most that a smoothed sum may fall while the logarithm of the first feature grows by 1.
inline constexpr double steepest_fall = 0.8;

struct Residual {
  std::string model;                   ///< which it corrects: "projected"
  double width = 0;                    ///< of the smoothing; at least fall_of(trees) / steepest_fall
  double low = 0, high = 0;            ///< the sum of the trees is cut at these; low <= 0 <= high
  std::vector<FeatureRange> features;  ///< in the order in which trees count them
  std::vector<std::string> caches;     ///< states of the cache that were observed: "warm"
  std::vector<std::string> off;        ///< operations for which cross-validation gained nothing
  std::string source;                  ///< what it was learned from and what cross-validation said
  std::vector<Id> observations;        ///< sorted
  std::vector<Tree> trees;
  bool operator==(const Residual&) const = default;
};

}  // namespace tailor::ir
