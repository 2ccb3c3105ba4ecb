// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Contraction of a graph while groups grow. In: a graph with its def-use facts, pairs of units to merge. Out: what
// stands between two units, and the merged unit. Called by strategies for every merge that they consider.
//
// Why a test is needed: two groups may merge only when no path between them leads through a third unit, for then each
// would wait for the other. A search over the whole graph for each question would make fusion quadratic.
//
// Method. Units are joined by union-find; each keeps a list of neighbours in both directions, which is tidied when it
// is read. A topological order of the units is kept while they merge, after Pearce and Kelly (A Dynamic Topological
// Sort Algorithm for Directed Acyclic Graphs, 2006). A path from a to b passes only units whose place lies between
// theirs, so blocker() searches only there, and stops at the first path of two edges or more; it prefers to name a
// library call on that path, which is what a person wants to know.
//
// A merge of a and b keeps the order valid by rearranging only the units between them that are ancestors of b or
// descendants of a: first those ancestors, then the merged unit, then those descendants, each in their old order, over
// the same places. One place falls free and is not used again. Everything outside the stretch stays, so in practice
// the whole search is near linear.
#include "explore/contraction.h"

#include <algorithm>
#include <numeric>

namespace tailor::explore {

using ir::no_node;
using ir::NodeId;

Contraction::Contraction(const ir::Graph& graph, const ir::DefUse& def_use)
    : def_use_(def_use),
      parent_(graph.nodes.size()),
      nodes_(graph.nodes.size()),
      before_(graph.nodes.size()),
      after_(graph.nodes.size()),
      place_(graph.nodes.size()),
      visited_(graph.nodes.size(), 0),
      came_from_(graph.nodes.size(), no_node) {
  std::iota(parent_.begin(), parent_.end(), 0);
  std::iota(place_.begin(), place_.end(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (def_use.roles[i] != ir::Role::work && def_use.roles[i] != ir::Role::outside) continue;
    const auto id = static_cast<NodeId>(i);
    nodes_[i] = {id};
    before_[i] = ir::suppliers(graph, def_use, id);
    for (const NodeId producer : before_[i]) after_[ir::index(producer)].push_back(id);
  }
}

NodeId Contraction::unit(NodeId node) {
  while (parent_[ir::index(node)] != node) {
    parent_[ir::index(node)] = parent_[ir::index(parent_[ir::index(node)])];
    node = parent_[ir::index(node)];
  }
  return node;
}

/// Neighbours as units, each once, itself left out. The list is tidied on the way, so later calls are cheap.
std::vector<NodeId>& Contraction::around(NodeId id, bool forward) {
  std::vector<NodeId>& list = forward ? after_[ir::index(id)] : before_[ir::index(id)];
  for (NodeId& neighbour : list) neighbour = unit(neighbour);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::erase(list, id);
  return list;
}

/// Units reached from `from` whose place lies strictly before (after) that of `to`, `from` left out. When a path of two
/// edges or more arrives at `to`, its place in came_from_ tells.
std::vector<NodeId> Contraction::reached(NodeId from, NodeId to, bool forward) {
  ++mark_;
  came_from_[ir::index(to)] = no_node;
  std::vector<NodeId> result;
  const auto expand = [&](NodeId id, bool direct) {
    for (const NodeId next : around(id, forward)) {
      if (next == to) {
        if (!direct) came_from_[ir::index(to)] = id;
        continue;
      }
      const bool within =
          forward ? place_[ir::index(next)] < place_[ir::index(to)] : place_[ir::index(next)] > place_[ir::index(to)];
      if (!within || visited_[ir::index(next)] == mark_) continue;
      visited_[ir::index(next)] = mark_;
      came_from_[ir::index(next)] = id;
      result.push_back(next);
    }
  };
  expand(from, true);
  for (std::size_t i = 0; i < result.size() && came_from_[ir::index(to)] == no_node; ++i) expand(result[i], false);
  return result;
}

NodeId Contraction::blocker(NodeId a, NodeId b) {
  if (place_[ir::index(a)] > place_[ir::index(b)]) std::swap(a, b);
  (void)reached(a, b, true);
  NodeId found = came_from_[ir::index(b)];
  for (NodeId at = found; at != no_node && at != a; at = came_from_[ir::index(at)])
    if (def_use_.roles[ir::index(at)] == ir::Role::outside) return at;
  return found;
}

NodeId Contraction::merge(NodeId a, NodeId b) {
  if (place_[ir::index(a)] > place_[ir::index(b)]) std::swap(a, b);
  const auto earlier = [this](NodeId x, NodeId y) { return place_[ir::index(x)] < place_[ir::index(y)]; };
  std::vector<NodeId> descendants = reached(a, b, true), ancestors = reached(b, a, false);
  std::sort(descendants.begin(), descendants.end(), earlier);
  std::sort(ancestors.begin(), ancestors.end(), earlier);
  std::vector<NodeId> order = ancestors;
  order.push_back(a);
  order.insert(order.end(), descendants.begin(), descendants.end());
  std::vector<int> places{place_[ir::index(b)]};
  for (const NodeId id : order) places.push_back(place_[ir::index(id)]);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < order.size(); ++i) place_[ir::index(order[i])] = places[i];

  parent_[ir::index(b)] = a;
  for (auto* lists : {&before_, &after_}) {
    std::vector<NodeId>& into = (*lists)[ir::index(a)];
    std::vector<NodeId>& from = (*lists)[ir::index(b)];
    into.insert(into.end(), from.begin(), from.end());
    from.clear();
  }
  std::vector<NodeId>&into = nodes_[ir::index(a)], &from = nodes_[ir::index(b)];
  if (into.size() < from.size()) std::swap(into, from);
  const auto middle = static_cast<std::ptrdiff_t>(into.size());
  const bool behind = into.empty() || from.empty() || into.back() < from.front();
  into.insert(into.end(), from.begin(), from.end());
  if (!behind) std::inplace_merge(into.begin(), into.begin() + middle, into.end());
  nodes_[ir::index(b)].clear();
  return a;
}

}  // namespace tailor::explore
