// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuples and markers: instructions whose value is their operands' leaves, regrouped. Dimension sizes are static here,
// so asking for one is a constant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ir/draft.h"

namespace tailor::ir {

namespace {

/// Custom-calls that say where a value should live and hand it on.
constexpr auto marker_targets = std::to_array<std::string_view>(
    {"Sharding", "xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape", "annotate_device_placement", "MoveToHost",
     "MoveToDevice", "LayoutConstraint", "PinToDevice", "Pin", "Unpin"});

}  // namespace

HloValue resolve_tuple(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  draft.ledger().add(Pass::tuples, 1, 0, 1);
  const std::vector<NodeId> leaves = draft.flat_operands(instruction, frame);
  return draft.checked(instruction, draft.value_of(leaves, draft.module().type_of(instruction)));
}

HloValue resolve_tuple_element(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  draft.ledger().add(Pass::tuples, 1, 0, 1);
  const std::vector<std::int64_t> index = numbers_in(draft.module().attribute(instruction, "index"));
  if (index.size() != 1)
    draft.fail(instruction,
               fmt::format("found '{}' without 'index=', expected the element it picks", instruction.name));
  return draft.checked(instruction, draft.part(instruction, draft.operand(instruction, 0, frame), index[0]));
}

HloValue resolve_marker(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  if (instruction.operands < 1)
    draft.fail(instruction, fmt::format("found '{}' without operands, expected what it hands on", instruction.opcode));
  draft.ledger().add(Pass::markers, 1, 0, 1);
  return draft.checked(instruction, draft.operand(instruction, 0, frame));
}

HloValue resolve_custom_call(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  std::string_view target = draft.module().attribute(instruction, "custom_call_target");
  if (target.size() >= 2) target = target.substr(1, target.size() - 2);
  const bool marker = std::find(marker_targets.begin(), marker_targets.end(), target) != marker_targets.end();
  if (marker && instruction.operands == 1) {
    const HloType& type = draft.module().type_of(instruction);
    const HloValue value = draft.operand(instruction, 0, frame);
    if (type.children < 0 && value.count == 1) {
      const Shape& from = draft.node(draft.leaves(value)[0]).shape;
      const Shape& to = draft.module().shapes_of(type)[0];
      if (from.dtype == to.dtype && from.dims == to.dims) return resolve_marker(draft, frame, instruction);
    }
  }
  return draft.add_plain(instruction, frame, Op::custom_call, draft.module().type_of(instruction));
}

HloValue resolve_dimension_size(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  const std::vector<std::int64_t> dimensions = numbers_in(draft.module().attribute(instruction, "dimensions"));
  const HloValue value = instruction.operands == 1 ? draft.operand(instruction, 0, frame) : HloValue{};
  const HloType& type = draft.module().type_of(instruction);
  const bool fits = value.count == 1 && dimensions.size() == 1 && type.children < 0 &&
                    draft.module().shapes_of(type)[0] == shape_of(DType::s32, {});
  const Dims dims = fits ? draft.node(draft.leaves(value)[0]).shape.dims : Dims{};
  if (!fits || dimensions[0] < 0 || dimensions[0] >= dims.size())
    draft.fail(instruction, "found a get-dimension-size that does not fit its operand, expected one dimension of it");
  draft.ledger().add(Pass::sizes, 1, 0, 0);
  Node node;
  node.op = Op::constant;
  node.shape = shape_of(DType::s32, {});
  node.name = draft.full_name(instruction, frame);
  const auto size = static_cast<std::int32_t>(dims[static_cast<int>(dimensions[0])]);
  node.attributes.literal.emplace();
  node.attributes.literal->bytes.resize(sizeof size);
  std::memcpy(node.attributes.literal->bytes.data(), &size, sizeof size);
  return draft.add_result(std::move(node), type, instruction);
}

}  // namespace tailor::ir
