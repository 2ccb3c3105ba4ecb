// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Layered drawing, after Sugiyama. In: boxes and edges. Out: places and lines. Called for the pictures of graphs.
//
//   1. The layer of a box is the length of the longest path that leads to it, so every edge points downwards. Boxes
//      without any edge fill layers of their own at the end, so that many of them do not make one endless row.
//   2. An edge that crosses layers gets a small stand-in on each, and is drawn through these: lines take room like
//      boxes and do not run through them.
//   3. The order in a layer: each box moves to the mean place of its neighbours in the layer above, then of those in
//      the layer below, in turns (barycentres). Ties keep their order, so the same graph is always the same picture.
//   4. The places in a layer: each box wants to stand below the mean of its neighbours; those of a layer that want the
//      same place form a block, which stands at the mean of what its members want (pool adjacent violators). So gaps
//      are kept exactly, and what can be straight is.
//
// Every step looks at each stand-in and each edge a fixed number of times and sorts layers.
#include "report/layered.h"

#include <algorithm>
#include <numeric>

namespace tailor::report {

namespace {

constexpr int sweeps = 8;
constexpr double stand_in_width = 6;

class Drawing {
 public:
  Drawing(const std::vector<LayeredBox>& boxes, const std::vector<LayeredEdge>& edges, const LayeredGaps& gaps)
      : boxes_(boxes), edges_(edges), gaps_(gaps), items_(boxes.size()), layer_(boxes.size(), 0) {}

  Layered run() {
    find_layers();
    add_stand_ins();
    for (int i = 0; i < sweeps; ++i) order(i % 2 == 0);
    place();
    return result();
  }

 private:
  struct Item {
    std::vector<std::size_t> above, below;
    std::size_t layer = 0, rank = 0;  ///< rank: place in its layer
    double width = 0, x = 0;          ///< x: of its middle
  };

  /// Longest paths; edges whose end was met before their start (a circle) are left out of all that follows.
  void find_layers() {
    std::vector<std::vector<std::size_t>> out(boxes_.size());
    std::vector<std::size_t> waits(boxes_.size(), 0);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      out[edges_[e].from].push_back(e);
      ++waits[edges_[e].to];
    }
    std::vector<std::size_t> ready;
    std::vector<bool> alone(boxes_.size(), true), placed(boxes_.size(), false);
    for (const LayeredEdge& edge : edges_) alone[edge.from] = alone[edge.to] = false;
    for (std::size_t b = 0; b < boxes_.size(); ++b)
      if (waits[b] == 0) ready.push_back(b);
    for (std::size_t i = 0; i < ready.size(); ++i) {
      placed[ready[i]] = true;
      for (const std::size_t e : out[ready[i]]) {
        const std::size_t to = edges_[e].to;
        layer_[to] = std::max(layer_[to], layer_[ready[i]] + 1);
        if (--waits[to] == 0) ready.push_back(to);
      }
    }
    for (std::size_t e = 0; e < edges_.size(); ++e)
      straight_.push_back(placed[edges_[e].from] && placed[edges_[e].to] &&
                          layer_[edges_[e].from] < layer_[edges_[e].to]);
    std::size_t last = 0;
    bool any = false;
    for (std::size_t b = 0; b < boxes_.size(); ++b)
      if (!alone[b]) last = std::max(last, layer_[b]), any = true;
    std::size_t fresh = any ? last + 1 : 0;
    double used = 0;
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      if (!alone[b]) continue;
      if (used > 0 && used + boxes_[b].width > gaps_.widest) ++fresh, used = 0;
      layer_[b] = fresh;
      used += boxes_[b].width + gaps_.beside;
    }
  }

  void add_stand_ins() {
    std::size_t layers = 0;
    for (const std::size_t layer : layer_) layers = std::max(layers, layer + 1);
    members_.resize(layers);
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      items_[b].layer = layer_[b];
      items_[b].width = boxes_[b].width;
      members_[layer_[b]].push_back(b);
    }
    chains_.resize(edges_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (!straight_[e]) continue;
      std::size_t from = edges_[e].from;
      for (std::size_t layer = layer_[from] + 1; layer < layer_[edges_[e].to]; ++layer) {
        const std::size_t item = items_.size();
        items_.emplace_back();
        items_[item].layer = layer;
        items_[item].width = stand_in_width;
        members_[layer].push_back(item);
        chains_[e].push_back(item);
        connect(from, item);
        from = item;
      }
      connect(from, edges_[e].to);
    }
    number_all();
  }

  void connect(std::size_t upper, std::size_t lower) {
    items_[upper].below.push_back(lower);
    items_[lower].above.push_back(upper);
  }

  void number_all() {
    for (const std::vector<std::size_t>& layer : members_)
      for (std::size_t i = 0; i < layer.size(); ++i) items_[layer[i]].rank = i;
  }

  void order(bool downwards) {
    for (std::size_t step = 0; step < members_.size(); ++step) {
      std::vector<std::size_t>& layer = members_[downwards ? step : members_.size() - 1 - step];
      std::vector<std::pair<double, std::size_t>> wanted;
      for (const std::size_t item : layer) {
        const std::vector<std::size_t>& others = downwards ? items_[item].above : items_[item].below;
        double sum = 0;
        for (const std::size_t other : others) sum += static_cast<double>(items_[other].rank);
        wanted.emplace_back(
            others.empty() ? static_cast<double>(items_[item].rank) : sum / static_cast<double>(others.size()), item);
      }
      std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t i = 0; i < layer.size(); ++i) {
        layer[i] = wanted[i].second;
        items_[layer[i]].rank = i;
      }
    }
  }

  void place() {
    for (const std::vector<std::size_t>& layer : members_) {
      double at = 0;
      for (const std::size_t item : layer) {
        items_[item].x = at + items_[item].width / 2;
        at += items_[item].width + gaps_.beside;
      }
    }
    for (int i = 0; i < sweeps; ++i)
      for (std::size_t step = 0; step < members_.size(); ++step)
        settle(members_[i % 2 == 0 ? step : members_.size() - 1 - step]);
  }

  /// Stand-ins pull at one another, so that long lines go straight down.
  double wish(std::size_t of) const {
    const Item& item = items_[of];
    double sum = 0, weights = 0;
    for (const std::vector<std::size_t>* others : {&item.above, &item.below})
      for (const std::size_t other : *others) {
        const double weight = of < boxes_.size() ? 1 : other < boxes_.size() ? 2 : 8;
        sum += weight * items_[other].x;
        weights += weight;
      }
    return weights == 0 ? item.x : sum / weights;
  }

  /// Pool adjacent violators over the places that the items of a layer want, less the room that stands before them.
  void settle(const std::vector<std::size_t>& layer) {
    struct Block {
      double sum = 0;
      std::size_t count = 0;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<Block> blocks;
    std::vector<double> before;
    double room = 0;
    for (std::size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) room += (items_[layer[i - 1]].width + items_[layer[i]].width) / 2 + gaps_.beside;
      before.push_back(room);
      blocks.push_back({wish(layer[i]) - room, 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back().sum += last.sum;
        blocks.back().count += last.count;
      }
    }
    std::size_t i = 0;
    for (const Block& block : blocks)
      for (std::size_t k = 0; k < block.count; ++k, ++i) items_[layer[i]].x = block.mean() + before[i];
  }

  Layered result() const {
    Layered drawn;
    double left = 0;
    bool any = false;
    for (const Item& item : items_) {
      const double edge = item.x - item.width / 2;
      left = any ? std::min(left, edge) : edge;
      any = true;
    }
    std::vector<double> top, middle;
    for (const std::vector<std::size_t>& layer : members_) {
      double tallest = 0;
      for (const std::size_t item : layer)
        if (item < boxes_.size()) tallest = std::max(tallest, boxes_[item].height);
      top.push_back(drawn.height);
      middle.push_back(drawn.height + tallest / 2);
      drawn.height += tallest + gaps_.below;
    }
    drawn.height = std::max(0.0, drawn.height - gaps_.below);
    for (std::size_t b = 0; b < boxes_.size(); ++b)
      drawn.corners.push_back({items_[b].x - boxes_[b].width / 2 - left, top[layer_[b]]});
    for (const Item& item : items_) drawn.width = std::max(drawn.width, item.x + item.width / 2 - left);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const LayeredEdge& edge = edges_[e];
      std::vector<Point>& route = drawn.routes.emplace_back();
      route.push_back({items_[edge.from].x - left, drawn.corners[edge.from].y + boxes_[edge.from].height});
      for (const std::size_t item : chains_[e]) {
        // A stand-in is as tall as its layer: the line goes straight down beside the boxes.
        const std::size_t layer = items_[item].layer;
        route.push_back({items_[item].x - left, top[layer]});
        route.push_back({items_[item].x - left, 2 * middle[layer] - top[layer]});
      }
      route.push_back({items_[edge.to].x - left, drawn.corners[edge.to].y});
    }
    return drawn;
  }

  const std::vector<LayeredBox>& boxes_;
  const std::vector<LayeredEdge>& edges_;
  const LayeredGaps& gaps_;
  std::vector<Item> items_;  ///< boxes first, then stand-ins
  std::vector<std::size_t> layer_;
  std::vector<bool> straight_;
  std::vector<std::vector<std::size_t>> members_;  ///< items of each layer, from the left
  std::vector<std::vector<std::size_t>> chains_;   ///< stand-ins of each edge
};

}  // namespace

Layered layered(const std::vector<LayeredBox>& boxes, const std::vector<LayeredEdge>& edges, const LayeredGaps& gaps) {
  return Drawing(boxes, edges, gaps).run();
}

}  // namespace tailor::report
