// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A GPU as XLA's own cost model sees it: what XLA's target specification says, the constants of its performance model,
// and its table of operation costs. Read from data/xla/NAME.json, where NAME is a device of data/devices. It is kept
// apart from that device on purpose: XLA rounds and assumes (an H200 with 50 MiB of L2, an L1 of 2 KiB), and a model
// that is to say what XLA says has to be wrong in the same places.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ir/graph/op.h"
#include "ir/graph/types.h"

namespace tailor::costmodel::xla {

/// Sizes in bytes, bandwidth in bytes a second, clock in GHz, as XLA counts.
struct Target {
  std::string name;      ///< file stem: the device of data/devices that it describes
  std::string title;     ///< for people
  std::string arch;      ///< "sm_90"
  std::string xla_name;  ///< what XLA calls its specification: "a100_sxm_80"
  std::int64_t sms = 0, fpus_per_sm = 0, threads_per_sm = 0, threads_per_warp = 0;
  std::int64_t shared_per_block = 0, blocks_x = 0, l2_bytes = 0, l1_bytes_per_sm = 0;
  std::int64_t dram_transaction = 0;  ///< of which an uncoalesced load uses one element
  double clock = 0, bandwidth = 0;
  double block_bandwidth = 0;             ///< bytes a block can ask for in one clock
  double l1_speedup = 0, l2_speedup = 0;  ///< of what is read again
  double overlap = 0;                     ///< share of the shorter of compute and memory that hides behind the other
  double launch_overhead = 0;             ///< seconds, only where fused is compared with unfused
  std::int64_t default_cycles = 0;        ///< of an operation that the table leaves out
  std::map<std::pair<ir::DType, ir::Op>, std::int64_t> cycles;
  bool operator==(const Target&) const = default;
};

/// Clocks per element. The table has no row for bf16, and none for what is too fast to measure: those are the default.
std::int64_t cycles(const Target& target, ir::Op op, ir::DType dtype);

/// Throws Error(failed) with file and place for text that is no such file.
Target parse_target(std::string_view text, const std::string& file);

/// The description of the device with this name in `folder` (data/xla); nullptr when there is none.
std::shared_ptr<const Target> find_target(std::string_view device, const std::string& folder);
/// The one whose specification XLA calls `xla_name`; nullptr when there is none.
std::shared_ptr<const Target> find_target_of_xla(std::string_view xla_name, const std::string& folder);
/// "a100_80gb, h200, v100": devices with a description, for messages.
std::string known_targets(const std::string& folder);

}  // namespace tailor::costmodel::xla
