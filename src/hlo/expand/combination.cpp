// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What windows do to their elements, as nodes. In: a reduce-window. Out: see combination.h. Called by pass_scans.cpp
// and pass_windows.cpp.
//
// A region is a graph of single numbers. Applied to arrays every one of its nodes becomes the same operation on arrays:
// parameters are the arrays, and a constant is that number everywhere.
#include "hlo/expand/combination.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tailor::hlo {

namespace {

bool hands_on(const ir::Node& node) {
  return node.op == ir::Op::broadcast || node.op == ir::Op::reshape || node.op == ir::Op::bitcast;
}

ir::Shape shape_at(const ir::Dims& dims, ir::DType dtype) { return ir::make_shape(dtype, dims); }

}  // namespace

std::string window_text(const IndexedVector<ir::WindowDim>& dims) {
  std::vector<std::string> sizes, strides, pads, apart;
  for (const ir::WindowDim& one : dims) {
    sizes.push_back(fmt::format("{}", one.size));
    strides.push_back(fmt::format("{}", one.stride));
    pads.push_back(fmt::format("{}_{}", one.pad_low, one.pad_high));
    apart.push_back(fmt::format("{}", one.window_dilation));
  }
  const auto joined = [](std::string_view key, const std::vector<std::string>& of, std::string_view idle) {
    const bool is_idle = std::all_of(of.begin(), of.end(), [&](const std::string& one) { return one == idle; });
    return is_idle ? std::string() : fmt::format(" {}={}", key, fmt::join(of, "x"));
  };
  return fmt::format("window={{size={}{}{}{}}}", fmt::join(sizes, "x"), joined("stride", strides, "1"),
                     joined("pad", pads, "0_0"), joined("rhs_dilate", apart, "1"));
}

bool is_pointwise(GraphBuilder& builder, const ir::Node& node) {
  if (node.bodies.size() != 1) return false;
  std::vector<ir::Shape> arrays;
  for (std::size_t k = 0; k < node.operands.size() / 2; ++k) arrays.push_back(builder.node(node.operands[k]).shape);
  const ir::Graph& region = builder.body(node.bodies[0]);
  if (region.outputs.size() != arrays.size() || parameters(region).size() != 2 * arrays.size()) return false;
  for (std::size_t k = 0; k < arrays.size(); ++k)
    if (region[region.outputs[k]].shape.dtype != arrays[k].dtype) return false;
  return std::all_of(region.nodes.begin(), region.nodes.end(), [&](const ir::Node& inner) {
    if (inner.shape.rank() != 0 || !inner.results.empty()) return false;
    if (inner.op != ir::Op::parameter)
      return inner.op == ir::Op::constant || hands_on(inner) || class_of(inner.op) == ir::OpClass::elementwise;
    const auto number = static_cast<std::size_t>(parameter_number(inner));
    return inner.shape.dtype == arrays[number % arrays.size()].dtype;
  });
}

Combination::Combination(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& node)
    : Expansion(builder, instruction, node.name),
      reducer_(reducer(node)),
      region_(node.bodies.empty() ? -1 : node.bodies[0]) {
  const std::size_t arrays = node.operands.size() / 2;
  for (std::size_t k = arrays; k < node.operands.size(); ++k) inits_.push_back(node.operands[k]);
  missing_ = inits_;
  if (has_region()) return;
  missing_ = {neutral(reducer_, node.shape.dtype)};
  const auto* known = std::get_if<ir::Literal>(&builder.node(inits_[0]).attributes);
  starts_neutral_ =
      known != nullptr && known->bytes == std::get<ir::Literal>(builder.node(missing_[0]).attributes).bytes;
}

std::string Combination::of_array(std::string_view word, std::size_t k) const {
  return inits_.size() == 1 ? std::string(word) : fmt::format("{}_{}", word, k);
}

Arrays Combination::combined(std::string_view word, const Arrays& before, const Arrays& after) {
  if (has_region()) return applied(word, before, after);
  return {add(ir::op_of(reducer_), word, shape_of(before[0]), {before[0], after[0]})};
}

Arrays Combination::applied(std::string_view word, const Arrays& before, const Arrays& after) {
  const ir::Graph region = builder_.body(region_);
  const ir::Dims dims = dims_of(before);
  std::map<ir::NodeId, ir::NodeId> made;
  for (std::int32_t i = 0; i < std::ssize(region.nodes); ++i) {
    ir::Node node = region[i];
    if (node.op == ir::Op::parameter) {
      const auto number = static_cast<std::size_t>(parameter_number(node));
      made[i] = number < before.size() ? before[number] : after[number - before.size()];
    } else if (hands_on(node)) {
      made[i] = made[node.operands[0]];
    } else {
      const std::string step = fmt::format("{}/{}", word, node.name);
      const bool is_constant = node.op == ir::Op::constant;
      if (!is_constant) node.shape = shape_at(dims, node.shape.dtype);
      for (ir::NodeId& operand : node.operands) operand = made[operand];
      made[i] = add(std::move(node), step);
      if (is_constant) made[i] = everywhere(step + "_spread", made[i], shape_at(dims, region[i].shape.dtype));
    }
  }
  Arrays results;
  for (const ir::NodeId output : region.outputs) results.push_back(made[output]);
  return results;
}

Arrays Combination::with_init(const Arrays& x) {
  if (starts_neutral_) return x;
  return combined("with_init", {everywhere("init_spread", inits_[0], shape_of(x[0]))}, x);
}

Arrays Combination::missing(std::string_view word, const ir::Dims& dims) {
  return each(word, missing_, [&](const std::string& own, ir::NodeId number, ir::NodeId) {
    return everywhere(own, number, shape_at(dims, shape_of(number).dtype));
  });
}

Arrays Combination::cut(std::string_view word, const Arrays& x, int axis, std::int64_t low, std::int64_t high,
                        std::int64_t stride) {
  ir::SliceRanges ranges;
  for (const std::int64_t length : dims_of(x)) ranges.ranges.push_back({0, length, 1});
  ranges.ranges[axis] = {low, high, stride};
  return each(word, x, [&](const std::string& own, ir::NodeId array, ir::NodeId) { return slice(own, array, ranges); });
}

Arrays Combination::filled(std::string_view word, const Arrays& x, const ir::PadRanges& ranges) {
  return each(word, x,
              [&](const std::string& own, ir::NodeId array, ir::NodeId fill) { return pad(own, array, fill, ranges); });
}

Arrays Combination::filled(std::string_view word, const Arrays& x, int axis, std::int64_t low, std::int64_t high) {
  ir::PadRanges ranges;
  ranges.ranges.resize(dims_of(x).size());
  ranges.ranges[axis] = {low, high, 0};
  return filled(word, x, ranges);
}

Arrays Combination::reshaped(std::string_view word, const Arrays& x, const ir::Dims& dims) {
  return each(word, x, [&](const std::string& own, ir::NodeId array, ir::NodeId) {
    return add(ir::Op::reshape, own, shape_at(dims, shape_of(array).dtype), {array});
  });
}

Arrays Combination::spread(std::string_view word, const Arrays& x, const ir::Dims& dims, const ir::Dims& kept) {
  return each(word, x, [&](const std::string& own, ir::NodeId array, ir::NodeId) {
    return add(ir::Op::broadcast, own, shape_at(dims, shape_of(array).dtype), {array}, ir::AxisList{kept});
  });
}

Arrays Combination::reduced(std::string_view word, const Arrays& x, const ir::Dims& axes) {
  ir::Dims dims;
  for (int i = 0; i < dims_of(x).size(); ++i)
    if (!axes.contains(i)) dims.push_back(dims_of(x)[i]);
  std::vector<ir::Shape> shapes;
  for (const ir::NodeId array : x) shapes.push_back(shape_at(dims, shape_of(array).dtype));
  Arrays operands = x;
  operands.insert(operands.end(), missing_.begin(), missing_.end());
  return reduce(word, operands, shapes, ir::Reduction{axes, reducer_}, region_);
}

Arrays Combination::windows(std::string_view word, const Arrays& x, const IndexedVector<ir::WindowDim>& dims) {
  ir::Dims made;
  for (int i = 0; i < dims_of(x).size(); ++i) {
    const ir::WindowDim& one = dims[i];
    const std::int64_t reach = (one.size - 1) * one.window_dilation + 1;
    made.push_back((dims_of(x)[i] + one.pad_low + one.pad_high - reach) / one.stride + 1);
  }
  return {add(ir::Op::reduce_window, word, shape_at(made, shape_of(x[0]).dtype), {x[0], missing_[0]},
              ir::RegionCall{reducer_, window_text(dims)})};
}

HloValue Combination::finish(Pass pass, const Arrays& x, const ir::Node& node) {
  Arrays results;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const ir::Shape shape = node.results.empty() ? node.shape : node.results[k];
    const bool is_given = std::find(node.operands.begin(), node.operands.end(), x[k]) != node.operands.end() ||
                          std::find(results.begin(), results.end(), x[k]) != results.end();
    results.push_back(is_given ? add(ir::Op::copy, of_array("result", k), shape, {x[k]}) : x[k]);
    builder_.node(results[k]).shape = shape;
    builder_.node(results[k]).name = x.size() == 1 ? name() : fmt::format("{}/{}", name(), of_array("result", k));
  }
  return Expansion::finish(pass, results);
}

}  // namespace tailor::hlo
