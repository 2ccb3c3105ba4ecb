// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds up what the walks found per statement. In: a kernel and the counts of a walk, exact or fast. Out: Work. Called
// by whoever scores a plan, and by tests that hold the two walks against each other. The walks themselves are in
// exact.cpp and fast.cpp.
#include "costmodel/count.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

void add(Pipes& sum, const Pipes& each, std::int64_t times) {
  static constexpr std::int64_t Pipes::*fields[] = {&Pipes::fma,     &Pipes::alu,     &Pipes::xu,     &Pipes::f64,
                                                    &Pipes::widen,   &Pipes::narrow,  &Pipes::memory, &Pipes::shuffle,
                                                    &Pipes::barrier, &Pipes::control, &Pipes::address};
  for (const auto field : fields) sum.*field += each.*field * times;
}

void add_memory(const ir::Kernel& kernel, const ir::Stmt& stmt, const StmtCount& count, Work& work) {
  const std::int64_t bytes = count.lanes * element_bytes(kernel, stmt) * stmt.width;
  if (stmt.space != ir::Space::global) {
    SharedWork& shared = stmt.kind == ir::StmtKind::load ? work.shared_load : work.shared_store;
    shared.requests += count.executions;
    shared.bytes += bytes;
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
  if (stmt.kind == ir::StmtKind::load && stmt.policy == ir::Policy::reload) buffer.reload_sectors += count.units;
}

}  // namespace

void begin_count(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  scratch.counts.assign(kernel.body.size(), {});
  scratch.sampled = false;
  std::vector<BufferWork> buffers = std::move(work.buffers);
  buffers.assign(kernel.buffers.size(), {});
  work = {};
  work.buffers = std::move(buffers);
  work.threads = kernel.threads;
  work.virtual_blocks = kernel.virtual_blocks;
  work.grid = kernel.grid;
  work.cluster = kernel.cluster;
  work.min_blocks = kernel.min_blocks;
  work.shared_bytes = kernel.shared_bytes;
  fill_costs(kernel, scratch);
  work.live_registers = live_registers(kernel, scratch);
  fill_chain(kernel, work);
}

void end_count(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  count_per_block(kernel, scratch, work);
  work.sampled = scratch.sampled;
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const ir::Stmt& stmt = kernel.body[at];
    add(work.pipes, scratch.costs[at].pipes, scratch.counts[at].executions);
    if (is_memory(stmt)) add_memory(kernel, stmt, scratch.counts[at], work);
    if (stmt.kind == ir::StmtKind::barrier && stmt.scope == ir::StitchLevel::cluster)
      work.cluster_barriers += barrier_instructions(stmt) * scratch.counts[at].executions;
  }
  work.shuffles = work.pipes.shuffle;
  work.barriers = work.pipes.barrier - work.cluster_barriers;
}

Scratch::Scratch() : body_(std::make_unique<Body>()) {}
Scratch::~Scratch() = default;
Scratch::Scratch(Scratch&&) noexcept = default;
Scratch& Scratch::operator=(Scratch&&) noexcept = default;

std::string uncountable(const ir::Kernel& kernel) {
  for (const ir::Stmt& s : kernel.body)
    if (s.kind == ir::StmtKind::barrier && s.scope > ir::StitchLevel::cluster)
      return fmt::format("a {} barrier cannot be counted yet", name(s.scope));
  return {};
}

void count(const ir::Kernel& kernel, Mode mode, Scratch& scratch, Work& work) {
  if (std::string reason = uncountable(kernel); !reason.empty())
    throw std::logic_error(fmt::format("kernel {}: {}", kernel.name, reason));
  Scratch::Body& body = scratch.body();
  begin_count(kernel, body, work);
  if (mode == Mode::exact) {
    count_exact(kernel, body, work);
  } else {
    count_fast(kernel, body, work);
    count_distinct(kernel, body, work);
  }
  end_count(kernel, body, work);
}

Work count(const ir::Kernel& kernel, Mode mode) {
  Scratch scratch;
  Work work;
  count(kernel, mode, scratch, work);
  return work;
}

std::int64_t sectors(const Work& work) {
  std::int64_t sum = 0;
  for (const BufferWork& b : work.buffers) sum += b.load.sectors + b.store.sectors + b.atomic.sectors;
  return sum;
}

std::int64_t compulsory_bytes(const Work& work) {
  std::int64_t sum = 0;
  for (const BufferWork& b : work.buffers) sum += b.read_bytes + b.written_bytes;
  return sum;
}

double read_footprint(const BufferWork& buffer) {
  return static_cast<double>(std::max(buffer.read_bytes, sector_bytes * buffer.read_sectors));
}

double written_footprint(const BufferWork& buffer) {
  return static_cast<double>(std::max(buffer.written_bytes, sector_bytes * buffer.written_sectors));
}

}  // namespace tailor::costmodel
