// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What was measured, as rows: so much that the database stands for itself.
#pragma once

#include <string>

#include "ir/binary.h"
#include "profiler/measure/measure.h"
#include "store/store.h"

namespace tailor::study {

/// Under what a measurement is stored.
struct MeasuredUnder {
  Id run, device;
  std::string profiler;  ///< gpu, replay
};

/// One compiled plan and what came of measuring it.
struct ProfiledKernel {
  const ir::Binary* binary = nullptr;  ///< null: only records were asked
  Id kernel, plan;
  const profiler::CandidateResult& result;
};

/// Binary, measurements with samples and counters, a check, a profiled estimate, or the rejection of a plan whose
/// kernel was refuted. Group, plan and kernel are there already.
void save_profiled(store::Store& store, const ProfiledKernel& item, const MeasuredUnder& under);

}  // namespace tailor::study
