// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategies "xla-2020", "xla-2022" and "xla-priority": what XLA's GPU compiler fused then and fuses today. In: a
// graph, and for today's a device that XLA has a description of. Out: its partition with a note for every edge. Called
// through their rows of strategy.cpp.
//
// XLA's kernels hold every instruction; a Fusion is about work. Kernels of views alone dissolve, and what XLA does not
// fuse, or what nothing needs, is a group of its own.
#include <algorithm>

#include "explore/edge_notes.h"
#include "explore/strategy.h"
#include "explore/xla/instructions.h"

namespace tailor::explore {

using ir::NodeId;

namespace {

ir::Fusion partition(const FusionTask& task, std::vector<std::vector<NodeId>> kernels, std::string_view fused,
                     std::string_view cut) {
  ir::Fusion fusion;
  std::vector<bool> held(task.graph.nodes.size(), false);
  const auto works = [&](NodeId id) { return task.def_use.roles[ir::index(id)] == ir::Role::work; };
  for (std::vector<NodeId>& kernel : kernels) {
    std::erase_if(kernel, [&](NodeId id) { return !works(id) && task.def_use.roles[ir::index(id)] != ir::Role::free; });
    if (std::none_of(kernel.begin(), kernel.end(), works)) continue;  // whoever reads it computes it
    for (const NodeId id : kernel) held[ir::index(id)] = true;
    fusion.groups.push_back(std::move(kernel));
  }
  for (std::size_t i = 0; i < held.size(); ++i)
    if (!held[i] && works(static_cast<NodeId>(i))) fusion.groups.push_back({static_cast<NodeId>(i)});
  if (task.stop.stop_requested()) return fusion;
  fusion.edges = edge_notes(task.graph, task.def_use, fusion.groups);
  for (ir::EdgeNote& note : fusion.edges) note.reason = note.decision == ir::EdgeDecision::cut ? cut : fused;
  return fusion;
}

ir::Fusion by_rules(const FusionTask& task, xla::Year year, std::string_view fused, std::string_view cut) {
  return partition(task, xla_era_kernels(task.graph, year, task.is_body, task.stop), fused, cut);
}

}  // namespace

ir::Fusion fuse_xla_priority(const FusionTask& task) {
  return partition(task, xla_kernels(task.graph, *task.device->xla, task.stop), "fused: by XLA's model",
                   "cut: XLA's model or rules gain nothing here");
}

ir::Fusion fuse_xla_2020(const FusionTask& task) {
  return by_rules(task, xla::Year::y2020, "fused: by XLA's rules of 2020", "cut: by XLA's rules of 2020");
}

ir::Fusion fuse_xla_2022(const FusionTask& task) {
  return by_rules(task, xla::Year::y2022, "fused: by XLA's rules of 2022", "cut: by XLA's rules of 2022");
}

}  // namespace tailor::explore
