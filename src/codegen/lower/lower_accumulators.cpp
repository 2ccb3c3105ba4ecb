// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Accumulators of the phase at hand: an array of registers for each array that its reductions reduce. In: a pass and a
// phase. Out: their declarations, references to their elements, where finished results are found, which way the phase
// goes, and whether places rise. Called by lower_phases.cpp and lower_join.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/lower/lower_phases.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

namespace {

/// Whether it is no known whole number, or one above the first place.
bool starts_behind(const ir::Node& start) {
  const ir::Literal* known = ir::known_literal(start);
  if (known == nullptr || known->bytes.empty()) return true;
  const bool is_negative = (known->bytes.back() & std::byte{0x80}) != std::byte{0};
  return !is_negative &&
         std::any_of(known->bytes.begin(), known->bytes.end(), [](std::byte b) { return b != std::byte{0}; });
}

/// Whether an array of whole numbers says of each element where it stands along a dimension.
bool are_places(const ir::Graph& graph, ir::NodeId id, std::int64_t dim) {
  const ir::Node& node = graph[id];
  if (!ir::is_signed(node.shape.dtype) || row(node.shape.dtype).bits < 32) return false;
  if (node.op == ir::Op::iota) return axis(node) == dim;
  if (node.op != ir::Op::broadcast) return false;
  for (int from = 0; from < graph[node.operands[0]].shape.rank(); ++from)
    if (axes(node)[from] == dim) return are_places(graph, node.operands[0], from);
  return false;
}

/// Whether the index grows with each step of the loops around a section's elements, the outer ones first.
bool rises(const Pass& pass, const Segment& segment, ir::ExprId index) {
  const ir::IndexPool& pool = pass.builder.build().pool();
  std::vector<ir::VarId> loops;
  for (int i = 0; i < segment.trip_loops; ++i) loops.push_back(segment.trips[static_cast<std::size_t>(i)]);
  if (segment.vector > 1) loops.push_back(segment.element);
  std::int64_t inner = 0;  // how far the loops within take it
  for (std::size_t i = loops.size(); i-- > 0;) {
    std::int64_t step = 0;
    for (const ir::Linear& linear : pool.linear(pass.builder.build().expand(index))) {
      const ir::Term& term = pool.terms[linear.term];
      if (!term.vars.has(loops[i])) continue;
      if (term.kind != ir::TermKind::var) return false;
      step += linear.coefficient;
    }
    if (step <= inner) return false;
    inner += step * (pool.vars[loops[i]].extent - 1);
  }
  return true;
}

}  // namespace

int rising_array(Pass& pass, ir::NodeId reduction, const Segment& segment) {
  const ir::Graph& graph = pass.builder.graph();
  const ir::Node& reduce = graph[reduction];
  if (&segment != pass.loops.segments().data() || axes(reduce).size() != 1) return -1;
  for (std::size_t k = 0; k < ir::reduced_count(reduce); ++k) {
    const ir::Node& start = graph[reduce.operands[ir::reduced_count(reduce) + k]];
    if (!are_places(graph, reduce.operands[k], axes(reduce)[0]) || starts_behind(start)) continue;
    const Coordinates at = read_coordinates(pass, reduction, segment.along);
    if (rises(pass, segment, at[static_cast<int>(axes(reduce)[0])])) return static_cast<int>(k);
  }
  return -1;
}

bool goes_backward(const Pass& pass, const Phase& phase) {
  const Phase* const first = pass.prepared.phases.data();
  return pass.mapping.in_parts && phase.reductions.empty() && phase.across.empty() &&
         std::any_of(first, &phase, [](const Phase& before) { return before.walks; });
}

void declare_accumulators(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  pass.accumulators.clear();
  pass.partials.clear();
  for (const ir::NodeId id : phase.reductions) {
    const ir::Node& reduce = builder.graph()[id];
    const std::size_t count = ir::reduced_count(reduce);
    for (std::size_t k = 0; k < count; ++k) {
      const ir::DType dtype = count == 1 ? reduce.shape.dtype : reduce.results[k].dtype;
      ir::Array array{pass.prepared.names[id] + (count == 1 ? "" : fmt::format("_{}", k)),
                      ir::Space::registers,
                      row(dtype).compute,
                      {0, 0},
                      pass.loops.results.vector};
      if (builder.in_flight_rows > 1) array.dims[0] = builder.in_flight_rows;
      pass.accumulators.push_back(builder.add_array(array));
      builder.declare(builder.row_depth, pass.accumulators.back(), builder.start_of_sum(reduce, k));
    }
  }
}

void name_results(Pass& pass, const Phase& phase) {
  for (const Slots& slots : slots_of(pass, phase))
    for (std::size_t i = slots.first; i < slots.end; ++i)
      pass.builder.state().accumulators.push_back(
          {slots.reduce, result_coordinates(pass, slots.reduce, pass.loops.kept), pass.accumulators[i],
           pass.builder.depth(), accumulator_ref(pass, i).lane, i - slots.first});
}

ir::Ref accumulator_ref(const Pass& pass, std::size_t i) {
  ir::Ref ref;
  ref.array = pass.accumulators[i];
  if (pass.builder.in_flight_rows > 1) ref.subs[0] = pass.builder.row_in_flight;
  if (pass.loops.results.vector > 1) ref.lane = pass.builder.build().var(pass.loops.results.element);
  return ref;
}

std::vector<ir::Ref> accumulator_refs(const Pass& pass, const Slots& slots) {
  std::vector<ir::Ref> refs;
  for (std::size_t i = slots.first; i < slots.end; ++i) refs.push_back(accumulator_ref(pass, i));
  return refs;
}

std::vector<Slots> slots_of(const Pass& pass, const Phase& phase) {
  std::vector<Slots> all;
  std::size_t first = 0;
  for (const ir::NodeId id : phase.reductions) {
    const std::size_t end = first + ir::reduced_count(pass.builder.graph()[id]);
    all.push_back({id, first, end});
    first = end;
  }
  return all;
}

}  // namespace tailor::codegen
