// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative reductions, at import: rows stay as they are, or are cut into rows of blocks; trees of short windows stand
// for others in the graph. All give what the one window of the text means. The oracle is the reference on that window.
// Numbers are small and whole, so that every order of additions gives the same bits. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "hlo/as_written.h"
#include "hlo/import.h"
#include "hlo/normalise.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "ir/graph/window_strips.h"
#include "reference/evaluate.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

struct ScanCase {
  std::string_view dtype, reducer;
  Dims dims;
  int axis = 0;
  bool forward = true;
  std::string_view init;

  std::string shape() const {
    std::string text;
    for (int i = 0; i < dims.size(); ++i) text += fmt::format("{}{}", i > 0 ? "," : "", dims[i]);
    return fmt::format("{}[{}]", dtype, text);
  }
  std::string window() const {
    std::string sizes, pads;
    for (int i = 0; i < dims.size(); ++i) {
      const std::int64_t reach = i == axis ? dims[i] - 1 : 0;
      sizes += fmt::format("{}{}", i > 0 ? "x" : "", reach + 1);
      pads += forward ? fmt::format("{}{}_0", i > 0 ? "x" : "", reach) : fmt::format("{}0_{}", i > 0 ? "x" : "", reach);
    }
    return fmt::format("window={{size={} pad={}}}", sizes, pads);
  }
  std::string text() const {
    return fmt::format(
        "HloModule m\n\nr {{\n  p = {0}[] parameter(0)\n  q = {0}[] parameter(1)\n  ROOT s = {0}[] {1}(p, q)\n}}\n\n"
        "ENTRY e {{\n  x = {2} parameter(0)\n  i = {0}[] constant({3})\n  ROOT y = {2} reduce-window(x, i), {4}, "
        "to_apply=r\n}}\n",
        dtype, reducer, shape(), init, window());
  }
};

/// The one window, as a graph.
Graph as_one_window(const Graph& imported, const ScanCase& one, Reducer reducer) {
  Graph graph;
  graph.name = "plain";
  Node x = imported.nodes[0], i, y;
  i.op = Op::constant;
  i.name = "i";
  for (const Node& node : imported.nodes)
    if (node.op == Op::constant && node.name == "i") i = node;
  y.op = Op::reduce_window;
  y.name = "y";
  y.shape = x.shape;
  y.operands = {0, 1};
  y.attributes = RegionCall{reducer, one.window()};
  graph.nodes.push_back(std::move(x));
  graph.nodes.push_back(std::move(i));
  graph.nodes.push_back(std::move(y));
  graph.outputs = {2};
  return graph;
}

Tensor drawn(const Shape& shape, std::string_view reducer) {
  Tensor tensor = zeros(shape);
  const std::size_t bytes = static_cast<std::size_t>(row(shape.dtype).bits) / 8;
  for (std::size_t k = 0; k < tensor.bytes.size() / bytes; ++k) {
    const auto place = static_cast<std::int64_t>(k * 2654435761U >> 7);
    const std::int64_t value = reducer == "multiply" ? 1 - 2 * (place % 2) : place % 5 - 2;
    const std::uint64_t bits =
        is_floating(shape.dtype) ? encode(shape.dtype, static_cast<double>(value)) : static_cast<std::uint64_t>(value);
    std::copy_n(reinterpret_cast<const std::byte*>(&bits), bytes, tensor.bytes.data() + k * bytes);
  }
  return tensor;
}

Reducer reducer_of(std::string_view word) {
  return word == "add"        ? Reducer::add
         : word == "multiply" ? Reducer::multiply
         : word == "maximum"  ? Reducer::maximum
         : word == "minimum"  ? Reducer::minimum
         : word == "and"      ? Reducer::bit_and
                              : Reducer::bit_xor;
}

void check_case(const ScanCase& one) {
  CAPTURE(one.text());
  const hlo::Imported imported = hlo::import_hlo(one.text(), "test.hlo");
  verify(imported.graph);
  CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
  for (const Node& node : imported.graph.nodes) {
    if (node.op != Op::reduce_window) continue;
    const std::optional<Scan> scan = scan_of(node);
    if (scan)  // of so few columns along neighbours in memory alone; from the end that was meant
      CHECK((scan->dim == node.shape.rank() - 1 && (scan->direction == ScanDirection::forward) == one.forward));
    else
      CHECK(window_elements(hlo_text(node), node.shape.rank()) <= 64);
  }
  CHECK(imported.graph[imported.graph.outputs[0]].name == "y");
  const Tensor x = drawn(imported.graph.nodes[0].shape, one.reducer);
  const Graph whole = as_one_window(imported.graph, one, reducer_of(one.reducer));
  const std::vector<Tensor> found = evaluate(imported.graph, {&x, 1}), wanted = evaluate(whole, {&x, 1});
  CHECK(found[0].bytes == wanted[0].bytes);
}

}  // namespace

TEST_CASE("a cumulative reduction is scans of rows or a tree of short windows that give the same") {
  int cases = 0;
  for (const std::int64_t length : {65, 80, 256, 257, 1000, 1025, 4097})
    for (const bool forward : {true, false})
      for (const std::string_view reducer : {"add", "multiply", "maximum", "minimum"})
        for (const std::string_view dtype : {"f32", "s32", "bf16", "f64"}) {
          if (dtype == "bf16" && reducer == "add") continue;  // 8 bits do not hold the sums
          const bool neutral = (length + forward) % 2 == 0;
          const std::string_view init = !neutral                ? "3"
                                        : reducer == "add"      ? "0"
                                        : reducer == "multiply" ? "1"
                                        : dtype == "s32"        ? reducer == "maximum" ? "-2147483648" : "2147483647"
                                        : reducer == "maximum"  ? "-inf"
                                                                : "inf";
          check_case({dtype, reducer, {length}, 0, forward, init});
          if (length < 1000) {
            check_case({dtype, reducer, {2, length, 3}, 1, forward, init});
            check_case({dtype, reducer, {3, length}, 1, forward, init});
            check_case({dtype, reducer, {length, 2}, 0, forward, init});
          }
          ++cases;
        }
  // Few rows that are too long for a block each are cut into others, and the last of these filled up.
  for (const std::int64_t length : {32768, 32769, 40960, 50001})
    for (const bool forward : {true, false}) check_case({"s32", "add", {2, length}, 1, forward, "0"});
  for (const std::string_view reducer : {"and", "xor"})
    check_case({"u8", reducer, {300}, 0, true, reducer == "and" ? "255" : "0"});
  CHECK(cases == 7 * 2 * 15);
}

TEST_CASE("rows are scanned in one piece where a block holds them or there are many, columns where there are many") {
  const auto nodes_of = [](const Dims& dims, int axis) {
    const hlo::Imported imported = hlo::import_hlo(ScanCase{"f32", "add", dims, axis, true, "0"}.text(), "test.hlo");
    return imported.graph.nodes.size();
  };
  constexpr std::size_t as_it_is = 3;  // the array, what it starts from, the window
  CHECK(nodes_of({300}, 0) == as_it_is);
  CHECK(nodes_of({2, 32768}, 1) == as_it_is);
  CHECK(nodes_of({2, 32769}, 1) > as_it_is);
  CHECK(nodes_of({47, 40000}, 1) > as_it_is);
  CHECK(nodes_of({48, 40000}, 1) == as_it_is);
  CHECK(nodes_of({300, 1}, 0) == as_it_is);
  CHECK(nodes_of({300, 2}, 0) > as_it_is);
  CHECK(nodes_of({300, 32767}, 0) > as_it_is);
  CHECK(nodes_of({300, 32768}, 0) == as_it_is);
  CHECK(nodes_of({64, 300, 512}, 1) == as_it_is);
}

TEST_CASE("an array that lies otherwise than the scan of it is turned before") {
  const ScanCase one{"s32", "add", {30, 400}, 1, true, "0"};
  std::string text = one.text();
  text.replace(text.find("x = s32[30,400]"), 15, "x = s32[30,400]{0,1}");
  const hlo::Imported imported = hlo::import_hlo(text, "test.hlo");
  verify(imported.graph);
  CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
  const auto& nodes = imported.graph.nodes;
  CHECK(std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return scan_of(node) && scan_of(node)->dim == node.shape.minor_to_major[0];
  }));
  CHECK(std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.op == Op::copy; }));
  const Tensor x = drawn(nodes[0].shape, "add");
  const Graph whole = as_one_window(imported.graph, one, Reducer::add);
  CHECK(evaluate(imported.graph, {&x, 1})[0].bytes == evaluate(whole, {&x, 1})[0].bytes);
}

TEST_CASE("what is read of a scan from its beginning is scanned alone, its last element reduced") {
  constexpr std::string_view forward = "399_0", backward = "0_399";
  const auto first_op = [](std::string_view window, std::string_view range, std::string_view made) {
    const std::string text = fmt::format(
        "HloModule m\n\nr {{\n  p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  ROOT s = s32[] add(p, q)\n}}\n\n"
        "ENTRY e {{\n  x = s32[3,400] parameter(0)\n  i = s32[] constant(0)\n  w = s32[3,400] reduce-window(x, i), "
        "window={{size=1x400 pad=0_0x{}}}, to_apply=r\n  ROOT y = s32[{}] slice(w), slice={{[0:3], [{}]}}\n}}\n",
        window, made, range);
    const hlo::Imported found = hlo::import_hlo(text, "test.hlo");
    verify(found.graph);
    CHECK(nodes_by_ledger(found) == hlo::nodes_in_all(found.graph));
    const Tensor numbers = drawn(found.graph.nodes[0].shape, "add");
    CHECK(evaluate(found.graph, {&numbers, 1})[0].bytes == evaluate(testing::as_written(text), {&numbers, 1})[0].bytes);
    return found.graph.nodes[2].op;
  };
  CHECK(first_op(forward, "0:100", "3,100") == Op::slice);
  CHECK(first_op(forward, "0:10", "3,10") == Op::slice);
  CHECK(first_op(forward, "0:200", "3,200") == Op::slice);
  CHECK(first_op(forward, "0:201", "3,201") == Op::reduce_window);  // more than half
  CHECK(first_op(forward, "1:100", "3,99") == Op::reduce_window);
  CHECK(first_op(forward, "399:400", "3,1") == Op::reduce);
  CHECK(first_op(forward, "398:399", "3,1") == Op::reduce_window);
  CHECK(first_op(backward, "300:400", "3,100") == Op::slice);
  CHECK(first_op(backward, "300:399", "3,99") == Op::reduce_window);
  CHECK(first_op(backward, "0:1", "3,1") == Op::reduce);
  CHECK(first_op(backward, "399:400", "3,1") == Op::slice);
}

TEST_CASE("what is short, reversed, or has no neutral element stays as it is") {
  const auto windows_of = [](std::string_view dtype, std::string_view shape, std::string_view window,
                             std::string_view result, std::string_view reducer) {
    const std::string text = fmt::format(
        "HloModule m\n\nr {{\n  p = {0}[] parameter(0)\n  q = {0}[] parameter(1)\n  ROOT s = {0}[] {4}(p, q)\n}}\n\n"
        "ENTRY e {{\n  x = {0}[{1}] parameter(0)\n  i = {0}[] parameter(1)\n  ROOT y = {0}[{3}] reduce-window(x, i), "
        "window={{{2}}}, to_apply=r\n}}\n",
        dtype, shape, window, result, reducer);
    const hlo::Imported imported = hlo::import_hlo(text, "test.hlo");
    return std::count_if(imported.graph.nodes.begin(), imported.graph.nodes.end(),
                         [](const Node& node) { return node.op == Op::reduce_window; });
  };
  CHECK(windows_of("f32", "64", "size=64 pad=63_0", "64", "add") == 1);
  CHECK(windows_of("f32", "65", "size=65 pad=64_0", "65", "add") == 1);  // a scan, and then what it starts from
  CHECK(windows_of("f32", "65,2", "size=65x1 pad=64_0x0_0", "65,2", "add") == 2);
  CHECK(windows_of("f32", "100", "size=100 pad=99_0 rhs_reversal=1", "100", "add") == 1);
  CHECK(windows_of("f8e4m3fn", "100", "size=100 pad=99_0", "100", "maximum") == 1);
}
