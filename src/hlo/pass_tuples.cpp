// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuples and markers. In: instructions that group values, pick one, or hand one on. Out: no node; the value of such an
// instruction is its operands' leaves, regrouped. Called by the walk. Dimension sizes are static here, so an
// instruction that asks for one becomes a constant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "hlo/graph_builder.h"

namespace tailor::hlo {

namespace {

/// Custom-calls that say where a value should live and hand it on.
constexpr auto marker_targets = std::to_array<std::string_view>(
    {"Sharding", "xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape", "annotate_device_placement", "MoveToHost",
     "MoveToDevice", "LayoutConstraint", "PinToDevice", "Pin", "Unpin"});

/// A buffer that others write: there is no work to it.
constexpr std::string_view allocation = "AllocateBuffer";

}  // namespace

HloValue resolve_tuple(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  builder.ledger().add(Pass::tuples, 1, 0, 1);
  const std::vector<ir::NodeId> leaves = builder.flat_operands(instruction, frame);
  return builder.checked(instruction, builder.add_value(leaves, builder.module().type_of(instruction)));
}

HloValue resolve_tuple_element(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  builder.ledger().add(Pass::tuples, 1, 0, 1);
  const std::vector<std::int64_t> index = numbers_in(builder.module().attribute(instruction, "index"));
  if (index.size() != 1)
    builder.fail(instruction,
                 fmt::format("found '{}' without 'index=', expected the element it picks", instruction.name));
  return builder.checked(instruction, builder.part(instruction, builder.operand(instruction, 0, frame), index[0]));
}

HloValue resolve_marker(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  if (instruction.operands < 1)
    builder.fail(instruction,
                 fmt::format("found '{}' without operands, expected what it hands on", instruction.opcode));
  builder.ledger().add(Pass::markers, 1, 0, 1);
  return builder.checked(instruction, builder.operand(instruction, 0, frame));
}

namespace {

/// Custom calls that are an elementwise operation of floating values under another name. StableHLO has no erf;
/// github.com/pytorch/xla writes `stablehlo.custom_call @mhlo.erf` for it.
struct NamedOperation {
  std::string_view target;
  ir::Op op;
};
constexpr auto named_operations = std::to_array<NamedOperation>({
    {"mhlo.erf", ir::Op::erf},
});

/// The operation, where the call is one: of one array, with a result of its shape.
std::optional<ir::Op> named_operation(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction,
                                      std::string_view target) {
  const auto row = std::find_if(named_operations.begin(), named_operations.end(),
                                [&](const NamedOperation& one) { return one.target == target; });
  const HloType& type = builder.module().type_of(instruction);
  if (row == named_operations.end() || instruction.operands != 1 || type.children >= 0) return std::nullopt;
  const HloValue value = builder.operand(instruction, 0, frame);
  const ir::Shape& to = builder.module().shapes_of(type)[0];
  if (value.count != 1 || !is_floating(to.dtype)) return std::nullopt;
  const ir::Shape& from = builder.node(builder.leaves(value)[0]).shape;
  return from.dtype == to.dtype && from.dims == to.dims ? std::optional(row->op) : std::nullopt;
}

}  // namespace

HloValue resolve_custom_call(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  std::string_view target = builder.module().attribute(instruction, "custom_call_target");
  if (target.size() >= 2) target = target.substr(1, target.size() - 2);
  const bool marker = std::find(marker_targets.begin(), marker_targets.end(), target) != marker_targets.end();
  if (marker && instruction.operands == 1) {
    const HloType& type = builder.module().type_of(instruction);
    const HloValue value = builder.operand(instruction, 0, frame);
    if (type.children < 0 && value.count == 1) {
      const ir::Shape& from = builder.node(builder.leaves(value)[0]).shape;
      const ir::Shape& to = builder.module().shapes_of(type)[0];
      if (from.dtype == to.dtype && from.dims == to.dims) return resolve_marker(builder, frame, instruction);
    }
  }
  if (const std::optional<ir::Op> op = named_operation(builder, frame, instruction, target))
    return builder.add_plain(instruction, frame, *op, builder.module().type_of(instruction));
  if (!marker && target != allocation && !is_known_call(target))
    builder.note_unknown_call(target.empty() ? "without a target" : target);
  return builder.add_plain(instruction, frame, ir::Op::custom_call, builder.module().type_of(instruction));
}

HloValue resolve_dimension_size(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const std::vector<std::int64_t> dimensions = numbers_in(builder.module().attribute(instruction, "dimensions"));
  const HloValue value = instruction.operands == 1 ? builder.operand(instruction, 0, frame) : HloValue{};
  const HloType& type = builder.module().type_of(instruction);
  const bool fits = value.count == 1 && dimensions.size() == 1 && type.children < 0 &&
                    builder.module().shapes_of(type)[0] == make_shape(ir::DType::s32, {});
  const ir::Dims dims = fits ? builder.node(builder.leaves(value)[0]).shape.dims : ir::Dims{};
  if (!fits || dimensions[0] < 0 || dimensions[0] >= dims.size())
    builder.fail(instruction, "found a get-dimension-size that does not fit its operand, expected one dimension of it");
  builder.ledger().add(Pass::sizes, 1, 0, 0);
  ir::Node node;
  node.op = ir::Op::constant;
  node.shape = make_shape(ir::DType::s32, {});
  node.name = builder.full_name(instruction, frame);
  const auto size = static_cast<std::int32_t>(dims[static_cast<int>(dimensions[0])]);
  ir::Literal literal;
  literal.bytes.resize(sizeof size);
  std::memcpy(literal.bytes.data(), &size, sizeof size);
  node.attributes = std::move(literal);
  return builder.add_result(std::move(node), type, instruction);
}

}  // namespace tailor::hlo
