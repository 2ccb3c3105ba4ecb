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
// again by neighbours from L1. Elements are taken in order; a reducer's beginning comes last, unless it is neutral.
//
// Sums and products of floats stay: a reduce may add in any order and its bounds say so, operations round as they
// stand. Where a module makes such a sum of some rows, what else it makes of rows of these dimensions stays too: a
// softmax takes the greatest of what it sums. But sums of products over pairs are written out, the squares of a
// distance in three dimensions from each point to each: no array has these rows, both factors are spread over the other
// one's points, and what reduces the distances takes them from registers. Each product is off by its own rounding,
// which is more than another order of additions is.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
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

/// Whether results depend on the order in which elements are put together, or on how often they are rounded.
bool is_rounded(ir::Reducer reducer, ir::DType dtype) {
  return ir::is_floating(dtype) && (reducer == ir::Reducer::add || reducer == ir::Reducer::multiply);
}

std::string rows_text(const ir::Shape& array, std::string_view dimensions) {
  return fmt::format("{} over {}", fmt::join(array.dims, ","), dimensions);
}

/// Rows of which some instruction of the module makes a sum or product of floats, ascending.
std::vector<std::string> find_rounded_rows(const HloModule& module) {
  std::vector<std::string> rows;
  for (const HloComputation& computation : module.computations)
    for (const HloInstruction& one : module.instructions_of(computation)) {
      if (one.op != ir::Op::reduce || one.operands != 2 || module.operands_of(one)[0].indices != 0) continue;
      const HloType& type = module.type_of(module.instructions_of(computation)[module.operands_of(one)[0].instruction]);
      const std::int32_t region = module.computation_named(trim(module.attribute(one, "to_apply")));
      if (type.children >= 0 || region < 0) continue;
      const ir::Shape& array = module.shapes_of(type)[0];
      if (is_rounded(find_reducer(module, module.computations[region], array.dtype), array.dtype))
        rows.push_back(rows_text(array, module.attribute(one, "dimensions")));
    }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Whether rows of this kind stay rows anyway: a kernel of these holds their other reductions too.
bool stay_rows(GraphBuilder& builder, const HloInstruction& instruction, const ir::Shape& array) {
  std::optional<std::vector<std::string>>& rounded = builder.rounded_rows();
  if (!rounded) rounded = find_rounded_rows(builder.module());
  return std::binary_search(rounded->begin(), rounded->end(),
                            rows_text(array, builder.module().attribute(instruction, "dimensions")));
}

/// Whether the terms are made for each pair: nothing that is read has as many elements.
bool are_spread(GraphBuilder& builder, ir::NodeId terms) {
  constexpr std::size_t most_operations = 64;
  const std::int64_t count = elements(builder.node(terms).shape);
  std::vector<ir::NodeId> found{terms};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const ir::Node& node = builder.node(found[next]);
    const bool passes =
        class_of(node.op) == ir::OpClass::elementwise || node.op == ir::Op::broadcast || node.op == ir::Op::reshape;
    if (!passes || found.size() > most_operations) return false;
    for (const ir::NodeId operand : node.operands)
      if (elements(builder.node(operand).shape) >= count &&
          std::find(found.begin(), found.end(), operand) == found.end())
        found.push_back(operand);
  }
  return true;
}

/// A sum of products over pairs of elements of smaller arrays.
bool is_sum_over_pairs(GraphBuilder& builder, const ir::Node& node) {
  if (!node.bodies.empty() || reducer(node) != ir::Reducer::add) return false;
  return builder.node(node.operands[0]).op == ir::Op::multiply && are_spread(builder, node.operands[0]);
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
  const bool over_pairs = is_short(node, array) && is_sum_over_pairs(builder, node);
  const bool is_known = node.bodies.empty()
                            ? node.shape.dtype == array.dtype && has_neutral(reducer(node), array.dtype) &&
                                  (over_pairs || !is_rounded(reducer(node), array.dtype))
                            : is_pointwise(builder, node);
  if (!is_short(node, array) || !is_known || (!over_pairs && stay_rows(builder, instruction, array)))
    return builder.add_result(std::move(node), type, instruction);
  return ShortReduction(builder, instruction, node).finish(node);
}

}  // namespace tailor::hlo
