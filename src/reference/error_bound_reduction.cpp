// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of reductions. In: a reduction with its values, the bounds of what it reads. Out: the bounds of its results.
// Called by error_bound.cpp.
//
// What an order of steps may change is itself a reduction: of the terms' magnitudes for a sum, of the elements moved by
// their bounds for an extreme, of logarithms for a product. So each bound is the reduction of other terms in f64, and
// windows and regions need no code of their own for going over elements.
#include "reference/error_bound_reduction.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "ir/graph/region_reduction.h"
#include "ir/graph/split_reduction.h"
#include "reference/error_bound.h"
#include "reference/error_bound_contraction.h"
#include "reference/error_bound_elementwise.h"
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
      errors[i] += rounding(y);
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

/// Whether all that a body does is to compare what it has of one array so far with what comes of the same one, and to
/// choose: then the order of these pairs alone decides.
bool only_compares(const ir::Graph& body, std::size_t arrays) {
  const auto array_of = [&](ir::NodeId id) {
    return body[id].op == ir::Op::parameter ? static_cast<std::size_t>(parameter_number(body[id])) % arrays : arrays;
  };
  return std::all_of(body.nodes.begin(), body.nodes.end(), [&](const ir::Node& node) {
    if (node.op == ir::Op::compare) {
      const std::size_t array = array_of(node.operands[0]);
      return array < arrays && array == array_of(node.operands[1]);
    }
    return node.op == ir::Op::parameter || node.op == ir::Op::select || node.op == ir::Op::bit_and ||
           node.op == ir::Op::bit_or || node.op == ir::Op::bit_not;
  });
}

}  // namespace

int side_taken(const ir::Graph& body, std::size_t arrays) {
  constexpr std::size_t most_arrays = 4;
  if (arrays > most_arrays || !only_compares(body, arrays)) return 0;
  std::vector<ir::DType> types(2 * arrays, ir::DType::pred);
  for (const ir::Node& node : body.nodes)
    if (node.op == ir::Op::parameter) types[static_cast<std::size_t>(parameter_number(node))] = node.shape.dtype;
  if (std::find(types.begin(), types.end(), ir::DType::pred) != types.end()) return 0;
  const auto number = [&](std::size_t array, std::int64_t of) {
    Cell cell{};
    if (is_floating(types[array]))
      cell.real = static_cast<double>(of);
    else
      cell.integer = of;
    return cell;
  };
  Region region(body);
  bool greater = true, less = true;
  std::size_t ways = 2;  // of the first array; three of each other one
  for (std::size_t k = 1; k < arrays; ++k) ways *= 3;
  for (std::size_t way = 0; way < ways; ++way) {
    std::vector<Cell> cells(2 * arrays), results(arrays);
    for (std::size_t k = 0, left = way; k < arrays; left /= k == 0 ? 2 : 3, ++k)
      for (const std::size_t side : {0, 1}) {
        const std::size_t order = left % (k == 0 ? 2 : 3);  // this side is the larger one, that one, or none
        cells[side * arrays + k] = number(k, static_cast<std::int64_t>(10 * k) + (order == side ? 2 : 1));
      }
    std::vector<const Cell*> arguments;
    std::vector<Cell*> made;
    for (const Cell& cell : cells) arguments.push_back(&cell);
    for (Cell& cell : results) made.push_back(&cell);
    region.run(arguments, made, 1);
    const std::size_t larger = way % 2, smaller = 1 - larger;
    for (std::size_t k = 0; k < arrays; ++k) {
      greater = greater && results[k].integer == cells[larger * arrays + k].integer;
      less = less && results[k].integer == cells[smaller * arrays + k].integer;
    }
  }
  return greater ? 1 : less ? -1 : 0;
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

std::vector<Errors> order_errors(const Call& call, std::span<const Tensor* const> results) {
  const std::vector<Tensor> others = reduce_in_another_order(call);
  std::vector<Errors> all(results.size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Tensor &one = *results[k], &other = others[k];
    const auto differs = [&](std::int64_t i) {
      const Cell a = cell_at(one, i), b = cell_at(other, i);
      return is_floating(one.shape.dtype) ? a.real != b.real && !(std::isnan(a.real) && std::isnan(b.real))
                                          : a.integer != b.integer;
    };
    Tensor errors = as_tensor(one.shape, nullptr);
    bool any = false;
    for (std::int64_t i = 0; i < elements(one.shape); ++i)
      if (differs(i)) error_bounds(errors)[i] = infinity, any = true;
    if (any) all[k] = shared(std::move(errors));
  }
  return all;
}

}  // namespace tailor::reference
