// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The builder under every skeleton: a stack of open scopes (loops, guards), the value cache and the statements.
//
// A value is keyed by (node, place, predicate) and lives in the outermost scope that defines everything it is made of;
// so loop-invariant placement and vector width follow from the index expressions, with no pass of their own. Arithmetic
// may be placed outside a guard, memory accesses may not leave a guard that shares a variable with their address. Kept
// values (residence) are entries that outlive their phase.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/index_map.h"
#include "ir/kernel.h"
#include "ir/lower.h"

namespace tailor::ir {

/// A predicate under which an element exists: conditions all of which must hold. 0 is "always".
using PredicateId = std::int32_t;

struct Predicate {
  PredicateId parent = 0;
  Condition condition;
};

/// A value and the scope depth from which it may be used.
struct Val {
  ValueId id = no_value;
  int depth = 0;
};

/// A computed value in the cache. `compute` is in the compute type; `raw` in the node's own type when it exists so.
struct Entry {
  Place place;
  PredicateId predicate = 0;
  Val compute, raw;
  std::uint32_t scope = 0;  ///< serial of the scope it lives in
};

/// A value that outlives its phase: where it is kept, for one segment of the row.
struct Kept {
  NodeId node = no_node;
  Place place;
  int segment = 0;
  ArrayId array = no_id;
  bool in_shared = false;
  ExprId slot = no_expr;  ///< shared: element index of the vector's first element
};

/// The accumulator of a finished row reduction.
struct Accumulator {
  NodeId node = no_node;
  Place place;
  ArrayId array = no_id;
};

struct Demand {
  Place place;
  PredicateId predicate = 0;
  bool satisfied = false;
};

struct ScopeFrame {
  StmtKind kind = StmtKind::loop;  ///< loop or guard; the root is a guard without condition
  VarId var = 0;
  bool unrolled = false;
  std::array<Condition, 2> conditions{};
  std::uint64_t guard_vars = 0;
  std::uint32_t serial = 0;
  std::vector<Stmt> before;  ///< in order; inner scopes are appended as they close
  std::vector<Stmt> after;   ///< once the inner scope is closed (vector stores)
};

struct LowerScratch::State {
  IndexBuilder build;
  std::vector<ScopeFrame> frames;
  std::size_t depth = 0;  ///< open frames
  std::uint32_t serials = 0;
  std::vector<std::vector<Entry>> entries;   ///< per node
  std::vector<std::vector<Demand>> demands;  ///< per node
  std::vector<NodeId> touched;               ///< nodes with entries
  std::vector<Kept> kept;
  std::vector<Accumulator> accumulators;
  std::vector<Predicate> predicates;
  std::vector<ExprId> named;  ///< index expressions that have a name
  std::vector<ExprId> facts;  ///< expressions known to be multiples of fact_divisor
};

/// One way through a row or a map: its own column expression, vector width and kept arrays.
struct Segment {
  int number = 0;
  int vector = 1;
  VarId element = 0;             ///< variable e; meaningful when vector > 1
  std::array<VarId, 2> trips{};  ///< loops over the row, outer first
  std::array<bool, 2> unrolled{};
  int trip_loops = 0;
  ExprId trip = 0;  ///< trip number as an expression; subscript of kept arrays
  std::int64_t trip_count = 1;
  std::array<Condition, 2> guards{};
  int guard_count = 0;
  ExprId column = 0;       ///< row: column; map: element, both including e
  ExprId thread_slot = 0;  ///< shared residence: this thread's slot within one trip
  std::int64_t slots = 0;  ///< of all threads together
};

class ProgramBuilder {
 public:
  ProgramBuilder(const Prepared& prepared, const Plan& plan, LowerScratch::State& state);

  // ---- scopes
  // --------------------------------------------------------------------------------------------------------
  void open_loop(VarId var, bool unrolled);
  void open_guard(std::span<const Condition> conditions);
  void close();
  int depth() const { return static_cast<int>(s_.depth) - 1; }
  /// The innermost open scope that an access using these variables must stay in.
  int depth_for(std::uint64_t vars) const;
  /// Variables that the open guards test.
  std::uint64_t guard_vars() const;
  /// Whether an access with these variables (the element variable aside) can stand outside the element loop.
  bool outside_elements(std::uint64_t vars) const;
  void put(int depth, const Stmt& stmt) { s_.frames[static_cast<std::size_t>(depth)].before.push_back(stmt); }
  void put_after(int depth, const Stmt& stmt) { s_.frames[static_cast<std::size_t>(depth)].after.push_back(stmt); }

  // ---- arrays and values
  // ---------------------------------------------------------------------------------------------
  ArrayId add_array(Array array);
  void declare(int depth, ArrayId array, ValueId initial = no_value);
  ValueId add_value(const Value& value);
  Val number(DType dtype, double real, std::int64_t integer);
  Val let(int depth, std::string_view name, DType dtype, ValueId value);
  Val element(DType dtype, const Ref& ref, int depth);
  Val index_value(ExprId expr);

  // ---- emission
  // ------------------------------------------------------------------------------------------------------
  /// Emits everything `node` at `place` needs in the current scopes and returns it. Sets refusal() when it cannot.
  Entry value_of(NodeId node, const Place& place);
  void store_output(std::int32_t output, const Place& place);
  /// Keeps full values of this phase for later ones (`nodes` ascending) in `segment`.
  void keep(std::span<const NodeId> nodes, bool in_shared);
  void enter_segment(const Segment* segment) { segment_ = segment; }
  /// Loads every full input that `node` at `place` needs into arrays that later phases of the segment find.
  void prefetch(NodeId node, const Place& place);
  void forget_values();  ///< drops cached values of open scopes (value cache off)

  const std::optional<Rejection>& refusal() const { return refusal_; }
  /// Names the part of an address that is fixed outside all loops (the index cache).
  void name_index(ExprId address);
  void refuse(std::string rule, std::string reason);

  IndexBuilder& build() { return s_.build; }
  LowerScratch::State& state() { return s_; }
  Kernel& kernel() { return kernel_; }
  const Graph& graph() const { return graph_; }
  /// The finished kernel.
  Kernel take();

  int in_flight_rows = 1;    ///< extent of the loop q
  ExprId row_in_flight = 0;  ///< q as an expression
  std::int64_t fact_divisor = 1;
  bool later_loads = false;     ///< this phase reads inputs again: plain loads
  std::int64_t kept_bytes = 0;  ///< registers held by kept arrays, bytes per thread

 private:
  const Node& node_at(NodeId id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  const std::string& name_of(NodeId id) const { return prepared_.names[static_cast<std::size_t>(id)]; }
  const Entry* find(NodeId node, const Place& place, PredicateId predicate) const;
  void remember(NodeId node, Entry entry);
  void demand(NodeId node, const Place& place, PredicateId predicate);
  void demand_operands(NodeId node, const Demand& wanted);
  Entry entry_of(NodeId node, const Place& place, PredicateId predicate) const;

  void emit(NodeId node, const Demand& wanted);
  Entry emit_constant(const Node& node);
  Entry emit_iota(NodeId id, const Place& place);
  Entry emit_elementwise(NodeId id, const Demand& wanted);
  Entry emit_choice(NodeId id, const Demand& wanted);
  Entry emit_load(NodeId id, const Demand& wanted);

  /// How a parameter's elements are read.
  struct Access {
    ExprId place = 0;  ///< of one element
    ExprId base = 0;   ///< of the first of `width` elements
    int width = 1;
    int depth = 0;             ///< scope of the statements
    bool has_element = false;  ///< differs along the vector
    Policy policy = Policy::once;
  };
  Access access_of(NodeId id, const Demand& wanted, std::uint64_t guard_vars);
  /// Whether neighbouring elements of the vector are neighbours in memory.
  bool steps_by_element(ExprId place) const;
  int widest_access(DType dtype) const;  ///< elements
  Val load_scalar(NodeId id, const Access& access);
  Ref load_array(NodeId id, const Access& access, const Kept* kept, std::span<const Condition> conditions);
  /// false: this output cannot be stored by vectors here.
  bool store_vector(NodeId id, std::uint16_t memory, ExprId at, ValueId value);
  /// Heads of guards, two conditions each, around the `inner` statements that are put next.
  void put_guards(int depth, std::span<const Condition> conditions, int inner);
  bool fetch_kept(NodeId id, const Demand& wanted);
  bool fetch_accumulator(NodeId id, const Demand& wanted);
  void keep_value(NodeId id, const Entry& entry);

  Val widen(Val raw, DType dtype, NodeId id);
  Val raw_of(const Entry& entry, DType dtype);
  Val reduce_init(const Node& node, Val accumulated, int depth);
  Val inside_value(const Inside& inside);
  PredicateId inside_predicate(const Inside& inside, PredicateId parent);
  std::vector<Condition> conditions_of(PredicateId predicate) const;
  int aligned_width(ExprId base, int most) const;
  Kept* kept_place(NodeId id, const Place& place);
  Ref kept_ref(const Kept& kept, ExprId lane);
  void load_pieces(int depth, const Ref& target, Space space, std::uint16_t memory, ExprId base, int width, int count,
                   Policy policy);
  void store_pieces(int depth, bool after, const Ref& source, Space space, std::uint16_t memory, ExprId base, int width,
                    int count);

  const Prepared& prepared_;
  const Plan& plan_;
  const Graph& graph_;
  LowerScratch::State& s_;
  Kernel kernel_;
  const Segment* segment_ = nullptr;
  std::span<const NodeId> keeping_;
  bool keep_in_shared_ = false;
  bool prefetching_ = false;
  std::optional<Rejection> refusal_;
};

/// Follows a route from the place of its start.
Place follow(IndexBuilder& build, const Graph& graph, const Route& route, Place place);

std::optional<Rejection> lower_row(ProgramBuilder& builder, const Prepared& prepared, const Plan& plan,
                                   const Limits& limits);
std::optional<Rejection> lower_map(ProgramBuilder& builder, const Prepared& prepared, const Plan& plan);

/// The neutral element of a reducer in `dtype`.
struct Neutral {
  double real = 0;
  std::int64_t integer = 0;
};
Neutral neutral(Reducer reducer, DType dtype);

}  // namespace tailor::ir
