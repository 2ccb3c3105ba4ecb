// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Evidence: observations from wherever they are kept, ready for models to be asked about. In: files and databases. Out:
// observations without repeats, and samples: kernels of ours are lowered and counted again from their group and plan,
// kernels of others are described by what is written of them. Called by tailor validate, calibrate and db import.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/sample.h"
#include "ir/device.h"
#include "store/recorded.h"
#include "study/pipeline/observer.h"

namespace tailor::study {

struct Evidence {
  std::vector<ir::Observation> observations;  ///< by id, each once
  std::map<Id, store::GroupRow> groups;       ///< of kernels of ours
  std::map<Id, store::PlanRow> plans;
  std::int64_t repeats = 0;  ///< found again in another file, word for word
  /// Rows of tables that say what another row says, its time to the last digit; by GPU. They are copies, and count
  /// once.
  std::map<std::string, std::int64_t> copies;
};

/// Every device of the data folder.
std::vector<ir::Device> known_devices(const std::filesystem::path& data);
/// These, and one that a file of somebody's own describes.
std::vector<ir::Device> known_devices(const std::filesystem::path& data, const ir::Device& own);

/// Databases, recorded files, lines of observations, CSV; which a file is, its beginning says. Throws Error as their
/// readers do, Error(failed) for two observations of one source that say different times.
Evidence read_evidence(const std::vector<std::string>& sources, const std::filesystem::path& data, const Watch& watch);

/// Rows of a CSV file of measurements, or nothing where the file is no CSV.
std::optional<store::RecordedRows> read_csv_rows(const std::filesystem::path& path, const std::filesystem::path& data,
                                                 const Watch& watch);

struct Samples {
  std::vector<calibrate::Sample> samples;
  std::int64_t without_device = 0;  ///< of GPUs that no device file describes
  std::vector<std::string> unknown_devices;
  std::int64_t without_kernel = 0;  ///< of kernels of ours whose group or plan is not there, or cannot be lowered
  std::int64_t of_older_plans = 0;  ///< of kernels of ours whose plan has fields of an older version
  std::int64_t undescribed = 0;     ///< of kernels of others without launch or traffic
  std::int64_t copies = 0;          ///< rows that say what another row says
};
/// Sentences about those that no model could be asked about.
std::vector<std::string> left_out(const Samples& samples);

/// `device`: only of this one; empty: of all. Throws Error(failed) for times that contradict one another by more than a
/// factor of ten for one kernel, and for blocks that no launch on the GPU has.
Samples samples_of(const Evidence& evidence, const std::vector<ir::Device>& devices, const std::string& device,
                   const Watch& watch);

}  // namespace tailor::study
