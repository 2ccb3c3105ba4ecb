// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One row per operation: how the errors of its operands reach the result, and how exact the function itself is on a
// GPU. Blocks of cells, as the evaluator; the rare elements that are not finite are looked at one by one.
#include "ir/bound_elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/bound.h"
#include "ir/number.h"

namespace tailor::ir {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Rule : std::uint8_t {
  ends,  ///< the function's values at the ends of the operands' intervals
  sum,   ///< exact when its operands are: both sides round the same number
  product,
  quotient,
  largest,  ///< not more than any operand's
  slope,    ///< of one operand: the row's function
};

/// From the operand, the result and the operand's bound.
using Slope = double (*)(double a, double y, double e);

struct ErrorRow {
  Op op;
  Rule rule;
  double ulps;               ///< of the function itself, beyond its rounding
  double ulps_per_argument;  ///< and for each unit of |a|
  Slope slope;
};

double pole(double y, double e, double distance) { return e < distance ? std::fabs(y) * e / (distance - e) : infinity; }

constexpr auto error_table = std::to_array<ErrorRow>({
    {Op::abs, Rule::slope, 0, 0, [](double, double, double e) { return e; }},
    {Op::negate, Rule::slope, 0, 0, [](double, double, double e) { return e; }},
    {Op::copy, Rule::slope, 0, 0, [](double, double, double e) { return e; }},
    {Op::add, Rule::sum, 0, 0, nullptr},
    {Op::subtract, Rule::sum, 0, 0, nullptr},
    {Op::multiply, Rule::product, 0, 0, nullptr},
    {Op::divide, Rule::quotient, 2, 0, nullptr},
    {Op::maximum, Rule::largest, 0, 0, nullptr},
    {Op::minimum, Rule::largest, 0, 0, nullptr},
    {Op::clamp, Rule::largest, 0, 0, nullptr},
    {Op::exp, Rule::slope, 4, 1, [](double, double y, double e) { return y * std::expm1(e); }},
    {Op::expm1, Rule::slope, 4, 1, [](double, double y, double e) { return (y + 1) * std::expm1(e); }},
    {Op::log, Rule::slope, 2, 0,
     [](double a, double, double e) { return e < std::fabs(a) ? e / (std::fabs(a) - e) : infinity; }},
    {Op::log1p, Rule::slope, 2, 0, [](double a, double, double e) { return e < 1 + a ? e / (1 + a - e) : infinity; }},
    {Op::sqrt, Rule::slope, 1, 0,
     [](double a, double y, double e) { return e < a ? e / y : std::sqrt(std::fabs(a) + e); }},
    {Op::rsqrt, Rule::slope, 2, 0, [](double a, double y, double e) { return pole(y, e, a); }},
    {Op::cbrt, Rule::slope, 2, 0,
     [](double a, double y,
        double e) { return e < std::fabs(a) ? pole(y, e, std::fabs(a)) : std::cbrt(2 * e) + std::fabs(y); }},
    {Op::tanh, Rule::slope, 4, 0, [](double, double, double e) { return e; }},
    {Op::logistic, Rule::slope, 6, 1, [](double, double y, double e) { return std::min(0.25 * e, y * std::expm1(e)); }},
    {Op::erf, Rule::slope, 4, 0, [](double, double, double e) { return 1.2 * e; }},
    {Op::sin, Rule::slope, 4, 0, [](double, double, double e) { return e; }},
    {Op::cos, Rule::slope, 4, 0, [](double, double, double e) { return e; }},
    {Op::tan, Rule::ends, 6, 0, nullptr},
    {Op::asin, Rule::ends, 4, 0, nullptr},
    {Op::acos, Rule::ends, 4, 0, nullptr},
    {Op::asinh, Rule::ends, 6, 0, nullptr},
    {Op::acosh, Rule::ends, 6, 0, nullptr},
    {Op::atanh, Rule::ends, 6, 0, nullptr},
    {Op::sinh, Rule::ends, 6, 1, nullptr},
    {Op::cosh, Rule::ends, 6, 1, nullptr},
    {Op::atan2, Rule::ends, 6, 0, nullptr},
    {Op::power, Rule::ends, 16, 0, nullptr},
    {Op::remainder, Rule::ends, 0, 0, nullptr},
});

constexpr ErrorRow any_other{Op::opaque, Rule::ends, 0, 0, nullptr};

const ErrorRow& row_of(Op op) {
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

bool finite(DType dtype, Cell cell) { return !is_floating(dtype) || std::isfinite(cell.real); }

/// Largest change of the result when the operands move to the ends of their intervals; infinite when it stops being
/// the same kind of number.
double by_ends(const ElementStep& step, int operands, const Block& block, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  const Cell y = block.out[at];
  double worst = 0;
  for (int corner = 0; corner < 1 << (2 * operands); ++corner) {
    std::array<Cell, 3> ends{};
    bool repeated = false;
    for (int k = 0; k < operands; ++k) {
      const auto operand = static_cast<std::size_t>(k);
      const double e = block.error[operand][at];
      const int side = (corner >> (2 * k)) & 3;  // low, high
      ends[operand] = block.in[operand][at];
      if (side > 1 || (side == 1 && e == 0)) repeated = true;
      if (e == infinity) return infinity;
      if (e > 0) ends[operand].real += side == 0 ? -e : e;
    }
    if (repeated) continue;
    Cell moved{};
    apply(step, &ends[0], &ends[1], &ends[2], &moved, 1);
    if (!is_floating(step.to)) {
      worst = std::max(worst, std::fabs(static_cast<double>(moved.integer) - static_cast<double>(y.integer)));
    } else if (moved.real == y.real || (std::isnan(moved.real) && std::isnan(y.real))) {
      continue;
    } else {
      const double change = std::fabs(moved.real - y.real);
      worst = std::max(worst, std::isnan(change) ? infinity : change);
    }
  }
  return worst;
}

class ElementErrors {
 public:
  ElementErrors(const Call& call, const std::vector<Errors>& operands, const Tensor& result)
      : call_(call),
        operands_(operands),
        result_(result),
        step_(element_step(call.graph, call.node)),
        row_(row_of(step_.op)),
        narrow_(ir::row(step_.to).compute != step_.to) {
    for (std::size_t k = 0; k < 3; ++k) {
      block_.in[k].resize(block_cells);
      block_.error[k].resize(block_cells);
    }
    block_.out.resize(block_cells);
    block_.bound.resize(block_cells);
    exact_ = std::all_of(operands.begin(), operands.end(), [](const Errors& e) { return e == nullptr; });
    ulp_ = is_floating(step_.to) ? 2 * unit_roundoff(ir::row(step_.to).compute) : 0;
  }

  Errors all() {
    if (stays_exact()) return nullptr;
    const std::int64_t total = elements(result_.shape);
    auto errors = std::make_shared<std::vector<double>>(static_cast<std::size_t>(total));
    for (std::int64_t first = 0; first < total; first += block_cells) {
      load(first, std::min(block_cells, total - first));
      spread();
      if (is_floating(step_.to)) round();
      std::copy_n(block_.bound.begin(), block_.count, errors->begin() + first);
    }
    return errors;
  }

 private:
  bool stays_exact() const {
    if (!exact_) return false;
    if (!is_floating(step_.to) || moves()) return true;
    if (step_.op == Op::convert) return !rounds_on_convert();
    return row_.rule == Rule::sum && !narrow_;
  }
  /// Operations that hand a number on as it is.
  bool moves() const {
    return step_.op == Op::copy || step_.op == Op::select || step_.op == Op::negate || step_.op == Op::abs ||
           step_.op == Op::bitcast_convert || step_.op == Op::reduce_precision || row_.rule == Rule::largest ||
           step_.op == Op::sign || step_.op == Op::floor || step_.op == Op::ceil || step_.op == Op::round_even ||
           step_.op == Op::round_away;
  }
  /// A conversion that two compilers may do in one or in two roundings. Between formats where one step does it: none.
  bool rounds_on_convert() const {
    if (is_floating(step_.from)) return step_.from == DType::f64 && narrow_;
    return narrow_;
  }

  void load(std::int64_t first, std::int64_t count) {
    block_.count = count;
    for (std::size_t k = 0; k < call_.operands.size() && k < 3; ++k) {
      const bool scalar = call_.operand(k).shape.rank() == 0;
      load_cells(call_.operand(k), scalar ? 0 : first, scalar ? 0 : 1,
                 std::span(block_.in[k]).first(static_cast<std::size_t>(count)));
      if (operands_[k] == nullptr)
        std::fill_n(block_.error[k].begin(), count, 0.0);
      else if (scalar)
        std::fill_n(block_.error[k].begin(), count, operands_[k]->front());
      else
        std::copy_n(operands_[k]->begin() + first, count, block_.error[k].begin());
    }
    load_cells(result_, first, 1, std::span(block_.out).first(static_cast<std::size_t>(count)));
  }

  template <class Of>
  void each(Of&& of) {
    for (std::int64_t i = 0; i < block_.count; ++i) {
      const double bound = of(static_cast<std::size_t>(i));
      block_.bound[static_cast<std::size_t>(i)] = std::isnan(bound) ? infinity : bound;
    }
  }

  /// What the operands' errors make of the result.
  void spread() {
    const auto &a = block_.in[0], &b = block_.in[1], &c = block_.in[2];
    const auto &ea = block_.error[0], &eb = block_.error[1], &ec = block_.error[2];
    const auto& y = block_.out;
    const auto number = [](DType dtype, Cell cell) {
      return is_floating(dtype) ? cell.real : static_cast<double>(cell.integer);
    };
    if (exact_) return each([](std::size_t) { return 0.0; });
    if (step_.op == Op::select)
      return each([&](std::size_t i) {
        const bool yes = a[i].integer != 0;
        const double chosen = yes ? eb[i] : ec[i];
        if (ea[i] == 0) return chosen;
        const double x = number(step_.to, b[i]), z = number(step_.to, c[i]);
        return std::max(chosen, (x == z ? 0 : std::fabs(x - z)) + (yes ? ec[i] : eb[i]));
      });
    if (step_.op == Op::compare)
      return each([&](std::size_t i) {
        const double e = ea[i] + eb[i];
        return e > 0 && !(std::fabs(number(step_.from, a[i]) - number(step_.from, b[i])) > e) ? 1.0 : 0.0;
      });
    if (step_.op == Op::convert && is_floating(step_.from) == is_floating(step_.to))
      return each([&](std::size_t i) { return ea[i]; });
    if (!is_floating(step_.from)) return of_integers();
    switch (row_.rule) {
      case Rule::sum:
        each([&](std::size_t i) { return ea[i] + eb[i]; });
        break;
      case Rule::product:
        each(
            [&](std::size_t i) { return std::fabs(a[i].real) * eb[i] + std::fabs(b[i].real) * ea[i] + ea[i] * eb[i]; });
        break;
      case Rule::quotient:
        each([&](std::size_t i) {
          const double far = std::fabs(b[i].real);
          return eb[i] < far ? (ea[i] + std::fabs(y[i].real) * eb[i]) / (far - eb[i]) : infinity;
        });
        break;
      case Rule::largest:
        each([&](std::size_t i) { return std::max({ea[i], eb[i], call_.operands.size() > 2 ? ec[i] : 0.0}); });
        break;
      case Rule::slope:
        each([&](std::size_t i) { return ea[i] == 0 ? 0 : row_.slope(a[i].real, y[i].real, ea[i]); });
        break;
      case Rule::ends:
        each([&](std::size_t i) { return by_ends(step_, operand_count(), block_, static_cast<std::int64_t>(i)); });
        break;
    }
    // Near infinity first-order rules say nothing.
    each([&](std::size_t i) {
      return finite(step_.to, y[i]) ? block_.bound[i]
                                    : by_ends(step_, operand_count(), block_, static_cast<std::int64_t>(i));
    });
  }

  /// Integers and predicates that hang on a comparison of rounded numbers.
  void of_integers() {
    const bool logic = step_.from == DType::pred && step_.to == DType::pred;
    const bool widens = step_.op == Op::convert || step_.op == Op::copy;
    each([&](std::size_t i) {
      double most = 0;
      for (int k = 0; k < operand_count(); ++k) most = std::max(most, block_.error[static_cast<std::size_t>(k)][i]);
      return most == 0 || logic || widens || row_.rule == Rule::largest ? most : infinity;
    });
  }

  /// What the operation itself may be off.
  void round() {
    if (moves() || (step_.op == Op::convert && !narrow_ && is_floating(step_.from))) return;
    const double itself = step_.op == Op::convert ? 0 : row_.ulps * ulp_;
    const double each_argument = row_.ulps_per_argument * ulp_;
    each([&](std::size_t i) {
      const double y = block_.out[i].real;
      if (!std::isfinite(y)) return escapes(i) ? infinity : block_.bound[i];
      const double argument = each_argument == 0 ? 0 : std::fabs(block_.in[0][i].real);
      const double function = argument == infinity ? 0 : (itself + each_argument * argument) * std::fabs(y);
      return block_.bound[i] + rounding(step_.to, y) + function;
    });
  }
  /// An infinity of a narrow type that the kernel, computing in a wider one, need not see.
  bool escapes(std::size_t i) const {
    if (!narrow_ || !std::isinf(block_.out[i].real)) return false;
    bool from_finite = true;
    for (int k = 0; k < operand_count(); ++k)
      from_finite = from_finite && std::isfinite(block_.in[static_cast<std::size_t>(k)][i].real);
    return from_finite && row_.rule != Rule::ends && step_.op != Op::log && step_.op != Op::rsqrt;
  }

  int operand_count() const { return static_cast<int>(std::min<std::size_t>(call_.operands.size(), 3)); }

  const Call& call_;
  const std::vector<Errors>& operands_;
  const Tensor& result_;
  ElementStep step_;
  const ErrorRow& row_;
  bool narrow_;
  bool exact_ = false;
  double ulp_ = 0;
  Block block_;
};

}  // namespace

double flushed_to_zero(DType dtype) {
  const FloatFormat format = float_format(ir::row(dtype).compute);
  return std::ldexp(1.0, 1 - format.bias);
}

double rounding(DType dtype, double value) {
  const DType compute = ir::row(dtype).compute;
  double error = 2 * unit_roundoff(compute) * std::fabs(value) + flushed_to_zero(dtype);
  if (compute != dtype) {
    const FloatFormat format = float_format(dtype);
    error += 2 * unit_roundoff(dtype) * std::fabs(value) + std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
  }
  return error;
}

Errors elementwise_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result) {
  return ElementErrors(call, operands, result).all();
}

}  // namespace tailor::ir
