// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants read where they stand. In: a program whose frame slots still hold numbers of virtual registers. Out: the
// same program without copies of constants into registers. Called by decode.cpp between the order of blocks and the
// slots.
#pragma once

#include <cstddef>

#include "profiler/simulator/decode/program.h"

namespace tailor::simulator {

/// Removes copies of constants into registers that have no other definition. `registers`: how many virtual ones.
void forward_constants(DecodedProgram& program, std::size_t registers);

}  // namespace tailor::simulator
