// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What tailor profile found, as tables.
#pragma once

#include <span>
#include <vector>

#include "cli/profiling.h"
#include "report/table.h"

namespace tailor::cli {

/// One row per plan and cache state. `bytes` of a group: its inputs and outputs once.
report::Table time_table(std::span<const ProfileItem> items, std::span<const ProfiledGroup> groups,
                         const std::function<double(std::size_t)>& bytes);
/// One row per group and cache state: who won, by how much, and how far off the model's first choice was.
report::Table race_table(std::span<const ProfileItem> items, std::span<const ProfiledGroup> groups);
/// One row per counter of each plan that was counted.
report::Table counter_table(std::span<const ProfileItem> items);

}  // namespace tailor::cli
