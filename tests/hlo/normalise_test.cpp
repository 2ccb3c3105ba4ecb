// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalisation: what each pass makes of the pattern it is for, and that none of them changes a result. The oracle is
// the reference evaluator: graphs are evaluated as walked and as normalised, on the same seeded inputs, and must agree
// bit for bit. Texts are written here, a pattern each. Part of the suite `hlo`.
#include "hlo/normalise.h"
#include "hlo/as_written.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "hlo/import.h"
#include "reference/evaluate.h"
#include "support/random_graph.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::hlo;

namespace {

std::string entry_of_lines(std::string_view lines) { return fmt::format("HloModule m\n\nENTRY e {{\n{}\n}}\n", lines); }

std::int64_t rewrites(const Imported& imported, std::string_view pass) {
  const auto at = std::find_if(imported.report.passes.begin(), imported.report.passes.end(),
                               [&](const PassReport& report) { return report.pass == pass; });
  REQUIRE(at != imported.report.passes.end());
  return at->rewrites;
}

std::vector<Tensor> results(const Graph& graph, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const NodeId id : parameters(graph)) inputs.push_back(random_tensor(graph[id].shape, seed + inputs.size()));
  return evaluate(graph, inputs);
}

/// Imports, checks that the results stayed bit for bit, and hands the import on.
Imported unchanged(std::string_view text) {
  Imported imported = import_hlo(text, "test.hlo");
  const Graph before = testing::as_written(text);
  verify(imported.graph);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<Tensor> expected = results(before, seed);
    const std::vector<Tensor> found = results(imported.graph, seed);
    REQUIRE(expected.size() == found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(seed);
      CHECK(expected[i].shape.dims == found[i].shape.dims);
      CHECK(expected[i].bytes == found[i].bytes);
    }
  }
  return imported;
}

/// Bit for bit, but for the sign of a zero: a reduction of one element may lose it when it becomes a reshape.
bool same_but_for_zeros(const Tensor& a, const Tensor& b) {
  if (!(a.shape == b.shape) || !is_floating(a.shape.dtype)) return a.shape == b.shape && a.bytes == b.bytes;
  const std::int64_t count = elements(a.shape);
  const auto width = count == 0 ? 0 : static_cast<std::ptrdiff_t>(a.bytes.size()) / count;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = a.bytes.begin() + i * width;
    if (!std::equal(at, at + width, b.bytes.begin() + i * width) && (as_double(a, i) != 0 || as_double(b, i) != 0))
      return false;
  }
  return true;
}

const Node& first_output(const Graph& graph) { return graph[graph.outputs[0]]; }

}  // namespace

TEST_CASE("a column spread over rows by way of [R,1] is one broadcast") {
  const Imported imported = unchanged(
      entry_of_lines("x = f32[4] parameter(0)\na = f32[4,1] reshape(x)\nb = f32[4,1] broadcast(a), dimensions={0,1}\n"
                     "c = f32[4] reshape(b)\nROOT d = f32[4,6] broadcast(c), dimensions={0}"));
  CHECK(imported.graph.nodes.size() == 2);
  CHECK(axes(first_output(imported.graph)) == Dims{0});
}

TEST_CASE("a broadcast of a reshaped or broadcast value reads the value") {
  CHECK(unchanged(
            entry_of_lines(
                "x = f32[1,4] parameter(0)\na = f32[4] reshape(x)\nROOT b = f32[1,4,6] broadcast(a), dimensions={1}"))
            .graph.nodes.size() == 2);
  CHECK(unchanged(entry_of_lines("x = f32[4,2] parameter(0)\na = f32[3,4,2] broadcast(x), dimensions={1,2}\n"
                                 "ROOT b = f32[3,5,4,2] broadcast(a), dimensions={0,2,3}"))
            .graph.nodes.size() == 2);
  const Imported scalar =
      unchanged(entry_of_lines("x = f32[] parameter(0)\na = f32[3,4] broadcast(x), dimensions={}\n"
                               "ROOT b = f32[12] reshape(a)"));
  CHECK(first_output(scalar.graph).op == Op::broadcast);
  // No dimension of size 1 to put the operand's: the reshape has to stay.
  CHECK(
      unchanged(entry_of_lines(
                    "x = f32[1,4] parameter(0)\na = f32[4] reshape(x)\nROOT b = f32[4,6] broadcast(a), dimensions={0}"))
          .graph.nodes.size() == 3);
}

TEST_CASE("reshapes, transposes and bitcasts of one another merge") {
  CHECK(
      unchanged(entry_of_lines("x = f32[4,6] parameter(0)\na = f32[24] reshape(x)\nb = f32[2,12] reshape(a)\nROOT c = "
                               "f32[4,6] reshape(b)"))
          .graph.nodes.size() == 1);
  CHECK(unchanged(entry_of_lines("x = f32[2,3,5] parameter(0)\na = f32[5,2,3] transpose(x), dimensions={2,0,1}\n"
                                 "ROOT b = f32[2,3,5] transpose(a), dimensions={1,2,0}"))
            .graph.nodes.size() == 1);
  const Imported turned =
      unchanged(entry_of_lines("x = f32[2,3,5] parameter(0)\na = f32[5,2,3] transpose(x), dimensions={2,0,1}\n"
                               "ROOT b = f32[3,5,2] transpose(a), dimensions={2,0,1}"));
  CHECK(turned.graph.nodes.size() == 2);
  CHECK(axes(first_output(turned.graph)) == Dims{1, 2, 0});
  CHECK(first_output(unchanged(entry_of_lines("x = f32[4,6] parameter(0)\nROOT a = f32[24] bitcast(x)")).graph).op ==
        Op::reshape);
  CHECK(first_output(unchanged(entry_of_lines("x = f32[4,6]{0,1} parameter(0)\nROOT a = f32[6,4] bitcast(x)")).graph)
            .op == Op::bitcast);
}

TEST_CASE("a reduction of single elements is a reshape where it begins with the neutral number") {
  struct Row {
    std::string_view type, op, start;
    Op wanted;
  };
  for (const Row& row : {Row{"pred", "and", "true", Op::reshape}, Row{"pred", "or", "false", Op::reshape},
                         Row{"pred", "and", "false", Op::reduce}, Row{"s32", "add", "0", Op::reshape},
                         Row{"s32", "add", "3", Op::reduce}, Row{"u8", "maximum", "0", Op::reshape},
                         Row{"f32", "maximum", "-inf", Op::reshape}, Row{"f32", "minimum", "-inf", Op::reduce}}) {
    const std::string text = fmt::format(
        "HloModule m\n\nr {{\n  p = {0}[] parameter(0)\n  q = {0}[] parameter(1)\n  ROOT s = {0}[] {1}(p, q)\n}}\n\n"
        "ENTRY e {{\n  x = {0}[4,1,3] parameter(0)\n  z = {0}[] constant({2})\n"
        "  ROOT y = {0}[4,3] reduce(x, z), dimensions={{1}}, to_apply=r\n}}\n",
        row.type, row.op, row.start);
    CAPTURE(text);
    CHECK(first_output(unchanged(text).graph).op == row.wanted);
  }
}

TEST_CASE("a reshape into another layout is work and stays") {
  CHECK(unchanged(entry_of_lines("x = f32[4,6]{1,0} parameter(0)\nROOT a = f32[4,6]{0,1} reshape(x)"))
            .graph.nodes.size() == 2);
  CHECK(unchanged(entry_of_lines("x = f32[4,6] parameter(0)\nROOT a = f32[4,6] copy(x)")).graph.nodes.size() == 2);
}

TEST_CASE("conversions go only when nothing was rounded") {
  CHECK(unchanged(entry_of_lines("x = bf16[8] parameter(0)\na = f32[8] convert(x)\nROOT b = bf16[8] convert(a)"))
            .graph.nodes.size() == 1);
  CHECK(unchanged(entry_of_lines("x = f16[8] parameter(0)\na = f32[8] convert(x)\nROOT b = bf16[8] convert(a)"))
            .graph.nodes.size() == 2);
  CHECK(unchanged(entry_of_lines("x = f32[8] parameter(0)\na = bf16[8] convert(x)\nROOT b = f32[8] convert(a)"))
            .graph.nodes.size() == 3);
  CHECK(unchanged(entry_of_lines("x = f16[8] parameter(0)\na = bf16[8] convert(x)\nROOT b = f16[8] convert(a)"))
            .graph.nodes.size() == 3);
  CHECK(unchanged(entry_of_lines("x = f32[8] parameter(0)\na = s32[8] convert(x)\nROOT b = f32[8] convert(a)"))
            .graph.nodes.size() == 3);
}

TEST_CASE("a copy that two fusions compute under one name is one, copies of other names or outside are two") {
  const auto copies = [](std::string_view first, std::string_view second, bool fused) {
    const auto body = [&](std::string_view name, std::string_view op) {
      return fmt::format("  p = f32[8] parameter(0)\n  {0} = f32[8] copy(p)\n  ROOT r.{1} = f32[8] {1}({0})\n", name,
                         op);
    };
    const char* call = fused ? "fusion(x), kind=kLoop, calls=" : "call(x), to_apply=";
    const Graph graph =
        import_hlo(fmt::format("HloModule m\n\nfirst {{\n{}}}\n\nsecond {{\n{}}}\n\nENTRY e {{\n"
                               "  x = f32[8] parameter(0)\n  a = f32[8] {}first\n  b = f32[8] {}second\n"
                               "  ROOT t = (f32[8], f32[8]) tuple(a, b)\n}}\n",
                               body(first, "negate"), body(second, "exponential"), call, call),
                   "t")
            .graph;
    return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return node.op == Op::copy; });
  };
  CHECK(copies("c", "c", true) == 1);
  CHECK(copies("c", "d", true) == 2);
  CHECK(copies("c", "c", false) == 2);
}

TEST_CASE("equal nodes become one, copies and constants left out do not") {
  const Imported imported = unchanged(entry_of_lines(
      "x = f32[8] parameter(0)\na = f32[8] negate(x)\nb = f32[8] negate(x)\nc = f32[8] exponential(a)\n"
      "d = f32[8] exponential(b)\ne = f32[8] copy(c)\nf = f32[8] copy(d)\nROOT t = (f32[8], f32[8]) tuple(e, f)"));
  CHECK(rewrites(imported, "merge-duplicates") == 2);
  CHECK(imported.graph.nodes.size() == 5);
  CHECK(import_hlo(
            entry_of_lines(
                "a = f32[99] constant({...})\nb = f32[99] constant({...})\nROOT t = (f32[99], f32[99]) tuple(a, b)"),
            "t")
            .graph.nodes.size() == 2);
}

TEST_CASE("a merged node belongs to both its given groups") {
  const Imported imported = unchanged(
      "HloModule m\nf {\n p = f32[8] parameter(0)\n n = f32[8] negate(p)\n ROOT e = f32[8] exponential(n)\n}\n"
      "g {\n p = f32[8] parameter(0)\n n = f32[8] negate(p)\n ROOT e = f32[8] sine(n)\n}\nENTRY e {\n x = f32[8] "
      "parameter(0)\n"
      " a = f32[8] fusion(x), kind=kLoop, calls=f\n b = f32[8] fusion(x), kind=kLoop, calls=g\n"
      " ROOT t = (f32[8], f32[8]) tuple(a, b)\n}\n");
  REQUIRE(imported.graph.given.size() == 2);
  CHECK(imported.graph.given[0].nodes == std::vector<NodeId>{1, 2});
  CHECK(imported.graph.given[1].nodes == std::vector<NodeId>{1, 3});
}

TEST_CASE("dead nodes and dead bodies go, parameters and side effects stay") {
  const Imported imported = import_hlo(
      "HloModule m\nr {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] subtract(a, b)\n}\nENTRY e "
      "{\n"
      " x = f32[8] parameter(0)\n unused = f32[8] parameter(1)\n z = f32[] constant(0)\n"
      " dead = f32[] reduce(x, z), dimensions={0}, to_apply=r\n"
      " loud = f32[8] custom-call(x), custom_call_target=\"print\", custom_call_has_side_effect=true\n"
      " ROOT y = f32[8] negate(x)\n}\n",
      "test.hlo");
  CHECK(imported.graph.bodies.empty());
  CHECK(imported.graph.nodes.size() == 4);
  CHECK(rewrites(imported, "drop-dead") == 2);
}

TEST_CASE("a softmax and a loop keep their results through all passes") {
  const std::string_view regions =
      "HloModule m\nmax {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(b, a)\n}\n"
      "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n";
  const Imported softmax = unchanged(fmt::format(
      "{}soft {{\n x = bf16[3,7] parameter(0)\n w = f32[3,7] convert(x)\n l = f32[] constant(-inf)\n z = f32[] "
      "constant(0)\n"
      " m = f32[3] reduce(w, l), dimensions={{1}}, to_apply=max\n m1 = f32[3,1] reshape(m)\n"
      " m2 = f32[3,1] broadcast(m1), dimensions={{0,1}}\n m3 = f32[3] reshape(m2)\n"
      " mb = f32[3,7] broadcast(m3), dimensions={{0}}\n d = f32[3,7] subtract(w, mb)\n e = f32[3,7] exponential(d)\n"
      " s = f32[3] reduce(e, z), dimensions={{1}}, to_apply=sum\n sb = f32[3,7] broadcast(s), dimensions={{0}}\n"
      " q = f32[3,7] divide(e, sb)\n ROOT o = bf16[3,7] convert(q)\n}}\nENTRY e {{\n x = bf16[3,7] parameter(0)\n"
      " a = bf16[3,7] call(x), to_apply=soft\n b = bf16[3,7] call(a), to_apply=soft\n ROOT y = bf16[3,7] add(a, "
      "b)\n}}\n",
      regions));
  CHECK(rewrites(softmax, "inline-calls") == 2);
  CHECK(rewrites(softmax, "recognise-regions") == 4);
  const Imported loop = unchanged(
      "HloModule m\ncond {\n p = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] "
      "constant(100)\n"
      " ROOT lt = pred[] compare(i, n), direction=LT\n}\nbody {\n p = (s32[], f32[4]) parameter(0)\n"
      " i = s32[] get-tuple-element(p), index=0\n x = f32[4] get-tuple-element(p), index=1\n s = s32[] constant(1)\n"
      " j = s32[] add(i, s)\n y = f32[4] negate(x)\n z = f32[4] negate(x)\n a = f32[4] add(y, z)\n"
      " ROOT t = (s32[], f32[4]) tuple(j, a)\n}\nENTRY e {\n x = f32[4] parameter(0)\n z = s32[] constant(0)\n"
      " t = (s32[], f32[4]) tuple(z, x)\n w = (s32[], f32[4]) while(t), condition=cond, body=body\n"
      " ROOT r = f32[4] get-tuple-element(w), index=1\n}\n");
  CHECK(rewrites(loop, "count-trips") == 1);
  CHECK(rewrites(loop, "merge-duplicates") == 1);
}

TEST_CASE("numbers known before the run become constants") {
  // What jnp.var writes to guard its division: 256 - 0 > 0 selects the quotient.
  const Imported guarded = unchanged(
      entry_of_lines("x = f32[8] parameter(0)\nn = f32[] constant(256)\nd = s32[] constant(0)\nr = f32[] convert(d)\n"
                     "m = f32[] subtract(n, r)\nz = f32[] constant(0)\np = pred[] compare(m, z), direction=GT\n"
                     "mb = f32[8] broadcast(m), dimensions={}\nq = f32[8] divide(x, mb)\nnan = f32[] constant(nan)\n"
                     "nb = f32[8] broadcast(nan), dimensions={}\npb = pred[8] broadcast(p), dimensions={}\n"
                     "ROOT s = f32[8] select(pb, q, nb)"));
  CHECK(guarded.graph.nodes.size() == 4);  // x, the constant 256, its broadcast, the quotient
  CHECK(first_output(guarded.graph).op == Op::divide);
  CHECK(rewrites(guarded, "fold-constants") == 4);
  // An array of one known number is that number spread out; the number is written once, in front.
  const Imported spread = unchanged(entry_of_lines(
      "x = f32[2,3] parameter(0)\na = f32[] constant(1.5)\nb = f32[2,3] broadcast(a), dimensions={}\n"
      "c = f32[2,3] add(b, b)\nd = f32[2,3] multiply(b, b)\ne = f32[3,2] transpose(c), dimensions={1,0}\n"
      "f = f32[2,3] constant({{2.25,2.25,2.25},{2.25,2.25,2.25}})\ng = f32[2,3] subtract(d, f)\n"
      "h = f32[2,3] multiply(x, g)\nROOT t = (f32[2,3], f32[3,2]) tuple(h, e)"));
  for (const Node& node : spread.graph.nodes)
    CHECK((node.op == Op::parameter || node.op == Op::constant || node.op == Op::broadcast || node.op == Op::multiply));
  CHECK(spread.graph[0].op == Op::constant);
  // What rounds differently on a GPU stays, and so does a value nobody knows.
  CHECK(rewrites(unchanged(entry_of_lines("a = f32[] constant(0.3)\nROOT e = f32[] exponential(a)")),
                 "fold-constants") == 0);
  CHECK(rewrites(import_hlo(entry_of_lines("a = f32[9] constant({...})\nROOT e = f32[9] add(a, a)"), "t"),
                 "fold-constants") == 0);
}

TEST_CASE("operations on small constant arrays are constants, under the names they had") {
  const auto last = [](std::string_view lines) { return unchanged(entry_of_lines(lines)).graph; };
  const auto is_array = [](const Graph& graph) {
    return first_output(graph).op == Op::constant && elements(first_output(graph).shape) > 1 &&
           first_output(graph).name == "r";
  };
  const std::string table = "c = s32[6] constant({3,1,4,1,5,9})\n";
  for (const char* line : {"ROOT r = s32[2,3] reshape(c)", "ROOT r = s32[3] slice(c), slice={[1:6:2]}",
                           "ROOT r = s32[6] reverse(c), dimensions={0}", "ROOT r = f32[6] convert(c)",
                           "ROOT r = s32[6] multiply(c, c)", "ROOT r = s32[12] concatenate(c, c), dimensions={0}"}) {
    INFO(line);
    CHECK(is_array(last(table + line)));
  }
  CHECK(is_array(last(table + "a = s32[2,3] reshape(c)\nROOT r = s32[3,2] transpose(a), dimensions={1,0}")));
  CHECK(is_array(last(table + "i = s32[6] iota(), iota_dimension=0\nROOT r = pred[6] compare(c, i), direction=GT")));
  CHECK(
      is_array(last("c = f32[3] constant({1,2.5,-0})\nz = f32[] constant(0)\nROOT r = f32[5] pad(c, z), padding=1_1")));
  // One number everywhere is spread, not written out: a mask that holds for all, whatever it was computed from.
  const Graph all = last(
      "i = s32[6] iota(), iota_dimension=0\nn = s32[] constant(9)\n"
      "b = s32[6] broadcast(n), dimensions={}\nROOT r = pred[6] compare(i, b), direction=LT");
  CHECK(first_output(all).op == Op::broadcast);
  CHECK(first_output(all).name == "r");
  CHECK(all.nodes.size() == 2);
  // Kernels compute what follows from indices, spread rows as they read them, and differ from the evaluator in exp.
  CHECK(first_output(last("i = s32[6] iota(), iota_dimension=0\nn = s32[] constant(3)\n"
                          "b = s32[6] broadcast(n), dimensions={}\nROOT r = pred[6] compare(i, b), direction=LT"))
            .op == Op::compare);
  CHECK(first_output(last(table + "ROOT r = s32[9,6] broadcast(c), dimensions={1}")).op == Op::broadcast);
  CHECK(first_output(last("c = f32[3] constant({1,2.5,4})\nROOT r = f32[3] exponential(c)")).op == Op::exp);
  CHECK(
      first_output(last("c = f32[2] constant({0,1})\nd = f32[2] constant({1,-0})\nROOT r = f32[2] maximum(c, d)")).op ==
      Op::maximum);
  // Large tables stay what they are computed from.
  const auto large = [&](int count) {
    std::string numbers = "0";
    for (int i = 1; i < count; ++i) numbers += fmt::format(",{}", i % 7);
    return first_output(
               last(fmt::format("c = s32[{0}] constant({{{1}}})\nROOT r = s32[{0}] negate(c)", count, numbers)))
        .op;
  };
  CHECK(large(1024) == Op::constant);
  CHECK(large(1025) == Op::negate);
}

TEST_CASE("random graphs with constant arrays in them keep every bit of their results") {
  std::int64_t folded = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Graph graph = well_formed_graph(seed, 40);
    std::int64_t parameters = 0;
    for (Node& node : graph.nodes) {
      if (node.op != Op::parameter) continue;
      if (seed % 3 != 0 && parameters == static_cast<std::int64_t>(seed % 2)) {
        ++parameters;
        node.attributes = ParameterNumber{0};
        continue;
      }
      ++parameters;
      node.op = Op::constant;
      node.attributes = Literal{true, random_tensor(node.shape, seed).bytes};
    }
    verify(graph);
    const std::vector<Tensor> expected = results(graph, seed);
    PassCount count;
    const std::stop_token nobody;
    Rewrite rewrite(graph, nobody);
    fold_constants(rewrite, count);
    for (Node& node : graph.nodes) rewrite.refresh(node);
    for (NodeId& output : graph.outputs) output = rewrite.current(output);
    verify(graph);
    CAPTURE(seed);
    const std::vector<Tensor> found = results(graph, seed);
    REQUIRE(expected.size() == found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(expected[i].bytes == found[i].bytes);
    folded += count.rewrites;
  }
  CHECK(folded > 500);
}

TEST_CASE("arrays without elements are constants, and what reads them does without") {
  const auto kept = [](std::string_view lines) {
    const Imported imported = unchanged(fmt::format(
        "HloModule m\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}}\n\n"
        "ENTRY e {{\n x = f32[0,4] parameter(0)\n y = f32[3,4] parameter(1)\n z = f32[] parameter(2)\n{}\n}}\n",
        lines));
    std::string names;
    for (const Node& node : imported.graph.nodes)
      if (node.op != Op::parameter) names += fmt::format("{}{}", names.empty() ? "" : " ", name(node.op));
    return names;
  };
  CHECK(kept("ROOT r = f32[0,4] exponential(x)") == "constant");
  CHECK(kept("ROOT r = f32[3,0] slice(y), slice={[0:3],[2:2]}") == "constant");
  CHECK(kept("e = f32[0,4] exponential(x)\n n = f32[3,4] negate(y)\n"
             "ROOT r = f32[3,4] concatenate(n, e), dimensions={0}") == "negate");
  CHECK(kept("ROOT r = f32[6,4] concatenate(y, x, y), dimensions={0}") == "concatenate");
  CHECK(kept("ROOT r = f32[2,4] pad(x, z), padding=1_1x0_0") == "broadcast");
  CHECK(kept("ROOT r = f32[4] reduce(x, z), dimensions={0}, to_apply=sum") == "broadcast");
  CHECK(kept("i = s32[] constant(1)\n ROOT r = f32[3,4] dynamic-update-slice(y, x, i, i)") == "");
  CHECK(kept("w = f32[4,5] broadcast(z), dimensions={}\n ROOT r = f32[0,5] dot(x, w), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}") == "constant");
}

TEST_CASE("operations that change nothing for any value of the type go, others stay") {
  const auto nodes_after = [](std::string_view type, std::string_view constant, std::string_view last) {
    return unchanged(entry_of_lines(fmt::format("x = {0}[4] parameter(0)\nc = {0}[] constant({1})\n"
                                                "k = {0}[4] broadcast(c), dimensions={{}}\nROOT y = {0}[4] {2}",
                                                type, constant, last)))
        .graph.nodes.size();
  };
  CHECK(nodes_after("f32", "1", "multiply(x, k)") == 1);
  CHECK(nodes_after("bf16", "1", "multiply(k, x)") == 1);
  CHECK(nodes_after("f32", "1", "divide(x, k)") == 1);
  CHECK(nodes_after("f32", "1", "divide(k, x)") == 4);
  CHECK(nodes_after("f32", "0", "add(x, k)") == 4);  // the sum of -0 and 0 is 0
  CHECK(nodes_after("f32", "-0", "add(x, k)") == 1);
  CHECK(nodes_after("f32", "0", "subtract(x, k)") == 1);
  CHECK(nodes_after("f32", "-0", "subtract(x, k)") == 4);
  CHECK(nodes_after("f32", "0", "multiply(x, k)") == 4);  // NaN and infinity
  CHECK(nodes_after("s32", "0", "add(x, k)") == 1);
  CHECK(nodes_after("u8", "255", "and(x, k)") == 1);
  CHECK(nodes_after("s8", "-1", "or(x, k)") == 3);  // all ones, and what was x is read no more
  CHECK(nodes_after("s32", "0", "multiply(x, k)") == 3);
  CHECK(nodes_after("s32", "3", "subtract(x, x)") == 3);
  CHECK(nodes_after("f32", "3", "subtract(x, x)") == 2);
  const auto compared = [](std::string_view type) {
    return first_output(unchanged(entry_of_lines(fmt::format(
                                      "x = {0}[4] parameter(0)\nROOT y = pred[4] compare(x, x), direction=EQ", type)))
                            .graph)
        .op;
  };
  CHECK(compared("s32") == Op::broadcast);
  CHECK(compared("f32") == Op::compare);
}

TEST_CASE("random graphs with known numbers in them keep their results and the ledger its balance") {
  std::int64_t folded = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Graph graph = well_formed_graph(seed, 40);
    // One of the two parameters is one number everywhere: zero, one, or minus zero.
    Node& known = graph[static_cast<NodeId>(seed % 2)];
    known.op = Op::constant;
    Tensor number = zeros(known.shape);
    constexpr auto numbers = std::to_array<double>({0, 1, -0.0, 2.5});
    for (std::int64_t i = 0; i < elements(known.shape); ++i) store(number, i, numbers[seed / 2 % numbers.size()]);
    known.attributes = Literal{true, number.bytes};
    graph[static_cast<NodeId>(1 - seed % 2)].attributes = ParameterNumber{0};
    verify(graph);
    const std::vector<Tensor> expected = results(graph, seed);
    const std::int64_t before = nodes_in_all(graph);
    Ledger ledger;
    run_passes(graph, ledger);
    verify(graph);
    std::int64_t balance = before;
    for (const PassCount& count : ledger.counts) balance += count.added - count.removed;
    CAPTURE(seed);
    CHECK(balance == nodes_in_all(graph));
    const std::vector<Tensor> found = results(graph, seed);
    REQUIRE(expected.size() == found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(same_but_for_zeros(expected[i], found[i]));
    folded += ledger.of(Pass::constants).rewrites;
  }
  CHECK(folded > 1000);
}

TEST_CASE("normalising what is normalised changes nothing") {
  Graph graph =
      import_hlo(
          entry_of_lines("x = f32[4] parameter(0)\na = f32[4,1] reshape(x)\nb = f32[4,6] broadcast(x), dimensions={0}\n"
                         "c = f32[4,6] negate(b)\nROOT t = (f32[4,1], f32[4,6]) tuple(a, c)"),
          "test.hlo")
          .graph;
  const Graph before = graph;
  Ledger ledger;
  run_passes(graph, ledger);
  CHECK(graph == before);
  for (const PassCount& count : ledger.counts) CHECK(count.rewrites == 0);
}
