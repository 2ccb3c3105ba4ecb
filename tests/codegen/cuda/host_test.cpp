// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the printed text of lowered kernels computes, executed on the host and compared with the reference evaluator.
// Inputs are all members of the group family at small odd sizes, each under a few plans that cover the axes pairwise.
// Part of the suite `codegen`; needs a host compiler, neither NVRTC nor a GPU.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codegen/cuda/host_run.h"
#include "codegen/cuda/sampled.h"
#include "support/group_family.h"

using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

/// A made-up GPU: persistent grids and dynamic shared memory are met by small shapes.
constexpr Limits small_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 1024, 15360, 0, 128};

std::vector<HostCase> family_cases(int plans) {
  std::vector<HostCase> cases;
  for (const Sized& which : small_sizes()) {
    const Group group = make_group(family_member(which.member), which.rows, which.columns);
    const auto prepared = prepare(group);
    for (Sampled& sample : sampled_plans(std::get<Prepared>(prepared), small_limits, plans, 11)) {
      if (sample.kernel.cooperative) continue;  // on the host blocks run one after the other
      HostCase one{fmt::format("{} {}x{} {}", which.member, which.rows, which.columns, text(sample.plan)),
                   std::move(sample.kernel),
                   {},
                   {}};
      fill_expected(group.graph, one);
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("printed kernels of the family compute on the host what the evaluator computes") {
  std::vector<HostCase> cases = family_cases(TAILOR_WHOLE_SWEEP ? 24 : 2);
  CHECK(cases.size() > 20);
  for (const std::string& failure : host_failures(std::move(cases))) FAIL_CHECK(failure);
}
