// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Domain: what the loops of a reduction go over, in the order of memory. In: the shape that it reads and which of its
// dimensions it reduces. Out: its runs; and whether a broadcast spreads one number over each row of such a domain.
// Called by the price of groups (costmodel), by the structural analysis and by every skeleton with reductions
// (codegen).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::ir {

/// Runs are neighbours in memory that all stay or are all reduced, dimensions of size 1 aside. They take turns, the
/// fastest in memory first. Two positions name an element: `kept` among all that stay, `along` among all that is
/// reduced, both in the order of memory.
struct Domain {
  Dims runs;
  bool reduces_fastest = false;  ///< the first run is reduced, so are the third, the fifth

  bool is_reduced(int run) const { return (run % 2 == 0) == reduces_fastest; }
  std::int64_t kept() const { return product(false); }
  std::int64_t reduced() const { return product(true); }
  /// Elements next to each other in memory that all stay or are all reduced.
  std::int64_t fastest() const { return runs.empty() ? 1 : runs[0]; }
  /// Whether all that is reduced for one result lies together.
  bool is_contiguous() const { return reduced() == (reduces_fastest ? fastest() : 1); }
  /// Elements of the fastest run, which are reduced into one result though others stay behind them; 1: no such run.
  /// "8 x [4096] x 32 x [10]" has bundles of 10.
  std::int64_t bundle() const { return reduces_fastest && runs.size() > 2 ? runs[0] : 1; }
  /// Where there are bundles: what would stay, and be reduced, if each element of a bundle were a result of its own.
  /// "8 x [4096] x 320". Else the same.
  Domain unbundled() const;
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

/// row: the fastest run is reduced, others stay. column: the fastest one stays. full: nothing stays.
enum class ReduceKind : std::uint8_t { row, column, full };
std::string_view name(ReduceKind kind);
inline ReduceKind reduce_kind(const Domain& domain) {
  if (domain.kept() == 1) return ReduceKind::full;
  return domain.reduces_fastest ? ReduceKind::row : ReduceKind::column;
}

Domain domain_of(const Shape& shape, const Dims& reduced);
/// Of what a reduction reads.
inline Domain domain_of(const Graph& graph, const Node& reduce) {
  return domain_of(graph[reduce.operands[0]].shape, axes(reduce));
}
/// "64 x [3136] x 32 x [28]": slowest first, what is reduced in brackets.
std::string text(const Domain& domain);

/// Dimensions of a size other than 1, the fastest in memory first.
std::vector<int> wide_dimensions(const Shape& shape);

/// The domain over which a broadcast repeats the numbers of its source: what it repeats is reduced there, and number
/// `i` of the source's memory goes to all elements with kept = i. Nothing where it puts the numbers in another order.
std::optional<Domain> spread_domain(const Node& broadcast, const Shape& source);

}  // namespace tailor::ir
