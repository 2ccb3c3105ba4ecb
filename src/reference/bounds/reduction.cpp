// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of reductions. In: a reduction with its values, the bounds of what it reads. Out: the bounds of its results.
// Called by error_bound.cpp.
//
// What an order of steps may change is itself a reduction: of the terms' magnitudes for a sum, of the elements moved by
// their bounds for an extreme, of logarithms for a product. So each bound is the reduction of other terms in f64, and
// windows and regions need no code of their own for going over elements.
#include "reference/bounds/reduction.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "ir/graph/region_reduction.h"
#include "ir/graph/split_reduction.h"
#include "reference/bounds/contraction.h"
#include "reference/bounds/elementwise.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

Tensor as_tensor(const ir::Shape& shape, const Errors& errors) {
  ir::Shape wide = shape;
  wide.dtype = ir::DType::f64;
  return errors == nullptr ? zeros(wide) : copied(wide, errors->bytes);
}

ir::Node widened(const ir::Node& node) {
  ir::Node wide = node;
  wide.shape.dtype = ir::DType::f64;
  return wide;
}

Tensor reduced(const Call& call, const Tensor& terms, ir::Reducer reducer, double from) {
  ir::Node node = widened(call.node);
  const bool windows = node.op == ir::Op::reduce_window;
  (windows ? ir::attributes_as<ir::RegionCall>(node).reducer : ir::attributes_as<ir::Reduction>(node).reducer) =
      reducer;
  ir::Shape scalar = make_shape(ir::DType::f64, {});
  Tensor start = zeros(scalar);
  store(start, 0, from);
  const Call wide{call.graph, node, {&terms, &start}, call.stop};
  return std::move((windows ? evaluate_reduce_window(wide) : evaluate_reduce(wide)).front());
}

namespace {

/// Terms of each element of a reduction's result; of windows the most that one has.
double terms_of_each(const Call& call, const Tensor& result) {
  if (call.node.op == ir::Op::reduce_window)
    return static_cast<double>(ir::window_elements(hlo_text(call.node), call.operand(0).shape.rank()));
  const std::int64_t outputs = std::max<std::int64_t>(elements(result.shape), 1);
  return static_cast<double>(elements(call.operand(0).shape) / outputs);
}

/// of(x, e) of every element of the first operand and its bound, for a reduction.
template <class Of>
std::shared_ptr<Tensor> terms_of(const Call& call, const Errors& operand, Of&& of) {
  const Tensor& input = call.operand(0);
  std::shared_ptr<Tensor> terms = shared(unwritten_errors(input.shape));
  double* const to = error_bounds(*terms);
  if (operand == nullptr) {
    each_real_apart(
        input, [&](std::int64_t i, double value) { to[i] = of(value, 0.0); }, call.stop);
  } else {
    const double* const from = error_bounds(*operand);
    each_real_apart(
        input, [&](std::int64_t i, double value) { to[i] = of(value, from[i]); }, call.stop);
  }
  return terms;
}

/// Of sums of products: without a bound where infinities make the NaN, and no term is one. Where a product overflowed,
/// who adds it before it rounds sees a finite number there.
void forget_opposites(const Call& call, const Tensor& result, double* errors) {
  const auto is_nan = terms_of(call, nullptr, [](double value, double) { return std::isnan(value) ? 1.0 : 0.0; });
  const Tensor nans = reduced(call, *is_nan, ir::Reducer::add);
  each_real_apart(result, [&](std::int64_t i, double y) {
    if (std::isnan(y) && error_bounds(nans)[i] == 0) errors[i] = infinity;
  });
}

}  // namespace

Errors sum_errors(const Call& call, const Errors& operand, const Tensor& result, double whole) {
  const ir::DType dtype = result.shape.dtype;
  const double own_terms = terms_of_each(call, result);
  const double all_terms = std::max(own_terms, whole);
  const double each = deviations * std::sqrt(all_terms) * unit_roundoff(row(dtype).compute);
  const auto terms = terms_of(call, operand, [each](double value, double e) {
    const double size = std::fabs(value);
    // An infinite term makes the sum infinite or NaN for certain.
    return e + (size <= std::numeric_limits<double>::max() ? each * size : 0);
  });
  Tensor sums = reduced(call, *terms, ir::Reducer::add);
  double* const errors = error_bounds(sums);
  // Bounds are of `each` times the terms' size or more, so sums far below that need no second look.
  const double largest = ir::largest_number(row(dtype).compute);
  // Of a step: its share, so that all of them together stay below the largest.
  const double most = all_terms > own_terms ? largest * (own_terms / all_terms) : largest;
  bool may_overflow = false;
  for (std::int64_t i = 0; i < elements(sums.shape); ++i) may_overflow = may_overflow || !(errors[i] < each * most);
  if (may_overflow) {
    const auto sizes = terms_of(call, nullptr, [largest](double value, double) {
      const double size = std::fabs(value);
      return size <= largest ? size : 0;
    });
    const Tensor all = reduced(call, *sizes, ir::Reducer::add);
    for (std::int64_t i = 0; i < elements(all.shape); ++i)
      if (!(error_bounds(all)[i] <= most)) errors[i] = infinity;
  }
  const Rounding rounding(dtype);
  const bool narrow = row(dtype).compute != dtype;
  std::atomic<bool> opposites = false;
  each_real_apart(result, [&](std::int64_t i, double y) {
    if (std::isfinite(y))
      errors[i] += errors[i] == 0 ? 0 : rounding(y);  // of zeros alone nothing is rounded
    else if (narrow && std::isinf(y))
      errors[i] = infinity;  // f32, where kernels add, need not overflow
    else if (std::isnan(y))
      opposites = true;
  });
  if (opposites && is_product(call.graph, call.node.operands[0])) forget_opposites(call, result, errors);
  return shared(std::move(sums));
}

Errors narrow_sum_errors(const Call& call, const Errors& errors, const Tensor& result) {
  const ir::DType dtype = result.shape.dtype;
  if (row(dtype).compute == dtype) return errors;
  const auto squares = terms_of(call, nullptr, [](double value, double) { return value * value; });
  const auto ones = terms_of(call, nullptr, [](double, double) { return 1.0; });
  const Tensor sums = reduced(call, *squares, ir::Reducer::add), counts = reduced(call, *ones, ir::Reducer::add);
  Tensor wider = copied(errors->shape, errors->bytes);
  each_real_apart(result, [&](std::int64_t i, double y) {
    const double terms = error_bounds(counts)[i];
    const double walk = terms * error_bounds(sums)[i] / 2 + terms * y * y / 3;
    error_bounds(wider)[i] += std::isfinite(y) ? deviations * unit_roundoff(dtype) * std::sqrt(walk) : 0;
  });
  return shared(std::move(wider));
}

Errors extreme_errors(const Call& call, const Errors& operand, const Tensor& result) {
  const ir::Reducer reducer = ir::reducer(call.node);
  const double from = reducer == ir::Reducer::maximum ? -infinity : infinity;
  Tensor errors = as_tensor(result.shape, nullptr);
  for (const double side : {-1.0, 1.0}) {
    const auto moved_by =
        terms_of(call, operand, [side](double value, double e) { return value + (e == 0 ? 0 : side * e); });
    const Tensor ends = reduced(call, *moved_by, reducer, from);
    each_real_apart(result, [&](std::int64_t i, double y) {
      const double end = error_bounds(ends)[i];
      if (end == y || (std::isnan(end) && std::isnan(y))) return;
      const double change = std::fabs(end - y);
      double& error = error_bounds(errors)[i];
      error = std::max(error, std::isnan(change) ? infinity : change);
    });
  }
  return shared(std::move(errors));
}

Errors product_errors(const Call& call, const Errors& operand, const Tensor& result) {
  const double u = 2 * unit_roundoff(row(result.shape.dtype).compute);
  const auto terms = terms_of(call, operand, [u](double value, double e) {
    const double size = std::fabs(value);
    return e < size || e == 0 ? u + (e == 0 ? 0 : e / (size - e)) : infinity;
  });
  const Rounding rounding(result.shape.dtype);
  Tensor errors = reduced(call, *terms, ir::Reducer::add);
  const auto powers = [&](bool above) {
    return reduced(call,
                   *terms_of(call, nullptr,
                             [above](double value, double) {
                               const double power = std::log2(std::fabs(value));
                               return std::isfinite(power) && (power > 0) == above ? std::fabs(power) : 0;
                             }),
                   ir::Reducer::add);
  };
  const Tensor above = powers(true), below = powers(false);
  const int range = float_format(row(result.shape.dtype).compute).bias - 1;
  each_real_apart(result, [&](std::int64_t i, double y) {
    double& error = error_bounds(errors)[i];
    const bool inside = error_bounds(above)[i] < range && error_bounds(below)[i] < range;
    error = std::isfinite(y) && inside ? std::fabs(y) * std::expm1(error) + rounding(y) : infinity;
  });
  return shared(std::move(errors));
}

bool only_chooses(const ir::Graph& body) {
  return std::all_of(body.nodes.begin(), body.nodes.end(), [](const ir::Node& node) {
    return class_of(node.op) == ir::OpClass::leaf || node.op == ir::Op::compare || node.op == ir::Op::select ||
           node.op == ir::Op::maximum || node.op == ir::Op::minimum || node.op == ir::Op::bit_and ||
           node.op == ir::Op::bit_or || node.op == ir::Op::bit_not || node.op == ir::Op::abs ||
           node.op == ir::Op::negate || node.op == ir::Op::tuple || !is_floating(node.shape.dtype);
  });
}

namespace {

std::size_t array_of(const ir::Graph& body, ir::NodeId id, std::size_t arrays) {
  return body[id].op == ir::Op::parameter ? static_cast<std::size_t>(parameter_number(body[id])) % arrays : arrays;
}

/// The constant that numbers of the second array are held against, of which those from it on are told from those below.
std::optional<std::int64_t> bound_compared(const ir::Graph& body, const ir::Node& compare, std::size_t arrays) {
  const auto* literal = ir::known_literal(body[compare.operands[1]]);
  const auto comparison = std::get<ir::CompareOptions>(compare.attributes).comparison;
  const ir::DType dtype = body[compare.operands[1]].shape.dtype;
  const bool is_bound = literal != nullptr && array_of(body, compare.operands[0], arrays) == 1 &&
                        (comparison == ir::Comparison::ge || comparison == ir::Comparison::lt) && is_integer(dtype);
  if (!is_bound) return std::nullopt;
  Cell cell{};
  load_cells(dtype, literal->bytes.data(), 0, 1, {&cell, 1});
  return cell.integer;
}

/// Whether all that a body does is to compare what it has of one array so far with what comes of the same one, and to
/// choose: then the order of these pairs alone decides. It may hold numbers of the second array against one bound.
bool only_compares(const ir::Graph& body, std::size_t arrays, std::optional<std::int64_t>& bound) {
  return std::all_of(body.nodes.begin(), body.nodes.end(), [&](const ir::Node& node) {
    if (node.op == ir::Op::compare) {
      const std::size_t array = array_of(body, node.operands[0], arrays);
      if (array < arrays && array == array_of(body, node.operands[1], arrays)) return true;
      const std::optional<std::int64_t> here = bound_compared(body, node, arrays);
      return here && *here == *(bound ? bound : bound = here);
    }
    return node.op == ir::Op::parameter || node.op == ir::Op::constant || node.op == ir::Op::select ||
           node.op == ir::Op::bit_and || node.op == ir::Op::bit_or || node.op == ir::Op::bit_not;
  });
}

/// Numbers for the two sides of a body, and whether it takes everything from one of them.
class SideTrial {
 public:
  SideTrial(const ir::Graph& body, std::size_t arrays, std::optional<std::int64_t> bound)
      : region_(body), types_(2 * arrays, ir::DType::pred), cells_(2 * arrays), results_(arrays), bound_(bound) {
    for (const ir::Node& node : body.nodes)
      if (node.op == ir::Op::parameter) types_[static_cast<std::size_t>(parameter_number(node))] = node.shape.dtype;
  }
  bool has_numbers() const { return std::find(types_.begin(), types_.end(), ir::DType::pred) == types_.end(); }
  std::size_t arrays() const { return results_.size(); }

  /// `larger`: the side whose number of this array is the larger one; 2: neither.
  void set_order(std::size_t array, std::size_t larger) {
    // Below the bound, and apart from those of all other arrays where there is none.
    const std::int64_t least = array == 1 && bound_ ? *bound_ - 2 : static_cast<std::int64_t>(10 * array) + 1;
    for (const std::size_t side : {0, 1}) set(side, array, least + (larger == side ? 1 : 0));
  }
  void set(std::size_t side, std::size_t array, std::int64_t number) {
    Cell& cell = cells_[side * arrays() + array];
    cell = {};
    if (is_floating(types_[array]))
      cell.real = static_cast<double>(number);
    else
      cell.integer = number;
  }
  void run() {
    std::vector<const Cell*> arguments;
    std::vector<Cell*> made;
    for (const Cell& cell : cells_) arguments.push_back(&cell);
    for (Cell& cell : results_) made.push_back(&cell);
    region_.run(arguments, made, 1);
  }
  bool takes(std::size_t side) const {
    for (std::size_t k = 0; k < arrays(); ++k)
      if (results_[k].integer != cells_[side * arrays() + k].integer) return false;
    return true;
  }

 private:
  Region region_;
  std::vector<ir::DType> types_;
  std::vector<Cell> cells_, results_;
  std::optional<std::int64_t> bound_;
};

}  // namespace

Taken side_taken(const ir::Graph& body, std::size_t arrays) {
  constexpr std::size_t most_arrays = 4;
  Taken taken;
  if (arrays > most_arrays || !only_compares(body, arrays, taken.nothing)) return {};
  SideTrial trial(body, arrays, taken.nothing);
  if (!trial.has_numbers()) return {};
  bool greater = true, less = true, something = true;
  std::size_t ways = 2;  // of the first array; three of each other one
  for (std::size_t k = 1; k < arrays; ++k) ways *= 3;
  for (std::size_t way = 0; way < ways; ++way) {
    for (std::size_t k = 0, left = way; k < arrays; left /= k == 0 ? 2 : 3, ++k)
      trial.set_order(k, left % (k == 0 ? 2 : 3));
    trial.run();
    greater = greater && trial.takes(way % 2);
    less = less && trial.takes(1 - way % 2);
    for (const std::size_t side : {0, 1}) {
      if (!taken.nothing) continue;
      trial.set(side, 1, *taken.nothing);
      trial.run();
      something = something && trial.takes(1 - side);
      trial.set(side, 1, *taken.nothing - 2);
    }
  }
  if (!something) return {};
  taken.side = greater ? 1 : less ? -1 : 0;
  return taken;
}

Tensor candidates(const Call& call, const Errors& operand, int side) {
  const auto end = [&](int direction) {
    return terms_of(call, operand, [=](double value, double e) { return side * value + direction * e; });
  };
  const Tensor least = reduced(call, *end(-1), ir::Reducer::maximum, -infinity);
  ir::Node spread = call.node;
  spread.op = ir::Op::broadcast;
  spread.shape = make_shape(ir::DType::f64, call.operand(0).shape.dims);
  ir::AxisList kept;
  for (int d = 0; d < spread.shape.rank(); ++d)
    if (!axes(call.node).contains(d)) kept.axes.push_back(d);
  spread.attributes = kept;
  const Tensor needed = std::move(evaluate_index({call.graph, spread, {&least}, call.stop}).front());
  const std::shared_ptr<Tensor> reached = end(1);
  double* const counts = error_bounds(*reached);
  for (std::int64_t i = 0; i < elements(reached->shape); ++i) counts[i] = counts[i] >= error_bounds(needed)[i] ? 1 : 0;
  return reduced(call, *reached, ir::Reducer::add);
}

bool lie_within(const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j, double error) {
  const Cell one = cell_at(a, i), other = cell_at(b, j);
  if (!is_floating(a.shape.dtype)) return one.integer == other.integer;
  return one.real == other.real || (std::isnan(one.real) && std::isnan(other.real)) ||
         std::fabs(one.real - other.real) <= error;
}

std::vector<Errors> order_errors(const Call& call, std::span<const Tensor* const> results) {
  const std::array<std::vector<Tensor>, 2> others = reduce_in_other_orders(call);
  std::vector<Errors> all(results.size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Tensor& one = *results[k];
    Tensor errors = as_tensor(one.shape, nullptr);
    bool any = false;
    for (std::int64_t i = 0; i < elements(one.shape); ++i)
      if (!lie_within(one, i, others[0][k], i, 0) || !lie_within(one, i, others[1][k], i, 0))
        error_bounds(errors)[i] = infinity, any = true;
    if (any) all[k] = shared(std::move(errors));
  }
  return all;
}

}  // namespace tailor::reference
