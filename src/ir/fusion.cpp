// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Taking a group out of a graph. In: a graph and the nodes of a group. Out: the group as a small graph of its own, with
// parameters for what it reads. Called by the strategies and by every command that looks at one group. The walk goes
// from the outputs back through members and free nodes and stops at everything else: what it stops at becomes a
// parameter. Elements of a tuple node that was made outside are parameters too.
#include "ir/fusion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/outline.h"

namespace tailor::ir {

namespace {

/// A set of nodes in one block of memory: borders are asked for thousands of times, and a node of a list for each
/// member took most of that time.
class Members {
 public:
  /// Empty, with room for so many.
  explicit Members(std::size_t room = 0) {
    if (room > 0) slots_.assign(std::bit_ceil(std::max<std::size_t>(16, 2 * room)), no_node);
  }
  explicit Members(const std::vector<NodeId>& nodes) : Members(nodes.size()) {
    for (const NodeId id : nodes) insert(id);
  }

  /// Whether it was not there before.
  bool insert(NodeId id) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    NodeId& slot = slots_[place(id)];
    if (slot == id) return false;
    slot = id;
    ++count_;
    return true;
  }
  bool contains(NodeId id) const { return count_ > 0 && slots_[place(id)] == id; }
  std::size_t size() const { return count_; }

 private:
  /// Where the node is, or would be: spread by the golden ratio, for ids come in runs.
  std::size_t place(NodeId id) const {
    std::size_t at = (index(id) * 0x9E3779B97F4A7C15 >> 32) & (slots_.size() - 1);
    while (slots_[at] != no_node && slots_[at] != id) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<NodeId> before(std::max<std::size_t>(16, 2 * slots_.size()), no_node);
    before.swap(slots_);
    for (const NodeId id : before)
      if (id != no_node) slots_[place(id)] = id;
  }

  std::vector<NodeId> slots_;  ///< a power of two of them, at least half empty
  std::size_t count_ = 0;
};

constexpr std::array<std::string_view, 3> decisions = {"stitched", "recomputed", "cut"};

/// One known number: a kernel writes it as a literal.
bool is_literal(const Node& node) { return known_literal(node) != nullptr && elements(node.shape) == 1; }

Role role_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  switch (class_of(node.op)) {
    case OpClass::library:
    case OpClass::control:
    case OpClass::communication:
    case OpClass::opaque:
      return Role::outside;
    case OpClass::structure:
      return is_free(graph, id) ? Role::free : Role::outside;
    default:
      break;
  }
  if (node.op == Op::parameter) return Role::source;
  if (node.op == Op::constant) return is_literal(node) ? Role::free : Role::source;
  if (is_free(graph, id)) return Role::free;
  const bool empty = node.shape.dtype != DType::tuple && elements(node.shape) == 0;
  return empty ? Role::source : Role::work;  // an array without elements is there without a launch
}

/// Free nodes that only rename elements in place: writing the operand writes them.
bool is_view(const Node& node) {
  if (node.op == Op::get_tuple_element) return false;
  return node.op == Op::reshape || node.op == Op::bitcast || class_of(node.op) == OpClass::structure;
}

/// Whether someone outside `members` reads `id`, directly or through free nodes.
bool escapes(const DefUse& def_use, const Members& members, NodeId id) {
  if (def_use.stored[id]) return true;
  bool direct = true;  // nearly always, and then nothing need be remembered
  for (const NodeId user : def_use.users[id]) {
    if (def_use.roles[user] == Role::free)
      direct = false;
    else if (!members.contains(user))
      return true;
  }
  if (direct) return false;
  std::vector<NodeId> pending{id};
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (def_use.stored[pending[i]]) return true;
    for (const NodeId user : def_use.users[pending[i]]) {
      const Role role = def_use.roles[user];
      if (role == Role::free) {
        if (std::find(pending.begin(), pending.end(), user) == pending.end()) pending.push_back(user);
      } else if (!members.contains(user)) {
        return true;
      }
    }
  }
  return false;
}

/// The walk back from the writes, without recursion: chains can be long.
void walk(const Graph& graph, const DefUse& def_use, const Members& members, Boundary& result) {
  const auto inner = [&](NodeId id) {
    const Node& node = graph[id];
    if (members.contains(id)) return true;
    if (def_use.roles[id] != Role::free) return false;
    return node.op != Op::get_tuple_element || members.contains(node.operands.front());
  };
  Members seen(2 * members.size());  // the members, what they read, free nodes between
  std::vector<std::pair<NodeId, std::size_t>> stack;
  for (const NodeId root : result.writes) {
    if (seen.insert(root)) stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const NodeId id = stack.back().first;
      if (stack.back().second == 0 && !inner(id)) {
        result.reads.push_back(id);
        stack.pop_back();
        continue;
      }
      const std::vector<NodeId>& operands = graph[id].operands;
      if (stack.back().second == operands.size()) {
        result.inside.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId next = operands[stack.back().second++];
      if (seen.insert(next)) stack.emplace_back(next, 0);
    }
  }
}

void add_writes(const Graph& graph, const DefUse& def_use, const Members& members, NodeId id,
                std::vector<NodeId>& writes) {
  if (graph[id].shape.dtype != DType::tuple) {
    if (escapes(def_use, members, id)) writes.push_back(id);
    return;
  }
  for (const NodeId user : def_use.users[id])
    if (graph[user].op == Op::get_tuple_element && escapes(def_use, members, user)) writes.push_back(user);
}

/// Whether `read`, which nobody needs but the node `write`, may be written over by it.
bool is_given_up(const Graph& graph, const DefUse& def_use, NodeId read, NodeId write) {
  const Node& node = graph[read];
  if (node.op == Op::constant) return false;
  if (node.op == Op::parameter)
    return std::any_of(graph.in_place.begin(), graph.in_place.end(), [&](const InPlace& pair) {
      return pair.parameter == parameter_number(node) && graph.outputs[index(pair.output)] == write;
    });
  if (node.op != Op::get_tuple_element) return class_of(node.op) != OpClass::structure;
  // The tuple's element must have no other name.
  const std::vector<NodeId>& others = def_use.users[node.operands[0]];
  return std::all_of(others.begin(), others.end(), [&](NodeId other) {
    return other == read ||
           (graph[other].op == Op::get_tuple_element && tuple_index(graph[other]) != tuple_index(node));
  });
}

/// An update reads nothing of the array but what it leaves as it is, so it may write into the array itself, when nobody
/// else reads it (whoever did might do so later), or only what is updated there.
void find_in_place(const Graph& graph, const DefUse& def_use, Boundary& border) {
  for (std::size_t i = 0; i < border.writes.size(); ++i) {
    const Node& node = graph[border.writes[i]];
    if (node.op != Op::dynamic_update_slice && (node.op != Op::scatter || node.operands.size() != 3)) continue;
    const NodeId from = node.operands[0];
    const auto read = std::find(border.reads.begin(), border.reads.end(), from);
    const bool once = std::count(node.operands.begin(), node.operands.end(), from) == 1;
    const bool is_alone = std::all_of(def_use.users[from].begin(), def_use.users[from].end(), [&](NodeId user) {
      if (user == border.writes[i]) return true;
      const bool inside = std::find(border.inside.begin(), border.inside.end(), user) != border.inside.end();
      return inside && is_updated_itself(graph, def_use, user, border.writes[i]);
    });
    if (read == border.reads.end() || !once || !is_alone || def_use.stored[from] || graph[from].shape != node.shape ||
        !is_given_up(graph, def_use, from, border.writes[i]))
      continue;
    const std::vector<NodeId>& users = def_use.users[border.writes[i]];
    const bool read_inside = std::any_of(users.begin(), users.end(), [&](NodeId user) {
      return std::find(border.inside.begin(), border.inside.end(), user) != border.inside.end();
    });
    if (read_inside)
      border.kept_from_place = border.writes[i];
    else
      border.in_place.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(read - border.reads.begin())});
  }
}

/// Copies the bodies a node names into `to`, sharing those already copied.
void copy_bodies(const Graph& from, Graph& to, std::map<std::int32_t, std::int32_t>& copied, Node& node) {
  for (std::int32_t& body : node.bodies) {
    const auto [place, fresh] = copied.try_emplace(body, static_cast<std::int32_t>(to.bodies.size()));
    if (fresh) to.bodies.push_back(from.bodies[index(body)]);
    body = place->second;
  }
}

}  // namespace

std::string_view name(EdgeDecision decision) { return row_for(decisions, decision); }

std::optional<EdgeDecision> edge_decision_named(std::string_view name) {
  for (std::size_t i = 0; i < decisions.size(); ++i)
    if (decisions[i] == name) return static_cast<EdgeDecision>(i);
  return {};
}

DefUse def_use(const Graph& graph) {
  DefUse result{users(graph), std::vector<Role>(graph.nodes.size()), std::vector<bool>(graph.nodes.size(), false)};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) result.roles[i] = role_of(graph, static_cast<NodeId>(i));
  for (const NodeId output : graph.outputs) result.stored[output] = true;
  // What must exist in memory: outputs, operands of outside nodes, and what these are views of.
  IndexedVector<bool> array = result.stored;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (result.roles[i] == Role::outside || (array[i] && result.roles[i] == Role::free && is_view(node)))
      for (const NodeId operand : node.operands) array[operand] = true;
    const bool spread = (node.op == Op::broadcast || node.op == Op::iota) && elements(node.shape) > 0;
    if (array[i] && spread) result.roles[i] = Role::work;
  }
  return result;
}

std::vector<NodeId> suppliers(const Graph& graph, const DefUse& def_use, NodeId node) {
  std::vector<NodeId> result, pending(graph[node].operands);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Role role = def_use.roles[pending[i]];
    if (role == Role::work || role == Role::outside) result.push_back(pending[i]);
    if (role == Role::free)
      for (const NodeId operand : graph[pending[i]].operands) pending.push_back(operand);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool is_updated_itself(const Graph& graph, const DefUse& def_use, NodeId read, NodeId update) {
  const Node& window = graph[read];
  const Node& written = graph[update];
  const bool is_same_place = window.op == Op::dynamic_slice && written.op == Op::dynamic_update_slice &&
                             window.shape.dims == graph[written.operands[1]].shape.dims &&
                             std::equal(window.operands.begin() + 1, window.operands.end(),
                                        written.operands.begin() + 2, written.operands.end());
  if (!is_same_place) return false;
  std::vector<NodeId> pending{read};
  std::unordered_set<NodeId> seen{read};
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Node& node = graph[pending[i]];
    const bool stays_there =
        pending[i] == read || (is_elementwise(node.op) && node.results.empty() && node.shape.dims == window.shape.dims);
    if (!stays_there || def_use.stored[pending[i]]) return false;
    for (const NodeId user : def_use.users[pending[i]])
      if (user != update && seen.insert(user).second) pending.push_back(user);
  }
  // Where the window lies may not hang on what lies there.
  return std::none_of(written.operands.begin() + 2, written.operands.end(),
                      [&](NodeId start) { return seen.contains(start); });
}

Boundary boundary(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes,
                  const std::vector<NodeId>& writes) {
  Boundary result;
  result.writes = writes;
  walk(graph, def_use, Members(nodes), result);
  find_in_place(graph, def_use, result);
  return result;
}

Boundary boundary(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> sorted;
  for (const NodeId id : nodes)
    if (def_use.roles[id] != Role::free) sorted.push_back(id);
  const bool only_free = sorted.empty();
  if (only_free) sorted = nodes;
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const Members work(sorted);
  std::vector<NodeId> writes;
  for (const NodeId id : sorted) {
    if (!only_free) {
      add_writes(graph, def_use, work, id, writes);
      continue;
    }
    const std::vector<NodeId>& readers = def_use.users[id];
    if (std::none_of(readers.begin(), readers.end(), [&](NodeId user) { return work.contains(user); }))
      writes.push_back(id);
  }
  // Work nobody reads still runs; so does a tuple whose elements are never taken apart, which has nothing to write.
  if (writes.empty() && !sorted.empty()) writes.push_back(sorted.back());
  std::sort(writes.begin(), writes.end());
  Boundary result;
  result.writes = std::move(writes);
  walk(graph, def_use, work, result);
  find_in_place(graph, def_use, result);
  return result;
}

Graph outlined(const Graph& graph, const Boundary& border) {
  Graph small;
  std::unordered_map<NodeId, NodeId> place;
  std::map<std::int32_t, std::int32_t> copied;
  for (std::size_t i = 0; i < border.reads.size(); ++i) {
    const Node& source = graph[border.reads[i]];
    Node parameter{.op = Op::parameter,
                   .shape = source.shape,
                   .operands = {},
                   .attributes = ParameterNumber{static_cast<std::int64_t>(i)},
                   .name = source.name};
    place[border.reads[i]] = static_cast<NodeId>(small.nodes.size());
    small.nodes.push_back(std::move(parameter));
  }
  for (const NodeId id : border.inside) {
    Node node = graph[id];
    for (NodeId& operand : node.operands) operand = place.at(operand);
    copy_bodies(graph, small, copied, node);
    place[id] = static_cast<NodeId>(small.nodes.size());
    small.nodes.push_back(std::move(node));
  }
  for (const NodeId id : border.writes) small.outputs.push_back(place.at(id));
  small.in_place = border.in_place;
  if (!border.writes.empty()) small.name = graph[border.writes.back()].name;
  return small;
}

Group outline(const Graph& graph, const Boundary& border) {
  Group group;
  group.graph = outlined(graph, border);
  group.id = tailor::id_of(canonical_text(group.graph));
  return group;
}

Group outline(const Graph& graph, const std::vector<NodeId>& nodes) {
  return outline(graph, boundary(graph, def_use(graph), nodes));
}

}  // namespace tailor::ir
