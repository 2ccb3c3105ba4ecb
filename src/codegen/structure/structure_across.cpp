// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums across the rows of a row group: which reductions are such sums, and what may follow from them. In: a group with
// its border and the layout of its rows. Out: the kind of a reduction, the values that are late, or why a kernel cannot
// end with them. Called by the row skeleton's analysis and by prepare().
//
// The gradient of a layer norm's scale adds up element j of every row, a loss one number of each row. The rows go by
// once; a thread that keeps the same columns of every row it sees adds up as they pass (lower_across.cpp). So such sums
// cost no reading of their own, and their results are known when the last row was seen.
//
// What is late can only be a number for each column, or one number, made of sums of the same kind, of parameters and of
// values that no reduction is in. Anything that leads back to rows would need them again, a further reduction the
// results of all threads: both are refused.
//
// Sets. A sum may take some of the rows together: those of a batch for each of its results, or the same head and query
// of all batches. Where rows lie one behind the other, their number has three digits of which the sum takes the middle
// one (RowSets). A block then has rows of one set, and the others have theirs. All such sums of a kernel have the same
// sets; others beside them may add up all rows.
//
// Doubts. Nothing of such a row is streamed, so a block has all that the row reads in its registers, and its sums; GPUs
// have 65,536 of them for a block, and the computation needs some. And the rows alone keep the blocks busy: few long
// rows are a few blocks' work, where sums of their own would be shared by all.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/counted.h"
#include "codegen/structure/structure.h"

namespace tailor::codegen {

using namespace ir;

namespace {

bool contains(const std::vector<NodeId>& nodes, NodeId id) {
  return std::binary_search(nodes.begin(), nodes.end(), id);
}

std::string shown(const Graph& graph, NodeId id) {
  return fmt::format("%{} {}", graph[id].name, text(graph[id].shape));
}

/// The sets of rows, one behind the other, of which a sum with this domain adds up element j.
std::optional<RowSets> sets_of(const Domain& sum, const Layout& layout) {
  const Domain& rows = layout.domain;
  const bool fits = rows.reduces_fastest && rows.is_contiguous() && !sum.reduces_fastest;
  if (!fits || sum.runs.size() < 2 || sum.runs.size() > 3 || sum.runs[0] % layout.columns != 0) return std::nullopt;
  return RowSets{sum.runs.size() == 3 ? sum.runs[2] : 1, sum.runs[1], sum.runs[0] / layout.columns};
}

/// Numbers of the late values that each node is made of: one for each column, one alone, or 0 where it is not late.
std::int64_t width_of_operands(const Region& region, NodeId id, const std::vector<NodeId>& late) {
  std::int64_t width = 0;
  for (const NodeId operand : region[id].operands)
    if (contains(late, operand)) width = std::max(width, elements(region.graph[operand].shape));
  return width;
}

/// Values that depend on a reduction that is not across rows.
std::vector<NodeId> values_of_rows(const Region& region, const Layout& layout) {
  const auto is_sum = [](const Node& node) { return node.op == Op::reduce; };
  return values_from(
      region,
      [&](const Node& node) {
        const RowReduction of = is_sum(node) ? row_reduction(region.graph, node, layout) : RowReduction::none;
        return of == RowReduction::row || of == RowReduction::chunks || of == RowReduction::results;
      },
      [&](const Node& node) { return !is_sum(node); });
}

/// Whether rows have chunks of so many neighbours.
bool is_chunk(std::int64_t length, const Domain& rows) {
  constexpr std::int64_t least = 4;
  return rows.reduces_fastest && rows.is_contiguous() && length >= least &&
         std::has_single_bit(static_cast<std::uint64_t>(length)) && length < rows.reduced() &&
         rows.reduced() % length == 0;
}

/// Whether the domain has rows of a number for each chunk of the others.
bool are_results(const Domain& results, const Domain& rows) {
  const std::int64_t count = results.reduced();
  return results.reduces_fastest && results.is_contiguous() && results.kept() == rows.kept() && count > 1 &&
         rows.reduced() % count == 0 && is_chunk(rows.reduced() / count, rows);
}

/// Whether lanes can put it together: one array, by an operation that is known and whose order is nobody's matter.
bool sums_chunks(const Graph& graph, const Node& reduce) {
  const Reducer known = reducer(reduce);
  return reduce.operands.size() == 2 && known != Reducer::none && known != Reducer::custom &&
         elements(graph[reduce.operands[1]].shape) == 1;
}

}  // namespace

bool are_chunks(const Domain& chunks, const Domain& rows) {
  return is_chunk(chunks.reduced(), rows) && chunks.reduces_fastest && chunks.is_contiguous() &&
         chunks.kept() * chunks.reduced() == rows.kept() * rows.reduced();
}

std::int64_t chunk_length(const Graph& graph, const Node& reduce, const Layout& layout) {
  switch (row_reduction(graph, reduce, layout)) {
    case RowReduction::chunks:
      return row_layout(graph, reduce).columns;
    case RowReduction::results:
      return layout.columns / row_layout(graph, reduce).columns;
    default:
      return 0;
  }
}

RowReduction row_reduction(const Graph& graph, const Node& reduce, const Layout& layout) {
  const std::int64_t count = elements(graph[reduce.operands[0]].shape), results = elements(reduce.shape);
  if (count == layout.rows * layout.columns) {
    const Domain domain = domain_of(graph, reduce);
    if (domain == layout.domain) return RowReduction::row;
    if (results == 1) return RowReduction::everything;
    if (domain == layout.domain.turned() || sets_of(domain, layout)) return RowReduction::columns;
    return are_chunks(domain, layout.domain) && sums_chunks(graph, reduce) ? RowReduction::chunks : RowReduction::none;
  }
  if (count == layout.rows && results == 1) return RowReduction::numbers;
  const bool of_results = are_results(domain_of(graph, reduce), layout.domain) && sums_chunks(graph, reduce);
  return of_results ? RowReduction::results : RowReduction::none;
}

RowSets row_sets(const Graph& graph, const Node& reduce, const Layout& layout) {
  return sets_of(domain_of(graph, reduce), layout).value_or(RowSets{1, layout.rows, 1});
}

RowSets row_sets(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  for (const NodeId id : late) {
    if (region[id].op != Op::reduce || row_reduction(region.graph, region[id], layout) != RowReduction::columns)
      continue;
    if (const RowSets sets = row_sets(region.graph, region[id], layout); sets.count() > 1) return sets;
  }
  return {1, layout.rows, 1};
}

std::vector<NodeId> late_values(const Region& region, const Layout& layout) {
  if (row(layout.skeleton).unit != WorkUnit::rows) return {};
  return values_from(
      region,
      [&](const Node& node) { return node.op == Op::reduce && is_across(row_reduction(region.graph, node, layout)); },
      [](const Node&) { return true; });
}

std::optional<Rejection> doubt_late(const Region& region, const Layout& layout) {
  constexpr std::int64_t most_registers = 48 << 10;  // of a block, for arrays as long as a row
  constexpr std::int64_t few_rows = 128, few_elements = 64 << 10, least_of_set = 2 << 10;
  const Graph& graph = region.graph;
  std::int64_t bits = 0;  // of one column
  for (const NodeId id : region.border.reads)
    if (elements(graph[id].shape) >= layout.columns) bits += row(graph[id].shape.dtype).bits;
  for (const NodeId id : region.inside())
    if (region[id].op == Op::reduce && row_reduction(graph, region[id], layout) == RowReduction::columns)
      bits += row(row(graph[id].shape.dtype).compute).bits;
  const std::int64_t registers = layout.columns * bits / 32;
  if (registers > most_registers)
    return refuse("across-long",
                  fmt::format("a row of {} and its sums across rows take {} registers of a block, {} are "
                              "left for them",
                              layout.columns, registers, most_registers));
  if (layout.rows * layout.columns <= few_elements) return std::nullopt;
  if (layout.rows < few_rows)
    return refuse("across-few", fmt::format("{} added up by as many blocks at most, which do not fill a GPU",
                                            counted(layout.rows, "row", "is", "are")));
  const RowSets sets = row_sets(region, layout, late_values(region, layout));
  if (sets.count() > 1 && sets.members * layout.columns < least_of_set)
    return refuse("across-short",
                  fmt::format("sets of {} of {} are added up by a block each, {} elements are worth one",
                              counted(sets.members, "row"), layout.columns, least_of_set));
  return std::nullopt;
}

std::optional<Rejection> refuse_late(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  const Graph& graph = region.graph;
  const std::vector<NodeId> of_rows = values_of_rows(region, layout);
  const RowSets sets = row_sets(region, layout, late);
  for (const NodeId id : late) {
    const Node& node = region[id];
    if (node.op == Op::reduce && row_reduction(graph, node, layout) == RowReduction::columns)
      if (const RowSets own = row_sets(graph, node, layout); own.count() > 1 && own != sets)
        return refuse("across-sets", fmt::format("%{} adds up sets of {} that are {} apart, another sum of {} that are "
                                                 "{} apart",
                                                 node.name, counted(own.members, "row"), own.inner,
                                                 counted(sets.members, "row"), sets.inner));
    const std::int64_t width = width_of_operands(region, id, late), count = elements(node.shape);
    if (node.op == Op::reduce) {
      if (width == 0) continue;
      return refuse(
          "across-reduced",
          fmt::format("{} reduces what was added up across rows: it is known when the kernel ends", shown(graph, id)));
    }
    const bool moves = node.op == Op::reshape || node.op == Op::bitcast || node.op == Op::broadcast;
    if ((!is_elementwise(node.op) && !moves) || count != width)
      return refuse(
          "across-moved",
          fmt::format("{} needs what was added up across rows: it is known when the kernel ends", shown(graph, id)));
    const bool mixes = std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) {
      return contains(late, operand) ? elements(graph[operand].shape) != width : contains(of_rows, operand);
    });
    if (mixes)
      return refuse("across-mix",
                    fmt::format("{} needs values of rows, and what was added up across them", shown(graph, id)));
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
