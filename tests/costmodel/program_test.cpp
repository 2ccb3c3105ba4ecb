// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The work and the estimates of programs of several launches: counted launch by launch as the interpreter of the tests
// counts them, added up where somebody asks for the whole, and priced as a sum in which a later launch takes its launch
// and finds in L2 what an earlier one left. In: programs by hand, devices with round figures. Part of the suite
// `costmodel`.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "costmodel/count.h"
#include "costmodel/flat/flat.h"
#include "costmodel/model.h"
#include "costmodel/parts.h"
#include "round_device.h"
#include "support/interpret.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

std::vector<std::vector<std::byte>> zeros_for(const ir::Kernel& kernel) {
  std::vector<std::vector<std::byte>> all;
  for (const ir::Buffer& buffer : kernel.buffers)
    all.emplace_back(static_cast<std::size_t>(buffer.elements * ir::row(buffer.dtype).bits / 8));
  return all;
}

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::abs(b); }

bool same(const Traffic& a, const ir::Traffic& b) {
  return a.requests == b.requests && a.sectors == b.sectors && a.bytes == b.bytes;
}

/// The first launch reads `first` bytes of buffer 0 and writes `left` of buffer 1; the second reads `second` of buffer
/// 0 and all of buffer 1, and writes as much of buffer 2.
Work two_launches(std::int64_t first, std::int64_t left, std::int64_t second) {
  const auto reads = [](BufferWork& b, std::int64_t bytes) {
    b.read_bytes = bytes;
    b.load.sectors = b.read_sectors = bytes / 32;
    b.block_sectors = bytes / 32 / 1000;
  };
  const auto writes = [](BufferWork& b, std::int64_t bytes) {
    b.written_bytes = bytes;
    b.store.sectors = b.written_sectors = bytes / 32;
  };
  Work w;
  w.threads = 1024;
  w.virtual_blocks = w.grid = 1000;
  w.live_registers = 8;
  w.buffers.resize(3);
  Work behind = w;
  reads(w.buffers[0], first);
  writes(w.buffers[1], left);
  if (second > 0) reads(behind.buffers[0], second);
  reads(behind.buffers[1], left);
  writes(behind.buffers[2], left);
  w.followers = {behind};
  return w;
}

Work first_launch(Work work) {
  work.followers.clear();
  return work;
}

double part_sum(const Work& work, const CalibratedDevice& d, ir::Part part) {
  return part_of(projected(work, d, bare_regime()), part);
}

}  // namespace

TEST_CASE("each launch of a program is counted as the interpreter counts it, in both modes") {
  for (const int launches : {2, 3})
    for (const auto& [rows, columns, parts] :
         {std::tuple{5, 512, 2}, std::tuple{4, 3072, 12}, std::tuple{3, 8192, 32}}) {
      if (rows * columns % 512 != 0) continue;
      CAPTURE(launches);
      CAPTURE(rows);
      const ir::Kernel program = ir::example_split_rows(rows, columns, parts, launches);
      const Work exact = count(program, Mode::exact), fast = count(program, Mode::fast);
      CHECK(exact == fast);
      REQUIRE(works_of(exact).size() == static_cast<std::size_t>(launches));
      const ir::RunCounts counts = ir::interpret(program, zeros_for(program)).counts;
      const Work all = together(exact);
      CHECK(all.followers.empty());
      for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        CHECK(same(all.buffers[b].load, counts.buffers[b][0]));
        CHECK(same(all.buffers[b].store, counts.buffers[b][1]));
      }
      CHECK(all.shared_load.requests == counts.shared_loads.requests);
      CHECK(all.shared_store.bytes == counts.shared_stores.bytes);
      CHECK(all.shuffles == counts.shuffles);
      CHECK(all.barriers == counts.barriers);
      CHECK(model_count(exact, "shuffles") == static_cast<double>(counts.shuffles));
      CHECK(model_count(exact, "global_load_requests") ==
            static_cast<double>(counts.buffers[0][0].requests + counts.buffers[1][0].requests +
                                counts.buffers[3][0].requests + (launches == 3 ? counts.buffers[4][0].requests : 0)));
      // Launch by launch: each kernel counted by itself.
      for (std::size_t k = 0; k < ir::kernels_of(program).size(); ++k) {
        ir::Kernel one = ir::kernels_of(program)[k];
        one.followers.clear();
        CHECK(first_launch(works_of(exact)[k]) == count(one, Mode::exact));
      }
    }
}

TEST_CASE("what a follower loads of an earlier launch is new to it, though nothing may keep it in a register") {
  const Work w = count(ir::example_split_rows(4, 3072, 12, 3), Mode::exact);
  for (const Work& one : works_of(w))
    for (const BufferWork& b : one.buffers) CHECK(b.reload_sectors == 0);
  CHECK(w.followers[0].critical_path.far == 1);  // the sums of the parts; w came while it waited
  CHECK(w.followers[0].critical_path.memory == 1);
  CHECK(w.followers[1].critical_path.far == 1);  // x and its row's number come together
  // A kernel that reads what it wrote itself reads it again.
  ir::KernelBuilder b("own", 32, 1);
  const ir::VarId tid = b.thread("tid", 1, 32);
  const ir::BufferId y = b.out("y", ir::DType::f32, 32);
  b.store(y, b.var(tid), b.real(ir::DType::f32, 1));
  b.load_let("v", y, b.var(tid), ir::Policy::reload);
  CHECK(count(b.finished(), Mode::exact).buffers[0].reload_sectors == 4);
}

TEST_CASE("counting memory is used again from program to kernel and back, and a flat loop is no program") {
  const ir::Kernel program = ir::example_split_rows(4, 1024, 4, 3), map = ir::example_map(4, 128, ir::DType::f32);
  Scratch scratch;
  Work work;
  for (const ir::Kernel* one : {&program, &map, &program}) {
    count(*one, Mode::fast, scratch, work);
    CHECK(work == count(*one, Mode::fast));
  }
  CHECK_FALSE(count_within(program, 1, scratch, work));
  CHECK(count_within(program, 1 << 20, scratch, work));
}

TEST_CASE("a program needs of memory what its first launch to touch a buffer moves of it") {
  const Work w = two_launches(64000000, 3200000, 32000000);
  const std::vector<Compulsory> kernels = compulsory_of_kernels(w);
  CHECK(kernels.size() == 2);
  CHECK(kernels[0].read == 64000000);
  CHECK(kernels[0].written == 3200000);
  CHECK(kernels[1].read == 0);
  CHECK(kernels[1].written == 3200000);
  CHECK(compulsory_bytes(w) == 64000000 + 2 * 3200000);
  CHECK(compulsory_work(w).bytes_read == 64000000);
  CHECK(sectors(w) == (64000000 + 2 * 3200000 + 3200000 + 32000000) / 32);
}

TEST_CASE("times and parts of a program are sums; a launch behind another takes a gap and a ramp in every regime") {
  const CalibratedDevice d = shipped("h200");
  // L2 of nothing, so that a later launch is as it would be alone.
  CalibratedDevice cold = d;
  cold.l2_bytes = 1e-3;
  Work w = two_launches(64000000, 3200000, 32000000);
  w.followers[0].code_instructions = 500;
  const double cold_code = 500 * d.cold_code / d.clock;
  CHECK(cold_code > 0);
  for (const bool gap : {false, true})
    for (const bool ramp : {false, true}) {
      ir::Regime regime;
      regime.includes = {};
      regime.includes.launch_gap = gap;
      regime.includes.ramp = ramp;
      const ir::Estimate both = projected(w, cold, regime);
      const ir::Estimate first = projected(first_launch(w), cold, regime);
      const ir::Estimate second = projected(w.followers[0], cold, regime);
      const double own = part_of(second, ir::Part::launch);
      const double code = part_of(second, ir::Part::code), launch = d.launch_overhead + d.ramp;
      CHECK(near(both.total.value, first.total.value + second.total.value - own - code + launch + cold_code, 1e-9));
      CHECK(near(part_of(both, ir::Part::launch), part_of(first, ir::Part::launch) + launch, 1e-9));
      CHECK(near(part_of(both, ir::Part::code), cold_code, 1e-9));
      for (const ir::Part part : {ir::Part::dram, ir::Part::l2, ir::Part::latency, ir::Part::issue})
        CHECK(near(part_of(both, part), part_of(first, part) + part_of(second, part), 1e-9));
      CHECK(both.registers == std::max(first.registers, second.registers));
      CHECK(both.total.value >= sol(compulsory_work(w), cold, regime).total.value);
    }
  // In a graph the gap is a graph's.
  ir::Regime graph = bare_regime();
  graph.launch = ir::LaunchMode::graph;
  CHECK(near(part_of(projected(w, d, graph), ir::Part::launch), std::min(d.graph_overhead, d.launch_overhead) + d.ramp,
             1e-9));
  CHECK(near(part_of(projected(w, d, graph), ir::Part::code), cold_code, 1e-9));
}

TEST_CASE("the floor of a framework's call is that of the whole program") {
  CalibratedDevice d = shipped("h200");
  d.dispatch_floor = 1;
  ir::Regime call;
  call.includes.dispatch_floor = true;
  CHECK(projected(two_launches(64000000, 3200000, 0), d, call).total.value == 1);
  d.dispatch_floor = 1e-9;
  const ir::Estimate whole = projected(two_launches(64000000, 3200000, 0), d, call);
  call.includes.dispatch_floor = false;
  d.dispatch_lead = 0;
  CHECK(whole.total >= projected(two_launches(64000000, 3200000, 0), d, call).total);
}

TEST_CASE("the worst occupancy, waves and registers of a program's kernels are shown, and what binds the sum") {
  const CalibratedDevice d = shipped("h200");
  Work w = two_launches(64000000, 3200000, 0);
  w.followers[0].threads = 32;
  w.followers[0].virtual_blocks = w.followers[0].grid = 1;
  w.followers[0].live_registers = 100;
  const ir::Estimate e = projected(w, d), first = projected(first_launch(w), d), second = projected(w.followers[0], d);
  CHECK(e.registers == second.registers);
  CHECK(e.occupancy == std::min(first.occupancy, second.occupancy));
  CHECK(e.waves == std::max(first.waves, second.waves));
  using ir::Part;
  for (const Part other :
       {Part::dram, Part::l2, Part::atomic, Part::fma, Part::alu, Part::xu, Part::issue, Part::shared, Part::latency})
    CHECK(part_of(e, e.bottleneck) >= part_of(e, other));
  CHECK(projected(two_launches(64000000, 3200000, 0), d).bottleneck == Part::dram);
  // Both launches take longer than what they do.
  CHECK(projected(two_launches(32000, 32000, 0), d).bottleneck == ir::Part::launch);
}

TEST_CASE("of buffers that nobody changed fresh records are read, and held ones stay what they are") {
  Sparse<BufferWork> some(5), other(5);
  CHECK(some[3] == BufferWork{});
  some[3].read_bytes = 7;
  some[1].read_bytes = 9;
  CHECK(some != other);
  other[0] = {};  // held, and fresh
  other[1].read_bytes = 9;
  CHECK(some != other);
  other[3].read_bytes = 7;
  CHECK(some == other);
  std::vector<std::size_t> held;
  some.each([&](std::size_t b, const BufferWork& buffer) {
    CHECK(buffer == some[b]);
    held.push_back(b);
  });
  CHECK(held == std::vector<std::size_t>{1, 3});
  some.resize(3);
  some.push_back({});
  CHECK(some[1].read_bytes == 9);
  CHECK(some[3] == BufferWork{});
  CHECK(some != Sparse<BufferWork>(3));
}

/// What the last kernel before this one that touched the buffer left, as the words of the model say it.
Left left_before(const Work& program, std::size_t kernel, std::size_t buffer) {
  const auto half = [&](std::size_t k) {
    double sum = 0;
    for (const BufferWork& b : works_of(program)[k].buffers) sum += (read_footprint(b) + written_footprint(b)) / 2;
    return sum;
  };
  double since = half(kernel);
  for (std::size_t k = kernel; k-- > 0; since += 2 * half(k)) {
    const BufferWork& before = works_of(program)[k].buffers[buffer];
    const double touched = std::max(read_footprint(before), written_footprint(before));
    if (touched > 0) return {touched, since + half(k)};
  }
  return {};
}

TEST_CASE("where a kernel stands in any program is what looking back from each of its buffers says") {
  std::mt19937 random(20);
  for (int round = 0; round < 200; ++round) {
    Work program;
    program.followers.resize(random() % 7);
    const std::size_t buffers = 1 + random() % 5;
    const auto some = [&] { return static_cast<std::int64_t>(random() % 5000); };
    const auto fill = [&](Work& work) {
      work.buffers.resize(buffers);
      for (std::size_t b = 0; b < buffers; ++b) {
        if (random() % 2 == 0) work.buffers[b].read_bytes = some();
        if (random() % 3 == 0) work.buffers[b].written_bytes = some();
      }
    };
    fill(program);
    for (Work& follower : program.followers) fill(follower);
    const std::vector<Place> places = places_in(program);
    REQUIRE(places.size() == works_of(program).size());
    std::vector<bool> touched(buffers), written(buffers);
    for (std::size_t k = 0; k < places.size(); ++k) {
      double reads = 0, writes = 0;
      for (std::size_t b = 0; b < buffers; ++b) {
        const BufferWork& own = works_of(program)[k].buffers[b];
        if (own.read_bytes + own.written_bytes > 0) CHECK(places[k].left[b] == left_before(program, k, b));
        reads += touched[b] ? 0 : static_cast<double>(own.read_bytes);
        writes += written[b] ? 0 : static_cast<double>(own.written_bytes);
        touched[b] = touched[b] || own.read_bytes + own.written_bytes > 0;
        written[b] = written[b] || own.written_bytes > 0;
      }
      CHECK(places[k].compulsory.bytes_read == reads);
      CHECK(places[k].compulsory.bytes_written == writes);
      CHECK(places[k].once == static_cast<double>(compulsory_bytes(program)));
    }
  }
}

TEST_CASE("a launch finds in L2 what the one before it left: half of what both touch lies between") {
  CalibratedDevice d = round_device();
  d.l2_bytes = 40e6;
  // It touches 64 MB and leaves 3.2; the second touches 6.4 of its own: 67.2 / 2 + 6.4 / 2 MB lie between.
  const Work w = two_launches(64000000, 3200000, 0);
  const Place place = places_in(w)[1];
  REQUIRE(place.left.size() == 3);
  CHECK(place.left[0].touched == 0);  // what it does not touch itself does not matter to it
  CHECK(place.left[1].touched == 3200000);
  CHECK(near(place.left[1].between, 33.6e6 + 3.2e6, 1e-12));
  CHECK(place.left[2].touched == 0);
  CHECK(places_in(w)[0].left.size() == 0);
  const double kept = 1 / (1 + 36.8 / 40), dram = (64e6 + 3.2e6 + (1 - kept) * 3.2e6 + 3.2e6) / 1e12;
  CHECK(near(part_sum(w, d, ir::Part::dram), dram, 1e-9));
  // Of what it reads beyond what was touched nothing is there.
  const Work more = two_launches(8000000, 3200000, 16000000);
  const double half = (11.2e6 + 22.4e6) / 2, there = 1 / (1 + half / 40e6);
  CHECK(near(part_sum(more, d, ir::Part::dram), (8e6 + 3.2e6 + 16e6 - there * 8e6 + (1 - there) * 3.2e6 + 3.2e6) / 1e12,
             1e-9));
  // A launch between the two adds all that it touches.
  Work three = w;
  Work between = w.followers[0];
  between.buffers.clear();
  between.buffers.resize(3);
  between.buffers[2].written_bytes = 10000000;
  between.buffers[2].store.sectors = between.buffers[2].written_sectors = 10000000 / 32;
  three.followers.insert(three.followers.begin(), between);
  CHECK(near(places_in(three)[2].left[1].between, 33.6e6 + 10e6 + 3.2e6, 1e-12));
}

TEST_CASE("trips of a later launch are as far as the caches that hold its bytes") {
  CalibratedDevice d = round_device();
  d.l2_bytes = 1e12;
  Work w = two_launches(32000, 32000, 0);
  w.followers[0].critical_path.memory = w.followers[0].critical_path.far = 1;
  Work first = w;
  first.followers[0].critical_path = {};
  const double near_trip = part_sum(w, d, ir::Part::latency) - part_sum(first, d, ir::Part::latency);
  d.l2_bytes = 1e-3;
  const double far_trip = part_sum(w, d, ir::Part::latency) - part_sum(first, d, ir::Part::latency);
  const double waves = projected(w.followers[0], d, bare_regime()).waves;
  CHECK(near(near_trip, waves * 200e-9, 1e-6));
  CHECK(near(far_trip, waves * 400e-9, 1e-6));
}

TEST_CASE("more bytes of a program never take less time, and more L2 never more") {
  const CalibratedDevice d = shipped("h200");
  double before = 0;
  for (const std::int64_t first : {3200000, 32000000, 64000000, 320000000}) {
    const double time = projected(two_launches(first, 3200000, first), d).total.value;
    CHECK(time > before);
    before = time;
  }
  before = INFINITY;
  for (const double l2 : {1e5, 1e6, 1e7, 1e8}) {
    CalibratedDevice other = d;
    other.l2_bytes = l2;
    const double time = projected(two_launches(64000000, 32000000, 64000000), other).total.value;
    CHECK(time < before);
    before = time;
  }
}

TEST_CASE("level compiled takes the registers, spills and loads of each entry") {
  const CalibratedDevice d = shipped("h200");
  const Work w = two_launches(64000000, 3200000, 0);
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 24;
  binary.followers.resize(1);
  binary.followers[0].registers = 40;
  const ir::Estimate lean = compiled(w, binary, d);
  CHECK(lean.registers == 40);
  CHECK(part_of(lean, ir::Part::spill) == 0);
  binary.followers[0].spill_loads = 8;
  CHECK(near(part_of(compiled(w, binary, d), ir::Part::spill), 8 * 1000 * 1024 / d.l2_bandwidth, 1e-9));
  binary.followers.clear();
  CHECK_THROWS_AS(compiled(w, binary, d), std::logic_error);
}

TEST_CASE("instructions of machine code are put launch by launch") {
  const Work w = count(ir::example_split_rows(4, 3072, 12, 2), Mode::exact);
  ir::MachineWork machine, second;
  machine.counted = second.counted = true;
  machine.executed[static_cast<std::size_t>(ir::MachinePipe::fma)] = 1000;
  second.executed[static_cast<std::size_t>(ir::MachinePipe::alu)] = 70;
  machine.followers = {second};
  const Work seen = with_machine(w, machine);
  REQUIRE(seen.followers.size() == 1);
  CHECK(seen.pipes.fma == 1000);
  CHECK(seen.pipes.alu == 0);
  CHECK(seen.followers[0].pipes.fma == 0);
  CHECK(seen.followers[0].pipes.alu == 70);
  machine.followers[0].counted = false;
  CHECK(with_machine(w, machine).followers[0] == w.followers[0]);
  CHECK(ir::total(together(machine).executed) == 1070);
  CHECK_FALSE(together(machine).counted);
}

TEST_CASE("counts of a whole program are parted as the program's own are, so equal counts change nothing") {
  const Work w = count(ir::example_split_rows(4, 3072, 12, 3), Mode::exact);
  ir::LaunchCounts counts;
  for (const ir::CounterRow& row : ir::counter_table())
    if (row.launch != nullptr) counts.*row.launch = model_count(w, row.name).value_or(0);
  for (std::size_t b = 0; b < w.buffers.size(); ++b) {
    const BufferWork all = buffer_of_program(w, b);
    const auto of = [](const Traffic& t) {
      return ir::AccessCounts{static_cast<double>(t.requests), static_cast<double>(t.sectors),
                              static_cast<double>(t.bytes)};
    };
    counts.buffers.push_back({of(all.load), of(all.store), of(all.atomic)});
  }
  counts.blocks_run = counts.blocks_total = 100;
  const Work seen = with_counts(w, counts);
  REQUIRE(seen.followers.size() == w.followers.size());
  for (std::size_t k = 0; k < 3; ++k) {
    const Work &was = works_of(w)[k], &is = works_of(seen)[k];
    CHECK(is.buffers == was.buffers);
    CHECK(is.shuffles == was.shuffles);
    CHECK(is.barriers == was.barriers);
    CHECK(is.shared_load == was.shared_load);
    CHECK(is.pipes.fma == was.pipes.fma);
  }
  counts.shuffles *= 2;
  CHECK(with_counts(w, counts).followers[0].shuffles == 2 * w.followers[0].shuffles);
}
