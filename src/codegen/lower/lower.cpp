// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The entrance of lowering: checks that hold for every skeleton, then the skeleton's own loops.
#include "codegen/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "codegen/lower/lower_build.h"

namespace tailor::codegen {

LowerScratch::LowerScratch() : state_(std::make_unique<State>()) {}
LowerScratch::~LowerScratch() = default;
LowerScratch::LowerScratch(LowerScratch&&) noexcept = default;

Coordinates follow(IndexBuilder& build, const ir::Graph& graph, const Route& route, Coordinates coordinates) {
  for (const Step& step : route.steps) {
    const ir::Node& user = graph.nodes[static_cast<std::size_t>(step.to_user ? step.to : step.from)];
    coordinates = step.to_user ? *user_coordinates(build, graph, user, step.from, coordinates)
                               : operand_coordinates(build, graph, user, step.operand, coordinates);
  }
  return coordinates;
}

namespace {

ir::Rejection no(std::string rule, std::string reason) { return {std::move(rule), std::move(reason), true}; }

bool is_power_of_two(int value) { return value > 0 && std::has_single_bit(static_cast<unsigned>(value)); }

std::optional<ir::Rejection> check_launch(const ir::Plan& plan, const ir::Limits& limits) {
  if (plan.threads <= 0 || plan.threads % limits.warp_size != 0)
    return no("threads", fmt::format("{} threads are no whole number of warps of {}", plan.threads, limits.warp_size));
  if (plan.threads > limits.threads_per_block)
    return no("threads", fmt::format("{} threads exceed {} per block", plan.threads, limits.threads_per_block));
  if (!is_power_of_two(plan.vector)) return no("vector", fmt::format("width {} is no power of two", plan.vector));
  if (plan.in_flight < 1) return no("in-flight", fmt::format("{} in flight", plan.in_flight));
  if (plan.grid == ir::GridShape::persistent && (plan.blocks_per_sm < 1 || plan.blocks_per_sm > limits.blocks_per_sm ||
                                                 plan.blocks_per_sm * plan.threads > limits.threads_per_sm))
    return no("persistent", fmt::format("{} blocks of {} threads do not fit an SM with {} blocks and {} threads",
                                        plan.blocks_per_sm, plan.threads, limits.blocks_per_sm, limits.threads_per_sm));
  return std::nullopt;
}

std::optional<ir::Rejection> check_row(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  if (!is_power_of_two(plan.threads_per_row) || plan.threads % plan.threads_per_row != 0)
    return no("threads-per-row",
              fmt::format("{} threads per row do not divide {} threads", plan.threads_per_row, plan.threads));
  std::vector<ir::SubRoot> expected = sub_roots(prepared, plan.threads_per_row, limits.warp_size);
  if (expected != plan.sub_roots) {
    ir::Plan wanted = plan;
    wanted.sub_roots = std::move(expected);
    return no("sub-roots", fmt::format("sub-roots and levels must be those of '{}'", text(wanted)));
  }
  return std::nullopt;
}

std::optional<ir::Rejection> check_result(const ir::Kernel& kernel, std::int64_t kept_bytes, const ir::Limits& limits) {
  constexpr std::int64_t register_bytes = 4;
  if (kept_bytes > limits.registers_per_thread * register_bytes)
    return no("registers", fmt::format("kept values need {} registers per thread, {} exist",
                                       kept_bytes / register_bytes, limits.registers_per_thread));
  if (kernel.shared_bytes > limits.shared_per_block_optin)
    return no("shared", fmt::format("{} bytes of shared memory exceed {} per block", kernel.shared_bytes,
                                    limits.shared_per_block_optin));
  if (kernel.grid > std::numeric_limits<std::int32_t>::max())
    return no("grid", fmt::format("{} blocks exceed the largest grid", kernel.grid));
  return std::nullopt;
}

}  // namespace

Lowered lower(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch) {
  ++scratch.lowerings;
  if (plan.skeleton != prepared.skeleton)
    return no("skeleton", fmt::format("the group needs skeleton {}, the plan says {}", name(prepared.skeleton),
                                      name(plan.skeleton)));
  if (std::find(prepared.dominants.begin(), prepared.dominants.end(), plan.dominant) == prepared.dominants.end())
    return no("dominant", fmt::format("%{} cannot be the dominant node of this group", plan.dominant));
  if (auto refused = check_launch(plan, limits)) return *refused;
  const bool rows = plan.skeleton == ir::Skeleton::row;
  if (rows)
    if (auto refused = check_row(prepared, plan, limits)) return *refused;

  ProgramBuilder builder(prepared, plan, scratch.state());
  if (auto refused = rows ? lower_row(builder, prepared, plan, limits) : lower_map(builder, prepared, plan))
    return *refused;
  ir::Kernel& kernel = builder.kernel();
  kernel.grid = kernel.virtual_blocks;
  if (plan.grid == ir::GridShape::persistent) {
    kernel.grid = std::int64_t{plan.blocks_per_sm} * limits.sms;
    kernel.persistent = true;
    if (kernel.virtual_blocks <= kernel.grid)
      return no("persistent", fmt::format("{} tiles for {} resident blocks: nothing to loop over",
                                          kernel.virtual_blocks, kernel.grid));
  }
  kernel.dynamic_shared = kernel.shared_bytes > limits.shared_per_block;
  if (auto refused = check_result(kernel, builder.kept_bytes, limits)) return *refused;
  return builder.take();
}

Lowered lower(const ir::Group& group, const ir::Plan& plan, const ir::Limits& limits) {
  std::variant<Prepared, ir::Rejection> prepared = prepare(group);
  if (const ir::Rejection* refused = std::get_if<ir::Rejection>(&prepared)) return *refused;
  LowerScratch scratch;
  return lower(std::get<Prepared>(prepared), plan, limits, scratch);
}

}  // namespace tailor::codegen
