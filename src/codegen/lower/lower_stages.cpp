// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowering stages. In: a prepared group that was cut at values which wait in global memory, a plan with a plan for each
// stage, limits. Out: one launch that runs the stages one behind the other, or what is refused and why. Called by
// lower(); searches that have lowered the stages by themselves only put them together.
//
// A stage is lowered as the group of its own that it is, by whatever its skeleton does, or as a pack, and knows nothing
// of the others. Its blocks are virtual ones: the launch has as many real ones as the SMs hold at once, and each does
// its share of every stage in turn, in a loop that the printer writes. So whatever a stage needs a launch of its own
// for it cannot have.
//
// Between two stages stands a kernel that is nothing but a barrier of all blocks, with a ticket of its own: the counter
// of one meeting must be done with before somebody counts at the next. What waits there is a workspace. Whoever loads
// what the launch writes says so (`fresh`), since no load may be answered by a cache that knows the memory from before.
//
// Where a block does several virtual blocks of a stage that uses shared memory, a barrier ends each of them: the next
// one writes there again.
//
// A plan that names other homes than the group has from its analysis is cut there, if each part is a loop.
#include "codegen/lower/lower_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "base/counted.h"
#include "codegen/lower/lower_pack.h"
#include "codegen/lower/skeletons.h"
#include "codegen/structure/index_build.h"

namespace tailor::codegen {

namespace {

/// Loads of what the program writes promise nothing about it. Inputs that are written in place are among that.
void load_fresh(ir::Kernel& program) {
  std::vector<bool> written(program.buffers.size());
  for (std::size_t b = 0; b < written.size(); ++b) {
    const ir::BufferId memory = owner(program, static_cast<ir::BufferId>(b));
    written[b] = memory_role(program, memory) != ir::BufferRole::input;
  }
  const auto of = [&](ir::Kernel& kernel) {
    for (ir::Stmt& stmt : kernel.body)
      if (stmt.kind == ir::StmtKind::load && !is_array(stmt.space) && written[stmt.memory] &&
          stmt.policy != ir::Policy::reload)
        stmt.policy = ir::Policy::fresh;
  };
  of(program);
  for (ir::Kernel& follower : program.followers) of(follower);
}

/// Whether one of these bodies writes what one of those touches, or the reverse: all blocks meet between them then.
bool depend(std::span<const ir::Kernel> these, std::span<ir::Kernel* const> those) {
  for (const ir::Kernel& one : these)
    for (const ir::Kernel* other : those)
      if (writes_for(one, *other) || writes_for(*other, one)) return true;
  return false;
}

/// The bodies of a stage share the launch's blocks.
void share_blocks(std::vector<ir::Kernel*>& bodies, std::int64_t grid) {
  std::int64_t blocks = 0;
  for (const ir::Kernel* body : bodies) blocks += body->virtual_blocks;
  for (ir::Kernel* body : bodies) {
    body->grid = grid;
    body->persistent = blocks != grid || bodies.size() > 1;
  }
}

/// A barrier of the block ends each virtual one whose shared memory is written again: by the next one, or, where blocks
/// do not meet behind it, by the next stage.
void end_virtual_blocks(std::vector<ir::Kernel>& all) {
  for (auto first = all.begin(); first != all.end();) {
    const auto last =
        std::find_if(first + 1, all.end(), [](const ir::Kernel& one) { return one.begins == ir::Begins::behind; });
    const std::int64_t blocks = std::accumulate(
        first, last, std::int64_t{0}, [](std::int64_t sum, const ir::Kernel& one) { return sum + one.virtual_blocks; });
    const bool is_met = last == all.end() || is_meeting(*last);
    for (; first != last; ++first) {
      if (first->shared_bytes == 0 || (blocks <= first->grid && is_met)) continue;
      ir::Stmt barrier;
      barrier.kind = ir::StmtKind::barrier;
      first->body.push_back(barrier);
    }
  }
}

/// A stage has virtual blocks for which the launch has real ones.
ir::Plan plan_of_stage(ir::Plan own) {
  own.grid = ir::GridShape::tile;
  own.blocks_per_sm = own.min_blocks = 0;
  for (ir::Plan& body : own.bodies) body = plan_of_stage(std::move(body));
  return own;
}

std::string list_of(const std::vector<ir::Home>& homes) {
  ir::Plan plan;
  plan.homes = homes;
  return field_text(plan, ir::PlanField::homes);
}

/// The layout of each stage: "row 64 x 96, then map 6144".
std::string stages_of(const Prepared& whole) {
  std::string out;
  for (const Body& stage : whole.bodies) {
    const Prepared& own = *stage.prepared;
    out += (out.empty() ? "" : ", then ") + text(Layout{own.skeleton, own.rows, own.columns, own.domain});
  }
  return out;
}

/// The plan's homes as places to cut at, or the first that is none.
std::variant<std::vector<ir::NodeId>, ir::Rejection> cuts_of(const Prepared& whole, const ir::Plan& plan) {
  std::vector<ir::NodeId> waits;
  for (const ir::Home& home : plan.homes) {
    if (home.level != ir::StitchLevel::grid)
      return refuse("homes", fmt::format("%{}@{}: what waits between stages waits in global memory, here {}", home.node,
                                         name(home.level), list_of(homes_between(whole))));
    if (home.node < 0 || ir::index(home.node) >= whole.graph->nodes.size())
      return refuse("homes", fmt::format("the group has no %{}", home.node));
    waits.push_back(home.node);
  }
  return waits;
}

}  // namespace

std::vector<ir::Home> homes_between(const Prepared& stages) {
  std::vector<ir::Home> homes;
  for (const ir::NodeId id : stages.waits) homes.push_back({id, ir::StitchLevel::grid});
  return homes;
}

std::optional<ir::Rejection> refuse_meeting(int blocks_per_sm, int threads, const ir::Limits& limits) {
  const std::int64_t all = std::int64_t{blocks_per_sm} * threads;
  if (blocks_per_sm <= limits.blocks_per_sm && all <= limits.threads_per_sm) return std::nullopt;
  return refuse("resident", fmt::format("{} on each SM, which has room for {} blocks and {} threads, {} needed",
                                        counted(blocks_per_sm, "block", "meets", "meet"), limits.blocks_per_sm,
                                        limits.threads_per_sm, all));
}

std::optional<ir::Rejection> refuse_residents(std::span<const ir::Kernel* const> stages, int blocks_per_sm,
                                              const ir::Limits& limits) {
  std::int64_t shared = 0;
  for (const ir::Kernel* stage : stages)
    for (const ir::Kernel& body : kernels_of(*stage)) shared = std::max(shared, body.shared_bytes);
  if (auto refused = refuse_meeting(blocks_per_sm, stages.front()->threads, limits)) return refused;
  const std::int64_t each = shared_for(limits, shared);
  if (blocks_per_sm * each > limits.shared_per_sm)
    return refuse("resident",
                  fmt::format("{} on each SM, where {} bytes of shared memory for each exceed {}",
                              counted(blocks_per_sm, "block", "meets", "meet"), each, limits.shared_per_sm));
  return std::nullopt;
}

ir::Kernel meeting_of(std::int64_t blocks, int threads, ir::BufferId ticket) {
  ir::Kernel kernel;
  IndexBuilder build;
  const ir::ExprId block = build.var(build.add_var({"vb", ir::VarKind::block, blocks, 1}));
  ir::Stmt barrier;
  barrier.kind = ir::StmtKind::barrier;
  barrier.scope = ir::StitchLevel::grid;
  barrier.memory = ticket;
  barrier.expr = build.constant(0);
  barrier.rank = block;
  kernel.body.push_back(barrier);
  kernel.indices = build.pool();
  kernel.threads = threads;
  kernel.virtual_blocks = kernel.grid = blocks;
  kernel.begins = ir::Begins::behind;
  return kernel;
}

ir::Kernel behind_one_another(const Prepared& whole, std::vector<ir::Kernel> stages, int blocks_per_sm,
                              const ir::Limits& limits) {
  const std::int64_t grid = std::int64_t{blocks_per_sm} * limits.sms;
  join_buffers(whole, stages);
  const std::size_t tickets = stages.front().buffers.size();
  std::size_t meetings = 0;
  std::vector<ir::Kernel> all;
  std::size_t met = 0;  // from here on no blocks have met
  for (ir::Kernel& stage : stages) {
    std::vector<ir::Kernel> beside = std::move(stage.followers);
    stage.followers.clear();
    std::vector<ir::Kernel*> bodies{&stage};
    for (ir::Kernel& body : beside) bodies.push_back(&body);
    if (depend({all.begin() + static_cast<std::ptrdiff_t>(met), all.end()}, bodies)) {
      all.push_back(meeting_of(grid, stage.threads, static_cast<ir::BufferId>(tickets + meetings++)));
      met = all.size();
    }
    share_blocks(bodies, grid);
    stage.begins = ir::Begins::behind;
    all.push_back(std::move(stage));
    std::move(beside.begin(), beside.end(), std::back_inserter(all));
  }
  const bool shares = std::any_of(all.begin(), all.end(), [](const ir::Kernel& one) { return one.shared_bytes > 0; });
  std::vector<ir::Buffer> buffers = all.front().buffers;
  for (std::size_t number = 0; number < meetings; ++number)
    buffers.push_back({"arrivals", ir::DType::u32, 1, ir::BufferRole::ticket});
  for (std::size_t number = 0; number < all.size(); ++number) {
    ir::Kernel& kernel = all[number];
    kernel.buffers = buffers;
    const std::string own = is_meeting(kernel) ? whole.title + "_meet" : kernel.name;
    kernel.name = number == 0 ? whole.title : fmt::format("{}_{}", own, number + 1);
    kernel.dynamic_shared = shares;
    kernel.cooperative = true;
    kernel.min_blocks = blocks_per_sm;
    kernel.arithmetic = all.front().arithmetic;
    kernel.index_cache = all.front().index_cache;
  }
  end_virtual_blocks(all);
  ir::Kernel launch = std::move(all.front());
  launch.begins = ir::Begins::launch;
  launch.followers.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
  load_fresh(launch);
  return launch;
}

Lowered lower_stages(const Prepared& whole, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch) {
  auto cuts = cuts_of(whole, plan);
  if (auto* refused = std::get_if<ir::Rejection>(&cuts)) return std::move(*refused);
  if (const auto& waits = std::get<std::vector<ir::NodeId>>(cuts); waits != whole.waits) {
    if (waits.empty())
      return refuse("homes",
                    fmt::format("the plan says no homes; between the stages wait {}", list_of(homes_between(whole))));
    auto other = prepare_cut(*whole.group, waits);
    if (auto* refused = std::get_if<ir::Rejection>(&other)) return std::move(*refused);
    return lower_stages(std::get<Prepared>(other), plan, limits, scratch);
  }
  if (plan.grid != ir::GridShape::persistent)
    return refuse("persistent", "blocks that meet between stages are resident: grid=persistent with blocks_per_sm");
  if (plan.bodies.size() != whole.bodies.size())
    return refuse("bodies", fmt::format("the plan has {}, with these homes there are {}: {}",
                                        counted(plan.bodies.size(), "stage"), whole.bodies.size(), stages_of(whole)));
  std::vector<ir::Kernel> stages;
  for (std::size_t number = 0; number < whole.bodies.size(); ++number) {
    std::variant<ir::Plan, ir::Rejection> own = plan_of_body(whole, plan, number);
    if (auto* refused = std::get_if<ir::Rejection>(&own)) return std::move(*refused);
    Lowered lowered = lower_body(whole, plan_of_stage(std::get<ir::Plan>(std::move(own))), number, limits, scratch);
    if (auto* refused = std::get_if<ir::Rejection>(&lowered)) return std::move(*refused);
    stages.push_back(std::get<ir::Kernel>(std::move(lowered)));
  }
  std::vector<const ir::Kernel*> each;
  for (const ir::Kernel& stage : stages) each.push_back(&stage);
  if (auto refused = refuse_residents(each, plan.blocks_per_sm, limits)) return *std::move(refused);
  ir::Kernel launch = behind_one_another(whole, std::move(stages), plan.blocks_per_sm, limits);
  launch.min_blocks = std::max(launch.min_blocks, plan.min_blocks);
  for (ir::Kernel& follower : launch.followers) follower.min_blocks = launch.min_blocks;
  return launch;
}

// ---- their row in the table of skeletons: stages have mappings of their own

void dominants_stages(const ir::Graph&, Prepared&) {}

Mapping mapping_stages(const Prepared& prepared, const ir::Plan&, const ir::Limits&) {
  Mapping made{ir::Skeleton::stages};
  made[Side::kept].size = made[Side::kept].units = prepared.rows;
  return made;
}

std::optional<ir::Rejection> refuse_stages(const Prepared&, const ir::Plan&, const ir::Limits&) { return std::nullopt; }

}  // namespace tailor::codegen
