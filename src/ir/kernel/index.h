// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Index expressions. Every address, guard and loop bound of a kernel is an affine sum of integer x term over named
// variables with known ranges; a term is a variable, a quotient, a remainder, a selection or an exclusive or.
// Expressions are interned in a pool, so equal ones have equal ids: that is what PAI's index cache keys on.
//
// Canonical form: terms sorted by id, no zero coefficients; div and mod split off multiples of the divisor and common
// factors, and vanish when the range of what remains allows; c*div(E,c) + mod(E,c) is folded back to E. Numerators of
// div and mod are never negative (C++ truncates, the algebra floors: with this they agree); asserted at construction.
//
// Picked terms. A number that memory holds for each element, such as the row that an embedding reads, is bound to a
// variable of that kind, and its term says what else it depends on: those variables are in `vars`. Nobody knows the
// number before the kernel runs. Counters need one all the same, so `a` and `divisor` (the variable's extent, without a
// last value that means that the number is no place, rounded down a little) say which: a % divisor, where a is the
// place of the number in its array times a step that shares no factor with it. So counted numbers differ while there
// are different ones left, and neighbours are far apart. evaluate() gives that value; what executes a kernel gives the
// variable's. The constant b is how many such numbers there are, c how many elements are read at each.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace tailor::ir {

using VarId = std::uint8_t;
using TermId = std::uint32_t;
using ExprId = std::uint32_t;
inline constexpr ExprId no_expr = std::numeric_limits<ExprId>::max();
inline constexpr int max_vars = 128;

/// Inclusive.
struct Interval {
  std::int64_t low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

enum class VarKind : std::uint8_t {
  block,   ///< the virtual block index, or a part of it: (vb / divisor) % extent
  thread,  ///< a part of the thread index: (tid / divisor) % extent
  loop,    ///< a loop variable
  data,    ///< a number from memory, the same for all threads: a bind statement gives it its value
  picked,  ///< the same, but a number of each thread and trip: it stands in terms of that kind alone
};

/// Values 0 .. extent-1.
struct Var {
  std::string name;
  VarKind kind = VarKind::loop;
  std::int64_t extent = 1;
  std::int64_t divisor = 1;  ///< block and thread
  bool operator==(const Var&) const = default;
};

enum class TermKind : std::uint8_t {
  var,     ///< the variable
  div,     ///< a / divisor
  mod,     ///< a % divisor
  sel,     ///< a < b ? c : d
  xor_,    ///< a ^ b
  picked,  ///< `var`, a number from memory, which is counted as a % divisor; b and c are constants: see above
  narrow,  ///< a, known to lie in `range`; only while building: a finished kernel holds none
};

/// Variables of one pool, a bit each.
class VarSet {
 public:
  constexpr VarSet() = default;
  static constexpr VarSet only(std::size_t var) {
    VarSet set;
    set.words_[var / word_bits] = std::uint64_t{1} << (var % word_bits);
    return set;
  }
  constexpr bool has(std::size_t var) const { return (words_[var / word_bits] >> (var % word_bits) & 1) != 0; }
  constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  constexpr bool overlaps(const VarSet& other) const {
    return ((words_[0] & other.words_[0]) | (words_[1] & other.words_[1])) != 0;
  }
  /// Those of this set that `other` lacks.
  constexpr VarSet without(const VarSet& other) const {
    VarSet rest;
    for (std::size_t i = 0; i < words_.size(); ++i) rest.words_[i] = words_[i] & ~other.words_[i];
    return rest;
  }
  /// Those of both.
  constexpr VarSet operator&(const VarSet& other) const { return without(without(other)); }
  constexpr VarSet& operator|=(const VarSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  friend constexpr VarSet operator|(VarSet a, const VarSet& b) { return a |= b; }
  constexpr bool operator==(const VarSet&) const = default;
  /// The variable with the lowest number. Precondition: there is one.
  constexpr std::size_t first() const {
    const std::size_t word = words_[0] != 0 ? 0 : 1;
    return word * word_bits + static_cast<std::size_t>(std::countr_zero(words_[word]));
  }
  constexpr void drop_first() {
    std::uint64_t& word = words_[words_[0] != 0 ? 0 : 1];
    word &= word - 1;
  }

 private:
  static constexpr std::size_t word_bits = 64;
  std::array<std::uint64_t, max_vars / word_bits> words_{};
  static_assert(max_vars == 2 * word_bits);
};

struct Term {
  TermKind kind = TermKind::var;
  VarId var = 0;
  std::int64_t divisor = 1;
  ExprId a = no_expr, b = no_expr, c = no_expr, d = no_expr;
  Interval range;
  VarSet vars;  ///< those that occur
};

struct Linear {
  TermId term = 0;
  std::int64_t coefficient = 0;
  bool operator==(const Linear&) const = default;
};

struct Expr {
  std::int64_t constant = 0;
  std::uint32_t first = 0;  ///< into IndexPool::linears
  std::uint32_t count = 0;
  Interval range;
  VarSet vars;
};

/// The storage. Expression 0 is the constant 0. Building happens through IndexBuilder (index_build.h); a finished
/// kernel only reads.
struct IndexPool {
  std::vector<Var> vars;
  std::vector<Term> terms;
  std::vector<Linear> linears;
  std::vector<Expr> exprs;

  const Expr& operator[](ExprId id) const { return exprs[id]; }
  std::span<const Linear> linear(ExprId id) const { return {linears.data() + exprs[id].first, exprs[id].count}; }
};

/// The value with variable v at values[v]; of a picked term what counters take it for.
std::int64_t evaluate(const IndexPool& pool, ExprId expr, std::span<const std::int64_t> values);
/// Whether counters always take `a` for less than `b`: a picked number for one of those that are places.
bool counts_below(const IndexPool& pool, ExprId a, ExprId b);
/// The coefficient of variable v as a direct term; 0 when absent. Says nothing about v inside div, mod, sel or xor.
std::int64_t coefficient(const IndexPool& pool, ExprId expr, VarId var);
/// Whether v occurs inside a div, mod, sel or xor of the expression.
bool is_nested(const IndexPool& pool, ExprId expr, VarId var);
inline bool is_constant(const IndexPool& pool, ExprId expr) { return pool[expr].count == 0; }
/// "lane * 4 + t * 128 + vb / 8".
std::string text(const IndexPool& pool, ExprId expr);

}  // namespace tailor::ir
