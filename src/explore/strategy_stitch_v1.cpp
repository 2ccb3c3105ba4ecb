// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategy "stitch-v1": greedy stitching by rule, after PAI's first version. A producer joins its consumer when
//   1. both are memory-bound, and neither is one that no kernel can hold yet: a look-up, window, random number or the
//      like stays alone;
//   2. one flat loop (map) or one pass over rows (row) can compute the union: row reductions all over the same rows and
//      columns, what depends on them used only by its own row, outputs [R,N] or [R]. A column, mixed or full reduction
//      may take element-wise producers in front of it that nobody else reads, and nothing behind it;
//   3. the union stays above one block: at least two rows, and nothing is stitched behind a reduction to one number;
//   4. no expensive operation is computed again for every element of a broadcast, unless it is one number;
//   5. the union has at most 64 arguments or no more than one of the two had, and no other group would have to wait for
//   it in a circle;
//   6. the union has at most 512 operations. So a merge looks at no more than that, and the time of the whole is linear
//   in the nodes, whatever their order.
// Producers are offered to consumers in topological order until nothing changes; then siblings that read one array and
// run over the same space are merged, and the first part is repeated. One number read by many does not bring its
// readers together. What a rule refuses is written on the edge. Left out: recomputing a node in several groups, packing
// of groups that share nothing, any price: V1 has none. When it is stopped it keeps what it merged so far; edges that
// it did not get to are cut without a reason.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "codegen/lower/structure.h"
#include "explore/contraction.h"
#include "explore/edge_notes.h"
#include "explore/strategy.h"

namespace tailor::explore {

using namespace ir;

namespace {

class StitchV1 {
 public:
  StitchV1(const FusionTask& task, const StitchV1Rules& rules)
      : graph_(task.graph),
        rules_(rules),
        def_use_(task.def_use),
        stop_(task.stop),
        units_(graph_, def_use_),
        alone_(graph_.nodes.size(), false) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (def_use_.roles[i] == Role::work) {
        link(static_cast<NodeId>(i));
        alone_[i] = codegen::refused_alone(graph_, static_cast<NodeId>(i)).has_value();
      }
  }

  Fusion run() {
    do {
      while (join_producers()) {
      }
    } while (join_siblings());
    return result();
  }

 private:
  void link(NodeId consumer) {
    for (const NodeId producer : suppliers(graph_, def_use_, consumer)) {
      if (def_use_.roles[index(producer)] != Role::work) continue;
      EdgeNote& edge = edges_.emplace_back();
      edge.producer = producer;
      edge.consumer = consumer;
    }
  }

  bool join_producers() {
    bool changed = false;
    for (EdgeNote& edge : edges_)
      changed |= try_merge(units_.unit(edge.producer), units_.unit(edge.consumer), &edge.reason);
    return changed;
  }

  /// Readers of one array, neighbours in topological order.
  bool join_siblings() {
    bool changed = false;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const bool array = def_use_.roles[i] != Role::free && graph_.nodes[i].shape.dtype != DType::tuple &&
                         elements(graph_.nodes[i].shape) > 1;
      if (!array) continue;
      NodeId previous = no_node;
      for (const NodeId user : def_use_.users[i]) {
        if (def_use_.roles[index(user)] != Role::work) continue;
        if (previous != no_node) changed |= try_merge(units_.unit(previous), units_.unit(user), nullptr);
        previous = user;
      }
    }
    return changed;
  }

  bool try_merge(NodeId a, NodeId b, std::string* reason) {
    if (a == b || stop_.stop_requested()) return false;
    const auto key = std::minmax(a, b);
    const std::pair versions{units_.version(key.first), units_.version(key.second)};
    const auto [tried, fresh] = tried_.try_emplace(key);
    if (!fresh && tried->second.versions == versions) {
      if (reason && reason->empty()) *reason = "refused: " + tried->second.refused;
      return false;
    }
    const std::optional<std::string> refused = refusal(a, b, reason == nullptr);
    tried->second = {versions, refused.value_or("")};
    if (refused) {
      if (reason) *reason = "refused: " + *refused;
      return false;
    }
    units_.merge(a, b);
    return true;
  }

  std::string label(NodeId id) const { return "%" + graph_[id].name; }

  /// A node that no map or row group can hold together with others.
  std::optional<std::string> stays_alone(NodeId unit) const {
    for (const NodeId id : units_.nodes(unit)) {
      const OpClass kind = class_of(graph_[id].op);
      if (kind == OpClass::reduction || !alone_[index(id)]) continue;
      const bool plain = kind == OpClass::elementwise || kind == OpClass::index || kind == OpClass::leaf;
      return fmt::format("{} {} stays alone", plain ? name(graph_[id].op) : name(kind), label(id));
    }
    return std::nullopt;
  }

  /// The reduction of a unit that no row group can hold: column, mixed, full or with a body of its own.
  NodeId odd_reduction(NodeId unit) const {
    for (const NodeId id : units_.nodes(unit)) {
      const Node& node = graph_[id];
      if (node.op != Op::reduce) continue;
      if (node.operands.size() != 2 || reducer(node) == Reducer::custom) return id;
      if (codegen::reduce_kind(graph_, id) != codegen::ReduceKind::row ||
          codegen::row_layout(graph_, id).rows < rules_.rows)
        return id;
    }
    return no_node;
  }

  std::optional<std::string> refusal(NodeId a, NodeId b, bool siblings) {
    const std::size_t operations = units_.nodes(a).size() + units_.nodes(b).size();
    if (operations > rules_.operations) return fmt::format("{} operations, at most {}", operations, rules_.operations);
    if (auto alone = stays_alone(a)) return alone;
    if (auto alone = stays_alone(b)) return alone;
    std::vector<NodeId> merged;
    std::merge(units_.nodes(a).begin(), units_.nodes(a).end(), units_.nodes(b).begin(), units_.nodes(b).end(),
               std::back_inserter(merged));
    const Boundary border = boundary(graph_, def_use_, merged);
    if (auto odd = odd_refusal(a, b, border, siblings)) return *odd;
    if (odd_reduction(a) == no_node && odd_reduction(b) == no_node) {
      const codegen::Classified structure = codegen::analyse(graph_, border);
      if (const auto* rejection = std::get_if<Rejection>(&structure))
        return fmt::format("{}: {}", rejection->rule, rejection->reason);
      const auto& layout = std::get<codegen::Layout>(structure);
      if (const auto doubt = codegen::find_doubt(graph_, border, layout))
        return fmt::format("{}: {}", doubt->rule, doubt->reason);
      if (auto again = recomputes(border, layout)) return again;
    }
    const std::size_t arguments = border.reads.size() + border.writes.size();
    if (arguments > static_cast<std::size_t>(rules_.arguments) &&
        arguments > std::max(own_arguments(a), own_arguments(b)))
      return fmt::format("{} arguments, at most {}", arguments, rules_.arguments);
    const NodeId blocker = units_.blocker(a, b);
    if (blocker != no_node) return fmt::format("would make a cycle through {}", label(blocker));
    return std::nullopt;
  }

  std::size_t own_arguments(NodeId unit) const {
    const Boundary border = boundary(graph_, def_use_, units_.nodes(unit));
    return border.reads.size() + border.writes.size();
  }

  /// Rules 2 and 3 for reductions that end their group.
  std::optional<std::string> odd_refusal(NodeId a, NodeId b, const Boundary& border, bool siblings) const {
    const NodeId above = odd_reduction(a), below = odd_reduction(b);
    if (above == no_node && below == no_node) return std::nullopt;
    const NodeId odd = above != no_node ? above : below;
    const codegen::Layout layout = codegen::row_layout(graph_, odd);
    if (above != no_node || siblings) {
      if (layout.rows < rules_.rows)
        return fmt::format("would leave one block: {} reduces {} numbers to one row", label(odd), layout.columns);
      return fmt::format("{} reduction {} consumed inside", name(codegen::reduce_kind(graph_, odd)), label(odd));
    }
    for (const NodeId id : units_.nodes(a))
      if (graph_[id].op == Op::reduce)
        return fmt::format("row reduction {} in front of {} reduction {}", label(id),
                           name(codegen::reduce_kind(graph_, odd)), label(odd));
    for (const NodeId id : border.writes)
      if (std::binary_search(units_.nodes(a).begin(), units_.nodes(a).end(), id))
        return fmt::format("{} has readers besides the {} reduction {}", label(id),
                           name(codegen::reduce_kind(graph_, odd)), label(odd));
    return std::nullopt;
  }

  /// Rule 4: an expensive operation under a broadcast, computed once per row at best.
  std::optional<std::string> recomputes(const Boundary& border, const codegen::Layout& layout) const {
    for (const NodeId id : border.inside) {
      const Node& node = graph_[id];
      if (node.op != Op::broadcast || elements(node.shape) <= elements(graph_[node.operands[0]].shape)) continue;
      NodeId source = node.operands[0];
      while (def_use_.roles[index(source)] == Role::free && !graph_[source].operands.empty())
        source = graph_[source].operands[0];
      const Node& from = graph_[source];
      const std::int64_t count = elements(from.shape);
      const bool per_row = count == layout.rows;
      const bool inside = std::find(border.inside.begin(), border.inside.end(), source) != border.inside.end();
      if (inside && count > 1 && !per_row && row(from.op).xu > 0)
        return fmt::format("would compute {} {} {} times", name(from.op), label(source), elements(node.shape) / count);
    }
    return std::nullopt;
  }

  std::string medium(const EdgeNote& edge) const {
    const Node& producer = graph_[edge.producer];
    const Node& consumer = graph_[edge.consumer];
    if (producer.op == Op::reduce)
      return "stitched: the row reduction feeds the same rows; the plan picks warp or block level";
    if (consumer.op == Op::reduce) return "register: element-wise in front of a reduction";
    if (class_of(consumer.op) == OpClass::index) return "register: read at another index";
    return "register: element-wise into consumer";
  }

  /// The level follows from the producer alone (widest_level): a row reduction is stitched at most at block level, and
  /// the plan decides whether a warp is enough; everything else of a V1 group passes in registers.
  Fusion result() {
    Fusion fusion;
    std::vector<std::int32_t> group_of(graph_.nodes.size(), -1);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (def_use_.roles[i] != Role::work) continue;
      const std::vector<NodeId>& nodes = units_.nodes(units_.unit(id));
      if (nodes.front() != id) continue;
      for (const NodeId member : nodes) group_of[index(member)] = static_cast<std::int32_t>(fusion.groups.size());
      fusion.groups.push_back(nodes);
    }
    for (EdgeNote& edge : edges_) {
      edge.group = group_of[index(edge.consumer)];
      if (edge.group != group_of[index(edge.producer)]) {
        if (edge.reason.empty()) edge.reason = "refused: not tried, the search was stopped";
        continue;
      }
      edge.decision = EdgeDecision::stitched;
      edge.level = widest_level(graph_, edge.producer);
      edge.reason = medium(edge);
    }
    fusion.edges = std::move(edges_);
    return fusion;
  }

  const Graph& graph_;
  StitchV1Rules rules_;
  const DefUse& def_use_;
  std::stop_token stop_;
  Contraction units_;
  std::vector<bool> alone_;  ///< no kernel of today can hold the node
  std::vector<EdgeNote> edges_;
  /// The last attempt on a pair of units: how large they were, and why they were not merged.
  struct Attempt {
    std::pair<int, int> versions;
    std::string refused;
  };
  std::map<std::pair<NodeId, NodeId>, Attempt> tried_;
};

}  // namespace

Fusion fuse_stitch_v1(const FusionTask& task, const StitchV1Rules& rules) { return StitchV1(task, rules).run(); }

Fusion fuse_stitch_v1(const FusionTask& task) { return fuse_stitch_v1(task, StitchV1Rules{}); }

}  // namespace tailor::explore
