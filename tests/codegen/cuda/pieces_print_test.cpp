// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A loop over the pieces of a concatenation as people see it: the CUDA text of a rotary embedding is golden. Its halves
// of a row, the cosine and the sine are loaded once, four neighbours together, and each half of the result is
// stored into its window. Scatters likewise, with the launch before each. Part of the suite `codegen`.
#include <doctest/doctest.h>

#include <variant>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "ir/device.h"
#include "support/golden.h"
#include "support/group_family.h"
#include "support/paths.h"

using namespace tailor;

TEST_CASE("a kernel over pieces prints as its golden text") {
  const ir::Group group = ir::make_group(ir::family_member("rope"), 1024, 32);
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  REQUIRE(prepared.in_pieces != nullptr);
  ir::Plan plan = ir::parse_plan("map threads=128 vector=4 unroll=2 grid=tile");
  plan.dominant = prepared.in_pieces->dominants.front();
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered =
      codegen::lower(prepared, plan, ir::limits(ir::find_device("h200", source_folder() + "/data/devices")), scratch);
  REQUIRE(std::holds_alternative<ir::Kernel>(lowered));
  check_golden("pieces.cu", codegen::cuda(std::get<ir::Kernel>(lowered), &plan));
}

TEST_CASE("a scatter prints as its golden text: the launch before it, vectors of updates, what goes by exchange") {
  for (const std::string_view member : {"scatter_rows", "scatter_max", "scatter_set"}) {
    const ir::Group group = ir::make_group(ir::family_member(member), 1024, 64);
    const auto ready = codegen::prepare(group);
    const auto& prepared = std::get<codegen::Prepared>(ready);
    ir::Plan plan = ir::parse_plan("map threads=128 vector=4 unroll=2 grid=tile");
    plan.dominant = prepared.dominants.front();
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered =
        codegen::lower(prepared, plan, ir::limits(ir::find_device("h200", source_folder() + "/data/devices")), scratch);
    REQUIRE(std::holds_alternative<ir::Kernel>(lowered));
    check_golden(std::string(member) + ".cu", codegen::cuda(std::get<ir::Kernel>(lowered), &plan));
  }
}
