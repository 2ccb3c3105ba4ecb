// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Growing a fusion. In: a kernel, then producers. Out: answers and the kernel. Called by XlaInstructions and the rules
// of 2020 and 2022.
//
// An item's code is emitted once for every index somebody asks with. Elementwise operations and transposes pass on the
// indices they are asked with; every other operation asks with one of its own, and is emitted as often as it is asked
// itself. So an item has a set of askers, and its count is the sum of theirs.
#include "explore/xla/growing.h"

#include <algorithm>

#include "ir/graph/attribute_text.h"

namespace tailor::explore {

using ir::Node;
using ir::NodeId;
using ir::Op;
using Kind = ElementUse::Kind;

namespace {

ElementUse along(ElementUse use, ElementUse further) {
  if (use.kind == Kind::none || further.kind == Kind::none) return {};
  if (use.kind == Kind::several || further.kind == Kind::several) return {Kind::several, -1};
  if (use.order == further.order || further.order < 0) return use;
  if (use.order < 0) return further;
  return {Kind::several, -1};
}

ElementUse together(ElementUse a, ElementUse b) {
  if (a.kind == Kind::none) return b;
  if (b.kind == Kind::none) return a;
  return a == b ? a : ElementUse{Kind::several, -1};
}

/// Only dimensions of one element come or go.
bool keeps_wide_dimensions(const ir::Shape& a, const ir::Shape& b) {
  if (a.dtype != b.dtype) return false;
  const auto wide = [](const ir::Shape& shape) {
    std::vector<std::int64_t> sizes, order, rank_of(static_cast<std::size_t>(shape.rank()), 0);
    for (int dim = 0; dim < shape.rank(); ++dim) {
      rank_of[static_cast<std::size_t>(dim)] = std::ssize(sizes);
      if (shape.dims[dim] != 1) sizes.push_back(shape.dims[dim]);
    }
    for (int i = 0; i < shape.rank(); ++i)
      if (const auto dim = shape.minor_to_major[i]; shape.dims[dim] != 1)
        order.push_back(rank_of[static_cast<std::size_t>(dim)]);
    return std::pair(sizes, order);
  };
  return wide(a) == wide(b);
}

/// The operand is asked at the places the item itself is asked at.
bool passes_indices_on(const Node& node, const Node& operand) {
  if (node.op == Op::transpose) return true;
  if (!node.results.empty() || !operand.results.empty()) return false;
  return xla::same_array(node.shape, operand.shape);
}

}  // namespace

ElementUse element_use(const Node& node, std::size_t operand, const ir::Shape& operand_shape, std::int32_t item) {
  const ElementUse once{Kind::once, -1}, turned{Kind::once, item}, several{Kind::several, -1};
  switch (node.op) {
    case Op::bitcast:
    case Op::reshape:
      if (xla::is_bitcast(node, operand_shape) || node.op == Op::bitcast)
        return keeps_wide_dimensions(node.shape, operand_shape) ? once : turned;
      return turned;
    case Op::concatenate:
    case Op::reverse:
    case Op::slice:
    case Op::transpose:
      return turned;
    case Op::pad:
      return operand > 0 ? several : turned;
    case Op::reduce:
      return operand >= static_cast<std::size_t>(node.operands.size()) / 2 ? several : turned;
    case Op::dynamic_update_slice:
      return operand <= 1 ? once : several;
    case Op::gather:
      return operand == 0 ? once : turned;
    default:
      return ir::is_elementwise(node.op) ? once : several;
  }
}

bool reads_in_a_loop(const Node& node, const ir::Shape& operand, xla::Year year) {
  if (node.op == Op::reduce) return !xla::is_tiled_reduction(node, operand, year);
  if (node.op != Op::reduce_window) return false;
  for (const ir::WindowDim& dim :
       ir::parse_window(std::get<ir::RegionCall>(node.attributes).text, xla::first_shape(node).rank()))
    if (dim.size > dim.stride) return true;
  return false;
}

bool starts_a_block(Op op) {
  switch (op) {
    case Op::concatenate:
    case Op::dot:
    case Op::dynamic_update_slice:
    case Op::pad:
    case Op::reduce:
    case Op::reduce_window:
      return true;
    default:
      return false;
  }
}

GrowingFusion::GrowingFusion(const xla::Kernel& kernel, xla::Year year)
    : graph_(kernel.graph), year_(year), several_results_(kernel.results.size() > 1) {
  append(kernel);
}

void GrowingFusion::append(const xla::Kernel& kernel) {
  const auto none = static_cast<std::int32_t>(kernel.items.size());
  std::vector<std::int32_t> place(kernel.items.size(), none);
  for (const std::int32_t operand : kernel.operands) {
    const xla::Item& one = item(kernel, operand);
    place[static_cast<std::size_t>(operand)] = ~outside(*one.node, one.id);
  }
  std::int32_t next = 0;
  for (std::size_t i = kernel.items.size(); i-- > 0;)
    if (!kernel.items[i].outside) place[i] = next++;
  items_.resize(static_cast<std::size_t>(next));
  for (const std::int32_t result : kernel.results) {
    results_.push_back(place[static_cast<std::size_t>(result)]);
    Seen& seen = items_[static_cast<std::size_t>(results_.back())].seen;
    seen.use = several_results_ ? ElementUse{Kind::several, -1} : ElementUse{Kind::once, -1};
    seen.askers = std::make_shared<const std::vector<std::int32_t>>(1, several_results_ ? tuple : whole);
    if (several_results_) ++seen.users;
  }
  if (several_results_) emitted_in_all_ = 1;
  for (std::size_t i = kernel.items.size(); i-- > 0;) {
    const xla::Item& from = kernel.items[i];
    if (from.outside) continue;
    const std::int32_t at = place[i];
    Inner& one = items_[static_cast<std::size_t>(at)];
    one.node = from.node;
    one.id = from.id;
    for (const std::int32_t operand : from.operands) one.operands.push_back(place[static_cast<std::size_t>(operand)]);
    count(one);
    for (std::size_t which = 0; which < one.operands.size(); ++which) {
      const std::int32_t operand = one.operands[which];
      const Node& value = node(kernel, from.operands[which]);
      if (operand < 0) outer_[static_cast<std::size_t>(~operand)].uses.emplace_back(at, which);
      see(operand < 0 ? outer_[static_cast<std::size_t>(~operand)].seen
                      : items_[static_cast<std::size_t>(operand)].seen,
          one, at, which, value);
    }
  }
}

std::int32_t GrowingFusion::outside(const Node& node, NodeId id) {
  for (const NodeId taken : taken_)
    if (taken == id) return static_cast<std::int32_t>(outer(id) - outer_.data());
  taken_.push_back(id);
  for (std::size_t i = 0; i < outer_.size(); ++i)
    if (outer_[i].uses.empty() && outer_[i].id == ir::no_node) {
      outer_[i] = {&node, id, {}, {}};
      return static_cast<std::int32_t>(i);
    }
  outer_.push_back({&node, id, {}, {}});
  return static_cast<std::int32_t>(outer_.size()) - 1;
}

const GrowingFusion::Outer* GrowingFusion::outer(NodeId value) const {
  for (const Outer& one : outer_)
    if (one.id == value) return &one;
  return nullptr;
}

void GrowingFusion::see(Seen& operand, const Inner& user, std::int32_t item, std::size_t which,
                        const Node& value) const {
  const ir::Shape& shape = xla::first_shape(value);
  operand.use = together(operand.use, along(element_use(*user.node, which, shape, item), user.seen.use));
  operand.loop = operand.loop || user.seen.loop ||
                 reads_in_a_loop(*user.node, xla::first_shape((*graph_)[user.node->operands[0]]), year_);
  const bool first = std::find(user.operands.begin(), user.operands.begin() + static_cast<std::ptrdiff_t>(which),
                               user.operands[which]) == user.operands.begin() + static_cast<std::ptrdiff_t>(which);
  if (first) ++operand.users;
  const Askers asks = passes_indices_on(*user.node, value) ? user.seen.askers
                                                           : std::make_shared<const std::vector<std::int32_t>>(1, item);
  if (operand.askers == nullptr || operand.askers == asks) {
    operand.askers = asks;
    return;
  }
  std::vector<std::int32_t> both;
  std::set_union(operand.askers->begin(), operand.askers->end(), asks->begin(), asks->end(), std::back_inserter(both));
  if (both.size() > operand.askers->size()) operand.askers = std::make_shared<const std::vector<std::int32_t>>(both);
}

std::int64_t GrowingFusion::count_of(std::int32_t asker) const {
  return asker < 0 ? 1 : items_[static_cast<std::size_t>(asker)].emitted;
}

void GrowingFusion::count(Inner& one) {
  for (const std::int32_t asker : *one.seen.askers) {
    // In 2020 each operand of a concatenation was taken to be asked at places of its own.
    const Inner* const user = asker < 0 ? nullptr : &items_[static_cast<std::size_t>(asker)];
    const bool spreads = year_ == xla::Year::y2020 && user != nullptr && user->node->op == Op::concatenate;
    one.emitted += count_of(asker) * (spreads ? std::ssize(user->operands) : 1);
  }
  emitted_in_all_ += one.emitted;
  most_emitted_ = std::max(most_emitted_, one.emitted);
  if (!starts_a_block(one.node->op)) return;
  most_emitted_of_barriers_ = std::max(most_emitted_of_barriers_, one.emitted);
  barrier_with_users_ = barrier_with_users_ || one.seen.users > 1;
}

bool GrowingFusion::reuses(NodeId operand) const {
  const Outer* const one = outer(operand);
  return one != nullptr && one->seen.use.kind == Kind::several;
}

bool GrowingFusion::leads_to_loop(NodeId operand) const {
  const Outer* const one = outer(operand);
  return one != nullptr && one->seen.loop;
}

std::int64_t GrowingFusion::emitted(NodeId operand) const {
  const Outer* const one = outer(operand);
  std::int64_t sum = 0;
  if (one != nullptr && one->seen.askers != nullptr)
    for (const std::int32_t asker : *one->seen.askers) sum += count_of(asker);
  return sum;
}

std::int64_t GrowingFusion::inner_users(NodeId operand) const {
  const Outer* const one = outer(operand);
  return one == nullptr ? 0 : one->seen.users;
}

bool GrowingFusion::emits_too_often(std::int64_t times) const {
  return most_emitted_ * times > most_repeats || most_emitted_of_barriers_ * times > 1 || barrier_with_users_;
}

std::int64_t GrowingFusion::instructions() const {
  return std::ssize(items_) + std::ssize(taken_) + (several_results_ ? 1 : 0);
}

std::vector<NodeId> GrowingFusion::add(NodeId producer) {
  const Outer* const found = outer(producer);
  Outer& from = outer_[static_cast<std::size_t>(found - outer_.data())];
  const auto at = static_cast<std::int32_t>(items_.size());
  for (const auto& [user, which] : from.uses) items_[static_cast<std::size_t>(user)].operands[which] = at;
  Inner one{from.node, producer, {}, from.seen, 0};
  std::erase(taken_, producer);
  from = {};
  std::vector<NodeId> brought;
  for (const NodeId operand : one.node->operands) {
    const std::size_t before = taken_.size();
    one.operands.push_back(~outside((*graph_)[operand], operand));
    if (taken_.size() > before) brought.push_back(operand);
  }
  items_.push_back(one);
  count(items_.back());
  for (std::size_t which = 0; which < one.operands.size(); ++which) {
    Outer& operand = outer_[static_cast<std::size_t>(~one.operands[which])];
    operand.uses.emplace_back(at, which);
    see(operand.seen, items_.back(), at, which, *operand.node);
  }
  return brought;
}

xla::Kernel GrowingFusion::kernel() const {
  xla::Kernel kernel;
  kernel.graph = graph_;
  kernel.fused = true;
  std::vector<std::int32_t> outside(outer_.size(), -1);
  for (const NodeId value : taken_) {
    const auto at = static_cast<std::int32_t>(kernel.items.size());
    outside[static_cast<std::size_t>(outer(value) - outer_.data())] = at;
    kernel.operands.push_back(at);
    kernel.items.push_back({outer(value)->node, value, true, {}});
  }
  const auto last = static_cast<std::int32_t>(kernel.items.size() + items_.size()) - 1;
  for (std::size_t i = items_.size(); i-- > 0;) {
    xla::Item one{items_[i].node, items_[i].id, false, {}};
    for (const std::int32_t operand : items_[i].operands)
      one.operands.push_back(operand < 0 ? outside[static_cast<std::size_t>(~operand)] : last - operand);
    kernel.items.push_back(std::move(one));
  }
  for (const std::int32_t result : results_) kernel.results.push_back(last - result);
  return kernel;
}

}  // namespace tailor::explore
