// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The phases of a kernel under construction, whatever its skeleton. In: a prepared group, a plan, its mapping. Out: the
// kernel's statements. lower_phases.cpp walks and stores, lower_join.cpp puts together what threads and blocks have
// reduced, lower_across.cpp does that for sums across rows, lower_elsewhere.cpp finds what other threads have. Called
// by lower().
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/lower/lower_loops.h"

namespace tailor::codegen {

/// What launches of a program hand on to the next: how many phases are done, and where the parts are of what these have
/// reduced. A plan of one launch does all phases in it.
struct Handover {
  std::size_t done = 0;
  std::vector<ir::Buffer> workspaces = {};            ///< behind the group's own buffers
  std::vector<std::vector<ir::BufferId>> parts = {};  ///< by phase that has reductions, parallel to these
};

struct Pass {
  ProgramBuilder& builder;
  const Prepared& prepared;
  const ir::Plan& plan;
  const ir::Limits& limits;
  Mapping mapping;
  const KeptHomes& kept;   ///< what the plan's homes keep of each phase
  bool loads_all = false;  ///< the first phase loads what later ones need as well
  Loops loops = {};
  std::vector<ir::ArrayId> accumulators = {};  ///< of each array that the phase's reductions reduce, in their order
  std::vector<ir::ArrayId> partials = {};      ///< of warps or groups, in shared memory; the same
  bool combined = false;                       ///< some phase put parts together through shared memory
  bool parted = false;                         ///< of a cluster: threads have said that they read no others any more
  /// Numbers of the rows in flight that are stored together once all of them are known.
  struct RowNumber {
    std::int32_t output = 0;
    ir::ArrayId array = ir::no_id;
  };
  std::vector<RowNumber> row_numbers = {};
  /// A sum across rows, of all phases, and what each thread has added up of it.
  struct Across {
    ir::NodeId sum = ir::no_node;
    Folding columns = {};  ///< of a number of each row 1 x 1 x 1
    bool of_elements = true;
    bool of_set = false;  ///< of each of several sets of rows
    ir::ArrayId array = ir::no_id;
  };
  std::vector<Across> across = {};
  /// A scan that the phase at hand goes through, and what the row has come to; or a reduction of chunks.
  struct Walked {
    ir::NodeId node = ir::no_node;
    std::int64_t chunk = 0;  ///< elements of one; 0: a scan
    ir::Ref carried;
    std::vector<ir::NodeId> again =
        {};  ///< what it goes over is made of these, and so is what the walk needs behind it
  };
  std::vector<Walked> walked = {};  ///< operands before users
  Handover* handover = nullptr;     ///< of the launch at hand; its `done` is that of those before
  std::int64_t family = 1;          ///< blocks that put their sums across rows together first, of one set
  ir::BufferId ticket = ir::no_id;  ///< where blocks of the grid count that meet; added for the first meeting

  std::int64_t extent(Side side, Level level) const { return codegen::extent(mapping, side, level); }
  /// Blocks share items and the launch ends where they meet.
  bool ends_to_meet() const { return plan.split > 1 && plan.meet == ir::Meeting::kernel; }
  /// Blocks share items and do not meet: the last of them goes on alone.
  bool shares_apart() const { return extent(Side::along, Level::block) > 1; }
  std::int64_t threads_on(Side side) const { return codegen::threads_on(mapping, side); }
  /// Results lie along the lanes, and one group of them stores; else all lanes of a row have its results.
  bool has_results_side_by_side() const { return mapping.fast == Side::kept; }
};

/// Which of the accumulators are a reduction's: one for each of its arrays.
struct Slots {
  ir::NodeId reduce = ir::no_node;
  std::size_t first = 0, end = 0;
};
/// One for each reduction of the phase.
std::vector<Slots> slots_of(const Pass& pass, const Phase& phase);

/// Writes the phases of the launch that follows those before, all there are or up to where blocks meet by ending it,
/// and says so in `handover`; or refuses.
std::optional<ir::Rejection> lower_phases(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                          const ir::Limits& limits, Handover& handover);

/// What a reduction along or across rows, or of columns, reads at (kept, along).
Coordinates read_coordinates(Pass& pass, ir::NodeId reduction, ir::ExprId along);
/// Where a reduction holds its result number `kept`.
Coordinates result_coordinates(Pass& pass, ir::NodeId reduce, ir::ExprId kept);
/// Of blocks that have the same numbers of a row the first one writes them.
void open_first_rank(Pass& pass);
void close_first_rank(Pass& pass);
/// The thread's number among those of its block that share out the side.
inline ir::ExprId thread_on(Pass& pass, Side side) { return thread_on(pass.builder, pass.mapping, pass.loops, side); }

// ---- lower_accumulators.cpp

/// Declares those of the phase, which hold what its reductions start from.
void declare_accumulators(Pass& pass, const Phase& phase);
/// From here on values are found where the threads hold the results.
void name_results(Pass& pass, const Phase& phase);
/// Accumulator number `i` of the phase: of the row in flight, of the vector's element at hand.
ir::Ref accumulator_ref(const Pass& pass, std::size_t i);
/// The array of a reduction whose values rise as a thread goes through the section: places along what is reduced, from
/// a start that is at most the first of them. -1: none, or elements came before that stand behind.
int rising_array(Pass& pass, ir::NodeId reduction, const Segment& segment);
/// Whether a row that is gone through in parts is taken from its end to its beginning: where it was gone through
/// before, so that what was read last, and is still near, is read again first. Not where something is added up, which
/// is in one order wherever values wait.
bool goes_backward(const Pass& pass, const Phase& phase);
/// Stores the outputs with a number for each row or column; those that lanes can store together wait in row_numbers.
void store_numbers(Pass& pass, const Phase& phase);
/// The same by the first group of threads, where results lie side by side.
void store_numbers_side_by_side(Pass& pass, const Phase& phase);
/// The numbers of all rows in flight, one by each lane: neighbouring rows by neighbouring lanes in one access.
void store_row_numbers(Pass& pass);
/// Those of a reduction.
std::vector<ir::Ref> accumulator_refs(const Pass& pass, const Slots& slots);
ir::DType accumulator_type(const Pass& pass, std::size_t i);
/// Elements that an access takes at most.
inline int widest_access(ir::DType dtype) { return 8 * ir::access_bytes / row(dtype).bits; }
/// The value goes to the place, in the innermost open scope.
void put_store(ProgramBuilder& builder, ir::Space space, std::uint16_t memory, ir::ExprId at, ir::ValueId value);
/// An accumulator's element becomes the value.
void set(ProgramBuilder& builder, const ir::Ref& sum, ir::ValueId value);
/// The accumulator's elements go to neighbouring places.
void store_accumulator(Pass& pass, std::size_t i, ir::Space space, std::uint16_t memory, ir::ExprId at, int width);
/// Each of `sums`, the reduction's accumulators or elements of them, gets what shared memory has of it in `piece`
/// neighbouring places from `at` on. `memory`: by accumulator of the phase. `element`: the loop over these places, 0:
/// one of its own. `what`: the ending of the names of what is loaded.
void add_from_shared(Pass& pass, const Slots& slots, std::vector<ir::Ref> sums, std::span<const ir::ArrayId> memory,
                     ir::ExprId at, int piece, ir::VarId element, std::string_view what);
/// Results side by side: the first group of the block leaves its accumulators in shared memory, in new arrays whose
/// names end so, one for each of them, by column. Others find them behind a barrier.
std::vector<ir::ArrayId> leave_sums(Pass& pass, std::string_view what);
/// The dimensions that threads walk along: of columns in bundles not those of the bundle, which lie side by side.
ir::Dims reduced_along(const Pass& pass, ir::NodeId reduction);
/// Columns in bundles, of which the first group of each block has the sums: the accumulators of all threads, or of that
/// group, become the results of the bundles that their columns are of. Else nothing.
void put_bundles_together(Pass& pass, const Phase& phase, bool for_all);
/// Of the columns of a bundle, which have the same numbers, the first one writes them.
void open_first_of_bundle(Pass& pass);
void close_first_of_bundle(Pass& pass);

// ---- lower_scan.cpp

/// Which scans and reductions of chunks a phase goes through: those that it needs, behind no value that waits from
/// earlier ones. Operands before users.
std::vector<Pass::Walked> walked_for(const Pass& pass, const Phase& phase, std::span<const ir::Home> kept_before);
/// Fills Pass::walked with them, and what each of them makes that is read behind it.
void find_walked(Pass& pass, const Phase& phase, std::span<const ir::Home> kept_before);
/// Of those the reductions of chunks.
std::vector<ir::NodeId> chunks_of(const Pass& pass, const Phase& phase);
/// Elements of the chunks of which a row's reduction reads the results; 0: it reads elements.
std::int64_t chunk_read_by(const Pass& pass, ir::NodeId reduction);
/// Where an output of results of chunks stands: by a route from the reduction, else by its own order in memory.
Coordinates chunk_coordinates(Pass& pass, std::int32_t output, ir::ExprId along);
/// Rows begin: the scans that the phase at hand goes through have passed nothing yet.
void begin_scans(Pass& pass);
/// What the phase at hand goes through of the section: elements of scans, results of chunks.
void put_section_together(Pass& pass, const Segment& segment);
/// The section was walked: that is not needed any more.
void leave_section(Pass& pass);

// ---- lower_elsewhere.cpp

/// Places tell where a row's elements wait if one block or one cluster has all of it, in whole vectors.
RowPlaces places_of(Pass& pass);
/// Of what earlier phases have kept, what this one reads at other places of the row.
std::vector<ir::Home> read_elsewhere_in(const Pass& pass, std::size_t number, std::span<const ir::Home> kept_before);
/// Behind phase `number`, which has filled `keeping`: who reads others' parts of a row waits until these are there, and
/// blocks of a cluster say when they have read for the last time, where something else is to do then. What warps or
/// blocks have reduced together was a meeting already.
void meet_readers(Pass& pass, std::size_t number, std::span<const ir::Home> keeping);
/// Blocks of a cluster leave values to one another only where some are found.
std::optional<ir::Rejection> refuse_unread(const Pass& pass);

// ---- lower_join.cpp

/// The accumulators become what all threads of the block, or of its cluster, have reduced together: those of every
/// thread, or of the first group alone.
void combine_threads(Pass& pass, const Phase& phase, bool for_all);
/// From here on only the block that came last of those that share items goes on; its threads have the results, as after
/// combine_threads(). Leaves a guard open.
void join_blocks(Pass& pass, const Phase& phase);
/// The threads that have them write the block's part of each reduction of the phase at hand to workspaces, new ones.
std::vector<ir::BufferId> store_parts(Pass& pass);
/// The accumulators become the sums of all blocks' parts: for all threads, or for the first group of each block.
void put_together(Pass& pass, const Phase& phase, const std::vector<ir::BufferId>& parts, bool for_all);
/// All blocks that share items meet, and have the results: all of their threads, or the first group of each.
void meet_blocks(Pass& pass, const Phase& phase, bool for_all);
/// Opens the guard of the block that comes last of the `split` that have a part each of the tile.
void open_meeting(Pass& pass, ir::ExprId tile, ir::ExprId part, std::int64_t tiles, std::int64_t split);
/// Conditions of the threads that store results side by side. Returns how many there are.
int first_group(Pass& pass, std::array<ir::Condition, 2>& conditions);

/// Numbers of blocks and partial results that a thread loads before it adds them up: so many are on their way together.
inline constexpr std::int64_t parts_together = 8;

/// Results that a thread has at once: their numbers, and the loop over them.
struct AtOnce {
  std::int64_t count = 1;  ///< a power of two
  ir::VarId own = 0;       ///< unrolled; where there are several
  ir::ExprId result = 0;   ///< narrowed to those that exist
  bool ragged = false;
  ir::Condition exists = {};
};

/// Turns of a thread to add up parts: of `count` parts it has every `threads`th. In each round so many of its turns are
/// loaded together.
struct Turns {
  ir::VarId round = 0, turn = 0;
  std::int64_t outer = 1, together = 1;
  ir::ExprId own = 0;   ///< number of the turn among those loaded together
  ir::ExprId part = 0;  ///< narrowed to the parts that exist
  bool ragged = false;
  ir::Condition exists;
  AtOnce results = {};  ///< each of these turns is asked for each of them
};
/// `thread`: the number of the thread among those that share the parts. `most`: turns loaded together.
Turns make_turns(ProgramBuilder& builder, std::int64_t count, ir::ExprId thread, std::int64_t threads,
                 std::int64_t most);

/// One sum whose parts are added up. Those of one reduction follow one another.
struct Addition {
  ir::NodeId reduce = ir::no_node;
  ir::Ref sum;  ///< where the thread adds; `lane` is the element at hand
  ir::Space space = ir::Space::global;
  std::uint16_t memory = 0;
  ir::ExprId place = 0;           ///< of the turn's part
  int width = 1;                  ///< elements of an access
  ir::Ref loaded = {};            ///< filled by add_up()
  ir::ExprId rank = ir::no_expr;  ///< in distributed space: in which block of the cluster
};
/// Adds all parts to the sums: the loads of a round travel together, of all sums.
void add_up(ProgramBuilder& builder, const Loops& loops, const Turns& turns, std::vector<Addition>& additions);

}  // namespace tailor::codegen
