// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// References that say something. In: a group and a seed. Out: inputs and what the group makes of them, with bounds.
// Called by the pool of checks and by measurements.
//
// The reference is evaluated on random inputs in the ranges that their uses ask for. Where less than nine tenths of the
// results can be judged (NaN, infinity, no bound), other inputs are tried in a fixed order: positive ones, integers of
// 0 and 1, both. Edges that make results without a bound (a sum that overflows in one order of additions only) are
// found from these results and left out, value by value. A large group is expensive to evaluate four times, so the
// choice is made on a part of its rows first and kept when the whole turns out alike. Of a group that is to repeat,
// such a part is all there is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/memory.h"
#include "codegen/lower/shrink.h"
#include "profiler/check/check.h"
#include "profiler/check/memory_need.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_memory.h"
#include "reference/inputs.h"

namespace tailor::profiler {

namespace {

/// Below these fractions of the elements other inputs are tried.
constexpr double enough_bounded = 0.99, enough_finite = 0.9;

/// Fractions of the elements of all outputs.
struct Share {
  double bounded = 1;  ///< have a bound
  double finite = 1;   ///< and are numbers: a NaN or an infinity may come from anywhere

  bool enough() const { return bounded >= enough_bounded && finite >= enough_finite; }
  bool operator<(const Share& other) const { return finite < other.finite; }
};

Share share_of(const std::vector<reference::BoundedTensor>& outputs, const std::stop_token& stop) {
  std::int64_t all = 0;
  std::atomic<std::int64_t> bounded = 0, finite = 0;
  for (const reference::BoundedTensor& output : outputs) {
    all += ir::elements(output.value.shape);
    const bool exact = output.error.empty();
    in_parallel(ir::elements(output.value.shape), reference::parallel_cells,
                [&](std::int64_t first, std::int64_t last) {
                  std::int64_t with_bound = 0, numbers = 0;
                  const auto count = [&](std::int64_t i, double value) {
                    if (!exact && !std::isfinite(output.error[static_cast<std::size_t>(i)])) return;
                    ++with_bound;
                    numbers += std::isfinite(value) ? 1 : 0;
                  };
                  reference::each_real_between(output.value, first, last, count, stop);
                  bounded += with_bound;
                  finite += numbers;
                });
  }
  if (all == 0) return {};
  return {static_cast<double>(bounded.load()) / static_cast<double>(all),
          static_cast<double>(finite.load()) / static_cast<double>(all)};
}

/// Roots and logarithms of positive numbers are numbers.
void make_positive(reference::Tensor& tensor, const std::stop_token& stop) {
  if (!ir::is_floating(tensor.shape.dtype)) return;
  const auto set = [](std::int64_t, reference::Cell& cell) { cell.real = std::fabs(cell.real) + 0.25; };
  reference::each_cell_apart(tensor, set, stop);
}

/// Integers that are masks are 0 or 1; so are indices that fit everywhere.
void make_mask(reference::Tensor& tensor, const std::stop_token& stop) {
  if (!ir::is_integer(tensor.shape.dtype)) return;
  reference::each_cell_apart(
      tensor, [](std::int64_t, reference::Cell& cell) { cell.integer &= 1; }, stop);
}

/// Inputs, in the order they are tried: with as many edges as leave enough to judge.
struct Variant {
  std::string_view name;
  reference::Edges edges;
  bool positive, masks;
};
using reference::Edges;
constexpr auto variants = std::to_array<Variant>({
    {"as their uses ask, with edges, infinities and NaN", Edges::not_finite, false, false},
    {"integers 0 or 1, with edges, infinities and NaN", Edges::not_finite, false, true},
    {"as their uses ask, with edges", Edges::finite, false, false},
    {"as their uses ask", Edges::mild, false, false},
    {"positive", Edges::mild, true, false},
    {"as their uses ask, integers 0 or 1", Edges::mild, false, true},
    {"positive, integers 0 or 1", Edges::mild, true, true},
});

std::vector<reference::Tensor> inputs_of(const Variant& variant, const ir::Graph& graph, std::uint64_t seed,
                                         const reference::LeftOut& left_out, const std::stop_token& stop) {
  std::vector<reference::Tensor> all = reference::sensible_inputs(graph, seed, variant.edges, left_out, stop);
  for (reference::Tensor& input : all) {
    if (variant.positive) make_positive(input, stop);
    if (variant.masks) make_mask(input, stop);
  }
  return all;
}

/// Groups of fewer elements are evaluated under one variant after the other; larger ones are tried on a part first.
constexpr std::int64_t large_group = 1 << 17;

/// Groups whose evaluation takes less are evaluated as a whole: all of it stays in the cache.
constexpr std::int64_t worth_parts = std::int64_t{4} << 20;

/// Not where it changes no input. Nor, of a large group, where all that comes out is a few sums, which one edge would
/// make infinite: every evaluation of it takes long.
bool is_worth_trying(const Variant& variant, const ir::Graph& graph) {
  std::int64_t largest = 0, results = 0;
  bool integers = false, floats = false;
  for (const ir::Node& node : graph.nodes) largest = std::max(largest, ir::elements(node.shape));
  for (const ir::NodeId output : graph.outputs) results += ir::elements(graph[output].shape);
  for (const ir::NodeId id : parameters(graph)) {
    integers = integers || ir::is_integer(graph[id].shape.dtype);
    floats = floats || ir::is_floating(graph[id].shape.dtype);
  }
  constexpr std::int64_t few = 64;
  if (variant.edges > Edges::mild && floats && results < few && largest >= large_group) return false;
  return (!variant.masks || integers) && (!variant.positive || floats);
}

/// Elements of the results of a part, over all of its operations.
constexpr std::int64_t most_evaluated = std::int64_t{1} << 26;

/// Of all arrays that an evaluation makes.
std::int64_t elements_of_all(const ir::Graph& graph) {
  std::int64_t all = 0;
  for (const ir::Node& node : graph.nodes) all += node.operands.empty() ? 0 : ir::elements(node.shape);
  return all;
}

/// Steps of a part that shows how many rows an edge spoils, yet is small.
std::int64_t steps_that_show(const ir::Graph& graph, const codegen::OuterExtent& extent) {
  std::int64_t largest = 1, row = 1;
  for (const ir::Node& node : graph.nodes) {
    const ir::Dims& dims = node.shape.dims;
    if (ir::elements(node.shape) > largest && dims.size() > 0) row = std::max<std::int64_t>(dims[dims.size() - 1], 1);
    largest = std::max(largest, ir::elements(node.shape));
  }
  constexpr std::int64_t enough_rows = 64;
  const std::int64_t of_step = std::max<std::int64_t>(largest / extent.steps, 1);
  const std::int64_t rows_of_step = std::max<std::int64_t>(of_step / row, 1);
  const std::int64_t steps = std::max(large_group / of_step, (enough_rows + rows_of_step - 1) / rows_of_step);
  // Of thousands of operations each element takes long, and one variant after the other is tried.
  const std::int64_t operations_of_step = std::max(elements_of_all(graph) / extent.steps, std::int64_t{1});
  return std::min(steps, std::max(most_evaluated / operations_of_step, std::int64_t{1}));
}

/// The same; 0 where such a part is not much less than the group, or the group is small.
std::int64_t steps_of_part(const ir::Graph& graph, const codegen::OuterExtent& extent) {
  const std::int64_t steps = steps_that_show(graph, extent);
  const bool large = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                 [](const ir::Node& node) { return ir::elements(node.shape) >= large_group; });
  return large && 2 * steps <= extent.steps ? steps : 0;
}

void add_left_out(reference::LeftOut& all, const reference::LeftOut& more) {
  all.resize(std::max(all.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) all[i].insert(all[i].end(), more[i].begin(), more[i].end());
}

/// One group's reference under one variant after the other.
class Making {
 public:
  Making(const ir::Graph& graph, std::uint64_t seed, const std::stop_token& stop,
         const reference::ErrorBoundOptions& bounds)
      : graph_(graph), seed_(seed), stop_(stop), bounds_(bounds) {
    if (reference::bytes_to_evaluate(graph) >= worth_parts) parts_ = parts_of(graph);
  }

  /// What came of a variant, and how much of it can be judged.
  struct Made {
    Reference reference;
    Share share;
    const Variant* variant = nullptr;
    reference::LeftOut left_out;  ///< edges whose results could not be judged
  };

  /// Outputs as a whole.
  Reference whole() const {
    if (std::optional<Made> guided = by_part()) return std::move(guided->reference);
    return best(variants, {}).reference;
  }

 private:
  /// Rounds of looking for edges to leave out: all of a part's, and those of the whole that the part had not.
  static constexpr int rounds_of_part = 6, rounds_of_whole = 2;

  Made made(const Variant& variant, reference::LeftOut left_out) const {
    Made one;
    one.variant = &variant;
    one.left_out = std::move(left_out);
    one.reference.seed = seed_;
    one.reference.inputs = inputs_of(variant, graph_, seed_, one.left_out, stop_);
    one.reference.arithmetic = bounds_.arithmetic;
    one.reference.outputs = parts_
                                ? evaluate_all(*parts_, one.reference.inputs, bounds_, stop_)
                                : reference::evaluate_with_error_bounds(graph_, one.reference.inputs, bounds_, stop_);
    one.share = share_of(one.reference.outputs, stop_);
    one.reference.judged = one.share.bounded;
    one.reference.inputs_are = variant.name;
    return one;
  }

  /// Without the edges that make results impossible to judge. Of a large group they are not looked for: that takes a
  /// number per element.
  Made judgeable(const Variant& variant, int most_rounds, reference::LeftOut left_out = {}) const {
    constexpr std::size_t most_elements = std::size_t{1} << 22;
    const bool small = std::all_of(graph_.nodes.begin(), graph_.nodes.end(), [](const ir::Node& node) {
      return node.shape.dtype == ir::DType::tuple || element_count(node.shape) <= most_elements;
    });
    for (int round = 0;; ++round) {
      Made one = made(variant, std::move(left_out));
      if (one.share.bounded == 1 || variant.edges < Edges::finite || !small || round == most_rounds) return one;
      const reference::LeftOut more =
          reference::edges_without_bound(graph_, one.reference.inputs, one.reference.outputs, stop_);
      if (more.empty()) return one;
      left_out = std::move(one.left_out);
      add_left_out(left_out, more);
    }
  }

  /// The first under which enough can be judged, else the one under which most can, `most` among them, whose reference
  /// is not kept. One reference at a time.
  Made best(std::span<const Variant> tried, Made most) const {
    most.reference = {};
    for (const Variant& variant : tried) {
      if (!is_worth_trying(variant, graph_)) continue;
      Made one = judgeable(variant, rounds_of_part);
      if (one.share.enough()) return one;
      if (most.variant != nullptr && !(most.share < one.share)) continue;
      one.reference = {};
      most = std::move(one);
    }
    return made(*most.variant, std::move(most.left_out));
  }

  Made best_of_part(const codegen::OuterExtent& extent, std::int64_t steps) const {
    const ir::Graph part = codegen::shrunk(graph_, extent, steps).graph;
    return Making(part, seed_, stop_, bounds_).best(variants, {});
  }

  /// A large group under the variant that is best for a part of its rows. Where the whole turns out to be another
  /// matter, under one of those with fewer edges. Nothing when there is no such part.
  std::optional<Made> by_part() const {
    const std::optional<codegen::OuterExtent> extent = codegen::outer_extent(graph_);
    const std::int64_t steps = extent ? steps_of_part(graph_, *extent) : 0;
    if (steps == 0) return {};
    const Made part = best_of_part(*extent, steps);
    constexpr double about = 0.02;  // the share of a part and of the whole differ by chance
    Made all = judgeable(*part.variant, rounds_of_whole, part.left_out);
    if (all.share.enough() || all.share.finite >= part.share.finite - about) return all;
    const auto next = static_cast<std::size_t>(part.variant - variants.data()) + 1;
    return best(std::span(variants).subspan(next), std::move(all));
  }

  const ir::Graph& graph_;
  std::uint64_t seed_;
  const std::stop_token& stop_;
  reference::ErrorBoundOptions bounds_;
  std::optional<Parts> parts_;
};

/// The first node that the evaluator has no semantics for, in words; empty when there is none.
std::string without_semantics(const ir::Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!reference::can_evaluate(graph, static_cast<ir::NodeId>(i)))
      return fmt::format("the reference has no semantics for {} (%{})", ir::name(graph.nodes[i].op),
                         graph.nodes[i].name);
  return {};
}

}  // namespace

std::int64_t bytes_to_evaluate(const ir::Graph& graph, const std::optional<Parts>& parts) {
  const std::int64_t whole = reference::bytes_to_evaluate(graph);
  if (!parts || whole < worth_parts) return whole;
  return reference::bytes_of_outputs(graph) + parts_at_once(*parts) * parts->bytes;
}

std::shared_ptr<const Repeats> repeats_of(const ir::Graph& graph) {
  std::int64_t all = 1;
  for (const ir::Node& node : graph.nodes) all = std::max(all, ir::elements(node.shape));
  std::shared_ptr<const Repeats> best;
  std::int64_t fewest = all;
  for (codegen::OuterExtent& extent : codegen::extents_of(graph)) {
    const std::int64_t steps = extent.steps, kept = steps_to_keep(steps, steps_that_show(graph, extent));
    const std::int64_t elements = all / steps * kept;
    if (kept == steps || elements >= fewest) continue;
    std::optional<Parts> parts = parts_along(graph, std::move(extent));
    if (!parts) continue;
    best = std::make_shared<const Repeats>(Repeats{std::move(*parts), kept});
    fewest = elements;
    // Further in, rows would be cut; that is for where the outer steps are too large.
    if (elements <= sampled_elements) break;
  }
  return best;
}

Reference evaluate_reference(const ir::Group& group, std::uint64_t seed, std::shared_ptr<const Repeats> repeats,
                             const std::stop_token& stop, const reference::ErrorBoundOptions& bounds) {
  Reference reference;
  reference.seed = seed;
  reference.arithmetic = bounds.arithmetic;
  reference.reason = without_semantics(group.graph);
  const ir::Graph some = repeats ? kept_graph(*repeats) : ir::Graph();
  const ir::Graph& graph = repeats ? some : group.graph;
  if (reference.reason.empty()) {
    const std::int64_t bytes = bytes_of_inputs(graph) + bytes_to_evaluate(graph, parts_of(graph));
    const std::int64_t available = free_memory();
    if (bytes > available)
      reference.reason =
          out_of_memory(bytes, available, {.raised = false, .sampled = !repeats, .smaller = can_shrink(group.graph)});
  }
  if (!reference.reason.empty()) return reference;
  const reference::KeptMemory kept;  // from one evaluation to the next
  reference = Making(graph, seed, stop, bounds).whole();
  reference.repeats = std::move(repeats);
  return reference;
}

std::vector<reference::Tensor> plain_inputs(const ir::Group& group, const Reference& reference,
                                            const std::stop_token& stop) {
  const auto* const found = std::find_if(variants.begin(), variants.end(),
                                         [&](const Variant& variant) { return variant.name == reference.inputs_are; });
  Variant plain = found == variants.end() ? variants.front() : *found;
  plain.edges = Edges::none;
  return inputs_of(plain, group.graph, reference.seed, {}, stop);
}

std::vector<Reference> evaluate_given(const ir::Group& group, const GivenArrays& given, std::uint64_t seed,
                                      const std::stop_token& stop, const reference::ErrorBoundOptions& bounds) {
  std::vector<Reference> all(1);
  Reference& own = all.front();
  own.seed = seed;
  own.arithmetic = bounds.arithmetic;
  own.reason = without_semantics(group.graph);
  if (!own.reason.empty()) return all;
  own.inputs = given.inputs;
  own.inputs_are = "given";
  own.outputs = reference::evaluate_with_error_bounds(group.graph, given.inputs, bounds, stop);
  own.judged = share_of(own.outputs, stop).bounded;
  if (given.expected.empty()) return all;
  Reference theirs = own;
  for (std::size_t i = 0; i < given.expected.size(); ++i) {
    if (!given.expected[i]) continue;
    reference::BoundedTensor& to = theirs.outputs[i];
    const std::vector<double> of_group = std::exchange(to, *given.expected[i]).error;
    // The files are as far from the reference as a right model may be, and the kernel as far as a right kernel may be.
    for (std::size_t e = 0; e < std::min(to.error.size(), of_group.size()); ++e) to.error[e] += of_group[e];
    if (to.error.empty()) to.error = of_group;
  }
  theirs.judged = share_of(theirs.outputs, stop).bounded;
  all.push_back(std::move(theirs));
  return all;
}

}  // namespace tailor::profiler
