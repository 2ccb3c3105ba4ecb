// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that operations leave whole, against where the reference puts each element. In: concatenations, slices, pads,
// transposes and look-ups of arrays of any layout, drawn here, whose elements are their own places in memory. Out:
// assertions. Part of the suite `codegen structure`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "codegen/structure/unbroken.h"
#include "ir/graph/graph_parse.h"
#include "ir/graph/graph_verify.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr std::int64_t apart = 1000000;  ///< more than any array here has elements

/// Where in memory each element lies, in row-major order of the elements.
std::vector<std::int64_t> places(const Shape& shape) {
  const ir::Dims steps = strides(shape);
  std::vector<std::int64_t> at{0};
  for (int dim = 0; dim < shape.rank(); ++dim) {
    std::vector<std::int64_t> next;
    for (const std::int64_t one : at)
      for (std::int64_t i = 0; i < shape.dims[dim]; ++i) next.push_back(one + i * steps[dim]);
    at = std::move(next);
  }
  return at;
}

/// The result of the graph's last node, as memory has it, where each element of input k is k * apart + its place.
std::vector<std::int64_t> result_in_memory(const Graph& graph, std::span<const std::int64_t> scalars) {
  std::vector<reference::Tensor> inputs;
  for (const NodeId id : parameters(graph)) {
    const Shape& shape = graph[id].shape;
    reference::Tensor tensor = reference::zeros(shape);
    const std::vector<std::int64_t> at = places(shape);
    for (std::size_t i = 0; i < at.size(); ++i)
      store_integer(tensor, static_cast<std::int64_t>(i),
                    shape.rank() == 0 ? scalars[inputs.size()] : std::ssize(inputs) * apart + at[i]);
    inputs.push_back(std::move(tensor));
  }
  const NodeId last = graph.outputs[0];
  const reference::Tensor result = reference::evaluate(graph, inputs)[0];
  const std::vector<std::int64_t> at = places(graph[last].shape);
  std::vector<std::int64_t> memory(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) memory[at[i]] = as_integer(result, static_cast<std::int64_t>(i));
  return memory;
}

/// Whether each run of so many places is one of some input, aligned alike, or one number that is no place.
bool holds_runs(const std::vector<std::int64_t>& memory, std::int64_t run) {
  for (std::size_t first = 0; first < memory.size(); first += static_cast<std::size_t>(run)) {
    const bool is_filled = memory[first] < 0;
    if (!is_filled && memory[first] % apart % run != 0) return false;
    for (std::int64_t i = 0; i < run; ++i)
      if (memory[first + static_cast<std::size_t>(i)] != memory[first] + (is_filled ? 0 : i)) return false;
  }
  return true;
}

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}

  std::string text() {
    rank_ = 1 + below(3);
    order_.resize(static_cast<std::size_t>(rank_));
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), random_);
    const std::vector<int> x = dims();
    switch (below(5)) {
      case 0:
        return concatenation(x);
      case 1:
        return slice(x);
      case 2:
        return pad(x);
      case 3:
        return transpose(x);
      default:
        return look_up(x);
    }
  }
  std::vector<std::int64_t> starts;  ///< by parameter; of arrays anything

 private:
  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  std::vector<int> dims() {
    constexpr int sizes[] = {1, 2, 3, 4, 6, 8};
    std::vector<int> made(static_cast<std::size_t>(rank_));
    for (int& size : made) size = sizes[below(6)];
    return made;
  }
  std::string shape(const std::vector<int>& of) const {
    return fmt::format("s32[{}]{{{}}}", fmt::join(of, ","), fmt::join(order_, ","));
  }
  std::string concatenation(std::vector<int> x) {
    const auto axis = static_cast<std::size_t>(below(rank_));
    std::string lines, operands;
    int sum = 0;
    for (int k = 0; k < 2 + below(2); ++k) {
      constexpr int sizes[] = {1, 2, 3, 4, 6, 8};
      x[axis] = sizes[below(6)];
      sum += x[axis];
      lines += fmt::format("  %x{0} = parameter {0} : {1}\n", k, shape(x));
      operands += fmt::format("{}%x{}", k > 0 ? ", " : "", k);
    }
    x[axis] = sum;
    return fmt::format("graph g {{\n{}  %y = concatenate {}, axes={{{}}} : {}\n  output %y\n}}\n", lines, operands,
                       axis, shape(x));
  }
  std::string slice(const std::vector<int>& x) {
    std::vector<std::string> ranges;
    std::vector<int> y;
    for (const int size : x) {
      const int start = below(2) * below(size), stride = below(4) == 0 ? 2 : 1;
      const int limit = below(2) == 0 ? size : start + 1 + below(size - start);
      ranges.push_back(fmt::format("{}:{}:{}", start, limit, stride));
      y.push_back((limit - start + stride - 1) / stride);
    }
    return fmt::format("graph g {{\n  %x = parameter 0 : {}\n  %y = slice %x, ranges={{{}}} : {}\n  output %y\n}}\n",
                       shape(x), fmt::join(ranges, ", "), shape(y));
  }
  std::string pad(const std::vector<int>& x) {
    std::vector<std::string> ranges;
    std::vector<int> y;
    for (const int size : x) {
      const int low = below(2) * (below(9) - (size > 1 ? 1 : 0)), high = below(2) * below(9);
      const int interior = below(5) == 0 ? 1 : 0;
      ranges.push_back(fmt::format("{}:{}:{}", low, high, interior));
      y.push_back(size + low + high + (size - 1) * interior);
    }
    return fmt::format(
        "graph g {{\n  %x = parameter 0 : {}\n  %z = constant -5 : s32[]\n  %y = pad %x, %z, ranges={{{}}} : {}\n"
        "  output %y\n}}\n",
        shape(x), fmt::join(ranges, ", "), shape(y));
  }
  std::string transpose(const std::vector<int>& x) {
    std::vector<int> axes(x.size()), y;
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    for (const int axis : axes) y.push_back(x[static_cast<std::size_t>(axis)]);
    const std::string source = shape(x);
    std::shuffle(order_.begin(), order_.end(), random_);
    return fmt::format("graph g {{\n  %x = parameter 0 : {}\n  %y = transpose %x, axes={{{}}} : {}\n  output %y\n}}\n",
                       source, fmt::join(axes, ","), shape(y));
  }
  /// A slice that starts where data says, or an update there.
  std::string look_up(const std::vector<int>& x) {
    const bool updates = below(2) == 0;
    std::vector<int> window;
    std::string lines = fmt::format("  %x = parameter 0 : {}\n", shape(x)), operands;
    starts = {0};
    int next = 1;
    for (const int size : x) window.push_back(below(2) == 0 ? size : 1 + below(size));
    if (updates) {
      lines += fmt::format("  %u = parameter {} : {}\n", next++, shape(window));
      starts.push_back(0);
    }
    for (std::size_t dim = 0; dim < x.size(); ++dim) {
      lines += fmt::format("  %s{} = parameter {} : s32[]\n", dim, next++);
      operands += fmt::format(", %s{}", dim);
      starts.push_back(below(x[dim] - window[dim] + 1));
    }
    return fmt::format("graph g {{\n{}  %y = {} %x{}{} : {}\n  output %y\n}}\n", lines,
                       updates ? "dynamic_update_slice" : "dynamic_slice", updates ? ", %u" : "", operands,
                       shape(updates ? x : window));
  }

  std::mt19937 random_;
  int rank_ = 1;
  std::vector<int> order_;  ///< dimensions, fastest first
};

}  // namespace

TEST_CASE("runs that are said to stay whole do, wherever data says a look-up begins") {
  const unsigned seed = 20261130;
  CAPTURE(seed);
  std::map<std::string, int> of_several, whole;
  for (unsigned draw = 0; draw < 6000; ++draw) {
    Drawn drawn(seed + draw);
    const std::string text = drawn.text();
    CAPTURE(text);
    const Graph graph = parse_graph(text);
    verify(graph);
    const Node& node = graph[graph.outputs[0]];
    if (elements(node.shape) == 0) continue;
    const std::int64_t run = codegen::unbroken_run(graph, node);
    const std::vector<std::int64_t> memory = result_in_memory(graph, drawn.starts);
    if (run == 0) {
      CHECK(std::is_sorted(memory.begin(), memory.end(), std::less_equal<>()));
      ++whole[std::string(name(node.op))];
      continue;
    }
    REQUIRE(std::ssize(memory) % run == 0);
    CHECK(holds_runs(memory, run));
    if (run > 1) ++of_several[std::string(name(node.op))];
  }
  for (const char* op : {"concatenate", "slice", "pad", "transpose", "dynamic_slice", "dynamic_update_slice"}) {
    CAPTURE(op);
    CHECK(of_several[op] > 30);
  }
  CHECK(whole["transpose"] > 100);
}

TEST_CASE("a run is the longest that sizes and starts have in common") {
  const auto run = [](const std::string& operation, const std::string& result) {
    const Graph graph = parse_graph(
        fmt::format("graph g {{ %x = parameter 0 : f32[6,10,16] %z = constant 0 : f32[] %y = {} : f32{} output %y }}",
                    operation, result));
    verify(graph);
    return codegen::unbroken_run(graph, graph[graph.outputs[0]]);
  };
  CHECK(run("slice %x, ranges={0:6:1, 4:10:1, 0:16:1}", "[6,6,16]") == 32);
  CHECK(run("slice %x, ranges={0:6:1, 0:10:1, 4:16:1}", "[6,10,12]") == 4);
  CHECK(run("slice %x, ranges={0:6:1, 0:10:2, 0:16:1}", "[6,5,16]") == 16);
  CHECK(run("slice %x, ranges={2:4:1, 0:10:1, 0:16:1}", "[2,10,16]") == 320);
  CHECK(run("pad %x, %z, ranges={0:0:0, 2:2:0, 0:0:0}", "[6,14,16]") == 32);
  CHECK(run("pad %x, %z, ranges={0:0:0, 0:0:1, 0:0:0}", "[6,19,16]") == 16);
  CHECK(run("transpose %x, axes={1,0,2}", "[10,6,16]") == 16);
  CHECK(run("transpose %x, axes={0,2,1}", "[6,16,10]") == 1);
  CHECK(run("concatenate %x, %x, axes={1}", "[6,20,16]") == 160);
  CHECK(run("broadcast %x, axes={1,2,3}", "[2,6,10,16]") == 960);
  CHECK(run("broadcast %x, axes={0,1,2}", "[6,10,16,9]") == 9);
  CHECK(run("broadcast %x, axes={0,2,3}", "[6,5,10,16]") == 160);
  CHECK(run("broadcast %x, axes={0,1,3}", "[6,10,1,16]") == 0);
  CHECK(run("broadcast %z, axes={}", "[6,10,16]") == 0);
  CHECK(run("reverse %x, axes={0}", "[6,10,16]") == 1);
  CHECK(run("negate %x", "[6,10,16]") == 0);
}
