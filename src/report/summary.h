// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Summary: everything a report says about one run, as plain values. Whoever has the run (the database, a command that
// just finished) fills it; overview(), markdown() and page() only show it. Nothing here is computed from the rest
// except by the named functions, and what is not known stays absent: absent numbers are shown as such, never as zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "ir/import_report.h"
#include "report/chart.h"
#include "report/xla_score.h"

namespace tailor::report {

/// Who made the run, from what, on what. Empty texts are not shown.
struct Manifest {
  std::string tool;      ///< "tailor 0.1.0"
  std::string revision;  ///< commit, "-dirty" when changed
  std::string command;   ///< as typed
  std::string started;   ///< ISO 8601, UTC
  std::optional<Seconds> elapsed;
  std::string model;  ///< name people use: "bert_base"
  std::string model_file;
  std::string graph_id;
  std::string config_id;
  std::string device;        ///< "h200"
  std::string device_title;  ///< "NVIDIA H200 SXM"
  std::string toolchain;     ///< "NVRTC 13.0"
  std::optional<std::uint64_t> seed;
  std::vector<std::pair<std::string, std::string>> more;  ///< driver, clocks, host: shown as they are
};

struct LevelTime {
  std::string level;  ///< "sol", "projected", ...
  Seconds time;
  /// Where groups were not looked at by that level: what of the time is of which level ("bound" without a plan), most
  /// first. Empty: all of it is of `level`.
  std::vector<NamedTime> made_of = {};
};

/// How XLA would write a group's kernel, and the plan that is like it beside the best one.
struct XlaSummary {
  std::string emitter;  ///< "multi-row"
  std::string launch;   ///< of the plan beside XLA's: "equal", "same warps", "differs", "no plan"
  std::string note;     ///< without a plan why; with one what differs
  std::string level;    ///< of both times; empty where no level looked at both
  std::optional<Seconds> as_xla, best;
};

/// What one fusion strategy makes of the whole model.
struct StrategyTotals {
  std::string name;
  std::int64_t kernels = 0;  ///< fused kernels, each occurrence counted
  std::int64_t distinct_groups = 0;
  std::int64_t launches = 0;    ///< of fused kernels in a run, loop bodies by their trips; no library calls
  Bytes traffic;                ///< DRAM bytes of the fused kernels, each read and write once per kernel
  std::vector<LevelTime> time;  ///< fused kernels with launches, lowest level first
  std::optional<std::int64_t> kernel_floor;  ///< no partition has fewer kernels
  std::int64_t library_calls = 0;
  Bytes library_traffic;
  double library_flops = 0;
  std::optional<Seconds> library_time = std::nullopt;  ///< of a run, where a model gives every call a time
  std::int64_t groups_at_lower_bound = 0;    ///< distinct groups without a plan: `time` holds their bound instead
  Seconds time_at_lower_bound = {};          ///< their share of the last `time`
  std::int64_t launches_at_lower_bound = 0;  ///< how often these groups run, of `launches`
  std::int64_t xla_kernels = 0;              ///< that have a plan as XLA would write them, and times of both
  std::int64_t xla_same_launch = 0;          ///< of these, with XLA's launch
  Seconds as_xla = {}, best_of_xla = {};     ///< of these in a run: under these plans, under the best ones
};

/// One level's estimate of one kernel.
struct EstimateSummary {
  std::string level;
  Seconds total, low, high;
  std::vector<NamedTime> parts;
  std::string bottleneck;  ///< name of the part that binds
  double occupancy = 0;    ///< 0-1; 0 where the level does not see it
  double waves = 0;
};

enum class BinaryState : std::uint8_t { none, ok, failed };
/// unchecked: the kernel was never executed and compared. passed and failed: it was. not_judged: it was executed, and
/// its results say neither.
enum class CheckState : std::uint8_t { unchecked, passed, failed, not_judged };

struct PlanSummary {
  std::string id;
  std::string plan;                        ///< text of ir::Plan
  std::vector<EstimateSummary> estimates;  ///< lowest level first; the last one ranks
  BinaryState binary = BinaryState::none;
  std::string compile_log;                   ///< of a failed compile
  std::optional<std::int64_t> registers;     ///< per thread, from the compiler
  std::optional<std::int64_t> spill_bytes;   ///< per thread, stores and loads
  std::optional<std::int64_t> shared_bytes;  ///< per block
  CheckState check = CheckState::unchecked;
  std::string check_note;  ///< largest error, or what differed
};

struct RejectionCount {
  std::string rule;
  std::int64_t count = 0;
  bool sound = true;    ///< false: a heuristic shortcut
  std::string example;  ///< one reason with its numbers
};

/// needs_skeleton: no loop structure of ours fits. rejected: a structure fits, but no plan can be lowered. not_tuned:
/// nobody looked for plans yet.
enum class GroupStatus : std::uint8_t { ok, needs_skeleton, rejected, not_tuned };

struct GroupSummary {
  std::string id;
  std::string name;  ///< of its main operations: "add_reduce_rsqrt"
  std::int64_t occurrences = 1;
  std::string shape;  ///< "f32[4096,768]"
  Bytes traffic;      ///< of one occurrence
  double flops = 0;   ///< of one occurrence
  GroupStatus status = GroupStatus::ok;
  std::string status_reason;  ///< why no plan: the rule's sentence
  std::int64_t enumerated = 0, rejected = 0, lowered = 0, compiled = 0;
  std::vector<RejectionCount> rejections;
  std::vector<PlanSummary> best;                      ///< best first
  std::vector<Seconds> all_times;                     ///< of every lowered plan, all at one level
  std::string times_level;                            ///< that level; empty: the level that ranks
  std::optional<Seconds> lower_bound = std::nullopt;  ///< of one occurrence, however it is written
  std::optional<XlaSummary> xla = std::nullopt;       ///< nothing for a device that XLA has no description of
  std::string kernel_text;                            ///< of best[0]
  std::string cuda;                                   ///< of best[0]
};

struct LibraryCall {
  std::string op;  ///< "dot", "custom_call cublas$gemm"
  std::string shape;
  std::int64_t occurrences = 1;
  Bytes traffic;                ///< of one occurrence
  double flops = 0;             ///< of one occurrence
  std::optional<Seconds> time;  ///< of one occurrence, when a model gives one
};

/// A plan measured on a GPU under one protocol.
struct MeasuredTime {
  std::string group, plan;         ///< name of the group; the plan's words
  std::string cache, launch_mode;  ///< "cold", "stream"
  Seconds median;
  std::optional<Seconds> low, high;
  bool tied = false;                    ///< it may be the fastest: its interval and the fastest one's overlap
  std::int64_t samples = 0, place = 0;  ///< place 1 is the fastest of its group under this protocol
  std::optional<Seconds> predicted;     ///< by the most precise model
  std::string level;                    ///< of that model
  std::optional<double> dram_fraction;  ///< of the bandwidth, by the bytes that are needed once
};

/// Races under one protocol in which a plan ran twice, loaded apart: by how much less no race can tell two plans apart.
struct TwinSpread {
  std::string cache, timed_by, launch_mode;
  std::int64_t races = 0, told_apart = 0;  ///< told apart: one of the two was called slower, a false winner
  double middle = 0, most = 0;             ///< of how far the second median is from the first, as a fraction of it
};

/// A strategy's kernels of the whole model against another's, timed in turns.
struct ModuleTime {
  std::string strategy, baseline, cache, launch_mode;
  Seconds median, baseline_median;
  double speedup = 0;
  std::int64_t launches = 0, baseline_launches = 0, left_out = 0, baseline_left_out = 0;
  bool same_work = true;  ///< what both left out is the same, so the speed-up is of the fusion alone
};

/// What the sweep's file claimed, held against what the database has of all its models and devices.
struct ClaimSummary {
  std::string text;                        ///< as the file says it
  std::string metric;                      ///< "launch_reduction_of_kernels"
  std::string meaning;                     ///< "launches of fused kernels alone"
  std::string baseline;                    ///< strategy
  double value = 0;                        ///< the baseline's over that of the best other strategy
  double threshold = 0;                    ///< the claim holds where `value` reaches it
  std::vector<std::string> left_out = {};  ///< strategies that are not compared: more of them has no plan
  std::string not_judged = {};             ///< why there is no verdict; empty: there is one
  std::int64_t points = 0;                 ///< of a grid, at each of which the claim must hold; 0: no grid
  std::string point = {};                  ///< where it comes out least: "cost_model=sol, threads=64"
  bool holds() const { return not_judged.empty() && value >= threshold; }
};

/// A box in the picture of a fusion: all places of one group, or equal library calls.
struct FusionBox {
  std::string group;  ///< id of the group; empty: it runs outside groups
  std::string name;
  double places = 1;  ///< executions in a run
};

/// Edges from one box to another that no kernel holds: a kernel writes the value, another one reads it.
struct FusionLink {
  std::size_t from = 0, to = 0;  ///< boxes
  std::int64_t edges = 0;
  Bytes bytes;                        ///< written for them in a run
  std::optional<std::size_t> reason;  ///< of most of the bytes: index into FusionMap::refused; none at a library call
};

/// Edges that were cut for one reason, names in it left out.
struct RefusedEdges {
  std::string reason;   ///< "would make a cycle through ..."
  std::string example;  ///< "add.441 -> add.462"
  std::int64_t edges = 0;
  Bytes bytes;  ///< written for them in a run
};

/// The chosen strategy's partition with equal groups drawn once. Without boxes there is no picture, and `absent` says
/// why.
struct FusionMap {
  std::vector<FusionBox> boxes;
  std::vector<FusionLink> links;
  std::vector<RefusedEdges> refused;  ///< most bytes first
  std::string absent;
};

struct Summary {
  Manifest manifest;
  std::string asked;                  ///< the question of the sweep; empty without one
  std::optional<ClaimSummary> claim;  ///< none: the sweep claimed nothing
  std::string question;               ///< "How should bert_base be fused on an NVIDIA H200?"
  std::string scope;                  ///< whose plans these are where that is not plain: "the best of all 6 points"
  std::string chosen;                 ///< name of the strategy the groups belong to
  std::string baseline;               ///< name of the strategy it is compared with; may be empty
  std::vector<StrategyTotals> strategies;
  XlaScores xla_scores;       ///< what is published of strategies that imitate XLA
  std::int64_t reshapes = 0;  ///< in the model's text: XLA's passes before fusion leave none
  std::vector<GroupSummary> groups;
  FusionMap map;
  std::vector<LibraryCall> library;
  std::vector<Roof> roofs;
  std::vector<Compared> measured;  ///< kernels with a measured time, cold and one by one
  std::vector<MeasuredTime> times;
  std::vector<std::string> measured_on;  ///< the GPUs, by name and UUID
  std::vector<TwinSpread> twins;         ///< by protocol
  std::vector<ModuleTime> modules;
  ir::ImportReport import;
  std::vector<std::string> warnings;
};

}  // namespace tailor::report
