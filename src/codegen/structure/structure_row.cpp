// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the row skeleton recognises, and what it doubts. In: a group with its border. Out: rows and columns, or a
// rejection; for a doubt, what of the structure would be lowered badly. Called through the table of skeletons.
//
// Recognising: reductions take the fastest dimension in memory and others with it, together or with dimensions that
// stay between (the channels of a batch of images): all of them the same rows, or across these rows
// (structure_across.cpp); outputs are those that structure.cpp tells. This is what lower() must be able to rely
// on.
//
// Doubts: one pass over the group, operands first, says of each value whether it depends on a reduction and, if so,
// how it lies: one number per row, or one per element of a row. A lane has only its own row at hand. So a broadcast
// may spread a row's number over its own elements and over nothing else; a transpose or a change of layout would turn
// rows; a slice, a reverse or a concatenation would move a value to another row or column; a reduction of numbers per
// row would cross rows. Values that depend on no reduction are free: they are read or computed at whatever index is
// asked for. Few long rows that are gone through again keep few blocks busy. Names of rules are stable, because
// databases group rejections by them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/counted.h"
#include "codegen/structure/recognise.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

using namespace ir;

namespace {

/// Rows of a reduction whose fastest dimension in memory is reduced (dimensions of size 1 aside), or that reduces all.
std::optional<Layout> rows_of(const Graph& graph, const Node& reduce) {
  const Domain domain = walked_domain(graph, reduce);
  if (!domain.runs.empty() && !domain.reduces_fastest) return std::nullopt;
  return Layout{Skeleton::row, domain.kept(), domain.reduced(), domain};
}

/// Why a row group does not take a reduction along columns.
Rejection refuse_reduction(const Graph& graph, const Node& reduce) {
  const Dims gone = walked_axes(reduce);
  return refuse("skeleton-mixed",
                fmt::format("{} %{} {{{}}} of {} runs neither along rows nor across those of the group: a skeleton "
                            "for this is still to come",
                            row(reduce.op).id, reduce.name, fmt::join(gone.begin(), gone.end(), ","),
                            text(graph[reduce.operands[0]].shape)));
}

/// Neighbours that a warp reads together in another place than the next ones: half of what memory gives at a time.
constexpr std::int64_t least_run_bits = 128;

std::string label(const Graph& graph, NodeId id) {
  return fmt::format("%{} {}", graph[id].name, text(graph[id].shape));
}

/// How a value that depends on a reduction lies. none: it does not depend on one. chunk: one number for each chunk of a
/// row, of whatever length. turned: such numbers in another order, as they are stored.
enum class RowDependence : std::uint8_t { none, row, chunk, turned, full };

/// The pass over a group that contains row reductions.
class RowReading {
 public:
  RowReading(const Region& region, Layout layout)
      : region_(region), graph_(region.graph), layout_(layout), numbered_(adds_up_parts(region, layout)) {}

  std::optional<Rejection> read(NodeId id) {
    const Node& node = region_[id];
    RowDependence dependence = RowDependence::none;
    for (const NodeId operand : node.operands) {
      const RowDependence of_operand = row_dependence(operand);
      if (of_operand == RowDependence::none) continue;
      if (dependence != RowDependence::none && dependence != of_operand)
        return refuse("skeleton-row-mix", fmt::format("{} reads values of rows and of elements", label(graph_, id)));
      dependence = of_operand;
    }
    if (scan_of(node)) return read_scan(id, dependence);
    if (node.op == Op::reduce)
      return is_across(row_reduction(graph_, node, layout_)) ? std::nullopt : read_reduce(id, dependence);
    const bool is_chunked = dependence == RowDependence::chunk;  // few numbers: how they are stored is no matter
    if (node.op == Op::transpose && !is_chunked && !keeps_order(node, graph_[node.operands[0]].shape) &&
        (dependence != RowDependence::none || is_turned_badly(node)))
      return refuse("skeleton-transpose", fmt::format("{} turns rows inside a row group", label(graph_, id)));
    if (dependence == RowDependence::none) return std::nullopt;
    if (numbered_ && is_elementwise(node.op) && changes_order(node))
      return refuse("skeleton-transpose", fmt::format("{} changes the layout of row data", label(graph_, id)));
    if (is_chunked && node.op == Op::transpose && !keeps_order(node, graph_[node.operands[0]].shape))
      dependence = RowDependence::turned;
    if (node.op == Op::broadcast) return read_broadcast(id, dependence);
    const bool views = node.op == Op::bitcast || node.op == Op::reshape;
    if (views && !(lies_row_major(node.shape) && lies_row_major(graph_[node.operands[0]].shape)))
      return refuse("skeleton-transpose", fmt::format("{} changes the layout of row data", label(graph_, id)));
    const bool moves = reads_elsewhere(class_of(node.op)) && !views && node.op != Op::transpose;
    if (moves)
      return refuse(ir::Refusal("skeleton-row-OP").of(name(node.op)),
                    fmt::format("{} moves values that depend on a row reduction", label(graph_, id)));
    row_dependences_[id] = dependence;
    return std::nullopt;
  }

 private:
  RowDependence row_dependence(NodeId id) const {
    const auto found = row_dependences_.find(id);
    return found == row_dependences_.end() ? RowDependence::none : found->second;
  }

  /// Whether elements of some operand lie in another order in memory.
  bool changes_order(const Node& node) const {
    const std::vector<int> order = ir::wide_dimensions(node.shape);
    return std::ranges::any_of(node.operands, [&](NodeId operand) {
      return row_dependence(operand) != RowDependence::none && ir::wide_dimensions(graph_[operand].shape) != order;
    });
  }

  /// What depends on no reduction is read at whatever index is asked for. Neighbours in memory are elements of
  /// neighbouring rows then, which a cache has to keep until those are gone through. It does while as many rows are at
  /// hand as a row is long, or an eighth of that.
  bool is_turned_badly(const Node& node) const {
    constexpr std::int64_t most_columns = 8;  // for each row
    const std::int64_t count = elements(node.shape);
    return count >= layout_.rows * layout_.columns && takes_time(count, row(node.shape.dtype).bits) &&
           layout_.columns > most_columns * layout_.rows;
  }

  std::optional<Rejection> read_reduce(NodeId id, RowDependence dependence) {
    const RowReduction of = row_reduction(graph_, region_[id], layout_);
    if (of == RowReduction::chunks && dependence != RowDependence::row && dependence != RowDependence::chunk) {
      row_dependences_[id] = RowDependence::chunk;
      return std::nullopt;
    }
    if (of == RowReduction::results && dependence != RowDependence::turned) {
      row_dependences_[id] = RowDependence::row;
      return std::nullopt;
    }
    const Layout own = row_layout(graph_, region_[id]);
    if (own.rows != layout_.rows || own.columns != layout_.columns || dependence == RowDependence::row)
      return refuse("skeleton-row-shapes",
                    fmt::format("%{} reduces {} of {}, the group has {} of {}", graph_[id].name,
                                counted(own.rows, "row"), own.columns, counted(layout_.rows, "row"), layout_.columns));
    row_dependences_[id] = RowDependence::row;
    return std::nullopt;
  }

  /// What is computed of it is at the place at hand, like what a reduction has spread.
  std::optional<Rejection> read_scan(NodeId id, RowDependence dependence) {
    if (dependence == RowDependence::row)
      return refuse("skeleton-row-shapes", fmt::format("{} goes over numbers of rows", label(graph_, id)));
    row_dependences_[id] = RowDependence::full;
    return std::nullopt;
  }

  std::optional<Rejection> read_broadcast(NodeId id, RowDependence dependence) {
    const Node& node = graph_[id];
    const Shape& source = graph_[node.operands[0]].shape;
    const std::int64_t count = elements(node.shape);
    const bool spreads = dependence == RowDependence::row && count == layout_.rows * layout_.columns;
    Dims repeated;
    for (int d = 0; d < node.shape.rank(); ++d)
      if (!axes(node).contains(d)) repeated.push_back(d);
    if (dependence == RowDependence::chunk || dependence == RowDependence::turned ||
        (dependence == RowDependence::row && !spreads && count > layout_.rows))
      return read_spread(id, dependence, domain_of(node.shape, repeated));
    const bool fits = spreads ? domain_of(node.shape, repeated) == layout_.domain : count == elements(source);
    if (!fits || !keeps_order(node, source))
      return refuse("skeleton-row-broadcast",
                    fmt::format("{} spreads values of rows over other rows", label(graph_, id)));
    row_dependences_[id] = spreads ? RowDependence::full : dependence;
    return std::nullopt;
  }

  /// Numbers of rows go to each chunk of the row, those of chunks to each element of the chunk.
  std::optional<Rejection> read_spread(NodeId id, RowDependence dependence, const Domain& over) {
    const Shape& source = graph_[graph_[id].operands[0]].shape;
    const std::int64_t count = elements(graph_[id].shape);
    const bool of_rows = dependence == RowDependence::row,
               whole = dependence == RowDependence::chunk && count == layout_.rows * layout_.columns;
    const bool same = count == elements(source);
    const bool fits = same || (of_rows ? is_of_chunks(region_, layout_, count) && over.reduces_fastest &&
                                             over.is_contiguous() && over.kept() == layout_.rows
                                       : whole && are_chunks(over, layout_.domain));
    if (!fits || !keeps_order(graph_[id], source))
      return refuse("skeleton-row-broadcast", fmt::format("{} spreads values of {} over other {}", label(graph_, id),
                                                          of_rows ? "rows" : "chunks", of_rows ? "rows" : "chunks"));
    row_dependences_[id] = same ? dependence : of_rows ? RowDependence::chunk : RowDependence::full;
    return std::nullopt;
  }

  const Region& region_;
  const Graph& graph_;
  Layout layout_;
  bool numbered_ = false;  ///< some sum tells rows or elements apart by their numbers, which are in the order of memory
  std::unordered_map<NodeId, RowDependence> row_dependences_;
};

}  // namespace

bool keeps_order(const Node& node, const Shape& source) {
  std::int64_t last = -1;
  for (int i = 0; i < axes(node).size(); ++i) {
    const std::int64_t place = axes(node)[i];
    if (source.dims[node.op == Op::transpose ? static_cast<int>(place) : i] == 1) continue;
    if (place < last) return false;
    last = place;
  }
  return true;
}

namespace {

/// The rows that the group may have, the likeliest first: those of the reduction along the most elements, of these the
/// most rows.
std::vector<Layout> all_rows_of(const Region& region) {
  std::vector<Layout> all;
  for (const NodeId id : region.inside()) {
    if (!walks_along(region[id])) continue;
    std::optional<Layout> own = rows_of(region.graph, region[id]);
    if (own && std::ranges::find(all, *own) == all.end()) all.push_back(*std::move(own));
  }
  std::ranges::stable_sort(all, [](const Layout& a, const Layout& b) {
    return std::pair(a.rows * a.columns, a.rows) > std::pair(b.rows * b.columns, b.rows);
  });
  return all;
}

/// The first reduction that is none of such rows, nor across them.
std::optional<Rejection> refuse_reductions(const Region& region, const Layout& layout) {
  const Graph& graph = region.graph;
  NodeId first = no_node;
  for (const NodeId id : region.inside()) {
    const Node& node = region[id];
    if (node.op != Op::reduce) continue;
    const bool of_rows = rows_of(graph, node).has_value();
    if (row_reduction(graph, node, layout) != RowReduction::none) {
      if (of_rows && first == no_node) first = id;
      continue;
    }
    if (!of_rows) return refuse_reduction(graph, node);
    NodeId other = first;  // one of the group's rows, to be named beside it
    for (const NodeId next : region.inside())
      if (other == no_node && walks_along(region[next]) && walked_domain(graph, region[next]) == layout.domain)
        other = next;
    if (other == no_node)
      return refuse("rows-differ", fmt::format("%{} reduces rows that lie as {}, the group has {}", graph[id].name,
                                               text(domain_of(graph, node)), text(layout.domain)));
    const Layout a = row_layout(graph, region[std::min(id, other)]), b = row_layout(graph, region[std::max(id, other)]);
    const std::string a_name = graph[std::min(id, other)].name, b_name = graph[std::max(id, other)].name;
    if (a.rows == b.rows && a.columns == b.columns)
      return refuse("rows-differ", fmt::format("%{} reduces rows that lie as {}, %{} as {}", a_name, text(a.domain),
                                               b_name, text(b.domain)));
    return refuse("rows-differ",
                  fmt::format("%{} reduces {} of {}, %{} reduces {} of {}", a_name, counted(a.rows, "row"), a.columns,
                              b_name, counted(b.rows, "row"), b.columns));
  }
  return std::nullopt;
}

}  // namespace

namespace {

std::string_view unit_of(const Layout& layout) {
  return row(layout.skeleton).unit == WorkUnit::columns ? "columns" : "rows";
}

Rejection refuse_region_across(const Node& reduce) {
  return refuse(reduced_count(reduce) == 1 ? ir::Refusal("skeleton-custom-reduction")
                                           : ir::Refusal("skeleton-variadic-reduction"),
                fmt::format("reduce %{} runs across the rows of the group, by a function of its own", reduce.name));
}

}  // namespace

std::optional<Rejection> refuse_scans(const Region& region, const Layout& layout) {
  NodeId first = no_node;
  for (const NodeId id : region.inside()) {
    const std::optional<Scan> scan = scan_of(region[id]);
    if (!scan) continue;
    const std::string name = label(region.graph, id);
    if (const Domain own = walked_domain(region.graph, region[id]); own != layout.domain)
      return refuse("rows-differ", fmt::format("{} goes along {}, the group has {} that lie as {}", name, text(own),
                                               unit_of(layout), text(layout.domain)));
    if (first != no_node && scan_of(region[first])->direction != scan->direction)
      return refuse("scan-directions", fmt::format("{} goes along {} from one end, %{} from the other", name,
                                                   unit_of(layout), region.graph[first].name));
    if (first == no_node) first = id;
  }
  return std::nullopt;
}

namespace {

/// The rows of all elements behind what such a reduction goes over, if that has one number for each chunk.
Layout rows_behind(const Layout& results, const Layout& chunks) {
  const std::int64_t columns = results.columns * chunks.columns;
  Domain domain{{columns}, true};
  if (results.rows > 1) domain.runs.push_back(results.rows);
  return {Skeleton::row, results.rows, columns, domain};
}

/// Longer rows of which those that the group has are chunks: some that it goes along, or reduces results of; of several
/// the longest.
std::optional<Layout> longer_rows(const Region& region, const Layout& chunks) {
  std::optional<Layout> longest;
  for (const NodeId id : region.inside()) {
    if (!walks_along(region[id])) continue;
    std::optional<Layout> rows = rows_of(region.graph, region[id]);
    if (rows && rows->rows * rows->columns == chunks.rows) rows = rows_behind(*rows, chunks);
    if (!rows || !are_chunks(chunks.domain, rows->domain)) continue;
    if (!longest || rows->columns > longest->columns) longest = std::move(rows);
  }
  return longest;
}

/// The most elements that lanes of a warp have in the widest vectors that the group has.
std::int64_t longest_chunk(const Region& region) {
  constexpr std::int64_t access_bits = 128;
  std::int64_t vector = 1;
  for (const std::vector<NodeId>* arrays : {&region.border.reads, &region.border.writes})
    for (const NodeId id : *arrays)
      vector = std::max<std::int64_t>(vector, access_bits / std::max(row(region.graph[id].shape.dtype).bits, 1));
  return chunk_lanes * vector;
}

/// A run of elements that a sum across rows takes together, or has side by side, of which chunks of so many, and those
/// which lanes have together with them, are no part; 0 where there is none.
std::int64_t run_across_chunks(const Region& region, const Layout& layout, std::int64_t length) {
  for (const NodeId id : region.inside()) {
    if (region[id].op != Op::reduce) continue;
    const std::optional<AcrossSum> sum = across_sum(region.graph, region[id], layout);
    if (!sum || sum->columns.is_one() || sum->columns.is_each()) continue;
    const std::int64_t run = sum->columns.run();
    if (run % length != 0 && length % run != 0) return run;
  }
  return 0;
}

std::optional<Rejection> refuse_chunks(const Region& region, const Layout& layout) {
  for (const NodeId id : region.inside()) {
    if (region[id].op != Op::reduce) continue;
    const std::int64_t length = chunk_length(region.graph, region[id], layout);
    if (length == 0) continue;
    if (const std::int64_t most = longest_chunk(region); length > most)
      return refuse("rows-differ",
                    fmt::format("%{} reduces chunks of {} of rows of {}, lanes of a warp have {} at most",
                                region.graph[id].name, length, layout.columns, most));
    if (const std::int64_t run = run_across_chunks(region, layout, length); run > 0)
      return refuse("rows-differ",
                    fmt::format("%{} reduces chunks of {} of rows of which parts of {} are added up together",
                                region.graph[id].name, length, run));
  }
  return std::nullopt;
}

Classified recognise_rows(const Region& region, const Layout& layout) {
  const std::vector<NodeId> late = late_values(region, layout);
  for (const NodeId id : late)
    if (region[id].op == Op::reduce && runs_region(region[id])) return refuse_region_across(region[id]);
  if (!late.empty())
    if (std::optional<Rejection> refused = refuse_late(region, layout, late)) return *refused;
  if (std::optional<Rejection> refused = refuse_reductions(region, layout)) return *refused;
  if (std::optional<Rejection> refused = refuse_chunks(region, layout)) return *refused;
  if (std::optional<Rejection> refused = refuse_scans(region, layout)) return *refused;
  if (std::optional<Rejection> refused = refuse_outputs(region, layout, late)) return *refused;
  return layout;
}

/// The first reduction of numbers that are none of chunks that the group reduces: rows of its own, shorter ones.
std::optional<Rejection> refuse_own_rows(const Region& region, const Layout& layout) {
  const auto kind = [&](const Node& node) {
    return node.op == Op::reduce ? row_reduction(region.graph, node, layout) : RowReduction::none;
  };
  const std::vector<NodeId> of_chunks = values_from(
      region, [&](const Node& node) { return kind(node) == RowReduction::chunks; }, [](const Node&) { return true; });
  for (const NodeId id : region.inside())
    if (kind(region[id]) == RowReduction::results && !std::ranges::binary_search(of_chunks, region[id].operands[0]))
      return refuse("rows-differ",
                    fmt::format("%{} reduces rows of {}, the group has rows of {}", region.graph[id].name,
                                row_layout(region.graph, region[id]).columns, layout.columns));
  return std::nullopt;
}

/// The same, and with chunks, or sums across some rows or of parts of them, only what has no doubt: what moves their
/// results, or would read them badly, may still do as stages.
Classified recognise_chunked(const Region& region, const Layout& layout) {
  const Classified found = recognise_rows(region, layout);
  const auto is_of_chunks = [&](NodeId id) {
    return region[id].op == Op::reduce && chunk_length(region.graph, region[id], layout) > 0;
  };
  const bool has_parts = std::ranges::any_of(region.inside(), is_of_chunks) || adds_up_parts(region, layout);
  if (std::holds_alternative<Rejection>(found) || !has_parts) return found;
  if (std::optional<Rejection> refused = refuse_own_rows(region, layout)) return *refused;
  if (std::optional<Rejection> doubted = doubt_row(region, layout)) return *doubted;
  return found;
}

/// Rows across which the others are added up, though they are fewer: the groups of channels of a small batch.
std::optional<Layout> rows_of_folded(const Region& region, std::span<const Layout> layouts) {
  constexpr std::size_t most = 4;
  const auto count = [](const Layout& layout) { return layout.rows * layout.columns; };
  for (const Layout& layout : layouts.subspan(1, std::min(most, layouts.size()) - 1)) {
    if (count(layout) != count(layouts.front())) break;
    const Classified found = recognise_rows(region, layout);
    if (std::holds_alternative<Layout>(found) && !doubt_row(region, layout)) return layout;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Classified> recognise_row(const Region& region) {
  const auto is_sum = [&](NodeId id) { return walks_along(region[id]); };
  const auto first = std::find_if(region.inside().begin(), region.inside().end(), is_sum);
  if (first == region.inside().end()) return std::nullopt;
  const std::vector<Layout> layouts = all_rows_of(region);
  if (layouts.empty()) return refuse_reduction(region.graph, region[*first]);
  Classified found = recognise_chunked(region, layouts.front());
  if (std::holds_alternative<Layout>(found)) return found;
  if (const std::optional<Layout> longer = longer_rows(region, layouts.front()))
    return recognise_chunked(region, *longer);
  const std::optional<Layout> folding = rows_of_folded(region, layouts);
  return folding ? Classified{*folding} : found;
}

std::optional<Rejection> doubt_row(const Region& region, const Layout& layout) {
  const Graph& graph = region.graph;
  const std::vector<NodeId> late = late_values(region, layout);
  if (!late.empty())
    if (std::optional<Rejection> doubted = doubt_late(region, layout, late)) return doubted;
  if (std::optional<Rejection> doubted = doubt_outputs(region, layout, late)) return doubted;
  const bool bundles = has_bundles(region, layout);
  for (const NodeId id : region.inside()) {
    if (bundles || graph[id].op != Op::reduce || std::binary_search(late.begin(), late.end(), id)) continue;
    const Shape& source = graph[region[id].operands[0]].shape;
    const Domain domain = domain_of(graph, region[id]);
    if (domain.is_contiguous() || domain.fastest() * row(source.dtype).bits >= least_run_bits) continue;
    return refuse("short-runs",
                  fmt::format("{} of {} reads {} at a time, {} bits", label(graph, id), text(source),
                              counted(domain.fastest(), "neighbour"), domain.fastest() * row(source.dtype).bits));
  }
  RowReading reading(region, layout);
  for (const NodeId id : region.inside()) {
    const bool ends = graph[id].op != Op::reduce && std::binary_search(late.begin(), late.end(), id);
    if (ends || is_written_in_place(region.border, id)) continue;
    if (std::optional<Rejection> refused = reading.read(id)) return *refused;
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
