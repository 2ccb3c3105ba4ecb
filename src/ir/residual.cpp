// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees as text and as numbers. A tree or its text comes in, the other goes out; a sum over trees is all that a
// prediction needs. Called by the reader and the writer of calibrations, and for every estimate that has a residual.
// A mean over the first feature is exact: a tree is constant between thresholds, so where one of them lies inside of
// the interval both children count by their share of it.
#include "ir/residual.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace tailor::ir {

namespace {

void write_node(std::string& out, const Tree& tree, std::int32_t at) {
  const TreeNode& node = tree[static_cast<std::size_t>(at)];
  if (node.feature < 0) {
    out += fmt::format("{}", node.value);
    return;
  }
  out += fmt::format("({}<{} ", node.feature, node.value);
  write_node(out, tree, node.left);
  out += ' ';
  write_node(out, tree, node.right);
  out += ')';
}

struct TreeReader {
  std::string_view text;
  std::int32_t features;
  std::size_t at = 0;
  Tree tree = {};

  [[noreturn]] void fail(std::string_view expected) const {
    throw Error(Fault::failed,
                fmt::format("found '{}' at {} of a tree, expected {}", text.substr(at, 12), at, expected),
                "a tree is (feature<threshold left right) or a number");
  }
  void take(char wanted) {
    if (at >= text.size() || text[at] != wanted) fail(fmt::format("'{}'", wanted));
    ++at;
  }
  template <class Number>
  Number number(std::string_view what) {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (fault != std::errc{} || !std::isfinite(static_cast<double>(value))) fail(what);
    at = static_cast<std::size_t>(end - text.data());
    return value;
  }
  std::int32_t node(int depth) {
    constexpr int deepest = 16;
    if (depth > deepest) fail("a tree no deeper than 16");
    const auto place = static_cast<std::int32_t>(tree.size());
    tree.emplace_back();
    if (at >= text.size() || text[at] != '(') {
      tree.back().value = number<double>("a number");
      return place;
    }
    take('(');
    const auto feature = number<std::int32_t>("the place of a feature");
    if (feature < 0 || feature >= features) fail(fmt::format("a feature from 0 to {}", features - 1));
    take('<');
    const auto threshold = number<double>("a threshold");
    take(' ');
    const std::int32_t left = node(depth + 1);
    take(' ');
    const std::int32_t right = node(depth + 1);
    take(')');
    tree[static_cast<std::size_t>(place)] = {feature, threshold, left, right};
    return place;
  }
};

/// The mean of a tree over the first feature from `from` to `to`.
double mean_of(const Tree& tree, std::int32_t at, std::span<const double> values, double from, double to) {
  const TreeNode* node = &tree[static_cast<std::size_t>(at)];
  while (node->feature >= 0) {
    if (node->feature == 0 && from < node->value && node->value < to)
      return ((node->value - from) * mean_of(tree, node->left, values, from, node->value) +
              (to - node->value) * mean_of(tree, node->right, values, node->value, to)) /
             (to - from);
    const double value = node->feature == 0 ? from : values[static_cast<std::size_t>(node->feature)];
    node = &tree[static_cast<std::size_t>(value < node->value ? node->left : node->right)];
  }
  return node->value;
}

struct Below {
  double least, most, fall;
};
Below fall_below(const Tree& tree, std::int32_t at) {
  const TreeNode& node = tree[static_cast<std::size_t>(at)];
  if (node.feature < 0) return {node.value, node.value, 0};
  const Below left = fall_below(tree, node.left), right = fall_below(tree, node.right);
  const double across = node.feature == 0 ? left.most - right.least : 0;
  return {std::min(left.least, right.least), std::max(left.most, right.most),
          std::max({0.0, left.fall, right.fall, across})};
}

}  // namespace

std::string text(const Tree& tree) {
  std::string out;
  if (!tree.empty()) write_node(out, tree, 0);
  return out;
}

Tree parse_tree(std::string_view text, std::int32_t features) {
  TreeReader reader{text, features};
  reader.node(0);
  if (reader.at != text.size()) reader.fail("the end of the tree");
  return std::move(reader.tree);
}

double sum_of(std::span<const Tree> trees, std::span<const double> values, double width) {
  double sum = 0;
  const double from = values.empty() ? 0 : values[0] - width / 2, to = values.empty() ? 0 : values[0] + width / 2;
  for (const Tree& tree : trees) sum += mean_of(tree, 0, values, from, to);
  return sum;
}

double fall_of(std::span<const Tree> trees) {
  double sum = 0;
  for (const Tree& tree : trees) sum += fall_below(tree, 0).fall;
  return sum;
}

}  // namespace tailor::ir
