// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests to a GPU and their responses: plain data, so that the one who asks and the one who owns the GPU may be two
// processes (profiler/measure/worker.h) or one (tests). A sequence is loaded once under a number and then run, timed
// and counted as often as wanted. A response is never an exception: whatever the driver says comes back as an outcome
// with a reason. After some outcomes the context is lost and only another process can go on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"
#include "ir/measurement.h"
#include "profiler/gpu/request/sequence.h"

namespace tailor::gpu {

/// Where the libraries are. An empty file: the system's loader, then (CUPTI) toolkits and Python environments.
struct LibraryPaths {
  std::filesystem::path driver, cupti, nvml;
  std::vector<std::filesystem::path> toolkits;              ///< as /usr/local/cuda
  std::vector<std::filesystem::path> virtual_environments;  ///< that may hold CUDA's wheels
  bool operator==(const LibraryPaths&) const = default;
};

/// What a process with a GPU is for. A process has one use and keeps it: CUPTI does not count while it records kernels,
/// and whoever began it has its cost at every launch. trace: times, by CUPTI's records of kernels or by events. events:
/// times by events, CUPTI is not even loaded. count: counters; no kernel is ever recorded.
enum class Use : std::uint8_t { trace, events, count };

/// Opens the GPU (first of all asks) and tells what it is.
struct OpenRequest {
  LibraryPaths paths;
  int ordinal = 0;
  Use use = Use::trace;
  bool operator==(const OpenRequest&) const = default;
};

/// What the machine can do for this use, capability by capability, without opening a context. Works after nothing, and
/// without a GPU.
struct CapabilitiesRequest {
  LibraryPaths paths;
  int ordinal = 0;
  Use use = Use::trace;
  bool operator==(const CapabilitiesRequest&) const = default;
};

/// Loads images, allocates buffers, fills inputs. The contents of every buffer of role input and both lie one after
/// the other, in order of buffers and without gaps, in the blob that goes with the request.
///
/// Sequences of one `arena` lie in the same memory, of `arena_bytes` bytes, and only one at a time may be run: the
/// plans of a race, so that none is faster for where its buffers lie. All their buffers with contents must lie at the
/// same places (input_places in session/arena.h), and none may be written in place. The first is loaded with contents,
/// later ones say `filled` and bring none.
struct LoadRequest {
  int id = 0;
  Sequence sequence;
  int arena = -1;  ///< a number that the asker chose; -1: memory of its own
  std::int64_t arena_bytes = 0;
  bool filled = false;
  bool operator==(const LoadRequest&) const = default;
};

/// Runs a loaded sequence once after poisoning outputs with a pattern made of `seed`; checks guard zones and that
/// inputs are unchanged. The blob of the response holds the buffers of role output, both and scratch one after the
/// other.
struct RunRequest {
  int id = 0;
  std::uint64_t seed = 1;
  bool fetch = true;  ///< false: no blob
  bool operator==(const RunRequest&) const = default;
};

/// Takes `samples` times of a loaded sequence.
struct TimeRequest {
  int id = 0;
  ir::CacheState cache = ir::CacheState::cold;
  ir::TimedBy timed_by = ir::TimedBy::activity;
  ir::LaunchMode launch = ir::LaunchMode::stream;
  int samples = 10;
  int warmup = 0;           ///< untimed runs before them
  bool per_launch = false;  ///< also the time of every launch (activity only)
  bool operator==(const TimeRequest&) const = default;
};

/// Collects counters of a loaded sequence by CUPTI's own metric names, as one range, in as many passes as they need.
/// Only in a process that was opened to count.
struct CountRequest {
  int id = 0;
  ir::CacheState cache = ir::CacheState::cold;
  std::vector<std::string> metrics;
  bool more = false;  ///< the next request counts too: the GPU's counters are not let go in between
  bool operator==(const CountRequest&) const = default;
};

/// Clocks, temperature, power now.
struct StateRequest {
  bool operator==(const StateRequest&) const = default;
};

/// Forgets a sequence and frees its memory.
struct UnloadRequest {
  int id = 0;
  bool operator==(const UnloadRequest&) const = default;
};

using Request = std::variant<OpenRequest, CapabilitiesRequest, LoadRequest, RunRequest, TimeRequest, CountRequest,
                             StateRequest, UnloadRequest>;

/// The GPU that was opened.
struct GpuProperties {
  std::string name;  ///< "NVIDIA H200"
  std::string uuid;
  std::string chip;            ///< CUPTI's name: "GH100"; of a process that counts
  std::string driver;          ///< of the kernel: "580.159.04"; empty without NVML
  int driver_api = 0;          ///< 13000
  int cupti_api = 0;           ///< CUPTI_API_VERSION of the library; 0 without
  int compute_capability = 0;  ///< 90
  int sms = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::int64_t shared_per_sm = 0, shared_per_block_optin = 0;  ///< bytes
  int registers_per_sm = 0, threads_per_sm = 0;
  double sm_clock_max = 0, dram_clock_max = 0;  ///< Hz
  int bus_bits = 0;
  bool ecc = false, mig = false;
  bool can_time_activity = false;  ///< of a process that traces
  bool can_count = false;          ///< of a process that counts
  bool operator==(const GpuProperties&) const = default;
};

/// One thing that measuring needs, and what this machine has of it. States: ok, missing, limited.
struct Capability {
  std::string name;    ///< "driver", "kernel timestamps", "counters", "clocks", ...
  std::string state;   ///< "ok", "missing", "limited"
  std::string detail;  ///< what was found, or why it is not there
  std::string remedy;  ///< what to do; empty when ok
  bool operator==(const Capability&) const = default;
};

/// Of one launch of a loaded sequence.
struct KernelAttributes {
  int registers = 0;                                   ///< per thread
  std::int64_t local_bytes = 0;                        ///< per thread
  std::int64_t static_shared = 0, dynamic_shared = 0;  ///< bytes per block
  int blocks_per_sm = 0;                               ///< resident, by the driver's occupancy calculator
  int clusters = -1;  ///< of this shape that the GPU holds at once, by the same; -1: no clusters, or not told
  bool operator==(const KernelAttributes&) const = default;
};

struct GpuState {
  double sm_clock = 0, dram_clock = 0;  ///< Hz; 0: not known
  double temperature = 0;               ///< degrees Celsius
  double power = 0, power_limit = 0;    ///< W
  std::uint32_t throttle = 0;           ///< bits of ir::Throttle
  bool operator==(const GpuState&) const = default;
};

struct Response {
  ir::Outcome outcome = ir::Outcome::ok;
  std::string reason;         ///< one sentence; empty when ok
  bool context_lost = false;  ///< nothing more can be asked of this process but CapabilitiesRequest
  GpuProperties properties;   ///< of OpenRequest
  std::vector<Capability>
      capabilities;  ///< of OpenRequest, CapabilitiesRequest; of TimeRequest and CountRequest: what was limited
  std::vector<KernelAttributes> entries;       ///< of LoadRequest, by launch; of copies and fills blank
  std::vector<ir::Sample> samples;             ///< of TimeRequest, one per sample, in order
  std::vector<std::vector<Seconds>> launches;  ///< of TimeRequest with per_launch: [sample][launch]
  std::vector<double> values;                  ///< of CountRequest, by metric
  int passes = 0;                              ///< of CountRequest
  GpuState state;                              ///< of TimeRequest (before the first sample) and StateRequest
  std::vector<std::byte> blob;                 ///< of RunRequest
  bool operator==(const Response&) const = default;
};

}  // namespace tailor::gpu
