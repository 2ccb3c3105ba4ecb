// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of skeletons as the structural analysis sees them: what each recognises and what it doubts. Each row of
// ir/skeletons.def gets its functions by name. Asked by structure.cpp alone; how a skeleton is lowered is another table
// (codegen/lower/skeletons.h).
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/structure/structure.h"

namespace tailor::codegen {

struct SkeletonStructure {
  /// Nothing: another skeleton's. A rejection: of this kind, but not one that it can do; another may still take it.
  std::optional<Classified> (*recognise)(const Region& region);
  /// find_doubt() for what it recognised.
  std::optional<ir::Rejection> (*doubt)(const Region& region, const Layout& layout);
};

const SkeletonStructure& structure(ir::Skeleton skeleton);

/// The first scan that does not go along the group's rows or columns, or goes against another one.
std::optional<ir::Rejection> refuse_scans(const Region& region, const Layout& layout);

/// Whether there are so many results of some reduction of chunks of the group's rows.
bool is_of_chunks(const Region& region, const Layout& layout, std::int64_t count);

/// The bodies of a group that falls apart; nothing where it does not.
std::optional<std::variant<std::vector<BodyBorder>, ir::Rejection>> find_pack(const ir::Graph& graph,
                                                                              const ir::Boundary& border);

/// The first doubt about a stage, whose blocks are those of all stages.
std::optional<ir::Rejection> doubt_each(const ir::Graph& graph, const std::vector<BodyBorder>& bodies);
/// The first doubt about a body of a pack, or the doubt about all side by side: what they would read more than once.
std::optional<ir::Rejection> doubt_bodies(const ir::Graph& graph, const ir::Boundary& border,
                                          const std::vector<BodyBorder>& bodies);

/// The rule of find_stages() where there is nothing to cut.
inline constexpr ir::Refusal one_stage = "one-stage";

/// Of a pack or of stages.
Layout layout_of(ir::Skeleton skeleton, const std::vector<BodyBorder>& bodies);

/// The read that one body writes over while another one reads it; where they run in order, one behind it.
std::optional<std::int32_t> contested(const std::vector<BodyBorder>& bodies, bool in_order);

/// Whether an array is so large, 4 MiB, that how it is read counts beside a launch.
constexpr bool takes_time(std::int64_t elements, int bits) {
  constexpr std::int64_t many = std::int64_t{4} << 23;  // bits
  return elements * bits >= many;
}

#define SKELETON(name, unit, what, ...)                             \
  std::optional<Classified> recognise_##name(const Region& region); \
  std::optional<ir::Rejection> doubt_##name(const Region& region, const Layout& layout);
#include "ir/skeletons.def"
#undef SKELETON

}  // namespace tailor::codegen
