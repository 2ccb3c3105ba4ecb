// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Accumulators of the phase at hand: an array of registers for each array that its reductions reduce. In: a pass and a
// phase. Out: their declarations, references to their elements, and where finished results are found. Called by
// lower_phases.cpp and lower_join.cpp.
#include <fmt/format.h>

#include "codegen/lower/lower_phases.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

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
