// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies side by side, as one launch. In: a prepared pack; plans, or kernels, of its bodies. Out: a launch that has all
// of them, or the body that is refused. Called by lower(), and by the search, which lowers each body once and joins
// those that go together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/lower/lower.h"

namespace tailor::codegen {

// ---- of packs and of stages

/// The plan of a body in the numbers of its own group; rule `bodies` where the plan says otherwise than the whole, or
/// names a node that is not its own. Precondition: the plan has so many bodies.
std::variant<ir::Plan, ir::Rejection> plan_of_body(const Prepared& whole, const ir::Plan& plan, std::size_t number);
/// The reverse: as it stands in the plan of the whole.
ir::Plan plan_in_whole(const Body& body, ir::Plan own);
/// What is said of a body, with its nodes numbered as in the whole.
std::string in_numbers_of_whole(std::string_view words, const Body& body);
/// Why a body under this plan can neither stand beside others nor be a stage: rule `bodies`.
std::optional<ir::Rejection> refuse_beside(const Prepared& whole, const ir::Plan& own, std::size_t number);
/// The body under a plan in its own numbers; a refusal says which body and names nodes as the whole does.
Lowered lower_body(const Prepared& whole, const ir::Plan& own, std::size_t number, const ir::Limits& limits,
                   LowerScratch& scratch);
/// Where each buffer of each body stands among the launch's: inputs, results and what waits where the group has them,
/// then what each body has beside.
std::vector<std::vector<ir::BufferId>> buffers_in_whole(const Prepared& whole,
                                                        std::span<const ir::Kernel* const> bodies);
/// Gives all bodies, and the kernels beside them, the buffers of the launch.
void join_buffers(const Prepared& whole, std::vector<ir::Kernel>& bodies);

// ---- of packs

/// "body", or of stages "stage".
std::string_view body_word(ir::Skeleton whole);
/// "body 2", or of stages "stage 2": what messages call body number 1.
std::string body_words(ir::Skeleton whole, std::size_t number);
/// The launch of all bodies, in the order of the pack. Precondition: none is refused, all have equal threads.
ir::Kernel beside_one_another(const Prepared& pack, std::vector<ir::Kernel> bodies);

Lowered lower_pack(const Prepared& pack, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch);

}  // namespace tailor::codegen
