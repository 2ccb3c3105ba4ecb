// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan of a group that is as XLA's GPU compiler would write its kernel: the emitter it would choose, and of our
// space the plan with that emitter's threads, vectors, lanes and unrolling. A table with one row per way of emitting
// says what each deals out and how a plan holds it, or that no structure of ours does. In: a prepared group, limits,
// XLA's view of the GPU. Out: a plan with what is known to differ, or why there is none. The launch rules are those of
// costmodel/xla/launch.h, which the model xla-model has too. Whether the plan is legal is the lowering's word. Called
// by study, which sets the plan beside the best of a search.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "codegen/lower/prepare.h"
#include "costmodel/xla/launch.h"
#include "ir/device.h"
#include "ir/kernel/kernel.h"
#include "ir/plan.h"

namespace tailor::explore {

/// What a row of the table looks at.
struct XlaQuestion {
  const codegen::Prepared& prepared;
  const ir::Limits& limits;
  const costmodel::xla::Kernel& kernel;
  const costmodel::xla::Analysis& analysis;
  const costmodel::xla::Schedule& schedule;
};

/// A plan, and where it is known that its launch cannot be XLA's; empty: nowhere.
struct XlaPlan {
  ir::Plan plan;
  std::string differs;
};
using XlaPlanned = std::variant<XlaPlan, std::string>;  ///< or why there is none

/// A way of XLA's to emit a kernel.
struct XlaEmitter {
  costmodel::xla::Form form;
  std::string_view deals;                  ///< who computes what, for people
  std::string_view as;                     ///< how a plan says it; without a plan what no structure of ours does
  XlaPlanned (*plan)(const XlaQuestion&);  ///< null: no structure for it yet
};
/// In the order of Form.
std::span<const XlaEmitter> xla_emitters();
inline const XlaEmitter& row(costmodel::xla::Form form) { return xla_emitters()[static_cast<std::size_t>(form)]; }

/// XLA's kernel of a group as far as plans reach.
struct XlaStyle {
  costmodel::xla::Form form = costmodel::xla::Form::loop;
  costmodel::xla::Launch launch;  ///< XLA's
  std::optional<ir::Plan> plan;
  std::string note;  ///< without a plan why; with one what is known to differ, empty where nothing is
};
XlaStyle xla_style(const codegen::Prepared& prepared, const ir::Limits& limits, const costmodel::xla::Target& target);
/// The same of a group that has no plan at all, for that reason.
XlaStyle xla_style(const ir::Graph& group, const ir::Rejection& why, const costmodel::xla::Target& target);

/// A kernel's launch beside XLA's, whose grid is counted over all its dimensions. same_warps: as many blocks of as many
/// warps, but XLA's last warp has fewer threads.
enum class SameLaunch : std::uint8_t { equal, same_warps, differs };
SameLaunch compare_launch(const ir::Kernel& kernel, const costmodel::xla::Launch& launch, const ir::Limits& limits);

/// Iterations of a loop that XLA unrolls together: the most that divide it while the body stays below a size
/// (optimize_loops.cc). The body's size is an estimate from what is computed and read for one vector; it agrees with
/// the unrolling of the column and row reductions whose PTX was looked at.
std::int64_t xla_unrolled(std::int64_t trips, std::int64_t operations, std::int64_t reads, std::int64_t vector);

}  // namespace tailor::explore
