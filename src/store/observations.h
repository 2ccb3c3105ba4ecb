// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Observations in a database, as calibration and validation take them: made of the measurements that are there, or read
// from lines of text that say what others have published. In: what a database or a recorded file holds of runs on GPUs
// (recorded_rows(), read_recorded()), or a file of such lines. Out: observations and their rows. Called by tailor db.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string_view>
#include <vector>

#include "ir/observation.h"
#include "store/recorded.h"

namespace tailor::store {

/// By id. A kernel of a plan is ours, with the compiler's registers; several plans that lower to one kernel are one
/// subject, the plan of least id. A kernel that another compiler made for a group is known by the id of that group,
/// with the group's arrays as its traffic; a kernel of neither, as microbenchmarks are, by its name and launch, with
/// the bytes that the GPU counted, if it did. Throws Error(failed) for a measurement whose binary, kernel or device is
/// not there.
std::vector<ir::Observation> make_observations(const RecordedRows& rows);

ObservationRow observation_row(const ir::Observation& observation);
/// The way back, with the split of the row. Throws Error(failed) for a row that no observation_row() made.
ir::Observation to_observation(const ObservationRow& row);

/// Stores the observations of all measurements that are there. Those that are known stay as they are. Returns how many
/// are new.
std::int64_t add_observations(Store& store);

/// Lines of ir::parse_observation; empty ones and those that begin with '#' are left out. Throws Error(failed) naming
/// `file` and the line for one that is not right, and for an observation that is there twice.
std::vector<ObservationRow> parse_observations(std::string_view text, const std::string& file,
                                               const std::stop_token& stop = {});
/// Whether a file's text is such lines and not a recorded file.
bool holds_observations(std::string_view text);

/// Reads a recorded file or a file of observations, packed or not, whichever `path` is; `observations` alone is filled
/// of the latter. Throws Error(failed) as their readers do.
RecordedRows read_recorded_or_observations(const std::filesystem::path& path, const std::stop_token& stop = {});

}  // namespace tailor::store
