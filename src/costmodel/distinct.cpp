// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Distinct bytes per buffer without walking addresses. The elements one index reaches lie on a lattice: from its least
// value on, at multiples of the common factor of its coefficients; they are at most the product of the extents of its
// variables. Several indices of a buffer reach at most the sum, and at most the lattice that holds them all. Exact for
// whole tensors, broadcasts and slices, which is what lowering makes; an upper bound where two different indices of a
// buffer overlap in part. Under a guard an index reaches no more elements than there are active lanes.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

/// What statements with one index reach whose active lanes were counted; clipped to the buffer, which guards see to.
Reach reach_of(const ir::Kernel& kernel, const ir::Stmt& stmt, std::int64_t lanes) {
  const ir::Expr& expr = kernel.indices[stmt.expr];
  const std::int64_t last = kernel.buffers[stmt.memory].elements - 1;
  Reach reach;
  for (const ir::Linear& part : kernel.indices.linear(stmt.expr)) reach.step = std::gcd(reach.step, part.coefficient);
  if (stmt.width > 1) reach.step = 1;
  const std::int64_t step = std::max<std::int64_t>(reach.step, 1);
  reach.low = expr.range.low;
  if (reach.low < 0) reach.low += (-reach.low + step - 1) / step * step;
  reach.high = std::min(expr.range.high + stmt.width - 1, last);
  if (reach.high < reach.low) return {};
  reach.high -= (reach.high - reach.low) % step;
  const std::int64_t range = (reach.high - reach.low) / step + 1;
  reach.count = stmt.width;
  for (std::uint64_t rest = expr.vars; rest != 0 && reach.count < range; rest &= rest - 1) {
    const ir::Var& var = kernel.indices.vars[static_cast<std::size_t>(std::countr_zero(rest))];
    if (var.kind != ir::VarKind::data) reach.count *= var.extent;  // one number while the kernel runs
  }
  reach.count = std::min({reach.count, range, lanes * stmt.width});
  return reach;
}

void join(Reach& all, const Reach& one) {
  if (one.count == 0) return;
  if (all.count == 0) {
    all = one;
    return;
  }
  all.step = std::gcd(std::gcd(all.step, one.step), all.low - one.low);
  all.low = std::min(all.low, one.low);
  all.high = std::max(all.high, one.high);
  const std::int64_t lattice = all.step == 0 ? 1 : (all.high - all.low) / all.step + 1;
  all.count = std::min(all.count + one.count, lattice);
}

}  // namespace

void count_distinct(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  scratch.reached.assign(2 * kernel.buffers.size(), {});
  scratch.accesses.clear();
  for (const ir::Stmt& stmt : kernel.body) {
    if (!is_memory(stmt) || stmt.space != ir::Space::global) continue;
    const std::uint64_t which = 2u * stmt.memory + (stmt.kind == ir::StmtKind::load ? 0 : 1);
    const std::uint64_t key = which << 32 | stmt.expr;
    if (std::find(scratch.accesses.begin(), scratch.accesses.end(), key) != scratch.accesses.end()) continue;
    scratch.accesses.push_back(key);
    std::int64_t lanes = 0;  // no more elements than active lanes of all statements with this index
    for (std::size_t at = 0; at < kernel.body.size(); ++at) {
      const ir::Stmt& same = kernel.body[at];
      const bool is_load = same.kind == ir::StmtKind::load;
      if (is_memory(same) && same.space == ir::Space::global && same.memory == stmt.memory && same.expr == stmt.expr &&
          is_load == (stmt.kind == ir::StmtKind::load))
        lanes += scratch.counts[at].lanes;
    }
    join(scratch.reached[which], reach_of(kernel, stmt, lanes));
  }
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
    const std::int64_t bytes = std::max(1, ir::row(kernel.buffers[b].dtype).bits / 8);
    work.buffers[b].read_bytes = scratch.reached[2 * b].count * bytes;
    work.buffers[b].written_bytes = scratch.reached[2 * b + 1].count * bytes;
  }
}

}  // namespace tailor::costmodel
