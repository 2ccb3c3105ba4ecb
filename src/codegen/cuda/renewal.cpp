// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Indices that are computed again. In: a kernel. Out: where the printed text makes numbers of threads opaque. The
// program says nothing of it and no counter sees it: the copy of a number costs no instruction.
//
// What a phase computes of indices a later one asks for again. The compiler sees that both are equal and keeps the
// results in registers meanwhile. Mostly that is one number for all copies of a statement, since what copies add to an
// address is a constant. Some indices each copy has for itself: a quotient or a remainder of its own number, where rows
// lie in pieces, and its own number as a value, where elements are compared with a place. Thirty copies then hold
// thirty registers from phase to phase, to save two or three instructions each; and the assembler behind the compiler
// keeps them even where it has to spill others. Only these are made again: everywhere else a renewal changes registers
// and instructions by a few either way.
//
// So: a nest of unrolled loops that asks for such an index which was asked for before the last wait of threads (a
// barrier, a shuffle) begins with new numbers. Not in loops that stay loops, whose indices are made in front of them.
#include "codegen/cuda/renewal.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tailor::codegen {

using namespace ir;

namespace {

/// Copies with indices of their own for which fewer registers are worth their instructions.
constexpr std::int64_t least_copies = 8;

/// A term of an address, or a whole index as a value (true), that copies have each for itself.
using Index = std::pair<bool, std::uint32_t>;

bool waits(const Stmt& s) { return exchanges_lanes(s) || s.kind == StmtKind::barrier; }

class Walk {
 public:
  explicit Walk(const Kernel& kernel) : kernel_(kernel) {
    for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v)
      if (kernel.indices.vars[v].kind == VarKind::thread) threads_ |= VarSet::only(v);
    for (std::size_t at = 0; at < kernel.body.size() && !kernel.persistent; ++at) {
      const Stmt& s = kernel.body[at];
      if (waits(s)) meet();
      if (s.kind != StmtKind::loop) continue;
      s.unrolled ? nest(at) : meet();
      at = static_cast<std::size_t>(s.end) - 1;
    }
  }
  std::vector<Renewal> found = {};

 private:
  void meet() { before_.merge(since_); }

  void nest(std::size_t first) {
    const auto end = static_cast<std::size_t>(kernel_.body[first].end);
    copied_ = {};
    asked_.clear();
    bool has_waits = false;
    for (std::size_t at = first; at < end; ++at) {
      const Stmt& s = kernel_.body[at];
      has_waits = has_waits || waits(s);
      if (s.kind == StmtKind::loop && s.unrolled) copied_ |= VarSet::only(s.var);
      if (is_memory(s) && s.space == Space::global) terms(s.expr);
      for (const Condition& c : s.conditions)
        if (s.kind == StmtKind::guard && c.a != no_expr) terms(c.a);
      value(s.value);
    }
    Renewal renewal{first, {}};
    for (const Index& index : asked_)
      if (before_.contains(index)) renewal.vars |= vars_of(index) & threads_;
    if (!renewal.vars.empty()) {
      found.push_back(renewal);
      before_.clear();
      since_.clear();
    }
    since_.insert(asked_.begin(), asked_.end());
    if (has_waits) meet();
  }

  const VarSet& vars_of(const Index& index) const {
    return index.first ? kernel_.indices[index.second].vars : kernel_.indices.terms[index.second].vars;
  }

  /// Whether each copy has it for itself, and each thread.
  bool is_own(const VarSet& vars) const {
    std::int64_t copies = 1;
    for (VarSet left = vars & copied_; !left.empty(); left.drop_first())
      copies *= kernel_.indices.vars[left.first()].extent;
    return copies >= least_copies && vars.overlaps(threads_);
  }

  void terms(ExprId expr) {
    for (const Linear& part : kernel_.indices.linear(expr)) {
      const Term& term = kernel_.indices.terms[part.term];
      if (term.kind != TermKind::var && is_own(term.vars)) asked_.insert({false, part.term});
    }
  }

  void value(ValueId id) {
    if (id == no_value) return;
    const Value& v = kernel_.values[id];
    if (v.kind == ValueKind::index && is_own(kernel_.indices[v.index].vars)) asked_.insert({true, v.index});
    for (const ValueId operand : v.operands) value(operand);
  }

  const Kernel& kernel_;
  VarSet threads_ = {}, copied_ = {};         ///< variables of threads; of the nest's loops so far
  std::set<Index> before_ = {}, since_ = {};  ///< the last wait
  std::set<Index> asked_ = {};                ///< in the nest
};

}  // namespace

std::vector<Renewal> renewals(const Kernel& kernel) { return std::move(Walk(kernel).found); }

}  // namespace tailor::codegen
