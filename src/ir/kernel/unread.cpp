// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding what nobody reads. A value is named above all that reads it, so one walk from the last statement to the first
// knows of each name whether a statement that stays reads it; what only unread values read is found by the same walk.
// Then the statements move up, and the ends of bodies with them.
#include "ir/kernel/unread.h"

namespace tailor::ir {

namespace {

struct Read {
  std::vector<char> lets, values;
};

void note(const Kernel& kernel, ValueId id, Read& read) {
  if (id == no_value || read.values[id] != 0) return;
  read.values[id] = 1;
  const Value& value = kernel.values[id];
  if (value.let != no_id) read.lets[value.let] = 1;
  for (const ValueId operand : value.operands) note(kernel, operand, read);
}

}  // namespace

void drop_unread_lets(Kernel& kernel) {
  std::vector<Stmt>& body = kernel.body;
  Read read{std::vector<char>(kernel.lets.size()), std::vector<char>(kernel.values.size())};
  const auto is_unread = [&](const Stmt& stmt) { return stmt.kind == StmtKind::let && read.lets[stmt.let] == 0; };
  bool any = false;
  for (std::size_t i = body.size(); i-- > 0;) {
    if (is_unread(body[i]))
      any = true;
    else
      note(kernel, body[i].value, read);
  }
  if (!any) return;
  std::vector<std::int32_t> now(body.size() + 1);
  for (std::size_t i = 0; i < body.size(); ++i) now[i + 1] = now[i] + (is_unread(body[i]) ? 0 : 1);
  std::erase_if(body, is_unread);
  for (Stmt& stmt : body)
    if (stmt.kind == StmtKind::loop || stmt.kind == StmtKind::guard) stmt.end = now[stmt.end];
}

}  // namespace tailor::ir
