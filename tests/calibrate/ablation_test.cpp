// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the model switched off. In: shipped and drawn devices, drawn kernels. Each row of the table changes the
// figures that are written here beside it and no others, and every figure of a time belongs to a row; what was a cost
// never makes a kernel slower when it is gone, what hid a cost never makes it faster; with nothing switched off, the
// model is itself. Part of the suite `calibrate`.
#include "calibrate/ablation.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "calibrate/sample.h"
#include "costmodel/model.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::calibrate;

namespace {

const std::string ablation_data = source_folder() + "/data";

/// What switching a part off may do to a time: make it no longer (a cost is gone), no shorter (what hid it is), either.
enum class Gone { cost, saving, either };
struct Expected {
  std::set<std::string> figures;
  Gone what;
};
const std::map<std::string, Expected> expected_rows = {
    {"the floor of a call",
     {{"dispatch_floor", "dispatch_lead", "launch_overhead", "graph_overhead", "ramp", "cold_code"}, Gone::cost}},
    {"what a call hides", {{"dispatch_lead"}, Gone::saving}},
    {"DRAM as a limit", {{"dram_bandwidth"}, Gone::cost}},
    {"efficiency of DRAM", {{"dram_efficiency", "dram_read_efficiency", "dram_write_efficiency"}, Gone::cost}},
    {"turns between reads and writes", {{"dram_read_efficiency", "dram_write_efficiency"}, Gone::either}},
    {"the knee of bandwidth", {{"dram_knee", "dram_mixed_knee"}, Gone::either}},
    {"data that a warm L2 holds", {{"warm_share"}, Gone::saving}},
    {"re-reads that L1 misses", {{"l1_share"}, Gone::cost}},
    {"re-reads that L1 has", {{"l1_share"}, Gone::saving}},
    {"what L2 keeps", {{"l2_share"}, Gone::saving}},
    {"caches that fill up softly", {{"reuse_knee"}, Gone::either}},
    {"L2 as a limit", {{"l2_bandwidth", "sm_bandwidth"}, Gone::cost}},
    {"round trips", {{"dram_latency", "l2_latency", "l1_latency", "trip_spread"}, Gone::cost}},
    {"latencies of instructions",
     {{"shared_latency", "fma_latency", "xu_latency", "shuffle_latency", "barrier_latency", "cluster_latency",
       "distributed_latency"},
      Gone::either}},
    {"the knee of pipes", {{"pipe_knee"}, Gone::cost}},
    {"memory beside pipes", {{"overlap_knee"}, Gone::cost}},
    {"blocks alone on their SM", {{"lone_share"}, Gone::cost}},
    {"a first wave that waits", {{"first_wave"}, Gone::cost}},
    {"blocks that loop", {{"loop_excess"}, Gone::cost}},
    {"writes that L2 holds", {{"write_hold"}, Gone::either}},
    {"how fast blocks start", {{"block_rate"}, Gone::either}},
    {"atomics as a limit", {{"atomic_rate"}, Gone::cost}},
    {"blocks in the place of others", {{"block_turnaround"}, Gone::either}},
    {"instructions",
     {{"issue_rate", "fma_rate", "alu_rate", "xu_rate", "f64_rate", "lsu_rate", "shuffle_rate", "shared_bandwidth",
       "distributed_bandwidth", "l1_bandwidth", "widen_rate", "narrow_rate"},
      Gone::cost}},
    {"the clock that is sustained", {{"clock"}, Gone::either}},
    {"the learned residual", {{}, Gone::either}},
};

ir::Device ablation_device(const std::string& name) { return ir::find_device(name, ablation_data + "/devices"); }

costmodel::CalibratedDevice calibrated_as(const ir::Device& device, const std::string& calibration) {
  return costmodel::calibrated(device, ir::read_calibration(ablation_data + "/calibrations/" + calibration + ".json"));
}

costmodel::Work drawn_work(std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return low * std::pow(high / low, static_cast<double>(random() >> 11) * 0x1p-53);
  };
  costmodel::Work w;
  w.threads = 32 << random() % 6;
  w.virtual_blocks = w.grid = static_cast<std::int64_t>(between(1, 1e6));
  if (random() % 2 == 0) w.virtual_blocks *= 3;  // blocks loop
  w.live_registers = 16;
  const double warps = static_cast<double>(w.grid) * w.threads / 32;
  const auto count = [&](double low, double high) { return static_cast<std::int64_t>(warps * between(low, high)) + 1; };
  costmodel::BufferWork in, out;
  in.read_sectors = count(1, 30);
  in.read_bytes = in.read_sectors * 32;
  in.load.sectors = in.read_sectors * static_cast<std::int64_t>(between(1, 20));
  in.reload_sectors = in.load.sectors / 4;
  in.block_sectors = in.read_sectors / w.grid + 1;
  out.written_sectors = out.store.sectors = count(1, 30);
  out.written_bytes = out.written_sectors * 32;
  out.atomic.sectors = random() % 3 == 0 ? count(0.1, 30) : 0;
  w.buffers = {in, out};
  w.pipes.fma = count(1, 1000);
  w.pipes.alu = count(1, 1000);
  w.pipes.xu = count(0.1, 100);
  w.pipes.memory = count(1, 30);
  w.pipes.shuffle = count(0.1, 30);
  w.shared_load.wavefronts = count(0.1, 100);
  w.critical_path = {between(1, 20), between(0.1, 20), between(0.1, 30), between(0.1, 5), between(1, 500), 1};
  w.critical_path.far = w.critical_path.memory / 2;
  return w;
}

}  // namespace

TEST_CASE("each part that is switched off changes its own figures and no others, and every figure of a time has one") {
  const ir::Device device = ablation_device("t4");
  costmodel::CalibratedDevice whole = calibrated_as(device, "t4");
  whole.lone_share = whole.first_wave = 1, whole.write_hold = whole.loop_excess = 0.5,
  whole.cold_code = 1;  // it was fitted without
  REQUIRE(whole.residual != nullptr);
  std::set<std::string> rows, moved_by_any;
  for (const Ablation& row : ablations()) {
    CAPTURE(row.part);
    CHECK(rows.insert(std::string(row.part)).second);
    CHECK(!row.words.empty());
    REQUIRE(expected_rows.contains(std::string(row.part)));
    costmodel::CalibratedDevice without = whole;
    row.off(without, device);
    std::set<std::string> moved;
    for (const costmodel::CalibratedFigure& figure : costmodel::calibrated_figures())
      if (without.*figure.member != whole.*figure.member) moved.insert(std::string(figure.key));
    CHECK(moved == expected_rows.at(std::string(row.part)).figures);
    CHECK((without.residual == nullptr) == (row.part == "the learned residual"));
    moved_by_any.insert(moved.begin(), moved.end());
    // Switched off twice it is as switched off once, and what no calibration may override stays.
    CHECK(without.limits == whole.limits);
  }
  CHECK(rows.size() == expected_rows.size());
  // No part: capacities and what they are divided into, which say what is legal or how much room there is; what the
  // compiler adds; and what is claimed of the error.
  const std::set<std::string> none = {
      "l2_bytes",      "l1_bytes",        "l1_shared_bytes", "dram_bytes",   "dram_pin_rate", "dram_width", "f32_peak",
      "register_base", "register_saving", "sms_per_gpc",     "sms_per_tpc",  "small_gpc",     "code_room",  "sol_low",
      "sol_high",      "projected_low",   "projected_high",  "compiled_low", "compiled_high"};
  for (const costmodel::CalibratedFigure& figure : costmodel::calibrated_figures()) {
    if (figure.kind == ir::FigureKind::limit) continue;
    CAPTURE(figure.key);
    CHECK(moved_by_any.contains(std::string(figure.key)) != none.contains(std::string(figure.key)));
  }
}

TEST_CASE("without a part a time moves only the way that the part says, and with all of them the model is itself") {
  std::mt19937_64 random(7);
  const costmodel::Model& model = *costmodel::find_model("projected");
  std::map<std::string, int> moved;
  for (const std::string name : {"v100_pcie", "t4", "h200"}) {
    const ir::Device device = ablation_device(name);
    costmodel::CalibratedDevice whole = calibrated_as(device, name == "h200" ? "uncalibrated" : name);
    whole.residual = nullptr;  // learned on what it is then asked beside: it may go either way with any part
    for (int round = 0; round < 400; ++round) {
      const costmodel::Work work = drawn_work(random);
      for (const ir::Timer timer : {ir::Timer::host, ir::Timer::stream}) {
        const ir::CacheState cache = round % 2 == 0 ? ir::CacheState::warm : ir::CacheState::cold;
        const ir::Regime regime{cache, timer, ir::LaunchMode::stream, ir::includes(timer)};
        const auto time = [&](const costmodel::CalibratedDevice& figures) {
          const costmodel::ModelInputs inputs{.work = &work, .device = &figures, .regime = regime};
          return model.estimate(inputs).total.value;
        };
        const double with_all = time(whole);
        CHECK(with_all == costmodel::projected(work, whole, regime).total.value);
        for (const Ablation& row : ablations()) {
          costmodel::CalibratedDevice without = whole;
          row.off(without, device);
          const double rest = time(without);
          const Gone what = expected_rows.at(std::string(row.part)).what;
          CAPTURE(row.part);
          CAPTURE(name);
          CHECK(std::isfinite(rest));
          if (what == Gone::cost) CHECK(rest <= with_all * (1 + 1e-9));
          if (what == Gone::saving) CHECK(rest >= with_all * (1 - 1e-9));
          moved[std::string(row.part)] += std::abs(rest / with_all - 1) > 1e-6 ? 1 : 0;
        }
      }
    }
  }
  for (const auto& [part, times] : moved) {
    CAPTURE(part);
    CHECK((times > 0) == (part != "the learned residual"));
  }
}
