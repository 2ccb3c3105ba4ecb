// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding a smaller shape of the same kernel. In: a group, a plan, its whole kernel and limits. Out: the group with
// fewer rows and the kernel it lowers to, or the reason why there is none. Called by checks with --shape small and by
// the odd shape that measurements are checked on.
//
// The outer dimension is one that can shrink by itself (codegen/lower/shrink.h). From one step upwards the first
// number of steps is taken that gives enough blocks, a few or, for a persistent kernel, more than are resident so that
// its loop goes round, and an end of the same kind: ragged when the whole is ragged. The lowering then decides: the
// plan must be legal there, and the kernel must have the same statements in the same order with the same widths,
// scopes and roles, so that only extents differ. At very few steps index expressions become simpler than they are, so
// a few more steps are tried.
//
// The odd shape wants the opposite: an odd number of steps whose last block is not full, where vectors, guards and
// edges are tried that the whole shape may never use. It need not be the same kernel, only one of the same plan.
#include "profiler/check/small_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/lower_pack.h"
#include "codegen/lower/mapping.h"
#include "codegen/lower/shrink.h"

namespace tailor::profiler {

namespace {

/// Of one step alone indices become simpler than they are; a few more are tried.
constexpr int attempts = 4;

/// Sizes apart, the same statements in the same order. Extents may differ where they are the outer dimension's. Of
/// programs, kernel by kernel.
bool same_statements(const ir::Kernel& a, const ir::Kernel& b) {
  return a.threads == b.threads && a.persistent == b.persistent && a.shared_bytes == b.shared_bytes &&
         a.cluster == b.cluster && a.cooperative == b.cooperative && a.min_blocks == b.min_blocks &&
         a.buffers.size() == b.buffers.size() && a.arrays.size() == b.arrays.size() &&
         std::equal(a.body.begin(), a.body.end(), b.body.begin(), b.body.end(),
                    [](const ir::Stmt& x, const ir::Stmt& y) {
                      return x.kind == y.kind && x.op == y.op && x.space == y.space && x.memory == y.memory &&
                             x.width == y.width && x.policy == y.policy && x.unrolled == y.unrolled &&
                             x.backward == y.backward && x.end == y.end && x.lanes == y.lanes && x.scope == y.scope;
                    }) &&
         std::equal(a.followers.begin(), a.followers.end(), b.followers.begin(), b.followers.end(), same_statements);
}

/// Whether the work of the plan's skeleton is counted in elements, not in rows or columns.
bool is_by_elements(const ir::Plan& plan) { return row(plan.skeleton).unit == ir::WorkUnit::elements; }

/// Which number of rows will do, and whether the kernel must be the same but for its sizes.
struct Wanted {
  std::int64_t blocks = enough_blocks;  ///< at least
  bool odd = false;
  bool ragged = false;
  bool same = false;

  bool fits(std::int64_t steps, std::int64_t kept, std::int64_t block) const {
    if ((kept + block - 1) / block < blocks) return false;
    const bool is_ragged = kept % block != 0;
    return odd ? steps % 2 == 1 && (is_ragged || block == 1) : is_ragged == ragged;
  }
};

/// The group's rows and its outer dimension.
struct Rows {
  codegen::OuterExtent extent;
  ir::WorkUnit unit = ir::WorkUnit::rows;
  std::int64_t of = 0;
  std::int64_t block = 1;  ///< of them in one block at once
};

std::variant<Rows, std::string> rows_of(const ir::Group& group, const ir::Plan& plan, const ir::Limits& limits) {
  const std::optional<codegen::OuterExtent> extent = codegen::outer_extent(group.graph);
  if (!extent) return "its outer dimension is summed over, or its size counts, or it has none";
  const auto ready = codegen::prepare(group);
  const auto* prepared = std::get_if<codegen::Prepared>(&ready);
  if (prepared == nullptr) return std::get<ir::Rejection>(ready).reason;
  if (!prepared->bodies.empty())
    return fmt::format("each {} of it has rows of its own", codegen::body_word(prepared->skeleton));
  const codegen::Mapping mapping = codegen::mapping(*prepared, plan, limits);
  Rows rows{*extent, row(plan.skeleton).unit, 0, stride_of(mapping, codegen::Side::kept, codegen::Level::block)};
  rows.of = is_by_elements(plan) ? prepared_for(*prepared, plan).columns : prepared->rows;
  if (rows.of % extent->steps != 0) return "its rows are not those of the outer dimension";
  return rows;
}

/// The fewest steps that will do.
std::variant<SmallShape, std::string> fewest(const ir::Group& group, const Rows& rows, const ir::Plan& plan,
                                             const ir::Kernel& whole, const ir::Limits& limits, const Wanted& wanted) {
  SmallShape small;
  small.unit = rows.unit;
  small.of = rows.of;
  const std::int64_t each = rows.of / rows.extent.steps, block = rows.block;
  const std::int64_t most = wanted.same ? rows.extent.steps / 2 : rows.extent.steps - 1;
  std::string why_not =
      wanted.same ? "half of it would be too few blocks" : "it has too few rows for an odd number of them";
  int tried = 0;
  codegen::LowerScratch scratch;
  for (std::int64_t steps = 1; steps <= most && tried < attempts; ++steps) {
    small.kept = steps * each;
    if (!wanted.fits(steps, small.kept, block)) continue;
    ++tried;
    small.group = codegen::shrunk(group.graph, rows.extent, steps);
    const auto few = codegen::prepare(small.group);
    const auto* some = std::get_if<codegen::Prepared>(&few);
    if (some == nullptr || (is_by_elements(plan) ? prepared_for(*some, plan).columns : some->rows) != small.kept)
      return "with fewer rows it is another kind of group";
    codegen::Lowered lowered = codegen::lower(*some, plan, limits, scratch);
    const auto* refused = std::get_if<ir::Rejection>(&lowered);
    if (refused == nullptr && (!wanted.same || same_statements(std::get<ir::Kernel>(lowered), whole))) {
      small.kernel = std::get<ir::Kernel>(std::move(lowered));
      return small;
    }
    why_not = refused != nullptr ? "with fewer rows its plan is refused: " + refused->reason
                                 : "with fewer rows its plan is another kernel";
  }
  return why_not;
}

}  // namespace

std::string SmallShape::text() const {
  constexpr std::array<std::string_view, 3> unit_names{"elements", "columns", "rows"};
  return fmt::format("{} of {} {}", with_commas(kept), with_commas(of), unit_names[static_cast<std::size_t>(unit)]);
}

std::variant<SmallShape, std::string> small_shape(const ir::Group& group, const ir::Plan& plan, const ir::Kernel& whole,
                                                  const ir::Limits& limits) {
  const std::variant<Rows, std::string> found = rows_of(group, plan, limits);
  if (const auto* why_not = std::get_if<std::string>(&found)) return *why_not;
  const Rows& rows = std::get<Rows>(found);
  // A persistent kernel goes round its loop: more blocks than there are at once.
  const std::int64_t blocks = blocks_of_small(whole);
  return fewest(group, rows, plan, whole, limits, {blocks, false, rows.of % rows.block != 0, true});
}

std::variant<SmallShape, std::string> odd_shape(const ir::Group& group, const ir::Plan& plan, const ir::Kernel& whole,
                                                const ir::Limits& limits) {
  const std::variant<Rows, std::string> found = rows_of(group, plan, limits);
  if (const auto* why_not = std::get_if<std::string>(&found)) return *why_not;
  constexpr std::int64_t two_blocks = 2;
  return fewest(group, std::get<Rows>(found), plan, whole, limits, {two_blocks, true, true, false});
}

}  // namespace tailor::profiler
