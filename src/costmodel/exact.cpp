// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact counting. In: a kernel. Out: how often each statement is executed, and what its requests move. Called by
// count() in mode exact, which is slow and plain on purpose: it is what fast counting is compared with.
//
// Every warp of every block is walked through the statements, as the machine would, with the value of each variable for
// each of its 32 lanes and a mask of the lanes that are active. A guard narrows the mask; a loop repeats its body. For
// each memory statement the 32 addresses are computed and handed to the rules of requests.cpp. The elements that were
// touched are kept as bits, from which the distinct bytes and sectors follow. A loop whose variable reaches no address
// and no guard gives the same counts every time; it is walked once and multiplied.
#include <algorithm>
#include <bit>

#include "costmodel/scratch.h"
#include "ir/kernel/index_columns.h"

namespace tailor::costmodel {

namespace {

using ir::StmtKind;

class ExactWalk {
 public:
  ExactWalk(const ir::Kernel& kernel, Scratch::Body& scratch)
      : kernel_(kernel),
        scratch_(scratch),
        matters_(variables_that_matter(kernel)),
        values_(kernel.indices, warp_lanes) {
    for (const ir::Buffer& buffer : kernel.buffers) {
      const auto words = static_cast<std::size_t>(buffer.elements / 64 + 1);
      read_.emplace_back(words);
      written_.emplace_back(words);
    }
  }

  void run(Work& work) {
    for (std::int64_t block = 0; block < kernel_.virtual_blocks; ++block) {
      issued_ = 0;
      for (int w = 0; w < warps_of(kernel_); ++w) {
        bind_variables(block, w);
        walk(0, static_cast<std::int32_t>(kernel_.body.size()), full_mask(kernel_, w), 1);
      }
      work.busiest_block = std::max(work.busiest_block, issued_);
    }
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) {
      const std::int64_t bytes = std::max(1, ir::row(kernel_.buffers[b].dtype).bits / 8);
      for (const std::uint64_t bits : read_[b]) work.buffers[b].read_bytes += std::popcount(bits) * bytes;
      for (const std::uint64_t bits : written_[b]) work.buffers[b].written_bytes += std::popcount(bits) * bytes;
      work.buffers[b].read_sectors = sectors_of(read_[b], bytes);
      work.buffers[b].written_sectors = sectors_of(written_[b], bytes);
    }
  }

 private:
  /// Sectors that hold an element whose bit is set. An element is a power of two of at most 32 bytes.
  static std::int64_t sectors_of(const std::vector<std::uint64_t>& touched, std::int64_t bytes) {
    const std::int64_t each = std::max<std::int64_t>(1, sector_bytes / bytes);  // elements of a sector
    const std::uint64_t mask = each == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << each) - 1;
    std::int64_t sectors = 0;
    for (const std::uint64_t bits : touched)
      for (std::int64_t at = 0; bits != 0 && at < 64; at += each) sectors += (bits >> at & mask) != 0;
    return sectors * std::max<std::int64_t>(1, bytes / sector_bytes);
  }

  void bind_variables(std::int64_t block, int w) {
    for (std::size_t v = 0; v < kernel_.indices.vars.size(); ++v) {
      const ir::Var& var = kernel_.indices.vars[v];
      const auto id = static_cast<ir::VarId>(v);
      if (var.kind == ir::VarKind::picked) continue;
      if (var.kind != ir::VarKind::thread) {
        values_.set(id, var.kind == ir::VarKind::block ? block / var.divisor % var.extent : 0);
        continue;
      }
      std::array<std::int64_t, warp_lanes> lanes;
      for (int lane = 0; lane < warp_lanes; ++lane) lanes[lane] = thread_value(var, w, lane);
      values_.set(id, lanes);
    }
  }

  std::int64_t value(ir::ExprId expr, int lane) { return values_.value(expr, lane); }

  bool holds(const ir::Stmt& stmt, int lane) {
    for (const ir::Condition& condition : stmt.conditions) {
      if (condition.a == ir::no_expr) continue;
      const std::int64_t a = value(condition.a, lane), b = value(condition.b, lane);
      if (condition.equal ? a != b : a >= b) return false;
    }
    return true;
  }

  void access(const ir::Stmt& stmt, StmtCount& count, std::uint32_t mask, std::int64_t times) {
    const int bytes = element_bytes(kernel_, stmt);
    std::array<std::int64_t, warp_lanes> offsets{};
    for (int lane = 0; lane < warp_lanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const std::int64_t element = value(stmt.expr, lane);
      offsets[lane] = element * bytes;
      if (stmt.space != ir::Space::global) continue;
      auto& touched = stmt.kind == StmtKind::load ? read_[stmt.memory] : written_[stmt.memory];
      for (std::int64_t e = element; e < element + stmt.width; ++e)
        if (e >= 0 && e < kernel_.buffers[stmt.memory].elements) touched[e / 64] |= std::uint64_t{1} << (e % 64);
    }
    const int access_bytes = bytes * stmt.width;
    count.units += times * (stmt.space == ir::Space::global ? count_sectors(offsets, 0, mask, access_bytes)
                                                            : count_wavefronts(offsets, 0, mask, access_bytes));
  }

  void walk(std::int32_t from, std::int32_t to, std::uint32_t mask, std::int64_t times) {
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[at];
      StmtCount& count = scratch_.counts[at];
      count.executions += times;
      count.lanes += times * std::popcount(mask);
      issued_ += times * scratch_.costs[at].issue;
      if (ir::is_memory(stmt)) access(stmt, count, mask, times);
      if (stmt.kind == StmtKind::guard) {
        std::uint32_t inside = 0;
        for (int lane = 0; lane < warp_lanes; ++lane)
          if ((mask >> lane & 1) != 0 && holds(stmt, lane)) inside |= 1u << lane;
        if (inside != 0) walk(at + 1, stmt.end, inside, times);
        at = stmt.end - 1;
      } else if (stmt.kind == StmtKind::loop) {
        loop(at, stmt, mask, times);
        at = stmt.end - 1;
      }
    }
  }

  void loop(std::int32_t at, const ir::Stmt& stmt, std::uint32_t mask, std::int64_t times) {
    const std::int64_t extent = kernel_.indices.vars[stmt.var].extent;
    if (!matters_.has(stmt.var)) return walk(at + 1, stmt.end, mask, times * extent);
    for (std::int64_t i = 0; i < extent; ++i) {
      values_.set(stmt.var, i);
      walk(at + 1, stmt.end, mask, times);
    }
  }

  const ir::Kernel& kernel_;
  Scratch::Body& scratch_;
  ir::VarSet matters_;
  ir::IndexColumns values_;
  std::vector<std::vector<std::uint64_t>> read_, written_;
  std::int64_t issued_ = 0;
};

}  // namespace

void count_exact(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) { ExactWalk(kernel, scratch).run(work); }

}  // namespace tailor::costmodel
