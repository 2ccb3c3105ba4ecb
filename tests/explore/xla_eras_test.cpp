// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's rule-based fusion of 2020 and 2022 on graphs written by hand. In: small graphs. Out: the kernels each year
// makes of them. A case is one rule as it was read in XLA's history, on both sides of its boundary, or a graph of the
// articles that those years were the baseline of. Part of the suite `explore`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <ctime>
#include <set>
#include <string>
#include <string_view>

#include "explore/strategy.h"
#include "explore/xla/era_rules.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;
using costmodel::xla::Year;

namespace {

using Kernels = std::set<std::set<std::string>>;

/// The kernels, constants left out: whether a number lies inside decides nothing.
Kernels kernels_of(Year year, std::string_view lines, bool is_body = false) {
  const Graph graph = parse_graph(fmt::format("graph g {{\n{}}}\n", lines));
  Kernels found;
  for (const std::vector<NodeId>& kernel : xla_era_kernels(graph, year, is_body)) {
    std::set<std::string> names;
    for (const NodeId id : kernel)
      if (graph[id].op != Op::constant) names.insert(graph[id].name);
    found.insert(std::move(names));
  }
  return found;
}

void check_both(std::string_view lines, const Kernels& expected) {
  for (const Year year : {Year::y2020, Year::y2022}) {
    const std::string_view which = year == Year::y2020 ? "2020" : "2022";
    INFO(which);
    CHECK(kernels_of(year, lines) == expected);
  }
}

/// One line of a graph with its number of elements.
std::string with(std::string_view lines, auto... values) { return fmt::format(fmt::runtime(lines), values...); }

}  // namespace

TEST_CASE("eras: a chain is one kernel") {
  check_both(R"(  %x = parameter 0 : f32[4096]
  %a = tanh %x : f32[4096]
  %b = exp %a : f32[4096]
  output %b
)",
             {{"a", "b"}});
}

TEST_CASE("eras: a cheap producer is computed again where its users do not go together, a dear one is not") {
  const auto lines = [](std::string_view op) {
    return with(R"(  %x = parameter 0 : f32[65536]
  %a = {} %x : f32[65536]
  %b = transpose %a, axes={{0}} : f32[65536]
  %r = slice %a, ranges={{0:100:1}} : f32[100]
  %d = log %r : f32[100]
  output %b, %d
)",
                op);
  };
  check_both(lines("negate"), {{"a", "b"}, {"a", "r", "d"}});
  // A dear producer stays, and its one user over the same elements takes it along.
  for (const Year year : {Year::y2020, Year::y2022}) {
    const Kernels found = kernels_of(year, lines("tanh"));
    for (const std::set<std::string>& kernel : found) CHECK(!(kernel.contains("a") && kernel.contains("d")));
  }
}

TEST_CASE("eras: what is read over and over is not dear in a loop: broadcast of exp in 2020, of tanh in both") {
  const auto lines = [](std::string_view op) {
    return with(R"(  %x = parameter 0 : f32[1024]
  %y = parameter 1 : f32[1024,512]
  %a = {} %x : f32[1024]
  %b = broadcast %a, axes={{0}} : f32[1024,512]
  %c = multiply %b, %y : f32[1024,512]
  output %c
)",
                op);
  };
  const Kernels apart{{"a"}, {"b", "c"}}, one{{"a", "b", "c"}};
  CHECK(kernels_of(Year::y2020, lines("exp")) == apart);
  CHECK(kernels_of(Year::y2022, lines("exp")) == one);
  CHECK(kernels_of(Year::y2020, lines("rsqrt")) == apart);
  CHECK(kernels_of(Year::y2022, lines("rsqrt")) == one);
  check_both(lines("tanh"), apart);
  check_both(lines("negate"), one);
}

TEST_CASE("eras: in 2022 exp of f64 is dear and of f32 cheap, in 2020 any floating division is cheap") {
  const auto lines = [](std::string_view type, std::string_view made) {
    return with(R"(  %x = parameter 0 : {0}[1024]
  %z = parameter 1 : {0}[1024]
  %y = parameter 2 : {0}[1024,512]
  %a = {1} : {0}[1024]
  %b = broadcast %a, axes={{0}} : {0}[1024,512]
  %c = multiply %b, %y : {0}[1024,512]
  output %c
)",
                type, made);
  };
  const Kernels apart{{"a"}, {"b", "c"}}, one{{"a", "b", "c"}};
  CHECK(kernels_of(Year::y2022, lines("f32", "exp %x")) == one);
  CHECK(kernels_of(Year::y2022, lines("f64", "exp %x")) == apart);
  CHECK(kernels_of(Year::y2020, lines("f64", "divide %x, %z")) == one);
  CHECK(kernels_of(Year::y2022, lines("f64", "divide %x, %z")) == apart);
  CHECK(kernels_of(Year::y2022, lines("f32", "divide %x, %z")) == one);
}

TEST_CASE("eras: an integer is divided cheaply by a number that is known") {
  const auto lines = [](std::string_view by) {
    return with(R"(  %x = parameter 0 : s32[1024]
  %z = parameter 1 : s32[1024]
  %y = parameter 2 : s32[1024,512]
  %n = constant 7 : s32[]
  %ns = broadcast %n, axes={{}} : s32[1024]
  %a = divide %x, %{} : s32[1024]
  %b = broadcast %a, axes={{0}} : s32[1024,512]
  %c = add %b, %y : s32[1024,512]
  output %c
)",
                by);
  };
  check_both(lines("ns"), {{"ns", "a", "b", "c"}});
  check_both(lines("z"), {{"a"}, {"b", "c"}});
}

TEST_CASE("eras: a tiled reduction ends its kernel, one computed per element does not") {
  const auto lines = [](int columns) {
    return with(R"(  %x = parameter 0 : f32[4096,{0}]
  %zero = constant 0 : f32[]
  %e = exp %x : f32[4096,{0}]
  %r = reduce add %e, %zero, axes={{1}} : f32[4096]
  %n = negate %r : f32[4096]
  output %n
)",
                columns);
  };
  check_both(lines(32), {{"e", "r"}, {"n"}});
  check_both(lines(31), {{"e", "r", "n"}});
}

TEST_CASE("eras: a column is tiled from 32 rows on in 2020; in 2022 few columns need more rows") {
  const auto lines = [](int rows, int columns) {
    return with(R"(  %x = parameter 0 : f32[{0},{1}]
  %zero = constant 0 : f32[]
  %r = reduce add %x, %zero, axes={{0}} : f32[{1}]
  %n = negate %r : f32[{1}]
  output %n
)",
                rows, columns);
  };
  const Kernels tiled{{"r"}, {"n"}}, loop{{"r", "n"}};
  check_both(lines(31, 64), loop);
  check_both(lines(32, 64), tiled);
  CHECK(kernels_of(Year::y2020, lines(32, 31)) == tiled);
  CHECK(kernels_of(Year::y2022, lines(32, 31)) == loop);
  check_both(lines(64, 31), tiled);
  CHECK(kernels_of(Year::y2022, lines(64, 7)) == loop);
  check_both(lines(128, 7), tiled);
  CHECK(kernels_of(Year::y2022, lines(128, 2)) == loop);
  check_both(lines(256, 2), tiled);
}

TEST_CASE("eras: no loop inside a loop") {
  check_both(R"(  %x = parameter 0 : f32[64,16,16]
  %zero = constant 0 : f32[]
  %a = reduce add %x, %zero, axes={2} : f32[64,16]
  %b = reduce add %a, %zero, axes={1} : f32[64]
  output %b
)",
             {{"a"}, {"b"}});
}

TEST_CASE("eras: a reduction takes nothing that lies otherwise in memory") {
  const auto lines = [](std::string_view layout) {
    return with(R"(  %x = parameter 0 : f32[1024,1024]{0}
  %y = parameter 1 : f32[1024,1024]
  %zero = constant 0 : f32[]
  %n = negate %x : f32[1024,1024]{0}
  %c = copy %n : f32[1024,1024]
  %s = add %c, %y : f32[1024,1024]
  %r = reduce add %s, %zero, axes={{1}} : f32[1024]
  output %r
)",
                layout);
  };
  check_both(lines(""), {{"n", "c", "s", "r"}});
  for (const Year year : {Year::y2020, Year::y2022}) {
    const Kernels found = kernels_of(year, lines("{0,1}"));
    for (const std::set<std::string>& kernel : found) CHECK(!(kernel.contains("c") && kernel.contains("r")));
  }
}

TEST_CASE("eras: a constant of several elements stays in memory, a number goes along") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : f32[4]
  %c = constant {1, 2, 3, 4} : f32[4]
  %n = constant {5} : f32[1]
  %nb = broadcast %n, axes={0} : f32[4]
  %a = add %x, %c : f32[4]
  %b = multiply %a, %nb : f32[4]
  output %b
}
)");
  for (const Year year : {Year::y2020, Year::y2022}) {
    const auto kernels = xla_era_kernels(graph, year);
    REQUIRE(kernels.size() == 1);
    std::set<std::string> names;
    for (const NodeId id : kernels[0]) names.insert(graph[id].name);
    CHECK(names == std::set<std::string>{"a", "b", "n", "nb"});
  }
}

TEST_CASE("eras: 64 arrays in and out are the most") {
  const auto lines = [](int arrays) {
    std::string text;
    for (int i = 0; i < arrays; ++i) text += fmt::format("  %p{0} = parameter {0} : f32[1000000]\n", i);
    text += "  %s1 = add %p0, %p1 : f32[1000000]\n";
    for (int i = 2; i < arrays; ++i) text += fmt::format("  %s{} = add %s{}, %p{} : f32[1000000]\n", i, i - 1, i);
    return text + fmt::format("  output %s{}\n", arrays - 1);
  };
  // The pair's own results count for one each, so that 62 operands are the most of a chain.
  check_both("" + lines(62), kernels_of(Year::y2020, lines(62)));
  CHECK(kernels_of(Year::y2020, lines(62)).size() == 1);
  CHECK(kernels_of(Year::y2022, lines(62)).size() == 1);
  CHECK(kernels_of(Year::y2020, lines(63)).size() == 2);
  CHECK(kernels_of(Year::y2022, lines(63)).size() == 2);
}

TEST_CASE("eras: a wide operation takes a producer that brings no new array in 2022 alone") {
  std::string text;
  for (int i = 0; i < 70; ++i) text += fmt::format("  %p{0} = parameter {0} : f32[100000]\n", i);
  std::string list = "%n";
  for (int i = 1; i < 70; ++i) list += fmt::format(", %p{}", i);
  text += "  %n = negate %p0 : f32[100000]\n";
  text += fmt::format("  %c = concatenate {}, axes={{0}} : f32[7000000]\n  output %c\n", list);
  CHECK(kernels_of(Year::y2020, text) == Kernels{{"n"}, {"c"}});
  CHECK(kernels_of(Year::y2022, text) == Kernels{{"n", "c"}});
}

TEST_CASE("eras: code is repeated up to 15 times, on the average in 2020 and of each operation in 2022") {
  // n: every step reads the one before at two places, so that the first is emitted 2^n times.
  const auto lines = [](int steps) {
    std::string text = "  %x = parameter 0 : f32[65536]\n  %a0 = negate %x : f32[65536]\n";
    int size = 65536;
    for (int i = 1; i <= steps; ++i) {
      text += fmt::format("  %l{0} = slice %a{1}, ranges={{0:{2}:1}} : f32[{2}]\n", i, i - 1, size - 1);
      text += fmt::format("  %h{0} = slice %a{1}, ranges={{1:{2}:1}} : f32[{3}]\n", i, i - 1, size, size - 1);
      text += fmt::format("  %a{0} = add %l{0}, %h{0} : f32[{1}]\n", i, --size);
    }
    return text + fmt::format("  output %a{}\n", steps);
  };
  CHECK(kernels_of(Year::y2022, lines(3)).size() == 1);
  CHECK(kernels_of(Year::y2022, lines(4)).size() > 1);
  CHECK(kernels_of(Year::y2020, lines(4)).size() == 1);
  CHECK(kernels_of(Year::y2020, lines(12)).size() > 1);
}

TEST_CASE("eras: the merger moves a fusion into all users or none, while bytes grow by no more than a tenth") {
  // Both users read one array of the fusion; `extra` arrays more are read by it alone.
  const auto lines = [](int extra) {
    std::string text = "  %x = parameter 0 : f32[1000000]\n";
    std::string sum = "%x";
    for (int i = 0; i < extra; ++i) {
      text += fmt::format("  %p{0} = parameter {1} : f32[1000000]\n", i, i + 1);
      text += fmt::format("  %s{0} = add {1}, %p{0} : f32[1000000]\n", i, sum);
      sum = fmt::format("%s{}", i);
    }
    text += fmt::format("  %m = parameter {} : f32[500000]\n", extra + 1);
    text += fmt::format("  %u = slice {}, ranges={{0:500000:1}} : f32[500000]\n", sum);
    text += "  %v = multiply %u, %m : f32[500000]\n";
    text += fmt::format("  %w = slice {}, ranges={{0:400000:1}} : f32[400000]\n  %z = negate %w : f32[400000]\n", sum);
    return text + "  output %v, %z\n";
  };
  // Two operands: 8 bytes read, 4 written, two readers: 20 before, 16 after.
  check_both(lines(1), {{"s0", "u", "v"}, {"s0", "w", "z"}});
  // Four operands: 28 before, 32 after, which is 1.14 times as much.
  check_both(lines(3), {{"s0", "s1", "s2"}, {"u", "v"}, {"w", "z"}});
}

TEST_CASE("eras: the merger repeats dear operations only where bytes fall by most") {
  const auto lines = [](std::string_view taken) {
    return with(R"(  %x = parameter 0 : f32[1000]
  %y = parameter 1 : f32[1000,1000]
  %xb = broadcast %x, axes={{0}} : f32[1000,1000]
  %n = negate %{0} : f32[1000,1000]
  %t = tanh %n : f32[1000,1000]
  %a = slice %t, ranges={{0:500:1, 0:1000:1}} : f32[500,1000]
  %b = log %a : f32[500,1000]
  %c = slice %t, ranges={{0:400:1, 0:1000:1}} : f32[400,1000]
  %d = sqrt %c : f32[400,1000]
  output %b, %d
)",
                taken);
  };
  // Read, written, read twice. Of a whole array: 16 before, 8 after, half as much. Of a row: nearly nothing after.
  check_both(lines("y"), {{"n", "t"}, {"a", "b"}, {"c", "d"}});
  check_both(lines("xb"), {{"xb", "n", "t", "a", "b"}, {"xb", "n", "t", "c", "d"}});
}

TEST_CASE("eras: siblings over the same elements become one kernel, kinds do not mix") {
  check_both(R"(  %x = parameter 0 : f32[1000,1000]
  %y = parameter 1 : f32[1000,1000]
  %a = tanh %x : f32[1000,1000]
  %b = add %a, %y : f32[1000,1000]
  %c = sqrt %x : f32[1000,1000]
  %d = log %c : f32[1000,1000]
  output %b, %d
)",
             {{"a", "b", "c", "d"}});
  const auto sums = [](std::string_view axes, std::string_view size) {
    return with(R"(  %x = parameter 0 : f32[1000,2000]
  %zero = constant 0 : f32[]
  %a = tanh %x : f32[1000,2000]
  %b = reduce add %a, %zero, axes={{1}} : f32[1000]
  %c = sqrt %x : f32[1000,2000]
  %d = reduce add %c, %zero, axes={{{}}} : f32[{}]
  output %b, %d
)",
                axes, size);
  };
  check_both(sums("1", "1000"), {{"a", "b", "c", "d"}});
  check_both(sums("0", "2000"), {{"a", "b"}, {"c", "d"}});
  // A loop and a reduction, both fusions, stay apart.
  check_both(R"(  %x = parameter 0 : f32[1000,1000]
  %zero = constant 0 : f32[]
  %a = tanh %x : f32[1000,1000]
  %b = reduce add %a, %zero, axes={1} : f32[1000]
  %c = sqrt %x : f32[1000,1000]
  %d = log %c : f32[1000,1000]
  output %b, %d
)",
             {{"a", "b"}, {"c", "d"}});
}

TEST_CASE("eras: a kernel holds eight tiled reductions in 2022, in 2020 as many as have room in shared memory") {
  const auto lines = [](int count) {
    std::string text = "  %x = parameter 0 : f32[1000,1000]\n  %zero = constant 0 : f32[]\n", out;
    const std::string_view ops[] = {"tanh", "sqrt", "log", "sin", "cos", "floor", "ceil", "abs", "negate", "sign"};
    for (int i = 0; i < count; ++i) {
      text += fmt::format("  %a{} = {} %x : f32[1000,1000]\n", i, ops[i]);
      text += fmt::format("  %r{0} = reduce add %a{0}, %zero, axes={{1}} : f32[1000]\n", i);
      out += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
    }
    return text + "  output " + out + "\n";
  };
  CHECK(kernels_of(Year::y2022, lines(8)).size() == 1);
  CHECK(kernels_of(Year::y2022, lines(9)).size() == 2);
  CHECK(kernels_of(Year::y2020, lines(10)).size() == 1);
}

TEST_CASE("eras: column sums are held by shared memory: 40,000 bytes at 8,448 each") {
  const auto lines = [](int count) {
    std::string text = "  %x = parameter 0 : f32[1000,1000]\n  %zero = constant 0 : f32[]\n", out;
    const std::string_view ops[] = {"tanh", "sqrt", "log", "sin", "cos", "floor"};
    for (int i = 0; i < count; ++i) {
      text += fmt::format("  %a{} = {} %x : f32[1000,1000]\n", i, ops[i]);
      text += fmt::format("  %r{0} = reduce add %a{0}, %zero, axes={{0}} : f32[1000]\n", i);
      out += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
    }
    return text + "  output " + out + "\n";
  };
  CHECK(kernels_of(Year::y2022, lines(4)).size() == 1);
  CHECK(kernels_of(Year::y2022, lines(5)).size() == 2);
}

TEST_CASE("eras: a producer that others need too joins a user and goes on giving its result") {
  check_both(R"(  %x = parameter 0 : f32[1000000]
  %a = tanh %x : f32[1000000]
  %b = negate %a : f32[1000000]
  output %a, %b
)",
             {{"a", "b"}});
}

TEST_CASE("eras: an array that is updated in place is read at other places by the same kernel in 2020 alone") {
  constexpr std::string_view lines = R"(  %x = parameter 0 : f32[4096]
  %at = parameter 1 : s32[]
  %part = slice %x, ranges={0:64:1} : f32[64]
  %up = dynamic_update_slice %x, %part, %at : f32[4096]
  output %up
)";
  CHECK(kernels_of(Year::y2020, lines) == Kernels{{"part", "up"}});
  CHECK(kernels_of(Year::y2022, lines) == Kernels{{"part"}, {"up"}});
}

namespace {

/// Small loops of their own arrays, each a result: what an optimizer does to many small weights.
std::string small_loops(int count, std::int64_t elements, int longest = 1) {
  std::string text, out;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("  %p{0} = parameter {0} : f32[{1}]\n", i, elements + i);
    text += fmt::format("  %a{0} = tanh %p{0} : f32[{1}]\n", i, elements + i);
    for (int step = 1; step <= longest; ++step)
      text += fmt::format("  %{2}{0}.{3} = sqrt %{4} : f32[{1}]\n", i, elements + i, "b", step,
                          step == 1 ? fmt::format("a{}", i) : fmt::format("b{}.{}", i, step - 1));
    out += fmt::format("{}%b{}.{}", i == 0 ? "" : ", ", i, longest);
  }
  return text + "  output " + out + "\n";
}

}  // namespace

TEST_CASE("eras: small loops that one instruction reads are laid end to end, 32 at a time") {
  for (const Year year : {Year::y2020, Year::y2022}) {
    CHECK(kernels_of(year, small_loops(2, 100)).size() == 1);
    CHECK(kernels_of(year, small_loops(32, 100)).size() == 1);
    CHECK(kernels_of(year, small_loops(33, 100)).size() == 2);
    CHECK(kernels_of(year, small_loops(2, 128 * 2048 - 1)).size() == 1);
    CHECK(kernels_of(year, small_loops(2, 128 * 2048)).size() == 2);
    // One parameter and 29 operations are 30 instructions.
    CHECK(kernels_of(year, small_loops(2, 100, 28)).size() == 1);
    CHECK(kernels_of(year, small_loops(2, 100, 29)).size() == 2);
  }
}

TEST_CASE("eras: single operations are laid end to end in 2022 alone, and only of the entry computation") {
  constexpr std::string_view lines = R"(  %x = parameter 0 : f32[100]
  %y = parameter 1 : f32[200]
  %a = tanh %x : f32[100]
  %b = sqrt %y : f32[200]
  output %a, %b
)";
  CHECK(kernels_of(Year::y2020, lines) == Kernels{{"a"}, {"b"}});
  CHECK(kernels_of(Year::y2022, lines) == Kernels{{"a", "b"}});
  CHECK(kernels_of(Year::y2022, lines, true) == Kernels{{"a"}, {"b"}});
  CHECK(kernels_of(Year::y2020, small_loops(2, 100), true).size() == 1);
}

TEST_CASE("eras: loops that share an array of the caller's are not laid end to end in 2022") {
  constexpr std::string_view lines = R"(  %x = parameter 0 : f32[200]
  %a = tanh %x : f32[200]
  %b = sqrt %a : f32[200]
  %s = slice %x, ranges={0:100:1} : f32[100]
  %c = log %s : f32[100]
  output %b, %c
)";
  CHECK(kernels_of(Year::y2020, lines) == Kernels{{"a", "b", "s", "c"}});
  CHECK(kernels_of(Year::y2022, lines) == Kernels{{"a", "b"}, {"s", "c"}});
}

TEST_CASE("eras: equal reductions that one instruction reads become one kernel in 2022 alone") {
  constexpr std::string_view lines = R"(  %x = parameter 0 : f32[100,1000]
  %y = parameter 1 : f32[100,1000]
  %zero = constant 0 : f32[]
  %a = tanh %x : f32[100,1000]
  %r = reduce add %a, %zero, axes={1} : f32[100]
  %b = sqrt %y : f32[100,1000]
  %s = reduce add %b, %zero, axes={1} : f32[100]
  output %r, %s
)";
  CHECK(kernels_of(Year::y2020, lines) == Kernels{{"a", "r"}, {"b", "s"}});
  CHECK(kernels_of(Year::y2022, lines) == Kernels{{"a", "r", "b", "s"}});
}

// FusionStitching's figure 1 counts four kernels that XLA made of a LayerNorm of [128,1024].
TEST_CASE("eras: the LayerNorm of TensorFlow is four kernels in 2020, with rsqrt cheap in 2022 three") {
  constexpr std::string_view lines = R"(  %x = parameter 0 : f32[128,1024]
  %scale = parameter 1 : f32[1024]
  %offset = parameter 2 : f32[1024]
  %zero = constant 0 : f32[]
  %n = constant 1024 : f32[]
  %tiny = constant 1e-12 : f32[]
  %ns = broadcast %n, axes={} : f32[128]
  %sum = reduce add %x, %zero, axes={1} : f32[128]
  %mean = divide %sum, %ns : f32[128]
  %meanb = broadcast %mean, axes={0} : f32[128,1024]
  %d = subtract %x, %meanb : f32[128,1024]
  %q = multiply %d, %d : f32[128,1024]
  %sq = reduce add %q, %zero, axes={1} : f32[128]
  %var = divide %sq, %ns : f32[128]
  %eps = broadcast %tiny, axes={} : f32[128]
  %ve = add %var, %eps : f32[128]
  %inv = rsqrt %ve : f32[128]
  %invb = broadcast %inv, axes={0} : f32[128,1024]
  %scaleb = broadcast %scale, axes={1} : f32[128,1024]
  %is = multiply %invb, %scaleb : f32[128,1024]
  %xs = multiply %x, %is : f32[128,1024]
  %ms = multiply %meanb, %is : f32[128,1024]
  %offsetb = broadcast %offset, axes={1} : f32[128,1024]
  %os = subtract %offsetb, %ms : f32[128,1024]
  %y = add %xs, %os : f32[128,1024]
  output %y
)";
  const std::set<std::string> sum{"sum"}, squares{"ns", "mean", "meanb", "d", "q", "sq"};
  const std::set<std::string> inverse{"ns", "var", "eps", "ve", "inv"};
  std::set<std::string> rest{"ns", "mean", "meanb", "invb", "scaleb", "is", "xs", "ms", "offsetb", "os", "y"};
  CHECK(kernels_of(Year::y2020, lines) == Kernels{sum, squares, inverse, rest});
  rest.insert(inverse.begin(), inverse.end());
  CHECK(kernels_of(Year::y2022, lines) == Kernels{sum, squares, rest});
}

TEST_CASE("eras: a softmax is three kernels; 2020 writes the exponential down, 2022 computes it twice") {
  constexpr std::string_view lines = R"(  %x = parameter 0 : f32[4096,1024]
  %low = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %low, axes={1} : f32[4096]
  %mb = broadcast %m, axes={0} : f32[4096,1024]
  %d = subtract %x, %mb : f32[4096,1024]
  %e = exp %d : f32[4096,1024]
  %s = reduce add %e, %zero, axes={1} : f32[4096]
  %sb = broadcast %s, axes={0} : f32[4096,1024]
  %y = divide %e, %sb : f32[4096,1024]
  output %y
)";
  CHECK(kernels_of(Year::y2020, lines) == Kernels{{"m"}, {"mb", "d", "e", "s"}, {"sb", "y"}});
  CHECK(kernels_of(Year::y2022, lines) == Kernels{{"m"}, {"mb", "d", "e", "s"}, {"mb", "d", "e", "sb", "y"}});
}

// BasicLSTMCell behind its product: the four gates are slices of one array.
TEST_CASE("eras: the gates of an LSTM cell are one kernel with two results") {
  constexpr std::string_view lines = R"(  %g = parameter 0 : f32[128,2048]
  %bias = parameter 1 : f32[2048]
  %c = parameter 2 : f32[128,512]
  %biasb = broadcast %bias, axes={1} : f32[128,2048]
  %s = add %g, %biasb : f32[128,2048]
  %i = slice %s, ranges={0:128:1, 0:512:1} : f32[128,512]
  %j = slice %s, ranges={0:128:1, 512:1024:1} : f32[128,512]
  %f = slice %s, ranges={0:128:1, 1024:1536:1} : f32[128,512]
  %o = slice %s, ranges={0:128:1, 1536:2048:1} : f32[128,512]
  %is = logistic %i : f32[128,512]
  %jt = tanh %j : f32[128,512]
  %fs = logistic %f : f32[128,512]
  %os = logistic %o : f32[128,512]
  %ij = multiply %is, %jt : f32[128,512]
  %fc = multiply %fs, %c : f32[128,512]
  %c1 = add %fc, %ij : f32[128,512]
  %ct = tanh %c1 : f32[128,512]
  %h = multiply %os, %ct : f32[128,512]
  output %c1, %h
)";
  for (const Year year : {Year::y2020, Year::y2022}) CHECK(kernels_of(year, lines).size() == 1);
}

TEST_CASE("eras: equal graphs give equal partitions without a device, and a stopped strategy answers") {
  const Graph graph = parse_graph(
      "graph g {\n  %x = parameter 0 : f32[4096]\n  %a = exp %x : f32[4096]\n  %b = negate %a : f32[4096]\n"
      "  output %b\n}\n");
  for (const std::string_view name : {"xla-2020", "xla-2022"}) {
    const Fusion once = fuse(find_strategy(name), graph);
    CHECK(fuse(find_strategy(name), graph) == once);
    REQUIRE(once.edges.size() == 1);
    CHECK(once.edges[0].reason.starts_with("fused: by XLA's rules of 20"));
    CHECK(once.device.empty());
    FusionSetting setting;
    std::stop_source source;
    source.request_stop();
    setting.stop = source.get_token();
    CHECK(fuse(find_strategy(name), graph, setting).edges.empty());
  }
}

TEST_CASE("eras: a chain, a wide graph, many short ways and many users take time that is near linear" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const auto seconds = [](const Graph& graph, Year year) {
    const std::clock_t begin = std::clock();  // of the processor: others may run beside
    (void)xla_era_kernels(graph, year);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const int nodes = testing::effort(8000, 20000, 20000);
  const double most = 5.0 * nodes / 20000 * nodes / 20000;  // what is quadratic is seen with fewer nodes too
  std::string chain = "graph chain {\n  %a0 = parameter 0 : f32[1024]\n";
  for (int i = 1; i <= nodes; ++i) chain += fmt::format("  %a{} = negate %a{} : f32[1024]\n", i, i - 1);
  chain += fmt::format("  output %a{}\n}}\n", nodes);
  std::string wide = "graph wide {\n", outputs;
  for (int i = 0; i < nodes / 2; ++i) {
    wide += fmt::format("  %p{0} = parameter {0} : f32[64,64]\n  %a{0} = tanh %p{0} : f32[64,64]\n", i);
    outputs += fmt::format("{}%a{}", i == 0 ? "" : ", ", i);
  }
  wide += "  output " + outputs + "\n}\n";
  // Each step reads the last one and the one before it; every fourth is dear.
  std::string ways = "graph ways {\n  %a0 = parameter 0 : f32[1024]\n  %a1 = parameter 1 : f32[1024]\n";
  for (int i = 2; i < nodes; ++i)
    ways += i % 4 == 0 ? fmt::format("  %a{} = tanh %a{} : f32[1024]\n", i, i - 1)
                       : fmt::format("  %a{} = add %a{}, %a{} : f32[1024]\n", i, i - 1, i - 2);
  ways += fmt::format("  output %a{}\n}}\n", nodes - 1);
  // Users of one value, more of them than a kernel takes.
  std::string users = "graph users {\n  %x = parameter 0 : f32[64,64]\n", results;
  for (int i = 0; i < nodes / 5; ++i) {
    users += fmt::format("  %p{0} = parameter {1} : f32[64,64]\n  %a{0} = add %x, %p{0} : f32[64,64]\n", i, i + 1);
    users += fmt::format("  %b{0} = tanh %a{0} : f32[64,64]\n", i);
    results += fmt::format("{}%b{}", i == 0 ? "" : ", ", i);
  }
  users += "  output " + results + "\n}\n";
  for (const std::string& text : {chain, wide, ways, users}) {
    const Graph graph = parse_graph(text);
    for (const Year year : {Year::y2020, Year::y2022}) {
      const double taken = seconds(graph, year);
      INFO(graph.name, " ", taken);
      CHECK(taken < most);
    }
  }
}
