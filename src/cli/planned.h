// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One plan of a chosen group, lowered and estimated: what explain shows and emit prints.
#pragma once

#include <stop_token>
#include <string>

#include "cli/inputs.h"
#include "costmodel/work.h"
#include "ir/estimate.h"
#include "ir/kernel.h"

namespace tailor::cli {

struct Planned {
  ir::Plan plan;
  ir::Kernel kernel;
  costmodel::Work work;
  ir::Estimate estimate;
};

/// `plan` is a plan's text, its rank in `explore`, or empty for the best. Throws Error(usage) for text that is no plan,
/// Error(failed) for a plan that cannot be lowered, with the reason.
/// `stop` is that of the caller's watch; without one it watches for interrupts itself.
Planned planned(const Context& context, const Chosen& chosen, const std::string& plan, std::stop_token stop = {});

}  // namespace tailor::cli
