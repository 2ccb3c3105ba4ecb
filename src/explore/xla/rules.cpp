// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What XLA's passes refuse whatever it would save. In: two instructions. Out: the reason, or none. Called by the queue,
// by the multi-output pass, and, for budgets and writing in place, by the passes of 2020 and 2022. In XLA's order: a
// bitcast alone is no consumer, scatter is only ever a consumer, two reductions of some size do not share a kernel, a
// reduction stays in a kernel of the reduction emitter, budgets of shared memory, reductions, arguments and code, and
// no reading of an array that the same kernel writes over.
#include <algorithm>
#include <limits>

#include "explore/xla/instructions.h"

namespace tailor::explore {

using ir::NodeId;
using ir::Op;

namespace {

constexpr std::int64_t most_reductions = 8, largest_code = 10000;

/// What one kernel may have.
struct Budget {
  std::int64_t shared = 0, reductions = most_reductions, arguments = 0;
  bool same_operands_are_fine = true;  ///< a producer that adds no operand never makes a kernel too large
};
Budget budget_of(const XlaInstructions& all) {
  switch (all.year()) {
    case xla::Year::y2020:
      return {40000, std::numeric_limits<std::int64_t>::max() / 2, 64, false};
    case xla::Year::y2022:
      return {40000, most_reductions, 64};
    case xla::Year::today:
      break;
  }
  return {all.target().shared_per_block, most_reductions, 96};
}

/// XLA's "non-elementwise": it reads elements at other places than those it makes.
bool moves(const xla::Item& one) {
  return !one.outside && !xla::is_elementwise(*one.node) && one.node->op != Op::bitcast &&
         one.node->op != Op::bitcast_convert;
}

std::vector<std::int32_t> items_that(const xla::Kernel& kernel, const auto& wanted) {
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < kernel.items.size(); ++i)
    if (!kernel.items[i].outside && wanted(kernel.items[i])) found.push_back(static_cast<std::int32_t>(i));
  return found;
}

bool leads_to(const xla::Users& users, std::int32_t from, const auto& wanted) {
  std::vector<bool> seen(users.size(), false);
  std::vector<std::int32_t> pending{from};
  while (!pending.empty()) {
    const std::int32_t at = pending.back();
    pending.pop_back();
    if (wanted(at)) return true;
    for (const std::int32_t user : users[static_cast<std::size_t>(at)]) {
      if (seen[static_cast<std::size_t>(user)]) continue;
      seen[static_cast<std::size_t>(user)] = true;
      pending.push_back(user);
    }
  }
  return false;
}

/// The scatter that a kernel is; -1: none.
std::int32_t scatter_root(const XlaInstruction& one) {
  const std::int32_t root = one.kernel().results[0];
  return one.kernel().results.size() == 1 && node(one.kernel(), root).op == Op::scatter ? root : -1;
}

std::int64_t result_buffers(const XlaInstruction& one) {
  std::int64_t arrays = 0;
  for (const std::int32_t result : one.kernel().results)
    arrays += std::max<std::int64_t>(1, std::ssize(node(one.kernel(), result).results));
  return arrays > 1 ? arrays + 1 : 1;
}

std::optional<std::int64_t> whole_number(const ir::Node& node) {
  const ir::Literal* const literal = node.op == Op::constant ? std::get_if<ir::Literal>(&node.attributes) : nullptr;
  if (literal == nullptr || !literal->known || literal->bytes.empty() || !ir::is_integer(node.shape.dtype))
    return std::nullopt;
  const std::size_t width =
      std::min<std::size_t>(literal->bytes.size(), static_cast<std::size_t>(xla::storage_bits(node.shape.dtype)) / 8);
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;) number = number << 8 | static_cast<std::uint64_t>(literal->bytes[i]);
  if (ir::is_signed(node.shape.dtype) && width < 8 && (number >> (8 * width - 1) & 1) != 0)
    number |= ~std::uint64_t{0} << (8 * width);
  return static_cast<std::int64_t>(number);
}

/// Both start at the same numbers, or at the same values from outside.
bool same_start(const xla::Item& a, const xla::Item& b) {
  const std::optional<std::int64_t> one = whole_number(*a.node), other = whole_number(*b.node);
  return one == other && (one || a.id == b.id);
}

/// A slice that reads exactly what the update writes.
bool reads_what_is_updated(const xla::Kernel& producer, const xla::Item& slice, const xla::Kernel& consumer,
                           const xla::Item& update) {
  if (!(slice.node->shape == operand_shape(consumer, update, 1))) return false;
  for (int dim = 0; dim < slice.node->shape.rank(); ++dim) {
    const xla::Item& start = item(consumer, update.operands[2 + static_cast<std::size_t>(dim)]);
    if (slice.node->op == Op::slice) {
      const ir::SliceRange& range = ir::slice_range(*slice.node, dim);
      if (whole_number(*start.node) != range.start || range.stride != 1) return false;
    } else if (!same_start(item(producer, slice.operands[1 + static_cast<std::size_t>(dim)]), start)) {
      return false;
    }
  }
  return true;
}

std::string_view in_place_refusal(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  const XlaInstruction& from = all[producer];
  const XlaInstruction& to = all[consumer];
  for (const NodeId array : written_over(to)) {
    const auto named = std::count_if(to.kernel().operands.begin(), to.kernel().operands.end(),
                                     [&](std::int32_t operand) { return item(to.kernel(), operand).id == array; });
    if (named > 1) return "the consumer is an in-place operation that has an additional operand of the same value";
    if (all.owner(array) != producer && !xla::takes(from.kernel(), array)) continue;
    const auto moving = items_that(from.kernel(), [](const xla::Item& one) { return moves(one); });
    if (moving.size() > 1) return "producer fusion has multiple non-elementwise ops";
    const auto users = xla::users_of(to.kernel());
    const auto taken = [&] {
      for (const NodeId value : all.values(producer))
        if (const std::int32_t at = xla::operand_index(to.kernel(), value); at >= 0)
          return to.kernel().operands[static_cast<std::size_t>(at)];
      return std::int32_t{-1};
    }();
    if (moving.empty()) {
      if (!to.fused() || taken < 0) return {};
      const std::int32_t root = to.kernel().results[0];
      const bool conflict =
          leads_to(users, taken, [&](std::int32_t at) { return at != root && moves(item(to.kernel(), at)); });
      return conflict ? "non-elementwise ops in consumer lead to an in-place conflict after fusion" : "";
    }
    const auto updates =
        items_that(to.kernel(), [](const xla::Item& one) { return one.node->op == Op::dynamic_update_slice; });
    if (updates.empty()) return {};
    if (updates.size() > 1) return "multiple updates in place";
    const xla::Item& update = item(to.kernel(), updates[0]);
    const xla::Item& slice = item(from.kernel(), moving[0]);
    if (slice.node->op != Op::slice && slice.node->op != Op::dynamic_slice)
      return "unrecognised in-place update of a non-elementwise output";
    if (!reads_what_is_updated(from.kernel(), slice, to.kernel(), update)) return "update and slice do not match";
    if (to.fused() && taken >= 0 && leads_to(users, taken, [&](std::int32_t at) {
          const xla::Item& one = item(to.kernel(), at);
          return at != updates[0] && !one.outside && !xla::is_elementwise(*one.node);
        }))
      return "the slice would be fused with another non-elementwise op that shares its operand with the update";
    return {};
  }
  return {};
}

}  // namespace

std::vector<NodeId> written_over(const XlaInstruction& one) {
  std::vector<NodeId> found;
  const xla::Kernel& kernel = one.kernel();
  const auto behind = [&](std::int32_t i) {
    while (!item(kernel, i).outside && node(kernel, i).op == Op::bitcast) i = item(kernel, i).operands[0];
    return i;
  };
  for (const std::int32_t result : kernel.results) {
    const xla::Item& root = item(kernel, one.fused() ? behind(result) : result);
    if (root.outside) continue;
    const bool update = root.node->op == Op::dynamic_update_slice, scatter = root.node->op == Op::scatter;
    const std::size_t arrays = update ? 1 : scatter ? (root.operands.size() - 1) / 2 : 0;
    for (std::size_t i = 0; i < arrays; ++i) {
      const xla::Item& array = item(kernel, behind(root.operands[i]));
      if (array.outside) found.push_back(array.id);
    }
  }
  return found;
}

bool conflicts_in_place(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  const xla::Kernel& from = all[producer].kernel();
  const xla::Item& maker = item(from, only_item(from));
  if (xla::is_elementwise(*maker.node)) return false;
  const auto& results = all[consumer].kernel().results;
  const auto in_place = [&](std::int32_t result) {
    const Op op = node(all[consumer].kernel(), result).op;
    return op == Op::dynamic_update_slice || op == Op::scatter;
  };
  if (std::none_of(results.begin(), results.end(), in_place)) return false;
  const xla::Kernel now = all[consumer].growing ? all[consumer].growing->kernel() : all[consumer].kernel();
  for (const std::int32_t result : now.results) {
    const xla::Item& root = item(now, result);
    if (root.node->op != Op::dynamic_update_slice && root.node->op != Op::scatter) continue;
    const xla::Item& array = item(now, root.operands[0]);
    if (!array.outside || !xla::takes(from, array.id)) continue;
    const auto updates = items_that(now, [](const xla::Item& one) { return one.node->op == Op::dynamic_update_slice; });
    if (updates.size() != 1) return true;
    if (maker.node->op != Op::slice && maker.node->op != Op::dynamic_slice) return true;
    return !reads_what_is_updated(from, maker, now, item(now, updates[0]));
  }
  return false;
}

std::string_view scatter_refusal(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  if (scatter_root(all[producer]) >= 0) return "do not fuse into the output of scatter";
  const std::int32_t scatter = scatter_root(all[consumer]);
  if (scatter < 0) return {};
  const xla::Kernel& kernel = all[consumer].kernel();
  const NodeId array = item(kernel, item(kernel, scatter).operands[0]).id;
  if (all.owner(array) == producer) return "do not fuse into the in-place operand of scatter";
  if (xla::takes(all[producer].kernel(), array)) return "producer uses the in-place operand of a scatter";
  return {};
}

std::string_view over_budget(const XlaInstructions& all, std::int32_t first, std::int32_t second, bool edge) {
  const XlaInstruction& a = all[first];
  const XlaInstruction& b = all[second];
  const Budget budget = budget_of(all);
  if (a.shared + b.shared > budget.shared) return "shared memory usage would be over the budget";
  if (a.reductions + b.reductions > budget.reductions) return "over 8 unnested reductions in fusion";
  const std::int64_t buffers = result_buffers(a) + result_buffers(b);
  const std::int64_t of_a = all.operand_count(first), of_b = all.operand_count(second);
  if (of_a + of_b - 1 + buffers <= budget.arguments) return {};
  // The one that takes what the other gives no longer takes it: with at most one operand more there are no more than
  // before, and nothing need be listed. A concatenation of hundreds is asked about for each of its operands.
  if (edge && budget.same_operands_are_fine && of_b <= 1) return {};
  std::vector<NodeId> values = all.operands(first);
  for (const NodeId value : all.operands(second)) values.push_back(value);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::erase_if(values, [&](NodeId value) { return all.owner(value) == first || all.owner(value) == second; });
  if (edge && budget.same_operands_are_fine && std::ssize(values) <= of_a) return {};
  if (std::ssize(values) + buffers > budget.arguments)
    return "number of operands and output buffers is larger than allowed budget per fusion";
  return {};
}

bool becomes_too_large(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  const xla::Priced& to = all[consumer].price;
  std::int64_t times = 1;
  if (to.kernel.fused)
    for (const NodeId value : all.values(producer))
      if (const std::int32_t at = xla::operand_index(to.kernel, value); at >= 0) {
        const std::int32_t operand = to.kernel.operands[static_cast<std::size_t>(at)];
        times = static_cast<std::int64_t>(to.work.emitted[static_cast<std::size_t>(operand)]);
        break;
      }
  return all[producer].price.work.code * static_cast<float>(times) + to.work.code > static_cast<float>(largest_code);
}

std::string_view refusal_apart(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  if (const std::string_view why = scatter_refusal(all, producer, consumer); !why.empty()) return why;
  if (all[producer].reduces_much && all[consumer].reduces_much)
    return "both the producer and the consumer contain a reduce";
  if (const std::string_view why = over_budget(all, consumer, producer, true); !why.empty()) return why;
  if (becomes_too_large(all, producer, consumer)) return "the fusion would result in an overly large code duplication";
  return in_place_refusal(all, producer, consumer);
}

std::string_view refusal_together(const XlaInstructions& all, std::int32_t producer, const xla::Analysis& together) {
  if (all[producer].price.analysis.emitter == xla::Emitter::reduction && together.emitter == xla::Emitter::loop)
    return "fusion into output of a reduce fusion would create a loop fusion";
  return {};
}

}  // namespace tailor::explore
