// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a graph can say about itself. In: a graph, a node. Out: users, parameters, whether a node is
// free, what a group reads and writes. Called by the importer, the strategies, the lowering and the
// report. Nothing here changes a graph.
#include "ir/graph/graph.h"

#include <algorithm>

namespace tailor::ir {

namespace {

double stored_bytes(const Node& node) {
  if (node.shape.dtype != DType::tuple) return static_cast<double>(bytes(node.shape));
  double sum = 0;
  for (const Shape& shape : node.results) sum += static_cast<double>(bytes(shape));
  return sum;
}

/// Bytes read to see every element of `id`: a free node is read where its source lies, an iota is computed.
double read_bytes(const Graph& graph, NodeId id) {
  const double whole = stored_bytes(graph[id]);
  for (;;) {
    const Node& node = graph[id];
    if (node.op == Op::iota) return 0;
    if (node.op != Op::reshape && node.op != Op::bitcast && node.op != Op::broadcast)
      return std::min(whole, stored_bytes(node));
    id = node.operands.front();
  }
}

/// Reads of the operands from `first` on, each node once.
double operand_bytes(const Graph& graph, const Node& node, std::size_t first) {
  std::vector<NodeId> distinct(
      node.operands.begin() + static_cast<std::ptrdiff_t>(std::min(first, node.operands.size())), node.operands.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  double sum = 0;
  for (const NodeId operand : distinct) sum += read_bytes(graph, operand);
  return sum;
}

}  // namespace

std::vector<std::vector<NodeId>> users(const Graph& graph) {
  std::vector<std::vector<NodeId>> result(graph.nodes.size());
  for (std::size_t user = 0; user < graph.nodes.size(); ++user) {
    const auto id = static_cast<NodeId>(user);
    for (const NodeId operand : graph.nodes[user].operands) {
      std::vector<NodeId>& list = result[index(operand)];
      if (list.empty() || list.back() != id) list.push_back(id);
    }
  }
  return result;
}

std::vector<NodeId> parameters(const Graph& graph) {
  std::vector<NodeId> result;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].op == Op::parameter) result.push_back(static_cast<NodeId>(i));
  std::sort(result.begin(), result.end(),
            [&graph](NodeId a, NodeId b) { return parameter_number(graph[a]) < parameter_number(graph[b]); });
  return result;
}

bool is_free(const Graph& graph, NodeId node) {
  const Op op = graph[node].op;
  if (op == Op::reshape || op == Op::bitcast || op == Op::broadcast) return true;
  if (op == Op::copy_start || op == Op::copy_done) return false;
  return class_of(op) == OpClass::leaf || class_of(op) == OpClass::structure;
}

double bytes_touched(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (is_free(graph, id) || class_of(node.op) == OpClass::control) return 0;
  double result = stored_bytes(node);
  // A library call's result that nobody picks is its scratch space, not traffic.
  if (class_of(node.op) == OpClass::library && node.results.size() > 1) {
    std::vector<bool> picked(node.results.size(), false);
    for (std::size_t i = index(id) + 1; i < graph.nodes.size(); ++i) {
      const Node& user = graph.nodes[i];
      if (user.op == Op::get_tuple_element && user.operands[0] == id) picked[tuple_index(user)] = true;
    }
    result = 0;
    for (std::size_t i = 0; i < picked.size(); ++i)
      if (picked[i]) result += static_cast<double>(bytes(node.results[i]));
  }
  // Reads what it writes, at a place given by the remaining operands.
  if (node.op == Op::slice || node.op == Op::dynamic_slice || node.op == Op::gather)
    return 2 * result + operand_bytes(graph, node, 1);
  // In place: the update is read and written, the rest of the operand stays where it is.
  if (node.op == Op::dynamic_update_slice && node.operands.size() >= 2)
    return operand_bytes(graph, node, 1) + stored_bytes(graph[node.operands[1]]);
  // In place: indices and updates are read, and as many elements of the operand are read and written.
  if (node.op == Op::scatter && node.operands.size() >= 3) {
    const std::size_t arrays = (node.operands.size() - 1) / 2;
    double updates = 0;
    for (std::size_t i = arrays + 1; i < node.operands.size(); ++i) updates += stored_bytes(graph[node.operands[i]]);
    return operand_bytes(graph, node, arrays) + 2 * updates;
  }
  return operand_bytes(graph, node, 0) + result;
}

}  // namespace tailor::ir
