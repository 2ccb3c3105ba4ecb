// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over windows of few elements: pooling, small stencils. In: a demand for an element of one. Out: demands
// for what its taps read, then the combined value. Called by emission (lower_emit.cpp) as for any other operation.
//
// A tap is demanded at its own place, under the condition that it lies inside of the array; what is computed there is
// computed for each tap, as for each piece of a concatenation. Taps that are never inside are left out, those that
// always are need no condition, and others are taken by a select: one outside counts for nothing. Taps of one array
// that other elements of the thread read too are loaded once, since a load is known by where it reads.
//
// The order is that of the window, from the initial value on: results do not depend on the plan.
#include <algorithm>

#include "codegen/lower/lower_build.h"
#include "codegen/structure/window_taps.h"

namespace tailor::codegen {

std::optional<PredicateId> ProgramBuilder::tap_predicate(ir::NodeId id, std::size_t tap, const Demand& wanted) {
  const ir::Shape& source = node_at(node_at(id).operands[0]).shape;
  const WindowTaps& taps = *taps_of(prepared_, id);
  PredicateId predicate = wanted.predicate;
  for (int dim = 0; dim < source.rank(); ++dim) {
    const Inside inside = tap_inside(s_.build, source, taps, tap, dim, wanted.coordinates);
    if (!may_hold(s_.build, inside)) return std::nullopt;
    predicate = inside_predicate(inside, predicate);
  }
  return predicate;
}

void ProgramBuilder::demand_taps(ir::NodeId id, const Demand& wanted) {
  const ir::Node& node = node_at(id);
  const WindowTaps& taps = *taps_of(prepared_, id);
  const ir::Shape& source = node_at(node.operands[0]).shape;
  demand(node.operands[1], {}, 0);  // one number, right under any predicate
  for (std::size_t tap = 0; tap < taps.offsets.size(); ++tap)
    if (const auto predicate = tap_predicate(id, tap, wanted))
      demand(node.operands[0], tap_coordinates(s_.build, source, taps, tap, wanted.coordinates), *predicate);
}

Entry ProgramBuilder::emit_window(ir::NodeId id, const Demand& wanted) {
  const ir::Node& node = node_at(id);
  const WindowTaps& taps = *taps_of(prepared_, id);
  const ir::Shape& source = node_at(node.operands[0]).shape;
  // Whether taps lie inside, one test for all that lie alike in a dimension.
  std::vector<std::pair<std::pair<int, std::int64_t>, Val>> tests;
  const auto is_inside = [&](std::size_t tap, int dim) {
    const std::pair key(dim, taps.offsets[tap][dim]);
    for (const auto& [known, test] : tests)
      if (known == key) return test;
    Val test = inside_value(tap_inside(s_.build, source, taps, tap, dim, wanted.coordinates));
    if (test.id != ir::no_value) test = let(test.depth, name_of(id) + "_inside", ir::DType::pred, test.id);
    tests.emplace_back(key, test);
    return test;
  };
  Entry all;
  all.compute = find_entry(node.operands[1], {}, 0).compute;
  for (std::size_t tap = 0; tap < taps.offsets.size(); ++tap) {
    const auto predicate = tap_predicate(id, tap, wanted);
    if (!predicate) continue;
    const Val value =
        find_entry(node.operands[0], tap_coordinates(s_.build, source, taps, tap, wanted.coordinates), *predicate)
            .compute;
    ir::Value both;
    both.kind = ir::ValueKind::op;
    both.op = op_of(reducer(node));
    both.dtype = row(node.shape.dtype).compute;
    both.operands = {all.compute.id, value.id, ir::no_value};
    const Val combined = let(std::max(all.compute.depth, value.depth), name_of(id), both.dtype, add_value(both));
    Val test{ir::no_value, 0};
    for (int dim = 0; dim < source.rank(); ++dim) test = both_of(test, is_inside(tap, dim));
    all.compute = choose(id, test, combined, all.compute);
  }
  return all;
}

}  // namespace tailor::codegen
