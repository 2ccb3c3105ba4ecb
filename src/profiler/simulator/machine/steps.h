// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine's side of decode/steps.h: the tables of steps, each defined at the end of the file that implements its
// family. In: nothing. Out: `machine_steps`, which Program (program.cpp) hands to the decoder. All of it is constant
// data: a micro-operation calls its step through the one pointer that it holds.
#pragma once

#include "profiler/simulator/decode/steps.h"

namespace tailor::simulator {

extern const AddressSteps address_steps;  ///< address_steps.cpp
extern const WarpSteps warp_steps;        ///< warp_steps.cpp
extern const AsyncSteps async_steps;      ///< async_steps.cpp
extern const MatrixSteps matrix_steps;    ///< matrix_steps.cpp
/// atomic_steps.cpp; see MachineSteps::atomic.
Step find_atomic_step(std::string_view operation, std::string_view type, int vector);

extern const MachineSteps machine_steps;  ///< all of them; program.cpp

}  // namespace tailor::simulator
