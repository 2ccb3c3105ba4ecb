// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds conversions to bf16 that are widened again. In: a kernel. Out: marks by value, let and array. Called by whoever
// prints or counts a kernel. Readers are looked for first: a conversion of an element or of a let, and of an array that
// a let is copied to. Then each conversion to bf16 whose let, or whose array, has such a reader is one.
#include "ir/kernel/roundings.h"

#include <algorithm>

namespace tailor::ir {

namespace {

/// A register array that a statement writes, or no_id.
ArrayId written_array(const Kernel& kernel, const Stmt& stmt) {
  const bool writes = stmt.kind == StmtKind::assign || stmt.kind == StmtKind::load || stmt.kind == StmtKind::shuffle ||
                      (stmt.kind == StmtKind::declare && stmt.value != no_value);
  if (!writes || stmt.target.array == no_id) return no_id;
  return kernel.arrays[stmt.target.array].space == Space::registers ? stmt.target.array : no_id;
}

bool copies(const Stmt& stmt) { return stmt.kind == StmtKind::assign && stmt.op == Op::copy; }

bool narrows(const Kernel& kernel, ValueId id) {
  if (id == no_value) return false;
  const Value& value = kernel.values[id];
  return value.kind == ValueKind::convert && value.dtype == DType::bf16 &&
         kernel.values[value.operands[0]].dtype == DType::f32;
}

/// What is widened, as far as somebody reads it. Lets are read below where they are made, so readers come first.
struct Widened {
  const Kernel& kernel;
  Roundings& found;
  std::vector<bool> read, lets, arrays;

  explicit Widened(const Kernel& of, Roundings& into)
      : kernel(of), found(into), read(of.lets.size()), lets(of.lets.size()), arrays(of.arrays.size()) {
    for (std::size_t at = kernel.body.size(); at-- > 0;)
      if (const Stmt& stmt = kernel.body[at]; stmt.kind != StmtKind::let || read[stmt.let]) look_at(stmt.value);
    for (const Stmt& stmt : kernel.body) {
      const ArrayId array = copies(stmt) ? written_array(kernel, stmt) : no_id;
      if (array == no_id || !arrays[array]) continue;
      if (const Value& value = kernel.values[stmt.value]; value.kind == ValueKind::let) lets[value.let] = true;
    }
  }

  void look_at(ValueId id) {
    if (id == no_value) return;
    const Value& value = kernel.values[id];
    if (value.kind == ValueKind::let) read[value.let] = true;
    for (const ValueId operand : value.operands) look_at(operand);
    if (value.kind != ValueKind::convert || kernel.values[value.operands[0]].dtype != DType::bf16) return;
    const Value& from = kernel.values[value.operands[0]];
    if (from.kind == ValueKind::let) lets[from.let] = true;
    if (from.kind == ValueKind::element) arrays[from.element.array] = true;
    if (narrows(kernel, value.operands[0])) found.values[value.operands[0]] = true;
  }
};

}  // namespace

Roundings roundings(const Kernel& kernel) {
  if (std::none_of(kernel.values.begin(), kernel.values.end(),
                   [&](const Value& value) { return value.kind == ValueKind::convert && value.dtype == DType::bf16; }))
    return {};
  Roundings found{std::vector<bool>(kernel.values.size()), std::vector<bool>(kernel.lets.size()),
                  std::vector<bool>(kernel.arrays.size())};
  const Widened widened(kernel, found);
  for (const Stmt& stmt : kernel.body)
    if (stmt.kind == StmtKind::let && widened.lets[stmt.let] && narrows(kernel, stmt.value))
      found.values[stmt.value] = found.lets[stmt.let] = true;
  std::vector<bool> others(kernel.arrays.size());  // hold what is no such conversion
  for (const Stmt& stmt : kernel.body) {
    const ArrayId array = written_array(kernel, stmt);
    if (array == no_id || !widened.arrays[array]) continue;
    const Value* value = copies(stmt) ? &kernel.values[stmt.value] : nullptr;
    const bool direct = value != nullptr && narrows(kernel, stmt.value);
    if (direct) found.values[stmt.value] = true;
    const bool is_rounding = direct || (value != nullptr && value->kind == ValueKind::let && found.lets[value->let]);
    found.arrays[array] = found.arrays[array] || is_rounding;
    others[array] = others[array] || !is_rounding;
  }
  for (std::size_t a = 0; a < others.size(); ++a)
    if (others[a]) found.arrays[a] = false;
  return found;
}

}  // namespace tailor::ir
