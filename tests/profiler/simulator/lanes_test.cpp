// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The opcode table: a text finds its row with the modifiers that wrap it and only with those, no text belongs to two
// rows, every instruction set that the host has can be chosen, and every row gives what lane_oracle.h says on special
// and random operands. Part of the suite `simulator`.
#include <set>

#include "doctest/doctest.h"
#include "profiler/simulator/lane_check.h"
#include "support/thorough.h"

namespace tailor::simulator {
namespace {

TEST_CASE("a text finds its row with the modifiers that wrap it, and only with those it may have") {
  CHECK(find_lane_opcode("add.f32")->row == find_lane_opcode("add.rn.f32")->row);
  CHECK(find_lane_opcode("add.f32")->row != find_lane_opcode("add.rz.f32")->row);
  CHECK(find_lane_opcode("add.rn.ftz.f32")->flush);
  CHECK(find_lane_opcode("add.ftz.sat.f32")->saturate);
  CHECK(find_lane_opcode("cvt.sat.f32.f32")->saturate);
  CHECK_FALSE(find_lane_opcode("add.sat.s32")->saturate);
  for (const char* text : {"add", "add.f33", "add.up.f32", "add.ftz.s32", "add.sat.u32", "add.ftz.f64", "mul.s32", "",
                           "add..f32", "setp.lt.and.f32", "add.f32.f32", "and.sat.b32", "add.ftz.ftz.f32", "flush"}) {
    INFO(text);
    CHECK_FALSE(find_lane_opcode(text).has_value());
  }
}

TEST_CASE("no text belongs to two rows") {
  std::set<std::string_view> texts;
  for (const LaneOpcode& opcode : lane_opcodes()) {
    for (std::string_view keys = opcode.key; !keys.empty();) {
      const std::string_view text = keys.substr(0, keys.find(' '));
      INFO(text);
      CHECK(texts.insert(text).second);
      CHECK(find_lane_opcode(text)->row == &opcode);
      keys.remove_prefix(std::min(text.size() + 1, keys.size()));
    }
  }
}

TEST_CASE("every instruction set has all handlers, and the portable one is always there") {
  const std::vector<std::string_view> names = lane_table_names();
  REQUIRE_FALSE(names.empty());
  CHECK(names.back() == "portable");
  CHECK(lane_table() == lane_table(names.front()));
  CHECK(lane_table("none") == nullptr);
  for (const std::string_view name : names) {
    const LaneTable* table = lane_table(name);
    for (const LaneOpcode& opcode : lane_opcodes()) REQUIRE(opcode.handler < table->lane_count);
  }
}

TEST_CASE("every row gives what the manual's formula gives, on every instruction set") {
  for (const LaneOpcode& opcode : lane_opcodes()) {
    if (opcode.key.empty()) continue;
    const std::vector<LaneOperands> tuples = operand_tuples(opcode, tailor::testing::effort(64, 100, 100), 7);
    check_row(opcode, tuples, 0);
    if (opcode.key.starts_with("setp") && opcode.key.ends_with("x2")) check_row(opcode, tuples, 1);
    for (std::uint32_t table = 1; opcode.literal && table < 256; table += 7) {
      check_row(opcode, std::vector(tuples.begin(), tuples.begin() + 64), table);
    }
  }
}

}  // namespace
}  // namespace tailor::simulator
