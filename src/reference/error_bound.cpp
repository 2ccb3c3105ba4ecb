// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Error bounds beside the evaluator's walk. In: a graph and its inputs. Out: each result with a bound for every
// element. Called by the checks. error_bound.h says what is bounded and where the formulas come from.
//
// The walk is the evaluator's own: after each node it hands over the operands and the result, and the bound of the
// result is made from the bounds of the operands. A node falls into one of seven classes.
//   moves          what moves elements moves their bounds. The bounds are an f64 array, and the same code moves it.
//                  What an index picks that has a bound itself is judged where each index in that interval picks the
//                  same.
//   elementwise    a row per operation (bounds/elementwise.cpp); less where an argument has an end (bounds/limited.cpp)
//   reductions     the bound of a sum is the sum of the bounds, plus a term for the order of additions, which a kernel
//                  is free to choose; so magnitudes are summed beside the values. By a function of one's own: as a tree
//                  of its steps (bounds/fold.cpp)
//   contractions   matrix products and scatters, as reductions over products (bounds/contraction.cpp)
//   choices        the greatest with its place (bounds/reduction.cpp), scatters that keep the larger
//                  (bounds/choice.cpp), comparisons with the greatest of a row (bounds/extreme.cpp)
//   bodies         a map is its lines, each of all elements. Loops and branches are walked through once more, with the
//                  bounds of what goes round in them; where they hold integers, predicates and moves alone, exact
//                  operands give exact results without that
//   the rest       an operation without a rule gets an infinite bound, and its elements count as not judged
// An array whose elements are all exact keeps no bounds, so integers, predicates and moved data cost nothing.
#include "reference/error_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/indexed.h"
#include "base/memory.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "ir/graph/region_reduction.h"
#include "ir/graph/split_reduction.h"
#include "reference/bounds/choice.h"
#include "reference/bounds/contraction.h"
#include "reference/bounds/elementwise.h"
#include "reference/bounds/extreme.h"
#include "reference/bounds/fold.h"
#include "reference/bounds/reduction.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

namespace {

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

/// Whether a kernel may make nothing of exact operands but what the reference does: it computes on integers and
/// predicates alone, and moves what else there is. So with its bodies.
bool makes_exact(const ir::Graph& graph, const ir::Node& node) {
  const auto is_whole = [](const ir::Shape& shape) {
    return is_integer(shape.dtype) || shape.dtype == ir::DType::pred;
  };
  const bool moves = class_of(node.op) == ir::OpClass::leaf || class_of(node.op) == ir::OpClass::index ||
                     node.op == ir::Op::get_tuple_element || passes_operands(node.op) || node.op == ir::Op::copy ||
                     node.op == ir::Op::select || node.op == ir::Op::complex || node.op == ir::Op::real ||
                     node.op == ir::Op::imag || node.op == ir::Op::gather || node.op == ir::Op::dynamic_slice ||
                     node.op == ir::Op::dynamic_update_slice;
  if (moves) return true;
  if (class_of(node.op) != ir::OpClass::control) {
    const std::vector<ir::Shape> shapes = result_shapes(node);
    if (!std::all_of(shapes.begin(), shapes.end(), is_whole)) return false;
    for (const ir::NodeId operand : node.operands)
      if (!is_whole(graph[operand].shape)) return false;
  }
  for (std::size_t i = 0; i < node.bodies.size(); ++i) {
    const ir::Graph& body = ir::body(graph, node, i);
    if (!std::all_of(body.nodes.begin(), body.nodes.end(),
                     [&](const ir::Node& inner) { return makes_exact(body, inner); }))
      return false;
  }
  return true;
}

/// What is known of one value: its bounds, and where they are infinite for want of a rule, the operation without one.
struct Known {
  Errors errors;        ///< nullptr: exact
  std::string unknown;  ///< "%sort.3 (sort)"; empty: every operation before has a rule
  std::string lost_at;  ///< as in BoundedTensor
};

/// Whether some elements have no bound.
bool lacks_bounds(const Known& one) {
  if (one.errors == nullptr) return false;
  const double* of = error_bounds(*one.errors);
  return std::any_of(of, of + elements(one.errors->shape), [](double error) { return !std::isfinite(error); });
}

std::string label_of(const ir::Node& node) { return fmt::format("%{} ({})", node.name, ir::name(node.op)); }

/// Whether whole numbers or marks cannot be otherwise: a place that is rounded down from a number, say, which is far
/// enough from the next. What is found by places is known then.
bool leaves_no_doubt(const Errors& errors, ir::DType dtype) {
  if (errors == nullptr) return true;
  if (ir::is_floating(dtype)) return false;
  const double* of = error_bounds(*errors);
  return std::all_of(of, of + elements(errors->shape), [](double one) { return one == 0; });
}

/// Values with what is known of them.
struct KnownValues {
  std::vector<Tensor> values;
  std::vector<Known> known;
};

KnownValues evaluate_known(const ir::Graph& graph, std::span<const Tensor> inputs, std::vector<Known> given,
                           const ErrorBoundOptions& options, const std::stop_token& stop);

/// What is known of every value of every node; of dead values it is dropped.
class ErrorBoundWalk {
 public:
  /// `given`: of the parameters, by number; those beyond are exact.
  ErrorBoundWalk(const ir::Graph& graph, std::vector<Known> given, const ErrorBoundOptions& options)
      : graph_(graph),
        options_(options),
        given_(given.begin(), given.end()),
        known_(graph.nodes.size()),
        uses_(graph.nodes.size(), 0),
        whole_terms_(graph.nodes.size(), 0),
        own_extremes_(own_extremes(graph)) {
    for (const ir::Node& node : graph.nodes)
      for (const ir::NodeId operand : node.operands) ++uses_[operand];
    for (const ir::NodeId output : graph.outputs) ++uses_[output];
    for (const OwnExtreme& one : own_extremes_)
      for (const ir::NodeId mask : one.masks) ++uses_[mask];  // until the reduction is done
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
    std::vector<Known> operands;
    for (const ir::NodeId operand : node.operands) {
      const std::vector<Known>& all = known_[operand];
      operands.insert(operands.end(), all.begin(), all.end());
      if (node.op == ir::Op::add_dependency) break;
    }
    const auto lost =
        std::find_if(operands.begin(), operands.end(), [](const Known& one) { return !one.lost_at.empty(); });
    const std::string lost_at = lost == operands.end() ? std::string() : lost->lost_at;
    std::vector<Known>& made = known_[id];
    if (node.op == ir::Op::parameter && std::cmp_less(parameter_number(node), given_.size()))
      made.assign(1, given_[parameter_number(node)]);
    else if (class_of(node.op) == ir::OpClass::leaf)
      made.assign(1, {});
    else if (node.op == ir::Op::get_tuple_element)
      made.assign(1, operands[tuple_index(node)]);
    else if (passes_operands(node.op))
      made = std::move(operands);
    else if (node.op == ir::Op::map)
      made = of_lines(call, std::move(operands));
    else if (class_of(node.op) == ir::OpClass::control)
      made = of_bodies(call, operands).value_or(not_known(call, operands, results));
    else
      made = of_operation(call, operands, results, whole_terms_[id]);
    for (OwnExtreme& one : own_extremes_) visit(one, id, call, operands);
    for (Known& one : made)
      if (one.lost_at.empty() && lacks_bounds(one)) one.lost_at = lost_at.empty() ? label_of(node) : lost_at;
    for (const ir::NodeId operand : node.operands)
      if (--uses_[operand] == 0) known_[operand].clear();
  }

  /// Hands the bounds out: afterwards nobody else holds those of a value that is one output only.
  std::vector<Known> take_outputs() {
    std::vector<Known> all;
    for (const ir::NodeId output : graph_.outputs) {
      const std::vector<Known>& one = known_[output];
      all.insert(all.end(), one.begin(), one.end());
    }
    known_.clear();
    return all;
  }

 private:
  using Rule = std::optional<std::vector<Errors>>;  ///< nothing: there is none

  /// Takes note of a row's greatest, and of its comparison with it.
  void visit(OwnExtreme& one, ir::NodeId id, const Call& call, const std::vector<Known>& operands) {
    if (one.reduce == id) {
      std::vector<Errors> masks;
      for (const ir::NodeId mask : one.masks) masks.push_back(known_[mask].front().errors);
      find_places(one, call, operands[0].errors, masks);
      for (const ir::NodeId mask : one.masks)
        if (--uses_[mask] == 0) known_[mask].clear();
    }
    if (one.compare != id || known_[id].front().errors == nullptr) return;
    // They were made for this node, and nobody else has them yet.
    settle(one, call, *std::const_pointer_cast<Tensor>(known_[id].front().errors));
    one.places = {};
  }

  static std::string without_rule(const std::vector<Known>& operands) {
    for (const Known& one : operands)
      if (!one.unknown.empty()) return one.unknown;
    return {};
  }

  std::vector<Known> of_operation(const Call& call, const std::vector<Known>& operands,
                                  std::span<const Tensor* const> results, double whole) const {
    std::vector<Errors> errors;
    errors.reserve(operands.size());
    for (const Known& one : operands) errors.push_back(one.errors);
    Rule found = of_call(call, errors, results, whole);
    if (!found) return not_known(call, operands, results);
    const std::string unknown = without_rule(operands);
    std::vector<Known> made;
    for (std::size_t k = 0; k < found->size(); ++k) {
      Errors& one = (*found)[k];
      const bool exact = leaves_no_doubt(one, results[k]->shape.dtype);
      if (exact) one = nullptr;
      made.push_back({std::move(one), exact ? std::string() : unknown, {}});
    }
    return made;
  }

  Rule of_call(const Call& call, const std::vector<Errors>& operands, std::span<const Tensor* const> results,
               double whole) const {
    const ir::Node& node = call.node;
    const bool exact = all_exact(operands);
    if (class_of(node.op) == ir::OpClass::elementwise && has_element_step(call.graph, node))
      return one(elementwise_errors(call, operands, *results[0], options_.arithmetic));
    if (class_of(node.op) == ir::OpClass::index || node.op == ir::Op::bitcast_convert || node.op == ir::Op::copy)
      return one(exact ? nullptr : moved(call, operands, operands.size(), evaluate_index));
    const bool windows = node.op == ir::Op::reduce_window && call.operands.size() == 2;
    if (node.op == ir::Op::reduce || windows) return reduction(call, operands, results, whole);
    if (is_replaced(call, operands)) return one(replaced_errors(call, operands));
    if (exact && makes_exact(call.graph, node)) return std::vector<Errors>(results.size());
    if (Errors errors = contraction_errors(call, operands, *results[0], options_.product_error); errors != nullptr)
      return one(std::move(errors));
    if (Errors errors = multiplied_errors(call, operands, *results[0]); errors != nullptr)
      return one(std::move(errors));
    if (!exact && is_floating(results[0]->shape.dtype))
      if (Errors errors = scattered_extreme_errors(call, operands, *results[0]); errors != nullptr)
        return one(std::move(errors));
    if (exact && moves_exactly(call)) return std::vector<Errors>(results.size());
    if (exact && (node.op == ir::Op::sort || node.op == ir::Op::topk)) return std::vector<Errors>(results.size());
    if (node.op == ir::Op::gather || node.op == ir::Op::dynamic_slice || node.op == ir::Op::dynamic_update_slice) {
      const std::size_t arrays = node.op == ir::Op::dynamic_update_slice ? 2 : 1;
      const bool assignment_known = std::all_of(operands.begin() + static_cast<std::ptrdiff_t>(arrays), operands.end(),
                                                [](const Errors& e) { return e == nullptr; });
      if (exact) return one(nullptr);
      return one(assignment_known ? moved(call, operands, arrays, evaluate_lookup)
                                  : moved_by_bounded(call, operands, arrays));
    }
    return {};
  }

  /// By a body: what only chooses among exact values is exact where it is the same in another order, and what a known
  /// operation does to each array is bounded as ever. Anything else is gone through step by step (bounds/fold.cpp).
  Rule region_reduction(const Call& call, const std::vector<Errors>& operands,
                        std::span<const Tensor* const> results) const {
    if (!ir::is_region_of(ir::body(call.graph, call.node, 0), results.size())) return {};
    if (all_exact(operands) && only_chooses(ir::body(call.graph, call.node, 0))) return order_errors(call, results);
    const std::vector<ir::Reducer> reducers = ir::known_reducers(call.graph, call.node);
    if (reducers.empty()) {
      Rule taken = taken_errors(call, operands, results);
      return taken ? std::move(taken) : folded(call, operands, results);
    }
    std::vector<Errors> all;
    for (std::size_t k = 0; k < reducers.size(); ++k) {
      const std::size_t start = reducers.size() + k;
      const ir::Node node = ir::one_of_several(call.node, reducers[k], k);
      const Call one{call.graph, node, {&call.operand(k), &call.operand(start)}, call.stop};
      const Rule found = reduction(one, {operands[k], operands[start]}, results.subspan(k, 1), 0);
      if (!found) return {};
      all.push_back(found->front());
    }
    return all;
  }

  Rule folded(const Call& call, const std::vector<Errors>& operands, std::span<const Tensor* const> results) const {
    const ir::Graph& body = ir::body(call.graph, call.node, 0);
    return fold_errors(call, operands, results, [&](const FoldedArrays& first, const FoldedArrays& second) {
      std::vector<Tensor> values = first.values;
      values.insert(values.end(), second.values.begin(), second.values.end());
      std::vector<Known> given;
      for (const FoldedArrays* side : {&first, &second})
        for (const Errors& errors : side->errors) given.push_back({errors, {}, {}});
      const ir::Graph lines = of_all_elements(body, first.values[0].shape);
      KnownValues made = evaluate_known(lines, values, std::move(given), options_, call.stop);
      FoldedArrays both{std::move(made.values), {}};
      for (Known& one : made.known) {
        if (!one.unknown.empty()) return std::optional<FoldedArrays>();
        both.errors.push_back(std::move(one.errors));
      }
      return std::optional(std::move(both));
    });
  }

  /// Of the greatest, or the least, with what goes with it: the value is bounded as ever, and the others are those of
  /// one element where no other one may be it.
  static Rule taken_errors(const Call& call, const std::vector<Errors>& operands,
                           std::span<const Tensor* const> results) {
    const Taken taken = side_taken(ir::body(call.graph, call.node, 0), results.size());
    const std::ptrdiff_t exact_from = taken.nothing ? 2 : 1;
    const bool others_exact =
        std::all_of(operands.begin() + exact_from, operands.end(), [](const Errors& e) { return e == nullptr; });
    if (taken.side == 0 || !is_floating(results[0]->shape.dtype) || !others_exact) return {};
    const ir::Node node =
        ir::one_of_several(call.node, taken.side > 0 ? ir::Reducer::maximum : ir::Reducer::minimum, 0);
    Taking taking{call.operand(0), operands[0]};
    if (taken.nothing) taking = without_nothing(call, operands, taken);
    const Call first{call.graph, node, {&taking.values, &call.operand(results.size())}, call.stop};
    std::vector<Errors> all{extreme_errors(first, taking.errors, *results[0])};
    Tensor errors = candidates(first, taking.errors, taken.side);
    for (std::int64_t i = 0; i < elements(errors.shape); ++i) {
      double& error = error_bounds(errors)[i];
      error = error == 1 && std::isfinite(error_bounds(*all[0])[i]) ? 0 : infinity;
    }
    all.resize(results.size(), shared(std::move(errors)));
    return all;
  }

  /// The first array of such a reduction, with bounds.
  struct Taking {
    Tensor values;
    Errors errors;
  };
  /// Where the second array says that there is nothing, the number that is never taken; any number where it may say so.
  static Taking without_nothing(const Call& call, const std::vector<Errors>& operands, const Taken& taken) {
    Tensor values = unwritten_errors(call.operand(0).shape), errors = unwritten_errors(call.operand(0).shape);
    each_real(call.operand(0), [&](std::int64_t i, double value) {
      const bool is_known = operands[1] == nullptr || error_bounds(*operands[1])[i] == 0;
      const bool is_there = cell_at(call.operand(1), i).integer < *taken.nothing;
      error_bounds(values)[i] = is_there || !is_known ? value : -taken.side * infinity;
      const double own = operands[0] == nullptr ? 0 : error_bounds(*operands[0])[i];
      error_bounds(errors)[i] = !is_known ? infinity : is_there ? own : 0;
    });
    return {std::move(values), shared(std::move(errors))};
  }

  static Rule one(Errors errors) { return std::vector<Errors>(1, std::move(errors)); }

  Rule reduction(const Call& call, const std::vector<Errors>& operands, std::span<const Tensor* const> results,
                 double whole) const {
    const bool exact = all_exact(operands);
    const ir::Reducer reducer = ir::reducer(call.node);
    if (!has_cells(results[0]->shape.dtype)) return {};
    if (call.node.op == ir::Op::reduce && ir::runs_region(call.node)) return region_reduction(call, operands, results);
    if (reducer == ir::Reducer::custom || reducer == ir::Reducer::none || call.operands.size() != 2) {
      const bool chooses = exact && !call.node.bodies.empty() && only_chooses(ir::body(call.graph, call.node, 0));
      return chooses ? Rule(results.size()) : Rule();
    }
    if (!is_floating(results[0]->shape.dtype)) {
      if (exact) return one(nullptr);
      const Errors of_terms = operands[0] != nullptr ? operands[0] : constant_errors(call.operand(0).shape, 0);
      // Each element may change by its bound. Bits of numbers that do are any.
      const bool is_pred = results[0]->shape.dtype == ir::DType::pred;
      if (reducer == ir::Reducer::add && !is_pred) return one(shared(reduced(call, *of_terms, ir::Reducer::add)));
      if (!is_pred && reducer != ir::Reducer::maximum && reducer != ir::Reducer::minimum) return {};
      return one(shared(reduced(call, *of_terms, ir::Reducer::maximum)));
    }
    if (reducer == ir::Reducer::add) {
      const Errors errors = sum_errors(call, operands[0], *results[0], whole);
      return one(options_.narrow_sums ? narrow_sum_errors(call, errors, *results[0]) : errors);
    }
    if (reducer == ir::Reducer::multiply) return one(product_errors(call, operands[0], *results[0]));
    return one(exact ? nullptr : extreme_errors(call, operands[0], *results[0]));
  }

  /// A loop or a branch is evaluated once more, this time with the bounds of what goes round in it. Nothing where which
  /// way it goes hangs on a rounded number.
  std::optional<std::vector<Known>> of_bodies(const Call& call, std::vector<Known> operands) const {
    const bool exact =
        std::all_of(operands.begin(), operands.end(), [](const Known& k) { return k.errors == nullptr; });
    if (exact && makes_exact(call.graph, call.node)) return std::vector<Known>(result_shapes(call.node).size());
    std::vector<Tensor> values;
    if (call.node.op == ir::Op::conditional) {
      if (!is_exact(operands[0])) return {};
      const Branch branch = chosen_branch(call);
      const auto first = operands.begin() + static_cast<std::ptrdiff_t>(branch.first);
      for (std::size_t i = 0; i < branch.count; ++i) values.push_back(call.operand(branch.first + i));
      return evaluate_known(branch.body, values, {first, first + static_cast<std::ptrdiff_t>(branch.count)}, options_,
                            call.stop)
          .known;
    }
    for (const Tensor* operand : call.operands) values.push_back(*operand);
    KnownValues state{std::move(values), std::move(operands)};
    for (;;) {
      const KnownValues goes_on = evaluate_known(body(call, 0), state.values, state.known, options_, call.stop);
      if (!is_exact(goes_on.known.front())) return {};
      if (as_integer(goes_on.values.front(), 0) == 0) return std::move(state.known);
      state = evaluate_known(body(call, 1), state.values, std::move(state.known), options_, call.stop);
    }
  }

  /// A map is its body's lines, each of all elements.
  std::vector<Known> of_lines(const Call& call, std::vector<Known> operands) const {
    std::vector<Tensor> values;
    for (const Tensor* operand : call.operands) values.push_back(*operand);
    const ir::Graph lines = of_all_elements(ir::body(call.graph, call.node, 0), call.node.shape);
    return evaluate_known(lines, values, std::move(operands), options_, call.stop).known;
  }

  /// The body with arrays in place of numbers; what hands a number on hands the array on.
  static ir::Graph of_all_elements(const ir::Graph& body, const ir::Shape& shape) {
    ir::Graph lines;
    lines.bodies = body.bodies;
    IndexedVector<ir::NodeId> array_of;
    for (ir::Node line : body.nodes) {
      for (ir::NodeId& operand : line.operands) operand = array_of[operand];
      if (line.op == ir::Op::constant) {
        lines.nodes.push_back(line);
        line.op = ir::Op::broadcast;
        line.attributes = ir::AxisList{};
        line.operands = {static_cast<ir::NodeId>(lines.nodes.size() - 1)};
      } else if (class_of(line.op) == ir::OpClass::index) {
        line.op = ir::Op::copy;
        line.attributes = ir::NoAttributes{};
      }
      if (line.shape.rank() == 0) line.shape = ir::make_shape(line.shape.dtype, shape.dims);
      array_of.push_back(static_cast<ir::NodeId>(lines.nodes.size()));
      lines.nodes.push_back(std::move(line));
    }
    for (const ir::NodeId output : body.outputs) lines.outputs.push_back(array_of[output]);
    return lines;
  }

  static bool is_exact(const Known& one) {
    return one.errors == nullptr || (elements(one.errors->shape) == 1 && error_bounds(*one.errors)[0] == 0);
  }

  static std::vector<Known> not_known(const Call& call, const std::vector<Known>& operands,
                                      std::span<const Tensor* const> results) {
    std::string unknown = without_rule(operands);
    if (unknown.empty()) unknown = label_of(call.node);
    std::vector<Known> all;
    for (const Tensor* result : results) all.push_back({constant_errors(result->shape, infinity), unknown, {}});
    return all;
  }

  const ir::Graph& graph_;
  const ErrorBoundOptions& options_;
  IndexedVector<Known> given_;
  IndexedVector<std::vector<Known>> known_;
  IndexedVector<std::int32_t> uses_;
  IndexedVector<double> whole_terms_;  ///< of the sums that reductions are steps of; 0: of none
  std::vector<OwnExtreme> own_extremes_;
};

KnownValues evaluate_known(const ir::Graph& graph, std::span<const Tensor> inputs, std::vector<Known> given,
                           const ErrorBoundOptions& options, const std::stop_token& stop) {
  ErrorBoundWalk walk(graph, std::move(given), options);
  KnownValues all;
  all.values = evaluate_visited(
      graph, inputs,
      [&](ir::NodeId id, const Call& call, std::span<const Tensor* const> results) { walk.visit(id, call, results); },
      stop);
  all.known = walk.take_outputs();
  return all;
}

}  // namespace

double unit_roundoff(ir::DType dtype) { return std::ldexp(1.0, -float_format(dtype).mantissa_bits - 1); }

std::string why_unbounded(const BoundedTensor& tensor) {
  if (!tensor.unknown.empty()) return fmt::format("there is no rule for that of {}", tensor.unknown);
  constexpr std::string_view causes = "overflows, is near a pole, or hangs on numbers too close to tell apart";
  return tensor.lost_at.empty() ? fmt::format("something before {}", causes)
                                : fmt::format("from {} on something {}", tensor.lost_at, causes);
}

std::vector<BoundedTensor> evaluate_with_error_bounds(const ir::Graph& graph, std::span<const Tensor> inputs,
                                                      const ErrorBoundOptions& options, const std::stop_token& stop) {
  const KeptMemory kept;
  KnownValues found = evaluate_known(graph, inputs, {}, options, stop);
  std::vector<BoundedTensor> all;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    Known& known = found.known[i];
    all.push_back({std::move(found.values[i]), known.errors ? to_vector(*known.errors) : std::vector<double>(),
                   std::move(known.unknown), std::move(known.lost_at)});
    known.errors.reset();
  }
  return all;
}

}  // namespace tailor::reference
