// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instruction fusion of 2020 and 2022. In: instructions as they stand. Out: the same after producers, one by one,
// joined their users. Called by the pipelines of those years (era.cpp), twice: without computing anything twice, then
// with.
//
// Consumers come from the results upwards. Each takes its operands one after the other, the one that stands last first,
// as long as a rule allows one; then the next consumer comes. A producer that others need too stays, and is computed
// again in the consumer. In the second run that is refused to producers that read more than they give, unless they
// could go into all their users on all ways there: else the reading would only be multiplied.
#include <algorithm>

#include "explore/xla/era_rules.h"

namespace tailor::explore {

using ir::Node;
using ir::NodeId;
using ir::Op;
using xla::Year;

namespace {

class InstructionFusion {
 public:
  InstructionFusion(XlaInstructions& all, bool may_duplicate, const std::stop_token& stop)
      : all_(all),
        may_duplicate_(may_duplicate),
        stop_(stop),
        order_(all.post_order()),
        place_(static_cast<std::size_t>(all.size()), -1),
        kept_apart_(static_cast<std::size_t>(all.size()), false),
        reached_(static_cast<std::size_t>(all.size()), -1),
        walked_(static_cast<std::size_t>(all.size()), -1) {
    for (std::size_t i = 0; i < order_.size(); ++i)
      place_[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
  }

  bool run() {
    if (may_duplicate_) keep_apart();
    bool changed = false;
    for (std::size_t i = order_.size(); i-- > 0 && !stop_.stop_requested();) {
      const std::int32_t consumer = order_[i];
      if (!all_[consumer].alive || (!all_[consumer].fusible && !all_[consumer].fused())) continue;
      while (fuse_one_into(consumer)) changed = true;
      all_.settle(consumer);
    }
    all_.settle_all();
    return changed;
  }

 private:
  std::int32_t place(std::int32_t i) const { return place_[static_cast<std::size_t>(i)]; }

  bool fuse_one_into(std::int32_t consumer);
  bool may_fuse(std::int32_t producer, std::int32_t consumer);
  void keep_apart();
  bool adds_reading(std::int32_t producer) const;
  bool goes_everywhere(std::int32_t producer);

  XlaInstructions& all_;
  const bool may_duplicate_;
  const std::stop_token& stop_;
  std::vector<std::int32_t> order_, place_;
  std::vector<bool> kept_apart_;
  std::vector<std::int32_t> reached_, walked_;  ///< from, and back to, the producer that is asked about
};

bool InstructionFusion::fuse_one_into(std::int32_t consumer) {
  std::vector<std::int32_t> producers;
  for (const NodeId value : all_.operands(consumer)) producers.push_back(all_.owner(value));
  std::sort(producers.begin(), producers.end(), [&](std::int32_t a, std::int32_t b) { return place(a) > place(b); });
  for (const std::int32_t producer : producers) {
    if (kept_apart_[static_cast<std::size_t>(producer)] || !may_fuse(producer, consumer)) continue;
    const bool loop = !era_input_fusible(all_, consumer);
    all_.grow(producer, consumer);
    all_.set_loop_kind(consumer, loop);
    kept_apart_[static_cast<std::size_t>(consumer)] = false;
    (void)all_.remove_unused(producer);
    return true;
  }
  return false;
}

/// Twice the bytes of what it reads.
bool widens(const Node& node, const ir::Graph& graph) {
  return node.op == Op::convert && ir::bytes(graph[node.operands[0]].shape) < ir::bytes(node.shape);
}

bool InstructionFusion::may_fuse(std::int32_t producer, std::int32_t consumer) {
  if (all_[producer].fused() || !era_loop_fusible(all_, producer)) return false;
  const Node& maker = node(all_[producer].kernel(), only_item(all_[producer].kernel()));
  const bool expensive = era_expensive(maker, all_.graph(), all_.year());
  const bool computed_twice = era_users(all_, producer) != 1;
  if (computed_twice && (!may_duplicate_ || expensive) && !widens(maker, all_.graph())) return false;
  if (expensive && era_reuses(all_, producer, consumer)) return false;
  if (!era_fusible_pair(all_, producer, consumer)) return false;
  if (all_.year() == Year::y2022 && conflicts_in_place(all_, producer, consumer)) return false;
  if (!over_budget(all_, consumer, producer, true).empty()) return false;
  return !era_emits_too_often(all_, producer, consumer);
}

/// More than one large array goes in, and more elements than come out.
bool InstructionFusion::adds_reading(std::int32_t producer) const {
  const auto rank = [](const ir::Shape& shape) {
    return std::count_if(shape.dims.begin(), shape.dims.end(), [](std::int64_t size) { return size > 1; });
  };
  const xla::Kernel& kernel = all_[producer].kernel();
  std::int64_t given_rank = 0, given = 0, taken = 0, large = 0;
  for (const std::int32_t result : kernel.results) {
    const Node& one = node(kernel, result);
    given += xla::elements_of(one);
    if (one.results.empty()) given_rank = std::max<std::int64_t>(given_rank, rank(one.shape));
    for (const ir::Shape& shape : one.results) given_rank = std::max<std::int64_t>(given_rank, rank(shape));
  }
  for (const std::int32_t operand : kernel.operands) {
    const Node& one = node(kernel, operand);
    // What a fusion gives is no broadcast any more.
    const bool single = !all_[all_.owner(item(kernel, operand).id)].fused();
    if (single && (one.op == Op::broadcast || one.op == Op::iota)) continue;
    if (one.op == Op::constant && xla::is_scalar_like(one.shape)) continue;
    if (one.results.empty() && rank(one.shape) >= given_rank) ++large;
  }
  if (large <= 1) return false;
  for (const NodeId value : all_.operands(producer)) taken += xla::elements_of(all_.graph()[value]);
  return taken > given;
}

void InstructionFusion::keep_apart() {
  for (std::size_t i = order_.size(); i-- > 0 && !stop_.stop_requested();)
    if (adds_reading(order_[i]) && !goes_everywhere(order_[i])) kept_apart_[static_cast<std::size_t>(order_[i])] = true;
}

/// Every edge on every way from the producer to its users could be fused.
bool InstructionFusion::goes_everywhere(std::int32_t producer) {
  if (all_.is_stored_any(producer)) return false;
  const std::vector<std::int32_t> users = all_.users_of(producer);
  const auto is_open = [&](std::int32_t from, std::int32_t to) {
    return !kept_apart_[static_cast<std::size_t>(from)] && (all_[to].fusible || all_[to].fused()) && may_fuse(from, to);
  };
  std::int32_t last = 0;
  bool other_ways = false;
  for (const std::int32_t user : users) {
    if (!is_open(producer, user)) return false;
    last = std::max(last, place(user));
    for (const NodeId value : all_.operands(user))
      other_ways = other_ways || place(all_.owner(value)) > place(producer);
  }
  if (!other_ways) return true;
  // Backwards from the users, among what the producer reaches.
  std::vector<std::int32_t> pending{producer};
  while (!pending.empty()) {
    const std::int32_t at = pending.back();
    pending.pop_back();
    for (const NodeId value : all_.values(at))
      for (const std::int32_t user : all_.users(value)) {
        if (place(user) > last || reached_[static_cast<std::size_t>(user)] == producer) continue;
        reached_[static_cast<std::size_t>(user)] = producer;
        pending.push_back(user);
      }
  }
  pending = users;
  while (!pending.empty()) {
    const std::int32_t at = pending.back();
    pending.pop_back();
    if (walked_[static_cast<std::size_t>(at)] == producer) continue;
    walked_[static_cast<std::size_t>(at)] = producer;
    for (const NodeId value : all_.operands(at)) {
      const std::int32_t operand = all_.owner(value);
      if (operand != producer && reached_[static_cast<std::size_t>(operand)] != producer) continue;
      if (!is_open(operand, at)) return false;
      if (operand != producer) pending.push_back(operand);
    }
  }
  return true;
}

}  // namespace

bool era_fuse_instructions(XlaInstructions& all, bool may_duplicate, const std::stop_token& stop) {
  return InstructionFusion(all, may_duplicate, stop).run();
}

}  // namespace tailor::explore
