// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Registers that the program keeps alive. In: a kernel. Out: a number of 32-bit registers. Called by count(), for the
// models that do not have the compiler's number yet.
//
// It is the largest sum of sizes over the statements. The sum is taken by differences: each lifetime adds its size
// where it begins and takes it away where it ends, and one pass finds the greatest running sum. Three kinds of things
// live.
//
// Values. An array lives from its first to its last use, and so does a value with a name. The statement that reads a
// value for the last time writes into its register, so that statement no longer counts it. An array that begins with a
// constant, as a sum does, takes the place of the first that it adds. Truth values that are computed have registers of
// their own. Threads that a guard leaves out have the constant too: an array that is first used in a guard and begins
// in front of it has its registers from the guard on. Equal conversions are one: what is widened in two places, whether
// from an array or from a value that the array keeps, is kept wide; so rows of 16 bits that wait between phases are
// f32. Elements of less than a register that are loaded one by one have a register each: nobody packs them. What is
// defined before a loop and used in it lives to the loop's end, because the next turn needs it again. A loop that is
// unrolled is straight code: of the arrays that it goes through element by element, those that end with it give their
// registers one by one to those that begin with it. A value in an unrolled loop counts once. A load that is not ordered
// goes to where its value is first used, if that is in the same loop. A vector of zeros has no registers: the machine's
// zero is stored. Where copies begin with less than they end with, as numbers of 16 bits that become f32, the assembler
// makes all of them before it stores the first, while that costs nothing: counted with the addresses below.
//
// Indices. An index is a part that differs between threads and blocks, and what loops and copies add to it; the
// machine's addresses hold constants, so copies need no register. The part that stays is held from where it is first
// made to where it is last used, a variable until the last part is made of it. A loop that is not unrolled has its
// counter, holds what stays the same in it from its beginning to its end, and for a buffer that it walks through a
// pointer of two registers. A persistent block is such a loop over its virtual blocks.
//
// A quotient or a remainder of a copy's own number is one for each copy; what a later nest needs of them again, with no
// wait of threads between, waits in registers.
//
// Addresses. Of accesses that follow one another without a wait, the assembler makes the addresses of all buffers in
// front of the first, a pair of registers each, as the parameters they come from have a latency. It does so while that
// costs no thread its place on the SM, so they are counted apart (early_registers), and the models know how many
// registers are free (sm_90: 32, up to which it fills where data alone takes 13 to 22).
//
// What else the assembler takes is the model's business (`register_base`): one index, two addresses that are being
// made, the parts of an expression. Measured against a compiler by tests/bench/registers_bench.
#include <algorithm>
#include <cmath>

#include "costmodel/merged.h"
#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

constexpr std::int32_t nowhere = -1;
constexpr int register_bits = 32;
/// Copies that stand side by side at least, where there are so many: a chain of operations alone would wait for each.
constexpr std::int64_t least_side_by_side = 4;
/// Loads from shared memory that unrolled copies make are ahead of their uses by so many registers: their latency.
constexpr std::int64_t registers_ahead = 16;
/// Registers of an address, and of those for which the models' base has room.
constexpr int pointer_registers = 2, pointers_of_base = 4;
/// Truth values that are computed have registers of their own, so many.
constexpr std::int64_t predicates = 7;
/// A sine of a large argument is reduced by six words of 2/pi: what holds their product beside the registers of others.
constexpr int of_reduction = 9;
/// Instructions of a function that holds two numbers beside its result, as a numerator and a denominator.
constexpr int long_function = 8;

int words(std::int64_t elements, ir::DType dtype) {
  return static_cast<int>((elements * ir::row(dtype).bits + register_bits - 1) / register_bits);
}

int size_of(const ir::Kernel& kernel, std::size_t which) {
  if (which >= kernel.arrays.size()) return words(1, kernel.lets[which - kernel.arrays.size()].dtype);
  return words(elements_of(kernel.arrays[which]), kernel.arrays[which].dtype);
}

/// A size that is alive from `first` up to, and without, `end`.
void add_span(std::vector<std::int64_t>& change, std::int32_t first, std::int32_t end, std::int64_t size) {
  change[static_cast<std::size_t>(first)] += size;
  change[static_cast<std::size_t>(std::max(end, first + 1))] -= size;
}

/// Registers that an operation takes beside its operands and its result while it is computed.
int parts_of(const ir::Kernel& kernel, const ir::Value& value) {
  if (value.kind != ir::ValueKind::op) return 0;
  const ir::Computed& row = ir::computed(value.op, value.dtype, kernel.arithmetic);
  const int instructions = row.fma + row.alu + row.xu;
  return (instructions > 1 ? 1 : 0) + (instructions > long_function ? 1 : 0);
}

/// Registers of a way that only large arguments take, one element after the other.
int parts_apart(const ir::Value& value) {
  const bool reduces = value.op == ir::Op::sin || value.op == ir::Op::cos || value.op == ir::Op::tan;
  return value.kind == ir::ValueKind::op && reduces ? of_reduction : 0;
}

/// Values: arrays in registers, then lets.
class ValueLives {
 public:
  ValueLives(const ir::Kernel& kernel, LiveScratch& scratch)
      : kernel_(kernel),
        lives_(scratch.lives),
        nests_(scratch.nests),
        loops_(scratch.loops),
        change_(scratch.values),
        ahead_(scratch.ahead) {
    lives_.assign(kernel.arrays.size() + kernel.lets.size(), {});
    nests_.clear();
    loops_.clear();
    for (const ir::Value& value : kernel.values) note_vector(value.element);
    for (const ir::Stmt& stmt : kernel.body) note_vector(stmt.target);
    for (std::int32_t at = 0; at < std::ssize(kernel.body); ++at) {
      while (!loops_.empty() && kernel.body[loops_.back()].end <= at) loops_.pop_back();
      if (kernel.body[at].kind == ir::StmtKind::loop) enter(at);
      if (kernel.body[at].kind == ir::StmtKind::guard && loops_.empty() && at >= guarded_until_) {
        guard_ = at;
        guarded_until_ = kernel.body[at].end;
      }
      visit(at);
    }
    stretch_over_loops();
    for (std::size_t i = 0; i < lives_.size(); ++i)
      if (lives_[i].first != nowhere) add(i);
    for (const Nest& nest : nests_) {
      const std::int64_t ends = nest.ends.whole - nest.ends.copy, begins = nest.begins.whole - nest.begins.copy;
      add_span(change_, nest.start, nest.end, std::max(ends, begins));
      const std::int64_t widened = nest.within * (nest.extent - 1) - std::max(ends, begins);
      if (ends > 0 && widened > 0) add_span(ahead_, nest.start, nest.end, widened);
    }
  }

 private:
  void note_vector(const ir::Ref& ref) {
    if (ref.array != ir::no_id && ref.lane != ir::no_expr) vector_vars_ |= kernel_.indices[ref.lane].vars;
  }

  void enter(std::int32_t at) {
    const ir::Stmt& stmt = kernel_.body[at];
    const bool outer = loops_.empty() || !kernel_.body[loops_.back()].unrolled;
    loops_.push_back(at);
    if (stmt.unrolled && outer)
      nests_.push_back({at,
                        stmt.end,
                        vector_vars_.has(stmt.var) ? 1 : kernel_.indices.vars[stmt.var].extent,
                        ir::VarSet::only(stmt.var),
                        {},
                        {}});
  }
  /// Copies of a statement here that the assembler computes side by side.
  std::int64_t side_by_side() const {
    std::int64_t vector = 1, others = 1;
    for (std::size_t i = loops_.size(); i-- > 0 && kernel_.body[loops_[i]].unrolled;) {
      const ir::VarId var = kernel_.body[loops_[i]].var;
      (vector_vars_.has(var) ? vector : others) *= kernel_.indices.vars[var].extent;
    }
    return std::max(vector, std::min(vector * others, least_side_by_side));
  }
  /// Copies of a statement here.
  std::int64_t copies() const {
    std::int64_t all = 1;
    for (std::size_t i = loops_.size(); i-- > 0 && kernel_.body[loops_[i]].unrolled;)
      all *= kernel_.indices.vars[kernel_.body[loops_[i]].var].extent;
    return all;
  }
  std::int32_t rolled() const {
    for (std::size_t i = loops_.size(); i-- > 0;)
      if (!kernel_.body[loops_[i]].unrolled) return loops_[i];
    return nowhere;
  }
  ir::VarSet vars_of(const ir::Ref& ref) const {
    ir::VarSet vars;
    for (const ir::ExprId part : {ref.subs[0], ref.subs[1], ref.lane})
      if (part != ir::no_expr) vars |= kernel_.indices[part].vars;
    return vars;
  }

  void use(std::size_t which, std::int32_t at, const ir::VarSet& vars) {
    Life& life = lives_[which];
    const bool in_nest = !nests_.empty() && at < nests_.back().end && vars.overlaps(nests_.back().var);
    const std::int32_t nest = in_nest ? static_cast<std::int32_t>(nests_.size() - 1) : nowhere;
    const bool left_out = life.constant && at < guarded_until_ && life.first < guard_;
    if (life.lazy && life.loop == rolled()) life.first = nowhere;
    life.lazy = false;
    if (life.first == nowhere) {
      life.first = left_out ? guard_ : at;
      life.first_nest = left_out ? nowhere : nest;
      life.copies = which < kernel_.arrays.size() ? 1 : side_by_side();
    }
    life.last = at;
    life.last_nest = nest;
    life.last_vars = vars;
  }
  void use_array(const ir::Ref& ref, std::int32_t at) {
    if (ref.array != ir::no_id && kernel_.arrays[ref.array].space == ir::Space::registers)
      use(ref.array, at, vars_of(ref));
  }
  void use_let(ir::LetId let, std::int32_t at) {
    if (let != ir::no_id) use(kernel_.arrays.size() + let, at, {});
  }
  int use_value(ir::ValueId id, std::int32_t at) {
    if (id == ir::no_value) return 0;
    const ir::Value& value = kernel_.values[id];
    if (value.kind == ir::ValueKind::convert) converted(kernel_.values[value.operands[0]], value.dtype, at);
    use_let(value.let, at);
    use_array(value.element, at);
    int parts = parts_of(kernel_, value);
    apart_ = std::max(apart_, parts_apart(value));
    for (const ir::ValueId operand : value.operands) parts = std::max(parts, use_value(operand, at));
    return parts;
  }
  /// Whether it is an array's in registers.
  bool held(ir::ArrayId array) const {
    return array != ir::no_id && kernel_.arrays[array].space == ir::Space::registers;
  }
  void converted(const ir::Value& narrow, ir::DType to, std::int32_t at) {
    if (held(narrow.element.array)) widened(narrow.element.array, to, at);
    if (narrow.kind != ir::ValueKind::let) return;
    Life& life = lives_[kernel_.arrays.size() + narrow.let];
    life.converted = at;
    life.to = to;
    if (life.kept != ir::no_id) widened(life.kept, to, at);
  }
  /// An array that keeps a value is converted where the value is.
  void kept(const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::assign || stmt.op != ir::Op::copy || stmt.value == ir::no_value) return;
    const ir::Value& value = kernel_.values[stmt.value];
    if (value.kind != ir::ValueKind::let || !held(stmt.target.array)) return;
    Life& life = lives_[kernel_.arrays.size() + value.let];
    life.kept = stmt.target.array;
    if (life.converted != nowhere) widened(life.kept, life.to, life.converted);
  }
  /// Elements that are converted in two places are converted once, and what is kept is the wider number.
  void widened(ir::ArrayId array, ir::DType to, std::int32_t at) {
    Life& life = lives_[array];
    const int bits = ir::row(kernel_.arrays[array].dtype).bits;
    if (life.converted != nowhere && life.converted != at) life.wider = std::max(life.wider, ir::row(to).bits / bits);
    life.converted = at;
  }
  void visit(std::int32_t at) {
    const ir::Stmt& stmt = kernel_.body[at];
    apart_ = 0;
    const int parts = use_value(stmt.value, at);
    if (parts > 0) add_span(change_, at, at + 1, parts * side_by_side() + apart_);
    if (stmt.kind != ir::StmtKind::declare || stmt.value != ir::no_value) use_array(stmt.target, at);
    if (stmt.kind == ir::StmtKind::declare && held(stmt.target.array) && is_constant(stmt.value)) {
      wait_for_use(stmt.target.array);
      lives_[stmt.target.array].constant = true;
    }
    note_written(stmt);
    use_let(stmt.let, at);
    if (stmt.kind == ir::StmtKind::let && kernel_.values[stmt.value].kind == ir::ValueKind::op)
      lives_[kernel_.arrays.size() + stmt.let].predicate = kernel_.lets[stmt.let].dtype == ir::DType::pred;
    kept(stmt);
    if (stmt.kind == ir::StmtKind::load) loaded(stmt, at);
  }
  bool is_constant(ir::ValueId id) const {
    return id != ir::no_value && kernel_.values[id].kind == ir::ValueKind::constant;
  }
  /// The machine's zero is a register of its own, and a vector of it is stored from there.
  void note_written(const ir::Stmt& stmt) {
    const bool writes = stmt.kind == ir::StmtKind::assign || stmt.kind == ir::StmtKind::load ||
                        stmt.kind == ir::StmtKind::shuffle ||
                        (stmt.kind == ir::StmtKind::declare && stmt.value != ir::no_value);
    if (!writes || !held(stmt.target.array)) return;
    Life& life = lives_[stmt.target.array];
    const bool plain =
        stmt.kind == ir::StmtKind::declare || (stmt.kind == ir::StmtKind::assign && stmt.op == ir::Op::copy);
    const bool zero = plain && is_constant(stmt.value) && is_zero(kernel_.values[stmt.value]);
    life.zero = zero && (life.zero || !life.written);
    life.written = true;
  }
  static bool is_zero(const ir::Value& value) {
    return value.integer == 0 && value.real == 0 && !std::signbit(value.real);
  }
  /// What was made here takes a register from its first use on, if that is in the same loop.
  void wait_for_use(std::size_t which) {
    lives_[which].lazy = true;
    lives_[which].loop = rolled();
  }
  void loaded(const ir::Stmt& stmt, std::int32_t at) {
    const std::size_t which = stmt.let != ir::no_id ? kernel_.arrays.size() + stmt.let : stmt.target.array;
    Life& life = lives_[which];
    if (stmt.space == ir::Space::global && stmt.policy == ir::Policy::again) wait_for_use(which);
    if (stmt.let == ir::no_id && stmt.width * ir::row(kernel_.arrays[which].dtype).bits < register_bits)
      life.loose = true;
    if (is_array(stmt.space) && life.first == at)
      life.copies = std::clamp<std::int64_t>(registers_ahead / std::max(1, size_of(kernel_, which)), 1, copies());
  }

  void stretch_over_loops() {
    for (std::int32_t at = 0; at < std::ssize(kernel_.body); ++at) {
      const ir::Stmt& stmt = kernel_.body[at];
      if (stmt.kind != ir::StmtKind::loop) continue;
      for (Life& life : lives_) {
        if (life.first == nowhere || life.first >= at || life.last <= at || life.last >= stmt.end) continue;
        if (stmt.unrolled && life.last_vars.has(stmt.var)) continue;
        life.last = stmt.end - 1;
        life.last_vars = {};
        life.last_nest = nowhere;
        life.stretched = true;
      }
    }
  }

  void add(std::size_t which) {
    const Life& life = lives_[which];
    if (life.zero) return;
    const std::int64_t copies = life.predicate ? std::max<std::int64_t>(0, life.copies - predicates) : life.copies;
    const std::int64_t packed = std::int64_t{size_of(kernel_, which)} * life.wider;
    const std::int64_t size = copies * (life.loose ? std::max(packed, elements_of(kernel_.arrays[which])) : packed);
    std::int32_t from = life.first, to = life.last + (life.stretched ? 1 : 0);
    const auto copy_of = [&](const Nest& nest) { return (size + nest.extent - 1) / nest.extent; };
    if (life.last_nest != nowhere && life.first < nests_[life.last_nest].start) {
      Nest& nest = nests_[life.last_nest];
      nest.ends.whole += size;
      nest.ends.copy += copy_of(nest);
      add_span(change_, nest.start, to, copy_of(nest));
      to = nest.start;
    }
    if (life.first_nest != nowhere && life.last >= nests_[life.first_nest].end) {
      Nest& nest = nests_[life.first_nest];
      nest.begins.whole += size;
      nest.begins.copy += copy_of(nest);
      add_span(change_, from, nest.end, copy_of(nest));
      from = nest.end;
    }
    if (from < to || life.first == life.last) add_span(change_, from, to, size);
    if (which >= kernel_.arrays.size()) return;
    for (Nest& nest : nests_)
      if (life.first > nest.start && life.last < nest.end) nest.within += size;
  }

  const ir::Kernel& kernel_;
  std::vector<Life>& lives_;
  std::vector<Nest>& nests_;
  std::vector<std::int32_t>& loops_;  ///< around the statement that is looked at, outermost first
  std::vector<std::int64_t>& change_;
  std::vector<std::int64_t>& ahead_;
  ir::VarSet vector_vars_;                      ///< of loops over the elements of a vector
  std::int32_t guard_ = 0, guarded_until_ = 0;  ///< the outermost guard that no loop is around, and its end
  int apart_ = 0;                               ///< registers of the statement's way for large arguments
};

/// Addresses that are ready when the first of a run of accesses is made: a pointer for each buffer.
class PointerLives {
 public:
  PointerLives(const ir::Kernel& kernel, LiveScratch& scratch, std::vector<std::int64_t>& change)
      : kernel_(kernel), last_(scratch.accessed), change_(change) {
    last_.assign(kernel.buffers.size(), nowhere);
    std::int32_t start = 0, at = 0;
    for (const auto end = static_cast<std::int32_t>(kernel.body.size()); at < end; ++at) {
      const ir::Stmt& stmt = kernel.body[at];
      const bool rolled = stmt.kind == ir::StmtKind::loop && !stmt.unrolled;
      if (rolled || stmt.kind == ir::StmtKind::issue || stmt.kind == ir::StmtKind::barrier || exchanges_lanes(stmt)) {
        end_run(start);
        if (rolled) at = stmt.end - 1;
        start = at + 1;
      } else if (ir::is_memory(stmt) && stmt.space == ir::Space::global) {
        last_[stmt.memory] = at;
      }
    }
    end_run(start);
  }

 private:
  void end_run(std::int32_t start) {
    for (std::int32_t& last : last_) {
      if (last != nowhere && last > start) add_span(change_, start, last, pointer_registers);
      last = nowhere;
    }
  }
  const ir::Kernel& kernel_;
  std::vector<std::int32_t>& last_;
  std::vector<std::int64_t>& change_;
};

/// Indices: what stays of them, variables, pointers and counters.
class IndexLives {
 public:
  IndexLives(const ir::Kernel& kernel, LiveScratch& scratch, std::vector<std::int64_t>& change)
      : kernel_(kernel), uses_(scratch.uses), change_(change) {
    uses_.clear();
    variables_.fill({nowhere, nowhere});
    for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v) {
      const ir::VarKind kind = kernel.indices.vars[v].kind;
      if (kind == ir::VarKind::loop || (kind == ir::VarKind::block && kernel.persistent))
        moving_ |= ir::VarSet::only(v);
    }
    const auto end = static_cast<std::int32_t>(kernel.body.size());
    if (kernel.persistent) add_span(change_, 0, end, 1);
    walk(0, end, kernel.persistent ? 0 : nowhere, kernel.persistent ? end : nowhere, false);
    add_parts();
    for (const auto& [first, last] : variables_)
      if (first != nowhere && last > first) add_span(change_, first, last, 1);
  }

 private:
  void walk(std::int32_t from, std::int32_t to, std::int32_t loop, std::int32_t loop_end, bool walks) {
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[at];
      const bool rolled = stmt.kind == ir::StmtKind::loop && !stmt.unrolled;
      if (rolled) {
        add_span(change_, at, stmt.end, 1);
        walk(at + 1, stmt.end, at, stmt.end, true);
        at = stmt.end - 1;
        continue;
      }
      if (ir::is_memory(stmt)) {
        const bool pointer =
            walks && stmt.space == ir::Space::global && kernel_.indices[stmt.expr].vars.overlaps(moving_);
        use(stmt.expr, at, loop, loop_end, pointer ? stmt.memory + 1 : 0);
      }
      if (stmt.kind != ir::StmtKind::guard || stmt.otherwise) continue;
      for (const ir::Condition& condition : stmt.conditions)
        for (const ir::ExprId side : {condition.a, condition.b})
          if (side != ir::no_expr && stmt.value == ir::no_value) use(side, at, loop, loop_end, 0);
    }
  }

  /// `pointer`: a buffer and one, where it is walked through by its address; else 0.
  void use(ir::ExprId id, std::int32_t at, std::int32_t loop, std::int32_t loop_end, std::uint32_t pointer) {
    std::uint64_t key = pointer;
    std::int32_t parts = 0;
    ir::VarSet vars;
    for (const ir::Linear& linear : kernel_.indices.linear(id)) {
      const ir::VarSet& in = kernel_.indices.terms[linear.term].vars;
      if (in.overlaps(moving_)) continue;
      ++parts;
      vars |= in;
      key = (key ^ linear.term) * 0x9e3779b97f4a7c15U;
      key = (key ^ static_cast<std::uint64_t>(linear.coefficient)) * 0x9e3779b97f4a7c15U;
    }
    if (parts == 0 && pointer == 0) return;
    // What stays the same in a loop is made in front of it.
    const std::int32_t made = loop != nowhere ? loop : at;
    for (ir::VarSet left = vars; !left.empty(); left.drop_first()) {
      Variable& variable = variables_[left.first()];
      if (variable.first == nowhere || made < variable.first) variable.first = made;
    }
    const bool is_variable = pointer == 0 && parts == 1;
    uses_.push_back({key, made, loop != nowhere ? loop_end : at, is_variable ? 0 : pointer != 0 ? 2 : 1, vars});
  }

  /// Parts that are equal are one.
  void add_parts() {
    std::sort(uses_.begin(), uses_.end(), [](const IndexUse& a, const IndexUse& b) {
      return std::pair(a.key, a.first) < std::pair(b.key, b.first);
    });
    for (std::size_t i = 0; i < uses_.size();) {
      const IndexUse& use = uses_[i];
      std::int32_t end = use.end;
      for (++i; i < uses_.size() && uses_[i].key == use.key; ++i) end = std::max(end, uses_[i].end);
      if (use.size > 0 && end > use.first) add_span(change_, use.first, end, use.size);
      const std::int32_t needed = use.size > 0 ? use.first : end;
      for (ir::VarSet left = use.vars; !left.empty(); left.drop_first()) {
        std::int32_t& last = variables_[left.first()].last;
        last = std::max(last, needed);
      }
    }
  }

  struct Variable {
    std::int32_t first = nowhere, last = nowhere;
  };
  const ir::Kernel& kernel_;
  std::vector<IndexUse>& uses_;
  std::vector<std::int64_t>& change_;
  ir::VarSet moving_;  ///< variables of loops
  std::array<Variable, ir::max_vars> variables_;
};

/// Parts of addresses that copies have each for itself: quotients and remainders of a copy's number. Those that a later
/// nest needs again wait in registers, one for each copy, unless threads wait for one another meanwhile: of those the
/// printed text makes many again (codegen/cuda/renewal.cpp).
class TermLives {
 public:
  TermLives(const ir::Kernel& kernel, LiveScratch& scratch, std::vector<std::int64_t>& change)
      : kernel_(kernel), uses_(scratch.terms), open_(scratch.loops), change_(change) {
    uses_.clear();
    for (std::int32_t at = 0; at < std::ssize(kernel.body); ++at) {
      const ir::Stmt& stmt = kernel.body[at];
      const bool nest = stmt.kind == ir::StmtKind::loop && stmt.unrolled;
      if (nest) {
        walk(at);
        at = stmt.end - 1;
      } else if (stmt.kind == ir::StmtKind::loop || stmt.kind == ir::StmtKind::barrier || exchanges_lanes(stmt)) {
        end_run();
      }
    }
    end_run();
  }

 private:
  void walk(std::int32_t nest) {
    open_.clear();
    for (std::int32_t at = nest; at < kernel_.body[nest].end; ++at) {
      while (!open_.empty() && kernel_.body[open_.back()].end <= at) open_.pop_back();
      const ir::Stmt& stmt = kernel_.body[at];
      if (stmt.kind == ir::StmtKind::loop) open_.push_back(at);
      if (is_memory(stmt)) note(stmt.expr, at, nest, true);
    }
  }

  void note(ir::ExprId id, std::int32_t at, std::int32_t nest, bool part) {
    if (id == ir::no_expr) return;
    for (const ir::Linear& linear : kernel_.indices.linear(id)) {
      const ir::Term& term = kernel_.indices.terms[linear.term];
      if (term.kind != ir::TermKind::div && term.kind != ir::TermKind::mod) continue;
      std::int64_t copies = 1;
      for (const std::int32_t loop : open_) {
        const ir::VarId var = kernel_.body[loop].var;
        if (kernel_.body[loop].unrolled && term.vars.has(var)) copies *= kernel_.indices.vars[var].extent;
      }
      if (copies > 1) uses_.push_back({linear.term, at, nest, copies, part});
      note(term.a, at, nest, false);
    }
  }

  void end_run() {
    std::sort(uses_.begin(), uses_.end(),
              [](const TermUse& a, const TermUse& b) { return std::pair(a.term, a.at) < std::pair(b.term, b.at); });
    for (std::size_t i = 0; i < uses_.size();) {
      const TermUse& first = uses_[i];
      bool part = false;
      std::size_t last = i;
      for (; i < uses_.size() && uses_[i].term == first.term; ++i) {
        part = part || (uses_[i].part && uses_[i].nest == first.nest);
        last = i;
      }
      if (part && uses_[last].nest != first.nest) add_span(change_, first.at, uses_[last].at, first.copies);
    }
    uses_.clear();
  }

  const ir::Kernel& kernel_;
  std::vector<TermUse>& uses_;
  std::vector<std::int32_t>& open_;  ///< loops around the statement that is looked at
  std::vector<std::int64_t>& change_;
};

}  // namespace

void fill_registers(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  LiveScratch& live = scratch.live;
  for (std::vector<std::int64_t>* const change : {&live.values, &live.ahead, &live.indices, &live.pointers})
    change->assign(kernel.body.size() + 2, 0);
  const ValueLives of_values(kernel, live);
  const IndexLives of_indices(kernel, live, live.indices);
  const TermLives of_terms(kernel, live, live.indices);
  const PointerLives of_pointers(kernel, live, live.pointers);
  std::int64_t value = 0, ahead = 0, index = 0, pointer = 0, most = 0, early = 0;
  for (std::size_t at = 0; at < live.values.size(); ++at) {
    value += live.values[at];
    ahead += live.ahead[at];
    index += live.indices[at];
    pointer += live.pointers[at];
    const std::int64_t held = value + std::max<std::int64_t>(0, index - 1);
    most = std::max(most, held);
    early = std::max(early, held + std::max<std::int64_t>(ahead, pointer - pointers_of_base));
  }
  work.live_registers = static_cast<int>(most);
  work.early_registers = static_cast<int>(early);
}

}  // namespace tailor::costmodel
