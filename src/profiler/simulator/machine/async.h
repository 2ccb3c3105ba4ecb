// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies and mbarriers of one resident set: the records of what is under way. Made and changed by
// async_steps.cpp, owned by Machine. A copy happens at the latest moment the rules allow: when its thread waits for its
// group, or when somebody looks at the mbarrier it completes on. Until then its destination is poison and marked as
// pending, so a missing wait shows in values and as a finding.
//
// The asynchronous proxy sees generic stores to shared memory only after the storing thread's fence.proxy.async: each
// byte remembers its last generic writer and how many proxy fences that thread had made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/indexed.h"
#include "profiler/simulator/lanes/micro.h"
#include "profiler/simulator/shadow/shadow.h"

namespace tailor::simulator {

struct Machine;
struct WarpState;
struct ResidentBlock;

/// One phase at a time: `pending` arrivals and `bytes` are awaited.
struct Mbarrier {
  std::int64_t expected = 0, pending = 0, bytes = 0;
  std::uint64_t phase = 0;
  int block = 0;             ///< resident block that owns it
  std::uint32_t offset = 0;  ///< in its shared memory
};

/// A piece of a copy: whole bytes from `from` to `to`, then zeroes.
struct AsyncCopy {
  WarpState* warp = nullptr;
  int lane = 0;
  std::uint64_t group = 0;  ///< of the lane
  bool bulk = false, from_shared = false, to_shared = true;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint32_t bytes = 0, copied = 0;
  int to_region = 0, from_region = 0;  ///< resident block or buffer
  std::uint64_t to_offset = 0, from_offset = 0;
  std::byte* mbarrier = nullptr;  ///< completes `bytes` there
  std::uint32_t site = 0;
};

struct AsyncState {
  std::vector<AsyncCopy> copies;  ///< in flight, in order of issue
  std::unordered_map<const std::byte*, Mbarrier> mbarriers;
  /// Open groups by thread of the resident set (WarpState::resident_index * 32 + lane): of cp.async, of bulk copies.
  std::vector<std::uint64_t> groups, bulk_groups;
  std::vector<std::uint32_t> fences;  ///< proxy fences by thread of the resident set
  /// Per resident block and byte of shared memory: thread of the resident set + 1 and its fences at the last generic
  /// store.
  struct Writer {
    std::uint32_t thread = 0, fences = 0;
  };
  IndexedVector<std::vector<Writer>> writers;
  void start(std::size_t blocks, std::size_t threads, std::size_t shared_bytes, bool track_writers);
};

/// A generic store to shared memory of `bytes` at `offset` of resident block `region`: remembered for the proxy fence,
/// and a finding when a copy that is in flight still reads there.
void note_generic_store(Machine& machine, WarpState& warp, std::uint32_t site, int lane, int region,
                        std::uint64_t offset, std::uint32_t bytes);

/// At the end of a resident set: copies that nobody waited for are reported when they read shared memory, and performed
/// when they write global memory.
void finish_copies(Machine& machine);

}  // namespace tailor::simulator
