// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From chosen plans to measured ones, for every command that measures: the odd shape of each, compiling both, and the
// groups one after the other through whoever measures (a GPU or records).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/chosen_plans.h"
#include "profiler/check/small_shape.h"
#include "profiler/measure/measure.h"
#include "study/pipeline/profile_store.h"

namespace tailor::cli {

/// A plan on its way to a time.
struct ProfileItem : ChosenPlan {
  std::optional<profiler::SmallShape> odd;
  std::string odd_is;  ///< "37 of 4,096 rows"; without one: why
  std::optional<ir::Binary> binary, odd_binary;
  profiler::CandidateResult result;
  bool measured = false;     ///< `result` is one
  bool needs_binary = true;  ///< records are known by the program alone

  bool compiled() const { return binary && binary->outcome == ir::CompileOutcome::ok; }
};

/// The items of one group, next to one another, with how their race went.
struct ProfiledGroup {
  std::size_t first = 0, count = 0;  ///< of the items
  std::vector<profiler::Ranking> rankings;
  std::string unjudged;
  profiler::LaunchFloor floor;
};

/// Measures the plans of one group: profiler::measure_group on a worker, or replayed_group.
using MeasureGroup =
    std::function<profiler::MeasuredGroup(std::span<const profiler::Candidate>, const profiler::MeasureOptions&)>;

/// Chosen plans with their odd shapes.
std::vector<ProfileItem> profile_items(std::vector<ChosenPlan> plans, const Chosen& chosen, bool odd_shapes);
/// Compiles kernels and their odd shapes.
void compile_items(const Context& context, const profiler::Nvrtc& api, const Compiling& how,
                   std::vector<ProfileItem>& items);
/// Measures group by group; `done` is told of each as it finishes, so that nothing is lost when the rest is not
/// reached.
std::vector<ProfiledGroup> profile_groups(std::vector<ProfileItem>& items, const MeasureGroup& measure,
                                          const profiler::MeasureOptions& options,
                                          const std::function<void(const ProfiledGroup&)>& done);

/// Saves what is known of an item: its group, plan, kernel, and what came of measuring it.
void save_item(store::Store& store, const ProfileItem& item, const explore::DistinctGroup& group,
               const study::MeasuredUnder& under);
/// The device file that `word` names, as a row.
store::DeviceRow load_device_row(const Context& context, const std::string& word, const ir::Device& device);

}  // namespace tailor::cli
