// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How often a warp runs each block of a kernel's machine code. In: the code, its flow, the place of a warp in a launch.
// Out: a count for each block, and the requests that the warp makes. Called by machine_work.cpp for some warps of a
// launch.
//
// Only what branches depend on is executed: thread and block indices, loop counters, comparisons. What comes out of
// memory is not known. Trips of a loop that go the same way as the one before are counted and not executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/compile/control_code.h"
#include "profiler/compile/reach.h"
#include "profiler/compile/trip.h"
#include "profiler/compile/warp_state.h"

namespace tailor::profiler {

/// A way that data decides. `skip`: over what such a branch may leave out. `enter`: some lanes go either way.
enum class Unknown : std::uint8_t { skip, enter };

struct WarpCounts {
  IndexedVector<std::int64_t> runs;  ///< of each block
  ir::MachineRequests requests;
  std::vector<int> assumed;   ///< blocks with a branch, or a request, of which data decides; ascending
  std::string refused;        ///< why the counts mean nothing: "" where they do
  std::int64_t followed = 0;  ///< blocks that were executed; trips that were left out are in `runs` alone
  bool by_block = false;      ///< a way depends on which block it is
  bool by_warp = false;       ///< a way depends on which warp of the block it is
  Reach reach;                ///< of what was asked about, the warps that go the same way
};

struct Following {
  Unknown unknown = Unknown::skip;
  std::int64_t most_runs = 0;   ///< blocks executed in all, before it is given up
  bool every_trip = false;      ///< leave out no trips of loops, however alike they are
  std::optional<Reach> asked;   ///< how far it is to be shown that others go the same way
  bool only_to_period = false;  ///< end where the period is known in which warps seem to repeat
};

/// What warps of one code use one after the other.
struct WarpScratch {
  WarpState state;
  Reaching reaching;
  std::unique_ptr<Trip> trip;  ///< where a loop was looked at
  std::vector<int> in_vain;    ///< how often each loop was looked at in vain: too often, and it is left alone
};
WarpCounts run_warp(const ControlCode& code, const WarpPlace& place, const Following& how, WarpScratch& scratch);

}  // namespace tailor::profiler
