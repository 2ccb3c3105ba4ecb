// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of the database as plain structs, one per table of schema.sql and one per question the report asks. Names
// and meanings are those of the columns; docs/database.md tells both. Texts of graphs, groups, plans and kernels are
// handed in by those who own the text form: nothing here knows more of them than their id.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/units.h"
#include "ir/estimate.h"

namespace tailor::store {

/// The manifest of one command. Points in time are ISO 8601 in UTC; finished_at is empty while running.
struct RunRow {
  Id id;
  std::string tool, command;
  Id config_id;        ///< hash of `config`
  std::string config;  ///< canonical text of the sweep file, empty without one
  std::string toolchain, device, driver, clocks, host;
  int host_cores = 0;
  std::int64_t seed = 0;
  std::string started_at, finished_at;
  std::string outcome = "running";  ///< running, done, interrupted, failed
  bool operator==(const RunRow&) const = default;
};

struct DeviceRow {
  Id id;  ///< hash of `file`
  std::string name, title, arch;
  std::string file;  ///< text of the device file
  bool operator==(const DeviceRow&) const = default;
};

struct GraphRow {
  Id id;         ///< hash of `text`
  Id structure;  ///< hash of the canonical text
  std::string name, source, text;
  std::int64_t nodes = 0, opaque_nodes = 0;
  std::string summary;
  bool operator==(const GraphRow&) const = default;
};

struct GroupRow {
  Id id;
  std::string title, text;
  std::int64_t nodes = 0, reductions = 0;
  Bytes read, written;  ///< inputs once, outputs once
  double flops = 0;
  bool operator==(const GroupRow&) const = default;
};

/// A group's part in a fusion.
struct FusionGroupRow {
  Id group;
  std::int64_t occurrences = 1;  ///< places in the graph
  double times = 1;              ///< executions per run of the model
  std::string example;           ///< a node of the first place
  bool operator==(const FusionGroupRow&) const = default;
};

struct EdgeRow {
  std::string body;  ///< empty for the entry graph, else the path of body indices
  std::string producer, consumer;
  bool fused = false;
  std::string why;
  bool operator==(const EdgeRow&) const = default;
};

struct FusionRow {
  Id graph;
  std::string strategy;
  std::vector<FusionGroupRow> groups;
  std::vector<EdgeRow> edges;
  std::int64_t least_kernels = 0;  ///< no partition of the graph has fewer; 0: not known
  std::int64_t unknown_trips = 0;  ///< loops counted as one trip
  std::int64_t branches = 0;       ///< bodies of conditionals, each counted as taken
  bool operator==(const FusionRow&) const = default;
};

struct LibraryCallRow {
  Id graph;
  std::string node, kind, shape;
  double times = 1;  ///< executions per run of the model
  double flops = 0;  ///< of one execution
  Bytes bytes;       ///< of one execution
  bool operator==(const LibraryCallRow&) const = default;
};

struct LibraryTimeRow {
  Id graph;
  std::string node;
  Id device;
  std::string model;
  Seconds total;  ///< of one execution
  bool operator==(const LibraryTimeRow&) const = default;
};

struct PlanRow {
  Id id, group;
  std::string text, skeleton;
  int threads = 0, threads_per_row = 0, vector = 0, in_flight = 0;
  std::string residence, grid;
  int blocks_per_sm = 0;
  bool index_cache = true, value_cache = true;
  bool operator==(const PlanRow&) const = default;
};

struct KernelRow {
  Id id;
  std::string name, text, cuda;
  int threads = 0;          ///< per block
  std::int64_t blocks = 0;  ///< of the launch
  std::int64_t shared = 0;  ///< bytes per block
  bool idempotent = true;
  bool operator==(const KernelRow&) const = default;
};

struct LoweringRow {
  Id plan, device, kernel;
  bool operator==(const LoweringRow&) const = default;
};

/// A kernel of another compiler, out of its dump of a model.
struct GivenKernelRow {
  Id graph, kernel, group;
  std::string origin;       ///< "XLA"
  std::string example;      ///< the first instruction that launches it
  std::int64_t places = 1;  ///< instructions that do
  double times = 1;         ///< launches per run of the model
  Bytes arrays;             ///< operands and results, each once
  bool operator==(const GivenKernelRow&) const = default;
};

/// Rejections of one rule; `plans` 0 means the group itself is rejected.
struct RejectionRow {
  Id group, device;
  std::string space;  ///< which plans were asked for, empty for all
  std::string rule;
  bool sound = true;
  std::int64_t plans = 0;
  std::string example;  ///< text of the first plan rejected
  std::string reason;   ///< the sentence for that example
  bool operator==(const RejectionRow&) const = default;
};

struct PlanRejectionRow {
  Id plan, device;
  std::string rule, reason;
  bool operator==(const PlanRejectionRow&) const = default;
};

struct BinaryRow {
  Id id, kernel;
  std::string arch, compiler;
  bool ok = false;
  std::string log;
  int registers = 0, spill_stores = 0, spill_loads = 0, local = 0;  ///< registers and bytes per thread
  int static_shared = 0;                                            ///< bytes per block
  std::int64_t cubin_bytes = 0;
  Seconds compile_time;
  std::vector<std::byte> cubin;  ///< empty: not kept
  bool operator==(const BinaryRow&) const = default;
};

/// An ir::Estimate with its names spelled out.
struct EstimateRow {
  Id plan, device;
  std::string level, model;
  Seconds total, low, high;
  std::string bound;
  std::array<Seconds, ir::part_count> parts{};  ///< indexed by ir::Part
  double occupancy = 0, waves = 0;
  int registers = 0;
  bool operator==(const EstimateRow&) const = default;
};

struct GroupBoundRow {
  Id group, device;
  std::string model;
  Seconds total;
  std::string bound;
  bool operator==(const GroupBoundRow&) const = default;
};

struct CheckRow {
  Id kernel;
  std::string method;  ///< "simulator, seed 1"
  std::string state;   ///< passed, wrong, unsound, crashed, timed out, not executed
  double worst = 0;    ///< largest error over its tolerance
  std::string detail;
  std::int64_t findings = 0;
  bool operator==(const CheckRow&) const = default;
};

/// One counter of an execution: "instructions", or "load_sectors of x" for what belongs to a buffer.
struct CountRow {
  std::string counter;
  double value = 0;
  std::string unit;
  bool operator==(const CountRow&) const = default;
};

/// One execution of a compiled kernel, with its raw samples and counters.
struct MeasurementRow {
  Id id;  ///< of profiler, protocol, binary, device and run: see measurement_id()
  Id run, binary, device;
  std::string profiler;  ///< simulator, gpu
  std::string protocol;  ///< what was executed and how, in words
  std::string outcome;   ///< ok, or how it ended
  std::string reason;    ///< empty when ok
  std::optional<Seconds> median;
  std::optional<double> sm_clock, dram_clock;  ///< Hz
  std::string measured_at;
  std::vector<Seconds> samples;
  std::vector<CountRow> counts;
  bool operator==(const MeasurementRow&) const = default;
};

/// The simulator is deterministic: an execution is known by what was executed. On a GPU every run is another.
Id measurement_id(const MeasurementRow& row);

/// One finished stage of one group on one device.
struct ProgressRow {
  Id group, device;
  std::string space, stage;
  std::int64_t legal = 0, rejected = 0;
  bool operator==(const ProgressRow&) const = default;
};

// ---- answers: rows of the views
// ---------------------------------------------------------------------------------------

struct StrategyTotals {
  Id graph;
  std::string model, strategy;
  Id device;
  std::string device_name;
  std::int64_t kernels = 0, distinct_groups = 0;
  double launches = 0;  ///< per run of the model
  Bytes dram;           ///< per run, inputs and outputs of every group once
  Seconds kernel_time;  ///< per run, groups with a time only
  std::int64_t groups_without_plan = 0, groups_without_time = 0;
  double library_calls = 0;  ///< per run
  Seconds library_time;      ///< per run
};

struct GroupTime {
  std::int64_t place = 0;  ///< 1 is the longest of its fusion and device
  Id group;
  std::string title, example;
  std::int64_t occurrences = 0;
  double times = 0;
  Bytes read, written;
  std::optional<Id> plan;    ///< the best plan, if any covers the group
  std::string level;         ///< "bound" without a plan
  Seconds total, all_times;  ///< one execution; all of a run
};

struct BestPlan {
  std::int64_t place = 0;
  std::string plan;          ///< text
  std::optional<Id> kernel;  ///< of the plan on this device, when stored
  EstimateRow estimate;
};

/// The best time of a group's plans at one level of the cost model.
struct LevelBest {
  Id group;
  std::string level;
  Seconds total;
  bool operator==(const LevelBest&) const = default;
};

struct RejectedRule {
  std::string device, rule;
  bool sound = true;
  std::int64_t groups = 0, plans = 0, groups_without_plan = 0;
  std::string example;
};

struct KernelState {
  Id kernel;
  std::string name, state;  ///< state: unchecked, passed, wrong, crashed, timed out
};

struct TableSize {
  std::string table;
  std::int64_t rows = 0;
};

}  // namespace tailor::store
