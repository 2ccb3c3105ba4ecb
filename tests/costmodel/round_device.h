// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Devices for estimates that are worked out on paper. Out: a shipped device under the shipped defaults, one whose
// figures are round numbers, and a regime whose time holds nothing but the kernel's own work. Called by the tests of
// the models in this folder.
#pragma once

#include <filesystem>
#include <string>

#include "costmodel/calibration.h"
#include "ir/device.h"
#include "ir/estimate.h"
#include "ir/regime.h"
#include "support/paths.h"

namespace tailor::costmodel {

inline constexpr double last_digits = 1e-12;  ///< how near a number is to what paper says

inline CalibratedDevice shipped(const std::string& name) {
  const std::filesystem::path data = std::filesystem::path(source_folder()) / "data";
  return calibrated(ir::find_device(name, data / "devices"),
                    ir::find_calibration("uncalibrated", data / "calibrations"));
}

/// 10 SMs of 1 GHz, 1 TB/s of DRAM and 2 of L2; everything that a case does not ask about is free or 1.
inline CalibratedDevice round_device() {
  CalibratedDevice d = shipped("h200");
  d.sms = 10;
  d.clock = 1e9;
  d.dram_bandwidth = 1e12;
  d.dram_efficiency = d.dram_read_efficiency = d.dram_write_efficiency = 1;
  d.dram_latency = 400e-9;
  d.l2_latency = 200e-9;
  d.l2_bandwidth = 2e12;
  d.l2_bytes = 1e6;
  d.l2_share = 1;
  d.sm_bandwidth = 1e9;
  d.l1_bytes = d.l1_shared_bytes = 100e3;
  d.l1_bandwidth = 1e9;
  d.l1_latency = 50;
  d.l1_share = 1;
  d.reuse_knee = 1;
  d.dram_knee = d.dram_mixed_knee = 1;
  d.pipe_knee = 1;
  d.overlap_knee = 1e9;
  d.lone_share = d.first_wave = d.write_hold = d.loop_excess = 0;
  d.trip_spread = d.cold_code = 0;
  d.block_turnaround = 1e-15;
  d.block_rate = 1e9;
  d.shared_reserved_per_block = 0;
  return d;
}

inline ir::Regime bare_regime() {
  ir::Regime regime;
  regime.includes = {};
  return regime;
}

inline double part_of(const ir::Estimate& estimate, ir::Part part) {
  return estimate.parts[static_cast<std::size_t>(part)].value;
}

}  // namespace tailor::costmodel
