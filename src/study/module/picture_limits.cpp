// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Summing up and leaving out. In: panels of boxes and lines. Out: fewer of them. Called for pictures that are drawn.
//
// Two kernels are one box where they are the same kernel (equal groups) and stand between the same boxes. An optimiser
// that treats two hundred arrays alike becomes one box that says so. Boxes that become one may make others equal, so it
// is done again while it helps, a few times.
//
// Then the costliest kernels stay, and of what runs beside kernels what moves most; where those that stay still have
// too many operations, boxes are drawn without them. Lines whose ends are gone are gone too.
#include "study/module/picture_limits.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/stop.h"

namespace tailor::study {

namespace {

constexpr int most_rounds = 4;

/// Keeps the boxes that stand for themselves; `stands_for[b]` is the box that box b became.
void replace_boxes(CostedPanel& costed, const std::vector<std::size_t>& stands_for, const std::vector<bool>& kept) {
  std::vector<std::size_t> renumbered(stands_for.size());
  std::vector<report::PictureBox> boxes;
  std::vector<BoxCost> costs;
  for (std::size_t b = 0; b < stands_for.size(); ++b) {
    renumbered[b] = boxes.size();
    if (stands_for[b] != b || !kept[b]) continue;
    boxes.push_back(std::move(costed.panel.boxes[b]));
    costs.push_back(costed.costs[b]);
  }
  std::vector<report::PictureLine> lines;
  for (report::PictureLine& line : costed.panel.lines) {
    const std::size_t from = stands_for[line.from], to = stands_for[line.to];
    if (!kept[from] || !kept[to]) continue;
    line.from = renumbered[from];
    line.to = renumbered[to];
    lines.push_back(std::move(line));
  }
  costed.panel.boxes = std::move(boxes);
  costed.panel.lines = std::move(lines);
  costed.costs = std::move(costs);
}

/// Whether anything became one.
bool sum_equal(CostedPanel& costed) {
  const std::size_t size = costed.panel.boxes.size();
  std::vector<std::set<std::size_t>> before(size), behind(size);
  for (const report::PictureLine& line : costed.panel.lines) {
    before[line.to].insert(line.from);
    behind[line.from].insert(line.to);
  }
  std::map<std::tuple<std::int64_t, std::set<std::size_t>, std::set<std::size_t>>, std::size_t> known;
  std::vector<std::size_t> stands_for(size);
  bool changed = false;
  for (std::size_t b = 0; b < size; ++b) {
    stands_for[b] = b;
    if (costed.costs[b].number < 0) continue;
    const auto [at, fresh] = known.try_emplace({costed.costs[b].number, before[b], behind[b]}, b);
    if (fresh) continue;
    stands_for[b] = at->second;
    report::PictureBox& box = costed.panel.boxes[at->second];
    box.times += costed.panel.boxes[b].times;
    box.share += std::max(0.0, costed.panel.boxes[b].share);
    costed.costs[at->second].cost += costed.costs[b].cost;
    changed = true;
  }
  if (changed) replace_boxes(costed, stands_for, std::vector<bool>(size, true));
  return changed;
}

/// One line between two boxes, with the number of values; a value that several operations read is one.
void sum_lines(report::PicturePanel& panel) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  std::set<std::tuple<std::size_t, std::size_t, std::int64_t>> values;
  std::vector<report::PictureLine> lines;
  for (const report::PictureLine& line : panel.lines) {
    const bool counted = line.from_node >= 0 && !values.insert({line.from, line.to, line.from_node}).second;
    const auto [at, fresh] = known.try_emplace({line.from, line.to}, lines.size());
    if (fresh)
      lines.push_back({line.from, line.to, line.level, 1, -1, -1});
    else if (!counted)
      ++lines[at->second].times;
  }
  panel.lines = std::move(lines);
}

/// The least cost that stays, and how many of exactly this cost do.
struct Threshold {
  double cost = 0;
  std::size_t equal = 0;
};

Threshold threshold(std::vector<double> costs, std::size_t most) {
  if (most == 0 || costs.size() <= most) return {-1, 0};
  std::nth_element(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(most - 1), costs.end(), std::greater<>());
  const double least = costs[most - 1];
  const auto above = std::count_if(costs.begin(), costs.end(), [&](double cost) { return cost > least; });
  return {least, most - static_cast<std::size_t>(above)};
}

bool stays(Threshold& at, double cost) {
  if (cost != at.cost) return cost > at.cost;
  if (at.equal == 0) return false;
  --at.equal;
  return true;
}

}  // namespace

void limit_panels(std::vector<CostedPanel>& panels, const PictureLimits& limits, const std::stop_token& stop) {
  std::vector<double> kernels, calls;
  for (CostedPanel& costed : panels) {
    for (int round = 0; limits.summed && round < most_rounds && sum_equal(costed); ++round) stop_if_asked(stop);
    if (limits.summed) sum_lines(costed.panel);
    for (const BoxCost& box : costed.costs) (box.number < 0 ? calls : kernels).push_back(box.cost);
  }
  Threshold of_kernels = threshold(std::move(kernels), limits.kernels);
  Threshold of_calls = threshold(std::move(calls), limits.calls);
  std::int64_t operations = 0;
  for (CostedPanel& costed : panels) {
    stop_if_asked(stop);
    std::vector<std::size_t> same(costed.costs.size());
    std::vector<bool> kept(costed.costs.size());
    for (std::size_t b = 0; b < same.size(); ++b) {
      same[b] = b;
      kept[b] = stays(costed.costs[b].number < 0 ? of_calls : of_kernels, costed.costs[b].cost);
      report::PictureBox& box = costed.panel.boxes[b];
      if (!kept[b]) costed.panel.left_out += box.times;
      if (limits.in_one > 0 && box.nodes.size() > limits.in_one) box.nodes.clear(), box.lines.clear();
      if (kept[b]) operations += static_cast<std::int64_t>(box.nodes.size());
    }
    replace_boxes(costed, same, kept);
  }
  if (limits.operations == 0 || operations <= static_cast<std::int64_t>(limits.operations)) return;
  for (CostedPanel& costed : panels)
    for (report::PictureBox& box : costed.panel.boxes) box.nodes.clear(), box.lines.clear();
}

}  // namespace tailor::study
