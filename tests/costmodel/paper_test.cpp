// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Each formula of docs/model.md but those of memory (memory_test.cpp) and of groups (group_test.cpp), once on paper
// with all of its parts: every figure and every count is another round number, so that one in another's place shows.
// In: hand-made work and devices. Out: checks of parts and totals to the last digits. Part of the suite `costmodel`.
#include <doctest/doctest.h>

#include <cmath>

#include "costmodel/model.h"
#include "costmodel/occupancy.h"
#include "round_device.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::costmodel;
using ir::Part;

namespace {

/// The round device with another number for every figure of pipes and latencies.
CalibratedDevice device_of_pipes() {
  CalibratedDevice d = round_device();
  d.issue_rate = 4;
  d.fma_rate = 64;
  d.alu_rate = 32;
  d.xu_rate = 8;
  d.shuffle_rate = 16;
  d.f64_rate = 2;
  d.lsu_rate = 24;
  d.widen_rate = 40;
  d.narrow_rate = 5;
  d.shared_bandwidth = 96;
  d.distributed_bandwidth = 12;
  d.l1_bandwidth = 48;
  d.atomic_rate = 3;
  d.shared_latency = 20;
  d.shuffle_latency = 23;
  d.fma_latency = 4;
  d.xu_latency = 17;
  d.barrier_latency = 31;
  d.sm_bandwidth = 50;
  d.block_turnaround = 700e-9;
  d.dram_read_efficiency = 0.8;
  d.dram_write_efficiency = 0.5;
  d.dram_efficiency = 0.6;
  return d;
}

/// 25 blocks of 1,024 threads, two on each of 10 SMs: two waves, one turnaround, three blocks on the fullest SM.
Work work_of_pipes() {
  Work w;
  w.threads = 1024;
  w.virtual_blocks = w.grid = 25;
  w.live_registers = 8;
  w.buffers.resize(2);
  w.buffers[0].read_bytes = 3200000;
  w.buffers[0].load.sectors = w.buffers[0].read_sectors = 100000;
  w.buffers[0].block_sectors = 4000;
  w.buffers[0].atomic.sectors = 400;
  w.buffers[1].written_bytes = 1600000;
  w.buffers[1].store.sectors = w.buffers[1].written_sectors = 50000;
  w.buffers[1].atomic.sectors = 500;
  w.shared_load.wavefronts = 5000;
  w.shared_store.wavefronts = 7000;
  w.pipes.fma = 1000000;
  w.pipes.alu = 2100000;
  w.pipes.xu = 300000;
  w.pipes.f64 = 40000;
  w.pipes.widen = 520000;
  w.pipes.narrow = 610000;
  w.pipes.memory = 700000;
  w.pipes.shuffle = w.shuffles = 830000;
  w.pipes.barrier = w.barriers = 910;
  w.pipes.control = 1010;
  w.pipes.address = 1130;
  w.critical_path = {3, 5, 7, 11, 13, 2};  // memory, shared, shuffle, barrier, arithmetic, xu
  w.critical_path.far = 3;
  return w;
}

/// (a^p + b^p)^(1/p)
double knee(double a, double b, double p) { return std::pow(std::pow(a, p) + std::pow(b, p), 1 / p); }

}  // namespace

TEST_CASE("each pipe takes its instructions over its rate on the fullest of the SMs") {
  CalibratedDevice d = device_of_pipes();
  Work w = work_of_pipes();
  // Three blocks where 2.5 is the mean: 1.2. A lane instruction of all warps takes 32 * 1.2 / (10 * 1 GHz).
  const double lane = 32 * 1.2 / 10e9;
  ir::Estimate e = projected(w, d, bare_regime());
  CHECK(part_of(e, Part::fma) == approx(40000 / 2.0 * lane).epsilon(last_digits));  // f64 is the longer of the two
  CHECK(part_of(e, Part::alu) == approx(2100000 / 32.0 * lane).epsilon(last_digits));
  CHECK(part_of(e, Part::xu) == approx((300000 / 8.0 + 610000 / 5.0) * lane).epsilon(last_digits));
  CHECK(part_of(e, Part::issue) == approx(6103050 * 1.2 / (4 * 10e9)).epsilon(last_digits));
  const double path = (12000 * 128 / 96.0 + 3200000 / 48.0 + 830000 * 32 / 16.0) * 1.2 / 10e9;
  CHECK(part_of(e, Part::shared) ==
        approx((700000 + 830000) / 24.0 * lane).epsilon(last_digits));  // the units that load
  CHECK(part_of(e, Part::atomic) == approx(900 / 3e9).epsilon(last_digits));
  d.lsu_rate = 240;
  e = projected(w, d, bare_regime());
  CHECK(part_of(e, Part::shared) == approx(path).epsilon(last_digits));
  w.pipes.f64 = 10000;
  CHECK(part_of(projected(w, d, bare_regime()), Part::fma) == approx(1000000 / 64.0 * lane).epsilon(last_digits));
}

TEST_CASE("conversions take the pipe that a GPU of their age has for them") {
  CalibratedDevice d = device_of_pipes();
  Work w = work_of_pipes();
  w.pipes = {};
  w.pipes.widen = 1;
  w.pipes.pack = 10;
  w.pipes.number = 100;
  w.pipes.narrow = 1000;
  const double lane = 32 * 1.2 / 10e9;
  struct Row {
    int capability;
    double fma, alu, xu;  // cycles of a lane
  };
  for (const Row& row : {Row{61, 0, 0, 1110 / 5.0 + 1 / 40.0}, Row{75, 1 / 40.0, 0, 1110 / 5.0},
                         Row{80, 1 / 40.0, 10 / 32.0, 1100 / 5.0}, Row{86, 1 / 40.0, 110 / 32.0, 1000 / 5.0},
                         Row{90, 1 / 40.0, 110 / 32.0, 1000 / 5.0}}) {
    CAPTURE(row.capability);
    d.limits.compute_capability = row.capability;
    const ir::Estimate e = projected(w, d, bare_regime());
    CHECK(part_of(e, Part::fma) == approx(row.fma * lane).epsilon(last_digits));
    CHECK(part_of(e, Part::alu) == approx(row.alu * lane).epsilon(last_digits));
    CHECK(part_of(e, Part::xu) == approx(row.xu * lane).epsilon(last_digits));
  }
}

TEST_CASE("the latency view is whole waves of one warp's path, turnarounds and the port") {
  const CalibratedDevice d = device_of_pipes();
  const ir::Estimate e = projected(work_of_pipes(), d, bare_regime());
  const double cycles = 5 * 20 + 7 * 23 + 13 * 4 + 2 * 17, barriers = 11 * 31;
  const double port = (3200000 + 1600000 + 32 * 900) * 1.2 / (10 * 50e9);
  CHECK(part_of(e, Part::barrier) == approx(2 * barriers * 1e-9).epsilon(last_digits));
  CHECK(part_of(e, Part::l2) == approx(port).epsilon(last_digits));
  CHECK(part_of(e, Part::latency) ==
        approx(2 * (3 * 400e-9 + (cycles + barriers) * 1e-9) + 700e-9 + port).epsilon(last_digits));
}

TEST_CASE("meetings of a cluster and reads of its other blocks are steps of the path") {
  CalibratedDevice d = device_of_pipes();
  d.cluster_latency = 611;
  d.distributed_latency = 207;
  Work w = work_of_pipes();
  const ir::Estimate without = projected(w, d, bare_regime());
  w.critical_path.cluster = 3;
  w.critical_path.distributed = 2;
  const ir::Estimate with = projected(w, d, bare_regime());
  CHECK(part_of(with, Part::barrier) - part_of(without, Part::barrier) == approx(2 * 3 * 611e-9).epsilon(last_digits));
  CHECK(part_of(with, Part::latency) - part_of(without, Part::latency) ==
        approx(2 * (3 * 611 + 2 * 207) * 1e-9).epsilon(last_digits));
  // What comes over the network between SMs takes its time beside what the own shared memory hands out.
  const double path = part_of(without, Part::shared) * 10 / 1.2;
  w.distributed_bytes = std::llround(path * 1e9 * 12 / 2);
  CHECK(part_of(projected(w, d, bare_regime()), Part::shared) == part_of(without, Part::shared));
  w.distributed_bytes *= 6;
  CHECK(part_of(projected(w, d, bare_regime()), Part::shared) ==
        approx(3 * part_of(without, Part::shared)).epsilon(1e-3));
}

TEST_CASE("the blocks of a cluster find room among the SMs of one processing cluster") {
  CalibratedDevice d = device_of_pipes();  // 10 SMs, two blocks of 1,024 threads on each
  d.sms_per_gpc = 4;                       // two processing clusters of four, one of two
  d.small_gpc = 2;
  Work w = work_of_pipes();
  w.virtual_blocks = w.grid = 120;
  const auto waves = [&](int cluster) {
    w.cluster = cluster;
    return projected(w, d, bare_regime()).waves;
  };
  CHECK(waves(1) == 6);   // 20 blocks at once
  CHECK(waves(2) == 6);   // 2 * (2 + 2 + 1) clusters
  CHECK(waves(4) == 8);   // 2 * (1 + 1)
  CHECK(waves(3) == 10);  // the same, of three
  CHECK(waves(8) == 8);   // of none it is said that one fits with each block of an SM
  d.small_gpc = 0;
  CHECK(waves(4) == 8);  // of six and four
  CHECK(waves(6) == 10);
}

TEST_CASE("SMs outside of whole clusters have nothing, and the others more") {
  CalibratedDevice d = device_of_pipes();
  d.sms_per_gpc = 4;
  d.small_gpc = 2;
  Work w = work_of_pipes();
  w.virtual_blocks = w.grid = 120;
  w.cluster = 2;  // 12 blocks an SM
  const double even = part_of(projected(w, d, bare_regime()), Part::fma);
  w.cluster = 4;  // eight SMs with 15
  CHECK(part_of(projected(w, d, bare_regime()), Part::fma) == approx(even * 15 / 12).epsilon(last_digits));
}

TEST_CASE("one kernel on paper, with every part: memory, pipes, launch") {
  CalibratedDevice d = device_of_pipes();
  d.dram_knee = 3;
  d.dram_mixed_knee = 2;
  d.pipe_knee = 1.5;
  d.launch_overhead = 3e-6;
  d.ramp = 1e-6;
  d.projected_low = 0.25;
  d.projected_high = 0.5;
  Work w = work_of_pipes();
  const double reads = 3.2e6 / 0.8e12, writes = 1.6e6 / 0.5e12, turn = 1 / 0.6 - (1.25 + 2) / 2;
  const double dram = reads + writes + 4 * turn * 3.2e6 * 1.6e6 / 4.8e6 * 1e-12;
  const double port = 4828800 * 1.2 / (10 * 50e9), trips = 2 * 3 * 400e-9;
  const double chain = trips + 2 * (347 + 341) * 1e-9 + 700e-9, latency = chain + port;
  REQUIRE(port > dram);  // memory's longest part is the port
  const double mixed = 2 * reads * 0.8 / 0.8 > 2 * writes ? 2 * writes / port : 2 * reads / port;
  const double greater = std::max(port, latency), waiting = trips / latency;
  const double overlapped =
      greater + waiting * ((1 - mixed) * knee(port, latency, 3) + mixed * knee(port, latency, 2) - greater);
  const double memory_time = overlapped + std::max(0.0, port + chain - overlapped) / 2;
  REQUIRE(mixed < 1);
  const double alu = 2100000 / 32.0 * 32 * 1.2 / 10e9, shared = 1530000 / 24.0 * 32 * 1.2 / 10e9;
  const double xu = 159500 * 32 * 1.2 / 10e9;
  REQUIRE(xu > std::max(alu, shared));
  const double pipe_time = knee(xu, latency, 1.5);
  REQUIRE(pipe_time > memory_time);
  ir::Estimate e = projected(w, d);
  CHECK(e.total.value == approx(4e-6 + pipe_time).epsilon(last_digits));
  CHECK(e.low.value == approx(0.75 * (4e-6 + pipe_time)).epsilon(last_digits));
  CHECK(e.high.value == approx(1.5 * (4e-6 + pipe_time)).epsilon(last_digits));
  CHECK(part_of(e, Part::launch) == approx(4e-6).epsilon(last_digits));
  CHECK(part_of(e, Part::dram) == approx(dram).epsilon(last_digits));
  CHECK(e.bottleneck == Part::xu);
  CHECK(e.waves == 2);
  CHECK(e.occupancy == 1);
  CHECK(e.registers == 16);
  // Without the pipes memory decides, and the port is its longest part.
  w.pipes = {};
  w.shared_load = w.shared_store = {};
  d.l1_bandwidth = 4800;
  e = projected(w, d);
  REQUIRE(knee(3200000 / 4800.0 * 1.2 / 10e9, latency, 1.5) < memory_time);
  CHECK(e.total.value == approx(4e-6 + memory_time).epsilon(last_digits));
  CHECK(e.bottleneck == Part::latency);
  d.launch_overhead = 300e-6;
  CHECK(projected(w, d).bottleneck == Part::launch);
}

TEST_CASE("waves are whole, and only blocks that start in another one's place turn around") {
  struct Row {
    std::int64_t grid, virtual_blocks;
    double waves, turnarounds;
  };
  // Twenty blocks of 1,024 threads are resident. A persistent block turns to its next virtual block for nothing.
  for (const Row& row : {Row{20, 20, 1, 0},
                         {21, 21, 2, 1},
                         {40, 40, 2, 1},
                         {41, 41, 3, 2},
                         {20, 41, 3, 0},
                         {15, 45, 3, 0},
                         {15, 46, 4, 0},
                         {60, 19, 1, 0}}) {
    CAPTURE(row.grid);
    CAPTURE(row.virtual_blocks);
    CalibratedDevice d = round_device();
    d.block_turnaround = 10e-6;
    d.block_rate = 1e15;
    Work w;
    w.threads = 1024;
    w.grid = row.grid;
    w.virtual_blocks = row.virtual_blocks;
    w.live_registers = 8;
    w.critical_path.memory = w.critical_path.far = 1;
    const ir::Estimate e = projected(w, d, bare_regime());
    CHECK(e.waves == row.waves);
    CHECK(part_of(e, Part::latency) == approx(row.waves * 400e-9 + row.turnarounds * 10e-6).epsilon(1e-9));
  }
}

TEST_CASE("what does not fit the registers is stored once and loaded once, through L2") {
  CalibratedDevice d = round_device();
  d.register_base = 8;
  d.register_unit = 256;
  d.registers_per_block = 65536;
  d.registers_per_thread = 255;
  Work w;
  w.threads = 1024;
  w.virtual_blocks = w.grid = 10;
  w.buffers.resize(1);
  w.buffers[0].read_bytes = 32000;
  w.buffers[0].load.sectors = w.buffers[0].read_sectors = 1000;
  const auto spill_of = [&](int live) {
    w.live_registers = live;
    return projected(w, d, bare_regime());
  };
  // 64 registers a thread let a block of 1,024 start.
  CHECK(part_of(spill_of(56), Part::spill) == 0);
  CHECK(spill_of(56).registers == 64);
  const ir::Estimate over = spill_of(100);
  CHECK(over.registers == 64);
  CHECK(part_of(over, Part::spill) == approx(2 * 4 * 44 * 10240 / 2e12).epsilon(last_digits));
  CHECK(part_of(over, Part::l2) == approx((32000 + 2 * 4 * 44 * 10240) / 2e12).epsilon(last_digits));
  w.threads = 100;  // 655 registers are no number of a unit of 8, and a thread has at most 255
  CHECK(spill_of(300).registers == 255);
  w.threads = 288;  // 227 registers a thread: whole units are 224
  CHECK(spill_of(300).registers == 224);
  CHECK(part_of(spill_of(217), Part::spill) == approx(2 * 4 * 1 * 2880 / 2e12).epsilon(last_digits));
}

TEST_CASE("compiled charges the spills of every thread, and a round trip for what the assembler moved apart") {
  CalibratedDevice d = round_device();
  d.compiled_low = 0.125;
  d.compiled_high = 0.375;
  Work w;
  w.threads = 128;
  w.virtual_blocks = w.grid = 10;
  w.buffers.resize(1);
  w.buffers[0].read_bytes = 32000;
  w.buffers[0].load.sectors = w.buffers[0].read_sectors = 1000;
  w.critical_path.memory = w.critical_path.far = 2;
  w.loads_in_flight = 8;
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 40;
  binary.spill_stores = 100;
  binary.spill_loads = 700;
  const auto latency_of = [&](int outstanding) {
    binary.loads_outstanding = outstanding;
    return part_of(compiled(w, binary, d, bare_regime()), Part::latency);
  };
  const ir::Estimate e = compiled(w, binary, d, bare_regime());
  CHECK(part_of(e, Part::spill) == approx(800 * 1280 / 2e12).epsilon(last_digits));
  CHECK(part_of(e, Part::l2) == approx((32000 + 800 * 1280) / 2e12).epsilon(last_digits));
  CHECK(e.low.value == approx(0.875 * e.total.value).epsilon(last_digits));
  CHECK(e.high.value == approx(1.375 * e.total.value).epsilon(last_digits));
  const double port = 32000 / (10 * 1e18);
  CHECK(latency_of(0) == approx(800e-9 + port).epsilon(last_digits));  // nobody knows
  CHECK(latency_of(8) == approx(800e-9 + port).epsilon(last_digits));
  CHECK(latency_of(9) == approx(800e-9 + port).epsilon(last_digits));
  CHECK(latency_of(3) == approx(800e-9 * 8 / 3 + port).epsilon(last_digits));
}

TEST_CASE("the bound is the longest of its parts, by rates that are reached by nobody") {
  CalibratedDevice d = device_of_pipes();
  d.launch_overhead = 3e-6;
  d.sol_low = 0.1;
  d.sol_high = 0.2;
  GroupWork needs;
  needs.bytes_read = 6e6;
  needs.bytes_written = 4e6;
  needs.fma = 7e6;
  needs.alu = 9e6;
  needs.xu = 2e6;
  needs.f64 = 1e6;
  const auto part = [&](Part which) { return part_of(sol(needs, d), which); };
  CHECK(part(Part::launch) == 3e-6);
  CHECK(part(Part::dram) == approx(10e6 / 1e12).epsilon(last_digits));
  CHECK(part(Part::l2) == approx(10e6 / 0.5e12).epsilon(last_digits));  // the ports of ten SMs take less than L2 gives
  CHECK(part(Part::fma) == approx(1e6 / 2 / 10e9).epsilon(last_digits));
  CHECK(part(Part::alu) == approx(9e6 / 32 / 10e9).epsilon(last_digits));
  CHECK(part(Part::xu) == approx(2e6 / 8 / 10e9).epsilon(last_digits));
  const ir::Estimate ports = sol(needs, d);
  CHECK(ports.bottleneck == Part::fma);
  CHECK(ports.total.value == approx(3e-6 + 50e-6).epsilon(last_digits));
  CHECK(ports.low.value == approx(0.9 * 53e-6).epsilon(last_digits));
  CHECK(ports.high.value == approx(1.2 * 53e-6).epsilon(last_digits));
  needs.f64 = 0;
  CHECK(part(Part::fma) == approx(7e6 / 64 / 10e9).epsilon(last_digits));
  d.sm_bandwidth = 1e9;
  CHECK(part(Part::l2) == approx(10e6 / 2e12).epsilon(last_digits));
  CHECK(sol(needs, d).bottleneck == Part::alu);
  d.launch_overhead = 300e-6;
  CHECK(sol(needs, d).bottleneck == Part::launch);
}

TEST_CASE("what a warm L2 keeps falls from its share through one half to nothing") {
  CalibratedDevice d = round_device();
  d.warm_share = 0.6;
  d.reuse_knee = 2;
  d.l2_bytes = 4e6;
  d.l2_share = 0.5;
  const auto dram = [&](double read, double written, ir::CacheState cache) {
    GroupWork needs;
    needs.bytes_read = read;
    needs.bytes_written = written;
    ir::Regime regime = bare_regime();
    regime.cache = cache;
    return part_of(sol(needs, d, regime), Part::dram) * 1e12;
  };
  // 2 MB of room. 2 MB touched: 0.6 / 2 of it; 6 MB: 0.6 / (1 + 9).
  CHECK(dram(1.5e6, 0.5e6, ir::CacheState::warm) == approx(2e6 * 0.7).epsilon(last_digits));
  CHECK(dram(1.5e6, 0.5e6, ir::CacheState::produced) == approx(1.5e6 * 0.7 + 0.5e6).epsilon(last_digits));
  CHECK(dram(2e6, 4e6, ir::CacheState::warm) == approx(6e6 * 0.94).epsilon(last_digits));
  CHECK(dram(2e6, 4e6, ir::CacheState::produced) == approx(2e6 * 0.94 + 4e6).epsilon(last_digits));
  CHECK(dram(2e6, 4e6, ir::CacheState::cold) == 6e6);
  CHECK(dram(2e6, 4e6, ir::CacheState::dirty) == 6e6);
}

TEST_CASE("a launch is a graph's where its timer or its way of launching says so, and no dearer than a plain one") {
  struct Row {
    ir::Timer timer;
    ir::LaunchMode launch;
    double gap;
  };
  CalibratedDevice d = round_device();
  d.launch_overhead = 5e-6;
  d.graph_overhead = 2e-6;
  d.ramp = 1e-6;
  GroupWork nothing;
  for (const Row& row : {Row{ir::Timer::stream, ir::LaunchMode::stream, 5e-6},
                         {ir::Timer::events, ir::LaunchMode::graph, 2e-6},
                         {ir::Timer::graph, ir::LaunchMode::stream, 2e-6},
                         {ir::Timer::graph, ir::LaunchMode::graph, 2e-6}}) {
    ir::Regime regime;
    regime.timer = row.timer;
    regime.launch = row.launch;
    CHECK(part_of(sol(nothing, d, regime), Part::launch) == row.gap);
    CHECK(part_of(projected(work_of_pipes(), d, regime), Part::launch) == approx(row.gap + 1e-6).epsilon(last_digits));
    CHECK(part_of(library({}, d, regime), Part::launch) == row.gap);
    regime.includes.launch_gap = false;
    CHECK(part_of(sol(nothing, d, regime), Part::launch) == 0);
    CHECK(part_of(projected(work_of_pipes(), d, regime), Part::launch) == approx(1e-6).epsilon(last_digits));
  }
  d.graph_overhead = 9e-6;
  ir::Regime graph;
  graph.launch = ir::LaunchMode::graph;
  CHECK(part_of(sol(nothing, d, graph), Part::launch) == 5e-6);
}

TEST_CASE("a library call is its bytes and a launch, whichever is longer decides, and a call has its floor") {
  CalibratedDevice d = round_device();
  d.launch_overhead = 2e-6;
  d.dispatch_floor = 20e-6;
  d.sol_low = 0.1;
  d.sol_high = 0.3;
  const ir::Estimate small = library({1e6, 5e9}, d), large = library({5e6, 5e9}, d);
  CHECK(small.total.value == approx(3e-6).epsilon(last_digits));
  CHECK(small.bottleneck == Part::launch);
  CHECK(large.total.value == approx(7e-6).epsilon(last_digits));
  CHECK(large.bottleneck == Part::dram);
  CHECK(large.low.value == approx(6.3e-6).epsilon(last_digits));
  CHECK(large.high.value == approx(9.1e-6).epsilon(last_digits));
  ir::Regime host;
  host.includes = ir::includes(ir::Timer::host);
  CHECK(library({5e6, 5e9}, d, host).total.value == approx(20e-6).epsilon(last_digits));
  GroupWork needs;
  needs.bytes_read = 5e6;
  CHECK(sol(needs, d, host).total.value == approx(20e-6).epsilon(last_digits));
}

TEST_CASE("an execution's counts take the place of the program's, each in its own") {
  Work w = work_of_pipes();
  w.busiest_block = 1000000;
  w.pipes.address = 0;
  w.buffers[0].reload_sectors = 90000;
  ir::LaunchCounts c;
  c.buffers = {{{101, 102, 103}, {104, 105, 106}, {107, 108, 109}},
               {{111, 112, 113}, {114, 115, 116}, {117, 118, 119}}};
  c.shared_load_requests = 121;
  c.shared_load_bytes = 122;
  c.shared_load_wavefronts = 123;
  c.shared_store_requests = 131;
  c.shared_store_bytes = 132;
  c.shared_store_wavefronts = 133;
  c.shuffles = 141;
  c.block_barriers = 142;
  c.fma = 143;
  c.alu = 144;
  c.votes = 145;
  c.xu = 146;
  c.f64 = 147;
  c.convert = 1130;
  c.control = 149;
  c.blocks_run = 24;
  c.blocks_total = 25;
  const Work seen = with_counts(w, c);
  CHECK(seen.buffers[0].load == Traffic{101, 102, 103});
  CHECK(seen.buffers[0].store == Traffic{104, 105, 106});
  CHECK(seen.buffers[0].atomic == Traffic{107, 108, 109});
  CHECK(seen.buffers[1].load == Traffic{111, 112, 113});
  CHECK(seen.buffers[1].store == Traffic{114, 115, 116});
  CHECK(seen.buffers[1].atomic == Traffic{117, 118, 119});
  CHECK(seen.buffers[0].reload_sectors == 102);  // no more than were loaded
  CHECK(seen.buffers[0].read_bytes == w.buffers[0].read_bytes);
  CHECK(seen.shared_load == SharedWork{121, 122, 123});
  CHECK(seen.shared_store == SharedWork{131, 132, 133});
  CHECK(seen.shuffles == 141);
  CHECK(seen.barriers == 142);
  Pipes pipes;
  pipes.fma = 143;
  pipes.alu = 144 + 145;
  pipes.xu = 146;
  pipes.f64 = 147;
  pipes.widen = 520;  // as 520,000 to 610,000 in the program
  pipes.narrow = 610;
  pipes.memory = 101 + 104 + 107 + 111 + 114 + 117 + 121 + 131;
  pipes.shuffle = 141;
  pipes.barrier = 142;
  pipes.control = 149;
  CHECK(seen.pipes == pipes);
  CHECK(seen.busiest_block == 523);  // 3,193 instructions where the program has 6,101,920
  CHECK(seen.sampled);
  c.blocks_run = 25;
  CHECK_FALSE(with_counts(w, c).sampled);
}

TEST_CASE("registers go to warps of a sub-partition, and each block takes the system's reserve of shared memory too") {
  ir::Limits l = shipped("h200").limits;
  // 40 registers: 1,280 a warp; 12 warps in each of four sub-partitions, 48 and not 51 on the SM: 16 blocks of 3 warps.
  CHECK(occupancy(l, 96, 40, 0) == Occupancy{16, Limiter::registers, 16 * 96 / 2048.0});
  // Units of 256: 33 registers are 1,280 too, 32 are 1,024.
  CHECK(occupancy(l, 96, 33, 0).blocks_per_sm == 16);
  CHECK(occupancy(l, 96, 32, 0).blocks_per_sm == 21);
  // 10,000 bytes and 1,024 of the system's are 87 units of 128: 20 of 233,472.
  CHECK(occupancy(l, 32, 16, 10000) == Occupancy{20, Limiter::shared, 20 * 32 / 2048.0});
  CHECK(occupancy(l, 32, 16, 10113).blocks_per_sm == 20);
  CHECK(occupancy(l, 32, 16, 11136 - 1024 + 1).blocks_per_sm == 20);
  CHECK(occupancy(l, 32, 16, 227 * 1024).blocks_per_sm == 1);
  CHECK(occupancy(l, 32, 16, 227 * 1024 + 1).blocks_per_sm == 0);
  CHECK(occupancy(l, 1024, 64, 0).blocks_per_sm == 1);
  CHECK(occupancy(l, 1025, 16, 0).blocks_per_sm == 0);
  CHECK(occupancy(l, 32, 256, 0).blocks_per_sm == 0);
}

TEST_CASE(
    "a count stands under its name, of a launch as the sum over its buffers, and nothing where the program is silent") {
  Work w = work_of_pipes();
  w.buffers[0].load = {11, 12, 13};
  w.buffers[0].store = {14, 15, 16};
  w.buffers[0].atomic = {17, 18, 19};
  w.buffers[1].load = {100, 200, 300};
  w.buffers[1].store = {400, 500, 600};
  w.buffers[1].atomic = {700, 800, 900};
  w.shared_load = {21, 22, 23};
  w.shared_store = {24, 25, 26};
  struct Row {
    std::string_view counter;
    double launch, buffer;  ///< of the launch, of its first buffer; below 0: none
  };
  for (const Row& row : {Row{"dram_read_bytes", 3200000 + 1600000, -1},  // atomic operations read where they write
                         {"dram_write_bytes", 1600000, -1},
                         {"l2_read_bytes", -1, -1},
                         {"global_load_requests", 111, 11},
                         {"global_load_sectors", 212, 12},
                         {"global_load_bytes", 313, 13},
                         {"global_store_requests", 414, 14},
                         {"global_store_sectors", 515, 15},
                         {"global_store_bytes", 616, 16},
                         {"global_atomic_requests", 717, 17},
                         {"global_atomic_sectors", 818, 18},
                         {"global_atomic_bytes", 919, 19},
                         {"shared_load_requests", 21, -1},
                         {"shared_load_bytes", 22, -1},
                         {"shared_load_wavefronts", 23, -1},
                         {"shared_store_requests", 24, -1},
                         {"shared_store_bytes", 25, -1},
                         {"shared_store_wavefronts", 26, -1},
                         {"instructions", 6103050, -1},
                         {"fma", 1000000, -1},
                         {"alu", 2100000 + 1130, -1},
                         {"xu", 300000, -1},
                         {"f64", 40000, -1},
                         {"convert", 520000 + 610000, -1},
                         {"control", 1010, -1},
                         {"shuffles", 830000, -1},
                         {"block_barriers", 910, -1},
                         {"local_load_requests", 0, -1},
                         {"votes", -1, -1},
                         {"no such counter", -1, -1}}) {
    CAPTURE(row.counter);
    CHECK(model_count(w, row.counter).value_or(-1) == row.launch);
    CHECK(model_count(w.buffers[0], row.counter).value_or(-1) == row.buffer);
  }
  CHECK(sectors(w) == 12 + 15 + 18 + 200 + 500 + 800);
  CHECK(compulsory_bytes(w) == 4800000);
}

TEST_CASE("what memory delivers is whole sectors where they are known, and never fewer than the bytes") {
  BufferWork buffer;
  buffer.read_bytes = 100;
  buffer.written_bytes = 200;
  CHECK(read_footprint(buffer) == 100);
  CHECK(written_footprint(buffer) == 200);
  buffer.read_sectors = 7;
  buffer.written_sectors = 5;
  CHECK(read_footprint(buffer) == 224);
  CHECK(written_footprint(buffer) == 200);
}
