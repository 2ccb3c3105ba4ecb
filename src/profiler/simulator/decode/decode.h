// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The decoder's front: a PTX entry goes in, a DecodedProgram comes out, which the machine runs as often as it likes.
// Called by machine/program.cpp, the constructor of Program. How decoding proceeds is told in decoder.h. It keeps
// nothing between calls, so several threads may decode at once.
#pragma once

#include "profiler/simulator/decode/opcode.h"
#include "profiler/simulator/decode/program.h"
#include "profiler/simulator/decode/steps.h"
#include "profiler/simulator/ptx/ptx.h"

namespace tailor::simulator {

/// Decodes an entry of a module, of which the program keeps a copy. When an instruction is not known the program is
/// still made and says so in `unsupported`. Throws Error(failed) with the PTX line for what no assembler accepts
/// (operand counts and kinds), and for an entry without a body. `lanes` and `steps` must outlive the program.
DecodedProgram decode(const PtxModule& module, const PtxFunction& entry, const LaneTable& lanes,
                      const MachineSteps& steps);

}  // namespace tailor::simulator
