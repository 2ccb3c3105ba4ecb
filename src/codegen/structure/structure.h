// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The one structural analysis of a group: which skeleton it needs, over which rows and columns, or why no kernel of
// today can hold it. In come nodes of a graph with their border; prepare() asks it once per group, strategies ask it
// thousands of times about groups that do not exist yet, and both get the same word from the same lines.
//
// A structure is what every plan of a group has in common. Whether a plan is legal is lower()'s word alone (decision
// 7), and lower() begins with what stands here. On top of it find_doubt() names what the lowering of today does badly
// with a structure or finds impossible only while it places values: rows that are turned, values of rows used by other
// rows, outputs of several sizes. A strategy that wants groups with good plans keeps off those; what has no doubt can
// be lowered (a law, tested over every group of every dump).
//
// In a row group of R rows and N columns a value that depends on a reduction is either one number per row [R] or a full
// array [R,N], with rows outermost; where chunks of B neighbours of a row are reduced too, also one number per chunk
// [R,N/B]. Values that do not depend on a reduction are free to be read at any index. A column group is the same with
// the reduced dimensions in front of some that stay, in the order of memory, without chunks.
//
// A row group may also add up across its rows: element j of all of them, one number of each, or everything. What needs
// such a sum is late: no row can have it before all rows are done (structure_across.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/structure/domain.h"
#include "ir/fusion.h"
#include "ir/graph/number.h"
#include "ir/graph/split_reduction.h"
#include "ir/graph/window_strips.h"
#include "ir/plan.h"

namespace tailor::codegen {

struct Layout {
  ir::Skeleton skeleton = ir::Skeleton::map;
  std::int64_t rows = 1;     ///< results of a reduction: rows, or columns that stay; map: 1; pack, stages: bodies
  std::int64_t columns = 1;  ///< elements reduced for each of them; map: elements of the largest output; bodies: of all
  Domain domain = {};        ///< of the reduction with the most elements; map and bodies: none
  bool operator==(const Layout&) const = default;
};
/// "map 4096", "row 4096 x 768"; "column 4096 x 768": each of 768 columns is 4096 long. Rows whose elements do not lie
/// together say how they do: "row 64 x 25088 in [32] x 64 x [784]".
std::string text(const Layout& layout);

/// Whether an output of so many elements is neither one per result nor one per element.
constexpr bool is_aside(const Layout& layout, std::int64_t elements) {
  return elements != layout.rows && elements != layout.rows * layout.columns;
}

using Classified = std::variant<Layout, ir::Rejection>;

/// The border of a group that is a graph of its own.
ir::Boundary whole_border(const ir::Graph& group);

/// The node whose elements a kernel stores for write number `i`: the new part where an array is updated in place, a
/// scatter's updates, else the write itself.
ir::NodeId stored_node(const ir::Graph& graph, const ir::Boundary& border, std::size_t i);
/// Whether a launch of its own first puts into a result what a scatter then changes there: it is not updated in place.
bool fills_first(const ir::Graph& graph, const ir::Boundary& border);
/// Whether the node is a write whose new part alone is stored.
bool is_written_in_place(const ir::Boundary& border, ir::NodeId id);

/// A structure, or why there is none, and what the lowering of today makes badly of it, or not at all.
struct JudgedStructure {
  Classified structure;
  std::optional<ir::Rejection> doubt;
};
/// The first skeleton that recognises the nodes inside the border. Where it would do badly with parts that share
/// nothing, and a pack of them would not, the pack. Names in rejections are those of `graph`. O(nodes inside).
JudgedStructure judge(const ir::Graph& graph, const ir::Boundary& border);

struct Stages;
/// The same, and where it finds none, stages: how they are cut goes to `cut`, where somebody wants it.
JudgedStructure judge_stages(const ir::Graph& graph, const ir::Boundary& border, Stages* cut = nullptr);

/// The structures alone.
inline Classified analyse(const ir::Graph& graph, const ir::Boundary& border) { return judge(graph, border).structure; }
inline Classified analyse_stages(const ir::Graph& graph, const ir::Boundary& border, Stages* cut = nullptr) {
  return judge_stages(graph, border, cut).structure;
}

/// The same without packs: what one loop can do.
Classified analyse_loop(const ir::Graph& graph, const ir::Boundary& border);

/// What a reduce_precision leaves of its operand: no more than there is.
ir::Digits kept_digits(const ir::Graph& graph, const ir::Node& node);
/// The type to which a conversion and back do what a reduce_precision asks for, the node's own where it changes
/// nothing. Nothing where no conversion does: the number's bits are rounded.
std::optional<ir::DType> rounding_type(const ir::Graph& graph, const ir::Node& node);

/// Why no kernel of today can hold the node, whatever stands around it; nothing when one may.
std::optional<ir::Rejection> refused_alone(const ir::Graph& graph, ir::NodeId node);

/// The doubt of judge() about a structure that is known: analyse() recognised it as `layout`.
std::optional<ir::Rejection> find_doubt(const ir::Graph& graph, const ir::Boundary& border, const Layout& layout);

/// A sound refusal: what it says of a group holds for every plan.
inline ir::Rejection refuse(const ir::Refusal& rule, std::string reason) { return {rule, std::move(reason)}; }

/// Whether a transpose only moves dimensions of size 1, or a broadcast puts the others into their own order.
bool keeps_order(const ir::Node& node, const ir::Shape& source);

/// What a reduction of a row group goes over.
enum class RowReduction : std::uint8_t {
  row,         ///< the elements of each row
  chunks,      ///< a power of two of neighbours in a row: several results for each row
  results,     ///< of each row what there is one of for each chunk
  columns,     ///< across rows: element j of all rows, one result for each j; or of each of several sets of rows
  folded,      ///< the same, of several j together
  numbers,     ///< across rows: a number of each row, one result
  everything,  ///< across rows: all elements of all rows, one result
  none,        ///< anything else
};
RowReduction row_reduction(const ir::Graph& graph, const ir::Node& reduce, const Layout& layout);
/// Elements of the chunks of rows that the reduction goes over, or that it reduces results of; 0: another reduction.
std::int64_t chunk_length(const ir::Graph& graph, const ir::Node& reduce, const Layout& layout);
/// Of a warp: a chunk is the vectors of a power of two of neighbouring lanes.
inline constexpr int chunk_lanes = 32;
/// Whether the first domain has chunks of the second one's rows: a power of two of neighbours each, four or more.
bool are_chunks(const Domain& chunks, const Domain& rows);
/// Rows that are added up together: their numbers have three digits, the last of them the fastest, and a set differs in
/// the middle one. 16 batches of 12 heads added up over the batch: outer 1, members 16, inner 12.
struct RowSets {
  std::int64_t outer = 1, members = 1, inner = 1;
  std::int64_t count() const { return outer * inner; }
  bool operator==(const RowSets&) const = default;
};
/// Elements of a row that are added up together: their places have three digits, the last of them the fastest, and
/// those that differ in the middle one make one result. Columns: 1 x 1 x C. Everything: 1 x C x 1. The pixels of each
/// channel, of rows that are groups of channels: channels x pixels x 1.
struct Folding {
  std::int64_t pieces = 1, fold = 1, beside = 1;
  std::int64_t width() const { return pieces * beside; }   ///< results, of one set of rows
  bool is_one() const { return width() == 1; }             ///< all elements make one result
  bool is_each() const { return fold == 1 && !is_one(); }  ///< each makes its own
  /// Of others: neighbours that make one result, or that make one each before the first has its next element.
  std::int64_t run() const { return pieces > 1 ? fold : beside; }
  bool operator==(const Folding&) const = default;
};
/// What a reduction across rows adds up. Result number i of set number s is number s * width + i in memory.
struct AcrossSum {
  RowSets sets;
  Folding columns;
  bool operator==(const AcrossSum&) const = default;
};
/// Of a reduction across rows that goes over their elements, `columns`, `folded` or `everything`; else nothing.
std::optional<AcrossSum> across_sum(const ir::Graph& graph, const ir::Node& reduce, const Layout& layout);
constexpr bool is_across(RowReduction of) {
  return of == RowReduction::columns || of == RowReduction::folded || of == RowReduction::numbers ||
         of == RowReduction::everything;
}

/// Whether it goes along rows or columns: a reduction, or a scan, which makes an element of each that it passes.
inline bool walks_along(const ir::Node& node) { return node.op == ir::Op::reduce || ir::scan_of(node).has_value(); }
/// Dimensions of what such a node reads, along which it goes.
ir::Dims walked_axes(const ir::Node& node);
/// Of what such a node reads.
Domain walked_domain(const ir::Graph& graph, const ir::Node& node);

using ir::ReduceKind;
/// By the operand's place in memory.
inline ReduceKind reduce_kind(const ir::Graph& graph, ir::NodeId reduce) {
  return ir::reduce_kind(domain_of(graph, graph[reduce]));
}
/// Rows and columns of a row reduction (a full one has one row); of any other, results and elements reduced for each.
Layout row_layout(const ir::Graph& graph, const ir::Node& reduce);
inline Layout row_layout(const ir::Graph& graph, ir::NodeId reduce) { return row_layout(graph, graph[reduce]); }

/// The nodes inside a border as a kernel computes them: reductions that arrive in steps are one, and the steps before
/// the last are not there (ir/graph/split_reduction.h); one of several arrays is seen as if its first result were its
/// own (ir/graph/region_reduction.h). Graph and border outlive it.
class Region {
 public:
  Region(const ir::Graph& graph, const ir::Boundary& border);

  const ir::Graph& graph;
  const ir::Boundary& border;

  /// Operands before users.
  const std::vector<ir::NodeId>& inside() const { return folded_.empty() ? border.inside : inside_; }
  /// A node of the graph, inside or not, as the kernel sees it.
  const ir::Node& operator[](ir::NodeId id) const;

 private:
  std::vector<ir::NodeId> inside_;                       ///< empty where no node differs
  std::vector<std::pair<ir::NodeId, ir::Node>> folded_;  ///< those that differ from the graph's, ascending
};

// ---- parts that share nothing (structure_pack.cpp)

/// One of the bodies of a pack, of which none uses what another one computes, or a stage.
struct BodyBorder {
  ir::Boundary border;
  /// Which buffers: the group's reads, then its writes, then the values that wait between stages; ascending.
  std::vector<std::int32_t> reads, writes;
  Layout layout;
};
/// Elements that it goes over.
inline std::int64_t elements_of(const Layout& layout) {
  return row(layout.skeleton).unit == ir::WorkUnit::bodies ? layout.columns : layout.rows * layout.columns;
}

/// Whether what the border holds falls into parts of which none uses what another one computes. O(nodes inside).
bool falls_apart(const ir::Graph& graph, const ir::Boundary& border);

/// Such parts as the bodies of a pack, those with most elements first: parts of one layout that a single kernel can
/// hold are one body. Why there is no pack: a part that has no kernel, a single body, more than a launch has.
std::variant<std::vector<BodyBorder>, ir::Rejection> find_bodies(const ir::Graph& graph, const ir::Boundary& border);

/// The doubt about a loop whose blocks are others' too, as a stage's: they would share each row or column, and meet.
std::optional<ir::Rejection> doubt_alone(const ir::Graph& graph, const BodyBorder& body);

// ---- loops one behind the other (structure_stages.cpp)

/// A group cut into stages.
struct Stages {
  std::vector<ir::NodeId> waits;   ///< in global memory between them; ascending
  std::vector<BodyBorder> bodies;  ///< each a loop or a pack
};
/// The cut at reductions that has few stages; or why there is none. O(nodes inside), at most so often as there are
/// reductions.
std::variant<Stages, ir::Rejection> find_stages(const ir::Graph& graph, const ir::Boundary& border);
/// The cut at these values, ascending; rule `homes` where one of them is not computed inside.
std::variant<Stages, ir::Rejection> cut_at(const ir::Graph& graph, const ir::Boundary& border,
                                           const std::vector<ir::NodeId>& waits);

/// Whether a group of such rows can also be gone through as columns whose bundles are put together at the end: all its
/// reductions go over the same rows, and reduce by operations that are known; a row's elements lie in runs with other
/// rows between that are shorter than two sectors of some array that is read, and no whole sector.
bool has_bundles(const Region& region, const Layout& layout);

/// The reductions inside, and what depends on one.
std::unordered_set<ir::NodeId> behind_reductions(const Region& region);

/// Nodes inside for which `begins` holds, and those that follow from them by any way that `passes`, ascending.
template <class Begins, class Passes>
std::vector<ir::NodeId> values_from(const Region& region, Begins begins, Passes passes) {
  std::vector<ir::NodeId> found;
  for (const ir::NodeId id : region.inside()) {
    const ir::Node& node = region[id];
    const bool follows =
        passes(node) && std::any_of(node.operands.begin(), node.operands.end(), [&](ir::NodeId operand) {
          return std::binary_search(found.begin(), found.end(), operand);
        });
    if (follows || begins(node)) found.insert(std::upper_bound(found.begin(), found.end(), id), id);
  }
  return found;
}
/// Why a row or column kernel cannot write what the border asks for: an output is one per result, one per element, or
/// late; of rows, one per chunk that is reduced; or it is stored aside, element by element, because it needs no
/// reduction, or there is one row alone.
std::optional<ir::Rejection> refuse_outputs(const Region& region, const Layout& layout,
                                            const std::vector<ir::NodeId>& late);
/// The doubt about outputs aside: a kernel of rows or columns writes them one element at a time.
std::optional<ir::Rejection> doubt_outputs(const Region& region, const Layout& layout,
                                           const std::vector<ir::NodeId>& late);

/// Values that need a sum across rows, ascending; nothing where the layout is not of rows or no reduction goes across.
std::vector<ir::NodeId> late_values(const Region& region, const Layout& layout);
/// Whether some sum across rows is of several sets of them, or of several parts of a row.
bool adds_up_parts(const Region& region, const Layout& layout);
/// Why the kernel's end cannot make what needs sums across rows.
std::optional<ir::Rejection> refuse_late(const Region& region, const Layout& layout,
                                         const std::vector<ir::NodeId>& late);

/// The doubt about sums across rows: a block whose registers hardly hold a row and the sums, or too few blocks.
std::optional<ir::Rejection> doubt_late(const Region& region, const Layout& layout,
                                        const std::vector<ir::NodeId>& late);

}  // namespace tailor::codegen
