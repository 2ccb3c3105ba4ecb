// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Guessing XLA's numbers of instructions. In: a graph. Out: their order. Called by XlaInstructions.
//
// A text stands in the order of the program, and so do the numbers of what the program brought along. Behind them come
// the copies and transposes of the passes that settle layouts, and then the reductions that XLA cut in two
// (reduction_splitter.cc: dimensions that do not lie together; tree_reduction_rewriter.cc: one that is too long for a
// tile), each with the padding and the view in front of it. Both passes walk from operands to users, so the halves keep
// the order of the text among each other. XLA leaves no other reduction of a reduction by the same function: before
// that it makes one of two.
//
// Among the users of an array a first half would take the place of the whole reduction: it is appended, the whole is
// taken away, and the last one moves into the gap. But what was there before depends on calls that XLA wrote out in
// place, which turns the order round in the same way, and on views that came and went; a text tells nothing of both.
// Where a variance is taken (jnp.var and jnp.std are calls), or several whole arrays are reduced, the first half ends
// behind the others, so it is put there.
#include "explore/xla/made_order.h"

#include <algorithm>

namespace tailor::explore {

using ir::NodeId;
using ir::Op;

namespace {

bool is_view(Op op) { return op == Op::bitcast || op == Op::reshape || op == Op::get_tuple_element; }

class Halves {
 public:
  explicit Halves(const ir::Graph& graph)
      : graph_(graph), readers_(graph.nodes.size(), 0), first_(graph.nodes.size(), false), late_(first_) {
    for (const ir::Node& node : graph.nodes)
      for (const NodeId operand : node.operands) ++readers_[ir::index(operand)];
    for (const NodeId output : graph.outputs) ++readers_[ir::index(output)];
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) join(static_cast<NodeId>(i));
    reach_back();
  }
  const std::vector<bool>& late() const { return late_; }

 private:
  static std::size_t arrays(const ir::Node& reduction) { return reduction.operands.size() / 2; }

  /// What gives a value, seen through views that nobody else reads.
  NodeId behind_views(NodeId value) const {
    while (is_view(graph_[value].op) && readers_[ir::index(value)] == 1) value = graph_[value].operands[0];
    return value;
  }

  /// The same function of as many arrays from the same values on.
  bool is_half_of(const ir::Node& first, const ir::Node& second) const {
    return first.op == Op::reduce && first.operands.size() == second.operands.size() &&
           std::get<ir::Reduction>(first.attributes).reducer == std::get<ir::Reduction>(second.attributes).reducer &&
           std::equal(first.operands.begin() + static_cast<std::ptrdiff_t>(arrays(first)), first.operands.end(),
                      second.operands.begin() + static_cast<std::ptrdiff_t>(arrays(second)));
  }

  void join(NodeId id) {
    const ir::Node& second = graph_[id];
    if (second.op != Op::reduce) return;
    const NodeId first = behind_views(second.operands[0]);
    if (!is_half_of(graph_[first], second) || readers_[ir::index(first)] != static_cast<std::int32_t>(arrays(second)))
      return;
    for (std::size_t i = 0; i < arrays(second); ++i)
      if (behind_views(second.operands[i]) != first) return;
    for (std::size_t i = 0; i < arrays(second); ++i)
      for (NodeId at = second.operands[i]; at != first; at = graph_[at].operands[0]) late_[ir::index(at)] = true;
    late_[ir::index(id)] = late_[ir::index(first)] = first_[ir::index(first)] = true;
  }

  /// The padding and the views that first halves alone read.
  void reach_back() {
    std::vector<std::int32_t> halves(graph_.nodes.size(), 0);
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const ir::Node& node = graph_.nodes[i];
      const bool leads = (node.op == Op::pad || is_view(node.op)) && halves[i] > 0 && halves[i] == readers_[i];
      if (leads) late_[i] = true;
      if (!leads && !first_[i]) continue;
      const std::size_t data = first_[i] ? arrays(node) : 1;
      for (std::size_t k = 0; k < data; ++k) ++halves[ir::index(node.operands[k])];
    }
  }

  const ir::Graph& graph_;
  std::vector<std::int32_t> readers_;
  std::vector<bool> first_, late_;
};

}  // namespace

MadeOrder made_order(const ir::Graph& graph) {
  const auto size = static_cast<std::int64_t>(graph.nodes.size());
  MadeOrder made{std::vector<std::int64_t>(graph.nodes.size()), Halves(graph).late(), 3 * size};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Op op = graph.nodes[i].op;
    const std::int64_t pass = made.appended[i] ? 2 : op == Op::copy || op == Op::transpose ? 1 : 0;
    made.number[i] = pass * size + static_cast<std::int64_t>(i);
  }
  return made;
}

}  // namespace tailor::explore
