// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of 2020 and 2022 that several passes ask. In: instructions. Out: answers. Called by the passes of
// era_*.cpp.
//
// Two departures, because the graph is not the one those years would have seen: bf16 is judged as f32, to which XLA
// converted all of its arithmetic, and logistic as the exponential it was expanded to.
#include "explore/xla/era_rules.h"

#include <algorithm>

namespace tailor::explore {

using ir::DType;
using ir::Node;
using ir::NodeId;
using ir::Op;
using xla::Year;

namespace {

const Node& bare_node(const XlaInstruction& one) { return node(one.kernel(), only_item(one.kernel())); }

/// Computed again rather than stored; everything else is dear, but for what depends on the type.
constexpr Op cheap[] = {Op::add,
                        Op::bit_and,
                        Op::bit_not,
                        Op::bit_or,
                        Op::bit_xor,
                        Op::bitcast,
                        Op::bitcast_convert,
                        Op::broadcast,
                        Op::ceil,
                        Op::clamp,
                        Op::clz,
                        Op::compare,
                        Op::complex,
                        Op::concatenate,
                        Op::constant,
                        Op::convert,
                        Op::copy,
                        Op::dynamic_slice,
                        Op::dynamic_update_slice,
                        Op::floor,
                        Op::imag,
                        Op::iota,
                        Op::is_finite,
                        Op::maximum,
                        Op::minimum,
                        Op::multiply,
                        Op::negate,
                        Op::pad,
                        Op::popcnt,
                        Op::real,
                        Op::reduce_precision,
                        Op::reshape,
                        Op::reverse,
                        Op::round_away,
                        Op::round_even,
                        Op::select,
                        Op::shift_left,
                        Op::shift_right_arithmetic,
                        Op::shift_right_logical,
                        Op::slice,
                        Op::subtract,
                        Op::transpose};

bool is_complex(const ir::Shape& shape) { return ir::row(shape.dtype).kind == ir::DTypeKind::complex; }

/// What the GPU was said to compute in one instruction.
bool is_one_instruction(Op op, DType dtype, Year year) {
  const bool narrow = dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
  if (year == Year::y2020) return op == Op::divide && ir::is_floating(dtype);
  return narrow && (op == Op::divide || op == Op::rsqrt || op == Op::exp || op == Op::logistic);
}

bool is_scalar_constant(const Node& node) { return node.op == Op::constant && xla::is_scalar_like(node.shape); }

int true_rank(const ir::Shape& shape) {
  return static_cast<int>(
      std::count_if(shape.dims.begin(), shape.dims.end(), [](std::int64_t size) { return size > 1; }));
}

/// Dimensions of more than one element from the innermost outwards, numbered among themselves.
std::vector<int> order_of_wide_dimensions(const ir::Shape& shape) {
  std::vector<int> numbers(static_cast<std::size_t>(shape.rank()), 0), order;
  for (int dim = 0, next = 0; dim < shape.rank(); ++dim)
    if (shape.dims[dim] > 1) numbers[static_cast<std::size_t>(dim)] = next++;
  for (int i = 0; i < shape.rank(); ++i)
    if (const auto dim = shape.minor_to_major[i]; shape.dims[dim] > 1)
      order.push_back(numbers[static_cast<std::size_t>(dim)]);
  return order;
}

bool loops(const XlaInstructions& all, const Node& node) {
  return !node.operands.empty() && reads_in_a_loop(node, xla::first_shape(all.graph()[node.operands[0]]), all.year());
}

}  // namespace

bool era_elementwise(const Node& node, const ir::Graph& graph) {
  if (ir::class_of(node.op) != ir::OpClass::elementwise) return false;
  return node.op != Op::bitcast_convert || xla::is_bitcast(node, xla::first_shape(graph[node.operands[0]]));
}

bool era_expensive(const Node& node, const ir::Graph& graph, Year year) {
  if (is_one_instruction(node.op, node.shape.dtype, year)) return false;
  switch (node.op) {
    case Op::abs:
    case Op::cos:
    case Op::sign:
    case Op::sin:
      return is_complex(node.shape);
    case Op::divide:
    case Op::remainder: {
      // By a number that is known it becomes multiplications and shifts.
      if (!ir::is_integer(node.shape.dtype)) return true;
      const Node& by = graph[node.operands[1]];
      return !is_scalar_constant(by) && !(by.op == Op::broadcast && is_scalar_constant(graph[by.operands[0]]));
    }
    default:
      return std::find(std::begin(cheap), std::end(cheap), node.op) == std::end(cheap);
  }
}

bool era_reduces(const XlaInstructions& all, std::int32_t i) {
  const xla::Kernel& kernel = all[i].kernel();
  return !all[i].laid_end_to_end && std::any_of(kernel.results.begin(), kernel.results.end(), [&](std::int32_t result) {
    const xla::Item& one = item(kernel, result);
    // In 2020 a reduction of several arrays at once was not fused with anything.
    if (one.node->op != Op::reduce || (all.year() == Year::y2020 && !one.node->results.empty())) return false;
    return xla::is_tiled_reduction(*one.node, operand_shape(kernel, one, 0), all.year());
  });
}

bool era_input_fusible(const XlaInstructions& all, std::int32_t i) {
  if (!all[i].fusible || all[i].laid_end_to_end) return false;
  const xla::Kernel& kernel = all[i].kernel();
  const bool scatters = kernel.results.size() == 1 && node(kernel, kernel.results[0]).op == Op::scatter &&
                        !(all[i].fused() && all[i].loop_kind);
  return scatters || era_reduces(all, i);
}

bool era_loop_fusible(const XlaInstructions& all, std::int32_t i) {
  if (!all[i].fusible || all[i].laid_end_to_end) return false;
  if (all[i].fused()) return all[i].loop_kind;
  const Node& one = bare_node(all[i]);
  switch (one.op) {
    case Op::bitcast:
    case Op::bitcast_convert:
    case Op::broadcast:
    case Op::concatenate:
    case Op::constant:
    case Op::dynamic_slice:
    case Op::dynamic_update_slice:
    case Op::gather:
    case Op::iota:
    case Op::pad:
    case Op::reduce_window:
    case Op::reshape:
    case Op::reverse:
    case Op::slice:
    case Op::transpose:
      return true;
    case Op::reduce:
      return one.results.empty() && loops(all, one);
    default:
      return era_elementwise(one, all.graph());
  }
}

std::int64_t era_users(const XlaInstructions& all, std::int32_t i) {
  const xla::Kernel& kernel = all[i].kernel();
  if (kernel.results.size() > 1) return std::ssize(kernel.results);  // one for each part of the tuple
  const NodeId value = item(kernel, kernel.results[0]).id;
  return std::ssize(all.users(value)) + (all.is_stored(value) ? 1 : 0);
}

bool era_nests_loops(XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  const xla::Kernel& from = all[producer].kernel();
  if (std::none_of(from.items.begin(), from.items.end(),
                   [&](const xla::Item& one) { return !one.outside && loops(all, *one.node); }))
    return false;
  if (!all[consumer].fused()) return loops(all, bare_node(all[consumer]));
  const GrowingFusion& growing = all.growing(consumer);
  const std::vector<NodeId> given = all.values(producer);
  return std::any_of(given.begin(), given.end(), [&](NodeId value) { return growing.leads_to_loop(value); });
}

bool era_layouts_agree(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  if (all.year() == Year::y2022 && all[producer].fused())
    for (const xla::Item& one : all[producer].kernel().items)
      if (!one.outside && one.node->op == Op::copy) return false;  // such copies transpose
  int most = -1;
  std::vector<int> order;
  bool agree = true;
  for (const std::int32_t side : {producer, consumer})
    for (const NodeId value : all.operands(side)) {
      if (!all.graph()[value].results.empty()) continue;
      const ir::Shape& shape = all.graph()[value].shape;
      const int rank = true_rank(shape);
      if (rank < most) continue;
      std::vector<int> its_order = order_of_wide_dimensions(shape);
      agree = rank > most || (agree && its_order == order);
      if (rank > most) order = std::move(its_order);
      most = std::max(most, rank);
    }
  return agree;
}

bool era_fusible_pair(XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  if (!era_loop_fusible(all, producer)) return false;
  if (!era_input_fusible(all, consumer) && !era_loop_fusible(all, consumer)) return false;
  if (all[producer].kernel().results.size() > 1) return false;
  // A constant of several elements stays an array in memory.
  if (is_constant(all[producer]) && (!xla::is_scalar_like(bare_node(all[producer]).shape) || !all[consumer].fused()))
    return false;
  if (era_nests_loops(all, producer, consumer)) return false;
  return !era_reduces(all, consumer) || era_layouts_agree(all, producer, consumer);
}

bool era_reuses(XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  const std::vector<NodeId> given = all.values(producer);
  if (all[consumer].fused()) {
    const GrowingFusion& growing = all.growing(consumer);
    return std::any_of(given.begin(), given.end(), [&](NodeId value) { return growing.reuses(value); });
  }
  // A single instruction may take the value twice; the first place decides, as it did there.
  const Node& one = bare_node(all[consumer]);
  for (std::size_t which = 0; which < static_cast<std::size_t>(one.operands.size()); ++which)
    if (const NodeId value = one.operands.begin()[which]; value == given.front())
      return element_use(one, which, xla::first_shape(all.graph()[value]), 0).kind == ElementUse::Kind::several;
  return false;
}

namespace {

/// Readers of a value, those inside fusions one by one.
std::int64_t true_users(XlaInstructions& all, NodeId value) {
  std::int64_t count = all.is_stored(value) ? 1 : 0;
  for (const std::int32_t user : all.users(value))
    count += all[user].fused() ? all.growing(user).inner_users(value) : 1;
  return count;
}

}  // namespace

bool era_emits_too_often(XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  if (!all[consumer].fused()) return false;
  const GrowingFusion& growing = all.growing(consumer);
  const NodeId value = all.values(producer).front();
  const std::int64_t times = growing.emitted(value);
  if (all.year() == Year::y2020) {
    // On the average, rounded down for a single producer.
    if (!all[producer].fused()) return (growing.emitted_in_all() + times) / growing.entries() > most_repeats;
    const GrowingFusion& merged = all.growing(producer);
    const std::int64_t emitted = 1 + growing.emitted_in_all() + times + merged.emitted_in_all() * times;
    return emitted > most_repeats * (growing.entries() + merged.entries());
  }
  if (all[producer].fused()) return all.growing(producer).emits_too_often(times);
  return times > most_repeats ||
         (starts_a_block(bare_node(all[producer]).op) && (times > 1 || true_users(all, value) > 1));
}

}  // namespace tailor::explore
