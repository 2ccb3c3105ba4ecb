// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The loads that short-listed plans ask for together, and how many of them the machine code has on their way at once.
// In: a model. Out: both numbers of each plan. Used by the quick test on the models that ship and by the slow one on
// all that are at hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/compile/nvrtc.h"

namespace tailor::study {

struct PlannedFlight {
  std::string plan, group;
  std::int64_t planned = 0, outstanding = 0;
  std::int64_t planned_registers = 0, registers = 0;
};

/// Of the `most` groups that move most, the four best plans each, for the H200.
std::vector<PlannedFlight> short_listed_flights(const profiler::Nvrtc& api, const std::filesystem::path& model,
                                                std::size_t most);

/// Checks that nine tenths of them have three quarters of what they planned, and says which have not. At least one must
/// be there.
void check_flights(const std::vector<PlannedFlight>& flights);

}  // namespace tailor::study
