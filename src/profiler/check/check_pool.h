// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check stage: many compiled kernels, a few threads, verdicts in the order of the requests. In: requests of many
// groups. Out: a verdict for each. Called by the pipeline of a sweep and by `tailor check`. The reference of a group is
// evaluated by the first who needs it, read by all plans of the group, and dropped after the last.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/binary.h"
#include "profiler/check/check.h"
#include "profiler/check/given.h"

namespace tailor::profiler {

/// One kernel of a group. All three outlive the stage; the binary has compiled.
struct CheckRequest {
  const ir::Group* group = nullptr;
  const ir::Kernel* kernel = nullptr;
  const ir::Binary* binary = nullptr;
  simulator::MachineLimits machine;
  const GivenArrays* given =
      nullptr;  ///< null: inputs are drawn. The same for all kernels of a group; outlives the stage
};

struct CheckProgress {
  std::size_t done = 0, total = 0;
  double share = 0;  ///< of the work that is done, references included, by the bytes that each part touches
  std::int64_t refuted = 0, late = 0;  ///< of the refuted those that took too long
};

struct CheckStage {
  int workers = 0;  ///< threads; 0: one for each processor. Fewer kernels than threads: the rest work inside
  int seeds = 1;    ///< executions of each kernel, with inputs and schedules of seed, seed + 1, ...
  CheckOptions each = {};
  /// Bytes that the process may hold while it checks; 0: default_check_memory. Never more than the machine has free.
  std::int64_t memory = 0;
  /// make_simulator, or a stand-in.
  std::function<Executor(const ir::Kernel&, const ir::Binary&)> executor = {};
  /// Called one at a time, from any thread: whenever something is done, and twice a second meanwhile.
  std::function<void(const CheckProgress&)> progress = {};
  /// Told of each verdict as it is reached, one at a time, from the workers' threads; `at` is the request's place.
  std::function<void(std::size_t at, const Checked&)> reached = {};
};

struct CheckAccount {
  Seconds wall;
  Seconds reference;  ///< evaluating, summed over workers
  Seconds executing;  ///< summed over workers
  std::int64_t references = 0;
  double lane_instructions = 0;

  /// Of work that was done one after the other.
  CheckAccount& operator+=(const CheckAccount& more);
};

struct CheckedAll {
  std::vector<std::optional<Checked>> verdicts;  ///< in the order of the requests; empty where stopped
  CheckAccount account;
};

/// Whatever goes wrong with one group or kernel, memory included, is the reason of its verdict: not executed.
CheckedAll check_all(std::span<const CheckRequest> requests, const CheckStage& stage);

}  // namespace tailor::profiler
