// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Device: one GPU as numbers, each with value, unit and source, read from data/devices/*.json. Limits: the part that
// decides what is legal, the only part lowering may see.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tailor::ir {

struct Figure {
  double value = 0;
  std::string unit;
  std::string source;
  bool operator==(const Figure&) const = default;
};

/// Integers of the occupancy rules (bytes, threads, registers, blocks).
struct Limits {
  int compute_capability = 0;  ///< 90 for sm_90
  int sms = 0;
  int warp_size = 0;
  int threads_per_block = 0;
  int threads_per_sm = 0;
  int blocks_per_sm = 0;
  int registers_per_sm = 0;
  int registers_per_block = 0;
  int registers_per_thread = 0;
  int register_unit = 0;              ///< registers are given to a warp in multiples of this
  int sub_partitions = 0;             ///< schedulers of an SM, each with its share of the registers
  int launch_partitions = 0;          ///< sub-partitions that the launch check assumes for a block's registers
  int shared_per_sm = 0;              ///< bytes
  int shared_per_block = 0;           ///< bytes a static declaration may have
  int shared_per_block_optin = 0;     ///< bytes with dynamic shared memory
  int shared_reserved_per_block = 0;  ///< bytes the system takes
  int shared_unit = 0;                ///< bytes
  bool operator==(const Limits&) const = default;
};

struct Device {
  std::string name;   ///< file stem: "h200"
  std::string title;  ///< "NVIDIA H200 SXM"
  std::string arch;   ///< "sm_90"
  std::string chip;   ///< "GH100", as CUPTI calls it; may be empty
  // Limits, as figures.
  Figure compute_capability, sms, warp_size, threads_per_block, threads_per_sm, blocks_per_sm, registers_per_sm,
      registers_per_block, registers_per_thread, register_unit, sub_partitions, launch_partitions, shared_per_sm,
      shared_per_block, shared_per_block_optin, shared_reserved_per_block, shared_unit;
  // Memory.
  Figure clock;            ///< Hz, boost clock of the data sheet
  Figure dram_bandwidth;   ///< B/s, by specification
  Figure dram_pin_rate;    ///< bit/s and pin; with dram_width it gives dram_bandwidth
  Figure dram_width;       ///< bit
  Figure dram_bytes;       ///< B, capacity
  Figure dram_efficiency;  ///< fraction of dram_bandwidth a copy reaches
  Figure dram_latency;     ///< s, loaded
  Figure dram_knee;        ///< exponent p of the bandwidth knee
  Figure l2_bytes, l2_bandwidth, l2_latency;
  Figure l2_share;          ///< fraction of l2_bytes that keeps data for reuse
  Figure sm_bandwidth;      ///< bytes per clock that one SM receives from L2
  Figure shared_bandwidth;  ///< bytes per clock and SM
  Figure shared_latency;    ///< cycles
  // Rates: lanes (results) per clock and SM, issue in warp instructions.
  Figure issue_rate;
  Figure fma_rate, alu_rate, xu_rate, shuffle_rate, f64_rate, lsu_rate;
  Figure widen_rate;   ///< f16 -> f32
  Figure narrow_rate;  ///< f32 -> 16 bit, float <-> integer
  Figure f32_peak;     ///< FLOP/s of the data sheet, for checking only
  // Latencies and overheads.
  Figure fma_latency, xu_latency, shuffle_latency, barrier_latency;  ///< cycles
  Figure launch_overhead;  ///< s from the end of one kernel of a stream to the start of the next
  Figure ramp;             ///< s of an empty kernel's body: block start, first address, drain
  Figure atomic_rate;      ///< sectors per clock at L2
};

/// One row per number of the file.
struct FigureRow {
  std::string_view key;
  std::string_view unit;  ///< the only unit accepted
  Figure Device::*member;
};
extern const std::vector<FigureRow> figure_table;

Limits limits(const Device& device);

/// Reads one JSON file. Throws Error(failed) for a missing number, an unknown key (nearest named), a wrong unit or
/// type, text that is not JSON (line and column).
Device read_device(const std::string& path);
/// The same from text; `file` names it in errors.
Device parse_device(std::string_view text, const std::string& file);
/// `name` is a file stem in `folder` or a path (it contains '/' or ends in ".json"). Throws Error(missing) listing what
/// is there.
Device find_device(std::string_view name, const std::string& folder);
std::vector<std::string> device_names(const std::string& folder);

}  // namespace tailor::ir
