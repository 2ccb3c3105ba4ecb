// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of up to four elements: the channels of a picture, a coordinate's components, the sides of a box. In: such
// a reduce. Out: its operations on slices, one behind the other. Called by the walk (graph_builder.cpp).
//
//   sum of x[n,3] over its second dimension      x[:,0] + x[:,1] + x[:,2]
//
// A kernel ends where rows are reduced, or goes through rows as its dominant has them. Rows of three are no work for
// lanes that meet: what is written out is elementwise, goes into whatever kernel reads it, and its slices are read
// again by neighbours from L1. Elements are taken in order, from what the text begins with unless that is neutral. Sums
// and products of 16 bits stay as they are: a reduce may round them once, and operations round each time.
#include "hlo/expand/combination.h"

namespace tailor::hlo {

namespace {

constexpr std::int64_t most_elements = 4;

bool is_short(const ir::Node& node, const ir::Shape& array) {
  std::int64_t count = 1;
  for (const std::int64_t axis : axes(node)) {
    const std::int64_t extent = array.dims[static_cast<int>(axis)];
    if (extent < 1 || extent > most_elements) return false;
    count *= extent;
  }
  return count > 1 && count <= most_elements && elements(array) > 0;
}

bool rounds_once(ir::Reducer reducer, ir::DType dtype) {
  constexpr int single = 32;
  return ir::is_floating(dtype) && row(dtype).bits < single &&
         (reducer == ir::Reducer::add || reducer == ir::Reducer::multiply);
}

class ShortReduction : Combination {
 public:
  using Combination::Combination;

  HloValue finish(const ir::Node& node) {
    const Arrays all(node.operands.begin(),
                     node.operands.begin() + static_cast<std::ptrdiff_t>(node.operands.size() / 2));
    const ir::Dims& gone = axes(node);
    ir::Dims kept, at;
    for (int i = 0; i < dims_of(all).size(); ++i)
      if (!gone.contains(i)) kept.push_back(dims_of(all)[i]);
    for (int i = 0; i < gone.size(); ++i) at.push_back(0);
    Arrays sum;
    if (has_region()) sum = missing("start", kept);
    for (int number = 0;; ++number) {
      const std::string word = fmt::format("element{}", number);
      Arrays one = all;
      for (int i = 0; i < gone.size(); ++i)
        one = cut(fmt::format("{}/at{}", word, i), one, static_cast<int>(gone[i]), at[i], at[i] + 1);
      one = reshaped(word + "/flat", one, kept);
      sum = sum.empty() ? one : combined(word, sum, one);
      int i = gone.size() - 1;
      for (; i >= 0 && ++at[i] == dims_of(all)[static_cast<int>(gone[i])]; --i) at[i] = 0;
      if (i < 0) break;
    }
    return Combination::finish(Pass::reductions, has_region() ? sum : with_init(sum), node);
  }
};

}  // namespace

HloValue resolve_reduce(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType& type = builder.module().type_of(instruction);
  ir::Node node = builder.plain_node(instruction, frame, instruction.op, type);
  builder.check(node, instruction);
  const ir::Shape array = builder.node(node.operands[0]).shape;
  std::vector<ir::Shape> arrays;
  for (std::size_t k = 0; k < node.operands.size() / 2; ++k) arrays.push_back(builder.node(node.operands[k]).shape);
  const bool is_known = node.bodies.empty()
                            ? has_neutral(reducer(node), array.dtype) && !rounds_once(reducer(node), array.dtype)
                            : is_pointwise(builder.body(node.bodies[0]), arrays);
  if (!is_short(node, array) || !is_known) return builder.add_result(std::move(node), type, instruction);
  return ShortReduction(builder, instruction, node).finish(node);
}

}  // namespace tailor::hlo
