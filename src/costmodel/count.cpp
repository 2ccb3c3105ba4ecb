// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds up what the walks found per statement. In: a kernel and the counts of a walk, exact or fast. Out: Work. Called
// by whoever scores a plan, and by tests that hold the two walks against each other. The walks themselves are in
// exact.cpp and fast.cpp. Beside that, what both flat.cpp and its callers ask of a kernel: how its block, trip and
// thread make up the number of an element or a vector.
#include "costmodel/count.h"

#include <algorithm>
#include <utility>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

void add_memory(const ir::Kernel& kernel, const ir::Stmt& stmt, const StmtCount& count, bool turned, Work& work) {
  const std::int64_t bytes = count.lanes * element_bytes(kernel, stmt) * stmt.width;
  if (stmt.space != ir::Space::global) {
    SharedWork& shared = stmt.kind == ir::StmtKind::load ? work.shared_load : work.shared_store;
    shared.requests += count.executions;
    shared.bytes += bytes;
    if (stmt.space == ir::Space::distributed) work.distributed_bytes += bytes;
    shared.wavefronts += count.units;
    return;
  }
  BufferWork& buffer = work.buffers[stmt.memory];
  Traffic& traffic = stmt.kind == ir::StmtKind::load    ? buffer.load
                     : stmt.kind == ir::StmtKind::store ? buffer.store
                                                        : buffer.atomic;
  traffic.requests += count.executions;
  traffic.sectors += count.units;
  traffic.bytes += bytes;
  if (reads_again(kernel, stmt)) {
    buffer.reload_sectors += count.units;
    buffer.turned_sectors += turned ? count.units : 0;
  }
  if (!stmt.by_exchange) return;
  // What it loads before it writes there, once: where nobody comes between.
  buffer.load.requests += count.executions;
  buffer.load.sectors += count.units;
  buffer.load.bytes += bytes;
  buffer.reload_sectors += count.units;
}

/// Which way a program goes through its buffers, loop by loop.
class Directions {
 public:
  /// Most programs go one way, and a launch of many loops has a kernel with all its buffers for each of them.
  explicit Directions(const ir::Kernel& kernel) : kernel_(kernel) {
    const auto goes_back = [](const ir::Stmt& stmt) { return stmt.backward; };
    if (std::any_of(kernel.body.begin(), kernel.body.end(), goes_back)) buffers_.resize(kernel.buffers.size());
  }

  void enter(std::int32_t at) {
    while (!open_.empty() && kernel_.body[static_cast<std::size_t>(open_.back())].end <= at) open_.pop_back();
    const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
    if (stmt.kind == ir::StmtKind::loop && !stmt.unrolled) open_.push_back(at);
  }
  /// Whether the loop at hand goes the other way round than the last one that loaded from the buffer.
  bool is_turned(std::uint16_t buffer) {
    if (buffers_.empty()) return false;
    Walks& walks = buffers_[buffer];
    const std::int32_t loop = open_.empty() ? -1 : open_.back();
    if (walks.loop != loop || !walks.any) {
      walks.turned = walks.any && is_backward(loop) != is_backward(walks.loop);
      walks.loop = loop;
      walks.any = true;
    }
    return walks.turned;
  }

 private:
  struct Walks {
    std::int32_t loop = -1;  ///< the last one: the statement that opens it; -1: none
    bool any = false, turned = false;
  };

  bool is_backward(std::int32_t loop) const {
    return loop >= 0 && kernel_.body[static_cast<std::size_t>(loop)].backward;
  }

  const ir::Kernel& kernel_;
  std::vector<Walks> buffers_;      // empty: all loops go forward
  std::vector<std::int32_t> open_;  // rolled loops, outer ones first
};

/// A thread of each block counts at the ticket and looks there: once where it comes last, and how often else is not for
/// a program to say.
void add_meeting(const ir::Kernel& kernel, const ir::Stmt& barrier, Work& work) {
  BufferWork& ticket = work.buffers[barrier.memory];
  for (Traffic* traffic : {&ticket.atomic, &ticket.load}) {
    traffic->requests += kernel.virtual_blocks;
    traffic->sectors += kernel.virtual_blocks;
    traffic->bytes += row(kernel.buffers[barrier.memory].dtype).bits / 8 * kernel.virtual_blocks;
    work.pipes.memory += kernel.virtual_blocks;
  }
  ticket.reload_sectors += kernel.virtual_blocks;
}

/// Before its first launch a workspace means nothing, so nobody reads of it what was not written. A ticket means that
/// nobody has come: who comes first reads that.
void find_own(const ir::Kernel& kernel, Work& work) {
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
    if (kernel.buffers[b].role != ir::BufferRole::workspace) continue;
    const BufferWork& buffer = std::as_const(work.buffers)[b];
    if (buffer.store.requests + buffer.atomic.requests > 0) work.buffers[b].own = true;
  }
}

}  // namespace

void begin_count(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  scratch.counts.assign(kernel.body.size(), {});
  scratch.sampled = false;
  Sparse<BufferWork> buffers = std::move(work.buffers);
  buffers.clear();
  buffers.resize(kernel.buffers.size());
  work = {};
  work.buffers = std::move(buffers);
  work.threads = kernel.threads;
  work.virtual_blocks = kernel.virtual_blocks;
  work.grid = kernel.grid;
  work.cluster = kernel.cluster;
  work.min_blocks = kernel.min_blocks;
  work.shared_bytes = kernel.shared_bytes;
  fill_costs(kernel, scratch);
  work.code_instructions = code_instructions(kernel, scratch);
  fill_registers(kernel, scratch, work);
  fill_chain(kernel, work);
}

void end_count(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  count_per_block(kernel, scratch, work);
  work.sampled = scratch.sampled;
  Directions directions(kernel);
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const ir::Stmt& stmt = kernel.body[at];
    directions.enter(static_cast<std::int32_t>(at));
    const bool turned =
        stmt.kind == ir::StmtKind::load && stmt.space == ir::Space::global && directions.is_turned(stmt.memory);
    add(work.pipes, scratch.costs[at].pipes, scratch.counts[at].executions);
    if (ir::is_memory(stmt)) add_memory(kernel, stmt, scratch.counts[at], turned, work);
    if (stmt.kind == ir::StmtKind::barrier && stmt.scope == ir::StitchLevel::cluster)
      work.cluster_barriers += barrier_instructions(stmt) * scratch.counts[at].executions;
    if (is_grid_barrier(stmt)) add_meeting(kernel, stmt, work);
  }
  find_own(kernel, work);
  work.shuffles = work.pipes.shuffle;
  work.barriers = work.pipes.barrier - work.cluster_barriers;
}

Scratch::Scratch() : body_(std::make_unique<Body>()) {}
Scratch::~Scratch() = default;
std::int64_t Scratch::looks() const { return body_->looks; }
Scratch::Scratch(Scratch&&) noexcept = default;
Scratch& Scratch::operator=(Scratch&&) noexcept = default;

bool reads_again(const ir::Kernel& kernel, const ir::Stmt& load) {
  if (load.kind != ir::StmtKind::load || load.policy != ir::Policy::reload) return false;
  bool waits = false, writes = false;
  for (const ir::Stmt& s : kernel.body) {
    waits = waits || s.kind == ir::StmtKind::wait;
    writes = writes || (s.kind != ir::StmtKind::load && ir::is_memory(s) && s.space == ir::Space::global &&
                        owner(kernel, s.memory) == owner(kernel, load.memory));
  }
  return !waits || writes;
}

bool find_position(const ir::Kernel& kernel, Position& position) {
  for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v) {
    const ir::Var& var = kernel.indices.vars[v];
    int* const place = var.kind == ir::VarKind::block    ? &position.block
                       : var.kind == ir::VarKind::thread ? &position.thread
                                                         : nullptr;
    if (place == nullptr) continue;
    if (*place != Position::no_var || var.divisor != 1) return false;
    *place = static_cast<int>(v);
  }
  return position.block != Position::no_var && position.thread != Position::no_var &&
         kernel.indices.vars[static_cast<std::size_t>(position.thread)].extent == kernel.threads &&
         kernel.threads % warp_lanes == 0;
}

bool is_number(const ir::Kernel& kernel, ir::ExprId expr, const Position& position) {
  const ir::IndexPool& pool = kernel.indices;
  if (pool[expr].constant != 0) return false;
  bool has_thread = false, has_block = kernel.virtual_blocks == 1, has_trip = position.trips == 1;
  for (const ir::Linear& part : pool.linear(expr)) {
    const ir::Term& term = pool.terms[part.term];
    const int var = term.kind == ir::TermKind::var ? static_cast<int>(term.var) : Position::no_var;
    bool* const has = var == Position::no_var  ? nullptr
                      : var == position.thread ? &has_thread
                      : var == position.block  ? &has_block
                      : var == position.trip   ? &has_trip
                                               : nullptr;
    const std::int64_t step = has == &has_thread ? 1
                              : has == &has_trip ? kernel.threads
                                                 : kernel.threads * position.trips;
    if (has == nullptr || part.coefficient != step) return false;
    *has = true;
  }
  return has_thread && has_block && has_trip;
}

bool asks_existence(const ir::Kernel& kernel, const ir::Stmt& stmt, std::int64_t vectors, const Position& position) {
  const ir::Condition& one = stmt.conditions[0];
  return !has_condition(stmt.conditions[1]) && !one.equal && stmt.value == ir::no_value &&
         kernel.indices[one.b].count == 0 && kernel.indices[one.b].constant == vectors &&
         is_number(kernel, one.a, position);
}

ir::VarSet variables_of(const ir::Kernel& kernel, const ir::Stmt& guard) {
  ir::VarSet vars;
  for (const ir::Condition& one : guard.conditions)
    if (has_condition(one)) vars |= kernel.indices[one.a].vars | kernel.indices[one.b].vars;
  return vars;
}

ir::VarSet variables_that_matter(const ir::Kernel& kernel) {
  ir::VarSet matter;
  for (const ir::Stmt& stmt : kernel.body) {
    if (ir::is_memory(stmt)) matter |= kernel.indices[stmt.expr].vars;
    if (stmt.kind == ir::StmtKind::guard) matter |= variables_of(kernel, stmt);
  }
  return matter;
}

std::int64_t vectors_of(const ir::Kernel& one_warp) {
  Position position;
  if (!find_position(one_warp, position)) return 0;
  for (const ir::Stmt& stmt : one_warp.body) {
    if (stmt.kind != ir::StmtKind::guard || !has_condition(stmt.conditions[0])) continue;
    const ir::Expr& most = one_warp.indices[stmt.conditions[0].b];
    if ((most.constant + warp_lanes - 1) / warp_lanes == one_warp.virtual_blocks &&
        asks_existence(one_warp, stmt, most.constant, position))
      return most.constant;
  }
  return one_warp.virtual_blocks * warp_lanes;
}

namespace {

void count_alone(const ir::Kernel& kernel, Mode mode, Scratch::Body& body, Work& work) {
  begin_count(kernel, body, work);
  work.begins = kernel.begins;
  if (mode == Mode::exact) {
    count_exact(kernel, body, work);
  } else {
    count_fast(kernel, body, work);
    count_distinct(kernel, body, work);
  }
  end_count(kernel, body, work);
}

}  // namespace

void count(const ir::Kernel& kernel, Mode mode, Scratch& scratch, Work& work) {
  Scratch::Body& body = scratch.body();
  std::vector<Work> followers = std::move(work.followers);
  followers.resize(kernel.followers.size());
  body.gave_up = false;
  count_alone(kernel, mode, body, work);
  for (std::size_t i = 0; i < followers.size() && !body.gave_up; ++i)
    count_alone(kernel.followers[i], mode, body, followers[i]);
  work.followers = std::move(followers);
}

Work count(const ir::Kernel& kernel, Mode mode) {
  Scratch scratch;
  Work work;
  count(kernel, mode, scratch, work);
  return work;
}

}  // namespace tailor::costmodel
