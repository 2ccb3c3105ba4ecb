// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check of XLA's kernels, checked: of single instructions that are changed in the kernels that ship, nearly all
// that change a result or break a rule are seen. Part of the suite `profiler`; mutation_slow_test.cpp does the same on
// the reference folders.
#include <doctest/doctest.h>

#include "profiler/xla/mutation.h"
#include "profiler/xla/shipped.h"

using namespace tailor::profiler;

TEST_CASE("a kernel that ships with one instruction changed is told from a right one") {
  const XlaModule module = shipped_module();
  mutation::Score score;
  for (const XlaKernel& kernel : module.kernels) mutation::try_mutants(score, module, kernel, 12, 1'000'000, 7);
  MESSAGE(mutation::text(score));
  CHECK(score.kernels == std::ssize(module.kernels));
  CHECK(score.mutants >= 80);
  CHECK(score.share() >= 0.95);
}
