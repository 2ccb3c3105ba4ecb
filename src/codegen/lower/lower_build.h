// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The builder under every skeleton: a stack of open scopes (loops, guards), the value cache and the statements. In: a
// prepared group, a plan, limits. Out: a kernel or a rejection. Called by the file of each skeleton.
//
// A value is keyed by (node, coordinates, predicate) and lives in the outermost scope that defines everything it is
// made of; so loop-invariant placement and vector width follow from the index expressions, with no pass of their own.
// Arithmetic may be placed outside a guard, memory accesses may not leave a guard that shares a variable with their
// address. Kept values (prepare.h) are entries that outlive their phase.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/indexed.h"
#include "codegen/lower/lower.h"
#include "codegen/structure/index_map.h"
#include "ir/graph/region_reduction.h"
#include "ir/kernel/kernel.h"

namespace tailor::codegen {

/// A predicate under which an element exists: conditions all of which must hold. 0 is "always".
using PredicateId = std::int32_t;

struct Predicate {
  PredicateId parent = 0;
  ir::Condition condition;
  bool often = false;  ///< holds for most elements: edges of windows, small margins
};

/// A value and the scope depth from which it may be used.
struct Val {
  ir::ValueId id = ir::no_value;
  int depth = 0;
};

/// What a value is where its predicate does not hold. zero: what is loaded under a guard starts from that. neutral: the
/// parameter starts from the neutral element of the windows over it (Prepared::window_of).
enum class Outside : std::uint8_t { unknown, zero, neutral };

/// A computed value in the cache. `compute` is in the compute type; `raw` in the node's own type when it exists so.
struct Entry {
  Coordinates coordinates;
  PredicateId predicate = 0;
  Val compute, raw;
  std::uint32_t scope = 0;  ///< serial of the scope it lives in
  Outside outside = Outside::unknown;
};

/// How long a kept value stays. section: until the rolled loop turns; phase: until the row was walked; kernel: for all
/// later phases.
enum class Stay : std::uint8_t { section, phase, kernel };

/// A value that outlives the statement that made it: where it is kept, for one segment of the row.
struct Kept {
  ir::NodeId node = ir::no_node;
  Coordinates coordinates;
  PredicateId predicate = 0;
  int segment = 0;
  Stay stay = Stay::kernel;
  ir::ArrayId array = ir::no_id;
  int depth = 0;  ///< of the scope in which the array is declared
  bool in_shared = false;
  bool by_row = false, by_trip = false, by_element = true;  ///< registers: what the array is indexed by
  std::int64_t bytes = 0;                                   ///< registers of one thread
  ir::ExprId slot = ir::no_expr;                            ///< shared: element index of the vector's first element
  int width = 0;                                            ///< shared: elements of one access; 0: the widest
  int lanes = 0;                                            ///< registers: elements of the array; 0: the vector's
  ir::ExprId lane = ir::no_expr;                            ///< registers: where in it; no_expr: the element's own
  ir::ExprId from = ir::no_expr;                            ///< of wide loads that no guard is around: where they begin
  Outside outside = Outside::unknown;
};

/// The accumulator of a finished reduction.
struct Accumulator {
  ir::NodeId node = ir::no_node;
  Coordinates coordinates;
  ir::ArrayId array = ir::no_id;
  int depth = 0;                  ///< of the scope in which it is finished
  ir::ExprId lane = ir::no_expr;  ///< element of the array; no_expr: it holds one, of each row in flight
  std::size_t number = 0;         ///< which result of the reduction
};

/// Where a look-up stands in one dimension: entries of a node lie together, in the order of its dimensions.
struct Start {
  ir::NodeId node = ir::no_node;
  ir::ExprId at = ir::no_expr;
  bool is_late = false;  ///< bound in arms of choices; then also
  ir::NodeId from = ir::no_node;
  Coordinates place;  ///< of the number in `from`
  ir::VarId var = 0;
};

/// Where an element of a choice may come from: a parameter's memory, arms of which one is meant, or, under conditions,
/// another place.
struct Place {
  ir::NodeId parameter = ir::no_node;
  ir::ExprId at = ir::no_expr;      ///< of a parameter: the address. Of arms: what is compared with their ends
  std::int32_t first = 0, end = 0;  ///< of a parameter: slices that move the address; arms; the place inside
  PredicateId inside = 0;           ///< 0: no conditions
  std::int32_t like = -1;           ///< of a parameter: the address is that of an earlier place, and so much more
  std::int64_t shift = 0;
};

/// The place of one operand of a concatenation, which ends there.
struct Arm {
  std::int32_t place = 0;
  std::int64_t end = 0;
};

/// An operand of a concatenation that is a parameter, or a single one that reshapes it, where it begins, and its place:
/// others of its shape lie like it.
struct Alike {
  ir::NodeId of = ir::no_node;
  std::int64_t begin = 0;
  std::int32_t place = 0;
  bool moves = false;  ///< with the index along the concatenation
};

/// What a choice is loaded into.
struct ChoiceTarget {
  ir::Ref ref;
  ir::ExprId element = ir::no_expr;  ///< of single loads: the element of the vector
  int width = 1, count = 1;          ///< elements of one access, of all
};

/// A number that memory holds for each element: number `number` of the indices of gather `node` at `at`, clamped; or of
/// a scatter, where `last` + 1 stands for all numbers at which the window does not lie inside.
struct Pick {
  ir::NodeId node = ir::no_node;
  int number = 0;
  Coordinates at;  ///< in the array of the indices
  PredicateId predicate = 0;
  std::int64_t last = 0;  ///< it is at most that
  ir::VarId var = 0;
  ir::ExprId value = ir::no_expr;
  int depth = -1;           ///< of the scope of its latest bind
  std::uint32_t scope = 0;  ///< serial of that scope
};

struct Demand {
  Coordinates coordinates;
  PredicateId predicate = 0;
  bool satisfied = false;
};

/// Where a result of a strip stands that may not be there: as what stands for it in coordinates, and as it is.
struct StripPlace {
  ir::ExprId narrow = ir::no_expr, loose = ir::no_expr;
  PredicateId exists = 0;
};

/// Whether a place lies in an array's dimension of so many: a value in the cache.
struct PlaceTest {
  ir::ExprId place = ir::no_expr;
  std::int64_t size = 0;
  Val holds;
  std::uint32_t scope = 0;
};

struct ScopeFrame {
  ir::StmtKind kind = ir::StmtKind::loop;  ///< loop or guard; the root is a guard without condition
  ir::VarId var = 0;
  bool unrolled = false, backward = false;
  std::array<ir::Condition, 2> conditions{};
  ir::ValueId value = ir::no_value;  ///< guard: what it asks, if not its conditions
  ir::VarSet guard_vars;
  std::uint32_t serial = 0;
  std::vector<ir::Stmt> before;  ///< in order; inner scopes are appended as they close
  std::vector<ir::Stmt> after;   ///< once the inner scope is closed (vector stores)
};

struct LowerScratch::State {
  IndexBuilder build;
  IndexedVector<ScopeFrame> frames;
  std::size_t depth = 0;  ///< open frames
  std::uint32_t serials = 0;
  IndexedVector<std::vector<Entry>> entries;              ///< per node
  IndexedVector<std::vector<Demand>> demands;             ///< per node
  std::vector<std::pair<ir::NodeId, Entry>> lines;        ///< of windows that were made (lower_window.cpp)
  std::vector<std::pair<ir::NodeId, Entry>> lines_ahead;  ///< that the section at hand has been asked to load
  std::vector<PlaceTest> tests;
  std::vector<StripPlace> strip_places;
  std::vector<ir::NodeId> touched;        ///< nodes with entries
  IndexedVector<std::vector<Kept>> kept;  ///< per node
  std::vector<ir::NodeId> kept_nodes;     ///< that have had one
  std::vector<Accumulator> accumulators;
  std::vector<Kept> walked;  ///< scans and totals of chunks of the section at hand, in the types they are computed in
  std::vector<Start> starts;
  std::vector<Pick> picks;
  std::vector<Place> places;  ///< of the choice at hand, and
  std::vector<Arm> arms;      ///< their arms
  std::vector<ir::NodeId> place_slices;
  ir::VarSet late;                                            ///< variables of starts that are bound in arms
  ir::VarSet picked;                                          ///< variables of all picks
  std::vector<IndexedVector<std::vector<Demand>>> set_aside;  ///< demands of those who wait for a bind
  IndexedVector<Predicate> predicates;
  std::vector<ir::ExprId> named;  ///< index expressions that have a name
  std::vector<ir::ExprId> facts;  ///< expressions known to be multiples of fact_divisor
};

/// One way through a row or a map: its own column expression, vector width and kept arrays.
struct Segment {
  int number = 0;
  int vector = 1;
  ir::VarId element = 0;               ///< variable e; meaningful when vector > 1
  IndexedArray<ir::VarId, 2> trips{};  ///< loops over the row, outer first
  IndexedArray<bool, 2> unrolled{};
  int trip_loops = 0;
  bool unrolls_all = false;  ///< those that are not marked as unrolled too: arrays of registers can span the row
  ir::ExprId trip = 0;       ///< trip number as an expression
  std::int64_t trip_count = 1;
  ir::ExprId section_trip = 0;  ///< trip within the unrolled part of the loop; subscript of register arrays
  std::int64_t section_trips = 1;
  std::array<ir::Condition, 2> guards{};
  int guard_count = 0;
  ir::ExprId along = 0;        ///< position among what is reduced, the vector's element included
  ir::ExprId thread_slot = 0;  ///< in shared memory: this thread's slot within one trip
  std::int64_t slots = 0;      ///< of all threads together
};

/// How the places of a row tell where its elements wait in shared memory: place p is in vector p / v, vectors go to the
/// row's threads in turns, turns to the blocks of its cluster (lower_elsewhere.cpp).
struct RowPlaces {
  bool known = false;         ///< else no place tells
  ir::ExprId kept = 0;        ///< the number of the row at hand
  std::int64_t columns = 1;   ///< places of a row
  std::int64_t threads = 1;   ///< of a block that share the row
  std::int64_t blocks = 1;    ///< of a cluster that do
  ir::ExprId first_slot = 0;  ///< within one trip: the slot of the first of these threads
};

class ProgramBuilder {
 public:
  ProgramBuilder(const Prepared& prepared, const ir::Plan& plan, LowerScratch::State& state);

  // ---- scopes
  void open_loop(ir::VarId var, bool unrolled, bool backward = false);
  /// A variable for a loop that is opened next. Loops that follow one another share it, because index expressions know
  /// only so many variables and a phase may have a hundred reductions.
  ir::VarId loop_var(std::string_view name, std::int64_t extent);
  void open_guard(std::span<const ir::Condition> conditions);
  /// A guard that asks a value on which the threads of the block agree; `counted` stands for it where nobody knows. All
  /// that is emitted inside stays inside: it may need what the guard waited for.
  void open_agreed(ir::ValueId value, const ir::Condition& counted);
  void close();
  int depth() const { return static_cast<int>(s_.depth) - 1; }
  /// The innermost open scope that an access with these variables needs; `anywhere`: guards of a pass do not hold it.
  int depth_for(ir::VarSet vars, bool anywhere = false) const;
  /// Variables that the open guards test.
  ir::VarSet guard_vars() const;
  /// Whether a guard around the scope of that depth asks for this.
  bool is_guarded(int depth, const ir::Condition& condition) const;
  /// Whether an access with these variables (the element variable aside) can stand outside the element loop.
  bool outside_elements(ir::VarSet vars) const;
  void put(int depth, const ir::Stmt& stmt) { s_.frames[depth].before.push_back(stmt); }
  /// A barrier in the innermost open scope.
  /// What launches before this one wrote is seen behind it.
  void put_wait();
  /// A barrier of the blocks of the grid that count there, this one as number `rank`.
  void put_meeting(ir::BufferId ticket, ir::ExprId counter, ir::ExprId rank);
  void put_barrier(ir::StitchLevel scope = ir::StitchLevel::block, ir::Half half = ir::Half::both);
  void put_after(int depth, const ir::Stmt& stmt) { s_.frames[depth].after.push_back(stmt); }

  // ---- arrays and values
  ir::ArrayId add_array(ir::Array array);
  /// The same in shared memory, declared in front of everything: so many elements, in whole accesses.
  ir::ArrayId add_shared(std::string name, ir::DType dtype, std::int64_t elements);
  /// A buffer of the kernel's own, behind its results.
  ir::BufferId add_buffer(ir::Buffer buffer);
  /// A new named value that the statement defines.
  ir::ValueId define(ir::Stmt& stmt, std::string_view name, ir::DType dtype);
  void declare(int depth, ir::ArrayId array, ir::ValueId initial = ir::no_value);
  ir::ValueId add_value(const ir::Value& value);
  Val number(ir::DType dtype, double real, std::int64_t integer);
  /// What number `array` of a reduction's arrays starts from, in the type that it is computed in: its reducer's neutral
  /// element, of a region the initial value.
  ir::ValueId start_of_sum(const ir::Node& reduce, std::size_t array = 0);
  /// In the innermost scope: each of `sums` becomes what the reduction makes of all of them, and of as many more values
  /// behind them. `values` are in the types that they are computed in. `rising`: the number of an array whose values
  /// are above all of it that the sums have seen, or as great as what they start from; -1: of none that is known.
  void combine(ir::NodeId reduce, std::span<const ir::Ref> sums, std::span<const ir::ValueId> values, int rising = -1);
  /// Another lane's value; a `stride` of 0 means the first lane's of its group.
  Val exchange(std::string_view name, ir::ValueId value, std::int64_t stride, std::int64_t lanes);
  Val let(int depth, std::string_view name, ir::DType dtype, ir::ValueId value);
  Val element(ir::DType dtype, const ir::Ref& ref, int depth);
  Val index_value(ir::ExprId expr);

  // ---- look-ups
  /// Reads the indices that place the group's look-ups and binds them to variables, in front of all loops.
  void bind_starts();

  // ---- emission
  /// Emits everything `node` at `coordinates` needs in the current scopes. Sets refusal() when it cannot.
  Entry emit_value(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate = 0);
  /// Under a predicate what is stored is an element that exists; by the threads alone for which `where` holds.
  void store_output(std::int32_t output, const Coordinates& coordinates, PredicateId predicate = 0,
                    std::span<const ir::Condition> where = {});
  /// Where the result number `number` of a strip stands, which is number `position` of all strips. The last strip may
  /// be shorter than others; then with the predicate that there is such a result, and nothing where there never is.
  std::optional<Demand> in_strip(const Strip& strip, ir::ExprId position, std::int32_t number);
  /// Emits a value and puts it into an element of an array of its own type.
  void put_value(ir::NodeId node, const Coordinates& coordinates, const ir::Ref& target);
  /// Emits a number of the row in flight and puts it into an array with an entry for each.
  ir::ArrayId keep_row_number(std::int32_t output, const Coordinates& coordinates);
  /// Stores the entry of such an array that `lane` names, under the conditions. Coordinates are those of its row.
  void store_picked(std::int32_t output, ir::ArrayId array, ir::ExprId lane, const Coordinates& coordinates,
                    std::span<const ir::Condition> conditions);
  /// Keeps full values of this phase for later ones. What `homes` views must stay until the next call.
  void keep(std::span<const ir::Home> homes);
  /// What this phase may read of other threads: kept in shared memory by earlier ones, behind a barrier. What `homes`
  /// views must stay until the next call.
  void share(std::span<const ir::Home> homes) { shared_ = homes; }
  void enter_segment(const Segment* segment) { segment_ = segment; }
  /// Which loads load_ahead() makes: those whose address has all variables of `with` and none of `without`; those that
  /// change in no open unrolled loop only when `all`.
  struct Flight {
    ir::VarSet with, without;
    bool all = false;
    bool places = false;        ///< only what says where gathers read
    std::int32_t ahead_of = 0;  ///< of a later phase: not what waits in shared memory by then
    Stay stay = Stay::phase;
    int depth = 0;  ///< of the scope in which the arrays are declared
  };
  /// Loads the inputs that `node` at `coordinates` needs into register arrays, where the segment finds them later.
  void load_ahead(ir::NodeId node, const Coordinates& coordinates, const Flight& flight, PredicateId predicate = 0);
  void begin_loads_ahead() { s_.lines_ahead.clear(); }  ///< loads of another section begin
  /// The same of what says where a scatter puts the element at these coordinates; nothing of any other output.
  void load_landing_ahead(std::int32_t output, const Coordinates& coordinates, const Flight& flight);
  /// Ends a flight of loads in the scope of that depth.
  void issue(int depth);
  Kept& add_kept(const Kept& kept);  ///< until land() of its stay; a reference until the next of its node
  /// The same in a new array, declared in the scope of that depth, whose name ends so.
  const Kept* keep_in_registers(const Kept& kept, int depth, ir::ValueId initial, std::string_view ending);
  /// The array element of the trip and row at hand; `element` is no_expr for the vector as a whole.
  ir::Ref kept_ref(const Kept& kept, ir::ExprId element);
  void land(Stay stay);                 ///< forgets what was to stay no longer than that
  bool is_loaded(ir::NodeId id) const;  ///< whether loads of it made ahead are there for the current phase
  void forget_values();                 ///< drops cached values of open scopes (value cache off)
  /// `count` elements of a register array from or to neighbours in memory from `base` on, `width` with each access;
  /// `rank`: of which block of the cluster, in distributed space.
  void load_pieces(int depth, const ir::Ref& target, ir::Space space, std::uint16_t memory, ir::ExprId base, int width,
                   int count, ir::Policy policy, ir::ExprId rank = ir::no_expr);
  void store_pieces(int depth, bool after, const ir::Ref& source, ir::Space space, std::uint16_t memory,
                    ir::ExprId base, int width, int count);

  const std::optional<ir::Rejection>& refusal() const { return refusal_; }
  /// Names the part of an address that is fixed outside all loops (the index cache).
  void name_index(ir::ExprId address);
  void refuse(const ir::Refusal& rule, std::string reason);

  IndexBuilder& build() { return s_.build; }
  LowerScratch::State& state() { return s_; }
  ir::Kernel& kernel() { return kernel_; }
  const ir::Graph& graph() const { return graph_; }
  const std::string& name_of(ir::NodeId id) const { return prepared_.names[id]; }
  ir::Kernel take();  ///< the finished kernel

  int compute_capability = 0;  ///< which atomics there are
  int in_flight_rows = 1;      ///< extent of the loop q
  /// A guard lets some elements of a vector pass and others not: what it reads is loaded one by one.
  bool parts_of_vectors = false;
  ir::ExprId row_in_flight = 0;  ///< q as an expression
  int row_depth = 0;             ///< of the scope that all of one row stands in
  std::int64_t fact_divisor = 1;
  bool later_loads = false;     ///< this phase reads inputs again: plain loads
  std::int64_t kept_bytes = 0;  ///< registers held by kept arrays, bytes per thread
  std::int64_t most_kept = 0;   ///< the most that kept_bytes was
  RowPlaces row_places;
  std::vector<ir::NodeId> found_elsewhere;  ///< what some phase found at another place of the row; as often as it did

 private:
  const ir::Node& node_at(ir::NodeId id) const { return graph_[id]; }
  const Entry* find(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate) const;
  /// Whether the scope in which it was made is still open.
  bool is_alive(const Val& value, std::uint32_t scope) const {
    return value.depth < static_cast<int>(s_.depth) && s_.frames[value.depth].serial == scope;
  }
  void remember(ir::NodeId node, Entry entry);
  void demand(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate);
  void forget_demands(ir::NodeId from);
  void demand_operands(ir::NodeId node, const Demand& wanted);
  Entry find_entry(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate) const;

  void emit(ir::NodeId node, const Demand& wanted);
  Entry emit_constant(const ir::Node& node);
  /// The number, in its own type or the one that it is computed in.
  Val constant_of(const ir::Node& node, ir::DType as);
  Entry emit_iota(ir::NodeId id, const Coordinates& coordinates);
  Entry emit_scan(ir::NodeId id, const Demand& wanted);
  Entry emit_elementwise(ir::NodeId id, const Demand& wanted);
  /// A bitcast_convert or reduce_precision of the operand (lower_emit.cpp).
  Entry emit_bits(const ir::Graph& graph, const ir::Node& node, std::string_view name, const Entry& operand);
  /// An integer for each floating number, in the total order of numbers: -NaN < -inf < ... < -0 < +0 < ... < NaN.
  Val order_key(const Entry& operand, ir::DType dtype);
  /// The operation of a node of `graph`, the group's or a region, on values that are there.
  Entry computed(const ir::Graph& graph, const ir::Node& node, std::string_view name, std::span<const Entry> operands);
  Entry computed_line(const ir::Graph& region, const ir::Node& line, std::string_view name,
                      std::span<const Entry> arguments, std::span<const Entry> lines);
  /// Each line of a region whose parameters are these. What is known to hold is `is_true`, per line.
  std::vector<Entry> written_out(const ir::Graph& region, std::string_view name, std::span<const Entry> arguments,
                                 std::vector<bool> is_true = {});
  /// Whether operand k of a concatenation, or what a window of a pad or an update shows, holds any such element.
  bool may_read(ir::NodeId id, int k, const Coordinates& coordinates);
  Entry emit_choice(ir::NodeId id, const Demand& wanted);
  /// A select that is named for the node; `yes` where there is no test.
  Val choose(ir::NodeId id, const Val& test, const Val& yes, const Val& no);
  // lower_window.cpp
  /// What a window's taps are asked with: of a result that may not be there, its place as it is, without the predicate.
  Demand of_taps(const Demand& wanted) const;
  /// Under which a tap is read; nothing where it never is.
  std::optional<PredicateId> tap_predicate(ir::NodeId id, std::size_t tap, const Demand& wanted);
  /// `ahead`: to be loaded ahead, which each line is once for a section.
  void demand_taps(ir::NodeId id, const Demand& wanted, bool ahead = false);
  /// Where a line of the window lies for this result, and under which predicate; nothing where it is never inside.
  std::optional<Entry> line_key(ir::NodeId id, const WindowLine& line, const Demand& wanted);
  /// What it was found to be for a result that shares it; nullptr: no such result was made.
  const Entry* find_line(ir::NodeId id, const Entry& key) const;
  /// Whether no result before has asked for the line in this section's loads; now one has.
  bool is_first_ahead(ir::NodeId id, const Entry& key);
  /// What the taps of a line make together; nothing where all of them are outside.
  std::optional<Entry> emit_line(ir::NodeId id, const WindowLine& line, const Demand& wanted);
  /// Whether a tap lies inside along a dimension; nothing that it is where that is known.
  Val tap_test(ir::NodeId id, std::size_t tap, int dim, const Demand& wanted);
  /// Whether a value that lies outside counts for nothing in a window, so that none need ask whether it does.
  bool counts_for_nothing(ir::NodeId window, Outside outside) const;
  /// `a` and `b` as the window's reducer puts them together.
  Val combined(ir::NodeId id, const Val& a, const Val& b);
  Entry emit_window(ir::NodeId id, const Demand& wanted);
  Start make_start(ir::NodeId id, int dim, std::int64_t last);
  void put_bind(const Start& start, const Val& number);
  /// The value of `from`, emitted apart from what is being emitted.
  Val apart(ir::NodeId from, const Coordinates& at, PredicateId predicate);
  ir::ExprId start_of(ir::NodeId id, int dim) const;
  /// operand_coordinates(), look-ups among them.
  Coordinates source_coordinates(ir::NodeId id, int k, const Coordinates& coordinates, PredicateId predicate);
  const ir::GatherNumbers& numbers_of(ir::NodeId gather) const;
  /// Where the indices of a gather's result at these coordinates stand; of a dimension that holds several the first.
  Coordinates index_place(ir::NodeId gather, const Coordinates& coordinates) const;
  /// Of a scatter also under which conditions its window lies inside.
  Coordinates gathered_from(ir::NodeId id, const Coordinates& coordinates, PredicateId predicate,
                            std::vector<ir::Condition>* inside = nullptr);
  ir::ExprId pick(ir::NodeId id, const Pick& wanted, const ir::GatherNumbers& numbers, const Coordinates& coordinates);
  struct Landing;
  /// Where a scatter puts the element of its updates at these coordinates, and under which conditions.
  Landing landing_of(ir::NodeId scatter, const Coordinates& coordinates);
  const ir::ScatterForm& form_of(ir::NodeId scatter) const;
  void scatter_element(std::int32_t output, const Coordinates& coordinates);
  /// `stmt`, a store or an atomic of up to `most` elements, for all elements of the vector at once; false: it goes
  /// where each of them does.
  bool scatter_vector(const Landing& landing, ir::Stmt stmt, ir::ValueId update, int most);
  /// Loads, changes and stores: nobody else does.
  void change_alone(const Landing& landing, ir::Stmt store, const Entry& update);
  /// What a place of a scatter is bound to: `last` + 1 where it is no number from 0 to `last`.
  Val checked(ir::NodeId from, Val start, std::int64_t last);
  /// Emits what the variables of picks among `vars` are bound to, where that was not done in an open scope.
  void bind_picked(ir::VarSet vars);
  void bind_pick(std::size_t i);
  void demand_indices(ir::NodeId id, const Demand& wanted);
  bool is_bound(const Pick& pick) const;
  /// The value as an index of node `from`: an integer from 0 to `last`.
  Val clamped(ir::NodeId from, Val start, std::int64_t last);
  /// make_inside(), and the window of an update along dimension `k`.
  Inside inside_of(ir::NodeId id, int k, const Coordinates& coordinates);
  /// Where the element of an output lies in its memory.
  ir::ExprId stored_at(std::int32_t output, const Coordinates& coordinates);
  /// What to multiply by instead of dividing by a constant, where the plan's arithmetic class does.
  std::optional<Val> reciprocal(const Val& divisor);
  Entry emit_load(ir::NodeId id, const Demand& wanted);
  void fly(ir::NodeId id, const Demand& wanted, const Flight& flight);

  /// How a parameter's elements are read.
  struct Access {
    ir::ExprId address = 0;  ///< of one element
    ir::ExprId base = 0;     ///< of the first of `width` elements
    int width = 1;
    int depth = 0;             ///< scope of the statements
    bool has_element = false;  ///< differs along the vector
    ir::Policy policy = ir::Policy::once;
    std::int32_t place = -1;  ///< of a choice: all of its places; instead of address and base
    ir::VarSet vars;          ///< what the elements depend on; of a choice: what any place does
    bool partly = false;      ///< of a choice: some elements are a constant
    ir::Space space = ir::Space::global;
    std::uint16_t memory = ir::no_id;  ///< buffer or array
    ir::ExprId rank = ir::no_expr;     ///< in distributed space: the block of the cluster
    int lanes = 0;                     ///< elements of the array it fills; 0: those of the vector
    ir::ExprId lane = ir::no_expr;     ///< where in it an element of the vector is; no_expr: in order
  };
  /// A kept value that is wanted at another place of its row.
  struct Elsewhere {
    const Kept* kept = nullptr;  ///< null: it is not found by its place
    ir::ExprId place = 0;        ///< along the row
  };
  Elsewhere find_elsewhere(ir::NodeId id, const Demand& wanted);
  /// Whether it will have been kept in shared memory when the phase begins for which loads are made now.
  bool waits_by_then(ir::NodeId id, const Flight& flight) const;
  Access access_elsewhere(ir::NodeId id, const Elsewhere& found, ir::VarSet guard_vars);
  /// What the elements of a vector lie in, where they lie together in no order of steps.
  struct Spread {
    ir::ExprId base;  ///< address of the first of `count` elements, a multiple of `width`
    ir::ExprId lane;  ///< which of them, by the element variable
    int width, count;
  };
  std::optional<Spread> find_spread(ir::NodeId id, ir::ExprId address);
  /// Reads a spread, if there is one; drops the conditions that then need not be asked.
  void take_spread(ir::NodeId id, Access& access, std::vector<ir::Condition>& conditions);
  /// Whether what it holds was loaded for other elements already; then it is kept there too.
  bool shares_spread(const Kept& kept);
  /// Elements along the vector of an array with so many `own` ones; 0: those of the vector.
  int lanes_of(int own) const { return own > 0 ? own : segment_->vector; }
  /// `conditions` are those of the demand; those are dropped that the access needs no guard for.
  Access make_access(ir::NodeId id, const Demand& wanted, std::vector<ir::Condition>& conditions);
  ir::Policy policy_of(ir::NodeId parameter, bool in_choice) const;
  /// The places of a choice, until the next one is asked for.
  Access choice_access(ir::NodeId id, const Demand& wanted);
  /// How wide it is read, and where the statements stand.
  void place_choice(ir::NodeId id, ir::VarSet guard_vars, Access& access);
  std::int32_t find_places(ir::NodeId id, const Coordinates& coordinates, std::vector<ir::NodeId>& slices);
  /// An index that says the same against bounds so many times as large as the coordinate against its own.
  std::pair<ir::ExprId, std::int64_t> along(const ir::Shape& shape, const Coordinates& coordinates, int dim);
  std::int32_t find_operand(ir::NodeId id, int k, std::int64_t begin, const Coordinates& coordinates, Alike& alike,
                            std::vector<ir::NodeId>& slices);
  std::int32_t find_arms(ir::NodeId id, const Coordinates& coordinates, std::vector<ir::NodeId>& slices);
  void load_choice(const Access& access, const ChoiceTarget& target, std::span<const ir::Condition> conditions);
  void put_place(std::int32_t place, const ChoiceTarget& target);
  void put_arms(const Place& place, std::int32_t first, std::int32_t end, const ChoiceTarget& target);
  void put_loads(int depth, ir::NodeId parameter, ir::ExprId base, const ChoiceTarget& target);
  void read_late_starts(const Place& place);
  ir::ValueId start_of_array(ir::NodeId id);  ///< what it holds where nothing is loaded
  /// The same of a load that has guards for all or `some` of what was asked.
  Outside outside_of(ir::NodeId id, const Access& access, bool some) const;
  /// `value`, or, where it says the same of all bounds for a whole vector, that of its first element.
  ir::ExprId of_vector(ir::ExprId value, std::span<const std::int64_t> bounds);
  /// Whether neighbouring elements of the vector are neighbours in memory.
  bool steps_by_element(ir::ExprId address) const;
  int widest_access(ir::DType dtype) const;  ///< elements
  Val load_scalar(ir::NodeId id, const Access& access);
  ir::Ref load_array(ir::NodeId id, const Access& access, const Kept* kept, std::span<const ir::Condition> conditions);
  /// Whether its elements are loaded from where they are.
  bool is_read(ir::NodeId id) const { return node_at(id).op == ir::Op::parameter || prepared_.choices[id].found; }
  /// false: this output cannot be stored by vectors here.
  bool store_vector(ir::NodeId id, std::uint16_t memory, ir::ExprId at, ir::ValueId value,
                    std::span<const ir::Condition> conditions);
  /// Heads of guards, two conditions each, around the `inner` statements that are put next, or put after.
  void put_guards(int depth, std::span<const ir::Condition> conditions, int inner, bool after = false);
  bool fetch_kept(ir::NodeId id, const Demand& wanted);
  bool fetch_accumulator(ir::NodeId id, const Demand& wanted);
  void keep_value(const ir::Home& home, const Entry& entry);

  Val widen(Val raw, ir::DType dtype, std::string_view name);
  Val widen(Val raw, ir::DType dtype, ir::NodeId id) { return widen(raw, dtype, name_of(id)); }
  Val to_raw(const Entry& entry, ir::DType dtype);
  Entry rounded(ir::NodeId id, Entry entry);
  /// With the initial value, which comes in once.
  Val reduce_init(const ir::ReducedValue& of, ir::Reducer reducer, Val accumulated, int depth);
  /// Whether both hold; a test that is not there always does.
  Val both_of(const Val& a, const Val& b);
  Val inside_value(const Inside& inside);
  PredicateId inside_predicate(const Inside& inside, PredicateId parent, bool often = false);
  PredicateId predicate_below(ir::NodeId id, const Coordinates& below, PredicateId predicate);
  std::vector<ir::Condition> conditions_of(PredicateId predicate) const;
  int aligned_width(ir::ExprId base, int most) const;
  const Kept* find_kept(ir::NodeId id, const Demand& wanted, bool in_shared) const;
  const Kept* find_or_keep(const ir::Home& home, const Coordinates& coordinates);
  Entry kept_entry(ir::NodeId id, const Kept& kept, const Demand& wanted);

  const Prepared& prepared_;
  const ir::Plan& plan_;
  const ir::Graph& graph_;
  LowerScratch::State& s_;
  ir::Kernel kernel_;
  const Segment* segment_ = nullptr;
  /// Whether arrays that stay so long span the row, though the segment goes through it in parts.
  bool spans_row(Stay stay) const { return segment_->unrolls_all && stay != Stay::section; }

  std::span<const ir::Home> keeping_;  ///< what this phase fills
  std::span<const ir::Home> shared_;   ///< what it may read of other threads
  int floor_ = 0;                      ///< depth of the innermost guard that asks a value
  std::size_t first_output_ = 0;       ///< buffer of the first output
  bool loading_ahead_ = false;
  std::int64_t loads_ahead_ = 0;  ///< of one thread, since the last issue
  std::optional<ir::Rejection> refusal_;
};

/// Stores outputs of another size than rows and columns (Prepared::free_aside, reduced_aside): thread `thread` of
/// `threads` has elements thread, thread + threads and so on of each. Free ones are dealt out over all threads of all
/// blocks, those of a kernel of one row over the lanes of the row, behind its last reduction.
void store_aside(ProgramBuilder& builder, const Prepared& prepared, std::span<const std::int32_t> outputs,
                 ir::ExprId thread, std::int64_t threads);
/// Follows a route from the coordinates of its start; through a concatenation as from operand `piece`.
Coordinates follow(IndexBuilder& build, const ir::Graph& graph, const Route& route, Coordinates coordinates,
                   std::int32_t piece = 0);

}  // namespace tailor::codegen
