// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A loop over the pieces of a concatenation as people see it: the CUDA text of a rotary embedding is golden. Its halves
// of a row, the cosine and the sine are loaded once, four neighbours together, and each half of the result is
// stored into its window. Scatters likewise, with the launch before each, and columns in bundles, whose sums go through
// shared memory. Part of the suite `codegen`.
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "ir/device.h"
#include "support/golden.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;

namespace {

/// The CUDA text of a plan on an H200.
std::string printed(const codegen::Prepared& prepared, const ir::Plan& plan) {
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered =
      codegen::lower(prepared, plan, ir::limits(ir::find_device("h200", source_folder() + "/data/devices")), scratch);
  if (const auto* refused = std::get_if<ir::Rejection>(&lowered)) FAIL(refused->reason);
  return codegen::cuda(std::get<ir::Kernel>(lowered), &plan);
}

}  // namespace

TEST_CASE("a kernel over pieces prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("rope"), 1024, 32);
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  REQUIRE(prepared.in_pieces != nullptr);
  ir::Plan plan = ir::parse_plan("map threads=128 vector=4 unroll=2 grid=tile");
  plan.dominant = prepared.in_pieces->dominants.front();
  check_golden("pieces.cu", printed(prepared, plan));
}

TEST_CASE("a quotient of a name is no place beside it") {
  // What the first stage leaves is read by pad and broadcast: 104 pairs of elements, 52 of each of its two numbers.
  const ir::Group group = ir::make_group({"padded", R"(graph padded {
  %x = parameter 0 : s32[2,2,17]
  %z = constant 0 : s32[]
  %s = reduce add %x, %z, axes={0,1,2} : s32[]
  %sb = broadcast %s : s32[2,2,17]
  %d = subtract %x, %sb : s32[2,2,17]
  %m = reduce max %x, %z, axes={1,2} : s32[2]
  %mb = broadcast %m, axes={0} : s32[2,2,17]
  %part = slice %d, ranges={0:2:1, 0:1:1, 4:13:1} : s32[2,1,9]
  %one = constant 1 : s32[]
  %p = pad %mb, %one, ranges={0:0:0, 1:3:2, -3:-1:0} : s32[2,8,13]
  %all = reduce add %p, %z, axes={0,1,2} : s32[]
  output %part, %all
})"},
                                         1, 1);
  const auto ready = codegen::prepare(group);
  const ir::Plan plan = ir::parse_plan(
      "stages threads=128 homes=%2@grid,%5@grid grid=persistent blocks_per_sm=1 || row dominant=%5 threads_per_row=8 "
      "vector=4 in_flight=1 split=1 || row dominant=%10 threads_per_row=128 vector=2 in_flight=1 split=1");
  const std::string text = printed(std::get<codegen::Prepared>(ready), plan);
  CHECK(text.find("m[i_1 / 52]") != std::string::npos);
  CHECK(text.find("m_at") == std::string::npos);
}

TEST_CASE("columns in bundles print as their golden text") {
  const ir::Group group = ir::make_group(ir::family_member("group_norm"), 40, 1024);
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  REQUIRE(prepared.in_bundles != nullptr);
  ir::Plan plan = ir::parse_plan("column threads=320 threads_per_row=20 vector=8 in_flight=4 split=8 meet=grid");
  plan.dominant = prepared.in_bundles->dominants.front();
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  check_golden("column_bundles.cu", printed(prepared, plan));
}

TEST_CASE("a scatter prints as its golden text: the launch before it, vectors of updates, what goes by exchange") {
  for (const std::string_view member : {"scatter_rows", "scatter_max", "scatter_set"}) {
    const ir::Group group = ir::make_group(ir::family_member(member), 1024, 64);
    const auto ready = codegen::prepare(group);
    const auto& prepared = std::get<codegen::Prepared>(ready);
    ir::Plan plan = ir::parse_plan("map threads=128 vector=4 unroll=2 grid=tile");
    plan.dominant = prepared.dominants.front();
    check_golden(std::string(member) + ".cu", printed(prepared, plan));
  }
}
