// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch. In: a program, a launch, memory, options. Out: a Simulation: how it ended, findings, counters. Resident
// sets are given to host threads where blocks cannot talk to one another, and to one thread where they can; everything
// that was counted and found is summed up in an order that does not depend on the threads.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "profiler/simulator/machine/launch_memory.h"
#include "profiler/simulator/machine/print.h"

namespace tailor::simulator {
namespace {

/// Of the host, for the registers and shared memory of blocks that must all be resident.
constexpr std::int64_t most_resident_bytes = std::int64_t{8} << 30;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// An element may be declared wider than the program's accesses are: a granule is never wider than either.
std::vector<ShadowBuffer> shadow_buffers(const Memory::Body& memory, int grain) {
  std::vector<ShadowBuffer> all;
  for (const MemoryBuffer& one : memory.buffers) {
    ShadowBuffer made;
    made.bytes = one.bytes;
    made.granule = std::min(grain, one.element_bytes >= 4 ? 4 : one.element_bytes == 2 ? 2 : 1);
    made.tracked = one.use != BufferUse::input;
    made.initialised = one.use != BufferUse::output;
    made.written = one.written;
    all.push_back(made);
  }
  return all;
}

/// What this launch wrote holds a value in the next, but for buffers that serve one launch. Where nobody watched, all
/// of the outputs counts as written.
void remember_written(Memory::Body& memory, const GlobalShadow* shadow) {
  for (std::size_t i = 0; i < memory.buffers.size(); ++i) {
    MemoryBuffer& one = memory.buffers[i];
    if (one.use != BufferUse::output || one.lazy != nullptr) continue;
    if (shadow != nullptr) {
      one.written = shadow->written(static_cast<int>(i));
    } else {
      one.written.assign(static_cast<std::size_t>((one.bytes + 31) / 32), ~0u);
    }
  }
}

std::int64_t unwritten_bytes(const MemoryBuffer& buffer) {
  if (buffer.use != BufferUse::output || buffer.lazy != nullptr) return 0;
  std::int64_t missing = 0;
  for (std::int64_t first = 0; first < buffer.bytes; first += 32) {
    const std::uint32_t word = buffer.written[static_cast<std::size_t>(first / 32)];
    if (word == ~0u) continue;  // nearly always
    const std::int64_t count = std::min<std::int64_t>(buffer.bytes - first, 32);
    missing += std::popcount(~word & (count == 32 ? ~0u : (1u << count) - 1));
  }
  return missing;
}

void count_blocks(const DecodedProgram& program, const Machine& machine, Counters& to) {
  constexpr std::int64_t Counters::*by_pipe[pipe_count] = {
      &Counters::fma,  &Counters::alu,     &Counters::xu,    &Counters::f64,      &Counters::convert,
      &Counters::move, &Counters::control, nullptr,          &Counters::shuffles, &Counters::votes,
      nullptr,         &Counters::fences,  &Counters::matrix};
  for (std::size_t b = 0; b < program.code.size(); ++b) {
    const CodeBlock& code = program.code[b];
    const auto runs = static_cast<std::int64_t>(machine.block_runs[b]);
    const auto joins = static_cast<std::int64_t>(machine.block_joins[b]);
    to.instructions += runs * code.instructions - joins;
    to.lane_instructions += static_cast<std::int64_t>(machine.block_lanes[b]) * code.instructions;
    for (std::size_t p = 0; p < pipe_count; ++p)
      if (by_pipe[p] != nullptr) to.*by_pipe[p] += runs * code.pipes[p];
    if (const auto ended = row_for(by_pipe, code.ending_pipe); ended != nullptr) to.*ended -= joins;
    to.warp_barriers += runs * code.warp_barriers - (code.warp_barriers > 0 ? joins : 0);
    to.block_barriers += runs * code.block_barriers - (code.block_barriers > 0 ? joins : 0);
    to.cluster_barriers += runs * code.cluster_barriers;
    to.async_copies += runs * code.async_copies;
  }
}

Finding to_finding(const DecodedProgram& program, const Memory::Body& memory, const ShadowFinding& one) {
  ShadowNames names;
  names.line = [&](std::uint32_t site) { return place_of(program, site); };
  names.shared = [&](std::int64_t offset, int bytes) {
    const auto& arrays = program.shared_arrays;
    const auto holds = [&](const SharedArray& each) {
      return offset >= each.offset && offset < each.offset + each.bytes;
    };
    const auto in = std::find_if(arrays.begin(), arrays.end(), holds);
    if (in == arrays.end()) {
      const std::int64_t first = offset - program.dynamic_offset;
      return fmt::format("{}shared[{}..{})", arrays.empty() ? "" : "dynamic ", first, first + bytes);
    }
    const std::int64_t first = offset - in->offset;
    return fmt::format("shared{}[{}..{})", arrays.size() == 1 ? "" : " " + source_symbol(in->name), first,
                       first + bytes);
  };
  names.global = [&](int buffer, std::int64_t offset, int bytes) {
    const MemoryBuffer& at = memory.buffers[buffer];
    const std::int64_t first = offset / at.element_bytes, last = (offset + bytes - 1) / at.element_bytes;
    return first == last ? fmt::format("{}[{}]", at.name, first) : fmt::format("{}[{}..{}]", at.name, first, last);
  };
  Finding made;
  made.kind = one.fault == ShadowFault::race      ? FindingKind::race
              : one.fault == ShadowFault::stale   ? FindingKind::race
              : one.fault == ShadowFault::pending ? FindingKind::async_misuse
                                                  : FindingKind::uninitialised_read;
  made.text = text(one, names);
  if (const std::size_t head = made.text.find(": "); head < 16) made.text.erase(0, head + 2);
  if (one.here.site < program.sites.size()) {
    const SiteText& at = program.sites[one.here.site];
    made.ptx_line = at.line;
    made.source_line = at.source.line;
    made.source_file = source_name(program, at.source);
  }
  made.block = one.here.block;
  made.warp = one.here.warp;
  made.lane = one.here.lane;
  made.buffer = one.region;
  made.times = one.times;
  return made;
}

Extent3 cluster_of(const DecodedProgram& program, const Launch& launch) {
  Extent3 cluster = launch.cluster;
  if (program.function->cluster[0] != 0)
    for (std::size_t d = 0; d < 3; ++d) cluster[d] = std::max(program.function->cluster[d], 1u);
  return cluster;
}

/// Blocks of this launch that an SM can hold: known, or a bound from above; 0: neither.
std::int64_t resident_per_sm(const DecodedProgram& program, const Launch& launch, const MachineLimits& machine) {
  if (machine.blocks_per_sm != 0) return machine.blocks_per_sm;
  std::int64_t most = machine.most_blocks_per_sm;
  const auto bound = [&](std::int64_t all, std::int64_t each) {
    if (all != 0 && each != 0) most = most == 0 ? all / each : std::min(most, all / each);
  };
  bound(machine.threads_per_sm, (volume(launch.block) + lanes_per_warp - 1) / lanes_per_warp * lanes_per_warp);
  const std::int64_t shared = program.dynamic_offset - program.guard_bytes + launch.dynamic_shared;
  bound(machine.shared_per_sm, shared + machine.shared_reserved);
  return most;
}

/// Why the launch does not run at all; it did not if this sets the outcome.
bool refused(const DecodedProgram& program, const Launch& launch, const Memory& memory, const Extent3& cluster,
             const SimulationOptions& options, Simulation& result) {
  if (!program.unsupported.empty()) {
    result.outcome = SimulationOutcome::unsupported;
    result.reason = program.unsupported;
    return true;
  }
  result.reason = refusal(program, launch, memory, cluster, options);
  const std::int64_t each_sm = resident_per_sm(program, launch, options.machine);
  const std::int64_t limit = options.machine.sms * each_sm;
  if (result.reason.empty() && launch.cooperative && limit != 0 && volume(launch.grid) > limit) {
    result.reason = fmt::format("a cooperative launch of {} blocks, of which {} can be resident: {} on each of {} SMs",
                                volume(launch.grid), limit, each_sm, options.machine.sms);
    Finding made;
    made.kind = FindingKind::launch;
    made.text = result.reason;
    result.findings.push_back(std::move(made));
  }
  if (result.reason.empty() && launch.cooperative) {
    const std::int64_t warps = (volume(launch.block) + lanes_per_warp - 1) / lanes_per_warp;
    const std::int64_t each = warps * (program.frame_bytes + lanes_per_warp * program.local_bytes) +
                              program.dynamic_offset + launch.dynamic_shared;
    if (each * volume(launch.grid) > most_resident_bytes)
      result.reason =
          fmt::format("{} blocks that must all be resident, each of {} bytes of registers and shared memory",
                      volume(launch.grid), each);
  }
  if (result.reason.empty()) return false;
  result.outcome = SimulationOutcome::refused;
  return true;
}

/// Units that run: all of the grid, or those that hold the chosen blocks.
struct ResidentSets {
  std::int64_t each = 1, count = 0;
  std::vector<std::int64_t> chosen;  ///< first blocks; empty: all
  std::int64_t first_block(std::int64_t set) const {
    return chosen.empty() ? set * each : chosen[static_cast<std::size_t>(set)];
  }
};

ResidentSets find_resident_sets(const LaunchState& state) {
  const std::int64_t blocks = volume(state.launch.grid);
  ResidentSets sets{state.blocks_per_set, blocks / state.blocks_per_set, {}};
  if (state.options.blocks.empty() || state.launch.cooperative) return sets;
  for (const std::int64_t b : state.options.blocks) {
    const std::int64_t first = b / sets.each * sets.each;
    if (b >= 0 && b < blocks && (sets.chosen.empty() || sets.chosen.back() != first)) sets.chosen.push_back(first);
  }
  sets.count = static_cast<std::int64_t>(sets.chosen.size());
  return sets;
}

using Machines = std::vector<std::unique_ptr<Machine>>;

void run_resident_sets(const Machines& machines, const ResidentSets& sets) {
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> stop{false};
  const auto work = [&](Machine& machine) {
    while (!stop.load(std::memory_order_relaxed)) {
      const std::int64_t set = next.fetch_add(1, std::memory_order_relaxed);
      if (set >= sets.count) break;
      machine.run_resident_set(sets.first_block(set), set);
      machine.look_up();
      if (machine.stopped) stop = true;
    }
    machine.flush_sites();
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < machines.size(); ++t) others.emplace_back([&, t] { work(*machines[t]); });
  work(*machines[0]);
}

/// Sums what the machines counted and found.
void gather(const LaunchState& state, const Machines& machines, Simulation& result) {
  const DecodedProgram& program = state.program;
  std::vector<Findings*> found;
  std::vector<std::vector<ShadowFinding>> shadow_found;
  std::vector<PrintedText> printed;
  result.buffers.assign(state.memory.buffers.size(), {});
  result.sites.resize(program.memory_sites.size());
  for (const auto& machine : machines) {
    found.push_back(&machine->findings);
    if (machine->shadow) shadow_found.push_back(machine->shadow->findings());
    result.blocks_run += machine->blocks_done;
    count_blocks(program, *machine, result.counters);
    for (const CounterRow& row : counter_table()) result.counters.*row.value += machine->memory_counters.*row.value;
    for (std::size_t b = 0; b < result.buffers.size(); ++b) add(result.buffers[b], machine->buffers[b]);
    for (std::size_t s = 0; s < result.sites.size(); ++s) add(result.sites[s].counts, machine->site_totals[s].counts);
    printed.insert(printed.end(), machine->printed.begin(), machine->printed.end());
    result.printed_all = result.printed_all && machine->printed_all;
    if (machine->stopped && result.outcome == SimulationOutcome::finished) {
      result.outcome = machine->out_of_memory ? SimulationOutcome::out_of_memory : SimulationOutcome::stopped;
      result.reason = machine->stop_reason;
    }
  }
  for (std::size_t s = 0; s < result.sites.size(); ++s) {
    const SiteText& at = program.sites[program.memory_sites[s].site];
    result.sites[s].ptx_line = at.line;
    result.sites[s].source_line = at.source.line;
    result.sites[s].opcode = at.opcode;
  }
  std::stable_sort(printed.begin(), printed.end(),
                   [](const PrintedText& a, const PrintedText& b) { return a.first_block < b.first_block; });
  for (const PrintedText& one : printed) result.printed += one.text;
  if (result.printed.size() > most_printed) {
    result.printed.resize(most_printed);
    result.printed_all = false;
  }
  Findings of_shadow;
  for (const ShadowFinding& one : merged_findings(shadow_found))
    of_shadow.add(one.here.site, to_finding(program, state.memory, one));
  found.push_back(&of_shadow);
  result.findings = Findings::merged(found, state.options.most_findings);
}

}  // namespace

Simulation simulate(const Program& entry, const Launch& launch, Memory& memory, const SimulationOptions& options) {
  const Clock::time_point started = Clock::now();
  const DecodedProgram& program = entry.decoded();
  Simulation result;
  const Extent3 cluster = cluster_of(program, launch);
  if (refused(program, launch, memory, cluster, options, result)) return result;
  const auto caller_buffers = static_cast<std::size_t>(memory.buffers());
  const LaunchMemory launch_memory(program, launch, memory);
  LaunchState state{program, launch, memory.body(), options};
  state.cluster = cluster;
  state.threads_per_block = static_cast<int>(volume(launch.block));
  state.warps_per_block = (state.threads_per_block + lanes_per_warp - 1) / lanes_per_warp;
  state.shared_bytes = program.dynamic_offset + launch.dynamic_shared;
  result.blocks_total = volume(launch.grid);
  state.blocks_per_set = static_cast<int>(launch.cooperative ? result.blocks_total : volume(cluster));
  const AlignedBytes launch_bank = make_launch_bank(state, launch_memory), thread_bank = make_thread_bank(state);
  state.launch_bank = launch_bank.data;
  state.thread_bank = thread_bank.data;

  const ResidentSets sets = find_resident_sets(state);
  const bool alone = program.orders_memory || launch.cooperative;
  const std::size_t threads =
      std::clamp<std::size_t>(alone ? 1 : static_cast<std::size_t>(std::max(options.threads, 1)), 1,
                              static_cast<std::size_t>(std::max<std::int64_t>(sets.count, 1)));
  std::unique_ptr<GlobalShadow> shadow;
  if (options.sanitize)
    shadow = std::make_unique<GlobalShadow>(shadow_buffers(memory.body(), program.global_grain), threads > 1);
  state.shadow = shadow.get();
  std::unique_ptr<CacheModel> cache;
  if (options.count_cache)
    cache = std::make_unique<CacheModel>(global_base, memory.body().end, CacheShape{0, options.machine.l2_bytes});
  state.cache = cache.get();

  Machines machines;
  for (std::size_t t = 0; t < threads; ++t) machines.push_back(std::make_unique<Machine>(state));
  run_resident_sets(machines, sets);
  gather(state, machines, result);
  remember_written(memory.body(), shadow.get());
  result.buffers.resize(caller_buffers);
  for (std::size_t b = 0; b < caller_buffers; ++b)
    result.unwritten.push_back(shadow ? unwritten_bytes(memory.body().buffers[b]) : 0);
  if (cache) {
    const CacheTraffic traffic = cache->total();
    result.counters.l2_read_bytes = traffic.l2_read_bytes;
    result.counters.l2_write_bytes = traffic.l2_write_bytes;
    result.counters.dram_read_bytes = traffic.dram_read_bytes;
    result.counters.dram_write_bytes = traffic.dram_write_bytes;
  }
  result.time = {seconds_since(started)};
  return result;
}

}  // namespace tailor::simulator
