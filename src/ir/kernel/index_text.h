// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of index expressions when some of them have names (the index cache) and when variables go by other names
// than the pool's. One spelling serves the kernel text and the CUDA text, so both read alike. The text is valid C++.
// In: a pool, an expression, the names in scope. Out: text.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel/index.h"

namespace tailor::ir {

/// An expression that stands in scope under a name. `wide`: the name is a 64-bit variable.
struct NamedIndex {
  ExprId expr = no_expr;
  std::string name;
  bool wide = false;
};

/// How expressions are spelled at one place of a program. `named` is a stack: the innermost scope's names come last.
struct IndexSpelling {
  const IndexPool* pool = nullptr;
  std::vector<std::string> vars;  ///< by VarId
  std::vector<NamedIndex> named;
};

/// The expression over the visible names: a name replaces every part of a sum that it covers, the largest first.
/// wide: every variable and 32-bit name is cast, so the whole is computed in long long.
std::string text(const IndexSpelling& spelling, ExprId expr, bool wide = false);

/// Whether some step of the expression, over all values its variables take, may leave 32 signed bits.
bool is_wide(const IndexPool& pool, ExprId expr);

/// The spelling by the pool's own names, nothing named.
IndexSpelling plain_spelling(const IndexPool& pool);

}  // namespace tailor::ir
