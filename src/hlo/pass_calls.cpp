// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls, fusions and asynchronous wrappers. In: an instruction that wraps a computation. Out: the instructions it
// wraps, in its place. Called by the walk (graph_builder.cpp) while the graph is made. A start and its done stay where
// the start stood: whether they overlap other work is a matter of scheduling, not of the graph.
#include <fmt/format.h>

#include "hlo/graph_builder.h"

namespace tailor::hlo {

HloValue resolve_call(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloComputation& callee = builder.find_computation(instruction, "to_apply");
  return builder.checked(instruction, builder.inline_computation(instruction, callee, frame, Pass::calls));
}

HloValue resolve_fusion(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloComputation& callee = builder.find_computation(instruction, "calls");
  builder.open_group(instruction, frame);
  const HloValue value = builder.inline_computation(instruction, callee, frame, Pass::fusions);
  builder.close_group();
  return builder.checked(instruction, value);
}

HloValue resolve_async_start(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloComputation& wrapped = builder.find_computation(instruction, "calls");
  if (builder.keeps_async()) builder.open_group(instruction, frame);
  const HloValue value = builder.inline_computation(instruction, wrapped, frame, Pass::async);
  if (builder.keeps_async()) builder.close_group();
  return value;
}

/// all-gather-start and its kin: the type is (operands, results, ...), but all-reduce-start's is the result alone.
HloValue resolve_wrapped_start(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloModule& module = builder.module();
  const std::string_view wrapped =
      instruction.opcode.substr(0, instruction.opcode.size() - std::string_view("-start").size());
  const ir::OpRow* row = ir::find_hlo_op(wrapped);
  const HloType* type = &module.type_of(instruction);
  if (instruction.op != ir::Op::all_reduce_start && type->children >= 2) type = &module.child(*type, 1);
  builder.ledger().add(Pass::async, 1, 0, 0);
  return builder.add_plain(instruction, frame, row != nullptr ? row->op : ir::Op::opaque, *type);
}

HloValue resolve_async_done(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  if (instruction.operands < 1)
    builder.fail(instruction,
                 fmt::format("found '{}' without operands, expected what it waits for", instruction.opcode));
  builder.ledger().add(Pass::async, 1, 0, 1);
  const HloValue value = builder.operand(instruction, 0, frame);
  return instruction.opcode.ends_with("-update") ? value : builder.checked(instruction, value);
}

/// copy-start is (destination, source, context); only the destination is ever read.
HloValue resolve_copy_start(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType* type = &builder.module().type_of(instruction);
  if (type->children >= 1) type = &builder.module().child(*type, 0);
  builder.ledger().add(Pass::async, 1, 0, 0);
  return builder.add_plain(instruction, frame, ir::Op::copy, *type);
}

}  // namespace tailor::hlo
