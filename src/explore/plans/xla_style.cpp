// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's emitters as plans. In: a prepared group with XLA's schedule of it. Out: a plan, or why none is like it. Called
// through the table by xla_style(), and by it alone.
//
// A loop of XLA's has blocks of four warps, a thread for 1, 2 or 4 neighbours; nothing is kept, nothing is in flight
// beyond the vector. That is a plan of the flat loop. Where the loop computes a reduction that is too small for a
// kernel of its own, each thread adds up what its result needs: rows with one lane, or columns with one group of lanes.
//
// A reduction goes over its input once. So does a plan with one walk; a group that goes over its rows again after a
// reduction, or computes on behind a large one otherwise than element by element, is no kernel that XLA would make: its
// loop would add up anew for each element. Iterations of a thread are
// unrolled as XLA's loop pass does, which is the plan's in_flight.
//
// Values are computed once for one place of one array and read by whoever needs them, as XLA's functions per subgraph
// and LLVM behind them do: both caches are on.
//
// What a plan cannot hold is said. Blocks are whole warps, so a small loop has idle threads; results that share no
// input get blocks of their own in XLA and not here; a concatenation of unequal operands is gone over as its result.
#include "explore/plans/xla_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/counted.h"
#include "codegen/lower/lower_turn.h"
#include "codegen/lower/prepare.h"
#include "explore/plans/orders.h"
#include "explore/plans/tiling.h"

namespace tailor::explore {

namespace xla = costmodel::xla;

namespace {

using ir::Op;
using xla::Form;

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

int power_of_two_from(std::int64_t value) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1))));
}

/// What differs, one after the other.
void say(std::string& words, std::string more) { words += (words.empty() ? "" : "; ") + std::move(more); }

// ---- how long a loop's body is

/// Operations as XLA's loop pass counts them.
std::int64_t size_of(const ir::Node& node) {
  constexpr std::int64_t exponential = 40, function = 20;
  constexpr int instructions_of_function = 8;
  switch (node.op) {
    case Op::exp:
    case Op::log:
      return exponential;
    case Op::constant:
    case Op::broadcast:
    case Op::bitcast:
    case Op::reshape:
      return 0;
    case Op::divide:
    case Op::sqrt:
    case Op::rsqrt:
      return 1;
    default:
      break;
  }
  const ir::OpRow& row = ir::row(node.op);
  return row.kind == ir::OpClass::elementwise && row.fma + row.alu + row.xu > instructions_of_function ? function : 1;
}

std::int64_t unrolled(const XlaQuestion& about, std::int64_t trips, std::int64_t vector) {
  std::int64_t operations = 0;
  for (const xla::Item& one : about.kernel.items)
    if (!one.outside) operations += size_of(*one.node);
  return xla_unrolled(trips, operations, std::ssize(about.kernel.operands), vector);
}

// ---- plans

/// The dominant node that reads what XLA's leading reduction reads; the usual one without.
ir::NodeId dominant_of(const XlaQuestion& about) {
  const std::vector<ir::NodeId>& candidates = about.prepared.dominants;
  if (about.analysis.reduction < 0 || ir::row(about.prepared.skeleton).unit == ir::WorkUnit::elements)
    return candidates.front();
  const ir::Graph& graph = *about.prepared.graph;
  const auto source = [&](ir::NodeId id) -> const ir::Shape& { return graph[graph[id].operands[0]].shape; };
  const ir::Shape& read = source(xla::item(about.kernel, about.analysis.reduction).id);
  const auto same = [&](ir::NodeId id) { return source(id).dims == read.dims && source(id).same_layout(read); };
  const auto found = std::find_if(candidates.begin(), candidates.end(), same);
  return found == candidates.end() ? candidates.front() : *found;
}

ir::Plan empty_plan(const XlaQuestion& about) {
  ir::Plan plan;
  plan.skeleton = about.prepared.skeleton;
  plan.dominant = dominant_of(about);
  plan.threads_per_row = plan.vector = 1;
  plan.homes = codegen::homes_of(about.prepared, ir::HomesWord::registers);
  return plan;
}

/// The block as whole warps.
int whole_warps(const XlaQuestion& about, std::string& differs) {
  const std::int64_t block = about.schedule.launch.block, whole = rounded_up(block, about.limits.warp_size);
  if (whole != block) say(differs, fmt::format("{} no whole number of warps", counted(block, "thread", "is", "are")));
  return static_cast<int>(whole);
}

/// XLA's groups of results that share no input.
void say_groups(const XlaQuestion& about, std::string& differs) {
  if (const std::int64_t groups = about.schedule.launch.grid[2]; groups > 1)
    say(differs, fmt::format("{} sets of results that share no input have blocks of their own in XLA", groups));
}

/// The candidate whose elements lie as those of the array that XLA goes over.
void follow_array(const XlaQuestion& about, const std::vector<ir::NodeId>& candidates, ir::Plan& plan) {
  const ir::Graph& graph = *about.prepared.graph;
  const ir::Shape& over = *about.schedule.over;
  const auto lies_alike = [&](ir::NodeId id) {
    return graph[id].shape.dims == over.dims && graph[id].shape.same_layout(over);
  };
  if (const auto found = std::find_if(candidates.begin(), candidates.end(), lies_alike); found != candidates.end())
    plan.dominant = first_of_order(about.prepared, *found);
}

/// XLA's loops write as many elements of each result; a map may have smaller results beside the largest.
bool has_one_size(const XlaQuestion& about) {
  const ir::Graph& graph = *about.prepared.graph;
  return std::all_of(about.prepared.stored.begin(), about.prepared.stored.end(), [&](ir::NodeId id) {
    return ir::elements(graph[id].shape) == ir::elements(*about.schedule.over);
  });
}

bool is_one_per_row(const codegen::Prepared& prepared) {
  const ir::Graph& graph = *prepared.graph;
  return std::all_of(prepared.stored.begin(), prepared.stored.end(),
                     [&](ir::NodeId id) { return ir::elements(graph[id].shape) == prepared.rows; });
}

/// A reduction that XLA gives a kernel of its own, though this group goes on behind it.
bool holds_tiled_reduction(const xla::Kernel& kernel) {
  return std::any_of(kernel.items.begin(), kernel.items.end(), [&](const xla::Item& one) {
    return !one.outside && one.node->op == Op::reduce &&
           xla::is_tiled_reduction(*one.node, xla::operand_shape(kernel, one, 0));
  });
}

/// A loop whose threads add up what their results need.
XlaPlanned plan_summing_loop(const XlaQuestion& about) {
  if (holds_tiled_reduction(about.kernel))
    return std::string("XLA ends a kernel with so large a reduction and writes no loop around it");
  if (!is_one_per_row(about.prepared)) return std::string("XLA would add up anew for each element of a result");
  XlaPlan made{empty_plan(about), ""};
  const std::int64_t neighbours = about.schedule.vector;
  ir::Plan& plan = made.plan;
  plan.threads = whole_warps(about, made.differs);
  plan.homes.clear();
  if (ir::row(plan.skeleton).unit == ir::WorkUnit::rows) {
    if (neighbours > 1) say(made.differs, fmt::format("a thread has one row, in XLA {}", neighbours));
  } else {
    plan.threads = plan.threads_per_row = power_of_two_from(plan.threads);
    const std::int64_t run = tiling_of(about.prepared, plan, about.limits).run;
    plan.vector = static_cast<int>(std::gcd(neighbours, run));
    if (plan.vector < neighbours)
      say(made.differs, fmt::format("a thread has {}, in XLA {}", counted(plan.vector, "column"), neighbours));
  }
  plan.in_flight = static_cast<int>(unrolled(about, about.prepared.columns, plan.vector));
  return made;
}

XlaPlanned plan_loop(const XlaQuestion& about) {
  if (ir::row(about.prepared.skeleton).unit != ir::WorkUnit::elements) return plan_summing_loop(about);
  if (!has_one_size(about))
    return std::string(about.schedule.form == Form::in_place ? "the whole array is written, and not the part in place"
                                                             : "a loop of XLA's writes results of one size");
  XlaPlan made{empty_plan(about), ""};
  made.plan.threads = whole_warps(about, made.differs);
  made.plan.vector = static_cast<int>(about.schedule.vector);
  follow_array(about, about.prepared.dominants, made.plan);
  return made;
}

/// Why a reduction of XLA's is no plan of the group's skeleton; empty where it is.
std::string why_not_reduced(const XlaQuestion& about, ir::WorkUnit unit) {
  const xla::Item& hero = xla::item(about.kernel, about.analysis.reduction);
  if (!xla::is_race_free(xla::reduced(xla::operand_shape(about.kernel, hero, 0), ir::axes(*hero.node))))
    return "so long a reduction XLA cuts in two kernels before it fuses";
  const ir::SkeletonRow& skeleton = ir::row(about.prepared.skeleton);
  if (skeleton.unit != unit)
    return fmt::format("XLA's {} emitter goes over the group otherwise than its structure here, {}",
                       name(about.schedule.form), skeleton.name);
  if (about.prepared.walks > 1)
    return "after the reduction its input is gone over again, for which XLA would add up anew for each element";
  return "";
}

XlaPlanned plan_rows(const XlaQuestion& about) {
  if (std::string why = why_not_reduced(about, ir::WorkUnit::rows); !why.empty()) return why;
  XlaPlan made{empty_plan(about), ""};
  ir::Plan& plan = made.plan;
  const std::int64_t lanes = about.schedule.lanes;
  plan.threads_per_row = static_cast<int>(lanes);
  plan.threads = whole_warps(about, made.differs);
  say_groups(about, made.differs);
  plan.vector = static_cast<int>(about.schedule.vector);
  const Tiling tiling = tiling_of(about.prepared, plan, about.limits);
  if (tiling.streamed) plan.in_flight = static_cast<int>(unrolled(about, tiling.trips, plan.vector));
  return made;
}

XlaPlanned plan_columns(const XlaQuestion& about) {
  if (std::string why = why_not_reduced(about, ir::WorkUnit::columns); !why.empty()) return why;
  XlaPlan made{empty_plan(about), ""};
  ir::Plan& plan = made.plan;
  plan.threads = static_cast<int>(about.schedule.launch.block);
  plan.threads_per_row = static_cast<int>(about.schedule.lanes);
  plan.vector = static_cast<int>(about.schedule.vector);
  if (about.schedule.form == Form::small_column) {
    // XLA's vectors go on into the next row where a row is shorter than a vector.
    const std::int64_t run = tiling_of(about.prepared, plan, about.limits).run;
    plan.vector = static_cast<int>(std::gcd(about.schedule.vector, run));
    plan.threads_per_row = power_of_two_from(std::min<std::int64_t>(run / plan.vector, plan.threads));
  }
  const xla::Item& hero = xla::item(about.kernel, about.analysis.reduction);
  const xla::Reduced seen = xla::reduced(xla::operand_shape(about.kernel, hero, 0), ir::axes(*hero.node));
  if (const std::int64_t width = std::int64_t{plan.threads_per_row} * plan.vector;
      seen.dims[0] > 1 && seen.dims[2] % width != 0)
    say(made.differs,
        fmt::format("blocks of {} go on from one batch of {} to the next", counted(width, "column"), seen.dims[2]));
  say_groups(about, made.differs);
  plan.in_flight = static_cast<int>(unrolled(about, tiling_of(about.prepared, plan, about.limits).trips, plan.vector));
  return made;
}

/// So many lanes side by side as reach over what there is of a run, where these are fewer.
int lanes_over(std::int64_t run, std::int64_t vector, std::int64_t lanes) {
  return static_cast<int>(std::min<std::int64_t>(lanes, power_of_two_from((run + vector - 1) / vector)));
}

/// Square tiles of XLA's lanes by their vectors. Its warps go over them row by row, both ways.
XlaPlanned plan_tiles(const XlaQuestion& about) {
  const codegen::Prepared* tiles = about.prepared.turned.get();
  if (tiles == nullptr)
    return std::string("XLA turns rows of neighbours that stay together; a flat loop reads these as they lie");
  XlaPlan made;
  ir::Plan& plan = made.plan;
  plan.skeleton = tiles->skeleton;
  plan.dominant = tiles->dominants.front();
  plan.threads = whole_warps(about, made.differs);
  const codegen::Turn& turn = *tiles->turn;
  const std::int64_t lanes = about.schedule.lanes;
  plan.vector = static_cast<int>(std::gcd(about.schedule.vector, std::gcd(turn.written.size, turn.read.size)));
  if (plan.vector < about.schedule.vector)
    say(made.differs, fmt::format("a thread has vectors of {}, in XLA of {}", plan.vector, about.schedule.vector));
  plan.threads_per_row = lanes_over(turn.written.size, plan.vector, lanes);
  const std::int64_t deep = std::int64_t{lanes_over(turn.read.size, plan.vector, lanes)} * plan.vector;
  plan.unroll = static_cast<int>(std::max<std::int64_t>(deep * plan.threads_per_row / plan.threads, 1));
  const std::int64_t edge = lanes * plan.vector;
  if (const codegen::Tile tile = codegen::tile_of(turn, plan); tile.written != edge || tile.read != edge)
    say(made.differs, fmt::format("tiles are {} x {}, in XLA {} x {}", tile.written, tile.read, edge, edge));
  say_groups(about, made.differs);
  return made;
}

/// A loop over the pieces of a concatenation; of unequal ones over the result.
XlaPlanned plan_concatenate(const XlaQuestion& about) {
  if (ir::row(about.prepared.skeleton).unit != ir::WorkUnit::elements)
    return std::string("XLA would add up anew for each element of a result");
  XlaPlan made{empty_plan(about), ""};
  made.plan.threads = whole_warps(about, made.differs);
  made.plan.vector = static_cast<int>(about.schedule.vector);
  if (const codegen::Prepared* pieces = about.prepared.in_pieces.get()) {
    made.plan.dominant = pieces->dominants.front();
    follow_array(about, pieces->dominants, made.plan);
    return made;
  }
  say(made.differs, "the loop goes over the result; XLA's goes over the largest operand and does all operands there");
  return made;
}

XlaPlanned plan_updates(const XlaQuestion& about) {
  XlaPlanned planned = plan_loop(about);
  if (auto* made = std::get_if<XlaPlan>(&planned); made != nullptr && about.prepared.fill != nullptr)
    say(made->differs, "a launch before stores what the updates find, which XLA's kernel finds in place");
  return planned;
}

constexpr std::array emitter_table = std::to_array<XlaEmitter>({
    {Form::loop, "blocks of four warps, a thread for 1, 2 or 4 neighbours of the first result",
     "map threads=block vector=neighbours; with a small reduction inside row threads_per_row=1, or column "
     "threads_per_row=threads",
     plan_loop},
    {Form::in_place, "a loop over the part that is written", "map over the part that is written", plan_loop},
    {Form::row, "up to 32 warps for a row of 16 elements a thread, or several such rows a block",
     "row threads_per_row=lanes, trips unrolled by in_flight", plan_rows},
    {Form::multi_row, "lanes of a warp for a short row of one vector each, blocks of up to 256 threads",
     "row threads_per_row=lanes in_flight=1", plan_rows},
    {Form::column, "blocks of 32 x 32 threads, 32 vectors of columns wide", "column threads=1024 threads_per_row=32",
     plan_columns},
    {Form::small_column, "up to 128 threads over all of up to 32 columns",
     "column threads=block threads_per_row=columns/vector", plan_columns},
    {Form::transpose, "square tiles of 32 vectors through shared memory",
     "transpose threads=128 threads_per_row=32, as deep as wide by unroll", plan_tiles},
    {Form::packed_transpose, "the same, several narrow elements to a bank of shared memory",
     "transpose threads=128 threads_per_row=32, vectors that fill a bank", plan_tiles},
    {Form::concatenate, "a loop over the largest operand, all operands at the same place",
     "map over the pieces; of unequal operands over the result: more blocks, one operand an element", plan_concatenate},
    {Form::scatter, "a loop over the updates",
     "map over the updates; not in place behind a launch that stores what they find, as XLA's copy does", plan_updates},
    {Form::sorted_scatter, "a warp for a run of sorted updates", "no structure goes over runs of sorted places",
     nullptr},
    {Form::sort, "a thread for each element", "no structure sorts", nullptr},
});
static_assert(emitter_table.size() == xla::form_count);

XlaStyle emitted(const xla::Schedule& schedule) { return {schedule.form, schedule.launch, {}, ""}; }

}  // namespace

std::span<const XlaEmitter> xla_emitters() { return emitter_table; }

std::int64_t xla_unrolled(std::int64_t trips, std::int64_t operations, std::int64_t reads, std::int64_t vector) {
  // XLA's own limit, and what a read and the loop itself come to beside the operations.
  constexpr std::int64_t most = 400, of_loop = 6, of_read = 3;
  const std::int64_t size = vector * (operations + of_loop + of_read * std::max<std::int64_t>(reads - 1, 0));
  std::int64_t factor = std::max<std::int64_t>(std::min(trips, most / size), 1);
  while (trips % factor != 0) --factor;
  return factor;
}

XlaStyle xla_style(const codegen::Prepared& prepared, const ir::Limits& limits, const xla::Target& target) {
  const xla::Kernel kernel = xla::kernel_of(prepared.group->graph);
  const xla::Analysis analysis = xla::analyse(kernel);
  const xla::Schedule schedule = xla::schedule_of(kernel, analysis, target);
  XlaStyle style = emitted(schedule);
  const XlaEmitter& emitter = row(schedule.form);
  if (!prepared.bodies.empty()) {
    style.note = prepared.skeleton == ir::Skeleton::pack ? "XLA puts no loops side by side, each with blocks of its own"
                                                         : "XLA puts no loops behind one another in a launch";
    return style;
  }
  if (emitter.plan == nullptr) {
    style.note = fmt::format("{}, yet", emitter.as);
    return style;
  }
  if (prepared.graph.get() != &prepared.group->graph) {
    style.note = "XLA computes in steps what is one reduction here";
    return style;
  }
  if (!prepared.scans.empty()) {
    style.note = "XLA takes a scan apart into windows of windows, several kernels";
    return style;
  }
  if (!prepared.chunks.empty()) {
    style.note = "XLA reduces rows and chunks of them in kernels of their own";
    return style;
  }
  XlaPlanned planned = emitter.plan({prepared, limits, kernel, analysis, schedule});
  if (auto* why = std::get_if<std::string>(&planned)) {
    style.note = std::move(*why);
    return style;
  }
  XlaPlan& made = std::get<XlaPlan>(planned);
  style.plan = std::move(made.plan);
  style.note = std::move(made.differs);
  return style;
}

XlaStyle xla_style(const ir::Graph& group, const ir::Rejection& why, const xla::Target& target) {
  const xla::Kernel kernel = xla::kernel_of(group);
  XlaStyle style = emitted(xla::schedule_of(kernel, xla::analyse(kernel), target));
  style.note = fmt::format("the group has no plan: {}", why.rule);
  return style;
}

SameLaunch compare_launch(const ir::Kernel& kernel, const xla::Launch& launch, const ir::Limits& limits) {
  if (!kernel.followers.empty() || kernel.grid != launch.blocks()) return SameLaunch::differs;
  if (kernel.threads == launch.block) return SameLaunch::equal;
  return kernel.threads == rounded_up(launch.block, limits.warp_size) ? SameLaunch::same_warps : SameLaunch::differs;
}

}  // namespace tailor::explore
