// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows. A calibrated device comes in and goes out without one part of the model. Called for each device and
// operation when parts are switched off one after the other.
//
// Nothing is fitted again: what a part costs here is what the other figures do not take over. A part whose figures
// trade with others may be worth less than it seems; one that costs nothing is not needed for these observations.
#include "calibrate/ablation.h"

#include <algorithm>
#include <array>

namespace tailor::calibrate {

namespace {

using costmodel::CalibratedDevice;
/// Exponents and rates that leave no trace; every figure stays finite.
constexpr double endless = 1e6, tiny = 1e-15, corner = 64;

constexpr Ablation ablation_rows[] = {
    {"the floor of a call", "the host takes no time",
     [](CalibratedDevice& d, const ir::Device&) {
       d.dispatch_floor = d.dispatch_lead = d.launch_overhead = d.graph_overhead = d.ramp = d.cold_code = 0;
     }},
    {"what a call hides", "a long kernel waits for all of the floor",
     [](CalibratedDevice& d, const ir::Device&) { d.dispatch_lead = std::max(d.dispatch_lead, d.dispatch_floor); }},
    {"DRAM as a limit", "DRAM delivers at once",
     [](CalibratedDevice& d, const ir::Device&) { d.dram_bandwidth *= endless; }},
    {"efficiency of DRAM", "the data sheet's bandwidth",
     [](CalibratedDevice& d, const ir::Device&) {
       d.dram_efficiency = d.dram_read_efficiency = d.dram_write_efficiency = 1;
     }},
    {"turns between reads and writes", "reads and writes at the peak of both",
     [](CalibratedDevice& d, const ir::Device&) {
       d.dram_read_efficiency = d.dram_write_efficiency = d.dram_efficiency;
     }},
    {"the knee of bandwidth", "the longer of memory and latency",
     [](CalibratedDevice& d, const ir::Device&) { d.dram_knee = d.dram_mixed_knee = corner; }},
    {"data that a warm L2 holds", "all comes from memory",
     [](CalibratedDevice& d, const ir::Device&) { d.warm_share = 0; }},
    {"re-reads that L1 misses", "what a block reads again is in L1",
     [](CalibratedDevice& d, const ir::Device&) { d.l1_share = endless; }},
    {"re-reads that L1 has", "what a block reads again is not in L1",
     [](CalibratedDevice& d, const ir::Device&) { d.l1_share = tiny; }},
    {"what L2 keeps", "what was in L2 is there no more, be it warm or read again",
     [](CalibratedDevice& d, const ir::Device&) { d.l2_share = tiny; }},
    {"caches that fill up softly", "all that is read again misses when it has no room, and nothing else does",
     [](CalibratedDevice& d, const ir::Device&) { d.reuse_knee = corner; }},
    {"L2 as a limit", "L2 and its ports hand out at once",
     [](CalibratedDevice& d, const ir::Device&) {
       d.l2_bandwidth *= endless;
       d.sm_bandwidth *= endless;
     }},
    {"round trips", "loads take no time beside their bytes",
     [](CalibratedDevice& d, const ir::Device&) {
       d.dram_latency = d.l2_latency = d.l1_latency = d.trip_spread = tiny;
     }},
    {"latencies of instructions", "what waits for arithmetic, shared memory or a barrier goes on at once",
     [](CalibratedDevice& d, const ir::Device&) {
       d.shared_latency = d.fma_latency = d.xu_latency = d.shuffle_latency = d.barrier_latency = tiny;
       d.cluster_latency = d.distributed_latency = tiny;
     }},
    {"the knee of pipes", "the longer of pipes and latency",
     [](CalibratedDevice& d, const ir::Device&) { d.pipe_knee = corner; }},
    {"memory beside pipes", "the longer of memory and pipes",
     [](CalibratedDevice& d, const ir::Device&) { d.overlap_knee = endless; }},
    {"blocks alone on their SM", "a block alone hides its chain as many do",
     [](CalibratedDevice& d, const ir::Device&) { d.lone_share = 0; }},
    {"a first wave that waits", "the first blocks compute before their data is there",
     [](CalibratedDevice& d, const ir::Device&) { d.first_wave = 0; }},
    {"blocks that loop", "a block that loops over tiles is as fast as one for each",
     [](CalibratedDevice& d, const ir::Device&) { d.loop_excess = 0; }},
    {"writes that L2 holds", "DRAM turns to every write",
     [](CalibratedDevice& d, const ir::Device&) { d.write_hold = 0; }},
    {"how fast blocks start", "all blocks start at once",
     [](CalibratedDevice& d, const ir::Device&) { d.block_rate *= endless; }},
    {"atomics as a limit", "atomics cost their bytes alone",
     [](CalibratedDevice& d, const ir::Device&) { d.atomic_rate *= endless; }},
    {"blocks in the place of others", "the next block begins at once",
     [](CalibratedDevice& d, const ir::Device&) { d.block_turnaround = tiny; }},
    {"instructions", "all pipes and the issue of instructions are free",
     [](CalibratedDevice& d, const ir::Device&) {
       for (double CalibratedDevice::*const rate :
            {&CalibratedDevice::issue_rate, &CalibratedDevice::fma_rate, &CalibratedDevice::alu_rate,
             &CalibratedDevice::xu_rate, &CalibratedDevice::f64_rate, &CalibratedDevice::lsu_rate,
             &CalibratedDevice::shuffle_rate, &CalibratedDevice::shared_bandwidth,
             &CalibratedDevice::distributed_bandwidth, &CalibratedDevice::l1_bandwidth, &CalibratedDevice::widen_rate,
             &CalibratedDevice::narrow_rate})
         d.*rate *= endless;
     }},
    {"the clock that is sustained", "the data sheet's boost clock",
     [](CalibratedDevice& d, const ir::Device& device) { d.clock = device.clock.value; }},
    {"the learned residual", "the formulas alone",
     [](CalibratedDevice& d, const ir::Device&) { d.residual = nullptr; }},
};

}  // namespace

std::span<const Ablation> ablations() { return ablation_rows; }

}  // namespace tailor::calibrate
