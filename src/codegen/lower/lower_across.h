// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums across the rows of a row kernel. In: a row pass with its loops, sums of its phases (Phase::across). Out:
// statements that add up while rows go by, and the kernel's end, where blocks put their parts together and late outputs
// are stored. Called by lower_phases.cpp alone; lower_across.cpp tells the method.
#pragma once

#include "codegen/lower/lower_phases.h"

namespace tailor::codegen {

/// Why a plan cannot add up across rows.
std::optional<ir::Rejection> refuse_across(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                                           const Mapping& mapping);
/// Registers of one thread that add up, bytes.
std::int64_t across_bytes(const Prepared& prepared, const Mapping& mapping, ir::NodeId sum);
/// How many blocks there are, and the families that they meet in: as near to equal in number and size as their count
/// allows.
void deal_families(Pass& pass);
/// Declares what adds up, and opens the loop over the block's tiles where it has several.
void begin_across(Pass& pass);
/// Adds the value, which is what the sum goes over at the row and column at hand.
void add_across(Pass& pass, ir::NodeId sum, const Entry& value);
/// Closes the loop; then threads, blocks and families put their parts together and late outputs are stored.
void end_across(Pass& pass);

}  // namespace tailor::codegen
