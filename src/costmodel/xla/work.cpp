// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's counts. In: a kernel. Out: its Work. Called by price.cpp for every kernel that the strategy makes.
//
// One operation costs its table's clocks per element; what moves elements costs nothing. A fusion is walked from its
// results to its operands. Each item knows at which places it is computed: those of the results it leads to through
// elementwise operations. Any other operation starts new places at its operands, as many as it needs of them, rounded
// up to whole elements. An item used at two places is emitted and computed twice.
#include "costmodel/xla/work.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "costmodel/xla/shapes.h"
#include "ir/graph/attribute_text.h"

namespace tailor::costmodel::xla {

using ir::Node;
using ir::Op;
using ir::Shape;

namespace {

/// What one instruction costs, whoever uses it.
struct Cost {
  float flops = 0, written = 0;
  std::vector<float> read, utilization;  ///< per operand
};

/// Clocks of one application of a region; 0 when it is not known.
float region_clocks(const ir::Graph& graph, const Node& node, ir::Reducer reducer, const Target& target) {
  const ir::DType dtype = first_shape(node).dtype;
  if (reducer != ir::Reducer::none && reducer != ir::Reducer::custom)
    return static_cast<float>(cycles(target, ir::op_of(reducer), dtype));
  float sum = 0;
  for (const std::int32_t body : node.bodies)
    for (const Node& inner : graph.bodies[static_cast<std::size_t>(body)].nodes)
      if (is_elementwise(inner) && inner.op != Op::copy)
        sum += static_cast<float>(cycles(target, inner.op, inner.shape.dtype) * elements_of(inner));
  return sum;
}

std::int64_t log2_ceiling(std::int64_t number) {
  return number <= 1 ? 0 : static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(number - 1)));
}

void count_window(const Kernel& kernel, const Item& one, const Target& target, Cost& cost) {
  const auto& call = std::get<ir::RegionCall>(one.node->attributes);
  std::int64_t window = 1;
  for (const ir::WindowDim& dim : ir::parse_window(call.text, first_shape(*one.node).rank())) window *= dim.size;
  const std::int64_t out = ir::elements(first_shape(*one.node));
  const Shape& input = operand_shape(kernel, one, 0);
  cost.utilization[0] =
      static_cast<float>(1.0 * static_cast<double>(out * window) / static_cast<double>(ir::elements(input)));
  cost.read[0] = static_cast<float>(out * window * storage_bits(input.dtype) / 8);
  cost.flops = region_clocks(*kernel.graph, *one.node, call.reducer, target) * static_cast<float>((window - 1) * out);
}

float ratio(std::int64_t a, std::int64_t b) {
  return static_cast<float>(static_cast<double>(a) / static_cast<double>(b));
}

/// Every operand once, and nothing computed.
Cost plain_cost(const Kernel& kernel, const Item& one) {
  Cost cost;
  cost.written = static_cast<float>(bytes_of(*one.node));
  for (const std::int32_t operand : one.operands) {
    cost.read.push_back(static_cast<float>(bytes_of(node(kernel, operand))));
    cost.utilization.push_back(1);
  }
  return cost;
}

/// Reductions, scatters and sorts: what the region costs, as often as it is applied.
void count_regions(const Kernel& kernel, const Item& one, const Target& target, Cost& cost) {
  const auto elements = [&](std::size_t which) { return ir::elements(operand_shape(kernel, one, which)); };
  if (one.node->op == Op::sort) {
    cost.flops = static_cast<float>(elements(0) * log2_ceiling(elements(0)));
    return;
  }
  const float clocks = region_clocks(*kernel.graph, *one.node, ir::reducer(*one.node), target);
  if (one.node->op == Op::reduce) {
    const std::int64_t results = ir::elements(first_shape(*one.node));
    cost.flops = clocks * static_cast<float>(elements(0) - results);
    for (std::size_t i = one.operands.size() / 2; i < one.operands.size(); ++i) {
      cost.read[i] = static_cast<float>(results * bytes_of(node(kernel, one.operands[i])));
      cost.utilization[i] = static_cast<float>(results);
    }
    return;
  }
  const std::size_t arrays = (one.operands.size() - 1) / 2;
  cost.written = 0;
  for (std::size_t i = 0; i < arrays; ++i) {
    cost.read[i] = cost.read[arrays + 1 + i];
    cost.written += cost.read[i];
  }
  cost.flops = clocks * static_cast<float>(elements(arrays + 1));
}

/// Branches of a warp that stands across a border are both executed, which XLA charges as one large number.
float concatenate_flops(const Kernel& kernel, const Item& one) {
  const int dim = ir::axis(*one.node);
  const bool ragged = dim > 0 && operand_shape(kernel, one, 0).dims[dim] % 32 != 0;
  return static_cast<float>((ragged ? 400 : 6) * elements_of(*one.node));
}

Cost cost_of(const Kernel& kernel, const Item& one, const Target& target) {
  const Node& self = *one.node;
  Cost cost = plain_cost(kernel, one);
  const auto elements = [&](std::size_t which) { return ir::elements(operand_shape(kernel, one, which)); };
  const std::int64_t out = elements_of(self);
  switch (self.op) {
    case Op::constant:
    case Op::get_tuple_element:
      cost.written = 0;
      std::fill(cost.read.begin(), cost.read.end(), 0.0F);
      break;
    case Op::bitcast:
    case Op::bitcast_convert:
      cost.written = cost.read[0] = 0;
      break;
    case Op::reshape:
      if (is_bitcast(self, operand_shape(kernel, one, 0))) cost.written = cost.read[0] = 0;
      break;
    case Op::transpose:
      if (transpose_keeps_place(operand_shape(kernel, one, 0), self.shape, ir::axes(self)))
        cost.written = cost.read[0] = 0;
      break;
    case Op::copy:
      break;
    case Op::broadcast:
    case Op::slice:
    case Op::dynamic_slice:
    case Op::gather:
      cost.read[0] = cost.written;
      cost.utilization[0] = ratio(out, elements(0));
      break;
    case Op::dynamic_update_slice:
      cost.written = cost.read[1];
      cost.read[0] = 0;
      cost.utilization[0] = ratio(out - elements(1), out);
      break;
    case Op::concatenate:
      cost.flops = concatenate_flops(kernel, one);
      break;
    case Op::reduce:
    case Op::scatter:
    case Op::sort:
      count_regions(kernel, one, target, cost);
      break;
    case Op::reduce_window:
      count_window(kernel, one, target, cost);
      break;
    default:
      if (is_elementwise(self)) cost.flops = static_cast<float>(cycles(target, self.op, self.shape.dtype) * out);
      break;
  }
  return cost;
}

/// Users of the item's value need the same place of its operands.
bool keeps_places(const Kernel& kernel, const Item& one) {
  if (is_elementwise(*one.node) || one.node->op == Op::get_tuple_element) return true;
  return (one.node->op == Op::bitcast || one.node->op == Op::bitcast_convert || one.node->op == Op::reshape) &&
         is_bitcast(*one.node, operand_shape(kernel, one, 0)) &&
         same_array(operand_shape(kernel, one, 0), one.node->shape);
}

void add(std::vector<std::int32_t>& sorted, std::int32_t one) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), one);
  if (at == sorted.end() || *at != one) sorted.insert(at, one);
}

/// Results of a fusion, and what each writes.
float written_by(const Kernel& kernel) {
  float sum = 0;
  for (const std::int32_t result : kernel.results) {
    const Item& root = item(kernel, result);
    const bool update = !root.outside && root.node->op == Op::dynamic_update_slice;
    sum += static_cast<float>(update ? bytes_of(node(kernel, root.operands[1])) : bytes_of(*root.node));
  }
  return sum;
}

}  // namespace

float common_utilization(const Work& work, std::int32_t a, std::int32_t b) {
  const auto& of_a = work.roots[static_cast<std::size_t>(a)];
  const auto& of_b = work.roots[static_cast<std::size_t>(b)];
  float sum = 0;
  for (const std::int32_t root : of_a)
    if (std::binary_search(of_b.begin(), of_b.end(), root))
      sum += work.root_utilization[static_cast<std::size_t>(root)];
  return sum;
}

Work work_of(const Kernel& kernel, const Target& target) {
  Work work;
  if (!kernel.fused) {
    Cost cost = cost_of(kernel, item(kernel, only_item(kernel)), target);
    work.flops = cost.flops;
    work.written = cost.written;
    work.read = std::move(cost.read);
    work.utilization = std::move(cost.utilization);
    return work;
  }
  const std::size_t count = kernel.items.size();
  work.written = written_by(kernel);
  work.code = 0;
  // Several results make a tuple, an item behind all others at whose place all of them are.
  const bool tuple = kernel.results.size() > 1;
  const std::size_t root = tuple ? count : static_cast<std::size_t>(kernel.results[0]);
  work.emitted.assign(count, 0);
  work.roots.assign(count, {});
  work.root_utilization.assign(count + 1, 0);
  std::vector<float> utilization(count, 0), root_emitted(count + 1, 0);
  std::vector<bool> is_result(count, false);
  for (const std::int32_t result : kernel.results) {
    add(work.roots[static_cast<std::size_t>(result)], static_cast<std::int32_t>(root));
    is_result[static_cast<std::size_t>(result)] = true;
  }
  work.root_utilization[root] = root_emitted[root] = 1;
  if (tuple) work.code = 1;
  for (std::size_t i = count; i-- > 0;) {
    const Item& one = kernel.items[i];
    for (const std::int32_t place : work.roots[i]) {
      utilization[i] += work.root_utilization[static_cast<std::size_t>(place)];
      work.emitted[i] += root_emitted[static_cast<std::size_t>(place)];
    }
    work.code += work.emitted[i];
    if (one.outside) continue;
    Cost cost = cost_of(kernel, one, target);
    if (is_result[i] && one.node->op == Op::dynamic_update_slice) cost.utilization[0] = 0;
    work.flops += utilization[i] * cost.flops;
    const bool same = keeps_places(kernel, one);
    for (std::size_t o = 0; o < one.operands.size(); ++o) {
      const auto operand = static_cast<std::size_t>(one.operands[o]);
      if (same) {
        for (const std::int32_t place : work.roots[i]) add(work.roots[operand], place);
        continue;
      }
      add(work.roots[operand], one.operands[o]);
      float needed = utilization[i] * cost.utilization[o];
      const std::int64_t elements = elements_of(*kernel.items[operand].node);
      needed = elements == 0 ? 0 : std::ceil(needed * static_cast<float>(elements)) / static_cast<float>(elements);
      work.root_utilization[operand] += needed;
      root_emitted[operand] += work.emitted[i];
    }
  }
  for (const std::int32_t operand : kernel.operands) {
    const float used = utilization[static_cast<std::size_t>(operand)];
    work.utilization.push_back(used);
    work.read.push_back(static_cast<float>(std::llround(static_cast<float>(bytes_of(node(kernel, operand))) * used)));
  }
  return work;
}

}  // namespace tailor::costmodel::xla
