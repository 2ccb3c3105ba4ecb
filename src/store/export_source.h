// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What every export writes, gathered once: groups with their plans, each with how it ended and its measurement.
// Private to this folder. In: a database, a device, a group. Out: an ExportSource, which the files of the formats
// (export_tuners, export_nvbench, export_csv) turn into text.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "store/exports.h"
#include "store/recorded.h"

namespace tailor::store {

using ParameterValue = std::variant<std::int64_t, bool, std::string>;

/// One axis of a plan, as tuners know it.
struct Parameter {
  std::string name;
  ParameterValue value;
};

/// How a plan ended, in the words of others.
struct Ending {
  std::string_view kernel_tuner;  ///< class of the failure; empty when it went well
  std::string_view t4;            ///< "invalidity"
};

/// A kernel that was tried: one of our plans, another compiler's kernel, or a microbenchmark.
struct Tried {
  std::optional<PlanRow> plan;
  std::string origin;  ///< "Tailor" for a plan, "XLA", ...; empty for neither
  KernelRow kernel;
  BinaryRow binary;
  std::string outcome, reason;  ///< as stored
  Ending ending;
  std::optional<MeasurementRow> row;     ///< none where it came to no execution
  std::vector<Parameter> configuration;  ///< of a plan; the same names for all of a group, no two alike
};

/// What was tried of a group under one protocol. A kernel that belongs to no group is one of its own without a row.
struct TriedGroup {
  std::optional<GroupRow> group;
  std::string name;  ///< unique, of lower-case letters, digits, '-' and '_'
  ir::Protocol protocol;
  std::vector<Tried> tried;  ///< plans by id, then others by kernel
};

struct ExportSource {
  DeviceRow device;
  Recorded recorded;
  ir::Protocol main;  ///< what a file without a suffix holds: cold before produced before warm
  std::vector<TriedGroup> groups;
};

/// "", "-warm", "-warm-events": what of a protocol differs from the main one.
std::string suffix(const ir::Protocol& protocol, const ir::Protocol& main);

/// Seconds as milliseconds.
inline double milliseconds(Seconds time) { return time.value * 1e3; }

std::vector<ExportFile> kernel_tuner_files(const ExportSource& source);
std::vector<ExportFile> t4_files(const ExportSource& source);
std::vector<ExportFile> nvbench_files(const ExportSource& source);
std::vector<ExportFile> csv_files(const ExportSource& source);

}  // namespace tailor::store
