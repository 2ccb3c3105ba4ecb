// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine that one host thread runs. It holds resident blocks, their warps, and what each of them waits for. A
// resident set is what must be resident together: a block, a cluster, or every block of a cooperative grid.
// simulate.cpp makes one Machine per host thread and gives it one resident set after another.
//
//   resident_set.cpp   starting blocks, taking turns among warps, deadlock, counting
//   run.cpp            one warp: code blocks, diverged lanes, where they meet again
//   undefined.cpp      values that a shuffle took from a lane that was not there
//   wait.cpp           warp operations and barriers: who waits for whom, and when it ends
//   translate.cpp      from simulated addresses to the host's, with every check
//   *_steps.cpp        what single micro-operations do
//
// Diverged lanes are fragments: groups of lanes of one warp, each at a code block. One fragment runs at a time, the one
// at the earliest block in the program's order; fragments that come to the same block become one. There is no stack of
// branches, so code of any shape runs, and a fragment can wait while others go on.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/indexed.h"
#include "profiler/simulator/decode/program.h"
#include "profiler/simulator/machine/aligned_bytes.h"
#include "profiler/simulator/machine/async.h"
#include "profiler/simulator/machine/cache_model.h"
#include "profiler/simulator/machine/findings.h"
#include "profiler/simulator/machine/launch.h"
#include "profiler/simulator/machine/memory.h"
#include "profiler/simulator/machine/requests.h"
#include "profiler/simulator/machine/undefined.h"
#include "profiler/simulator/shadow/shadow.h"

namespace tailor::simulator {

struct ResidentBlock;

/// Lanes at one code block. `waiting`: at a block barrier that they have arrived at.
struct Fragment {
  std::uint32_t mask = 0;
  std::uint32_t block = 0;
  bool parked = false;          ///< for the other lanes of a warp operation or barrier
  bool waiting = false;         ///< for other warps
  bool yielded = false;         ///< ran for long while others could: they go first until all have
  bool at_end = false;          ///< parked, or let go since: the block's body has run, its ending has not
  std::uint32_t passed_by = 0;  ///< at its end: lanes that went on behind that ending without having come to it
};

struct WarpState : Warp {
  std::uint32_t live = 0;  ///< lanes that have not exited
  Fragment now;            ///< mask is Warp::active
  std::vector<Fragment> others;
  ResidentBlock* home = nullptr;
  int index = 0;           ///< in the block
  int resident_index = 0;  ///< resident block * warps per block + index
  std::int64_t stale = 0;  ///< instructions in slices that ended with the same lanes running and others held back
  std::uint32_t stale_mask = 0;
  std::int64_t executed = 0;  ///< instructions
  int idle_slices = 0;
  std::uint64_t polled = 0;  ///< what the last ordered read or wait looked at
  bool polls_again = false;  ///< it had looked at the same before
  /// Remembers that the warp looked at a place that others may change.
  void poll(std::uint32_t site, std::uint64_t address) {
    const std::uint64_t looked_at = address * 0x9e3779b97f4a7c15u + site + 1;
    polls_again = looked_at == polled;
    polled = looked_at;
  }
  std::uint32_t initial = 0;  ///< lanes it started with
  bool forced = false;        ///< the current fragment no longer waits for lanes that cannot come
  bool has_parked = false;    ///< false: no fragment is parked
  bool cluster_arrived = false;
  std::uint32_t met_cluster = 0;  ///< lanes that have left a cluster barrier: all its blocks have started
  std::uint64_t cluster_phase = 0;
  AlignedBytes frame_storage, local_storage;
  const std::byte* stored_rows = nullptr;         ///< while tiles are stored: 16 bytes per lane, else in slots
  std::unique_ptr<UndefinedRegisters> undefined;  ///< null: every register's value can be relied on
  bool can_run() const;
};

/// One named barrier of a block. Arrivals are counted in threads, whole warps at a time.
struct NamedBarrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;  ///< 0: as many as live threads of the block, in whole warps
  std::uint32_t votes = 0;     ///< bar.red: lanes with the predicate
  std::uint32_t voters = 0;
  std::uint32_t site = 0;                   ///< of the first arrival
  IndexedArray<std::uint32_t, 32> lanes{};  ///< that have arrived, by warp
};

struct ResidentBlock {
  std::int64_t linear = -1;
  int slot = 0;  ///< among the resident
  Extent3 id{};
  std::uint32_t rank = 0;  ///< in its cluster
  AlignedBytes shared_storage;
  std::byte* shared = nullptr;
  AlignedBytes bank_storage;
  std::byte* bank = nullptr;
  std::vector<std::unique_ptr<WarpState>> warps;
  IndexedArray<NamedBarrier, 16> barriers;
  int live_warps = 0;
};

/// barrier.cluster of one cluster of resident blocks.
struct ClusterBarrier {
  int arrived = 0;  ///< warps
  std::uint64_t phase = 0;
};

/// What all machines of a launch share; nothing here changes while they run.
struct LaunchState {
  const DecodedProgram& program;
  const Launch& launch;
  Memory::Body& memory;
  const SimulationOptions& options;
  Extent3 cluster{1, 1, 1};
  int threads_per_block = 0, warps_per_block = 0;
  int blocks_per_set = 1;
  std::int64_t shared_bytes = 0;  ///< per block
  const std::byte* launch_bank = nullptr;
  const std::byte* thread_bank = nullptr;  ///< warps_per_block times thread_bank_slots * 128 bytes
  GlobalShadow* shadow = nullptr;
  CacheModel* cache = nullptr;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  bool out_of_time() const {
    if (options.clock) return options.clock().value > options.time_limit.value;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started;
    return spent.count() > options.time_limit.value;
  }
};

/// What the blocks of a resident set printed.
struct PrintedText {
  std::int64_t first_block = 0;  ///< of the set
  std::string text;
};

struct Machine {
  explicit Machine(const LaunchState& state);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs the blocks from `first`, as many as a resident set has. `position`: place of the resident set among those
  /// that run.
  void run_resident_set(std::int64_t first, std::int64_t position);

  const LaunchState& state;
  Findings findings;
  std::vector<PrintedText> printed;  ///< in order
  std::size_t printed_bytes = 0;     ///< of these
  bool printed_all = true;           ///< nothing was left out
  /// Stops when more memory was made than the launch may hold.
  void limit_memory();

  /// Stops when somebody asks for it or the time is over. Called again and again while warps run, once for about
  /// `between_looks` instructions.
  void look_up();

  /// Instructions until the next look_up(). The shadow takes off what it does beyond its usual.
  std::int64_t until_look = 0;
  static constexpr std::int64_t between_looks = 4096;
  bool out_of_memory = false;
  bool stopped = false;  ///< a stop request, the time limit, too much memory, or nothing can go on
  std::string stop_reason;
  std::vector<std::uint64_t> block_runs, block_lanes;  ///< by code block
  std::vector<std::uint64_t> block_joins;  ///< of these runs, those whose ending another one did for them (modulo 2^64)
  std::vector<SiteState> sites;            ///< by memory site
  std::vector<BankPattern> bank_patterns;  ///< by memory site
  std::vector<SiteCounters> site_totals;   ///< by memory site
  IndexedVector<BufferCounters> buffers;
  Counters memory_counters;  ///< the fields that sites fill
  std::int64_t blocks_done = 0;

  // the resident set
  IndexedVector<ResidentBlock> resident;
  std::vector<ClusterBarrier> cluster_barriers;
  std::unique_ptr<ResidentShadow> shadow;
  std::unique_ptr<BlockTraffic> traffic;
  AsyncState async;
  std::uint64_t random = 0;
  std::uint64_t progress = 0;  ///< counts changes of memory that another warp may wait for
  bool may_spin = false;       ///< the program can wait for memory to change
  std::int64_t clock = 0;      ///< instructions of the resident set
  /// By code block that lanes were parked at: the blocks behind it, without going back in a loop.
  std::unordered_map<std::uint32_t, std::vector<bool>> behind;

  std::uint64_t next_random();
  void start_block(ResidentBlock& block, std::int64_t linear);
  void schedule();
  void run_warp(WarpState& warp, std::int64_t budget);
  void set_active(WarpState& warp, std::uint32_t mask);
  void flush_site(std::size_t site);
  void flush_sites();
  void explain_deadlock();
  /// A finding at a PTX instruction of the warp's block.
  void report(FindingKind kind, const WarpState& warp, std::uint32_t site, int lane, std::string text, int buffer = -1,
              Severity severity = Severity::error);

  // undefined.cpp
  void run_watching(WarpState& warp, const CodeBlock& block);
  void watch(WarpState& warp, const Micro& micro, std::uint32_t active);
  void mark_unwritten(WarpState& warp);
  void report_use(WarpState& warp, UndefinedLanes used, std::uint32_t site);

  // endings; true: the warp goes on, false: it waits or is done
  bool next_fragment(WarpState& warp);
  void split(WarpState& warp, std::uint32_t taken, std::uint32_t target, std::uint32_t other);
  bool warp_operation(WarpState& warp, const CodeBlock& block);
  bool block_barrier(WarpState& warp, const CodeBlock& block);
  bool cluster_barrier(WarpState& warp, const CodeBlock& block);
  void take_turns(WarpState& warp, std::int64_t executed);
  bool follow(WarpState& warp, const CodeBlock& block);
  void scatter(WarpState& warp, const CodeBlock& block);
  void exit_lanes(WarpState& warp);
  void complete(ResidentBlock& block, int barrier);
  void check_barriers(ResidentBlock& block);
  bool park(WarpState& warp);
  void join_parked(WarpState& warp);
  bool all_here(WarpState& warp, bool aligned);
  bool release_joint(WarpState& warp);
  bool unstick(WarpState& warp);
  void note_passed_by(WarpState& warp, std::uint32_t at);
  void report_passed_by(WarpState& warp);
  void check_cluster(std::size_t cluster);
  void leave_cluster_barrier(WarpState& warp, Fragment& one);
  SyncLocation barrier_location(const ResidentBlock& block, int barrier) const;
};

/// The shared array that holds `bytes` from `offset` on; none: they are in a guard, or across an end.
inline std::optional<SharedArray> array_holding(const LaunchState& state, std::uint64_t offset, std::uint64_t bytes) {
  const auto holds = [&](const SharedArray& one) {
    const std::uint64_t inside = offset - static_cast<std::uint64_t>(one.offset),
                        size = static_cast<std::uint64_t>(one.bytes);
    return bytes <= size && inside <= size - bytes;
  };
  for (const SharedArray& one : state.program.shared_arrays)
    if (holds(one)) return one;
  const SharedArray dynamic{{}, state.program.dynamic_offset, state.shared_bytes - state.program.dynamic_offset};
  if (holds(dynamic)) return dynamic;
  return std::nullopt;
}

/// Where a shared offset leads that is in no array, or across the end of one: told from the array before it.
std::string shared_place(const LaunchState& state, std::int64_t offset);

/// A finding when the thread cannot know that a block of its cluster, whose shared memory it touches, has started.
void check_started(WarpState& warp, std::uint32_t site, int lane, int block);

/// SiteState::buffer of accesses that are not to global memory.
inline constexpr std::int32_t shared_site = -2, local_site = -3;

inline WarpState& state_of(Warp& warp) { return static_cast<WarpState&>(warp); }
extern const Services services;

/// Lane's words of a slot.
inline std::uint32_t* words(const Warp& warp, Slot slot) {
  return reinterpret_cast<std::uint32_t*>(warp.bank[slot >> slot_bank_shift] + (slot & slot_offset_mask));
}
inline std::uint64_t* double_words(const Warp& warp, Slot slot) {
  return reinterpret_cast<std::uint64_t*>(warp.bank[slot >> slot_bank_shift] + (slot & slot_offset_mask));
}

}  // namespace tailor::simulator
