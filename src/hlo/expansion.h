// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One instruction becomes several nodes. In: the instruction and what it is called. Out: nodes under its name, counted
// for the ledger, the last of them with the name alone. Called by the passes that expand (pass_composites.cpp,
// pass_scans.cpp, pass_scatters.cpp, pass_widths.cpp).
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "hlo/graph_builder.h"

namespace tailor::hlo {

/// What an instruction with a region would be as one node, without the region's body, which add_plain() alone adds and
/// counts. Precondition: its type is one array.
inline ir::Node node_with_region(const GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  ir::Node node;
  node.op = instruction.op;
  node.name = builder.full_name(instruction, frame);
  node.operands = builder.flat_operands(instruction, frame);
  node.shape = builder.module().shapes_of(builder.module().type_of(instruction))[0];
  ir::RegionCall call{find_reducer(builder.module(), builder.find_computation(instruction, "to_apply")), {}};
  for (const HloAttribute& one : builder.module().attributes_of(instruction))
    call.text += fmt::format("{}{}={}", call.text.empty() ? "" : ", ", one.key, one.value);
  node.attributes = std::move(call);
  return node;
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
  /// The low bytes of `bits` as one number of a type of whole bytes.
  ir::NodeId constant(std::string_view word, ir::DType dtype, std::uint64_t bits) {
    ir::Literal literal;
    literal.bytes.resize(static_cast<std::size_t>(row(dtype).bits) / 8);
    std::memcpy(literal.bytes.data(), &bits, literal.bytes.size());
    return add(ir::Op::constant, word, ir::make_shape(dtype, {}), {}, std::move(literal));
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
