// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole sweep of the pin: every member, small odd sizes and those of models, plans that cover the axes pairwise,
// on several architectures. The oracle is pinned.h: counts of the statements against counts of the PTX. A program of
// the slow suite; skipped without NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codegen/cuda/pin_checks.h"

using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

void report(const SweepFigures& f) {
  MESSAGE(
      fmt::format("{} kernels: {} spill, {} have a stack, {} dynamic shared, {} persistent, {} with 64-bit indices; "
                  "{:.1f} ms in the compiler and {:.3f} ms of printing per kernel",
                  f.kernels, f.spilling, f.with_stack, f.dynamic_shared, f.persistent, f.wide_index,
                  1e3 * f.compiler_seconds / f.kernels, 1e3 * f.printer_seconds / f.kernels));
}

void sweep(const std::vector<Sized>& sizes, const char* arch, int count) {
  const tailor::profiler::Nvrtc* nvrtc = nvrtc_or_skip();
  if (nvrtc == nullptr) return;
  SweepFigures figures;
  for (const Sized& which : sizes) check_pin(*nvrtc, which, arch, count, figures);
  report(figures);
  CHECK(figures.kernels > 10);
}

}  // namespace

TEST_CASE("small odd sizes keep their pins on sm_90") { sweep(small_sizes(), "sm_90", 24); }
TEST_CASE("sizes of models keep their pins on sm_90") { sweep(model_sizes(), "sm_90", 24); }
TEST_CASE("sizes of models keep their pins on sm_80") { sweep(model_sizes(), "sm_80", 8); }
TEST_CASE("small odd sizes keep their pins on sm_75") { sweep(small_sizes(), "sm_75", 3); }
TEST_CASE("small odd sizes keep their pins on sm_120") { sweep(small_sizes(), "sm_120", 3); }
