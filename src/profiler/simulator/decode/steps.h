// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps that a decoded program calls and that only a machine can carry out: they touch memory other than by plain
// loads and stores, other lanes, other warps, or the launch. The decoder needs their addresses, because a
// micro-operation holds a pointer to its step; what they do is defined in machine/*_steps.cpp. So decode declares these
// tables, machine fills them (machine/steps.h), and whoever decodes a program hands them over.
//
// In: nothing. Out: one record of function pointers per family, and the bits of Micro::extra that decoder and step
// agree on. Each step is one function for full and partial warps: it looks at Warp::active.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/simulator/lanes/micro.h"

namespace tailor::simulator {

/// Guards, special registers that change, addresses.
struct AddressSteps {
  /// Runs `extra` micro-operations of the guarded list from `list` in the lanes whose predicate `a` is set
  /// (`immediate`: is not set).
  Step guard = nullptr;
  /// d <- clock or timer `extra` (SpecialRegister::index), `immediate` bits wide.
  Step live_special = nullptr;
  /// d <- generic address of a (`extra`: AccessSpace), and back; 64 or 32 bits by `immediate`.
  Step to_generic = nullptr, from_generic = nullptr;
  /// d (predicate) <- whether generic address a is in space `extra`.
  Step is_space = nullptr;
  /// d <- a's counterpart in the block of rank b; rank_of (getctarank): d <- rank of a. `immediate`: bits; `extra` 1:
  /// generic.
  Step map_rank = nullptr, rank_of = nullptr;
  /// Orders memory accesses; `extra`: 0 block scope, 1 wider.
  Step fence = nullptr;
  /// vprintf. a, b: addresses, of 64 bits, of its two parameters in local memory: where the format lies and where its
  /// values do.
  Step print = nullptr;
};

/// Warp operations, run by Ending::warp. a: source; b, c: as in PTX; list[0]: the mask's slot, list[1]: the predicate
/// result or no_slot. The functions give nullptr for a form that is not known.
struct WarpSteps {
  Step (*shuffle)(std::string_view mode) = nullptr;
  Step (*vote)(std::string_view mode) = nullptr;
  Step (*match)(std::string_view mode, int bits) = nullptr;
  Step (*redux)(std::string_view operation, std::string_view type) = nullptr;
  Step active_mask = nullptr;
  Step elect = nullptr;
  Step nothing = nullptr;  ///< bar.warp.sync: the waiting is the operation
};

/// Asynchronous copies and mbarriers; operands as decode_async.cpp lays them out.
struct AsyncSteps {
  Step copy = nullptr;          ///< cp.async
  Step bulk_copy = nullptr;     ///< extra: bulk_* bits
  Step commit_group = nullptr;  ///< extra: 1 bulk
  Step wait_group = nullptr;  ///< immediate: groups that may be open, -1: none and what is not committed; extra: 1 bulk
  Step proxy_fence = nullptr;
  Step mbarrier_init = nullptr, mbarrier_invalidate = nullptr;
  Step mbarrier_arrive = nullptr;  ///< also expect_tx, complete_tx, and the arrival of cp.async; extra: arrive_* bits
  Step mbarrier_wait = nullptr;    ///< test_wait and try_wait; extra: wait_* bits
  Step mbarrier_pending = nullptr;
};

/// Micro::extra of AsyncSteps::bulk_copy.
inline constexpr std::uint32_t bulk_to_shared_bit = 1, bulk_from_shared_bit = 2, bulk_multicast_bit = 4;
/// Micro::extra of AsyncSteps::mbarrier_arrive.
inline constexpr std::uint32_t arrive_counts = 1, arrive_drops = 2, arrive_expects = 4, arrive_completes = 8,
                               arrive_copies = 16, arrive_no_increment = 32, arrive_wide = 64, arrive_releases = 128,
                               arrive_of_block = 256;
/// Micro::extra of AsyncSteps::mbarrier_wait.
inline constexpr std::uint32_t wait_parity = 1, wait_wide = 2, wait_acquires = 4, wait_of_block = 8;

/// Matrix instructions of one warp (decode/matrix.h says how the elements are spread over its lanes).
struct MatrixSteps {
  /// Micro::immediate is the MatrixForm's 8 bytes; the list: mask, D, A, B, C.
  Step multiply = nullptr;
  /// 8x8 tiles of 16-bit elements. a: row addresses, `immediate` added; `extra`: access bits, with access_transposed;
  /// the list: mask, one word per tile.
  Step load_tiles = nullptr, store_tiles = nullptr;
  /// list: mask, d, a: one tile in registers, transposed.
  Step transpose_tile = nullptr;
};

/// All that a program may call of a machine. Every member must be set; the tables live as long as the programs.
struct MachineSteps {
  const AddressSteps& address;
  const WarpSteps& warp;
  const AsyncSteps& async;
  const MatrixSteps& matrix;
  /// atom and red. d: old value or no_slot; a: address; b: operand (cas: what to compare with); c: cas: the new value.
  /// With a list: vector operands, results first when there are any. nullptr: not known.
  Step (*atomic)(std::string_view operation, std::string_view type, int vector);
};

}  // namespace tailor::simulator
