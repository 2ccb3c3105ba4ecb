// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of refusals as words. In: a name, or what a row is of. Out: whether a row has that name, with an operation
// where it has OP; the word for what is refused. Called by tailor list, and by tests that hold what was printed against
// the table.
#include "ir/refusal.h"

#include <algorithm>
#include <array>

#include "base/indexed.h"

namespace tailor::ir {

namespace {
constexpr std::array refused_names = std::to_array<std::string_view>({"group", "plan", "compiled kernel"});
}  // namespace

std::string_view name(Refused of) { return row_for(refused_names, of); }

bool is_refusal(std::string_view rule) {
  return std::any_of(std::begin(refusal_table), std::end(refusal_table), [&](const RefusalRow& row) {
    if (!row.name.ends_with(any_operation)) return row.name == rule;
    const std::string_view before = row.name.substr(0, row.name.size() - any_operation.size());
    return rule.size() > before.size() && rule.starts_with(before);
  });
}

}  // namespace tailor::ir
