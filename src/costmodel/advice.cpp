// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Advice: a table of rules, most telling first. A rule looks at counted or estimated numbers and, when they exceed its
// threshold, says one sentence with the number in it. Thresholds are about what is worth saying, not about hardware.
// In: an estimate, the work and the device. Out: sentences, none when nothing is worth saying. Called by tailor
// explain; a report has advice of its own (report/advice.h).
#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "costmodel/model.h"
#include "costmodel/parts.h"

namespace tailor::costmodel {

namespace {

using ir::Part;

struct Situation {
  const ir::Estimate& estimate;
  const Work& work;
  const ir::Device& device;
  const Changeable& changeable;
  double total() const { return std::max(estimate.total.value, 1e-12); }
  double percent(Part which) const { return 100 * part(estimate, which).value / total(); }
};

std::string on_launch(const Situation& s) {
  if (s.percent(Part::launch) < 50) return {};
  return fmt::format("{:.0f} % of the time is launch and ramp: {}", s.percent(Part::launch),
                     s.changeable.has_neighbours
                         ? "fuse the kernel into a neighbour"
                         : "the model has no other kernel to fuse it with; more work in one run (a larger batch) "
                           "spreads them");
}
std::string on_dram(const Situation& s) {
  if (s.estimate.bottleneck != Part::dram || s.percent(Part::dram) < 80) return {};
  return fmt::format("{:.0f} % of the time is memory bandwidth at its reachable peak: only moving fewer bytes helps",
                     s.percent(Part::dram));
}
/// What makes more blocks of the same work, by the skeleton and the plan.
std::string more_blocks(const Situation& s) {
  const ir::Plan* plan = s.changeable.plan;
  if (plan == nullptr) return "smaller blocks, or each with less to do";
  switch (plan->skeleton) {
    case ir::Skeleton::map:
      if (plan->threads <= 32 && plan->vector <= 1) break;
      return "smaller blocks (threads) or narrower vectors make more of them";
    case ir::Skeleton::transpose:
      return "smaller tiles (threads, threads_per_row, unroll) make more of them";
    case ir::Skeleton::row:
      if (plan->threads > plan->threads_per_row)
        return "give each row more threads (threads_per_row), or each block fewer rows (threads)";
      if (plan->cluster > 0) return "each row has the blocks of a cluster already; the array is small for the GPU";
      if (plan->split > 1)
        return "blocks share each row already; more of them may (split), or the array is small for the GPU";
      return fmt::format(
          "each row has a block already; blocks can share one (split), and where rows are gone through again those "
          "that meet in {}the grid (meet)",
          s.device.blocks_per_cluster.value > 1 ? "a cluster (cluster) or in " : "");
    case ir::Skeleton::column:
      return "smaller blocks (threads), or blocks that share columns (split)";
    case ir::Skeleton::pack:
      return "smaller blocks (threads), or more bodies beside these";
    case ir::Skeleton::stages:
      return "more blocks on each SM (blocks_per_sm), or smaller ones (threads)";
  }
  return "the arrays are too small to fill the GPU; a larger batch does";
}
std::string on_grid(const Situation& s) {
  // Of a launch in steps the blocks are the grid's, whatever one step has.
  const double idle = s.device.sms.value - static_cast<double>(std::max(s.work.virtual_blocks, s.work.grid));
  if (idle <= 0) return {};
  return fmt::format("{} {:.0f} of {:.0f} SMs idle: {}",
                     tailor::counted(s.work.virtual_blocks, "block", "leaves", "leave"), idle, s.device.sms.value,
                     more_blocks(s));
}
std::string on_latency(const Situation& s) {
  if (s.estimate.bottleneck != Part::latency) return {};
  const ir::Plan* plan = s.changeable.plan;
  return fmt::format(
      "latency binds with {:.0f} B per thread in flight at {:.0f} % occupancy and {}: "
      "more loads on their way at once{} or fewer registers",
      s.work.bytes_in_flight, 100 * s.estimate.occupancy, tailor::counted(s.estimate.registers, "register"),
      plan == nullptr                                  ? ""
      : row(plan->skeleton).has(ir::PlanField::unroll) ? " (unroll)"
                                                       : " (in_flight)");
}
std::string on_address(const Situation& s) {
  const double share =
      100 * static_cast<double>(s.work.pipes.address) / std::max(1.0, static_cast<double>(instructions(s.work.pipes)));
  if (share < 25) return {};
  return fmt::format("{:.0f} % of issue slots are address arithmetic: wider vectors or a flatter index", share);
}
std::string on_sectors(const Situation& s) {
  double useful = 0;
  for (const BufferWork& b : s.work.buffers) useful += static_cast<double>(b.load.bytes + b.store.bytes);
  const double moved = 32 * static_cast<double>(sectors(s.work));
  if (moved == 0 || useful > 0.7 * moved) return {};
  return fmt::format(
      "only {:.0f} % of the bytes in the sectors moved are used: neighbouring lanes should read "
      "neighbouring elements",
      100 * useful / moved);
}
std::string on_banks(const Situation& s) {
  const double requests = static_cast<double>(s.work.shared_load.bytes + s.work.shared_store.bytes) / 128;
  const double passes = static_cast<double>(s.work.shared_load.wavefronts + s.work.shared_store.wavefronts);
  if (s.estimate.bottleneck != Part::shared || passes < 1.5 * requests) return {};
  return fmt::format("shared memory takes {:.1f} passes where {:.1f} would do: pad or swizzle its rows",
                     passes / std::max(requests, 1.0), 1.0);
}
std::string on_spills(const Situation& s) {
  if (part(s.estimate, Part::spill).value == 0) return {};
  return fmt::format("spills take {:.0f} % of the time at {}: keep fewer values in registers", s.percent(Part::spill),
                     tailor::counted(s.estimate.registers, "register"));
}
std::string on_xu(const Situation& s) {
  if (s.estimate.bottleneck != Part::xu) return {};
  return fmt::format(
      "{:.0f} % of the time the transcendental and conversion pipe is full: {} transcendental and {} "
      "conversion instructions",
      s.percent(Part::xu), s.work.pipes.xu, conversions(s.work.pipes));
}

constexpr std::string (*rules[])(const Situation&) = {on_spills, on_grid,    on_launch, on_sectors, on_latency,
                                                      on_banks,  on_address, on_xu,     on_dram};

}  // namespace

std::vector<std::string> advice(const ir::Estimate& estimate, const Work& work, const ir::Device& device,
                                const Changeable& changeable) {
  const Work all = together(by_launch(work));
  std::vector<std::string> lines;
  for (const auto rule : rules) {
    std::string line = rule({estimate, all, device, changeable});
    if (!line.empty() && lines.size() < 2) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tailor::costmodel
