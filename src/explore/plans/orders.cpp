// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Dominants of one order. In: a prepared group and one of its dominants. Out: the first one with the same order. Called
// by space.cpp, packs.cpp and xla_style.cpp.
//
// Two arrays have the same order when a route leads from one to the other (prepare.h) on which no step moves an
// element. A step that keeps dimensions moves none if it keeps the layout. One that renames or permutes dimensions
// moves none if those longer than 1 follow on one another in memory as before. One that cuts dimensions otherwise is
// only known to move none where both arrays are row-major. So the answer may be no where yes would be true, which costs
// plans that are twins; it is never yes where the orders differ, for then an order would be lost.
#include "explore/plans/orders.h"

#include <algorithm>

#include "ir/graph/domain.h"
#include "ir/graph/split_reduction.h"

namespace tailor::explore {

namespace {

/// Whether what `user` makes of `operand`, of as many elements, lies where it lay.
bool keeps_order(const ir::Graph& graph, ir::NodeId user, ir::NodeId operand) {
  const ir::Node& node = graph[user];
  const ir::Shape &from = graph[operand].shape, &to = node.shape;
  switch (node.op) {
    case ir::Op::bitcast:
      return true;
    case ir::Op::reshape:
      return ir::lies_row_major(from) && ir::lies_row_major(to);
    case ir::Op::broadcast: {
      std::vector<int> places = ir::wide_dimensions(from);
      for (int& dim : places) dim = static_cast<int>(axes(node)[dim]);
      return places == ir::wide_dimensions(to);
    }
    case ir::Op::transpose: {
      std::vector<int> places = ir::wide_dimensions(to);
      for (int& dim : places) dim = static_cast<int>(axes(node)[dim]);
      return places == ir::wide_dimensions(from);
    }
    default:
      return from.dims == to.dims && ir::wide_dimensions(from) == ir::wide_dimensions(to);
  }
}

bool has_same_order(const codegen::Prepared& prepared, ir::NodeId first, ir::NodeId other) {
  const ir::Graph& graph = *prepared.graph;
  const codegen::Route route = codegen::find_routes(graph, prepared, first, {&other, 1}).front();
  return route.found && std::all_of(route.steps.begin(), route.steps.end(), [&](const codegen::Step& step) {
           return step.to_user ? keeps_order(graph, step.to, step.from) : keeps_order(graph, step.from, step.to);
         });
}

}  // namespace

ir::NodeId first_of_order(const codegen::Prepared& prepared, ir::NodeId dominant) {
  if (ir::row(prepared.skeleton).unit != ir::WorkUnit::elements) return dominant;
  for (const ir::NodeId first : prepared.dominants)
    if (first == dominant || has_same_order(prepared, first, dominant)) return first;
  return dominant;
}

std::vector<ir::NodeId> different_orders(const codegen::Prepared& prepared) {
  std::vector<ir::NodeId> orders = prepared.dominants;
  if (orders.size() > 1) std::erase_if(orders, [&](ir::NodeId one) { return first_of_order(prepared, one) != one; });
  return orders;
}

}  // namespace tailor::explore
