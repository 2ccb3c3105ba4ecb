// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The pin for a family member at one size: printed, compiled, counted. Used by the quick test on a few plans and by
// the slow one on many. Comes in: a member, a size, an architecture and a number of plans; goes out: one doctest check
// per kernel, and figures of what was met.
#pragma once

#include <cstdint>

#include "codegen/cuda/sampled.h"
#include "profiler/compile/nvrtc.h"

/// What a sweep saw.
struct SweepFigures {
  int kernels = 0, spilling = 0, with_stack = 0, dynamic_shared = 0, persistent = 0, wide_index = 0;
  double compiler_seconds = 0, printer_seconds = 0;
};

/// The machine's NVRTC; marks the test case as skipped when there is none.
const tailor::profiler::Nvrtc* nvrtc_or_skip();

/// Compiles `count` plans of the member for `arch`, one doctest check per kernel.
void check_pin(const tailor::profiler::Nvrtc& nvrtc, const tailor::ir::Sized& which, const char* arch, int count,
               SweepFigures& figures);
