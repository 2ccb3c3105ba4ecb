// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of chunks of rows: scales of blocks of a row that are quantised, norms of heads. Every kind of place that
// such a reduction may have in a group is gone through (behind a row's reduction and in front of one, chunks of chunks,
// of a scan, results written as they are, turned, and beside numbers of rows), over chunks of 4 to 256, rows of whole
// numbers of them, one row and several, each reducer and several types; plans of each are interpreted, compared and
// counted as every_plan.h says. Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <variant>

#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "explore/wide_space.h"

#include "support/text_group.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

/// What a group does with the results of chunks.
enum class ChunkUse : std::uint8_t {
  scales,   ///< of a row less its maximum: the quotient, and the results
  results,  ///< writes them, beside a number of each row
  ahead,    ///< a row's sum is of elements less them: a later phase needs them again
  nested,   ///< shorter chunks are of what is left of longer ones
  scanned,  ///< of a scan's elements
  turned,   ///< writes them with the numbers of rows taken off, turned and as they are
  held,     ///< elements are held against a number of the chunk and one of the row
  best,     ///< the greatest of a row's results is taken off them, and they are spread
  shared,   ///< each result's share of the row's sum, where chunks are of what a row's maximum was taken off
};

struct Chunked {
  int rows = 3, chunks = 4, length = 32;
  ChunkUse use = ChunkUse::scales;
  std::string_view type = "f32", reducer = "max", start = "-inf";
};

/// Lines of a group, one after the other.
class Lines {
 public:
  explicit Lines(const Chunked& of)
      : of_(of),
        whole_(fmt::format("{}[{},{}]", of.type, of.rows, of.chunks * of.length)),
        apart_(fmt::format("{}[{},{},{}]", of.type, of.rows, of.chunks, of.length)),
        results_(fmt::format("{}[{},{}]", of.type, of.rows, of.chunks)),
        numbers_(fmt::format("{}[{}]", of.type, of.rows)),
        text_(fmt::format("graph chunked {{\n  %x = parameter 0 : {}\n  %start = constant {} : {}[]\n", whole_,
                          of.start, of.type)) {}

  std::string add(std::string_view what, std::string_view shape) {
    const std::string name = fmt::format("%v{}", count_++);
    text_ += fmt::format("  {} = {} : {}\n", name, what, shape);
    return name;
  }
  std::string row_of(std::string_view x) { return add(fmt::format("reduce max {}, %start, axes={{1}}", x), numbers_); }
  std::string spread(std::string_view number) { return add(fmt::format("broadcast {}, axes={{0}}", number), whole_); }
  /// Of results of chunks, spread over them again.
  std::string of_results(std::string_view op, std::string_view results) {
    const std::string start = op == "add" ? add("constant 0", fmt::format("{}[]", of_.type)) : "%start";
    const std::string number = add(fmt::format("reduce {} {}, {}, axes={{1}}", op, results, start), numbers_);
    return add(fmt::format("broadcast {}, axes={{0}}", number), results_);
  }
  std::string both(std::string_view op, std::string_view a, std::string_view b) {
    return add(fmt::format("{} {}, {}", op, a, b), whole_);
  }
  std::string chunks_of(std::string_view x) {
    const std::string apart = add(fmt::format("reshape {}", x), apart_);
    return add(fmt::format("reduce {} {}, %start, axes={{2}}", of_.reducer, apart), results_);
  }
  std::string spread_chunks(std::string_view results) {
    return add("reshape " + add(fmt::format("broadcast {}, axes={{0,1}}", results), apart_), whole_);
  }
  const std::string& whole() const { return whole_; }
  const std::string& results() const { return results_; }
  std::string ending(std::string_view outputs) const { return fmt::format("{}  output {}\n}}", text_, outputs); }

 private:
  Chunked of_;
  std::string whole_, apart_, results_, numbers_, text_;
  int count_ = 0;
};

std::string chunk_text(const Chunked& of) {
  Lines lines(of);
  switch (of.use) {
    case ChunkUse::scales: {
      const std::string rest = lines.both("subtract", "%x", lines.spread(lines.row_of("%x")));
      const std::string scales = lines.chunks_of(rest);
      const std::string y = lines.both("subtract", rest, lines.spread_chunks(scales));
      return lines.ending(fmt::format("{}, {}", y, scales));
    }
    case ChunkUse::results: {
      const std::string number = lines.row_of("%x"), results = lines.chunks_of("%x");
      return lines.ending(fmt::format("{}, {}", number, results));
    }
    case ChunkUse::ahead: {
      const std::string rest = lines.both("subtract", "%x", lines.spread_chunks(lines.chunks_of("%x")));
      return lines.ending(lines.both("maximum", rest, lines.spread(lines.row_of(rest))));
    }
    case ChunkUse::nested: {
      const std::string rest = lines.both("subtract", "%x", lines.spread(lines.row_of("%x")));
      const std::string first = lines.both("subtract", rest, lines.spread_chunks(lines.chunks_of(rest)));
      const std::string apart = fmt::format("{}[{},{},4]", of.type, of.rows, of.chunks * of.length / 4);
      const std::string few = fmt::format("{}[{},{}]", of.type, of.rows, of.chunks * of.length / 4);
      const std::string fours =
          lines.add(fmt::format("reduce add {}, %start, axes={{2}}", lines.add("reshape " + first, apart)), few);
      const std::string spread = lines.add(fmt::format("broadcast {}, axes={{0,1}}", fours), apart);
      return lines.ending(
          fmt::format("{}, {}", lines.both("maximum", first, lines.add("reshape " + spread, lines.whole())), fours));
    }
    case ChunkUse::scanned: {
      const int reach = of.chunks * of.length - 1;
      const std::string scan =
          lines.add(fmt::format("reduce_window {} %x, %start, text=\"window={{size=1x{} pad=0_0x{}_0}}\"", of.reducer,
                                reach + 1, reach),
                    lines.whole());
      const std::string results = lines.chunks_of(scan);
      return lines.ending(fmt::format("{}, {}", lines.both("subtract", lines.spread_chunks(results), "%x"), results));
    }
    case ChunkUse::turned: {
      const std::string results = lines.chunks_of("%x");
      const std::string numbers =
          lines.add(fmt::format("broadcast {}, axes={{0}}", lines.row_of("%x")), lines.results());
      const std::string left = lines.add(fmt::format("subtract {}, {}", results, numbers), lines.results());
      const std::string turned = lines.add(fmt::format("transpose {}, axes={{1,0}}", left),
                                           fmt::format("{}[{},{}]", of.type, of.chunks, of.rows));
      return lines.ending(fmt::format("{}, {}", turned, left));
    }
    case ChunkUse::held: {
      const std::string of_chunks = lines.spread_chunks(lines.chunks_of("%x"));
      const std::string of_rows = lines.spread(lines.row_of(lines.both("subtract", "%x", of_chunks)));
      return lines.ending(lines.both("minimum", lines.both("subtract", of_rows, of_chunks), "%x"));
    }
    case ChunkUse::best: {
      const std::string results = lines.chunks_of("%x");
      const std::string left =
          lines.add(fmt::format("subtract {}, {}", results, lines.of_results("max", results)), lines.results());
      return lines.ending(fmt::format("{}, {}", lines.both("add", lines.spread_chunks(left), "%x"), left));
    }
    case ChunkUse::shared: {
      const std::string rest = lines.both("subtract", "%x", lines.spread(lines.row_of("%x")));
      const std::string results = lines.chunks_of(rest);
      return lines.ending(
          lines.add(fmt::format("subtract {}, {}", results, lines.of_results("add", results)), lines.results()));
    }
  }
  return {};
}

explore::SpaceRun check_chunks(const Chunked& of, int one_in) {
  const std::string text = chunk_text(of);
  CAPTURE(text);
  return explore::check_every_plan(group_of_text(text), {testing::effort(one_in, 1)});
}

constexpr std::array chunk_uses{ChunkUse::scales, ChunkUse::results, ChunkUse::ahead,
                                ChunkUse::nested, ChunkUse::scanned, ChunkUse::turned,
                                ChunkUse::held,   ChunkUse::best,    ChunkUse::shared};

ir::Skeleton skeleton_of(const std::string& text) {
  const auto ready = codegen::prepare(group_of_text(text));
  return std::get<codegen::Prepared>(ready).skeleton;
}

}  // namespace

TEST_CASE("every use of chunks computes what the evaluator computes and is counted as executed") {
  int programs = 0;
  for (const ChunkUse use : chunk_uses)
    for (const auto& [rows, chunks, length] :
         {std::array{1, 3, 32}, std::array{5, 4, 16}, std::array{3, 9, 128}, std::array{17, 2, 64}}) {
      const Chunked of{.rows = rows, .chunks = chunks, .length = length, .use = use};
      CHECK(skeleton_of(chunk_text(of)) == ir::Skeleton::row);
      const explore::SpaceRun run = check_chunks(of, 13);
      CHECK(run.programs > 0);
      programs += run.programs;
    }
  CHECK(programs > 300);
  // One row and several in a block: threads of those that do not exist walk too, and read nothing that they have not.
  CHECK(check_chunks({.rows = 1, .chunks = 3, .use = ChunkUse::shared}, 2).programs > 0);
}

TEST_CASE("blocks that share a row, and meet, reduce chunks of it") {
  int clustered = 0, met = 0;
  for (const ChunkUse use : {ChunkUse::scales, ChunkUse::ahead, ChunkUse::held, ChunkUse::nested, ChunkUse::best})
    for (const int chunks : {9, 17}) {
      const std::string text = chunk_text({.rows = 2, .chunks = chunks, .length = 32, .use = use});
      CAPTURE(text);
      const explore::SpaceRun run = explore::check_every_plan(group_of_text(text), {testing::effort(19, 3)}, true);
      clustered += run.clustered;
      met += run.met;
    }
  CHECK(clustered > 20);
  CHECK(met > 20);
}

TEST_CASE("chunks of every length that lanes of a warp hold, in rows of several numbers of them") {
  for (const int length : {4, 8, 16, 32, 64, 128})
    for (const int chunks : {2, 3, 5, 8, 33}) {
      if (chunks * length <= 64) continue;  // a scan of them would be windows
      Chunked of{
          .rows = 4, .chunks = chunks, .length = length, .use = chunks % 2 == 0 ? ChunkUse::scales : ChunkUse::scanned};
      if (chunks % 2 != 0) of.reducer = "add", of.start = "0";
      CAPTURE(chunk_text(of));
      CHECK(check_chunks(of, length < 128 ? 29 : 3).programs > 0);
    }
  CHECK(check_chunks({.rows = 2, .chunks = 5, .length = 256, .type = "bf16"}, 29).programs > 0);
}

TEST_CASE("chunks of every reducer and type, from their neutral element and from another number") {
  struct Kind {
    std::string_view type, reducer, start;
  };
  for (const Kind& kind :
       {Kind{"f32", "add", "0"}, Kind{"f32", "add", "2"}, Kind{"f32", "max", "0.5"}, Kind{"f32", "min", "inf"},
        Kind{"f32", "multiply", "1"}, Kind{"bf16", "add", "0"}, Kind{"bf16", "max", "-inf"}, Kind{"f16", "min", "0.25"},
        Kind{"f64", "add", "0"}, Kind{"s32", "add", "7"}, Kind{"s32", "max", "-2147483648"}, Kind{"s64", "add", "0"},
        Kind{"u8", "min", "255"}, Kind{"s8", "add", "0"}})
    for (const ChunkUse use : {ChunkUse::scales, ChunkUse::ahead}) {
      Chunked of{.rows = 3, .chunks = 5, .length = 64, .use = use};
      of.type = kind.type, of.reducer = kind.reducer, of.start = kind.start;
      CHECK(check_chunks(of, 23).programs > 0);
    }
}

TEST_CASE("what is made for a chunk, or for a scan, and read behind it is made once") {
  constexpr std::string_view text = R"(graph once {
  %x = parameter 0 : bf16[8,512]
  %w = parameter 1 : bf16[512]
  %low = constant -inf : bf16[]
  %zero = constant 0 : f32[]
  %n = reduce max %x, %low, axes={1} : bf16[8]
  %nb = broadcast %n, axes={0} : bf16[8,512]
  %d = subtract %x, %nb : bf16[8,512]
  %e = exp %d : bf16[8,512]
  %f = convert %e : f32[8,512]
)";
  for (const std::string_view rest :
       {R"(  %g = reshape %f : f32[8,8,64]
  %c = reduce add %g, %zero, axes={2} : f32[8,8]
  %cb = broadcast %c, axes={0,1} : f32[8,8,64]
  %q = divide %g, %cb : f32[8,8,64]
  output %q
})",
        R"(  %s = reduce_window add %f, %zero, text="window={size=1x512 pad=0_0x511_0}" : f32[8,512]
  %q = divide %f, %s : f32[8,512]
  output %q
})"}) {
    const ir::Group group = group_of_text(fmt::format("{}{}", text, rest));
    const auto ready = codegen::prepare(group);
    const codegen::Prepared& prepared = std::get<codegen::Prepared>(ready);
    ir::Plan plan;
    plan.skeleton = ir::Skeleton::row;
    plan.dominant = prepared.dominants.front();
    plan.threads = plan.threads_per_row = 32;
    plan.vector = 8;
    plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, explore::small_limits, scratch);
    REQUIRE(std::holds_alternative<ir::Kernel>(lowered));
    const auto exponentials = std::ranges::count_if(std::get<ir::Kernel>(lowered).values, [](const ir::Value& value) {
      return value.kind == ir::ValueKind::op && value.op == ir::Op::exp;
    });
    CHECK(exponentials == 1);
    CHECK(explore::check_every_plan(group, {testing::effort(17, 1)}).programs > 0);
  }
}

TEST_CASE("rows of another length that are no results of chunks are another loop") {
  const auto structure = [](std::string_view end) {
    const ir::Group group = group_of_text(fmt::format(R"(graph given {{
  %x = parameter 0 : f32[8,256]
  %w = parameter 1 : f32[8,32]
  %zero = constant 0 : f32[]
  %n = reduce add %x, %zero, axes={{1}} : f32[8]
  %m = reduce max %w, %zero, axes={{1}} : f32[8]
{}}})",
                                                      end));
    const codegen::Classified found = codegen::classify(group);
    return std::holds_alternative<codegen::Layout>(found) ? codegen::text(std::get<codegen::Layout>(found))
                                                          : std::get<ir::Rejection>(found).rule;
  };
  CHECK(structure("  output %n, %m\n").starts_with("pack"));
  CHECK(structure("  %k = multiply %n, %m : f32[8]\n  output %k\n").starts_with("stages"));
}

TEST_CASE("what waits for chunks is read at its own place") {
  const ir::Group group = group_of_text(chunk_text({.use = ChunkUse::scales}));
  const auto ready = codegen::prepare(group);
  const codegen::Prepared& prepared = std::get<codegen::Prepared>(ready);
  CHECK(!codegen::homes_of(prepared, ir::HomesWord::shared).empty());
  for (const ir::Home& home : codegen::homes_of(prepared, ir::HomesWord::shared))
    CHECK(!codegen::is_read_elsewhere(row_for(prepared.homes, ir::HomesWord::shared), home.node));
}

TEST_CASE("what no chunk of a row is has no kernel with the row") {
  const auto refused = [](int rows, int columns, std::string_view lines) {
    const ir::Group group = group_of_text(fmt::format(
        "graph refused {{\n  %x = parameter 0 : f32[{0},{1}]\n  %start = constant 0 : f32[]\n"
        "  %n = reduce add %x, %start, axes={{1}} : f32[{0}]\n  %nb = broadcast %n, axes={{0}} : f32[{0},{1}]\n"
        "  %y = subtract %x, %nb : f32[{0},{1}]\n{2}}}",
        rows, columns, lines));
    const ir::Boundary border = codegen::whole_border(group.graph);
    const codegen::Classified found = codegen::analyse_loop(group.graph, border);
    if (const auto* why = std::get_if<ir::Rejection>(&found)) return why->rule;
    const auto doubt = codegen::find_doubt(group.graph, border, std::get<codegen::Layout>(found));
    return doubt ? doubt->rule : codegen::text(std::get<codegen::Layout>(found));
  };
  const auto chunks = [&](int count, int length) {
    return refused(4, count * length,
                   fmt::format("  %g = reshape %y : f32[4,{0},{1}]\n  %c = reduce max %g, %start, axes={{2}} : "
                               "f32[4,{0}]\n  output %c, %y\n",
                               count, length));
  };
  CHECK(chunks(3, 128) == "row 4 x 384");
  CHECK(chunks(3, 96) == "rows-differ");   // no power of two
  CHECK(chunks(3, 256) == "rows-differ");  // more than 32 lanes have in vectors of 4
  CHECK(chunks(3, 2) == "rows-differ");
  // Neighbours that begin in one row and end in the next.
  CHECK(refused(4, 96,
                "  %g = reshape %y : f32[6,64]\n  %c = reduce max %g, %start, axes={1} : f32[6]\n  output %c, %y\n") ==
        "rows-differ");
  // Every third element, not neighbours.
  CHECK(refused(4, 96,
                "  %g = reshape %y : f32[4,32,3]\n  %c = reduce max %g, %start, axes={1} : f32[4,3]\n"
                "  output %c, %y\n") == "skeleton-mixed");
  // Results that move to other chunks, and such as are spread over other elements.
  constexpr std::string_view of_32 =
      "  %g = reshape %y : f32[4,3,32]\n  %c = reduce max %g, %start, axes={2} : f32[4,3]\n";
  CHECK(refused(4, 96, fmt::format("{}  %r = reverse %c, axes={{1}} : f32[4,3]\n  output %r, %y\n", of_32)) ==
        "skeleton-row-reverse");
  CHECK(refused(4, 96,
                fmt::format("{}  %b = broadcast %c, axes={{0,2}} : f32[4,32,3]\n  %r = reshape %b : f32[4,96]\n"
                            "  %z = add %y, %r : f32[4,96]\n  output %z\n",
                            of_32)) == "skeleton-row-broadcast");
  // A reduction of them is one of the row, but not where they were turned.
  CHECK(refused(4, 96, fmt::format("{}  %m = reduce add %c, %start, axes={{1}} : f32[4]\n  output %m, %y\n", of_32)) ==
        "row 4 x 96");
  CHECK(
      refused(4, 96,
              fmt::format("{}  %t = transpose %c, axes={{1,0}} : f32[3,4]\n  %m = reduce add %t, %start, axes={{0}} : "
                          "f32[4]\n  output %m, %y\n",
                          of_32)) == "skeleton-mixed");
}
