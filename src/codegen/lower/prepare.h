// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What lowering needs to know of a group whatever the plan: computed once per group, read by every plan of it. Which
// skeleton it has, its row reductions and their phases, which values are full (one per row and column), and what later
// phases would need from earlier ones, with the lists of homes that say where it waits.
//
// A phase is the depth of a reduction in reductions: phase 0 reduces inputs, phase 1 values that need a phase-0 result.
// After the last reduction comes one more phase for the outputs that need it. A scan ends a phase for those who read it
// at other places of its row. Sums across rows are of the phase that computes what they add up, and count for nobody's
// depth: what needs them is of no phase.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/indexed.h"
#include "codegen/structure/structure.h"
#include "codegen/structure/turn.h"
#include "codegen/structure/window_taps.h"
#include "ir/fusion.h"
#include "ir/graph/gather_numbers.h"
#include "ir/plan.h"

namespace tailor::codegen {

struct Phase {
  std::vector<ir::NodeId> reductions;
  std::vector<ir::NodeId> across;     ///< row: sums across rows of what this phase computes
  std::vector<std::int32_t> outputs;  ///< indices into the group's outputs, stored in this phase
  std::vector<ir::NodeId> left;       ///< scans that later phases read at other places of their rows
  bool walks = false;                 ///< goes over elements, not over numbers of rows or columns alone
};

/// What a list of homes keeps.
struct KeptHomes {
  std::vector<ir::Home> homes;
  IndexedVector<std::vector<ir::Home>> phases;  ///< per phase: what it or an earlier one has and later ones need
  /// Per phase: what it reads of that at other places of a row than its own, as far as operations tell; ascending.
  IndexedVector<std::vector<ir::NodeId>> elsewhere;
};

/// Concatenations and pads whose elements come from exactly one of several places in memory (lower_choice.cpp).
struct Choice {
  bool found = false;               ///< it is one
  ir::NodeId around = ir::no_node;  ///< the constant of pads in it
  bool repeats = false;             ///< something in it has more elements than places
  bool read_once = false;           ///< a parameter that only one choice reads, as much as rows x columns
  bool late_start = false;          ///< a dynamic slice that begins where its arm says
};

/// From one node's coordinates to a neighbour's: to operand `operand` of `from`, or to the user `to` of `from`. A
/// concatenation is such a user of its pieces, of whichever of them the walk at hand is for.
struct Step {
  ir::NodeId from = ir::no_node;
  ir::NodeId to = ir::no_node;
  bool to_user = false;
  std::int32_t operand = 0;
};

/// How an output's coordinates follow from the dominant's; `found` is false when no one-to-one path leads there.
struct Route {
  bool found = false;
  std::vector<Step> steps;
};

/// An output of a loop over the pieces of a concatenation: a window for each piece that makes it up (pieces.cpp).
struct Windows {
  std::int32_t count = 1;           ///< 1: the loop goes over as many elements as the output has, or over more
  ir::NodeId piece = ir::no_node;   ///< of several: the first operand of the concatenation
  ir::NodeId target = ir::no_node;  ///< of several: the stored node, or what has its coordinates
  Route route;                      ///< of several: from `piece` to `target`, through the concatenation
};

/// A loop in strips: a position of it is one result in each row of a strip (lower_window.cpp).
struct Strip {
  std::int32_t rows = 0;    ///< results one below the other; 0: no such loop
  int dim = -1;             ///< of the results, along which they lie
  std::int64_t all = 0;     ///< there are so many along it; the last strip may be shorter
  ir::Shape piece;          ///< the results' shape with that dimension in strips
  std::int64_t loaded = 0;  ///< bytes that the results of one element of a strip read, each place once
};

struct Prepared;

/// What a sum across rows of elements adds up; nullptr for any other node.
const AcrossSum* across_of(const Prepared& prepared, ir::NodeId id);
/// Whether lanes that take vectors of so many elements, `together` at once, have parts of the results of all such sums
/// that can be put together: each the same of all its rows, and others the same as it or none of them.
bool can_fold(const Prepared& prepared, std::int64_t together, std::int64_t vector);

/// The taps of a reduce-window that is prepared; nullptr for any other node.
const WindowTaps* taps_of(const Prepared& prepared, ir::NodeId id);

/// Whether it is a reduce-window that a walk computes as it goes along rows or down columns (lower_scan.cpp).
bool is_scan(const Prepared& prepared, ir::NodeId id);
/// Neighbours of a row that make one result of this reduction, which a walk puts together as it goes; 0: another node.
std::int64_t chunk_of(const Prepared& prepared, ir::NodeId id);
/// Whether there are such nodes: threads of a row put something together as they walk, so all of them take part.
bool passes_together(const Prepared& prepared);
/// Whether a phase's result is complete when it ends, and no sooner: a reduction of rows or columns, not of chunks.
bool ends_phase(const Prepared& prepared, const ir::Graph& graph, ir::NodeId id);

/// One of the bodies of a pack, or a stage, as a group of its own.
struct Body {
  std::shared_ptr<const ir::Group> group;
  std::shared_ptr<const Prepared> prepared;
  std::vector<ir::NodeId> nodes;  ///< per node of it: which of the whole group
  /// Per parameter and output of it: which of the launch's buffers, that is of the whole group's parameters, its
  /// outputs, and what waits between stages.
  std::vector<std::int32_t> inputs, outputs;
};

struct Prepared {
  const ir::Group* group = nullptr;
  /// What is lowered: the group's graph, or one with the same node numbers whose reductions are folded where they
  /// arrive in steps (ir/graph/split_reduction.h), whose stacks of windows are gathers (ir/rewrite/stacked_windows.h),
  /// whose chains of greatest pairs are maxima (packed_pairs.h) and whose reductions of several arrays are arrays
  /// (ir/graph/region_reduction.h). A check's reference evaluates the group's own.
  std::shared_ptr<const ir::Graph> graph;
  ir::Skeleton skeleton = ir::Skeleton::map;
  std::int64_t rows = 1, columns = 1;  ///< as in Layout
  Domain domain;                       ///< the same
  IndexedVector<ir::NodeId> stored;    ///< per output: whose elements are stored (stored_node)
  IndexedVector<Windows> windows;      ///< per output
  std::vector<ir::NodeId> joined;      ///< of a loop over pieces: concatenations that it does operand by operand
  IndexedVector<Phase> phases;
  int walks = 1;             ///< phases that go over elements
  bool sums_across = false;  ///< some phase has sums across rows
  RowSets sets;              ///< of rows that are added up together, where some sum has several
  std::vector<std::pair<ir::NodeId, AcrossSum>> across;  ///< sums across rows that go over elements, ascending
  std::vector<std::int32_t> late_outputs;                ///< of no phase: they need sums across rows
  /// Of no phase, in rows and columns: neither one per result nor one per element. Free ones need no reduction; others
  /// are of a kernel of one row.
  std::vector<std::int32_t> free_aside, reduced_aside;
  IndexedVector<std::uint8_t> full;  ///< per node: holds rows x columns elements and is no index operation
  /// Per node: a value computed in a wider type than its own that some plan keeps between phases. It is rounded to its
  /// own type for all who read it, whether the plan at hand keeps it or not.
  IndexedVector<std::uint8_t> rounded;
  IndexedVector<std::int32_t> first_phase;  ///< per node: after whose walk it is there; the largest number: never
  /// The list of each HomesWord with what it keeps. Empty ones where plans have no homes.
  IndexedArray<KeptHomes, ir::homes_words> homes;
  IndexedVector<std::vector<ir::NodeId>> users;
  IndexedVector<std::string> names;          ///< per node: its name as a C identifier
  std::vector<ir::NodeId> dominants;         ///< candidates for Plan::dominant, the usual choice first
  std::vector<Domain> dominant_domains;      ///< of what each reduces; map: none
  std::vector<IndexedVector<Route>> routes;  ///< per dominant candidate, per output; from what a reduction reads
  /// The same from the results of reductions: all of the first phase's, then of the next.
  std::vector<std::pair<ir::NodeId, IndexedVector<Route>>> result_routes;
  std::string title;                                              ///< name of the kernel: its telling operations
  std::vector<std::pair<ir::NodeId, ir::GatherNumbers>> gathers;  ///< of scatters too; ascending
  std::vector<std::pair<ir::NodeId, ir::ScatterForm>> scatters;
  std::vector<std::pair<ir::NodeId, WindowTaps>> taps;       ///< of each reduce-window that goes tap by tap, ascending
  std::vector<ir::NodeId> scans;                             ///< the others, ascending
  bool scans_backward = false;                               ///< all of them, from the end
  std::vector<std::pair<ir::NodeId, std::int64_t>> chunks;   ///< reductions of chunks and how long these are, ascending
  std::vector<std::pair<ir::NodeId, std::int64_t>> results;  ///< reductions of what there is one of for each chunk
  std::vector<std::int64_t> chunk_lengths;                   ///< of both, ascending
  IndexedVector<ir::Reducer> window_of;  ///< per node: of all windows over this parameter; none: of none
  IndexedVector<int> slices_of;          ///< per node: parts of it that are read for an element
  IndexedVector<std::uint8_t> places;    ///< per node: what a gather's indices are made of
  bool placed_by_reduction = false, placed_in_walk = false;  ///< such nodes are among them
  IndexedVector<Choice> choices;                             ///< per node
  int widest_vector = 1;                                     ///< most elements of any parameter or output in 16 bytes
  std::int64_t element_code = 0;  ///< instructions that lie in the code for one element of the loop, as estimated
  bool straight = true;           ///< nothing turns, cuts or joins arrays: neighbours stay neighbours
  std::int64_t unbroken = 0;      ///< runs of so many elements stay whole, broadcasts counted (unbroken.h); 0: all do
  std::optional<Turn> turn;       ///< transpose: what its tiles are made of
  /// Of a flat loop over a group that is turned too: the same group prepared for the skeleton transpose.
  std::shared_ptr<const Prepared> turned;
  /// Of a flat loop over a group whose root is a concatenation of equal pieces: the same group prepared for a loop over
  /// one piece, which does the same place of all of them. Its dominants are as large as a piece, so a plan's dominant
  /// says which loop it means.
  std::shared_ptr<const Prepared> in_pieces;
  /// Of a flat loop over results that share what they read: the same group prepared for loops in strips, the shortest
  /// first.
  std::vector<std::shared_ptr<const Prepared>> in_strips;
  Strip strip;  ///< this is such a loop
  /// Of rows whose elements lie in short runs: the same group prepared for columns, `rows` of them, of `columns`
  /// elements. Every `bundle` neighbours of them make one result, which all of them have in the end.
  std::shared_ptr<const Prepared> in_bundles;
  std::int64_t bundle = 1;  ///< of such columns; 1: each is a result of its own
  /// Of a flat loop over the updates of scatters that are not in place: the same group prepared for the loop that is
  /// launched before it and puts into each of their results what the scatter finds there.
  std::shared_ptr<const Prepared> fill;
  bool fills = false;  ///< this is such a loop: what it stores are the scatters' arrays
  /// Of a pack and of stages; then phases, dominants and routes are theirs, and empty here, and so are named lists of
  /// homes.
  std::vector<Body> bodies;
  std::vector<ir::NodeId> waits;  ///< of stages: what waits in global memory between them; ascending
};

/// The group as prepared for the plan, by its skeleton, its strip and its dominant; as it is where it has no such
/// plans.
const Prepared& prepared_for(const Prepared& prepared, const ir::Plan& plan);

/// Which loop of the group the plan means: its skeleton, and whether it goes over pieces, in strips or in bundles.
std::string loop_words(const Prepared& prepared, const ir::Plan& plan);

/// "%4", "%4 and %13", of many the first ones: "%1, %2, %3, %4, %5, %6 and 12 more".
std::string node_list(std::span<const ir::NodeId> nodes);

/// One for each loop of which the group has plans.
inline std::vector<const Prepared*> structures_of(const Prepared& prepared) {
  std::vector<const Prepared*> all{&prepared};
  if (prepared.turned != nullptr) all.push_back(prepared.turned.get());
  if (prepared.in_pieces != nullptr) all.push_back(prepared.in_pieces.get());
  for (const std::shared_ptr<const Prepared>& strips : prepared.in_strips) all.push_back(strips.get());
  if (prepared.in_bundles != nullptr) all.push_back(prepared.in_bundles.get());
  return all;
}

/// Breadth first from `start` over one-to-one edges, both ways, to each of `targets`; where there are pieces, upwards
/// through concatenations of them too.
std::vector<Route> find_routes(const ir::Graph& graph, const Prepared& prepared, ir::NodeId start,
                               std::span<const ir::NodeId> targets);

/// Instructions that lie in a thread's code for one element of the loop over rows x columns, rare ways of an operation
/// included: each operation once, or as often as it has elements for each of them. Numbers of rows do not count. A
/// plan's code is about as many times that as it has elements at once, before a compiler has done anything.
std::int64_t code_of_element(const ir::Graph& graph, const Prepared& prepared);

/// Fills Prepared::in_pieces where the group's loop can go over pieces; all else is known, dominants of the loop over
/// the result among that.
void prepare_pieces(const ir::Graph& graph, Prepared& prepared);

/// Fills Prepared::in_strips where neighbouring results read the same elements, and Prepared::slices_of where one reads
/// elements side by side; all else is known.
void prepare_strips(const ir::Graph& graph, Prepared& prepared);

/// Fills Prepared::in_bundles where rows can be gone through as columns; all else is known.
void prepare_bundles(const ir::Graph& graph, const ir::Boundary& border, Prepared& prepared);

/// The fewest lanes with such vectors that have whole bundles side by side; 1 where there are no bundles.
inline std::int64_t lanes_of_bundles(const Prepared& prepared, int vector) {
  return prepared.bundle / std::gcd(prepared.bundle, std::int64_t{vector});
}

/// Fills Prepared::choices. Users, stored nodes, rows and columns are known.
void find_choices(const ir::Graph& graph, Prepared& prepared);

// ---- homes: what waits between two phases of a row (lower_keep.cpp)

/// Fills Prepared::phases; scans, stored nodes and users are known.
void find_phases(const ir::Graph& graph, const std::vector<ir::NodeId>& late, Prepared& out);
/// Which of them go over elements.
void find_walks(Prepared& out);
/// Adds what a phase reduces, adds up across rows, leaves or stores.
void add_computed(const ir::Graph& graph, const Prepared& prepared, const Phase& phase,
                  std::vector<ir::NodeId>& values);
/// Whether elements of the operand stand at other places in the result than where they were, dimensions of size 1
/// aside.
bool moves_elements(const ir::Graph& graph, const ir::Node& node);

/// Whether it only gives a number a wider type.
bool widens(const ir::Graph& graph, const ir::Node& node);

/// Fills Prepared::rounded and, where plans of the skeleton have homes, Prepared::homes. Phases and full values are
/// known.
void find_homes(const ir::Graph& graph, Prepared& prepared);

/// The list that the word names for this group; another word may name the same one.
inline const std::vector<ir::Home>& homes_of(const Prepared& prepared, ir::HomesWord word) {
  return row_for(prepared.homes, word).homes;
}

/// The first word that names this list; nothing where none does.
std::optional<ir::HomesWord> word_for(const Prepared& prepared, const std::vector<ir::Home>& homes);

/// The list as a person calls it: its word, else as the plan's text has it, of a long one the first.
std::string homes_text(const Prepared& prepared, const ir::Plan& plan);

/// What the list keeps: that of Prepared, or, for another list, `own`, which is filled.
const KeptHomes& kept_by(const Prepared& prepared, const std::vector<ir::Home>& homes, KeptHomes& own);

/// Why values cannot have these homes: rule `homes`, with what can.
std::optional<ir::Rejection> refuse_homes(const Prepared& prepared, const ir::Plan& plan);

/// The most values that one phase leaves in registers for later ones.
std::size_t most_in_registers(const KeptHomes& kept);
/// The most bytes of one row that wait between two phases, where all of it waits that can.
std::int64_t bytes_waiting(const Prepared& prepared);

/// The home of a node in a list that ascends; null where it has none.
const ir::Home* find_home(std::span<const ir::Home> homes, ir::NodeId node);

bool has_level(std::span<const ir::Home> homes, ir::StitchLevel level);

/// Whether a value with such a home waits in shared memory, for its block or for others of the cluster too.
constexpr bool is_in_shared(ir::StitchLevel level) {
  return level == ir::StitchLevel::block || level == ir::StitchLevel::cluster;
}

/// Whether some phase reads the value at other places of a row than its own.
bool is_read_elsewhere(const KeptHomes& kept, ir::NodeId node);

/// Whether some values wait in registers, and others, or inputs that could, elsewhere or not at all.
bool waits_partly(const Prepared& prepared, std::span<const ir::Home> homes);

// ---- elements and numbers

/// Whether an output has an element for each of the domain, not a number for each row or column.
bool is_of_elements(const Prepared& prepared, std::int32_t output);
/// Elements of a row for each of which an output of results of chunks has one; 0: another output.
std::int64_t chunk_of_output(const Prepared& prepared, std::int32_t output);
/// Whether a walk stores it: an output of elements or of results of chunks.
bool goes_over(const Prepared& prepared, std::int32_t output);
/// Whether a reduction reads an element for each of the domain.
bool reads_elements(const Prepared& prepared, ir::NodeId reduce);
/// The place of the plan's dominant among the candidates. A plan that names none is refused before it is lowered, but
/// rules ask earlier.
std::size_t dominant_number(const Prepared& prepared, const ir::Plan& plan);

/// Either the preparation or what analyse_stages() has against the group. The group must outlive the result.
std::variant<Prepared, ir::Rejection> prepare(const ir::Group& group);
/// The same of stages between which these values wait, ascending, and no others.
std::variant<Prepared, ir::Rejection> prepare_cut(const ir::Group& group, const std::vector<ir::NodeId>& waits);
/// What waits between stages but in no output.
std::vector<ir::NodeId> workspaces_of(const Prepared& prepared);

/// The operations that tell a group apart from others, as a C identifier: "sum_exp_maximum_divide".
std::string title_of(const ir::Graph& graph);

}  // namespace tailor::codegen
