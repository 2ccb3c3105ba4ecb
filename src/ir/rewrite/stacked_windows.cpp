// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding stacks of windows and writing them as gathers. In: a graph. Out: the same graph with other nodes. Called
// through stacked_windows.h.
//
// The operands of the concatenation are its arms. They must be dynamic slices of one array, of one size, with reshapes
// behind them, along the outermost dimension, so that windows follow one another in memory; of their dimensions one is
// not full, and there all have a start of their own. The starts of all arms are compared node by node: each is the same
// number for all, a literal of each, one number of an array (the n-th of it for arm n, in steps), or the same
// operation on such numbers. From that the array of all starts is written, operation by operation, and the gather.
//
// Node numbers stay, since plans name nodes. The new nodes take the places of the last arm's, behind all that they
// read; numbers that all arms share become arrays in places of the arms before it, which nobody reads any more.
#include "ir/rewrite/stacked_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/indexed.h"
#include "ir/rewrite/swallow.h"

namespace tailor::ir {

namespace {

/// The values of one node in each arm.
using Arms = std::vector<NodeId>;

class StackedWindows {
 public:
  StackedWindows(const Graph& graph, NodeId stack, const std::vector<std::vector<NodeId>>& users)
      : graph_(graph), users_(users), stack_(stack) {}

  /// False, and `result` is as it was, where the node is no such stack.
  bool write(Graph& result) {
    if (!find_windows() || !find_open_dimension()) return false;
    if (!read(starts_) || written_.empty()) return false;
    find_free_places();
    Graph made = result;
    for (const Written& one : written_)
      if (!write_numbers(one, made)) return false;
    write_gather(made);
    for (const NodeId id : swallowed_) swallow(made[id]);
    result = std::move(made);
    return true;
  }

 private:
  /// An array of one number for each arm, in the order in which they are computed.
  struct Written {
    Arms of;
    NodeId at = no_node;  ///< a node of the last arm; no_node: any free place
  };

  const Node& node(NodeId id) const { return graph_[id]; }
  std::int64_t count() const { return std::ssize(windows_); }

  bool is_own(NodeId id, NodeId user) const {
    return std::all_of(users_[index(id)].begin(), users_[index(id)].end(), [&](NodeId one) { return one == user; }) &&
           std::find(graph_.outputs.begin(), graph_.outputs.end(), id) == graph_.outputs.end();
  }

  bool find_windows() {
    const Node& stack = node(stack_);
    if (stack.op != Op::concatenate || stack.operands.size() < least_stacked_windows || !is_row_major(stack.shape))
      return false;
    for (int dim = 0; dim < axis(stack); ++dim)
      if (stack.shape.dims[dim] != 1) return false;
    for (const NodeId operand : stack.operands) {
      NodeId id = operand, user = stack_;
      for (; is_own(id, user) && is_row_major(node(id).shape) && node(id).op == Op::reshape; id = node(id).operands[0])
        swallowed_.push_back(user = id);
      if (node(id).op != Op::dynamic_slice || !is_row_major(node(id).shape) || !is_own(id, user)) return false;
      if (std::find(windows_.begin(), windows_.end(), id) != windows_.end()) return false;
      windows_.push_back(id);
    }
    const Node& first = node(windows_[0]);
    return first.shape.rank() < max_rank && std::all_of(windows_.begin(), windows_.end(), [&](NodeId id) {
             return node(id).operands[0] == first.operands[0] && node(id).shape == first.shape &&
                    node(id).operands.size() == first.operands.size();
           });
  }

  /// The one dimension that the window does not fill, and its starts.
  bool find_open_dimension() {
    const Node& first = node(windows_[0]);
    const Shape& whole = node(first.operands[0]).shape;
    if (static_cast<int>(first.operands.size()) != 1 + whole.rank()) return false;  // starts in an array
    for (int dim = 0; dim < whole.rank(); ++dim) {
      if (whole.dims[dim] == first.shape.dims[dim]) continue;
      if (open_ >= 0) return false;
      open_ = dim;
    }
    if (open_ < 0) return false;
    for (const NodeId id : windows_) starts_.push_back(node(id).operands[index(open_) + 1]);
    return true;
  }

  bool all_of_arms(const Arms& arms, const auto& holds) const {
    return std::all_of(arms.begin(), arms.end(), [&](NodeId id) { return holds(node(id)); });
  }

  static bool same(const Arms& arms) {
    return std::all_of(arms.begin(), arms.end(), [&](NodeId id) { return id == arms[0]; });
  }

  /// Whether the numbers can be written as an array; notes how.
  bool read(const Arms& arms) {
    const Node& first = node(arms[0]);
    if (elements(first.shape) != 1) return false;
    if (same(arms) || all_of_arms(arms, [&](const Node& one) { return is_literal(one, first); })) {
      written_.push_back({arms, no_node});
      return true;
    }
    if (!all_of_arms(arms, [&](const Node& one) { return one.op == first.op && one.shape == first.shape; }))
      return false;
    if (first.op == Op::slice) return read_slice(arms);
    const bool is_reshape = first.op == Op::reshape;
    const bool computes = class_of(first.op) == OpClass::elementwise && first.op != Op::bitcast_convert &&
                          all_of_arms(arms, [&](const Node& one) { return one.attributes == first.attributes; });
    if (!is_reshape && !computes) return false;
    for (std::size_t k = 0; k < first.operands.size(); ++k)
      if (!read(operands_of(arms, k))) return false;
    if (is_reshape) return true;  // one number either way
    written_.push_back({arms, arms.back()});
    return true;
  }

  static bool is_literal(const Node& one, const Node& first) {
    return one.op == Op::constant && one.shape == first.shape && attributes_as<Literal>(one).known;
  }

  Arms operands_of(const Arms& arms, std::size_t k) const {
    Arms operands;
    for (const NodeId id : arms) operands.push_back(node(id).operands[k]);
    return operands;
  }

  bool read_slice(const Arms& arms) {
    const NodeId from = node(arms[0]).operands[0];
    if (node(from).shape.rank() != 1) return false;
    const std::int64_t begin = slice_range(node(arms[0]), 0).start, step = slice_range(node(arms[1]), 0).start - begin;
    for (std::size_t i = 0; i < arms.size(); ++i)
      if (node(arms[i]).operands[0] != from ||
          slice_range(node(arms[i]), 0).start != begin + static_cast<std::int64_t>(i) * step)
        return false;
    if (step < 1) return false;
    written_.push_back({arms, arms.back()});
    return true;
  }

  /// Nodes of all arms but the last that only their arm reads, the lowest number first.
  void find_free_places() {
    std::vector<std::uint8_t> dead(graph_.nodes.size(), 0), read(graph_.nodes.size(), 0);
    read[index(node(windows_[0]).operands[0])] = 1;
    for (const Written& one : written_) {
      if (one.at == no_node && same(one.of)) read[index(one.of[0])] = 1;
      if (one.at != no_node && node(one.at).op == Op::slice) read[index(node(one.at).operands[0])] = 1;
    }
    for (const NodeId id : windows_) dead[index(id)] = 1;
    for (const NodeId id : swallowed_) dead[index(id)] = 1;
    const auto is_dead = [&](NodeId id) {
      const std::vector<NodeId>& users = users_[index(id)];
      return !users.empty() && read[index(id)] == 0 && node(id).op != Op::parameter &&
             std::find(graph_.outputs.begin(), graph_.outputs.end(), id) == graph_.outputs.end() &&
             std::all_of(users.begin(), users.end(), [&](NodeId user) { return dead[index(user)] != 0; });
    };
    for (NodeId id = stack_; id-- > 0;)
      if (dead[index(id)] == 0 && is_dead(id)) dead[index(id)] = 1;
    for (NodeId id = 0; id < stack_; ++id)
      if (dead[index(id)] != 0) free_.push_back(id);
    swallowed_ = free_;
  }

  NodeId take(NodeId at) {
    std::erase(free_, at);
    std::erase(swallowed_, at);
    return at;
  }

  /// The last free place in front of `before` and behind `after`.
  NodeId free_place(NodeId after, NodeId before) {
    for (std::size_t i = free_.size(); i-- > 0;)
      if (free_[i] > after && free_[i] < before && !is_place_of_last(free_[i])) return take(free_[i]);
    return no_node;
  }

  bool is_place_of_last(NodeId id) const {
    return id == windows_.back() ||
           std::any_of(written_.begin(), written_.end(), [&](const Written& one) { return one.at == id; });
  }

  bool write_numbers(const Written& one, Graph& made) {
    const Node& last = node(one.of.back());
    NodeId at = one.at;
    if (at == no_node) {
      NodeId before = windows_.back();
      for (const Written& other : written_)
        if (other.at != no_node) before = std::min(before, other.at);
      at = free_place(same(one.of) ? one.of[0] : no_node, before);
      if (at == no_node) return false;
    } else {
      take(at);
    }
    Node& node_at = made[at];
    node_at.op = last.op;
    node_at.attributes = last.attributes;
    node_at.bodies.clear();
    node_at.shape = make_shape(last.shape.dtype, {count()});
    IndexedVector<NodeId> operands;
    if (one.at == no_node && same(one.of)) {
      node_at.op = Op::broadcast;
      node_at.attributes = AxisList{};
      operands.push_back(one.of[0]);
    } else if (one.at == no_node) {
      Literal all;
      for (const NodeId id : one.of) {
        const std::vector<std::byte>& bytes = attributes_as<Literal>(node(id)).bytes;
        all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
      }
      node_at.attributes = all;
    } else if (last.op == Op::slice) {
      const std::int64_t begin = slice_range(node(one.of[0]), 0).start;
      const std::int64_t end = slice_range(last, 0).start;
      node_at.attributes = SliceRanges{{SliceRange{begin, end + 1, (end - begin) / (count() - 1)}}};
      operands.push_back(last.operands[0]);
    } else {
      for (std::size_t k = 0; k < last.operands.size(); ++k) operands.push_back(array_of(operands_of(one.of, k)));
    }
    node_at.operands = std::move(operands);
    arrays_.emplace_back(one.of, at);
    return true;
  }

  /// Where the array of these numbers was written.
  NodeId array_of(Arms arms) const {
    while (!same(arms) && node(arms[0]).op == Op::reshape) arms = operands_of(arms, 0);
    return std::find_if(arrays_.begin(), arrays_.end(), [&](const auto& known) { return known.first == arms; })->second;
  }

  void write_gather(Graph& made) {
    const Node& last = node(windows_.back());
    Node& gather = made[take(windows_.back())];
    const Dims& sizes = last.shape.dims;
    std::vector<std::int64_t> offsets, slice;
    Dims dims;
    dims.push_back(count());
    for (int dim = 0; dim < last.shape.rank(); ++dim) {
      offsets.push_back(dim + 1);
      slice.push_back(sizes[dim]);
      dims.push_back(sizes[dim]);
    }
    gather.op = Op::gather;
    gather.operands = {};
    gather.operands.push_back(last.operands[0]);
    gather.operands.push_back(array_of(starts_));
    gather.shape = make_shape(last.shape.dtype, dims);
    gather.attributes = HloText{fmt::format(
        "offset_dims={{{}}}, collapsed_slice_dims={{}}, start_index_map={{{}}}, index_vector_dim=1, slice_sizes={{{}}}",
        fmt::join(offsets, ","), open_, fmt::join(slice, ","))};
    Node& stack = made[stack_];
    stack.op = Op::reshape;
    stack.attributes = Node{}.attributes;
    stack.operands = {};
    stack.operands.push_back(windows_.back());
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& users_;
  NodeId stack_;
  Arms windows_, starts_;
  int open_ = -1;
  std::vector<Written> written_;
  std::vector<NodeId> swallowed_, free_;
  std::vector<std::pair<Arms, NodeId>> arrays_;
};

}  // namespace

std::optional<Graph> with_windows_gathered(const Graph& group) {
  std::optional<Graph> result;
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    if (group.nodes[i].op != Op::concatenate || group.nodes[i].operands.size() < least_stacked_windows) continue;
    const Graph& now = result ? *result : group;
    Graph made = now;
    const std::vector<std::vector<NodeId>> users = ir::users(now);
    if (StackedWindows(now, static_cast<NodeId>(i), users).write(made)) result = std::move(made);
  }
  return result;
}

}  // namespace tailor::ir
