// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch: what a driver would check, parameters and variables in place, blocks given to host threads where blocks
// cannot talk to one another, and everything that was seen summed up.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"
#include "simulator/handlers.h"
#include "simulator/machine.h"

namespace tailor::simulator {
namespace {

constexpr std::size_t slot_bytes = 128;

struct AlignedBytes {
  std::vector<std::byte> storage;
  std::byte* data = nullptr;
  explicit AlignedBytes(std::size_t bytes) : storage(bytes + slot_bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(storage.data());
    data = storage.data() + (slot_bytes - at % slot_bytes) % slot_bytes;
  }
};

std::int64_t volume(const Extent3& e) { return std::int64_t{e[0]} * e[1] * e[2]; }

/// Why a driver would refuse the launch; empty: it would not.
std::string refusal(const Program::Body& program, const Launch& launch, const Memory& memory, const Extent3& cluster,
                    const SimulationOptions& options) {
  const auto text = [](const Extent3& e) { return fmt::format("{} x {} x {}", e[0], e[1], e[2]); };
  if (volume(launch.grid) <= 0 || volume(launch.block) <= 0)
    return fmt::format("the grid is {} and the block {}; no extent may be 0", text(launch.grid), text(launch.block));
  if (volume(launch.block) > 1024) return fmt::format("the block is {}, more than 1024 threads", text(launch.block));
  const PtxFunction& entry = *program.function;
  if (entry.reqntid[0] != 0) {
    Extent3 wanted = entry.reqntid;
    for (std::uint32_t& one : wanted) one = std::max(one, 1u);
    if (wanted != launch.block)
      return fmt::format("the block is {}, the entry asks for {}", text(launch.block), text(wanted));
  }
  if (entry.maxntid[0] != 0) {
    std::int64_t most = 1;
    for (const std::uint32_t one : entry.maxntid) most *= std::max(one, 1u);
    if (volume(launch.block) > most)
      return fmt::format("the block is {}, the entry allows {} threads", text(launch.block), most);
  }
  for (std::size_t d = 0; d < 3; ++d)
    if (cluster[d] == 0 || launch.grid[d] % cluster[d] != 0)
      return fmt::format("the grid {} is no multiple of the cluster {}", text(launch.grid), text(cluster));
  if (launch.arguments.size() != program.params.size())
    return fmt::format("{} arguments were given, {} takes {}", launch.arguments.size(), program.entry,
                       program.params.size());
  for (std::size_t k = 0; k < launch.arguments.size(); ++k) {
    const Argument& one = launch.arguments[k];
    const std::int64_t given = one.buffer >= 0 ? 8 : static_cast<std::int64_t>(one.value.size());
    if (given != program.params[k].bytes)
      return fmt::format("argument {} has {} bytes, parameter {} has {}", k, given, k, program.params[k].bytes);
    if (one.buffer >= memory.buffers())
      return fmt::format("argument {} names buffer {} of {}", k, one.buffer, memory.buffers());
  }
  const std::int64_t shared = program.dynamic_offset + launch.dynamic_shared;
  if (const std::int64_t most = options.machine.shared_per_block; most != 0 && shared > most)
    return fmt::format("a block needs {} bytes of shared memory, the machine allows {}", shared, most);
  constexpr std::int64_t most_local = 512 << 10;  // of a thread, on every machine so far
  if (program.local_bytes > most_local)
    return fmt::format("a thread needs {} bytes of local memory, more than {}", program.local_bytes, most_local);
  if (shared >= std::int64_t{1} << shared_rank_shift)
    return fmt::format("{} bytes of shared memory in a block", shared);
  return {};
}

void fill_slot(std::byte* at, int bits, std::uint64_t value) {
  if (bits == 64) {
    auto* to = reinterpret_cast<std::uint64_t*>(at);
    std::fill(to, to + lanes_per_warp, value);
  } else {
    auto* to = reinterpret_cast<std::uint32_t*>(at);
    std::fill(to, to + lanes_per_warp, static_cast<std::uint32_t>(value));
  }
}

std::uint64_t param_value(const std::vector<std::byte>& params, const LaunchConstant& one) {
  std::uint64_t value = 0;
  std::memcpy(&value, params.data() + one.value, one.bytes);
  if (one.sign && one.bytes < 8) {
    const int shift = 64 - 8 * one.bytes;
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
  }
  return value;
}

std::uint64_t special_value(const LaunchState& state, SpecialId id) {
  const Launch& launch = state.launch;
  const auto clusters = [&](std::size_t d) { return launch.grid[d] / state.cluster[d]; };
  switch (id) {
    case SpecialId::ntid_x:
      return launch.block[0];
    case SpecialId::ntid_y:
      return launch.block[1];
    case SpecialId::ntid_z:
      return launch.block[2];
    case SpecialId::nctaid_x:
      return launch.grid[0];
    case SpecialId::nctaid_y:
      return launch.grid[1];
    case SpecialId::nctaid_z:
      return launch.grid[2];
    case SpecialId::nwarpid:
      return static_cast<std::uint64_t>(state.warps_per_block);
    case SpecialId::nsmid:
      return static_cast<std::uint64_t>(std::max(state.options.machine.sms, 1));
    case SpecialId::gridid:
      return 1;
    case SpecialId::warp_size:
      return lanes_per_warp;
    case SpecialId::dynamic_smem_size:
      return static_cast<std::uint64_t>(launch.dynamic_shared);
    case SpecialId::total_smem_size:
    case SpecialId::aggr_smem_size:
      return static_cast<std::uint64_t>(state.shared_bytes);
    case SpecialId::is_explicit_cluster:
      return state.program.function->explicit_cluster ? all_lanes : 0;
    case SpecialId::nclusterid_x:
      return clusters(0);
    case SpecialId::nclusterid_y:
      return clusters(1);
    case SpecialId::nclusterid_z:
      return clusters(2);
    case SpecialId::cluster_nctaid_x:
      return state.cluster[0];
    case SpecialId::cluster_nctaid_y:
      return state.cluster[1];
    case SpecialId::cluster_nctaid_z:
      return state.cluster[2];
    case SpecialId::cluster_nctarank:
      return static_cast<std::uint64_t>(volume(state.cluster));
    default:
      return 0;
  }
}

void fill_thread_bank(std::byte* bank, const LaunchState& state) {
  const Extent3& block = state.launch.block;
  for (int warp = 0; warp < state.warps_per_block; ++warp) {
    std::byte* mine = bank + static_cast<std::size_t>(warp) * thread_bank_slots * slot_bytes;
    const auto put = [&](SpecialId id, int lane, std::uint32_t value) {
      reinterpret_cast<std::uint32_t*>(mine + special_row(id).index * slot_bytes)[lane] = value;
    };
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
      const auto thread = static_cast<std::uint32_t>(warp * lanes_per_warp + lane);
      put(SpecialId::tid_x, lane, thread % block[0]);
      put(SpecialId::tid_y, lane, thread / block[0] % block[1]);
      put(SpecialId::tid_z, lane, thread / block[0] / block[1]);
      put(SpecialId::laneid, lane, static_cast<std::uint32_t>(lane));
      put(SpecialId::warpid, lane, static_cast<std::uint32_t>(warp));
      const std::uint32_t bit = 1u << lane;
      put(SpecialId::lanemask_eq, lane, bit);
      put(SpecialId::lanemask_lt, lane, bit - 1);
      put(SpecialId::lanemask_le, lane, bit | (bit - 1));
      put(SpecialId::lanemask_ge, lane, ~(bit - 1));
      put(SpecialId::lanemask_gt, lane, ~(bit | (bit - 1)));
    }
  }
}

/// The parameter block and the module's variables as buffers that come after the caller's; removed at the end.
class Placed {
 public:
  Placed(const Program::Body& program, const Launch& launch, Memory& memory)
      : memory_(memory), first_(memory.buffers()) {
    params_.resize(static_cast<std::size_t>(program.param_bytes));
    for (std::size_t k = 0; k < launch.arguments.size(); ++k) {
      const Argument& one = launch.arguments[k];
      std::byte* to = params_.data() + program.params[k].offset;
      if (one.buffer >= 0) {
        const std::uint64_t address = memory.address(one.buffer) + static_cast<std::uint64_t>(one.offset);
        std::memcpy(to, &address, sizeof address);
      } else {
        std::memcpy(to, one.value.data(), one.value.size());
      }
    }
    const int block = memory.add("parameters", std::max<std::int64_t>(program.param_bytes, 8), 1, BufferUse::input);
    std::memcpy(memory.bytes(block).data(), params_.data(), params_.size());
    addresses_.push_back(memory.address(block));
    for (std::size_t k = 1; k < program.variables.size(); ++k) {
      const PtxVariable* variable = program.variables[k].variable;
      if (program.variables[k].shared) {
        addresses_.push_back(0);
        continue;
      }
      const bool constant = variable->space == PtxSpace::constant;
      const int made =
          memory.add(std::string(variable->name), variable->bytes, static_cast<int>(variable->element_bytes),
                     constant ? BufferUse::input : BufferUse::both);
      if (!variable->initial.empty())
        std::memcpy(memory.bytes(made).data(), variable->initial.data(),
                    std::min(variable->initial.size(), memory.bytes(made).size()));
      addresses_.push_back(memory.address(made));
    }
    for (std::size_t k = 1; k < program.variables.size(); ++k) relocate(program, k);
  }

  ~Placed() {
    Memory::Body& body = memory_.body();
    body.buffers.resize(static_cast<std::size_t>(first_));
    body.pages.resize(static_cast<std::size_t>(first_));
    if (!addresses_.empty()) body.end = static_cast<std::int64_t>(addresses_[0] - global_base);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  const std::vector<std::byte>& params() const { return params_; }
  std::uint64_t address(std::uint32_t variable) const { return addresses_[variable]; }

 private:
  void relocate(const Program::Body& program, std::size_t k) {
    const PlacedVariable& one = program.variables[k];
    if (one.shared) return;
    for (const PtxVariable::Address& part : one.variable->addresses)
      for (std::size_t other = 1; other < program.variables.size(); ++other) {
        if (program.variables[other].variable->name != part.symbol) continue;
        const std::uint64_t value = addresses_[other] + static_cast<std::uint64_t>(part.addend);
        Memory::Body& body = memory_.body();
        const int buffer = body.holding(addresses_[k]);
        std::memcpy(memory_.bytes(buffer).data() + part.offset, &value, sizeof value);
      }
  }

  Memory& memory_;
  int first_;
  std::vector<std::byte> params_;
  std::vector<std::uint64_t> addresses_;
};

std::vector<ShadowBuffer> shadow_buffers(const Memory::Body& memory) {
  std::vector<ShadowBuffer> all;
  for (const MemoryBuffer& one : memory.buffers) {
    ShadowBuffer made;
    made.bytes = one.bytes;
    made.granule = one.element_bytes >= 4 ? 4 : one.element_bytes == 2 ? 2 : 1;
    made.tracked = one.use != BufferUse::input;
    made.initialised = one.use != BufferUse::output;
    all.push_back(made);
  }
  return all;
}

void count_blocks(const Program::Body& program, const Machine& machine, Counters& to) {
  constexpr std::int64_t Counters::*by_pipe[pipe_count] = {
      &Counters::fma,  &Counters::alu,     &Counters::xu,    &Counters::f64,      &Counters::convert,
      &Counters::move, &Counters::control, nullptr,          &Counters::shuffles, &Counters::votes,
      nullptr,         &Counters::fences,  &Counters::matrix};
  for (std::size_t b = 0; b < program.code.size(); ++b) {
    const CodeBlock& code = program.code[b];
    const auto runs = static_cast<std::int64_t>(machine.block_runs[b]);
    to.instructions += runs * code.instructions;
    to.lane_instructions += static_cast<std::int64_t>(machine.block_lanes[b]) * code.instructions;
    for (std::size_t p = 0; p < pipe_count; ++p)
      if (by_pipe[p] != nullptr) to.*by_pipe[p] += runs * code.pipes[p];
    to.warp_barriers += runs * code.warp_barriers;
    to.block_barriers += runs * code.block_barriers;
    to.cluster_barriers += runs * code.cluster_barriers;
    to.async_copies += runs * code.async_copies;
  }
}

Finding finding_of(const Program::Body& program, const Memory::Body& memory, const ShadowFinding& one) {
  ShadowNames names;
  names.line = [&](std::uint32_t site) {
    if (site >= program.sites.size()) return std::string("an unknown line");
    const SiteText& at = program.sites[site];
    return at.source.line ? fmt::format("line {}", at.source.line) : fmt::format("PTX line {}", at.line);
  };
  names.global = [&](int buffer, std::int64_t offset, int bytes) {
    const MemoryBuffer& at = memory.buffers[static_cast<std::size_t>(buffer)];
    const std::int64_t first = offset / at.element_bytes, last = (offset + bytes - 1) / at.element_bytes;
    return first == last ? fmt::format("{}[{}]", at.name, first) : fmt::format("{}[{}..{}]", at.name, first, last);
  };
  Finding made;
  made.kind = one.fault == ShadowFault::race      ? FindingKind::race
              : one.fault == ShadowFault::pending ? FindingKind::async_misuse
                                                  : FindingKind::uninitialised_read;
  made.text = text(one, names);
  if (const std::size_t head = made.text.find(": "); head < 16) made.text.erase(0, head + 2);
  if (one.here.site < program.sites.size()) {
    const SiteText& at = program.sites[one.here.site];
    made.ptx_line = at.line;
    made.source_line = at.source.line;
    if (at.source.file < program.module->source_files.size())
      made.source_file = program.module->source_files[at.source.file];
  }
  made.block = one.here.block;
  made.warp = one.here.warp;
  made.lane = one.here.lane;
  made.buffer = one.region;
  made.times = one.times;
  return made;
}

}  // namespace

Simulation simulate(const Program& decoded, const Launch& launch, Memory& memory, const SimulationOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const Program::Body& program = decoded.body();
  Simulation result;
  if (!program.unsupported.empty()) {
    result.outcome = SimulationOutcome::unsupported;
    result.reason = program.unsupported;
    return result;
  }
  Extent3 cluster = launch.cluster;
  if (program.function->cluster[0] != 0)
    for (std::size_t d = 0; d < 3; ++d) cluster[d] = std::max(program.function->cluster[d], 1u);
  if (std::string why = refusal(program, launch, memory, cluster, options); !why.empty()) {
    result.outcome = SimulationOutcome::refused;
    result.reason = std::move(why);
    return result;
  }
  const int caller_buffers = memory.buffers();
  const Placed placed(program, launch, memory);
  LaunchState state{program, launch, memory.body(), options};
  state.cluster = cluster;
  state.threads_per_block = static_cast<int>(volume(launch.block));
  state.warps_per_block = (state.threads_per_block + lanes_per_warp - 1) / lanes_per_warp;
  state.shared_bytes = program.dynamic_offset + launch.dynamic_shared;
  const std::int64_t blocks = volume(launch.grid), per_cluster = volume(cluster);
  const std::int64_t resident_limit = std::int64_t{options.machine.sms} * options.machine.blocks_per_sm;
  if (launch.cooperative && resident_limit != 0 && blocks > resident_limit) {
    result.outcome = SimulationOutcome::refused;
    result.reason =
        fmt::format("a cooperative launch of {} blocks, of which {} can be resident", blocks, resident_limit);
    Finding made;
    made.kind = FindingKind::launch;
    made.text = result.reason;
    result.findings.push_back(std::move(made));
    return result;
  }
  state.blocks_per_unit = static_cast<int>(launch.cooperative ? blocks : per_cluster);

  AlignedBytes launch_bank(std::max<std::size_t>(program.launch_bytes, slot_bytes));
  for (const LaunchConstant& one : program.constants) {
    std::uint64_t value = one.value;
    if (one.kind == LaunchConstant::Kind::param) value = param_value(placed.params(), one);
    if (one.kind == LaunchConstant::Kind::address) value += placed.address(one.variable);
    if (one.kind == LaunchConstant::Kind::special) value = special_value(state, static_cast<SpecialId>(one.special));
    fill_slot(launch_bank.data + (one.slot & slot_offset_mask), one.slot_bits, value);
  }
  state.launch_bank = launch_bank.data;
  AlignedBytes thread_bank(static_cast<std::size_t>(state.warps_per_block) * thread_bank_slots * slot_bytes);
  fill_thread_bank(thread_bank.data, state);
  state.thread_bank = thread_bank.data;

  // Units that run, by their first block.
  std::vector<std::int64_t> units;
  if (options.blocks.empty() || launch.cooperative) {
    for (std::int64_t b = 0; b < blocks; b += state.blocks_per_unit) units.push_back(b);
  } else {
    for (const std::int64_t b : options.blocks)
      if (b >= 0 && b < blocks && (units.empty() || units.back() != b / per_cluster * per_cluster))
        units.push_back(b / per_cluster * per_cluster);
  }
  const bool alone = program.orders_memory || launch.cooperative;
  const std::int64_t most_threads = alone ? 1 : std::max(options.threads, 1);
  const auto threads =
      static_cast<std::size_t>(std::min<std::int64_t>(most_threads, static_cast<std::int64_t>(units.size())));
  std::unique_ptr<GlobalShadow> shadow;
  if (options.sanitize) {
    shadow = std::make_unique<GlobalShadow>(shadow_buffers(memory.body()), threads > 1);
    state.shadow = shadow.get();
  }
  std::unique_ptr<CacheModel> cache;
  if (options.count_cache) {
    cache = std::make_unique<CacheModel>(global_base, memory.body().end, CacheShape{0, options.machine.l2_bytes});
    state.cache = cache.get();
  }

  std::vector<std::unique_ptr<Machine>> machines;
  for (std::size_t t = 0; t < std::max<std::size_t>(threads, 1); ++t)
    machines.push_back(std::make_unique<Machine>(state));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  const auto work = [&](Machine& machine) {
    machine.may_spin = program.orders_memory || program.may_spin;
    while (!stop.load(std::memory_order_relaxed)) {
      const std::size_t unit = next.fetch_add(1, std::memory_order_relaxed);
      if (unit >= units.size()) break;
      machine.run_unit(units[unit], static_cast<std::int64_t>(unit));
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started;
      if (spent.count() > options.time_limit.value && !machine.stopped) {
        machine.stopped = true;
        machine.stop_reason = fmt::format("it took longer than {:.3g} s", options.time_limit.value);
      }
      if (machine.stopped) stop = true;
    }
    machine.flush_sites();
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < machines.size(); ++t) others.emplace_back([&, t] { work(*machines[t]); });
    work(*machines[0]);
  }

  std::vector<Findings*> found;
  std::vector<std::vector<ShadowFinding>> shadow_found;
  result.buffers.assign(memory.body().buffers.size(), {});
  result.sites.resize(program.memory_sites.size());
  for (const auto& machine : machines) {
    found.push_back(&machine->findings);
    if (machine->shadow) shadow_found.push_back(machine->shadow->findings());
    result.blocks_run += machine->blocks_done;
    count_blocks(program, *machine, result.counters);
    for (const CounterRow& row : counter_table()) result.counters.*row.value += machine->memory_counters.*row.value;
    for (std::size_t b = 0; b < result.buffers.size(); ++b) add(result.buffers[b], machine->buffers[b]);
    for (std::size_t s = 0; s < result.sites.size(); ++s) add(result.sites[s].counts, machine->site_totals[s].counts);
    if (machine->stopped && result.outcome == SimulationOutcome::finished) {
      result.outcome = SimulationOutcome::stopped;
      result.reason = machine->stop_reason;
    }
  }
  result.buffers.resize(static_cast<std::size_t>(caller_buffers));
  for (std::size_t s = 0; s < result.sites.size(); ++s) {
    const SiteText& at = program.sites[program.memory_sites[s].site];
    result.sites[s].ptx_line = at.line;
    result.sites[s].source_line = at.source.line;
    result.sites[s].opcode = at.opcode;
  }
  Findings of_shadow;
  for (const ShadowFinding& one : merged_findings(shadow_found))
    of_shadow.add(one.here.site, finding_of(program, memory.body(), one));
  found.push_back(&of_shadow);
  result.findings = Findings::merged(found, options.most_findings);
  result.blocks_total = blocks;
  if (cache) {
    const CacheTraffic traffic = cache->total();
    result.counters.l2_read_bytes = traffic.l2_read_bytes;
    result.counters.l2_write_bytes = traffic.l2_write_bytes;
    result.counters.dram_read_bytes = traffic.dram_read_bytes;
    result.counters.dram_write_bytes = traffic.dram_write_bytes;
  }
  result.time = {std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()};
  return result;
}

}  // namespace tailor::simulator
