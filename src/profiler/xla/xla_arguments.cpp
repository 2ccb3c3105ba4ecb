// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands and results of an instruction as XLA passes them to what it launches: tuples flattened, each with its place
// by the buffer assignment, and whose bytes it is where there is none. What moves no bytes (bitcasts, tuples and their
// elements) is seen through, so that one value has one name wherever it is read.
#include "profiler/xla/xla_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tailor::profiler {

namespace {

void flatten(const hlo::HloModule& module, const hlo::HloType& type, const std::string& index,
             std::vector<XlaLeaf>& leaves) {
  if (type.children < 0) return leaves.push_back({index, module.shapes_of(type)[0]});
  for (std::int32_t i = 0; i < type.children; ++i)
    flatten(module, module.child(type, i), fmt::format("{}{}{}", index, index.empty() ? "" : ",", i), leaves);
}

std::string argument_name(std::string_view instruction, const std::string& index) {
  return index.empty() ? std::string(instruction) : fmt::format("{}{{{}}}", instruction, index);
}

/// Whose bytes result `index` of an instruction is, seen through what moves none.
std::string value_of(const hlo::HloModule& module, IndexedSpan<const hlo::HloInstruction> home,
                     const hlo::HloInstruction& start, std::string index) {
  const hlo::HloInstruction* one = &start;
  while (one->operands > 0) {
    std::int32_t number = 0;
    if (one->op == ir::Op::get_tuple_element) {
      index = std::string(module.attribute(*one, "index")) + (index.empty() ? "" : ",") + index;
    } else if (one->op == ir::Op::tuple && !index.empty()) {
      const std::size_t comma = std::min(index.find(','), index.size());
      std::from_chars(index.data(), index.data() + comma, number);
      index.erase(0, comma + 1);
      if (number >= one->operands) break;
    } else if (one->op != ir::Op::bitcast) {
      break;
    }
    one = &operand_of(module, home, *one, number);
  }
  return argument_name(one->name, index);
}

/// The constant that an operand is, seen through bitcasts, as an index into the module's instructions; -1: none.
std::int32_t constant_of(const hlo::HloModule& module, IndexedSpan<const hlo::HloInstruction> home,
                         const hlo::HloInstruction& start) {
  const hlo::HloInstruction* one = &start;
  while (one->op == ir::Op::bitcast && one->operands > 0) one = &operand_of(module, home, *one, 0);
  return one->op == ir::Op::constant ? static_cast<std::int32_t>(one - module.instructions.data()) : -1;
}

}  // namespace

const hlo::HloComputation& home_of(const hlo::HloModule& module, const hlo::HloInstruction& one) {
  const auto at = static_cast<std::int32_t>(&one - module.instructions.data());
  return *std::find_if(module.computations.begin(), module.computations.end(),
                       [at](const auto& c) { return at >= c.first && at < c.first + c.count; });
}

const hlo::HloInstruction& operand_of(const hlo::HloModule& module, IndexedSpan<const hlo::HloInstruction> home,
                                      const hlo::HloInstruction& user, std::int32_t number) {
  const hlo::HloOperand& operand = module.operands_of(user)[number];
  return home[operand.instruction];
}

std::vector<XlaLeaf> array_leaves(const hlo::HloModule& module, const hlo::HloInstruction& instruction) {
  std::vector<XlaLeaf> leaves;
  flatten(module, module.type_of(instruction), "", leaves);
  return leaves;
}

XlaBound bound_arguments(const hlo::HloModule& module, const XlaBufferAssignment& assignment,
                         const hlo::HloInstruction& fusion) {
  XlaBound bound;
  const IndexedSpan<const hlo::HloInstruction> home = module.instructions_of(home_of(module, fusion));
  const auto add = [&](const hlo::HloInstruction& of, const XlaLeaf& leaf, const XlaBufferAssignment::Slice* place) {
    XlaArgument argument;
    argument.name = argument_name(of.name, leaf.index);
    argument.shape = leaf.shape;
    argument.value = value_of(module, home, of, leaf.index);
    argument.constant = constant_of(module, home, of);
    if (place != nullptr) {
      argument.allocation = place->allocation;
      argument.offset = place->offset;
      const auto same = std::find_if(bound.arguments.begin(), bound.arguments.end(), [&](const XlaArgument& known) {
        return known.allocation == argument.allocation && known.offset == argument.offset;
      });
      if (same != bound.arguments.end()) argument.shares = static_cast<std::int32_t>(same - bound.arguments.begin());
    }
    bound.arguments.push_back(std::move(argument));
  };
  for (std::int32_t i = 0; i < fusion.operands; ++i) {
    const hlo::HloInstruction& operand = operand_of(module, home, fusion, i);
    for (const XlaLeaf& leaf : array_leaves(module, operand))
      add(operand, leaf, assignment.operand(fusion.name, i, leaf.index));
  }
  bound.operands = static_cast<std::int32_t>(bound.arguments.size());
  for (const XlaLeaf& leaf : array_leaves(module, fusion))
    add(fusion, leaf, assignment.result(fusion.name, leaf.index));
  bound.assignment_known = std::none_of(bound.arguments.begin() + bound.operands, bound.arguments.end(),
                                        [](const XlaArgument& result) { return result.allocation < 0; });
  return bound;
}

}  // namespace tailor::profiler
