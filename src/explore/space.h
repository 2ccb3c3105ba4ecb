// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan space of one group: axes with values, and lazy enumeration of their product. A plan is made only when asked
// for, and combinations that mean nothing (more threads per row than threads) are never made. What is made still passes
// the rules (rules.h) and then the lowering.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/lower/prepare.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::explore {

/// The values each axis may take. Plans are enumerated with the last axis fastest.
struct Axes {
  std::vector<ir::NodeId> dominant;
  std::vector<int> threads;
  std::vector<int> threads_per_row;  ///< row only
  std::vector<int> vector;
  std::vector<int> in_flight;
  std::vector<ir::Residence> residence;  ///< row only
  std::vector<ir::GridShape> grid;
  std::vector<bool> index_cache;
  std::vector<bool> value_cache;
};

/// A restriction of one axis from a sweep file: `axis` as in the plan's text, values as in the plan's text.
struct AxisLimit {
  std::string axis;
  std::vector<std::string> values;
};

/// All values worth asking about on this device: powers of two up to what a block may have, vectors up to 16 bytes of
/// the narrowest type. The caches are on; a limit may open them.
Axes default_axes(const codegen::Prepared& prepared, const ir::Limits& limits);

/// Replaces the values of one axis. Throws Error(usage) for an unknown axis or a value that does not read.
void restrict_axis(Axes& axes, const AxisLimit& limit);

/// Names that restrict_axis knows.
std::vector<std::string_view> axis_names();

/// Walks the product. Copyable: a copy is a bookmark.
class Plans {
 public:
  /// Both must outlive the walk.
  Plans(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits);

  /// The next plan, or nothing at the end.
  std::optional<ir::Plan> next();
  /// Plans in the whole product, meaningless combinations included.
  std::int64_t size() const;

 private:
  ir::Plan at_cursor() const;
  bool advance();

  const codegen::Prepared* prepared_;
  const Axes* axes_;
  const ir::Limits* limits_;
  std::vector<std::size_t> sizes_, cursor_;
  bool done_ = false;
};

}  // namespace tailor::explore
