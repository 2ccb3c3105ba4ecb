// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws that every cost model must keep, as no estimate below the speed of light and no gain from moving more bytes.
// They are tried on random work under random changes of every device that ships, and on lowered kernels of small plan
// spaces. Where a figure can be worked out on paper it is. Part of the suite `costmodel`.
#include "costmodel/model.h"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <filesystem>

#include <cmath>
#include <random>

#include "base/error.h"
#include "base/text.h"
#include "costmodel/count.h"
#include "costmodel/occupancy.h"
#include "lowered.h"
#include "support/approx.h"
#include "support/kernel_builder.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

constexpr unsigned seed = 20260117;
constexpr int rounds = 2000;

const std::string data = source_folder() + "/data";

const Calibration& calibration() {
  static const Calibration read = ir::find_calibration("uncalibrated", data + "/calibrations");
  return read;
}

CalibratedDevice device_named(const std::string& name) {
  return calibrated(ir::find_device(name, data + "/devices"), calibration());
}

std::vector<CalibratedDevice> devices() {
  std::vector<CalibratedDevice> all;
  for (const std::string& name : ir::device_names(data + "/devices")) all.push_back(device_named(name));
  return all;
}

struct Draw {
  std::mt19937_64 random{seed};
  std::vector<CalibratedDevice> known = devices();

  double between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<>()(random));
  }
  std::int64_t whole(double low, double high) { return static_cast<std::int64_t>(between(low, high)); }

  CalibratedDevice device() {
    CalibratedDevice d = known[random() % known.size()];
    for (double CalibratedDevice::*figure :
         {&CalibratedDevice::dram_bandwidth, &CalibratedDevice::clock, &CalibratedDevice::dram_latency,
          &CalibratedDevice::l2_bandwidth, &CalibratedDevice::launch_overhead})
      d.*figure *= between(0.5, 2);
    return d;
  }

  Work work() {
    Work w;
    w.threads = 32 * static_cast<int>(whole(1, 33));
    w.virtual_blocks = w.grid = whole(1, 1e6);
    w.shared_bytes = random() % 2 == 0 ? 0 : whole(16, 40000);
    for (int b = 0; b < 3; ++b) {
      BufferWork buffer;
      buffer.read_bytes = b < 2 ? whole(1e3, 1e9) : 0;
      buffer.written_bytes = b < 2 ? 0 : whole(1e3, 1e9);
      buffer.load.sectors = static_cast<std::int64_t>(static_cast<double>(buffer.read_bytes) * between(1, 4) / 32) + 1;
      buffer.reload_sectors = buffer.load.sectors / 3;
      buffer.store.sectors = buffer.written_bytes / 32;
      w.buffers.push_back(buffer);
    }
    w.pipes.fma = whole(1e3, 1e9);
    w.pipes.alu = whole(1e3, 1e9);
    w.pipes.xu = whole(1e2, 1e8);
    w.pipes.memory = whole(1e3, 1e8);
    w.pipes.shuffle = whole(1, 1e7);
    w.live_registers = static_cast<int>(whole(4, 100));
    w.critical_path = {between(1, 10), between(1, 5), between(1, 20), between(1, 5), between(1, 200), between(1, 10)};
    w.critical_path.far = w.critical_path.memory / 2;
    return w;
  }
};

double projected_time(const Work& w, const CalibratedDevice& d) { return projected(w, d).total.value; }

}  // namespace

TEST_CASE("no estimate is below the speed of light and every interval holds its total") {
  Draw draw;
  CAPTURE(seed);
  for (int i = 0; i < rounds; ++i) {
    const Work w = draw.work();
    const CalibratedDevice d = draw.device();
    const ir::Estimate roof = sol(compulsory_work(w), d), e = projected(w, d);
    CHECK(e.total >= roof.total);
    CHECK(roof.total.value >= (roof.parts[1].value));
    CHECK(e.low <= e.total);
    CHECK(e.total <= e.high);
    CHECK(roof.low == roof.total);
    CHECK(e.total.value >= e.parts[static_cast<std::size_t>(e.bottleneck)].value);
    CHECK(e.level == ir::Level::projected);
    CHECK(std::isfinite(e.total.value));
  }
}

TEST_CASE("more bytes are never faster and more bandwidth is never slower") {
  Draw draw;
  for (int i = 0; i < rounds; ++i) {
    const Work w = draw.work();
    const CalibratedDevice d = draw.device();
    const double time = projected_time(w, d);
    Work more = w;
    BufferWork& buffer = more.buffers[draw.random() % 2];
    const std::int64_t bytes = draw.whole(32, 1e8);
    buffer.read_bytes += bytes;
    buffer.load.sectors += bytes / 32 + 1;
    if (i % 2 == 0) more.buffers[2].written_bytes += bytes;  // a mixture queues at another exponent than reads
    CHECK(projected_time(more, d) >= time * (1 - 1e-12));
    Work again = w;
    again.buffers[0].load.sectors += 1000000;
    CHECK(projected_time(again, d) >= time * (1 - 1e-12));
    CalibratedDevice faster = d;
    faster.dram_bandwidth *= draw.between(1, 3);
    CHECK(projected_time(w, faster) <= time * (1 + 1e-12));
    faster.l2_bandwidth *= draw.between(1, 3);
    CHECK(projected_time(w, faster) <= time * (1 + 1e-12));
    faster.dram_latency *= 0.7;
    CHECK(projected_time(w, faster) <= time * (1 + 1e-12));
  }
}

TEST_CASE("scaling the clock scales the compute parts and nothing of memory") {
  Draw draw;
  using ir::Part;
  for (int i = 0; i < rounds; ++i) {
    const Work w = draw.work();
    CalibratedDevice d = draw.device();
    const ir::Estimate before = projected(w, d);
    d.clock *= 2;
    const ir::Estimate after = projected(w, d);
    for (const Part p : {Part::fma, Part::alu, Part::xu, Part::issue, Part::shared, Part::barrier, Part::atomic}) {
      const auto at = static_cast<std::size_t>(p);
      CHECK(after.parts[at].value == approx(before.parts[at].value / 2));
    }
    CHECK(after.parts[static_cast<std::size_t>(Part::dram)] == before.parts[static_cast<std::size_t>(Part::dram)]);
    CHECK(after.total <= before.total);
  }
}

TEST_CASE("more registers never raise the occupancy and never shorten the latency") {
  Draw draw;
  for (int i = 0; i < rounds; ++i) {
    Work w = draw.work();
    const CalibratedDevice d = draw.device();
    const ir::Estimate before = projected(w, d);
    w.live_registers += 8;
    const ir::Estimate after = projected(w, d);
    CHECK(after.occupancy <= before.occupancy);
    CHECK(after.waves >= before.waves);
  }
}

TEST_CASE(
    "registers that are few more than one more block leaves are saved, unless the plan says for how many blocks") {
  CalibratedDevice d = device_named("h200");
  d.register_base = 8;
  d.register_saving = 0.125;
  // Of 65,536 registers 4 blocks of 256 threads have 64 for each thread, 5 have 48 (the unit is 8), 3 have 80.
  const auto taken = [&](int threads, int wanted, int blocks = 0) {
    Work w;
    w.threads = threads;
    w.grid = w.virtual_blocks = 1000;
    w.live_registers = w.early_registers = wanted - 8;
    w.min_blocks = blocks;
    return projected(w, d).registers;
  };
  CHECK(taken(256, 64) == 64);
  CHECK(taken(256, 65) == 64);
  CHECK(taken(256, 72) == 64);
  CHECK(taken(256, 73) == 73);
  CHECK(taken(256, 81) == 80);
  CHECK(taken(128, 73) == 72);    // a smaller block has more steps: 7 warps of a sub-partition have 72 each
  CHECK(taken(1024, 33) == 32);   // two blocks for one, and the SM is full
  CHECK(taken(256, 129) == 129);  // a block has the SM to itself, and two would not fill it
  CHECK(taken(512, 72) == 72);
  CHECK(taken(512, 43) == 40);  // three blocks for two
  CHECK(taken(256, 33) == 32);
  CHECK(taken(256, 30) == 30);     // all threads of the SM are resident already
  CHECK(taken(256, 72, 1) == 72);  // nothing to aim at
  CHECK(taken(512, 135) == 128);   // a block could not start: spilled, not saved
  for (int threads : {64, 128, 256, 512, 1024})
    for (int wanted = 9; wanted < 250; ++wanted) {
      const int registers = taken(threads, wanted);
      CHECK(registers <= wanted);
      CHECK(1.125 * registers >= std::min(wanted, 65536 / threads / 8 * 8));
    }
}

TEST_CASE("a compiler that must allow for resident blocks has their registers, spills the rest and has the blocks") {
  CalibratedDevice d = device_named("h200");
  d.register_saving = 0;  // without a bound the compiler aims at some number of blocks too
  Draw draw;
  int bound = 0;
  for (int i = 0; i < rounds; ++i) {
    Work w = draw.work();
    w.threads = 128;
    w.shared_bytes = 0;
    const ir::Estimate free = projected(w, d);
    for (const int blocks : {1, 4, 8, 16}) {
      w.min_blocks = blocks;
      const ir::Estimate e = projected(w, d);
      CHECK(e.registers == std::min(free.registers, most_registers(d.limits, 128, blocks)));
      CHECK(occupancy(d.limits, 128, e.registers, 0).blocks_per_sm >= blocks);
      CHECK(e.occupancy >= free.occupancy);
      const auto spill = static_cast<std::size_t>(Part::spill);
      CHECK(e.parts[spill] >= free.parts[spill]);
      if (e.registers == free.registers) continue;
      ++bound;
      CHECK(e.parts[spill] > free.parts[spill]);
    }
  }
  CHECK(bound > 0);
}

TEST_CASE("blocks that stay give the knee of bandwidth in bytes in flight") {
  // One round trip for each turn of a loop: L = bytes / (bytes in flight / latency), D = bytes / peak, and all of L
  // waits: body = (D^p + L^p)^(1/p). A port too wide to matter, and no block takes the place of another.
  CalibratedDevice d = device_named("h200");
  d.sm_bandwidth = 1e12;
  d.overlap_knee = 1e9;  // nor do pipes, or the loop
  d.loop_excess = 0;
  d.lone_share = d.first_wave = 0;
  Work w;
  w.threads = 256;
  const double resident = d.sms * d.threads_per_sm;
  w.grid = static_cast<std::int64_t>(resident / 256);
  w.virtual_blocks = w.grid * 1000;
  w.buffers.resize(1);
  w.buffers[0].read_bytes = w.virtual_blocks * 256 * 16;
  w.buffers[0].load.sectors = w.buffers[0].read_sectors = w.buffers[0].read_bytes / 32;
  w.critical_path.memory = w.critical_path.far = 1;
  const ir::Estimate e = projected(w, d);
  const double bytes = static_cast<double>(w.buffers[0].read_bytes), p = d.dram_knee;
  const double peak = d.dram_bandwidth * d.dram_read_efficiency, flow = resident * 16 / d.dram_latency;
  const double reached = std::pow(std::pow(peak, -p) + std::pow(flow, -p), -1 / p);
  // Of the first of 1,000 waves nothing is hidden.
  const double apart = bytes / peak + bytes / flow, knee = bytes / reached;
  CHECK(e.total.value - d.launch_overhead - d.ramp == approx(knee + (apart - knee) / 1000).epsilon(1e-6));
}

TEST_CASE("compiled takes the compiler's registers and charges spills") {
  const CalibratedDevice d = device_named("h200");
  const Work w = count(ir::example_layer_norm(4096, 6, 32), Mode::fast);
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 40;
  const ir::Estimate clean = compiled(w, binary, d);
  CHECK(clean.registers == 40);
  CHECK(clean.level == ir::Level::compiled);
  binary.spill_loads = binary.spill_stores = 400;
  const ir::Estimate spilled = compiled(w, binary, d);
  CHECK(spilled.total > clean.total);
  CHECK(spilled.parts[static_cast<std::size_t>(ir::Part::spill)].value > 0);
  CHECK(advice(spilled, w, d).at(0).starts_with("spills take"));
}

TEST_CASE(
    "compiled charges the instructions that machine code executes, each to its pipe, and grows with each of them") {
  const CalibratedDevice d = device_named("h200");
  const Work w = count(ir::example_layer_norm(4096, 6, 32), Mode::fast);
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 40;
  const ir::Estimate program = compiled(w, binary, d);
  ir::MachineWork machine;
  CHECK(compiled(w, binary, d, {}, &machine) == program);  // not counted: the program's stand
  machine.counted = true;
  constexpr std::int64_t many = 1'000'000'000;
  const auto part_with = [&](ir::MachinePipe pipe, ir::Part part) {
    ir::MachineWork one = machine;
    row_for(one.executed, pipe) = many;
    const Work seen = with_machine(w, one);
    CHECK(instructions(seen.pipes) == many);
    CHECK(seen.buffers == w.buffers);
    const ir::Estimate e = compiled(w, binary, d, {}, &one);
    CHECK(e.total > program.total);
    return row_for(e.parts, part).value;
  };
  const double all_lanes = many * 32 / (d.sms * d.clock);
  const double busiest =
      std::ceil(static_cast<double>(w.virtual_blocks) / d.sms) * d.sms / static_cast<double>(w.virtual_blocks);
  using ir::MachinePipe, ir::Part;
  CHECK(part_with(MachinePipe::fma, Part::fma) == approx(all_lanes * busiest / d.fma_rate));
  CHECK(part_with(MachinePipe::half, Part::fma) == approx(all_lanes * busiest / d.fma_rate));
  CHECK(part_with(MachinePipe::integer, Part::fma) == approx(all_lanes * busiest / d.alu_rate));
  CHECK(part_with(MachinePipe::alu, Part::alu) == approx(all_lanes * busiest / d.alu_rate));
  CHECK(part_with(MachinePipe::f64, Part::fma) == approx(all_lanes * busiest / d.f64_rate));
  CHECK(part_with(MachinePipe::xu, Part::xu) == approx(all_lanes * busiest / d.xu_rate));
  CHECK(part_with(MachinePipe::widen, Part::fma) == approx(all_lanes * busiest / d.widen_rate));
  CHECK(part_with(MachinePipe::narrow, Part::xu) == approx(all_lanes * busiest / d.narrow_rate));
  CHECK(part_with(MachinePipe::uniform, Part::issue) == approx(all_lanes / 32 * busiest / d.issue_rate));
  CHECK(part_with(MachinePipe::uniform, Part::alu) == 0);
}

TEST_CASE("the requests of a program are the sums over its buffers") {
  Work w;
  w.buffers.resize(2);
  w.buffers[0].load.requests = 3;
  w.buffers[1].load.requests = 4;
  w.buffers[1].store.requests = 5;
  w.buffers[0].atomic.requests = 6;
  w.shared_load.requests = 7;
  w.shared_store.requests = 8;
  w.shuffles = 9;
  w.barriers = 10;
  CHECK(program_requests(w) == ir::MachineRequests{7, 5, 6, 7, 8, 9, 10});
}

namespace {

/// What an execution would count that does exactly what the program says.
ir::LaunchCounts counts_of(const Work& w) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const auto access = [&](const Traffic& t) {
    return ir::AccessCounts{number(t.requests), number(t.sectors), number(t.bytes)};
  };
  ir::LaunchCounts counts;
  for (const BufferWork& buffer : w.buffers)
    counts.buffers.push_back({access(buffer.load), access(buffer.store), access(buffer.atomic)});
  counts.shared_load_requests = number(w.shared_load.requests);
  counts.shared_load_wavefronts = number(w.shared_load.wavefronts);
  counts.shared_load_bytes = number(w.shared_load.bytes);
  counts.shared_store_requests = number(w.shared_store.requests);
  counts.shared_store_wavefronts = number(w.shared_store.wavefronts);
  counts.shared_store_bytes = number(w.shared_store.bytes);
  counts.shuffles = number(w.shuffles);
  counts.block_barriers = number(w.barriers);
  counts.fma = number(w.pipes.fma);
  counts.alu = number(w.pipes.alu);
  counts.xu = number(w.pipes.xu);
  counts.f64 = number(w.pipes.f64);
  counts.convert = number(w.pipes.widen + w.pipes.narrow);
  counts.control = number(w.pipes.control);
  counts.blocks_run = counts.blocks_total = w.grid;
  return counts;
}

}  // namespace

TEST_CASE("counted is compiled when an execution counts what the program says, and grows with every count") {
  const CalibratedDevice d = device_named("h200");
  Work w = count(ir::example_layer_norm(4096, 6, 64), Mode::fast);
  w.pipes.address = 0;
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 40;
  const ir::LaunchCounts counts = counts_of(w);
  Work again = with_counts(w, counts);
  CHECK(again == w);
  const ir::Estimate one = compiled(w, binary, d);
  const ir::Estimate other = counted(w, binary, counts, d);
  CHECK(other.level == ir::Level::counted);
  CHECK(other.total == one.total);
  CHECK(other.total >= sol(compulsory_work(w), d).total);
  const auto grown = [&](auto&& grow) {
    ir::LaunchCounts more = counts;
    grow(more);
    CHECK(counted(w, binary, more, d).total >= other.total);
  };
  grown([](ir::LaunchCounts& c) { c.buffers[0].load.sectors *= 4; });
  grown([](ir::LaunchCounts& c) { c.shared_load_wavefronts *= 100; });
  grown([](ir::LaunchCounts& c) { c.shuffles *= 100; });
  grown([](ir::LaunchCounts& c) { c.fma *= 100; });
  grown([](ir::LaunchCounts& c) { c.alu *= 100; });
  grown([](ir::LaunchCounts& c) { c.control = 1e9; });
  ir::LaunchCounts busy = counts;
  busy.xu = 1e9;
  CHECK(counted(w, binary, busy, d).total > other.total);
}

TEST_CASE("the page of the models has a row for each of them") {
  const std::string page = read_file(std::filesystem::path(source_folder()) / "docs/model.md");
  for (const Model& model : models()) {
    INFO(model.name);
    CHECK(page.find(fmt::format("\n| `{}`", model.name)) != page.npos);
  }
}

TEST_CASE("the table finds its models and sol of a group counts inputs and outputs once") {
  for (const Model& model : models()) CHECK(find_model(model.name) == &model);
  CHECK(find_model("projcted") == nullptr);
  const ir::Group group = group_of(graph_text("softmax", 64, 1000, "f32"));
  const GroupWork work = group_work(group);
  CHECK(work.bytes_read == approx(64 * 1000 * 4).epsilon(1e-4));  // and two scalars' constants are no input
  CHECK(work.bytes_written == 64 * 1000 * 4);
  CHECK(work.xu == 64 * 1000);  // an exponential each; one reciprocal may serve a whole row
}

namespace {

Work small_stream(const CalibratedDevice& d) {
  Work w;
  w.threads = 128;
  w.virtual_blocks = w.grid = static_cast<std::int64_t>(d.sms);
  w.buffers.resize(2);
  w.buffers[0].read_bytes = w.grid * 128 * 16;
  w.buffers[0].load.sectors = w.buffers[0].read_bytes / 32;
  w.buffers[1].written_bytes = w.buffers[0].read_bytes;
  w.buffers[1].store.sectors = w.buffers[0].load.sectors;
  w.critical_path.memory = w.critical_path.far = 1;
  return w;
}

double time_in(const Work& w, const CalibratedDevice& d, const ir::Regime& regime) {
  return projected(w, d, regime).total.value;
}

}  // namespace

TEST_CASE("launch gap, ramp and dispatch floor are in a prediction only where the regime's time contains them") {
  // Round numbers: gap 3 us, ramp 1 us, and a body of one round trip of 0.5 us with next to no traffic beside it.
  CalibratedDevice d = device_named("h200");
  d.launch_overhead = 3e-6;
  d.ramp = 1e-6;
  d.cold_code = 0;
  d.dram_latency = 0.5e-6;
  d.dispatch_floor = 20e-6;
  d.sm_bandwidth = 1e9;
  d.dram_bandwidth = d.l2_bandwidth = 1e20;
  d.dram_knee = d.dram_mixed_knee = d.pipe_knee = d.overlap_knee = 50;  // the lesser view adds nothing
  d.lone_share = d.first_wave = 0;
  const Work w = small_stream(d);
  const ir::Regime cold_stream, activity = ir::make_regime({ir::CacheState::cold, ir::TimedBy::activity});
  const ir::Regime events = ir::make_regime({ir::CacheState::cold, ir::TimedBy::events});
  ir::Regime host = cold_stream;
  host.timer = ir::Timer::host;
  host.includes = ir::includes(ir::Timer::host);
  ir::Regime bare = activity;
  bare.includes = {};
  CHECK(time_in(w, d, bare) == approx(0.5e-6).epsilon(1e-6));
  CHECK(time_in(w, d, activity) == approx(1.5e-6).epsilon(1e-6));
  CHECK(time_in(w, d, events) == approx(4.5e-6).epsilon(1e-6));
  CHECK(time_in(w, d, cold_stream) == approx(4.5e-6).epsilon(1e-6));
  // Code that no cache holds comes with the ramp, and only where caches are cold.
  CalibratedDevice fetches = d;
  Work coded = w;
  coded.code_instructions = 1000;
  fetches.cold_code = 0.25e-9 * fetches.clock;
  ir::Regime warm = activity;
  warm.cache = ir::CacheState::warm;
  CHECK(time_in(coded, fetches, bare) == time_in(w, d, bare));
  CHECK(time_in(coded, fetches, activity) == approx(1.75e-6).epsilon(1e-6));
  CHECK(time_in(coded, fetches, warm) == time_in(w, d, warm));
  CHECK(time_in(coded, d, activity) == time_in(w, d, activity));
  // It is a part by itself, in no other one, and decides where it is longer than all that overlaps and the launch.
  const auto part_in = [&](ir::Part part, const ir::Regime& regime) {
    return row_for(projected(coded, fetches, regime).parts, part).value;
  };
  CHECK(part_in(ir::Part::code, activity) == approx(0.25e-6).epsilon(1e-9));
  CHECK(part_in(ir::Part::launch, activity) == approx(1e-6).epsilon(1e-9));
  CHECK(part_in(ir::Part::code, warm) == 0);
  CHECK(projected(coded, fetches, activity).bottleneck == ir::Part::launch);
  coded.code_instructions = 4001;
  CHECK(projected(coded, fetches, activity).bottleneck == ir::Part::code);
  coded.code_instructions = 3999;
  CHECK(projected(coded, fetches, activity).bottleneck == ir::Part::launch);
  coded.code_instructions = 1000;
  // What has no room near the SM comes again wherever it is executed again, in every state.
  fetches.code_room = 999;
  const double warps = std::ceil(coded.threads / 32.0);
  coded.busiest_block = static_cast<std::int64_t>(warps) * 5000;
  const double again = time_in(coded, fetches, warm) - time_in(coded, d, warm);
  CHECK(again > 0.9e-6);
  CHECK(part_in(ir::Part::code, warm) == approx(again).epsilon(1e-9));
  CHECK(part_in(ir::Part::code, cold_stream) == approx(again + 0.25e-6).epsilon(1e-9));
  CHECK(std::abs(std::remainder(again + 0.25e-6, 1.25e-6)) < 1e-12);  // 5,000 instructions in each wave, less 1,000
  fetches.code_room = 1000;
  CHECK(time_in(coded, fetches, warm) == time_in(coded, d, warm));
  fetches.code_room = 0;
  CHECK(time_in(coded, fetches, warm) == time_in(coded, d, warm));
  CHECK(time_in(w, d, host) == approx(20e-6).epsilon(1e-6));
  d.dispatch_floor = 2e-6;
  CHECK(time_in(w, d, host) == approx(4.5e-6).epsilon(1e-6));
  // Beside a long kernel a call takes its lead, in place of gap and ramp; no other regime knows of it.
  d.dispatch_lead = 9e-6;
  CHECK(time_in(w, d, host) == approx(9.5e-6).epsilon(1e-6));
  CHECK(time_in(w, d, cold_stream) == approx(4.5e-6).epsilon(1e-6));
  d.dispatch_lead = 0;
  // What a prediction means when nobody says: launches in a row, cold.
  CHECK(time_in(w, d, {}) == time_in(w, d, cold_stream));
  // A bound of an activity time has no launch in it: 1 MB / 4.8 TB/s.
  GroupWork needs;
  needs.bytes_read = 1e6;
  d.dram_bandwidth = 4e12;
  CHECK(sol(needs, d, activity).total.value == approx(0.25e-6).epsilon(1e-12));
  CHECK(sol(needs, d).total.value == approx(3.25e-6).epsilon(1e-12));
}

TEST_CASE("the gap is all that a stream's time has more than the kernel's own, on every device and work") {
  Draw draw;
  const ir::Regime activity = ir::make_regime({ir::CacheState::cold, ir::TimedBy::activity});
  for (int i = 0; i < rounds; ++i) {
    const Work w = draw.work();
    const CalibratedDevice d = draw.device();
    const double own = time_in(w, d, activity);
    CHECK(time_in(w, d, {}) == approx(own + d.launch_overhead).epsilon(1e-12));
    CHECK(own >= sol(compulsory_work(w), d, activity).total.value);
  }
}

TEST_CASE("warm inputs come from L2, produced ones too but what is written goes out") {
  // All of 1 MB fits in the L2 of an H200: dram has nothing left when warm, the written half when produced.
  CalibratedDevice d = device_named("h200");
  d.warm_share = 1;
  d.reuse_knee = 4;
  GroupWork needs;
  needs.bytes_read = needs.bytes_written = 0.5e6;
  const auto dram = [&](ir::CacheState cache) {
    ir::Regime regime;
    regime.cache = cache;
    return sol(needs, d, regime).parts[static_cast<std::size_t>(ir::Part::dram)].value * d.dram_bandwidth;
  };
  CHECK(dram(ir::CacheState::cold) == approx(1e6));
  CHECK(dram(ir::CacheState::dirty) == dram(ir::CacheState::cold));
  CHECK(dram(ir::CacheState::produced) == approx(0.5e6).epsilon(1e-5));
  CHECK(dram(ir::CacheState::warm) < 10);
  Draw draw;
  for (int i = 0; i < rounds; ++i) {
    const Work w = draw.work();
    const CalibratedDevice any = draw.device();
    ir::Regime warm, produced;
    warm.cache = ir::CacheState::warm;
    produced.cache = ir::CacheState::produced;
    CHECK(time_in(w, any, warm) <= time_in(w, any, produced) * (1 + 1e-12));
    CHECK(time_in(w, any, produced) <= time_in(w, any, {}) * (1 + 1e-12));
  }
}

TEST_CASE("a library call takes its bytes' time and a launch") {
  CalibratedDevice d = device_named("v100");
  d.dram_bandwidth = 1e12;
  d.launch_overhead = 2e-6;
  const LibraryWork work{5e6, 1e12};
  const Model* model = find_model("library");
  REQUIRE(model != nullptr);
  CHECK_FALSE(model->ranks_plans);
  const ir::Estimate e = model->estimate({.device = &d, .library = &work});
  CHECK(e.total.value == approx(7e-6).epsilon(1e-12));
  CHECK(e.bottleneck == ir::Part::dram);
  const ir::Regime activity = ir::make_regime({ir::CacheState::cold, ir::TimedBy::activity});
  CHECK(model->estimate({.device = &d, .library = &work, .regime = activity}).total.value ==
        approx(5e-6).epsilon(1e-12));
}

TEST_CASE("models rank lowered plans above their roof and advice names its numbers") {
  const ir::Group group = group_of(graph_text("layernorm", 64, 768, "f32"));
  const GroupWork needed = group_work(group);
  for (const CalibratedDevice& device : devices()) {
    const ir::Estimate roof = sol(needed, device);
    const int kernels = for_each_kernel(group, device.limits, [&](const ir::Plan&, const ir::Kernel& kernel) {
      const Work work = count(kernel, Mode::fast);
      for (const Model& model : models())
        if (model.ranks_plans) {
          CAPTURE(model.name);
          const ir::Estimate e = model.estimate({.group = &needed, .work = &work, .device = &device});
          CHECK(e.total >= roof.total * 0.999);
          CHECK(e.level == model.level);
        }
      const ir::Estimate e = projected(work, device);
      const auto lines = advice(e, work, device);
      CHECK(lines.size() <= 2);
      for (const std::string& line : lines) CHECK(line.find_first_of("0123456789") != line.npos);
    });
    CHECK(kernels > 20);
  }
}
