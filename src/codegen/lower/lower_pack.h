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
/// Why a body under this plan cannot be one of a launch's, whatever the others are: rule `bodies`. Of stages whatever
/// the launch has once, of a pack another launch behind it.
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
/// What a launch has once for all of its bodies.
struct SharedLaunch {
  int cluster = 1;     ///< blocks of each cluster: those of the bodies that have any
  int min_blocks = 0;  ///< that an SM must hold at once: what any body asks for; where some meet, its share of all
  bool meets = false;  ///< blocks of some body wait for one another, so those of all bodies are resident
};
SharedLaunch launch_of(std::span<const ir::Kernel* const> bodies, const ir::Limits& limits);
/// Blocks that a body has in it: whole clusters, of which the last blocks may have nothing to do.
std::int64_t blocks_in(const SharedLaunch& launch, const ir::Kernel& body);
/// Why no launch holds these bodies together: clusters of two sizes, clusters beside blocks that meet, more blocks than
/// are resident or than a grid has.
std::optional<ir::Rejection> refuse_together(std::span<const ir::Kernel* const> bodies, const ir::Limits& limits);
/// Why the values that this body keeps leave no room for so many blocks on an SM; nothing where they do.
std::optional<ir::Rejection> refuse_kept(const Prepared& pack, const ir::Plan& own, std::size_t number, int min_blocks,
                                         const ir::Limits& limits, LowerScratch& scratch);
/// The launch of all bodies, in the order of the pack. Precondition: none is refused, nor all together; all have equal
/// threads.
ir::Kernel beside_one_another(const Prepared& pack, std::vector<ir::Kernel> bodies, const ir::Limits& limits);

Lowered lower_pack(const Prepared& pack, const ir::Plan& plan, const ir::Limits& limits, LowerScratch& scratch);

}  // namespace tailor::codegen
