// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans that a command was asked about, lowered and printed: one that was named, or the best of a group, or the best of
// every group of a model.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "ir/binary.h"
#include "ir/fusion.h"
#include "ir/kernel.h"
#include "ir/plan.h"
#include "profiler/compile/nvrtc.h"

namespace tailor::cli {

struct ChosenPlan {
  std::size_t group = 0;  ///< number in the partition
  const ir::Group* of = nullptr;
  std::string title;      ///< of the group
  std::int64_t rank = 0;  ///< rank of the plan; 0: it was given as text
  ir::Plan plan;
  ir::Kernel kernel;
  Id kernel_id;
  std::string cuda;
  Seconds predicted;  ///< by the model that ranked; 0: none did
};

struct PlanChoice {
  std::string plan;      ///< a plan's text, or its rank; empty: the best `top`
  std::int64_t top = 4;  ///< of each group; 0: all
  bool whole = false;    ///< every group of the model instead of the chosen one
};

/// Each a different kernel. Groups that cannot be planned are counted in a note. Throws Error(failed) when there is no
/// plan at all; what was chosen so far when asked to stop.
std::vector<ChosenPlan> chosen_plans(const Context& context, Chosen& chosen, const PlanChoice& choice,
                                     std::stop_token stop);

/// How texts are compiled for a command.
struct Compiling {
  std::string arch;
  std::string cache;  ///< folder of compiled kernels; empty: the usual one
  int threads = 0;    ///< 0: one per processor
  std::stop_token stop = {};
};
/// With progress; empty where it was stopped.
std::vector<std::optional<ir::Binary>> compiled_texts(const Context& context, const profiler::Nvrtc& api,
                                                      const Compiling& how, const std::vector<std::string>& texts);

}  // namespace tailor::cli
