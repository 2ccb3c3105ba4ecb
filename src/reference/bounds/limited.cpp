// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which arguments have an end, by the operations that they come from, and what that leaves of a bound. In: a graph and
// a node of it. Out: the limit. A distance of two numbers of 1e30 is off by 1e23, and its negative is no more than 0
// all the same: its exponential lies between 0 and 1, where that of any number so far off has no bound.
#include "reference/bounds/limited.h"

#include <algorithm>
#include <cmath>

namespace tailor::reference {

namespace {

/// Whether no element is below 0, however far off what it is made of.
bool is_never_negative(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph[id];
  switch (node.op) {
    case ir::Op::abs:
    case ir::Op::exp:
    case ir::Op::logistic:
      return true;
    case ir::Op::multiply:
      return node.operands[0] == node.operands[1];
    case ir::Op::broadcast:
    case ir::Op::reshape:
    case ir::Op::copy:
      return is_never_negative(graph, node.operands[0]);
    default:
      return false;
  }
}

/// The result lies between 0 and what the end of the argument gives.
double of_exponential(double a, double y, double e) { return std::max(y, std::exp(std::min(0.0, a + e)) - y); }

/// It rises by no more than its argument does.
double of_logarithm(double, double, double e) { return e; }

}  // namespace

Slope limit_of(const Call& call) {
  if (call.node.operands.empty()) return nullptr;
  const ir::NodeId from = call.node.operands[0];
  const ir::Node& argument = call.graph[from];
  if (call.node.op == ir::Op::exp && argument.op == ir::Op::negate &&
      is_never_negative(call.graph, argument.operands[0]))
    return of_exponential;
  return call.node.op == ir::Op::log1p && is_never_negative(call.graph, from) ? of_logarithm : nullptr;
}

}  // namespace tailor::reference
