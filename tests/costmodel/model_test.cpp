// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws that every cost model must keep, on random work and random devices; and that they hold on lowered kernels.
#include "costmodel/model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "costmodel/count.h"
#include "lowered.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

constexpr unsigned seed = 20260117;
constexpr int rounds = 2000;

const Calibration& calibration() {
  static const Calibration read =
      read_calibration(std::string(TAILOR_SOURCE_DIR) + "/data/calibrations/uncalibrated.json");
  return read;
}

std::vector<ir::Device> devices() {
  const std::string folder = std::string(TAILOR_SOURCE_DIR) + "/data/devices";
  std::vector<ir::Device> all;
  for (const std::string& name : ir::device_names(folder)) all.push_back(ir::find_device(name, folder));
  return all;
}

struct Draw {
  std::mt19937_64 random{seed};
  std::vector<ir::Device> known = devices();

  double between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<>()(random));
  }
  std::int64_t whole(double low, double high) { return static_cast<std::int64_t>(between(low, high)); }

  ir::Device device() {
    ir::Device d = known[random() % known.size()];
    for (ir::Figure ir::Device::*figure : {&ir::Device::dram_bandwidth, &ir::Device::clock, &ir::Device::dram_latency,
                                           &ir::Device::l2_bandwidth, &ir::Device::launch_overhead})
      (d.*figure).value *= between(0.5, 2);
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

double projected_time(const Work& w, const ir::Device& d) { return projected(w, d, calibration()).total.value; }

}  // namespace

TEST_CASE("no estimate is below the speed of light and every interval holds its total") {
  Draw draw;
  CAPTURE(seed);
  for (int i = 0; i < rounds; ++i) {
    const Work w = draw.work();
    const ir::Device d = draw.device();
    const ir::Estimate roof = sol(compulsory_work(w), d, calibration()), e = projected(w, d, calibration());
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
    const ir::Device d = draw.device();
    const double time = projected_time(w, d);
    Work more = w;
    BufferWork& buffer = more.buffers[draw.random() % 2];
    const std::int64_t bytes = draw.whole(32, 1e8);
    buffer.read_bytes += bytes;
    buffer.load.sectors += bytes / 32 + 1;
    CHECK(projected_time(more, d) >= time * (1 - 1e-12));
    Work again = w;
    again.buffers[0].load.sectors += 1000000;
    CHECK(projected_time(again, d) >= time * (1 - 1e-12));
    ir::Device faster = d;
    faster.dram_bandwidth.value *= draw.between(1, 3);
    CHECK(projected_time(w, faster) <= time * (1 + 1e-12));
    faster.l2_bandwidth.value *= draw.between(1, 3);
    CHECK(projected_time(w, faster) <= time * (1 + 1e-12));
    faster.dram_latency.value *= 0.7;
    CHECK(projected_time(w, faster) <= time * (1 + 1e-12));
  }
}

TEST_CASE("scaling the clock scales the compute parts and nothing of memory") {
  Draw draw;
  using ir::Part;
  for (int i = 0; i < rounds; ++i) {
    const Work w = draw.work();
    ir::Device d = draw.device();
    const ir::Estimate before = projected(w, d, calibration());
    d.clock.value *= 2;
    const ir::Estimate after = projected(w, d, calibration());
    for (const Part p : {Part::fma, Part::alu, Part::xu, Part::issue, Part::shared, Part::barrier, Part::atomic}) {
      const auto at = static_cast<std::size_t>(p);
      CHECK(after.parts[at].value == doctest::Approx(before.parts[at].value / 2));
    }
    CHECK(after.parts[static_cast<std::size_t>(Part::dram)] == before.parts[static_cast<std::size_t>(Part::dram)]);
    CHECK(after.total <= before.total);
  }
}

TEST_CASE("more registers never raise the occupancy and never shorten the latency") {
  Draw draw;
  for (int i = 0; i < rounds; ++i) {
    Work w = draw.work();
    const ir::Device d = draw.device();
    const ir::Estimate before = projected(w, d, calibration());
    w.live_registers += 8;
    const ir::Estimate after = projected(w, d, calibration());
    CHECK(after.occupancy <= before.occupancy);
    CHECK(after.waves >= before.waves);
  }
}

TEST_CASE("without latency the knee gives the reachable bandwidth and with it the bytes in flight decide") {
  // One wave-filling stream: L = bytes / (bytes in flight / latency), D = bytes / peak, body = (D^p + L^p)^(1/p).
  const ir::Device d = ir::find_device("h200", std::string(TAILOR_SOURCE_DIR) + "/data/devices");
  Work w;
  w.threads = 256;
  const double resident = d.sms.value * d.threads_per_sm.value;
  w.virtual_blocks = w.grid = static_cast<std::int64_t>(resident / 256) * 1000;
  w.buffers.resize(1);
  w.buffers[0].read_bytes = w.virtual_blocks * 256 * 16;
  w.buffers[0].load.sectors = w.buffers[0].read_bytes / 32;
  w.critical_path.memory = w.critical_path.far = 1;
  const ir::Estimate e = projected(w, d, calibration());
  const double bytes = static_cast<double>(w.buffers[0].read_bytes), p = d.dram_knee.value;
  const double peak = d.dram_bandwidth.value * d.dram_efficiency.value, flow = resident * 16 / d.dram_latency.value;
  const double reached = std::pow(std::pow(peak, -p) + std::pow(flow, -p), -1 / p);
  CHECK(e.total.value - d.launch_overhead.value - d.ramp.value == doctest::Approx(bytes / reached).epsilon(1e-9));
}

TEST_CASE("compiled takes the compiler's registers and charges spills") {
  const ir::Device d = ir::find_device("h200", std::string(TAILOR_SOURCE_DIR) + "/data/devices");
  const Work w = count(ir::example_layer_norm(4096, 6, 32), Mode::fast);
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 40;
  const ir::Estimate clean = compiled(w, binary, d, calibration());
  CHECK(clean.registers == 40);
  CHECK(clean.level == ir::Level::compiled);
  binary.spill_loads = binary.spill_stores = 400;
  const ir::Estimate spilled = compiled(w, binary, d, calibration());
  CHECK(spilled.total > clean.total);
  CHECK(spilled.parts[static_cast<std::size_t>(ir::Part::spill)].value > 0);
  CHECK(advice(spilled, w, d).at(0).starts_with("spills take"));
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

TEST_CASE("simulated is compiled when an execution counts what the program says, and grows with every count") {
  const ir::Device d = ir::find_device("h200", std::string(TAILOR_SOURCE_DIR) + "/data/devices");
  Work w = count(ir::example_layer_norm(4096, 6, 64), Mode::fast);
  w.pipes.address = 0;
  ir::Binary binary;
  binary.outcome = ir::CompileOutcome::ok;
  binary.registers = 40;
  const ir::LaunchCounts counts = counts_of(w);
  Work again = with_counts(w, counts);
  CHECK(again == w);
  const ir::Estimate one = compiled(w, binary, d, calibration());
  const ir::Estimate other = simulated(w, binary, counts, d, calibration());
  CHECK(other.level == ir::Level::simulated);
  CHECK(other.total == one.total);
  CHECK(other.total >= sol(compulsory_work(w), d, calibration()).total);
  const auto grown = [&](auto&& grow) {
    ir::LaunchCounts more = counts;
    grow(more);
    CHECK(simulated(w, binary, more, d, calibration()).total >= other.total);
  };
  grown([](ir::LaunchCounts& c) { c.buffers[0].load.sectors *= 4; });
  grown([](ir::LaunchCounts& c) { c.shared_load_wavefronts *= 100; });
  grown([](ir::LaunchCounts& c) { c.shuffles *= 100; });
  grown([](ir::LaunchCounts& c) { c.fma *= 100; });
  grown([](ir::LaunchCounts& c) { c.alu *= 100; });
  grown([](ir::LaunchCounts& c) { c.control = 1e9; });
  ir::LaunchCounts busy = counts;
  busy.xu = 1e9;
  CHECK(simulated(w, binary, busy, d, calibration()).total > other.total);
}

TEST_CASE("the table finds its models and sol of a group counts inputs and outputs once") {
  CHECK(models().size() == 4);
  CHECK(find_model("projected") != nullptr);
  CHECK(find_model("projcted") == nullptr);
  const ir::Group group = group_of(graph_text("softmax", 64, 1000, "f32"));
  const GroupWork work = group_work(group);
  CHECK(work.bytes_read == doctest::Approx(64 * 1000 * 4).epsilon(1e-4));  // and two scalars' constants are no input
  CHECK(work.bytes_written == 64 * 1000 * 4);
  CHECK(work.xu >= 64 * 1000 * 2);
}

TEST_CASE("a calibration file with a wrong key is an error that names it") {
  CHECK(calibration().register_base > 0);
  try {
    parse_calibration(R"({"title": "t", "figures": {"register_bse": {"value": 1, "unit": "register", "source": "s"}}})",
                      "c.json");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message == "unknown key 'register_bse' in figures");
    CHECK(error.hint == "did you mean 'register_base'?");
  }
}

TEST_CASE("models rank lowered plans above their roof and advice names its numbers") {
  const ir::Group group = group_of(graph_text("layernorm", 64, 768, "f32"));
  const GroupWork needed = group_work(group);
  for (const ir::Device& device : devices()) {
    const ir::Estimate roof = sol(needed, device, calibration());
    const int kernels = for_each_kernel(group, ir::limits(device), [&](const ir::Plan&, const ir::Kernel& kernel) {
      const Work work = count(kernel, Mode::fast);
      const ir::Estimate e = projected(work, device, calibration());
      CHECK(e.total >= roof.total * 0.999);
      const auto lines = advice(e, work, device);
      CHECK(lines.size() <= 2);
      for (const std::string& line : lines) CHECK(line.find_first_of("0123456789") != line.npos);
    });
    CHECK(kernels > 20);
  }
}
