// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The last step of decoding: registers get their places in a warp's frame. In: a program whose frame slots hold numbers
// of virtual registers, and each register's width. Out: the same program with byte offsets, and how large a frame is.
// Called by decode.cpp; the method is told in slots.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/simulator/decode/program.h"

namespace tailor::simulator {

/// Replaces virtual registers by slots in micros, ops, lists and predicates; sets frame_bytes and entry_slots.
/// `register_slot_bits`: by virtual register, 1, 32 or 64.
void give_slots(DecodedProgram& program, const std::vector<std::uint8_t>& register_slot_bits);

}  // namespace tailor::simulator
