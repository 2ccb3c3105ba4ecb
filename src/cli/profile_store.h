// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What was measured, as rows: so much that the database stands for itself.
#pragma once

#include <string>

#include "cli/profiling.h"
#include "store/store.h"

namespace tailor::cli {

/// Under what a measurement is stored.
struct MeasuredUnder {
  Id run, device;
  std::string profiler;  ///< gpu, replay
};

/// Binary, measurements with samples and counters, a check, a profiled estimate, or the rejection of a plan whose
/// kernel was refuted. Group, plan and kernel are there already.
void save_profiled(store::Store& store, const ProfileItem& item, const MeasuredUnder& under);

/// The device file as a row.
store::DeviceRow device_row_of(const Context& context, const std::string& word, const ir::Device& device);

}  // namespace tailor::cli
