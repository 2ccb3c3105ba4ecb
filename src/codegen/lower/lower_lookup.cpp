// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places that data decides for all elements: dynamic-slice and dynamic-update-slice (those of each element are
// lower_gather.cpp's). In: a group with such nodes. Out: index variables that are bound to numbers from memory,
// coordinates that contain them, stores into a part of an array. Called by lower() before the loops, and by emission.
//
// The indices of these operations are single numbers, the same for every element. So they are read once, in front of
// all loops: a load, a clamp to where the window still fits (that is HLO's rule), and a `bind` that gives the number to
// an index variable with that range. From then on it is a variable like any other: coordinates add it, addresses
// multiply it by a stride, ranges and alignments follow from its extent and its coefficient. An index of a dimension
// that the window fills, or one that is a constant, needs no variable.
//
// A dynamic-slice reads its operand at coordinate + start. A dynamic-update-slice has two forms. Where the group may
// write in place of the operand (Graph::in_place), only the new part is walked and stored, at coordinate + start; of
// the rest not a byte moves. Else the result is an array of its own: an element is the new part's where its coordinate
// lies in the window and the operand's where not, chosen by a select as a pad does it (lower_emit.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "codegen/lower/lower_build.h"

namespace tailor::codegen {

namespace {

/// The window that a look-up moves.
const ir::Shape& window(const ir::Graph& graph, const ir::Node& node) {
  return node.op == ir::Op::dynamic_slice ? node.shape : graph[node.operands[1]].shape;
}

/// Clamping needs room for the last place in the index's own type.
ir::DType clamped_type(ir::DType dtype) {
  const bool narrow = ir::row(dtype).bits < 32;
  return narrow ? ir::DType::s32 : dtype;
}

}  // namespace

void ProgramBuilder::bind_starts() {
  for (ir::NodeId id = 0; id < static_cast<ir::NodeId>(graph_.nodes.size()) && !refusal_; ++id) {
    const ir::Op op = node_at(id).op;
    if (op != ir::Op::dynamic_slice && op != ir::Op::dynamic_update_slice) continue;
    const ir::Shape& whole = node_at(node_at(id).operands[0]).shape;
    for (int dim = 0; dim < whole.rank() && !refusal_; ++dim)
      s_.starts.push_back(make_start(id, dim, whole.dims[dim] - window(graph_, node_at(id)).dims[dim]));
  }
}

Start ProgramBuilder::make_start(ir::NodeId id, int dim, std::int64_t last) {
  Start start;
  start.node = id;
  start.at = s_.build.constant(0);
  if (last == 0) return start;
  const ir::Node& node = node_at(id);
  const std::size_t first = first_start(node);
  start.from = node.operands[first];  // one number each, or one vector of them all
  if (node_at(start.from).shape.rank() == 1) {
    start.place.rank = 1;
    start.place[0] = s_.build.constant(dim);
  } else {
    start.from = node.operands[first + static_cast<std::size_t>(dim)];
  }
  start.is_late = prepared_.choices[id].late_start && node_at(start.from).op != ir::Op::constant;
  Val number;
  if (!start.is_late) {
    number = emit_value(start.from, start.place).compute;
    if (refusal_) return start;
    if (const ir::Value& known = kernel_.values[number.id]; known.kind == ir::ValueKind::constant) {
      const bool beyond = known.integer < 0 && is_unsigned(known.dtype);  // 2^63 or more
      start.at = s_.build.constant(beyond ? last : std::clamp<std::int64_t>(known.integer, 0, last));
      return start;
    }
  }
  start.var = s_.build.add_var({name_of(id) + "_at", ir::VarKind::data, last + 1, 1});
  start.at = s_.build.var(start.var);
  if (start.is_late)
    s_.late |= ir::VarSet::only(start.var);
  else
    put_bind(start, number);
  return start;
}

void ProgramBuilder::put_bind(const Start& start, const Val& number) {
  ir::Stmt bind;
  bind.kind = ir::StmtKind::bind;
  bind.var = start.var;
  const Val clamp = clamped(start.from, number, s_.build.pool().vars[start.var].extent - 1);
  bind.value = clamp.id;
  put(start.is_late ? depth() : 0, bind);
}

Val ProgramBuilder::clamped(ir::NodeId from, Val start, std::int64_t last) {
  const ir::DType dtype = clamped_type(node_at(from).shape.dtype);
  if (kernel_.values[start.id].dtype != dtype) {
    ir::Value converted;
    converted.kind = ir::ValueKind::convert;
    converted.dtype = dtype;
    converted.operands[0] = start.id;
    start = {add_value(converted), start.depth};
  }
  ir::Value clamped;
  clamped.kind = ir::ValueKind::op;
  clamped.op = ir::Op::clamp;
  clamped.dtype = dtype;
  clamped.operands = {number(dtype, 0, 0).id, start.id, number(dtype, 0, last).id};
  return {add_value(clamped), start.depth};
}

ir::ExprId ProgramBuilder::start_of(ir::NodeId id, int dim) const {
  const auto first = std::find_if(s_.starts.begin(), s_.starts.end(), [&](const Start& s) { return s.node == id; });
  return first[dim].at;
}

Coordinates ProgramBuilder::source_coordinates(ir::NodeId id, int k, const Coordinates& coordinates,
                                               PredicateId predicate) {
  const ir::Node& node = node_at(id);
  if (node.op == ir::Op::gather) return gathered_from(id, coordinates, predicate);
  if (class_of(node.op) != ir::OpClass::lookup) return operand_coordinates(s_.build, graph_, node, k, coordinates);
  Coordinates out = coordinates;
  for (int dim = 0; dim < out.rank; ++dim) {
    if (node.op == ir::Op::dynamic_slice) out[dim] = s_.build.add(coordinates[dim], start_of(id, dim));
    if (node.op == ir::Op::dynamic_update_slice && k == 1)
      out[dim] = s_.build.narrow(s_.build.subtract(coordinates[dim], start_of(id, dim)),
                                 {0, window(graph_, node).dims[dim] - 1});
  }
  return out;
}

Inside ProgramBuilder::inside_of(ir::NodeId id, int k, const Coordinates& coordinates) {
  const ir::Node& node = node_at(id);
  if (node.op != ir::Op::dynamic_update_slice) return make_inside(s_.build, graph_, node, k, coordinates);
  return {s_.build.subtract(s_.build.expand(coordinates[k]), start_of(id, k)), 0, window(graph_, node).dims[k],
          ir::no_expr};
}

ir::ExprId ProgramBuilder::stored_at(std::int32_t output, const Coordinates& coordinates) {
  const ir::NodeId id = graph_.outputs[output];
  const ir::Node& node = node_at(id);
  if (prepared_.stored[output] == id || prepared_.fills)
    return s_.build.expand(memory_index(s_.build, node.shape, coordinates));
  Coordinates moved = coordinates;
  for (int dim = 0; dim < moved.rank; ++dim) moved[dim] = s_.build.add(coordinates[dim], start_of(id, dim));
  return s_.build.expand(memory_index(s_.build, node.shape, moved));
}

}  // namespace tailor::codegen
