// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions, who takes what of whom, and the three ways to make one of two. In: a graph, then decisions. Out: the
// instructions as they stand. Called by the strategy xla-priority. Prices are made anew whenever a kernel changes, so
// they are always those of the instruction as it is.
#include "explore/xla_instructions.h"

#include <algorithm>

namespace tailor::explore {

using ir::NodeId;
using ir::Op;

namespace {

bool is_fusible(const xla::Kernel& kernel) {
  if (kernel.fused) return true;
  const xla::Item& self = item(kernel, only_item(kernel));
  if (xla::is_elementwise(*self.node)) return true;
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

}  // namespace

XlaInstructions::XlaInstructions(const ir::Graph& graph, const xla::Target& target)
    : graph_(graph),
      target_(target),
      all_(graph.nodes.size()),
      owner_(graph.nodes.size()),
      users_(graph.nodes.size()),
      stored_(graph.nodes.size(), false),
      next_order_(2 * size()) {
  for (const NodeId output : graph.outputs) stored_[ir::index(output)] = true;
  std::vector<bool> asynchronous(graph.nodes.size(), false);
  for (const ir::GivenGroup& given : graph.given)
    if (given.kind == "async")
      for (const NodeId id : given.nodes) asynchronous[ir::index(id)] = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    owner_[i] = id;
    XlaInstruction& one = all_[i];
    // XLA numbers instructions as they are made: a text does not tell, but it stands in the order of the program, and
    // copies and transposes come from XLA's own layout passes, after all others.
    const bool late = graph[id].op == Op::copy || graph[id].op == Op::transpose;
    one.order = id + (late ? size() : 0);
    one.price.kernel = xla::bare_kernel(graph, id);
    one.fusible = is_fusible(one.kernel()) && !asynchronous[i];
    if (one.fusible) one.price = xla::priced(std::move(one.price.kernel), target);
    measure(one);
    for (const NodeId operand : graph[id].operands) note_use(operand, id);
  }
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
      if (!xla::is_tiled_reduction(*inner.node, operand)) continue;
      ++one.reductions;
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
  std::vector<std::int32_t> found;
  for (const NodeId value : values(instruction))
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

std::vector<NodeId> XlaInstructions::operands(std::int32_t instruction) const {
  std::vector<NodeId> ids;
  const xla::Kernel& kernel = (*this)[instruction].kernel();
  for (const std::int32_t operand : kernel.operands)
    if (std::find(ids.begin(), ids.end(), item(kernel, operand).id) == ids.end())
      ids.push_back(item(kernel, operand).id);
  return ids;
}

// XLA puts the last user into the place of the one that goes, and adds a fusion's uses before it takes away those of
// what went into it. So what becomes a fusion keeps its place among the users, and some merges hang on that order.
void XlaInstructions::forget_use(NodeId value, std::int32_t instruction) {
  std::vector<std::int32_t>& list = users_[ir::index(value)];
  const auto gone = std::find(list.begin(), list.end(), instruction);
  if (gone == list.end()) return;
  *gone = list.back();
  list.pop_back();
}

void XlaInstructions::note_use(NodeId value, std::int32_t instruction) {
  std::vector<std::int32_t>& list = users_[ir::index(value)];
  if (std::find(list.begin(), list.end(), instruction) == list.end()) list.push_back(instruction);
}

void XlaInstructions::replace(std::int32_t instruction, xla::Kernel kernel) {
  XlaInstruction& one = all_[static_cast<std::size_t>(instruction)];
  const std::vector<NodeId> before = operands(instruction);
  const bool is_new = !one.fused();
  one.price = xla::priced(std::move(kernel), target_);
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
  set_loop_kind(consumer, (*this)[consumer].price.analysis.emitter == xla::Emitter::loop);
}

void XlaInstructions::fuse_keeping(std::int32_t producer, std::int32_t consumer) {
  const std::vector<NodeId> given = values(producer);
  bool needed = is_stored_any(producer);
  for (const std::int32_t user : users_of(producer)) needed = needed || user != consumer;
  replace(consumer, xla::merged((*this)[producer].kernel(), (*this)[consumer].kernel(), needed));
  for (const NodeId value : operands(producer)) forget_use(value, producer);
  all_[static_cast<std::size_t>(producer)].alive = false;
  for (const NodeId value : given) owner_[ir::index(value)] = consumer;
}

void XlaInstructions::fuse_siblings(std::int32_t first, std::int32_t second) {
  const std::vector<NodeId> given = values(second);
  replace(first, xla::siblings((*this)[first].kernel(), (*this)[second].kernel()));
  for (const NodeId value : operands(second)) forget_use(value, second);
  all_[static_cast<std::size_t>(second)].alive = false;
  for (const NodeId value : given) owner_[ir::index(value)] = first;
}

bool XlaInstructions::remove_unused(std::int32_t instruction) {
  if (is_stored_any(instruction) || !users_of(instruction).empty()) return false;
  for (const NodeId value : operands(instruction)) forget_use(value, instruction);
  all_[static_cast<std::size_t>(instruction)].alive = false;
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

bool XlaInstructions::reaches(std::int32_t from, std::int32_t to) const {
  std::vector<bool> seen(all_.size(), false);
  std::vector<std::int32_t> pending{from};
  while (!pending.empty()) {
    const std::int32_t at = pending.back();
    pending.pop_back();
    for (const NodeId value : values(at))
      for (const std::int32_t user : users(value)) {
        if (user == to) return true;
        if (seen[static_cast<std::size_t>(user)]) continue;
        seen[static_cast<std::size_t>(user)] = true;
        pending.push_back(user);
      }
  }
  return false;
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
