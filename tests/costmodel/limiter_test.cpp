// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a model names the right limiter, on devices that exist nowhere. In: drawn devices, whose figures are all
// known, and kernels drawn for them. Two oracles: kernels whose limiter is known by construction, because each resource
// was given an amount of work that takes a drawn time and one was given most; and drawn kernels of which the limiter is
// what shortens the time most when the device has a tenth more of it. Part of the suite `costmodel`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "costmodel/model.h"
#include "round_device.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

using ir::Part;

/// What a kernel can wait for, and the figures that make it shorter: by more of them, or by less where they are times.
struct Resource {
  Part limiter;
  std::vector<double CalibratedDevice::*> rates, times;
};
const std::vector<Resource>& resources() {
  using D = CalibratedDevice;
  static const std::vector<Resource> all = {
      {Part::launch, {}, {&D::launch_overhead, &D::ramp}},
      {Part::code, {}, {&D::cold_code}},
      {Part::dram, {&D::dram_bandwidth}, {}},
      {Part::l2, {&D::l2_bandwidth, &D::sm_bandwidth}, {}},
      {Part::shared, {&D::shared_bandwidth, &D::l1_bandwidth, &D::shuffle_rate, &D::lsu_rate}, {}},
      {Part::issue, {&D::issue_rate}, {}},
      {Part::fma, {&D::fma_rate, &D::f64_rate}, {}},
      {Part::alu, {&D::alu_rate}, {}},
      {Part::xu, {&D::xu_rate, &D::narrow_rate, &D::widen_rate}, {}},
      {Part::latency,
       {&D::block_rate},
       {&D::dram_latency, &D::l2_latency, &D::l1_latency, &D::trip_spread, &D::shared_latency, &D::fma_latency,
        &D::xu_latency, &D::shuffle_latency, &D::barrier_latency, &D::block_turnaround}},
      {Part::atomic, {&D::atomic_rate}, {}}};
  return all;
}

/// With a share more of a resource.
CalibratedDevice with_more(CalibratedDevice d, const Resource& resource, double share) {
  for (double CalibratedDevice::*const rate : resource.rates) d.*rate *= 1 + share;
  for (double CalibratedDevice::*const time : resource.times) d.*time /= 1 + share;
  return d;
}

struct Drawing {
  std::mt19937_64 random{20261123};
  double between(double low, double high) {
    return low * std::pow(high / low, static_cast<double>(random() >> 11) * 0x1p-53);
  }

  /// Every figure that a resource has is another than that of the GPU it began with, by up to four times.
  CalibratedDevice device() {
    static const std::vector<CalibratedDevice> real = {shipped("h200"), shipped("v100"), shipped("l4"), shipped("t4")};
    CalibratedDevice d = real[random() % real.size()];
    d.clock *= between(0.5, 2);
    d.l2_bytes *= between(0.5, 2);
    for (const Resource& resource : resources()) {
      for (double CalibratedDevice::*const rate : resource.rates) d.*rate *= between(0.5, 2);
      for (double CalibratedDevice::*const time : resource.times) d.*time *= between(0.5, 2);
    }
    return d;
  }
};

/// Work of 256 threads that takes each resource a time by itself, on paper: `seconds` in the order of resources().
/// The device is changed where one resource would take another one's time: ports and L1 are wide, an instruction of a
/// pipe takes a small share of an issue slot.
Work made_of(const std::vector<double>& seconds, CalibratedDevice& d) {
  d.sm_bandwidth = d.l1_bandwidth = 1e9;
  d.block_rate = 1e9;
  d.issue_rate = 64 * d.fma_rate / 32;
  d.f64_rate = d.fma_rate;
  Work w;
  w.threads = 256;
  w.virtual_blocks = w.grid = static_cast<std::int64_t>(d.sms);  // one wave, as many for each SM
  w.live_registers = 16;
  const double cycles = d.sms * d.clock;
  const auto time_of = [&](Part part) {
    for (std::size_t i = 0; i < seconds.size(); ++i)
      if (resources()[i].limiter == part) return seconds[i];
    return 0.0;
  };
  const auto count = [](double x) { return std::max<std::int64_t>(1, std::llround(x)); };
  d.launch_overhead = 0.75 * time_of(Part::launch);
  d.ramp = 0.25 * time_of(Part::launch);
  w.code_instructions = 1000;
  d.cold_code = time_of(Part::code) * d.clock / static_cast<double>(w.code_instructions);
  // What is read comes from memory once. L2 also hands out what atomics ask for.
  BufferWork in, sums;
  in.read_sectors = in.load.sectors =
      count(time_of(Part::dram) * d.dram_bandwidth * d.dram_read_efficiency / static_cast<double>(sector_bytes));
  in.read_bytes = in.read_sectors * sector_bytes;
  in.block_sectors = in.read_sectors / w.grid + 1;
  sums.atomic.sectors = count(time_of(Part::atomic) * d.atomic_rate * d.clock);
  const double through_l2 = static_cast<double>(sector_bytes * (in.load.sectors + sums.atomic.sectors));
  // The same sectors again and again from every SM, and no L1 that has them: as much as L2 takes its time for.
  d.l2_bandwidth = std::max(through_l2 / time_of(Part::l2), 1.0);
  w.buffers = {in, sums};
  w.shared_load.wavefronts = count(time_of(Part::shared) * cycles * d.shared_bandwidth / 128);
  w.pipes.fma = count(time_of(Part::fma) * cycles * d.fma_rate / 32);
  w.pipes.alu = count(time_of(Part::alu) * cycles * d.alu_rate / 32);
  w.pipes.xu = count(time_of(Part::xu) * cycles * d.xu_rate / 32);
  const std::int64_t others = w.pipes.fma + w.pipes.alu + w.pipes.xu;
  d.issue_rate = std::max(d.issue_rate, 2 * static_cast<double>(others) / (time_of(Part::issue) * cycles));
  w.pipes.control = count(time_of(Part::issue) * cycles * d.issue_rate) - others;
  w.critical_path.arithmetic = time_of(Part::latency) * d.clock / d.fma_latency;
  return w;
}

struct Agreement {
  int judged = 0, agreed = 0;
  void add(bool agrees) {
    ++judged;
    agreed += agrees ? 1 : 0;
  }
};

}  // namespace

TEST_CASE("the limiter of kernels made of known amounts of work is the resource that was given most") {
  Drawing draw;
  for (const Resource& limiter : resources()) {
    Agreement agreement;
    for (int round = 0; round < 300; ++round) {
      CalibratedDevice d = draw.device();
      const double most = draw.between(2e-6, 2e-3);
      // A launch is one where the body is shorter: whatever hides behind what, it is no longer than three resources.
      // So is code.
      const bool alone = limiter.limiter == Part::launch || limiter.limiter == Part::code;
      const double margin = alone ? 3.5 : 1.05;
      std::vector<double> seconds;
      for (const Resource& resource : resources())
        seconds.push_back(&resource == &limiter ? most : most / (margin * draw.between(1, 30)));
      const Work w = made_of(seconds, d);
      const ir::Estimate e = projected(w, d);
      agreement.add(e.bottleneck == limiter.limiter);
      CHECK(part_of(e, limiter.limiter) == approx(most).epsilon(0.02));
    }
    CAPTURE(name(limiter.limiter));
    CHECK(agreement.agreed == agreement.judged);
  }
}

TEST_CASE("the limiter of drawn kernels on drawn devices is what shortens them most, where one thing does") {
  Drawing draw;
  std::array<Agreement, ir::part_count> by_limiter{};
  Agreement all;
  for (int round = 0; round < 4000; ++round) {
    const CalibratedDevice d = draw.device();
    Work w;
    w.threads = 32 << draw.random() % 6;
    w.virtual_blocks = w.grid = static_cast<std::int64_t>(draw.between(1, 1e6));
    w.live_registers = 8 + static_cast<int>(draw.random() % 80);
    w.code_instructions = static_cast<std::int64_t>(draw.between(50, 50'000));
    const double threads = static_cast<double>(w.grid) * w.threads, warps = threads / 32;
    BufferWork in, out;
    in.read_bytes = static_cast<std::int64_t>(threads * draw.between(0.5, 64));
    in.read_sectors = in.read_bytes / 32 + 1;
    in.load.sectors = static_cast<std::int64_t>(static_cast<double>(in.read_sectors) * draw.between(1, 30));
    in.block_sectors = in.load.sectors / w.grid + 1;
    out.written_bytes = static_cast<std::int64_t>(threads * draw.between(0.1, 16));
    out.written_sectors = out.store.sectors = out.written_bytes / 32 + 1;
    if (draw.random() % 4 == 0) out.atomic.sectors = static_cast<std::int64_t>(warps * draw.between(0.1, 300));
    w.buffers = {in, out};
    const auto counted = [&](double low, double high) {
      return static_cast<std::int64_t>(warps * draw.between(low, high));
    };
    w.pipes.fma = counted(1, 3000);
    w.pipes.alu = counted(1, 2000);
    w.pipes.xu = counted(0.1, 500);
    w.pipes.memory = counted(1, 50);
    w.pipes.shuffle = counted(0.1, 100);
    w.pipes.control = counted(1, 3000);
    w.shared_load.wavefronts = counted(0.1, 1000);
    w.critical_path = {draw.between(1, 20),  draw.between(0.1, 20), draw.between(0.1, 30),
                       draw.between(0.1, 5), draw.between(1, 500),  draw.between(0.1, 20)};
    w.critical_path.far = w.critical_path.memory / 2;
    const ir::Estimate e = projected(w, d);
    double first = 0, second = 0;
    Part limiter = Part::launch;
    for (const Resource& resource : resources()) {
      const double gain = e.total.value - projected(w, with_more(d, resource, 0.1)).total.value;
      if (gain > first) limiter = resource.limiter;
      second = std::max(second, std::min(first, gain));
      first = std::max(first, gain);
    }
    if (first < 1.5 * second) continue;  // two things limit it
    row_for(by_limiter, limiter).add(e.bottleneck == limiter);
    all.add(e.bottleneck == limiter);
  }
  std::string said;
  for (const Resource& resource : resources()) {
    const Agreement& one = row_for(by_limiter, resource.limiter);
    said += fmt::format("{} {} of {}, ", name(resource.limiter), one.agreed, one.judged);
  }
  MESSAGE(said << "all " << all.agreed << " of " << all.judged);
  CHECK(all.judged > 2000);
  CHECK(all.agreed > 0.95 * all.judged);
}
