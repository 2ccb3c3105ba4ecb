// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Summaries of groups that grow and shrink: what a group reads, writes and computes, how many grid barriers it needs
// and what crosses them. In: facts of a graph's nodes, nodes that enter and leave groups. Out: a summary per group,
// kept up to date with each step in time that depends on what changed. Called by the search for each move that it
// considers, and once over all nodes of a group by whoever prices it alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "costmodel/group_facts.h"

namespace tailor::costmodel {

/// Nodes that follow equally many times of going through rows again.
struct RowWalk {
  std::int64_t nodes = 0;
  std::int64_t in_pieces = 0;  ///< of these, those that go through rows which do not lie in one piece
  double pieces = 0;           ///< accesses of lanes of all of those; one that goes along with another asks nothing
  bool operator==(const RowWalk&) const = default;
};

/// Arrays of one size that are turned in one way.
struct TurnedArrays {
  double elements = 0;  ///< of one of them
  std::int32_t turn = 0;
  std::int64_t nodes = 0;
  double bytes = 0;  ///< of sectors of which one element is used, and not its neighbours, of all of them
  bool operator==(const TurnedArrays&) const = default;
};

/// What the price of a group sees. All numbers are whole, or whole parts of bytes: sums in any order are equal.
struct GroupSummary {
  double read = 0, written = 0;                ///< bytes, each array once
  double crossing = 0;                         ///< bytes of values of the group that a later phase reads
  double read_again = 0;                       ///< bytes of arrays from outside that a later phase reads once more
  double fma = 0, alu = 0, xu = 0, f64 = 0;    ///< lane instructions, recomputed ones too
  double near = 0, loads = 0;                  ///< bytes and lane loads for the taps of windows, an array's once a tap
  double chosen = 0, choices = 0, others = 0;  ///< as those of GroupNode
  std::int64_t nodes = 0;
  std::int64_t arguments = 0;          ///< arrays read and written
  std::int64_t tails = 0;              ///< results that are there only when all blocks are done
  std::int64_t fills = 0;              ///< scatters whose array another launch makes before them
  double scattered = 0;                ///< bytes that scatters change where data says
  double carried = 0, reduced = 0;     ///< elements of reductions among them, and elements that those go over
  std::int64_t row_sums = 0;           ///< reductions whose rows, or bands of columns, a block can hold
  std::int64_t column_sums = 0;        ///< of these, those of columns
  double rows = 0;                     ///< of these, summed up
  std::vector<std::int64_t> steps{};   ///< of these, how many have so many others before them
  std::vector<RowWalk> walks{};        ///< by the times that rows are gone through again
  std::vector<TurnedArrays> turns{};   ///< by their elements, then by their turn
  std::vector<std::int64_t> phases{};  ///< nodes in each; a grid barrier stands between two phases
  bool operator==(const GroupSummary&) const = default;
};
std::int64_t barriers(const GroupSummary& summary);
/// Times that rows are gone through again because their elements need a number of the whole row.
std::int64_t walks_again(const GroupSummary& summary);
/// Bytes of sectors that a loop moves for single elements: a tile turns arrays of one size in one way, others are gone
/// across.
double across(const GroupSummary& summary);

/// One more or less at a place of a list that ends with its last entry above 0.
inline void count_at(std::vector<std::int64_t>& counts, std::size_t at, int sign) {
  if (counts.size() <= at) counts.resize(at + 1, 0);
  counts[at] += sign;
  while (!counts.empty() && counts.back() == 0) counts.pop_back();
}

/// Disjoint groups over the nodes of one graph. A node is in no group or in one.
class GroupSummaries {
 public:
  static constexpr std::int32_t no_group = -1;

  /// `facts` outlive it.
  explicit GroupSummaries(const GroupFacts& facts);

  /// A new group without nodes.
  std::int32_t create();
  /// Precondition: the nodes are in no group. O(their edges and those of nodes whose phase or places change); those are
  /// looked at once for all that come together.
  void add(std::int32_t group, std::span<const ir::NodeId> nodes);
  void add(std::int32_t group, ir::NodeId node) { add(group, std::span(&node, 1)); }
  /// Precondition: the nodes are in one group.
  void remove(std::span<const ir::NodeId> nodes);
  void remove(ir::NodeId node) { remove(std::span(&node, 1)); }
  std::int32_t group_of(ir::NodeId node) const { return states_[ir::index(node)].group; }
  /// Grid barriers of its group that come before it. Precondition: it is in a group.
  std::int32_t phase_of(ir::NodeId node) const { return states_[ir::index(node)].phase; }
  const GroupSummary& summary(std::int32_t group) const { return groups_[static_cast<std::size_t>(group)].summary; }

 private:
  /// An array from outside that members read.
  struct External {
    double bytes = 0;  ///< of the array
    std::int64_t whole = 0;
    double partial = 0;
    std::vector<std::pair<std::int32_t, std::int64_t>> phases;  ///< of its readers, and how many each
    /// Of readers at several places: by whose places they are, of lanes, and how many readers.
    std::map<ir::NodeId, std::map<double, std::int64_t>> loads;
    double once() const;
  };
  /// How far a result reaches in a group; of rows or columns that a block has, how many there are and how they lie.
  struct Reach {
    ResultReach reach = ResultReach::element;
    double rows = 1;
    std::int32_t domain = 0;
    bool operator==(const Reach&) const = default;
  };
  /// A node as its group has it folded: the first step of a reduction stands for the whole of it, the others follow for
  /// free.
  struct Folded {
    Reach seen{};
    double results = 0;    ///< elements that its group has of it
    bool follows = false;  ///< a later step of a reduction that its group folds
    bool operator==(const Folded&) const = default;
  };
  struct State {
    std::int32_t group = no_group;
    std::int32_t phase = 0;
    std::int64_t inside = 0;  ///< reads of it by its own group
    std::int64_t later = 0;   ///< of these, by later phases
    double rows = 0;          ///< what readers see: 0 nothing waits, > 0 one block has it, < 0 the whole grid must end
    std::int32_t domain = 0;  ///< of these rows, as GroupNode::domain
    std::int32_t steps = 0;   ///< row reductions that end before it can, itself included
    std::int32_t walks = 0;   ///< times that its row is gone through again before it is there
    double times = 1;         ///< that each of its elements is computed, for all places at which its group asks for it
    Folded folded{};
    AskedPlaces places{};  ///< at which its group asks for it
  };
  struct OneGroup {
    GroupSummary summary;
    std::unordered_map<ir::NodeId, External> externals;
    std::map<std::int32_t, std::int64_t> reaching;  ///< members that reach beyond an element, by GroupNode::columns
    std::set<ir::NodeId> of_columns;                ///< of these, those of columns
    /// How all of their columns lie, where they lie alike and nobody else reaches so far; else 0.
    std::int32_t columns() const { return reaching.size() == 1 ? reaching.begin()->first : 0; }
  };

  void enter(std::int32_t group, ir::NodeId node);
  void leave(ir::NodeId node);
  bool is_placed(ir::NodeId node) const;
  double written(ir::NodeId node) const;
  bool escapes(ir::NodeId node) const;
  void count_result(ir::NodeId node, int sign);
  void count_update(ir::NodeId node, int sign);
  bool may_update(const GroupReader& reader) const;
  void count_read(ir::NodeId node, std::size_t read, int sign);
  bool waits(ir::NodeId node, const GroupRead& read, const State& maker) const;
  struct Standing {
    std::int32_t phase = 0;
    double rows = 0;
    std::int32_t domain = 0, steps = 0, walks = 0;
    bool operator==(const Standing&) const = default;
  };
  Standing standing_of(ir::NodeId node) const;
  void settle(ir::NodeId first);
  void count_phase(ir::NodeId node, int sign);
  void count_steps(ir::NodeId node, int sign);
  void count_work(ir::NodeId node, int sign);
  void count_again(ir::NodeId node, int sign);
  bool is_kept(const State& maker, const State& reader, const GroupRead& read) const;
  AskedPlaces places_of(ir::NodeId node) const;
  void settle_places(std::int32_t group);
  void count_turn(ir::NodeId node, int sign);
  Reach reach_in(std::int32_t group, ir::NodeId node) const;
  void count_reach(std::int32_t group, ir::NodeId node, int sign);
  bool fold_as(ir::NodeId node, const Folded& folded);
  std::vector<ir::NodeId> see_columns(std::int32_t group);
  std::vector<ir::NodeId> refold(std::int32_t group, std::int32_t chain);
  void settle_around(std::int32_t group, ir::NodeId node);

  const GroupFacts& facts_;
  std::vector<State> states_;
  std::vector<OneGroup> groups_;
  std::vector<ir::NodeId> changed_;  ///< of which places may be others now
};

/// Of all nodes of a graph that is one group (ir::outline).
GroupSummary summarise(const ir::Graph& group);

}  // namespace tailor::costmodel
