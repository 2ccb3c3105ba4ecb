// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions, who takes what of whom, and the three ways to make one of two. In: a graph, then decisions. Out: the
// instructions as they stand. Called by the strategies that fuse as XLA does. With a target, prices are made anew
// whenever a kernel changes, so they are always those of the instruction as it is.
#include "explore/xla/instructions.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "explore/xla/made_order.h"
#include "ir/graph/window_strips.h"

namespace tailor::explore {

using ir::NodeId;
using ir::Op;

namespace {

bool is_fusible(const xla::Kernel& kernel) {
  if (kernel.fused) return true;
  const xla::Item& self = item(kernel, only_item(kernel));
  if (xla::is_elementwise(*self.node)) return true;
  if (ir::scan_of(*self.node)) return false;  // XLA takes it apart, into several kernels
  switch (self.node->op) {
    case Op::bitcast:
    case Op::bitcast_convert:
      return xla::is_bitcast(*self.node, operand_shape(kernel, self, 0));
    case Op::iota:
    case Op::constant:
    case Op::reduce:
    case Op::broadcast:
    case Op::concatenate:
    case Op::dynamic_slice:
    case Op::dynamic_update_slice:
    case Op::gather:
    case Op::pad:
    case Op::reduce_window:
    case Op::reshape:
    case Op::reverse:
    case Op::scatter:
    case Op::slice:
    case Op::transpose:
      return true;
    default:
      return false;
  }
}

/// A warp leaves one number a row; a column two squares of warps, padded. In 2020 only what stands at the root of
/// several results, or alone, was counted.
std::int64_t era_shared_bytes(const xla::Kernel& kernel, const xla::Item& reduction, xla::Year year) {
  const ir::Shape& operand = operand_shape(kernel, reduction, 0);
  const std::int64_t cells = xla::reduced(operand, ir::axes(*reduction.node)).row ? 32 : 2 * 32 * 33;
  const auto arrays = std::max<std::int64_t>(1, std::ssize(reduction.node->results));
  if (year == xla::Year::y2022) return cells * (xla::storage_bits(operand.dtype) / 8) * arrays;
  if (kernel.fused && kernel.results.size() == 1) return 0;
  return cells * (xla::storage_bits(xla::first_shape(*reduction.node).dtype) / 8);
}

}  // namespace

XlaInstructions::XlaInstructions(const ir::Graph& graph, const xla::Target& target)
    : XlaInstructions(graph, &target, xla::Year::today) {}
XlaInstructions::XlaInstructions(const ir::Graph& graph, xla::Year year) : XlaInstructions(graph, nullptr, year) {}

XlaInstructions::XlaInstructions(const ir::Graph& graph, const xla::Target* target, xla::Year year)
    : graph_(graph),
      target_(target),
      year_(year),
      all_(graph.nodes.size()),
      place_(graph.nodes.size()),
      seen_(graph.nodes.size(), 0),
      owner_(graph.nodes.size()),
      users_(graph.nodes.size()),
      user_places_(graph.nodes.size()),
      stored_(graph.nodes.size(), false) {
  for (const NodeId output : graph.outputs) stored_[ir::index(output)] = true;
  std::vector<bool> asynchronous(graph.nodes.size(), false);
  for (const ir::GivenGroup& given : graph.given)
    if (given.kind == "async")
      for (const NodeId id : given.nodes) asynchronous[ir::index(id)] = true;
  std::iota(place_.begin(), place_.end(), 0);
  at_place_ = place_;
  const MadeOrder made = made_order(graph);
  next_order_ = made.next;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    owner_[i] = id;
    XlaInstruction& one = all_[i];
    one.order = made.number[i];
    one.price.kernel = xla::bare_kernel(graph, id);
    // XLA takes away what has no elements before it fuses.
    const bool empty = xla::elements_of(graph[id]) == 0;
    one.fusible = is_fusible(one.kernel()) && !asynchronous[i] && !(empty && year != xla::Year::today);
    if (one.fusible && target != nullptr) one.price = xla::priced(std::move(one.price.kernel), *target);
    measure(one);
  }
  for (const bool late : {false, true})
    for (std::size_t i = 0; i < all_.size(); ++i)
      if ((year == xla::Year::today && made.appended[i]) == late)
        for (const NodeId operand : graph.nodes[i].operands) note_use(operand, static_cast<std::int32_t>(i));
}

void XlaInstructions::measure(XlaInstruction& one) {
  one.shared = one.reductions = 0;
  one.reduces_much = false;
  for (const xla::Item& inner : one.kernel().items) {
    if (inner.outside) continue;
    if (inner.node->op == Op::reduce) {
      const ir::Shape& operand = operand_shape(one.kernel(), inner, 0);
      const std::int64_t results = ir::elements(xla::first_shape(*inner.node));
      if (inner.node->results.empty() && results > 0 && ir::elements(operand) / results >= 16) one.reduces_much = true;
      if (!xla::is_tiled_reduction(*inner.node, operand, year_)) continue;
      ++one.reductions;
      if (year_ != xla::Year::today) {
        one.shared += era_shared_bytes(one.kernel(), inner, year_);
        continue;
      }
      // A warp leaves one number a row; a column a square of warps, up to four elements wide.
      std::int64_t width = 0;
      for (std::size_t i = 0; i < inner.operands.size() / 2; ++i)
        width += xla::storage_bits(operand_shape(one.kernel(), inner, i).dtype) / 8;
      const std::int64_t cells = xla::reduced(operand, ir::axes(*inner.node)).row ? 32 : 32 * (4 * 32 + 1);
      one.shared += cells * width;
    } else if (inner.node->op == Op::transpose) {
      const auto transposed = xla::tiled_transpose(*inner.node, operand_shape(one.kernel(), inner, 0));
      if (transposed) one.shared += transposed->shared_bytes;
    }
  }
}

std::vector<std::int32_t> XlaInstructions::users_of(std::int32_t instruction) const {
  const std::vector<NodeId> given = values(instruction);
  if (given.size() == 1) return users(given[0]);
  std::vector<std::int32_t> found;
  for (const NodeId value : given)
    for (const std::int32_t user : users(value))
      if (std::find(found.begin(), found.end(), user) == found.end()) found.push_back(user);
  return found;
}

bool XlaInstructions::is_stored_any(std::int32_t instruction) const {
  const auto given = values(instruction);
  return std::any_of(given.begin(), given.end(), [&](NodeId value) { return is_stored(value); });
}

std::vector<NodeId> XlaInstructions::values(std::int32_t instruction) const {
  std::vector<NodeId> ids;
  const xla::Kernel& kernel = (*this)[instruction].kernel();
  for (const std::int32_t result : kernel.results) ids.push_back(item(kernel, result).id);
  return ids;
}

std::int64_t XlaInstructions::operand_count(std::int32_t instruction) const {
  const XlaInstruction& one = (*this)[instruction];
  return one.growing != nullptr ? std::ssize(one.growing->operands()) : std::ssize(one.kernel().operands);
}

std::vector<NodeId> XlaInstructions::operands(std::int32_t instruction) const {
  if ((*this)[instruction].growing != nullptr) return (*this)[instruction].growing->operands();
  constexpr std::size_t many = 32;  // from here on a table is faster than looking through the list
  std::vector<NodeId> ids;
  const xla::Kernel& kernel = (*this)[instruction].kernel();
  std::unordered_set<NodeId> seen;
  for (const std::int32_t operand : kernel.operands) {
    const NodeId id = item(kernel, operand).id;
    const bool known =
        kernel.operands.size() > many ? !seen.insert(id).second : std::find(ids.begin(), ids.end(), id) != ids.end();
    if (!known) ids.push_back(id);
  }
  return ids;
}

// XLA puts the last user into the place of the one that goes, and adds a fusion's uses before it takes away those of
// what went into it. So what becomes a fusion keeps its place among the users, and some merges hang on that order.
void XlaInstructions::forget_use(NodeId value, std::int32_t instruction) {
  ++changes_;
  std::vector<std::int32_t>& list = users_[ir::index(value)];
  const std::size_t gone = place_among_users(value, instruction);
  if (gone == list.size()) return;
  list[gone] = list.back();
  list.pop_back();
  if (const auto& places = user_places_[ir::index(value)]; places != nullptr) {
    places->erase(instruction);
    if (gone < list.size()) (*places)[list[gone]] = gone;
  }
}

void XlaInstructions::note_use(NodeId value, std::int32_t instruction) {
  ++changes_;
  constexpr std::size_t many = 64;  // from here on a table is faster than looking through the list
  std::vector<std::int32_t>& list = users_[ir::index(value)];
  if (place_among_users(value, instruction) != list.size()) return;
  list.push_back(instruction);
  auto& places = user_places_[ir::index(value)];
  if (places != nullptr) {
    places->emplace(instruction, list.size() - 1);
  } else if (list.size() > many) {
    places = std::make_unique<std::unordered_map<std::int32_t, std::size_t>>();
    for (std::size_t i = 0; i < list.size(); ++i) places->emplace(list[i], i);
  }
}

/// The size of the list when it is none.
std::size_t XlaInstructions::place_among_users(NodeId value, std::int32_t instruction) const {
  const std::vector<std::int32_t>& list = users_[ir::index(value)];
  if (const auto& places = user_places_[ir::index(value)]; places != nullptr) {
    const auto found = places->find(instruction);
    return found == places->end() ? list.size() : found->second;
  }
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), instruction) - list.begin());
}

void XlaInstructions::replace(std::int32_t instruction, xla::Kernel kernel) {
  XlaInstruction& one = at(instruction);
  const bool is_new = !one.fused();
  one.growing = nullptr;
  one.grown = false;
  const std::vector<NodeId> before = operands(instruction);
  if (target_ != nullptr)
    one.price = xla::priced(std::move(kernel), *target_);
  else
    one.price.kernel = std::move(kernel);
  one.fusible = true;
  ++one.version;
  if (is_new) one.order = next_order_++;
  measure(one);
  const std::vector<NodeId> after = operands(instruction);
  for (const NodeId value : before)
    if (std::find(after.begin(), after.end(), value) == after.end()) forget_use(value, instruction);
  for (const NodeId value : after) note_use(value, instruction);
}

void XlaInstructions::fuse(std::int32_t producer, std::int32_t consumer) {
  replace(consumer, xla::merged((*this)[producer].kernel(), (*this)[consumer].kernel()));
  if (target_ != nullptr) set_loop_kind(consumer, (*this)[consumer].price.analysis.emitter == xla::Emitter::loop);
}

const GrowingFusion& XlaInstructions::growing(std::int32_t fusion) {
  XlaInstruction& one = at(fusion);
  if (one.growing == nullptr) one.growing = std::make_shared<GrowingFusion>(one.kernel(), year_);
  return *one.growing;
}

void XlaInstructions::grow(std::int32_t producer, std::int32_t consumer) {
  XlaInstruction& to = at(consumer);
  if (!to.fused()) replace(consumer, xla::wrapped(to.kernel()));
  (void)growing(consumer);
  to.grown = true;
  const NodeId value = values(producer).front();
  for (const NodeId brought : to.growing->add(value)) note_use(brought, consumer);
  forget_use(value, consumer);
}

void XlaInstructions::settle(std::int32_t instruction) {
  XlaInstruction& one = at(instruction);
  if (one.grown)
    replace(instruction, one.growing->kernel());
  else
    one.growing = nullptr;
}

void XlaInstructions::fuse_keeping(std::int32_t producer, std::int32_t consumer) {
  const std::vector<NodeId> given = values(producer);
  bool needed = is_stored_any(producer);
  for (const std::int32_t user : users_of(producer)) needed = needed || user != consumer;
  place_together(consumer, producer);
  replace(consumer, xla::merged((*this)[producer].kernel(), (*this)[consumer].kernel(), needed));
  for (const NodeId value : operands(producer)) forget_use(value, producer);
  all_[static_cast<std::size_t>(producer)].alive = false;
  for (const NodeId value : given) owner_[ir::index(value)] = consumer;
  ++changes_;
}

void XlaInstructions::fuse_siblings(std::int32_t first, std::int32_t second) {
  const std::vector<NodeId> given = values(second);
  place_together(first, second);
  replace(first, xla::siblings((*this)[first].kernel(), (*this)[second].kernel()));
  for (const NodeId value : operands(second)) forget_use(value, second);
  all_[static_cast<std::size_t>(second)].alive = false;
  for (const NodeId value : given) owner_[ir::index(value)] = first;
  ++changes_;
}

void XlaInstructions::settle_all() {
  for (std::int32_t i = 0; i < size(); ++i) settle(i);
}

bool XlaInstructions::remove_unused(std::int32_t instruction) {
  if (is_stored_any(instruction) || !users_of(instruction).empty()) return false;
  for (const NodeId value : operands(instruction)) forget_use(value, instruction);
  all_[static_cast<std::size_t>(instruction)].alive = false;
  // Nobody asks any more, and the kernels of a long chain's producers together are of the square of its length.
  if (year_ == xla::Year::today) at(instruction).price = {};
  return true;
}

void XlaInstructions::merge_equal() {
  for (std::int32_t i = 0; i < size(); ++i) {
    if (!(*this)[i].alive || !(*this)[i].fused()) continue;
    xla::Kernel kernel = (*this)[i].kernel();
    const std::size_t before = kernel.items.size();
    xla::merge_equal(kernel);
    if (kernel.items.size() != before) replace(i, std::move(kernel));
  }
}

void XlaInstructions::wrap(std::int32_t instruction) {
  if (!(*this)[instruction].fused()) replace(instruction, xla::wrapped((*this)[instruction].kernel()));
}

std::vector<std::int32_t> XlaInstructions::post_order() const {
  std::vector<std::int32_t> order;
  std::vector<std::uint8_t> met(static_cast<std::size_t>(size()), 0);
  std::vector<std::pair<std::int32_t, std::vector<NodeId>>> stack;
  const auto walk = [&](std::int32_t start) {
    if (!(*this)[start].alive || met[static_cast<std::size_t>(start)] != 0) return;
    met[static_cast<std::size_t>(start)] = 1;
    const auto push = [&](std::int32_t one) {
      stack.emplace_back(one, operands(one));
      std::reverse(stack.back().second.begin(), stack.back().second.end());
    };
    push(start);
    while (!stack.empty()) {
      auto& [at, left] = stack.back();
      if (left.empty()) {
        order.push_back(at);
        stack.pop_back();
        continue;
      }
      const std::int32_t operand = owner(left.back());
      left.pop_back();
      if (met[static_cast<std::size_t>(operand)] != 0) continue;
      met[static_cast<std::size_t>(operand)] = 1;
      push(operand);
    }
  };
  for (const NodeId output : graph_.outputs) walk(owner(output));
  for (std::int32_t i = 0; i < size(); ++i) walk(i);
  return order;
}

void XlaInstructions::begin(Cone& cone, std::int32_t of) const {
  if (cone.of == of && cone.changes == changes_) return;
  cone.of = of;
  cone.changes = changes_;
  ++cone.number;
  cone.seen.resize(all_.size(), 0);
  cone.pending = {place(of)};
}

bool XlaInstructions::reaches(std::int32_t from, std::int32_t to) const {
  if (place(from) >= place(to)) return false;
  begin(below_, from);
  // The least place first: all that leads to `to` stands before it.
  while (!below_.pending.empty() && below_.pending.front() < place(to)) {
    const XlaInstruction& at = (*this)[at_place_[static_cast<std::size_t>(below_.pending.front())]];
    std::pop_heap(below_.pending.begin(), below_.pending.end(), std::greater{});
    below_.pending.pop_back();
    for (const std::int32_t result : at.kernel().results)
      for (const std::int32_t user : users(item(at.kernel(), result).id)) {
        std::int32_t& seen = below_.seen[static_cast<std::size_t>(user)];
        if (std::exchange(seen, below_.number) == below_.number) continue;
        below_.pending.push_back(place(user));
        std::push_heap(below_.pending.begin(), below_.pending.end(), std::greater{});
      }
  }
  return below_.seen[static_cast<std::size_t>(to)] == below_.number;
}

/// The same, searched from `to` upwards.
bool XlaInstructions::is_reached_by(std::int32_t from, std::int32_t to) const {
  if (place(from) >= place(to)) return false;
  begin(above_, to);
  while (!above_.pending.empty() && above_.pending.front() > place(from)) {
    const XlaInstruction& at = (*this)[at_place_[static_cast<std::size_t>(above_.pending.front())]];
    std::pop_heap(above_.pending.begin(), above_.pending.end());
    above_.pending.pop_back();
    for (const std::int32_t operand : at.kernel().operands) {
      const std::int32_t giver = owner(item(at.kernel(), operand).id);
      std::int32_t& seen = above_.seen[static_cast<std::size_t>(giver)];
      if (std::exchange(seen, above_.number) == above_.number) continue;
      above_.pending.push_back(place(giver));
      std::push_heap(above_.pending.begin(), above_.pending.end());
    }
  }
  return above_.seen[static_cast<std::size_t>(from)] == above_.number;
}

bool XlaInstructions::are_ordered(std::int32_t fixed, std::int32_t other) const {
  return place(fixed) < place(other) ? reaches(fixed, other) : is_reached_by(other, fixed);
}

/// Between the two, what the lower one reaches goes behind the instruction that both become, all else before it.
/// Precondition: neither reaches the other but by an edge that their becoming one takes away.
void XlaInstructions::place_together(std::int32_t kept, std::int32_t gone) {
  ++changes_;
  const std::int32_t low = std::min(place_[static_cast<std::size_t>(kept)], place_[static_cast<std::size_t>(gone)]);
  const std::int32_t high = std::max(place_[static_cast<std::size_t>(kept)], place_[static_cast<std::size_t>(gone)]);
  const std::int32_t end = at_place_[static_cast<std::size_t>(high)];
  ++searches_;
  std::vector<std::int32_t> pending{at_place_[static_cast<std::size_t>(low)]};
  while (!pending.empty()) {
    const std::int32_t at = pending.back();
    pending.pop_back();
    for (const std::int32_t result : (*this)[at].kernel().results)
      for (const std::int32_t user : users(item((*this)[at].kernel(), result).id)) {
        const auto u = static_cast<std::size_t>(user);
        if (user == end || place_[u] > high || seen_[u] == searches_) continue;
        seen_[u] = searches_;
        pending.push_back(user);
      }
  }
  std::vector<std::int32_t> order, behind;
  for (std::int32_t place = low + 1; place < high; ++place) {
    const std::int32_t one = at_place_[static_cast<std::size_t>(place)];
    (seen_[static_cast<std::size_t>(one)] == searches_ ? behind : order).push_back(one);
  }
  order.push_back(gone);
  order.push_back(kept);
  order.insert(order.end(), behind.begin(), behind.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    at_place_[static_cast<std::size_t>(low) + i] = order[i];
    place_[static_cast<std::size_t>(order[i])] = low + static_cast<std::int32_t>(i);
  }
}

std::vector<std::vector<NodeId>> kernels_in_order(const XlaInstructions& all,
                                                  bool (*is_kernel)(const XlaInstruction&)) {
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < all.size(); ++i)
    if (all[i].alive && is_kernel(all[i])) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return all.place(a) < all.place(b); });
  std::vector<std::vector<NodeId>> kernels;
  for (const std::int32_t i : order) kernels.push_back(xla::members(all[i].kernel()));
  return kernels;
}

bool is_lone_bitcast(const XlaInstruction& one) {
  if (one.fused()) return false;
  const xla::Item& self = item(one.kernel(), only_item(one.kernel()));
  if (self.node->op != Op::bitcast && self.node->op != Op::bitcast_convert && self.node->op != Op::reshape)
    return false;
  return xla::is_bitcast(*self.node, operand_shape(one.kernel(), self, 0));
}

bool is_constant(const XlaInstruction& one) {
  return !one.fused() && node(one.kernel(), only_item(one.kernel())).op == Op::constant;
}

}  // namespace tailor::explore
