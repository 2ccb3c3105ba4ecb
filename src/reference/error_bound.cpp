// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Error bounds beside the evaluator's walk. In: a graph and its inputs. Out: each result with a bound for every
// element. Called by the checks. error_bound.h says what is bounded and where the formulas come from.
//
// The walk is the evaluator's own: after each node it hands over the operands and the result, and the bound of the
// result is made from the bounds of the operands. A node falls into one of five classes.
//   moves          what moves elements moves their bounds. The bounds are an f64 array, and the same code moves it.
//   What
//                  an index picks that has a bound itself is judged where each index in that interval picks the same.
//   elementwise    a row per operation (error_bound_elementwise.cpp)
//   reductions     the bound of a sum is the sum of the bounds, plus a term for the order of additions, which a kernel
//                  is free to choose; so magnitudes are summed beside the values
//   contractions   matrix products and scatters, as reductions over products (error_bound_contraction.cpp)
//   the rest       an operation without a rule gets an infinite bound, and its elements count as not judged
// An array whose elements are all exact keeps no bounds, so integers, predicates and moved data cost nothing.
#include "reference/error_bound.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/indexed.h"
#include "base/memory.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "ir/graph/region_reduction.h"
#include "ir/graph/split_reduction.h"
#include "reference/error_bound_contraction.h"
#include "reference/error_bound_elementwise.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

namespace {

/// A copy to work on.
Tensor as_tensor(const ir::Shape& shape, const Errors& errors) {
  ir::Shape wide = shape;
  wide.dtype = ir::DType::f64;
  return errors == nullptr ? zeros(wide) : copied(wide, errors->bytes);
}

std::vector<double> to_vector(const Tensor& errors) {
  auto all = large_array<double>(element_count(errors.shape));
  // A bound that came out as no number is none.
  std::transform(error_bounds(errors), error_bounds(errors) + all.size(), all.begin(),
                 [](double error) { return std::isnan(error) ? infinity : error; });
  return all;
}

Errors constant_errors(const ir::Shape& shape, double error) {
  Tensor errors = unwritten_errors(shape);
  std::fill_n(error_bounds(errors), elements(shape), error);
  return shared(std::move(errors));
}

bool all_exact(const std::vector<Errors>& errors) {
  return std::all_of(errors.begin(), errors.end(), [](const Errors& e) { return e == nullptr; });
}

/// The node as if its values were f64.
ir::Node widened(const ir::Node& node) {
  ir::Node wide = node;
  wide.shape.dtype = ir::DType::f64;
  return wide;
}

/// Runs `evaluator` on the bounds of the first `arrays` operands in their place.
Errors moved(const Call& call, const std::vector<Errors>& operands, std::size_t arrays,
             std::vector<Tensor> (*evaluator)(const Call&)) {
  std::vector<Errors> all(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(arrays));
  for (std::size_t k = 0; k < arrays; ++k)
    if (all[k] == nullptr) all[k] = shared(as_tensor(call.operand(k).shape, nullptr));
  const ir::Node node = widened(call.node);
  Call wide{call.graph, node, call.operands, call.stop};
  for (std::size_t k = 0; k < arrays; ++k) wide.operands[k] = all[k].get();
  return shared(std::move(evaluator(wide).front()));
}

/// The integers, each moved by its bound: down with -1, up with 1.
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

/// Of a look-up whose indices have bounds themselves. What comes from the same place at both ends of their intervals
/// comes from there whatever the index is, for places ascend with indices and stop at the array's ends; its bound is
/// moved as ever. What may come from elsewhere has none. Places are told apart by numbers in the arrays' stead.
Errors moved_by_bounded(const Call& call, const std::vector<Errors>& operands, std::size_t arrays) {
  std::vector<Tensor> numbered;
  std::int64_t next = 0;
  for (std::size_t k = 0; k < arrays; ++k) {
    numbered.push_back(unwritten_errors(call.operand(k).shape));
    auto* const numbers = error_bounds(numbered.back());
    const std::int64_t count = elements(call.operand(k).shape);
    for (std::int64_t i = 0; i < count; ++i) numbers[i] = static_cast<double>(next + i);  // no number waits for another
    next += count;
  }
  const ir::Node node = widened(call.node);
  const auto places_at = [&](int direction) {
    std::vector<Tensor> indices;
    indices.reserve(call.operands.size());  // pointers into it
    Call wide{call.graph, node, call.operands, call.stop};
    for (std::size_t k = 0; k < arrays; ++k) wide.operands[k] = &numbered[k];
    for (std::size_t k = arrays; k < call.operands.size(); ++k) {
      indices.push_back(at_an_end(call.operand(k), operands[k], direction));
      wide.operands[k] = &indices.back();
    }
    return std::move(evaluate_lookup(wide).front());
  };
  const Tensor low = places_at(-1), high = places_at(1);
  numbered.clear();
  Tensor bounds = as_tensor(call.node.shape, moved(call, operands, arrays, evaluate_lookup));
  for (std::int64_t i = 0; i < elements(low.shape); ++i)
    if (error_bounds(low)[i] != error_bounds(high)[i]) error_bounds(bounds)[i] = infinity;
  return shared(std::move(bounds));
}

/// A reduction, or one over windows, of other terms.
Tensor reduced(const Call& call, const Tensor& terms, ir::Reducer reducer, double from = 0) {
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

/// Terms of each element of a reduction's result; of windows the most that one has.
double terms_of_each(const Call& call, const Tensor& result) {
  if (call.node.op == ir::Op::reduce_window) {
    double taps = 1;
    for (const ir::WindowDim& dim : ir::parse_window(hlo_text(call.node), call.operand(0).shape.rank()))
      taps *= static_cast<double>(dim.size);
    return taps;
  }
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

/// e + 6 sqrt(n) u |x| for every term, summed; the result's own rounding on top. Where the finite terms together may
/// pass the largest number, a partial sum overflows in one order of additions and not in another. `whole`: terms of the
/// sum that this one is a step of, or fewer than its own; a kernel may add them up in one go, in any order.
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

/// What rounding every partial sum to the result's own type adds, where that is narrower than f32.
Errors narrow_sum_errors(const Call& call, const Errors& errors, const Tensor& result) {
  const ir::DType dtype = result.shape.dtype;
  if (row(dtype).compute == dtype) return errors;
  const auto squares = terms_of(call, nullptr, [](double value, double) { return value * value; });
  const Tensor sums = reduced(call, *squares, ir::Reducer::add);
  const double terms = terms_of_each(call, result);
  Tensor wider = copied(errors->shape, errors->bytes);
  each_real_apart(result, [&](std::int64_t i, double y) {
    const double walk = terms * error_bounds(sums)[i] / 2 + terms * y * y / 3;
    error_bounds(wider)[i] += std::isfinite(y) ? deviations * unit_roundoff(dtype) * std::sqrt(walk) : 0;
  });
  return shared(std::move(wider));
}

/// How far the greatest (or least) can move when every element does: one far below it does not count.
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

/// Relative bounds add up; (1 + u)^n. Where the factors above 1, or those below, together leave the range of the type,
/// a partial product overflows or vanishes in one order and not in another.
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

/// Whether a region only chooses among its arguments, or their sizes: nothing is rounded.
bool only_chooses(const ir::Graph& body) {
  return std::all_of(body.nodes.begin(), body.nodes.end(), [](const ir::Node& node) {
    return class_of(node.op) == ir::OpClass::leaf || node.op == ir::Op::compare || node.op == ir::Op::select ||
           node.op == ir::Op::maximum || node.op == ir::Op::minimum || node.op == ir::Op::bit_and ||
           node.op == ir::Op::bit_or || node.op == ir::Op::bit_not || node.op == ir::Op::abs ||
           node.op == ir::Op::negate || node.op == ir::Op::tuple || !is_floating(node.shape.dtype);
  });
}

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

/// 1 where a body takes everything from the side whose number of the first array is greater, -1 where from that whose
/// is less, whatever the others are; 0: neither. Of a body that only compares each order of the pairs is tried.
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

/// Elements of the first array that may be the one that is taken, for each result.
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

/// None where a body that rounds nothing gives something else in another order, which a compiler may choose.
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

/// Bounds of every value of every node; those of dead values are dropped by the caller's graph being small.
class ErrorBoundWalk {
 public:
  ErrorBoundWalk(const ir::Graph& graph, const ErrorBoundOptions& options)
      : graph_(graph),
        options_(options),
        errors_(graph.nodes.size()),
        uses_(graph.nodes.size(), 0),
        whole_terms_(graph.nodes.size(), 0) {
    for (const ir::Node& node : graph.nodes)
      for (const ir::NodeId operand : node.operands) ++uses_[operand];
    for (const ir::NodeId output : graph.outputs) ++uses_[output];
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].op != ir::Op::reduce) continue;
      for (const ir::EarlierStep& step : ir::earlier_steps(graph, static_cast<ir::NodeId>(i))) {
        const auto results = static_cast<double>(std::max<std::int64_t>(elements(graph.nodes[i].shape), 1));
        const double terms = static_cast<double>(elements(graph[step.source].shape)) / results;
        whole_terms_[step.reduce] = std::max(whole_terms_[step.reduce], terms);
      }
    }
  }

  void visit(ir::NodeId id, const Call& call, std::span<const Tensor* const> results) {
    const ir::Node& node = graph_[id];
    std::vector<Errors> operands;
    for (const ir::NodeId operand : node.operands) {
      const std::vector<Errors>& all = errors_[operand];
      operands.insert(operands.end(), all.begin(), all.end());
      if (node.op == ir::Op::add_dependency) break;
    }
    std::vector<Errors>& made = errors_[id];
    if (class_of(node.op) == ir::OpClass::leaf)
      made.assign(1, nullptr);
    else if (node.op == ir::Op::get_tuple_element)
      made.assign(1, operands[tuple_index(node)]);
    else if (passes_operands(node.op))
      made = std::move(operands);
    else
      made = of_call(call, operands, results, whole_terms_[id]);
    for (const ir::NodeId operand : node.operands)
      if (--uses_[operand] == 0) errors_[operand].clear();
  }

  /// Hands the bounds out: afterwards nobody else holds those of a value that is one output only.
  std::vector<Errors> take_outputs() {
    std::vector<Errors> all;
    for (const ir::NodeId output : graph_.outputs) {
      const std::vector<Errors>& one = errors_[output];
      all.insert(all.end(), one.begin(), one.end());
    }
    errors_.clear();
    return all;
  }

 private:
  std::vector<Errors> of_call(const Call& call, const std::vector<Errors>& operands,
                              std::span<const Tensor* const> results, double whole) const {
    const ir::Node& node = call.node;
    const bool exact = all_exact(operands);
    if (class_of(node.op) == ir::OpClass::elementwise && has_element_step(call.graph, node))
      return {elementwise_errors(call, operands, *results[0], options_.arithmetic)};
    if (class_of(node.op) == ir::OpClass::index || node.op == ir::Op::bitcast_convert || node.op == ir::Op::copy)
      return {exact ? nullptr : moved(call, operands, operands.size(), evaluate_index)};
    const bool windows = node.op == ir::Op::reduce_window && call.operands.size() == 2;
    if (node.op == ir::Op::reduce || windows) return reduction(call, operands, results, whole);
    if (Errors errors = contraction_errors(call, operands, *results[0], options_.product_error); errors != nullptr)
      return {errors};
    if (exact && moves_exactly(call)) return std::vector<Errors>(results.size());
    if (exact && (node.op == ir::Op::sort || node.op == ir::Op::topk)) return std::vector<Errors>(results.size());
    if (node.op == ir::Op::gather || node.op == ir::Op::dynamic_slice || node.op == ir::Op::dynamic_update_slice) {
      const std::size_t arrays = node.op == ir::Op::dynamic_update_slice ? 2 : 1;
      const bool assignment_known = std::all_of(operands.begin() + static_cast<std::ptrdiff_t>(arrays), operands.end(),
                                                [](const Errors& e) { return e == nullptr; });
      if (exact) return {nullptr};
      return {assignment_known ? moved(call, operands, arrays, evaluate_lookup)
                               : moved_by_bounded(call, operands, arrays)};
    }
    return not_known(results);
  }

  /// By a body: what only chooses among exact values is exact where it is the same in another order, and what a known
  /// operation does to each array is bounded as ever. Of anything else it is not known what another order of steps
  /// gives.
  std::vector<Errors> region_reduction(const Call& call, const std::vector<Errors>& operands,
                                       std::span<const Tensor* const> results) const {
    if (!ir::is_region_of(ir::body(call.graph, call.node, 0), results.size())) return not_known(results);
    if (all_exact(operands) && only_chooses(ir::body(call.graph, call.node, 0))) return order_errors(call, results);
    const std::vector<ir::Reducer> reducers = ir::known_reducers(call.graph, call.node);
    if (reducers.empty()) return taken_errors(call, operands, results);
    std::vector<Errors> all;
    for (std::size_t k = 0; k < reducers.size(); ++k) {
      const std::size_t start = reducers.size() + k;
      const ir::Node node = ir::one_of_several(call.node, reducers[k], k);
      const Call one{call.graph, node, {&call.operand(k), &call.operand(start)}, call.stop};
      all.push_back(reduction(one, {operands[k], operands[start]}, results.subspan(k, 1), 0).front());
    }
    return all;
  }

  /// Of the greatest, or the least, with what goes with it: the value is bounded as ever, and the others are those of
  /// one element where no other one may be it.
  std::vector<Errors> taken_errors(const Call& call, const std::vector<Errors>& operands,
                                   std::span<const Tensor* const> results) const {
    const int side = side_taken(ir::body(call.graph, call.node, 0), results.size());
    const bool others_exact =
        std::all_of(operands.begin() + 1, operands.end(), [](const Errors& e) { return e == nullptr; });
    if (side == 0 || operands[0] == nullptr || !others_exact) return not_known(results);
    const ir::Node node = ir::one_of_several(call.node, side > 0 ? ir::Reducer::maximum : ir::Reducer::minimum, 0);
    const Call first{call.graph, node, {&call.operand(0), &call.operand(results.size())}, call.stop};
    std::vector<Errors> all{extreme_errors(first, operands[0], *results[0])};
    Tensor errors = candidates(first, operands[0], side);
    for (std::int64_t i = 0; i < elements(errors.shape); ++i) {
      double& error = error_bounds(errors)[i];
      error = error == 1 ? 0 : infinity;
    }
    all.resize(results.size(), shared(std::move(errors)));
    return all;
  }

  std::vector<Errors> reduction(const Call& call, const std::vector<Errors>& operands,
                                std::span<const Tensor* const> results, double whole) const {
    const bool exact = all_exact(operands);
    const ir::Reducer reducer = ir::reducer(call.node);
    if (ir::runs_region(call.node)) return region_reduction(call, operands, results);
    if (!is_floating(results[0]->shape.dtype)) {
      if (exact) return {nullptr};
      const Errors most = shared(reduced(call, *operands[0], ir::Reducer::maximum));
      if (results[0]->shape.dtype == ir::DType::pred) return {most};
      return not_known(results);
    }
    if (reducer == ir::Reducer::add) {
      const Errors errors = sum_errors(call, operands[0], *results[0], whole);
      return {options_.narrow_sums ? narrow_sum_errors(call, errors, *results[0]) : errors};
    }
    if (reducer == ir::Reducer::multiply) return {product_errors(call, operands[0], *results[0])};
    if (exact) return {nullptr};
    return {extreme_errors(call, operands[0], *results[0])};
  }

  static std::vector<Errors> not_known(std::span<const Tensor* const> results) {
    std::vector<Errors> all;
    for (const Tensor* result : results)
      all.push_back(is_floating(result->shape.dtype) || has_cells(result->shape.dtype)
                        ? constant_errors(result->shape, infinity)
                        : nullptr);
    return all;
  }

  const ir::Graph& graph_;
  const ErrorBoundOptions& options_;
  IndexedVector<std::vector<Errors>> errors_;
  IndexedVector<std::int32_t> uses_;
  IndexedVector<double> whole_terms_;  ///< of the sums that reductions are steps of; 0: of none
};

}  // namespace

double unit_roundoff(ir::DType dtype) { return std::ldexp(1.0, -float_format(dtype).mantissa_bits - 1); }

std::vector<BoundedTensor> evaluate_with_error_bounds(const ir::Graph& graph, std::span<const Tensor> inputs,
                                                      const ErrorBoundOptions& options, const std::stop_token& stop) {
  const KeptMemory kept;
  ErrorBoundWalk walk(graph, options);
  std::vector<Tensor> values = evaluate_visited(
      graph, inputs,
      [&](ir::NodeId id, const Call& call, std::span<const Tensor* const> results) { walk.visit(id, call, results); },
      stop);
  std::vector<Errors> errors = walk.take_outputs();
  std::vector<BoundedTensor> all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.push_back({std::move(values[i]), errors[i] ? to_vector(*errors[i]) : std::vector<double>()});
    errors[i].reset();
  }
  return all;
}

}  // namespace tailor::reference
