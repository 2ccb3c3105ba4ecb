// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of the reader and of passes that decide by looking: what counts as a known reducer, when trips of a loop are
// known, which calls act on the world, how much work a library call is, which parameter an alias means. Each is asked
// on both sides of its condition; the answers are written down here. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/import.h"
#include "hlo/normalise.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

Graph graph_from(const std::string& text) { return hlo::import_hlo(text, "test.hlo").graph; }

Graph of_entry(std::string_view lines) { return graph_from(fmt::format("HloModule m\n\nENTRY e {{\n{}\n}}\n", lines)); }

std::string complaint_about(std::string_view lines) {
  try {
    of_entry(lines);
  } catch (const Error& error) {
    return error.message;
  }
  return "accepted";
}

const Node& output_of(const Graph& graph) { return graph[graph.outputs[0]]; }

Reducer reducer_of(std::string_view type, std::string_view body) {
  return reducer(output_of(graph_from(
      fmt::format("HloModule m\nr {{\n a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n {1}\n}}\nENTRY e {{\n"
                  " x = {0}[4,8] parameter(0)\n i = {0}[] parameter(1)\n"
                  " ROOT y = {0}[4] reduce(x, i), dimensions={{1}}, to_apply=r\n}}\n",
                  type, body))));
}

/// Trips of a loop over (i, n, x) that goes on while `asked`; the body makes j of i and m of n.
std::int64_t trips_of(std::string_view asked, std::string_view body) {
  const Graph graph = graph_from(fmt::format(
      "HloModule m\ncond {{\n p = (s32[], s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " n = s32[] get-tuple-element(p), index=1\n five = s32[] constant(5)\n ROOT go = pred[] {}\n}}\n"
      "body {{\n p = (s32[], s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " n = s32[] get-tuple-element(p), index=1\n x = f32[4] get-tuple-element(p), index=2\n"
      " y = f32[4] custom-call(x), custom_call_target=\"far\"\n"
      " one = s32[] constant(1)\n two = s32[] constant(2)\n{}\n"
      " ROOT t = (s32[], s32[], f32[4]) tuple(j, m, y)\n}}\n"
      "ENTRY e {{\n x = f32[4] parameter(0)\n z = s32[] constant(0)\n eight = s32[] constant(8)\n"
      " t = (s32[], s32[], f32[4]) tuple(z, eight, x)\n"
      " w = (s32[], s32[], f32[4]) while(t), condition=cond, body=body\n"
      " ROOT r = f32[4] get-tuple-element(w), index=2\n}}\n",
      asked, body));
  for (const Node& node : graph.nodes)
    if (node.op == Op::while_loop) return trip_count(node);
  FAIL("no loop");
  return -1;
}

}  // namespace

TEST_CASE("a region is a known reducer where it combines both parameters in their own type or a wider one") {
  struct Case {
    std::string_view type, body;
    Reducer expected;
  };
  const Case cases[] = {
      {"f32", "ROOT c = f32[] add(b, a)", Reducer::add},
      {"f32", "ROOT c = f32[] multiply(a, b)", Reducer::multiply},
      {"f32", "ROOT c = f32[] maximum(a, b)", Reducer::maximum},
      {"f32", "ROOT c = f32[] minimum(a, b)", Reducer::minimum},
      {"s32", "ROOT c = s32[] and(a, b)", Reducer::bit_and},
      {"s32", "ROOT c = s32[] or(a, b)", Reducer::bit_or},
      {"s32", "ROOT c = s32[] xor(a, b)", Reducer::bit_xor},
      {"pred", "ROOT c = pred[] add(a, b)", Reducer::bit_or},
      {"pred", "ROOT c = pred[] multiply(a, b)", Reducer::bit_and},
      {"pred", "ROOT c = pred[] maximum(a, b)", Reducer::bit_or},
      {"pred", "ROOT c = pred[] minimum(a, b)", Reducer::bit_and},
      {"pred", "ROOT c = pred[] xor(a, b)", Reducer::bit_xor},
      {"f32", "ROOT c = f32[] add(a, a)", Reducer::custom},
      {"f32", "ROOT c = f32[] add(b, b)", Reducer::custom},
      {"f32", "ROOT c = f32[] divide(a, b)", Reducer::custom},
      {"f32", "n = f32[] negate(b)\n ROOT c = f32[] add(a, n)", Reducer::custom},
      {"f32", "k = f32[] constant(2)\n ROOT c = f32[] add(a, k)", Reducer::custom},
      {"f16", "aw = f64[] convert(a)\n bw = f64[] convert(b)\n s = f64[] add(aw, bw)\n ROOT c = f16[] convert(s)",
       Reducer::add},
      {"f64", "an = f32[] convert(a)\n bn = f32[] convert(b)\n s = f32[] add(an, bn)\n ROOT c = f64[] convert(s)",
       Reducer::custom},
      {"f32", "s = f32[] add(a, b)\n n = bf16[] convert(s)\n ROOT c = f32[] convert(n)", Reducer::custom},
      {"s32", "aw = f32[] convert(a)\n bw = f32[] convert(b)\n s = f32[] add(aw, bw)\n ROOT c = s32[] convert(s)",
       Reducer::custom},
  };
  for (const Case& one : cases) {
    CAPTURE(one.type);
    CAPTURE(one.body);
    CHECK(reducer_of(one.type, one.body) == one.expected);
  }
}

TEST_CASE("trips are counted where start, limit and step are known and nothing else changes them") {
  const std::string_view steps = " j = s32[] add(i, one)\n m = s32[] copy(n)";
  CHECK(trips_of("compare(i, five), direction=LT", steps) == 5);
  CHECK(trips_of("compare(five, i), direction=GT", steps) == 5);
  CHECK(trips_of("compare(i, n), direction=LT", steps) == 8);  // the loop carries its limit along
  CHECK(trips_of("compare(n, i), direction=GT", steps) == 8);
  CHECK(trips_of("compare(i, n), direction=LT", " j = s32[] add(two, i)\n m = s32[] copy(n)") == 4);
  CHECK(trips_of("compare(i, five), direction=LT", " j = s32[] add(i, two)\n m = s32[] copy(n)") == 3);
  // The limit moves, the counter is another's, it is no addition, it is asked otherwise.
  CHECK(trips_of("compare(i, n), direction=LT", " j = s32[] add(i, two)\n m = s32[] add(n, one)") == 0);
  CHECK(trips_of("compare(i, n), direction=LT", " j = s32[] copy(n)\n m = s32[] add(i, one)") == 0);
  CHECK(trips_of("compare(i, five), direction=LT", " j = s32[] add(n, one)\n m = s32[] copy(n)") == 0);
  CHECK(trips_of("compare(i, five), direction=LT", " j = s32[] add(i, i)\n m = s32[] copy(n)") == 0);
  CHECK(trips_of("compare(i, five), direction=LT", " j = s32[] subtract(i, one)\n m = s32[] copy(n)") == 0);
  CHECK(trips_of("compare(i, five), direction=NE", steps) == 0);
  CHECK(trips_of("compare(five, i), direction=LT", steps) == 0);
  CHECK(trips_of("compare(i, five), direction=GT", steps) == 0);
}

TEST_CASE("what nobody reads stays where it acts on the world, and goes where it does not") {
  const auto stays = [](std::string_view line) {
    Graph graph = parse_graph(fmt::format(
        "graph g {{ %x = parameter 0 : f32[4,4] %y = negate %x : f32[4,4] %unread = {} output %y }}", line));
    hlo::Ledger ledger;
    hlo::run_passes(graph, ledger);
    return graph.nodes.size() == 3;
  };
  for (const std::string_view op : {"send", "send_done", "recv", "recv_done", "infeed", "outfeed"})
    CHECK_MESSAGE(stays(fmt::format("{} %x : f32[4,4]", op)), op);
  CHECK(stays("opaque %x, target=\"never-heard-of\" : f32[4,4]"));
  CHECK(stays("custom_call %x, target=\"print\", text=\"custom_call_has_side_effect=true\" : f32[4,4]"));
  CHECK_FALSE(stays("custom_call %x, target=\"print\", text=\"custom_call_has_side_effect=false\" : f32[4,4]"));
  CHECK_FALSE(stays("custom_call %x, target=\"print\" : f32[4,4]"));
  CHECK_FALSE(stays("exp %x : f32[4,4]"));
  CHECK_FALSE(stays("dot %x, %x, text=\"lhs_contracting_dims={1}, rhs_contracting_dims={1}\" : f32[4,4]"));
}

TEST_CASE("a marker is dropped where its result is its operand, and stays a call where it is not") {
  const auto op_of = [](std::string_view type) {
    return output_of(of_entry(fmt::format("x = f32[4,4] parameter(0)\nn = f32[4,4] negate(x)\n"
                                          "ROOT m = {} custom-call(n), custom_call_target=\"MoveToHost\"",
                                          type)))
        .op;
  };
  CHECK(op_of("f32[4,4]") == Op::negate);
  CHECK(op_of("f32[16]") == Op::custom_call);
  CHECK(op_of("f32[2,8]") == Op::custom_call);
  CHECK(op_of("s32[4,4]") == Op::custom_call);
}

TEST_CASE("operations of convolutions are counted by the arrays that play kernel and result in each call") {
  // 5 x 5 positions, 3 features in, 7 out, a window of 2 x 2 and a batch of 11: every size is another. In two layouts:
  // where the features come last, kernel and result can be exchanged without a trace.
  struct Arrays {
    std::string_view labels, image, kernel, made;
  };
  constexpr double expected = 2.0 * (11 * 4 * 4 * 7) * (2 * 2 * 3);
  for (const Arrays& arrays : {Arrays{"b01f_01io->b01f", "11,5,5,3", "2,2,3,7", "11,4,4,7"},
                               Arrays{"bf01_oi01->bf01", "11,3,5,5", "7,3,2,2", "11,7,4,4"}}) {
    CAPTURE(arrays.labels);
    const auto work = [&](std::string_view target, std::string_view left, std::string_view right,
                          std::string_view result) {
      return flops(
          output_of(of_entry(fmt::format("a = f32[{}] parameter(0)\nb = f32[{}] parameter(1)\n"
                                         "ROOT c = f32[{}] custom-call(a, b), window={{size=2x2}}, "
                                         "dim_labels={}, custom_call_target=\"{}\"",
                                         left, right, result, arrays.labels, target))));
    };
    for (const std::string_view forward :
         {"__cudnn$convForward", "__cudnn$convBiasActivationForward", "__cudnn$convForwardGraph"})
      CHECK(work(forward, arrays.image, arrays.kernel, arrays.made) == expected);
    CHECK(work("__cudnn$convBackwardInput", arrays.made, arrays.kernel, arrays.image) == expected);
    CHECK(work("__cudnn$convBackwardFilter", arrays.image, arrays.made, arrays.kernel) == expected);
    CHECK(work("unknown", arrays.image, arrays.kernel, arrays.made) == 0);
  }
}

TEST_CASE("an alias means the parameter of its number, however many arrays those before it hold") {
  const auto pairs = [](std::string_view alias) {
    return graph_from(fmt::format("HloModule m, input_output_alias={{ {} }}\n\nENTRY e {{\n"
                                  "  s = (f32[8,4], (f32[8,4], f32[8,4])) parameter(0)\n  a = f32[8,4] parameter(1)\n"
                                  "  b = f32[8,4] parameter(2)\n  n = f32[1,4] parameter(3)\n  i = s32[] parameter(4)\n"
                                  "  u = f32[8,4] dynamic-update-slice(a, n, i, i)\n"
                                  "  v = f32[8,4] dynamic-update-slice(b, n, i, i)\n"
                                  "  first = f32[8,4] get-tuple-element(s), index=0\n"
                                  "  w = f32[8,4] dynamic-update-slice(first, n, i, i)\n"
                                  "  ROOT t = (f32[8,4], (f32[8,4], f32[8,4])) tuple(u, (f32[8,4], f32[8,4]) both)\n"
                                  "  both = (f32[8,4], f32[8,4]) tuple(v, w)\n}}\n",
                                  alias))
        .in_place;
  };
  using Pairs = std::vector<InPlace>;
  CHECK(pairs("{0}: (1, {}, may-alias)") == Pairs{{0, 3}});
  CHECK(pairs("{1,0}: (2, {}, may-alias)") == Pairs{{1, 4}});
  CHECK(pairs("{1,1}: (0, {0}, may-alias)") == Pairs{{2, 0}});
  CHECK(pairs("{1,0}: (0, {1,1}, may-alias)") == Pairs{{1, 2}});
  CHECK(pairs("{1,0}: (2, {}, may-alias), {0}: (1, {}, may-alias)") == Pairs{{0, 3}, {1, 4}});
}

TEST_CASE("a string ends at a quote with an even number of backslashes before it") {
  for (int backslashes = 0; backslashes < 6; ++backslashes) {
    CAPTURE(backslashes);
    const std::string inside = "b" + std::string(static_cast<std::size_t>(backslashes), '\\');
    const bool ends = backslashes % 2 == 0;
    // Where it does not end here, what follows belongs to it up to the next quote.
    const std::string line = fmt::format("x = f32[2] parameter(0), a=\"{}\"{}", inside, ends ? "" : " , c=\"");
    CHECK(complaint_about(line + "\nROOT y = f32[2] negate(x)") == "accepted");
    CHECK(complaint_about(line + (ends ? " \"" : "") + (ends ? "" : " \"") + "\nROOT y = f32[2] negate(x)") !=
          "accepted");
  }
}

TEST_CASE("an instruction needs others than itself, and braces of a literal are as deep as its shape") {
  CHECK(complaint_about("x = f32[2] negate(x)").find("expected no cycle") != std::string::npos);
  CHECK(complaint_about("y = f32[2] parameter(0)\nROOT x = f32[2] add(y, x)").find("expected no cycle") !=
        std::string::npos);
  CHECK(complaint_about("ROOT c = f32[2] constant({1,2})") == "accepted");
  CHECK(complaint_about("ROOT c = f32[2] constant({{1,2}})").find("at most 1 deep") != std::string::npos);
  CHECK(complaint_about("ROOT c = f32[1,2] constant({{1,2}})") == "accepted");
  CHECK(complaint_about("ROOT c = f32[1,2] constant({{{1,2}}})").find("at most 2 deep") != std::string::npos);
  CHECK(complaint_about("ROOT c = f32[] constant({1})").find("at most 0 deep") != std::string::npos);
  CHECK(complaint_about("ROOT c = s8[2] constant({-128,127})") == "accepted");
  CHECK(complaint_about("ROOT c = s8[2] constant({-129,127})").find("from -128 to 127") != std::string::npos);
  CHECK(complaint_about("ROOT c = s8[2] constant({-128,128})").find("from -128 to 127") != std::string::npos);
  CHECK(complaint_about("ROOT c = u16[2] constant({0,65535})") == "accepted");
  CHECK(complaint_about("ROOT c = u16[2] constant({0,65536})").find("from 0 to 65535") != std::string::npos);
}

TEST_CASE("a region of other numbers than its operation has is refused with both") {
  const std::vector<std::string> regions = {
      "{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }",
      "{ a = f32[] parameter(0) ROOT r = f32[] negate(a) }",
      "{ ROOT a = f32[] constant(1) }",
      "{ a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] add(a, c) ROOT r = f32[] "
      "add(d, "
      "b) }",
      "{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }",
      "{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }",
      "{ a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) ROOT r = (f32[], "
      "s32[]) tuple(a, c) }",
      "{ a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = s32[] parameter(3) ROOT r = (f32[], "
      "s32[]) tuple(a, d) }"};
  struct Asks {
    std::string what;
    std::size_t right;  ///< of the regions
  };
  const std::vector<Asks> operations = {
      {"f32[] reduce(x, z), dimensions={0}", 0},
      {"(f32[], s32[]) reduce(x, i, z, o), dimensions={0}", 7},
      {"f32[6] reduce-window(x, z), window={size=3}", 0},
      {"f32[8] map(x, x), dimensions={0}", 0},
      {"f32[8] scatter(x, p, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
       "index_vector_dim=1",
       0},
      {"f32[8] sort(x), dimensions={0}", 5}};
  for (const auto& [what, right] : operations)
    for (std::size_t k = 0; k < regions.size(); ++k) {
      const std::string text = fmt::format(
          "HloModule m\n\nr {}\n\nENTRY e {{\n  x = f32[8] parameter(0)\n  i = s32[8] parameter(1)\n  p = s32[2,1] "
          "parameter(2)\n  u = f32[2] parameter(3)\n  z = f32[] constant(0)\n  o = s32[] constant(0)\n  ROOT y = {}, "
          "to_apply=r\n}}\n",
          regions[k], what);
      CAPTURE(text);
      if (k == right) {
        CHECK_NOTHROW(hlo::import_hlo(text, "m.hlo"));
        continue;
      }
      CHECK_THROWS_AS(hlo::import_hlo(text, "m.hlo"), Error);
      try {
        hlo::import_hlo(text, "m.hlo");
      } catch (const Error& error) {
        CHECK(std::string(error.what()).find("region r, expected one of ") != std::string::npos);
      }
    }
}

TEST_CASE(
    "an attribute whose value does not have its form is refused where it stands, and so is one that is there twice") {
  struct Case {
    std::string_view good, bad, words;
  };
  constexpr std::string_view a_window = "expected {size=2x2 stride=1x1";
  constexpr auto cases = std::to_array<Case>({
      {"dimensions={0,1}", "dimensions=QQ", "found dimensions=QQ, expected {dimension, ...}"},
      {"dimensions={}", "dimensions={0,}", "expected {dimension, ...}"},
      {"dimensions={1}", "dimensions={1", "expected"},
      {"dimensions={/*index=0*/0, 1}", "dimensions={0 1}", "expected {dimension, ...}"},
      {"dimensions=1", "dimensions=1x", "expected {dimension, ...}"},
      {"offset_dims={}", "offset_dims=0", "expected {number, ...}"},
      {"slice_sizes={1,-2}", "slice_sizes={1,--2}", "expected {number, ...}"},
      {"index_vector_dim=1", "index_vector_dim={1}", "expected a whole number"},
      {"unique_indices=true", "unique_indices=yes", "expected 'true' or 'false'"},
      {"window={size=3x1 pad=1_1x0_-1}", "window={size=3x1 pad=1x0}", a_window},
      {"window={size=3 stride=2 lhs_dilate=1 rhs_dilate=2 rhs_reversal=1}", "window={size=3 dilate=2}", a_window},
      {"window={}", "window={7}", a_window},
      {"window={size=3x1}", "window={size=3x1 stride=2}", a_window},
      {"window={size=3x1}", "window=size=3x1", a_window},
      {"type=TOTALORDER", "type=TOTAL", "expected FLOAT, TOTALORDER"},
      {"custom=QQ", "dimensions={0}, dimensions={0}", "found attribute 'dimensions' twice, expected it once"},
  });
  for (const Case& one : cases) {
    CAPTURE(one.bad);
    const auto said = [](std::string_view attribute) {
      return complaint_about(fmt::format(" x = f32[4,8] parameter(0)\n ROOT y = f32[4,8] negate(x), {}", attribute));
    };
    CHECK(said(one.good) == "accepted");
    CHECK_MESSAGE(said(one.bad).find(one.words) != std::string::npos, said(one.bad));
  }
}

TEST_CASE("an entry computation has the parameters and the result that the header says") {
  const auto said = [](std::string_view layout) -> std::string {
    try {
      graph_from(
          fmt::format("HloModule m, entry_computation_layout={}\n\nENTRY e {{\n x = f32[4,8]{{1,0}} parameter(0)\n"
                      " i = s32[] parameter(1)\n n = f32[4,8]{{1,0}} negate(x)\n"
                      " ROOT t = (f32[4,8]{{1,0}}, s32[]) tuple(n, i)\n}}\n",
                      layout));
    } catch (const Error& error) {
      return error.message;
    }
    return "accepted";
  };
  CHECK(said("{(f32[4,8]{1,0}, s32[])->(f32[4,8]{1,0}, s32[])}") == "accepted");
  CHECK(said("{(f32[4,8], /*index=1*/s32[])->(f32[4,8], s32[])}") == "accepted");
  const auto tells = [&](std::string_view layout, std::string_view words) {
    const std::string found = said(layout);
    CHECK_MESSAGE(found.find(words) != found.npos, found);
  };
  tells("{(f32[4,7], s32[])->(f32[4,8], s32[])}",
        "found parameter 0 of computation 'e' with f32[4,8], expected f32[4,7]");
  tells("{(f32[4,8], u32[])->(f32[4,8], s32[])}", "found parameter 1 of computation 'e' with s32[], expected u32[]");
  tells("{(f32[4,8], s32[])->f32[4,8]}", "found the result of computation 'e' with s32[], expected fewer arrays");
  tells("{(f32[4,8], s32[])->(f32[4,8], s32[], s32[])}", "with fewer arrays, expected s32[]");
  tells("{(f32[4,8])->(f32[4,8], s32[])}", "found parameter 1, expected one below 1");
  tells("{QQ}", "found 'QQ'");
}
