// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The ladder of usual plans. In: a prepared group. Out: the plan of the step that its rows stand on. Called by tune.cpp
// and by who stores plans.
//
// Rungs are lengths of a row in bytes of its widest array. A short row gets a lane for each 16 bytes and several rows
// in flight; longer ones get a warp, then two, then a whole block of 128 threads, from 8 KiB on of 256 (QuACK's
// thresholds for lanes and blocks). Rows over 32 KiB wait in shared memory between two passes, because registers would
// spill. A flat loop has blocks of 256 threads, where smaller ones leave bandwidth (RRZE gpu-benches,
// gpu-small-kernels), and two vectors a thread. Columns are walked by blocks as large, whose lanes read a line of 128
// bytes together, four rows at once; what they need again waits in registers, more of it in shared memory. Vectors are
// as wide as 16 bytes allow.
//
// Tiles that are turned have blocks of 128 threads, as XLA's have, whose lanes write a line together, and four vectors
// on their way to each thread: it waits at the barrier for all that it has.
//
// Few long rows or columns are shared by blocks, 128 of them in all as long as each has 32 KiB: so many fill today's
// large devices about once, and with less each the meeting of the blocks costs more than their work.
//
// Such a plan need not be legal. What counts is the distance to it: how many of a plan's fields differ, a number by its
// factors of two. Threads and lanes weigh as all others.
#include "explore/plans/usual.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "base/indexed.h"
#include "codegen/lower/lower_pack.h"
#include "codegen/lower/lower_stages.h"
#include "codegen/lower/prepare.h"

namespace tailor::explore {

namespace {

/// A step: rows of up to so many bytes.
struct LadderStep {
  std::int64_t row_bytes;
  int threads, threads_per_row;  ///< 0 lanes: one for each 16 bytes
  int in_flight;
};

constexpr std::int64_t kib = 1024;
constexpr std::array ladder = std::to_array<LadderStep>({
    {256, 128, 0, 4},
    {2 * kib, 128, 32, 2},
    {6 * kib, 128, 32, 1},
    {8 * kib, 128, 64, 1},
    {16 * kib, 256, 128, 1},
    {32 * kib, 256, 256, 1},
});
constexpr LadderStep beyond{0, 256, 256, 1};

std::int64_t bytes_of_row(const codegen::Prepared& prepared) {
  std::int64_t widest = 1;
  for (std::size_t id = 0; id < prepared.full.size(); ++id)
    if (prepared.full[id])
      widest = std::max<std::int64_t>(widest, ir::row(prepared.graph->nodes[id].shape.dtype).bits / 8);
  return prepared.columns * widest;
}

/// Blocks that share each of so many tiles, which have so many bytes: a power of two.
int usual_split(const codegen::Prepared& prepared, std::int64_t tiles, std::int64_t bytes) {
  constexpr std::int64_t most_blocks = 128, least_bytes = 32 * kib;
  if (prepared.walks > 1 || !prepared.scans.empty()) return 1;
  const std::int64_t most = std::min(most_blocks / tiles, bytes / least_bytes);
  return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1))));
}

/// Where so many columns side by side wait for the next phase: in registers, as 256 threads have them, up to 64 KiB, in
/// shared memory up to 128; more is read again.
std::vector<ir::Home> usual_homes(const codegen::Prepared& prepared, std::int64_t columns) {
  constexpr std::int64_t of_registers = 64 * kib, of_shared = 128 * kib;
  const std::int64_t bytes = codegen::bytes_waiting(prepared) * columns;
  return bytes <= of_registers ? codegen::homes_of(prepared, ir::HomesWord::registers)
         : bytes <= of_shared  ? codegen::homes_of(prepared, ir::HomesWord::shared)
                               : std::vector<ir::Home>{};
}

/// A line of columns side by side, or as few more as have whole bundles; groups of them are a power of two.
void set_usual_lanes(ir::Plan& plan, const codegen::Prepared& prepared, std::int64_t line) {
  const std::int64_t whole = codegen::lanes_of_bundles(prepared, plan.vector);
  plan.threads_per_row = static_cast<int>((line + whole - 1) / whole * whole);
  const auto groups = static_cast<std::uint64_t>(std::max(plan.threads / plan.threads_per_row, 1));
  plan.threads = plan.threads_per_row * static_cast<int>(std::bit_floor(groups));
}

/// The widest, up to the shortest chunk.
int usual_vector(const codegen::Prepared& prepared) {
  if (prepared.chunk_lengths.empty()) return prepared.widest_vector;
  return static_cast<int>(std::min<std::int64_t>(prepared.widest_vector, prepared.chunk_lengths.front()));
}

int steps_of_number(int a, int b) {
  const auto width = [](int number) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(std::max(number, 0))));
  };
  return std::abs(width(a) - width(b));
}

}  // namespace

ir::Plan usual_plan(const codegen::Prepared& prepared) {
  constexpr int flat_threads = 256, flat_unroll = 2, turned_threads = 128, turned_unroll = 4;
  constexpr std::int64_t lane_bytes = 16, line_bytes = 128;
  constexpr int scanning_threads = 64, column_rows = 4, shared_threads = 512, shared_in_flight = 4;
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  if (!prepared.bodies.empty()) {  // blocks as the body with most elements has them
    for (const codegen::Body& body : prepared.bodies)
      plan.bodies.push_back(codegen::plan_in_whole(body, usual_plan(*body.prepared)));
    plan.threads = plan.bodies.front().threads;
    if (plan.skeleton == ir::Skeleton::stages) {
      plan.homes = codegen::homes_between(prepared);
      plan.grid = ir::GridShape::persistent;
      plan.blocks_per_sm = 1;
    }
    copy_fields(plan, plan, plan.skeleton);
    return plan;
  }
  plan.dominant = prepared.dominants.front();
  plan.vector = usual_vector(prepared);
  plan.threads = flat_threads;
  plan.strip = prepared.strip.rows;
  plan.unroll = plan.strip > 0 ? 1 : flat_unroll;
  if (prepared.turn) {
    plan.threads = turned_threads;
    plan.unroll = turned_unroll;
    plan.threads_per_row = static_cast<int>(line_bytes / lane_bytes);
    return plan;
  }
  if (!row(plan.skeleton).has(ir::PlanField::threads_per_row)) return plan;
  using enum ir::HomesWord;  // what a scan has made is read at another place of its row only where it waits
  plan.homes = codegen::homes_of(prepared, prepared.scans.empty() ? registers : moved_shared);
  const std::int64_t bytes = bytes_of_row(prepared);
  if (row(plan.skeleton).unit == ir::WorkUnit::columns) {
    set_usual_lanes(plan, prepared, line_bytes / lane_bytes);
    plan.in_flight = column_rows;
    const std::int64_t tiles = std::max<std::int64_t>(prepared.rows * bytes / prepared.columns / line_bytes, 1);
    plan.split = usual_split(prepared, tiles, prepared.rows * bytes / tiles);
    plan.homes = usual_homes(prepared, prepared.rows / tiles);
    if (!prepared.scans.empty()) plan.split = 1, plan.threads = plan.threads_per_row = scanning_threads;
    return plan;
  }
  plan.split = usual_split(prepared, prepared.rows, bytes);
  if (plan.split > 1) {
    plan.threads = plan.threads_per_row = shared_threads;
    plan.in_flight = shared_in_flight;
    return plan;
  }
  const auto step =
      std::find_if(ladder.begin(), ladder.end(), [bytes](const LadderStep& one) { return bytes <= one.row_bytes; });
  const LadderStep& on = step == ladder.end() ? beyond : *step;
  plan.threads = on.threads;
  plan.threads_per_row = on.threads_per_row;
  if (on.threads_per_row == 0)
    plan.threads_per_row =
        static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>((bytes + lane_bytes - 1) / lane_bytes)));
  plan.in_flight = on.in_flight;
  if (step == ladder.end()) plan.homes = codegen::homes_of(prepared, ir::HomesWord::shared);
  return plan;
}

int steps_between(const ir::Plan& a, const ir::Plan& b) {
  int steps = 0;
  for (std::size_t body = 0; body < a.bodies.size() && body < b.bodies.size(); ++body)
    steps += steps_between(a.bodies[body], b.bodies[body]);
  for (const ir::PlanFieldRow& field : ir::plan_fields()) {
    if (field.turn == 0 || !row(a.skeleton).has(field.field)) continue;
    if (field.kind != ir::FieldKind::number) {
      steps += agree(a, b, field.field) ? 0 : 1;
      continue;
    }
    const int of_a = value(a, field.field), of_b = value(b, field.field);
    if (of_a != 0 && of_b != 0) steps += steps_of_number(of_a, of_b);  // else one of them does not say
  }
  return steps;
}

}  // namespace tailor::explore
