// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The one lowering: (group, plan, limits) to a Kernel, or the reason why not. Legality is its word alone; rules
// elsewhere are shortcuts. The same group, plan and limits give the same kernel. In: a prepared group, a plan, the
// limits of a device. Out: a verified Kernel or a Rejection. Called by study's stages, by searches and by tests.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "codegen/lower/prepare.h"
#include "ir/device.h"
#include "ir/kernel/kernel.h"
#include "ir/plan.h"

namespace tailor::codegen {

using Lowered = std::variant<ir::Kernel, ir::Rejection>;

/// Memory kept between lowerings of one thread.
class LowerScratch {
 public:
  LowerScratch();
  ~LowerScratch();
  LowerScratch(LowerScratch&&) noexcept;
  struct State;
  State& state() { return *state_; }

  std::int64_t lowerings = 0;  ///< calls of lower() that were given this scratch

 private:
  std::unique_ptr<State> state_;
};

/// `prepared` comes from prepare(group) and carries the group.
Lowered lower(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch);
/// Prepares and lowers once.
Lowered lower(const ir::Group& group, const ir::Plan& plan, const ir::Limits& limits);

/// Whether any plan of the group can be lowered: prepares it and lowers the plainest one on a device without limits.
Classified classify(const ir::Group& group);

}  // namespace tailor::codegen
