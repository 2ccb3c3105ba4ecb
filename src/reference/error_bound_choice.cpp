// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of what picks the greatest or the least: a reduction that takes its place along (argmax), a scatter that keeps
// the larger. In: operands with their bounds, and the results. Out: bounds of the results, or nothing for another form.
// Called by error_bound.cpp.
//
// The greatest of numbers v that are off by up to e lies between the greatest v - e and the greatest v + e. Which of
// them it is is certain where one alone reaches the former; what is taken along from there is then exact, else it may
// be anything.
#include "reference/error_bound_choice.h"

#include <algorithm>
#include <cmath>

#include "base/indexed.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

/// Whether the body compares the number that it has with the one that comes, and picks by that.
bool compares_numbers(const ir::Graph& body, std::int64_t arrays) {
  const auto is_parameter = [&](ir::NodeId id, std::int64_t number) {
    return body[id].op == ir::Op::parameter && parameter_number(body[id]) == number;
  };
  return std::any_of(body.nodes.begin(), body.nodes.end(), [&](const ir::Node& node) {
    const auto* compare = std::get_if<ir::CompareOptions>(&node.attributes);
    if (node.op != ir::Op::compare || compare == nullptr) return false;
    if (compare->comparison == ir::Comparison::eq || compare->comparison == ir::Comparison::ne) return false;
    return (is_parameter(node.operands[0], 0) && is_parameter(node.operands[1], arrays)) ||
           (is_parameter(node.operands[1], 0) && is_parameter(node.operands[0], arrays));
  });
}

/// For each element of the input the one of the result that it goes to.
std::vector<std::int64_t> goes_to(const Call& call, const ir::Dims& result) {
  const ir::Dims& dims = call.operand(0).shape.dims;
  const ir::Dims kept = row_major(result);
  ir::Dims to = zero_index(dims.size()), index = to;
  int next = 0;
  for (int d = 0; d < dims.size(); ++d)
    if (!axes(call.node).contains(d)) to[d] = kept[next++];
  std::vector<std::int64_t> all;
  all.reserve(element_count(call.operand(0).shape));
  if (elements(call.operand(0).shape) > 0) do
      all.push_back(linear_offset(index, to));
    while (next_index(index, dims));
  return all;
}

/// What may come out of each line, were it the greatest of its numbers times `sign`.
struct Picked {
  std::vector<double> greatest, lowest, highest;  ///< of v, of v - e, of v + e
  std::vector<std::int64_t> able;                 ///< numbers that may be the greatest
};

Picked picked(const Tensor& values, const Tensor& errors, const std::vector<std::int64_t>& to, std::size_t results,
              double sign) {
  Picked all{std::vector(results, -infinity), std::vector(results, -infinity), std::vector(results, -infinity),
             std::vector<std::int64_t>(results, 0)};
  const auto rise = [](double& most, double value) { most = std::isnan(value) ? infinity : std::max(most, value); };
  each_real(values, [&](std::int64_t i, double value) {
    const auto at = static_cast<std::size_t>(to[static_cast<std::size_t>(i)]);
    const double e = error_bounds(errors)[i], v = sign * value;
    rise(all.greatest[at], v);
    rise(all.highest[at], e == 0 ? v : v + e);
    if (e != infinity) rise(all.lowest[at], e == 0 ? v : v - e);
  });
  each_real(values, [&](std::int64_t i, double value) {
    const auto at = static_cast<std::size_t>(to[static_cast<std::size_t>(i)]);
    const double e = error_bounds(errors)[i];
    all.able[at] += sign * value + e < all.lowest[at] ? 0 : 1;
  });
  return all;
}

double apart(double a, double b) {
  const double distance = std::fabs(a - b);
  return a == b ? 0 : std::isnan(distance) ? infinity : distance;
}

}  // namespace

std::optional<std::vector<Errors>> picked_errors(const Call& call, const std::vector<Errors>& operands,
                                                 std::span<const Tensor* const> results) {
  const std::size_t arrays = call.operands.size() / 2;
  if (call.node.op != ir::Op::reduce || arrays < 2 || operands[0] == nullptr) return {};
  if (!is_floating(results[0]->shape.dtype) || !compares_numbers(body(call, 0), static_cast<std::int64_t>(arrays)))
    return {};
  if (!std::all_of(operands.begin() + 1, operands.end(), [](const Errors& e) { return e == nullptr; })) return {};
  const std::size_t count = element_count(results[0]->shape);
  const std::vector<std::int64_t> to = goes_to(call, results[0]->shape.dims);
  for (const double sign : {1.0, -1.0}) {
    const Picked all = picked(call.operand(0), *operands[0], to, count, sign);
    bool is_this = true;
    each_real(*results[0], [&](std::int64_t i, double value) {
      is_this = is_this && (std::isnan(value) || sign * value == all.greatest[static_cast<std::size_t>(i)]);
    });
    if (!is_this) continue;
    Tensor value = unwritten_errors(results[0]->shape), place = unwritten_errors(results[0]->shape);
    for (std::size_t i = 0; i < count; ++i) {
      const double greatest = all.greatest[i];
      const auto at = static_cast<std::int64_t>(i);
      error_bounds(value)[at] = std::max(apart(all.highest[i], greatest), apart(greatest, all.lowest[i]));
      error_bounds(place)[at] = all.able[i] == 1 ? 0 : infinity;
    }
    std::vector<Errors> errors{shared(std::move(value))};
    errors.resize(results.size(), shared(std::move(place)));
    return errors;
  }
  return {};
}

Errors scattered_extreme_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result) {
  const ir::Reducer reducer = ir::reducer(call.node);
  const bool extreme = reducer == ir::Reducer::maximum || reducer == ir::Reducer::minimum;
  if (call.node.op != ir::Op::scatter || !extreme || call.operands.size() != 3 || operands[1] != nullptr)
    return nullptr;
  ir::Node wide = call.node;
  wide.shape.dtype = ir::DType::f64;
  for (ir::Shape& shape : wide.results) shape.dtype = ir::DType::f64;
  const auto at_end = [&](std::size_t k, double side) {
    Tensor moved = unwritten_errors(call.operand(k).shape);
    each_real(call.operand(k), [&](std::int64_t i, double value) {
      const double e = operands[k] == nullptr ? 0 : error_bounds(*operands[k])[i];
      error_bounds(moved)[i] = e == 0 ? value : value + side * e;
    });
    return moved;
  };
  Tensor errors = unwritten_errors(result.shape);
  std::fill_n(error_bounds(errors), elements(result.shape), 0.0);
  for (const double side : {-1.0, 1.0}) {
    const Tensor array = at_end(0, side), updates = at_end(2, side);
    const Tensor end = evaluate_lookup(Call{call.graph, wide, {&array, &call.operand(1), &updates}, call.stop}).front();
    each_real(result, [&](std::int64_t i, double y) {
      double& error = error_bounds(errors)[i];
      error = std::max(error, std::isnan(y) && std::isnan(error_bounds(end)[i]) ? 0 : apart(error_bounds(end)[i], y));
    });
  }
  return shared(std::move(errors));
}

}  // namespace tailor::reference
