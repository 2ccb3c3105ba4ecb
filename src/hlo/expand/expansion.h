// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One instruction becomes several nodes. In: the instruction and what it is called. Out: nodes under its name, counted
// for the ledger, the last of them with the name alone. Called by the passes that expand (pass_composites.cpp,
// pass_scans.cpp, pass_scatters.cpp, pass_selections.cpp, pass_short_reductions.cpp, pass_topk.cpp, pass_widths.cpp,
// pass_windows.cpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hlo/graph_builder.h"
#include "ir/graph/number.h"
#include "ir/graph/reducer.h"
#include "ir/graph/window_strips.h"

namespace tailor::hlo {

/// What an instruction with a region would be as one node, without the region's body, which add_plain() alone adds and
/// counts. Precondition: its type is one array.
inline ir::Node node_with_region(const GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  ir::Node node;
  node.op = instruction.op;
  node.name = builder.full_name(instruction, frame);
  node.operands = builder.flat_operands(instruction, frame);
  node.shape = builder.module().shapes_of(builder.module().type_of(instruction))[0];
  ir::RegionCall call{
      find_reducer(builder.module(), builder.find_computation(instruction, "to_apply"), node.shape.dtype), {}};
  for (const HloAttribute& one : builder.module().attributes_of(instruction))
    call.text += fmt::format("{}{}={}", call.text.empty() ? "" : ", ", one.key, one.value);
  node.attributes = std::move(call);
  return node;
}

using ir::most_taps;

/// Floats of 8 bits have no infinity, or no zero.
inline bool has_neutral(ir::Reducer reducer, ir::DType dtype) {
  if (reducer == ir::Reducer::none || reducer == ir::Reducer::custom) return false;
  const ir::DTypeKind kind = row(dtype).kind;
  if (ir::is_floating(dtype)) return row(dtype).bits >= 16;
  return row(dtype).bits >= 8 && dtype != ir::DType::pred &&
         (kind == ir::DTypeKind::signed_integer || kind == ir::DTypeKind::unsigned_integer);
}

class Expansion {
 public:
  Expansion(GraphBuilder& builder, const HloInstruction& from, std::string name)
      : builder_(builder), from_(from), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const ir::Shape& shape_of(ir::NodeId id) const { return builder_.node(id).shape; }

  /// "name/word", or the name alone for an empty word.
  ir::NodeId add(ir::Op op, std::string_view word, const ir::Shape& shape, std::initializer_list<ir::NodeId> operands,
                 ir::Attributes attributes = ir::NoAttributes{}) {
    ir::Node node;
    node.op = op;
    node.shape = shape;
    node.operands.assign(operands.begin(), operands.end());
    node.attributes = std::move(attributes);
    return add(std::move(node), word);
  }
  ir::NodeId add(ir::Node&& node, std::string_view word) {
    node.name = word.empty() ? name_ : fmt::format("{}/{}", name_, word);
    ++added_;
    return builder_.add_node(std::move(node), from_);
  }
  /// A region of the graph's own making; the one that is there already where it is equal.
  std::int32_t add_body(ir::Graph&& region) {
    const std::size_t nodes = region.nodes.size();
    const auto [number, is_new] = builder_.find_or_add_body(std::move(region));
    if (is_new) added_ += static_cast<std::int64_t>(nodes);
    return number;
  }
  /// The low bytes of `bits` as one number of a type of whole bytes.
  ir::NodeId constant(std::string_view word, ir::DType dtype, std::uint64_t bits) {
    ir::Literal literal;
    literal.bytes.resize(static_cast<std::size_t>(row(dtype).bits) / 8);
    std::memcpy(literal.bytes.data(), &bits, literal.bytes.size());
    return add(ir::Op::constant, word, ir::make_shape(dtype, {}), {}, std::move(literal));
  }
  /// Precondition: there is one.
  ir::NodeId neutral(ir::Reducer reducer, ir::DType dtype) {
    const ir::Neutral number = ir::neutral(reducer, dtype);
    return constant(
        "neutral", dtype,
        ir::is_floating(dtype) ? ir::encode(dtype, number.real) : static_cast<std::uint64_t>(number.integer));
  }
  /// A part of `x`, or x itself where that is all of it. Not taken where a dimension would be cut to nothing.
  ir::NodeId slice(std::string_view word, ir::NodeId x, ir::SliceRanges ranges) {
    ir::Shape shape = shape_of(x);
    bool is_all = true;
    for (int i = 0; i < shape.rank(); ++i) {
      const ir::SliceRange& one = ranges.ranges[i];
      is_all = is_all && one.start == 0 && one.limit == shape.dims[i] && one.stride == 1;
      shape.dims[i] = (one.limit - one.start + one.stride - 1) / one.stride;
    }
    return is_all ? x : add(ir::Op::slice, word, shape, {x}, std::move(ranges));
  }
  /// `x` between so many copies of `fill`, or x itself where they are none.
  ir::NodeId pad(std::string_view word, ir::NodeId x, ir::NodeId fill, ir::PadRanges ranges) {
    ir::Shape shape = shape_of(x);
    bool is_idle = true;
    for (int i = 0; i < shape.rank(); ++i) {
      const ir::PadRange& one = ranges.ranges[i];
      is_idle = is_idle && one == ir::PadRange{};
      shape.dims[i] += one.low + one.high + one.interior * std::max<std::int64_t>(shape.dims[i] - 1, 0);
    }
    return is_idle ? x : add(ir::Op::pad, word, shape, {x, fill}, std::move(ranges));
  }
  /// The arrays and then what they begin with, reduced to `shapes`; one node for each of these. `body`: of a reducer of
  /// the graph's own, else negative.
  std::vector<ir::NodeId> reduce(std::string_view word, const std::vector<ir::NodeId>& operands,
                                 const std::vector<ir::Shape>& shapes, ir::Reduction reduction, std::int32_t body) {
    ir::Node node;
    node.op = ir::Op::reduce;
    node.operands = operands;
    node.attributes = std::move(reduction);
    if (body >= 0) node.bodies = {body};
    node.shape = shapes.size() == 1 ? shapes[0] : ir::make_shape(ir::DType::tuple, {});
    if (shapes.size() > 1) node.results = shapes;
    const ir::NodeId all = add(std::move(node), word);
    if (shapes.size() == 1) return {all};
    std::vector<ir::NodeId> parts;
    for (std::size_t k = 0; k < shapes.size(); ++k)
      parts.push_back(add(ir::Op::get_tuple_element, fmt::format("{}_{}", word, k), shapes[k], {all},
                          ir::TupleIndex{static_cast<std::int64_t>(k)}));
    return parts;
  }
  /// One number in every place of `shape`.
  ir::NodeId everywhere(std::string_view word, ir::NodeId number, const ir::Shape& shape) {
    return add(ir::Op::broadcast, word, shape, {number}, ir::AxisList{});
  }
  /// The instruction's value: `nodes`, one for each array of its type.
  HloValue finish(Pass pass, std::span<const ir::NodeId> nodes) {
    builder_.ledger().add(pass, 1, added_, 1);
    return builder_.checked(from_, builder_.add_value(nodes, builder_.module().type_of(from_)));
  }

 protected:
  GraphBuilder& builder_;
  const HloInstruction& from_;

 private:
  std::string name_;
  std::int64_t added_ = 0;
};

}  // namespace tailor::hlo
