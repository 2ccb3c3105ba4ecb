// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of the database as plain structs, one per table of schema.sql and one per question the report asks. Names
// and meanings are those of the columns; docs/database.md tells both, records.h pairs members and columns. Texts of
// graphs, groups, plans and kernels are handed in by those who own the text form: nothing here knows more of them than
// their id.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/units.h"
#include "ir/estimate.h"
#include "ir/measurement.h"

namespace tailor::store {

/// A GPU that a run asked about.
struct RunDeviceRow {
  Id device;
  Id file;  ///< hash of the text of its device file as the run read it
  bool operator==(const RunDeviceRow&) const = default;
};

/// The manifest of one command. Points in time are ISO 8601 in UTC; finished_at is empty while running.
struct RunRow {
  Id id;
  std::string tool, command;
  std::optional<Id> config_id;  ///< hash of `config`; none without one
  std::string config;           ///< canonical text of the sweep file, empty without one
  std::string calibration;      ///< name of the one that a sweep's estimates took; empty of other commands
  std::string toolchain, device, driver, clocks, host;
  int host_cores = 0;
  std::int64_t seed = 0;
  std::string started_at, finished_at;
  std::string outcome = "running";    ///< running, done, interrupted, failed
  std::vector<RunDeviceRow> devices;  ///< by id; saving again adds, and takes nothing away
  bool operator==(const RunRow&) const = default;
};

struct DeviceRow {
  Id id;  ///< hash of `name`
  std::string name, title, arch;
  std::string file;  ///< text of the device file as it was last read
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

/// What was decided about one edge in one group of its consumer, and why.
struct EdgeRow {
  std::string body;  ///< empty for the entry graph, else the path of body indices
  std::string producer, consumer;
  std::int64_t part = 0;             ///< index of the group in its graph's partition
  std::string decision;              ///< ir::EdgeDecision
  std::optional<std::string> level;  ///< ir::StitchLevel at most; none when cut
  std::optional<Seconds> gain;       ///< of keeping the edge inside a kernel; none when nothing was priced
  std::string reason;
  bool operator==(const EdgeRow&) const = default;
};

struct FusionRow {
  Id graph;
  std::string strategy;
  std::string device;  ///< name of the GPU it was decided for; empty: for every one
  std::string price;   ///< cost model it was decided by; empty: by none
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
  Seconds total;    ///< of one execution
  Id figures = {};  ///< as of GroupBoundRow
  bool operator==(const LibraryTimeRow&) const = default;
};

/// The axes of a plan are in its text, "skeleton axis=value axis=value".
struct PlanRow {
  Id id, group;
  std::string text, skeleton;
  int from_usual = 0;  ///< steps from the usual plan of the group: ties of a ranking go to fewer
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

/// How XLA would write a group's kernel on a device, and the plan that is like it.
struct XlaPlanRow {
  Id group, device;
  std::string emitter;     ///< "multi-row"
  std::string grid;        ///< of XLA's launch: "1024x1x1"
  std::int64_t block = 0;  ///< of XLA's launch
  std::optional<Id> plan;  ///< none where no plan is like it
  std::string launch;      ///< of the plan: equal, same warps, differs; no plan
  std::string note;        ///< without a plan why; with one what differs
  bool operator==(const XlaPlanRow&) const = default;
};

/// A plan that a sweep put on the short list of its group.
struct ShortListRow {
  std::string space;  ///< as of ProgressRow
  Id device, plan;
  bool operator==(const ShortListRow&) const = default;
};

/// One combination of the values of an experiment's grid.
struct PointRow {
  Id grid, id;              ///< hashes of the whole file's and of the point's configuration
  std::int64_t number = 0;  ///< from 1, in the order of the file
  std::string label;        ///< "cost_model=sol, shortlist=2"
  std::string setting;      ///< the same as a JSON object, in the grid's order
  std::string baseline;     ///< the strategy that others are compared with
  bool operator==(const PointRow&) const = default;
};

/// What a strategy comes to on a model and a device at a point, by the plans of that point alone.
struct PointResultRow {
  Id point, graph;
  std::string strategy, price;  ///< as of FusionRow
  Id device;
  std::int64_t kernels = 0;
  double launches = 0, launches_without_plan = 0;  ///< per run of the model
  Bytes dram;                                      ///< per run, inputs and outputs of every group once
  Seconds kernel_time, library_time;               ///< per run
  bool operator==(const PointResultRow&) const = default;
};

struct BinaryRow {
  Id id, kernel;
  std::string arch, compiler;
  bool ok = false;  ///< it compiled
  std::string log;
  int registers = 0, spill_stores = 0, spill_loads = 0, local = 0;  ///< registers and bytes per thread
  int static_shared = 0;                                            ///< bytes per block
  std::int64_t machine_instructions = 0, loads_outstanding = 0;
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
  std::string bottleneck;
  std::array<Seconds, ir::part_count> parts{};  ///< indexed by ir::Part
  double occupancy = 0, waves = 0;
  int registers = 0;
  bool operator==(const EstimateRow&) const = default;
};

/// What a model says that a time taken in one way should be.
struct PredictionRow {
  Id plan, device;
  std::string level, model;
  std::string cache, timed_by, launch_mode;  ///< names of ir::CacheState, ir::Timer, ir::LaunchMode
  Seconds total, low, high;
  bool operator==(const PredictionRow&) const = default;
};

struct GroupBoundRow {
  Id group, device;
  std::string model;
  Seconds total;
  std::string bottleneck;
  Id figures = {};  ///< hash of the numbers that it rests on: what a device file and a calibration said
  bool operator==(const GroupBoundRow&) const = default;
};

struct CheckRow {
  Id kernel;
  std::string method;  ///< "simulator, seed 1"
  std::string state;   ///< passed, wrong, unsound, crashed, timed out, not judged, not executed
  double worst = 0;    ///< largest error over its tolerance
  std::string reason;
  std::int64_t findings = 0;
  double judged = 0;  ///< fraction of the results that were held against a bound
  bool operator==(const CheckRow&) const = default;
};

/// One execution of a compiled kernel, with its raw samples and counters. Which plan it came from, if any, is told by
/// the kernel's lowerings: microbenchmarks and other compilers' kernels have none.
struct MeasurementRow {
  Id id;  ///< see measurement_id()
  Id run, binary, device;
  std::string profiler;                ///< simulator, gpu
  std::string protocol;                ///< what was executed and how, in words; text(*timing) where time was asked for
  std::optional<ir::Protocol> timing;  ///< none on the simulator, which takes no time
  std::string gpu, driver;             ///< as in ir::Measurement
  std::string outcome;                 ///< ok, or how it ended
  std::string reason;                  ///< empty when ok
  int attempts = 1;                    ///< workers it took
  std::optional<Seconds> median, low, high;    ///< of the samples, and the interval of the median
  std::optional<double> sm_clock, dram_clock;  ///< Hz
  std::string measured_at;
  std::vector<ir::Sample> samples;       ///< a clock of 0 is stored as not known
  std::vector<ir::CounterValue> counts;  ///< loaded by name
  std::vector<ir::TwinTime> twins;       ///< one, where the plan ran twice in its race
  bool operator==(const MeasurementRow&) const = default;
};

/// The simulator is deterministic: an execution is known by profiler, protocol, binary and device. On a GPU every
/// execution is another: run, time of day and samples are part of its name too.
Id measurement_id(const MeasurementRow& row);

/// What a GPU profiler found, as a row with its id; the median is taken from the samples, the interval is the caller's
/// and left out where there are no samples.
MeasurementRow measurement_row(const ir::Measurement& measured, Id run, Id binary, Id device,
                               std::optional<Seconds> low = {}, std::optional<Seconds> high = {}, int attempts = 1);
/// The way back. Rows of the simulator have no protocol: theirs is the default one.
ir::Measurement to_measurement(const MeasurementRow& row);
/// The middle one, or the mean of the two in the middle; nothing of nothing.
std::optional<Seconds> median_of(const std::vector<ir::Sample>& samples);

/// An ir::Observation with its names spelled out; observations.h has the way there and back.
struct ObservationRow {
  Id id;
  std::string split, device, regime;
  Seconds time, low, high;
  std::string source;
  std::optional<Id> group, plan;  ///< of a plan of ours; none for somebody else's kernel
  std::string operation, shape;   ///< of somebody else's kernel, like what follows
  std::int64_t blocks = 0, threads = 0, shared = 0;
  std::int64_t registers = 0;  ///< of either
  double read = 0, written = 0;
  std::string variant;
  double common = 0, reread = 0, far_trips = 0, near_trips = 0, shuffles = 0, barriers = 0, instructions = 0,
         transcendental = 0;
  bool operator==(const ObservationRow&) const = default;
};

/// One sample of a whole model. A round times each strategy once.
struct ModuleSampleRow {
  std::int64_t round = 0, place = 0;  ///< place: in the order of the round
  ir::Sample sample;
  bool operator==(const ModuleSampleRow&) const = default;
};

/// Groups of a fusion that were not timed, for one reason.
struct LeftOutRow {
  std::string reason;
  std::int64_t places = 0;
  bool operator==(const LeftOutRow&) const = default;
};

/// The memory-bound kernels of a whole model under one strategy, timed together.
struct ModuleTimeRow {
  Id id;  ///< see module_time_id()
  Id run, graph;
  std::string strategy;  ///< as in fusions, or who made the kernels
  Id device;
  std::string profiler = "gpu";
  ir::Protocol protocol;
  std::string gpu, driver;
  std::string outcome;  ///< ok, or how it ended
  std::string reason;   ///< empty when ok
  std::int64_t groups_timed = 0;
  std::vector<LeftOutRow> left_out;  ///< loaded by reason
  std::int64_t launches = 0;         ///< of one sample
  Bytes buffers;
  std::optional<Seconds> median, low, high;  ///< of the samples, and the interval of the median
  std::string measured_at;
  std::vector<ModuleSampleRow> samples;  ///< by round and place
  bool operator==(const ModuleTimeRow&) const = default;
};
Id module_time_id(const ModuleTimeRow& row);
/// Whether both times are of the same work, though each may leave something out: the reasons name the work, so equal
/// lists are of equal work, and equal numbers alone are not.
bool same_work(const ModuleTimeRow& one, const ModuleTimeRow& other);

/// One fitted parameter.
struct CalibrationRow {
  std::string calibration, parameter;
  Id device;
  double value = 0, low = 0, high = 0;
  std::string unit;
  std::string observations;  ///< ids of the measurements it rests on
  std::string fitted_at;
  bool operator==(const CalibrationRow&) const = default;
};

/// One finished stage of one group on one device.
struct ProgressRow {
  Id group, device;
  std::string space, stage;
  std::int64_t legal = 0, rejected = 0;
  Id figures = {};  ///< as of GroupBoundRow
  bool operator==(const ProgressRow&) const = default;
};

// ---- rows of the views ----------------------------------------------------------------------------------------------

struct StrategyTotals {
  Id graph;
  std::string model, strategy;
  std::string price;  ///< cost model the strategy decided by; empty: by none
  Id device;
  std::string device_name;
  std::int64_t kernels = 0, distinct_groups = 0;
  double launches = 0;           ///< per run of the model
  Bytes dram;                    ///< per run, inputs and outputs of every group once
  Seconds kernel_time;           ///< per run, groups with a time only, measured where that was done
  Seconds predicted_time;        ///< per run, the same by predictions alone
  double launches_measured = 0;  ///< of `launches`, those whose time was measured
  std::int64_t groups_without_plan = 0, groups_without_time = 0;
  double launches_without_plan = 0;  ///< of `launches`
  double library_calls = 0;          ///< per run
  Seconds library_time;              ///< per run
};

/// What searching adds to the kernels of a strategy that have a plan as XLA would write them.
struct StrategySearchAdded {
  Id graph;
  std::string strategy, price;
  Id device;
  std::int64_t kernels = 0, same_launch = 0;  ///< with such a plan; of these with XLA's launch
  Seconds as_xla, best;                       ///< per run of the model: under these plans, under the best ones
};

/// The same of one group.
struct SearchAdded {
  Id group;
  std::string emitter, launch, level;
  Seconds as_xla, best;  ///< of one execution, both at that level
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

/// A plan beside one time measured of it: the last that went well under one protocol.
struct MeasuredPlan {
  Id group, plan, kernel, binary, measurement;
  std::string title, text;
  std::string profiler, cache, timed_by, launch_mode;  ///< words of ir::Protocol
  Seconds median;
  std::optional<Seconds> low, high;
  std::int64_t samples = 0;
  std::optional<double> useful_fraction, dram_fraction;  ///< of the DRAM bandwidth: bytes needed once; bytes counted
  std::int64_t place = 0;                                ///< 1 is the fastest of its group under this protocol
};

/// A race in which a plan ran twice, loaded apart.
struct TwinRace {
  Id group, measurement;
  std::string cache, timed_by, launch_mode;  ///< words of ir::Protocol
  double ratio = 0;                          ///< of the second median to the first
  bool told_apart = false;                   ///< the race called one of the two slower
};

/// What a level said of a plan beside a time measured of it.
struct PredictedPlan {
  Id group, plan;
  std::string cache, timed_by, launch_mode, level, model;
  Seconds predicted, low, high, measured;
  std::optional<Seconds> measured_low, measured_high;
};

/// How much faster `strategy` ran a model than `baseline`, both timed in turns.
struct ModuleSpeedup {
  Id run, graph, device;
  std::string model, cache, timed_by, launch_mode, strategy, baseline;
  Seconds median, baseline_median;
  double speedup = 0;
  std::int64_t launches = 0, baseline_launches = 0, left_out = 0, baseline_left_out = 0;
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
