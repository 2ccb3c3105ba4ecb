// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The elements that the outputs of a group need of each of its values. In: a graph. Out: a count per node. Called by
// group_work(), whose bytes and operations are the least that any kernel has.
//
// Method. The walk goes from the outputs back, users before operands. What is needed of a value is a list of boxes; a
// box is a product of arithmetic progressions of indices, one for each dimension. Each operation turns the boxes of its
// result into boxes of its operands: a slice shifts and spreads them, a pad and a concatenation cut them, a transpose
// turns them, a broadcast and a reduction drop or fill dimensions, windows widen them. A reshape keeps them where
// dimensions meet: between such places the box must be one progression of linear indices.
//
// What has no box any more (a reshape that tears one, a look-up at unknown places) is only a number of elements, which
// is added up and never exceeds the array. Boxes that overlap in part are counted once, from below, so the whole is a
// bound: no kernel needs less, but for look-ups that touch the same place.
#include "costmodel/needed.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"

namespace tailor::costmodel {

namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::Shape;

/// first, first + step, ...: `count` indices of one dimension.
struct DimIndices {
  std::int64_t first = 0, count = 0, step = 1;
  std::int64_t last() const { return first + (count - 1) * step; }
  bool operator==(const DimIndices&) const = default;
};
using Box = std::vector<DimIndices>;

constexpr std::size_t most_boxes = 64;

DimIndices all_of(std::int64_t size) { return {0, size, 1}; }

/// Indices of both. Where both have long steps they are taken for disjoint: finding out would take as many steps.
DimIndices meet(const DimIndices& a, const DimIndices& b) {
  constexpr std::int64_t longest = 4096;
  if (a.step < b.step) return meet(b, a);
  const std::int64_t divisor = std::gcd(a.step, b.step);
  if (a.count <= 0 || b.count <= 0 || (b.first - a.first) % divisor != 0 || b.step > longest) return {};
  const std::int64_t step = a.step / divisor * b.step;
  std::int64_t at = a.first;
  while ((at - b.first) % b.step != 0) at += a.step;  // at most b.step / divisor times
  const std::int64_t from = std::max(a.first, b.first), to = std::min(a.last(), b.last());
  if (at < from) at += (from - at + step - 1) / step * step;
  if (at > to) return {};
  const std::int64_t count = (to - at) / step + 1;
  return {at, count, count == 1 ? 1 : step};
}

double size_of(const Box& box) {
  double size = 1;
  for (const DimIndices& one : box) size *= static_cast<double>(one.count);
  return size;
}

Box meet(const Box& a, const Box& b) {
  Box both(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) both[d] = meet(a[d], b[d]);
  return both;
}

/// What is needed of one value.
struct Need {
  std::vector<Box> boxes;
  double elsewhere = 0;  ///< elements at places that are not known
  bool whole = false;

  bool empty() const { return !whole && boxes.empty() && elsewhere <= 0; }

  void add_all() {
    whole = true;
    boxes.clear();
    elsewhere = 0;
  }

  void add(Box box, const Shape& shape) {
    if (whole || size_of(box) == 0) return;
    if (size_of(box) == static_cast<double>(elements(shape))) return add_all();
    for (std::size_t i = 0; i < boxes.size();) {
      const double common = size_of(meet(boxes[i], box));
      if (common == size_of(box)) return;
      if (const std::optional<Box> one = joined(boxes[i], box)) {
        box = *one;
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(i));
        i = 0;
        continue;
      }
      if (common == size_of(boxes[i]))
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
    if (size_of(box) == static_cast<double>(elements(shape))) return add_all();
    if (boxes.size() < most_boxes)
      boxes.push_back(std::move(box));
    else
      elsewhere += size_of(box);
  }

  double count(const Shape& shape) const {
    const auto total = static_cast<double>(elements(shape));
    if (whole) return total;
    double sum = elsewhere;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      double fresh = size_of(boxes[i]);
      for (std::size_t j = 0; j < i; ++j) fresh -= size_of(meet(boxes[i], boxes[j]));
      sum += std::max(0.0, fresh);
    }
    return std::min(total, sum);
  }

 private:
  /// Two boxes that differ in one dimension, where they touch or overlap, are one.
  static std::optional<Box> joined(const Box& a, const Box& b) {
    std::optional<std::size_t> apart;
    for (std::size_t d = 0; d < a.size(); ++d) {
      if (a[d] == b[d]) continue;
      if (apart) return std::nullopt;
      apart = d;
    }
    if (!apart) return a;
    const DimIndices &x = a[*apart], &y = b[*apart];
    if (x.step != 1 || y.step != 1 || x.first > y.last() + 1 || y.first > x.last() + 1) return std::nullopt;
    Box both = a;
    const std::int64_t first = std::min(x.first, y.first);
    both[*apart] = {first, std::max(x.last(), y.last()) - first + 1, 1};
    return both;
  }
};

/// The box's linear indices over these dimensions, outermost first, when they are one progression.
std::optional<DimIndices> linear(const Box& box, const std::vector<std::int64_t>& sizes) {
  DimIndices all = box.back();
  std::int64_t extent = sizes.back();
  for (std::size_t d = sizes.size() - 1; d-- > 0;) {
    const DimIndices& outer = box[d];
    const std::int64_t first = outer.first * extent + all.first;
    if (outer.count == 1)
      all.first = first;
    else if (all.count == 1)
      all = {first, outer.count, outer.step * extent};
    else if (outer.step == 1 && all.count * all.step == extent)
      all = {first, outer.count * all.count, all.step};
    else
      return std::nullopt;
    extent *= sizes[d];
  }
  return all;
}

/// A progression of linear indices as a box over these dimensions, when it is one.
std::optional<Box> unfolded(DimIndices all, const std::vector<std::int64_t>& sizes) {
  Box box(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 1;) {
    const std::int64_t size = sizes[d], inner = all.first % size;
    if (all.count == 1 || all.step % size == 0) {
      box[d] = {inner, 1, 1};
      all = {all.first / size, all.count, all.count == 1 ? 1 : all.step / size};
    } else if (inner + (all.count - 1) * all.step < size) {
      box[d] = {inner, all.count, all.step};
      all = {all.first / size, 1, 1};
    } else if (size % all.step == 0 && inner < all.step && all.count % (size / all.step) == 0) {
      box[d] = {inner, size / all.step, all.step};
      all = {all.first / size, all.count / (size / all.step), 1};
    } else {
      return std::nullopt;
    }
  }
  box[0] = all;
  return box;
}

/// The box of a reshape's operand. Dimensions are taken in runs of equally many elements on either side.
std::optional<Box> before_reshape(const Box& box, const Shape& to, const Shape& from) {
  Box result;
  int i = 0, j = 0;
  while (i < to.rank() || j < from.rank()) {
    Box part;
    std::vector<std::int64_t> to_sizes, from_sizes;
    std::int64_t to_run = 1, from_run = 1;
    do {
      if (i < to.rank() && (to_run <= from_run || j == from.rank())) {
        to_run *= to.dims[i];
        to_sizes.push_back(to.dims[i]);
        part.push_back(box[static_cast<std::size_t>(i++)]);
      } else {
        from_run *= from.dims[j];
        from_sizes.push_back(from.dims[j++]);
      }
    } while (to_run != from_run || (i == to.rank() && j < from.rank() && from.dims[j] == 1));
    if (from_sizes.empty()) continue;  // a dimension of size 1 that the operand does not have
    if (to_sizes.empty()) {            // dimensions of size 1 that only the operand has
      result.insert(result.end(), from_sizes.size(), all_of(1));
      continue;
    }
    const std::optional<DimIndices> all = linear(part, to_sizes);
    const std::optional<Box> unfolded_part = all ? unfolded(*all, from_sizes) : std::nullopt;
    if (!unfolded_part) return std::nullopt;
    result.insert(result.end(), unfolded_part->begin(), unfolded_part->end());
  }
  return result;
}

class Needs {
 public:
  explicit Needs(const Graph& graph) : graph_(graph), needs_(graph.nodes.size()), updated_(graph.nodes.size(), false) {
    for (const NodeId output : graph.outputs) {
      updated_[output] = is_update_in_place(graph[output]);
      if (!updated_[output]) needs_[output].add_all();
    }
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
      const auto id = static_cast<NodeId>(i);
      if (updated_[id] || !needs_[id].empty()) hand_on(id);
    }
  }

  std::vector<double> counts() const {
    std::vector<double> result;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Need& need = needs_[i];
      const Shape& shape = graph_.nodes[i].shape;
      const bool tuple = shape.dtype == ir::DType::tuple;
      result.push_back(tuple ? (need.empty() ? 0 : 1) : updated_[i] ? changed(i) : need.count(shape));
    }
    return result;
  }

 private:
  /// Elements that an update in place writes.
  double changed(std::size_t id) const {
    const Node& node = graph_.nodes[id];
    return static_cast<double>(elements(graph_[node.operands[node.op == Op::scatter ? 2 : 1]].shape));
  }

  bool is_update_in_place(const Node& node) const {
    if (node.operands.empty() || graph_[node.operands[0]].op != Op::parameter) return false;
    const bool updates = (node.op == Op::dynamic_update_slice && node.operands.size() >= 2) ||
                         (node.op == Op::scatter && node.operands.size() == 3);
    return updates && std::any_of(graph_.in_place.begin(), graph_.in_place.end(), [&](const ir::InPlace& pair) {
             return &graph_[graph_.outputs[ir::index(pair.output)]] == &node;
           });
  }

  const Shape& shape(NodeId id) const { return graph_[id].shape; }
  double size(NodeId id) const { return static_cast<double>(elements(shape(id))); }
  void all(NodeId id) { needs_[id].add_all(); }
  void all_from(const Node& node, std::size_t first) {
    for (std::size_t i = first; i < node.operands.size(); ++i) all(node.operands[i]);
  }
  void some(NodeId id, double count) {
    Need& need = needs_[id];
    if (!need.whole) need.elsewhere += std::clamp(count, 0.0, size(id));
  }

  /// Each box through `move`, which may give none; of elements at unknown places `unplaced`.
  template <class Move>
  void each(NodeId id, NodeId operand, double unplaced, Move&& move) {
    const Need& need = needs_[id];
    const auto add = [&](const Box& box) {
      if (const std::optional<Box> moved = move(box))
        needs_[operand].add(*moved, shape(operand));
      else
        some(operand, size_of(box));
    };
    if (need.whole) {
      Box box;
      for (const std::int64_t dim : shape(id).dims) box.push_back(all_of(dim));
      return add(box);
    }
    for (const Box& box : need.boxes) add(box);
    if (need.elsewhere > 0) some(operand, unplaced);
  }

  void hand_on(NodeId id) {
    const Node& node = graph_[id];
    const Need& need = needs_[id];
    if (node.operands.empty()) return;
    const NodeId from = node.operands[0];
    if (node.shape.dtype == ir::DType::tuple) return all_from(node, 0);
    switch (node.op) {
      case Op::slice:
        return each(id, from, need.elsewhere, [&](Box box) {
          for (int d = 0; d < node.shape.rank(); ++d) {
            const ir::SliceRange& range = slice_range(node, d);
            DimIndices& one = box[static_cast<std::size_t>(d)];
            one = {range.start + one.first * range.stride, one.count, one.count == 1 ? 1 : one.step * range.stride};
          }
          return std::optional(box);
        });
      case Op::pad:
        all(node.operands[1]);
        return each(id, from, need.elsewhere - (size(id) - kept_by_pad(node)), [&](Box box) {
          for (int d = 0; d < node.shape.rank(); ++d) {
            const ir::PadRange& range = pad_range(node, d);
            DimIndices& one = box[static_cast<std::size_t>(d)];
            one = meet(one, {range.low, shape(from).dims[d], range.interior + 1});
            one = {(one.first - range.low) / (range.interior + 1), one.count,
                   one.count <= 1 ? 1 : one.step / (range.interior + 1)};
          }
          return std::optional(box);
        });
      case Op::reverse:
        return each(id, from, need.elsewhere, [&](Box box) {
          for (const std::int64_t d : axes(node)) {
            DimIndices& one = box[static_cast<std::size_t>(d)];
            one.first = node.shape.dims[static_cast<int>(d)] - 1 - one.last();
          }
          return std::optional(box);
        });
      case Op::transpose:
        return each(id, from, need.elsewhere, [&](const Box& box) {
          Box turned(box.size());
          for (std::size_t d = 0; d < box.size(); ++d)
            turned[static_cast<std::size_t>(axes(node)[static_cast<int>(d)])] = box[d];
          return std::optional(turned);
        });
      case Op::broadcast:
        return each(id, from, need.elsewhere * size(from) / std::max(1.0, size(id)), [&](const Box& box) {
          Box narrow;
          for (int d = 0; d < shape(from).rank(); ++d) {
            const int to = static_cast<int>(axes(node)[d]);
            const bool same = shape(from).dims[d] == node.shape.dims[to];
            narrow.push_back(same ? box[static_cast<std::size_t>(to)] : all_of(1));
          }
          return std::optional(narrow);
        });
      case Op::reshape:
      case Op::bitcast:
        return each(id, from, need.elsewhere, [&](const Box& box) -> std::optional<Box> {
          if (size_of(box) == size(id) && size(id) == size(from)) {
            Box whole;
            for (const std::int64_t dim : shape(from).dims) whole.push_back(all_of(dim));
            return whole;
          }
          if (size(id) != size(from) || !is_row_major(shape(id)) || !is_row_major(shape(from))) return std::nullopt;
          return before_reshape(box, shape(id), shape(from));
        });
      case Op::concatenate:
        return hand_on_parts(id);
      case Op::reduce:
        return hand_on_reduced(id);
      case Op::reduce_window:
        return hand_on_windows(id);
      case Op::dynamic_slice:
      case Op::gather:
        some(from, need.count(node.shape));
        return all_from(node, 1);
      case Op::dynamic_update_slice:
      case Op::scatter:
        return hand_on_updated(id);
      default:
        break;
    }
    const ir::OpClass kind = class_of(node.op);
    if (kind != ir::OpClass::elementwise && kind != ir::OpClass::mapped) return all_from(node, 0);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const NodeId operand = node.operands[i];
      if (std::find(node.operands.begin(), node.operands.begin() + static_cast<std::ptrdiff_t>(i), operand) !=
          node.operands.begin() + static_cast<std::ptrdiff_t>(i))
        continue;
      if (shape(operand).rank() == 0 || shape(operand).dtype == ir::DType::tuple)
        all(operand);
      else if (shape(operand).dims == node.shape.dims)
        each(id, operand, need.elsewhere, [](const Box& box) { return std::optional(box); });
      else  // a conversion of bits between widths
        some(operand, need.count(node.shape) * size(operand) / std::max(1.0, size(id)));
    }
  }

  double kept_by_pad(const Node& node) const {
    double kept = 1;
    for (int d = 0; d < node.shape.rank(); ++d) {
      const ir::PadRange& range = pad_range(node, d);
      kept *= static_cast<double>(
          meet(all_of(node.shape.dims[d]), {range.low, shape(node.operands[0]).dims[d], range.interior + 1}).count);
    }
    return kept;
  }

  void hand_on_parts(NodeId id) {
    const Node& node = graph_[id];
    const int axis = ir::axis(node);
    std::int64_t begin = 0;
    for (const NodeId operand : node.operands) {
      const std::int64_t length = shape(operand).dims[axis];
      each(id, operand, needs_[id].elsewhere - (size(id) - size(operand)), [&](Box box) {
        DimIndices& along = box[static_cast<std::size_t>(axis)];
        along = meet(along, {begin, length, 1});
        along.first -= begin;
        return std::optional(box);
      });
      begin += length;
    }
  }

  void hand_on_reduced(NodeId id) {
    const Node& node = graph_[id];
    const NodeId from = node.operands[0];
    if (node.operands.size() != 2) return all_from(node, 0);
    all(node.operands[1]);
    each(id, from, needs_[id].elsewhere * size(from) / std::max(1.0, size(id)), [&](const Box& box) {
      Box wide;
      std::size_t next = 0;
      for (int d = 0; d < shape(from).rank(); ++d)
        wide.push_back(axes(node).contains(d) ? all_of(shape(from).dims[d]) : box[next++]);
      return std::optional(wide);
    });
  }

  /// Windows that touch one another, or overlap, are one run. Of those that lie apart the first elements alone are
  /// counted, and of windows at unknown places one each: from below.
  void hand_on_windows(NodeId id) {
    const Node& node = graph_[id];
    const NodeId from = node.operands[0];
    if (node.operands.size() != 2) return all_from(node, 0);
    all(node.operands[1]);
    const auto window = ir::parse_window(ir::hlo_text(node), shape(from).rank());
    each(id, from, needs_[id].elsewhere, [&](Box box) -> std::optional<Box> {
      for (int d = 0; d < node.shape.rank(); ++d) {
        const ir::WindowDim& along = window[d];
        const std::int64_t size = shape(from).dims[d];
        DimIndices& one = box[static_cast<std::size_t>(d)];
        if (along.base_dilation != 1 || along.window_dilation != 1) {
          one = all_of(std::min<std::int64_t>(size, 1));
          continue;
        }
        const std::int64_t step = one.count <= 1 ? 1 : one.step * along.stride;
        const std::int64_t first = one.first * along.stride - along.pad_low, last = first + (one.count - 1) * step;
        const DimIndices reached =
            step <= along.size ? DimIndices{first, last - first + along.size, 1} : DimIndices{first, one.count, step};
        one = meet(reached, all_of(size));
      }
      return box;
    });
  }

  /// An update needs its own operands; of the array it changes what others read and it does not write. In place and
  /// only stored, the array stays where it is; a scatter adds to what it finds.
  void hand_on_updated(NodeId id) {
    const Node& node = graph_[id];
    const bool scatter = node.op == Op::scatter;
    if (scatter && node.operands.size() != 3) return all_from(node, 0);
    const NodeId update = node.operands[scatter ? 2 : 1];
    const double written = size(update), read = needs_[id].count(node.shape);
    all_from(node, 1);
    if (scatter)
      some(node.operands[0], std::max(updated_[id] ? written : 0, read));
    else
      some(node.operands[0], read - written);
  }

  const Graph& graph_;
  IndexedVector<Need> needs_;
  IndexedVector<bool> updated_;  ///< outputs that are updates of a parameter
};

}  // namespace

std::vector<double> needed_elements(const Graph& group) { return Needs(group).counts(); }

}  // namespace tailor::costmodel
