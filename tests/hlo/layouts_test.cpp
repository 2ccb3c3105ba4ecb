// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Layouts that follow a transposed array to a reduction. In: texts with something between the two. Out: checks of where
// neighbours in memory lie in what is reduced, of what keeps the layout of the text, and, for drawn texts, that the
// numbers are those of the text as it is written. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/as_written.h"
#include "hlo/import.h"
#include "ir/graph/domain.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr std::string_view add_region =
    "add {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}\n";

/// `x` is s32[6,8], `t` its transpose in place, `lines` what stands between.
std::string turned_module(std::string_view lines) {
  return fmt::format(
      "HloModule m\n\n{}\nENTRY e {{\n  x = s32[6,8]{{1,0}} parameter(0)\n  z = s32[] constant(0)\n"
      "  t = s32[8,6]{{0,1}} transpose(x), dimensions={{1,0}}\n{}}}\n",
      add_region, lines);
}

Graph turned_import(std::string_view lines) { return hlo::import_hlo(turned_module(lines), "m.hlo").graph; }

/// The dimension in which neighbours lie in what the reduction reads.
int fastest_reduced(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.op == Op::reduce) return wide_dimensions(graph[node.operands[0]].shape).front();
  return -1;
}

}  // namespace

TEST_CASE("what lies between a transposed array and a reduction lies as the array does") {
  const std::string reduced = "  ROOT r = s32[8] reduce(a, z), dimensions={1}, to_apply=add\n";
  for (const std::string_view between :
       {"  a = s32[8,6]{1,0} multiply(t, t)\n", "  a = s32[8,5]{1,0} slice(t), slice={[0:8], [1:6]}\n",
        "  a = s32[8,9]{1,0} pad(t, z), padding=0_0x1_2\n", "  a = s32[8,6]{1,0} reverse(t), dimensions={1}\n",
        "  n = s32[8,6]{1,0} negate(t)\n  a = s32[8,12]{1,0} concatenate(t, n), dimensions={1}\n",
        "  b = s32[8,6]{1,0} broadcast(z), dimensions={}\n  a = s32[8,6]{1,0} add(b, t)\n",
        "  u = s32[8,1]{1,0} slice(t), slice={[0:8], [0:1]}\n  v = s32[8,5]{1,0} slice(t), slice={[0:8], [1:6]}\n"
        "  a = s32[8,6]{1,0} concatenate(v, u), dimensions={1}\n"}) {
    INFO(between);
    CHECK(fastest_reduced(turned_import(std::string(between) + reduced)) == 0);
  }
}

TEST_CASE("a layout stays where somebody outside sees it, where operands differ, and where nothing is reduced") {
  struct Row {
    std::string_view what, lines;
  };
  for (const Row& row :
       {Row{"an output",
            "  a = s32[8,6]{1,0} negate(t)\n  r = s32[8] reduce(a, z), dimensions={1}, to_apply=add\n"
            "  ROOT o = (s32[8,6]{1,0}, s32[8]) tuple(a, r)\n"},
        {"a reshape reads it",
         "  a = s32[8,6]{1,0} negate(t)\n  s = s32[48]{0} reshape(a)\n"
         "  r = s32[8] reduce(a, z), dimensions={1}, to_apply=add\n"
         "  ROOT o = (s32[48]{0}, s32[8]) tuple(s, r)\n"},
        {"what reads it is turned",
         "  a = s32[8,6]{1,0} negate(t)\n  b = s32[8,6]{1,0} abs(a)\n  r = s32[8] reduce(a, z), dimensions={1}, "
         "to_apply=add\n  ROOT o = (s32[8,6]{1,0}, s32[8]) tuple(b, r)\n"},
        {"what it is made of is turned for another reader",
         "  a = s32[8,6]{1,0} negate(t)\n  b = s32[8,6]{1,0} abs(a)\n  c = s32[8,6]{1,0} sign(a)\n"
         "  r = s32[8] reduce(c, z), dimensions={1}, to_apply=add\n  ROOT o = (s32[8,6]{1,0}, s32[8]) tuple(b, r)\n"},
        {"operands differ",
         "  y = s32[8,6]{1,0} parameter(1)\n  a = s32[8,6]{1,0} add(t, y)\n"
         "  ROOT r = s32[8] reduce(a, z), dimensions={1}, to_apply=add\n"}}) {
    INFO(row.what);
    CHECK(fastest_reduced(turned_import(row.lines)) == 1);
  }
  const Graph alone = turned_import("  a = s32[8,6]{1,0} negate(t)\n  ROOT b = s32[8,6]{1,0} abs(a)\n");
  for (const Node& node : alone.nodes)
    if (node.op == Op::negate) CHECK(is_row_major(node.shape));
}

TEST_CASE("a module with fusions has its layouts already") {
  const std::string text = fmt::format(
      "HloModule m\n\n{}\nf {{\n  p = s32[8,6]{{0,1}} parameter(0)\n  n = s32[8,6]{{1,0}} negate(p)\n"
      "  i = s32[] constant(0)\n  ROOT q = s32[8] reduce(n, i), dimensions={{1}}, to_apply=add\n}}\n"
      "ENTRY e {{\n  x = s32[8,6]{{0,1}} parameter(0)\n  ROOT y = s32[8] fusion(x), kind=kInput, calls=f\n}}\n",
      add_region);
  CHECK(fastest_reduced(hlo::import_hlo(text, "m.hlo").graph) == 1);
}

TEST_CASE("drawn texts compute the same numbers with other layouts") {
  std::mt19937_64 random(20);
  int followed = 0;
  for (int draw = 0; draw < 300; ++draw) {
    // Values of two shapes: v0 = t and others of s32[8,6], each made of one or two before it.
    std::string lines;
    int values = 1;
    lines += "  v0 = s32[8,6]{1,0} copy(t)\n";
    if (random() % 2 == 0) lines = "  v0 = s32[8,6]{0,1} negate(t)\n";
    const auto any = [&] { return fmt::format("v{}", random() % static_cast<unsigned>(values)); };
    for (int i = 0; i < 6; ++i) {
      const std::string a = any(), b = any();
      const std::string layout = random() % 4 == 0 ? "{0,1}" : "{1,0}";
      std::string value;
      switch (random() % 5) {
        case 0:
          value = fmt::format("add({}, {})", a, b);
          break;
        case 1:
          value = fmt::format("reverse({}), dimensions={{{}}}", a, random() % 2);
          break;
        case 2:
          lines += fmt::format("  s{0} = s32[8,4]{{1,0}} slice({1}), slice={{[0:8], [1:5]}}\n", i, a);
          value = fmt::format("pad(s{}, z), padding=0_0x1_1", i);
          break;
        case 3:
          lines += fmt::format("  r{0} = s32[8] reduce({1}, z), dimensions={{1}}, to_apply=add\n", i, a);
          value = fmt::format("broadcast(r{}), dimensions={{0}}", i);
          break;
        default:
          lines += fmt::format("  c{0} = s32[6,8]{{1,0}} transpose({1}), dimensions={{1,0}}\n", i, a);
          value = fmt::format("transpose(c{}), dimensions={{1,0}}", i);
      }
      lines += fmt::format("  v{} = s32[8,6]{} {}\n", values, layout, value);
      ++values;
    }
    lines += fmt::format("  last = s32[8] reduce(v{}, z), dimensions={{1}}, to_apply=add\n", values - 1);
    lines += fmt::format("  ROOT o = (s32[8], s32[8,6]{{1,0}}) tuple(last, {})\n", fmt::format("v{}", values - 2));
    if (lines.find(fmt::format("v{} = s32[8,6]{{0,1}}", values - 2)) != std::string::npos) continue;  // the root's says
    INFO(lines);
    const Graph after = turned_import(lines), before = testing::as_written(turned_module(lines));
    const std::vector<reference::Tensor> given{reference::random_tensor(make_shape(DType::s32, {6, 8}), 3)};
    const auto found = reference::evaluate(after, given), expected = reference::evaluate(before, given);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].shape == expected[i].shape);
      CHECK(found[i].bytes == expected[i].bytes);
    }
    followed += fastest_reduced(after) == 0 ? 1 : 0;
  }
  CHECK(followed > 20);
}
