// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stages one behind the other, as one launch. In: a prepared group that was cut into stages; plans, or kernels, of
// them. Out: a launch whose blocks run all stages and meet between them, or what is refused. Called by lower(), and by
// the search, which lowers each stage once and puts those together that go together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codegen/lower/lower.h"

namespace tailor::codegen {

/// The homes that a plan of these stages has: what waits between them, in global memory.
std::vector<ir::Home> homes_between(const Prepared& stages);

/// Why an SM has no room for so many blocks that wait for one another, as far as their threads say.
std::optional<ir::Rejection> refuse_meeting(int blocks_per_sm, int threads, const ir::Limits& limits);
/// The same with their shared memory: of these stages.
std::optional<ir::Rejection> refuse_residents(std::span<const ir::Kernel* const> stages, int blocks_per_sm,
                                              const ir::Limits& limits);
/// The launch of all stages, in the order of the group, with so many blocks on each SM. Precondition: none of them is
/// refused, all have equal threads.
ir::Kernel behind_one_another(const Prepared& whole, std::vector<ir::Kernel> stages, int blocks_per_sm,
                              const ir::Limits& limits);
/// All blocks of a launch of `threads` meet: the kernel between two stages, whose ticket is buffer number `ticket`.
ir::Kernel meeting_of(std::int64_t blocks, int threads, ir::BufferId ticket);

Lowered lower_stages(const Prepared& whole, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch);

}  // namespace tailor::codegen
