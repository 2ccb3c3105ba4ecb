// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Domain: what the loops of a group go over, in the order of memory. In: the shape that a reduction reads and which of
// its dimensions it reduces. Out: its runs, and the way from two positions (among what stays, among what is reduced) to
// the coordinates of an element. Called by the structural analysis and by every skeleton with reductions.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/lower/index_map.h"
#include "ir/graph/graph.h"

namespace tailor::codegen {

/// Runs are neighbours in memory that all stay or are all reduced, dimensions of size 1 aside. They take turns, the
/// fastest in memory first. Two positions name an element: `kept` among all that stay, `along` among all that is
/// reduced, both in the order of memory.
struct Domain {
  ir::Dims runs;
  bool reduces_fastest = false;  ///< the first run is reduced, so are the third, the fifth

  bool is_reduced(int run) const { return (run % 2 == 0) == reduces_fastest; }
  std::int64_t kept() const { return product(false); }
  std::int64_t reduced() const { return product(true); }
  /// Elements next to each other in memory that all stay or are all reduced.
  std::int64_t fastest() const { return runs.empty() ? 1 : runs[0]; }
  /// Whether all that is reduced for one result lies together.
  bool is_contiguous() const { return reduced() == (reduces_fastest ? fastest() : 1); }
  /// What stays is reduced, and the reverse.
  Domain turned() const { return {runs, !runs.empty() && !reduces_fastest}; }
  bool operator==(const Domain&) const = default;

 private:
  std::int64_t product(bool of_reduced) const {
    std::int64_t all = 1;
    for (int i = 0; i < runs.size(); ++i) all *= is_reduced(i) == of_reduced ? runs[i] : 1;
    return all;
  }
};

Domain domain_of(const ir::Shape& shape, const ir::Dims& reduced);
/// Of what a reduction reads.
inline Domain domain_of(const ir::Graph& graph, const ir::Node& reduce) {
  return domain_of(graph[reduce.operands[0]].shape, axes(reduce));
}
/// "64 x [3136] x 32 x [28]": slowest first, what is reduced in brackets.
std::string text(const Domain& domain);

/// The element of an array with these dimensions at (kept, along), which are numbered in the order of memory of
/// `shape`.
Coordinates coordinates_at(IndexBuilder& build, const ir::Shape& shape, const ir::Dims& reduced, ir::ExprId kept,
                           ir::ExprId along);
/// The coordinates of the dimensions that stay.
Coordinates kept_coordinates(const Coordinates& coordinates, const ir::Dims& reduced);
/// Where a reduction holds its result number `kept`.
Coordinates result_at(IndexBuilder& build, const ir::Graph& graph, const ir::Node& reduce, ir::ExprId kept);
/// The position in memory, in elements, of (kept, along) in an array that lies as the domain does.
ir::ExprId position_in(IndexBuilder& build, const Domain& domain, ir::ExprId kept, ir::ExprId along);

}  // namespace tailor::codegen
