// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over strips of windows' results. Every small window is gone through: two to four lines of one to three taps,
// strides, dilation and padding, results that fill the last strip and that do not, every reducer, several types and
// layouts; plans of each are interpreted, compared and counted as every_plan.h says. What a strip loads is held against
// the lines that differ. Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "explore/plans/space.h"
#include "explore/plans/tune.h"
#include "ir/device.h"
#include "ir/graph/window_strips.h"

#include "support/approx.h"
#include "support/group_family.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

constexpr ir::Limits strip_limits{90,  132, 32, 1024,   2048,  32,     65536, 65536, 255,
                                  256, 4,   8,  233472, 49152, 232448, 1024,  128};

/// A window over what is computed of an array, and something that follows from its results.
struct Boxed {
  int rows = 16, columns = 33;  ///< of the results
  int high = 3, wide = 2, stride = 1, dilation = 1, above = 1, below = 1, left = 0, right = 1;
  std::string_view type = "f32", reducer = "add", start = "0", layout = {};
  bool is_computed = true;  ///< the window reads a square, else the parameter
};

std::string text_of_box(const Boxed& box) {
  const int source_rows = (box.rows - 1) * box.stride + (box.high - 1) * box.dilation + 1 - box.above - box.below;
  const int source_columns = box.columns + box.wide - 1 - box.left - box.right;
  const bool is_pred = box.type == "pred";
  const std::string source = fmt::format("{}[{},{}]{}", box.type, source_rows, source_columns, box.layout);
  const std::string result = fmt::format("{}[{},{}]{}", box.type, box.rows, box.columns, box.layout);
  return fmt::format(R"(graph boxed {{
  %x = parameter 0 : {0}
  %y = parameter 1 : {1}
  %start = constant {2} : {3}[]
  %v = {4} %x, %x : {0}
  %p = reduce_window {5} {6}, %start, text="window={{size={7}x{8} stride={9}x1 pad={10}_{11}x{12}_{13} rhs_dilate={14}x1}}" : {1}
  %o = {15} %p, %y : {1}
  output %o, %p
}})",
                     source, result, box.start, box.type, is_pred ? "bit_and" : "multiply", box.reducer,
                     box.is_computed ? "%v" : "%x", box.high, box.wide, box.stride, box.above, box.below, box.left,
                     box.right, box.dilation, is_pred ? "bit_xor" : "subtract");
}

/// Programs of all its strips.
int check_strips(const Boxed& box) {
  const std::string text = text_of_box(box);
  CAPTURE(text);
  const ir::Group group = ir::make_group({"boxed", text}, 1, 1);
  const auto ready = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(ready));
  int programs = 0;
  const bool has_holes = box.stride > 1 || box.dilation > 1;  // rows that no window reads
  for (const explore::Loop loop : {explore::Loop::strips_2, explore::Loop::strips_4, explore::Loop::strips_8})
    if (explore::strips_in(loop, std::get<codegen::Prepared>(ready)) != nullptr)
      programs += explore::check_every_plan(group, {testing::effort(3, 1)}, has_holes, loop).programs;
  return programs;
}

codegen::Prepared prepared_box(const ir::Group& group) { return std::get<codegen::Prepared>(codegen::prepare(group)); }

ir::Plan strip_plan(const codegen::Prepared& whole, int strip) {
  ir::Plan plan;
  plan.strip = strip;
  plan.dominant = codegen::prepared_for(whole, plan).dominants.front();
  plan.threads = 64;
  plan.vector = 1;
  return plan;
}

int loads_in_strip(const codegen::Prepared& whole, int strip) {
  codegen::LowerScratch scratch;
  const codegen::Lowered lowered = codegen::lower(whole, strip_plan(whole, strip), strip_limits, scratch);
  REQUIRE(std::holds_alternative<ir::Kernel>(lowered));
  int loads = 0;
  for (const ir::Stmt& stmt : std::get<ir::Kernel>(lowered).body) loads += stmt.kind == ir::StmtKind::load ? 1 : 0;
  return loads;
}

}  // namespace

TEST_CASE("every strip of every small window computes what the evaluator computes and is counted as executed") {
  int programs = 0;
  for (const int rows : {8, 15, 16})
    for (const int high : {2, 3, 4})
      for (const int stride : {1, 2})
        for (const int dilation : {1, 2}) {
          Boxed box{.rows = rows, .high = high, .stride = stride, .dilation = dilation};
          box.above = high % 2, box.below = dilation, box.wide = 1 + (rows + high + stride) % 3;
          box.left = box.wide > 1 ? 1 : 0, box.right = box.wide > 2 ? 1 : 0;
          box.is_computed = (rows + high + dilation) % 2 == 0;
          programs += check_strips(box);
        }
  CHECK(programs > 300);
}

TEST_CASE("strips of every reducer, type and layout") {
  struct Kind {
    std::string_view type, reducer, start;
  };
  int programs = 0;
  for (const Kind& kind :
       {Kind{"f32", "max", "-inf"}, Kind{"f32", "min", "inf"}, Kind{"f32", "multiply", "1"}, Kind{"f32", "add", "5"},
        Kind{"bf16", "add", "0"}, Kind{"f16", "max", "-inf"}, Kind{"s32", "add", "0"}, Kind{"s32", "max", "-7"},
        Kind{"u8", "min", "255"}, Kind{"f8e4m3fn", "max", "-448"}, Kind{"f8e5m2", "min", "inf"},
        Kind{"f64", "add", "0"}, Kind{"pred", "or", "false"}, Kind{"pred", "and", "true"}})
    for (const bool is_computed : {false, true}) {
      Boxed box{.rows = 15, .columns = 34};
      box.type = kind.type, box.reducer = kind.reducer, box.start = kind.start, box.is_computed = is_computed;
      programs += check_strips(box);
    }
  CHECK(programs > 150);
  // Results that lie column by column: lines are columns, strips lie side by side.
  Boxed turned{.rows = 40, .columns = 16, .high = 2, .wide = 3};
  turned.layout = "{0,1}", turned.right = 0;
  CHECK(check_strips(turned) > 0);
}

TEST_CASE("a tap that lies outside counts for nothing, whatever its number would be there and along each dimension") {
  // The exponential of what was not loaded is 1.
  const ir::Group group = ir::make_group({"boxed", R"(graph boxed {
  %x = parameter 0 : f32[8,3,9]
  %start = constant 0 : f32[]
  %v = exp %x : f32[8,3,9]
  %p = reduce_window add %v, %start, text="window={size=3x3x3 pad=1_1x1_1x1_1}" : f32[8,3,9]
  output %p
})"},
                                         1, 1);
  for (const explore::Loop loop : {explore::Loop::own, explore::Loop::strips_4, explore::Loop::strips_8})
    CHECK(explore::check_every_plan(group, {testing::effort(3, 1)}, false, loop).programs > 0);
}

TEST_CASE("a strip loads what differs, once") {
  for (const int high : {2, 3, 5, 7})
    for (const int stride : {1, 2, 3}) {
      Boxed box{.rows = 64, .columns = 128, .high = high, .wide = 3, .stride = stride, .above = 0, .below = 0};
      box.left = box.right = 0, box.is_computed = false;
      const ir::Group group = ir::make_group({"boxed", text_of_box(box)}, 1, 1);
      const codegen::Prepared whole = prepared_box(group);
      CHECK(whole.in_strips.empty() == (high <= stride));
      for (const auto& strips : whole.in_strips) {
        const int rows = strips->strip.rows;
        std::set<int> lines;
        for (int result = 0; result < rows; ++result)
          for (int line = 0; line < high; ++line) lines.insert(result * stride + line);
        CHECK(loads_in_strip(whole, rows) == static_cast<int>(lines.size()) * box.wide + rows);  // and those of y
      }
    }
}

TEST_CASE("what a strip reads of a window is what its price says") {
  Boxed box{.rows = 64, .columns = 128, .high = 7, .wide = 7};
  box.above = box.below = box.left = box.right = 3, box.is_computed = false;
  const ir::Group group = ir::make_group({"boxed", text_of_box(box)}, 1, 1);
  const codegen::Prepared whole = prepared_box(group);
  REQUIRE(whole.in_strips.size() == 2);
  const ir::Node& window = group.graph[whole.in_strips.back()->dominants.front()];
  const ir::WindowCost cost = ir::cost_of(window.shape, ir::parse_window(hlo_text(window), 2));
  CHECK(8 * cost.reads == loads_in_strip(whole, 8) - 8);
  CHECK(cost.operations == approx((14 * 6 + 8 * 7) / 8.0));
}

TEST_CASE("a plan names a strip that the group has") {
  Boxed box{.rows = 15, .columns = 40};  // one of eight strips of 2 would be half behind the end, of 4 and 8 as well
  const ir::Group group = ir::make_group({"boxed", text_of_box(box)}, 1, 1);
  const codegen::Prepared whole = prepared_box(group);
  REQUIRE(whole.in_strips.size() == 2);
  codegen::LowerScratch scratch;
  const auto refused = [&](int strip) {
    ir::Plan plan = strip_plan(whole, 4);
    plan.strip = strip;
    const codegen::Lowered lowered = codegen::lower(whole, plan, strip_limits, scratch);
    return std::holds_alternative<ir::Rejection>(lowered) ? std::get<ir::Rejection>(lowered).reason : "";
  };
  CHECK(refused(4).empty());
  CHECK(refused(3) ==
        "strips of 3 results: a thread makes 4 or 8 of them one below the other, or strip is not "
        "said");
  const ir::Plan plan = strip_plan(whole, 4);
  CHECK(ir::parse_plan(ir::text(plan)) == plan);
  CHECK(ir::text(plan).find(" strip=4 ") != std::string::npos);
  CHECK(codegen::loop_words(whole, plan) == "map in strips");
  // Each loop is asked about with its own; what no loop has, in the group's.
  explore::Axes axes = explore::default_axes(whole, strip_limits);
  CHECK(axes[ir::PlanField::strip] == std::vector<int>{0, 4, 8});
  CHECK(explore::axes_of_structure(whole, whole, axes, strip_limits)[ir::PlanField::strip] == std::vector<int>{0});
  for (const auto& strips : whole.in_strips)
    CHECK(explore::axes_of_structure(whole, *strips, axes, strip_limits)[ir::PlanField::strip] ==
          std::vector<int>{strips->strip.rows});
  restrict_axis(axes, {"strip", {"4", "16"}});
  CHECK(explore::axes_of_structure(whole, whole, axes, strip_limits)[ir::PlanField::strip] == std::vector<int>{16});
  CHECK(explore::axes_of_structure(whole, *whole.in_strips[1], axes, strip_limits)[ir::PlanField::strip].empty());
  CHECK(explore::axes_of_structure(whole, *whole.in_strips[0], axes, strip_limits)[ir::PlanField::strip] ==
        std::vector<int>{4});
}

TEST_CASE("windows whose results share no line, or too few side by side, have no strips") {
  const auto strips_of = [](const Boxed& box) {
    const ir::Group group = ir::make_group({"boxed", text_of_box(box)}, 1, 1);
    return prepared_box(group).in_strips.size();
  };
  CHECK(strips_of({.columns = 8}) == 2);
  CHECK(strips_of({.columns = 7}) == 0);
  CHECK(strips_of({.rows = 3}) == 1);   // all three; of 2 and 4 one would be behind their end
  CHECK(strips_of({.rows = 9}) == 1);   // of 2: one behind the end of nine; of 4 three, of 8 seven
  CHECK(strips_of({.rows = 17}) == 2);  // of 8: seven
  CHECK(strips_of({.high = 3, .stride = 3, .above = 0, .below = 0}) == 0);
  CHECK(strips_of({.high = 1, .wide = 3, .above = 0, .below = 0}) == 0);  // along what is contiguous
}
