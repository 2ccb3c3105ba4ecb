// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What threads of a block hold of sums across rows, and where they leave it. In: a row pass, a sum and how it folds a
// row. Out: registers, and statements that store a block's parts: one slot behind the other, each with all results of
// one set of rows. Called by lower_across.cpp.
#pragma once

#include "codegen/lower/lower_phases.h"

namespace tailor::codegen {

/// What a lane holds of a sum: `trips` times an element, or a vector of them. Trip t of the row adds to number
/// t / each % trips.
struct Held {
  std::int64_t trips = 1, each = 1;
  bool by_element = false;
};
Held held_of(const Folding& columns, const Mapping& mapping);
/// The type that the sum is added up in.
ir::DType type_of(const Prepared& prepared, ir::NodeId sum);
/// What a lane adds up, of the trip at hand.
ir::Ref register_of(const Pass& pass, const Pass::Across& across);

/// Whether each result of the sum is with one lane of the block: it has one row at a time, and lanes have its columns.
bool is_dealt_out(const Pass& pass, const Pass::Across& across);
/// Then each lane's columns go behind place `first` of the memory, in the order of columns.
void store_columns(Pass& pass, const Pass::Across& across, ir::Space space, std::uint16_t memory, ir::ExprId first);
/// Parts that a block's threads leave of each result: one for each row that it has at once, or for each warp, or for
/// each lane of these that has one.
std::int64_t slots_of(const Pass& pass, const Pass::Across& across);
/// Leaves them in shared memory, in a new array.
ir::ArrayId store_slots(Pass& pass, const Pass::Across& across);

}  // namespace tailor::codegen
