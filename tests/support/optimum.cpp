// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The exact optimum of small graphs. In: a graph and the price of groups. Out: the least price of any partition. Called
// by tests and by gap_bench.
//
// Method: the shortest path over the ideals of the graph. What has run at some moment is closed under suppliers, an
// ideal; a partition whose groups can run in some order is a chain of ideals from nothing to everything, and each step
// of the chain runs one group. So the cheapest partition is the shortest way through the ideals, where a step costs the
// price of the nodes that it adds. Library calls run as soon as they can, which takes no choice away: who may run
// before them may run after. Single nodes, never contracted ones: an optimum over merged nodes is none.
#include "support/optimum.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "costmodel/group_summary.h"
#include "costmodel/model.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

using Set = std::uint64_t;  // of nodes that run, by their places

constexpr Set only(std::size_t place) { return Set{1} << place; }

struct Ideals {
  const Graph& graph;
  const costmodel::CalibratedDevice& device;
  const MayBeGroup& may;
  DefUse wires;
  costmodel::GroupFacts facts;
  std::vector<NodeId> runs;
  std::vector<Set> before;  ///< suppliers of each
  Set outside = 0;
  std::unordered_map<Set, double> known;  ///< prices of groups

  Set with_calls(Set done) const {
    for (std::size_t i = 0; i < runs.size(); ++i)
      if ((outside & only(i)) != 0 && (before[i] & ~done) == 0) done |= only(i);
    return done;
  }

  std::vector<NodeId> nodes_of(Set group) const {
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if ((group & only(i)) != 0) nodes.push_back(runs[i]);
    return nodes;
  }

  double price(Set group) {
    const auto [at, fresh] = known.try_emplace(group, 0);
    if (!fresh) return at->second;
    const std::vector<NodeId> nodes = nodes_of(group);
    if (may && nodes.size() > 1 && !may(nodes)) return at->second = std::numeric_limits<double>::infinity();
    costmodel::GroupSummaries summaries(facts);
    const std::int32_t one = summaries.create();
    for (const NodeId id : nodes) summaries.add(one, id);
    return at->second = costmodel::group(summaries.summary(one), device).total.value;
  }
};

/// The cheapest way to an ideal: the one before, and the group that the last step runs.
struct Way {
  double cost = 0;
  Set before = 0;
  Set group = 0;
};

}  // namespace

std::optional<double> optimum(const Graph& graph, const costmodel::CalibratedDevice& device, std::int64_t most_steps,
                              const MayBeGroup& may, std::vector<std::vector<NodeId>>* groups) {
  const DefUse wires = def_use(graph);
  Ideals ideals{graph, device, may, wires, costmodel::group_facts(graph, wires), {}, {}, 0, {}};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (wires.roles[i] == Role::work || wires.roles[i] == Role::outside) ideals.runs.push_back(static_cast<NodeId>(i));
  const std::size_t count = ideals.runs.size();
  if (count > 62) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    Set suppliers_of = 0;
    for (const NodeId from : suppliers(graph, wires, ideals.runs[i]))
      suppliers_of |=
          only(static_cast<std::size_t>(std::find(ideals.runs.begin(), ideals.runs.end(), from) - ideals.runs.begin()));
    ideals.before.push_back(suppliers_of);
    if (wires.roles[index(ideals.runs[i])] == Role::outside) ideals.outside |= only(i);
  }
  const Set all = count == 0 ? 0 : ~Set{0} >> (64 - count);
  std::vector<std::unordered_map<Set, Way>> at(count + 1);  // ideals by size; every step adds nodes
  const auto ways = [&](Set ideal) -> auto& { return at[static_cast<std::size_t>(std::popcount(ideal))]; };
  const Set start = ideals.with_calls(0);
  ways(start)[start] = {};
  std::int64_t steps = 0;
  for (std::size_t size = 0; size <= count; ++size)
    for (const auto& [done, so_far] : at[size]) {
      if (done == all) {
        if (groups != nullptr)
          for (Way way = so_far; way.group != 0; way = ways(way.before).at(way.before))
            groups->insert(groups->begin(), ideals.nodes_of(way.group));
        return so_far.cost;
      }
      // Every set of nodes that may run next as one kernel, grown in the order of the graph.
      std::vector<std::pair<Set, std::size_t>> grown{{0, 0}};
      while (!grown.empty()) {
        const auto [group, from] = grown.back();
        grown.pop_back();
        for (std::size_t i = from; i < count; ++i) {
          if (((done | group | ideals.outside) & only(i)) != 0 || (ideals.before[i] & ~(done | group)) != 0) continue;
          if (++steps > most_steps) return std::nullopt;
          const Set wider = group | only(i);
          grown.emplace_back(wider, i + 1);
          const Set next = ideals.with_calls(done | wider);
          const Way way{so_far.cost + ideals.price(wider), done, wider};
          const auto [known, first] = ways(next).try_emplace(next, way);
          if (!first && way.cost < known->second.cost) known->second = way;
        }
      }
    }
  return std::nullopt;
}

Graph all_read(Graph graph) {
  const DefUse wires = def_use(graph);
  const costmodel::GroupFacts facts = costmodel::group_facts(graph, wires);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (wires.roles[i] == Role::work && facts.nodes[i].readers.empty() && !facts.nodes[i].stored)
      graph.outputs.push_back(static_cast<NodeId>(i));
  return graph;
}

std::optional<Graph> random_part(const Graph& graph, const DefUse& def_use, std::size_t nodes,
                                 std::mt19937_64& random) {
  std::vector<NodeId> work;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (def_use.roles[i] == Role::work && graph.nodes[i].shape.dtype != DType::tuple)
      work.push_back(static_cast<NodeId>(i));
  if (work.empty()) return std::nullopt;
  const auto fits = [&](NodeId id) {
    const Role role = def_use.roles[index(id)];
    const bool runs = role == Role::work || (role == Role::outside && class_of(graph[id].op) != OpClass::control);
    return runs && graph[id].shape.dtype != DType::tuple;
  };
  std::vector<NodeId> part{work[random() % work.size()]}, next;
  while (part.size() < nodes) {
    next.clear();
    for (const NodeId id : part) {
      for (const NodeId from : suppliers(graph, def_use, id)) next.push_back(from);
      std::vector<NodeId> pending{id};
      for (std::size_t i = 0; i < pending.size() && pending.size() < 256; ++i)
        for (const NodeId user : def_use.users[index(pending[i])])
          (def_use.roles[index(user)] == Role::free ? pending : next).push_back(user);
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    std::erase_if(next, [&](NodeId id) { return !fits(id) || std::find(part.begin(), part.end(), id) != part.end(); });
    if (next.empty()) break;
    part.push_back(next[random() % next.size()]);
  }
  if (2 * part.size() < nodes) return std::nullopt;
  std::sort(part.begin(), part.end());
  return outline(graph, boundary(graph, def_use, part)).graph;
}
