// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Destroy and repair. In: a partition to start from. Out: a cheaper one, or the same. Called by strategy "tailor" and
// by gap_bench.
//
// Method. A round picks one group and some that it touches, takes all their nodes apart and searches again by merging
// (merge_search.h), only there. Who merges first is drawn among what helps, for it was the order that kept the first
// search from better: a group that cannot be written may lie on every way to a good one but a few. Of a group of many
// nodes only those at one of its ends are taken out. A round that does not make the whole cheaper is undone. Groups
// that are not touched stay as they are, so a round costs what a start costs and the merges of its place.
#include "explore/repair.h"

#include <algorithm>

#include "explore/borders.h"

namespace tailor::explore {

using namespace ir;

namespace {

constexpr std::size_t most_out = 64;      ///< nodes of one group that are taken apart in a round
constexpr std::size_t most_touched = 5;   ///< groups
constexpr std::int64_t most_idle = 256;   ///< rounds that find no two groups to merge, before there are none
constexpr double least_saving = 1e-12;    ///< seconds: below it is rounding
constexpr double noises[] = {0.1, 1, 4};  ///< how far the order of merges is from that of gains

class Repairing {
 public:
  Repairing(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits, NodeSets groups,
            Spending& spending)
      : task_(task),
        facts_(facts),
        limits_(limits),
        spending_(spending),
        random_(task.seed),
        groups_(std::move(groups)),
        part_(task.graph.nodes.size(), false) {
    MergeSearch whole(task_, facts_, limits_, groups_, spending_);
    groups_ = whole.groups();
    cost_ = whole.total();
    place();
  }

  void round() {
    destroy();
    const MendingPart part{part_, random_, noises[random_() % std::size(noises)], structures_};
    MergeSearch search(task_, facts_, limits_, rest_, spending_, &part);
    search.run(random_() % 2 == 0);
    const double cost = search.total();
    for (const NodeId id : out_) part_[index(id)] = false;
    if (cost >= cost_ - least_saving) return;
    groups_ = search.groups();
    cost_ = cost;
    place();
  }

  bool is_trivial() const { return groups_.size() < 2; }
  Repaired take() { return {std::move(groups_), cost_}; }

 private:
  void place() {
    group_of_.assign(task_.graph.nodes.size(), none);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (const NodeId id : groups_[g]) group_of_[index(id)] = g;
  }

  /// Groups that share an edge or an array with group `g`, ascending.
  std::vector<std::size_t> touched(std::size_t g) const {
    std::vector<std::size_t> found;
    const auto add = [&](NodeId id) {
      if (group_of_[index(id)] != none && group_of_[index(id)] != g) found.push_back(group_of_[index(id)]);
    };
    for (const NodeId id : groups_[g]) {
      for (const costmodel::GroupReader& reader : facts_.nodes[index(id)].readers) add(reader.node);
      for (const costmodel::GroupRead& read : facts_.nodes[index(id)].reads) {
        if (read.maker != no_node) add(read.maker);
        for (const NodeId user : task_.def_use.users[index(read.value)]) add(user);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// Fills `out_` and `part_` with the nodes that are taken apart, `rest_` with the groups that are not.
  void destroy() {
    std::vector<std::size_t> broken{random_() % groups_.size()};
    std::vector<std::size_t> near = touched(broken[0]);
    const std::size_t wanted = 1 + random_() % most_touched;
    const bool anywhere = near.empty() || random_() % 4 == 0;  // what shares nothing may be packed another way
    for (std::size_t i = 0; i < wanted; ++i) {
      if (anywhere && (near.empty() || random_() % 2 == 0)) near.push_back(random_() % groups_.size());
      if (near.empty()) break;
      const std::size_t at = random_() % near.size();
      if (std::find(broken.begin(), broken.end(), near[at]) == broken.end()) broken.push_back(near[at]);
      near.erase(near.begin() + static_cast<std::ptrdiff_t>(at));
    }
    out_.clear();
    rest_.clear();
    std::sort(broken.begin(), broken.end());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::vector<NodeId>& group = groups_[g];
      if (!std::binary_search(broken.begin(), broken.end(), g)) {
        rest_.push_back(group);
        continue;
      }
      if (group.size() <= most_out) {
        out_.insert(out_.end(), group.begin(), group.end());
        continue;
      }
      // From one end: between what is left and what is taken out no value goes both ways.
      const std::size_t end = random_() % 2;
      const auto first = static_cast<std::ptrdiff_t>(end * (group.size() - most_out));
      const auto last = first + static_cast<std::ptrdiff_t>(most_out);
      std::vector<NodeId> left(group.begin(), group.begin() + first);
      left.insert(left.end(), group.begin() + last, group.end());
      // What is left must be a kernel, as the whole was; else the group stays.
      if (limits_.lowerable && !planned_layout(task_.graph, boundary(task_.graph, task_.def_use, left))) {
        rest_.push_back(group);
        continue;
      }
      out_.insert(out_.end(), group.begin() + first, group.begin() + last);
      rest_.push_back(std::move(left));
    }
    for (const NodeId id : out_) part_[index(id)] = true;
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const FusionTask& task_;
  const costmodel::GroupFacts& facts_;
  const MergeLimits& limits_;
  Spending& spending_;
  std::mt19937_64 random_;
  NodeSets groups_, rest_;
  double cost_ = 0;
  std::vector<std::size_t> group_of_;
  std::vector<NodeId> out_;
  std::vector<bool> part_;
  std::map<std::tuple<NodeId, NodeId, std::size_t>, std::string> structures_;
};

}  // namespace

Repaired repair(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits, NodeSets groups,
                const MendingLength& length, Spending& spending) {
  Repairing repairing(task, facts, limits, std::move(groups), spending);
  const std::int64_t first = spending.evaluations;
  std::int64_t idle = 0;  // rounds in a row in which there was nothing to price
  const auto goes_on = [&](std::int64_t round) {
    return round < length.rounds && spending.evaluations - first < length.prices && idle < most_idle &&
           !repairing.is_trivial() && !spending.over();
  };
  for (std::int64_t i = 0; goes_on(i); ++i) {
    const std::int64_t before = spending.evaluations;
    repairing.round();
    idle = spending.evaluations == before ? idle + 1 : 0;
  }
  return repairing.take();
}

}  // namespace tailor::explore
