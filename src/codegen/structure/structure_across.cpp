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
// of all batches. The number of a row has three digits then, of which the sum takes the middle one (RowSets). A block
// has rows of one set, and the others have theirs. All such sums of a kernel have the same sets; others beside them may
// add up all rows.
//
// Folding. It may also take some elements of a row together (Folding): all pixels of a channel, where rows are groups
// of channels, or the same place of all heads. Both follow from the runs of the sum's domain and the rows', cut where
// either has an end: what of elements and of rows the sum keeps or not, in the order of memory.
//
// Doubts. Nothing of such a row is streamed, so a block has all that the row reads in its registers, and its sums; GPUs
// have 65,536 of them for a block, and the computation needs some. And the rows alone keep the blocks busy: few long
// rows are a few blocks' work, where sums of their own would be shared by all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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

/// A run of elements, in the order of memory, of which each of two domains reduces all or keeps all.
struct Cut {
  std::int64_t size = 1;
  bool along = false;  ///< the rows are reduced along it
  bool gone = false;   ///< the sum is
};

/// The runs of both domains, cut where either has an end; nothing where ends lie inside one another's numbers.
std::vector<Cut> cuts_of(const Domain& rows, const Domain& sum) {
  std::vector<Cut> cuts;
  std::int64_t of_rows = 1, of_sum = 1;  // what is left of the run at hand
  for (int i = -1, k = -1;;) {
    if (of_rows == 1 && ++i < rows.runs.size()) of_rows = rows.runs[i];
    if (of_sum == 1 && ++k < sum.runs.size()) of_sum = sum.runs[k];
    if (i >= rows.runs.size() || k >= sum.runs.size()) return cuts;
    const std::int64_t size = std::min(of_rows, of_sum);
    if (of_rows % size != 0 || of_sum % size != 0) return {};
    cuts.push_back({size, rows.is_reduced(i), sum.is_reduced(k)});
    of_rows /= size, of_sum /= size;
  }
}

/// Three digits of what one side of the rows has, fastest first: kept, gone and kept again; nothing where more follow.
std::optional<std::array<std::int64_t, 3>> digits_of(const std::vector<Cut>& cuts, bool along) {
  std::array<std::int64_t, 3> digits = {1, 1, 1};
  std::size_t at = 0;
  for (const Cut& cut : cuts) {
    if (cut.along != along) continue;
    if (cut.gone != (at == 1)) ++at;
    if (at > 2) return std::nullopt;
    digits[at] *= cut.size;
  }
  return digits;
}

/// Whether the sum's results lie set by set: what it keeps of elements in front of what it keeps of rows.
bool lie_by_sets(const std::vector<Cut>& cuts) {
  const auto is_kept = [](bool along) { return [along](const Cut& cut) { return cut.along == along && !cut.gone; }; };
  const auto set = std::ranges::find_if(cuts, is_kept(false));
  return std::none_of(set, cuts.end(), is_kept(true));
}

/// Whether lanes side by side can have such elements in vectors: those of a result are neighbours or so many apart, a
/// power of two, or as many as a warp has in short vectors.
bool can_be_folded(const Folding& columns) {
  constexpr std::int64_t warp = 32, vector = 4;
  if (columns.is_each() || columns.is_one()) return true;
  if (columns.pieces > 1 && columns.beside > 1) return false;
  return columns.run() % (warp * vector) == 0 || std::has_single_bit(static_cast<std::uint64_t>(columns.run()));
}

std::optional<AcrossSum> across_sum(const Domain& sum, const Domain& rows) {
  const std::vector<Cut> cuts = cuts_of(rows, sum);
  const auto elements_of = digits_of(cuts, true), rows_of = digits_of(cuts, false);
  if (!elements_of || !rows_of || !lie_by_sets(cuts)) return std::nullopt;
  const auto [beside, fold, pieces] = *elements_of;
  const auto [inner, members, outer] = *rows_of;
  const bool is_of_longer_rows = outer > 1 && sum.reduces_fastest && sum.is_contiguous();
  const Folding columns{pieces, fold, beside};
  if (members == 1 || is_of_longer_rows || !can_be_folded(columns)) return std::nullopt;
  return AcrossSum{{outer, members, inner}, columns};
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
    if (const std::optional<AcrossSum> sum = across_sum(domain, layout.domain))
      return sum->columns.is_each() ? RowReduction::columns : RowReduction::folded;
    return are_chunks(domain, layout.domain) && sums_chunks(graph, reduce) ? RowReduction::chunks : RowReduction::none;
  }
  if (count == layout.rows && results == 1) return RowReduction::numbers;
  const bool of_results = are_results(domain_of(graph, reduce), layout.domain) && sums_chunks(graph, reduce);
  return of_results ? RowReduction::results : RowReduction::none;
}

std::optional<AcrossSum> across_sum(const Graph& graph, const Node& reduce, const Layout& layout) {
  switch (row_reduction(graph, reduce, layout)) {
    case RowReduction::columns:
    case RowReduction::folded:
      return across_sum(domain_of(graph, reduce), layout.domain);
    case RowReduction::everything:
      return AcrossSum{{1, layout.rows, 1}, {1, layout.columns, 1}};
    default:
      return std::nullopt;
  }
}

namespace {

/// The sets that blocks have: those of the sums among `late` that have several, which refuse_late() wants to be the
/// same; else all rows in one.
RowSets row_sets(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  for (const NodeId id : late) {
    if (region[id].op != Op::reduce) continue;
    const std::optional<AcrossSum> sum = across_sum(region.graph, region[id], layout);
    if (sum && sum->sets.count() > 1) return sum->sets;
  }
  return {1, layout.rows, 1};
}

}  // namespace

bool adds_up_parts(const Region& region, const Layout& layout) {
  return std::ranges::any_of(region.inside(), [&](NodeId id) {
    if (region[id].op != Op::reduce) return false;
    const std::optional<AcrossSum> sum = across_sum(region.graph, region[id], layout);
    return sum && (sum->sets.count() > 1 || (!sum->columns.is_each() && !sum->columns.is_one()));
  });
}

std::vector<NodeId> late_values(const Region& region, const Layout& layout) {
  if (row(layout.skeleton).unit != WorkUnit::rows) return {};
  return values_from(
      region,
      [&](const Node& node) { return node.op == Op::reduce && is_across(row_reduction(region.graph, node, layout)); },
      [](const Node&) { return true; });
}

std::optional<Rejection> doubt_late(const Region& region, const Layout& layout, const std::vector<NodeId>& late) {
  constexpr std::int64_t most_registers = 48 << 10;  // of a block, for arrays as long as a row
  constexpr std::int64_t few_rows = 128, few_elements = 64 << 10, least_of_set = 2 << 10;
  const Graph& graph = region.graph;
  std::int64_t bits = 0;  // of one column
  for (const NodeId id : region.border.reads)
    if (elements(graph[id].shape) >= layout.columns) bits += row(graph[id].shape.dtype).bits;
  for (const NodeId id : region.inside())
    if (region[id].op == Op::reduce && row_reduction(graph, region[id], layout) == RowReduction::columns)  // one each
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
  const RowSets sets = row_sets(region, layout, late);
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
  std::vector<NodeId> of_sets;  // ascending
  for (const NodeId id : late) {
    const Node& node = region[id];
    const std::optional<AcrossSum> sum = node.op == Op::reduce ? across_sum(graph, node, layout) : std::nullopt;
    if (sum && sum->sets.count() > 1) {
      of_sets.push_back(id);
      if (const RowSets& own = sum->sets; own != sets)
        return refuse("across-sets", fmt::format("%{} adds up sets of {} that are {} apart, another sum of {} that are "
                                                 "{} apart",
                                                 node.name, counted(own.members, "row"), own.inner,
                                                 counted(sets.members, "row"), sets.inner));
    }
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
    const bool of_set = std::ranges::any_of(node.operands, [&](NodeId operand) { return contains(of_sets, operand); });
    if (of_set) of_sets.push_back(id);
    const bool mixes = std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) {
      return contains(late, operand) ? elements(graph[operand].shape) != width || contains(of_sets, operand) != of_set
                                     : contains(of_rows, operand);
    });
    if (mixes)
      return refuse("across-mix",
                    fmt::format("{} needs values of rows, and what was added up across them", shown(graph, id)));
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
