// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that never change in a loop: which go in front of it, which stay, that the import names them, and that no
// result changes. Each text is a loop written here; it is evaluated as it was walked and as it was imported, and both
// must agree bit for bit. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "hlo/graph_builder.h"
#include "hlo/import.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::hlo;

namespace {

/// A loop of `trips` over (i, x, w) with x f32[4,8] and w f32[4,8]; `lines` compute %next from %x and %w. It has a note
/// of its trips, so nobody writes them out.
std::string loop(std::string_view lines, int trips = 3, std::string_view rest = "") {
  return fmt::format(
      "HloModule m\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}}\n{}"
      "cond {{\n p = (s32[], f32[4,8], f32[4,8]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " n = s32[] constant({})\n ROOT lt = pred[] compare(i, n), direction=LT\n}}\n"
      "body {{\n p = (s32[], f32[4,8], f32[4,8]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " x = f32[4,8] get-tuple-element(p), index=1\n w = f32[4,8] get-tuple-element(p), index=2\n"
      " z = f32[] constant(0)\n one = s32[] constant(1)\n j = s32[] add(i, one)\n{}\n"
      " ROOT t = (s32[], f32[4,8], f32[4,8]) tuple(j, next, w)\n}}\n"
      "ENTRY e {{\n x = f32[4,8] parameter(0)\n w = f32[4,8] parameter(1)\n z = s32[] constant(0)\n"
      " t = (s32[], f32[4,8], f32[4,8]) tuple(z, x, w)\n l = (s32[], f32[4,8], f32[4,8]) while(t), condition=cond, "
      "body=body, backend_config={{\"known_trip_count\":{{\"n\":\"{}\"}}}}\n"
      " ROOT r = f32[4,8] get-tuple-element(l), index=1\n}}\n",
      rest, trips, lines, trips);
}

/// What went in front of its loop, once the results were found to be the same and the ledger to balance.
std::string moved(const std::string& text, Graph* into = nullptr) {
  const HloModule module = parse_module(text, "test.hlo");
  GraphBuilderContext context(module);
  GraphBuilder builder(context, module.name);
  builder.walk_graph(module.computations[static_cast<std::size_t>(module.entry)]);
  const Graph before = std::move(builder).graph();
  const Imported imported = import_hlo(text, "test.hlo");
  verify(imported.graph);
  CHECK(parse_graph(ir::text(imported.graph)) == imported.graph);
  std::vector<Tensor> inputs;
  for (const NodeId id : parameters(before)) inputs.push_back(random_tensor(before[id].shape, 7 + inputs.size()));
  const std::vector<Tensor> expected = evaluate(before, inputs), found = evaluate(imported.graph, inputs);
  REQUIRE(expected.size() == found.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(expected[i].bytes == found[i].bytes);
  std::int64_t nodes = imported.report.instructions;
  std::string names;
  for (const PassReport& pass : imported.report.passes) {
    nodes += pass.added - pass.removed;
    for (const std::string& name : pass.moved) names += fmt::format("{}{}", names.empty() ? "" : " ", name);
  }
  CHECK(nodes == nodes_in_all(imported.graph));
  if (into != nullptr) *into = imported.graph;
  return names;
}

std::string operations(const Graph& graph) {
  std::string names;
  for (const Node& node : graph.nodes)
    if (!is_free(graph, static_cast<NodeId>(&node - graph.nodes.data())))
      names += fmt::format("{}{}", names.empty() ? "" : " ", node.name);
  return names;
}

}  // namespace

TEST_CASE("what never changes in a loop is computed in front of it, with all that only it needs") {
  Graph graph;
  CHECK(moved(loop(" e = f32[4,8] exponential(w)\n s = f32[4] reduce(e, z), dimensions={1}, to_apply=sum\n"
                   " q = f32[4] sqrt(s)\n b = f32[4,8] broadcast(q), dimensions={0}\n next = f32[4,8] add(x, b)"),
              &graph) == "l/q");
  CHECK(operations(graph) == "l/e l/s l/q l");
  CHECK(operations(graph.bodies[static_cast<std::size_t>(
            graph.nodes.back().op == Op::while_loop ? graph.nodes.back().bodies[1]
                                                    : graph[graph[graph.outputs[0]].operands[0]].bodies[1])]) ==
        "j next");
  // What is spread over more elements stays, and what it is spread from goes.
  CHECK(moved(loop(" s = f32[4] reduce(w, z), dimensions={1}, to_apply=sum\n b = f32[4,8] broadcast(s), "
                   "dimensions={0}\n e = f32[4,8] exponential(b)\n next = f32[4,8] add(x, e)")) == "l/s");
}

TEST_CASE("what would only be read in greater width stays in its loop, unless a library call reads it") {
  const std::string_view narrow = " h = bf16[4,8] convert(w)\n g = f32[4,8] convert(h)\n";
  CHECK(moved(loop(fmt::format("{} next = f32[4,8] multiply(x, g)", narrow))) == "l/h");
  CHECK(moved(loop(fmt::format("{} d = f32[4,4] dot(x, g), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n"
                               " next = f32[4,8] dot(d, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                               narrow))) == "l/g");
}

TEST_CASE("out of loops in loops a value goes as far as it does not change") {
  const std::string inner =
      "cond2 {\n p = (s32[], f32[4,8], f32[4,8]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " n = s32[] constant(2)\n ROOT lt = pred[] compare(i, n), direction=LT\n}\n"
      "body2 {\n p = (s32[], f32[4,8], f32[4,8]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " x = f32[4,8] get-tuple-element(p), index=1\n w = f32[4,8] get-tuple-element(p), index=2\n"
      " one = s32[] constant(1)\n j = s32[] add(i, one)\n e = f32[4,8] negate(w)\n y = f32[4,8] add(x, e)\n"
      " ROOT t = (s32[], f32[4,8], f32[4,8]) tuple(j, y, w)\n}\n";
  CHECK(moved(loop(" c = s32[] constant(0)\n v = (s32[], f32[4,8], f32[4,8]) tuple(c, x, w)\n"
                   " k = (s32[], f32[4,8], f32[4,8]) while(v), condition=cond2, body=body2, "
                   "backend_config={\"known_trip_count\":{\"n\":\"2\"}}\n"
                   " next = f32[4,8] get-tuple-element(k), index=1",
                   3, inner)) == "k/e l/k/e");
}

TEST_CASE("what changes, loops of one trip and loops with kernels of their file stay as they are") {
  const std::string_view changing = " e = f32[4,8] exponential(x)\n next = f32[4,8] add(e, w)";
  CHECK(moved(loop(changing)) == "");
  const std::string_view still = " e = f32[4,8] exponential(w)\n next = f32[4,8] add(x, e)";
  CHECK(moved(loop(still)) == "l/e");
  CHECK(moved(loop(still, 0)) == "l/e");  // computed in vain, and nothing of it seen
  CHECK(moved(loop(still, 1)) == "");
  CHECK(moved(loop(" f = f32[4,8] fusion(w), kind=kLoop, calls=fused\n next = f32[4,8] add(x, f)", 3,
                   "fused {\n a = f32[4,8] parameter(0)\n ROOT b = f32[4,8] exponential(a)\n}\n")) == "");
}

TEST_CASE("a loop whose condition or body another loop has too stays as it is") {
  const std::string one = loop(" e = f32[4,8] exponential(w)\n next = f32[4,8] add(x, e)");
  const std::string state = "(s32[], f32[4,8], f32[4,8])", root = " ROOT r = f32[4,8] get-tuple-element(l), index=1\n";
  const auto with_second = [&](bool own_condition, bool own_body) {
    std::string text = one;
    const std::size_t condition = text.find("cond {"), body = text.find("body {"), entry = text.find("ENTRY");
    const std::string conditions = text.substr(condition, body - condition), bodies = text.substr(body, entry - body);
    text.replace(text.find(root), root.size(),
                 fmt::format(" r = f32[4,8] get-tuple-element(l), index=1\n t2 = {0} tuple(z, r, w)\n"
                             " k = {0} while(t2), condition=cond{1}, body=body{2}, "
                             "backend_config={{\"known_trip_count\":{{\"n\":\"3\"}}}}\n"
                             " ROOT r2 = f32[4,8] get-tuple-element(k), index=1\n",
                             state, own_condition ? "2" : "", own_body ? "2" : ""));
    if (own_body) text.insert(entry, "body2" + bodies.substr(4));
    if (own_condition) text.insert(entry, "cond2" + conditions.substr(4));
    return text;
  };
  CHECK(moved(with_second(true, true)) == "l/e k/e");
  CHECK(moved(with_second(false, true)) == "");
  CHECK(moved(with_second(true, false)) == "");
  CHECK(moved(with_second(false, false)) == "");
}
