// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of rules. Sources of the heuristics' figures: the padding and coalescing limits are those that public
// row-kernel libraries converge on (QuACK, nvFuser, CUB); each is a proportion, not a property of one GPU.
#include "explore/rules.h"

#include <algorithm>
#include <array>

#include "ir/kernel.h"

namespace tailor::explore {

namespace {

using ir::GridShape;
using ir::Residence;
using ir::Skeleton;

bool is_row(const Candidate& c) { return c.plan.skeleton == Skeleton::row; }

std::int64_t lanes_times_trips(const Candidate& c) { return c.trips * c.plan.threads_per_row; }

/// Bytes of the widest full input or output element.
std::int64_t element_bytes(const Candidate& c) {
  std::int64_t widest = 1;
  for (std::size_t id = 0; id < c.prepared.full.size(); ++id)
    if (c.prepared.full[id] && c.prepared.group->graph.nodes[id].op == ir::Op::parameter)
      widest = std::max<std::int64_t>(widest, ir::row(c.prepared.group->graph.nodes[id].shape.dtype).bits / 8);
  return widest;
}

std::size_t kept_values(const Candidate& c) {
  std::size_t most = 0;
  for (const codegen::Phase& phase : c.prepared.phases)
    most = std::max(most, codegen::kept_nodes(phase, c.plan.residence).size());
  return most;
}

constexpr std::array rule_table =
    std::to_array<Rule>({
        {"vector-fits", true, "a vector must fit into the row (row) or the output (map)",
         [](const Candidate& c) { return c.vectors == 0; }},
        {"peel-lanes", true, "rows that are no multiple of the vector need two lanes per element around the vectors",
         [](const Candidate& c) {
           return is_row(c) && c.prepared.columns % c.plan.vector != 0 && c.plan.threads_per_row < 2 * c.plan.vector;
         }},
        {"rows-in-flight", true, "more rows in flight than the block has rows for",
         [](const Candidate& c) {
           return is_row(c) && !c.streamed && c.plan.in_flight > 1 &&
                  c.prepared.rows <= std::int64_t{c.plan.threads / c.plan.threads_per_row} * (c.plan.in_flight - 1);
         }},
        {"vectors-in-flight", true, "more vectors in flight than a thread has",
         [](const Candidate& c) {
           if (is_row(c)) return c.streamed && c.plan.in_flight > c.trips;
           return c.plan.in_flight > 1 && c.vectors <= std::int64_t{c.plan.threads} * (c.plan.in_flight - 1);
         }},
        {"persistent-resident", true, "persistent blocks must be resident at once",
         [](const Candidate& c) {
           return c.plan.grid == GridShape::persistent &&
                  (c.plan.blocks_per_sm * c.plan.threads > c.limits.threads_per_sm ||
                   c.plan.blocks_per_sm > c.limits.blocks_per_sm);
         }},
        {"persistent-loops", true, "a persistent grid needs more tiles than resident blocks",
         [](const Candidate& c) {
           if (c.plan.grid != GridShape::persistent) return false;
           const std::int64_t rows_per_tile = std::int64_t{c.plan.threads / (is_row(c) ? c.plan.threads_per_row : 1)} *
                                              (c.streamed ? 1 : c.plan.in_flight);
           const std::int64_t work = is_row(c) ? c.prepared.rows : c.vectors;
           return (work + rows_per_tile - 1) / rows_per_tile <= std::int64_t{c.plan.blocks_per_sm} * c.limits.sms;
         }},
        {"padding", false, "over a third of the lanes would have no element",
         [](const Candidate& c) {
           return is_row(c) && 3 * c.vectors < 2 * lanes_times_trips(c) && c.plan.threads_per_row > 1;
         }},
        {"coalescing", false, "a row's lanes must read 128 neighbouring bytes or the whole row",
         [](const Candidate& c) {
           constexpr std::int64_t line = 128;
           const std::int64_t bytes = element_bytes(c);
           return is_row(c) &&
                  c.plan.threads_per_row * c.plan.vector * bytes < std::min(line, c.prepared.columns * bytes);
         }},
        {"long-trips", false, "over 64 vectors per thread while the block has idle lanes to spread them on",
         [](const Candidate& c) { return is_row(c) && c.trips > 64 && c.plan.threads_per_row < c.plan.threads; }},
        {"register-payload", false, "kept values over 128 registers per thread leave too few warps to cover latency",
         [](const Candidate& c) {
           if (!is_row(c) || c.streamed) return false;
           return c.trips * c.plan.vector * c.plan.in_flight *
                      static_cast<std::int64_t>(std::max<std::size_t>(kept_values(c), 1)) >
                  128;
         }},
        {"wide-vector", false, "vectors beyond 16 bytes of the widest input only add registers",
         [](const Candidate& c) { return c.plan.vector * element_bytes(c) > 2 * ir::access_bytes; }},
        {"flight-bytes", false, "over 128 bytes in flight per thread and input add registers and hide nothing more",
         [](const Candidate& c) {
           const std::int64_t held = is_row(c) && !c.streamed ? c.trips : 1;
           return c.plan.in_flight > 1 && held * c.plan.vector * c.plan.in_flight * element_bytes(c) > 128;
         }},
        {"large-block", false,
         "1024 threads make every barrier and the tail dearer; only rows that fill them need so many",
         [](const Candidate& c) {
           return c.plan.threads == c.limits.threads_per_block &&
                  !(is_row(c) && c.plan.threads_per_row >= c.plan.threads / 2);
         }},
        {"shared-short", false, "rows under 64 bytes per thread stay in registers, not in shared memory",
         [](const Candidate& c) {
           return is_row(c) && c.plan.residence == Residence::shared && c.trips * c.plan.vector * element_bytes(c) < 64;
         }},
        {"reload-short", false, "reading a row again pays only when it does not fit the registers",
         [](const Candidate& c) {
           return is_row(c) && c.plan.residence == Residence::reload && c.trips * c.plan.vector <= 32;
         }},
        {"recompute-same", false, "recompute equals registers where every kept value is an input",
         [](const Candidate& c) {
           if (!is_row(c) || c.plan.residence != Residence::recompute) return false;
           return std::all_of(c.prepared.phases.begin(), c.prepared.phases.end(),
                              [](const codegen::Phase& phase) { return phase.kept == phase.kept_inputs; });
         }},
    });

}  // namespace

std::span<const Rule> rules() { return rule_table; }

const Rule* dropped_by(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  Candidate candidate{prepared, plan, limits};
  candidate.vectors = prepared.columns / plan.vector;
  if (plan.skeleton == Skeleton::row) {
    candidate.trips = codegen::trips_per_row(prepared, plan);
    candidate.streamed = codegen::is_streamed(prepared, plan);
  }
  for (const Rule& rule : rule_table)
    if (rule.drops(candidate)) return &rule;
  return nullptr;
}

}  // namespace tailor::explore
