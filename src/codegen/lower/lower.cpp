// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The entrance of lowering. In: a prepared group, a plan, the limits of a device. Out: a verified kernel, or the rule
// that refuses the plan and why. Called by study's stages, by searches and by tests.
//
// The steps. First what holds for every skeleton is checked: the plan names the group's skeleton and one of its
// dominant nodes, its threads are what a block may have, whole warps but for columns, its persistent blocks fit an SM.
// Then the skeleton's row (skeletons.h) may refuse what only it knows, and writes its loops through a ProgramBuilder,
// which may still refuse while it places values. Last comes what can only be known of the finished program: the
// registers that kept values take, the shared memory, the size of the grid, whether as many blocks fit an SM as are to
// be resident. A plan that lowers is legal; nothing else decides that (decision 7).
//
// Blocks that meet by ending their launch make it several: each is built on its own, with what those before it hand on
// (Handover), and all have the buffers of the last.
//
// Of a pack each body is lowered so by itself, and all of them become one launch (lower_pack.h); stages likewise, one
// behind the other (lower_stages.h).
//
// A persistent grid is the same program: its virtual blocks are dealt out to as many blocks as are resident, in a loop
// that the printer writes. Where there are no more tiles than resident blocks it is refused, because it would equal
// the plain grid. Where sums go across rows the loop is one of the program, and the skeleton's own.
//
// classify() asks whether a group can be lowered at all. It is a trial: the plainest plan, one thread per row and
// nothing kept, lowered where no limit binds, so that only the structure can be refused.
#include "codegen/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/counted.h"
#include "codegen/lower/lower_pack.h"
#include "codegen/lower/lower_phases.h"
#include "codegen/lower/lower_stages.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

LowerScratch::LowerScratch() : state_(std::make_unique<State>()) {}
LowerScratch::~LowerScratch() = default;
LowerScratch::LowerScratch(LowerScratch&&) noexcept = default;

Coordinates follow(IndexBuilder& build, const ir::Graph& graph, const Route& route, Coordinates coordinates,
                   std::int32_t piece) {
  for (const Step& step : route.steps) {
    const ir::Node& user = graph[step.to_user ? step.to : step.from];
    if (step.to_user && user.op == ir::Op::concatenate) {
      coordinates = joined_coordinates(build, graph, user, piece, coordinates);
      continue;
    }
    coordinates = step.to_user ? *user_coordinates(build, graph, user, step.from, coordinates)
                               : operand_coordinates(build, graph, user, step.operand, coordinates);
  }
  return coordinates;
}

std::string node_list(std::span<const ir::NodeId> nodes) {
  constexpr std::size_t most = 8, first = 6;  // where nearly all are said, so is the rest
  const std::size_t said = nodes.size() <= most ? nodes.size() : first;
  std::string words;
  for (std::size_t i = 0; i < said; ++i)
    words += fmt::format("{}%{}", i == 0 ? "" : i + 1 == nodes.size() ? " and " : ", ", nodes[i]);
  return said == nodes.size() ? words : fmt::format("{} and {} more", words, nodes.size() - said);
}

namespace {

ir::Rejection no(const ir::Refusal& rule, std::string reason) { return {rule, std::move(reason)}; }

/// Threads of the trial's blocks: enough that no array has more blocks than a grid may.
constexpr int plain_threads = 1 << 10;

ir::Limits without_limits() {
  constexpr int any = std::numeric_limits<int>::max();
  ir::Limits limits;
  limits.sms = limits.warp_size = 1;
  limits.threads_per_block = limits.threads_per_sm = limits.blocks_per_sm = any;
  limits.registers_per_sm = limits.registers_per_block = limits.registers_per_thread = any;
  limits.shared_per_sm = limits.shared_per_block = limits.shared_per_block_optin = any;
  limits.compute_capability = any;
  return limits;
}

/// A plan whose dominant node no loop of its skeleton follows. Both loops of a group over pieces have their own.
std::optional<ir::Rejection> refuse_dominant(const Prepared& prepared, const ir::Plan& plan) {
  std::vector<ir::NodeId> nodes = prepared.dominants;
  if (std::find(nodes.begin(), nodes.end(), plan.dominant) != nodes.end()) return std::nullopt;
  if (prepared.in_pieces != nullptr && prepared.in_pieces->skeleton == plan.skeleton)
    nodes.insert(nodes.end(), prepared.in_pieces->dominants.begin(), prepared.in_pieces->dominants.end());
  std::sort(nodes.begin(), nodes.end());
  const std::string others = node_list(nodes);
  if (plan.dominant == ir::no_node)
    return no("dominant", fmt::format("the plan says no dominant=%N, the node whose elements its threads are for: {} "
                                      "can be it",
                                      others));
  return no("dominant", fmt::format("%{} cannot be the dominant node of this group: {} can", plan.dominant, others));
}

/// A plan in strips that the group has no loop for.
std::optional<ir::Rejection> refuse_strip(const Prepared& prepared, const ir::Plan& plan) {
  if (plan.strip == prepared.strip.rows) return std::nullopt;
  std::vector<std::string> known;
  for (const std::shared_ptr<const Prepared>& strips : prepared.in_strips)
    known.push_back(fmt::format("{}", strips->strip.rows));
  const std::string which =
      known.empty()
          ? "no loop of this group has strips, which are of results that read some of what their neighbours read"
          : fmt::format("a thread makes {} of them one below the other, or strip is not said",
                        fmt::join(known, " or "));
  return no("strip", fmt::format("strips of {}: {}", counted(plan.strip, "result"), which));
}

std::optional<ir::Rejection> check_cluster(int blocks, int most) {
  if (blocks < 2) return no("cluster", fmt::format("{} no cluster", counted(blocks, "block", "is", "are")));
  if (most < 2) return no("cluster", fmt::format("{} blocks cannot meet: this GPU has no clusters", blocks));
  if (blocks > most) return no("cluster", fmt::format("{} blocks exceed {} of a cluster", blocks, most));
  return std::nullopt;
}

/// Threads side by side across columns ask nothing of their warp, so the last warp of a block may be part of one. What
/// has bodies asks them.
bool takes_whole_warps(ir::Skeleton skeleton) {
  return row(skeleton).unit != ir::WorkUnit::columns && row(skeleton).unit != ir::WorkUnit::bodies;
}

std::optional<ir::Rejection> check_launch(const ir::Plan& plan, const ir::Limits& limits) {
  if (plan.threads <= 0 || (takes_whole_warps(plan.skeleton) && plan.threads % limits.warp_size != 0))
    return no("threads", fmt::format("{} no whole number of warps of {}", counted(plan.threads, "thread", "is", "are"),
                                     limits.warp_size));
  if (plan.threads > limits.threads_per_block)
    return no("threads", fmt::format("{} threads exceed {} per block", plan.threads, limits.threads_per_block));
  if (!is_power_of_two(plan.vector)) return no("vector", fmt::format("width {} is no power of two", plan.vector));
  if (plan.in_flight < 1) return no("in-flight", fmt::format("{} in flight", plan.in_flight));
  if (plan.split < 1)
    return no("split", fmt::format("{} blocks share a {}", plan.split,
                                   row(plan.skeleton).unit == ir::WorkUnit::rows ? "row" : "column"));
  if (plan.cluster != 0)
    if (auto refused = check_cluster(plan.cluster, limits.blocks_per_cluster)) return refused;
  if (plan.unroll < 1) return no("unroll", fmt::format("{} vectors at once", plan.unroll));
  if (plan.grid == ir::GridShape::persistent && plan.blocks_per_sm < 1)
    return no("persistent", "a persistent grid has blocks_per_sm blocks for each SM, and the plan says none");
  if (plan.grid != ir::GridShape::persistent && plan.blocks_per_sm != 0)
    return no("persistent", fmt::format("blocks_per_sm={} says how many blocks of a persistent grid an SM has, and the "
                                        "plan says grid=tile",
                                        plan.blocks_per_sm));
  if (plan.grid == ir::GridShape::persistent &&
      (plan.blocks_per_sm > limits.blocks_per_sm || plan.blocks_per_sm * plan.threads > limits.threads_per_sm))
    return no("persistent", fmt::format("{} blocks of {} threads do not fit an SM with {} blocks and {} threads",
                                        plan.blocks_per_sm, plan.threads, limits.blocks_per_sm, limits.threads_per_sm));
  if (plan.min_blocks > limits.blocks_per_sm ||
      std::int64_t{plan.min_blocks} * plan.threads > std::int64_t{limits.threads_per_sm})
    return no("min-blocks",
              fmt::format("{} resident blocks of {} threads do not fit an SM with {} blocks and {} threads",
                          plan.min_blocks, plan.threads, limits.blocks_per_sm, limits.threads_per_sm));
  return std::nullopt;
}

/// Whether an SM holds as many blocks as must be resident at once, as far as a program shows.
std::optional<ir::Rejection> check_residents(const ir::Kernel& kernel, std::int64_t kept_registers,
                                             const ir::Limits& limits) {
  if (kernel.min_blocks == 0) return std::nullopt;
  const int registers = registers_for(limits, kernel.threads, kernel.min_blocks);
  if (kept_registers > registers)
    return no("min-blocks", fmt::format("values loaded together and kept need {} registers per thread, of which {} "
                                        "resident blocks of {} threads leave {}",
                                        kept_registers, kernel.min_blocks, kernel.threads, registers));
  const std::int64_t shared = shared_for(limits, kernel.shared_bytes);
  if (kernel.min_blocks * shared > limits.shared_per_sm)
    return no("min-blocks", fmt::format("{} with {} bytes of shared memory each {} {} of an SM",
                                        counted(kernel.min_blocks, "resident block"), shared,
                                        kernel.min_blocks == 1 ? "exceeds" : "exceed", limits.shared_per_sm));
  return std::nullopt;
}

std::optional<ir::Rejection> check_result(const ir::Kernel& kernel, std::int64_t kept_bytes, const ir::Limits& limits) {
  constexpr std::int64_t register_bytes = 4;
  const int registers = registers_for(limits, kernel.threads);
  if (kept_bytes > registers * register_bytes)
    return no("registers", fmt::format("values loaded together and kept need {} registers per thread, {} exist",
                                       kept_bytes / register_bytes, registers));
  if (auto refused = check_residents(kernel, kept_bytes / register_bytes, limits)) return refused;
  if (kernel.shared_bytes > limits.shared_per_block_optin)
    return no("shared", fmt::format("{} bytes of shared memory exceed {} per block", kernel.shared_bytes,
                                    limits.shared_per_block_optin));
  if (kernel.grid > std::numeric_limits<std::int32_t>::max())
    return no("grid", fmt::format("{} blocks exceed the largest grid", kernel.grid));
  return std::nullopt;
}

/// The launch that follows those before, and what it hands on.
Lowered lower_launch(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch,
                     Handover& handover) {
  ProgramBuilder builder(prepared, plan, scratch.state());
  builder.compute_capability = limits.compute_capability;
  builder.bind_starts();
  if (builder.refusal()) return *builder.refusal();
  if (auto refused = lower_phases(builder, prepared, plan, limits, handover)) return *refused;
  ir::Kernel& kernel = builder.kernel();
  kernel.grid = kernel.virtual_blocks;
  if (plan.grid == ir::GridShape::persistent && !prepared.sums_across) {
    kernel.grid = std::int64_t{plan.blocks_per_sm} * limits.sms;
    kernel.persistent = true;
    if (kernel.virtual_blocks <= kernel.grid)
      return no("persistent", fmt::format("{} for {}: nothing to loop over", counted(kernel.virtual_blocks, "tile"),
                                          counted(kernel.grid, "resident block")));
  }
  kernel.min_blocks = plan.min_blocks;
  if (kernel.cooperative) {
    // They wait for one another, so all are resident: each SM has as many as any.
    const std::int64_t each = (kernel.grid + limits.sms - 1) / limits.sms;
    kernel.min_blocks = std::max(kernel.min_blocks, static_cast<int>(each));
    if (auto refused = refuse_meeting(kernel.min_blocks, kernel.threads, limits)) return *refused;
  }
  kernel.dynamic_shared = kernel.shared_bytes > limits.shared_per_block;
  if (auto refused = check_result(kernel, builder.most_kept, limits)) return *refused;
  return builder.take();
}

/// The plan of the launch before a scatter's: as many threads, the widest accesses, nothing else.
ir::Plan plan_of_fill(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  const Prepared& fill = *prepared.fill;
  const ir::Graph& graph = *fill.graph;
  ir::Plan own;
  copy_fields(own, plan, plan.skeleton);
  own.skeleton = fill.skeleton;
  own.dominant = fill.dominants.front();
  own.unroll = 1;
  own.grid = ir::GridShape::tile;
  own.blocks_per_sm = own.min_blocks = 0;
  own.vector = 1;
  for (const std::int32_t output : fill.phases[0].outputs)
    own.vector = std::max(own.vector, 8 * ir::access_bytes / row(graph[fill.stored[output]].shape.dtype).bits);
  while (own.vector > 1 && lowering(own.skeleton).refuse(fill, own, limits)) own.vector /= 2;
  return own;
}

/// A scatter behind the launch that stores what it finds.
Lowered lower_filled(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch) {
  Handover own, before;
  Lowered first = lower_launch(*prepared.fill, plan_of_fill(prepared, plan, limits), limits, scratch, before);
  if (std::holds_alternative<ir::Rejection>(first)) return first;
  Lowered then = lower_launch(prepared, plan, limits, scratch, own);
  if (std::holds_alternative<ir::Rejection>(then)) return then;
  ir::Kernel& kernel = std::get<ir::Kernel>(first);
  kernel.name = prepared.title;
  kernel.followers.push_back(std::get<ir::Kernel>(std::move(then)));
  kernel.followers.back().name += "_2";
  return first;
}

}  // namespace

Lowered lower(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch) {
  if (const Prepared& of_plan = prepared_for(prepared, plan); &of_plan != &prepared)
    return lower(of_plan, plan, limits, scratch);
  ++scratch.lowerings;
  if (plan.skeleton != prepared.skeleton)
    return no("skeleton", fmt::format("the group needs skeleton {}, the plan says {}", name(prepared.skeleton),
                                      name(plan.skeleton)));
  if (!prepared.bodies.empty()) {
    if (auto refused = check_launch(plan, limits)) return *refused;
    return plan.skeleton == ir::Skeleton::stages ? lower_stages(prepared, plan, limits, scratch)
                                                 : lower_pack(prepared, plan, limits, scratch);
  }
  if (auto refused = refuse_strip(prepared, plan)) return *refused;
  if (auto refused = refuse_dominant(prepared, plan)) return *refused;
  if (auto refused = check_launch(plan, limits)) return *refused;
  if (auto refused = refuse_homes(prepared, plan)) return *refused;
  if (auto refused = lowering(plan.skeleton).refuse(prepared, plan, limits)) return *refused;

  if (prepared.fill != nullptr) return lower_filled(prepared, plan, limits, scratch);
  Handover handover;
  Lowered made = lower_launch(prepared, plan, limits, scratch, handover);
  auto* const kernel = std::get_if<ir::Kernel>(&made);
  while (kernel != nullptr && handover.done < prepared.phases.size()) {
    Lowered next = lower_launch(prepared, plan, limits, scratch, handover);
    if (auto* const refused = std::get_if<ir::Rejection>(&next)) return std::move(*refused);
    kernel->followers.push_back(std::get<ir::Kernel>(std::move(next)));
    kernel->followers.back().name += fmt::format("_{}", kernel->followers.size() + 1);
  }
  if (kernel == nullptr || kernel->followers.empty()) return made;
  kernel->buffers = kernel->followers.back().buffers;
  for (ir::Kernel& one : kernel->followers) one.buffers = kernel->buffers;
  return made;
}

Lowered lower(const ir::Group& group, const ir::Plan& plan, const ir::Limits& limits) {
  std::variant<Prepared, ir::Rejection> prepared = prepare(group);
  if (const ir::Rejection* refused = std::get_if<ir::Rejection>(&prepared)) return *refused;
  LowerScratch scratch;
  return lower(std::get<Prepared>(prepared), plan, limits, scratch);
}

Classified classify(const ir::Group& group) {
  std::variant<Prepared, ir::Rejection> ready = prepare(group);
  if (const auto* refused = std::get_if<ir::Rejection>(&ready)) return *refused;
  const Prepared& prepared = std::get<Prepared>(ready);
  for (const Body& body : prepared.bodies)
    if (const Classified one = classify(*body.group); std::holds_alternative<ir::Rejection>(one)) return one;
  if (!prepared.bodies.empty()) return Layout{prepared.skeleton, prepared.rows, prepared.columns, {}};
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.threads = plain_threads;
  plan.threads_per_row = plan.vector = 1;
  if (passes_together(prepared) || !prepared.chunk_lengths.empty())  // a column is one thread's, a chunk a warp's
    plan.threads_per_row = row(prepared.skeleton).unit == ir::WorkUnit::columns ? plan.threads : chunk_lanes;
  ir::Limits limits = without_limits();
  for (const std::int64_t length : prepared.chunk_lengths) {
    limits.warp_size = chunk_lanes;
    while (length > std::int64_t{plan.vector} * chunk_lanes) plan.vector *= 2;
  }
  LowerScratch scratch;
  std::optional<ir::Rejection> first;
  // What a scan has made is read at another place of its row only where it waits. All waits there: what waits in
  // registers beside it is written out, which scans from the end are not.
  const auto lists = prepared.scans.empty() ? std::vector{ir::HomesWord::reload}
                                            : std::vector{ir::HomesWord::reload, ir::HomesWord::shared};
  for (const ir::HomesWord homes : lists)
    for (const ir::NodeId dominant : prepared.dominants) {
      plan.dominant = dominant;
      plan.homes = homes_of(prepared, homes);
      const Lowered lowered = lower(prepared, plan, limits, scratch);
      if (std::holds_alternative<ir::Kernel>(lowered))
        return Layout{prepared.skeleton, prepared.rows, prepared.columns, prepared.domain};
      if (!first) first = std::get<ir::Rejection>(lowered);
    }
  return *first;
}

}  // namespace tailor::codegen
