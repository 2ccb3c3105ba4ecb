// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of matrix products, convolutions and scatters. In: operands with their bounds, and the node. Out: the bound of
// each element of the result, or nothing for a form that is not covered, whose elements then count as not judged.
// Called by error_bound.cpp.
//
// With |a| the magnitudes of a and e its bounds, a product of sums is off by at most (|a| + ea)(|b| + eb) - |a||b|. A
// sum of n terms in any order adds 6 sqrt(n) u of the sum of magnitudes, the probabilistic bound that error_bound.h
// names. A product whose factors lose digits on their way (tf32) adds that share of each product. The result is
// rounded once more to its type. A convolution is such a sum over its window and the features of its group, however it
// is computed, so one by transforms (Winograd, FFT) may leave the bound.
//
// A scatter adds in memory, one update after the other in any order: n are the updates of an element. In types of 16
// bits each sum is rounded to the type, where small terms may all be lost beside a large one: n u on either side. In
// f32 what is subnormal may be taken for zero each time. A scatter that multiplies is off by n u of the product, where
// no part of the product leaves the type's normal numbers. One that replaces leaves any of several updates. One that
// adds where a rounded number says (the bin of a histogram) may miss by a neighbour: each element may lack, or have too
// many, the updates that may be in it and need not.
//
// Both sums are computed by the evaluator's own contraction on f64 arrays of magnitudes, so dimension numbers and
// scatter rules are read in one place and cannot be read differently here.
#include "reference/bounds/contraction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/graph/attribute_text.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

Tensor at_an_end(const Tensor& numbers, const Errors& errors, int direction) {
  constexpr double far = 1e18;  // beyond every array, and its sum with a place is still a number
  ir::Shape wide = numbers.shape;
  wide.dtype = ir::DType::s64;
  Tensor moved = unwritten(wide);
  for (std::int64_t i = 0; i < elements(wide); ++i) {
    const std::int64_t number = as_integer(numbers, i);
    const bool beyond = number < 0 && is_unsigned(numbers.shape.dtype);  // 2^63 or more
    const double by = errors == nullptr ? 0 : std::min(error_bounds(*errors)[i], far);
    const double from = beyond ? far : std::clamp(static_cast<double>(number), -far, far);
    const bool stays = by == 0 && !beyond;
    store_integer(moved, i, stays ? number : static_cast<std::int64_t>(from + direction * by));
  }
  return moved;
}

namespace {

/// |x| + e as an f64 tensor; without `errors` |x| alone.
Tensor magnitudes(const Tensor& tensor, const Errors& errors) {
  ir::Shape wide = tensor.shape;
  wide.dtype = ir::DType::f64;
  Tensor result = zeros(wide);
  auto* const values = reinterpret_cast<double*>(result.bytes.data());
  each_real(tensor, [&](std::int64_t i, double value) {
    values[i] = std::fabs(value) + (errors != nullptr ? error_bounds(*errors)[i] : 0);
  });
  return result;
}

/// The call's operation in f64 on other operands; a scatter adds.
Tensor evaluated(const Call& call, const std::vector<const Tensor*>& operands) {
  ir::Node wide = call.node;
  wide.shape.dtype = ir::DType::f64;
  for (ir::Shape& shape : wide.results) shape.dtype = ir::DType::f64;
  const Call other{call.graph, wide, operands, call.stop};
  if (wide.op == ir::Op::convolution) return evaluate_convolution(other).front();
  return wide.op == ir::Op::dot ? evaluate_dot(other).front() : evaluate_lookup(other).front();
}

Tensor filled(ir::Shape shape, double value) {
  shape.dtype = ir::DType::f64;
  Tensor result = zeros(shape);
  auto* const values = reinterpret_cast<double*>(result.bytes.data());
  std::fill_n(values, elements(shape), value);
  return result;
}

/// How many updates each element of a scatter's result gets.
Tensor updates_of(const Call& call) {
  ir::Node adds = call.node;
  ir::attributes_as<ir::RegionCall>(adds).reducer = ir::Reducer::add;
  adds.bodies.clear();
  const Tensor none = filled(call.operand(0).shape, 0), each = filled(call.operand(2).shape, 1);
  return evaluated(Call{call.graph, adds, call.operands, call.stop}, {&none, &call.operand(1), &each});
}

bool sums_products(const Call& call) { return call.node.op == ir::Op::dot || call.node.op == ir::Op::convolution; }

/// Terms of one sum of products.
double terms_of(const Call& call) {
  std::int64_t terms = call.node.op == ir::Op::convolution ? terms_of_convolution(call) : 1;
  for (const std::int64_t dim : ir::attribute_numbers(hlo_text(call.node), "lhs_contracting_dims"))
    terms *= call.operand(0).shape.dims[static_cast<int>(dim)];
  return static_cast<double>(std::max<std::int64_t>(terms, 1));
}

bool adds_to_places(const Call& call) {
  return call.node.op == ir::Op::scatter && call.operands.size() == 3 && reducer(call.node) == ir::Reducer::add;
}

bool is_covered(const Call& call, const Tensor& result) {
  if (!is_floating(result.shape.dtype)) return false;
  if (sums_products(call)) return call.operands.size() == 2;
  return adds_to_places(call);
}

/// Places that a computed index may stand for, one behind the other: itself and its neighbours.
constexpr int neighbours = 3;

/// Of index vectors that lie between `low` and `high`: those that are certain lie outside of all arrays here. Of the
/// others each component is so far above the lower end as its digit in `number` says; those for which that is too far
/// lie outside too. `size`: of an index vector, `step`: from one of its components to the next.
Tensor uncertain_places(const Tensor& low, const Tensor& high, int number, std::int64_t size, std::int64_t step) {
  constexpr std::int64_t outside = std::numeric_limits<std::int32_t>::min();
  Tensor places = low;
  const std::int64_t all = elements(low.shape);
  for (std::int64_t first = 0; first < all; ++first) {
    if (first / step % size != 0) continue;
    bool is_open = false, is_there = true;
    int digits = number;
    for (std::int64_t c = 0; c < size; ++c, digits /= neighbours) {
      const std::int64_t at = first + c * step, from = as_integer(low, at), to = as_integer(high, at);
      is_open = is_open || from != to;
      is_there = is_there && from + digits % neighbours <= to;
      store_integer(places, at, from + digits % neighbours);
    }
    for (std::int64_t c = 0; c < size; ++c)
      if (!is_open || !is_there) store_integer(places, first + c * step, outside);
  }
  return places;
}

/// Updates whose place is open: for each element of a scatter's result those that may be there and need not.
struct Misplaced {
  Tensor sizes, updates;  ///< the sum of their sizes, and how many
};

/// Of a scatter that adds where computed numbers say. Nothing where an update may be farther off than by one.
std::optional<Misplaced> misplaced(const Call& call, const std::vector<Errors>& operands) {
  constexpr std::int64_t most_components = 3;
  const Tensor& places = call.operand(1);
  const Tensor low = at_an_end(places, operands[1], -1), high = at_an_end(places, operands[1], 1);
  for (std::int64_t i = 0; i < elements(low.shape); ++i)
    if (as_integer(high, i) - as_integer(low, i) >= neighbours) return {};
  const auto dim = static_cast<int>(ir::attribute_number(hlo_text(call.node), "index_vector_dim", low.shape.rank()));
  const std::int64_t size = dim < low.shape.rank() ? low.shape.dims[dim] : 1;
  std::int64_t step = 1;
  for (int d = dim + 1; d < low.shape.rank(); ++d) step *= low.shape.dims[d];
  if (size > most_components) return {};
  int ways = 1;
  for (std::int64_t c = 0; c < size; ++c) ways *= neighbours;
  const Tensor sizes = magnitudes(call.operand(2), operands[2]);
  const Tensor ones = filled(call.operand(2).shape, 1);
  Misplaced all{filled(call.operand(0).shape, 0), filled(call.operand(0).shape, 0)};
  for (int number = 0; number < ways; ++number) {
    call.may_stop();
    const Tensor open = uncertain_places(low, high, number, size, step);
    all.sizes = evaluated(call, {&all.sizes, &open, &sizes});
    all.updates = evaluated(call, {&all.updates, &open, &ones});
  }
  return all;
}

/// Whether a scatter puts updates in the place of what is there.
bool replaces(const Call& call) {
  if (call.node.op != ir::Op::scatter || call.node.bodies.empty()) return false;
  const ir::Graph& body = ir::body(call.graph, call.node, 0);
  return std::all_of(body.nodes.begin(), body.nodes.end(),
                     [](const ir::Node& node) { return node.op == ir::Op::parameter; });
}

}  // namespace

Errors contraction_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result,
                          double product_error) {
  std::optional<Misplaced> elsewhere;  ///< what updates add whose place is open
  if (adds_to_places(call) && operands[1] != nullptr) {
    elsewhere = misplaced(call, operands);
    if (!elsewhere) return nullptr;
    if (!is_floating(result.shape.dtype))
      return operands[0] == nullptr && operands[2] == nullptr ? shared(std::move(elsewhere->sizes)) : nullptr;
  }
  if (!is_covered(call, result)) return nullptr;
  const std::size_t second = sums_products(call) ? 1 : 2;
  const Tensor a = magnitudes(call.operand(0), nullptr), b = magnitudes(call.operand(second), nullptr);
  const Tensor a_most = magnitudes(call.operand(0), operands[0]),
               b_most = magnitudes(call.operand(second), operands[second]);
  const Tensor* const places = &call.operand(1);
  const auto of = [&](const Tensor& left, const Tensor& right) {
    return evaluated(call, second == 1 ? std::vector{&left, &right} : std::vector{&left, places, &right});
  };
  const Tensor sums = of(a, b);
  const Tensor most = operands[0] == nullptr && operands[second] == nullptr ? sums : of(a_most, b_most);
  const ir::DType dtype = result.shape.dtype;
  const bool scatters = call.node.op == ir::Op::scatter;
  const bool is_short = scatters && row(dtype).bits <= 16;
  const Tensor updates = scatters ? updates_of(call) : Tensor{};
  const double flushed = scatters && dtype == ir::DType::f32 ? std::numeric_limits<float>::min() : 0;
  const auto share = [&](double terms) {
    return is_short
               ? 2 * terms * unit_roundoff(dtype)
               : deviations * std::sqrt(terms) * unit_roundoff(row(dtype).compute) + (scatters ? 0 : product_error);
  };
  const double of_products = scatters ? 0 : share(terms_of(call));
  const ir::FloatFormat format = float_format(row(dtype).compute);
  const double most_of_type = std::ldexp(2 - std::ldexp(1.0, -format.mantissa_bits), format.bias);
  Tensor errors = unwritten_errors(result.shape);
  const Rounding rounding(dtype);
  for (std::int64_t at = 0; at < elements(result.shape); ++at) {
    const double open = elsewhere ? as_double(elsewhere->sizes, at) : 0;
    const double terms = !scatters ? 0 : as_double(updates, at) + (elsewhere ? as_double(elsewhere->updates, at) : 0);
    const double size = as_double(most, at) + open, each = scatters ? share(terms) : of_products;
    // As of sums: in another order a partial sum may overflow, and with an infinity among the terms nothing is known.
    error_bounds(errors)[at] = size <= most_of_type ? size - as_double(sums, at) + each * size + terms * flushed +
                                                          rounding(std::fabs(as_double(result, at)) + open)
                                                    : infinity;
  }
  return shared(std::move(errors));
}

bool moves_exactly(const Call& call) {
  if (call.node.op != ir::Op::scatter && call.node.op != ir::Op::reduce_window) return false;
  const ir::Reducer reducer = ir::reducer(call.node);
  return reducer == ir::Reducer::maximum || reducer == ir::Reducer::minimum;
}

Errors multiplied_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result) {
  const ir::DType dtype = result.shape.dtype;
  const bool is_covered = call.node.op == ir::Op::scatter && call.operands.size() == 3 && is_floating(dtype) &&
                          reducer(call.node) == ir::Reducer::multiply && operands[0] == nullptr &&
                          operands[1] == nullptr && operands[2] == nullptr;
  if (!is_covered) return nullptr;
  const auto factors = [&](std::size_t k, bool large) {
    Tensor made = filled(call.operand(k).shape, 1);
    auto* const values = reinterpret_cast<double*>(made.bytes.data());
    each_real(call.operand(k), [&](std::int64_t i, double value) {
      const double size = std::fabs(value);
      values[i] = std::isnan(value) || value == 0 ? 1 : large ? std::max(size, 1.0) : std::min(size, 1.0);
    });
    return made;
  };
  const auto product = [&](bool large) {
    const Tensor array = factors(0, large), updates = factors(2, large);
    return evaluated(call, {&array, &call.operand(1), &updates});
  };
  const Tensor most = product(true), least = product(false), updates = updates_of(call);
  const ir::FloatFormat format = float_format(dtype);
  const double least_normal = std::ldexp(1.0, 1 - format.bias),
               largest = std::ldexp(2 - std::ldexp(1.0, -format.mantissa_bits), format.bias);
  Tensor errors = unwritten_errors(result.shape);
  each_real(result, [&](std::int64_t i, double y) {
    const double n = as_double(updates, i);
    const bool stays = as_double(most, i) <= largest && as_double(least, i) >= least_normal;
    error_bounds(errors)[i] = n == 0 || std::isnan(y)     ? 0
                              : stays && std::isfinite(y) ? 2 * n * unit_roundoff(dtype) * std::fabs(y)
                                                          : infinity;
  });
  return shared(std::move(errors));
}

bool is_replaced(const Call& call, const std::vector<Errors>& operands) {
  return replaces(call) && call.operands.size() == 3 && operands[1] == nullptr;
}

Errors replaced_errors(const Call& call, const std::vector<Errors>& operands) {
  const auto of = [&](std::size_t k) {
    Tensor errors = unwritten_errors(call.operand(k).shape);
    if (operands[k] == nullptr) return zeros(errors.shape);
    errors.bytes = operands[k]->bytes;
    return errors;
  };
  const Tensor array = of(0), updates = of(2);
  Tensor errors = evaluated(call, {&array, &call.operand(1), &updates});
  const Tensor written = updates_of(call);
  bool exact = operands[0] == nullptr && operands[2] == nullptr;
  for (std::int64_t i = 0; i < elements(written.shape); ++i)
    if (as_double(written, i) > 1) error_bounds(errors)[i] = infinity, exact = false;
  return exact ? nullptr : shared(std::move(errors));
}

}  // namespace tailor::reference
