// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts that plans of one flat loop share. In: the loop lowered for blocks of one warp, and kernels of the same loop
// with other blocks and other vectors at once. Out: their counts without walking them. Called by who counts many plans
// of a group (explore/plans/plan_counter.h); why it is right is told in flat.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/count.h"
#include "costmodel/scratch.h"

namespace tailor::costmodel {

/// A flat loop of `vectors` vectors, counted warp by warp.
struct FlatCounts {
  /// An access to memory and what its requests move: sectors.
  struct Access {
    std::int32_t at = 0;  ///< statement
    std::int64_t units = 0;
    std::vector<std::int64_t> indices;  ///< at each place of its scope
  };
  /// Statements under the same guards and loops over a vector. The first stands for what is done with every vector.
  struct Scope {
    std::int32_t at = -1;  ///< statement that opens it
    std::int32_t around = -1;
    std::int64_t extent = 0;  ///< of a loop; 0: a guard
    std::int64_t executions = 0, lanes = 0;
    std::int64_t first = 0, warps = 0;  ///< from the first to the last that runs it, by their place in the runs
    std::int64_t most = 0;              ///< times that one of them does
    WarpSteps steps;                    ///< how often each of its warps does; empty: `most` times
    std::vector<std::int64_t> places;   ///< values of all variables at which it is run, set after set
    std::vector<std::int32_t> inner;  ///< scopes in it, in order; guards that ask the same, and loops as long, are one
    std::vector<std::int32_t> order;  ///< the same as statements open them, each as often
    std::vector<Access> accesses;     ///< in order
    /// Of a guard: whether it holds at its places, those of the scopes near it and those around it, in turn. Filled as
    /// kernels ask for it.
    std::vector<std::uint8_t> held;
  };
  ir::Kernel kernel;  ///< threads: one warp
  std::int64_t vectors = 0;
  /// Warps that were looked at, in order; all but the last run are equally long. Of all warps: one run.
  struct Run {
    std::int64_t first = 0, count = 0;
  };
  std::vector<Run> runs;
  bool sampled = false;  ///< some warps stand for the others
  std::vector<Scope> scopes;
  std::vector<Access> fixed;  ///< at places that are the same for all vectors; sectors of one request
  /// What blocks of so many warps run: in turn their warps, and how often each further scope; different ones only.
  struct Blocks {
    std::int64_t warps = 0;
    std::vector<std::int64_t> sums;
  };
  std::vector<Blocks> blocks;  ///< filled as kernels ask for them
  /// By warp, and one behind the last: how often those before it run each scope, as one number: the sum of a mark of
  /// each scope as often. Filled with `blocks`.
  std::vector<std::uint64_t> marks;
};

/// How often warps before that one run the scope, by their place in the runs.
std::int64_t runs_before(const FlatCounts::Scope& scope, std::int64_t warp);

/// The most that a block of so many warps issues, by what each of the loop's scopes issues.
std::int64_t busiest_run(FlatCounts& flat, const std::vector<std::int64_t>& issue, std::int64_t block);

/// At warps; where counting a loop takes more it is a sample that is taken.
inline constexpr std::int64_t most_flat_looks = 30'000;

/// Counts the loop for later, without the kernels behind it; 0 vectors: as many as its own guard and blocks say.
/// Nothing where the kernel is no such loop, or where counting it takes samples, or more than so many looks.
std::optional<FlatCounts> count_flat(const ir::Kernel& one_warp, std::int64_t vectors, Scratch& scratch,
                                     std::int64_t looks = most_flat_looks);
/// The same by evaluating every warp, however many there are: what count_flat() turns to by itself.
std::optional<FlatCounts> evaluate_flat(const ir::Kernel& one_warp, std::int64_t vectors, Scratch& scratch);
/// The same from hundreds or thousands of warps, one run of them from each stratum; from all where there are no more.
/// Elements that fill no vector are counted with each kernel, but which block is the busiest is not known of them.
/// Nothing where the kernel is no such loop.
std::optional<FlatCounts> sample_flat(const ir::Kernel& one_warp, std::int64_t vectors, Scratch& scratch);
/// Of one kernel: as many elements are one vector of its loop, where plans do not say.
int widest_access(const ir::Kernel& kernel);

/// As count() in mode fast, for a program with a kernel of each of these loops in turn. False, and `work` means
/// nothing, where a kernel differs in more than how blocks and trips make up the position.
bool count_like(std::span<FlatCounts* const> loops, const ir::Kernel& program, Scratch& scratch, Work& work);
bool count_like(FlatCounts& loop, const ir::Kernel& kernel, Scratch& scratch, Work& work);

/// As count() in mode fast. False, and `work` means nothing, where that would look at more than so many warps of parts
/// of the program's domain.
bool count_within(const ir::Kernel& kernel, std::int64_t looks, Scratch& scratch, Work& work);

}  // namespace tailor::costmodel
