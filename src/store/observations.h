// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Measurements as observations. In: what a database or a recorded file holds of runs on GPUs (recorded_rows(),
// read_recorded()). Out: one observation for each execution that went well and has a time, as calibration and
// validation take them, whoever's the kernel is.
#pragma once

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

}  // namespace tailor::store
