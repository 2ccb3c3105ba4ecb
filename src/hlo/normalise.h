// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalisation: a table of passes in running order. The first rows are resolved while the module is walked into a
// graph (graph_builder.h), the others rewrite the graph and each of its bodies. No pass changes a result. Each reports
// its rewrites and how many nodes it added and removed, so an import can be audited to the last instruction.
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/indexed.h"
#include "ir/graph/graph.h"

namespace tailor::hlo {

enum class Pass : std::uint8_t {
  set_aside,
  calls,
  fusions,
  async,
  tuples,
  markers,
  sizes,
  composites,
  widths,
  scans,
  windows,
  selections,
  reductions,
  topk,
  scatters,
  choices,
  regions,
  bodies,
  unrolled,
  constants,
  trip_counts,
  converts,
  reshapes,
  broadcasts,
  sliced,
  layouts,
  duplicates,
  invariants,
  dead,
};

/// What a pass did: rewrites, and nodes it added and removed.
struct PassCount {
  std::int64_t rewrites = 0, added = 0, removed = 0;
  std::vector<std::string> moved = {};  ///< values that went somewhere else, by name
};

/// The counts of every pass, in the order of the table.
struct Ledger {
  std::array<PassCount, static_cast<std::size_t>(Pass::dead) + 1> counts{};
  PassCount& of(Pass pass) { return row_for(counts, pass); }
  void add(Pass pass, std::int64_t rewrites, std::int64_t added, std::int64_t removed) {
    PassCount& count = of(pass);
    count.rewrites += rewrites;
    count.added += added;
    count.removed += removed;
  }
};

/// A graph while passes rewrite it: `replaced_by[n]` is the node whose value stands for node n (n itself mostly). Nodes
/// keep their order until the last pass drops the dead ones. An id stays valid while a pass runs, and changes only when
/// prepend() is called.
struct Rewrite {
  Rewrite(ir::Graph& rewritten, const std::stop_token& stop);
  /// The operand's current node.
  ir::NodeId current(ir::NodeId id) const {
    while (replaced_by[id] != id) id = replaced_by[id];
    return id;
  }
  ir::Node& node(ir::NodeId id) { return graph[id]; }
  /// Points the operands of a node at what replaced them. All passes do it for each node, so here they end when it is
  /// asked for: Error(interrupted).
  void refresh(ir::Node& node);
  /// `node` is no more: its users read `by`, an earlier node.
  void replace(ir::NodeId node, ir::NodeId by) { replaced_by[node] = by; }
  /// Puts nodes without operands in front of all others, whose numbers grow by as many.
  void prepend(std::vector<ir::Node> leaves);

  ir::Graph& graph;
  const std::stop_token& stop;
  IndexedVector<ir::NodeId> replaced_by;
  /// Nodes merged into an equal one: the survivor takes their place in given groups.
  std::vector<std::pair<ir::NodeId, ir::NodeId>> merged;
};

struct PassRow {
  Pass pass;
  std::string_view name;
  std::string_view what;
  void (*run)(Rewrite&, PassCount&);  ///< nullptr: resolved while the module is walked
};

void fold_constants(Rewrite& rewrite, PassCount& count);
void count_trips(Rewrite& rewrite, PassCount& count);
void simplify_converts(Rewrite& rewrite, PassCount& count);
void simplify_reshapes(Rewrite& rewrite, PassCount& count);
void merge_broadcasts(Rewrite& rewrite, PassCount& count);
void slice_scans(Rewrite& rewrite, PassCount& count);
void follow_layouts(Rewrite& rewrite, PassCount& count);
void merge_duplicates(Rewrite& rewrite, PassCount& count);
void hoist_invariants(Rewrite& rewrite, PassCount& count);
void drop_dead(Rewrite& rewrite, PassCount& count);

inline constexpr std::array pass_table = std::to_array<PassRow>({
    {Pass::set_aside, "set-aside", "computations wait until something calls them", nullptr},
    {Pass::calls, "inline-calls", "a call becomes the instructions it calls", nullptr},
    {Pass::fusions, "inline-fusions", "a fusion becomes its body and a given group", nullptr},
    {Pass::async, "resolve-async", "an asynchronous start and its done become the operation", nullptr},
    {Pass::tuples, "resolve-tuples", "tuples that only group values are removed", nullptr},
    {Pass::markers, "remove-markers", "markers that pass on their operand are removed", nullptr},
    {Pass::sizes, "resolve-sizes", "dimension sizes become constants", nullptr},
    {Pass::composites, "expand-composites", "batch normalisations become what they stand for", nullptr},
    {Pass::widths, "expand-widths", "bits read as numbers of another width become shifts of them", nullptr},
    {Pass::scans, "split-scans", "long cumulative reductions become scans of rows, or trees of windows of 16", nullptr},
    {Pass::windows, "split-windows", "windows of many elements become windows of few", nullptr},
    {Pass::selections, "select-windows", "a scatter to what windows select becomes a choice of each element", nullptr},
    {Pass::reductions, "unroll-reductions", "a reduction of up to four elements becomes their operations", nullptr},
    {Pass::topk, "split-topk", "the few greatest of a row become as many reductions", nullptr},
    {Pass::scatters, "place-windows", "a scatter of one window becomes the update of a slice", nullptr},
    {Pass::choices, "choose-updates", "a scatter of few updates a row becomes a choice of each element", nullptr},
    {Pass::regions, "recognise-regions", "a region of one operation is a reducer", nullptr},
    {Pass::bodies, "build-bodies", "loops, branches, regions get their own graphs", nullptr},
    {Pass::unrolled, "unroll-loops", "a short loop of few arrays' operations becomes its trips", nullptr},
    {Pass::constants, "fold-constants", "an operation on known numbers becomes its result", fold_constants},
    {Pass::trip_counts, "count-trips", "loops that count get their number of trips", count_trips},
    {Pass::converts, "simplify-converts", "conversions that change nothing are removed", simplify_converts},
    {Pass::reshapes, "simplify-reshapes", "reshapes of reshapes merge, idle ones are removed", simplify_reshapes},
    {Pass::broadcasts, "merge-broadcasts", "a broadcast of a broadcast is one", merge_broadcasts},
    {Pass::sliced, "slice-scans", "what is read of a scan is sliced before it, its last element reduced", slice_scans},
    {Pass::layouts, "follow-layouts", "values between a turned array and a reduction lie as it does", follow_layouts},
    {Pass::duplicates, "merge-duplicates", "equal nodes become one", merge_duplicates},
    {Pass::invariants, "hoist-invariants", "what never changes in a loop moves in front of it", hoist_invariants},
    {Pass::dead, "drop-dead", "what no output needs is removed", drop_dead},
});

constexpr bool passes_in_order() {
  for (std::size_t i = 0; i < pass_table.size(); ++i)
    if (pass_table[i].pass != static_cast<Pass>(i)) return false;
  return pass_table.back().pass == Pass::dead;
}
// The ledger is as long as the enumerators, and nothing may look at nodes that were dropped.
static_assert(passes_in_order(), "rows stand in the order of the enumerators, and dropping the dead comes last");

/// Runs the rows that have a function over the graph and its bodies, innermost first.
void run_passes(ir::Graph& graph, Ledger& ledger, const std::stop_token& stop = {});

/// Nodes of the graph and all its bodies.
std::int64_t nodes_in_all(const ir::Graph& graph);

}  // namespace tailor::hlo
