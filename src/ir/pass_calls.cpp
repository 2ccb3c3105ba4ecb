// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls, fusions and asynchronous wrappers: each becomes the instructions it wraps. A start and its done stay where the
// start stood; when they overlap other work is a matter of scheduling, not of the graph.
#include <fmt/format.h>

#include "ir/draft.h"

namespace tailor::ir {

HloValue resolve_call(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  const HloComputation& callee = draft.computation_of(instruction, "to_apply");
  return draft.checked(instruction, draft.inline_computation(instruction, callee, frame, Pass::calls));
}

HloValue resolve_fusion(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  const HloComputation& callee = draft.computation_of(instruction, "calls");
  draft.open_group(instruction, frame);
  const HloValue value = draft.inline_computation(instruction, callee, frame, Pass::fusions);
  draft.close_group();
  return draft.checked(instruction, value);
}

HloValue resolve_async_start(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  return draft.inline_computation(instruction, draft.computation_of(instruction, "calls"), frame, Pass::async);
}

/// all-gather-start and its kin: the type is (operands, results, ...), but all-reduce-start's is the result alone.
HloValue resolve_wrapped_start(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  const HloModule& module = draft.module();
  const std::string_view wrapped =
      instruction.opcode.substr(0, instruction.opcode.size() - std::string_view("-start").size());
  const OpRow* row = find_hlo_op(wrapped);
  const HloType* type = &module.type_of(instruction);
  if (instruction.op != Op::all_reduce_start && type->children >= 2) type = &module.child(*type, 1);
  draft.ledger().add(Pass::async, 1, 0, 0);
  return draft.add_plain(instruction, frame, row != nullptr ? row->op : Op::opaque, *type);
}

HloValue resolve_async_done(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  if (instruction.operands < 1)
    draft.fail(instruction, fmt::format("found '{}' without operands, expected what it waits for", instruction.opcode));
  draft.ledger().add(Pass::async, 1, 0, 1);
  const HloValue value = draft.operand(instruction, 0, frame);
  return instruction.opcode.ends_with("-update") ? value : draft.checked(instruction, value);
}

/// copy-start is (destination, source, context); only the destination is ever read.
HloValue resolve_copy_start(Draft& draft, const Frame& frame, const HloInstruction& instruction) {
  const HloType* type = &draft.module().type_of(instruction);
  if (type->children >= 1) type = &draft.module().child(*type, 0);
  draft.ledger().add(Pass::async, 1, 0, 0);
  return draft.add_plain(instruction, frame, Op::copy, *type);
}

}  // namespace tailor::ir
