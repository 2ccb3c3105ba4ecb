// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Recorded: measurements of real GPUs that travel. A recorded file is text, one JSON object per line: a head with the
// format's version, then devices, runs, graphs, groups, plans, kernels, lowerings, binaries, measurements, module times
// and observations, each with a key for what it is, then the number of lines and their hash. Equal contents are equal
// bytes. It holds what is needed to tell what was measured, how, and on what, not what can be made again: no model, no
// CUDA text, no machine code, no prediction, and nothing of the simulator.
//
// Recorded answers a profiler's questions from such a file or from any database, without a GPU.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.h"

namespace tailor::store {

class Store;

inline constexpr std::string_view recorded_version = "recorded/1";

/// What a recorded file holds, each list by id. Rows lack what is not recorded (mark::local in records.h): hosts of
/// runs, texts of graphs and kernels, logs of compilers.
struct RecordedRows {
  std::vector<DeviceRow> devices;
  std::vector<RunRow> runs;
  std::vector<GraphRow> graphs;
  std::vector<GroupRow> groups;
  std::vector<PlanRow> plans;
  std::vector<KernelRow> kernels;
  std::vector<LoweringRow> lowerings;
  std::vector<GivenKernelRow> given;
  std::vector<BinaryRow> binaries;
  std::vector<MeasurementRow> measurements;
  std::vector<ModuleTimeRow> module_times;
  std::vector<ObservationRow> observations;
  bool operator==(const RecordedRows&) const = default;
};

/// What a database measured on GPUs with what it refers to, and its observations; `device` is a name, empty for all.
RecordedRows recorded_rows(const Store& store, std::string_view device = {});

std::string recorded_text(const RecordedRows& rows, const std::stop_token& stop = {});
/// Throws Error(failed) naming `file` and the line: another version, a line that is not what it should be, an end that
/// is missing, a hash that does not fit.
RecordedRows parse_recorded(std::string_view text, const std::string& file, const std::stop_token& stop = {});

/// Packed when the name ends in .gz.
void write_recorded(const std::filesystem::path& path, const RecordedRows& rows, const std::stop_token& stop = {});
/// Packed or not.
RecordedRows read_recorded(const std::filesystem::path& path);

/// Saves all rows, or none. What is known already stays as it is. Throws Error(failed) for an observation whose id is
/// not that of its columns.
void save_recorded(Store& store, const RecordedRows& rows);

/// The one device name in `names` that `wanted` means; an empty `wanted` means the only one. Throws Error(usage) naming
/// them all when there are several, or when `wanted` is none of them. Empty when there are none and none is wanted.
std::string chosen_device(const std::vector<std::string>& names, std::string_view wanted,
                          const std::filesystem::path& of);

/// Measurements of one GPU, to be asked again.
class Recorded {
 public:
  /// Reads a recorded file or a database, whichever `path` is. Throws Error(missing) when there is none, Error(usage)
  /// when several devices were measured and `device` names none of them, Error(failed) as the readers do.
  static Recorded open(const std::filesystem::path& path, std::string_view device = {});
  explicit Recorded(RecordedRows rows);

  const RecordedRows& rows() const { return rows_; }

  /// The measurement of a kernel under a protocol. Stop rules need not agree; where several fit, what refutes the
  /// kernel comes first, then the same stop rule, then the latest.
  std::optional<ir::Measurement> measurement(Id kernel, const ir::Protocol& protocol) const;
  /// Its row, for what the noun does not tell: interval, attempts, run. Valid while this lives; null without one.
  const MeasurementRow* row(Id kernel, const ir::Protocol& protocol) const;
  /// A sentence for a question that has no answer: whether the kernel is known at all, and under which protocols it was
  /// measured, the nearest first.
  std::string why_missing(Id kernel, const ir::Protocol& protocol) const;
  /// Kernels with a measurement, whatever came of it, ascending.
  std::vector<Id> measured_kernels() const;
  /// measurement(), or one of outcome not_recorded with why_missing() as its reason.
  ir::Measurement replayed(Id kernel, const ir::Protocol& protocol) const;

  /// The time of a whole model: the same stop rule first, then the latest. Null when there is none.
  const ModuleTimeRow* module_time(Id graph, std::string_view strategy, const ir::Protocol& protocol) const;

 private:
  RecordedRows rows_;
  std::map<Id, std::vector<std::size_t>> by_kernel_;  ///< places in rows_.measurements
};

}  // namespace tailor::store
