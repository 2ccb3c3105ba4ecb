// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The sanitizers' memory of one launch: which bytes hold a value, and who touched which granule last. In: every access
// of a warp instruction, every barrier, fence, release and acquire. Out: findings (shadow_finding.h): a read of bytes
// that nobody wrote, a race. Called by the machine (translate.cpp, wait.cpp, async_steps.cpp), by tests that compare
// with an oracle, and by nobody else; it knows nothing of PTX.
//
// Races are judged by happens-before, never by the order in which the simulator happened to run things. Threads are
// ordered by program order, by barriers, and by what was released and acquired. Each thread has a clock. An access is
// stamped with the thread and its clock. Two accesses of different threads to one granule race when one of them writes
// and the later one's thread does not know of the earlier one's stamp. Keeping that per thread and per byte would cost
// far too much, so three things are shared:
//
//   - knowledge: warps whose lanes know the same share one record (shadow_clock.h);
//   - stamps: one 64-bit word says which lanes of a warp touched 32 granules, when and where (shadow_cells.h), which
//     makes the usual access one comparison per line of 32 granules;
//   - the record of a block: everything up to its last barrier is known to all of its threads, which is one number.
//
// Rules. A load by the read-only path must find nothing that this launch stored, however ordered. Lanes of one warp are
// ordered by bar.warp.sync and barriers only; shuffles, votes and lockstep order nothing. Strong accesses (relaxed,
// volatile, acquire, release, atomics) do not race with one another. A store that finds its own value in memory, and
// lanes of one instruction that store the same value, do not race with plain stores there; such a store takes the place
// of the one it equals (and is not compared with what that one came after). Atomics at one place come one after
// another, and one that gives back what was there has seen those before it. So a plain access does not race with the
// atomics of its place when the latest of them gave back what it found and is known to the thread: the last block may
// reset the counter that told it so. Which one is latest is the only thing that is taken from the schedule; an atomic
// that comes later does race. What was released at an address stays there until forgotten. Left out: the cluster as a
// scope of strong accesses in races, and that a relaxed store by another thread ends a release sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "profiler/simulator/shadow/shadow_finding.h"

namespace tailor::simulator {

/// Sites above this are remembered as `no_site` on the other side of a race.
inline constexpr std::uint32_t last_remembered_site = (1u << 13) - 2;

/// What a store wrote: element e of lane l is the first `element_bytes` bytes at elements[e] + l * stride. Needed only
/// to tell harmless stores of equal values from races; without it every overlap is a race.
struct ShadowValues {
  const std::byte* const* elements = nullptr;
  int element_bytes = 4;
  int stride = 4;                     ///< between lanes: 4 for slots of words, 8 for slots of double words
  const std::byte* memory = nullptr;  ///< the region's byte 0 as it is before this store
};

/// One warp instruction that touches one region. All lanes of `lanes` must be inside it and naturally aligned.
struct ShadowAccess {
  ShadowSpace space = ShadowSpace::shared;
  int warp = 0;    ///< resident block * warps per block + warp of the block
  int region = 0;  ///< shared: the resident block that owns the memory; global: the buffer; local: the warp, as above
  std::uint32_t lanes = 0;
  /// 32 of them: bytes from the region's first; inactive lanes' are not read. Null: see `first`.
  const std::uint32_t* offset = nullptr;
  int bytes = 4;        ///< per lane: 1, 2, 4, 8, 16, 32; a vector access is one access
  bool strong = false;  ///< relaxed, volatile, acquire, release; always for atomics
  std::uint32_t site = 0;
  bool observed = false;     ///< atomics: the program uses what was there before
  bool constant = false;     ///< loads: by a path on which nobody may store during the launch
  bool in_lanes = false;     ///< volatile, lanes at places of their own: not strong towards lanes of its own warp
  bool block_scope = false;  ///< strong within its block only
  /// Without `offset`: all 32 lanes are active, and lane l is at first + l * step. `step` is `bytes`, or of loads 0.
  std::uint32_t first = 0, step = 0;
};

/// Of the barriers and fences: how far an operation is seen.
enum class ShadowScope : std::uint8_t { block, cluster, device };

/// A location that things are released at and acquired from. For mbarriers give each parity a location; for named
/// barriers any number that no address has.
struct SyncLocation {
  ShadowSpace space = ShadowSpace::shared;  ///< shared: known to one resident set; global: to the launch
  std::uint64_t address = 0;                ///< unique among locations of its space
};

struct ShadowBuffer {
  std::int64_t bytes = 0;
  int granule = 4;          ///< 1, 2, 4, 8 or 16: divides every access of the program
  bool tracked = true;      ///< false: inputs: nothing is recorded and nothing found
  bool initialised = true;  ///< false: outputs
  /// Of outputs: a bit per byte that holds a value all the same, 32 to a word; empty: none.
  std::span<const std::uint32_t> written = {};
};

/// Global memory of one launch. Shared by the host threads that run its resident sets; lives longer than they do.
class GlobalShadow {
 public:
  /// `concurrent`: several resident sets run at once. Tracked buffers take 2 bytes per granule on first touch, and up
  /// to 18 more where one warp instruction does not touch 32 granules as a whole. Buffers of 4 GiB and more are not
  /// tracked. Kernels whose blocks release and acquire among one another depend on which block is last: run their
  /// resident sets on one host thread.
  GlobalShadow(std::span<const ShadowBuffer> buffers, bool concurrent);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;
  /// Blocks of different resident sets raced. That they did does not depend on the host's timing; which pair was seen
  /// may, if `concurrent`: findings for people come from a run that is not.
  bool sets_raced() const;
  /// The bytes of a buffer that hold a value, as ShadowBuffer::written. Buffers that are not tracked: all.
  std::vector<std::uint32_t> written(int buffer) const;

  struct Body;
  Body& body() { return *body_; }

 private:
  std::unique_ptr<Body> body_;
};

struct ResidentShape {
  int blocks = 1;                         ///< resident together
  int warps_per_block = 1;                ///< at most 32
  int cluster_blocks = 1;                 ///< consecutive resident blocks that form a cluster
  std::int64_t shared_bytes = 0;          ///< per block
  int shared_granule = 4;                 ///< as ShadowBuffer::granule
  std::int64_t local_bytes_per_warp = 0;  ///< 32 lanes' local memory; offsets as the engine lays it out
  /// Accesses of a line that are kept one by one, before they are kept by warp (shadow_crowd.h); no verdict depends on
  /// it
  int most_listed = 32;
  /// Lowered by one for each entry that an access was compared with, where a line has very many; null: nobody asks.
  std::int64_t* patience = nullptr;
};

/// Shared and local memory of the blocks one host thread runs together, and what their threads know. One after another,
/// resident sets reuse it: starting a block costs nothing per byte of memory.
class ResidentShadow {
 public:
  ResidentShadow(GlobalShadow& global, const ResidentShape& shape);
  ~ResidentShadow();
  ResidentShadow(const ResidentShadow&) = delete;
  ResidentShadow& operator=(const ResidentShadow&) = delete;

  /// New blocks take the place of the old: shared and local memory hold nothing, nobody knows anything.
  /// `blocks`: linear ids of the resident blocks, at most as many as the shape has.
  void start(std::span<const std::int64_t> blocks);

  /// Records an access and finds what is wrong with it. true: nothing. Call before the memory changes.
  bool load(const ShadowAccess& access);
  bool store(const ShadowAccess& access, const ShadowValues* values = nullptr);
  /// Reads and writes; strong. Lanes at one address are fine.
  bool atomic(const ShadowAccess& access);
  /// A copy into these shared bytes was issued: reading them is a fault until `store` says that it was waited for.
  void pending(const ShadowAccess& access);
  /// Shared and local: the bytes hold a value from outside the kernel. No access is recorded.
  void initialised(ShadowSpace space, int region, std::int64_t offset, std::int64_t bytes);

  /// All threads of a resident block are ordered: bar.sync of the whole block. Exited warps count as arrived.
  void block_barrier(int block);
  /// bar.warp.sync: the lanes of the mask are ordered. Here and below masks may name lanes that do not exist; all 32
  /// is the quick case.
  void warp_sync(int warp, std::uint32_t lanes);

  /// Lanes make what they know visible at a place, or learn what is visible there. Everything else is made of these:
  /// a partial barrier is a release by each participant when it arrives, an acquire by each that waits when it is
  /// complete, then `forget`. Block scope for barriers and mbarriers of one block, cluster scope for those of a
  /// cluster.
  void release(int warp, std::uint32_t lanes, SyncLocation location, ShadowScope scope);
  void acquire(int warp, std::uint32_t lanes, SyncLocation location, ShadowScope scope);
  void forget(SyncLocation location);
  /// fence.acq_rel, fence.sc, membar.
  void fence(int warp, std::uint32_t lanes, ShadowScope scope);
  /// A strong write (st.relaxed, st.volatile, relaxed atom and red) publishes what the lane knew at its last fence, or
  /// at the end of a block_barrier what any thread had fenced; a strong read makes the next fence acquire. Call for
  /// every strong access to a place in addition to load, store or atomic; .release and .acquire call `release`,
  /// `acquire` instead.
  void strong_write(int warp, std::uint32_t lane, SyncLocation location, ShadowScope scope = ShadowScope::device);
  void strong_read(int warp, std::uint32_t lane, SyncLocation location, ShadowScope scope = ShadowScope::device);
  /// Whether the thread knows of anything that resident block `block` did: the block has started then.
  bool has_heard_of(int warp, std::uint32_t lane, int block) const;

  /// One per site and fault, in order of first occurrence; grows until taken.
  const std::vector<ShadowFinding>& findings() const;

  struct Body;

 private:
  std::unique_ptr<Body> body_;
};

}  // namespace tailor::simulator
