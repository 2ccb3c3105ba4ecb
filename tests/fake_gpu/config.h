// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the fake GPU is and what it shall do wrong: read once from fake_gpu.json beside the shared object, so that a
// worker process that loads the library behaves as its test wants without an environment variable. Written by tests
// (support/fake_gpu.h). Without the file it is a healthy GPU with the numbers of an H200 (data/devices/h200.json).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tailor::fake {

struct Chip {
  int count = 1;  ///< GPUs in the machine; 0: cuInit finds none
  std::string name = "Stand-in for an NVIDIA H200", chip = "GH100";
  std::string uuid = "GPU-0123abcd-4567-89ef-0123-456789abcdef", bus = "0000:19:00.0", driver = "580.65.06";
  int driver_api = 13000;
  int compute_capability = 90, sms = 132;
  std::int64_t memory_bytes = 141'000'000'000, l2_bytes = 62'914'560;
  std::int64_t shared_per_sm = 233'472, shared_per_block = 49'152, shared_per_block_optin = 232'448;
  std::int64_t shared_reserved = 1024;
  int registers_per_sm = 65'536, threads_per_sm = 2048, blocks_per_sm = 32, bus_bits = 6144;
  int gpcs = 8;  ///< parts of the chip with an equal share of the SMs, as nearly as goes; a cluster runs within one
  double sm_clock = 1.98e9, dram_clock = 3.201e9;                 ///< Hz
  double dram_bandwidth = 4.32e12, l2_bandwidth = 9.7e12;         ///< B/s
  double issue_rate = 4;                                          ///< warp instructions per clock and SM
  double dispatch_rate = 2e9;                                     ///< blocks that are started per second
  double kernel_floor = 1.4e-6;                                   ///< s, of an empty kernel
  double stream_gap = 1.0e-6, graph_gap = 0.5e-6;                 ///< s between kernels
  double record_time = 0.7e-6;                                    ///< s more between kernels while they are recorded
  double call_time = 1e-7, launch_time = 2e-6, sync_time = 1e-6;  ///< s, of the host
  std::int64_t tick = 32;                                         ///< ns, grain of timestamps
};

/// What happens when a call comes in for the nth time in this process (0: every time), and at the `times` - 1 after it.
/// act: fail (with `error`), abort, exit (with `error` as status), fault (a segmentation fault), hang, slow (by
/// `seconds`, then it goes on). `once`: only in the first process that gets there.
struct Failure {
  std::string call, act = "fail";
  std::int64_t nth = 0, times = 1;
  int error = 0;
  double seconds = 0;
  bool once = false;
};

/// The time of kernels whose name the regular expression matches, instead of the modelled one.
struct PlantedTime {
  std::string kernel;
  double seconds = 0;
};

/// From this many launches on: why clocks are held back (NVML's bits) and what is left of them.
struct ThrottleStep {
  std::int64_t launches = 0;
  std::uint64_t reasons = 0;
  double sm_clock = 0;  ///< Hz; 0: as the chip
};

struct Config {
  Chip chip;
  std::vector<Failure> failures;
  std::vector<PlantedTime> times;
  std::vector<ThrottleStep> throttle;
  std::uint64_t seed = 1;
  double noise = 0.01;   ///< relative, of a kernel's time
  double placement = 0;  ///< relative, of a kernel's time, by the addresses of the memory it was given
  double outliers = 0;   ///< fraction of kernels that take `outlier` times as long
  double outlier = 3;
  std::int64_t warp_instructions = 4'000'000;  ///< of one warp; more is an endless loop, and it hangs
  std::int64_t queue_depth = 1024;             ///< launches that a stream takes before a further one waits
  std::int64_t drop_activity = 0;              ///< every nth record is dropped
  bool activity_without_times = false;
  bool counters_permitted = true, other_profiler = false, other_subscriber = false;
  bool ecc = true, mig = false, persistence = true, nvml_clocks = true;
  double power_limit = 700, power_limit_default = 700, power = 120, temperature = 35;
  int other_processes = 0;  ///< compute processes that NVML tells of
  std::int64_t metrics_per_pass = 4;
  std::map<std::string, double> metrics;  ///< values of metrics instead of, or beyond, the table's
  std::map<std::string, int> attributes;  ///< device attributes by number instead of the modelled ones
  bool log = false;                       ///< names of calls, one per line, into calls.txt beside the file
  std::filesystem::path folder;
};

/// Reads `folder`/fake_gpu.json over the defaults; an unknown key ends the process with a message, as a misspelt one
/// would make a test pass for nothing.
Config config_in(const std::filesystem::path& folder);

}  // namespace tailor::fake
