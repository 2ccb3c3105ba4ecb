// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one execution of a statement costs, in instructions per pipe. Arithmetic comes from the cost columns of the
// operation table, as the kernel's class of arithmetic has them, for what the compiler leaves of it (values.cpp): what
// nobody reads costs nothing, what is the same in all copies and passes of a loop is charged to the loop, a product
// that sums take in is part of their multiply-adds. Of a division that is the part that its divisor alone decides.
// Values repeated in a scope count each time though the compiler may merge them.
//
// Addresses are an estimate: one instruction for an access outside unrolled loops, inside of which the offset is part
// of the instruction, as it is where an access before differs by a constant alone; and for each quotient or remainder,
// once where its number changes, a multiplication and a shift, and a subtraction for what is left; one instruction
// where the divisor is a power of two. A number made of indices has an addition for what copies add to it; the rest is
// made where it changes. A register that starts from a number, as where a guard may leave out a load, takes a move,
// but for those of copies, of which most are known to be loaded or not: it is counted with branches, since moves go to
// whichever pipe is free. Everything here is per statement, nothing
// depends on how often it runs.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "costmodel/merged.h"
#include "costmodel/scratch.h"
#include "ir/kernel/roundings.h"
#include "ir/rewrite/integer_work.h"

namespace tailor::costmodel {

namespace {

using ir::DType;
using ir::IntegerRow;
using ir::LastOperand;
using ir::OperandPart;
using ir::StmtKind;

bool is_half(DType dtype) { return ir::is_floating(dtype) && ir::row(dtype).bits == 16; }
constexpr bool is_byte(DType dtype) { return ir::is_floating(dtype) && ir::row(dtype).bits == 8; }

/// Instructions of a conversion between a type of 8 bits and f32.
struct ByteConversion {
  int fma = 0, alu = 0, widen = 0, pack = 0;
};
struct ByteRow {
  DType dtype;
  ByteConversion to_float, from_float;
};
/// Counted in the sm_90 machine code of 16 elements of a vector that is loaded or stored: the texts of
/// codegen/cuda/prelude_narrow.cpp, and taking bytes out of a word and putting them into one. Machines before sm_89
/// take for f8e4m3fn and f8e5m2 what the others take.
constexpr auto byte_rows = std::to_array<ByteRow>({
    {DType::f8e4m3fn, {.alu = 1, .widen = 1, .pack = 1}, {.alu = 4, .pack = 1}},
    {DType::f8e5m2, {.alu = 2, .widen = 1}, {.alu = 6, .pack = 1}},
    {DType::f8e4m3, {.fma = 2, .alu = 7}, {.fma = 1, .alu = 14}},
    {DType::f8e3m4, {.fma = 2, .alu = 7}, {.fma = 1, .alu = 14}},
    {DType::f8e4m3fnuz, {.fma = 2, .alu = 6}, {.fma = 1, .alu = 14}},
    {DType::f8e5m2fnuz, {.fma = 2, .alu = 6}, {.fma = 1, .alu = 14}},
    {DType::f8e4m3b11fnuz, {.fma = 2, .alu = 6}, {.fma = 1, .alu = 14}},
});
/// By type, so that a look-up is one load.
constexpr auto byte_conversions = [] {
  std::array<ByteRow, ir::dtype_table.size()> all{};
  for (const ByteRow& one : byte_rows) row_for(all, one.dtype) = one;
  return all;
}();
static_assert([] {
  for (const ir::DTypeRow& type : ir::dtype_table)
    if (is_byte(type.dtype) && !type.cuda.empty() && row_for(byte_conversions, type.dtype).dtype != type.dtype)
      return false;
  return true;
}());

void add(Pipes& pipes, const ByteConversion& each) {
  pipes.fma += each.fma;
  pipes.alu += each.alu;
  pipes.widen += each.widen;
  pipes.pack += each.pack;
}

/// Maxima and minima that an operation is made of.
int extremes_of(ir::Op op) {
  if (op == ir::Op::maximum || op == ir::Op::minimum) return 1;
  return op == ir::Op::clamp ? 2 : 0;
}

void add_operation(Pipes& pipes, ir::Op op, DType dtype, ir::Arithmetic arithmetic) {
  const ir::Computed& row = ir::computed(op, dtype, arithmetic);
  const int all = row.fma + row.alu + row.xu;
  if (const int extremes = extremes_of(op); extremes > 0 && ir::row(dtype).bits > 32) {
    // A comparison and a selection, of f64 one more that keeps NaN.
    (dtype == DType::f64 ? pipes.f64 : pipes.alu) += 2 * extremes;
    pipes.alu += 2 * extremes;
  } else if (dtype == DType::f64) {
    pipes.f64 += all;
  } else if (ir::is_floating(dtype)) {
    pipes.fma += row.fma;
    pipes.alu += row.alu;
    pipes.xu += row.xu;
    pipes.extremes += extremes_of(op);
  } else if (op == ir::Op::multiply) {
    pipes.fma += registers_of(dtype);  // integer multiply-add runs on the FMA pipe
  } else {
    pipes.alu += std::int64_t{all} * registers_of(dtype);
  }
}

LastOperand last_operand(const ir::Kernel& kernel, const ir::Value& v) {
  if (v.operands[1] == ir::no_value || kernel.values[v.operands[1]].kind != ir::ValueKind::constant)
    return LastOperand::any;
  const bool divides = v.op == ir::Op::divide || v.op == ir::Op::remainder;
  const std::int64_t constant = kernel.values[v.operands[1]].integer;
  return divides && constant > 0 && std::has_single_bit(static_cast<std::uint64_t>(constant))
             ? LastOperand::power_of_two
             : LastOperand::constant;
}

/// The row of an operation on integers, where it has one.
const IntegerRow* integer_row(const ir::Kernel& kernel, const ir::Value& v) {
  if (ir::is_floating(v.dtype) || v.dtype == DType::pred) return nullptr;
  return ir::integer_row(v.op, last_operand(kernel, v), ir::is_signed(v.dtype));
}

/// The assembler gives sums of two registers to the multiply-adds, which are free where integers are computed; those
/// with a constant it does not.
bool is_sum_of_integers(const ir::Kernel& kernel, const ir::Value& v) {
  if ((v.op != ir::Op::add && v.op != ir::Op::subtract) || !ir::is_integer(v.dtype) || ir::row(v.dtype).bits != 32)
    return false;
  return std::none_of(v.operands.begin(), v.operands.end(), [&](ir::ValueId id) {
    return id != ir::no_value && kernel.values[id].kind == ir::ValueKind::constant;
  });
}

void add(Pipes& pipes, const IntegerRow& row, int registers) {
  pipes.fma += std::int64_t{row.fma} * registers;
  pipes.alu += std::int64_t{row.alu} * registers;
  pipes.xu += std::int64_t{row.xu} * registers;
  pipes.narrow += std::int64_t{row.narrow} * registers;
}

/// Instructions that take elements of up to 16 bits out of the words that an access brings, or put them into those that
/// it takes away; in quarters, of each element. What floats take is part of their conversions.
struct Packing {
  int bits;
  bool is_pred;
  int load, store;
};
/// Counted as the rows above are.
constexpr auto packings = std::to_array<Packing>({{8, false, 4, 3}, {8, true, 4, 10}, {16, false, 3, 3}});

std::int64_t packing_instructions(const ir::Stmt& access, DType dtype) {
  if (access.width == 1 || ir::is_floating(dtype)) return 0;
  for (const Packing& row : packings)
    if (row.bits == ir::row(dtype).bits && row.is_pred == (dtype == DType::pred))
      return ((access.kind == StmtKind::load ? row.load : row.store) * access.width + 3) / 4;
  return 0;
}

void add_conversion(Pipes& pipes, DType from, DType to) {
  if (from == to) return;
  if (is_byte(from)) {
    add(pipes, row_for(byte_conversions, from).to_float);
    return add_conversion(pipes, DType::f32, to);
  }
  if (is_byte(to)) {
    add_conversion(pipes, from, DType::f32);
    return add(pipes, row_for(byte_conversions, to).from_float);
  }
  if (from == DType::bf16 && ir::is_floating(to))
    pipes.alu += 1;  // a shift: bf16 is the upper half of f32
  else if (from == DType::pred)
    pipes.alu += 1;  // a selection
  else if (is_half(from) && ir::is_floating(to))
    pipes.widen += 1;
  else if (from == DType::f32 && is_half(to))
    pipes.pack += 1;
  else if (ir::is_narrow_integer(from) && (to == DType::f32 || is_half(to))) {
    pipes.alu += 1;  // two additions: float_of_narrow(), codegen/cuda/prelude.cpp
    pipes.fma += 1;
    pipes.pack += is_half(to);
  } else if (!ir::is_floating(from) && (to == DType::f32 || is_half(to))) {
    pipes.number += 1;
    pipes.pack += is_half(to);
  } else if (ir::is_narrow_integer(from) && to == DType::s32) {
    return;  // as it was taken out of its word
  } else if (!ir::is_floating(from) && !ir::is_floating(to) && to != DType::pred &&
             (registers_of(to) <= registers_of(from) || ir::is_unsigned(from))) {
    return;  // the lower bits, or 0 above them
  } else if (to == DType::pred)
    pipes.alu += 1;  // a comparison
  else if (ir::is_floating(from) || ir::is_floating(to))
    pipes.narrow += 1;
  else
    pipes.alu += 1;
}

/// Of a reduce_precision, counted as byte_rows are: a test for NaN, rounding of the mantissa, tests of the exponent.
std::int64_t instructions_of(ir::Digits kept, DType dtype) {
  const ir::Digits own = ir::digits_of(dtype);
  const std::int64_t all = 2 + (kept.mantissa < own.mantissa ? 4 : 0) + (kept.exponent < own.exponent ? 6 : 0);
  return all * registers_of(dtype);
}

DType type_of(const ir::Kernel& kernel, const ir::Stmt& stmt) {
  if (stmt.target.array != ir::no_id) return kernel.arrays[stmt.target.array].dtype;
  if (stmt.value != ir::no_value) return kernel.values[stmt.value].dtype;
  return stmt.let != ir::no_id ? kernel.lets[stmt.let].dtype : DType::f32;
}

DType memory_type(const ir::Kernel& kernel, const ir::Stmt& access) {
  return ir::is_array(access.space) ? kernel.arrays[access.memory].dtype : kernel.buffers[access.memory].dtype;
}

/// A quotient is a multiplication whose upper half is shifted; what is left of it takes one instruction more.
constexpr std::int64_t quotient_instructions = 2;

void add_statement(Pipes& pipes, const ir::Kernel& kernel, const ir::Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::declare:
    case StmtKind::index:
    case StmtKind::let:
      return;
    case StmtKind::assign:
      if (stmt.op != ir::Op::copy) add_operation(pipes, stmt.op, type_of(kernel, stmt), kernel.arithmetic);
      return;
    case StmtKind::load:
    case StmtKind::store:
    case StmtKind::atomic:
      pipes.memory += 1;
      pipes.alu += packing_instructions(stmt, memory_type(kernel, stmt));
      if (stmt.by_exchange) {  // the load, the operation, two comparisons with their branches
        pipes.memory += 1;
        pipes.alu += 2;
        pipes.control += 2;
        add_operation(pipes, stmt.op, row(memory_type(kernel, stmt)).compute, kernel.arithmetic);
      }
      pipes.address += stmt.space == ir::Space::distributed ? 1 : 0;  // from a block's number to its memory
      return;
    case StmtKind::loop:
      pipes.control += stmt.unrolled ? 0 : 2 * kernel.indices.vars[stmt.var].extent;
      return;
    case StmtKind::guard:  // what it asks may be known: Charges
      return;
    case StmtKind::shuffle: {
      const int steps = std::countr_zero(static_cast<unsigned>(stmt.lanes));
      pipes.shuffle += std::int64_t{steps} * registers_of(type_of(kernel, stmt));
      for (int i = 0; i < steps; ++i) add_operation(pipes, stmt.op, type_of(kernel, stmt), kernel.arithmetic);
      return;
    }
    case StmtKind::exchange: {
      const DType type = type_of(kernel, stmt);
      pipes.shuffle += registers_of(type);
      pipes.alu += type == DType::pred ? 2 : 0;  // a predicate becomes a number and is one again
      return;
    }
    case StmtKind::barrier:
      pipes.barrier += barrier_instructions(stmt);
      return;
    case StmtKind::bind:
      return;
    case StmtKind::issue:  // a comparison and a branch
      pipes.control += 2;
      return;
    case StmtKind::fence:
      pipes.memory += 1;
      return;
    case StmtKind::wait:
      pipes.control += 1;
      return;
  }
}

constexpr std::array operand_parts = std::to_array<OperandPart>({
    {ir::Op::divide, ir::Arithmetic::xla, 1, 4, 1, 0},     // its size, the scale, the scaled divisor's reciprocal
    {ir::Op::divide, ir::Arithmetic::approx, 0, 0, 1, 0},  // the reciprocal
});
/// `row` is that of an operation on integers.
const OperandPart* part_of_last_operand(ir::Op op, DType dtype, ir::Arithmetic arithmetic, const IntegerRow* row) {
  if (row != nullptr) {
    if (row->last != LastOperand::any || registers_of(dtype) > 1) return nullptr;
    if (const OperandPart* part = ir::integer_part(op, row->is_signed)) return part;
  }
  if (!ir::is_floating(dtype) || dtype == DType::f64) return nullptr;
  for (const OperandPart& part : operand_parts)
    if (part.op == op && part.by == ir::computed(op, dtype, arithmetic).by) return &part;
  return nullptr;
}

/// Puts the cost of each value where the compiler computes it.
class Charges {
 public:
  Charges(const ir::Kernel& kernel, Scratch::Body& scratch)
      : kernel_(kernel), scratch_(scratch), walk_(kernel, scratch.values), roundings_(ir::roundings(kernel)) {}

  void charge() {
    std::int32_t unrolled_until = 0;
    for (std::int32_t at = 0; at < std::ssize(kernel_.body); ++at) {
      walk_.enter(at);
      const ir::Stmt& stmt = kernel_.body[at];
      if (is_memory(stmt) || stmt.kind == StmtKind::index) quotients(stmt.expr, &Pipes::address);
      if (at >= unrolled_until) charge_once(stmt, scratch_.costs[at].pipes);
      if (stmt.kind == StmtKind::loop) unrolled_until = stmt.unrolled ? std::max(unrolled_until, stmt.end) : 0;
      if (stmt.kind == StmtKind::guard && !stmt.otherwise) asks(stmt);  // of arms the first one asks for both
      if (stmt.kind == StmtKind::let && !walk_.is_read(stmt.let)) continue;
      const auto [loop, copies] =
          stmt.kind == StmtKind::let ? walk_.needed_copies(stmt.let) : std::pair<std::int32_t, std::int64_t>(-1, 0);
      const Pipes before = scratch_.costs[at].pipes;
      made(stmt, at);
      if (loop < 0) continue;
      // What only some copies need those have, and the loop is charged for them.
      Pipes own = std::exchange(scratch_.costs[at].pipes, before);
      add(own, before, -1);
      add(scratch_.costs[static_cast<std::size_t>(loop)].pipes, own, copies);
    }
  }

 private:
  /// What a statement takes outside of unrolled loops.
  void charge_once(const ir::Stmt& stmt, Pipes& own) {
    if (is_memory(stmt)) own.address += walk_.is_first_address(stmt) ? 1 : 0;
    if (stmt.kind == StmtKind::declare && stmt.value != ir::no_value)
      own.control += registers_of(kernel_.arrays[stmt.target.array]);
  }

  void made(const ir::Stmt& stmt, std::int32_t at) {
    const ir::VarSet vars = value(stmt.value);
    walk_.define(at, vars);
    if (stmt.kind == StmtKind::let) {
      walk_.takes_logic(stmt.let, takes_logic_in(kernel_, walk_, kernel_.values[stmt.value]));
      if (walk_.is_taken_in(stmt.let)) place(vars).fma -= 1;
      if (packs(stmt.value))
        packed(stmt.value, walk_.vars_of_let(stmt.let), walk_.vector_of(stmt.let), walk_.array_of(stmt.let));
    } else if (walk_.takes_in(stmt)) {
      place(vars).fma -= 1;
    } else if (stmt.kind == StmtKind::assign && stmt.op == ir::Op::copy && packs(stmt.value)) {
      packed(stmt.value, vars, walk_.vector_of(stmt.target), stmt.target.array);
    }
  }

  /// A condition is asked where it changes, once for all guards there that have it, and not by copies that are known to
  /// meet it.
  void asks(const ir::Stmt& guard) {
    if (guard.value != ir::no_value) place(walk_.all_loops()).control += 1;
    for (const ir::Condition& condition : guard.conditions) {
      if (condition.a == ir::no_expr || guard.value != ir::no_value) continue;
      const ir::VarSet vars = walk_.vars_of_index(condition.a) | walk_.vars_of_index(condition.b);
      if (!walk_.is_first(condition, vars)) continue;
      const auto [loop, known] = walk_.known_copies(condition);
      place(vars).control += 1;
      if (known == 0 || walk_.place(vars) == loop) continue;
      place(vars).control -= 1;
      scratch_.costs[static_cast<std::size_t>(loop)].pipes.control +=
          kernel_.indices.vars[kernel_.body[loop].var].extent - known;
    }
  }

  Pipes& place(const ir::VarSet& vars) { return scratch_.costs[static_cast<std::size_t>(walk_.place(vars))].pipes; }

  /// Charges what it is made of; returns the loops whose copies and passes have it anew.
  ir::VarSet value(ir::ValueId id) {
    if (id == ir::no_value) return {};
    const ir::Value& v = kernel_.values[id];
    const bool known = walk_.first_of(v).has_value();  // each copy has one of both
    ir::VarSet vars = known ? walk_.all_loops() : ir::VarSet{}, last;
    for (std::size_t i = known ? 1 : 0; i < v.operands.size(); ++i)
      if (v.operands[i] != ir::no_value) vars |= last = value(v.operands[i]);
    if (known) return vars;
    switch (v.kind) {
      case ir::ValueKind::constant:
        return {};
      case ir::ValueKind::let:
        return walk_.vars_of_let(v.let);
      case ir::ValueKind::element:
        return walk_.vars_of(v.element);
      case ir::ValueKind::op: {
        if (v.op == ir::Op::reduce_precision) {
          place(vars).alu += instructions_of(v.digits, v.dtype);
          return vars;
        }
        const bool compares = v.op == ir::Op::compare && v.operands[0] != ir::no_value;
        const DType type = compares ? kernel_.values[v.operands[0]].dtype : v.dtype;
        const IntegerRow* row = integer_row(kernel_, v);
        if (is_rotation(kernel_, walk_, v))
          place(vars).fma -= 1;  // the shift to the right stands for all three
        else if (is_sum_of_integers(kernel_, v))
          place(vars).fma += 1;
        else if (const std::optional<int> words = words_computed(kernel_, walk_, v))
          place(vars).alu += *words;
        else if (row != nullptr)
          add(place(vars), *row, registers_of(v.dtype));
        else
          add_operation(place(vars), v.op, type, kernel_.arithmetic);
        if (const OperandPart* part = part_of_last_operand(v.op, type, kernel_.arithmetic, row))
          shared(*part, v, vars, last);
        if (walk_.takes_in(v)) place(vars).fma -= 1;
        return vars;
      }
      case ir::ValueKind::convert:
        if (roundings_.is_rounding(id))
          place(vars).pack += 1;
        else if (!roundings_.is_rounded(kernel_, v.operands[0]))
          add_conversion(place(vars), kernel_.values[v.operands[0]].dtype, v.dtype);
        return vars;
      case ir::ValueKind::index:
        return index(v.index);
    }
    return vars;
  }

  /// What the last operand decides is charged once where that is made, whatever else is divided by it there.
  void shared(const OperandPart& part, const ir::Value& v, const ir::VarSet& vars, const ir::VarSet& last) {
    const auto take = [](Pipes& pipes, const OperandPart& p, std::int64_t times) {
      pipes.fma += times * p.fma;
      pipes.alu += times * p.alu;
      pipes.xu += times * p.xu;
      pipes.narrow += times * p.narrow;
    };
    take(place(vars), part, -1);
    const ir::ValueId operand =
        *std::find_if(v.operands.rbegin(), v.operands.rend(), [](ir::ValueId one) { return one != ir::no_value; });
    if (walk_.is_first(kernel_.values[operand], last)) {
      const auto [at, copies] = walk_.place_of_copies(last);
      take(scratch_.costs[static_cast<std::size_t>(at)].pipes, part, copies);
    }
  }

  /// Quotients and remainders of an index, each where its number changes and once there.
  void quotients(ir::ExprId id, std::int64_t Pipes::*pipe) {
    if (id == ir::no_expr) return;
    for (const ir::Linear& linear : kernel_.indices.linear(id)) {
      const ir::Term& term = kernel_.indices.terms[linear.term];
      if (term.kind == ir::TermKind::var || term.kind == ir::TermKind::picked) continue;
      const ir::VarSet vars = walk_.vars_of_term(linear.term);
      if (!walk_.is_first(linear.term, vars)) continue;
      for (const ir::ExprId part : {term.a, term.b, term.c, term.d}) quotients(part, pipe);
      const bool whole = std::has_single_bit(static_cast<std::uint64_t>(term.divisor));  // a shift, or a mask
      const bool divides = term.kind == ir::TermKind::div || term.kind == ir::TermKind::mod;
      std::int64_t& sum = place(vars).*pipe;
      if (!divides || whole) {
        sum += 1;
        continue;
      }
      if (walk_.is_first(term, vars)) sum += quotient_instructions;
      sum += term.kind == ir::TermKind::mod ? 1 : 0;
    }
  }

  /// A number made of an index: what copies add to it is a constant.
  ir::VarSet index(ir::ExprId id) {
    const ir::VarSet vars = walk_.vars_of_index(id);
    if (!walk_.is_first_number(id, vars)) return vars;
    std::int64_t parts = 0, constants = kernel_.indices[id].constant != 0 ? 1 : 0;
    ir::VarSet first;
    for (const ir::Linear& linear : kernel_.indices.linear(id)) {
      const ir::Term& term = kernel_.indices.terms[linear.term];
      if (term.kind == ir::TermKind::var && walk_.is_constant(term.var)) {
        constants = 1;
        continue;
      }
      place(walk_.vars_of_term(linear.term)).alu += parts++ > 0 ? 1 : 0;
    }
    quotients(id, &Pipes::alu);
    if (parts > 0) place(vars).alu += constants;
    return vars;
  }

  /// Whether its last step is that of an f32 to 16 bits.
  bool packs(ir::ValueId id) const {
    if (id == ir::no_value || kernel_.values[id].kind != ir::ValueKind::convert) return false;
    const DType from = kernel_.values[kernel_.values[id].operands[0]].dtype;
    return is_half(kernel_.values[id].dtype) && !is_half(from) && from != DType::f64 && from != DType::pred;
  }

  /// Neighbours of a vector are packed together, in the copies of `loop`. What was rounded is put together by two
  /// instructions.
  void packed(ir::ValueId id, const ir::VarSet& vars, std::int32_t loop, ir::ArrayId array) {
    if (loop < 0) return;
    const std::int64_t elements = kernel_.indices.vars[kernel_.body[static_cast<std::size_t>(loop)].var].extent;
    Pipes& of_loop = scratch_.costs[static_cast<std::size_t>(loop)].pipes;
    if (roundings_.is_rounding(id)) {
      of_loop.alu += roundings_.arrays[array] ? 0 : elements;
      return;
    }
    place(vars).pack -= 1;
    of_loop.pack += (elements + 1) / 2;
  }

  const ir::Kernel& kernel_;
  Scratch::Body& scratch_;
  ValueWalk walk_;
  ir::Roundings roundings_;
};

/// What lies in the code of a value beside what ordinary operands execute.
std::int64_t rare_instructions(const ir::Kernel& kernel, ir::ValueId id) {
  if (id == ir::no_value) return 0;
  const ir::Value& value = kernel.values[id];
  const ir::BranchingRow* row =
      value.kind == ir::ValueKind::op ? ir::branching(value.op, value.dtype, kernel.arithmetic) : nullptr;
  std::int64_t sum = row == nullptr ? 0 : row->rare;
  for (const ir::ValueId operand : value.operands) sum += rare_instructions(kernel, operand);
  return sum;
}

}  // namespace

std::int64_t code_instructions(const ir::Kernel& kernel, const Scratch::Body& scratch) {
  std::int64_t sum = 0, copies = 1;
  std::array<std::pair<std::int32_t, std::int64_t>, 64> open;  // unrolled loops around a statement: end and passes
  std::size_t depth = 0;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(kernel.body.size()); ++at) {
    while (depth > 0 && open[depth - 1].first <= at) copies /= open[--depth].second;
    const ir::Stmt& stmt = kernel.body[at];
    // A rolled loop's counting is there once.
    const bool rolled = stmt.kind == StmtKind::loop && !stmt.unrolled;
    const std::int64_t counting = rolled ? 2 * (kernel.indices.vars[stmt.var].extent - 1) : 0;
    sum += copies * (scratch.costs[at].issue - counting + rare_instructions(kernel, stmt.value));
    if (stmt.kind != StmtKind::loop || !stmt.unrolled || depth == open.size()) continue;
    const std::int64_t passes = std::max<std::int64_t>(1, kernel.indices.vars[stmt.var].extent);
    open[depth++] = {stmt.end, passes};
    copies *= passes;
  }
  return sum;
}

int barrier_instructions(const ir::Stmt& barrier) {
  const bool is_cluster = barrier.scope == ir::StitchLevel::cluster && barrier.half == ir::Half::both;
  return is_cluster || is_grid_barrier(barrier) ? 2 : 1;
}

std::int64_t conversions(const Pipes& p) { return p.widen + p.pack + p.number + p.narrow; }

std::int64_t instructions(const Pipes& p) {
  return p.fma + p.integer + p.alu + p.xu + p.f64 + conversions(p) + p.memory + p.shuffle + p.barrier + p.control +
         p.address;
}

void fill_costs(const ir::Kernel& kernel, Scratch::Body& scratch) {
  scratch.costs.assign(kernel.body.size(), {});
  for (std::size_t at = 0; at < kernel.body.size(); ++at)
    add_statement(scratch.costs[at].pipes, kernel, kernel.body[at]);
  Charges(kernel, scratch).charge();
  for (StmtCost& cost : scratch.costs) cost.issue = instructions(cost.pipes);
}

}  // namespace tailor::costmodel
