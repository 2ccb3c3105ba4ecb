// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the price of a group needs to know of each node of a graph, found once: what it reads and in which order, what
// it writes, its instructions, how far its result reaches. Comes in: a graph with its def-use facts. Goes out: one
// record per node. Called before groups are formed (group_summary.h), by the search and by whoever prices one group.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/calibration.h"
#include "costmodel/places/places.h"
#include "ir/fusion.h"

namespace tailor::costmodel {

/// At which index a reader takes a value, from the tamest to the wildest.
enum class ReadOrder : std::uint8_t {
  same,    ///< the element that it computes
  spread,  ///< repeated over a row or column: its number for all of its elements
  within,  ///< another place of the same row: a row that is reversed, turned, cut, put together
  moved,   ///< any other place: transposes, look-ups, a number repeated for others than its neighbours
};

/// One value that a node reads, seen through free nodes.
struct GroupRead {
  ir::NodeId value = ir::no_node;  ///< the array: a work or outside node, an element of a tuple, a source
  ir::NodeId maker = ir::no_node;  ///< the work or outside node that computes it; no_node: nobody here does
  double bytes = 0;                ///< that are touched, at most all of the array's
  bool whole = false;              ///< all of it
  bool is_part = false;            ///< by a slice or a look-up, whose places are its own
  ReadOrder order = ReadOrder::same;
  std::int32_t domain = 0;  ///< spread: how the rows or columns lie over which it is; as GroupNode::domain
  double rows = 1;          ///< within: so many rows, in one piece each, keep their elements
  double taps = 0;          ///< of a reduction over windows: times that it reads each element; 0: it is none
  /// Of such a reduction, where slices take some of its results: the share of the array that these ask for, over their
  /// share of the results. Windows that lie apart from one another share nothing.
  double spread = 1;
  /// Steps on each way to it, as indices into GroupFacts::steps; none: it is read at the index that is computed, alone.
  std::vector<std::vector<std::int32_t>> ways{};
};

/// How far the result of a node reaches before the whole grid has finished.
enum class ResultReach : std::uint8_t {
  element,  ///< whoever computed it has it
  row,      ///< a row reduction: the block that reduced the row
  grid,     ///< all other reductions, sorts, scatters: nobody before all blocks are done
};

struct GroupReader {
  ir::NodeId node = ir::no_node;
  std::int32_t read = 0;  ///< which of its reads
};

/// A step before a reduction that a group which holds both folds into it (ir/graph/split_reduction.h).
struct GroupStep {
  ir::NodeId reduce = ir::no_node;
  ResultReach reach = ResultReach::grid;  ///< of the whole, from this step on
  double rows = 1;
  std::int32_t domain = 0;
};

struct GroupNode {
  bool alive = false;  ///< work or an outside node
  ResultReach reach = ResultReach::element;
  bool reduces = false;     ///< a reduction: its operand may be of any size
  double reduced = 0;       ///< elements of that operand
  double rows = 1;          ///< of a row reduction
  std::int32_t domain = 0;  ///< how its rows lie: 0 each in one piece, > 0 a number for their domain
  /// Of a reduction that leaves the fastest dimension: bands of columns side by side that a block may have, and how the
  /// columns lie, < 0 a number for their domain; 0: it is none. A group whose reductions are all of columns that lie
  /// alike has a band to a block, as it has rows (group_reductions.cpp); in others its result is there when the whole
  /// grid has ended.
  double bands = 1;
  std::int32_t columns = 0;
  std::vector<GroupStep> steps;  ///< of a reduction, the nearest first
  std::int32_t chain = -1;       ///< reductions that are steps of one another; index into GroupFacts::chains
  double fma = 0, alu = 0, xu = 0, f64 = 0;
  double pieces = 0;         ///< accesses of lanes to a row that does not lie in one piece
  double chosen = 0;         ///< of a concatenate: accesses of lanes, each to one of its arrays
  double choices = 0;        ///< and halvings of the arrays until one is left, of all of them
  double others = 0;         ///< and other arrays that the warp's lanes ask for, which wait for one another
  std::int32_t turn = 0;     ///< how it turns an array so that neighbours part: 0 not at all; back is the same turn
  double bytes = 0;          ///< of the result
  double placed_bytes = 0;   ///< of the part that is written when an update happens in place
  double scattered = 0;      ///< bytes that a scatter changes where data says; 0: it is none
  std::int32_t placed = -1;  ///< the read whose memory may be written over; -1: none
  std::vector<ir::NodeId> windows;   ///< slices of that memory that must be read in the same group then
  ir::NodeId updates = ir::no_node;  ///< of such a slice, the update
  bool stored = false;               ///< a result of the graph
  double elements = 0;
  std::vector<GroupRead> reads;
  std::vector<GroupReader> readers;
};

struct GroupFacts {
  std::vector<GroupNode> nodes;                 ///< parallel to Graph::nodes
  std::vector<double> value_bytes;              ///< of the array of each node
  std::vector<double> element_bytes;            ///< of an element of it; 0 of tuples
  std::vector<std::vector<ir::NodeId>> chains;  ///< ascending
  std::vector<PlaceStep> steps;                 ///< that change an index
};

/// O(nodes + edges).
GroupFacts group_facts(const ir::Graph& graph, const ir::DefUse& def_use);

}  // namespace tailor::costmodel
