// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's GPU fusion of 2020 and 2022: the passes in their order. In: a graph. Out: kernels. Called by the strategies
// xla-2020 and xla-2022 and by tests.
//
// By service/gpu/gpu_compiler.cc. Fusion is repeated until nothing changes: instruction fusion without and with
// computing again, merger, several results, equal instructions. Then horizontal fusion: once in 2020; in 2022 until
// nothing changes, of loops in the entry computation alone. docs/xla_eras.md says what is left out.
#include "explore/xla/era_rules.h"

namespace tailor::explore {

using ir::NodeId;
using xla::Year;

namespace {

constexpr int most_rounds = 25;  // XLA's own bound of a pipeline that is repeated

void remove_dead(XlaInstructions& all) {
  for (std::int32_t i = all.size(); i-- > 0;)
    if (all[i].fusible) (void)all.remove_unused(i);
}

void fuse_horizontally(XlaInstructions& all, bool is_body, const std::stop_token& stop) {
  const bool is_2020 = all.year() == Year::y2020;
  for (int round = 0; round < (is_2020 ? 1 : most_rounds); ++round) {
    bool changed = (is_2020 || !is_body) && era_fuse_horizontal_loops(all, stop);
    if (!is_2020) changed = era_fuse_horizontal_inputs(all, stop) || changed;
    all.merge_equal();
    if (!changed || stop.stop_requested()) return;
  }
}

}  // namespace

std::vector<std::vector<NodeId>> xla_era_kernels(const ir::Graph& graph, Year year, bool is_body,
                                                 const std::stop_token& stop) {
  XlaInstructions all(graph, year);
  remove_dead(all);
  for (int round = 0; round < most_rounds && !stop.stop_requested(); ++round) {
    bool changed = era_fuse_instructions(all, false, stop);
    changed = era_fuse_instructions(all, true, stop) || changed;
    changed = era_merge_fusions(all, stop) || changed;
    changed = era_fuse_multi_output(all, stop) || changed;
    all.merge_equal();
    if (!changed) break;
  }
  fuse_horizontally(all, is_body, stop);
  return kernels_in_order(all, [](const XlaInstruction& one) {
    return one.fused() || (one.fusible && !is_constant(one) && !is_lone_bitcast(one));
  });
}

}  // namespace tailor::explore
