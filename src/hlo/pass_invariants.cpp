// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that are the same in every trip of a loop. In: a graph with loops. Out: the same graph, where such values are
// computed once in front of their loop and carried along as state that does not change. Called as the pass
// `hoist-invariants`; its report names each value that went, as LOOP/VALUE.
//
// An element of the state that the body hands on as it came is the same in every trip, and so is whatever is computed
// from such elements and constants alone. Of these values the last ones in the body go, each with all that it needs:
// in the body a parameter takes the value's place and its name, and what nobody needs there any more is dropped.
//
// Not every value that could go should. A value that a kernel of the body computes on the way is read from memory once
// it was moved, so it goes only when it has no more bytes than what it is computed from, after the best of that has
// gone; when it is a reduction; or when it lies in memory anyway, because a library call or the state takes it. Of a
// value that stays the operands may go.
//
// What stays for certain: everything in a loop whose file says which kernels it has, for a group that loses a member
// is not that file's any more and no comparison with it would be fair; bodies that two loops share; operations with
// regions of their own, copies, random numbers, and calls that may act on the world; loops of one trip. A loop of no
// trip at all computes in vain what was moved out of it, and nothing of that is seen.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/normalise.h"
#include "ir/fusion.h"

namespace tailor::hlo {

namespace {

using ir::NodeId;

/// A node that is to stand in front of another.
struct Insertion {
  NodeId before = ir::no_node;
  ir::Node node;  ///< operands: nodes of the graph, or those inserted before it, numbered on behind them
};

void insert(Rewrite& rewrite, std::vector<Insertion> insertions) {
  ir::Graph& graph = rewrite.graph;
  const std::size_t old = graph.nodes.size();
  std::vector<NodeId> number(old + insertions.size());
  std::vector<ir::Node> nodes;
  nodes.reserve(number.size());
  std::size_t next = 0;  // insertions stand in the order of the nodes that they come before
  for (std::size_t i = 0; i < old; ++i) {
    for (; next < insertions.size() && insertions[next].before == static_cast<NodeId>(i); ++next) {
      number[old + next] = static_cast<NodeId>(nodes.size());
      nodes.push_back(std::move(insertions[next].node));
    }
    number[i] = static_cast<NodeId>(nodes.size());
    nodes.push_back(std::move(graph.nodes[i]));
  }
  const auto renumber = [&](auto& ids) {
    for (NodeId& id : ids) id = number[ir::index(id)];
  };
  for (ir::Node& node : nodes) renumber(node.operands);
  graph.nodes = std::move(nodes);
  renumber(graph.outputs);
  for (ir::GivenGroup& group : graph.given) renumber(group.nodes);
  IndexedVector<NodeId> replaced(graph.nodes.size());
  for (std::size_t i = 0; i < number.size(); ++i)
    replaced[number[i]] = i < old ? number[ir::index(rewrite.replaced_by[i])] : number[i];
  rewrite.replaced_by = std::move(replaced);
  for (auto& [from, to] : rewrite.merged) from = number[ir::index(from)], to = number[ir::index(to)];
}

/// Gives the same for the same operands wherever it stands, and has no graph of its own.
bool may_move(const ir::Node& node) {
  if (!node.bodies.empty() || node.op == ir::Op::copy || node.op == ir::Op::parameter) return false;
  if (node.op == ir::Op::get_tuple_element || node.op == ir::Op::dot || node.op == ir::Op::convolution) return true;
  const ir::OpClass kind = class_of(node.op);
  return kind == ir::OpClass::leaf || kind == ir::OpClass::elementwise || kind == ir::OpClass::index ||
         kind == ir::OpClass::lookup || kind == ir::OpClass::reduction || kind == ir::OpClass::window;
}

/// The invariant values of one loop's body.
class Invariants {
 public:
  explicit Invariants(const ir::Graph& body)
      : body_(body), wires_(ir::def_use(body)), same_(body.nodes.size(), false), least_(body.nodes.size(), 0) {
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
      const ir::Node& node = body.nodes[i];
      const auto id = static_cast<NodeId>(i);
      if (node.op == ir::Op::parameter)
        same_[i] = body.outputs[parameter_number(node)] == id;
      else
        same_[i] = may_move(node) && std::all_of(node.operands.begin(), node.operands.end(),
                                                 [&](NodeId o) { return same_[ir::index(o)]; });
      if (!same_[i]) continue;
      for (const NodeId o : node.operands) least_[i] += least_[ir::index(o)];
      if (node.op == ir::Op::parameter || goes(id)) least_[i] = bytes_of(id);
    }
  }

  /// Those that go, ascending.
  std::vector<NodeId> chosen() const {
    std::vector<NodeId> pending, found;
    for (std::size_t i = 0; i < body_.nodes.size(); ++i)
      if (!same_[i]) pending.insert(pending.end(), body_.nodes[i].operands.begin(), body_.nodes[i].operands.end());
    pending.insert(pending.end(), body_.outputs.begin(), body_.outputs.end());
    std::vector<bool> seen(body_.nodes.size(), false);
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (!same_[ir::index(id)] || seen[ir::index(id)]) continue;
      seen[ir::index(id)] = true;
      if (goes(id))
        found.push_back(id);
      else
        pending.insert(pending.end(), body_[id].operands.begin(), body_[id].operands.end());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  bool is_work(NodeId id) const { return class_of(body_[id].op) != ir::OpClass::leaf && !is_free(body_, id); }
  double bytes_of(NodeId id) const {
    const ir::Shape& shape = body_[id].shape;
    return shape.dtype == ir::DType::tuple ? 0 : static_cast<double>(bytes(shape));
  }
  bool goes(NodeId id) const {
    const ir::Node& node = body_[id];
    if (!is_work(id) || node.shape.dtype == ir::DType::tuple) return false;
    double from = 0;
    for (const NodeId o : node.operands) from += least_[ir::index(o)];
    return bytes_of(id) <= from || class_of(node.op) == ir::OpClass::reduction || wires_.stored[id] ||
           std::any_of(wires_.users[ir::index(id)].begin(), wires_.users[ir::index(id)].end(),
                       [&](NodeId user) { return wires_.roles[user] == ir::Role::outside; });
  }

  const ir::Graph& body_;
  ir::DefUse wires_;
  std::vector<bool> same_;
  std::vector<double> least_;  ///< bytes that a trip has to read for each, when what should go has gone
};

/// By node: whether it is one of these or they need it.
std::vector<bool> with_suppliers(const ir::Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const NodeId id : ids) needed[ir::index(id)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const NodeId operand : graph.nodes[i].operands) needed[ir::index(operand)] = true;
  return needed;
}

}  // namespace

void hoist_invariants(Rewrite& rewrite, PassCount& count) {
  ir::Graph& graph = rewrite.graph;
  std::vector<int> holders(graph.bodies.size(), 0);
  for (const ir::Node& node : graph.nodes)
    for (const std::int32_t body : node.bodies) ++holders[ir::index(body)];
  std::vector<Insertion> insertions;
  const std::size_t old = graph.nodes.size();
  for (NodeId at = 0; at < static_cast<NodeId>(old); ++at) {
    ir::Node& loop = rewrite.node(at);
    if (loop.op != ir::Op::while_loop || loop.shape.dtype != ir::DType::tuple || rewrite.current(at) != at) continue;
    rewrite.refresh(loop);
    ir::Graph &condition = graph.bodies[ir::index(loop.bodies[0])], &body = graph.bodies[ir::index(loop.bodies[1])];
    if (holders[ir::index(loop.bodies[0])] != 1 || holders[ir::index(loop.bodies[1])] != 1 || trip_count(loop) == 1 ||
        !body.given.empty())
      continue;
    const std::vector<NodeId> chosen = Invariants(body).chosen();
    if (chosen.empty()) continue;
    const std::vector<bool> needed = with_suppliers(body, chosen);
    std::vector<NodeId> outer(body.nodes.size(), ir::no_node);  // what computes each in front of the loop
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
      if (!needed[i]) continue;
      const ir::Node& node = body.nodes[i];
      if (node.op == ir::Op::parameter) {
        outer[i] = loop.operands[parameter_number(node)];
        continue;
      }
      Insertion moved{at, node};
      moved.node.name = fmt::format("{}/{}", loop.name, node.name);
      for (NodeId& operand : moved.node.operands) operand = outer[ir::index(operand)];
      outer[i] = static_cast<NodeId>(old + insertions.size());
      insertions.push_back(std::move(moved));
      ++count.added;
    }
    for (const NodeId id : chosen) {
      const ir::ParameterNumber number{static_cast<std::int64_t>(loop.operands.size())};
      loop.operands.push_back(outer[ir::index(id)]);
      loop.results.push_back(body[id].shape);
      count.moved.push_back(fmt::format("{}/{}", loop.name, body[id].name));
      ir::Node state;
      state.op = ir::Op::parameter;
      state.shape = body[id].shape;
      state.attributes = number;
      state.name = count.moved.back();
      condition.nodes.push_back(state);
      state.name = body[id].name;
      body[id] = std::move(state);
      body.outputs.push_back(id);
      ++count.rewrites;
      ++count.added;
    }
    PassCount dropped;
    Rewrite inner(body, rewrite.stop);
    drop_dead(inner, dropped);
    count.removed += dropped.removed;
  }
  if (!insertions.empty()) insert(rewrite, std::move(insertions));
}

}  // namespace tailor::hlo
