// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How the steps of a sweep are called in `progress`, where done work is found again. In: what a sweep's file and its
// command line say. Out: texts that differ wherever the rows of the step would. Called by the steps, which ask for the
// key before they work and store it afterwards; private to the room. A setting that is as usual is not named, so that
// a new setting leaves the work of older databases done.
#pragma once

#include <string>
#include <string_view>

#include "study/pipeline/stages.h"
#include "study/sweep/config.h"
#include "study/sweep/sweep.h"

namespace tailor::study {

/// What must be equal on every device for any stored work to count as done: the plan space, the length of the short
/// list and what was drawn behind it, the architecture. Part of every step's key.
std::string work_space(const SweepConfig& config);

/// How the file wants kernels to be executed; who executes and how many at a time is left as it is.
Checking make_checking(const SweepConfig& config);
/// A method of check_method() with the architecture.
std::string make_method(const SweepConfig& config, const ir::Device& device, const std::string& checked);
/// Of the check step. Predictions for the times of a later run are stored with verdicts, so how times will be taken is
/// in it too.
std::string check_key(const SweepConfig& config, const ir::Device& device);

/// Of the profile step. `recorded`: where records are read from, as the command line says; empty where that is usual.
std::string profile_key(const SweepConfig& config, const SweepMeasurer& by, std::string_view recorded);

}  // namespace tailor::study
