// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Merging groups while the price falls. In: a graph with its facts, a price, what may be merged, a partition to start
// from. Out: a partition that no single merge makes cheaper, as far as merges were offered. Called by strategy "tailor"
// for each of its starts, and again after groups were split.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/structure/structure.h"
#include "costmodel/model.h"
#include "explore/contraction.h"
#include "explore/spending.h"
#include "explore/strategy.h"

namespace tailor::explore {

/// What one kernel of the search may hold.
struct MergeLimits {
  bool lowerable = true;         ///< only what the lowering of today can write
  std::size_t operations = 512;  ///< of one group
  std::size_t reductions = 64;   ///< of one kernel; lowerable groups only
  std::int64_t arguments = 64;   ///< of one kernel, or no more than one of the two had; lowerable groups only
  std::int64_t barriers = 8;     ///< of one kernel
  bool meets_beside = true;      ///< bodies of a pack have blocks that share long rows and meet
  bool sums_across = true;       ///< rows are added up in the kernel that goes along them
  bool beside_columns = true;    ///< blocks that add up columns write arrays of full size that need no sum
  /// Longest row that is joined with more when it is the only one: its block reads that much anyway.
  std::int64_t one_row_columns = std::int64_t{1} << 14;
  /// Least share of what two groups take that putting them side by side must save: a launch saved is little beside two
  /// long kernels, and each would get the registers and blocks of the other.
  double pack_saves = 1.0 / 32;
  bool stages = false;   ///< loops of a launch may wait for one another
  bool doubted = false;  ///< what the lowering may do badly too
  /// The same of that: the price knows neither that blocks which loop take longer than others nor all of a meeting.
  double stages_save = 1.0 / 16;
};

/// Why kernels of today cannot hold these nodes of work together, or only with most of the machine idle; nothing when
/// they can. `own_arguments`: as many as this are no reason. What stays alone and how many reductions there are is not
/// looked at.
std::optional<std::string> not_one_kernel(const ir::Graph& graph, const ir::DefUse& def_use,
                                          const std::vector<ir::NodeId>& nodes, const MergeLimits& limits,
                                          std::int64_t own_arguments = 0);

/// Whether these nodes are a pack in which blocks of a body share long rows or columns and meet: what
/// MergeLimits::meets_beside is about.
bool meets_beside(const ir::Graph& graph, const ir::DefUse& def_use, const std::vector<ir::NodeId>& nodes);
/// Whether rows of such a loop are added up across too; of nodes of work, whether they are such a loop: which
/// MergeLimits::sums_across is about.
bool sums_across(const ir::Graph& graph, const ir::Boundary& border, const codegen::Layout& layout);
bool sums_across(const ir::Graph& graph, const ir::DefUse& def_use, const std::vector<ir::NodeId>& nodes);

using NodeSets = std::vector<std::vector<ir::NodeId>>;

/// A search that only mends a part of its start, in an order that is drawn.
struct MendingPart {
  const std::vector<bool>& nodes;  ///< by node: only merges with a group that holds one of these are offered
  std::mt19937_64& random;
  double noise = 0;  ///< gains count up to so much more of themselves when it is decided who merges first
  /// Of units in packing, by first node, last node and size; kept from search to search. What it says wrongly after a
  /// change only offers in vain.
  std::map<std::tuple<ir::NodeId, ir::NodeId, std::size_t>, std::string>& structures;
};

class MergeSearch {
 public:
  /// Everything outlives it. Groups of `start` that cannot be kept together (they overlap or would wait in a circle)
  /// fall apart. `spending` is counted up.
  MergeSearch(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits,
              const NodeSets& start, Spending& spending, const MendingPart* part = nullptr);

  /// Until no merge that is offered helps, the budget is spent, or it is stopped. `pack_early`: groups that share
  /// nothing are offered beside those that do, and not behind them.
  void run(bool pack_early = false);
  /// Groups by their first node, ascending.
  NodeSets groups() const;
  /// The same with groups cut in two between phases wherever that is cheaper; empty when nowhere.
  NodeSets split();
  /// What a merge of the groups of two nodes saves in seconds; negative when it costs. Both stay as they are.
  double gain(ir::NodeId a, ir::NodeId b);
  /// Why the groups of two nodes may not be merged; nothing when they may.
  std::optional<std::string> refusal(ir::NodeId a, ir::NodeId b);
  /// Seconds of all groups.
  double total() const;
  /// Whether a group has phases that wait for each other.
  bool has_barriers() const;

 private:
  struct Offer {
    std::int64_t gain = 0;  ///< whole picoseconds, so that prices which differ by rounding are equal
    ir::NodeId a = ir::no_node, b = ir::no_node;
    int version_a = 0, version_b = 0;
    bool fills = false;
    /// Of equal gains the smaller groups come first: a chain grows by doubling and not node by node, so that no merge
    /// looks at more than it adds. What is only packed together fills one kernel after another instead: of kernels
    /// that have doubled until they are half full no two go together.
    int order() const { return fills ? -(version_a + version_b) : version_a + version_b; }
    bool operator<(const Offer& other) const {
      if (gain != other.gain) return gain < other.gain;
      return std::tuple(order(), a, b) > std::tuple(other.order(), other.a, other.b);
    }
  };

  double price(std::int32_t group) const;
  std::int32_t group_of(ir::NodeId unit) const { return summaries_.group_of(units_.nodes(unit).front()); }
  void move(const std::vector<ir::NodeId>& nodes, std::int32_t to);
  void join(ir::NodeId a, ir::NodeId b);
  void offer(ir::NodeId a, ir::NodeId b, bool fills = false);
  bool drain();
  void offer_neighbours();
  void offer_packing();
  bool spent() const { return spending_.over(); }
  /// refusal(): of several reasons the one that tells most where words are wanted, else the one that is found soonest.
  std::optional<std::string> refused(ir::NodeId a, ir::NodeId b, bool in_words);
  std::optional<std::string> not_lowerable(ir::NodeId a, ir::NodeId b, bool in_words);
  std::vector<ir::NodeId> firsts() const;
  std::string structure(ir::NodeId unit) const;

  const FusionTask& task_;
  const costmodel::GroupFacts& facts_;
  MergeLimits limits_;
  Spending& spending_;
  mutable Contraction units_;
  costmodel::GroupSummaries summaries_;
  const MendingPart* part_;
  std::vector<bool> open_;   ///< by unit: whether it holds a node of the part
  std::vector<bool> alone_;  ///< no kernel of today can hold the node
  std::priority_queue<Offer> offers_;
  std::map<std::pair<ir::NodeId, ir::NodeId>, std::pair<int, int>> asked_;
};

}  // namespace tailor::explore
