// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Levels projected and compiled. In: the work of a kernel, a calibrated device, a regime; for `compiled` what the
// compiler says of registers and spills. Out: an Estimate with its parts. Called through the table of models;
// docs/model.md derives each term.
//
// T = what the regime adds + (D^p + L^p)^(1/p). D is the time of the busiest part if everything else were free: DRAM,
// L2, each pipe, instruction issue, shared memory, atomics. L is the latency view: whole waves of blocks times the
// critical path of one warp (critical_path.cpp). p is the device's knee: neither view is hidden wholly behind the
// other when both are near. For a stream this is exactly the bandwidth knee in bytes in flight, with L = bytes /
// (bytes in flight / latency).
//
// Occupancy (occupancy.cpp) gives how many blocks are resident, hence the waves. Compute pipes are those of the SM
// with most blocks, so a grid that does not fill the last round is charged for it.
//
// Memory. Distinct bytes move once, at the share that a warm L2 leaves over. What is loaded again goes to memory when
// the bytes touched in between do not fit L2, by a smooth step in between / room: a thread's own reload waits while
// all resident blocks touch their share, other repetition waits for the whole buffer. The same shares say how far the
// trips of the critical path go.
//
// `projected` knows no compiler: registers are the live values plus a base, limited to what lets a block start, and
// what does not fit is charged as a spill. `compiled` takes both from the binary, and where the machine code has fewer
// loads on their way at once than the program asks for, the trips to memory are as many times as many. Neither is ever
// below sol.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "costmodel/model.h"
#include "costmodel/occupancy.h"
#include "costmodel/parts.h"

namespace tailor::costmodel {

namespace {

using ir::Part;

struct Residency {
  Occupancy occupancy;
  double blocks = 0;     ///< resident on the whole device at once, no more than there are
  double waves = 0;      ///< whole
  double imbalance = 1;  ///< blocks of the busiest SM over the average
};

Residency residency_of(const Work& work, int registers, const CalibratedDevice& device) {
  Residency r;
  r.occupancy = occupancy(device.limits, work.threads, registers, work.shared_bytes);
  const double sms = device.sms, blocks = static_cast<double>(work.virtual_blocks);
  const double room = std::max(1, r.occupancy.blocks_per_sm) * sms;
  r.blocks = std::min({room, static_cast<double>(work.grid), blocks});
  r.waves = std::ceil(blocks / r.blocks);
  r.imbalance = std::ceil(blocks / sms) * sms / blocks;
  return r;
}

struct MemoryBytes {
  double dram = 0, l2 = 0;
  double far_share = 1, near_share = 0;  ///< share of trips for new and for known data that go to memory
};

/// Share of re-reads that miss L2 when `between` bytes are touched before the next use.
double miss(double between, const CalibratedDevice& device) {
  const double room = device.l2_bytes * device.l2_share;
  return 1 - 1 / (1 + std::pow(between / room, device.reuse_knee));
}

MemoryBytes memory_bytes(const Work& work, const Residency& residency, const CalibratedDevice& device,
                         const ir::Regime& regime) {
  constexpr double sector = 32;
  MemoryBytes sum;
  const auto compulsory = static_cast<double>(compulsory_bytes(work));
  const WarmShares warm = warm_shares(compulsory, device, regime);
  const double cold = 1 - warm.read;
  // A thread reads again what its own block touched; meanwhile every resident block touches its share.
  const double touched_by_residents = compulsory * residency.blocks / static_cast<double>(work.virtual_blocks);
  sum.far_share = cold;
  const double miss_reload = miss(touched_by_residents, device);
  sum.near_share = miss_reload;
  for (const BufferWork& buffer : work.buffers) {
    const double loaded = sector * static_cast<double>(buffer.load.sectors);
    const double again = std::max(0.0, loaded - static_cast<double>(buffer.read_bytes));
    const double reload = std::min(again, sector * static_cast<double>(buffer.reload_sectors));
    const double others = again - reload;
    const double read = cold * static_cast<double>(buffer.read_bytes) + reload * miss_reload +
                        others * miss(static_cast<double>(buffer.read_bytes), device);
    sum.dram += read + (1 - warm.written) * static_cast<double>(buffer.written_bytes);
    sum.l2 += loaded + sector * static_cast<double>(buffer.store.sectors + buffer.atomic.sectors);
  }
  return sum;
}

void throughput_parts(ir::Estimate& e, const Work& work, const MemoryBytes& bytes, const Residency& residency,
                      const CalibratedDevice& d) {
  constexpr double lanes = 32;
  const double per_lane = lanes * residency.imbalance / (d.sms * d.clock);
  const auto pipe = [&](std::int64_t count, double rate) { return static_cast<double>(count) * per_lane / rate; };
  const auto& p = work.pipes;
  part(e, Part::dram) = {bytes.dram / (d.dram_bandwidth * d.dram_efficiency)};
  part(e, Part::l2) = {bytes.l2 / l2_peak(d)};
  part(e, Part::fma) = {std::max(pipe(p.fma, d.fma_rate), pipe(p.f64, d.f64_rate))};
  part(e, Part::alu) = {pipe(p.alu, d.alu_rate)};
  part(e, Part::xu) = {pipe(p.xu, d.xu_rate) + pipe(p.narrow, d.narrow_rate) + pipe(p.widen, d.widen_rate)};
  part(e,
       Part::issue) = {static_cast<double>(instructions(p)) * residency.imbalance / (d.issue_rate * d.sms * d.clock)};
  // Wavefronts and shuffles share the path of shared memory; every memory request passes the load/store units.
  const double wavefronts = static_cast<double>(work.shared_load.wavefronts + work.shared_store.wavefronts);
  const double bank_cycles =
      wavefronts * 128 / d.shared_bandwidth + static_cast<double>(p.shuffle) * lanes / d.shuffle_rate;
  part(e, Part::shared) = {
      std::max(bank_cycles * residency.imbalance / (d.sms * d.clock), pipe(p.memory + p.shuffle, d.lsu_rate))};
  double atomics = 0;
  for (const BufferWork& buffer : work.buffers) atomics += static_cast<double>(buffer.atomic.sectors);
  part(e, Part::atomic) = {atomics / (d.atomic_rate * d.clock)};
}

/// Seconds of one virtual block's critical path, and the part of it that barriers take.
struct Path {
  double total = 0, barrier = 0;
};
Path path_of(const Work& work, const MemoryBytes& bytes, double turns, const CalibratedDevice& d) {
  const CriticalPath& c = work.critical_path;
  const double cycles =
      c.shared * d.shared_latency + c.shuffle * d.shuffle_latency + c.arithmetic * d.fma_latency + c.xu * d.xu_latency;
  Path path;
  path.barrier = c.barrier * d.barrier_latency / d.clock;
  // A trip waits for its slowest load: new data comes from memory, what was read before from L2 while it stays there.
  const double far = d.l2_latency + bytes.far_share * (d.dram_latency - d.l2_latency);
  const double near = d.l2_latency + bytes.near_share * (d.dram_latency - d.l2_latency);
  path.total = turns * (c.far * far + (c.memory - c.far) * near) + cycles / d.clock + path.barrier;
  return path;
}

/// What only a compiler knows of a kernel, or what is assumed of it.
struct Code {
  int registers = 0;
  double spilled_bytes = 0;
  double turns = 1;  ///< round trips that the loads take which the program asks for together
};

ir::Estimate estimate_with(const Work& work, const Code& code, const CalibratedDevice& device,
                           const ir::Regime& regime) {
  ir::Estimate e;
  e.registers = code.registers;
  const Residency residency = residency_of(work, code.registers, device);
  e.occupancy = residency.occupancy.fraction;
  e.waves = residency.waves;
  const MemoryBytes bytes = memory_bytes(work, residency, device, regime);
  throughput_parts(e, work, bytes, residency, device);
  const Path path = path_of(work, bytes, code.turns, device);
  part(e, Part::launch) = launch_part(device, regime);
  part(e, Part::latency) = {residency.waves * path.total};
  part(e, Part::barrier) = {residency.waves * path.barrier};
  part(e, Part::spill) = {code.spilled_bytes / device.l2_bandwidth};
  part(e, Part::l2) += part(e, Part::spill);
  const Part busiest =
      greatest(e, {Part::dram, Part::l2, Part::fma, Part::alu, Part::xu, Part::issue, Part::shared, Part::atomic});
  const double p = device.dram_knee;
  const double throughput = part(e, busiest).value, latency = part(e, Part::latency).value;
  const double greater = std::max(throughput, latency), lesser = std::min(throughput, latency);
  const double body = greater == 0 ? 0 : greater * std::pow(1 + std::pow(lesser / greater, p), 1 / p);
  e.bottleneck = latency > throughput ? Part::latency : busiest;
  if (body < part(e, Part::launch).value) e.bottleneck = Part::launch;
  const Seconds floor = sol(compulsory_work(work), device, regime).total;
  e.total = std::max(floor, with_floor(part(e, Part::launch) + Seconds{body}, device, regime));
  return e;
}

}  // namespace

ir::Estimate projected(const Work& work, const CalibratedDevice& device, const ir::Regime& regime) {
  // A block must be able to start: what its threads cannot hold is spilled, stored once and loaded once.
  const int wanted = work.live_registers + static_cast<int>(device.register_base);
  const int unit = static_cast<int>(device.register_unit / device.warp_size);
  const int share = static_cast<int>(device.registers_per_block) / work.threads / unit * unit;
  const int registers = std::min({wanted, share, static_cast<int>(device.registers_per_thread)});
  constexpr double register_bytes = 4;
  const double threads = static_cast<double>(work.virtual_blocks) * work.threads;
  const double spilled = 2 * register_bytes * threads * (wanted - registers);
  ir::Estimate estimate = estimate_with(work, {registers, spilled}, device, regime);
  estimate.level = ir::Level::projected;
  close(estimate, estimate.total, device.projected_low, device.projected_high);
  return estimate;
}

ir::Estimate compiled(const Work& work, const ir::Binary& binary, const CalibratedDevice& device,
                      const ir::Regime& regime) {
  assert(binary.outcome == ir::CompileOutcome::ok);
  const double threads = static_cast<double>(work.virtual_blocks) * work.threads;
  const double spilled = threads * (binary.spill_stores + binary.spill_loads);
  // The assembler may have moved loads apart that the program asks for together.
  const double turns =
      binary.loads_outstanding == 0
          ? 1
          : std::max(1.0, static_cast<double>(work.loads_in_flight) / static_cast<double>(binary.loads_outstanding));
  ir::Estimate estimate = estimate_with(work, {binary.registers, spilled, turns}, device, regime);
  estimate.level = ir::Level::compiled;
  close(estimate, estimate.total, device.compiled_low, device.compiled_high);
  return estimate;
}

}  // namespace tailor::costmodel
