// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What tailor check found, as tables.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/chosen_plans.h"
#include "ir/binary.h"
#include "profiler/check/check.h"
#include "profiler/check/small_shape.h"
#include "report/table.h"

namespace tailor::cli {

/// One kernel on its way from plan to verdict.
struct CheckItem : ChosenPlan {
  /// What is executed in the kernel's place, when that was asked for and can be; binary and verdict are of that.
  std::optional<profiler::SmallShape> small;
  std::string small_cuda;
  std::string shape = "whole";  ///< that was executed: "64 of 4,096 rows", "whole: ..." with a reason
  std::optional<ir::Binary> binary;
  std::optional<profiler::Checked> checked;

  const ir::Group& executed_group() const { return small ? small->group : *of; }
  const ir::Kernel& executed_kernel() const { return small ? small->kernel : kernel; }
  const std::string& executed_cuda() const { return small ? small_cuda : cuda; }
};

report::Table verdict_table(const std::vector<CheckItem>& items);
/// One row per finding, with the line of the CUDA text it happened on.
report::Table finding_table(const std::vector<CheckItem>& items);

}  // namespace tailor::cli
