// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of a program ask together: sums over all of them for tables, what no plan avoids, and the bodies of
// a launch as one kernel, which is what models price. In: the work of a program. Out: numbers, or work. Called by every
// model, by advice and by tables.
//
// Bodies as one. A machine has all blocks of a launch, whichever body each runs: so accesses, instructions and blocks
// add up; registers and shared memory are of the body that takes most, for every block is given as much, and so are the
// blocks of a cluster and those that an SM must hold at once. The path of a
// warp is the mean over blocks, which is what they take one behind the other; that a launch lasts as long as its
// longest body alone is the models' to say. What bodies read in common is taken to come from memory for each.
//
// Steps as kernels. A launch in steps has the same blocks for all of them, so each step is priced as a kernel with the
// registers and the shared memory of the launch, behind the one before it.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "costmodel/work.h"

namespace tailor::costmodel {

namespace {

constexpr std::int64_t Pipes::*pipe_fields[] = {&Pipes::fma,     &Pipes::alu,     &Pipes::xu,      &Pipes::f64,
                                                &Pipes::integer, &Pipes::widen,   &Pipes::pack,    &Pipes::number,
                                                &Pipes::narrow,  &Pipes::memory,  &Pipes::shuffle, &Pipes::barrier,
                                                &Pipes::control, &Pipes::address, &Pipes::extremes};

}  // namespace

void add(Pipes& sum, const Pipes& each, std::int64_t times) {
  for (const auto field : pipe_fields) sum.*field += each.*field * times;
}

Pipes shared_out(const Pipes& part, const Pipes& all, const Pipes& made, int parts) {
  Pipes share;
  for (const auto field : pipe_fields) {
    const auto whole = static_cast<double>(all.*field);
    const double of_it = whole > 0 ? static_cast<double>(part.*field) / whole : 1.0 / parts;
    share.*field = std::llround(static_cast<double>(made.*field) * of_it);
  }
  return share;
}

std::int64_t sectors(const Work& work) {
  std::int64_t sum = 0;
  for (const Work& one : works_of(work))
    for (const BufferWork& b : one.buffers) sum += b.load.sectors + b.store.sectors + b.atomic.sectors;
  return sum;
}

std::vector<Compulsory> compulsory_of_kernels(const Work& program) {
  std::vector<bool> touched(program.buffers.size()), written(program.buffers.size());  // by a kernel before
  std::vector<Compulsory> all;
  for (const Work& one : works_of(program)) {
    Compulsory& own = all.emplace_back();
    one.buffers.each([&](std::size_t b, const BufferWork& buffer) {
      if (!touched[b] && !buffer.own) own.read += buffer.read_bytes;
      if (!written[b]) own.written += buffer.written_bytes;
      touched[b] = touched[b] || buffer.read_bytes + buffer.written_bytes > 0;
      written[b] = written[b] || buffer.written_bytes > 0;
    });
  }
  return all;
}

std::int64_t sum_of(const std::vector<Compulsory>& kernels) {
  std::int64_t sum = 0;
  for (const Compulsory& one : kernels) sum += one.read + one.written;
  return sum;
}

std::int64_t compulsory_bytes(const Work& work) { return sum_of(compulsory_of_kernels(work)); }

namespace {

void add_traffic(BufferWork& all, const BufferWork& b) {
  for (Traffic BufferWork::*const which : {&BufferWork::load, &BufferWork::store, &BufferWork::atomic}) {
    (all.*which).requests += (b.*which).requests;
    (all.*which).sectors += (b.*which).sectors;
    (all.*which).bytes += (b.*which).bytes;
  }
  all.reload_sectors += b.reload_sectors;
  all.turned_sectors += b.turned_sectors;
}

/// Before their distinct bytes are put together: its own is what all have for themselves.
void add_owner(BufferWork& all, const BufferWork& b) {
  const auto is_own = [](const BufferWork& one) { return one.read_bytes == 0 || one.own; };
  all.own = (all.own || b.own) && is_own(all) && is_own(b);
}

/// What two bodies read, memory delivers to each: they are not in step.
void add_body(BufferWork& all, const BufferWork& b) {
  add_owner(all, b);
  add_traffic(all, b);
  for (std::int64_t BufferWork::*const which :
       {&BufferWork::read_bytes, &BufferWork::written_bytes, &BufferWork::read_sectors, &BufferWork::written_sectors})
    all.*which += b.*which;
  all.block_sectors = std::max(all.block_sectors, b.block_sectors);
  all.shifted_sectors += b.shifted_sectors;
  all.shift_bytes = std::max(all.shift_bytes, b.shift_bytes);
}

/// Instructions, and accesses of shared memory.
void add_counts(Work& all, const Work& one) {
  add(all.pipes, one.pipes, 1);
  for (SharedWork Work::*const which : {&Work::shared_load, &Work::shared_store}) {
    (all.*which).requests += (one.*which).requests;
    (all.*which).bytes += (one.*which).bytes;
    (all.*which).wavefronts += (one.*which).wavefronts;
  }
  all.distributed_bytes += one.distributed_bytes;
  all.shuffles += one.shuffles;
  all.barriers += one.barriers;
  all.cluster_barriers += one.cluster_barriers;
  all.sampled = all.sampled || one.sampled;
}

constexpr double CriticalPath::*path_fields[] = {
    &CriticalPath::memory,     &CriticalPath::shared,  &CriticalPath::shuffle,     &CriticalPath::barrier,
    &CriticalPath::arithmetic, &CriticalPath::xu,      &CriticalPath::far,         &CriticalPath::coherent,
    &CriticalPath::further,    &CriticalPath::cluster, &CriticalPath::distributed, &CriticalPath::turns};

void add(CriticalPath& sum, const CriticalPath& more) {
  for (const auto field : path_fields) sum.*field += more.*field;
}
CriticalPath scaled(CriticalPath path, double by) {
  for (const auto field : path_fields) path.*field *= by;
  return path;
}

}  // namespace

BufferWork buffer_of_program(const Work& program, std::size_t buffer) {
  BufferWork all;
  for (const Work& one : works_of(program)) {
    const BufferWork& b = one.buffers[buffer];
    add_owner(all, b);
    add_traffic(all, b);
    for (std::int64_t BufferWork::*const which :
         {&BufferWork::read_bytes, &BufferWork::written_bytes, &BufferWork::read_sectors, &BufferWork::written_sectors,
          &BufferWork::block_sectors, &BufferWork::shifted_sectors, &BufferWork::shift_bytes})
      all.*which = std::max(all.*which, b.*which);
  }
  return all;
}

Work together(const Work& program) {
  Work all = program;
  all.followers.clear();
  for (std::size_t b = 0; b < all.buffers.size(); ++b) all.buffers[b] = buffer_of_program(program, b);
  for (const Work& one : program.followers) add_counts(all, one);
  return all;
}

namespace {

/// Bodies with blocks of their own side by side, or, of a launch in steps, that share its blocks.
Work side_by_side(const Chain<Work>& bodies, bool share_blocks) {
  Work all = bodies[0];
  all.followers.clear();
  all.begins = ir::Begins::launch;
  if (bodies.size() == 1) return all;
  const auto weight = [](const Work& body) { return static_cast<double>(body.virtual_blocks); };
  all.critical_path = scaled(all.critical_path, weight(all));
  all.bytes_in_flight *= weight(all);
  for (std::size_t i = 1; i < bodies.size(); ++i) {
    const Work& body = bodies[i];
    body.buffers.each([&](std::size_t b, const BufferWork& of_body) { add_body(all.buffers[b], of_body); });
    add_counts(all, body);
    all.virtual_blocks += body.virtual_blocks;
    all.grid += share_blocks ? 0 : body.grid;
    all.cluster = std::max(all.cluster, body.cluster);
    all.min_blocks = std::max(all.min_blocks, body.min_blocks);
    all.shared_bytes = std::max(all.shared_bytes, body.shared_bytes);
    all.live_registers = std::max(all.live_registers, body.live_registers);
    all.early_registers = std::max(all.early_registers, body.early_registers);
    all.busiest_block = std::max(all.busiest_block, body.busiest_block);
    all.code_instructions = std::max(all.code_instructions, body.code_instructions);  // a block runs one of them
    all.loads_in_flight = std::max(all.loads_in_flight, body.loads_in_flight);
    all.bytes_in_flight += weight(body) * body.bytes_in_flight;
    add(all.critical_path, scaled(body.critical_path, weight(body)));
  }
  all.critical_path = scaled(all.critical_path, 1 / weight(all));
  all.bytes_in_flight /= weight(all);
  return all;
}

void add_step(Work& all, const Work& step) {
  step.buffers.each([&](std::size_t b, const BufferWork& of_step) { add_body(all.buffers[b], of_step); });
  add_counts(all, step);
  all.shared_bytes = std::max(all.shared_bytes, step.shared_bytes);
  all.live_registers = std::max(all.live_registers, step.live_registers);
  all.early_registers = std::max(all.early_registers, step.early_registers);
  all.busiest_block += step.busiest_block;
  all.code_instructions += step.code_instructions;
  all.loads_in_flight = std::max(all.loads_in_flight, step.loads_in_flight);
  add(all.critical_path, step.critical_path);
}

/// The steps of a launch as one kernel each, in order.
std::vector<Work> steps_of_launch(const Chain<Work>& launch) {
  const std::vector<Chain<Work>> steps =
      parts_of(launch, [](const Work& one) { return one.begins == ir::Begins::behind; });
  std::vector<Work> works;
  for (const Chain<Work>& bodies : steps) {
    works.push_back(side_by_side(bodies, steps.size() > 1));
    works.back().begins = bodies[0].begins;
  }
  return works;
}

Work chained(std::vector<Work> works) {
  Work all = std::move(works.front());
  all.followers.assign(std::make_move_iterator(works.begin() + 1), std::make_move_iterator(works.end()));
  return all;
}

}  // namespace

Work as_one(const Chain<Work>& launch) {
  std::vector<Work> steps = steps_of_launch(launch);
  Work all = std::move(steps.front());
  for (std::size_t i = 1; i < steps.size(); ++i) add_step(all, steps[i]);
  all.begins = ir::Begins::launch;
  return all;
}

Work by_launch(const Work& program) {
  std::vector<Work> launches;
  for (const Chain<Work>& launch : launches_of(program)) launches.push_back(as_one(launch));
  return chained(std::move(launches));
}

Work by_step(const Work& program) {
  std::vector<Work> all;
  for (const Chain<Work>& launch : launches_of(program)) {
    std::vector<Work> steps = steps_of_launch(launch);
    Work most;
    for (const Work& step : steps) {
      most.shared_bytes = std::max(most.shared_bytes, step.shared_bytes);
      most.live_registers = std::max(most.live_registers, step.live_registers);
      most.early_registers = std::max(most.early_registers, step.early_registers);
    }
    for (Work& step : steps) {
      step.shared_bytes = most.shared_bytes;
      step.live_registers = most.live_registers;
      step.early_registers = most.early_registers;
      all.push_back(std::move(step));
    }
  }
  return chained(std::move(all));
}

double read_footprint(const BufferWork& buffer) {
  return static_cast<double>(std::max(buffer.read_bytes, sector_bytes * buffer.read_sectors));
}

double written_footprint(const BufferWork& buffer) {
  return static_cast<double>(std::max(buffer.written_bytes, sector_bytes * buffer.written_sectors));
}

namespace {

/// An atomic operation reads where it writes.
double asked_of_memory(const BufferWork& buffer) {
  const double read = read_footprint(buffer);
  return buffer.atomic.requests > 0 ? std::max(read, written_footprint(buffer)) : read;
}

}  // namespace

double read_first(const Work& program) {
  double sum = 0;
  std::vector<bool> touched(program.buffers.size());
  for (const Work& one : works_of(program))
    one.buffers.each([&](std::size_t b, const BufferWork& buffer) {
      if (!touched[b] && !buffer.own) sum += asked_of_memory(buffer);
      touched[b] = touched[b] || buffer.read_bytes + buffer.written_bytes > 0;
    });
  return sum;
}

}  // namespace tailor::costmodel
