// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scans along rows and down columns: cumulative sums, products and extremes from either end. Every kind of place that a
// scan may have in a group is gone through (alone, beside what it goes over, of itself, behind a reduction and in front
// of one, kept for a later phase), over rows that fill vectors, warps and trips and that do not, one row and several,
// each reducer and several types; plans of each are interpreted, compared and counted as every_plan.h says. Part of the
// suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <variant>

#include "codegen/lower/lower.h"
#include "explore/every_plan.h"

#include "support/text_group.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

/// What a group does with the scan.
enum class Use : std::uint8_t {
  alone,      ///< writes it
  exclusive,  ///< takes off what it goes over, and writes a number of each row too
  softmax,    ///< goes over what a row's sum was needed for, and is compared with it
  reduced,    ///< its largest element is taken from all of it: a later phase needs it again
  twice,      ///< goes over what another scan has left
  beside,     ///< beside another one, and a maximum of both
};

struct Scanned {
  int rows = 3, columns = 128;
  Use use = Use::alone;
  bool forward = true;
  std::string_view type = "f32", reducer = "add", start = "0";
  std::string_view layout = "";
  bool down = false;  ///< the columns, in place of along the rows
};

std::string window_of(const Scanned& of) {
  const int reach = (of.down ? of.rows : of.columns) - 1;
  const std::string pad = of.forward ? fmt::format("{}_0", reach) : fmt::format("0_{}", reach);
  return of.down ? fmt::format("text=\"window={{size={}x1 pad={}x0_0}}\"", reach + 1, pad)
                 : fmt::format("text=\"window={{size=1x{} pad=0_0x{}}}\"", reach + 1, pad);
}

std::string text_of(const Scanned& of) {
  const std::string all = fmt::format("{}[{},{}]{}", of.type, of.rows, of.columns, of.layout);
  const std::string kept = fmt::format("{}[{}]", of.type, of.down ? of.columns : of.rows);
  const int gone = of.down ? 0 : 1;
  const std::string scan = fmt::format("reduce_window {}", of.reducer);
  std::string text =
      fmt::format("graph scanned {{\n  %x = parameter 0 : {}\n  %start = constant {} : {}[]\n", all, of.start, of.type);
  const auto line = [&](std::string_view name, std::string_view what, std::string_view shape) {
    text += fmt::format("  %{} = {} : {}\n", name, what, shape);
  };
  const auto scan_of = [&](std::string_view name, std::string_view operand) {
    line(name, fmt::format("{} %{}, %start, {}", scan, operand, window_of(of)), all);
  };
  switch (of.use) {
    case Use::alone:
      scan_of("y", "x");
      return text + "  output %y\n}";
    case Use::exclusive:
      scan_of("s", "x");
      line("y", "subtract %s, %x", all);
      line("n", fmt::format("reduce max %y, %start, axes={{{}}}", gone), kept);
      return text + "  output %y, %n\n}";
    case Use::softmax:
      line("n", fmt::format("reduce max %x, %start, axes={{{}}}", gone), kept);
      line("nb", fmt::format("broadcast %n, axes={{{}}}", 1 - gone), all);
      line("c", "subtract %x, %nb", all);
      scan_of("s", "c");
      line("y", "maximum %s, %x", all);
      return text + "  output %y\n}";
    case Use::reduced:
      scan_of("s", "x");
      line("n", fmt::format("reduce max %s, %start, axes={{{}}}", gone), kept);
      line("nb", fmt::format("broadcast %n, axes={{{}}}", 1 - gone), all);
      line("y", "subtract %s, %nb", all);
      return text + "  output %y\n}";
    case Use::twice:
      scan_of("s", "x");
      line("d", "subtract %x, %s", all);
      scan_of("y", "d");
      return text + "  output %y, %d\n}";
    case Use::beside:
      line("d", "negate %x", all);
      scan_of("s", "x");
      scan_of("t", "d");
      line("y", "maximum %s, %t", all);
      return text + "  output %y\n}";
  }
  return text;
}

explore::SpaceRun check(const Scanned& of, int one_in) {
  const std::string text = text_of(of);
  CAPTURE(text);
  return explore::check_every_plan(group_of_text(text), {testing::effort(one_in, 1)});
}

constexpr std::array uses{Use::alone, Use::exclusive, Use::softmax, Use::reduced, Use::twice, Use::beside};

}  // namespace

TEST_CASE("every use of a scan computes what the evaluator computes and is counted as executed") {
  int programs = 0;
  for (const Use use : uses)
    for (const bool forward : {true, false})
      for (const auto& [rows, columns] : {std::pair(1, 520), std::pair(5, 132), std::pair(3, 65), std::pair(17, 72)}) {
        const explore::SpaceRun run = check({.rows = rows, .columns = columns, .use = use, .forward = forward}, 11);
        CHECK(run.programs > 0);
        programs += run.programs;
      }
  CHECK(programs > 400);
}

TEST_CASE("scans of every length up to 140 and beyond") {
  for (int columns = 65; columns <= 140; columns += testing::effort(5, 1))
    CHECK(check({.rows = 2, .columns = columns, .forward = columns % 2 == 0}, 9).programs > 0);
  for (const int columns : {255, 256, 257, 1000, 1024, 2049})
    CHECK(check({.rows = 2, .columns = columns, .use = Use::softmax}, 60).programs > 0);
}

TEST_CASE("a scan is read at other places of its row where it waits in shared memory") {
  constexpr std::string_view head = R"(graph moved {
  %x = parameter 0 : f32[5,132]
  %start = constant 0 : f32[]
  %s = reduce_window add %x, %start, text="window={size=1x132 pad=0_0x131_0}" : f32[5,132]
)";
  for (const std::string_view rest :
       {// By one place, as an exclusive scan is written; of what is computed of it; after a sum of it; of a scan of it.
        R"(  %y = pad %s, %start, ranges={0:0:0, 1:-1:0} : f32[5,132]
  output %y
})",
        R"(  %n = negate %s : f32[5,132]
  %a = slice %n, ranges={0:5:1, 7:132:1} : f32[5,125]
  %b = slice %n, ranges={0:5:1, 0:7:1} : f32[5,7]
  %y = concatenate %a, %b, axes={1} : f32[5,132]
  %z = add %y, %s : f32[5,132]
  output %z
})",
        R"(  %t = reduce add %s, %start, axes={1} : f32[5]
  %tb = broadcast %t, axes={0} : f32[5,132]
  %d = subtract %s, %tb : f32[5,132]
  %y = reverse %d, axes={1} : f32[5,132]
  output %y, %t
})",
        R"(  %e = pad %s, %start, ranges={0:0:0, 3:-3:0} : f32[5,132]
  %u = reduce_window add %e, %start, text="window={size=1x132 pad=0_0x131_0}" : f32[5,132]
  %y = reverse %u, axes={1} : f32[5,132]
  output %y
})"}) {
    const std::string text = fmt::format("{}{}", head, rest);
    CAPTURE(text);
    const explore::SpaceRun run = explore::check_every_plan(group_of_text(text), {testing::effort(9, 1)});
    CHECK(run.programs > 0);
    CHECK(std::holds_alternative<codegen::Layout>(codegen::classify(group_of_text(text))));
  }
}

TEST_CASE("a long row that is scanned from its end and read beside has a kernel") {
  const ir::Group group = group_of_text(R"(graph beside {
  %x = parameter 0 : f32[2,1032]
  %start = constant 0 : f32[]
  %s = reduce_window add %x, %start, text="window={size=1x1032 pad=0_0x0_1031}" : f32[2,1032]
  %e = pad %s, %start, ranges={0:0:0, -1:1:0} : f32[2,1032]
  %y = multiply %e, %x : f32[2,1032]
  output %y
})");
  CHECK(std::holds_alternative<codegen::Layout>(codegen::classify(group)));
  CHECK(explore::check_every_plan(group, {testing::effort(3, 1)}).programs > 0);
}

TEST_CASE("a row's element is looked up by a number that a scan of the row gives") {
  const ir::Group group = group_of_text(R"(graph looked_up {
  %x = parameter 0 : f32[4,200]
  %start = constant 0 : f32[]
  %zero = constant 0 : s32[]
  %s = reduce_window add %x, %start, text="window={size=1x200 pad=0_0x199_0}" : f32[4,200]
  %one = constant 1 : f32[]
  %oneb = broadcast %one : f32[4,200]
  %below = compare lt %s, %oneb : pred[4,200]
  %ones = convert %below : s32[4,200]
  %n = reduce add %ones, %zero, axes={1} : s32[4]
  %at = reshape %n : s32[4,1,1]
  %g = gather %s, %at, text="offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}" : f32[4,1]
  %f = reshape %g : f32[4]
  %fb = broadcast %f, axes={0} : f32[4,200]
  %y = multiply %fb, %x : f32[4,200]
  output %y
})");
  CHECK(explore::check_every_plan(group, {testing::effort(9, 1)}).programs > 0);
  CHECK(std::holds_alternative<codegen::Layout>(codegen::classify(group)));
}

TEST_CASE("every use of a scan down columns computes what the evaluator computes and is counted as executed") {
  int programs = 0;
  for (const Use use : uses)
    for (const bool forward : {true, false})
      for (const auto& [rows, columns] : {std::pair(130, 64), std::pair(67, 5), std::pair(96, 136)}) {
        Scanned of{.rows = rows, .columns = columns, .use = use, .forward = forward};
        of.down = true;
        const explore::SpaceRun run = check(of, 2);
        CHECK(run.programs > 0);
        programs += run.programs;
      }
  CHECK(programs > 100);
}

TEST_CASE("scans of every reducer and type") {
  struct Kind {
    std::string_view type, reducer, start;
  };
  for (const Kind& kind :
       {Kind{"f32", "max", "-inf"}, Kind{"f32", "min", "inf"}, Kind{"f32", "multiply", "1"}, Kind{"bf16", "add", "0"},
        Kind{"bf16", "max", "-inf"}, Kind{"f16", "min", "inf"}, Kind{"f64", "add", "0"}, Kind{"s32", "add", "0"},
        Kind{"s32", "max", "-2147483648"}, Kind{"s64", "add", "0"}, Kind{"u8", "min", "255"}, Kind{"s8", "add", "0"},
        Kind{"u32", "bit_xor", "0"}, Kind{"s16", "bit_and", "-1"}, Kind{"pred", "or", "false"},
        Kind{"pred", "and", "true"}})
    for (const bool forward : {true, false}) {
      Scanned of{.rows = 3, .columns = 144, .forward = forward};
      of.type = kind.type, of.reducer = kind.reducer, of.start = kind.start;
      CHECK(check(of, 12).programs > 0);
      of.down = true, of.rows = 70, of.columns = 48;
      CHECK(check(of, 9).programs > 0);
    }
}

TEST_CASE("a scan of rows that lie otherwise, and what no scan of rows is") {
  CHECK(explore::check_every_plan(group_of_text(R"(graph turned {
  %x = parameter 0 : f32[96,5]{0,1}
  %start = constant 0 : f32[]
  %s = reduce_window add %x, %start, text="window={size=96x1 pad=95_0x0_0}" : f32[96,5]{0,1}
  output %s
})"),
                                  {testing::effort(20, 1)})
            .programs > 0);
  const auto refused = [](std::string_view lines) {
    const ir::Group group =
        group_of_text(fmt::format("graph refused {{\n  %x = parameter 0 : f32[4,96]\n  %start = constant 0 : f32[]\n"
                                  "  %low = constant -inf : f32[]\n{}}}",
                                  lines));
    auto ready = codegen::prepare(group);
    return std::holds_alternative<ir::Rejection>(ready) ? std::get<ir::Rejection>(ready).rule : std::string();
  };
  constexpr std::string_view scan =
      "  %s = reduce_window add %x, %start, text=\"window={size=1x96 pad=0_0x95_0}\" : f32[4,96]\n";
  CHECK(refused(fmt::format("{}  output %s\n", scan)).empty());
  // From the other end in the same walk.
  CHECK(refused(fmt::format("{}  %t = reduce_window add %x, %start, text=\"window={{size=1x96 pad=0_0x0_95}}\" : "
                            "f32[4,96]\n  %u = add %s, %t : f32[4,96]\n  output %u\n",
                            scan)) == "scan-directions");
  // It starts from a number that counts.
  CHECK(refused("  %s = reduce_window add %x, %low, text=\"window={size=1x96 pad=0_0x95_0}\" : f32[4,96]\n  output "
                "%s\n") == "skeleton-reduce-window");
  // Across the rows of the group's reduction.
  CHECK(refused(fmt::format("{}  %d = reduce_window add %x, %start, text=\"window={{size=1x95 pad=0_0x94_0}}\" : "
                            "f32[4,96]\n  output %s, %d\n",
                            scan)) == "skeleton-reduce-window");
}
