// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Layouts of what nobody outside sees. In: a graph while it is rewritten. Out: the same graph, in which values on their
// way from a transposed array to a reduction lie in memory as that array does. Called as a row of the table of passes.
//
// Why. A frontend that reduces the first dimension of an array may transpose it and reduce the last one: the transpose
// moves nothing, as its result has the layout that makes it so, but the text gives all that is computed from it the
// usual layout. Read word by word, the first operation turns the array, and the rows of the reduction then lie across
// memory. XLA's layout assignment lets layouts follow operands; so does this.
//
// Method. Visited operands first, an operation that works element by element, or that cuts, pads, joins or reverses,
// wants the layout that all its operands of its rank have, or want, if neighbours in memory are others there: else
// whoever goes through either goes through both in whole vectors. Broadcasts, constants, iotas and lines are the same
// in any layout and do not count. It may have another layout where it is no output. Then, readers first, wishes are
// kept of what each reader takes to a reduction: of an array that one of them turns, to write it or for a library call,
// nothing is gained. What so stays as it is may have been what others wished to follow, so all are asked again until
// every wish is kept.
//
// In a module of which XLA has assigned the layouts such operations have the layout of their operands, so it stays as
// it is. One with fusions has been through that, and is not looked at.
#include <algorithm>

#include "base/indexed.h"
#include "hlo/normalise.h"
#include "ir/graph/domain.h"

namespace tailor::hlo {

namespace {

bool follows_operands(ir::Op op) {
  return is_elementwise(op) || op == ir::Op::slice || op == ir::Op::pad || op == ir::Op::concatenate ||
         op == ir::Op::reverse;
}

/// Made from indices, or from less than it is, or in one line: in any layout alike.
bool has_any_layout(const ir::Node& node) {
  return node.op == ir::Op::broadcast || node.op == ir::Op::iota || node.op == ir::Op::constant ||
         ir::wide_dimensions(node.shape).size() < 2;
}

ir::Shape in_layout_of(ir::Shape shape, const ir::Shape& other) {
  shape.minor_to_major = other.minor_to_major;
  return shape;
}

/// Whether two layouts of one array have the same neighbours in memory, or none.
bool have_same_neighbours(const ir::Shape& a, const ir::Shape& b) {
  const std::vector<int> of_a = ir::wide_dimensions(a), of_b = ir::wide_dimensions(b);
  return of_a.empty() || of_a.front() == of_b.front();
}

class Layouts {
 public:
  explicit Layouts(Rewrite& rewrite)
      : rewrite_(rewrite), fixed_(rewrite.graph.nodes.size()), wants_(fixed_.size(), ir::no_node) {
    const auto size = static_cast<ir::NodeId>(fixed_.size());
    for (const ir::NodeId output : rewrite_.graph.outputs) fixed_[rewrite_.current(output)] = true;
    for (ir::NodeId id = 0; id < size; ++id) rewrite_.refresh(rewrite_.node(id));
  }

  /// How many layouts are other ones now.
  std::int64_t run() {
    constexpr int most_rounds = 16;  // each takes wishes away; of a graph that needs more nothing changes
    for (int round = 0; round < most_rounds; ++round) {
      const std::vector<ir::NodeId> following = followers();
      const auto wishes = std::count_if(wants_.begin(), wants_.end(), [](ir::NodeId as) { return as != ir::no_node; });
      if (wishes > std::ssize(following)) continue;
      for (const ir::NodeId id : following) {
        ir::Shape& shape = rewrite_.node(id).shape;
        shape = in_layout_of(shape, rewrite_.node(wants_[id]).shape);
      }
      return wishes;
    }
    return 0;
  }

 private:
  /// Those whose wishes are kept; of all others nothing is wished any more.
  std::vector<ir::NodeId> followers() {
    const auto size = static_cast<ir::NodeId>(fixed_.size());
    for (ir::NodeId id = 0; id < size; ++id) wants_[id] = rewrite_.current(id) == id ? wish(id) : ir::no_node;
    IndexedVector<bool> is_turned(fixed_.size());  // by a reader
    std::vector<ir::NodeId> following;
    for (ir::NodeId id = size; id-- > 0;) {
      if (rewrite_.current(id) != id) continue;
      const ir::Node& node = rewrite_.node(id);
      const bool follows = wants_[id] != ir::no_node && !is_turned[id];
      if (follows) following.push_back(id);
      fixed_[id] = fixed_[id] || (wants_[id] != ir::no_node && !follows);
      if (follows || node.op == ir::Op::reduce) continue;
      for (const ir::NodeId operand : node.operands) is_turned[operand] = true;
    }
    return following;
  }

  /// The node whose layout it wants in place of its own.
  ir::NodeId wish(ir::NodeId id) {
    const ir::Node& node = rewrite_.node(id);
    if (fixed_[id] || !node.results.empty() || !follows_operands(node.op)) return ir::no_node;
    ir::NodeId found = ir::no_node;
    for (const ir::NodeId operand : node.operands) {
      const ir::Node& one = rewrite_.node(operand);
      if (one.shape.rank() != node.shape.rank() || has_any_layout(one)) continue;
      const ir::NodeId as = wants_[operand] != ir::no_node ? wants_[operand] : operand;
      if (found != ir::no_node && !rewrite_.node(found).shape.same_layout(rewrite_.node(as).shape)) return ir::no_node;
      if (found == ir::no_node) found = as;
    }
    if (found == ir::no_node) return found;
    const ir::Shape there = in_layout_of(node.shape, rewrite_.node(found).shape);
    return have_same_neighbours(node.shape, there) ? ir::no_node : found;
  }

  Rewrite& rewrite_;
  IndexedVector<bool> fixed_;        ///< it keeps its layout, as outputs do
  IndexedVector<ir::NodeId> wants_;  ///< whose layout; no_node: its own
};

}  // namespace

void follow_layouts(Rewrite& rewrite, PassCount& count) {
  if (!rewrite.graph.given.empty()) return;
  count.rewrites += Layouts(rewrite).run();
}

}  // namespace tailor::hlo
