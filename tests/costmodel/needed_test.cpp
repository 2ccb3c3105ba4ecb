// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What outputs need of each value. The oracle is the reference evaluator: an element of an input is needed when the
// outputs change with it. Every element of small random chains of movements is tried. And the law that brought it: a
// slice or a cropping pad behind operations costs what the same operations on the smaller input cost. Part of the suite
// `costmodel`.
#include "costmodel/needed.h"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "costmodel/model.h"
#include "ir/graph/graph_verify.h"
#include "lowered.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

using ir::NodeId;
using ir::Op;

GroupWork work_of(const std::string& lines) { return group_work(group_of("graph g {\n" + lines + "}\n")); }

/// A chain of random movements over arrays of a few elements; every value is used by a later one or an output.
class RandomMovements {
 public:
  explicit RandomMovements(std::uint64_t start) : random_(start) {}

  ir::Graph graph() {
    const int inputs = below(2) + 1;
    for (int i = 0; i < inputs; ++i) add(Op::parameter, random_dims(), {}, ir::ParameterNumber{i});
    ir::Literal zero;
    zero.bytes.resize(8);
    zero_ = add(Op::constant, {}, {}, zero);
    NodeId last = 0;
    for (int step = below(5) + 2; step > 0; --step) last = step_from(below(4) == 0 ? pick() : last);
    graph_.outputs = {last};
    if (below(3) == 0 && pick() != last) graph_.outputs.push_back(pick());
    graph_.name = "g";
    return std::move(graph_);
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  ir::Dims random_dims() {
    ir::Dims dims;
    for (int rank = below(3) + 1; rank > 0; --rank) dims.push_back(below(6) + 1);
    return dims;
  }

  NodeId add(Op op, ir::Dims dims, std::vector<NodeId> operands, ir::Attributes attributes) {
    ir::Node node;
    node.op = op;
    node.shape = make_shape(ir::DType::f64, dims);
    node.operands = std::move(operands);
    node.attributes = std::move(attributes);
    node.name = "n" + std::to_string(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(graph_.nodes.size()) - 1;
  }

  /// Any value that is an array.
  NodeId pick() {
    for (;;)
      if (const auto id = static_cast<NodeId>(below(static_cast<int>(graph_.nodes.size()))); id != zero_) return id;
  }

  NodeId step_from(NodeId from) {
    const ir::Dims dims = graph_[from].shape.dims;
    const int rank = dims.size();
    switch (below(10)) {
      case 0:
        return sliced(from, dims);
      case 1:
        return padded(from, dims);
      case 2:
        return add(Op::reverse, dims, {from}, ir::AxisList{rank == 0 ? ir::Dims{} : ir::Dims{below(rank)}});
      case 3:
        return transposed(from, dims);
      case 4:
        return spread(from, dims);
      case 5:
        return reshaped(from, dims);
      case 6:
        return rank == 0 ? add(Op::negate, dims, {from}, {}) : reduced(from, dims);
      case 7:
        return rank == 0 ? add(Op::negate, dims, {from}, {}) : joined(from, dims);
      case 8:
        return rank == 0 ? add(Op::negate, dims, {from}, {}) : windowed(from, dims);
      default:
        return add(Op::add, dims, {from, sliced_or(from, dims)}, {});
    }
  }

  /// Another array of the same dimensions.
  NodeId sliced_or(NodeId from, const ir::Dims& dims) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (static_cast<NodeId>(i) != zero_ && graph_.nodes[i].shape.dims == dims && below(2) == 0)
        return static_cast<NodeId>(i);
    return add(Op::reverse, dims, {from}, ir::AxisList{dims.size() == 0 ? ir::Dims{} : ir::Dims{0}});
  }

  NodeId sliced(NodeId from, const ir::Dims& dims) {
    ir::SliceRanges slice;
    ir::Dims out;
    for (const std::int64_t dim : dims) {
      const std::int64_t start = below(static_cast<int>(dim)), stride = below(3) + 1;
      const std::int64_t count = below(static_cast<int>((dim - start - 1) / stride + 1)) + 1;
      slice.ranges.push_back({start, start + (count - 1) * stride + 1, stride});
      out.push_back(count);
    }
    return add(Op::slice, out, {from}, slice);
  }

  NodeId padded(NodeId from, const ir::Dims& dims) {
    ir::PadRanges pad;
    ir::Dims out;
    for (const std::int64_t dim : dims) {
      ir::PadRange range{below(5) - 2, below(5) - 2, below(3)};
      const std::int64_t between = dim + (dim - 1) * range.interior;
      if (between + range.low + range.high < 1) range.low = range.high = 0;
      pad.ranges.push_back(range);
      out.push_back(between + range.low + range.high);
    }
    return add(Op::pad, out, {from, zero_}, pad);
  }

  NodeId transposed(NodeId from, const ir::Dims& dims) {
    std::vector<int> order(static_cast<std::size_t>(dims.size()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    ir::AxisList axes;
    ir::Dims out;
    for (const int d : order) {
      axes.axes.push_back(d);
      out.push_back(dims[d]);
    }
    return add(Op::transpose, out, {from}, axes);
  }

  NodeId spread(NodeId from, const ir::Dims& dims) {
    ir::AxisList axes;
    ir::Dims out;
    for (const std::int64_t dim : dims) {
      if (below(3) == 0) out.push_back(below(3) + 1);
      axes.axes.push_back(out.size());
      out.push_back(dim);
    }
    return add(Op::broadcast, out, {from}, axes);
  }

  NodeId reshaped(NodeId from, const ir::Dims& dims) {
    std::int64_t left = 1;
    for (const std::int64_t dim : dims) left *= dim;
    ir::Dims out;
    while (left > 1 && out.size() < 3) {
      std::int64_t part = below(static_cast<int>(left)) + 1;
      while (left % part != 0) --part;
      out.push_back(part);
      left /= part;
    }
    if (left > 1 || below(3) == 0) out.push_back(left);
    return add(Op::reshape, out, {from}, {});
  }

  NodeId reduced(NodeId from, const ir::Dims& dims) {
    const int gone = below(dims.size());
    ir::Dims out;
    for (int d = 0; d < dims.size(); ++d)
      if (d != gone) out.push_back(dims[d]);
    return add(Op::reduce, out, {from, zero_}, ir::Reduction{{gone}, ir::Reducer::add});
  }

  NodeId windowed(NodeId from, const ir::Dims& dims) {
    ir::Dims out;
    std::vector<std::string> sizes, strides, pads;
    for (const std::int64_t dim : dims) {
      const std::int64_t low = below(3), high = below(3), stride = below(3) + 1;
      const std::int64_t size = below(static_cast<int>(dim + low + high)) + 1;
      out.push_back((dim + low + high - size) / stride + 1);
      sizes.push_back(std::to_string(size));
      strides.push_back(std::to_string(stride));
      pads.push_back(fmt::format("{}_{}", low, high));
    }
    return add(
        Op::reduce_window, out, {from, zero_},
        ir::RegionCall{ir::Reducer::add, fmt::format("window={{size={} stride={} pad={}}}", fmt::join(sizes, "x"),
                                                     fmt::join(strides, "x"), fmt::join(pads, "x"))});
  }

  NodeId joined(NodeId from, const ir::Dims& dims) {
    const int axis = below(dims.size());
    ir::Dims out = dims;
    out[axis] *= 2;
    return add(Op::concatenate, out, {from, sliced_or(from, dims)}, ir::OneAxis{axis});
  }

  std::mt19937_64 random_;
  ir::Graph graph_;
  NodeId zero_ = ir::no_node;
};

/// Elements of each input with which the outputs change. Each is changed by a number of its own, so that sums do not
/// cancel.
std::vector<double> really_needed(const ir::Graph& graph) {
  std::vector<reference::Tensor> inputs;
  for (const NodeId id : parameters(graph)) {
    reference::Tensor tensor = reference::zeros(graph[id].shape);
    for (std::int64_t i = 0; i < elements(tensor.shape); ++i) store(tensor, i, static_cast<double>(i + 1));
    inputs.push_back(std::move(tensor));
  }
  const std::vector<reference::Tensor> before = evaluate(graph, inputs);
  std::vector<double> counts;
  for (reference::Tensor& input : inputs) {
    double count = 0;
    for (std::int64_t i = 0; i < elements(input.shape); ++i) {
      const double value = as_double(input, i);
      store(input, i, value + 1048576 * std::sqrt(2.0 + static_cast<double>(i)));
      const std::vector<reference::Tensor> after = evaluate(graph, inputs);
      for (std::size_t k = 0; k < after.size(); ++k)
        if (after[k].bytes != before[k].bytes) {
          ++count;
          break;
        }
      store(input, i, value);
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

TEST_CASE("no more is needed of an input than what the outputs change with, and nearly always exactly that") {
  int exact = 0, above = 0, all = 0, parts = 0;
  for (std::uint64_t start = 1; start <= 600; ++start) {
    const ir::Graph graph = RandomMovements(start).graph();
    verify(graph);
    CAPTURE(start);
    CAPTURE(text(graph));
    const std::vector<double> needed = needed_elements(graph);
    const std::vector<double> expected = really_needed(graph);
    const std::vector<NodeId> inputs = parameters(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double found = needed[static_cast<std::size_t>(inputs[i])];
      const auto whole = static_cast<double>(elements(graph[inputs[i]].shape));
      ++all;
      exact += found == expected[i] ? 1 : 0;
      above += found > expected[i] ? 1 : 0;
      parts += expected[i] > 0 && expected[i] < whole ? 1 : 0;
      CHECK(found <= whole);
    }
  }
  INFO(exact, " of ", all, " exact, ", above, " above, ", parts, " a part");
  CHECK(parts > 100);
  CHECK(above <= all * 0.01);  // places that were lost are taken for different ones
  CHECK(exact >= all * 0.95);
}

TEST_CASE("a slice behind operations costs what the operations on the sliced input cost") {
  const GroupWork behind = work_of(
      "  %a = parameter 0 : f32[1024,512]\n  %b = exp %a : f32[1024,512]\n  %c = negate %b : f32[1024,512]\n"
      "  %d = slice %c, ranges={0:16:1, 0:512:2} : f32[16,256]\n  output %d\n");
  const GroupWork before = work_of(
      "  %a = parameter 0 : f32[16,256]\n  %b = exp %a : f32[16,256]\n  %c = negate %b : f32[16,256]\n  output %c\n");
  CHECK(behind == before);
  CHECK(behind.bytes_read == 16 * 256 * 4);
}

TEST_CASE("a pad that cuts costs no more than what it leaves, and padding costs nothing to read") {
  const GroupWork cut = work_of(
      "  %a = parameter 0 : f32[64,100]\n  %z = constant 0 : f32[]\n  %b = sqrt %a : f32[64,100]\n"
      "  %c = pad %b, %z, ranges={-60:2:0, 0:-90:0} : f32[6,10]\n  output %c\n");
  CHECK(cut.bytes_read == 4 * 10 * 4);
  CHECK(cut.bytes_written == 6 * 10 * 4);
  CHECK(cut.xu + cut.alu + cut.fma ==
        work_of("  %a = parameter 0 : f32[4,10]\n  %b = sqrt %a : f32[4,10]\n  output %b\n").xu +
            work_of("  %a = parameter 0 : f32[4,10]\n  %b = sqrt %a : f32[4,10]\n  output %b\n").alu +
            work_of("  %a = parameter 0 : f32[4,10]\n  %b = sqrt %a : f32[4,10]\n  output %b\n").fma);
}

TEST_CASE("what is needed twice counts once, parts that are apart add up, and a row that is summed is needed whole") {
  const auto read = [](const std::string& lines) { return work_of(lines).bytes_read; };
  const std::string input = "  %a = parameter 0 : f32[64,128]\n  %n = negate %a : f32[64,128]\n";
  const std::string left = "  %l = slice %n, ranges={0:64:1, 0:64:1} : f32[64,64]\n";
  const std::string right = "  %r = slice %n, ranges={0:64:1, 64:128:1} : f32[64,64]\n";
  const std::string same = "  %r = slice %n, ranges={0:64:1, 0:64:1} : f32[64,64]\n";
  const std::string sum = "  %s = add %l, %r : f32[64,64]\n  output %s\n";
  CHECK(read(input + left + right + sum) == 64 * 128 * 4);
  CHECK(read(input + left + same + sum) == 64 * 64 * 4);
  CHECK(read(input + "  %z = constant 0 : f32[]\n  %m = reduce add %n, %z, axes={1} : f32[64]\n"
                     "  %p = slice %m, ranges={0:3:1} : f32[3]\n  output %p\n") == 3 * 128 * 4);
  CHECK(read("  %a = parameter 0 : f32[128]\n  %n = negate %a : f32[128]\n  %b = reshape %n : f32[64,2]\n"
             "  %p = slice %b, ranges={0:64:1, 1:2:1} : f32[64,1]\n  output %p\n") == 64 * 4);
}

TEST_CASE("an array that is updated in place is not read for it, and only the update is written") {
  const std::string update =
      "  %a = parameter 0 : f32[64,128]\n  %u = parameter 1 : f32[1,128]\n  %i = parameter 2 : s32[]\n"
      "  %n = negate %u : f32[1,128]\n  %d = dynamic_update_slice %a, %n, %i, %i : f32[64,128]\n  output %d\n";
  const GroupWork work = work_of(update + "  in_place 0 of 0\n");
  CHECK(work.bytes_read == 128 * 4 + 4);
  CHECK(work.bytes_written == 128 * 4);
  const GroupWork copying = work_of(update);  // the array is still wanted as it was
  CHECK(copying.bytes_read > 63 * 128 * 4);
  CHECK(copying.bytes_written == 64 * 128 * 4);
}
