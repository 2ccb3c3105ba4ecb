// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plans that tests of whole spaces go over: on a made-up GPU, with values that the search does not ask about. In: a
// prepared group. Out: axes of one loop, or plans of bodies put together, as many as a thinning leaves. Called by
// every_plan.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/lower/prepare.h"
#include "explore/every_plan.h"
#include "explore/plans/space.h"
#include "ir/device.h"

namespace tailor::explore {

/// A made-up GPU, small enough that persistent grids and shared-memory limits are met by small shapes.
inline constexpr ir::Limits small_limits{90,  2, 32, 256,   512,  4,     65536, 65536, 255,
                                         256, 4, 4,  16384, 8192, 15360, 0,     128,   8};

/// More values than the search asks about.
Axes wide_axes(const codegen::Prepared& prepared);

/// Whether the plan of this number is among those that a thinning leaves.
bool is_taken(std::uint64_t number, Thinning thinning);

/// Plans of a pack or of stages in which each plan of each body that is taken stands with some of the others.
std::vector<ir::Plan> plans_of_bodies(const codegen::Prepared& whole, Thinning thinning);

}  // namespace tailor::explore
