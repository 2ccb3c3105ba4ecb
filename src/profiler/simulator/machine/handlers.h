// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps that are the same for every instruction set, because they touch memory other than by plain loads and stores,
// other lanes or the machine. Each is one function for full and partial warps: it looks at Warp::active.
#pragma once

#include <string_view>

#include "profiler/simulator/decode/opcode.h"
#include "profiler/simulator/lanes/micro.h"

namespace tailor::simulator {

/// Runs `extra` micro-operations of the guarded list from `list` in the lanes whose predicate `a` is set (`immediate`:
/// is not set).
Step guard_step();
/// d <- clock or timer `extra` (SpecialRegister::index), `immediate` bits wide.
Step live_special_step();

/// atom and red. d: old value or no_slot; a: address; b: operand (cas: what to compare with); c: cas: the new value.
/// With a list: vector operands, results first when there are any. nullptr: not known.
Step atomic_step(std::string_view operation, std::string_view type, int vector);

/// Warp operations, run by Ending::warp. a: source; b, c: as in PTX; list[0]: the mask's slot, list[1]: the predicate
/// result or no_slot.
Step shuffle_step(std::string_view mode);
Step vote_step(std::string_view mode);
Step match_step(std::string_view mode, int bits);
Step redux_step(std::string_view operation, std::string_view type);
Step active_mask_step();
Step elect_step();
Step nothing_step();  ///< bar.warp.sync: the waiting is the operation

/// d <- generic address of a (`extra`: AccessSpace), and back; 64 or 32 bits by `immediate`.
Step to_generic_step();
Step from_generic_step();
/// d (predicate) <- whether generic address a is in space `extra`.
Step is_space_step();
/// d <- a's counterpart in the block of rank b; getctarank: d <- rank of a. `immediate`: bits; `extra` 1: generic.
Step map_rank_step();
Step rank_of_step();
/// Orders memory accesses; `extra`: 0 block scope, 1 wider.
Step fence_step();

}  // namespace tailor::simulator
