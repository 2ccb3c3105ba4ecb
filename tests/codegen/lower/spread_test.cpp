// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How often memory is asked for what lies close together but not in order: colours of pixels, sides of boxes. A plan
// of members of the family is interpreted with each length of vectors, and the requests of its input are counted. What
// they compute is held against the evaluator with the whole family (lower_oracle_test.cpp). Part of the suite
// `codegen`.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "codegen/lower/lower.h"
#include "support/group_family.h"
#include "support/interpret.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits roomy_limits{90, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

/// Requests of a warp for its input, for each of the elements that a lane makes.
double requests_for_each(std::string_view member, std::int64_t rows, std::int64_t columns, int vector) {
  const Group group = make_group(family_member(member), rows, columns);
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  Plan plan;
  plan.skeleton = Skeleton::map;
  plan.dominant = prepared.dominants.front();
  plan.threads = 64;
  plan.vector = vector;
  plan.unroll = 1;
  codegen::LowerScratch scratch;
  const Kernel kernel = std::get<Kernel>(codegen::lower(prepared, plan, roomy_limits, scratch));
  std::vector<std::vector<std::byte>> buffers;
  for (const Buffer& buffer : kernel.buffers)
    buffers.emplace_back(static_cast<std::size_t>(buffer.elements * element_bytes(buffer.dtype)));
  const KernelRun run = interpret(kernel, std::move(buffers));
  REQUIRE(run.violations.empty());
  return static_cast<double>(run.counts.buffers[0][0].requests) / (static_cast<double>(rows * columns) / 32);
}

}  // namespace

TEST_CASE("colours of pixels and sides of boxes are asked for together, as far as accesses of 16 bytes go") {
  // Single elements are asked for one by one; of vectors 3 colours are 3 accesses for 4 pixels, 4 sides one for a box.
  CHECK(requests_for_each("colours", 8, 64, 1) == 3);
  CHECK(requests_for_each("colours", 8, 64, 4) == 0.75);
  CHECK(requests_for_each("four_sides", 8, 64, 1) == 4);
  CHECK(requests_for_each("four_sides", 8, 64, 2) == 1);
  CHECK(requests_for_each("four_sides", 8, 64, 4) == 1);
}
