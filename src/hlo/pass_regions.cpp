// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Regions of reductions. In: the computation that a reduce, scatter or similar instruction calls. Out: the name of a
// reducer, or of a comparison, or a body. Called by the walk. Most regions are one operation of their two parameters,
// in either order. XLA's float normalisation computes some in a wider type and rounds back; those are recognised too.
// Anything else stays a body.
#include <array>

#include "base/text.h"
#include "hlo/graph_builder.h"

namespace tailor::hlo {

namespace {

struct ReducerRow {
  ir::Op op;
  ir::Reducer reducer;
  ir::Reducer on_predicates;
};

constexpr auto reducer_rows = std::to_array<ReducerRow>({
    {ir::Op::add, ir::Reducer::add, ir::Reducer::bit_or},
    {ir::Op::multiply, ir::Reducer::multiply, ir::Reducer::bit_and},
    {ir::Op::maximum, ir::Reducer::maximum, ir::Reducer::bit_or},
    {ir::Op::minimum, ir::Reducer::minimum, ir::Reducer::bit_and},
    {ir::Op::bit_and, ir::Reducer::bit_and, ir::Reducer::bit_and},
    {ir::Op::bit_or, ir::Reducer::bit_or, ir::Reducer::bit_or},
    {ir::Op::bit_xor, ir::Reducer::bit_xor, ir::Reducer::bit_xor},
});

/// Follows conversions to where a value comes from. A conversion on the way may only widen the region's type.
const HloInstruction* source(const HloModule& module, const HloComputation& region, const HloInstruction* at,
                             ir::DType narrow) {
  while (at->op == ir::Op::convert && at->operands == 1) {
    const HloType& type = module.type_of(*at);
    if (type.children >= 0) return nullptr;
    const ir::DType to = module.shapes_of(type)[0].dtype;
    const bool widens = to == narrow || (is_floating(narrow) && (to == ir::DType::f32 || to == ir::DType::f64) &&
                                         row(to).bits > row(narrow).bits);
    if (!widens) return nullptr;
    at = &module.instructions_of(region)[module.operands_of(*at)[0].instruction];
  }
  return at;
}

/// The operation of a region of one operation of its two parameters, widened and rounded or not, and which parameter
/// comes first in it; nullptr where it is none.
struct PairOperation {
  const HloInstruction* op = nullptr;
  bool swapped = false;
};

/// `root` is where the operation is looked for, `dtype` the type of what it computes with.
PairOperation pair_operation(const HloModule& module, const HloComputation& region, const HloInstruction* root,
                             ir::DType dtype) {
  const auto instructions = module.instructions_of(region);
  const HloInstruction* op = source(module, region, root, dtype);
  if (op == nullptr || op->operands != 2) return {};
  std::array<const HloInstruction*, 2> ends{};
  for (std::size_t i = 0; i < 2; ++i) {
    const HloOperand& operand = module.operands_of(*op)[i];
    if (operand.indices != 0) return {};
    ends[i] = source(module, region, &instructions[operand.instruction], dtype);
    if (ends[i] == nullptr || ends[i]->op != ir::Op::parameter) return {};
    const HloType& end_type = module.type_of(*ends[i]);
    if (end_type.children >= 0 || module.shapes_of(end_type)[0].dtype != dtype) return {};
  }
  if (ends[0] == ends[1]) return {};
  return {op, trim(ends[0]->payload) == "1"};
}

bool is_small_pair(const HloComputation& region) {
  return region.parameters == 2 && region.sorted && region.count <= 8;
}

}  // namespace

ir::Reducer find_reducer(const HloModule& module, const HloComputation& region, std::optional<ir::DType> wanted) {
  if (!is_small_pair(region)) return ir::Reducer::custom;
  const HloInstruction* root = &module.instructions_of(region)[region.root];
  const HloType& type = module.type_of(*root);
  if (type.children >= 0 || module.shapes_of(type)[0].rank() != 0) return ir::Reducer::custom;
  const ir::DType dtype = module.shapes_of(type)[0].dtype;
  const HloInstruction* op = pair_operation(module, region, root, dtype).op;
  if (op == nullptr || dtype != wanted.value_or(dtype)) return ir::Reducer::custom;
  for (const ReducerRow& row : reducer_rows)
    if (row.op == op->op) return dtype == ir::DType::pred ? row.on_predicates : row.reducer;
  return ir::Reducer::custom;
}

std::optional<RegionComparison> find_comparison(const GraphBuilder& builder, const HloComputation& region,
                                                ir::DType dtype) {
  if (!is_small_pair(region)) return std::nullopt;
  const HloInstruction* root = &builder.module().instructions_of(region)[region.root];
  if (root->op != ir::Op::compare) return std::nullopt;
  const PairOperation pair = pair_operation(builder.module(), region, root, dtype);
  if (pair.op == nullptr) return std::nullopt;
  return RegionComparison{read_comparison(builder, *pair.op), pair.swapped};
}

}  // namespace tailor::hlo
