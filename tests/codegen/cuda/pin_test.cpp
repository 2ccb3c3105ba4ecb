// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowered kernels compile without a word, and their machine code holds exactly the memory instructions, shuffles and
// barriers of their statements: a thinned sweep. The slow suite has the whole one. Part of the suite `codegen`;
// skipped without NVRTC.
#include <doctest/doctest.h>

#include "codegen/cuda/pin_checks.h"
#include "support/thorough.h"

TEST_CASE("lowered kernels of the family compile silently and keep their pins") {
  const tailor::profiler::Nvrtc* nvrtc = nvrtc_or_skip();
  if (nvrtc == nullptr) return;
  SweepFigures figures;
  // A quick run has a share of the members, as the compiler takes nearly all of the time.
  const int one_in = tailor::testing::effort(5, 1, 1);
  int number = 0;
  for (const tailor::ir::Sized& which : tailor::ir::small_sizes())
    if (number++ % one_in == 0) check_pin(*nvrtc, which, "sm_90", 1, figures);
  for (const tailor::ir::Sized& which : tailor::ir::model_sizes())
    if (number++ % one_in == 0) check_pin(*nvrtc, which, "sm_80", 1, figures);
  CHECK(figures.kernels > tailor::testing::effort(5, 20, 20));
}
