// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Dominants whose loops go over memory in the same order. A loop that reduces nothing takes its order from an array;
// two arrays of one group may differ in their dimensions alone (a result and its reshape, a matrix and the transposed
// view of it), and then their plans are the same kernels under two names. In: a prepared group and one of its
// dominants. Out: the one that stands for its order. Called by space.cpp, whose axis asks about each order once, by
// packs.cpp, where bodies have axes, and by xla_style.cpp.
#pragma once

#include <vector>

#include "codegen/lower/prepare.h"

namespace tailor::explore {

/// The first dominant of the loop with the elements in the same order in memory as `dominant`, which may be itself. Of
/// loops that reduce, whose dominants say more than an order, always itself. O(dominants x edges).
ir::NodeId first_of_order(const codegen::Prepared& prepared, ir::NodeId dominant);

/// Those of the loop's dominants that are the first of their order, as they come.
std::vector<ir::NodeId> different_orders(const codegen::Prepared& prepared);

}  // namespace tailor::explore
