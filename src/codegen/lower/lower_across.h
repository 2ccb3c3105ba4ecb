// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums across the rows of a row kernel. In: a row pass with its loops, sums of its phases (Phase::across). Out:
// statements that add up while rows go by, and the kernel's end, where blocks put their parts together and late outputs
// are stored. Called by lower_row.cpp alone; lower_across.cpp tells the method.
#pragma once

#include "codegen/lower/lower_row.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

/// Why a plan cannot add up across rows.
std::optional<ir::Rejection> refuse_across(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                                           const Tiling& tiling);
/// Registers of one thread that add up, bytes.
std::int64_t across_bytes(const Prepared& prepared, const ir::Plan& plan, ir::NodeId sum);
/// Declares what adds up, and opens the loop over the block's tiles where it has several.
void begin_across(RowPass& pass);
/// Adds the value, which is what the sum goes over at the row and column at hand.
void add_across(RowPass& pass, ir::NodeId sum, const Entry& value);
/// Closes the loop; then threads, blocks and families put their parts together and late outputs are stored.
void end_across(RowPass& pass);

}  // namespace tailor::codegen
