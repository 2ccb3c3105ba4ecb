// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of elementwise operations, one row each. In: blocks of operands with their bounds, and the results. Out: the
// bounds of the results. Called by error_bound.cpp.
//
// A row says two things: how the errors of the operands reach the result, and how exact the function itself is on a
// GPU. The first is a formula to first order, with the second order where it matters: e(a)+e(b) for sums,
// |a|e(b)+|b|e(a)+e(a)e(b) for products. Functions without a handy formula are evaluated at both ends of a +- e(a). The
// second is a number of ulps that NVIDIA states for the accurate function; where the class of arithmetic has errors of
// its own for the operation, they take its place (ir/graph/arithmetic.def). A comparison that is closer than the bounds
// of its operands may go either way; what it selects between then counts as an error. Of a value with itself it hangs
// on nothing but whether that is a NaN, which a bound says. Elements that are not finite are rare and are looked at one
// by one.
#include "reference/bounds/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/indexed.h"
#include "ir/graph/number.h"
#include "reference/bounds/limited.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

namespace {

enum class Rule : std::uint8_t {
  ends,  ///< the function's values at the ends of the operands' intervals
  sum,   ///< exact when its operands are: both sides round the same number
  product,
  quotient,
  largest,  ///< that of the one that is chosen, and as far as others that may be chosen reach beyond it
  slope,    ///< of one operand: the row's function
};

struct ErrorRow {
  ir::Op op;
  Rule rule;
  double ulps;               ///< of the accurate function itself, beyond its rounding
  double ulps_per_argument;  ///< and for each unit of |a|
  Slope slope;
};

/// From here on a bound says so little of the argument that its ends say more than the slope: where a mask of -2e38 is
/// off by 1e36, its exponential is still 0.
constexpr double vague = 1;

/// By how much a rising function can change when its argument moves by up to `e`.
template <class Function>
double rise(double a, double e, Function function) {
  return function(a + e) - function(a - e);
}

/// Of y = c / sqrt(distance), where the distance is off by up to e.
double pole_of_root(double y, double e, double distance) {
  if (!(e < distance)) return infinity;
  const double end = std::sqrt(1 - e / distance);
  return std::fabs(y) * (e / distance) / (end + end * end);
}

/// Of the larger one of a and b, off by ea and eb, or of the smaller one: both its ends are that one of the operands'
/// ends. So the operand that is not chosen counts as far as it reaches beyond the other one.
double choice_off(double a, double ea, double b, double eb, bool larger) {
  if (ea == infinity || eb == infinity) return infinity;
  const bool first = larger ? a >= b : a <= b;
  return std::max(first ? ea : eb, (first ? eb : ea) - std::fabs(a - b));
}

constexpr auto error_table = std::to_array<ErrorRow>({
    {ir::Op::abs, Rule::slope, 0, 0, [](double, double, double e) { return e; }},
    {ir::Op::negate, Rule::slope, 0, 0, [](double, double, double e) { return e; }},
    {ir::Op::copy, Rule::slope, 0, 0, [](double, double, double e) { return e; }},
    {ir::Op::add, Rule::sum, 0, 0, nullptr},
    {ir::Op::subtract, Rule::sum, 0, 0, nullptr},
    {ir::Op::multiply, Rule::product, 0, 0, nullptr},
    {ir::Op::divide, Rule::quotient, 0, 0, nullptr},
    {ir::Op::maximum, Rule::largest, 0, 0, nullptr},
    {ir::Op::minimum, Rule::largest, 0, 0, nullptr},
    {ir::Op::clamp, Rule::largest, 0, 0, nullptr},
    {ir::Op::exp, Rule::slope, 2, 0,
     [](double a, double y, double e) { return e < vague ? y * std::expm1(e) : std::exp(a + e); }},
    {ir::Op::expm1, Rule::slope, 2, 0,
     [](double a, double y, double e) { return e < vague ? (y + 1) * std::expm1(e) : std::exp(a + e); }},
    {ir::Op::log, Rule::slope, 2, 0,
     [](double a, double, double e) { return e < std::fabs(a) ? e / (std::fabs(a) - e) : infinity; }},
    {ir::Op::log1p, Rule::slope, 2, 0,
     [](double a, double, double e) { return e < 1 + a ? e / (1 + a - e) : infinity; }},
    {ir::Op::sqrt, Rule::slope, 0, 0,
     [](double a, double, double e) {
       return e < a ? e / (std::sqrt(a) + std::sqrt(a - e)) : std::sqrt(std::fabs(a) + e);
     }},
    {ir::Op::rsqrt, Rule::slope, 2, 0, [](double a, double y, double e) { return pole_of_root(y, e, a); }},
    {ir::Op::cbrt, Rule::slope, 2, 0,
     [](double a, double y, double e) {
       if (!(e < std::fabs(a))) return std::cbrt(2 * e) + std::fabs(y);
       const double end = std::cbrt(1 - e / std::fabs(a));
       return std::fabs(y) * (e / std::fabs(a)) / (1 + end + end * end);
     }},
    {ir::Op::tanh, Rule::slope, 2, 0,
     [](double a, double, double e) { return e < vague ? e : rise(a, e, [](double x) { return std::tanh(x); }); }},
    {ir::Op::logistic, Rule::slope, 4, 0,
     [](double a, double y, double e) {
       return e < vague ? std::min(0.25 * e, y * std::expm1(e))
                      : rise(a, e, [](double x) { return 1 / (1 + std::exp(-x)); });
     }},
    {ir::Op::erf, Rule::slope, 2, 0,
     [](double a, double, double e) { return e < vague ? 1.2 * e : rise(a, e, [](double x) { return std::erf(x); }); }},
    {ir::Op::sin, Rule::slope, 4, 0, [](double, double, double e) { return e; }},
    {ir::Op::cos, Rule::slope, 4, 0, [](double, double, double e) { return e; }},
    {ir::Op::tan, Rule::ends, 6, 0, nullptr},
    {ir::Op::asin, Rule::ends, 4, 0, nullptr},
    {ir::Op::acos, Rule::ends, 4, 0, nullptr},
    {ir::Op::asinh, Rule::ends, 6, 0, nullptr},
    {ir::Op::acosh, Rule::ends, 6, 0, nullptr},
    {ir::Op::atanh, Rule::ends, 6, 0, nullptr},
    {ir::Op::sinh, Rule::ends, 6, 1, nullptr},
    {ir::Op::cosh, Rule::ends, 6, 1, nullptr},
    {ir::Op::atan2, Rule::ends, 6, 0, nullptr},
    {ir::Op::power, Rule::ends, 16, 0, nullptr},
    {ir::Op::remainder, Rule::ends, 0, 0, nullptr},
});

constexpr ErrorRow any_other{ir::Op::opaque, Rule::ends, 0, 0, nullptr};

const ErrorRow& find_error_row(ir::Op op) {
  for (const ErrorRow& entry : error_table)
    if (entry.op == op) return entry;
  return any_other;
}

/// The operands of up to block_cells elements, their bounds and the result.
struct Block {
  std::array<std::vector<Cell>, 3> in;
  std::array<std::vector<double>, 3> error;
  std::vector<Cell> out;
  std::vector<double> bound;
  std::int64_t count = 0;
};

double change(ir::DType dtype, Cell from, Cell to) {
  if (!is_floating(dtype)) return std::fabs(static_cast<double>(to.integer) - static_cast<double>(from.integer));
  if (to.real == from.real || (std::isnan(to.real) && std::isnan(from.real))) return 0;
  const double distance = std::fabs(to.real - from.real);
  return std::isnan(distance) ? infinity : distance;
}

/// Largest change of the result when the operands move to the ends of their intervals; infinite when it stops being
/// the same kind of number. Of the elements `places` of a block, all of them at one corner of their intervals at once.
class ByEnds {
 public:
  ByEnds(const ElementStep& step, int operands) : step_(step), operands_(operands), moved_(block_cells) {
    for (std::vector<Cell>& cells : ends_) cells.resize(block_cells);
  }

  void operator()(Block& block, const std::vector<std::size_t>& places) {
    std::vector<double> worst(places.size(), 0.0);
    for (unsigned corner = 0; corner < 1U << operands_; ++corner)
      if (move_to(corner, block, places)) {
        apply(step_, ends_[0].data(), ends_[1].data(), ends_[2].data(), moved_.data(),
              static_cast<std::int64_t>(places.size()));
        // As kernels hold it: what is too large for them is infinite at this end too.
        if (is_floating(step_.to)) round_cells(ir::row(step_.to).compute, prefix(moved_, places.size()));
        for (std::size_t i = 0; i < places.size(); ++i)
          worst[i] = std::max(worst[i], change(step_.to, block.out[places[i]], moved_[i]));
      }
    for (std::size_t i = 0; i < places.size(); ++i) {
      bool known = true;
      for (std::size_t k = 0; k < static_cast<std::size_t>(operands_); ++k)
        known = known && block.error[k][places[i]] != infinity;
      block.bound[places[i]] = known && !jumps(block, places[i]) ? worst[i] : infinity;
    }
  }

 private:
  /// Whether the result has a pole or a jump between the ends of the operands' intervals, where they say nothing of it.
  bool jumps(const Block& block, std::size_t place) const {
    if (!is_floating(step_.to) || (step_.op != ir::Op::tan && step_.op != ir::Op::remainder)) return false;
    const double a = block.in[0][place].real, a_error = block.error[0][place];
    if (step_.op == ir::Op::tan) {
      const auto branch = [](double x) { return std::floor(x / std::numbers::pi + 0.5); };
      return branch(a - a_error) != branch(a + a_error);
    }
    const double b = std::fabs(block.in[1][place].real), b_error = block.error[1][place];
    if (b_error > 0 && b <= b_error) return true;
    // The quotient is farthest from 0, and nearest to it, at corners; from one whole number to the next is a jump.
    const double low = a - a_error, high = a + a_error;
    const auto quotient = [](double x, double y) { return std::trunc(x / y); };
    return quotient(low, b - b_error) != quotient(high, b - b_error) ||
           quotient(low, b + b_error) != quotient(high, b + b_error) ||
           quotient(low, b - b_error) != quotient(low, b + b_error);
  }

  /// Bit k of `corner`: operand k is at its upper end. An exact operand has one end. False when no element has both
  /// ends that the corner asks for: then it is another corner again.
  bool move_to(unsigned corner, const Block& block, const std::vector<std::size_t>& places) {
    bool any = corner == 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (k >= static_cast<std::size_t>(operands_)) continue;
      const bool high = ((corner >> k) & 1) != 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double e = block.error[k][places[i]];
        ends_[k][i] = block.in[k][places[i]];
        if (e > 0) ends_[k][i].real += high ? e : -e;
        any = any || (high && e != 0);
      }
    }
    return any;
  }

  const ElementStep& step_;
  int operands_;
  std::array<std::vector<Cell>, 3> ends_;
  std::vector<Cell> moved_;
};

/// Whether the number is handed on as it lies in memory. What is computed may be another NaN, or a zero of another
/// sign.
bool has_bits(const ir::Graph& graph, ir::NodeId id) {
  std::vector<ir::NodeId> asked{id};
  constexpr std::size_t most = 256;  // beyond: taken for computed
  for (std::size_t at = 0; at < asked.size(); ++at) {
    const ir::Node& node = graph[asked[at]];
    const ir::OpClass kind = ir::class_of(node.op);
    const bool moves = kind == ir::OpClass::index || kind == ir::OpClass::lookup || node.op == ir::Op::copy;
    if (kind == ir::OpClass::leaf) continue;
    if (!moves || asked.size() > most) return false;
    for (const ir::NodeId operand : node.operands)
      if (is_floating(graph[operand].shape.dtype)) asked.push_back(operand);
  }
  return true;
}

class ElementErrors {
 public:
  ElementErrors(const Call& call, const std::vector<Errors>& operands, const Tensor& result, ir::Arithmetic arithmetic)
      : call_(call),
        operands_(operands),
        result_(result),
        step_(element_step(call.graph, call.node)),
        row_(find_error_row(step_.op)),
        limit_(limit_of(call)),
        narrow_(ir::row(step_.to).compute != step_.to),
        rounding_(is_floating(step_.to) ? step_.to : ir::DType::f32),
        by_ends_(step_, operand_count()) {
    for (std::size_t k = 0; k < 3; ++k) {
      block_.in[k].resize(block_cells);
      block_.error[k].resize(block_cells);
    }
    block_.out.resize(block_cells);
    block_.bound.resize(block_cells);
    computed_ = !std::all_of(call.node.operands.begin(), call.node.operands.end(),
                             [&](ir::NodeId id) { return has_bits(call.graph, id); });
    no_bits_ = reads_bits() && (computed_ || step_.op == ir::Op::compare);
    exact_ = !no_bits_ && std::all_of(operands.begin(), operands.end(), [](const Errors& e) { return e == nullptr; });
    const double ulp = is_floating(step_.to) ? 2 * unit_roundoff(ir::row(step_.to).compute) : 0;
    const ir::ArithmeticRow* of_class = ir::has_classes(step_.to) ? ir::error_row(step_.op, arithmetic) : nullptr;
    off_ = of_class == nullptr ? Off{row_.ulps * ulp, row_.ulps_per_argument * ulp, 0, 0, 0}
                               : Off{of_class->ulps * ulp, of_class->ulps_per_argument * ulp, of_class->absolute,
                                     of_class->least, of_class->most};
    largest_ = is_floating(step_.to) ? ir::largest_number(ir::row(step_.to).compute) : 0;
    if (is_floating(step_.to) && float_format(step_.to).specials != ir::Specials::ieee) {
      const double most = ir::largest_number(step_.to);
      nan_from_ = most + std::ldexp(0.5, std::ilogb(most) - float_format(step_.to).mantissa_bits);
    }
    adds_product_ = row_.rule == Rule::sum && std::any_of(call.node.operands.begin(), call.node.operands.end(),
                                                          [&](ir::NodeId id) { return is_product(call.graph, id); });
  }

  /// Of elements begin .. end-1.
  void write(std::int64_t begin, std::int64_t end, Tensor& errors) {
    load_constants();
    for (std::int64_t first = begin; first < end; first += block_cells) {
      call_.may_stop();
      load(first, std::min(block_cells, end - first));
      spread();
      if (is_floating(step_.to)) round();
      std::copy_n(block_.bound.begin(), block_.count, error_bounds(errors) + first);
    }
  }

  bool stays_exact() const {
    if (!exact_) return false;
    if (!is_floating(step_.to) || moves()) return true;
    if (step_.op == ir::Op::convert) return !rounds_on_convert();
    return row_.rule == Rule::sum && !narrow_;
  }

 private:
  /// Operations that hand a number on as it is.
  bool moves() const {
    return step_.op == ir::Op::copy || step_.op == ir::Op::select || step_.op == ir::Op::negate ||
           step_.op == ir::Op::abs || step_.op == ir::Op::bitcast_convert || step_.op == ir::Op::reduce_precision ||
           row_.rule == Rule::largest || step_.op == ir::Op::sign || step_.op == ir::Op::floor ||
           step_.op == ir::Op::ceil || step_.op == ir::Op::round_even || step_.op == ir::Op::round_away;
  }
  /// A conversion that two compilers may do in one or in two roundings. Between formats where one step does it: none.
  bool rounds_on_convert() const {
    if (is_floating(step_.from)) return step_.from == ir::DType::f64 && narrow_;
    return narrow_;
  }

  /// Operations that tell apart what is equal as numbers: -0 and 0, one NaN and another.
  bool reads_bits() const {
    return is_floating(step_.from) &&
           (step_.op == ir::Op::bitcast_convert || (step_.op == ir::Op::compare && step_.total_order));
  }
  /// Whether two right kernels may have other bits for the operands, or another order of them. Which of two NaN comes
  /// first is decided by bits that the evaluator does not keep.
  bool has_no_bits(std::size_t i) const {
    const double a = block_.in[0][i].real, b = block_.in[1][i].real;
    if (step_.op == ir::Op::compare && !computed_) return std::isnan(a) && std::isnan(b);
    if (step_.op == ir::Op::compare) return std::isnan(a) || std::isnan(b) || (a == 0 && b == 0);
    return !(std::fabs(a) > block_.error[0][i]);
  }

  bool is_scalar(std::size_t k) const { return call_.operand(k).shape.rank() == 0; }

  /// What is the same in every block: scalars, and the bounds of exact operands (the blocks begin with zeros).
  void load_constants() {
    for (std::size_t k = 0; k < call_.operands.size() && k < 3; ++k) {
      if (!is_scalar(k)) continue;
      load_cells(call_.operand(k), 0, 0, block_.in[k]);
      if (operands_[k] != nullptr)
        std::fill(block_.error[k].begin(), block_.error[k].end(), error_bounds(*operands_[k])[0]);
    }
  }

  void load(std::int64_t first, std::int64_t count) {
    block_.count = count;
    for (std::size_t k = 0; k < call_.operands.size() && k < 3; ++k) {
      if (is_scalar(k)) continue;
      load_cells(call_.operand(k), first, 1, prefix(block_.in[k], count));
      if (operands_[k] != nullptr) std::copy_n(error_bounds(*operands_[k]) + first, count, block_.error[k].begin());
    }
    load_cells(result_, first, 1, prefix(block_.out, count));
    const Cell* const out = block_.out.data();
    all_finite_ = !is_floating(step_.to) ||
                  std::none_of(out, out + count, [](Cell y) { return !(std::fabs(y.real) < infinity); });
  }

  template <class Of>
  void each(Of&& of) {
    double* const bounds = block_.bound.data();
    const auto count = static_cast<std::size_t>(block_.count);
    for (std::size_t i = 0; i < count; ++i) {
      const double bound = of(i);
      bounds[i] = bound == bound ? bound : infinity;
    }
  }

  /// What the operands' errors make of the result.
  void spread() {
    const auto &a = block_.in[0], &b = block_.in[1], &c = block_.in[2];
    const auto &ea = block_.error[0], &eb = block_.error[1], &ec = block_.error[2];
    const auto& y = block_.out;
    const auto number = [](ir::DType dtype, Cell cell) {
      return is_floating(dtype) ? cell.real : static_cast<double>(cell.integer);
    };
    if (exact_) return each([](std::size_t) { return 0.0; });
    if (step_.op == ir::Op::select)
      return each([&](std::size_t i) {
        const bool yes = a[i].integer != 0;
        const double chosen = yes ? eb[i] : ec[i];
        if (ea[i] == 0) return chosen;
        const double x = number(step_.to, b[i]), z = number(step_.to, c[i]);
        // Of a predicate of which nothing is known anything may come out: a bound that spans both would judge nothing.
        if (ea[i] == infinity && x != z) return infinity;
        return std::max(chosen, (x == z ? 0 : std::fabs(x - z)) + (yes ? ec[i] : eb[i]));
      });
    const bool with_itself = call_.node.operands.size() == 2 && call_.node.operands[0] == call_.node.operands[1];
    if (step_.op == ir::Op::compare)
      return each([&](std::size_t i) {
        if (no_bits_ && has_no_bits(i)) return 1.0;
        const double e = ea[i] + eb[i];
        if (e == infinity) return infinity;
        if (with_itself) return 0.0;
        return e > 0 && !(std::fabs(number(step_.from, a[i]) - number(step_.from, b[i])) > e) ? 1.0 : 0.0;
      });
    if (step_.op == ir::Op::convert && is_floating(step_.from) == is_floating(step_.to))
      return each([&](std::size_t i) { return ea[i]; });
    if (!is_floating(step_.from)) return of_integers();
    switch (row_.rule) {
      case Rule::sum:
        each([ea = ea.data(), eb = eb.data()](std::size_t i) { return ea[i] + eb[i]; });
        break;
      case Rule::product:
        each([a = a.data(), b = b.data(), ea = ea.data(), eb = eb.data()](std::size_t i) {
          return std::fabs(a[i].real) * eb[i] + std::fabs(b[i].real) * ea[i] + ea[i] * eb[i];
        });
        break;
      case Rule::quotient:
        each([&](std::size_t i) {
          const double far = std::fabs(b[i].real);
          return eb[i] < far ? (ea[i] + std::fabs(y[i].real) * eb[i]) / (far - eb[i]) : infinity;
        });
        break;
      case Rule::largest:
        each([&](std::size_t i) { return chosen_off(i); });
        break;
      case Rule::slope:
        // A function of limited range still says nothing of an argument that nothing is known of.
        each([&](std::size_t i) {
          if (ea[i] == 0 || ea[i] == infinity) return ea[i];
          const double off = row_.slope(a[i].real, y[i].real, ea[i]);
          return limit_ == nullptr ? off : std::min(off, limit_(a[i].real, y[i].real, ea[i]));
        });
        break;
      case Rule::ends:
        break;
    }
    // Near infinity first-order rules say nothing.
    if (row_.rule != Rule::ends && all_finite_) return;
    places_.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(block_.count); ++i)
      if (row_.rule == Rule::ends || (is_floating(step_.to) && !std::isfinite(y[i].real))) places_.push_back(i);
    if (!places_.empty()) by_ends_(block_, places_);
    if (!no_bits_) return;
    for (const std::size_t i : places_)
      if (has_no_bits(i)) block_.bound[i] = infinity;
  }

  /// Clamp takes the larger one of its first two operands, and of that and the third the smaller one.
  double chosen_off(std::size_t i) const {
    const auto& [a, b, c] = block_.in;
    const auto& [ea, eb, ec] = block_.error;
    const double off = choice_off(a[i].real, ea[i], b[i].real, eb[i], step_.op != ir::Op::minimum);
    return step_.op == ir::Op::clamp ? choice_off(std::max(a[i].real, b[i].real), off, c[i].real, ec[i], false) : off;
  }

  /// Integers and predicates that hang on a comparison of rounded numbers.
  void of_integers() {
    const bool logic = step_.from == ir::DType::pred && step_.to == ir::DType::pred;
    const bool widens = step_.op == ir::Op::convert || step_.op == ir::Op::copy;
    each([&](std::size_t i) {
      double most = 0;
      for (int k = 0; k < operand_count(); ++k) most = std::max(most, block_.error[static_cast<std::size_t>(k)][i]);
      return most == 0 || logic || widens || row_.rule == Rule::largest ? most : infinity;
    });
  }

  bool converts_exactly() const {
    if (step_.op != ir::Op::convert) return false;
    if (is_floating(step_.from)) return !narrow_;
    return is_floating(step_.to) && ir::row(step_.from).bits <= float_format(step_.to).mantissa_bits + 1;
  }
  /// What the operation itself may be off.
  void round() {
    if (moves() || converts_exactly()) return;
    const double itself = step_.op == ir::Op::convert ? 0 : off_.relative;
    const Cell* const out = block_.out.data();
    if (all_finite_ && itself == 0 && nan_from_ == 0 && off_.each_argument == 0 && off_.least == 0)
      return each([bound = block_.bound.data(), rounding = rounding_, out](std::size_t i) {
        return bound[i] + rounding(out[i].real);
      });
    each([&](std::size_t i) {
      const double y = out[i].real;
      if (out_of_range(i) || may_be_nan(i)) return infinity;
      if (!std::isfinite(y)) return escapes(i) ? infinity : block_.bound[i];
      const double off = itself_off(itself, i), bound = block_.bound[i] + rounding_(y) + off;
      return off > 0 && std::fabs(y) + bound > largest_ ? infinity : bound;  // a right kernel may overflow
    });
  }
  /// Whether one kernel may be beyond the end of a type that has no infinity, and another one not.
  bool may_be_nan(std::size_t i) const {
    if (nan_from_ == 0) return false;
    if (step_.op == ir::Op::convert && is_floating(step_.from)) {
      const double size = std::fabs(block_.in[0][i].real), error = block_.error[0][i];
      return size + error >= nan_from_ && size - error <= nan_from_ && size < infinity;
    }
    const double size = std::fabs(block_.out[i].real);
    if (!std::isnan(size)) return size + block_.bound[i] + rounding_(size) >= nan_from_;
    bool from_finite = true;
    for (int k = 0; k < operand_count(); ++k)
      from_finite = from_finite && std::isfinite(block_.in[static_cast<std::size_t>(k)][i].real);
    return from_finite;
  }
  double itself_off(double itself, std::size_t i) const {
    const double argument = off_.each_argument == 0 ? 0 : std::fabs(block_.in[0][i].real);
    if (argument == infinity) return 0;
    return (itself + off_.each_argument * argument) * std::fabs(block_.out[i].real) + off_.absolute;
  }
  /// Whether the last operand may lie where the class promises nothing.
  bool out_of_range(std::size_t i) const {
    if (off_.least == 0) return false;
    const auto last = static_cast<std::size_t>(operand_count()) - 1;
    const double size = std::fabs(block_.in[last][i].real), error = block_.error[last][i];
    if (size == infinity || (size == 0 && error == 0)) return false;
    return size - error < off_.least || (off_.most > 0 && size + error > off_.most);
  }
  /// An infinity of a narrow type that the kernel, computing in a wider one, need not see; or that of a product which a
  /// fused multiply-add adds to before it rounds, and the NaN of such an infinity and its opposite.
  bool escapes(std::size_t i) const {
    if (!std::isinf(block_.out[i].real))
      return adds_product_ && std::isinf(block_.in[0][i].real) && std::isinf(block_.in[1][i].real);
    if (!narrow_) return step_.op == ir::Op::multiply && may_be_taken_back(i);
    bool from_finite = true;
    for (int k = 0; k < operand_count(); ++k)
      from_finite = from_finite && std::isfinite(block_.in[static_cast<std::size_t>(k)][i].real);
    // Of 0 a power is infinite in every type; of others it is where the type ends.
    if (step_.op == ir::Op::power) return from_finite && block_.in[0][i].real != 0;
    return from_finite && row_.rule != Rule::ends && step_.op != ir::Op::log && step_.op != ir::Op::rsqrt;
  }

  /// Whether a finite number, added to the product of two, may leave a finite one.
  bool may_be_taken_back(std::size_t i) const {
    const double a = std::fabs(block_.in[0][i].real), b = std::fabs(block_.in[1][i].real);
    if (!std::isfinite(a) || !std::isfinite(b)) return false;
    const ir::FloatFormat format = float_format(step_.to);
    const double beyond = std::ldexp(1.0, format.bias + 2);  // twice the largest, and more
    const double least = std::max(a - block_.error[0][i], 0.0) * std::max(b - block_.error[1][i], 0.0);
    return step_.to == ir::DType::f64 || !(least >= beyond);
  }

  int operand_count() const { return static_cast<int>(std::min<std::size_t>(call_.operands.size(), 3)); }

  const Call& call_;
  const std::vector<Errors>& operands_;
  const Tensor& result_;
  ElementStep step_;
  const ErrorRow& row_;
  Slope limit_;  ///< of what the row says; null: none
  bool narrow_;
  bool exact_ = false;
  bool computed_ = false;      ///< an operand does not come as it is from memory
  bool no_bits_ = false;       ///< bits are read that are not promised for every number
  bool adds_product_ = false;  ///< a sum of which is_product() is true
  bool all_finite_ = true;     ///< the results of the block
  /// What the function itself may be off by: relative, relative for each unit of the argument, absolute, and the
  /// magnitudes of the last operand that this holds for (0: any).
  struct Off {
    double relative = 0, each_argument = 0, absolute = 0, least = 0, most = 0;
  } off_;
  double largest_ = 0;   ///< number of the type that kernels compute in
  double nan_from_ = 0;  ///< about where numbers become NaN, in a type without infinity; 0: it has one
  Rounding rounding_;
  ByEnds by_ends_;
  std::vector<std::size_t> places_;
  Block block_;
};

}  // namespace

bool is_product(const ir::Graph& graph, ir::NodeId id) {
  std::vector<ir::NodeId> asked{id};
  constexpr std::size_t most = 256;  // beyond: taken for one
  for (std::size_t at = 0; at < asked.size(); ++at) {
    const ir::Node& node = graph[asked[at]];
    if (node.op == ir::Op::multiply || node.op == ir::Op::divide || asked.size() > most) return true;
    const bool moves = ir::class_of(node.op) == ir::OpClass::index || ir::class_of(node.op) == ir::OpClass::lookup;
    if (moves || node.op == ir::Op::negate || node.op == ir::Op::copy)
      asked.insert(asked.end(), node.operands.begin(), node.operands.end());
  }
  return false;
}

double flushed_to_zero(ir::DType dtype) {
  const ir::FloatFormat format = float_format(ir::row(dtype).compute);
  return std::ldexp(1.0, 1 - format.bias);
}

Rounding::Rounding(ir::DType dtype)
    : relative_(2 * unit_roundoff(ir::row(dtype).compute)), absolute_(flushed_to_zero(dtype)) {
  if (ir::row(dtype).compute == dtype) return;
  const ir::FloatFormat format = float_format(dtype);
  relative_ += 2 * unit_roundoff(dtype);
  absolute_ += std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
}

Tensor unwritten_errors(const ir::Shape& shape) {
  ir::Shape wide = shape;
  wide.dtype = ir::DType::f64;
  return unwritten(wide);
}

Errors elementwise_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result,
                          ir::Arithmetic arithmetic) {
  ElementErrors all(call, operands, result, arithmetic);
  if (all.stays_exact()) return nullptr;
  Tensor errors = unwritten_errors(result.shape);
  const std::int64_t total = elements(result.shape);
  in_parallel(total, parallel_cells, [&](std::int64_t first, std::int64_t last) {
    if (last - first == total) return all.write(first, last, errors);
    ElementErrors(call, operands, result, arithmetic).write(first, last, errors);  // its blocks are its own
  });
  return shared(std::move(errors));
}

}  // namespace tailor::reference
