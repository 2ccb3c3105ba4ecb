// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs as records: the text form reads back to an equal graph, the canonical text depends on structure alone, a bad
// text is refused at its line and column, users are listed, and bytes are counted where data lies. Inputs are graphs
// written here and chains of 100,000 nodes. Part of the suite `ir`.
#include "ir/graph/graph.h"
#include "ir/graph/attribute_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>

#include "base/error.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr std::string_view softmax = R"(graph softmax {
  %x = parameter 0 : f32[64,1000]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes={1} : f32[64]
  %mb = broadcast %m, axes={0} : f32[64,1000]
  %d = subtract %x, %mb : f32[64,1000]
  %e = exp %d : f32[64,1000]
  %s = reduce add %e, %zero, axes={1} : f32[64]
  %sb = broadcast %s, axes={0} : f32[64,1000]
  %y = divide %e, %sb : f32[64,1000]
  given fusion.1 kLoop { %mb, %d, %e }
  output %y
}
)";

constexpr std::string_view odds = R"(graph "odd name" {
  graph less {
    %a = parameter 0 : f32[]
    %b = parameter 1 : f32[]
    %c = compare lt %a, %b, total_order : pred[]
    output %c
  }
  %p = parameter 0 : f32[4]{0}
  %"a b\"\\\x01" = parameter 1 : bf16[2,3]{0,1}
  %k = constant {1, -0, nan, 0x7fc00001} : f32[4]
  %u = constant {...} : s32[3]
  %t = constant true : pred[]
  %h = constant hex"0000803f00000000" : c64[]
  %r = slice %p, ranges={0:4:2} : f32[2]
  %s = sort %p, axes={0}, bodies={0} : f32[4]
  %v = custom_call %p, target="lib", text="x=\"y\"", results={f32[2], s8[1,2]{0,1}}, flops=1.5e+20 : tuple[]
  %g = get_tuple_element %v, number=1 : s8[1,2]{0,1}
  output %s, %s, %g
  in_place 1 of 0
}
)";

Position position_of(std::string_view bad) {
  try {
    (void)parse_graph(bad, "f");
  } catch (const Error& error) {
    return error.at;
  }
  return {};
}

}  // namespace

TEST_CASE("text of graphs reads back to the same graph and the same text") {
  CHECK(text(parse_graph(softmax)) == softmax);
  const Graph graph = parse_graph(odds);
  CHECK(parse_graph(text(graph)) == graph);
  CHECK(text(parse_graph(text(graph))) == text(graph));
  CHECK(graph.bodies.size() == 1);
  CHECK(attributes_as<Literal>(graph.nodes[2]).bytes.size() == 16);
  CHECK_FALSE(attributes_as<Literal>(graph.nodes[3]).known);
}

TEST_CASE("a bad graph text is refused at the line and column of the fault") {
  CHECK(position_of("graph g {\n  %a = parametr 0 : f32[]\n}") == Position{"f", 2, 8});
  CHECK(position_of("graph g {\n  %a = parameter 0 : f99[]\n}") == Position{"f", 2, 22});
  CHECK(position_of("graph g {\n  %a = negate %b : f32[]\n}") == Position{"f", 2, 15});
  CHECK(position_of("graph g {\n  %a = constant {1,2} : f32[3]\n}") == Position{"f", 2, 17});
  CHECK(position_of("graph g {\n  %a = constant 1e : f32[]\n}") == Position{"f", 2, 17});
  CHECK(position_of("graph g {\n  %a = parameter 0 : f32[2,3]{0,0}\n}").line == 2);
  CHECK(position_of("graph g {\n  %a = parameter 0 : f32[99999999999,99999999999]\n}").line == 2);
  CHECK(position_of("graph g {\n  %a = parameter 0, axes={1} : f32[]\n}") == Position{"f", 2, 21});
  CHECK(position_of("graph g {\n  %a = iota, axes={0,1} : s32[2,2]\n}") == Position{"f", 2, 19});
  CHECK(position_of("graph g {").line == 1);
  CHECK(position_of("").line == 1);
}

TEST_CASE("equal structure has equal canonical text whatever the names and the order of lines") {
  const Graph a = parse_graph(R"(graph a {
    %p = parameter 0 : f32[8]
    %q = parameter 1 : f32[8]
    %n = negate %q : f32[8]
    %e = exp %p : f32[8]
    %r = subtract %n, %e : f32[8]
    output %r })");
  const Graph b = parse_graph(R"(graph b {
    %y = parameter 1 : f32[8]
    %unused = parameter 2 : f32[9]
    %z = parameter 0 : f32[8]
    %ez = exp %y : f32[8]
    %ny = negate %z : f32[8]
    %out = subtract %ny, %ez : f32[8]
    output %out })");
  Graph c = b;
  c.nodes[4].op = Op::abs;
  CHECK(canonical_text(a) == canonical_text(b));
  CHECK(canonical_text(a) != canonical_text(c));
}

TEST_CASE("a body's parameters keep their meaning in the canonical text") {
  const auto sorted = [](std::string_view order) {
    return parse_graph(fmt::format(R"(graph g {{ graph c {{ %a = parameter 0 : f32[] %b = parameter 1 : f32[]
      %r = compare lt {} : pred[] output %r }}
      %p = parameter 0 : f32[4] %s = sort %p, axes={{0}}, bodies={{0}} : f32[4] output %s }})",
                                   order));
  };
  CHECK(canonical_text(sorted("%a, %b")) != canonical_text(sorted("%b, %a")));
}

TEST_CASE("canonical texts differ wherever a constant does, however long it is and wherever the difference stands") {
  for (const int count : {1, 15, 16, 17, 40}) {  // 64 bytes are written out, longer contents are hashed
    const auto table = [&](int at) {
      std::string numbers;
      for (int i = 0; i < count; ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ", ", i == at ? 7 : 3);
      return canonical_text(parse_graph(fmt::format(
          "graph g {{ %c = constant {{{}}} : f32[{}] %n = exp %c : f32[{}] output %n }}", numbers, count, count)));
    };
    CAPTURE(count);
    CHECK(table(0) != table(-1));
    CHECK(table(count - 1) != table(-1));
    CHECK(table(count / 2) != table(-1));
    CHECK(table(-1) == table(-1));
  }
  const auto unknown = [](std::string_view contents) {
    return canonical_text(parse_graph(fmt::format("graph g {{ %c = constant {} : f32[2] output %c }}", contents)));
  };
  CHECK(unknown("{...}") != unknown("{0, 0}"));
}

TEST_CASE("canonical texts see outputs, their order, and which parameter an output lies over") {
  const auto with = [](std::string_view end) {
    return canonical_text(parse_graph(fmt::format(
        "graph g {{ %a = parameter 0 : f32[8] %b = parameter 1 : f32[8] %n = negate %a : f32[8] %e = exp %b : f32[8]\n"
        "output {} }}",
        end)));
  };
  const std::set<std::string> texts{with("%n, %e"),
                                    with("%n"),
                                    with("%n, %n"),
                                    with("%n, %e\nin_place 0 of 0"),
                                    with("%n, %e\nin_place 0 of 1"),
                                    with("%n, %e\nin_place 1 of 0")};
  CHECK(texts.size() == 6);
}

TEST_CASE("a chain of 100,000 nodes has a canonical text and parses" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  Graph graph;
  graph.name = "chain";
  const Shape shape = make_shape(DType::f32, {4});
  graph.nodes.push_back(Node{Op::parameter, shape, {}, ParameterNumber{0}, "n0"});
  for (NodeId i = 1; i <= 100000; ++i)
    graph.nodes.push_back(Node{Op::negate, shape, {i - 1}, {}, fmt::format("n{}", i)});
  graph.outputs = {100000};
  CHECK(canonical_text(graph).size() > 1000000);
  CHECK(parse_graph(text(graph)) == graph);
}

TEST_CASE("users are listed once each, parameters by number") {
  const Graph g = parse_graph(R"(graph g { %b = parameter 1 : f32[2] %a = parameter 0 : f32[2]
    %s = multiply %a, %a : f32[2] %t = add %s, %b : f32[2] output %t })");
  CHECK(users(g) == std::vector<std::vector<NodeId>>{{3}, {2}, {3}, {}});
  CHECK(parameters(g) == std::vector<NodeId>{1, 0});
}

TEST_CASE("bytes are counted where data lies: sources of free nodes, what look-ups touch") {
  const Graph g = parse_graph(R"(graph g {
    %x = parameter 0 : f32[64,128]
    %i = parameter 1 : s32[]
    %u = parameter 2 : f32[1,128]
    %one = constant 1 : f32[]
    %ones = broadcast %one : f32[64,128]
    %a = add %x, %ones : f32[64,128]
    %q = multiply %x, %x : f32[64,128]
    %s = slice %x, ranges={0:4:1, 0:128:1} : f32[4,128]
    %d = dynamic_update_slice %x, %u, %i, %i : f32[64,128]
    %io = iota, axes={0} : f32[64,128]
    %m = maximum %io, %x : f32[64,128]
    output %a, %q, %s, %d, %m })");
  const double whole = 64 * 128 * 4;
  CHECK(bytes_touched(g, 4) == 0);
  CHECK(bytes_touched(g, 5) == 2 * whole + 4);
  CHECK(bytes_touched(g, 6) == 2 * whole);
  CHECK(bytes_touched(g, 7) == 2 * 4 * 128 * 4);
  CHECK(bytes_touched(g, 8) == 2 * 128 * 4 + 4);
  CHECK(bytes_touched(g, 10) == 2 * whole);
  CHECK(is_free(g, 4));
  CHECK(is_free(g, 9));
  CHECK_FALSE(is_free(g, 7));
}

TEST_CASE("a quote behind a backslash ends no string, so what is in the string is no attribute") {
  const std::string_view text =
      R"(custom_call_target="f", backend_config="{\"a\":1, dimensions={7}, \"b\\\":2}", dimensions={1,2})";
  CHECK(ir::attribute(text, "dimensions") == "{1,2}");
  CHECK(ir::attribute(text, "custom_call_target") == "\"f\"");
  CHECK(ir::attribute(R"(a="open \", b=1)", "b") == std::nullopt);
}
