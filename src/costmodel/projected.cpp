// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Levels projected and compiled. In: the work of a kernel, a calibrated device, a regime; for `compiled` what the
// compiler says of registers and spills. Out: an Estimate with its parts. Called through the table of models;
// docs/model.md derives each term.
//
// T = what the regime adds + the longest of what follows, of which none hides wholly behind another that is as long.
//   M  memory: DRAM, L2, atomics, whichever takes longest if everything else were free
//   C  the busiest pipe: arithmetic, issue, the path of shared memory and L1
//   L  the latency view: whole waves of blocks times the critical path of one warp (critical_path.cpp), the start of
//      each block in the place of another, and the bytes of an SM through its port to L2
// Queues make memory slower as it fills: M and L meet in a knee of exponent p, (M^p + L^p)^(1/p). Only a warp that
// waits for memory queues, so the knee's excess over the greater of both is taken in the share of L that trips to
// memory make up: a kernel that only writes has a corner in place of a knee. Reads have one p, half reads and half
// writes another; a mixture lies between. C and L are joined by an exponent of their own.
//
// A kernel whose code no cache near the SM holds, as after a flush, takes longer by a share of a clock an instruction,
// executed or not (cold_code): its code comes line by line, and the next one is where ordinary operands do not go.
// Code beyond code_room comes again wherever it is executed again.
//
// Waves hide each other's chains, and so do the trips that one block makes for new data, one after the other. The first
// of n in all has none to hide behind, so a share of 1 / n of what M and the chain would take one after the other is
// not hidden. Memory and the busiest pipe do not hide each other wholly either: they
// meet in a knee (overlap_knee), and a block that is alone on its SM computes while it loads and stores nothing, so a
// share of C (lone_share) over the blocks of an SM comes on top of memory's time. The warps of a first wave wait for
// what they load before they compute, all of them at once: its share of C lies behind L (first_wave).
//
// DRAM takes longer to turn between reads and writes: what that costs follows from the peaks of reads, of writes and of
// half and half, and grows with reads times writes over their sum. Writes that a clean L2 can hold (write_hold) do not
// count: an H200 wrote 0.05 MB to DRAM under kernels with results of 8 to 17 MB (data/recorded/h200-2026-11-26).
//
// Occupancy (occupancy.cpp) gives how many blocks are resident, hence the waves. Compute pipes and ports are those of
// the SM with most blocks, so a grid that does not fill the last round is charged for it, and so are few blocks; pipes
// are the sub-partitions', of which a block of fewer warps leaves some idle.
//
// Caches. What memory delivers is whole sectors, each distinct one once, at the share that a warm L2 leaves over. An SM
// fetches what its resident blocks read; what they read again comes from L1 when it has room for what they touch in
// between. What L1 missed comes from L2 when that has room: a thread's own reload waits while all resident blocks touch
// their share, other repetition waits for the whole buffer. Rooms end in a smooth step. The same shares say how far the
// trips of the critical path go.
//
// Bodies side by side are one kernel with the blocks of all (program.cpp), and never faster than one of them alone.
//
// Programs. The launches of one are estimated one after the other and added up. What launches before a kernel read or
// wrote may still be in L2: less of it the more was touched since. That is taken to be half of what either of the two
// kernels touches, and all of what those between them do: bytes are touched at all times of a kernel alike (places_in).
//
// `projected` knows no compiler: registers are the live values plus a base, limited to what lets a block start, and
// what does not fit is charged as a spill. `compiled` takes both from the binary, its
// instructions by pipe from what the machine code executes (counted.cpp), and where the machine code has fewer
// loads on their way at once than the program asks for, the trips to memory are as many times as many. Neither is ever
// below sol. A residual that a calibration learned (residual.cpp) is a factor on the body of `projected`.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

#include "costmodel/model.h"
#include "costmodel/occupancy.h"
#include "costmodel/parts.h"
#include "costmodel/residual.h"

namespace tailor::costmodel {

namespace {

using ir::Part;

struct Residency {
  Occupancy occupancy;
  double blocks = 0;       ///< resident on the whole device at once, no more than there are
  double per_sm = 0;       ///< of them, on an SM that has any
  double waves = 0;        ///< whole
  double turnarounds = 0;  ///< blocks that start in the place of another one, one after the other
  double imbalance = 1;    ///< blocks of the busiest SM over the average
  double idle = 1;         ///< sub-partitions of an SM over those that have a warp
};

/// Clusters of so many blocks that find room with one block an SM: those of one must lie in a processing cluster. One
/// of these may be small; what the others have beyond sms_per_gpc are steps of sms_per_tpc, one to each.
double clusters_at_once(int cluster, const CalibratedDevice& device) {
  const double others = device.sms - device.small_gpc, all = std::floor(others / device.sms_per_gpc);
  const double large = std::min(all, std::floor((others - all * device.sms_per_gpc) / device.sms_per_tpc));
  const double found = large * std::floor((device.sms_per_gpc + device.sms_per_tpc) / cluster) +
                       (all - large) * std::floor(device.sms_per_gpc / cluster) +
                       std::floor(device.small_gpc / cluster);
  return std::max(1.0, found);
}

Residency residency_of(const Work& work, int registers, const CalibratedDevice& device) {
  Residency r;
  r.occupancy = occupancy(device.limits, work.threads, registers, work.shared_bytes);
  const double sms = device.sms, blocks = static_cast<double>(work.virtual_blocks);
  const double together = work.cluster == 1 ? sms : work.cluster * clusters_at_once(work.cluster, device);
  const double room = std::max(1, r.occupancy.blocks_per_sm) * together;
  const double grid = static_cast<double>(work.grid);
  r.blocks = std::min({room, grid, blocks});
  r.per_sm = r.blocks / std::min(sms, r.blocks);
  r.waves = std::ceil(blocks / r.blocks);
  r.turnarounds = std::ceil(std::min(grid, blocks) / r.blocks) - 1;
  r.imbalance = std::ceil(blocks / together) * sms / blocks;
  const double warps = std::ceil(work.threads / static_cast<double>(device.warp_size)) * std::ceil(r.per_sm);
  r.idle = std::max(1.0, static_cast<double>(device.sub_partitions) / warps);
  return r;
}

struct MemoryBytes {
  double read = 0, written = 0;  ///< of DRAM
  double l2 = 0;                 ///< between L2 and the SMs
  double loaded = 0;             ///< out of L1, hit or not
  double far_share = 1;          ///< of trips for new data that go to memory
  double l1_missed = 1;          ///< of what an SM reads again
  double near_share = 0;         ///< of that, what L2 does not have either
};

/// What shared memory leaves of an SM's L1 for data, in bytes.
double l1_room(const Work& work, const Residency& residency, const CalibratedDevice& d) {
  const double asked = static_cast<double>(work.shared_bytes) + d.shared_reserved_per_block;
  const double allocated = std::ceil(asked / d.shared_unit) * d.shared_unit * std::ceil(residency.per_sm);
  return std::max(1.0, std::min(d.l1_bytes, d.l1_shared_bytes - allocated) * d.l1_share);
}

/// What loads of one buffer move, in bytes.
struct Loads {
  double asked = 0;     ///< of L1
  double distinct = 0;  ///< of the buffer
  double per_sm = 0;    ///< distinct, that the resident blocks of an SM read
  double fetched = 0;   ///< that SMs must fetch: each SM once for its blocks of a wave
  double shifted = 0;   ///< asked for again at a constant distance
  double between = 0;   ///< share of the buffer that is read meanwhile
  double within = 1;    ///< share of what a block reads of it that the block reads meanwhile
};
Loads loads_of(const BufferWork& buffer, const Work& work, const Residency& residency, const CalibratedDevice& d) {
  const double blocks = static_cast<double>(work.virtual_blocks);
  Loads loads;
  loads.asked = static_cast<double>(sector_bytes * buffer.load.sectors);
  loads.distinct = std::min(read_footprint(buffer), std::max(loads.asked, static_cast<double>(buffer.read_bytes)));
  const double counted = static_cast<double>(sector_bytes * buffer.block_sectors);
  const double block =
      std::min(std::max(counted, loads.distinct / blocks), std::min(loads.distinct, loads.asked / blocks));
  loads.per_sm = std::min(loads.distinct, block * residency.per_sm);
  // Blocks that come later find in L1 what is the same for all of them; the rest is new to their SM.
  const double sms = std::min(d.sms, blocks), rounds = blocks / sms;
  loads.shifted = static_cast<double>(sector_bytes * buffer.shifted_sectors);
  if (loads.distinct > 0) loads.between = std::min(1.0, static_cast<double>(buffer.shift_bytes) / loads.distinct);
  // A block that streams has what it asks for again at such a distance after that much, and what is on its way.
  const double on_its_way = work.threads * work.bytes_in_flight;
  if (block > 0) loads.within = std::min(1.0, (static_cast<double>(buffer.shift_bytes) + on_its_way) / block);
  loads.fetched = std::min(loads.asked, std::max(loads.distinct, sms * std::min(loads.distinct, block * rounds)));
  return loads;
}

/// Sectors that a request writes in part: at least half of each is missing. L2 takes each of them twice, to read it and
/// to write it. Of plans that differ in their vectors alone, those whose threads write 32 bytes in two accesses, each
/// of half a sector, took an H200 1.1 to 1.7 times as long (data/recorded/h200-2026-11-27, -b).
double partly_written(const BufferWork& buffer) {
  const double sectors = static_cast<double>(buffer.store.sectors);
  if (buffer.store.bytes == 0) return 0;  // of observations only their sectors are known
  return std::clamp(2 * (sectors - static_cast<double>(buffer.store.bytes) / sector_bytes), 0.0, sectors);
}

/// Share of the distinct bytes of a buffer's loads that launches before have left in L2, or that the kernel itself has
/// put there while it touched half of all that it touches.
double left_in_l2(const Place& place, std::size_t buffer, const Loads& loads, double room, double own_footprint,
                  const CalibratedDevice& d) {
  if (own_footprint > 0) return 1 - miss(own_footprint / 2, room, d);
  if (!place.follows || loads.distinct == 0) return 0;
  const Left& left = place.left[buffer];
  if (left.touched == 0) return 0;
  return std::min(1.0, left.touched / loads.distinct) * (1 - miss(left.between, room, d));
}

/// Whether anything is read again the other way round.
bool has_turned(const Work& work) {
  return std::any_of(work.buffers.begin(), work.buffers.end(),
                     [](const BufferWork& buffer) { return buffer.turned_sectors > 0; });
}

MemoryBytes memory_bytes(const Work& work, const Place& place, const Residency& residency,
                         const CalibratedDevice& device, const ir::Regime& regime) {
  MemoryBytes sum;
  double footprint = 0, touched_by_sm = 0;
  for (const BufferWork& buffer : work.buffers) {
    footprint += read_footprint(buffer) + written_footprint(buffer);
    touched_by_sm += loads_of(buffer, work, residency, device).per_sm;
  }
  const WarmShares warm = warm_shares(place.once, device, regime);
  const double cold = 1 - warm.read, l2_room = device.l2_bytes * device.l2_share;
  // A thread reads again what its own block touched; meanwhile every resident block touches its share.
  const double touched_by_residents = footprint * residency.blocks / static_cast<double>(work.virtual_blocks);
  const double l1 = l1_room(work, residency, device);
  sum.l1_missed = miss(touched_by_sm, l1, device);
  sum.near_share = miss(touched_by_residents, l2_room, device);
  const double turned_share = has_turned(work) ? miss_backward(touched_by_residents, l2_room, device) : 0;
  double reloaded = 0, missed = 0;  // by a thread, as far as L1 has it no more; and of that, as far as L2 has not
  double fresh = 0, distinct = 0;   // of what is loaded at all: from memory
  work.buffers.each([&](std::size_t i, const BufferWork& buffer) {
    const Loads loads = loads_of(buffer, work, residency, device);
    const double left = left_in_l2(place, i, loads, l2_room, buffer.own ? footprint : 0, device);
    const double from_memory = cold * (1 - left);
    fresh += from_memory * loads.distinct;
    distinct += loads.distinct;
    const double again = std::max(0.0, loads.asked - loads.fetched);
    const double reload = std::min(again, static_cast<double>(sector_bytes * buffer.reload_sectors));
    const double near = std::min(again - reload, loads.shifted),
                 near_missed = miss(loads.within * touched_by_sm, l1, device);
    const double others =
        std::max(0.0, loads.fetched - loads.distinct) + sum.l1_missed * (again - reload - near) + near_missed * near;
    const double of_all = miss(loads.distinct, l2_room, device), shifted = std::min(others, loads.shifted);
    const double of_some = miss(loads.between * footprint + loads.within * touched_by_residents, l2_room, device);
    const double turned = std::min(reload, static_cast<double>(sector_bytes * buffer.turned_sectors));
    reloaded += sum.l1_missed * reload;
    missed += sum.l1_missed * ((reload - turned) * sum.near_share + turned * turned_share);
    sum.read += from_memory * loads.distinct + (others - shifted) * of_all + shifted * std::min(of_all, of_some);
    sum.written += (1 - warm.written) * written_footprint(buffer);
    sum.loaded += loads.asked;
    sum.l2 += std::min(loads.asked, loads.fetched + sum.l1_missed * (again - near) + near_missed * near) +
              static_cast<double>(sector_bytes * (buffer.store.sectors + buffer.atomic.sectors)) +
              sector_bytes * partly_written(buffer);
  });
  sum.read += missed;
  if (reloaded > 0) sum.near_share = missed / reloaded;
  sum.far_share = !place.follows || distinct == 0 ? cold : fresh / distinct;
  return sum;
}

/// Seconds that DRAM takes for reads alone, for writes alone, and for both with the turns between them.
struct DramTime {
  double reads = 0, writes = 0, all = 0;
};
DramTime dram_time(const MemoryBytes& bytes, const CalibratedDevice& d, const ir::Regime& regime) {
  const double read = 1 / (d.dram_bandwidth * d.dram_read_efficiency);
  const double write = 1 / (d.dram_bandwidth * d.dram_write_efficiency);
  const double mixed = 1 / (d.dram_bandwidth * d.dram_efficiency);
  DramTime time{bytes.read * read, bytes.written * write, 0};
  time.all = time.reads + time.writes;
  // Of half and half, what is beyond the mean of both. Bounded so that no byte more ever saves time.
  const double turn = std::max(mixed - (read + write) / 2, -std::min(read, write) / 4);
  // What L2 holds it need not write back meanwhile, unless it was dirty before.
  const double held = regime.cache == ir::CacheState::dirty ? 0 : d.l2_bytes * d.write_hold;
  const double drained = std::max(0.0, bytes.written - held), both = bytes.read + drained;
  if (both > 0) time.all += 4 * turn * bytes.read * drained / both;
  return time;
}

/// Seconds in which an SM with most blocks gets its bytes through its port to L2.
double port_time(const MemoryBytes& bytes, const Residency& residency, const CalibratedDevice& d) {
  return bytes.l2 * residency.imbalance / (d.sms * d.sm_bandwidth * d.clock);
}

void throughput_parts(ir::Estimate& e, const Work& work, const MemoryBytes& bytes, const Residency& residency,
                      const CalibratedDevice& d, const ir::Regime& regime) {
  constexpr double lanes = 32;
  const double per_lane = lanes * residency.imbalance * residency.idle / (d.sms * d.clock);
  const auto pipe = [&](std::int64_t count, double rate) { return static_cast<double>(count) * per_lane / rate; };
  const auto& p = work.pipes;
  part(e, Part::dram) = {dram_time(bytes, d, regime).all};
  part(e, Part::l2) = {std::max(bytes.l2 / d.l2_bandwidth, port_time(bytes, residency, d))};
  // Multiply-adds of integers take the FMA pipe, and only as many of its lanes as the ALU has.
  // What has fixed latency does not pass the pipe of approximate functions: since sm_70 HADD2 widens, on a pipe of its
  // own; since sm_80 F2FP packs and since sm_86 I2FP takes integers in, on the ALU's (machine code by CUDA 13.0; that
  // they share it was measured on an H200, `microbench --only pipes`).
  const int capability = d.limits.compute_capability;
  const bool widens = capability >= 70, packs = capability >= 80, numbers = capability >= 86;
  const double on_fma =
      std::max(pipe(p.fma + p.integer, d.fma_rate), pipe(p.integer, std::min(d.fma_rate, d.alu_rate)));
  part(e, Part::fma) = {std::max({on_fma, pipe(p.f64, d.f64_rate), widens ? pipe(p.widen, d.widen_rate) : 0.0})};
  // A maximum that keeps NaN is one instruction since sm_80, two comparisons and a selection before.
  const std::int64_t compared = capability >= 80 ? 0 : 2 * p.extremes;
  part(e, Part::alu) = {pipe(p.alu + compared + (packs ? p.pack : 0) + (numbers ? p.number : 0), d.alu_rate)};
  const std::int64_t narrowed = p.narrow + (packs ? 0 : p.pack) + (numbers ? 0 : p.number);
  part(e, Part::xu) = {pipe(p.xu, d.xu_rate) + pipe(narrowed, d.narrow_rate) +
                       (widens ? 0.0 : pipe(p.widen, d.widen_rate))};
  part(e, Part::issue) = {static_cast<double>(instructions(p) + compared) * residency.imbalance * residency.idle /
                          (d.issue_rate * d.sms * d.clock)};
  // Wavefronts, shuffles and what L1 hands out share one path; every memory request passes the load/store units.
  const double wavefronts = static_cast<double>(work.shared_load.wavefronts + work.shared_store.wavefronts);
  const double path_cycles = wavefronts * 128 / d.shared_bandwidth + bytes.loaded / d.l1_bandwidth +
                             static_cast<double>(p.shuffle) * lanes / d.shuffle_rate;
  // What blocks of a cluster read of one another comes over a network between SMs.
  const double cycles = std::max(path_cycles, static_cast<double>(work.distributed_bytes) / d.distributed_bandwidth);
  part(e, Part::shared) = {
      std::max(cycles * residency.imbalance / (d.sms * d.clock), pipe(p.memory + p.shuffle, d.lsu_rate))};
  double atomics = 0;
  for (const BufferWork& buffer : work.buffers) atomics += static_cast<double>(buffer.atomic.sectors);
  part(e, Part::atomic) = {atomics / (d.atomic_rate * d.clock)};
}

/// Seconds of one virtual block's critical path, the part of it that waits for memory, and the part of barriers.
struct Path {
  double total = 0, trips = 0, barrier = 0;
};
Path path_of(const Work& work, const MemoryBytes& bytes, double turns, const CalibratedDevice& d) {
  const CriticalPath& c = work.critical_path;
  const double cycles = c.shared * d.shared_latency + c.distributed * d.distributed_latency +
                        c.shuffle * d.shuffle_latency + c.arithmetic * d.fma_latency + c.xu * d.xu_latency;
  Path path;
  path.barrier = (c.barrier * d.barrier_latency + c.cluster * d.cluster_latency) / d.clock;
  // A trip waits for its slowest load: new data comes from memory, what was read before from the cache that has it.
  const double beyond = std::max(0.0, d.dram_latency - d.l2_latency);
  const double far = d.l2_latency + bytes.far_share * beyond;
  const double l1 = std::min(d.l1_latency / d.clock, d.l2_latency);
  const double near = l1 + bytes.l1_missed * (d.l2_latency + bytes.near_share * beyond - l1);
  const double others = std::max(0.0, c.memory - c.far - c.coherent);
  path.trips = turns * (c.far * far + others * near + c.coherent * d.l2_latency + c.further * d.trip_spread);
  path.total = path.trips + cycles / d.clock + path.barrier;
  return path;
}

/// (a^p + b^p)^(1/p)
double norm(double a, double b, double p) {
  const double greater = std::max(a, b), lesser = std::min(a, b);
  return greater == 0 ? 0 : greater * std::pow(1 + std::pow(lesser / greater, p), 1 / p);
}

/// Memory that is busy for `memory` under warps that take `latency`, of which a share of `waiting` waits for memory;
/// `mixed` is 1 where it is busy with as much writing as reading.
double memory_body(double memory, double latency, double waiting, double mixed, const CalibratedDevice& d) {
  const double greater = std::max(memory, latency);
  const double reads_knee = std::max(1.0, d.dram_knee);  // below 1, less to read could take longer
  const double of_reads = norm(memory, latency, reads_knee);
  const double of_both = norm(memory, latency, std::clamp(d.dram_mixed_knee, 1.0, reads_knee));
  return greater + waiting * ((1 - mixed) * of_reads + mixed * of_both - greater);
}

/// The part that decides. Launch and code lie behind nothing, so either does where it is longer than all that overlaps,
/// `body`; else it is the longest of that.
Part binding_part(const ir::Estimate& e, Seconds body) {
  const Part memory = greatest(e, {Part::dram, Part::l2, Part::atomic});
  const Part pipe = greatest(e, {Part::fma, Part::alu, Part::xu, Part::issue, Part::shared});
  const Part busiest = part(e, pipe) > part(e, memory) ? pipe : memory;
  const Part alone = greatest(e, {Part::launch, Part::code});
  if (body < part(e, alone)) return alone;
  return part(e, Part::latency) > part(e, busiest) ? Part::latency : busiest;
}

/// What only a compiler knows of a kernel, or what is assumed of it.
struct Code {
  int registers = 0;
  double spilled_bytes = 0;
  double turns = 1;                        ///< round trips that the loads take which the program asks for together
  std::int64_t instructions = 0;           ///< executed or not
  const ir::Residual* residual = nullptr;  ///< what was learned, of this level
};

/// Seconds for code that has no room near the SM: it comes again in each pass of a loop and each wave.
double fetched_again(const Work& work, const Code& code, double waves, const CalibratedDevice& device) {
  const auto instructions = static_cast<double>(code.instructions);
  if (device.code_room == 0 || instructions <= device.code_room) return 0;
  const double warps = std::ceil(work.threads / static_cast<double>(device.warp_size));
  const double executed = static_cast<double>(work.busiest_block) / warps * waves;
  return std::max(0.0, executed - instructions) * device.cold_code / device.clock;
}

/// Of one kernel at its place in a program. The floor of a framework's call is not in the total: the call runs all.
ir::Estimate estimate_with(const Work& work, const Place& place, const Code& code, const CalibratedDevice& device,
                           const ir::Regime& regime) {
  ir::Estimate e;
  e.registers = code.registers;
  const Residency residency = residency_of(work, code.registers, device);
  e.occupancy = residency.occupancy.fraction;
  e.waves = residency.waves;
  const MemoryBytes bytes = memory_bytes(work, place, residency, device, regime);
  throughput_parts(e, work, bytes, residency, device, regime);
  const Path path = path_of(work, bytes, code.turns, device);
  const bool starts = place.begins == ir::Begins::launch;  // else its blocks are there
  if (starts) part(e, Part::launch) = place.follows ? follower_launch(device, regime) : launch_part(device, regime);
  const bool flushed = regime.cache == ir::CacheState::cold || regime.cache == ir::CacheState::dirty;
  const Seconds first = flushed && (place.follows || regime.includes.ramp)
                            ? Seconds{static_cast<double>(code.instructions) * device.cold_code / device.clock}
                            : Seconds{0};
  const double handed_out = starts ? static_cast<double>(work.grid) / (device.block_rate * device.clock) : 0;
  const double trips = residency.waves * path.trips;
  const double chain = residency.waves * path.total + residency.turnarounds * device.block_turnaround;
  part(e, Part::latency) = {std::max(handed_out, chain + port_time(bytes, residency, device))};
  part(e, Part::barrier) = {residency.waves * path.barrier};
  part(e, Part::spill) = {code.spilled_bytes / device.l2_bandwidth};
  part(e, Part::l2) += part(e, Part::spill);
  const Part memory = greatest(e, {Part::dram, Part::l2, Part::atomic});
  const Part pipe = greatest(e, {Part::fma, Part::alu, Part::xu, Part::issue, Part::shared});
  const double latency = part(e, Part::latency).value, moved = part(e, memory).value;
  const DramTime dram = dram_time(bytes, device, regime);
  const double mixed = moved == 0 ? 0 : std::min(1.0, 2 * std::min(dram.reads, dram.writes) / moved);
  const double waiting = latency == 0 ? 0 : trips / latency;
  const double overlapped = memory_body(moved, latency, waiting, mixed, device);
  // Of the first trip nothing lies behind another one: with a single wave of one trip memory's time and the chain add
  // up.
  const double rounds = residency.waves * std::max(1.0, work.critical_path.far);
  const double memory_time = overlapped + std::max(0.0, moved + chain - overlapped) / rounds;
  const double busiest = part(e, pipe).value;
  // A block that has no other beside it on its SM computes while nothing is loaded, of two each half the time.
  const double apart = memory_time + busiest * device.lone_share / residency.per_sm;
  double body =
      std::max({norm(memory_time, busiest, device.overlap_knee), norm(busiest, latency, device.pipe_knee), apart});
  // In a first wave no warp computes before what it loads is there, and nobody else does meanwhile.
  body = std::max(body, latency + device.first_wave * busiest / residency.waves);
  if (work.grid < work.virtual_blocks) body *= 1 + device.loop_excess;
  const Seconds again{fetched_again(work, code, residency.waves, device)};
  body += again.value;
  if (code.residual != nullptr) body *= std::exp(log_correction(*code.residual, {work, e, body}, regime.cache));
  part(e, Part::code) = first + again;
  e.bottleneck = binding_part(e, Seconds{body} - again);
  ir::Regime alone = regime;
  alone.includes.dispatch_floor = false;
  alone.includes.launch_gap = alone.includes.launch_gap && starts;
  const Seconds floor = sol(place.compulsory, device, alone).total;
  e.total = std::max(floor, part(e, Part::launch) + first + Seconds{body});
  return e;
}

/// A step with several bodies lasts as long as the one that would last longest in it alone, though all of them share
/// the machine: blocks of the mean are not those of each. Registers, shared memory and clusters are the launch's.
template <class Of>
ir::Estimate of_bodies(const Chain<Work>& bodies, const Work& step, const Place& place, const Of& of) {
  ir::Estimate all = of(step, place);
  if (bodies.size() == 1) return all;
  for (const Work& body : bodies) {
    Work alone = body;
    alone.followers.clear();
    alone.cluster = step.cluster;
    alone.shared_bytes = step.shared_bytes;
    alone.live_registers = step.live_registers;
    alone.early_registers = step.early_registers;
    const ir::Estimate one = of(alone, place);
    if (one.total <= all.total) continue;
    all.total = one.total;
    all.bottleneck = one.bottleneck;
  }
  return all;
}

/// Adds up the steps of a program, of which `steps` has one kernel each: `of` says what one takes at its place.
template <class Of>
ir::Estimate of_program(const Work& program, const Work& steps, const CalibratedDevice& device,
                        const ir::Regime& regime, const Of& of) {
  const std::vector<Chain<Work>> bodies = steps_of(program);
  const std::vector<Place> places = places_in(steps);
  std::size_t launch = 0;
  const auto step = [&](std::size_t k) {
    if (k > 0 && works_of(steps)[k].begins == ir::Begins::launch) ++launch;
    return of_bodies(bodies[k], works_of(steps)[k], places[k],
                     [&](const Work& one, const Place& place) { return of(one, place, launch); });
  };
  ir::Estimate all = step(0);
  for (std::size_t k = 1; k < bodies.size(); ++k) {
    const ir::Estimate one = step(k);
    all.total += one.total;
    for (std::size_t i = 0; i < ir::part_count; ++i) all.parts[i] += one.parts[i];
    all.occupancy = std::min(all.occupancy, one.occupancy);
    all.waves = std::max(all.waves, one.waves);
    all.registers = std::max(all.registers, one.registers);
  }
  if (bodies.size() > 1)
    all.bottleneck = binding_part(all, all.total - part(all, Part::launch) - part(all, Part::code));
  all.total = with_floor(all.total, device, regime);
  return all;
}

/// Registers up to which the assembler costs no thread its place on the SM.
int free_registers(const CalibratedDevice& device) {
  return static_cast<int>(device.registers_per_sm / device.threads_per_sm);
}

/// The assembler aims at whole blocks: where one more would be resident with a few registers less, it orders the
/// program so that it takes no more. It does not for a block that has an SM to itself, unless a second one fills the
/// SM: of 26 such plans within an eighth of what two blocks leave 4 took no more, of 6 that fill it all (sm_90). A
/// bound in the plan says how many it is to aim at.
int aimed_at(int wanted, const Work& work, const CalibratedDevice& device) {
  if (work.min_blocks != 0) return wanted;
  const int resident = occupancy(device.limits, work.threads, wanted, 0).blocks_per_sm;
  if (resident == 0) return wanted;  // it does not fit at all, and will be spilled
  const int with_one_more = most_registers(device.limits, work.threads, resident + 1);
  if (resident == 1 && with_one_more > free_registers(device)) return wanted;
  return wanted <= with_one_more * (1 + device.register_saving) ? std::min(wanted, with_one_more) : wanted;
}

/// Without a compiler. A block must be able to start, and as many be resident as the compiler must allow for: what
/// their threads cannot hold is spilled, stored once and loaded once.
Code assumed_code(const Work& work, const CalibratedDevice& device) {
  // Addresses are made ahead as long as that costs no resident thread.
  const int base = static_cast<int>(device.register_base);
  const int early = std::min(work.early_registers + base, free_registers(device));
  const int wanted = aimed_at(std::max(work.live_registers + base, early), work, device);
  const int unit = static_cast<int>(device.register_unit / device.warp_size);
  const int share = static_cast<int>(device.registers_per_block) / work.threads / unit * unit;
  const int bound = work.min_blocks == 0 ? static_cast<int>(device.registers_per_thread)
                                         : most_registers(device.limits, work.threads, work.min_blocks);
  const int registers = std::min({wanted, share, bound, static_cast<int>(device.registers_per_thread)});
  constexpr double register_bytes = 4;
  const double threads = static_cast<double>(work.virtual_blocks) * work.threads;
  const double spilled = 2 * register_bytes * threads * (wanted - registers);
  const bool learned = device.residual != nullptr && device.residual->model == "projected";
  return {registers, spilled, 1, work.code_instructions, learned ? device.residual.get() : nullptr};
}

/// Of a launch whose code is `all` instructions by the program's count; of that `work` has its part.
Code compiled_code(const Work& work, const ir::CompiledEntry& entry, std::int64_t all) {
  const double share =
      all == 0 ? 1 : std::min(1.0, static_cast<double>(work.code_instructions) / static_cast<double>(all));
  const double read = share * static_cast<double>(entry.machine_instructions);
  const std::int64_t instructions = read > 0 ? std::llround(read) : work.code_instructions;
  const double threads = static_cast<double>(work.virtual_blocks) * work.threads;
  const double spilled = threads * (entry.spill_stores + entry.spill_loads);
  // The assembler may have moved loads apart that the program asks for together.
  const double turns =
      entry.loads_outstanding == 0
          ? 1
          : std::max(1.0, static_cast<double>(work.loads_in_flight) / static_cast<double>(entry.loads_outstanding));
  return {entry.registers, spilled, turns, instructions, nullptr};
}

}  // namespace

std::vector<Place> places_in(const Work& program) {
  const Chain<Work> works = works_of(program);
  const std::vector<Compulsory> compulsory = compulsory_of_kernels(program);
  const auto once = static_cast<double>(sum_of(compulsory));
  std::vector<Place> places;
  std::vector<double> half;                                  // of what each kernel so far touches
  std::vector<std::size_t> last(program.buffers.size(), 0);  // one more than the last kernel that touched it
  for (std::size_t k = 0; k < works.size(); ++k) {
    const Work& work = works[k];
    Place& place = places.emplace_back();
    place.follows = k > 0;
    place.begins = work.begins;
    place.compulsory.bytes_read = static_cast<double>(compulsory[k].read);
    place.compulsory.bytes_written = static_cast<double>(compulsory[k].written);
    place.once = once;
    half.push_back(0);
    for (const BufferWork& b : work.buffers) half[k] += (read_footprint(b) + written_footprint(b)) / 2;
    std::vector<double> since(k + 1, half[k]);  // up to the end of each kernel before
    for (std::size_t before = k; before-- > 1;) since[before] = since[before + 1] + 2 * half[before];
    place.left.resize(k > 0 ? program.buffers.size() : 0);
    work.buffers.each([&](std::size_t b, const BufferWork& buffer) {
      if (last[b] > 0) {
        const BufferWork& then = works[last[b] - 1].buffers[b];
        place.left[b] = {std::max(read_footprint(then), written_footprint(then)), since[last[b]] + half[last[b] - 1]};
      }
      if (std::max(read_footprint(buffer), written_footprint(buffer)) > 0) last[b] = k + 1;
    });
  }
  return places;
}

ir::Estimate projected(const Work& work, const CalibratedDevice& device, const ir::Regime& regime) {
  const auto of = [&](const Work& one, const Place& place, std::size_t) {
    return estimate_with(one, place, assumed_code(one, device), device, regime);
  };
  ir::Estimate estimate = has_bodies(work) ? of_program(work, by_step(work), device, regime, of)
                                           : of_program(work, work, device, regime, of);
  estimate.level = ir::Level::projected;
  close(estimate, estimate.total, device.projected_low, device.projected_high);
  return estimate;
}

ir::Estimate compiled(const Work& work, const ir::Binary& binary, const CalibratedDevice& device,
                      const ir::Regime& regime, const ir::MachineWork* machine) {
  assert(binary.outcome == ir::CompileOutcome::ok);
  const Chain<ir::CompiledEntry> entries = entries_of(binary);
  if (entries.size() != launches_of(work).size())
    throw std::logic_error("a binary has another number of kernels than its program");
  const Work steps = machine == nullptr ? by_step(work) : executed_by_step(work, *machine);
  const Work launches = by_launch(work);
  ir::Estimate estimate = of_program(
      has_bodies(work) ? work : steps, steps, device, regime, [&](const Work& one, const Place& place, std::size_t k) {
        const Code made = compiled_code(one, entries[k], works_of(launches)[k].code_instructions);
        return estimate_with(one, place, made, device, regime);
      });
  estimate.level = ir::Level::compiled;
  close(estimate, estimate.total, device.compiled_low, device.compiled_high);
  return estimate;
}

}  // namespace tailor::costmodel
