// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Taking a group apart along its outermost dimension. In: a graph, steps and tensors. Out: the same of these steps
// alone. Called by make_reference.cpp. Which dimensions belong together is what shrink.h finds; it promises that the
// first steps are those of the whole group. That any steps are takes more, and is looked at here.
#include "profiler/check/parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>

#include "base/memory.h"
#include "base/parallel.h"
#include "ir/graph/number.h"
#include "reference/evaluate_moves.h"

namespace tailor::profiler {

namespace {

/// What one evaluation of a part may take: what stays in the second cache, and enough that operations cost more than
/// the walk over them.
constexpr std::int64_t bytes_of_part = std::int64_t{2} << 20;

/// Whether the node does to each step what it does to the first.
bool is_same_for_all_steps(const ir::Node& node, int dim) {
  if (node.op == ir::Op::constant) return false;
  if (node.op == ir::Op::reverse) return !ir::axes(node).contains(dim);
  return node.op != ir::Op::iota || ir::axis(node) != dim;
}

/// An array as three loops: before the dimension, steps of it, bytes of one step.
struct Steps {
  std::int64_t outer = 1, all = 1, bytes = 1;
  Steps(const ir::Shape& shape, int dim, std::int64_t steps) : all(steps) {
    for (int d = 0; d < dim; ++d) outer *= shape.dims[d];
    bytes = elements(shape) / outer / steps * element_bytes(shape.dtype);
  }
};

/// Steps first .. first+count-1 of an array, which stand next to one another in `from`, into their places.
void put(std::span<const std::byte> from, std::span<std::byte> to, const Steps& steps, std::int64_t first,
         std::int64_t count) {
  const auto size = static_cast<std::size_t>(count * steps.bytes);
  for (std::int64_t outer = 0; outer < steps.outer; ++outer)
    std::memcpy(to.data() + (outer * steps.all + first) * steps.bytes,
                from.data() + static_cast<std::size_t>(outer) * size, size);
}

/// Every part makes anew what is the same for all, as a table that rows are gathered from. Parts are so few that this
/// is no more than the rest. `dim_of`: per node, -1 where it is the same.
std::int64_t least_steps_at_once(const ir::Graph& graph, const std::vector<int>& dim_of, std::int64_t steps) {
  double again = 0, own = 1;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].op != ir::Op::parameter)
      (dim_of[id] < 0 ? again : own) += static_cast<double>(elements(graph.nodes[id].shape));
  const double least = static_cast<double>(steps) * std::min(1.0, again / own);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(least)));
}

}  // namespace

std::optional<Parts> parts_of(const ir::Graph& graph) {
  std::optional<codegen::OuterExtent> extent = codegen::outer_extent(graph);
  if (!extent || extent->steps < 2) return {};
  std::optional<Parts> parts = parts_along(graph, std::move(*extent));
  const bool all =
      parts && std::none_of(parts->output_dims.begin(), parts->output_dims.end(), [](int d) { return d < 0; });
  return all ? std::move(parts) : std::nullopt;
}

std::optional<Parts> parts_along(const ir::Graph& graph, codegen::OuterExtent extent) {
  std::vector<int> dim_of(graph.nodes.size(), -1);
  for (const codegen::OuterExtent::NodeDim& one : extent.dims) {
    int& dim = dim_of[static_cast<std::size_t>(one.node)];
    if (dim >= 0 || !is_same_for_all_steps(graph[one.node], one.dim)) return {};
    dim = one.dim;
  }
  Parts parts;
  for (const ir::NodeId id : parameters(graph)) parts.input_dims.push_back(dim_of[static_cast<std::size_t>(id)]);
  for (const ir::NodeId id : graph.outputs) parts.output_dims.push_back(dim_of[static_cast<std::size_t>(id)]);
  const auto bytes_of = [&](std::int64_t steps) {
    const ir::Graph part = codegen::shrunk(graph, extent, steps).graph;
    std::int64_t inputs = 0;
    for (const ir::NodeId id : parameters(part))
      inputs += elements(part[id].shape) * element_bytes(part[id].shape.dtype);
    return inputs + reference::bytes_to_evaluate(part);
  };
  const std::int64_t least = least_steps_at_once(graph, dim_of, extent.steps);
  parts.steps_at_once = std::clamp(bytes_of_part / std::max<std::int64_t>(bytes_of(1), 1), least, extent.steps);
  parts.bytes = bytes_of(parts.steps_at_once);
  parts.graph = graph;
  parts.extent = std::move(extent);
  return parts;
}

reference::Tensor part_of(const reference::Tensor& whole, int dim, std::int64_t steps,
                          std::span<const std::int64_t> wanted) {
  if (dim < 0) return whole;
  const Steps from(whole.shape, dim, steps);
  reference::Tensor part{whole.shape, {}};
  std::int64_t& extent = part.shape.dims[dim];
  extent = extent / steps * std::ssize(wanted);
  part.bytes.resize(static_cast<std::size_t>(from.outer * std::ssize(wanted) * from.bytes));
  std::byte* to = part.bytes.data();
  for (std::int64_t outer = 0; outer < from.outer; ++outer)
    for (const std::int64_t step : wanted) {
      std::memcpy(to, whole.bytes.data() + (outer * from.all + step) * from.bytes,
                  static_cast<std::size_t>(from.bytes));
      to += from.bytes;
    }
  return part;
}

PartEvaluator::PartEvaluator(const Parts& parts, std::span<const reference::Tensor> inputs,
                             const reference::ErrorBoundOptions& bounds, std::stop_token stop)
    : parts_(parts), inputs_(inputs), bounds_(bounds), stop_(std::move(stop)) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    some_.push_back(parts.input_dims[i] < 0 ? inputs[i] : reference::Tensor());
}

std::vector<reference::BoundedTensor> PartEvaluator::operator()(std::span<const std::int64_t> wanted) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (parts_.input_dims[i] >= 0) some_[i] = part_of(inputs_[i], parts_.input_dims[i], parts_.extent.steps, wanted);
  if (steps_ != std::ssize(wanted)) {
    graph_ = codegen::shrunk(parts_.graph, parts_.extent, std::ssize(wanted)).graph;
    steps_ = std::ssize(wanted);
  }
  return reference::evaluate_with_error_bounds(graph_, some_, bounds_, stop_);
}

std::int64_t parts_at_once(const Parts& parts) {
  constexpr std::int64_t together = 16 * bytes_of_part;
  const std::int64_t all = (parts.extent.steps + parts.steps_at_once - 1) / parts.steps_at_once;
  return std::clamp(together / std::max<std::int64_t>(parts.bytes, 1), std::int64_t{1}, all);
}

namespace {

/// Of what several parts say, the same whichever comes first.
void keep_least(const std::string& one, std::string& kept) {
  if (!one.empty() && (kept.empty() || one < kept)) kept = one;
}

/// Puts the reference of some steps into that of all, whose bounds are made with the first that there are.
void put_part(const Parts& parts, const std::vector<reference::BoundedTensor>& some, std::int64_t first,
              std::int64_t count, std::vector<reference::BoundedTensor>& all, std::mutex& making_room) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    Steps to(all[k].value.shape, parts.output_dims[k], parts.extent.steps);
    put(std::as_bytes(std::span(some[k].value.bytes)), std::as_writable_bytes(std::span(all[k].value.bytes)), to, first,
        count);
    if (some[k].error.empty()) continue;
    {
      const std::lock_guard lock(making_room);
      if (all[k].error.empty()) all[k].error = large_array<double>(element_count(all[k].value.shape));
      keep_least(some[k].unknown, all[k].unknown);
      keep_least(some[k].lost_at, all[k].lost_at);
    }
    to.bytes = to.bytes / element_bytes(all[k].value.shape.dtype) * static_cast<std::int64_t>(sizeof(double));
    put(std::as_bytes(std::span(some[k].error)), std::as_writable_bytes(std::span(all[k].error)), to, first, count);
  }
}

}  // namespace

std::vector<reference::BoundedTensor> evaluate_all(const Parts& parts, std::span<const reference::Tensor> inputs,
                                                   const reference::ErrorBoundOptions& bounds,
                                                   const std::stop_token& stop) {
  std::vector<reference::BoundedTensor> all;
  for (const ir::NodeId output : parts.graph.outputs)
    all.push_back({reference::unwritten(parts.graph[output].shape), {}});
  std::mutex making_room;
  const auto evaluate_steps = [&](std::int64_t begin, std::int64_t end) {
    PartEvaluator evaluate(parts, inputs, bounds, stop);
    std::vector<std::int64_t> wanted;
    for (std::int64_t first = begin; first < end; first += parts.steps_at_once) {
      wanted.resize(static_cast<std::size_t>(std::min(parts.steps_at_once, end - first)));
      std::iota(wanted.begin(), wanted.end(), first);
      put_part(parts, evaluate(wanted), first, std::ssize(wanted), all, making_room);
    }
  };
  // Large parts are taken one after the other, and their operations by several threads.
  const std::int64_t at_once = std::min<std::int64_t>(parts_at_once(parts), threads_allowed());
  if (at_once == 1) {
    evaluate_steps(0, parts.extent.steps);
    return all;
  }
  const ThreadLimit few(static_cast<int>(at_once));
  in_parallel(parts.extent.steps, parts.steps_at_once, evaluate_steps);
  return all;
}

}  // namespace tailor::profiler
