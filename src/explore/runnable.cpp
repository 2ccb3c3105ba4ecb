// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a partition can be run. In: a graph, its def-use facts, groups. Out: a circle of groups and nodes that wait
// for each other, or none; and working nodes that no group computes. Called by strategies that are not sure of
// themselves, by the reader of partition files, and by tests.
//
// A depth-first search over what waits for what. Units are the groups and every node outside them that has to run
// (library calls, control flow, work that was left out). A unit waits for the unit that owns a value it reads and does
// not compute itself; a value that several groups compute is owned by the first of them; free nodes are seen through.
//
// A unit that is met again while it is still on the stack closes a circle, and the stack from there on is that circle,
// with the value that each one waits for. The search keeps its own stack, because chains can be longer than the host's
// stack is deep. Each unit is opened once, so the search is linear in the graph.
#include "explore/runnable.h"

#include <algorithm>

namespace tailor::explore {

using namespace ir;

namespace {

struct Waiting {
  std::size_t unit = 0;  ///< for which other
  NodeId value = no_node;
};

/// Groups come first, then one unit per node; those of nodes inside groups stay without edges.
class Units {
 public:
  Units(const Graph& graph, const DefUse& def_use, const std::vector<std::vector<NodeId>>& groups)
      : groups_(groups.size()), groups_of_(graph.nodes.size()), waits_(groups.size() + graph.nodes.size()) {
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const NodeId id : groups[g]) groups_of_[index(id)].push_back(g);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (groups_of_[i].empty() && def_use.roles[i] != Role::work && def_use.roles[i] != Role::outside) continue;
      const std::vector<NodeId> values = suppliers(graph, def_use, static_cast<NodeId>(i));
      if (groups_of_[i].empty()) add(groups_ + i, values);
      for (const std::size_t g : groups_of_[i]) add(g, values);
    }
  }

  const std::vector<Waiting>& waits(std::size_t unit) const { return waits_[unit]; }
  std::size_t size() const { return waits_.size(); }
  Wait station(std::size_t unit, NodeId value) const {
    if (unit < groups_) return {static_cast<std::int32_t>(unit), no_node, value};
    return {-1, static_cast<NodeId>(unit - groups_), value};
  }

 private:
  void add(std::size_t unit, const std::vector<NodeId>& values) {
    for (const NodeId value : values) {
      const std::vector<std::size_t>& makers = groups_of_[index(value)];
      if (unit < groups_ && std::binary_search(makers.begin(), makers.end(), unit)) continue;
      waits_[unit].push_back({makers.empty() ? groups_ + index(value) : makers.front(), value});
    }
  }

  std::size_t groups_;
  std::vector<std::vector<std::size_t>> groups_of_;
  std::vector<std::vector<Waiting>> waits_;
};

}  // namespace

std::vector<Wait> find_circle(const Graph& graph, const DefUse& def_use,
                              const std::vector<std::vector<NodeId>>& groups) {
  const Units units(graph, def_use, groups);
  enum class State : std::uint8_t { fresh, open, done };
  std::vector<State> states(units.size(), State::fresh);
  struct Frame {
    std::size_t unit;
    std::size_t next;  ///< of its waits; the one before is being looked at
  };
  std::vector<Frame> stack;
  for (std::size_t start = 0; start < units.size(); ++start) {
    if (states[start] != State::fresh) continue;
    states[start] = State::open;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      const std::size_t unit = stack.back().unit;
      if (stack.back().next == units.waits(unit).size()) {
        states[unit] = State::done;
        stack.pop_back();
        continue;
      }
      const std::size_t other = units.waits(unit)[stack.back().next++].unit;
      if (states[other] == State::fresh) {
        states[other] = State::open;
        stack.push_back({other, 0});
      } else if (states[other] == State::open) {
        std::vector<Wait> circle;
        const auto from = std::find_if(stack.begin(), stack.end(), [&](const Frame& f) { return f.unit == other; });
        for (auto frame = from; frame != stack.end(); ++frame)
          circle.push_back(units.station(frame->unit, units.waits(frame->unit)[frame->next - 1].value));
        return circle;
      }
    }
  }
  return {};
}

std::vector<NodeId> find_left_out(const DefUse& def_use, const std::vector<std::vector<NodeId>>& groups) {
  std::vector<bool> grouped(def_use.roles.size(), false);
  for (const std::vector<NodeId>& group : groups)
    for (const NodeId id : group) grouped[index(id)] = true;
  std::vector<NodeId> missing;
  for (std::size_t i = 0; i < grouped.size(); ++i)
    if (!grouped[i] && def_use.roles[i] == Role::work) missing.push_back(static_cast<NodeId>(i));
  return missing;
}

}  // namespace tailor::explore
