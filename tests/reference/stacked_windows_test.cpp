// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stacks of windows as gathers: where one is written the graph is a right one and evaluates to the same elements, at
// starts inside, behind the last place and negative; where the windows are not alike the graph stays as it is. Each row
// is how one arm's start is written, and around it what is done with the stack. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ir/rewrite/stacked_windows.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

struct Arm {
  std::string lines;  ///< that name %sN
  std::string array = "x", other = "zero", size = "f32[2,4]";
};

struct Stack {
  std::string_view what;
  bool gathers;
  std::function<Arm(int)> arm;
  std::string tail = "  output %y\n";
};

std::string number(int i, const std::string& from) {
  return fmt::format("  %p{0} = slice %at, ranges={{{1}:{2}:1}} : s32[1]\n  %i{0} = reshape %p{0} : s32[]\n", i, from,
                     std::stoi(from) + 1);
}

std::string plain(int i, int at) {
  return number(i, std::to_string(at)) + fmt::format("  %s{0} = add %i{0}, %two : s32[]\n", i);
}

const std::vector<Stack>& stacks() {
  static const std::vector<Stack> all = {
      {"neighbouring numbers", true, [](int i) { return Arm{plain(i, i)}; }},
      {"every second number", true, [](int i) { return Arm{plain(i, 2 * i + 1)}; }},
      {"a literal of each", true,
       [](int i) {
         return Arm{number(i, std::to_string(i)) +
                    fmt::format("  %c{0} = constant {1} : s32[]\n  %s{0} = add %i{0}, %c{0} : s32[]\n", i, 3 * i - 4)};
       }},
      {"what all share, used by others too", true, [](int i) { return Arm{plain(i, i)}; },
       "  %b = broadcast %two : s32[4,2,4]\n  %f = convert %b : f32[4,2,4]\n  %z = add %y, %f : f32[4,2,4]\n  output "
       "%z\n"},
      {"numbers backwards", false, [](int i) { return Arm{plain(i, 5 - i)}; }},
      {"uneven steps", false, [](int i) { return Arm{plain(i, i * i % 7)}; }},
      {"another operation in one arm", false,
       [](int i) { return Arm{i != 2 ? plain(i, i) : number(2, "2") + "  %s2 = multiply %i2, %two : s32[]\n"}; }},
      {"another array in one arm", false,
       [](int i) {
         Arm arm{plain(i, i)};
         if (i == 1) arm.array = "w";
         return arm;
       }},
      {"two dimensions that windows do not fill", false,
       [](int i) {
         Arm arm{plain(i, i)};
         arm.size = "f32[2,3]";
         return arm;
       }},
      {"a window that others read", false, [](int i) { return Arm{plain(i, i)}; }, "  output %y, %d1\n"},
  };
  return all;
}

Graph graph_of(const Stack& stack) {
  const bool narrow = stack.arm(0).size == "f32[2,3]";
  std::string text =
      "graph stack {\n  %x = parameter 0 : f32[9,4]\n  %w = parameter 1 : f32[9,4]\n"
      "  %at = parameter 2 : s32[8]\n  %zero = constant 0 : s32[]\n  %two = constant 2 : s32[]\n";
  std::string operands;
  for (int i = 0; i < 4; ++i) {
    const Arm arm = stack.arm(i);
    text +=
        arm.lines + fmt::format("  %d{0} = dynamic_slice %{1}, %s{0}, %{2} : {3}\n", i, arm.array, arm.other, arm.size);
    text += fmt::format("  %r{0} = reshape %d{0} : f32[1,2,{1}]\n", i, narrow ? 3 : 4);
    operands += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
  }
  text += fmt::format("  %y = concatenate {}, axes={{0}} : f32[4,2,{}]\n", operands, narrow ? 3 : 4);
  const Graph graph = parse_graph(text + stack.tail + "}\n");
  verify(graph);
  return graph;
}

}  // namespace

TEST_CASE("a stack of windows that are placed alike evaluates as the gather that is written for it, others stay") {
  for (const Stack& stack : stacks()) {
    CAPTURE(stack.what);
    const Graph graph = graph_of(stack);
    const std::optional<Graph> gathered = with_windows_gathered(graph);
    REQUIRE(gathered.has_value() == stack.gathers);
    if (!gathered) continue;
    verify(*gathered);
    REQUIRE(gathered->nodes.size() == graph.nodes.size());
    CHECK(gathered->outputs == graph.outputs);
    int gathers = 0;
    for (const Node& node : gathered->nodes) {
      CHECK(node.op != Op::dynamic_slice);
      gathers += node.op == Op::gather;
    }
    CHECK(gathers == 1);
    std::vector<Tensor> inputs;
    for (const NodeId id : parameters(graph)) inputs.push_back(random_tensor(graph[id].shape, 7 + inputs.size()));
    const std::int32_t starts[] = {0, 5, -3, 7, 100, 2, -100, 6};
    std::memcpy(inputs[2].bytes.data(), starts, sizeof starts);
    const std::vector<Tensor> expected = evaluate(graph, inputs), found = evaluate(*gathered, inputs);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].bytes == expected[i].bytes);
  }
}
