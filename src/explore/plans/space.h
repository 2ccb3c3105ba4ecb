// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The axes of the plan space of one group and their values: which are asked about by default, and what --axis and sweep
// files put in their place. In: a prepared group, limits, restrictions. Out: axes, which walk.h goes over. Called by
// study, and by tests of whole spaces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/indexed.h"
#include "codegen/lower/prepare.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::explore {

/// The values each axis may take, as numbers (ir::value). Axes are the fields of plan_fields.def that turn.
struct Axes {
  std::array<std::vector<int>, ir::plan_field_count> values;
  bool names_dominants = false;  ///< somebody said which: no loop is asked about with others
  std::vector<int>& operator[](ir::PlanField field) { return row_for(values, field); }
  const std::vector<int>& operator[](ir::PlanField field) const { return row_for(values, field); }
};

/// A restriction of one axis from a sweep file: `axis` as in the plan's text, values as in the plan's text.
struct AxisLimit {
  std::string axis;
  std::vector<std::string> values;
};

/// All values worth asking about on this device: powers of two up to what a block may have, vectors up to 16 bytes of
/// the narrowest type. The caches are on; a limit may open them. None of a pack, whose bodies have each their own
/// (packs.h).
Axes default_axes(const codegen::Prepared& prepared, const ir::Limits& limits);

/// The same axes for another skeleton of the group: one of its structures (codegen/lower/prepare.h). Dominant nodes
/// that nobody has chosen are its own.
Axes axes_of_structure(const codegen::Prepared& prepared, const codegen::Prepared& structure, const Axes& axes,
                       const ir::Limits& limits);

/// Which values default_axes() has for an axis, and which others a plan may name, in words.
std::string_view values_asked(ir::PlanField axis);

/// Replaces the values of one axis. Throws Error(usage) for an unknown axis or a value that does not read.
void restrict_axis(Axes& axes, const AxisLimit& limit);

/// Whether the axis may change a plan of the group: a skeleton that it has plans of has the axis, or one of its bodies
/// does. What waits between stages is no axis, nor is where values wait that nothing needs again.
bool has_axis(const codegen::Prepared& prepared, ir::PlanField axis);

/// The axes of plans, of one skeleton or of all, slowest first: the order of enumeration.
std::vector<ir::PlanField> axes_of(std::optional<ir::Skeleton> skeleton = std::nullopt);

/// Values of the axis homes without those that name the same list as one before.
std::vector<int> different_homes(const codegen::Prepared& prepared, const std::vector<int>& words);

}  // namespace tailor::explore
