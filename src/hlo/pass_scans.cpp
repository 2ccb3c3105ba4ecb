// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative sums, products, maxima: a reduce-window along one dimension whose windows begin, or end, at its end. In:
// such an instruction, longer than what a kernel goes through tap by tap. Out: what it stands for in windows of 16, so
// that its work is linear and every part has a kernel. Called by the walk (graph_builder.cpp).
//
// The dimension is cut into blocks of 16, the last one filled up with the reducer's neutral element. Within a block
// windows are short. In front of a block stands what all blocks before it come to, which is the same question of a
// sixteenth of the length:
//
//   inner[j, k] = x[j, 0] + ... + x[j, k]        before[j] = inner[0, 15] + ... + inner[j - 1, 15]
//   y[16 j + k] = before[j] + inner[j, k]
//
// Windows that end at the end are the mirror image. XLA makes a tree of such windows too (its ReduceWindowRewriter, of
// the same width). Floats are added in another order than in the text, as any kernel does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hlo/expansion.h"
#include "ir/graph/attribute_text.h"

namespace tailor::hlo {

namespace {

constexpr std::int64_t block = 16;  ///< windows of a block

struct ScanForm {
  int axis = -1;         ///< -1: it is none, or a short one
  bool forward = false;  ///< windows begin at the beginning; else they end at the end
};

ScanForm scan_form_of(const ir::Node& node, const ir::Shape& operand) {
  ScanForm form;
  const auto windows = ir::parse_window(ir::hlo_text(node), operand.rank());
  for (int i = 0; i < operand.rank(); ++i) {
    const ir::WindowDim& one = windows[i];
    if (one.stride != 1 || one.base_dilation != 1 || one.window_dilation != 1 || one.reversed) return {};
    if (one.size == 1 && one.pad_low == 0 && one.pad_high == 0) continue;
    const std::int64_t length = operand.dims[i];
    const bool forward = one.pad_low == length - 1 && one.pad_high == 0;
    const bool backward = one.pad_low == 0 && one.pad_high == length - 1;
    if (form.axis >= 0 || one.size != length || length <= most_taps || !(forward || backward)) return {};
    form = {i, forward};
  }
  return form;
}

class Scan : Expansion {
 public:
  Scan(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& node, ScanForm form)
      : Expansion(builder, instruction, node.name),
        reducer_(reducer(node)),
        init_(node.operands[1]),
        axis_(form.axis),
        forward_(form.forward) {
    neutral_ = neutral(reducer_, node.shape.dtype);
    const auto* known = std::get_if<ir::Literal>(&builder.node(init_).attributes);
    starts_neutral_ =
        known != nullptr && known->bytes == std::get<ir::Literal>(builder.node(neutral_).attributes).bytes;
  }

  /// The last node has the name and the layout of what was read.
  HloValue finish(const ir::Node& node) {
    ir::NodeId result = inclusive(node.operands[0], "");
    if (!starts_neutral_) {
      result = add(ir::op_of(reducer_), "with_init", shape_of(result),
                   {everywhere("init_spread", init_, shape_of(result)), result});
    }
    builder_.node(result).name = name();
    builder_.node(result).shape = node.shape;
    return Expansion::finish(Pass::scans, {&result, 1});
  }

 private:
  std::int64_t length_of(ir::NodeId id) { return shape_of(id).dims[axis_]; }

  /// The shape of `id` with another length along the axis, and, with `blocks`, one more dimension of so many before it.
  ir::Shape shape_with(ir::NodeId id, std::int64_t length, std::int64_t blocks = 0) {
    ir::Dims dims;
    const ir::Shape& shape = shape_of(id);
    for (int i = 0; i < shape.rank(); ++i) {
      if (i == axis_ && blocks > 0) dims.push_back(blocks);
      dims.push_back(i == axis_ ? length : shape.dims[i]);
    }
    return ir::make_shape(shape.dtype, dims);
  }

  ir::NodeId cut(ir::NodeId x, const std::string& word, int axis, std::int64_t low, std::int64_t high) {
    ir::SliceRanges ranges;
    for (int i = 0; i < shape_of(x).rank(); ++i)
      ranges.ranges.push_back(i == axis ? ir::SliceRange{low, high, 1} : ir::SliceRange{0, shape_of(x).dims[i], 1});
    return slice(word, x, std::move(ranges));
  }

  ir::NodeId fill_up(ir::NodeId x, const std::string& word, std::int64_t low, std::int64_t high) {
    ir::PadRanges ranges;
    ranges.ranges.resize(shape_of(x).rank());
    ranges.ranges[axis_] = {low, high, 0};
    return pad(word, x, neutral_, std::move(ranges));
  }

  /// Windows along `axis` over as much as there is of it.
  ir::NodeId windows(ir::NodeId x, const std::string& word, int axis) {
    const ir::Shape shape = shape_of(x);
    std::vector<std::string> sizes, pads;
    for (int i = 0; i < shape.rank(); ++i) {
      const std::int64_t reach = i == axis ? shape.dims[i] - 1 : 0;
      sizes.push_back(fmt::format("{}", reach + 1));
      pads.push_back(forward_ ? fmt::format("{}_0", reach) : fmt::format("0_{}", reach));
    }
    return add(ir::Op::reduce_window, word, shape, {x, neutral_},
               ir::RegionCall{reducer_,
                              fmt::format("window={{size={} pad={}}}", fmt::join(sizes, "x"), fmt::join(pads, "x"))});
  }

  /// `level` tells the words of one level from those of another.
  ir::NodeId inclusive(ir::NodeId x, const std::string& level) {
    const std::int64_t length = length_of(x);
    if (length <= most_taps) return windows(x, level + "scan", axis_);
    const std::int64_t blocks = (length + block - 1) / block, missing = blocks * block - length;
    const ir::NodeId full = fill_up(x, level + "filled", 0, missing);
    const ir::NodeId rows = add(ir::Op::reshape, level + "blocks", shape_with(x, block, blocks), {full});
    const ir::NodeId inner = windows(rows, level + "inner", axis_ + 1);
    const std::int64_t last = forward_ ? block - 1 : 0;
    const ir::NodeId ends = cut(inner, level + "ends", axis_ + 1, last, last + 1);
    const ir::NodeId totals = add(ir::Op::reshape, level + "totals", shape_with(x, blocks), {ends});
    const ir::NodeId before = moved(inclusive(totals, level + "up/"), level);
    ir::Dims kept;
    for (int i = 0; i <= shape_of(x).rank(); ++i)
      if (i != axis_ + 1) kept.push_back(i);
    const ir::NodeId spread = add(ir::Op::broadcast, level + "spread", shape_of(inner), {before}, ir::AxisList{kept});
    const ir::NodeId sum = forward_ ? add(ir::op_of(reducer_), level + "sum", shape_of(inner), {spread, inner})
                                    : add(ir::op_of(reducer_), level + "sum", shape_of(inner), {inner, spread});
    const ir::NodeId flat = add(ir::Op::reshape, level + "flat", shape_with(x, blocks * block), {sum});
    return cut(flat, level + "cut", axis_, 0, length);
  }

  /// What stands in front of each block: its neighbour's value, and the neutral element for the first.
  ir::NodeId moved(ir::NodeId scan, const std::string& level) {
    const std::int64_t count = length_of(scan);
    const ir::NodeId kept =
        forward_ ? cut(scan, level + "others", axis_, 0, count - 1) : cut(scan, level + "others", axis_, 1, count);
    return forward_ ? fill_up(kept, level + "before", 1, 0) : fill_up(kept, level + "before", 0, 1);
  }

  ir::Reducer reducer_;
  ir::NodeId init_, neutral_ = ir::no_node;
  int axis_;
  bool forward_, starts_neutral_ = false;
};

}  // namespace

HloValue resolve_reduce_window(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType& type = builder.module().type_of(instruction);
  if (type.children < 0 && instruction.operands == 2) {
    const ir::Node node = node_with_region(builder, frame, instruction);
    const ir::Shape& operand = builder.node(node.operands[0]).shape;
    const bool is_plain = operand.dims == node.shape.dims && operand.dtype == node.shape.dtype &&
                          operand.rank() < ir::max_rank && builder.node(node.operands[1]).shape.rank() == 0;
    if (is_plain && has_neutral(ir::reducer(node), operand.dtype))
      if (const ScanForm form = scan_form_of(node, operand); form.axis >= 0)
        return Scan(builder, instruction, node, form).finish(node);
  }
  return builder.add_plain(instruction, frame, instruction.op, type);
}

}  // namespace tailor::hlo
