// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The same plan for a group with fewer rows: a kernel of the same statements, threads and accesses, of a few blocks
// instead of thousands, so that executing it exercises the same code in a fraction of the time. The last block stays
// ragged when it is. It is another kernel (sizes are in its text), so what is learnt of it is said to be of a part.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "ir/device.h"
#include "ir/fusion.h"
#include "ir/kernel/kernel.h"
#include "ir/plan.h"

namespace tailor::profiler {

struct SmallShape {
  ir::Group group;
  ir::Kernel kernel;
  std::int64_t kept = 0, of = 0;  ///< of so many rows, columns or elements

  /// "64 of 4,096 rows".
  std::string text() const;
  ir::WorkUnit unit = ir::WorkUnit::rows;
};

/// A first, a last and some between.
inline constexpr std::int64_t enough_blocks = 4;
/// Blocks that the smaller kernel has at least; the whole of one that has no more is small already.
inline std::int64_t blocks_of_small(const ir::Kernel& whole) {
  return std::min<std::int64_t>(whole.virtual_blocks, whole.persistent ? 2 * whole.grid + 1 : enough_blocks);
}

/// What to execute in the place of `whole`, which is `plan` lowered for `group`; or, in words, why the group has to be
/// executed as it is.
std::variant<SmallShape, std::string> small_shape(const ir::Group& group, const ir::Plan& plan, const ir::Kernel& whole,
                                                  const ir::Limits& limits);

/// The same plan at a shape that divides by as little as possible: an odd number of steps of the outer dimension whose
/// rows fill no last block, fewer than the group's own. Its kernel may have guards that the whole's does not need. Or,
/// in words, why there is none.
std::variant<SmallShape, std::string> odd_shape(const ir::Group& group, const ir::Plan& plan, const ir::Kernel& whole,
                                                const ir::Limits& limits);

}  // namespace tailor::profiler
