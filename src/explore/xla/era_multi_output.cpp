// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels with several results, by the rules of 2020 and 2022. In: instructions as they stand. Out: the same after
// siblings and producers joined. Called by the pipelines of those years (era.cpp).
//
// By service/gpu/multi_output_fusion.cc. No price: what loops over the same shape, lies alike and stays within the
// budgets becomes one kernel. Fusions of loops join loops, those of reductions join reductions of the same array.
// 2022 leaves out a producer with one user, and one whose code would be emitted too often.
#include <algorithm>

#include "explore/xla/era_rules.h"
#include "explore/xla/multi_output.h"

namespace tailor::explore {

using ir::Node;
using ir::NodeId;
using ir::Op;
using xla::Year;

namespace {

bool is_tiled(const XlaInstructions& all, std::int32_t i, std::int32_t which) {
  const xla::Item& one = item(all[i].kernel(), which);
  return one.node->op == Op::reduce &&
         xla::is_tiled_reduction(*one.node, operand_shape(all[i].kernel(), one, 0), all.year());
}

/// The result that decides how the kernel loops.
std::int32_t deciding(const XlaInstructions& all, std::int32_t i) {
  for (const std::int32_t result : all[i].kernel().results)
    if (is_tiled(all, i, result)) return result;
  return all[i].kernel().results[0];
}

class EraRules final : public MultiOutputRules {
 public:
  explicit EraRules(XlaInstructions& all) : all_(all) {}

  std::vector<NodeId> shared_values(std::int32_t parent) const override { return all_.values(parent); }

  bool is_sibling(std::int32_t i) const override { return era_users(all_, i) > 0 && may_give_several(i); }

  bool may_join(std::int32_t a, std::int32_t b, std::int32_t) override {
    const Node& other = root(b);
    if (all_[b].fused() && all_[a].loop_kind != all_[b].loop_kind) return false;
    if (!all_[b].fused() && all_[a].loop_kind && is_tiled(all_, b, all_[b].kernel().results[0])) return false;
    // An update in place is written so only where it is the one result.
    if (is_update(a) || (all_[b].fused() && other.op == Op::dynamic_update_slice && !is_multi(b))) return false;
    // Of a value that arrays of many shapes use most pairs end at their loops.
    return era_loops_agree(all_, a, b) && over_budget(all_, a, b, false).empty();
  }

  bool may_be_computed_along(std::int32_t producer) const override {
    if (is_multi(producer) || !era_loop_fusible(all_, producer)) return false;
    if (all_.year() == Year::y2020 || era_users(all_, producer) != 1) return true;
    const std::vector<std::int32_t> users = all_.users_of(producer);
    return !users.empty() && is_multi(users[0]);
  }

  bool may_take_along(std::int32_t producer, std::int32_t user) override {
    if (!may_give_several(user) || era_nests_loops(all_, producer, user)) return false;
    if (!era_loops_agree(all_, producer, user) || !era_layouts_agree(all_, producer, user)) return false;
    if (closes_circle(all_, producer, user) || !over_budget(all_, producer, user, false).empty()) return false;
    return all_.year() == Year::y2020 || !era_emits_too_often(all_, producer, user);
  }

  bool becomes_loop(std::int32_t, std::int32_t user) const override { return !era_input_fusible(all_, user); }

 private:
  bool is_multi(std::int32_t i) const { return all_[i].kernel().results.size() > 1; }
  const Node& root(std::int32_t i) const { return node(all_[i].kernel(), all_[i].kernel().results[0]); }
  bool is_update(std::int32_t i) const { return !is_multi(i) && root(i).op == Op::dynamic_update_slice; }

  bool may_give_several(std::int32_t i) const {
    if (!all_[i].fusible || all_[i].laid_end_to_end) return false;
    if (era_reduces(all_, i)) return true;
    return all_[i].fused() ? all_[i].loop_kind : era_elementwise(root(i), all_.graph());
  }

  XlaInstructions& all_;
};

}  // namespace

bool era_loops_agree(const XlaInstructions& all, std::int32_t a, std::int32_t b) {
  const xla::Kernel& of_a = all[a].kernel();
  const xla::Kernel& of_b = all[b].kernel();
  const xla::Item& one = item(of_a, deciding(all, a));
  const xla::Item& other = item(of_b, deciding(all, b));
  const bool tiled = is_tiled(all, a, deciding(all, a)), other_tiled = is_tiled(all, b, deciding(all, b));
  if (tiled && other_tiled) {
    const bool same = one.node->shape == other.node->shape && one.node->results == other.node->results &&
                      operand_shape(of_a, one, 0) == operand_shape(of_b, other, 0) &&
                      operand_shape(of_a, one, 1) == operand_shape(of_b, other, 1) &&
                      ir::axes(*one.node) == ir::axes(*other.node);
    if (!same) return false;
  }
  const auto loop = [](const xla::Kernel& kernel, const xla::Item& of, bool reduces) -> const ir::Shape* {
    if (reduces) return &operand_shape(kernel, of, 0);
    return of.node->results.empty() ? &of.node->shape : nullptr;
  };
  const ir::Shape* const shape = loop(of_a, one, tiled);
  const ir::Shape* const other_shape = loop(of_b, other, other_tiled);
  return shape != nullptr && other_shape != nullptr && xla::same_array(*shape, *other_shape);
}

bool era_fuse_multi_output(XlaInstructions& all, const std::stop_token& stop) {
  EraRules rules(all);
  return fuse_multi_output(all, rules, stop);
}

}  // namespace tailor::explore
