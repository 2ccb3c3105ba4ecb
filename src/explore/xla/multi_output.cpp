// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's multi-output fusion: the walk, which is the same in all years, and today's rules. In: instructions after the
// queue. Out: the same with kernels that give several results. Called by the strategies that fuse as XLA does.
//
// Values are visited with their users before themselves. Users of a value become one kernel when neither waits for the
// other, they loop over the same elements and together stay within the budgets: no price is asked, the value is then
// read once. After that a producer may join one of its users and go on giving its result, if the model says it is no
// slower; kernels with several results are preferred, then fusions.
#include "explore/xla/multi_output.h"

#include <algorithm>

namespace tailor::explore {

using ir::NodeId;
using ir::Op;

namespace {

constexpr std::int64_t small_parent_bytes = 1024;  // slices of so little may lie apart

bool is_multi(const XlaInstructions& all, std::int32_t i) { return all[i].kernel().results.size() > 1; }
/// Kernels with several results are preferred, then fusions.
int rank(const XlaInstructions& all, std::int32_t i) { return is_multi(all, i) ? 2 : all[i].fused() ? 1 : 0; }

class TodaysRules final : public MultiOutputRules {
 public:
  explicit TodaysRules(XlaInstructions& all) : all_(all) {}

  bool reduces(std::int32_t i) const {
    const xla::Kernel& kernel = all_[i].kernel();
    if (!all_[i].fused()) return is_tiled(kernel, only_item(kernel));
    const auto users = xla::users_of(kernel);
    return std::any_of(kernel.results.begin(), kernel.results.end(), [&](std::int32_t result) {
      return xla::is_reduction_hero(kernel, result, xla::hero_of(kernel, users, result));
    });
  }
  static bool is_tiled(const xla::Kernel& kernel, std::int32_t i) {
    const xla::Item& one = item(kernel, i);
    return !one.outside && one.node->op == Op::reduce &&
           xla::is_tiled_reduction(*one.node, operand_shape(kernel, one, 0));
  }
  static std::optional<xla::Transposed> transposed(const xla::Kernel& kernel, std::int32_t i) {
    const xla::Item& one = item(kernel, i);
    if (one.outside || one.node->op != Op::transpose) return std::nullopt;
    return xla::tiled_transpose(*one.node, operand_shape(kernel, one, 0));
  }
  bool transposes(std::int32_t i) const {
    const xla::Kernel& kernel = all_[i].kernel();
    if (!all_[i].fused()) return transposed(kernel, only_item(kernel)).has_value();
    const auto users = xla::users_of(kernel);
    return std::any_of(kernel.results.begin(), kernel.results.end(), [&](std::int32_t result) {
      return transposed(kernel, xla::hero_of(kernel, users, result)).has_value();
    });
  }
  bool is_elementwise(std::int32_t i) const {
    const xla::Kernel& kernel = all_[i].kernel();
    return std::all_of(kernel.items.begin(), kernel.items.end(),
                       [](const xla::Item& one) { return one.outside || xla::is_elementwise(*one.node); });
  }

  /// Its results may stand beside others.
  bool may_give_several(std::int32_t i) const {
    if (!all_[i].fusible) return false;
    return reduces(i) || transposes(i) || (all_[i].fused() && all_[i].loop_kind) || is_elementwise(i);
  }

  std::vector<NodeId> shared_values(std::int32_t parent) const override {
    std::vector<NodeId> given = all_.values(parent);
    // Users of an instruction with several results take its parts, not the whole.
    if (given.size() > 1) return {};
    if (all_.graph()[given[0]].results.empty() && xla::is_scalar_like(all_.graph()[given[0]].shape)) return {};
    return given;
  }

  bool is_sibling(std::int32_t i) const override {
    if (!may_give_several(i) || (all_.users_of(i).empty() && !all_.is_stored_any(i))) return false;
    const ir::Node& root = node(all_[i].kernel(), all_[i].kernel().results[0]);
    // A reduction of several arrays that is computed per element cannot stand beside others.
    return !(root.op == Op::reduce && !root.results.empty() &&
             (all_[i].fused() ? all_[i].loop_kind : !is_tiled(all_[i].kernel(), only_item(all_[i].kernel()))));
  }

  /// What decides the loops of an instruction, as an item of its kernel.
  std::int32_t deciding(std::int32_t i) const {
    const xla::Kernel& kernel = all_[i].kernel();
    if (!all_[i].fused()) return only_item(kernel);
    const auto users = xla::users_of(kernel);
    for (const std::int32_t result : kernel.results) {
      const std::int32_t hero = xla::hero_of(kernel, users, result);
      if (xla::is_reduction_hero(kernel, result, hero) || transposed(kernel, hero)) return hero;
    }
    return kernel.results[0];
  }

  const ir::Shape* loop_shape(std::int32_t i, std::int32_t hero) const {
    const xla::Kernel& kernel = all_[i].kernel();
    const std::int32_t behind = all_[i].fused() ? xla::hero_of(kernel, xla::users_of(kernel), hero) : hero;
    if (is_tiled(kernel, hero) || transposed(kernel, behind)) return &operand_shape(kernel, item(kernel, behind), 0);
    return node(kernel, hero).results.empty() ? &node(kernel, hero).shape : nullptr;
  }

  /// Only elementwise operations, one after the other, between what `user` takes of `maker` and its result.
  bool is_plain_way(std::int32_t maker, std::int32_t user) const {
    const xla::Kernel& kernel = all_[user].kernel();
    const auto users = xla::users_of(kernel);
    for (const NodeId value : all_.values(maker)) {
      const std::int32_t at = xla::operand_index(kernel, value);
      if (at < 0) continue;
      std::int32_t i = kernel.operands[static_cast<std::size_t>(at)];
      if (users[static_cast<std::size_t>(i)].size() != 1) return false;
      for (i = users[static_cast<std::size_t>(i)][0]; !users[static_cast<std::size_t>(i)].empty();
           i = users[static_cast<std::size_t>(i)][0]) {
        const xla::Item& one = item(kernel, i);
        if (users[static_cast<std::size_t>(i)].size() > 1 || one.operands.size() != 1) return false;
        if (!xla::is_elementwise(*one.node) && !xla::is_bitcast(*one.node, operand_shape(kernel, one, 0))) return false;
      }
      return true;
    }
    return true;
  }

  bool loops_agree(std::int32_t a, std::int32_t b) const {
    const xla::Kernel& of_a = all_[a].kernel();
    const xla::Kernel& of_b = all_[b].kernel();
    const std::int32_t hero_a = deciding(a), hero_b = deciding(b);
    const bool reduces_a = is_tiled(of_a, hero_a), reduces_b = is_tiled(of_b, hero_b);
    const auto moved_a = transposed(of_a, hero_a), moved_b = transposed(of_b, hero_b);
    const bool loose_a = node(of_a, hero_a).op == Op::transpose && !moved_a;
    const bool loose_b = node(of_b, hero_b).op == Op::transpose && !moved_b;
    const auto reduced = [](const xla::Kernel& kernel, std::int32_t i) {
      return xla::reduced(operand_shape(kernel, item(kernel, i), 0), ir::axes(node(kernel, i)));
    };
    if (reduces_a && reduces_b && !(reduced(of_a, hero_a) == reduced(of_b, hero_b))) return false;
    if (moved_a && moved_b && !(*moved_a == *moved_b)) return false;
    if (((moved_a || reduces_a) && loose_b) || (loose_a && (moved_b || reduces_b))) return false;
    if ((moved_a && reduces_b) || (reduces_a && moved_b)) return false;
    if (all_[a].fused() && all_[b].fused()) {
      const auto follows = [&](std::int32_t user, std::int32_t maker) {
        const auto users = all_.users_of(maker);
        return std::find(users.begin(), users.end(), user) != users.end();
      };
      if (moved_a && follows(b, a) && !is_plain_way(a, b)) return false;
      if (!(moved_a && follows(b, a)) && moved_b && follows(a, b) && !is_plain_way(b, a)) return false;
    }
    const ir::Shape* const shape_a = loop_shape(a, hero_a);
    const ir::Shape* const shape_b = loop_shape(b, hero_b);
    if (shape_a == nullptr || shape_b == nullptr) return false;
    return xla::same_place(*shape_a, *shape_b);
  }

  /// The slice through which alone an instruction reads a value; nullptr: none.
  const ir::Node* only_slice(std::int32_t i, NodeId value) const {
    const xla::Kernel& kernel = all_[i].kernel();
    if (!all_[i].fused()) {
      const ir::Node& self = node(kernel, only_item(kernel));
      return self.op == Op::slice ? &self : nullptr;
    }
    const std::int32_t at = xla::operand_index(kernel, value);
    if (at < 0) return nullptr;
    const auto users = xla::users_of(kernel)[static_cast<std::size_t>(kernel.operands[static_cast<std::size_t>(at)])];
    if (users.size() != 1 || node(kernel, users[0]).op != Op::slice) return nullptr;
    return &node(kernel, users[0]);
  }

  bool slices_lie_apart(std::int32_t a, std::int32_t b, std::int32_t parent) const {
    const std::vector<NodeId> given = all_.values(parent);
    if (given.size() != 1) return false;
    const ir::Node& whole = all_.graph()[given[0]];
    if (!whole.results.empty() || ir::bytes(whole.shape) < small_parent_bytes) return false;
    const ir::Node* const of_a = only_slice(a, given[0]);
    const ir::Node* const of_b = only_slice(b, given[0]);
    if (of_a == nullptr || of_b == nullptr) return false;
    for (int dim = 0; dim < whole.shape.rank(); ++dim) {
      const ir::SliceRange& x = ir::slice_range(*of_a, dim);
      const ir::SliceRange& y = ir::slice_range(*of_b, dim);
      if (x.start >= y.limit || y.start >= x.limit) return true;
    }
    return false;
  }

  bool is_update(std::int32_t i) const {
    return all_[i].fused() && !is_multi(all_, i) &&
           node(all_[i].kernel(), all_[i].kernel().results[0]).op == Op::dynamic_update_slice;
  }

  bool may_join(std::int32_t a, std::int32_t b, std::int32_t parent) override {
    // The budget first: of a value with thousands of users most pairs end there.
    if (is_update(a) || is_update(b) || !over_budget(all_, a, b, false).empty()) return false;
    return loops_agree(a, b) && !slices_lie_apart(a, b, parent);
  }

  bool may_be_computed_along(std::int32_t producer) const override {
    if (!all_[producer].fusible || is_multi(all_, producer)) return false;
    const std::vector<std::int32_t> users = all_.users_of(producer);
    const std::size_t count = users.size() + (all_.is_stored_any(producer) ? 1 : 0);
    if (count == 1 && (users.empty() || !is_multi(all_, users[0]))) return false;
    if (!written_over(all_[producer]).empty()) return false;
    const xla::Kernel& kernel = all_[producer].kernel();
    for (const xla::Item& one : kernel.items)
      if (!one.outside && (one.node->op == Op::copy || one.node->op == Op::transpose) &&
          xla::moves_elements(*one.node, operand_shape(kernel, one, 0)))
        return false;
    if (all_[producer].fused()) return all_[producer].loop_kind || is_elementwise(producer);
    const ir::Node& self = node(kernel, only_item(kernel));
    return self.op != Op::scatter && (self.op != Op::reduce || self.results.empty());
  }

  bool gains(std::int32_t producer, std::int32_t consumer) const {
    const xla::Priced& from = all_[producer].price;
    const xla::Priced& to = all_[consumer].price;
    const xla::Kernel both = xla::merged(from.kernel, to.kernel);
    const xla::Quarters launch = xla::quarters(all_.target().launch_overhead);
    const xla::Quarters together = xla::time_together(from, to, both, xla::analyse(both), all_.target(), true);
    return launch + together <= 2 * launch + from.time + to.time;
  }

  bool may_take_along(std::int32_t producer, std::int32_t user) override {
    if (!may_give_several(user) || !loops_agree(user, producer) || closes_circle(all_, producer, user)) return false;
    if (!over_budget(all_, producer, user, false).empty() || becomes_too_large(all_, producer, user)) return false;
    return gains(producer, user);
  }

  bool becomes_loop(std::int32_t producer, std::int32_t user) const override {
    return !reduces(user) && !transposes(user) && !reduces(producer) && !transposes(producer);
  }

 private:
  XlaInstructions& all_;
};

class Walk {
 public:
  Walk(XlaInstructions& all, MultiOutputRules& rules, const std::stop_token& stop)
      : all_(all), rules_(rules), stop_(stop) {}

  bool run() {
    std::vector<std::int32_t> order = all_.post_order();
    std::reverse(order.begin(), order.end());
    for (const std::int32_t parent : order) {
      if (stop_.stop_requested()) break;
      if (!all_[parent].alive || is_constant(all_[parent])) continue;
      for (const NodeId value : rules_.shared_values(parent)) fuse_users(value, parent);
      fuse_into_user(parent);
    }
    return changed_;
  }

 private:
  void fuse_users(NodeId value, std::int32_t parent) {
    std::vector<std::int32_t> users = all_.users(value);
    std::erase_if(users, [&](std::int32_t user) { return !rules_.is_sibling(user); });
    std::stable_sort(users.begin(), users.end(),
                     [&](std::int32_t a, std::int32_t b) { return rank(all_, a) > rank(all_, b); });
    for (std::size_t i = 0; i < users.size(); ++i) {
      if (!all_[users[i]].fused()) continue;
      for (std::size_t j = i + 1; j < users.size();) {
        if (all_.are_ordered(users[i], users[j]) || !rules_.may_join(users[i], users[j], parent)) {
          ++j;
          continue;
        }
        const bool loop = all_[users[i]].loop_kind && (!all_[users[j]].fused() || all_[users[j]].loop_kind);
        all_.fuse_siblings(users[i], users[j]);
        all_.set_loop_kind(users[i], loop);
        users.erase(users.begin() + static_cast<std::ptrdiff_t>(j));
        changed_ = true;
      }
    }
  }

  void fuse_into_user(std::int32_t producer) {
    if (!rules_.may_be_computed_along(producer)) return;
    std::int32_t best = -1;
    for (const std::int32_t user : all_.users_of(producer))
      if ((best < 0 || rank(all_, user) > rank(all_, best)) && rules_.may_take_along(producer, user)) best = user;
    if (best < 0) return;
    const bool loop = all_[best].fused() ? all_[best].loop_kind : rules_.becomes_loop(producer, best);
    all_.fuse_keeping(producer, best);
    all_.set_loop_kind(best, loop);
    changed_ = true;
  }

  XlaInstructions& all_;
  MultiOutputRules& rules_;
  const std::stop_token& stop_;
  bool changed_ = false;
};

}  // namespace

bool closes_circle(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer) {
  for (const NodeId value : all.operands(consumer)) {
    const std::int32_t other = all.owner(value);
    if (other != producer && all.reaches(producer, other)) return true;
  }
  return false;
}

bool fuse_multi_output(XlaInstructions& all, MultiOutputRules& rules, const std::stop_token& stop) {
  return Walk(all, rules, stop).run();
}

void fuse_multi_output(XlaInstructions& all, const std::stop_token& stop) {
  TodaysRules rules(all);
  (void)fuse_multi_output(all, rules, stop);
}

}  // namespace tailor::explore
