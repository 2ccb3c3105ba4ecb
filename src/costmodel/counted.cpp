// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work as others than the program's reader count it: the simulator, which executes PTX (level counted), and the reader
// of machine code, which follows its control flow (level compiled). In: the work counted from the program, the binary,
// the counts of a launch. Out: work, and for level counted an Estimate. Called through the table of models.
//
// Machine code. Traffic, wavefronts, the critical path and live registers stay the program's. Multiply-adds of integers
// share the FMA pipe, packed 16-bit arithmetic too. What has no rate of its own (uniform, constants, special registers,
// matrices, fences) takes an issue slot and is counted under `control`.
//
// What an execution counts replaces what was counted from the program: requests, sectors and bytes of each buffer,
// wavefronts and bytes of shared memory, instructions per pipe, shuffles, barriers. What it cannot tell stays:
// distinct bytes, the critical path, the registers that are live. PTX has one class of conversions, so they are split
// into its kinds in the proportion of the program.
//
// Counts are of PTX. Addresses therefore stand among its integer operations and `address` becomes 0. Moves are left
// out, since the assembler folds nearly all of them. The busiest block grows by as much as all instructions do. Where
// only some blocks ran the counts were scaled up, and the estimate is marked as sampled.
#include <algorithm>
#include <cmath>

#include "base/indexed.h"
#include "costmodel/model.h"

namespace tailor::costmodel {

namespace {

std::int64_t whole(double count) { return static_cast<std::int64_t>(std::llround(count)); }

Traffic traffic(const ir::AccessCounts& counts) {
  return {whole(counts.requests), whole(counts.sectors), whole(counts.bytes)};
}

}  // namespace

namespace {

/// `part` of `whole`, or of nothing an equal share.
double share_of(double part, double whole, std::size_t kernels) {
  return whole > 0 ? part / whole : 1 / static_cast<double>(kernels);
}

/// Of what all launches of a program counted together, that of one: in the proportion of the program's own counts.
ir::LaunchCounts counts_of(const Work& program, std::size_t kernel, const ir::LaunchCounts& all) {
  const Chain<Work> works = works_of(program);
  Work one = works[kernel];
  one.followers.clear();
  ir::LaunchCounts counts = all;
  for (const ir::CounterRow& row : ir::counter_table()) {
    if (row.launch != nullptr) {
      // What the program does not count goes with its instructions.
      const std::string_view by = model_count(program, row.name) ? row.name : std::string_view("instructions");
      counts.*row.launch *=
          share_of(model_count(one, by).value_or(0), model_count(program, by).value_or(0), works.size());
    }
    if (row.direction == nullptr) continue;
    for (std::size_t b = 0; b < counts.buffers.size() && b < one.buffers.size(); ++b)
      counts.buffers[b].*row.direction.*row.part *=
          share_of(model_count(one.buffers[b], row.name).value_or(0),
                   model_count(buffer_of_program(program, b), row.name).value_or(0), works.size());
  }
  return counts;
}

/// Of one kernel.
Work with_own_counts(const Work& work, const ir::LaunchCounts& counts) {
  Work seen = work;
  double requests = counts.shared_load_requests + counts.shared_store_requests;
  for (std::size_t i = 0; i < seen.buffers.size() && i < counts.buffers.size(); ++i) {
    const ir::BufferCounts& from = counts.buffers[i];
    BufferWork& to = seen.buffers[i];
    to.load = traffic(from.load);
    to.store = traffic(from.store);
    to.atomic = traffic(from.atomic);
    to.reload_sectors = std::min(to.reload_sectors, to.load.sectors);
    to.turned_sectors = std::min(to.turned_sectors, to.reload_sectors);
    requests += from.load.requests + from.store.requests + from.atomic.requests;
  }
  seen.shared_load = {whole(counts.shared_load_requests), whole(counts.shared_load_bytes),
                      whole(counts.shared_load_wavefronts)};
  seen.shared_store = {whole(counts.shared_store_requests), whole(counts.shared_store_bytes),
                       whole(counts.shared_store_wavefronts)};
  seen.shuffles = whole(counts.shuffles);
  seen.barriers = whole(counts.block_barriers);
  seen.pipes.fma = whole(counts.fma);
  seen.pipes.alu = whole(counts.alu + counts.votes);
  seen.pipes.extremes = 0;  // PTX has what its architecture takes for them
  seen.pipes.xu = whole(counts.xu);
  seen.pipes.f64 = whole(counts.f64);
  // PTX has one class of conversions; the program knows their kinds.
  const auto program = static_cast<double>(conversions(work.pipes));
  const auto of_kind = [&](std::int64_t asked) {
    return program > 0 ? whole(counts.convert * static_cast<double>(asked) / program) : 0;
  };
  seen.pipes.widen = of_kind(work.pipes.widen);
  seen.pipes.pack = of_kind(work.pipes.pack);
  seen.pipes.number = of_kind(work.pipes.number);
  const std::int64_t others = seen.pipes.widen + seen.pipes.pack + seen.pipes.number;
  seen.pipes.narrow = std::max<std::int64_t>(0, whole(counts.convert) - others);  // all three may be rounded up
  seen.pipes.memory = whole(requests);
  seen.pipes.shuffle = seen.shuffles;
  seen.pipes.barrier = seen.barriers;
  seen.pipes.control = whole(counts.control);
  seen.pipes.address = 0;
  const auto before = static_cast<double>(instructions(work.pipes));
  const double growth = before > 0 ? static_cast<double>(instructions(seen.pipes)) / before : 1;
  seen.busiest_block = whole(static_cast<double>(work.busiest_block) * growth);
  seen.sampled = counts.blocks_run < counts.blocks_total;
  return seen;
}

}  // namespace

Work with_counts(const Work& work, const ir::LaunchCounts& counts) {
  if (work.followers.empty()) return with_own_counts(work, counts);
  Work seen = with_own_counts(work, counts_of(work, 0, counts));
  for (std::size_t k = 0; k < work.followers.size(); ++k)
    seen.followers[k] = with_own_counts(work.followers[k], counts_of(work, k + 1, counts));
  return seen;
}

ir::MachineRequests program_requests(const Work& work) {
  ir::MachineRequests requests;
  for (const BufferWork& buffer : work.buffers) {
    requests.global_loads += buffer.load.requests;
    requests.global_stores += buffer.store.requests;
    requests.global_atomics += buffer.atomic.requests;
  }
  requests.shared_loads = work.shared_load.requests;
  requests.shared_stores = work.shared_store.requests;
  requests.shuffles = work.shuffles;
  requests.barriers = work.barriers;
  return requests;
}

Work with_machine(const Work& work, const ir::MachineWork& machine) {
  if (!work.followers.empty()) {
    Work all = work;
    all.followers.clear();
    all = with_machine(all, machine);
    for (std::size_t k = 0; k < work.followers.size(); ++k)
      all.followers.push_back(k < machine.followers.size() ? with_machine(work.followers[k], machine.followers[k])
                                                           : work.followers[k]);
    return all;
  }
  if (!machine.counted) return work;
  const auto executed = [&](ir::MachinePipe pipe) { return row_for(machine.executed, pipe); };
  using ir::MachinePipe;
  Work seen = work;
  seen.pipes = {};
  seen.pipes.fma = executed(MachinePipe::fma) + executed(MachinePipe::half);
  seen.pipes.integer = executed(MachinePipe::integer);
  seen.pipes.alu = executed(MachinePipe::alu);
  seen.pipes.xu = executed(MachinePipe::xu);
  seen.pipes.f64 = executed(MachinePipe::f64);
  seen.pipes.widen = executed(MachinePipe::widen);
  seen.pipes.narrow = executed(MachinePipe::narrow);
  seen.pipes.memory = executed(MachinePipe::memory);
  seen.pipes.shuffle = executed(MachinePipe::shuffle);
  seen.pipes.barrier = executed(MachinePipe::barrier);
  seen.pipes.control = ir::total(machine.executed) - instructions(seen.pipes);
  const auto before = static_cast<double>(instructions(work.pipes));
  const double growth = before > 0 ? static_cast<double>(instructions(seen.pipes)) / before : 1;
  seen.busiest_block = std::llround(static_cast<double>(work.busiest_block) * growth);
  return seen;
}

Work executed_by_step(const Work& program, const ir::MachineWork& machine) {
  const Work launches = by_launch(program), executed = with_machine(launches, machine);
  std::vector<int> steps;  // of each launch
  for (const Chain<Work>& bodies : steps_of(program)) {
    if (bodies[0].begins == ir::Begins::launch) steps.push_back(0);
    ++steps.back();
  }
  Work all = by_step(program);
  const auto share_out = [&](Work& step, std::size_t launch) {
    const Work &asked = works_of(launches)[launch], &made = works_of(executed)[launch];
    const auto before = static_cast<double>(instructions(step.pipes));
    step.pipes = shared_out(step.pipes, asked.pipes, made.pipes, steps[launch]);
    const double growth = before > 0 ? static_cast<double>(instructions(step.pipes)) / before : 1;
    step.busiest_block = std::llround(static_cast<double>(step.busiest_block) * growth);
  };
  std::size_t launch = 0;
  share_out(all, launch);
  for (Work& step : all.followers) share_out(step, step.begins == ir::Begins::launch ? ++launch : launch);
  return all;
}

ir::Estimate counted(const Work& work, const ir::Binary& binary, const ir::LaunchCounts& counts,
                     const CalibratedDevice& device, const ir::Regime& regime) {
  ir::Estimate estimate = compiled(with_counts(work, counts), binary, device, regime);
  estimate.level = ir::Level::counted;
  return estimate;
}

}  // namespace tailor::costmodel
