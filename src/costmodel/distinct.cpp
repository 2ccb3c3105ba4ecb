// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Distinct bytes per buffer without walking addresses. The elements one index reaches are at most the product of the
// extents of its variables and at most its range; several indices of a buffer reach at most the sum; a buffer has at
// most its elements. Exact for whole tensors, broadcasts and dense slices, which is what lowering makes; an upper bound
// where two different indices of a buffer overlap.
#include <algorithm>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

std::int64_t reach(const ir::Kernel& kernel, const ir::Stmt& stmt) {
  const ir::Expr& expr = kernel.indices[stmt.expr];
  const std::int64_t last = kernel.buffers[stmt.memory].elements - 1;
  const std::int64_t range =
      std::min(expr.range.high + stmt.width - 1, last) - std::max<std::int64_t>(expr.range.low, 0) + 1;
  std::int64_t product = stmt.width;
  for (std::size_t v = 0; v < kernel.indices.vars.size() && product < range; ++v)
    if ((expr.vars >> v & 1) != 0) product *= kernel.indices.vars[v].extent;
  return std::min(product, range);
}

}  // namespace

void count_distinct(const ir::Kernel& kernel, Scratch::Body&, Work& work) {
  const auto same_access = [](const ir::Stmt& a, const ir::Stmt& b) {
    return (a.kind == ir::StmtKind::load) == (b.kind == ir::StmtKind::load) && a.memory == b.memory && a.expr == b.expr;
  };
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const ir::Stmt& stmt = kernel.body[at];
    if (!is_memory(stmt) || stmt.space != ir::Space::global) continue;
    const bool seen = std::any_of(
        kernel.body.begin(), kernel.body.begin() + static_cast<std::ptrdiff_t>(at), [&](const ir::Stmt& earlier) {
          return is_memory(earlier) && earlier.space == ir::Space::global && same_access(earlier, stmt);
        });
    if (seen) continue;
    const int bytes = element_bytes(kernel, stmt);
    BufferWork& buffer = work.buffers[stmt.memory];
    std::int64_t& sum = stmt.kind == ir::StmtKind::load ? buffer.read_bytes : buffer.written_bytes;
    sum = std::min(sum + reach(kernel, stmt) * bytes, kernel.buffers[stmt.memory].elements * bytes);
  }
}

}  // namespace tailor::costmodel
