// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fusion strategies: one row each. Comes in: a graph, and what the strategy may know and spend. Goes out: a partition
// of the graph's working nodes, and for every edge between two of them what was decided and why. Bodies of loops and
// branches are partitioned likewise. Every partition can be run: its groups and the library calls between them wait for
// each other in no circle (runnable.h). Called by every command that fuses, and by sweeps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "costmodel/model.h"
#include "explore/partition_file.h"
#include "ir/device.h"
#include "ir/fusion.h"

namespace tailor::explore {

/// What a search may spend on a model, bodies included. 0: no limit of that kind.
struct SearchBudget {
  double seconds = 0;
  std::int64_t evaluations = 0;  ///< of the price
  bool until_spent = false;      ///< rows that search go on mending what they found until a limit is reached
  bool operator==(const SearchBudget&) const = default;
};

/// Where a search is that tells of itself.
struct SearchProgress {
  std::string_view what;  ///< "searching for groups"
  std::int64_t done = 0;  ///< of its steps
  std::int64_t total = 0;
};

/// What a strategy may know besides the graph. Nothing is owned; what is pointed at outlives the call.
struct FusionSetting {
  const costmodel::CalibratedDevice* device = nullptr;  ///< absent: only rows that need none can be asked
  const costmodel::Model* price = nullptr;              ///< the row of the cost-model table that prices a group
  const costmodel::Model* plans = nullptr;              ///< the row that a search's answer is held against (by_plans.h)
  std::uint64_t seed = 0;                               ///< of all random choices: equal tasks give equal partitions
  SearchBudget budget;
  std::function<void(const SearchProgress&)> progress;  ///< is told where a search is; absent: nobody
  std::stop_token stop;  ///< when it is set, the row answers soon, with the best partition it has, edges or not
};

/// What one row is asked: the partition of one graph.
struct FusionTask : FusionSetting {
  const ir::Graph& graph;
  const ir::DefUse& def_use;  ///< of that graph
  bool is_body = false;       ///< the graph is the body of a loop or branch
  bool is_rival = false;      ///< another search asks, which has searched itself
};

/// What a row cannot do without. A row that needs nothing gives one partition for all GPUs.
struct StrategyNeeds {
  bool device = false;
  bool price = false;
  bool xla = false;  ///< XLA's description of the device
  bool operator==(const StrategyNeeds&) const = default;
};
/// "nothing", "device", "device, price", "device, XLA's description of it".
std::string text(const StrategyNeeds& needs);

struct Strategy {
  std::string_view name;
  StrategyNeeds needs;
  std::string_view what;    ///< one line
  std::string_view source;  ///< where its rules are described
  /// The partition of the task's graph alone; `bodies`, `strategy`, `device` and `price` are left empty.
  ir::Fusion (*partition)(const FusionTask&);
};

std::span<const Strategy> strategies();

/// The row that every command takes where none is named.
inline constexpr std::string_view default_strategy = "tailor";
/// The same for so many GPUs at once: a row that decides for one GPU has no answer for none or for several.
std::string_view default_strategy_for(std::size_t devices);

/// A strategy as a user names it: a row of the table, or a partition file that was read.
struct ChosenStrategy {
  ChosenStrategy(const Strategy& row);  // NOLINT(google-explicit-constructor): a row is one
  explicit ChosenStrategy(std::shared_ptr<const PartitionFile> file);
  StrategyNeeds needs() const { return row != nullptr ? row->needs : StrategyNeeds{}; }

  std::string name;  ///< as the user wrote it
  const Strategy* row = nullptr;
  std::shared_ptr<const PartitionFile> file;  ///< set where `row` is not
};

/// A row by its name; or, for a path that ends in ".partition", the groups written there. Throws Error(usage) naming
/// the nearest row, Error(failed) for a file that cannot be read.
ChosenStrategy find_strategy(std::string_view name);

/// The fusion of a graph and of the bodies of its loops and branches. Throws Error(usage) when the row needs a device
/// or a price and there is none, Error(failed) when a partition file does not fit the graph. Each graph gets its share
/// of the budget, by its number of nodes.
ir::Fusion fuse(const ChosenStrategy& strategy, const ir::Graph& graph, const FusionSetting& setting = {});

/// The rows' functions.
ir::Fusion fuse_unfused(const FusionTask& task);
ir::Fusion fuse_imported(const FusionTask& task);
ir::Fusion fuse_stitch_v1(const FusionTask& task);
ir::Fusion fuse_tailor(const FusionTask& task);
ir::Fusion fuse_tailor_any(const FusionTask& task);
ir::Fusion fuse_xla_2020(const FusionTask& task);
ir::Fusion fuse_xla_2022(const FusionTask& task);
ir::Fusion fuse_xla_priority(const FusionTask& task);

/// What V1 may put into one kernel.
struct StitchV1Rules {
  int arguments = 64;  ///< of one kernel: BladeDISC's limit (XLA's is 96)
  /// Operations of one group, which bound its kernel's text and the values it may keep alive. Twice what the largest
  /// group of 46 models from JAX and 11 dumps has (263), so that it stops chains without end and nothing else.
  std::size_t operations = 512;
  /// Reductions of one group: each is some 9 KB of text, so that a kernel stays below what a compiler takes seconds
  /// for.
  std::size_t reductions = 64;
  /// Places at which one element needs a value: twice the taps of the longest window that a kernel goes through. The
  /// lowering gives up at four times as many.
  std::int64_t places = 128;
  /// Instructions of lanes that windows may do again for each byte that is not written and read: a quarter of what GPUs
  /// have time for while one passes, so that a group which is bound by memory stays so. And for each launch that is
  /// saved, in which the smallest GPUs have time for as many.
  double again_per_byte = 4;
  double again_per_launch = 1 << 24;
  std::int64_t rows = 2;  ///< least rows of a group that stitches through shared memory: "stays above one block"
  /// Longest row that is stitched when it is the only one. Its block reads that much anyway when it reduces the row;
  /// what is stitched to it adds less than a launch.
  std::int64_t one_row_columns = std::int64_t{1} << 14;
};
ir::Fusion fuse_stitch_v1(const FusionTask& task, const StitchV1Rules& rules);

/// How many of the nodes are reductions.
std::size_t reductions_of(const ir::Graph& graph, std::span<const ir::NodeId> nodes);

}  // namespace tailor::explore
