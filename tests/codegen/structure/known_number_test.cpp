// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers that follow from where an element stands: random graphs of iotas, constants and what indices are made of; the
// index expression, at every place, is what the reference evaluates there. In: graphs drawn here. Out: checks. Part of
// the suite `codegen structure`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "codegen/structure/known_number.h"
#include "ir/graph/graph_parse.h"
#include "ir/graph/graph_verify.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr std::int64_t rows = 5, columns = 7;

/// Known at how many of the places, which is all of them or none; checked against the reference.
bool is_known_and_right(const std::string& text, int inputs = 0) {
  const Graph graph = parse_graph(text);
  verify(graph);
  const NodeId id = graph.outputs[0];
  codegen::IndexBuilder build;
  codegen::Coordinates at;
  at.rank = 2;
  for (int d = 0; d < 2; ++d)
    at[d] = build.var(build.add_var({d == 0 ? "i" : "j", VarKind::loop, d == 0 ? rows : columns, 1}));
  const auto known = codegen::known_number(build, graph, id, at);
  if (!known) return false;
  const std::vector<reference::Tensor> given(static_cast<std::size_t>(inputs),
                                             reference::zeros(graph[graph.outputs[0]].shape));
  const reference::Tensor expected = reference::evaluate(graph, given)[0];
  CAPTURE(text);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::array<std::int64_t, 2> values{i, j};
      REQUIRE(evaluate(build.pool(), *known, values) ==
              reference::as_integer(expected, static_cast<std::size_t>(i * columns + j)));
    }
  return true;
}

std::string graph_of(const std::string& lines, const std::string& dtype = "s32") {
  return fmt::format(
      "graph g {{\n  %r = iota, axes={{0}} : {0}[5,7]\n  %c = iota, axes={{1}} : {0}[5,7]\n{1}  output %y\n}}\n", dtype,
      lines);
}

/// A line for node `number` of [5,7] numbers made of earlier ones.
std::string drawn_line(int number, const std::string& dtype, std::mt19937& random) {
  const auto below = [&](unsigned most) { return static_cast<int>(random() % most); };
  const auto earlier = [&] {
    const int which = below(static_cast<unsigned>(number) + 2);
    return which == number ? std::string("%r") : which == number + 1 ? std::string("%c") : fmt::format("%n{}", which);
  };
  const std::string type = fmt::format("{}[5,7]", dtype), name = fmt::format("%n{}", number);
  const auto constant = [&](int value) {
    return fmt::format("  %s{0} = constant {1} : {2}[]\n  %b{0} = broadcast %s{0}, axes={{}} : {3}\n", number, value,
                       dtype, type);
  };
  switch (below(9)) {
    case 0:
      return fmt::format("{}  {} = add {}, %b{} : {}\n", constant(below(40) - 10), name, earlier(), number, type);
    case 1:
      return fmt::format("{}  {} = multiply {}, %b{} : {}\n", constant(below(9) - 1), name, earlier(), number, type);
    case 2:
      return fmt::format("{}  {} = divide {}, %b{} : {}\n", constant(1 + below(6)), name, earlier(), number, type);
    case 3:
      return fmt::format("{}  {} = remainder {}, %b{} : {}\n", constant(1 + below(6)), name, earlier(), number, type);
    case 4:
      return fmt::format("  {} = {} {}, {} : {}\n", name, below(2) == 0 ? "add" : "subtract", earlier(), earlier(),
                         type);
    case 5:
      return fmt::format("  {} = reverse {}, axes={{{}}} : {}\n", name, earlier(), below(2), type);
    case 6:
      return fmt::format("{}  {} = {} {}, %b{} : {}\n", constant(below(60) - 20), name,
                         below(2) == 0 ? "maximum" : "minimum", earlier(), number, type);
    case 7: {
      const std::string of = earlier();
      const std::array<std::string, 4> comparisons{"lt", "ge", "gt", "le"};
      return fmt::format("{0}  %p{1} = compare {2} {3}, %b{1} : pred[5,7]\n  {4} = select %p{1}, {5}, {3} : {6}\n",
                         constant(below(80) - 20), number, comparisons[static_cast<std::size_t>(below(4))], of, name,
                         earlier(), type);
    }
    default:
      return fmt::format("{0}  %l{1} = constant {2} : {3}[]\n  {4} = clamp %l{1}, {5}, %s{1} : {6}\n",
                         constant(30 + below(60)), number, below(3) - 2, dtype, name, earlier(), type);
  }
}

}  // namespace

TEST_CASE("a number that follows from its place is what it is at every place") {
  constexpr unsigned seed = 5;
  CAPTURE(seed);
  std::mt19937 random(seed);
  int known = 0, graphs = 0;
  for (const std::string dtype : {"s32", "s64", "u32", "s8", "u8", "s16"})
    for (int trial = 0; trial < 400; ++trial, ++graphs) {
      std::string lines;
      const int count = 1 + static_cast<int>(random() % 6);
      // Types without sign have no constants below zero.
      const bool has_sign = dtype[0] == 's';
      for (int k = 0; k < count; ++k) {
        std::string line = drawn_line(k, dtype, random);
        while (!has_sign && line.find("constant -") != line.npos) line = drawn_line(k, dtype, random);
        lines += line;
      }
      known +=
          is_known_and_right(graph_of(fmt::format("{}  %y = copy %n{} : {}[5,7]\n", lines, count - 1, dtype), dtype));
    }
  MESSAGE(known << " of " << graphs << " graphs are known");
  CHECK(known > graphs / 3);
  CHECK(known < graphs);
}

TEST_CASE("frames of a signal and positions are known, and what may leave its type or comes from memory is not") {
  // numpy's test for negative numbers, and the bounds of a gather.
  CHECK(is_known_and_right(graph_of(
      "  %h = constant 80 : s32[]\n  %hs = broadcast %h, axes={} : s32[5,7]\n  %m = multiply %r, %hs : s32[5,7]\n"
      "  %a = add %m, %c : s32[5,7]\n  %z = constant 0 : s32[]\n  %zs = broadcast %z, axes={} : s32[5,7]\n"
      "  %p = compare lt %a, %zs : pred[5,7]\n  %n = constant 400 : s32[]\n  %ns = broadcast %n, axes={} : s32[5,7]\n"
      "  %w = add %a, %ns : s32[5,7]\n  %s = select %p, %w, %a : s32[5,7]\n  %y = clamp %z, %s, %n : s32[5,7]\n")));
  // Of two joined arrays one is asked for, and one comes from memory.
  const auto joined = [](int first) {
    return fmt::format(
        "graph g {{\n  %x = parameter 0 : s32[5,7]\n  %r = iota, axes={{0}} : s32[5,7]\n"
        "  %j = concatenate %r, %x, axes={{0}} : s32[10,7]\n  %y = slice %j, ranges={{{}:{}:1, 0:7:1}} : s32[5,7]\n"
        "  output %y\n}}\n",
        first, first + 5);
  };
  CHECK(is_known_and_right(joined(0), 1));
  CHECK_FALSE(is_known_and_right(joined(1), 1));
  CHECK_FALSE(is_known_and_right(joined(5), 1));
  const std::string times = "  %h = constant 20 : s8[]\n  %hs = broadcast %h, axes={} : s8[5,7]\n";
  CHECK(is_known_and_right(graph_of(times + "  %y = multiply %r, %hs : s8[5,7]\n", "s8")));  // up to 80
  CHECK_FALSE(is_known_and_right(graph_of(times + "  %m = multiply %c, %hs : s8[5,7]\n"      // up to 120, and on
                                                  "  %y = add %m, %hs : s8[5,7]\n",
                                          "s8")));
  CHECK_FALSE(is_known_and_right(graph_of("  %y = multiply %r, %c : s32[5,7]\n")));
  CHECK_FALSE(
      is_known_and_right(graph_of("  %z = constant 3 : s32[]\n  %zs = broadcast %z, axes={} : s32[5,7]\n"
                                  "  %p = compare lt %c, %zs : pred[5,7]\n  %y = select %p, %r, %c : s32[5,7]\n")));
  CHECK_FALSE(
      is_known_and_right("graph g {\n  %x = parameter 0 : s32[5,7]\n  %y = copy %x : s32[5,7]\n  output %y\n}\n"));
}
