// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations on the bits of numbers: the same bits as another type, fewer digits, the total order. In: a node and its
// operand's entry. Out: the values. Called where elements are computed (lower_emit.cpp).
//
// A number that is held in a wider type than its own is rounded to its own first: it has no bits before.
#include "codegen/lower/lower_build.h"
#include "codegen/structure/structure.h"

namespace tailor::codegen {

namespace {

/// The signed integer as wide as the type.
ir::DType signed_as_wide(ir::DType dtype) {
  for (const ir::DTypeRow& one : ir::dtype_table)
    if (one.kind == ir::DTypeKind::signed_integer && one.bits == row(dtype).bits) return one.dtype;
  return ir::DType::s64;
}

}  // namespace

Entry ProgramBuilder::emit_bits(const ir::Graph& graph, const ir::Node& node, std::string_view name,
                                const Entry& operand) {
  const ir::DType from = graph[node.operands[0]].shape.dtype;
  ir::Value value;
  value.dtype = node.shape.dtype;
  if (node.op == ir::Op::bitcast_convert) {
    value.kind = ir::ValueKind::op;
    value.op = node.op;
    value.operands[0] = to_raw(operand, from).id;
  } else if (const std::optional<ir::DType> format = rounding_type(graph, node)) {
    if (*format == from && row(from).compute == from) return operand;
    value.kind = ir::ValueKind::convert;
    value.dtype = *format;
    value.operands[0] = operand.compute.id;
  } else {
    value.kind = ir::ValueKind::op;
    value.op = node.op;
    value.digits = kept_digits(graph, node);
    value.operands[0] = to_raw(operand, from).id;
  }
  const Val kept = let(operand.compute.depth, name, value.dtype, add_value(value));
  Entry entry;
  if (value.dtype == node.shape.dtype && row(value.dtype).compute != value.dtype) entry.raw = kept;
  entry.compute = widen(kept, value.dtype, name);
  return entry;
}

Val ProgramBuilder::order_key(const Entry& operand, ir::DType dtype) {
  const ir::DType whole = signed_as_wide(dtype);
  const auto operate = [&](ir::Op op, const Val& a, const Val& b) {
    ir::Value value;
    value.kind = ir::ValueKind::op;
    value.op = op;
    value.dtype = whole;
    value.operands = {a.id, b.id, ir::no_value};
    return Val{add_value(value), a.depth};
  };
  // A negative number's other bits are turned: the larger they are, the smaller it is.
  const Val bits = operate(ir::Op::bitcast_convert, to_raw(operand, dtype), {ir::no_value, 0});
  const Val sign = operate(ir::Op::shift_right_arithmetic, bits, number(whole, 0, row(dtype).bits - 1));
  const Val others = operate(ir::Op::shift_right_logical, sign, number(whole, 0, 1));
  return operate(ir::Op::bit_xor, bits, others);
}

}  // namespace tailor::codegen
