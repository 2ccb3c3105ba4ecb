// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The store: one SQLite file, typed save and load, the only user of SQLite. Saving is idempotent: every row has a
// natural key, and a row that is there already stays (or, for runs and progress, is brought up to date), so a resumed
// or repeated unit of work changes nothing.
//
// Durability: the rollback journal, not a write-ahead log. The file is then complete at every commit, a single thing to
// copy, safe on the shared folders that cluster jobs write to, and readable from read-only media; the price is an fsync
// per commit, which one commit per unit of work makes small. A killed process loses the unit in flight, nothing else.
//
// Every function throws Error(failed) with the file as its place when SQLite cannot do its work.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.h"

namespace tailor::store {

class Connection;

/// One kind of damage to a database.
struct Damage {
  std::string what;                   ///< "a row of counters refers to a row of measurements that is not there"
  std::int64_t times = 0;             ///< how often it was found
  std::vector<std::string> examples;  ///< keys of the first few rows, or the first few lines
};

/// How a database is opened.
struct Opening {
  Seconds patience{5};  ///< how long to wait for another writer
  /// When it is asked to stop, the statement that runs is given up and no other begins: Error(interrupted), and a
  /// transaction that is open is undone. Not for those who store what they have when they are stopped.
  std::stop_token stop = {};
};

/// What a database was, and what it is now.
struct Migrated {
  std::int64_t from = 0, to = 0;  ///< schema versions; equal where nothing was to be done
  std::int64_t bytes_before = 0, bytes_after = 0;
};

/// Brings a database of an older schema version to today's, in one transaction: a file that cannot be brought there, or
/// not now, is as it was. Throws Error(missing) without one, Error(failed) for a file that is none of ours, is empty,
/// damaged or newer.
Migrated migrate(const std::filesystem::path& path, const Opening& opening = {});

class Store {
 public:
  /// Opens for writing; creates the file (not its folder) when absent, migrates it when older. A file that is not ours,
  /// or newer than this program, is left as it is, byte for byte: Error(failed).
  static Store open(const std::filesystem::path& path, const Opening& opening = {});
  /// Opens an existing database of this schema version for reading. Throws Error(missing) without one.
  static Store open_read_only(const std::filesystem::path& path, const Opening& opening = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// One unit of work: all of it is stored at commit(), none of it when the Transaction dies before. Not nested.
  class Transaction {
   public:
    explicit Transaction(Store& store);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    void commit();

   private:
    Connection& connection_;
    bool open_ = true;
  };

  // Saving. Outside a Transaction each call is one of its own. What a row refers to must be there (Error otherwise).
  // records.h says of each row what its columns are and what happens to one that is known.
  void save(const RunRow& row);  ///< brings outcome and finished_at of a known run up to date, adds devices
  void save(const DeviceRow& row);
  void save(const GraphRow& row);  ///< one that was imported without its text gains it
  void save(const GroupRow& row);
  void save(const FusionRow& row);  ///< with its groups and edges; replaces what the strategy said of this graph for
                                    ///< this device and price
  void save(const LibraryCallRow& row);
  void save(const LibraryTimeRow& row);
  void save(const PlanRow& row);
  void save(const KernelRow& row);  ///< one that was imported without its texts gains them
  void save(const LoweringRow& row);
  void save(const GivenKernelRow& row);
  void save(const RejectionRow& row);
  void save(const PlanRejectionRow& row);
  void save(const XlaPlanRow& row);  ///< the last word counts
  void save(const ShortListRow& row);
  void save(const PointRow& row);        ///< the last word counts
  void save(const PointResultRow& row);  ///< the last word counts
  void save(const BinaryRow& row);
  void save(const EstimateRow& row);    ///< of level profiled the last word counts, of others the first
  void save(const PredictionRow& row);  ///< the last word counts
  void save(const GroupBoundRow& row);
  void save(const CheckRow& row);        ///< the last word of a method counts
  void save(const MeasurementRow& row);  ///< with samples and counters; a known one stays
  void save(const ObservationRow& row);  ///< a known one stays, with the split it has
  void save(const ModuleTimeRow& row);   ///< with samples and what was left out; a known one stays
  void save(const CalibrationRow& row);  ///< the last word counts
  void save(const ProgressRow& row);

  /// Takes out what models said of a group's plans with other numbers under the same calibration's name: where the
  /// bound of `row`'s model that is known rests on other figures than `row`, its estimates and predictions of that
  /// calibration go, with the rejections and the progress of sweeps that took them; and where no other sweep was here,
  /// lowerings of kernels that no GPU measured. Kernels, verdicts and measurements stay. Returns whether there was such
  /// a bound; `row` is not saved.
  bool forget_other_figures(const GroupBoundRow& row);

  // Loading, in the order of the keys unless told otherwise.
  std::vector<RunRow> runs() const;  ///< oldest first
  /// ", h200.json 5f0c123456": for each GPU that a run asked about which version of its file; empty for none.
  std::string device_files(const RunRow& run) const;
  std::vector<DeviceRow> devices() const;  ///< by name
  std::vector<GraphRow> graphs() const;    ///< by name
  std::vector<GroupRow> groups() const;
  std::optional<GroupRow> group(Id id) const;
  /// Those that hold for every GPU and those decided for the one of this name, by strategy.
  std::vector<FusionRow> fusions(Id graph, std::string_view device) const;
  std::optional<FusionRow> fusion(Id graph, std::string_view strategy, std::string_view device = {},
                                  std::string_view price = {}) const;
  std::vector<LibraryCallRow> library_calls(Id graph) const;
  std::vector<LibraryTimeRow> library_times(Id graph, Id device) const;  ///< of a node the one that counts first
  std::vector<PlanRow> plans(Id group) const;
  std::optional<PlanRow> plan(Id id) const;
  std::optional<KernelRow> kernel(Id id) const;
  std::optional<Id> lowering(Id plan, Id device) const;
  std::vector<LoweringRow> lowerings_to(Id kernel, Id device) const;
  std::vector<GivenKernelRow> given_kernels(Id graph) const;
  std::vector<GivenKernelRow> given_as(Id kernel) const;            ///< by graph
  std::vector<RejectionRow> rejections(Id group, Id device) const;  ///< most plans first
  /// Plans of a group that a sweep of this space put on its short list, by id.
  std::vector<Id> short_list(Id group, Id device, std::string_view space) const;
  std::vector<PointRow> points() const;  ///< by grid, then number
  std::vector<PointResultRow> point_results(Id point) const;
  std::vector<BinaryRow> binaries(Id kernel) const;
  std::optional<BinaryRow> binary(Id id) const;
  std::vector<EstimateRow> estimates(Id plan, Id device) const;  ///< by level, of each the one that counts first
  std::vector<PredictionRow> predictions(Id plan, Id device) const;
  std::vector<GroupBoundRow> group_bounds(Id group, Id device) const;
  std::vector<CheckRow> checks(Id kernel) const;
  std::vector<PlanRejectionRow> plan_rejections(Id plan, Id device) const;
  std::vector<PlanRejectionRow> plan_rejections_of(Id group, Id device) const;  ///< of all plans of a group
  std::optional<XlaPlanRow> xla_plan(Id group, Id device) const;
  std::vector<MeasurementRow> measurements(Id binary) const;  ///< with samples and counters
  std::vector<MeasurementRow> timings(Id device) const;       ///< of all profilers but the simulator
  std::vector<ModuleTimeRow> module_times(Id graph) const;    ///< with samples and what was left out
  std::vector<ModuleTimeRow> module_times_on(Id device) const;
  std::vector<ObservationRow> observations(std::string_view device = {}) const;  ///< of this name; empty: of all
  std::vector<CalibrationRow> calibrations(Id device) const;
  std::vector<ProgressRow> progress_of(Id group, Id device) const;  ///< of all spaces
  std::vector<ProgressRow> progress(Id device, std::string_view space) const;
  bool is_done(Id group, Id device, std::string_view space, std::string_view stage) const;

  // Rows of the views.
  std::vector<StrategyTotals> strategies() const;  ///< by model, device, then time
  std::vector<StrategySearchAdded> strategy_search_added() const;
  std::optional<SearchAdded> search_added(Id group, Id device) const;
  std::vector<GroupTime> groups_by_time(Id graph, std::string_view strategy, Id device,
                                        std::string_view price = {}) const;  ///< longest first
  std::vector<BestPlan> best_plans(Id group, Id device, int limit) const;    ///< best first
  /// For every group of a graph's fusions, one row per level that has looked at its plans; refuted ones are left out.
  std::vector<LevelBest> level_bests(Id graph, Id device) const;
  /// The times of all plans of a group at one level, shortest first; as everywhere, of several models of that level
  /// those whose calibration a sweep took last.
  std::vector<Seconds> plan_times(Id group, Id device, std::string_view level) const;
  std::vector<MeasuredPlan> measured_plans(Id device) const;  ///< by title, protocol, then time
  std::vector<TwinRace> twin_races(Id device) const;          ///< by group, protocol, then execution
  std::vector<PredictedPlan> measured_vs_predicted(
      Id device) const;  ///< by group, plan, protocol, precision; the model that counts last
  std::vector<ModuleSpeedup> module_speedups(Id graph, Id device) const;  ///< of all runs, greatest first
  /// Names of the devices that measurements of a GPU are of, simulator left out; sorted.
  std::vector<std::string> measured_devices() const;
  /// The GPUs themselves, as ir::Measurement names them, that measured for a device.
  std::vector<std::string> measured_gpus(Id device) const;
  std::vector<RejectedRule> rejected_why() const;  ///< most plans first
  std::vector<KernelState> kernel_states() const;
  std::vector<TableSize> sizes() const;  ///< rows of every table, by name
  /// Rows of `measurements` by who executed: "simulator", which takes no times, "gpu".
  std::vector<TableSize> executions() const;

  /// Copies everything of another database of this schema version. Idempotent, and the order of several merges does not
  /// matter: where both have a row, the one that is further along (a finished run, a compiled binary), else the greater
  /// in column order, stays. All or nothing. Returns how many rows are new or changed. Throws Error(failed) where both
  /// have a fusion that differs, or an observation with another split: of these neither is taken for the other.
  std::int64_t merge(const std::filesystem::path& from);

  /// Every table, row by row in key order, as text: equal contents, equal text.
  std::string dump() const;
  /// The same, row by row: the table and the row's values as SQL, with ", " between them.
  void dump(const std::function<void(std::string_view table, std::string_view values)>& row) const;
  /// Asks SQLite to check the file and the references between tables. Returns what is wrong, equal things counted.
  std::vector<Damage> damages() const;
  /// The same in lines, empty when nothing is wrong.
  std::string damage() const;

 private:
  explicit Store(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

/// "3.40.1": of the library this program runs with.
std::string sqlite_version();

}  // namespace tailor::store
