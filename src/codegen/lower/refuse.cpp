// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Why a mapping cannot be lowered: fields of the plan that do not fit one another, or not the domain. In: a prepared
// group, a plan, limits. Out: the rule that refuses it and the numbers, or nothing. Called by lower() through the table
// of skeletons, before anything is built. What only a kernel shows is refused later (lower.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "codegen/lower/lower_across.h"
#include "codegen/lower/lower_turn.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

namespace {

ir::Rejection no(const ir::Refusal& rule, std::string reason) { return {rule, std::move(reason)}; }

/// What people call the parts of a reduction: rows of vectors, columns of rows.
struct Words {
  std::string_view items, part;
};
constexpr Words row_words{"rows", "vector"}, column_words{"columns", "row"};

std::optional<ir::Rejection> refuse_threads(const ir::Plan& plan, bool fits) {
  if (fits && plan.threads % plan.threads_per_row == 0) return std::nullopt;
  return no("threads-per-row",
            fmt::format("{} threads per row do not divide {} threads", plan.threads_per_row, plan.threads));
}

std::optional<ir::Rejection> refuse_sections(const ir::Plan& plan, const Mapping& mapping, const Words& words) {
  if (!mapping.in_parts || plan.in_flight <= trips(mapping)) return std::nullopt;
  return no("in-flight", fmt::format("{} take {} per thread, fewer than {} in flight", words.items,
                                     counted(trips(mapping), words.part), plan.in_flight));
}

/// Blocks that share items have each a part of them, and one walk where they do not meet.
std::optional<ir::Rejection> refuse_split(const Prepared& prepared, const ir::Plan& plan, const Mapping& mapping,
                                          const Words& words) {
  if (plan.split == 1 && plan.meet != ir::Meeting::last)
    return no("meet", "one block has nobody to meet: split says how many share");
  if (plan.split == 1) return std::nullopt;
  if (plan.meet == ir::Meeting::kernel && !plan.homes.empty())
    return no("homes", fmt::format("%{} does not wait from one launch to the next", plan.homes.front().node));
  if (prepared.walks > 1 && plan.meet == ir::Meeting::last)
    return no("split", fmt::format("{} are walked {} times, so {} blocks that do not meet cannot share them",
                                   words.items, prepared.walks, plan.split));
  if (leaves_blocks_idle(mapping))
    return no("split",
              fmt::format("{} of {}, {} for a block at once, leave some of {} blocks that share them without any",
                          words.items, counted(units(mapping, Side::along), words.part),
                          threads_on(mapping, Side::along), plan.split));
  if (plan.grid == ir::GridShape::persistent)
    return no("split", fmt::format("blocks that share {} do not loop over others", words.items));
  return std::nullopt;
}

/// Blocks of a cluster have a part of every row or column each, and meet once for each reduction.
std::optional<ir::Rejection> refuse_cluster(const Prepared& prepared, const ir::Plan& plan, const Mapping& mapping,
                                            const Words& words) {
  if (plan.cluster == 0) return std::nullopt;
  if (plan.split > 1)
    return no("cluster",
              fmt::format("{} are shared by {} blocks and by clusters of {}", words.items, plan.split, plan.cluster));
  if (prepared.sums_across) return no("cluster", "rows that are added up across are not shared by blocks of a cluster");
  if (plan.grid == ir::GridShape::persistent)
    return no("cluster", fmt::format("clusters that share {} do not loop over others", words.items));
  if (mapping.fast == Side::along && plan.threads_per_row == 1)
    return no("cluster", "rows that a thread has alone are not shared by blocks");
  if (leaves_blocks_idle(mapping))
    return no("cluster", fmt::format("{} of {}, {} for a block at once, leave some of a cluster's {} blocks "
                                     "without any",
                                     words.items, counted(units(mapping, Side::along), words.part),
                                     threads_on(mapping, Side::along), plan.cluster));
  return std::nullopt;
}

/// What blocks of a cluster read of one another is found by its place in the row.
std::optional<ir::Rejection> refuse_cluster_homes(const Prepared& prepared, const ir::Plan& plan,
                                                  const Mapping& mapping) {
  const auto home = std::find_if(plan.homes.begin(), plan.homes.end(),
                                 [](const ir::Home& one) { return one.level == ir::StitchLevel::cluster; });
  if (home == plan.homes.end()) return std::nullopt;
  if (plan.cluster == 0)
    return no("homes",
              fmt::format("%{}@cluster waits for other blocks of a cluster, and the plan has no clusters", home->node));
  if (!prepared.domain.is_contiguous())
    return no("homes", fmt::format("%{}@cluster is found by its place in a row, and rows lie as {}", home->node,
                                   text(prepared.domain)));
  if (rest(mapping) != 0)
    return no("homes", fmt::format("%{}@cluster is found by its place in whole vectors, and rows of {} have elements "
                                   "around vectors of {}",
                                   home->node, prepared.columns, plan.vector));
  return std::nullopt;
}

/// Vectors of a row: whole runs of them, or an edge of single elements around them, for which there are lanes enough.
std::optional<ir::Rejection> refuse_row_vectors(const Prepared& prepared, const ir::Plan& plan,
                                                const Mapping& mapping) {
  const std::int64_t n = prepared.columns, v = plan.vector, lanes = plan.threads_per_row;
  if (units(mapping, Side::along) == 0) return no("vector", fmt::format("rows of {} do not fill a vector of {}", n, v));
  if (vectors(mapping) == 0)
    return no("vector", fmt::format("rows whose elements lie as {} are no whole number of vectors of {}",
                                    text(prepared.domain), v));
  if (rest(mapping) != 0 && lanes < 2 * v)
    return no("peel", fmt::format("rows of {} need {} lanes for the elements around vectors of {}, found {}", n, 2 * v,
                                  v, lanes));
  return std::nullopt;
}

/// A chunk is the vectors of a power of two of neighbouring lanes, and each element of a row is in one.
std::optional<ir::Rejection> refuse_chunks(const Prepared& prepared, const ir::Plan& plan, const Mapping& mapping) {
  const std::int64_t lanes = extent(mapping, Side::along, Level::lane);
  for (const std::int64_t length : prepared.chunk_lengths) {
    if (length % plan.vector != 0 || length / plan.vector > lanes)
      return no("chunk", fmt::format("rows are reduced in chunks of {}, which {} with vectors of {} do not hold",
                                     length, counted(lanes, "lane"), plan.vector));
    if (rest(mapping) != 0)
      return no("chunk", fmt::format("chunks are of rows of {}, which have elements around vectors of {}",
                                     prepared.columns, plan.vector));
  }
  return std::nullopt;
}

/// Threads of a block put together what stands before each vector of a row, and each element is in one. A column is
/// one thread's.
std::optional<ir::Rejection> refuse_scans(const Prepared& prepared, const ir::Plan& plan, const Mapping& mapping) {
  if (prepared.scans.empty()) return std::nullopt;
  const std::string& name = (*prepared.graph)[prepared.scans.front()].name;
  const bool down = mapping.fast == Side::kept;
  if (const std::int64_t groups = extent(mapping, Side::along, Level::group);
      down && groups * sharing_blocks(mapping) > 1)
    return no("scan", fmt::format("%{} goes down columns that {} share", name,
                                  counted(groups * sharing_blocks(mapping), "thread")));
  if (sharing_blocks(mapping) > 1)
    return no("scan",
              fmt::format("%{} goes along rows that {} share", name, counted(sharing_blocks(mapping), "block")));
  const bool spans = mapping.in_parts && has_level(plan.homes, ir::StitchLevel::registers);
  if (spans && prepared.scans_backward && extent(mapping, Side::along, Level::loop) > 1)
    return no("scan", fmt::format("%{} begins at the end, and parts that wait in registers are written out from the "
                                  "beginning",
                                  name));
  if (!down && rest(mapping) != 0)
    return no("scan", fmt::format("%{} goes along rows of {}, which have elements around vectors of {}", name,
                                  prepared.columns, plan.vector));
  return std::nullopt;
}

}  // namespace

std::optional<ir::Rejection> refuse_row(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  const bool shuffles = is_power_of_two(plan.threads_per_row) ||
                        (plan.threads_per_row > 0 && plan.threads_per_row % limits.warp_size == 0);
  if (auto refused = refuse_threads(plan, shuffles)) return refused;
  const Mapping mapping = mapping_row(prepared, plan, limits);
  if (prepared.sums_across)
    if (auto refused = refuse_across(prepared, plan, limits, mapping)) return refused;
  if (auto refused = refuse_cluster(prepared, plan, mapping, row_words)) return refused;
  if (auto refused = refuse_split(prepared, plan, mapping, row_words)) return refused;
  if (auto refused = refuse_sections(plan, mapping, row_words)) return refused;
  if (leaves_flight_idle(mapping))
    return no("in-flight",
              fmt::format("{} blocks of {} fewer than {} in flight", counted(prepared.rows, "row", "gives", "give"),
                          counted(threads_on(mapping, Side::kept), "row"), plan.in_flight));
  if (auto refused = refuse_cluster_homes(prepared, plan, mapping)) return refused;
  if (auto refused = refuse_scans(prepared, plan, mapping)) return refused;
  if (auto refused = refuse_chunks(prepared, plan, mapping)) return refused;
  return refuse_row_vectors(prepared, plan, mapping);
}

std::optional<ir::Rejection> refuse_column(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  if (auto refused = refuse_threads(plan, plan.threads_per_row > 0)) return refused;
  const Mapping mapping = mapping_column(prepared, plan, limits);
  if (vectors(mapping) == 0)
    return no("vector", fmt::format("{} no whole number of vectors of {}",
                                    counted(mapping.run, "neighbouring column", "is", "are"), plan.vector));
  if (prepared.bundle > 1 && taken_together(mapping) % prepared.bundle != 0)
    return no("bundle", fmt::format("{} side by side are no whole number of the bundles of {} that make a result",
                                    counted(taken_together(mapping), "column"), prepared.bundle));
  if (auto refused = refuse_cluster(prepared, plan, mapping, column_words)) return refused;
  if (auto refused = refuse_sections(plan, mapping, column_words)) return refused;
  if (auto refused = refuse_scans(prepared, plan, mapping)) return refused;
  return refuse_split(prepared, plan, mapping, column_words);
}

/// Digits of a tile are powers of two. It is no larger than what it is cut out of, rounded up to one.
std::optional<ir::Rejection> refuse_transpose(const Prepared& prepared, const ir::Plan& plan,
                                              const ir::Limits& limits) {
  if (!is_power_of_two(plan.threads) || !is_power_of_two(plan.unroll))
    return no("tile", fmt::format("{} threads with {} each are no powers of two, as the digits of a tile are",
                                  plan.threads, counted(plan.unroll, "vector")));
  if (auto refused = refuse_threads(plan, is_power_of_two(plan.threads_per_row))) return refused;
  const Mapping mapping = mapping_transpose(prepared, plan, limits);
  if (vectors(mapping) == 0)
    return no("vector", fmt::format("runs of {} and {} elements are no whole number of vectors of {}",
                                    prepared.turn->written.size, prepared.turn->read.size, plan.vector));
  const Tile tile = tile_of(*prepared.turn, plan);
  if (tile.read < plan.vector)
    return no("tile",
              fmt::format("tiles are {} deep, less than a vector of {}", counted(tile.read, "element"), plan.vector));
  if (is_mostly_behind(tile.written, prepared.turn->written) || is_mostly_behind(tile.read, prepared.turn->read))
    return no("tile", fmt::format("tiles of {} x {} are mostly behind the end of runs of {} and {}", tile.written,
                                  tile.read, prepared.turn->written.size, prepared.turn->read.size));
  return std::nullopt;
}

std::optional<ir::Rejection> refuse_map(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  const Mapping mapping = mapping_map(prepared, plan, limits);
  if (vectors(mapping) == 0)
    return no("vector", fmt::format("{} not fill a vector of {}", counted(prepared.columns, "element", "does", "do"),
                                    plan.vector));
  if (leaves_flight_idle(mapping))
    return no("unroll", fmt::format("{} {} threads fewer than {} each",
                                    counted(vectors(mapping), "vector", "gives", "give"), plan.threads, plan.unroll));
  if (rest(mapping) > plan.threads)
    return no("peel", fmt::format("the {} behind the last vector of {} need a thread each, found {}",
                                  counted(rest(mapping), "element"), plan.vector, plan.threads));
  return std::nullopt;
}

}  // namespace tailor::codegen
