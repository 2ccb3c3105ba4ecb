// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inside the counter: what the parts hand one another. Per statement how often it was executed and what its requests
// moved; everything else in Work is a sum over statements. In: the memory that one Scratch keeps from kernel to
// kernel, so that counting many plans allocates nothing. Used by the files of the counter alone (exact, fast,
// lane_affine, distinct, live, critical_path).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/division.h"
#include "base/key_set.h"
#include "costmodel/count.h"

namespace tailor::costmodel {

inline constexpr int warp_lanes = 32;
inline constexpr int max_warps = 32;

/// Totals of one statement over the grid. `executions`: warps that reached it with an active lane.
struct StmtCount {
  std::int64_t executions = 0;
  std::int64_t lanes = 0;
  std::int64_t units = 0;  ///< global: sectors; shared: wavefronts
};

/// What one execution of a statement costs (pipes hold instructions per execution).
struct StmtCost {
  Pipes pipes;
  std::int64_t issue = 0;
};

/// Values low, low + step, ..., `count` of them.
struct Progression {
  std::int64_t low = 0, step = 1, count = 1;
};

/// The outer variables (block and loops) a domain ranges over, and the lanes of each warp that are in it. A variable
/// with several ranges is the sum of one value of each.
struct IterationDomain {
  static constexpr int most = 16;
  std::array<ir::VarId, most> vars;
  std::array<Progression, most> ranges;
  int depth = 0;
  std::int64_t blocks = 1,
               trips = 1;  ///< how many blocks and loop trips each point stands for, where these are sampled
  std::array<std::uint32_t, max_warps> masks;
};

/// A hash and one part more, for tables that are found by the high bits.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) { return (hash ^ part) * 0x9e3779b97f4a7c15ULL; }

/// How a thread variable splits: its value in lane l of warp w is warps[w] + lanes[l] when `splits`.
struct ThreadShares {
  bool splits = true;
  std::array<std::int64_t, warp_lanes> lanes;
  std::array<std::int64_t, max_warps> warps;
};

/// A term's values in one warp, remembered while one kernel is counted.
struct TermLanes {
  std::uint32_t serial = 0;  ///< of the count it belongs to
  ir::TermId term = 0;
  int warp = 0;
  std::array<std::int64_t, 2> outer{};  ///< values of the block and loop variables in it
  std::array<std::int64_t, warp_lanes> lanes;
};

/// Quotients and remainders, nested ones among them, that a form (lane_affine.h) takes apart.
inline constexpr int most_quotients = 8;

/// Of each table of patterns. Two that share a slot are worked out at every look, so there are ten times as many as
/// places in windows of 7 x 7, where a table of 64 made counting take four times as long.
inline constexpr std::size_t pattern_slots = 512;

/// Warps whose dividends all lie equally far beyond multiples of their divisors have the same lanes but for a shift:
/// where a grid walks through a remainder, few patterns come again and again. Slots of a table, remembered from look to
/// look at one form.
struct WarpPattern {
  std::uint64_t serial = 0;  ///< of the form
  std::array<std::int64_t, most_quotients> phases{};
  std::array<std::int64_t, warp_lanes> lanes{};
  std::uint32_t mask = 0;                          ///< that `units` are of
  std::array<std::int64_t, sector_bytes> units{};  ///< of a request, by residue of its shift; -1: not known
};
/// The same up to one quotient: how far its dividends lie beyond multiples, in the active lanes.
struct WarpRests {
  std::uint64_t serial = 0;
  int quotient = 0;
  std::uint32_t mask = 0;
  std::array<std::int64_t, most_quotients> phases{};
  std::int64_t least = 0, greatest = 0;
};

/// Instructions that some virtual blocks execute on top of others: those at low + a sum of one multiple of each step.
/// Steps fall, and each is beyond what the following ranges reach together.
struct BlockSpan {
  std::int64_t low = 0;
  std::int64_t each = 0;
  int depth = 0;
  std::array<Progression, IterationDomain::most> ranges;  ///< their lows are 0
};

/// Elements of a buffer: `count` of those at low, low + step, ..., high; and the sectors that hold them.
struct Reach {
  std::int64_t low = 0, high = 0, step = 0, count = 0, sectors = 0;
  std::int64_t most = 0;            ///< that data picks, where it does
  ir::VarId picked = ir::max_vars;  ///< the first variable that does; max_vars: none
};

/// An access to global memory: its buffer, kind and index as one number, and the active lanes and sectors of those with
/// the same number.
struct SameAccess {
  std::uint64_t key = 0;
  std::size_t at = 0;  ///< statement
  std::int64_t lanes = 0, moved = 0;
};

/// Slices and pads of a tensor do the same in each of its rows: what warps run begins again after a period, within
/// which it changes a few times. From warp `from` of the period on each runs it `times` times; those of the period
/// before it do `before` times together.
struct WarpStep {
  std::int64_t from = 0, times = 0, before = 0;
};

/// Steps begin at 0, and neighbours differ. Without a period they are told to the last warp that runs the scope.
struct WarpSteps {
  std::int64_t period = 0;  ///< warps after which they begin again; 0: they do not
  std::vector<WarpStep> steps;
};

/// Of warps in order, by how often each runs a scope.
std::vector<WarpStep> steps_of(std::span<const std::uint16_t> times);
/// By where the number changes, and by how much; these are sorted.
using WarpChanges = std::vector<std::pair<std::int64_t, std::int64_t>>;
std::vector<WarpStep> steps_of(WarpChanges& changes);

/// How often the first so many warps run it together. There is a step.
std::int64_t runs_before(const std::vector<WarpStep>& steps, std::int64_t warps);
std::int64_t runs_before(const WarpSteps& steps, std::int64_t warps);

/// The warps that run the statements from `first` on, of a kernel with one warp a block: by block that is looked at,
/// how often. And some places: values of all variables there, set after set. Of guards of one scope that ask the same
/// the first has these two.
struct SeenScope {
  std::int32_t first = 0;
  std::int64_t executions = 0, lanes = 0;
  std::int64_t from = 0, warps = 0;  ///< from the first block that runs them to the last, among those looked at
  WarpSteps steps;                   ///< of these
  std::vector<std::int64_t> places;
};

/// A loop or a guard around the statement at hand.
struct OpenScope {
  std::int32_t at = 0, end = 0;
  bool loop = false, unrolled = false;
  bool runs = false;  ///< of a guard: its first copy does, whatever data and threads are
  ir::VarId var = 0;
};

/// What is known of a let.
struct LetFacts {
  std::int32_t reads = 0;            ///< by statements that are executed
  std::int32_t sums = 0;             ///< of them, those by sums that can take it in
  std::int32_t vectors = 0;          ///< of them, those that put it into a vector
  ir::VarId vector = 0;              ///< the variable that tells its place there
  ir::ArrayId array = ir::no_id;     ///< that has the vector
  std::int32_t made_in = -1;         ///< the innermost unrolled loop around where it is made
  std::uint64_t needed = 0;          ///< copies of that loop in which it is read, a bit each
  ir::ValueId value = ir::no_value;  ///< where it has one
  bool takes_logic = false;          ///< its logic is one instruction with that of an operand
  ir::VarSet vars;                   ///< loops whose copies and passes have it anew
};

/// Sums of one value of each range beyond `low`, the longest step first.
struct BlockRanges {
  std::int64_t low = 0;
  int depth = 0;
  std::array<Progression, IterationDomain::most> ranges;
};

/// Blocks of a domain, and how often each runs the scope for it.
struct BlockRun {
  BlockRanges blocks;
  std::int64_t times = 1;
};

/// Memory that is kept from kernel to kernel.
struct ValueScratch {
  std::vector<LetFacts> lets;
  std::vector<std::pair<ir::ArrayId, std::int32_t>> writes;  ///< array and statement, ascending
  std::vector<OpenScope> open;
  std::vector<std::int32_t> inner;  ///< by statement: the innermost loop around it if that is unrolled, or -1
  std::int32_t at = 0;              ///< the statement at hand
  KeySet charged;                   ///< what was charged that is there once, and where
};

/// An array or a let that is alive (live.cpp). Positions of statements; -1: none.
struct Life {
  std::int32_t first = -1, last = -1;
  std::int32_t first_nest = -1, last_nest = -1;  ///< that goes through its elements where it is first and last used
  std::int32_t loop = -1;                        ///< that a load stands in
  bool lazy = false;                             ///< goes to its first use, as some loads
  bool constant = false;                         ///< an array that begins with one
  bool stretched = false;                        ///< to the end of a loop
  bool predicate = false;                        ///< a truth value that was computed
  std::int64_t copies = 1;                       ///< side by side
  std::int32_t converted = -1;                   ///< where its elements were last converted
  ir::DType to = ir::DType::f32;                 ///< of a let: what it was converted to there
  ir::ArrayId kept = ir::no_id;                  ///< of a let: an array that keeps its value
  int wider = 1;                                 ///< times, once they are converted
  bool loose = false;                            ///< elements of less than a register have one each
  bool zero = false;                             ///< an array of which all that is written is 0
  bool written = false;
  ir::VarSet last_vars;  ///< that the last use picks an element by
};

/// Arrays that a nest of unrolled loops goes through, all of them and one copy's part. In registers.
struct Through {
  std::int64_t whole = 0, copy = 0;
};

/// Unrolled loops, one in the other: statements from `start` up to `end`.
struct Nest {
  std::int32_t start = 0, end = 0;
  std::int64_t extent = 1;  ///< of the outer loop
  ir::VarSet var;           ///< of the outer loop
  Through ends, begins;     ///< arrays whose last, and whose first, use is here
  std::int64_t within = 0;  ///< registers of the arrays of one copy that begin and end here
};

/// The part of an index that no loop changes, by a hash.
struct IndexUse {
  std::uint64_t key = 0;
  std::int32_t first = 0, end = 0;
  int size = 0;  ///< registers beside its variables
  ir::VarSet vars;
};

/// A quotient or a remainder that each copy of a nest has for itself: part of an address, or deeper inside (`part`
/// false).
struct TermUse {
  ir::TermId term = 0;
  std::int32_t at = 0, nest = 0;
  std::int64_t copies = 1;
  bool part = false;
};

/// What live.cpp keeps from kernel to kernel.
struct LiveScratch {
  std::vector<Life> lives;
  std::vector<Nest> nests;
  std::vector<IndexUse> uses;
  std::vector<TermUse> terms;
  std::vector<std::int32_t> loops;
  std::vector<std::int64_t> values, ahead, indices, pointers;
  std::vector<std::int32_t> accessed;  ///< where a buffer is, last, in a run of accesses
};

struct Scratch::Body {
  std::vector<StmtCount> counts;
  std::vector<StmtCost> costs;
  std::vector<IterationDomain> domains;
  std::vector<IterationDomain> kept_domains;  ///< parts of guards that are asked again
  std::vector<BlockSpan> spans;
  std::int64_t every_guard = 0;  ///< what a block would issue that runs all guards with all warps
  std::vector<TermLanes> terms = std::vector<TermLanes>(256);
  std::uint32_t serial = 0;
  std::uint64_t forms = 0;  ///< made so far
  std::vector<WarpPattern> patterns = std::vector<WarpPattern>(pattern_slots);
  std::vector<WarpRests> rests = std::vector<WarpRests>(pattern_slots);
  std::array<std::int64_t, warp_lanes> lanes;  ///< of a warp that has no pattern
  std::vector<ThreadShares> threads;           ///< by variable; those of other variables are not filled
  std::vector<std::int64_t> numbers;           ///< for sorting and sweeping
  LiveScratch live;
  ValueScratch values;
  std::vector<Reach> reached;  ///< per buffer: by loads, by stores and atomics
  std::vector<SameAccess> accesses;
  bool sampled = false;
  std::int64_t looks = 0;       ///< that fast counting has taken so far: what its time goes into
  std::int64_t most_looks = 0;  ///< fast counting gives up there; 0: it takes samples instead
  bool gave_up = false;
  bool sees_scopes = false;  ///< whether fast counting fills seen_scopes
  std::vector<SeenScope> seen_scopes;
  std::vector<BlockRun> block_runs;      ///< of the scope at hand
  WarpChanges run_changes;               ///< of these
  std::vector<std::uint16_t> run_times;  ///< the same by block, where changes are many
};

/// Whether two guards of one program ask the same.
inline bool same_question(const ir::Stmt& a, const ir::Stmt& b) {
  return std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(),
                    [](const ir::Condition& one, const ir::Condition& other) {
                      return one.a == other.a && one.b == other.b && one.equal == other.equal;
                    });
}

/// The `i`-th of `looked_at` values below `count`: one from each stratum, scattered within it so that a sample does not
/// beat with the length of a sector or of a row, otherwise in each `turn`. `stands_for`: values of the stratum.
inline std::int64_t scattered(std::int64_t i, std::int64_t looked_at, std::int64_t count, std::int64_t& stands_for,
                              std::int64_t turn = 0) {
  const std::int64_t from = i * count / looked_at, to = (i + 1) * count / looked_at;
  stands_for = to - from;
  return from + ((i + turn) * 2654435761 >> 7) % stands_for;
}

/// What an index is in a copy of the loop of `var`, where it is made of that copy's number and constants.
inline std::optional<std::int64_t> number_in(const ir::IndexPool& pool, ir::ExprId id, ir::VarId var,
                                             std::int64_t copy) {
  std::int64_t sum = pool[id].constant;
  for (const ir::Linear& linear : pool.linear(id)) {
    const ir::Term& term = pool.terms[linear.term];
    std::optional<std::int64_t> number;
    if (term.kind == ir::TermKind::var && term.var == var) number = copy;
    const bool divides = term.kind == ir::TermKind::div || term.kind == ir::TermKind::mod;
    if (divides) number = number_in(pool, term.a, var, copy);
    if (!number) return std::nullopt;
    if (divides) number = term.kind == ir::TermKind::div ? *number / term.divisor : *number % term.divisor;
    sum += linear.coefficient * *number;
  }
  return sum;
}

/// Distinct sectors of one request. `offsets[lane]` in bytes, shifted by `shift`; negative offsets are fine.
std::int64_t count_sectors(const std::array<std::int64_t, warp_lanes>& offsets, std::int64_t shift, std::uint32_t mask,
                           int bytes);
/// Wavefronts of one shared request (rule: SharedWork).
std::int64_t count_wavefronts(const std::array<std::int64_t, warp_lanes>& offsets, std::int64_t shift,
                              std::uint32_t mask, int bytes);

inline int warps_of(const ir::Kernel& kernel) { return (kernel.threads + warp_lanes - 1) / warp_lanes; }
/// Lanes of warp `w` that exist.
inline std::uint32_t full_mask(const ir::Kernel& kernel, int w) {
  const int lanes = kernel.threads - w * warp_lanes;
  return lanes >= warp_lanes ? ~0u : (1u << lanes) - 1;
}
/// Whether a load is of what the same kernel has read or written before. In a kernel that waits for others that is said
/// only of what it writes itself: what they wrote is new to it, though it may not be kept in a register either.
bool reads_again(const ir::Kernel& kernel, const ir::Stmt& load);
/// Bytes of one element of the memory a statement accesses.
int element_bytes(const ir::Kernel& kernel, const ir::Stmt& stmt);
/// The value of thread variable `var` in lane `lane` of warp `w`.
inline std::int64_t thread_value(const ir::Var& var, int w, int lane) {
  const auto tid = static_cast<std::uint32_t>(w * warp_lanes + lane);  // 32 bits: half the time of a division in 64
  return tid / static_cast<std::uint32_t>(var.divisor) % static_cast<std::uint32_t>(var.extent);
}

/// What stands before the walk of a kernel, and what adds its counts up afterwards.
void begin_count(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work);
void end_count(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work);
/// Fill counts, sampled and Work::busiest_block; exact also fills the distinct bytes and sectors of `work.buffers`.
void count_exact(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work);
void count_fast(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work);
/// Fills the last of the seen scopes: which blocks run these domains, and some places.
void see_scope(const ir::Kernel& kernel, std::span<const IterationDomain> domains, Scratch::Body& scratch);
/// The same kernel with rows that data picks in order, where that moves no sector more or less; nothing where it has
/// none.
std::optional<ir::Kernel> with_rows_in_order(const ir::Kernel& kernel);
/// From the least to the greatest value of an index, where variables of `held` do not move; at most. Over all threads,
/// or over those of one warp.
std::int64_t span_of(const ir::IndexPool& pool, ir::ExprId id, ir::VarSet held, bool in_warp = false);
/// The most that one virtual block issues, from `spans`. `proven` tells whether no block can issue more.
std::int64_t busiest_block(Scratch::Body& scratch, std::int64_t blocks, bool& proven);
/// Distinct bytes and sectors per buffer from the ranges of indices, and from how many lanes were counted.
void count_distinct(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work);
/// What one block reads at most, from the ranges of indices; after the distinct sectors.
void count_per_block(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work);

/// Of one warp: a barrier of a cluster is an arrival and a wait, one of the grid stands between two of the block.
int barrier_instructions(const ir::Stmt& barrier);
void fill_costs(const ir::Kernel& kernel, Scratch::Body& scratch);
/// Instructions that the code holds, executed or not, by the costs of its statements.
std::int64_t code_instructions(const ir::Kernel& kernel, const Scratch::Body& scratch);
void fill_registers(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work);
void fill_chain(const ir::Kernel& kernel, Work& work);

/// The variables that make up a vector's number.
struct Position {
  static constexpr int no_var = -1;
  int block = no_var, thread = no_var, trip = no_var;
  std::int64_t trips = 1;
};

/// The block's and the thread's variable; false: threads are seen through others too.
bool find_position(const ir::Kernel& kernel, Position& position);
/// Whether the expression is the vector's number.
bool is_number(const ir::Kernel& kernel, ir::ExprId expr, const Position& position);
inline bool has_condition(const ir::Condition& one) { return one.a != ir::no_expr; }
/// The variables of a guard's conditions.
ir::VarSet variables_of(const ir::Kernel& kernel, const ir::Stmt& guard);
/// Variables that some condition or address reads: a loop over another one counts the same in each trip.
ir::VarSet variables_that_matter(const ir::Kernel& kernel);
/// Whether the guard asks that a vector exists.
bool asks_existence(const ir::Kernel& kernel, const ir::Stmt& stmt, std::int64_t vectors, const Position& position);
/// Vectors of a loop whose blocks are one warp: those that its guard of existence lets in, else all. A guard that asks
/// for less leaves statements outside of the loop, whose kernel is given up then.
std::int64_t vectors_of(const ir::Kernel& one_warp);

/// Which values machine code has, and where it computes them (values.cpp).
class ValueWalk {
 public:
  ValueWalk(const ir::Kernel& kernel, ValueScratch& scratch);

  /// Goes on to a statement: all are visited, in order.
  void enter(std::int32_t at);
  /// What the statement defines differs with these loops.
  void define(std::int32_t at, ir::VarSet vars);

  /// The value that a let names, or the one itself.
  const ir::Value& made(ir::ValueId id) const {
    const ir::Value& value = kernel_.values[id];
    const bool is_named = value.kind == ir::ValueKind::let && scratch_.lets[value.let].value != ir::no_value;
    return is_named ? kernel_.values[scratch_.lets[value.let].value] : value;
  }
  /// Whether another operation on bits can be one instruction with this one, which takes none in itself.
  bool may_be_taken(ir::LetId let) const { return is_read_once(let) && !scratch_.lets[let].takes_logic; }
  bool is_read_once(ir::LetId let) const { return scratch_.lets[let].reads == 1; }
  void takes_logic(ir::LetId let, bool does) { scratch_.lets[let].takes_logic = does; }
  bool is_read(ir::LetId let) const { return scratch_.lets[let].reads > 0; }
  ir::VarSet vars_of_let(ir::LetId let) const { return scratch_.lets[let].vars; }
  ir::VarSet vars_of(const ir::Ref& element) const;
  ir::VarSet vars_of_index(ir::ExprId id) const { return of_loops(kernel_.indices[id].vars); }
  ir::VarSet vars_of_term(ir::TermId id) const { return of_loops(kernel_.indices.terms[id].vars); }
  /// Whether it is a number that is written down in each copy.
  bool is_constant(ir::VarId var) const;
  /// The statement whose executions compute a value that differs with these loops: the one at hand, or the outermost
  /// loop around it that leaves the value as it is.
  std::int32_t place(const ir::VarSet& vars) const;
  /// The same of a value that copies of inner loops have each, but those of an outer one share: the outer loop, and how
  /// many there are.
  std::pair<std::int32_t, std::int64_t> place_of_copies(const ir::VarSet& vars) const;
  /// Whether all readers of a let are sums that take the product in.
  bool is_taken_in(ir::LetId let) const;
  /// Whether a sum takes in a product that stands in it.
  bool takes_in(const ir::Value& sum) const;
  bool takes_in(const ir::Stmt& sum) const;
  /// Whether nothing was divided by this operand before, in the scope that computes it.
  bool is_first(const ir::Value& operand, const ir::VarSet& vars);
  /// Whether no guard asked this before, in the scope that asks it.
  bool is_first(const ir::Condition& condition, const ir::VarSet& vars);
  /// Whether the term, or the quotient that it is or is left of, was not made before, in the scope that makes it.
  bool is_first(ir::TermId term, const ir::VarSet& vars);
  bool is_first(const ir::Term& quotient, const ir::VarSet& vars);
  /// Whether no access before, in a scope that is open, had an address that differs from this one by a constant alone.
  bool is_first_address(const ir::Stmt& access);
  /// Whether a number made of an index has not been made around the place at hand.
  bool is_first_number(ir::ExprId index, const ir::VarSet& vars);
  /// The innermost loop, where it is unrolled and tells how often the condition is met, and how many copies, from the
  /// first on, meet it whatever threads and blocks are; else 0 of them.
  std::pair<std::int32_t, std::int64_t> known_copies(const ir::Condition& condition) const;
  ir::VarSet all_loops() const;
  /// The unrolled loop over the elements of a vector that a let goes into, and nowhere else; -1: none. And the same of
  /// what an assignment puts into an element.
  std::int32_t vector_of(ir::LetId let) const;
  std::int32_t vector_of(const ir::Ref& element) const;
  /// In how many copies of the loop around the statement at hand, which makes the let, somebody reads it, where that
  /// is known to be less than all of them: the loop and their number; -1: in all.
  std::pair<std::int32_t, std::int64_t> needed_copies(ir::LetId let) const;
  /// In which copies of the loop around the statement at hand a selection takes its first value, where its condition
  /// asks for the number of the copy alone.
  std::optional<std::uint64_t> first_of(const ir::Value& selection) const {
    return first_of(selection, scratch_.inner[static_cast<std::size_t>(scratch_.at)]);
  }
  /// The array of that vector.
  ir::ArrayId array_of(ir::LetId let) const { return scratch_.lets[let].array; }

 private:
  void read(ir::ValueId id);
  void find_inner_loops();
  void need(ir::ValueId id, std::int32_t loop, std::uint64_t copies);
  std::optional<std::uint64_t> first_of(const ir::Value& selection, std::int32_t loop) const;
  std::optional<std::int64_t> number_in(ir::ValueId id, ir::VarId var, std::int64_t copy) const;
  void sum_of(ir::ValueId a, ir::ValueId b);
  bool is_product(ir::ValueId id) const;
  ir::ValueId product_in(ir::ValueId a, ir::ValueId b) const;
  void look_at(const ir::Stmt& stmt);
  ir::VarSet of_loops(const ir::VarSet& vars) const;
  std::int32_t unrolled_loop(ir::VarId var) const;
  bool is_new(std::uint64_t key, const ir::VarSet& vars);
  bool first_copy_runs(const ir::Stmt& guard) const;
  std::int64_t most_in_first_copy(ir::ExprId id) const;

  const ir::Kernel& kernel_;
  ValueScratch& scratch_;
};

}  // namespace tailor::costmodel
