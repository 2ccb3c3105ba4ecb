// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of a group as XLA would write it, beside what a search found. In: a prepared group, a target that XLA has
// a description of, the model that ranks. Out: the emitter, its launch, and the plan that is like it, lowered, counted
// and estimated like any other; or why there is none. What a search added to a group is one subtraction: this plan's
// time less the best plan's. Called by choose() and named_plan(), and by the tables that
// set both side by side.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "costmodel/model.h"
#include "costmodel/xla/launch.h"
#include "explore/plans/xla_style.h"
#include "study/pipeline/candidate.h"

namespace tailor::study {

/// The word by which the plan is asked for where a plan's text is expected.
inline constexpr std::string_view xla_plan_word = "xla";

struct XlaBeside {
  /// The plan with what it lowers to; everything but who asked.
  struct Made {
    ir::Plan plan;
    ir::Kernel kernel;
    costmodel::Work work;
    ir::Estimate estimate;
  };
  std::string emitter;            ///< "multi-row"
  costmodel::xla::Launch launch;  ///< XLA's
  std::optional<Made> made;
  explore::SameLaunch launches = explore::SameLaunch::differs;  ///< of the plan beside XLA's
  std::string note;  ///< without a plan why; with one what differs, empty where nothing does

  /// "equal", "same warps", "differs", "no plan".
  std::string_view agreement() const;
};

/// Nothing for a device that XLA has no description of. `prepared` is the group's. Pure; may run in several threads.
std::optional<XlaBeside> xla_beside(const ir::Group& group,
                                    const std::variant<codegen::Prepared, ir::Rejection>& prepared,
                                    const costmodel::CalibratedDevice& device, const costmodel::Model& model);

/// The plan as a candidate of rank 0. Nothing where there is none.
std::optional<Candidate> xla_candidate(const PreparedGroup& group, const Target& on, const costmodel::Model& model);
/// The same by its word. Throws Error(missing) for a device without description, Error(failed) for a group that has no
/// such plan.
Candidate named_xla_plan(const PreparedGroup& group, const Target& on, const costmodel::Model& model);

}  // namespace tailor::study
